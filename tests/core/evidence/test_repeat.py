"""What several runs come to."""

from __future__ import annotations

from itertools import product

import pytest

from flow.core.evidence.repeat import RepeatedRun, add_up, contradiction, counts_text

OUTCOMES = ("passed", "failed", "inconclusive")


@pytest.mark.parametrize("outcomes", list(product(OUTCOMES, repeat=3)), ids=" ".join)
def test_every_cell(outcomes: tuple[str, ...]) -> None:
    runs = [RepeatedRun(o, f"r{n}", evidence_id=f"e{n}") for n, o in enumerate(outcomes)]  # type: ignore[arg-type]
    total = add_up(runs)
    if len(set(outcomes)) == 1:
        assert (total.outcome, total.reason, total.flaky) == (outcomes[0], "r2", False)
    else:
        assert (total.outcome, total.flaky) == ("inconclusive", True)
        assert total.reason == f"flaky: {counts_text(runs)}"
    document = total.to_document("AC1")
    assert sum(document[outcome] for outcome in OUTCOMES) == 3
    assert document["others"] == ["e0", "e1"]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("others", OUTCOMES)
def test_a_blamed_run_is_not_made_good(others: str, place: int) -> None:
    runs = [RepeatedRun(others, "") for _ in range(3)]  # type: ignore[arg-type]
    runs[place] = RepeatedRun("failed", "it changed HEAD", blamed=True)
    total = add_up(runs)
    assert (total.outcome, total.reason) == ("failed", "it changed HEAD")
    assert total.flaky is (others != "failed")


def test_one_run_is_itself() -> None:
    assert add_up([RepeatedRun("passed", "")]) == (
        "passed",
        "",
        False,
        (RepeatedRun("passed", ""),),
    )


def test_the_words() -> None:
    runs = [RepeatedRun(outcome, "") for outcome in ("passed", "failed", "failed", "inconclusive")]  # type: ignore[arg-type]
    assert counts_text(runs) == "passed 1 of 4 runs, failed 2, inconclusive 1"
    assert contradiction("passed", "failed", "e1", 2) == (
        "flaky: on the same files it was failed before (e1); 2 runs in a row have passed now."
    )
    assert contradiction("failed", "passed", "e1", 1) == (
        "flaky: on the same files it was passed before (e1)."
    )
