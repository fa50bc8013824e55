"""Changing a YAML text at its marks (SPEC 1: every line that is not meant to change stays).

The text is read twice: strictly, for its document, and into a tree of nodes with the position of
each value. The changes are applied to a copy of the document; where old and new document differ,
the tree gives the characters to replace. The result is read again and must be the document
intended.
"""

from __future__ import annotations

from flow.adapters.contracts import dump
from flow.adapters.contracts.nodes import yaml_tree
from flow.adapters.contracts.strict_yaml import hand_on, read_yaml
from flow.adapters.contracts.text import DELETE, dotted_path, one_line
from flow.core.layout import GOAL_LIMIT
from flow.errors import ContractError, RefusedError, in_file
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.adapters.contracts.nodes import Entry, YamlNode
    from flow.adapters.contracts.strict_yaml import ParsedYaml
    from flow.adapters.contracts.text import Path


def edited(
    text: str, changes: Sequence[tuple[Path, Any]], *, file: str, document: Any = None
) -> str:
    """The text with the changes made; see :func:`flow.adapters.contracts.formats.edit`."""
    if document is None:
        document = _reading(_encoded(text, file), file).document
    wanted = _changed(document, changes, file)
    if same_document(document, wanted):
        return text
    result = _Editor(text, yaml_tree(text, file)).run(document, wanted)
    data = _encoded(result, file)
    try:
        reading = _reading(data, file)
    except ContractError as error:
        raise _refused(file, changes) from error
    if not same_document(reading.document, wanted):
        raise _refused(file, changes)
    hand_on(data, reading)  # the next step reads the edited file
    return result


def same_document(one: Any, other: Any) -> bool:
    """Whether two documents are equal, types included (``1``, ``1.0`` and ``true`` differ)."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(
            same_document(one[key], other[key]) for key in one
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same_document, one, other))
    return bool(one == other)


def _encoded(text: str, file: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise in_file(file, value=one_line(text)).invalid(
            "the text is not Unicode", "read it as UTF-8"
        ) from error


def _reading(data: bytes, file: str) -> ParsedYaml:
    reading = read_yaml(data, file=file, limit=GOAL_LIMIT)
    if reading.faults:
        raise ContractError(reading.faults)
    return reading


def _refused(file: str, changes: Sequence[tuple[Path, Any]]) -> RefusedError:
    return in_file(file, ", ".join(dotted_path(path) for path, _ in changes[:8])).refused(
        "its layout cannot be edited safely",
        "write that part of the file in plain block style, then try again",
        code="cannot_edit",
    )


# The intended document ------------------------------------------------------------------


def _changed(document: Any, changes: Sequence[tuple[Path, Any]], file: str) -> Any:
    wanted = _deep_copy(document)
    for path, value in changes:
        if not path:
            raise in_file(file).invalid("a change needs a path", "name a key")
        holder = wanted
        dump.plain_types({step: None for step in path if isinstance(step, str)})
        for place, step in enumerate(path[:-1]):
            inner = _value_at(holder, step, path[: place + 1], file)
            if inner is None:
                if value is DELETE:
                    break
                inner = {} if isinstance(path[place + 1], str) else []
                _set_value(holder, step, inner)
            holder = inner
        else:
            _value_at(holder, path[-1], path, file)
            if value is DELETE:
                if isinstance(holder, dict):
                    holder.pop(path[-1], None)
                else:
                    raise in_file(file, dotted_path(path)).invalid(
                        "an entry of a list cannot be taken out by itself", "give the whole list"
                    )
            else:
                _set_value(holder, path[-1], dump.plain_types(value))
    return wanted


def _deep_copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _deep_copy(item) for key, item in value.items()}
    return [_deep_copy(item) for item in value] if isinstance(value, list) else value


def _value_at(holder: Any, step: str | int, path: Path, file: str) -> Any:
    """The value at ``step``, or None; raises :class:`InputError` if none can be there."""
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int) and 0 <= step <= len(holder):
        return holder[step] if step < len(holder) else None
    raise in_file(file, dotted_path(path)).invalid(
        f"nothing can be set there: {dotted_path(path[:-1]) or 'the file'} is {one_line(holder)}",
        "name a key of a mapping, or a place in a list",
    )


def _set_value(holder: Any, step: Any, value: Any) -> None:
    if isinstance(holder, list) and step == len(holder):
        holder.append(value)
    else:
        holder[step] = value


def _left_out(old: list[Any], new: list[Any]) -> list[bool]:
    """For each entry of ``old`` whether ``new`` lacks it, if the others keep their order."""
    place, gone = 0, []
    for entry in old:
        stays = place < len(new) and same_document(entry, new[place])
        place += stays
        gone.append(not stays)
    return gone


def _is_deep_comment(text: str) -> bool:
    r"""Whether an indented comment comes next: ``(?: *\r?\n)* +#``; a lone ``\r`` counts not."""
    content = text.lstrip(" \r\n")
    return content.startswith("#") and text[: -len(content)].endswith(" ")


