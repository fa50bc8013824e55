"""The real parts of one checkout, each built at the point of use."""

from __future__ import annotations

import os
from contextlib import suppress

from flow.adapters.fs.state_folder import ensure_state_dir, state_dir
from flow.adapters.git.find import find_repo
from flow.adapters.git.repository import current_branch
from flow.adapters.git.run import user_config
from flow.core import layout
from flow.core.layout import PLUGIN_SCORES, SCORES
from flow.errors import FlowError, InputError
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.adapters.chain.pinned_heads import PinnedHeads
    from flow.adapters.chain.run_record import RunRecord
    from flow.adapters.git.find import Repo
    from flow.adapters.ledger.reader import FileRecords
    from flow.adapters.ledger.writer import FileLedger
    from flow.adapters.user_state.checkouts import CheckoutNotes
    from flow.adapters.user_state.goal_notes import Notes
    from flow.adapters.user_state.trust import TrustLedger
    from flow.adapters.user_state.written_files import OwnRecord
    from flow.app.evaluation.values import ClosingContext, RecordedBaseline
    from flow.app.ports import LoadedGoal, ProofDisk
    from flow.core.boundary.changes import Baseline, Deciding, PathChange, Snapshot
    from flow.core.evidence.proof import LineCount, ProofFile
    from flow.core.evidence.proof_words import Watched
    from flow.core.evidence.red_first import BaseRun
    from flow.core.goal.model import Goal
    from flow.core.settings import LoadedSettings
    from flow.core.stop.lost_goals import OpenGoal
    from flow.core.stop.pause import Pause
    from flow.core.tool_calls.speaker import Speaker


