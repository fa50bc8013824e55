"""Test runners by the words that start them."""

from __future__ import annotations

from flow.core.masked_exit.shell import base_name, plain_words

_ALONE = {
    "pytest": "pytest", "py.test": "pytest", "nosetests": "unittest", "nose2": "unittest",
    "green": "", "trial": "trial", "stestr": "stestr", "tox": "", "nox": "",
    "jest": "jest", "vitest": "vitest", "mocha": "mocha", "ava": "ava", "tap": "tap",
    "karma": "karma", "rspec": "rspec", "phpunit": "phpunit", "pest": "pest", "bats": "bats",
    "ctest": "ctest", "shellspec": "rspec", "prove": "prove", "gotestsum": "gotestsum",
    "ginkgo": "ginkgo", "behave": "behave", "robot": "robot", "busted": "busted",
    "cucumber-js": "cucumber", "cargo-nextest": "nextest",
}  # fmt: skip
"""Programs that are a test runner, and whose form of report theirs is; empty: none is asked for,
since they start others or print nothing that is known."""
_WITH = {
    "go": {"test": "go test"},
    "cargo": {"test": "cargo test", "t": "cargo test", "nextest": "nextest"},
    "dotnet": {"test": "dotnet test"},
    "mix": {"test": "mix test"},
    "swift": {"test": "swift test"},
    "deno": {"test": "deno test"},
    "bun": {"test": "bun test"},
    "dart": {"test": "dart test"},
    "flutter": {"test": "dart test"},
    "lein": {"test": "lein test"},
    "playwright": {"test": "playwright"},
    "cypress": {"run": "cypress"},
    "rails": {"test": "minitest"},
    "npm": {"test": "", "t": "", "tst": ""},
    "pnpm": {"test": "", "t": ""},
    "yarn": {"test": ""},
    "make": {"test": "", "tests": "", "check": ""},
    "gmake": {"test": "", "tests": "", "check": ""},
    "mvn": {"test": "", "verify": ""},
    "mvnw": {"test": "", "verify": ""},
    "gradle": {"test": "", "check": ""},
    "gradlew": {"test": "", "check": ""},
    "sbt": {"test": ""},
    "rake": {"test": "", "spec": ""},
    "composer": {"test": ""},
    "hatch": {"test": ""},
}
"""Programs that run tests with one of these words, and whose form of report it is."""
_MODULES = {
    "pytest": "pytest", "unittest": "unittest", "nose2": "unittest", "tox": "", "nox": "",
    "stestr": "stestr", "behave": "behave", "robot": "robot", "green": "",
}  # fmt: skip
_MANAGE = "manage.py test"
_NODE = "node --test"
_ANY_WORD = ("make", "gmake", "mvn", "mvnw", "gradle", "gradlew", "sbt", "rake")
"""Programs that take several targets, in any order."""
_LAUNCHERS = frozenset(
    (
        "npx", "pnpx", "bunx", "uvx", "pipx", "poetry", "pipenv", "uv", "hatch", "rye", "pdm",
        "bundle", "yarn", "pnpm", "npm", "bun",
    )
)  # fmt: skip
_LAUNCH_WORDS = frozenset(["run", "exec", "dlx", "--", "x"])
_SCRIPTS = ("npm", "pnpm", "yarn", "bun")
_CARRIERS = {
    "docker": ("run", "exec"), "podman": ("run", "exec"), "docker-compose": ("run", "exec"),
    "kubectl": ("exec", "run"), "oc": ("exec", "run"), "ssh": (), "xargs": (), "parallel": (),
    "flock": (), "coverage": ("run",), "direnv": ("exec",), "conda": ("run",), "mamba": ("run",),
    "micromamba": ("run",), "cross-env": (), "dotenv": (), "nyc": (), "c8": (), "doppler": ("run",),
    "op": ("run",), "dbus-run-session": (), "strace": (), "faketime": (), "retry": (),
    "tmux": (), "screen": (),
}  # fmt: skip
"""Programs that run the command at the end of their words and end as it does, and the word that
has to come before, if any."""
_NAMING = frozenset(("--name", "-n", "-t", "--tag", "-e", "--env", "-w", "-l", "--network"))
"""Options of carriers whose value is no command."""


def runner_of(words: tuple[str | None, ...]) -> str:
    """The test runner that a command starts (``pytest``, ``go test``); empty: none."""
    return _recognised(words)[0]


def report_of(words: tuple[str | None, ...]) -> str:
    """Whose form of report a command has to print; empty: no runner, or one that starts others."""
    return _recognised(words)[1]


_NONE = ("", "")


def _recognised(words: tuple[str | None, ...]) -> tuple[str, str]:
    words = plain_words(words)
    given = [word for word in words if word is not None]
    if not given or words[0] is None:
        return _NONE
    name, rest = base_name(given[0]), given[1:]
    if name in _LAUNCHERS:
        launched = _launched(name, rest)
        if launched[0]:
            return launched
    if name in _CARRIERS:
        return _carried(_CARRIERS[name], rest)
    if name in _ALONE:
        return name, _ALONE[name]
    if name.startswith("python") or name == "pypy3":
        return _module(rest)
    if name == "manage.py":
        return (_MANAGE, "unittest") if rest[:1] == ["test"] else _NONE
    if name == "node":
        return (_NODE, _NODE) if "--test" in rest else _NONE
    return _by_word(name, rest)


def _by_word(name: str, rest: list[str]) -> tuple[str, str]:
    plain = [word for word in rest if not word.startswith("-") and "=" not in word]
    if name in _SCRIPTS and plain[:1] in (["run"], ["run-script"]):
        is_test = len(plain) > 1 and plain[1].startswith("test")
        return (f"{name} run {plain[1]}", "") if is_test else _NONE
    for word in plain if name in _ANY_WORD else plain[:1]:
        target = word.rpartition(":")[2] if name.startswith("gradle") else word
        if target in _WITH.get(name, {}):
            return f"{name} {word}", _WITH[name][target]
    return _NONE


def _launched(name: str, rest: list[str]) -> tuple[str, str]:
    """What ``uv run --with x pytest`` starts; an option may have the word behind it for a value."""
    start = 1 if rest and rest[0] in _LAUNCH_WORDS else 0
    if not start and name in _WITH:
        return _NONE
    after_option = False
    for index in range(start, len(rest)):
        word = rest[index]
        if word.startswith("-"):
            after_option = word != "--" and "=" not in word
            continue
        inner = _recognised(tuple(rest[index:]))
        if inner[0] or not after_option:
            return inner
        after_option = False
    return _NONE


def _carried(before: tuple[str, ...], rest: list[str]) -> tuple[str, str]:
    start = next((n + 1 for n, word in enumerate(rest) if word in before), None) if before else 0
    if start is None:
        return _NONE
    for index in range(start, len(rest)):
        if index and rest[index - 1] in _NAMING:
            continue
        if rest[index : index + 1] == ["-m"]:
            return _module(rest[index:])
        inner = _recognised(tuple(rest[index:]))
        if inner[0]:
            return inner
    return _NONE


def _module(rest: list[str]) -> tuple[str, str]:
    for index, option in enumerate(rest[:-1]):
        word = rest[index + 1]
        if option == "-m":
            if word == "coverage":
                return _carried(("run",), rest[index + 2 :])
            return (word, _MODULES[word]) if word in _MODULES else _NONE
        if not option.startswith("-") and rest[index - 1 : index] not in (["-W"], ["-X"]):
            is_manage = base_name(option) == "manage.py" and word == "test"
            return (_MANAGE, "unittest") if is_manage else _NONE
    return _NONE
