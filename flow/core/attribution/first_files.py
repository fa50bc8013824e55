"""Interpreters that read the first file among their words and take the others for its arguments.

``bash -n a.sh b.sh``, ``node --check src/*.js`` and ``python3 tests/*.py`` end with the status of
one file; the others may even be broken (recorded, bash 5.2, dash 0.5, node 20, perl 5.36, Python
3.13).
"""

from __future__ import annotations

import posixpath
import re

from flow.core.masked_exit.shell import base_name, has_wildcard, in_folders
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Words = Sequence[str | None]


class Interpreter(NamedTuple):
    """The options of a program that runs a script; patterns of whole words."""

    other: str
    """With one of these it runs code, a module or several files, or only tells of itself."""
    checks: str = r"(?!)"
    """With one of these it only reads the script, so that no word after it is an argument."""
    valued: str = r"(?!)"
    """These take the next word."""


_SHELL = Interpreter(
    r"-[a-zA-Z]*[cs][a-zA-Z]*|--help|--version",
    r"-[a-bd-rt-zA-Z]*n[a-bd-rt-zA-Z]*",
    r"[-+][a-zA-Z]*[oO]|--rcfile|--init-file",
)
_NODE = Interpreter(
    r"-e|--eval.*|-pe?|--print.*|--test.*|--run.*|-i|-h|--help|-v|--version",
    r"-c|--check",
    r"-r|--require|--import|--loader|--experimental-loader|-C|--conditions",
)
_PYTHON = Interpreter(
    r"-[bBdEhiIOPqRsSuvVx?]*[cmhV].*|--help.*|--version",
    valued=r"-[WX]|--check-hash-based-pycs",
)
INTERPRETERS = {
    **dict.fromkeys(("bash", "sh", "dash", "zsh", "ksh"), _SHELL),
    **dict.fromkeys(("node", "nodejs"), _NODE),
    **dict.fromkeys(("tsx", "ts-node"), _NODE._replace(checks=r"(?!)")),
    **dict.fromkeys(("python", "python3", "pypy3"), _PYTHON),
    "perl": Interpreter(r"-[a-zA-Z]*[eEhnpv]", r"-[tTuUwWX]*c[tTuUwWX]*", "-I"),
    "ruby": Interpreter(r"-[a-z]*[echnpvS]|--.*", valued=r"-[CIr]"),
    "php": Interpreter(r"-[a-zA-Z]|--.*"),
    "lua": Interpreter(r"-[ehiv]", valued="-l"),
    "Rscript": Interpreter(r"-e|--help|--version"),
}  # fmt: skip
_VERSIONED = re.compile(r"[\d.]+$")
_ONE_EACH = re.compile(r"-[0rtpxo]*(?:[nL]1|l1?|[Ii].*)|--(?:replace|max-(?:args|lines)=1\b).*")
_ONE_EACH_VALUED = re.compile(r"-[0rtpxo]*[nL]|--max-(?:args|lines)")
_XARGS_VALUED = re.compile(r"-[0rtpxo]*[adEnLPs]|--(?:arg-file|delimiter|max-(?:args|lines|procs))")


class FirstOnly(NamedTuple):
    """A program that reads the first of its files."""

    program: str
    """With the option by which it checks: ``bash -n``."""
    files: tuple[str, ...]
    """Names and patterns of the files, relative to the command's own folder: all that it should
    check, or the one that it runs.
    """
    certain: bool = False
    """Whether it surely gets several files."""


def first_only(commands: Sequence[Words]) -> Iterator[FirstOnly]:
    """The programs of a command that read only the first of their files, if these may be several.

    ``commands`` are the words of its programs, None for one that the shell computes.
    """
    for folder, words in in_folders(commands):
        if not words or words[0] is None:
            continue
        name = base_name(words[0])
        if name == "find":
            found = _handed_files(_behind_exec(words), ("{}", "+"))
        elif name == "xargs":
            found = _handed_files(_behind_xargs(words), ())
        else:
            found = _of_words(words, folder)
        if found is not None:
            yield found


def script_of(words: Words) -> tuple[str, str]:
    """(Interpreter, the script that it runs); empty if it runs none, or the shell computes it."""
    call = _interpreter_call(words)
    if call is None or call.checks or not call.operands:
        return "", ""
    return call.program, call.operands[0] or ""


def _of_words(words: Words, folder: str) -> FirstOnly | None:
    """The finding for an interpreter with its files among its words; None without one."""
    call = _interpreter_call(words)
    if call is None:
        return None
    files = [word for word in call.operands[: None if call.checks else 1] if word is not None]
    certain = len(files) > 1
    if not certain and not any(map(has_wildcard, files)):
        return None
    return FirstOnly(call.program, tuple(posixpath.join(folder, word) for word in files), certain)


def _handed_files(words: Words, handed: tuple[str, ...]) -> FirstOnly | None:
    """The finding for an interpreter that ``find`` or ``xargs`` hands several files at once."""
    call = _interpreter_call(words)
    if call is None or tuple(call.operands) != handed:
        return None
    return FirstOnly(call.program, (), certain=True)


class _InterpreterCall(NamedTuple):
    program: str
    """With the option by which it only checks: ``bash -n``."""
    checks: bool
    operands: Words


def _interpreter_call(words: Words) -> _InterpreterCall | None:
    """The words of an interpreter, taken apart; None if it is none that reads a file."""
    name = base_name(words[0] or "") if words else ""
    interpreter = INTERPRETERS.get(name) or INTERPRETERS.get(_VERSIONED.sub("", name))
    if interpreter is None:
        return None
    checks = ""
    rest = list(words[1:])
    while option := _option(rest):
        del rest[:1]
        if re.fullmatch(interpreter.other, option):
            return None
        if re.fullmatch(interpreter.checks, option):
            checks = option
        elif re.fullmatch(interpreter.valued, option):
            del rest[:1]
    return _InterpreterCall(f"{name} {checks}".strip(), bool(checks), rest)


def _option(words: Words) -> str:
    """The first word if it is an option; else empty."""
    first = words[0] if words else None
    return first if first is not None and re.match(r"[-+].", first) else ""


def _behind_exec(words: Words) -> Words:
    """The command that ``find`` starts with as many files as fit; empty if there is none."""
    start = next((n for n, word in enumerate(words) if word in ("-exec", "-execdir")), len(words))
    end = next((n for n, word in enumerate(words) if n > start and word in (";", "+")), start)
    return words[start + 1 : end + 1] if words[end : end + 1] == ("+",) else ()


def _behind_xargs(words: Words) -> Words:
    """The command that ``xargs`` starts with as many files as fit; empty if with one each."""
    rest = list(words[1:])
    while option := _option(rest):
        del rest[:1]
        if _ONE_EACH.fullmatch(option):
            return ()
        if _XARGS_VALUED.fullmatch(option):
            if _ONE_EACH_VALUED.fullmatch(option) and rest[:1] == ["1"]:
                return ()
            del rest[:1]
    return rest


def why_first_only(program: str, number: int | None = None) -> str:
    """The reason that such a command is masked; ``number`` of its files, if it is known."""
    files = "its files" if number is None else f"the {number} files that it gets"
    return (
        f"`{program}` reads only the first of {files}, and the others can be anything: "
        f'start it once for each (for f in ...; do {program} "$f" || exit 1; done)'
    )
