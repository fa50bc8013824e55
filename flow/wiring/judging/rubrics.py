"""Judging a subject by a rubric with the real parts: files, settings, a backend, a nonce."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from secrets import token_hex

from flow.adapters.fs import inputs
from flow.adapters.git.repository import find_repo
from flow.adapters.judges.choose import choose as by_settings
from flow.adapters.judges.function import FunctionJudge
from flow.adapters.judges.result_formats import result_format as understood
from flow.adapters.judges.subjects import parts
from flow.adapters.rubrics import rubric_files as rubrics_rubric_files
from flow.adapters.rubrics import scorecard_rubrics
from flow.app.judging.port import NoAnswer, no_answer, sample_count
from flow.app.judging.rubric import RubricRequest
from flow.app.judging.rubric import question as prompt
from flow.core.judging.rubric import files as rubric_files
from flow.core.judging.rubric.files import READY_MADE
from flow.core.judging.rubric.model import Rubric, why_not
from flow.core.judging.rubric.rules import warnings
from flow.errors import FlowError, NotPassed, at_key
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from flow.adapters.rubrics.rubric_files import LoadedRubric
    from flow.app.judging.port import AskJudge
    from flow.core.judging.rubric.model import JudgeResult
    from flow.core.judging.rubric.prompt import RubricQuestion
    from flow.core.settings import JudgeSettings
    from flow.core.untrusted.fences import FencedPart

    RubricLike = Rubric | Mapping[str, Any] | str | os.PathLike[str]
    Backend = str | AskJudge | Callable[[str], Any]


class RubricContext(NamedTuple):
    """Where a judgement is asked for: the checkout around, if any, and the user's settings."""

    top: str | None
    settings: JudgeSettings
    warnings: tuple[str, ...]
    environ: Mapping[str, str]


class PreparedJudgement(NamedTuple):
    """A judgement that was ordered: what to ask, whom, and what to make of the answer."""

    asked: RubricRequest
    ask: AskJudge
    warnings: tuple[str, ...]
    settings: JudgeSettings


def place(cwd: str | None = None, environ: Mapping[str, str] | None = None) -> RubricContext:
    """The checkout around ``cwd`` and the settings in force there; outside of any, the user's."""
    from flow.adapters.user_state.settings import load

    environ = os.environ if environ is None else environ
    repo = find_repo(os.path.abspath(cwd or os.getcwd()))
    top = None if repo is None else repo.top
    loaded = load(top, environ.get("HOME") or None)
    return RubricContext(top, loaded.settings.judge, loaded.warnings, environ)


def order(
    subject: Any,
    rubric: RubricLike,
    *,
    instructions: str | None = None,
    result_schema: Mapping[str, Any] | None = None,
    backend: Backend | None = None,
    samples: int = 1,
    loop: AbstractEventLoop | None = None,
    where: RubricContext | None = None,
) -> PreparedJudgement:
    """Everything that is checked before a judge is asked.

    Raises :class:`NoUsableAnswer` (``not_configured``) where there is no judge to ask.
    """
    where = where or place()
    loaded = load(rubric, where.top)
    asked = question(loaded.rubric, parts(subject), instructions, result_schema, samples)
    ask = choose(backend, where, loop)
    return PreparedJudgement(asked, ask, loaded.warnings, where.settings)


def question(
    rubric: Rubric,
    subject: tuple[FencedPart, ...],
    instructions: str | None,
    result_schema: Mapping[str, Any] | None,
    samples: int,
) -> RubricRequest:
    """What to ask, checked."""
    samples = sample_count(samples)
    if instructions is not None and not isinstance(instructions, str):
        raise at_key("instructions").invalid("not text", "give a string")
    return RubricRequest(
        rubric,
        subject,
        instructions=instructions or None,
        result_schema=result_schema,
        samples=samples,
    )


def load(rubric: RubricLike, top: str | None) -> LoadedRubric:
    """The rubric that a caller means: a value, a mapping, a name, or a file."""
    if isinstance(rubric, Rubric):
        said = tuple(warnings(rubric.to_document()))
        return rubrics_rubric_files.LoadedRubric(rubric.name, rubric, "value", "", "", said)
    if isinstance(rubric, Mapping):
        made, told = rubric_files.rubric(dict(rubric))
        return rubrics_rubric_files.LoadedRubric(made.name, made, "value", "", "", told)
    if isinstance(rubric, str):
        return rubrics_rubric_files.find_or_read(rubric, top)
    if isinstance(rubric, os.PathLike):
        name = os.fsdecode(rubric)
        return rubrics_rubric_files.read(inputs.read(name, "rubric"), name)
    raise at_key("rubric").invalid(
        f"a {type(rubric).__name__} is no rubric",
        "give a Rubric, a mapping, the name of a rubric, or the path of its file",
    )


