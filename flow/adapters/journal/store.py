"""The decision journal (SPEC 1): Markdown under a YAML front matter that lists artifacts.

An artifact is appended by editing the text: no existing text changes, the body stays byte for byte.
Front matter in the very form Flow writes is recognised line by line
(:func:`flow.adapters.journal.text.canonical`) and needs no YAML at all; any other is parsed before
and after the edit, and the edit counts only if the two differ by exactly the new artifact. Front
matter that cannot be read is refused by file and line, never repaired by guessing.
"""

from __future__ import annotations

import os

from flow.adapters.fs import files, locks
from flow.adapters.journal import text
from flow.core import layout
from flow.errors import ContractError, FlowError, InputError, RefusedError, at_key, in_file
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.ports import Artifact

    Announce = Callable[[str, bytes | None, bytes], None]

LIMIT = 3 << 20
"""Most bytes of a journal's file that Flow reads or writes."""

KEY = "key"
"""The artifact field by whose value an append happens only once."""

_YAML_LIMIT = 1 << 20
"""Most characters of front matter that is not in Flow's own form, as the YAML reader's limit."""

_RESERVED = ("type", "captured_at", KEY)


class Journal(NamedTuple):
    """A journal as it is read. ``front`` has every key but ``artifacts``."""

    front: Mapping[str, Any]
    artifacts: tuple[Mapping[str, Any], ...]
    body: str
    """Bytes that are not UTF-8 appear as ``\\xNN``."""
    warnings: tuple[str, ...]


def append(
    root: str,
    rel: str,
    artifact: Artifact,
    *,
    issue: int | None,
    now: str,
    branch: str | None,
    key: str | None,
    announce: Announce | None = None,
) -> bool:
    """Add one artifact, making the journal or its front matter if it is missing.

    With a ``key`` this happens once: False, and nothing written, if an artifact with that key is
    there already. A field whose value is None is left out; a list of failures that is empty is
    written as ``none``. ``announce`` gets (path, old bytes, new bytes) before these are written.
    Raises :class:`RefusedError` (``broken_journal``, or ``unsafe_path``), :class:`InputError` for a
    type, field name or value that a journal cannot hold, :class:`ContractError` over :data:`LIMIT`.
    """
    entry = _journal_entry(artifact, now, key)
    with locks.exclusive(root, layout.journal_lock(os.path.basename(rel)), quick=True):
        old = files.read_optional(root, rel, limit=LIMIT)
        new = _with_entry(old, rel, entry, issue=issue, now=now, branch=branch)
        if new is None:
            return False
        if len(new) > LIMIT:
            raise _too_large(rel)
        if announce is not None:
            announce(rel, old, new)
        files.put(root, rel, new, new=old is None)
    return True


def check_artifact(artifact: Artifact, *, now: str) -> None:
    """Raise :class:`InputError` for values that no journal can hold; reads nothing."""
    _journal_entry(artifact, now, None)


def check(root: str, rel: str, artifact: Artifact, *, now: str) -> None:
    """Raise the errors of :func:`append`, and write nothing: for a caller with more to do."""
    entry = _journal_entry(artifact, now, None)
    old = files.read_optional(root, rel, limit=LIMIT)
    new = _with_entry(old, rel, entry, issue=None, now=now, branch=None)
    if new is not None and len(new) > LIMIT:
        raise _too_large(rel)


def read(root: str, rel: str) -> Journal:
    """The journal's parts.

    Raises :class:`RefusedError` (``broken_journal``) as :func:`append` does, :class:`InputError`
    (``not_found``) if there is none.
    """
    data = files.read_optional(root, rel, limit=LIMIT)
    if data is None:
        raise in_file(rel).not_found(
            "there is no such journal", "the first goal or artifact makes it: flow journal record"
        )
    return parse(data, rel)


def parse(data: bytes, rel: str) -> Journal:
    """The parts of a journal's text. Raises as :func:`read` does."""
    parts = _split(data, rel)
    body = parts.body.decode("utf-8", "backslashreplace")
    if not parts.has_front:
        return Journal({}, (), body, (f"{rel}: has no front matter yet",))
    own = text.canonical(parts.front)
    front = own.document() if own is not None else _front_document(parts, rel)
    artifacts, warnings = [], []
    for number, artifact in enumerate(front.pop("artifacts", None) or (), 1):
        if isinstance(artifact, dict) and isinstance(artifact.get("type"), str):
            artifacts.append(artifact)
        else:
            warnings.append(f"{rel}: artifact {number} has no type and was left out")
    return Journal(front, tuple(artifacts), body, tuple(warnings))


