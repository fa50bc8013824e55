"""The paths of Flow's files (SPEC 1).

Pure strings; every path is relative to the top level.
"""

from __future__ import annotations

FOLDER = ".flow"
GOALS = ".flow/goals"
RUNS = ".flow/runs"
BASELINE = "baseline.json"
RUBRICS = ".flow/rubrics"
RUBRIC_SUFFIXES = (".yaml", ".yml", ".json")
"""Endings of a named rubric's file; the first for which a file exists counts."""
SCORES = ".flow/scores"
PLUGIN_SCORES = "skills/judge/scores"
"""Folder of the scorecards in a project that has this folder (Verdict's place)."""
PLUGIN_RUBRICS = "skills/judge/rubrics"
"""Folder of a plugin's rubrics for scorecards."""
JOURNAL_DIR = ".decisions"
_FILE_NAME_LIMIT = 240
"""Bytes; the lock's name is the journal's with 13 more, and 255 is the usual limit."""
REPORTS_DIR = ".specs/reports"
"""Judges' reports in debates, unless ``judge.reportsDir`` says otherwise."""
SETTINGS_LOCAL = ".claude/settings.flow.local.json"
SETTINGS_PROJECT = ".claude/settings.flow.json"
HOST_FILES = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/hooks.json",
}
"""Settings file from which each host reads its hooks."""
CLAUDE_LOCAL = ".claude/settings.local.json"
"""Claude Code's file for one person alone."""
SET_UP_FILES = frozenset(
    (
        ".gitignore",
        ".gitattributes",
        *HOST_FILES.values(),
        CLAUDE_LOCAL,
        SETTINGS_LOCAL,
        SETTINGS_PROJECT,
    )
)
"""The files outside ``.flow/`` that ``flow init`` writes to."""
HOOK_FILES = SET_UP_FILES - {".gitignore", ".gitattributes"}
"""The settings files that turn the Stop hook on or off."""
LOCKS = f"{RUNS}/.locks"
PENDING = f"{RUNS}/.pending"
WORK = f"{RUNS}/.work"
"""Folder in which outputs grow until they are published; nothing in it is evidence."""
DEFAULTS = ".flow/defaults.goal.yaml"
"""The checkout's defaults, taken into every new goal."""
SCHEMA = ".flow/goal.schema.json"
"""The goal's JSON Schema, for editors: a copy, since an installation's path is one machine's."""
EVENTS_SUFFIX = "/events.jsonl"
"""End of the path of a run's newest events."""
GOAL_SUFFIX = ".goal.yaml"
GOAL_DIGESTS = "goals/"
"""Prefix of a goal's id in the name of its file's digest, among those of its run's small files."""
CLOSINGS = "closed/"
"""Prefix of a closed goal's id, in the names of a run's digests in the state folder."""
EVIDENCE_SUFFIX = ".evidence.yaml"
ARCHIVE_SUFFIX = ".zip"
"""Ending of an evidence folder's archive, after the folder's name."""
RUN_MARK = "-run-"
"""Mark in the sidecar id of one of several runs, before its number; the last run's id has none."""
TEMP_PREFIX = ".flow-tmp-"
"""Prefix of every temporary file's name; readers ignore such names."""
TEMP_DIGITS = 18
"""Hexadecimal digits after the prefix, if the file is to replace another in its folder."""


OUTPUT_LIMIT = 1 << 30
"""Bytes: the largest output that Flow records."""
ARCHIVE_LIMIT = 16 << 30
"""Bytes: the largest archive."""
GOAL_TEXT_LIMIT = 1 << 20
"""Bytes: the largest goal file, without Flow's own entries in it."""
RESULTS_LIMIT = 2 << 10
"""Bytes that Flow writes into a goal file for one criterion, at most."""
LIFECYCLE_LIMIT = 64 << 10
"""Bytes that Flow writes into a goal file for the goal as a whole, at most."""
GOAL_LIMIT = GOAL_TEXT_LIMIT + 1000 * RESULTS_LIMIT + LIFECYCLE_LIMIT
"""Bytes: the largest goal file with all that Flow wrote; it has at most 1,000 criteria."""
SIDECAR_LIMIT = 4 << 20
"""Bytes: the largest sidecar; it repeats texts of a goal, and judges' words about them."""
VERDICT_LIMIT = 8 << 20
"""Bytes: the largest ``last-verdict.json``; it repeats the texts of a goal, escaped."""
BASELINE_LIMIT = 16 << 20
"""Bytes: the largest ``baseline.json``; about 140,000 paths."""


