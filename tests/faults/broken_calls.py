"""The nth call that changes something on the disk is broken, or the process killed before it.

Both without a fork, which costs a large test process as much as ten such changes.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flow.errors import FlowError
from tests.support import ledger_scene
from tests.support.here import forget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

CALLS = ("open", "write", "fsync", "link", "rename", "unlink", "mkdir", "rmdir", "ftruncate")


@contextmanager
def _before_each(act: Callable[[int], object], calls: Sequence[str], opens: int) -> Iterator[None]:
    """Call ``act`` with its number before each of these calls; of ``open`` with these flags."""
    count, busy = 0, False

    def wrapped(name, real):
        def call(*args, **kwargs):
            nonlocal count, busy
            if not busy and (name != "open" or args[1] & opens):
                count += 1
                busy = True
                try:
                    act(count)
                finally:
                    busy = False
            return real(*args, **kwargs)

        return call

    real = {name: getattr(os, name) for name in calls}
    for name in calls:
        setattr(os, name, wrapped(name, real[name]))
    try:
        yield
    finally:
        for name in calls:
            setattr(os, name, real[name])


def _new_process() -> None:
    """Know nothing of what the change did: what comes next is another process."""
    forget()
    ledger_scene.session.cache_clear()


def failing(
    work: Callable[[], object], at: int, number: int, calls: Sequence[str] = CALLS, opens=os.O_CREAT
) -> int:
    """Do ``work``, whose ``at``-th call fails with this error; 5 where Flow says so, or else 0.

    ``opens`` are the flags of opening that counts: -1 counts that of existing files, too.
    """

    def act(count: int) -> None:
        if count == at:
            raise OSError(number, os.strerror(number))

    try:
        with _before_each(act, calls, opens):
            work()
    except FlowError:
        return 5
    finally:
        _new_process()
    return 0


def killed(
    work: Callable[[], object], root: str | os.PathLike[str], first: int = 1, step: int = 1
) -> Iterator[int]:
    """Come to what ``root`` is when SIGKILL ends ``work`` just before a call; to the end at last.

    Gives each call's number, or every ``step``-th from ``first``: what is there at that moment is
    what stays, at the same path. The last number is one more than there are calls.
    """
    root = os.fspath(root)
    kept = f"{root}-kept"
    os.mkdir(kept)

    def act(count: int) -> None:
        nonlocal last
        last = count
        if count >= first and (count - first) % step == 0:
            shutil.copytree(root, f"{kept}/{count}", symlinks=True)

    last = 0
    with _before_each(act, CALLS, os.O_CREAT):
        work()
    os.rename(root, f"{kept}/{last + 1}")
    for count in sorted(map(int, os.listdir(kept))):
        os.rename(f"{kept}/{count}", root)
        _new_process()
        yield count
        shutil.rmtree(root)
    os.rmdir(kept)
