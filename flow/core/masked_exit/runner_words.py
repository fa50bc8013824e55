"""The words after a program: operands, options, and names of tests."""

from __future__ import annotations

import itertools
import re

from flow.core.masked_exit.runner_tables import (
    CODE_OPTIONS,
    MAKES_READY,
    PREPARES,
    TEST_WORDS,
    VALUED,
)
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
PYTHON = re.compile(r"(?:python|pypy|ipython|jython|graalpy)[\d.]*(?:\.exe)?|py")
_VERSION = re.compile(r"[\d.]+$")


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


_OPTIMIZED = re.compile(r"\bPYTHONOPTIMIZE=(?!['\"]?0?['\"]?(?:[\s;&|)]|$))")


def python_of(words: Words) -> Words:
    """The words from Python on, which a launcher may start; empty if there is none."""
    names = (n for n, word in enumerate(words) if PYTHON.fullmatch(base_name(word or "")))
    return words[next(names, len(words)) :]


def drops_asserts(words: Words) -> bool:
    """Whether Python takes every assert out of what it runs (``python -O``)."""
    return _has_flag(python_of(words)[1:], "O")


_SWALLOW = ("cProfile", "profile", "trace", "pdb")
"""Modules of Python that end with 0 where what they run calls ``sys.exit`` (recorded, 3.11)."""


def drops_exit(words: Words) -> bool:
    """Whether Python drops its program's exit status (``-i check.py``, ``-m pdb check.py``)."""
    if not words or not PYTHON.fullmatch(base_name(words[0] or "")):
        return False
    _, kind, module = python_option(words[1:])
    return (kind == "m" and module in _SWALLOW) or _has_flag(words[1:], "i")


def _has_flag(rest: Words, flag: str) -> bool:
    """Whether Python's own options have this letter."""
    own = rest[: python_option(rest)[0]]
    return any(re.match(rf"-[^-mcWX]*{flag}", word or "") for word in own)


def sets_optimize(text: str) -> bool:
    """Whether a command sets the variable by which Python does so."""
    return _OPTIMIZED.search(text) is not None


def is_interpreter(name: str) -> bool:
    """Whether a program of this name runs code that stands behind an option."""
    return PYTHON.fullmatch(name) is not None or bool(CODE_OPTIONS.get(_VERSION.sub("", name)))


def code_of(words: Words) -> str | None:
    """The code in ``python -c CODE``, ``node -p CODE`` or ``awk CODE``.

    None if there is none, or the shell computes it; a word after an option may be its value.
    """
    name = base_name(words[0] or "") if words else ""
    if PYTHON.fullmatch(name):
        _, kind, value = python_option(words[1:])
        return value if kind == "c" else None
    options = CODE_OPTIONS.get(_VERSION.sub("", name))
    if options is None:
        return None
    rest, is_value = list(words[1:]), False
    while options and rest:
        word = rest.pop(0) or ""
        code = re.fullmatch(options, word, re.DOTALL)
        if code is not None and code[1]:
            return code[1]
        if code is not None:
            break
        if word[:1] != "-" and not is_value:
            return None
        is_value = word[:1] == "-"
    return next((word for word in rest if word is None or word[:1] != "-"), None)
