"""Kill and fail every writing command at every system call that changes something (HAZARD A).

``python -m tests.faults.crash --long`` tries all of them, without ``--long`` a sample. Each trial
starts from a copy of the command's scene, breaks one call with strace, and then asks: can
everything be read? is what was acknowledged there, once? do goal, journal and events tell the same
story once the next command has run? is nothing left over that ``flow doctor --fix`` does not
remove?
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import cycle, islice
from multiprocessing import get_context
from typing import TYPE_CHECKING, NamedTuple

from flow.adapters.chain import check as chain_check
from flow.adapters.chain.pinned_heads import PinnedHeads
from flow.adapters.fs.files import TEMP_PREFIX
from flow.adapters.git.directories import repo_key
from tests.faults import tracer
from tests.faults.commands import BY_NAME, TRIALS, Trial
from tests.faults.scenes import GOAL, RUN_DIR, Scene, entry, forked, preload, strays
from tests.faults.view import disagreements, everything, look

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tests.faults.scenes import Ran
    from tests.faults.view import View

ERRORS = ("ENOSPC", "EIO", "EACCES")
ERRORS_OF = {"openat": ("EMFILE", "EACCES", "ENOSPC", "EIO"), "flock": ("ENOLCK",)}
READ_ERRORS = ("EIO",)
SAMPLE = 1
"""Trials for each command in the short form."""
TURNS = ("KILL", "INT", "KILL", "ENOSPC", "KILL", "EIO", "KILL", "EACCES", "KILL", "EMFILE", "KILL")
TURNS += ("ENOLCK", "KILL", "SHORT")
"""Whose turn it is among the trials of a sample: each fault, and a kill every other time."""
TRIES = 12
"""How many calls a trial of a sample may choose: a run often has fewer than the traced one had."""
SMALL = ("/proposal.json", "/last-verdict.json", "/loop.json")
STRAY_SECONDS = 60.0
"""What a killed command leaves ends by itself; how soon depends on the machine."""
ANSWERS = ("approve", "block")
EVIDENCE = f"repo/{RUN_DIR}/evidence/"
REPORTS = "repo/.specs/reports/"
OUTPUTS = "files/"
"""A folder of the user's own, where --output names a file. What a kill leaves there is told in
docs/maintainers/guarantees-faults.md, and ``doctor`` does not look: it is no folder of Flow's."""
SCORES = "repo/.flow/scores/"
SHORT = "SHORT"
"""The fault of a disk that takes the first bytes of a file and no more."""


class Job(NamedTuple):
    """One trial: a command, a call (or the number of bytes a file may have), a fault."""

    trial: str
    call: tracer.Call
    fault: str

    def __str__(self) -> str:
        return f"{self.trial}: {self.fault} at {self.call.name} number {self.call.number}"


class Outcome(NamedTuple):
    """What a trial found. ``hit`` is False where the run had fewer such calls than planned."""

    job: Job
    hit: bool
    problems: tuple[str, ...]
    story: str


