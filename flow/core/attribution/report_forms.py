"""Final reports of further test runners, as data (SPEC 10, *attributable*).

Each row is one form of one line, from the runner's own documentation or source as of 2026, or from
a recorded run. Named parts are counts: ``all``, ``passed``, ``failed``, ``errors``, ``skipped``; a
part that occurs twice has a digit after its name. The literal of a row is searched first, so most
lines meet no pattern at all.
"""

# ruff: noqa: E501  (a row a line)

from __future__ import annotations

import re
from functools import cache

from flow.core.attribution.reading import Summary
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class LineReport(NamedTuple):
    """A report on one line."""

    runner: str
    literal: str
    pattern: str
    source: str


LINE_REPORTS = tuple(
    LineReport(runner, literal, re.sub(r"(?<!P)<(\w+)>", r"(?P<\1>\\d{1,9})", pattern), source)
    for runner, literal, pattern, source in (
        ("crystal spec", " pending", r"<all> examples, <failed> failures, <errors> errors, <skipped> pending", "crystal: Spec::CLI"),
        ("rspec", " example", r"<all> examples?, <failed> failures?(?:, <skipped> pending)?(?:, <errors> errors? occurred outside of examples)?(?:, \d+ .*)?", "rspec-core: SummaryNotification#totals_line"),
        ("phpunit", "OK (", r"OK \(<passed> tests?, \d+ assertions?\)", "phpunit: ResultPrinter/SummaryPrinter"),
        ("phpunit", "Tests: ", r"Tests: <all>, Assertions: \d+(?:, Errors: <errors>)?(?:, Failures: <failed>)?(?:, (?:Warnings|PHPUnit [A-Za-z ]+|Deprecations|Notices): \d+)*(?:, Skipped: <skipped>)?(?:, Incomplete: <skipped2>)?(?:, Risky: \d+)?\.", "phpunit: SummaryPrinter"),
        ("phpunit", "No tests executed!", r"No tests executed!", "phpunit: SummaryPrinter"),
        ("pest", "Tests:", r" *Tests: +(?:<failed> failed, )?(?:\d+ (?:deprecated|warnings?|risky|notices?), )*(?:<skipped> (?:skipped|incomplete|todos?)(?:, )?)*(?:<passed> passed)? ?\(\d+ assertions?\)", "pest: Collision Style::writeRecap"),
        ("minitest", " runs, ", r"<all> runs, \d+ assertions, <failed> failures, <errors> errors, <skipped> skips", "minitest: SummaryReporter#summary"),
        ("test-unit", " assertions, ", r"<all> tests, \d+ assertions, <failed> failures, <errors> errors, <skipped> pendings, <skipped2> omissions, \d+ notifications", "test-unit: TestResult#summary"),
        ("dotnet test", "Total:", r" *(?:Passed|Failed|Skipped)! +- Failed: +<failed>, Passed: +<passed>, Skipped: +<skipped>, Total: +\d+.*", "vstest: console logger"),
        ("dotnet test", "Test summary:", r" *Test summary: total: <all>, failed: <failed>, succeeded: <passed>, skipped: <skipped>,.*", "SDK 9 terminal logger"),
        ("dotnet test", "No test ", r".*No test (?:is available in|matches the given testcase filter) .*", "vstest: console"),
        ("mix test", " failure", r"(?:\d+ doctests?, )?(?:\d+ propert(?:y|ies), )?<all> tests?, <failed> failures?(?:, <skipped> excluded)?(?:, <errors> invalid)?(?:, <skipped2> skipped)?", "ex_unit: CLIFormatter"),
        ("mix test", " doctest", r"<all> doctests?, <failed> failures?(?:, <skipped> excluded)?(?:, <skipped2> skipped)?", "ex_unit: CLIFormatter"),
        ("mix test", "There are no tests to run", r"There are no tests to run", "mix: Mix.Tasks.Test"),
        ("swift test", "Executed ", r"\s*Executed <all> tests?, with (?:<skipped> tests? skipped and )?<failed> failures? \(.*", "XCTest: PrintObserver"),
        ("swift test", "Test run with ", r"\S+ Test run with <all> tests?(?: in \d+ suites?)? passed after .*", "swift-testing: console recorder"),
        ("swift test", "Test run with ", r"\S+ Test run with \d+ tests?(?: in \d+ suites?)? failed after .* with <failed> issues?.*", "swift-testing: console recorder"),
        ("ctest", "No tests were found", r"No tests were found!*", "recorded, ctest 3.25"),
        ("deno test", " passed", r"(?:ok|FAILED) \| <passed> passed(?: \(\d+ steps?\))? \| <failed> failed(?: \(\d+ steps?\))?(?: \| <skipped> ignored)?(?: \(\d+ steps?\))?(?: \| \d+ measured)?(?: \| <skipped2> filtered out)? \(.*\)", "deno: cli/tools/test reporters"),
        ("bats", " tests, ", r"<all> tests?, <failed> failures?(?:, <skipped> skipped)?(?: in .*)?", "bats-core: pretty formatter"),
        ("prove", "Files=", r"Files=\d+, Tests=<all>, .*", "TAP::Formatter::Base"),
        ("prove", "Result: FAIL", r"Result: FAIL(?P<failing>)", "TAP::Formatter::Base"),
        ("prove", "Result: NOTESTS", r"Result: NOTESTS", "TAP::Formatter::Base"),
        ("tap", "# { total: ", r"# \{ total: <all>(?:, pass: \d+)?(?:, fail: <failed>)?(?:, skip: <skipped>)?(?:, todo: <skipped2>)? \}", "node-tap 18: tap reporter"),
        ("tap", "Asserts:", r"Asserts: +(?:(?:<passed> passed|<failed> failed|\d+ skip|\d+ todo),? ?)*of \d+", "node-tap 14 to 16: base reporter"),
        ("karma", "Executed ", r".*Executed <all> of \d+ (?:\(<failed> FAILED\) )?(?:\(skipped <skipped>\) )?(?:SUCCESS )?\(.*secs.*", "karma: base reporter"),
        ("gradle", " completed, ", r"<all> tests? completed, <failed> failed(?:, <skipped> skipped)?", "gradle: AbstractTestTask"),
        ("gradle", "There were failing tests.", r"There were failing tests\. .*(?P<failing>)", "gradle: AbstractTestTask, ignoreFailures"),
        ("maven", "Tests run: ", r"(?:\[\w+\] +)?Tests run: <all>, Failures: <failed>, Errors: <errors>, Skipped: <skipped>(?:, Flakes: \d+)?(?:, Time elapsed:.*)?", "maven-surefire: DefaultReporterFactory"),
        ("maven", "ests are skipped.", r"\[INFO\] Tests are skipped\.", "maven-surefire: AbstractSurefireMojo"),
        ("maven", "No tests to run.", r"\[INFO\] No tests to run\.", "maven-surefire: AbstractSurefireMojo"),
        ("nextest", " run: ", r" *Summary \[.*\] <all>(?:/\d+)? tests? run: \d+ passed(?: \([^)]*\))?(?:, <failed> failed)?(?:, <errors> (?:exec failed|timed out))?, <skipped> skipped", "nextest: reporter displayer"),
        ("sbt", "Passed: Total ", r"(?:\[info\] )?Passed: Total \d+, Failed <failed>, Errors <errors>, Passed <passed>(?:, (?:Ignored|Skipped|Canceled|Pending) \d+)*", "sbt: TestResultLogger"),
        ("sbt", "Failed: Total ", r"(?:\[error\] )?Failed: Total <all>, Failed <failed>, Errors <errors>, Passed \d+.*", "sbt: TestResultLogger"),
        ("sbt", "No tests to run for ", r"(?:\[info\] )?No tests to run for .*", "sbt: TestResultLogger.Defaults.printNoTests"),
        ("ginkgo", " Specs in ", r"Ran <all> of \d+ Specs in .*", "ginkgo: default reporter"),
        ("ginkgo", " Passed | ", r"(?:SUCCESS|FAIL)! -- <passed> Passed \| <failed> Failed \| <skipped> Pending \| <skipped2> Skipped.*", "ginkgo: default reporter"),
        ("gotestsum", "DONE ", r"DONE (?:\d+ runs, )?<all> tests?(?:, <skipped> skipped)?(?:, <failed> failures?)?(?:, <errors> errors?)? in .*", "gotestsum: summary.go"),
        ("googletest", "[  PASSED  ] ", r"\[  PASSED  \] <passed> tests?\.", "googletest: PrettyUnitTestResultPrinter"),
        ("googletest", "[  FAILED  ] ", r"\[  FAILED  \] <failed> tests?, listed below:", "googletest: PrettyUnitTestResultPrinter"),
        ("catch2", "All tests passed", r"All tests passed \(\d+ assertions? in <passed> test cases?\)", "catch2: console reporter"),
        ("catch2", "test cases: ", r"test cases: +<all> \|(?: +\d+ passed \|)? +<failed> failed.*", "catch2: console reporter"),
        ("catch2", "No tests ran", r"No tests ran", "catch2: console reporter"),
        ("dart test", ": All tests passed!", r"[\d:]+ \+<passed>(?: ~<skipped>)?: All tests passed!", "dart test: expanded reporter"),
        ("dart test", ": Some tests failed.", r"[\d:]+ \+<passed>(?: ~<skipped>)? -<failed>: Some tests failed\.", "dart test: expanded reporter"),
        ("dart test", ": All tests skipped.", r"[\d:]+ \+0 ~<skipped>: All tests skipped\.", "dart test: expanded reporter"),
        ("dart test", "No tests ran.", r"No tests ran\.", "dart test: expanded reporter"),
        ("zig test", " tests passed.", r"All <passed> tests passed\.", "zig: test_runner"),
        ("behave", " passed, ", r"<passed> scenarios? passed, <failed> failed(?:, <errors> error)?, <skipped> skipped.*", "behave: summary reporter"),
        ("cucumber", " scenario", r"\d+ scenarios? \((?:<failed> failed)?(?:(?:, )?\d+ (?:undefined|ambiguous|pending|skipped))*(?:(?:, )?<passed> passed)?\)", "cucumber: summary formatter"),
        ("robot", " passed, ", r"<all> tests?, <passed> passed, <failed> failed(?:, <skipped> skipped)?", "robot framework: console output"),
        ("busted", " / ", r"<passed> success(?:es)? / <failed> failures? / <errors> errors? / <skipped> pending : .*", "busted: output handlers"),
        ("lein test", " failures, ", r"<failed> failures, <errors> errors\.", "clojure.test: report :summary"),
        ("lein test", " containing ", r"Ran <all> tests containing \d+ assertions\.", "clojure.test: report :summary"),
        ("tasty", " tests", r"All <passed> tests passed \(.*s\)", "tasty: console reporter"),
        ("tasty", " out of ", r"<failed> out of <all> tests failed \(.*s\)", "tasty: console reporter"),
        ("trial", "PASSED (", r"PASSED \((?:skips=<skipped>)?(?:, )?(?:expectedFailures=<skipped2>)?(?:, )?(?:successes=<passed>)?\)", "twisted.trial: reporter"),
        ("trial", "FAILED (", r"FAILED \((?:skips=\d+, )?(?:expectedFailures=\d+, )?(?:failures=<failed>)?(?:, )?(?:errors=<errors>)?(?:, )?successes=\d+\)", "twisted.trial: reporter"),
        ("cypress", "All specs passed!", r".*All specs passed! +\S+ +<all> +(?:\d+|-) +(?:-|<failed>) .*", "cypress: run summary"),
        ("meson", "No tests defined.", r"No tests defined\.", "meson: mtest"),
        ("meson", "No suitable tests", r"No suitable tests defined\.", "meson: mtest"),
        ("cabal", "Package has no test suites", r"Package has no test suites\.", "Cabal: Distribution.Simple.Test"),
        ("behat", "No scenarios", r"No scenarios", "behat: pretty formatter"),
        ("phpspec", "0 examples", r"0 examples", "phpspec: console"),
        ("green", "No Tests Found", r"No Tests Found", "green: result"),
        ("zope-testrunner", " tests with ", r"\s*Ran <all> tests with <failed> failures, <errors> errors(?:,| and) <skipped> skipped in .*", "zope.testrunner: formatter"),
        ("jasmine", " spec", r"(?:Incomplete: .*, )?<all> specs?, <failed> failures?(?:, <skipped> pending specs?)?", "jasmine: console reporter"),
        ("codeceptjs", " passed", r"\s*OK\s+\| <passed> passed(?:, <skipped> skipped)?\s+//.*", "codeceptjs: output.result"),
        ("cram", "# Ran ", r"# Ran <all> tests?, <skipped> skipped, <failed> failed\.", "cram: main"),
        ("shunit2", "Ran ", r"Ran <all> tests?\.", "shunit2: _shunit_generateReport"),
        ("avocado", "RESULTS", r"RESULTS +: PASS <passed> \| ERROR <errors> \| FAIL <failed> \| SKIP <skipped> \|.*", "avocado: human result"),
        ("kaocha", " assertions, ", r"<all> tests?, \d+ assertions, (?:<errors> errors?, )?(?:<skipped> pending, )?<failed> failures\.", "kaocha: report"),
        ("testthat", "[ FAIL ", r"\[ FAIL <failed> \| WARN \d+ \| SKIP <skipped> \| PASS <passed> \]", "testthat: progress reporter"),
        ("doctest", "[doctest] test cases:", r"\[doctest\] test cases: +\d+ \| +<passed> passed \| +<failed> failed \| +<skipped> skipped", "doctest (C++): console reporter"),
        ("doctest", " tests in ", r"<all> tests in \d+ items?\.", "python: doctest, summarize"),
        ("eunit", "There were no tests to run", r"\s*There were no tests to run\.", "eunit: eunit_tty"),
        ("alcotest", " run.", r"Test Successful in [\d.]+s\. <all> tests? run\.", "alcotest: pp"),
        ("ounit", "Ran: ", r"Ran: <all> tests in: [\d.]+ seconds\.", "ounit: OUnitRunner report"),
        ("zig test", " skipped; ", r"<passed> passed; <skipped> skipped; <failed> failed\.", "zig: test_runner"),
        ("terraform test", " passed, ", r"(?:Success|Failure)! <passed> passed, <failed> failed(?:, <skipped> skipped)?\.", "terraform: command/views/test"),
        ("conftest", " exceptions", r"<all> tests?, \d+ passed, \d+ warnings?, <failed> failures?, <errors> exceptions?(?:, <skipped> skipped)?", "conftest: output, standard"),
        ("forge test", " total tests)", r"Ran \d+ test suites? in .*: <passed> tests passed, <failed> failed, <skipped> skipped \(\d+ total tests\)", "foundry: forge test summary"),
        ("dbt", "Done. PASS=", r".*Done\. PASS=<passed> WARN=\d+ ERROR=<errors> SKIP=<skipped> .*TOTAL=\d+", "dbt: EndRunResult"),
        ("pester", "Tests Passed: ", r"Tests Passed: <passed>, Failed: <failed>, Skipped: <skipped>,? .*", "pester 5: Write-PesterReport"),
        ("nunit", "Test Count: ", r" *Test Count: \d+, Passed: <passed>, Failed: <failed>, Warnings: \d+, Inconclusive: <skipped>, Skipped: <skipped2>", "nunit3-console: ResultReporter"),
        ("wdio", "Spec Files:", r"Spec Files:\s+(?:<passed> passed, )?(?:\d+ retries, )?(?:<failed> failed, )?(?:<skipped> skipped, )?\d+ total .*", "webdriverio: cli interface"),
        ("cocotb", "** TESTS=", r".*\*\* TESTS=\d+ PASS=<passed> FAIL=<failed> SKIP=<skipped> .*", "cocotb: regression"),
        ("nx", "No tasks were run", r"\s*(?:> )?NX +No tasks were run.*", "nx: run-command"),
        ("turbo", "No tasks were executed", r"\s*(?:WARNING +)?No tasks were executed as part of this run\.", "turborepo: run summary"),
        ("lerna", "No packages found with", r"lerna \w+ (?:run )?No packages found with .*", "lerna: commands/run"),
        ("pnpm", "No projects matched", r"No projects matched the filters.*", "pnpm: cli main"),
        ("jest", "No tests found related", r"No tests found related to files changed .*", "jest-core: getNoTestsFoundMessage"),
    )
)  # fmt: skip


