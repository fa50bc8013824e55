"""Whether evidence is about the files as they are now (SPEC 10, Subject; HAZARD H95).

Fresh evidence was measured on this state of the files, this contract and with this version of Flow.
HEAD alone makes nothing stale: a commit of Flow's own files moves it too. :func:`freshness` is for
display; :func:`differences` goes into what a judge sees. Evidence that would decide and is not
fresh is refused by ``app/evaluation/reuse`` and ``proposals``, ``app/transitions/closing``,
``app/exchange/export`` and ``app/judging/records``.
"""

from __future__ import annotations

from flow.core.evidence.model import BASELINE
from flow.core.instant import ahead
from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.evidence.model import Evidence, Subject
    from flow.core.goal.model import Goal

StaleReason = Literal[
    "head",
    "tree",
    "contract",
    "flow_version",
    "future",
    "moved",
    "missing",
    "unvouched",
    "unstamped",
    "base",
    "commit",
    "unknown",
]

WORDS: Mapping[StaleReason, str] = {
    "head": "HEAD moved",
    "tree": "the files changed",
    "contract": "the contract changed",
    "flow_version": "measured by another version of Flow",
    "future": "dated in the future",
    "moved": "the files changed while it was measured",
    "missing": "missing or altered",
    "unvouched": "not vouched for",
    "unstamped": "does not say what it was measured on",
    "base": "measured on the base commit",
    "commit": "the commit it names is not here",
    "unknown": "git cannot say what the files are now",
}
"""Each reason in words for a person."""


class Freshness(NamedTuple):
    """Freshness of evidence. ``why`` is empty if fresh; ``head`` occurs only with ``tree``."""

    why: tuple[StaleReason, ...] = ()

    @property
    def fresh(self) -> bool:
        """Whether it may count."""
        return not self.why

    @property
    def text(self) -> str:
        """The reasons, for people."""
        return ", ".join(WORDS[word] for word in self.why)


def freshness(
    evidence: Evidence,
    now: Subject,
    goal: Goal,
    at: str,
    *,
    moved: bool,
    doubt: StaleReason | None = None,
) -> Freshness:
    """The freshness of ``evidence`` of ``goal`` at the files, contract and version of ``now``.

    ``at`` is the present moment; ``moved``: the files changed while it was measured; ``doubt`` is
    a reason why it may not be as Flow recorded it.
    """
    then = evidence.subject
    why: list[StaleReason] = ["moved"] if moved else [doubt] if doubt is not None else []
    if not isinstance(then.get("tree"), str):
        no_tree: StaleReason = "base" if evidence.made_by == BASELINE else "unstamped"
        why.append("commit" if evidence.imported is not None else no_tree)
    elif now.tree is None:
        why.append("unknown")
    else:
        why += differences(evidence, now, goal)
    if ahead(evidence.created_at, at):
        why.append("future")
    return Freshness(tuple(why))


def differences(evidence: Evidence, now: Subject, goal: Goal) -> list[StaleReason]:
    """The differences between its stamp and the present."""
    then = evidence.subject
    why: list[StaleReason] = []
    if then.get("tree") != now.tree:
        why += ["head", "tree"] if then.get("head") != now.head else ["tree"]
    if of_another_contract(evidence, now.contract, goal):
        why.append("contract")
    if evidence.type != "human_approval" and then.get("flow_version") != now.flow_version:
        why.append("flow_version")
    return why


def of_another_contract(evidence: Evidence, contract: str, goal: Goal) -> bool:
    """Whether it is about another contract than ``goal``'s, whose digest is ``contract``.

    An approval is of a wording: it outlives amendments of any other part.
    """
    if evidence.type != "human_approval":
        return evidence.subject.get("contract") != contract
    digests = {c.digest for c in goal.criteria if c.id in evidence.proves}
    return bool(digests) and evidence.body.get("criterion_digest") not in digests
