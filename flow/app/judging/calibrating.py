"""Asking a judge about cases that people have labelled, and recording both decisions (SPEC 9.2)."""

from __future__ import annotations

from flow.app.judging.labelling import LabelLine, LabelRecord
from flow.app.judging.rubric_calls import RubricCall, RubricPort, carry_out, content_nonce, prepare
from flow.core.judging.rubric.calibration import Label, believed, calibrate
from flow.errors import NoUsableAnswer, in_file
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flow.app.judging.rubric_calls import PreparedJudgement
    from flow.core.judging.rubric.calibration_cases import Case


class CalibrationPort(RubricPort, Protocol):
    """Interface of calibrating to the checkout, beside that of a judgement by a rubric."""

    def label_log(self) -> LabelRecord:
        """The user's own record of labels."""

    def subject_file(self, cases_file: str, name: str) -> bytes:
        """The file that a case names, below the folder of the file of cases."""

    def now(self) -> str:
        """The time."""


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
) -> dict[str, Any]:
    """Ask about every case, record the labels, and return how far judge and people agree.

    ``progress`` gets each case as it is done. Raises :class:`NoUsableAnswer` if no judge is
    configured at all.
    """
    ask = port.judge(backend)
    prepared = [_prepare(port, file, case, ask, samples) for case in file.cases]
    book = port.label_log()
    labels, unanswered = [], []
    for case, judgement in zip(file.cases, prepared, strict=True):
        try:
            result, _ = carry_out(port, judgement)
        except NoUsableAnswer as error:
            reason = error.fault.message
            unanswered.append({"id": case.id, "reason": reason})
            progress(TriedCase(case, None, reason))
            continue
        labels.append(Label(case.label, result.passed))
        key = _key(judgement)
        about = case.id[:200]
        book.add(
            [LabelLine(port.now(), ask.name, key, about, case.label, result.passed, "calibrate")]
        )
        progress(TriedCase(case, result.passed, f"{result.score:.3g}"))
    return {
        "judge": ask.name,
        "cases": len(file.cases),
        **calibrate(labels).to_document(),
        "no_answer": unanswered,
        "believed": _belief(port, book.labels(ask.name)),
    }


def label_history(port: CalibrationPort) -> dict[str, Any]:
    """The agreement of each judge with people so far, and every label."""
    book = port.label_log()
    lines = book.lines()
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
    return {"judges": judges, "labels": rows, "warnings": list(book.warnings)}


def _prepare(
    port: CalibrationPort, file: CaseFile, case: Case, ask: Any, samples: int
) -> PreparedJudgement:
    # A case names a rubric by name only: such a file may have come with a checkout, and a path
    # would let it read any file.
    rubric = file.rubric if case.rubric is None else port.rubrics.find(case.rubric).rubric
    if rubric is None:
        raise in_file(file.path, "rubric").invalid(
            f"case {case.id!r:.80} names no rubric",
            "give the file or the case a rubric, or --rubric NAME",
        )
    subject = case.subject
    if case.file is not None:
        subject = port.subject_file(file.path, case.file)
    call = RubricCall(subject, rubric, case.instructions, backend=ask, samples=samples)
    return prepare(port, call)


def _key(prepared: PreparedJudgement) -> str:
    """A digest of everything that the judge was asked about."""
    request = prepared.request
    content = (repr(request.rubric), request.instructions, [part.text for part in request.subject])
    return content_nonce(repr(content))


def _belief(port: CalibrationPort, labels: Sequence[Label]) -> dict[str, Any]:
    belief = believed(labels, port.settings.min_kappa)
    return {"ok": belief.ok, "reason": belief.reason}
