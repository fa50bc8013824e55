"""The settings of SPEC 8: every key, its default, its type, and how files are merged.

Values only. :mod:`flow.adapters.user_state.settings` reads the files and passes them as
:class:`Layer` objects, the one that wins first. The table of keys is ``setting_keys``.
"""

from __future__ import annotations

from flow.core.setting_keys import (
    CANARY,
    DENIED,
    ENABLED,
    GOAL_SETTINGS,
    KEYS,
    SECTIONS,
    STOP_HOOK,
    STRICTNESS,
    near_keys,
)
from flow.core.setting_values import loosens, shown_value, usable_value, value_faults
from flow.errors import ContractError, Fault, in_file
from flow.startup import json
from flow.startup.json import canonical
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flow.core.setting_keys import Backend, OnStuck, StopHookEnforcement

DEFAULT = "default"
"""The origin of a value that no file sets."""

HOOK_LIMIT = 320
"""Seconds. ``hooks.json`` allows the Stop hook 330; a hook that is ended lets the agent stop."""

_UNKNOWN_SHOWN = 20

WHEN_IT_BEGAN = "when the goal began"
"""The origin of a value that was pinned at activation."""
IMPLIED = f"{STOP_HOOK}, which asks for the hook"
"""The origin of ``enabled`` if none of the user's files sets it."""
OWN_FILE = "your own ~/.claude/settings.flow.json"


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
    """The agreement with people that a calibrated judge must reach; None: not required."""
    canary: bool = False
    """Whether each judge is also asked without evidence, and not believed if it says achieved."""
    changed_files: bool = True
    """Whether the files that were changed are sent for a criterion that names no evidence."""


class Settings(NamedTuple):
    """All settings with the defaults of this version. Times are seconds, sizes bytes."""

    enabled: bool = True
    stop_hook_enforcement: StopHookEnforcement = "warn"
    fail_after_stuck_turns: int = 3
    on_stuck: OnStuck = "fail"
    execute_verification_commands: bool = False
    agent_may_name_trust: bool = False
    """Whether ``--trust-digest`` is accepted from an agent's shell."""
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
    """One settings file. ``own`` is True only for the user's own file.

    ``here``: the part of it for this checkout alone (``flow.checkouts``); it comes first.
    """

    file: str
    document: Any
    own: bool
    here: bool = False


class LoadedSettings(NamedTuple):
    """The settings in force. ``origins`` has the file (or ``default``) behind each key."""

    settings: Settings
    origins: dict[str, str]
    warnings: tuple[str, ...]
    overruled: tuple[str, ...] = ()
    """Warnings about values in a checkout's files that are not obeyed."""
    pins: Mapping[str, str] = {}
    """The values that a goal pins when it begins: each as JSON, by its key."""
    unknown: tuple[str, ...] = ()
    """Warnings about keys that are no settings: a check that is misspelt is none."""

    @property
    def ignored(self) -> tuple[str, ...]:
        """The warnings of an evaluation: keys and values that are not obeyed."""
        return (*self.unknown, *self.overruled)


class ConfigRow(NamedTuple):
    """One line of ``flow config list``; ``value`` is what the settings file would hold."""

    key: str
    value: Any
    origin: str


