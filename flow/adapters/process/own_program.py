"""Path of the ``flow`` that is running, for files that have to name it."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

from flow.adapters.process.environment import find_program
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def own_program(environ: Mapping[str, str]) -> str | None:
    """The whole path of the command ``flow``: the checkout's, the installed one, or the PATH's."""
    return next((path for path in _places(environ) if os.access(path, os.X_OK)), None)


def _places(environ: Mapping[str, str]) -> Iterator[str]:
    root = Path(__file__).resolve().parents[3]
    if (root / "bin/_start.py").is_file():
        yield str(root / "bin/flow")
    if os.path.isabs(sys.argv[0]) and os.path.basename(sys.argv[0]) == "flow":
        yield sys.argv[0]
    yield os.path.join(sysconfig.get_path("scripts"), "flow")
    on_path = find_program("flow", environ.get("PATH"))
    if on_path is not None:
        yield on_path
