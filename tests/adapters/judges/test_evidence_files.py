"""Files for a judge: only regular files of the checkout, never a denied one, large ones in part."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from flow.adapters.judges import evidence_files
from flow.adapters.judges.evidence_files import MOST_FILES, PIECE, collect, read_ends
from flow.errors import RefusedError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    for name in (
        "docs/a.md",
        "docs/deep/b.md",
        "src/a.py",
        "src/secret/key.pem",
        "notes.md",
        ".git/HEAD",
        ".flow/runs/r/events.jsonl",
        ".flow/goals/g.goal.yaml",
        ".decisions/issue-4.md",
        "src/__pycache__/a.pyc",
        "sub/.git/config",
        "sub/c.md",
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content of {name}\n")
    return folder


def found(top: Path, *patterns: str, denied: tuple[str, ...] = ()) -> list[str]:
    return [name for name, _ in collect(str(top), patterns, denied).files]


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (["docs/**"], ["docs/a.md", "docs/deep/b.md"]),
        (["docs"], ["docs/a.md", "docs/deep/b.md"]),
        (["docs/*.md"], ["docs/a.md"]),
        (
            ["**/*.md"],
            [".decisions/issue-4.md", "docs/a.md", "docs/deep/b.md", "notes.md", "sub/c.md"],
        ),
        (["notes.md"], ["notes.md"]),
        (["a.md"], []),
        (["missing/**"], []),
        (["src/a.py", "notes.md"], ["notes.md", "src/a.py"]),
        ([".git/**"], []),
        (["sub/**"], ["sub/c.md"]),
        ([".flow/**"], []),
        (["src/__pycache__/**"], ["src/__pycache__/a.pyc"]),
        (["src/**"], ["src/a.py", "src/secret/key.pem"]),
        ([], []),
    ],
)
def test_what_patterns_name(top: Path, patterns: list[str], names: list[str]) -> None:
    assert found(top, *patterns) == names


@pytest.mark.parametrize(
    ("denied", "names"),
    [
        ("secret/**", ["src/a.py"]),
        ("secret", ["src/a.py"]),
        ("*.pem", ["src/a.py"]),
        ("src/secret/key.pem", ["src/a.py"]),
        ("/src", []),
        ("**", []),
        ("/secret", ["src/a.py"]),
    ],
)
def test_what_is_denied_is_not_read(top: Path, denied: str, names: list[str]) -> None:
    made = collect(str(top), ["src/**"], [denied])
    assert [name for name, _ in made.files] == names
    assert bool(made.left_out) is (len(names) < 2)
    assert all("secret" not in note for note in made.left_out)


def test_denied_wins_whatever_the_pattern_says(top: Path) -> None:
    assert found(top, "src/secret/key.pem", denied=("*.pem",)) == []


def test_symlinks_are_not_followed_and_said(top: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("OUTSIDE")
    (top / "docs/link.md").symlink_to(outside)
    (top / "docs/inner.md").symlink_to(top / "src/secret/key.pem")
    (top / "docs/folder").symlink_to(tmp_path)
    (top / "docs/dangling.md").symlink_to("nowhere")
    made = collect(str(top), ["docs/**"], [])
    assert [name for name, _ in made.files] == ["docs/a.md", "docs/deep/b.md"]
    assert made.left_out == ("4 symlinks or other things than a regular file",)


def test_a_folder_that_is_a_symlink_leads_nowhere(top: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "x.md").write_text("OUTSIDE")
    (top / "linked").symlink_to(elsewhere)
    assert found(top, "linked/**", "linked/x.md") == []
    with pytest.raises(RefusedError):
        read_ends(str(top), "linked/x.md")


def test_a_pipe_or_a_socket_is_never_opened(top: Path) -> None:
    os.mkfifo(top / "docs/pipe.md")
    assert found(top, "docs/*.md") == ["docs/a.md"]


def test_another_name_of_a_denied_file_is_not_read(top: Path) -> None:
    (top / "docs/copy.md").hardlink_to(top / "src/secret/key.pem")
    made = collect(str(top), ["docs/**"], ["*.pem"])
    assert [name for name, _ in made.files] == ["docs/a.md", "docs/deep/b.md"]
    assert "hard links" in made.left_out[0]
    assert "docs/copy.md" in found(top, "docs/**")  # nothing is denied, so it may be any file


def test_a_file_that_cannot_be_read_is_counted(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = read_ends

    def broken(top: str, rel: str) -> evidence_files.Raw:
        if rel == "docs/a.md":
            raise RefusedError("swapped for a symlink")
        return read(top, rel)

    monkeypatch.setattr(evidence_files, "read_ends", broken)
    made = collect(str(top), ["docs/**"], [])
    assert [name for name, _ in made.files] == ["docs/deep/b.md"]
    assert made.left_out == ("1 file not readable",)


def test_of_many_files_the_first_are_read_and_the_others_counted(top: Path) -> None:
    for number in range(MOST_FILES + 7):
        (top / "docs" / f"z{number:03}.txt").write_text("x")
    made = collect(str(top), ["docs/*.txt"], [])
    assert len(made.files) == MOST_FILES
    assert made.files[0][0] == "docs/z000.txt"
    assert made.left_out == ("7 files beyond the first 40",)


def test_a_search_has_an_end(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_files, "MOST_ENTRIES", 5)
    made = collect(str(top), ["**"], [])
    assert any("not searched beyond 5 names" in note for note in made.left_out)


@pytest.mark.parametrize(
    ("size", "unread"),
    [(0, 0), (1, 0), (2 * PIECE, 0), (2 * PIECE + 1, 1), (5 * PIECE, 3 * PIECE)],
)
def test_both_ends_of_a_large_file_are_read(top: Path, size: int, unread: int) -> None:
    data = (bytes(range(256)) * (size // 256 + 1))[:size]
    (top / "big.bin").write_bytes(data)
    raw = read_ends(str(top), "big.bin")
    assert raw.unread == unread
    assert raw.data == (data if not unread else data[:PIECE] + data[-PIECE:])


def test_an_absent_file_is_empty(top: Path) -> None:
    assert read_ends(str(top), "nothing.md") == (b"", 0)


def test_names_that_are_no_text_are_found_and_read(top: Path) -> None:
    name = os.fsencode(top) + b"/docs/\xff\n.md"
    with open(name, "wb") as file:
        file.write(b"odd")
    made = collect(str(top), ["docs/*.md"], [])
    assert [os.fsencode(found) for found, _ in made.files] == [b"docs/a.md", b"docs/\xff\n.md"]
    assert made.files[1][1].data == b"odd"
