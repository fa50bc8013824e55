"""A goal file at its limit: whatever can be created can be evaluated, confirmed and cleared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from flow.core.layout import GOAL_TEXT_LIMIT
from tests.support import GitRepo, scene
from tests.support.effort import sizes
from tests.support.scene import flow

if TYPE_CHECKING:
    from tests.support import Ran

GOAL = """\
apiVersion: flow.synapti.ai/v1
kind: FlowGoal
metadata:
  id: large
  created_at: 2026-01-01T00:00:00Z
scope:
  repo: here
  branch: main
objective:
  outcome: the greeting is polite
  acceptance_criteria:
{criteria}
evaluator:
  type: deterministic
lifecycle:
  status: {status}
# {padding}
"""
BLOCK = """\
    - id: AC{number}
      text: says please
      status: pending
      verification_command: grep -q please src/greet.txt"""
IN_BRACES = (
    "    - {{id: AC{number}, text: says please, status: pending, "
    "verification_command: grep -q please src/greet.txt}}"
)


def text_of(size: int, row: str = BLOCK, criteria: int = 3, newline: str = "\n") -> str:
    """A goal's text of so many bytes."""
    rows = "\n".join(row.format(number=number) for number in range(1, criteria + 1))
    bare = GOAL.format(criteria=rows, status="active", padding="").replace("\n", newline)
    padding = "x" * (size - len(bare))
    return GOAL.format(criteria=rows, status="active", padding=padding).replace("\n", newline)


def create(repo: GitRepo, text: str) -> Ran:
    scene.start(repo)
    (repo.path.parent / "large.yaml").write_bytes(text.encode())
    return flow(repo, "goal", "create", "--file", "../large.yaml", "--json")


def goal_bytes(repo: GitRepo) -> bytes:
    return (repo.path / ".flow/goals/large.goal.yaml").read_bytes()


@pytest.mark.parametrize(("row", "newline"), [(BLOCK, "\r\n"), (IN_BRACES, "\n")])
def test_a_goal_at_the_limit_goes_all_the_way(repo: GitRepo, row: str, newline: str) -> None:
    made = create(repo, text_of(GOAL_TEXT_LIMIT, row, newline=newline))
    assert made.status == 0, made.stderr
    assert len(goal_bytes(repo)) > GOAL_TEXT_LIMIT
    undone = flow(repo, "goal", "evaluate", "large", "--json")
    assert undone.json["verdict"] == "not_achieved", undone
    scene.meet(repo)
    proposed = flow(repo, "goal", "evaluate", "large", "--json")
    assert proposed.status == 0, proposed
    assert flow(repo, "verdict", "show", "large", "--json").json["delta"] == proposed.json["delta"]
    proposal = proposed.json["proposed_transition"]["proposal_id"]
    done = flow(repo, "goal", "confirm", "large", "--proposal", proposal, "--json")
    assert (done.status, done.json["status"]) == (0, "achieved"), done
    assert flow(repo, "evidence", "verify").status == 0


def test_a_goal_at_the_limit_is_paused_amended_and_cleared(repo: GitRepo) -> None:
    assert create(repo, text_of(GOAL_TEXT_LIMIT)).status == 0
    assert flow(repo, "goal", "evaluate", "large").status == 1
    why = "w" * 3000
    assert flow(repo, "goal", "pause", "large", "--reason", why).status == 0
    assert flow(repo, "goal", "resume", "large").status == 0
    before = goal_bytes(repo)
    longer = ("goal", "amend", "large", "--criterion", f"AC1: {why}", "--yes", "--json")
    refused = flow(repo, *longer)
    assert refused.status == 2, refused
    fault = refused.json["error"]
    assert f"more than {GOAL_TEXT_LIMIT}" in fault["message"]
    assert "two goals" in fault["remedy"]
    assert goal_bytes(repo) == before
    shorter = flow(repo, "goal", "amend", "large", "--criterion", "AC1: polite", "--yes", "--json")
    assert shorter.status == 0, shorter
    assert flow(repo, "goal", "clear", "large", "--yes").status == 0


