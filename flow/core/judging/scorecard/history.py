"""Stored cards: their files' names, reading one back, means and changes (SPEC 9.3).

Anybody can write to the folder of stored cards. So only numbers and times are read from a card, and
the card itself must name this skill: two skills may have the same file name.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal

from flow.core.judging.common.question import Unusable
from flow.core.judging.scorecard.model import COMPARED, NAMES, composite, grade, stored, tenths
from flow.core.text.display import visible
from flow.errors import at_key
from flow.startup.json import object_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

UNKNOWN = "unknown"
"""The skill of an execution that does not name its skill. Such cards are compared with nothing."""
SKILL_LIMIT = 200
"""Characters of a skill's name."""
_FILE_LIMIT = 100
_COMMAND = re.compile(r"\s*/([A-Za-z][A-Za-z0-9_:.-]{0,99})(?=\s|$)")
_HOSTS_OWN = (
    "clear",
    "compact",
    "cost",
    "exit",
    "help",
    "login",
    "logout",
    "model",
    "quit",
    "resume",
)
_FILE = re.compile(r"(.+)-(\d{8})-(\d{6})(?:-([1-9]\d{0,5}))?\.json", re.ASCII | re.DOTALL)


class CardFile(NamedTuple):
    """The name of a card's file. ``number`` is 1 for the first of a second."""

    name: str
    stem: str
    stamp: str
    number: int


class PastCard(NamedTuple):
    """The values that are read back from a stored card."""

    file: str
    timestamp: str
    composite: Decimal
    grade: str
    scores: Mapping[str, Decimal]
    execution: str | None
    remark: str = ""
    """A doubt about it, although it counts; empty if there is none."""

    def to_document(self) -> dict[str, Any]:
        """The card as ``flow judge history --json`` prints it."""
        return {
            "file": self.file,
            "timestamp": self.timestamp,
            "composite": float(self.composite),
            "grade": self.grade,
            "scores": {name: float(score) for name, score in self.scores.items()},
        }


def skill_name(text: str) -> str:
    """A skill's name for cards: one printable line, without the slash of a command."""
    name = visible(text.strip().removeprefix("/").strip())
    if not name or len(name) > SKILL_LIMIT:
        raise at_key("skill", name[:60]).invalid(
            f"{name[:60]!r} is not a skill's name",
            f"give the skill or agent that ran, in at most {SKILL_LIMIT} characters",
        )
    return name


def commanded_skill(prompts: Sequence[str]) -> str | None:
    """The skill of the last slash command in ``prompts``; None if there is none.

    For saved texts, which name their skill in no other way. Commands that the host answers itself
    are no skills.
    """
    for prompt in reversed(prompts):
        match = _COMMAND.match(prompt)
        if match is not None and match[1] not in _HOSTS_OWN:
            return match[1]
    return None


def file_stem(skill: str) -> str:
    """``skill`` made safe for a file's name: ASCII letters, digits, ``_``, ``.`` and ``-``."""
    safe = re.sub(r"[^A-Za-z0-9_.-]+", "-", skill)
    safe = re.sub(r"\.{2,}", ".", re.sub(r"-{2,}", "-", safe))
    return safe[:_FILE_LIMIT].strip("-.") or "skill"


def file_name(skill: str, timestamp: str, number: int = 1) -> str:
    """``<skill>-<YYYYMMDD-HHMMSS>.json``; ``timestamp`` is ``YYYY-MM-DDTHH:MM:SSZ``."""
    again = "" if number == 1 else f"-{number}"
    return f"{file_stem(skill)}-{stamp(timestamp)}{again}.json"


def stamp(timestamp: str) -> str:
    """``YYYYMMDD-HHMMSS`` of a time."""
    return timestamp.rstrip("Z").replace("-", "").replace(":", "").replace("T", "-")


def read_name(name: str) -> CardFile | None:
    """The card file with this name; None if it is no card's name."""
    match = _FILE.fullmatch(name)
    if match is None:
        return None
    stem, day, time, number = match.groups()
    return CardFile(name, stem, f"{day}-{time}", int(number or 1))


def same_skill(name: str, other: str) -> bool:
    """Whether two names are of one skill: the same, or one lacks the prefix of its plugin."""
    if (":" in name) == (":" in other):
        return name == other
    return name.rpartition(":")[2] == other.rpartition(":")[2]


def named_as(file: CardFile, skill: str) -> bool:
    """Whether the file's name is that of a card of ``skill``, with its prefix or without."""
    return file.stem in (file_stem(skill), file_stem(skill.rpartition(":")[2]))


