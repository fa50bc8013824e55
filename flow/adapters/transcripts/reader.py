"""Find and read the transcript of an execution (SPEC 9.3).

Three forms: a session of Claude Code (JSON lines, with the subagents' files beside it), Markdown,
and plain text. The transcript's warnings name the parts that cannot be read; a transcript that is
missing, empty, or does not hold the skill is an error.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256

from flow.adapters.fs import files, inputs
from flow.adapters.transcripts import session_files
from flow.adapters.transcripts.agents import Gathering, destroys, file_of_agent, forked, note_beside
from flow.app.judging.auto_mode import EndedRuns
from flow.core.text.display import visible
from flow.core.transcript import text as transcript_text
from flow.core.transcript.claude import JUDGES, Session, names_skill
from flow.core.transcript.model import Transcript, has_ended, quotable_text
from flow.core.transcript.pending import replace_unwritable
from flow.errors import FlowError, InputError, in_file
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from flow.core.transcript.claude import Execution

MOST_OF_SESSION = 64
"""Most executions of one session that are read together."""
MOST_SESSIONS = 200
"""Most sessions that are searched for a skill, the newest first."""
SAVED_LIMIT = 64 << 20
"""Most bytes of a saved text."""
_NEVER = frozenset(map(chr, {*range(32), 127} - {*b"\a\b\t\n\v\f\r\x1b"}))
"""Characters that are in no text, and in no terminal's log."""
SESSION = "CLAUDE_CODE_SESSION_ID"
"""The session that Flow was called from, if Claude Code called it."""


def read(path: str, skill: str | None) -> Transcript:
    """The transcript in the file at ``path``: of a session the newest execution of ``skill`` in it.

    Without ``skill`` the newest one of any. A session that names no skill at all is taken whole,
    with a warning; so are Markdown and plain text, without one. Raises :class:`InputError` if the
    file is missing, empty or no transcript, or if other skills ran in it, but not this one.
    """
    source = session_files.open_source(path)
    if not _is_session(source):
        return _of_saved_text(source)
    lines = session_files.SessionLines(source)
    session = Session(skill, destroys, whole=True)
    lines.read_into(session)
    if not session.everything.all():
        raise _unusable(path, "holds nothing that an agent did or was asked")
    execution = None if session.agent else _newest_execution(session, path)
    if execution is not None:
        return _of_execution(execution, path, lines.warnings)
    if skill is not None and session.skills and not session.agent:
        fault = f"did not run in this transcript; what ran: {_named(session.skills)}"
        if any(names_skill(skill, name) for name in session.skills):
            fault = "only began in this transcript; nothing of what it did is there"
        raise in_file(path, "skill", skill).not_found(
            f"the skill {skill!r:.80} {fault}", "name one of these, or another transcript"
        )
    return _whole_session(session, lines, path)


def read_below(top: str, rel: str, skill: str | None) -> Transcript | None:
    """:func:`read` for a file below ``top`` that a contract names; None if it is not there.

    No symlink leads to it. Raises :class:`InputError` for a file with several hard links.
    """
    fd = files.open_regular(top, rel)
    if fd is None:
        return None
    with os.fdopen(fd, "rb") as file:
        if os.fstat(file.fileno()).st_nlink > 1:
            raise InputError("its transcript has several hard links, so it may be another file")
    return read(os.path.join(top, rel), skill)


def saved_text(path: str) -> str:
    """The text of a saved transcript's file; empty if it has gone since it was read."""
    try:
        data = inputs.read(path, "--file", limit=SAVED_LIMIT)
    except FlowError:
        return ""
    return data.decode("utf-8", "replace")


def newest(
    skill: str | None,
    *,
    cwd: str,
    home: str | None,
    environ: Mapping[str, str],
    session: str | None = None,
) -> Transcript:
    """The newest execution of ``skill`` (None: any but the judge) in the sessions of ``cwd``.

    ``session`` is the id, or the transcript's path, of the one session to look in; without it the
    session that called Flow comes first, then the others, the newest first. Raises
    :class:`InputError` if there is none.
    """
    paths = _sessions(cwd, home, environ, session)
    ran: dict[str, None] = {}
    for path in paths:
        transcript = _in_session(skill, path, ran)
        if transcript is not None:
            return transcript
    raise _no_transcript(skill, cwd, len(paths), ran)


