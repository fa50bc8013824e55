"""One judge: a backend with its work folder, its limits and its retry policy."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager

from flow.adapters.fs.temporary import remove_folder
from flow.adapters.judges.reply_json import words
from flow.adapters.judges.retry import Retryable, RetryPolicy, retry
from flow.adapters.process.environment import clean_environment
from flow.adapters.process.redaction import redacted_text, redacted_value
from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage
from flow.core.judging.common.question import Unusable
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flow.adapters.judges.budget import Budget
    from flow.adapters.judges.retry import Clock
    from flow.adapters.process.with_input import InputRunResult
    from flow.core.judging.common.question import NoAnswerKind, Question

GUARD = "CLAUDE_HOOK_GOAL_JUDGE_MODE"
"""Variable that is set for every judge: a Stop hook of Flow's inside it does nothing (SPEC 6)."""


class WorkFolder(NamedTuple):
    """Folders of one call: ``cwd`` is empty and the judge's own, ``files`` is outside it."""

    cwd: str
    files: str


class Call(NamedTuple):
    """Arguments of a backend for one try. ``seconds`` bounds it; ``dollars`` None is no limit."""

    question: Question
    seconds: float
    folder: WorkFolder
    dollars: float | None


class NamedBackend(Protocol):
    """A backend with the names that answers show."""

    @property
    def name(self) -> str:
        """The backend's name in settings."""

    @property
    def model(self) -> str | None:
        """The model that was asked for; None is the backend's own choice."""


class Backend(NamedBackend, Protocol):
    """Sends one request for each call. Raises nothing but OSError, for the disk."""

    @property
    def tells_cost(self) -> bool:
        """False if no reply of it can name its cost."""

    def ask(self, call: Call) -> JudgeAnswer | NoAnswer | Retryable:
        """Make one try."""


