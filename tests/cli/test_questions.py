"""Questions: asked at a terminal only, with the safe answer as the default."""

from __future__ import annotations

import json

import pytest

from tests.support import GitRepo, scene
from tests.support.scene import ended

ASKED = r"r evaluate again   Enter leave it as it is(\x1b\[0m)?\s+> "
NOTE = r"A note for the record\?  Enter: none(\x1b\[0m)?\s+> "


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return scene.create(scene.start(repo))


@pytest.mark.parametrize("answer", ["C", "confirm"])
def test_confirm_closes_the_goal(work: GitRepo, answer: str) -> None:
    scene.meet(work)
    child = scene.at_terminal(work, ["goal", "evaluate", "greet"])
    child.expect(ASKED)
    assert "next " not in (child.before or "")  # the question is the next step
    assert scene.status(work) == "active"
    child.sendline(answer)
    child.expect(NOTE)
    child.sendline("")
    code, said = ended(child)
    assert (code, scene.status(work)) == (0, "achieved")
    assert "greet is achieved, confirmed by A Tester (git user.name)." in said
    assert "git add -A && git commit" in said


@pytest.mark.parametrize("answer", ["", "y", "confirmed?"])
def test_anything_else_leaves_the_proposal_live(work: GitRepo, answer: str) -> None:
    scene.meet(work)
    child = scene.at_terminal(work, ["goal", "evaluate", "greet"])
    child.expect(ASKED)
    child.sendline(answer)
    code, said = ended(child)
    assert (code, scene.status(work)) == (0, "active")
    later = next(line for line in said.splitlines() if "flow goal confirm" in line)
    assert scene.flow(work, *later.split()[1:]).status == 0
    assert scene.status(work) == "achieved"


def test_the_end_of_the_input_is_no_answer(work: GitRepo) -> None:
    scene.meet(work)
    child = scene.at_terminal(work, ["goal", "evaluate", "greet"])
    child.expect(ASKED)
    child.sendeof()
    code, _ = ended(child)
    assert (code, scene.status(work)) == (0, "active")


def test_re_evaluate_looks_again(work: GitRepo) -> None:
    scene.meet(work)
    child = scene.at_terminal(work, ["goal", "evaluate", "greet"])
    child.expect(ASKED)
    child.sendline("r")
    child.expect(ASKED)
    work.write("src/greet.txt", "give me that\n")
    child.sendline("r")
    code, said = ended(child)
    assert (code, scene.status(work)) == (1, "active")
    assert "exit 1, proved before" in said
    assert "turns_evaluated: 3" in scene.goal_file(work)


def test_an_interrupt_at_the_question_confirms_nothing(work: GitRepo) -> None:
    scene.meet(work)
    child = scene.at_terminal(work, ["goal", "evaluate", "greet"])
    child.expect(ASKED)
    child.sendintr()
    code, said = ended(child)
    assert (code, scene.status(work)) == (130, "active")
    assert "Traceback" not in said
    assert said.splitlines()[-1] == "flow: interrupted"


def test_not_asked(work: GitRepo) -> None:
    scene.meet(work)
    for words in (["--no-input"], ["--json"], ["--only", "AC1"], ["--dry-run"]):
        child = scene.at_terminal(work, ["goal", "evaluate", "greet", *words])
        _, said = ended(child)
        assert "leave it as it is" not in said
        assert scene.status(work) == "active"


def test_nothing_is_asked_without_a_proposal(work: GitRepo) -> None:
    child = scene.at_terminal(work, ["goal", "evaluate", "greet"])
    code, said = ended(child)
    assert code == 1
    assert "leave it as it is" not in said


def test_confirm_without_asking(work: GitRepo) -> None:
    scene.meet(work)
    child = scene.at_terminal(work, ["goal", "evaluate", "greet", "--confirm", "--json"])
    code, said = ended(child)
    assert code == 0, said
    document = json.loads(said[said.index("{") :])
    assert document["verdict"] == "achieved"
    assert document["confirmed"]["status"] == "achieved"
    assert scene.status(work) == "achieved"
    journal = work.read(".decisions/issue-7.md")
    assert "flow goal evaluate --confirm" in journal


def test_confirm_confirms_nothing_that_was_not_proposed(work: GitRepo) -> None:
    child = scene.at_terminal(work, ["goal", "evaluate", "greet", "--confirm", "--json"])
    code, said = ended(child)
    assert code == 1
    assert "confirmed" not in json.loads(said[said.index("{") :])
    assert scene.status(work) == "active"


@pytest.mark.parametrize(
    ("agent", "proposed"), [(None, True), (None, False), ("CODEX_SANDBOX", True)]
)
def test_off_a_terminal_confirm_runs_nothing(
    work: GitRepo, agent: str | None, proposed: bool
) -> None:
    proposal = scene.propose(work) if proposed else None
    before = sorted(path.name for path in scene.run_dir(work).rglob("*"))
    env = {agent: "1"} if agent else {}
    done = scene.flow(work, "goal", "evaluate", "greet", "--confirm", "--json", env=env)
    error = done.json["error"]
    assert (done.status, error["code"], error["key"]) == (2, "no_terminal", "--confirm")
    line = f"flow goal confirm greet --proposal {proposal or 'P'}"
    assert line in error["remedy"]
    assert sorted(path.name for path in scene.run_dir(work).rglob("*")) == before
    assert scene.status(work) == "active"


