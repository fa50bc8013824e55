"""Event lines: in order, whole, once, and found from the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from flow.adapters.chain import event_log
from flow.adapters.fs import files
from flow.errors import RefusedError
from tests.support.patience import LONG

NOW = "2026-03-01T10:15:00Z"
FILE = ".flow/runs/r1/events.jsonl"


@pytest.fixture
def root(tmp_path):
    return str(tmp_path)


def add(root, kind="x", **fields):
    return event_log.append(root, "r1", "g", kind, fields, at=NOW)


def put(root, data):
    files.replace(root, FILE, data)


def test_a_line_has_its_own_fields_first_and_nothing_replaces_them(root):
    assert add(root, n=1, seq=99, goal_id="other", at="never") == 1
    assert add(root, prev="mine", hash="mine") == 2
    own = b'{"at":"2026-03-01T10:15:00Z","seq":%d,"type":"x","goal_id":"g",'
    one, two = files.read_bytes(root, FILE).splitlines()
    assert one.startswith(own % 1 + b'"n":1,"prev":"')
    assert two.startswith(own % 2 + b'"prev":"')
    assert b"mine" not in two


def test_seq_goes_on_and_is_the_order(root):
    assert [add(root) for _ in range(5)] == [1, 2, 3, 4, 5]
    found, warnings = event_log.read(root, "r1")
    assert [event["seq"] for event in found] == [1, 2, 3, 4, 5]
    assert warnings == ()
    assert event_log.last_seq(root, "r1") == 5
    assert [event["seq"] for event in event_log.events_after(root, "r1", 3)] == [4, 5]


@pytest.mark.parametrize("how", ["appended", "cut", "emptied", "removed", "replaced", "restamped"])
def test_the_newest_event_is_that_of_the_file_as_it_is_now(root, how):
    """However it is remembered: another file, or another length, is read anew."""
    for _ in range(3):
        add(root)
    path, text = os.path.join(root, FILE), files.read_bytes(root, FILE)
    lines = text.splitlines(keepends=True)
    expected = 3
    if how == "appended":
        append_elsewhere(root)
        expected = 4
    elif how == "cut":
        os.truncate(path, len(text) - len(lines[-1]))
        expected = 2
    elif how == "emptied":
        os.truncate(path, 0)
        expected = 0
    elif how == "removed":
        os.unlink(path)
        expected = 0
    elif how == "replaced":
        put(root, text.replace(b'"seq":3', b'"seq":7'))
        expected = 7
    else:
        os.utime(path, (1, 1))
    assert event_log.last_seq(root, "r1") == expected
    assert event_log.last_seq(root, "r1") == expected
    assert add(root) == expected + 1


def append_elsewhere(root):
    code = (
        "import sys\nfrom flow.adapters.chain import event_log\n"
        f"event_log.append(sys.argv[1], 'r1', 'g', 'x', {{}}, at={NOW!r})"
    )
    subprocess.run([sys.executable, "-c", code, root], check=True, timeout=LONG)


def test_a_newest_line_that_is_altered_without_a_trace_breaks_the_chain(root, monkeypatch):
    """By way of a mapping: no stamp moves. The next event follows the line that was there."""
    add(root)
    real = event_log.last_hash(root, "r1")[1]
    stamp = files.stamp(root, FILE)
    monkeypatch.setattr(files, "stamp", lambda *_: stamp)
    forged = files.read_bytes(root, FILE).replace(b'"type":"x"', b'"type":"y"')
    with open(os.path.join(root, FILE), "r+b") as file:
        file.write(forged)
    add(root)
    (_, second), _ = event_log.read(root, "r1")
    assert second["prev"] == real


def test_events_after_one_s_own_are_written_without_reading_them(root, monkeypatch):
    add(root)
    monkeypatch.setattr(event_log, "backwards", lambda *_: pytest.fail("the file was read"))
    assert [add(root) for _ in range(3)] == [2, 3, 4]
    assert event_log.last_seq(root, "r1") == 4


def test_an_absent_file_is_empty_and_not_made(root):
    assert event_log.read(root, "r1") == ((), ())
    assert event_log.last_seq(root, "r1") == 0
    assert event_log.newest(root, "r1", "type", "x", lambda _: True) is None
    assert os.listdir(root) == []


@pytest.mark.parametrize(
    ("tail", "seq", "warned"),
    [
        (b'{"at":"', 2, "ends in half a line"),
        (b"\xff\xfe\x00", 2, "ends in half a line"),
        (b"x" * 100_000, 2, "ends in half a line"),
        (b"[1]\n", 2, "line 2 is not an event"),
        (b"not json\n\n", 2, "line 2 is not an event"),
        (b'{"seq":true}\n{"seq":"7"}\n{"seq":-1}\n', 1, None),
        (b'{"seq":41}\n', 42, None),
        (b'"seq":7\n', 2, "line 2 is not an event"),
        (b"[" * 50_000 + b"\n", 2, "line 2 is not an event"),
    ],
)
def test_torn_and_foreign_lines_are_skipped_and_told(root, tail, seq, warned):
    add(root, first=True)
    put(root, files.read_bytes(root, FILE) + tail)
    found, warnings = event_log.read(root, "r1")
    assert found[0]["first"]
    if warned:
        assert len(found) == 1
        assert warned in warnings[0]
        assert FILE in warnings[0]
    assert add(root, next=True) == seq
    assert event_log.read(root, "r1")[0][-1]["next"], "the next append starts a new line"


def test_warnings_are_bounded(root):
    put(root, b"?\n" * 5000)
    assert len(event_log.read(root, "r1")[1]) < 50


def test_only_a_goals_events(root):
    event_log.append(root, "r1", "g", "x", {}, at=NOW)
    event_log.append(root, "r1", "h", "x", {}, at=NOW)
    assert [event["goal_id"] for event in event_log.read(root, "r1", "h")[0]] == ["h"]


def test_a_key_makes_it_happen_once(root):
    def once(key):
        return event_log.append(root, "r1", "g", "x", {}, at=NOW, key=key, once=True)

    assert [once("a"), once("b"), once("a"), add(root), once("a")] == [1, 2, 1, 3, 1]
    assert len(event_log.read(root, "r1")[0]) == 3


@pytest.mark.parametrize("length", [0, 1, 50, 8000, 9000, 70_000])
def test_every_line_is_found_backwards_whatever_the_blocks(root, length):
    lines = [
        json.dumps(
            {"seq": n, "id": f"e{n}", "pad": "é" * (length * n % 9000)}, separators=(",", ":")
        ).encode()
        for n in range(1, 60)
    ]
    put(root, b"\n".join(lines) + b"\n")
    for n in range(1, 60):
        found = event_log.newest(root, "r1", "id", f"e{n}", lambda _: True)
        assert found is not None
        assert found["seq"] == n
    assert [event["seq"] for event in event_log.events_after(root, "r1", 0)] == list(range(1, 60))


def test_the_newest_that_is_accepted(root):
    for n in range(4):
        add(root, "evidence", evidence_id="e", n=n)
    add(root, "other", note='"evidence_id":"e"')
    assert event_log.newest(root, "r1", "evidence_id", "e", lambda _: True)["n"] == 3
    found = event_log.newest(root, "r1", "evidence_id", "e", lambda event: event["n"] < 2)
    assert found["n"] == 1


def test_reading_the_end_does_not_read_the_file(root, monkeypatch):
    line = json.dumps({"seq": 1, "pad": "x" * 200}).encode() + b"\n"
    put(root, line * 50_000)
    read = []
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, at: read.append(size) or real(fd, size, at))
    assert add(root) == 2
    assert sum(read) < 20_000


def test_a_symlink_is_refused(root, tmp_path):
    (tmp_path / ".flow/runs/r1").mkdir(parents=True)
    (tmp_path / "target").write_text("theirs\n")
    (tmp_path / FILE).symlink_to(tmp_path / "target")
    for act in (lambda: add(root), lambda: event_log.read(root, "r1")):
        with pytest.raises(RefusedError):
            act()
    assert (tmp_path / "target").read_text() == "theirs\n"


WRITER = """
import sys
from flow.adapters.chain import event_log as events
from tests.support.patience import patient_locks
patient_locks()
for n in range(60):
    events.append(sys.argv[1], "r1", "g", "x", {"pad": "y" * (n * 50)}, at="now", sync=False)
