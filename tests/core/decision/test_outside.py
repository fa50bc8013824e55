"""Files outside a goal's paths: the remedy of each, and the line that would allow them."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from flow.core.boundary.globs import Globs, why_not
from flow.core.boundary.rules import Violation
from flow.core.decision.outside import LISTED, MOST_PATHS, outside_advice, outside_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.support import GitRepo

BASE = "4b7e09d2c1a8f00d"
NEW = Violation("p", "", mend="remove", change="new")
CHANGED = Violation("p", "", mend="restore")
NAMES = (
    "tools/regen.py",
    "it's here",
    "-f",
    "a b ",
    "x*y",
    "a[1].py",
    ":top",
    "!not",
    "\\back",
    "$(touch pwned)",
    "`x`;&|<>",
    "new\nline",
    "tab\t",
    "ü",
    "\u202eevil",
    "raw\udcff",
    "'",
    "#hash",
    "~home",
    "deep/-d/x",
)


@pytest.mark.parametrize(
    ("violation", "do", "command"),
    [
        (NEW, "remove", "rm p"),
        (NEW._replace(staged=True), "remove", "git rm -qf p"),
        (NEW._replace(staged=True, committed=True), "remove", "git rm -qf p"),
        (NEW._replace(path="-f"), "remove", "rm -- -f"),
        (NEW._replace(mend="undo"), "remove", ""),
        (CHANGED, "put_back", "git restore -s 4b7e09d2 p"),
        (CHANGED._replace(staged=True), "put_back", "git restore -s 4b7e09d2 -SW p"),
        (CHANGED._replace(change="deleted"), "put_back", "git restore -s 4b7e09d2 p"),
        (CHANGED._replace(path="x*"), "put_back", "git restore -s 4b7e09d2 ':(literal)x*'"),
        (CHANGED._replace(mend="undo"), "put_back", ""),
        (CHANGED._replace(before="160000:ab"), "put_back", ""),
        (CHANGED._replace(path="p" * 400), "put_back", ""),
    ],
)
def test_the_remedy_of_a_file(violation: Violation, do: str, command: str) -> None:
    file = outside_file(violation, BASE)
    assert (file.do, file.command) == (do, command)


def test_without_a_base_nothing_is_put_back_by_a_command() -> None:
    assert outside_file(CHANGED, None).command == ""


def allowed(paths: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The patterns of the line to amend, as bash reads it, and those of whole folders."""
    outside = [CHANGED._replace(path=path) for path in paths]
    advice = outside_advice("g", outside, BASE)
    assert "\n" not in advice.amend
    if not advice.amend:
        return [], ()
    script = f"flow() {{ printf '%s\\0' \"$@\"; }}; {advice.amend}"
    ran = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    words = os.fsdecode(ran.stdout).split("\0")[:-1]
    assert words[:3] == ["goal", "amend", "g"]
    joined = "\0".join(words[3:]).replace("--allow=", "--allow\0").split("\0")
    assert set(joined[::2]) <= {"--allow"}
    return joined[1::2], advice.folders


@pytest.mark.parametrize("path", NAMES)
def test_the_line_allows_exactly_that_path(path: str) -> None:
    (pattern,), folders = allowed([path])
    assert folders == ()
    assert why_not(pattern) is None
    pattern.encode()  # a goal file can hold it
    globs = Globs([pattern], anchored=True)
    assert globs.first(path.encode("utf-8", "surrogateescape")) is not None
    for other in ("src/a.py", f"{path}x", "p"):
        assert globs.first(other.encode("utf-8", "surrogateescape")) is None


@pytest.mark.parametrize(
    ("paths", "patterns"),
    [
        ([f"a/{n}" for n in range(8)], [f"a/{n}" for n in range(8)]),
        ([f"a/{n}" for n in range(9)], ["a/**"]),
        ([*(f"a/b/{n}" for n in range(8)), "c"], ["a/b/**", "c"]),
        ([f"a/{n}/x" for n in range(9)], ["a/**"]),
        ([f"a{n}/x" for n in range(9)], []),
        ([f"{n}" for n in range(9)], []),
        ([f"x*/{n}" for n in range(9)], ["x\\*/**"]),
        ([], []),
    ],
)
def test_more_than_eight_are_named_by_their_folders(
    paths: Sequence[str], patterns: list[str]
) -> None:
    words, folders = allowed(paths)
    assert words == patterns
    assert len(words) <= MOST_PATHS
    assert folders == tuple(word for word in patterns if word.endswith("/**"))
    globs = Globs(words, anchored=True)
    assert all(globs.first(path.encode()) is not None for path in paths if words)


def test_what_no_path_opens_is_named() -> None:
    denied = CHANGED._replace(path="a.key", openable=False)
    advice = outside_advice("g", [denied, CHANGED], BASE)
    assert (advice.amend, advice.not_opened) == ("flow goal amend g --allow p", ("a.key",))
    assert outside_advice("g", [denied], BASE).amend == ""


def test_the_document_is_cut_with_its_count_and_made_visible() -> None:
    many = [CHANGED._replace(path=f"{n}\x1b") for n in range(LISTED + 5)]
    document = outside_advice("g", many, BASE).with_lines({"3\x1b": (1, 2)}).to_document()
    assert (document["count"], len(document["files"])) == (LISTED + 5, LISTED)
    assert document["files"][3] == {
        "path": "3\\x1b",
        "change": "changed",
        "do": "put_back",
        "command": "git restore -s 4b7e09d2 $'3\\033'",
        "committed": False,
        "added": 1,
        "removed": 2,
        "refused": None,
    }
    assert document["amend"] is None


def texts(top: Path) -> dict[str, str]:
    files = (path for path in top.rglob("*") if path.is_file())
    return {
        name: (top / name).read_text()
        for name in (str(p.relative_to(top)) for p in files)
        if not name.startswith(".git/")
    }


@pytest.mark.parametrize("how", ["new", "staged", "changed", "deleted", "committed"])
def test_every_line_does_what_it_says(repo: GitRepo, how: str) -> None:
    """In a real repository, by bash: the file is as the base has it, and no other moves."""
    names = [name for name in NAMES if name != "raw\udcff"]
    new, staged = how in ("new", "staged"), how in ("staged", "committed")
    (repo.path / "deep/-d").mkdir(parents=True)
    (repo.path / "tools").mkdir()
    for name in ("keep", "xzy", *(() if new else names)):
        (repo.path / name).write_text("base\n")
    base = repo.commit("base")
    (repo.path / "keep").write_text("mine\n")
    for name in names:
        (repo.path / name).unlink() if how == "deleted" else (repo.path / name).write_text(
            "other\n"
        )
    if staged:
        repo.git("--literal-pathspecs", "add", "--", *names)
    if how == "committed":
        repo.git("commit", "-qm", "more")
    change = "new" if new else "deleted" if how == "deleted" else "changed"
    there = texts(repo.path)
    for name in names:
        mend = "remove" if new else "restore"
        file = outside_file(Violation(name, "", how == "committed", mend, change, staged), base)
        ran = subprocess.run(["bash", "-c", file.command], cwd=repo.path, capture_output=True)
        assert ran.returncode == 0, (file.command, ran.stderr)
        there.pop(name, None)
        there |= {} if new else {name: "base\n"}
        assert texts(repo.path) == there, file.command
        assert shlex.split(file.command)
