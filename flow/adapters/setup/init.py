"""Making a repository ready for goals (``flow init``). Adds what is missing; overwrites nothing."""

from __future__ import annotations

import os

from flow.adapters.contracts import formats, schemas
from flow.adapters.fs import clock, files
from flow.adapters.git import repository
from flow.adapters.git.repository import current_branch
from flow.adapters.ledger.set_up_marks import PRE_PUSH
from flow.adapters.process.own_program import own_program
from flow.adapters.setup import git_hook, hosts, settings_edit
from flow.adapters.setup.beside_goals import IGNORED, ignores_runs, names_runs
from flow.adapters.setup.example_goal import EXAMPLE, example
from flow.adapters.setup.file_edits import (
    AS_IT_SHOULD_BE,
    EXCLUDE,
    FileEdit,
    InitStep,
    edited_json,
    lines_added,
)
from flow.adapters.setup.json_file import JsonFile
from flow.core import layout
from flow.core.goal.model import NO_BRANCH
from flow.core.layout import SCHEMA
from flow.core.setting_keys import KEYS, STOP_HOOK
from flow.core.settings import DEFAULT
from flow.core.text.display import counted, is_utf8, visible
from flow.errors import FlowError, at_key, in_file
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from flow.adapters.setup.git_hook import GitHookPlan
    from flow.adapters.setup.hosts import Hook
    from flow.adapters.setup.set_up_context import SetUpContext
    from flow.core.setting_keys import StopHookEnforcement

CLAUDE = hosts.CLAUDE
_FOLDER = ".flow/"
ATTRIBUTES = f"{layout.GOALS}/*{layout.GOAL_SUFFIX} text eol=lf"
NO_GIT = (
    "commands can be run, but without git the path boundary is inconclusive, so nothing is ever "
    "proposed; make git work here (git init), then run flow init again"
)

_PERSONS_COMMANDS = (
    "goal confirm",
    "goal approve",
    "goal amend",
    "goal clear",
    "goal rebase",
    "goal activate",
    "goal claim",
    "goal forget",
    "trust record",
    "trust revoke",
)
ASK_RULES: tuple[str, ...] = (
    *(f"Bash(flow {command}:*)" for command in _PERSONS_COMMANDS),
    *(f"Bash(*/flow {command} *)" for command in _PERSONS_COMMANDS),
    "Bash(*flow goal evaluate *--confirm*)",
    "Bash(*flow goal evaluate *--trust-digest*)",
    "Bash(*flow-record-verdict.sh*)",
    "Edit(.flow/**)",
    "Edit(.claude/settings*)",
    "Bash(*flow-goal-record.sh *--update-lifecycle*)",
    "Bash(*flow-goal-trust.sh record*)",
    # The same words in a quoted command, with options between them, in a substitution.
    *(f"Bash(*{'*'.join(command.split())}*)" for command in _PERSONS_COMMANDS),
)
"""Rules by which Claude Code asks a person: for the commands that need a person's word."""


class InitRequest(NamedTuple):
    """Choices of a person for the set-up.

    ``host`` None: no hook; ``enforcement`` None: unchanged.
    """

    host: str | None = None
    enforcement: StopHookEnforcement | None = None
    git_hook: bool = False
    private: bool = False
    example: bool = True
    asked: bool = False
    """Whether a person was asked about ``enforcement``."""


class InitResult(NamedTuple):
    """Result of ``init``. ``no_git`` is why git cannot be used here, or None."""

    top: str
    no_git: str | None
    steps: tuple[InitStep, ...]
    next: str
    hook: Hook | None = None
    git_line: str = ""
    """The line that a person adds to a hook of their own."""
    tracked: int = 0
    """With ``--private``: number of Flow's files that git tracks already."""


