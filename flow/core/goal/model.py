"""A goal as Flow reads it (SPEC 1, FlowGoal)."""

from __future__ import annotations

from flow.startup.json import canonical, object_of
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flow.core.goal.lifecycle import Status

API_VERSION = "flow.synapti.ai/v1"

NO_BRANCH = "none"
"""``scope.branch`` of a goal that was created on a detached HEAD: it belongs to every branch."""

MAX_ITERATIONS = 20
"""The default of ``continuation.max_iterations``."""

LAST_TURN = 1 << 53
"""The largest ``lifecycle.turns_evaluated``: larger integers are in none of Flow's files."""

RESULT_FIELDS = ("status", "evidence_ref", "last_evaluated_at", "last_result")
"""The criterion keys an evaluation writes; they are not part of the contract."""

JUDGED = "judge: "
"""Start of the reason, and of ``last_result``, of a criterion that a judge decided."""

NOT_PROVED = "not proved"
"""Start of the part of a reason that names criteria with what a judge said of each."""

JUDGES_PARTS = (JUDGED, f"{NOT_PROVED}: ")
"""Starts of the parts of a reason that hold a judge's words; what follows may be words, too."""

OUTSIDE_PATHS = "path_boundary_violation: "
"""Start of the part of a reason that names files outside the paths."""

PROTECTED_CHANGED = "protected files changed"
"""Start of the part of a reason that names protected files without an approval."""


class Criterion(NamedTuple):
    """One acceptance criterion. Without a ``verification_command`` it is fuzzy."""

    id: str
    text: str
    status: str = "pending"
    verification_command: str | None = None
    must_pass: bool = True
    timeout_seconds: float | None = None
    cwd: str | None = None
    serial: bool = False
    hermetic: bool = True
    limitations: tuple[str, ...] = ()
    evidence_ref: str | None = None
    last_evaluated_at: str | None = None
    last_result: str | None = None
    evidence_command: str | None = None
    evidence_paths: tuple[str, ...] = ()
    report: str | None = None
    document: Mapping[str, Any] = {}

    @property
    def fuzzy(self) -> bool:
        """Whether no command can prove it."""
        return self.verification_command is None

    @property
    def judged_paths(self) -> tuple[str, ...]:
        """The patterns of the files that a judge receives for it."""
        solution = object_of(self.document.get("debate")).get("solution")
        more = (solution,) if isinstance(solution, str) else tuple(solution or ())
        return (*self.evidence_paths, *more)

    @property
    def digest(self) -> str:
        """SHA-256 over the criterion without its results."""
        return canonical_digest(without_results(self.document))


class GoalSummary(NamedTuple):
    """A goal file in short: enough to select the goals that a command is about."""

    id: str
    status: Status
    branch: str
    created_at: str
    last_result_at: str
    """See :attr:`Goal.last_result_at`."""
    blocked_by_paths: bool
    """See :attr:`Goal.blocked_by_paths`."""


