"""Settings at their limits, and what a person is told: beside ``test_settings.py``."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.setting_keys import KEYS
from flow.core.settings import Layer, config_rows, merge_layers
from flow.errors import ContractError

G, J = "flow.goals", "flow.goals.judge"
DOTTED = f"{G}.jobs (written with dots)"


def nested(key: str, value: Any) -> dict[str, Any]:
    *above, last = key.split(".")
    document: dict[str, Any] = {last: value}
    for part in reversed(above):
        document = {part: document}
    return document


def warnings(document: Any) -> tuple[str, ...]:
    return merge_layers([Layer("f.json", document, own=True)]).warnings


FITS = [
    (f"{J}.command", ["a", 1], False),
    (f"{J}.command", ["a", "b\0"], False),
    (f"{J}.command", ["a", "b", 1], False),
    (f"{J}.command", ["a", "b\0", "c"], False),
    (f"{J}.command", [" "], False),
    (f"{J}.command", ["a", "line\nbreak"], True),
    (f"{J}.command", ("a",), False),
    (f"{G}.denied_paths", ["a", 1], False),
    (f"{G}.denied_paths", [1, "a"], False),
    (f"{G}.denied_paths", [], True),
    (f"{J}.model", 1, False),
    (f"{J}.model", [" "], False),
    (f"{J}.model", "m", True),
    ("journal.dir", "a\\b", False),
    ("journal.dir", "x" * 1000, True),
    ("journal.dir", "x" * 1001, False),
    ("journal.dir", "a/b/", True),
    ("journal.dir", "a//", False),
    ("journal.dir", "a/.git/b", False),
    ("journal.dir", "a/.gitx", True),
    ("journal.dir", " ", False),
    (f"{G}.commandTimeoutSeconds", 0.001, True),
    (f"{G}.commandTimeoutSeconds", 0.0005, False),
    (f"{J}.maxCostUsd", 0, True),
    (f"{J}.baseUrl", "http://" + "a" * 2000, True),
    (f"{J}.baseUrl", "http://" + "a" * 2001, False),
    (f"{J}.baseUrl", "https://a~!", True),
    (f"{J}.baseUrl", "https://caf\u00e9", False),
]


@pytest.mark.parametrize(("key", "value", "fits"), FITS)
def test_what_fits(key: str, value: Any, fits: bool) -> None:
    assert KEYS[key].kind.fits(value) is fits


def test_every_key_has_its_place_and_says_what_it_expects() -> None:
    assert {name: (key.name, key.field, key.own_only) for name, key in KEYS.items()} == {
        f"{G}.enabled": (f"{G}.enabled", "enabled", False),
        f"{G}.stopHookEnforcement": (f"{G}.stopHookEnforcement", "stop_hook_enforcement", False),
        f"{G}.failAfterStuckTurns": (f"{G}.failAfterStuckTurns", "fail_after_stuck_turns", False),
        f"{G}.onStuck": (f"{G}.onStuck", "on_stuck", False),
        f"{G}.executeVerificationCommands": (
            f"{G}.executeVerificationCommands",
            "execute_verification_commands",
            True,
        ),
        f"{G}.agentMayNameTrust": (f"{G}.agentMayNameTrust", "agent_may_name_trust", True),
        f"{G}.jobs": (f"{G}.jobs", "jobs", False),
        f"{G}.commandTimeoutSeconds": (
            f"{G}.commandTimeoutSeconds",
            "command_timeout_seconds",
            False,
        ),
        f"{G}.hookTimeoutSeconds": (f"{G}.hookTimeoutSeconds", "hook_timeout_seconds", False),
        f"{G}.outputLimitBytes": (f"{G}.outputLimitBytes", "output_limit_bytes", False),
        f"{G}.denied_paths": (f"{G}.denied_paths", "denied_paths", False),
        f"{J}.backend": (f"{J}.backend", "judge.backend", True),
        f"{J}.command": (f"{J}.command", "judge.command", True),
        f"{J}.baseUrl": (f"{J}.baseUrl", "judge.base_url", True),
        f"{J}.model": (f"{J}.model", "judge.model", True),
        f"{J}.timeoutSeconds": (f"{J}.timeoutSeconds", "judge.timeout_seconds", False),
        f"{J}.samples": (f"{J}.samples", "judge.samples", True),
        f"{J}.maxCostUsd": (f"{J}.maxCostUsd", "judge.max_cost_usd", False),
        f"{J}.minKappa": (f"{J}.minKappa", "judge.min_kappa", False),
        f"{J}.canary": (f"{J}.canary", "judge.canary", False),
        f"{J}.changedFiles": (f"{J}.changedFiles", "judge.changed_files", True),
        "journal.dir": ("journal.dir", "journal_dir", False),
        "judge.scoresDir": ("judge.scoresDir", "scores_dir", False),
        "judge.reportsDir": ("judge.reportsDir", "reports_dir", False),
        "judge.autoJudge": ("judge.autoJudge", "auto_judge", False),
    }
    assert all(key.kind.expected for key in KEYS.values())


# --- keys nobody knows ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (
            {"flow": {"goals": {"Jobs": 2}}},
            f"{G}.Jobs: unknown setting, ignored; did you mean {G}.jobs?",
        ),
        ({"jobs": 2}, f"jobs: unknown setting, ignored; did you mean {G}.jobs?"),
        ({"JOBS": 2}, f"JOBS: unknown setting, ignored; did you mean {G}.jobs?"),
        ({"BASEURL": 2}, f"BASEURL: unknown setting, ignored; did you mean {J}.baseUrl?"),
        ({"a": {"jobs": 2}}, "a: unknown setting, ignored"),
        (
            {"flow": {"goals": {"jobss": 2}}},
            f"{G}.jobss: unknown setting, ignored; did you mean {G}.jobs?",
        ),
        (
            {"stopHookEnforcment": 2},
            f"stopHookEnforcment: unknown setting, ignored; did you mean {G}.stopHookEnforcement?",
        ),
        (
            {"flow.goals.jobs": 2},
            f"{DOTTED}: unknown setting, ignored; did you mean {G}.jobs, nested?",
        ),
        (
            {"flow": {"goals.jobs": 2}},
            f"{DOTTED}: unknown setting, ignored; did you mean {G}.jobs, nested?",
        ),
        (
            {"journal": {"onStuk": 2}},
            f"journal.onStuk: unknown setting, ignored; did you mean {G}.onStuck?",
        ),
        ({"qq.zz": 2}, "qq.zz: unknown setting, ignored"),
        ({"flow.goals": {"jobs": 3}}, None),
        ({"polkadots": 1}, "polkadots: unknown setting, ignored"),
        ({"zzz": 1}, "zzz: unknown setting, ignored"),
        ({"z\x1b": 1}, '"z\\u001b": unknown setting, ignored'),
        ({"z" * 200: 1}, f"{'z' * 200}: unknown setting, ignored"),
        ({"z" * 201: 1}, f'"{"z" * 78}…: unknown setting, ignored'),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_one(document: Any, said: str | None) -> None:
    found = warnings(document)
    if said is None:
        assert len(found) == 1
        assert found[0].startswith("f.json: flow.goals: unknown setting, ignored")
        assert merge_layers([Layer("f.json", document, own=True)]).settings.jobs == 1
    else:
        assert found == (f"f.json: {said}",)


@pytest.mark.parametrize(("count", "more"), [(20, None), (21, 1), (30, 10)])
def test_at_most_twenty_unknown_keys_are_named(count: int, more: int | None) -> None:
    found = warnings({f"q{n}w": 1 for n in range(count)})
    last = (f"f.json: {more} more unknown settings, ignored",) if more else ()
    assert len(found) == 20 + len(last)
    assert found[20:] == last


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x\x7f", '"x\\u007f"'),
        ("\u00e9", '"\\u00e9"'),
        ({"a": 1}, '{"a": 1}'),
        ("y" * 78, '"' + "y" * 78 + '"'),
        ("y" * 79, '"' + "y" * 78 + "…"),
        (None, "null"),
    ],
)
def test_a_bad_value_is_shown_whole_safe_and_short(value: Any, shown: str) -> None:
    with pytest.raises(ContractError) as caught:
        warnings(nested(f"{G}.jobs", value))
    (fault,) = caught.value.faults
    assert fault.message == f"{shown} is not a whole number from 1 to 256"
    assert (fault.file, fault.key, fault.value) == ("f.json", f"{G}.jobs", shown)


def test_every_section_that_is_no_object_is_named() -> None:
    document = {"flow": [1], "journal": 2, "judge": {"autoJudge": "no"}}
    with pytest.raises(ContractError) as caught:
        warnings(document)
    assert {(f.file, f.key, f.value, f.message) for f in caught.value.faults} == {
        ("f.json", "flow", "[1]", "[1] is not an object"),
        ("f.json", "journal", "2", "2 is not an object"),
        ("f.json", "judge.autoJudge", '"no"', '"no" is not true or false'),
    }
    assert len(caught.value.faults) == 3


def test_a_file_that_is_no_object_has_no_key() -> None:
    with pytest.raises(ContractError) as caught:
        warnings([1])
    (fault,) = caught.value.faults
    assert (fault.file, fault.key, fault.value) == ("f.json", None, "[1]")


# --- rows and limits ------------------------------------------------------------------------------


def test_rows_say_where_each_value_comes_from() -> None:
    loaded = merge_layers(
        [
            Layer("one.json", nested(f"{G}.jobs", 4), own=False),
            Layer("two.json", nested(f"{G}.denied_paths", ["a"]), own=True),
        ]
    )
    rows = {row.key: (row.value, row.origin) for row in config_rows(loaded)}
    assert rows[f"{G}.jobs"] == (4, "one.json")
    assert rows[f"{G}.denied_paths"] == (["a"], "two.json")
    assert rows["journal.dir"] == (".decisions", "default")
    assert list(rows) == list(KEYS)


@pytest.mark.parametrize(("seconds", "warned"), [(319, False), (320, False), (320.5, True)])
def test_the_hosts_limit_is_inclusive(seconds: float, warned: bool) -> None:
    assert bool(warnings(nested(f"{G}.hookTimeoutSeconds", seconds))) is warned
