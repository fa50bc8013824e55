"""The sequence of a stop, with parts that behave: who is asked, in what order, what is said."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from flow.app.evaluation.evaluate import examine
from flow.app.evaluation.values import Request
from flow.app.stop.handle import handle_stop
from flow.app.stop.tools import Host, Sight, StopTools
from flow.core.stop.hosts import StopEvent
from flow.core.stop.lost_goals import NEXT_SESSION, Loss, OpenGoal, SessionNotes
from flow.core.stop.policy import LoopCounters
from flow.errors import InputError, LockTimeout, StorageError
from tests.app.fakes import World, changed, criterion, goal_document

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flow.app.evaluation.values import Evaluated
    from flow.core.decision.verdict import Verdict
    from flow.core.goal.model import Goal
    from flow.core.stop.hosts import StopAnswer

EVENT = StopEvent("claude", session="s", prompt="p")
HOST = Host("/flow:goal evaluate", 5000, len, 8)


class Scene:
    """One or more goals, a session's notes and counters, all in memory."""

    def __init__(self, *worlds: World, mode: Any = "evaluator-loop") -> None:
        self.worlds = {w.document["metadata"]["id"]: w for w in worlds or (world(),)}
        self.mode = mode
        self.log: list[str] = []
        self.synced: list[bool] = []
        self.requests: list[Request] = []
        self.owners: dict[str, str] = {}
        self.loops: dict[str, LoopCounters] = {}
        self.events: list[dict[str, Any]] = []
        self.verdicts: list[Verdict] = []
        self.broken: list[Any] = []
        self.unfinished: list[Any] = []
        self.known: dict[str, OpenGoal] = {}
        self.losses: list[Any] = []
        self.notes: dict[str, SessionNotes] = {}
        self.shown: set[str] = set()
        self.seconds = 1.0
        self.cost = 0.0
        self.ready: tuple[bool, str] = (False, "not there yet: make ci")
        self.unwritable = False
        self.propose_only = False
        self.limit = 3
        self.time = 1000.0

    def say(self, event: StopEvent = EVENT, host: Host = HOST) -> StopAnswer:
        self.time += 400  # no throttle
        return handle_stop(event, host, self.tools())

    def tools(self) -> StopTools:
        return StopTools(
            mode=self.mode,
            fail_after=self.limit,
            propose_only=self.propose_only,
            sight=self.sight,
            load=lambda goal_id: self.worlds[goal_id].goal(goal_id).goal,
            sessions=self,
            record=self,
            moves=self,
            ready=self.ask_again,
            evaluate=self.evaluate,
            stop_lock=self.stop_lock,
            now=lambda: self.time,
        )

    def sight(self, session: str | None) -> Sight:
        loaded = [w.goal(name) for name, w in self.worlds.items()]
        return Sight(
            [each.goal for each in loaded],
            {str(n): error for n, error in enumerate(self.broken)},
            dict(self.known),
            list(self.losses),
            {each.goal.id: each.contract for each in loaded},
            self.notes.get(session or "", SessionNotes()),
            unfinished=self.unfinished,
        )

    def owner(self, goal_id: str) -> str | None:
        return self.owners.get(goal_id)

    def closings_told(self, goal_ids: Any) -> None:
        self.log.append(f"told {list(goal_ids)}")

    def has_stopped(self, session: str) -> bool:
        return session in self.notes

    def keep(self, session: str, notes: SessionNotes) -> None:
        self.notes[session] = notes

    def known_goal(self, goal_id: str = "issue-4", **more: Any) -> None:
        goal = OpenGoal(goal_id, "run-1", "main", ("active",), "c")
        self.known[goal_id] = goal._replace(**more)

    def loop(self, goal_id: str, run_id: str) -> LoopCounters:
        return self.loops.get(goal_id, LoopCounters(goal_id))

    def note(self, run: str, goal: str, event: Mapping[str, Any]) -> None:
        self.events.append({"goal": goal, "run": run, **event})

    def redacted(self, message: str) -> str:
        return message.replace("secret", "[masked]")

    def output_end(self, path: str) -> str:
        return f"the end of {path}"

    def judge_cost(self, run_id: str) -> float:
        return self.cost

    def shown_before(self, run_id: str, criterion: Any) -> float | None:
        return self.seconds if criterion.id in self.shown else None

    def note_open(self, goal: Goal, run_id: str, status: str, contract: str) -> None:
        self.known[goal.id] = OpenGoal(goal.id, run_id, goal.branch, (status,), contract)

    def own(self, goal_id: str, session: str) -> None:
        self.log.append(f"own {goal_id}")
        self.owners[goal_id] = session

    def ask_again(self, goal: Goal) -> tuple[bool, str]:
        self.log.append(f"ask {goal.id}")
        return self.ready

    def resume(self, goal_id: str, reason: str) -> None:
        self.log.append(f"resume {goal_id}: {reason}")
        self.worlds[goal_id].document["lifecycle"]["status"] = "active"

    def evaluate(self, request: Request) -> Evaluated:
        self.log.append(f"evaluate {request.goal_id}")
        self.requests.append(request)
        return examine(request, self.worlds[request.goal_id].tools())

    def persist(self, verdict: Verdict, *, sync: bool) -> tuple[str, ...]:
        self.log.append("persist")
        self.synced.append(sync)
        if self.unwritable:
            raise StorageError("no space", file="last-verdict.json")
        self.verdicts.append(verdict)
        return ("cut a little",)

    def keep_loop(self, run_id: str, loop: LoopCounters) -> None:
        self.log.append(f"loop {run_id}")
        self.loops[loop.goal_id] = loop

    def fail(self, evaluated: Evaluated, reason: str) -> None:
        self.log.append(f"fail {reason}")

    def propose(self, evaluated: Evaluated, reason: str, waits: bool) -> Verdict:
        self.log.append(f"propose {waits} {reason}")
        return evaluated.verdict._replace(reason=reason)

    @contextmanager
    def stop_lock(self, goal_id: str) -> Iterator[None]:
        self.log.append("lock")
        yield
        self.log.append("unlock")


