"""Test runners by the words that start them."""

from __future__ import annotations

from flow.core.shell import base_name, plain_words

_ALONE = frozenset(
    (
        "pytest", "py.test", "nosetests", "nose2", "stestr", "tox", "nox", "jest", "vitest",
        "mocha", "ava", "tap", "karma", "rspec", "phpunit", "bats", "ctest", "shellspec",
        "pest",
    )
)  # fmt: skip
_WITH = {
    "go": ("test",),
    "cargo": ("test", "t", "nextest"),
    "dotnet": ("test",),
    "mix": ("test",),
    "swift": ("test",),
    "deno": ("test",),
    "bun": ("test",),
    "npm": ("test", "t", "tst"),
    "pnpm": ("test", "t"),
    "yarn": ("test",),
    "make": ("test", "tests", "check"),
    "gmake": ("test", "tests", "check"),
    "mvn": ("test", "verify"),
    "mvnw": ("test", "verify"),
    "gradle": ("test", "check"),
    "gradlew": ("test", "check"),
    "hatch": ("test",),
    "rails": ("test",),
}
"""Programs that run tests with one of these words."""
_LAUNCHERS = frozenset(
    (
        "npx", "pnpx", "bunx", "uvx", "pipx", "poetry", "pipenv", "uv", "hatch", "rye", "pdm",
        "bundle", "yarn", "pnpm",
    )
)  # fmt: skip
_LAUNCH_WORDS = frozenset(["run", "exec", "dlx", "--", "x"])
_QUESTIONS = frozenset(
    (
        "--version", "-V", "--help", "-h", "--collect-only", "--co", "--fixtures", "--list",
    )
)  # fmt: skip
"""Words with which a runner answers a question and runs no test."""


def runner_of(words: tuple[str | None, ...]) -> str:
    """The test runner that a command starts (``pytest``, ``go test``); empty: none."""
    words = plain_words(words)
    found = [word for word in words if word is not None]
    if not found or words[0] is None:
        return ""
    if any(word in _QUESTIONS for word in found):
        return ""
    name, rest = base_name(found[0]), found[1:]
    if name in _LAUNCHERS and rest:
        start = 1 if rest[0] in _LAUNCH_WORDS else 0
        launched = [word for word in rest[start:] if not word.startswith("-")]
        if start or name not in _WITH:
            inner = runner_of(tuple(launched))
            if inner:
                return inner
    if name in _ALONE:
        return name
    if name.startswith("python") or name == "pypy3":
        return _module(rest)
    if name == "node":
        return "node --test" if "--test" in rest else ""
    plain = [word for word in rest if not word.startswith("-") and "=" not in word]
    if name in ("npm", "pnpm", "yarn", "bun") and plain[:1] in (["run"], ["run-script"]):
        return f"{name} run {plain[1]}" if len(plain) > 1 and plain[1].startswith("test") else ""
    first = plain if name in ("make", "gmake", "mvn", "mvnw", "gradle", "gradlew") else plain[:1]
    for word in first:
        if word in _WITH.get(name, ()):
            return f"{name} {word}"
    return ""


def _module(rest: list[str]) -> str:
    for option, word in zip(rest, rest[1:], strict=False):  # noqa: RUF007
        if option == "-m":
            return word if word in ("pytest", "unittest", "nose2", "tox", "nox") else ""
        if not option.startswith("-"):
            return "manage.py test" if base_name(option) == "manage.py" and word == "test" else ""
    return ""
