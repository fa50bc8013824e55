"""Recorded replies: the same question gets the same answer, any other one none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.judges.replay import Recorder, Replayer, digest
from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage
from flow.core.judging.common.question import Question
from flow.errors import FlowError
from tests.adapters.judges.scene import ANSWER, QUESTION, SCHEMA

if TYPE_CHECKING:
    from pathlib import Path

USAGE = Usage("claude", "m-1", 10, 20, 0.5, 3.0, 2)
OTHER = QUESTION._replace(prompt="Is that done?")


class Scripted:
    """A judge that answers with a growing confidence, or with none at all."""

    name = "claude:m-1"

    def __init__(self, none: bool = False) -> None:
        self.asked = 0
        self.none = none

    def __call__(self, question: Question, *, seconds: float) -> JudgeAnswer | NoAnswer:
        self.asked += 1
        if self.none:
            return NoAnswer("timeout", "slow", USAGE)
        return JudgeAnswer({**ANSWER, "confidence": self.asked / 10}, USAGE)


def confidence(found: JudgeAnswer | NoAnswer) -> Any:
    assert isinstance(found, JudgeAnswer), found
    return found.value["confidence"]


def test_what_was_recorded_is_given_again_in_order(tmp_path: Path) -> None:
    path = str(tmp_path / "replies.json")
    recorder = Recorder(Scripted(), path)
    assert recorder.name == "claude:m-1"
    recorded = [recorder(q, seconds=1) for q in (QUESTION, OTHER, QUESTION)]
    assert [confidence(found) for found in recorded] == [0.1, 0.2, 0.3]
    replayer = Replayer(path)
    again = [replayer(q, seconds=1) for q in (QUESTION, QUESTION, OTHER)]
    assert [confidence(found) for found in again] == [0.1, 0.3, 0.2]
    assert again[0].usage == Usage("recorded: claude", "m-1", 10, 20, 0.5)
    assert (again[0].value if isinstance(again[0], JudgeAnswer) else None) == {
        **ANSWER,
        "confidence": 0.1,
    }
    assert confidence(Replayer(path)(QUESTION, seconds=1)) == 0.1


@pytest.mark.parametrize(
    "changed",
    [
        OTHER,
        QUESTION._replace(system="You are another judge."),
        QUESTION._replace(schema={**SCHEMA, "title": "x"}),
    ],
)
def test_a_changed_question_has_no_reply_and_says_how_to_get_one(
    changed: Question, tmp_path: Path
) -> None:
    path = str(tmp_path / "replies.json")
    Recorder(Scripted(), path)(QUESTION, seconds=1)
    found = Replayer(path, remedy="record anew with --record")(changed, seconds=1)
    assert isinstance(found, NoAnswer)
    assert found.kind == "unavailable"
    assert "the prompt changed; record anew with --record" in found.reason


def test_a_label_is_no_part_of_the_question(tmp_path: Path) -> None:
    assert digest(QUESTION._replace(label="another")) == digest(QUESTION)
    assert digest(QUESTION) != digest(OTHER)


def test_asking_more_often_than_recorded_makes_no_agreement_up(tmp_path: Path) -> None:
    path = str(tmp_path / "replies.json")
    Recorder(Scripted(), path)(QUESTION, seconds=1)
    replayer = Replayer(path)
    assert isinstance(replayer(QUESTION, seconds=1), JudgeAnswer)
    found = replayer(QUESTION, seconds=1)
    assert isinstance(found, NoAnswer)
    assert "recorded once only" in found.reason


def test_recording_anew_replaces_what_was_recorded_before(tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    old = Recorder(Scripted(), str(path))
    for question in (QUESTION, QUESTION, OTHER):
        old(question, seconds=1)
    Recorder(Scripted(), str(path))(QUESTION, seconds=1)
    document = json.loads(path.read_text())
    assert len(document["replies"][digest(QUESTION)]) == 1
    assert len(document["replies"][digest(OTHER)]) == 1
    assert path.read_text().isascii()


def test_no_answer_is_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    found = Recorder(Scripted(none=True), str(path))(QUESTION, seconds=1)
    assert isinstance(found, NoAnswer)
    assert not path.exists()


def test_without_a_file_there_is_no_reply(tmp_path: Path) -> None:
    found = Replayer(str(tmp_path / "none.json"))(QUESTION, seconds=1)
    assert isinstance(found, NoAnswer)
    assert found.kind == "unavailable"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": "other", "replies": {}}',
        '{"format": "flow-judge-replies/1", "replies": []}',
        '{"format": "flow-judge-replies/1", "replies": {"a": {}}}',
        '{"format": "flow-judge-replies/1", "replies": {"a": [1]}}',
        '{"format": "flow-judge-replies/1", "replies": {}, "replies": {}}',
        "\x1b[31m",
    ],
)
def test_a_broken_file_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    path.write_text(text)
    found = Replayer(str(path))(QUESTION, seconds=1)
    assert isinstance(found, NoAnswer)
    assert (found.kind, "replies.json" in found.reason) == ("unavailable", True)
    assert found.reason.isprintable()
    with pytest.raises(FlowError):
        Recorder(Scripted(), str(path))(QUESTION, seconds=1)


def test_a_reply_that_somebody_changed_is_checked_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    Recorder(Scripted(), str(path))(QUESTION, seconds=1)
    path.write_text(path.read_text().replace('"achieved"', '"surely"'))
    found = Replayer(str(path))(QUESTION, seconds=1)
    assert isinstance(found, NoAnswer)
    assert found.kind == "wrong_shape"


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target.json"
    Recorder(Scripted(), str(target))(QUESTION, seconds=1)
    link = tmp_path / "link.json"
    link.symlink_to(target)
    assert isinstance(Replayer(str(link))(QUESTION, seconds=1), NoAnswer)
