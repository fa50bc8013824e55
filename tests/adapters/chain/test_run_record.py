"""Which entries of a run count: those that a process of Flow's has kept as its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flow.adapters.chain import check as chain_check
from flow.adapters.chain import ledger_file, pinned_heads
from flow.adapters.chain.pinned_heads import PinnedHeads
from flow.adapters.chain.run_record import RunRecord
from flow.adapters.chain.session_writes import RunWrites
from flow.adapters.fs import files
from flow.adapters.ledger import evidence_store, gc
from flow.adapters.ledger.reader import FileRecords
from flow.core import layout
from flow.core.chain.entries import following
from flow.errors import StorageError
from flow.startup.json import canonical
from tests.support import ledger_scene as scene
from tests.support.forger import Forger

RUN = scene.RUN
LEDGER = layout.ledger_file(RUN)


@pytest.fixture
def root(tmp_path):
    top = tmp_path / "top"
    top.mkdir()
    scene.start(str(top))
    return str(top)


@pytest.fixture
def heads(tmp_path, root):
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return PinnedHeads(str(folder), root)


class Process:
    """What one process of Flow's remembers; several of them take turns in this one."""

    def __init__(self, root, heads):
        self.root, self.heads = root, heads
        self.session = RunRecord(root, lambda: heads)
        self.run = self.session.run(RUN)

    def measure(self, then):
        """Begin an evaluation of the goal, ``settle`` or ``abort`` it."""
        getattr(self.session, then)(scene.GOAL)

    def record(self, name, data=b"output\n"):
        raw = scene.raw(self.root, data) if data is not None else None
        document = scene.document(name)
        evidence_store.record(self.session, document, raw, suffix=True, now=scene.NOW)

    def keep(self):
        self.session.commit(RUN)

    def discount(self, name):
        evidence_store.discount(self.run, scene.GOAL, name, ["x"], now=scene.NOW)

    def counted(self, *names):
        """Those of the sidecars that count for it."""
        records = FileRecords(self.session)
        refs = {name: layout.evidence_file(RUN, name) for name in names}
        return [name for name, ref in refs.items() if records.counted(ref) is not None]


@pytest.fixture
def process(root, heads):
    return lambda: Process(root, heads)


def forge(root, name="forged"):
    return Forger(Path(root, layout.run_dir(RUN))).put(scene.document(name), b"", "evaluator")


def notes(root, heads):
    return "\n".join(chain_check.check(root, RUN, heads.read(RUN)).notes)


def test_before_it_is_kept_it_counts_for_its_own_process_alone(process):
    one, two = process(), process()
    one.record("a")
    assert (one.counted("a"), two.counted("a")) == (["a"], [])
    one.keep()
    assert (one.counted("a"), two.counted("a")) == (["a"], ["a"])


def test_questions_about_one_moment_read_the_heads_once_and_again_after_a_write(
    process, heads, monkeypatch
):
    one, two = process(), process()
    one.record("a")
    one.keep()
    readings, read = [], PinnedHeads.read
    monkeypatch.setattr(PinnedHeads, "read", lambda *how: readings.append(how) or read(*how))
    with FileRecords(two.session).together(RUN), two.session.heads_read_once():
        assert two.counted("a", "b", "c") == ["a"]
        assert len(readings) == 1
        one.record("b")
        one.keep()
        assert two.counted("a", "b") == ["a"], "as of the moment that was asked about"
        two.record("c")
        two.keep()
        assert two.counted("a", "b", "c") == ["a", "b", "c"]
    del readings[:]
    one.record("d")
    one.keep()
    assert two.counted("d") == ["d"]
    assert readings, "behind it each question reads them again"


def test_nothing_is_looked_up_in_the_ledger_to_keep_what_one_appended(process, monkeypatch):
    one = process()
    for turn in range(3):
        one.record(f"a-{turn}")
        one.record(f"b-{turn}")
        with monkeypatch.context() as patch:
            patch.setattr(ledger_file.EntryLinks, "get", None)
            one.keep()
    assert len(process().counted("a-0", "b-0", "a-1", "b-1", "a-2", "b-2")) == 6


