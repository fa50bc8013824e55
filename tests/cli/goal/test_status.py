"""``flow goal status`` of a real goal: what is changed, what moved, who said what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from flow.adapters.ledger.reader import FileRecords
from tests.support import scene
from tests.support.scene import flow, step

if TYPE_CHECKING:
    from tests.support import GitRepo

NOTE = "It reads well.\nI read all of it."


def status(repo: GitRepo) -> str:
    return flow(repo, "goal", "status", "greet").stdout


def approve(repo: GitRepo, **env: str) -> None:
    words = ("approve", "greet", "AC2", "--by", "colleague", "--note", NOTE, "--yes")
    done = flow(repo, "goal", *words, env=env)
    assert done.status == 0, done.stderr


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY)
    scene.meet(repo)
    assert step(repo, "goal", "evaluate", "greet").status == 4
    return repo


def test_of_an_undecided_criterion_its_kind_is_shown(repo: GitRepo) -> None:
    scene.create(scene.start(repo), criterion="AC1: says please :: grep -q x src/greet.txt || true")
    assert step(repo, "goal", "evaluate", "greet").status == 1
    (row,) = flow(repo, "goal", "status", "greet", "--json").json["criteria"]
    assert row["undecided"].startswith("masked: ")
    assert "◐ AC1  says please  masked" in status(repo)


@pytest.mark.parametrize("env", [{}, {"CLAUDECODE": "1"}])
def test_an_approval_is_told_with_who_from_where_and_in_which_words(
    work: GitRepo, env: dict[str, str]
) -> None:
    approve(work, **env)
    [act] = flow(work, "goal", "status", "greet", "--json").json["approvals"]
    assert (act["about"], act["by"], act["note"]) == ("AC2", "colleague", NOTE)
    assert (act["said_from"], act["vouched"]) == ("agent" if env else "pipe", True)
    place = "an agent's shell (Claude Code)" if env else "pipe"
    lines = status(work).splitlines()
    [at] = [place for place, line in enumerate(lines) if line.startswith("approved")]
    assert lines[at].startswith("approved   AC2: colleague, ")
    assert lines[at].endswith(f" UTC, {place}")
    assert lines[at + 1] == "           “It reads well. I read all of it.”"


def test_an_approval_that_nobody_here_knows_is_called_that(work: GitRepo) -> None:
    approve(work)
    [file] = scene.run_dir(work).glob("evidence/*-approval-*.yaml")
    file.chmod(0o644)
    file.write_text(file.read_text().replace("It reads well", "I never read it"))
    [act] = flow(work, "goal", "status", "greet", "--json").json["approvals"]
    assert act["vouched"] is False
    assert "colleague" in status(work)
    assert "your state folder does not know it" in status(work)


def test_who_closed_it_stays_to_be_read(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    scene.meet(repo)
    assert scene.confirm(repo).status == 0
    closed = flow(repo, "goal", "status", "greet", "--json").json["closed"]
    assert (closed["about"], closed["said_from"]) == ("achieved", "pipe")
    assert closed["by"]
    assert f"confirmed  {closed['by']}, " in status(repo)


def test_what_is_changed_and_what_moved_since_the_last_turn(work: GitRepo) -> None:
    assert "files      1 changed, inside its paths; unchanged since the last turn" in status(work)
    work.write("src/more.txt", "more\n")
    work.write("other.txt", "other\n")
    files = flow(work, "goal", "status", "greet", "--json").json["files"]
    assert files["moved"] is True
    assert sorted(files["changed"]) == ["other.txt", "src/greet.txt", "src/more.txt"]
    assert files["outside"] == ["other.txt"]
    assert {"other.txt", "src/more.txt"} <= set(files["moved_paths"])
    assert "3 changed, 1 outside its paths: other.txt; changed since the last turn" in status(work)


def test_what_a_turn_measured_and_is_put_back_did_not_move(work: GitRepo) -> None:
    before = work.read("src/greet.txt")
    work.write("src/greet.txt", "please do\n")
    assert "stale, was exit 0" in status(work)
    work.write("src/greet.txt", before)
    assert "unchanged since the last turn" in status(work)
    assert "stale" not in status(work)


def test_another_branch_is_named(work: GitRepo) -> None:
    assert "branch " not in status(work)
    work.git("switch", "-q", "-c", "other")
    assert "branch     main" in status(work)
    assert flow(work, "goal", "status", "greet", "--json").json["here"] is False


def test_the_turns_are_those_on_record(work: GitRepo) -> None:
    work.write("other.txt", "x")
    assert flow(work, "goal", "evaluate", "greet").status == 3
    turns = flow(work, "goal", "status", "greet", "--json").json["turns"]
    assert [(turn["turn"], turn["verdict"]) for turn in turns] == [
        (1, "needs_human_review"),
        (2, "blocked"),
    ]
    assert "turns      ◐⊘   2, the last " in status(work)


def test_it_fits_the_terminal_and_its_times_are_short(work: GitRepo) -> None:
    approve(work)
    code, shown = scene.ended(scene.at_terminal(work, ["goal", "status"], 70, NO_COLOR="1"))
    assert code == 0
    lines = shown.splitlines()
    assert max(map(len, lines)) < 70
    assert "UTC" not in shown
    assert any(line.startswith("approved   AC2: colleague, ") for line in lines)


def test_each_sidecar_is_looked_at_once_for_all_that_a_status_says_of_it(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.create(scene.start(repo))
    scene.meet(repo)
    assert flow(repo, "goal", "evaluate", "greet").status == 0
    counted, asked = FileRecords.counted, list[str]()
    monkeypatch.setattr(
        FileRecords, "counted", lambda self, ref: asked.append(ref) or counted(self, ref)
    )
    assert flow(repo, "goal", "status", "greet", "--json").json["proposal"]["live"] is True
    assert len([ref for ref in asked if "evidence-ac1-eval-1" in ref]) == 1


def test_without_a_home_folder_it_answers_and_says_what_is_missing(repo: GitRepo) -> None:
    """Nothing of the user's is needed to show a goal; a ledger that is not there is no trust."""
    scene.create(scene.start(repo))
    nowhere = {"HOME": None, "FLOW_STATE_DIR": None}
    for words in (("goal", "status"), ("goal", "list")):
        assert flow(repo, *words, env=nowhere).status == 0
    assert "set HOME" in flow(repo, "goal", "status", env=nowhere).stdout
    done = flow(repo, "goal", "evaluate", "--json", env=nowhere)
    assert (done.status, done.json["criterion_results"][0]["outcome"]) == (4, "not_executed")
    assert "set HOME" in done.json["reason"]
