"""What the Stop hook must say, and when it must go on, by what the oracle knows."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

from tests.faults.undeserved.looks import contract_of, status_of
from tests.faults.undeserved.world import BRANCH, JOURNAL, SCRIPTS, SHIM

if TYPE_CHECKING:
    from tests.faults.undeserved.oracle import Oracle
    from tests.faults.undeserved.world import World

THROTTLE, CAP = 3, 8
"""Continuations on the same files, and in a row, after which Flow may let go (with a word)."""


class Listener:
    """Compares each answer with what is open. ``mode`` is the user's own setting."""

    def __init__(self, world: World, oracle: Oracle) -> None:
        self.world, self.oracle = world, oracle
        self.mode = "warn"
        self.owner: dict[str, str] = {}
        """Goal to the session that was told to go on with it, or claimed it."""
        self.sessions: set[str] = set()
        self.handed_over: set[str] = set()
        """Goals that were claimed for a session by name."""
        self._worked: set[tuple[str, str]] = set()
        """A session and a goal that it was kept working for."""
        self._continued: set[str] = set()
        self._told: set[tuple[str, str, str]] = set()
        self._blocks: list[str] = []
        """The state of the files at each continuation."""

    def continued(self, session: str) -> bool:
        """Whether the session's last stop was answered by a continuation."""
        return session in self._continued

    def judge(self, answer: dict[str, Any], session: str, denied: tuple[str, ...]) -> str:
        """What is wrong with an answer; empty if nothing is."""
        going_on = answer.get("decision") == "block"
        text = str(answer.get("systemMessage", ""))
        text += str(answer.get("reason", "")) if going_on else ""
        open_goals = sorted(self.oracle.begun.keys() - self.oracle.closed)
        if self.mode == "off":  # the user's own word
            return ""
        wrong = ""
        for goal in list(open_goals):
            if f"goal {goal} is failed: stuck_no_progress" in text:
                self.oracle.closed.add(goal)  # the loop's standing answer
                open_goals.remove(goal)
                continue
            if going_on and goal not in text:
                continue
            if goal not in text and not self._may_be_silent(goal, session):
                wrong = wrong or f"the hook let go of {goal} without a word: {answer}"
            if not going_on and self._must_ask_back(goal, session):
                wrong = wrong or f"the hook did not ask for {goal} to be put back: {answer}"
            if goal in text:
                self._told.add((session, goal, self._state(goal)))
        if not going_on and not wrong and self._must_go_on(open_goals, session, denied):
            wrong = f"the hook let go, though a goal of the session fails: {answer}"
        self._note(going_on, text, session, open_goals)
        return wrong

    def _note(self, going_on: bool, text: str, session: str, goals: list[str]) -> None:
        self.sessions.add(session)
        self._continued.discard(session)
        if going_on:
            self._continued.add(session)
            self._blocks.append(self._files())
            for goal in goals:
                if goal in text:
                    self.owner.setdefault(goal, session)
                    self._worked.add((session, goal))

    def _may_be_silent(self, goal: str, session: str) -> bool:
        """Another session works on it and is heard itself, or this state of it was told before."""
        owner = self.owner.get(goal)
        if owner is not None and owner != session and owner in self.sessions:
            return True
        heard = {state for who, name, state in self._told if (who, name) == (session, goal)}
        if not heard and not self._on_branch():
            return True  # nobody worked on it here
        elsewhere = owner is not None and owner != session
        return self._state(goal) in heard and (elsewhere or not self._working(goal))

    def _must_ask_back(self, goal: str, session: str) -> bool:
        """Whether a hand took a goal away from a session that was kept working for it."""
        if self.mode not in ("block", "evaluator-loop") or (session, goal) not in self._worked:
            return False
        status, begun = status_of(self.world, goal), self.oracle.begun[goal]
        lost = status in ("achieved", "cancelled", "draft", "failed", "")
        lost = lost or contract_of(self.world, goal) != begun.contract
        told = (session, goal, self._state(goal)) in self._told
        return lost and not told and self._on_branch() and goal not in self.handed_over

    def _working(self, goal: str) -> bool:
        """Whether the goal stands as it was begun, so that each stop is about it."""
        in_work = status_of(self.world, goal) in ("active", "blocked", "waiting_for_user")
        return in_work and contract_of(self.world, goal) is not None and self._on_branch()

    def _on_branch(self) -> bool:
        return self.world.answer("symbolic-ref", "HEAD").strip() == f"refs/heads/{BRANCH}"

    def _must_go_on(self, goals: list[str], session: str, denied: tuple[str, ...]) -> bool:
        if self.mode not in ("block", "evaluator-loop") or len(self._blocks) >= CAP:
            return False
        files = self._files()
        if self._blocks[-THROTTLE:].count(files) >= THROTTLE:
            return False
        active = [goal for goal in goals if status_of(self.world, goal) == "active"]
        return any(
            self.owner.get(goal) == session or (len(active) == 1 and goal not in self.owner)
            for goal in active
            if self.fails(goal, denied)
        )

    def fails(self, goal: str, denied: tuple[str, ...]) -> bool:
        """Whether an evaluation can only say that a command failed, or a path is outside."""
        begun = self.oracle.begun[goal]
        if contract_of(self.world, goal) != begun.contract or goal not in self.oracle.trusted:
            return False
        if not self._on_branch() or self.oracle.guards() != begun.guards:
            return False
        if os.path.islink(self.world.path(JOURNAL)):  # where Flow cannot write, it can only say so
            return False
        criteria = begun.contract["objective"]["acceptance_criteria"]
        return any(self._exits_badly(row["verification_command"]) for row in criteria)

    def _exits_badly(self, command: str) -> bool:
        failing = self.oracle.tests().failed > 0
        if command.startswith("grep "):
            return not self.oracle.holds(command)
        if command == "pytest tests":
            return failing
        if command == "sh src/check.sh":
            honest = f"# means: tests\n{SCRIPTS['tests']}"
            return failing and self.oracle.text("src/check.sh") == honest
        if command.startswith(".venv/bin/check"):
            return failing and self.oracle.text(".venv/bin/check") == SHIM
        return False

    def _state(self, goal: str) -> str:
        """What a goal looks like to somebody who looks for it."""
        text = self.oracle.text(f".flow/goals/{goal}.goal.yaml")
        branch = self.world.answer("symbolic-ref", "HEAD").strip()
        parts = (text, branch, self.owner.get(goal, ""), self.oracle.local_settings())
        return hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()

    def _files(self) -> str:
        return repr(sorted(self.oracle.subject().items()))
