"""The layout of a transcript for a judge, within a budget (SPEC 9.3).

If cutting long texts is enough, all entries are shown. Else the requests, the end, destructive
actions and errors come first, then as much as fits from the beginning and from the end. Each gap
has a line with its count. Only Flow's own lines begin at the margin: the transcript's are indented,
so that none of them can imitate another entry.
"""

from __future__ import annotations

from collections import Counter

from flow.core.text.display import visible
from flow.core.transcript.model import LaidOutTranscript, Transcript, TranscriptEntry
from flow.core.transcript.pending import cut_middle
from flow.core.untrusted.fences import LIMIT, FencedPart
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


PART = LIMIT - 512
"""Bytes of one part: less than a fence holds, since escapes make a text longer."""
CAPS = (8192, 4096, 2048, 1024, 512)
"""Characters of one text, tried in this order."""
LEAST = 240
"""Characters of one text if even the important entries are too many."""
_GAP = 120
"""Bytes of the line for one gap."""
_MOST_GAPS = 40


class _Block(NamedTuple):
    """An entry's shown text, and the bytes left out of it."""

    text: str
    left_out: int

    @property
    def size(self) -> int:
        return _size(self.text) + 1


def lay_out(transcript: Transcript, *, limit: int) -> LaidOutTranscript:
    """Lay out a transcript for a judge in at most ``limit`` bytes.

    The beginning, the end, requests, errors and destructive actions stay; gaps are counted in their
    place. Each part is short enough for a fence of the usual size.
    """
    entries = transcript.entries
    retries = _retries(entries)
    shown = _chosen_blocks(entries, retries, limit - min(_GAP * _MOST_GAPS, limit // 8))
    lines: list[str] = []
    left_out = left_entries = 0
    gap: list[TranscriptEntry] = []
    for number, entry in enumerate(entries):
        block = shown.get(number)
        if block is None:
            gap.append(entry)
            left_out += _entry_size(entry)
            left_entries += 1
            continue
        if gap:
            lines.append(_gap_line(gap))
            gap = []
        lines.append(block.text)
        left_out += block.left_out
    if gap:
        lines.append(_gap_line(gap))
    parts = _fence_parts(lines, limit)
    summary = {**_summary(entries, retries), "left_out_entries": left_entries}
    return LaidOutTranscript(parts, left_out, summary)


def _summary(entries: Sequence[TranscriptEntry], retries: frozenset[int]) -> dict[str, int]:
    kinds = Counter(entry.kind for entry in entries)
    return {
        "prompts": sum(1 for e in entries if e.kind == "prompt" and e.tool is None),
        "texts": kinds["text"],
        "tool_calls": kinds["tool"],
        "errors": sum(1 for entry in entries if entry.failed),
        "retries": len(retries),
        "destructive": sum(1 for entry in entries if entry.destructive),
        "notes": kinds["note"],
    }


def _retries(entries: Sequence[TranscriptEntry]) -> frozenset[int]:
    """Calls of a tool after a failed call of the same tool."""
    failed: dict[str, bool] = {}
    numbers = set()
    for number, entry in enumerate(entries):
        if entry.kind == "tool" and entry.tool is not None:
            if failed.get(entry.tool):
                numbers.add(number)
            failed[entry.tool] = entry.failed
    return frozenset(numbers)


def _chosen_blocks(
    entries: Sequence[TranscriptEntry], retries: frozenset[int], budget: int
) -> dict[int, _Block]:
    """The shown entries by their index, in at most ``budget`` bytes."""
    for cap in CAPS:
        whole: dict[int, _Block] = {}
        size = 0
        for number, entry in enumerate(entries):
            block = whole[number] = _entry_block(number, entry, number in retries, cap)
            size += block.size
            if size > budget:
                break  # the following entries
        else:
            return whole
    chosen: dict[int, _Block] = {}
    remaining = budget
    first = _first_entries(entries)
    for share, numbers in ((0.7, _important(entries, first)), (1.0, _outer_order(len(entries)))):
        reserve = budget * (1 - share)
        for number in numbers:
            if number in chosen:
                continue
            cap = CAPS[-1] if remaining > budget // 2 else LEAST
            if number in first:
                cap = min(max(cap, budget // 12), CAPS[0])
            block = _entry_block(number, entries[number], number in retries, cap)
            if remaining - block.size < reserve:
                if share == 1.0:
                    break
                continue
            chosen[number] = block
            remaining -= block.size
    return chosen


def _first_entries(entries: Sequence[TranscriptEntry]) -> list[int]:
    """The entries shown at length: the request, the instructions, the last words."""
    places = range(len(entries))
    prompts = [n for n in places if entries[n].kind == "prompt"]
    words = [n for n in places if entries[n].kind == "text"]
    return [*prompts[:2], *words[-1:]]


def _important(entries: Sequence[TranscriptEntry], first: Sequence[int]) -> list[int]:
    """The entries that always stay: the first ones, both ends, destruction, errors, requests."""
    places = range(len(entries))
    prompts = [n for n in places if entries[n].kind == "prompt"]
    destructive = [n for n in places if entries[n].destructive]
    failed = [n for n in reversed(places) if entries[n].failed]
    ends = [0, len(entries) - 1] if entries else []
    return list(dict.fromkeys([*first, *ends, *destructive, *failed, *prompts]))


def _outer_order(count: int) -> Iterable[int]:
    """First, last, second, last but one, ..."""
    for step in range((count + 1) // 2):
        yield step
        if count - 1 - step != step:
            yield count - 1 - step


def _entry_block(number: int, entry: TranscriptEntry, is_retry: bool, cap: int) -> _Block:
    """An entry under its heading."""
    remarks = [
        *(["again after a failure"] if is_retry else []),
        *(["DESTRUCTIVE"] if entry.destructive else []),
        *(["FAILED"] if entry.failed else []),
    ]
    tail = f" ({', '.join(remarks)})" if remarks else ""
    text = cut_middle(entry.text, cap)
    lines = [f"({number + 1}) {_heading(entry)}{tail}", _indented(text)]
    left_out = _size(entry.text) - _size(text)
    if entry.kind == "tool":
        if entry.result is None:
            lines.append("  ... no result is recorded")
        elif not entry.result.strip():
            lines.append("  ... which gave no output")
        else:
            result = cut_middle(entry.result, cap)
            left_out += _size(entry.result) - _size(result)
            lines += ["  ... which gave:", _indented(result, "    ")]
    return _Block("\n".join(filter(None, lines)), left_out)


def _heading(entry: TranscriptEntry) -> str:
    tool = visible(entry.tool or "")[:120]
    if entry.kind == "prompt":
        return f"what was put in as {tool}" if tool else "what was asked"
    if entry.kind == "text":
        return "what the agent said"
    if entry.kind == "tool":
        return f"a call of {tool}"
    return "an error of the session" if entry.kind == "error" else "about the session"


def _indented(text: str, by: str = "  ") -> str:
    return "\n".join(by + line for line in text.splitlines()) if text.strip() else ""


def _size(text: str) -> int:
    """The text's bytes in UTF-8."""
    return len(text.encode("utf-8", "replace"))


def _entry_size(entry: TranscriptEntry) -> int:
    return len((entry.text + (entry.result or "")).encode("utf-8", "replace"))


def _gap_line(gap: Sequence[TranscriptEntry]) -> str:
    kinds = Counter(entry.kind for entry in gap)
    failed = sum(1 for entry in gap if entry.failed)
    counts = [
        f"{count} {label}"
        for count, label in (
            (kinds["tool"], "calls"),
            (kinds["text"], "texts"),
            (kinds["prompt"], "requests"),
            (kinds["note"] + kinds["error"], "others"),
            (failed, "of them failed"),
        )
        if count
    ]
    return f"(left out here: {', '.join(counts)}; {sum(map(_entry_size, gap))} bytes)"


def _fence_parts(lines: Sequence[str], limit: int) -> tuple[FencedPart, ...]:
    """The lines in parts that a fence can hold, at most ``limit`` bytes in all."""
    chunks: list[str] = []
    current: list[str] = []
    size = 0
    for line in lines:
        for piece in _block_pieces(line):
            more = _size(piece) + 1
            if current and size + more > PART:
                chunks.append("\n".join(current))
                current, size = [], 0
            current.append(piece)
            size += more
    if current:
        chunks.append("\n".join(current))
    texts, remaining = [], limit
    for chunk in chunks:  # only a very small limit cuts here
        data = chunk.encode("utf-8", "replace")[: max(remaining, 0)]
        remaining -= len(data)
        if data:
            texts.append(data.decode("utf-8", "ignore"))
    if len(texts) < 2:
        return tuple(FencedPart("transcript", text) for text in texts)
    return tuple(
        FencedPart(f"transcript, part {number} of {len(texts)}", text)
        for number, text in enumerate(texts, 1)
    )


def _block_pieces(block: str) -> Iterable[str]:
    """A block's lines together, or in pieces if it is longer than a part."""
    if _size(block) < PART:
        yield block
        return
    for line in block.split("\n"):
        data = line.encode("utf-8", "replace")
        while len(data) >= PART:
            piece = data[: PART - 8].decode("utf-8", "ignore")
            yield piece
            data = b"    " + data[len(piece.encode("utf-8")) :]
        yield data.decode("utf-8")
