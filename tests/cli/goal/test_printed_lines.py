"""Lines that Flow prints to be typed, typed as they are printed."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from flow.core.stop.lost_goals import Loss, loss_remedy
from flow.core.text.shell_quote import shell_argument
from tests.support import GitRepo, scene
from tests.support.scene import flow
from tests.support.stops import settings, stop

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ODD_PATTERNS = ("-dash", "it's", "two\nlines", "$HOME `x`", "*")


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return scene.create(scene.start(repo))


def typed(line: str) -> list[str]:
    """The arguments that bash makes of a line."""
    words = ["bash", "-c", f"set -f; printf '%s\\0' {line}"]
    return subprocess.run(words, capture_output=True, check=True, text=True).stdout.split("\0")[:-1]


def amended(repo: GitRepo, words: Sequence[str]) -> list[str]:
    done = flow(repo, *words)
    assert done.status == 0, done.stderr
    inspected = flow(repo, "goal", "inspect", "greet", "--json").json
    paths: list[str] = inspected["document"]["constraints"]["allowed_paths"]
    return paths


def test_the_line_of_a_refused_amendment_asks_for_the_same(work: GitRepo) -> None:
    words = [f"--allow={pattern}" for pattern in ODD_PATTERNS]
    refused = flow(work, "goal", "amend", "greet", *words, "--json")
    assert refused.status == 4
    line = refused.json["error"]["remedy"].partition("a caller who asked one: flow ")[2]
    assert amended(work, typed(line))[-len(ODD_PATTERNS) :] == [*ODD_PATTERNS]


def run(repo: GitRepo, line: str) -> None:
    subprocess.run(["bash", "-ec", line], cwd=repo.path, check=True, capture_output=True)


@pytest.mark.parametrize("branch", ["it's-$HOME", "a&b;c", "(x)"])
def test_the_line_to_the_goals_branch_is_one_that_a_shell_takes(branch: str, repo: GitRepo) -> None:
    scene.start(repo).git("switch", "-qc", branch)
    scene.create(repo).commit("a goal")
    repo.git("switch", "-qc", "other")
    refused = flow(repo, "goal", "evaluate", "greet", "--json")
    run(repo, refused.json["error"]["remedy"].partition("; where that branch")[0])
    assert repo.git("branch", "--show-current").strip() == branch
    loss = Loss("greet", "switched", "other", branch)
    assert loss_remedy(loss) == f"git switch {shell_argument(branch)}"


def test_doctors_line_for_a_mode_is_one_that_a_shell_takes(
    work: GitRepo, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = home / "it's $mine"
    (home / "flow-state").rename(state)
    monkeypatch.setenv("FLOW_STATE_DIR", str(state))
    trust = state / "goal-trust.jsonl"
    trust.chmod(0o640)
    (finding,) = flow(work, "doctor", "--json").json["findings"]
    run(work, finding["do"])
    assert trust.stat().st_mode & 0o777 == 0o600
    state.chmod(0o777)
    refused = flow(work, "trust", "list", "--json")
    run(work, refused.json["error"]["remedy"].partition("then: ")[2])
    assert flow(work, "trust", "list").status == 0


@pytest.mark.parametrize(
    "words",
    [
        ("goal", "amend", "greet", "--remove", "AC1"),
        ("goal", "amend", "greet", "--criterion", "AC7: no command"),
        ("goal", "activate", "greet"),
        ("verdict", "show", "greet"),
        ("goal", "forget", "greet"),
    ],
)
def test_a_remedy_names_the_goal_that_the_call_named(words: tuple[str, ...], work: GitRepo) -> None:
    scene.create(work, "other")
    if words[1] == "forget":
        assert flow(work, *words).status == 0
    remedy = flow(work, *words, "--json").json["error"]["remedy"]
    assert re.search(r"flow goal [a-z]+ greet\b", remedy), remedy


def test_a_base_that_is_gone_is_no_circle_of_hints(work: GitRepo) -> None:
    lost = work.git("rev-parse", "HEAD").strip()
    work.git("checkout", "-q", "--orphan", "fresh")
    work.commit("anew")
    work.git("branch", "-qD", "main")
    work.git("branch", "-m", "main")
    work.git("reflog", "expire", "--expire=now", "--all")
    work.git("gc", "-q", "--prune=now")
    hints = set()
    for words in (("baseline", "greet"), ("rebase", "greet", "--yes")):
        refused = flow(work, "goal", *words, "--json")
        assert refused.status == 5
        assert refused.json["error"]["message"].startswith(f"the base commit {lost[:12]} is not")
        hints.add(refused.json["error"]["remedy"])
    (hint,) = hints
    line = hint.partition("start anew: flow ")[2].replace("NEW", "anew").replace("ID", "greet")
    assert flow(work, *line.split()).status == 0
    assert flow(work, "goal", "baseline", "anew").status == 0


@pytest.mark.parametrize(
    ("theirs", "said"),
    [
        ((), "; no file stops counting\n"),
        (("a.txt",), "; 1 file that only the other side changed stops counting:\n  a.txt\n"),
        (("a.txt", "b.txt"), "; 2 files that only the other side changed stop counting:\n"),
    ],
)
def test_a_rebase_counts_what_stops_counting(
    theirs: tuple[str, ...], said: str, repo: GitRepo
) -> None:
    scene.start(repo).git("switch", "-qc", "mine")
    scene.create(repo).commit("a goal")
    repo.git("switch", "-q", "main")
    for name in theirs:
        repo.write(name, "theirs\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "--allow-empty", "-m", "theirs")
    repo.git("switch", "-q", "mine")
    repo.git("merge", "-q", "--no-edit", "main")
    assert said in flow(repo, "goal", "rebase", "greet").stderr


@pytest.mark.parametrize("odd", ["x", "it's"])
def test_the_lines_for_files_outside_are_right_in_a_folder_below(
    odd: str, work: GitRepo, capfd: pytest.CaptureFixture[str], home: Path
) -> None:
    """``rm x`` is for the top of the checkout: below ``src`` it would take another file."""
    for path in (odd, f"src/deep/{odd}"):
        work.write(path, "new\n")
    below = work.path / "src/deep"
    shown = flow(work, "goal", "evaluate", "greet", cwd=below).stdout
    settings(home, stopHookEnforcement="block")
    reason = stop(work, capfd, cwd=str(below))["reason"]
    for text, line in ((shown, r"remove: +(rm .*)"), (reason, r"remove it with (rm .*)")):
        work.write(odd, "new\n")
        first = re.search(r" the top of the checkout: (cd .*)", text)
        second = re.search(line, text)
        assert first is not None
        assert second is not None
        run(work, f"cd src/deep; {first[1]}; {second[1]}")
        assert not (work.path / odd).exists()
        assert (below / odd).exists()
    work.write(odd, "new\n")
    assert "top of the checkout" not in flow(work, "goal", "evaluate", "greet").stdout
    assert "top of the checkout" not in stop(work, capfd)["reason"]


def test_the_stop_hooks_line_says_which_of_several_goals_a_session_works_on(
    work: GitRepo, capfd: pytest.CaptureFixture[str], home: Path
) -> None:
    scene.create(work, "other")
    settings(home, stopHookEnforcement="block")
    told = stop(work, capfd)["systemMessage"]
    line = re.search(r"say which one this session works on: flow (goal claim \S+)", told)
    assert line is not None
    assert "belongs to the session that stops next" in flow(work, *line[1].split()).stdout
    answer = stop(work, capfd)
    assert (answer["decision"], f"Goal {line[1].split()[-1]} is" in answer["reason"]) == (
        "block",
        True,
    )


def test_an_error_names_its_option_once(work: GitRepo) -> None:
    refused = flow(work, "goal", "evaluate", "greet", "--confirm")
    assert refused.stderr.startswith("flow: --confirm is for a person at a terminal; ")
    document = flow(work, "goal", "evaluate", "greet", "--confirm", "--json").json["error"]
    assert document["key"] == "--confirm"
    other = flow(work, "goal", "approve", "greet", "AC1", "--note", "n", "--yes")
    assert other.stderr.startswith("flow: AC1 has a verification_command; ")


def test_a_command_that_changes_files_itself_is_no_circle_of_hints(repo: GitRepo) -> None:
    scene.create(scene.start(repo), criterion="AC1: x :: date +%N >> src/greet.txt; exit 1")
    for _ in range(2):  # to leave the files alone oneself was the hint, and changed nothing
        hint = flow(repo, "goal", "evaluate", "greet", "--json").json["next_step_hint"]
        assert hint.startswith("let neither the commands nor anything else change files")


def test_trust_that_was_revoked_is_asked_for_with_the_contract_to_read(work: GitRepo) -> None:
    assert flow(work, "trust", "revoke", "greet").status == 0
    asked = flow(work, "trust", "record", "greet")
    line = re.search(r"nothing differs in its contract .*; all of it: flow (.*)", asked.stderr)
    assert line is not None
    assert "verification_command" in flow(work, *line[1].split()).stdout


def test_a_refused_closing_keeps_its_reason(work: GitRepo) -> None:
    words = ("goal", "clear", "greet", "--reason", "it's not wanted")
    remedy = flow(work, *words, "--json").json["error"]["remedy"]
    line = remedy.partition("a caller who asked one: flow ")[2]
    assert typed(line) == [*words, "--yes"]
    words = ("goal", "amend", "greet", "--allow", "docs/", "--by", "A B", "--reason", "a path")
    remedy = flow(work, *words, "--json").json["error"]["remedy"]
    assert typed(remedy.partition("a caller who asked one: flow ")[2]) == [*words, "--yes"]


def test_a_refused_gc_drops_no_more_than_was_asked(work: GitRepo) -> None:
    """Its line without ``--keep`` would drop the runs that were to be kept."""
    for goal in ("greet", "kept"):
        if goal != "greet":
            scene.create(work, goal)
        assert flow(work, "goal", "evaluate", goal).status == 1
        assert flow(work, "goal", "clear", goal, "--yes").status == 0
    for archive in ((), ("--archive",)):
        words = ("gc", *archive, "--older-than", "0", "--keep", "1")
        remedy = flow(work, *words, "--json").json["error"]["remedy"]
        assert typed(remedy.partition("a caller who asked one: flow ")[2]) == [*words, "--yes"]
