"""Reports of tests as files, and those that a criterion says its command writes (SPEC 17.1).

A criterion's ``report`` is a path or a pattern, from the command's folder or the top level. Only
regular files below the top level count, no component of their path a symlink, and only those that
the run has written: an unchanged older file is no sign of this run.
"""

from __future__ import annotations

import os
import posixpath

from flow.adapters.fs import files
from flow.core.boundary.globs import Globs
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flow.core.attribution.reading import Summary

    Stamp = tuple[int, ...]

LIMIT = 16 << 20
"""Bytes; a larger report is not read."""
MOST_ENTRIES = 50_000
"""Most names that are compared with a pattern."""
MOST_FILES = 2_000
MOST_BYTES = 64 << 20
"""Most bytes of all files together."""
_WILD = frozenset("*?[\\")


def first_character(data: bytes) -> bytes:
    """The first character of a report's text, in UTF-8 or UTF-16: XML begins with ``<``."""
    return data[:200].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")[:1]


def read_report(data: bytes) -> Summary | None:
    """Counts from a report; None if it has none of the known forms, or is too large."""
    first = first_character(data)
    if len(data) > LIMIT or first not in (b"<", b"{"):
        return None
    from flow.adapters.attribution import reported_tests

    return reported_tests.read_summary(data, xml=first == b"<")


def stamps_below(top: str, cwd: str, pattern: str) -> dict[str, Stamp]:
    """The files that the pattern names now, below ``top``, each with its stamp."""
    stamps: dict[str, Stamp] = {}
    for text in dict.fromkeys((posixpath.join(cwd, pattern), pattern)):
        plain = posixpath.normpath(text)
        for rel in _covered_files(top, plain) if _WILD & set(plain) else (plain,):
            known = files.stamp(top, rel)
            if known and not rel.startswith("../"):
                stamps[rel] = known
    return stamps


def _covered_files(top: str, pattern: str) -> Iterator[str]:
    """The files below ``top`` that a pattern covers; links are not followed."""
    wanted = Globs([pattern], anchored=True)
    parts = pattern.split("/")
    literal = next(n for n, part in enumerate(parts) if _WILD & set(part))
    waiting = ["/".join(parts[:literal])]
    seen = 0
    while waiting and seen < MOST_ENTRIES:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(top, folder)) as entries:
                for entry in entries:
                    seen += 1
                    rel = f"{folder}/{entry.name}" if folder else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in (".git", ".flow"):
                            waiting.append(rel)
                    elif wanted.first(os.fsencode(rel)) is not None:
                        yield rel
        except OSError:
            continue


def written_reports(
    top: str, before: Mapping[str, Stamp], after: Mapping[str, Stamp]
) -> tuple[list[tuple[str, Summary]], str]:
    """(Path, content) of each report that was written in between; a reason if one is missing."""
    new = [rel for rel, known in sorted(after.items()) if before.get(rel) != known]
    if not new:
        return [], "was there before and is as it was" if after else "is not there"
    if len(new) > MOST_FILES or sum(after[rel][files.SIZE_IN_STAMP] for rel in new) > MOST_BYTES:
        return [], f"is more than {MOST_FILES} files or {MOST_BYTES >> 20} MiB"
    summaries: list[tuple[str, Summary]] = []
    why = ""
    for rel in new:
        try:
            data = files.read_optional(top, rel, limit=LIMIT)
        except FlowError as error:  # a link, a folder, too large
            why = f"cannot be read ({error})"
            continue
        summary = read_report(data) if data is not None else None
        if summary is not None:
            summaries.append((rel, summary))
    return summaries, why or ("" if summaries else "is no JUnit or CTRF report")
