"""The verifier lock as values: what counts, what does not, and what is recorded."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.boundary import rules as b
from flow.core.boundary.by_products import find_ignored_by_products, moved_paths, subject_tree
from flow.core.boundary.changes import (
    ABSENT,
    Baseline,
    ContentState,
    PathChange,
    Snapshot,
    entry_digest,
)
from flow.core.boundary.globs import Globs
from flow.core.evidence import protected_files

A = ContentState("100644", "a" * 40)
B = ContentState("100644", "b" * 40)
C = ContentState("100644", "c" * 40)
D = ContentState("100644", "d" * 40)
a, bb, c, d = (entry_digest(entry) for entry in (A, B, C, D))
EMPTY = Baseline("f" * 40, {}, {}, {}, {}, {}, protected_patterns=("tests/**",))
OWN = b.OwnFiles(EMPTY)


def snap(*changes: PathChange, ignored_protected: dict[str, str] | None = None) -> Snapshot:
    return Snapshot("e" * 40, "work", changes, {}, (), ignored_protected or {})


def found(
    *changes: PathChange, ignored_protected: dict[str, str] | None = None, **baseline: Any
) -> dict[str, tuple[str, str, str]]:
    difference = protected_files.difference(
        snap(*changes, ignored_protected=ignored_protected),
        EMPTY._replace(**baseline),
        ["tests/**"],
        OWN,
    )
    files = difference.files if difference else ()
    return {file.path: (file.kind, file.before, file.after) for file in files}


def change(head: Any = A, index: Any = A, worktree: Any = A, base: Any = A) -> PathChange:
    return PathChange("tests/x", base, head, index, worktree)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (change(), None),
        (change(worktree=B), ("modified", a, bb)),
        (change(index=B), ("modified", a, bb)),
        (change(head=B), ("modified", a, bb)),
        (change(head=B, index=C), ("modified", a, c)),
        (change(worktree=None), ("removed", a, ABSENT)),
        (change(index=None), ("removed", a, ABSENT)),
        (change(None, None, B, None), ("added", ABSENT, bb)),
        (change(B, B, None, None), ("added", ABSENT, bb)),
    ],
)
def test_against_the_base(now: PathChange, expected: Any) -> None:
    assert found(now).get("tests/x") == expected


RECORDED = f"{bb} {c} {d} {a}"
"""On disk B, staged C, committed D, in the base A."""


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (change(D, C, B), None),
        (change(B, B, B), None),  # committed as it was on disk
        (change(A, A, B), None),  # the commit taken back, the file as it was
        (change(D, C, A), ("modified", bb, a)),
        (change(D, C, None), ("removed", bb, ABSENT)),
        (change(ContentState("100755", "b" * 40), C, B), ("modified", bb, "100755:" + "b" * 40)),
    ],
)
def test_against_what_was_recorded(now: PathChange, expected: Any) -> None:
    assert found(now, protected={"tests/x": RECORDED}).get("tests/x") == expected


def test_recorded_and_in_no_change_set_is_as_in_the_base() -> None:
    assert found(protected={"tests/x": RECORDED}) == {"tests/x": ("modified", bb, a)}
    assert found(protected={"tests/x": f"{a} {c} {a} {a}"}) == {}
    assert found(protected={"tests/x": f"{bb} {ABSENT} {ABSENT} {ABSENT}"}) == {
        "tests/x": ("removed", bb, ABSENT)
    }
    assert found(protected={"other/x": RECORDED, "tests/x": "broken"}) == {}


@pytest.mark.parametrize(
    ("ignored_protected", "more", "expected"),
    [
        ({"tests/i": a}, {}, ("added", ABSENT, a)),
        ({"tests/i": a}, {"by_products": {"tests/i": a}}, ("added", ABSENT, a)),
        ({"tests/i": bb}, {"by_products": {"tests/i": a}}, ("added", ABSENT, bb)),
        ({"tests/i": a}, {"protected": {"tests/i": f"{a} absent absent absent"}}, None),
        (
            {"tests/i": bb},
            {"protected": {"tests/i": f"{a} absent absent absent"}, "by_products": {"tests/i": bb}},
            ("modified", a, bb),
        ),
        ({}, {"protected": {"tests/i": f"{a} absent absent absent"}}, ("removed", a, ABSENT)),
        ({"other/i": a}, {}, None),
    ],
)
def test_ignored_files(
    ignored_protected: dict[str, str], more: dict[str, Any], expected: Any
) -> None:
    assert found(ignored_protected=ignored_protected, **more).get("tests/i") == expected


def test_what_never_counts() -> None:
    cache = PathChange("tests/__pycache__/x.pyc", None, None, None, A)
    assert found(cache, ignored_protected={"tests/.coverage": a}) == {}
    staged = cache._replace(index=A)
    assert set(found(staged)) == {staged.path}
    journal = PathChange(".decisions/issue-1.md", None, None, None, A)
    patterns = [".decisions/**"]
    assert protected_files.difference(snap(journal), EMPTY, patterns, OWN) is None
    assert protected_files.difference(snap(change(worktree=B)), EMPTY, [], OWN) is None
    broken = snap(change(worktree=B))._replace(problems=("a merge is under way",))
    assert protected_files.difference(broken, EMPTY, ["tests/**"], OWN) is None


def test_a_by_product_that_is_not_ignored_counts() -> None:
    new = PathChange("tests/conftest.py", None, None, None, A)
    assert found(new, by_products={"tests/conftest.py": a}) == {
        "tests/conftest.py": ("added", ABSENT, a)
    }
    paths = ["tests/conftest.py", "tests/.coverage", "src/x"]
    assert protected_files.matching(paths, ["tests/**"]) == ("tests/conftest.py",)
    assert protected_files.matching(paths, []) == ()


@pytest.mark.parametrize(
    ("dirty", "now", "expected"),
    [
        ({}, change(worktree=B), ("modified", a, bb)),
        ({"tests/x": bb}, change(worktree=B), None),
        ({"tests/x": bb}, change(worktree=C), ("modified", bb, c)),
        ({"tests/x": f"{bb} {c}"}, change(index=C, worktree=B), None),
        ({"tests/x": bb}, change(index=B, worktree=B), None),
        ({}, change(head=B, index=B, worktree=B), ("modified", a, bb)),
        ({"tests/x": bb}, None, ("modified", bb, "as in the base")),
    ],
)
def test_a_pattern_nothing_was_recorded_for(
    dirty: dict[str, str], now: PathChange | None, expected: Any
) -> None:
    made = found(*([now] if now else []), dirty=dirty, protected_patterns=())
    assert made.get("tests/x") == expected
    # A pattern that was recorded is not forgiven by what was dirty before it was.
    if expected is None and now is not None:
        assert found(now, dirty=dirty)


def test_the_digest_is_of_the_whole_difference() -> None:
    changes = [PathChange(f"tests/{n:03}", A, A, A, B) for n in range(150)]
    one = protected_files.difference(snap(*changes), EMPTY, ["tests/**"], OWN)
    two = protected_files.difference(
        snap(*changes[:-1], changes[-1]._replace(worktree=C)), EMPTY, ["tests/**"], OWN
    )
    assert one is not None
    assert two is not None
    assert one.paths == two.paths == tuple(sorted(one.paths))
    assert one.digest != two.digest
    document = one.to_document()
    assert (document["count"], len(document["files"])) == (150, protected_files.LISTED)
    assert document["files"] == two.to_document()["files"]
    assert one.sentence(2) == "tests/000 (modified), tests/001 (modified) and 148 more"
    assert protected_files.Difference(one.files[:2]).sentence(2).endswith("tests/001 (modified)")


def test_what_a_baseline_records() -> None:
    changes = [change(D, C, B), PathChange("src/x", A, A, A, B)]
    ignored = {"tests/i": a, "tests/.coverage": a}
    assert protected_files.deviations(changes, ignored, Globs(["tests/**"], anchored=False)) == {
        "tests/x": RECORDED,
        "tests/i": f"{a} absent absent absent",
    }
    assert protected_files.deviations(changes, {}, Globs([], anchored=False)) == {}


def test_patterns_that_come_and_go() -> None:
    baseline = EMPTY._replace(protected={"tests/x": RECORDED, "lib/x": RECORDED})
    baseline = baseline._replace(protected_patterns=("tests/**", "lib/**"))
    now = {"tests/x": "later", "tests/y": "later", "src/x": "later"}
    made = protected_files.with_patterns(
        baseline, ["tests/**", "src/**"], ["tests/**", "lib/**"], now
    )
    assert made.protected == {"tests/x": RECORDED, "src/x": "later"}
    assert made.protected_patterns == ("tests/**", "src/**")
    # One that was protected and never recorded stays so.
    older = baseline._replace(protected={}, protected_patterns=())
    made = protected_files.with_patterns(older, ["tests/**", "src/**"], ["tests/**"], now)
    assert (made.protected, made.protected_patterns) == ({"src/x": "later"}, ("src/**",))


def test_ignored_differences_are_part_of_the_subject() -> None:
    kept = EMPTY._replace(protected={"tests/i": f"{a} absent absent absent"})
    none = subject_tree(snap(ignored_protected={"tests/i": a}), kept, OWN)
    assert none == subject_tree(snap(), EMPTY, OWN)
    others = {
        subject_tree(snap(ignored_protected=ignored_protected), kept, OWN)
        for ignored_protected in (
            {},
            {"tests/i": bb},
            {"tests/i": a, "tests/j": a},
            {"tests/i\udcff": a},
        )
    }
    assert len({none, *others}) == 5


def test_ignored_files_that_commands_leave_or_change() -> None:
    before, after = (
        snap(ignored_protected={"tests/i.log": a}),
        snap(ignored_protected={"tests/i.log": bb, "tests/j.log": c}),
    )
    recorded = EMPTY._replace(protected={"tests/i.log": f"{a} absent absent absent"})
    made = find_ignored_by_products(before, after, recorded)
    assert made == {"tests/j.log": c}
    left = recorded._replace(by_products=made)
    assert moved_paths(before, after, left, OWN) == ("tests/i.log",)
    assert (
        moved_paths(before, snap(ignored_protected={"tests/i.log": a, "tests/j.log": c}), left, OWN)
        == ()
    )
    # What was a difference before the commands ran is none of theirs.
    seen = snap(ignored_protected={"tests/n.log": a})
    assert find_ignored_by_products(seen, snap(ignored_protected={"tests/n.log": bb}), EMPTY) == {}
    cached = snap(ignored_protected={"tests/.coverage": a})
    assert find_ignored_by_products(snap(), cached, EMPTY) == {}
    settings = snap(ignored_protected={"tests/pytest.ini": a})
    assert find_ignored_by_products(snap(), settings, EMPTY) == {}
    assert moved_paths(snap(), settings, EMPTY._replace(by_products={"tests/pytest.ini": a}), OWN)


def test_a_file_that_was_untracked_and_is_there_is_not_gone() -> None:
    kept = EMPTY._replace(protected={"tests/x": f"{a} absent absent absent"})
    there = snap(PathChange("tests/x", None, None, None, A))
    assert subject_tree(there, kept, OWN) == subject_tree(there, EMPTY, OWN)
