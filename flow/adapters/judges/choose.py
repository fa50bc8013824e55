"""Choice of a judge by the settings, or by a word like ``openai:llama3`` (SPEC 9.1)."""

from __future__ import annotations

from flow.adapters.judges.asking import BackendJudge
from flow.adapters.judges.budget import Budget
from flow.adapters.judges.reply_json import words
from flow.adapters.judges.retry import RetryPolicy, real_clock
from flow.app.judging.port import NoAnswer, Usage
from flow.core.setting_keys import Backend as BackendName
from flow.errors import at_key
from flow.startup.typing import TYPE_CHECKING, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.judges.asking import Backend
    from flow.adapters.judges.retry import Clock
    from flow.app.judging.port import AskJudge
    from flow.core.settings import JudgeSettings

BACKENDS: tuple[str, ...] = get_args(BackendName)
_KEY = "flow.goals.judge"
_OWN_FILE = "your own ~/.claude/settings.flow.json"
_MODEL = 200


def choose(
    spec: str | None,
    settings: JudgeSettings,
    environ: Mapping[str, str],
    *,
    work: str | None,
    budget: Budget | None = None,
    clock: Clock | None = None,
    policy: RetryPolicy = RetryPolicy(),  # noqa: B008  # an immutable value
) -> AskJudge | NoAnswer:
    """The judge that ``spec`` names, or why there is none; no request is sent yet.

    ``spec`` is ``BACKEND``, ``BACKEND:MODEL`` or a model of the configured backend; None is the
    configured backend and model. ``settings.base_url`` and ``settings.model`` belong to the
    configured backend and reach no other. ``work`` is an existing folder for short-lived files of
    calls, outside the checkout; None is the system's. Judges that are asked in one evaluation share
    a ``budget``; without one each has ``settings.max_cost_usd`` for itself.
    """
    parts = _parts(spec, settings)
    if isinstance(parts, NoAnswer):
        return parts
    backend = _backend(*parts, settings, environ)
    if isinstance(backend, NoAnswer):
        return backend
    return BackendJudge(
        backend,
        work=work,
        budget=Budget(settings.max_cost_usd) if budget is None else budget,
        clock=clock or real_clock(),
        policy=policy,
        environ=environ,
    )


def check_named(spec: str, settings: JudgeSettings) -> None:
    """Refuse the value of an option that can be no judge; whether it answers is another question.

    Raises :class:`InputError`.
    """
    parts = _parts(spec, settings)
    if isinstance(parts, NoAnswer):
        remedy = "write BACKEND or BACKEND:MODEL, like claude:sonnet"
        raise at_key("--judge-backend", spec).invalid(parts.reason, remedy)


def _parts(spec: str | None, settings: JudgeSettings) -> tuple[str, str | None] | NoAnswer:
    """(backend, model) of ``spec``, or why there are none."""
    parts = _named_parts(spec, settings)
    if isinstance(parts, NoAnswer) or parts[1] is None or _is_model(parts[1]):
        return parts
    return _none(parts[0], f"'{words(parts[1])[:80]}' is not a model's name")


def _named_parts(spec: str | None, settings: JudgeSettings) -> tuple[str, str | None] | NoAnswer:
    configured = settings.backend
    if spec is not None:
        name, colon, model = spec.partition(":")
        if name in BACKENDS:
            if colon:
                return name, model
            return name, settings.model if name == configured else None
        if configured is not None:
            return configured, spec
        shown = words(spec)[:80]
        return _none(
            shown,
            f"{shown} names no backend ({', '.join(BACKENDS)}), and none is configured: set "
            f"{_KEY}.backend in {_OWN_FILE}",
        )
    if configured is None:
        return _none(
            "none",
            f"no judge is configured: set {_KEY}.backend to one of {', '.join(BACKENDS)} "
            f"in {_OWN_FILE}, or use --judge-backend",
        )
    return configured, settings.model


def _is_model(name: str) -> bool:
    """Whether it can be an argument and part of a file name: one word, no option of a program."""
    return (
        0 < len(name) <= _MODEL
        and name.isprintable()
        and not name.startswith("-")
        and not any(char.isspace() for char in name)
    )


def _backend(
    name: str, model: str | None, settings: JudgeSettings, environ: Mapping[str, str]
) -> Backend | NoAnswer:
    base_url = settings.base_url if name == settings.backend else None
    if name == "claude":
        from flow.adapters.judges.claude import Claude

        return Claude(model, base_url, environ)
    if name == "command":
        if not settings.command:
            return _none(name, f"{_KEY}.command is not set: name the program in {_OWN_FILE}")
        from flow.adapters.judges.command import CommandJudge

        return CommandJudge(settings.command, model, environ)
    if model is None:
        return _none(name, f"no model is named: set {_KEY}.model, or write {name}:MODEL")
    if name == "anthropic":
        from flow.adapters.judges.anthropic import Anthropic

        return Anthropic(model, base_url, environ)
    from flow.adapters.judges.openai import OpenAI

    return OpenAI(model, base_url, environ)


def _none(backend: str, reason: str) -> NoAnswer:
    return NoAnswer("not_configured", reason, Usage(backend, attempts=0))
