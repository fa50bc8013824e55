"""Differences from the base, as a text for a person's pager."""

from __future__ import annotations

from difflib import unified_diff

from flow.adapters.attribution.proof_files import content_now, is_binary
from flow.adapters.git.blobs import LINES_LIMIT, git_blobs
from flow.core.boundary.changes import ABSENT, entry_digest
from flow.core.evidence.proof import ProofFile
from flow.core.text.display import counted, visible
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from flow.adapters.git.find import Repo
    from flow.core.boundary.changes import PathChange

MOST_FILES = 1000
MOST_LINES = 200_000


def proof_file_diffs(
    repo: Repo, changes: Iterable[PathChange], first: Sequence[str], states: Mapping[str, str]
) -> str:
    """Unified differences, those of ``first`` before the others; cut parts are named.

    ``states`` describes a file's state at the start if that differs from the base.
    """
    known = {change.path: change for change in changes}
    paths = [*first, *(path for path in known if path not in set(first))]
    files = [_proof_file(path, known.get(path), states) for path in paths[:MOST_FILES]]
    old = git_blobs(repo, {file.before for file in files if file.before != ABSENT})
    lines: list[str] = []
    for file in files:
        lines += _file_diff(repo, file, old)
        if len(lines) > MOST_LINES:
            lines = [*lines[:MOST_LINES], "(cut here)"]
            break
    if len(paths) > MOST_FILES:
        lines.append(f"({counted(len(paths) - MOST_FILES, 'more file', ('is', 'are'))} not shown)")
    return "\n".join(lines) + "\n"


def _proof_file(path: str, change: PathChange | None, states: Mapping[str, str]) -> ProofFile:
    before = states[path].partition(" ")[0] if path in states else None
    if before is None:
        before = entry_digest(change.base) if change is not None else ABSENT
    after = entry_digest(change.worktree) if change is not None else "100644:"
    kind = "gone" if after == ABSENT else "new" if before == ABSENT else "changed"
    return ProofFile(path, kind, before, after)  # type: ignore[arg-type]


def _file_diff(repo: Repo, file: ProofFile, old: Mapping[str, bytes]) -> Iterator[str]:
    name = visible(file.path)
    yield f"=== {name} ({file.kind})"
    before = b"" if file.before == ABSENT else old.get(file.before)
    after = b"" if file.after == ABSENT else content_now(repo.top, file)
    if before is None:
        yield "what it held before is not in git, or too large; as it is now:"
        before = b""
    if after is None or is_binary(before) or is_binary(after):
        yield f"(no text, or larger than {LINES_LIMIT >> 20} MiB)"
        return
    a, b = _diff_lines(before), _diff_lines(after)
    if len(a) * len(b) > 25_000_000:
        yield f"({len(a)} lines before, {len(b)} now: too many to compare)"
        return
    yield from unified_diff(a, b, f"a/{name}", f"b/{name}", lineterm="")
    yield ""


def _diff_lines(data: bytes) -> list[str]:
    decoded = data.decode("utf-8", "surrogateescape").expandtabs(4)
    *lines, last = map(visible, decoded.split("\n"))
    return [*lines, f"{last}  (no newline at its end)"] if last else lines
