"""The effects of a shell text with ``flow goal confirm`` beside that command (SPEC 17.3).

Only a text in a known plain form counts as plain; any other may do more, or run elsewhere.
"""

from __future__ import annotations

import re
import shlex

from flow.core.tool_calls.rules import HARMLESS_REDIRECTION, MENTION, segments
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WORD = r"""(?:[\w./:,=@%+-]|'[^']*'|"(?:[^"\\$`]|\\["\\$`])*")+"""
_PLAIN = re.compile(rf"{_WORD}(?:[ \t]+{_WORD})*", re.ASCII)
"""Words in which the shell computes nothing, without operators between them."""
_OF_THE_PLUGIN = re.compile(r'"\$\{CLAUDE_PLUGIN_ROOT\}/bin/flow"(?=[ \t])')
"""The name of ``flow`` in the plugin's texts for agents."""
_COMMENT = re.compile(r"\s#.*")
_STAYS = frozenset({
    "[", "basename", "cat", "cmp", "cut", "diff", "dirname", "du", "echo", "egrep", "false",
    "fgrep", "grep", "head", "ls", "md5sum", "nl", "pwd", "readlink", "realpath", "sha256sum",
    "stat", "tail", "test", "true", "wc", "which",
})  # fmt: skip
"""Programs that change no file, folder or variable, with any words."""
_VALUES = ("--proposal", "--reason")


class ConfirmCall(NamedTuple):
    """The words of ``flow goal confirm``."""

    goal_id: str | None
    proposal: str | None
    understood: bool
    """Whether each of these words is one that the command takes."""


class ConfirmLine(NamedTuple):
    """The known effects of a shell text."""

    alone: tuple[str, ...]
    """The words after ``flow``, if the text is only one plain ``flow goal confirm``; else empty."""
    stays: bool
    """Whether nothing in it can change the folder or the environment before Flow runs."""


def confirm_line(text: str, is_own: Callable[[str], bool]) -> ConfirmLine:
    """Analyse ``text``; ``is_own`` decides whether a path is that of this Flow's program."""
    whole = _OF_THE_PLUGIN.sub("flow", text.strip(" \t\n"), count=1)
    words = _words_of_flow(whole, is_own)
    if words[:2] == ("goal", "confirm") and confirm_call(words).understood:
        return ConfirmLine(words, True)
    parts = [(part.strip(), after) for part, after in segments(text) if part.strip()]
    places = [n for n, (part, _) in enumerate(parts) if MENTION.search(part)]
    if len(places) != 1:
        return ConfirmLine((), False)
    part, after = parts[place := places[0]]
    others = parts[:place]
    if after not in ("&&", "||", ";", "\n", ""):  # later commands may run at the same time
        others += parts[place + 1 :]
    plain = _words_of_flow(part, is_own) or _words_of_flow(_bare_segment(part), is_own)
    return ConfirmLine((), bool(plain) and all(_changes_nothing(other) for other, _ in others))


def confirm_call(words: Sequence[str]) -> ConfirmCall:
    """Parse the words after ``flow``, which begin with ``goal confirm``."""
    values: dict[str, str] = {}
    names: list[str] = []
    understood = True
    rest = [word for word in words if word != "--json"][2:]
    while rest:
        option, equals, value = (word := rest.pop(0)).partition("=")
        if option in _VALUES:
            understood = understood and bool(equals or rest)
            values[option] = value if equals else "".join(rest[:1])
            del rest[: 0 if equals else 1]
        elif word.startswith("-"):
            understood = False
        else:
            names.append(word)
    return ConfirmCall(
        names[0] if names else None, values.get("--proposal"), understood and len(names) < 2
    )


def _words_of_flow(segment: str, is_own: Callable[[str], bool]) -> tuple[str, ...]:
    """The words after ``flow`` in a plain command; empty if it is none."""
    if _PLAIN.fullmatch(segment) is None:
        return ()
    name, *words = shlex.split(segment)
    return tuple(words) if name == "flow" or ("/" in name and is_own(name)) else ()


def _bare_segment(segment: str) -> str:
    """The segment without its comment and its harmless redirections."""
    return HARMLESS_REDIRECTION.sub(" ", _COMMENT.sub("", segment)).strip()


def _changes_nothing(segment: str) -> bool:
    bare = _bare_segment(segment)
    plain = _PLAIN.fullmatch(bare) is not None and shlex.split(bare)[0] in _STAYS
    return plain or bare.startswith("#")
