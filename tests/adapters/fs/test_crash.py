"""An unexpected error is told in one line, also where nothing can be opened any more."""

from __future__ import annotations

import subprocess
import sys

import pytest

_NO_DESCRIPTOR_LEFT = """
import errno, os, resource, sys
from flow.cli import main
from flow import helpers

def fail(*_):
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

main._run = helpers.read_options = fail
"""
_TOLD = "internal error (OSError: [Errno 24] Too many open files); no log could be written"


@pytest.mark.parametrize(
    ("call", "status", "who"),
    [
        ("main.run(['goal', 'status'])", 5, "flow"),
        ("helpers.main('flow-active-goal', [])", 2, "flow-active-goal.sh"),
    ],
)
def test_without_a_descriptor_left_no_exit_status_is_a_verdict(
    call: str, status: int, who: str
) -> None:
    code = f"{_NO_DESCRIPTOR_LEFT}\nsys.exit({call})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (status, f"{who}: {_TOLD} (please report it)\n")
