"""Every situation of HAZARD F, and more of its kind, on real repositories."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from flow.adapters.baseline.restored import restore
from flow.adapters.fs import stamps
from flow.adapters.fs.stamps import flush
from flow.adapters.git import repository
from flow.adapters.git.find import find_repo
from flow.adapters.git.repository import EMPTY_TREES
from flow.adapters.worktree import change_set as worktree_change_set
from flow.adapters.worktree import contents as worktree_contents
from flow.adapters.worktree import links as worktree_links
from flow.adapters.worktree import scan as worktree_scan
from flow.adapters.worktree import trees as worktree_trees
from flow.adapters.worktree import walk as worktree_walk
from flow.adapters.worktree.cache import Table
from flow.adapters.worktree.change_set import collect
from flow.core.boundary.by_products import (
    cache_root,
    find_by_products,
    find_ignored_by_products,
    moved_paths,
    rewritten,
    subject_tree,
)
from flow.core.boundary.changes import Baseline
from flow.core.boundary.packed import PackedChanges
from flow.core.boundary.rules import OwnFiles
from tests.support.counted import memory_of
from tests.support.effort import sizes
from tests.support.gitbox import EMPTY, FILES, GitBox

pytestmark = pytest.mark.slow

Step = Callable[[GitBox], object]


class Case(NamedTuple):
    """``before`` happens before activation, ``then`` after it."""

    name: str
    then: Step
    outside: Collection[str] = frozenset()
    """The paths that must be named as violations; empty: the goal stays inside."""
    inside: Collection[str] = frozenset()
    """Paths that must be in the change set and are allowed."""
    before: Step | None = None
    allowed: tuple[str, ...] = ("src/**",)
    denied: tuple[str, ...] = ("secrets/**", "*.env")
    inconclusive: str = ""
    """What the reason must hold where the boundary is inconclusive."""


def do(*steps: Step) -> Step:
    def run(box: GitBox) -> None:
        for step in steps:
            step(box)

    return run


def write(name: str | bytes, text: str | bytes = "changed\n") -> Step:
    return lambda box: box.write(name, text)


def run(*args: str) -> Step:
    return lambda box: box.git(*args)


def remove(name: str) -> Step:
    return lambda box: box.remove(name)


def commit(box: GitBox) -> None:
    box.commit()


def link(name: str, target: str) -> Step:
    def make(box: GitBox) -> None:
        path = box.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target.replace("OUTER", str(box.outer)))

    return make


def folder_to_link(name: str, target: str) -> Step:
    def swap(box: GitBox) -> None:
        subprocess.run(["rm", "-rf", str(box.path(name))], check=True)
        link(name, target)(box)

    return swap


def chmod(name: str, mode: int) -> Step:
    return lambda box: box.path(name).chmod(mode)


def equal_size_and_time(name: str) -> Step:
    """Another content of the same length and times, with git told to trust those."""

    def swap(box: GitBox) -> None:
        path = box.path(name)
        old = path.stat()
        box.git("config", "core.trustctime", "false")
        box.git("config", "core.checkStat", "minimal")
        path.write_bytes(b"#" * old.st_size)
        os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))

    return swap


def config(key: str, value: str) -> Step:
    return lambda box: box.git("config", key, value)


def git_file(name: str, text: str, mode: str = "w") -> Step:
    def put(box: GitBox) -> None:
        path = box.top / ".git" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode) as file:
            file.write(text)

    return put


def nested(name: str, *, bare: bool = False) -> Step:
    def make(box: GitBox) -> None:
        place = box.path(name)
        place.mkdir(parents=True)
        box.git("init", "-q", *(["--bare"] if bare else []), cwd=place)
        if not bare:
            (place / "inner.py").write_text("inner\n")
            box.commit("inner", cwd=place)

    return make


def replace_base_blob(box: GitBox) -> None:
    """git is told to show another content wherever the old one is meant."""
    old = box.git("rev-parse", "HEAD:README.md")
    new = box.git("hash-object", "-w", "--stdin", stdin=b"other\n")
    box.git("replace", old, new)
    box.write("README.md", "other\n")


def replace_base(box: GitBox) -> None:
    """The base commit itself is to be shown as the later one."""
    old = box.git("rev-parse", "HEAD")
    box.write("README.md", "other\n")
    box.git("replace", old, box.commit("other"))


def staged_submodule_only(box: GitBox) -> None:
    """Another commit of the submodule is staged, and checked out is the old one."""
    place = box.path("vendor/sub")
    (place / "sub.py").write_text("s = 2\n")
    box.commit("newer", cwd=place)
    box.git("add", "vendor/sub")
    box.git("checkout", "-q", "HEAD~1", cwd=place)
    hide_submodule(box)


def denied_in_submodule(box: GitBox) -> None:
    """A denied file of the submodule, changed by a commit in it."""
    in_submodule(write("prod.env"), commit)(box)


def committed_around(box: GitBox) -> None:
    """HEAD has a commit of the submodule that changed a denied file; nothing else has it."""
    denied_in_submodule(box)
    box.commit("moved on")
    box.git("checkout", "-q", "HEAD~1", cwd=box.path("vendor/sub"))
    box.git("add", "vendor/sub")


def submodule_in_submodule(box: GitBox) -> None:
    submodule(box)
    inner = box.other_repo("inner-source", {"inner.py": "i = 1\n"})
    place = box.path("vendor/sub")
    box.git("submodule", "--quiet", "add", str(inner), "inner", cwd=place)
    box.git("commit", "-qm", "a submodule", cwd=place)
    box.commit("moved on")
    box.git("branch", "-q", "-f", "main", "HEAD")


def denied_deep_down(box: GitBox) -> None:
    inner = box.path("vendor/sub/inner")
    (inner / "prod.env").write_text("x\n")
    box.commit("denied", cwd=inner)
    box.commit("moved on", cwd=box.path("vendor/sub"))
    box.commit("moved on")


def committed_inner(box: GitBox) -> None:
    """The nested repository is committed, and staged as a submodule."""
    box.commit("denied", cwd=box.path("src/inner"))
    box.git("add", "src/inner")


def moved_without_checkout(box: GitBox) -> None:
    box.git("submodule", "--quiet", "deinit", "-f", "--all")
    box.git("update-index", "--cacheinfo", f"160000,{'1' * 40},vendor/sub")


RUNNERS = "runners:\n  - {name: x, command: [x], nothing_ran: [nothing]}\n"


def runners_in_base(box: GitBox) -> None:
    box.write(".flow/runners.yaml", RUNNERS)
    box.commit("rules of runners")
    box.git("branch", "-q", "-f", "main", "HEAD")


def rubrics_in_base(box: GitBox) -> None:
    box.write(".flow/rubrics/r.yaml")
    box.commit("rubrics")
    box.git("branch", "-q", "-f", "main", "HEAD")


def conflict(kind: str) -> Step:
    def make(box: GitBox) -> None:
        box.git("switch", "-q", "-c", "side", "main")
        box.write("src/app.py", "side\n")
        box.commit("side")
        box.git("switch", "-q", "work")
        box.write("src/app.py", "work\n")
        box.commit("work")
        if kind == "merge":
            box.git("merge", "side", check=False)
        elif kind == "rebase":
            box.git("rebase", "side", check=False)
        else:
            box.git(kind, "side", check=False)

    return make


def merge_without_commit(box: GitBox) -> None:
    box.git("switch", "-q", "-c", "side", "main")
    box.write("src/other.py")
    box.commit("side")
    box.git("switch", "-q", "work")
    box.git("merge", "--no-commit", "--no-ff", "side")


def revert(box: GitBox) -> None:
    box.write("src/app.py", "one\n")
    box.commit("one")
    box.write("src/app.py", "two\n")
    box.commit("two")
    box.git("revert", "HEAD~1", check=False)


def bisect(box: GitBox) -> None:
    box.write("src/app.py", "one\n")
    box.commit("one")
    box.git("bisect", "start")


def unmerged_only(box: GitBox) -> None:
    """An unmerged index with none of the files that name an operation."""
    blob = box.git("rev-parse", "HEAD:src/app.py")
    lines = "".join(f"100644 {blob} {stage}\tsrc/app.py\n" for stage in (1, 2, 3))
    box.git("update-index", "--force-remove", "src/app.py")
    box.git("update-index", "--index-info", stdin=lines.encode())


def base_gone(box: GitBox) -> None:
    assert box.baseline is not None
    box.baseline = box.baseline._replace(base_commit="1" * 40)


def pruned_base(box: GitBox) -> None:
    """The pinned commit is really removed from the object store."""
    box.git("checkout", "-q", "--orphan", "fresh")
    box.commit("fresh")
    for branch in ("main", "work"):
        box.git("branch", "-q", "-D", branch)
    box.git("reflog", "expire", "--expire=now", "--all")
    box.git("gc", "-q", "--prune=now")


def moved_main(box: GitBox) -> None:
    """`main` itself is moved on, so that the difference to it is empty again."""
    box.write("README.md", "moved\n")
    box.commit("moved")
    box.git("branch", "-q", "-f", "main", "HEAD")


def linked_worktree(box: GitBox) -> None:
    place = box.outer / "linked"
    box.git("worktree", "add", "-q", "-b", "linked", str(place), "work")
    box.top = place


def linked_before(box: GitBox) -> None:
    linked_worktree(box)


def submodule(box: GitBox) -> None:
    box.add_submodule()
    box.git("branch", "-q", "-f", "main", "HEAD")


def in_submodule(*steps: Step) -> Step:
    def go(box: GitBox) -> None:
        place = box.path("vendor/sub")
        for step in steps:
            top, box.top = box.top, place
            try:
                step(box)
            finally:
                box.top = top

    return go


def hide_submodule(box: GitBox) -> None:
    box.git("config", "submodule.vendor/sub.ignore", "all")
    box.git("config", "diff.ignoreSubmodules", "all")
    box.write("src/ok.py")


def make_socket(name: str) -> Step:
    def make(box: GitBox) -> None:
        here = os.getcwd()
        os.chdir(box.top)  # a socket's name is at most 108 bytes
        try:
            socket.socket(socket.AF_UNIX).bind(name)
        finally:
            os.chdir(here)

    return make


def lfs_before(box: GitBox) -> None:
    """A file as a filter would have checked it out: other bytes than its blob."""
    box.write(".gitattributes", "*.bin filter=fake\n*.txt text eol=crlf\n")
    box.write("data.bin", "pointer\n")
    box.write("lines.txt", "a\nb\n")
    box.commit("attributes")
    box.git("branch", "-q", "-f", "main", "HEAD")
    box.write("data.bin", b"\x00real content")
    box.write("lines.txt", b"a\r\nb\r\n")


def sparse(box: GitBox) -> None:
    box.git("sparse-checkout", "set", "--no-cone", "/src/")


def sparse_index(box: GitBox) -> None:
    box.git("sparse-checkout", "init", "--cone", "--sparse-index")
    box.git("sparse-checkout", "set", "src")


def dirty(box: GitBox) -> None:
    """Six files of the base as they are dirty in each way, and two that git does not know."""
    for name in ("kept", "back", "staged", "index", "reset", "gone"):
        box.write(f"d/{name}", "old\n")
    box.commit("files")
    box.git("branch", "-q", "-f", "main", "HEAD")
    for name in ("d/kept", "d/back", "d/staged", "d/index", "d/reset", "new.md", "other.md"):
        box.write(name)
    box.git("add", "d/index", "d/reset")
    box.remove("d/gone")


UNTRACKED = {
    "evil.py",
    "a/b/c/d/e/f.py",
    "evil/src/b.py",  # a folder that ends like an allowed one
    "SRC/app.py",
    "src/secrets/x.py",  # denied at any depth
    ".decisions/evil.md",
    "x/issue-4.md",
}
NEWLINE = "new\nline.py"
NON_UTF8 = b"caf\xe9.py"
NON_UTF8_TEXT = NON_UTF8.decode("utf-8", "surrogateescape")
ODD: tuple[str | bytes, ...] = (
    *(NEWLINE, "a\t\"b'.py", NON_UTF8, ":(exclude)x", ":!y", "*", "[a]", "-rf"),
    *(" lead and trail ", "src\\x.py"),
)

CASES = [
    # What is allowed
    Case("nothing happened", lambda box: None),
    Case(
        "changed and new inside",
        do(write("src/app.py"), write("src/new/deep/a.py")),
        inside={"src/app.py", "src/new/deep/a.py"},
    ),
    Case("committed inside", do(write("src/app.py"), commit), inside={"src/app.py"}),
    Case(
        "as it was, or ignored by the pinned rules",
        do(
            lambda box: os.utime(box.path("README.md")),
            write("docs/guide.md", "# Guide\n"),
            *(write("secrets/key.txt"), write("secrets/key.txt", "k\n")),
            *(write("x.log"), write("build/out/a.o"), nested("build/inner")),
            write("build/deep/secrets/a"),  # no literal part of a denied pattern enters there
            lambda box: box.path("empty").mkdir(),
            *(write("c/.gitignore", "# made\n*\n"), write("c/x")),
        ),
    ),
    Case(
        "no allowed paths: all but denied ones and links to Flow's files",
        do(
            *(write("anything.py"), write("secrets/key.txt"), link("src/f", "../.flow")),
            link("src/g", "../.flow/goals/a.goal.yaml"),
        ),
        {"secrets/key.txt", "src/f", "src/g"},
        inside={"anything.py"},
        allowed=(),
    ),
    # 69: staged, unstaged, committed, untracked
    Case("unstaged", write("README.md"), {"README.md"}),
    Case("staged", do(write("README.md"), run("add", "README.md")), {"README.md"}),
    Case("committed", do(write("README.md"), commit), {"README.md"}),
    Case(
        "untracked",
        do(*map(write, UNTRACKED)),
        UNTRACKED,
    ),
    Case(
        "deleted, and staged, a folder, and only in the index",
        do(
            *(remove("README.md"), run("rm", "-q", "run.sh"), run("rm", "-rq", "docs")),
            run("rm", "-q", "--cached", "secrets/key.txt"),
        ),
        {"README.md", "run.sh", "docs/guide.md", "secrets/key.txt"},
    ),
    Case("intent to add", do(write("n.py"), run("add", "-N", "n.py")), {"n.py"}),
    Case(
        "a link where a folder was, a folder where a file was",
        do(folder_to_link("docs", "run.sh"), remove("README.md"), write("README.md/x.py")),
        {"docs", "docs/guide.md", "README.md", "README.md/x.py"},
    ),
    # Denied beats allowed
    Case("denied and committed", do(write("src/a.env"), commit), {"src/a.env"}),
    Case(
        "an ignored file that a denied pattern names",
        write("local.env", "new\n"),
        {"local.env"},
        before=write("local.env", "old\n"),
    ),
    Case("such a file, new", write("local.env"), {"local.env"}),
    Case("such a file, removed", remove("local.env"), {"local.env"}, before=write("local.env")),
    Case("such a file, unchanged", lambda box: None, before=write("local.env")),
    Case(
        "in an ignored folder that the pattern's literal part enters",
        write("build/keys/a.pem"),
        {"build/keys/a.pem"},
        denied=("build/keys/*.pem",),
    ),
    # 70: hidden by rules set later
    Case(
        "info/exclude, core.excludesFile and showUntrackedFiles",
        do(
            *(git_file("info/exclude", "evil.py\n", "a"), write("evil.py")),
            *(write(".git/x", "bad.py\n"), config("core.excludesFile", ".git/x")),
            *(write("bad.py"), config("status.showUntrackedFiles", "no"), write("other.py")),
        ),
        {"evil.py", "bad.py", "other.py"},
    ),
    Case(
        ".gitignore changed since, and new ones",
        do(
            *(write(".gitignore", "*.log\nbuild/\nevil.py\n"), write("evil.py")),
            *(write("src/.gitignore", "e.py\n"), write("src/e.py")),
            *(write("new/.gitignore", "e.py\n"), write("new/e.py")),
            *(write("docs/.gitignore", "*\n"), write("docs/e.py")),
        ),
        {
            *(".gitignore", "evil.py", "new/.gitignore", "new/e.py"),
            *("docs/.gitignore", "docs/e.py"),
        },
        inside={"src/.gitignore", "src/e.py"},
    ),
    Case(
        "a new folder that ignores itself: committed, staged, all but one",
        do(
            *(write("c/.gitignore", "*\n"), write("c/x"), run("add", "-f", "c/x")),
            run("commit", "-qm", "c"),
            *(write("d/.gitignore", "*\n"), write("d/x"), run("add", "-f", "d/x")),
            *(write("e/.gitignore", "*\n!x\n"), write("e/x")),
        ),
        {f"{folder}/{name}" for folder in "cde" for name in (".gitignore", "x")},
    ),
    Case(
        "rules that only let some names through",
        do(write("x/a.py"), write("x/b.txt"), write("x/y/c.py")),
        {"x/a.py", "x/y/c.py"},
        before=do(write(".gitignore", "*\n!*/\n!*.py\n")),
    ),
    Case(
        "an ignored file, committed and staged",
        do(write("x.log"), commit, write("y.log"), run("add", "-f", "y.log")),
        {"x.log", "y.log"},
    ),
    # 71: index flags and stat tricks
    Case(
        "assume-unchanged, skip-worktree and fileMode",
        do(
            *(run("update-index", "--assume-unchanged", "README.md"), write("README.md")),
            *(run("update-index", "--skip-worktree", "docs/guide.md"), write("docs/guide.md")),
            *(config("core.fileMode", "false"), chmod("secrets/key.txt", 0o755)),
        ),
        {"README.md", "docs/guide.md", "secrets/key.txt"},
    ),
    Case("mode only", chmod("run.sh", 0o644), {"run.sh"}),
    Case("equal size and time", equal_size_and_time("README.md"), {"README.md"}),
    Case(
        "another core.worktree",
        do(lambda box: config("core.worktree", str(box.outer))(box), write("README.md")),
        {"README.md"},
    ),
    Case("the base commit replaced", replace_base, {"README.md"}),
    Case("submodule: only staged", staged_submodule_only, {"vendor/sub"}, before=submodule),
    Case(
        "Flow's folder with tracked rubrics and rules of runners",
        write(".flow/runs/x"),
        before=do(rubrics_in_base, runners_in_base),
    ),
    Case(
        "tracked rubrics and rules of runners changed",
        do(
            *(write(".flow/goals/x.goal.yaml"), write(".flow/rubrics/r.yaml", "worse\n")),
            write(".flow/runners.yaml", RUNNERS.replace("x", "y")),
        ),
        {".flow/rubrics/r.yaml", ".flow/runners.yaml"},
        before=do(rubrics_in_base, runners_in_base),
    ),
    Case(
        "tracked rules of runners taken away",
        remove(".flow/runners.yaml"),
        {".flow/runners.yaml"},
        before=runners_in_base,
    ),
    Case("replace refs", replace_base_blob, {"README.md"}),
    Case(
        "untracked cache",
        do(config("core.untrackedCache", "true"), run("status"), write("docs/e.py")),
        {"docs/e.py"},
    ),
    Case(
        "sparse checkout set later",
        sparse,
        {"README.md", ".gitignore", "docs/guide.md", "run.sh", "secrets/key.txt"},
    ),
    Case("sparse checkout from before", lambda box: None, before=sparse),
    Case(
        "sparse checkout, written anyway", write("docs/guide.md"), {"docs/guide.md"}, before=sparse
    ),
    Case(
        "split index",
        do(run("update-index", "--split-index"), write("README.md"), run("add", "README.md")),
        {"README.md"},
    ),
    Case(
        "index version 4",
        do(
            run("update-index", "--index-version", "4"), write("README.md"), run("add", "README.md")
        ),
        {"README.md"},
    ),
    Case(
        "sparse index",
        do(sparse_index, write("docs/guide.md")),
        {"docs/guide.md", "secrets/key.txt"},
    ),
    # 72: renames
    Case(
        "renamed outward and inward",
        do(run("mv", "src/app.py", "app.py"), run("mv", "README.md", "src/README.md")),
        {"app.py", "README.md"},
        inside={"src/app.py", "src/README.md"},
    ),
    Case(
        "renamed and committed, with settings of diff",
        do(
            *(config("diff.renames", "copies"), config("diff.relative", "true")),
            *(config("diff.orderFile", "/dev/null"), run("mv", "README.md", "src/R.md"), commit),
            write("run.sh"),
        ),
        {"README.md", "run.sh"},
    ),
    # 73: undone in one place only
    Case(
        "committed or staged, then put back on disk",
        do(
            *(write("README.md"), commit, write("README.md", "hello\n")),
            *(write("docs/guide.md"), run("add", "docs"), write("docs/guide.md", "# Guide\n")),
        ),
        {"README.md", "docs/guide.md"},
    ),
    Case(
        "committed and reverted by a commit",
        do(write("README.md"), commit, run("revert", "--no-edit", "HEAD")),
    ),
    # 74, 75: the base is a commit, not a name
    Case("main was moved on", moved_main, {"README.md"}),
    Case(
        "orphan branch",
        do(run("checkout", "-q", "--orphan", "o"), write("README.md"), commit),
        {"README.md"},
    ),
    Case(
        "orphan branch without commits",
        do(run("checkout", "-q", "--orphan", "o")),
        {"README.md", ".gitignore", "docs/guide.md", "run.sh", "secrets/key.txt"},
    ),
    Case(
        "amended", do(write("README.md"), run("commit", "-qa", "--amend", "-m", "x")), {"README.md"}
    ),
    # 76: no base to compare with
    Case("base unknown", base_gone, inconclusive="is not in this repository"),
    Case("base pruned", pruned_base, inconclusive="is not in this repository"),
    # 77
    Case("detached", do(run("checkout", "-q", "--detach"), write("README.md")), {"README.md"}),
    # 78: worktrees, submodules, nested repositories
    Case(
        "linked worktree",
        do(write("README.md"), write("src/app.py")),
        {"README.md"},
        inside={"src/app.py"},
        before=linked_before,
    ),
    Case(
        "linked worktree added below",
        lambda box: box.git("worktree", "add", "-q", "wt"),
        {
            "wt",
            *(
                f"wt/{name}"
                for name in (
                    "README.md",
                    ".gitignore",
                    "docs/guide.md",
                    "run.sh",
                    "secrets/key.txt",
                    "src/app.py",
                    "src/lib/util.py",
                )
            ),
        },
    ),
    Case("submodule untouched", lambda box: None, before=submodule),
    Case(
        "submodule: changed, new and staged files",
        in_submodule(
            *(write("sub.py"), write("new.py")),
            *(write("deep/x.py"), run("add", "deep"), write("deep/x.py", "x\n")),
        ),
        {"vendor/sub/sub.py", "vendor/sub/new.py", "vendor/sub/deep/x.py"},
        before=submodule,
    ),
    Case(
        "submodule: committed",
        in_submodule(write("sub.py"), commit),
        {"vendor/sub"},
        before=submodule,
    ),
    Case(
        "submodule: committed and staged, hidden by ignore=all",
        do(in_submodule(write("sub.py"), commit), run("add", "vendor/sub"), hide_submodule),
        {"vendor/sub"},
        before=submodule,
    ),
    Case(
        "submodule: changed, hidden by ignore=all",
        do(hide_submodule, in_submodule(write("sub.py"))),
        {"vendor/sub/sub.py"},
        before=submodule,
    ),
    Case(
        "submodule allowed",
        in_submodule(write("sub.py"), commit),
        inside={"vendor/sub"},
        before=submodule,
        allowed=("vendor/sub/**",),
    ),
    Case(
        "submodule: a denied file, committed",
        denied_in_submodule,
        {"vendor/sub/prod.env"},
        before=submodule,
        allowed=("vendor/**",),
    ),
    Case(
        "submodule: a denied file, committed and put back on disk",
        do(denied_in_submodule, in_submodule(remove("prod.env"))),
        {"vendor/sub/prod.env"},
        before=submodule,
        allowed=("vendor/**",),
    ),
    Case(
        "submodule: a denied file, only in a commit around it",
        committed_around,
        {"vendor/sub/prod.env"},
        before=submodule,
        allowed=("vendor/**",),
    ),
    Case(
        "submodule: a denied file in a new one",
        do(nested("src/inner"), write("src/inner/prod.env"), committed_inner),
        {"src/inner/prod.env"},
    ),
    Case(
        "submodule: a denied file in a submodule of its own",
        denied_deep_down,
        {"vendor/sub/inner/prod.env"},
        before=submodule_in_submodule,
        allowed=("vendor/**",),
    ),
    Case(
        "submodule: a denied pattern leads into one that is not checked out",
        moved_without_checkout,
        before=submodule,
        allowed=("vendor/**",),
        denied=("vendor/sub/secrets/**",),
        inconclusive="denied and protected paths",
    ),
    Case(
        "submodule: any denied pattern, and no such commit in what is checked out",
        run("update-index", "--cacheinfo", f"160000,{'1' * 40},vendor/sub"),
        before=submodule,
        allowed=("vendor/**",),
        inconclusive="denied and protected paths",
    ),
    Case(
        "submodule: no such commit, and nothing is denied",
        run("update-index", "--cacheinfo", f"160000,{'1' * 40},vendor/sub"),
        inside={"vendor/sub"},
        before=submodule,
        allowed=("vendor/**",),
        denied=(),
    ),
    Case(
        "submodule not checked out",
        run("submodule", "--quiet", "deinit", "-f", "--all"),
        before=submodule,
    ),
    Case(
        "a file where no submodule is checked out",
        do(run("submodule", "--quiet", "deinit", "-f", "--all"), write("vendor/sub/x.py")),
        {"vendor/sub/x.py"},
        before=submodule,
    ),
    Case(
        "submodule removed",
        do(run("rm", "-qf", "vendor/sub")),
        {".gitmodules", "vendor/sub"},
        before=submodule,
    ),
    Case(
        "submodule: merge under way",
        in_submodule(lambda box: box.git("update-ref", "MERGE_HEAD", "HEAD")),
        before=submodule,
        inconclusive="merge",
    ),
    Case(
        "nested repositories outside and inside",
        do(nested("inner"), nested("src/inner")),
        {"inner", "inner/inner.py"},
        inside={"src/inner", "src/inner/inner.py"},
    ),
    Case(
        "a repository started in a tracked folder",
        lambda box: box.git("init", "-q", cwd=box.path("docs")),
        {"docs"},
    ),
    Case(
        "nested repository, staged as a submodule",
        do(nested("inner"), run("add", "inner")),
        {"inner"},
    ),
    Case("bare repository in a subfolder", nested("b", bare=True), {"b/HEAD", "b/config"}),
    # 79: symlinks
    Case(
        "folder replaced by a link to outside",
        folder_to_link("src/lib", "OUTER"),
        {"src/lib", "src/lib/util.py"},
    ),
    Case(
        "folder replaced by a link to elsewhere inside",
        folder_to_link("src/lib", "../docs"),
        {"src/lib/util.py"},
    ),
    Case(
        "folder replaced by a link to an allowed place",
        do(write("src/new/util.py"), folder_to_link("src/lib", "new")),
        inside={"src/lib"},
    ),
    Case(
        "new links",
        do(
            *(link("src/out", "OUTER"), link("src/hosts", "/etc/hosts")),
            *(link("src/nowhere", "/nonexistent/x"), link("src/hooks", "../.git/hooks")),
            *(link("src/s", "../secrets"), link("docs/l", "guide.md")),
            *(link("src/f", "../.flow/x"), link("src/r", "../.flow/rubrics")),
            *(link("src/other.py", "app.py"), link("src/loop", "loop")),
        ),
        {"src/out", "src/hosts", "src/nowhere", "src/hooks", "src/s", "docs/l"},
        inside={"src/f", "src/r", "src/other.py", "src/loop"},
    ),
    Case(
        "a link's target changed",
        do(remove("ln"), link("ln", "run.sh")),
        {"ln"},
        before=do(link("ln", "README.md")),
    ),
    Case(
        "a link that is as it was",
        lambda box: None,
        before=do(link("ln", "/etc"), commit, run("branch", "-qf", "main")),
    ),
    Case(
        "a file replaced by a link to the same content",
        do(write("src/copy", "hello\n"), remove("README.md"), link("README.md", "src/copy")),
        {"README.md"},
    ),
    # special files
    Case(
        "a FIFO, one in place of a file, and a socket",
        do(
            lambda box: os.mkfifo(box.path("pipe")),
            *(remove("README.md"), lambda box: os.mkfifo(box.path("README.md"))),
            make_socket("sock"),
        ),
        {"pipe", "README.md", "sock"},
    ),
    # 80, 36: names
    Case(
        "odd names",
        do(*map(write, ODD), write(b"src/" + NON_UTF8)),
        {os.fsdecode(name) for name in ODD},
        inside={"src/" + NON_UTF8_TEXT},
    ),
    Case(
        "odd names, committed",
        do(*map(write, ODD), commit),
        {os.fsdecode(name) for name in ODD},
    ),
    # 81
    # 82
    Case("conflict of a merge", conflict("merge"), inconclusive="merge"),
    Case("conflict of a rebase", conflict("rebase"), inconclusive="rebase"),
    Case("conflict of a cherry-pick", conflict("cherry-pick"), inconclusive="cherry-pick"),
    Case("conflict of a revert", revert, inconclusive="revert"),
    Case("merge without commit", merge_without_commit, inconclusive="merge"),
    Case("bisect", bisect, inconclusive="bisect"),
    Case("unmerged index", unmerged_only, inconclusive="unmerged"),
    Case("index.lock", git_file("index.lock", ""), inconclusive="index.lock"),
    Case(
        "git is not sure",
        git_file("objects/info/alternates", "no-such/objects\n"),
        inconclusive="alternate object path",
    ),
    Case("broken index", git_file("index", "garbage"), inconclusive="index"),
    Case("HEAD broken", git_file("HEAD", "garbage\n"), inconclusive="not a git repository"),
    Case(
        "no git any more",
        do(write(".flow/x"), lambda box: os.rename(box.top / ".git", box.outer / "git")),
        inconclusive="there is no git repository here",
    ),
    # What does not count
    Case(
        "Flow's own files",
        do(
            *map(
                write,
                (
                    ".flow/goals/a.goal.yaml",
                    ".flow/goals/.flow-tmp-0123456789abcdef01",
                    ".flow/runs/r/x",
                    ".flow/goal.schema.json",
                    ".flow/defaults.goal.yaml",
                    ".flow/scores/code-20260102-030405.json",
                ),
            ),
            commit,
        ),
    ),
    Case(
        "in Flow's folder rubrics and rules of runners count; what Flow does not write is inside",
        do(
            *(write(".flow/rubrics/r.yaml"), write(".flow/runners.yaml", RUNNERS)),
            *(
                write(".flow/checks/run.sh"),
                write(".flow/goals/x.py"),
                write(".flow/scores/x.json"),
            ),
            write(".flow/goals/a.goal.yaml/x.py"),
        ),
        {".flow/rubrics/r.yaml", ".flow/runners.yaml"},
        inside={
            *(".flow/checks/run.sh", ".flow/goals/x.py", ".flow/scores/x.json"),
            ".flow/goals/a.goal.yaml/x.py",
        },
    ),
    Case(
        "and once committed",
        do(
            *(write(".flow/runners.yaml", RUNNERS), write(".flow/rubrics/r.yaml")),
            *(write(".flow/x.py"), commit),
        ),
        {".flow/rubrics/r.yaml", ".flow/runners.yaml"},
        inside={".flow/x.py"},
    ),
    Case("journals", do(write(".decisions/issue-4.md"), write(".decisions/session-2026-01-02.md"))),
    Case(
        "and may be denied",
        do(write(".flow/checks/run.sh"), write(".flow/x.py")),
        {".flow/checks/run.sh"},
        inside={".flow/x.py"},
        denied=(".flow/checks/**",),
    ),
    Case(
        "a tracked script in Flow's folder changed",
        write(".flow/checks/run.sh", "exit 0\n"),
        inside={".flow/checks/run.sh"},
        before=do(write(".flow/checks/run.sh"), commit),
    ),
    Case("Flow's folder as a link", link(".flow", "OUTER"), {".flow"}),
    Case(
        "the rubrics as a link",
        do(write(".flow/goals/a.goal.yaml"), link(".flow/rubrics", "OUTER")),
        {".flow/rubrics"},
    ),
    # Dirty at activation
    Case(
        "dirty, and untouched, put back, staged or unstaged since",
        do(
            *(write("d/back", "old\n"), run("add", "d/staged"), run("reset", "-q", "d/reset")),
            run("add", "other.md"),
        ),
        before=dirty,
    ),
    Case(
        "dirty, and changed again, removed, or there again",
        do(
            *(write("d/kept", "more\n"), remove("d/back"), write("d/gone", "other\n")),
            write("new.md", "more\n"),
        ),
        {"d/kept", "d/back", "d/gone", "new.md"},
        before=dirty,
    ),
    Case("dirty or staged, and then committed", run("commit", "-qam", "x"), before=dirty),
    Case(
        "dirty, committed and changed; committed with another change",
        do(
            *(write("d/staged", "more\n"), run("commit", "-qam", "x"), write("d/staged")),
            write("d/back", "more\n"),
        ),
        {"d/staged", "d/back"},
        before=dirty,
    ),
    Case("filtered content, untouched", lambda box: None, before=lfs_before),
    Case("filtered content, changed", write("data.bin", "y"), {"data.bin"}, before=lfs_before),
    Case("line ends turned around", write("README.md", b"hello\r\n"), {"README.md"}),
    Case(
        "line ends, with autocrlf",
        do(config("core.autocrlf", "true"), write("README.md", b"hello\r\n")),
        {"README.md"},
    ),
    Case(
        "content that a clean filter hides",
        do(
            write("src/.gitattributes", "x\n"),
            git_file("info/attributes", "README.md filter=hide\n"),
            config("filter.hide.clean", "printf 'hello\\n'"),
            write("README.md"),
        ),
        {"README.md"},
    ),
    Case(
        "committed before activation",
        lambda box: None,
        {"README.md"},
        before=do(write("README.md"), commit),
    ),
]


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitBox:
    made = GitBox(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(made.top)  # where Flow is started as a rule: git needs no fork then
    return made


PINNED: dict[tuple[str, ...], Baseline] = {}
"""The beginning of the cases that do nothing before it, by the denied patterns."""


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_situation(case: Case, box: GitBox) -> None:
    box.allowed, box.denied = case.allowed, case.denied
    if case.before is not None:
        case.before(box)
        box.pin()
    else:  # the same checkout each time
        box.baseline = PINNED.get(case.denied) or PINNED.setdefault(case.denied, box.pin())
    box.snapshot()  # a cache from before must not hide anything
    case.then(box)
    again = sizes(short=CASES.index(case) % 3 == 0, long=True)  # with what the first look kept
    for cached in (True, False, True) if again else (True, False):
        now = box.snapshot(cached=cached)
        report = box.report(now)
        if case.inconclusive or case.name == "HEAD broken":
            assert report.status == "inconclusive", report
            assert case.inconclusive in " ".join(report.problems), report
            assert report.violations == ()
            assert box.tree(now) is None
            continue
        assert report.problems == ()
        named = {violation.path for violation in report.violations}
        if case.name.startswith("bare repository"):
            assert set(case.outside) <= named
        else:
            assert named == set(case.outside)
        assert report.status == ("outside" if case.outside else "inside")
        changed = {change.path for change in now.changes}
        assert set(case.inside) <= changed
        assert not set(case.inside) & named


def test_there_are_enough_situations() -> None:
    assert len(CASES) >= 100
    assert len({case.name for case in CASES}) == len(CASES)


def test_sha256_repository(tmp_path: Path) -> None:
    box = GitBox(tmp_path, object_format="sha256")
    pinned = box.pin()
    assert pinned.base_commit is not None
    assert len(pinned.base_commit) == 64
    assert box.report().status == "inside"
    box.write("README.md")
    box.write("src/ok.py")
    assert [v.path for v in box.report().violations] == ["README.md"]


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_unborn_branch_is_held_against_the_empty_tree(
    tmp_path: Path, box: GitBox, algorithm: str
) -> None:
    place = tmp_path / "young"
    place.mkdir()
    box.git("init", "-q", "-b", "main", f"--object-format={algorithm}", cwd=place)
    box.git("remote", "add", "origin", "https://example.invalid/sha256-sums.git", cwd=place)
    box.top = place
    pinned = box.pin()
    assert pinned.base_commit == EMPTY_TREES[40 if algorithm == "sha1" else 64]
    box.write("src/a.py")
    box.write("b.py")
    assert [v.path for v in box.report().violations] == ["b.py"]
    box.commit("first")
    assert [v.path for v in box.report().violations] == ["b.py"]


def test_without_git_everything_is_inconclusive(tmp_path: Path, box: GitBox) -> None:
    place = tmp_path / "plain"
    (place / ".flow").mkdir(parents=True)
    box.top = place
    assert box.pin().base_commit is None
    report = box.report()
    assert report.status == "inconclusive"
    assert "git" in report.problems[0]


def test_shallow_clone_without_the_base(box: GitBox) -> None:
    box.write("src/app.py")
    box.commit()
    box.pin()
    place = box.outer / "shallow"
    box.git("clone", "-q", "--depth=1", f"file://{box.top}", str(place))
    box.top = place
    report = box.report()
    assert report.status == "inconclusive"
    assert "shallow" in report.problems[0]


def test_a_file_that_claims_any_size_is_inconclusive(box: GitBox) -> None:
    box.pin()
    with open(box.path("src/huge"), "wb") as file:
        file.truncate(1 << 43)  # sparse: it takes no room
    report = box.report()
    assert report.status == "inconclusive"
    assert "src/huge cannot be read: it has more than 8 GiB" in " ".join(report.problems)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository to another user")
def test_repository_of_another_user(box: GitBox, monkeypatch: pytest.MonkeyPatch) -> None:
    from flow.adapters.git import run as git_run

    box.pin()
    os.chown(box.top, 12345, 12345)
    monkeypatch.setattr(git_run, "_refusals", {})
    report = box.report()
    assert report.status == "inconclusive"
    assert "another user" in report.problems[0]
    assert "safe.directory" in report.problems[0]
    box.git("config", "--global", "--add", "safe.directory", str(box.top))
    monkeypatch.setattr(git_run, "_refusals", {})
    assert box.report().status == "inside"


def test_unreadable_file_is_inconclusive(box: GitBox, monkeypatch: pytest.MonkeyPatch) -> None:
    box.pin()
    box.write("src/app.py", "unreadable\n")
    real = os.open

    def refuse(path: object, *args: object, **more: object) -> int:
        if str(path).endswith("app.py'"):
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refuse)
    report = box.report()
    assert report.status == "inconclusive"
    assert "src/app.py cannot be read: Permission denied" in report.problems


def test_a_top_level_that_cannot_be_opened_is_inconclusive(
    box: GitBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.pin()
    box.write("src/app.py", "new\n")
    real = os.open

    def refuse(path: object, flags: int, *args: object, **more: object) -> int:
        if flags & os.O_DIRECTORY and os.fsdecode(path) == f"{box.top}/":
            raise OSError(24, "Too many open files", path)
        return real(path, flags, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refuse)
    report = box.report()
    assert report.status == "inconclusive"
    assert "the top level cannot be read: Too many open files" in report.problems


def test_a_lock_that_goes_away_is_waited_for(box: GitBox, monkeypatch: pytest.MonkeyPatch) -> None:
    box.pin()
    lock = box.top / ".git" / "index.lock"
    lock.touch()
    monkeypatch.setattr(time, "sleep", lambda _: lock.unlink(missing_ok=True))
    assert box.report().status == "inside"
    assert not lock.exists()


def test_guards(box: GitBox) -> None:
    box.write(".git/hooks/pre-push", "#!/bin/sh\n")
    box.pin()
    assert box.report().guards_changed == ()
    box.write(".git/hooks/pre-commit", "#!/bin/sh\n")
    box.write(".git/hooks/pre-push", "#!/bin/sh\nfalse\n")
    box.write(".git/hooks/x.sample", "nothing\n")
    box.write(".git/info/exclude", "evil\n")
    box.write(".git/info/attributes", "* -diff\n")
    box.git("config", "core.hooksPath", ".hooks")
    replace_base_blob(box)
    changed = set(box.report().guards_changed)
    assert changed == {
        "hooks/pre-commit",
        "hooks/pre-push",
        "info/exclude",
        "info/attributes",
        "core.hooksPath",
        "refs/replace",
    }
    box.git("pack-refs", "--all")
    assert set(box.report().guards_changed) == changed


def test_hooks_path_of_the_user_is_seen(box: GitBox) -> None:
    box.pin()
    box.git("config", "--global", "core.hooksPath", str(box.outer))
    (box.outer / "pre-commit").write_text("#!/bin/sh\n")
    assert set(box.report().guards_changed) == {"core.hooksPath", "core.hooksPath/pre-commit"}


CANARIES = {
    "core.fsmonitor": "CANARY",
    "diff.external": "CANARY",
    "diff.fake.textconv": "CANARY",
    "diff.fake.command": "CANARY",
    "filter.fake.clean": "CANARY",
    "filter.fake.smudge": "CANARY",
    "filter.fake.process": "CANARY",
    "filter.fake.required": "true",
    "core.pager": "CANARY",
    "core.editor": "CANARY",
    "core.sshCommand": "CANARY",
    "core.askPass": "CANARY",
    "core.alternateRefsCommand": "CANARY",
    "gpg.program": "CANARY",
    "log.showSignature": "true",
    "credential.helper": "!CANARY",
    "alias.diff-index": "!CANARY",
    "alias.ls-tree": "!CANARY",
    "merge.fake.driver": "CANARY",
    "extensions.partialClone": "origin",
    "remote.origin.url": "ext::CANARY",
    "remote.origin.promisor": "true",
    "remote.origin.uploadpack": "CANARY",
}


def test_no_program_that_the_checkout_names_is_ever_started(box: GitBox) -> None:
    from flow.adapters.baseline import pinned as baseline_pinned

    submodule(box)
    box.pin()
    marker = box.outer / "ran"
    script = box.outer / "canary"
    script.write_text(f'#!/bin/sh\necho "$0 $*" >> {marker}\ncat 2>/dev/null\n')
    script.chmod(0o755)
    for name in ("pre-commit", "post-index-change", "reference-transaction", "fsmonitor-watchman"):
        (box.top / ".git/hooks").mkdir(exist_ok=True)
        hook = box.top / ".git/hooks" / name
        hook.write_text(script.read_text())
        hook.chmod(0o755)
    box.write("src/app.py", "signed\n")
    box.commit()
    box.git("update-index", "--no-fsmonitor")
    for folder in (box.top, box.path("vendor/sub")):
        for key, value in CANARIES.items():
            box.git("config", key, value.replace("CANARY", str(script)), cwd=folder)
        box.git("config", "core.repositoryFormatVersion", "1", cwd=folder)
    box.write(".gitattributes", "* diff=fake filter=fake merge=fake\n")
    box.write("README.md")
    box.write("evil.py")
    box.path("vendor/sub/sub.py").write_text("changed\n")
    marker.unlink(missing_ok=True)

    named = {violation.path for violation in box.report(box.snapshot(cached=False)).violations}
    assert {"README.md", "evil.py", ".gitattributes", "vendor/sub/sub.py"} <= named
    pinned = box.pin()
    assert pinned.base_commit is not None
    baseline_pinned.widen_baseline(box.repo, pinned, "main")
    baseline_pinned.commits_outside(box.repo, pinned, allowed=("docs/**",), denied=())
    assert not marker.exists(), marker.read_text()
    # The canary itself works: git would have started it.
    box.git("status", check=False)
    assert marker.exists()


def test_outer_git_variables_change_nothing(box: GitBox, monkeypatch: pytest.MonkeyPatch) -> None:
    box.pin()
    box.write("README.md")
    box.write("evil.py")
    other = box.other_repo("elsewhere", {"a": "a\n"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other / ".git/objects"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.excludesFile")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "/dev/null")
    assert {v.path for v in box.report().violations} == {"README.md", "evil.py"}


# --- by-products and the tree's digest ------------------------------------------------------------


def test_by_products_of_a_command(box: GitBox) -> None:
    box.allowed = ("src/**",)
    box.pin()
    before = box.snapshot()
    box.write("tests/__pycache__/t.pyc", "1")
    box.write(".coverage", "1")
    box.write("report.xml", "1")
    after = box.snapshot()
    assert box.baseline is not None
    found = find_by_products(before, after, box.baseline)
    assert set(found) == {"tests/__pycache__/t.pyc", ".coverage", "report.xml"}
    box.baseline = box.baseline._replace(by_products=found)
    own = OwnFiles(EMPTY)
    assert subject_tree(before, box.baseline, own) == subject_tree(after, box.baseline, own)
    assert box.tree() == box.tree(before)
    report = box.report()
    assert report.status == "inside"
    assert set(report.by_products) == set(found)
    box.write("tests/__pycache__/t.pyc", "2")
    box.write("tests/__pycache__/u.pyc", "2")
    assert box.report().status == "inside"
    box.write("report.xml", "changed by somebody else")
    assert [v.path for v in box.report().violations] == ["report.xml"]
    box.write("report.xml", "1")
    box.git("add", ".coverage")
    assert [v.path for v in box.report().violations] == [".coverage"]
    box.commit_staged()
    assert [v.path for v in box.report().violations] == [".coverage"]


def test_the_tree_moves_with_content_and_not_with_flows_files(box: GitBox) -> None:
    box.pin()
    trees = [box.tree()]

    def moved() -> bool:
        trees.append(box.tree())
        assert trees[-1] is not None
        return trees[-1] != trees[-2]

    box.write("src/app.py", "one\n")
    assert moved()
    assert not moved()
    box.git("add", "src/app.py")
    assert moved()
    box.commit_staged()
    assert moved()
    box.write(".flow/goals/g.goal.yaml", "x")
    assert not moved()
    box.commit("Flow's own")
    assert not moved()
    box.path("src/app.py").chmod(0o755)
    assert moved()
    box.write("new.py", "")
    assert moved()
    box.remove("new.py")
    box.path("src/app.py").chmod(0o644)
    assert moved()
    assert trees[-1] == trees[4]  # as after the commit


def test_a_head_or_index_that_moves_meanwhile_is_noticed(
    box: GitBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flow.adapters.worktree import walk as worktree_walk

    box.pin()
    real = worktree_walk.Walk.run

    def moving(walk: worktree_walk.Walk) -> None:
        real(walk)
        box.write("src/app.py", f"{time.monotonic_ns()}\n")
        box.commit("meanwhile")

    monkeypatch.setattr(worktree_walk.Walk, "run", moving)
    report = box.report()
    assert report.status == "inconclusive"
    assert any("HEAD moved" in problem for problem in report.problems)
    assert any("index was written" in problem for problem in report.problems)


def test_a_submodule_is_there_or_not(box: GitBox) -> None:
    submodule(box)
    baseline = box.pin()
    there = box.snapshot()
    box.git("submodule", "--quiet", "deinit", "-f", "--all")
    gone = box.snapshot()
    assert box.report(gone).status == "inside"
    assert (there.submodules, gone.submodules) == (("vendor/sub",), ())
    assert box.tree(there) != box.tree(gone)
    own = OwnFiles(EMPTY)
    assert moved_paths(there, gone, baseline, own) == ("vendor/sub",)
    box.git("submodule", "--quiet", "update", "--init")
    again = box.snapshot()
    assert box.tree(again) == box.tree(there)
    # a command of Flow's own did that
    found = find_by_products(gone, again, baseline)
    assert list(found) == ["vendor/sub"]
    baseline = baseline._replace(by_products=found)
    assert subject_tree(gone, baseline, own) == subject_tree(again, baseline, own)
    assert moved_paths(gone, again, baseline, own) == ()
    assert rewritten(gone, again, baseline, own) == ()


def test_git_puts_no_file_of_a_submodule_back_from_above(box: GitBox) -> None:
    submodule(box)
    box.pin()
    in_submodule(write("sub.py"))(box)
    box.write("README.md")
    mends = {violation.path: violation.mend for violation in box.report().violations}
    assert mends == {"README.md": "restore", "vendor/sub/sub.py": "undo"}


BEHIND: list[tuple[str, Step, str]] = [
    (
        "a folder was moved there",
        do(write("build/app.py"), remove("src/app.py"), folder_to_link("src", "build")),
        "build/app.py",
    ),
    ("a file", do(write("build/a"), link("src/a", "../build/a")), "build/a"),
    (
        "a committed link",
        do(
            write("build/a"),
            link("src/a", "../build/a"),
            run("add", "src/a"),
            run("commit", "-qm", "a link"),
        ),
        "build/a",
    ),
    (
        "a link there leads on",
        do(write("build/b/x"), link("build/a/b", "../b"), link("src/a", "../build/a")),
        "build/b/x",
    ),
    (
        "a folder that ignores itself",
        do(write("mine/.gitignore", "*\n"), write("mine/x"), link("src/m", "../mine")),
        "mine/x",
    ),
    (
        "in a submodule",
        in_submodule(write(".gitignore", "*.o\n"), write("a.o"), link("a", "a.o")),
        "vendor/sub/a.o",
    ),
]


@pytest.mark.parametrize(("then", "path"), [row[1:] for row in BEHIND], ids=[r[0] for r in BEHIND])
def test_what_new_links_lead_to_is_part_of_the_subject(box: GitBox, then: Step, path: str) -> None:
    if path.startswith("vendor/"):
        box.add_submodule()
        in_submodule(write(".gitignore", "*.o\n"), commit)(box)
    baseline = box.pin("HEAD")
    then(box)
    before = box.snapshot()
    assert path in before.link_targets
    box.write(path, "another\n")
    after = box.snapshot()
    assert box.tree(after) != box.tree(before)
    assert moved_paths(before, after, baseline, OwnFiles(EMPTY)) == (path,)
    box.write(path, "changed\n")
    box.write("build-log/x.log")
    assert box.tree() == box.tree(before)


def test_of_much_behind_a_link_size_and_time_tell(
    box: GitBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worktree_links, "MOST_BYTES", 0)
    box.pin()
    place = box.write("build/a")
    link("src/a", "../build/a")(box)
    before = box.snapshot()
    old = place.stat().st_mtime_ns
    os.utime(place, ns=(old, old + 1))
    assert box.tree() != box.tree(before)
    os.utime(place, ns=(old, old))
    assert box.tree() == box.tree(before)


def test_what_is_looked_at_anyway_is_not_behind_a_link(box: GitBox) -> None:
    box.pin()
    box.write("build/x")
    for name, target in (("d", "../docs"), ("t", ".."), ("r", "../README.md"), ("n", "../new")):
        link(f"src/{name}", target)(box)
    box.write("new/file")
    link("src/gone", "../nowhere")(box)
    assert box.snapshot().link_targets == {}


def test_what_commands_leave_behind_a_link_is_a_by_product(box: GitBox) -> None:
    baseline = box.pin()
    box.write("build/there")
    link("src/b", "../build")(box)
    before = box.snapshot()
    box.write("build/new")
    box.write("build/there", "made anew\n")
    box.write("build/__pycache__/x.pyc")
    after = box.snapshot()
    found = find_ignored_by_products(before, after, baseline)
    assert set(found) == {"build/new", "build/there", "build/__pycache__/x.pyc"}
    baseline = baseline._replace(by_products=found)
    own = OwnFiles(EMPTY)
    assert subject_tree(before, baseline, own) == subject_tree(after, baseline, own)
    box.write("build/new", "once more\n")
    assert moved_paths(after, box.snapshot(), baseline, own) == ()
    box.baseline = baseline._replace(by_products={"src/b": "any"})
    assert box.snapshot().link_targets == {}  # the link itself is one


def test_what_stands_where_the_base_has_a_file_is_no_output(box: GitBox) -> None:
    baseline = box.pin()
    box.write("build/app.py")
    remove("src/app.py")(box)
    link("src/app.py", "../build/app.py")(box)
    before = box.snapshot()
    box.write("build/app.py", "made anew\n")
    after = box.snapshot()
    assert find_ignored_by_products(before, after, baseline) == {}
    assert moved_paths(before, after, baseline, OwnFiles(EMPTY)) == ("build/app.py",)


def test_behind_a_link_things_are_odd(box: GitBox, monkeypatch: pytest.MonkeyPatch) -> None:
    box.pin()
    link("src/b", "../build")(box)
    box.path("build").mkdir()
    os.mkfifo(box.path("build/pipe"))
    link("build/out", "OUTER")(box)
    link("build/again", ".")(box)
    box.git("init", "-q", cwd=box.path("build"))
    assert set(box.snapshot().link_targets) == {"build/pipe", "build/out", "build/again"}
    box.write("build/secret")
    real = worktree_links.hashed

    def refuse(path: bytes, *more: Any) -> Any:
        if path.endswith(b"secret"):
            raise PermissionError(13, "Permission denied")
        return real(path, *more)

    monkeypatch.setattr(worktree_links, "hashed", refuse)
    report = box.report()
    assert report.status == "inconclusive"
    assert "build/secret, which a symlink leads to, cannot be read" in report.problems[0]


@pytest.mark.parametrize("name", ["src", "src/lib", "new/deep"])
def test_a_folder_that_was_renamed_and_renamed_back(box: GitBox, name: str) -> None:
    """Its content and its files' stamps are as they were."""
    baseline = box.pin()
    box.write("new/deep/a.py")
    box.write("made/report.xml")
    for folder in ("src", "src/lib", "new/deep", "made"):
        os.utime(box.path(folder), (1_700_000_000, 1_700_000_000))
    before = box.snapshot()
    own = OwnFiles(EMPTY)
    assert rewritten(before, box.snapshot(), baseline, own) == ()
    for folder in (name, "made"):
        box.path(folder).rename(box.outer / "moved")
        (box.outer / "moved").rename(box.path(folder))
    after = box.snapshot()
    assert box.tree(after) == box.tree(before)
    baseline = baseline._replace(by_products={"made/report.xml": "any"})
    assert rewritten(before, after, baseline, own) == (f"{name}/",)


