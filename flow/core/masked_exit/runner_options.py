"""Options with which a test runner runs no test: data of November 2026, from their help texts."""

from __future__ import annotations

from flow.core.masked_exit.runner_tables import SAME
from flow.core.masked_exit.runner_words import operands, tests_by_name
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.core.masked_exit.runner_names import Runner

_OPTIONS = {
    "go test": ("-list", "-c"), "cargo test": ("--no-run",), "nextest": ("--no-run",),
    "rspec": ("--dry-run",), "mocha": ("--dry-run",), "ginkgo": ("--dry-run",),
    "robot": ("--dryrun",), "pabot": ("--dryrun",), "trial": ("--dry-run", "-n"),
    "nosetests": ("--collect-only",), "nose2": ("--collect-only",), "stestr": ("--list",),
    "turbo": ("--dry-run", "--dry", "--graph"), "nx": ("--graph",),
    "scons": (
        "-n", "--no-exec", "--just-print", "--dry-run", "--recon", "-c", "--clean", "-h", "-H",
    ),
    "ant": ("-projecthelp", "-p", "-diagnostics", "-h"), "cargo": ("--no-run",),
    "cabal": ("--dry-run",), "zig": ("--test-no-exec",), "ward": ("--dry-run",),
    "zope-testrunner": ("--list-tests",), "testcafe": ("--list-browsers", "-b"),
    "kaocha": ("--print-config", "--print-test-plan"), "artisan": ("--list-tests",),
    "cucumber": ("--dry-run", "-d"), "behave": ("--dry-run", "-d"), "behat": ("--dry-run",),
    "prove": ("--dry", "-D"), "bats": ("--count", "-c"), "crystal": ("--dry-run",),
    "lit": ("--show-tests",), "llvm-lit": ("--show-tests",), "deno test": ("--no-run",),
    "swift test": ("--list-tests", "-l"), "stack": ("--no-run-tests",), "meson": ("--list",),
    "tox": (
        "--notest", "-n", "--listenvs", "-l", "--listenvs-all", "-a", "-av", "--showconfig", "-h",
    ),
    "nox": ("--list", "-l", "--install-only", "-h"), "hatch test": ("--show", "-s", "-h"),
    "ninja": ("-n", "--dry-run", "-h"),
    "just": (
        "-n", "--dry-run", "--list", "-l", "--show", "-s", "--usage", "--dump", "--summary", "-h",
        "--evaluate", "--variables",
    ),
    "task": ("--dry", "-n", "--list", "-l", "--list-all", "-a", "--summary", "--status", "-h"),
    "rake": (
        "--dry-run", "-n", "--tasks", "-T", "--prereqs", "-P", "--where", "-W", "--describe", "-D",
        "-H",
    ),
    "invoke": ("--dry", "-R", "--list", "-l", "-h"), "bazel": ("--nobuild",),
    "xcodebuild": ("-dry-run",), "doit": ("-h",),
    "mvn": ("-DskipTests", "-Dmaven.test.skip", "-Dmaven.test.skip.exec", "-v", "-h"),
    "gradle": ("-m", "--dry-run", "-v", "-h", "-?", "--status", "--stop"),
    "npm": ("-v", "-h"),
}  # fmt: skip
"""Options with which a runner ends as after a run, and may report passed tests, without running
any; the long ones may be shortened, and spelled with other hyphens and capitals.
"""
_SUBCOMMANDS = {
    "tox": (
        "list", "l", "config", "c", "depends", "de", "devenv", "d", "quickstart", "q", "schema",
        "man",
    ),
    "codecept": ("dry-run", "build", "bootstrap", "clean", "init"),
    "codeceptjs": ("dry-run", "list", "init", "def", "info"),
    "elm-test": ("init", "install", "make"),
    "stestr": ("last", "list", "load", "failing", "slow", "history", "init"),
    "avocado": ("list", "jobs", "config", "plugins", "variants", "diff"),
    "jasmine": ("init", "examples", "enumerate"), "phpspec": ("describe", "d"),
}  # fmt: skip
"""Operands with which a runner runs no test, where they come first."""
_ONLY_FAILED = {
    "pytest": ("--lf", "--last-failed", "--sw", "--stepwise", "--sw-skip", "--stepwise-skip"),
    "jest": ("--onlyFailures", "-f"), "rspec": ("--only-failures", "--next-failure", "-n"),
    "ctest": ("--rerun-failed",), "playwright": ("--last-failed",), "mix test": ("--failed",),
    "stestr": ("--failing",), "robot": ("--rerunfailed", "--rerunfailedsuites", "-R", "-S"),
    "pabot": ("--rerunfailed",), "bats": ("--filter-status",), "prove": ("--state=failed",),
    "nosetests": ("--failed",), "nextest": ("--rerun",), "node --test": ("--test-rerun-failures",),
}  # fmt: skip
"""Options with which a runner leaves out the tests that passed in an earlier run, on other files.
"""
_GRADLE_VALUES = {"--tests", "-p", "--project-dir", "-b", "-c", "-I", "--init-script", "-g"}
"""Options of gradle that take the next word."""
_OF_ALL = ("--help", "--version")
"""Options with which no runner runs a test."""
_OF_RUNNERS = (
    "--collect-only", "--co", "--fixtures", "--markers", "--setup-plan", "--listTests",
    "--list-tests", "--dry-run",
)  # fmt: skip
"""Options with which no runner that itself runs tests runs one."""