class Goal(NamedTuple):
    """A goal file's content. ``document`` is the parsed file, every key kept."""

    id: str
    status: Status
    outcome: str
    criteria: tuple[Criterion, ...]
    created_at: str
    repo: str
    branch: str
    run_id: str | None
    base: str | None
    base_commit: str | None
    issue: int | None
    journal: str | None
    allowed_paths: tuple[str, ...]
    denied_paths: tuple[str, ...]
    protected_paths: tuple[str, ...]
    require_all_pass: bool
    evaluator_type: str
    jobs: int | None
    turns_evaluated: int
    last_evaluation: Mapping[str, Any] | None
    source: str | None
    rubrics: tuple[str, ...]
    document: Mapping[str, Any]

    def criterion(self, criterion_id: str) -> Criterion | None:
        """The criterion with this id, or None."""
        return next((c for c in self.criteria if c.id == criterion_id), None)

    @property
    def scorecard_rubrics(self) -> tuple[str, ...]:
        """The rubrics that the criteria's ``scorecard`` name."""
        return scorecard_rubrics(criterion.document for criterion in self.criteria)

    @property
    def _continuation(self) -> Mapping[str, Any]:
        return self.document.get("continuation") or {}

    @property
    def max_iterations(self) -> int:
        """Largest number of continuations by the Stop hook (SPEC 6, budget)."""
        return int(self._continuation.get("max_iterations", MAX_ITERATIONS))

    @property
    def after(self) -> tuple[str, ...]:
        """The goals that must be achieved before this one is proposed (``continuation``)."""
        return tuple(self._continuation.get("after") or ())

    @property
    def max_seconds(self) -> float | None:
        """Seconds for which the Stop hook may keep the agent working; None: no limit."""
        return self._continuation.get("max_seconds")

    @property
    def max_cost_usd(self) -> float | None:
        """US dollars for judges while the Stop hook keeps the agent working; None: no limit."""
        return self._continuation.get("max_cost_usd")

    @property
    def repeat(self) -> int:
        """Number of runs of each command (``evaluator.repeat``, SPEC 10, flaky)."""
        return int(self.document["evaluator"].get("repeat") or 1)

    @property
    def tdd_required(self) -> bool:
        """Whether each command runs on the base commit first (SPEC 10, red first)."""
        return bool((self.document.get("constraints") or {}).get("tdd_required"))

    @property
    def baseline_link(self) -> tuple[str, ...]:
        """The ignored folders that are linked into a checkout of the base commit (SPEC 17.1)."""
        named = self.document["evaluator"].get("baseline_link") or ()
        return tuple(dict.fromkeys(path.rstrip("/") for path in named))

    @property
    def flow_managed(self) -> bool:
        """Whether ``continuation.mode`` limits the hook to warnings."""
        return self._continuation.get("mode") == "flow_managed"

    @property
    def last_result_at(self) -> str:
        """The moment of the newest result; that of creation if there is no result."""
        at = (self.last_evaluation or {}).get("at") or ""
        return max(self.created_at, str(at), *(c.last_evaluated_at or "" for c in self.criteria))

    @property
    def summary(self) -> GoalSummary:
        """The goal in short."""
        return GoalSummary(
            self.id,
            self.status,
            self.branch,
            self.created_at,
            self.last_result_at,
            self.blocked_by_paths,
        )

    @property
    def blocked_by_paths(self) -> bool:
        """Whether it is blocked by a path violation, which ends when the files are put back."""
        return self.status == "blocked" and self._reason_says(OUTSIDE_PATHS)

    @property
    def waits_for_approval(self) -> bool:
        """Whether it waits for a person's approval of changed protected files."""
        return self.status == "waiting_for_user" and self._reason_says(PROTECTED_CHANGED)

    def _reason_says(self, start: str) -> bool:
        """Whether a part of the last evaluation's reason starts so.

        A judge's words, which can imitate any of Flow's, begin with a part; a file's name can hold
        the same words inside one.
        """
        reason: str = (self.last_evaluation or {}).get("reason") or ""
        parts = reason.split("; ")
        ends = (place for place, part in enumerate(parts) if part.startswith(JUDGES_PARTS))
        return any(part.startswith(start) for part in parts[: next(ends, None)])

    @property
    def contract_document(self) -> dict[str, Any]:
        """The contract part of its document; see :func:`contract`."""
        return contract(self.document)

    def pinned_at(self, base_commit: str | None) -> Goal:
        """The goal with this pinned base, as Flow writes it."""
        scope = {**self.document["scope"], "base_commit": base_commit}
        document = {**self.document, "scope": scope}
        return self._replace(base_commit=base_commit, document=document)

    def digest(self, rubric_digests: Mapping[str, str] | None = None) -> str:
        """The contract's digest, which trust, proposals and evidence refer to.

        ``rubric_digests`` holds the SHA-256 of each project rubric the goal names (SPEC 7).
        """
        return contract_digest(self.document, rubric_digests or {})


def is_of_branch(goal_branch: str, branch: str | None) -> bool:
    """Whether a goal of ``goal_branch`` belongs to the checked-out ``branch``; None: any branch."""
    return branch is None or goal_branch in (branch, NO_BRANCH)


