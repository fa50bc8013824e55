"""A goal's criterion that is judged by a debate (SPEC 9.4)."""

from __future__ import annotations

from flow.app.judging.debate_calls import DebateContextPort, hold_plan
from flow.app.judging.debate_plan import DebatePlan
from flow.app.judging.gathering import denied_context, journals
from flow.app.judging.port import AskJudge, NoAnswer, name_of
from flow.core.decision.explain import NO_ANSWER
from flow.core.judging.debate import criteria as debate_criteria
from flow.core.judging.debate import result as debate_result
from flow.core.judging.debate.model import LEAST_SUPPORT
from flow.core.judging.goal.delegated import DelegatedDebate, DelegatedOpinion, undecided
from flow.core.text.numbers import as_written, told_apart
from flow.core.untrusted.fences import FencedPart
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.evaluation.values import JudgeCase
    from flow.app.judging.changed_files import EvidenceFiles
    from flow.core.goal.model import Criterion
    from flow.core.judging.debate.state import DebateState


class DebatePort(Protocol):
    """Interface of a judgement by a debate to the checkout."""

    @property
    def journal_dir(self) -> str:
        """The folder of the decision journal, by the settings."""

    def solution_files(self, patterns: Sequence[str], denied: Sequence[str]) -> EvidenceFiles:
        """The content of the files that patterns name, less what ``denied`` covers."""

    def solution_name(self, paths: Sequence[str]) -> str:
        """The name for reports on a solution of these files, below the top level."""

    def debate_context(self, reports_dir: str, seconds: float) -> DebateContextPort:
        """The context of a debate with this folder of reports; ``seconds`` bounds one call."""


def judge_by_debate(
    port: DebatePort,
    judges: Sequence[AskJudge | NoAnswer],
    case: JudgeCase,
    criterion: Criterion,
    request: DelegatedDebate,
    seconds: float,
) -> DelegatedOpinion:
    """The debate's opinion of the criterion; its reports stay on disk."""
    if request.mode == "debate" and request.judges < 2:
        return undecided(
            criterion, request, "one judge holds no debate; more judges, or mode: vote"
        )
    solution, name, left_out = _solution(port, case, request)
    if not solution:
        why = "its solution names no file that may be read and holds anything"
        return undecided(criterion, request, why)
    asked = (
        debate_criteria.ready_made(request.kind)
        if request.criteria is None
        else debate_criteria.parse(request.criteria)
    )
    plan = DebatePlan(request.task, solution, name, asked, request.rounds, request.mode)
    panel = [judges[number % len(judges)] for number in range(request.judges)]
    held = hold_plan(port.debate_context(case.facts.baseline.reports_dir, seconds), plan, panel)
    document = debate_result.document(held)
    absent = [f"judge {row['judge']} took no part: {row['reason']}" for row in document["missing"]]
    judged = undecided(criterion, request, _why_undecided(document))._replace(
        document={
            **{key: document[key] for key in _RECORDED},
            "conformity": document["debate_summary"]["conformity"],
            "without_quotes": _without_quotes(held),
            "left_out": list(left_out),
            "cost_usd": document["cost_usd"],
        },
        remarks=(*held.warnings, *absent, *(f"not in the solution: {note}" for note in left_out)),
        judges=tuple(dict.fromkeys(map(name_of, panel))),
    )
    return _decided(judged, document, request) if held.decided else judged


_RECORDED = (
    "consensus",
    "mode",
    "rounds",
    "scores",
    "overall",
    "recommendation",
    "support",
    "analysis",
    "reports",
)
"""Of a debate's document, what is recorded."""


def _without_quotes(held: DebateState) -> list[int]:
    """The judges that gave no quote, in any turn, that occurs in the solution."""
    return [
        judge.number
        for judge in held.judges
        if not any(mark.evidence for each in judge.sections for mark in each.position.marks)
    ]


def _decided(
    judged: DelegatedOpinion, document: Mapping[str, Any], request: DelegatedDebate
) -> DelegatedOpinion:
    overall, recommendation = document["overall"], document["recommendation"]
    reached = request.min_score is None or overall >= request.min_score
    passed = recommendation == "pass" and reached
    how = "vote" if request.mode == "vote" else f"consensus {_rounds_text(document)}"
    shown = (
        f"{overall:.2f}" if request.min_score is None else told_apart(overall, request.min_score, 2)
    )
    reason = f"debate: {how}: {recommendation}, {shown} of 5"
    if not reached and request.min_score is not None:
        reason += f", below {as_written(request.min_score)}"
    weaknesses = [*document["weaknesses"], *(row["text"] for row in document["some_weaknesses"])]
    unfounded = judged.document["without_quotes"]
    if unfounded:
        reason += f"; nothing of the solution is quoted by judge {', '.join(map(str, unfounded))}"
    return judged._replace(
        status="pass" if passed else "fail",
        reason=reason,
        confidence=_agreeing(document, request.judges, unfounded if passed else ()),
        hint="" if passed else "; ".join(weaknesses[:3]),
    )


def _agreeing(document: Mapping[str, Any], judges: int, unfounded: Sequence[int]) -> float:
    """The share of all judges that recommend the result by their own conviction.

    A judge that changed a score without new evidence (conformity) does not count, nor do
    ``unfounded`` ones.
    """
    revised = document["debate_summary"]["revisions"]
    gave_in = {row["judge"] for row in revised if row["conformity"]} | set(unfounded)
    agreeing = [
        row
        for row in document["final"]
        if row["recommendation"] == document["recommendation"] and row["judge"] not in gave_in
    ]
    return round(len(agreeing) / judges, 4)


def _why_undecided(document: Mapping[str, Any]) -> str:
    if document["altered"]:
        return f"a report was altered: {document['altered'][0]['file']}"
    if document["missing"]:
        first = document["missing"][0]
        return f"judge {first['judge']}{NO_ANSWER}: {first['reason']}"
    apart = [row["criterion"] for row in document["disagreements"] if row["criterion"]]
    about = f" on {', '.join(apart)}" if apart else ""
    support = document["support"]
    if support is None or support >= LEAST_SUPPORT:
        return f"no consensus{about} {_rounds_text(document)}"
    share = f"only {int(support * 100)}% of the scores' weight rests on true quotes"
    return f"no consensus{about} {_rounds_text(document)}: {share}"


def _rounds_text(document: Mapping[str, Any]) -> str:
    rounds = document["rounds"]
    return f"after {rounds} debate{'s' * (rounds != 1)}" if rounds else "before any debate"


def _solution(
    port: DebatePort, case: JudgeCase, request: DelegatedDebate
) -> tuple[tuple[FencedPart, ...], str, tuple[str, ...]]:
    """The files of the solution as parts, what reports on them are called, and what is left out."""
    denied, _ = denied_context(case.facts.loaded.goal)
    solution = port.solution_files(request.solution, (*denied, *journals(case, port.journal_dir)))
    files = [(path, raw) for path, raw in solution.files if raw.data]
    if not files:
        return (), "", solution.left_out
    count = len(files)
    given = tuple(
        FencedPart(
            "solution" if count == 1 else f"solution, part {number} of {count}",
            raw.data,
            path,
            raw.unread,
        )
        for number, (path, raw) in enumerate(files, 1)
    )
    name = port.solution_name([path for path, _ in files])
    cut = tuple(f"{raw.unread} bytes within {path}" for path, raw in files if raw.unread)
    return given, name, (*solution.left_out, *cut)
