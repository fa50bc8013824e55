"""A runner's own words about a failure: counts of its report, documented exit statuses.

For people only: nothing here decides anything. It covers only a command that starts one program, so
that figures and exit status are surely that program's.
"""

from __future__ import annotations

import re

from flow.core.attribution.attribute import lines_of, summaries
from flow.core.attribution.report_readers import ONE_REPORT
from flow.core.masked_exit.programs import FILTERS, main_programs
from flow.core.masked_exit.runner_names import report_of, runner_of
from flow.core.masked_exit.shell import base_name
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.core.attribution.reading import CommandReading


class NamedExit(NamedTuple):
    """One exit status of a program, as its documentation describes it."""

    program: str
    code: int
    text: str
    source: str


NAMED_EXITS = (
    NamedExit("pytest", 2, "pytest was interrupted", "docs.pytest.org, exit codes, 2026"),
    NamedExit("pytest", 3, "pytest had an internal error", "docs.pytest.org, exit codes, 2026"),
    NamedExit("pytest", 4, "pytest was called wrongly", "docs.pytest.org, exit codes, 2026"),
    NamedExit("pytest", 5, "pytest collected no tests", "docs.pytest.org, exit codes, 2026"),
    NamedExit("unittest", 5, "unittest ran no tests", "docs.python.org, unittest 3.12"),
    NamedExit("mypy", 2, "mypy could not check the files", "mypy: main.py, fail() status, 2026"),
    NamedExit("ruff", 2, "ruff itself failed", "docs.astral.sh, ruff exit codes, 2026"),
    NamedExit("black", 123, "black could not format a file", "black.readthedocs.io, usage, 2026"),
    NamedExit("pyright", 2, "pyright had a fatal error", "pyright docs, command-line, 2026"),
    NamedExit("pyright", 3, "pyright cannot read its settings", "pyright docs, command-line, 2026"),
    NamedExit("pyright", 4, "pyright was called wrongly", "pyright docs, command-line, 2026"),
    NamedExit("pylint", 32, "pylint was called wrongly", "pylint docs, exit codes, 2026"),
    NamedExit("eslint", 2, "eslint itself failed", "eslint.org, command line, exit codes, 2026"),
    NamedExit("prettier", 2, "prettier itself failed", "prettier.io, CLI, --check, 2026"),
    NamedExit("phpunit", 2, "phpunit had errors", "phpunit: ShellExitCodeCalculator, 2026"),
    NamedExit("shellcheck", 2, "shellcheck could not read a file", "shellcheck(1), return values"),
    NamedExit("shellcheck", 3, "shellcheck was called wrongly", "shellcheck(1), return values"),
    NamedExit("shellcheck", 4, "shellcheck was called wrongly", "shellcheck(1), return values"),
    NamedExit("grep", 1, "grep found nothing", "POSIX, grep, exit status"),
    NamedExit("grep", 2, "grep itself failed", "POSIX, grep, exit status"),
    NamedExit("diff", 1, "diff found differences", "POSIX, diff, exit status"),
    NamedExit("diff", 2, "diff itself failed", "POSIX, diff, exit status"),
    NamedExit("cmp", 1, "cmp found a difference", "POSIX, cmp, exit status"),
    NamedExit("cmp", 2, "cmp itself failed", "POSIX, cmp, exit status"),
    NamedExit("timeout", 124, "timeout ended it", "coreutils, timeout invocation"),
    NamedExit("curl", 6, "curl could not resolve the host", "curl(1), exit codes"),
    NamedExit("curl", 7, "curl could not connect", "curl(1), exit codes"),
    NamedExit("curl", 22, "curl got an HTTP error", "curl(1), exit codes"),
    NamedExit("curl", 28, "curl ran out of time", "curl(1), exit codes"),
    NamedExit("pre-commit", 3, "pre-commit itself failed", "pre-commit: error_handler.py, 2026"),
)
"""Exit statuses that say more than "failed"."""


class FaultCount(NamedTuple):
    """The line with a checker's count of its findings; the pattern's first group is the count."""

    program: str
    pattern: str
    word: str
    source: str


