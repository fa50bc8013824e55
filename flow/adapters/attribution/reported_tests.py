"""The tests that a report in a file is about: how many there were, and how each ended.

:class:`JUnitTests` and :class:`CtrfTests` hold what a report says, read once for a criterion's
evidence (:func:`read_summary`) and for ``flow evidence import``, with what contradicts itself side
by side: if a number of a report and its tests differ, the worse result counts. What Jest
(``--json``), Vitest (``--reporter=json``) and Mocha (``-R json``) write is evidence alone.
"""

from __future__ import annotations

from xml.parsers import expat

from flow.core.attribution.reading import Summary
from flow.startup import json
from flow.startup.json import object_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

MOST_FAILING = 20
"""Most names of failed tests that are kept."""
LONGEST_NAME = 200
_ROOTS = ("testsuites", "testsuite")
_DEPTH = 50
_NUMBERS = ("tests", "failures", "errors", "skipped", "disabled")
_FLAKY = ("flakyFailure", "flakyError")  # Maven Surefire's
_FAILED = frozenset(("fail", "failed", "failure", "error"))
_LEFT_OUT = frozenset(("notrun", "disabled", "skipped", "ignored", "suppressed"))
_CTRF_RESULTS = ("passed", "failed", "skipped", "pending", "other")


class NoReport(ValueError):
    """Reason that a file is no report of its format; the caller adds the file's name."""


class JUnitTests:
    """The test cases of a JUnit XML report, and what its suites say of them.

    It is filled while the report is parsed; of the report's content only names are kept.
    """

    def __init__(self, properties: Container[str]) -> None:
        """``properties``: names, in lower case, of the suites' properties that are kept."""
        self.counts = dict.fromkeys(("tests", "passed", "failed", "errors", "skipped"), 0)
        self.declared = dict.fromkeys(_NUMBERS, 0)
        """Sums of the suites' own numbers, from the innermost to the root."""
        self.suite_failures = 0
        """Failures and errors that belong to a suite, and to none of its cases."""
        self.flaky = 0
        """Tests that failed, and passed when they were run again."""
        self.expected_failures = 0
        """Of those counted as passed: tests that failed, as they were expected to."""
        self.left_out = 0
        """Cases that say they were skipped, also those that count for more."""
        self.malformed = False
        """Whether a number of a suite is none."""
        self.nested = False
        """Whether a case lies in another one."""
        self.failing: list[str] = []
        self.property_values: list[str] = []
        self._properties = properties
        self._path: list[str] = []
        self._open: list[dict[str, int]] = []
        self._own: list[dict[str, int]] = []
        self._case: str | None = None
        self._state = "passed"
        self._repeated = self._skips = self._expected = False
        self._property: str | None = None
        self._text = ""

    @property
    def failures(self) -> int:
        """Failures and errors: those of the cases, or the suites' own number if that is larger."""
        declared = self.declared["failures"] + self.declared["errors"]
        own = self.counts["failed"] + self.counts["errors"] + self.suite_failures
        return max(own, declared)

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        """Take the begin of an element."""
        name = tag.rpartition(":")[2].rpartition("}")[2]
        if not self._path and name not in _ROOTS:
            raise NoReport("its root is no testsuites or testsuite")
        if len(self._path) > _DEPTH:
            raise NoReport(f"it nests deeper than {_DEPTH} levels")
        above = self._path[-1] if self._path else ""
        if name == "testcase":
            self._begin_case(attributes)
        elif name in ("failure", "error") and above in ("testcase", *_ROOTS):
            if self._case is not None:
                self._state = "errors" if name == "error" else "failed"
            else:
                self.suite_failures += 1
        elif above == "testcase" and name == "skipped":
            self._skips = True
            self._expected = attributes.get("type") == "pytest.xfail"
            if self._state == "passed" and not self._expected:
                self._state = "skipped"
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
        """Take text, which only a property's value can be."""
        if self._property is not None and len(self._text) < LONGEST_NAME:
            self._text += data

    def end(self, _: str) -> None:
        """Take the end of an element."""
        name = self._path.pop()
        if name == "property" and self._property is not None:
            if self._property in self._properties:
                self.property_values.append(self._text.strip())
            self._property = None
        if name == "testcase" and self._case is not None:
            self._end_case(self._case)
        if name in _ROOTS:
            own, below = self._own.pop(), self._open.pop()
            above = self._open[-1] if self._open else self.declared
            for key in _NUMBERS:
                above[key] += max(own[key], below[key])

    def _begin_case(self, attributes: dict[str, str]) -> None:
        if self._case is not None:
            self.nested = True
            self._end_case(self._case)
        names = [attributes.get("classname", ""), attributes.get("name", "")]
        self._case = ".".join(name for name in names if name) or "without a name"
        words = {attributes.get(key, "").lower() for key in ("status", "result")}
        self._state = "failed" if words & _FAILED else "skipped" if words & _LEFT_OUT else "passed"
        self._repeated, self._skips = False, self._state == "skipped"
        self._expected = False

    def _end_case(self, name: str) -> None:
        self.counts["tests"] += 1
        self.counts[self._state] += 1
        self.left_out += self._skips
        self.flaky += self._repeated and self._state == "passed"
        self.expected_failures += self._expected and self._state == "passed"
        if self._state in ("failed", "errors") and len(self.failing) < MOST_FAILING:
            self.failing.append(name[:LONGEST_NAME])
        self._case = None

    def _number(self, attributes: dict[str, str], key: str) -> int:
        text = attributes.get(key, "").strip()
        if text.isascii() and text.isdigit():
            return int(text[-15:]) if not text[:-15].strip("0") else 10**15
        self.malformed = self.malformed or bool(text)
        return 0


