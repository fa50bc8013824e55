"""``flow judge scorecard`` and ``flow judge history SKILL``, as a person calls them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from flow.adapters.contracts.check import accepts
from flow.adapters.rubrics import score_files
from flow.adapters.transcripts import session_files
from flow.core.judging.scorecard.model import NAMES, NO_PRIOR
from flow.errors import InputError, StorageError
from tests.render.test_scorecard import columns
from tests.support import GitRepo, Ran, run_flow, scene
from tests.support.goal_judge import GoalJudge
from tests.support.judges.score_replies import reply
from tests.support.sessions import SessionFile, folder

QUOTE = "2 files changed, 5 insertions"
TRANSCRIPT = f"""\
# Session

**User:** /commit

**Assistant:** I look at the changes first.

    $ git commit -m "Add the parser"
    [main abc1234] Add the parser
     {QUOTE}

**Assistant:** Committed as abc1234. The token is ghp_{"a1B2c3D4e5" * 4}.
"""
GOOD = reply({"completeness": 6.0, "safety": 10.0}, QUOTE)
SEED_KEYS = [
    "skill", "timestamp", "dimensions", "composite", "grade", "criticalIssues", "recommendations",
    "rubricUsed", "transcriptPath",
]  # fmt: skip


@pytest.fixture
def program(tmp_path: Path, home: Path) -> GoalJudge:
    """A judge in the user's settings."""
    judge = GoalJudge(tmp_path / "the-judge", home)
    judge.answers(GOOD)
    return judge


@pytest.fixture
def place(repo: GitRepo) -> GitRepo:
    """A checkout with a transcript in it."""
    scene.start(repo)
    repo.write("run.md", TRANSCRIPT)
    return repo


def score(place: GitRepo, *words: str, skill: str = "commit", **more: Any) -> Ran:
    return scene.flow(place, "judge", "scorecard", skill, "--file", "run.md", *words, **more)


def cards(place: GitRepo, folder: str = ".flow/scores") -> list[Path]:
    return sorted((place.path / folder).glob("*.json"))


def drawn(text: str) -> list[str]:
    """The lines of the box."""
    return [line for line in text.splitlines() if line[:1] in ("╔", "╠", "║", "╚", "+", "|")]


# --- on standard input ----------------------------------------------------------------------------


def test_a_text_on_standard_input(place: GitRepo, program: GoalJudge) -> None:
    words = ("judge", "scorecard", "commit", "--file", "-", "--json")
    done = scene.flow(place, *words, input=TRANSCRIPT)
    assert (done.status, done.stderr) == (0, ""), done
    assert done.json["transcriptPath"] == "-"
    assert done.json["dimensions"]["safety"]["evidence"] == [QUOTE]
    assert done.json["notes"] == []
    assert QUOTE in program.prompts[0]


def test_a_session_on_standard_input_has_no_files_beside_it(
    place: GitRepo, program: GoalJudge, tmp_path: Path
) -> None:
    session = SessionFile(tmp_path / "s.jsonl").command("commit").bash("git commit", QUOTE)
    session.agent("helper", "do", "x1", "the helper's words")
    planted = SessionFile(place.path / "agent-x1.jsonl", side="x1")
    planted.says("PLANTED")
    below = place.path / "-" / "subagents" / "agent-x1.jsonl"
    SessionFile(below, side="x1").says("PLANTED")
    text = session.path.read_text()
    done = scene.flow(place, "judge", "scorecard", "--file", "-", "--json", input=text)
    assert done.status == 0, done
    assert done.json["skill"] == "commit"
    assert "the helper's words" in program.prompts[0]
    assert "PLANTED" not in program.prompts[0]


@pytest.mark.parametrize("text", ["", " \n"])
def test_nothing_on_standard_input(text: str, place: GitRepo, program: GoalJudge) -> None:
    done = scene.flow(place, "judge", "scorecard", "commit", "--file", "-", "--json", input=text)
    assert done.status == 2
    assert done.json["error"]["code"] == "empty"
    assert program.prompts == []