def init(context: SetUpContext, request: InitRequest) -> InitResult:
    """Make the checkout ready.

    Reads everything first, so that a broken file is refused before anything is written. Raises
    :class:`ContractError` for a broken settings file, :class:`RefusedError` for a symlink.
    """
    hook, plans = _set_up_hosts(context, request)
    lines = _excluded(context, request) if request.private else _lines(context)
    plans = [*lines, *plans]
    git_plan = _plan_git_hook(context) if request.git_hook else None
    plans.append(_schema_copied(context.top))
    ids = files.names(context.top, layout.GOALS, suffix=layout.GOAL_SUFFIX, limit=1000)
    if ids:
        plans.append(InitStep(layout.GOALS + "/", f"is there; goal files in it: {len(ids)}"))
    elif request.example:
        plans.append(_example_goal(context))
    steps = [_carry_out(context, plan) for plan in plans]
    if git_plan is not None:
        steps.append(_carry_out_hook(context, git_plan))
    setting = _set_here(context, request, steps)
    edits = [plan for plan in plans if isinstance(plan, FileEdit)]
    if context.record is not None and (edits or setting or request.asked):
        context.record.add(edits, setting, asked=request.asked)
    next_step = f"read {layout.goal_file(EXAMPLE)}, or: flow goal create --help"
    return InitResult(
        context.top,
        context.no_git,
        tuple(steps),
        "flow goal list" if ids else next_step if request.example else "flow goal create",
        hook,
        git_plan.line if git_plan is not None else "",
        _tracked(context) if request.private else 0,
    )


def unasked(context: SetUpContext) -> tuple[bool, bool, bool]:
    """Whether host, enforcement and git hook are still open questions here."""
    known = context.record.read() if context.record is not None else {}
    host = not any(_has_hook(context.top, name) for name in layout.HOST_FILES)
    enforcement = context.settings.origins[STOP_HOOK] == DEFAULT and known.get("asked") is not True
    pushes = context.common_dir is not None and context.repo is not None
    hook = pushes and context.repo is not None and git_hook.installed_hook(context.repo) is None
    return host, enforcement, hook


def is_private(context: SetUpContext) -> bool:
    """Whether an earlier ``flow init --private`` keeps Flow's files out of the repository."""
    if context.common_dir is None:
        return False
    data = files.read_optional(context.common_dir, EXCLUDE) or b""
    return f"/{_FOLDER}".encode() in (line.strip() for line in data.split(b"\n"))


def plugin_in(context: SetUpContext) -> bool:
    """Whether Claude Code's plugin, which brings the Stop hook, is enabled here."""
    return hosts.plugin_settings(context.top, context.environ) is not None


def _has_hook(top: str, host: str) -> bool:
    names = {layout.HOST_FILES[host], *((layout.CLAUDE_LOCAL,) if host == "claude" else ())}
    try:
        return any(hosts.has_hook(JsonFile(top, name), host) for name in names)
    except FlowError:
        return False


def _lines(context: SetUpContext) -> list[InitStep | FileEdit]:
    journals = f"{context.settings.settings.journal_dir}/*.md merge=union"

    def is_ignored(_: str, lines: list[str]) -> bool:
        last = next(filter(None, reversed(lines)), "")  # a second one at the end would not help
        return names_runs(lines) and (last == IGNORED or _ignores_runs(context))

    return [
        lines_added(context.top, ".gitignore", (IGNORED,), is_ignored),
        lines_added(
            context.top, ".gitattributes", (ATTRIBUTES, journals), lambda line, lines: line in lines
        ),
    ]


def _ignores_runs(context: SetUpContext) -> bool:
    """Whether git leaves runs out of commits; True without git, since there are no commits."""
    return context.repo is None or context.no_git is not None or ignores_runs(context.repo)


def _own_paths(context: SetUpContext) -> list[str]:
    """The files and folders that are Flow's alone."""
    journals = f"{context.settings.settings.journal_dir}/"
    return [_FOLDER, journals, layout.SETTINGS_LOCAL, layout.CLAUDE_LOCAL]


def _tracked(context: SetUpContext) -> int:
    """Number of them that git tracks; 0 without git."""
    if context.repo is None or context.no_git is not None:
        return 0
    return len(repository.listed_files(context.repo, "--", *_own_paths(context)))