def read_junit(data: bytes, properties: Container[str] = ()) -> JUnitTests:
    """A JUnit XML report, with the values of these properties; :class:`NoReport` if it is none.

    A document type, and so any entity, is refused.
    """

    def refuse(*_: Any) -> None:
        raise NoReport("it has a document type, which no report needs: entities are refused")

    tests = JUnitTests(properties)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = tests.begin, tests.end
    parser.CharacterDataHandler = tests.text
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data if b"\0" in data[:4] else data.strip(), True)  # UTF-16 contains NUL bytes
    except NoReport:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:  # also an unknown encoding
        raise NoReport(f"it is no XML: {error!s:.200}") from None
    return tests


class CtrfTests(NamedTuple):
    """The tests of a CTRF report, and its summary's numbers. Counts are by result."""

    tool: str
    declared: Mapping[str, int]
    counted: Mapping[str, int]
    total: int
    """The number of tests that the summary gives; 0 if it gives none."""
    whole_summary: bool
    """Whether the summary has a number for each result."""
    unknown: int
    """Tests without a result that CTRF knows; they count as *other*."""
    failing: tuple[str, ...]
    flaky: int
    environment: Mapping[str, Any]

    @property
    def listed(self) -> bool:
        """Whether there is a list of tests beside the numbers."""
        return any(self.counted.values())

    @property
    def passed(self) -> int:
        """Tests that passed, by the summary and by the list."""
        passed = self.declared["passed"]
        return min(passed, self.counted["passed"]) if self.listed else passed

    @property
    def failed(self) -> int:
        """Tests that failed, by the summary or by the list."""
        return max(self.declared["failed"], self.counted["failed"])


