"""The verifier lock over real repositories: every way to change a file it names is told."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from flow.adapters.baseline import pinned
from flow.adapters.ledger.reader import baseline_document, baseline_from_document
from flow.core.evidence import protected_files
from tests.support.gitbox import GitBox

if TYPE_CHECKING:
    from pathlib import Path

    from flow.core.boundary.changes import Baseline

pytestmark = [pytest.mark.needs_tool("git"), pytest.mark.slow]


@pytest.fixture
def box(tmp_path: Path) -> GitBox:
    made = GitBox(tmp_path)
    made.allowed = ()
    made.protected = ("run.sh", "lib/**", "build/tool", "checks/*.log")
    made.write("build/tool", "v1\n")  # ignored
    made.write("checks/old.log", "old\n")  # ignored
    made.pin()
    return made


def _rename(box: GitBox) -> None:
    box.git("mv", "run.sh", "src/run.sh")


CHANGED = (
    *("edited", "staged", "committed", "committed-back", "head-only", "staged-back"),
    *("hidden", "mode"),
)


def test_every_way_to_change_a_protected_file_is_told(box: GitBox) -> None:
    lib = "src/lib"
    for name in (*CHANGED, "link", "removed"):
        box.write(f"{lib}/{name}", "as it was\n")
    box.commit()
    box.pin("HEAD")
    assert box.locked() == {}
    for name in CHANGED[:-2]:
        box.write(f"{lib}/{name}", "other\n")
    box.git("add", f"{lib}/committed", f"{lib}/committed-back", f"{lib}/head-only")
    box.commit_staged()
    box.git("add", f"{lib}/staged", f"{lib}/staged-back")
    for name in ("committed-back", "staged-back", "head-only"):
        box.write(f"{lib}/{name}", "as it was\n")
    box.git("add", f"{lib}/head-only")
    box.git("update-index", "--assume-unchanged", f"{lib}/hidden")
    box.write(f"{lib}/hidden", "other\n")
    box.git("config", "core.fileMode", "false")
    os.chmod(box.top / lib / "mode", 0o755)
    os.rename(box.top / lib / "link", box.top / "src/started")
    os.symlink("../started", box.top / lib / "link")
    box.remove(f"{lib}/removed")
    box.git("config", "core.excludesFile", str(box.outer / "ignore"))
    (box.outer / "ignore").write_text("excluded.py\n")
    for name in ("new.py", "excluded.py"):
        box.write(f"{lib}/deeper/{name}", "n = 1\n")
    told = {f"{lib}/{name}": "modified" for name in (*CHANGED, "link")}
    added = {f"{lib}/deeper/{name}": "added" for name in ("new.py", "excluded.py")}
    assert box.locked() == {**told, **added, f"{lib}/removed": "removed"}


def test_a_change_of_an_ignored_file_is_told_too(box: GitBox) -> None:
    told: dict[str, str] = {}
    for path, text, kind in (
        ("build/tool", "v2\n", "modified"),
        ("build/tool", None, "removed"),
        ("checks/old.log", "x\n", "modified"),
        ("checks/new.log", "x\n", "added"),
        ("checks/caf\udce9.log", "x\n", "added"),
    ):
        box.remove(path) if text is None else box.write(path, text)
        told[path] = kind
        assert box.locked() == told


def test_a_submodule_comes_goes_and_moves(box: GitBox) -> None:
    """An empty folder is no change of the repository's; a test in it runs no more all the same."""
    box.add_submodule()
    pinned_by: dict[str, Baseline] = {}
    for pattern in ("vendor/**", "vendor/sub/deep/**", "deep/x.py"):
        box.protected = (pattern,)
        pinned_by[pattern] = box.pin("HEAD")

    def locked(whole: str, files: dict[str, str]) -> None:
        """What each of them says, of the submodule as a whole and of files in it."""
        for pattern, box.baseline in pinned_by.items():
            box.protected = (pattern,)
            named = {"vendor/sub": whole} if whole and pattern.startswith("vendor/") else {}
            assert box.locked() == {**named, **files}, pattern

    box.git("submodule", "--quiet", "deinit", "-f", "--all")
    locked("removed", {})
    box.git("submodule", "--quiet", "update", "--init")
    locked("", {})
    box.write("vendor/sub/deep/x.py", "y\n")
    locked("", {"vendor/sub/deep/x.py": "modified"})
    box.commit(cwd=box.path("vendor/sub"))
    locked("modified", {"vendor/sub/deep/x.py": "modified"})


