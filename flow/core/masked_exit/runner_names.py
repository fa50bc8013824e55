"""Test runners by the words that start them.

An unknown program may run a command in its words (``ionice``, a script of the project): if they
contain a name that only a runner has (``CERTAIN``), that runner counts as started. A separate table
lists the programs for which such a name is a text or a package.
"""

from __future__ import annotations

import re

from flow.core.masked_exit.runner_tables import (
    ALONE,
    BUILDERS,
    CARRIERS,
    CERTAIN,
    INSTALLS,
    INTERPRETERS,
    KEYWORDS,
    LAUNCHERS,
    MODULES,
    NAMES_ONLY,
    NAMING,
    RUN_WORDS,
    SAME,
    SCRIPTS,
    VALUED,
    WITH,
)
from flow.core.masked_exit.runner_words import (
    PYTHON,
    code_of,
    operands,
    python_option,
    tests_by_name,
)
from flow.core.masked_exit.shell import base_name, plain_words
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    Words = tuple[str | None, ...]


class Runner(NamedTuple):
    """A test runner that a command starts."""

    name: str = ""
    """Empty if there is no runner."""
    form: str = ""
    """The report form that it must print; empty if none is required."""
    words: Words = ()
    """The command's words, from the runner's own on."""
    is_wrapped: bool = False
    """Whether an unknown program runs it, possibly more than once."""


_NONE = Runner()
_MANAGE = "manage.py test"
_NODE = "node --test"
_OF_FILE = re.compile(r"\.(?:js|mjs|cjs|phar|exe|cmd|bat|pyz)$")
_VERSION = re.compile(r"(?:==.*|@.*|-?\d[\d.]*)$")
_SHELL = re.compile(r"(?:ba|da|z|k|a|fi)?sh")
_FILE = re.compile(r"[\w./+~-]+")
_CHOOSES = ("runner", "framework", "name", "tag", "image", "package", "tool", "require")
"""Words in a long option whose value names a runner without starting it."""
STARTS_CODE = re.compile(
    r"system|popen|spawn|subprocess|exec|\brun\b|call|`|pytest\.(?:console_)?main|open3",
    re.IGNORECASE,
)
"""Words of code that starts another program."""
_UNITTEST = re.compile(r"unittest\.main|TextTestRunner")


def runner_of(words: Words) -> str:
    """The test runner that a command starts (``pytest``, ``go test``); empty: none."""
    return started(words).name


def report_of(words: Words) -> str:
    """The report form that a command must print; empty: no runner, or one that starts others."""
    return started(words).form


def mentioned_runner(text: str) -> Words | None:
    """The first runner in a text, as if its words were a command; None if there is none."""
    words = re.split(r"[^\w./=:-]+", text)
    for index in range(len(words)):
        for end in range(index + 1, index + 6):
            if words[index] and _by_itself(tuple(words[index:end])).name:
                return tuple(words[index:end])
    return None


def started(words: Words) -> Runner:
    """The test runner that a command starts, by the command's words."""
    words = plain_words(words)
    if words and words[0] is not None and " " in words[0]:  # env -S "pytest -q"
        words = (*words[0].split(), *words[1:])
    while words and words[0] in KEYWORDS:
        words = plain_words(words[1:])
    own = _by_itself(words)
    if own.name or not words:
        return own
    if words[0] is None:
        return _scanned(words[1:], _if_certain)._replace(is_wrapped=True)
    name = base_name(words[0].lstrip("\\"))
    if name in LAUNCHERS:
        launched = _launched(name, words[1:])
        if launched.name or name not in CARRIERS:
            return launched
    if name in CARRIERS:
        return _carried(CARRIERS[name], words[1:])
    if name in NAMES_ONLY or name in ALONE or name in INTERPRETERS or SAME.get(name, name) in WITH:
        return _NONE
    if PYTHON.fullmatch(name):
        return _scanned(_behind_module(words), _if_certain)._replace(is_wrapped=True)
    if _SHELL.fullmatch(name) and any(w and re.match(r"-\w*c$", w) for w in words):
        return _NONE
    inner = _scanned(words[1:], _if_certain)
    if not inner.name and next(operands(words[1:]), ("", ""))[0] in ("test", "tests"):
        return Runner(f"{name} test", "", words)
    return inner._replace(is_wrapped=True)


