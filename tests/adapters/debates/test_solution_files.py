"""Which files a caller's words stand for, in a checkout with what may be evaluated and what not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flow.adapters.debates.solution_files import Where, read_solution
from flow.adapters.git.find import find_repo
from flow.errors import GitError, InputError
from tests.support import GitRepo

FOLDER = ["src/api/[x].ts", "src/api/b.ts", "src/api/deep/a.py", "src/api/users.ts"]


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It is only read."""
    place = GitRepo.init(tmp_path_factory.mktemp("solution") / "repo")
    for name, text in {
        ".gitignore": "secret.ts\nbuild/\n",
        "src/api/users.ts": "return db.all();\n",
        "src/api/b.ts": "// b\n",
        "src/api/deep/a.py": "alpha = 'first'\n",
        "src/api/secret.ts": "the hidden one\n",
        "src/api/build/out.ts": "the built one\n",
        "src/api/empty.ts": "",
        "src/api/[x].ts": "the odd name\n",
        "other/c.ts": "another folder\n",
        ".specs/reports/old.1.md": "an old report\n",
    }.items():
        place.write(name, text)
    (place.path / "src/api/logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (place.path / "src/api/link.ts").symlink_to("/etc/hostname")
    (place.path / "src/api/way").symlink_to("../../other")
    os.mkfifo(place.path / "src/api/fifo")
    return place.path


def where(top: Path, cwd: str = ".") -> Where:
    start = os.path.normpath(top / cwd)
    return Where(start, str(top), find_repo(start), ".specs/reports")


@pytest.mark.parametrize(
    ("given", "cwd", "files"),
    [
        (["src/api"], ".", FOLDER),
        (["src/api/"], ".", FOLDER),
        (["."], "src/api", FOLDER),
        (["../api"], "src/api", FOLDER),
        (["src/api/**"], ".", FOLDER),
        (["src/**/*.ts"], ".", [*FOLDER[:2], FOLDER[3]]),
        (["*.ts"], "src/api", [*FOLDER[:2], FOLDER[3]]),
        (["../../other/*.ts"], "src/api", ["other/c.ts"]),
        (["src/api/[x].ts"], ".", ["src/api/[x].ts"]),  # a file of that name goes first
        (["src/api/[bx].ts"], ".", ["src/api/b.ts"]),
        (["src/api/users.ts", "src/api"], ".", [FOLDER[3], *FOLDER[:3]]),
        (["src/api/deep", "other"], ".", ["src/api/deep/a.py", "other/c.ts"]),
        (["src/api/secret.ts"], ".", ["src/api/secret.ts"]),  # named as such
    ],
)
def test_a_folder_or_a_glob_stands_for_its_files(
    given: list[str], cwd: str, files: list[str], top: Path
) -> None:
    found = read_solution(given, where(top, cwd))
    assert [part.source for part in found.parts] == files
    text = "".join(str(part.text) for part in found.parts)
    for word in ("the built one", "an old report", "PNG"):
        assert word not in text
    count = len(files)
    named = "solution" if count == 1 else f"solution, part {count} of {count}"
    assert found.parts[-1].name == named


def test_what_is_left_out_of_a_folder_is_counted(top: Path) -> None:
    assert [note for note in read_solution(["."], where(top)).notes if ": left out: " in note] == [
        ".: left out: 3 symlinks or other things than a regular file",
        ".: left out: 2 files ignored by git",
        ".: left out: 1 report of a judge",
        ".: left out: 1 empty file",
        ".: left out: 1 binary file",
    ]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("src/api/build", "names no file that can be evaluated (1 file ignored by git)"),
        ("src/api/*.png", "names no file that can be evaluated (1 binary file)"),
        ("src/api/link*", "names no file that can be evaluated (1 symlink or other thing"),
        ("src/**/*.rs", "names no file that can be evaluated"),
        ("src/api/way", "is a symlink"),
        ("../*", "lies outside the checkout"),
        ("..", "lies outside the checkout"),
        ("/etc", "lies outside the checkout"),
        ("/etc/*.conf", "lies outside the checkout"),
        (".git", "names no file that can be evaluated"),
        ("src/api/absent", "cannot be read"),
    ],
)
def test_a_folder_or_a_glob_without_a_file_to_evaluate_is_refused(
    given: str, why: str, top: Path
) -> None:
    with pytest.raises(InputError) as caught:
        read_solution([given], where(top))
    assert why in str(caught.value)


@pytest.mark.parametrize("rules", [".gitignore", "src/.gitignore", ".git/info/exclude"])
def test_rules_that_git_would_wait_for_are_named_at_once(tmp_path: Path, rules: str) -> None:
    place = GitRepo.init(tmp_path / "repo")
    place.write("src/api/users.ts", "return db.all();\n")
    (place.path / rules).unlink(missing_ok=True)
    os.mkfifo(place.path / rules)
    with pytest.raises(GitError, match="is no file") as caught:
        read_solution(["src/api"], where(place.path))
    assert str(caught.value.file).endswith(rules)
    assert read_solution(["src/api/users.ts"], where(place.path)).parts