"""


def test_parallel_appends_tear_no_line_and_share_no_number(root):
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, root]) for _ in range(4)]
    assert [writer.wait(10 * LONG) for writer in writers] == [0] * 4
    found, warnings = event_log.read(root, "r1")
    assert warnings == ()
    assert [event["seq"] for event in found] == list(range(1, 241))


def test_events_of_a_type_can_be_left_out_unread(root):
    for kind in ("created", "evidence", "evidence-discounted", "evaluated"):
        add(root, kind, text='"type":"evidence"', evidence_type="evidence")
    put(root, files.read_bytes(root, FILE) + b'{"type":"torn\n')
    told, warnings = event_log.read(root, "r1", leave_out="evidence")
    assert [event["type"] for event in told] == ["created", "evidence-discounted", "evaluated"]
    assert len(warnings) == 1, "a line that is no event is still told"
    assert len(event_log.read(root, "r1")[0]) == 4


def test_of_evaluations_only_those_of_the_newest_turns_are_read(root):
    add(root, "created", turn=1, text='"type":"stop"')
    for turn in range(1, 5):
        add(root, "evaluated", turn=turn)
        add(root, "approved", turn=turn)
        add(root, "stop", turn=turn, text='"type":"created"')
    event_log.append(root, "r1", "other", "stop", {"turn": 9}, at="2026-07-28T12:00:00Z")

    def told(turns):
        events, _ = event_log.read(root, "r1", "g", turns=turns)
        return [(e["type"], e["turn"]) for e in events if e["type"] != "approved"], len(events)

    everything = [(kind, turn) for turn in range(1, 5) for kind in ("evaluated", "stop")]
    assert told(None) == ([("created", 1), *everything], 13)
    assert told(4) == told(None)
    assert told(2) == ([("created", 1), *everything[4:]], 9)
    assert told(1) == ([("created", 1), *everything[6:]], 7)
