"""The settings table: each key's values, which file wins, what only the user's own file may say."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.setting_keys import KEYS
from flow.core.setting_values import shown_value
from flow.core.settings import (
    DEFAULT,
    WHEN_IT_BEGAN,
    Layer,
    LoadedSettings,
    Settings,
    config_rows,
    merge_layers,
    only_tightens,
    strictest_pins,
)
from flow.errors import ContractError, Fault

LOCAL, PROJECT, OWN = "local.json", "project.json", "own.json"

G, J = "flow.goals", "flow.goals.judge"

# key → (default, other values that are good, in the file's own form, values that are not)
TABLE: dict[str, tuple[Any, list[Any], list[Any]]] = {
    f"{G}.enabled": (True, [False, True], ["true", 1, None, []]),
    f"{G}.stopHookEnforcement": (
        "warn",
        ["off", "block", "evaluator-loop"],
        ["Block", "", True, None, 3, ["off"]],
    ),
    f"{G}.failAfterStuckTurns": (3, [1, 5, 1000], [0, -1, 1001, 3.0, "3", True, None]),
    f"{G}.onStuck": ("fail", ["propose"], ["failed", "", False, None]),
    f"{G}.executeVerificationCommands": (False, [True], ["true", 1, None]),
    f"{G}.agentMayNameTrust": (False, [True, False], ["yes", 1, None]),
    f"{G}.jobs": (1, [2, 256], [0, -4, 257, 1.5, "4", False, None]),
    f"{G}.commandTimeoutSeconds": (
        600,
        [1, 0.5, 604800],
        [0, -1, 604801, "600", True, None, float("nan"), float("inf")],
    ),
    f"{G}.hookTimeoutSeconds": (300, [2, 60.5], [0, -3, "300", False, None, float("inf")]),
    f"{G}.outputLimitBytes": (
        10 << 20,
        [1, 4096, 1 << 30],
        [0, -1, 1.5, "10", True, (1 << 30) + 1],
    ),
    f"{G}.denied_paths": (
        [],
        [["secrets/**"], ["a", "b"]],
        ["secrets", {"a": 1}, [1], None, ["!a"], ["../x"], ["/etc"], [""]],
    ),
    f"{J}.backend": (None, ["claude", "anthropic", "openai", "command"], ["gpt", "", 1, None]),
    f"{J}.command": (
        None,
        [["judge"], ["a", "-b", ""]],
        ["judge -x", [], [""], [1], ["a\0"], None],
    ),
    f"{J}.baseUrl": (
        None,
        ["https://example.org/v1", "http://127.0.0.1:8080"],
        ["example.org", "file:///x", "https://", "https://a b", "http://x\n", 1, None],
    ),
    f"{J}.model": (None, ["some-model"], ["", "  ", "a\nb", 5, None]),
    f"{J}.timeoutSeconds": (120, [0.5, 3600], [0, 3601, "120", True]),
    f"{J}.samples": (1, [3, 25], [0, 26, 1.0, "3", True]),
    f"{J}.maxCostUsd": (None, [0, 1.5, 10000], [-0.01, 10001, "1", True]),
    f"{J}.minKappa": (None, [0, 0.6, 1], [-0.1, 1.1, "0.6", True]),
    f"{J}.changedFiles": (True, [True, False], [0, "true", None]),
    f"{J}.canary": (False, [True, False], [0, "true", None]),
    "journal.dir": (
        ".decisions",
        ["docs/decisions", "notes"],
        [
            "",
            ".",
            "..",
            "../x",
            "/abs",
            "a/../b",
            "a//b",
            "a/./b",
            ".git/x",
            "x/.GIT",
            ".flow/runs",
            ".flow/Goals/x/",
            ".flow/rubrics/",
            "a\nb",
            3,
            None,
        ],
    ),
    "judge.scoresDir": (".flow/scores", ["scores", ".flow/runs2"], ["../x", ".flow/runs/x", "", 1]),
    "judge.reportsDir": (".specs/reports", ["reports/all"], ["../x", "/x", "", []]),
    "judge.autoJudge": (False, [True], ["yes", 0, None]),
}
USER_ONLY = [
    f"{G}.executeVerificationCommands",
    f"{G}.agentMayNameTrust",
    f"{J}.backend",
    f"{J}.command",
    f"{J}.baseUrl",
    f"{J}.model",
    f"{J}.samples",
    f"{J}.changedFiles",
]


def nested(key: str, value: Any) -> dict[str, Any]:
    *above, last = key.split(".")
    document: dict[str, Any] = {last: value}
    for part in reversed(above):
        document = {part: document}
    return document


def value_of(loaded: LoadedSettings, key: str) -> Any:
    return next(row.value for row in config_rows(loaded) if row.key == key)


def test_the_table_has_every_key_of_the_specification() -> None:
    assert set(TABLE) == set(KEYS)
    assert {name for name, key in KEYS.items() if key.own_only} == set(USER_ONLY)


def test_no_file_means_defaults() -> None:
    loaded = merge_layers(())
    assert loaded.settings == Settings()
    assert loaded.warnings == ()
    assert set(loaded.origins) == set(TABLE)
    assert set(loaded.origins.values()) == {DEFAULT}
    assert {row.key: row.value for row in config_rows(loaded)} == {
        key: default for key, (default, _, _) in TABLE.items()
    }


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (key, value)
        for key, (default, good, _) in TABLE.items()
        for value in ([] if default is None else [default]) + good
    ],
)
def test_a_good_value_is_taken_with_its_origin(key: str, value: Any) -> None:
    loaded = merge_layers([Layer(OWN, nested(key, value), own=True)])
    assert value_of(loaded, key) == value
    assert type(value_of(loaded, key)) is type(value)
    assert loaded.origins[key] == OWN
    assert loaded.warnings == ()


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, (_, _, bad) in TABLE.items() for value in bad]
)
def test_a_bad_value_names_file_key_value_and_remedy(key: str, value: Any) -> None:
    with pytest.raises(ContractError) as caught:
        merge_layers([Layer(OWN, nested(key, value), own=True)])
    fault = caught.value.faults[0]
    assert caught.value.exit_code == 2
    assert fault.file == OWN
    assert fault.key is not None
    assert fault.key.startswith(key)
    assert fault.value is not None
    assert fault.remedy


LAYERED = [
    (key, default, good)
    for key, (default, good, _) in TABLE.items()
    if KEYS[key].rule not in ("union", "stricter")
]


@pytest.mark.parametrize(("key", "default", "good"), LAYERED, ids=[row[0] for row in LAYERED])
@pytest.mark.parametrize("present", range(8))
def test_the_first_file_that_has_a_key_wins(
    key: str, default: Any, good: list[Any], present: int
) -> None:
    """Every subset of the three files, for every key."""
    values = {LOCAL: good[0], PROJECT: good[-1], OWN: good[0]}
    in_use = [name for bit, name in enumerate(values) if present & (1 << bit)]
    layers = [
        Layer(name, nested(key, values[name]) if name in in_use else {}, own=name == OWN)
        for name in values
    ]
    loaded = merge_layers(layers)
    counted = [name for name in in_use if name == OWN or key not in USER_ONLY]
    if counted:
        assert (value_of(loaded, key), loaded.origins[key]) == (values[counted[0]], counted[0])
    else:
        assert (value_of(loaded, key), loaded.origins[key]) == (default, DEFAULT)
    ignored = [w for w in loaded.warnings if "ignored" in w]
    assert len(ignored) == len(in_use) - len(counted)


@pytest.mark.parametrize("key", USER_ONLY)
@pytest.mark.parametrize("good", [True, False])
def test_a_checkout_cannot_set_what_runs_programs_or_opens_trust(key: str, good: bool) -> None:
    value = TABLE[key][1][0] if good else TABLE[key][2][0]
    loaded = merge_layers([Layer(PROJECT, nested(key, value), own=False)])
    assert value_of(loaded, key) == TABLE[key][0]
    assert len(loaded.warnings) == 1
    assert PROJECT in loaded.warnings[0]
    assert key in loaded.warnings[0]


def test_denied_paths_add_up() -> None:
    key = f"{G}.denied_paths"
    loaded = merge_layers(
        [
            Layer(LOCAL, nested(key, ["a", "b"]), own=False),
            Layer(PROJECT, nested(key, ["b", "c"]), own=False),
            Layer(OWN, nested(key, ["d"]), own=True),
        ]
    )
    assert loaded.settings.denied_paths == ("a", "b", "c", "d")
    assert loaded.origins[key] == f"{LOCAL}, {PROJECT}, {OWN}"


def test_an_empty_list_takes_nothing_away() -> None:
    key = f"{G}.denied_paths"
    loaded = merge_layers(
        [
            Layer(LOCAL, nested(key, []), own=False),
            Layer(OWN, nested(key, ["secret"]), own=True),
        ]
    )
    assert loaded.settings.denied_paths == ("secret",)


def test_all_faults_of_all_files_at_once() -> None:
    with pytest.raises(ContractError) as caught:
        merge_layers(
            [
                Layer(LOCAL, {"flow": {"goals": {"jobs": 0, "enabled": 1}}}, own=False),
                Layer(PROJECT, {"journal": {"dir": ".."}, "judge": 5}, own=False),
            ],
            faults=[Fault("is not JSON", file=OWN)],
        )
    assert [(fault.file, fault.key) for fault in caught.value.faults] == [
        (OWN, None),
        (LOCAL, "flow.goals.jobs"),
        (LOCAL, "flow.goals.enabled"),
        (PROJECT, "journal.dir"),
        (PROJECT, "judge"),
    ]


@pytest.mark.parametrize(
    ("document", "key"),
    [
        ([], None),
        ("text", None),
        (None, None),
        (3, None),
        ({"flow": []}, "flow"),
        ({"flow": None}, "flow"),
        ({"flow": {"goals": True}}, "flow.goals"),
        ({"flow": {"goals": {"judge": "claude"}}}, "flow.goals.judge"),
        ({"journal": "docs"}, "journal"),
        ({"judge": False}, "judge"),
    ],
)
def test_a_section_that_is_no_object(document: Any, key: str | None) -> None:
    with pytest.raises(ContractError) as caught:
        merge_layers([Layer(PROJECT, document, own=False)])
    assert caught.value.faults[0].key == key
    assert "not an object" in str(caught.value)


@pytest.mark.parametrize(
    ("document", "named", "nearest"),
    [
        ({"flow": {"goals": {"job": 2}}}, "flow.goals.job", "flow.goals.jobs"),
        ({"jobs": 2}, "jobs", "flow.goals.jobs"),
        ({"flow": {"jobs": 2}}, "flow.jobs", "flow.goals.jobs"),
        ({"flow.goals.jobs": 2}, "flow.goals.jobs", "flow.goals.jobs, nested"),
        ({"flow": {"goals": {"deniedPaths": []}}}, "flow.goals.deniedPaths", "denied_paths"),
        ({"flow": {"goals": {"judge": {"modle": "x"}}}}, "flow.goals.judge.modle", "judge.model"),
        ({"journal": {"folder": "x"}}, "journal.folder", "journal.dir"),
        ({"something": {"else": 1}}, "something", None),
    ],
)
def test_an_unknown_key_is_a_warning_with_the_nearest_name(
    document: Any, named: str, nearest: str | None
) -> None:
    loaded = merge_layers([Layer(PROJECT, document, own=False)])
    assert loaded.settings == Settings()
    (warning,) = loaded.warnings
    assert warning.startswith(f"{PROJECT}: {named}")
    assert ("did you mean" in warning) == (nearest is not None)
    assert nearest is None or nearest in warning


def test_an_editors_schema_key_is_no_surprise() -> None:
    assert merge_layers([Layer(PROJECT, {"$schema": "x"}, own=False)]).warnings == ()


def test_hostile_unknown_keys_stay_short_and_safe() -> None:
    document = {f"\x1b[31m{number}" + "x" * 3000: 1 for number in range(2000)}
    warnings = merge_layers([Layer(PROJECT, document, own=False)]).warnings
    assert len(warnings) == 21
    assert "1980 more" in warnings[-1]
    assert all(warning.isprintable() and len(warning) < 400 for warning in warnings)


def test_a_bad_value_is_shown_escaped_and_short() -> None:
    with pytest.raises(ContractError) as caught:
        merge_layers(
            [Layer(PROJECT, nested("journal.dir", "\x1b]0;x\x07\u202e" + "y" * 5000), own=False)]
        )
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


STRICTER = {  # the laxest first
    f"{G}.enabled": [False, True],
    f"{G}.stopHookEnforcement": ["off", "warn", "block", "evaluator-loop"],
    f"{J}.minKappa": [0, 0.4, 1],
    f"{J}.canary": [False, True],
    f"{J}.maxCostUsd": [10, 1, 0],
    "judge.autoJudge": [True, False],
}
CELLS = [
    (key, user, checkout)
    for key, values in STRICTER.items()
    for user in values
    for checkout in values
]


def test_every_key_has_its_rule() -> None:
    assert {name for name, key in KEYS.items() if key.rule == "stricter"} == set(STRICTER)
    assert {name for name, key in KEYS.items() if key.rule == "pinned"} == {
        f"{G}.failAfterStuckTurns",
        f"{G}.onStuck",
        f"{G}.jobs",
        f"{G}.commandTimeoutSeconds",
        f"{G}.hookTimeoutSeconds",
        f"{G}.outputLimitBytes",
        f"{J}.timeoutSeconds",
        "journal.dir",
    }
    assert {name for name, key in KEYS.items() if key.rule == "union"} == {f"{G}.denied_paths"}


@pytest.mark.parametrize("file", [LOCAL, PROJECT])
@pytest.mark.parametrize(("key", "user", "checkout"), CELLS)
def test_the_stricter_of_user_and_checkout_counts(
    key: str, user: Any, checkout: Any, file: str
) -> None:
    loaded = merge_layers(
        [
            Layer(file, nested(key, checkout), own=False),
            Layer(OWN, nested(key, user), own=True),
        ]
    )
    order = STRICTER[key]
    laxer = order.index(checkout) < order.index(user)
    assert value_of(loaded, key) == (user if laxer else checkout)
    assert loaded.origins[key] == (OWN if laxer or user == checkout else file)
    assert [file in each and "not obeyed" in each for each in loaded.overruled] == [True] * laxer
    assert set(loaded.overruled) <= set(loaded.warnings)


@pytest.mark.parametrize(("key", "here", "checkout"), CELLS)
def test_what_the_user_says_of_one_checkout_is_the_last_word(
    key: str, here: Any, checkout: Any
) -> None:
    loaded = merge_layers(
        [
            Layer("here", nested(key, here), own=True, here=True),
            Layer(PROJECT, nested(key, checkout), own=False),
            Layer(OWN, nested(key, STRICTER[key][-1]), own=True),
        ]
    )
    assert value_of(loaded, key) == here


@pytest.mark.parametrize(("key", "began", "now"), CELLS)
def test_what_tightened_when_the_goal_began_stays(key: str, began: Any, now: Any) -> None:
    pins = merge_layers([Layer(PROJECT, nested(key, began), own=False)]).pins
    order = STRICTER[key]
    loaded = merge_layers([Layer(LOCAL, nested(key, now), own=False)], pinned=pins)
    assert value_of(loaded, key) == max(began, now, key=order.index)
    assert bool(loaded.overruled) == (order.index(now) < order.index(began))
    assert value_of(merge_layers([], pinned=pins), key) == began


@pytest.mark.parametrize("mode", ["warn", "block", "evaluator-loop"])
@pytest.mark.parametrize("who", ["user", "began"])
def test_a_hook_that_is_asked_for_is_not_turned_off_by_another_key(who: str, mode: str) -> None:
    asked, off = nested(f"{G}.stopHookEnforcement", mode), nested(f"{G}.enabled", False)
    layers, pins = [Layer(LOCAL, off, own=False)], None
    if who == "user":
        layers.append(Layer(OWN, asked, own=True))
    else:
        pins = merge_layers([Layer(PROJECT, asked, own=False)]).pins
    loaded = merge_layers(layers, pinned=pins)
    assert (loaded.settings.enabled, loaded.settings.stop_hook_enforcement) == (True, mode)
    assert any(f"{G}.enabled" in each and "not obeyed" in each for each in loaded.overruled)


PINNED = [
    (name, TABLE[name][0], TABLE[name][1]) for name, key in KEYS.items() if key.rule == "pinned"
]


@pytest.mark.parametrize(("key", "default", "good"), PINNED, ids=[row[0] for row in PINNED])
def test_what_the_checkout_says_counts_as_the_goal_began(
    key: str, default: Any, good: list[Any]
) -> None:
    one, other = good[0], good[-1] if good[-1] != good[0] else default
    began = merge_layers([Layer(PROJECT, nested(key, one), own=False)]).pins
    nothing = merge_layers([]).pins
    changed = merge_layers([Layer(PROJECT, nested(key, other), own=False)], pinned=began)
    assert (value_of(changed, key), changed.origins[key]) == (one, WHEN_IT_BEGAN)
    assert "does not count for this goal" in changed.overruled[0]
    assert shown_value(other) in changed.overruled[0]
    assert f"it was {shown_value(one)} {WHEN_IT_BEGAN}" in changed.overruled[0]
    assert value_of(merge_layers([], pinned=began), key) == one, "a file that was taken away"
    late = merge_layers([Layer(LOCAL, nested(key, one), own=False)], pinned=nothing)
    assert value_of(late, key) == default
    assert len(late.overruled) == 1
    own = merge_layers([Layer(OWN, nested(key, one), own=True)], pinned=nothing)
    assert (value_of(own, key), own.overruled) == (one, ()), "the user's own word counts"
    here = Layer("here", nested(key, other), own=True, here=True)
    assert value_of(merge_layers([here], pinned=began), key) == other


def test_what_was_denied_when_the_goal_began_stays_denied() -> None:
    key = f"{G}.denied_paths"
    pins = merge_layers(
        [Layer(PROJECT, nested(key, ["a"]), own=False), Layer(OWN, nested(key, ["b"]), own=True)]
    ).pins
    loaded = merge_layers([Layer(LOCAL, nested(key, ["c"]), own=False)], pinned=pins)
    assert loaded.settings.denied_paths == ("c", "a", "b")
    assert "stays denied" in loaded.overruled[0]


@pytest.mark.parametrize("text", ["", "{", "9" * 6000, '"x"', "[1]", "null"])
def test_pins_that_fit_nothing_are_left_out(text: str) -> None:
    pins = {f"{G}.denied_paths": text, f"{G}.jobs": text, "x": text}
    assert merge_layers([], pinned=pins).settings == Settings()


def test_the_pins_of_several_goals_are_the_strictest() -> None:
    def pins(**goals: Any) -> dict[str, str]:
        return dict(merge_layers([Layer(PROJECT, {"flow": {"goals": goals}}, own=False)]).pins)

    found = strictest_pins(
        [
            pins(stopHookEnforcement="warn", denied_paths=["a"], jobs=2),
            pins(stopHookEnforcement="block", denied_paths=["b"], jobs=3),
        ]
    )
    loaded = merge_layers([], pinned=found).settings
    assert loaded.stop_hook_enforcement == "block"
    assert (loaded.denied_paths, loaded.jobs) == (("a", "b"), 2)


def test_a_hook_time_beyond_the_hosts_limit_is_a_warning() -> None:
    loaded = merge_layers([Layer(PROJECT, nested(f"{G}.hookTimeoutSeconds", 900), own=False)])
    assert loaded.settings.hook_timeout_seconds == 900
    assert "330" in loaded.warnings[0]


@pytest.mark.parametrize("key", ["journal.dir", "judge.scoresDir", "judge.reportsDir"])
def test_a_folder_is_kept_without_its_last_slash(key: str) -> None:
    loaded = merge_layers([Layer(PROJECT, nested(key, "docs/log/"), own=False)])
    assert value_of(loaded, key) == "docs/log"


BLOCK = {"stopHookEnforcement": "block"}
TIGHTENS: list[tuple[Any, Any, bool]] = [
    (None, {"stopHookEnforcement": "warn"}, True),
    (None, {"stopHookEnforcement": "evaluator-loop"}, True),
    (None, {"enabled": True}, True),
    (None, {"denied_paths": ["secrets/**"]}, True),
    (None, {"judge": {"minKappa": 0.5, "maxCostUsd": 1, "canary": True}}, True),
    (None, {}, True),
    (None, {"stopHookEnforcement": "off"}, False),
    (None, {"enabled": False}, False),
    (None, {**BLOCK, "jobs": 8}, False),
    (None, {"judge": {"model": "x"}}, False),
    (None, {"executeVerificationCommands": True}, False),
    (None, {"commandTimeoutSeconds": 1}, False),
    (None, {"stopHookEnforcement": "blok"}, False),
    (None, {"somethingElse": 1}, False),
    (None, {"denied_paths": "x"}, False),
    (BLOCK, {"stopHookEnforcement": "evaluator-loop"}, True),
    (BLOCK, {"stopHookEnforcement": "warn"}, False),
    (BLOCK, {}, False),
    ({"jobs": 2}, {"jobs": 2, "enabled": True}, True),
    ({"jobs": 2}, {"jobs": 4}, False),
    ({"denied_paths": ["a", "b"]}, {"denied_paths": ["b", "a", "c"]}, True),
    ({"denied_paths": ["a", "b"]}, {"denied_paths": ["a"]}, False),
]


@pytest.mark.parametrize(("before", "after", "tightens"), TIGHTENS)
def test_what_only_tightens(before: Any, after: Any, tightens: bool) -> None:
    was = None if before is None else {"flow": {"goals": before}}
    assert only_tightens(was, {"flow": {"goals": after}}, dict.fromkeys(KEYS)) is tightens


@pytest.mark.parametrize("after", [{"flow": 3}, {"flow": {"goals": []}}, [], None])
def test_what_is_no_settings_file_tightens_nothing(after: Any) -> None:
    assert not only_tightens(None, after, dict.fromkeys(KEYS))