FAULT_COUNTS = (
    FaultCount("mypy", r"Found (\d+) errors? in \d+ files? .*", "error", "mypy: util.py, 2026"),
    FaultCount("ruff", r"Found (\d+) errors?\.", "error", "ruff: printer.rs, 2026"),
    FaultCount("pyright", r"(\d+) errors?, \d+ warnings?.*", "error", "pyright: pyright.ts, 2026"),
    FaultCount("eslint", r"✖ (\d+) problems? \(.*\)", "problem", "eslint: stylish formatter, 2026"),
    FaultCount("tsc", r"Found (\d+) errors?(?: in .*)?\.?", "error", "typescript: watch.ts, 2026"),
)
LAST_LINES = 5
"""Lines at the end of an output, without blank ones, that may hold a checker's count."""
_LAUNCHERS = {"npx": (), "uvx": (), "uv": ("run",), "poetry": ("run",), "pnpm": ("exec",)}
"""Programs that start the program named after them, and the word required between them."""


def failure_words(
    reading: CommandReading, data: bytes, exit_code: int | None, *, whole: bool
) -> str:
    """``4 of 14 failed``, ``3 errors``, ``pytest collected no tests``; empty if nothing is certain.

    ``data`` is the end of the output, ``whole`` says that it is all of it.
    """
    if exit_code in (None, 0):
        return ""
    words = _only_program(reading)
    program = report_of(words) or _program(words)
    if not program:
        return ""
    for row in NAMED_EXITS:
        if (row.program, row.code) == (program, exit_code):
            # `cd` and `test`, which may precede it, use these two, too
            return row.text if exit_code > 2 or len(reading.commands) == 1 else ""
    lines = lines_of(data)
    if runner_of(words):
        return _failed_tests(lines, program) if whole or program in ONE_REPORT else ""
    return _faults(lines, program)


def _only_program(reading: CommandReading) -> tuple[str, ...]:
    """The words of the only program that a command starts; empty if it starts others."""
    if reading.masked_exit or reading.second_try or reading.inverted:
        return ()
    if len({base_name(name) for name in reading.piped_programs} - FILTERS) > 1:
        return ()
    programs = main_programs(reading.commands)
    return programs[0] if len(programs) == 1 else ()


def _program(words: Sequence[str]) -> str:
    """The name of the program, after any launcher."""
    if not words:
        return ""
    name, rest = base_name(words[0]), list(words[1:])
    if name.startswith("python") and rest[:1] == ["-m"] and len(rest) > 1:
        return rest[1]
    if name in _LAUNCHERS:
        needed = _LAUNCHERS[name]
        behind = rest[len(needed) :] if tuple(rest[: len(needed)]) == needed else []
        return _program(behind) if behind and not behind[0].startswith("-") else ""
    return name


def _failed_tests(lines: Sequence[str], program: str) -> str:
    """``4 of 14 failed`` by the only, or the final, report of ``program``; empty if uncertain."""
    own = [summary for summary in summaries(lines) if summary.runner == program]
    if not own or (len(own) > 1 and program not in ONE_REPORT):
        return ""
    failed, ran = own[-1].failed, own[-1].ran
    return f"{failed} of {ran} failed" if 0 < failed <= ran else ""


def _faults(lines: Sequence[str], program: str) -> str:
    last = [line.strip() for line in lines if line.strip()][-LAST_LINES:]
    for row in FAULT_COUNTS:
        for line in last if row.program == program else ():
            counted = re.fullmatch(row.pattern, line)
            if counted and int(counted[1]):
                return f"{int(counted[1])} {row.word}{'' if int(counted[1]) == 1 else 's'}"
    return ""


_ENDS = re.compile(
    r"\s*(?:\|\|\s*(?:true|:|exit 0|echo\b[^;&|<>$`()]*)|;\s*(?:true|:|exit 0|echo\b[^;&|<>$`()]*))"
    r"\s*;?\s*\Z"
)
"""Endings of a command that drop its exit status and do nothing else."""


def without_mask(command: str) -> str:
    """``command`` without an ending such as ``|| true``; empty if it has none.

    The caller must check whether its exit status then shows a failure.
    """
    end = _ENDS.search(command)
    return command[: end.start()] if end and command[: end.start()].strip() else ""
