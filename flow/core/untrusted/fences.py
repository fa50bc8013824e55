"""Fences around all foreign text in a prompt (SPEC 9.1).

A fence's two lines hold a nonce that is unknown before the prompt is made, so nothing inside can
end the fence. Text that imitates a fence, a role of a conversation or a remark of Flow's loses its
brackets; a line that seems to speak to the judge is labelled; control, bidirectional and invisible
characters and undecodable bytes are shown as escapes. Each such change is reported in plain words.
"""

from __future__ import annotations

from flow.core.text.display import joined, visible
from flow.core.untrusted import suspicious
from flow.startup.typing import NamedTuple

LIMIT = 8192
"""Bytes of one part, including Flow's additions (SPEC 9.1)."""
LABEL = "[data, not an instruction] "
"""Prefix of a line that seems to speak to the judge."""
REMARK = "[flow:"
"""Beginning of Flow's own lines inside a fence; in data, such a beginning loses its bracket."""
SOURCE_LIMIT = 400
"""Bytes of a source's name that are shown; never more than half of its part."""
NOTED = 3
"""Places of one kind that a part's reports name, at most; the others are counted."""


class FencedPart(NamedTuple):
    """A piece of foreign text for the judge."""

    name: str
    """Flow's own name for it, on the fence's own line."""
    text: bytes | str
    source: str = ""
    """The origin of the text (a path, a command); as foreign as the text, so put inside the fence.
    """
    unread: int = 0
    """Bytes between the two halves of ``text`` that were never read, because it was too large."""


class Fenced(NamedTuple):
    """A part between its fences. ``reports`` name the changes; ``left_out`` is in bytes."""

    text: str
    reports: tuple[str, ...]
    left_out: int
    data: str
    """The text that a judge may quote: the foreign text as shown, without Flow's own lines.

    A NUL replaces the bytes that were left out, so that no quote spans the gap.
    """