class MultilineReport(NamedTuple):
    """A report on several lines with one count each; ``words`` names what they count."""

    runner: str
    pattern: str
    words: Mapping[str, str]
    source: str
    always: frozenset[str] = frozenset()
    """Words that every report has; without them the lines are another program's."""


MULTILINE_REPORTS = (
    MultilineReport("node --test", r"(?:ℹ|#) (?P<word>tests|pass|fail|cancelled|skipped|todo) (?P<n>\d{1,9})", {"pass": "passed", "fail": "failed", "cancelled": "errors", "skipped": "skipped", "todo": "skipped"}, "recorded, node 20"),
    MultilineReport("dotnet test", r" {2}(?P<word>total|failed|succeeded|skipped): (?P<n>\d{1,9})", {"failed": "failed", "succeeded": "passed", "skipped": "skipped"}, "Microsoft.Testing.Platform: terminal output"),
    MultilineReport("bun test", r" (?P<n>\d{1,9}) (?P<word>pass|fail|skip|todo)", {"pass": "passed", "fail": "failed", "skip": "skipped", "todo": "skipped"}, "bun: test_command"),
    MultilineReport("playwright", r"  (?P<n>\d{1,9}) (?P<word>failed|flaky|skipped|interrupted|did not run|passed)(?: \([\d.]+\w+\))?", {"passed": "passed", "flaky": "passed", "failed": "failed", "interrupted": "errors", "skipped": "skipped", "did not run": "skipped"}, "playwright: base reporter"),
    MultilineReport("ava", r"  (?P<n>\d{1,9}) (?P<word>tests? passed|tests? failed|tests? skipped|tests? todo|known failures?|uncaught exceptions?)", {"tests passed": "passed", "test passed": "passed", "tests failed": "failed", "test failed": "failed", "uncaught exception": "errors", "uncaught exceptions": "errors", "tests skipped": "skipped", "test skipped": "skipped", "tests todo": "skipped", "test todo": "skipped", "known failure": "skipped", "known failures": "skipped"}, "ava: default reporter"),
    MultilineReport("meson", r"(?P<word>Ok|Expected Fail|Fail|Unexpected Pass|Skipped|Ignored|Timeout): {2,}(?P<n>\d{1,9})\s*", {"Ok": "passed", "Expected Fail": "skipped", "Fail": "failed", "Unexpected Pass": "failed", "Skipped": "skipped", "Ignored": "skipped", "Timeout": "errors"}, "meson: mtest", frozenset(("Ok", "Fail"))),
    MultilineReport("stestr", r" - (?P<word>Passed|Skipped|Expected Fail|Unexpected Success|Failed): (?P<n>\d{1,9})", {"Passed": "passed", "Skipped": "skipped", "Expected Fail": "skipped", "Unexpected Success": "failed", "Failed": "failed"}, "stestr: subunit_trace"),
    MultilineReport("automake", r"# (?P<word>TOTAL|PASS|SKIP|XFAIL|FAIL|XPASS|ERROR): +(?P<n>\d{1,9})", {"PASS": "passed", "SKIP": "skipped", "XFAIL": "skipped", "FAIL": "failed", "XPASS": "failed", "ERROR": "errors"}, "automake: am/check.am", frozenset(("TOTAL", "PASS"))),
    MultilineReport("dejagnu", r"# of (?P<word>expected passes|unexpected failures|unexpected successes|expected failures|known failures|unresolved testcases|untested testcases|unsupported tests)\t+(?P<n>\d{1,9})", {"expected passes": "passed", "unexpected failures": "failed", "unexpected successes": "failed", "expected failures": "skipped", "known failures": "skipped", "unresolved testcases": "errors", "untested testcases": "skipped", "unsupported tests": "skipped"}, "dejagnu: framework.exp, log_summary"),
    MultilineReport("lit", r"  (?P<word>Excluded|Skipped|Unsupported|Passed|Passed With Retry|Expectedly Failed|Unresolved|Timed Out|Failed|Unexpectedly Passed) *: +(?P<n>\d{1,9}) \([\d.]+%\)", {"Excluded": "skipped", "Skipped": "skipped", "Unsupported": "skipped", "Passed": "passed", "Passed With Retry": "passed", "Expectedly Failed": "skipped", "Unresolved": "errors", "Timed Out": "errors", "Failed": "failed", "Unexpectedly Passed": "failed"}, "llvm lit: display, print_results"),
    MultilineReport("uvu", r"  (?P<word>Total|Passed|Skipped): +(?P<n>\d{1,9})", {"Passed": "passed", "Skipped": "skipped"}, "uvu: run", frozenset(("Total", "Passed", "Skipped"))),
    MultilineReport("chainsaw", r"- (?P<word>Passed|Failed|Skipped) +tests (?P<n>\d{1,9})", {"Passed": "passed", "Failed": "failed", "Skipped": "skipped"}, "chainsaw: commands/test"),
    MultilineReport("dotnet test", r" {4,6}(?P<word>Passed|Failed|Skipped): (?P<n>\d{1,9})", {"Passed": "passed", "Failed": "failed", "Skipped": "skipped"}, "vstest: console logger, minimal"),
)  # fmt: skip


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.ASCII)


