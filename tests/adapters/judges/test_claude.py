"""What only the ``claude`` CLI does: its flags, files and budget. The real program on loopback."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.judges.budget import Budget
from flow.app.judging.port import JudgeAnswer, NoAnswer
from flow.core.judging.common.question import Question
from flow.core.settings import JudgeSettings
from tests.adapters.judges.scene import ANSWER, KEY, QUESTION, SCHEMA, SECONDS, judge
from tests.support.judges.messages_api import STRUCTURED, MessagesApi, structured, tool

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = pytest.mark.slow


def ask(
    api: MessagesApi,
    work: Path,
    question: Question = QUESTION,
    *,
    model: str | None = None,
    budget: Budget | None = None,
    env: Mapping[str, str | None] | None = None,
) -> JudgeAnswer | NoAnswer:
    settings = JudgeSettings(backend="claude", model=model, base_url=api.url)
    given = {"ANTHROPIC_API_KEY": KEY, **(env or {})}
    asked = judge(settings, work, env=given, budget=budget, tries=1)
    return asked.ask(question, seconds=SECONDS)


def fake(folder: Path, script: str) -> dict[str, str]:
    """A PATH on which a shell script is ``claude``: for what the real one does not do any more."""
    program = folder / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:{os.environ['PATH']}"}


@pytest.mark.needs_tool("claude")
@pytest.mark.slow
def test_the_judge_has_one_tool_its_own_system_text_and_nothing_of_the_project(
    tmp_path: Path, home: Path
) -> None:
    for folder in (tmp_path, home, home / ".claude"):
        folder.mkdir(exist_ok=True)
        (folder / "CLAUDE.md").write_text("CANARY-MEMORY")
    hook = {"hooks": [{"type": "command", "command": f"touch {tmp_path}/CANARY-HOOK"}]}
    settings = {"hooks": {name: [hook] for name in ("SessionStart", "UserPromptSubmit", "Stop")}}
    (home / ".claude" / "settings.json").write_text(json.dumps(settings))
    (home / ".claude" / "agents").mkdir()
    (home / ".claude" / "agents" / "a.md").write_text(
        "---\nname: a\ndescription: CANARY-AGENT\n---\n"
    )
    work = tmp_path / "work"
    work.mkdir()
    with MessagesApi(structured(ANSWER)) as api:
        assert isinstance(ask(api, work), JudgeAnswer)
    (call,) = api.calls
    assert call.tools == [STRUCTURED]
    assert call.system.endswith(QUESTION.system)
    assert call.prompt.endswith(QUESTION.prompt)
    assert "CANARY" not in json.dumps(call.body)
    assert not (tmp_path / "CANARY-HOOK").exists()
    assert os.listdir(work) == []
    kept = [name for _, _, names in os.walk(home) for name in names if name.endswith(".jsonl")]
    assert kept == []  # no session of the judge's
    assert {request.path for request in api.requests} <= {"/", "/v1/messages"}


PLACES = ["@{file}", '@"{file}"', "see @{file}, then @{folder}", "@{folder}/", "x\n@{file}\ny"]
"""In one prompt: each would be read."""


@pytest.mark.needs_tool("claude")
@pytest.mark.slow
@pytest.mark.parametrize("without", ["the variable", "the rule"])
def test_a_path_in_the_prompt_is_read_by_nobody(
    without: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The CLI would read ``@path`` and send it along; each of two guards is enough against it."""
    from flow.adapters.judges import claude

    if without == "the variable":
        rest = {k: v for k, v in claude._SET.items() if k != "CLAUDE_CODE_DISABLE_ATTACHMENTS"}
        monkeypatch.setattr(claude, "_SET", rest)
    else:
        monkeypatch.setattr(claude, "_NO_READING", "{}")
    folder = tmp_path / "secrets"
    folder.mkdir()
    file = folder / "CANARY-NAME.txt"
    file.write_text("CANARY-TEXT")
    prompt = "\n".join(PLACES).format(file=file, folder=folder)
    with MessagesApi(structured(ANSWER)) as api:
        found = ask(api, tmp_path, Question(QUESTION.system, prompt, SCHEMA, "x"))
    assert isinstance(found, JudgeAnswer)
    sent = json.dumps([call.body for call in api.calls])
    assert "CANARY-TEXT" not in sent
    assert sent.replace(str(file), "").count("CANARY-NAME") == 0


