"""Spoilt files, whatever was done to them: an answer or the one error type, and in time.

At two levels: the functions that read, and the commands. Bounded and the same each time;
``--long`` tries hundreds of times as many, other ones each time.
"""

from __future__ import annotations

import json
import os
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.adapters.chain import event_log
from flow.adapters.chain.run_record import RunRecord
from flow.adapters.contracts import cache as contracts_cache
from flow.adapters.contracts import formats
from flow.adapters.fs import lenient_json
from flow.adapters.git.directories import repo_key
from flow.adapters.journal import store as journal_store
from flow.adapters.ledger import measuring, reader
from flow.adapters.user_state import settings, trust
from flow.adapters.worktree.cache import Table
from flow.errors import Fault, FlowError
from tests.hostile import mutate, places
from tests.hostile.scene import (
    GOAL,
    GOAL_FILE,
    JOURNAL,
    MEASURING,
    PENDING,
    RUN,
    RUN_DIR,
    SIDECAR,
    TRUST,
    check,
    statuses,
    watched,
)
from tests.support.effort import examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.hostile.scene import Done, Scene

NOW = "2026-03-01T10:15:00Z"
SEEDS = st.integers(0, 2**63)


def _document(name: str, valid: bytes) -> Any:
    """What the file holds, where its values can be spoilt one by one."""
    if name in ("output", "ignore file", "worktree cache", "journal"):
        return None
    try:
        return formats.parse_yaml(valid, file=name)
    except FlowError:
        return json.loads(valid) if valid[:1] in (b"{", b"[") else None


def spoil(name: str, valid: bytes, seed: int) -> bytes:
    """The file with something done to it: its bytes, or the values it holds."""
    random = Random(seed)
    if random.random() < 0.05:
        return random.randbytes(random.randrange(200))
    if random.random() < 0.4:
        return mutate.bytes_of(random, valid)
    if name in ("events", "trust"):
        return mutate.json_lines_of(random, valid)
    document = _document(name, valid)
    if document is None:
        return mutate.bytes_of(random, valid)
    return mutate.values_of(random, document)


# --- the functions that read ---


def _goal(scene: Scene, data: bytes) -> None:
    goal, _ = formats.read_goal(data, file="the goal")
    changes = [(("lifecycle", "status"), "blocked"), (("lifecycle", "turns_evaluated"), 7)]
    text = formats.edit(data.decode("utf-8"), changes, file="the goal")
    again, _ = formats.read_goal(text.encode("utf-8"), file="the goal")
    assert (again.status, again.turns_evaluated) == ("blocked", 7)
    assert again.digest() == goal.digest()


def _evidence(scene: Scene, data: bytes) -> None:
    scene.write_top(SIDECAR, data)
    files = reader.FileRecords(RunRecord(scene.top))
    found, warnings = files.evidence(RUN)
    assert len(found) + bool(warnings) >= 1
    if data != _valid(scene, "sidecar"):
        assert files.counted(SIDECAR) is None


def _events(scene: Scene, data: bytes) -> None:
    scene.write_top(f"{RUN_DIR}/events.jsonl", data)
    found, _ = event_log.read(scene.top, RUN)
    last = event_log.last_seq(scene.top, RUN)
    told = [lenient_json.mapping(line) for line in data.split(b"\n")[:-1]]
    assert list(found) == [event for event in told if event is not None]
    seq = event_log.append(scene.top, RUN, GOAL, "note", {"x": 1}, at=NOW)
    assert seq == last + 1
    again, _ = event_log.read(scene.top, RUN)
    assert again[-1]["type"] == "note"
    assert scene.read(f"{RUN_DIR}/events.jsonl").startswith(data)


def _baseline(scene: Scene, data: bytes) -> None:
    scene.write_top(f"{RUN_DIR}/baseline.json", data)
    files = reader.FileRecords(RunRecord(scene.top))
    found = files.baseline(RUN)
    if found is not None:
        document = json.loads(data)
        kept = json.loads(json.dumps(found._asdict()))
        assert {name: document.get(name, kept[name]) for name in kept} == kept
        for value in found:
            texts = value.values() if isinstance(value, dict) else value or ()
            assert all(isinstance(text, str) for text in texts)


