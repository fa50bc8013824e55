# ruff: noqa: E501
"""Whether a failure on the base commit was that of a test (SPEC 10, red first).

A runner that finds no test, or cannot start, fails as well; that says nothing about the change.
The failure is a test's if a report shows that one ran. Without such a report it shows nothing if
the runner always prints one, or if a line says that the requested tests are missing.

The same lines tell of a pass that rests on such a failure: ``! rg word src`` without an ``rg``.
"""

from __future__ import annotations

import re

from flow.core.attribution.attribute import all_reports
from flow.core.attribution.idle_checkers import DECIDE
from flow.core.attribution.reading import Attribution
from flow.core.masked_exit.programs import SEARCHERS
from flow.core.masked_exit.shell import base_name
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flow.core.attribution.reading import CommandReading, Summary


class Absence(NamedTuple):
    """A line by which a program says that the thing to run is missing."""

    program: str
    literal: str
    pattern: str
    source: str


ABSENCES = tuple(
    Absence(*row)
    for row in (
        ("pytest", "not found: ", r"ERROR: (?:file or directory )?not found: .*", "recorded, pytest 8"),
        ("pytest", "rror: ", r"(?:ERROR: usage: .*|.*pytest: error: .*)", "recorded, pytest 8: options that it does not know"),
        ("unittest", "NO TESTS RAN", r"NO TESTS RAN(?: \(.*\))?", "unittest, Python 3.12"),
        ("unittest", "not importable", r"ImportError: Start directory is not importable: .*", "recorded, Python 3.11"),
        ("python", "can't open file", r".*: can't open file '.*': \[Errno 2\] No such file or directory", "recorded, Python 3.11"),
        ("python", "No module named", r"\S*python[\d.]*(?:\.exe)?: No module named .*", "recorded, Python 3.11: python -m"),
        ("jest", "No tests found", r"No tests found, exiting with code 1", "recorded, jest 30"),
        ("vitest", "No test", r"No test (?:files|suite) found(?:, exiting with code 1| in file .*)", "recorded, vitest 4"),
        ("mocha", "No test files found", r"Error: No test files found: .*", "recorded, mocha 12"),
        ("mocha", "No test files found", r"Error: No test files found", "mocha: lib/cli/collect-files"),
        ("ava", " matching tests", r"✘ Couldn[’']t find any matching tests", "recorded, ava 7"),
        ("ava", "find any files", r"✘ Couldn[’']t find any files to test", "ava: default reporter"),
        ("ava", "did not match the filters", r"✘ Based on your configuration, .* did not match the filters:", "recorded, ava 7"),
        ("node --test", "Could not find", r"Could not find '.*'", "recorded, node 20"),
        ("node", "Cannot find module", r"Error: Cannot find module '/.*'", "recorded, node 20; a module by its path is what it was started with"),
        ("playwright", "No tests found", r"Error: No tests found\.?.*", "playwright: test runner"),
        ("cypress", "no spec files", r"Can't run because no spec files were found\.", "cypress: errors"),
        ("bun test", "did not match any test files", r"(?:error: )?The following filters did not match any test files.*", "bun: test_command"),
        ("bun test", "matched 0 tests", r"error: regex .* matched 0 tests\..*", "bun: test_command"),
        ("bun test", "No tests found", r"No tests found!", "bun: test_command"),
        ("deno test", "No test modules found", r"error: No test modules found", "deno: cli/tools/test"),
        ("deno test", "Module not found", r"error: Module not found \"file:.*", "deno: module loader"),
        ("go test", "directory not found", r"(?:stat .*|# .*|.*): directory not found", "cmd/go: load"),
        ("go test", "no Go files in", r".*no (?:non-test )?Go files in .*", "cmd/go: load"),
        ("go test", "matched no packages", r"(?:go: warning: )?\".*\" matched no packages", "cmd/go: search"),
        ("go test", "no required module", r"no required module provides package .*", "cmd/go: modload"),
        ("go test", "go.mod file not found", r"go: (?:cannot find main module.*|go\.mod file not found .*)", "cmd/go: modload"),
        ("cargo test", "no test target named", r"error: no (?:test|bench|example|bin) target (?:named|matches pattern) .*", "recorded, cargo 1.95"),
        ("cargo test", "did not match any packages", r"error: package ID specification .* did not match any packages", "recorded, cargo 1.95"),
        ("cargo test", "could not find `Cargo.toml`", r"error: could not find `Cargo\.toml` in .*", "cargo: workspace"),
        ("nextest", "no tests to run", r"error: no tests to run", "nextest: errors"),
        ("rspec", "No examples found", r"No examples found\.", "rspec-core: base text formatter"),
        ("ruby", "No such file or directory -- ", r".*: No such file or directory -- .*\(LoadError\)", "ruby: load_file"),
        ("phpunit", "not found", r"Test (?:file|directory) \".*\" not found", "phpunit 10: TextUI"),
        ("phpunit", "Cannot open file", r"Cannot open file \".*\"\.", "phpunit 9: TextUI"),
        ("phpunit", "No tests", r"No tests (?:executed|found).*", "phpunit: TextUI"),
        ("pest", "No tests found", r"(?:INFO +)?No tests found\.", "pest: TestSuite"),
        ("php", "Could not open input file", r"Could not open input file: .*", "php: cli"),
        ("dotnet test", "MSB1009", r".*error MSB1009: .*", "msbuild: project file does not exist"),
        ("dotnet test", "ero tests ran", r"(?:Test run summary: )?Zero tests ran.*", "Microsoft.Testing.Platform: exit 8"),
        ("gradle", "No tests found for given includes", r"(?:> )?No tests found for given includes: .*", "gradle: DefaultTestFilter"),
        ("gradle", "not found in", r"(?:> )?(?:Task|Cannot locate tasks that match) '.*'.*", "gradle: task selection"),
        ("maven", "No tests ", r"(?:\[ERROR\] )?.*No tests (?:matching pattern .* )?were executed!.*", "maven-surefire: failIfNoTests"),
        ("sbt", "No tests were executed", r"(?:\[\w+\] )?No tests were executed\.?", "sbt: Tests"),
        ("mix test", "did not match any", r".*Paths given to .?mix test.? did not match any directory/file: .*", "mix: tasks.test"),
        ("mix test", "no test was executed", r".*no test was executed", "mix: tasks.test"),
        ("swift test", "no tests found", r"error: no tests found.*", "swiftpm: SwiftTestTool"),
        ("swift test", "No matching test cases", r"(?:warning: )?No matching test cases were run", "swiftpm: SwiftTestTool"),
        ("ctest", "No tests were found", r"No tests were found!*", "recorded, ctest 3.25"),
        ("catch2", "No test cases matched", r"No test cases matched '.*'", "catch2: console reporter"),
        ("bats", " does not exist", r"(?:ERROR|bats): .* does not exist\.?", "bats-core: libexec"),
        ("prove", "Cannot detect source of", r"Cannot detect source of '.*'!.*", "recorded, TAP::Harness 3.44"),
        ("perl", "Can't open perl script", r"Can't open perl script \".*\": No such file or directory", "recorded, perl 5.36"),
        ("behave", "No steps directory", r".*ConfigError: No steps directory in .*", "behave: runner"),
        ("robot", "contains no tests", r"\[ ERROR \] Suite '.*' contains no tests.*", "robot framework: exit 252"),
        ("robot", "does not exist", r"\[ ERROR \] .*(?:File or directory to execute does not exist).*", "robot framework: exit 252"),
        ("busted", "No test files found", r"No test files found matching Lua pattern: .*", "busted: test_file_loader"),
        ("dart test", "No tests ", r"(?:No tests (?:match|ran).*|.*Does not exist\.)", "dart test: exit 79"),
        ("ginkgo", "Found no test suites", r"Found no test suites.*", "ginkgo: internal"),
        ("npm", "issing script", r"(?:npm (?:error|ERR!) )?[Mm]issing script: .*", "recorded, npm 10"),
        ("yarn", "not found", r"(?:error Command|Usage Error: Couldn't find a script named) \".*\"(?: not found)?\.", "yarn: run"),
        ("pnpm", "NO_SCRIPT", r".*ERR_PNPM_NO_SCRIPT.*", "pnpm: run"),
        ("make", "No rule to make target", r"g?make(?:\[\d+\])?: \*\*\* No rule to make target ['`][^']*'\.  Stop\.", "recorded, GNU make 4.3"),
        ("make", "No targets specified", r"g?make(?:\[\d+\])?: \*\*\* No targets specified and no makefile found\.  Stop\.", "recorded, GNU make 4.3"),
        ("rake", "know how to build task", r"Don't know how to build task '.*'.*", "rake: task_manager"),
        ("just", "does not contain recipe", r"error: Justfile does not contain recipe .*", "just: error"),
        ("nox", "essions not found", r"nox > Sessions not found: .*", "nox: tasks.filter_manifest"),
        ("composer", "is not defined", r".*(?:Script|Command) \".*\" is not defined.*", "composer: RunScriptCommand"),
        ("lein test", "Could not locate", r".*FileNotFoundException.*Could not locate .* on classpath\..*", "clojure: RT.load"),
        ("tox", "not found in configuration", r".*provided environments not found in configuration file.*", "tox 4: env_select"),
    )
)  # fmt: skip
_NOT_FOUND = re.compile(
    r"(?:\S*(?:ba|da|z|k|a)?sh: (?:line )?(?:\d+: )?(?P<shell>\S+): (?:command )?not found"
    r"|\S*bash: (?:line \d+: )?(?P<path>\S*/\S*): (?:No such file or directory|Permission denied)"
    r"|(?:env|nohup|timeout|nice|xargs|setsid|stdbuf): (?:failed to run command )?"
    r"[‘'](?P<other>.*)[’']: (?:No such file or directory|Permission denied))"
)
"""Messages about a missing program, from shells and from programs that start others."""
_ALWAYS_REPORT = frozenset(
    (
        "pytest", "unittest", "jest", "vitest", "mocha", "ava", "node --test", "rspec", "phpunit",
        "pest", "minitest", "test-unit", "bats", "behave", "robot", "busted", "playwright", "karma",
        "ctest", "tap", "cucumber", "trial", "stestr",
    )
)  # fmt: skip
"""Runners that build nothing first and print a report whenever a test ran."""
_FAILURES = {"pytest": (1, 2)}
"""Exit statuses that prove a failed test, or a broken file of tests, even without output."""
_UNITTEST_LOADER = re.compile(r"ERROR: \S+ \(unittest\.loader\._FailedTest.*\)")
_UNLOADED = re.compile(
    r"(?:ModuleNotFoundError: No module named '(?P<module>.*)'"
    r"|AttributeError: .* has no attribute '(?P<name>.*)'"
    r"|cannot load such file -- (?P<file>.*))"
)