def world(name: str = "issue-4", outcome: str = "failed", **more: Any) -> World:
    document = goal_document(criterion("AC1"), **more)
    document["metadata"]["id"] = name
    document["continuation"] = {"max_iterations": 20}
    made = World(document)
    made.outcomes["AC1"] = outcome
    return made


def test_a_continuation_is_written_down_before_it_is_given() -> None:
    here = Scene()
    answer = here.say()
    assert answer.action == "continue"
    assert here.log == [
        "lock",
        "evaluate issue-4",
        "persist",
        "own issue-4",
        "loop run-1",
        "unlock",
    ]
    [event] = here.events
    assert (event["type"], event["goal"], event["run"]) == ("stop", "issue-4", "run-1")
    assert (event["row"], event["answer"], event["limit"]) == ("failed", "continue", None)
    assert (event["host"], event["session"], event["mode"]) == ("claude", "s", "evaluator-loop")
    assert (event["continuations"], event["stuck_turns"]) == (1, 0)
    assert (event["verdict"], event["reused"], event["out_of_time"]) == ("not_achieved", [], [])
    assert event["tree"]
    assert event["passing_sha256"] == here.loops["issue-4"].passing_sha256
    assert here.verdicts[0].verdict == "not_achieved"
    assert here.loops["issue-4"].evidence == {
        "AC1": here.verdicts[0].criterion_results[0].evidence_ref
    }
    assert "the end of .flow/runs/run-1/evidence/" in answer.reason


def test_the_request_of_each_mode() -> None:
    for mode in ("warn", "block", "evaluator-loop"):
        here = Scene(mode=mode)
        here.loops["issue-4"] = LoopCounters("issue-4", evidence={"AC1": "x"})
        here.say()
        [request] = here.requests
        assert request == Request(
            "issue-4",
            trigger="stop-hook",
            no_judge=mode != "evaluator-loop",
            reuse={"AC1": "x"},
            use_recorded_opinion=True,
            quiet=True,
        )


