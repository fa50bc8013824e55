"""Which of git's hooks and settings changed, and what a person's approval covers."""

from __future__ import annotations

import pytest

from flow.core.boundary.by_products import with_guards
from flow.core.boundary.changes import Baseline
from flow.core.boundary.guards import (
    ALL_KINDS,
    KINDS,
    SHALLOW,
    as_approved,
    differences,
    guards_changed,
    unapproved,
)

NOW = {KINDS: ALL_KINDS}
NEW_KINDS = (
    "config [core]",
    "objects/info/alternates",
    SHALLOW,
    "hooks, a link",
    "hooks, beside: a/b",
)
FIRST_KINDS = ("hooks/a", "core.hooksPath", "core.hooksPath/a", "info/grafts", "refs/replace")


@pytest.mark.parametrize("name", [*NEW_KINDS, *FIRST_KINDS])
def test_what_is_new_changed_or_gone_is_named(name: str) -> None:
    one, other = {**NOW, name: "1"}, {**NOW, name: "2"}
    assert guards_changed(NOW, one) == (name,)
    assert guards_changed(one, other) == (name,)
    assert guards_changed(one, one) == ()
    gone = () if name == SHALLOW else (name,)  # what a fetch --unshallow does
    assert guards_changed(one, NOW) == gone
    assert differences(one, NOW) == differences(NOW, one) == (name,)


@pytest.mark.parametrize("name", NEW_KINDS)
def test_what_an_older_flow_did_not_record_is_not_missed(name: str) -> None:
    """Its goals go on; what it did record is held against it as before."""
    old = {"hooks/a": "1"}
    assert guards_changed(old, {**NOW, "hooks/a": "1", name: "1"}) == ()
    assert guards_changed(old, {**NOW, "hooks/a": "2", name: "1"}) == ("hooks/a",)
    assert guards_changed({}, {**NOW, "info/grafts": "1"}) == ("info/grafts",)
    assert as_approved({**NOW, **old, name: "1"}, old, old)


def test_an_approval_is_of_all_guards_exactly() -> None:
    approved = {**NOW, "hooks/a": "1"}
    other = {**NOW, "hooks/a": "2"}
    more = {**approved, "hooks/b": "1"}
    assert unapproved((approved,), NOW, approved) == ()
    assert unapproved((NOW, approved), NOW, approved) == ()
    assert unapproved((other, approved), NOW, approved) == ("hooks/a",)
    assert unapproved((approved, more), NOW, approved) == ("hooks/a", "hooks/b")
    assert unapproved((approved,), NOW, None) == ("hooks/a",)


def test_the_tree_is_another_one_where_guards_changed() -> None:
    baseline = Baseline("b", {}, {}, {}, NOW, {})
    trees = {
        with_guards("t", guards, baseline)
        for guards in ({**NOW, "hooks/a": "1"}, {**NOW, "hooks/a": "2"}, NOW)
    }
    assert len(trees) == 3
    assert with_guards("t", NOW, baseline) == "t"
    assert with_guards("t", {}, baseline._replace(guards={})) == "t"
