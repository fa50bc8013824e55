"""Places of the values in a YAML text, so that they can be changed there."""

from __future__ import annotations

from flow.adapters.contracts.strict_yaml import yaml_events
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    Entry = tuple["YamlNode | None", "YamlNode"]
    """A mapping's key and value, or None and a list's item."""


class YamlNode:
    """A value and its place: characters ``start`` to ``end``, without a comment after it."""

    __slots__ = (
        "column",
        "end",
        "entries",
        "in_flow",
        "is_flow",
        "keep",
        "kind",
        "start",
        "style",
        "value",
    )

    def __init__(self, kind: str, event: Any, *, in_flow: bool) -> None:
        self.kind = kind
        """``scalar``, ``mapping`` or ``sequence``."""
        self.start: int = event.start_mark.index
        self.end: int = event.end_mark.index
        self.column: int = event.start_mark.column
        self.in_flow = in_flow
        """Whether it is inside ``{}`` or ``[]``."""
        self.is_flow = False
        """Whether it is written as ``{}`` or ``[]``."""
        self.style: str = ""
        self.keep = False
        """Whether it is a block scalar with ``+``: then the blank lines after it are part of it."""
        self.value: str = ""
        self.entries: list[Entry] = []

    @property
    def leaf(self) -> YamlNode:
        """The last scalar or flow collection in it, whose end is the end of its text."""
        node = self
        while node.entries and not node.is_flow:
            node = node.entries[-1][1]
        return node

    @property
    def is_literal(self) -> bool:
        """A scalar after ``|`` or ``>``; its own text ends with the line break."""
        return self.style in ("|", ">")

    @property
    def is_block(self) -> bool:
        """A mapping or list that is written over lines, without brackets."""
        return self.kind != "scalar" and not self.is_flow


def yaml_tree(text: str, file: str) -> YamlNode:
    """The text as nodes. It must have passed the strict reader."""
    stream = yaml_events(text, file=file)
    next(stream)
    next(stream)
    return _yaml_node(stream, next(stream), text, in_flow=False)


def _yaml_node(stream: Iterator[Any], event: Any, text: str, *, in_flow: bool) -> YamlNode:
    name = type(event).__name__
    if name == "ScalarEvent":
        node = YamlNode("scalar", event, in_flow=in_flow)
        node.style = event.style or ""
        node.value = event.value
        if node.is_literal:
            header = text[node.start : node.end].split("\n", 1)[0].split("#", 1)[0]
            node.keep = "+" in header
        return node
    node = YamlNode(
        "mapping" if name == "MappingStartEvent" else "sequence", event, in_flow=in_flow
    )
    node.is_flow = bool(event.flow_style)
    inside = in_flow or node.is_flow
    while type(event := next(stream)).__name__ not in ("MappingEndEvent", "SequenceEndEvent"):
        key = None
        if node.kind == "mapping":
            key = _yaml_node(stream, event, text, in_flow=inside)
            event = next(stream)
        node.entries.append((key, _yaml_node(stream, event, text, in_flow=inside)))
    if node.is_flow:
        node.end = event.end_mark.index
    elif node.entries:
        node.end = node.leaf.end
    return node
