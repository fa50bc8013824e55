"""What is done with an output holds a part of it at a time, however long it is (SPEC 3, step 2)."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from flow.adapters.attribution.attributor import Attributor
from flow.adapters.attribution.failures import RecordedOutputs
from flow.adapters.chain import check, ledger_file
from flow.adapters.chain.run_record import RunRecord
from flow.adapters.fs import files
from flow.adapters.process.output import OutputFile
from flow.core import layout
from flow.core.attribution.reading import WINDOW
from flow.core.chain.entries import following
from flow.core.secrets.redact import Redactor
from tests.support.counted import memory_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LINE = b"a line of it, as others are\n"
SIZE = 3 << 20
MOST = 1 << 20
"""Bytes; the end that is looked at is a quarter of that."""


def keep(top: Path, limit: int) -> None:
    """Take an output as a supervisor does, in the parts that a pipe gives."""
    output = OutputFile(str(top), "kept", limit, lambda: Redactor(()))
    block = LINE * (65_536 // len(LINE))
    for _ in range(SIZE // len(block)):
        output.write(block)
    stored = output.finish()
    output.close()
    assert stored.printed > SIZE - len(block)
    assert (stored.left_out > 0) is (limit < SIZE)


def compare(top: Path) -> None:
    """As ``flow evidence verify`` does."""
    folder = top / layout.evidence_dir("r1")
    if not folder.exists():
        folder.mkdir(parents=True)
        (folder / "e1.evidence.yaml").write_bytes(LINE)
        (top / "stored").rename(folder / "e1.txt")
        digests = [sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())]
        fields = {"at": "2026-01-05T09:00:00Z", "kind": "evidence", "goal_id": "g", "by": "human"}
        fields |= {"evidence_id": "e1", "sidecar_sha256": digests[0], "output_sha256": digests[1]}
        ledger_file.append(RunRecord(str(top)).run("r1"), following(None, "r1", fields))
    checked = check.check(str(top), "r1", None)
    assert (checked.entries, checked.findings) == (1, ())


def read_end(top: Path) -> None:
    end = RecordedOutputs(str(top), Attributor(str(top), {})).end("stored")
    assert end is not None
    assert (len(end.data), end.whole) == (WINDOW, False)


WAYS: dict[str, Callable[[Path], object]] = {
    "keeping all of it": lambda top: keep(top, 2 * SIZE),
    "keeping head and tail": lambda top: keep(top, SIZE // 2),
    "its digest": lambda top: files.digest(str(top), "stored", limit=SIZE),
    "a copy": lambda top: files.copy_new(str(top), "copy", str(top / "stored")),
    "a comparison": compare,
    "its end": read_end,
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_memory_does_not_grow_with_an_output(tmp_path: Path, way: str) -> None:
    (tmp_path / "stored").write_bytes(LINE * (SIZE // len(LINE)))
    Redactor((LINE[:9],)).finish()  # what is loaded and made once
    WAYS[way](tmp_path)
    for name in ("kept", "copy"):
        (tmp_path / name).unlink(missing_ok=True)
    assert memory_of(lambda: WAYS[way](tmp_path)).peak < MOST


@pytest.mark.parametrize("size", [0, 1, WINDOW - 1, WINDOW, WINDOW + 1, 3 * WINDOW, 3 * WINDOW + 7])
@pytest.mark.parametrize("last", [b"", b"\n"])
def test_the_end_of_an_output_is_its_last_bytes(tmp_path: Path, size: int, last: bytes) -> None:
    data = (LINE * (size // len(LINE) + 1))[:size].rstrip(b"\n") + last
    (tmp_path / "stored").write_bytes(data)
    end = RecordedOutputs(str(tmp_path), Attributor(str(tmp_path), {})).end("stored")
    assert end is not None
    assert end == (data[-WINDOW:], len(data.splitlines()), len(data) <= WINDOW)