def one_line(lines: Sequence[str]) -> Iterator[Summary]:
    """The reports that fit on one line each."""
    for line in lines:
        for form in LINE_REPORTS:
            if form.literal in line:
                match = _pattern(form.pattern).fullmatch(line)
                if match is not None:
                    yield _line_summary(form.runner, match.groupdict(), line.strip())
                    break


def _line_summary(runner: str, groups: Mapping[str, str | None], quote: str) -> Summary:
    counts = {"all": 0, "passed": 0, "failed": 0, "errors": 0, "skipped": 0}
    for name, value in groups.items():
        if name == "failing":
            counts["failed"] += 1
        elif value is not None:
            counts[name.rstrip("2")] += int(value)
    failed = counts["failed"] + counts["errors"]
    left = max(counts["all"] - counts["skipped"] - counts["errors"], 0)
    ran = counts["passed"] + failed if "passed" in groups else left + counts["errors"]
    return Summary(runner, max(ran, failed), counts["skipped"], quote[:120], failed)


def multiline(lines: Sequence[str]) -> Iterator[Summary]:
    """The reports of several lines; a repeated count begins the next report."""
    short = [line for line in lines if len(line) < 60]
    for form in MULTILINE_REPORTS:
        counts: dict[str, int] = {}
        for match in filter(None, map(_pattern(form.pattern).fullmatch, short)):
            if match["word"] in counts:
                yield from _multiline_summary(form, counts)
                counts = {}
            counts[match["word"]] = int(match["n"])
        yield from _multiline_summary(form, counts)