def starts_if_there(runner: Runner) -> bool:
    """Whether it ends with 0 if the project has no such script (npm's ``--if-present``)."""
    return "--if-present" in runner.words and runner.name.startswith(("npm ", "pnpm "))


def option_without_tests(runner: Runner) -> str:
    """The option with which a runner ends as after a run, and runs no test; empty if there is none.

    A command that also builds the project (``mvn package -DskipTests``) is no check then.
    """
    first, _, target = runner.name.partition(" ")
    first = SAME.get(first, first)
    if first in ("mvn", "gradle") and not tests_by_name(target.replace("surefire:", "")):
        return ""
    more = _OF_RUNNERS if runner.form else ()
    keys = (runner.form, runner.name, first)
    options = (*(word for key in keys for word in _OPTIONS.get(key, ())), *more, *_OF_ALL)
    word = next(operands(runner.words[1:]), ("", ""))[0]
    if word in _SUBCOMMANDS.get(first, ()):
        return word
    words = [word or "" for word in runner.words[1:]]
    end = words.index("--") if "--" in words else len(words)
    for word in words[:end]:
        if any(_is_option(word, option) for option in options):
            return word
    return _exclusion_of_tests(words[:end]) if first == "gradle" else ""


def option_for_failed(runner: Runner) -> str:
    """The option with which a runner only repeats what failed before; empty if there is none."""
    options = _ONLY_FAILED.get(runner.form) or _ONLY_FAILED.get(runner.name, ())
    words = [word or "" for word in runner.words[1:]]
    own = words[: words.index("--") if "--" in words else len(words)]
    return next((word for word in own if {word.split("=")[0], word.split(",")[0]} & {*options}), "")


def _exclusion_of_tests(words: Sequence[str]) -> str:
    """The option by which gradle excludes every requested test task; empty if there is none.

    ``check -x test`` still runs the other tasks of ``check``.
    """
    asked, left_out, option = set(), set(), ""
    rest = iter(words)
    for word in rest:
        if word in ("-x", "--exclude-task"):
            left_out.add(task := next(rest, ""))
            option = option or f"{word} {task}"
        elif word.startswith(("-x", "--exclude-task=")):
            left_out.add(word.removeprefix("--exclude-task=").removeprefix("-x"))
            option = option or word
        elif word in _GRADLE_VALUES:
            next(rest, "")
        elif not word.startswith("-") and tests_by_name(word):
            asked.add(word.rpartition(":")[2])
    left_out = {task.rpartition(":")[2] for task in left_out}
    return option if asked and asked <= left_out else ""


def _is_option(word: str, option: str) -> bool:
    """Whether ``word`` is the option, possibly shortened, and not set to false."""
    name, _, value = word.partition("=")
    if value.lower() in ("false", "0"):
        return False
    if option in (name, name.replace("--", "-", 1)):
        return True
    given, full = (text.replace("-", "").lower() for text in (name, option))
    both = option.startswith("--") and name.startswith("--")
    return both and len(given) > 2 and full.startswith(given)