# --- the cache ------------------------------------------------------------------------------------


def age(box: GitBox) -> None:
    """Make every file older than the racy limit, as far as its ctime goes."""
    time.sleep(2.1)


@pytest.mark.slow
def test_equal_everything_but_ctime_is_seen_through_a_warm_cache(box: GitBox) -> None:
    age(box)
    box.pin()
    box.snapshot()
    equal_size_and_time("README.md")(box)
    assert [v.path for v in box.report().violations] == ["README.md"]
    age(box)
    assert [v.path for v in box.report().violations] == ["README.md"]
    box.write("README.md", "hello\n")
    assert box.report().status == "inside"


@pytest.mark.slow
def test_a_damaged_cache_is_not_used(box: GitBox) -> None:
    age(box)
    box.pin()
    box.snapshot()
    (file,) = [f for f in box.state.iterdir() if f.name.startswith("worktree-")]
    good = file.read_bytes()
    box.write("README.md")
    for bad in (
        b"",
        b"junk",
        good[:-1],
        good[:50],
        good + b"x",
        good.replace(b"README", b"READMX"),
    ):
        file.write_bytes(bad)
        assert [v.path for v in box.report().violations] == ["README.md"]
    file.unlink()
    os.mkfifo(file)
    assert [v.path for v in box.report().violations] == ["README.md"]


