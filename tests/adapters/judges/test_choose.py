"""Which judge is asked: every word and setting that there can be."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.judges.choose import BACKENDS, choose
from flow.app.judging.port import JudgeAnswer, NoAnswer
from flow.core.settings import JudgeSettings
from tests.adapters.judges.scene import QUESTION, SECONDS
from tests.support.start import ROOT

if TYPE_CHECKING:
    from pathlib import Path

NOTHING = JudgeSettings()
LOCAL = JudgeSettings(backend="openai", model="llama3", base_url="http://127.0.0.1:9/v1")
OWN = JudgeSettings(backend="command", command=("cat",))
HAIKU = JudgeSettings(backend="claude", model="haiku")


@pytest.mark.parametrize(
    ("spec", "settings", "name"),
    [
        (None, HAIKU, "claude:haiku"),
        (None, JudgeSettings(backend="claude"), "claude"),
        (None, LOCAL, "openai:llama3"),
        (None, OWN, "command"),
        ("claude", NOTHING, "claude"),
        ("claude:sonnet", NOTHING, "claude:sonnet"),
        ("claude", LOCAL, "claude"),
        ("openai", LOCAL, "openai:llama3"),
        ("openai:qwen3:8b", LOCAL, "openai:qwen3:8b"),
        ("openai:org/model-1.5@x", NOTHING, "openai:org/model-1.5@x"),
        ("anthropic:m-1", LOCAL, "anthropic:m-1"),
        ("qwen3:8b", LOCAL, "openai:qwen3:8b"),
        ("sonnet", HAIKU, "claude:sonnet"),
        ("command", OWN, "command"),
        ("command:m", OWN, "command:m"),
    ],
)
def test_the_judge_that_is_meant(spec: str | None, settings: JudgeSettings, name: str) -> None:
    found = choose(spec, settings, {}, work=None)
    assert not isinstance(found, NoAnswer), found
    assert found.name == name


@pytest.mark.parametrize(
    ("spec", "settings", "words"),
    [
        (None, NOTHING, "no judge is configured"),
        ("sonnet", NOTHING, "names no backend"),
        ("gemini:pro", NOTHING, "names no backend"),
        ("command", NOTHING, "flow.goals.judge.command is not set"),
        ("command", HAIKU, "flow.goals.judge.command is not set"),
        ("anthropic", NOTHING, "no model is named"),
        ("openai", HAIKU, "no model is named"),
        (None, JudgeSettings(backend="openai"), "no model is named"),
        (None, JudgeSettings(backend="command", command=()), "command is not set"),
        ("openai:", NOTHING, "is not a model's name"),
        ("", HAIKU, "is not a model's name"),
        ("claude:--dangerously-skip-permissions", NOTHING, "is not a model's name"),
        ("claude:a b", NOTHING, "is not a model's name"),
        ("claude:a\x1b[31m", NOTHING, "is not a model's name"),
        ("claude:\u202e", NOTHING, "is not a model's name"),
        ("claude:" + "x" * 201, NOTHING, "is not a model's name"),
        (None, JudgeSettings(backend="claude", model="two words"), "is not a model's name"),
    ],
)
def test_none_is_a_plain_message(spec: str | None, settings: JudgeSettings, words: str) -> None:
    found = choose(spec, settings, {}, work=None)
    assert isinstance(found, NoAnswer)
    assert found.kind == "not_configured"
    assert words in found.reason
    assert found.reason.isprintable()
    assert len(found.reason) < 400


@pytest.mark.parametrize("name", BACKENDS)
def test_each_backend_of_the_settings_is_asked_as_itself(name: str) -> None:
    found = choose(f"{name}:m", OWN, {}, work=None)
    assert not isinstance(found, NoAnswer), found
    assert found.name == f"{name}:m"


@pytest.mark.parametrize("spec", ["claude", "anthropic:m", "openai:m"])
def test_an_address_reaches_no_other_backend_than_its_own(spec: str) -> None:
    """A key must not go to a server that was meant for another."""
    settings = JudgeSettings(backend="command", command=("x",), base_url="http://127.0.0.1:9")
    found: Any = choose(spec, settings, {}, work=None)
    backend = found.backend
    values = {**vars(backend), "env": getattr(backend, "_env", {})}
    assert "127.0.0.1:9" not in repr(values)


def test_judges_of_one_evaluation_share_a_budget(tmp_path: Path) -> None:
    from flow.adapters.judges.budget import Budget

    told = '{"cost_usd": 0.75}'
    script = f"""echo '{told}' >"$FLOW_JUDGE_USAGE"; echo '{{}}'"""
    settings = JudgeSettings(backend="command", command=("sh", "-c", script), max_cost_usd=1.0)
    question = QUESTION._replace(schema={"type": "object"})
    env = {"PATH": os.environ["PATH"]}

    def ask(budget: Budget | None) -> JudgeAnswer | NoAnswer:
        found = choose(None, settings, env, work=str(tmp_path), budget=budget)
        assert not isinstance(found, NoAnswer)
        return found(question, seconds=SECONDS)

    budget = Budget(1.0)
    assert isinstance(ask(budget), JudgeAnswer)
    second = ask(budget)
    assert isinstance(second, NoAnswer)
    assert second.kind == "cost_limit"
    assert isinstance(ask(None), JudgeAnswer)
    assert isinstance(ask(None), JudgeAnswer)


def test_choosing_loads_no_sdk_and_starting_flow_loads_no_judge() -> None:
    script = """
import sys
import flow.__main__, flow.cli.main, flow.wiring.evaluating
assert not [name for name in sys.modules if name.startswith("flow.adapters.judges")]
from flow.adapters.judges.choose import choose
from flow.core.settings import JudgeSettings
for spec in ("claude", "anthropic:m", "openai:m"):
    choose(spec, JudgeSettings(), {}, work=None)
assert not {"anthropic", "openai", "jsonschema"} & sys.modules.keys()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