class _Editor:
    """Collects replacements for the places where two documents differ, and makes them."""

    def __init__(self, text: str, root: YamlNode) -> None:
        self.text = text
        self.root = root
        self.splices: list[tuple[int, int, str]] = []
        self.newline = "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"

    def run(self, old: Any, new: Any) -> str:
        self.reconcile(self.root, old, new, None)
        parts: list[str] = []
        position = 0
        # Equal places keep their order: edits inside a value were noted before later ones.
        for start, end, replacement in sorted(self.splices, key=lambda splice: splice[:2]):
            if start < position:
                return ""  # they overlap; the caller refuses a text that does not read as intended
            parts += [self.text[position:start], replacement]
            position = end
        return "".join([*parts, self.text[position:]])

    def splice(self, start: int, end: int, replacement: str) -> None:
        self.splices.append((start, end, replacement))

    # -- places in the text

    def line_end(self, position: int) -> int:
        """The place where the line of ``position`` ends, before its line break."""
        newline = self.text.find("\n", position)
        if newline < 0:
            return len(self.text)
        return (
            newline - 1
            if self.text[newline - 1 : newline] == "\r" and newline > position
            else newline
        )

    def line_start(self, position: int) -> int:
        return self.text.rfind("\n", 0, position) + 1

    def after(self, node: YamlNode) -> int:
        """The place for a new line after ``node``: the start of a line, or the text's end."""
        leaf = node.leaf
        if not leaf.is_literal:
            newline = self.text.find("\n", leaf.end)
            return len(self.text) if newline < 0 else newline + 1
        end = leaf.end
        if end == len(self.text) and not self.text.endswith("\n"):
            return end
        # The parser may end a block scalar after the spaces of the next line.
        end = self.line_start(end)
        while not leaf.keep:
            # Blank lines after it are not its own; longer ones than the indentation could be.
            before = self.line_start(end - 1)
            line = self.text[before:end]
            if before <= leaf.start or line.strip() or len(line.rstrip("\r\n")) > node.column:
                break
            end = before
        return end

    def tail(self, node: YamlNode) -> int:
        """The end of ``node``'s last line, comment included and line break not."""
        if not node.leaf.is_literal:
            return self.line_end(node.leaf.end)
        after = self.after(node)
        text = self.text[:after]
        return after - 2 if text.endswith("\r\n") else after - 1 if text.endswith("\n") else after

    def value_end(self, node: YamlNode) -> int:
        """The end of ``node``'s own characters."""
        return self.tail(node) if node.leaf.is_literal else node.leaf.end

    # -- differences

    def reconcile(self, node: YamlNode, old: Any, new: Any, key: YamlNode | None) -> None:
        if same_document(old, new):
            return
        if isinstance(old, dict) and isinstance(new, dict) and old.keys() & new.keys():
            self.reconcile_mapping(node, old, new)
        elif isinstance(old, list) and isinstance(new, list) and 0 < len(old) <= len(new):
            for (_, item), before, now in zip(node.entries, old, new, strict=False):
                self.reconcile(item, before, now, None)
            self.add(node, new[len(old) :])
        elif isinstance(old, list) and isinstance(new, list) and self.can_remove(node, old, new):
            self.remove(_left_out(old, new), node)
        else:
            self.replace(node, new, key)

    def reconcile_mapping(self, node: YamlNode, old: dict[str, Any], new: dict[str, Any]) -> None:
        kept: YamlNode | None = None
        for key, value in node.entries:
            if key is not None and key.value in new:
                self.reconcile(value, old[key.value], new[key.value], key)
                kept = value
        self.remove([key is not None and key.value not in new for key, _ in node.entries], node)
        added = {name: value for name, value in new.items() if name not in old}
        if added and kept is not None:
            self.add(node, added, kept)

    def can_remove(self, node: YamlNode, old: list[Any], new: list[Any]) -> bool:
        """Whether ``new`` is ``old`` less some entries, each of which begins a line of its own."""
        if not new or len(old) - sum(_left_out(old, new)) != len(new):
            return False
        starts = [self.entry_start(entry, node) for entry in node.entries]
        return node.is_flow or all(
            self.text[start : start + 1] == "-"
            and not self.text[self.line_start(start) : start].strip()
            for start in starts
        )

    def remove(self, gone: list[bool], node: YamlNode) -> None:
        """Take out the marked entries of a mapping or a list that keeps at least one."""
        entries = node.entries
        place = 0
        while place < len(gone):
            if not gone[place]:
                place += 1
                continue
            last = place
            while last + 1 < len(gone) and gone[last + 1]:
                last += 1
            start, value = self.entry_start(entries[place], node), entries[last][1]
            if node.is_flow:
                if place:
                    self.splice(entries[place - 1][1].end, value.end, "")
                else:
                    self.splice(start, self.entry_start(entries[last + 1], node), "")
            elif self.text[self.line_start(start) : start].strip():
                # The first key of a list's item: the next key moves up to the dash.
                self.splice(start, self.entry_start(entries[last + 1], node), "")
            else:
                self.splice(self.line_start(start), self.after(value), "")
            place = last + 1

    def entry_start(self, entry: Entry, holder: YamlNode) -> int:
        """The start of an entry: its key, or in a block list its dash."""
        key, value = entry
        if key is not None:
            return key.start
        start = value.start
        if holder.kind == "sequence" and holder.is_block:
            while self.text[start - 1 : start].isspace():
                start -= 1
            if self.text[start - 1 : start] == "-":
                return start - 1
        return value.start

    def add(self, node: YamlNode, added: Any, last: YamlNode | None = None) -> None:
        """Put new entries after ``last`` (default: the last entry)."""
        if not added:
            return
        last = last or node.entries[-1][1]
        if node.is_flow:
            inner = dump.flow(added)[1:-1]
            self.splice(last.end, last.end, f", {inner}")
        else:
            self.insert_lines(last, self.block(added, node.column, self.after(last)))

    def insert_lines(self, last: YamlNode, lines: list[str]) -> None:
        """Insert whole lines after ``last``."""
        after = self.after(last)
        block = self.newline.join(lines)
        if after == len(self.text) and not self.text.endswith("\n"):
            self.close_literal(last.leaf)
            self.splice(after, after, self.newline + block)
        else:
            self.splice(after, after, block + self.newline)

    def close_literal(self, leaf: YamlNode) -> None:
        """Mark a block scalar that ends the file without a line break, before a line follows it."""
        replaced = any(start <= leaf.start < end for start, end, _ in self.splices)
        if replaced or not leaf.is_literal:
            return
        end = self.header_end(leaf)
        header = self.text[leaf.start : end].replace("+", "").replace("-", "")
        self.splice(leaf.start, end, header if leaf.value.endswith("\n") else f"{header}-")

    def header_end(self, leaf: YamlNode) -> int:
        """The end of a block scalar's indicators (``|2-``); a comment may follow."""
        end = leaf.start + 1
        while self.text[end : end + 1] in ("+", "-", *"123456789"):
            end += 1
        return end

    def splice_value(self, start: int, node: YamlNode, text: str) -> None:
        """Put ``text`` for all from ``start`` to the value's end, less a header's comment."""
        end = self.value_end(node)
        header = self.header_end(node.leaf) if node.leaf.is_literal else end
        rest = self.line_end(header) if header < end else end
        if self.text[header:rest].strip():
            self.splice(start, header, text)
            self.splice(rest, end, "")
        else:
            self.splice(start, end, text)

    def block(self, value: Any, column: int, following: int) -> list[str]:
        """The lines of a new value. A comment further in would become part of a literal."""
        literals = not _is_deep_comment(self.text[following:])
        return dump.block(value, " " * column, literals=literals)

    # -- a value replaced by another

    def replace(self, node: YamlNode, new: Any, key: YamlNode | None) -> None:
        grows = isinstance(new, (dict, list)) and bool(new)
        if grows and key is not None and not node.in_flow:
            self.outline(node, self.block(new, key.column + 2, self.after(node)), key)
        elif node.is_block and key is not None:
            colon = self.colon(key, node)
            self.splice(colon, colon, f" {dump.flow(new)}")
            self.splice(self.line_end(colon), self.tail(node), "")
        elif isinstance(new, (dict, list)):
            self.inline(node, dump.flow(new))
        else:
            self.inline(node, dump.scalar(new, inside=node.in_flow, style=node.style))

    def inline(self, node: YamlNode, text: str) -> None:
        """Put ``text`` where the value's characters are, on one line."""
        end = self.value_end(node)
        if node.start == end:
            before = self.text[node.start - 1 : node.start]
            text = text if before.isspace() else f" {text}" if before in (":", "-") else f": {text}"
        self.splice_value(node.start, node, text)

    def outline(self, node: YamlNode, lines: list[str], key: YamlNode) -> None:
        """Replace the value by indented lines below its key."""
        colon = self.colon(key, node)
        block = self.newline + self.newline.join(lines)
        if self.text.find("\n", colon, node.start) >= 0:
            self.splice(self.line_end(colon), self.tail(node), block)
        else:
            self.splice_value(colon, node, "")
            tail = self.tail(node)
            self.splice(tail, tail, block)

    def colon(self, key: YamlNode, value: YamlNode) -> int:
        """The place after the colon between a key and its value."""
        colon = self.text.find(":", key.end, value.start)
        return colon + 1 if colon >= 0 else value.start