def test_a_long_text_on_standard_input_is_too_large(
    place: GitRepo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    long = tmp_path / "long"
    long.write_text("x" * 100)
    monkeypatch.setattr(session_files, "MOST_SESSION", 99)
    kept = os.dup(0)
    with long.open("rb") as file:
        os.dup2(file.fileno(), 0)
    try:
        with pytest.raises(InputError, match="larger than 99 bytes"):
            session_files.open_source("-")
    finally:
        os.dup2(kept, 0)
        os.close(kept)


# --- a card ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("json", [False, True])
def test_a_card_that_cannot_be_stored_is_shown_all_the_same(
    json: bool, place: GitRepo, program: GoalJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise StorageError("cannot write it: No space left on device", file=".flow/scores/x.json")

    monkeypatch.setattr(score_files, "publish", full)
    words = ("judge", "scorecard", "commit", "--file", "run.md", *(["--json"] if json else []))
    done = run_flow(*words, cwd=place.path)
    assert done.status == 5
    if json:
        assert list(done.json) == ["error"]
        return
    assert "COMPOSITE: 7.75/10" in done.stdout
    assert done.stdout.endswith("\nnot stored:\n")
    assert done.stderr.startswith("flow: .flow/scores/x.json: cannot write it")
    assert cards(place) == []


def test_the_card_on_disk_and_on_standard_output(place: GitRepo, program: GoalJudge) -> None:
    done = score(place, "--json")
    assert done.status == 0, done
    card = done.json
    (file,) = cards(place)
    assert json.loads(file.read_text(encoding="utf-8")) == card
    assert re.fullmatch(r"commit-\d{8}-\d{6}\.json", file.name)
    assert card["file"] == f".flow/scores/{file.name}"
    assert list(card)[:9] == SEED_KEYS
    assert accepts("scorecard", card) == (True, False)
    assert card["timestamp"].translate(str.maketrans("", "", "-:Z")).replace("T", "-") in file.name
    assert list(card["dimensions"]) == list(NAMES)
    assert card["dimensions"]["completeness"]["score"] == 6.0
    assert card["dimensions"]["safety"]["evidence"] == [QUOTE]
    assert card["dimensions"]["consistency"] == {
        "score": 7.0, "weight": 0.05, "justification": NO_PRIOR, "evidence": [],
    }  # fmt: skip
    assert (card["composite"], card["grade"]) == (7.75, "B")
    assert card["transcriptPath"] == "run.md"
    assert card["judge"]["name"] == "command"
    assert done.stderr == ""


def test_the_box(place: GitRepo, program: GoalJudge) -> None:
    done = score(place)
    assert done.status == 0, done
    lines = drawn(done.stdout)
    assert {columns(line) for line in lines} == {61}
    assert lines[0] == f"╔{'═' * 59}╗"
    assert lines[1].startswith("║  VERDICT SCORECARD — commit ")
    assert lines[4].startswith("║  Completeness   ██████░░░░  6.0/10  The completeness of")
    assert lines[8].startswith("║  Safety         ██████████  10.0/10 The safety of it")
    assert lines[11].startswith("║  COMPOSITE: 7.75/10 — Grade: B ")
    assert "Completeness: name what is missing." in done.stdout
    assert "Correctness    The correctness of it shows in the output." in done.stdout.splitlines()
    assert re.search(r"stored as \.flow/scores/commit-[\d-]+\.json", done.stderr)


def test_at_a_terminal_as_wide_as_it_and_in_colour_only_where_wanted(
    place: GitRepo, program: GoalJudge
) -> None:
    """Every width: ``tests/render/test_scorecard.py``."""
    words = ["judge", "scorecard", "commit", "--file", "run.md"]
    for env, wanted in (({}, 160), ({"NO_COLOR": "1"}, 10)):
        status, said = scene.ended(scene.at_terminal(place, words, columns=wanted, **env))
        assert status == 0, said
        assert ("\x1b[3" in said) is (not env)
        assert "asking command" in said
        text = re.sub(r"\x1b\[[0-9;]*m", "", said.partition("stored as")[0])
        lines = [line for line in text.splitlines() if line and line[0] in "╔╠║╚"]
        assert {columns(line) for line in lines} == {min(wanted, 120)}
        assert all(columns(line) <= wanted for line in text.partition("╔")[2].splitlines())


def test_ascii_output(place: GitRepo, program: GoalJudge) -> None:
    row = {"safety": {"justification": "日本語 all is well"}}
    program.answers(reply(8.0, QUOTE, rows=row))
    done = score(place, env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert done.status == 0, done
    lines = drawn(done.stdout)
    assert {len(line) for line in lines} == {61}
    assert "|  Safety         ########..  8.0/10  ??? all is well" in done.stdout


def test_columns_says_how_wide(place: GitRepo, program: GoalJudge) -> None:
    for said, wide in (("33", 33), ("0", 61), ("nonsense", 61), ("200", 120)):
        done = score(place, env={"COLUMNS": said})
        assert {columns(line) for line in drawn(done.stdout)} == {wide}


def test_a_judges_words_cannot_reach_the_terminal(place: GitRepo, program: GoalJudge) -> None:
    nasty = "a\x1b]0;t\x07\u202e b\nc"
    rows = {"safety": {"justification": nasty}}
    program.answers(reply(8.0, QUOTE, rows=rows, recommendations=(nasty,)))
    done = score(place)
    assert done.status == 0, done
    assert not set("\x1b\x07\u202e") & set(done.stdout + cards(place)[0].read_text())
    assert {columns(line) for line in drawn(done.stdout)} == {61}


# --- what rests on nothing ------------------------------------------------------------------------


def test_an_invented_quote_is_sent_back_once_and_marked(place: GitRepo, program: GoalJudge) -> None:
    rows = {"safety": {"evidence": ["I asked before I pushed"]}}
    program.answers(reply(9.0, QUOTE, rows=rows))
    done = score(place)
    assert done.status == 0, done
    assert len(program.prompts) == 2
    assert "- safety: none of its quotes occurs in the transcript." in program.prompts[1]
    assert "(?) The safety" in done.stdout
    card = json.loads(cards(place)[0].read_text())
    assert card["dimensions"]["safety"]["unsupported"] is True
    assert "unsupported" not in card["dimensions"]["correctness"]
    assert card["judge"]["calls"] == 2


def test_less_than_half_on_true_quotes_is_no_card(place: GitRepo, program: GoalJudge) -> None:
    wrong = {"evidence": ["I asked before I pushed"]}
    program.answers(reply(8.0, QUOTE, rows=dict.fromkeys(NAMES[2:], wrong)))
    for more in ((), ("--json",)):
        done = score(place, *more)
        assert done.status == 4, done
        assert "less than half of the weight rests on true quotes" in done.stdout + done.stderr
        assert "VERDICT SCORECARD" not in done.stdout
        assert cards(place) == []
    assert len(program.prompts) == 4


def test_exactly_half_on_true_quotes_is_a_card(place: GitRepo, program: GoalJudge) -> None:
    wrong = {"evidence": ["I asked before I pushed"]}
    half = ("correctness", "adherence", "efficiency")
    program.answers(reply(8.0, QUOTE, rows={n: wrong for n in NAMES if n not in half}))
    done = score(place, "--json")
    assert done.status == 0, done
    assert len(cards(place)) == 1


def test_a_mended_answer_is_not_marked(place: GitRepo, program: GoalJudge) -> None:
    program.answers(reply(9.0, QUOTE, rows={"safety": {"evidence": []}}), GOOD)
    done = score(place, "--json")
    assert done.status == 0, done
    assert len(program.prompts) == 2
    assert not any("unsupported" in row for row in done.json["dimensions"].values())


# --- nothing is made up ---------------------------------------------------------------------------

SILENT: list[tuple[dict[str, Any], str]] = [
    ({"reply": {}}, "wrong_shape"),
    ({"raw": "Thought process:"}, "not_json"),
    ({"exit": 3}, "error"),
]
"""One of each kind; the others are in the tests of replies and of the backend."""


@pytest.mark.parametrize(("step", "code"), SILENT)
def test_no_usable_answer_is_exit_4_and_no_card(
    step: dict[str, Any], code: str, place: GitRepo, program: GoalJudge
) -> None:
    program.says(step)
    done = score(place, "--json")
    assert done.status == 4, done
    assert done.json["error"]["code"] == code
    assert cards(place) == []


def test_without_a_judge_there_is_no_card(place: GitRepo) -> None:
    done = score(place)
    assert done.status == 4
    assert "no judge is configured" in done.stderr
    assert done.stdout == ""
    assert cards(place) == []


def test_without_a_transcript_nobody_is_asked(place: GitRepo, program: GoalJudge) -> None:
    for words in (["commit"], ["commit", "--file", "missing.md"], ["--file", "missing.md"]):
        done = scene.flow(place, "judge", "scorecard", *words)
        assert done.status == 2, done
        assert done.stdout == ""
        assert done.stderr.startswith("flow: ")
    assert program.prompts == []
    assert cards(place) == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "there is no skill or agent to judge here"),
        (["commit", "extra"], "unrecognized arguments"),
        (["x" * 201, "--file", "run.md"], "not a skill's name"),
        (["", "--file", "run.md"], "not a skill's name"),
        (["commit", "--file", "run.md", "--rubric", "nonsense"], "nonsense"),
        (["commit", "--file", "run.md", "--samples", "0"], "number of samples"),
    ],
)
def test_wrong_calls(words: list[str], why: str, place: GitRepo, program: GoalJudge) -> None:
    done = scene.flow(place, "judge", "scorecard", *words)
    assert done.status == 2, done
    assert why in done.stderr
    assert program.prompts == []


