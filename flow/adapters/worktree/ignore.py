"""Decide by git itself which paths the pinned ignore rules ignore.

No later rule takes part: git runs in a git directory of Flow's own making, over a folder that holds
nothing but the pinned ``.gitignore`` files and an empty folder for each folder in question (rules
like ``build/`` match folders only). Both are removed afterwards; decisions are stored in the cache
of the working tree, so git is asked only about new names.
"""

from __future__ import annotations

import os

from flow.adapters.git.find import Repo, read_regular
from flow.adapters.git.run import git_in, user_config
from flow.adapters.worktree.cache import folders_above
from flow.core.layout import TEMP_PREFIX
from flow.errors import GitError, StorageError, in_file
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

EXCLUDE = ".git/info/exclude"
EXCLUDES_FILE = "core.excludesFile"
RULES_FILE = b".gitignore"
SIZE_LIMIT = 1 << 20
"""Most bytes of one file of rules."""


class Rules:
    """The rules of one repository: a checkout's, or those of a submodule below ``prefix``.

    ``texts`` maps a file below the repository (or ``EXCLUDE``, ``EXCLUDES_FILE``) to its text.
    """

    def __init__(self, texts: Mapping[str, str], scratch: str | None) -> None:
        self.texts = dict(texts)
        self.decisions: dict[bytes, bool] = {}
        self.asked = 0
        """Number of new decisions."""
        self._scratch = scratch

    @property
    def digest(self) -> str:
        """SHA-256 over the rules."""
        total = sha256()
        for name, text in sorted(self.texts.items()):
            total.update(f"{name}\0{text}\0".encode("utf-8", "surrogateescape"))
        return total.hexdigest()

    def ignored(self, paths: Iterable[bytes]) -> dict[bytes, bool]:
        """Whether each path is ignored. A folder's ends in ``/``; none of them is tracked."""
        self.decide(paths)
        return {path: self.decisions[path] for path in paths}

    def decide(self, paths: Iterable[bytes]) -> None:
        """Make sure that ``decisions`` has each of the paths."""
        undecided = [path for path in paths if path not in self.decisions]
        if undecided and not any(text.strip() for text in self.texts.values()):
            self.decisions.update(dict.fromkeys(undecided, False))
        elif undecided:
            matched = self._ask(undecided)
            self.decisions.update({path: path.rstrip(b"/") in matched for path in undecided})
            self.asked += len(undecided)

    def _ask(self, paths: list[bytes]) -> set[bytes]:
        place = _own_folder(self._scratch)
        try:
            return self._ask_in(place, paths)
        except OSError as error:
            raise _unusable(place, error) from error
        finally:
            remove_tree(place)

    def _ask_in(self, place: str, paths: list[bytes]) -> set[bytes]:
        git_dir, top = os.path.join(place, "git"), os.path.join(place, "top")
        for folder in (top, f"{git_dir}/info", f"{git_dir}/objects", f"{git_dir}/refs"):
            os.makedirs(folder)
        files = {f"{git_dir}/HEAD": "ref: refs/heads/none\n", f"{git_dir}/config": ""}
        for name, text in self.texts.items():
            if name == EXCLUDE:
                files[f"{git_dir}/info/exclude"] = text
            elif name == EXCLUDES_FILE:
                files[f"{git_dir}/excludes-file"] = text
            elif name == ".gitignore" or name.endswith("/.gitignore"):
                files[f"{top}/{name}"] = text
        taken = {path for path in paths if path[-1:] != b"/"}
        above = os.fsencode(top) + b"/"
        for name, text in files.items():
            data = name.encode("utf-8", "surrogateescape")
            if not taken.isdisjoint(folders_above(data.removeprefix(above))):
                continue  # a file has replaced the folder of these rules
            os.makedirs(os.path.dirname(data), exist_ok=True)
            with open(data, "wb") as file:
                file.write(text.encode("utf-8", "surrogateescape"))
        for path in paths:
            if path.endswith(b"/"):
                os.makedirs(os.path.join(os.fsencode(top), path), exist_ok=True)
        # A leading ./ makes ":(x)" a plain name.
        names = [b"./" + path.rstrip(b"/") for path in paths]
        output = git_in(
            git_dir,
            top,
            "-c",
            f"core.excludesFile={git_dir}/excludes-file",
            "check-ignore",
            "--no-index",
            "-z",
            "--stdin",
            stdin=b"\0".join(names) + b"\0",
        )
        return {name.removeprefix(b"./") for name in output.split(b"\0")[:-1]}


def _own_folder(scratch: str | None) -> str:
    """A new folder that only this user can read."""
    failure = OSError(0, "no folder for temporary files")
    for parent in (scratch, os.environ.get("TMPDIR"), "/tmp"):  # noqa: S108 - made with mode 0700
        if not parent:
            continue
        name = f"{TEMP_PREFIX}{os.getpid()}-{os.urandom(8).hex()}"
        place = os.path.join(parent, name)
        try:
            os.makedirs(parent, mode=0o700, exist_ok=True)
            os.mkdir(place, 0o700)
            return place
        except OSError as error:
            failure = error
    raise _unusable("/tmp", failure)  # noqa: S108


def _unusable(place: str, error: OSError) -> StorageError:
    return in_file(place).storage(
        f"a folder to ask git about ignored files cannot be used: {error.strerror}",
        "make it writable, or free some disk space",
    )


def outer_rules(repo: Repo) -> dict[str, str]:
    """The rules outside the working tree: ``info/exclude`` and ``core.excludesFile``."""
    rules = {}
    exclude = read_rules(os.path.join(repo.common_dir or "", "info", "exclude"))
    if exclude is not None:
        rules[EXCLUDE] = exclude
    named = user_config(repo, "-z", "--type=path", "--get-all", "core.excludesFile").split(b"\0")
    if len(named) > 1:
        path = os.path.join(repo.top, os.fsdecode(named[-2]))
    else:
        home = os.path.join(os.environ.get("HOME", ""), ".config")
        path = os.path.join(os.environ.get("XDG_CONFIG_HOME") or home, "git", "ignore")
    text = read_rules(path)
    if text is not None:
        rules[EXCLUDES_FILE] = text
    return rules


def read_rules(path: str | bytes, *, follow: bool = True) -> str | None:
    """A file of ignore rules as text; None if there is none.

    A ``.gitignore`` that is a symlink is not followed, as in git.
    """
    if not follow and os.path.islink(path):
        return None
    data = read_regular(path, limit=SIZE_LIMIT + 1)
    if data is None:
        return None
    if len(data) > SIZE_LIMIT:
        raise in_file(os.fsdecode(path)).git(
            f"the ignore rules are larger than {SIZE_LIMIT} bytes", "shorten them"
        )
    return data.decode("utf-8", "surrogateescape")


def ignores_itself(folder: bytes) -> bool:
    """Whether a folder's own ``.gitignore`` holds ``*`` and nothing else but comments."""
    try:
        text = read_rules(folder + b"/" + RULES_FILE, follow=False)
    except GitError:
        return False
    lines = [line.rstrip() for line in (text or "").split("\n")]
    return [line for line in lines if line and not line.startswith("#")] == ["*"]


def remove_tree(place: str) -> None:
    """Remove a folder of Flow's own making; files that cannot be removed stay."""
    try:
        for folder, names, files in os.walk(os.fsencode(place), topdown=False):
            for name in files:
                os.unlink(os.path.join(folder, name))
            for name in names:
                os.rmdir(os.path.join(folder, name))
        os.rmdir(place)
    except OSError:
        return