class Bench:
    """One worker's folder: a template for each command, and the scene it is copied to.

    A scene always lies in the same place, since trust knows a repository by its path.
    """

    def __init__(self, folder: str, *, traces: bool = True) -> None:
        """``traces``: whether calls are to be broken one by one, for which they must be known."""
        preload()
        self.folder, self.traces = folder, traces
        self.calls: dict[str, list[tracer.Call]] = {}
        self.given: dict[str, str] = {}
        self.before: dict[str, View] = {}
        self.files: dict[str, set[str]] = {}

    def scene(self, trial: Trial) -> Scene:
        """The command's scene, as it was before the command."""
        scene = Scene(os.path.join(self.folder, "scene"), os.path.join(self.folder, "begun"))
        template = os.path.join(self.folder, "templates", trial.name)
        if trial.name not in self.given:
            shutil.rmtree(scene.folder, ignore_errors=True)
            self.given[trial.name] = trial.prepare(scene)
            self.before[trial.name] = look(scene)
            scene.copy_to(template)
            ran = self._unharmed(trial, scene)
            if ran.status != trial.success:
                raise AssertionError(f"{trial.name} does not work unharmed: {ran}")
            scene.call(self.words(trial, scene))
            self.files[trial.name] = everything(scene.folder)
        scene.restore(template)
        return scene

    def _unharmed(self, trial: Trial, scene: Scene) -> Ran:
        words = self.words(trial, scene)
        if not self.traces:
            return scene.call(words)
        ran, self.calls[trial.name] = tracer.calls(scene, words, trial.first)
        return ran

    def words(self, trial: Trial, scene: Scene) -> tuple[str, ...]:
        """The command line."""
        return trial.words(scene, self.given[trial.name])

    def plan(self, trial: Trial, *, reads: bool) -> list[Job]:
        """Every call of an unharmed run, with every fault that fits it."""
        self.scene(trial)
        jobs = []
        for place, call in enumerate(self.calls[trial.name]):
            if call.name in tracer.READING:
                faults: tuple[str, ...] = READ_ERRORS if reads else ()
            else:
                faults = ERRORS_OF.get(call.name, ERRORS)
                if call.name not in tracer.OPENING:
                    faults = ("KILL", "INT", *faults)
                elif "O_CREAT" not in call.text:  # many, and alike: one of the first two, in turn
                    # (By its place: the number tells whether Python had compiled its modules, too.)
                    faults = faults[place % 2 :][:1]
            jobs += [Job(trial.name, call, fault) for fault in faults]
        sizes = range(0, 6000, 250)
        jobs += [Job(trial.name, tracer.Call("bytes", size, ""), SHORT) for size in sizes]
        return jobs

    def run(self, job: Job) -> Outcome:
        """One trial, and everything that is asked after it."""
        trial = BY_NAME[job.trial]
        scene = self.scene(trial)
        words = self.words(trial, scene)
        if job.fault == SHORT:
            found = tracer.Broken(_limited(scene, words, job.call.number), "a full disk", True)
        else:
            found = tracer.broken(scene, words, job.call, job.fault, trial.first)
        if found.hit is None or not found.inside:
            return Outcome(job, False, (), "")
        problems = _Questions(self, trial, scene, job, found).ask()
        story = f"{found.hit}\n    {found.ran}"
        return Outcome(job, True, tuple(problems), story)