def test_outside_of_any_project(tmp_path: Path, program: GoalJudge) -> None:
    (folder := tmp_path / "nowhere").mkdir()
    (folder / "run.md").write_text(TRANSCRIPT)
    done = run_flow("judge", "scorecard", "commit", "--file", "run.md", cwd=folder)
    assert done.status == 2
    assert "no git repository" in done.stderr
    assert os.listdir(folder) == ["run.md"]


# --- skills and rubrics ---------------------------------------------------------------------------


def test_an_unknown_skill_gets_the_default_rubric_and_a_note(
    place: GitRepo, program: GoalJudge
) -> None:
    done = score(place, skill="zebra-striping")
    assert done.status == 0, done
    assert "Skill not recognised: rubric-default.md is used." in done.stdout
    card = json.loads(cards(place)[0].read_text())
    assert (card["rubricUsed"], card["skillRecognised"]) == ("rubric-default.md", False)
    assert "zebra-striping" in card["rubricWhy"]


def test_a_rubric_that_is_asked_for(place: GitRepo, program: GoalJudge) -> None:
    card = score(place, "--rubric", "writing", "--json", skill="zebra").json
    assert card["rubricUsed"] == "rubric-writing.md"
    assert "--rubric writing" in card["rubricWhy"]
    assert card["notes"] == []


