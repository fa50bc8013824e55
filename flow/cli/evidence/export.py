"""``flow evidence export``: in-toto Statements for others to check."""

from __future__ import annotations

import json
import os
import shlex

from flow.adapters.exchange import dsse, key_files, ssh_keys
from flow.app import goal_views
from flow.app.exchange.export import export
from flow.cli.output_file import off_limits, refuse_own, write_out
from flow.cli.parsing import goal_argument, usage_error
from flow.core.text.display import counted, visible
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.context import Context
from flow.wiring.exporting import export_sources
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse

    from flow.app.exchange.export import Exported
    from flow.cli.output import Output
    from flow.render.screen import Screen

PROG = "flow evidence export"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    goal_argument(parser)
    add = parser.add_argument
    add("--run-id", metavar="R", help="this run instead of the goal's")
    add("--output", metavar="F", default="-", help="write it to F (default, and -: stdout)")
    add(
        "--format",
        choices=("dsse", "statements"),
        default="dsse",
        help="DSSE envelopes, one a line (default), or the bare Statements, one a line",
    )
    add(
        "--sign",
        metavar="ssh:KEYFILE",
        action="append",
        default=[],
        help="sign with ssh-keygen -Y; the .pub file of a key that the agent holds will do",
    )
    add(
        "--key",
        metavar="FILE",
        action="append",
        default=[],
        help="sign with a private key in PEM (Ed25519, ECDSA); needs the extra sign",
    )
    add(
        "--with-outputs", action="store_true", help="put the raw outputs in, not only their SHA-256"
    )
    add("--resource-uri", metavar="URI", help="what the verification summary calls the goal")


def run(args: argparse.Namespace, out: Output) -> int:
    """Export, to a file or to standard output."""
    context = Context()
    if args.format == "statements" and (args.sign or args.key):
        raise usage_error("bare Statements hold no signature: use --format dsse", PROG)
    uri = args.resource_uri
    if uri is not None and (
        ":" not in uri or not uri.isprintable() or " " in uri or len(uri) > 2000
    ):
        raise usage_error("--resource-uri is no URI, like git+https://example.org/repo", PROG)
    if args.output != "-":
        refuse_own(args.output, off_limits(context))
    signers = [ssh_keys.signer(name, context.environ) for name in args.sign]
    signers += [key_files.signer(path) for path in args.key]
    exported = export(
        export_sources(context),
        goal_views.choose(Goals(context), args.ID),
        args.run_id,
        with_outputs=args.with_outputs,
        resource_uri=args.resource_uri,
        signers=signers,
    )
    text = _export_text(exported, args.format)
    to_stdout = args.output == "-"
    if not to_stdout:
        write_out(args.output, text, "bundle", off_limits=off_limits(context))
    document = _document(exported, None if to_stdout else args.output)
    if not to_stdout and os.path.realpath(args.output).startswith(f"{context.top}/"):
        document["warnings"].append(
            "the bundle lies in the checkout, where it is a change like any other: "
            "evidence is stale until it is elsewhere"
        )
    if to_stdout and not out.json:
        out.text(text)
    else:
        if to_stdout:
            document["envelopes"] = [dsse.document(envelope) for envelope in exported.envelopes]
        out.result(document, _export_lines(document, args.output, out.screen))
    out.warn(document["warnings"])
    return 0


def _export_text(exported: Exported, format: str) -> str:
    if format == "dsse":
        return dsse.bundle_text(exported.envelopes)
    return "".join(f"{each.payload.decode('ascii')}\n" for each in exported.envelopes)


def _document(exported: Exported, output: str | None) -> dict[str, Any]:
    record = exported.record
    warnings = []
    if not any(each.signatures for each in exported.envelopes):
        warnings.append("unsigned: nothing says who made this (--sign ssh:KEYFILE, or --key FILE)")
    if any(item.criterion is not None and item.commit is None for item in record.items):
        warnings.append(
            "the files that were measured are no commit, so the Statements name none: "
            "commit, then evaluate, then export"
        )
    return {
        "goal_id": record.goal.id,
        "run_id": record.run_id,
        "status": record.goal.status,
        "output": output,
        "statements": [json.loads(each.payload) for each in exported.envelopes],
        "signed_by": sorted({s.keyid for each in exported.envelopes for s in each.signatures}),
        "left_out": dict(record.left_out),
        "warnings": warnings,
        "files": [file.name for file in record.files],
    }


def _export_lines(document: dict[str, Any], output: str, screen: Screen) -> list[str]:
    lines = [f"{screen.mark('proved')} wrote {visible(output)}"]
    for statement in document["statements"]:
        predicate = statement["predicate"]
        if "result" in predicate:
            names = predicate["passedTests"] + predicate["warnedTests"] + predicate["failedTests"]
            lines.append(f"  test-result           {predicate['result']:<7} {', '.join(names)}")
        elif "verificationResult" in predicate:
            lines.append(f"  verification summary  {predicate['verificationResult']}")
        else:
            files = counted(len(statement["subject"]), "file")
            lines.append(f"  evidence record       {files}")
    lines += [f"  signed by             {visible(key)}" for key in document["signed_by"]]
    check = shlex.join(["flow", "evidence", "verify", "--bundle", output])
    return [*lines, "", screen.labelled("next", visible(check), "person")]
