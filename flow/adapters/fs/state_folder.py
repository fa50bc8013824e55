"""The user's own state folder (SPEC 1): its place, and the check that only the user writes it.

Facts that a checkout must not be able to change (trust, who owns a goal, chain heads) are stored
there; so a folder inside the checkout in question, or one that others may write, is never used.
"""

from __future__ import annotations

import os
import stat

from flow.core.layout import TEMP_PREFIX
from flow.core.text.display import visible
from flow.errors import RefusedError, StorageError, at_key, in_file
from flow.startup import json
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "FLOW_STATE_DIR"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def state_dir(
    environ: Mapping[str, str], home: str | None, top: str | None, common_dir: str | None = None
) -> str:
    """The real path of ``$FLOW_STATE_DIR``, else of ``~/.claude/flow-state``; not made on disk.

    A variable that points into the checkout ``top`` (or the main checkout of its ``common_dir``) is
    ignored (HAZARD C30); :func:`ignored_variable` gives the warning. Raises :class:`InputError`
    without a home folder or for a relative path, :class:`RefusedError` (``unsafe_state_dir``) if
    the default is in the checkout too.
    """
    chosen = _chosen(environ)
    if chosen is not None and checkout_around(chosen, top, common_dir) is None:
        return chosen
    if not home or not os.path.isabs(home):
        why = "is no absolute path" if home else "is not set"
        raise at_key("HOME", home).invalid(
            f"there is no home folder to keep trust in (HOME {why})",
            f"set HOME, or {VARIABLE} to a folder of yours outside the checkout",
        )
    path = real_path(os.path.join(home, ".claude", "flow-state"))
    refuse_inside(path, top, common_dir)
    return path


def ignored_variable(
    environ: Mapping[str, str], top: str | None, common_dir: str | None = None
) -> str | None:
    """The warning that :func:`state_dir` ignores ``$FLOW_STATE_DIR``; None if it does not."""
    chosen = _chosen(environ)
    inside = checkout_around(chosen, top, common_dir) if chosen is not None else None
    if chosen is None or inside is None:
        return None
    return (
        f"{VARIABLE}: ignored, since {visible(chosen)} lies inside the checkout {visible(inside)}"
    )


def ensure_state_dir(path: str) -> None:
    """Make the state folder and those above it with mode 0700, and check their owner."""
    missing = []
    above = path
    while not os.path.lexists(above):
        missing.append(above)
        above = os.path.dirname(above)
    for folder in reversed(missing):
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            pass  # another process made it just now
        except OSError as error:
            raise storage_error("make the state folder", folder, error) from error
    check_state_dir(path)


def ensure_below(folder: str, rel: str) -> None:
    """Make the state folder and the folders of ``rel`` in it, each as :func:`ensure_state_dir`."""
    ensure_state_dir(folder)
    for part in rel.split("/"):
        folder = os.path.join(folder, part)
        ensure_state_dir(folder)


def key_of(text: str) -> str:
    """The name by which the state folder knows a path, or any other text: 32 hex digits."""
    return sha256(os.fsencode(text)).hexdigest()[:32]


def write_json(folder: str, rel: str, document: object, verb: str) -> None:
    """:func:`write_own` for a JSON document."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=True)
    write_own(folder, rel, text.encode("ascii"), verb)


def write_own(folder: str, rel: str, data: bytes, verb: str) -> None:
    """Replace a file of the state folder whole; ``verb`` names the attempt in errors."""
    target = os.path.join(folder, rel)
    try:
        try:
            replace_own(target, data)
        except FileNotFoundError:
            ensure_below(folder, os.path.dirname(rel))
            replace_own(target, data)
    except OSError as error:
        raise storage_error(verb, target, error) from error


def append_own(folder: str, rel: str, line: str) -> None:
    """Append a line to a file of the state folder, whose whole path errors name."""
    from flow.adapters.fs import files

    try:
        files.append_line(folder, rel, line.encode("ascii"), mode=0o600)
    except StorageError as error:
        raise in_file(visible(f"{folder}/{rel}")).storage(error.message, error.remedy) from error


def check_state_dir(path: str) -> bool:
    """Whether the state folder is there; :class:`RefusedError` if others could write in it."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise storage_error("look at the state folder", path, error) from error
    if not stat.S_ISDIR(status.st_mode):
        raise _refused(path, "is not a folder", f"move it away, or set {VARIABLE}")
    check_owner(path, status, "700")
    return True


def replace_own(path: str, *data: bytes) -> None:
    """Replace a file of the state folder whole, in a folder that is there and checked.

    No lock excludes other writers, so the temporary file's name is unique. Nothing is synced: files
    written this way can be made again, and readers recognize a torn one. Raises OSError.
    """
    name = f"{TEMP_PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
    temporary = os.path.join(os.path.dirname(path), name)
    fd = os.open(temporary, _NEW_FILE, 0o600)
    try:
        try:
            for part in data:
                left = memoryview(part)
                while left:  # on a full disk a write may take a part and raise nothing
                    left = left[os.write(fd, left) :]
        finally:
            os.close(fd)
        os.replace(temporary, path)
    except BaseException:  # an interrupt, too
        try:
            os.unlink(temporary)
        except FileNotFoundError:
            pass  # the interrupt came after the replacement
        raise


