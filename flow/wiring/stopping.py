"""The Stop hook's tools (SPEC section 6): what :func:`flow.app.stop.stop` works with."""

from __future__ import annotations

from flow.cheap_typing import TYPE_CHECKING, Any
from flow.core import explain, layout
from flow.errors import FlowError, StateError
from flow.wiring.evaluating import Evaluating
from flow.wiring.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.app.evaluate import Evaluated
    from flow.app.stop import Host
    from flow.core.goal import Goal
    from flow.core.stop import Loop
    from flow.core.stop_host import Answer, StopEvent
    from flow.core.verdict import Verdict

IDLE_SECONDS = 3600
"""A session that has not stopped for so long owns nothing any more."""
ASK_SECONDS = 30.0
"""The most that asking again what a goal waits for may take in the hook."""
OUTPUT_END = 8192
"""Bytes of the end of an output that a continuation is made from."""
SOURCE = "evaluator-loop"
PENDING_LIMIT = 1000
"""Goals whose last change is completed at most; a crash leaves one."""
MARGIN = 5.0
"""Seconds of the hook's time that are kept for writing down what was found."""


class Stopping(Reading, Evaluating):
    """What the Stop hook asks of a checkout."""

    def stop(self, event: StopEvent, host: Host, seconds_left: Callable[[], float]) -> Answer:
        """Decide about one stop of an agent. Raises :class:`FlowError`."""
        import time

        from flow.adapters import locks
        from flow.app.stop import StopTools, stop

        settings = self.settings.settings
        self._parts["speaker"] = None  # nobody speaks at a stop: `how` names the hook

        def left() -> float:
            return seconds_left() - MARGIN

        tools = StopTools(
            mode=settings.stop_hook_enforcement,
            fail_after=settings.fail_after_stuck_turns,
            propose_only=settings.on_stuck == "propose",
            goals=self._open_goals,
            owner=self.owner,
            own=self._own,
            ready=lambda goal: self.ask_again(goal, min(ASK_SECONDS, left())),
            resume=self._go_on,
            evaluate=lambda request: self.examine(request, seconds_left=left),
            persist=self._persist,
            loop=self._loop,
            keep_loop=self._keep_loop,
            note=self._note,
            output_end=self._output_end,
            fail=self._fail,
            propose=self._propose,
            alone=lambda goal_id: locks.exclusive(
                self.top, layout.stop_lock(goal_id), timeout=max(left(), 0.1), quick=True
            ),
            now=time.time,
        )
        return stop(event, host, tools)

    def _open_goals(self) -> tuple[list[Goal], list[FlowError]]:
        """The branch's open goals, once what a killed call had decided is written everywhere."""
        from flow.adapters import files

        broken: list[FlowError] = []
        for name in files.names(self.top, layout.PENDING, suffix=".json", limit=PENDING_LIMIT):
            goal_id = name.removesuffix(".json")
            try:
                self.ledger.finish(goal_id)
            except FlowError as error:
                broken.append(error)
        goals, unreadable = self.active(None, any_open=True)
        return goals, [*broken, *unreadable]

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
        from flow.adapters import files
        from flow.app.doors import refuse_closed

        goal = self.load(goal_id).goal
        refuse_closed(goal, "claiming it")
        if session is None:
            self._notes("sessions").remove(goal.id)
        else:
            self._own(goal.id, session)
        if goal.run_id is not None and files.exists(self.top, layout.events_file(goal.run_id)):
            spoken = self.speaker.fields() if self.speaker is not None else {}
            self._note(goal.run_id, goal.id, {"type": "claimed", "session": session, **spoken})
        return goal

    def _own(self, goal_id: str, session: str) -> None:
        import time

        self._notes("sessions").write(goal_id, {"session": session, "at": time.time()})

    # --- waiting for something outside ---------------------------------------------------------

    def wait(self, goal_id: str, until: str, seconds: float) -> tuple[Goal, bool, str]:
        """``active → waiting_for_ci`` until a command exits 0; asked once right away.

        Returns (goal, whether it is there already, in words). The command is kept in the user's
        state folder and asked again at each stop of an agent, or by whoever follows it.
        """
        goal = self.load(goal_id).goal
        if goal.status not in ("active", "waiting_for_ci"):
            raise StateError(
                f"goal {goal.id} is {goal.status}; only an active goal can wait",
                key="lifecycle.status",
                value=goal.status,
                remedy=f"see where it stands: flow goal status {goal.id}",
            )
        there, words = self._ask(until, seconds)
        if there:
            if goal.status == "waiting_for_ci":
                self._go_on(goal.id, words)
            return self.load(goal_id).goal, True, words
        self._notes("waits").write(goal.id, {"until": until})
        self._shift(goal.id, "waiting_for_ci", f"waits until this exits 0: {until}"[:500])
        return self.load(goal_id).goal, False, words

    def ask_again(self, goal: Goal, seconds: float) -> tuple[bool, str]:
        """Whether what a waiting goal waits for is there now, and in words."""
        note = self._notes("waits").read(goal.id)
        until = note.get("until") if note is not None else None
        if not isinstance(until, str):
            return False, f"for CI, and nobody said for what (flow goal wait {goal.id} --until CMD)"
        return self._ask(until, seconds)

    def go_on(self, goal_id: str, reason: str) -> Goal:
        """A goal that has waited becomes active again."""
        self._go_on(goal_id, reason)
        return self.load(goal_id).goal

    def _go_on(self, goal_id: str, reason: str) -> None:
        self._shift(goal_id, "active", reason)
        self._notes("waits").remove(goal_id)

    def _ask(self, until: str, seconds: float) -> tuple[bool, str]:
        from flow.adapters.checks import CommandRunner
        from flow.app.ports import Check, CheckResult

        found: list[CheckResult] = []
        runner = CommandRunner(self.top, layout.WORK, environ=self.environ, output_limit=1 << 16)
        check = Check("wait", until, "", max(seconds, 0.1))
        runner(
            [check], jobs=1, started=lambda _: None, ended=lambda _, result: found.append(result)
        )
        shown = explain.visible(until)[:200]
        if found[0].outcome == "passed":
            return True, f"what it waited for is there: {shown}"
        return False, f"not there yet ({found[0].result}): {shown}"

    # --- what a stop writes --------------------------------------------------------------------

    def _persist(self, verdict: Verdict) -> tuple[str, ...]:
        return self._put_verdict(verdict.to_document(), verdict.run_id, SOURCE)[1]

    def _loop(self, goal_id: str, run_id: str) -> Loop:
        from flow.adapters import loops
        from flow.core.stop import Loop

        return loops.read(self.top, run_id, goal_id) if run_id else Loop(goal_id)

    def _keep_loop(self, run_id: str, loop: Loop) -> None:
        from flow.adapters import clock, loops

        loops.write(self.top, run_id, loop, now=clock.now())

    def _note(self, run_id: str, goal_id: str, event: Mapping[str, Any]) -> None:
        from flow.adapters import clock, events

        fields = dict(event)
        kind = fields.pop("type")
        events.append(self.top, run_id, goal_id, kind, fields, at=clock.now(), sync=False)
        self._keep_head(run_id)  # a stop writes nothing after this

    def _output_end(self, evidence_ref: str) -> str:
        from flow.adapters import files

        stem = evidence_ref.removesuffix(layout.EVIDENCE_SUFFIX)
        try:
            data = files.read_end(self.top, f"{stem}.txt", limit=OUTPUT_END)
        except FlowError:
            return ""
        return data.decode("utf-8", "replace")

    def _fail(self, evaluated: Evaluated, reason: str) -> None:
        from flow.adapters import clock
        from flow.app import doors

        doors.give_up(self._desk(), evaluated, reason, "Stop hook, evaluator-loop", clock.now())

    def _propose(self, evaluated: Evaluated, reason: str, waits: bool) -> Verdict:
        from flow.adapters import clock
        from flow.app import doors

        return doors.propose_failed(
            self.ledger, self.records, evaluated, reason, waits=waits, now=clock.now()
        )