def _by_itself(words: Words) -> Runner:
    """The runner that a program's name and its own words identify."""
    program, rest = words[0] if words else None, words[1:]
    if program is None:
        return _NONE
    name = base_name(program.lstrip("\\"))
    if program.startswith("@"):  # a package of npm: @playwright/test
        name = program[1:].partition("/")[0]
    for shown in (name, _OF_FILE.sub("", name), _VERSION.sub("", name)):
        if shown in ALONE:
            return Runner(shown, ALONE[shown], words)
    if PYTHON.fullmatch(name):
        return _of_python(rest)
    if name == "manage.py":
        return Runner(_MANAGE, "unittest", words) if rest[:1] == ("test",) else _NONE
    if name in INTERPRETERS:
        return _of_interpreter(name, rest)
    if "/" in program or _SHELL.fullmatch(name):
        script, option = (program, "") if "/" in program else next(operands(rest), ("", ""))
        stem = base_name(script).rpartition(".")[0] or base_name(script)
        if _FILE.fullmatch(script) and not option.endswith("c") and tests_by_name(stem):
            return Runner(base_name(script), "", words)
    return _by_word(name, words)


def _by_word(name: str, words: Words) -> Runner:
    """The runner in ``go test``, ``npm run test:unit``, ``make check-all``."""
    same = SAME.get(name, name)
    known, named = WITH.get(same), same in BUILDERS
    if known is None and name not in SCRIPTS:
        return _NONE
    begun = named
    skipped = False
    for word, option in operands(words[1:]):
        is_script = begun and not named
        if known is not None and word in known and not is_script:
            return Runner(f"{name} {word}", known[word], words)
        if skipped or (name in SCRIPTS and word in RUN_WORDS):
            begun, skipped = begun or not skipped, False
        elif (begun or (name in SCRIPTS and ":" in word)) and tests_by_name(word):
            return Runner(f"{name} run {word}" if not named else f"{name} {word}", "", words)
        elif word == "workspace":
            skipped = True
        elif not named and not option and word not in ("do", "compile,", "workspaces", "foreach"):
            break
    return _NONE


def starts_runners(name: str) -> bool:
    """Whether a program of this name is a runner, or runs tests with the right words."""
    tables = (ALONE, WITH, SAME, LAUNCHERS, INTERPRETERS)
    return any(name in table for table in tables) or PYTHON.fullmatch(name) is not None


def _launched(name: str, rest: Words) -> Runner:
    """The runner in ``uv run --with x pytest``; the word after an option may be its value."""
    before = LAUNCHERS[name]
    if name == "uv" and "tool" in rest:  # uv tool run pytest
        rest = rest[rest.index("tool") + 1 :]
    first = next((word for word, option in operands(rest) if not option), "")
    start = rest.index(first) + 1 if first in before else 0
    if before and not start:
        own = name in SCRIPTS and first in ALONE
        return Runner(first, ALONE[first], rest[rest.index(first) :]) if own else _NONE
    option = ""
    for index in range(start, len(rest)):
        word = rest[index]
        if word is None:
            continue
        if word in ("-m", "--module") and name == "uv":
            return _of_python(("-m", *rest[index + 1 :]))
        if word.startswith("-"):
            option = word if word != "--" and "=" not in word else ""
            continue
        if option not in VALUED:
            inner = started((word.rpartition(":")[2], *rest[index + 1 :]))
            if inner.name:
                return inner
            if not option:
                script = "run" in before and tests_by_name(word)
                return Runner(f"{name} run {word}", "", rest[index:]) if script else _NONE
        option = ""
    return _NONE


MOST_HANDED_ON = 40
"""Words of a command that are looked at as the begin of another one."""


def handed_on(words: Words) -> Iterator[Words]:
    """The commands that a launcher, ``docker run`` or ``python -m`` may start, from its words."""
    name, rest = base_name(words[0] or "") if words else "", words[1:]
    if PYTHON.fullmatch(name):
        index, kind, module = python_option(rest)
        if kind == "m":
            yield (module, *rest[index:])
    before = LAUNCHERS.get(name, CARRIERS.get(name))
    if before is None or name == "find":
        return
    start = next((n + 1 for n, word in enumerate(rest) if word in before), None) if before else 0
    for index in range(len(rest) if start is None else start, min(len(rest), MOST_HANDED_ON)):
        word = rest[index]
        if word is not None and word[:1] != "-":
            yield (word.partition("@")[0], *rest[index + 1 :])
            if name in LAUNCHERS and (rest[index - 1] or "-")[:1] != "-":
                return  # what follows are its arguments