def front_of(data: bytes, rel: str) -> bytes:
    """A journal's bytes up to the line that ends its front matter; empty if it has none."""
    parts = _split(data, rel)
    return parts.opening + parts.front.encode()


def continues(base: bytes | None, data: bytes, rel: str) -> bool:
    """Whether ``data`` is a journal with a front matter, and has all the content of ``base``."""
    try:
        now = parse(data, rel)
        before = parse(base, rel) if base is not None else Journal({}, (), "", ())
    except FlowError:
        return False
    if not (now.front or now.artifacts):
        return False
    has_fields = all(now.front.get(name) == value for name, value in before.front.items())
    has_artifacts = now.artifacts[: len(before.artifacts)] == before.artifacts
    return has_fields and has_artifacts and before.body in now.body


def metadata_from_pairs(pairs: Sequence[str]) -> dict[str, Any]:
    """The fields of ``--metadata k=v ...``: a comma makes a list, digits a number, else a string.

    Raises :class:`InputError` for a pair without ``=``, a name that is not one, a name given
    twice, and the names that Flow sets itself.
    """
    fields: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise _bad_metadata(pair, "has no '='", "write it as name=value")
        if name in _RESERVED:
            raise _bad_metadata(pair, f"{name} is set by Flow itself", "use another name")
        if not text.is_field(name):
            raise _bad_metadata(
                pair, "has no usable name", "use letters, digits, '_' and '-', a letter first"
            )
        if name in fields:
            raise _bad_metadata(pair, f"{name} is given twice", "give it once; commas make a list")
        fields[name] = _value_of(value)
    return fields


def _value_of(value: str) -> Any:
    if "," in value:
        return [part.strip() for part in value.split(",") if part.strip()]
    if value.isascii() and value.isdigit() and len(value) <= 16:
        return int(value) if int(value) <= text.INTEGER_LIMIT else value
    return value


def _bad_metadata(pair: str, why: str, remedy: str) -> InputError:
    return at_key("--metadata", pair).invalid(f"{pair!r:.100} {why}", remedy)


def _journal_entry(artifact: Artifact, now: str, key: str | None) -> dict[str, Any]:
    """The artifact's fields in the order in which they are written; checked."""
    if not text.is_type(artifact.type):
        raise at_key("type", artifact.type).invalid(
            f"{artifact.type!r:.80} is not an artifact type",
            "use lower-case letters, digits and hyphens, a letter first, at most 64 of them",
        )
    entry: dict[str, Any] = {"type": artifact.type, "captured_at": now}
    for name, value in artifact.fields.items():
        if name in _RESERVED or not text.is_field(name):
            raise at_key(name if name.isprintable() else None).invalid(
                f"{name!r:.80} cannot be a field of an artifact",
                "use letters, digits, '_' and '-'; type, captured_at and key are Flow's own",
            )
        if value is None:
            continue
        nothing_failed = name == "failures" and isinstance(value, (list, tuple)) and not value
        entry[name] = "none" if nothing_failed else text.clean(name, value)
    if key is not None:
        entry[KEY] = text.clean(KEY, key)
    return entry


def _with_entry(
    old: bytes | None,
    rel: str,
    entry: Mapping[str, Any],
    *,
    issue: int | None,
    now: str,
    branch: str | None,
) -> bytes | None:
    """The journal's bytes with the entry; None if its key is there already."""
    if old is None:
        fresh = text.front_matter(issue, now, branch, entry, "\n")
        return f"{fresh}\n# Decision journal: {_title(rel, issue, now)}\n".encode()
    parts = _split(old, rel)
    if not parts.has_front:
        return text.front_matter(issue, now, branch, entry, parts.newline).encode() + old
    key = entry.get(KEY)
    own = text.canonical(parts.front)
    if own is not None:
        if key is not None and own.has_key(key):
            return None
        added = text.block_item(entry, 2, parts.newline)
        return parts.opening + parts.front.encode() + added.encode() + parts.rest
    front = _front_document(parts, rel)
    artifacts = front.get("artifacts") or []
    if key is not None and any(isinstance(a, dict) and a.get(KEY) == key for a in artifacts):
        return None
    wanted = {**front, "artifacts": [*artifacts, entry]}
    for candidate in text.candidates(parts.front, entry, parts.newline):
        try:
            parsed = _front_document(parts._replace(front=candidate), rel)
        except FlowError:
            continue
        if text.same(parsed, wanted):
            return parts.opening + candidate.encode() + parts.rest
    raise broken(rel, None, "Flow finds no place to add an artifact to the front matter")


