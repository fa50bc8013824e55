"""Asking a judge about cases that people have labelled, and recording both decisions (SPEC 9.2)."""

from __future__ import annotations

from flow.app.judging.labelling import LabelLine, LabelPort
from flow.app.judging.rubric_calls import (
    RubricCall,
    RubricPort,
    content_nonce,
    judge_prepared,
    load,
    prepare,
)
from flow.core.judging.rubric.calibration import Label, believed, calibrate
from flow.core.judging.rubric.calibration_cases import SUBJECT_REMEDY
from flow.core.text.display import visible
from flow.errors import (
    ContractError,
    Fault,
    InputError,
    NoUsableAnswer,
    RefusedError,
    StorageError,
    in_file,
)
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flow.app.judging.rubric_calls import PreparedJudgement
    from flow.core.judging.rubric.calibration_cases import Case
    from flow.core.judging.rubric.model import Rubric


class CalibrationPort(RubricPort, LabelPort, Protocol):
    """Interface of calibrating to the checkout, beside that of a judgement by a rubric."""

    def subject_file(self, cases_file: str, name: str) -> bytes:
        """The file that a case names, below the folder of the file of cases."""


class TriedCase(NamedTuple):
    """A case and its judgement; ``judged`` is None if the judge gave no usable answer."""

    case: Case
    judged: bool | None
    reason: str


class CaseFile(NamedTuple):
    """Labelled cases. ``rubric`` is for those that name none."""

    path: str
    cases: Sequence[Case]
    rubric: str | None


def try_cases(
    port: CalibrationPort,
    file: CaseFile,
    *,
    backend: Any,
    samples: int,
    progress: Callable[[TriedCase], None],
    record: bool = True,
) -> dict[str, Any]:
    """Ask about every case, record the labels, and return how far judge and people agree.

    ``record`` is False in an agent's shell: with labels of its own an agent could make a judge
    reach the ``minKappa`` of the user.

    ``progress`` gets each case as it is done. Raises :class:`NoUsableAnswer` if no judge is
    configured at all, and :class:`ContractError` with each case that cannot be asked about.
    """
    prepared = _prepared(port, file, port.judge(backend), samples)
    ask = prepared[0].judgement.ask
    log = port.label_log()
    labels, unanswered = [], []
    for case, judgement, key in prepared:
        try:
            result, _ = judge_prepared(port, judgement)
        except NoUsableAnswer as error:
            reason = error.fault.message
            unanswered.append({"id": case.id, "reason": reason})
            progress(TriedCase(case, None, reason))
            continue
        labels.append(Label(case.label, result.passed))
        if record:
            about, now = case.id[:200], port.now()
            log.add([LabelLine(now, ask.name, key, about, case.label, result.passed, "calibrate")])
        progress(TriedCase(case, result.passed, f"{result.score:.3g}"))
    return {
        "judge": ask.name,
        "cases": len(file.cases),
        **calibrate(labels).to_document(),
        "no_answer": unanswered,
        "recorded": record,
        "believed": _belief(port, log.labels(ask.name)),
    }


def label_history(port: CalibrationPort) -> dict[str, Any]:
    """The agreement of each judge with people so far, and every label."""
    log = port.label_log()
    lines = log.lines()
    judges = []
    for name in dict.fromkeys(line.judge for line in lines):
        own = [line for line in lines if line.judge == name]
        labels = [Label(line.person, line.judged) for line in own]
        sources = [line.source for line in own]
        judges.append(
            {
                "judge": name,
                **calibrate(labels).to_document(),
                "sources": {source: sources.count(source) for source in set(sources)},
                "believed": _belief(port, labels),
            }
        )
    rows = [line._asdict() for line in lines]
    return {"judges": judges, "labels": rows, "warnings": list(log.warnings)}


class _PreparedCase(NamedTuple):
    case: Case
    judgement: PreparedJudgement
    key: str


def _prepared(port: CalibrationPort, file: CaseFile, ask: Any, samples: int) -> list[_PreparedCase]:
    """Every case, checked before anybody is asked: one thing has one label."""
    rubric = None if file.rubric is None else load(port.rubrics, file.rubric).rubric
    done: dict[str, _PreparedCase] = {}
    faults: list[Fault] = []
    for case in file.cases:
        place = in_file(file.path, f"case {visible(case.id)[:80]}")
        call = RubricCall(None, _rubric(port, file, case, rubric), case.instructions, backend=ask)
        try:
            subject = case.subject
            if case.file is not None:
                subject = port.subject_file(file.path, case.file)
            judgement = prepare(port, call._replace(subject=subject, samples=samples))
        except (InputError, RefusedError, StorageError) as error:
            where = "" if error.file is None else f"{visible(error.file)}: "
            faults.append(place.fault(f"{where}{error.message}", SUBJECT_REMEDY))
            continue
        key = _key(judgement)
        same = done.setdefault(key, _PreparedCase(case, judgement, key)).case
        if same is not case:
            told = f"asks the same as case {visible(same.id)[:80]}"
            faults.append(place.fault(told, "keep one of the two, with its label"))
    if faults:
        raise ContractError(faults)
    return list(done.values())


def _rubric(port: CalibrationPort, file: CaseFile, case: Case, default: Rubric | None) -> Rubric:
    # A case names a rubric by name only: such a file may have come with a checkout, and a path
    # would let it read any file.
    rubric = default if case.rubric is None else port.rubrics.find(case.rubric).rubric
    if rubric is None:
        raise in_file(file.path, "rubric").invalid(
            f"case {case.id!r:.80} names no rubric",
            "give the file or the case a rubric, or --rubric NAME",
        )
    return rubric


def _key(prepared: PreparedJudgement) -> str:
    """A digest of everything that the judge was asked about."""
    request = prepared.request
    content = (repr(request.rubric), request.instructions, [part.text for part in request.subject])
    return content_nonce(repr(content))


def _belief(port: CalibrationPort, labels: Sequence[Label]) -> dict[str, Any]:
    belief = believed(labels, port.settings.min_kappa)
    return {"ok": belief.ok, "reason": belief.reason}