def test_a_projects_own_rubric_reaches_the_judge(place: GitRepo, program: GoalJudge) -> None:
    text = "---\nskills: [zebra]\n---\n# Zebras\n\nThe stripes are parallel.\n"
    place.write(".flow/rubrics/rubric-zebra.md", text)
    card = score(place, "--json", skill="zebra").json
    assert card["rubricUsed"] == "rubric-zebra.md"
    assert "The stripes are parallel." in program.prompts[0]
    assert "Rubric: rubric-zebra.md (" in score(place, skill="zebra").stdout


def test_the_transcript_names_the_skill(place: GitRepo, program: GoalJudge) -> None:
    done = scene.flow(place, "judge", "scorecard", "--file", "run.md", "--json")
    assert done.status == 0, done
    assert done.json["skill"] == "commit"
    assert cards(place)[0].name.startswith("commit-")


def test_where_nothing_names_the_skill(place: GitRepo, program: GoalJudge) -> None:
    place.write("plain.txt", f"it went well\n{QUOTE}\n")
    for _ in range(2):
        done = scene.flow(place, "judge", "scorecard", "--file", "plain.txt", "--json")
        assert done.status == 0, done
        assert done.json["skill"] == "unknown"
        assert done.json["rubricUsed"] == "rubric-default.md"
        assert done.json["history"]["cards"] == 0  # others may be of any skill


