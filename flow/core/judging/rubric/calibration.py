"""The agreement of a judge with people (SPEC 9.1, ``flow.goals.judge.minKappa``).

A label is one case that a person and a judge both decided. ``pass`` is the positive class:
sensitivity is the judge's share of passes among the cases that people passed, specificity its share
of fails among those that people failed.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

from flow.core.text.display import counted
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

LEAST_LABELS = 30
"""With fewer labels than this, a judge's agreement is unknown."""
LEAST_OF_EACH = 5
"""Also unknown with fewer passes, or fewer fails, by people than this: a judge that gives
everything the same answer agrees with people who do so.
"""
Z = 1.959963984540054
"""The normal quantile of a two-sided 95% interval."""


class Label(NamedTuple):
    """The decisions of a person and a judge on the same case: True is a pass."""

    person: bool
    judge: bool


class Share(NamedTuple):
    """A proportion with its 95% Wilson interval; all None if ``of`` is 0."""

    hits: int
    of: int
    value: float | None
    low: float | None
    high: float | None

    def to_document(self) -> dict[str, Any]:
        """The share as ``--json`` prints it."""
        return dict(self._asdict())


class Calibration(NamedTuple):
    """The confusion table and the figures derived from it.

    ``both_pass`` counts the cases that person and judge passed, ``only_person`` those that only the
    person passed, and so on. ``kappa`` is None if it is not defined (nothing, or only one class on
    both sides).
    """

    both_pass: int
    only_person: int
    only_judge: int
    both_fail: int
    agreement: Share
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    sensitivity: Share
    specificity: Share

    @property
    def labels(self) -> int:
        """Number of labels in the table."""
        return self.both_pass + self.only_person + self.only_judge + self.both_fail

    def to_document(self) -> dict[str, Any]:
        """The calibration as ``--json`` prints it."""
        kappa = {"value": self.kappa, "low": self.kappa_low, "high": self.kappa_high}
        return {
            "labels": self.labels,
            "confusion": {
                "both_pass": self.both_pass,
                "only_person": self.only_person,
                "only_judge": self.only_judge,
                "both_fail": self.both_fail,
            },
            "agreement": self.agreement.to_document(),
            "kappa": kappa,
            "sensitivity": self.sensitivity.to_document(),
            "specificity": self.specificity.to_document(),
        }


class Belief(NamedTuple):
    """Whether a judge may propose ``achieved``, with the reason for a person to read."""

    ok: bool
    reason: str


def calibrate(labels: Iterable[Label]) -> Calibration:
    """The confusion table of ``labels``, and the figures derived from it."""
    table = {(person, judge): 0 for person in (True, False) for judge in (True, False)}
    for label in labels:
        table[label.person, label.judge] += 1
    a, b, c, d = table[True, True], table[True, False], table[False, True], table[False, False]
    kappa, low, high = _kappa(a, b, c, d)
    return Calibration(
        both_pass=a,
        only_person=b,
        only_judge=c,
        both_fail=d,
        agreement=wilson(a + d, a + b + c + d),
        kappa=kappa,
        kappa_low=low,
        kappa_high=high,
        sensitivity=wilson(a, a + b),
        specificity=wilson(d, c + d),
    )


def believed(labels: Iterable[Label], min_kappa: float | None) -> Belief:
    """Whether a judge with these labels has the agreement that ``minKappa`` requires.

    It has not below that value, or with fewer than :data:`LEAST_LABELS` labels or
    :data:`LEAST_OF_EACH` of either class. The limit is inclusive. ``min_kappa`` None: nothing is
    required.
    """
    agreement = calibrate(labels)
    passed = agreement.both_pass + agreement.only_person
    failed = agreement.labels - passed
    if min_kappa is None:
        reason = "minKappa is not set, so no agreement with people is asked for"
        return Belief(True, reason)
    if agreement.labels < LEAST_LABELS or min(passed, failed) < LEAST_OF_EACH:
        reason = (
            f"it has {counted(agreement.labels, 'label')} by people "
            f"({passed} pass, {failed} fail); at least {LEAST_LABELS} are "
            f"needed, {LEAST_OF_EACH} of each kind: flow judge calibrate"
        )
        return Belief(False, reason)
    # Products of whole numbers: the limit is compared exactly, without a rounded quotient.
    reached = _reaches(agreement, min_kappa)
    word = "reaches" if reached else "is below"
    from flow.core.text.numbers import as_written, told_apart  # slow to import

    shown = told_apart(agreement.kappa or 0.0, min_kappa, 2)
    limit = as_written(min_kappa)
    reason = f"its kappa of {shown} over {agreement.labels} labels {word} minKappa {limit}"
    return Belief(reached, reason)


def wilson(count: int, of: int) -> Share:
    """``count`` of ``of`` with the 95% Wilson score interval."""
    if not of:
        return Share(count, of, None, None, None)
    p, z2 = count / of, Z * Z
    middle = (p + z2 / (2 * of)) / (1 + z2 / of)
    half = Z / (1 + z2 / of) * sqrt(p * (1 - p) / of + z2 / (4 * of * of))
    low = 0.0 if count == 0 else max(0.0, middle - half)
    high = 1.0 if count == of else min(1.0, middle + half)
    return Share(count, of, p, low, high)


def _kappa(a: int, b: int, c: int, d: int) -> tuple[float | None, float | None, float | None]:
    """Cohen's kappa with a large-sample 95% interval; None if chance explains everything."""
    n = a + b + c + d
    by_chance = (a + b) * (a + c) + (c + d) * (b + d)
    if not n or by_chance == n * n:
        return None, None, None
    kappa = (n * (a + d) - by_chance) / (n * n - by_chance)
    observed, expected = (a + d) / n, by_chance / (n * n)
    error = sqrt(observed * (1 - observed) / (n * (1 - expected) ** 2))
    return kappa, max(-1.0, kappa - Z * error), min(1.0, kappa + Z * error)


def _reaches(calibration: Calibration, bar: float) -> bool:
    """Whether kappa reaches ``bar``, where people passed some cases and failed others."""
    a, b, c, d = calibration[:4]
    n = a + b + c + d
    by_chance = (a + b) * (a + c) + (c + d) * (b + d)
    return Fraction(n * (a + d) - by_chance, n * n - by_chance) >= Fraction(str(bar))
