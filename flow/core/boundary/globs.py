"""Gitignore globs over paths, byte by byte (SPEC 4).

A pattern that names a folder covers everything below it, as in a ``.gitignore``: ``src``, ``src/``,
``src/*`` and ``src/**`` all match ``src/a/b.py``. ``*``, ``?`` and ``[...]`` never cross a ``/``;
``**`` does if it is alone between slashes; ``src/**/`` matches folders below ``src``, and their
content. Blanks at the end are cut, as git cuts them, unless a backslash precedes them. There are no
comments and no ``!``: a pattern is a value of a list, not a line of a file. A test compares this
with ``git check-ignore``.

The work for one path is bounded by (parts of the path) x (parts of the pattern) x (bytes of a
name): no regular expression is made from a user's text.
"""

from __future__ import annotations

from flow.startup.functools import lru_cache
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_STAR = -1
_ANY = -2
_SLASH = 0x2F
_SPECIAL = frozenset(b"*?[\\")
_CACHED = 4096
"""Patterns whose meaning is cached: one command asks for the same ones hundreds of times."""

_Token = int | frozenset[int]
"""A byte, ``_STAR``, ``_ANY``, or the set of bytes that a bracket matches."""

_CLASSES = {
    b"alnum": bytes(range(0x30, 0x3A)) + bytes(range(0x41, 0x5B)) + bytes(range(0x61, 0x7B)),
    b"alpha": bytes(range(0x41, 0x5B)) + bytes(range(0x61, 0x7B)),
    b"blank": b" \t",
    b"cntrl": bytes(range(0x20)) + b"\x7f",
    b"digit": bytes(range(0x30, 0x3A)),
    b"graph": bytes(range(0x21, 0x7F)),
    b"lower": bytes(range(0x61, 0x7B)),
    b"print": bytes(range(0x20, 0x7F)),
    b"punct": bytes(
        c for c in range(0x21, 0x7F) if not (0x30 <= c < 0x3A or 0x41 <= c & 0xDF < 0x5B)
    ),
    b"space": b" \t\n\v\f\r",
    b"upper": bytes(range(0x41, 0x5B)),
    b"xdigit": b"0123456789abcdefABCDEF",
}


class GlobError(ValueError):
    """A pattern that cannot match anything: an open bracket, a lone backslash at the end."""


class GlobPart(NamedTuple):
    """The pattern of one name between slashes."""

    head: bytes
    """Literal start; the whole name if ``tokens`` and ``tail`` are None."""
    tail: bytes | None = None
    """Literal end after exactly one ``*``."""
    tokens: tuple[_Token, ...] | None = None
    """The tokens of any other pattern."""

    def matches(self, name: bytes) -> bool:
        """Whether the whole ``name`` fits."""
        if self.tokens is not None:
            return _matches_name(self.tokens, name)
        if self.tail is None:
            return name == self.head
        return (
            len(name) >= len(self.head) + len(self.tail)
            and name.startswith(self.head)
            and name.endswith(self.tail)
        )


class Glob(NamedTuple):
    """One compiled pattern."""

    text: str
    parts: tuple[GlobPart | None, ...]
    """None is ``**``."""
    folder_only: bool
    anchored: bool
    needle: bytes | None
    """``/a/b`` if every part is literal; with a ``/`` at the end only paths inside match."""

    def matches(self, path: bytes, *, folder: bool = False) -> bool:
        """Whether ``path``, or a folder above it, matches. ``folder``: whether it is a folder."""
        if self.needle is not None:
            inside = self.needle[-1] == _SLASH
            subject = b"/%b/" % path if folder or not inside else b"/" + path
            needle = self.needle if inside else self.needle + b"/"
            return subject.startswith(needle) if self.anchored else needle in subject
        return self._walk(path.split(b"/"), folder)

    def _walk(self, names: Sequence[bytes], folder: bool) -> bool:
        parts, end = self.parts, len(self.parts)
        states = set(_states_without_name(parts, 0))
        for number, name in enumerate(names, 1):
            following: set[int] = set()
            for state in states:
                part = parts[state]
                if part is None:
                    following.update(_states_without_name(parts, state))
                    if state == end - 1:
                        following.add(end)
                elif part.matches(name):
                    following.update(_states_without_name(parts, state + 1))
            is_folder = folder or number < len(names)
            if end in following and (is_folder or not self.folder_only):
                return True
            following.discard(end)
            states = following
        # A folder as such also counts as its own content: ``vendor/lib/**`` covers the submodule
        # there; ``vendor/lib/**/`` does not, since files at the submodule's top are not in it.
        return folder and not self.folder_only and end - 1 in states and parts[-1] is None

    @property
    def literal(self) -> bytes:
        """A literal of bytes that every covered path contains; may be empty."""
        parts = [part for part in self.parts if part is not None and part.tokens is None]
        return max(
            (text for part in parts for text in (part.head, part.tail or b"")), key=len, default=b""
        )

    def names_folder(self, folder: bytes) -> bool:
        """Whether the pattern spells the name of ``folder``, which has its place in it."""
        names = folder.split(b"/")
        parts = [part for part in self.parts[: len(names)] if part is not None]
        return (
            self.anchored
            and len(parts) == len(names)
            and parts[-1] == GlobPart(names[-1])
            and all(part.matches(name) for part, name in zip(parts, names, strict=True))
        )

    def enters(self, folder: bytes) -> bool:
        """Whether the pattern's literal part leads into ``folder``, or ends above it."""
        anywhere = self.parts[:1] == (None,)  # ``**/a``, and every pattern that is not anchored
        literal = literal_start(self.parts[anywhere:])
        if not literal:
            return False
        names = folder.split(b"/")
        starts = range(len(names)) if anywhere else range(1)
        return any(
            all(a == b for a, b in zip(names[start:], literal, strict=False)) for start in starts
        )


