"""The archive of a run: what is in it, whatever is killed, fails, or lies in its place."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import stat
import subprocess
import sys
import zipfile

import pytest

from flow.adapters.chain import check as chain_check
from flow.adapters.chain import event_log
from flow.adapters.fs import archives, files
from flow.adapters.ledger import archiving, evidence_store, gc
from flow.core import layout
from flow.core.chain.entries import ARCHIVED
from flow.errors import FlowError, StateError
from tests.faults.broken_calls import failing, killed
from tests.support import ledger_scene as scene
from tests.support.effort import sizes
from tests.support.patience import LONG

RUN = scene.RUN
FOLDER = layout.evidence_dir(RUN)
ARCHIVE = layout.archive_file(RUN)
RUN_DIR = layout.run_dir(RUN)
NAMES = ("one", "two", "three")


def record(root, name, data=b"output\n"):
    raw = scene.raw(root, data) if data is not None else None
    return evidence_store.record(
        scene.session(root), scene.document(name), raw, suffix=True, now=scene.NOW
    )


@pytest.fixture
def root(tmp_path):
    """A run with three sidecars, one of them without an output, and one output that is large."""
    top = tmp_path / "top"
    top.mkdir()
    scene.start(str(top))
    for name in NAMES:
        record(str(top), name, {"two": None, "three": os.urandom(100_000)}.get(name, b"output\n"))
    return str(top)


def archive(root):
    return archiving.archive(scene.session(root).run(RUN), by="gc", now=scene.NOW)


def content(root):
    """Every file of the evidence, as any reader gets it."""
    paths = [f"{FOLDER}/{name}{end}" for name in NAMES for end in (layout.EVIDENCE_SUFFIX, ".txt")]
    return {
        path: files.read_optional(root, path, limit=1 << 20)
        for path in paths
        if files.exists(root, path)
    }


def on_disk(root, rel=RUN_DIR):
    """The names of the files below a folder."""
    return sorted(
        os.path.relpath(os.path.join(top, name), f"{root}/{rel}")
        for top, _, names in os.walk(f"{root}/{rel}")
        for name in names
    )


def findings(root):
    return [
        (each.kind, each.file.removeprefix(f"{layout.run_dir(RUN)}/"))
        for each in chain_check.check(root, RUN, None).findings
    ]


def archived_events(root):
    return event_log.of_type(root, RUN, ARCHIVED)


def test_every_file_is_in_it_byte_for_byte(root):
    before = content(root)
    assert len(before) == 5
    listed = files.names(root, FOLDER, suffix=layout.EVIDENCE_SUFFIX, limit=10)
    assert len(on_disk(root)) == 5 + 3
    assert archive(root) == (5, sum(map(len, before.values())))
    assert on_disk(root) == ["baseline.json", "events.jsonl", "evidence.zip", "ledger.jsonl"]
    assert not os.path.exists(f"{root}/{FOLDER}")
    assert content(root) == before
    assert files.archived_names(root, FOLDER, suffix=layout.EVIDENCE_SUFFIX) == listed
    assert findings(root) == []
    assert archive(root) == (0, 0)
    assert len(archived_events(root)) == 1


def test_unzip_gives_the_folder_back(root):
    before = content(root)
    archive(root)
    with zipfile.ZipFile(f"{root}/{ARCHIVE}") as packed:
        packed.extractall(f"{root}/{layout.run_dir(RUN)}")
    assert {path: open(f"{root}/{path}", "rb").read() for path in before} == before  # noqa: SIM115
    assert findings(root) == []
    assert archive(root)[0] == 5, "what is in it and lies beside it goes again"
    assert content(root) == before


def test_the_same_files_make_the_same_archive(root, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(root, other)
    archive(root)
    archive(str(other))
    with open(f"{root}/{ARCHIVE}", "rb") as one, open(other / ARCHIVE, "rb") as two:
        assert one.read() == two.read()


def test_the_number_of_files_does_not_grow_with_the_evidence(root):
    for number in range(40):
        record(root, f"more-{number}")
    assert len(on_disk(root)) == 88
    archive(root)
    assert len(on_disk(root)) == 4


def test_evidence_that_comes_later_lies_beside_it_under_ids_of_its_own(root):
    archive(root)
    before = content(root)
    assert record(root, "one").id == "one-2"
    scene.ledger(root).contracts.record_foreign(RUN, scene.foreign())
    with pytest.raises(FlowError):
        scene.ledger(root).contracts.record_foreign(RUN, scene.foreign("two"))
    assert archive(root) == (0, 0)
    assert findings(root) == []
    assert content(root) == before
    assert len(scene.records(root).evidence(RUN)[0]) == 5
    assert archiving.files_to_archive(root, RUN).files == 0


def test_a_run_that_is_archived_while_it_is_checked_is_intact(root, monkeypatch):
    real = chain_check.check_evidence

    def archived_first(*args):
        archive(root)
        return real(*args)

    monkeypatch.setattr(chain_check, "check_evidence", archived_first)
    assert findings(root) == []


def test_an_output_that_was_dropped_stays_dropped(root):
    gc.drop(scene.session(root).run(RUN), by="gc", now=scene.NOW)
    assert archive(root)[0] == 3
    assert findings(root) == []
    assert files.read_optional(root, layout.output_file(RUN, "one")) is None
    assert len(scene.records(root).evidence(RUN)[0]) == 3


def test_what_a_killed_drop_has_left_is_not_archived(root, monkeypatch):
    monkeypatch.setattr(files, "remove", lambda *_, **__: None)
    gc.drop(scene.session(root).run(RUN), by="gc", now=scene.NOW)
    monkeypatch.undo()
    assert archive(root)[0] == 3
    assert on_disk(root, FOLDER) == ["one.txt", "three.txt"]
    assert findings(root) == []
    assert gc.drop(scene.session(root).run(RUN), by="gc", now=scene.NOW)[0] == 2
    assert on_disk(root, FOLDER) == []


@pytest.mark.parametrize("what", ["altered", "missing", "ledger"])
def test_nothing_is_archived_of_a_run_that_is_not_as_recorded(root, what):
    if what == "altered":
        with open(f"{root}/{FOLDER}/three.txt", "r+b") as file:
            file.write(b"no random byte")
    elif what == "missing":
        os.unlink(f"{root}/{FOLDER}/three.txt")
    else:
        files.append_line(root, layout.ledger_file(RUN), b"junk")
    before = on_disk(root)
    with pytest.raises(StateError) as caught:
        archive(root)
    assert caught.value.code == "broken_chain"
    assert on_disk(root) == before
    assert archived_events(root) == []


# --- kills and failing calls ------------------------------------------------------------------


def _agrees(root, before):
    """Nothing is lost: every file is read as it was, and the run verifies."""
    assert content(root) == before
    assert findings(root) == []


def test_killed_at_any_call(root):
    before, outcomes = content(root), []
    for _ in killed(lambda: archive(root), root):
        _agrees(root, before)
        outcomes.append(os.path.exists(f"{root}/{ARCHIVE}"))
        archive(root)
        _agrees(root, before)
        assert [name for name in on_disk(root) if not name.startswith(files.TEMP_PREFIX)] == [
            "baseline.json", "events.jsonl", "evidence.zip", "ledger.jsonl",
        ]  # fmt: skip
    assert outcomes == sorted(outcomes)
    assert outcomes.count(False) > 3
    assert outcomes.count(True) > 6


@pytest.mark.slow
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
def test_any_call_that_fails(root, tmp_path, number):
    before, statuses = content(root), []
    for at in range(1, 200):
        copy = str(tmp_path / f"{at}")
        shutil.copytree(root, copy)
        status = failing(lambda r=copy: archive(r), at, number)
        assert not any(name.startswith(files.TEMP_PREFIX) for name in on_disk(copy))
        _agrees(copy, before)
        archive(copy)
        _agrees(copy, before)
        assert len(on_disk(copy)) == 4
        shutil.rmtree(copy)
        statuses.append(status)
        if statuses[-2:] == [0, 0]:  # one call may fail: who takes a file away that is gone
            break
    assert len(statuses) > 12
    assert statuses.count(0) <= 3


def archive_in(root, most):
    """Archive where no file may be larger, as where the disk is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        archive(root)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.slow
