"""Read a transcript's file as a stream, in bounded memory, and find a session's files.

All files here are foreign: of any size, cut off anywhere, with any content.
"""

from __future__ import annotations

import json
import os
import re
import stat
from hashlib import sha256
from tempfile import TemporaryFile

from flow.adapters.fs.state_folder import read_small
from flow.errors import InputError, in_file
from flow.startup.json import object_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flow.core.transcript.claude import Session

MOST_LINE = 16 << 20
"""Most bytes of one line; Claude Code writes a picture into one."""
MOST_SESSION = 1 << 30
"""Most bytes of a session that are read: its end."""
MOST_TEXT = 16 << 20
"""Most bytes of a saved text that are read: half from its beginning, half from its end."""
MOST_FILES = 20_000
"""Most names in a folder that are read."""
MOST_FOLDERS = 64
PROJECT_NAME = 200
"""Characters of a project's folder beyond which Claude Code shortens it with a hash."""

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_BYTE_ORDERS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


class Source(NamedTuple):
    """An open transcript. The reader closes ``fd``."""

    path: str
    fd: int
    size: int
    head: bytes
    """The first bytes, at most 64 KiB."""


STDIN = "-"
"""A transcript on standard input; there are no files beside it."""


def open_source(path: str, *, follow: bool = True) -> Source:
    """Open a regular file; :class:`InputError` if it is none, is absent or is empty.

    ``follow`` False refuses a symlink: for files that the user did not name. ``-`` is standard
    input.
    """
    try:
        if path == STDIN:
            fd = _spooled()
        else:
            fd = os.open(path, _FLAGS if follow else _FLAGS | os.O_NOFOLLOW)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no path"
        code = "not_found" if isinstance(error, FileNotFoundError) else "unreadable"
        raise refused(path, f"the transcript cannot be read: {reason}", code) from error
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise refused(path, "the transcript is not a regular file", "unreadable")
        head = os.pread(fd, 1 << 16, 0)
        if not head.strip(b" \t\r\n\0\xef\xbb\xbf\xff\xfe"):
            raise refused(path, "the transcript is empty", "empty")
    except OSError as error:
        os.close(fd)
        fault = f"the transcript cannot be read: {error.strerror}"
        raise refused(path, fault, "unreadable") from error
    except BaseException:
        os.close(fd)
        raise
    return Source(path, fd, status.st_size, head)


def _spooled() -> int:
    """Standard input in a nameless file, since a transcript is not read in one pass."""
    with TemporaryFile() as file:
        size = 0
        while chunk := os.read(0, 1 << 20):
            size += len(chunk)
            if size > MOST_SESSION:
                fault = f"the transcript on standard input is larger than {MOST_SESSION} bytes"
                raise refused(STDIN, fault, "too_large")
            file.write(chunk)
        file.flush()
        fd = os.dup(file.fileno())
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def refused(path: str, fault: str, code: str) -> InputError:
    """The error of a file that is no transcript."""
    remedy = "name a transcript that was written: a session's .jsonl, text or Markdown"
    return in_file(path).invalid(fault, remedy, code=code)


class SessionLines:
    """The JSON values of a session's lines; afterwards ``warnings`` names the missing parts."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.bad = self.long = self.skipped = 0
        self.torn = False
        self.digest = ""
        """SHA-256 of the lines that were read."""

    def __iter__(self) -> Iterator[Any]:
        """One value for each line that is JSON. Closes the file."""
        hashed = sha256()
        for line in self._raw():
            hashed.update(line)
            if not line.strip(b" \t\r\n\0"):
                continue
            try:
                yield json.loads(line.decode("utf-8", "replace").strip("\0"))
            except (ValueError, RecursionError):
                if line.endswith(b"\n"):
                    self.bad += 1
                else:
                    self.torn = True
        self.digest = hashed.hexdigest()

    def read_into(self, session: Session) -> None:
        """Give each value to ``session``; one that it cannot take counts as bad."""
        for line in self:
            self.bad += not session.line(line)

    def _raw(self) -> Iterator[bytes]:
        source = self.source
        if source.head.startswith((b"\xff\xfe", b"\xfe\xff")):
            for text in decoded_text(source).split("\n"):
                yield text.encode("utf-8", "replace") + b"\n"
            return
        with open(source.fd, "rb", buffering=1 << 20) as file:
            if source.head.startswith(b"\xef\xbb\xbf"):
                file.seek(3)
            if source.size > MOST_SESSION:
                self.skipped = source.size - MOST_SESSION
                file.seek(self.skipped)
                _to_line_end(file)
            while line := file.readline(MOST_LINE):
                if len(line) == MOST_LINE and not line.endswith(b"\n"):
                    self.long += 1
                    _to_line_end(file)
                else:
                    yield line

    @property
    def warnings(self) -> list[str]:
        """The missing parts of the file, in plain words."""
        warnings = []
        if self.skipped:
            warnings.append(f"its first {self.skipped} bytes were not read")
        if self.bad:
            warnings.append(f"{_lines(self.bad)} no JSON that can be read; left out")
        if self.long:
            warnings.append(f"{_lines(self.long)} longer than {MOST_LINE} bytes; left out")
        if self.torn:
            warnings.append("its last line is cut off; left out")
        return warnings


def _lines(count: int) -> str:
    return "1 line is" if count == 1 else f"{count} lines are"


def _to_line_end(file: Any) -> None:
    while (part := file.readline(1 << 20)) and not part.endswith(b"\n"):
        pass


def decoded_text(source: Source) -> str:
    """A saved text, decoded; of a long one the beginning and the end. Closes the file."""
    half = MOST_TEXT // 2
    with open(source.fd, "rb") as file:
        data = file.read(MOST_TEXT)
        if source.size > MOST_TEXT:
            file.seek(max(source.size - half, half))
            missing = max(source.size - half, half) - half
            mark = f"\n\n(... {missing} bytes of the transcript were not read ...)\n\n"
            data = data[:half] + mark.encode() + file.read(half)
    encoding = next((name for mark, name in _BYTE_ORDERS if data.startswith(mark)), "utf-8")
    return data.decode(encoding, "replace")


# --- folders of sessions -----------------------------------------------------------------------


def config_folder(home: str | None, environ: Mapping[str, str]) -> str | None:
    """Claude Code's own folder: ``$CLAUDE_CONFIG_DIR``, else ``~/.claude``."""
    chosen = environ.get("CLAUDE_CONFIG_DIR")
    if chosen and os.path.isabs(chosen):
        return chosen
    return os.path.join(home, ".claude") if home and os.path.isabs(home) else None