def _excluded(context: SetUpContext, request: InitRequest) -> list[InitStep | FileEdit]:
    """Keep all of Flow's files out of the repository, for its own copy of git alone."""
    if context.common_dir is None:
        raise at_key("--private").invalid(
            f"{context.no_git}, so there is no .git/{EXCLUDE} to write to", "make git work here"
        )
    wanted = _own_paths(context)
    if request.host not in (None, "claude"):
        wanted.append(layout.HOST_FILES[request.host])
    lines = tuple(f"/{path}" for path in wanted)
    return [
        lines_added(context.common_dir, EXCLUDE, lines, lambda line, there: line in there, git=True)
    ]


def _set_up_hosts(
    context: SetUpContext, request: InitRequest
) -> tuple[Hook | None, list[InitStep | FileEdit]]:
    """The rules for Claude Code, the hook for the host, and the enforcement; each file once."""
    top, host = context.top, request.host
    claude = layout.CLAUDE_LOCAL if request.private else CLAUDE
    targets: dict[str, JsonFile] = {}
    did: dict[str, list[str]] = {}
    short: dict[str, list[str]] = {}
    if not request.private or host == "claude":
        targets[claude] = settings = JsonFile(top, claude)
        rules, short[claude] = _ask_rules(settings)
        did[claude] = [rules]
    hook = None
    if host is not None:
        name = claude if host == "claude" else layout.HOST_FILES[host]
        if request.private and name != claude:
            _refuse_tracked(context, name)
        target = targets.setdefault(name, targets[name] if name in targets else JsonFile(top, name))
        hook, done = hosts.add_hook(target, host, top, context.environ)
        did.setdefault(name, []).append(done)
        level = f', "{request.enforcement}"' if request.enforcement else ""
        if done.startswith("added"):
            short.setdefault(name, []).insert(0, f"+ {hook.event} hook{level}")
        if host == "claude" and (line := hosts.add_status_line(target, top, context.environ)):
            did[name].append(line)
            short[name].append("+ status line")
    if request.enforcement is not None and not request.private:
        target = targets[layout.SETTINGS_PROJECT] = JsonFile(top, layout.SETTINGS_PROJECT)
        line = _enforced(target, request.enforcement)
        did[target.name] = [line]
        short[target.name] = [f'+ stopHookEnforcement "{request.enforcement}"']
    edits = [
        edited_json(top, target, did[name], short.get(name, [])) for name, target in targets.items()
    ]
    return hook, edits


def _refuse_tracked(context: SetUpContext, name: str) -> None:
    if context.repo is not None and repository.listed_files(context.repo, "--", name):
        raise in_file(name).refused(
            "is part of the repository, so --private cannot keep a hook in it out of it",
            "leave --host away, or use flow init without --private",
        )


def _enforced(target: JsonFile, enforcement: StopHookEnforcement) -> str:
    """Write ``stopHookEnforcement`` into the checkout's settings, unless it is there."""
    path = tuple(STOP_HOOK.split("."))
    section = target.part(path[:-1], dict) or {}
    if path[-1] in section:
        if section[path[-1]] == enforcement:
            return ""
        return (
            f"says {section[path[-1]]!r} already; to change it: "
            f"flow config set stopHookEnforcement {enforcement} --project"
        )
    settings_edit.set_member(target, path, enforcement)
    return f"stopHookEnforcement is {enforcement} here"


def _set_here(
    context: SetUpContext, request: InitRequest, steps: list[InitStep]
) -> tuple[str, str] | None:
    """Write the enforcement into the user's own file, for this checkout alone (``--private``)."""
    if not request.private or request.enforcement is None or context.state_dir is None:
        return None
    file = settings_edit.settings_place("user", context.home, context.top, here=True)
    key = KEYS[STOP_HOOK]
    before = settings_edit.read_setting(file, key)
    if before is not settings_edit.ABSENT:
        steps.append(InitStep(file.shown, f"says {before!r} for this checkout already"))
        return None
    settings_edit.write_setting(file, key, request.enforcement, context.state_dir)
    did = f"stopHookEnforcement is {request.enforcement} for this checkout"
    steps.append(
        InitStep(file.shown, did, (f'+ stopHookEnforcement "{request.enforcement}", here',))
    )
    return STOP_HOOK, request.enforcement


