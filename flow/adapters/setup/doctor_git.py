"""``flow doctor`` about git: its version, and settings that run programs or hide changes."""

from __future__ import annotations

import os
import re

from flow.adapters.fs.stamps import flush
from flow.adapters.git import repository as git_repository
from flow.adapters.git.directories import shared_dir
from flow.adapters.git.run import START_GIT, environment, git, refusal, user_config
from flow.adapters.process.tool import run_tool
from flow.adapters.worktree import guards as worktree_guards
from flow.core.text.display import counted, names
from flow.core.text.shell_quote import shell_argument
from flow.errors import GitError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.adapters.git.find import Repo
    from flow.adapters.setup.doctor_report import DoctorReport

OLDEST_GIT = (2, 30)
MANY_FILES = 5000
"""Tracked files from which a warning is due: hashing all of them at every look takes long."""

_RUNS = "git starts this program, also when an agent or an editor only looks"
_HIDES = "git shows fewer changes than there are; people and tools are misled"
_MOVES = "git looks at other files than those of this checkout"
_LOCAL: tuple[tuple[str, str, str], ...] = (
    (r"core\.fsmonitor", r"(?!false$|0$).*", f"{_RUNS}, and believes what it says has changed"),
    (r"core\.hookspath", ".*", "git runs the hooks of that folder instead of its own"),
    (r"core\.(sshcommand|gitproxy|alternaterefscommand)", ".*", _RUNS),
    (r"filter\..*\.(clean|smudge|process)", ".*", _RUNS),
    (r"diff\.external|diff\..*\.(command|textconv)|merge\..*\.driver", ".*", _RUNS),
    (r"core\.worktree", ".*", _MOVES),
    (r"core\.(attributesfile|excludesfile)", ".*", _HIDES),
    (r"core\.(filemode|trustctime)", "false|0|no|off", _HIDES),
    (r"core\.(ignorestat|sparsecheckout)", "true|1|yes|on", _HIDES),
    (r"status\.showuntrackedfiles", "no", _HIDES),
    (r"diff\.ignoresubmodules|submodule\..*\.ignore", "all|dirty|untracked", _HIDES),
    (r"diff\.relative", "true|1|yes|on", _HIDES),
)
"""(key, value, reason) of settings of the checkout; regular expressions, ignoring case."""


def program(report: DoctorReport, repo: Repo | None) -> None:
    """Check the git program itself; never one inside the checkout."""
    if repo is not None:
        refusal(repo)  # after this its folders are not searched for git
    result = run_tool(
        ("git", "--version"), cwd=os.path.abspath(os.sep), env=environment(), timeout=10
    )
    text = result.stdout.decode("utf-8", "replace").strip()
    match = re.search(r"(\d+)\.(\d+)", text)
    if result.status != 0 or match is None:
        report.found(
            "git cannot be started",
            "without git the path boundary is inconclusive, and nothing is ever proposed",
            START_GIT,
        )
        return
    report.fact("git", text.removeprefix("git version "))
    if (int(match[1]), int(match[2])) < OLDEST_GIT:
        report.found(
            f"{text} is old",
            "Flow's boundary is not tested with it",
            f"install git {OLDEST_GIT[0]}.{OLDEST_GIT[1]} or newer",
        )


def repository(report: DoctorReport, repo: Repo) -> None:
    """Check the repository's state and settings."""
    why = "without git the path boundary is inconclusive, and nothing is ever proposed"
    refused = refusal(repo)
    if refused is not None:
        report.found(refused, why, "make git work here; git status says what it needs")
        return
    try:
        for problem in worktree_guards.problems(repo):
            report.found(
                problem,
                "until it is over, the path boundary is inconclusive",
                "finish it or give it up",
            )
        if repo.git_dir != repo.common_dir and shared_dir(repo) is None:
            report.found(
                "git's records do not name this folder as a working tree: it was moved or copied",
                "trust in the repository's goals and the record of their runs do not count here",
                "in a folder that was moved: git worktree repair",
            )
        if git_repository.is_shallow(repo):
            report.found(
                "the history was cut off (a shallow clone)",
                "a goal's base commit may be missing, and then nothing is proposed",
                "git fetch --unshallow",
            )
        _settings(report, repo)
        _replaced(report, repo)
        _index(report, repo)
        _tracked_runs(report, repo)
        _stamps(report, repo)
    except GitError as error:
        report.failed(error, why)


def _settings(report: DoctorReport, repo: Repo) -> None:
    parts = user_config(repo, "--list", "--show-scope", "-z").decode("utf-8", "replace")
    words = parts.split("\0")[:-1]
    ok = "Flow's own calls switch it off; if you do not know it: "
    for scope, entry in zip(words[::2], words[1::2], strict=False):
        key, _, value = entry.partition("\n")
        if key == "safe.directory" and value == "*":
            report.found(
                f"git's {scope} settings say safe.directory=*",
                "git obeys the settings of any repository, whoever owns it",
                f"git config --{scope} --unset-all safe.directory '\\*', and name those you mean",
            )
        if scope not in ("local", "worktree"):
            continue
        for wanted_key, wanted_value, why in _LOCAL:
            if re.fullmatch(wanted_key, key, re.IGNORECASE) and re.fullmatch(
                wanted_value, value, re.IGNORECASE | re.DOTALL
            ):
                report.found(
                    f"this repository sets {key}={value[:100]}",
                    why,
                    f"{ok}git config --{scope} --unset-all {shell_argument(key)}",
                )


def _replaced(report: DoctorReport, repo: Repo) -> None:
    output = git(repo, "for-each-ref", "--count=20", "--format=%(refname)", "refs/replace/")
    refs = output.decode("utf-8", "replace").split()
    if refs:
        report.found(
            f"objects are replaced: {names(refs, 3)}",
            "git shows other content than what was committed; Flow looks at the real one",
            "git replace -d, for those you do not know",
        )


def _index(report: DoctorReport, repo: Repo) -> None:
    rows = git_repository.listed_files(repo, "-v")
    for flag, test in (
        ("assume-unchanged", lambda row: row[:1].islower()),
        ("skip-worktree", lambda row: row[:1] in "Ss"),
    ):
        paths = [row[2:] for row in rows if test(row)]
        if paths:
            report.found(
                f"{counted(len(paths), 'file', ('is', 'are'))} marked {flag}: {names(paths, 3)}",
                "git status and git diff do not show changes to them; Flow does",
                f"git update-index --no-{flag} PATH",
            )


def _tracked_runs(report: DoctorReport, repo: Repo) -> None:
    tracked = git_repository.listed_files(repo, "--", ".flow/runs")
    if tracked:
        report.found(
            f"{len(tracked)} files below .flow/runs are tracked by git",
            "evidence, locks and counters of a run belong to one machine",
            "git rm -r --cached .flow/runs, then commit",
        )


def _stamps(report: DoctorReport, repo: Repo) -> None:
    """Check whether time stamps show every write here, and what it costs if they do not."""
    if flush(repo.top) is not None:
        report.fact("time stamps", "tell of every write to a file that was flushed")
        return
    report.fact("time stamps", "do not tell of every write here, so every look hashes all files")
    count = len(git_repository.listed_files(repo))
    if count > MANY_FILES:
        report.found(
            f"time stamps do not tell of every write here, and git tracks {count:,} files",
            "every evaluation, stop and confirmation hashes all of them",
            "keep the checkout on a disk (ext4, xfs, btrfs), not in memory (tmpfs)",
        )
