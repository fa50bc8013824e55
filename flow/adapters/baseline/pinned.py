"""The pinned base: choose it, record the state against it, move it (SPEC 4)."""

from __future__ import annotations

import os

from flow.adapters.attribution.proof_files import recorded
from flow.adapters.baseline.checkout import require_commit
from flow.adapters.fs import files
from flow.adapters.git import names as git_names
from flow.adapters.git import repository
from flow.adapters.git.find import read_regular
from flow.adapters.git.run import git, usable
from flow.adapters.user_state.written_files import with_plain_ends
from flow.adapters.worktree.change_set import collect
from flow.adapters.worktree.contents import LARGEST
from flow.adapters.worktree.guards import guards
from flow.adapters.worktree.ignore import RULES_FILE, read_rules
from flow.adapters.worktree.trees import changed_between
from flow.app.transitions.create import Outside
from flow.core import layout
from flow.core.boundary.changes import Baseline, dirty_digest, entry_digest
from flow.core.boundary.globs import Globs
from flow.core.boundary.rules import OwnFiles, path_rules
from flow.core.evidence import protected_files
from flow.errors import GitError, InputError, at_key
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flow.adapters.git.find import Repo
    from flow.adapters.worktree.change_set import WorktreeState
    from flow.adapters.worktree.trees import Mark
    from flow.core.boundary.changes import PathChange


_LFS = b"version https://git-lfs.github.com/spec/v1\n"
_ENCODINGS = ("utf-32", "utf-32-le", "utf-32-be", "utf-16", "utf-16-le", "utf-16-be")
_COMPARED = 64 << 20
"""Most bytes of a file that is compared for the conversions of a checkout."""


def pin_baseline(
    repo: Repo,
    *,
    base: str | None,
    denied: Sequence[str],
    journal_dir: str,
    reports_dir: str = layout.REPORTS_DIR,
    scores_dir: str = layout.SCORES,
    cache_dir: str | None = None,
    protected: Sequence[str] = (),
    proof: Sequence[str] | None = None,
    settings: Mapping[str, str] | None = None,
) -> Baseline:
    """Pin the base and record the state of the checkout.

    ``base`` is a name as ``git_names`` resolves it (``scope.base``); None takes the remote's
    default branch, else ``main``, ``master``, else HEAD. On a branch without commits
    ``base_commit`` is the empty tree's id. Without git it is None, and every later snapshot names
    that as its problem. Raises :class:`InputError` for a name of no commit or of two,
    :class:`GitError` for unrelated histories and if git cannot answer now. ``proof`` are patterns
    of the files that the commands rest on.
    """
    pinned = Baseline(
        base_commit=None,
        dirty={},
        denied_ignored={},
        ignore_rules={},
        guards={},
        by_products={},
        journal_dir=journal_dir,
        denied=tuple(denied),
        reports_dir=reports_dir,
        scores_dir=scores_dir,
        settings=dict(settings or {}),
    )
    without_git = repo.problem is None or not os.path.lexists(os.path.join(repo.top, ".git"))
    if repo.git_dir is None and without_git:
        return pinned
    return _recorded(repo, pinned, base, cache_dir=cache_dir, protected=protected, proof=proof)


def _recorded(
    repo: Repo,
    bare: Baseline,
    base: str | None,
    *,
    cache_dir: str | None,
    protected: Sequence[str],
    proof: Sequence[str] | None,
) -> Baseline:
    """``bare`` with the base, and the state of the checkout against it."""
    commit = base_commit(repo, base)
    now = collect(repo, commit, bare.denied, cache_dir=cache_dir, protected=protected)
    changes = protected_files.counted((*now.changes, *now.emptied))
    pinned = bare._replace(
        base_commit=commit,
        # Commits since the base count, by any author.
        dirty={c.path: dirty_digest(c) for c in now.changes if c.head == c.base},
        denied_ignored=now.ignored,
        ignore_rules=now.rules,
        guards=guards(repo),
        protected=_deviations(now, protected) if protected else {},
        protected_patterns=tuple(protected),
    )
    return pinned if proof is None else recorded(repo, pinned, proof, tuple(changes))


def _deviations(now: WorktreeState, protected: Sequence[str]) -> dict[str, str]:
    """The record of the protected files as they are now, Flow's own included."""
    changes = protected_files.counted((*now.changes, *now.emptied))
    return protected_files.deviations(
        changes, now.ignored_protected, Globs(protected, anchored=False)
    )


def replace_protected(
    repo: Repo,
    baseline: Baseline,
    protected: Sequence[str],
    before: Sequence[str],
    *,
    denied: Sequence[str],
    cache_dir: str | None = None,
) -> Baseline:
    """The baseline with ``protected`` in the place of ``before``; new patterns are recorded as now.

    Raises :class:`GitError` if git cannot answer.
    """
    added = [pattern for pattern in protected if pattern not in before]
    deviations: dict[str, str] = {}
    if added and baseline.base_commit is not None:
        now = collect(repo, baseline.base_commit, denied, cache_dir=cache_dir, protected=added)
        deviations = _deviations(now, added)
    return protected_files.with_patterns(baseline, protected, before, deviations)