def test_a_submodule_that_was_not_checked_out_may_be(box: GitBox) -> None:
    box.add_submodule()
    box.git("submodule", "--quiet", "deinit", "-f", "--all")
    box.protected = ("vendor/**",)
    box.pin("HEAD")
    assert box.locked() == {}
    box.git("submodule", "--quiet", "update", "--init")
    assert box.locked() == {}
    box.write("vendor/sub/sub.py")
    assert box.locked() == {"vendor/sub/sub.py": "modified"}


def test_a_renamed_file_is_gone_from_where_it_was(box: GitBox) -> None:
    _rename(box)
    assert box.locked() == {"run.sh": "removed", "src/run.sh": "added"}


@pytest.mark.parametrize("path", ["run.sh", "build/tool"])
def test_what_is_put_back_is_no_difference(box: GitBox, path: str) -> None:
    file = box.top / path
    before = file.read_bytes()
    for text in (b"a\n", b"bb\n"):
        file.write_bytes(text)
        assert box.locked() == {path: "modified"}
    file.write_bytes(before)
    assert box.locked() == {}


def test_other_files_and_caches_are_none(box: GitBox) -> None:
    box.write("src/app.py", "other\n")
    box.write("src/lib/__pycache__/util.pyc", "x")
    box.write("build/other", "x")
    box.write("src/lib/noise.log", "a new ignored file below a protected folder\n")
    assert box.locked() == {"src/lib/noise.log": "added"}


@pytest.fixture
def dirty(tmp_path: Path) -> GitBox:
    """Protected files in every state at activation."""
    made = GitBox(tmp_path)
    made.protected = ("src/**",)
    made.allowed = ()
    made.write("src/committed.py", "committed\n")
    made.write("src/both.py", "committed\n")
    made.git("add", "--all")
    made.git("commit", "-qm", "before the goal")
    made.write("src/both.py", "and edited\n")
    made.write("src/staged.py", "staged\n")
    made.git("add", "src/staged.py")
    made.write("src/app.py", "edited\n")
    made.write("src/new.py", "untracked\n")
    os.unlink(made.top / "src/lib/util.py")
    made.pin()
    return made


def test_what_was_dirty_at_activation_counts_as_it_was_then(dirty: GitBox) -> None:
    assert dirty.baseline is not None
    assert set(dirty.baseline.protected) == {
        "src/committed.py",
        "src/both.py",
        "src/staged.py",
        "src/app.py",
        "src/new.py",
        "src/lib/util.py",
    }
    assert dirty.locked() == {}
    dirty.git("add", "--all")
    assert dirty.locked() == {}
    dirty.git("commit", "-qm", "as it was")
    assert dirty.locked() == {}


def test_putting_it_back_as_in_the_base_is_a_change(dirty: GitBox) -> None:
    told: dict[str, str] = {}
    for path, text, kind in (
        ("src/app.py", "print('app')\n", "modified"),  # as in the base, not as at activation
        ("src/lib/util.py", "x = 1\n", "added"),
        ("src/both.py", "committed\n", "modified"),
        ("src/new.py", None, "removed"),
        ("src/staged.py", None, "removed"),
        ("src/committed.py", None, "removed"),
    ):
        dirty.remove(path) if text is None else dirty.write(path, text)
        told[path] = kind
        assert dirty.locked() == told


def test_taking_the_commits_back_is_a_change(dirty: GitBox) -> None:
    dirty.git("reset", "-q", "--hard", "main")
    assert dirty.locked() == {
        "src/committed.py": "removed",
        "src/both.py": "removed",
        "src/staged.py": "removed",
        "src/app.py": "modified",
        "src/lib/util.py": "added",
    }


