"""What an agent reads of the plugin: short, said once, and true when it is run."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flow.core.decision.verdict import Act
from flow.core.tool_calls import rules
from flow.startup.typing import get_args
from tests.support import ROOT, scene
from tests.support import stops as hooks
from tests.support.scene import flow

if TYPE_CHECKING:
    from tests.support import GitRepo

CORE = "commands/goal.md"
EVALUATE = "references/goal/evaluate.md"
BUDGET = {
    CORE: 2000,
    EVALUATE: 1300,
    "references/goal/create.md": 2200,
    "references/goal/file.md": 1100,
    "references/goal/approve.md": 1800,
    "references/goal/amend.md": 900,
    "references/goal/move.md": 900,
    "commands/judge.md": 2300,
    "commands/judge-with-debate.md": 3500,
    "skills/writing-goals/SKILL.md": 2900,
    "skills/reading-verdicts/SKILL.md": 3900,
    "skills/judge/SKILL.md": 3000,
    "agents/goal-evaluator-judge.md": 3200,
}
"""The most characters of each text; 4 are about one token."""
READING = 3000
"""The most tokens that an agent reads for a simple goal, from the sentence to the confirmed end."""


def read(rel: str) -> str:
    return Path(ROOT, rel).read_text(encoding="utf-8")


def body(rel: str) -> str:
    """Without the front matter, which no agent is given."""
    return read(rel).split("---\n", 2)[-1]


def blocks(rel: str, language: str) -> list[str]:
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```", read(rel), re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indent}", "", text, flags=re.MULTILINE) for indent, text in found]


def test_every_text_has_a_budget_and_keeps_it() -> None:
    places = (
        *Path(ROOT, "commands").rglob("*"),
        *Path(ROOT, "references").rglob("*"),
        *Path(ROOT, "agents").rglob("*"),
        *Path(ROOT, "skills").rglob("SKILL.md"),
    )
    texts = {path.relative_to(ROOT).as_posix() for path in places if path.is_file()}
    assert texts - BUDGET.keys() <= {"skills/goal-evaluator/SKILL.md"}
    over = {rel: len(read(rel)) for rel in BUDGET if len(read(rel)) > BUDGET[rel]}
    assert over == {}


def test_the_core_has_at_most_forty_lines() -> None:
    assert len(read(CORE).splitlines()) <= 40


def test_the_agent_acts_by_every_word_that_a_verdict_can_say() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", read(EVALUATE), re.MULTILINE)
    told = [word for row in rows for word in re.findall(r"`(\w+)`", row)]
    assert sorted(told) == sorted([*get_args(Act), "do"])


def test_every_file_that_the_core_and_create_name_is_there_and_no_other() -> None:
    folder = Path(ROOT, "references/goal")
    assert "${CLAUDE_PLUGIN_ROOT}/references/goal/create.md" in read(CORE)
    texts = read(CORE) + read("references/goal/create.md")
    named = set(re.findall(r"(\w+\.md)`", texts))
    assert named == {path.name for path in folder.iterdir()}
    words = set(re.findall(r"`(\w+)`", read(CORE)))
    hint = re.search(r'argument-hint: "\[SENTENCE \| (\S+)', read(CORE))
    assert hint
    assert set(hint.group(1).split("|")) <= words, "a word of the hint leads nowhere"
    told = read("docs/start/install.md").partition("### The command")[2].partition("\n###")[0]
    assert set(hint.group(1).split("|")) <= set(re.findall(r"`(\w+)`", told)), "a page lacks it"


def test_each_command_that_a_person_is_asked_about_is_on_the_page() -> None:
    told = read("docs/start/install.md").partition("### What you are asked about")[2]
    words = set(
        re.findall(r"[\w-]+", " ".join(re.findall(r"`([^`]+)`", told.partition("\nIf ")[0])))
    )
    asked = {word for pair, kind in rules._VERBS.items() if kind for word in pair}
    asked |= {"inbox", *rules._OPTIONS}
    assert asked - {"sign", "--engine", "--confirm"} <= words  # not built, and never an agent's


def test_no_file_for_one_word_is_a_command_by_accident() -> None:
    commands = sorted(path.name for path in Path(ROOT, "commands").rglob("*"))
    assert commands == ["goal.md", "judge-with-debate.md", "judge.md"]


def test_nothing_is_asked_before_confirm() -> None:
    (row,) = (line for line in read(EVALUATE).splitlines() if line.startswith("| `ask_confirm`"))
    assert "Ask nothing before" in row
    assert "AskUserQuestion" not in read(CORE) + read(EVALUATE)


def test_what_no_command_proves_goes_to_a_judge_or_a_person() -> None:
    text = " ".join(read("references/goal/approve.md").split())
    assert "ask a judge (claude), or a person looks?" in text
    assert "flow goal evaluate --no-input --judge-backend claude ID" in text


SENTENCE = re.compile(r"[A-Z`*][^.|]{60,}?[.|:]")


def sentences(rel: str) -> set[str]:
    text = re.sub(r"```.*?```", "", body(rel), flags=re.DOTALL)
    return {" ".join(found.split()) for found in SENTENCE.findall(text)}


def test_no_text_repeats_another() -> None:
    goal_texts = [rel for rel in BUDGET if "judge" not in rel]
    for rel in goal_texts:
        assert len(sentences(rel)) > 2, rel
        for other in goal_texts:
            assert rel == other or sentences(rel) & sentences(other) == set(), (rel, other)


# --- what the texts show is run -------------------------------------------------------------------

DATES = "def parse(text):\n    return text.split('-')\n"
STRICT = """\
def parse(text):
    parts = text.split("-")
    if len(parts[0]) != 4:
        raise ValueError("write the year first, like 2026-03-01")
    return parts
