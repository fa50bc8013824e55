"""Faults and warnings of the commands of a goal that is created or amended (SPEC 5).

A command that ``bash -n`` refuses is a fault; masked exits, vacuous or guarded commands, checks
that take Flow's own files in and pipes that cannot pass are warnings.
"""

from __future__ import annotations

import itertools
import os
import re

from flow.adapters.attribution.shell_syntax import MOST_BYTES, parse_shell, syntax_tree
from flow.adapters.contracts.text import dotted_path
from flow.adapters.process.environment import find_program
from flow.adapters.process.tool import run_tool
from flow.adapters.verification.runner import FALLBACK_BASH
from flow.adapters.verification.supervisor import cannot_be_malformed
from flow.core.attribution.pipes import PipePart, cannot_pass
from flow.core.attribution.whole_tree import whole_tree_remedy
from flow.core.masked_exit.shell import base_name
from flow.core.text.display import visible
from flow.errors import Fault, in_file
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flow.adapters.attribution.attributor import Attributor
    from flow.core.goal.model import Goal

COMMANDS = ("verification_command", "evidence_command")
LONGEST = 400
"""Most characters of a line that is offered instead."""
SECONDS = 10.0
"""The time limit of one ``bash -n``."""
_ONLY_IF_FED = re.compile(r"-0?r0?t?|--no-run-if-empty")
"""The options of ``xargs`` with which it starts nothing without input."""
REMEDY = "put it right: bash -n -c COMMAND says where"
"""Remedy for a command that bash cannot read."""


def syntax_faults(
    goal: Goal,
    file: str,
    environ: Mapping[str, str],
    top: str,
    elsewhere: Mapping[str, tuple[str, str]] | None = None,
) -> list[Fault]:
    """A fault for each command that bash cannot read; nothing is run.

    ``elsewhere`` has (file, key) of the criteria that another file than ``file`` holds, by id.
    """
    faults = []
    for place, criterion in enumerate(goal.criteria):
        for key in COMMANDS:
            command = criterion.document.get(key)
            message = syntax_fault(command, environ, top) if isinstance(command, str) else ""
            if message:
                own = (file, dotted_path(("objective", "acceptance_criteria", place)))
                named, row = (elsewhere or {}).get(criterion.id, own)
                where = in_file(named, f"{row}.{key}", command)
                faults.append(where.fault(f"{criterion.id}: {message}", REMEDY))
    return faults


def syntax_fault(command: str, environ: Mapping[str, str], top: str) -> str:
    """Why bash cannot read a command; empty if it can. Nothing is run."""
    if cannot_be_malformed(command):
        return ""
    bash = find_program("bash", environ.get("PATH"), outside=top) or FALLBACK_BASH
    argv = (bash, "--noprofile", "--norc", "-n", "-o", "pipefail", "-c", command)
    ran = run_tool(argv, cwd="/", env={"LC_ALL": "C", "PATH": os.defpath}, timeout=SECONDS)
    if ran.status == 0 or ran.stderr.startswith(b"flow:"):
        return ""
    lines = ran.stderr.decode("utf-8", "replace").splitlines() or ["it is malformed"]
    return f"bash -n refuses it: {visible(lines[0].removeprefix(f'{bash}: '))[:LONGEST]}"


def command_warnings(goal: Goal, attributor: Attributor) -> list[str]:
    """A warning for each command that can show no failure, no test, or can hardly pass."""
    warnings = []
    for criterion in goal.criteria:
        command = criterion.verification_command or ""
        reading = attributor.reading(command)
        if reading.masked_exit:
            warnings.append(
                f"{criterion.id}: masked: {visible(reading.masked_exit)}, so it can never pass"
            )
        elif reading.idle_option:
            message = f"`{visible(reading.idle_option)}` checks nothing, so it can never pass"
            warnings.append(f"{criterion.id}: vacuous: {message}")
        elif reading.guarded_runner:
            runner = reading.guarded_runner
            message = f"it can end with 0 without `{runner}`, and passes only where that ran"
            warnings.append(f"{criterion.id}: guarded: {message}")
        elif any(map(_runs_if_fed, reading.commands)):
            message = "`xargs -r` ends with 0 and starts nothing where its input is empty"
            warnings.append(f"{criterion.id}: guarded: {message}")
        remedy = next(filter(None, map(whole_tree_remedy, reading.commands)), "")
        if remedy:
            message = f"it sees Flow's own files, too, and fails for them: {remedy}"
            warnings.append(f"{criterion.id}: whole tree: {message}")
    return [*warnings, *pipe_warnings(goal)]


