"""Judges' report files: their names, and how they grow (SPEC 1 and 9.4).

``<folder>/<solution>-<YYYY-MM-DD>.<n>.md`` below the top level. A name is taken by one debate; a
file only grows, and is whole at every moment. A file that others have changed is not written to.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, contextmanager
from hashlib import sha256

from flow.adapters.fs import files
from flow.app.judging.debate import Written
from flow.app.judging.debate_calls import Spent
from flow.core.judging.debate.section import Altered
from flow.core.text.display import visible
from flow.errors import ContractError, RefusedError, in_file
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flow.adapters.debates.log import DebateLog

LIMIT = 1 << 20
"""Most bytes of one report file."""
NAME_LIMIT = 80
"""Most characters of a solution's name."""
MOST_NAMES = 1_000
"""Most debates about solutions of one name on one day."""
MOST_FILES = 100_000


def solution_name(paths: Sequence[str], top: str) -> str:
    """Name of the reports on these files: ``users-api`` for ``src/api/users.ts``.

    The file's name without its ending, then its folder's, unless that is the top level. For several
    files the first one's, and the number of the others.
    """
    path = os.path.realpath(paths[0])
    folder = os.path.dirname(path)
    stem = os.path.splitext(os.path.basename(path).lstrip("."))[0]
    own = [stem] if folder == os.path.realpath(top) else [stem, os.path.basename(folder)]
    words = [part for part in map(_safe_name, own) if part] or ["solution"]
    more = f"-and-{len(paths) - 1}-more" if len(paths) > 1 else ""
    return "-".join(words)[: NAME_LIMIT - len(more)].rstrip("-.") + more


def _safe_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+|\.\.+", "-", text).strip("-.")


class Reports:
    """A :class:`flow.app.judging.debate_calls.ClaimedReports`; for several threads."""

    def __init__(
        self,
        top: str,
        stem: str,
        log: DebateLog,
        announce: Callable[[str, bytes], None] = lambda *_: None,
    ) -> None:
        self._top, self.stem, self._log = top, stem, log
        self._announce = announce
        self._recorded = log.digests(stem)
        self._closed = False
        self._current: dict[int, str | None] = {}
        """SHA-256 of each judge's file at the last read or write; None if it was absent."""

    def close(self) -> None:
        """Write nothing from now on: a judge that answers after an interrupt is too late."""
        self._closed = True

    def path(self, judge: int) -> str:
        """Path of a judge's file, below the top level."""
        return f"{self.stem}.{judge}.md"

    def load(self, judge: int) -> Written | None:
        """A judge's file as it is now."""
        data = self._bytes(judge)
        if data is None:
            if self._current.setdefault(judge, None) is not None:
                raise Altered("it is gone")
            return None
        digest = sha256(data).hexdigest()
        if judge in self._current:
            genuine = digest == self._current[judge]
        else:
            genuine = digest in self._recorded.get(judge, ())
            self._current[judge] = digest
        try:
            return Written(data.decode("utf-8"), genuine)
        except UnicodeDecodeError as error:
            raise Altered(f"it is not UTF-8 text (byte {error.start})") from None

    def append(self, judge: int, text: str) -> None:
        """Add to a judge's file, or make it: whole and synced, or not at all."""
        if self._closed:
            raise Altered("the debate was over when the judge answered")
        before = self._bytes(judge)
        was = None if before is None else sha256(before).hexdigest()
        if was != self._current.get(judge):
            raise Altered("somebody changed it while the judge was asked")
        data = (before or b"") + text.encode("utf-8")
        if len(data) > LIMIT:
            raise Altered(f"it would become larger than {LIMIT} bytes")
        digest = sha256(data).hexdigest()
        self._log.announce(self.stem, judge, digest)
        self._announce(self.path(judge), data)
        try:
            files.put(self._top, self.path(judge), data, new=before is None)
        except RefusedError as error:
            raise Altered(error.fault.message) from error
        self._current[judge] = digest

    def spent(self) -> Spent:
        """Cost of earlier runs of the debate."""
        return self._log.spent(self.stem)

    def paid(self, judge: int, cost_usd: float | None) -> None:
        """Record the cost of an answer."""
        self._log.paid(self.stem, judge, cost_usd)

    def end(self) -> None:
        """Record that the debate has ended."""
        self._log.end(self.stem)

    def _bytes(self, judge: int) -> bytes | None:
        try:
            return files.read_optional(self._top, self.path(judge), limit=LIMIT)
        except (RefusedError, ContractError) as error:  # a symlink, a folder, something huge
            raise Altered(error.faults[0].message) from error


class ReportNames(NamedTuple):
    """Names for the reports of a debate. ``folder`` is below the top level ``top``."""

    top: str
    folder: str
    solution: str
    today: str


@contextmanager
def claim_reports(
    names: ReportNames,
    debate: str,
    judges: int,
    log: DebateLog,
    warn: Callable[[str], None],
    announce: Callable[[str, bytes], None] = lambda *_: None,
) -> Iterator[Reports]:
    """Hold the files of the debate with this digest: those of one that did not end, else new ones.

    A name that another debate has, or any file on disk, is skipped; a symlink at such a name is
    refused. Files of an unfinished debate count only as Flow wrote them; ``warn`` gets the reason
    if they do not; ``announce`` gets the path and bytes of each file before they are written.
    """
    with ExitStack() as stack:
        lost = Spent()
        for stem in log.unfinished(debate):
            if stack.enter_context(log.claimed(stem)):
                reports = Reports(names.top, stem, log, announce)
                why = _spoilt_report(reports, judges)
                if not why:
                    stack.callback(reports.close)
                    yield reports
                    return
                warn(f"{why}; the debate starts anew, under another name")
                lost = lost.plus(reports.spent())
                reports.end()
        for stem in _free_stems(names):
            if stack.enter_context(log.claimed(stem)) and not _is_taken(names.top, stem):
                log.begin(stem, debate, lost)
                reports = Reports(names.top, stem, log, announce)
                stack.callback(reports.close)
                yield reports
                return
    raise in_file(f"{names.folder}/{names.solution}-{names.today}.1.md").refused(
        f"there are {MOST_NAMES} debates of this name today already",
        "move old reports away",
        code="exists",
    )


def _spoilt_report(reports: Reports, judges: int) -> str:
    """Why a file of an unfinished debate is not what Flow wrote; empty if all are."""
    for judge in range(1, judges + 1):
        try:
            written = reports.load(judge)
        except Altered as error:
            return f"{visible(reports.path(judge))} cannot be resumed: {error}"
        if written is not None and not written.genuine:
            return f"{visible(reports.path(judge))} is not what Flow wrote"
    return ""


def _free_stems(names: ReportNames) -> Iterator[str]:
    for number in range(1, MOST_NAMES + 1):
        more = "" if number == 1 else f"-{number}"
        yield f"{names.folder}/{names.solution}{more}-{names.today}"


def _is_taken(top: str, stem: str) -> bool:
    """Whether any report of this name is on disk; :class:`RefusedError` for a symlink there."""
    folder, _, base = stem.rpartition("/")
    pattern = re.compile(re.escape(base) + r"\.[0-9]+\.md")
    names = files.names(top, folder, suffix=".md", limit=MOST_FILES)
    same = [name for name in names if pattern.fullmatch(name)]
    for name in same:
        files.exists(top, f"{folder}/{name}")
    return bool(same)
