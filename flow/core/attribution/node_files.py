"""Files without tests that node's own runner counts as tests.

``node --test`` starts each file and counts a file that registers no test as one test named after it
(recorded with node 20: spec, tap, junit). A script that ends with an error when it fails is honest;
a file that was emptied, or never reaches its tests, shows nothing.
"""

from __future__ import annotations

import re
from itertools import takewhile

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
