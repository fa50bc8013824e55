"""One checkout as every service is given it: repository, settings, state folder, environment."""

from __future__ import annotations

import os
import time

from flow.adapters.fs import files
from flow.adapters.fs.state_folder import ensure_below, state_dir
from flow.adapters.git.find import find_repo, no_checkout
from flow.core import layout
from flow.core.goal import ids
from flow.errors import FlowError
from flow.startup.contexts import suppress
from flow.startup.once import once
from flow.startup.typing import TYPE_CHECKING, Any
from flow.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.baseline.working_tree import WorkingTree
    from flow.adapters.chain.pinned_heads import PinnedHeads
    from flow.adapters.chain.run_record import RunRecord
    from flow.adapters.chain.verification import RunVerification
    from flow.adapters.git.find import Repo
    from flow.adapters.ledger.reader import FileRecords
    from flow.adapters.ledger.writer import FileLedger
    from flow.adapters.user_state.checkouts import CheckoutNotes
    from flow.adapters.user_state.goal_notes import GoalNotes, Kind
    from flow.adapters.user_state.judge_labels import LabelLog
    from flow.adapters.user_state.trust import TrustLedger
    from flow.adapters.user_state.written_files import OwnRecord
    from flow.app.evaluation.closing_context import ClosingContext
    from flow.app.open_goals import EarlierGoals
    from flow.app.transitions.persons_word import PersonsWord
    from flow.app.transitions.remembered import RememberedGoals
    from flow.core.boundary.changes import Baseline
    from flow.core.evidence.red_first import BaseRun
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal
    from flow.core.settings import LoadedSettings
    from flow.core.tool_calls.speaker import Speaker


CLOSING_WAIT = 2.0
"""Seconds that a confirmation waits for an evaluation of the goal to end."""


