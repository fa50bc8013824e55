"""Reports of tests as files: JUnit XML and CTRF, read only for the number of tests that ran."""

from __future__ import annotations

from flow.core.attribution.reading import Summary
from flow.startup import json
from flow.startup.typing import Any

LIMIT = 16 << 20
"""Bytes; a larger report is not read."""
_JUNIT_ROOTS = ("testsuites", "testsuite")


class _NotOne(Exception):
    """The data is no report of this kind. Never leaves this module."""


def read_report(data: bytes) -> Summary | None:
    """Counts from a JUnit XML or CTRF document; None if it is neither, or too large."""
    start = data[:200].lstrip(b"\xef\xbb\xbf \t\r\n")
    if len(data) > LIMIT:
        return None
    if start.startswith(b"<"):
        return _junit_summary(data)
    if start.startswith(b"{"):
        return _ctrf_summary(data)
    return None


def _junit_summary(data: bytes) -> Summary | None:
    """Count ``testcase`` elements; nothing is kept, and a document type is refused."""
    from xml.parsers import expat

    counts = {"cases": 0, "skipped": 0, "failed": 0, "totals": 0}
    path: list[str] = []
    seen, bad = [False], [False]

    def begin(name: str, attributes: dict[str, str]) -> None:
        if (not path and name not in _JUNIT_ROOTS) or len(path) > 50:
            raise _NotOne
        if name == "testcase":
            counts["cases"] += 1
            bad[0] = False
            seen[0] = attributes.get("status") in ("notrun", "disabled", "skipped")
            counts["skipped"] += seen[0]
        elif name == "skipped" and path[-1:] == ["testcase"] and not seen[0]:
            seen[0] = True  # pytest writes a test that fails as expected here, too
            counts["skipped"] += 1
        elif name in ("failure", "error") and path[-1:] == ["testcase"] and not bad[0]:
            bad[0] = True
            counts["failed"] += 1
        elif name in _JUNIT_ROOTS and attributes.get("tests", "0") != "0":
            counts["totals"] += 1
        path.append(name)

    def end(_: str) -> None:
        path.pop()

    def refuse(*_: Any) -> None:
        raise _NotOne

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(data.strip(), True)
    except (expat.ExpatError, _NotOne, LookupError, ValueError):  # also an unknown encoding
        return None
    if not counts["cases"] and counts["totals"]:
        return None  # it has numbers and no cases: nothing to check them by
    ran = counts["cases"] - counts["skipped"]
    quote = f"{counts['cases']} test cases"
    if counts["failed"]:
        quote += f", {counts['failed']} failed"
    return Summary("JUnit XML", ran, counts["skipped"], quote, counts["failed"])


def _ctrf_summary(data: bytes) -> Summary | None:
    try:
        document = json.loads(data)
        results = document["results"]
        summary = results["summary"]
        if not isinstance(results["tool"]["name"], str):
            return None
        counts = {name: summary[name] for name in ("passed", "failed", "skipped", "pending")}
        counts["other"] = summary.get("other", 0)
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError):
        return None
    if not all(type(count) is int and 0 <= count < 1 << 53 for count in counts.values()):
        return None
    ran = counts["passed"] + counts["failed"] + counts["other"]
    skipped = counts["skipped"] + counts["pending"]
    failed = counts["failed"]
    quote = f"{ran + skipped} tests" + (f", {failed} failed" if failed else "")
    return Summary("CTRF", ran, skipped, quote, failed)
