"""The backend ``claude``: the Claude Code CLI, asked once and without any tool (SPEC 9.1).

The CLI reads a prompt as a user's message: a first ``/`` is a command to it, and ``@path`` makes it
read that file and send it along, beside the prompt and outside every fence. Both are turned off,
the second in two ways that each suffice: by a variable and by a rule that forbids all reading.
"""

from __future__ import annotations

import json

from flow.adapters.judges.asking import answered, environment, none, not_ended, secrets
from flow.adapters.judges.reply_json import closed, fitting, read_document, words
from flow.adapters.judges.retry import Retryable
from flow.adapters.judges.service import dollars, no_answer_by_status, tokens, usage_of
from flow.adapters.process.with_input import run_with_input
from flow.core.judging.common.question import Unusable
from flow.startup.json import object_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.judges.asking import Call
    from flow.adapters.process.with_input import InputRunResult
    from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage

_LIMIT = 2 << 20
"""Most bytes of the CLI's report, which holds the reply twice."""

_FLAGS = (
    "--tools",
    "",
    "--disallowedTools",
    "mcp__*",
    "--safe-mode",
    "--no-session-persistence",
)
_NO_READING = json.dumps({"permissions": {"deny": ["Read", "Read(//**)"]}})
_BUDGET = "--max-budget-usd"
_SET = {
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "DISABLE_AUTOUPDATER": "1",
    "MAX_STRUCTURED_OUTPUT_RETRIES": "3",
}
"""Variables for the CLI: retries are Flow's own. After a reply of the wrong shape the CLI asks for
another, at most twice.
"""

_NAMES = (
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_SKIP_BEDROCK_AUTH",
    "CLAUDE_CODE_SKIP_VERTEX_AUTH",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CONFIG_DIR",
    "CLOUD_ML_REGION",
)
_CLOUDS = {"CLAUDE_CODE_USE_BEDROCK": "AWS_", "CLAUDE_CODE_USE_VERTEX": "GOOGLE_"}


class Claude:
    """The CLI with a model, or with its own choice of one."""

    name = "claude"
    tells_cost = True

    def __init__(self, model: str | None, base_url: str | None, environ: Mapping[str, str]) -> None:
        self.model = model
        clouds = tuple(start for name, start in _CLOUDS.items() if environ.get(name))
        more = {**_SET, **({"ANTHROPIC_BASE_URL": base_url} if base_url else {})}
        self._env = environment(environ, _NAMES, starts=("ANTHROPIC_", *clouds), more=more)
        self._secrets = secrets(self._env)
        self._knows_budget = True

    def ask(self, call: Call) -> JudgeAnswer | NoAnswer | Retryable:
        """Run the CLI once; a second time if it is too old for a budget."""
        ended = self._run(call)
        if self._knows_budget and ended.status == 1 and _no_option(ended, _BUDGET):
            self._knows_budget = False
            ended = self._run(call)
        missing = "the claude CLI was not found in PATH; install Claude Code, or name another "
        no_answer = not_ended(
            self,
            ended,
            call.seconds,
            too_much=f"the claude CLI printed more than {_LIMIT} bytes",
            not_found=missing + "flow.goals.judge.backend",
            program="the claude CLI",
        )
        if no_answer is not None:
            return no_answer
        report = read_document(ended.stdout, what="the CLI's report", limit=_LIMIT)
        if isinstance(report, Unusable):
            stderr = words(ended.stderr, self._secrets, last=300)
            if ended.status != 0 and stderr:
                return none(self, "error", f"the claude CLI ended with {ended.status}: {stderr}")
            return none(self, report.kind, words(report.reason, self._secrets))
        return self._read(report, ended, call)

    def _run(self, call: Call) -> InputRunResult:
        question = call.question
        schema = json.dumps(closed(question.schema))
        argv = ["claude", "-p", "--output-format", "json", "--json-schema", schema, *_FLAGS]
        argv += ["--settings", _NO_READING, "--system-prompt", question.system]
        if self.model:
            argv += ["--model", self.model]
        if call.dollars is not None and self._knows_budget:
            argv += [_BUDGET, f"{call.dollars:.6f}"]
        prompt = question.prompt
        if prompt.lstrip().startswith("/"):
            prompt = f"The question:\n\n{prompt}"
        return run_with_input(
            argv,
            cwd=call.folder.cwd,
            env=self._env,
            stdin=prompt.encode("utf-8"),
            timeout=call.seconds,
            limit=_LIMIT,
        )

    def _read(
        self, report: dict[str, Any], ended: InputRunResult, call: Call
    ) -> JudgeAnswer | NoAnswer | Retryable:
        usage = self._usage(report)
        if report.get("subtype") == "error_max_budget_usd":
            return none(self, "cost_limit", "maxCostUsd was reached while the CLI asked", usage)
        if report.get("subtype") == "error_max_structured_output_retries":
            return none(self, "wrong_shape", "the model gave no reply of the right shape", usage)
        if report.get("is_error") is not False or ended.status != 0:
            return self._failed(report, ended, usage)
        if "structured_output" not in report:
            if report.get("result"):
                reason = "the CLI reports success, but only text for an answer"
                return none(self, "not_json", reason, usage)
            return none(self, "empty", "the CLI reports success, but no answer", usage)
        return answered(self, fitting(report["structured_output"], call.question.schema), usage)

    def _failed(
        self, report: dict[str, Any], ended: InputRunResult, usage: Usage
    ) -> NoAnswer | Retryable:
        message = report.get("result") or report.get("errors") or f"exit {ended.status}"
        text = words(message if isinstance(message, str) else str(message), self._secrets)
        status = report.get("api_error_status")
        if isinstance(status, int) and not isinstance(status, bool):
            key = "the CLI's credentials"
            return no_answer_by_status(self, status, text, {}, key=key, usage=usage)
        if report.get("stop_reason") == "refusal":
            return none(self, "refused", "the model refused to answer", usage)
        if "/login" in text:
            reason = (
                f"the claude CLI is not logged in: {text}; run it once, or set ANTHROPIC_API_KEY"
            )
            return none(self, "no_key", reason, usage)
        if "output token maximum" in text:
            return none(self, "cut_off", text, usage)
        if not usage.output_tokens and text.startswith("API Error"):
            return Retryable(none(self, "unavailable", text, usage))
        return none(self, "error", text, usage)

    def _usage(self, report: dict[str, Any]) -> Usage:
        """The whole run's usage, from the models' rows: if the CLI gave up, its sum is empty."""
        listed = object_of(report.get("modelUsage"))
        rows = {name: row for name, row in listed.items() if isinstance(row, dict)}
        inputs = [
            tokens(row.get(name))
            for row in rows.values()
            for name in ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
        ]
        outputs = [tokens(row.get("outputTokens")) for row in rows.values()]
        return usage_of(
            self,
            next(iter(rows), None),
            sum(count or 0 for count in inputs) if rows else None,
            sum(count or 0 for count in outputs) if rows else None,
            dollars(report.get("total_cost_usd")),
        )


def _no_option(ended: InputRunResult, name: str) -> bool:
    return b"unknown option" in ended.stderr and name.encode() in ended.stderr
