"""Text as one word for bash and zsh, so that a line can be copied and means what it says."""

from __future__ import annotations

from flow.core.text.display import visible

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+,./-")
"""Characters that no shell takes for anything but themselves."""


def shell_word(text: str) -> str:
    """``text`` in single quotes; with ``$'...'`` where it holds what a line cannot show.

    What :func:`~flow.core.text.display.visible` would escape is written as octal bytes, so the
    word is one visible line and still means ``text``.
    """
    if visible(text) == text:
        return "'" + text.replace("'", "'\\''") + "'"
    return "$'" + "".join(map(_escaped, text)) + "'"


def shell_argument(text: str) -> str:
    """As :func:`shell_word`, but as it is where every shell takes it for itself."""
    return text if text and _PLAIN.issuperset(text) else shell_word(text)


def _escaped(char: str) -> str:
    if char in "\\'":
        return f"\\{char}"
    if char in "\n\t\r":
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}[char]
    if visible(char) == char:
        return char
    return "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogateescape"))


def as_flow_runs(command: str, cwd: str | None = None) -> str:
    """A line that runs a verification command as Flow does, from the top of the checkout.

    Only the time limit, the sandbox and what Flow takes out of the environment are missing.
    """
    line = f"bash -o pipefail -c {shell_word(command)} </dev/null"
    return f"(cd -- {shell_word(cwd)} && {line})" if cwd not in (None, "", ".") else line
