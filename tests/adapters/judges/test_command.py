"""The backend ``command``: any executable, with real processes (SPEC 9.1)."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.judges.budget import Budget
from flow.adapters.judges.reply_json import LIMIT
from flow.app.judging.port import JudgeAnswer, NoAnswer
from flow.core.settings import JudgeSettings
from tests.adapters.judges.scene import ANSWER, KEY, QUESTION, SCHEMA, SECONDS, judge
from tests.support.patience import long_enough

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

GOOD = f"cat >/dev/null; printf '%s' '{json.dumps(ANSWER)}'"


def ask(
    work: Path, *command: str, model: str | None = None, seconds: float = SECONDS, **more: Any
) -> JudgeAnswer | NoAnswer:
    settings = JudgeSettings(backend="command", command=command, model=model)
    return judge(settings, work, **more).ask(QUESTION, seconds=seconds)


def shell(work: Path, script: str, **more: Any) -> JudgeAnswer | NoAnswer:
    return ask(work, "sh", "-c", script, **more)


def silent(found: JudgeAnswer | NoAnswer, kind: str) -> str:
    """The reason of what has to be no answer of this kind."""
    assert isinstance(found, NoAnswer), found
    assert found.kind == kind, found
    assert found.reason.isprintable()
    assert len(found.reason) < 700
    assert KEY not in found.reason
    return found.reason


def test_it_gets_the_whole_question_and_answers(tmp_path: Path) -> None:
    script = f"""
