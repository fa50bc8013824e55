"""Finding repositories, reading references, moving the base."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from flow.adapters.baseline import pinned as baseline_pinned
from flow.adapters.baseline.checkout import make_checkout
from flow.adapters.baseline.restored import restore
from flow.adapters.git import repository
from flow.adapters.git.branch_files import branch_heads
from flow.adapters.git.find import Repo, find_repo
from flow.adapters.git.run import failed, git
from flow.adapters.worktree.guards import guards
from flow.core.boundary.changes import Baseline
from flow.errors import GitError, InputError, StateError
from tests.support.gitbox import GitBox


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitBox:
    made = GitBox(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return made


def found(path: Path) -> Repo:
    repo = find_repo(str(path))
    assert repo is not None
    return repo


# --- finding --------------------------------------------------------------------------------------


def test_found_from_any_folder_and_through_links(box: GitBox) -> None:
    top = os.path.realpath(box.top)
    expected = Repo(top, f"{top}/.git", f"{top}/.git")
    assert found(box.top) == expected
    assert found(box.path("src/lib")) == expected
    assert found(box.top / ".git/hooks") == expected
    alias = box.outer / "alias"
    alias.symlink_to(box.path("src"))
    assert found(alias) == expected


def test_linked_worktree_shares_the_common_folder(box: GitBox) -> None:
    place = box.outer / "linked"
    box.git("worktree", "add", "-q", str(place))
    repo = found(place)
    assert repo.top == os.path.realpath(place)
    assert repo.git_dir == os.path.realpath(box.top / ".git/worktrees/linked")
    assert repo.common_dir == os.path.realpath(box.top / ".git")
    assert repository.current_branch(repo) == "linked"
    assert repository.head_commit(repo) == box.git("rev-parse", "main")


def test_submodule_is_a_repository_of_its_own(box: GitBox) -> None:
    box.add_submodule()
    repo = found(box.path("vendor/sub/deep"))
    assert repo.top == os.path.realpath(box.path("vendor/sub"))
    assert repo.git_dir == os.path.realpath(box.top / ".git/modules/vendor/sub")


def test_a_bare_repository_in_a_subfolder_is_not_taken(box: GitBox) -> None:
    place = box.path("src/trap")
    place.mkdir()
    box.git("init", "-q", "--bare", cwd=place)
    box.git("config", "core.fsmonitor", "false", cwd=place)
    assert found(place).top == os.path.realpath(box.top)
    assert found(place / "refs").git_dir == os.path.realpath(box.top / ".git")


def test_bare_and_absent_repositories(tmp_path: Path, box: GitBox) -> None:
    bare = tmp_path / "bare.git"
    bare.mkdir()
    box.git("init", "-q", "--bare", cwd=bare)
    assert find_repo(str(bare)) is None
    (bare / ".flow").mkdir()
    repo = found(bare)
    assert repo.git_dir is None
    assert "bare" in (repo.problem or "")
    plain = tmp_path / "plain/deep/er"
    plain.mkdir(parents=True)
    assert find_repo(str(plain)) is None
    (tmp_path / "plain/.flow").mkdir()
    assert found(plain).top == os.path.realpath(tmp_path / "plain")
    assert repository.head_commit(found(plain)) is None
    assert repository.current_branch(found(plain)) is None


def test_a_git_file_that_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: ../nowhere\n")
    repo = found(tmp_path)
    assert repo.git_dir is None
    with pytest.raises(GitError, match="leads to no git directory"):
        git(repo, "status")


def test_an_empty_git_folder_is_none(box: GitBox) -> None:
    (box.path("src/.git")).mkdir()
    assert found(box.path("src")).top == os.path.realpath(box.top)


# --- calling --------------------------------------------------------------------------------------


def test_a_failure_and_a_message_are_errors(box: GitBox) -> None:
    with pytest.raises(GitError, match="failed"):
        git(found(box.top), "rev-parse", "--verify", "nothing-here")
    with pytest.raises(GitError):
        git(found(box.top), "no-such-command")


def test_messages_cannot_drive_a_terminal(box: GitBox) -> None:
    with pytest.raises(GitError) as caught:
        git(found(box.top), "ls-tree", "\x1b[2Jevil")
    assert "\x1b" not in str(caught.value)


def test_a_git_in_the_checkout_is_not_started(box: GitBox, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = box.write("bin/git", "#!/bin/sh\ntouch ran\n")
    fake.chmod(0o755)
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", f"{box.path('bin')}:.:bin:{path}")
    assert git(found(box.top), "rev-parse", "HEAD").strip()
    assert not box.path("ran").exists()


def test_git_speaks_one_language_whatever_the_locale(
    box: GitBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HAZARD H96. Messages are compared with nothing, but what git prints has one form."""
    (box.outer / "tools").mkdir()
    fake = box.outer / "tools/git"
    fake.write_text('#!/bin/sh\necho "$LC_ALL,$LC_MESSAGES,$LANG,$LANGUAGE,$TZ"\n')
    fake.chmod(0o755)
    repo = found(box.top)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"):
        monkeypatch.setenv(name, "de_DE.UTF-8")
    monkeypatch.setenv("TZ", "Pacific/Apia")
    assert git(repo, "status") == b"C.UTF-8,,,,\n"


