"""Runs that exited 0 and did no work: their files show that no test ran, or a program failed."""

from __future__ import annotations

import glob
import json
import os
import re
import shlex

from flow.adapters.attribution.programs import missing
from flow.adapters.attribution.report_files import LIMIT
from flow.adapters.fs import files
from flow.core.attribution.absent import passed_by_failing
from flow.core.attribution.attribute import NO_ASSERTS, lines_of, summaries, unreported
from flow.core.attribution.echoed import (
    is_shell_text,
    runner_in_script,
    script_lines,
    shell_script,
)
from flow.core.attribution.first_files import script_of, why_first_only
from flow.core.attribution.idle_builds import is_task_name, only_makes, silent_makes
from flow.core.attribution.idle_checkers import (
    checkers,
    fed_nothing,
    is_checked,
    nothing_left,
)
from flow.core.attribution.makefiles import (
    first_target,
    may_be_phony,
    prerequisites,
    recipe_lines,
)
from flow.core.attribution.node_files import (
    FOUND_NAMES,
    files_as_tests,
    holds_no_test,
    registers_tests,
    tested_files,
    untold_test,
)
from flow.core.attribution.reading import WINDOW, Attribution
from flow.core.masked_exit.programs import ASIDE, CANNOT_FAIL
from flow.core.masked_exit.runner_words import (
    PYTHON,
    doctest_files,
    package_script,
    python_option,
    script_if_present,
)
from flow.core.masked_exit.shell import base_name, in_folders, system_name
from flow.core.text.display import joined, visible
from flow.errors import FlowError
from flow.startup.json import object_of
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flow.app.checks import Check
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
_ASK_FOR_PROGRAMS = ("command", "which", "type", "hash")
_SETS_PATH = ("source", ".", "eval")
"""Builtins that may change where programs are found."""


def failed_run(
    top: str, check: Check, reading: CommandReading, output: bytes, path: str | None
) -> Attribution | None:
    """The masked exit of a run that exited 0 because a program could not do its work.

    ``path`` is the ``PATH`` of the commands; None if it is not known.
    """
    programs = (*reading.unheard, *reading.must_fail)
    unknown = path is None or "PATH" in check.command
    unknown = unknown or any(words[0] in _SETS_PATH for words in reading.commands)
    if not programs:
        return None if unknown else _skipped(top, reading.commands, path)
    plain = [name for name in programs if "/" not in name and not unknown]
    return passed_by_failing(reading, lines_of(output), missing(plain, top, path))


def _skipped(top: str, commands: Sequence[Sequence[str]], path: str | None) -> Attribution | None:
    """Finding that a command asks whether its programs are there, and none of them is.

    ``command -v shellcheck || exit 0; shellcheck a.sh`` passes then.
    """
    asks = [words for words in commands if words[0] in _ASK_FOR_PROGRAMS]
    asked = {word for words in asks for word in words[1:] if not word.startswith("-")}
    beside = {*ASIDE, *_ASK_FOR_PROGRAMS, "exit", "return"}
    acts = dict.fromkeys(words[0] for words in commands if words[0] not in beside)
    if not acts or not asked.issuperset(acts) or any(not missing([n], top, path) for n in acts):
        return None
    why = f"it ran nothing: {visible(joined(list(acts), len(acts)))} is not installed"
    return Attribution("vacuous", why, "", 0, None, "command")


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
    unfed = fed_nothing(reading.commands) if silent else None
    if unfed is not None:
        return unfed
    if silent or only_makes(reading.commands):
        idle = _idle_make(top, check, reading.commands, silent=silent)
        if idle is not None:
            return idle
    lines = lines_of(output)
    idle = None
    if b" pass " in output:
        idle = _empty_node_files(top, check, lines)
        if idle is None and len(output) < WINDOW:  # else a test may be named in what is not seen
            idle = _ended_node_file(top, check, reading, lines)
    return idle or _script_without_report(top, check, reading, lines)


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
    missing = ""
    for folder, words in in_folders(commands, check.cwd):
        if system_name(words[0]) in CANNOT_FAIL or words[0] == "cd":
            continue
        called, tested = script_if_present(tuple(words)), doctest_files(tuple(words))
        if called is not None:
            scripts = package_scripts(top, os.path.join(folder, called.folder))
            is_written = called.name in scripts
            missing = missing or f"package.json has no script {visible(called.name)}"
        elif tested:
            texts = (_source(top, folder, name, unread=">>>") for name in tested)
            is_written = any(">>>" in text for text in texts)
            missing = missing or f"{visible(joined(tested, len(tested)))} has no doctest"
        else:
            return None
        if is_written:
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
        for goal in make.goals or filter(is_task_name, (first_target(makefile),)):
            path = os.path.join(top, folder, goal)
            if not makefile or not os.path.lexists(path) or may_be_phony(goal, makefile):
                continue
            if silent or _is_up_to_date(path, os.path.join(top, folder), goal, makefile):
                printed = "printed nothing" if silent else "ran nothing"
                why = f"make {printed}, and {visible(goal)} is also the name of a file or"
                why += " folder there, for which make runs nothing: declare it .PHONY"
                return Attribution("vacuous", why, "make", 0, None, "output")
    return None