def test_a_submodule_and_its_own_checkout_have_a_cache_each(box: GitBox) -> None:
    """Flow's folder is the checkout's own where it is worked in, and any folder seen from above."""
    submodule(box)
    inside = box.path("vendor/sub")
    (inside / ".flow/goals").mkdir(parents=True)
    (inside / ".flow/goals/g.goal.yaml").write_text("id: g\n")
    box.commit("a goal's file", cwd=inside)
    box.git("add", "vendor/sub")
    box.commit_staged()
    own = find_repo(str(inside))
    assert own is not None

    def look() -> dict[str, int]:
        """The inode of each cache file, which replacing it changes, after both looks."""
        base = repository.head_commit(own)
        collect(own, base or "", (), cache_dir=str(box.state))
        assert box.snapshot().problems == ()
        files = [f for f in box.state.iterdir() if f.name.startswith("worktree-")]
        return {file.name: file.stat().st_ino for file in files}

    box.pin()
    first = look()
    assert len(first) == 3
    assert look() == first


def all_kinds_of_changes(box: GitBox) -> None:
    write("src/app.py")(box)
    write("README.md", "staged\n")(box)
    run("add", "README.md")(box)
    write("docs/new.md", "committed\n")(box)
    box.git("add", "docs/new.md")
    box.commit_staged()
    write("vendor/sub/sub.py")(box)
    write("vendor/sub/new.py")(box)
    write("local.env")(box)  # ignored, and denied
    write("src/\udcff\U0001f600")(box)
    write("src/\ue000")(box)
    os.symlink("../src/lib", box.path("docs/link"))
    os.mkfifo(box.path("src/fifo"))
    box.remove("run.sh")
    other = box.other_repo("nested", {"n.py": "n\n"})
    os.rename(other, box.path("src/nested"))