class Globs:
    """Several patterns at once.

    ``anchored``: they match from the top level, else at any depth. Raises :class:`GlobError` for a
    pattern that :func:`why_not` refuses.
    """

    def __init__(self, patterns: Iterable[str], *, anchored: bool) -> None:
        self.globs = tuple(compile_glob(text, anchored=anchored) for text in patterns)

    def __bool__(self) -> bool:
        return bool(self.globs)

    def first(self, path: bytes, *, folder: bool = False) -> str | None:
        """The text of the first pattern that covers ``path``; None if none does."""
        for glob in self.globs:
            if glob.matches(path, folder=folder):
                return glob.text
        return None

    def among(self, paths: Iterable[bytes]) -> set[bytes]:
        """The ``paths`` that a pattern covers."""
        paths = tuple(paths) if self.globs else ()
        matching: set[bytes] = set()
        for glob in self.globs:
            literal = glob.literal
            matching.update(path for path in paths if literal in path and glob.matches(path))
        return matching

    def names_folder(self, folder: bytes) -> bool:
        """Whether any pattern spells the name of ``folder``, which has its place in it."""
        return any(glob.names_folder(folder) for glob in self.globs)

    def enters(self, folder: bytes) -> bool:
        """Whether any pattern's literal part leads into ``folder``."""
        return any(glob.enters(folder) for glob in self.globs)


def literal_start(parts: Iterable[GlobPart | None]) -> list[bytes]:
    """The names without a wildcard at the start of a pattern's ``parts``."""
    names: list[bytes] = []
    for part in parts:
        if part is None or part.tokens is not None or part.tail is not None:
            break
        names.append(part.head)
    return names


def path_bytes(path: str) -> bytes:
    """A path as bytes: the form of the file system, which patterns are compared with."""
    return path.encode("utf-8", "surrogateescape")


def why_not(pattern: object) -> str | None:
    """Reason that ``pattern`` is refused; None if it is usable."""
    if not isinstance(pattern, str):
        return "is not a string"
    pattern = without_end_blanks(pattern)
    if not pattern.strip():
        return "is empty"
    if pattern[-1].isspace() and not _escaped_end(pattern):
        return "ends in white space that is no blank: git would take it for a part of the name"
    if pattern.startswith("!"):
        return "starts with '!': a path cannot be taken out again"
    if pattern.startswith("/"):
        return "is absolute: patterns are relative to the top level"
    if "\0" in pattern:
        return "holds a NUL character"
    try:
        parts = compile_glob(pattern, anchored=True).parts
        if not parts:
            return "names nothing: '**' stands for everything"
        if GlobPart(b"..") in parts or ".." in pattern.split("/"):
            return "holds '..'"
    except (GlobError, UnicodeEncodeError) as error:
        return str(error)
    return None


@lru_cache(maxsize=_CACHED)
def literal_name(pattern: str) -> str | None:
    """The path that a pattern without wildcards names; None for any other pattern."""
    name, at = [], 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\" and at + 1 < len(pattern):
            at += 1
            char = pattern[at]
        elif char in "*?[":
            return None
        name.append(char)
        at += 1
    return "".join(name) if name and name[-1] != "/" else None


def literal_pattern(path: str) -> str:
    """The pattern that names exactly ``path`` and everything below it."""
    parts = []
    for place, char in enumerate(path):
        first, last = place == 0, place == len(path) - 1
        escaped = char in "*?[\\" or (first and char == "!") or (last and char.isspace())
        parts.append(f"\\{char}" if escaped else char)
    return "".join(parts)


def without_end_blanks(pattern: str) -> str:
    """The pattern as git reads a line: trailing blanks are cut unless a backslash escapes them."""
    cut = pattern.rstrip(" ")
    return cut + pattern[len(cut) :][:1] if _escaped_end(cut + " ") else cut


def _escaped_end(pattern: str) -> bool:
    """Whether a backslash belongs to the last character."""
    before = pattern[:-1]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