class _Questions:
    """What is asked after a trial."""

    def __init__(
        self, bench: Bench, trial: Trial, scene: Scene, job: Job, found: tracer.Broken
    ) -> None:
        self.bench, self.trial, self.scene, self.job = bench, trial, scene, job
        self.ran, self.hit = found.ran, found.hit or ""
        self.killed = job.fault == "KILL"
        self.problems: list[str] = []

    def ask(self) -> list[str]:
        """Every problem."""
        self._nothing_runs()
        before = look(self.scene)
        self._readable(before, "right after it")
        self._acknowledged(before)
        if not before.pending:
            self._agreed(before, "right after it, with nothing pending")
        if not self.killed:
            self._answered()
        if before.status is not None:
            self._answers(self.scene.flow("goal", "status", GOAL, "--json"), {0}, "status")
        done = self.trial.done(before)
        again = self.scene.call(self.bench.words(self.trial, self.scene))
        after = look(self.scene)
        self._repeated(before, done, again, after)
        self._readable(after, "after the next command")
        if after.pending:
            self.problems.append("the next command left it pending")
        self._agreed(after, "after the next command")
        self._chained()
        self._left_over(after)
        return self.problems

    def _nothing_runs(self) -> None:
        deadline = time.monotonic() + STRAY_SECONDS
        while found := strays(self.scene.folder):
            if time.monotonic() > deadline:
                self.problems.append(f"processes are left: {found}")
                return
            time.sleep(0.01)

    def _chained(self) -> None:
        """Once the next command has run, every entry and its files are as they were recorded."""
        kept = PinnedHeads(self.scene.state, repo_key(self.scene.path(".git"), self.scene.repo))
        for run_id in chain_check.run_ids(self.scene.repo):
            found = chain_check.check(self.scene.repo, run_id, kept.read(run_id))
            for finding in found.findings:
                # One of the three small files stays ahead of its digest until it is written again
                # (docs/evidence-changes.md); a closed goal's never is.
                if finding.kind == "altered" and finding.file.endswith(SMALL):
                    continue
                # An output without a sidecar gives way only to a record of the same id.
                if finding.kind != "unaccounted" or not finding.file.endswith(".txt"):
                    self.problems.append(f"flow evidence verify: {finding.kind}: {finding}")

    def _readable(self, view: View, when: str) -> None:
        self.problems += [f"{when}: {fault}" for fault in view.broken]

    def _agreed(self, view: View, when: str) -> None:
        self.problems += [f"{when}: {fault}" for fault in disagreements(view)]
        closed_before = self.bench.before[self.trial.name].status == "achieved"
        if view.status == "achieved" and not self.trial.closes and not closed_before:
            self.problems.append(f"{when}: achieved, and nobody confirmed it")

    def _acknowledged(self, view: View) -> None:
        if self.trial.reader:
            return
        done, before = self.trial.done(view), self.trial.done(self.bench.before[self.trial.name])
        if done not in (before, before + 1):
            self.problems.append(f"it is there {done} times, and was {before} times before")
        refused = self.trial.name.startswith("evaluate") and '"not_executed"' in self.ran.stdout
        judged = '"block"' in self.ran.stdout and "cannot judge it" not in self.ran.stdout
        refused = refused or (self.trial.hook and not judged)
        if self.ran.status == self.trial.success and done == before and not refused:
            self.problems.append("it was acknowledged and is not there")

    def _answered(self) -> None:
        """The exit status and the words of a command whose call failed."""
        allowed = {self.trial.success, 5 if self.bench_flow else 2}
        if self.trial.hook:  # always, whatever failed (SPEC 6)
            allowed = {0}
        elif self.job.fault == "INT":  # what was done already may be answered with success
            allowed |= {130}
        if self.trial.name.startswith("evaluate"):
            allowed |= {1, 4}  # git or the trust ledger could not be read: closed, never achieved
        if self.trial.closes and self.hit.startswith((*tracer.OPENING, *tracer.READING)):
            allowed |= {1, 2}  # what a proposal rests on could not be read: it is not confirmed
        if self.trial.judged:  # nobody could be asked: no usable answer, or no consensus
            allowed |= {4}
        if self.trial.reader:
            allowed |= {1}  # findings: what could not be read is one
            reading = self.hit.startswith((*tracer.OPENING, *tracer.READING))
            if reading and f"{self.scene.repo}/{RUN_DIR}" in self.hit and self.ran.status == 0:
                self.problems.append("it found nothing, and did not read everything")
        if self._of_the_caller():
            allowed.add(2 if self.bench_flow else 1)  # bad input
        self._answers(self.ran, allowed, "it")
        if self.trial.hook and not self.hit.startswith("write(1<"):  # its answer itself
            self._object(self.ran.stdout)
        if "--json" in self.bench.words(self.trial, self.scene):
            self._document(self.ran.stdout)
        said = self.ran.stdout + self.ran.stderr
        if "internal error" in said or "no log could be written" in said:
            self.problems.append(f"an error that Flow did not expect: {said.strip()[:300]}")

    def _of_the_caller(self) -> bool:
        """Whether it was a file of the caller's own: one that the command line names."""
        named = [f"{self.scene.files}/"]
        for word in self.bench.words(self.trial, self.scene):
            if word.startswith(f"{self.scene.repo}/"):
                named += [f'"{word}"', f"<{word}>"]
        return any(path in self.hit for path in named)

    def _document(self, text: str) -> None:
        """One JSON document, whatever failed but standard output itself (SPEC 5)."""
        if self.hit.startswith("write(1<"):
            return
        try:
            json.loads(text)
        except ValueError:
            self.problems.append(f"standard output is no JSON document: {text[:300]!r}")

    def _object(self, text: str) -> None:
        """The hook's answer is one JSON object, whatever failed."""
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if not isinstance(found, dict) or found.get("decision") not in ANSWERS:
            self.problems.append(f"the answer of the hook is {text[:300]!r}")

    @property
    def bench_flow(self) -> bool:
        return self.bench.words(self.trial, self.scene)[0] == "flow"

    def _answers(self, ran: Ran, allowed: set[int], who: str) -> None:
        if ran.status not in allowed:
            self.problems.append(f"{who} ended with {ran.status}: {ran.stderr or ran.stdout}"[:500])
        if "Traceback" in ran.stderr + ran.stdout:
            self.problems.append(f"{who} showed a traceback: {ran.stderr[-500:]}")

    def _repeated(self, before: View, done: int, again: Ran, after: View) -> None:
        start = self.trial.done(self.bench.before[self.trial.name])
        did_it = done > start or (before.pending and again.status in self.trial.again)
        allowed = self.trial.again if did_it else {self.trial.success}
        if before.pending:
            allowed = self.trial.again | {self.trial.success}
        if self.trial.reader:
            self._answers(again, {self.trial.success}, "the next call")
            return
        self._answers(again, set(allowed), "the next call")
        now = self.trial.done(after)
        if self.trial.hook and not self.trial.adds and self._without_settings():
            # What turned the loop on could not be read: the hook said so and let the agent stop, as
            # the table has it for the default. That ends the loop, so the next stop begins another.
            now += (stops(after) - stops(self.bench.before[self.trial.name])) // 2
        most = start + (2 if self.trial.adds else 1)
        if not start < now <= most:
            self.problems.append(f"after the next call it is there {now} times")

    def _without_settings(self) -> bool:
        read = "settings.flow.json" in self.hit and self.hit.startswith(
            (*tracer.OPENING, *tracer.READING)
        )
        said = "settings.flow.json: cannot read it" in self.ran.stdout
        return read and said and '"approve"' in self.ran.stdout and self.ran.status == 0

    def _left_over(self, view: View) -> None:
        known = {undated(path) for path in self.bench.files[self.trial.name]}
        strange = {p for p in view.files if undated(p) not in known}
        strange = {p for p in strange if not temporary([p]) and not _expected(p)}
        if self.killed or self.hit.startswith(("unlink", "rmdir")):
            # The system's folder for temporary files: what cannot be removed there is left to it.
            strange = {path for path in strange if not path.startswith("tmp/")}
        if strange:
            self.problems.append(f"nobody knows these files: {sorted(strange)}")
        for path in view.files:
            sidecar = path.removesuffix(".txt") + ".evidence.yaml"
            if path.startswith(EVIDENCE) and path.endswith(".txt") and sidecar not in view.files:
                self.problems.append(f"an output without its sidecar: {path}")
        found = temporary(view.files)
        if not found:
            return
        listing = "O_DIRECTORY" in self.hit or self.hit.startswith("getdents")
        listed = listing and TEMP_PREFIX in self.hit
        cleaning = listed or self.hit.startswith(("unlink", "rmdir"))
        if not self.killed and not cleaning:
            self.problems.append(f"left over without a crash: {sorted(found)}")
        found = {path for path in found if not path.startswith(OUTPUTS)}
        if not found:
            return
        for path in found:
            if path.startswith(REPORTS):  # no lock is held there: only what is old is nobody's
                os.utime(os.path.join(self.scene.folder, path), (1, 1))
        said = self.scene.flow("doctor", "--json")
        files = "1 temporary file is" if len(found) == 1 else f"{len(found)} temporary files"
        if files not in said.stdout or said.status != 1:
            named = said.json["findings"] if said.status in (0, 1) else said
            self.problems.append(f"doctor does not name {sorted(found)}: {named}")
        self.scene.flow("doctor", "--fix", "--json")
        found = temporary(everything(self.scene.folder))
        found = {path for path in found if not path.startswith(OUTPUTS)}
        if found:
            self.problems.append(f"doctor --fix leaves {sorted(found)}")


