"""``flow evidence verify --bundle``: an export checked elsewhere, without its repository."""

from __future__ import annotations

from flow.adapters.exchange.bundle_file import check_bundle
from flow.core.evidence.attestation import RECORD, SUMMARY, TEST_RESULT
from flow.core.text.display import counted, visible
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from flow.app.exchange.bundle import BundleReport
    from flow.cli.output import Output

_KINDS = {TEST_RESULT: "test-result", SUMMARY: "summary", RECORD: "record"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    add = parser.add_argument
    add("--bundle", metavar="FILE", help="a file that flow evidence export wrote (-: stdin)")
    add(
        "--allowed-signers",
        metavar="FILE",
        help="whose SSH keys count, as ssh-keygen reads it; every envelope must be signed by one",
    )
    add(
        "--key",
        metavar="PUB",
        action="append",
        default=[],
        help="a public key in PEM that counts; every envelope must be signed by one",
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Check the bundle; exit status 0 where it holds together, 1 for findings."""
    report = check_bundle(args.bundle, args.allowed_signers, args.key)
    document = _document(report)
    out.result(document, _bundle_lines(document, out))
    return 1 if report.findings else 0


def _document(report: BundleReport) -> dict[str, Any]:
    record = report.record
    return {
        "ok": not report.findings,
        "goal_id": record.goal.id if record else None,
        "run_id": record.run_id if record else None,
        "status": record.goal.status if record else None,
        "signed": report.signed,
        "signers": list(report.signers),
        "statements": [_statement_row(statement) for statement in report.statements],
        "findings": list(report.findings),
        "notes": list(report.notes),
    }


def _statement_row(statement: Mapping[str, Any]) -> dict[str, Any]:
    """One Statement's row. It may hold anything: only values of the right type are shown."""
    predicate = statement["predicate"]
    kind = statement["predicateType"]
    result = predicate.get("result", predicate.get("verificationResult"))
    names = [
        name
        for key in ("passedTests", "warnedTests", "failedTests")
        for name in (predicate.get(key) if isinstance(predicate.get(key), list) else ())
        if isinstance(name, str)
    ]
    commits = [
        subject["digest"]["gitCommit"]
        for subject in statement["subject"]
        if isinstance(subject, dict)
        and isinstance(subject.get("digest"), dict)
        and isinstance(subject["digest"].get("gitCommit"), str)
    ]
    return {
        "type": _KINDS.get(kind, kind),
        "result": result if isinstance(result, str) else None,
        "criteria": names,
        "commit": commits[0] if commits else None,
    }


def _bundle_lines(document: Mapping[str, Any], out: Output) -> list[str]:
    status = f" ({document['status']})" if document["status"] else ""
    screen = out.screen
    lines = [f"goal        {document['goal_id'] or 'unknown'}{status}"]
    for row in document["statements"]:
        parts = [row["type"], row["result"] or "", ", ".join(row["criteria"])]
        if row["commit"]:
            parts.append(f"commit {row['commit'][:12]}")
        shown = "  ".join(visible(part) for part in parts if part)
        lines.append(f"  {shown}")
    lines += [f"signed by   {signer}" for signer in document["signers"]]
    lines += [f"note        {note}" for note in document["notes"]]
    lines += [f"{screen.paint('failed', 'finding')}     {text}" for text in document["findings"]]
    count = len(document["findings"])
    verdict = counted(count, "finding") if count else "the bundle holds together"
    return [*lines, f"{screen.mark('failed' if count else 'proved')} {verdict}"]