"""
NEW_TEST = """\
import pytest
from src.dates import parse

def test_year_is_required():
    with pytest.raises(ValueError):
        parse("03-01")
"""
OLD_TEST = """\
from src.dates import parse

def test_whole():
    assert parse("2026-03-01") == ["2026", "03", "01"]
"""


@pytest.fixture
def dates(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> GitRepo:
    """A project as the example means it, and the runner of its tests on the PATH."""
    folder = os.path.dirname(sys.executable)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    files = {"src/dates.py": DATES, "src/__init__.py": "", "tests/test_old_dates.py": OLD_TEST}
    ignored = {".gitignore": "__pycache__/\n.pytest_cache/\n.flow/runs/\n"}
    repo.commit("start", **files, **ignored, **{"conftest.py": ""})
    return repo


def words_of(line: str) -> list[str]:
    import shlex

    words = shlex.split(line.replace("\\\n", " "))
    assert words[0] == "flow"
    return words[1:]


def outcomes(verdict: dict[str, Any]) -> list[str]:
    return [row["outcome"] for row in verdict["criterion_results"]]


def test_the_example_of_create_goes_through_at_the_first_attempt(dates: GitRepo) -> None:
    (line,) = blocks("references/goal/create.md", "sh")
    created = flow(dates, *words_of(line))
    assert (created.status, scene.status(dates, "dates-need-a-year")) == (0, "active"), created
    evaluate = ("goal", "evaluate", "--no-input", "--json", "dates-need-a-year")
    before = flow(dates, *evaluate).json
    assert (before["do"], outcomes(before)[1:]) == ("work_on", ["passed", "not_run"])
    assert outcomes(before)[0] != "passed"
    dates.write("src/dates.py", STRICT)
    dates.write("tests/test_dates.py", NEW_TEST)
    after = flow(dates, *evaluate).json
    assert outcomes(after) == ["passed", "passed", "not_run"], after
    assert (after["do"], after["path_violations"]) == ("person_looks", [])
    # The old tests are protected.
    dates.write("tests/test_old_dates.py", OLD_TEST.replace("== [", "!= ["))
    weakened = flow(dates, *evaluate).json
    assert (weakened["do"], outcomes(weakened)) != (after["do"], outcomes(after))
    assert "tests/test_old_dates.py" in str(weakened["criterion_results"])


def test_the_goal_file_of_eleven_lines_is_a_whole_goal(dates: GitRepo) -> None:
    (text,) = blocks("references/goal/file.md", "yaml")
    assert len(text.splitlines()) == 11
    dates.write("../goal.yaml", text)
    created = flow(dates, "goal", "create", "--file", "../goal.yaml", "--json")
    assert (created.status, created.json["warnings"]) == (0, []), created
    goal = "dates-need-a-year"
    assert scene.status(dates, goal) == "active"
    dates.write("src/dates.py", STRICT)
    dates.write("tests/test_dates.py", NEW_TEST)
    verdict = flow(dates, "goal", "evaluate", goal, "--json").json
    assert (verdict["verdict"], verdict["do"]) == ("achieved", "ask_confirm"), verdict


GOAL_SKILLS = ("goal-evaluator", "reading-verdicts", "writing-goals")
NOT_NEEDED = "Not needed "
"""How the description of a skill begins to say where its body is not to be read."""
AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}
"""What an agent's shell has."""
CRITERIA = (
    "AC1: a date without a year is wrong :: pytest -q tests/test_dates.py::test_year_is_required",
    "AC2: the other dates are read as before :: pytest -q tests/test_old_dates.py",
    "AC3: the README says so :: grep -q year README.md",
)
PATHS = ("src/dates.py", "tests/test_dates.py", "README.md")


