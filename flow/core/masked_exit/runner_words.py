"""The words after a program: operands, options, and names of tests."""

from __future__ import annotations

import itertools
import re

from flow.core.masked_exit.runner_tables import MAKES_READY, PREPARES, TEST_WORDS, VALUED
from flow.core.masked_exit.shell import base_name
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Words = tuple[str | None, ...]

_FLAGS = frozenset(
    (
        "-q", "-s", "-v", "-r", "-A", "-a", "--silent", "--quiet", "--verbose", "--locked",
        "--frozen", "--offline", "--recursive", "--all", "-T",
    )
)  # fmt: skip
"""Options of programs in ``WITH`` that have no value."""


def tests_by_name(target: str) -> bool:
    """Whether a target or script runs tests, by its name."""
    if "=" in target:
        return False
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z\d]+|[A-Z]+", target)]
    if words[:1] == ["check"] and (len(words) == 1 or words[-1] == "all"):
        return True
    if words[:1] and words[0] in MAKES_READY:
        return False
    return not TEST_WORDS.isdisjoint(words) and PREPARES.isdisjoint(words)


def operands(rest: Words) -> Iterator[tuple[str, str]]:
    """The operands of a program, each with the option before it, as whose value it may count."""
    option = ""
    for word in rest:
        if word is not None and len(word) > 1 and word[0] in "-+" and option not in VALUED:
            option = word if "=" not in word and word not in _FLAGS and word[0] == "-" else ""
            continue
        if word is not None and (option not in VALUED or option == "-w"):
            yield word, option
        option = ""


_SHORT_SCRIPTS = {"t": "test", "tst": "test"}
"""Short names of scripts, each with what npm runs for it."""
_NPM_RUNS = ("test", "start", "stop", "restart", *_SHORT_SCRIPTS)
"""Scripts that npm runs without the word ``run``."""
_SCRIPT_PROGRAMS = ("npm", "pnpm", "yarn", "bun")
_FOLDER_OPTIONS = ("--prefix", "-C", "--cwd", "--dir")


class PackageScript(NamedTuple):
    """A script of a ``package.json``."""

    folder: str
    """The folder that an option names, relative to where the command runs; empty without one."""
    name: str


def package_script(words: Words) -> PackageScript | None:
    """The script that ``npm test`` or ``pnpm -C web run unit`` runs; None if it runs none."""
    program = base_name(words[0] or "") if words else ""
    if program not in _SCRIPT_PROGRAMS:
        return None
    workspace = "-w" if program == "npm" else None  # pnpm's has no value
    called = [word for word, option in operands(words[1:]) if option != workspace]
    runs = called[:1] in (["run"], ["run-script"])
    name = next(iter(called[runs:]), "")
    if not name or (program == "npm" and not runs and name not in _NPM_RUNS):
        return None
    return PackageScript(_named_folder(words), _SHORT_SCRIPTS.get(name, name))


_ELSEWHERE = re.compile(r"-w|-ws|--workspaces?(?:=.*)?|-r|--recursive|-F|--filter(?:=.*)?")
"""Options with which a package manager runs the scripts of other packages."""


def script_if_present(words: Words) -> PackageScript | None:
    """The script that ``npm run lint --if-present`` runs, if the package has one; else None."""
    own = [word or "" for word in itertools.takewhile(lambda word: word != "--", words)]
    called = package_script(words) if "--if-present" in own else None
    if called is None or called.name in _NPM_RUNS or any(map(_ELSEWHERE.fullmatch, own)):
        return None
    return called


def doctest_files(words: Words) -> tuple[str, ...]:
    """The files of ``python -m doctest FILE``, which prints nothing if all is well; else none."""
    rest = words[1:]
    index, kind, module = python_option(rest)
    if (kind, module) != ("m", "doctest") or not base_name(words[0] or "").startswith("python"):
        return ()
    return tuple(word for word in rest[index:] if word is not None and not word.startswith("-"))


def _named_folder(words: Words) -> str:
    """The folder that an option names to a package manager; empty without one."""
    own = [word or "" for word in itertools.takewhile(lambda word: word != "--", words)]
    named = (option_values(own, "", option) for option in _FOLDER_OPTIONS)
    return next(itertools.chain.from_iterable(named), "")


def option_values(words: Sequence[str], short: str, long: str) -> tuple[str, ...]:
    """The values of one option, in each of its spellings; ``short`` may be empty."""
    values = []
    for word, after in itertools.pairwise((*words, "")):
        if word and word in (short, long):
            values.append(after)
        elif word.startswith(f"{long}="):
            values.append(word.partition("=")[2])
        elif short and word.startswith(short) and not word.startswith("--"):
            values.append(word[len(short) :])
    return tuple(dict.fromkeys(value for value in values if value))


def python_option(rest: Words) -> tuple[int, str, str | None]:
    """(Index of the operands, ``m`` or ``c`` or empty, the module or code or script)."""
    index = 0
    while index < len(rest):
        word = rest[index]
        index += 1
        if word is None or word.startswith("--"):
            index += word == "--check-hash-based-pycs"
            continue
        if not word.startswith("-") or word == "-":
            return index, "", word
        place = next((n for n, letter in enumerate(word) if letter in "mcWX"), None)
        if place is None:
            continue
        value = word[place + 1 :] or (rest[index] if index < len(rest) else None)
        index += not word[place + 1 :]
        if word[place] in "mc":
            return index, word[place], value
    return index, "", None
