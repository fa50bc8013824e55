"""Reading a reply: what every kind of question checks in the same way.

A reply is as hostile as what is judged: what is not the asked-for shape is no answer at all.
"""

from __future__ import annotations

from flow.core.judging.common.numbers import within
from flow.core.judging.common.question import Unusable
from flow.core.text.display import clip, names, visible
from flow.core.untrusted import suspicious
from flow.core.untrusted.fences import blunt
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeGuard

FAULTS_SHOWN = 5


class Scale(NamedTuple):
    """The scores that a judge may give, both ends included."""

    least: int
    most: int
    text: str
    """As the judge is told it."""

    def fault(self, score: object) -> str:
        """Why ``score`` is none on it; empty where it is one."""
        if not isinstance(score, int | float) or isinstance(score, bool):
            return "its score is no number"
        on_it = within(score, self.least, self.most)
        return "" if on_it else f"its score is not from {self.text}"


class Mark(NamedTuple):
    """What one judge says of one criterion.

    ``evidence`` are its quotes that occur in what was judged, ``discounted`` those that do not, and
    ``too_short`` those that cannot be looked up, since a few characters occur anywhere.
    """

    name: str
    score: float
    justification: str
    evidence: tuple[str, ...] = ()
    discounted: tuple[str, ...] = ()
    too_short: tuple[str, ...] = ()


class RawMark(NamedTuple):
    """A judge's words about one criterion: of the right shape, neither looked up nor cleaned."""

    score: float
    words: str
    quotes: list[str]


def read_mark(row: Mapping[str, Any], scale: Scale, key: str) -> RawMark | Unusable:
    """What ``row`` says; ``key`` is what its words are called."""
    score, words, quotes = row.get("score"), row.get(key), row.get("evidence")
    if fault := scale.fault(score):
        return Unusable(fault)
    if not isinstance(words, str) or not words.strip():
        return Unusable(f"it has no {key}")
    if not are_texts(quotes):
        return Unusable("its evidence is no list of quotes")
    return RawMark(score, words, quotes)  # type: ignore[arg-type]  # the scale takes numbers only


def read_marks(
    rows: Sequence[object],
    wanted: Sequence[str],
    read: Callable[[str, Mapping[str, Any]], Any],
    *,
    verb: str,
    whole: str,
) -> tuple[dict[str, Any], list[str]]:
    """The mark of each criterion in ``wanted`` by its name, and every fault of the rows.

    ``verb`` is what a row does to a criterion (``score``), ``whole`` what the criteria belong to.
    """
    marks: dict[str, Any] = {}
    faults: list[str] = []
    answered: set[str] = set()
    for row in rows:
        name = row.get("name") if isinstance(row, dict) else None
        if not isinstance(row, dict) or not isinstance(name, str):
            faults.append("it has an entry without a criterion's name")
        elif name not in wanted:
            faults.append(f"it names '{short(name)}', which is no criterion of {whole}")
        elif name in answered:
            faults.append(f"it {verb}s '{short(name)}' more than once")
        else:
            answered.add(name)
            mark = read(name, row)
            if isinstance(mark, Unusable):
                faults.append(f"'{short(name)}': {mark.reason}")
            else:
                marks[name] = mark
    missing = [name for name in wanted if name not in answered]
    if missing:
        faults.append(f"it does not {verb} {names(missing)}")
    return marks, faults


def wrong_keys(value: Mapping[str, Any], wanted: Sequence[str], whole: str) -> str:
    """Which of ``wanted`` are missing and what is there besides; empty where all is well."""
    missing = [key for key in wanted if key not in value]
    if missing:
        return f"{whole} has no {', '.join(missing)}"
    more = [short(key) for key in value if key not in wanted]
    return f"{whole} has unknown fields: {', '.join(more[:5])}" if more else ""


def are_texts(value: object) -> TypeGuard[list[str]]:
    """Whether ``value`` is a list of texts."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def first_faults(faults: Sequence[str]) -> str:
    """The first few faults of a reply in one line, and how many more there are."""
    more = f"; and {len(faults) - FAULTS_SHOWN} more" if len(faults) > FAULTS_SHOWN else ""
    return "; ".join(faults[:FAULTS_SHOWN]) + more


def short(value: object) -> str:
    """A value out of a reply, as a reason shows it."""
    return visible(str(value))[:60]


def harmless_line(text: str, limit: int) -> str:
    """A judge's words on one line of at most ``limit`` characters, with no power left.

    Control, bidirectional and invisible characters become escapes, and what poses as a fence or a
    role loses its brackets.
    """
    words = " ".join(text[: limit * 8].split())
    line = visible(words)
    return clip(blunt(line) if suspicious.imitates(suspicious.as_read(words)) else line, limit)
