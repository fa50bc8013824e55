"""Runs that exited 0 and did no work: their files show that no test ran, or a program failed."""

from __future__ import annotations

import glob
import json
import os

from flow.adapters.attribution.programs import missing
from flow.adapters.attribution.report_files import LIMIT
from flow.adapters.fs import files
from flow.core.attribution.absent import passed_by_failing
from flow.core.attribution.attribute import lines_of
from flow.core.attribution.echoed import is_shell_text, script_lines, shell_script
from flow.core.attribution.first_files import why_first_only
from flow.core.attribution.idle_builds import is_no_product, only_makes, silent_makes
from flow.core.attribution.idle_checkers import checkers, is_checked, nothing_left
from flow.core.attribution.makefiles import (
    first_target,
    may_be_phony,
    prerequisites,
    recipe_lines,
)
from flow.core.attribution.node_files import files_as_tests, holds_no_test, registers_tests
from flow.core.attribution.reading import Attribution
from flow.core.masked_exit.programs import CANNOT_FAIL
from flow.core.masked_exit.runner_words import doctest_files, package_script, script_if_present
from flow.core.text.display import joined, visible
from flow.errors import FlowError
from flow.startup.json import object_of
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flow.app.ports import Check
    from flow.core.attribution.idle_builds import SilentMake
    from flow.core.attribution.idle_checkers import SearchedFolders
    from flow.core.attribution.reading import CommandReading

LONGEST_SCRIPT = 1 << 14
"""Characters of a shell script that is read."""
MOST_SEARCHED = 20_000
"""Most files and folders that are searched for one that a checker checks."""
_NOT_SEARCHED = (
    *("node_modules", "__pycache__", "venv", "site-packages", ".git", ".hg", ".svn", ".flow"),
    *(".venv", ".tox", ".nox", ".eggs", ".direnv", ".cache", ".ipynb_checkpoints"),
)
"""Folders that checkers leave out; they do search others that are hidden (``.github``)."""
_SETS_PATH = ("source", ".", "eval")
"""Builtins that may change where programs are found."""


def failed_run(
    top: str, check: Check, reading: CommandReading, output: bytes, path: str | None
) -> Attribution | None:
    """The masked exit of a run that exited 0 because a program could not do its work.

    ``path`` is the ``PATH`` of the commands; None if it is not known.
    """
    programs = (*reading.unheard, *reading.must_fail)
    if not programs:
        return None
    unknown = path is None or "PATH" in check.command
    unknown = unknown or any(words[0] in _SETS_PATH for words in reading.commands)
    plain = [name for name in programs if "/" not in name and not unknown]
    return passed_by_failing(reading, lines_of(output), missing(plain, top, path))


def read_first_only(
    top: str, check: Check, programs: Sequence[Sequence[str]]
) -> Attribution | None:
    """The masked exit of a program that got several files and read the first of them alone.

    ``programs`` are its name and patterns of the files, as the shell expands them.
    """
    for program, *patterns in programs:
        start = glob.escape(os.path.join(top, check.cwd))
        number = sum(len(glob.glob(os.path.join(start, pattern))) for pattern in patterns)
        if number > 1:
            return Attribution("masked", why_first_only(program, number), "", None, None, "command")
    return None


def idle_run(top: str, check: Check, reading: CommandReading, output: bytes) -> Attribution | None:
    """Why a run that exited 0 is vacuous; None if nothing shows that it is.

    ``reading`` is the check's command, ``output`` the end of its output.
    """
    if reading.only_checkers:
        return _nothing_to_check(top, check, reading.commands)
    silent = not output.strip()
    unwritten = _unwritten(top, check, reading.commands)
    if unwritten is not None:
        return unwritten
    if silent or only_makes(reading.commands):
        idle = _idle_make(top, check, reading.commands, silent=silent)
        if idle is not None:
            return idle
    return _empty_node_files(top, check, lines_of(output)) if b" pass " in output else None


