"""Open goals that the Stop hook can no longer judge (SPEC 17.10). Values only.

The state folder holds, for each checkout, the goals that Flow left open there and, for each
session, the hook's notes. Compared with the checkout's present goals, they show whether a goal
vanished or never existed.
"""

from __future__ import annotations

from flow.core import layout
from flow.core.goal.lifecycle import TERMINAL
from flow.core.goal.model import Goal, GoalSummary, is_of_branch
from flow.core.text.display import visible
from flow.core.text.shell_quote import shell_argument
from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from flow.core.chain.closing_record import ClosedGoal

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
"""The modes in which an agent is asked to restore a goal."""

MOST_WAITS = 2
"""Stops in a row that background work or a wait may keep a goal from being judged."""

NEXT_SESSION = ""
"""The owner of a goal that a person claimed for the session that stops next."""


class OpenGoal(NamedTuple):
    """A goal as Flow left it open in a checkout."""

    goal_id: str
    run_id: str
    branch: str
    statuses: tuple[str, ...]
    """The status that Flow wrote last, and the one that it was about to write when killed."""
    contract: str
    """SHA-256 of the contract; empty if not computed yet."""


class OpenGoals(NamedTuple):
    """The goals that Flow left open in a checkout, and the git directory it had then."""

    git_dir: str | None
    goals: Mapping[str, OpenGoal]
    closed: Mapping[str, ClosedGoal] = {}
    """Closed goals that no stop has reported yet."""


class SessionNotes(NamedTuple):
    """The hook's notes about one session in one checkout."""

    judged: tuple[str, ...] = ()
    """Goals that were judged at a stop of this session."""
    continued: tuple[str, ...] = ()
    """Goals for which Flow kept the agent working."""
    told: Mapping[str, str] = {}
    """The last report about each lost goal, so that it is made once."""
    asked: Mapping[str, int] = {}
    """Times that the agent was asked to restore each goal."""
    waits: Mapping[str, int] = {}
    """Stops in a row at which each goal waited."""
    judging: bool = False
    """Whether a stop is being judged; remains set if the hook was killed."""


class Loss(NamedTuple):
    """A lost goal, or another open goal that is not judged at this stop, with the reason.

    Nothing is lost of a goal that is ``claimed``, ``unclaimed``, ``handed_over`` or ``waits``.
    ``now`` and ``before`` fill the sentence.
    """

    goal_id: str
    kind: LossKind
    now: str = ""
    before: str = ""

    @property
    def key(self) -> str:
        """The change in short: another key is another change."""
        return f"{self.kind} {self.now}"


class _LossMessage(NamedTuple):
    """The message for a kind of loss. ``by_hand``: an edit caused it, and an agent can undo it.

    ``{file}``, ``{now}``, ``{before}``, ``{id}`` and ``{branch}`` are filled in; the last one is
    ``before`` as a word for a shell.
    """

    description: str
    remedy: str
    by_hand: bool = True