def _proposal(scene: Scene, data: bytes) -> None:
    from flow.app.evaluation import proposals

    scene.write_top(f"{RUN_DIR}/proposal.json", data)
    found = reader.FileRecords(RunRecord(scene.top)).proposal(RUN)
    if found is not None and proposals.is_intact(found):  # all that decides is as it was made
        made = json.loads(_valid(scene, "proposal"))
        assert (found["to"], found["proposal_id"]) == (made["to"], made["proposal_id"])
        assert (found["contract"], found["tree"]) == (made["contract"], made["tree"])
        assert (found["evidence"], found["results"]) == (made["evidence"], made["results"])


def _last_verdict(scene: Scene, data: bytes) -> None:
    scene.write_top(f"{RUN_DIR}/last-verdict.json", data)
    found = reader.FileRecords(RunRecord(scene.top)).previous_verdict(RUN)
    if found is not None:
        assert found == json.loads(data)
        assert found.get("run_id", RUN) == RUN


def _measuring(scene: Scene, data: bytes) -> None:
    scene.write_top(MEASURING, data)
    found = measuring.unfinished(scene.top, RUN)
    assert found is None or found == set(map(str, json.loads(data)))


def _pending(scene: Scene, data: bytes) -> None:
    from flow.adapters.ledger import transaction

    scene.write_top(PENDING, data)
    before = scene.read(GOAL_FILE)
    transaction.finish(RunRecord(scene.top), GOAL)
    after = scene.read(GOAL_FILE)
    assert after == before or formats.read_goal(after, file="x")[0].id == GOAL


def _journal(scene: Scene, data: bytes) -> None:
    from flow.app.ports import Artifact

    scene.write_top(JOURNAL, data)
    artifact = Artifact("note", {"x": "y"})
    try:
        before = journal_store.read(scene.top, JOURNAL)
        journal_store.append(
            scene.top, JOURNAL, artifact, issue=7, now=NOW, branch="main", key="its-own-key"
        )
    except FlowError:
        assert scene.read(JOURNAL) == data
        raise
    after = journal_store.read(scene.top, JOURNAL)
    assert after.body == before.body or not before.front
    assert after.artifacts[:-1] == before.artifacts
    assert after.artifacts[-1]["x"] == "y"


def _settings(scene: Scene, data: bytes) -> None:
    scene.write_top(".claude/settings.flow.json", data)
    loaded = settings.load(scene.top, scene.home)
    assert not loaded.settings.execute_verification_commands  # never from the checkout


def _own_settings(scene: Scene, data: bytes) -> None:
    scene.write(places.FILES["own settings"], data)
    settings.load(scene.top, scene.home)


def _trust(scene: Scene, data: bytes) -> None:
    scene.write(TRUST, data)
    ledger = trust.TrustLedger(scene.state, repo_key(f"{scene.top}/.git", scene.top), "/x")
    goal, _ = formats.read_goal(scene.read(GOAL_FILE), file="x")
    newest = ledger.newest(GOAL)
    assert newest is None or (newest.goal_id == GOAL and newest.repo == f"{scene.top}/.git")
    assert not ledger.check(GOAL, "0" * 64)
    ledger.recorded_contract(GOAL)
    assert {e.action for e in ledger.standing()} <= {"record"}
    ledger.check(GOAL, goal.digest())


def _verdict(scene: Scene, data: bytes) -> None:
    from flow.adapters.ledger import verdicts

    document = formats.parse_json(data, file="the verdict")
    verdicts.write_verdict(RunRecord(scene.top).run(RUN), document, now=NOW)
    stored = json.loads(scene.read(f"{RUN_DIR}/last-verdict.json"))
    formats.check("verdict", stored, file="x")


def _lifecycle(scene: Scene, data: bytes) -> None:
    from flow.wiring.context import Context
    from flow.wiring.recording import update_lifecycle

    context = Context(scene.top, scene.environ)
    update_lifecycle(
        context, GOAL, data, "lifecycle", from_status=None, merge=True, increment_turns=True
    )
    assert formats.read_goal(scene.read(GOAL_FILE), file="x")[0].status != "achieved"


def _goal_cache(scene: Scene, data: bytes) -> None:
    path = f"{scene.parent}/{_files(scene)['goal cache']}"
    scene.write(_files(scene)["goal cache"], data)
    text = scene.read(GOAL_FILE)
    found = contracts_cache.load_checked(os.path.dirname(path), text)
    if found is not None:  # a cache of the user's own; what it gives is at least a valid goal
        formats.check("goal", found[0], file="x")


