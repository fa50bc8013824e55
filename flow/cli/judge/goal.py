"""``flow judge run GOAL``: a judge's opinion of a goal as it is recorded; nothing is written."""

from __future__ import annotations

from flow.cli.judge.offering import named_judge
from flow.cli.progress import listener
from flow.core.decision.decide import NoOpinion, Opinion
from flow.core.text.display import counted
from flow.errors import PersonNeeded
from flow.render import judgement
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.context import Context
from flow.wiring.judging import goal as judging_goal

if TYPE_CHECKING:
    import argparse

    from flow.app.evaluation.values import JudgeCase
    from flow.cli.output import Output

EXIT_CODES = {"achieved": 0, "not_achieved": 1, "blocked": 3, "needs_human_review": 4}
"""The statuses of ``flow goal evaluate``; 4 also if there was no usable answer."""


def run(args: argparse.Namespace, out: Output) -> int:
    """Show the prompt, or ask and show the opinion.

    Runs no command: a criterion has the evidence that is recorded and still fits the files.
    """
    context = Context()
    backend = args.judge_backend
    if not args.show_prompt:
        asked = f"at most {counted(2 * (args.samples or 1), 'question')}"
        backend = named_judge(backend, out, asked, "the goal and its evidence, secrets redacted")
    case = judging_goal.review(context, args.GOAL, backend)
    trusted, why = context.trusted(case.facts.loaded)
    if args.show_prompt:
        return _show_prompt(context, case, out, None if trusted else why)
    if not trusted:
        raise PersonNeeded(
            f"goal {case.facts.loaded.goal.id} is not trusted here: {why}; "
            "its evidence_paths would send files of this checkout to a judge",
            remedy=f"read the contract, then: flow trust record {case.facts.loaded.goal.id}",
        )
    return _ask_and_show(context, case, args.samples, out)


def _show_prompt(context: Context, case: JudgeCase, out: Output, untrusted: str | None) -> int:
    judge_context, question, apart = judging_goal.shown(context, case)
    goal_id = judge_context.goal_id
    rows = [{"criterion_id": name, "way": way} for name, way in apart]
    document: dict[str, Any]
    if question is None:
        text = f"no ballot is cast about goal {goal_id}: no criterion is left to ask about"
        document = {"goal_id": goal_id, "system": None, "prompt": None, "schema": None}
        document |= {"bytes": 0, "neutralised": [], "left_out": []}
        shown = [text]
    else:
        document = {
            "goal_id": goal_id,
            "system": question.system,
            "prompt": question.prompt,
            "schema": dict(question.schema),
            "bytes": question.size,
            "neutralised": list(question.reports),
            "left_out": list(question.left_out),
        }
        shown = [question.system, "", question.prompt]
    if rows:
        document["apart"] = rows
    out.result(document, shown)
    out.warn(question.reports if question is not None else ())
    asked = {sought.id for sought in judge_context.sought}
    out.warn(
        f"{name} is judged by a {way}{' too' if name in asked else ', not in this prompt'}"
        for name, way in apart
    )
    if untrusted is not None:
        out.warn([f"the goal is not trusted here ({untrusted}); no judge is asked about it"])
    return 0


def _ask_and_show(context: Context, case: JudgeCase, samples: int | None, out: Output) -> int:
    unproved = [
        row.criterion_id
        for row, fact in zip(case.measurement.rows, case.measured, strict=True)
        if not fact.fuzzy and fact.must_pass and not fact.passing
    ]
    opinion = judging_goal.ask(context, case, listener(out), record=False, samples=samples)
    document = _document(case, opinion, unproved)
    out.result(document, judgement.opinion(document, out.screen))
    out.warn(opinion.warnings)
    return EXIT_CODES[document["verdict"]]


def _document(case: JudgeCase, opinion: Opinion | NoOpinion, unproved: list[str]) -> dict[str, Any]:
    document: dict[str, Any] = {
        "goal_id": case.facts.loaded.goal.id,
        "answered": isinstance(opinion, Opinion),
        "verdict": "needs_human_review",
        "confidence": 0.0,
        "reason": opinion.reason,
        "next_step_hint": "",
        "blocker_type": "none",
        "criterion_results": [],
        "unproved_by_commands": unproved,
        "warnings": list(opinion.warnings),
    }
    if isinstance(opinion, Opinion):
        document |= {
            "verdict": opinion.verdict,
            "confidence": opinion.confidence,
            "next_step_hint": opinion.next_step_hint,
            "blocker_type": opinion.blocker_type,
            "criterion_results": [
                {"criterion_id": row.id, "status": row.status, "reason": row.reason}
                for row in opinion.criteria
            ],
        }
    return document
