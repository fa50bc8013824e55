"""``flow doctor``: all checks of the set-up, one after the other. Each finding has its reason.

Nothing is changed without ``fix``, and then only faults that are safe to mend: temporary files that
an ended process left, writes that one began, Flow's own line, hook and modes. The probes of the
file system are made in a folder of their own and removed.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from flow.adapters.chain import check as chain_check
from flow.adapters.fs import files, state_folder
from flow.adapters.ledger import transaction
from flow.adapters.ledger.writer import SPACE
from flow.adapters.setup import (
    doctor_disk,
    doctor_git,
    doctor_paths,
    doctor_sandbox,
    doctor_setup,
)
from flow.adapters.setup.doctor_report import DoctorReport, journal_dir
from flow.adapters.user_state.trust import LEDGER
from flow.core import layout
from flow.core.goal.lifecycle import UNDER_WAY
from flow.core.text.display import counted, visible
from flow.core.text.display import names as named
from flow.core.text.shell_quote import shell_argument
from flow.errors import FlowError, LockTimeout
from flow.startup.typing import TYPE_CHECKING
from flow.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.adapters.chain.pinned_heads import PinnedRun
    from flow.adapters.setup.doctor_report import ExaminedCheckout
    from flow.core.goal.model import Goal

OLDEST_PYTHON = (3, 11)
MOST_PENDING = 1000

_UNPROVEN = "evidence that was changed or taken away proves nothing"


def examine(
    open_checkout: Callable[[], ExaminedCheckout], environ: Mapping[str, str], *, fix: bool
) -> DoctorReport:
    """Run all checks; ``open_checkout`` may raise if there is no repository."""
    report = DoctorReport()
    with report.looking_at(lambda: f"Python {sys.version_info[0]}.{sys.version_info[1]}"):
        _interpreter(report)
    with report.looking_at(lambda: f"{len(requirements())} packages"):
        _packages(report)
    try:
        checkout: ExaminedCheckout | None = open_checkout()
    except FlowError as error:
        checkout = None
        report.failed(error, "goals live in a repository")

    with report.looking_at(lambda: f"git {report.value('git')}"):
        doctor_git.program(report, checkout.repo if checkout else None)
    with report.looking_at(lambda: "state folder"):
        _state_folder(report, environ, checkout, fix=fix)
    if checkout is None:
        return report
    report.fact("checkout", checkout.top)
    with report.looking_at(lambda: "git's settings"):
        doctor_git.repository(report, checkout.repo)
    with report.looking_at(lambda: "settings"):
        doctor_setup.settings_files(report, checkout)
    doctor_paths.examine(report, checkout.top, journal_dir(checkout))
    _examine_lost(report, checkout)
    hooks = False
    with report.looking_at(lambda: "pre-push hook" if hooks else ""):
        hooks = doctor_setup.pre_push(report, checkout, environ, fix=fix)
    if not os.path.isdir(os.path.join(checkout.top, ".flow")):
        report.found("there is no .flow folder here", "goals and evidence live in it", "flow init")
        return report
    _examine_flow(report, checkout, environ, fix=fix)
    return report


def _examine_flow(
    report: DoctorReport, checkout: ExaminedCheckout, environ: Mapping[str, str], *, fix: bool
) -> None:
    """Check everything below ``.flow``, and its companions."""
    with report.looking_at(lambda: "file system"):
        doctor_disk.abilities(report, checkout.top)
    with report.looking_at(lambda: ".gitignore"):
        doctor_setup.ignored_runs(report, checkout, environ, fix=fix)
    if os.path.isdir(os.path.join(checkout.top, ".claude")):
        with report.looking_at(lambda: "Claude Code's rules"):
            doctor_setup.host_rules(report, checkout)
    goals: list[Goal] = []
    with report.looking_at(lambda: counted(len(goals), "goal")):
        goals = _examine_goals(report, checkout)
    with report.looking_at(lambda: "sandbox" if report.value("sandbox") else ""):
        doctor_sandbox.examine(report, checkout, environ)
    journals = 0
    with report.looking_at(lambda: counted(journals, "journal")):
        journals = doctor_setup.journals(report, checkout)
    chains = 0
    with report.looking_at(lambda: counted(chains, "chain")):
        chains = _examine_chains(report, checkout, goals)
    _unfinished(report, checkout, fix=fix)
    _leftovers(report, checkout, fix=fix)


def _examine_lost(report: DoctorReport, checkout: ExaminedCheckout) -> None:
    try:
        lost = checkout.lost_goals()
    except FlowError:
        return  # its own check reports an unreadable one
    for what, remedy in lost:
        report.found(what, "the Stop hook cannot judge it", remedy)


def _interpreter(report: DoctorReport) -> None:
    version = ".".join(str(part) for part in sys.version_info[:3])
    report.fact("flow", __version__)
    report.fact("python", f"{version} ({sys.executable})")
    if sys.version_info < OLDEST_PYTHON:
        report.found(
            f"Python {version} is too old",
            "Flow needs 3.11 or newer",
            "set FLOW_PYTHON to the absolute path of a newer one",
        )


def _packages(report: DoctorReport) -> None:
    for name, least in requirements():
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            report.found(
                f"the package {name} is missing",
                "commands that need it end with an internal error",
                "remove the folder .venv-flow of Flow's checkout and start bin/flow again, "
                f"or install {name}>={least}",
            )
            continue
        report.fact(f"package {name}", f"{version} (needs {least} or newer)")
        if _numbers(version) < _numbers(least):
            report.found(
                f"the package {name} {version} is older than {least}",
                "Flow is not tested with it",
                f"install {name}>={least}",
            )


def requirements() -> list[tuple[str, str]]:
    """(package, least version) of Flow's dependencies, from the wheel or pyproject.toml."""
    root = Path(__file__).resolve().parents[3]
    try:
        wanted = metadata.requires("flow-goal") or []
    except metadata.PackageNotFoundError:
        try:
            with open(os.path.join(root, "pyproject.toml"), "rb") as file:
                wanted = tomllib.load(file)["project"]["dependencies"]
        except (OSError, KeyError, ValueError):
            wanted = []
    matches = [re.fullmatch(r"([A-Za-z0-9_.-]+)>=([0-9.]+)", line) for line in wanted]
    return [(match[1], match[2]) for match in matches if match]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _state_folder(
    report: DoctorReport,
    environ: Mapping[str, str],
    checkout: ExaminedCheckout | None,
    *,
    fix: bool,
) -> None:
    why = "what may run here is recorded there; whoever can write it can make Flow run anything"
    top = checkout.top if checkout else None
    common = checkout.repo.common_dir if checkout else None
    try:
        folder = state_folder.state_dir(environ, environ.get("HOME"), top, common)
        ignored = state_folder.ignored_variable(environ, top, common)
        there = state_folder.check_state_dir(folder)
    except FlowError as error:
        report.failed(error, why)
        return
    report.fact("state folder", folder if there else f"{folder} (not made yet)")
    if ignored:
        report.found(ignored, why, f"set {state_folder.VARIABLE} to a folder outside the checkout")
    if not there:
        above = os.path.dirname(folder)
        while not os.path.lexists(above):
            above = os.path.dirname(above)
        if not os.access(above, os.W_OK | os.X_OK):
            do = f"make {above} writable, or set {state_folder.VARIABLE} to a folder of yours"
            report.found(f"{folder} cannot be made", "without it no goal can begin", do)
        return
    with report.noting("evidence that it cannot vouch for counts for nothing"):
        files.check_space(folder, SPACE, visible(folder))

    _private(report, folder, 0o700, fix=fix)
    doctor_paths.examine_state(report, folder)

    path = os.path.join(folder, LEDGER)
    if os.path.lexists(path):
        _private(report, path, 0o600, fix=fix)
    if checkout is not None:
        with report.noting(why):
            report.fact("trusted goals", str(len(checkout.trust_ledger.standing())))
            for warning in checkout.trust_ledger.warnings:
                report.found(
                    warning, why, "look at that line; flow trust record trusts a goal anew"
                )


