"""Files without tests that node's own runner counts as tests.

``node --test`` starts each file and counts a file that registers no test as one test named after it
(recorded with node 20: spec, tap, junit). A script that ends with an error when it fails is honest;
a file that was emptied, or never reaches its tests, shows nothing.
"""

from __future__ import annotations

import re
from itertools import takewhile

from flow.core.masked_exit.shell import base_name
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_SUFFIX = r"\.[cm]?[jt]sx?"
_FILE = re.compile(
    rf"(?:✔|ok [0-9]{{1,9}} -) (\S.*{_SUFFIX})(?: \([0-9.]+ms\))?"
    rf'|\t<testcase name="([^"]*{_SUFFIX})" time="[0-9.]+" classname="test"/>'
)
_PASSED = re.compile(r"(?:ℹ|#|\t<!--) pass ([0-9]{1,9})(?: -->)?")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\A#![^\n]*", re.DOTALL)
_DIRECTIVE = re.compile(r"""["']use strict["']|[\s;]""")
_MODULE = "node:test"
_ONLY_MOCK = re.compile(r"\{\s*mock\s*\}")


class CountedFiles(NamedTuple):
    """The files that node counted as tests."""

    names: tuple[str, ...] = ()
    """As node prints them."""
    alone: bool = False
    """Whether nothing else passed."""


def files_as_tests(lines: Sequence[str]) -> CountedFiles:
    """The files that node counted as tests.

    An older node also counts files that have tests; those tests follow as indented lines, and
    there are no names then.
    """
    counts = [int(match[1]) for match in map(_PASSED.fullmatch, lines) if match is not None]
    if not sum(counts) or any(map(_is_nested, lines)):
        return CountedFiles()
    names = [match[1] or match[2] for match in map(_FILE.fullmatch, lines) if match is not None]
    return CountedFiles(tuple(names), len(names) == sum(counts))


def _is_nested(line: str) -> bool:
    depth = sum(1 for _ in takewhile(str.isspace, line))
    text = line[depth:]
    return depth > 0 and text.startswith(("ok ", "not ok ", "✔", "✖", "﹣"))


_REGISTERED = re.compile(r"^(?:await\s+)?(?:test|it|describe|suite)(?:\.\w+)?\(", re.MULTILINE)


def registers_tests(source: str) -> bool:
    """Whether a file surely registers a test when it is loaded, and so should have told of it."""
    code = _COMMENT.sub(" ", source)
    return _MODULE in code and _REGISTERED.search(code) is not None


def holds_no_test(source: str) -> bool:
    """Whether a file without registered tests shows nothing: blank, or meant to hold tests."""
    code = _COMMENT.sub(" ", source)
    meant = _MODULE in code and _ONLY_MOCK.search(code) is None
    return meant or not _DIRECTIVE.sub("", code)


_NAMED = re.compile(r"^(?:await\s+)?(?:test|it)\(\s*([\"'])([\w ,.:()/+-]+)\1", re.MULTILINE)
_TEMPLATE = re.compile(r"`(?:\\.|[^`\\])*`", re.DOTALL)
_CHOOSES = re.compile(
    r"--test-(?!reporter=(?:tap|spec|junit)$|concurrency|timeout|force).*|--watch.*"
)
"""Options with which node runs a part of the tests, or may print no names."""
_SHOWS_NAMES = re.compile(r"(?:# Subtest: |ok \d+ - |✔ |\t<testcase name=)\S")
FOUND_NAMES = re.compile(r"(?:.+[.\-_]test|test(?:-.+)?)\.[cm]?js")
"""Names of files that node looks for by itself; in folders called ``test`` it finds others, too."""


def tested_files(words: Sequence[str]) -> tuple[str, ...] | None:
    """The files and folders that ``node --test`` is given; None if that is not all that it runs."""
    if base_name(words[0]) != "node" or "--test" not in words:
        return None
    if any(map(_CHOOSES.fullmatch, words)):
        return None
    return tuple(word for word in words[1:] if not word.startswith("-"))


def untold_test(source: str, lines: Sequence[str]) -> str:
    """The first test that a file surely registers and that node's report does not name; or empty.

    Code under test ended the file with 0 before it. A report without names shows none.
    """
    if not registers_tests(source) or not any(map(_SHOWS_NAMES.match, lines)):
        return ""
    code = _TEMPLATE.sub("", _COMMENT.sub(" ", source))
    if "`" in code:  # one in a text or a pattern: what is code is not certain
        return ""
    text = "\n".join(lines)
    names = (name for _, name in _NAMED.findall(code))
    return next((name for name in names if name not in text), "")