def builder_commands(top: str, check: Check, commands: Sequence[Sequence[str]]) -> list[str]:
    """The commands in makefiles, ``package.json`` and scripts that ``commands`` ask for."""
    lines: list[str] = []
    for make, _, makefile in _makes(top, check.cwd, commands):
        if not make.is_task:
            continue
        for goal in make.goals or filter(None, (first_target(makefile),)):
            lines += recipe_lines(goal, makefile)
    for folder, words in in_folders(commands, check.cwd):
        script = shell_script(words)
        text = _source(top, folder, script, unread="") if script else ""
        lines += [text] if text and len(text) < LONGEST_SCRIPT and is_shell_text(text) else []
        called = package_script(tuple(words))
        if called is not None:
            place = os.path.join(folder, called.folder)
            lines += script_lines(called.name, package_scripts(top, place))
    return lines


def masked_script(
    top: str, check: Check, commands: Sequence[Sequence[str]], read: Callable[[str], CommandReading]
) -> Attribution | None:
    """The masked exit of a script of ``package.json``, which is one command of a shell."""
    for folder, words in in_folders(commands, check.cwd):
        called = package_script(tuple(words))
        if called is None:
            continue
        text = package_scripts(top, os.path.join(folder, called.folder)).get(called.name)
        why = read(f"sh -c {shlex.quote(text)}").masked_exit if isinstance(text, str) else ""
        if why:
            why = f"the script {visible(called.name)} of package.json: {why}"
            return Attribution("masked", why, "", None, None, "command")
    return None


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
    needed = prerequisites(goal, makefile)
    if needed is None:
        return False
    try:
        made_at = os.stat(path).st_mtime_ns
        return all(os.stat(os.path.join(folder, n)).st_mtime_ns <= made_at for n in needed)
    except (OSError, ValueError):
        return False


def _empty_node_files(top: str, check: Check, lines: Sequence[str]) -> Attribution | None:
    """Finding that the files which node counted as tests hold none; None if one may hold some.

    A file that cannot be read counts as one that may. Beside others that passed, one that registers
    a test has not come to it: code under test has ended it with 0.
    """
    names, alone = files_as_tests(lines)
    sources = {name: _source(top, check.cwd, name, unread="?") for name in names}
    untold = [name for name in names if registers_tests(sources[name])]
    if alone and all(map(holds_no_test, sources.values())):
        untold = list(names)
    if not untold:
        return None
    first = visible(os.path.relpath(os.path.join(top, check.cwd, untold[0]), top))
    shown = joined([first], len(untold))
    why = f"node counted a file as a test that tells of none: {shown}"
    return Attribution("vacuous", why, "node --test", 0, None, "output")


def _ended_node_file(
    top: str, check: Check, reading: CommandReading, lines: Sequence[str]
) -> Attribution | None:
    """Finding that a file of ``node --test`` ended before one of its tests, which node never says.

    ``process.exit(0)`` in code under test does that. ``lines`` must be all the output.
    """
    if len(reading.commands) != 1:
        return None
    words, folder = reading.commands[0], check.cwd
    called = package_script(tuple(words))
    if called is not None:
        folder = os.path.join(folder, called.folder)
        text = package_scripts(top, folder).get(called.name)
        words = tuple(text.split()) if isinstance(text, str) and text.strip() else words
    if any(re.search(r"[$`;&|<>\"'\\]", word) for word in words):
        return None
    given = tested_files(words)
    if given is None:
        return None
    for name in _node_files(os.path.join(top, folder), given or (".",)):
        untold = untold_test(_source(top, folder, name, unread=""), lines)
        if untold:
            shown = visible(os.path.relpath(os.path.join(top, folder, name), top))
            why = f"{shown} was ended before its test `{untold}`"
            return Attribution("vacuous", why, "node --test", None, None, "output")
    return None


def _node_files(folder: str, given: Sequence[str]) -> Iterator[str]:
    """The files that ``node --test`` runs for its operands, those that are sure."""
    left = MOST_SEARCHED
    for path in given:
        start = os.path.join(folder, path)
        if os.path.isfile(start):
            yield path
            continue
        for place, folders, names in os.walk(start):
            folders[:] = [n for n in folders if n[0] != "." and n not in _NOT_SEARCHED]
            left -= len(names) + len(folders)
            if left < 0:
                return
            tests = filter(FOUND_NAMES.fullmatch, names)
            yield from (os.path.relpath(os.path.join(place, name), folder) for name in tests)


def _script_without_report(
    top: str, check: Check, reading: CommandReading, lines: Sequence[str]
) -> Attribution | None:
    """Finding that a script which starts a runner itself (``unittest.main()``) shows no report.

    Or that its asserts are taken out (``python -O check.py``).

    Code under test can end it with 0. None if there is any report, or one may be in another file.
    """
    if reading.files or summaries(lines):
        return None
    for folder, words in in_folders(reading.commands, check.cwd):
        program, script = script_of(words)
        name = base_name(words[0])
        _, kind, module = python_option(tuple(words[1:])) if PYTHON.fullmatch(name) else (0, "", "")
        if kind == "m" and module:
            program, script = name, f"{module.replace('.', '/')}.py"
        text = _source(top, folder, script, unread="") if script else ""
        runner = runner_in_script(program, text) if text else ""
        if runner:
            return unreported(runner)
        if reading.without_asserts and re.search(r"^\s*assert\b", text, re.MULTILINE):
            return Attribution("masked", f"{NO_ASSERTS} ({visible(script)})")
    return None


def _source(top: str, folder: str, name: str, *, unread: str) -> str:
    """The text of a file of the checkout; ``unread`` if there is none that can be read."""
    rel = os.path.relpath(os.path.join(top, folder, name), top)
    try:
        data = None if rel.startswith("..") else files.read_optional(top, rel, limit=LIMIT)
    except FlowError:
        data = None
    return unread if data is None else data.decode("utf-8", "replace")
