"""Stale evidence is shown everywhere and never counted (SPEC 10, HAZARD B24, H95)."""

from __future__ import annotations

import json
import os
import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import GitRepo, scene
from tests.support import stops as hooks
from tests.support.forger import Forger
from tests.support.scene import flow

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.needs_tool("git", "bash")
FIRST = "evidence-ac1-eval-1"


def commit_work(repo: GitRepo) -> None:
    repo.git("add", "src")
    repo.git("commit", "-q", "-m", "the work")


def commit_own_files(repo: GitRepo) -> None:
    repo.git("add", ".flow/goals", ".decisions")
    repo.git("commit", "-q", "-m", "the goal")


def commit_nothing(repo: GitRepo) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "nothing")


def edit(repo: GitRepo) -> None:
    repo.write("src/greet.txt", "please, please\n")


def edit_and_commit(repo: GitRepo) -> None:
    edit(repo)
    commit_work(repo)


def add_file(repo: GitRepo) -> None:
    repo.write("src/new.txt", "new\n")


def stage(repo: GitRepo) -> None:
    repo.git("add", "src/greet.txt")


def put_back(repo: GitRepo) -> None:
    edit(repo)
    scene.meet(repo)


def change_contract(repo: GitRepo) -> None:
    text = scene.goal_file(repo).replace("the greeting is polite", "the greeting is very polite")
    repo.write(".flow/goals/greet.goal.yaml", text)
    assert flow(repo, "trust", "record", "greet", "--yes").status == 0


def sidecar(repo: GitRepo) -> Any:
    return scene.run_dir(repo) / "evidence" / f"{FIRST}.evidence.yaml"


def forge(repo: GitRepo, pattern: str, text: str) -> None:
    """Change the sidecar, and all that vouches for it, as a Flow of another day would have it."""
    path, file = sidecar(repo), Forger(scene.run_dir(repo))
    old = path.read_bytes()
    new = re.sub(pattern, text, old.decode()).encode()
    assert new != old
    path.chmod(0o644)
    path.write_bytes(new)
    digest = sha256(new).hexdigest()
    file.rewrite(lambda entries: [{**entries[0], "sidecar_sha256": digest}, *entries[1:]])
    (kept,) = Path(os.environ["FLOW_STATE_DIR"], "chains").glob("*/*.json")
    last = file.lines("ledger.jsonl")[-1]
    document = {**json.loads(kept.read_text()), "ledger": f"{last['seq']}:{last['hash']}"}
    kept.write_text(json.dumps(document))


def another_version(repo: GitRepo) -> None:
    forge(repo, r"flow_version: .*", 'flow_version: "0.0.1"')


def future(repo: GitRepo) -> None:
    forge(repo, r"created_at: .*", 'created_at: "2999-01-01T00:00:00Z"')


def remove(repo: GitRepo) -> None:
    sidecar(repo).unlink()


MOVES: list[tuple[Callable[[GitRepo], None], list[str]]] = [
    (commit_own_files, []),
    (commit_nothing, []),
    (put_back, []),
    (edit, ["tree"]),
    (add_file, ["tree"]),
    (stage, ["tree"]),
    (commit_work, ["head", "tree"]),
    (edit_and_commit, ["head", "tree"]),
    (change_contract, ["contract"]),
    (another_version, ["flow_version"]),
    (future, ["future"]),
]
SINCE = {
    edit: "the files were changed since it was made",
    commit_work: "the files were changed or committed since it was made",
}
"""Nothing was edited by a commit, so the message names what did happen."""
WORDS = {
    "head": "HEAD moved",
    "tree": "the files changed",
    "contract": "the contract changed",
    "flow_version": "measured by another version of Flow",
    "future": "dated in the future",
}


