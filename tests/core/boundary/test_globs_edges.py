"""Globs that are not literal, and where a literal part leads: beside ``test_boundary.py``."""

from __future__ import annotations

from itertools import product

import pytest

from flow.core.boundary.globs import Glob, GlobError, Globs, compile_glob, why_not

WALKED = [
    # pattern, path, is a folder, anchored, at any depth
    ("s?c/", "src", False, False, False),
    ("s?c/", "src", True, True, True),
    ("s?c/", "src/x", False, True, True),
    ("s?c/", "a/src", True, False, True),
    ("s?c/", "a/src/x", False, False, True),
    ("s?c/", "a/src", False, False, False),
    ("s?c", "src", False, True, True),
    ("s?c", "src/x/y", False, True, True),
    ("s?c", "a/src/y", False, False, True),
    ("s?c/**", "src", False, False, False),
    ("s?c/**", "src", True, True, True),
    ("s?c/**", "src/x", False, True, True),
    ("s?c/*", "src", True, False, False),
    ("s?c/*", "src", False, False, False),
    ("s?c/*/x", "src/a/x", False, True, True),
    ("s?c/*/x", "src/a/b/x", False, False, False),
    ("s?c/**/x", "src/x", False, True, True),
    ("s?c/**/x", "src/a/b/x", False, True, True),
    ("s?c/**/x/", "src/a/x", False, False, False),
    ("s?c/**/x/", "src/a/x", True, True, True),
    ("s?c/**/**/x", "src/x", False, True, True),
    ("s?c/**/y", "src", True, False, False),
    ("s?c/**", "other", True, False, False),
    ("s?c/a/**", "src", True, False, False),
    ("**/s?c/", "a/b/src", True, True, True),
    ("**/s?c", "a/src/b", False, True, True),
    ("**/a?/**/b", "x/a1/y/b", False, True, True),
    ("**/a?/**/b", "x/a1/y/c", False, False, False),
    ("*", "a", False, True, True),
    ("*/b", "a/b", False, True, True),
    ("*/b", "b", False, False, False),
    ("*/b", "x/a/b", False, False, True),
    ("**", "a", False, True, True),
    ("**/", "a", False, False, False),
    ("**/", "a", True, True, True),
    ("**/", "a/b", False, True, True),
    ("src/.", "src", False, False, False),
    ("src/.", "src", True, True, True),
    ("src/.", "src/x", False, True, True),
    ("src/x.", "src/x.", False, True, True),
    ("src//x", "src/x", False, True, True),
    ("lib/***", "lib/a/b", False, True, True),
    ("src", "src", True, True, True),
    ("src/", "src", True, True, True),
    ("src/", "a/src", True, False, True),
    ("src/**", "src", True, True, True),
    ("src", "xsrc", False, False, False),
    ("src", "srcx", False, False, False),
    ("a/b", "x/a/b", False, False, True),
    ("a/b", "x/a/b/c", False, False, True),
    ("a/b", "xa/b", False, False, False),
    ("a\\/b", "a/b", False, True, True),
    ("a\\/b", "x/a/b", False, False, True),
    ("a\\/b?", "a/bc/d", False, True, True),
]


@pytest.mark.parametrize(("pattern", "path", "folder", "anchored", "anywhere"), WALKED)
def test_names_folders_and_depths(
    pattern: str, path: str, folder: bool, anchored: bool, anywhere: bool
) -> None:
    name = path.encode()
    for at_top, expected in ((True, anchored), (False, anywhere)):
        glob = compile_glob(pattern, anchored=at_top)
        assert glob.matches(name, folder=folder) is expected
        slow = glob._replace(needle=None)  # the quick way for literal patterns says the same
        assert slow.matches(name, folder=folder) is expected
        first = Globs([pattern], anchored=at_top).first(name, folder=folder)
        assert first == (pattern if expected else None)
    if not folder:
        glob = compile_glob(pattern, anchored=True)
        assert glob.matches(name) is anchored
        assert Globs([pattern], anchored=True).first(name) == (pattern if anchored else None)