@pytest.mark.parametrize(
    ("owner", "event", "judged"),
    [
        (None, EVENT, True),
        ("s", EVENT, True),
        ("other", EVENT, False),
        ("other", EVENT._replace(session=None), False),
        (None, EVENT._replace(session=None), True),
        (None, EVENT._replace(background=("a server",)), False),
    ],
)
def test_ownership_and_background_come_before_anything_is_run(
    owner: str | None, event: StopEvent, judged: bool
) -> None:
    here = Scene()
    if owner:
        here.owners["issue-4"] = owner
        here.notes[owner] = SessionNotes()
    answer = here.say(event)
    assert bool(here.requests) == judged
    if not judged:
        assert (answer.action, answer.message) == ("let_go", "")
        assert ("another session" in answer.reason) == (owner == "other")
        assert ("a server" in answer.reason) == bool(event.background)
        assert here.events == []
    assert ("own issue-4" in here.log) == (judged and event.session is not None)


def test_a_session_that_is_let_go_is_not_idle_and_owns_nothing_new() -> None:
    here = Scene(world(outcome="passed"))
    here.say()
    assert "own issue-4" not in here.log
    here.owners["issue-4"] = "s"
    here.say()
    assert here.log.count("own issue-4") == 1


@pytest.mark.parametrize(
    ("statuses", "mine", "chosen", "said"),
    [
        ({"a": "active"}, None, "a", ""),
        ({"a": "active", "b": "draft"}, None, "a", ""),
        ({"a": "active", "b": "waiting_for_user"}, None, "a", ""),
        ({"a": "active", "b": "active"}, None, None, "a, b"),
        ({"a": "active", "b": "active"}, "b", "b", ""),
        ({"a": "active", "b": "waiting_for_ci"}, None, "a", ""),
        (
            {"b": "waiting_for_user"},
            None,
            None,
            "b is waiting_for_user (for what: flow goal status b); nothing was evaluated",
        ),
        ({"b": "blocked"}, None, None, "b is blocked"),
        ({"b": "draft"}, None, None, ""),
    ],
)
def test_which_goal_a_stop_is_about(
    statuses: dict[str, Any], mine: str | None, chosen: str | None, said: str
) -> None:
    here = Scene(*(world(name, status=status) for name, status in statuses.items()))
    if mine:
        here.owners[mine] = "s"
    answer = here.say()
    assert [request.goal_id for request in here.requests] == ([chosen] if chosen else [])
    if chosen is None:
        assert answer.action == "let_go"
        assert said in answer.message
        assert bool(answer.message) == bool(said)
        assert answer.reason


def test_a_goal_blocked_by_its_paths_is_judged_again() -> None:
    blocked = world(status="blocked")
    last = {"result": "blocked", "reason": "path_boundary_violation: x outside", "at": "t"}
    blocked.document["lifecycle"]["last_evaluation"] = last
    here = Scene(blocked)
    here.say()
    assert here.requests


def test_what_a_goal_waits_for_is_asked_again() -> None:
    here = Scene(world(status="waiting_for_ci"))
    answer = here.say()
    assert answer.action == "let_go"
    assert "not there yet: make ci" in answer.message
    assert answer.next_step_hint == "flow goal resume issue-4"
    assert not here.requests
    here.ready = (True, "there: make ci")
    here.say()
    at = here.log.index("resume issue-4: there: make ci")
    assert here.log[at + 1] == "lock"
    assert here.requests


def test_goals_that_cannot_be_read_are_named_first_of_all_and_counted() -> None:
    here = Scene(world(outcome="passed"))
    here.broken = [InputError(f"broken \x1b{n}", file=f"g{n}.yaml") for n in range(7)]
    message = here.say().message
    assert "g0.yaml: broken \\x1b0" in message
    assert "g4.yaml" in message
    assert "g5.yaml" not in message
    assert "2 more goals cannot be read" in message


def test_an_untrusted_goal_is_said_and_counts_nothing() -> None:
    untrusted = world()
    untrusted.trust = (False, "nobody said yes")
    here = Scene(untrusted)
    answer = here.say()
    assert answer.action == "let_go"
    assert "nobody said yes" in answer.message
    assert answer.next_step_hint.endswith("flow trust record issue-4")
    assert here.loops == {}
    assert here.verdicts == []


