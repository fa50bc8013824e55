"""Goals that the Stop hook can no longer judge although Flow works for them (SPEC 17.10).

Values only. The state folder remembers, for each checkout, the goals that Flow left open there and,
for each session, what the hook did in it. Compared with what the checkout holds now, that tells a
goal that vanished from one that never was.
"""

from __future__ import annotations

from flow.core import layout
from flow.core.goal.lifecycle import TERMINAL
from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.chain.closing_record import ClosedGoal
    from flow.core.goal.model import Goal

LossKind = Literal[
    "gone",
    "unreadable",
    "no_repository",
    "closed_by_hand",
    "status_by_hand",
    "branch_by_hand",
    "contract_by_hand",
    "unjudged",
    "switched",
    "claimed",
    "handed_over",
    "unclaimed",
    "waits",
]

ASKING_MODES = ("block", "evaluator-loop")
"""The modes in which an agent is asked to put a goal back."""

MOST_WAITS = 2
"""Stops in a row that background work or a wait may keep a goal from being judged."""


class KnownGoal(NamedTuple):
    """A goal as Flow left it open in a checkout."""

    goal_id: str
    run_id: str
    branch: str
    statuses: tuple[str, ...]
    """What Flow wrote last, and what it was about to write: a kill may come in between."""
    contract: str
    """SHA-256 of the contract; empty where nobody has computed it yet."""


class Remembered(NamedTuple):
    """The goals that Flow left open in a checkout, and the git directory it had then."""

    git_dir: str | None
    goals: Mapping[str, KnownGoal]
    closed: Mapping[str, ClosedGoal] = {}
    """Those that were closed, and no stop has told it yet."""


class SessionNotes(NamedTuple):
    """What the hook remembers of one session in one checkout."""

    judged: tuple[str, ...] = ()
    """Goals that were judged at a stop of this session."""
    continued: tuple[str, ...] = ()
    """Goals for which Flow kept the agent working."""
    told: Mapping[str, str] = {}
    """What was last said about a goal that is lost, so that it is said once."""
    asked: Mapping[str, int] = {}
    """How often the agent was asked to put a goal back."""
    waits: Mapping[str, int] = {}
    """Stops in a row at which a goal waited."""
    judging: bool = False
    """A stop is being judged; it stays set where the hook was killed."""


class Loss(NamedTuple):
    """A goal that is not judged although it is open. ``now`` and ``before`` fill the sentence."""

    goal_id: str
    kind: LossKind
    now: str = ""
    before: str = ""

    @property
    def key(self) -> str:
        """What was said of it, in short: another key is another change."""
        return f"{self.kind} {self.now}"


class _LossMessage(NamedTuple):
    """How a kind of loss is told. ``by_hand``: somebody can put it back, and an agent is asked to.

    ``{file}``, ``{now}``, ``{before}`` and ``{id}`` are filled in.
    """

    what: str
    mend: str
    by_hand: bool = True


WORDS: Mapping[LossKind, _LossMessage] = {
    "gone": _LossMessage("its file {file} is gone", "put the file back as it was"),
    "unreadable": _LossMessage("its file cannot be read: {now}", "put the file back as it was"),
    "no_repository": _LossMessage(
        "the checkout {now} is gone, or is no git repository any more",
        "put the folder and its .git back where they were",
    ),
    "closed_by_hand": _LossMessage(
        "it was closed by hand: its file says {now}, and no closing is on record",
        "put lifecycle.status back to {before}",
    ),
    "status_by_hand": _LossMessage(
        "its status was set to {now} by hand", "put lifecycle.status back to {before}"
    ),
    "branch_by_hand": _LossMessage(
        "its branch was set to {now} by hand", "put scope.branch back to {before}"
    ),
    "contract_by_hand": _LossMessage(
        "its contract was changed by hand, so its commands do not run",
        "put the goal file back as it was; a person changes it with flow goal amend {id}",
    ),
    "unjudged": _LossMessage(
        "it cannot be judged: {now}", "put Flow's own files back, or say plainly what is wrong"
    ),
    "switched": _LossMessage(
        "it belongs to branch {before}, not to {now}", "git switch {before}", False
    ),
    "claimed": _LossMessage(
        "session {now} claimed it and has never stopped here; it is judged here",
        "flow goal claim {id}",
        False,
    ),
    "handed_over": _LossMessage(
        "session {now} claimed it, so it is not judged here", "flow goal claim {id}", False
    ),
    "unclaimed": _LossMessage(
        "it is active, too, and no session's, so it is not judged here",
        "flow goal claim {id}",
        False,
    ),
    "waits": _LossMessage(
        "it waits still, at the third stop in a row or later: {now}",
        "go on with it (flow goal resume {id}), or say plainly what it waits for",
    ),
}


