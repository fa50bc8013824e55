"""Reports of tests as files, read only for the number of tests that ran.

JUnit XML, CTRF, and what Jest (``--json``), Vitest (``--reporter=json``) and Mocha (``-R json``)
write. If a report contradicts itself, the worse result counts.
"""

from __future__ import annotations

from flow.core.attribution.reading import Summary
from flow.startup import json
from flow.startup.typing import Any

LIMIT = 16 << 20
"""Bytes; a larger report is not read."""
_JUNIT_ROOTS = ("testsuites", "testsuite")
_FAILED = frozenset(("fail", "failed", "failure", "error"))


class _NotOne(Exception):
    """The data is no report of this kind. Never leaves this module."""


def read_report(data: bytes) -> Summary | None:
    """Counts from a report; None if it has none of the known forms, or is too large."""
    start = data[:200].lstrip(b"\xef\xbb\xbf \t\r\n")
    if len(data) > LIMIT:
        return None
    if start.startswith(b"<"):
        return _junit_summary(data)
    if start.startswith(b"{"):
        return _json_summary(data)
    return None


def _junit_summary(data: bytes) -> Summary | None:
    """Count ``testcase`` elements; nothing is kept, and a document type is refused."""
    from xml.parsers import expat

    counts = {"cases": 0, "skipped": 0, "failed": 0, "totals": 0, "declared": 0}
    path: list[str] = []
    seen, bad = [False], [False]

    def begin(name: str, attributes: dict[str, str]) -> None:
        if (not path and name not in _JUNIT_ROOTS) or len(path) > 50:
            raise _NotOne
        if name == "testcase":
            counts["cases"] += 1
            status = attributes.get("status", "")
            bad[0] = not _FAILED.isdisjoint((status, attributes.get("result")))
            counts["failed"] += bad[0]
            seen[0] = status in ("notrun", "disabled", "skipped")
            counts["skipped"] += seen[0]
        elif name == "skipped" and path[-1:] == ["testcase"] and not seen[0]:
            seen[0] = True  # pytest writes a test that fails as expected here, too
            counts["skipped"] += 1
        elif name in ("failure", "error") and (
            path[-1] in _JUNIT_ROOTS or (path[-1] == "testcase" and not bad[0])
        ):
            bad[0] = True  # a suite itself may fail, too
            counts["failed"] += 1
        elif name in _JUNIT_ROOTS:
            counts["totals"] += attributes.get("tests", "0") != "0"
            declared = sum(_number(attributes.get(key)) for key in ("failures", "errors"))
            counts["declared"] = max(counts["declared"], declared)
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
    ran, failed = counts["cases"] - counts["skipped"], max(counts["failed"], counts["declared"])
    quote = f"{counts['cases']} test cases"
    if failed:
        quote += f", {failed} failed"
    return Summary("JUnit XML", ran, counts["skipped"], quote, failed)


def _number(text: str | None) -> int:
    """The number that an attribute says; 0 for any other text."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0


def _json_summary(data: bytes) -> Summary | None:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    for read in (_of_ctrf, _of_jest, _of_mocha):
        try:
            name, ran, skipped, failed = read(document)
        except (KeyError, TypeError, AttributeError):
            continue
        quote = f"{ran + skipped} tests" + (f", {failed} failed" if failed else "")
        return Summary(name, ran, skipped, quote, failed)
    return None


def _of_ctrf(document: Any) -> tuple[str, int, int, int]:
    """The form's name, and the numbers of tests that ran, were skipped and failed."""
    results = document["results"]
    counts = results["summary"]
    if not isinstance(results["tool"]["name"], str):
        raise TypeError
    left_out = _total(counts["skipped"], counts["pending"], counts.get("other", 0))
    passed, failed = _total(counts["passed"]), _total(counts["failed"])
    if listed := [test["status"] for test in results.get("tests", ())]:
        passed = min(passed, listed.count("passed"))
        failed = max(failed, listed.count("failed"))
    return "CTRF", passed + failed, left_out, failed


def _of_jest(document: Any) -> tuple[str, int, int, int]:
    """As :func:`_of_ctrf`, for Jest and Vitest; a file that cannot be read fails without a test."""
    passed, failed = document["numPassedTests"], document["numFailedTests"]
    left_out = _total(document["numPendingTests"], document["numTodoTests"])
    ran, suites = _total(passed, failed), _total(document["numFailedTestSuites"])
    unsuccessful = int(document.get("success") is False)  # also a run that was interrupted
    return "JSON of jest", max(ran, suites), left_out, max(failed, suites, unsuccessful)


def _of_mocha(document: Any) -> tuple[str, int, int, int]:
    """As :func:`_of_ctrf`, for Mocha."""
    counts = document["stats"]
    passed, listed = counts["passes"], len(document.get("failures", ()))
    failed = max(_total(counts["failures"]), listed)
    return "JSON of mocha", _total(passed, failed), _total(counts["pending"]), failed


def _total(*counts: Any) -> int:
    """The sum of numbers of tests; raises :class:`TypeError` if one is no such number."""
    if not all(type(count) is int and 0 <= count < 1 << 53 for count in counts):
        raise TypeError
    return sum(counts)
