"""Lines from the end of a file on."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING

import pytest

from flow.adapters.fs import backwards

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path, needle: bytes, longest: int = 100, *, unended: bool) -> list[bytes]:
    fd = os.open(path, os.O_RDONLY)
    try:
        lines = backwards.lines_with(
            fd, needle, longest=longest, too_long=lambda: ValueError("long"), unended=unended
        )
        return [*lines]
    finally:
        os.close(fd)


@pytest.mark.parametrize("needle", [b"", b"a", b"aa", b"b,a"])
@pytest.mark.parametrize("unended", [False, True])
@pytest.mark.parametrize("block", [1, 2, 5, 100])
def test_lines_are_found_from_the_end_as_if_each_were_looked_at(
    needle: bytes, unended: bool, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backwards, "_FIRST_BLOCK", block)
    monkeypatch.setattr(backwards, "_LARGEST_BLOCK", block * 2)
    path = tmp_path / "file"
    for text in itertools.product(b"ab,\n", repeat=5):
        data = bytes(text)
        path.write_bytes(data)
        whole, _, tail = data.rpartition(b"\n")
        lines = [*(whole.split(b"\n") if b"\n" in data else []), *([tail] if unended else [])]
        each = [line for line in reversed(lines) if needle in line]
        assert read(path, needle, unended=unended) == each, data


@pytest.mark.parametrize("unended", [False, True])
def test_a_line_that_is_too_long_ends_the_search(unended: bool, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"a\n" + b"x" * 200_000 + b"\na\n")
    assert read(path, b"a", 200_000, unended=unended) == [b"a", b"a"]
    with pytest.raises(ValueError, match="long"):
        read(path, b"b", 10_000, unended=unended)