def test_stuck_fails_the_goal_or_proposes_it() -> None:
    for propose_only in (False, True):
        here = Scene()
        here.propose_only = propose_only
        answers = [here.say() for _ in range(4)]
        assert [a.action for a in answers] == ["continue"] * 3 + ["let_go"]
        words = [entry for entry in here.log if entry.startswith(("fail", "propose"))]
        assert len(words) == 1
        start = "propose False stuck_no_progress: " if propose_only else "fail stuck_no_progress: "
        assert words[0].startswith(start)
        assert "after each of 3 continuations" in words[0]
        assert here.events[-1]["limit"] == "stuck_no_progress"
        assert here.verdicts[-1].reason.startswith("stuck_no_progress")
        lifecycle = here.verdicts[-1].lifecycle_to
        assert lifecycle == ("active" if propose_only else "failed")
        assert here.log.index(words[0]) < len(here.log) - 1 - here.log[::-1].index("persist")
        assert here.loops["issue-4"].continuing is False
        if not propose_only:
            assert "It is marked failed: the same criteria passed" in answers[-1].message
            assert "create NEW --from issue-4" in here.verdicts[-1].next_step_hint


def test_the_budget_is_the_goals_and_waits_for_the_user() -> None:
    small = world()
    small.document["continuation"] = {"max_iterations": 1}
    here = Scene(small)
    here.limit = 9
    assert here.say().action == "continue"
    answer = here.say()
    assert answer.action == "let_go"
    assert "The agent may stop: the one continuation of max_iterations is used" in answer.message
    assert any(entry.startswith("propose True budget_exhausted: ") for entry in here.log)


@pytest.mark.parametrize("mode", ["block", "evaluator-loop"])
def test_the_goals_own_time_and_cost_end_the_loop_and_say_so(mode: Any) -> None:
    timed = world()
    timed.document["continuation"] = {"max_seconds": 500}
    here = Scene(timed, mode=mode)
    here.limit = 9
    assert [here.say().action for _ in range(2)] == ["continue", "continue"]
    answer = here.say()  # 800 s after the first
    assert answer.action == "let_go"
    assert "the 500 s of max_seconds are over" in answer.message
    assert here.events[-1]["limit"] == "budget_exhausted"
    proposed = [entry for entry in here.log if entry.startswith("propose True budget_exhausted")]
    assert bool(proposed) is (mode == "evaluator-loop")
    priced = world()
    priced.document["continuation"] = {"max_cost_usd": 2}
    here = Scene(priced, mode=mode)
    here.cost = 1.5
    assert here.say().action == "continue"
    here.cost = 2.25
    answer = here.say()
    assert answer.action == "let_go"
    assert "judges have cost 2.25 of 2 US dollars of max_cost_usd" in answer.message


def test_throttle_and_cap_write_nothing_of_their_own() -> None:
    here = Scene(mode="block")
    cap = HOST._replace(cap=1)
    assert here.say(host=cap).action == "continue"
    answer = here.say(host=cap)
    assert "may stop: the host lets go after 1 continuation in a row." in answer.message
    assert not [entry for entry in here.log if entry.startswith(("fail", "propose"))]
    here = Scene(mode="block")
    for _ in range(3):
        assert here.say().action == "continue"
        here.time -= 399
    assert "3 continuations within 5 minutes" in here.say().message


def test_a_host_that_counts_itself_is_believed_where_it_counts_more() -> None:
    here = Scene()
    here.say(EVENT._replace(used=5))
    assert here.loops["issue-4"].continuations == 6
    here.say(EVENT._replace(used=1))
    assert here.loops["issue-4"].continuations == 7


def test_flow_managed_only_warns() -> None:
    managed = world()
    managed.document["continuation"] = {"mode": "flow_managed"}
    here = Scene(managed)
    answer = here.say()
    assert answer.action == "let_go"
    assert "(the hook only warns: continuation.mode is flow_managed)" in answer.reason
    assert "(continuation.mode is flow_managed)" in answer.message
    assert here.events[0]["mode"] == "warn"
    assert here.requests[0].no_judge


