"""A judgement by a rubric, from the arguments of a caller to its result (SPEC 9.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256

from flow.app.judging.port import AskJudge, JudgePort, NoAnswer, no_answer, sample_count
from flow.app.judging.rubric import RubricRequest, ballot_question, judge_by_rubric
from flow.core.judging.rubric import files as rubric_documents
from flow.core.judging.rubric.model import JudgeResult, Rubric, why_not
from flow.core.judging.rubric.rules import warnings
from flow.errors import FlowError, NotPassed, at_key
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from flow.core.judging.common.question import Question
    from flow.core.settings import JudgeSettings
    from flow.core.untrusted.fences import FencedPart


class LoadedRubric(NamedTuple):
    """A rubric and where it is from.

    ``name`` is what a goal or ``--rubric`` calls it, ``origin`` is ``project``, ``flow``, ``file``
    or ``value``, ``sha256`` that of its file.
    """

    name: str
    rubric: Rubric
    origin: str
    file: str
    sha256: str
    warnings: tuple[str, ...]

    def to_document(self) -> dict[str, Any]:
        """The rubric as ``--json`` prints it."""
        return {
            "name": self.name,
            "origin": self.origin,
            "file": self.file,
            "sha256": self.sha256,
            "rubric": self.rubric.to_document(),
            "warnings": list(self.warnings),
        }


class RubricFiles(Protocol):
    """The rubrics of a checkout, Flow's own ones, and files that a person names."""

    def find(self, name: str) -> LoadedRubric:
        """The rubric of this name; :class:`InputError` if there is none."""

    def find_or_read(self, named: str) -> LoadedRubric:
        """The rubric that a person named by its name, or by the path of its file."""

    def read_path(self, path: Any) -> LoadedRubric:
        """The rubric in the file that a path object leads to."""

    def names(self) -> tuple[str, ...]:
        """Every name that means a rubric here, the project's own first."""

    def never_used(self) -> list[str]:
        """A sentence for each file beside the project's rubrics that no name leads to."""


class ResultForm(Protocol):
    """The form in which a caller wants the result."""

    @property
    def schema(self) -> dict[str, Any]:
        """The rubric's JSON Schema."""

    def result(self, value: object, *, score: float, passed: bool) -> Any:
        """The judge's ``value`` in this form; :class:`NoUsableAnswer` if it does not fit."""


class RubricPort(JudgePort, Protocol):
    """The folder in which a judgement is asked for: its rubrics, judges and settings."""

    @property
    def settings(self) -> JudgeSettings:
        """The settings about judges."""

    @property
    def rubrics(self) -> RubricFiles:
        """The rubrics that a name can mean."""

    def parts(self, subject: Any) -> tuple[FencedPart, ...]:
        """The parts of a subject; :class:`InputError` for what cannot be judged."""

    def result_form(self, wanted: object) -> ResultForm:
        """The form that a schema or a type stands for; :class:`InputError` for anything else."""

    def nonce(self, content: str) -> str:
        """A nonce to fence ``content`` with."""


class RubricCall(NamedTuple):
    """The arguments of :func:`flow.judge`."""

    subject: Any
    rubric: Any
    instructions: str | None = None
    result_format: object = None
    throw_on_fail: bool = False
    backend: Any = None
    samples: int = 1


class PreparedJudgement(NamedTuple):
    """A checked request, the judge that is going to be asked, and the form of the result."""

    request: RubricRequest
    ask: AskJudge
    warnings: tuple[str, ...]
    form: ResultForm | None


def prepare(port: RubricPort, call: RubricCall) -> PreparedJudgement:
    """Check everything that can be checked before a judge is asked.

    Raises :class:`NoUsableAnswer` (``not_configured``) where there is no judge to ask.
    """
    form = None if call.result_format is None else port.result_form(call.result_format)
    loaded = load(port.rubrics, call.rubric)
    request = _request(port, call, loaded.rubric, None if form is None else form.schema)
    return PreparedJudgement(request, port.judge(call.backend), loaded.warnings, form)


def judge_prepared(port: RubricPort, prepared: PreparedJudgement) -> tuple[JudgeResult, Any]:
    """Ask; returns the judgement, and the result in the caller's form (without one, the same).

    Raises :class:`NoUsableAnswer` if no judgement follows from the judge's replies.
    """
    seconds = port.settings.timeout_seconds
    judged = judge_by_rubric(prepared.request, prepared.ask, port.nonce, seconds=seconds)
    if isinstance(judged, NoAnswer):
        raise no_answer(judged) from getattr(prepared.ask, "raised", None)
    remarks = (*judged.result.remarks, *prepared.warnings)
    result = replace(judged.result, remarks=remarks)
    if prepared.form is None:
        return result, result
    value = judged.value.get("result")
    return result, prepared.form.result(value, score=result.score, passed=result.passed)


def judge(port: RubricPort, call: RubricCall) -> Any:
    """The value of :func:`flow.judge`; raises :class:`NotPassed` as ``throw_on_fail`` says."""
    result, answer = judge_prepared(port, prepare(port, call))
    if call.throw_on_fail and not result.passed:
        raise NotPassed(why_not(result), answer)
    return answer


def shown_question(port: RubricPort, call: RubricCall) -> Question:
    """The question that a judge would get; no judge is called."""
    rubric = load(port.rubrics, call.rubric).rubric
    return ballot_question(_request(port, call, rubric, None), port.nonce)


def _request(
    port: RubricPort, call: RubricCall, rubric: Rubric, schema: Mapping[str, Any] | None
) -> RubricRequest:
    subject = port.parts(call.subject)
    samples = sample_count(call.samples)
    if call.instructions is not None and not isinstance(call.instructions, str):
        raise at_key("instructions").invalid("not text", "give a string")
    return RubricRequest(
        rubric,
        subject,
        instructions=call.instructions or None,
        result_schema=schema,
        samples=samples,
    )


def load(files: RubricFiles, rubric: Any) -> LoadedRubric:
    """The rubric that a caller means: a value, a mapping, a name, or a file."""
    if isinstance(rubric, str):
        return files.find_or_read(rubric)
    if hasattr(rubric, "__fspath__"):
        return files.read_path(rubric)
    if isinstance(rubric, Rubric):
        told = tuple(warnings(rubric.to_document()))
        return LoadedRubric(rubric.name, rubric, "value", "", "", told)
    if isinstance(rubric, Mapping):
        made, told = rubric_documents.read_rubric(dict(rubric))
        return LoadedRubric(made.name, made, "value", "", "", told)
    raise at_key("rubric").invalid(
        f"{type(rubric).__name__} is no rubric",
        "give a Rubric, a mapping, the name of a rubric, or the path of its file",
    )


def listing(files: RubricFiles) -> list[dict[str, Any]]:
    """Every rubric that a name can mean here; a broken one with its error."""
    documents = []
    for name in files.names():
        try:
            documents.append(files.find(name).to_document())
        except FlowError as error:
            faults = [str(fault) for fault in error.faults]
            documents.append({"name": name, "error": error.to_dict(), "warnings": faults})
    return documents


def content_nonce(content: str) -> str:
    """A nonce that depends on everything it fences, for replies that are recorded.

    Nothing that is fenced can hold it: it would have to hold its own SHA-256.
    """
    return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]
