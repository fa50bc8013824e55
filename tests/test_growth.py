"""Nothing that Flow does grows faster than what there is of it, by counted work.

``benchmarks/growth.py`` takes the same of larger sizes in seconds.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import ROOT, Ran, run_flow

sys.path.insert(0, os.path.join(ROOT, "benchmarks"))

import growth
from place import Place

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = [pytest.mark.needs_tool("git", "bash"), pytest.mark.slow]


class PlaceWithoutStarts(Place):
    """What is only made or warmed up is done in this process; what is counted is started."""

    def run(self, repository: str, words: Sequence[str], *, given: str = "") -> Ran:
        """``flow WORDS``, with the environment that a start would have."""
        env = {**dict.fromkeys(os.environ), **self.env}
        return run_flow(*words, cwd=repository, env=env, input=given)

    def flow(self, repository: str, *arguments: str, expected: int = 0) -> str:
        ran = self.run(repository, arguments)
        assert ran.status == expected, ran
        return ran.stdout


def warm_up(here: PlaceWithoutStarts, repository: str, command: growth.Command) -> float:
    """In the place of a start whose time nobody asks for."""
    given = Path(growth.event(repository)).read_text("utf-8") if command.event else ""
    ran = here.run(repository, command.words, given=given)
    assert ran.status == command.status, ran
    return 0.0


@pytest.mark.parametrize("axis", growth.AXES)
def test_work_grows_no_faster_than_what_there_is_of_it(
    axis: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth, "_run", warm_up)
    here = PlaceWithoutStarts(str(tmp_path))
    here.env["FLOW_PYTHON"] = sys.executable
    too_fast = [
        f"{command}: {kind} {amounts}: exponent {power:.2f}"
        for command, kind, amounts, power in growth.counted(here, axis)
        if power > growth.HIGHEST
    ]
    assert not too_fast, "\n".join(too_fast)


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        ((10, 10, 10), 0.0),
        ((100, 1100, 3100), 1.0),
        ((100, 1100, 5100), 2.0),
        ((1000, 1010, 1030), 0.0),
        ((1000, 1001, 1500), 4.57),
    ],
)
def test_the_exponent_is_that_of_the_growth(costs: tuple[float, ...], expected: float) -> None:
    assert growth.exponent(costs, 2) == pytest.approx(expected, abs=0.01)


def test_work_that_is_a_square_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def counts(_here: Place, repository: str, _command: growth.Command) -> dict[str, float]:
        return {"calls": 1000.0 + int(repository) ** 2}

    monkeypatch.setattr(growth, "_run", lambda *_: 0.0)
    monkeypatch.setattr(growth, "_count", counts)
    square = growth.Axis(
        (1, 2, 4), (20, 40, 80), lambda _, size: str(size), {"x": growth.Command(["x"])}
    )
    monkeypatch.setitem(growth.AXES, "square", square)
    ((_, _, _, power),) = growth.counted(Place(str(tmp_path)), "square")
    assert power == pytest.approx(2.0, abs=0.1)