def _multiline_summary(form: MultilineReport, counts: Mapping[str, int]) -> Iterator[Summary]:
    if not counts or not form.always <= counts.keys():
        return
    sums = {"passed": 0, "failed": 0, "errors": 0, "skipped": 0}
    for word, number in counts.items():
        if word in form.words:
            sums[form.words[word]] += number
    failed = sums["failed"] + sums["errors"]
    quote = ", ".join(f"{number} {word}" for word, number in counts.items())
    yield Summary(form.runner, sums["passed"] + failed, sums["skipped"], quote[:120], failed)


_CTEST = r"\d+% tests passed(?:, (?P<failed>\d{1,9}) tests? failed)? out of (?P<all>\d{1,9})"
_CTEST_SKIPPED = r"\t *\d+ - .+ \(Skipped\).*"


def ctest(lines: Sequence[str]) -> Iterator[Summary]:
    """``100% tests passed, 0 tests failed out of 2``; skipped tests are among those that passed.

    They are named below it (recorded, ctest 3.25).
    """
    skipped = 0
    for line in reversed(lines):
        if "(Skipped)" in line:
            skipped += _pattern(_CTEST_SKIPPED).fullmatch(line) is not None
        match = _pattern(_CTEST).fullmatch(line) if "% tests passed" in line else None
        if match is not None:
            failed = int(match["failed"] or 0)
            ran = max(int(match["all"]) - skipped, failed)
            yield Summary("ctest", ran, skipped, line, failed)
            skipped = 0