def _runs_if_fed(words: Sequence[str]) -> bool:
    """Whether it is an ``xargs`` that starts nothing without input."""
    options = itertools.takewhile(lambda word: word.startswith("-"), words[1:])
    return base_name(words[0]) == "xargs" and any(map(_ONLY_IF_FED.fullmatch, options))


def pipe_warnings(goal: Goal) -> list[str]:
    """A warning for each pipe of a goal's commands that cannot pass, with a form that can."""
    warnings = []
    for criterion in goal.criteria:
        for pipe in pipes_of(criterion.verification_command or ""):
            why = cannot_pass(pipe)
            if why:
                warnings.append(f"{criterion.id}: pipe: {visible(why)[:LONGEST]}")
    return warnings


def pipes_of(command: str) -> list[list[PipePart]]:
    """The pipes that a command does not negate; none if it has faults or sets ``pipefail``."""
    if "|" not in command or "pipefail" in command:
        return []

    data = command.encode("utf-8", "replace")
    if len(data) > MOST_BYTES or parse_shell(command) is None:
        return []
    return [list(_pipe_parts(node)) for node in _pipelines(syntax_tree(data).root_node)]


_THROUGH = ("program", "list", "redirected_statement", "compound_statement", "subshell")
"""Constructs that end with the status of a pipe in them."""


def _pipelines(root: Any) -> Iterator[Any]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "pipeline":
            if not any(child.type == "negated_command" for child in _bare_commands(node)):
                yield node
        elif node.type in _THROUGH:
            waiting += reversed(node.children)


def _bare_commands(pipeline: Any) -> Iterator[Any]:
    for child in pipeline.children:
        yield child.children[0] if child.type == "redirected_statement" else child


def _pipe_parts(pipeline: Any) -> Iterator[PipePart]:
    children = [child for child in pipeline.children if child.type != "comment"]
    whole = pipeline.text
    for place in range(0, len(children), 2):
        node = children[place]
        sign = children[place + 1].type if place + 1 < len(children) else ""
        begin = _own_start(node) - pipeline.start_byte
        text = whole[begin : node.end_byte - pipeline.start_byte].decode("utf-8", "replace")
        read = parse_shell(text)
        command = read.parts[0] if read is not None and len(read.parts) == 1 else None
        words = command.words if command is not None and command.kind == "command" else ()
        after = whole[node.end_byte - pipeline.start_byte :].decode("utf-8", "replace").lstrip()
        yield PipePart(words, text, after, sign == "|&" or _merges_stderr(node))


def _own_start(node: Any) -> int:
    """Byte at which the command begins; of ``a && b 2>&1 | c`` the grammar redirects ``a && b``."""
    if node.type == "redirected_statement":
        node = node.children[0]
        while node.type == "list":
            node = node.children[-1]
    return int(node.start_byte)


def _merges_stderr(node: Any) -> bool:
    """Whether it is redirected by ``2>&1``, and not to a file before that."""
    if node.type != "redirected_statement":
        return False
    redirects = [c.text.replace(b" ", b"") for c in node.children if c.type == "file_redirect"]
    if b"2>&1" not in redirects:
        return False
    before = redirects[: redirects.index(b"2>&1")]
    return not any(text[:1] == b">" or text[:2] in (b"1>", b"&>") for text in before)