def test_what_is_let_go_says_where_the_goal_stands() -> None:
    here = Scene(world(outcome="passed"))
    answer = here.say()
    assert answer.reason == "goal issue-4: every required criterion is proved; a person confirms"
    assert answer.next_step_hint == "/flow:goal evaluate issue-4"
    assert answer.message == (
        "◎ issue-4 turn 1: all proved. Waits for you: flow goal confirm issue-4\nFlow: cut a little"
    )


@pytest.mark.parametrize(
    ("outcome", "mode", "words", "line"),
    [
        (
            "inconclusive",
            "block",
            "goal issue-4 is undecided: ",
            "AC1 undecided, nothing failed. The agent may stop.",
        ),
        (
            "failed",
            "warn",
            "goal issue-4 is not done: ",
            "AC1 failed. The agent may stop (stopHookEnforcement is warn).",
        ),
        (
            "inconclusive",
            "warn",
            "(the hook only warns: stopHookEnforcement is warn)",
            "AC1 undecided, nothing failed. The agent may stop (stopHookEnforcement is warn).",
        ),
    ],
)
def test_the_words_of_each_row(outcome: str, mode: str, words: str, line: str) -> None:
    answer = Scene(world(outcome=outcome), mode=mode).say()
    assert words in answer.reason
    assert answer.message.startswith(f"◎ issue-4 turn 1: {line}")


def test_a_violation_is_named() -> None:
    outside = world(outcome="passed")
    outside.changes = (changed("elsewhere"),)
    for mode, action in (("warn", "let_go"), ("block", "continue")):
        answer = Scene(outside, mode=mode).say()
        assert answer.action == action
        assert "elsewhere" in answer.reason


def test_a_fuzzy_criterion_needs_a_person() -> None:
    made = World(goal_document(criterion("AC1", None), kind="hybrid"))
    answer = Scene(made, mode="block").say()
    assert "goal issue-4 needs a person: " in answer.reason
    assert "AC1 not asked" in answer.message
    assert "Waits for you: flow goal approve issue-4 AC1\n" in answer.message


def test_a_verdict_that_cannot_be_kept_is_a_warning() -> None:
    here = Scene(world(outcome="passed"))
    here.unwritable = True
    answer = here.say()
    assert "could not be recorded: last-verdict.json: no space" in answer.message
    assert here.events


# --- what each part is handed, and what is said beside the answer -----------------------------


class Strict(Scene):
    """Refuses what is not the goal's own: another id, run or session."""

    def loop(self, goal_id: str, run_id: str) -> LoopCounters:
        assert (goal_id, run_id) == ("issue-4", "run-1")
        return super().loop(goal_id, run_id)

    def own(self, goal_id: str, session: str) -> None:
        assert (goal_id, session) == ("issue-4", "s")
        super().own(goal_id, session)

    def fail(self, evaluated: Evaluated, reason: str) -> None:
        assert evaluated.verdict.goal_id == "issue-4"
        super().fail(evaluated, reason)

    @contextmanager
    def stop_lock(self, goal_id: str) -> Iterator[None]:
        assert goal_id == "issue-4"
        with super().stop_lock(goal_id):
            yield

    def output_end(self, path: str) -> str:
        assert path.startswith(".flow/runs/run-1/evidence/")
        self.log.append(f"read {path}")
        return super().output_end(path)


def test_every_part_is_handed_the_goal_it_is_about() -> None:
    document = goal_document(criterion("AC1"), criterion("AC2"), criterion("AC3", None))
    document["continuation"] = {"max_iterations": 20}
    two = World(document)
    two.outcomes["AC1"] = "failed"
    here = Strict(two)
    for _ in range(4):
        here.say()
    read = [entry for entry in here.log if entry.startswith("read ")]
    assert len(read) == 3  # of what failed, in each of three continuations
    assert all("ac1" in entry for entry in read)


def test_older_references_stay_until_there_is_a_newer_one() -> None:
    here = Scene(world(outcome="passed"))
    here.loops["issue-4"] = LoopCounters("issue-4", evidence={"AC1": "old", "AC9": "other"})
    here.say()
    kept = here.loops["issue-4"].evidence
    assert kept["AC9"] == "other"
    assert kept["AC1"] != "old"
    unproved = World(goal_document(criterion("AC1", None), kind="hybrid"))
    here = Scene(unproved, mode="block")
    here.say()
    assert here.loops["issue-4"].evidence == {}