def _title(rel: str, issue: int | None, now: str) -> str:
    base = layout.journal_base(rel)
    kind, _, name = base.rpartition("/")[2].removesuffix(".md").partition("-")
    goal = f"goal {name}" if kind == "goal" else now[:10]
    title = f"issue {issue}" if issue is not None else goal
    return title if base == rel else f"{title}, part {layout.part_number(rel)}"


class _Parts(NamedTuple):
    """A journal's bytes, ``opening + front + rest``; ``body`` is rest after the closing line."""

    opening: bytes
    front: str
    rest: bytes
    body: bytes
    newline: str
    has_front: bool


def _split(data: bytes, rel: str) -> _Parts:
    """Find the front matter; the body is never read."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise broken(rel, 1, "the file is UTF-16, not UTF-8")
    bom = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    first = data.find(b"\n", bom)
    newline = "\r\n" if first > 0 and data[first - 1 : first] == b"\r" else "\n"
    opening = data[bom : first if first >= 0 else len(data)]
    if opening.rstrip(b" \t\r") != b"---":
        return _Parts(b"", "", b"", data, newline, has_front=False)
    start = first + 1 if first >= 0 else len(data)
    at = start if data.startswith(b"---", start) else data.find(b"\n---", start) + 1
    while at:
        stop = data.find(b"\n", at)
        stop = len(data) if stop < 0 else stop
        if data[at:stop].rstrip(b" \t\r") == b"---":
            break
        at = data.find(b"\n---", at) + 1
    else:
        raise broken(rel, 1, "the front matter that starts here has no closing --- line")
    try:
        front = data[start:at].decode()
    except UnicodeDecodeError as error:
        line = 2 + data.count(b"\n", start, start + error.start)
        raise broken(rel, line, "the front matter is not UTF-8") from None
    return _Parts(data[:start], front, data[at:], data[stop + 1 :], newline, has_front=True)


def _front_document(parts: _Parts, rel: str) -> dict[str, Any]:
    """The front matter as YAML; :class:`RefusedError` with the file's own line numbers."""
    if all(not line.strip() or line.lstrip().startswith("#") for line in parts.front.splitlines()):
        return {}
    if len(parts.front) > _YAML_LIMIT:
        why = (
            f"the front matter has more than {_YAML_LIMIT} characters and lines Flow did not write"
        )
        raise broken(rel, None, why)
    from flow.adapters.contracts import formats

    try:
        # The opening line makes the reader's line numbers those of the file.
        front = formats.parse_yaml(b"---\n" + parts.front.encode(), file=rel)
    except ContractError as error:
        fault = error.faults[0]
        raise broken(rel, None, fault.message, key=fault.key) from error
    if not isinstance(front, dict):
        raise broken(rel, 2, "the front matter is not a mapping of keys to values")
    artifacts = front.get("artifacts")
    if artifacts is not None and not isinstance(artifacts, list):
        line = 2 + text.lines_before_artifacts(parts.front)
        raise broken(rel, line, "artifacts is not a list", key="artifacts")
    return front


def broken(rel: str, line: int | None, why: str, key: str | None = None) -> RefusedError:
    """The refusal of a journal that Flow will not touch; ``line`` counts from 1."""
    return in_file(rel, key).refused(
        f"line {line}: {why}" if line else why,
        "correct the front matter by hand, or move the file away; Flow changed nothing",
        code="broken_journal",
    )


def _too_large(rel: str) -> ContractError:
    remedy = "take large texts out of the artifact, or move the file away and keep it"
    return in_file(rel).corrupt(f"would be larger than {LIMIT} bytes", remedy)
