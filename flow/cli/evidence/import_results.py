"""``flow evidence import``: what other tools reported, kept and shown; it decides nothing."""

from __future__ import annotations

from flow.adapters.attribution.report_files import LIMIT
from flow.adapters.fs import inputs
from flow.app import goal_views
from flow.app.exchange.imports import import_report
from flow.app.overview import fresh_fields
from flow.cli.parsing import listed
from flow.core.evidence.imported import FORMATS
from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.context import Context
from flow.wiring.goals import Goals
from flow.wiring.importing import Importing

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output


def arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    add = parser.add_argument
    add("FILE", help="the report (-: stdin)")
    add("--goal", metavar="ID", help="the goal (default: the goal of the branch checked out)")
    add("--run-id", metavar="R", help="the run to record it in (default: the goal's)")
    add("--format", choices=FORMATS, help="what it is (default: found out)")
    add(
        "--proves",
        metavar="AC,...",
        action="append",
        help="the criteria it speaks for; a judge is shown it for those",
    )
    add("--commit", metavar="SHA", help="the commit it is about, where it names none itself")


def run(args: argparse.Namespace, out: Output) -> int:
    """Record the report."""
    context = Context()
    data = inputs.read(args.FILE, "FILE", limit=LIMIT)
    name = "standard input" if args.FILE == "-" else args.FILE
    done = import_report(
        Importing(context),
        goal_views.choose(Goals(context), args.goal),
        args.run_id,
        data,
        name,
        format=args.format,
        proves=listed(args.proves, "--proves", "flow evidence import"),
        commit=args.commit,
    )
    evidence = done.evidence
    warnings = list(done.warnings)
    stale = done.freshness is not None and not done.freshness.fresh
    word = "stale" if stale else "fresh"
    if stale:
        warnings.append(
            f"stale: it is about commit {done.commit[:12]}, whose files are not those here"
        )
    document = {
        "goal_id": evidence.goal,
        "run_id": evidence.run_id,
        "id": evidence.id,
        "path": done.path,
        "type": evidence.type,
        "outcome": evidence.outcome,
        "result": evidence.document["evidence"].get("result"),
        "proves": list(evidence.proves),
        "commit": done.commit,
        **fresh_fields(done.freshness),
        "limitations": list(evidence.limitations),
        "warnings": warnings,
    }
    lines = [
        f"{out.screen.mark('proved')} recorded {visible(done.path)}",
        f"  {evidence.type}  {evidence.outcome}: {visible(str(document['result']))}",
        f"  commit {visible(done.commit[:12])}, {word}; it decides nothing",
    ]
    out.result(document, lines)
    out.warn(warnings)
    return 0