def test_one_decided_criterion_makes_a_stop_count() -> None:
    document = goal_document(criterion("AC1"), criterion("AC2"))
    half = World(document)
    half.outcomes.update(AC1="failed", AC2="inconclusive")
    here = Scene(half)
    here.say()
    here.say()
    assert here.loops["issue-4"].stuck_turns == 1
    none = World(goal_document(criterion("AC1")))
    none.outcomes["AC1"] = "inconclusive"
    here = Scene(none)
    here.say()
    assert here.loops["issue-4"].passing_sha256 is None


BROKEN = InputError("broken", file="g.yaml")


@pytest.mark.parametrize(
    ("scene", "reason"),
    [
        (lambda: Scene(world(status="draft")), "no active goal on this branch"),
        (lambda: Scene(world(status="waiting_for_user")), "goal issue-4 is waiting_for_user"),
        (lambda: Scene(world(status="waiting_for_ci")), "goal issue-4 waits: not there yet"),
        (lambda: Scene(world(outcome="passed")), "goal issue-4: every required criterion"),
    ],
)
def test_what_cannot_be_read_is_said_beside_every_answer(scene: Any, reason: str) -> None:
    here = scene()
    here.broken = [BROKEN]
    answer = here.say()
    assert answer.reason.startswith(reason)
    assert "cannot read a goal: g.yaml: broken" in answer.message


def test_a_change_that_cannot_be_carried_out_is_no_goal_that_cannot_be_read() -> None:
    here = Scene(world(outcome="passed"))
    here.unfinished = [LockTimeout("held", file=f"goal-{n}.lock") for n in range(7)]
    message = here.say().message
    assert "a change that was decided is not carried out yet: goal-0.lock: held" in message
    assert "and 2 more changes are not, either: flow doctor --fix" in message
    assert "cannot read" not in message


def test_five_that_cannot_be_read_are_all_of_them() -> None:
    here = Scene(world(outcome="passed"))
    here.broken = [InputError("broken", file=f"g{n}.yaml") for n in range(5)]
    message = here.say().message
    assert "g4.yaml" in message
    assert "more goals" not in message


def test_what_cannot_be_read_is_said_beside_an_untrusted_goal_too() -> None:
    untrusted = world()
    untrusted.trust = (False, "nobody said yes")
    here = Scene(untrusted, mode="warn")
    here.broken = [BROKEN]
    answer = here.say()
    assert "g.yaml" in answer.message
    assert answer.reason.startswith("goal issue-4: ")
    assert "only warns" not in answer.message


def test_a_session_without_a_name_owns_none_of_several() -> None:
    here = Scene(world("a"), world("b"))
    answer = here.say(EVENT._replace(session=None))
    assert answer.action == "let_go"
    assert not here.requests
    assert "flow goal claim a" in answer.message


def test_off_stays_off_for_a_managed_goal() -> None:
    managed = world()
    managed.document["continuation"] = {"mode": "flow_managed"}
    here = Scene(managed, mode="off")
    here.say()
    assert here.events[0]["mode"] == "off"


def test_a_judges_words_are_in_the_prompt_only_where_it_decided() -> None:
    from flow.core.decision.decide import Opinion

    judged = World(goal_document(criterion("AC1", None), kind="hybrid"))
    judged.judge = lambda *_: Opinion("not_achieved", 0.9, "it is\x1b rude", "be kind")
    answer = Scene(judged).say()
    assert answer.action == "continue"
    assert "(an opinion, not an instruction): it is\\x1b rude\n" in answer.reason
    assert '"be kind"' in answer.reason
    plain = Scene().say()
    assert "judge" not in plain.reason


# --- goals that are lost, hidden or waiting (SPEC 17.10) ---------------------------------------

GONE = Loss("issue-4", "gone")
TASK = EVENT._replace(background=("a server",))


