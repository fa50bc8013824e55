"""Packed change sets are those that were packed, and every rule says the same of them."""

from __future__ import annotations

from random import Random

import pytest

from flow.core.boundary import packed
from flow.core.boundary import rules as b
from flow.core.boundary.by_products import find_by_products, moved_paths, rewritten, subject_tree
from flow.core.boundary.changes import (
    Baseline,
    ContentState,
    PathChange,
    Snapshot,
    by_path,
    in_order,
    where,
    with_replaced,
)
from flow.core.boundary.packed import PackedChanges, PackedTimes

NAMES = ("a", "b.log", "é", "\udcff", "\U0001f600", "\ue000", "x y", "__pycache__", "build")
MODES = ("100644", "100755", "120000", "160000")
WIDTH = 20
EMPTY = Baseline("f" * 40, {}, {}, {}, {}, {})


class Special(PathChange):
    """As an ignored file that a denied pattern names is one of its own kind."""

    __slots__ = ()


def state(random: Random) -> ContentState | None:
    kind = random.random()
    if kind < 0.4:
        return None
    if kind < 0.45:
        return ContentState("fifo", "")
    if kind < 0.5:
        return ContentState("040000", "")
    if kind < 0.55:
        return ContentState("100644", random.choice(("short", "A" * 40, "a" * 64)))
    return ContentState(random.choice(MODES), random.choice("0123456789abcdef") * 40)


def some_changes(seed: int, most: int = 3 * packed._ROWS) -> tuple[PathChange, ...]:
    random = Random(seed)
    changes = {}
    for _ in range(random.randrange(1, most)):
        path = (
            "/".join(random.choices(NAMES, k=random.randrange(1, 5))) + f"{random.randrange(999)}"
        )
        plain = random.random() < 0.8
        changes[path] = (Special if random.random() < 0.05 else PathChange)(
            path,
            *(state(random) for _ in range(4)),
            None if plain else random.choice(("", "src/a", None)),
            "" if plain else random.choice(("", "altered", "unrecorded")),
            not plain and random.random() < 0.5,
        )
    if random.random() < 0.3:  # as most change sets are: nothing in git
        changes = {
            path: PathChange(path, None, None, None, c.worktree) for path, c in changes.items()
        }
    return tuple(in_order(list(changes.values())))


@pytest.mark.parametrize("seed", range(12))
def test_all_is_as_it_was_packed(seed: int) -> None:
    plain, random = some_changes(seed), Random(seed)
    many = PackedChanges.of(iter(plain), WIDTH)
    assert many == plain
    assert many == PackedChanges.of(plain, WIDTH)
    assert [type(change) for change in many] == [type(change) for change in plain]
    assert len(many) == len(plain)
    paths = [change.path for change in plain] + ["", "zzzz", "a/nowhere"]
    random.shuffle(paths)
    expected = by_path(plain)
    assert all(many.get(path) == expected.get(path) for path in paths)
    assert many != plain[:-1]
    assert many != (*plain[:-1], plain[-1]._replace(path="other"))


@pytest.mark.parametrize("seed", range(12))
def test_some_are_left_out_and_others_replaced(seed: int) -> None:
    plain, random = some_changes(seed), Random(seed)
    many: packed.PackedChanges | tuple[PathChange, ...] = PackedChanges.of(plain, WIDTH)
    for _ in range(3):
        gone = {change.path for change in plain if random.random() < 0.2}
        plain = where(plain, lambda change, gone=gone: change.path not in gone)
        many = where(many, lambda change, gone=gone: change.path not in gone)
        assert many == plain
        assert len(many) == len(plain)
        assert all(many.get(path) is None for path in gone)
        other = {
            place: change._replace(foreign="altered")
            for place, change in enumerate(plain)
            if random.random() < 0.2
        }
        plain, many = with_replaced(plain, other), with_replaced(many, other)
        assert many == plain


def snapshots(
    seed: int,
) -> tuple[tuple[Snapshot, Snapshot], tuple[Snapshot, Snapshot]]:
    """Before and after, as they are and packed."""
    random, before = Random(seed), some_changes(seed)
    kept = [change for change in before if random.random() < 0.9]
    added = [change for change in some_changes(seed + 1000) if change.path not in by_path(before)]
    after = tuple(in_order([*kept, *added]))
    pairs = []
    for changes in (before, after):
        times = {c.path.encode("utf-8", "surrogateescape"): random.randrange(99) for c in changes}
        times[b"./"] = -5
        plain = Snapshot("e" * 40, "work", changes, {}, (), written=times, began=50)
        many = plain._replace(
            changes=PackedChanges.of(changes, WIDTH), written=PackedTimes(times.items())
        )
        pairs.append((plain, many))
    (first, first_many), (second, second_many) = pairs
    return (first, second), (first_many, second_many)


@pytest.mark.parametrize("seed", range(8))
def test_every_rule_says_the_same_of_both(seed: int) -> None:
    plain, many = snapshots(seed)
    own = b.OwnFiles(EMPTY)
    left = {path: digest for path, digest in find_by_products(*plain, EMPTY).items() if seed % 2}
    baseline = EMPTY._replace(by_products=left)
    for one, other in (plain, many), (many, plain):
        assert find_by_products(*one, baseline) == find_by_products(*other, baseline)
        assert moved_paths(*one, baseline, own) == moved_paths(*other, baseline, own)
        assert rewritten(*one, baseline, own) == rewritten(*other, baseline, own)
    for one_look, other_look in zip(plain, many, strict=True):
        for as_recorded in (False, True):
            trees = [
                subject_tree(look, baseline, own, as_recorded=as_recorded)
                for look in (one_look, other_look)
            ]
            assert trees[0] == trees[1]
        reports = [
            b.boundary_report(look, baseline, allowed=("a*",), denied=("*.log",), own_files=own)
            for look in (one_look, other_look)
        ]
        assert reports[0] == reports[1]


@pytest.mark.parametrize("count", [0, 1, packed._ROWS, packed._ROWS + 1, 5 * packed._ROWS])
def test_times_are_found_by_path(count: int) -> None:
    random = Random(count)
    times = {
        b"%d/\xff" % random.randrange(10**6): random.randrange(-(2**62), 2**62)
        for _ in range(count)
    }
    many = PackedTimes(times.items())
    assert dict(many.items()) == times
    assert [name for name, _ in many.items()] == sorted(times)
    assert len(many) == len(times)
    assert all(many.get(name) == at and name in many for name, at in times.items())
    assert many.get(b"") is None
    assert b"nothing" not in many