@pytest.mark.parametrize(("move", "why"), MOVES, ids=[move.__name__ for move, _ in MOVES])
def test_what_moved_is_shown_everywhere_and_cannot_be_confirmed(
    repo: GitRepo, move: Callable[[GitRepo], None], why: list[str]
) -> None:
    scene.create(scene.start(repo))
    proposal = scene.propose(repo)
    move(repo)
    fresh = not why

    document = flow(repo, "goal", "status", "greet", "--json").json
    (row,) = document["criteria"]
    assert (row["fresh"], row["why_stale"]) == (fresh, why)
    live = document["proposal"]  # another contract on record withdraws it
    assert (live is not None and live["live"]) is fresh
    everywhere = move in (put_back, edit, commit_work, change_contract)
    for command in (("evidence", "list"), ("goal", "inspect")) if everywhere else ():
        (row,) = flow(repo, *command, "greet", "--json").json["evidence"]
        assert (row["fresh"], row["why_stale"]) == (fresh, why)
    shown = flow(repo, "evidence", "show", FIRST, "--goal", "greet", "--json").json
    assert (shown["fresh"], shown["why_stale"]) == (fresh, why)

    words = ", ".join(WORDS[word] for word in why)
    commands = (
        ("evidence", "show", FIRST, "--goal", "greet"),
        ("goal", "status", "greet"),
        ("evidence", "list", "greet"),
        ("goal", "inspect", "greet"),
    )
    for command in commands if everywhere else commands[:1]:
        said = flow(repo, *command).stdout
        assert ("stale" in said) is not fresh, said
        moved = command[1] == "status" and "tree" in why and "contract" not in why
        assert ("changed since the last turn" if moved else words) in said

    done = flow(repo, "goal", "confirm", "greet", "--proposal", proposal)
    assert done.status == (0 if fresh else 2), done
    assert SINCE.get(move, "") in done.stderr
    assert scene.status(repo) == ("achieved" if fresh else "active")


