"""Flow's own writes in debates: ``debates.jsonl`` in the user's state folder.

One JSON line for each event, never rewritten. Before a report file changes, its next digest is
written here, so that a later run can tell Flow's reports from files that others put into the
checkout, and continues only its own. The cost of each answer is written as soon as it is there:
``maxCostUsd`` bounds all runs of a debate together.
"""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from hashlib import sha256

from flow.adapters.fs import clock, files, lenient_json, locks
from flow.adapters.fs.state_folder import ensure_state_dir, has_own, real_path, refuse_inside
from flow.app.judging.debate_calls import Spent
from flow.errors import LockTimeout
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "debates.jsonl"
LOCK = "debates.lock"
LIMIT = 64 << 20
MOST_USD = 1e9
"""US dollars; a larger number is no cost, since no answer costs as much."""


class DebateLog:
    """The debates of one checkout in one state folder.

    ``top`` is the folder of the reports; ``checkout`` and ``common_dir`` are the repository around,
    if any, in which the state must not be. Every method raises :class:`RefusedError` for a folder
    or file that others could have written.
    """

    def __init__(self, folder: str, top: str, checkout: str | None, common_dir: str | None) -> None:
        self._dir, self._top = real_path(folder), real_path(top)
        self._checkout, self._common_dir = checkout, common_dir

    def begin(self, stem: str, debate: str, spent: Spent = Spent()) -> None:  # noqa: B008
        """Record that a debate has taken the names that begin with ``stem`` (below the top level).

        ``spent`` is the cost of the debates about the same question that it replaces.
        """
        before = {} if spent == Spent() else {"cost_usd": None if spent.untold else spent.usd}
        self._add({"event": "begun", "stem": stem, "debate": debate, **before})

    def paid(self, stem: str, judge: int, cost_usd: float | None) -> None:
        """Record a judge's answer and its cost in US dollars; None if the judge did not name it."""
        self._add({"event": "answer", "stem": stem, "judge": judge, "cost_usd": cost_usd})

    def spent(self, stem: str) -> Spent:
        """Cost of the debate of these names, including those that it replaced."""
        total = Spent()
        for line in self._lines(torn={"event": "torn"}):
            event = line.get("event")
            if event == "begun" and line.get("stem") == stem:
                total = _line_cost(line) if "cost_usd" in line else Spent()
            elif event == "torn" or (event == "answer" and line.get("stem") == stem):
                total = total.plus(_line_cost(line))
        return total

    def announce(self, stem: str, judge: int, sha256: str) -> None:
        """Record that a judge's file is about to have this digest."""
        self._add({"event": "report", "stem": stem, "judge": judge, "sha256": sha256})

    def end(self, stem: str) -> None:
        """Record that no question is left in the debate of these names."""
        self._add({"event": "ended", "stem": stem})

    def unfinished(self, debate: str) -> tuple[str, ...]:
        """The names of debates about exactly this question that did not end, the newest first."""
        unended: dict[str, str] = {}
        for line in self._lines():
            if line.get("event") == "begun":
                unended.pop(str(line.get("stem")), None)
                unended[str(line.get("stem"))] = str(line.get("debate"))
            elif line.get("event") == "ended":
                unended.pop(str(line.get("stem")), None)
        return tuple(stem for stem, digest in reversed(unended.items()) if digest == debate)

    def digests(self, stem: str) -> dict[int, frozenset[str]]:
        """By judge, the digests that its file has had, or was about to have."""
        by_judge: dict[int, set[str]] = {}
        for line in self._lines():
            if line.get("event") == "begun" and line.get("stem") == stem:
                by_judge = {}
            elif line.get("event") == "report" and line.get("stem") == stem:
                judge, digest = line.get("judge"), line.get("sha256")
                if isinstance(judge, int) and isinstance(digest, str):
                    by_judge.setdefault(judge, set()).add(digest)
        return {judge: frozenset(digests) for judge, digests in by_judge.items()}

    @contextmanager
    def claimed(self, stem: str) -> Iterator[bool]:
        """Hold these names; False if another process has them at the moment."""
        refuse_inside(self._dir, self._checkout, self._common_dir)
        ensure_state_dir(self._dir)
        key = sha256(f"{self._top}\0{stem}".encode("utf-8", "surrogateescape")).hexdigest()
        lock = f"debate-{key[:32]}.lock"
        with ExitStack() as holding:
            try:
                holding.enter_context(locks.exclusive(self._dir, lock, timeout=0))
            except LockTimeout:
                held = False
            else:
                held = True  # removed while it is held: a process that waits for it looks again
                holding.callback(files.remove, self._dir, lock, sync=False)
            yield held

    def _add(self, line: dict[str, Any]) -> None:
        refuse_inside(self._dir, self._checkout, self._common_dir)
        ensure_state_dir(self._dir)
        text = json.dumps({"at": clock.now(), "top": self._top, **line}, separators=(",", ":"))
        with locks.exclusive(self._dir, LOCK):
            files.append_line(self._dir, FILE, text.encode("ascii"), mode=0o600)

    def _lines(self, torn: dict[str, Any] | None = None) -> Iterator[dict[str, Any]]:
        """This checkout's events, oldest first; a torn one is replaced by ``torn``, or left out."""
        refuse_inside(self._dir, self._checkout, self._common_dir)
        if not has_own(self._dir, FILE, "the record of debates"):
            return
        for text in files.read_bytes(self._dir, FILE, limit=LIMIT).split(b"\n"):
            try:
                line = lenient_json.loads(text) if text.strip() else None
            except ValueError:
                line = None if torn is None else {"top": self._top, **torn}
            if isinstance(line, dict) and line.get("top") == self._top:
                yield line


def _line_cost(line: dict[str, Any]) -> Spent:
    cost = line.get("cost_usd")
    if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost <= MOST_USD:
        return Spent(float(cost))
    return Spent(untold=True)