def shows_nothing(
    reading: CommandReading,
    lines: Sequence[str],
    exit_code: int | None,
    reports: Sequence[tuple[str, Summary]] = (),
) -> str:
    """Reason that a failure shows no failed test; empty if it shows one, or no runner is known.

    ``lines`` are the end of the output, ``reports`` the report files that the command wrote, each
    with its summary.
    """
    by_source = all_reports(reading, lines, reports)
    unloaded = _unloaded(reading, lines)
    if sum(summary.ran for _, summary in by_source) > unloaded:
        return ""
    missing = _nothing_to_run(lines)
    if missing:
        return missing
    if by_source:
        last = by_source[-1][1]
        why = "what it was asked for is not there" if unloaded else "no test ran"
        return f"{last.runner} reports that {why} ({last.quote})"
    runner = reading.runners[0] if reading.only_runner and len(reading.runners) == 1 else ""
    if runner in _ALWAYS_REPORT and exit_code not in _FAILURES.get(runner, ()):
        return f"no report of {runner} shows a test that failed (exit {exit_code})"
    return ""


def _nothing_to_run(lines: Sequence[str]) -> str:
    """Reason that a program could not be run, or found nothing to run; empty: no line says so."""
    missing = not_found(lines)
    if missing:
        return f"a command was not found: {missing}"
    for line in map(str.strip, lines):
        for row in ABSENCES:
            if row.literal in line and re.fullmatch(row.pattern, line):
                return f"{row.program} found nothing to run ({line[:120]})"
    return ""