def stops(view: View) -> int:
    """How many stops of an agent were judged."""
    return sum(event["type"] == "stop" for event in view.events)


def temporary(paths: Iterable[str]) -> set[str]:
    """The files that were to become others, and the folders that were to go."""
    found = set()
    for path in paths:
        above, prefix, rest = path.partition(f"/{TEMP_PREFIX}")
        if prefix:
            found.add(above + prefix + rest.partition("/")[0])
    return found


def undated(path: str) -> str:
    """``path`` without the day in a report's name, which another trial may have met before."""
    return re.sub(r"\d{4}-\d\d-\d\d", "DAY", path) if path.startswith(REPORTS) else path


def _expected(path: str) -> bool:
    """Names that differ from run to run, and evidence, which an interrupted evaluation leaves."""
    own = "state/own/"  # a file for each path, and names of reports and cards differ
    notes = "state/checkouts/"  # what was left open there, and sessions
    caches = ("state/cache/", own, notes, "state/error.log")
    return path.startswith((*caches, "repo/.flow/runs/.locks/", EVIDENCE, SCORES))


def _limited(scene: Scene, words: Sequence[str], size: int) -> Ran:
    """Run with files limited to ``size`` bytes: a write takes what fits, the next one fails."""

    def work() -> int:
        sys.dont_write_bytecode = True  # Python takes code that was cut off there for a whole one
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        return entry(words)

    return forked(work, cwd=scene.repo, env=scene.env)


_bench: Bench | None = None


def _open_bench(folder: str) -> None:
    global _bench  # noqa: PLW0603
    sys.settrace(None)  # a worker's coverage would be lost with it
    _bench = Bench(tempfile.mkdtemp(prefix="w", dir=folder))


def _plan(name: str, reads: bool) -> list[Job]:
    assert _bench is not None
    return _bench.plan(BY_NAME[name], reads=reads)


def _run(jobs: Sequence[Job]) -> Outcome:
    """The first of them that hits a call, or the last one."""
    assert _bench is not None
    outcome = None
    for job in jobs:
        try:
            outcome = _bench.run(job)
        except Exception as error:  # the scene could not be made or read: that is a finding too
            outcome = Outcome(job, True, (f"{type(error).__name__}: {error}",), "")
        if outcome.hit:
            break
    assert outcome is not None
    return outcome


