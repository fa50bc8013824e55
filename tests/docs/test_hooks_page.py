"""docs/hooks.md: its events are those of a run, its table is the one that decides."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from flow.core.stop import policy as core
from tests.support import ROOT, GitRepo, scene
from tests.support.stops import settings, stop, verdict

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PAGE = os.path.join(ROOT, "docs", "hooks.md")
ROWS = {
    "a required criterion failed": "failed",
    "files outside its paths changed": "violation",
    "nothing failed, a proof was lost": "proof_lost",
    "nothing failed, some undecided": "inconclusive",
    "fuzzy criteria left": "judge_not_achieved",
    "all proved": "proved",
    "not trusted, waiting, unreadable": "untrusted",
}


def page() -> str:
    with open(PAGE, encoding="utf-8") as file:
        return file.read()


def shown(event: dict[str, Any]) -> str:
    """One event as the page shows it."""
    kind = event["type"]
    if kind == "evidence":
        what = f"{event['evidence_id']} of {', '.join(event['proves'])}"
    elif kind == "evaluated":
        what = f"{event['verdict']}: {event['reason']}"
    elif kind == "stop":
        reused = f" (reused {', '.join(event['reused'])})" if event["reused"] else ""
        what = f"{event['row']}, {event['mode']}: {event['answer']}{reused}"
    elif kind == "confirmed":
        what = f"{event['from']} -> {event['to']}"
    else:
        what = event["to"]
    return f"{event['goal_id']:<7} {event['seq']:>4}  {kind:<11} {what}"


def test_the_events_are_those_of_a_run(
    repo: GitRepo, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scene.create(scene.start(repo))
    settings(home, stopHookEnforcement="evaluator-loop")
    stop(repo, capfd)
    stop(repo, capfd, stop_hook_active=True)
    scene.meet(repo)
    stop(repo, capfd, stop_hook_active=True)
    proposal = verdict(repo)["proposed_transition"]["proposal_id"]
    done = scene.flow(repo, "goal", "confirm", "greet", "--proposal", proposal)
    assert done.status == 0, done.stderr
    lines = (scene.run_dir(repo) / "events.jsonl").read_text().splitlines()
    found = "\n".join(["goal    seq  type        what", *(shown(json.loads(x)) for x in lines)])
    block = re.search(r"<!-- events -->\n```\n(.*?)\n```", page(), re.DOTALL)
    assert block is not None
    assert block.group(1) == found


def test_the_table_is_the_one_that_decides() -> None:
    modes = ("warn", "block", "evaluator-loop")
    for name, row in ROWS.items():
        line = next(line for line in page().splitlines() if line.startswith(f"| {name} |"))
        cells = [cell.strip() for cell in line.strip("|").split("|")][1:]
        assert len(cells) == len(modes)
        for mode, cell in zip(modes, cells, strict=True):
            continues = mode in core.CONTINUE.get(row, ())  # type: ignore[call-overload]
            assert ("**continue**" in cell) == continues, (name, mode)