def test_one_byte_more_is_refused_at_create(repo: GitRepo) -> None:
    made = create(repo, text_of(GOAL_TEXT_LIMIT + 1))
    assert made.status == 2
    assert str(GOAL_TEXT_LIMIT) in made.json["error"]["message"]
    assert not (repo.path / ".flow").exists()


def test_what_create_adds_for_people_is_counted_at_create(repo: GitRepo) -> None:
    """An id that is missing is a person's to give: it counts, and nothing is begun."""
    row = BLOCK.replace("id: AC{number}\n      ", "")
    made = create(repo, text_of(GOAL_TEXT_LIMIT, row))
    assert made.status == 2, made
    assert not (repo.path / ".flow/goals").exists()


def test_one_byte_more_by_hand_runs_nothing(repo: GitRepo) -> None:
    assert create(repo, text_of(GOAL_TEXT_LIMIT - 1)).status == 0
    flow(repo, "goal", "evaluate", "large")
    place = repo.path / ".flow/goals/large.goal.yaml"
    sidecars = sorted(place.parents[1].rglob("*.evidence.yaml"))
    assert len(sidecars) == 3
    full = goal_bytes(repo) + b"#" * 1000
    place.write_bytes(full)
    done = flow(repo, "goal", "evaluate", "large", "--json")
    assert done.status == 2, done
    size = int(done.json["error"]["message"].split(" bytes, besides")[0].rsplit(" ", 1)[1])
    for over, status in ((1, 2), (0, 1)):
        place.write_bytes(full[: GOAL_TEXT_LIMIT - size + over or None])
        done = flow(repo, "goal", "evaluate", "large", "--json")
        assert done.status == status, done
        assert (sorted(place.parents[1].rglob("*.evidence.yaml")) == sidecars) is bool(over)


def test_lines_that_pose_as_results_make_no_room(repo: GitRepo) -> None:
    """What one criterion is given for results is bounded, whoever wrote them."""
    assert create(repo, text_of(GOAL_TEXT_LIMIT)).status == 0
    place = repo.path / ".flow/goals/large.goal.yaml"
    text = goal_bytes(repo).decode()
    posing = text.replace("status: pending", f"status: pending\n      last_result: {'y' * 9000}", 1)
    assert posing != text
    place.write_text(posing)
    done = flow(repo, "goal", "status", "large", "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "invalid_file"), done


def test_many_criteria_of_900_000_bytes(repo: GitRepo) -> None:
    """As many as there may be, or fewer with longer texts: a verdict repeats them all."""
    count = sizes(short=130, long=1000)
    row = BLOCK.replace("says please", "p" * (900_000 // count - 140))
    made = create(repo, text_of(900_000, row, criteria=count))
    assert made.status == 0, made.stderr
    scene.meet(repo)
    proposed = flow(repo, "goal", "evaluate", "large", "--json")
    assert proposed.status == 0, proposed.stderr
    assert "could not be recorded" not in proposed.stderr
    assert len(proposed.json["criterion_results"]) == count
    assert (scene.run_dir(repo, "large") / "last-verdict.json").stat().st_size > 800_000
    proposal = proposed.json["proposed_transition"]["proposal_id"]
    assert flow(repo, "goal", "confirm", "large", "--proposal", proposal).status == 0


def test_a_sidecar_may_be_larger_than_the_goal_that_it_repeats(repo: GitRepo) -> None:
    text = text_of(0, criteria=1)
    room = GOAL_TEXT_LIMIT - len(text) - len("      limitations: ['']\n")
    row = f"      limitations: ['{'z' * room}']\n"
    made = create(repo, text.replace("      status: pending\n", f"      status: pending\n{row}"))
    assert made.status == 0, made.stderr
    scene.meet(repo)
    proposed = flow(repo, "goal", "evaluate", "large", "--json")
    assert proposed.status == 0, proposed
    (listed,) = flow(repo, "goal", "list", "--json").json["goals"]
    assert listed["passing"] == 1
    (sidecar,) = (repo.path / ".flow/runs").rglob("*.evidence.yaml")
    assert sidecar.stat().st_size > GOAL_TEXT_LIMIT
    assert flow(repo, "evidence", "verify").status == 0
    proposal = proposed.json["proposed_transition"]["proposal_id"]
    assert flow(repo, "goal", "confirm", "large", "--proposal", proposal).status == 0
