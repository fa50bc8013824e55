"""Asking judges about a goal with the real parts: backends, files, a nonce, people's labels."""

from __future__ import annotations

import os
from functools import partial
from hashlib import sha256
from secrets import token_hex

from flow.adapters.fs import clock, files
from flow.adapters.judges import evidence_files
from flow.adapters.judges.budget import Budget
from flow.adapters.judges.choose import choose
from flow.adapters.process.redaction import masked_text
from flow.adapters.rubrics.rubric_files import find
from flow.adapters.user_state.judge_labels import LabelBook
from flow.app.evaluation.values import Quiet
from flow.app.judging import bundle as judging_bundle
from flow.app.judging import goal as judging_goal
from flow.app.judging.bundle import ContextSources, journals
from flow.app.judging.changed_files import Raw
from flow.app.judging.delegated import hear_delegated
from flow.app.judging.records import Keep
from flow.app.ports import RawOutput
from flow.core import layout
from flow.core.judging.goal import delegated as apart
from flow.core.judging.goal import prompt
from flow.core.judging.rubric.calibration import believed
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, NamedTuple
from flow.wiring.judging.delegated import Delegation

if TYPE_CHECKING:
    from flow.app.evaluation.values import JudgeCase, Listener
    from flow.app.judging.port import AskJudge, NoAnswer
    from flow.core.decision.decide import NoOpinion, Opinion
    from flow.core.goal.model import Goal
    from flow.core.judging.goal.bundle import Bundle
    from flow.core.judging.goal.prompt import Prompt
    from flow.core.judging.rubric.model import Rubric
    from flow.wiring.parts import Parts


def ask(
    parts: Parts,
    case: JudgeCase,
    listener: Listener,
    *,
    record: bool = True,
    samples: int | None = None,
) -> Opinion | NoOpinion:
    """Ask the judges that caller, goal and settings name; ``record`` keeps what they say."""
    return judging_goal.judge_goal(
        case, _tools(parts, case, listener, record=record, samples=samples)
    )


def recall(parts: Parts, case: JudgeCase) -> Opinion | None:
    """What these judges said of the same files before; nobody is asked."""
    return judging_goal.recall_opinion(
        case, _tools(parts, case, Quiet(), record=False, samples=None)
    )


def _tools(
    parts: Parts, case: JudgeCase, listener: Listener, *, record: bool, samples: int | None
) -> judging_goal.JudgeTools:
    settings = parts.settings.settings.judge
    judges = panel(parts, case.facts.loaded.goal, case.request.judge_backend, samples)
    return judging_goal.JudgeTools(
        panel=judges,
        sources=sources(parts, case),
        keep=_keep(parts) if record else None,
        nonce=_nonce,
        monotonic=_monotonic,
        trusted=_Labels(parts).trusted,
        limits=judging_goal.JudgeLimits(settings.timeout_seconds, settings.canary),
        listener=listener,
        rubrics=rubrics(parts, case.facts.loaded.goal),
        hear=partial(hear_delegated, Delegation(parts), judges, listener, record),
    )


def rubrics(parts: Parts, goal: Goal) -> dict[str, Rubric | str]:
    """The rubrics that the goal's criteria name; one that cannot be read is the reason."""
    if not goal.rubrics:
        return {}
    found: dict[str, Rubric | str] = {}
    for name in goal.rubrics:
        try:
            found[name] = find(name, parts.top).rubric
        except FlowError as error:
            found[name] = str(error).replace("\n", "; ")
    return found


class Shown(NamedTuple):
    """What the first ballot would be given."""

    bundle: Bundle
    prompt: Prompt | None
    """None where there is nothing to ask the ballots about."""
    apart: tuple[tuple[str, str], ...]
    """(criterion id, way) of what is judged in a way of its own."""


def shown(parts: Parts, case: JudgeCase) -> Shown:
    """What the first ballot would be given; nobody is asked."""
    goal = case.facts.loaded.goal
    whole = judging_bundle.gather_context(case, sources(parts, case))
    ways = tuple(
        (criterion.id, order.way)
        for criterion in apart.apart(goal, whole.sought)
        for order in apart.orders(criterion)
    )
    bundle = whole.about(apart.balloted(goal, whole.sought))
    if not bundle.sought:
        return Shown(bundle, None, ways)
    put = prompt.make(bundle, _nonce())
    return Shown(bundle, put._replace(text=masked_text(put.text, parts.environ)), ways)


def panel(
    parts: Parts, goal: Goal, backend: str | None, samples: int | None = None
) -> tuple[AskJudge | NoAnswer, ...]:
    """One entry for each ballot: every judge, as often as samples are wanted.

    They share one budget (``flow.goals.judge.maxCostUsd`` is for one evaluation).
    """
    settings = parts.settings.settings.judge
    budget = Budget(settings.max_cost_usd)
    named = [
        choose(spec, settings, parts.environ, work=None, budget=budget)
        for spec in specs(goal, backend)
    ]
    return tuple(named) * (samples or wanted_samples(goal, settings.samples, backend))


def specs(goal: Goal, backend: str | None) -> list[str | None]:
    """Which judges are asked, as ``choose`` takes them; None is the configured one.

    A caller's ``--judge-backend`` goes before ``evaluator.judges``; ``evaluator.judge_model`` is
    the model of whichever judge names none of its own.
    """
    evaluator = goal.document["evaluator"]
    model, judges = evaluator.get("judge_model"), evaluator.get("judges")
    if backend is not None:
        return [backend if model is None or ":" in backend else f"{backend}:{model}"]
    if isinstance(judges, list) and judges:
        return list(judges)
    return [model]


def wanted_samples(goal: Goal, setting: int, backend: str | None) -> int:
    """How often each judge is asked: ``evaluator.judges`` as a number, else the setting."""
    judges = goal.document["evaluator"].get("judges")
    return judges if isinstance(judges, int) and backend is None else setting


def sources(parts: Parts, case: JudgeCase) -> ContextSources:
    """Where the bundle is read from."""

    def output(evidence: object) -> Raw:
        name = getattr(evidence, "output_ref", None)
        if name is None:
            return Raw(b"")
        rel = f"{layout.evidence_dir(case.facts.run_id)}/{name}"
        return evidence_files.read_ends(parts.top, rel)

    return ContextSources(
        records=parts.records,
        output=output,
        files=partial(evidence_files.collect, parts.top),
        journals=journals(case, parts.settings.settings.journal_dir),
        now=clock.now(),
        changed=partial(evidence_files.changed, parts.top)
        if parts.settings.settings.judge.changed_files
        else None,
    )


class _Labels:
    """The labels that people gave, read once and only where ``minKappa`` asks for them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def trusted(self, judge: str) -> tuple[bool, str]:
        """Whether this judge may propose ``achieved``."""
        least = self._parts.settings.settings.judge.min_kappa
        if least is None:
            return True, ""
        book = LabelBook(self._parts.state_dir, self._parts.top, self._parts.repo.common_dir)
        found = believed(book.labels(judge), least)
        return found.ok, found.reason


def _keep(parts: Parts) -> Keep:
    def stash(data: bytes) -> RawOutput:
        rel = f"{layout.WORK}/{layout.TEMP_PREFIX}{os.urandom(9).hex()}"
        files.publish_new(parts.top, rel, data)
        return RawOutput(os.path.join(parts.top, rel), sha256(data).hexdigest(), len(data))

    return Keep(parts.ledger, stash, clock.now)


def _nonce() -> str:
    return token_hex(16)


def _monotonic() -> float:
    return clock.monotonic()
