"""The live table at a real terminal."""

from __future__ import annotations

import re

from tests.support import GitRepo, scene


def test_the_table_is_drawn_and_nothing_of_it_is_left(repo: GitRepo) -> None:
    scene.create(scene.start(repo), criterion="AC1: says please :: exit 1")
    child = scene.at_terminal(repo, ["goal", "evaluate", "greet", "--no-input"])
    status, text = scene.ended(child)
    assert status == 1
    assert "0 of 1 command. Ctrl-C ends them" in text
    erased = re.split(r"\x1b\[\d+A", text)
    assert len(erased) > 2
    last = erased[-1].replace("\r\n", "\n")
    assert "✗ greet" in last.replace("\x1b[31m", "").replace("\x1b[0m", "").replace("\x1b[1m", "")
    assert "Ctrl-C" not in last
    assert "[1/1]" not in text