LOSS_MESSAGES: Mapping[LossKind, _LossMessage] = {
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
        "it belongs to branch {before}, not to {now}", "git switch {branch}", False
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


def describe_loss(loss: Loss) -> str:
    """The loss as one sentence without a full stop, safe for a terminal and a prompt."""
    return _filled_text(LOSS_MESSAGES[loss.kind].description, loss)


def loss_remedy(loss: Loss) -> str:
    """The remedy, as a phrase."""
    return _filled_text(LOSS_MESSAGES[loss.kind].remedy, loss)


def _filled_text(text: str, loss: Loss) -> str:
    values = {"now": loss.now, "before": loss.before, "id": loss.goal_id}
    shown = {key: visible(value)[:300] for key, value in values.items()}
    shown["branch"] = shell_argument(loss.before)
    return text.format(file=layout.goal_file(loss.goal_id), **shown)


def lost_goals(
    open_goals: Sequence[OpenGoal],
    goals: Mapping[str, GoalSummary],
    *,
    unreadable: Mapping[str, str],
    closed: frozenset[str],
    branch: str | None,
    judged: Sequence[str],
) -> list[Loss]:
    """The open goals that differ from Flow's last record of them, and so are not judged.

    Those of another branch are left out, unless this session was judged by them.

    ``goals`` are the readable ones by id; ``unreadable`` has the faults of the others; ``closed``
    are those whose closing is recorded; ``branch`` is checked out (None: a detached HEAD, where
    every goal is this checkout's); ``judged`` are goals that this session was judged by.
    """
    lost = []
    for open_goal in open_goals:
        goal_id = open_goal.goal_id
        goal = goals.get(goal_id)
        if goal is None:
            loss = _without_file(open_goal, unreadable.get(goal_id), branch)
        else:
            loss = _with_file(open_goal, goal, closed, branch)
        here = is_of_branch(open_goal.branch, branch)
        if loss is not None and (goal_id in judged or (here and loss.kind != "switched")):
            lost.append(loss)
    return lost


def gone_goals(
    open_goals: Iterable[OpenGoal], present: Container[str], branch: str | None
) -> list[Loss]:
    """The open goals of the branch whose files are gone; ``present`` are the ids of all files."""
    absent = (known for known in open_goals if known.goal_id not in present)
    losses = (_without_file(known, None, branch) for known in absent)
    return [loss for loss in losses if loss is not None and loss.kind == "gone"]


def _without_file(known: OpenGoal, fault: str | None, branch: str | None) -> Loss | None:
    if fault is not None:
        return Loss(known.goal_id, "unreadable", fault)
    if not is_of_branch(known.branch, branch):  # the other branch may never have had the file
        return Loss(known.goal_id, "switched", branch or "", known.branch)
    return Loss(known.goal_id, "gone")


def _with_file(
    known: OpenGoal, goal: GoalSummary, closed: frozenset[str], branch: str | None
) -> Loss | None:
    if goal.status in TERMINAL:
        if goal.id in closed:
            return None
        return Loss(goal.id, "closed_by_hand", goal.status, known.statuses[0])
    if not is_of_branch(goal.branch, branch):
        if goal.branch != known.branch and is_of_branch(known.branch, branch):
            return Loss(goal.id, "branch_by_hand", goal.branch, known.branch)
        return Loss(goal.id, "switched", branch or "", goal.branch)
    expected = is_acting(goal) and goal.status != "waiting_for_ci"
    if not expected and goal.status not in known.statuses:
        return Loss(goal.id, "status_by_hand", goal.status, known.statuses[0])
    return None


def is_acting(goal: Goal | GoalSummary) -> bool:
    """Whether a stop is about this goal: active, blocked by its paths, or waiting for CI."""
    return goal.status in ("active", "waiting_for_ci") or goal.blocked_by_paths


def asks_to_restore(loss: Loss, notes: SessionNotes, limit: int) -> bool:
    """Whether the agent is asked to restore a goal.

    Only in a session that Flow kept working for it before, and at most ``limit`` times.
    """
    return (
        LOSS_MESSAGES[loss.kind].by_hand
        and loss.goal_id in notes.continued
        and notes.asked.get(loss.goal_id, 0) < limit
    )


def notes_after(notes: SessionNotes, losses: Sequence[Loss], asked: Sequence[Loss]) -> SessionNotes:
    """The notes after ``losses`` were reported, and the agent was asked to restore ``asked``."""
    times = dict(notes.asked)
    for loss in asked:
        times[loss.goal_id] = times.get(loss.goal_id, 0) + 1
    return notes._replace(told={loss.goal_id: loss.key for loss in losses}, asked=times)


def is_news(loss: Loss, notes: SessionNotes) -> bool:
    """Whether the loss was not reported in this session yet."""
    return notes.told.get(loss.goal_id) != loss.key


def sentence(loss: Loss) -> str:
    """The loss for a person: the goal, the loss, its remedy, the way to end the message."""
    return f"goal {loss.goal_id}: {describe_loss(loss)}; {persons_remedy(loss)}"


def persons_remedy(loss: Loss) -> str:
    """The remedy, and how a person ends the message."""
    text = loss_remedy(loss)
    if loss.kind == "waits" or not LOSS_MESSAGES[loss.kind].by_hand:
        return text
    return f"{text}; if it is meant to be so: flow goal forget {loss.goal_id}"
