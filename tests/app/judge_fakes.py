"""A court for the tests: judges with scripted replies around the fakes' one checkout."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flow.app.checks import RawOutput
from flow.app.evaluation.values import JudgeCase, Request
from flow.app.judging import goal as judging_goal
from flow.app.judging.changed_files import EvidenceFiles, Raw
from flow.app.judging.gathering import ContextSources
from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage
from flow.app.judging.records import OpinionRecorder
from flow.core.decision.decide import NoOpinion, Opinion
from flow.core.decision.verdict import Verdict
from flow.core.evidence.model import Evidence
from flow.core.judging.common.question import Question
from flow.core.settings import JudgeSettings
from tests.app.fakes import NOW, Reading, World, evaluate

Reply = Mapping[str, Any] | NoAnswer | Callable[[Question], Mapping[str, Any]]


class FakeJudge:
    """Answers with its replies in order, the last one again and again."""

    def __init__(self, name: str = "fake", *replies: Reply, cost: float | None = None) -> None:
        self.name = name
        self.replies = list(replies)
        self.questions: list[Question] = []
        self.seconds: list[float] = []
        self.cost = cost

    def __call__(self, question: Question, *, seconds: float) -> JudgeAnswer | NoAnswer:
        self.questions.append(question)
        self.seconds.append(seconds)
        reply = self.replies[min(len(self.questions), len(self.replies)) - 1]
        if isinstance(reply, NoAnswer):
            return reply
        value = reply(question) if callable(reply) else reply
        return JudgeAnswer(value, Usage(self.name, "m-1", 10, 5, self.cost, 1.5, 2))


def silent(kind: str = "timeout", reason: str = "took too long", name: str = "fake") -> NoAnswer:
    return NoAnswer(kind, reason, Usage(name))  # type: ignore[arg-type]


def row(id: str, status: str, *quotes: str) -> dict[str, Any]:
    return {
        "criterion_id": id,
        "evidence": list(quotes),
        "reason": f"{id} {status}",
        "status": status,
    }


def reply(verdict: str, *rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "criterion_results": list(rows),
        "reason": "the reason",
        "next_step_hint": "the hint",
        "blocker_type": "none",
        "confidence": 0.9,
        "verdict": verdict,
        **more,
    }


class Records(Reading):
    """The reading side with everything a judge context asks for."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.counted = world.counted
        self.previous_verdict = world.previous_verdict
        self.discounted = world.discounted


class Court:
    """The panel of one world, and what its judges may read."""

    def __init__(self, world: World, *panel: FakeJudge | NoAnswer) -> None:
        self.world, self.panel = world, panel
        self.outputs: dict[str, bytes] = {}
        self.files: dict[str, bytes] = {}
        self.changed: dict[str, bytes] | None = None
        """What the changed files hold; None where none are sent."""
        self.asked_files: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
        self.left_out: tuple[str, ...] = ()
        self.canary = False
        self.seconds = 60.0
        self.time = 0.0
        self.distrusted: dict[str, str] = {}
        self.kept: list[bytes] = []
        self.progress: list[tuple[str, str, float]] = []
        self.opinions: list[Opinion | NoOpinion] = []
        self.nonces = 0
        world.judge = self.ask

    def tools(self) -> judging_goal.JudgeTools:
        return judging_goal.JudgeTools(
            panel=self.panel,
            sources=ContextSources(
                records=Records(self.world),  # type: ignore[arg-type]
                output=self.output,
                files=self.find,
                journals=("/.decisions",),
                now=NOW,
                changed=None if self.changed is None else self.look_at_changes,
            ),
            recorder=OpinionRecorder(self.world, self.stash, lambda: NOW),  # type: ignore[arg-type]
            nonce=self.nonce,
            monotonic=lambda: self.time,
            trusted=lambda name: (name not in self.distrusted, self.distrusted.get(name, "")),
            settings=JudgeSettings(timeout_seconds=self.seconds, canary=self.canary),
            listener=self,  # type: ignore[arg-type]
        )

    def ask(self, case: JudgeCase) -> Opinion | NoOpinion:
        found = judging_goal.judge_goal(case, self.tools())
        self.opinions.append(found)
        return found

    def recall(self, case: JudgeCase) -> Opinion | None:
        return judging_goal.recall_opinion(case, self.tools())

    def evaluate(self, **request: Any) -> Verdict:
        return evaluate(Request("issue-4", **request), self.world.tools())

    def output(self, evidence: Evidence) -> Raw:
        return Raw(self.outputs.get(evidence.id, b""))

    def find(self, patterns: Sequence[str], denied: Sequence[str]) -> EvidenceFiles:
        self.asked_files.append((tuple(patterns), tuple(denied)))
        return EvidenceFiles(
            tuple((name, Raw(data)) for name, data in self.files.items()), self.left_out
        )

    def look_at_changes(self, _paths: Sequence[str], _denied: Sequence[str]) -> EvidenceFiles:
        return EvidenceFiles(
            tuple((name, Raw(data)) for name, data in (self.changed or {}).items())
        )

    def stash(self, data: bytes) -> RawOutput:
        self.kept.append(data)
        return RawOutput(f"/somewhere/{len(self.kept)}", "d" * 64, len(data))

    def nonce(self) -> str:
        self.nonces += 1
        return f"{self.nonces:032x}"

    def asking(self, judge: str, what: str, seconds: float) -> None:
        self.progress.append((judge, what, seconds))
