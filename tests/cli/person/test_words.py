"""A person's words, with who said them, when and from where, wherever the goal is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support import scene
from tests.support.scene import flow

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

READ = "I read it, twice\x1b[31m"
YES = "It is what we wanted"


def test_approval_confirmation_and_note_are_everywhere(repo: GitRepo, tmp_path: Path) -> None:
    scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY)
    scene.meet(repo)
    assert flow(repo, "goal", "evaluate", "--no-judge").status == 4
    words = ("goal", "approve", "AC2", "--by", "R. Viewer", "--note", READ, "--yes", "--json")
    proposal = flow(repo, *words).json["proposal"]["proposal_id"]
    assert flow(repo, "goal", "confirm", "--proposal", proposal, "--note", YES).status == 0

    documents = [
        flow(repo, "goal", "status", "greet", "--json").json,
        flow(repo, "goal", "history", "greet", "--json").json,
        flow(repo, "goal", "inspect", "greet", "--json").json,
        flow(repo, "report", "greet", "--json").json["status"],
    ]
    for document in documents:
        (approval,) = document["approvals"]
        closed = document["closed"]
        assert (approval["about"], approval["by"], approval["note"]) == ("AC2", "R. Viewer", READ)
        assert (closed["about"], closed["by"], closed["note"]) == ("achieved", "A Tester", YES)
        assert (approval["by_from"], closed["by_from"]) == (None, "git user.name")
        for act in (approval, closed):
            assert act["at"].endswith("Z")
            assert act["said_from"] in ("pipe", "agent")
    page = tmp_path / "page.html"
    assert flow(repo, "report", "greet", "--output", str(page)).status == 0
    text = page.read_text()
    for word in ("R. Viewer", "I read it, twice\\x1b[31m", "A Tester (git user.name)", YES):
        assert word in text, word
    for command in ("status", "history"):
        shown = flow(repo, "goal", command, "greet").stdout
        for word in ("R. Viewer", "I read it, twice", "A Tester", YES):
            assert word in shown, (command, word)


def test_the_reason_of_a_closing_is_shown_as_a_note_is(repo: GitRepo, tmp_path: Path) -> None:
    """``--reason`` says why, as ``--note`` does: not in journal and events alone."""
    scene.create(scene.start(repo))
    proposal = scene.propose(repo)
    assert flow(repo, "goal", "confirm", "--proposal", proposal, "--reason", YES).status == 0
    scene.create(repo, "other")
    assert flow(repo, "goal", "clear", "other", "--reason", READ, "--yes").status == 0
    for goal, words in (("greet", YES), ("other", "I read it, twice")):
        assert words in flow(repo, "goal", "status", goal).stdout
        assert flow(repo, "goal", "history", goal).stdout.count(words) == 1
        assert words in flow(repo, "goal", "inspect", goal, "--json").json["closed"]["note"]
        page = tmp_path / f"{goal}.html"
        assert flow(repo, "report", goal, "--output", str(page)).status == 0
        assert words in page.read_text()


def test_blanks_are_no_words_of_a_person(repo: GitRepo) -> None:
    """As an unset variable has them: no note, and no reason in place of the true one."""
    scene.create(scene.start(repo))
    words = ("--proposal", scene.propose(repo), "--note", " ", "--reason", "\t")
    assert flow(repo, "goal", "confirm", *words).status == 0
    scene.create(repo, "other")
    assert flow(repo, "goal", "clear", "other", "--reason", " ", "--yes").status == 0
    for goal, why in (("greet", "1 of 1 required criteria"), ("other", "cleared")):
        assert not flow(repo, "goal", "status", goal, "--json").json["closed"]["note"]
        assert "“" not in flow(repo, "goal", "history", goal).stdout
        events = flow(repo, "goal", "history", goal, "--json").json["events"]
        assert events[-1]["reason"].startswith(why)


def test_a_move_is_told_under_the_name_of_the_person_whose_word_it_follows(repo: GitRepo) -> None:
    """Not under the account's, which ``evaluate`` has off a terminal."""
    scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY)
    scene.meet(repo)
    assert flow(repo, "goal", "evaluate", "--no-judge").status == 4
    words = ("goal", "approve", "AC2", "--by", "R. Viewer", "--note", READ, "--yes", "--json")
    proposal = flow(repo, *words).json["proposal"]["proposal_id"]
    assert flow(repo, "goal", "wait", "--until", "false").status == 0
    confirm = ("goal", "confirm", "--proposal", proposal, "--by", "O. Wner")
    assert flow(repo, *confirm).status == 0
    events = flow(repo, "goal", "history", "greet", "--json").json["events"]
    moves = [(event["to"], event.get("by")) for event in events if event["type"] == "transition"]
    assert moves == [
        ("active", "R. Viewer"),
        ("waiting_for_ci", "A Tester"),
        ("active", "O. Wner"),
    ]


def test_a_goal_without_a_run_has_no_words(repo: GitRepo) -> None:
    scene.create(scene.start(repo), "greet", "--draft")
    for command in ("history", "inspect"):
        document = flow(repo, "goal", command, "greet", "--json").json
        assert (document["approvals"], document["closed"]) == ([], None)
