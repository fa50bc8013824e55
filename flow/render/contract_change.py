"""The changes of a contract for the person who is asked: the lines, and their meaning. Pure."""

from __future__ import annotations

import re

from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from flow.render.screen import Screen

_CRITERION = re.compile(r"objective\.acceptance_criteria\[([A-Z]+[0-9]+)\](?:\.(.+))?")
_FIELDS = {"verification_command": "command"}
_RECORDED = re.compile(r"(?P<kind>[a-z ]+): (?:(?P<key>[\w.\[\]]+): )?(?P<what>.*)", re.S)
_LABELS = {
    "constraints.allowed_paths": "paths",
    "constraints.denied_paths": "denied",
    "constraints.protected_paths": "protected",
    "objective.acceptance_criteria": "criteria",
    "": "trust",
}
CLASS_WORDS = {
    "weakening": "asks for less",
    "strengthening": "asks for more",
    "neutral": "asks for the same",
    "incomparable": "cannot be compared",
}
"""The classes of :mod:`flow.core.amendment.rules` as people read them."""
_CLASSES = {**CLASS_WORDS, CLASS_WORDS["incomparable"]: CLASS_WORDS["incomparable"]}
"""The classes in words, by the first words of a change in an event."""
_PATH_WORDS = {"weakening": "opens more", "strengthening": "closes more"}
_STYLES = {"weakening": "undecided", "incomparable": "undecided"}
_WIDEST = 20


class RecordedChange(NamedTuple):
    """One change as an event records it: its subject, the change, and its class in words."""

    label: str
    what: str
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.label} {self.what}" if self.label else self.what


def recorded_change(text: str) -> RecordedChange:
    """A change from the ``changes`` of an event; one of another form is its text alone."""
    match = _RECORDED.fullmatch(text)
    kind = _CLASSES.get(match["kind"]) if match is not None else None
    if match is None or kind is None:
        return RecordedChange("", text)
    return RecordedChange(_label(match["key"]) if match["key"] else "", match["what"], kind)


def difference_rows(difference: Sequence[str]) -> Iterator[str]:
    """The lines of :mod:`flow.core.amendment.trust_diff` with subjects as people name them."""
    whole = {
        match[0].removesuffix(".id")
        for line in difference
        for match in [_CRITERION.fullmatch(line.removesuffix(":"))]
        if match is not None and match[2] == "id"
    }
    for block in _blocks(difference, whole):
        yield block.label
        yield from (f"  {line}" for line in block.lines)


class _Block(NamedTuple):
    """One row: its label, its ``+`` and ``-`` lines, and the keys of the changes it shows."""

    label: str
    lines: list[str]
    key: str


def contract_change(
    goal_id: str,
    title: str,
    difference: Sequence[str],
    changes: Sequence[Mapping[str, str]],
    screen: Screen,
) -> list[str]:
    """The lines of a change, each with its class in words below it. No text is cut.

    ``difference`` are the lines of :mod:`flow.core.amendment.trust_diff`; ``changes`` as
    ``--json`` prints them.
    """
    whole = {change["key"] for change in changes}
    blocks = _blocks(difference, whole)
    shown = {block.key for block in blocks}
    for key in dict.fromkeys(change["key"] for change in changes):
        if key not in shown:
            blocks.append(_Block(_label(key), [], key))
    head = f"{screen.mark('contract')} {screen.paint('bold', visible(goal_id))}"
    lines = [f"{head}  {title}", ""]
    width = max((len(block.label) for block in blocks if len(block.label) <= _WIDEST), default=0)
    for block in blocks:
        classes = [_class_line(each, screen) for each in changes if each["key"] == block.key]
        rows = [*_painted(block.lines, screen), *classes]
        if len(block.label) > width:
            lines.append(visible(block.label))
            rows = [" " * (width + 2) + row for row in rows]
            lines += rows
            continue
        for place, row in enumerate(rows):
            lines.append(f"{block.label if not place else '':<{width}}  {row}".rstrip())
    return lines


def _blocks(difference: Sequence[str], whole: Iterable[str]) -> list[_Block]:
    """The lines by subject; a criterion of ``whole``, which is new or removed, is one block."""
    blocks: dict[str, _Block] = {}
    subject, field = "", ""
    for line in difference:
        if not line.startswith("  "):
            key = line.partition(": in another order")[0].removesuffix(":")
            match = _CRITERION.fullmatch(key)
            together = match is not None and key.rpartition(".")[0] in whole
            subject = key.rpartition(".")[0] if together else key
            field = _field(match[2]) if together and match is not None and match[2] else ""
            blocks.setdefault(subject, _Block(_label(subject), [], subject))
            continue
        text = line.removeprefix("  ")
        if field:
            text = f"{text[:1]} {field}: {text[2:]}"
        blocks[subject].lines.append(text)
    return list(blocks.values())


def _label(key: str) -> str:
    match = _CRITERION.fullmatch(key)
    if match is None:
        return _LABELS.get(key, key)
    return f"{match[1]} {_field(match[2])}" if match[2] else match[1]


def _field(name: str) -> str:
    return _FIELDS.get(name, name)


def _painted(lines: Sequence[str], screen: Screen) -> Iterator[str]:
    for line in lines:
        yield screen.paint({"+": "proved", "-": "failed"}.get(line[:1], ""), visible(line))


def _class_line(change: Mapping[str, str], screen: Screen) -> str:
    kind = change["class"]
    paths = change["key"].endswith("_paths")
    word = (_PATH_WORDS.get(kind) if paths else None) or CLASS_WORDS.get(kind, kind)
    return screen.paint(_STYLES.get(kind, "dim"), f"{word}: {visible(change['what'])}")