class BackendJudge:
    """A :class:`flow.app.judging.port.AskJudge`. May be called from several threads at once."""

    def __init__(
        self,
        backend: Backend,
        *,
        work: str | None,
        budget: Budget,
        clock: Clock,
        policy: RetryPolicy = RetryPolicy(),  # noqa: B008  # an immutable value
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """``work`` is an existing folder for short-lived ones; None is the system's.

        ``environ`` names the values that are secret: they are redacted in every prompt and every
        reply, and so are the known shapes of tokens (SPEC 10).
        """
        self._environ = {} if environ is None else environ
        self.backend = backend
        self.budget = budget
        self._work, self._clock, self._policy = work, clock, policy

    @property
    def name(self) -> str:
        """``claude``, or ``openai:llama3`` if a model was asked for."""
        model = self.backend.model
        return f"{self.backend.name}:{model}" if model else self.backend.name

    def __call__(self, question: Question, *, seconds: float) -> JudgeAnswer | NoAnswer:
        """Ask, again if that may help; ``seconds`` bounds all but the ending of processes."""
        question = question._replace(prompt=redacted_text(question.prompt, self._environ))
        answer = retry(self._once, question, seconds, clock=self._clock, policy=self._policy)
        # A judge's words are kept, in the goal's file and the journal too. So are the reasons for
        # no answer, and services name the key that they refuse.
        if isinstance(answer, JudgeAnswer):
            return answer._replace(value=redacted_value(answer.value, self._environ))
        return answer._replace(reason=redacted_text(answer.reason, self._environ))

    def _once(self, question: Question, seconds: float) -> JudgeAnswer | NoAnswer | Retryable:
        refusal = self.budget.refusal()
        if refusal is None and self.budget.most is not None and not self.backend.tells_cost:
            refusal = (
                f"maxCostUsd is set, but {self.backend.name} does not tell what a call costs, so "
                "the limit cannot be kept; use a backend that does (claude), or take the limit out"
            )
        if refusal is not None:
            unasked = Usage(self.backend.name, self.backend.model, attempts=0)
            return NoAnswer("cost_limit", refusal, unasked)
        try:
            with _work_folder(self._work) as folder:
                call = Call(_sendable(question), seconds, folder, self.budget.left)
                answer = self.backend.ask(call)
        except OSError as error:
            where = os.path.basename(str(error.filename)) if error.filename else "a folder"
            why = f"cannot prepare the judge's own folder: {where}: {error.strerror or error}"
            return none(self.backend, "error", words(why))
        result = answer.answer if isinstance(answer, Retryable) else answer
        if isinstance(result, JudgeAnswer) or result.usage.output_tokens or result.usage.cost_usd:
            over = self.budget.add(result.usage.cost_usd)
            if over is not None:
                return NoAnswer("cost_limit", over, result.usage)
        return answer


def _sendable(question: Question) -> Question:
    """The question in characters that can be sent: halves of surrogate pairs become escapes."""
    texts = (question.system, question.prompt)
    system, prompt = (text.encode("utf-8", "backslashreplace").decode("utf-8") for text in texts)
    return question._replace(system=system, prompt=prompt)


def none(
    backend: NamedBackend, kind: NoAnswerKind, reason: str, usage: Usage | None = None
) -> NoAnswer:
    """No answer of this backend; ``reason`` is already safe to print."""
    return NoAnswer(kind, reason, usage or Usage(backend.name, backend.model))


def answered(
    backend: NamedBackend, reply: Mapping[str, Any] | Unusable, usage: Usage
) -> JudgeAnswer | NoAnswer:
    """The answer in a reply of this backend, or no answer if it is unusable."""
    if isinstance(reply, Unusable):
        return none(backend, reply.kind, reply.reason, usage)
    return JudgeAnswer(reply, usage)


def not_ended(
    backend: NamedBackend,
    run: InputRunResult,
    seconds: float,
    *,
    too_much: str,
    not_found: str,
    program: str = "",
    usage: Usage | None = None,
) -> NoAnswer | None:
    """No answer for a program that did not exit by itself, with the reason; None if it did.

    ``too_much`` and ``not_found`` are the reasons if it printed too much, or is not there.
    """
    reasons: dict[str, tuple[NoAnswerKind, str]] = {
        "timeout": ("timeout", f"no reply within {seconds:.3g} s"),
        "too_much": ("not_json", too_much),
        "not_found": ("not_configured", not_found),
    }
    if run.kind == "exit":
        return None
    kind, reason = reasons.get(run.kind, ("error", f"{program} did not run: {words(run.why)}"))
    return none(backend, kind, reason, usage)


@contextmanager
def _work_folder(parent: str | None) -> Iterator[WorkFolder]:
    """A folder for one call, removed after it."""
    top = os.path.realpath(tempfile.mkdtemp(prefix="flow-judge-", dir=parent))
    try:
        cwd = os.path.join(top, "cwd")
        os.mkdir(cwd, 0o700)
        yield WorkFolder(cwd, top)
    finally:
        remove_folder(top)


BASE = tuple(
    """
    ALL_PROXY HOME HTTPS_PROXY HTTP_PROXY LANG LC_ALL LC_CTYPE LOGNAME NODE_EXTRA_CA_CERTS NO_PROXY
    PATH REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE TMPDIR TZ USER all_proxy http_proxy
    https_proxy no_proxy
    """.split()
)
"""Variables that every judge gets: to be found, to find its settings, to reach its service."""


def environment(
    environ: Mapping[str, str],
    names: tuple[str, ...] = (),
    *,
    starts: tuple[str, ...] = (),
    ends: tuple[str, ...] = (),
    more: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Environment for a judge: from ``environ`` only :data:`BASE`, these names, starts and ends.

    ``more`` is added. No variable of the asking session gets through, and none that hijacks a
    shell.
    """
    wanted = {*BASE, *names}
    picked = {
        name: value
        for name, value in clean_environment(environ)[0].items()
        if name in wanted or (starts and name.startswith(starts)) or (ends and name.endswith(ends))
    }
    return {**picked, GUARD: "1", **(more or {})}


_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS", "HEADERS")


def secrets(env: Mapping[str, str]) -> tuple[str, ...]:
    """The values in ``env`` that no message may hold, the longest first."""
    values = {
        part
        for name, value in env.items()
        if any(word in name.upper() for word in _SECRET)
        for part in (value, *value.split())
        if len(part) >= 6
    }
    return tuple(sorted(values, key=len, reverse=True))
