"""What the inbox tells of a goal, or of a checkout that cannot be looked at. Pure."""

from __future__ import annotations

from collections import Counter

from flow.core.goal.model import NO_BRANCH
from flow.core.instant import seconds
from flow.core.standing.table import GoalFacts, Section, standing_of
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SCHEMA = "flow.inbox/1"
"""What ``schema`` of the document says."""
WEEK = 7 * 86400.0
"""Seconds: how long a closed goal is told."""
SECTIONS: tuple[Section, ...] = ("waits", "blocked", "working", "closed", "broken")


class InboxItem(NamedTuple):
    """A row of the inbox. Empty texts stand for nothing; None could not be determined."""

    section: Section
    repository: str
    """The top level of the repository's main working tree, which its working trees share."""
    path: str
    """Where its command is to be run."""
    why: str
    goal_id: str = ""
    branch: str | None = ""
    since: str | None = ""
    """When it came to stand so (RFC 3339)."""
    command: str = ""
    status: str = ""
    outcome: str = ""
    turns: int | None = None
    proved: int | None = None
    required: int | None = None
    words: str = ""
    """The state in two or three words, for a screen."""
    meaning: str = ""
    """Its mark's."""
    called: str = ""
    """What screens call the repository, where its folder's name is another one's, too."""

    def to_document(self) -> dict[str, Any]:
        """The row with ``--json``: what is absent is not there, null could not be determined."""
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
    """A goal where it stands: its facts, and what a row tells beside them."""

    facts: GoalFacts
    since: str
    outcome: str
    contract: str = ""
    """The contract's digest; empty where the goal was read from git."""
    rests_on_files: bool = False
    """Whether it rests on a look at the files, and on the evidence of the run."""

    def item(self, repository: str, path: str) -> InboxItem:
        """Its row."""
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


def is_told(item: InboxItem, oldest: float) -> bool:
    """Whether a row is shown: a closed goal's where it was closed since ``oldest`` (since 1970)."""
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
    """The end of each path, with as many of its folders as tell it from the others."""
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


def told_apart(items: Sequence[InboxItem]) -> list[InboxItem]:
    """The rows, where two repositories have one name with more of their paths."""
    names = short_names(dict.fromkeys(item.repository for item in items))
    longer = {path: name for path, name in names.items() if "/" in name.rstrip("/")}
    if not longer:
        return [*items]
    return [item._replace(called=longer.get(item.repository, "")) for item in items]


class InboxChange(NamedTuple):
    """A row that is new, stands otherwise than before, or is gone."""

    kind: Literal["added", "changed", "removed"]
    item: InboxItem
    into_waits: bool
    """Whether it waits for a person now, and did not before."""

    def to_document(self) -> dict[str, Any]:
        """A line of ``--watch --json``."""
        return {"schema": SCHEMA, "change": self.kind, "item": self.item.to_document()}


def changes(before: Iterable[InboxItem], after: Iterable[InboxItem]) -> list[InboxChange]:
    """What is different, as a person would see it: section, reason or command."""
    then = {_identity(item): item for item in before}
    now = {_identity(item): item for item in after}
    rows: list[InboxChange] = []
    for key, item in now.items():
        old = then.get(key)
        if old is None or _told(old) != _told(item):
            into = item.section == "waits" and (old is None or old.section != "waits")
            rows.append(InboxChange("changed" if old else "added", item, into))
    return rows + [InboxChange("removed", then[key], False) for key in then if key not in now]


def _identity(item: InboxItem) -> tuple[str, str, str, str]:
    """Which row it is, wherever it stands; what cannot be read has one for each place."""
    place = item.path if item.since is None else ""
    return item.repository, item.goal_id or item.path, item.branch or "", place


def _told(item: InboxItem) -> tuple[str, str, str, str]:
    return item.section, item.why, item.command, item.path


def to_document(items: Iterable[InboxItem]) -> Mapping[str, Any]:
    """The document of ``flow inbox --json``."""
    return {"schema": SCHEMA, "items": [item.to_document() for item in items]}
