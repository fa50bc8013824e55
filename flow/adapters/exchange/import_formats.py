"""Read reports of other tools: JUnit XML, CTRF, SARIF 2.1.0, a CI run's status.

They are read strictly and counted anew if that is possible; if a report contradicts itself, the
worse result counts. XML with a document type (and so with any entity) is refused.
"""

from __future__ import annotations

from xml.parsers import expat

from flow.adapters.attribution.reported_tests import LIMIT
from flow.adapters.contracts import formats
from flow.adapters.exchange.import_status import read_ci, read_sarif
from flow.core.evidence.imported import (
    LONGEST_NAME,
    MOST_FAILING,
    NAMES,
    CheckReport,
    NoReport,
    commit_in,
)
from flow.errors import ContractError, in_file
from flow.startup.json import object_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.evidence.imported import Format
    from flow.core.evidence.model import Outcome

_ROOTS = ("testsuites", "testsuite")
_DEPTH = 50
_NUMBERS = ("tests", "failures", "errors", "skipped", "disabled")
_FLAKY = ("flakyFailure", "flakyError")  # Maven Surefire's
_FAILED = frozenset(("fail", "failed", "failure", "error"))
_LEFT_OUT = frozenset(("notrun", "disabled", "skipped", "ignored", "suppressed"))
_COMMIT_PROPERTIES = frozenset(
    """
    commit commit.id commit.sha commit_sha git.commit git.commit.id git.commit.sha git.sha
    git_commit git_sha github.sha github_sha ci_commit_sha revision sha vcs.revision vcs.commit
    """.split()
)


def detect_format(data: bytes, file: str) -> Format:
    """The format of a report; :class:`InputError` if it looks like none."""
    if _first_bytes(data).replace(b"\0", b"").startswith(b"<"):  # XML may be in UTF-16
        return "junit"
    if _first_bytes(data).startswith(b"{"):
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


def _first_bytes(data: bytes) -> bytes:
    return data[:200].lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")


class _Suites:
    """Counts of a JUnit XML document during parsing; of its content only names are kept."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(("tests", "passed", "failed", "errors", "skipped"), 0)
        self.declared = dict.fromkeys(_NUMBERS, 0)
        """Sums of the suites' own numbers, from the innermost to the root."""
        self.outside = 0
        """Failures and errors that belong to a suite, and to none of its cases."""
        self.flaky = 0
        """Tests that failed, and passed when they were run again."""
        self.left_out = 0
        """Cases that say they were skipped, also those that count for more."""
        self.malformed = False
        """Whether a number of a suite is none."""
        self.failing: list[str] = []
        self.commits: list[str] = []
        self._path: list[str] = []
        self._open: list[dict[str, int]] = []
        self._own: list[dict[str, int]] = []
        self._case: str | None = None
        self._state = "passed"
        self._repeated = self._skips = False
        self._property: str | None = None
        self._text = ""

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2].rpartition("}")[2]
        if not self._path and name not in _ROOTS:
            raise NoReport("its root is no testsuites or testsuite")
        if len(self._path) > _DEPTH:
            raise NoReport(f"it nests deeper than {_DEPTH} levels")
        above = self._path[-1] if self._path else ""
        if name == "testcase":
            self._begin_case(attributes)
        elif name in ("failure", "error") and above in ("testcase", *_ROOTS):
            if above == "testcase":
                self._state = "errors" if name == "error" else "failed"
            else:
                self.outside += 1
        elif above == "testcase" and name == "skipped":
            self._skips = True
            if self._state == "passed" and attributes.get("type") != "pytest.xfail":
                self._state = "skipped"  # pytest's test that fails as expected did run
        elif above == "testcase" and name in _FLAKY:
            self._repeated = True
        elif name == "property" and self._case is None:
            self._property = attributes.get("name", "").lower()
            self._text = attributes.get("value", "")
        if name in _ROOTS:
            self._own.append({key: self._number(attributes, key) for key in _NUMBERS})
            self._open.append(dict.fromkeys(_NUMBERS, 0))
        self._path.append(name)

    def text(self, data: str) -> None:
        if self._property is not None and len(self._text) < LONGEST_NAME:
            self._text += data

    def end(self, _: str) -> None:
        name = self._path.pop()
        if name == "property" and self._property is not None:
            if self._property in _COMMIT_PROPERTIES:
                self.commits.append(self._text.strip())
            self._property = None
        if name == "testcase" and self._case is not None:
            self.counts["tests"] += 1
            self.counts[self._state] += 1
            self.left_out += self._skips
            self.flaky += self._repeated and self._state == "passed"
            if self._state in ("failed", "errors") and len(self.failing) < MOST_FAILING:
                self.failing.append(self._case[:LONGEST_NAME])
            self._case = None
        if name in _ROOTS:
            own, below = self._own.pop(), self._open.pop()
            above = self._open[-1] if self._open else self.declared
            for key in _NUMBERS:
                above[key] += max(own[key], below[key])

    def _begin_case(self, attributes: dict[str, str]) -> None:
        if self._case is not None:
            raise NoReport("a testcase lies in a testcase")
        names = [attributes.get("classname", ""), attributes.get("name", "")]
        self._case = ".".join(name for name in names if name) or "without a name"
        words = {attributes.get(key, "").lower() for key in ("status", "result")}
        self._state = "failed" if words & _FAILED else "skipped" if words & _LEFT_OUT else "passed"
        self._repeated, self._skips = False, self._state == "skipped"

    def _number(self, attributes: dict[str, str], key: str) -> int:
        text = attributes.get(key, "").strip()
        if text.isascii() and text.isdigit():
            return int(text[-15:]) if not text[:-15].strip("0") else 10**15
        self.malformed = self.malformed or bool(text)
        return 0