def _nothing_to_check(
    top: str, check: Check, commands: Sequence[Sequence[str]]
) -> Attribution | None:
    """Finding that no file is left for any of the checkers, which most of them do not report.

    None if one of them has a file, or there is no checker.
    """
    searched = checkers(commands)
    if not searched or any(_finds_a_file(top, check.cwd, each) for each in searched):
        return None
    return nothing_left(searched)


def _finds_a_file(top: str, cwd: str, searched: SearchedFolders) -> bool:
    """Whether a file is there for a checker, or there are too many files to be sure of none."""
    left, paths = MOST_SEARCHED, searched.paths
    if any(_matches_a_file(os.path.join(top, cwd), pattern) for pattern in searched.patterns):
        return True
    if searched.otherwise and not any(os.path.lexists(os.path.join(top, cwd, p)) for p in paths):
        paths = (searched.otherwise,)
    for path in paths:
        start = os.path.join(top, cwd, path)
        if os.path.isfile(start):  # a file that is named is checked in any case
            return True
        for _, folders, names in os.walk(start):
            if any(is_checked(searched, name) for name in names):
                return True
            folders[:] = [name for name in folders if name not in _NOT_SEARCHED]
            left -= len(names) + len(folders)
            if left < 0:
                return True
    return False


def _matches_a_file(folder: str, pattern: str) -> bool:
    """Whether a pattern matches a file, or more paths than are looked at."""
    paths = glob.iglob(os.path.join(glob.escape(folder), pattern), recursive=True)
    counted = enumerate(paths, 1)
    return any(os.path.isfile(path) or number == MOST_SEARCHED for number, path in counted)


def _unwritten(top: str, check: Check, commands: Sequence[Sequence[str]]) -> Attribution | None:
    """Finding that a command only asked for scripts and doctests that are not written.

    ``npm run lint --if-present`` and ``python -m doctest FILE`` pass then without a word. None if
    it starts anything else, or the shell computes some of its words.
    """
    if "$" in check.command or "`" in check.command:
        return None
    folder, missing = check.cwd, ""
    for words in commands:
        if words[:1] == ("cd",) and len(words) == 2:
            folder = os.path.join(folder, words[1])
        if words[0] in CANNOT_FAIL or words[0] == "cd":
            continue
        called, tested = script_if_present(tuple(words)), doctest_files(tuple(words))
        if called is not None:
            scripts = package_scripts(top, os.path.join(folder, called.folder))
            found = called.name in scripts
            missing = missing or f"package.json has no script {visible(called.name)}"
        elif tested:
            texts = (_source(top, folder, name, unread=">>>") for name in tested)
            found = any(">>>" in text for text in texts)
            missing = missing or f"{visible(joined(tested, len(tested)))} has no doctest"
        else:
            return None
        if found:
            return None
    if not missing:
        return None
    return Attribution("vacuous", f"it ran nothing: {missing}", "", 0, None, "command")


def _idle_make(
    top: str, check: Check, commands: Sequence[Sequence[str]], *, silent: bool
) -> Attribution | None:
    """Finding that a make ran nothing without a word, since a file has its target's name.

    An empty folder of that name suffices, and is no change of the checkout. None if make ran
    something, or may have. If nothing was printed (``silent``), the file alone is the sign; beside
    other output the target must have no rule, or no prerequisite that is newer than the file.
    """
    for make, folder, makefile in _makes(top, check.cwd, commands):
        if make.always or not make.is_task:
            continue
        for goal in make.goals or filter(is_no_product, (first_target(makefile),)):
            path = os.path.join(top, folder, goal)
            if not makefile or not os.path.lexists(path) or may_be_phony(goal, makefile):
                continue
            if silent or _is_up_to_date(path, os.path.join(top, folder), goal, makefile):
                printed = "printed nothing" if silent else "ran nothing"
                why = f"make {printed}, and {visible(goal)} is also the name of a file or"
                why += " folder there, for which make runs nothing: declare it .PHONY"
                return Attribution("vacuous", why, "make", 0, None, "output")
    return None


