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


def test_a_base_run_that_is_remembered_is_not_said_to_wait(repo: GitRepo) -> None:
    """HAZARD I329: nor is one of several that ``--only`` names said not to be run."""
    more = [part for n in (2, 3) for part in ("--criterion", f"AC{n}: says it :: exit {n}")]
    scene.create(scene.start(repo), "greet", *more, criterion="AC1: says please :: exit 1")
    base = ("goal", "baseline", "greet")
    assert scene.flow(repo, *base, "--only", "AC1").status == 0
    named, every = ("--only", "AC1,AC2"), ()
    states = {named: ["reused", "waits", "not run"], every: ["reused", "reused", "waits"]}
    for words, expected in states.items():
        status, text = scene.ended(scene.at_terminal(repo, [*base, *words], NO_COLOR="1"))
        assert status == 0
        first_drawn = text.partition("Ctrl-C")[0]
        assert re.findall(r"AC\d .* exit \d  (\S.*?)\s*\n", first_drawn) == expected