def rubrics_of(document: Mapping[str, Any]) -> tuple[list[str], tuple[str, ...]]:
    """The rubrics that a contract's criteria name: (for ballots, for scorecards)."""
    criteria = document["objective"]["acceptance_criteria"]
    return sorted({c["rubric"] for c in criteria if c.get("rubric")}), scorecard_rubrics(criteria)


def scorecard_rubrics(criteria: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The rubrics of scorecards in ``criteria``, which are a contract's; sorted."""
    cards = (object_of(criterion.get("scorecard")) for criterion in criteria)
    return tuple(sorted({card["rubric"] for card in cards if card.get("rubric")}))


def canonical_digest(value: object) -> str:
    """SHA-256 (hex) of the canonical text of ``value``."""
    return sha256(canonical(value)).hexdigest()


def contract(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document without ``lifecycle``, the criteria's results and ``scope.run_id``."""
    bare = {key: value for key, value in document.items() if key != "lifecycle"}
    bare["scope"] = {k: v for k, v in document["scope"].items() if k != "run_id"}
    objective = dict(document["objective"])
    objective["acceptance_criteria"] = [
        without_results(criterion) for criterion in objective["acceptance_criteria"]
    ]
    bare["objective"] = objective
    return bare


def without_results(criterion: Mapping[str, Any]) -> dict[str, Any]:
    """A criterion's document as the contract has it."""
    return {key: value for key, value in criterion.items() if key not in RESULT_FIELDS}


def contract_digest(document: Mapping[str, Any], rubric_digests: Mapping[str, str]) -> str:
    """SHA-256 over the contract and the rubrics it names."""
    return canonical_digest({"contract": contract(document), "rubrics": dict(rubric_digests)})


def goal_from_document(document: Mapping[str, Any]) -> Goal:
    """Read a goal document that the schema has accepted."""
    scope = document["scope"]
    objective = document["objective"]
    constraints = document.get("constraints") or {}
    evaluator = document["evaluator"]
    lifecycle = document["lifecycle"]
    criteria = tuple(_criterion(c) for c in objective["acceptance_criteria"])
    ballot_rubrics, _ = rubrics_of(document)
    return Goal(
        id=document["metadata"]["id"],
        status=lifecycle["status"],
        outcome=objective["outcome"],
        criteria=criteria,
        created_at=document["metadata"]["created_at"],
        repo=scope["repo"],
        branch=scope["branch"],
        run_id=scope.get("run_id"),
        base=scope.get("base"),
        base_commit=scope.get("base_commit"),
        issue=scope.get("issue"),
        journal=scope.get("journal"),
        allowed_paths=tuple(constraints.get("allowed_paths") or ()),
        denied_paths=tuple(constraints.get("denied_paths") or ()),
        protected_paths=tuple(constraints.get("protected_paths") or ()),
        require_all_pass=constraints.get("require_all_pass", True),
        evaluator_type=evaluator["type"],
        jobs=evaluator.get("jobs"),
        turns_evaluated=lifecycle.get("turns_evaluated") or 0,
        last_evaluation=lifecycle.get("last_evaluation"),
        source=objective.get("source"),
        rubrics=tuple(ballot_rubrics),
        document=document,
    )


def _criterion(document: Mapping[str, Any]) -> Criterion:
    return Criterion(
        id=document["id"],
        text=document["text"],
        status=document["status"],
        verification_command=document.get("verification_command"),
        must_pass=document.get("must_pass", True),
        timeout_seconds=document.get("timeout_seconds"),
        cwd=document.get("cwd"),
        serial=document.get("serial", False),
        hermetic=document.get("hermetic", True),
        limitations=tuple(document.get("limitations") or ()),
        evidence_ref=document.get("evidence_ref"),
        last_evaluated_at=document.get("last_evaluated_at"),
        last_result=document.get("last_result"),
        evidence_command=document.get("evidence_command"),
        evidence_paths=tuple(document.get("evidence_paths") or ()),
        report=document.get("report"),
        document=document,
    )
