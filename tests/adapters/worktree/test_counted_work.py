"""Four times as many files, links or folders cost four times the work, at most."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from flow.core.boundary.by_products import (
    find_by_products,
    find_ignored_by_products,
    moved_paths,
    rewritten,
)
from tests.support.counted import calls
from tests.support.gitbox import GitBox

SMALL = 60
RATIO = 4

Make = Callable[[GitBox, int], None]


def nothing(box: GitBox, count: int) -> None:
    """A scene whose all is made after activation, or before."""


class Scene(NamedTuple):
    name: str
    before: Make
    """What is committed on the base."""
    then: Make
    """What happens after activation."""
    meanwhile: Make = nothing
    """What happens between two snapshots."""


def files(folder: str, text: str = "changed\n") -> Make:
    def make(box: GitBox, count: int) -> None:
        for number in range(count):
            box.write(f"{folder}/f{number}", text)

    return make


def links(target: str) -> Make:
    """Links beside ``src/app.py``; ``{n}`` is a link's number, ``{next}`` the following one's."""

    def make(box: GitBox, count: int) -> None:
        for number in range(count):
            following = (number + 1) % count
            os.symlink(target.format(n=number, next=following), box.path(f"src/link{number}"))

    return make


def folders(name: str) -> Make:
    def make(box: GitBox, count: int) -> None:
        for number in range(count):
            box.write(name.format(n=number))

    return make


def chain_to_a_file(box: GitBox, count: int) -> None:
    links("link{next}")(box, count)
    box.remove(f"src/link{count - 1}")
    os.symlink("app.py", box.path(f"src/link{count - 1}"))


def chain_in_an_ignored_folder(box: GitBox, count: int) -> None:
    box.write("build/end")
    for number in range(count):
        target = f"l{number + 1}" if number + 1 < count else "end"
        os.symlink(target, box.path(f"build/l{number}"))
    os.symlink("../build/l0", box.path("src/link"))


def folders_become_links(box: GitBox, count: int) -> None:
    for number in range(count):
        box.write(f"build/{number}", "")
        box.remove(f"build/{number}")
        os.rename(box.path(f"t/d{number}"), box.path(f"build/d{number}"))
        os.symlink(f"../build/d{number}", box.path(f"t/d{number}"))


def untarred_folders(box: GitBox, count: int) -> None:
    """Their stamps look as if they were renamed."""
    for number in range(count):
        folder = box.write(f"src/u{number}/f").parent
        os.utime(folder, ns=(0, 0))


def several(*makes: Make) -> Make:
    def make(box: GitBox, count: int) -> None:
        for each in makes:
            each(box, count)

    return make


SCENES = (
    Scene("untracked files", nothing, files("src")),
    Scene("untracked folders", nothing, folders("src/d{n}/f")),
    Scene("changed files", files("src"), files("src", text="x")),
    Scene("links to one tracked file", nothing, links("app.py")),
    Scene("links beside other files", nothing, several(links("app.py"), files("src"))),
    Scene("links to untracked files", nothing, several(files("src/u"), links("u/f{n}"))),
    Scene("links to untracked folders", nothing, several(folders("src/d{n}/f"), links("d{n}"))),
    Scene("links to ignored files", nothing, several(files("build"), links("../build/f{n}"))),
    Scene("links to one ignored folder", nothing, several(files("build"), links("../build"))),
    Scene("links to nothing", nothing, links("gone{n}")),
    Scene("links out of the repository", nothing, links("../../outer/f{n}")),
    Scene("a chain of links", nothing, chain_to_a_file),
    Scene("a chain of links below an ignored folder", nothing, chain_in_an_ignored_folder),
    Scene("a loop of links", nothing, links("link{next}")),
    Scene("folders of the base that became links", folders("t/d{n}/f"), folders_become_links),
    Scene("files of rules beside new files", folders("src/r{n}/.gitignore"), folders("src/r{n}/f")),
    Scene("nested repositories", nothing, several(folders("src/d{n}/.git"), folders("src/d{n}/f"))),
    Scene("folders that came between two looks", nothing, files("src"), untarred_folders),
)  # fmt: skip


def look(box: GitBox, between: Callable[[], None]) -> None:
    """What an evaluation does with a working tree."""
    baseline = box.baseline
    assert baseline is not None
    before = box.snapshot()
    between()
    after = box.snapshot()
    assert before.problems == after.problems == ()
    box.report(before)
    box.tree(after)
    rewritten(before, after, baseline, lambda _: False)
    moved_paths(before, after, baseline, lambda _: False)
    find_by_products(before, after, baseline)
    find_ignored_by_products(before, after, baseline)


def effort(folder: Path, scene: Scene, count: int) -> int:
    folder.mkdir()
    box = GitBox(folder)
    scene.before(box, count)
    if box.git("status", "--porcelain"):
        box.commit()
    box.pin()
    scene.then(box, count)
    return calls(lambda: look(box, lambda: scene.meanwhile(box, count)))


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_the_work_grows_with_the_number(tmp_path: Path, scene: Scene) -> None:
    small = effort(tmp_path / "small", scene, SMALL)
    large = effort(tmp_path / "large", scene, SMALL * RATIO)
    assert large <= RATIO * small


@pytest.mark.slow
def test_a_small_file_is_read_with_one_call_and_no_large_buffer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = GitBox(tmp_path)
    box.pin()
    text = "so long is no other file here" * 3
    files("src", text)(box, 200)
    reads: list[int] = []
    read = os.read

    def noted(fd: int, size: int) -> bytes:
        reads.append(size)
        return read(fd, size)

    monkeypatch.setattr(os, "read", noted)
    box.snapshot()
    assert reads.count(len(text) + 1) == 200


@pytest.mark.slow
def test_files_of_any_date_are_looked_at_and_remembered(tmp_path: Path) -> None:
    box = GitBox(tmp_path)
    for name in ("old", "new"):
        box.write(f"src/{name}.txt", "committed\n")
        box.write(f"src/untracked-{name}.txt")
    box.git("add", "src/old.txt", "src/new.txt")
    box.commit_staged()
    box.pin()
    for year, name in ((1900, "old"), (2400, "new")):
        at = (year - 1970) * 31_556_952 * 10**9
        for path in (f"src/{name}.txt", f"src/untracked-{name}.txt"):
            os.utime(box.path(path), ns=(at, at))
    first, second = box.snapshot(), box.snapshot()
    assert first.problems == second.problems == ()
    assert first.changes == second.changes
    box.write("src/new.txt", "rewritten")
    assert "src/new.txt" in {change.path for change in box.snapshot().changes}