class Context:
    """A checkout and what Flow keeps of it; a command builds one.

    ``cwd`` defaults to the working directory, ``environ`` to the process's environment; ``repo``
    is given where it cannot be found any more. Raises :class:`InputError` if neither a
    repository nor a ``.flow`` folder is above ``cwd``. What a helper may not need is imported where
    it is made.
    """

    def __init__(
        self,
        cwd: str | None = None,
        environ: Mapping[str, str] | None = None,
        repo: Repo | None = None,
    ) -> None:
        self.environ = os.environ if environ is None else environ
        start = os.path.abspath(cwd or os.getcwd())
        repo = repo or find_repo(start)
        if repo is None:
            raise no_checkout(start)
        self.repo: Repo = repo
        self.top: str = repo.top
        self._named_contract: str | None = None  # by --trust-digest
        self._lenient = False
        self._pins: Mapping[str, str] = {}

    # --- where it is ---------------------------------------------------------------------------

    @property
    def home(self) -> str | None:
        """The user's home folder, None if HOME is unset."""
        return self.environ.get("HOME") or None

    @once
    def state_dir(self) -> str:
        """The user's state folder; never inside the checkout."""
        return state_dir(self.environ, self.home, self.top, self.repo.common_dir)

    @once
    def repository(self) -> str:
        """The repository's key in the state folder; its working trees share it."""
        from flow.adapters.git.directories import repo_key, shared_dir

        return repo_key(shared_dir(self.repo), self.top)

    def branch(self) -> str | None:
        """The branch that is checked out; None on a detached HEAD or without git."""
        from flow.adapters.git.repository import current_branch

        return current_branch(self.repo)

    def cache(self, name: str) -> str | None:
        """A folder in the user's state folder; None if that cannot be used."""
        try:
            ensure_below(self.state_dir, f"cache/{name}")
        except FlowError:
            return None
        return os.path.join(self.state_dir, "cache", name)

    # --- the settings in force -----------------------------------------------------------------

    @once
    def settings(self) -> LoadedSettings:
        """The settings of checkout and user, with their origins and warnings."""
        from flow.adapters.user_state.settings import load

        return load(self.top, self.home, self._pins)

    def be_lenient(self, *goals: Goal) -> tuple[str, ...]:
        """Take the settings as far as they can be read; returns what is wrong with the rest.

        For the Stop hook: a broken settings file must not switch a check off, so of the values that
        can still be read the stricter one is used (SPEC 8). With ``goals`` as in
        :meth:`take_settings_of`.
        """
        from flow.adapters.user_state.settings import load_lenient

        self._lenient = True
        if goals:
            self._pins = self._pins_of(goals)
        self.settings, faults = load_lenient(self.top, self.home, self._pins)
        return faults

    def take_settings_of(self, *goals: Goal | None) -> None:
        """Use the settings in force when these goals began, of several the tightest (SPEC 17.2)."""
        pins = self._pins_of(goals)
        if pins == self._pins:
            return
        self._pins = pins
        if self._lenient:
            self.be_lenient()
        else:
            self.__dict__.pop("settings", None)
            _ = self.settings  # raises here if they cannot be read

    def _pins_of(self, goals: Sequence[Goal | None]) -> Mapping[str, str]:
        """The settings that were pinned when these goals began, the tightest of each."""
        from flow.core.settings import strictest_pins

        baselines = [self.pinned(goal.run_id, goal) for goal in goals if goal and goal.run_id]
        return strictest_pins([each.settings for each in baselines if each is not None])

    # --- the records of the checkout -----------------------------------------------------------

    @once
    def run_record(self) -> RunRecord:
        """The runs as Flow left them, as far as the user's own state folder vouches for it."""
        from flow.adapters.chain.run_record import RunRecord

        return RunRecord(self.top, lambda: self.heads, self._keep_runs_out, lambda: self.own_record)

    def _keep_runs_out(self) -> None:
        from flow.adapters.setup.beside_goals import keep_runs_out

        keep_runs_out(self.top, self.repo.common_dir)

    @once
    def heads(self) -> PinnedHeads:
        """The heads of this checkout's runs, as the user's state folder keeps them."""
        from flow.adapters.chain.pinned_heads import PinnedHeads
        from flow.adapters.git.directories import own_dir, repo_key

        # Runs are a worktree's own, and a linked one may hold another run of the same id.
        return PinnedHeads(self.state_dir, repo_key(own_dir(self.repo), self.top))

    @once
    def records(self) -> FileRecords:
        """The reading side of the ledger."""
        from flow.adapters.ledger.reader import FileRecords

        return FileRecords(self.run_record, self.cache("parsed"), self.cache("goals"))

    @once
    def ledger(self) -> FileLedger:
        """Ledger that locks with fcntl, for a fast start (no filelock import)."""
        return self.ledger_of(quick=True)

    def ledger_of(self, *, quick: bool) -> FileLedger:
        """The writing side; unless ``quick`` it locks with ``filelock``."""
        from flow.adapters.ledger.settings import LedgerSettings
        from flow.adapters.ledger.writer import FileLedger

        settings = LedgerSettings(
            now=self.now,
            journal_dir=self.settings.settings.journal_dir,
            quick=quick,
            cache_dir=self.cache("parsed"),
            # Few turns change a status, and what remembers that is loaded for them alone.
            before_change=lambda *change: self.remembered.before_change(*change),  # noqa: PLW0108
            after_change=lambda *change: self.remembered.after_change(*change),  # noqa: PLW0108
            speaker=self.speaker,
            asked_by=self.asked_by,
            before_journal=self.own_record.journal,
        )
        return FileLedger(self.run_record, settings)

    def load(self, goal_id: str) -> LoadedGoal:
        """Read a goal. Raises :class:`InputError` if there is none, or for an unsafe id."""
        return self.records.goal(goal_id)

    def goal_of(self, goal_id: str) -> Goal | None:
        """The goal; None if it cannot be read, which other checks report."""
        try:
            return self.load(goal_id).goal
        except FlowError:
            return None

    def pinned(self, run_id: str, goal: Goal) -> Baseline | None:
        """The baseline Flow recorded for this goal: an agent could write one, or name another's."""
        file = self.records.baseline_file(run_id)
        baseline = file.of(goal)
        try:
            vouched = baseline and self.heads.vouches(run_id, layout.BASELINE, file.digest)
        except FlowError:  # no state folder, or none that can be used
            return None
        return baseline if vouched else None

    def write_baseline(self, goal_id: str, run_id: str, baseline: Baseline) -> None:
        """Write the baseline of a run."""
        self.ledger.write_baseline(goal_id, run_id, baseline)

    def finish(self, goal_id: str) -> None:
        """Carry out what a killed command had decided about a goal."""
        self.ledger.finish(goal_id)

    @once
    def tree(self) -> WorkingTree:
        """The files, compared with what a goal pinned when it began."""
        from flow.adapters.baseline.working_tree import WorkingTree

        return WorkingTree(self)

    def closing_context(self) -> ClosingContext:
        """The context in which a person's command is decided; it locks with ``filelock``."""
        from flow.app.evaluation.closing_context import ClosingContext

        return ClosingContext(
            records=self.records,
            open_ledger=lambda: self.ledger_of(quick=False),
            baseline=self.tree.baseline,
            snapshot=self.tree.snapshot,
            write_baseline=self.write_baseline,
            denied_paths=self.settings.settings.denied_paths,
            account=lambda: self.who,
            version=__version__,
            now=self.now,
            speaker=self.speaker,
            proof=self.tree.proof,
            earlier=self.earlier,
            trusted=self.trusted,
            broken=lambda run_id: self.verification.broken(run_id),  # noqa: PLW0108  # few ask
            elsewhere=self.elsewhere,
            troubles=lambda: tuple(self.run_record.troubles),
            await_evaluation=self.await_evaluation,
        )

    def await_evaluation(self, goal_id: str) -> None:
        """Wait until no evaluation of a goal runs; raises :class:`LockTimeout` if one goes on."""
        from flow.adapters.fs import locks

        lock = layout.evaluation_lock(ids.goal_id(goal_id))
        with locks.exclusive(self.top, lock, timeout=CLOSING_WAIT, quick=True):
            pass

    def persons_context(self) -> ClosingContext:
        """The context of a person's move: its record names the person as an approval's does."""
        by = self.own_word().by
        return self.closing_context()._replace(account=lambda: by)

    def elsewhere(self, run_id: str) -> bool:
        """Whether a run was recorded in another checkout, and not in this one."""
        if files.exists(self.top, layout.ledger_file(run_id)):
            return False  # most runs are here, and nothing more has to be loaded
        return self.verification.elsewhere(run_id)

    @once
    def verification(self) -> RunVerification:
        """The runs of the checkout, to be checked against their hash chains."""
        from flow.adapters.chain.verification import RunVerification

        folders = [self.settings.settings.journal_dir, layout.JOURNAL_DIR]
        return RunVerification(self.top, self.repo, lambda: self.heads, folders)

    # --- the user's own records ----------------------------------------------------------------

    @once
    def trust_ledger(self) -> TrustLedger:
        """The user's own record of the contracts that may run here."""
        from flow.adapters.user_state.trust import TrustLedger

        return TrustLedger(self.state_dir, self.repository, self.top, self.speaker)

    def label_log(self) -> LabelLog:
        """The user's own record of what people decided beside judges."""
        from flow.adapters.user_state.judge_labels import LabelLog

        return LabelLog(self.state_dir, self.top, self.repo.common_dir)

    @property
    def earlier(self) -> EarlierGoals:
        """Lookup of the goals that must be achieved first."""
        from flow.app.open_goals import EarlierGoals

        return EarlierGoals(self.load, lambda: self.run_record, lambda: self.trust_ledger)

    def take_contract(self, digest: str | None) -> None:
        """Trust this contract from here on: the caller names it as the one that it means."""
        self._named_contract = digest

    def amendments(self, run_id: str) -> Sequence[Mapping[str, Any]]:
        """The run's events about its contract, oldest first."""
        from flow.adapters.chain import event_log
        from flow.adapters.ledger.reader import AMENDED

        return event_log.of_type(self.top, run_id, AMENDED)

    def trusted(self, loaded: LoadedGoal) -> tuple[bool, str]:
        """Whether the goal's commands may run here, and why or why not."""
        from flow.adapters.user_state.trust import trusted

        if self._named_contract == loaded.contract:
            return True, "--trust-digest names this contract"
        try:
            ledger = self.trust_ledger
        except FlowError as error:  # no state folder: it is no trust, as where it cannot be read
            return False, f"the trust ledger cannot be used: {error}"
        return trusted(self.settings.settings, ledger, loaded.goal.id, loaded.contract)

    def record_trust(self, goal: Goal, how: str, digest: str | None = None) -> None:
        """Trust the contract of a goal; ``how`` is the command.

        ``digest`` is the contract's as a person was shown it; None: as its rubrics are now.
        """
        digest, document = digest or self.records.contract_digest(goal), goal.contract_document
        self.trust_ledger.record(goal.id, digest, document, now=self.now(), how=how)

    def knows_defaults(self, digest: str) -> bool:
        """Whether the user trusts the repository's file of defaults as it is."""
        from flow.adapters.user_state.trust import defaults_known

        return defaults_known(self.trust_ledger, digest)

    @once
    def own_record(self) -> OwnRecord:
        """The files that Flow wrote into this repository, as the user's state folder knows them."""
        from flow.adapters.user_state.written_files import OwnRecord

        return OwnRecord(lambda: (self.state_dir, self.repository))

    @once
    def checkout_notes(self) -> CheckoutNotes:
        """This checkout's goals and sessions, as the user's state folder remembers them."""
        from flow.adapters.user_state.checkouts import CheckoutNotes

        return CheckoutNotes(self.state_dir, self.top, self.repo.git_dir)

    def note_use(self) -> None:
        """Note that Flow is used in this checkout, for ``flow inbox``."""
        from flow.adapters.user_state.noted_checkouts import note

        with suppress(FlowError):  # without a state folder the inbox knows no checkout
            note(self.state_dir, self.top, self.repo.git_dir)

    def notes(self, kind: Kind) -> GoalNotes:
        """Notes about this repository's goals in the user's state folder."""
        from flow.adapters.user_state.goal_notes import GoalNotes

        return GoalNotes(self.state_dir, self.repository, kind)

    def base_runs(self, goal: Goal) -> Mapping[str, BaseRun]:
        """The commands on the base commit as they are on record (red first)."""
        from flow.app.evaluation.baselines import recorded_base_runs

        return recorded_base_runs(lambda: self.notes("baselines"), goal)

    def now(self) -> str:
        """The time, as text."""
        from flow.adapters.fs import clock

        return clock.now()

    def time(self) -> float:
        """Seconds since 1970."""
        return time.time()

    # --- who speaks ----------------------------------------------------------------------------

    @once
    def speaker(self) -> Speaker | None:
        """From where the commands of this process come; None at the stop of an agent."""
        from flow.adapters.process.speaker import current_speaker

        return current_speaker(self.environ)

    @property
    def who(self) -> str:
        """The name that the journal gives for the caller: the account's, never a proof."""
        from flow.adapters.process.speaker import account

        return account(self.environ)

    def asked_by(self) -> Mapping[str, str]:
        """See :func:`flow.adapters.process.speaker.asked_by`."""
        from flow.adapters.process import speaker

        return speaker.asked_by(self)

    def own_word(self) -> PersonsWord:
        """The word of the person who runs this: by git's name, else the account's."""
        from flow.app.transitions.persons_word import persons_word

        return persons_word(self, None)

    def configured_name(self) -> str:
        """Git's ``user.name``; empty if there is none, or git cannot tell."""
        from flow.adapters.git.run import user_config

        try:
            return user_config(self.repo, "--get", "user.name").decode("utf-8", "replace")
        except FlowError:
            return ""

    @once
    def remembered(self) -> RememberedGoals:
        """This checkout's goals as the user's state folder remembers them."""
        from flow.app.transitions.remembered import RememberedGoals

        return RememberedGoals(self)

    def newest_change(self, goal_id: str, run_id: str) -> Mapping[str, Any] | None:
        """The newest event of the run that changed the goal's status."""
        from flow.adapters.chain import event_log
        from flow.core.stop.pause import changes_status

        return event_log.newest(self.top, run_id, "goal_id", goal_id, changes_status)
