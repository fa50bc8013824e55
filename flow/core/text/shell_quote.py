"""Text as one word for bash and zsh, so that a line can be copied with its meaning."""

from __future__ import annotations

from flow.core.text.display import visible

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+,./-")
"""Characters without a special meaning in any shell."""


def shell_word(text: str) -> str:
    """``text`` in single quotes; with ``$'...'`` if it holds invisible characters.

    Characters that :func:`~flow.core.text.display.visible` would escape are written as octal bytes,
    so the word is one visible line and still means ``text``.
    """
    if visible(text) == text:
        return "'" + text.replace("'", "'\\''") + "'"
    return "$'" + "".join(map(_escaped, text)) + "'"


def shell_argument(text: str) -> str:
    """``text`` unchanged if it needs no quotes in any shell, else :func:`shell_word` of it."""
    return text if text and _PLAIN.issuperset(text) else shell_word(text)


def shell_option(name: str, value: str) -> str:
    """An option and its value as they are typed; with ``=`` if the value looks like an option."""
    return f"{name}{'=' if value.startswith('-') else ' '}{shell_argument(value)}"


def _escaped(char: str) -> str:
    if char in "\\'":
        return f"\\{char}"
    if char in "\n\t\r":
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}[char]
    if visible(char) == char:
        return char
    return "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogateescape"))


def as_flow_runs(command: str, cwd: str | None = None) -> str:
    """A line that runs a verification command like Flow does, from the top of the checkout.

    Only the time limit, the sandbox and the removal of environment variables are missing.
    """
    line = f"bash -o pipefail -c {shell_word(command)} </dev/null"
    return f"(cd -- {shell_word(cwd)} && {line})" if cwd not in (None, "", ".") else line


def way_to_top(top: str, folder: str) -> str:
    """The command that leads from ``folder`` to the checkout's top level; empty if it is that."""
    if folder == top:
        return ""
    inside = folder.startswith(f"{top.rstrip('/')}/")
    steps = folder[len(top) :].strip("/").count("/") + 1
    return f"cd {'/'.join(['..'] * steps) if inside else shell_argument(top)}"