def session(place: GitRepo, home: Path) -> SessionFile:
    """A session in which a skill ran twice, and another one after it."""
    ran = SessionFile(folder(home, place.path) / "s1.jsonl")
    ran.command("commit").bash("git commit -m old", "1 file changed, 9 deletions").says("old done")
    ran.command("commit").bash("git commit -m new", QUOTE).says("new done")
    return ran.command("tidy").bash("ls", "a").says("all is tidy")


def test_the_newest_run_of_the_skill_in_the_session(
    place: GitRepo, program: GoalJudge, home: Path
) -> None:
    found = session(place, home)
    done = scene.flow(place, "judge", "scorecard", "commit", "--json")
    assert done.status == 0, done
    assert done.json["transcriptPath"].endswith("s1.jsonl")
    assert done.json["rubricUsed"] == "rubric-code.md"
    assert done.json["execution"]
    assert "git commit -m new" in program.prompts[0]
    assert "git commit -m old" not in program.prompts[0]
    assert "all is tidy" not in program.prompts[0]
    assert not any("unsupported" in row for row in done.json["dimensions"].values())
    program.answers(reply(8.0, "all is tidy"))
    for words in ((), ("--file", found.path)):
        named = scene.flow(place, "judge", "scorecard", *words, "--json")
        assert named.json["skill"] == "tidy"


def test_a_skill_that_did_not_run_is_no_transcript(
    place: GitRepo, program: GoalJudge, home: Path
) -> None:
    found = session(place, home)
    for words in (["deploy"], ["deploy", "--file", str(found.path)]):
        done = scene.flow(place, "judge", "scorecard", *words)
        assert done.status == 2, done
        assert "deploy" in done.stderr
    assert program.prompts == []
    assert cards(place) == []


def test_verdict_itself_is_judged_like_any_other(place: GitRepo, program: GoalJudge) -> None:
    done = score(place, "--json", skill="/judge")
    assert done.status == 0, done
    assert done.json["skill"] == "judge"
    assert cards(place)[0].name.startswith("judge-")


@pytest.mark.parametrize(
    ("skill", "stem"),
    [("flow:goal", "flow-goal"), ("../../etc/x", "etc-x"), ("日本", "skill"), ("a\nb", "a-nb")],
)
def test_a_skills_name_is_made_safe(
    skill: str, stem: str, place: GitRepo, program: GoalJudge
) -> None:
    done = score(place, "--json", skill=skill)
    assert done.status == 0, done
    assert cards(place)[0].name.startswith(f"{stem}-2")


# --- history --------------------------------------------------------------------------------------


def test_consistency_and_history_over_several_cards(place: GitRepo, program: GoalJudge) -> None:
    for number in range(6):
        place.write("run.md", f"{TRANSCRIPT}\nThis is run {number}.\n")
        program.answers(reply(5.0 + number / 2, QUOTE))
        done = score(place, "--json")
        assert done.status == 0, done
        card = done.json
        assert card["history"]["cards"] == min(number, 5)
        said = card["dimensions"]["consistency"]["score"]
        assert said == (7.0 if number == 0 else 5.0 + number / 2)
    # The first has 5.10 (its consistency is neutral), the others 5.50 ... 7.50.
    assert card["history"]["meanComposite"] == 6.02
    assert "composite 6.02; correctness 6.00," in program.prompts[0]
    done = scene.flow(place, "judge", "history", "commit")
    assert done.status == 0, done
    lines = done.stdout.splitlines()
    assert lines[0] == "commit  6 scorecards in .flow/scores"
    (trend,) = [line for line in lines if line.startswith("trend ")]
    assert trend.endswith("7.50/10, B (Above Average); +0.50 since the one before, +2.40 overall")
    rows = {line.split()[0]: line.split()[1:] for line in lines if line}
    assert rows["safety"] == ["7.5", "+0.5", "+2.5"]
    assert rows["consistency"] == ["7.5", "+0.5", "+0.5"]