def project_name(folder: str) -> str:
    """The name that Claude Code gives the folder of a project's sessions."""
    # It counts in UTF-16: a character beyond the first 65,536 is two.
    name = re.sub(r"[^a-zA-Z0-9]", lambda m: "-" * (1 + (m[0] > "\uffff")), folder)
    if len(name) <= PROJECT_NAME:
        return name
    value = 0
    units = folder.encode("utf-16-le", "surrogatepass")
    for low, high in zip(units[::2], units[1::2], strict=True):
        value = (value * 31 + (high << 8 | low)) & 0xFFFFFFFF
    value = abs(value - (1 << 32) if value >> 31 else value)
    digits = ""
    while value or not digits:
        value, digit = divmod(value, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return f"{name[:PROJECT_NAME]}-{digits}"


def project_folders(cwd: str, config: str) -> list[str]:
    """The folders of sessions that were started in ``cwd`` or above it, within its checkout."""
    above = os.path.realpath(cwd)
    folders = [above]
    while not os.path.lexists(os.path.join(above, ".git")) and len(folders) < MOST_FOLDERS:
        parent = os.path.dirname(above)
        if parent == above:
            folders = folders[:1]  # no checkout: only the folder itself
            break
        above = parent
        folders.append(above)
    paths = (os.path.join(config, "projects", project_name(folder)) for folder in folders)
    return [path for path in paths if os.path.isdir(path)]


def sessions(folders: list[str]) -> list[str]:
    """The session files in these folders, the one written last first; no symlinks."""
    dated: list[tuple[int, str]] = []
    for folder in folders:
        for name, entry in _entries(folder):
            if name.endswith(".jsonl") and not name.startswith("agent-"):
                dated.append((entry.st_mtime_ns, os.path.join(folder, name)))
    return [path for _, path in sorted(dated, reverse=True)]


def session_file(session: str, folders: list[str], config: str | None) -> str | None:
    """The file of the session with this id, started in any folder."""
    if config is None or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", session):
        return None
    projects = os.path.join(config, "projects")
    for folder in [*folders, *(os.path.join(projects, name) for name in _names(projects))]:
        path = os.path.join(folder, f"{session}.jsonl")
        if _regular(path):
            return path
    return None


def agent_files(path: str) -> list[str]:
    """The transcripts of the subagents of the session at ``path``."""
    if path == STDIN:
        return []
    folder = os.path.join(path.removesuffix(".jsonl"), "subagents")
    return [
        os.path.join(folder, name)
        for name, _ in _entries(folder)
        if name.startswith("agent-") and name.endswith(".jsonl")
    ]


def agent_file(path: str, agent: str) -> str | None:
    """The transcript of the subagent with this id; it may be beside ``path`` itself."""
    if path == STDIN or not re.fullmatch(r"[A-Za-z0-9_-]{1,100}", agent):
        return None
    beside = os.path.dirname(path)
    for folder in (os.path.join(path.removesuffix(".jsonl"), "subagents"), beside):
        candidate = os.path.join(folder, f"agent-{agent}.jsonl")
        if _regular(candidate) and candidate != path:
            return candidate
    return None


def small_json(path: str) -> dict[str, Any]:
    """The object in a small file beside a transcript; empty if there is none."""
    try:
        return object_of(json.loads(read_small(path, 1 << 16) or b""))
    except (ValueError, RecursionError):
        return {}


def _regular(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for _, entry in zip(range(MOST_FILES), entries, strict=False)]
    except OSError:
        return []


def _entries(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """The regular files of a folder."""
    for name in sorted(_names(folder)):
        try:
            status = os.lstat(os.path.join(folder, name))
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            yield name, status