ONE_NAME = [
    ("a*b", "ab", True),
    ("a*b", "aXb", True),
    ("a*a", "a", False),
    ("a*a", "aa", True),
    ("ab*bc", "abc", False),
    ("ab*bc", "abbc", True),
    ("ab*c", "zbc", False),
    ("ab*c", "abz", False),
    ("*", "", True),
    ("*c", "c", True),
    ("a*", "a", True),
    ("a?*", "a", False),
    ("a?*", "ab", True),
    ("?*?", "a", False),
    ("?*?", "ab", True),
    ("*a*b*", "xxaxxbxx", True),
    ("*a*b*", "b a", False),
    ("a*b*a", "aba", True),
    ("a*b*b", "ab", False),
    ("*ab*ab", "abab", True),
    ("*ab*ab", "aab", False),
    ("a*?*", "a", False),
    ("**a", "xa", True),
    ("[a-c]*", "b1", True),
    ("[a-c]", "d", False),
    ("[a-c]", "a", True),
    ("[a-c]", "c", True),
    ("[!a-c]", "d", True),
    ("[!a-c]", "a", False),
    ("[^x]", "x", False),
    ("[!!]", "!", False),
    ("[]]", "]", True),
    ("[!]]", "]", False),
    ("[!]]", "x", True),
    ("[a:b:]", ":", True),
    ("[a:b:]", "b", True),
    ("[a:alpha:]", "h", True),
    ("[a:alpha:]", "z", False),
    ("[]]x[[:digit:]]", "]x5", True),
    ("[]]x[[:digit:]]", "]x:", False),
    ("[][:alpha:]]", "]", True),
    ("[][:alpha:]]", "z", True),
    ("[a-]x", "-x", True),
    ("[a-]x", "ax", True),
    ("[a-]x", "bx", False),
    ("[a-]", "-", True),
    ("[a-]", "a", True),
    ("[a-]", "b", False),
    ("[-a]", "-", True),
    ("[-a]", "b", False),
    ("[a-c-e]", "-", True),
    ("[a-c-e]", "d", False),
    ("[a-c-e]", "e", True),
    ("[c-a]", "b", False),
    ("[a\\-c]", "b", False),
    ("[a\\-c]", "-", True),
    ("[\\]]", "]", True),
    ("[\\]a]", "a", True),
    ("[a\\]b]", "]", True),
    ("[a\\]b]", "b", True),
    ("[\\[:alpha:]", ":", True),
    ("[\\[:alpha:]", "z", False),
    ("[a-\\c]", "b", True),
    ("[[]", "[", True),
    ("[[:alpha:]1]", "1", True),
    ("[[:alpha:]1]", "z", True),
    ("[[:alpha:]1]", "2", False),
    ("[[:digit:]-z]", "-", True),
    ("[[:digit:]-z]", "y", False),
    ("[[:digit:]-z]", "5", True),
    ("[![:digit:]]", "5", False),
    ("[![:digit:]]", "a", True),
    ("[[:x]", ":", True),
    ("[[:x]", "[", True),
    ("[[:]", "[", True),
    ("[[:]a]", ":a]", True),
    ("[/a]", "a", True),
    ("\\a", "a", True),
    ("\\?", "?", True),
    ("\\?", "a", False),
    ("a\\*", "a*", True),
    ("a\\\\", "a\\", True),
    ("\u00e9?", "\u00e9x", True),
]


@pytest.mark.parametrize(("pattern", "name", "expected"), ONE_NAME)
def test_one_name(pattern: str, name: str, expected: bool) -> None:
    assert compile_glob(pattern, anchored=True).matches(name.encode()) is expected


