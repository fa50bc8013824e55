"""The one place that touches Flow's own files (SPEC 1).

``root`` is the absolute path of a checkout or of the user's state folder; ``rel`` is
``/``-separated below it. ``root`` itself may be reached through symlinks; below it every component
is opened with ``O_NOFOLLOW`` from the descriptor of the one before, so that a symlink at any level
is refused by name and a folder swapped for one while Flow works leads nowhere.

A published file is whole: written to a temporary file in the same folder, synced, then linked (a
new name) or renamed (a replaced one) into place, then the folder is synced. A failed sync means
that the record is lost: after an error the kernel may have dropped the pages and a second fsync
would report success (HAZARD A3), so Flow never tries again.

Errors: :class:`RefusedError` with code ``unsafe_path`` (a symlink, no regular file, a path that
leaves the root) or ``exists`` (a taken name); :class:`ContractError` for a file over its size
limit; :class:`StorageError` for errors of the system, with code ``not_found`` for an absent file.
"""

from __future__ import annotations

import errno
import os
import stat

from flow.adapters.fs.folders import (
    DIR_MODE,
    in_folder,
    in_made_folder,
    lstat_regular,
    make_folder,
    refusal,
    reported,
    scanned,
    split,
    sync_folder,
    unsafe,
)
from flow.adapters.fs.stamps import stamp_of
from flow.core import layout
from flow.errors import ContractError, RefusedError, in_file
from flow.startup.contexts import ExitStack, contextmanager
from flow.startup.sha import new
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flow.adapters.fs.archives import EvidenceArchive
    from flow.core.secrets.redact import Redactor

TEMP_PREFIX = layout.TEMP_PREFIX
FILE_MODE = 0o644
READ_LIMIT = 1 << 20
_STREAMED = 1 << 16
"""Bytes that are in memory while a file of any size is hashed or copied."""
FILES_NEEDED = 64
"""Free inodes below which a disk counts as full."""
LEFTOVERS_LIMIT = 1_000_000
"""Most entries that :func:`leftovers` looks at before it stops."""

_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TEMP_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_APPEND_FLAGS = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

NO_ARCHIVE = (ContractError, RefusedError)
"""Errors of :func:`evidence_archive` for a file in an archive's place that is none. An error of the
disk is not among them.
"""

_NOT_EMPTY = {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR}
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}


def read_optional(root: str, rel: str, *, limit: int = READ_LIMIT) -> bytes | None:
    """The file's bytes, at most ``limit`` of them; None only if the file is absent."""
    with _Opened(root, rel) as opened:
        return None if opened is None else _read_all(*opened, rel, limit)


def read_bytes(root: str, rel: str, *, limit: int = READ_LIMIT) -> bytes:
    """The file's bytes; :class:`StorageError` with code ``not_found`` if it is absent."""
    data = read_optional(root, rel, limit=limit)
    if data is None:
        raise in_file(rel).storage("there is no such file", "check the name", code="not_found")
    return data


def open_regular(root: str, rel: str) -> int | None:
    """A descriptor to read a regular file from; None if it is absent. The caller closes it.

    Never waits: a FIFO or a device is refused before it is opened. A file of an evidence folder
    that is absent is read from the run's archive, if that has it.
    """
    opened = _open_sized(root, rel)
    return None if opened is None else opened[0]


def _open_sized(root: str, rel: str) -> tuple[int, int] | None:
    """:func:`open_regular`, with the file's size in bytes."""
    opened = _open_in_place(root, rel)
    if opened is None:
        archive = evidence_archive(root, layout.archive_of(rel))
        fd = archive.open_member(rel) if archive is not None else None
        return None if fd is None else (fd, os.fstat(fd).st_size)
    return opened


def _open_in_place(root: str, rel: str) -> tuple[int, int] | None:
    with in_folder(root, rel, "read") as (folder, name):
        if folder is None or lstat_regular(folder, name, rel) is None:
            return None
        try:
            fd = os.open(name, _READ_FLAGS, dir_fd=folder)
        except FileNotFoundError:
            return None
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):  # swapped between the two calls
            os.close(fd)
            raise unsafe(rel, "is not a regular file")
        return fd, status.st_size


