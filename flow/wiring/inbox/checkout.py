"""One checkout as the inbox looks at it: what is known from before counts while stamps agree.

Each goal rests on some files. What was found out about it is kept with their stamp, and is found
out again when the stamp is another one:

- its summary, on the goal's file;
- a closed goal's standing, on that and on what the state folder remembers of the checkout;
- an open goal's, also on its run's folder, on HEAD, settings, rubrics and changes under way;
- and where the files were looked at, on every file of the checkout, the run's evidence, git's
  index, hooks and settings.

Trust is asked anew each time.
"""

from __future__ import annotations

import os

from flow.adapters.chain import event_log
from flow.adapters.fs.combined_stamp import CombinedStamp
from flow.adapters.git.repository import head_commit
from flow.adapters.user_state.checkouts import GOALS
from flow.adapters.user_state.noted_checkouts import FOLDER, MARKER
from flow.adapters.user_state.trust import doubt
from flow.adapters.worktree.guards import guards
from flow.app.inbox import goal_facts
from flow.core import layout
from flow.core.goal.lifecycle import STATUSES, TERMINAL
from flow.core.goal.model import GoalSummary
from flow.core.standing.items import StandingGoal
from flow.core.standing.table import GoalFacts
from flow.errors import ContractError, FlowError
from flow.startup.once import once
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from flow.adapters.inbox.index import InboxIndex
    from flow.adapters.user_state.trust import TrustNow
    from flow.app.evaluation.values import ClosingContext
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.standing.table import Doubt
    from flow.wiring.context import Context