def written_by_flow(path: str) -> bool:
    """Whether a path below ``.flow/`` is one of Flow's own files, by its name.

    All else there is a person's or a program's, like any other file of the checkout.
    """
    folder, _, name = path.rpartition("/")
    if f"{path}/".startswith(f"{RUNS}/") or path in (SCHEMA, DEFAULTS):
        return True
    if is_temporary(name):
        return folder in (FOLDER, GOALS, SCORES)
    return goal_of(path) is not None or (folder == SCORES and is_card(name))


def is_temporary(name: str) -> bool:
    """Whether ``name`` is one that Flow gives to a file before renaming it."""
    rest = name.removeprefix(TEMP_PREFIX)
    return name != rest and len(rest) == TEMP_DIGITS and not rest.strip("0123456789abcdef")


def is_card(name: str) -> bool:
    """Whether a name looks like ``<skill>-<YYYYMMDD-HHMMSS>[-<number>].json``."""
    parts = name.removesuffix(".json").split("-")
    if not name.endswith(".json") or not name.isascii():
        return False
    digits = [len(part) if part.isdigit() else 0 for part in parts]
    again = digits[-3:-1] == [8, 6] and digits[-1] > 0 and len(parts) > 3
    return again or (digits[-2:] == [8, 6] and len(parts) > 2)


def goal_file(goal_id: str) -> str:
    """The goal's contract and status."""
    return f"{GOALS}/{goal_id}{GOAL_SUFFIX}"


def goal_of(rel: str) -> str | None:
    """The id of the goal whose file has this path; None for any other file."""
    folder, _, name = rel.rpartition("/")
    return (
        name.removesuffix(GOAL_SUFFIX) if folder == GOALS and name.endswith(GOAL_SUFFIX) else None
    )


def run_dir(run_id: str) -> str:
    """The folder of one run."""
    return f"{RUNS}/{run_id}"


def evidence_dir(run_id: str) -> str:
    """The folder of a run's sidecars and raw outputs."""
    return f"{RUNS}/{run_id}/evidence"


def evidence_file(run_id: str, evidence_id: str) -> str:
    """One sidecar."""
    return f"{RUNS}/{run_id}/evidence/{evidence_id}{EVIDENCE_SUFFIX}"


def sidecar_of(reference: str) -> tuple[str, str]:
    """The run and the evidence id in the path of a sidecar; both empty if it is none.

    They are names without a slash; they are not checked to be ids.
    """
    run_id, _, name = reference.removeprefix(f"{RUNS}/").partition("/evidence/")
    evidence_id = name.removesuffix(EVIDENCE_SUFFIX)
    whole = evidence_file(run_id, evidence_id) == reference
    named = run_id and evidence_id and "/" not in run_id + evidence_id
    return (run_id, evidence_id) if whole and named else ("", "")


def output_file(run_id: str, evidence_id: str) -> str:
    """The raw output that a sidecar names."""
    return f"{RUNS}/{run_id}/evidence/{evidence_id}.txt"


def archive_file(run_id: str) -> str:
    """The archive that ``flow gc --archive`` puts in the place of a closed run's evidence."""
    return f"{evidence_dir(run_id)}{ARCHIVE_SUFFIX}"


def archive_of(rel: str) -> str:
    """The archive that may hold a file of an evidence folder; empty for any other path."""
    folder, _, name = rel.rpartition("/")
    own = folder.startswith(f"{RUNS}/") and folder.endswith("/evidence") and name
    return f"{folder}{ARCHIVE_SUFFIX}" if own and folder.count("/") == 3 else ""


def verdict_file(run_id: str) -> str:
    """The newest verdict of a run."""
    return f"{RUNS}/{run_id}/last-verdict.json"


def events_file(run_id: str) -> str:
    """One line for each event of a run; if the events take several files, the newest."""
    return f"{RUNS}/{run_id}{EVENTS_SUFFIX}"


def events_file_before(rel: str, number: int) -> str:
    """The file of earlier events with this number, beside the events at ``rel``."""
    return f"{rel.removesuffix('.jsonl')}.{number}.jsonl"


def events_number(name: str) -> int:
    """The number in the name of a file of earlier events; 0 for any other name."""
    digits = name.removeprefix("events.").removesuffix(".jsonl")
    whole = digits.isascii() and digits.isdigit() and len(digits) < 10
    number = int(digits) if whole else 0
    return number if name == f"events.{number}.jsonl" else 0


