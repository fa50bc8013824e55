"""Where symlinks lead: as ``os.path.realpath`` says, for chains of any length and in any order."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from flow.adapters.worktree.real_paths import RealPaths
from tests.support.effort import sizes


def real_paths(top: Path) -> RealPaths:
    return RealPaths(os.fsencode(os.path.realpath(top)))


def forest(top: Path, rng: random.Random, *, loops: bool) -> list[bytes]:
    """Folders, files and links at random; without ``loops`` a link leads to earlier names only."""
    names = ["a", "b", "a/c", "a/c/d"]
    for name in names:
        (top / name).mkdir()
    for number in range(12):
        folder = rng.choice(["", "a/", "b/", "a/c/", "a/c/d/"])
        name = f"{folder}l{number}"
        known = [*names, *(f"b/l{n}" for n in range(12))] if loops else names
        goal = rng.choice([*known, "gone", "gone/deep", ".", ""])
        beyond = rng.choice(["", "", "/..", "/../b", "/.", "//c", "/c/../../b", "/gone"])
        start = rng.choice([f"{top}/", "../" * folder.count("/"), "./" + "../" * folder.count("/")])
        (top / name).symlink_to(start + goal + beyond or ".")
        names.append(name)
    ends = ["", "/c", "/../b", "/gone/deep", "/l3", "/.."]
    return [os.fsencode(name + end) for name in names for end in ends]


@pytest.mark.parametrize("seed", range(sizes(short=20, long=2000)))
def test_it_answers_as_realpath(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    paths = forest(tmp_path, rng, loops=False)
    rng.shuffle(paths)
    real = real_paths(tmp_path)
    for path in paths:
        assert real.of(path) == os.path.realpath(os.fsencode(tmp_path) + b"/" + path), path


@pytest.mark.parametrize("seed", range(sizes(short=20, long=2000)))
def test_the_order_of_the_questions_plays_no_part(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    paths = forest(tmp_path, rng, loops=True)
    alone = {path: real_paths(tmp_path).of(path) for path in paths}
    rng.shuffle(paths)
    together = real_paths(tmp_path)
    assert {path: together.of(path) for path in paths} == alone


def test_a_link_that_ends_in_a_loop_is_a_plain_name(tmp_path: Path) -> None:
    for name, target in (("in", "one"), ("one", "two"), ("two", "one"), ("self", "self/x/..")):
        (tmp_path / name).symlink_to(target)
    real, top = real_paths(tmp_path), os.fsencode(os.path.realpath(tmp_path))
    for name in (b"in", b"one", b"two", b"self"):
        assert real.of(name) == top + b"/" + name
        assert real.of(name + b"/below") == top + b"/" + name + b"/below"


def test_a_chain_longer_than_the_stack_of_the_interpreter(tmp_path: Path) -> None:
    (tmp_path / "end").mkdir()
    count = 3000
    for number in range(count):
        (tmp_path / f"l{number}").symlink_to(f"l{number + 1}" if number + 1 < count else "end")
    top = os.fsencode(os.path.realpath(tmp_path))
    assert real_paths(tmp_path).of(b"l0/file") == top + b"/end/file"


def test_links_that_add_up_to_more_than_a_path_lead_nowhere_that_is_told(tmp_path: Path) -> None:
    (tmp_path / "l0").symlink_to("gone")
    for number in range(1, 60):
        (tmp_path / f"l{number}").symlink_to(f"l{number - 1}/" + "x" * 200)
    forward, backward = real_paths(tmp_path), real_paths(tmp_path)
    names = [f"l{number}".encode() for number in range(60)]
    assert [forward.of(name) for name in names] == [backward.of(n) for n in names[::-1]][::-1]
    assert forward.of(b"l59") is None
    assert forward.of(b"l5") is not None


def test_each_link_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(50):
        (tmp_path / f"l{number}").symlink_to(f"l{number + 1}")
    real, readlink = real_paths(tmp_path), os.readlink
    asked: list[bytes] = []
    monkeypatch.setattr(os, "readlink", lambda path: asked.append(path) or readlink(path))
    for number in range(50):
        real.of(f"l{number}".encode())
    assert len(asked) == len(set(asked)) == 51
