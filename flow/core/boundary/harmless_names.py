"""Files that commands may leave behind without steering a later run (SPEC 4).

The tables list harmless files: caches, build folders, reports, logs, data. Every other new file,
sources, scripts and settings among them, is a change like any other. The rule uses names, because
languages, test runners and build tools find their inputs by name, too.
"""

from __future__ import annotations

from flow.core.boundary.changes import FOLDER, GITLINK, LINK, REGULAR, SPECIAL_MODES

_EXECUTABLE = "100755"

CACHE_FOLDERS = frozenset(
    (
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        ".import_linter_cache",
        ".tox",
        ".nox",
        ".nyc_output",
        ".gradle",
        "htmlcov",
    )
)
"""Folders that tools rewrite at will. Once Flow's commands made one, its content may change."""

CACHE_FILES = (".tsbuildinfo",)
CACHE_NAMES = frozenset((".coverage", "coverage.xml", "coverage.json", "lcov.info", ".eslintcache"))

OUTPUT_FOLDERS = frozenset(
    (
        # any language
        "build", "dist", "target", "out", "_build", "coverage", "htmlcov", ".cache", "test-reports",
        "test-results", "test_results", "testresults", "allure-results", "allure-report",
        # Python: setuptools, pytest-benchmark, pytype, Pyre, Jupyter
        ".eggs", ".benchmarks", ".pytype", ".pyre", ".ipynb_checkpoints",
        # JavaScript: bundlers, frameworks, runners
        ".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".vite", ".vitest",
        ".jest-cache", ".swc", ".angular", ".astro", "playwright-report", "blob-report",
        "storybook-static",
        # C, C++, .NET, Zig, Swift
        "cmakefiles", "obj", "zig-out", "zig-cache", ".zig-cache", ".build",
        # JVM, Haskell, Elixir, Dart, PHP, Nim
        ".bsp", ".bloop", ".metals", ".stack-work", "dist-newstyle", ".dart_tool", ".cpcache",
        ".phpunit.cache", "nimcache",
    )
)  # fmt: skip
"""Folders that build tools and runners write to by their defaults (2026-11); in lower case."""
_OUTPUT_STARTS = ("cmake-build-",)
_OUTPUT_ENDS = (".egg-info", ".xcresult", ".dsym")

DATA = frozenset(
    (
        # logs and printed output
        "log", "out", "err", "stdout", "stderr", "tap", "trace", "pid", "sock", "tmp", "temp",
        # reports and measurements
        "html", "htm", "sarif", "junit", "csv", "tsv", "prof", "pstats", "lprof", "cov", "cover",
        "coverprofile", "profraw", "profdata", "gcda", "gcno", "gcov", "info", "exec", "jfr",
        "hprof", "snap", "ambr",
        # pictures and documents
        "png", "jpg", "jpeg", "gif", "webp", "svg", "webm", "mp4", "pdf",
        # data
        "db", "sqlite", "sqlite3", "dat", "bin", "parquet", "npy", "npz", "gz", "tgz", "zip",
        # compilers' output next to a source
        "o", "obj", "a", "class", "hi", "beam", "cmi", "cmo", "cmx", "rlib", "rmeta", "tsbuildinfo",
    )
)  # fmt: skip
"""Endings that no language, runner or build tool reads as code or settings."""

REPORTS = frozenset(
    (
        "report", "reports", "result", "results", "coverage", "cov", "output", "out", "log", "logs",
        "trace", "stats", "metrics", "bench", "benchmark", "benchmarks", "summary", "timings",
        "durations", "ctrf", "profile", "events", "findings", "audit", "sarif", "junit", "xunit",
        "nosetests", "cobertura", "clover", "jacoco", "checkstyle", "pytest", "unittest", "unit",
    )
)  # fmt: skip
"""Words that name a report; a name needs one if its ending may also be that of settings."""
_REPORT_ENDINGS = frozenset(("json", "jsonl", "ndjson", "xml", "md"))
_SETTINGS = frozenset(("config", "conf", "settings", "package", "tsconfig", "jsconfig", "rc"))
_TEXT_SETTINGS = ("cmakelists", "requirements", "constraints", "manifest", "runtime")

NAMES = frozenset(
    (
        *CACHE_NAMES, ".phpunit.result.cache", ".rspec_status", ".testmondata", ".stylelintcache",
        ".last-run.json", ".ds_store", "core",
        "cargo.lock",  # cargo makes it, and it names only what the manifest names
    )
)  # fmt: skip