def test_what_a_killed_process_left_never_counts(process, root, heads):
    one, killed, two = process(), process(), process()
    one.record("a")
    one.keep()
    killed.record("lost")
    killed.record("lost-as-well")
    assert process().counted("a", "lost") == ["a"]
    assert "entry 2 of run r1 (lost, by evaluator) counts for nothing" in notes(root, heads)
    two.record("b")
    two.keep()
    assert heads.read(RUN).unvouched == ((2, 3),)
    assert process().counted("a", "b", "lost", "lost-as-well") == ["a", "b"]
    assert "entry 3 of run r1 (lost-as-well, by evaluator)" in notes(root, heads)
    assert chain_check.check(root, RUN, heads.read(RUN)).findings == ()


def test_two_that_write_at_once_vouch_for_what_each_has_appended(process, heads):
    one, two = process(), process()
    one.record("a")
    two.record("b")
    one.record("c")
    two.keep()
    assert heads.read(RUN).unvouched == ((1, 1),)
    assert process().counted("a", "b", "c") == ["b"]
    one.record("d")
    one.keep()
    assert heads.read(RUN).unvouched == ()
    assert process().counted("a", "b", "c", "d") == ["a", "b", "c", "d"]


def test_the_slower_one_keeps_below_the_head(process, heads):
    one, two = process(), process()
    one.record("a")
    two.record("b")
    two.keep()
    head = heads.read(RUN).ledger
    one.keep()
    assert heads.read(RUN) == heads.read(RUN)._replace(ledger=head, unvouched=())
    assert process().counted("a", "b") == ["a", "b"]


@pytest.mark.parametrize("between", [True, False])
def test_what_was_forged_between_an_append_and_the_keeping(process, root, heads, between):
    one = process()
    one.record("a")
    forge(root)
    if between:
        one.record("b")
    one.keep()
    assert process().counted("a", "b", "forged") == (["a", "b"] if between else ["a"])
    assert heads.read(RUN).unvouched == (((2, 2),) if between else ())
    one.record("c")
    one.keep()
    assert "forged" not in process().counted("forged", "a", "c")


def test_an_own_entry_that_was_replaced_is_not_vouched_for(process, root, heads):
    """Another process has kept a head that leads to the one put in its place."""
    slow, other = process(), process()
    slow.record("a")
    file = Forger(Path(root, layout.run_dir(RUN)))
    fields = file.write(scene.document("a"), b"other", "evaluator")
    file.rewrite(lambda entries: [{**entries[0], **fields}])
    other.record("b")
    other.keep()
    slow.keep()
    assert heads.read(RUN).unvouched == ((1, 1),)
    assert process().counted("a", "b") == ["b"]


def test_a_head_stays_where_the_chain_does_not_lead_back_to_it(process, root, heads):
    one = process()
    for name in ("a", "b"):
        one.record(name)
    one.keep()
    before = heads.read(RUN)
    file = Forger(Path(root, layout.run_dir(RUN)))
    file.rewrite(lambda entries: [{**entries[0], "at": "2026-03-01T10:15:09Z"}, *entries[1:]])
    two = process()
    two.record("c")
    two.keep()
    assert heads.read(RUN).ledger == before.ledger
    assert two.counted("a", "b", "c") == ["c"]
    assert process().counted("a", "b", "c") == []


def test_one_number_twice_is_not_below_the_head(process, root, heads):
    """A forged entry that follows the head, and says a low number."""
    one = process()
    for name in ("a", "b", "c"):
        one.record(name)
    one.keep()
    file = Forger(Path(root, layout.run_dir(RUN)))
    fields = file.write(scene.document("forged"), b"", "evaluator")
    last = ledger_file.last(root, RUN)
    low = following(last.head._replace(number=1), RUN, fields)
    file.append("ledger.jsonl", low._asdict())
    two = process()
    two.record("d")
    two.keep()
    assert ledger_file.last(root, RUN).seq == 3
    assert process().counted("a", "b", "c", "d", "forged") == ["a", "b", "c"]


def test_lines_put_in_between_change_nothing(process, root):
    one = process()
    for name in ("a", "b"):
        one.record(name)
    one.keep()
    lines = files.read_bytes(root, LEDGER).splitlines(keepends=True)
    fields = json.loads(lines[0])
    other = canonical({**fields, "by": "approver"}) + b"\n"
    files.replace(root, LEDGER, lines[0] + other + b"junk\n" + lines[1] + other)
    assert process().counted("a", "b") == ["a", "b"]


