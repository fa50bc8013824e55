"""The inbox's rows: one for each goal, and for each checkout that cannot be read. Pure."""

from __future__ import annotations

from collections import Counter

from flow.core.goal.model import NO_BRANCH
from flow.core.instant import seconds
from flow.core.standing.table import GoalFacts, Section, standing_of
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SCHEMA = "flow.inbox/1"
"""The value of ``schema`` in the document."""
WEEK = 7 * 86400.0
"""Seconds for which a closed goal is listed."""
SECTIONS: tuple[Section, ...] = ("waits", "blocked", "working", "closed", "broken")


class InboxItem(NamedTuple):
    """A row of the inbox. An empty text means that there is none; None: not determined."""

    section: Section
    repository: str
    """The top level of the repository's main working tree, which its working trees share."""
    path: str
    """The folder in which to run its command."""
    why: str
    goal_id: str = ""
    branch: str | None = ""
    since: str | None = ""
    """The moment since which the row holds (RFC 3339)."""
    command: str = ""
    status: str = ""
    outcome: str = ""
    turns: int | None = None
    proved: int | None = None
    required: int | None = None
    words: str = ""
    """The state in two or three words, for a screen."""
    meaning: str = ""
    """The meaning of its mark."""
    called: str = ""
    """The screens' name for the repository, if another one's folder has the same name; else empty.
    """

    def to_document(self) -> dict[str, Any]:
        """The row for ``--json``: an absent value has no key, null could not be determined."""
        fields = self._asdict()
        for name in ("words", "meaning", "called"):
            del fields[name]
        optional = ("turns", "proved", "required")
        return {
            key: value
            for key, value in fields.items()
            if value != "" and not (key in optional and value is None)
        }


class StandingGoal(NamedTuple):
    """The facts of a goal, and further values for its row."""

    facts: GoalFacts
    since: str
    outcome: str
    contract: str = ""
    """The contract's digest; empty if the goal was read from git."""
    rests_on_files: bool = False
    """Whether its standing depends on the files, and on the evidence of the run."""

    def item(self, repository: str, path: str) -> InboxItem:
        """The goal's row of the inbox."""
        facts, stands = self.facts, standing_of(self.facts)
        return InboxItem(
            section=stands.section,
            repository=repository,
            path=path,
            why=stands.why,
            goal_id=facts.goal_id,
            branch=facts.branch if facts.branch != NO_BRANCH else "",
            since=self.since,
            command=stands.command,
            status=facts.status,
            outcome=self.outcome,
            turns=facts.turns,
            proved=facts.proved,
            required=facts.required,
            words=stands.words,
            meaning=stands.meaning,
        )


def is_listed(item: InboxItem, oldest: float) -> bool:
    """Whether a row is shown: a closed goal's only if closed since ``oldest`` (epoch seconds)."""
    if item.section != "closed" or not item.since:
        return True
    try:
        return seconds(item.since) >= oldest
    except (ValueError, IndexError):
        return True


def ordered(items: Iterable[InboxItem]) -> list[InboxItem]:
    """The rows by section, the newest first."""
    rows = sorted(items, key=lambda item: (item.path, item.goal_id, item.branch or ""))
    rows.sort(key=lambda item: item.since or "", reverse=True)
    return sorted(rows, key=lambda item: SECTIONS.index(item.section))


def short_names(paths: Iterable[str]) -> dict[str, str]:
    """The end of each path, with as many folders as distinguish it from the others."""
    words = {path: path.rstrip("/").split("/") for path in paths}
    names: dict[str, str] = {}
    alike, count = list(words), 1
    while alike:
        ends = {path: "/".join(words[path][-count:]) for path in alike}
        times = Counter(ends.values())
        names |= {path: end or path for path, end in ends.items()}
        alike = [p for p in alike if times[ends[p]] > 1 and count < len(words[p])]
        count += 1
    return names


def with_distinct_names(items: Sequence[InboxItem]) -> list[InboxItem]:
    """The rows, with longer names for repositories whose folders have the same name."""
    names = short_names(dict.fromkeys(item.repository for item in items))
    longer = {path: name for path, name in names.items() if "/" in name.rstrip("/")}
    if not longer:
        return [*items]
    return [item._replace(called=longer.get(item.repository, "")) for item in items]


class InboxChange(NamedTuple):
    """A row that is new, changed, or gone."""

    kind: Literal["added", "changed", "removed"]
    item: InboxItem
    into_waits: bool
    """Whether it waits for a person now, and did not before."""

    def to_document(self) -> dict[str, Any]:
        """The change as a line of ``--watch --json``."""
        return {"schema": SCHEMA, "change": self.kind, "item": self.item.to_document()}


def changes(before: Iterable[InboxItem], after: Iterable[InboxItem]) -> list[InboxChange]:
    """The differences that a person would see: section, reason, command or folder."""
    then = {_identity(item): item for item in before}
    now = {_identity(item): item for item in after}
    rows: list[InboxChange] = []
    for key, item in now.items():
        old = then.get(key)
        if old is None or _visible_fields(old) != _visible_fields(item):
            into = item.section == "waits" and (old is None or old.section != "waits")
            rows.append(InboxChange("changed" if old else "added", item, into))
    return rows + [InboxChange("removed", then[key], False) for key in then if key not in now]


def _identity(item: InboxItem) -> tuple[str, str, str, str]:
    """Key of a row, independent of its standing; an unreadable goal has one for each folder."""
    place = item.path if item.since is None else ""
    return item.repository, item.goal_id or item.path, item.branch or "", place


def _visible_fields(item: InboxItem) -> tuple[str, str, str, str]:
    return item.section, item.why, item.command, item.path


def to_document(items: Iterable[InboxItem]) -> Mapping[str, Any]:
    """The document of ``flow inbox --json``."""
    return {"schema": SCHEMA, "items": [item.to_document() for item in items]}