def evidence_archive(root: str, rel: str) -> EvidenceArchive | None:
    """The archive at ``rel``; None if there is none, or ``rel`` is empty."""
    opened = _open_in_place(root, rel) if rel else None
    if opened is None:
        return None
    from flow.adapters.fs import archives  # most runs have none

    return archives.opened(root, rel, opened[0])


class _Opened:
    """:func:`_open_sized`, closed afterwards."""

    __slots__ = ("_opened", "_rel", "_root")

    def __init__(self, root: str, rel: str) -> None:
        self._root, self._rel = root, rel
        self._opened: tuple[int, int] | None = None

    def __enter__(self) -> tuple[int, int] | None:
        self._opened = _open_sized(self._root, self._rel)
        return self._opened

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._opened is not None:
            os.close(self._opened[0])
        if isinstance(error, OSError):
            raise refusal("read", self._rel, error) from error


def digest(root: str, rel: str, *, limit: int = READ_LIMIT) -> str | None:
    """The file's SHA-256 (hex), streamed; None if it is absent.

    A file of more than ``limit`` bytes is a :class:`ContractError`: a sparse one could take hours.
    """
    with _Opened(root, rel) as opened:
        if opened is None:
            return None
        fd, size = opened
        hashed, read = new("sha256", size), 0
        while size <= limit and (chunk := os.read(fd, _STREAMED)):
            hashed.update(chunk)
            read += len(chunk)
            if read == size:  # all that was there
                break
            size = max(size, read)
        if size > limit:
            raise _too_large(rel, size, limit)
    return hashed.hexdigest()


def read_end(root: str, rel: str, *, limit: int) -> bytes:
    """The last ``limit`` bytes of a regular file; empty if it is absent."""
    return size_and_end(root, rel, limit=limit)[1]


def size_and_end(root: str, rel: str, *, limit: int) -> tuple[int, bytes]:
    """:func:`read_end`, and the file's size in bytes; 0 if it is absent."""
    with _Opened(root, rel) as opened:
        if opened is None:
            return 0, b""
        fd, size = opened
        return size, os.pread(fd, limit, max(size - limit, 0))


def size(root: str, rel: str) -> int:
    """The size of a regular file in bytes; 0 if it is absent."""
    with in_folder(root, rel, "read") as (folder, name):
        status = None if folder is None else lstat_regular(folder, name, rel)
        return 0 if status is None else status.st_size


SIZE_IN_STAMP = 3
"""The index of the size in a :func:`stamp`."""


def stamp(root: str, rel: str) -> tuple[int, ...]:
    """Identity, size and times of the file at this path: another file, or a write, changes them.

    Empty if there is none. A second write through a shared mapping may leave them unchanged.
    """
    try:
        st = os.lstat(f"{root}/{rel}")
    except OSError:
        return ()
    return stamp_of(st)


