"""The backend ``command``: any executable (SPEC 9.1).

It gets the system text, a blank line and the prompt on its standard input, and in its environment

``FLOW_JUDGE_SCHEMA``  a file with the reply's JSON Schema
``FLOW_JUDGE_MODEL``   the model that was asked for, if one was
``FLOW_JUDGE_USAGE``   a file that it may write: one JSON object with any of ``model``,
                       ``input_tokens``, ``output_tokens``, ``cost_usd``

and prints one JSON object. Exit status 0 is a reply, 75 (``EX_TEMPFAIL``) asks to be tried again,
anything else is no answer.
"""

from __future__ import annotations

import json
import os

from flow.adapters.fs.state_folder import read_small
from flow.adapters.judges.asking import answered, environment, none, not_ended, secrets
from flow.adapters.judges.reply_json import LIMIT, closed, read_document, read_reply, words
from flow.adapters.judges.retry import Retryable
from flow.adapters.judges.service import usage_of
from flow.adapters.process.with_input import run_with_input
from flow.core.judging.common.question import Unusable
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.judges.asking import Call
    from flow.adapters.process.with_input import InputRunResult
    from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage

TRY_AGAIN = 75
_KEYS = ("_API_KEY", "_AUTH_TOKEN", "_BASE_URL")
_OWN = "FLOW_JUDGE_"
_USAGE_LIMIT = 1 << 16


class CommandJudge:
    """One executable with its arguments."""

    name = "command"
    tells_cost = True
    """True although a program may not name its cost: a limit refuses the first reply without one.
    """

    def __init__(self, argv: Sequence[str], model: str | None, environ: Mapping[str, str]) -> None:
        self.model = model
        env = environment(environ, starts=(_OWN, "XDG_"), ends=_KEYS)
        for name in ("SCHEMA", "MODEL", "USAGE"):
            env.pop(_OWN + name, None)
        self._env = env if model is None else {**env, f"{_OWN}MODEL": model}
        self._secrets = secrets(self._env)
        program = argv[0]
        if program.startswith("~/") and "HOME" in env:
            program = os.path.join(env["HOME"], program[2:])
        self._argv = (program, *argv[1:])

    def ask(self, call: Call) -> JudgeAnswer | NoAnswer | Retryable:
        """Run it once."""
        if "/" in self._argv[0] and not os.path.isabs(self._argv[0]):
            shown = words(self._argv[0])
            reason = f"flow.goals.judge.command: {shown} is relative; write the whole path"
            return none(self, "not_configured", reason)
        question = call.question
        schema = os.path.join(call.folder.files, "schema.json")
        with open(schema, "w", encoding="utf-8") as file:
            json.dump(closed(question.schema), file)
        told = os.path.join(call.folder.files, "usage.json")
        ended = run_with_input(
            self._argv,
            cwd=call.folder.cwd,
            env={**self._env, f"{_OWN}SCHEMA": schema, f"{_OWN}USAGE": told},
            stdin=f"{question.system}\n\n{question.prompt}".encode(),
            timeout=call.seconds,
            limit=LIMIT,
        )
        return self._read(ended, call, self._usage(told))

    def _read(
        self, ended: InputRunResult, call: Call, usage: Usage
    ) -> JudgeAnswer | NoAnswer | Retryable:
        shown = words(os.path.basename(self._argv[0]))
        no_answer = not_ended(
            self,
            ended,
            call.seconds,
            too_much=f"{shown} printed more than {LIMIT} bytes and was ended",
            not_found=f"flow.goals.judge.command: {shown} was not found",
            program=shown,
            usage=usage,
        )
        if no_answer is not None:
            return no_answer
        if ended.status != 0:
            stderr = words(ended.stderr, self._secrets, last=200)
            stderr = stderr or "it said nothing on standard error"
            reason = f"{shown} ended with exit status {ended.status}: {stderr}"
            if ended.status == TRY_AGAIN:
                return Retryable(none(self, "unavailable", reason, usage))
            return none(self, "error", reason, usage)
        reply = read_reply(ended.stdout, call.question.schema)
        if isinstance(reply, Unusable):
            reply = reply._replace(reason=words(reply.reason, self._secrets))
        return answered(self, reply, usage)

    def _usage(self, file: str) -> Usage:
        """Usage that the program wrote; none unless it is a small regular file with one object."""
        told = read_document(read_small(file, _USAGE_LIMIT) or b"", what="the usage")
        if isinstance(told, Unusable):
            told = {}
        return usage_of(
            self,
            told.get("model"),
            told.get("input_tokens"),
            told.get("output_tokens"),
            told.get("cost_usd"),
        )
