"""Making a repository ready for goals (``flow init``). Adds what is missing; overwrites nothing."""

from __future__ import annotations

import json
import os

from flow.adapters.contracts import formats, schemas
from flow.adapters.fs import clock, files
from flow.adapters.git.repository import current_branch, find_repo, refusal
from flow.adapters.setup.editor_schema import SCHEMA
from flow.adapters.setup.hosts import FILES, add_hook
from flow.adapters.setup.json import JsonFile
from flow.core import layout
from flow.core.goal.model import NO_BRANCH
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.setup.hosts import Hook

EXAMPLE = "example"
CLAUDE = FILES["claude"]
IGNORED = f"{layout.RUNS}/"
ATTRIBUTES = f"{layout.GOALS}/*{layout.GOAL_SUFFIX} text eol=lf"
NO_GIT = (
    "commands can be run, but without git the path boundary is inconclusive, so nothing is ever "
    "proposed; make git work here (git init), then run flow init again"
)

_DOORS = (
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
    *(f"Bash(flow {door}:*)" for door in _DOORS),
    *(f"Bash(*/flow {door} *)" for door in _DOORS),
    "Bash(*flow goal evaluate *--confirm*)",
    "Bash(*flow goal evaluate *--trust-digest*)",
    "Bash(*flow-record-verdict.sh*)",
    "Edit(.flow/**)",
    "Edit(.claude/settings*)",
    "Bash(*flow-goal-record.sh *--update-lifecycle*)",
    "Bash(*flow-goal-trust.sh record*)",
    # The same words in a quoted command, with options between them, in a substitution.
    *(f"Bash(*{'*'.join(door.split())}*)" for door in _DOORS),
)
"""What Claude Code asks a person before it runs: the doors that need a person's word."""


class InitStep(NamedTuple):
    """One file, and what was done with it."""

    file: str
    did: str


class Done(NamedTuple):
    """What ``init`` did. ``no_git`` is why git cannot be used here, or None."""

    top: str
    no_git: str | None
    steps: tuple[InitStep, ...]
    next: str
    hook: Hook | None = None


class _Write(NamedTuple):
    file: str
    text: str
    new: bool
    did: str


def init(cwd: str, host: str | None = None, environ: Mapping[str, str] | None = None) -> Done:
    """Make the repository around ``cwd`` ready; without one, ``cwd`` itself.

    ``host`` is one of ``stop_host.HOSTS``, which gets the Stop hook, or None. ``environ`` (``PATH``
    and ``HOME`` are read) says whether it can start it and has it already. Reads everything first,
    so that a broken file is refused before anything is written. Raises :class:`ContractError` for
    a broken settings file, :class:`RefusedError` for a symlink.
    """
    repo = find_repo(os.path.abspath(cwd))
    top = repo.top if repo is not None else os.path.abspath(cwd)
    no_git = refusal(repo) if repo is not None else "there is no git repository here"
    hook, hosts = _set_up_hosts(top, host, environ or {})
    plans = [
        _line_added(top, ".gitignore", IGNORED, _ignored_already),
        _line_added(top, ".gitattributes", ATTRIBUTES, lambda lines: ATTRIBUTES in lines),
        *hosts,
        _schema_copied(top),
    ]
    ids = files.names(top, layout.GOALS, suffix=layout.GOAL_SUFFIX, limit=1000)
    goal_file = layout.goal_file(EXAMPLE)
    if ids:
        plans.append(InitStep(layout.GOALS + "/", f"is there; goal files in it: {len(ids)}"))
    else:
        branch = (current_branch(repo) if repo is not None else None) or NO_BRANCH
        text = example(os.path.basename(top) or "repository", branch, clock.now())
        formats.read_goal(text.encode("utf-8"), file=goal_file)
        plans.append(_Write(goal_file, text, True, "made: a draft to look at and change"))
    steps = tuple(_carry_out(top, plan) for plan in plans)
    next_step = f"read {goal_file}, or: flow goal create --help"
    return Done(top, no_git, steps, "flow goal list" if ids else next_step, hook)


def _set_up_hosts(
    top: str, host: str | None, environ: Mapping[str, str]
) -> tuple[Hook | None, list[InitStep | _Write]]:
    """The rules for Claude Code and the hook for ``host``, each file once."""
    settings = JsonFile(top, CLAUDE)
    did = {CLAUDE: [_ask_rules(settings)]}
    targets = {CLAUDE: settings}
    hook = None
    if host is not None:
        name = FILES[host]
        target = targets.setdefault(name, settings if name == CLAUDE else JsonFile(top, name))
        hook, done = add_hook(target, host, top, environ)
        did.setdefault(name, []).append(done)
    return hook, [_edited_file(target, did[name]) for name, target in targets.items()]


