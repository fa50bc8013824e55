"""Which baseline counts: the run's own, the goal's own run's, or what its commit alone tells."""

from __future__ import annotations

from typing import Any

import pytest

from flow.app.evaluation.baselines import evaluated_baseline, recorded_base_runs, recorded_baseline
from flow.core.boundary.changes import UNRECORDED, Baseline
from flow.core.goal.model import Goal, goal_from_document
from flow.core.settings import merge_layers
from flow.errors import StorageError
from tests.app.fakes import BASE, goal_document

OTHER = "c" * 40
PINNED = Baseline(BASE, {}, {}, {}, {}, {})
MOVED = Baseline(OTHER, {}, {}, {}, {}, {})
RESTORED = PINNED._replace(proof_since="base", began=UNRECORDED)


class Port:
    """Baselines in memory."""

    def __init__(self, *, all_trusted: bool = False, **pinned: Baseline) -> None:
        self._pinned = pinned
        self.written: list[tuple[str, str, Baseline]] = []
        loaded = merge_layers(())
        settings = loaded.settings._replace(execute_verification_commands=all_trusted)
        self.settings = loaded._replace(settings=settings)

    def pinned(self, run_id: str, goal: Goal) -> Baseline | None:
        return self._pinned.get(run_id)

    def restored(self, goal: Goal) -> Baseline:
        assert goal.id == "issue-4"
        return RESTORED

    def write_baseline(self, goal_id: str, run_id: str, baseline: Baseline) -> None:
        self.written.append((goal_id, run_id, baseline))


GOAL = goal_from_document(goal_document())._replace(run_id="own")


@pytest.mark.parametrize(
    ("pinned", "expected"),
    [
        ({"run": PINNED, "own": MOVED}, (PINNED, True)),
        ({"run": MOVED, "own": PINNED}, (PINNED, True)),
        ({"own": PINNED}, (PINNED, True)),
        ({"run": MOVED, "own": MOVED}, (RESTORED, False)),
        ({"run": RESTORED}, (RESTORED, False)),
        ({}, (RESTORED, False)),
    ],
)
def test_a_baseline_of_another_base_never_counts(
    pinned: dict[str, Baseline], expected: tuple[Baseline, bool]
) -> None:
    assert recorded_baseline(Port(**pinned), GOAL, "run") == expected


def test_settings_are_pinned_late_once_and_that_is_said() -> None:
    port = Port(run=PINNED)
    recorded, warning = evaluated_baseline(port, GOAL, "run", dry_run=False, named=False)
    assert recorded.baseline.settings == port.settings.pins
    assert port.written == [("issue-4", "run", recorded.baseline)]
    # It may also have begun in another clone, which pinned them.
    assert "no settings of when goal issue-4 began are on record here" in warning


@pytest.mark.parametrize(
    ("pinned", "dry_run"),
    [({"run": PINNED}, True), ({"run": PINNED._replace(settings={"a": "1"})}, False), ({}, False)],
)
def test_otherwise_nothing_is_pinned_late(pinned: dict[str, Baseline], dry_run: bool) -> None:
    port = Port(**pinned)
    _, warning = evaluated_baseline(port, GOAL, "run", dry_run=dry_run, named=False)
    assert (port.written, warning) == ([], "")


@pytest.mark.parametrize(
    ("named", "all_trusted", "recorded"),
    [(False, False, False), (True, False, True), (False, True, True)],
)
def test_a_pipeline_without_a_record_of_the_start_is_no_sign_of_tampering(
    named: bool, all_trusted: bool, recorded: bool
) -> None:
    port = Port(all_trusted=all_trusted)
    found, _ = evaluated_baseline(port, GOAL, "run", dry_run=False, named=named)
    assert found == (RESTORED, recorded)


@pytest.mark.parametrize("note", [None, {}, {"rows": []}, {"rows": {}}])
def test_a_goal_without_rows_has_no_runs_on_record(note: Any) -> None:
    class Notes:
        read = staticmethod(lambda _goal_id: note)

    assert recorded_base_runs(Notes, GOAL) == {}  # type: ignore[arg-type]


def test_without_a_state_folder_or_a_base_nothing_is_on_record() -> None:
    def refuse() -> Any:
        raise StorageError("no state folder")

    assert recorded_base_runs(refuse, GOAL) == {}
    assert recorded_base_runs(refuse, GOAL._replace(base_commit=None)) == {}
