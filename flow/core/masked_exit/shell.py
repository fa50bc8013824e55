"""A shell command as values: the few kinds of node that say how an exit status comes about.

Built by the parser's adapter, read by :mod:`flow.core.masked_exit.rules` and where the programs of
a command are asked for. Only its shape is here: what a word expands to is never guessed.
"""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal[
    "sequence", "background", "and", "or", "not", "pipe", "group", "subshell", "command", "assign",
    "declare", "if", "while", "until", "for", "case", "function", "unknown",
]  # fmt: skip

LAST = "$?"
"""A word that is exactly the status of the command before."""


class ShellNode(NamedTuple):
    """One construct.

    ``parts`` are its members in the order of execution: of an ``if`` condition and body in turn and
    the other branch last (a ``case`` likewise has its bodies), of a loop condition and body, of a
    command, an assignment, or a declaration the substitutions in it.
    """

    kind: Kind
    parts: tuple[ShellNode, ...] = ()
    words: tuple[str | None, ...] = ()
    """Of a command: its words without quotes; None for one that the shell computes. Of a function
    its name. Of an assignment its variable and the value, of a ``for`` the variable and the list.
    Of a ``case`` what it asks about."""
    source: tuple[str, ...] = ()
    """As many words as they are written; of a ``case`` also the patterns of each body."""
    given: tuple[str, ...] = ()
    """Variables that stand before a command, as ``NAME=value``."""
    writes: tuple[str, ...] = ()
    """Files with a plain name that its output goes to."""
    reads: bool = False
    """It takes its input from a file, which can be missing."""
    complete: bool = False
    """Of an ``if``, that it has an else; of a ``case``, a branch for everything else."""


PREFIXES = {
    "builtin": 0, "chronic": 0, "command": 0, "env": 0, "exec": 0, "nice": 0, "nohup": 0,
    "setsid": 0, "stdbuf": 0, "sudo": 0, "time": 0, "timeout": 1, "unbuffer": 0, "xvfb-run": 0,
}  # fmt: skip
"""Programs that run the command in the rest of their words, and how many operands come before."""

_TAKES_VALUE = {
    "env": ("-u", "-C"), "nice": ("-n",), "timeout": ("-k", "-s"), "sudo": ("-u", "-g"),
    "stdbuf": (), "xvfb-run": ("-n", "-s"), "exec": ("-a",),
}  # fmt: skip


def plain_words(words: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """The words of the command that really runs: prefixes such as ``timeout 60`` are taken off."""
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


def plain_command(node: ShellNode) -> ShellNode:
    """A command without the prefixes that :func:`plain_words` takes off."""
    words = plain_words(node.words)
    return node._replace(words=words, source=node.source[len(node.source) - len(words) :])


def commands(node: ShellNode) -> Iterator[ShellNode]:
    """Every simple command in a node, those of substitutions and functions too."""
    waiting = [node]
    while waiting:
        node_now = waiting.pop()
        if node_now.kind == "command":
            yield node_now
        waiting.extend(reversed(node_now.parts))