def _worktree_cache(scene: Scene, data: bytes) -> None:
    name = _files(scene)["worktree cache"]
    path = f"{scene.parent}/{name}"
    scene.write(name, data)
    base = json.loads(_valid(scene, "baseline"))["base_commit"]
    if data != _valid(scene, "worktree cache"):
        assert Table.load(path, base) is None or data.startswith(b"flow-worktree-cache")


READERS: dict[str, Callable[[Scene, bytes], None]] = {
    "goal": _goal,
    "sidecar": _evidence,
    "events": _events,
    "baseline": _baseline,
    "proposal": _proposal,
    "verdict": _last_verdict,
    "measuring": _measuring,
    "pending": _pending,
    "journal": _journal,
    "settings": _settings,
    "own settings": _own_settings,
    "trust": _trust,
    "verdict.json": _verdict,
    "lifecycle.yaml": _lifecycle,
    "goal cache": _goal_cache,
    "worktree cache": _worktree_cache,
}

_valid_bytes: dict[tuple[str, str], bytes] = {}


def _files(scene: Scene) -> dict[str, str]:
    """The files that are spoilt, below the parent folder."""
    found = {name: places.FILES[name] for name in READERS if name in places.FILES}
    found |= {name: places.FILES[name] for name in ("rubric", "output", "host settings")}
    found |= {"ignore file": "repo/.gitignore"}
    for name in ("goal.yaml", "evidence.yaml", "verdict.json", "lifecycle.yaml"):
        found[name] = f"repo/{name}"
    for name, folder in (("goal cache", "parsed"), ("worktree cache", "worktree")):
        cache = f"{scene.state}/cache/{folder}"
        first = sorted(os.listdir(cache))[0]
        found[name] = os.path.relpath(f"{cache}/{first}", scene.parent)
    return found


def _valid(scene: Scene, name: str) -> bytes:
    """The file as the scene has it."""
    key = (scene.parent, name)
    if key not in _valid_bytes:
        if name == "pending":
            _valid_bytes[key] = scene.pending
        else:
            with open(f"{scene.parent}/{_files(scene)[name]}", "rb") as file:
                _valid_bytes[key] = file.read()
    return _valid_bytes[key]


@pytest.mark.parametrize("name", READERS)
def test_every_reader_gives_an_answer_or_the_one_error(scene: Scene, name: str) -> None:
    valid = _valid(scene, name)
    before = scene.outside()

    @examples(20, long=10_000)
    @given(seed=SEEDS)
    def spoilt(seed: int) -> None:
        data = spoil(name, valid, seed)
        faults: tuple[Fault, ...] = ()
        try:
            with watched():
                READERS[name](scene, data)
        except FlowError as error:
            faults = error.faults
        finally:
            scene.restore()
        assert all(fault.message and (fault.file or fault.key) for fault in faults), faults

    spoilt()
    READERS[name](scene, valid)
    scene.restore()
    assert scene.outside() == before


