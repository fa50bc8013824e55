"""git's hooks, settings and exceptions: seen before the commands, after, at a stop, at confirm."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support import GitRepo, run_helper, scene
from tests.support import stops as hooks
from tests.support.scene import flow

if TYPE_CHECKING:
    from tests.support import Ran
    from tests.support.made_once.stage import Stage

pytestmark = pytest.mark.needs_tool("git", "bash")

INSTALL = {
    "hooks/pre-commit": "mkdir -p .git/hooks && echo exit 0 > .git/hooks/pre-commit",
    "core.hooksPath": "git config core.hooksPath src/hooks",
    "config [core]": "git config core.fsmonitor false",
    'config [filter "x"]': "git config filter.x.clean cat",
    "info/exclude": "mkdir -p .git/info && echo '*.py' >> .git/info/exclude",
    "info/attributes": "mkdir -p .git/info && echo '*.py -diff' >> .git/info/attributes",
    "info/grafts": "mkdir -p .git/info && git rev-parse HEAD > .git/info/grafts",
    "info/sparse-checkout": "mkdir -p .git/info && echo /src > .git/info/sparse-checkout",
    "refs/replace": "git replace -f HEAD $(git commit-tree -m x HEAD^{tree})",
    "shallow": "git rev-parse HEAD > .git/shallow",
    "hooks, a link": "rm -rf .git/hooks && mkdir -p ../h && ln -s ../../h .git/hooks",
}
"""What is named → a command that does it. None of it can be undone by Flow's own calls of git."""
SOME = ("hooks/pre-commit", "core.hooksPath", "info/exclude", "hooks, a link")
"""A file, a setting, an exception, and one of another kind: all are looked for in the same way."""


@pytest.fixture
def work(stage: Stage) -> GitRepo:
    """Two commits, and no goal yet."""
    stage.begin(lambda: _start(stage.repo), "two commits")
    return stage.repo


@pytest.fixture
def proposed(stage: Stage) -> tuple[GitRepo, str]:
    """A goal that is met and evaluated, and the proposal's id."""

    def make() -> None:
        _start(stage.repo)
        scene.create(stage.repo)
        scene.propose(stage.repo)

    stage.begin(make, "proposed")
    proposal = json.loads((scene.run_dir(stage.repo) / "proposal.json").read_text())
    return stage.repo, str(proposal["proposal_id"])


def _start(repo: GitRepo) -> None:
    scene.start(GitRepo.init(repo.path))
    repo.commit("second", **{"src/more.txt": "more\n"})


def do(repo: GitRepo, command: str) -> None:
    from tests.support import run

    done = run(["bash", "-c", command], cwd=repo.path)
    assert done.status == 0, done


def confirm(repo: GitRepo, proposal: str) -> Ran:
    return flow(repo, "goal", "confirm", "greet", "--proposal", proposal)


def approve(repo: GitRepo) -> None:
    words = ("goal", "approve", "greet", "guards", "--by", "Reader", "--note", "mine", "--yes")
    done = flow(repo, *words)
    assert done.status == 0, done


@pytest.mark.parametrize("name", SOME)
def test_a_command_that_installs_one_waits_for_a_person(work: GitRepo, name: str) -> None:
    command = f"grep -q please src/greet.txt && {{ {INSTALL[name]}; }}"
    scene.create(work, criterion=f"AC1: says please :: {command}")
    scene.meet(work)
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert (done.status, done.json["verdict"]) == (4, "needs_human_review"), done
    assert done.json["proposed_transition"] is None
    assert name in done.json["reason"]
    assert any("while the commands ran" in text and name in text for text in done.json["warnings"])
    assert scene.status(work) == "waiting_for_user"