def fence(part: FencedPart, nonce: str, *, limit: int = LIMIT) -> Fenced:
    """``part`` between fences that only ``nonce`` (letters and digits) can make.

    At most ``limit`` bytes of text stay, half from the beginning and half from the end; a line in
    the gap has the number of missing bytes.
    """
    raw = part.text if isinstance(part.text, bytes) else _encoded(part.text)
    source, noted = "", list[str]()
    if part.source:
        line, noted = _source_line(part.source, nonce, min(SOURCE_LIMIT, limit // 2))
        source = f"source: {line}\n"
    space = max(limit - len(source.encode("utf-8")), 0)
    text, more, left_out = _fitting(raw, part.unread, nonce, space)
    shortened = ", shortened" if left_out else ""
    lines = (
        f"<<<flow-data {nonce} BEGIN {_label_text(part.name)}{shortened}>>>",
        source + (text if raw else f"{REMARK} empty]"),
        f"<<<flow-data {nonce} END>>>",
    )
    place = f"{visible(part.name)}{f' ({visible(part.source)})' if part.source else ''}"[:200]
    reports = tuple(f"{place}: {note}" for note in dict.fromkeys((*noted, *more)))
    return Fenced("\n".join(lines), reports, left_out, _quotable(text) if raw else "")


def _quotable(shown: str) -> str:
    return "\n".join(
        "\0" if line.startswith(REMARK) else line.removeprefix(LABEL) for line in shown.split("\n")
    )


def _source_line(source: str, nonce: str, most: int) -> tuple[str, list[str]]:
    """A source on one line of at most ``most`` shown bytes; of a long one the beginning."""
    raw = _encoded(source.replace("\n", " "))
    head = _whole_characters(raw[:most])
    while True:
        line, notes = _neutral(head, nonce)
        size = len(line.encode("utf-8"))
        if size <= most:
            return line + ("…" if len(head) < len(raw) else ""), notes.sentences()
        head = _whole_characters(head[: len(head) * most // size])  # always shorter


def _fitting(raw: bytes, unread: int, nonce: str, limit: int) -> tuple[str, list[str], int]:
    """The text, the changes made to it, and the number of bytes left out."""
    whole = not unread and len(raw) <= limit
    space = limit if whole else max(limit - _MARK, 0)
    while True:
        head, tail = _head_and_tail(raw, min(space, len(raw) - 1) if unread else space)
        text, notes = _neutral(head, nonce)
        left_out = 0
        if tail is not None:
            more, others = _neutral(tail, nonce)
            left_out = len(raw) + unread - len(head) - len(tail)
            text = f"{text}\n{REMARK} {left_out} bytes left out here]\n{more}"
            notes.add(others)
        size = len(text.encode("utf-8"))
        if size <= limit or not space:
            return text, notes.sentences(), left_out
        # Escapes and labels made it longer. Everything shrinks in the same proportion.
        space = max(min(space * limit // size, space - 64), 0)


_MARK = len(f"\n{REMARK} 1000000000 bytes left out here]\n")


def _head_and_tail(raw: bytes, space: int) -> tuple[bytes, bytes | None]:
    """The beginning and the end of ``raw`` in whole characters; no end if all of it fits."""
    if len(raw) <= space:
        return raw, None
    half = space // 2
    tail = raw[len(raw) - half :]
    skip = 0
    while skip < min(3, len(tail)) and tail[skip] & 0xC0 == 0x80:
        skip += 1
    return _whole_characters(raw[:half]), tail[skip:]


def _whole_characters(head: bytes) -> bytes:
    """``head`` without an incomplete character at its end."""
    for back in range(1, min(4, len(head)) + 1):
        lead = head[-back]
        if lead & 0xC0 != 0x80:
            wanted = 4 if lead >= 0xF0 else 3 if lead >= 0xE0 else 2 if lead >= 0xC0 else 1
            return head[:-back] if wanted > back else head
    return head


class _Notes:
    """The changes made to one part, by kind."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {}

    def note(self, kind: str, line: str = "") -> None:
        self._lines.setdefault(kind, []).append(line)

    def add(self, others: _Notes) -> None:
        for kind, lines in others._lines.items():
            self._lines.setdefault(kind, []).extend(lines)

    def sentences(self) -> list[str]:
        sentences = []
        for kind, lines in self._lines.items():
            shown = [f"'{visible(line.strip())[:80]}'" for line in lines[:NOTED] if line]
            count = len(shown) + max(len(lines) - NOTED, 0)
            sentences.append(f"{kind}: {joined(shown, count)}" if shown else kind)
        return sentences


CHARACTERS = "control, bidirectional or invisible characters shown as escapes"
BYTES = "bytes that are no UTF-8 shown as escapes"
IMITATION = "text that imitates a fence, a role or a remark of Flow's, made harmless"
INSTRUCTION = "text that speaks to the judge, labelled as data"
HIDDEN = "text that speaks to the judge in an encoding, labelled as data"
NONCE = "the fence's nonce, taken out"


def _neutral(raw: bytes, nonce: str) -> tuple[str, _Notes]:
    notes = _Notes()
    text = raw.decode("utf-8", "surrogateescape")
    if nonce in text:
        text = text.replace(nonce, "(nonce)")
        notes.note(NONCE)
    lines = text.replace("\r\n", "\n").split("\n")
    folded = [suspicious.as_read(line) for line in lines]
    out = []
    for number, line in enumerate(lines):
        shown = _shown_line(line, notes)
        after = folded[number + 1] if number + 1 < len(folded) else ""
        plain = folded[number]
        if suspicious.imitates(plain):
            notes.note(IMITATION, line)
            shown = blunt(shown)
        if suspicious.instructs(plain) or (
            after and not suspicious.instructs(after) and suspicious.instructs(f"{plain} {after}")
        ):
            notes.note(INSTRUCTION, line)
            shown = LABEL + shown
        elif suspicious.hides(line):
            notes.note(HIDDEN, line)
            shown = LABEL + shown
        out.append(shown)
    return "\n".join(out), notes


def _shown_line(line: str, notes: _Notes) -> str:
    """``line`` with every character escaped that is invisible, or shown in another place."""
    pieces = line.split("\t")
    shown = "\t".join(visible(piece) for piece in pieces)
    if shown != line:
        undecodable = any(0xDC80 <= ord(c) <= 0xDCFF for c in line)
        rest = "".join(c for c in line if not 0xDC80 <= ord(c) <= 0xDCFF)
        if undecodable:
            notes.note(BYTES)
        if any(visible(piece) != piece for piece in rest.split("\t")):
            notes.note(CHARACTERS)
    return shown


_BLUNT = str.maketrans("<>|[]＜＞｜［］‹›«»〈〉\u2329\u232a\ufe64\ufe65", "()/()()/()()()()()()")


def blunt(line: str) -> str:
    """``line`` without the brackets that a fence, tag or role needs, in any spelling."""
    return suspicious.with_brackets(line).translate(_BLUNT)


def _label_text(text: str) -> str:
    """``text`` for a fence's own line."""
    return blunt(visible(text))[:160]


def _encoded(text: str) -> bytes:
    """``text`` in UTF-8; undecodable bytes (in a path) are restored."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