def started_lines(top: str, check: Check, commands: Sequence[Sequence[str]]) -> list[str]:
    """The commands in makefiles, ``package.json`` and scripts that ``commands`` ask for."""
    lines: list[str] = []
    for make, _, makefile in _makes(top, check.cwd, commands):
        if not make.is_task:
            continue
        for goal in make.goals or filter(None, (first_target(makefile),)):
            lines += recipe_lines(goal, makefile)
    folder = check.cwd
    for words in commands:
        if words[:1] == ("cd",) and len(words) == 2:
            folder = os.path.join(folder, words[1])
        script = shell_script(words)
        text = _source(top, folder, script, unread="") if script else ""
        lines += [text] if text and len(text) < LONGEST_SCRIPT and is_shell_text(text) else []
        called = package_script(tuple(words))
        if called is not None:
            place = os.path.join(folder, called.folder)
            lines += script_lines(called.name, package_scripts(top, place))
    return lines


def recipes(top: str, cwd: str, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each command of the recipes that ``words``, a make started in ``cwd``, run, and its folder.

    They are in their makefile's own words; a make inside them is called ``make``.
    """
    for make, folder, makefile in _makes(top, cwd, [words]):
        for goal in make.words or filter(None, (first_target(makefile),)):
            for line in recipe_lines(goal, makefile):
                yield folder, line.replace("$(MAKE)", "make").replace("${MAKE}", "make")


def _makes(
    top: str, cwd: str, commands: Sequence[Sequence[str]]
) -> Iterator[tuple[SilentMake, str, str]]:
    """Each make of the command, with its folder below ``top`` and the text of its makefile."""
    for make in silent_makes(commands):
        folder = os.path.join(cwd, make.folder)
        texts = (_source(top, folder, name, unread="") for name in make.makefiles)
        yield make, folder, next(filter(None, texts), "")


def package_scripts(top: str, folder: str) -> Mapping[str, object]:
    """The scripts of a folder's ``package.json``; empty where it has none that can be read."""
    package = _source(top, folder, "package.json", unread="")
    try:
        document = json.loads(package.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return {}
    return object_of(object_of(document).get("scripts"))


def _is_up_to_date(path: str, folder: str, goal: str, makefile: str) -> bool:
    """Whether make surely runs nothing for a file that is there."""
    before = prerequisites(goal, makefile)
    if before is None:
        return False
    try:
        moment = os.stat(path).st_mtime_ns
        return all(os.stat(os.path.join(folder, n)).st_mtime_ns <= moment for n in before)
    except (OSError, ValueError):
        return False


def _empty_node_files(top: str, check: Check, lines: Sequence[str]) -> Attribution | None:
    """Finding that the files which node counted as tests hold none; None if one may hold some.

    A file that cannot be read counts as one that may. Beside others that passed, one that registers
    a test has not come to it: code under test has ended it with 0.
    """
    names, alone = files_as_tests(lines)
    sources = {name: _source(top, check.cwd, name, unread="?") for name in names}
    told = [name for name in names if registers_tests(sources[name])]
    if alone and all(map(holds_no_test, sources.values())):
        told = list(names)
    if not told:
        return None
    first = visible(os.path.relpath(os.path.join(top, check.cwd, told[0]), top))
    shown = joined([first], len(told))
    why = f"node counted a file as a test that tells of none: {shown}"
    return Attribution("vacuous", why, "node --test", 0, None, "output")


def _source(top: str, folder: str, name: str, *, unread: str) -> str:
    """The text of a file of the checkout; ``unread`` if there is none that can be read."""
    rel = os.path.relpath(os.path.join(top, folder, name), top)
    try:
        data = None if rel.startswith("..") else files.read_optional(top, rel, limit=LIMIT)
    except FlowError:
        data = None
    return unread if data is None else data.decode("utf-8", "replace")
