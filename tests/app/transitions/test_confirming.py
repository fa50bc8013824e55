"""The question before a goal is closed: when there is one, and what it knows of trust."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from flow.app.transitions import confirming
from flow.errors import StorageError


def test_a_trust_ledger_that_cannot_be_used_knows_nothing() -> None:
    def history(_goal_id: str) -> list[Any]:
        raise StorageError("the trust ledger cannot be read")

    port: Any = SimpleNamespace(trust_ledger=SimpleNamespace(history=history))
    assert not confirming._trusted_contracts(port, "greet")


@pytest.mark.parametrize("live", [True, False])
def test_a_question_is_asked_of_a_live_proposal_alone(
    live: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = {"run_id": "run-1"} if live else None
    held: list[str] = []
    records = SimpleNamespace(together=lambda run: held.append(run) or nullcontext())
    monkeypatch.setattr(confirming, "live_proposal", lambda *_: proposal)
    monkeypatch.setattr(confirming, "question", lambda *words: words)
    checkout: Any = SimpleNamespace(
        load=lambda name: SimpleNamespace(goal=name),
        closing_context=lambda: SimpleNamespace(records=records),
    )
    asked: Any = confirming.live_question(checkout, "greet", "look", "counted")  # type: ignore[arg-type]
    if live:
        assert (asked[2:], held) == ((proposal, checkout, "look", "counted"), ["run-1"])
    else:
        assert (asked, held) == (None, [])


class Proposed(SimpleNamespace):
    """A value whose fields are replaced as a named tuple's are."""

    def _replace(self, **more: Any) -> Proposed:
        return Proposed(**{**vars(self), **more})


@pytest.mark.parametrize(
    ("proposed", "asked_about", "told"),
    [("p1", "p1", True), ("p1", "p2", False), ("p1", None, False), (None, "p1", False)],
)
def test_a_verdict_holds_the_question_about_its_own_proposal(
    proposed: str | None, asked_about: str | None, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def asked(*words: Any) -> Any:
        seen.append(words[1:])
        if asked_about is None:
            return None
        return SimpleNamespace(proposal_id=asked_about, to_document=lambda: {"moved": []})

    monkeypatch.setattr(confirming, "live_question", asked)
    transition = Proposed(proposal_id=proposed, confirm=None) if proposed else None
    verdict = Proposed(goal_id="greet", proposed_transition=transition)
    facts = SimpleNamespace(last_snapshot="look", counted="counted")
    port: Any = SimpleNamespace()
    after: Any = confirming.with_question(port, (verdict, facts))  # type: ignore[arg-type]
    if told:
        assert after.proposed_transition.confirm == {"moved": []}
    else:
        assert after is verdict
    assert seen == ([("greet", "look", "counted")] if proposed else [])