def _named_commit(repo: Repo, ref: str, head: str | None) -> str | None:
    """The commit that a person's ``ref`` names; None if it names none or git cannot answer."""
    try:
        return git_names.resolve(repo, ref, key="scope.base")
    except GitError:  # a tree, a branch without an upstream; or git cannot answer at all
        if head is not None:
            repository.merge_bases(repo, head, head)
        return None


def kept_base(repo: Repo, name: str) -> str:
    """``name`` as ``scope.base`` keeps it: a branch by its name, anything else by its commit.

    A branch moves on, and ``flow goal rebase`` follows it; ``HEAD`` would be another commit later.
    Raises :class:`InputError` for a name of no commit or of two.
    """
    head = repository.head_commit(repo)
    if _is_unborn(repo, name, head) or git_names.is_branch(repo, name, key="--base"):
        return name
    commit = _named_commit(repo, name, head)
    if commit is None:
        raise _no_commit(name)
    return commit


def _is_unborn(repo: Repo, name: str, head: str | None) -> bool:
    """Whether ``name`` is what is checked out, and that has no commit yet."""
    return head is None and _is_checked_out(repo, name)


def _is_checked_out(repo: Repo, name: str) -> bool:
    branch = f"refs/heads/{repository.current_branch(repo)}"
    return name in ("HEAD", "@") or branch in (name, f"refs/{name}", f"refs/heads/{name}")


def _no_commit(name: str | None) -> InputError:
    return at_key("scope.base", name).invalid(
        f"{name!r} names no commit",
        "name a branch, tag or commit that is in this repository (--base REF)",
        code="no_base",
    )


def base_commit(repo: Repo, ref: str | None) -> str:
    """The merge-base of HEAD with ``ref``; the empty tree's id if HEAD has no commit yet."""
    usable(repo)
    head = repository.head_commit(repo)
    if head is None:
        algorithm = git(repo, "rev-parse", "--show-object-format").strip()
        named = ref is None or _is_unborn(repo, ref, head)
        if not named and _named_commit(repo, str(ref), head) is None:
            raise _no_commit(ref)
        return repository.EMPTY_TREES[64 if algorithm == b"sha256" else 40]
    name, other = (ref, _named_commit(repo, ref, head)) if ref is not None else default_base(repo)
    if other is None:
        raise _no_commit(name)
    if other == head:
        return head
    commits = repository.merge_bases(repo, head, other)
    if not commits:
        shallow = repository.is_shallow(repo)
        raise at_key("scope.base", name).git(
            f"HEAD and {name} have no common commit"
            + (", as far as this shallow clone goes" * shallow),
            "git fetch --unshallow" if shallow else "name another one: --base REF",
            code="no_base",
        )
    return commits[0]


def default_base(repo: Repo) -> tuple[str, str | None]:
    """The name of the base if none is given, and its commit."""
    for name in (git_names.remote_default(repo), "refs/heads/main", "refs/heads/master"):
        commit = repository.read_ref(repo, name) if name else None
        if name and commit:
            return name, commit
    return "HEAD", repository.head_commit(repo)


def widen_baseline(repo: Repo, baseline: Baseline, ref: str) -> tuple[Baseline, bool]:
    """The baseline at another base (``evaluate --base``), and whether its range holds the pin's."""
    other = base_commit(repo, ref)
    return baseline._replace(base_commit=other), contains(repo, other, baseline.base_commit)


def contains(repo: Repo, other: str, pinned: str | None) -> bool:
    """Whether the changes since ``other`` hold all changes since ``pinned``."""
    if pinned is None or other == pinned:
        return other == pinned
    if repository.is_empty_tree(other):
        return True
    if repository.is_empty_tree(pinned):
        return False
    return repository.is_ancestor(repo, other, pinned)


def commits_outside(
    repo: Repo,
    baseline: Baseline,
    *,
    allowed: Sequence[str],
    denied: Sequence[str],
    mark: Mark = lambda changes, _: changes,
) -> list[Outside]:
    """The committed paths outside the boundary, with the commits that touched them.

    ``mark`` tells which files with names of Flow's are not Flow's.
    """
    base, head = baseline.base_commit, repository.head_commit(repo)
    if base is None or head is None:
        return []
    own, rules = OwnFiles(baseline), path_rules(allowed, denied)
    placed = (
        (change.path, rules.refusal(change.path))
        for change in mark(changed_between(repo, base, head), baseline)
        if not own(change)
    )
    paths = [(path, reason) for path, reason in placed if reason is not None]
    if not paths:
        return []
    since = None if repository.is_empty_tree(base) else base
    by_path: dict[str, list[str]] = {}
    for logged in repository.history(repo, since, head):
        for path in logged.paths:
            by_path.setdefault(path, []).append(f"{logged.commit[:10]} {logged.subject}")
    return [Outside(path, reason, tuple(by_path.get(path, ()))) for path, reason in paths]