def test_an_older_baseline_is_held_against_the_base(dirty: GitBox) -> None:
    """Nothing was recorded: what was dirty is known, what was committed before counts."""
    assert dirty.baseline is not None
    document = baseline_document(dirty.baseline, "g", "r")
    for key in ("protected", "protected_patterns"):
        del document[key]
    dirty.baseline = baseline_from_document(document)
    assert dirty.baseline is not None
    assert dirty.baseline.protected_patterns == ()
    assert dirty.locked() == {"src/committed.py": "added", "src/both.py": "added"}
    dirty.write("src/app.py", "print('app')\n")
    dirty.write("src/new.py", "other\n")
    assert dirty.locked() == {
        "src/app.py": "modified",
        "src/new.py": "modified",
        "src/committed.py": "added",
        "src/both.py": "added",
    }


def test_the_subject_moves_with_ignored_protected_files(box: GitBox) -> None:
    before = box.tree()
    box.write("build/tool", "v2\n")
    changed = box.tree()
    assert changed != before
    box.write("build/tool", "v3\n")
    assert box.tree() not in (before, changed)
    box.write("build/tool", "v1\n")
    box.write("build/other", "no business of anybody's\n")
    assert box.tree() == before


def test_new_patterns_are_recorded_as_the_files_are_now(box: GitBox) -> None:
    box.write("src/app.py", "the agent's own\n")
    box.write("run.sh", "the agent's own\n")
    before, box.protected = box.protected, ("run.sh", "src/**", "local.env")
    box.write("local.env", "a=1\n")
    assert box.baseline is not None
    box.baseline = pinned.replace_protected(
        box.repo, box.baseline, box.protected, before, denied=box.denied, cache_dir=None
    )
    assert box.baseline.protected_patterns == box.protected
    assert box.locked() == {"run.sh": "modified"}
    box.write("src/app.py", "again\n")
    box.write("local.env", "a=2\n")
    assert box.locked() == {"run.sh": "modified", "src/app.py": "modified", "local.env": "modified"}


def test_what_an_older_baseline_did_not_record_is_not_recorded_by_an_amendment(
    box: GitBox,
) -> None:
    assert box.baseline is not None
    box.baseline = box.baseline._replace(protected={}, protected_patterns=())
    box.write("run.sh", "the agent's own\n")
    again = pinned.replace_protected(
        box.repo, box.baseline, (*box.protected, "docs/**"), box.protected, denied=box.denied
    )
    assert again.protected_patterns == ("docs/**",)
    box.baseline, box.protected = again, (*box.protected, "docs/**")
    assert box.locked() == {"run.sh": "modified"}


def test_a_moved_base_takes_what_came_with_it(box: GitBox) -> None:
    box.write("run.sh", "mine\n")
    box.commit("mine")
    box.git("switch", "-q", "main")
    box.write("src/lib/util.py", "theirs\n")
    box.commit("theirs")
    box.git("switch", "-q", "work")
    box.git("merge", "-q", "--no-edit", "main")
    assert box.locked() == {"run.sh": "modified", "src/lib/util.py": "modified"}
    assert box.baseline is not None
    box.baseline, _ = pinned.rebase_baseline(box.repo, box.baseline, "main", denied=box.denied)
    assert box.locked() == {"run.sh": "modified"}


def test_a_record_with_patterns_that_are_none_is_read_as_far_as_it_goes(box: GitBox) -> None:
    assert box.baseline is not None
    patterns = ("../x", "!y", "[", "", *box.baseline.protected_patterns)
    box.baseline = box.baseline._replace(protected_patterns=patterns)
    assert box.locked() == {}
    box.write("build/tool", "v2\n")
    assert box.locked() == {"build/tool": "modified"}


def test_nothing_is_said_where_git_cannot_answer(box: GitBox) -> None:
    box.write("run.sh", "true\n")
    (box.top / ".git" / "MERGE_HEAD").write_text("0" * 40 + "\n")
    assert box.baseline is not None
    found = box.snapshot()
    assert found.problems
    assert protected_files.difference(found, box.baseline, box.protected, lambda _: False) is None
