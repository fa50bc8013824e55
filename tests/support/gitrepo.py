"""A real git repository in a test's folder."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import struct
import subprocess
import tempfile
import time
from pathlib import Path

_empty: dict[tuple[object, ...], Path] = {}
"""By git's own settings and variables: a repository as ``git init`` makes it, without samples."""
_first_commits: dict[tuple[object, ...], tuple[Path, str]] = {}
"""By all that a first commit was made of: a copy of the repository, and the commit's id."""
_STAMPS = struct.Struct(">6I")
"""ctime, mtime (seconds and nanoseconds each), device, inode; the mode stays, then what follows."""
_OWNERS = struct.Struct(">3I")
"""User, group, size."""
_LOW = 0xFFFFFFFF
_BEGUN = f"{int(time.time())} +0000"
"""When each commit is made, as it says: so the same work has the same id in each test."""


class GitRepo:
    """A repository at ``path``; identity and default branch are in the test's ``~/.gitconfig``."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def init(cls, path: Path, *options: str) -> GitRepo:
        """Make the folder and an empty repository in it."""
        path.mkdir(parents=True, exist_ok=True)
        repo = cls(path)
        if options or os.path.lexists(path / ".git"):
            repo.git("init", "--quiet", *options)
            return repo
        made_of = _users_settings()
        if made_of not in _empty:
            model = cls(_kept())
            model.git("init", "--quiet")
            for file in model.path.glob(".git/hooks/*.sample"):
                file.unlink()
            _empty[made_of] = model.path
        shutil.copytree(_empty[made_of] / ".git", path / ".git")
        return repo

    def __str__(self) -> str:
        return str(self.path)

    def git(self, *arguments: str | bytes, input: bytes | None = None, check: bool = True) -> str:
        """Run git there; its output without the last newline."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env={"GIT_AUTHOR_DATE": _BEGUN, "GIT_COMMITTER_DATE": _BEGUN, **os.environ},
            input=input,
            capture_output=True,
            timeout=300,
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
        made_of: tuple[object, ...] = ()
        if self._untouched():
            made_of = (message, *sorted(files.items()), *self._settings())
        if made_of in _first_commits:  # many tests begin with the same
            copy, id = _first_commits[made_of]
            shutil.copytree(copy, self.path, symlinks=True, dirs_exist_ok=True)
            if not refresh_index(self.path, id_bytes=len(id) // 2):  # the copies are other files
                self.git("update-index", "-q", "--refresh")
            return id
        for name, text in files.items():
            self.write(name, text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--no-verify", "-m", message)
        id = self.head
        if made_of:
            copy = _kept()
            shutil.copytree(self.path, copy, symlinks=True, dirs_exist_ok=True)
            _first_commits[made_of] = copy, id
        return id

    def _untouched(self) -> bool:
        """Whether this is what ``git init`` left, and no more."""
        git = self.path / ".git"
        return (
            os.listdir(self.path) == [".git"]
            and git.is_dir()
            and {*os.listdir(git)} - {"branches", "description"}
            == {"HEAD", "config", "hooks", "info", "objects", "refs"}
            and all(name.endswith(".sample") for name in os.listdir(git / "hooks"))
            and os.listdir(git / "info") == ["exclude"]
            and os.listdir(git / "refs/heads") == []
        )

    def _settings(self) -> tuple[object, ...]:
        """What git's own settings and variables say here."""
        own = [(self.path / ".git" / name).read_bytes() for name in ("HEAD", "config")]
        return (*own, *_users_settings())

    @property
    def head(self) -> str:
        """The id of HEAD's commit."""
        return head_of(self.path) or self.git("rev-parse", "HEAD")

    def status(self) -> list[str]:
        """``git status --porcelain``, a line for each path."""
        return self.git("status", "--porcelain", "--untracked-files=all").splitlines()


def _users_settings() -> tuple[object, ...]:
    """What the user's settings and the environment say to git."""
    users = Path("~/.gitconfig").expanduser()
    text = users.read_bytes() if users.exists() else None
    return (text, *sorted(item for item in os.environ.items() if item[0].startswith("GIT_")))


def _kept() -> Path:
    """A folder that stays as long as this process."""
    folder = tempfile.mkdtemp(prefix="flow-gitrepo-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def refresh_index(top: Path, *, id_bytes: int = 20, git_dir: Path | None = None) -> bool:
    """As ``git update-index --refresh`` after a copy of all files: the index has their stamps.

    False where the index is of another form than a plain ``git add`` writes; it is left alone.
    The copies must have the contents that the index names: nothing is read again.
    """
    file = (git_dir or top / ".git") / "index"
    data = bytearray(file.read_bytes())
    signature, version, count = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version != 2:
        return False
    at = 12
    for _ in range(count):
        name_at = at + 40 + id_bytes + 2
        (flags,) = struct.unpack_from(">H", data, name_at - 2)
        if flags & 0xF000:  # assumed unchanged, extended, or of a conflict
            return False
        end = data.index(0, name_at)
        found = os.lstat(os.path.join(os.fsencode(top), bytes(data[name_at:end])))
        seconds, nanoseconds = divmod(found.st_ctime_ns, 10**9)
        changed, changed_ns = divmod(found.st_mtime_ns, 10**9)
        stamps = (seconds, nanoseconds, changed, changed_ns, found.st_dev, found.st_ino)
        _STAMPS.pack_into(data, at, *(value & _LOW for value in stamps))
        _OWNERS.pack_into(data, at + 28, found.st_uid, found.st_gid, found.st_size & _LOW)
        at += (end - at + 8) & ~7  # one to eight zeros, to a multiple of eight
    hashed = hashlib.sha1 if id_bytes == 20 else hashlib.sha256
    data[-id_bytes:] = hashed(data[:-id_bytes]).digest()
    new = file.with_name("index.lock")
    new.write_bytes(data)
    new.rename(file)
    return True


def head_of(top: Path) -> str | None:
    """The id of HEAD's commit; None where only git can say it (a packed branch, a worktree)."""
    try:
        text = (top / ".git" / "HEAD").read_text()
        if text.startswith("ref: "):
            text = (top / ".git" / text[5:].strip()).read_text()
    except OSError:
        return None
    id = text.strip()
    return id if len(id) in (40, 64) and set(id) <= set("0123456789abcdef") else None