def newest_first(names: Sequence[str], skill: str) -> list[CardFile]:
    """The files whose names fit cards of ``skill`` (:func:`same_skill`)."""
    end = None if ":" in skill else f"-{file_stem(skill)}"
    files = [
        file
        for name in names
        if (file := read_name(name)) is not None
        and (named_as(file, skill) or (end is not None and file.stem.endswith(end)))
    ]
    return sorted(files, key=lambda file: (file.stamp, file.number), reverse=True)


def read_card(document: Any, file: CardFile, skill: str) -> PastCard | Unusable | None:
    """A stored card, or why it is none; None if it is another skill's.

    ``document`` is any JSON value. Only its skill and the seven scores are used: composite and
    grade are computed anew from them.
    """
    if not isinstance(document, dict) or not isinstance(document.get("skill"), str):
        return Unusable("is not a scorecard (flow schema scorecard)")
    if not same_skill(document["skill"], skill):
        return None
    scores: dict[str, Decimal] = {}
    rows = object_of(document.get("dimensions"))
    for name in NAMES:
        row = rows.get(name)
        score = tenths(row.get("score")) if isinstance(row, dict) else Unusable("is missing")
        if isinstance(score, Unusable):
            return Unusable(f"is not a scorecard: {name}: {score.reason}")
        scores[name] = score
    exact = composite(scores)
    execution = document.get("execution")
    return PastCard(
        file.name,
        _time(document.get("timestamp"), file.stamp),
        stored(exact),
        grade(exact),
        scores,
        execution if isinstance(execution, str) else None,
        _remark(document, exact),
    )


def _remark(document: dict[str, Any], exact: Decimal) -> str:
    """A doubt about a card whose composite or grade is not that of its scores; else empty."""
    written = document.get("composite"), document.get("grade")
    if written == (float(stored(exact)), grade(exact)):
        return ""
    shown = visible(f"{written[0]} ({written[1]})")[:60]
    return f"says {shown}; its scores make {stored(exact)} ({grade(exact)}), which counts"


def _time(written: object, stamp: str) -> str:
    """The card's own time; if it is not as Flow writes it, that of the file's name."""
    if isinstance(written, str) and re.fullmatch(
        r"\d{4}(-\d\d){2}T\d\d(:\d\d){2}Z", written, re.ASCII
    ):
        return written
    day, time = stamp.split("-")
    return f"{day[:4]}-{day[4:6]}-{day[6:]}T{time[:2]}:{time[2:4]}:{time[4:]}Z"


class Mean(NamedTuple):
    """The mean of the newest cards, each at two decimals; ``cards`` is their number."""

    cards: int
    composite: Decimal
    scores: Mapping[str, Decimal]


def mean(newest: Sequence[PastCard]) -> Mean | None:
    """The mean of the last five of ``newest`` (newest first); None if there are none."""
    cards = newest[:COMPARED]
    if not cards:
        return None
    scores = {name: _mean([card.scores[name] for card in cards]) for name in NAMES}
    return Mean(len(cards), _mean([card.composite for card in cards]), scores)


def _mean(values: Sequence[Decimal]) -> Decimal:
    return (sum(values, Decimal(0)) / len(values)).quantize(Decimal("0.01"), ROUND_HALF_UP)


def mean_text(mean: Mean) -> str:
    """The mean in words: only numbers and Flow's own words, so it needs no fence."""
    cards = "its last scorecard" if mean.cards == 1 else f"its last {mean.cards} scorecards"
    rows = ", ".join(f"{name} {score}" for name, score in mean.scores.items())
    return f"Mean of {cards}: composite {mean.composite}; {rows}."


def trend(cards: Sequence[PastCard]) -> dict[str, Any]:
    """Changes over ``cards`` (newest first): since the oldest of them, and since the previous one.

    A difference is None if there is nothing to compare with.
    """
    last = cards[0] if cards else None
    first = cards[-1] if len(cards) > 1 else None
    before = cards[1] if len(cards) > 1 else None

    def change(of: PastCard | None, name: str | None) -> float | None:
        if last is None or of is None:
            return None
        if name is None:
            return float(last.composite - of.composite)
        return float(last.scores[name] - of.scores[name])

    return {
        "composite": {"since_first": change(first, None), "since_previous": change(before, None)},
        "dimensions": {
            name: {"since_first": change(first, name), "since_previous": change(before, name)}
            for name in NAMES
        },
    }