def read_ctrf(document: Mapping[str, Any]) -> CtrfTests:
    """A CTRF report; :class:`NoReport` if it is none."""
    results = object_of(document.get("results"))
    tool, summary = results.get("tool"), results.get("summary")
    if not isinstance(tool, dict) or not isinstance(summary, dict):
        raise NoReport("it has no results with a tool and a summary")
    if not isinstance(tool.get("name"), str):
        raise NoReport("results.tool.name is no text")
    declared = {key: _whole_count(summary, key) for key in _CTRF_RESULTS}
    tests = results.get("tests", [])
    if not isinstance(tests, list) or not all(isinstance(test, dict) for test in tests):
        raise NoReport("results.tests is no list of tests")
    counted = dict.fromkeys(_CTRF_RESULTS, 0)
    failing: list[str] = []
    flaky = unknown = 0
    for test in tests:
        status = test.get("status")
        known = isinstance(status, str) and status in counted
        counted[status if known else "other"] += 1
        unknown += not known
        if status == "failed" and len(failing) < MOST_FAILING:
            failing.append(str(test.get("name"))[:LONGEST_NAME])
        flaky += status == "passed" and (test.get("flaky") is True or bool(test.get("retries")))
    return CtrfTests(
        tool["name"],
        declared,
        counted,
        _whole_count(summary, "tests"),
        all(key in summary for key in _CTRF_RESULTS if key != "other"),
        unknown,
        tuple(failing),
        flaky,
        object_of(results.get("environment")),
    )


def _whole_count(summary: Mapping[str, Any], key: str) -> int:
    value = summary.get(key, 0)
    if type(value) is not int or value < 0:
        raise NoReport(f"results.summary.{key} is no count")
    return value


def read_summary(data: bytes, *, xml: bool) -> Summary | None:
    """The number of tests that ran, by a report in XML or JSON; None if its form is not known."""
    try:
        return _of_junit(read_junit(data)) if xml else _of_json(data)
    except NoReport:
        return None


def _of_junit(tests: JUnitTests) -> Summary | None:
    counts = tests.counts
    if not counts["tests"] and tests.declared["tests"]:
        return None  # it has numbers and no cases: nothing to check them by
    # a test that fails as expected proves nothing: it counts as skipped
    skipped = max(
        counts["skipped"] + tests.expected_failures,
        tests.declared["skipped"] + tests.declared["disabled"],
    )
    ran = max(counts["tests"] - skipped, counts["failed"] + counts["errors"])
    return _summary("JUnit XML", ran, counts["tests"] - ran, tests.failures, "test cases")


def _of_json(data: bytes) -> Summary | None:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    for read in (_of_ctrf, _of_jest, _of_mocha):
        try:
            return read(document)
        except (NoReport, KeyError, TypeError, AttributeError):
            continue
    return None


def _of_ctrf(document: Any) -> Summary:
    tests = read_ctrf(object_of(document))
    if not tests.whole_summary:
        raise NoReport("results.summary lacks numbers")
    left_out = sum(tests.declared[key] for key in ("skipped", "pending", "other"))
    return _summary("CTRF", tests.passed + tests.failed, left_out, tests.failed)


def _of_jest(document: Any) -> Summary:
    """Of Jest and Vitest; a file that cannot be read fails without a test."""
    passed, failed = document["numPassedTests"], document["numFailedTests"]
    left_out = _total(document["numPendingTests"], document["numTodoTests"])
    ran, suites = _total(passed, failed), _total(document["numFailedTestSuites"])
    unsuccessful = int(document.get("success") is False)  # also a run that was interrupted
    return _summary("JSON of jest", max(ran, suites), left_out, max(failed, suites, unsuccessful))


def _of_mocha(document: Any) -> Summary:
    counts = document["stats"]
    passed, listed = counts["passes"], len(document.get("failures", ()))
    failed = max(_total(counts["failures"]), listed)
    return _summary("JSON of mocha", _total(passed, failed), _total(counts["pending"]), failed)


def _summary(form: str, ran: int, skipped: int, failed: int, noun: str = "tests") -> Summary:
    quote = f"{ran + skipped} {noun}" + (f", {failed} failed" if failed else "")
    return Summary(form, ran, skipped, quote, failed)


def _total(*counts: Any) -> int:
    """The sum of numbers of tests; raises :class:`TypeError` if one is no such number."""
    if not all(type(count) is int and 0 <= count < 1 << 53 for count in counts):
        raise TypeError
    return sum(counts)
