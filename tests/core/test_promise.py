"""The evaluator cannot write a terminal status: shown by the type checker (SPEC 2)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAD = """
from flow.app.ports import Artifact, LastEvaluation, Turn, TurnLedger, Closing
from flow.core.goal.loaded import ExpectedState
from flow.app.evaluation.tools import EvaluationTools
artifact = Artifact("goal-evaluation", {})
closing = Closing("achieved", "", artifact, {})
last = LastEvaluation("pass", "", "2026-01-01T00:00:00Z")
def turn(status: str) -> None: ...
def f(tools: EvaluationTools) -> None:
"""
LINES = {
    "a turn may say active": ("    Turn('active', 1, last, (), artifact, {}, None)", None),
    "a turn may say blocked": ("    Turn('blocked', 1, last, (), artifact, {}, None)", None),
    "a turn cannot say achieved": (
        "    Turn('achieved', 1, last, (), artifact, {}, None)",
        "arg-type",
    ),
    "a turn cannot say failed": ("    Turn('failed', 1, last, (), artifact, {}, None)", "arg-type"),
    "a turn cannot say cancelled": (
        "    Turn('cancelled', 1, last, (), artifact, {}, None)",
        "arg-type",
    ),
    "the evaluator's ledger cannot close": (
        "    tools.ledger.close('g', 'r', ExpectedState('active'), closing)",
        "attr-defined",
    ),
    "the evaluator's ledger cannot approve": (
        "    tools.ledger.approve('g', 'r', ExpectedState('active'), None)",
        "attr-defined",
    ),
}


@pytest.mark.slow
def test_what_an_evaluation_can_say_is_what_the_type_checker_accepts(tmp_path: Path) -> None:
    for number, (line, _) in enumerate(LINES.values()):
        (tmp_path / f"case{number}.py").write_text(HEAD + line + "\n")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--cache-dir",
            str(tmp_path / "cache"),
            *(str(tmp_path / f"case{n}.py") for n in range(len(LINES))),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    for number, (name, (_, code)) in enumerate(LINES.items()):
        errors = [row for row in done.stdout.splitlines() if f"case{number}.py" in row]
        if code is None:
            assert not errors, (name, done.stdout)
        else:
            assert any(f"[{code}]" in row for row in errors), (name, done.stdout + done.stderr)
