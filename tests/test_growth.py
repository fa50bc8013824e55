"""Nothing that Flow does grows faster than what there is of it, by counted work.

``benchmarks/growth.py`` takes the same of larger sizes in seconds.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flow.__main__ import run as run_words
from tests.support import ROOT
from tests.support.here import run_flow, run_main

sys.path.insert(0, os.path.join(ROOT, "benchmarks"))

import growth
import work
from place import Place

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.needs_tool("git", "bash"), pytest.mark.slow]


STARTED = ("turns",)
"""What is counted by the program itself, a process of its own. The first turns cost what later ones
do not, and only beside a start that is little."""


class PlaceWithoutStarts(Place):
    """A place whose commands run in this process, or in one that is forked from it.

    A start and what is imported then cost several times what is counted, and grow with nothing.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        super().__init__(str(folder))
        self.env["FLOW_PYTHON"] = sys.executable

    def flow(self, repository: str, *arguments: str, expected: int = 0) -> str:
        ran = run_flow(*arguments, cwd=repository, env=self._environment())
        assert ran.status == expected, ran
        return ran.stdout

    def count(self, repository: str, command: growth.Command) -> dict[str, float]:
        """Its work, as ``work.py`` counts it in the processes that it forks."""
        result = Path(self.folder, "work.json")
        self._run(repository, command, lambda words: work.count(str(result), words))
        amounts = json.loads(result.read_text("ascii"))
        return {kind: float(amount) for kind, amount in amounts.items()}

    def run(self, repository: str, command: growth.Command) -> None:
        """Run it in this process."""
        self._run(repository, command, run_words)

    def _run(
        self, repository: str, command: growth.Command, main: Callable[[list[str]], int]
    ) -> None:
        given = Path(growth.event(repository)).read_text("utf-8") if command.event else ""
        words = list(command.words)
        ran = run_main(lambda: main(words), repository, self._environment(), given)
        assert ran.status == command.status, ran

    def _environment(self) -> dict[str, str | None]:
        return {**dict.fromkeys(os.environ), **self.env}


def warm_up(before: PlaceWithoutStarts, axis: growth.Axis) -> None:
    """Have this process import and remember at the least size what it would at each."""
    repository = axis.grow(before, axis.counted[0])
    for command in axis.commands.values():
        before.run(repository, command)


@pytest.mark.parametrize("axis", growth.AXES)
def test_work_grows_no_faster_than_what_there_is_of_it(
    axis: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = PlaceWithoutStarts(tmp_path / "here")
    if axis not in STARTED:
        monkeypatch.setattr(growth, "_count", PlaceWithoutStarts.count)
        warm_up(PlaceWithoutStarts(tmp_path / "before"), growth.AXES[axis])
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

    monkeypatch.setattr(growth, "_count", counts)
    square = growth.Axis(
        (1, 2, 4), (20, 40, 80), lambda _, size: str(size), {"x": growth.Command(["x"])}
    )
    monkeypatch.setitem(growth.AXES, "square", square)
    ((_, _, _, power),) = growth.counted(Place(str(tmp_path)), "square")
    assert power == pytest.approx(2.0, abs=0.1)
