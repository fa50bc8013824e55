"""Values from the record that a verdict's screen shows beside the verdict, for people."""

from __future__ import annotations

from flow.core.decision.decide import CONFIDENCE_BAR
from flow.startup.json import rows_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

TAIL = 15
"""Lines of one output that are shown."""


class OutputTail(NamedTuple):
    """The end of a command's output."""

    lines: tuple[str, ...] = ()
    """The last lines as on a screen (:func:`flow.core.text.plain_output.plain_lines`)."""
    total: int | None = None
    """Number of lines in the whole output; None if part of it was not kept."""
    missing: str = ""
    """Reason that there is no line, in words; empty if there is one."""


class RowDetails(NamedTuple):
    """Facts from the record about one criterion's result."""

    required: bool = True
    way: str = ""
    """Kind of proof without a command: ``a judge, by the rubric documentation``."""
    seconds: float | None = None
    """Seconds that its runs took together; None if unknown."""
    runs: tuple[int, int] | None = None
    """(passed, all) if its command ran several times."""
    proved_before: bool = False
    """An earlier turn proved it."""
    judged: str = ""
    """A judge's figure: ``0.84, needs 0.75``."""
    approved_by: str = ""
    failure: str = ""
    """The runner's words about the failure: ``4 of 14 failed``."""
    works: str = ""
    """A form of its command whose exit status shows a failure; empty if none is known."""
    output: OutputTail | None = None


class VerdictDetails(NamedTuple):
    """Facts from the record about a verdict."""

    rows: Mapping[str, RowDetails] = {}
    """By the criterion's id."""
    seconds: float | None = None
    """Seconds that the evaluation took; None if unknown."""
    at: str = ""
    """The end of the evaluation (RFC 3339); empty if unknown."""
    allowed_paths: tuple[str, ...] = ()
    to_top: str = ""
    """The command that leads from the caller's folder to the top level; empty at the top."""


NO_DETAILS = VerdictDetails()


def no_lines(*, stored: bool, blank: bool, printed: object) -> str:
    """Reason that no line of an output can be shown; ``printed`` is its recorded size in bytes.

    ``stored``: the output still exists; ``blank``: it has content, but no visible line.
    """
    if not stored and printed:
        return "its output is gone"
    return "it printed only blank lines" if blank else "it printed nothing"


def judged_figures(criterion_id: str, judgement: Mapping[str, Any]) -> str:
    """A judge's figure for a criterion: ``0.84, needs 0.75``, ``4.25 of 5``; empty if none."""
    own: dict[str, Any] = {}
    for key in ("criteria", "rubrics", "apart"):
        for row in rows_of(judgement.get(key)):
            if criterion_id in (row.get("criterion_id"), row.get("id")):
                own |= {name: value for name, value in row.items() if value is not None}
    if own.get("grade") is not None:
        return _with_need(f"grade {own['grade']}", own.get("min_grade"))
    if isinstance(own.get("overall"), int | float):
        return f"{own['overall']:.2f} of 5"  # a debate's score
    figures = {**judgement, **own}
    for name, need in (
        ("score", own.get("threshold", own.get("passing_threshold"))),
        ("mean", own.get("threshold")),
        ("confidence", CONFIDENCE_BAR),
    ):
        if figures.get(name) is not None:
            return _with_need(_short_number(figures[name], need), need)
    return ""


def _with_need(figure: str, need: object) -> str:
    return figure if need is None else f"{figure}, needs {_short_number(need)}"


def _short_number(value: object, limit: object = None) -> str:
    """``value`` for people; next to ``limit`` it never seems to reach what it misses."""
    if not isinstance(value, float):
        return str(value)
    if isinstance(limit, (int, float)):
        from flow.core.text.numbers import beside  # fractions: only for judges' figures

        return beside(value, limit)
    return f"{value:.3g}"