def merge_layers(
    layers: Sequence[Layer],
    faults: Sequence[Fault] = (),
    *,
    lenient: bool = False,
    pinned: Mapping[str, str] | None = None,
) -> LoadedSettings:
    """The settings of ``layers``, the one that wins first; each key by its rule (SPEC 17.2).

    ``faults`` are those already found while reading the files. Raises :class:`ContractError` with
    every fault of every file at once. A value that a checkout's files may not set is left out, with
    a warning. ``pinned`` has the values that a goal pinned when it began (``LoadedSettings.pins``).
    ``lenient`` leaves faulty values out; the strictest value of all files and the default then
    decides whether the Stop hook checks.
    """
    problems, unknown, warnings = list(faults), list[str](), list[str]()
    per_layer = [(layer, _read_layer(layer, problems, unknown, warnings)) for layer in layers]
    if problems and not lenient:
        raise ContractError(problems)
    sources = _SettingSources(per_layer, _pinned_values(pinned))
    values: dict[str, Any] = {}
    origins = dict.fromkeys(KEYS, DEFAULT)
    for name, key in KEYS.items():
        decide = _RULES.get(key.rule, _first_value)
        chosen = decide(name, sources)
        if chosen is not None:
            origins[name], values[name] = chosen
    if lenient:
        for name in (ENABLED, STOP_HOOK, CANARY):
            default = _get_field(Settings(), KEYS[name].field)
            given = [document[name] for _, document in per_layer if name in document]
            known = [values[name]] if name in values else []
            values[name] = max([default, *given, *known], key=STRICTNESS[name])
    settings = _build_settings(values)
    if settings.hook_timeout_seconds > HOOK_LIMIT:
        key_name = f"{GOAL_SETTINGS}.hookTimeoutSeconds"
        warnings.append(
            f"{origins[key_name]}: {key_name}: {settings.hook_timeout_seconds:g} is more than "
            f"{HOOK_LIMIT}: hooks.json ends the hook after 330 s, and an ended hook lets the agent "
            "stop"
        )
    overruled, pins = tuple(sources.overruled), sources.pins()
    every = (*unknown, *warnings, *overruled)
    return LoadedSettings(settings, origins, every, overruled, pins, tuple(unknown))


class SourcedValue(NamedTuple):
    """The value of a key, and the file (or moment) that it comes from."""

    source: str
    value: Any


class _SettingSources:
    """The values of three sources: the user, the checkout, and the checkout when a goal began.

    ``overruled`` collects the checkout's values that are not obeyed.
    """

    def __init__(
        self, per_layer: Sequence[tuple[Layer, Mapping[str, Any]]], pinned: Mapping[str, Any] | None
    ) -> None:
        self.per_layer = per_layer
        self.pinned = pinned
        self.overruled: list[str] = []

    def all(
        self, name: str, counts: Callable[[Layer], bool] = lambda _: True
    ) -> list[SourcedValue]:
        """The key's values in the files that ``counts`` accepts, the one that wins first."""
        return [
            SourcedValue(layer.file, values[name])
            for layer, values in self.per_layer
            if name in values and counts(layer)
        ]

    def first(
        self, name: str, counts: Callable[[Layer], bool] = lambda _: True
    ) -> SourcedValue | None:
        """The first one of :meth:`all`; None if there is none."""
        return next(iter(self.all(name, counts)), None)

    def here(self, name: str) -> SourcedValue | None:
        """The user's value for this checkout alone; None if there is none."""
        return self.first(name, lambda layer: layer.here)

    def own(self, name: str) -> SourcedValue | None:
        """The user's value; one that asks for the Stop hook also turns ``enabled`` on."""
        value = self.first(name, lambda layer: layer.own)
        hook = self.own(STOP_HOOK) if value is None and name == ENABLED else None
        if hook is not None and hook.value != "off":
            return SourcedValue(IMPLIED, True)
        return value

    def checkout(self, name: str) -> SourcedValue | None:
        """The value in the checkout's files now; None if there is none."""
        return self.first(name, lambda layer: not layer.own)

    def at_start(self, name: str) -> SourcedValue | None:
        """The checkout's value when the goal began; None if nothing was pinned."""
        if self.pinned is None:
            return None
        if name in self.pinned:
            return SourcedValue(WHEN_IT_BEGAN, self.pinned[name])
        if name == ENABLED and self.pinned.get(STOP_HOOK, "off") != "off":
            return SourcedValue(WHEN_IT_BEGAN, True)
        return None

    def overrule(self, name: str, given: SourcedValue, why: str) -> None:
        """Note that a value does not count."""
        self.overruled.append(f"{given.source}: {name}: {shown_value(given.value)} {why}")

    def pins(self) -> dict[str, str]:
        """The values that a goal beginning now pins, as JSON."""
        pinned = {DENIED: json.dumps(_union_of_denied(DENIED, self, quiet=True).value)}
        for name, key in KEYS.items():
            now = self.checkout(name) if key.rule in ("pinned", "stricter") else None
            if now is not None:
                pinned[name] = json.dumps(now.value)
        return pinned