_COMPLAINT = re.compile(
    r"(?:fatal|error|panic|usage)\b.*: .+|Traceback \(most recent call last\):"
    r"|\S+:\d+(?::\d+)?: (?!\w*warning\b|note\b|info\b).+"
    r"|.+: (?:no such file or directory|not a directory|permission denied).*",
    re.IGNORECASE,
)
"""A program's words about its own failure, without its name; a warning is none."""


def _answers(reading: CommandReading) -> Iterator[str]:
    """The programs that have to fail, and say no without a word: else they could not look."""
    git = (set(words) for words in reading.commands if base_name(words[0]) == "git")
    asks = any(words & {"grep", "diff"} for words in git)
    for name in map(base_name, reading.must_fail):
        if name in {*SEARCHERS, "diff", "cmp"} or (name == "git" and asks):
            yield name


def passed_by_failing(
    reading: CommandReading, lines: Sequence[str], missing: str
) -> Attribution | None:
    """A masked exit where a program failed for another reason than the command asks about.

    A program in a substitution prints nothing where it fails, and one behind a ``!`` also fails
    where it is missing: both let the command pass. ``missing`` is the first of these programs that
    is surely not installed; empty: none.
    """
    why = f"a command was not found: {missing}" if missing else _nothing_to_run(lines)
    if not why:
        heard = not reading.unheard or reading.runners
        names = (*reading.unheard, *_answers(reading))
        own = tuple("fatal: " if name == "git" else f"{base_name(name)}: " for name in names)
        alone = reading.only_checkers and not any(w[0] in DECIDE for w in reading.commands)
        whole = reading.unheard or not alone  # else a file may miss among others
        complaints = (
            line
            for line in lines
            if (line.startswith(own) and (whole or own == ("fatal: ",) or line.count(": ") == 1))
            or (not heard and _COMPLAINT.fullmatch(line))
        )
        why = next(complaints, "")[:120]
    if not why:
        return None
    name = missing or (*reading.unheard, *reading.must_fail)[0]
    text = f"the exit status is 0 also where `{name}` cannot do its work, as here: {why}"
    return Attribution("masked", text, "", None, None, "output")


