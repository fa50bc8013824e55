"""The debates whose reports are in a checkout: read to be shown, never to decide."""

from __future__ import annotations

import re
from hashlib import sha256

from flow.adapters.debates.reports import LIMIT, MOST_FILES
from flow.adapters.fs import files
from flow.core.judging.debate import report
from flow.core.judging.debate.section import Altered
from flow.core.judging.debate.state import DebateJudge
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flow.adapters.debates.log import DebateLog
    from flow.core.judging.debate.section import DebateSubject

MOST_DEBATES = 100
"""Most debates of one checkout that are listed, the newest."""
MOST_JUDGES = 25
_NAME = re.compile(r"(.{1,200}-(\d{4}-\d\d-\d\d))\.([1-9]\d?)\.md", re.ASCII | re.DOTALL)


class StoredDebate(NamedTuple):
    """The reports of one debate. ``notes`` name oddities and omissions."""

    name: str
    day: str
    about: DebateSubject | None
    """None if no report can be read."""
    judges: tuple[DebateJudge, ...]
    notes: tuple[str, ...]
    spoilt: bool = False
    """Whether a report is missing, left out, or not what Flow wrote here."""


def debates(top: str, folder: str, log: DebateLog) -> Iterator[StoredDebate]:
    """The debates below ``folder``, the newest day first.

    Raises :class:`RefusedError` if the folder is reached through a symlink.
    """
    numbers: dict[tuple[str, str], list[int]] = {}
    for name in files.names(top, folder, suffix=".md", limit=MOST_FILES):
        if (parts := _NAME.fullmatch(name)) is not None:
            numbers.setdefault((parts[2], parts[1]), []).append(int(parts[3]))
    for day, name in sorted(numbers, reverse=True)[:MOST_DEBATES]:
        yield _debate(top, f"{folder}/{name}", day, sorted(numbers[day, name]), log)


def _debate(top: str, stem: str, day: str, numbers: list[int], log: DebateLog) -> StoredDebate:
    about: DebateSubject | None = None
    judges: list[DebateJudge] = []
    notes: list[str] = []
    spoilt = numbers != list(range(1, len(numbers) + 1)) or len(numbers) > MOST_JUDGES
    try:
        written = log.digests(stem)
    except FlowError:
        written = {}
    for number in numbers[:MOST_JUDGES]:
        path = f"{stem}.{number}.md"
        try:
            data = files.read_bytes(top, path, limit=LIMIT)
            subject, sections = report.stored(number, data.decode("utf-8"))
            about = about or subject
            if (subject.digest, subject.criteria) != (about.digest, about.criteria):
                raise Altered("it is about something else")
        except (FlowError, Altered, UnicodeDecodeError) as error:
            notes.append(f"{path} is left out: {error}")
            spoilt = True
            continue
        if sha256(data).hexdigest() not in written.get(number, ()):
            notes.append(f"{path} is not known as what Flow wrote on this machine")
            spoilt = spoilt or bool(written)
        judges.append(DebateJudge(number, "", path, sections))
    return StoredDebate(stem.rpartition("/")[2], day, about, tuple(judges), tuple(notes), spoilt)