def continued(goal_id: str = "issue-4", **more: Any) -> SessionNotes:
    return SessionNotes(judged=(goal_id,), continued=(goal_id,))._replace(**more)


@pytest.mark.parametrize("mode", ["warn", "block", "evaluator-loop"])
@pytest.mark.parametrize("before", [SessionNotes(), continued()], ids=["new", "continued"])
def test_a_lost_goal_is_said_and_asked_back(mode: str, before: SessionNotes) -> None:
    here = Scene(mode=mode)
    here.worlds.clear()
    here.losses = [GONE]
    here.known_goal()
    here.notes["s"] = before
    answer = here.say()
    asks = mode != "warn" and bool(before.continued)
    assert answer.action == ("continue" if asks else "let_go")
    assert "goal issue-4: its file .flow/goals/issue-4.goal.yaml is gone" in answer.message
    assert here.notes["s"].told == {"issue-4": GONE.key}
    assert here.notes["s"].asked == ({"issue-4": 1} if asks else {})
    again = here.say()
    assert again.message == ""
    assert "is gone" in again.reason


def test_a_lost_goal_does_not_keep_others_from_being_judged() -> None:
    here = Scene(world(outcome="passed"), mode="block")
    here.losses = [Loss("b", "gone")]
    here.notes["s"] = continued("b")
    answer = here.say()
    assert answer.action == "continue"
    assert "- b: its file" in answer.reason
    assert [request.goal_id for request in here.requests] == ["issue-4"]
    here.notes["s"] = here.notes["s"]._replace(asked={"b": 3})
    answer = here.say()
    assert answer.action == "let_go"
    assert "all proved. Waits for you: flow goal confirm issue-4" in answer.message


def test_without_a_session_it_is_said_each_time_and_nothing_is_kept() -> None:
    here = Scene(mode="block")
    here.worlds.clear()
    here.losses = [GONE]
    for _ in range(2):
        answer = here.say(EVENT._replace(session=None))
        assert (answer.action, "is gone" in answer.message) == ("let_go", True)
    assert here.notes == {}


def test_a_contract_that_was_changed_by_hand_is_asked_back() -> None:
    untrusted = world()
    untrusted.trust = (False, "nobody said yes")
    here = Scene(untrusted, mode="block")
    here.known_goal()
    here.notes["s"] = continued()
    answer = here.say()
    assert answer.action == "continue"
    assert "contract was changed by hand" in answer.reason
    here.known_goal(contract=untrusted.goal("issue-4").contract)  # trust was revoked, no more
    assert here.say().action == "let_go"


def test_all_goals_of_a_session_are_judged_and_share_the_room() -> None:
    here = Scene(world("a"), world("b"), world("c"), mode="block")
    here.owners = {"a": "s", "b": "s", "c": "other"}
    answer = here.say()
    assert [request.goal_id for request in here.requests] == ["a", "b"]
    assert "Goal a is not done: " in answer.reason
    assert "Goal b is not done: " in answer.reason
    assert len(answer.reason) <= HOST.limit
    assert set(here.notes["s"].continued) == {"a", "b"}


def test_one_that_fails_continues_beside_one_that_is_proved() -> None:
    here = Scene(world("a", "passed"), world("b"), mode="block")
    here.owners = {"a": "s", "b": "s"}
    answer = here.say()
    assert answer.action == "continue"
    assert "goal a" not in answer.reason


def test_a_goal_that_a_person_claimed_is_the_next_sessions_among_several() -> None:
    here = Scene(world("a"), world("b"), mode="block")
    assert "flow goal claim a" in here.say().message
    here.owners = {"b": NEXT_SESSION}
    assert here.say().action == "continue"
    assert [request.goal_id for request in here.requests] == ["b"]
    assert here.owners == {"b": "s"}


def test_a_goal_that_is_not_the_sessions_is_named_once() -> None:
    here = Scene(world("a", "passed"), world("b"), world("c"), mode="block")
    here.owners = {"a": "s", "c": "other"}
    assert "goal b: it is active, too" in here.say().message
    assert "goal b" not in here.say().message
    assert "goal b" in here.say().reason
    assert "goal c belongs to another session" in here.say().reason


