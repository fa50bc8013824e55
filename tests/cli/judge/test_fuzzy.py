"""Fuzzy criteria through the real command line: what is asked, what is sent, who must speak."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import scene
from tests.support import stops as hooks
from tests.support.goal_judge import GoalJudge, reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

PLEASE = "please, dear reader"
APPROVE = "flow goal approve greet AC2 --by NAME --note TEXT"
ASK_CLAUDE = "ask a judge: flow goal evaluate greet --judge-backend claude"


@pytest.fixture
def judge(tmp_path: Path, home: Path) -> GoalJudge:
    return GoalJudge(tmp_path / "judge", home)


def create(repo: GitRepo, *more: str, command: str = "grep -q please src/greet.txt") -> GitRepo:
    """A goal with a silent command and a fuzzy criterion, whose work is done."""
    scene.start(repo)
    fuzzy = () if "--fuzzy" in more else ("--fuzzy", "AC2: it reads well")
    scene.create(repo, "greet", *fuzzy, *more, criterion=f"AC1: says please :: {command}")
    repo.write("src/greet.txt", f"{PLEASE}\n")
    return repo


def evaluate(repo: GitRepo, *more: str) -> dict[str, Any]:
    done = scene.flow(repo, "goal", "evaluate", "greet", "--json", *more)
    return {**done.json, "exit": done.status}


def deterministic(repo: GitRepo) -> None:
    scene.edit(repo, ("type: hybrid", "type: deterministic"))


# --- the line that a person types -----------------------------------------------------------------


def test_a_deterministic_goal_waits_for_the_person_it_needs(
    repo: GitRepo, judge: GoalJudge
) -> None:
    deterministic(create(repo))
    found = evaluate(repo)
    assert (found["verdict"], found["exit"]) == ("needs_human_review", 4)
    assert scene.status(repo) == "waiting_for_user"
    assert found["next_step_hint"] == f"AC2: {APPROVE}"
    assert found["proposed_transition"] is None
    assert judge.prompts == []
    shown = scene.flow(repo, "goal", "status", "greet", "--json")
    assert shown.json["next"] == f"AC2: {APPROVE}"
    words = ["goal", "approve", "greet", "AC2", "--by", "Sam", "--note", "read it", "--yes"]
    assert scene.flow(repo, *words).status == 0
    shown = scene.flow(repo, "goal", "status", "greet", "--json")
    assert shown.json["next"] == "a person confirms achieved: flow goal confirm greet"
    assert evaluate(repo)["verdict"] == "achieved"


def test_where_no_judge_is_named_the_hint_says_how_to_ask_one(repo: GitRepo) -> None:
    found = evaluate(create(repo))
    assert (found["verdict"], found["exit"]) == ("needs_human_review", 4)
    assert found["next_step_hint"] == f"AC2: {APPROVE}; or {ASK_CLAUDE}"


def test_a_hint_never_offers_an_answer_beforehand(repo: GitRepo) -> None:
    scene.start(repo)
    scene.create(repo)
    scene.meet(repo)
    found = evaluate(repo)
    assert found["verdict"] == "achieved"
    assert found["next_step_hint"] == "a person confirms: flow goal confirm greet"
    only = evaluate(repo, "--dry-run")
    assert only["next_step_hint"] == "flow goal evaluate greet"


# --- what is said of a judge's words --------------------------------------------------------------


def test_a_judges_blocker_is_no_path_violation(
    repo: GitRepo, judge: GoalJudge, capfd: pytest.CaptureFixture[str]
) -> None:
    create(repo)
    said = reply("blocked", ("AC2", "incomplete", [PLEASE]))
    judge.answers(
        {**said, "blocker_type": "scope_violation", "reason": "path_boundary_violation: no"}
    )
    found = evaluate(repo)
    assert (found["verdict"], found["exit"]) == ("blocked", 3)
    assert (found["blocker_type"], found["path_violations"]) == ("scope_violation", [])
    assert (found["do"], "amend" in found["next_step_hint"]) == ("person_looks", False)
    assert "outside" not in found["reason"]
    assert "goal greet is blocked" in hooks.stop(repo, capfd)["reason"]


def test_flows_own_words_of_the_last_verdict_are_no_attempt(
    repo: GitRepo, judge: GoalJudge
) -> None:
    create(repo)
    scene.edit(
        repo, ("text: it reads well", 'text: it reads well\n      evidence_paths: ["src/**"]')
    )
    judge.answers(reply("achieved", ("AC2", "pass", [PLEASE])))
    assert evaluate(repo)["verdict"] == "achieved"
    again = evaluate(repo)
    assert "previous verdict" in judge.prompts[-1]
    assert again["warnings"] == []


def test_why_there_was_no_usable_answer_is_no_attempt(repo: GitRepo, judge: GoalJudge) -> None:
    create(repo)
    judge.says({"raw": "I think it is fine."})
    assert "gave no usable answer" in evaluate(repo)["reason"]
    text = scene.flow(repo, "goal", "status", "greet").stdout
    assert "src/greet.txt (changed file)" in text  # what was sent is said all the same
    judge.answers(reply("achieved", ("AC2", "fail", [PLEASE])))
    assert evaluate(repo)["warnings"] == []
    assert "previous verdict" in judge.prompts[-1]


def test_a_pass_that_flow_lowers_is_not_called_incomplete_by_the_judge(
    repo: GitRepo, judge: GoalJudge
) -> None:
    create(repo)
    scene.edit(
        repo, ("text: it reads well", 'text: it reads well\n      evidence_paths: ["src/**"]')
    )
    judge.answers(reply("achieved", ("AC2", "pass", ["It is superb, as nobody wrote."])))
    found = evaluate(repo)
    assert found["verdict"] == "needs_human_review"
    assert "not run" not in found["reason"]
    said = next(row for row in found["criterion_results"] if row["criterion_id"] == "AC2")
    assert said["reason"] == (
        "judge: pass, counted as incomplete (the pass rests on no quote from its evidence): "
        '"AC2 looks so"'
    )


# --- evidence by default --------------------------------------------------------------------------


def items(prompt: str) -> list[str]:
    """The names of the pieces of evidence in a prompt."""
    return re.findall(r"BEGIN (evidence [^>]*)>>>", prompt)


def own_settings(home: Path, **judge: Any) -> None:
    path = home / ".claude" / "settings.flow.json"
    document = json.loads(path.read_text())
    document["flow"]["goals"]["judge"].update(judge)
    path.write_text(json.dumps(document))


def test_the_changed_files_are_the_evidence_of_a_criterion_that_names_none(
    repo: GitRepo, judge: GoalJudge
) -> None:
    create(repo)
    judge.answers(reply("achieved", ("AC2", "pass", [PLEASE])))
    found = evaluate(repo)
    assert (found["verdict"], found["exit"]) == ("achieved", 0)
    assert items(judge.prompts[0]) == ["evidence AC2.1: changed file"]
    assert f"source: src/greet.txt\n{PLEASE}" in judge.prompts[0]
    judge.answers(reply("achieved", ("AC2", "pass", ["source: src/greet.txt"])))
    assert evaluate(repo)["verdict"] == "needs_human_review"  # its quote is looked up


def test_every_fuzzy_criterion_rests_on_the_same_files_which_are_sent_once(
    repo: GitRepo, judge: GoalJudge
) -> None:
    create(repo, "--fuzzy", "AC2: it reads well", "--fuzzy", "AC3: it is polite")
    judge.answers(reply("achieved", ("AC2", "pass", [PLEASE]), ("AC3", "pass", [PLEASE])))
    assert evaluate(repo)["verdict"] == "achieved"
    assert items(judge.prompts[0]) == ["evidence AC2.1, of AC3 too: changed file"]


def test_what_the_other_commands_print_is_evidence_too(repo: GitRepo, judge: GoalJudge) -> None:
    create(repo, command="grep please src/greet.txt && echo 3 greetings are polite")
    judge.answers(reply("achieved", ("AC2", "pass", ["3 greetings are polite"])))
    assert evaluate(repo)["verdict"] == "achieved"
    assert "evidence AC1.1, of AC2 too: output of its command (exit 0)" in items(judge.prompts[0])


def test_what_must_not_be_sent_is_not(repo: GitRepo, judge: GoalJudge) -> None:
    """Denied paths, denied context, Flow's own files, binary and special ones, and secrets."""
    create(repo, "--allow", "docs/**", "--allow", ".flow/**", "--deny", "src/keys/**")
    scene.edit(repo, ("evaluator:", "evaluator:\n  denied_context: ['docs/draft.md']"))
    marks = {
        "docs/draft.md": "a draft for nobody",
        ".flow/rubrics/own.yaml": "name: own-rubric-text",
        "docs/logo.bin": "\0PNG binary text",
        "docs/latin.txt": "\udce9\udce8\udce0 latin text",
    }
    for path, text in marks.items():
        file = repo.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
    (repo.path / "docs/link.md").symlink_to("draft.md")
    secret = "ghp_" + "a1B2" * 9
    repo.write("docs/guide.md", f"the guide says please\ntoken = {secret}\n")
    judge.answers(reply("achieved", ("AC2", "pass", [PLEASE])))
    evaluate(repo)
    (prompt,) = judge.prompts
    shown = re.findall(r"^source: (.*)$", prompt, re.MULTILINE)
    assert shown == ["docs/guide.md", "src/greet.txt"]
    assert "the guide says please" in prompt
    assert secret not in prompt
    for text in ("draft for nobody", "own-rubric-text", "PNG binary", "latin text"):
        assert text not in prompt
    assert "changed files: 2 binary files" in prompt