def _private(report: DoctorReport, path: str, mode: int, *, fix: bool) -> None:
    status = os.lstat(path)
    now = stat.S_IMODE(status.st_mode)
    if not (now & 0o077 and (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode))):
        return
    if fix and status.st_uid == os.geteuid():
        os.chmod(path, mode)
        report.fixed.append(f"{path} has mode {mode:04o} now, it had {now:04o}")
        return
    report.found(
        f"{path} has mode {now:04o}",
        "other users of this machine can read what you trust, or change it",
        f"chmod {mode:o} {shell_argument(path)}",
        fixable=status.st_uid == os.geteuid(),
    )


def _examine_goals(report: DoctorReport, checkout: ExaminedCheckout) -> list[Goal]:
    """Check every goal; returns the readable ones."""
    readable: list[Goal] = []
    with report.noting("its goals cannot be listed"):
        goals, broken = checkout.goals()
        report.fact("goals", f"{len(goals)} readable, {len(broken)} not")
        for fault in broken:
            report.failed(fault, "a goal that cannot be read cannot be evaluated")
        readable = goals
    return readable  # noqa: RET504 - the block may end early


def _examine_chains(report: DoctorReport, checkout: ExaminedCheckout, goals: list[Goal]) -> int:
    """Check the ledgers, of goals under way every file that they name; returns their number.

    Of the other goals, whose runs grow in number, ``flow evidence verify`` checks the files.
    """
    under_way = {goal.run_id for goal in goals if goal.status in UNDER_WAY}
    try:
        runs = chain_check.run_ids(checkout.top)
        known = checkout.heads.runs()
    except FlowError as error:
        report.failed(error, _UNPROVEN)
        return 0
    count = 0
    for run_id in sorted({*runs, *known}):
        try:
            pinned = checkout.heads.read(run_id)
            if run_id not in runs:
                report.found(f"run {run_id} has vanished", _UNPROVEN, _see_all_of(run_id))
                continue
            _examine_chain(report, checkout, run_id, pinned, whole=run_id in under_way)
        except FlowError as error:
            report.failed(error, _UNPROVEN)
            continue
        count += 1
    rest = "every file of the goals under way; of the others: flow evidence verify"
    report.fact("chains", f"{counted(count, 'ledger')} looked at, and {rest}")
    return count