def sample(
    jobs: Sequence[Job], turns: Sequence[str], chance: random.Random
) -> list[tuple[Job, ...]]:
    """For each fault in ``turns`` some of a command's jobs, of which the first that hits is meant.

    The places of one fault are spread over the run; where it fits no call, others take its turn.
    """
    chosen = []
    for fault in dict.fromkeys(turns):
        fitting = [job for job in jobs if job.fault == fault] or list(jobs)
        step = len(fitting) / turns.count(fault)
        for part in range(turns.count(fault)):
            among = fitting[int(part * step) : int((part + 1) * step)] or fitting
            chosen.append(tuple(chance.sample(among, min(TRIES, len(among)))))
    return chosen


def trials(
    folder: str,
    *,
    names: Iterable[str],
    count: int | None,
    seed: int,
    workers: int = 2,
    reads: bool = False,
    faults: frozenset[str] | None = None,
    calls: frozenset[str] | None = None,
    tell: Callable[[str], None] | None = None,
) -> list[Outcome]:
    """Run ``count`` trials for each command, all where None; those that hit nothing left out."""
    chance = random.Random(seed)
    with ProcessPoolExecutor(
        workers, mp_context=get_context("fork"), initializer=_open_bench, initargs=(folder,)
    ) as pool:
        plans = list(pool.map(_plan, names := list(names), [reads] * len(names)))
        jobs: list[tuple[Job, ...]] = []
        turns = cycle(TURNS)
        for plan in plans:
            wanted = [job for job in plan if faults is None or job.fault in faults]
            if calls is not None:
                wanted = [job for job in wanted if f"{job.call.name}:{job.call.number}" in calls]
            if count is None:
                jobs += [(job,) for job in wanted]
            elif wanted:
                jobs += sample(wanted, list(islice(turns, count)), chance)
        found = []
        failed = 0
        for number, outcome in enumerate(pool.map(_run, jobs, chunksize=1), 1):
            found += [outcome] if outcome.hit else []
            failed += bool(outcome.problems)
            if tell is not None and outcome.problems:
                tell(_told(outcome))
            if tell is not None and number % 100 == 0:
                tell(f"{number} of {len(jobs)}, {failed} failures")
        return found


def _told(outcome: Outcome) -> str:
    lines = [f"FAILED {outcome.job}", f"    {outcome.story}"]
    return "\n".join([*lines, *(f"  - {problem}" for problem in outcome.problems)])


def report(outcomes: Sequence[Outcome], *, seed: int, seconds: float) -> int:
    """Print what was found; the number of failures."""
    failed = [outcome for outcome in outcomes if outcome.problems]
    for outcome in failed:
        print(_told(outcome))
    faults: dict[str, int] = {}
    for outcome in outcomes:
        faults[outcome.job.fault] = faults.get(outcome.job.fault, 0) + 1
    kinds = ", ".join(f"{fault} {number}" for fault, number in sorted(faults.items()))
    commands = len({outcome.job.trial for outcome in outcomes})
    print(
        f"crash: {len(outcomes)} trials of {commands} commands ({kinds}), "
        f"{len(failed)} failures, seed {seed}, {seconds:.0f} s"
    )
    return len(failed)


def main() -> int:
    """The long form, or the short one."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.crash", description=__doc__)
    parser.add_argument("--long", action="store_true", help="every call with every fault")
    parser.add_argument("--count", type=int, default=SAMPLE, help="trials for each command")
    parser.add_argument("--reads", action="store_true", help="fail reading calls, too")
    parser.add_argument("--only", action="append", choices=sorted(BY_NAME), help="this command")
    parser.add_argument("--fault", action="append", help="this fault (KILL, EIO ...)")
    parser.add_argument("--call", action="append", help="this call (openat:176; bytes:250)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--dir", help="where the scenes are made (default: the temporary folder)")
    args = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="flow-crash-", dir=args.dir) as folder:
        outcomes = trials(
            os.path.realpath(folder),
            names=args.only or [trial.name for trial in TRIALS],
            count=None if args.long else args.count,
            seed=args.seed,
            workers=args.workers,
            reads=args.reads,
            faults=frozenset(args.fault) if args.fault else None,
            calls=frozenset(args.call) if args.call else None,
            tell=lambda line: print(line, file=sys.stderr, flush=True),
        )
    failures = report(outcomes, seed=args.seed, seconds=time.monotonic() - started)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
