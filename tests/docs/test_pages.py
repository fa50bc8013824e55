"""Every page of docs with a console session: what they show is run again.

A page whose name has replies in ``tests/docs/replies`` is run with the judge that gives them.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from tests.adapters.judges.warm_worker import client
from tests.docs import recorded
from tests.docs.console import Command, environment, replay
from tests.support import ROOT
from tests.support.effort import sizes
from tests.support.start import SKIPS_FAIL

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = {
    page.stem: page
    for folder in ("docs", "docs/start", "docs/reference")
    for page in sorted(Path(ROOT, folder).glob("*.md"))
    if "\n```console\n" in page.read_text(encoding="utf-8")
}
RECORDED = {path.stem for path in recorded.REPLIES.glob("*.json")}
TOOLS = {"evidence": "ssh-keygen", "evidence-exchange": "ssh-keygen", "sandbox-secrets": "bwrap"}
CHANGES = {
    "rubrics": ("Says what changes for users", "Says what changes for all"),
    "debates": ('"Handlers that create', '"Functions that create'),
    "scorecards": ("14 passed in 0.21s", "13 passed in 0.21s"),
}
"""A change of what the judge of the page is shown."""


STARTED = ("first-goal",)
"""With the real start of each ``flow``; with ``--long`` every page is."""


@pytest.fixture(scope="module")
def warm() -> Iterator[str]:
    """A folder with a ``flow`` that is forked from a process which has its modules already."""
    with (
        TemporaryDirectory(prefix="warm") as folder,
        client(Path(folder), "tests.docs.warm_flow", f"{ROOT}/tests/docs/warm_flow.py") as script,
    ):
        command = Path(folder, "flow")
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{script}" "$@"\n')
        command.chmod(0o755)
        yield folder


def run(page: Path, folder: Path, home: Path, *first: str) -> list[Command]:
    """Replay ``page`` in ``folder``, with its recorded judge where it has one."""
    if page.stem in RECORDED:
        return list(recorded.run(page, folder, home, *first))
    (work := folder / "work").mkdir()
    return list(replay(page.read_text(encoding="utf-8"), work, environment(home, *first)))


@pytest.mark.slow
@pytest.mark.needs_tool("git", "bash", "python3", "sed")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.needs_tool(TOOLS[name]) if name in TOOLS else ())
        for name in PAGES
    ],
)
def test_the_page_says_what_happens(
    name: str, tmp_path: Path, home: Path, request: pytest.FixtureRequest
) -> None:
    real = sizes(short=name in STARTED, long=True)
    first = () if real else (request.getfixturevalue("warm"),)
    if name == "evidence" and SKIPS_FAIL:
        pytest.skip("unittest of this Python does not pass where every test was skipped")
    commands = run(PAGES[name], tmp_path, home, *first)
    text = PAGES[name].read_text(encoding="utf-8")
    sessions = re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S)
    typed = [line for session in sessions for line in session.split("\n") if line[:2] == "$ "]
    ran = [command.typed.split("\n")[0] for command in commands if command.typed != "python"]
    assert ran == [line[2:] for line in typed]
    differences = [command.difference for command in commands if command.difference]
    assert not differences, "\n\n".join(differences)


@pytest.mark.slow
@pytest.mark.needs_tool("git", "bash")
@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_prompt_is_noticed(name: str, tmp_path: Path, home: Path, warm: str) -> None:
    was, now = CHANGES[name]
    text = PAGES[name].read_text(encoding="utf-8")
    assert was in text
    changed = tmp_path / f"{name}.md"
    changed.write_text(text.replace(was, now, 1 if name == "debates" else -1))
    commands = recorded.run(changed, tmp_path, home, warm)
    assert any("has changed" in command.actual for command in commands)


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_every_kept_reply_belongs_to_one_prompt(name: str) -> None:
    rows = json.loads((recorded.REPLIES / f"{name}.json").read_text(encoding="utf-8"))
    assert all(re.fullmatch("[0-9a-f]{64}", row["prompt_sha256"]) for row in rows)
    assert len({row["prompt_sha256"] for row in rows}) == len(rows)
