"""The settings of SPEC section 8: every key, its default, its type, and how files are merged.

Values only. ``flow.adapters.settings`` reads the files and hands them over as :class:`Layer`
objects, the one that wins first. The table of keys is ``setting_keys``.
"""

from __future__ import annotations

from flow.cheap_typing import TYPE_CHECKING, Any, NamedTuple
from flow.core.setting_keys import DENIED, ENFORCEMENT, FOLDERS, GOALS, KEYS, SECTIONS
from flow.errors import ContractError, Fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flow.core.setting_keys import Backend, OnStuck, StopHookEnforcement

DEFAULT = "default"
"""The origin of a value that no file sets."""

HOOK_LIMIT = 320
"""Seconds. ``hooks.json`` allows the Stop hook 330; a hook that is ended lets the agent stop."""

_UNKNOWN_SHOWN = 20

_STRICTNESS: Mapping[str, tuple[Any, ...]] = {
    f"{GOALS}.enabled": (False, True),
    f"{GOALS}.stopHookEnforcement": ENFORCEMENT,
    f"{GOALS}.judge.canary": (False, True),
}
"""What turns the Stop hook's check on, and its values, the laxest first."""


class JudgeSettings(NamedTuple):
    """``flow.goals.judge``: which judge is asked, and within which limits."""

    backend: Backend | None = None
    command: tuple[str, ...] | None = None
    base_url: str | None = None
    model: str | None = None
    timeout_seconds: float = 120
    samples: int = 1
    max_cost_usd: float | None = None
    """For one evaluation, in US dollars; None: no limit."""
    min_kappa: float | None = None
    """The agreement with people that a calibrated judge must reach; None: not asked for."""
    canary: bool = False
    """Whether each judge is also asked without evidence, and not believed if it says achieved."""


class Settings(NamedTuple):
    """All settings with the defaults of this version. Times are seconds, sizes bytes."""

    enabled: bool = True
    stop_hook_enforcement: StopHookEnforcement = "warn"
    fail_after_stuck_turns: int = 3
    on_stuck: OnStuck = "fail"
    execute_verification_commands: bool = False
    agent_may_name_trust: bool = False
    """Whether an agent's shell may say which contract is meant (``--trust-digest``)."""
    jobs: int = 1
    command_timeout_seconds: float = 600
    hook_timeout_seconds: float = 300
    output_limit_bytes: int = 10 << 20
    denied_paths: tuple[str, ...] = ()
    judge: JudgeSettings = JudgeSettings()
    journal_dir: str = ".decisions"
    scores_dir: str = ".flow/scores"
    reports_dir: str = ".specs/reports"
    auto_judge: bool = False


class Layer(NamedTuple):
    """One settings file. ``own`` is True only for the user's own file."""

    file: str
    document: Any
    own: bool


class LoadedSettings(NamedTuple):
    """The settings in force. ``origins`` has the file (or ``default``) behind each key."""

    settings: Settings
    origins: dict[str, str]
    warnings: tuple[str, ...]


class ConfigRow(NamedTuple):
    """One line of ``flow config list``; ``value`` is what the settings file would hold."""

    key: str
    value: Any
    origin: str


def merge(
    layers: Sequence[Layer], faults: Sequence[Fault] = (), *, lenient: bool = False
) -> LoadedSettings:
    """The settings of ``layers``, the first one that has a key wins; ``denied_paths`` adds up.

    ``faults`` are those already found while reading the files. Raises :class:`ContractError` with
    every fault of every file at once. What only the user's own file may set (SPEC section 8) is
    left out of the others, with a warning. ``lenient`` does without what is wrong; then the
    strictest value that any file or the default has decides whether the Stop hook checks.
    """
    found, warnings = list(faults), list[str]()
    per_layer = [(layer, _read(layer, found, warnings)) for layer in layers]
    if found and not lenient:
        raise ContractError(found)
    values: dict[str, Any] = {}
    origins = dict.fromkeys(KEYS, DEFAULT)
    denied: dict[str, None] = {}
    denied_from: list[str] = []
    for layer, document in per_layer:
        for name, value in document.items():
            if name == DENIED:
                denied.update(dict.fromkeys(value))
                denied_from.append(layer.file)
            elif name not in values:
                values[name] = value
                origins[name] = layer.file
    if denied_from:
        values[DENIED] = list(denied)
        origins[DENIED] = ", ".join(denied_from)
    if lenient:
        for name, order in _STRICTNESS.items():
            default = _get(Settings(), KEYS[name].field)
            said = [document[name] for _, document in per_layer if name in document]
            values[name] = max([default, *said], key=order.index)
    warnings += _loosened(per_layer, values, origins)
    settings = _build(values)
    if settings.hook_timeout_seconds > HOOK_LIMIT:
        key = f"{GOALS}.hookTimeoutSeconds"
        warnings.append(
            f"{origins[key]}: {key}: {settings.hook_timeout_seconds:g} is more than {HOOK_LIMIT}: "
            "hooks.json ends the hook after 330 s, and an ended hook lets the agent stop"
        )
    return LoadedSettings(settings, origins, tuple(warnings))