def test_a_rubric_copied_as_the_seed_says_is_used_and_noted(
    place: GitRepo, program: GoalJudge
) -> None:
    place.write("skills/judge/rubrics/rubric-knit.md", "# Knitting\n\nEven rows.\n")
    place.write("skills/judge/rubrics/knit.txt", "Even rows.\n")
    card = score(place, "--json", skill="knit").json
    assert (card["rubricUsed"], card["rubricSource"]) == ("rubric-knit.md", "project")
    assert any("by its name alone" in note for note in card["notes"])
    assert "Even rows." in program.prompts[0]
    other = score(place, skill="sew")
    assert "Without a list of skills, and named otherwise: skills/judge/rubrics/rubric-knit.md" in (
        " ".join(other.stdout.replace("║", " ").split())
    )
    listed = scene.flow(place, "judge", "rubrics")
    assert "skills/judge/rubrics/knit.txt is never used" in listed.stderr


def test_an_execution_is_not_compared_with_its_own_cards(
    place: GitRepo, program: GoalJudge
) -> None:
    for _ in range(3):
        card = score(place, "--json").json
        assert (card["history"]["cards"], card["dimensions"]["consistency"]["score"]) == (0, 7.0)
        assert card["dimensions"]["consistency"]["justification"] == NO_PRIOR
    other = score(place, "--json", skill="release").json
    assert other["history"]["cards"] == 0  # another skill
    place.write("run.md", TRANSCRIPT + "\nAnd then it went on.\n")
    grown = score(place, "--json").json
    assert grown["history"]["cards"] == 3
    assert grown["execution"] != card["execution"]
    place.write("run.md", TRANSCRIPT)
    again = score(place, "--json").json
    assert again["execution"] == card["execution"]
    assert again["history"]["cards"] == 1


def test_a_session_that_has_grown_is_another_execution(
    place: GitRepo, program: GoalJudge, home: Path
) -> None:
    session = SessionFile(folder(home, place.path) / "s1.jsonl")
    session.command("tidy").says(QUOTE)
    words = ("judge", "scorecard", "tidy", "--json")
    first, same = scene.flow(place, *words).json, scene.flow(place, *words).json
    assert same["execution"] == first["execution"]
    assert same["history"]["cards"] == 0
    session.bash("ls", "a").says("And more.")
    grown = scene.flow(place, *words).json
    assert grown["execution"] != first["execution"]
    assert grown["history"]["cards"] == 2
    session.prompt("thanks").says("You are welcome.")  # which is no part of it
    assert scene.flow(place, *words).json["execution"] == grown["execution"]
    session.command("tidy").says(QUOTE)
    assert scene.flow(place, *words).json["execution"] not in (
        first["execution"], grown["execution"],
    )  # fmt: skip


def test_the_history_document(place: GitRepo, program: GoalJudge) -> None:
    empty = scene.flow(place, "judge", "history", "commit", "--json").json
    assert (empty["cards"], empty["mean_of_last"]) == ([], None)
    score(place)
    score(place, skill="other")
    found = scene.flow(place, "judge", "history", "/commit", "--json").json
    assert list(found) == ["skill", "folder", "cards", "mean_of_last", "change", "warnings"]
    assert [card["composite"] for card in found["cards"]] == [7.75]
    assert found["mean_of_last"] == {"cards": 1, "composite": 7.75}


