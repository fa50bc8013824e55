"""Evidence commands are told of as other commands are: what was masked, and that time passes."""

from __future__ import annotations

from flow.app.checks import CheckResult
from flow.app.evaluation.values import Listener, Request
from flow.core.decision.decide import NoOpinion
from tests.app.fakes import World, criterion, evaluate, goal_document


class Ticking(Listener):
    ticks = 0

    def ticked(self) -> None:
        self.ticks += 1


def test_a_collected_sidecar_counts_what_was_masked_and_the_wait_is_shown() -> None:
    world = World(goal_document(criterion("AC1", None, evidence_command="show it"), kind="hybrid"))
    world.judge = lambda *_: NoOpinion("nobody answered")
    world.listener = listener = Ticking()
    done = CheckResult("passed", 0, "exit 0", "", 0.1, None, 9, 0, (), (), redacted=(("token", 2),))
    world.results["AC1"] = done
    evaluate(Request("issue-4"), world.tools())
    [sidecar] = [e for e in world.evidence.values() if "collected" in e.id]
    assert sidecar.document["evidence"]["masked"] == {"token": 2}
    assert listener.ticks == 1
