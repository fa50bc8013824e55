"""The table of SPEC 8's settings: every key, what it may hold, and who may set it."""

from __future__ import annotations

import re

from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from collections.abc import Callable

StopHookEnforcement = Literal["off", "warn", "block", "evaluator-loop"]
OnStuck = Literal["fail", "propose"]
Rule = Literal["own", "stricter", "pinned", "union", "first"]
Backend = Literal["claude", "anthropic", "openai", "command"]

ENFORCEMENT: tuple[StopHookEnforcement, ...] = get_args(StopHookEnforcement)
"""The values of ``stopHookEnforcement``, the laxest first."""

_WEEK = 7 * 24 * 3600


class Key(NamedTuple):
    """One setting. ``field`` is its place in ``Settings``; ``expected`` says what ``fits`` asks.

    ``rule`` is what a checkout's files may do (SPEC 17.2): ``own`` nothing; ``stricter``
    only tighten what the user says; ``pinned`` what they did when the goal began; ``union`` add;
    ``first`` set it.
    """

    name: str
    field: str
    expected: str
    fits: Callable[[Any], bool]
    rule: Rule = "first"

    @property
    def own_only(self) -> bool:
        """Whether only the user's own file may set it."""
        return self.rule == "own"


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _one_of(*names: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in names


def _whole_number(least: int, most: int) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

    return fits


def _any_number(most: float, *, zero: bool = False) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        if type(value) not in (int, float):
            return False
        return bool((0 if zero else 0.001) <= value <= most)  # NaN is in no range

    return fits


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def _is_command(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return _is_text(value[0]) and all(isinstance(p, str) and "\0" not in p for p in value)


def _is_url(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"https?://[!-~]{1,2000}", value))


def _is_folder(value: Any) -> bool:
    """Below the top level, written plainly, and not inside git's own folder."""
    if not _is_text(value) or "\\" in value or len(value) > 1000:
        return False
    parts = value.removesuffix("/").split("/")
    return all(part not in ("", ".", "..") and part.lower() != ".git" for part in parts)


def _is_patterns(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(pattern, str) for pattern in value)


_FOLDER = "a folder below the top level, relative, without '..' and '.git'"
GOALS, _J = "flow.goals", "flow.goals.judge"
KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        Key(f"{GOALS}.enabled", "enabled", "true or false", _is_bool, rule="stricter"),
        Key(
            f"{GOALS}.stopHookEnforcement",
            "stop_hook_enforcement",
            "one of off, warn, block, evaluator-loop",
            _one_of(*ENFORCEMENT),
            rule="stricter",
        ),
        Key(
            f"{GOALS}.failAfterStuckTurns",
            "fail_after_stuck_turns",
            "a whole number from 1 to 1000",
            _whole_number(1, 1000),
            rule="pinned",
        ),
        Key(
            f"{GOALS}.onStuck",
            "on_stuck",
            "one of fail, propose",
            _one_of("fail", "propose"),
            rule="pinned",
        ),
        Key(
            f"{GOALS}.executeVerificationCommands",
            "execute_verification_commands",
            "true or false",
            _is_bool,
            rule="own",
        ),
        Key(
            f"{GOALS}.agentMayNameTrust",
            "agent_may_name_trust",
            "true or false",
            _is_bool,
            rule="own",
        ),
        Key(
            f"{GOALS}.jobs",
            "jobs",
            "a whole number from 1 to 256",
            _whole_number(1, 256),
            rule="pinned",
        ),
        Key(
            f"{GOALS}.commandTimeoutSeconds",
            "command_timeout_seconds",
            f"a positive number of seconds, at most {_WEEK}",
            _any_number(_WEEK),
            rule="pinned",
        ),
        Key(
            f"{GOALS}.hookTimeoutSeconds",
            "hook_timeout_seconds",
            f"a positive number of seconds, at most {_WEEK}",
            _any_number(_WEEK),
            rule="pinned",
        ),
        Key(
            f"{GOALS}.outputLimitBytes",
            "output_limit_bytes",
            f"a whole number of bytes from 1 to {1 << 30}",
            _whole_number(1, 1 << 30),
            rule="pinned",
        ),
        Key(
            f"{GOALS}.denied_paths",
            "denied_paths",
            "a list of path patterns",
            _is_patterns,
            rule="union",
        ),
        Key(
            f"{_J}.backend",
            "judge.backend",
            "one of claude, anthropic, openai, command",
            _one_of("claude", "anthropic", "openai", "command"),
            rule="own",
        ),
        Key(
            f"{_J}.command",
            "judge.command",
            "a list of arguments, the program first",
            _is_command,
            rule="own",
        ),
        Key(
            f"{_J}.baseUrl",
            "judge.base_url",
            "an address that starts with https:// or http://",
            _is_url,
            rule="own",
        ),
        Key(f"{_J}.model", "judge.model", "a model's name", _is_text, rule="own"),
        Key(
            f"{_J}.timeoutSeconds",
            "judge.timeout_seconds",
            "a positive number of seconds, at most 3600",
            _any_number(3600),
            rule="pinned",
        ),
        Key(
            f"{_J}.samples",
            "judge.samples",
            "a whole number from 1 to 25",
            _whole_number(1, 25),
            rule="own",
        ),
        Key(
            f"{_J}.maxCostUsd",
            "judge.max_cost_usd",
            "a number of US dollars from 0 to 10000",
            _any_number(10_000, zero=True),
            rule="stricter",
        ),
        Key(
            f"{_J}.minKappa",
            "judge.min_kappa",
            "a number from 0 to 1",
            _any_number(1, zero=True),
            rule="stricter",
        ),
        Key(f"{_J}.changedFiles", "judge.changed_files", "true or false", _is_bool, rule="own"),
        Key(f"{_J}.canary", "judge.canary", "true or false", _is_bool, rule="stricter"),
        Key("journal.dir", "journal_dir", _FOLDER, _is_folder, rule="pinned"),
        Key("judge.scoresDir", "scores_dir", _FOLDER, _is_folder),
        Key("judge.reportsDir", "reports_dir", _FOLDER, _is_folder),
        Key("judge.autoJudge", "auto_judge", "true or false", _is_bool, rule="stricter"),
    )
}
SECTIONS = ("flow", "flow.goals", "flow.goals.judge", "journal", "judge")
FOLDERS = ("journal.dir", "judge.scoresDir", "judge.reportsDir")
DENIED = "flow.goals.denied_paths"
ENABLED, STOP_HOOK = f"{GOALS}.enabled", f"{GOALS}.stopHookEnforcement"
STRICTNESS: dict[str, Callable[[Any], float]] = {
    ENABLED: float,
    STOP_HOOK: ENFORCEMENT.index,
    f"{_J}.minKappa": float,
    f"{_J}.canary": float,
    f"{_J}.maxCostUsd": lambda dollars: -dollars,
    "judge.autoJudge": lambda on: not on,  # it sends data and spends money
}
"""How strict a value is, for each key of the rule ``stricter``: more is stricter."""
NAMES: tuple[str, ...] = tuple(KEYS)
"""Every key, in the order of SPEC 8."""
