"""Which commit a name stands for: never one that only bears a branch's name by accident."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from flow.adapters.baseline import pinned
from flow.adapters.git import names as git_names
from flow.adapters.git.find import Repo, find_repo
from flow.errors import InputError
from tests.support.effort import sizes
from tests.support.gitbox import GitBox

pytestmark = pytest.mark.slow

REFERENCES = ("refs/heads/x", "refs/remotes/x", "refs/remotes/x/HEAD", "refs/tags/x", "refs/x")
"""All that ``x`` may be, the first that is meant first."""


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitBox:
    made = GitBox(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    return made


def found(box: GitBox) -> Repo:
    repo = find_repo(str(box.top))
    assert repo is not None
    return repo


def commits(box: GitBox) -> tuple[str, str]:
    first = box.git("rev-parse", "HEAD")
    box.write("src/a.py", "a\n")
    return first, box.commit("second")


def put(box: GitBox, ref: str, commit: str) -> None:
    file = box.top / ".git" / ref
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(commit + "\n")


@pytest.mark.parametrize("ref", REFERENCES)
def test_each_kind_is_known_by_its_name(box: GitBox, ref: str) -> None:
    first, _ = commits(box)
    put(box, ref, first)
    assert git_names.resolve(found(box), "x", key="--base") == first
    assert git_names.resolve(found(box), ref, key="--base") == first


@pytest.mark.parametrize("ref", REFERENCES)
def test_two_that_differ_are_both_named(box: GitBox, ref: str) -> None:
    first, second = commits(box)
    put(box, ref, first)
    at = REFERENCES.index(ref)
    others = (*REFERENCES[at + 1 :], *REFERENCES[:at])  # in the short form each pair in one order
    for other in sizes(short=others[: len(REFERENCES) // 2], long=others):
        if {ref, other} == {"refs/remotes/x", "refs/remotes/x/HEAD"}:
            continue  # a file and a folder of one name
        put(box, other, first)
        assert git_names.resolve(found(box), "x", key="--base") == first
        put(box, other, second)
        with pytest.raises(InputError) as caught:
            git_names.resolve(found(box), "x", key="--base")
        assert ref in str(caught.value)
        assert other in str(caught.value)
        assert caught.value.exit_code == 2
        assert git_names.resolve(found(box), other, key="--base") == second
        for name in ("x~0", "x^{commit}", "x@{0}") if other == REFERENCES[-1] else ("x~0",):
            with pytest.raises(InputError):
                git_names.resolve(found(box), name, key="--base")
        if "remotes" in other:
            shutil.rmtree(box.top / ".git/refs/remotes")
        else:
            box.remove(f".git/{other}")


@pytest.mark.parametrize("digits", [7, 12, 40])
def test_a_branch_that_is_called_like_another_commit(box: GitBox, digits: int) -> None:
    first, second = commits(box)
    assert git_names.resolve(found(box), first[:digits], key="k") == first
    put(box, f"refs/heads/{first[:digits]}", second)
    with pytest.raises(InputError, match=first):
        git_names.resolve(found(box), first[:digits], key="k")
    put(box, f"refs/heads/{first[:digits]}", first)
    assert git_names.resolve(found(box), first[:digits], key="k") == first
    assert git_names.by_id(found(box), first[:digits]) == first


def test_a_file_in_the_git_folder_is_no_branch(box: GitBox) -> None:
    first, second = commits(box)
    put(box, "refs/heads/x", first)
    put(box, "x", second)
    put(box, "y", second)
    put(box, first[:9], second)
    assert git_names.resolve(found(box), "x", key="k") == first
    assert git_names.resolve(found(box), "y", key="k") is None
    assert git_names.resolve(found(box), first[:9], key="k") == first


def test_git_notation_goes_on_from_what_the_name_stands_for(box: GitBox) -> None:
    first, second = commits(box)
    box.git("branch", "-q", "--set-upstream-to=main")
    box.git("tag", "-a", "-m", "n", "v1", second)
    box.git("tag", "tree", "HEAD^{tree}")
    expected = {
        "HEAD": second, "@": second, "HEAD~1": first, "work": second, "work^": first,
        "heads/work": second, "refs/heads/work": second, "work@{u}": first, "@{u}": first,
        "work@{UPSTREAM}": first, "work@{0}": second, "v1": second, "v1~1": first, "v1^{}": second,
        ":/second": None, f"v1-0-g{first[:8]}": first, first[:10].upper(): first,
        "tree": None, "work:src": None, "work~9": None, "nowhere": None, "nowhere~1": None,
        "": None, "--all": None, "main..work": None, "./work": None, "work.lock": None,
        "heads": None, "heads/": None, "0" * 40: None, "work\n": None, "a b": None,
    }  # fmt: skip
    for name, commit in expected.items():
        assert git_names.resolve(found(box), name, key="k") == commit, name


def test_packed_references_are_known_as_well(box: GitBox) -> None:
    first, second = commits(box)
    box.git("branch", "x", first)
    box.git("tag", "x", second)
    box.git("pack-refs", "--all")
    with pytest.raises(InputError, match="refs/heads/x and refs/tags/x"):
        git_names.resolve(found(box), "x", key="k")


def test_what_was_only_fetched_is_a_branch_as_well(box: GitBox) -> None:
    first, second = commits(box)
    put(box, "refs/remotes/origin/x", first)
    assert git_names.resolve(found(box), "x", key="k") == first
    put(box, "refs/tags/x", second)
    with pytest.raises(InputError, match="refs/remotes/origin/x and refs/tags/x"):
        git_names.resolve(found(box), "x", key="k")
    put(box, "refs/heads/x", second)  # a branch behind or before its remote one is every day's
    assert git_names.resolve(found(box), "x", key="k") == second


ODD = {
    "a local branch": "ref: refs/heads/work\n",
    "a tag": "ref: refs/tags/mine\n",
    "another remote": "ref: refs/remotes/mine/x\n",
    "itself": "ref: refs/remotes/origin/HEAD\n",
    "a way out": "ref: refs/remotes/origin/../../heads/work\n",
    "over a second one": "ref: refs/remotes/origin/second\n",
    "over a link": "ref: refs/remotes/origin/link\n",
    "HEAD": "ref: HEAD\n",
}


@pytest.mark.parametrize("kind", ODD)
def test_an_odd_default_of_the_remote_does_not_steer(box: GitBox, kind: str) -> None:
    first, second = commits(box)
    put(box, "refs/tags/mine", second)
    put(box, "refs/remotes/mine/x", second)
    put(box, "refs/remotes/origin/second", "ref: refs/heads/work")
    os.symlink("../../heads/work", box.top / ".git/refs/remotes/origin/link")
    put(box, "refs/remotes/origin/HEAD", ODD[kind].strip())
    assert pinned.base_commit(found(box), None) == first  # where main is
    for name in ("origin", "origin/HEAD", "refs/remotes/origin/HEAD"):
        with pytest.raises(InputError):
            git_names.resolve(found(box), name, key="k")
    put(box, "refs/remotes/origin/trunk", second)
    put(box, "refs/remotes/origin/HEAD", "ref: refs/remotes/origin/trunk")
    assert pinned.base_commit(found(box), None) == second
    assert git_names.resolve(found(box), "origin", key="k") == second