@pytest.mark.parametrize("then", ["settle", "abort", "killed"])
def test_what_is_being_measured_is_not_kept_before_it_is_settled(process, root, heads, then):
    """Whatever else is kept meanwhile: it may be discounted yet."""
    one, other = process(), process()
    one.record("a")
    one.measure("begin")
    one.record("b")
    other.record("c")
    other.keep()
    one.keep()
    assert process().counted("a", "b", "c") == ["a", "c"]
    assert one.counted("a", "b", "c") == ["a", "b", "c"]
    if then == "killed":
        one = process()
    else:
        one.measure(then)
    one.record("d")
    one.keep()
    assert process().counted("a", "b", "c", "d") == (
        ["a", "b", "c", "d"] if then == "settle" else ["a", "c", "d"]
    )
    assert one.counted("b") == (["b"] if then == "settle" else [])
    assert heads.read(RUN).unvouched == (() if then == "settle" else ((2, 2),))


def test_an_evaluation_holds_back_its_own_goal_alone(process, root):
    one = process()
    one.session.begin("another")
    one.record("a")
    one.keep()
    one.session.abort("another")
    assert process().counted("a") == ["a"]


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "killed before"])
def test_what_another_process_takes_out_counts_no_more(process, kept):
    """The state folder vouches for it, and its newest event says otherwise."""
    one, other = process(), process()
    one.record("a")
    one.record("b")
    one.keep()
    other.discount("a")
    if kept:
        other.keep()
    assert process().counted("a", "b") == ["b"]


def test_what_was_taken_out_stays_out(process, heads):
    """Kept already or not; and whatever becomes of the event."""
    one = process()
    one.record("a")
    one.keep()
    one.record("b")
    one.record("c")
    one.discount("a")
    one.discount("b")
    assert one.counted("a", "b", "c") == ["c"]
    one.keep()
    assert heads.read(RUN).unvouched == ((1, 2),)
    one.record("d")
    one.keep()
    assert process().counted("a", "b", "c", "d") == ["c", "d"]


def test_what_was_taken_back_is_forgotten(process, root, heads, monkeypatch):
    one = process()
    one.record("a")
    with monkeypatch.context() as patch:

        def full(*_, **__):
            raise StorageError("the disk is full")

        patch.setattr(evidence_store.event_log, "append", full)
        with pytest.raises(StorageError):
            one.record("b")
    one.record("c")
    one.keep()
    assert heads.read(RUN).unvouched == ()
    assert process().counted("a", "b", "c") == ["a", "c"]


def test_dropped_outputs_go_on_the_record_of_who_dropped_them(process, root, heads):
    one = process()
    one.record("a")
    one.keep()
    assert gc.drop(one.run, by="gc", now=scene.NOW) == (1, 7)
    one.keep()
    assert (heads.read(RUN).ledger.number, heads.read(RUN).unvouched) == (2, ())
    assert process().counted("a") == ["a"]


@pytest.mark.parametrize(
    "text",
    [None, b"", b"junk", b'{"files":{},"ledger":null,"events":null,"unvouched":[[1]]}',
     b'{"files":{},"ledger":null,"events":null,"unvouched":7}',
     b'{"files":{},"ledger":null,"events":null,"unvouched":["ab"]}'],
)  # fmt: skip
def test_heads_that_were_lost_vouch_for_nothing_before(process, root, heads, text):
    """A torn file after a power cut; ``--forget``; a state folder that is new."""
    one = process()
    one.record("a")
    one.keep()
    if text is None:
        heads.forget(RUN)
    else:
        Path(heads.path(RUN)).write_bytes(text)
    assert process().counted("a") == []
    two = process()
    two.keep()
    assert heads.read(RUN).ledger is None
    two.record("b")
    two.keep()
    assert heads.read(RUN).unvouched == ((1, 1),)
    assert process().counted("a", "b") == ["b"]


def test_a_list_that_grows_too_long_vouches_for_less(process, root, heads, monkeypatch):
    monkeypatch.setattr(pinned_heads, "INTERVALS_LIMIT", 2)
    one = process()
    for number in range(4):
        one.record(f"a-{number}")
        one.keep()
        forge(root, f"forged-{number}")
    one.record("b")
    one.keep()
    assert heads.read(RUN).unvouched == ((2, 6), (8, 8))
    names = [f"a-{number}" for number in range(4)]
    assert process().counted(*names, "b") == ["a-0", "a-3", "b"]