@pytest.mark.needs_tool("claude")
@pytest.mark.slow
@pytest.mark.parametrize(
    "prompt",
    [
        "/help",
        pytest.param("  /clear\nIs it done?", marks=pytest.mark.long),
        "!touch CANARY",
        pytest.param("#x", marks=pytest.mark.long),
        pytest.param("-p", marks=pytest.mark.long),
    ],
)
def test_a_prompt_is_no_command(prompt: str, tmp_path: Path) -> None:
    with MessagesApi(structured(ANSWER)) as api:
        found = ask(api, tmp_path, Question(QUESTION.system, prompt, SCHEMA, "x"))
    assert isinstance(found, JudgeAnswer), found
    assert prompt.strip() in api.calls[0].prompt


@pytest.mark.needs_tool("claude")
@pytest.mark.slow
def test_a_model_and_a_budget_are_passed_on(tmp_path: Path) -> None:
    """What is within a budget, a CLI that knows none shows below."""
    small = Budget(0.01)
    with MessagesApi(structured(ANSWER, input_tokens=100_000)) as api:
        over = ask(api, tmp_path, model="sonnet", budget=small)
        assert isinstance(over, NoAnswer), over
        assert over.kind == "cost_limit"
        assert "sonnet" in api.calls[0].body["model"]
        assert over.usage.cost_usd is not None
        assert small.spent == round(over.usage.cost_usd, 12) > 0.01
        calls = len(api.calls)
        again = ask(api, tmp_path, model="sonnet", budget=small)
    assert isinstance(again, NoAnswer)
    assert (again.kind, len(api.calls)) == ("cost_limit", calls)


@pytest.mark.needs_tool("claude")
@pytest.mark.slow
def test_a_budget_of_nothing_asks_nobody(tmp_path: Path) -> None:
    with MessagesApi(structured(ANSWER)) as api:
        found = ask(api, tmp_path, budget=Budget(0.0))
    assert isinstance(found, NoAnswer)
    assert (found.kind, api.requests) == ("cost_limit", [])


@pytest.mark.needs_tool("claude")
@pytest.mark.slow
def test_a_tool_that_the_model_makes_up_is_not_run_and_a_wrong_shape_may_be_mended(
    tmp_path: Path,
) -> None:
    """Both within the call."""
    made_up = tool("Bash", {"command": f"touch {tmp_path}/CANARY"})
    with MessagesApi(made_up, structured({"verdict": 1}), structured(ANSWER)) as api:
        found = ask(api, tmp_path)
    assert isinstance(found, JudgeAnswer), found
    assert (found.usage.input_tokens, len(api.calls)) == (3000, 3)
    assert os.listdir(tmp_path) == []


def test_the_program_may_be_missing(tmp_path: Path) -> None:
    with MessagesApi(structured(ANSWER)) as api:
        found = ask(api, tmp_path, env={"PATH": str(tmp_path)})
    assert isinstance(found, NoAnswer)
    assert (found.kind, api.requests) == ("not_configured", [])
    assert "install" in found.reason


SUCCESS = {"subtype": "success", "is_error": False, "result": "yes", "total_cost_usd": 0.01}


@pytest.mark.parametrize(
    ("report", "kind"),
    [
        (SUCCESS, "not_json"),
        ({**SUCCESS, "result": ""}, "empty"),
        ({**SUCCESS, "structured_output": None}, "wrong_shape"),
        ({**SUCCESS, "structured_output": json.dumps(ANSWER)}, "wrong_shape"),
        ({**SUCCESS, "structured_output": [ANSWER]}, "wrong_shape"),
        ({**SUCCESS, "structured_output": ANSWER, "is_error": True}, "error"),
        ({**SUCCESS, "structured_output": ANSWER, "is_error": "no"}, "error"),
        ({"structured_output": ANSWER}, "error"),
        ({**SUCCESS, "is_error": True, "errors": {"a": 1}, "result": {"b": 2}}, "error"),
        ({**SUCCESS, "is_error": True, "api_error_status": True}, "error"),
        ({**SUCCESS, "is_error": True, "modelUsage": [1], "total_cost_usd": "much"}, "error"),
        ([SUCCESS], "wrong_shape"),
    ],
)
def test_a_strange_report_is_no_answer(report: Any, kind: str, tmp_path: Path) -> None:
    (tmp_path / "report").write_text(json.dumps(report))
    with MessagesApi(structured(ANSWER)) as api:
        found = ask(api, tmp_path, env=fake(tmp_path, f"cat >/dev/null; cat {tmp_path}/report"))
    assert isinstance(found, NoAnswer), found
    assert found.kind == kind


