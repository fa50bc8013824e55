"""Asking judges about a goal with the real parts: backends, files, a nonce, people's labels."""

from __future__ import annotations

import os
from functools import partial
from hashlib import sha256

from flow.adapters.fs import clock, files
from flow.adapters.judges import evidence_files
from flow.adapters.process.redaction import redacted_text
from flow.adapters.rubrics.rubric_files import RubricFolder
from flow.app.evaluation.values import Listener
from flow.app.judging import goal as judging_goal
from flow.app.judging import labelling
from flow.app.judging.bundle import ContextSources, journals
from flow.app.judging.changed_files import Raw
from flow.app.judging.delegated import Delegate
from flow.app.judging.panel import backends, ballots_each, criterion_rubrics
from flow.app.judging.records import Keep
from flow.app.judging.reviewing import first_ballot
from flow.app.ports import RawOutput
from flow.core import layout
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.judging.context import JudgeChoice, random_nonce
from flow.wiring.judging.delegated import Delegation
from flow.wiring.judging.labelling import Labelling

if TYPE_CHECKING:
    from flow.app.evaluation.values import JudgeCase
    from flow.app.judging.reviewing import FirstBallot
    from flow.core.decision.decide import NoOpinion, Opinion
    from flow.wiring.context import Context


def ask(
    parts: Context,
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


def recall(parts: Context, case: JudgeCase) -> Opinion | None:
    """What these judges said of the same files before; nobody is asked."""
    return judging_goal.recall_opinion(case, _tools(parts, case, Listener(), record=False))


def shown(parts: Context, case: JudgeCase) -> FirstBallot:
    """What the first ballot would be given; nobody is asked."""
    mask = partial(redacted_text, environ=parts.environ)
    return first_ballot(case, _sources(parts, case), random_nonce(), mask)


def _tools(
    parts: Context, case: JudgeCase, listener: Listener, *, record: bool, samples: int | None = None
) -> judging_goal.JudgeTools:
    settings = parts.settings.settings.judge
    goal, backend = case.facts.loaded.goal, case.request.judge_backend
    judges = JudgeChoice(settings, parts.environ).panel(backends(goal, backend))
    panel = tuple(judges) * (samples or ballots_each(goal, backend, settings.samples))
    return judging_goal.JudgeTools(
        panel=panel,
        sources=_sources(parts, case),
        keep=Keep(parts.ledger, partial(_stash, parts.top), clock.now) if record else None,
        nonce=random_nonce,
        monotonic=clock.monotonic,
        trusted=partial(labelling.may_propose, Labelling(parts), least=settings.min_kappa),
        limits=judging_goal.JudgeLimits(settings.timeout_seconds, settings.canary),
        listener=listener,
        rubrics=criterion_rubrics(goal, RubricFolder(parts.top)),
        delegate=Delegate(Delegation(parts), panel, listener, record),
    )


def _sources(parts: Context, case: JudgeCase) -> ContextSources:
    settings = parts.settings.settings

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
        journals=journals(case, settings.journal_dir),
        now=clock.now(),
        changed=partial(evidence_files.changed, parts.top)
        if settings.judge.changed_files
        else None,
    )


def _stash(top: str, data: bytes) -> RawOutput:
    rel = f"{layout.WORK}/{layout.TEMP_PREFIX}{os.urandom(9).hex()}"
    files.publish_new(top, rel, data)
    return RawOutput(os.path.join(top, rel), sha256(data).hexdigest(), len(data))