def stamps(root: str, paths: Mapping[str, str]) -> dict[str, tuple[int, ...]]:
    """The :func:`stamp` of each path below ``root``; ``paths`` names them by their last component.

    All are in one folder, which is opened once.
    """
    folder = os.path.dirname(next(iter(paths.values()), ""))
    try:
        fd = os.open(f"{root}/{folder}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return {path: stamp(root, path) for path in paths.values()}
    looked: dict[str, tuple[int, ...]] = {}
    try:
        for name, path in paths.items():
            try:
                st = os.stat(name, dir_fd=fd, follow_symlinks=False)
            except OSError:
                looked[path] = ()
                continue
            looked[path] = stamp_of(st)
    finally:
        os.close(fd)
    return looked


def exists(root: str, rel: str) -> bool:
    """Whether a regular file is there; anything else at that name is refused.

    A file of an evidence folder may be in the run's archive, as for :func:`open_regular`. A file in
    an archive's place that is no archive counts as empty: anyone can put it there, and the commands
    of an open run must go on.
    """
    with in_folder(root, rel, "read") as (folder, name):
        if folder is not None and lstat_regular(folder, name, rel) is not None:
            return True
    try:
        archive = evidence_archive(root, layout.archive_of(rel))
    except NO_ARCHIVE:
        return False
    return archive is not None and rel in archive.paths


def check_space(root: str, needed: int, name: str = layout.RUNS) -> None:
    """Raise :class:`StorageError` if the disk has fewer than ``needed`` bytes, or no file, left.

    ``name`` is the folder in the error. A file system that counts neither (some network file
    systems) is believed to have room.
    """
    with reported("write", name):
        disk = os.statvfs(root)
        blocks = disk.f_bfree if os.geteuid() == 0 else disk.f_bavail
        few = disk.f_blocks > 0 and blocks * disk.f_frsize < needed
        if few or (disk.f_files > 0 and disk.f_favail < FILES_NEEDED):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def publish_new(root: str, rel: str, data: bytes, *, mode: int = FILE_MODE) -> None:
    """Write a file that must not exist yet, whole and synced; exactly one of many callers wins."""
    with in_made_folder(root, rel) as (folder, name), _temporary(folder, mode) as (temp, fd):
        write_all(fd, data)
        os.fsync(fd)
        _publish(temp, name, folder, rel)


def put(root: str, rel: str, data: bytes, *, new: bool) -> None:
    """:func:`publish_new` for a file that was not there, :func:`replace` for one that was."""
    (publish_new if new else replace)(root, rel, data)


@contextmanager
def prepared(root: str, rel: str, data: bytes, token: str) -> Iterator[Callable[[], None]]:
    """:func:`publish_new` in two steps: everything that may fail first, then the returned call.

    Before that call the bytes are whole and synced under a temporary name made of ``token``, and so
    are the names of all other files in the folder. A kill leaves the temporary file, which
    :func:`complete` publishes; without a kill it is gone afterwards. The name ``rel`` is not
    synced: a power cut may leave the temporary one in its place.
    """
    with (
        in_made_folder(root, rel) as (folder, name),
        _temporary(folder, FILE_MODE, token) as (temp, fd),
    ):
        write_all(fd, data)
        os.fsync(fd)
        sync_folder(folder)

        def put() -> None:
            with reported("write", rel):
                _publish(temp, name, folder, rel, sync=False)

        yield put


@contextmanager
def building(root: str, rel: str) -> Iterator[tuple[int, Callable[[], None]]]:
    """:func:`publish_new` for more than fits into memory: a descriptor to write to, and to read.

    The caller syncs it and then calls the returned function. Without that call no file stays.
    """
    with in_made_folder(root, rel) as (folder, name), _temporary(folder, FILE_MODE) as (temp, fd):

        def put() -> None:
            with reported("write", rel):
                _publish(temp, name, folder, rel)

        yield fd, put


def complete(root: str, rel: str, token: str) -> bool:
    """Publish a file that a killed process had :func:`prepared`; False if there is none."""
    temp = TEMP_PREFIX + token
    with in_folder(root, rel, "write") as (folder, name):
        if folder is None or lstat_regular(folder, temp, rel) is None:
            return False
        _publish(temp, name, folder, rel)
    return True


def truncate(root: str, rel: str, size: int) -> None:
    """Cut a regular file down to ``size`` bytes, synced. Callers hold a lock."""
    with in_folder(root, rel, "write") as (folder, name):
        if folder is None or lstat_regular(folder, name, rel) is None:
            return
        fd = os.open(name, _APPEND_FLAGS, dir_fd=folder)
        try:
            _refuse_shared(os.fstat(fd), rel)
            os.ftruncate(fd, size)
            os.fsync(fd)
        finally:
            os.close(fd)


def publish_file(root: str, rel: str, source: str) -> None:
    """Give the file at the absolute path ``source``, its bytes synced, a second name ``rel``.

    From another file system its bytes are copied and synced instead. The caller drops ``source``.
    The name is not synced: it reaches the disk with the next one in the folder that is.
    """
    with in_made_folder(root, rel) as (folder, name):
        if not stat.S_ISREG(os.lstat(source).st_mode):
            raise unsafe(source, "is not a regular file")
        try:
            _link(source, name, folder, rel)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            copy_new(root, rel, source)


def copy_new(
    root: str, rel: str, source: str, *, limit: int | None = None, through: Redactor | None = None
) -> tuple[str, int]:
    """Copy the regular file at ``source`` to the new name ``rel``, streamed and synced.

    Returns the copy's SHA-256 (hex) and its size in bytes. ``source`` must not be a symlink; at
    most ``limit`` bytes are read from it, and written as ``through`` returns them.
    """
    with reported("read", source):
        if not stat.S_ISREG(os.lstat(source).st_mode):
            raise unsafe(source, "is not a regular file")
        incoming = os.open(source, _READ_FLAGS)
    with ExitStack() as stack:
        stack.callback(os.close, incoming)
        folder, name = stack.enter_context(in_made_folder(root, rel))
        temp, fd = stack.enter_context(_temporary(folder, FILE_MODE))
        digest, size = new("sha256", os.fstat(incoming).st_size), 0
        for chunk in _copied(incoming, source, limit, through):
            size += len(chunk)
            digest.update(chunk)
            write_all(fd, chunk)
        os.fsync(fd)
        _publish(temp, name, folder, rel)
    return digest.hexdigest(), size


def _copied(fd: int, source: str, limit: int | None, through: Redactor | None) -> Iterator[bytes]:
    """The bytes of ``fd`` as ``through`` leaves them, in parts."""
    taken = 0
    while chunk := os.read(fd, _STREAMED):
        taken += len(chunk)
        if limit is not None and taken > limit:
            raise _too_large(source, taken, limit)
        yield chunk if through is None else through.feed(chunk)
    if through is not None:
        yield through.finish()


def replace(root: str, rel: str, data: bytes, *, mode: int = FILE_MODE, sync: bool = True) -> None:
    """Write a file, new or not; readers see the old bytes or the new ones, whole.

    A file that is replaced keeps its permissions; ``mode`` is for a new one. ``sync=False`` is for
    files that can be made again: a power cut may leave it old, empty or absent.
    """
    with staged(root, rel, data, mode=mode, sync=sync) as put:
        put()


@contextmanager
def staged(
    root: str, rel: str, data: bytes, *, mode: int = FILE_MODE, sync: bool = True
) -> Iterator[Callable[[], None]]:
    """:func:`replace` in two steps: everything that may fail first, then the returned call.

    Without that call nothing changes and no temporary file stays.
    """
    parts = split(rel)
    with ExitStack() as stack:
        with reported("write", rel):
            folder = make_folder(root, parts[:-1], DIR_MODE)
            stack.callback(os.close, folder)
            before = lstat_regular(folder, parts[-1], rel)
            temp, fd = stack.enter_context(_temporary(folder, mode))
            if before is not None:
                _keep_owner(fd, before)
            write_all(fd, data)
            if sync:
                os.fsync(fd)

        def put() -> None:
            with reported("write", rel):
                os.rename(temp, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
                if sync:
                    sync_folder(folder)

        yield put


def append_line(
    root: str, rel: str, line: bytes, *, mode: int = FILE_MODE, sync: bool = True
) -> tuple[int, ...]:
    """Append ``line`` (its newline is added) with one write; a torn tail is ended first.

    Returns the file's :func:`stamp` afterwards. Callers hold a lock: a part of the line that a
    failing disk took is cut off again. ``sync=False`` leaves it to a later append of the same file
    to bring the line to the disk.
    """
    line = line.rstrip(b"\n")
    if b"\n" in line:
        raise ValueError("one line at a time")
    return append_lines(root, rel, line + b"\n", mode=mode, sync=sync)


def append_lines(
    root: str, rel: str, lines: bytes, *, mode: int = FILE_MODE, sync: bool = True
) -> tuple[int, ...]:
    """:func:`append_line` for several lines, each ended, at once."""
    with in_made_folder(root, rel) as (folder, name):
        before = lstat_regular(folder, name, rel)
        flags = _APPEND_FLAGS | (os.O_CREAT if before is None else 0)
        fd = os.open(name, flags, mode, dir_fd=folder)
        try:
            _append(fd, rel, lines, sync)
            after = os.fstat(fd)
        finally:
            os.close(fd)
        if before is None and sync:
            sync_folder(folder)
    return stamp_of(after)


def rename(root: str, rel: str, name: str) -> None:
    """Give a regular file another name in its folder, its content synced first.

    Callers hold a lock and have checked that the name is free.
    """
    with in_folder(root, rel, "rename") as (folder, before):
        if folder is None or lstat_regular(folder, before, rel) is None:
            return
        fd = os.open(before, _READ_FLAGS, dir_fd=folder)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
        os.rename(before, name, src_dir_fd=folder, dst_dir_fd=folder)
        sync_folder(folder)


def remove(root: str, rel: str, *, sync: bool = True) -> None:
    """Remove a regular file; an absent one is fine.

    Without ``sync`` it may be back after a power cut.
    """
    with in_folder(root, rel, "remove") as (folder, name):
        if folder is None or lstat_regular(folder, name, rel) is None:
            return
        try:
            os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            return
        if sync:
            sync_folder(folder)


def remove_empty(root: str, rel: str) -> None:
    """Remove a folder, unless it is not empty or no folder."""
    with in_folder(root, rel, "remove") as (folder, name):
        if folder is None:
            return
        try:
            os.rmdir(name, dir_fd=folder)
        except OSError as error:
            if error.errno not in _NOT_EMPTY:
                raise
        else:
            sync_folder(folder)


def first_free(is_taken: Callable[[int], bool]) -> int:
    """The first free number from 1 on, if the taken ones have no gap; few are looked at.

    The number is doubled until one is free, and then halved in between.
    """
    taken, free = 0, 1
    while is_taken(free):
        taken, free = free, 2 * free
    while free - taken > 1:
        middle = (taken + free) // 2
        taken, free = (middle, free) if is_taken(middle) else (taken, middle)
    return free


def names(root: str, rel: str, *, suffix: str, limit: int) -> list[str]:
    """Names in a folder that end in ``suffix``, sorted, temporary files left out; [] if absent.

    More than ``limit`` of them is a :class:`StorageError`: no file that counts is left out in
    silence. Those in the archive of an evidence folder are :func:`archived_names`.
    """
    with listed(root, rel, suffix=suffix, limit=limit) as entries:
        return sorted(entry.name for entry in entries)


def archived_names(root: str, rel: str, *, suffix: str) -> list[str]:
    """The names as :func:`names` returns them, but in the archive of an evidence folder.

    Raises one of :data:`NO_ARCHIVE` if another file is in its place.
    """
    archive = evidence_archive(root, layout.archive_of(f"{rel}/any{suffix}"))
    archived = (path.rpartition("/")[2] for path in archive.paths) if archive is not None else ()
    return sorted(name for name in archived if name.endswith(suffix))


@contextmanager
def listed(root: str, rel: str, *, suffix: str, limit: int) -> Iterator[list[os.DirEntry[str]]]:
    """The entries of :func:`names`, in no order, for use within the block."""
    with scanned(root, rel) as entries:
        chosen: list[os.DirEntry[str]] = []
        for entry in entries:
            if entry.name.endswith(suffix) and not entry.name.startswith(TEMP_PREFIX):
                chosen.append(entry)
                if len(chosen) > limit:
                    raise in_file(rel).storage(
                        f"there are more than {limit} {suffix} files",
                        "move old ones away (flow gc)",
                    )
        yield chosen


def leftovers(root: str, folders: tuple[str, ...] = (".flow", ".decisions")) -> list[str]:
    """Temporary files that an ended process left below ``folders``, as paths below ``root``.

    For ``doctor``, which removes them under the locks: a process at work has some too.
    """
    paths: list[str] = []
    queue = [folder for folder in folders if not os.path.islink(os.path.join(root, folder))]
    seen = 0
    while queue:
        rel = queue.pop()
        try:
            with os.scandir(os.path.join(root, rel)) as entries:
                for entry in entries:
                    seen += 1
                    if entry.is_dir(follow_symlinks=False):
                        queue.append(f"{rel}/{entry.name}")
                    elif entry.name.startswith(TEMP_PREFIX):
                        paths.append(f"{rel}/{entry.name}")
        except OSError:
            continue  # gone or unreadable: nothing there can be removed
        if seen > LEFTOVERS_LIMIT:
            break
    return sorted(paths)


def _too_large(rel: str, size: int, limit: int) -> ContractError:
    return in_file(rel, value=f"{size} bytes").corrupt(
        f"is larger than {limit} bytes", "Flow does not read a file of this size"
    )


@contextmanager
def _temporary(folder: int, mode: int, token: str | None = None) -> Iterator[tuple[str, int]]:
    """A new file (name, descriptor) in ``folder``; it is gone afterwards, also after an error.

    With a ``token`` its name contains that, and a killed process's file of this name is replaced.
    """
    name = TEMP_PREFIX + (token or os.urandom(layout.TEMP_DIGITS // 2).hex())
    try:
        fd = os.open(name, _TEMP_FLAGS, mode & ~0o022, dir_fd=folder)
    except FileExistsError:
        if token is None:
            raise
        os.unlink(name, dir_fd=folder)
        fd = os.open(name, _TEMP_FLAGS, mode & ~0o022, dir_fd=folder)
    try:
        yield name, fd
    finally:
        os.close(fd)
        try:
            os.unlink(name, dir_fd=folder)
        except OSError:
            pass  # renamed, or removed after linking; else doctor names it


def _link(source: str, name: str, folder: int, rel: str) -> None:
    """Give ``source``, in ``folder`` or absolute, a second name: the call that replaces no file."""
    try:
        os.link(source, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        lstat_regular(folder, name, rel)  # a symlink or a folder there is refused as such
        raise in_file(rel).refused(
            "it exists already", "what is recorded is never replaced; use a new id", code="exists"
        ) from None
    except OSError as error:
        if error.errno in _NO_LINKS:
            raise in_file(rel).storage(
                f"cannot write it: this file system has no hard links ({error.strerror})",
                "keep the checkout on a file system that has them (flow doctor checks)",
                code="no_hard_links",
            ) from error
        raise


def _publish(temp: str, name: str, folder: int, rel: str, *, sync: bool = True) -> None:
    """Move a temporary file to a new name, and bring that to the disk.

    If the disk fails the record is lost, so the name is removed.
    """
    _link(temp, name, folder, rel)
    try:
        os.unlink(temp, dir_fd=folder)
        if sync:
            sync_folder(folder)
    except OSError:
        try:
            os.unlink(name, dir_fd=folder)
        except OSError:
            pass  # the first error is the one to report
        raise


def _keep_owner(fd: int, before: os.stat_result) -> None:
    ours = os.fstat(fd)
    if (ours.st_uid, ours.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.fchown(fd, before.st_uid, before.st_gid)
        except PermissionError:
            pass  # only root may give files away; the content is what counts
    os.fchmod(fd, stat.S_IMODE(before.st_mode) & 0o777)


def _read_all(fd: int, size: int, rel: str, limit: int) -> bytes:
    if size > limit:
        raise _too_large(rel, size, limit)
    chunks: list[bytes] = []
    left = limit + 1
    while left > 0 and (chunk := os.read(fd, min(left, _block(size)))):
        chunks.append(chunk)
        left -= len(chunk)
        if left == limit + 1 - size:  # all that was there
            break
    if left <= 0:  # it grew while it was read
        raise _too_large(rel, limit + 1, limit)
    return b"".join(chunks)


def _block(size: int) -> int:
    """Bytes to read at once from a file of ``size`` bytes: room for a MiB takes time to make."""
    return min(max(size + 1, 1 << 16), 1 << 20)


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Write everything: on a full disk a write may take a part and raise nothing (HAZARD A2)."""
    view = memoryview(data)
    while view:
        written = os.write(fd, view)
        if written == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        view = view[written:]


def _append(fd: int, rel: str, data: bytes, sync: bool) -> None:
    status = os.fstat(fd)
    _refuse_shared(status, rel)
    start = status.st_size
    if start and os.pread(fd, 1, start - 1) != b"\n":
        data = b"\n" + data
    try:
        write_all(fd, data)
        if sync:
            os.fsync(fd)
    except OSError:
        os.ftruncate(fd, start)
        raise


def _refuse_shared(status: os.stat_result, rel: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise unsafe(rel, "is not a regular file")
    if status.st_nlink > 1:  # a write in place would also change the file under its other name
        raise unsafe(rel, "has a second name (a hard link)")