class InboxCheckout(Goals):
    """A checkout as :class:`~flow.app.inbox.repository.CheckoutPort`."""

    def __init__(self, context: Context, index: InboxIndex, trust: TrustNow) -> None:
        super().__init__(context)
        self.branch = lambda: self._branch
        self._index, self._trust = index, trust
        self.key = f"checkout {self.top}"
        self._before: dict[str, Any] = index.get(self.key)
        self._now: dict[str, Any] = {}
        self._unreadable: dict[str, str] = {}
        self._in_short = self._read_in_short()

    # --- what the inbox asks -------------------------------------------------------------------

    def in_short(self) -> Mapping[str, GoalSummary]:
        return self._in_short

    def unreadable(self) -> Mapping[str, str]:
        return self._unreadable

    def left_open(self, goal_id: str) -> bool:
        return goal_id in self._left_open

    def standing(self, goal_id: str, *, here: bool) -> StandingGoal:
        row = self._now[goal_id]
        known = decoded(row.get("stands")) if row.get("here") == here else None
        if known is not None:
            known = self._still(goal_id, row, known, here=here)
        if known is not None:
            return known
        loaded = self.load(goal_id)
        # The files are stamped before they are read: what changes meanwhile is seen next time.
        run_id = loaded.goal.run_id if loaded.goal.status not in TERMINAL else None
        stamps = {looked: self._stamp(run_id, looked=looked) for looked in (0, 1)}
        stands = (
            goal_facts.here(self, loaded) if here else goal_facts.away(self, loaded.goal)
        )._replace(contract=loaded.contract)
        stamp = stamps[int(stands.looked)]
        row["stands"] = None
        # What comes first may be anywhere in the checkout, or in the state folder.
        if stamp.settled and not loaded.goal.after:
            row |= {"here": here, "stamp": stamp.text, "stands": encoded(stands)}
            row["run"] = run_id
        return stands

    def keep(self) -> None:
        """Hand what is known now to the index."""
        if self._now != self._before:
            self._index.put(self.key, self._now)

    # --- what finding out asks -----------------------------------------------------------------

    def doubt(self, loaded: LoadedGoal) -> Doubt:
        return self._doubt(loaded.goal.id, loaded.contract)

    def newest_event(self, run_id: str, goal_id: str) -> Mapping[str, Any] | None:
        return event_log.newest(self.top, run_id, "goal_id", goal_id, _tells)

    def closing_context(self) -> ClosingContext:
        return self._closing

    # --- what is kept --------------------------------------------------------------------------

    @once
    def _left_open(self) -> Collection[str]:
        return self.remembered.left_open()

    @once
    def _branch(self) -> str | None:
        return self._context.branch()

    @once
    def _closing(self) -> ClosingContext:
        return super().closing_context()

    def _read_in_short(self) -> dict[str, GoalSummary]:
        summaries: dict[str, GoalSummary] = {}
        for goal_id in self.records.goal_ids():
            stamp = CombinedStamp()
            said = stamp.file(os.path.join(self.top, layout.goal_file(goal_id)))
            row = self._before.get(goal_id)
            if not isinstance(row, dict) or row.get("file") != said or not _is_summary(row):
                row = self._new_row(goal_id)
                if stamp.settled and "unsure" not in row:
                    row["file"] = said
            row = self._now[goal_id] = dict(row)  # what was there before stays as it was
            if "fault" in row:
                self._unreadable[goal_id] = row["fault"]
            else:
                summaries[goal_id] = GoalSummary(goal_id, *row["short"])
        return summaries

    def _new_row(self, goal_id: str) -> dict[str, Any]:
        """What a goal file says in short now."""
        goals, broken = self._read_now
        error = broken.get(goal_id)
        if isinstance(error, ContractError):
            return {"fault": error.faults[0].message}
        if error is not None:  # the disk's answer may be another one next time
            return {"fault": error.faults[0].message, "unsure": True}
        goal = goals.get(goal_id)
        if goal is None:  # it came meanwhile
            return {"fault": "it was written just now", "unsure": True}
        return {"short": list(goal[1:])}

    @once
    def _read_now(self) -> tuple[Mapping[str, GoalSummary], Mapping[str, FlowError]]:
        return self.records.summaries()

    def _still(
        self, goal_id: str, row: Mapping[str, Any], known: StandingGoal, *, here: bool
    ) -> StandingGoal | None:
        """What is known from before, as far as it still holds."""
        if row.get("stamp") != self._stamp_text(row.get("run"), looked=known.looked):
            return None
        facts = known.facts
        if not here or facts.status in TERMINAL or facts.pause or facts.status == "draft":
            return known
        why_not = self._doubt(goal_id, known.contract)
        if bool(why_not) != bool(facts.doubt):
            return None
        return known._replace(facts=facts._replace(doubt=why_not))

    def _doubt(self, goal_id: str, contract: str) -> Doubt:
        if self._trust.trusts(self._context.repository, goal_id, contract):
            return ""
        context = self._context
        return doubt(context.settings.settings, context.trust_ledger, goal_id, contract)[0]

    def _stamp_text(self, run_id: str | None, *, looked: bool) -> str:
        if run_id is None and not looked:
            return self._of_closed
        return self._stamp(run_id, looked=looked).text

    @once
    def _of_closed(self) -> str:
        """The stamp of every closed goal, beside its own file."""
        return self._stamp(None, looked=0).text

    def _stamp(self, run_id: str | None, *, looked: int) -> CombinedStamp:
        """The stamp of what a goal's standing rests on, beside its own file."""
        stamps = CombinedStamp(self._around.text)
        stamps.add(str(int(looked)))
        if run_id is not None:
            folder = os.path.join(self.top, layout.run_dir(run_id))
            if looked:
                stamps.tree(folder)
            else:
                stamps.folder(folder)
            stamps.file(self._context.heads.path(run_id))
        if looked:
            stamps.add(self._files.text)
        stamps.newest(self._around, *([self._files] if looked else []))
        return stamps

    @once
    def _around(self) -> CombinedStamp:
        """What every open goal of the checkout rests on."""
        context, top = self._context, self.top
        stamps = CombinedStamp(context.home or "", self._branch or "", str(self.in_git))
        stamps.folder(os.path.join(top, layout.PENDING))
        stamps.tree(os.path.join(top, layout.RUBRICS))
        stamps.tree(os.path.join(top, layout.PLUGIN_RUBRICS))
        for name in (layout.SETTINGS_LOCAL, layout.SETTINGS_PROJECT):
            stamps.file(os.path.join(top, name))
        stamps.file(os.path.join(context.home or "/", ".claude", "settings.flow.json"))
        notes = f"{FOLDER}{top.rstrip('/')}/{MARKER}/{GOALS}"
        stamps.file(os.path.join(context.state_dir, notes))
        return stamps

    @once
    def _files(self) -> CombinedStamp:
        """What a look at the files rests on."""
        stamps = CombinedStamp()
        if os.path.lexists(os.path.join(self.top, ".gitmodules")):
            stamps.unsettle()  # the repositories of submodules are not watched
        leave_out = (os.path.join(self.top, ".git"), os.path.join(self.top, layout.RUNS))
        stamps.tree(self.top, leave_out)
        repo = self._context.repo
        if self.in_git and repo.git_dir:
            stamps.folder(repo.git_dir)
            stamps.add(str(head_commit(repo)))
            stamps.add(repr(sorted(guards(repo).items())))
        return stamps


def _tells(event: Mapping[str, Any]) -> bool:
    return not str(event.get("type")).startswith("evidence")


_KINDS = [str, str, str, str, bool]
"""Those of a summary's fields behind the id."""


def _is_summary(row: Mapping[str, Any]) -> bool:
    if "fault" in row:
        return isinstance(row["fault"], str)
    short = row.get("short")
    is_whole = isinstance(short, list) and [type(value) for value in short] == _KINDS
    return is_whole and short is not None and short[0] in STATUSES


def encoded(stands: StandingGoal) -> dict[str, Any]:
    """A standing, to be kept."""
    defaults = GoalFacts._field_defaults
    facts = {k: v for k, v in stands.facts._asdict().items() if v != defaults.get(k, None)}
    return {**stands._asdict(), "facts": facts}


def decoded(value: Any) -> StandingGoal | None:
    """What was kept; None for anything else."""
    try:
        items = value["facts"].items()
        facts: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in items}
        return StandingGoal(**{**value, "facts": GoalFacts(**facts)})
    except (TypeError, KeyError, AttributeError):
        return None
