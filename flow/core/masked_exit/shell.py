"""A shell command as values: the kinds of node that determine an exit status.

The parser's adapter builds it; :mod:`flow.core.masked_exit.rules` and the searches for a command's
programs read it. It only has the shape of the command: expansions are never guessed.
"""

from __future__ import annotations

import posixpath

from flow.startup import re
from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence
    from typing import TypeVar

    Words = TypeVar("Words", bound=Sequence[str | None])

Kind = Literal[
    "sequence", "background", "and", "or", "not", "pipe", "group", "subshell", "command", "assign",
    "declare", "if", "while", "until", "for", "case", "function", "unknown",
]  # fmt: skip

LAST = "$?"
"""A word that is exactly the status of the command before."""


class ShellNode(NamedTuple):
    """One construct.

    ``parts`` are its members in the order of execution: for an ``if``, conditions and bodies in
    turn with the else branch last; for a ``case``, its bodies; for a loop, condition and body; for
    a command, an assignment or a declaration, its substitutions.
    """

    kind: Kind
    parts: tuple[ShellNode, ...] = ()
    words: tuple[str | None, ...] = ()
    """For a command: its words without quotes, None for one that the shell computes. For a function
    its name; for an assignment the variable and the value; for a ``for`` the variable and the list;
    for a ``case`` its subject.
    """
    source: tuple[str, ...] = ()
    """These words as written; for a ``case`` also the patterns of each body."""
    given: tuple[str, ...] = ()
    """Assignments before a command, as ``NAME=value``."""
    writes: tuple[str, ...] = ()
    """Files with a plain name that receive its output."""
    reads: tuple[str | None, ...] = ()
    """Files, which may be missing, that are its input; None for one that the shell computes."""
    complete: bool = False
    """For an ``if``, whether it has an else; for a ``case``, whether a branch matches everything.
    """


PREFIXES = {
    "builtin": 0, "chronic": 0, "command": 0, "env": 0, "exec": 0, "nice": 0, "nohup": 0,
    "setsid": 0, "stdbuf": 0, "sudo": 0, "time": 0, "timeout": 1, "unbuffer": 0, "xvfb-run": 0,
}  # fmt: skip
"""Programs that run the command in the rest of their words, and the number of operands before it.
"""

_TAKES_VALUE = {
    "env": ("-u", "-C"), "nice": ("-n",), "timeout": ("-k", "-s"), "sudo": ("-u", "-g"),
    "stdbuf": (), "xvfb-run": ("-n", "-s"), "exec": ("-a",),
}  # fmt: skip


def plain_words(words: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """The words of the command that really runs, without prefixes such as ``timeout 60``."""
    while words and words[0] is not None:
        name = base_name(words[0])
        if name not in PREFIXES or len(words) == 1:
            return words
        if name == "command" and words[1] in ("-v", "-V"):
            return words
        rest, operands = list(words[1:]), PREFIXES[name]
        values = _TAKES_VALUE.get(name, ())
        while rest:
            word = rest[0]
            if word is not None and word.startswith("-") and word != "-":
                del rest[: 2 if word in values else 1]
            elif name in ("env", "sudo") and word is not None and "=" in word:
                del rest[0]
            elif operands:
                operands -= 1
                del rest[0]
            else:
                break
        if not rest:
            return words
        words = tuple(rest)
    return words


def base_name(word: str) -> str:
    """``true`` for ``/bin/true``."""
    return word.rsplit("/", 1)[-1]


def system_name(word: str) -> str:
    """``test`` for ``/usr/bin/test``; another path stays, since a project's ``./test`` is none."""
    return base_name(word) if word.startswith(("/bin/", "/usr/bin/")) else word


def in_folders(commands: Iterable[Words], start: str = "") -> Iterator[tuple[str, Words]]:
    """Each command with the folder it is in, from ``start`` on: ``cd`` sets that of what follows.

    ``commands`` are the words of simple commands, None for a word that the shell computes.
    """
    folder = start
    for words in commands:
        if len(words) == 2 and words[0] == "cd" and words[1] is not None:
            folder = posixpath.join(folder, words[1])
        yield folder, words


def has_wildcard(word: str) -> bool:
    """Whether the shell may expand a plain word to the names of files, or read it as a pattern."""
    return any(sign in word for sign in "*?[")


def plain_command(node: ShellNode) -> ShellNode:
    """A command without the prefixes that :func:`plain_words` removes."""
    words = plain_words(node.words)
    return node._replace(words=words, source=node.source[len(node.source) - len(words) :])


def fed_programs(node: ShellNode, filters: Container[str]) -> Iterator[tuple[str | None, ...]]:
    """Each program that gets the content of files, and these files behind it.

    ``p < FILE``, ``cat FILE | p`` (``cat`` and its like are ``filters``), ``p $(cat FILE)`` and
    ``X=FILE p`` all read as ``p FILE``.
    """
    for node_now in constructs(node):
        shown = [*node_now.reads]
        for part in node_now.parts if node_now.kind == "command" else ():
            shown += _shown_files(part, filters)
        for value in node_now.given:
            shown += re.split(r"[=:,\s]+", value)[1:]
        if shown:
            program = plain_words(node_now.words)[:1] if node_now.kind == "command" else ("{",)
            yield (*program, *shown)
        if node_now.kind == "pipe":
            shown = []
            for part in node_now.parts:
                words = plain_words(part.words)
                if not (part.kind == "command" and words and base_name(words[0] or "") in filters):
                    if shown:
                        yield (*(words[:1] or ("{",)), *shown)
                    break
                shown += _shown_files(part, filters)


def _shown_files(node: ShellNode, filters: Container[str]) -> list[str | None]:
    """The files that a single ``cat FILE`` or ``< FILE`` shows."""
    while node.kind == "sequence" and len(node.parts) == 1:
        node = node.parts[0]
    words = plain_words(node.words) if node.kind == "command" else ()
    shows = bool(words) and (words == (None,) or base_name(words[0] or "") in filters)
    return [*words[1:], *node.reads] if shows else []


def commands(node: ShellNode) -> Iterator[ShellNode]:
    """Every simple command in a node, including those in substitutions and functions."""
    return (part for part in constructs(node) if part.kind == "command")


def constructs(node: ShellNode) -> Iterator[ShellNode]:
    """A node and everything in it, each construct before its parts."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(reversed(part.parts))
