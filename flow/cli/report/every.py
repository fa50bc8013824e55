"""``flow report --all`` and ``--bundle``: a folder of pages with one page over them."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from itertools import chain

from flow.adapters.fs import files
from flow.adapters.fs.state_folder import ensure_state_dir, state_dir
from flow.adapters.inbox.finder import InboxContents
from flow.app.report.bundle import bundle_report
from flow.app.report.gather import goal_report
from flow.cli.output_file import (
    HEAD,
    is_replaceable,
    make_folder,
    off_limits,
    refuse_foreign,
    write_out,
)
from flow.cli.verdict_screen import recorded_outputs
from flow.core.goal.model import NO_BRANCH
from flow.core.standing.items import InboxItem, ordered
from flow.core.standing.table import GoalFacts, standing_of
from flow.core.text.display import visible
from flow.errors import FlowError, at_key
from flow.render.page.frame import is_page, origin_tag
from flow.render.page.goal import goal_page
from flow.render.page.index import OpinionRow, OverviewRow, index_page, overview_row
from flow.startup.typing import TYPE_CHECKING, NamedTuple
from flow.version import __version__
from flow.wiring.context import Context
from flow.wiring.goals import Goals
from flow.wiring.inbox import read_inbox

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from flow.adapters.inbox.checkout import InboxCheckout
    from flow.adapters.inbox.finder import InboxQuery
    from flow.cli.report.judged import Page
    from flow.core.report import GoalReport

INDEX = "index.html"
MOST_PAGES = 100_000
"""Files of a folder of pages that are looked at."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_]+")


class WrittenPages(NamedTuple):
    """A folder of pages: the path of the one over them, and its rows."""

    path: str
    rows: Sequence[OverviewRow]
    judged: Sequence[OpinionRow]
    unreadable: Sequence[FlowError]
    """Faults of the bundles that cannot be read."""

    def to_document(self) -> dict[str, object]:
        """The document that ``--json`` prints."""
        goals = [{**row.item.to_document(), "page": row.page or None} for row in self.rows]
        fields = ("kind", "name", "repository", "path", "branch", "at")
        judged = [
            {**{key: getattr(row, key) for key in fields}, "page": row.page or None}
            for row in self.judged
        ]
        unreadable = [error.to_dict() for error in self.unreadable]
        return {"output": self.path, "goals": goals, "judged": judged, "unreadable": unreadable}


def write_all(folder: str | None, bundles: Sequence[str], query: InboxQuery | None) -> WrittenPages:
    """Write the pages, and the one over them.

    ``query`` chooses among the inbox's goals; None: only ``bundles``. What an earlier call with a
    query wrote and this one did not is removed. Raises :class:`FlowError`, and writes no page,
    where there is nothing but bundles that cannot be read.
    """
    pages = _PageFolder(folder)
    rows: list[OverviewRow] = []
    inbox = read_inbox(query) if query is not None else InboxContents([], [])
    unreadable: list[FlowError] = []
    for item, report, error in chain(_inbox_reports(inbox.rows), _bundle_reports(bundles)):
        if error is not None:
            unreadable.append(error)
        if report is None:
            rows.append(OverviewRow(item))
            continue
        name = pages.free_name(item.repository, item.goal_id)
        pages.write(name, goal_page(report, overview=INDEX, origin="" if report.bundle else name))
        rows.append(overview_row(item, report, name))
    if query is None and len(unreadable) == len(rows):
        raise unreadable[0]
    rank = {item: place for place, item in enumerate(ordered(row.item for row in rows))}
    rows.sort(key=lambda row: rank[row.item])
    judged: list[OpinionRow] = []
    for row, page in _judged(inbox.checkouts):
        name = ""
        if page is not None:
            name = pages.free_name(row.repository, f"{row.kind}-{row.name}")
            pages.write(name, page(INDEX, name))
        judged.append(row._replace(page=name))
    pages.write(INDEX, index_page(rows, __version__, judged, now=time.time()))
    if query is not None:
        pages.remove_gone()
    return WrittenPages(pages.path_of(INDEX), rows, judged, unreadable)


