"""The table of SPEC 8's settings: every key, its values, and who may set it."""

from __future__ import annotations

from flow.core.layout import GOALS, RUBRICS, RUNS
from flow.startup import re
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from collections.abc import Callable

StopHookEnforcement = Literal["off", "warn", "block", "evaluator-loop"]
OnStuck = Literal["fail", "propose"]
Rule = Literal["own", "stricter", "pinned", "union", "first"]
Backend = Literal["claude", "anthropic", "openai", "command"]

ENFORCEMENT: tuple[StopHookEnforcement, ...] = get_args(StopHookEnforcement)
"""The values of ``stopHookEnforcement``, the laxest first."""

WEEK = 7 * 24 * 3600
"""Seconds of the longest time limit."""
MOST_JOBS = 256
"""Most commands that run at once."""


class ValueKind(NamedTuple):
    """The values that a key may hold: in words, and as a check."""

    expected: str
    fits: Callable[[Any], bool]


class Key(NamedTuple):
    """One setting. ``field`` is its place in ``Settings``, which has its default.

    ``rule`` says what a checkout's files may do (SPEC 17.2): ``own`` nothing; ``stricter`` only
    tighten the user's value; ``pinned`` keep the value of the goal's start; ``union`` add to it;
    ``first`` set it. ``strictness`` belongs to ``stricter``: a higher number is stricter. ``about``
    is its line in the docs; ``not_a_switch`` says what stays on with false, if the name promises
    that nothing does.
    """

    name: str
    field: str
    kind: ValueKind
    about: str
    rule: Rule = "first"
    strictness: Callable[[Any], float] | None = None
    not_a_switch: str = ""

    @property
    def own_only(self) -> bool:
        """Whether only the user's own file may set it."""
        return self.rule == "own"


def _one_of(names: tuple[str, ...]) -> ValueKind:
    return ValueKind(
        f"one of {', '.join(names)}", lambda value: isinstance(value, str) and value in names
    )