def test_no_git_at_all(box: GitBox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(box.outer))
    with pytest.raises(GitError, match="git") as caught:
        git(found(box.top), "rev-parse", "HEAD")
    assert "PATH" in str(caught.value)


# --- references -----------------------------------------------------------------------------------


def test_references_without_a_git_process(box: GitBox, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = box.git("rev-parse", "HEAD")
    repo = found(box.top)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert (repository.head_commit(repo), repository.current_branch(repo)) == (commit, "work")


@pytest.mark.parametrize("branch", ["work", "feature/deep/er", "ümlaut"])
def test_packed_and_loose(box: GitBox, branch: str) -> None:
    box.git("switch", "-q", "-C", branch)
    commit = box.git("rev-parse", "HEAD")
    repo = found(box.top)
    for _ in range(2):
        assert (repository.head_commit(repo), repository.current_branch(repo)) == (commit, branch)
        box.git("pack-refs", "--all")
    newer = box.commit() if box.write("src/x") else ""
    assert repository.head_commit(repo) == newer


def test_more_packed_references_than_are_read_are_left_to_git(
    box: GitBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of them was taken for all: HEAD was unborn, a base the empty tree (HAZARD I324)."""
    commit = box.git("rev-parse", "HEAD")
    box.git("branch", "a-first")
    box.git("replace", commit, box.git("commit-tree", "HEAD^{tree}", "-m", "other"))
    box.git("pack-refs", "--all")
    monkeypatch.setattr(repository, "PACKED_LIMIT", 100)
    repo = found(box.top)
    assert repository.checked_out(repo) == (commit, "work")
    assert repository.read_ref(repo, "refs/heads/none") is None
    assert sorted(branch_heads(repo)) == ["a-first", "main", "work"]
    assert "refs/replace" in guards(repo)


def test_detached_and_unborn(box: GitBox) -> None:
    commit = box.git("rev-parse", "HEAD")
    box.git("checkout", "-q", "--detach")
    assert (repository.head_commit(found(box.top)), repository.current_branch(found(box.top))) == (
        commit,
        None,
    )
    box.git("checkout", "-q", "--orphan", "young")
    assert (repository.head_commit(found(box.top)), repository.current_branch(found(box.top))) == (
        None,
        "young",
    )


def test_head_as_a_symlink_and_symbolic_branches(box: GitBox) -> None:
    commit = box.git("rev-parse", "HEAD")
    head = box.top / ".git/HEAD"
    head.unlink()
    head.symlink_to("refs/heads/work")
    assert (repository.head_commit(found(box.top)), repository.current_branch(found(box.top))) == (
        commit,
        "work",
    )
    head.unlink()
    head.write_text("ref: refs/heads/alias\n")
    (box.top / ".git/refs/heads/alias").write_text("ref: refs/heads/work\n")
    assert repository.head_commit(found(box.top)) == commit


def test_a_reference_of_one_working_tree_is_read_where_it_is(box: GitBox) -> None:
    """Another file of that name stands where the references of all working trees are."""
    place = box.outer / "linked"
    box.git("worktree", "add", "-q", "-b", "linked", str(place))
    box.write("README.md", "newer\n")
    newer = box.commit("newer")
    box.git("update-ref", "refs/worktree/mine", newer, cwd=place)
    other = box.path(".git/refs/worktree/mine")
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_text(box.git("rev-parse", "main") + "\n")
    box.git("symbolic-ref", "refs/heads/linked", "refs/worktree/mine", cwd=place)
    assert repository.head_commit(found(place)) == newer == box.git("rev-parse", "HEAD", cwd=place)


def test_a_branch_as_a_symlink_is_what_git_takes_it_for(box: GitBox) -> None:
    box.write("README.md", "newer\n")
    newer = box.commit("newer")
    box.git("branch", "-q", "newer")
    box.git("update-ref", "refs/heads/refs/heads/newer", "main")
    branch = box.path(".git/refs/heads/work")
    branch.unlink()
    branch.symlink_to("refs/heads/newer")
    assert repository.head_commit(found(box.top)) == newer == box.git("rev-parse", "HEAD")


def test_a_head_that_points_out_of_the_repository_reads_nothing(box: GitBox) -> None:
    (box.outer / "x").write_text("1" * 40 + "\n")
    (box.top / ".git/HEAD").write_text("ref: refs/../../../outer/x\n")
    try:
        assert repository.head_commit(found(box.top)) is None
    except GitError:
        pass  # git says that HEAD is broken


# --- choosing the base ----------------------------------------------------------------------------


def remote_with(box: GitBox, branch: str) -> None:
    place = box.outer / "remote"
    box.git("clone", "-q", "--bare", str(box.top), str(place))
    box.git("symbolic-ref", "HEAD", f"refs/heads/{branch}", cwd=place)
    box.git("remote", "add", "origin", str(place))
    box.git("fetch", "-q", "origin")
    box.git("remote", "set-head", "origin", "-a")


def test_the_default_base_is_where_the_branch_left_main(box: GitBox) -> None:
    start = box.git("rev-parse", "main")
    box.write("src/a.py")
    box.commit()
    assert baseline_pinned.base_commit(found(box.top), None) == start
    box.git("switch", "-q", "main")
    box.write("src/m.py")
    box.commit()
    box.git("switch", "-q", "work")
    assert baseline_pinned.base_commit(found(box.top), None) == start


def test_the_remotes_default_branch_comes_first(box: GitBox) -> None:
    box.git("switch", "-q", "-c", "trunk", "main")
    box.write("t.py")
    trunk = box.commit()
    remote_with(box, "trunk")
    box.git("switch", "-q", "-c", "topic")
    box.write("src/x.py")
    box.commit()
    assert baseline_pinned.base_commit(found(box.top), None) == trunk
    box.git("pack-refs", "--all")
    assert baseline_pinned.base_commit(found(box.top), None) == trunk


def test_master_then_head(box: GitBox) -> None:
    start = box.git("rev-parse", "main")
    box.git("branch", "-m", "main", "master")
    box.write("src/x.py")
    now = box.commit()
    assert baseline_pinned.base_commit(found(box.top), None) == start
    box.git("branch", "-q", "-D", "master")
    assert baseline_pinned.base_commit(found(box.top), None) == now


@pytest.mark.parametrize("ref", ["main", "HEAD~1", "refs/heads/main", "start"])
def test_a_named_base(box: GitBox, ref: str) -> None:
    box.git("tag", "-a", "start", "-m", "x", "main")
    box.write("src/x.py")
    box.commit()
    assert baseline_pinned.base_commit(found(box.top), ref) == box.git("rev-parse", "main")


@pytest.mark.parametrize("ref", ["nothing", "--all", "-h", "", "main\nx", "HEAD:README.md", "a b"])
def test_a_base_that_is_none(box: GitBox, ref: str) -> None:
    with pytest.raises((InputError, GitError)) as caught:
        baseline_pinned.base_commit(found(box.top), ref)
    assert "scope.base" in str(caught.value) or isinstance(caught.value, GitError)


def test_unrelated_histories(box: GitBox) -> None:
    box.git("checkout", "-q", "--orphan", "other")
    box.commit("other")
    with pytest.raises(GitError, match="no common commit") as caught:
        baseline_pinned.base_commit(found(box.top), "main")
    assert "--base" in str(caught.value)


def test_pinning_in_the_middle_of_a_merge_is_refused(box: GitBox) -> None:
    box.git("update-ref", "MERGE_HEAD", "HEAD")
    with pytest.raises(GitError, match="merge"):
        box.pin()


def test_pin_records_what_is_there(box: GitBox) -> None:
    box.write("README.md")
    box.write("new.md")
    box.write("local.env")
    box.write("x.log")
    (box.top / ".git/info/exclude").write_text("mine\n")
    (box.home / ".config/git").mkdir(parents=True)
    (box.home / ".config/git/ignore").write_text("theirs\n")
    pinned = box.pin()
    assert set(pinned.dirty) == {"README.md", "new.md"}
    assert set(pinned.denied_ignored) == {"local.env"}
    assert pinned.ignore_rules == {
        ".gitignore": "*.log\nbuild/\nlocal.env\n",
        ".git/info/exclude": "mine\n",
        "core.excludesFile": "theirs\n",
    }
    assert pinned.denied == box.denied
    assert pinned.journal_dir == ".decisions"
    box.write("mine")
    box.write("theirs")
    assert box.report().status == "inside"
    (box.home / ".config/git/ignore").write_text("")
    assert box.report().status == "inside"


def test_commits_outside_are_listed_with_their_commits(box: GitBox) -> None:
    box.write("docs/guide.md", "one\n")
    box.commit("first words")
    box.write("docs/guide.md", "two\n")
    box.write("src/ok.py")
    box.commit("second words")
    box.write("gone.py")
    box.commit("added")
    box.git("rm", "-q", "gone.py")
    box.git("commit", "-qm", "taken back")
    box.write(".decisions/issue-1.md")
    box.commit("journal")
    pinned = box.pin()
    repo = found(box.top)
    allowed, denied = ("src/**",), ()
    (outside,) = baseline_pinned.commits_outside(repo, pinned, allowed=allowed, denied=denied)
    assert outside.path == "docs/guide.md"
    assert outside.why == "not in allowed_paths"
    assert [text.split(" ", 1)[1] for text in outside.commits] == ["second words", "first words"]
    assert "GIT_PYTHON_REFRESH" not in os.environ


def test_history_is_asked_with_a_clean_environment_and_the_own_one_is_left_alone(
    box: GitBox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flow runs inside other programs: their environment is theirs, also for a moment."""
    box.write("docs/guide.md", "one\n")
    box.commit("first words")
    pinned, repo = box.pin(), found(box.top)
    other = tmp_path / "other.git"
    subprocess.run(["git", "init", "-q", "--bare", str(other)], check=True)
    for name in ("GIT_DIR", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"):
        monkeypatch.setenv(name, str(other))

    def touched(*_: object) -> None:
        raise AssertionError("the process's environment was changed")

    with monkeypatch.context() as watched:
        for name in ("__setitem__", "__delitem__", "clear", "update", "pop"):
            watched.setattr(type(os.environ), name, touched)
        (outside,) = baseline_pinned.commits_outside(repo, pinned, allowed=("src/**",), denied=())
    assert outside.path == "docs/guide.md"


def test_history_of_odd_names_merges_and_unborn_bases(box: GitBox) -> None:
    box.git("switch", "-q", "-c", "side", "main")
    box.write(b"caf\xe9\nx.py")
    box.commit("odd")
    box.git("switch", "-q", "work")
    box.git("merge", "-q", "--no-ff", "-m", "merged", "side")
    pinned = box.pin()
    (outside,) = baseline_pinned.commits_outside(
        found(box.top), pinned, allowed=("src/**",), denied=()
    )
    assert outside.path == "caf\udce9\nx.py"
    assert outside.commits[0].endswith("merged")
    empty = pinned._replace(base_commit=repository.EMPTY_TREES[40])
    paths = baseline_pinned.commits_outside(found(box.top), empty, allowed=("src/**",), denied=())
    assert {"README.md", "run.sh"} <= {outside.path for outside in paths}
    assert all(outside.commits for outside in paths)


# --- another base, and moving it ------------------------------------------------------------------


def test_another_base_contains_the_pinned_one_or_not(box: GitBox) -> None:
    first = box.git("rev-parse", "HEAD")
    box.write("src/a.py")
    second = box.commit("second")
    box.write("src/b.py")
    third = box.commit("third")
    repo = found(box.top)
    pinned = baseline_pinned.pin_baseline(repo, base=second, denied=(), journal_dir=".decisions")
    for ref, commit, holds in ((first, first, True), (second, second, True), (third, third, False)):
        wider, contains = baseline_pinned.widen_baseline(repo, pinned, ref)
        assert (wider.base_commit, contains) == (commit, holds)
    assert baseline_pinned.contains(repo, repository.EMPTY_TREES[40], second)
    assert not baseline_pinned.contains(repo, second, repository.EMPTY_TREES[40])
    assert not baseline_pinned.contains(repo, second, None)


def merged_main(box: GitBox) -> Baseline:
    """`main` moved and was merged into `work`, which has a change and a dirty file of its own."""
    box.write("mine.md", "dirty\n")
    old = box.pin()
    box.git("stash", "-q", "-u")
    box.write("src/mine.py")
    box.commit("mine")
    box.git("switch", "-q", "main")
    box.write("docs/theirs.md")
    box.write("README.md", "theirs\n")
    box.write(".gitignore", "*.log\nbuild/\nlocal.env\n*.tmp\n")
    box.commit("theirs")
    box.git("switch", "-q", "work")
    box.git("merge", "-q", "--no-edit", "main")
    box.git("stash", "pop", "-q")
    return old


def test_rebase_moves_the_pin_past_the_merge(box: GitBox) -> None:
    old = merged_main(box)
    outside = {v.path for v in box.report().violations}
    assert outside == {"docs/theirs.md", "README.md", ".gitignore"}
    new, only = baseline_pinned.rebase_baseline(found(box.top), old, None, denied=box.denied)
    assert new.base_commit == box.git("rev-parse", "main")
    assert only == [".gitignore", "README.md", "docs/theirs.md"]
    assert new.dirty == old.dirty
    assert new.ignore_rules[".gitignore"].endswith("*.tmp\n")
    box.baseline = new
    box.write("x.tmp")
    assert box.report().status == "inside"
    box.write("README.md", "after\n")
    assert {v.path for v in box.report().violations} == {"README.md"}


def test_rebase_does_not_cover_what_both_sides_changed(box: GitBox) -> None:
    old = merged_main(box)
    box.write("README.md", "evil\n")
    new, only = baseline_pinned.rebase_baseline(found(box.top), old, None, denied=box.denied)
    assert "README.md" not in only
    box.baseline = new
    assert {v.path for v in box.report().violations} == {"README.md"}


def test_rebase_knows_line_ends_of_a_checkout(box: GitBox) -> None:
    old = merged_main(box)
    box.write("docs/theirs.md", b"changed\r\n")
    new, only = baseline_pinned.rebase_baseline(found(box.top), old, None, denied=box.denied)
    assert "docs/theirs.md" in only
    box.baseline = new
    assert box.report().status == "inside"


def test_rebase_with_nothing_to_move_to(box: GitBox) -> None:
    old = box.pin()
    with pytest.raises(StateError, match="has not moved"):
        baseline_pinned.rebase_baseline(found(box.top), old, None, denied=())
    empty = old._replace(base_commit=None)
    with pytest.raises(StateError, match="no pinned commit"):
        baseline_pinned.rebase_baseline(found(box.top), empty, None, denied=())


def test_rebase_refuses_a_base_that_does_not_follow(box: GitBox) -> None:
    first = box.git("rev-parse", "HEAD")
    box.write("src/a.py")
    second = box.commit()
    old = baseline_pinned.pin_baseline(
        found(box.top), base=second, denied=(), journal_dir=".decisions"
    )
    with pytest.raises(GitError, match="does not follow"):
        baseline_pinned.rebase_baseline(found(box.top), old, first, denied=())


def test_what_a_commit_alone_tells(box: GitBox) -> None:
    box.write("local.env")
    commit = box.git("rev-parse", "main")
    (box.top / ".git/info/exclude").write_text("evil.py\n")
    pinned = restore(found(box.top), commit, denied=box.denied, journal_dir=".decisions")
    assert pinned.ignore_rules == {".gitignore": "*.log\nbuild/\nlocal.env\n"}
    assert set(pinned.denied_ignored) == {"local.env"}
    box.baseline = pinned
    assert box.report().status == "inside"
    assert box.report().guards_changed == ()
    box.write("evil.py")
    assert {v.path for v in box.report().violations} == {"evil.py"}


@pytest.mark.parametrize("size", [3, (64 << 20) + 1])
def test_a_file_that_a_pointer_of_git_lfs_names_is_as_committed(box: GitBox, size: int) -> None:
    """In a fresh clone, of any size: a large one counted as changed (HAZARD I325)."""
    content = bytes(size)
    digest = hashlib.sha256(content).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {size}\n"
    box.write("data.bin", pointer)
    commit = box.commit()
    (box.top / "data.bin").write_bytes(content)
    box.baseline = restore(found(box.top), commit, denied=box.denied, journal_dir=".decisions")
    assert box.report().status == "inside"
    (box.top / "data.bin").write_bytes(content[:-1] + b"x")
    assert {v.path for v in box.report().violations} == {"data.bin"}


def test_a_file_is_compared_whole_or_not_at_all(
    box: GitBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its first bytes alone it was as committed, with more after them (HAZARD I326)."""
    box.write("big.txt", "as it was\n")
    commit = box.commit()
    monkeypatch.setattr(baseline_pinned, "_COMPARED", len("as it was\n"))
    box.write("big.txt", "as it was\nand more\n")
    box.baseline = restore(found(box.top), commit, denied=box.denied, journal_dir=".decisions")
    assert {v.path for v in box.report().violations} == {"big.txt"}


@pytest.mark.parametrize(
    ("message", "remedy"),
    [
        ("error: unable to create file a: No space left on device", "free some disk space"),
        ("fatal: sha1 file 'index.lock' write error. Out of diskspace", "free some disk space"),
        ("fatal: bad object HEAD", "git fsck"),
    ],
)
def test_git_on_a_full_disk_says_what_to_do(message: str, remedy: str) -> None:
    error = failed("checkout-index", 128, message.encode())
    assert message in error.fault.message
    assert remedy in (error.fault.remedy or "")


@pytest.mark.parametrize(("objects", "base"), [("tree:0", "HEAD~1"), ("blob:none", "HEAD")])
def test_a_partial_clone_without_an_object_says_how_to_fetch_it(
    box: GitBox, objects: str, base: str
) -> None:
    """Flow lets git fetch nothing; the line that it names brings what was missing."""
    box.git("config", "uploadpack.allowFilter", "true")
    box.write("README.md", "newer\n")
    box.commit("newer")
    place = box.outer / "partial"
    box.git("clone", "-q", f"--filter={objects}", "--no-checkout", f"file://{box.top}", str(place))
    commit = box.git("rev-parse", base)
    target = str(box.outer / "target")
    with pytest.raises(GitError) as refused:
        make_checkout(found(place), commit, target, seconds_left=lambda: 60.0)
    line = (refused.value.fault.remedy or "").partition(": ")[2].partition(";")[0]
    box.git(*line.split()[1:], cwd=place)
    make_checkout(found(place), commit, target + "2", seconds_left=lambda: 60.0)
