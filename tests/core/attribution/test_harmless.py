"""Which commands only look."""

from __future__ import annotations

import pytest

from flow.core.attribution.harmless import harmless

LOOK = [
    "true", ":", "test -e README.md", "[ -f a ]", "[[ -f a ]]", "! grep -q please src/a.txt",
    "grep -rq 'two words' src && test -x run", "cat a | grep -q x || false", "grep -c x a|wc -l",
    "! ! test -e a", "grep -q 'a && test b' c",
]  # fmt: skip
MAY_DO_MORE = [
    "", " ", "pytest", "make test", "./check", "/bin/grep x a", "bash -c 'grep x'", "env grep x a",
    "grep x a > out", "grep x < a", "cat a >> b", "grep $(date) a", "grep `date` a", "grep $X a",
    "grep x a & touch b", "grep x a; touch b", "grep x a\ntouch b", "grep x a && touch b",
    "grep x a || touch b", "grep x a | tee b", "grep x a |& tee b", "(grep x a)", "{ grep x a; }",
    "X=1 grep x a", "grep -q 'a && touch b' c", "! touch b", "grep x a &&& touch b", "!", "a && ",
    "&& grep x", "grep \\x a", "grep x a # b", "find . -delete", "sed -i s/a/b/ c", "git status",
    "awk 1 a", "grep \u00e9 a", "grep x a\0", "test " + "x" * 2000,
]  # fmt: skip


@pytest.mark.parametrize("command", LOOK)
def test_it_looks(command: str) -> None:
    assert harmless(command)


@pytest.mark.parametrize("command", MAY_DO_MORE, ids=repr)
def test_it_may_do_more(command: str) -> None:
    assert not harmless(command)