def test_without_a_state_folder_only_what_was_just_recorded_counts(process, root, heads):
    one = process()
    one.record("a")
    one.keep()
    os.chmod(heads._folder, 0o777)
    two = process()
    two.record("b")
    assert two.counted("a", "b", "a") == ["b"]
    assert len(two.session.troubles) == 1
    assert "may be written by others" in next(iter(two.session.troubles))


def test_why_nothing_counts_is_said(process, root, heads, monkeypatch):
    one = process()
    one.record("a")
    two = process().session
    assert two.entry(RUN, "a") is None
    assert list(two.troubles) == [
        "your state folder knows nothing of run r1: nothing that was recorded before counts"
    ]
    one.keep()

    def unreadable(*_: object, **__: object) -> bytes:
        raise StorageError("cannot read it: Too many open files", file="heads")

    monkeypatch.setattr(pinned_heads.files, "read_optional", unreadable)
    three = process().session
    assert three.entry(RUN, "a") is None
    (told,) = three.troubles  # and not that what was not read is torn
    assert told.startswith("heads: cannot read it: Too many open files")


@pytest.mark.parametrize("how", ["pinned", "removed", "torn", "another run's"])
def test_heads_that_were_read_before_are_read_again_once_their_file_changed(
    process, root, heads, monkeypatch, how
):
    """Once its stamps tell of every later change, the file is not opened at every question."""
    monkeypatch.setattr(pinned_heads, "is_settled", lambda _: True)
    process_of_a = process()
    process_of_a.record("a")
    process_of_a.keep()
    before = heads.read(RUN)
    with monkeypatch.context() as patch:
        patch.setattr(files, "read_optional", lambda *_, **__: pytest.fail("it was read again"))
        assert heads.read(RUN) == before
    if how == "pinned":
        another = Process(root, PinnedHeads(heads.path(RUN).partition("/chains/")[0], root))
        another.record("b")
        another.keep()
        assert heads.read(RUN).ledger.number == 2
    elif how == "removed":
        os.unlink(heads.path(RUN))
        assert heads.read(RUN) is None
    elif how == "torn":
        os.truncate(heads.path(RUN), 20)
        assert heads.read(RUN).broken
    else:
        assert heads.read("another") is None
        assert heads.read(RUN) == before


def test_heads_that_were_written_just_now_are_read_at_every_question(process, heads, monkeypatch):
    """Another write could get the stamps of the one before."""
    one, readings, read = process(), [], files.read_optional
    one.record("a")
    one.keep()

    def counted(root, rel, **how):
        readings.append(rel)
        return read(root, rel, **how)

    monkeypatch.setattr(files, "read_optional", counted)
    monkeypatch.setattr(pinned_heads, "is_settled", lambda _: False)
    for _ in range(3):
        heads.read(RUN)
    assert len(readings) == 3


def test_small_files_count_as_they_were_left(process, root, heads):
    rel = layout.proposal_file(RUN)
    document = {"proposal_id": "b" * 64, "goal_id": scene.GOAL, "to": "achieved"}
    data = json.dumps(document).encode()

    def proposal(one):
        return FileRecords(one.session).proposal(RUN)

    one, two = process(), process()
    files.replace(root, rel, data)
    assert proposal(one) is None
    one.run.wrote(rel, data)
    assert (proposal(one), proposal(two)) == (document, None)
    one.keep()
    assert (proposal(one), proposal(two)) == (document, document)
    files.replace(root, rel, data + b" ")
    assert (proposal(one), proposal(two)) == (None, None)
    one.run.wrote(rel, None)
    files.replace(root, rel, data)
    one.keep()
    assert (proposal(one), proposal(two)) == (None, None)


WORKER = """
import sys
from flow.adapters.ledger import evidence_store
from flow.adapters.chain.pinned_heads import PinnedHeads
from flow.adapters.chain.run_record import RunRecord
from tests.support import ledger_scene as scene
from tests.support.patience import patient_locks
patient_locks()
root, folder, name = sys.argv[1:]
record = RunRecord(root, lambda: PinnedHeads(folder, root))
for number in range(12):
    for part in ("x", "y"):
        document = scene.document(f"{name}-{number}{part}")
        evidence_store.record(record, document, None, suffix=False, now=scene.NOW)
    record.commit(scene.RUN)
"""


