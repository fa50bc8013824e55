"""Witnessed heads of runs: in journals, and in commits (SPEC 10).

Runs are not tracked by git, and the decision journal is: each change of a goal's status names the
run's head at that time. So a clone can recognize a run that was cut or restored, without its
writer's state folder.
"""

from __future__ import annotations

import os

from flow.adapters.fs import files
from flow.adapters.git.run import git as run_git
from flow.adapters.journal import store as journal_store
from flow.adapters.journal.parts import MOST_FILES
from flow.core import layout
from flow.core.chain.entries import TRAILER, Head, head_of
from flow.core.chain.walk import WitnessedHead
from flow.core.goal import ids
from flow.core.text.display import visible
from flow.errors import FlowError, at_key
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flow.adapters.git.find import Repo

COMMITS_LIMIT = 100_000
"""Most commits with a trailer that are read."""


class WitnessedHeads(NamedTuple):
    """Heads by run, heads of commits (which name no run), and warnings about unreadable sources."""

    runs: dict[str, list[WitnessedHead]]
    commits: tuple[WitnessedHead, ...]
    warnings: tuple[str, ...]


def heads_in_working_tree(root: str, folders: Sequence[str]) -> WitnessedHeads:
    """The heads in the journals of the working tree; ``folders`` are the journal folders."""
    runs: dict[str, list[WitnessedHead]] = {}
    warnings: list[str] = []
    for folder in dict.fromkeys(folders):
        try:
            for name in files.names(root, folder, suffix=".md", limit=MOST_FILES):
                rel = f"{folder}/{name}"
                data = files.read_optional(root, rel, limit=journal_store.LIMIT) or b""
                _collect(data, rel, rel, runs, warnings)
        except FlowError as error:
            warnings += [str(fault) for fault in error.faults]
    return WitnessedHeads(runs, (), tuple(warnings))


def heads_at_commit(repo: Repo, ref: str, folders: Sequence[str]) -> WitnessedHeads:
    """The heads in the journals and the commits at a git ref.

    Raises :class:`InputError` if it names no commit, :class:`GitError` if git cannot answer.
    """
    from flow.adapters.git import names  # only a comparison with a ref asks for a commit's name

    commit = names.resolve(repo, ref, key="--against")
    if commit is None:
        raise at_key("--against", ref).not_found(
            f"git knows no commit {visible(ref)!r:.80}",
            "name a branch, a tag or a commit that is in this repository",
        )
    runs: dict[str, list[WitnessedHead]] = {}
    warnings: list[str] = []
    for rel in _tracked(repo, commit, folders):
        size = run_git(repo, "cat-file", "-s", f"{commit}:{rel}")
        if int(size) > journal_store.LIMIT:
            warnings.append(f"{rel} at {ref} is larger than a journal and was left out")
            continue
        data = run_git(repo, "cat-file", "blob", f"{commit}:{rel}")
        _collect(data, rel, f"{rel} at {visible(ref)}", runs, warnings)
    return WitnessedHeads(runs, tuple(_trailers(repo, commit)), tuple(warnings))


def _tracked(repo: Repo, commit: str, folders: Sequence[str]) -> list[str]:
    wanted = tuple(f"{folder}/" for folder in dict.fromkeys(folders))
    listed = run_git(
        repo, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, "--", *wanted
    )
    names = [os.fsdecode(name) for name in listed.split(b"\0")]
    journals = [name for name in names if name.endswith(".md") and name.startswith(wanted)]
    return journals[:MOST_FILES]


def _collect(
    data: bytes, rel: str, where: str, runs: dict[str, list[WitnessedHead]], warnings: list[str]
) -> None:
    if b"ledger_head" not in data:
        return
    try:
        journal = journal_store.parse(data, rel)
    except FlowError as error:
        warnings += [str(fault) for fault in error.faults]
        return
    for artifact in journal.artifacts:
        head, bundle = head_of(artifact.get("ledger_head")), artifact.get("evidence_bundle")
        run_id = bundle.removeprefix(f"{layout.RUNS}/") if isinstance(bundle, str) else ""
        if head is None or not ids.RUN_ID.fits(run_id):
            continue
        witnessed = WitnessedHead(head, where)
        if witnessed not in runs.setdefault(run_id, []):
            runs[run_id].append(witnessed)


def _trailers(repo: Repo, commit: str) -> Iterator[WitnessedHead]:
    """The trailers of the commits up to ``commit``, newest first."""
    log = run_git(
        repo,
        "log",
        "-z",
        "--encoding=UTF-8",
        f"--max-count={COMMITS_LIMIT}",
        "--basic-regexp",  # independent of the checkout's grep.patternType
        f"--grep=^{TRAILER}: ",
        "--format=%H%n%B",
        commit,
    )
    seen: set[Head] = set()
    for commit_text in log.decode("utf-8", "replace").split("\0"):
        name, _, body = commit_text.partition("\n")
        for line in body.splitlines():
            head = head_of(line.removeprefix(f"{TRAILER}: ").strip())
            if line.startswith(f"{TRAILER}: ") and head is not None and head not in seen:
                seen.add(head)
                yield WitnessedHead(head, f"commit {name[:12]}")
