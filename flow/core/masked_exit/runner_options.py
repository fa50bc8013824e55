"""Options with which a test runner runs no test: data of November 2026, of their own help texts."""

from __future__ import annotations

from itertools import pairwise

from flow.core.masked_exit.runner_tables import SAME
from flow.core.masked_exit.runner_words import tests_by_name
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.core.masked_exit.runner_names import Runner

_OPTIONS = {
    "go test": ("-list", "-c"), "cargo test": ("--no-run",), "nextest": ("--no-run",),
    "rspec": ("--dry-run",), "mocha": ("--dry-run",), "ginkgo": ("--dry-run",),
    "robot": ("--dryrun",), "pabot": ("--dryrun",), "trial": ("--dry-run", "-n"),
    "nosetests": ("--collect-only",), "nose2": ("--collect-only",), "stestr": ("--list",),
    "cucumber": ("--dry-run", "-d"), "behave": ("--dry-run", "-d"), "behat": ("--dry-run",),
    "prove": ("--dry", "-D"), "bats": ("--count", "-c"), "crystal": ("--dry-run",),
    "lit": ("--show-tests",), "llvm-lit": ("--show-tests",), "deno test": ("--no-run",),
    "swift test": ("--list-tests", "-l"), "stack": ("--no-run-tests",), "meson": ("--list",),
    "tox": ("--notest", "-n", "--listenvs", "-l", "--showconfig"),
    "nox": ("--list", "-l", "--install-only"),
    "ninja": ("-n", "--dry-run"), "just": ("-n", "--dry-run", "--list", "-l", "--show", "-s"),
    "task": ("--dry", "-n", "--list", "-l", "--summary"),
    "rake": ("--dry-run", "-n", "--tasks", "-T"),
    "invoke": ("--dry", "-R", "--list", "-l"), "bazel": ("--nobuild",), "xcodebuild": ("-dry-run",),
    "mvn": ("-DskipTests", "-Dmaven.test.skip", "-Dmaven.test.skip.exec"),
    "gradle": ("-m", "--dry-run", "-x test", "--exclude-task test"),
}  # fmt: skip
"""Options with which a runner ends as after a run, and may report tests that passed, though it has
run none; the long ones may be shortened, and written with other hyphens and capitals."""
_OF_ALL = ("--help", "--version")
"""The same of all of them."""
_OF_RUNNERS = (
    "--collect-only", "--co", "--fixtures", "--markers", "--setup-plan", "--listTests",
    "--list-tests", "--dry-run",
)  # fmt: skip
"""The same of those that run tests themselves."""


def starts_if_there(runner: Runner) -> bool:
    """Whether it ends with 0 where the project has no such script (npm's ``--if-present``)."""
    return "--if-present" in runner.words and runner.name.startswith(("npm ", "pnpm "))


def option_without_tests(runner: Runner) -> str:
    """The option with which a runner ends as after a run, and runs no test; empty: there is none.

    What builds a project besides (``mvn package -DskipTests``) is no check then.
    """
    first, _, target = runner.name.partition(" ")
    first = SAME.get(first, first)
    if first in ("mvn", "gradle") and not tests_by_name(target.replace("surefire:", "")):
        return ""
    more = _OF_RUNNERS if runner.form else ()
    options = (*_OPTIONS.get(runner.form, ()), *_OPTIONS.get(first, ()), *more)
    options += _OF_ALL
    words = [word or "" for word in runner.words[1:]]
    end = words.index("--") if "--" in words else len(words)
    pairs = [f"{word} {value}" for word, value in pairwise(words[:end])]
    for word in (*words[:end], *pairs):
        if any(_is_option(word, option) for option in options):
            return word
    return ""


def _is_option(word: str, option: str) -> bool:
    """Whether ``word`` is an option, perhaps shortened; not where it is set to false."""
    name, _, value = word.partition("=")
    if value.lower() in ("false", "0"):
        return False
    if option in (name, name.replace("--", "-", 1)):
        return True
    given, full = (text.replace("-", "").lower() for text in (name, option))
    both = option.startswith("--") and name.startswith("--")
    return both and len(given) > 2 and full.startswith(given)
