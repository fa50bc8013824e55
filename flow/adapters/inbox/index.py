"""Earlier findings of the inbox, so that it looks again only at changed files.

An SQLite file in the user's state folder: one JSON value for each checkout and repository, with the
stamps of the files that it rests on. It is never a source of truth: each reader of a value first
compares its stamps with the files, and without the file (missing, torn, locked, not writable,
another user's, of another version) everything is found out anew. No function here raises because of
the file.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat

from flow.adapters.fs.state_folder import ensure_state_dir
from flow.errors import FlowError
from flow.startup.json import object_of
from flow.startup.typing import Any
from flow.version import __version__

FILE = "inbox.sqlite"
REVISION = 4
"""To be raised when the content or meaning of the values changes without the version."""
_LOCK_SECONDS = 0.2
"""Seconds to wait for another process's lock."""
_FORMAT = f"{REVISION} {__version__}"


class InboxIndex:
    """The values of one state folder; ``save`` writes those that are new."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._path = os.path.join(folder, FILE)
        self._new: dict[str, str] = {}
        self._texts = self._read()

    def get(self, key: str) -> dict[str, Any]:
        """The value; empty if there is none."""
        try:
            text = self._new.get(key) or self._texts.get(key) or "{}"
            return object_of(json.loads(text))
        except (ValueError, RecursionError):
            return {}

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Keep a value."""
        text = json.dumps(value, separators=(",", ":"))
        if self._texts.get(key) != text:
            self._new[key] = text

    def save(self, seen: set[str] | None = None) -> None:
        """Write new values; with ``seen`` values of other keys are dropped."""
        gone = [key for key in self._texts if seen is not None and key not in seen]
        if not self._new and not gone:
            return
        for _ in range(2):  # a file that is no database is made again, once
            try:
                self._write(gone)
                return
            except sqlite3.OperationalError:  # locked, a full disk, or not writable
                return
            except sqlite3.DatabaseError:
                if not self._is_own(self._path):
                    return
                self._unlink()
            except (OSError, FlowError):
                return

    def _read(self) -> dict[str, str]:
        if not self._is_own(self._path):
            return {}
        try:
            connection = self._connect()
            try:
                rows = dict(connection.execute("SELECT key, value FROM kept").fetchall())
            finally:
                connection.close()
        except (sqlite3.Error, OSError):
            return {}
        if not all(isinstance(text, str) for pair in rows.items() for text in pair):
            return {}
        if rows.pop("", None) != _FORMAT:
            return {}
        try:
            return {str(json.loads(key)): text for key, text in rows.items()}
        except (ValueError, RecursionError):
            return {}

    def _write(self, gone: list[str]) -> None:
        ensure_state_dir(self._folder)
        if os.path.lexists(self._path) and not self._is_own(self._path):
            return
        self._make_file()
        connection = self._connect()
        try:
            with connection:
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value TEXT NOT NULL)"
                )
                row = connection.execute("SELECT value FROM kept WHERE key = ''").fetchone()
                if row is None or row[0] != _FORMAT:
                    connection.execute("DELETE FROM kept")
                # SQLite takes no path that is not UTF-8, and JSON writes it in ASCII.
                rows = [("", _FORMAT), *((json.dumps(key), t) for key, t in self._new.items())]
                connection.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", rows)
                keys = [(json.dumps(key),) for key in gone]
                connection.executemany("DELETE FROM kept WHERE key = ?", keys)
        finally:
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=_LOCK_SECONDS)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA synchronous = OFF")  # lost values are found out again
        return connection

    def _make_file(self) -> None:
        """Make the file if it is missing, for this user alone, before SQLite would."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        os.close(os.open(self._path, flags, 0o600))

    def _is_own(self, path: str) -> bool:
        """Whether folder and file are this user's alone."""
        try:
            folder, file = os.lstat(self._folder), os.lstat(path)
        except OSError:
            return False
        return (
            stat.S_ISREG(file.st_mode)
            and file.st_uid == folder.st_uid == os.geteuid()
            and not (file.st_mode | folder.st_mode) & 0o022
        )

    def _unlink(self) -> None:
        for path in (self._path, f"{self._path}-journal"):
            try:
                os.unlink(path)
            except OSError:
                pass
