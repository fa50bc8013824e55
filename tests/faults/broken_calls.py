"""A forked child in which the nth call that changes something on the disk is broken."""

from __future__ import annotations

import os
import sys

from flow.errors import FlowError

CALLS = ("open", "write", "fsync", "link", "rename", "unlink", "mkdir", "rmdir", "ftruncate")
CRASHED = 137


class Broken:
    """Counts the calls that change something, and does something just before the nth."""

    def __init__(self, at, act, calls=CALLS):
        self.count = 0
        for name in calls:
            setattr(os, name, self._wrapped(name, getattr(os, name), at, act))

    def _wrapped(self, name, real, at, act):
        def call(*args, **kwargs):
            if name != "open" or args[1] & (os.O_CREAT if at > 0 else ~0):
                self.count += 1
                if self.count == abs(at):
                    act()
            return real(*args, **kwargs)

        return call


def in_child(work, at, act, calls=CALLS):
    """Run ``work`` in a forked child whose ``at``-th call is broken; returns the exit status.

    A negative ``at`` counts the opening of existing files and folders, too.
    """
    child = os.fork()
    if child == 0:
        status = 3
        sys.settrace(None)  # what coverage would see here is lost with the child
        try:
            Broken(at, act, calls)
            work()
            status = 0
        except FlowError:
            status = 5
        except BaseException as error:
            sys.__stderr__.write(f"{type(error).__name__}: {error}\n")
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill():
    os._exit(CRASHED)


def fail(number):
    def act():
        raise OSError(number, os.strerror(number))

    return act
