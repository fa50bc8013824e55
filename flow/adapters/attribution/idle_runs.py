"""Runs that ended with 0 and say nothing of it, whose files tell that no test ran."""

from __future__ import annotations

import os

from flow.adapters.attribution.report_files import LIMIT
from flow.adapters.fs import files
from flow.core.attribution.attribute import lines_of
from flow.core.attribution.idle_builds import (
    first_target,
    is_no_product,
    may_be_phony,
    silent_makes,
)
from flow.core.attribution.node_files import files_as_tests, holds_no_test
from flow.core.attribution.reading import Attribution
from flow.core.text.display import visible
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.ports import Check


def idle_run(
    top: str, check: Check, commands: Sequence[Sequence[str]], output: bytes
) -> Attribution | None:
    """Why a run that ended with 0 is vacuous; None where nothing tells that it is.

    ``commands`` are the words of the check's simple commands, ``output`` the end of what it
    printed.
    """
    if not output.strip():
        return _silent_make(top, check, commands)
    return _empty_node_files(top, check, lines_of(output))


def _silent_make(top: str, check: Check, commands: Sequence[Sequence[str]]) -> Attribution | None:
    """That a make which printed nothing has run nothing: a file is called like its target.

    An empty folder suffices, and is no change of the checkout. None where it ran, or may have.
    """
    for make in silent_makes(commands):
        folder = os.path.join(check.cwd, make.folder)
        texts = (_source(top, folder, name, unread="") for name in make.makefiles)
        makefile = next(filter(None, texts), "")
        for goal in make.goals or filter(is_no_product, (first_target(makefile),)):
            there = os.path.lexists(os.path.join(top, folder, goal))
            if makefile and there and not may_be_phony(goal, makefile):
                why = f"make printed nothing, and {visible(goal)} is also the name of a file or"
                why += " folder there, for which make runs nothing: declare it .PHONY"
                return Attribution("vacuous", why, "make", 0, None, "output")
    return None


def _empty_node_files(top: str, check: Check, lines: Sequence[str]) -> Attribution | None:
    """That the files which node counted as tests hold none; None where one may show something.

    A file that cannot be read is believed.
    """
    names = files_as_tests(lines)
    sources = (_source(top, check.cwd, name, unread="?") for name in names)
    if not names or not all(map(holds_no_test, sources)):
        return None
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    shown = os.path.relpath(os.path.join(top, check.cwd, names[0]), top)
    why = f"node counted a file as a test that tells of none: {visible(shown)}{more}"
    return Attribution("vacuous", why, "node --test", 0, None, "output")


def _source(top: str, folder: str, name: str, *, unread: str) -> str:
    """The text of a file of the checkout; ``unread`` where there is none that can be read."""
    rel = os.path.relpath(os.path.join(top, folder, name), top)
    try:
        data = None if rel.startswith("..") else files.read_optional(top, rel, limit=LIMIT)
    except FlowError:
        data = None
    return unread if data is None else data.decode("utf-8", "replace")