def _junit_report(data: bytes) -> CheckReport:
    def refuse(*_: Any) -> None:
        raise NoReport("it has a document type, which no report needs: entities are refused")

    suites = _Suites()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = suites.begin, suites.end
    parser.CharacterDataHandler = suites.text
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data if b"\0" in data[:4] else data.strip(), True)  # UTF-16 contains NUL bytes
    except NoReport:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:  # also an unknown encoding
        raise NoReport(f"it is no XML: {error!s:.200}") from None
    counts, declared, doubts = suites.counts, suites.declared, []
    bad = counts["failed"] + counts["errors"]
    declared_bad = declared["failures"] + declared["errors"]
    if declared_bad > bad:
        numbers = f"{declared_bad} failures, and its test cases {bad}"
        doubts.append(f"Its header counts {numbers}; the worse counts.")
    if suites.outside:
        doubts.append(f"A suite itself failed, apart from its test cases ({suites.outside} times).")
    whole = declared["tests"] <= counts["tests"]
    if not whole:
        doubts.append(
            f"Its header counts {declared['tests']} tests, and it holds {counts['tests']}."
        )
    passed, left_out = counts["passed"], declared["skipped"] + declared["disabled"]
    if left_out > suites.left_out:
        doubts.append(
            f"Its header counts {left_out} skipped tests, and its test cases {suites.left_out}."
        )
        passed -= left_out - suites.left_out
    if suites.malformed:
        doubts.append("Its header says a number that is none.")
    if suites.flaky:
        doubts.append(_retried_note(suites.flaky))
    ran = max(passed, 0) if whole and not suites.malformed else 0
    return CheckReport(
        "junit",
        _outcome(max(bad, declared_bad) + suites.outside, ran),
        _tests_text(counts),
        commit_in(suites.commits),
        counts=counts,
        failing=tuple(suites.failing),
        doubts=tuple(doubts),
    )


def _retried_note(count: int) -> str:
    return f"Flaky: {count} of its tests failed, and passed when they were run again."


def _ctrf_report(document: Mapping[str, Any]) -> CheckReport:
    results = object_of(document.get("results"))
    tool, summary = results.get("tool"), results.get("summary")
    if not isinstance(tool, dict) or not isinstance(summary, dict):
        raise NoReport("it has no results with a tool and a summary")
    if not isinstance(tool.get("name"), str):
        raise NoReport("results.tool.name is no text")
    keys = ("passed", "failed", "skipped", "pending", "other")
    declared: dict[str, int] = {key: _whole_count(summary, key) for key in keys}
    tests = results.get("tests", [])
    if not isinstance(tests, list) or not all(isinstance(test, dict) for test in tests):
        raise NoReport("results.tests is no list of tests")
    counted: dict[str, int] = dict.fromkeys(keys, 0)
    failing, flaky = [], 0
    for test in tests:
        status = test.get("status")
        if not isinstance(status, str) or status not in counted:
            raise NoReport("a test of results.tests has no status that CTRF knows")
        counted[status] += 1
        if status == "failed":
            failing.append(str(test.get("name"))[:LONGEST_NAME])
        flaky += status == "passed" and (test.get("flaky") is True or bool(test.get("retries")))
    doubts = []
    if tests and declared != counted:
        doubts.append("Its summary counts other numbers than its tests; the worse counts.")
    elif not tests and any(declared.values()):
        doubts.append("It lists no tests, only numbers.")
    ran = min(declared["passed"], counted["passed"]) if tests else declared["passed"]
    listed = counted if tests else declared
    many = _whole_count(summary, "tests")
    if many > sum(listed.values()):
        doubts.append(f"Its summary counts {many} tests, and it holds {sum(listed.values())}.")
        ran = 0
    if flaky:
        doubts.append(_retried_note(flaky))
    counts: dict[str, int] = {"tests": sum(listed.values()), **listed}
    environment = object_of(results.get("environment"))
    return CheckReport(
        "ctrf",
        _outcome(max(declared["failed"], counted["failed"]), ran),
        _tests_text(counts),
        commit_in([environment.get("commit")]),
        tool["name"][:LONGEST_NAME],
        _text_or_none(environment.get("buildUrl")),
        counts,
        tuple(failing[:MOST_FAILING]),
        tuple(doubts),
    )


def _whole_count(summary: Mapping[str, Any], key: str) -> int:
    value = summary.get(key, 0)
    if type(value) is not int or value < 0:
        raise NoReport(f"results.summary.{key} is no count")
    return value


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
