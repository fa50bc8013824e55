"""Reading a reply: the checks shared by every kind of question.

A reply is as hostile as the judged text: one without the required shape is no answer at all.
"""

from __future__ import annotations

from flow.core.judging.common.question import Unusable
from flow.core.text.display import clip, joined, names, visible
from flow.core.text.numbers import within
from flow.core.untrusted import suspicious
from flow.core.untrusted.fences import blunt
from flow.startup.json import object_of
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
    """The scale in the prompt's words."""

    def fault(self, score: object) -> str:
        """Reason that ``score`` is not on the scale; empty if it is."""
        if not isinstance(score, int | float) or isinstance(score, bool):
            return "its score is no number"
        on_it = within(score, self.least, self.most)
        return "" if on_it else f"its score is not from {self.text}"


class Mark(NamedTuple):
    """One judge's score and words for one criterion.

    ``evidence`` are the quotes that occur in the judged text, ``discounted`` those that do not, and
    ``too_short`` those that cannot be checked, since a few characters occur anywhere.
    """

    name: str
    score: float
    justification: str
    evidence: tuple[str, ...] = ()
    discounted: tuple[str, ...] = ()
    too_short: tuple[str, ...] = ()


class RawMark(NamedTuple):
    """A judge's words about one criterion: of the right shape, not yet checked or cleaned."""

    score: float
    words: str
    quotes: list[str]


def read_mark(row: Mapping[str, Any], scale: Scale, key: str) -> RawMark | Unusable:
    """The mark in ``row``; ``key`` is the name of the field with its words."""
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

    For the faults, ``verb`` is a row's action on a criterion (``score``), ``whole`` names the set
    of criteria.
    """
    marks: dict[str, Any] = {}
    faults: list[str] = []
    answered: set[str] = set()
    for row in rows:
        fields = object_of(row)
        name = fields.get("name")
        if not isinstance(name, str):
            faults.append("it has an entry without a criterion's name")
        elif name not in wanted:
            faults.append(f"it names '{short(name)}', which is no criterion of {whole}")
        elif name in answered:
            faults.append(f"it {verb}s '{short(name)}' more than once")
        else:
            answered.add(name)
            mark = read(name, fields)
            if isinstance(mark, Unusable):
                faults.append(f"'{short(name)}': {mark.reason}")
            else:
                marks[name] = mark
    missing = [name for name in wanted if name not in answered]
    if missing:
        faults.append(f"it does not {verb} {names(missing)}")
    return marks, faults


def wrong_keys(value: Mapping[str, Any], wanted: Sequence[str], whole: str) -> str:
    """The missing and the unknown keys of ``value``, in words; empty if there are none."""
    missing = [key for key in wanted if key not in value]
    if missing:
        return f"{whole} has no {', '.join(missing)}"
    more = [short(key) for key in value if key not in wanted]
    return f"{whole} has unknown fields: {', '.join(more[:5])}" if more else ""


def are_texts(value: object) -> TypeGuard[list[str]]:
    """Whether ``value`` is a list of texts."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def first_faults(faults: Sequence[str]) -> str:
    """The first few faults of a reply on one line, and the number of the others."""
    return joined(faults[:FAULTS_SHOWN], len(faults), "; ", "; ")


def short(value: object) -> str:
    """A value from a reply, shortened for a reason."""
    return visible(str(value))[:60]


def harmless_line(text: str, limit: int) -> str:
    """A judge's words on one line of at most ``limit`` characters, made harmless.

    Control, bidirectional and invisible characters become escapes, and text that imitates a fence
    or a role loses its brackets.
    """
    words = " ".join(text[: limit * 8].split())
    line = visible(words)
    return clip(blunt(line) if suspicious.imitates(suspicious.as_read(words)) else line, limit)
