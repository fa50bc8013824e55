"""Patterns and decisions over change sets, without a repository."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flow.core.boundary import rules as b
from flow.core.boundary.by_products import find_by_products, moved_paths, subject_tree, tree_digest
from flow.core.boundary.changes import (
    Baseline,
    ContentState,
    PathChange,
    Snapshot,
    as_at_activation,
    dirty_digest,
)
from flow.core.boundary.globs import Globs, compile_glob, why_not
from tests.support.pace import exceeds

A = ContentState("100644", "a" * 40)
B = ContentState("100644", "b" * 40)
C = ContentState("100644", "c" * 40)
EMPTY = Baseline("f" * 40, {}, {}, {}, {}, {})


def snap(*changes: PathChange, problems: tuple[str, ...] = ()) -> Snapshot:
    return Snapshot("e" * 40, "work", changes, {}, problems)


def untracked(path: str, entry: ContentState = A) -> PathChange:
    return PathChange(path, None, None, None, entry)


def edited(path: str) -> PathChange:
    return PathChange(path, A, A, A, B)


def judge(
    *changes: PathChange,
    allowed: tuple[str, ...] = (),
    denied: tuple[str, ...] = (),
    baseline: Baseline = EMPTY,
) -> b.BoundaryReport:
    return b.boundary_report(
        snap(*changes),
        baseline,
        allowed=allowed,
        denied=denied,
        own_files=b.OwnFiles(baseline),
    )


# --- patterns -------------------------------------------------------------------------------------

ANCHORED = [
    ("src/**", "src/a/b.py", True),
    ("src/**", "evil/src/b.py", False),
    ("src/**", "src", False),
    ("src/**", "srcx/a", False),
    ("src", "src/a/b.py", True),
    ("src", "src", True),
    ("src", "a/src", False),
    ("src/", "src/a/b.py", True),
    ("src/", "src", False),
    ("src/*", "src/a.py", True),
    ("src/*", "src/a/b.py", True),  # it matches the folder src/a, and so what is in it
    ("src/*.py", "src/a.py", True),
    ("src/*.py", "src/a/b.py", False),
    ("*.py", "a.py", True),
    ("*.py", "src/a.py", False),
    ("**/*.py", "src/a/b.py", True),
    ("**/*.py", "a.py", True),
    ("**", "anything/at/all", True),
    ("src/**/test.py", "src/test.py", True),
    ("src/**/test.py", "src/a/b/test.py", True),
    ("src/**/test.py", "src/a/b/tests.py", False),
    ("src/**x", "src/a/x", False),
    ("src/**x", "src/aax", True),
    ("README.md", "README.md", True),
    ("README.md", "readme.md", False),
    ("Src/**", "src/a", False),
    ("a?c", "abc", True),
    ("a?c", "a/c", False),
    ("[a-c].py", "b.py", True),
    ("[!a-c].py", "b.py", False),
    ("[^a-c].py", "x.py", True),
    ("[]a].py", "].py", True),
    ("a[/]b", "a/b", False),
    ("[[:digit:]].py", "7.py", True),
    (r"\*.py", "*.py", True),
    (r"\*.py", "a.py", False),
    (r"\!x", "!x", True),
    ("#x", "#x", True),
    ("a b ", "a b", True),
    ("a b ", "a b ", False),
    ("a b\\ ", "a b ", True),
    ("src/**/", "src/a.py", False),
    ("src/**/", "src/a/b.py", True),
    ("./src//a", "src/a/x", True),
    ("new\nline", "new\nline", True),
    ("caf\udce9", "caf\udce9", True),
    ("a*b*c*d", "aXbXcXd", True),
    ("a*b*c*d", "aXbXcX", False),
    ("*a*", "bab", True),
]


@pytest.mark.parametrize(("pattern", "path", "expected"), ANCHORED)
def test_allowed_patterns_start_at_the_top(pattern: str, path: str, expected: bool) -> None:
    found = Globs([pattern], anchored=True).first(os.fsencode(path))
    assert found == (pattern if expected else None)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("secrets/**", "secrets/x", True),
        ("secrets/**", "a/b/secrets/x", True),
        ("secrets/**", "a/mysecrets/x", False),
        ("*.pem", "a/b/k.pem", True),
        ("*.pem", "k.pem", True),
        (".env", "a/.env", True),
        (".env", "a/.envrc", False),
        ("a/b", "x/a/b/c", True),
        ("a/b/", "x/a/b", False),
        ("a/*/c", "x/a/y/c", True),
        ("**/x/*.key", "q/x/1.key", True),
    ],
)
def test_denied_patterns_match_at_any_depth(pattern: str, path: str, expected: bool) -> None:
    assert (Globs([pattern], anchored=False).first(path.encode()) is not None) is expected


@pytest.mark.parametrize("pattern", ["vendor/lib", "vendor/lib/", "vendor/lib/**", "vendor/**"])
def test_a_folder_is_covered_by_patterns_for_its_content(pattern: str) -> None:
    globs = Globs([pattern], anchored=True)
    assert globs.first(b"vendor/lib", folder=True)
    assert not Globs(["vendor/lib/x"], anchored=True).first(b"vendor/lib", folder=True)


@pytest.mark.parametrize(
    ("pattern", "folder", "expected"),
    [
        ("secrets/**", "secrets", True),
        ("secrets/**", "a/secrets", True),
        ("secrets/**", "secrets/deep/er", True),
        ("secrets/**", "build", False),
        ("build/keys/*.pem", "build", True),
        ("build/keys/*.pem", "build/keys", True),
        ("build/keys/*.pem", "build/other", False),
        ("*.pem", "build", False),
        ("**/*.pem", "build", False),
        ("**/keys/*.pem", "a/keys", True),
    ],
)
def test_where_a_literal_part_enters(pattern: str, folder: str, expected: bool) -> None:
    assert Globs([pattern], anchored=False).enters(folder.encode()) is expected


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("!src", "starts with '!'"),
        ("../x", "'..'"),
        ("a/../b", "'..'"),
        ("/etc", "absolute"),
        ("", "empty"),
        ("   ", "empty"),
        (".", "names nothing"),
        ("./", "names nothing"),
        ("a[b", "without its ']'"),
        ("a\\", "lone backslash"),
        ("[[:nope:]]", "unknown class"),
        ("a\0b", "NUL"),
        ("src/.. ", "'..'"),
        ("src/\\.\\./x", "'..'"),
        ("src\\/", "lone backslash"),
        ("secret\t", "white space"),
        ("secret\n", "white space"),
        (7, "not a string"),
    ],
)
def test_refused_patterns(pattern: object, why: str) -> None:
    (fault,) = b.check_patterns([pattern], "constraints.allowed_paths", file="g.yaml")
    assert why in fault.message
    assert fault.key == "constraints.allowed_paths[0]"
    assert fault.file == "g.yaml"
    assert fault.remedy


def test_good_patterns_have_no_faults() -> None:
    patterns = [pattern for pattern, _, _ in ANCHORED]
    assert b.check_patterns(patterns, "k") == []


def test_patterns_cannot_make_matching_slow() -> None:
    started = time.process_time()
    name = b"a" * 250
    assert not Globs(["*a" * 60 + "b"], anchored=True).first(name)
    assert not Globs(["**/a/" * 30 + "b"], anchored=True).first(b"a/" * 200 + b"a")
    assert not exceeds(time.process_time() - started, 20)


NAMES = st.text(alphabet="ab.[]*\\!-^x ", min_size=1, max_size=5).filter(
    lambda n: n not in (".", "..")
)
PIECES = st.sampled_from(
    ["a", "b", "ab", "*", "**", "?", "a*", "*b", "[ab]", "[!a]", "[^b]", "[a-b]", "[]a]", "\\*",
     "x*y*", "a.b", "*.b", "***", "a**", "[[:alpha:]]", "\\[a", "-", "a-b", "[b-]", "[*]", "a b",
     "a\\ ", "\\a", "a ", "\\\\", "[\\]b]", "*\\ "]
)  # fmt: skip
PATTERNS = st.builds(
    lambda pieces, end: "/".join(pieces) + end,
    st.lists(PIECES, min_size=1, max_size=4),
    st.sampled_from(["", "", "/", "/**", "/**/", "/**/*", " ", "  ", "\\ ", "\\  ", "/ ", "\\\\ "]),
)


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("oracle")
    env = {**os.environ, "HOME": str(place)}  # a module's fixture comes before a test's own home
    subprocess.run(["git", "init", "-q", "--template=", str(place)], check=True, env=env)
    (place / ".git/info").mkdir(exist_ok=True)
    return place


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(
    pattern=PATTERNS,
    paths=st.lists(st.lists(NAMES, min_size=1, max_size=4), min_size=1, max_size=40),
)
def test_patterns_mean_what_git_means(oracle: Path, pattern: str, paths: list[list[str]]) -> None:
    if why_not(pattern) is not None or "a**/" in pattern:
        return  # git compares "a" first and then takes the "**" for one that stands alone
    names = sorted({"/".join(parts) for parts in paths})
    for anchored in (True, False):
        # denied patterns match at any depth
        line = f"/{pattern}" if anchored else f"**/{pattern}"
        globs = Globs([pattern], anchored=anchored)
        assert {n for n in names if globs.first(n.encode())} == _ignored(oracle, line, names)


def _ignored(oracle: Path, line: str, names: list[str]) -> set[str]:
    (oracle / ".git/info/exclude").write_text(f"{line}\n")
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=oracle,
        input=b"\0".join(b"./" + name.encode() for name in names) + b"\0",
        capture_output=True,
    )
    assert done.returncode in (0, 1), done.stderr
    return {name[2:].decode() for name in done.stdout.split(b"\0") if name}


# --- judging --------------------------------------------------------------------------------------


def test_denied_beats_allowed() -> None:
    report = judge(edited("src/secrets/x"), allowed=("src/**",), denied=("secrets/**",))
    assert report.status == "outside"
    (violation,) = report.violations
    assert (violation.path, violation.why) == (
        "src/secrets/x",
        "changed on disk; denied by 'secrets/**'",
    )
    assert (violation.mend, violation.change, violation.openable) == ("restore", "changed", False)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (untracked("x"), "untracked"),
        (edited("x"), "changed on disk"),
        (PathChange("x", A, B, B, B), "committed, staged, changed on disk"),
        (PathChange("x", A, A, B, A), "staged"),
        (PathChange("x", A, B, A, A), "committed"),
        (PathChange("x", A, A, A, None), "deleted"),
        (PathChange("x", A, None, None, None), "committed, staged, deleted"),
        (PathChange("x", None, None, None, ContentState("fifo", "")), "untracked, a fifo"),
    ],
)
def test_violations_say_where(change: PathChange, where: str) -> None:
    (violation,) = judge(change, allowed=("src/**",)).violations
    assert violation.why.startswith(where)
    assert violation.why.endswith("; not in allowed_paths")


def test_problems_make_it_inconclusive_whatever_else() -> None:
    report = b.boundary_report(
        snap(edited("x"), problems=("a merge is under way",)),
        EMPTY,
        allowed=("src/**",),
        denied=(),
        own_files=lambda _: False,
    )
    assert report.status == "inconclusive"
    assert report.violations == ()
    assert report.problems == ("a merge is under way",)


@pytest.mark.parametrize(
    ("real", "mode", "why"),
    [
        ("", "120000", "a symlink leads out of the repository"),
        ("secrets/x", "120000", "denied by"),
        ("docs/x", "120000", None),
        ("docs/x", None, "it leads to docs/x, which is not in allowed_paths"),
        ("src/x", None, None),
    ],
)
def test_links_are_judged_where_they_lead(real: str, mode: str | None, why: str | None) -> None:
    worktree = ContentState(mode, "d" * 40) if mode else None
    change = PathChange("src/l", A, A, A, worktree, real)
    violations = judge(change, allowed=("src/**",), denied=("secrets/**",)).violations
    assert [why in v.why for v in violations] == ([True] if why else []), violations


DIRTY = EMPTY._replace(
    dirty={
        "edited": "100644:" + B.digest,
        "new": "100644:" + A.digest,
        "gone": "absent",
        "staged": f"100644:{B.digest} 100644:{C.digest}",
    }
)


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (PathChange("edited", A, A, A, B), False),
        (PathChange("edited", A, A, A, C), True),
        (PathChange("edited", A, A, A, None), True),
        (PathChange("edited", A, A, B, B), False),
        (PathChange("edited", A, B, B, B), False),
        (PathChange("new", None, None, None, A), False),
        (PathChange("new", None, None, None, B), True),
        (PathChange("new", None, None, A, A), False),
        (PathChange("gone", A, A, A, None), False),
        (PathChange("gone", A, A, None, None), False),
        (PathChange("staged", A, A, C, B), False),
        (PathChange("staged", A, A, A, B), False),
        (PathChange("staged", A, A, C, A), False),
        (PathChange("staged", A, A, B, B), False),
        (PathChange("staged", A, C, C, B), False),
        (PathChange("staged", A, B, B, B), False),
        (PathChange("edited", A, B, A, A), False),
        (PathChange("edited", A, B, B, C), True),
        (PathChange("edited", A, B, C, B), True),
        (PathChange("edited", A, C, B, B), True),
        (PathChange("edited", A, C, C, C), True),
        (PathChange("edited", A, B, B, None), True),
        (PathChange("new", None, A, A, A), False),
        (PathChange("new", None, A, A, B), True),
        (PathChange("new", None, A, A, None), False),
        (PathChange("new", None, B, B, A), True),
        (PathChange("gone", A, None, None, None), False),
        (PathChange("gone", A, None, None, B), True),
        (PathChange("gone", A, None, B, None), True),
        (PathChange("staged", A, C, C, C), True),
        (PathChange("other", A, B, B, B), True),
    ],
)
def test_what_was_dirty_at_activation(change: PathChange, counts: bool) -> None:
    report = judge(change, allowed=("src/**",), baseline=DIRTY)
    assert (report.status == "outside") is counts


def test_dirty_digest_round_trip() -> None:
    for change in (
        PathChange("p", A, A, A, B),
        PathChange("p", A, A, C, B),
        PathChange("p", A, A, A, None),
    ):
        baseline = EMPTY._replace(dirty={"p": dirty_digest(change)})
        assert as_at_activation(change, baseline)


def test_ignored_files_that_are_denied() -> None:
    baseline = EMPTY._replace(denied_ignored={"x.env": "100644:" + A.digest}, denied=("*.env",))
    denied = ("*.env",)
    assert judge(untracked("x.env", A), denied=denied, baseline=baseline).status == "inside"
    assert judge(untracked("x.env", B), denied=denied, baseline=baseline).status == "outside"
    gone = PathChange("x.env", None, None, None, None)
    assert judge(gone, denied=denied, baseline=baseline).status == "outside"


def test_a_denied_pattern_from_after_activation_is_said() -> None:
    report = judge(denied=("*.env", "*.pem"), baseline=EMPTY._replace(denied=("*.env",)))
    assert len(report.warnings) == 1
    assert "*.pem" in report.warnings[0]
    assert "*.env" not in report.warnings[0]


# --- by-products ----------------------------------------------------------------------------------


def test_by_products_are_found_and_warned_about() -> None:
    before = snap(untracked("mine"))
    after = snap(
        untracked("mine"),
        untracked("out.xml"),
        untracked("p/__pycache__/a.pyc"),
        PathChange("staged", None, None, A, A),
        edited("tracked"),
    )
    found = find_by_products(before, after, EMPTY)
    assert found == {"out.xml": f"100644:{A.digest}", "p/__pycache__/a.pyc": f"100644:{A.digest}"}
    baseline = EMPTY._replace(by_products=found)
    report = judge(untracked("out.xml"), baseline=baseline, allowed=("src/**",))
    assert report.status == "inside"
    assert report.by_products == ("out.xml",)
    assert "out.xml" in report.warnings[0]


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (untracked("out.xml", A), False),
        (untracked("out.xml", B), True),  # somebody else changed it
        (PathChange("out.xml", None, None, A, A), True),  # staged
        (PathChange("out.xml", None, A, A, A), True),  # committed
        (untracked("p/__pycache__/a.pyc", B), False),  # caches change as they like
        (untracked("p/__pycache__/b.pyc", B), False),
        (PathChange("p/__pycache__/a.pyc", None, None, A, A), True),
        (untracked("q/__pycache__/b.pyc", B), True),  # not one that a command made
        (untracked("p/evil.py", A), True),
    ],
)
def test_what_by_products_may_do(change: PathChange, counts: bool) -> None:
    made = {"out.xml": f"100644:{A.digest}", "p/__pycache__/a.pyc": f"100644:{A.digest}"}
    baseline = EMPTY._replace(by_products=made)
    assert (judge(change, baseline=baseline, allowed=("src/**",)).status == "outside") is counts


def test_a_file_from_before_is_no_by_product() -> None:
    found = find_by_products(snap(untracked("mine", A)), snap(untracked("mine", B)), EMPTY)
    assert found == {}


def test_a_by_product_that_changes_stays_one() -> None:
    baseline = EMPTY._replace(by_products={"out.xml": f"100644:{A.digest}"})
    before, after = snap(untracked("out.xml", A)), snap(untracked("out.xml", B))
    assert find_by_products(before, after, baseline) == {"out.xml": f"100644:{B.digest}"}
    own = b.OwnFiles(EMPTY)
    assert subject_tree(before, baseline, own) == subject_tree(after, baseline, own)
    assert moved_paths(before, after, baseline, own) == ()


# --- digests --------------------------------------------------------------------------------------


def test_the_tree_changes_with_every_entry_and_only_then() -> None:
    variants = [
        (PathChange("p", A, A, A, B),),
        (PathChange("p", A, A, B, B),),
        (PathChange("p", A, B, B, B),),
        (PathChange("p", A, A, A, C),),
        (PathChange("p", A, A, A, None),),
        (PathChange("q", A, A, A, B),),
        (PathChange("p", A, A, A, ContentState("100755", B.digest)),),
        (),
    ]
    assert len({tree_digest("base", changes) for changes in variants}) == len(variants)
    assert tree_digest("base", ()) != tree_digest("other", ())
    two = (edited("a"), edited("b"))
    assert tree_digest("base", two) == tree_digest("base", two[::-1])


def test_flows_own_files_are_no_part_of_the_tree() -> None:
    own = b.OwnFiles(EMPTY, ".decisions/notes.md")
    journal = PathChange(".decisions/issue-4.md", None, B, B, B)
    assert tree_digest("f", (journal,), own_files=own) == tree_digest("f", ())


@pytest.mark.parametrize(
    ("path", "own"),
    [
        (".decisions/issue-4.md", True),
        (".decisions/session-2026-01-31.md", True),
        (".decisions/notes.md", True),
        (".decisions/other.md", False),
        (".decisions/issue-x.md", False),
        (".decisions/issue-4.md/x", False),
        (".decisions/sub/issue-4.md", False),
        (".decisions/session-2026-1-31.md", False),
        ("issue-4.md", False),
        (".specs/reports/users-api-2026-01-31.1.md", True),
        (".specs/reports/a-2026-01-31.12.md", True),
        (".specs/reports/-2026-01-31.1.md", False),
        (".specs/reports/2026-01-31.1.md", False),
        (".specs/reports/users-api-2026-01-31.md", False),
        (".specs/reports/users-api-2026-01-31.x.md", False),
        (".specs/reports/users-api-2026-1-31.1.md", False),
        (".specs/reports/users-api-2026-01-31.1.txt", False),
        (".specs/reports/sub/users-api-2026-01-31.1.md", False),
        (".specs/users-api-2026-01-31.1.md", False),
        (".specs/reports/notes.md", False),
        ("x/.specs/reports/users-api-2026-01-31.1.md", False),
        (".specs/reports/.flow-tmp-0123456789abcdef01", True),
        (".specs/reports/.flow-tmp-0123456789abcdef0", False),
    ],
)
def test_own_files(path: str, own: bool) -> None:
    assert b.OwnFiles(EMPTY, ".decisions/notes.md")(path) is own
    assert b.OwnFiles(EMPTY, "src/notes.md")("src/notes.md") is False


def test_moved_names_what_moved() -> None:
    own = b.OwnFiles(EMPTY)
    before = snap(edited("a"), untracked("b"), untracked(".decisions/issue-1.md"))
    after = snap(PathChange("a", A, A, A, C), untracked("c"), untracked(".decisions/issue-1.md", B))
    assert moved_paths(before, after, EMPTY, own) == ("a", "b", "c")


def test_compiled_patterns_keep_their_text() -> None:
    assert compile_glob("src/**", anchored=True).text == "src/**"


JOURNAL = ".decisions/issue-7.md"
CARD = "skills/judge/scores/login-20261121-101112.json"
REPORT = ".specs/reports/users-api-2026-11-21.1.md"
PROGRAM, LINKED = ContentState("100755", A.digest), ContentState("120000", A.digest)


@pytest.mark.parametrize("path", [JOURNAL, ".decisions/session-2026-11-21.md", CARD, REPORT])
@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (PathChange("", None, None, None, A), False),
        (PathChange("", A, A, A, B), False),
        (PathChange("", A, B, B, C), False),
        (PathChange("", None, A, A, None), False),  # one of this goal that was put aside
        (PathChange("", A, A, A, None), True),
        (PathChange("", A, None, None, None), True),
        (PathChange("", None, None, None, PROGRAM), True),
        (PathChange("", A, A, A, PROGRAM), True),
        (PathChange("", A, PROGRAM, A, A), True),
        (PathChange("", A, A, PROGRAM, A), True),
        (PathChange("", None, None, None, LINKED), True),
        (PathChange("", None, None, None, LINKED, ""), True),
        (PathChange("", LINKED, LINKED, LINKED, A), True),
        (PathChange("", None, None, None, ContentState("fifo", "")), True),
        (PathChange("", None, None, None, ContentState("040000", "")), True),
        (PathChange("", None, None, None, A, "elsewhere/x"), True),
    ],
)
def test_flow_s_own_are_plain_files_that_stay(path: str, change: PathChange, counts: bool) -> None:
    change = change._replace(path=path)
    own = b.OwnFiles(EMPTY)
    report = b.boundary_report(snap(change), EMPTY, allowed=("src/**",), denied=(), own_files=own)
    assert (report.status == "outside") is counts
    tree = subject_tree(snap(change), EMPTY, own)
    assert (tree != subject_tree(snap(), EMPTY, own)) is counts
    assert (moved_paths(snap(), snap(change), EMPTY, own) == (path,)) is counts


@pytest.mark.parametrize("denied", ["*.md", ".decisions/**", "**/issue-7.md", ".decisions/ "])
@pytest.mark.parametrize("since", ["activation", "now"])
def test_a_denied_journal_is_a_change(denied: str, since: str) -> None:
    change = untracked(JOURNAL)
    baseline = EMPTY._replace(denied=(denied,)) if since == "activation" else EMPTY
    own = b.OwnFiles(baseline, JOURNAL, denied=(denied,) if since == "now" else ())
    report = b.boundary_report(snap(change), baseline, allowed=(), denied=(denied,), own_files=own)
    assert report.status == "outside"
    assert subject_tree(snap(change), baseline, own) != subject_tree(snap(), baseline, own)
