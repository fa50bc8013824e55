"""Elements of a page. Pure; the only place where text becomes markup.

A child that is a text is always escaped and made visible, and so is an attribute's value. Only
:func:`tag` can put markup into a page, and no attribute can run or fetch anything.
"""

from __future__ import annotations

import re
from html import escape

from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9-]*\Z")
_ELEMENTS = frozenset(
    """
    a article b blockquote body br caption circle code col colgroup dd del details div dl dt
    figcaption figure footer h1 h2 h3 head header html ins li main meta nav ol p path pre q rect
    section small span strong summary svg symbol table tbody td text tfoot th thead time title tr ul
    use
    """.split()
)
_NEVER_CLOSED = frozenset(("br", "col", "meta"))
_LINK = re.compile(r"(?:[A-Za-z0-9._-]+\.html)?(?:#[A-Za-z0-9_-]+)?\Z")
"""Allowed targets of a link: a place on this page, or a page in the same folder."""
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")


class Markup:
    """An escaped piece of a page; only this module makes one."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __bool__(self) -> bool:
        return bool(self.text)


def _safe(text: str) -> str:
    """Foreign text on one line, escaped."""
    return escape(text if text.isascii() and text.isprintable() else visible(text))


def block(lines: Iterable[str]) -> Markup:
    """Lines of foreign text, for ``pre``."""
    return Markup("\n".join(_safe(line.expandtabs(8)) for line in lines))


def join(*children: object) -> Markup:
    """Pieces in a row; a text is escaped, None and empty pieces are left out."""
    return Markup("".join(_pieces(children)))


def _pieces(children: Iterable[Any]) -> Iterable[str]:
    for child in children:
        if child is None or child is False:
            continue
        if isinstance(child, Markup):
            yield child.text
        elif isinstance(child, str):
            yield _safe(child)
        elif isinstance(child, int):
            yield f"{child:,}"
        else:
            yield from _pieces(child)


def tag(name: str, /, *children: object, **attributes: str | float | bool | None) -> Markup:
    """An element. ``class_`` is ``class``, ``aria_label`` is ``aria-label``; None is left out."""
    if name not in _ELEMENTS:
        raise ValueError(f"{name!r} is no element of a page")
    given = "".join(
        _attribute(key.rstrip("_").replace("_", "-"), value)
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _NEVER_CLOSED:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{''.join(_pieces(children))}</{name}>")


def _attribute(name: str, value: str | float | bool) -> str:
    if not _NAME.match(name) or name[:2] == "on" or name in ("style", "src", "srcset", "action"):
        raise ValueError(f"{name!r} is no attribute of a page")
    if name == "href" and not _LINK.match(str(value)):
        raise ValueError(f"{value!r} leads away from the page")
    if value is True:
        return f" {name}"
    return f' {name}="{_safe(str(value))}"'


def heads(names: Iterable[object], right: Sequence[str] = ()) -> Markup:
    """The row of a table's heads; the columns ``right`` hold numbers."""
    cells = (tag("th", name, scope="col", class_="r" if name in right else None) for name in names)
    return tag("tr", *cells)


def anchor(*parts: object) -> str:
    """A name for a place on the page, made from these parts; equal parts give the same name."""
    return "-".join(_UNSAFE.sub("-", str(part)).strip("-") or "x" for part in parts).lower()


def document(head: Markup, body: Markup, style: str, policy: str) -> str:
    """A whole page. ``style`` and ``policy`` are Flow's own constants."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"{head}\n<style>{style}</style>\n</head>\n{body}\n</html>\n"
    )