def test_a_history_of_nothing_says_so(place: GitRepo) -> None:
    done = scene.flow(place, "judge", "history", "commit")
    assert (done.status, done.stdout) == (0, "")
    assert "no scorecards of commit in .flow/scores yet" in done.stderr


def test_a_broken_card_is_named_in_the_history_and_in_the_next_card(
    place: GitRepo, program: GoalJudge
) -> None:
    place.write(".flow/scores/commit-20250101-000000.json", "{")
    done = scene.flow(place, "judge", "history", "commit")
    assert "warning: commit-20250101-000000.json: cannot be read" in done.stderr
    card = score(place, "--json").json
    assert any("commit-20250101-000000.json" in note for note in card["notes"])


def test_one_card_whole(place: GitRepo, program: GoalJudge) -> None:
    long = "Every file that the task names was read, changed and tested, one after the other."
    rows = {name: {"justification": f"{name}: {long}"} for name in NAMES}
    rows["safety"]["evidence"] = ["nobody said this"]
    many = tuple(f"Safety: {word} before it is pushed." for word in ("ask", "wait", "look"))
    program.answers(reply(4.0, QUOTE, rows=rows, recommendations=many))
    assert score(place).status == 0
    [path] = cards(place)
    listed = scene.flow(place, "judge", "history", "commit").stdout
    assert path.name in listed
    for name in (path.name, path.stem, f".flow/scores/{path.name}"):
        done = scene.flow(place, "judge", "history", "commit", "--card", name)
        assert done.status == 0, done
        said = " ".join(done.stdout.split())
        for one in NAMES[:6]:
            assert f"{one.capitalize()} {'(?) ' * (one == 'safety')}{one}: {long}" in said
        assert NO_PRIOR in said
        assert all(text in said for text in many)
        assert f'quoted: "{QUOTE}"' in said
        assert 'not in the transcript: "nobody said this"' in said
        assert "Transcript run.md" in said
    document = scene.flow(place, "judge", "history", "/commit", "--card", path.stem, "--json").json
    assert document == json.loads(path.read_text())


def test_a_card_that_is_not_there_is_said(place: GitRepo, program: GoalJudge) -> None:
    assert score(place).status == 0
    [path] = cards(place)
    other = path.with_name(path.name.replace("commit", "other"))
    other.write_text(path.read_text())
    broken = path.with_name("commit-20260101-000000.json")
    broken.write_text("{}")
    (path.parent / "commit-20260101-000001.json").symlink_to("/etc/hostname")
    for skill, name, status, why in (
        ("commit", "commit-20250101-000000", 2, "there is no card 'commit-20250101-000000' of"),
        ("commit", "../../run.md", 2, "there is no card"),
        ("commit", "\x1b[2J", 2, "there is no card '\\\\x1b[2J' of commit"),
        ("other", other.name, 2, "is no card of other, but of commit"),
        ("commit", broken.name, 2, "is not a scorecard"),
        ("commit", "commit-20260101-000001", 2, "symbolic link"),
    ):
        done = scene.flow(place, "judge", "history", skill, "--card", name)
        assert (done.status, why in done.stderr) == (status, True), done
        assert done.stdout == ""
    done = scene.flow(place, "judge", "history", "--card", path.name)
    assert (done.status, "--card belongs to a skill" in done.stderr) == (2, True)


def test_a_card_that_somebody_changed_says_what_counts(place: GitRepo, program: GoalJudge) -> None:
    assert score(place).status == 0
    [path] = cards(place)
    path.write_text(path.read_text().replace('"composite": 7.75', '"composite": 9.75'))
    done = scene.flow(place, "judge", "history", "commit", "--card", path.name)
    assert "its scores make 7.75 (B), which counts" in done.stderr


def test_history_without_a_skill_is_the_judges(place: GitRepo) -> None:
    found = scene.flow(place, "judge", "history", "--json").json
    assert list(found) == ["judges", "labels", "warnings"]


# --- where ----------------------------------------------------------------------------------------


