"""docs/judges.md says what the code does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from flow.adapters.judges import anthropic, openai, retry
from flow.adapters.judges.choose import BACKENDS
from flow.adapters.judges.command import TRY_AGAIN
from flow.core.judging.common.question import NoAnswerKind
from flow.core.settings import JudgeSettings, Layer, merge_layers
from tests.support import ROOT

PAGE = Path(ROOT, "docs", "judges.md").read_text("utf-8")
SETTINGS = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)


def test_every_backend_kind_and_variable_is_told() -> None:
    names = {
        *BACKENDS,
        *get_args(NoAnswerKind),
        *anthropic.KEYS,
        openai.KEY,
        "FLOW_JUDGE_SCHEMA",
        "FLOW_JUDGE_MODEL",
        "FLOW_JUDGE_USAGE",
        "CLAUDE_HOOK_GOAL_JUDGE_MODE=1",
    }
    assert [name for name in names if name not in PAGE] == []
    assert f"| {TRY_AGAIN} |" in PAGE


def test_its_numbers_are_the_codes() -> None:
    policy = retry.RetryPolicy()
    assert (policy.tries, policy.first) == (4, 1.0)
    assert "are tried four times, after about 1, 2 and 4 seconds" in " ".join(PAGE.split())
    assert f"`timeoutSeconds` ({JudgeSettings().timeout_seconds})" in PAGE


@pytest.mark.parametrize("text", SETTINGS)
def test_its_settings_are_settings(text: str) -> None:
    loaded = merge_layers([Layer("settings.flow.json", json.loads(text), own=True)])
    assert loaded.warnings == ()
    assert loaded.settings.judge.backend in BACKENDS