def _sessions(
    cwd: str, home: str | None, environ: Mapping[str, str], session: str | None
) -> list[str]:
    """The sessions to look in, the one that called Flow first, then the newest."""
    config = session_files.config_folder(home, environ)
    folders = session_files.project_folders(cwd, config) if config is not None else []
    if session is not None:
        path = session if "/" in session else session_files.session_file(session, folders, config)
        return [path] if path is not None else []
    paths = session_files.sessions(folders)[:MOST_SESSIONS]
    own = session_files.session_file(environ.get(SESSION, ""), folders, config)
    return paths if own is None else [own, *(path for path in paths if path != own)]


def ended_runs(
    session: str | None,
    first_run: Callable[[str], int | None],
    *,
    cwd: str,
    home: str | None,
    environ: Mapping[str, str],
) -> EndedRuns | None:
    """The executions of any skill but the judge in ``session`` (an id, or its transcript's path).

    Without ``session`` in the newest one in which such a skill ran. ``first_run`` returns for the
    path of a session the number of the one to begin with; None: the first one after the last prompt
    of a person. At most ``MOST_OF_SESSION`` of them are read, the newest. None if there is no such
    session, or none that can be read.
    """
    if session is None:
        try:
            session = newest(None, cwd=cwd, home=home, environ=environ).path
        except InputError:
            return None
    path = next(iter(_sessions(cwd, home, environ, session)), None)
    if path is None:
        return None
    try:
        lines = session_files.SessionLines(session_files.open_source(path, follow=False))
    except InputError:
        return None
    reading = Session(None, destroys, most=MOST_OF_SESSION)
    lines.read_into(reading)
    first = first_run(path)
    if first is None:
        current = (each.number for each in reading.executions if each.turn == reading.turns)
        first = next(current, reading.begun)
    ended, going_on = [], [reading.begun]
    for execution in reading.executions:
        if execution.number < first or execution.local:
            continue
        transcript = None
        if _happened(execution, path):
            transcript = _of_execution(execution, path, list(lines.warnings))
        # After a skill's execution there was a person, or another skill; an agent may work in the
        # background.
        over = execution.over and execution.kind != "agent"
        if transcript is not None and (over or has_ended(transcript)):
            ended.append(transcript)
        elif not execution.over:
            going_on.append(execution.number)
    return EndedRuns(path, tuple(ended), min(going_on))


def _no_transcript(skill: str | None, cwd: str, searched: int, ran: Iterable[str]) -> InputError:
    wanted = "no skill or agent" if skill is None else f"no run of {skill!r:.80}"
    count = "1 session" if searched == 1 else f"{searched} sessions"
    where = f"in {count} of this folder" if searched else "here: there are no sessions"
    other = [] if skill is None else [name for name in ran if not names_skill(skill, name)]
    others = f"; what ran: {_named(other)}" if other else ""
    return in_file(cwd, "skill", skill).not_found(
        f"there is {wanted} to judge {where}{others}",
        "run it first, or name its transcript: --file TRANSCRIPT",
    )


def _named(skills: Iterable[str]) -> str:
    return ", ".join(visible(name)[:60] for name in list(skills)[:12])


def _in_session(skill: str | None, path: str, ran: dict[str, None]) -> Transcript | None:
    """The newest execution in one session; None if it has none or cannot be read.

    The skills that it names are added to ``ran``.
    """
    try:
        source = session_files.open_source(path, follow=False)
    except InputError:
        return None
    lines = session_files.SessionLines(source)
    session = Session(skill, destroys)
    lines.read_into(session)
    ran.update(dict.fromkeys(session.skills))
    execution = _newest_execution(session, path)
    return _of_execution(execution, path, lines.warnings) if execution is not None else None


# --- forms -------------------------------------------------------------------------------------


