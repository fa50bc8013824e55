"""Surroundings of a working tree: git's hooks and exceptions, and operations under way."""

from __future__ import annotations

import os
import time

from flow.adapters.git import repository
from flow.adapters.git import settings as git_settings
from flow.adapters.git.find import read_regular
from flow.adapters.git.run import git, usable, user_config
from flow.core.boundary.guards import ALL_KINDS, KINDS, SHALLOW
from flow.errors import in_file
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flow.adapters.git.find import Repo

_UNDER_WAY = (
    ("MERGE_HEAD", "a merge is under way"),
    ("CHERRY_PICK_HEAD", "a cherry-pick is under way"),
    ("REVERT_HEAD", "a revert is under way"),
    ("rebase-merge", "a rebase is under way"),
    ("rebase-apply", "a rebase or git am is under way"),
    ("sequencer", "a cherry-pick or revert of several commits is under way"),
    ("BISECT_LOG", "a bisect is under way"),
)
_LOCKS = ("index.lock", "HEAD.lock")
_LOCK_WAIT = (0.05, 0.1, 0.2)
"""Seconds to wait for git's own lock: an editor's `git status` holds it for a moment."""

_INFO = ("exclude", "attributes", "grafts", "sparse-checkout")
_USERS = ("ignore", "attributes")
"""Files of the user that git reads beside the settings."""
_MOST = 2000
"""Most files below a folder of hooks that are digested; more of them are an error."""


def guards(repo: Repo) -> dict[str, str]:
    """name → digest of each thing that changes git's behaviour without being part of the tree.

    Hooks (samples aside) with the scripts beside them, ``core.hooksPath`` with the hooks it leads
    to, ``info/{exclude,attributes,grafts,sparse-checkout}``, the user's own ignore rules, the
    sources of history and objects, settings, and replace refs. Names that are absent have no entry.
    """
    git_dir, common = usable(repo), repo.common_dir or ""
    hooks = os.path.join(common, "hooks")
    digests: dict[str, str] = {KINDS: ALL_KINDS, **dict(_hook_digests(hooks, "hooks"))}
    digests.update(_beside_hooks(hooks))
    digests.update(git_settings.digests(repo))
    users = os.path.dirname(git_settings.places(repo)["~/.config/git/config"])
    places = {SHALLOW: os.path.join(common, "shallow")}
    places["objects/info/alternates"] = os.path.join(common, "objects", "info", "alternates")
    places.update((f"~/.config/git/{name}", os.path.join(users, name)) for name in _USERS)
    for name in _INFO:
        places[f"info/{name}"] = os.path.join(common, "info", name)
        if git_dir != common:
            places[f"worktree info/{name}"] = os.path.join(git_dir, "info", name)
    for name, path in places.items():
        data = read_regular(path)
        if data is not None:
            digests[name] = sha256(data).hexdigest()
    elsewhere = hooks_path(repo)
    if elsewhere is not None:
        digests["core.hooksPath"] = elsewhere
        folder = os.path.join(repo.top, os.path.expanduser(elsewhere))
        digests.update(_hook_digests(folder, "core.hooksPath"))
    replaced = _replace_refs(repo)
    if replaced:
        digests["refs/replace"] = sha256(replaced.encode("utf-8", "replace")).hexdigest()
    return digests


def problems(repo: Repo) -> tuple[str, ...]:
    """Reasons why git's view of this checkout is not settled now. Locks are never removed."""
    git_dir = usable(repo)
    texts = [text for name, text in _UNDER_WAY if os.path.lexists(os.path.join(git_dir, name))]
    for name in _LOCKS:
        path = os.path.join(git_dir, name)
        if os.path.lexists(path) and not _goes_away(path):
            texts.append(f"{path} is there: another git works here, or one was killed")
    return tuple(texts)


def _goes_away(path: str) -> bool:
    for pause in _LOCK_WAIT:
        time.sleep(pause)
        if not os.path.lexists(path):
            return True
    return False


def _hook_digests(folder: str, name: str) -> Iterator[tuple[str, str]]:
    try:
        names = sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise in_file(folder).git(f"the hooks cannot be read: {error.strerror}") from error
    for entry in names:
        path = os.path.join(folder, entry)
        if entry.endswith(".sample") or os.path.isdir(path):
            continue
        yield f"{name}/{entry}", hook_digest(path)


def hook_digest(path: str | None, data: bytes | None = None) -> str:
    """The guard's digest of the hook at ``path``, or of a program with the content ``data``."""
    if path is None:
        return sha256(b"x  " + (data or b"")).hexdigest()
    mode = "x" if os.access(path, os.X_OK) else "-"
    link = os.readlink(path) if os.path.islink(path) else ""
    text = f"{mode} {link} ".encode("utf-8", "surrogateescape")
    return sha256(text + (read_regular(path) or b"")).hexdigest()


def _beside_hooks(folder: str) -> Iterator[tuple[str, str]]:
    """The folder as a link, and the files of its folders, which hooks may start."""
    if os.path.islink(folder):
        yield "hooks, a link", sha256(os.fsencode(os.readlink(folder))).hexdigest()

    def unreadable(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            raise in_file(folder).git(f"the hooks cannot be read: {error.strerror}") from error

    count = 0
    for place, _, names in os.walk(folder, onerror=unreadable):
        if place == folder:
            continue
        for name in sorted(names):
            count += 1
            if count > _MOST:
                raise in_file(folder).git(f"more than {_MOST} files lie below it")
            path = os.path.join(place, name)
            digest = sha256(read_regular(path) or b"").hexdigest()
            yield f"hooks, beside: {os.path.relpath(path, folder)}", digest


def hooks_path(repo: Repo) -> str | None:
    """``core.hooksPath`` in force; None if it is not set.

    git is called only if a configuration file mentions it, or includes another file; names of keys
    cannot be quoted or continued over lines, so searching for the word is enough.
    """
    places = git_settings.places(repo).values()
    text = b"".join(read_regular(place) or b"" for place in places).lower()
    if b"hookspath" not in text and b"include" not in text:
        return None
    value = user_config(repo, "-z", "--get-all", "core.hooksPath").split(b"\0")
    return value[-2].decode("utf-8", "backslashreplace") if len(value) > 1 else None


def _replace_refs(repo: Repo) -> str:
    packed = repository.packed_refs(repo)
    if packed is None:
        shape = "--format=%(refname) %(objectname)"
        return git(repo, "for-each-ref", shape, "refs/replace/").decode("utf-8", "replace")
    refs, common = {}, repo.common_dir or ""
    for line in packed.splitlines():
        value, _, name = line.decode("utf-8", "replace").partition(" ")
        if name.startswith("refs/replace/"):
            refs[name] = value
    for place, _, names in os.walk(os.path.join(common, "refs", "replace")):
        for name in names:
            path = os.path.join(place, name)
            value = (read_regular(path) or b"").decode("utf-8", "replace").strip()
            refs[os.path.relpath(path, common)] = value
    return "\n".join(f"{value} {name}" for name, value in sorted(refs.items()))
