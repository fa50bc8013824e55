"""``ledger.jsonl`` on disk: appends, crashes, races, heads, hostile files, dropped outputs."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys

import pytest

from flow.adapters.chain import check as chain_check
from flow.adapters.chain import event_log, evidence_folder, ledger_file
from flow.adapters.chain.pinned_heads import PinnedHeads
from flow.adapters.fs import files, locks
from flow.adapters.ledger import evidence_store, gc
from flow.core import layout
from flow.core.chain.entries import Head, following
from flow.core.chain.walk import WitnessedHead
from flow.errors import FlowError, StateError
from tests.support import ledger_scene as scene
from tests.support.patience import LONG

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


def record(root, name, data=b"output\n"):
    raw = scene.raw(root, data) if data is not None else None
    return evidence_store.record(
        scene.session(root), scene.document(name), raw, suffix=True, now=scene.NOW
    )


def findings(root, kept=None, said=()):
    found = chain_check.check(root, RUN, kept, said)
    return [
        (each.kind, each.file.removeprefix(f"{layout.run_dir(RUN)}/")) for each in found.findings
    ]


def path(root, name):
    return os.path.join(root, layout.run_dir(RUN), name)


def entry_lines(root):
    with open(path(root, "ledger.jsonl"), "rb") as file:
        return file.read().splitlines(keepends=True)


def test_each_sidecar_has_its_entry(root):
    for name in ("one", "two", "three"):
        record(root, name, None if name == "two" else b"x\n")
    scene.ledger(root).contracts.record_foreign(RUN, scene.foreign())
    made = [ledger_file.parse(line[:-1]) for line in entry_lines(root)]
    assert [entry.evidence_id for entry in made] == ["one", "two", "three", "theirs-1"]
    assert [entry.by for entry in made] == ["evaluator"] * 3 + ["caller"]
    assert [entry.output_sha256 is None for entry in made] == [False, True, False, True]
    assert ledger_file.last(root, RUN) == made[-1]
    assert scene.session(root).head(RUN) == str(made[-1].head)
    assert scene.session(root).entry(RUN, "one") == made[0]
    assert scene.session(root).entry(RUN, "other") is None
    assert ledger_file.at(root, RUN, 2) == made[1]
    assert ledger_file.at(root, RUN, 9) is None
    assert findings(root) == []


def test_a_run_without_evidence_is_fine(root):
    assert findings(root) == []
    assert scene.session(root).head(RUN) is None


def test_a_sidecar_without_its_entry_does_not_count(root):
    done = record(root, "one")
    assert scene.records(root).counted(done.path) is not None
    line = entry_lines(root)[0]
    for other in (b"", line.replace(b'"evaluator"', b'"caller"')):
        with open(path(root, "ledger.jsonl"), "wb") as file:
            file.write(other)
        assert scene.records(root).counted(done.path) is None


@pytest.mark.parametrize("cut", [1, 10, 300])
def test_half_an_entry_gives_way_to_the_next(root, cut):
    record(root, "one")
    whole = entry_lines(root)[0]
    with open(path(root, "ledger.jsonl"), "ab") as file:
        file.write(whole[:cut])
    assert ("cut", "ledger.jsonl") in findings(root)
    scene.session.cache_clear()
    record(root, "two")
    assert [ledger_file.parse(line[:-1]).seq for line in entry_lines(root)] == [1, 2]
    assert findings(root) == []


def test_an_entry_that_lost_its_newline_is_kept(root):
    record(root, "one")
    whole = entry_lines(root)[0]
    for tail in (whole[:-1], whole[:-1] + b"x"):
        with open(path(root, "ledger.jsonl"), "wb") as file:
            file.write(tail)
        scene.session.cache_clear()
        assert findings(root)[0][1] == "ledger.jsonl"
        record(root, "two")
        assert entry_lines(root)[0].startswith(whole[:-1])


def test_junk_at_the_end_stops_nothing_and_is_named(root):
    record(root, "one")
    with open(path(root, "ledger.jsonl"), "ab") as file:
        file.write(b"junk\n" * 3000)
    record(root, "two")
    assert ledger_file.last(root, RUN).seq == 2
    assert findings(root)[0] == ("altered", "ledger.jsonl")


WORKER = """
import sys
from flow.adapters.ledger import evidence_store
from tests.support import ledger_scene as scene
from tests.support.patience import patient_locks
patient_locks()
for number in range(int(sys.argv[3])):
    document = scene.document(f"e-{sys.argv[2]}-{number}")
    evidence_store.record(scene.session(sys.argv[1]), document, None, suffix=False, now=scene.NOW)
