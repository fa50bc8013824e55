"""The Stop hook's tools (SPEC 6): what :func:`flow.app.stop.handle.stop` works with."""

from __future__ import annotations

import os
from contextlib import contextmanager

from flow.adapters.fs import files, locks
from flow.adapters.fs.state_folder import state_dir
from flow.adapters.git.find import Repo, find_repo
from flow.adapters.user_state import checkouts
from flow.adapters.user_state.checkouts import CheckoutNotes, worked_in
from flow.app.ports import Check, CheckEvents
from flow.app.stop import sight
from flow.app.stop.handle import handle_stop
from flow.app.stop.tools import StopTools
from flow.core import layout
from flow.core.goal import ids
from flow.core.stop import lost_goals
from flow.core.text import display
from flow.errors import FlowError, at_key
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.evaluating import Evaluating
from flow.wiring.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flow.adapters.user_state.goal_notes import Notes
    from flow.app.evaluation.values import Evaluated
    from flow.app.ports import CheckResult
    from flow.app.stop.tools import Host
    from flow.core.goal.model import Goal
    from flow.core.stop.hosts import StopAnswer, StopEvent

IDLE_SECONDS = 3600
"""A session that has not stopped for so long owns nothing any more."""
ASK_SECONDS = 30.0
"""The most that asking again what a goal waits for may take in the hook."""
MARGIN = 5.0
"""Seconds of the hook's time that are kept for writing down what was found."""