def config_rows(loaded: LoadedSettings) -> tuple[ConfigRow, ...]:
    """Every key with its value and where it comes from, in the order of SPEC section 8."""
    return tuple(
        ConfigRow(name, _plain(_get(loaded.settings, key.field)), loaded.origins[name])
        for name, key in KEYS.items()
    )


def _read(layer: Layer, faults: list[Fault], warnings: list[str]) -> dict[str, Any]:
    """The layer's usable values by dotted key; the rest goes to ``faults`` and ``warnings``."""
    usable: dict[str, Any] = {}
    unknown = 0
    for name, value in _leaves(layer, faults):
        key = KEYS.get(name)
        if key is None:
            unknown += 1
            if unknown <= _UNKNOWN_SHOWN:  # looking for near names takes time; files are hostile
                warnings.append(_unknown(layer.file, name))
        elif key.own_only and not layer.own:
            warnings.append(
                f"{layer.file}: {name}: ignored, since only your own "
                "~/.claude/settings.flow.json may set it"
            )
        elif not key.fits(value):
            faults.append(
                Fault(
                    f"{_show(value)} is not {key.expected}",
                    file=layer.file,
                    key=name,
                    value=_show(value),
                    remedy="correct the value, or remove the key to use the default",
                )
            )
        elif name == DENIED:
            from flow.core.boundary import check_patterns

            faults += check_patterns(value, name, file=layer.file)
            usable[name] = value
        else:
            usable[name] = value.removesuffix("/") if name in FOLDERS else value
    if unknown > _UNKNOWN_SHOWN:
        more = unknown - _UNKNOWN_SHOWN
        warnings.append(f"{layer.file}: {more} more unknown settings, ignored")
    return usable


def _leaves(layer: Layer, faults: list[Fault]) -> Iterator[tuple[str, Any]]:
    """(dotted key, value) of everything in the file that is not one of the known sections."""
    queue: list[tuple[str, Any]] = [("", layer.document)]
    for prefix, section in queue:  # grows while it is walked; there are five sections at most
        if not isinstance(section, dict):
            faults.append(
                Fault(
                    f"{_show(section)} is not an object",
                    file=layer.file,
                    key=prefix or None,
                    value=_show(section),
                    remedy='write it as {"flow": {"goals": {"jobs": 4}}}',
                )
            )
            continue
        for part, value in section.items():
            name = f"{prefix}.{part}" if prefix else part
            if name in SECTIONS and "." not in part:
                queue.append((name, value))
            elif "." in part and name in KEYS:
                yield f"{name} (written with dots)", value
            elif name != "$schema":  # an editor's own key
                yield name, value


def _unknown(file: str, name: str) -> str:
    from difflib import get_close_matches

    last = name.removesuffix(" (written with dots)").rpartition(".")[2]
    same = [known for known in KEYS if known.rpartition(".")[2].lower() == last.lower()]
    near = same or get_close_matches(name[:100], KEYS, n=1, cutoff=0.75)
    if not near:
        ends = {known.rpartition(".")[2]: known for known in KEYS}
        near = [ends[end] for end in get_close_matches(last[:100], ends, n=1, cutoff=0.75)]
    hint = f"; did you mean {near[0]}, nested?" if near and "dots" in name else ""
    hint = hint or (f"; did you mean {near[0]}?" if near else "")
    shown = name if name.isprintable() and len(name) <= 200 else _show(name)
    return f"{file}: {shown}: unknown setting, ignored{hint}"


def _loosened(
    layers: Sequence[tuple[Layer, Mapping[str, Any]]],
    values: Mapping[str, Any],
    origins: Mapping[str, str],
) -> list[str]:
    """Where a checkout makes Flow laxer than the user's own file: never in silence."""
    own = next((document for layer, document in layers if layer.own), {})
    warnings = []
    for name, order in _STRICTNESS.items():
        if name in own and order.index(values[name]) < order.index(own[name]):
            warnings.append(
                f"{origins[name]}: {name}: {_show(values[name])} is laxer than "
                f"{_show(own[name])} in your own ~/.claude/settings.flow.json"
            )
    name = f"{GOALS}.judge.minKappa"
    if name in own and values[name] < own[name]:
        warnings.append(
            f"{origins[name]}: {name}: {_show(values[name])} is laxer than "
            f"{_show(own[name])} in your own ~/.claude/settings.flow.json"
        )
    return warnings


def _build(values: Mapping[str, Any]) -> Settings:
    top: dict[str, Any] = {}
    judge: dict[str, Any] = {}
    for name, value in values.items():
        section, _, field = KEYS[name].field.rpartition(".")
        (judge if section else top)[field] = tuple(value) if isinstance(value, list) else value
    return Settings(**top, judge=JudgeSettings(**judge))


def _get(settings: Settings, field: str) -> Any:
    value: Any = settings
    for part in field.split("."):
        value = getattr(value, part)
    return value


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _show(value: Any) -> str:
    """The value as JSON, short and safe for a terminal."""
    import json

    text = json.dumps(value, ensure_ascii=True)  # which is printable, DEL included
    return text if len(text) <= 80 else text[:79] + "…"