"""


def test_500_racing_appends_make_one_unbroken_chain(root):
    children = [
        subprocess.Popen([sys.executable, "-c", WORKER, root, str(who), "50"]) for who in range(10)
    ]
    assert [child.wait(10 * LONG) for child in children] == [0] * 10
    found = chain_check.check(root, RUN, None)
    assert (found.findings, found.entries, found.head.number) == ((), 500, 500)


def test_an_append_reads_the_end_only(root, monkeypatch):
    record(root, "first", None)
    last = ledger_file.last(root, RUN)
    with locks.exclusive(root, layout.run_lock(RUN), quick=True):
        many = []
        for number in range(20_000):
            fields = last._asdict()
            for name in ("seq", "prev", "hash"):
                del fields[name]
            fields["evidence_id"] = f"e-{number}"
            many.append(following(many[-1].head if many else last.head, RUN, fields))
        ledger_file.append(scene.session(root).run(RUN), *many)
    scene.session.cache_clear()
    read = []
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, at: read.append(size) or real(fd, size, at))
    record(root, "last", None)
    assert sum(read) < 200_000
    assert ledger_file.last(root, RUN).seq == 20_002


# --- a process that was killed ---------------------------------------------------------------


def unpublish(root, name):
    """As a kill between the entry and the sidecar's name leaves it."""
    entry = scene.session(root).entry(RUN, name)
    sidecar = path(root, f"evidence/{name}.evidence.yaml")
    os.rename(
        sidecar,
        path(root, f"evidence/{files.TEMP_PREFIX}{ledger_file.token(entry.sidecar_sha256)}"),
    )
    lines = files.read_bytes(root, layout.events_file(RUN)).splitlines(keepends=True)
    files.replace(root, layout.events_file(RUN), b"".join(lines[:-1]))
    scene.session.cache_clear()
    return sidecar


def test_a_sidecar_left_unpublished_is_finished_by_the_next_record(root):
    record(root, "one")
    sidecar = unpublish(root, "one")
    found = chain_check.check(root, RUN, None)
    assert found.findings == ()
    assert any("to be finished" in note for note in found.notes)
    record(root, "two")
    assert os.path.exists(sidecar)
    assert findings(root) == []
    events = files.read_bytes(root, layout.events_file(RUN)).decode()
    assert events.count('"evidence_id":"one"') == events.count('"evidence_id":"two"') == 1
    assert not files.leftovers(root)