CLASSES = {
    "alnum": "09AZaz",
    "alpha": "AZaz",
    "blank": " \t",
    "cntrl": "\x00\x1f\x7f",
    "digit": "09",
    "graph": "!~A0",
    "lower": "az",
    "print": " ~",
    "punct": "!,:;@[`{~",
    "space": " \t\n\v\f\r",
    "upper": "AZ",
    "xdigit": "09AFaf",
}
ASCII = [chr(n) for n in range(128) if chr(n) != "/"]


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_over_every_character(name: str) -> None:
    import string

    expected = {
        "alnum": string.ascii_letters + string.digits,
        "alpha": string.ascii_letters,
        "blank": " \t",
        "cntrl": "".join(map(chr, range(32))) + "\x7f",
        "digit": string.digits,
        "graph": string.ascii_letters + string.digits + string.punctuation,
        "lower": string.ascii_lowercase,
        "print": string.ascii_letters + string.digits + string.punctuation + " ",
        "punct": string.punctuation,
        "space": string.whitespace,
        "upper": string.ascii_uppercase,
        "xdigit": string.hexdigits,
    }[name]
    glob = compile_glob(f"[[:{name}:]]", anchored=True)
    found = {c for c in ASCII if glob.matches(c.encode())}
    assert found == set(expected) - {"/"}
    assert not glob.matches(b"\x80")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("a\\", "ends in a lone backslash"),
        ("[", "holds a '[' without its ']'"),
        ("[a", "holds a '[' without its ']'"),
        ("[]", "holds a '[' without its ']'"),
        ("[!", "holds a '[' without its ']'"),
        ("[!]", "holds a '[' without its ']'"),
        ("[a-", "holds a '[' without its ']'"),
        ("[a\\", "holds a '[' without its ']'"),
        ("[[:alpha:", "holds a '[' without its ']'"),
        ("[[:alpha:]", "holds a '[' without its ']'"),
        ("[[:nope:]]", "holds an unknown class [:nope:]"),
        ("[[::]]", "holds an unknown class [::]"),
        ("[[:Alpha:]]", "holds an unknown class [:Alpha:]"),
        ("[[:caf\u00e9:]]", "holds an unknown class [:caf\u00c3\u00a9:]"),
    ],
)
def test_patterns_that_cannot_match(pattern: str, why: str) -> None:
    with pytest.raises(GlobError) as caught:
        compile_glob(pattern, anchored=True)
    assert str(caught.value) == why
    assert why_not(pattern) == why


@pytest.mark.parametrize(
    ("pattern", "word"),
    [
        (None, "string"),
        (4, "string"),
        (b"a", "string"),
        ("", "empty"),
        (" \t", "empty"),
        ("!a", "'!'"),
        ("/a", "absolute"),
        ("/", "absolute"),
        ("a\0b", "NUL"),
        ("..", "'..'"),
        ("a/../b", "'..'"),
        ("a/..", "'..'"),
        (".", "names nothing"),
        ("./", "names nothing"),
        (".//.", "names nothing"),
    ],
)
def test_why_a_pattern_is_refused(pattern: object, word: str) -> None:
    assert word in (why_not(pattern) or "")


@pytest.mark.parametrize("pattern", ["a", "a!", "..a", "a..", "a/...", "\\!a", "#", "**", "a/./b"])
def test_what_looks_odd_and_is_fine(pattern: str) -> None:
    assert why_not(pattern) is None


def test_a_lone_surrogate_that_is_no_byte_is_refused() -> None:
    assert why_not("\ud800") is not None


ENTERS = [
    ("build/out/x", "build", True, True),
    ("build/out/x", "build/out", True, True),
    ("build/out/x", "build/out/x", True, True),
    ("build/out/x", "build/out/x/y", True, True),
    ("build/out/x", "other", False, False),
    ("build/out/x", "a/build", False, True),
    ("build/out/x", "a/build/other", False, False),
    ("build/out/x", "out", False, False),
    ("build/*.o", "build", True, True),
    ("build/*.o", "build/x", True, True),
    ("build/?/x", "build/q", True, True),
    ("build/?/x", "x", False, False),
    ("build/*/x", "x", False, False),
    ("build/**/x", "build/a/b", True, True),
    ("build/**/x", "x", False, False),
    ("**/build/x", "a/b/build", True, True),
    ("**/build/x", "a/b", False, False),
    ("*.pem", "a", False, False),
    ("?/a", "a", False, False),
    ("**", "a", False, False),
    ("**/**/a", "x/a", True, True),
]


