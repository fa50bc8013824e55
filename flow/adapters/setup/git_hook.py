"""git's pre-push hook: no push while the goal of the branch is not achieved (SPEC 12).

It fails closed: without Flow, with several goals, after any error the push stops with the reason.
"""

from __future__ import annotations

import os
import re
import shlex

from flow.adapters.fs import files
from flow.adapters.ledger.set_up_marks import BEFORE_FLOW, PRE_PUSH
from flow.adapters.worktree.guards import hook_digest, hooks_path
from flow.core.text.display import visible
from flow.errors import FlowError, RefusedError
from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from flow.adapters.git.find import Repo

COMMAND = "hook pre-push"
_MARK = "# Written by `flow init --git-hook pre-push`"
_OWN_LINE = re.compile(r"flow['\"]?\s+hook\s+pre-push\b")
_LIMIT = 1 << 20

_SCRIPT = """\
#!/bin/sh
@MARK@: no push while the goal of this branch is not achieved.
# `flow init --undo` takes it out. What stood here before is pre-push.before-flow, and runs first.
flow=@FLOW@
pushed=$(cat)
feed() { [ -z "$pushed" ] || printf '%s\\n' "$pushed"; }
if [ -x "${0%/*}/pre-push.before-flow" ]; then
    feed | "${0%/*}/pre-push.before-flow" "$@" || exit $?
fi
if [ ! -x "$flow" ]; then
    echo "pre-push: $flow is not there, so nobody can tell whether the goal is achieved" >&2
    status=1
else
    feed | "$flow" hook pre-push "$@"
    status=$?
fi
[ "$status" -eq 0 ] && exit 0
echo "pre-push: the push stops. flow doctor says what is wrong with the set-up;" >&2
echo "pre-push: to push without this check: git push --no-verify" >&2
exit 1
"""


class GitHookPlan(NamedTuple):
    """Planned change of the hook.

    ``line`` is for a person to add to the file if Flow writes none; ``data`` is the new content.
    """

    state: Literal["new", "chained", "renewed", "there", "line"]
    shown: str
    did: str
    data: bytes = b""
    before: bytes | None = None
    line: str = ""


def hook_script(program: str) -> bytes:
    """The hook's text; ``program`` is the whole path of ``flow``."""
    text = _SCRIPT.replace("@MARK@", _MARK).replace("@FLOW@", shlex.quote(program))
    return text.encode("utf-8", "surrogateescape")


def plan_hook(repo: Repo, program: str) -> GitHookPlan:
    """Plan of the hook for this repository; nothing is written.

    Raises :class:`GitError` if the repository's hooks cannot be found out.
    """
    folder = hooks_path(repo)
    line = f'{shlex.quote(program)} {COMMAND} "$@"'
    if folder is not None:
        place = folder.rstrip("/").removesuffix("/_") if ".husky" in folder else folder.rstrip("/")
        shown = f"{visible(place)}/pre-push"
        if _runs_flow(os.path.join(repo.top, os.path.expanduser(place), "pre-push")):
            return GitHookPlan("there", shown, "a line of your own runs flow hook pre-push")
        did = f"not written, since core.hooksPath is yours; add to {shown}: {line}"
        return GitHookPlan("line", shown, did, line=line)
    shown, data = f".git/{PRE_PUSH}", hook_script(program)
    try:
        before = files.read_optional(str(repo.common_dir), PRE_PUSH, limit=_LIMIT)
    except RefusedError:
        did = f"not written, since it is a link or no file; add to what it runs: {line}"
        return GitHookPlan("line", shown, did, line=line)
    if before is None:
        return GitHookPlan("new", shown, "made: the goal is checked before each push", data)
    if before == data:
        return GitHookPlan("there", shown, "is as it should be")
    if _MARK.encode() in before:
        return GitHookPlan("renewed", shown, f"renewed: it starts {program} now", data, before)
    if _OWN_LINE.search(before.decode("utf-8", "replace")):
        return GitHookPlan("there", shown, "a line of your own runs flow hook pre-push")
    if files.exists(str(repo.common_dir), BEFORE_FLOW):
        did = f"not written, since {BEFORE_FLOW} is there already; add to {shown}: {line}"
        return GitHookPlan("line", shown, did, line=line)
    did = "made: the goal is checked before each push, after the hook that was there"
    return GitHookPlan("chained", shown, did, data, before)


def write_hook(repo: Repo, plan: GitHookPlan) -> None:
    """Carry the plan out."""
    common = str(repo.common_dir)
    path = os.path.join(common, PRE_PUSH)
    if plan.state == "chained":
        mode = os.lstat(path).st_mode & 0o777
        files.publish_new(common, BEFORE_FLOW, plan.before or b"", mode=mode)
    if plan.state in ("new", "chained", "renewed"):
        files.replace(common, PRE_PUSH, plan.data, mode=0o755)
        os.chmod(path, 0o755)  # noqa: S103 - git ignores a hook that is no program


def guard_digests(repo: Repo, plan: GitHookPlan) -> tuple[str | None, str]:
    """The guard's digests before and after the plan is carried out."""
    path = os.path.join(str(repo.common_dir), PRE_PUSH)
    before = None if plan.before is None else hook_digest(path)
    return before, hook_digest(None, plan.data)


def take_out_hook(repo: Repo) -> str | None:
    """Replace Flow's hook by the one before it; returns a description, None for no hook."""
    common = str(repo.common_dir)
    data = files.read_optional(common, PRE_PUSH, limit=_LIMIT)
    if data is None or _MARK.encode() not in data:
        return None
    program = hook_program(data)
    if program is None or hook_script(program) != data:
        return "left: it was changed since Flow wrote it"
    try:
        kept = files.exists(common, BEFORE_FLOW)
    except RefusedError:
        return f"left: {BEFORE_FLOW} is no regular file"
    if not kept:
        files.remove(common, PRE_PUSH)
        return "removed"
    os.rename(os.path.join(common, BEFORE_FLOW), os.path.join(common, PRE_PUSH))
    return "put back as it was before"


def hook_program(data: bytes) -> str | None:
    """The path of ``flow`` in a hook of Flow's; None in any other file."""
    text = data.decode("utf-8", "surrogateescape")
    match = re.search(r"^flow=(.*)$", text, re.MULTILINE) if _MARK in text else None
    try:
        words = shlex.split(match[1]) if match is not None else []
    except ValueError:
        return None
    return words[0] if len(words) == 1 else None


def installed_hook(repo: Repo) -> bytes | None:
    """The pre-push hook if it is Flow's."""
    try:
        data = files.read_optional(str(repo.common_dir), PRE_PUSH, limit=_LIMIT)
    except FlowError:
        return None
    return data if data is not None and _MARK.encode() in data else None


def _runs_flow(path: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return _OWN_LINE.search(file.read(_LIMIT)) is not None
    except OSError:
        return False
