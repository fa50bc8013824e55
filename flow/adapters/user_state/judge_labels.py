"""Decisions of people beside those of judges: ``judge-labels.jsonl`` in the user's state folder.

One JSON line for each label, never rewritten. A later label about the same thing by the same judge
replaces an earlier one, so that a calibration run twice does not count twice. As with trust, a
folder or file that others could have written is refused: labels let a judge propose ``achieved``
(``flow.goals.judge.minKappa``).
"""

from __future__ import annotations

import json

from flow.adapters.fs import files, lenient_json, locks
from flow.adapters.fs.state_folder import (
    append_own,
    ensure_state_dir,
    has_own,
    real_path,
    refuse_inside,
)
from flow.app.judging.labelling import LabelLine
from flow.core.judging.rubric.calibration import Label
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

FILE = "judge-labels.jsonl"
LOCK = "judge-labels.lock"
LIMIT = 64 << 20
"""Most bytes of the file that are read."""


class LabelLog:
    """The labels of one state folder; ``top`` and ``common_dir`` are the checkout around, if any.

    ``warnings`` names the lines that were skipped. Every method raises :class:`RefusedError`
    (``unsafe_state_dir``) for a folder or file that cannot be relied on.
    """

    def __init__(self, folder: str, top: str | None, common_dir: str | None) -> None:
        self._dir = real_path(folder)
        self._top, self._common_dir = top, common_dir
        self.warnings: tuple[str, ...] = ()

    def add(self, lines: Iterable[LabelLine]) -> None:
        """Append labels."""
        refuse_inside(self._dir, self._top, self._common_dir)
        ensure_state_dir(self._dir)
        with locks.exclusive(self._dir, LOCK):
            for line in lines:
                append_own(self._dir, FILE, json.dumps(line._asdict(), separators=(",", ":")))

    def lines(self) -> tuple[LabelLine, ...]:
        """Every label that counts, oldest first: of one judge about one thing only the newest."""
        newest: dict[tuple[str, str], LabelLine] = {}
        for line in self._read():
            newest.pop((line.judge, line.key), None)
            newest[line.judge, line.key] = line
        return tuple(newest.values())

    def labels(self, judge: str) -> tuple[Label, ...]:
        """The labels of one judge, by the name that it has in evidence."""
        return tuple(Label(x.person, x.judged) for x in self.lines() if x.judge == judge)

    def _read(self) -> list[LabelLine]:
        refuse_inside(self._dir, self._top, self._common_dir)
        if not has_own(self._dir, FILE, "the judges' labels"):
            return []
        lines = []
        data = files.read_bytes(self._dir, FILE, limit=LIMIT)
        for number, text in enumerate(data.split(b"\n"), 1):
            if text.strip():
                line = _parse(text)
                if line is None:
                    self.warnings += (f"{FILE}: line {number} is not whole and was skipped",)
                else:
                    lines.append(line)
        return lines


def _parse(text: bytes) -> LabelLine | None:
    document = lenient_json.mapping(text)
    if document is None:
        return None
    texts = [document.get(name) for name in ("at", "judge", "key", "about", "source")]
    decisions = [document.get(name) for name in ("person", "judged")]
    if not all(isinstance(t, str) for t in texts) or not all(
        isinstance(decision, bool) for decision in decisions
    ):
        return None
    return LabelLine(**{name: document[name] for name in LabelLine._fields})