def test_an_entry_that_cannot_be_taken_back_keeps_its_sidecar(root, monkeypatch):
    """As where no file can be opened any more: the event fails, and so does the way back."""

    def refuse(*_, **__):
        raise StateError("too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(event_log, "append", refuse)
        patch.setattr(ledger_file, "take_back", refuse)
        with pytest.raises(StateError):
            record(root, "one", b"first\n")
    os.unlink(path(root, "raw.out"))  # the command's own file is the runner's to clear away
    scene.session.cache_clear()
    assert findings(root) == []
    assert record(root, "one", b"second\n").id == "one-2"
    assert files.read_bytes(root, layout.output_file(RUN, "one")) == b"first\n"
    assert findings(root) == []


def test_the_id_of_what_is_finished_is_taken(root):
    """The next evaluation of a killed one wants the same ids."""
    record(root, "one", b"first\n")
    unpublish(root, "one")
    assert record(root, "one", b"second\n").id == "one-2"
    assert files.read_bytes(root, layout.output_file(RUN, "one")) == b"first\n"
    assert findings(root) == []


def test_what_was_left_is_gone_then_it_is_missing(root):
    record(root, "one")
    unpublish(root, "one")
    for name in files.leftovers(root):
        os.unlink(os.path.join(root, name))
    record(root, "two")
    assert findings(root) == [("missing", "evidence/one.evidence.yaml")]


# --- heads in the state folder ---------------------------------------------------------------


def test_heads_are_kept_and_move_on(root, heads):
    assert heads.read(RUN) is None
    assert heads.runs() == []
    heads.pin(scene.session(root).run(RUN))
    record(root, "one")
    heads.pin(scene.session(root).run(RUN))
    kept = heads.read(RUN)
    assert kept.ledger == ledger_file.last(root, RUN).head
    assert heads.runs() == [RUN]
    assert stat.S_IMODE(os.stat(heads.path(RUN)).st_mode) == 0o600
    assert findings(root, kept) == []


def test_a_head_does_not_move_past_a_cut(root, heads):
    for name in ("one", "two", "three"):
        record(root, name)
    heads.pin(scene.session(root).run(RUN))
    kept = heads.read(RUN)
    with open(path(root, "ledger.jsonl"), "r+b") as file:
        file.truncate(len(entry_lines(root)[0]))
    for name in ("four", "five", "six"):
        record(root, name)
    heads.pin(scene.session(root).run(RUN))
    assert heads.read(RUN).ledger == kept.ledger
    assert ("restored", "ledger.jsonl") in findings(root, heads.read(RUN))
    heads.forget(RUN)
    assert heads.read(RUN) is None


def test_the_same_for_events(root, heads):
    record(root, "one")
    heads.pin(scene.session(root).run(RUN))
    lines = files.read_bytes(root, layout.events_file(RUN)).splitlines(keepends=True)
    files.replace(root, layout.events_file(RUN), b"".join(lines[:-1]))
    assert findings(root, heads.read(RUN)) == [("cut", "events.jsonl")]
    record(root, "two")
    heads.pin(scene.session(root).run(RUN))
    assert findings(root, heads.read(RUN)) == [("cut", "events.jsonl")]


@pytest.mark.parametrize(
    "text",
    [b"", b"junk", b"[]", b"{}", b'{"files":[]}', b'{"files":{},"ledger":"1:x"}',
     b'{"files":{"a":1},"ledger":null,"events":null}', b"x" * 100_000],
)  # fmt: skip
def test_heads_that_cannot_be_read_are_said(root, heads, text):
    record(root, "one")
    heads.pin(scene.session(root).run(RUN))
    with open(heads.path(RUN), "wb") as file:
        file.write(text)
    kept = heads.read(RUN)
    assert kept.broken or text == b"{}"
    found = chain_check.check(root, RUN, kept)
    assert found.findings == ()
    assert any("cannot be read" in note for note in found.notes) == kept.broken


def test_entries_newer_than_the_head_are_noted(root, heads):
    record(root, "one")
    heads.pin(scene.session(root).run(RUN))
    record(root, "two")
    found = chain_check.check(root, RUN, heads.read(RUN))
    assert found.findings == ()
    assert any("newer than the head" in note for note in found.notes)


# --- hostile files ---------------------------------------------------------------------------


def test_hostile_ledgers_end_in_findings(root):
    record(root, "one")
    good = entry_lines(root)[0]
    for text in (
        b"x" * (5 << 20),
        b"\n" * 1000,
        b"[" * 5000 + b"\n",
        b'{"seq":' + b"9" * 5000 + b"}\n",
        b'{"seq":NaN}\n',
        b"\x00" * 70_000 + b"\n" + good,
        good * 3,
        b"\xef\xbb\xbf" + good,
    ):
        files.replace(root, LEDGER, text)
        assert ("altered", "ledger.jsonl") in findings(root) or findings(root), text[:20]
        assert findings(root)[0][1] == "ledger.jsonl"


def test_a_huge_run_of_faults_is_counted(root):
    record(root, "one")
    files.replace(root, LEDGER, b"junk\n" * 5000)
    found = chain_check.check(root, RUN, None)
    assert sum(not finding.aside for finding in found.findings) == evidence_folder.FINDINGS_LIMIT
    assert found.more > 4000


FILES = ["ledger.jsonl", "events.jsonl", "baseline.json", "evidence/one.txt",
         "evidence/one.evidence.yaml"]  # fmt: skip


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("what", ["link", "folder", "pipe"])
def test_no_regular_file_is_a_finding(root, tmp_path, name, what):
    record(root, "one")
    place = path(root, name)
    copy = tmp_path / "copy"
    os.rename(place, copy)
    if what == "link":
        os.symlink(copy, place)
    elif what == "folder":
        os.mkdir(place)
    else:
        os.mkfifo(place)
    found = findings(root)
    assert found
    assert any(file == name for _, file in found)


def test_a_file_that_the_disk_does_not_give_is_a_finding(root, monkeypatch):
    record(root, "one")

    def refuse(*_, **__):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(evidence_folder._EvidenceFolder, "_digest", refuse)
    assert {"unreadable"} <= {kind for kind, _ in findings(root)}


def test_a_run_that_is_a_link_is_a_finding(root, tmp_path):
    record(root, "one")
    os.rename(path(root, ""), tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", os.path.join(root, layout.run_dir(RUN)))
    assert findings(root)[0][0] in ("altered", "unreadable")
    assert chain_check.run_ids(root) == [RUN]


def test_files_that_no_entry_speaks_of(root):
    record(root, "one", None)
    for name in ("evidence/one.txt", "evidence/two.evidence.yaml", "evidence/x", "stranger.json"):
        with open(path(root, name), "wb") as file:
            file.write(b"x")
    assert sorted(findings(root)) == sorted(
        ("unaccounted", name)
        for name in (
            "evidence/one.txt",
            "evidence/two.evidence.yaml",
            "evidence/x",
            "stranger.json",
        )
    )


def test_a_run_of_an_older_version_is_not_chained(root):
    record(root, "one")
    os.unlink(path(root, "ledger.jsonl"))
    assert findings(root) == [("not_chained", "ledger.jsonl")]
    said = [WitnessedHead(Head(1, "a" * 64), "the journal")]
    assert ("missing", "ledger.jsonl") in findings(root, said=said)


def test_events_of_an_older_version_begin_the_chain(root):
    lines = files.read_bytes(root, layout.events_file(RUN)).splitlines()
    old = [json.loads(line) for line in lines]
    for event in old:
        del event["hash"], event["prev"]
    text = b"".join(json.dumps(event, separators=(",", ":")).encode() + b"\n" for event in old)
    files.replace(root, layout.events_file(RUN), text)
    assert findings(root) == []
    record(root, "one")
    assert findings(root) == []
    now = files.read_bytes(root, layout.events_file(RUN))
    files.replace(root, layout.events_file(RUN), now.replace(b'"created"', b'"creates"', 1))
    assert findings(root) == [("restored", "events.jsonl")]


def test_an_event_line_of_a_crash_is_no_finding_once_others_follow(root):
    files.append_line(root, layout.events_file(RUN), b'{"at":"2026')
    assert findings(root) == [("altered", "events.jsonl")]
    record(root, "one")
    assert findings(root) == []


# --- letting outputs go ----------------------------------------------------------------------


def test_dropping_leaves_a_chain_that_verifies(root):
    for name in ("one", "two"):
        record(root, name)
    record(root, "three", None)
    assert gc.outputs_of(root, RUN)[3:] == (2, 14)
    assert gc.drop(scene.session(root).run(RUN), by="gc", now=scene.NOW) == (2, 14)
    assert sorted(os.listdir(path(root, "evidence"))) == [
        f"{name}.evidence.yaml" for name in ("one", "three", "two")
    ]
    assert findings(root) == []
    assert ledger_file.last(root, RUN).kind == "dropped"
    assert gc.outputs_of(root, RUN)[3:] == (0, 0)
    assert gc.drop(scene.session(root).run(RUN), by="gc", now=scene.NOW) == (0, 0)
    found, warnings = scene.records(root).evidence(RUN)
    assert (len(found), warnings) == (3, ())
    record(root, "four")
    assert findings(root) == []


def test_an_output_back_after_a_crash_is_dropped_again_without_a_second_entry(root):
    record(root, "one")
    gc.drop(scene.session(root).run(RUN), by="gc", now=scene.NOW)
    with open(path(root, "evidence/one.txt"), "wb") as file:
        file.write(b"output\n")
    assert findings(root) == []
    assert gc.drop(scene.session(root).run(RUN), by="gc", now=scene.NOW)[0] == 1
    assert len(entry_lines(root)) == 2
    with open(path(root, "evidence/one.txt"), "wb") as file:
        file.write(b"another\n")
    assert findings(root) == [("altered", "evidence/one.txt")]


@pytest.mark.parametrize("what", ["output", "ledger"])
def test_nothing_is_dropped_of_a_run_that_is_not_as_recorded(root, what):
    record(root, "one")
    record(root, "two")
    if what == "output":
        with open(path(root, "evidence/two.txt"), "wb") as file:
            file.write(b"0utput\n")
    else:
        files.append_line(root, LEDGER, b"junk")
    with pytest.raises(StateError) as caught:
        gc.drop(scene.session(root).run(RUN), by="gc", now=scene.NOW)
    assert caught.value.code == "broken_chain"
    assert os.path.exists(path(root, "evidence/one.txt"))
    assert gc.outputs_of(root, RUN).files == 2


def test_a_ledger_that_cannot_be_read_is_told(root):
    record(root, "one")
    os.rename(path(root, "ledger.jsonl"), path(root, "x"))
    os.mkdir(path(root, "ledger.jsonl"))
    with pytest.raises(FlowError):
        gc.outputs_of(root, RUN)