@pytest.mark.parametrize("name", SOME)
def test_a_stop_sees_what_its_commands_install(
    work: GitRepo, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    command = f"grep -q please src/greet.txt && {{ {INSTALL[name]}; }}"
    scene.create(work, criterion=f"AC1: says please :: {command}")
    scene.meet(work)
    hooks.stop(work, capfd)
    verdict = hooks.verdict(work)
    assert (verdict["verdict"], verdict["proposed_transition"]) == ("needs_human_review", None)
    assert name in verdict["reason"]


def test_taking_it_away_again_is_no_way_around_the_question(
    work: GitRepo, capfd: pytest.CaptureFixture[str]
) -> None:
    """What was measured while it came in is not used again, at a stop or elsewhere."""
    command = "grep -q please src/greet.txt && echo exit 0 > .git/hooks/pre-commit"
    scene.create(work, criterion=f"AC1: says please :: {command}")
    scene.meet(work)
    for _ in range(2):
        assert flow(work, "goal", "evaluate", "greet", "--json").status == 4
        do(work, "rm .git/hooks/pre-commit")
    assert flow(work, "goal", "resume", "greet").status == 0
    hooks.stop(work, capfd)
    assert scene.status(work) == "waiting_for_user"
    assert hooks.verdict(work)["verdict"] == "needs_human_review"
    assert (work.path / ".git/hooks/pre-commit").exists()  # it was run again


def test_what_a_person_approved_is_approved_as_it_is(work: GitRepo) -> None:
    command = "grep -q please src/greet.txt && echo exit 0 > .git/hooks/pre-commit"
    scene.create(work, criterion=f"AC1: says please :: {command}")
    scene.meet(work)
    assert flow(work, "goal", "evaluate", "greet", "--json").status == 4
    approve(work)
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert done.status == 0, done
    proposal = done.json["proposed_transition"]["proposal_id"]
    do(work, "echo 'exit 1' >> .git/hooks/pre-commit")
    refused = confirm(work, proposal)
    assert refused.status == 2
    assert "hooks/pre-commit" in refused.stderr
    assert flow(work, "goal", "evaluate", "greet", "--json").status == 4
    done = flow(work, "goal", "evaluate", "greet", "--json")  # the command put it back
    assert done.status == 0, done
    assert confirm(work, done.json["proposed_transition"]["proposal_id"]).status == 0
    assert scene.status(work) == "achieved"


@pytest.mark.parametrize("name", INSTALL)
def test_between_evaluate_and_confirm(
    proposed: tuple[GitRepo, str], name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    work, proposal = proposed
    do(work, INSTALL[name])
    refused = confirm(work, proposal)
    assert refused.status == 2, refused
    assert name in refused.stderr
    assert scene.status(work) != "achieved"
    if name not in SOME:
        return
    answer = hooks.stop(work, capfd)  # with evidence that could be used again
    assert "evaluate greet --confirm" not in json.dumps(answer)
    assert hooks.verdict(work)["verdict"] == "needs_human_review"
    assert hooks.verdict(work)["proposed_transition"] is None
    assert confirm(work, proposal).status == 2


def test_the_helpers_door_looks_too(work: GitRepo) -> None:
    scene.create(work)
    scene.propose(work)
    work.write("../life.yaml", "status: achieved\n")
    words = ["--update-lifecycle", "--goal-id", "greet", "--lifecycle-file", "../life.yaml"]
    do(work, INSTALL["hooks/pre-commit"])
    refused = run_helper("flow-goal-record.sh", *words, "--merge", cwd=work.path)
    assert refused.status != 0
    assert "hooks/pre-commit" in refused.stderr
    assert scene.status(work) != "achieved"
    do(work, "rm .git/hooks/pre-commit")
    done = run_helper("flow-goal-record.sh", *words, "--merge", cwd=work.path)
    assert done.status == 0, done
    assert scene.status(work) == "achieved"


def test_a_proposal_that_says_nothing_of_guards_is_none(work: GitRepo) -> None:
    """As Flow 0.1.0 wrote it, with the id that it computed."""
    from flow.core.goal.model import canonical_digest

    scene.create(work)
    scene.propose(work)
    file = scene.run_dir(work) / "proposal.json"
    old = json.loads(file.read_text())
    del old["guards"]
    rows = [[*row, ref] for row, ref in zip(old["results"], old["evidence"], strict=True)]
    keys = {"contract": "contract", "subject": "tree", "verdict": "verdict", "to": "to"}
    old["proposal_id"] = canonical_digest(
        {**{name: old[key] for name, key in keys.items()}, "evidence": rows}
    )
    file.write_text(json.dumps(old))
    refused = confirm(work, old["proposal_id"])
    assert refused.status == 2
    assert "evaluate again" in refused.stderr
    assert scene.status(work) != "achieved"


def test_everyday_git_between_evaluate_and_confirm_is_no_alarm(work: GitRepo) -> None:
    scene.create(work)
    do(work, "git init -q --bare ../remote.git && git remote add origin ../remote.git")
    do(work, "git push -q -u origin HEAD")
    proposal = scene.propose(work)
    do(work, "git add src && git config user.name Somebody && git branch other && git fetch -q")
    do(work, "git switch -q other && git switch -q - && git branch -u origin/main")
    do(work, "git reset -q")
    done = confirm(work, proposal)
    assert done.status == 0, done


def test_status_names_the_approval_that_a_goal_waits_for(proposed: tuple[GitRepo, str]) -> None:
    repo, _ = proposed
    do(repo, INSTALL["hooks/pre-commit"])
    assert flow(repo, "goal", "evaluate", "greet").status == 4
    step = "flow goal approve greet guards --by NAME --note TEXT"
    assert step in flow(repo, "goal", "status", "greet").stdout
    assert flow(repo, "goal", "status", "greet", "--json").json["next"].endswith(step)
    approve(repo)
    assert "guards" not in flow(repo, "goal", "status", "greet", "--json").json["next"]
