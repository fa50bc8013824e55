"""Waiting with the real parts: the note in the state folder, and the command that is asked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flow.adapters.verification.waiting import Waiting
from flow.wiring.context import Context
from tests.support import GitRepo


@pytest.fixture
def checkout(repo: GitRepo, home: Path) -> Waiting:
    assert home
    return Waiting(Context(str(repo.path), os.environ))


@pytest.mark.parametrize(("command", "outcome"), [("true", "passed"), ("exit 3", "failed")])
def test_a_command_is_run_once(command: str, outcome: str, checkout: Waiting) -> None:
    assert checkout.attempt(command, 5).outcome == outcome


def test_the_least_time_is_a_tenth_of_a_second(checkout: Waiting) -> None:
    assert checkout.attempt("true", -1).outcome in ("passed", "timeout")


def test_for_what_a_goal_waits_is_remembered(checkout: Waiting) -> None:
    assert checkout.waits.read("goal") is None
    checkout.waits.write("goal", {"until": "true"})
    assert checkout.waits.read("goal") == {"until": "true"}
    checkout.waits.remove("goal")
    assert checkout.waits.read("goal") is None
