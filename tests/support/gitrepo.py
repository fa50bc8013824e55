"""A real git repository in a test's folder."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class GitRepo:
    """A repository at ``path``; identity and default branch are in the test's ``~/.gitconfig``."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def init(cls, path: Path, *options: str) -> GitRepo:
        """Make the folder and an empty repository in it."""
        path.mkdir(parents=True, exist_ok=True)
        repo = cls(path)
        repo.git("init", "--quiet", *options)
        return repo

    def __str__(self) -> str:
        return str(self.path)

    def git(self, *arguments: str | bytes, input: bytes | None = None, check: bool = True) -> str:
        """Run git there; its output without the last newline."""
        done = subprocess.run(
            ["git", *arguments], cwd=self.path, input=input, capture_output=True, timeout=300
        )
        if check and done.returncode != 0:
            words = " ".join(os.fsdecode(word) for word in arguments)
            raise AssertionError(f"git {words}: {done.stderr.decode(errors='replace')}")
        return os.fsdecode(done.stdout).removesuffix("\n")

    def write(self, rel: str, content: str | bytes = "", *, mode: int | None = None) -> Path:
        """Write a file (and its folders), leaving git alone."""
        file = self.path / rel
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        if mode is not None:
            file.chmod(mode)
        return file

    def read(self, rel: str) -> str:
        """A file's text."""
        return (self.path / rel).read_text(encoding="utf-8")

    def commit(self, message: str = "change", **files: str) -> str:
        """Commit everything there, ``files`` (name → text) written first; the commit's id."""
        for name, text in files.items():
            self.write(name, text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--no-verify", "-m", message)
        return self.head

    @property
    def head(self) -> str:
        """The id of HEAD's commit."""
        return self.git("rev-parse", "HEAD")

    def status(self) -> list[str]:
        """``git status --porcelain``, a line for each path."""
        return self.git("status", "--porcelain", "--untracked-files=all").splitlines()
