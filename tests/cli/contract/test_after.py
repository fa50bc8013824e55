"""``flow goal create --after OTHER``: achieved is not proposed before OTHER is achieved."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support import GitRepo, scene, start_flow
from tests.support import stops as hooks
from tests.support.scene import flow, step

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import Ran


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    """``greet`` and, after it, ``more``, which is proved already."""
    scene.start(repo)
    scene.create(repo)
    done = step(
        repo, "goal", "create", "more", "--outcome", "o", "--allow", "src/**",
        "--allow", ".decisions/**",
        "--criterion", "AC1: there :: test -s src/greet.txt", "--after", "greet",
    )  # fmt: skip
    assert done.status == 0, done
    return repo


def evaluate(repo: GitRepo) -> Ran:
    return flow(repo, "goal", "evaluate", "more", "--json")


def close(repo: GitRepo, goal: str = "greet") -> None:
    scene.meet(repo)
    assert scene.confirm(repo, goal=goal).status == 0


def test_it_is_evaluated_and_not_proposed_before_the_other_is_achieved(work: GitRepo) -> None:
    assert "after:\n" in scene.goal_file(work, "more") or "after: [" in scene.goal_file(
        work, "more"
    )
    done = evaluate(work)
    assert done.status == 4, done
    assert (done.json["verdict"], done.json["blocker_type"]) == (
        "needs_human_review",
        "missing_dep",
    )
    assert done.json["proposed_transition"] is None
    assert [row["status"] for row in done.json["criterion_results"]] == ["pass"]
    assert "goal greet comes first and is active" in done.json["reason"]
    assert done.json["next_step_hint"].startswith("first: flow goal status greet")
    assert scene.status(work, "more") == "active"
    assert not (scene.run_dir(work, "more") / "proposal.json").exists()
    shown = flow(work, "goal", "status", "more", "--json").json["after"]
    assert shown == [{"goal_id": "greet", "by": "open", "why": "is active"}]
    assert "after      greet is active" in flow(work, "goal", "status", "more").stdout
    close(work)
    done = evaluate(work)
    assert done.status == 0, done
    proposal = done.json["proposed_transition"]["proposal_id"]
    assert flow(work, "goal", "confirm", "more", "--proposal", proposal).status == 0


def test_a_failure_is_told_as_ever(work: GitRepo) -> None:
    work.write("src/greet.txt", "")
    done = evaluate(work)
    assert (done.status, done.json["verdict"]) == (1, "not_achieved")
    assert "greet" not in done.json["reason"]


NEVER = {
    "gone": "is not in this checkout",
    "broken": "cannot be read",
    "by hand": "its closing is not on record",
    "another run by hand": "its closing is not on record",
    "circular": "in a circle",
    "cancelled": "is cancelled, so it will never be achieved",
}


def test_what_can_never_come_is_said_and_holds(work: GitRepo) -> None:
    path = work.path / ".flow/goals/greet.goal.yaml"
    text = path.read_text()
    achieved = text.replace("status: active", "status: achieved")
    contents = {
        "broken": "kind: [",
        "by hand": achieved,
        "another run by hand": achieved.replace("-greet", "-other"),
        "circular": text.replace("lifecycle:", "continuation: {after: [more]}\nlifecycle:"),
    }
    for how, says in NEVER.items():
        path.write_text(contents.get(how, text))
        if how == "gone":
            path.unlink()
        elif how == "cancelled":
            assert flow(work, "goal", "clear", "greet", "--yes").status == 0
        done = evaluate(work)
        assert done.status == 4, (how, done)
        assert says in done.json["reason"]
        assert done.json["proposed_transition"] is None
        assert "flow goal amend more --edit" in done.json["next_step_hint"]
        assert scene.status(work, "more") == "waiting_for_user"
        shown = flow(work, "goal", "status", "more", "--json").json["next"]
        assert shown == done.json["next_step_hint"]
        rows = flow(work, "inbox", "--json", "--repo", ".").json["items"]
        (row,) = (row for row in rows if row.get("goal_id") == "more")
        assert (row["section"], row["command"]) == ("blocked", "flow goal amend more --edit"), how
        if how in ("gone", "cancelled"):
            assert_told_as_blocked(work, row["why"])


def assert_told_as_blocked(work: GitRepo, why: str) -> None:
    """``status``, ``list``, ``statusline`` and the page say what the inbox says."""
    status = flow(work, "goal", "status", "more")
    assert status.stdout.startswith("⊘ more  blocked")
    assert "waits for you" not in status.stdout
    assert flow(work, "goal", "status", "more", "--json").json["held_back"] == why
    listed = flow(work, "goal", "list").stdout
    (line,) = (line for line in listed.splitlines() if " more " in line)
    assert (line[0], " blocked " in line, "waits for you" in line) == ("⊘", True, False)
    (goal,) = (g for g in flow(work, "goal", "list", "--json").json["goals"]
               if g["goal_id"] == "more")  # fmt: skip
    assert goal["held_back"] == why
    line = json.loads(start_flow("statusline", "--json", cwd=work.path).stdout)["line"]
    assert "waits for you" not in line
    assert "blocked" in line or "2 goals" in line
    page = flow(work, "report", "more", "--output", "-").stdout
    assert "Waits for you" not in page
    assert "Blocked: goal greet comes first" in page


def test_it_can_be_taken_out_by_a_person(work: GitRepo) -> None:
    text = scene.goal_file(work, "more")
    start = text.index("continuation:")
    work.write("../new.yaml", text[:start] + text[text.index("lifecycle:") :])
    done = flow(work, "goal", "amend", "more", "--file", "../new.yaml")
    assert (done.status, "asks for less" in done.stderr) == (4, True)
    assert flow(work, "goal", "amend", "more", "--file", "../new.yaml", "--yes").status == 0
    assert evaluate(work).status == 0


def test_a_proposal_is_not_confirmed_once_the_other_is_gone(work: GitRepo) -> None:
    close(work)
    proposal = evaluate(work).json["proposed_transition"]["proposal_id"]
    (work.path / ".flow/goals/greet.goal.yaml").unlink()
    done = flow(work, "goal", "confirm", "more", "--proposal", proposal, "--json")
    assert done.status == 2, done
    assert "goal greet comes first" in done.json["error"]["message"]


def test_a_goal_closed_by_somebody_else_counts_where_nothing_here_speaks_of_it(
    work: GitRepo, tmp_path: Path, home: Path
) -> None:
    close(work)
    work.commit("all of it")
    work.git("clone", "-q", str(work.path), str(tmp_path / "clone"))
    clone = GitRepo(tmp_path / "clone")
    shutil.rmtree(home / "flow-state", ignore_errors=True)
    assert flow(clone, "trust", "record", "more", "--yes").status == 0
    assert evaluate(clone).status == 0


THIRD = ("third", "--outcome", "o", "--criterion", "AC1: x :: true", "--allow", "src/**")


@pytest.mark.parametrize(
    ("prepare", "name", "word"),
    [
        ("", "gret", "goal gret comes first and is not in this checkout"),
        ("failed", "greet", "goal greet comes first and is cancelled"),
        ("", "greet", ""),
        ("closed", "greet", ""),
    ],
)
def test_creating_warns_of_what_can_never_be_achieved(
    work: GitRepo, prepare: str, name: str, word: str
) -> None:
    if prepare == "failed":
        assert flow(work, "goal", "clear", "greet", "--yes", "--reason", "no").status == 0
    elif prepare:
        close(work)
    done = flow(work, "goal", "create", *THIRD, "--after", name, "--json")
    assert done.status == 0, done.stderr
    told = [text for text in done.json["warnings"] if "comes first" in text]
    assert [text.startswith(word) for text in told] == [True] * bool(word)
    assert all("; did you mean greet?" in text for text in told if name == "gret")


def test_activating_a_draft_warns_as_creating_does(work: GitRepo) -> None:
    assert flow(work, "goal", "create", *THIRD, "--draft").status == 0
    text = scene.goal_file(work, "third").replace('"true"', "no-such-program-here")
    work.write(".flow/goals/third.goal.yaml", text + "continuation:\n  after: [gret]\n")
    done = flow(work, "goal", "activate", "third", "--json")
    assert done.status == 0, done.stderr
    told = " ".join(done.json["warnings"])
    assert "no-such-program-here" in told
    assert "goal gret comes first and is not in this checkout" in told


def test_amending_warns_of_it_as_well(work: GitRepo, tmp_path: Path) -> None:
    assert flow(work, "goal", "create", *THIRD).status == 0
    text = scene.goal_file(work, "third") + "continuation:\n  after: [nowhere]\n"
    (tmp_path / "third.yaml").write_text(text)
    done = flow(work, "goal", "amend", "third", "--file", str(tmp_path / "third.yaml"), "--yes")
    assert done.status == 0, done.stderr
    assert "goal nowhere comes first and is not in this checkout" in done.stderr


@pytest.mark.parametrize("name", ["../x", "Greet", ""])
def test_an_unsafe_id_is_refused(work: GitRepo, name: str) -> None:
    words = ("--outcome", "o", "--criterion", "AC1: x :: true", "--after", name)
    assert flow(work, "goal", "create", "third", *words).status == 2


def test_the_hook_lets_go_and_says_it(
    work: GitRepo, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert flow(work, "goal", "pause", "greet").status == 0
    hooks.settings(home, stopHookEnforcement="evaluator-loop")
    answer = hooks.stop(work, capfd)
    assert answer["decision"] == "approve"
    assert "goal greet comes first" in str(answer)
    assert scene.status(work, "more") == "active"