def _whole_number(most: int, what: str = "a whole number") -> ValueKind:
    def fits(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most

    return ValueKind(f"{what} from 1 to {most}", fits)


def _any_number(expected: str, least: float, most: float) -> ValueKind:
    def fits(value: Any) -> bool:
        return type(value) in (int, float) and bool(least <= value <= most)  # NaN is in no range

    return ValueKind(expected, fits)


def _seconds(most: int) -> ValueKind:
    return _any_number(f"a positive number of seconds, at most {most}", 0.001, most)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def _is_command(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return _is_text(value[0]) and all(isinstance(p, str) and "\0" not in p for p in value)


def _is_url(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"https?://[!-~]{1,2000}", value))


def _is_folder(value: Any) -> bool:
    """Below the top level, written plainly, in no folder that git or Flow keeps for other files."""
    if not _is_text(value) or "\\" in value or len(value) > 1000:
        return False
    parts = value.lower().removesuffix("/").split("/")
    taken = "/".join(parts[:2]) in (GOALS, RUNS, RUBRICS)
    return not taken and not {"", ".", "..", ".git"}.intersection(parts)


def _is_patterns(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(pattern, str) for pattern in value)


_BOOL = ValueKind("true or false", lambda value: isinstance(value, bool))
_MODEL = ValueKind("a model's name", _is_text)
_COMMAND = ValueKind('a list of arguments, the program first: ["judge", "--json"]', _is_command)
_URL = ValueKind("an address that starts with https:// or http://", _is_url)
_PATTERNS = ValueKind('a list of path patterns: ["*.key"]', _is_patterns)
_FOLDER = ValueKind(
    "a folder below the top level, relative, without '..' and '.git', "
    f"outside {GOALS}, {RUNS} and {RUBRICS}",
    _is_folder,
)
_BYTES = _whole_number(1 << 30, "a whole number of bytes")
_DOLLARS = _any_number("a number of US dollars from 0 to 10000", 0, 10_000)
_SHARE = _any_number("a number from 0 to 1", 0, 1)

GOAL_SETTINGS, _JUDGE = "flow.goals", "flow.goals.judge"
DENIED, ENABLED = f"{GOAL_SETTINGS}.denied_paths", f"{GOAL_SETTINGS}.enabled"
STOP_HOOK, CANARY = f"{GOAL_SETTINGS}.stopHookEnforcement", f"{_JUDGE}.canary"
SECTIONS = ("flow", GOAL_SETTINGS, _JUDGE, "journal", "judge")

_TABLE = (
    Key(
        ENABLED,
        "enabled",
        _BOOL,
        "false: the Stop hook lets every stop go. Commands that are typed still work.",
        "stricter",
        float,
        not_a_switch="false quiets the Stop hook; commands that are typed work all the same",
    ),
    Key(
        STOP_HOOK,
        "stop_hook_enforcement",
        _one_of(ENFORCEMENT),
        "What happens when the agent stops and the goal is not done: nothing, you are told, it "
        "goes on until the commands pass, or until a judge agrees, too.",
        "stricter",
        ENFORCEMENT.index,
    ),
    Key(
        f"{GOAL_SETTINGS}.failAfterStuckTurns",
        "fail_after_stuck_turns",
        _whole_number(1000),
        "In `evaluator-loop`: stops in a row with the same criteria passed, after which the goal "
        "counts as stuck.",
        "pinned",
    ),
    Key(
        f"{GOAL_SETTINGS}.onStuck",
        "on_stuck",
        _one_of(get_args(OnStuck)),
        "What then happens: the goal is closed as failed, or that is only proposed.",
        "pinned",
    ),
    Key(
        f"{GOAL_SETTINGS}.executeVerificationCommands",
        "execute_verification_commands",
        _BOOL,
        "true: the commands of every goal file run, also of one that somebody else wrote and you "
        "never trusted. false turns nothing off: the commands of goals that you trust always run.",
        "own",
        not_a_switch="commands of goals that you trust run all the same; true also runs those of "
        "goals that you do not",
    ),
    Key(
        f"{GOAL_SETTINGS}.agentMayNameTrust",
        "agent_may_name_trust",
        _BOOL,
        "true: an agent's shell, too, may say by `--trust-digest` which contract is meant.",
        "own",
    ),
    Key(
        f"{GOAL_SETTINGS}.jobs",
        "jobs",
        _whole_number(MOST_JOBS),
        "How many commands run at once.",
        "pinned",
    ),
    Key(
        f"{GOAL_SETTINGS}.commandTimeoutSeconds",
        "command_timeout_seconds",
        _seconds(WEEK),
        "Seconds that one command may take, unless its criterion says otherwise.",
        "pinned",
    ),
    Key(
        f"{GOAL_SETTINGS}.hookTimeoutSeconds",
        "hook_timeout_seconds",
        _seconds(WEEK),
        "Seconds that the Stop hook may take. Your agent's own limit (330 in `hooks.json`) must "
        "be longer.",
        "pinned",
    ),
    Key(
        f"{GOAL_SETTINGS}.outputLimitBytes",
        "output_limit_bytes",
        _BYTES,
        "Bytes of a command's output that are kept; of a longer one, its beginning and its end.",
        "pinned",
    ),
    Key(
        DENIED,
        "denied_paths",
        _PATTERNS,
        "Paths that no goal may change, as in a goal's `denied_paths`.",
        "union",
    ),
    Key(
        f"{_JUDGE}.backend",
        "judge.backend",
        _one_of(get_args(Backend)),
        "Which program or service judges what no command can prove.",
        "own",
    ),
    Key(
        f"{_JUDGE}.command",
        "judge.command",
        _COMMAND,
        "With the backend `command`: the program that answers, and its arguments.",
        "own",
    ),
    Key(
        f"{_JUDGE}.baseUrl",
        "judge.base_url",
        _URL,
        "Another address for the backends `anthropic` and `openai`.",
        "own",
    ),
    Key(
        f"{_JUDGE}.model", "judge.model", _MODEL, "The judge's model, by the backend's name.", "own"
    ),
    Key(
        f"{_JUDGE}.timeoutSeconds",
        "judge.timeout_seconds",
        _seconds(3600),
        "Seconds that one question to the judge may take.",
        "pinned",
    ),
    Key(
        f"{_JUDGE}.samples",
        "judge.samples",
        _whole_number(25),
        "How often the judge of a goal is asked; the majority counts.",
        "own",
    ),
    Key(
        f"{_JUDGE}.maxCostUsd",
        "judge.max_cost_usd",
        _DOLLARS,
        "US dollars that the judges of one evaluation may cost.",
        "stricter",
        lambda cost: -cost,
    ),
    Key(
        f"{_JUDGE}.minKappa",
        "judge.min_kappa",
        _SHARE,
        "The agreement with people (Cohen's kappa) that a judge must have reached when it was "
        "calibrated.",
        "stricter",
        float,
    ),
    Key(
        f"{_JUDGE}.changedFiles",
        "judge.changed_files",
        _BOOL,
        "false: the changed files are not sent to a judge for a criterion that names no evidence.",
        "own",
    ),
    Key(
        CANARY,
        "judge.canary",
        _BOOL,
        "true: each judge is also asked without evidence, and not believed if it says achieved.",
        "stricter",
        float,
    ),
    Key("journal.dir", "journal_dir", _FOLDER, "The folder of the decision journals.", "pinned"),
    Key("judge.scoresDir", "scores_dir", _FOLDER, "The folder of scorecards."),
    Key("judge.reportsDir", "reports_dir", _FOLDER, "The folder of the reports of debates."),
    # To judge without being asked sends data and spends money, so off is the stricter value.
    Key(
        "judge.autoJudge",
        "auto_judge",
        _BOOL,
        "true: a scorecard is made at the next stop after a skill was used, without being asked.",
        "stricter",
        lambda on: not on,
    ),
)
KEYS: dict[str, Key] = {key.name: key for key in _TABLE}
"""Every key by its name, in the order of SPEC 8."""
FOLDERS = tuple(key.name for key in _TABLE if key.kind is _FOLDER)
STRICTNESS = {key.name: key.strictness for key in _TABLE if key.strictness is not None}


def key_named(name: str) -> Key | None:
    """The key of this full name, or the only key whose last parts are this name; else None."""
    ends = [known for known in KEYS if known.endswith(f".{name}")]
    whole = name if name in KEYS else ends[0] if len(ends) == 1 else ""
    return KEYS.get(whole)


def near_keys(name: str) -> list[str]:
    """Known keys close to ``name``, which is no key."""
    from flow.core.text.near import nearest

    last = name.rpartition(".")[2]
    same = [known for known in KEYS if known.rpartition(".")[2].lower() == last.lower()]
    if same:
        return same
    whole = nearest(name, KEYS, 0.75)
    if whole is not None:
        return [whole]
    ends = {known.rpartition(".")[2]: known for known in KEYS}
    end = nearest(last, ends, 0.75)
    if end is not None:
        return [ends[end]]
    return [known for known in KEYS if last.lower() in known.lower()][:3] if len(last) > 3 else []