def test_each_file_is_cut_and_the_rest_is_said(repo: GitRepo, judge: GoalJudge) -> None:
    create(repo)
    repo.write("src/long.txt", "\n".join(f"line {n:06}" for n in range(5000)))
    judge.answers(reply("achieved", ("AC2", "pass", [PLEASE])))
    found = evaluate(repo)
    (prompt,) = judge.prompts
    text = prompt[prompt.index("source: src/long.txt") :]
    assert len(text[: text.index("<<<flow-data")].encode()) <= 8192
    assert any("src/long.txt" in w or "bytes from its middle" in w for w in found["warnings"])


def test_a_persons_setting_keeps_changed_files_here(
    repo: GitRepo, judge: GoalJudge, home: Path
) -> None:
    create(repo)
    own_settings(home, changedFiles=False)
    judge.answers(reply("achieved", ("AC2", "pass", [PLEASE])))
    found = evaluate(repo)
    assert judge.prompts == []
    assert (found["verdict"], found["exit"]) == ("needs_human_review", 4)
    assert "flow.goals.judge.changedFiles" in found["reason"]
    assert found["next_step_hint"] == f"AC2: {APPROVE}"


def test_a_checkouts_setting_does_not_decide_what_is_sent(
    repo: GitRepo, judge: GoalJudge, home: Path
) -> None:
    create(repo)
    for value in (True, False):
        own_settings(home, changedFiles=not value)
        document = {"flow": {"goals": {"judge": {"changedFiles": value}}}}
        repo.write(".claude/settings.flow.json", json.dumps(document))
        scene.flow(repo, "goal", "evaluate", "greet", "--json", "--dry-run")
        shown = scene.flow(repo, "judge", "run", "greet", "--show-prompt")
        assert (PLEASE in shown.stdout) is not value