def _first_value(name: str, sources: _SettingSources) -> SourcedValue | None:
    """The value of the first file that has the key."""
    return sources.first(name)


def _stricter(name: str, sources: _SettingSources) -> SourcedValue | None:
    """The strictest of three values: the user's, the checkout's now and at the goal's start.

    The user's value for this checkout alone overrides them all.
    """
    here, own = sources.here(name), sources.own(name)
    now, then = sources.checkout(name), sources.at_start(name)
    strictness = STRICTNESS[name]
    known = [given for given in (own, then, now) if given is not None]
    chosen = here or max(known, key=lambda given: strictness(given.value), default=None)
    if chosen is not None and chosen.source == IMPLIED and known == [chosen]:
        return None  # it is the default
    if chosen is None or now is None or strictness(now.value) >= strictness(chosen.value):
        return chosen
    whose = WHEN_IT_BEGAN if chosen == then else f"in {OWN_FILE}"
    sources.overrule(
        name,
        now,
        f"is laxer than {shown_value(chosen.value)} {whose} and is not obeyed "
        "(for this checkout alone: flow.checkouts in your own file)",
    )
    return chosen


def _as_it_began(name: str, sources: _SettingSources) -> SourcedValue | None:
    """The user's value for this checkout, else the one pinned at the start, else the user's."""
    if sources.pinned is None:
        return sources.here(name) or _first_value(name, sources)
    now, then = sources.checkout(name), sources.at_start(name)
    if now is not None and (then is None or then.value != now.value):
        before = shown_value(then.value) if then is not None else "not set"
        sources.overrule(
            name, now, f"does not count for this goal: it was {before} {WHEN_IT_BEGAN}"
        )
    return sources.here(name) or then or sources.own(name)


def _union_of_denied(name: str, sources: _SettingSources, *, quiet: bool = False) -> SourcedValue:
    """Paths that any file denies, and those that were denied when the goal began."""
    files, patterns = [], dict[str, None]()
    for given in sources.all(name):
        files.append(given.source)
        patterns.update(dict.fromkeys(given.value))
    then = sources.at_start(name)
    gone = [pattern for pattern in then.value if pattern not in patterns] if then else []
    if gone and not quiet:
        sources.overruled.append(
            f"{name}: {', '.join(map(shown_value, gone[:5]))} stays denied: it was {WHEN_IT_BEGAN}"
        )
        files.append(WHEN_IT_BEGAN)
    return SourcedValue(", ".join(files) or DEFAULT, [*patterns, *gone])


_RULES: Mapping[str, Callable[[str, _SettingSources], SourcedValue | None]] = {
    "stricter": _stricter,
    "pinned": _as_it_began,
    "union": _union_of_denied,
}