def choose(
    backend: Backend | None, where: RubricContext, loop: AbstractEventLoop | None = None
) -> AskJudge:
    """The judge to ask; :class:`NoUsableAnswer` where none is configured or it cannot be used."""
    if backend is None or isinstance(backend, str):
        found: AskJudge | NoAnswer = by_settings(backend, where.settings, where.environ, work=None)
        if isinstance(found, NoAnswer):
            raise no_answer(found)
        return found
    if isinstance(getattr(backend, "name", None), str) and callable(backend):
        return backend  # type: ignore[return-value]
    if callable(backend):
        function: Callable[[str], Any] = backend  # type: ignore[assignment]
        return FunctionJudge(function, loop, environ=where.environ)
    raise at_key("backend").invalid(
        f"a {type(backend).__name__} is no judge",
        "give BACKEND[:MODEL], a function from prompt to mapping, or a backend object",
    )


def carry_out(
    ordered: PreparedJudgement, *, nonce: Callable[[str], str] | None = None
) -> tuple[JudgeResult, Mapping[str, Any]]:
    """Ask; returns the judgement and the reply whose words it took.

    Raises :class:`NoUsableAnswer` where no judgement follows from what the judge said.
    """
    from flow.app.judging.rubric import judge_by_rubric

    seconds = ordered.settings.timeout_seconds
    judged = judge_by_rubric(ordered.asked, ordered.ask, nonce or random_nonce, seconds=seconds)
    if isinstance(judged, NoAnswer):
        raise no_answer(judged) from getattr(ordered.ask, "raised", None)
    remarks = (*judged.result.remarks, *ordered.warnings)
    return replace(judged.result, remarks=remarks), judged.value


def judge(
    subject: Any,
    rubric: RubricLike,
    *,
    instructions: str | None = None,
    result_format: object = None,
    throw_on_fail: bool = False,
    backend: Backend | None = None,
    samples: int = 1,
    loop: AbstractEventLoop | None = None,
    where: RubricContext | None = None,
    nonce: Callable[[str], str] | None = None,
) -> Any:
    """:func:`flow.judge`, with the parts that a test or the pytest plugin brings."""
    form = None
    if result_format is not None:
        form = understood(result_format)
    ordered = order(
        subject,
        rubric,
        instructions=instructions,
        result_schema=None if form is None else form.schema,
        backend=backend,
        samples=samples,
        loop=loop,
        where=where,
    )
    result, value = carry_out(ordered, nonce=nonce)
    answer: Any = result
    if form is not None:
        answer = form.result(value.get("result"), score=result.score, passed=result.passed)
    if throw_on_fail and not result.passed:
        raise NotPassed(why_not(result), answer)
    return answer


def random_nonce(_: str) -> str:
    """A nonce that nobody could know beforehand."""
    return token_hex(16)


def content_nonce(content: str) -> str:
    """A nonce that depends on everything it fences, for replies that are recorded.

    Nothing that is fenced can hold it: it would have to hold its own SHA-256.
    """
    return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def shown(
    subject: Any, rubric: RubricLike, instructions: str | None, where: RubricContext
) -> RubricQuestion:
    """What a judge would be given; nobody is asked."""
    asked = question(load(rubric, where.top).rubric, parts(subject), instructions, None, 1)
    return prompt(asked, random_nonce)


def listing(top: str | None) -> list[dict[str, Any]]:
    """Every rubric that a name can mean here, the project's first; broken ones with their error."""
    found = []
    own = rubrics_rubric_files.project_names(top) if top is not None else ()
    for name in dict.fromkeys((*own, *READY_MADE)):
        try:
            found.append(document(rubrics_rubric_files.find(name, top)))
        except FlowError as error:
            told = [str(fault) for fault in error.faults]
            found.append({"name": name, "error": error.to_dict(), "warnings": told})
    return found


def never_used(top: str | None) -> list[str]:
    """What lies beside a project's rubrics, those of scorecards too, and no name leads to."""
    if top is None:
        return []
    said = list(rubrics_rubric_files.never_used(top))
    try:
        said += scorecard_rubrics.never_used(top)
    except FlowError as error:
        said += [str(fault) for fault in error.faults]
    return said


def document(loaded: LoadedRubric) -> dict[str, Any]:
    """A rubric as ``--json`` prints it."""
    return {
        "name": loaded.name,
        "origin": loaded.origin,
        "file": loaded.file,
        "sha256": loaded.sha256,
        "rubric": loaded.rubric.to_document(),
        "warnings": list(loaded.warnings),
    }