def test_a_disk_that_is_full_in_the_middle(root, tmp_path):
    """As a limit on the size of files shows it, at many sizes: in the list at the end, too."""
    before = content(root)
    whole = str(tmp_path / "whole")
    shutil.copytree(root, whole)
    archive(whole)
    size = os.path.getsize(f"{whole}/{ARCHIVE}")
    for limit in (size - 1, size - 30, size - 300, size // 2, 50_000):
        copy = str(tmp_path / f"{limit}")
        shutil.copytree(root, copy)
        with pytest.raises(FlowError) as caught:
            archive_in(copy, limit)
        assert caught.value.code == "storage"
        scene.session.cache_clear()
        assert on_disk(copy) == on_disk(root)
        _agrees(copy, before)


TWO = """
import sys
from flow.adapters.ledger import archiving
from tests.support import ledger_scene as scene
sys.stdin.read()
run = scene.session(sys.argv[1]).run(scene.RUN)
print(archiving.archive(run, by="gc", now=scene.NOW)[0])
"""


def test_two_at_once(root):
    before = content(root)
    started = [
        subprocess.Popen(
            [sys.executable, "-c", TWO, root],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    for each in started:
        each.stdin.close()
    counts = sorted(int(each.stdout.read()) for each in started)
    for each in started:
        assert each.wait(LONG) == 0
        each.stdout.close()
    assert counts == [0, 5]
    assert len(archived_events(root)) == 1
    _agrees(root, before)


# --- an archive that somebody changed ------------------------------------------------------------


@pytest.mark.slow
def test_any_byte_that_was_changed_is_one_finding_and_is_never_read_as_evidence(root):
    shutil.rmtree(f"{root}/.flow")
    scene.start(root)
    for name in ("one", "two"):
        record(root, name, b"output\n" if name == "one" else None)
    archive(root)
    before = content(root)
    with open(f"{root}/{ARCHIVE}", "rb") as file:
        whole = file.read()
    named = set()
    for place in range(0, len(whole), sizes(short=2, long=1)):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        _write(root, bytes(changed))
        row = findings(root)
        assert len(row) == 1, (place, row)
        named.update(row)
        for path, data in readable(root).items():
            assert data == before.get(path), (place, "altered bytes are read")
    assert ("altered", "evidence.zip") in named
    _write(root, whole)
    assert findings(root) == []


def _write(root, data):
    with open(f"{root}/{ARCHIVE}", "r+b") as file:
        file.write(data)
        file.truncate()


def readable(root):
    """What can be read of the evidence."""
    read = {}
    for name in NAMES:
        for end in (layout.EVIDENCE_SUFFIX, ".txt"):
            path = f"{FOLDER}/{name}{end}"
            try:
                data = files.read_optional(root, path, limit=1 << 20)
            except FlowError:
                continue
            if data is not None:
                read[path] = data
    return read


def _symlink(path, whole):
    with open(f"{path}.real", "wb") as file:
        file.write(whole)
    os.symlink("evidence.zip.real", path)


def _sparse(path, whole):
    with open(path, "wb") as file:
        file.write(whole)
        file.truncate(1 << 42)


def _garbage(path, whole):
    with open(path, "wb") as file:
        file.write(os.urandom(5000))


def _long_list(path, whole):
    """A list of its files that is said to be larger than any memory."""
    end = b"PK\5\6" + bytes(4) + (1).to_bytes(2, "little") * 2
    with open(path, "wb") as file:
        file.truncate(1 << 31)
        file.seek(0, os.SEEK_END)
        file.write(end + ((1 << 31) - 8).to_bytes(4, "little") + bytes(6))


def _bomb(path, whole):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in NAMES:
            packed.writestr(f"evidence/{name}{layout.EVIDENCE_SUFFIX}", bytes(8 << 20))


def _other_packing(path, whole):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as packed:
        for name in NAMES:
            packed.writestr(f"evidence/{name}{layout.EVIDENCE_SUFFIX}", b"x")


def _paths_that_lead_out(path, whole):
    with zipfile.ZipFile(path, "w") as packed:
        for name in ("../../x.evidence.yaml", "/x.evidence.yaml", "evidence/../x.evidence.yaml"):
            packed.writestr(name, b"x")


PLACES = {
    "symlink": _symlink,
    "fifo": lambda path, whole: os.mkfifo(path),
    "folder": lambda path, whole: os.mkdir(path),
    "sparse": _sparse,
    "garbage": _garbage,
    "empty": lambda path, whole: open(path, "wb").close(),
    "a long list": _long_list,
    "bomb": _bomb,
    "other packing": _other_packing,
    "paths that lead out": _paths_that_lead_out,
}


@pytest.mark.parametrize("name", PLACES)
def test_what_lies_in_its_place_is_named_and_never_read_as_evidence(root, name):
    archive(root)
    with open(f"{root}/{ARCHIVE}", "rb") as file:
        whole = file.read()
    os.unlink(f"{root}/{ARCHIVE}")
    PLACES[name](f"{root}/{ARCHIVE}", whole)
    assert readable(root) == {}
    usable, warnings = scene.records(root).evidence(RUN)
    assert usable == ()
    assert warnings or name == "paths that lead out"
    assert any(file == "evidence.zip" for _, file in findings(root))
    with pytest.raises(FlowError):
        archive(root)
    assert stat.S_IFMT(os.lstat(f"{root}/{ARCHIVE}").st_mode)


def test_an_archive_that_nobody_recorded_is_named(root):
    with zipfile.ZipFile(f"{root}/{ARCHIVE}", "w") as packed:
        packed.writestr("evidence/x.evidence.yaml", b"x")
    assert findings(root) == [("unaccounted", "evidence.zip")]
    with pytest.raises(StateError) as caught:
        archive(root)
    assert caught.value.code == "broken_chain"
    assert len(on_disk(root, FOLDER)) == 5


def test_an_archive_that_is_replaced_is_read_anew(root, tmp_path):
    """However soon, and where only its stamps tell that it was written to."""
    archive(root)
    place, one = f"{root}/{ARCHIVE}", layout.output_file(RUN, "one")
    assert files.read_optional(root, one) == b"output\n"
    for text in (b"OUTPUT\n", b"output.\n", b"a longer one\n"):
        other = tmp_path / "other.zip"
        with zipfile.ZipFile(other, "w") as packed:
            packed.writestr("evidence/one.txt", text)
        if len(text) == 8:
            _write(root, other.read_bytes())
        else:
            os.replace(other, place)
        assert files.read_optional(root, one) == text
        assert not files.exists(root, layout.output_file(RUN, "three"))
    os.utime(place, (1, 1))
    os.unlink(place)
    assert files.read_optional(root, one) is None


def test_stamps_of_a_moment_ago_are_not_believed(root, tmp_path, monkeypatch):
    """Two writes within a tick of the clock leave the same ones."""
    archive(root)
    monkeypatch.setattr(archives, "stamp_of", lambda status: (0, 0, 0, 0, 0, 0))
    one = layout.output_file(RUN, "one")
    assert files.read_optional(root, one) == b"output\n"
    with zipfile.ZipFile(f"{root}/{ARCHIVE}", "w") as packed:
        packed.writestr("evidence/one.txt", b"another\n")
    assert files.read_optional(root, one) == b"another\n"


def test_the_list_of_a_settled_archive_is_read_once(root, monkeypatch):
    archive(root)
    reads = []
    real = archives.read
    monkeypatch.setattr(archives, "is_settled", lambda status: True)
    monkeypatch.setattr(archives, "read", lambda fd, rel: reads.append(rel) or real(fd, rel))
    content(root)
    scene.records(root).evidence(RUN)
    assert len(reads) == 1


def test_a_run_without_a_ledger_has_nothing_to_archive(root):
    """As one of a version of Flow that had no chain."""
    os.unlink(f"{root}/{layout.ledger_file(RUN)}")
    assert archiving.files_to_archive(root, RUN).files == 0
    with pytest.raises(StateError):
        archive(root)
    assert len(on_disk(root, FOLDER)) == 5
    with zipfile.ZipFile(f"{root}/{ARCHIVE}", "w") as packed:
        packed.writestr("evidence/x.evidence.yaml", b"x")
    for name in on_disk(root, FOLDER):
        os.unlink(f"{root}/{FOLDER}/{name}")
    assert ("not_chained", "evidence.zip") in findings(root)
