"""Read reports of other tools: JUnit XML, CTRF, SARIF 2.1.0, a CI run's status.

They are read strictly and counted anew if that is possible; if a report contradicts itself, the
worse result counts. XML with a document type (and so with any entity) is refused.
"""

from __future__ import annotations

from flow.adapters.attribution.report_files import LIMIT, first_character
from flow.adapters.attribution.reported_tests import LONGEST_NAME, NoReport, read_ctrf, read_junit
from flow.adapters.contracts import formats
from flow.adapters.exchange.import_status import commit_in, read_ci, read_sarif
from flow.core.evidence.imported import NAMES, CheckReport
from flow.errors import ContractError, in_file
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.evidence.imported import Format
    from flow.core.evidence.model import Outcome

_COMMIT_PROPERTIES = frozenset(
    """
    commit commit.id commit.sha commit_sha git.commit git.commit.id git.commit.sha git.sha
    git_commit git_sha github.sha github_sha ci_commit_sha revision sha vcs.revision vcs.commit
    """.split()
)


def detect_format(data: bytes, file: str) -> Format:
    """The format of a report; :class:`InputError` if it looks like none."""
    if (first := first_character(data)) == b"<":
        return "junit"
    if first == b"{":
        document = _json_object(data, file, "report")
        if "runs" in document and "version" in document:
            return "sarif"
        if isinstance(document.get("results"), dict):
            return "ctrf"
        if any(key in document for key in ("conclusion", "status", "provider")):
            return "ci"
    raise in_file(file, "--format").invalid(
        "looks like no report that can be imported",
        "name its format: --format junit, ctrf, sarif or ci",
        code="invalid_file",
    )


def read_report(data: bytes, format: Format, file: str) -> CheckReport:
    """The results of a report; :class:`ContractError` if it is not of this format."""
    if len(data) > LIMIT:
        raise _format_fault(file, format, f"is larger than {LIMIT} bytes")
    try:
        if format == "junit":
            return _junit_report(data)
        document = _json_object(data, file, NAMES[format].split(" ", 1)[1])
        readers = {"ctrf": _ctrf_report, "sarif": read_sarif, "ci": read_ci}
        return readers[format](document)
    except NoReport as error:
        raise _format_fault(file, format, str(error)) from None


def _json_object(data: bytes, file: str, what: str) -> dict[str, Any]:
    document = formats.parse_json(
        data.removeprefix(b"\xef\xbb\xbf"), file=file, what=what, limit=LIMIT
    )
    if not isinstance(document, dict):
        raise _format_fault(file, None, "is no JSON object")
    return document


def _junit_report(data: bytes) -> CheckReport:
    tests = read_junit(data, _COMMIT_PROPERTIES)
    if tests.nested:
        raise NoReport("a testcase lies in a testcase")
    counts, declared, doubts = tests.counts, tests.declared, []
    bad = counts["failed"] + counts["errors"]
    declared_bad = declared["failures"] + declared["errors"]
    if declared_bad > bad:
        numbers = f"{declared_bad} failures, and its test cases {bad}"
        doubts.append(f"Its header counts {numbers}; the worse counts.")
    if tests.suite_failures:
        times = f"({tests.suite_failures} times)"
        doubts.append(f"A suite itself failed, apart from its test cases {times}.")
    whole = declared["tests"] <= counts["tests"]
    if not whole:
        doubts.append(
            f"Its header counts {declared['tests']} tests, and it holds {counts['tests']}."
        )
    passed, left_out = counts["passed"], declared["skipped"] + declared["disabled"]
    if left_out > tests.left_out:
        doubts.append(
            f"Its header counts {left_out} skipped tests, and its test cases {tests.left_out}."
        )
        passed -= left_out - tests.left_out
    if tests.malformed:
        doubts.append("Its header says a number that is none.")
    if tests.flaky:
        doubts.append(_retried_note(tests.flaky))
    ran = max(passed, 0) if whole and not tests.malformed else 0
    return CheckReport(
        "junit",
        _outcome(tests.failures, ran),
        _tests_text(counts),
        commit_in(tests.property_values),
        counts=counts,
        failing=tuple(tests.failing),
        doubts=tuple(doubts),
    )


def _retried_note(count: int) -> str:
    return f"Flaky: {count} of its tests failed, and passed when they were run again."


def _ctrf_report(document: Mapping[str, Any]) -> CheckReport:
    tests = read_ctrf(document)
    if tests.unknown:
        raise NoReport("a test of results.tests has no status that CTRF knows")
    doubts = []
    if tests.listed and tests.declared != tests.counted:
        doubts.append("Its summary counts other numbers than its tests; the worse counts.")
    elif not tests.listed and any(tests.declared.values()):
        doubts.append("It lists no tests, only numbers.")
    ran, counts = tests.passed, tests.counted if tests.listed else tests.declared
    many = sum(counts.values())
    if tests.total > many:
        doubts.append(f"Its summary counts {tests.total} tests, and it holds {many}.")
        ran = 0
    if tests.flaky:
        doubts.append(_retried_note(tests.flaky))
    counts = {"tests": many, **counts}
    return CheckReport(
        "ctrf",
        _outcome(tests.failed, ran),
        _tests_text(counts),
        commit_in([tests.environment.get("commit")]),
        tests.tool[:LONGEST_NAME],
        _text_or_none(tests.environment.get("buildUrl")),
        counts,
        tests.failing,
        tuple(doubts),
    )


def _outcome(bad: int, passed: int) -> Outcome:
    """The outcome; a report in which no test passed shows nothing (SPEC 10, vacuous)."""
    return "failed" if bad else "passed" if passed else "inconclusive"


def _tests_text(counts: Mapping[str, int]) -> str:
    each = [f"{counts[key]} {key}" for key in counts if key != "tests" and counts[key]]
    many = "" if counts["tests"] == 1 else "s"
    return f"{counts['tests']} test{many}" + (f": {', '.join(each)}" if each else "")


def _text_or_none(value: object) -> str | None:
    return value[:LONGEST_NAME] if isinstance(value, str) and value else None


def _format_fault(file: str, format: str | None, fault: str) -> ContractError:
    text = f"is not {NAMES[format]} that can be imported: {fault}" if format else fault
    return in_file(file).corrupt(text, "give the tool's own report, unchanged")
