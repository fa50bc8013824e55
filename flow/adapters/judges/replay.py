"""Replies recorded once and given again, so that tests with a judge need no judge.

A reply belongs to exactly one question: system text, prompt and schema. The caller has to put the
same question again (with a nonce that follows from its content, not a random one); a changed one
has no reply, and the reason says that. The k-th time a question is put it gets the k-th reply that
was recorded for it, so that several samples stay several.
"""

from __future__ import annotations

import hashlib
import json
import os

from flow.adapters.contracts.strict_json import read_json
from flow.adapters.fs import files
from flow.adapters.judges.reply_json import fitting, words
from flow.adapters.judges.service import dollars, tokens
from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage
from flow.core.judging.common.question import Unusable
from flow.errors import FlowError, in_file
from flow.startup.json import object_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.judging.port import AskJudge
    from flow.core.judging.common.question import Question

FORMAT = "flow-judge-replies/1"
_LIMIT = 32 << 20


def digest(question: Question) -> str:
    """SHA-256 (hex) of everything that the judge is given."""
    whole = {"system": question.system, "prompt": question.prompt, "schema": question.schema}
    text = json.dumps(whole, sort_keys=True, default=dict)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


class Recorder:
    """Asks ``ask`` and keeps every answer in the file at ``path``; no answers are not kept.

    ``answers`` holds, by digest, those of this run; recorders of the same file share it. As in a
    replay, the k-th time that one recorder is asked a question it gives the k-th of them, and only
    if there is none it asks: what a test saw when it was recorded is what it sees replayed.

    The first time a question is put in a run, its earlier recordings are dropped; the replies to
    other questions stay. Raises :class:`FlowError` if the file cannot be read or written. One
    process at a time.
    """

    def __init__(
        self, ask: AskJudge, path: str, answers: dict[str, list[JudgeAnswer]] | None = None
    ) -> None:
        self._ask, self._path = ask, path
        self._answers = {} if answers is None else answers
        self._given: dict[str, int] = {}

    @property
    def name(self) -> str:
        """The recorded judge's own."""
        return self._ask.name

    def __call__(self, question: Question, *, seconds: float) -> JudgeAnswer | NoAnswer:
        """Give the answer of this run, or ask and record."""
        key = digest(question)
        answers, number = self._answers.setdefault(key, []), self._given.get(key, 0)
        if number == len(answers):
            answer = self._ask(question, seconds=seconds)
            if isinstance(answer, NoAnswer):
                return answer
            answers.append(answer)
            self._write(key, question.label, answers)
        self._given[key] = number + 1
        return answers[number]

    def _write(self, key: str, label: str, answers: Sequence[JudgeAnswer]) -> None:
        replies = read(self._path)
        replies[key] = [
            {"label": label, "judge": self.name, "value": a.value, "usage": a.usage._asdict()}
            for a in answers
        ]
        document = {"format": FORMAT, "replies": dict(sorted(replies.items()))}
        text = json.dumps(document, indent=1, default=dict, allow_nan=False) + "\n"
        folder, name = _folder_and_name(self._path)
        files.replace(folder, name, text.encode("ascii"))


class Replayer:
    """Gives the recorded replies; never sends a request.

    ``remedy`` ends the reason if there is none: how to record anew. A missing or broken file is no
    answer too.
    """

    name = "recorded"

    def __init__(self, path: str, *, remedy: str = "record anew with a judge configured") -> None:
        self._path, self._remedy = path, remedy
        self._replies: dict[str, list[dict[str, Any]]] | None = None
        self._given: dict[str, int] = {}

    def __call__(self, question: Question, *, seconds: float) -> JudgeAnswer | NoAnswer:  # noqa: ARG002
        """The next reply to exactly this question."""
        try:
            if self._replies is None:
                self._replies = read(self._path)
        except FlowError as error:
            return self._none(words(str(error)))
        key = digest(question)
        rows = self._replies.get(key, [])
        number = self._given.get(key, 0)
        self._given[key] = number + 1
        file, label = words(os.path.basename(self._path)), words(question.label)
        if not rows:
            return self._none(f"{file} holds no reply to this prompt ({label}): the prompt changed")
        if number >= len(rows):
            times = "once" if len(rows) == 1 else f"{len(rows)} times"
            return self._none(f"{file}: {label}: asked again, and recorded {times} only")
        value = fitting(rows[number].get("value"), question.schema)
        if isinstance(value, Unusable):
            return NoAnswer(value.kind, f"{file}: {label}: {value.reason}", self._usage({}))
        return JudgeAnswer(value, self._usage(rows[number].get("usage")))

    def _none(self, reason: str) -> NoAnswer:
        return NoAnswer("unavailable", f"{reason}; {self._remedy}", self._usage({}))

    def _usage(self, told: Any) -> Usage:
        """Usage of the recorded call; replaying takes no time and no money of its own."""
        told = object_of(told)
        backend, model = told.get("backend"), told.get("model")
        return Usage(
            f"{self.name}: {words(backend)}" if isinstance(backend, str) else self.name,
            words(model) if isinstance(model, str) else None,
            tokens(told.get("input_tokens")),
            tokens(told.get("output_tokens")),
            dollars(told.get("cost_usd")),
        )


def read(path: str) -> dict[str, list[dict[str, Any]]]:
    """The replies by digest; none if there is no file. Raises :class:`FlowError`."""
    folder, name = _folder_and_name(path)
    data = files.read_optional(folder, name, limit=_LIMIT)
    if data is None:
        return {}
    document = read_json(data, file=name, what="file of recorded replies", limit=_LIMIT)
    replies = document.get("replies") if isinstance(document, dict) else None
    if not isinstance(replies, dict) or document.get("format") != FORMAT or not _is_sound(replies):
        raise in_file(name, "format").invalid(
            "not a file of recorded replies", f"it has to say {FORMAT}; remove it and record anew"
        )
    return replies


def _is_sound(replies: Mapping[str, Any]) -> bool:
    return all(
        isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
        for rows in replies.values()
    )


def _folder_and_name(path: str) -> tuple[str, str]:
    whole = os.path.abspath(path)
    return os.path.dirname(whole), os.path.basename(whole)
