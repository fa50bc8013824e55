"""A step towards a scene, taken once: where all is the same again, its files are put there.

Creating a goal takes forty times as long as writing the few files that it leaves, and thousands
of tests begin with the same one. Everything that a command is given counts as the beginning: its
words, the environment, and the name, mode and content of each file in the test's two places. These
are at the same paths for each test (see ``tests/conftest.py``), since Flow's files name them. What
knows files by their identity takes them for other ones, as in :mod:`tests.support.made_once.stage`.

Only for what leads to the thing that a test looks at. That itself is done in earnest:
what lies outside the files (a process, a lock, the time of day) is not seen here.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from tests.support.here import run_flow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import pytest

    from tests.support.start import Ran

_INDEX_HEADER = struct.Struct(">4sII")
_LONGEST = 600
"""Seconds for which a step counts: what it wrote says when that was."""


class _Node(NamedTuple):
    """A file, folder or link: its mode, its content (or where it leads), and when it changed."""

    mode: int
    content: bytes
    changed_ns: int


class _Step(NamedTuple):
    """The result of a command, and what it made of the files; None: that cannot be put back."""

    ran: Ran
    gone: list[str]
    written: dict[str, _Node]
    at: float


class _Now:
    """What holds for the test that runs; nothing is put back where it has no places."""

    places: tuple[str, ...] = ()
    patches: Callable[[], bool] = bool


_steps: dict[bytes, _Step] = {}


@contextmanager
def places(*folders: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let steps be put back in ``folders``, as long as the test has not replaced code."""
    _Now.places = tuple(os.path.realpath(folder) for folder in folders)
    _Now.patches = lambda: (
        bool(monkeypatch._setattr)
        or any(patched is not os.environ for patched, *_ in monkeypatch._setitem)
    )
    try:
        yield
    finally:
        _Now.places = ()


def differs() -> bool:
    """Whether the test has replaced code, or has no places: then all is done in this process."""
    return not _Now.places or _Now.patches()


def replay_flow(
    *words: str | os.PathLike[str],
    cwd: str | os.PathLike[str],
    env: Mapping[str, str | None] | None = None,
    input: str | None = None,
) -> Ran:
    """As ``run_flow``, which is asked only where this beginning has not been there before."""
    before = _seen(cwd, env)
    if before is None:
        return run_flow(*words, cwd=cwd, env=env, input=input)
    given = [os.fspath(word) for word in words], os.fspath(cwd), input, sorted((env or {}).items())
    beginning = _digest(given, before)
    step = _steps.get(beginning)
    if step and time.monotonic() - step.at < _LONGEST:
        _put(step)
        return step.ran
    at = time.monotonic()
    ran = run_flow(*words, cwd=cwd, env=env, input=input)
    after = _seen(cwd, env)
    if after is not None:
        gone = [path for path in before if path not in after]
        written = {path: node for path, node in after.items() if _other(before.get(path), node)}
        if not any(path.endswith("/.git/index") for path in (*gone, *written)):
            _steps[beginning] = _Step(ran, gone, written, at)
    return ran


def _other(before: _Node | None, after: _Node) -> bool:
    return before is None or before[:2] != after[:2]


def _seen(
    cwd: str | os.PathLike[str], env: Mapping[str, str | None] | None
) -> dict[str, _Node] | None:
    """All that is in the test's places, folders before what is in them; None: not to be put back.

    That is so where the command works elsewhere too, and where there are others than plain files.
    """
    given = {**os.environ, **(env or {})}
    used = (os.fspath(cwd), given.get("HOME"), given.get("FLOW_STATE_DIR"))
    inside = tuple(f"{place}/" for place in _Now.places)
    if not inside or _Now.patches():
        return None
    if not all(path and f"{os.path.realpath(path)}/".startswith(inside) for path in used):
        return None
    nodes: dict[str, _Node] = {}
    try:
        for place in _Now.places:
            _look(place, nodes)
    except (OSError, ValueError):
        return None
    return nodes


def _look(folder: str, nodes: dict[str, _Node]) -> None:
    found = os.lstat(folder)
    nodes[folder] = _Node(found.st_mode, b"", found.st_mtime_ns)
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False):
                _look(entry.path, nodes)
                continue
            found = entry.stat(follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode):
                content = os.fsencode(os.readlink(entry.path))
            elif stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
                content = _read(entry.path)
            else:
                raise ValueError(entry.path)
            nodes[entry.path] = _Node(found.st_mode, content, found.st_mtime_ns)


def _read(path: str) -> bytes:
    """A file's content; of git's index only what it says of contents, not of the files' stamps."""
    with open(path, "rb", buffering=0) as file:
        content = file.read()
    return _without_stamps(content) if path.endswith("/.git/index") else content


def _without_stamps(index: bytes) -> bytes:
    """An index of version 2 with zeros for stamps, owners and sums; another one as it is."""
    signature, version, count = _INDEX_HEADER.unpack_from(index)
    if signature != b"DIRC" or version != 2:
        return index
    data = bytearray(index)
    at = _INDEX_HEADER.size
    for _ in range(count):
        data[at : at + 24] = bytes(24)
        at += (data.index(0, at + 62) - at + 8) & ~7  # names have no zero, and end with some
    data[-20:] = bytes(20)
    return bytes(data)


def _digest(given: object, before: Mapping[str, _Node]) -> bytes:
    environment = sorted(item for item in os.environ.items() if item[0] != "PYTEST_CURRENT_TEST")
    files = [(path, node.mode, node.content) for path, node in before.items()]
    return hashlib.blake2b(repr((given, environment, files)).encode()).digest()


def _put(step: _Step) -> None:
    for path in reversed(step.gone):
        (os.unlink if os.path.islink(path) or os.path.isfile(path) else os.rmdir)(path)
    for path, node in step.written.items():
        if stat.S_ISDIR(node.mode):
            os.makedirs(path, exist_ok=True)
        else:
            with suppress(FileNotFoundError):
                os.unlink(path)
        if stat.S_ISLNK(node.mode):
            os.symlink(node.content, path)
            continue
        if stat.S_ISREG(node.mode):
            with open(path, "wb", buffering=0) as file:
                file.write(node.content)
            os.utime(path, ns=(node.changed_ns, node.changed_ns))
        os.chmod(path, stat.S_IMODE(node.mode))