def _edited_file(target: JsonFile, did: list[str]) -> InitStep | _Write:
    said = "; ".join(part for part in did if part) or "is as it should be"
    if not target.changed:
        return InitStep(target.name, said)
    return _Write(target.name, target.data().decode("utf-8"), target.new, said)


def _carry_out(top: str, plan: InitStep | _Write) -> InitStep:
    if isinstance(plan, InitStep):
        return plan
    data = plan.text.encode("utf-8", "surrogateescape")
    if plan.new:
        files.publish_new(top, plan.file, data)
    else:
        files.replace(top, plan.file, data)
    return InitStep(plan.file, plan.did)


def _line_added(top: str, file: str, line: str, there: Any) -> InitStep | _Write:
    """Add a line to a file of lines, unless it says so already."""
    data = files.read_optional(top, file)
    if data is None:
        return _Write(file, f"{line}\n", True, f"made, with the line {line}")
    text = data.decode("utf-8", "surrogateescape")
    if there([part.strip() for part in text.split("\n")]):
        return InitStep(file, "is as it should be")
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or text.endswith("\n") else newline
    return _Write(file, f"{text}{gap}{line}{newline}", False, f"added the line {line}")


def _ignored_already(lines: Sequence[str]) -> bool:
    return any(line.removeprefix("/").rstrip("/*") == layout.RUNS for line in lines)


def ignores_runs(top: str) -> bool:
    """Whether the checkout's ``.gitignore`` keeps run folders out of commits."""
    data = files.read_optional(top, ".gitignore") or b""
    return _ignored_already([line.strip() for line in data.decode("utf-8", "replace").split("\n")])


def _schema_copied(top: str) -> InitStep | _Write:
    """The goal schema, for editors."""
    data = files.read_optional(top, SCHEMA)
    text = schemas.text("goal")
    if data is None:
        return _Write(SCHEMA, text, True, "made: editors read it for help with goal files")
    if data == text.encode("utf-8"):
        return InitStep(SCHEMA, "is as it should be")
    return InitStep(
        SCHEMA, f"differs from this version's; to renew it: flow schema goal > {SCHEMA}"
    )


def _ask_rules(target: JsonFile) -> str:
    """Add the rules that make Claude Code ask a person; says what was done."""
    missing = _missing(target)
    if not missing:
        return ""
    if target.part(("permissions",), dict) is None:
        target.add((), "permissions", {"ask": missing})
    elif target.part(("permissions", "ask"), list) is None:
        target.add(("permissions",), "ask", missing)
    else:
        target.append(("permissions", "ask"), missing)
    asked = "before it confirms, approves, amends, cancels or trusts"
    return f"added {len(missing)} rules: Claude Code will ask you {asked}"


def missing_ask_rules(top: str) -> list[str]:
    """The rules of :data:`ASK_RULES` that Claude Code's settings of the checkout lack."""
    return _missing(JsonFile(top, CLAUDE))


def _missing(target: JsonFile) -> list[str]:
    there = target.part(("permissions", "ask"), list) or ()
    return [rule for rule in ASK_RULES if rule not in there]


def example(repo: str, branch: str, now: str) -> str:
    """A goal file that explains itself; every value is valid, and its status is ``draft``."""
    quoted = {"REPO": repo, "BRANCH": branch, "NOW": now}
    text = _EXAMPLE
    for name, value in quoted.items():
        text = text.replace(f"@{name}@", json.dumps(value, ensure_ascii=True))
    return text


_EXAMPLE = """\
# yaml-language-server: $schema=../goal.schema.json
#
# A goal: what is to be true, the commands that prove it, and the paths that may be touched.
# This one is a draft. Change it, then start it:   flow goal activate example
# Look at where it stands:                         flow goal status example
# Run its commands:                                flow goal evaluate example
# Throw it away:                                   flow goal clear example
apiVersion: flow.synapti.ai/v1
kind: FlowGoal
metadata:
  id: example              # the file is named after it
  created_at: @NOW@
scope:
  repo: @REPO@
  branch: @BRANCH@  # it is evaluated on this branch only
objective:
  outcome: "The README says how to start"
  acceptance_criteria:
    - id: AC1
      text: "There is a README with something in it"
      verification_command: "test -s README.md"    # exit 0 proves it, nothing else does
      must_pass: true
      status: pending      # Flow writes this, with evidence_ref and last_result
      limitations:
        - "Says nothing about what the README says"
    - id: AC2              # without a command it is fuzzy: a person approves it
      text: "A newcomer finds the first step without asking"
      must_pass: true
      status: pending
constraints:
  allowed_paths:           # gitignore patterns from the top level; empty: every path
    - "README.md"
    - "docs/**"
  denied_paths:            # these win over allowed_paths
    - "**/.env"
evaluator:
  type: hybrid             # commands first; what they cannot prove needs a judge or a person
lifecycle:
  status: draft            # active once it is started; only a person closes it
  turns_evaluated: 0
"""