class Parts:
    """The adapters behind a checkout.

    ``cwd`` defaults to the working directory, ``environ`` to the process's environment; ``repo``
    is given where it cannot be found any more. Raises :class:`InputError` where neither a
    repository nor a ``.flow`` folder is above ``cwd``.
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
            raise InputError(
                f"{start} is in no git repository and below no .flow folder",
                code="no_repository",
                remedy="run it inside the repository, or start one: git init && flow init",
            )
        self.repo: Repo = repo
        self.top: str = repo.top
        self._parts: dict[str, Any] = {}
        self._lenient = False
        self._pins: Mapping[str, str] = {}
        self._named_contract: str | None = None
        """The contract that the caller names as the one it means (``--trust-digest``)."""
        self._told_settings: tuple[str, ...] = ()

    def _once(self, name: str, build: Callable[[], Any]) -> Any:
        if name not in self._parts:
            self._parts[name] = build()
        return self._parts[name]

    @property
    def home(self) -> str | None:
        """The user's home folder, None where HOME is unset."""
        return self.environ.get("HOME") or None

    @property
    def settings(self) -> LoadedSettings:
        """The settings of checkout and user, with their origins and warnings."""
        from flow.adapters.user_state.settings import load

        loaded: LoadedSettings = self._once("settings", lambda: load(self.top, self.home))
        return loaded

    def be_lenient(self) -> tuple[str, ...]:
        """Take the settings as far as they can be read; returns what is wrong with the rest.

        For the Stop hook: a broken file turns no check off, so of what the readable parts say the
        stricter counts (SPEC 8).
        """
        from flow.adapters.user_state.settings import load_lenient

        self._lenient = True
        loaded, faults = load_lenient(self.top, self.home)
        self._parts["settings"] = loaded
        return faults

    def take_settings_of(self, *run_ids: str | None) -> None:
        """From here on the settings are those of the goals with these runs, as they began.

        Of several, what tightens most counts (SPEC 17.2).
        """
        from flow.core.settings import strictest_pins

        baselines = [self.pinned(run_id) for run_id in run_ids if run_id]
        pins = strictest_pins([found.settings for found in baselines if found is not None])
        if pins == self._pins:
            return
        from flow.adapters.user_state.settings import load, load_lenient

        self._pins = pins
        if self._lenient:
            self._parts["settings"], _ = load_lenient(self.top, self.home, pins)
        else:
            self._parts["settings"] = load(self.top, self.home, pins)

    @property
    def state_dir(self) -> str:
        """The user's state folder; never inside the checkout."""
        path: str = self._once(
            "state_dir",
            lambda: state_dir(self.environ, self.home, self.top, self.repo.common_dir),
        )
        return path

    @property
    def trust_ledger(self) -> TrustLedger:
        """The user's own record of the contracts that may run here."""
        from flow.adapters.user_state.trust import TrustLedger

        ledger: TrustLedger = self._once(
            "trust",
            lambda: TrustLedger(self.state_dir, self.repository, self.top, self.speaker),
        )
        return ledger

    def off_limits(self) -> tuple[str, ...]:
        """The folders that no output of a command may lie in."""
        below = (".flow", layout.JOURNAL_DIR, self.settings.settings.journal_dir)
        found = [os.path.join(self.top, name) for name in below]
        found += [folder for folder in (self.repo.git_dir, self.repo.common_dir) if folder]
        if self.home:  # also where a variable names another one now
            found.append(os.path.join(self.home, ".claude", "flow-state"))
        try:
            found.append(self.state_dir)
        except FlowError:
            pass  # there is none that could be overwritten
        return tuple(found)

    @property
    def repository(self) -> str:
        """What the state folder knows this repository by; its working trees share it."""
        from flow.adapters.git.trees import repo_key, shared_dir

        key: str = self._once("repository", lambda: repo_key(shared_dir(self.repo), self.top))
        return key

    @property
    def records(self) -> FileRecords:
        """The reading side of the ledger."""
        from flow.adapters.ledger.reader import FileRecords

        records: FileRecords = self._once(
            "records", lambda: FileRecords(self.run_record, self._cache("parsed"))
        )
        return records

    @property
    def run_record(self) -> RunRecord:
        """What Flow itself left in the runs, as the user's own state folder vouches for it."""
        from flow.adapters.chain.run_record import RunRecord

        record: RunRecord = self._once(
            "run_record", lambda: RunRecord(self.top, lambda: self.heads)
        )
        return record

    @property
    def ledger(self) -> FileLedger:
        """Ledger that locks with fcntl, for a fast start (no filelock import)."""
        ledger: FileLedger = self._once("ledger", lambda: self._ledger(quick=True))
        return ledger

    def _ledger(self, *, quick: bool) -> FileLedger:
        from flow.adapters.fs import clock
        from flow.adapters.ledger.writer import FileLedger, LedgerSettings

        settings = LedgerSettings(
            now=clock.now,
            journal_dir=self.settings.settings.journal_dir,
            quick=quick,
            cache_dir=self._cache("parsed"),
            before_change=self._coming,
            after_change=self.left,
            speaker=self.speaker,
            before_journal=self._journal_written,
        )
        return FileLedger(self.run_record, settings)

    def _journal_written(self, rel: str, old: bytes | None, new: bytes) -> None:
        """Let the state folder know that Flow is about to write a journal."""
        self.own_record.journal(rel, old, new)

    @property
    def own_record(self) -> OwnRecord:
        """What the user's state folder knows of the files that Flow wrote into this repository."""
        from flow.adapters.user_state.written_files import OwnRecord

        record: OwnRecord = self._once(
            "own_record", lambda: OwnRecord(lambda: (self.state_dir, self.repository))
        )
        return record

    @property
    def checkout_notes(self) -> CheckoutNotes:
        """What the user's state folder remembers of this checkout's goals and sessions."""
        from flow.adapters.user_state.checkouts import CheckoutNotes

        notes: CheckoutNotes = self._once(
            "checkout_notes", lambda: CheckoutNotes(self.state_dir, self.top, self.repo.git_dir)
        )
        return notes

    def paused(self, goal: Goal) -> Pause | None:
        """Who set the goal aside and why; None where it is not paused."""
        from flow.core.stop.pause import PAUSED_STATUS, changes_status, pause_of

        if goal.status != PAUSED_STATUS or goal.run_id is None:
            return None
        from flow.adapters.chain import event_log

        try:
            newest = event_log.newest(self.top, goal.run_id, "goal_id", goal.id, changes_status)
        except FlowError:  # its events are told where they are read
            return None
        return pause_of(newest)

    def left_open(self) -> Mapping[str, OpenGoal]:
        """The goals that Flow left open in this checkout, as the state folder remembers them."""
        try:
            return self.checkout_notes.read().goals
        except FlowError:
            return {}

    def _coming(self, goal: Goal, status: str) -> None:
        """A goal is about to get a status: the Stop hook is to know that Flow wrote it."""
        with suppress(FlowError):  # without a state folder nothing is remembered
            self.checkout_notes.coming(goal.id, status)

    def left(self, goal: Goal, run_id: str, status: str, contract: str) -> None:
        """Flow has written a goal: the Stop hook misses it until it is closed."""
        from flow.core.goal.lifecycle import TERMINAL
        from flow.core.stop.lost_goals import OpenGoal

        with suppress(FlowError):
            # What the hook closes it tells itself, and nobody began what was a draft.
            if status in TERMINAL and self.speaker is not None and goal.status != "draft":
                self.note_closing(goal.id, goal.branch, run_id, status)
            elif status in TERMINAL or status == "draft":
                self.checkout_notes.forget(goal.id)
            else:
                known = OpenGoal(goal.id, run_id, goal.branch, (status,), contract)
                self.checkout_notes.left(known)

    def note_closing(self, goal_id: str, branch: str, run_id: str, status: str) -> None:
        """Let the next stop in this checkout tell who closed the goal.

        Raises :class:`FlowError` where that cannot be remembered.
        """
        from flow.adapters.chain import event_log
        from flow.core.chain.closing_record import closed_goal
        from flow.core.stop.pause import changes_status

        try:
            event = event_log.newest(self.top, run_id, "goal_id", goal_id, changes_status)
        except FlowError:  # its events are told where they are read
            event = None
        self.checkout_notes.closed(closed_goal(goal_id, branch, status, event))

    def _notes(self, kind: Any) -> Notes:
        """Notes about this repository's goals in the user's state folder."""
        from flow.adapters.user_state.goal_notes import Notes

        notes: Notes = self._once(
            f"notes-{kind}", lambda: Notes(self.state_dir, self.repository, kind)
        )
        return notes

    def base_runs(self, goal: Goal) -> Mapping[str, BaseRun]:
        """What is on record about a goal's commands and base as they are now (red first)."""
        if goal.base_commit is None:
            return {}
        try:
            rows = (self._notes("baselines").read(goal.id) or {}).get("rows")
        except FlowError:  # no state folder, or none that can be used
            return {}
        if not isinstance(rows, dict) or not rows:
            return {}
        from flow.core.evidence import red_first

        return red_first.current(goal, rows)

    @property
    def heads(self) -> PinnedHeads:
        """What the user's state folder keeps of this repository's runs."""
        from flow.adapters.chain.pinned_heads import PinnedHeads
        from flow.adapters.git.trees import own_dir, repo_key

        # Runs are a worktree's own, and a linked one may hold another run of the same id.
        heads: PinnedHeads = self._once(
            "heads", lambda: PinnedHeads(self.state_dir, repo_key(own_dir(self.repo), self.top))
        )
        return heads

    def pinned(self, run_id: str) -> Baseline | None:
        """The run's baseline, if it is as Flow left it; None where nobody can vouch for it.

        It lies in the checkout, where whoever works on the goal could write a better one.
        """
        found, digest = self.records.baseline_read(run_id)
        try:
            vouched = found is not None and self.heads.vouches(run_id, layout.BASELINE, digest)
        except FlowError:  # no state folder, or none that can be used
            return None
        return found if vouched else None

    def load(self, goal_id: str) -> LoadedGoal:
        """Read a goal. Raises :class:`InputError` where there is none, or for an unsafe id."""
        return self.records.goal(goal_id)

    def branch(self) -> str | None:
        """The branch that is checked out; None on a detached HEAD or without git."""
        return current_branch(self.repo)

    def trusted(self, loaded: LoadedGoal) -> tuple[bool, str]:
        """Whether the goal's commands may run here, and why or why not."""
        from flow.adapters.user_state.trust import trusted

        if self._named_contract == loaded.contract:
            return True, "--trust-digest names this contract"
        return trusted(self.settings.settings, self.trust_ledger, loaded.goal.id, loaded.contract)

    def _trust(self, goal: Goal, how: str) -> None:
        from flow.adapters.fs import clock
        from flow.adapters.ledger.reader import rubric_digests
        from flow.core.goal.model import contract

        self.trust_ledger.record(
            goal.id,
            goal.digest(rubric_digests(self.top, goal)),
            contract(goal.document),
            now=clock.now(),
            how=how,
        )

    @property
    def who(self) -> str:
        """The name the journal gives for whoever runs this: the account's, never a promise."""
        named = self.environ.get("USER") or self.environ.get("LOGNAME")
        if named:
            return named
        from pwd import getpwuid  # a service or a container often has neither variable

        try:
            return getpwuid(os.geteuid()).pw_name
        except KeyError:
            return f"user {os.geteuid()}"

    @property
    def speaker(self) -> Speaker | None:
        """From where the commands of this process come; None at the stop of an agent."""
        speaker: Speaker | None = self._once("speaker", self._current_speaker)
        return speaker

    def _current_speaker(self) -> Speaker:
        from flow.adapters.process.speaker import current_speaker

        return current_speaker(self.environ)

    def by(self, name: str | None) -> tuple[str, str | None]:
        """(who says so, where that name comes from unless the caller gave ``name``).

        At a terminal it is the account's; elsewhere git's ``user.name``, where there is one.
        """
        if name is not None:
            return name, None
        if self.speaker is None or self.speaker.said_from != "terminal":
            try:
                named = user_config(self.repo, "--get", "user.name").decode("utf-8", "replace")
            except FlowError:
                named = ""
            if named.strip() and named.strip().isprintable():
                return named.strip(), "git user.name"
        return self.who, "account"

    def _desk(self) -> ClosingContext:
        """What a person's command works at; it is in no hurry, so it locks with ``filelock``."""
        from flow.adapters.fs import clock
        from flow.app.evaluation.values import ClosingContext

        return ClosingContext(
            records=self.records,
            ledger=self._ledger(quick=False),
            baseline=self._baseline,
            snapshot=self._snapshot,
            write_baseline=self._write_baseline,
            denied_paths=self.settings.settings.denied_paths,
            who=self.who,
            version=version(),
            now=clock.now,
            speaker=self.speaker,
            proof=self.proof_disk,
            trusted=self.trusted,
        )

    @property
    def proof_disk(self) -> ProofDisk:
        """The files that commands rest on, hashed anew."""
        return _ProofDisk(self.repo)

    def _proof_named(self, goal: Goal) -> Watched:
        """The patterns of what the commands of a goal rest on, as their texts say."""
        from flow.adapters.attribution.proof_files import watched_files

        return watched_files(goal, self.top, self.environ)

    def _write_baseline(self, goal_id: str, run_id: str, baseline: Baseline) -> None:
        self.ledger.write_baseline(goal_id, run_id, baseline)

    def _denied(self, goal: Goal) -> tuple[str, ...]:
        return (*goal.denied_paths, *self.settings.settings.denied_paths)

    def _journal_denied(self, goal: Goal) -> list[str]:
        """The warning where the goal denies the very journal that its evaluations write."""
        from flow.adapters.fs import clock
        from flow.adapters.journal.store import journal_path
        from flow.core.boundary.rules import check_patterns, path_rules

        folder = self.settings.settings.journal_dir
        path = journal_path(goal.journal, goal.issue, clock.today(), folder)
        patterns = self._denied(goal)
        if check_patterns(patterns, "denied_paths"):
            return []  # refused elsewhere
        why = path_rules((), patterns).place(path)
        if why is None:
            return []
        said = f"{path} is {why}, and every evaluation writes this journal, so it will be outside"
        return [f"{said} the paths: take the pattern out of constraints.denied_paths"]

    def _about_commands(self, goal: Goal) -> list[str]:
        """A warning for each command that cannot run or cannot show what it should."""
        from flow.adapters.attribution.attribute import Attributor
        from flow.adapters.attribution.command_checks import command_warnings
        from flow.adapters.attribution.programs import missing_programs

        return [
            *missing_programs(goal, self.environ, self.top),
            *self._journal_denied(goal),
            *command_warnings(goal, Attributor(self.top)),
        ]

    def _pin(self, goal: Goal, base: str | None) -> Baseline:
        from flow.adapters.baseline.pinned import pin_baseline
        from flow.adapters.rubrics import score_files
        from flow.core.evidence.proof import CUT

        watched = self._proof_named(goal)
        pinned = pin_baseline(
            self.repo,
            base=goal.base if base is None else base,
            denied=self._denied(goal),
            journal_dir=self.settings.settings.journal_dir,
            reports_dir=self.settings.settings.reports_dir,
            scores_dir=score_files.folder(self.top, self.settings),
            cache_dir=self._cache("worktree"),
            protected=goal.protected_paths,
            proof=watched.patterns,
            settings=self.settings.pins,
        )
        pinned = pinned._replace(linked=self._linked(goal, pinned))
        return pinned._replace(proof_cut=CUT) if watched.cut else pinned

    def _linked(self, goal: Goal, pinned: Baseline) -> dict[str, str]:
        """What ``evaluator.baseline_link`` names, by digest; :class:`InputError` if it may not."""
        paths = goal.baseline_link
        if not paths or pinned.base_commit is None:
            return {}
        from flow.adapters.baseline import links as baseline_links

        rules = pinned.ignore_rules
        baseline_links.refuse_unusable(self.top, paths, rules, self._cache("worktree"))
        return baseline_links.digests(self.top, paths)

    def _pin_at(self, goal: Goal) -> Baseline:
        """What a pinned commit alone tells: a fresh clone has the goal, not the run.

        Settings open no folder here but the journal's: reports and cards lie in the usual ones.
        """
        from flow.adapters.baseline.restored import restore

        usual = PLUGIN_SCORES if os.path.isdir(os.path.join(self.top, PLUGIN_SCORES)) else SCORES
        restored = restore(
            self.repo,
            goal.base_commit,
            denied=self._denied(goal),
            journal_dir=self.settings.settings.journal_dir,
            scores_dir=usual,
            cache_dir=self._cache("worktree"),
        )
        # What a command names and git ignores is unknown here; of the rest the base tells.
        patterns = self._proof_named(goal).patterns
        return restored._replace(proof_named=patterns, proof_since="base")

    def _baseline(self, goal: Goal, run_id: str) -> RecordedBaseline:
        """The run's baseline, else the goal's own run's, else what the pinned commit tells."""
        from flow.app.evaluation.values import RecordedBaseline

        for known in dict.fromkeys((run_id, goal.run_id)):
            found = self.pinned(known) if known else None
            if found is not None and found.base_commit == goal.base_commit:
                return RecordedBaseline(found, recorded=True)
        return RecordedBaseline(self._pin_at(goal), recorded=False)

    def _snapshot(
        self, baseline: Baseline, denied: Sequence[str], deciding: Deciding | None
    ) -> Snapshot:
        from flow.adapters.worktree.change_set import snapshot

        cache_dir = self._cache("worktree")
        denied = tuple(dict.fromkeys((*denied, *baseline.settings_denied)))
        looked = snapshot(self.repo, baseline, denied, cache_dir=cache_dir, deciding=deciding)
        return looked._replace(changes=self._marked(looked.changes, baseline))

    def _marked(self, changes: Sequence[PathChange], baseline: Baseline) -> tuple[PathChange, ...]:
        """The changes, with which of them only have a name that Flow gives its files."""
        from flow.adapters.ledger.own_marks import marked

        return marked(self.repo, changes, baseline, self.own_record)

    def _widen(self, baseline: Baseline, base: str) -> tuple[Baseline, bool]:
        from flow.adapters.baseline.pinned import widen_baseline

        return widen_baseline(self.repo, baseline, base)

    def _cache(self, name: str) -> str | None:
        """A folder in the user's state folder; None where that cannot be used."""
        path = ""
        try:
            for part in (self.state_dir, "cache", name):
                path = os.path.join(path, part)
                ensure_state_dir(path)  # each one with mode 0700, and nobody else's
            return path
        except FlowError:
            return None


class _ProofDisk:
    """The files that commands rest on; the code for it is loaded where there are any."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    def digests(self, patterns: Sequence[str]) -> Mapping[str, str]:
        from flow.adapters.attribution.proof_files import on_disk

        return on_disk(self._repo, patterns)

    def lines(self, files: Sequence[ProofFile]) -> Mapping[str, LineCount]:
        from flow.adapters.attribution.proof_files import count_lines

        return count_lines(self._repo, files)


def version() -> str:
    """Flow's own version."""
    from flow.version import __version__

    return __version__