def _examine_chain(
    report: DoctorReport,
    checkout: ExaminedCheckout,
    run_id: str,
    pinned: PinnedRun | None,
    *,
    whole: bool,
) -> None:
    """Check the ledger of one run, and ``whole`` every file that it names."""
    if whole:
        checked = chain_check.check(checkout.top, run_id, pinned, notes=False)
    else:
        checked = chain_check.check_ledger(checkout.top, run_id, pinned)
    do = _see_all_of(run_id)
    broken = [finding for finding in checked.findings if not finding.aside]
    strays = [finding.file for finding in checked.findings if finding.kind == "unaccounted"]
    if broken:
        report.found(str(broken[0]), _UNPROVEN, do)
    if strays:
        many = f"{len(strays)} files lie" if len(strays) > 1 else "a file lies"
        report.found(
            f"{many} in run {run_id} that Flow did not put there ({named(strays, 3)})",
            "they count for nothing, and flow evidence verify calls the run broken",
            f"look who put them there, and move them away; {do}",
        )
    newest = checked.head.number if checked.head is not None else 0
    notes = chain_check.unvouched(checkout.top, run_id, pinned, newest) if newest else []
    if notes:
        report.fact(f"run {run_id}", notes[0])


def _see_all_of(run_id: str) -> str:
    return f"see all of it: flow evidence verify {run_id}"


def _unfinished(report: DoctorReport, checkout: ExaminedCheckout, *, fix: bool) -> None:
    try:
        names = files.names(checkout.top, layout.PENDING, suffix=".json", limit=MOST_PENDING)
    except FlowError as error:
        report.failed(error, "writes that were interrupted cannot be told")
        return
    for name in names:
        goal_id = name.removesuffix(".json")
        with report.noting("a write was interrupted and cannot be finished"):
            if fix:
                checkout.ledger.finish(goal_id)
                report.fixed.append(f"finished what was begun for goal {goal_id}")
            elif transaction.pending(checkout.top, goal_id) is not None:
                report.found(
                    f"a write to goal {goal_id} was interrupted",
                    "its journal entry or event is still missing",
                    f"flow doctor --fix, or any command that changes goal {goal_id}, finishes it",
                    fixable=True,
                )


def _leftovers(report: DoctorReport, checkout: ExaminedCheckout, *, fix: bool) -> None:
    leftovers = doctor_disk.leftovers(checkout)
    if not leftovers:
        return
    if fix:
        try:
            report.fixed += doctor_disk.remove_leftovers(checkout)
            return
        except LockTimeout as error:
            report.failed(error, "a process that is at work has temporary files, too")
        except FlowError as error:
            report.failed(error, "temporary files of an ended process take space")
        return
    report.found(
        f"{counted(len(leftovers), 'temporary file', ('is', 'are'))} left over "
        f"({', '.join(leftovers[:3])})",
        "a process was ended while it wrote; they are ignored, but take space",
        "flow doctor --fix removes them",
        fixable=True,
    )