def tap(lines: Sequence[str]) -> Iterator[Summary]:
    """Reports of the Test Anything Protocol: a plan ``1..3``, then lines ``ok 1``, ``not ok 2``.

    A runner's own counts (node) may be read as well; they give the same figures. A suite of node
    is no test: it is ``ok`` with no test in it, too.
    """
    plans = [number_of(line[3:].partition("#")[0].rstrip()) for line in lines if line[:3] == "1.."]
    planned = [plan for plan in plans if plan is not None]
    if not planned:
        return
    passed = failed = skipped = suites = 0
    for index, line in enumerate(lines):
        good = line.startswith("ok ")
        if not good and not line.startswith("not ok "):
            continue
        number, _, text = line[3 if good else 7 :].partition(" ")
        if number_of(number) is None:
            continue
        directive = text.rpartition("# ")[2][:4].lower() if "# " in text else ""
        if directive in ("skip", "todo"):
            skipped += 1
        elif good and "  type: 'suite'" in lines[index + 1 : index + 4]:
            suites += 1
        else:
            passed, failed = passed + good, failed + (not good)
    if passed + failed + skipped + suites == sum(planned):
        quote = f"{passed} ok, {failed} not ok, {skipped} skipped"
        yield Summary("TAP", passed + failed, skipped, quote, failed)


def number_of(text: str) -> int | None:
    """A count of at most nine digits; None if ``text`` is no such number."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