@lru_cache(maxsize=_CACHED)
def compile_glob(text: str, *, anchored: bool) -> Glob:
    """Compile one pattern."""
    parts: list[GlobPart | None] = []
    pieces = list(_token_pieces(without_end_blanks(text).encode("utf-8", "surrogateescape")))
    folder_only = bool(pieces) and pieces[-1] in ([], [0x2E])
    for piece in pieces:
        if not piece or piece == [0x2E]:
            continue  # ``./a//b`` is ``a/b``
        if len(piece) > 1 and piece.count(_STAR) == len(piece):
            if not parts or parts[-1] is not None:
                parts.append(None)
        else:
            parts.append(_glob_part(piece))
    needle = _literal_part(parts, folder_only)
    if not anchored and parts and parts[0] is not None:
        parts.insert(0, None)
    return Glob(text, tuple(parts), folder_only, anchored, needle)


def _literal_part(parts: Sequence[GlobPart | None], folder_only: bool) -> bytes | None:
    inside = folder_only
    if len(parts) > 1 and parts[-1] is None:
        if folder_only:
            return None  # ``src/**/`` does not match all of ``src``
        parts, inside = parts[:-1], True
    names = [part.head for part in parts if part and part.tail is None and part.tokens is None]
    if not names or len(names) != len(parts):
        return None
    return b"/" + b"/".join(names) + (b"/" if inside else b"")


def _states_without_name(parts: Sequence[GlobPart | None], state: int) -> Iterator[int]:
    """The states reached without a name: ``**`` may match no folder, except at the end."""
    yield state
    while state < len(parts) - 1 and parts[state] is None:
        state += 1
        yield state


def _glob_part(piece: Sequence[_Token]) -> GlobPart:
    literal = [token for token in piece if isinstance(token, int) and token >= 0]
    stars = piece.count(_STAR)
    if len(literal) == len(piece):
        return GlobPart(bytes(literal))
    if stars == 1 and len(literal) == len(piece) - 1:
        at = piece.index(_STAR)
        return GlobPart(bytes(literal[:at]), bytes(literal[at:]))
    return GlobPart(b"", None, tuple(piece))


def _matches_name(tokens: Sequence[_Token], name: bytes) -> bool:
    """Match with backtracking to the last ``*`` only: every other token is one byte."""
    at = token = 0
    star, mark = -1, 0
    while at < len(name):
        if token < len(tokens) and tokens[token] == _STAR:
            star, mark = token, at
            token += 1
        elif token < len(tokens) and _matches_byte(tokens[token], name[at]):
            token, at = token + 1, at + 1
        elif star >= 0:
            mark += 1
            token, at = star + 1, mark
        else:
            return False
    return all(rest == _STAR for rest in tokens[token:])


def _matches_byte(token: _Token, byte: int) -> bool:
    if isinstance(token, frozenset):
        return byte in token
    return token in (byte, _ANY)


def _token_pieces(text: bytes) -> Iterator[list[_Token]]:
    """The pattern's tokens between slashes; a slash in brackets does not divide."""
    piece: list[_Token] = []
    at = 0
    while at < len(text):
        byte = text[at]
        at += 1
        if byte == _SLASH:
            yield piece
            piece = []
        elif byte not in _SPECIAL:
            piece.append(byte)
        elif byte == 0x2A:
            piece.append(_STAR)
        elif byte == 0x3F:
            piece.append(_ANY)
        elif byte == 0x5C:
            if at == len(text):
                raise GlobError("ends in a lone backslash")
            if text[at] == _SLASH and at + 1 == len(text):
                raise GlobError("ends in a lone backslash before its slash")
            if text[at] == _SLASH:
                yield piece
                piece = []
            else:
                piece.append(text[at])
            at += 1
        else:
            members, at = _bracket(text, at)
            piece.append(members)
    yield piece


def _bracket(text: bytes, at: int) -> tuple[frozenset[int], int]:
    """The bytes that the bracket with its content at ``at`` matches, and the bracket's end."""
    negated = text[at : at + 1] in (b"!", b"^")
    at += negated
    members: set[int] = set()
    before: int | None = None
    first = True
    while True:
        byte, at, literal = _bracket_member(text, at)
        if byte == 0x5D and not literal and not first:
            break
        first = False
        if byte == 0x5B and not literal and text[at : at + 1] == b":":
            close = text.find(b"]", at + 1)
            if close < 0:
                raise GlobError("holds a '[' without its ']'")
            if text[close - 1] == 0x3A and close - 1 > at:
                name = text[at + 1 : close - 1]
                if name not in _CLASSES:
                    raise GlobError(f"holds an unknown class [:{name.decode('latin-1')}:]")
                members.update(_CLASSES[name])
                at, before = close + 1, None
                continue
        if (
            byte == 0x2D
            and not literal
            and before is not None
            and text[at : at + 1] not in (b"]", b"")
        ):
            upper, at, _ = _bracket_member(text, at)
            members.update(range(before, upper + 1))
            before = None
            continue
        members.add(byte)
        before = byte
    members = set(range(256)) - members if negated else members
    return frozenset(members - {_SLASH}), at


def _bracket_member(text: bytes, at: int) -> tuple[int, int, bool]:
    """(byte, its end, whether it was escaped by a backslash)."""
    literal = text[at : at + 1] == b"\\"
    at += literal
    if at >= len(text):
        raise GlobError("holds a '[' without its ']'")
    return text[at], at + 1, literal