def nothing_to_show(repo: GitRepo) -> GitRepo:
    """A goal whose commands pass and print nothing, and in which nothing is changed."""
    create(repo, command="true")
    repo.write("src/greet.txt", "give me that\n")
    return repo


def test_where_there_is_no_evidence_no_judge_is_asked(repo: GitRepo, judge: GoalJudge) -> None:
    nothing_to_show(repo)
    judge.answers(reply("achieved", ("AC2", "pass", [])))
    found = evaluate(repo)
    assert judge.prompts == []
    assert (found["verdict"], found["exit"]) == ("needs_human_review", 4)
    assert scene.status(repo) == "waiting_for_user"
    assert "nothing to show" in found["reason"]
    assert found["next_step_hint"] == f"AC2: {APPROVE}"


def test_no_goal_fails_for_what_no_judge_could_have_proved(
    repo: GitRepo, judge: GoalJudge, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    nothing_to_show(repo)
    path = home / ".claude" / "settings.flow.json"
    document = json.loads(path.read_text())
    document["flow"]["goals"].update(stopHookEnforcement="evaluator-loop")
    path.write_text(json.dumps(document))
    judge.answers(reply("not_achieved", ("AC2", "incomplete", [])))
    for _ in range(6):
        assert hooks.stop(repo, capfd)["decision"] == "approve"
        assert scene.status(repo) == "waiting_for_user"
        scene.flow(repo, "goal", "resume", "greet")
    assert judge.prompts == []


# --- a second look --------------------------------------------------------------------------------


def second_look(repo: GitRepo) -> GitRepo:
    scene.start(repo)
    scene.create(repo, criterion="AC1: says please :: grep -q please src/greet.txt")
    scene.edit(repo, ("type: deterministic", "type: flow_verdict_judge"))
    scene.meet(repo)
    return repo


def test_a_second_look_rests_on_a_command_that_printed_nothing(
    repo: GitRepo, judge: GoalJudge
) -> None:
    second_look(repo)
    judge.answers(reply("achieved", ("AC1", "pass", [])))
    found = evaluate(repo)
    assert (found["verdict"], found["exit"]) == ("achieved", 0)
    assert found["proposed_transition"]["to"] == "achieved"
    assert "evidence AC1.1: output of its command (exit 0)" in items(judge.prompts[0])


def test_a_second_look_that_invents_what_it_saw_goes_to_a_person(
    repo: GitRepo, judge: GoalJudge
) -> None:
    second_look(repo)
    judge.answers(reply("achieved", ("AC1", "pass", ["all 400 checks are green"])))
    assert evaluate(repo)["verdict"] == "needs_human_review"


def test_a_second_look_that_nobody_takes_says_how_to_have_it(repo: GitRepo) -> None:
    second_look(repo)
    found = evaluate(repo)
    assert found["verdict"] == "needs_human_review"
    assert ASK_CLAUDE in found["next_step_hint"]


# --- what was sent, and what is named -------------------------------------------------------------


def test_status_says_what_was_sent(repo: GitRepo, judge: GoalJudge) -> None:
    create(repo, command="echo 3 greetings; grep -q please src/greet.txt")
    assert scene.flow(repo, "goal", "status", "greet", "--json").json["sent_to_judge"] is None
    judge.answers(reply("achieved", ("AC2", "pass", [PLEASE])))
    evaluate(repo)
    sent = scene.flow(repo, "goal", "status", "greet", "--json").json["sent_to_judge"]
    assert sent["judges"] == ["command"]
    assert [piece["criteria"] for piece in sent["given"]] == [["AC2"], ["AC1", "AC2"]]
    text = scene.flow(repo, "goal", "status", "greet").stdout
    assert "sent       to command, " in text
    assert "src/greet.txt (changed file)" in text


def test_create_names_what_a_fuzzy_criterion_rests_on(repo: GitRepo, judge: GoalJudge) -> None:
    more = ("--evidence", "AC2: docs/*.md", "--evidence", "AC2: notes/**")
    command = ("--evidence-command", "AC2: echo rendered: 12 pages")
    create(repo, *more, *command)
    text = scene.goal_file(repo)
    assert "docs/*.md" in text
    assert "notes/**" in text
    judge.answers(reply("achieved", ("AC2", "pass", ["rendered: 12 pages"])))
    assert evaluate(repo)["verdict"] == "achieved"
    assert PLEASE not in judge.prompts[0]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--evidence", "AC1: docs/**"),
        ("--evidence", "AC9: docs/**"),
        ("--evidence", "docs/**"),
        ("--evidence", "AC2:  "),
        ("--evidence", "AC2: ../secret"),
        ("--evidence-command", "AC1: ls"),
        ("--evidence-command", "AC2"),
    ],
)
def test_evidence_that_names_no_criterion_of_a_judge_is_refused(
    repo: GitRepo, option: str, value: str
) -> None:
    scene.start(repo)
    words = ["goal", "create", "greet", "--outcome", "x", "--criterion", "AC1: x :: true"]
    done = scene.flow(repo, *words, "--fuzzy", "AC2: reads well", option, value, "--json")
    assert done.status == 2
    assert done.json["error"]["remedy"]


def test_two_evidence_commands_of_one_criterion_are_refused(repo: GitRepo) -> None:
    scene.start(repo)
    twice = ("--evidence-command", "AC2: ls", "--evidence-command", "AC2: pwd")
    words = ["goal", "create", "greet", "--outcome", "x", "--fuzzy", "AC2: reads well", *twice]
    done = scene.flow(repo, *words, "--json")
    assert (done.status, done.json["error"]["key"]) == (2, "--evidence-command")


@pytest.mark.parametrize(
    ("said", "status"), [("incomplete", "waiting_for_user"), ("fail", "failed")]
)
def test_a_loop_fails_for_what_a_judge_rejected_only(
    repo: GitRepo,
    judge: GoalJudge,
    home: Path,
    capfd: pytest.CaptureFixture[str],
    said: str,
    status: str,
) -> None:
    create(repo)
    path = home / ".claude" / "settings.flow.json"
    document = json.loads(path.read_text())
    document["flow"]["goals"].update(stopHookEnforcement="evaluator-loop")
    path.write_text(json.dumps(document))
    judge.answers(reply("not_achieved", ("AC2", said, [PLEASE])))
    answers = [hooks.stop(repo, capfd)["decision"] for _ in range(4)]
    assert answers == ["block", "block", "block", "approve"]
    assert scene.status(repo) == status
    if said == "incomplete":
        found = hooks.verdict(repo)
        assert (found["verdict"], found["proposed_transition"]) == ("needs_human_review", None)
        assert found["do"] == "person_looks"
        assert found["next_step_hint"] == f"AC2: {APPROVE}"


def test_one_reason_for_several_criteria_is_said_once(repo: GitRepo, judge: GoalJudge) -> None:
    create(repo, "--fuzzy", "AC2: it reads well", "--fuzzy", "AC3: it is polite", command="true")
    repo.git("checkout", "-q", "src/greet.txt")
    reason = evaluate(repo)["reason"]
    assert "judge: AC2, AC3: no judge is asked, since" in reason
    assert reason.count("nothing to show one") == 1
    assert judge.prompts == []


def test_files_that_changed_and_cannot_be_shown_are_not_called_unchanged(
    repo: GitRepo, judge: GoalJudge
) -> None:
    create(repo, command="test -e src/greet.txt")
    repo.git("checkout", "-q", "src/greet.txt")
    assert "no changed file inside the goal's paths, and" in evaluate(repo)["reason"]
    for data in (b"\0\1\2" * 100, b""):
        (repo.path / "src/picture").write_bytes(data)
        words = "no changed file inside the goal's paths that a judge may be shown, and"
        assert words in evaluate(repo)["reason"]
    assert judge.prompts == []