def test_only_what_flow_left_is_judged_beside_what_was_written_there() -> None:
    here = Scene(world("a"), world("b"), mode="block")
    here.known_goal("b")
    assert here.say().action == "continue"
    assert [request.goal_id for request in here.requests] == ["b"]
    here = Scene(world("a"), world("b"), mode="block")
    here.known_goal("a")
    here.known_goal("b")
    assert here.say().action == "let_go"
    assert not here.requests


@pytest.mark.parametrize(("stopped", "judged"), [(False, True), (True, False)])
def test_a_claim_counts_where_that_session_has_stopped(stopped: bool, judged: bool) -> None:
    here = Scene(mode="block")
    here.notes["s"] = continued()
    here.owners["issue-4"] = "x"
    if stopped:
        here.notes["x"] = SessionNotes()
    answer = here.say()
    assert bool(here.requests) == judged
    assert "session x claimed it" in answer.message
    assert (answer.action == "continue") == judged


def test_a_claim_that_was_taken_back_leaves_the_goal_where_it_was() -> None:
    here = Scene(world(), world("b", "passed"), mode="block")
    here.notes["s"] = continued()
    here.owners["b"] = "s"
    assert here.say().action == "continue"
    assert {request.goal_id for request in here.requests} == {"issue-4", "b"}


def test_background_work_is_waited_for_twice_in_a_row() -> None:
    here = Scene(mode="block")
    assert [here.say(TASK).action for _ in range(4)] == ["let_go", "let_go", "continue", "continue"]
    assert here.say().action == "continue"
    assert here.say(TASK).action == "let_go"


def test_a_wait_is_asked_about_only_where_the_session_was_kept_working() -> None:
    here = Scene(world(status="waiting_for_ci"), mode="block")
    assert [here.say().action for _ in range(4)] == ["let_go"] * 4
    here.notes["s"] = continued()
    assert [here.say().action for _ in range(4)] == ["let_go", "let_go", "continue", "continue"]
    assert "resume" not in " ".join(here.log)


def test_while_a_stop_is_judged_the_notes_say_so() -> None:
    seen = []
    here = Scene(mode="block")
    here.worlds["issue-4"].during["AC1"] = lambda: seen.append(here.notes["s"].judging)
    here.say()
    assert seen == [True]
    assert here.notes["s"].judging is False
    here.notes["s"] = here.notes["s"]._replace(judging=True)
    assert "at the previous stop" in here.say().message
    assert here.say().message.endswith("(3).\nFlow: cut a little")


@pytest.mark.parametrize("before", [SessionNotes(), continued()], ids=["new", "continued"])
def test_what_stands_in_the_way_is_said_and_asked_back(before: SessionNotes) -> None:
    here = Scene(world("a"), mode="block")
    here.notes["s"] = before._replace(continued=("a",) if before.continued else ())

    def fails() -> None:
        raise StorageError("no space", file="x")

    here.worlds["a"].during["AC1"] = fails
    answer = here.say()
    assert answer.action == ("continue" if before.continued else "let_go")
    assert "goal a cannot be judged: x: no space" in answer.message
    assert "no space" in answer.reason
    assert here.notes["s"].judging is False


def test_what_is_judged_is_missed_from_then_on() -> None:
    here = Scene(world(outcome="passed"))
    here.say()
    assert here.known["issue-4"].statuses == ("active",)
    assert here.known["issue-4"].contract == here.worlds["issue-4"].goal("issue-4").contract
    stuck = Scene()
    for _ in range(4):
        stuck.say()
    assert stuck.log[-1] == "unlock"


@pytest.mark.parametrize(
    ("outcome", "shown", "row"),
    [("inconclusive", True, "proof_lost"), ("inconclusive", False, "inconclusive"),
     ("failed", True, "failed"), ("passed", True, "proved")],
)  # fmt: skip
def test_a_lost_proof(outcome: str, shown: bool, row: str) -> None:
    here = Scene(world(outcome=outcome), mode="block")
    here.shown = {"AC1"} if shown else set()
    answer = here.say()
    assert here.events[0]["row"] == row
    assert (answer.action == "continue") == (row in ("proof_lost", "failed"))