class Stopping(Reading, Evaluating):
    """What the Stop hook asks of a checkout."""

    @classmethod
    def at(cls, cwd: str | None, session: str | None = None) -> Stopping:
        """The checkout that an event is about; ``cwd`` is its folder, which may be gone.

        One that Flow works for is found where it was, also where nothing of it is left; where
        ``cwd`` is in none, the one in which ``session`` was kept working. Raises
        :class:`InputError` where there is no repository, no ``.flow`` and none that Flow knows.
        """
        folder = cwd or os.getcwd()
        repo = _repository(folder, os.environ, session)
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        return cls(folder, repo=repo)

    def left_behind(self, session: str | None) -> list[str]:
        """What to say of another checkout's goals that the session was kept working for."""
        try:
            top = worked_in(self.state_dir, session)
            if session is None or top is None or top == self.top:
                return []
            from flow.app.stop import unjudged

            there = CheckoutNotes(self.state_dir, top, None)
            return unjudged.left_behind(self.top, session, top, there)
        except FlowError:
            return []

    def switched_off(self, session: str | None, why: str) -> list[str]:
        """See :func:`flow.app.stop.unjudged.switched_off`."""
        from flow.app.stop import unjudged

        return unjudged.switched_off(lambda: self.checkout_notes, session, why)

    def stop(self, event: StopEvent, host: Host, seconds_left: Callable[[], float]) -> StopAnswer:
        """Decide about one stop of an agent. Raises :class:`FlowError`."""
        import time

        from flow.wiring import stop_parts  # a goal's waiting is no stop

        settings = self.settings.settings
        self._parts["speaker"] = None  # nobody speaks at a stop: `how` names the hook
        read = self._parts.pop("goals of this stop", None)

        def left() -> float:
            return seconds_left() - MARGIN

        @contextmanager
        def alone(goal_id: str) -> Iterator[None]:
            lock = layout.stop_lock(goal_id)
            with (
                locks.exclusive(self.top, lock, timeout=max(left(), 0.1), quick=True),
                self.alone(goal_id, left),
            ):
                yield

        tools = StopTools(
            mode=settings.stop_hook_enforcement,
            fail_after=settings.fail_after_stuck_turns,
            propose_only=settings.on_stuck == "propose",
            sight=lambda session: sight.look(self, session, read=read),
            sessions=stop_parts.StopSessions(self),
            record=stop_parts.StopRecord(self),
            moves=stop_parts.StopMoves(self),
            ready=lambda goal: self.ask_again(goal, min(ASK_SECONDS, left())),
            evaluate=lambda request: self.examine(request, seconds_left=left),
            alone=alone,
            now=time.time,
        )
        return handle_stop(event, host, tools)

    def take_settings_of_open_goals(self) -> tuple[str, ...]:
        """Go by the settings as they were when the branch's goals began; what is not obeyed."""
        try:
            read = self._parts["goals of this stop"] = self.loaded_goals()
            branch = self.branch()
            goals = [each.goal for each in read[0].values()]
            acting = [
                g
                for g in goals
                if lost_goals.is_acting(g) and lost_goals.belongs_to_branch(g, branch)
            ]
            self.take_settings_of(*(goal.run_id for goal in acting))
        except FlowError:  # the stop itself tells that the goals cannot be read
            pass
        return self.settings.overruled

    # --- sessions ------------------------------------------------------------------------------

    def owner(self, goal_id: str) -> str | None:
        """The session that a goal belongs to; None where it belongs to none, or that is idle."""
        import time

        note = self._notes("sessions").read(goal_id)
        if note is None or not isinstance(note.get("session"), str):
            return None
        at = note.get("at")
        if not isinstance(at, int | float) or time.time() - at > IDLE_SECONDS:
            return None
        return str(note["session"])

    def claim(self, goal_id: str, session: str | None) -> Goal:
        """The goal belongs to ``session`` from now on; None: to whichever stops next.

        Raises :class:`StateError` for a closed goal.
        """
        from flow.app.transitions.closing import refuse_closed

        goal = self.load(goal_id).goal
        refuse_closed(goal, "claiming it")
        if session is None:
            self._notes("sessions").remove(goal.id)
        else:
            self.own(goal.id, session)
        self._spoken(goal.run_id, goal.id, {"type": "claimed", "session": session})
        return goal

    def forget(self, goal_id: str) -> None:
        """Miss the goal no longer. Raises :class:`InputError` where it is not missed."""
        known = self.checkout_notes.read().goals.get(ids.goal_id(goal_id))
        if known is None or not self.checkout_notes.forget(goal_id):
            raise at_key("goal id", goal_id).not_found(
                f"no goal {goal_id} is remembered of {display.visible(self.top)}",
                "name the checkout where it was: flow goal forget ID --checkout DIR",
            )
        self._spoken(known.run_id, goal_id, {"type": "forgotten"})

    def _spoken(self, run_id: str | None, goal_id: str, event: Mapping[str, Any]) -> None:
        """Note what somebody said in the run's events, where there are any."""
        if run_id is not None and files.exists(self.top, layout.events_file(run_id)):
            from flow.wiring import stop_parts

            spoken = self.speaker.fields() if self.speaker is not None else {}
            stop_parts.StopRecord(self).note(run_id, goal_id, {**event, **spoken})

    def own(self, goal_id: str, session: str) -> None:
        """Remember that a session works on a goal."""
        import time

        self._notes("sessions").write(goal_id, {"session": session, "at": time.time()})

    def give_up(self, evaluated: Evaluated, reason: str) -> None:
        """Close a goal whose loop is stuck as ``failed``."""
        from flow.adapters.fs import clock
        from flow.app.transitions import closing as transitions_closing

        transitions_closing.give_up(
            self._desk(), evaluated, reason, "Stop hook, evaluator-loop", clock.now()
        )

    # --- waiting for something outside ---------------------------------------------------------

    def wait(self, goal_id: str, until: str, seconds: float) -> tuple[Goal, bool, str]:
        """See :func:`flow.app.stop.waiting.wait`."""
        from flow.app.stop import waiting

        return waiting.wait(self, goal_id, until, seconds)

    def ask_again(self, goal: Goal, seconds: float) -> tuple[bool, str]:
        """Whether what a waiting goal waits for is there now, and in words."""
        from flow.app.stop import waiting

        return waiting.ask_again(self, goal, seconds)

    def go_on(self, goal_id: str, reason: str) -> Goal:
        """A goal that has waited becomes active again."""
        from flow.app.stop import waiting

        return waiting.go_on(self, goal_id, reason)

    def wait_for_person(self, goal_id: str, reason: str) -> None:
        """An active goal waits for the user from now on."""
        self.shift(goal_id, "waiting_for_user", reason)

    @property
    def waits(self) -> Notes:
        """For what each goal waits."""
        return self._notes("waits")

    def attempt(self, command: str, seconds: float) -> CheckResult:
        """Run a command once, as a goal's are run."""
        from flow.adapters.verification.runner import CommandRunner

        results: list[CheckResult] = []
        runner = CommandRunner(self.top, layout.WORK, environ=self.environ, output_limit=1 << 16)
        check = Check("wait", command, "", max(seconds, 0.1))
        events = CheckEvents(lambda _: None, lambda _, result: results.append(result))
        runner([check], jobs=1, events=events)
        return results[0]


def _repository(folder: str, environ: Mapping[str, str], session: str | None) -> Repo | None:
    """The repository around ``folder``; None where there is none and Flow knows of none.

    A checkout that Flow works for, and of which nothing is left, is one without git. Outside of
    all repositories it is the one in which Flow kept the session working.
    """
    folder = os.path.realpath(folder)
    repo = find_repo(folder)
    try:
        state = state_dir(environ, environ.get("HOME"), None)
        top = checkouts.nearest(state, folder)
        if top is None and repo is None:
            top = checkouts.worked_in(state, session)
            repo = find_repo(top) if top is not None else None
    except FlowError:
        return repo
    if top is None or (repo is not None and not f"{top}/".startswith(f"{repo.top}/")):
        return repo
    if repo is not None and repo.top == top:
        return repo
    return Repo(top, None, None, "its folder or its .git is gone")