def read_small(path: str | bytes, limit: int) -> bytes | None:
    """The content of a regular file that has at most ``limit`` bytes; None for anything else.

    None also for a symlink, for a name that is no path and for a file that cannot be read.
    """
    try:
        fd = os.open(path, _READ)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or status.st_size > limit:
                return None
            return os.read(fd, status.st_size)
        finally:
            os.close(fd)
    except (OSError, ValueError):
        return None


def drop_oldest(folder: str, most: int, prefixes: tuple[str, ...] = ("",)) -> None:
    """Remove all but the ``most`` newest files whose names begin with one of ``prefixes``.

    Files that cannot be looked at or removed stay until the next time.
    """
    try:
        with os.scandir(folder) as entries:
            files = [
                entry
                for entry in entries
                if entry.name.startswith(prefixes) and not entry.is_dir(follow_symlinks=False)
            ]
        if len(files) > most:
            files.sort(key=lambda file: file.stat(follow_symlinks=False).st_mtime_ns)
    except OSError:
        return
    for file in files[: max(len(files) - most, 0)]:
        try:
            os.unlink(file.path)
        except OSError:
            continue


def checkout_around(path: str, top: str | None, common_dir: str | None) -> str | None:
    """The folder of the checkout that contains ``path``; None if none does.

    By device and inode, so that letter case, bind mounts and links make no difference.
    """
    roots = [top] if top else []
    if common_dir:
        parent, name = os.path.split(os.path.realpath(common_dir))
        roots += [common_dir, parent] if name == ".git" else [common_dir]
    known: dict[tuple[int, int], str] = {}
    for root in roots:
        try:
            status = os.stat(root)
        except OSError:
            continue
        known[status.st_dev, status.st_ino] = root
    above = path
    while True:
        try:
            status = os.stat(above)
        except OSError:
            pass  # not made yet
        else:
            if (status.st_dev, status.st_ino) in known:
                return known[status.st_dev, status.st_ino]
        parent = os.path.dirname(above)
        if parent == above:
            return None
        above = parent


def refuse_inside(path: str, top: str | None, common_dir: str | None) -> None:
    """Raise :class:`RefusedError` if ``path`` is in the checkout or its main checkout."""
    inside = checkout_around(path, top, common_dir)
    if inside is not None:
        raise _refused(
            path,
            f"lies inside the checkout {visible(inside)}, which could then trust itself",
            f"set {VARIABLE} to a folder of yours outside it",
        )


def _chosen(environ: Mapping[str, str]) -> str | None:
    chosen = environ.get(VARIABLE)
    if not chosen:
        return None
    if not os.path.isabs(chosen):
        raise at_key(VARIABLE, chosen).invalid(
            f"{VARIABLE} is not an absolute path", "write the whole path, from / on"
        )
    return real_path(chosen)


def has_own(folder: str, name: str, what: str) -> bool:
    """Whether the state folder has a file of the user's own; ``what`` names it in errors.

    Raises :class:`RefusedError` if others could have written folder or file. A file that is not
    regular is refused by its reader.
    """
    if not check_state_dir(folder):
        return False
    path = os.path.join(folder, name)
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise storage_error(f"look at {what}", path, error) from error
    if stat.S_ISREG(status.st_mode):
        check_owner(path, status, "600")
    return True


def check_owner(path: str, status: os.stat_result, mode: str) -> None:
    """Raise :class:`RefusedError` if others could have written it.

    ``mode`` is the one that the remedy names.
    """
    if status.st_uid != os.geteuid():
        raise _refused(
            path,
            f"belongs to another user (number {status.st_uid})",
            f"use a folder of your own: set {VARIABLE}, or give it to yourself with chown",
        )
    if stat.S_IMODE(status.st_mode) & 0o022:
        from flow.core.text.shell_quote import shell_argument  # few folders are refused

        raise _refused(
            path,
            f"may be written by others (mode {stat.S_IMODE(status.st_mode):04o})",
            f"check what is in it, then: chmod {mode} {shell_argument(path)}",
        )


def _refused(path: str, why: str, remedy: str) -> RefusedError:
    return in_file(visible(path)).refused(
        f"the user's state {why}", remedy, code="unsafe_state_dir"
    )


def storage_error(verb: str, path: str, error: OSError) -> StorageError:
    """The error for a refusal of the system, with the file's name."""
    from flow.adapters.fs.folders import remedy

    other = f"check the folder's owner, mode and disk, or set {VARIABLE} to another one"
    return in_file(visible(path)).storage(
        f"cannot {verb}: {error.strerror or type(error).__name__}", remedy(error, other)
    )


def real_path(path: str) -> str:
    """``path`` with every link in it resolved; the last parts need not exist."""
    try:
        return os.path.realpath(path)
    except ValueError:
        raise at_key(VARIABLE, ascii(path)).invalid("not a path", "remove the NUL byte") from None
