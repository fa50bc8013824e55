"""Commands that builders start: those that they print, and those that their files hold.

``make test`` prints its recipe (``pytest -q``), npm, tox and others theirs behind a sign. Where a
runner was started so and no report of it follows, something has ended it with 0 before its tests:
code under test may (``os._exit(0)``). Forms of GNU make 4.3, npm 10 and ``set -x`` are recorded;
the others are their programs' own, as of November 2026.
"""

from __future__ import annotations

import itertools
import re

from flow.core.attribution.node_files import registers_tests
from flow.core.masked_exit.runner_tables import ALONE
from flow.core.masked_exit.runner_words import package_script
from flow.core.masked_exit.shell import base_name
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flow.core.attribution.reading import CommandReading

MOST_LINES = 2000
"""Lines of an output that are looked at."""
LONGEST_SCRIPT = 4000
"""Characters of a script of ``package.json`` that are read."""
MOST_READ = 20
"""Lines that are read as commands."""


class Echo(NamedTuple):
    """The form in which some programs print the commands that they start."""

    programs: frozenset[str]
    sign: str
    """A pattern of what stands before the command."""


_SHELLS = "bash sh dash zsh ksh source ."
_SCRIPTS = "npm pnpm yarn bun npx turbo nx lerna run-s run-p npm-run-all composer"
ECHOES = tuple(
    Echo(frozenset(programs.split()), sign)
    for programs, sign in (
        ("make gmake bmake remake just invoke inv", ""),
        (_SCRIPTS, r"(?:\S+: )?[>$] |\S+ \S+\$ "),
        ("tox", r"\S+: commands(?:_pre|_post)?\[\d+\]> "),
        ("nox", r"nox > "),
        ("task go-task", r"task: \[[^\]]*\] "),
        ("hatch", r"cmd \[\d+\] \| "),
        ("poe", r"Poe => "),
        (_SHELLS, r"\++ "),
    )
)
_NAMES = sorted({*ALONE, *(name for echo in ECHOES for name in echo.programs if name != ".")})
_STARTS = re.compile(
    rf"(?<![\w.-])(?:{'|'.join(map(re.escape, _NAMES))})(?![\w\[:-]|==|[ \t]+v?\d+\.\d)|\btest\b"
)
"""The names of runners, and of what may start and print others; with a version they are a list's
(``pip list``).
"""


def shell_script(words: Sequence[str]) -> str:
    """The file that ``sh tools/check`` or ``./check`` runs, perhaps in a shell; empty: none."""
    if base_name(words[0]) not in _SHELLS.split():
        return words[0] if "/" in words[0] else ""
    for option, word in itertools.pairwise(words):
        if option.startswith("-") and option.endswith("c"):
            return ""
        if not word.startswith(("-", "+")) and option not in ("-o", "+o", "-O", "+O"):
            return word
    return ""


def is_shell_text(text: str) -> bool:
    """Whether a script names a shell in its first line, or nothing at all."""
    first = text.partition("\n")[0]
    return not first.startswith("#!") or re.search(r"\b(?:ba|da|z|k)?sh\b", first) is not None


_RUNS_TESTS = re.compile(
    r"^if __name__\b.*:\s*(?:(?:sys\.)?exit\(|raise SystemExit\()?(unittest|pytest)\.main\(",
    re.MULTILINE,
)


_DEFINES_TESTS = re.compile(r"^class \w+\(.*TestCase\)|^(?:async )?def test_\w*\(", re.MULTILINE)
_MAY_RUN = re.compile(
    r"^(?!\s*(?:async )?def |\s*#).*\btest_\w*\(|^assert\b|\b(?:main|globals|locals|vars|run)\("
    r"|Runner|TestSuite|TestLoader|__main__",
    re.MULTILINE,
)
"""Signs that a file of tests runs them itself where it is started as a script."""


def runner_in_script(program: str, text: str) -> str:
    """The runner that a script starts first of all, by the name of its form; empty without one.

    A file that defines tests, and runs none, would need one.
    """
    if program.startswith("node"):
        return "node --test" if registers_tests(text) else ""
    if not program.startswith("py"):
        return ""
    runs = _RUNS_TESTS.search(text)
    if runs is None:
        return "unittest" if _DEFINES_TESTS.search(text) and not _MAY_RUN.search(text) else ""
    return runs[1]


_CALLS = re.compile(r"\b(?:npm|pnpm|yarn|bun) [^\n;&|()<>'\"]+")


def _called_scripts(text: str) -> Iterator[str]:
    """The scripts of the same ``package.json`` that a script's text calls."""
    for call in _CALLS.findall(text):
        called = package_script(tuple(call.split()))
        if called is not None and not called.folder:
            yield called.name


def script_lines(name: str, scripts: Mapping[str, object]) -> list[str]:
    """The command of a script of ``package.json``, and those of the scripts that it calls."""
    waiting = [name]
    texts: dict[str, str] = {}
    while waiting and len(texts) < MOST_READ:
        called = waiting.pop()
        text = scripts.get(called)
        if called not in texts and isinstance(text, str):
            texts[called] = text[:LONGEST_SCRIPT]
            waiting += _called_scripts(texts[called])
    return list(texts.values())


def echoed_runner(
    commands: Sequence[Sequence[str]],
    lines: Sequence[str],
    read: Callable[[str], CommandReading],
    builder_commands: Sequence[str] = (),
) -> str:
    """A runner that was surely started, by the name of its form; empty without one.

    ``commands`` are the words of the command that printed ``lines``, ``read`` classes a command.
    ``builder_commands`` are from builders' files; a printed line may be prose, so it counts only
    where the runner is all that it starts.
    """
    for text in list(filter(_STARTS.search, builder_commands))[:MOST_READ]:
        runners = read(text).certain_runners
        if runners:
            return runners[0]
    programs = {base_name(word) for words in commands for word in words}
    if any("/" in words[0] for words in commands):
        programs.add("sh")  # a script of the project's own
    left = MOST_READ
    for line in lines[:MOST_LINES]:
        for text in _commands_in(line, programs):
            if left and _STARTS.search(text):
                left -= 1
                reading = read(text)
                if reading.only_runner and reading.certain_runners:
                    return reading.certain_runners[0]
                programs.update(base_name(word) for words in reading.commands for word in words)
    return ""


def _commands_in(line: str, programs: set[str]) -> Iterator[str]:
    """Possible commands in a line that one of ``programs`` printed."""
    for echo in ECHOES:
        if echo.programs & programs:
            sign = re.match(echo.sign, line)
            if sign is not None:
                yield line[sign.end() :].rstrip("\\").strip()
