"""What a shell text with ``flow goal confirm`` does beside it, and where (SPEC 17.3).

Only what is known to be plain counts as that; every other text may do more, or run elsewhere.
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
"""Words in which the shell computes nothing, with no sign between them that means something."""
_OF_THE_PLUGIN = re.compile(r'"\$\{CLAUDE_PLUGIN_ROOT\}/bin/flow"(?=[ \t])')
"""How the plugin's texts for agents name their own ``flow``."""
_COMMENT = re.compile(r"\s#.*")
_STAYS = frozenset({
    "[", "basename", "cat", "cmp", "cut", "diff", "dirname", "du", "echo", "egrep", "false",
    "fgrep", "grep", "head", "ls", "md5sum", "nl", "pwd", "readlink", "realpath", "sha256sum",
    "stat", "tail", "test", "true", "wc", "which",
})  # fmt: skip
"""Programs that change no file, folder or variable, whatever their words are."""
_VALUES = ("--proposal", "--reason")


class ConfirmCall(NamedTuple):
    """The words of ``flow goal confirm``."""

    goal_id: str | None
    proposal: str | None
    own: bool
    """No word is there that the command does not have."""


class ConfirmLine(NamedTuple):
    """A shell text, as far as it is known what else it does."""

    alone: tuple[str, ...]
    """The words behind ``flow``, where the text is one plain ``flow goal confirm`` and no more."""
    stays: bool
    """Nothing in it can change the folder or the environment before Flow runs."""


def confirm_line(text: str, is_own: Callable[[str], bool]) -> ConfirmLine:
    """What is known of ``text``. ``is_own``: whether a path is that of this Flow's program."""
    whole = _OF_THE_PLUGIN.sub("flow", text.strip(" \t\n"), count=1)
    words = _words_of_flow(whole, is_own)
    if words[:2] == ("goal", "confirm") and confirm_call(words).own:
        return ConfirmLine(words, True)
    parts = [(part.strip(), after) for part, after in segments(text) if part.strip()]
    places = [n for n, (part, _) in enumerate(parts) if MENTION.search(part)]
    if len(places) != 1:
        return ConfirmLine((), False)
    part, after = parts[place := places[0]]
    others = parts[:place]
    if after not in ("&&", "||", ";", "\n", ""):  # what comes behind may run at the same time
        others += parts[place + 1 :]
    found = _words_of_flow(part, is_own) or _words_of_flow(_bare_segment(part), is_own)
    return ConfirmLine((), bool(found) and all(_changes_nothing(other) for other, _ in others))


def confirm_call(words: Sequence[str]) -> ConfirmCall:
    """What the words behind ``flow`` name; ``words`` begin with ``goal confirm``."""
    values: dict[str, str] = {}
    names: list[str] = []
    own = True
    rest = [word for word in words if word != "--json"][2:]
    while rest:
        option, equals, value = (word := rest.pop(0)).partition("=")
        if option in _VALUES:
            own = own and bool(equals or rest)
            values[option] = value if equals else "".join(rest[:1])
            del rest[: 0 if equals else 1]
        elif word.startswith("-"):
            own = False
        else:
            names.append(word)
    return ConfirmCall(
        names[0] if names else None, values.get("--proposal"), own and len(names) < 2
    )


def _words_of_flow(segment: str, is_own: Callable[[str], bool]) -> tuple[str, ...]:
    """The words behind ``flow`` in a plain command; empty where it is none."""
    if _PLAIN.fullmatch(segment) is None:
        return ()
    name, *words = shlex.split(segment)
    return tuple(words) if name == "flow" or ("/" in name and is_own(name)) else ()


def _bare_segment(segment: str) -> str:
    """Without a comment, and without output that goes nowhere or to where other output goes."""
    return HARMLESS_REDIRECTION.sub(" ", _COMMENT.sub("", segment)).strip()


def _changes_nothing(segment: str) -> bool:
    bare = _bare_segment(segment)
    plain = _PLAIN.fullmatch(bare) is not None and shlex.split(bare)[0] in _STAYS
    return plain or bare.startswith("#")