def test_an_agents_terminal_is_none_for_confirm(work: GitRepo) -> None:
    scene.meet(work)
    child = scene.at_terminal(work, ["goal", "evaluate", "greet", "--confirm"], CLAUDECODE="1")
    code, said = ended(child)
    assert (code, "nothing was run" in said) == (2, True)


def test_a_pipe_is_not_asked(work: GitRepo) -> None:
    scene.meet(work)
    done = scene.flow(work, "goal", "evaluate", "greet", input="c\n")
    assert done.status == 0
    assert scene.status(work) == "active"
    assert "flow goal confirm greet --proposal" in done.stdout


YES_OR_NO = {
    "clear": ["goal", "clear", "greet"],
    "approve": ["goal", "approve", "greet", "AC2", "--by", "Reader", "--note", "read it"],
    "trust": ["trust", "record", "greet"],
}


@pytest.mark.parametrize(
    ("name", "answer", "code"),
    [
        *(("clear", "yes", 0), ("clear", "", 4)),
        *(("approve", "y", 0), ("approve", "n", 4)),
        *(("trust", "y", 0), ("trust", "", 4)),
    ],
)
def test_yes_or_no(repo: GitRepo, name: str, answer: str, code: int) -> None:
    work = scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY)
    path = ".flow/goals/greet.goal.yaml"
    work.write(path, work.read(path).replace("greeting is polite", "greeting is very polite"))
    before = scene.goal_file(work)
    if name != "trust":
        assert scene.step(work, "trust", "record", "greet", "--yes").status == 0
    child = scene.at_terminal(work, YES_OR_NO[name])
    child.expect(r"\? \[y/N\](\x1b\[0m)? ")
    shown = child.before or ""
    assert "\x1b[36m" in shown.splitlines()[-1]  # a person's turn
    if name == "trust":
        assert "very polite" in shown  # the difference comes first
    if name == "approve":
        assert "it reads well" in shown
        assert "read it" in shown
    child.sendline(answer)
    assert ended(child)[0] == code
    if code:
        assert scene.goal_file(work) == before
        trusted = scene.flow(work, "trust", "check", "greet").status == 0
        assert trusted is (name != "trust")


@pytest.mark.parametrize("words", YES_OR_NO.values(), ids=YES_OR_NO)
def test_yes_given_beforehand(repo: GitRepo, words: list[str]) -> None:
    work = scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY)
    assert scene.flow(work, "trust", "revoke", "greet").status == 0
    done = scene.flow(work, *words, "--yes", "--json")
    assert done.status == 0, done
    json.loads(done.stdout)


def test_rebase_lists_the_files_and_asks(repo: GitRepo) -> None:
    work = scene.start(repo)
    work.git("switch", "-qc", "topic")
    done = scene.flow(
        work,
        *("goal", "create", "greet", "--outcome", "o", "--criterion", scene.PASSES),
        *("--allow", "src/**"),
    )
    assert done.status == 0, done.stderr
    work.commit("goal")
    work.git("switch", "-q", "main")
    work.commit("theirs", **{"theirs.txt": "x\n"})
    work.git("switch", "-q", "topic")
    work.git("merge", "-q", "--no-edit", "main")
    assert scene.flow(work, "goal", "evaluate", "greet").status == 3
    refused = scene.flow(work, "goal", "rebase", "greet", "--json")
    assert (refused.status, refused.json["error"]["code"]) == (4, "person_needed")
    child = scene.at_terminal(work, ["goal", "rebase", "greet"])
    child.expect(r"\[y/N\](\x1b\[0m)? ")
    assert "theirs.txt" in (child.before or "")
    child.sendline("y")
    assert ended(child)[0] == 0
    assert scene.flow(work, "goal", "evaluate", "greet").status == 1
    again = scene.flow(work, "goal", "rebase", "greet", "--json")
    assert (again.status, again.json["error"]["code"]) == (2, "nothing_to_rebase")


def test_json_is_indented_at_a_terminal_and_one_line_elsewhere(work: GitRepo) -> None:
    words = ("goal", "status", "greet", "--json")
    elsewhere = scene.flow(work, *words).stdout
    status, shown = scene.ended(scene.at_terminal(work, words))
    assert (status, elsewhere.count("\n")) == (0, 1)
    assert shown.startswith('{\r\n  "goal_id": "greet",\r\n')
    assert json.loads(shown) == json.loads(elsewhere)


def test_a_terminal_gets_colour_and_a_pipe_does_not(work: GitRepo) -> None:
    assert "\x1b" not in scene.flow(work, "goal", "evaluate", "greet").stdout
    for env, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        child = scene.at_terminal(work, ["goal", "status", "greet"], **env)
        assert ("\x1b[31m" in ended(child)[1]) is coloured