def ledger_file(run_id: str) -> str:
    """The hash chain over a run's evidence."""
    return f"{RUNS}/{run_id}/ledger.jsonl"


def baseline_file(run_id: str) -> str:
    """The baseline recorded at activation."""
    return f"{RUNS}/{run_id}/{BASELINE}"


def measuring_file(run_id: str) -> str:
    """Untracked paths at the start of the evaluation that is running, or was killed."""
    return f"{RUNS}/{run_id}/measuring.json"


def proposal_file(run_id: str) -> str:
    """The live proposal."""
    return f"{RUNS}/{run_id}/proposal.json"


def loop_file(run_id: str) -> str:
    """The Stop hook's counters."""
    return f"{RUNS}/{run_id}/loop.json"


def stop_lock(goal_id: str) -> str:
    """The lock that one stop of an agent holds while it judges this goal."""
    return f"{LOCKS}/stop-{goal_id}.lock"


def goal_lock(goal_id: str) -> str:
    """The lock that every write to a goal holds."""
    return f"{LOCKS}/goal-{goal_id}.lock"


def evaluation_lock(goal_id: str) -> str:
    """The lock that one evaluation of a goal holds while it measures; other writes continue."""
    return f"{LOCKS}/evaluate-{goal_id}.lock"


def run_lock(run_id: str) -> str:
    """The lock that every append to a run's events holds."""
    return f"{LOCKS}/run-{run_id}.lock"


def journal_lock(name: str) -> str:
    """The lock that every write to a journal holds. ``name`` is the file name of any part."""
    return f"{LOCKS}/journal-{journal_base(name)}.lock"


def baseline_lock(goal_id: str) -> str:
    """The lock that running a goal's commands on its base commit holds."""
    return f"{LOCKS}/baseline-{goal_id}.lock"


def pending_file(goal_id: str) -> str:
    """A goal change that is decided and not yet written everywhere."""
    return f"{PENDING}/{goal_id}.json"


def journal_file(issue: int | None, goal_id: str, folder: str = JOURNAL_DIR) -> str:
    """The journal of an issue, else of the goal."""
    name = f"issue-{issue}.md" if issue is not None else f"goal-{goal_id}.md"
    return f"{folder}/{name}"


def named_journal(path: str, folder: str) -> str | None:
    """``path`` without ``.`` parts if it names a Markdown file below ``folder``; else None."""
    parts = [part for part in path.split("/") if part != "."]
    above, name = folder.split("/"), parts[-1] if parts else ""
    if parts[: len(above)] != above or len(parts) <= len(above) or not path.isprintable():
        return None
    if any(part in ("", "..") or len(part.encode()) > _FILE_NAME_LIMIT for part in parts):
        return None
    return "/".join(parts) if name.endswith(".md") and len(name) > 3 else None


def journal_path(
    goal_journal: str | None,
    issue: int | None,
    goal_id: str,
    folder: str = JOURNAL_DIR,
) -> str:
    """Path of a goal's journal, relative to the top level.

    ``scope.journal`` if that is a Markdown file in the journal folder, else the issue's, else the
    goal's. A full one continues in its next part (:mod:`flow.adapters.journal.parts`).
    """
    own = named_journal(goal_journal, folder) if goal_journal else None
    return own or journal_file(issue, goal_id, folder)


def day_journal(today: str, folder: str = JOURNAL_DIR) -> str:
    """The journal for records without a readable goal. ``today`` is ``YYYY-MM-DD``."""
    return f"{folder}/session-{today}.md"


def journal_part(rel: str, number: int) -> str:
    """The file of a journal's part: ``goal-x.md``, ``goal-x.2.md``, ``goal-x.3.md``."""
    return rel if number < 2 else f"{rel.removesuffix('.md')}.{number}.md"


def journal_base(rel: str) -> str:
    """The first file of a journal, by the name of any of its parts."""
    return rel if part_number(rel) < 2 else f"{rel.removesuffix('.md').rpartition('.')[0]}.md"


def part_number(rel: str) -> int:
    """The number of a journal's part, by its name; 1 is the first."""
    stem, _, number = rel.removesuffix(".md").rpartition(".")
    plain = number.isascii() and number.isdigit() and not number.startswith("0")
    is_part = stem.rpartition("/")[2] and plain and len(number) < 10 and rel.endswith(".md")
    return int(number) if is_part else 1


def run_id_for(goal_id: str, now: str) -> str:
    """The run id Flow makes. ``now`` is ``YYYY-MM-DDTHH:MM:SSZ``."""
    return f"{now.replace(':', '')}-{goal_id}"