def not_found(lines: Sequence[str]) -> str:
    """The first program that the output reports as missing; empty: none."""
    for line in lines:
        if "not found" in line or "No such file" in line or "Permission denied" in line:
            match = _NOT_FOUND.fullmatch(line.strip())
            if match is not None:
                return match["shell"] or match["path"] or match["other"]
    return ""


def _unloaded(reading: CommandReading, lines: Sequence[str]) -> int:
    """Number of failures that are only missing tests, named by the command.

    unittest and RSpec count these as errors of a test. A missing module that a test imports and the
    command does not name is not counted: the change may have to add it.
    """
    words = {
        base.replace("/", ".").removesuffix(".py")
        for command in reading.commands
        for word in command[1:]
        for base in (word.removeprefix("./"), base_name(word))
    }
    by_unittest = any(map(_UNITTEST_LOADER.fullmatch, lines))
    count = _unfound_packages(lines)
    for line in lines:
        match = _UNLOADED.fullmatch(line.strip())
        if match is None or (match["file"] is None and not by_unittest):
            continue
        asked = (match["module"] or match["file"] or "").replace("/", ".").removesuffix(".py")
        if match["name"]:
            count += any(match["name"] in word.split(".") for word in words)
        elif match["file"]:
            count += any(len(word) > 3 and asked.endswith(word) for word in words)
        else:
            count += any(word == asked or word.startswith(f"{asked}.") for word in words)
    return count


_NO_PACKAGE = re.compile(r".*(?:: directory not found|no (?:non-test )?Go files in .*)")


def _unfound_packages(lines: Sequence[str]) -> int:
    """Number of go's failures that are missing packages."""
    if not any(map(_NO_PACKAGE.fullmatch, lines)):
        return 0
    return sum(line == "FAIL" or line.endswith(" [setup failed]") for line in lines)
