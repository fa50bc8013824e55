"""Which of git's settings count as guards; compared with what git itself reads."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.adapters.git import settings
from flow.adapters.git.settings import digests, sections
from flow.adapters.worktree.guards import guards
from flow.core.boundary.guards import differences
from flow.errors import GitError
from tests.support.gitbox import GitBox

pytestmark = pytest.mark.slow

STEERING = {
    "core.fsmonitor": "evil",
    "core.attributesFile": "evil",
    "core.worktree": "/elsewhere",
    "core.fileMode": "false",
    "core.sshCommand": "evil",
    "alias.st": "!evil",
    "diff.external": "evil",
    "diff.x.textconv": "evil",
    "filter.x.clean": "evil",
    "merge.x.driver": "evil",
    "status.showUntrackedFiles": "no",
    "diff.ignoreSubmodules": "all",
    "submodule.a.ignore": "all",
    "submodule.a.update": "!evil",
    "remote.origin.uploadpack": "evil",
    "remote.origin.vcs": "evil",
    "include.path": "other",
    "includeIf.onbranch:x.path": "other",
    "init.templateDir": "evil",
    "format.pretty": "oneline",
    "unheard.of": "1",
}
EVERYDAY = {
    "branch.work.merge": "refs/heads/work",
    "branch.feat#1.remote": "origin",
    'branch.a "quoted" one.vscode-merge-base': "origin/main",
    "remote.origin.url": "https://example.invalid/a.git",
    "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
    "remote.origin.gh-resolved": "base",
    "submodule.a.url": "https://example.invalid/b.git",
    "url.x.insteadOf": "https://example.invalid",
    "url.x.pushInsteadOf": "https://example.invalid",
    "http.https://example.invalid.extraHeader": "x: y",
    "pull.rebase": "true",
    "push.default": "simple",
    "commit.gpgSign": "true",
    "submodule.a.active": "true",
    "user.name": "Test",
    "user.email": "test@example.invalid",
    "color.ui": "never",
    "init.defaultBranch": "main",
    "safe.directory": "/elsewhere",
    "lfs.https://example.invalid/a.git/info/lfs.access": "basic",
    "lfs.repositoryformatversion": "0",
}


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitBox:
    made = GitBox(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return made


@pytest.mark.parametrize("where", ["--local", "--global"])
@pytest.mark.parametrize("key", STEERING)
def test_a_setting_that_steers_git_is_named(box: GitBox, key: str, where: str) -> None:
    before = digests(box.repo)
    box.git("config", where, key, STEERING[key])
    names = differences(before, digests(box.repo))
    assert names, key
    section = key.partition(".")[0].lower()
    place = "config" if where == "--local" else "~/.gitconfig"
    assert any(name.startswith(f"{place} [{section}") for name in names), names


@pytest.mark.parametrize("where", ["--local", "--global"])
def test_everyday_settings_are_no_guards(box: GitBox, where: str) -> None:
    before = digests(box.repo)
    for key, value in EVERYDAY.items():
        box.git("config", where, key, value)
        assert digests(box.repo) == before, key
    box.git("config", where, "include.path", "nothing")
    included = digests(box.repo)
    assert included != before
    for key, value in EVERYDAY.items():
        box.git("config", where, key, value + "2")
        assert digests(box.repo) == included, key


@pytest.mark.parametrize(
    "text",
    [
        '[branch "x"] [core]\n\tfsmonitor = evil\n',
        '[branch "x"][core]\n\tfsmonitor = evil\n',
        "[core]\n\teditor = a\\\n[branch]\n\tfsmonitor = evil\n",
        "[core] fsmonitor = evil\n",
        "\ufeff[CORE]\r\n\tFsMonitor = evil\r\n",
        "[core.branch]\n\tfsmonitor = evil\n",
        '[remote "origin"]\n\turl = a\n\tuploadpack = evil # url\n',
        "[branch]\n[core]\nfsmonitor\n",
        "fsmonitor = evil\n",
    ],
)
def test_no_way_of_writing_hides_a_setting(text: str) -> None:
    assert any(
        b"evil" in b"".join(lines) or b"fsmonitor" in lines
        for lines in sections(text.encode()).values()
    )


def test_comments_and_order_of_everyday_sections_do_not_count() -> None:
    text = b'# a\n[core]\n\tbare = false\n[branch "x"]\n\tremote = o\n'
    assert sections(text) == {"core": [b"bare = false"]} == sections(b"[core]\n  bare = false\n;x")


def test_what_a_file_includes_counts(box: GitBox) -> None:
    box.git("config", "include.path", "more")
    before = digests(box.repo)
    more = box.top / ".git/more"
    more.write_text('[branch "x"]\n\tremote = o\n')
    assert digests(box.repo) == before
    more.write_text("[core]\n\tfsmonitor = evil\n")
    assert differences(before, digests(box.repo)) == ("config (with what it includes)",)


def test_settings_of_one_worktree_count(box: GitBox) -> None:
    box.git("config", "extensions.worktreeConfig", "true")
    before = digests(box.repo)
    box.git("config", "--worktree", "core.fsmonitor", "evil")
    assert differences(before, digests(box.repo)) == ("config.worktree [core]",)


def test_a_long_name_is_cut_and_still_counts(box: GitBox) -> None:
    before = digests(box.repo)
    for end in "ab":
        box.git("config", f"diff.{'x' * 200}{end}.textconv", "evil")
        now = digests(box.repo)
        (name,) = differences(before, now)
        assert len(name) < 120
        before = {**before, name: now[name]}


def test_what_lies_around_the_settings_counts(box: GitBox) -> None:
    def named(before: dict[str, str]) -> tuple[str, ...]:
        return differences(before, guards(box.repo))

    def put(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    git_dir, users = box.top / ".git", box.home / ".config/git"
    for path, name in (
        (git_dir / "shallow", "shallow"),
        (git_dir / "objects/info/alternates", "objects/info/alternates"),
        (users / "ignore", "~/.config/git/ignore"),
        (users / "attributes", "~/.config/git/attributes"),
        (git_dir / "hooks/lib/common.sh", "hooks, beside: lib/common.sh"),
    ):
        before = guards(box.repo)
        put(path, "one\n")
        assert named(before) == (name,)
        before = guards(box.repo)
        put(path, "two\n")
        assert named(before) == (name,)
        path.unlink()
    before = guards(box.repo)
    (git_dir / "hooks").rename(box.outer / "hooks")
    (git_dir / "hooks").symlink_to(box.outer / "hooks")
    assert named(before) == ("hooks, a link",)


def test_too_many_files_beside_hooks_are_nothing_to_be_sure_of(
    box: GitBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flow.adapters.worktree.guards._MOST", 1)
    folder = box.top / ".git/hooks/lib"
    folder.mkdir(parents=True)
    for name in "ab":
        (folder / name).write_text("x")
    with pytest.raises(GitError, match="more than 1 files"):
        guards(box.repo)


@pytest.mark.parametrize("name", ["hooks/pre-commit", "hooks/lib/tool", "info/attributes"])
def test_a_guard_that_is_not_read_whole_is_nothing_to_be_sure_of(box: GitBox, name: str) -> None:
    """Its digest was taken of its first 64 MiB, and the rest could change (HAZARD I327)."""
    path = box.top / ".git" / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    os.truncate(path, 64 << 20)
    assert any(path.name in guard for guard in guards(box.repo))
    os.truncate(path, (64 << 20) + 1)
    with pytest.raises(GitError, match="more than 64 MiB"):
        guards(box.repo)


@given(
    st.text(alphabet='[]"\\ \tacore-.=#;x', max_size=14).map(str.encode),
    st.sampled_from([b"%b", b"[%b]", b'[a "%b"]', b"[a %b]", b"[%b] # x", b'[b "%b"']),
)
def test_a_line_begins_a_section_as_the_pattern_says(inner: bytes, form: bytes) -> None:
    line = (form % inner).strip()
    match = re.fullmatch(settings._HEADER, line)
    assert settings.header_of(line) == (match.groups() if match is not None else None)
