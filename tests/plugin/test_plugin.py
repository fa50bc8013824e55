"""The plugin's files: valid for Claude Code, and true to the command line they speak of."""

from __future__ import annotations

import fnmatch
import functools
import json
import os
import re
from typing import TYPE_CHECKING

import pytest

from tests.support import ROOT, run_flow

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXTS = (
    "commands/goal.md",
    "agents/goal-evaluator-judge.md",
    "skills/writing-goals/SKILL.md",
    "skills/reading-verdicts/SKILL.md",
    "skills/judge/SKILL.md",
    "skills/goal-evaluator/SKILL.md",
    "commands/judge.md",
    "docs/start/install.md",
    "commands/judge-with-debate.md",
    "references/goal/create.md",
    "references/goal/approve.md",
    "references/goal/amend.md",
    "references/goal/move.md",
)
GROUPS = ("goal", "evidence", "verdict", "journal", "trust", "config", "hook", "judge")
"""Commands whose second word is a command too."""


def read(rel: str) -> str:
    with open(os.path.join(ROOT, rel), encoding="utf-8") as file:
        return file.read()


def document(rel: str) -> dict[str, object]:
    found = json.loads(read(rel))
    assert isinstance(found, dict)
    return found


def front(rel: str) -> dict[str, str]:
    """The front matter, whose values are on one line each."""
    block = read(rel).split("---\n")[1]
    return dict(line.split(": ", 1) for line in block.splitlines())


def test_the_marketplace_offers_the_plugin_itself() -> None:
    plugin = document(".claude-plugin/plugin.json")
    market = document(".claude-plugin/marketplace.json")
    assert market["plugins"] == [
        {"name": plugin["name"], "source": "./", "description": plugin["description"]}
    ]


@pytest.mark.parametrize("rel", TEXTS[1:6])
def test_agents_and_skills_are_found_under_their_own_name(rel: str) -> None:
    found = front(rel)
    folder, file = os.path.split(rel)
    assert found["name"] == (os.path.basename(folder) if file == "SKILL.md" else file[:-3])
    assert len(found["description"]) > 60


def commands(rel: str) -> Iterator[str]:
    """Each ``flow ...`` in code, on one line; continued lines are joined."""
    text = read(rel)
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", text, flags=re.DOTALL | re.MULTILINE)
    for block in blocks:
        for line in block.replace("\\\n", " ").splitlines():
            if line.strip().startswith(("flow ", "bin/flow ")):
                yield line.strip()
    without = re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    for span in re.findall(r"`((?:bin/)?flow\s[^`]*)`", without):
        yield " ".join(span.split())


NAMED = sorted({(rel, command) for rel in TEXTS for command in commands(rel)})


@functools.cache
def help_of(*words: str) -> tuple[int, str]:
    done = run_flow(*words, "--help", cwd=ROOT)
    return done.status, done.stdout


@pytest.mark.parametrize(("rel", "command"), NAMED)
def test_every_command_that_is_named_exists_with_its_options(rel: str, command: str) -> None:
    words = command.split()[1:]
    length = 0 if words[0].startswith("-") else 2 if words[0] in GROUPS else 1
    path = tuple(words[:length])
    status, text = help_of(*path)
    assert status == 0, f"{rel}: {command}"
    outside_quotes = re.sub(r"'[^']*'", "", command)
    for option in re.findall(r"(?<=\s)--[a-z-]+", outside_quotes):
        known = option in text or option in ("--help", "--version", "--json")
        assert known, f"{rel}: {command}: no {option}"


def test_the_command_for_debates_allows_debates_and_nothing_else() -> None:
    found = front("commands/judge-with-debate.md")
    allowed = re.findall(r"Bash\(([^)]*)\)", found["allowed-tools"])
    assert allowed == ["flow judge debate:*", "flow --version"]
    assert "--task" in found["argument-hint"]
    text = read("commands/judge-with-debate.md")
    assert "do not read the judges' report files" in text


PERSONS = (
    "flow goal confirm greet --proposal 0",
    "flow goal approve greet AC1 --by A --note B --yes",
    "flow goal clear greet --yes",
    "flow goal rebase greet --yes",
    "flow goal create greet --outcome o",
    "flow goal activate greet",
    "flow goal evaluate greet --confirm",
    "flow goal evaluate greet --confirm --json",
    "flow trust record greet --yes",
    "flow trust revoke greet",
    "flow-goal-record.sh --update-lifecycle",
    "flow doctor --fix",
)


@pytest.mark.parametrize("command", PERSONS)
def test_the_command_allows_nothing_that_is_a_persons(command: str) -> None:
    allowed = re.findall(r"Bash\(([^)]*)\)", front("commands/goal.md")["allowed-tools"])
    assert "flow goal status:*" in allowed
    for rule in allowed:
        assert not fnmatch.fnmatch(command, re.sub(r":\*$", "*", rule)), rule


@pytest.mark.parametrize("command", [*PERSONS, "flow judge calibrate", "flow config list", "ls"])
def test_the_judges_command_allows_scoring_and_nothing_else(command: str) -> None:
    allowed = re.findall(r"Bash\(([^)]*)\)", front("commands/judge.md")["allowed-tools"])
    assert allowed == ["flow judge scorecard:*", "flow judge history:*"]
    for rule in allowed:
        assert not fnmatch.fnmatch(command, re.sub(r":\*$", "*", rule)), rule


def test_person_and_agent_have_one_way_each_to_a_scorecard() -> None:
    """Claude Code calls both by the same name; without this it would list that twice."""
    assert front("commands/judge.md")["disable-model-invocation"] == "true"
    assert front("skills/judge/SKILL.md")["user-invocable"] == "false"


def test_the_evaluators_skill_points_at_the_one_mechanism() -> None:
    """The seed's statuses, each at the same place; and nothing there that is a person's to run."""
    text = read("skills/goal-evaluator/SKILL.md")
    assert set(commands("skills/goal-evaluator/SKILL.md")) == {
        "flow goal evaluate",
        "flow goal evaluate --no-input ID",
        "flow goal status",
    }
    from flow.core.goal.lifecycle import STATUSES

    named = {word for word in re.findall(r"`([a-z_]+)`", text) if word in STATUSES}
    assert {"active", "blocked", "waiting_for_user", "achieved", "failed"} <= named
    for skill in re.findall(r"skill `([a-z-]+)`", text):
        assert os.path.exists(os.path.join(ROOT, "skills", skill, "SKILL.md")), skill


def test_an_evaluation_that_is_allowed_cannot_confirm(tmp_path: Path) -> None:
    words = ("goal", "evaluate", "--no-input", "--json", "greet", "--confirm")
    done = run_flow(*words, cwd=tmp_path)
    assert done.status == 2
    assert "exclude each other" in done.json["error"]["message"]


def test_the_agent_for_an_opinion_has_no_tools_and_is_told_what_every_judge_is_told() -> None:
    from flow.core.judging.goal.prompt import SYSTEM

    rel = "agents/goal-evaluator-judge.md"
    assert front(rel)["tools"] == "[]"
    body = read(rel).split("---\n", 2)[2]
    assert body.strip() == SYSTEM.replace("NONCE", "CODE").strip()


@pytest.mark.parametrize("rel", TEXTS)
def test_no_text_speaks_of_this_machine_or_of_what_is_not_there(rel: str) -> None:
    text = read(rel)
    assert not re.search(r"/(home|root|Users|work|tmp)/", text)
