"""A real git repository for one test: a few files on ``main``, a branch ``work``, a pinned base."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from flow.adapters.baseline import pinned
from flow.adapters.git.find import Repo, find_repo
from flow.adapters.worktree.change_set import snapshot
from flow.core.boundary.by_products import subject_tree
from flow.core.boundary.changes import Baseline, Snapshot
from flow.core.boundary.rules import BoundaryReport, OwnFiles, boundary_report
from flow.core.evidence import protected_files
from tests.support.gitrepo import head_of, refresh_index

EMPTY = Baseline(None, {}, {}, {}, {}, {})
FILES = {
    "src/app.py": "print('app')\n",
    "src/lib/util.py": "x = 1\n",
    "docs/guide.md": "# Guide\n",
    "README.md": "hello\n",
    "run.sh": "#!/bin/sh\ntrue\n",
    "secrets/key.txt": "k\n",
    ".gitignore": "*.log\nbuild/\nlocal.env\n",
}
IDENTITY = ("-c", "user.name=Test", "-c", "user.email=test@example.invalid")
SETTINGS = ("-c", "protocol.file.allow=always", "-c", "maintenance.auto=false")
"""A submodule may come from a folder; no commit starts a process that looks for work."""

_made: dict[str, str] = {}
"""The repository as every test finds it, kept by its object format once one was made."""
_submodules: dict[tuple[str, str], Path] = {}
"""What ``git submodule add`` leaves, kept by the object format and the submodule's path."""