@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        ("exit 1", "empty", "the CLI's report is empty"),
        ("exec yes", "not_json", "more than"),
        (f"echo 'bad \033[31m {KEY}' >&2; exit 1", "error", "bad \\x1b[31m (key)"),
        ("echo 'Segmentation fault'; kill -9 $$", "not_json", "the CLI's report"),
        (
            f"""printf '%s' '{json.dumps({**SUCCESS, "structured_output": ANSWER})}'; exit 1""",
            "error",
            "yes",
        ),
    ],
)
def test_a_cli_that_fails_is_no_answer(script: str, kind: str, words: str, tmp_path: Path) -> None:
    with MessagesApi(structured(ANSWER)) as api:
        found = ask(api, tmp_path, env=fake(tmp_path, script))
    assert isinstance(found, NoAnswer), found
    assert found.kind == kind
    assert words in found.reason
    assert found.reason.isprintable()


OLD = """for word; do
  if [ "$word" = --max-budget-usd ]; then
    echo "error: unknown option '--max-budget-usd'" >&2
    exit 1
  fi
done
"""


def test_an_old_cli_is_asked_without_a_budget_and_counted_after(tmp_path: Path) -> None:
    report = json.dumps({**SUCCESS, "structured_output": ANSWER, "total_cost_usd": 0.25})
    env = fake(tmp_path, f"{OLD}echo run >>{tmp_path}/runs; printf '%s' '{report}'")
    with MessagesApi(structured(ANSWER)) as api:
        budget = Budget(0.3)
        assert isinstance(ask(api, tmp_path, budget=budget, env=env), JudgeAnswer)
        found = ask(api, tmp_path, budget=budget, env=env)
    assert isinstance(found, NoAnswer)
    assert (found.kind, budget.spent) == ("cost_limit", 0.5)
    assert (tmp_path / "runs").read_text() == "run\nrun\n"


def test_the_arguments_are_those_of_the_specification(tmp_path: Path) -> None:
    script = f"""printf '%s\\0' "$@" >{tmp_path}/argv; env >{tmp_path}/env; pwd >{tmp_path}/pwd
ls -A | wc -l >>{tmp_path}/pwd"""
    hostile = {
        "CLAUDECODE": "1",
        "CLAUDE_CODE_ENTRYPOINT": "cli",
        "CLAUDE_PROJECT_DIR": "/x",
        "AWS_SECRET_ACCESS_KEY": "no",
        "GITHUB_TOKEN": "no",
        "OPENAI_API_KEY": "no",
        "BASH_ENV": "/x",
        "ANTHROPIC_MODEL": "kept",
    }
    with MessagesApi(structured(ANSWER)) as api:
        ask(api, tmp_path, model="m-1", env={**fake(tmp_path, script), **hostile})
    argv = (tmp_path / "argv").read_text().split("\0")[:-1]
    schema = json.loads(argv[4])
    assert [*argv[:4], *argv[5:11]] == [
        "-p",
        "--output-format",
        "json",
        "--json-schema",
        "--tools",
        "",
        "--disallowedTools",
        "mcp__*",
        "--safe-mode",
        "--no-session-persistence",
    ]
    assert schema["required"] == SCHEMA["required"]
    assert argv[argv.index("--model") + 1] == "m-1"
    assert QUESTION.prompt not in argv
    assert KEY not in "".join(argv)
    env = dict(line.split("=", 1) for line in (tmp_path / "env").read_text().splitlines())
    assert env["CLAUDE_HOOK_GOAL_JUDGE_MODE"] == "1"
    assert env["ANTHROPIC_BASE_URL"] == api.url
    assert (env["HOME"], env["ANTHROPIC_MODEL"]) == (os.environ["HOME"], "kept")
    assert not env.keys() & (hostile.keys() - {"ANTHROPIC_MODEL"})
    folder, count = (tmp_path / "pwd").read_text().split()
    assert folder.startswith(str(tmp_path.resolve()))
    assert count == "0"
    assert not os.path.exists(folder)