def what_happened(loss: Loss) -> str:
    """The loss as one sentence without a full stop, safe for a terminal and a prompt."""
    return _filled_text(WORDS[loss.kind].what, loss)


def loss_remedy(loss: Loss) -> str:
    """What mends it."""
    return _filled_text(WORDS[loss.kind].mend, loss)


def _filled_text(text: str, loss: Loss) -> str:
    from flow.core.text.display import visible

    values = {"now": loss.now, "before": loss.before, "id": loss.goal_id}
    shown = {key: visible(value)[:300] for key, value in values.items()}
    return text.format(file=layout.goal_file(loss.goal_id), **shown)


def lost_goals(
    known_goals: Sequence[KnownGoal],
    goals: Mapping[str, Goal],
    *,
    unreadable: Mapping[str, str],
    closed: frozenset[str],
    branch: str | None,
    judged: Sequence[str],
) -> list[Loss]:
    """The known goals that are not as Flow left them, and so are not judged.

    Those of another branch are left out, unless this session was judged by them.

    ``goals`` are those that can be read, by id; ``unreadable`` says of others why not; ``closed``
    names those whose closing is on record; ``branch`` is checked out (None: a detached HEAD, where
    every goal is this checkout's); ``judged`` are goals that this session was judged by.
    """
    lost = []
    for one in known_goals:
        goal = goals.get(one.goal_id)
        if goal is None:
            loss = _without_file(one, unreadable.get(one.goal_id), branch)
        else:
            loss = _with_file(one, goal, closed, branch)
        of_this = one.goal_id in judged or is_here(one, branch)
        if loss is None or not of_this:
            continue
        if loss.kind != "switched" or one.goal_id in judged:
            lost.append(loss)
    return lost


def _without_file(known_goals: KnownGoal, why: str | None, branch: str | None) -> Loss | None:
    if why is not None:
        return Loss(known_goals.goal_id, "unreadable", why)
    if not is_here(known_goals, branch):  # the other branch may never have had the file
        return Loss(known_goals.goal_id, "switched", branch or "", known_goals.branch)
    return Loss(known_goals.goal_id, "gone")


def _with_file(
    known_goals: KnownGoal, goal: Goal, closed: frozenset[str], branch: str | None
) -> Loss | None:
    if goal.status in TERMINAL:
        if goal.id in closed:
            return None
        return Loss(goal.id, "closed_by_hand", goal.status, known_goals.statuses[0])
    if not is_here(goal, branch):
        if goal.branch != known_goals.branch and is_here(known_goals, branch):
            return Loss(goal.id, "branch_by_hand", goal.branch, known_goals.branch)
        return Loss(goal.id, "switched", branch or "", goal.branch)
    if not is_acting(goal) and goal.status not in known_goals.statuses:
        return Loss(goal.id, "status_by_hand", goal.status, known_goals.statuses[0])
    if goal.status == "waiting_for_ci" and goal.status not in known_goals.statuses:
        return Loss(goal.id, "status_by_hand", goal.status, known_goals.statuses[0])
    return None


def is_acting(goal: Goal) -> bool:
    """Whether a stop is about this goal: active, blocked by its paths, or waiting for CI."""
    return goal.status in ("active", "waiting_for_ci") or goal.blocked_by_paths


def is_here(goal: Goal | KnownGoal | ClosedGoal, branch: str | None) -> bool:
    """Whether the goal is one of the branch that is checked out; None: of every branch."""
    from flow.core.goal.model import NO_BRANCH

    return branch is None or goal.branch in (branch, NO_BRANCH)


def asks_back(loss: Loss, notes: SessionNotes, limit: int) -> bool:
    """Whether the agent is asked to put a goal back.

    Only in a session that Flow kept working for it before, and at most ``limit`` times.
    """
    return (
        WORDS[loss.kind].by_hand
        and loss.goal_id in notes.continued
        and notes.asked.get(loss.goal_id, 0) < limit
    )


def notes_after(notes: SessionNotes, losses: Sequence[Loss], asked: Sequence[Loss]) -> SessionNotes:
    """The notes once ``losses`` was said, and the agent was asked to put ``asked`` back."""
    times = dict(notes.asked)
    for loss in asked:
        times[loss.goal_id] = times.get(loss.goal_id, 0) + 1
    return notes._replace(told={loss.goal_id: loss.key for loss in losses}, asked=times)


def is_news(loss: Loss, notes: SessionNotes) -> bool:
    """Whether it was not said in this session yet."""
    return notes.told.get(loss.goal_id) != loss.key


def sentence(loss: Loss) -> str:
    """The loss for a person: which goal, what happened, what mends it, what ends the message."""
    text = f"goal {loss.goal_id}: {what_happened(loss)}; {loss_remedy(loss)}"
    if loss.kind == "waits" or not WORDS[loss.kind].by_hand:
        return text
    return f"{text}; if it is meant to be so: flow goal forget {loss.goal_id}"