class _PageFolder:
    """The folder of pages (None: Flow's own), and the names that this call has taken in it."""

    def __init__(self, folder: str | None) -> None:
        self._limits: tuple[str, ...] = ()
        if folder is None:
            self._folder = _own_folder()
        else:
            self._folder, self._limits = folder, _limits()
            make_folder(folder, off_limits=self._limits)
            refuse_foreign(self.path_of(INDEX), is_page)
        self._taken = {INDEX}

    def path_of(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def write(self, name: str, text: str) -> None:
        write_out(self.path_of(name), text, "page", off_limits=self._limits)

    def free_name(self, repository: str, name: str) -> str:
        """``<repo>-<name>.html``, with a number if it is taken, or another program's file."""
        repository = os.path.basename(repository.rstrip("/")).partition(".")[0]
        words = (_UNSAFE.sub("-", word).strip("-") for word in (repository, name))
        stem = "-".join(word for word in words if word)[:120] or "goal"
        name, number = f"{stem}.html", 1
        while name in self._taken or not is_replaceable(self.path_of(name), is_page):
            number += 1
            name = f"{stem}-{number}.html"
        self._taken.add(name)
        return name

    def remove_gone(self) -> None:
        """Remove the pages of an earlier call that nothing leads to any more.

        A page says in its head which file of such a folder it is: no other file is touched, nor a
        copy.
        """
        top = os.path.realpath(self._folder)
        with suppress(FlowError):
            for name in files.names(*os.path.split(top), suffix=".html", limit=MOST_PAGES):
                if name not in self._taken and _is_own(top, name):
                    files.remove(top, name, sync=False)


def _limits() -> tuple[str, ...]:
    """The folders that no page may lie in; outside a repository only the state folder."""
    try:
        return off_limits(Context())
    except FlowError:
        return (state_dir(os.environ, os.environ.get("HOME") or None, None),)


def _own_folder() -> str:
    """``<state>/cache/reports/all``."""
    path = state_dir(os.environ, os.environ.get("HOME") or None, None)
    for part in ("", "cache", "reports", "all"):
        path = os.path.join(path, part) if part else path
        ensure_state_dir(path)
    return path


def _is_own(top: str, name: str) -> bool:
    """Whether a file says that it is this page; a link, or what cannot be read, does not."""
    try:
        fd = files.open_regular(top, name)
    except (FlowError, OSError):
        return False
    if fd is None:
        return False
    with open(fd, "rb") as file:
        return origin_tag(name).text.encode() in file.read(HEAD)


class _Reported(NamedTuple):
    """A row, with its report where there is one, and what is wrong with its bundle."""

    item: InboxItem
    report: GoalReport | None
    error: FlowError | None = None


def _inbox_reports(rows: Iterable[InboxItem]) -> Iterator[_Reported]:
    """The inbox's rows, each with its report where its checkout has the goal's file."""
    for item in sorted(rows, key=lambda item: (item.path, item.goal_id, item.branch or "")):
        has_page = bool(item.goal_id) and item.section != "broken"
        yield _Reported(item, _report_at(item) if has_page else None)


def _report_at(item: InboxItem) -> GoalReport | None:
    try:
        context = Context(item.path)
        goals = Goals(context)
        if goals.load(item.goal_id).goal.branch != (item.branch or NO_BRANCH):
            return None  # another branch's goal: its own checkout has its record
        return goal_report(goals, recorded_outputs(context), item.goal_id, __version__)
    except FlowError:
        return None


def _bundle_reports(paths: Iterable[str]) -> Iterator[_Reported]:
    """A row for each exported bundle, also for one that cannot be read."""
    for path in paths:
        name = os.path.basename(path)
        try:
            report = _report_of(path, name)
            yield _Reported(_bundle_item(report), report)
        except FlowError as error:
            fault = error.message.removeprefix("cannot be read: ")
            why = f"cannot be read: {visible(fault)}"
            item = InboxItem("broken", visible(name), "", why, branch=None, since=None)
            yield _Reported(item, None, error)


def _report_of(path: str, name: str) -> GoalReport:
    """The report of an exported bundle; raises :class:`InputError` for any other file."""
    from flow.adapters.exchange.bundle_file import check_bundle

    checked = check_bundle(path, None, ())
    if checked.record is None:
        raise at_key("--bundle", path).invalid(
            f"it holds no record of a goal: {'; '.join(checked.findings[:1])}",
            "name a file that flow evidence export wrote",
        )
    return bundle_report(checked, checked.record, name, __version__)


def _bundle_item(report: GoalReport) -> InboxItem:
    """A bundle's row: another machine's goal has no next step here."""
    status = report.status
    required = [c for c in report.criteria if c.required]
    facts = GoalFacts(
        goal_id=report.goal_id,
        status=status["status"],
        here=False,
        turns=status["turns_evaluated"],
        proved=sum(1 for c in required if c.now["status"] == "pass"),
        required=len(required),
    )
    stands = standing_of(facts)
    broken = bool(report.chain.faults)
    why = report.chain.faults[0] if broken else stands.why.partition(";")[0]
    ends = [status["last_evaluation"]["at"]] if status["last_evaluation"] else []
    ends += [status["closed"]["at"]] if status["closed"] else []
    return InboxItem(
        "broken" if broken else stands.section,
        report.bundle,
        "",
        f"{why}, as its bundle says",
        goal_id=report.goal_id,
        branch=status["branch"],
        since=max(ends, default=""),
        status=status["status"],
        outcome=status["outcome"],
        words=stands.words,
        meaning=stands.meaning,
    )


def _judged(
    checkouts: Iterable[tuple[str, InboxCheckout]],
) -> Iterator[tuple[OpinionRow, Page | None]]:
    """Scorecards and debates of every checkout."""
    from flow.cli.report.judged import stored_opinions

    for repository, checkout in checkouts:
        branch = checkout.branch()
        yield from stored_opinions(
            InboxItem("working", repository, checkout.top, "", branch=branch)
        )