def _carried(before: tuple[str, ...], rest: Words) -> Runner:
    """The runner anywhere after the first word of ``before``."""
    start = next((n + 1 for n, word in enumerate(rest) if word in before), None) if before else 0
    return _NONE if start is None else _scanned(rest[start:], _by_itself, NAMING if before else ())


def _if_certain(words: Words) -> Runner:
    name = base_name(words[0] or "") if words else ""
    if name in CERTAIN or PYTHON.fullmatch(name):
        return _by_itself(words)
    known = WITH.get(SAME.get(name, name), {})
    form = known.get(words[1] or "") if len(words) > 1 else None
    return _NONE if form is None else Runner(f"{name} {words[1]}", form, words)


def _scanned(
    rest: Words, recognise: Callable[[Words], Runner], naming: Collection[str] = ()
) -> Runner:
    """The first runner in ``rest``, of which each word may begin a command.

    Each word is tested on its own: a program that runs others adds no words to these.
    """
    for index, word in enumerate(rest):
        previous = (rest[index - 1] or "") if index else ""
        chooses = previous.startswith("--") and any(each in previous for each in _CHOOSES)
        if word is None or previous in naming or chooses:
            continue
        if word in INSTALLS:
            return _NONE
        if re.fullmatch(r"-m\w*", word):
            inner = _of_python(rest[index:])
        else:
            inner = recognise(plain_words(rest[index:]))
        if inner.name:
            return inner
    return _NONE


# --- interpreters ---


def _of_python(rest: Words) -> Runner:
    """Runner in ``-m pytest``, ``-Im pytest``, ``-mpytest``, ``-c CODE``, ``manage.py test``."""
    index, option, value = python_option(rest)
    if option == "m":
        return _of_module(value, rest[index:])
    if option == "c":
        return _of_code(value)
    is_script = value is not None and base_name(value) in (*ALONE, "manage.py", "setup.py")
    return _by_itself((value, *rest[index:])) if is_script else _NONE


def _behind_module(words: Words) -> Words:
    """The words after a module that may run another one (``python -m cProfile -m pytest``)."""
    index, option, module = python_option(words[1:])
    only_names = module in NAMES_ONLY or module in ("venv", "build", "compileall", "ensurepip")
    return () if option != "m" or only_names else words[1 + index :]


def _of_module(module: str | None, rest: Words) -> Runner:
    module = module or ""
    first = module.partition(".")[0]
    if module == "coverage":
        return _carried(("run",), rest)
    if first == "django" and rest[:1] == ("test",):
        return Runner(_MANAGE, "unittest", rest)
    name = next((each for each in (module, first) if each in MODULES), "")
    return Runner(name, MODULES[name], (name, *rest)) if name else _NONE


def _of_code(code: str | None) -> Runner:
    """The runner that a piece of code starts."""
    if code is None or not (STARTS_CODE.search(code) or _UNITTEST.search(code)):
        return _NONE
    if _UNITTEST.search(code):
        return Runner("unittest", "unittest", ("unittest",))
    mentioned = mentioned_runner(code)
    return _by_itself(mentioned) if mentioned else _NONE


def _of_interpreter(name: str, rest: Words) -> Runner:
    """The runner in ``node --test``, ``node node_modules/.bin/jest``, ``php artisan test``."""
    own = (name, *rest)
    if name in ("node", "nodejs", "tsx") and "--test" in rest:
        return Runner(_NODE, _NODE, own)
    option = ""
    for index, word in enumerate(rest):
        if option == "--run" and tests_by_name(word or ""):
            return Runner(f"{name} --run {word}", "", own)
        if word is None or word.startswith("-"):
            option = word or ""
            continue
        script = _by_itself((word, *rest[index + 1 :]))
        if script.name:
            return script
        if not option:
            break
        option = ""
    return _of_code(code_of(own))
