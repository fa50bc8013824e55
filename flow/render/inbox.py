"""``flow inbox``: goals that wait for a person, and the others. Pure."""

from __future__ import annotations

from flow.core.text.display import clip, visible
from flow.render.goal.standing import since
from flow.render.screen import Column, Screen, Styled, lines_of, measure
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.core.standing.items import InboxChange, InboxItem
    from flow.core.standing.table import Section

    Rows = dict[Section, list[InboxItem]]

HEADS: dict[Section, str] = {
    "waits": "Waits for you",
    "blocked": "Blocked",
    "working": "Working",
    "closed": "Closed lately",
    "broken": "Cannot be looked at",
}
_OPEN: tuple[Section, ...] = ("waits", "blocked")
"""The sections whose rows are always shown."""
_COUNTED: tuple[Section, ...] = ("working", "blocked")
WIDE = 110
"""Least width, in columns, for a command at the end of its row; it must fit in full."""
_LEAST_WHY = 24
"""Columns that a command at the end of the row leaves for the reason."""
_LEAST_PLACE = 12
"""Columns of a repository and branch, at least; a long name of a goal takes the others."""
_LABEL = 18
_NOTICE = 120
"""Characters of each line of a notification."""


def inbox_lines(items: Sequence[InboxItem], screen: Screen, *, whole: bool = False) -> list[str]:
    """The screen; with ``whole`` every row of every section, and the place of its checkout."""
    by_section: Rows = {name: [item for item in items if item.section == name] for name in HEADS}
    blocks, short = [], []
    for name in HEADS:
        rows = by_section[name]
        if name == "broken":
            continue
        if name in _OPEN or whole:
            blocks.append(_section(name, rows, screen, whole=whole))
        elif rows:
            short.append(_short(name, rows, screen))
    first = [] if by_section["waits"] else [_nothing_waits(by_section)]
    return lines_of(first, *blocks, short, [_broken(row) for row in by_section["broken"]])


def change_line(change: InboxChange, screen: Screen) -> str:
    """One change on one line, which starts with repository and goal."""
    item = change.item
    if change.kind == "removed":
        return screen.plain(f"{identity(item)}: gone from the inbox")
    told = f"{identity(item)}: {HEADS[item.section].lower()}, {visible(item.why)}"
    return screen.plain(f"{told}  {item.command}" if item.command else told)


def notice(item: InboxItem) -> tuple[str, str]:
    """(repository and goal, reason) for a notification: one short line each, without semicolons.

    To a terminal, some notices that begin with a number and a semicolon are commands.
    """
    whose, why = identity(item), visible(item.why)
    return clip(whose.replace(";", ","), _NOTICE), clip(why.replace(";", ","), _NOTICE)


def identity(item: InboxItem) -> str:
    """``repo/branch goal``."""
    return f"{place(item)} {visible(item.goal_id)}".strip()


def place(item: InboxItem) -> str:
    """``repo/branch``; with more folders if two repositories have the same name."""
    name = item.called or item.repository.rstrip("/").rpartition("/")[2] or item.repository
    name = visible(name)
    return f"{name}/{visible(item.branch)}" if item.branch else name


def _nothing_waits(rows: Rows) -> str:
    counts = [f"{len(rows[name]):,} {name}" for name in _COUNTED if rows[name]]
    return " ".join(["Nothing waits for you.", *([f"{', '.join(counts)}."] if counts else [])])


def _section(name: Section, rows: Sequence[InboxItem], screen: Screen, *, whole: bool) -> list[str]:
    if not rows:
        return []
    head = f"{screen.paint('bold', HEADS[name])}  {len(rows):,}"
    cells = [_cells(row, screen, whole=whole) for row in rows]
    if screen.width is not None:
        _cut_places(cells, screen.width, screen)
    inner = screen._replace(columns=screen.columns - 2 if screen.columns is not None else None)
    at_end = _fitting(cells, rows, inner)
    columns = [Column("goal"), Column("where"), Column("why", cut=True), Column("age", right=True)]
    if any(at_end):
        columns.append(Column("command"))
        cells = [
            [*cell, Styled(row.command if fits else "", "person")]
            for cell, row, fits in zip(cells, rows, at_end, strict=True)
        ]
    lines = [head]
    for line, row, fits in zip(inner.table(columns, cells), rows, at_end, strict=True):
        lines.append(f"  {line}")
        if row.command and not fits:
            lines.append(f"    {screen.paint('person', row.command)}")
        if whole:
            lines.append(f"    {screen.paint('dim', visible(row.path))}")
    return lines


def _cells(row: InboxItem, screen: Screen, *, whole: bool) -> list[str | Styled]:
    why = visible(row.why)
    if whole and row.required:
        turn = f"turn {row.turns}" if row.turns else "not evaluated yet"
        progress = f"{row.proved} of {row.required} proved, {turn}"
        why += f" ({progress})" if progress not in why else ""
    age = since(screen, row.since) if row.since else ""
    return [visible(row.goal_id), place(row), why, Styled(age, "dim")]


def _cut_places(cells: Sequence[list[str | Styled]], width: int, screen: Screen) -> None:
    """Cut repository and branch: long names must not take the reasons' space."""
    fixed = sum(max(measure(_text(cell[at])) for cell in cells) for at in (0, 3))
    room = width - fixed - _LEAST_WHY - 8
    for cell in cells:
        cell[1] = screen.cut(_text(cell[1]), max(min(room, width // 2), _LEAST_PLACE))


def _fitting(
    cells: Sequence[Sequence[str | Styled]], rows: Sequence[InboxItem], screen: Screen
) -> list[bool]:
    """For each row, whether its command is at the end of the row: if it fits in full."""
    if screen.width is None:
        return [bool(row.command) for row in rows]
    if screen.width < WIDE - 3:
        return [False] * len(rows)

    def widest(at: int) -> int:
        return max(measure(_text(cell[at])) for cell in cells)

    room = screen.width - widest(0) - widest(1) - min(widest(2), _LEAST_WHY) - widest(3) - 8
    return [bool(row.command) and measure(row.command) <= room for row in rows]


def _text(cell: str | Styled) -> str:
    return cell if isinstance(cell, str) else cell.text


def _short(name: Section, rows: Sequence[InboxItem], screen: Screen) -> str:
    """A section on one line: the names of its goals."""
    label = f"{HEADS[name]}  {len(rows):,}"
    goals = ", ".join(visible(row.goal_id) for row in rows)
    head = f"{screen.paint('bold', HEADS[name])}  {len(rows):,}{' ' * max(_LABEL - len(label), 2)}"
    if screen.width is None:
        return head + goals
    return head + screen.cut(goals, max(screen.width - max(_LABEL, len(label) + 2), 8))


def _broken(row: InboxItem) -> str:
    what = visible(row.goal_id) if row.goal_id else ""
    where = visible(row.path.rpartition("/")[2]) if row.command else visible(row.path)
    told = f"{where}{' ' if what else ''}{what}: {visible(row.why)}"
    label = "gone" if row.command else "broken"
    return f"{label}  {told}{f'; {row.command}' if row.command else ''}"