def test_a_project_with_the_plugins_folder(place: GitRepo, program: GoalJudge) -> None:
    (place.path / "skills/judge/scores").mkdir(parents=True)
    card = score(place, "--json").json
    assert card["file"].startswith("skills/judge/scores/commit-")
    assert cards(place) == []
    assert len(cards(place, "skills/judge/scores")) == 1


def test_the_setting(place: GitRepo, program: GoalJudge) -> None:
    place.write(".claude/settings.flow.json", json.dumps({"judge": {"scoresDir": "quality"}}))
    assert score(place, "--json").json["file"].startswith("quality/commit-")
    found = scene.flow(place, "judge", "history", "commit", "--json").json
    assert (found["folder"], len(found["cards"])) == ("quality", 1)


def test_a_symlinked_folder_is_refused_before_anybody_is_asked(
    place: GitRepo, program: GoalJudge, tmp_path: Path
) -> None:
    (outside := tmp_path / "outside").mkdir()
    (place.path / ".flow").mkdir(exist_ok=True)
    (place.path / ".flow/scores").symlink_to(outside)
    done = score(place)
    assert done.status == 2, done
    assert ".flow/scores: is a symbolic link" in done.stderr
    assert program.prompts == []
    assert os.listdir(outside) == []


def test_from_a_folder_inside(place: GitRepo, program: GoalJudge) -> None:
    words = ("judge", "scorecard", "commit", "--file", "../run.md")
    done = scene.flow(place, *words, cwd=place.path / "src")
    assert done.status == 0, done
    assert len(cards(place)) == 1


# --- secrets and attempts -------------------------------------------------------------------------


def test_secrets_reach_neither_the_judge_nor_the_card(place: GitRepo, program: GoalJudge) -> None:
    secret = f"ghp_{'a1B2c3D4e5' * 4}"
    own = "zebra-crossing-4711"
    rows = {"safety": {"justification": f"It printed {secret} and {own}.", "evidence": [secret]}}
    program.answers(reply(8.0, QUOTE, rows=rows, recommendations=(f"Safety: revoke {secret}.",)))
    done = score(place, env={"DEPLOY_TOKEN": own})
    assert done.status == 0, done
    text = cards(place)[0].read_text()
    for words in (secret, own):
        assert words not in "".join(program.prompts) + text + done.stdout


def test_a_secret_in_the_transcripts_name_is_not_stored(place: GitRepo, program: GoalJudge) -> None:
    name = f"ghp_{'a1B2c3D4e5' * 4}.md"
    place.write(name, TRANSCRIPT)
    done = scene.flow(place, "judge", "scorecard", "commit", "--file", name, "--json")
    assert done.status == 0, done
    assert name[:20] not in done.stdout + cards(place)[0].read_text()


def test_samples(place: GitRepo, program: GoalJudge) -> None:
    program.answers(*(reply(s, QUOTE) for s in (9.0, 4.0, 6.0)))
    card = score(place, "--samples", "3", "--json").json
    assert card["dimensions"]["safety"]["score"] == 6.0
    assert (card["judge"]["ballots"], card["judge"]["ballotsAsked"]) == (3, 3)


def test_the_schema_is_printed() -> None:
    done = run_flow("schema", "scorecard", cwd="/")
    assert done.status == 0
    assert done.json["title"] == "Scorecard"
    assert done.json["required"] == SEED_KEYS


def test_a_card_is_no_change_of_a_goals(place: GitRepo, program: GoalJudge) -> None:
    place.commit("the transcript")
    (place.path / "skills/judge/scores").mkdir(parents=True)
    scene.create(place)
    scene.meet(place)
    assert score(place).status == 0
    place.commit("with the card")
    done = scene.flow(place, "goal", "evaluate", "greet", "--json")
    assert done.json["path_violations"] == []
    place.write("skills/judge/scores/notes.txt", "mine")
    done = scene.flow(place, "goal", "evaluate", "greet", "--json")
    assert done.json["path_violations"] == ["skills/judge/scores/notes.txt"]