cat >{tmp_path}/stdin; cp "$FLOW_JUDGE_SCHEMA" {tmp_path}/schema; env >{tmp_path}/env
pwd >{tmp_path}/pwd; ls -A >>{tmp_path}/pwd; echo noise >&2
{GOOD}"""
    work = tmp_path / "work"
    work.mkdir()
    hostile = {
        "CLAUDECODE": "1",
        "CLAUDE_PROJECT_DIR": "/x",
        "BASH_ENV": "/x",
        "LD_PRELOAD": "",
        "GITHUB_TOKEN": "no",
        "GIT_DIR": "/x",
        "FLOW_STATE_DIR": "/x",
        "FLOW_JUDGE_SCHEMA": "/forged",
        "FLOW_JUDGE_MODEL": "forged",
    }
    kept = {"SOME_API_KEY": KEY, "FLOW_JUDGE_EXTRA": "mine", "OPENAI_BASE_URL": "http://x"}
    found = shell(work, script, model="m-1", env={**hostile, **kept})
    assert isinstance(found, JudgeAnswer), found
    assert found.value == ANSWER
    assert (tmp_path / "stdin").read_text() == f"{QUESTION.system}\n\n{QUESTION.prompt}"
    schema = json.loads((tmp_path / "schema").read_text())
    assert schema == {**SCHEMA, "additionalProperties": False}
    env = dict(line.split("=", 1) for line in (tmp_path / "env").read_text().splitlines())
    assert {name: env[name] for name in kept} == kept
    assert env["CLAUDE_HOOK_GOAL_JUDGE_MODE"] == "1"
    assert (env["FLOW_JUDGE_MODEL"], env["HOME"]) == ("m-1", os.environ["HOME"])
    assert not env.keys() & (hostile.keys() - {"FLOW_JUDGE_SCHEMA", "FLOW_JUDGE_MODEL"})
    assert env["FLOW_JUDGE_SCHEMA"] != "/forged"
    folder, *files = (tmp_path / "pwd").read_text().splitlines()
    assert (os.path.exists(folder), files) == (False, [])
    assert os.listdir(work) == []


def test_a_model_that_nobody_asked_for_does_not_reach_it(tmp_path: Path) -> None:
    script = f'[ -z "${{FLOW_JUDGE_MODEL+set}}" ] || exit 9; {GOOD}'
    assert isinstance(shell(tmp_path, script, env={"FLOW_JUDGE_MODEL": "forged"}), JudgeAnswer)


def test_its_name_and_arguments_reach_it_as_they_are(tmp_path: Path) -> None:
    words = ["a b", "$HOME", "*", "", "'", "\n"]
    script = f"""printf '%s|' "$@" >{tmp_path}/argv; {GOOD}"""
    assert isinstance(ask(tmp_path, "sh", "-c", script, "sh", *words), JudgeAnswer)
    assert (tmp_path / "argv").read_text() == "|".join(words) + "|"


def test_a_program_in_the_users_home(tmp_path: Path, home: Path) -> None:
    program = home / "judge"
    program.write_text(f"#!/bin/sh\n{GOOD}\n")
    program.chmod(0o755)
    assert isinstance(ask(tmp_path, "~/judge"), JudgeAnswer)


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        ("no-such-judge", "not_configured"),
        ("/no/such/judge", "not_configured"),
        ("./judge", "not_configured"),
        ("bin/judge", "not_configured"),
        ("/", "error"),
    ],
)
def test_one_that_is_not_there(program: str, kind: str, tmp_path: Path) -> None:
    silent(ask(tmp_path, program), kind)


@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        ("exit 1", "error", "exit status 1: it said nothing"),
        (f"{GOOD}; exit 1", "error", "exit status 1"),
        ("kill -9 $$", "error", "exit status 137"),
        ("echo 'no model' >&2; exit 2", "error", "exit status 2: no model"),
        (r"printf '\033]0;x\007\033[2J\342\200\256bad\n\377' >&2; exit 3", "error", "\\x1b]0;x"),
        (f"echo 'the key {KEY}' >&2; exit 3", "error", "the key (key)"),
        ("yes nothing >&2 | head -c 300000; exit 4", "error", "exit status"),
        ("exit 0", "empty", "empty"),
        ("echo", "empty", "empty"),
        ("echo :", "not_json", "reply"),
        (f"echo 'Sure!'; {GOOD}", "not_json", "reply"),
        (f"{GOOD}; {GOOD}", "not_json", "reply"),
        (r"printf '\377\376'", "not_json", "reply"),
        ("exec yes", "not_json", "was ended"),
        (f"head -c {LIMIT} /dev/zero", "not_json", "reply"),
        ("echo '{}'", "wrong_shape", "reply"),
        ("echo '[1]'", "wrong_shape", "reply"),
    ],
)
def test_no_usable_reply(script: str, kind: str, words: str, tmp_path: Path) -> None:
    if "yes nothing" in script:
        script = "head -c 300000 /dev/zero | tr '\\0' 'x' >&2; exit 4"
    work = tmp_path / "work"
    work.mkdir()
    reason = silent(shell(work, script, env={"X_API_KEY": KEY}), kind)
    assert words in reason
    assert os.listdir(work) == []


def test_one_that_ignores_sigterm_is_ended_in_time(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    script = f"trap '' TERM; echo $$ >{pid}; while :; do sleep 1000; done"
    found = long_enough(
        lambda seconds: shell(tmp_path, script, seconds=seconds),
        lambda _: pid.exists() and bool(pid.read_text()),
    )
    silent(found, "timeout")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_one_that_says_try_again_is_tried_again(tmp_path: Path) -> None:
    count = f"echo x >>{tmp_path}/runs"
    script = f'{count}; [ "$(wc -l <{tmp_path}/runs)" -ge 3 ] || exit 75; {GOOD}'
    found = shell(tmp_path, script, tries=3)
    assert isinstance(found, JudgeAnswer)
    assert found.usage.attempts == 3
    silent(shell(tmp_path, f"{count}; echo busy >&2; exit 75", tries=2), "unavailable")
    assert (tmp_path / "runs").read_text() == "x\n" * 5


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        (
            {"model": "m", "input_tokens": 5, "output_tokens": 6, "cost_usd": 0.5},
            ("m", 5, 6, 0.5),
        ),
        ({"cost_usd": 0}, (None, None, None, 0.0)),
        ({"cost_usd": -1, "input_tokens": 1.5, "model": 3}, (None, None, None, None)),
        (
            {"cost_usd": "1", "output_tokens": True, "model": "\x1b[31m"},
            ("\\x1b[31m",) + (None,) * 3,
        ),
        ([1], (None, None, None, None)),
        ("x" * 100_000, (None, None, None, None)),
    ],
)
def test_it_may_tell_what_it_used(told: Any, usage: tuple[Any, ...], tmp_path: Path) -> None:
    (tmp_path / "told").write_text(json.dumps(told))
    found = shell(tmp_path, f'cp {tmp_path}/told "$FLOW_JUDGE_USAGE"; {GOOD}')
    assert isinstance(found, JudgeAnswer)
    assert found.usage[1:5] == usage


@pytest.mark.parametrize(
    "script",
    [
        'ln -s {told} "$FLOW_JUDGE_USAGE"',
        'mkfifo "$FLOW_JUDGE_USAGE"',
        'mkdir "$FLOW_JUDGE_USAGE"',
    ],
)
def test_only_a_plain_file_tells_usage(script: str, tmp_path: Path) -> None:
    (tmp_path / "told").write_text('{"cost_usd": 1}')
    found = shell(tmp_path, f"{script.format(told=tmp_path / 'told')}; {GOOD}")
    assert isinstance(found, JudgeAnswer), found
    assert found.usage.cost_usd is None


def test_a_limit_in_dollars_holds_over_calls(tmp_path: Path) -> None:
    budget = Budget(1.0)
    script = f"""echo '{{"cost_usd": 0.6}}' >"$FLOW_JUDGE_USAGE"; {GOOD}"""
    assert isinstance(shell(tmp_path, script, budget=budget), JudgeAnswer)
    silent(shell(tmp_path, script, budget=budget), "cost_limit")
    silent(shell(tmp_path, f"echo x >{tmp_path}/ran", budget=budget), "cost_limit")
    assert not (tmp_path / "ran").exists()
    reason = silent(shell(tmp_path, GOOD, budget=Budget(1.0)), "cost_limit")
    assert "did not tell" in reason


@pytest.mark.parametrize(
    "script",
    [
        "mkdir -p a/b; echo x >a/b/c; chmod 0 a; ln -s /etc link",
        'rm -r "${PWD%/*}"; mkfifo "${PWD%/*}"',
    ],
)
def test_what_it_leaves_in_its_folder_goes(script: str, tmp_path: Path) -> None:
    assert isinstance(shell(tmp_path, f"{script}; {GOOD}"), JudgeAnswer)
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there_is_no_answer(tmp_path: Path) -> None:
    silent(shell(tmp_path / "gone", GOOD), "error")
