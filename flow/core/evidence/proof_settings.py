"""Files that the settings of a test runner name: plugins, files of set-up, scripts, shared rules.

Only settings whose paths are hardly ever the work itself are read whole; of the others, the values
of the keys that name code or rules.
"""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatchcase

from flow.core.evidence.proof_words import joined_path
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class NamingSettings(NamedTuple):
    """Settings files by their names, and the part of their text that names files."""

    files: tuple[str, ...]
    part: str = ""
    """A pattern with one group; empty: all of the text."""
    modules: bool = False
    """Whether the part has the dotted names of Python's modules."""
    plain: bool = False
    """Whether names without a folder count: of scripts, or each word of the part."""


_VALUE = r"""\s*[:=]\s*(\[[^\]]*\]|\{[^{}]*\}|"[^"]*"|'[^']*')"""
_KEYS = (
    r"""\b(?:setupFiles|setupFilesAfterEnv|globalSetup|globalTeardown|testEnvironment|runner"""
    r"""|resolver|reporters|snapshotSerializers|snapshotResolver|testSequencer|transform|preset)"""
    r"""["']?""" + _VALUE
)
SETTINGS = (
    NamingSettings(
        (
            "tox.ini", "tox.toml", "noxfile.py", "[Jj]ustfile", ".justfile", "[Tt]askfile.*",
            "tasks.py", "dodo.py", "[Rr]akefile*",
        ),
        plain=True,
    ),
    NamingSettings(
        (
            "jest.config.*", "vitest.config.*", ".mocharc*", "ava.config.*", ".taprc",
            "jasmine.json", "playwright.config.*", "cypress.config.*", "phpunit*.xml*",
            ".pre-commit-config.yaml", ".eslintrc*", "eslint.config.*", ".stylelintrc*",
            "behave.ini",
        )
    ),
    NamingSettings(("package.json", "vite.config.*"), _KEYS),
    NamingSettings(
        ("tsconfig*.json", "ruff.toml", ".ruff.toml", "pyproject.toml"),
        r"\bextends?\b[\"']?" + _VALUE,
    ),
    NamingSettings(("mypy.ini", ".mypy.ini", "pyproject.toml"), r"^plugins\s*=\s*(.+)$"),
    NamingSettings(("Cargo.toml",), r"\[\[(?:test|bench)\]\][^\[]*?\bpath" + _VALUE),
    NamingSettings(
        ("pyproject.toml", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg"),
        r"(?<![\w-])-p[ =]?([\w.]+)",
        modules=True,
    ),
    NamingSettings(
        ("pyproject.toml", "pytest.ini", ".pytest.ini", "pytest.toml", "tox.ini", "setup.cfg"),
        r"(?:^|[\s\"'=])@([\w.+-][\w./+-]*)(?=[\s\"']|$)",
        plain=True,
    ),
    NamingSettings(
        ("[Mm]akefile", "GNUmakefile", "*.mk"), r"^[-s]?include[ \t]+(.+)$", plain=True
    ),
    NamingSettings(
        ("compose*.y*ml", "docker-compose*.y*ml"),
        r"\b(?:dockerfile|env_file|entrypoint|command):[ \t]*(\S.*)$",
        plain=True,
    ),
    NamingSettings(
        ("*Dockerfile*", "Containerfile*"), r"^(?:CMD|ENTRYPOINT|RUN)[ \t]+(.+)$", plain=True
    ),
    NamingSettings(
        ("manage.py", "pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg"),
        r"DJANGO_SETTINGS_MODULE[\"']?\s*[=,]\s*[\"']?([\w.]+)",
        modules=True,
    ),
    NamingSettings(
        ("conftest.py",),
        r"^pytest_plugins\b[^=\n]*=\s*([\[(][^\])]*[\])]|[\"'][\w.]+[\"'])",
        modules=True,
    ),
)  # fmt: skip
"""Sources: each program's page on its settings, as of November 2026."""
_PATH = re.compile(r"(?<![\w!*@])[\w.+-]{0,255}(?:/[\w.+@-]{1,255}){1,64}(?![\w*/])")
"""Bounded, so that the time does not grow with the square of a text."""
_SCRIPT = re.compile(
    r"(?<![\w!*@/.-])\w[\w+-]*\.(?:py|sh|bash|js|mjs|cjs|ts|rb|pl|php|lua|sql|bats)(?![\w*/.])"
)
_BETWEEN = re.compile(r"[\s\"'\[\],;&|()]+")
_NO_PATH = re.compile(r"[$*?]|^-|://")
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")


def named_in_settings(path: str, read: Callable[[str], str | None]) -> Iterator[str]:
    """Paths that the settings file at ``path`` may name; not all of them exist.

    ``read`` gives its text. Of any other file there are none.
    """
    folder, name = posixpath.split(path)
    for row in SETTINGS:
        if not any(fnmatchcase(name, pattern) for pattern in row.files):
            continue
        text = read(path) or ""
        parts = re.findall(row.part, text, re.MULTILINE) if row.part else [text]
        for part in parts:
            words = _module_files(part, folder) if row.modules else _named_paths(part, row)
            for word in words:
                named = joined_path(folder, word.lstrip("/"))
                if named is not None:
                    yield named


def _named_paths(part: str, row: NamingSettings) -> list[str]:
    """The paths in a part of a settings file."""
    if row.plain and row.part:
        return [word for word in _BETWEEN.split(part) if word and not _NO_PATH.search(word)]
    return [*_PATH.findall(part), *(_SCRIPT.findall(part) if row.plain else ())]


def _module_files(text: str, folder: str) -> Iterator[str]:
    """The files of modules, looked for in ``folder``, at the top level and in ``src``."""
    up = posixpath.relpath(".", folder or ".")
    for module in _MODULE.findall(text):
        for start in dict.fromkeys((".", up, f"{up}/src")):
            stem = f"{start}/{module.replace('.', '/')}"
            yield from (f"{stem}.py", f"{stem}/__init__.py")