def _is_session(source: session_files.Source) -> bool:
    """Whether the file is a session's: by its first line that can be read, else by its name."""
    if source.path.endswith(".jsonl"):
        return True
    head = source.head
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        head = head[: len(head) // 2 * 2].decode("utf-16", "replace").encode("utf-8", "replace")
    for line in head.removeprefix(b"\xef\xbb\xbf").splitlines()[:5]:
        if line.strip():
            try:
                document = json.loads(line.decode("utf-8", "replace"))
            except (ValueError, RecursionError):
                return line.lstrip().startswith(b'{"') and b'"type":' in line
            return isinstance(document, dict) and ("type" in document or "role" in document)
    return False


def _of_saved_text(source: session_files.Source) -> Transcript:
    text = session_files.decoded_text(source)
    if _is_binary(text):
        raise _unusable(source.path, "is no text")
    markdown = source.path.lower().endswith((".md", ".markdown", ".mdown"))
    pending = transcript_text.read_text(text, markdown=markdown, destroys=destroys)
    entries = tuple(entry.snapshot() for entry in pending.all())
    if not entries:
        raise _unusable(source.path, "holds no text")
    return Transcript(
        source.path,
        "markdown" if markdown else "text",
        None,
        sha256(text.encode("utf-8", "replace")).hexdigest()[:32],
        None,
        entries,
        _encoding_warnings(text),
    )


def _is_binary(text: str) -> bool:
    """Whether over one in fifty of its first characters is one of :data:`_NEVER`.

    In compressed data it is one in ten; in a program's file, far more.
    """
    start = text[:8192]
    return sum(char in _NEVER for char in start) * 50 > len(start)


def _encoding_warnings(text: str) -> tuple[str, ...]:
    count = text.count("\ufffd")
    places = "1 place is" if count == 1 else f"{count} places are"
    return (f"{places} not in its encoding",) if count else ()


def _whole_session(session: Session, lines: session_files.SessionLines, path: str) -> Transcript:
    gathered = Gathering(path)
    gathered.add_all(session.everything, session.spawned, 0)
    name = session.agent or session_files.small_json(note_beside(path)).get("agentType")
    named = None
    if isinstance(name, str) and session.side:
        named = visible(replace_unwritable(name))[:200]
    warnings = lines.warnings
    if named is None:
        warnings.append("it names no skill or agent; all of it was taken")
    execution = lines.digest[:32]
    return _transcript_of(path, named, execution, session.started_at, gathered, warnings)


def _of_execution(execution: Execution, path: str, warnings: list[str]) -> Transcript:
    gathered = Gathering(path)
    if execution.kind == "agent":
        gathered.add_execution(execution)
    else:
        gathered.add_all(execution.entries, execution.spawned, 0)
        forked_file = forked(execution, path)
        if forked_file is not None:
            gathered.add_agent(forked_file, 1)
    if execution.entries.waiting and not execution.over:
        warnings.append("it was going on when the transcript was read")
    skill, started_at = visible(execution.name), execution.started_at
    return _transcript_of(path, skill, execution.key, started_at, gathered, warnings)


def _transcript_of(
    path: str,
    skill: str | None,
    key: str,
    started_at: str | None,
    gathered: Gathering,
    warnings: list[str],
) -> Transcript:
    """A transcript whose execution id covers ``key`` and the text so far."""
    every = (*warnings, *gathered.warnings)
    made = Transcript(path, "claude", skill, key, started_at, tuple(gathered.entries), every)
    text = f"{key}\0{quotable_text(made)}".encode("utf-8", "replace")
    return made._replace(execution=sha256(text).hexdigest()[:32])


def _unusable(path: str, fault: str) -> InputError:
    return session_files.refused(path, f"the transcript {fault}", "empty")


# --- executions and subagents ------------------------------------------------------------------


def _newest_execution(session: Session, path: str) -> Execution | None:
    """The newest execution in which something happened.

    One of the judge that is under way is the asking one; it is taken only if there is no other.
    """
    real = [execution for execution in session.executions if _happened(execution, path)]
    wanted = session.wanted
    if wanted is not None and any(names_skill(wanted, name) for name in JUDGES):
        real = [each for each in real if each.over or not each.entries.waiting] or real
    return real[-1] if real else None


def _happened(execution: Execution, path: str) -> bool:
    if execution.local:
        return False
    if execution.kind == "agent":
        return bool(execution.entries.of_agent) or file_of_agent(execution, path) is not None
    return bool(execution.entries.of_agent) or forked(execution, path) is not None