def test_racing_processes_disown_nothing_for_good(process, root, heads):
    names = ("one", "two", "three")
    command = [sys.executable, "-c", WORKER, root, heads._folder]
    started = [subprocess.Popen([*command, name], cwd=os.getcwd()) for name in names]
    assert [each.wait() for each in started] == [0, 0, 0]
    assert heads.read(RUN).unvouched == ()
    assert heads.read(RUN).ledger == ledger_file.last(root, RUN).head
    all_of_them = [f"{name}-{n}{part}" for name in names for n in range(12) for part in "xy"]
    assert process().counted(*all_of_them) == all_of_them


def test_an_output_is_not_dropped_by_a_forged_entry(process, root):
    one = process()
    one.record("a")
    one.keep()
    entry = json.loads(files.read_bytes(root, LEDGER))
    rest = {k: v for k, v in entry.items() if k not in ("seq", "prev", "hash")}
    made = following(ledger_file.last(root, RUN).head, RUN, {**rest, "kind": "dropped", "by": "gc"})
    Forger(Path(root, layout.run_dir(RUN))).append("ledger.jsonl", made._asdict())
    assert process().counted("a") == ["a"]
    files.remove(root, layout.output_file(RUN, "a"))
    assert process().counted("a") == []


def test_heads_that_cannot_be_read_just_now_are_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too many open files, say: what was kept must still be there afterwards."""
    from flow.adapters.chain import pinned_heads
    from flow.adapters.chain.pinned_heads import PinnedHeads
    from flow.adapters.fs import files
    from flow.errors import StorageError

    heads, root = PinnedHeads(str(tmp_path / "state"), "repo"), str(tmp_path / "repo")
    os.mkdir(root)
    heads.announce(root, "run-1", "baseline.json", b"{}")
    before = heads.read("run-1")
    assert before is not None
    assert before.files

    def unreadable(*_: object, **__: object) -> bytes:
        raise StorageError("cannot read it: Too many open files", file="heads")

    with monkeypatch.context() as patch:
        patch.setattr(pinned_heads.files, "read_optional", unreadable)
        for call in (
            lambda: heads.announce(root, "run-1", "baseline.json", b"[]"),
            lambda: heads.pin(RunWrites(root, "run-1")),
        ):
            with pytest.raises(StorageError):
                call()
        found = heads.read("run-1")
        assert found is not None
        assert isinstance(found.read_error, StorageError)
        assert found == pinned_heads.PinnedRun(
            None, None, {}, broken=True, read_error=found.read_error
        )
    assert files is pinned_heads.files
    assert heads.read("run-1") == before


# --- once for all that belongs together ------------------------------------------------------


@pytest.fixture
def written(monkeypatch):
    """The runs whose heads were replaced, in order."""
    runs, write = [], PinnedHeads._write

    def counted(self, run_id, pinned):
        runs.append(run_id)
        write(self, run_id, pinned)

    monkeypatch.setattr(PinnedHeads, "_write", counted)
    return runs


def test_what_is_committed_together_is_pinned_once_at_the_end(process, written):
    one = process()
    with one.session.pinned_once():
        one.record("a")
        one.keep()
        with one.session.pinned_once():  # an evaluation inside of what records its verdict
            one.record("b")
            one.keep()
        assert written == []
        assert process().counted("a", "b") == []
    assert written == [RUN]
    assert process().counted("a", "b") == ["a", "b"]
    one.record("c")
    one.keep()
    assert written == [RUN, RUN]


def test_what_was_committed_is_pinned_however_it_ends(process, written):
    one = process()

    def interrupted():
        with one.session.pinned_once():
            one.record("a")
            one.keep()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert process().counted("a") == ["a"]
    assert written == [RUN]


def test_nothing_is_pinned_that_nobody_committed(process, written):
    one = process()
    with one.session.pinned_once():
        one.record("a")
    assert written == []


def test_a_file_that_another_command_withdrew_meanwhile_is_pinned_as_gone(process, root, heads):
    rel = layout.proposal_file(RUN)
    data = json.dumps({"proposal_id": "b" * 64, "goal_id": scene.GOAL, "to": "achieved"}).encode()
    one, other = process(), process()
    with one.session.pinned_once():
        files.replace(root, rel, data)
        one.run.wrote(rel, data)
        one.keep()
        files.remove(root, rel)
        other.run.wrote(rel, None)
        other.keep()
    assert heads.read(RUN).files["proposal.json"] is None
    files.replace(root, rel, data)
    assert FileRecords(process().session).proposal(RUN) is None
