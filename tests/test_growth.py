"""Nothing that Flow does grows faster than what there is of it, by counted work.

``benchmarks/growth.py`` takes the same of larger sizes in seconds.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from flow.adapters.fs import combined_stamp, stamps
from flow.adapters.worktree import scan
from tests.faults.scenes import preload
from tests.support import ROOT
from tests.support.effort import sizes
from tests.support.here import run_flow, run_main

sys.path.insert(0, os.path.join(ROOT, "benchmarks"))

import growth
import work
from place import Place

pytestmark = [pytest.mark.needs_tool("git", "bash"), pytest.mark.slow]


LONG_AGO = -3_600_000_000_000
AXES = [
    axis for axis in growth.AXES if axis not in sizes(short=growth.ONE_KIND, long=("all files",))
]


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
        given = Path(growth.event(repository)).read_text("utf-8") if command.event else ""
        words = list(command.words)
        ran = run_main(
            lambda: work.count(str(result), words), repository, self._environment(), given
        )
        assert ran.status == command.status, ran
        amounts = json.loads(result.read_text("ascii"))
        return {kind: float(amount) for kind, amount in amounts.items()}

    def _environment(self) -> dict[str, str | None]:
        return {**dict.fromkeys(os.environ), **self.env}


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stamps are believed at once: otherwise each size would be counted two seconds later."""
    monkeypatch.setattr(stamps, "RACY_NS", LONG_AGO)
    monkeypatch.setattr(combined_stamp, "RACY_NS", LONG_AGO)
    monkeypatch.setattr(scan, "RACY_NS", LONG_AGO)


@pytest.fixture(scope="module")
def preloaded() -> None:
    """What is counted is forked from this process, and imports nothing then."""
    preload()


@pytest.mark.usefixtures("preloaded", "settled")
@pytest.mark.parametrize("axis", AXES)
def test_work_grows_no_faster_than_what_there_is_of_it(
    axis: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth, "_count", PlaceWithoutStarts.count)
    too_fast = [
        f"{command}: {kind} {amounts}: exponent {power:.2f}"
        for command, kind, amounts, power in growth.counted(
            PlaceWithoutStarts(tmp_path / "here"), axis
        )
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