def strictest_pins(pins: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The pins of several goals as one: the strictest value of each key, all denied paths."""
    strictest: dict[str, str] = {}
    for each in pins:
        for name, text in each.items():
            strictest.setdefault(name, text)
            if strictest[name] != text:
                strictest[name] = _stricter_text(name, strictest[name], text)
    return strictest


def _stricter_text(name: str, one: str, other: str) -> str:
    known, more = _pinned_values({name: one}), _pinned_values({name: other})
    if not known or not more:
        return one if known else other
    if name == DENIED:
        return json.dumps(list(dict.fromkeys((*known[name], *more[name]))))
    strictness = STRICTNESS.get(name)
    if strictness is None:
        return one
    return one if strictness(known[name]) >= strictness(more[name]) else other


def _pinned_values(pinned: Mapping[str, str] | None) -> dict[str, Any] | None:
    """The values of pins; a value that fits no key is left out. None: nothing was pinned."""
    if not pinned:
        return None
    values = {}
    for name, text in pinned.items():
        try:
            value = json.loads(text)
        except ValueError:
            continue
        if name in KEYS and KEYS[name].kind.fits(value):
            values[name] = value
    return values


def only_tightens(before: Any, after: Any, own: Mapping[str, Any]) -> bool:
    """Whether a checkout's settings file ``after`` differs from ``before`` only by stricter values.

    ``before`` is None if there was no file; ``own`` has the user's own value of each key.
    """
    faults: list[Fault] = []
    was, now = (
        dict(_layer_values(Layer("", document, own=False), faults))
        for document in ({} if before is None else before, after)
    )
    defaults = Settings()
    for name in {*was, *now}:
        key = KEYS.get(name)
        if name in was and name in now and canonical(was[name]) == canonical(now[name]):
            continue  # 1 and true are two values
        if key is None or name not in now or not key.kind.fits(now[name]):
            return False
        if key.rule not in ("stricter", "union"):
            return False
        known = [own[name], _plain_value(_get_field(defaults, key.field)), was.get(name)]
        if key.rule == "union":
            known = [was.get(name, [])]
        if any(loosens(key, value, now[name]) for value in known if value is not None):
            return False
    return not faults


def config_rows(loaded: LoadedSettings) -> tuple[ConfigRow, ...]:
    """Every key with its value and origin, in the order of SPEC 8."""
    return tuple(
        ConfigRow(name, _plain_value(_get_field(loaded.settings, key.field)), loaded.origins[name])
        for name, key in KEYS.items()
    )


def _read_layer(
    layer: Layer, faults: list[Fault], unknown: list[str], warnings: list[str]
) -> dict[str, Any]:
    """The layer's usable values by dotted key; the rest goes to one of the lists."""
    usable: dict[str, Any] = {}
    count = 0
    for name, value in _layer_values(layer, faults):
        key = KEYS.get(name)
        if key is None:
            count += 1
            if count <= _UNKNOWN_SHOWN:  # looking for near names takes time; files are hostile
                unknown.append(_unknown(layer.file, name))
        elif key.own_only and not layer.own:
            warnings.append(f"{layer.file}: {name}: ignored, since only {OWN_FILE} may set it")
        elif problems := value_faults(key, value, layer.file):
            faults += problems
            if name == DENIED and key.kind.fits(value):
                usable[name] = value
        else:
            usable[name] = usable_value(key, value)
    if count > _UNKNOWN_SHOWN:
        more = count - _UNKNOWN_SHOWN
        unknown.append(f"{layer.file}: {more} more unknown settings, ignored")
    return usable


def _layer_values(layer: Layer, faults: list[Fault]) -> Iterator[tuple[str, Any]]:
    """(dotted key, value) of everything in the file that is not one of the known sections."""
    queue: list[tuple[str, Any]] = [("", layer.document)]
    for prefix, section in queue:  # grows while it is walked; there are five sections at most
        if not isinstance(section, dict):
            faults.append(
                in_file(layer.file, prefix or None, shown_value(section)).fault(
                    f"{shown_value(section)} is not an object",
                    'write it as {"flow": {"goals": {"jobs": 4}}}',
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
    near = near_keys(name.removesuffix(" (written with dots)"))
    hint = f"; did you mean {near[0]}, nested?" if near and "dots" in name else ""
    hint = hint or (f"; did you mean {near[0]}?" if near else "")
    shown = name if name.isprintable() and len(name) <= 200 else shown_value(name)
    return f"{file}: {shown}: unknown setting, ignored{hint}"


def _build_settings(values: Mapping[str, Any]) -> Settings:
    top: dict[str, Any] = {}
    judge: dict[str, Any] = {}
    for name, value in values.items():
        section, _, field = KEYS[name].field.rpartition(".")
        (judge if section else top)[field] = tuple(value) if isinstance(value, list) else value
    return Settings(**top, judge=JudgeSettings(**judge))


def _get_field(settings: Settings, field: str) -> Any:
    value: Any = settings
    for part in field.split("."):
        value = getattr(value, part)
    return value


def _plain_value(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
