"""Changes, since a goal began, of the files that its commands depend on (SPEC 17.12). Values only.

These are the files that a command names (tests, scripts, a Makefile, programs in ``.venv/bin``) and
those that its runner reads in addition. The comparison is that of protected files, with other
patterns; a changed protected file needs a person, a change here is only reported.
"""

from __future__ import annotations

from flow.core.boundary.by_products import cache_roots, is_by_product
from flow.core.boundary.changes import ABSENT, Baseline, PathChange, Snapshot, by_path, where
from flow.core.boundary.globs import Globs, literal_name, path_bytes
from flow.core.evidence import protected_files
from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


LISTED = 200
"""Files in a document, at most; all are counted."""

Kind = Literal["new", "gone", "changed"]
_KINDS: dict[str, Kind] = {"added": "new", "removed": "gone", "modified": "changed"}

CUT = "the commands name more files than are watched"
HOME = "~/"
"""Start of the name of a file in the user's home folder."""
ABOVE = "../"
"""Start of the name of a file in a folder above the checkout; in a pattern: in any of them."""


class Patterns:
    """Patterns from the top level; those without wildcards cost almost nothing."""

    def __init__(self, patterns: Iterable[str]) -> None:
        wild = []
        self._literal: set[bytes] = set()
        for pattern in patterns:
            name = literal_name(pattern)
            if name is None:
                wild.append(pattern)
            else:
                self._literal.add(path_bytes(name))
        self._wild = Globs(wild, anchored=True)

    def __bool__(self) -> bool:
        return bool(self._literal or self._wild)

    def first(self, path: bytes, *, folder: bool = False) -> str | None:
        """The pattern that names ``path``, or a folder above it; None if none does."""
        while path.startswith(b"../../"):
            path = path[3:]  # a pattern means any folder above the checkout
        at = len(path)
        while at > 0:
            if path[:at] in self._literal:
                return path[:at].decode("utf-8", "surrogateescape")
            at = path.rfind(b"/", 0, at)
        return self._wild.first(path, folder=folder)

    def enters(self, folder: bytes) -> bool:
        """Whether a pattern can name a path below ``folder``."""
        below = folder + b"/"
        return any(name.startswith(below) for name in self._literal) or self._wild.enters(folder)


class LineCount(NamedTuple):
    """The changed lines of a file, and the changed keys of a settings file."""

    added: int
    removed: int
    keys: tuple[str, ...] = ()
    """The differing keys of a settings file."""
    harmless: bool = False
    """Whether no test run reads the differing keys."""


class ProofFile(NamedTuple):
    """One changed file of the proof. The digests are ``mode:hash`` or ``absent``."""

    path: str
    kind: Kind
    before: str
    after: str
    lines: LineCount | None = None
    """None if the lines are unknown: the former content is not in git, or it is no text."""

    def to_document(self) -> dict[str, Any]:
        """The file's row in verdicts and questions."""
        lines = self.lines
        return {
            "path": visible(self.path),
            "change": self.kind,
            "added": lines.added if lines is not None else None,
            "removed": lines.removed if lines is not None else None,
            "keys": [visible(key) for key in lines.keys] if lines is not None else [],
        }


class ProofChange(NamedTuple):
    """All changed files that matter; may be empty."""

    digest: str
    """Digest of every change, including those that do not matter."""
    files: tuple[ProofFile, ...] = ()
    unknown: tuple[str, ...] = ()
    """Reasons that there may be more changes, as sentences."""

    def count(self, kind: Kind) -> int:
        """Number of files of this kind."""
        return sum(1 for file in self.files if file.kind == kind)

    def sentence(self) -> str:
        """``2 files, +40 -3, 1 new``; empty if nothing changed."""
        if not self.files:
            return ""
        counts = [file.lines for file in self.files if file.lines is not None]
        parts = [f"{len(self.files)} {'file' if len(self.files) == 1 else 'files'}"]
        if counts:
            added, removed = (sum(c.added for c in counts), sum(c.removed for c in counts))
            parts.append(f"+{added} -{removed}")
        kinds: tuple[Kind, ...] = ("new", "gone")
        parts += [f"{self.count(kind)} {kind}" for kind in kinds if self.count(kind)]
        return ", ".join(parts)

    def to_document(self, listed: int | None = LISTED) -> dict[str, Any]:
        """The part for verdicts and questions; ``files`` has the first ``listed``, None: all."""
        return {
            "digest": self.digest,
            "count": len(self.files),
            "new": self.count("new"),
            "gone": self.count("gone"),
            "sentence": self.sentence(),
            "files": [file.to_document() for file in self.files[:listed]],
            "unknown": list(self.unknown),
        }


def difference(
    snapshot: Snapshot,
    baseline: Baseline,
    on_disk: Mapping[str, str],
    own_files: Callable[[PathChange], bool],
) -> tuple[ProofFile, ...]:
    """The files of the proof that changed since the goal began.

    ``on_disk`` has the present digests of the files that patterns name literally. By-products of
    Flow's own commands are left out.
    """
    if not baseline.proof_named or snapshot.problems:
        return ()
    recorded = set(baseline.proof_known)
    early = [p for p in baseline.proof_named if p in recorded or literal_name(p) is not None]
    known = Patterns(early)
    late = Patterns(set(baseline.proof_named).difference(early))
    roots = cache_roots(baseline.by_products)
    changed = by_path(snapshot.changes)
    # Without a record of the start nobody knows how the files outside the checkout were.
    unknown = (HOME, ABOVE) if baseline.proof_since == "base" else ()
    ignored = {
        path: digest
        for path, digest in sorted(on_disk.items())
        if changed.get(path) is None and not path.startswith(unknown)
    }
    without_by_products = snapshot._replace(
        changes=where(
            snapshot.changes, lambda c: not is_by_product(c, baseline.by_products, roots)
        ),
        ignored_protected=ignored,
    )
    states = {
        path: text
        for path, text in baseline.proof_states.items()
        if known.first(path_bytes(path)) is not None or late.first(path_bytes(path)) is not None
    }
    pinned = baseline._replace(
        protected=states,
        protected_patterns=baseline.proof_named,
        by_products={p: d for p, d in baseline.by_products.items() if p in ignored},
    )
    compared = protected_files.compared(without_by_products, pinned, known, late, own_files)
    return tuple(
        ProofFile(file.path, _KINDS[file.kind], file.before, file.after)
        for file in (compared.files if compared is not None else ())
    )


def pin_patterns(
    baseline: Baseline,
    patterns: Sequence[str],
    on_disk: Mapping[str, str],
    changes: Iterable[str],
    *,
    at_activation: bool,
    cut: str = "",
) -> Baseline:
    """The baseline with ``patterns`` as those of the contract's commands.

    A file that a pattern names literally and that is not in the change set (``changes``: paths) is
    recorded as it is on disk now, unless it has a record already.
    """
    there = set(changes)
    states = dict(baseline.proof_states)
    for path, digest in on_disk.items():
        if path not in states and path not in there:
            states[path] = protected_files.states_of_ignored(digest)
    for path in filter(None, map(literal_name, patterns)):
        if path not in states and path in baseline.dirty:  # it existed, and differed from the base
            worktree, _, index = baseline.dirty[path].partition(" ")
            states[path] = f"{worktree} {index or ABSENT} {ABSENT} {ABSENT}"
    known = tuple(patterns) if at_activation else baseline.proof_known
    return baseline._replace(
        proof_named=tuple(patterns),
        proof_known=known,
        proof_states=states,
        proof_since="activation" if at_activation else baseline.proof_since,
        proof_cut=cut,
    )