_LOADED = frozenset(("conftest", "sitecustomize", "usercustomize"))
"""Python modules that are imported implicitly."""
_COLLECTED = frozenset(("py", "go"))
"""Endings that pytest and go collect in every folder except ``_NOT_COLLECTED``."""
_NOT_COLLECTED = frozenset(("build", "dist"))

_FLOWS = (
    ".flow/goals/", ".flow/defaults.", ".flow/rubrics/", ".flow/runners.yaml", ".claude/",
    "skills/judge/rubrics/", "skills/judge/judge-config.json",
)  # fmt: skip
"""Files of a checkout that Flow itself reads."""


def is_harmless(path: str, mode: str) -> bool:
    """Whether a new file of this name and mode cannot steer Flow or a later run of commands.

    ``mode`` is as in ``ContentState``; a nested repository counts as all of its content.
    """
    path = path.lower()
    if path.startswith(_FLOWS):
        return False
    *folders, name = path.split("/")
    stem, _, ending = name.rpartition(".")
    if any(f in CACHE_FOLDERS and f not in OUTPUT_FOLDERS for f in folders):
        return True
    if stem.partition(".")[0] in _LOADED or ending == "pth":
        return False
    if any(map(_is_output, folders)):
        return ending not in _COLLECTED or not _NOT_COLLECTED.isdisjoint(folders)
    if mode in (FOLDER, GITLINK):
        return False
    if name in NAMES or name.startswith(".coverage.") or mode in SPECIAL_MODES:
        return True
    if mode == LINK and name.startswith("bazel-"):
        return True
    return ending == "test" if mode == _EXECUTABLE else bool(stem) and _is_data(stem, ending)


_REPORT_FORMS = frozenset(("xml", "json", "jsonl", "ctrf"))
_STEERING = _SETTINGS | frozenset(
    (
        # Maven, Ant, Ivy, TestNG, Spring, Java EE, logging, Android
        "pom", "build", "ivy", "testng", "spring", "beans", "context", "applicationcontext",
        "persistence", "web", "logback", "log4j", "log4j2", "androidmanifest", "manifest",
        # PHP, Deno, Jasmine, Cypress, Karma, Playwright, Nx, Lerna, Turborepo, Angular, Biome
        "phpunit", "composer", "deno", "jasmine", "cypress", "karma", "playwright", "nx", "lerna",
        "turbo", "angular", "biome", "babel", "eslint", "tslint", "bower", "nodemon", "workspace",
        "project", "lock", "plugin", "schema", "jest", "vitest", "vite", "mocharc",
        # .NET, editors
        "global", "nuget", "directory", "launch", "launchsettings", "appsettings", "tasks",
        "extensions",
    )
)  # fmt: skip
"""Words in the names of settings in XML and JSON (the tools' own pages, 2026-11)."""


def is_report(path: str, mode: str) -> bool:
    """Whether a file that a contract names as a report can be one, and cannot steer a run.

    Its format decides (JUnit is XML, CTRF is JSON), so the name need not look like a report.
    """
    if is_harmless(path, mode):
        return True
    path = path.lower()
    name = path.rpartition("/")[2]
    stem, _, ending = name.rpartition(".")
    if mode != REGULAR or path.startswith(_FLOWS) or name.startswith("."):
        return False
    words = "".join(c if c.isalnum() else " " for c in stem).split()
    return bool(words) and ending in _REPORT_FORMS and _STEERING.isdisjoint(words)


def _is_output(folder: str) -> bool:
    return (
        folder in OUTPUT_FOLDERS
        or folder.startswith(_OUTPUT_STARTS)
        or folder.endswith(_OUTPUT_ENDS)
    )


def _is_data(stem: str, ending: str) -> bool:
    """Whether ``stem.ending``, which is no program, holds data."""
    if ending in DATA:
        return True
    if ending == "txt":
        return not any(word in stem for word in _TEXT_SETTINGS)
    if ending not in _REPORT_ENDINGS:
        return False
    words = set("".join(c if c.isalnum() else " " for c in stem).split())
    if ending == "xml" and stem.startswith("test-"):
        return True  # the names that JUnit's ant task gives
    return not words.isdisjoint(REPORTS) and words.isdisjoint(_SETTINGS)
