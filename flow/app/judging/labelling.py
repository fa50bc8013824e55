"""Labels that a person's answer to a proposal gives its judges (SPEC 9.1, ``minKappa``).

A confirmation is a label ``pass``, clearing the goal while the proposal is live a label ``fail``;
only if a judge's opinion was part of the proposal.
"""

from __future__ import annotations

from flow.app.evaluation import proposals
from flow.app.evaluation.closing_context import ClosingPort
from flow.app.ports import ClockPort, GoalPort
from flow.app.transitions import closing
from flow.core.goal import ids
from flow.core.judging.rubric.calibration import Label, believed
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flow.app.ports import Records
    from flow.app.transitions.closing import Closed
    from flow.app.transitions.persons_word import PersonsWord

LabelSource = Literal["calibrate", "confirm", "clear"]


class LabelLine(NamedTuple):
    """One label. ``key`` is a digest of what it is about, ``about`` its name for people."""

    at: str
    judge: str
    key: str
    about: str
    person: bool
    judged: bool
    source: LabelSource


class LabelRecord(Protocol):
    """The user's own record of labels."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about records that could not be read so far."""

    def add(self, lines: Iterable[LabelLine]) -> None:
        """Append labels."""

    def lines(self) -> tuple[LabelLine, ...]:
        """Every label that counts, oldest first."""

    def labels(self, judge: str) -> tuple[Label, ...]:
        """The labels of one judge, by the name that it has in evidence."""


class LabelPort(ClockPort, Protocol):
    """The user's labels, and the time of a new one."""

    def label_log(self) -> LabelRecord:
        """The user's own record of labels."""


class LabellingPort(GoalPort, ClosingPort, LabelPort, Protocol):
    """Interface of labelling to the checkout. Every method may raise :class:`FlowError`."""

    @property
    def records(self) -> Records:
        """The records of goals."""


def confirm_and_label(
    port: LabellingPort,
    goal_id: str,
    proposal_id: str,
    reason: str | None,
    how: str,
    word: PersonsWord | None = None,
) -> Closed:
    """Write a proposed terminal status, and label the judges that the proposal rests on.

    Raises :class:`StaleProposal` saying what moved.
    """
    judges = opinions_behind(port, ids.goal_id(goal_id))
    closed = closing.confirm(port.closing_context(), goal_id, proposal_id, reason, how, word)
    add_labels(port, judges, person=True, source="confirm")
    return closed


def cancel_and_label(
    port: LabellingPort, goal_id: str, reason: str, how: str, word: PersonsWord | None = None
) -> Closed:
    """Cancel a goal; of judges whose proposal still holds, that is a label too."""
    judges = opinions_behind(port, ids.goal_id(goal_id), holds=True)
    closed = closing.cancel(port.closing_context(), goal_id, reason, how, word)
    add_labels(port, judges, person=False, source="clear")
    return closed


class ProposalOpinions(NamedTuple):
    """The judges behind a live proposal; ``opinions`` is True for each that said ``achieved``."""

    proposal_id: str
    goal_id: str
    opinions: Mapping[str, bool]


def opinions_behind(
    port: LabellingPort, goal_id: str, *, holds: bool = False
) -> ProposalOpinions | None:
    """The judges behind the goal's live proposal; None if no judge is.

    With ``holds``, also None if something that the proposal rests on has moved since.
    """
    try:
        loaded = port.load(goal_id)
        proposal = proposals.live_proposal(port.records, loaded.goal)
        if proposal is None or "judge" not in proposal:
            return None
        if holds and closing.what_moved(port.closing_context(), loaded, proposal):
            return None
        judged = opinions(port.records, proposal)
    except FlowError:  # the transition that follows tells of it
        return None
    return ProposalOpinions(str(proposal["proposal_id"]), goal_id, judged) if judged else None


def add_labels(
    port: LabellingPort, behind: ProposalOpinions | None, *, person: bool, source: LabelSource
) -> None:
    """Append a label for each judge. The person's decision stands, even where this fails."""
    if behind is None:
        return
    about, now = f"goal {behind.goal_id}", port.now()
    try:
        port.label_log().add(
            LabelLine(now, judge, behind.proposal_id, about, person, judged, source)
            for judge, judged in behind.opinions.items()
        )
    except FlowError:
        return


def may_propose(port: LabellingPort, judge: str, least: float | None) -> tuple[bool, str]:
    """Whether the judge may propose ``achieved``, and why not.

    ``least`` is the kappa that its agreement with people has to reach (``minKappa``), None for any.
    """
    if least is None:
        return True, ""
    belief = believed(port.label_log().labels(judge), least)
    return belief.ok, belief.reason


def opinions(records: Records, proposal: Mapping[str, Any]) -> dict[str, bool]:
    """The opinion of each judge behind an intact proposal: True for ``achieved``.

    With several ballots of one judge, more than half decide. Missing or altered sidecars count for
    nothing.
    """
    reference = proposal.get("judge")
    if proposal["to"] != "achieved" or not isinstance(reference, str):
        return {}
    report = _judgement(records, reference)
    ballots = [
        _judgement(records, sidecar)
        for sidecar in (report.get("ballots") or {}).get("sidecars") or ()
        if isinstance(sidecar, str)
    ]
    votes: dict[str, list[bool]] = {}
    for ballot in ballots or [report]:
        judge, verdict = ballot.get("judge"), ballot.get("verdict")
        if isinstance(judge, str) and isinstance(verdict, str):
            votes.setdefault(judge, []).append(verdict == "achieved")
    return {judge: 2 * sum(each) > len(each) for judge, each in votes.items()}


def _judgement(records: Records, reference: str) -> Mapping[str, Any]:
    evidence = records.counted(reference)
    by_judge = evidence is not None and evidence.type == "llm_judge_report"
    return evidence.judgement if evidence is not None and by_judge else {}