def described(rel: str) -> str:
    """What a host lists of a text, and an agent reads of it before anything is called."""
    line = re.search(r"^description: (.*)$", read(rel), re.MULTILINE)
    assert line, rel
    return line.group(1)


def skills_to_read() -> dict[str, str]:
    """The bodies that an agent has to read on the way, by the skills' own descriptions."""
    texts = (f"skills/{name}/SKILL.md" for name in GOAL_SKILLS)
    return {rel: body(rel) for rel in texts if NOT_NEEDED not in described(rel)}


def answers_of(repo: GitRepo, *words: str, status: int = 0) -> str:
    """What an agent's shell shows of a call of ``bin/flow``."""
    done = scene.flow(repo, *words, env=AGENT)
    assert done.status == status, done
    return done.stdout + done.stderr


def stopped(repo: GitRepo, **more: Any) -> tuple[dict[str, str], str]:
    """The answer of the Stop hook's script, and all that it says."""
    done = hooks.run_script(json.dumps(hooks.event(repo, **more)), cwd=repo.path, **AGENT)
    answer: dict[str, str] = done.json
    return answer, "\n".join(answer.values())


def question(repo: GitRepo, command: str) -> str:
    """What the PreToolUse hook's script asks the person about a command."""
    call = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": os.fspath(repo.path)}
    event = {"session_id": "s1", **call, "tool_input": {"command": command}}
    script = os.path.join(ROOT, "hooks", "scripts", "flow-ask-person.sh")
    done = hooks.run_script(json.dumps(event), script=script, cwd=repo.path, **AGENT)
    return str(done.json["hookSpecificOutput"]["permissionDecisionReason"])


def evaluation(goal: str) -> list[str]:
    """The command by which an agent has a goal evaluated."""
    line = re.search(r"^Run `flow ([^`]*) ID`", read(EVALUATE), re.MULTILINE)
    assert line
    return [*line.group(1).split(), goal]


def test_a_simple_goal_costs_little_to_read(dates: GitRepo, home: Path) -> None:
    """All of it: from the sentence over a red stop and a green one to the confirmed end."""
    hooks.settings(home, stopHookEnforcement="block")
    dates.commit("readme", **{"README.md": "Dates.\n"})
    shell = ("commands/goal.md", *(f"skills/{name}/SKILL.md" for name in GOAL_SKILLS))
    parts = {"listed": "\n".join(map(described, shell)), **skills_to_read()}
    parts["the command, for the sentence"] = parts["the command, for evaluate"] = body(CORE)
    parts["create.md"] = read("references/goal/create.md")
    parts["evaluate.md"] = read(EVALUATE)
    parts["init"] = answers_of(dates, "init")
    criteria = [word for text in CRITERIA for word in ("--criterion", text)]
    paths = [word for path in PATHS for word in ("--allow", path)]
    create = ("goal", "create", "years", "--outcome", "Dates without a year are refused")
    protect = ("--protect", "tests/test_old_dates.py")
    parts["created"] = answers_of(dates, *create, *criteria, *paths, *protect)
    answer, parts["a red stop"] = stopped(dates)
    assert answer["decision"] == "block"
    dates.write("src/dates.py", STRICT)
    dates.write("tests/test_dates.py", NEW_TEST)
    dates.write("README.md", "Dates. A year is required.\n")
    answer, parts["a green stop"] = stopped(dates, stop_hook_active=True)
    assert "all proved. Waits for you: flow goal confirm" in answer["systemMessage"]
    parts["evaluated"] = answers_of(dates, *evaluation("years"))
    confirm = re.search(r"flow goal confirm years --proposal [0-9a-f]{12}", parts["evaluated"])
    assert confirm, parts["evaluated"]
    parts["asked"] = question(dates, confirm.group())
    assert "Close goal years as achieved?" in parts["asked"]
    parts["closed"] = answers_of(dates, *confirm.group().split()[1:])
    assert scene.status(dates, "years") == "achieved"
    tokens = {name: len(text) // 4 for name, text in parts.items()}
    assert sum(tokens.values()) <= READING, (sum(tokens.values()), tokens)
