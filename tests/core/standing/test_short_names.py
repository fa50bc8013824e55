"""Repositories of one name are called by as much of their paths as tells them apart."""

from __future__ import annotations

import pytest

from flow.core.standing.items import InboxItem, short_names, with_distinct_names
from flow.render.inbox import identity


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["/a/app", "/b/lib"], ["app", "lib"]),
        (["/a/app", "/b/app", "/c/lib"], ["a/app", "b/app", "lib"]),
        (["/x/a/app", "/y/a/app", "/b/app"], ["x/a/app", "y/a/app", "b/app"]),
        (["/app", "/a/app"], ["/app", "a/app"]),
        (["/"], ["/"]),
        (["lists.bundle"], ["lists.bundle"]),
        (["app", "/a/app"], ["app", "a/app"]),
    ],
)
def test_names(paths: list[str], names: list[str]) -> None:
    assert list(short_names(paths).values()) == names


def test_whose_a_row_is_says_which_of_them() -> None:
    rows = [InboxItem("waits", f"/{name}/app", "/x", "why", "greet", "main") for name in "ab"]
    assert [identity(row) for row in with_distinct_names(rows)] == [
        "a/app/main greet",
        "b/app/main greet",
    ]
    assert identity(with_distinct_names(rows[:1])[0]) == "app/main greet"
    assert "called" not in with_distinct_names(rows)[0].to_document()