def _plan_git_hook(context: SetUpContext) -> GitHookPlan:
    if context.repo is None or context.common_dir is None:
        raise at_key("--git-hook").invalid(f"{context.no_git}", "make git work here (git init)")
    program = own_program(context.environ)
    if program is None:
        raise at_key("--git-hook").invalid(
            "the command flow is not to be found, so no hook could start it",
            "install the package, or call bin/flow of a checkout",
        )
    return git_hook.plan_hook(context.repo, program)


def _carry_out_hook(context: SetUpContext, plan: GitHookPlan) -> InitStep:
    if plan.data and context.repo is not None:
        if context.own_record is not None:
            before, after = git_hook.guard_digests(context.repo, plan)
            context.own_record.guard(PRE_PUSH, before, after)
        git_hook.write_hook(context.repo, plan)
    short = {"new": "new", "chained": "new, after yours", "renewed": "renewed"}.get(plan.state)
    return InitStep(plan.shown, plan.did, (short,) if short else ())


def renew_git_hook(context: SetUpContext) -> InitStep:
    """Write the present path of ``flow`` into Flow's hook."""
    return _carry_out_hook(context, _plan_git_hook(context))


def ignore_runs(context: SetUpContext) -> InitStep:
    """Add the line that keeps run folders out of commits."""
    plan = _lines(context)[0]
    step = _carry_out(context, plan)
    if context.record is not None and isinstance(plan, FileEdit):
        context.record.add([plan], None, asked=False)
    return step


def _carry_out(context: SetUpContext, plan: InitStep | FileEdit) -> InitStep:
    if isinstance(plan, InitStep):
        return plan
    plan.write(context.own_record)
    return plan.step


def _schema_copied(top: str) -> InitStep | FileEdit:
    """The goal schema, for editors: a copy, since an installation's path belongs to one machine."""
    data = files.read_optional(top, SCHEMA)
    text = schemas.text("goal").encode("utf-8")
    if data is None:
        did = "made: editors read it for help with goal files"
        return FileEdit(top, SCHEMA, None, text, did, ("new, for your editor",))
    if data == text:
        return InitStep(SCHEMA, AS_IT_SHOULD_BE)
    return InitStep(
        SCHEMA, f"differs from this version's; to renew it: flow schema goal > {SCHEMA}"
    )


def _example_goal(context: SetUpContext) -> FileEdit:
    branch = (current_branch(context.repo) if context.repo is not None else None) or NO_BRANCH
    branch = branch if is_utf8(branch) else NO_BRANCH
    text = example(visible(os.path.basename(context.top)) or "repository", branch, clock.now())
    data, file = text.encode("utf-8"), layout.goal_file(EXAMPLE)
    formats.read_goal(data, file=file)
    did = "made: a draft to look at and change"
    return FileEdit(context.top, file, None, data, did, ("new, a draft to look at and change",))


def _ask_rules(target: JsonFile) -> tuple[str, list[str]]:
    """Add the rules that make Claude Code ask a person; returns a long and a short description."""
    missing = _missing(target)
    if not missing:
        return "", []
    if target.part(("permissions",), dict) is None:
        target.add((), "permissions", {"ask": missing})
    elif target.part(("permissions", "ask"), list) is None:
        target.add(("permissions",), "ask", missing)
    else:
        target.append(("permissions", "ask"), missing)
    rules = counted(len(missing), "rule")
    asked = "before it confirms, approves, amends, cancels or trusts"
    short = [
        f"+ {rules}: Claude Code will ask you before",
        "  it confirms, approves, amends, cancels or",
        "  trusts",
    ]
    return f"added {rules}: Claude Code will ask you {asked}", short


def missing_ask_rules(top: str) -> list[str]:
    """The rules of :data:`ASK_RULES` that Claude Code's settings of the checkout lack."""
    local = _missing(JsonFile(top, layout.CLAUDE_LOCAL))
    return [rule for rule in _missing(JsonFile(top, CLAUDE)) if rule in local]


def _missing(target: JsonFile) -> list[str]:
    there = target.part(("permissions", "ask"), list) or ()
    return [rule for rule in ASK_RULES if rule not in there]