# --- the commands ---

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("goal", "status", GOAL),
    ("goal", "status"),
    ("goal", "list"),
    ("goal", "history", GOAL),
    ("goal", "inspect", GOAL),
    ("goal", "evaluate", GOAL, "--no-input"),
    ("goal", "evaluate", GOAL, "--dry-run"),
    ("goal", "confirm", GOAL, "--proposal", "PROPOSAL"),
    ("goal", "pause", GOAL),
    ("goal", "resume", GOAL),
    ("goal", "clear", GOAL, "--yes"),
    ("goal", "approve", GOAL, "AC2", "--by", "x", "--note", "y", "--yes"),
    ("goal", "rebase", GOAL, "--yes"),
    ("goal", "amend", GOAL, "--file", "goal.yaml", "--yes"),
    ("goal", "amend", GOAL, "--file", "goal.yaml"),
    ("goal", "create", "new", "--from", GOAL, "--draft"),
    ("goal", "create", "--file", "goal.yaml"),
    ("evidence", "list", GOAL),
    ("evidence", "show", "evidence-ac1-eval-1", "--goal", GOAL),
    (
        *("evidence", "record", "--run-id", RUN),
        *("--evidence-file", "evidence.yaml", "--raw-output", "raw.txt"),
    ),
    ("verdict", "show", GOAL),
    ("verdict", "record", "--run-id", RUN, "--verdict-file", "verdict.json"),
    ("journal", "show", "--goal", GOAL),
    ("journal", "record", "--issue", "7", "--type", "note"),
    ("trust", "check", GOAL),
    ("trust", "check", "--goal-file", "goal.yaml"),
    ("trust", "record", GOAL, "--yes"),
    ("trust", "list"),
    ("trust", "revoke", GOAL),
    ("config", "list", "--show-origin"),
    ("report", GOAL),
    ("doctor",),
    ("doctor", "--fix"),
    ("init",),
)
HELPERS: tuple[tuple[str, ...], ...] = (
    ("flow-goal-record", "--create", "--goal-file", "goal.yaml"),
    (
        *("flow-goal-record", "--update-lifecycle", "--goal-id", GOAL),
        *("--lifecycle-file", "lifecycle.yaml"),
    ),
    (
        *("flow-goal-record", "--update-lifecycle", "--goal-id", GOAL),
        *("--lifecycle-file", "lifecycle.yaml", "--merge", "--increment-turns"),
    ),
    ("flow-active-goal", "--json"),
    ("flow-record-evidence", "--run-id", RUN, "--evidence-file", "evidence.yaml"),
    ("flow-record-verdict", "--run-id", RUN, "--verdict-file", "verdict.json"),
    ("flow-goal-trust", "check"),
    ("journal-record", "--issue", "7", "--type", "note"),
)
ONLY = {
    "goal.yaml": [words for words in (*COMMANDS, *HELPERS) if "goal.yaml" in words],
    "evidence.yaml": [words for words in (*COMMANDS, *HELPERS) if "evidence.yaml" in words],
    "verdict.json": [words for words in (*COMMANDS, *HELPERS) if "verdict.json" in words],
    "lifecycle.yaml": [words for words in HELPERS if "lifecycle.yaml" in words],
}
SPOILT = (
    *(name for name in READERS if name not in ONLY),
    *("rubric", "output", "host settings", "ignore file"),
    *ONLY,
)


def run(scene: Scene, words: tuple[str, ...], *, as_json: bool) -> Done:
    """A command or helper of the tables above."""
    words = tuple(scene.proposal_id if word == "PROPOSAL" else word for word in words)
    if words in HELPERS:
        return scene.helper(*words)
    return scene.flow(*words, *(["--json"] if as_json else []))


def achieved(scene: Scene) -> set[str]:
    """The goals whose files say so."""
    return {name for name, status in statuses(scene).items() if status == "achieved"}


@pytest.mark.parametrize("name", SPOILT)
def test_every_command_gives_an_answer_or_the_one_error(scene: Scene, name: str) -> None:
    """The goal's work is undone, so nothing can be achieved, whatever a file says."""
    scene.write_top("src/greet.txt", b"give me that\n")
    valid, where = _valid(scene, name), _files(scene)[name]
    before = scene.outside()

    @examples(10, long=7500)
    @given(seed=SEEDS)
    def spoilt(seed: int) -> None:
        random = Random(seed)
        words = random.choice(ONLY.get(name) or [*COMMANDS, *HELPERS])
        as_json = words not in HELPERS and random.random() < 0.3
        scene.write_top("src/greet.txt", b"give me that\n")
        scene.write(where, spoil(name, valid, seed))
        said, kept = achieved(scene), scene.outside()
        try:
            done = run(scene, words, as_json=as_json)
            check(done, (name, seed, words), as_json=as_json)
            assert scene.outside() == kept, (seed, words)
            assert achieved(scene) <= said, (seed, words)
            if as_json and words[:2] == ("goal", "evaluate") and "verdict" in done.stdout:
                assert json.loads(done.stdout).get("verdict") != "achieved", seed
        finally:
            scene.restore()

    spoilt()
    scene.restore()
    assert scene.outside() == before


# --- what was found ---


@pytest.mark.parametrize(
    "change",
    [
        {"to": "failed"},
        {"to": "active"},
        {"run_id": None},
        {"run_id": "../x"},
        {"evidence": []},
        {"evidence": [None, None]},
        {"evidence": 5},
        {"results": {}},
        {"contract": None},
        {"tree": []},
        {"reason": 5},
        {"proposal_id": "0" * 64},
    ],
    ids=str,
)
def test_a_proposal_that_was_changed_is_none(scene: Scene, change: dict[str, Any]) -> None:
    proposal = {**json.loads(_valid(scene, "proposal")), **change}
    proposal = {key: value for key, value in proposal.items() if value is not None}
    scene.write_top(f"{RUN_DIR}/proposal.json", json.dumps(proposal).encode())
    shown = scene.flow("goal", "status", GOAL, "--json")
    check(shown, change, as_json=True)
    assert json.loads(shown.stdout)["proposal"] is None
    for given_id in (scene.proposal_id, str(proposal.get("proposal_id"))):
        done = scene.flow("goal", "confirm", GOAL, "--proposal", given_id)
        check(done, change)
        assert done.status == 2
    assert achieved(scene) == set()
    again = scene.flow("goal", "evaluate", GOAL, "--json")  # and it is made anew
    made = json.loads(again.stdout)["proposed_transition"]["proposal_id"]
    assert scene.flow("goal", "confirm", GOAL, "--proposal", made).status == 0