def test_a_file_that_is_gone_while_it_is_looked_at_is_named(
    box: GitBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.pin()
    look = os.lstat

    def gone(path: Any, **how: Any) -> os.stat_result:
        if path == "app.py" and how:
            raise FileNotFoundError(2, os.strerror(2), path)
        return look(path, **how)

    monkeypatch.setattr(os, "lstat", gone)
    assert box.snapshot().problems == ("src/app.py cannot be read: No such file or directory",)


def test_many_changes_are_packed_and_the_same(box: GitBox, monkeypatch: pytest.MonkeyPatch) -> None:
    submodule(box)
    box.pin()
    all_kinds_of_changes(box)
    plain = box.snapshot()
    assert isinstance(plain.changes, tuple)
    assert len(plain.changes) > 10
    for most in range(len(plain.changes)):
        monkeypatch.setattr(worktree_change_set, "PLAIN", most)
        many = box.snapshot(cached=bool(most % 2))
        assert isinstance(many.changes, PackedChanges)
        assert many.changes == plain.changes
        assert dict(many.written.items()) == dict(plain.written.items())
        assert many._replace(changes=(), written={}, began=0) == plain._replace(
            changes=(), written={}, began=0
        )
        assert box.report(many) == box.report(plain)
        assert box.tree(many) == box.tree(plain)


def test_what_git_does_not_track_takes_little_memory(
    box: GitBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes for each file more, while it is looked at and of the snapshot."""
    monkeypatch.setattr(worktree_change_set, "PLAIN", 0)
    box.pin()
    for number in range(500):
        box.write(f"src/some/folder/file-{number}.txt", f"{number}\n")
    box.snapshot()
    few = memory_of(box.snapshot)
    for number in range(500, 2000):
        box.write(f"src/some/folder/file-{number}.txt", f"{number}\n")
    assert len(box.snapshot().changes) == 2000
    many = memory_of(box.snapshot)
    assert 0 < many.kept - few.kept < 150 * 1500
    assert 0 < many.peak - few.peak < 600 * 1500


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The subcommand of each question about trees and index that git is asked."""
    words_asked: list[str] = []
    git = worktree_trees.git

    def counted(repo: Any, *words: str, **more: Any) -> Any:
        words_asked.append(words[0])
        return git(repo, *words, **more)

    monkeypatch.setattr(worktree_trees, "git", counted)
    return words_asked


def test_git_is_asked_once_how_a_commit_differs_and_anew_about_any_other(
    box: GitBox, asked: list[str]
) -> None:
    def changed() -> tuple[list[tuple[str, bool, bool]], int]:
        """The changed paths, whether HEAD has each, and as the disk has it; questions to git."""
        asked.clear()
        changes = box.snapshot().changes
        questions = asked.count("diff-tree")
        shown = [(c.path, c.head is not None, c.head == c.worktree) for c in changes]
        assert changes == box.snapshot(cached=False).changes
        return shown, questions

    box.pin()
    assert changed() == ([], 0)
    commits = [box.git("rev-parse", "HEAD")]
    for step in (write("evil.py"), remove("README.md"), write("evil.py", "more\n")):
        step(box)
        commit(box)
        commits.append(box.git("rev-parse", "HEAD"))
    seen = {}
    for ref in commits[1:]:
        box.git("reset", "-q", "--hard", ref)
        seen[ref], questions = changed()
        assert questions == 1
        assert changed() == (seen[ref], 0)
    assert seen[commits[1]] == [("evil.py", True, True)]
    assert seen[commits[3]] == [("README.md", False, True), ("evil.py", True, True)]
    box.git("reset", "-q", "--hard", commits[2])  # not what was remembered last
    assert changed() == (seen[commits[2]], 1)
    box.git("reset", "-q", "--soft", commits[1])
    assert ("README.md", True, False) in changed()[0]
    box.git("reset", "-q", "--hard", commits[0])
    assert changed() == ([], 0)


@pytest.fixture
def questions(
    box: GitBox, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[], tuple[list[tuple[str, bool, bool]], int]]:
    """A look of a new process: the paths, whether base and index have each; questions to git."""

    def looked() -> tuple[list[tuple[str, bool, bool]], int]:
        worktree_scan._staged_entries_cache.clear()
        asked.clear()
        now = box.snapshot()
        count = asked.count("diff-index")
        assert now._replace(began=0) == box.snapshot(cached=False)._replace(began=0)
        return [(c.path, c.base is not None, c.index is not None) for c in now.changes], count

    monkeypatch.setattr(worktree_scan, "RACY_NS", -1_000_000_000)
    return looked


def test_git_is_asked_once_about_all_that_an_index_holds(
    box: GitBox, questions: Callable[[], tuple[list[tuple[str, bool, bool]], int]]
) -> None:
    box.pin()
    assert questions() == ([], 0), "it was asked when the base was pinned"
    index = box.top / ".git/index"
    clean = index.read_bytes()
    box.write("linked.py")  # the mark of a split index stands in its name
    box.git("add", "linked.py")
    box.git("rm", "-q", "--cached", "README.md")
    staged = [("README.md", True, False), ("linked.py", False, True)]
    assert [questions(), questions()] == [(staged, 1), (staged, 0)]
    box.remove("linked.py")
    assert questions() == (staged, 0)
    (box.top / "README.md").write_bytes(b"more\n")
    assert questions() == (staged, 0)
    status = index.stat()
    index.write_bytes(clean)
    os.utime(index, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert questions() == ([("README.md", True, True)], 1), "not what was remembered last"


def _unmerged(box: GitBox) -> None:
    blob = box.git("rev-parse", "HEAD:README.md")
    entries = "".join(f"100644 {blob} {stage}\tREADME.md\n" for stage in (1, 2, 3))
    box.git("update-index", "--index-info", stdin=f"0 {'0' * 40}\tREADME.md\n{entries}".encode())


def _split(box: GitBox) -> None:
    box.git("update-index", "--split-index")


def _just_written(box: GitBox) -> None:
    worktree_scan.RACY_NS = 1 << 62  # the fixture puts it back
    box.write("evil.py")
    box.git("add", ".")


@pytest.mark.parametrize("make", [_unmerged, _split, _just_written])
def test_of_some_indexes_git_is_asked_each_time(
    box: GitBox,
    questions: Callable[[], tuple[list[tuple[str, bool, bool]], int]],
    make: Callable[[GitBox], None],
) -> None:
    box.pin()
    make(box)
    assert [questions()[1], questions()[1]] == [1, 1]


def test_a_file_changed_just_now_is_not_remembered(
    box: GitBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stamps.RACY_NS >= 2_000_000_000  # a slow machine needs more for all of this
    monkeypatch.setattr(stamps, "RACY_NS", 1 << 62)
    pinned = box.pin()
    box.write("README.md")
    box.snapshot()
    (file,) = [f for f in box.state.iterdir() if f.name.startswith("worktree-")]
    assert pinned.base_commit is not None
    table = Table.load(str(file), pinned.base_commit)
    assert table is not None
    assert len(table) == len(FILES)
    assert not table.clean
    assert table.hashes == {}
    for text in ("one\n", "two\n", "six\n"):
        box.write("README.md", text)
        (change,) = box.snapshot().changes
        assert change.worktree is not None
        assert change.worktree.digest == box.git("hash-object", "README.md")


def test_nothing_is_written_into_the_checkout(box: GitBox) -> None:
    box.pin()
    box.write("evil.py")
    before = sorted(str(p) for p in box.top.rglob("*"))
    index = (box.top / ".git/index").read_bytes()
    box.snapshot()
    assert sorted(str(p) for p in box.top.rglob("*")) == before
    assert (box.top / ".git/index").read_bytes() == index


def test_without_a_usable_cache_folder_it_still_works(box: GitBox) -> None:
    box.state.write_text("a file, not a folder")
    box.pin()
    box.write("evil.py")
    assert [v.path for v in box.report().violations] == ["evil.py"]


def test_cache_names() -> None:
    assert cache_root("a/__pycache__/b.pyc") == "a/__pycache__"
    assert cache_root(".coverage") == ".coverage"
    assert cache_root("__pycache__") is None
    assert cache_root("src/app.py") is None


def _again(box: GitBox, name: str) -> None:
    """Write what is there once more."""
    path = box.path(name)
    path.write_bytes(path.read_bytes())


@pytest.mark.parametrize("cached", [True, False])
def test_what_was_written_to_and_is_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cached: bool
) -> None:
    """Whether the look before knew the file by its stamp, or had to read it."""
    if cached and flush(str(tmp_path)) is None:
        pytest.skip("no stamp tells here")
    monkeypatch.setattr(stamps, "RACY_NS", -1_000_000_000 if cached else 1 << 62)
    monkeypatch.setattr(worktree_contents, "UNFLUSHED", 0)
    box = GitBox(tmp_path)
    box.protected = ("local.env",)
    for name in ("dirty.txt", "local.env"):
        box.write(name)
    box.add_submodule()
    box.pin()
    box.write("src/app.py")
    box.write(".pytest_cache/v", "1")
    found = box.snapshot()
    baseline = box.baseline
    assert baseline is not None
    baseline = baseline._replace(by_products={".pytest_cache/v": "as it was"})
    before = box.snapshot()
    assert (b"src/lib/util.py" in before.written) is not cached
    assert box.tree(found) == box.tree(before)
    own = OwnFiles(EMPTY)
    assert rewritten(before, box.snapshot(), baseline, own) == ()
    touched = {"src/app.py", "src/lib/util.py", "dirty.txt", "local.env", "vendor/sub/sub.py"}
    for name in (*touched, ".pytest_cache/v", ".decisions/x.md", ".flow/x"):
        if name.startswith("."):
            box.write(name, "1")
        else:
            _again(box, name)
    box.write("src/new.py")  # a by-product, or a change: never as it was
    box.write("src/other.py")
    after = box.snapshot()
    assert rewritten(before, after, baseline, own) == tuple(sorted(touched))


def _write_over(box: GitBox, name: str, other: str) -> None:
    """Store the object ``other`` under the name ``name``."""
    objects = box.top / ".git/objects"
    place = objects / name[:2] / name[2:]
    place.chmod(0o644)
    place.write_bytes((objects / other[:2] / other[2:]).read_bytes())


@pytest.mark.parametrize("kind", ["tree", "commit"])
def test_an_object_of_the_base_that_is_not_what_its_name_says(box: GitBox, kind: str) -> None:
    """HAZARD I215: git believes the names of its objects; a base written over hides a change."""
    box.pin()
    box.allowed = ("docs/**",)
    box.write("src/app.py", "changed\n")
    commit = box.git("rev-parse", "HEAD")
    box.git("add", "src/app.py")
    if kind == "tree":
        _write_over(box, box.git("rev-parse", "HEAD:src"), box.git("write-tree", "--prefix=src/"))
        assert box.git("ls-tree", "-r", commit, "src/app.py").split()[2] == box.git(
            "hash-object", "src/app.py"
        )
    else:
        _write_over(box, commit, box.git("commit-tree", "-m", "base", box.git("write-tree")))
    report = box.report(box.snapshot(cached=False))
    assert report.status == "inconclusive", report
    assert "is not what its name says" in " ".join(report.problems)


def test_a_folder_of_a_commit_that_is_not_what_its_name_says(box: GitBox) -> None:
    """HAZARD I215: so it is where only the commit has the change, and a cache knows the base."""
    box.pin()
    box.allowed = ("docs/**",)
    old = box.git("rev-parse", "HEAD:src")
    box.write("src/app.py", "changed\n")
    box.commit("changed")
    _write_over(box, old, box.git("rev-parse", "HEAD:src"))
    report = box.report(box.snapshot())
    assert report.status == "inconclusive", report
    assert "is not what its name says" in " ".join(report.problems)


def test_a_folder_of_the_base_that_hides_what_is_only_staged(box: GitBox) -> None:
    """HAZARD I235: so it is where only the index has the change, and a cache knows the base."""
    box.pin()
    box.allowed = ("docs/**",)
    assert box.report().status == "inside"
    before = box.path("src/app.py").read_bytes()
    box.write("src/app.py", "changed\n")
    box.git("add", "src/app.py")
    box.write("src/app.py", before)
    _write_over(box, box.git("rev-parse", "HEAD:src"), box.git("write-tree", "--prefix=src/"))
    box.write("docs/new.md")
    box.git("add", "docs/new.md")  # an index that git was not asked about yet
    assert box.git("diff", "--cached", "--name-only").split() == ["docs/new.md"]
    report = box.report(box.snapshot())
    assert report.status == "inconclusive", report
    assert "is not what its name says" in " ".join(report.problems)


def test_a_folder_of_the_base_that_has_other_ignore_rules(box: GitBox) -> None:
    """HAZARD I235: so it is where only the commit tells what was ignored at the beginning."""
    base = box.git("rev-parse", "HEAD")
    box.pin()
    assert box.report().status == "inside"  # a cache knows the base
    old = box.git("rev-parse", "HEAD:src")
    box.write("src/.gitignore", "evil.py\n")
    box.git("add", "src/.gitignore")
    _write_over(box, old, box.git("write-tree", "--prefix=src/"))
    box.git("reset", "-q", "--", "src/.gitignore")
    restored = restore(
        box.repo, base, denied=box.denied, journal_dir=".decisions", cache_dir=str(box.state)
    )
    assert "src/.gitignore" not in restored.ignore_rules