def test_what_is_gone_is_said(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    scene.propose(repo)
    remove(repo)
    (row,) = flow(repo, "goal", "status", "greet", "--json").json["criteria"]
    assert (row["fresh"], row["why_stale"]) == (False, ["missing"])
    assert "missing or altered" in flow(repo, "goal", "status", "greet").stdout


def test_what_others_recorded_without_a_stamp_is_said(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    scene.propose(repo)
    run_id = scene.run_dir(repo).name
    file = repo.path.parent / "lint.json"
    record = {
        "apiVersion": "flow.synapti.ai/v1",
        "kind": "FlowEvidence",
        "metadata": {
            "id": "lint",
            "goal": "greet",
            "run_id": run_id,
            "created_at": "2026-01-05T09:00:00Z",
        },
        "evidence": {"type": "lint_result", "proves": ["AC1"], "limitations": ["style only"]},
    }
    file.write_text(json.dumps(record))
    assert flow(repo, "evidence", "record", "--run-id", run_id, "--evidence-file", file).status == 0
    rows = flow(repo, "evidence", "list", "greet", "--json").json["evidence"]
    found = {row["id"]: (row["fresh"], row["why_stale"]) for row in rows}
    assert found == {"lint": (False, ["unstamped"]), FIRST: (True, [])}
    assert "stale" not in flow(repo, "evidence", "list").stdout  # nobody said it was of these files
    edit(repo)
    assert "does not say what it was measured on" in flow(repo, "evidence", "list").stdout


def test_older_evidence_of_a_goal_stays_listed_as_stale(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    flow(repo, "goal", "evaluate", "greet")
    scene.propose(repo)
    rows = flow(repo, "evidence", "list", "greet", "--json").json["evidence"]
    assert [row["fresh"] for row in rows] == [False, True]


def test_a_closed_goal_is_not_held_against_later_work(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    flow(repo, "goal", "confirm", "greet", "--proposal", scene.propose(repo))
    edit(repo)
    (row,) = flow(repo, "goal", "status", "greet", "--json").json["criteria"]
    assert (row["fresh"], row["why_stale"]) == (None, [])
    (row,) = flow(repo, "evidence", "list", "greet", "--json").json["evidence"]
    assert row["fresh"] is False


def test_git_that_cannot_say_leaves_nothing_fresh(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    scene.propose(repo)
    (repo.path / ".git/MERGE_HEAD").write_text(f"{repo.head}\n")
    (row,) = flow(repo, "goal", "status", "greet", "--json").json["criteria"]
    assert (row["fresh"], row["why_stale"]) == (False, ["unknown"])


def test_evidence_of_a_goal_that_is_gone_is_listed_without_a_word(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    scene.propose(repo)
    run_id = scene.run_dir(repo).name
    (repo.path / ".flow/goals/greet.goal.yaml").unlink()
    (row,) = flow(repo, "evidence", "list", "--run-id", run_id, "--json").json["evidence"]
    assert (row["fresh"], row["why_stale"]) == (None, [])


# --- attacks --------------------------------------------------------------------------------------


PUT_BACK = """\
cp -p src/greet.txt ../kept
{change}
grep -q please src/greet.txt; status=$?
{back}
exit $status
"""


COPIED = ("echo please > src/greet.txt", "cp -p ../kept src/greet.txt", "src/greet.txt")
MOVED = (
    "mv src/greet.txt ../moved; echo please > src/greet.txt",
    "mv ../moved src/greet.txt",
    "src/greet.txt",
)
FOLDER = (
    "mv src ../moved; mkdir src; echo please > src/greet.txt",
    "rm -r src; mv ../moved src",
    "src/",
)


@pytest.mark.parametrize(
    ("before", "way"),
    [("as committed", COPIED), ("changed", MOVED), ("as committed", FOLDER)],
)
def test_changed_and_put_back_before_anybody_looks(
    repo: GitRepo, before: str, way: tuple[str, str, str]
) -> None:
    """Content, size and time are as they were, and only the kernel's own stamp tells.

    `make generated && git diff --exit-code` does the same, so it is told to whoever confirms.
    """
    change, back, name = way
    scene.start(repo)
    repo.commit("a check", **{"check.sh": PUT_BACK.format(change=change, back=back)})
    scene.create(repo, criterion="AC1: says please :: bash check.sh")
    if before == "changed":
        repo.write("src/greet.txt", "do give me that\n")
    done = flow(repo, "goal", "evaluate", "greet", "--json").json
    assert repo.read("src/greet.txt").endswith("give me that\n")
    told = f"written to while the commands ran, now as before: {name}"
    assert done["verdict"] == "achieved"
    assert told in done["reason"]
    assert told in done["proposed_transition"]["reason"]
    assert told in flow(repo, "goal", "status", "greet").stdout
    quiet = flow(repo, "goal", "evaluate", "greet", "--only", "AC1", "--json")
    assert told in quiet.json["reason"]


def deinit(repo: GitRepo) -> None:
    repo.git("submodule", "--quiet", "deinit", "--force", "--all")


@pytest.mark.parametrize("there", [True, False])
def test_a_submodule_comes_or_goes_after_a_green_run(
    repo: GitRepo, tmp_path: Path, there: bool
) -> None:
    """Its empty folder is no change of the repository's, and other content all the same."""
    GitRepo.init(tmp_path / "other").commit("it", **{"please.txt": "please\n"})
    local = ("-c", "protocol.file.allow=always", "submodule", "--quiet")
    scene.start(repo)
    repo.git(*local, "add", str(tmp_path / "other"), "part")
    repo.commit("a submodule")
    if not there:
        deinit(repo)
    command = "test -e part/please.txt" if there else "! test -e part/please.txt"
    scene.create(repo, criterion=f"AC1: the part :: {command}")
    done = flow(repo, "goal", "evaluate", "greet", "--json").json
    assert done["verdict"] == "achieved"
    if there:
        deinit(repo)
    else:
        repo.git(*local, "update", "--init")
    row = flow(repo, "goal", "status", "greet", "--json").json["criteria"][0]
    assert (row["fresh"], row["why_stale"]) == (False, ["tree"])
    proposal = done["proposed_transition"]["proposal_id"]
    refused = flow(repo, "goal", "confirm", "greet", "--proposal", proposal)
    assert refused.status == 2
    assert "the files were changed since it was made" in refused.stderr


def test_a_command_that_checks_a_submodule_out_can_pass(repo: GitRepo, tmp_path: Path) -> None:
    GitRepo.init(tmp_path / "other").commit("it", **{"please.txt": "please\n"})
    local = "git -c protocol.file.allow=always submodule --quiet"
    scene.start(repo)
    repo.git(*local.split()[1:], "add", str(tmp_path / "other"), "part")
    repo.commit("a submodule")
    deinit(repo)
    command = f"{local} update --init && grep -q please part/please.txt"
    scene.create(repo, criterion=f"AC1: the part :: {command}")
    for _ in range(2):
        done = flow(repo, "goal", "evaluate", "greet", "--json").json
        assert done["verdict"] == "achieved"
        assert "written to" not in done["reason"]
        (row,) = flow(repo, "goal", "status", "greet", "--json").json["criteria"]
        assert row["fresh"] is True


def test_what_was_measured_through_a_new_link_is_changed(repo: GitRepo) -> None:
    """The link is as it was, and what it leads to is ignored."""
    scene.start(repo)
    repo.commit("ignored", **{".gitignore": ".flow/runs/\nbuild/\n"})
    words = ("--outcome", "polite", "--criterion", scene.PASSES)
    assert flow(repo, "goal", "create", "greet", *words).status == 0
    (repo.path / "build").mkdir()
    (repo.path / "src").rename(repo.path / "build/src")
    (repo.path / "src").symlink_to("build/src")
    proposal = scene.propose(repo)
    repo.write("build/src/greet.txt", "give me that\n")
    done = flow(repo, "goal", "confirm", "greet", "--proposal", proposal)
    assert done.status == 2
    assert "the files were changed since it was made" in done.stderr
    scene.meet(repo)
    repo.write("build/other", "x\n")
    assert flow(repo, "goal", "confirm", "greet", "--proposal", proposal).status == 0


def test_an_output_behind_a_new_link_holds_an_evaluation_up_once(repo: GitRepo) -> None:
    """It was there when the first one began; from then on it is known as the command's."""
    scene.start(repo)
    repo.commit("ignored", **{".gitignore": ".flow/runs/\nbuild/\n"})
    repo.write("build/log", "by hand\n")
    (repo.path / "src/log").symlink_to("../build/log")
    scene.create(repo, criterion="AC1: logs :: echo $RANDOM$$ > build/log && test -s src/log")
    first, second = (flow(repo, "goal", "evaluate", "greet", "--json").json for _ in range(2))
    assert "changed while the commands ran: build/log" in first["reason"]
    assert (first["verdict"], second["verdict"]) == ("not_achieved", "achieved")


ONCE = "test -e src/made.txt || echo made > src/made.txt; grep -q please src/greet.txt"
ANEW = "echo $$ >> src/made.txt; grep -q please src/greet.txt"


def test_what_a_command_made_is_edited_after_a_green_run(repo: GitRepo) -> None:
    """It was measured with other content; from the next evaluation on it counts like any file."""
    scene.create(scene.start(repo), criterion=f"AC1: x :: {ONCE}")
    proposal = scene.propose(repo)
    repo.write("src/made.txt", "by hand\n")
    shown = flow(repo, "goal", "status", "greet", "--json")
    (row,) = shown.json["criteria"]
    assert (row["fresh"], row["why_stale"]) == (False, ["tree"])
    done = flow(repo, "goal", "confirm", "greet", "--proposal", proposal)
    assert done.status == 2
    assert "the files were changed since it was made" in done.stderr
    assert scene.status(repo) == "active"
    done = flow(repo, "goal", "evaluate", "greet", "--json")
    assert done.status == 1
    assert "src/made.txt" in done.json["reason"]
    confirmed_on_the_files_as_they_are(repo)


def test_what_a_command_makes_anew_may_have_been_edited(repo: GitRepo) -> None:
    """As by a test run by hand that writes its report: that holds no evaluation up."""
    scene.create(scene.start(repo), criterion=f"AC1: x :: {ANEW}")
    scene.propose(repo)
    repo.write("src/made.txt", "by hand\n")
    (row,) = flow(repo, "goal", "status", "greet", "--json").json["criteria"]
    assert row["fresh"] is False
    confirmed_on_the_files_as_they_are(repo)


def test_the_hook_measures_anew_where_an_output_was_edited(
    repo: GitRepo, capfd: pytest.CaptureFixture[str]
) -> None:
    scene.create(scene.start(repo), criterion=f"AC1: x :: {ONCE}")
    scene.meet(repo)
    for text in ("", "", "by hand\n", ""):
        if text:
            repo.write("src/made.txt", text)
        hooks.stop(repo, capfd)
    assert [row["reused"] for row in hooks.events(repo)] == [[], ["AC1"], [], []]


def confirmed_on_the_files_as_they_are(repo: GitRepo) -> None:
    """An evaluation is green and fresh, and can be confirmed."""
    proposal = scene.propose(repo)
    (row,) = flow(repo, "goal", "status", "greet", "--json").json["criteria"]
    assert row["fresh"] is True
    done = flow(repo, "goal", "confirm", "greet", "--proposal", proposal)
    assert done.status == 0, done
    assert scene.status(repo) == "achieved"


def test_of_files_that_are_only_read_nothing_is_told(repo: GitRepo) -> None:
    scene.start(repo)
    scene.create(repo, criterion="AC1: says give :: grep -q give src/greet.txt")
    done = flow(repo, "goal", "evaluate", "greet", "--json").json
    assert "written to" not in done["reason"]


def test_changed_while_measured_and_put_back_is_no_evidence_of_what_was_before(
    repo: GitRepo, capfd: pytest.CaptureFixture[str]
) -> None:
    """Once it was: the next stop took the sidecar, whose stamp fitted again, for its own."""
    cheat = "sed -i s/give/please/ src/greet.txt && grep -q please src/greet.txt"
    scene.create(scene.start(repo), criterion=f"AC1: says please :: {cheat}")
    hooks.stop(repo, capfd)
    repo.git("checkout", "-q", "src/greet.txt")
    row = flow(repo, "goal", "status", "greet", "--json").json["criteria"][0]
    assert (row["fresh"], row["why_stale"]) == (False, ["moved"])
    (listed,) = flow(repo, "evidence", "list", "greet", "--json").json["evidence"]
    assert (listed["fresh"], listed["why_stale"]) == (False, ["moved"])
    assert "the files changed while it was measured" in flow(repo, "goal", "status", "greet").stdout

    answer = hooks.stop(repo, capfd)
    assert "proved" not in answer["reason"]
    assert flow(repo, "goal", "status", "greet", "--json").json["proposal"] is None
    assert scene.status(repo) == "active"


def test_a_clock_that_stepped_back_makes_the_hook_measure_again(
    repo: GitRepo, capfd: pytest.CaptureFixture[str]
) -> None:
    scene.create(scene.start(repo))
    scene.meet(repo)
    hooks.stop(repo, capfd)
    assert hooks.events(repo)[-1]["reused"] == []
    hooks.stop(repo, capfd)
    assert hooks.events(repo)[-1]["reused"] == ["AC1"]
    future(repo)
    hooks.stop(repo, capfd)
    assert hooks.events(repo)[-1]["reused"] == []