@pytest.mark.parametrize(("pattern", "folder", "anchored", "anywhere"), ENTERS)
def test_where_a_patterns_literal_part_leads(
    pattern: str, folder: str, anchored: bool, anywhere: bool
) -> None:
    name = folder.encode()
    assert compile_glob(pattern, anchored=True).enters(name) is anchored
    assert compile_glob(pattern, anchored=False).enters(name) is anywhere
    several = Globs(["zzz/y", pattern], anchored=True)
    assert several.enters(name) is anchored


def test_several_patterns() -> None:
    globs = Globs(["a", "b?", "b1"], anchored=True)
    assert [globs.first(name) for name in (b"a", b"b1", b"c")] == ["a", "b?", None]
    assert globs
    assert not Globs([], anchored=True)
    assert not Globs([], anchored=True).enters(b"a")


def test_a_literal_pattern_is_matched_as_a_whole_string() -> None:
    assert compile_glob("src/a", anchored=True).needle == b"/src/a"
    assert compile_glob("src/a/", anchored=False).needle == b"/src/a/"
    assert compile_glob("src/**", anchored=True).needle == b"/src/"
    assert compile_glob("src/a/**", anchored=True).needle == b"/src/a/"
    for text in ("s?c", "s*c", "src/*/a", "**", "**/a", "a/**/b"):
        assert compile_glob(text, anchored=True).needle is None


@pytest.mark.parametrize("anchored", [True, False])
def test_a_pattern_that_names_nothing_matches_nothing(anchored: bool) -> None:
    glob = compile_glob(".", anchored=anchored)
    assert (glob.parts, glob.needle) == ((), None)


def test_a_compiled_pattern() -> None:
    glob = compile_glob("a/b/", anchored=False)
    assert isinstance(glob, Glob)
    assert (glob.text, glob.folder_only, glob.anchored) == ("a/b/", True, False)
    assert glob.parts[0] is None
    assert compile_glob("a/b", anchored=True).folder_only is False


@pytest.mark.parametrize(
    "pattern",
    [
        "tests/**",
        "*.test.js",
        "a*b",
        "**/conftest.py",
        "[ab]*",
        "src/*/x?",
        "a/**/b",
        "./a//b",
        "d/",
    ],
)
@pytest.mark.parametrize("anchored", [True, False])
def test_among_many_paths_are_those_that_it_covers_one_by_one(pattern: str, anchored: bool) -> None:
    names = ("a", "b", "d", "ab", "x1", "tests", "src", "conftest.py", "y.test.js", "axb")
    paths = ["/".join(parts).encode() for n in (1, 2, 3) for parts in product(names, repeat=n)]
    globs = Globs([pattern, "y*"], anchored=anchored)
    covered = {path for path in paths if globs.first(path) is not None}
    assert globs.among(paths) == covered
    assert covered
    assert Globs([], anchored=anchored).among(paths) == set()


@pytest.mark.parametrize(
    ("pattern", "folder", "named"),
    [
        ("lib/**", "lib", True),
        ("lib", "lib", True),
        ("lib/", "lib", True),
        ("lib/a.js", "lib", True),
        ("lib/gen/*.py", "lib", True),
        ("lib/gen/*.py", "lib/gen", True),
        ("packages/*/lib/**", "packages/a/lib", True),
        ("packages/*/lib/**", "packages/lib", False),
        ("packages/*/lib/**", "other/a/lib", False),
        ("lib*/**", "lib", False),
        ("l?b", "lib", False),
        ("**", "lib", False),
        ("*", "lib", False),
        ("**/lib", "lib", False),
        ("src/**", "src/lib", False),
        ("src/*", "src/lib", False),
        ("src/**/lib/**", "src/lib", False),
        ("src/lib/**", "lib", False),
        ("library/**", "lib", False),
    ],
)
def test_whether_a_pattern_spells_a_folders_name(pattern: str, folder: str, named: bool) -> None:
    name = folder.encode()
    assert compile_glob(pattern, anchored=True).names_folder(name) is named
    assert not compile_glob(pattern, anchored=False).names_folder(name)
    assert Globs(["docs/**", pattern], anchored=True).names_folder(name) is named
