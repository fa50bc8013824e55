"""``flow doctor`` about settings and about the files that ``flow init`` writes."""

from __future__ import annotations

import os

from flow.adapters.fs import files
from flow.adapters.journal import parts, store
from flow.adapters.journal.parts import MOST_FILES
from flow.adapters.ledger.set_up_marks import PRE_PUSH
from flow.adapters.setup import git_hook
from flow.adapters.setup import init as setup_init
from flow.adapters.setup.beside_goals import IGNORED, ignores_runs
from flow.adapters.setup.set_up_context import SetUpContext
from flow.adapters.user_state import settings
from flow.core import layout
from flow.core.setting_keys import KEYS
from flow.core.settings import DEFAULT
from flow.core.text.shell_quote import shell_argument
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.setup.doctor_report import DoctorReport, ExaminedCheckout


def settings_files(report: DoctorReport, checkout: ExaminedCheckout) -> None:
    """Report faults of the settings, and values that do not count."""
    with report.noting("with a setting that cannot be read, Flow refuses to evaluate"):
        loaded = settings.load(checkout.top, checkout.home)
        origins = sorted({origin for origin in loaded.origins.values() if origin != DEFAULT})
        report.fact("settings from", ", ".join(origins) or "defaults only")
        for warning in loaded.warnings:
            if warning in loaded.overruled:
                _overruled(report, warning)
            else:
                why = "it has no effect, or not the one it seems to have"
                report.found(warning, why, "correct it", mark="undecided")


def _overruled(report: DoctorReport, warning: str) -> None:
    """Report a value of the checkout that a stricter one overrules."""
    name = next((name for name in KEYS if f": {name}: " in warning), "")
    if not name:
        report.found(warning, "it has no effect", "correct it", mark="undecided")
        return
    short = name.rpartition(".")[2]
    value = warning.partition(f": {name}: ")[2].partition(" is ")[0].strip('"')
    do = f"flow config set {short} {value} --user --here"
    if KEYS[name].rule != "stricter":
        do = "take it out of the file"
    report.found(f"{short} of this checkout is not obeyed", warning, do, mark="undecided")


def ignored_runs(
    report: DoctorReport, checkout: ExaminedCheckout, environ: Mapping[str, str], *, fix: bool
) -> None:
    """Check the line that keeps run folders out of commits."""
    with report.noting("it should keep run folders out of commits"):
        if ignores_runs(checkout.repo):
            return
        what = f"git does not ignore {IGNORED}"
        why = "evidence and locks of your runs would be committed"
        if fix:
            step = setup_init.ignore_runs(SetUpContext(checkout.top, environ))
            if ignores_runs(checkout.repo):
                report.fixed.append(f"{step.file}: {step.did}")
                return
        else:
            report.found(what, why, "flow doctor --fix", fixable=True)
            return
        report.found(
            f"{what}, though {IGNORED} is in .gitignore",
            why,
            "take the line with ! out of .flow/.gitignore",
        )


def host_rules(report: DoctorReport, checkout: ExaminedCheckout) -> None:
    """Check Claude Code's rules that make it ask a person."""
    with report.noting("Claude Code reads it, too"):
        if missing := setup_init.missing_ask_rules(checkout.top):
            report.found(
                f"{setup_init.CLAUDE} lacks {len(missing)} of Flow's ask rules ({missing[0]} ...)",
                "an agent could confirm, approve, clear or trust without a person being asked",
                "flow init",
            )


def pre_push(
    report: DoctorReport, checkout: ExaminedCheckout, environ: Mapping[str, str], *, fix: bool
) -> bool:
    """Check Flow's hook before a push; returns whether there is one."""
    data = git_hook.installed_hook(checkout.repo) if checkout.repo.common_dir else None
    if data is None:
        return False
    program = git_hook.hook_program(data)
    path = os.path.join(str(checkout.repo.common_dir), PRE_PUSH)
    report.fact("pre-push hook", f"starts {program}")
    if program is None or git_hook.hook_script(program) != data:
        shown = shell_argument(path)
        report.found(
            f".git/{PRE_PUSH} is not as Flow wrote it",
            "nobody knows whether it still stops a push",
            f"look at it; to have Flow's again: rm {shown} && flow init --git-hook pre-push",
            mark="undecided",
        )
        return True
    runs, is_program = os.access(program, os.X_OK), os.access(path, os.X_OK)
    if runs and is_program:
        return True
    if fix and _renewed(report, checkout, environ, path):
        return True
    if not runs:
        what = "the pre-push hook cannot find flow"
        why = f".git/{PRE_PUSH} starts {program}, which is not there, so every push stops"
    else:
        what, why = "git does not run the pre-push hook", f".git/{PRE_PUSH} is no program"
    report.found(what, why, "flow doctor --fix", fixable=True)
    return True


def _renewed(
    report: DoctorReport, checkout: ExaminedCheckout, environ: Mapping[str, str], path: str
) -> bool:
    renewed = False
    with report.noting("the pre-push hook cannot be renewed"):
        step = setup_init.renew_git_hook(SetUpContext(checkout.top, environ))
        if files.exists(str(checkout.repo.common_dir), PRE_PUSH) and not os.access(path, os.X_OK):
            os.chmod(path, 0o755)  # noqa: S103 - git ignores a hook that is no program
        report.fixed.append(f"{step.file}: {step.did}")
        renewed = True
    return renewed  # noqa: RET504 - the block may end early


_NAMED_BY_FLOW = ("issue-", "goal-", "session-")
_NEAR = 0.75
"""The part of a limit from which it is reported."""


def journals(report: DoctorReport, checkout: ExaminedCheckout) -> int:
    """Read every file of every journal; returns the number of journals."""
    why = "no transition can be written without its journal entry"
    names: list[str] = []
    try:
        folder = checkout.settings.settings.journal_dir
    except FlowError:  # the settings' own findings name it
        return 0
    with report.noting(why):
        names = files.names(checkout.top, folder, suffix=".md", limit=MOST_FILES)
    if len(names) > _NEAR * MOST_FILES:
        many = f"{folder}/ holds {len(names)} files"
        least = f"more than {MOST_FILES} are not read"
        report.found(many, least, "move those of closed goals to another folder", mark="undecided")
    for name in names:
        with report.noting(why):
            _examine_journal_file(report, checkout.top, f"{folder}/{name}")
    first_files = {layout.journal_base(name) for name in names}
    for name in sorted(first_files):
        if name.startswith(_NAMED_BY_FLOW):
            _examine_journal_parts(report, names, name, folder)
    return len(first_files)


def _examine_journal_file(report: DoctorReport, top: str, rel: str) -> None:
    store.read(top, rel)
    size = files.size(top, rel)
    if size > _NEAR * store.LIMIT:
        report.found(
            f"{rel} has {size} bytes",
            f"with more than {store.LIMIT} it is not read any more, and its entries do not show",
            "move text from below its front matter to another file",
            mark="undecided",
        )


def _examine_journal_parts(
    report: DoctorReport, names: Sequence[str], first: str, folder: str
) -> None:
    there = [name for name in names if layout.journal_base(name) == first]
    if missing := parts.missing_parts(there, first):
        report.found(
            f"{folder}/{missing[0]} is missing, and {folder}/{max(there, key=layout.part_number)} "
            "is there",
            "decisions on record are gone, or somebody else made the later file",
            f"bring it back from git, or look who made the later one: git log -- {folder}",
        )