@pytest.mark.parametrize(
    "change",
    [
        {"reason": [[[[[]]]]]},
        {"path_violations": 5},
        {"criterion_results": "x"},
        {"lifecycle": []},
        {"lifecycle": {"to": "active"}},
        {"proposed_transition": ["x"]},
        {"warnings": {"a": 1}},
        {"verdict": None},
    ],
    ids=str,
)
def test_a_verdict_of_another_shape_is_not_readable(scene: Scene, change: dict[str, Any]) -> None:
    verdict = {**json.loads(_valid(scene, "verdict")), **change}
    scene.write_top(f"{RUN_DIR}/last-verdict.json", json.dumps(verdict).encode())
    done = scene.flow("verdict", "show", GOAL)
    check(done, change)
    assert done.status == 2
    assert "no readable verdict" in done.stderr
    for words in (("report", GOAL), ("goal", "evaluate", GOAL)):
        done = scene.flow(*words)
        check(done, change)
        assert done.status == 0


@pytest.mark.parametrize("value", ["NaN", "1e999", "[" * 400 + "]" * 400])
def test_values_that_no_output_can_hold_are_not_read_back(scene: Scene, value: str) -> None:
    line = f'{{"at":"x","seq":9,"type":"note","goal_id":"{GOAL}","x":{value}}}\n'
    path = f"{scene.top}/{RUN_DIR}/events.jsonl"
    with open(path, "a") as file:
        file.write(line)
    for words in (("goal", "history", GOAL), ("goal", "history", GOAL, "--json"), ("report", GOAL)):
        done = scene.flow(*words)
        check(done, value, as_json="--json" in words)
        assert done.status == 0
        assert "NaN" not in done.stdout


def test_a_goal_that_a_command_turns_into_a_pipe(scene: Scene) -> None:
    """The watch on Flow's files does not wait for a writer."""
    scene.write_top("goal.yaml", scene.read("goal.yaml").replace(b"id: greet", b"id: pipe"))
    text = scene.read("goal.yaml").replace(b"run_id: r1", b"run_id: r2")
    command = b"rm .flow/goals/pipe.goal.yaml; mkfifo .flow/goals/pipe.goal.yaml"
    scene.write_top("goal.yaml", text.replace(b"grep -q please src/greet.txt", command))
    assert scene.flow("goal", "create", "--file", "goal.yaml").status == 0
    done = scene.flow("goal", "evaluate", "pipe")
    check(done, "pipe")
    assert done.status == 2
    assert ".flow/goals/pipe.goal.yaml" in done.stderr


def test_an_intent_that_no_journal_takes_is_named(scene: Scene) -> None:
    intent = json.loads(scene.pending)
    intent["artifact"]["fields"] = {"\x1b": "x"}
    scene.write_top(PENDING, json.dumps(intent).encode())
    done = scene.flow("goal", "pause", GOAL)
    check(done, "pending")
    assert done.status == 2
    assert PENDING in done.stderr


def test_a_record_that_could_not_be_read_back_is_not_written(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flow.adapters.ledger import goal_contracts

    monkeypatch.setattr(goal_contracts, "BASELINE_LIMIT", 100)
    words = ("--outcome", "x", "--criterion", "AC1: x :: true")
    done = scene.flow("goal", "create", "other", *words)
    check(done, "baseline")
    assert done.status == 2
    assert "baseline.json: too many files are uncommitted" in done.stderr
    assert not os.path.exists(f"{scene.top}/.flow/goals/other.goal.yaml")


def test_a_long_history_shows_its_end(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, "READ_LIMIT", 600)
    for number in range(20):
        event_log.append(scene.top, RUN, GOAL, "note", {"number": number}, at=NOW)
    done = scene.flow("goal", "history", GOAL, "--details")
    check(done, "history")
    assert "number=19" in done.stdout
    assert "number=3" not in done.stdout
    assert "older events are left out" in done.stderr
