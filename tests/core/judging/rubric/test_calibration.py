"""Agreement between judges and people: the numbers, and whether a judge may be believed."""

from __future__ import annotations

import math

import pytest

from flow.core.judging.rubric.calibration import Label, believed, calibrate, wilson


def labels(a: int, b: int, c: int, d: int) -> list[Label]:
    """Both pass, only the person, only the judge, both fail."""
    return [
        *[Label(True, True)] * a,
        *[Label(True, False)] * b,
        *[Label(False, True)] * c,
        *[Label(False, False)] * d,
    ]


# Worked by hand: kappa = (po - pe) / (1 - pe).
KAPPA = [
    ((20, 5, 10, 15), 0.4),  # the textbook table: po 0.7, pe 0.5
    ((45, 15, 25, 15), 0.13043478260869565),  # po 0.6, pe 0.54
    ((25, 35, 5, 35), 0.25925925925925924),  # po 0.6, pe 0.46
    ((10, 0, 0, 10), 1.0),
    ((0, 10, 10, 0), -1.0),
    ((5, 5, 5, 5), 0.0),
    ((10, 0, 5, 0), 0.0),  # it says pass to everything
    ((1, 0, 0, 0), None),
    ((0, 0, 0, 7), None),
    ((0, 0, 0, 0), None),
]


@pytest.mark.parametrize(("table", "kappa"), KAPPA)
def test_kappa(table: tuple[int, int, int, int], kappa: float | None) -> None:
    found = calibrate(labels(*table))
    assert found[:4] == table
    assert found.labels == sum(table)
    if kappa is None:
        assert (found.kappa, found.kappa_low, found.kappa_high) == (None, None, None)
    else:
        assert found.kappa == pytest.approx(kappa, abs=1e-12)
        assert found.kappa_low is not None
        assert found.kappa_high is not None
        assert -1 <= found.kappa_low <= kappa <= found.kappa_high <= 1


def test_the_interval_of_kappa() -> None:
    found = calibrate(labels(20, 5, 10, 15))
    error = math.sqrt(0.7 * 0.3 / (50 * 0.25))
    assert found.kappa_low == pytest.approx(0.4 - 1.959964 * error, abs=1e-6)
    assert found.kappa_high == pytest.approx(0.4 + 1.959964 * error, abs=1e-6)


def test_the_shares_are_of_what_people_decided() -> None:
    found = calibrate(labels(20, 5, 10, 15))
    assert (found.agreement.hits, found.agreement.of) == (35, 50)
    assert (found.sensitivity.hits, found.sensitivity.of, found.sensitivity.value) == (20, 25, 0.8)
    assert (found.specificity.hits, found.specificity.of, found.specificity.value) == (15, 25, 0.6)


WILSON = [  # from the published tables of the score interval
    (0, 10, 0.0, 0.277533),
    (10, 10, 0.722467, 1.0),
    (5, 10, 0.236593, 0.763407),
    (1, 10, 0.017876, 0.404150),
    (15, 25, 0.407395, 0.765967),
    (81, 263, 0.255290, 0.366211),
    (1, 1, 0.206549, 1.0),
]


@pytest.mark.parametrize(("count", "of", "low", "high"), WILSON)
def test_wilson(count: int, of: int, low: float, high: float) -> None:
    share = wilson(count, of)
    assert share.value == count / of
    assert (share.low, share.high) == (pytest.approx(low, abs=2e-5), pytest.approx(high, abs=2e-5))


def test_a_share_of_nothing_is_none() -> None:
    assert wilson(0, 0)[2:] == (None, None, None)


BELIEF = [  # table, minKappa, believed, a part of the reason
    ((15, 0, 0, 15), None, True, "minKappa is not set"),
    ((0, 0, 0, 0), None, True, "no agreement"),
    ((15, 0, 0, 15), 0.6, True, "reaches minKappa 0.6"),
    ((15, 0, 0, 15), 1.0, True, "reaches minKappa 1"),
    ((14, 1, 0, 15), 1.0, False, "is below minKappa 1"),
    ((20, 5, 10, 15), 0.4, True, "reaches minKappa 0.4"),  # exactly 0.4
    ((20, 5, 10, 15), 0.41, False, "is below"),
    ((15, 0, 0, 14), 0.1, False, "29 labels"),
    ((15, 0, 0, 15), 0.0, True, "reaches"),
    ((26, 0, 0, 4), 0.1, False, "26 pass, 4 fail"),
    ((4, 0, 0, 26), 0.1, False, "at least 30 are needed, 5 of each"),
    ((25, 0, 0, 5), 0.1, True, "reaches"),
    (
        (20, 5, 10, 15),
        0.400001,
        False,
        "its kappa of 0.40 over 50 labels is below minKappa 0.400001",
    ),
    ((0, 0, 0, 0), 0.0, False, "0 labels"),
    ((30, 0, 10, 0), 0.0, True, "reaches"),
    ((30, 0, 10, 0), 0.1, False, "is below"),
    ((0, 15, 15, 0), 0.0, False, "is below"),
]


@pytest.mark.parametrize(("table", "bar", "ok", "why"), BELIEF)
def test_whether_a_judge_may_be_believed(
    table: tuple[int, int, int, int], bar: float | None, ok: bool, why: str
) -> None:
    found = believed(labels(*table), bar)
    assert found.ok is ok
    assert why in found.reason
    assert calibrate(labels(*table)).labels == sum(table)