class GitBox:
    """The repository at ``top``; ``outer`` is a folder beside it, ``state`` the user's own."""

    def __init__(self, folder: Path, *, object_format: str = "sha1") -> None:
        self.outer = folder / "outer"
        self.state = folder / "state"
        self.home = folder / "home"
        for place in (self.outer, self.home):
            place.mkdir()
        self.top = folder / "repo"
        self._object_format = object_format
        if object_format in _made:
            shutil.copytree(_made[object_format], self.top, symlinks=True)
            if not refresh_index(self.top, id_bytes=self._id_bytes):
                self.git("update-index", "-q", "--refresh")  # the copies are other files
        else:
            self._make(object_format)
        self.baseline: Baseline | None = None
        self.denied: tuple[str, ...] = ("secrets/**", "*.env")
        self.protected: tuple[str, ...] = ()
        self.allowed: tuple[str, ...] = ("src/**",)

    def _make(self, object_format: str) -> None:
        self.top.mkdir()
        self.git("init", "-q", "-b", "main", f"--object-format={object_format}")
        for file in self.top.glob(".git/hooks/*.sample"):
            file.unlink()
        for name, text in FILES.items():
            self.write(name, text)
        (self.top / "run.sh").chmod(0o755)
        self.commit("base")
        self.git("switch", "-q", "-c", "work")
        _made[object_format] = tempfile.mkdtemp(prefix="flow-gitbox-")
        atexit.register(shutil.rmtree, _made[object_format], ignore_errors=True)
        shutil.copytree(self.top, _made[object_format], symlinks=True, dirs_exist_ok=True)

    @property
    def _id_bytes(self) -> int:
        return 32 if self._object_format == "sha256" else 20

    # --- making changes ---

    def git(
        self, *args: str, cwd: Path | None = None, check: bool = True, stdin: bytes | None = None
    ) -> str:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "LC_ALL": "C.UTF-8",
        }
        done = subprocess.run(
            ["git", *IDENTITY, *SETTINGS, *args],
            cwd=cwd or self.top,
            env=env,
            input=stdin,
            capture_output=True,
            timeout=300,
        )
        if check and done.returncode:
            raise AssertionError(f"git {args}: {done.stderr.decode()}")
        return done.stdout.decode("utf-8", "replace").strip()

    def path(self, name: str | bytes) -> Path:
        return self.top / os.fsdecode(name)

    def write(self, name: str | bytes, text: str | bytes = "changed\n") -> Path:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def remove(self, name: str) -> None:
        self.path(name).unlink()

    def commit(self, message: str = "change", *, cwd: Path | None = None) -> str:
        self.git("add", "-A", "-f", "--", ".", cwd=cwd)
        self.git("commit", "-q", "--no-verify", "-m", message, cwd=cwd)
        return head_of(cwd or self.top) or self.git("rev-parse", "HEAD", cwd=cwd)

    def commit_staged(self, message: str = "change") -> None:
        self.git("commit", "-q", "--no-verify", "-m", message)

    def other_repo(self, name: str, files: dict[str, str], *, bare: bool = False) -> Path:
        """Another repository beside this one."""
        place = self.outer / name
        place.mkdir(parents=True)
        self.git("init", "-q", "-b", "main", cwd=place)
        for file, text in files.items():
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            (place / file).write_text(text)
        self.commit("other", cwd=place)
        return place

    def add_submodule(self, path: str = "vendor/sub") -> None:
        """A submodule at ``path``, committed; once by git, which starts thirty processes."""
        source, git_dir = self.outer / "sub-source", f".git/modules/{path}"
        made = source, self.top / path, self.top / git_dir
        kept = _submodules.get((self._object_format, path))
        if kept is None:
            self.other_repo("sub-source", {"sub.py": "s = 1\n", "deep/x.py": "x\n"})
            self.git("submodule", "--quiet", "add", str(source), path)
            kept = Path(tempfile.mkdtemp(prefix="flow-gitbox-"))
            atexit.register(shutil.rmtree, kept, ignore_errors=True)
            for number, place in enumerate(made):
                shutil.copytree(place, kept / f"{number}")
            (kept / "source").write_text(str(source))
            _submodules[self._object_format, path] = kept
        else:
            for number, place in enumerate(made):
                shutil.copytree(kept / f"{number}", place)
            config = self.top / git_dir / "config"
            was = (kept / "source").read_text()
            config.write_text(config.read_text().replace(was, str(source)))
            for top, own in ((source, source / ".git"), (self.top / path, self.top / git_dir)):
                refresh_index(top, id_bytes=self._id_bytes, git_dir=own)
            with (self.top / ".gitmodules").open("a") as file:
                file.write(f'[submodule "{path}"]\n\tpath = {path}\n\turl = {source}\n')
            with (self.top / ".git/config").open("a") as file:
                file.write(f'[submodule "{path}"]\n\turl = {source}\n\tactive = true\n')
            self.git("add", "-f", "--", ".gitmodules", path)
        self.commit_staged("submodule")

    # --- asking Flow ---

    @property
    def repo(self) -> Repo:
        found = find_repo(str(self.top))
        assert found is not None
        return found

    def pin(self, ref: str | None = None) -> Baseline:
        self.baseline = pinned.pin_baseline(
            self.repo,
            base=ref,
            denied=self.denied,
            journal_dir=".decisions",
            cache_dir=str(self.state),
            protected=self.protected,
        )
        return self.baseline

    def snapshot(self, *, cached: bool = True) -> Snapshot:
        assert self.baseline is not None
        cache = str(self.state) if cached else None
        return snapshot(self.repo, self.baseline, self.denied, cache_dir=cache)

    def tree(self, now: Snapshot | None = None) -> str | None:
        """The stamp that evidence measured on it has; None where git could not answer."""
        assert self.baseline is not None
        now = now or self.snapshot()
        return None if now.problems else subject_tree(now, self.baseline, lambda _: False)

    def locked(self) -> dict[str, str]:
        """The protected files that are not as they were, with what happened to each."""
        assert self.baseline is not None
        own = OwnFiles(EMPTY)
        found = protected_files.difference(self.snapshot(), self.baseline, self.protected, own)
        return {file.path: file.kind for file in found.files} if found else {}

    def report(self, now: Snapshot | None = None) -> BoundaryReport:
        assert self.baseline is not None
        return boundary_report(
            now or self.snapshot(),
            self.baseline,
            allowed=self.allowed,
            denied=self.denied,
            own_files=OwnFiles(EMPTY),
        )
