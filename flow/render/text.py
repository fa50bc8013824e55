"""Terminal text from the documents that ``--json`` prints. Pure; foreign text is made visible.

``paint`` is ``(style, text) → text``: it adds colour if the output has colours.
"""

from __future__ import annotations

from flow.core.evidence.freshness import WORDS
from flow.core.text.display import clip, names, visible
from flow.errors import MANY_ROWS, more_than
from flow.startup import json, re
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flow.render.screen import Screen

    Paint = Callable[[str, str], str]
    Document = Mapping[str, Any]

WIDTH = 200
"""Characters of one text in a row of a list."""
NARROW = 100
"""Characters of a line of an artifact."""
FIELDS = 16
"""Lines of one artifact."""
_CRITERION = "[A-Z]+[0-9]+"
_STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
_GROUPS = ("goal", "trust", "evidence")
"""Groups of the commands that are the next step of a goal."""


def show(value: object) -> str:
    """A value on one line; ``-`` for nothing."""
    if value is None or value == "":
        return "-"
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(show(item) for item in value) or "-"
    return visible(json.dumps(value, ensure_ascii=False))


def steps_of(text: str) -> list[tuple[str, str]]:
    """(``next``, the step), and each other one after ``or``; every one ends with its command."""
    first, *others = text.split("; or ")
    return [("next", first), *(("or", other) for other in others)]


def step_line(screen: Screen, label: str, text: str, width: int) -> str:
    """A step after its label: the command coloured, since that is what a person types; never cut.

    The label ``or`` is dim: the first step is the rule.
    """
    at = begin_of_command(text)
    shown = screen.paint("dim", label) if label == "or" else label
    line = f"{screen.plain(text[:at])}{screen.paint('person', text[at:])}"
    return f"{shown}{' ' * (width - len(label))} {line}"


def begin_of_command(text: str) -> int:
    """The index of the first Flow command in a text; the text's length if there is none."""
    at = text.find("flow ")
    while at >= 0:
        group, _, rest = text[at + len("flow ") :].partition(" ")
        behind_a_letter = at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_")
        if group in _GROUPS and "a" <= rest[:1] <= "z" and not behind_a_letter:
            return at
        at = text.find("flow ", at + 1)
    return len(text)


def grouped_warnings(warnings: Iterable[str]) -> list[str]:
    """Warnings, those that say the same of several criteria as one: ``AC1, AC3: masked: …``."""
    groups: dict[str, list[str]] = {}
    for warning in warnings:
        name, colon, rest = warning.partition(": ")
        about = bool(colon) and re.fullmatch(_CRITERION, name) is not None
        groups.setdefault(rest if about else f" {warning}", []).append(name if about else "")
    return [
        f"{names(list(dict.fromkeys(ids)), 10)}: {text}" if ids[0] else text[1:]
        for text, ids in groups.items()
    ]


def local_times(text: str, screen: Screen) -> str:
    """``text`` with its moments in the screen's form."""
    return re.sub(_STAMP, lambda stamp: screen.at(stamp[0]), text)


def why_stale(reasons: Sequence[str]) -> str:
    """The reasons that evidence is not fresh."""
    return ", ".join(WORDS[reason] for reason in reasons)  # type: ignore[index]


def open_first(rows: Sequence[Document]) -> list[Document]:
    """The rows of criteria to show; of many, those that did not pass come first."""
    if len(rows) > MANY_ROWS:
        rows = sorted(rows, key=lambda row: row.get("status") == "pass")
    return list(rows[:MANY_ROWS])


def newest_rows(rows: Sequence[Document], at: str) -> list[Document]:
    """The rows to show; of many, the newest by the time stamp ``at``."""
    if len(rows) > MANY_ROWS:
        rows = sorted(rows, key=lambda row: str(row[at]))
    return list(rows[-MANY_ROWS:])


def history(document: Document) -> list[str]:
    """``flow goal history --details``: the newest events with their fields and reasons."""
    events = document["events"]
    if not events:
        return [f"goal {document['goal_id']} has no events yet"]
    lines = []
    for event in events[-MANY_ROWS:]:
        seq = f"{event['seq']:>4}  " if isinstance(event.get("seq"), int) else ""
        lines.append(f"{seq}{show(event.get('at'))}  {clip(_event_line(event), 2 * WIDTH)}")
        if event.get("reason"):
            lines.append(f"{'':22}{clip(show(event['reason']), WIDTH)}")
    return [*lines, *more_than(len(events), f"flow goal history {document['goal_id']} --json")]


_NOT_LISTED = (
    *("at", "seq", "type", "goal_id", "reason", "from", "to"),
    *("difference", "key", "prev", "hash", "ledger_head"),
)
"""Fields that the line shows elsewhere, or that are for programs only, like the digests."""


def _event_line(event: Document) -> str:
    words = [show(event.get("type"))]
    if event.get("to"):
        before = f"{show(event['from'])} -> " if event.get("from") else ""
        words.append(before + show(event["to"]))
    for key, value in event.items():
        if (
            key in _NOT_LISTED
            or key.endswith("_sha256")
            or value in (None, "", [], {})
            or isinstance(value, dict)
        ):
            continue
        text = show(value)
        words.append(f"{show(key)}={text if len(text) <= 60 else text[:57] + '...'}")
    return "  ".join(words)


def outline(value: object, depth: int = 0) -> list[str]:
    """A document as indented ``key: value`` lines."""
    pad = "  " * depth
    if isinstance(value, dict):
        items = [(f"{pad}{visible(str(key))}:", item) for key, item in value.items()]
    elif isinstance(value, (list, tuple)):
        items = [(f"{pad}-", item) for item in value]
    else:
        return [f"{pad}{show(value)}"]
    lines = []
    for head, item in items:
        if isinstance(item, (dict, list, tuple)) and item:
            lines += [head, *outline(item, depth + 1)]
        else:
            lines.append(f"{head} {'[]' if item == [] else show(item)}")
    return lines


def text_lines(text: str) -> list[str]:
    """The lines of ``text``; only a newline ends one."""
    parts = text.split("\n")
    return parts[:-1] if parts and not parts[-1] else parts


def settings(rows: Sequence[Document]) -> list[str]:
    """``flow config list``: ``key = value`` lines, the values as JSON."""
    width = max(len(row["key"]) for row in rows)
    lines = []
    for row in rows:
        value = visible(json.dumps(row["value"], ensure_ascii=False))
        origin = f"   ({show(row['origin'])})" if "origin" in row else ""
        lines.append(f"{row['key']:<{width}} = {value}{origin}")
        if "note" in row:
            lines.append(f"{'':<{width}}   # {row['note']}")
    return lines


def setting_written(document: Document, *, was_set: bool) -> list[str]:
    """``flow config set`` and ``unset``: the change, and the value in force if it differs."""
    key, file = document["key"], document["file"]
    before = visible(json.dumps(document["before"], ensure_ascii=False))
    if document["set"]:
        value = visible(json.dumps(document["value"], ensure_ascii=False))
        was = f", was {before}" if was_set and before != value else ""
        lines = [f"{file}: {key} = {value}{was}"]
    elif was_set:
        lines = [f"{file}: {key} is not set any more, was {before}"]
    else:
        lines = [f"{file}: {key} is not set; nothing was changed"]
    if "origin" not in document or (document["set"] and document["in_force"] == document["value"]):
        return lines
    now = visible(json.dumps(document["in_force"], ensure_ascii=False))
    return [*lines, f"in force here: {now} ({show(document['origin'])})"]