def rebase_baseline(
    repo: Repo,
    old: Baseline,
    base: str | None,
    *,
    denied: Sequence[str],
    cache_dir: str | None = None,
) -> tuple[Baseline, list[str]]:
    """Move the pin after the base branch was merged in. Nothing is written; a person accepts.

    Returns the new baseline and the files that only that side changed: they differ between the two
    bases, and are now as the new base has them. Files that were dirty at activation stay dirty if
    that side did not change them. Files of that side whose bytes differ from their blob only by
    what git converts at a checkout, or by being the file that a Git LFS pointer names, count as
    they are now. Raises :class:`StateError` if there is nothing to move to.
    """
    new = _next_base(repo, old, base)
    theirs = {change.path for change in changed_between(repo, str(old.base_commit), new)}
    now = collect(repo, new, denied, cache_dir=cache_dir)
    dirty = {path: digest for path, digest in old.dirty.items() if path not in theirs}
    for change in now.changes:
        if change.path in theirs and only_converted(repo, change):
            dirty[change.path] = dirty_digest(change)
    changed = {change.path for change in now.changes} - dirty.keys()
    only_theirs = sorted(theirs - changed)
    moved = old._replace(
        base_commit=new,
        dirty=dirty,
        ignore_rules=_rules_with(repo, old, now.rules, only_theirs),
        protected={path: was for path, was in old.protected.items() if path not in theirs},
        proof_states={path: was for path, was in old.proof_states.items() if path not in theirs},
    )
    return moved, only_theirs


def _next_base(repo: Repo, old: Baseline, base: str | None) -> str:
    """The commit to move the pin to; raises if there is none."""
    if old.base_commit is None or repository.is_empty_tree(old.base_commit):
        raise at_key("scope.base_commit").wrong_state(
            "the goal has no pinned commit that could be moved",
            "start a new goal on the branch as it is now",
        )
    require_commit(repo, old.base_commit)
    new = base_commit(repo, base)
    if new == old.base_commit:
        raise at_key("scope.base_commit", new).wrong_state(
            "the base has not moved: nothing of the base branch was merged in since",
            "merge the base branch first",
            code="nothing_to_rebase",
        )
    _refuse_own_branch(repo, base)
    if not repository.is_ancestor(repo, old.base_commit, new):
        raise at_key("scope.base").git(
            f"the new base {new[:12]} does not follow the pinned one, {old.base_commit[:12]}",
            "name the branch that the goal started from in scope.base",
            code="no_base",
        )
    return new


def _refuse_own_branch(repo: Repo, base: str | None) -> None:
    """Refuse a base that is what is checked out: the goal's own commits would stop counting."""
    name = default_base(repo)[0] if base is None else base
    if _is_checked_out(repo, name):
        fault = "is the branch that is checked out" if base or name != "HEAD" else "is not known"
        raise at_key("scope.base", base).wrong_state(
            f"the base branch {fault}, so the goal's own commits cannot be told from others'",
            "name the branch that the goal started from in scope.base, then: flow trust record",
            code="no_base",
        )


def _rules_with(
    repo: Repo, old: Baseline, rules: Mapping[str, str], theirs: Iterable[str]
) -> dict[str, str]:
    """The pinned ignore rules with those of the files ``theirs``.

    Rules that came with the base branch are as trusted as the ones pinned.
    """
    texts = dict(old.ignore_rules)
    for path in theirs:
        if path.rpartition("/")[2] == RULES_FILE.decode():
            texts.pop(path, None)
            text = read_rules(os.path.join(os.fsencode(repo.top), os.fsencode(path)), follow=False)
            if text is not None and path in rules:
                texts[path] = text
    return texts


def _recoded(disk: bytes) -> Iterable[bytes]:
    """A file in UTF-16 or UTF-32 as git stores it (``working-tree-encoding``)."""
    for encoding in _ENCODINGS if b"\0" in disk else ():
        try:
            yield disk.decode(encoding).encode()
        except UnicodeError:
            continue


def only_converted(repo: Repo, change: PathChange) -> bool:
    """Whether a path differs on disk alone, and there only as a checkout would make it differ.

    That is by line ends, ``$Id$``, UTF-16 and UTF-32, and as the file that a Git LFS pointer names.
    """
    if change.head != change.base or change.index != change.base:
        return False
    base, worktree = change.base, change.worktree
    if base is None or worktree is None or base.mode != worktree.mode:
        return False
    path = os.path.join(os.fsencode(repo.top), os.fsencode(change.path))
    disk = read_regular(path, limit=_COMPARED + 1)
    blob = repository.verified_objects(repo, (base.digest,))[base.digest]
    if disk is None or entry_digest(worktree) == entry_digest(base):
        return False
    stored = with_plain_ends(blob)
    for data in (disk, *_recoded(disk)) if len(disk) <= _COMPARED else ():
        plain = with_plain_ends(data)
        if stored in (plain, plain.replace(b"$Id: %b $" % base.digest.encode(), b"$Id$")):
            return True
    if not blob.startswith(_LFS):
        return False
    digest = files.digest(repo.top, change.path, limit=LARGEST)
    return f"oid sha256:{digest}\n".encode() in blob
