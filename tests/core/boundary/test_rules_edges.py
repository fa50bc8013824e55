"""Cells of the boundary beside ``test_boundary.py``: every rule with its neighbours."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from flow.core.boundary import by_products as made
from flow.core.boundary import rules as b
from flow.core.boundary.by_products import (
    find_by_products,
    is_by_product,
    moved_paths,
    subject_tree,
    tree_digest,
)
from flow.core.boundary.changes import (
    Baseline,
    ContentState,
    PathChange,
    Snapshot,
    as_at_activation,
    dirty_digest,
    entry_digest,
)
from flow.core.evidence.protected_files import difference
from flow.core.layout import TEMP_PREFIX

A = ContentState("100644", "a" * 40)
B = ContentState("100644", "b" * 40)
MODULE = ContentState("160000", "d" * 40)
NESTED = ContentState("040000", "")
EMPTY = Baseline("f" * 40, {}, {}, {}, {}, {})


def snap(*changes: PathChange, guards: dict[str, str] | None = None) -> Snapshot:
    return Snapshot("e" * 40, "work", changes, guards or {}, ())


def untracked(path: str, entry: ContentState = A) -> PathChange:
    return PathChange(path, None, None, None, entry)


def edited(path: str) -> PathChange:
    return PathChange(path, A, A, A, B)


def judge(*changes: PathChange, **more: Any) -> b.BoundaryReport:
    baseline = more.pop("baseline", EMPTY)
    values: dict[str, Any] = {
        "allowed": ("src/**",),
        "denied": (),
        "own_files": b.OwnFiles(EMPTY),
        **more,
    }
    return b.boundary_report(snap(*changes), baseline, **values)


def outside(*changes: PathChange, **more: Any) -> list[str]:
    return [violation.path for violation in judge(*changes, **more).violations]


# --- Flow's own files -----------------------------------------------------------------------------

HEX = "0123456789abcdef01"


@pytest.mark.parametrize(
    ("name", "own"),
    [
        (TEMP_PREFIX + HEX, True),
        (TEMP_PREFIX + HEX[:-1], False),
        (TEMP_PREFIX + HEX + "0", False),
        (TEMP_PREFIX + HEX[:-1] + "A", False),
        (TEMP_PREFIX + HEX[:-1] + "g", False),
        (TEMP_PREFIX + HEX[:-1] + "X", False),
        (TEMP_PREFIX, False),
        ("x" + TEMP_PREFIX, False),
        ("issue-1.md" + TEMP_PREFIX, False),
        ("sub/" + TEMP_PREFIX + HEX, False),
        ("issue-12.md", True),
        ("issue-1.txt", False),
        ("issue-.md", False),
        ("issue-\uff11.md", False),
        ("issue-\u00b2.md", False),
        ("issue-1-2.md", False),
        ("session-2026-11-21.md", True),
        ("session-2026-11-21.2.md", True),
        ("issue-7.2.md", True),
        ("issue-7.1.md", False),
        ("issue-7.02.md", False),
        ("issue-7.x.md", False),
        ("goal-greet.md", True),
        ("goal-greet.12.md", True),
        ("goal-7.md", True),
        ("goal-a-b.md", True),
        ("goal-.md", False),
        ("goal--a.md", False),
        ("goal-Greet.md", False),
        ("goal-gr\u00fcn.md", False),
        ("goal-a b.md", False),
        ("goal-a.b.md", False),
        ("session-2026-11-\uff12\uff11.md", False),
        ("session-abcd-ef-gh.md", False),
        ("session-2026-ef-21.md", False),
        ("session-202-11-21.md", False),
        ("session-2026-11-21-1.md", False),
        ("session-.md", False),
        ("other-1.md", False),
    ],
)
@pytest.mark.parametrize("folder", [".decisions", "Xlog/deep", "/log/"])
def test_the_names_flow_writes_in_its_journal_folder(folder: str, name: str, own: bool) -> None:
    assert b.OwnFiles(EMPTY._replace(journal_dir=folder))(f"{folder.strip('/')}/{name}") is own


@pytest.mark.parametrize(
    ("journal", "path", "own"),
    [
        (".decisions/plan.md", ".decisions/plan.md", True),
        (".decisions/plan.txt", ".decisions/plan.txt", False),
        (".decisions/sub/plan.md", ".decisions/sub/plan.md", True),
        ("./.decisions/plan.md", ".decisions/plan.md", True),
        (".decisions/sub/plan.md", ".decisions/sub/other.md", False),
        ("docs/plan.md", "docs/plan.md", False),
        (None, ".decisions/plan.md", False),
    ],
)
def test_a_journal_of_ones_own_counts_in_the_folder(
    journal: str | None, path: str, own: bool
) -> None:
    assert b.OwnFiles(EMPTY, journal)(path) is own


# --- judging --------------------------------------------------------------------------------------


def test_what_does_not_count_hides_nothing_behind_it() -> None:
    baseline = EMPTY._replace(
        by_products={"out.log": entry_digest(A)}, dirty={"dirty": entry_digest(B)}
    )
    changes = (
        untracked(".decisions/issue-1.md"),
        untracked("out.log"),
        edited("dirty"),
        edited("src/fine"),
        edited("evil"),
    )
    report = judge(*changes, baseline=baseline)
    assert [v.path for v in report.violations] == ["evil"]
    assert report.by_products == ("out.log",)


def test_without_allowed_paths_everything_may_change() -> None:
    assert outside(edited("a"), untracked("b/c"), allowed=()) == []
    assert outside(edited("a"), edited("b"), allowed=(), denied=("b",)) == ["b"]


def test_allowed_paths_start_at_the_top_and_denied_ones_anywhere() -> None:
    assert outside(edited("evil/src/a")) == ["evil/src/a"]
    assert outside(edited("src/deep/key.pem"), denied=("*.pem",)) == ["src/deep/key.pem"]


@pytest.mark.parametrize(
    ("change", "folder"),
    [
        (PathChange("src/m", None, None, None, NESTED), True),
        (PathChange("src/m", MODULE, MODULE, MODULE, None), True),
        (PathChange("src/m", None, None, MODULE, None), True),
        (PathChange("src/m", None, MODULE, None, None), True),
        (PathChange("src/m", None, None, None, MODULE), True),
        (PathChange("src/m", A, A, A, B), False),
        (PathChange("src/m", None, None, None, ContentState("120000", "x")), False),
    ],
)
def test_a_submodule_is_a_folder(change: PathChange, folder: bool) -> None:
    assert change.folder is folder
    assert (outside(change, allowed=("src/m/",)) == []) is folder
    assert (outside(change, denied=("m/",)) == ["src/m"]) is folder
    locked = difference(snap(change), EMPTY, ["m/"], b.OwnFiles(EMPTY))
    assert (locked is not None) is folder


@pytest.mark.parametrize("problems", [(), ("a merge is under way",)])
def test_problems_hide_what_they_make_uncertain(problems: tuple[str, ...]) -> None:
    found = snap(edited("evil"), guards={"hooks/x": "1"})._replace(problems=problems)
    report = b.boundary_report(
        found, EMPTY, allowed=("src/**",), denied=(), own_files=lambda _: False
    )
    sure = not problems
    assert report.status == ("outside" if sure else "inconclusive")
    assert bool(report.violations) is sure
    assert report.guards_changed == (("hooks/x",) if sure else ())
    locked = difference(found, EMPTY, ["evil"], lambda _: False)
    assert (locked.paths if locked else ()) == (("evil",) if sure else ())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (PathChange("docs/l", A, A, A, B, "src/x"), "not in allowed_paths"),
        (PathChange("src/l/x", A, A, A, B, "docs/x"), "which is not in allowed_paths"),
        (PathChange("src/l/x", A, A, A, None, "docs/x"), "which is not in allowed_paths"),
        (PathChange("src/l", A, A, A, ContentState("120000", "x"), "docs/x"), None),
        (
            PathChange("src/l", A, A, A, ContentState("120000", "x"), "secrets"),
            "denied by 'secrets/'",
        ),
        (PathChange("src/l/x", A, A, A, B, ""), "a symlink leads out of the repository"),
        (PathChange("src/l/x", A, A, A, B, "src/y"), None),
    ],
)
def test_what_is_reached_through_a_link(change: PathChange, why: str | None) -> None:
    violations = judge(change, denied=("secrets/",)).violations
    assert len(violations) == (why is not None)
    assert all(violation.why.endswith(why or "") for violation in violations)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (PathChange("x", A, None, None, B), "committed, staged, changed on disk"),
        (PathChange("x", A, None, None, A), "committed, staged, put back on disk"),
        (PathChange("x", None, None, A, B), "staged, changed on disk"),
        (PathChange("x", None, A, A, B), "committed, staged, changed on disk"),
        (PathChange("x", A, A, B, A), "staged, put back on disk"),
        (PathChange("x", A, A, A, B), "changed on disk"),
        (PathChange("x", None, None, None, A), "untracked"),
        (PathChange("x", A, A, A, ContentState("socket", "")), "changed on disk, a socket"),
        (PathChange("x", A, A, A, ContentState("device", "")), "changed on disk, a device"),
    ],
)
def test_where_a_change_is_seen(change: PathChange, where: str) -> None:
    assert [v.why for v in judge(change).violations] == [f"{where}; not in allowed_paths"]


@pytest.mark.parametrize("count", [0, 1, 5, 6, 9])
def test_at_most_five_by_products_are_named(count: int) -> None:
    names = [f"{n}.log" for n in range(count)]
    baseline = EMPTY._replace(by_products={name: entry_digest(A) for name in names})
    warnings = judge(*map(untracked, names), baseline=baseline).warnings
    more = f" and {count - 5} more" if count > 5 else ""
    said = f"left by Flow's own commands and not counted: {', '.join(names[:5])}{more}"
    assert warnings == ((said,) if count else ())


def test_without_a_base_nothing_was_recorded_to_be_late_for() -> None:
    denied = ("*.env",)
    assert judge(denied=denied, baseline=EMPTY._replace(base_commit=None)).warnings == ()
    assert len(judge(denied=denied).warnings) == 1
    two = judge(denied=("*.env", "*.pem", "*.key"), baseline=EMPTY._replace(denied=("*.key",)))
    assert two.warnings[0].endswith(": *.env, *.pem")


def test_names_that_are_no_utf_8() -> None:
    assert outside(edited("src/caf\udce9"), edited("caf\udce9")) == ["caf\udce9"]
    assert judge(edited("caf\udce9"), allowed=("caf\udce9",)).status == "inside"


@pytest.mark.parametrize("file", [None, "a file"])
def test_refused_patterns_are_told_with_their_place(file: str | None) -> None:
    faults = b.check_patterns(["src/**", "!x", 4], "constraints.denied_paths", file=file)
    assert [(f.file, f.key, f.value) for f in faults] == [
        (file, "constraints.denied_paths[1]", "!x"),
        (file, "constraints.denied_paths[2]", 4),
    ]
    assert [(f.file, f.key) for f in b.check_patterns([""], "k")] == [(None, "k[0]")]


# --- at activation --------------------------------------------------------------------------------

IGNORED = EMPTY._replace(denied_ignored={"x.env": entry_digest(A)}, denied=("*.env",))


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (untracked("x.env", A), True),
        (untracked("x.env", B), False),
        (untracked("y.env", A), False),
        (PathChange("x.env", None, None, A, A), False),
        (PathChange("x.env", None, A, A, A), False),
        (PathChange("x.env", None, A, None, A), False),
    ],
)
def test_a_denied_file_as_it_was(change: PathChange, same: bool) -> None:
    assert as_at_activation(change, IGNORED) is same


@pytest.mark.parametrize(
    ("head", "index", "expected"),
    [(None, None, True), (A, None, False), (None, A, False), (A, A, False)],
)
def test_what_is_untracked(head: Any, index: Any, expected: bool) -> None:
    assert PathChange("x", None, head, index, A).untracked is expected


# --- by-products ----------------------------------------------------------------------------------


CACHES = (
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".import_linter_cache",
    ".tox",
    ".nox",
    ".nyc_output",
    ".gradle",
    "htmlcov",
)


def test_the_folders_that_tools_fill_as_they_like() -> None:
    assert set(CACHES) == made.CACHE_FOLDERS


@pytest.mark.parametrize("folder", CACHES)
def test_a_cache_folder_is_one_wherever_it_is(folder: str) -> None:
    assert made.cache_root(f"{folder}/a") == folder
    assert made.cache_root(f"x/y/{folder}/a/b") == f"x/y/{folder}"
    assert made.cache_root(f"{folder}/{folder}/a") == folder
    assert made.cache_root(folder) is None  # a file of that name is no folder
    assert made.cache_root(f"{folder}x/a") is None


@pytest.mark.parametrize(
    ("path", "cache"),
    [
        ("__pycache__/a.pyc", True),
        ("a.pyc", False),  # without its source it is imported like one
        ("x/a.pyo", False),
        ("htmlcov/conftest.py", False),
        ("x/tsconfig.tsbuildinfo", True),
        (".pycx", False),
        (".coverage", True),
        ("x/.coverage", True),
        (".coverage.host.12", True),
        ("my.coverage.", False),
        (".coveragerc", False),
        ("coverage.xml", True),
        ("coverage.json", True),
        ("x/lcov.info", True),
        (".eslintcache", True),
        ("src/a.py", False),
        ("coverage.xml/a", False),
    ],
)
def test_the_names_of_cache_files(path: str, cache: bool) -> None:
    assert made.cache_root(path) == (path.removesuffix("/a.pyc") if cache else None)


def test_the_caches_among_by_products() -> None:
    found = made.cache_roots(
        ["a/__pycache__/b.pyc", "a/__pycache__/c.pyc", "out.log", "d/.coverage"]
    )
    assert found == {"a/__pycache__", "d/.coverage"}


RECORDED = {"out.log": entry_digest(A), "a/__pycache__/b.pyc": entry_digest(A)}


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (untracked("out.log", A), True),
        (untracked("out.log", B), False),
        (untracked("a/__pycache__/c.pyc", B), True),
        (untracked("b/__pycache__/c.pyc", B), False),
        (PathChange("out.log", A, None, None, A), False),
        (PathChange("out.log", None, None, A, A), False),
        (PathChange("a/__pycache__/c.pyc", A, None, None, B), False),
        (PathChange("a/__pycache__/b.pyc", None, None, None, None), False),
        (untracked("other", A), False),
    ],
)
def test_what_is_a_by_product(change: PathChange, expected: bool, known: bool) -> None:
    roots = made.cache_roots(RECORDED) if known else None
    assert is_by_product(change, RECORDED, roots) is expected


def test_roots_that_are_given_are_believed() -> None:
    assert is_by_product(untracked("z/__pycache__/a", B), {}, {"z/__pycache__"}) is True
    assert is_by_product(untracked("a/__pycache__/b.pyc", B), RECORDED, ()) is False


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ([], [untracked("new.log")], ["new.log"]),
        ([], [untracked("new")], []),
        ([], [untracked("conftest.py"), untracked("build/a.js")], ["build/a.js"]),
        ([untracked("new")], [untracked("new")], []),
        ([untracked("mine")], [untracked("mine", B)], []),
        ([untracked("out.log")], [untracked("out.log", B)], ["out.log"]),
        ([untracked("out.log")], [untracked("out.log")], []),
        ([untracked("out.log", B)], [untracked("out.log", A)], ["out.log"]),
        ([untracked("out.log", B)], [untracked("out.log", B)], []),
        ([untracked("a/__pycache__/c")], [untracked("a/__pycache__/c", B)], ["a/__pycache__/c"]),
        ([], [PathChange("gone", None, None, None, None)], []),
        ([], [PathChange("was", A, None, None, B)], []),
        ([], [PathChange("staged", None, None, A, A)], []),
        ([], [untracked("x.env")], []),
        ([], [edited("src/a"), untracked("new.log")], ["new.log"]),
    ],
)
def test_what_commands_left_behind(before: Any, after: Any, found: list[str]) -> None:
    baseline = EMPTY._replace(by_products=RECORDED, denied_ignored={"x.env": "100644:x"})
    left = find_by_products(snap(*before), snap(*after), baseline)
    digests = {change.path: entry_digest(change.worktree) for change in after}
    assert left == {path: digests[path] for path in found}


LEFT = [
    (untracked("out.log", B), False),
    (untracked("a/__pycache__/z", B), False),
    (PathChange("out.log", None, None, None, None), False),
    (untracked("other"), True),
    (PathChange("out.log", A, None, None, B), True),
    (PathChange("out.log", None, None, A, A), True),
    (PathChange("a/__pycache__/z", None, A, A, B), True),
    (PathChange("a/__pycache__/z", A, None, None, B), True),
]


@pytest.mark.parametrize(("change", "counts"), LEFT)
def test_what_belongs_to_the_subject(change: PathChange, counts: bool) -> None:
    baseline = EMPTY._replace(by_products=RECORDED)
    own = b.OwnFiles(EMPTY)
    empty = subject_tree(snap(), baseline, own)
    assert (subject_tree(snap(change), baseline, own) != empty) is counts
    assert moved_paths(snap(), snap(change), baseline, own) == ((change.path,) if counts else ())
    assert moved_paths(snap(change), snap(), baseline, own) == ((change.path,) if counts else ())


def test_what_stayed_did_not_move() -> None:
    own = b.OwnFiles(EMPTY)
    before = snap(edited("a"), untracked("b"))
    after = snap(edited("a"), untracked("b", B), untracked(".decisions/issue-1.md"))
    assert moved_paths(before, after, EMPTY, own) == ("b",)


# --- digests --------------------------------------------------------------------------------------


def test_the_tree_digest_is_written_down() -> None:
    """Evidence of older versions is compared with it, so its form must not drift."""
    changes = (
        PathChange("b", A, A, B, None),
        untracked("a"),
        untracked("own"),
        untracked("caf\udce9"),
        PathChange("z", None, None, A, A),
    )
    found = tree_digest("base", changes, own_files=lambda change: change.path == "own")
    a, other = entry_digest(A), entry_digest(B)
    text = (
        b"flow-tree-1 base"
        + f"\0a\0absent absent {a}".encode()
        + f"\0b\0{a} {other} absent".encode()
        + b"\0caf\xe9"
        + f"\0absent absent {a}".encode()
        + f"\0z\0absent {a} {a}".encode()
    )
    assert found == hashlib.sha256(text).hexdigest()


def test_another_base_is_another_subject() -> None:
    own = b.OwnFiles(EMPTY)
    change = edited("a")
    assert subject_tree(snap(change), EMPTY, own) == tree_digest("f" * 40, [change])
    none = EMPTY._replace(base_commit=None)
    assert subject_tree(snap(change), none, own) == tree_digest(None, [change])
    assert subject_tree(snap(change), EMPTY, own) != subject_tree(snap(change), none, own)


def test_the_defaults_of_a_baseline() -> None:
    assert (EMPTY.journal_dir, EMPTY.denied) == (".decisions", ())
    assert PathChange("x", None, None, None, None).real is None
    assert dirty_digest(PathChange("x", A, A, A, None)) == "absent"
    assert dirty_digest(PathChange("x", A, A, B, None)) == f"absent {entry_digest(B)}"
