"""Programs by their words: those that cannot fail, and those that hide failures.

The lists are short on purpose: a program that is not in them may end either way.
"""

from __future__ import annotations

import itertools
import re

from flow.core.masked_exit.runner_names import (
    STARTS_CODE,
    handed_on,
    mentioned_runner,
    runner_of,
)
from flow.core.masked_exit.runner_words import code_of, drops_exit
from flow.core.masked_exit.shell import (
    LAST,
    ShellNode,
    base_name,
    has_wildcard,
    plain_words,
    system_name,
)
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Statuses = frozenset[int]
"""The possible ends of a command: 0, another status (1), or both."""
ZERO: Statuses = frozenset((0,))
OTHER: Statuses = frozenset((1,))
EITHER: Statuses = frozenset((0, 1))

CANNOT_FAIL = frozenset(
    (
        ":", "true", "echo", "printf", "sleep", "export", "unset", "shopt", "set", "umask",
        "trap", "times", "disown", "jobs", "hash", "clear",
    )
)  # fmt: skip
"""Commands that always end with 0 if they are written without a mistake."""
FILTERS = frozenset(
    (
        "cat", "tee", "head", "tail", "sort", "uniq", "wc", "tr", "nl", "column", "fold", "tac",
        "less", "more", "ts",
    )
)  # fmt: skip
"""Programs that end with 0 if they read from a pipe."""
ASIDE = CANNOT_FAIL | FILTERS | {"cd", "test", "[", "[["}
"""Programs beside which a single other one is all that a command runs."""
SEARCHERS = frozenset(("grep", "egrep", "fgrep", "zgrep", "rg", "ag"))
"""Programs that fail where they find nothing; their ``-f`` names a file of patterns."""
READERS = frozenset(["cat", "head", "tail", "wc", "nl", "tac", "sort", "less", "more"])
"""Programs that end with 0 if they read files that the command itself has just written."""
LOOKS = CANNOT_FAIL | READERS | {
    "base64", "basename", "cd", "chmod", "chown", "cp", "date", "dd", "df", "dirname", "dirs", "du",
    "expr", "file", "gzip", "hexdump", "kill", "ln", "ls", "mkdir", "mktemp", "mv", "nproc", "od",
    "pkill", "popd", "printenv", "ps", "pwd", "rm", "sed", "seq", "shuf", "stat", "tee", "touch",
    "uname", "xxd", "yes",
}  # fmt: skip
"""Programs that show, move or remove something; their failure does not matter."""
PREPARES = CANNOT_FAIL | {"cd", "pushd", "popd", "mkdir", "rm", "cp", "mv", "touch", "ln", "chmod"}
"""Those of them by which nothing is asked."""
_EXIT_ZERO = {
    "bandit": ("--exit-zero",), "flake8": ("--exit-zero",), "pylint": ("--exit-zero",),
    "ruff": ("--exit-zero", "--fix-only"), "hadolint": ("--no-fail",), "vale": ("--no-exit",),
    "staticcheck": ("-fail=", "-fail=none"),
    "golangci-lint": ("--issues-exit-code=0",), "gitleaks": ("--exit-code=0",),
    "trivy": ("--exit-code=0",), "checkov": ("--soft-fail", "-s"), "sqlfluff": ("--nofail",),
    "swiftlint": ("--lenient",), "tflint": ("--force",), "credo": ("--mute-exit-status",),
    "mix": ("--mute-exit-status", "--ignore-exit-status"), "gofmt": ("-l",), "goimports": ("-l",),
    "gofumpt": ("-l",), "go": ("-exec=true", "-exec=/bin/true", "-exec=echo"),
    "bazel": ("--run_under=true", "--run_under=/bin/true", "--run_under=echo"),
    "npm": ("--script-shell=true", "--script-shell=/bin/true", "--audit-level=none"),
    "just": ("--shell=true", "--shell=/bin/true", "--shell=:"),
    "newman": ("--suppress-exit-code", "-x"), "lit": ("--ignore-fail",),
    "llvm-lit": ("--ignore-fail",), "k6": ("--no-thresholds",),
    "scons": ("-i", "--ignore-errors"), "invoke": ("--warn-only", "invoke=-w"),
    "inv": ("--warn-only", "inv=-w"), "conftest": ("--no-fail",), "gosec": ("-no-fail",),
    "cspell": ("--no-exit-code",), "knip": ("--no-exit-code",),
    "safety": ("--continue-on-error",), "locust": ("--exit-code-on-error=0",),
    "govulncheck": ("-json", "-format=json", "-format=sarif", "-format=openvex"),
}  # fmt: skip
"""Options of checkers that let them end with 0 after any finding, and of runners that start
something else in the tests' place; a value may also be the next word (each one's documentation,
November 2026).
"""
_EXIT_ONLY_WITH = {
    "cppcheck": ("--error-exitcode",), "golint": ("-set_exit_status", "--set_exit_status"),
    "semgrep": ("--error", "ci", "test", "--test", "--validate"),
    "clang-format": ("-Werror", "--Werror"),
    "trivy": ("--exit-code", "--version", "-v", "version", "--download-db-only", "clean"),
    "grype": ("--fail-on", "-f", "version", "db", "--version"),
    "trufflehog": ("--fail", "--version"),
}  # fmt: skip
"""Checkers that end with 0 after any finding, unless one of these words is given."""
_DIFF_TELLS = ("--exit-code", "--quiet", "--check", "--no-index")
"""Options of ``git diff`` by which a difference shows in its exit status (git-diff(1))."""
_CURL_FAILS = frozenset(("--fail", "--fail-with-body", "--config"))
"""Options by which an HTTP error shows in curl's exit status, or may (curl(1))."""
_CURL_FLAGS = ("--silent", "--show-error", "--location", "--head", "--include", "--insecure")
_CURL_SHORT = re.compile(
    r"-([^-AbcCdDeEFHKmoPQrtTuUwxXyYz]*)([AbcCdDeEFHKmoPQrtTuUwxXyYz]?)(.*)", re.DOTALL
)
"""Long options of curl without a value; a word of short ones, of which only the last takes one."""
_OTHER_URL = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*://")
_COMPOSE = ("docker", "podman", "docker-compose", "podman-compose")
_COMPOSE_HEARS = frozenset(
    (
        "--exit-code-from", "--abort-on-container-exit", "--abort-on-container-failure", "--wait",
        "--no-start",
    )
)  # fmt: skip
"""Options with which ``docker compose up`` fails where a container fails; without one it ends with
0 (Compose's documentation, November 2026).
"""
MAKES = ("make", "gmake")
_MAKE_LONG = (
    "ignore-errors", "just-print", "dry-run", "recon", "touch", "question", "version", "help",
    "old-file", "assume-old", "eval",
)  # fmt: skip
"""Long options of GNU make that run no recipe, ignore its failure, or hold make's own text
(recorded, GNU make 4.3). Make accepts any beginning of an option.
"""
_MAKE_SHORT = frozenset("intqvhoE")
"""The short options of that kind; those of ``_MAKE_VALUES`` take the rest of their word."""
_MAKE_VALUES = "CIOWfjl"
_MAKE_SETS = re.compile(r"([.\w]+)\s*[+?!:]*=(.*)", re.DOTALL)
_HANDS_MAKE = frozenset(("-n", "-i", "--dry-run", "--just-print", "--touch", "--ignore-errors"))
"""Such options that ``cmake --build`` hands on."""
FORCES_PASS = ("INSTA_FORCE_PASS",)
"""Variables with whose value 1 a test library reports no failure (insta: settings)."""
MAKE_FLAGS = ("MAKEFLAGS", "GNUMAKEFLAGS")
"""Variables with options of make, both as its arguments and in the environment."""


def main_programs(commands: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The programs that a command is for: all but those of :data:`ASIDE`."""
    return [words for words in commands if system_name(words[0]) not in ASIDE]


def silenced(words: tuple[str | None, ...]) -> tuple[str | None, ...] | None:
    """The command whose failure a program's own options hide from its exit status; None if none.

    ``find -exec ... ;`` ends with 0 even if its commands fail, ``ruff --exit-zero`` even with
    findings, ``make -i`` and ``make -n`` even if a recipe fails or would fail; also where another
    program starts it (``uv run ruff check --exit-zero``).
    """
    own = _silenced(words)
    return own or next(filter(None, map(_silenced, handed_on(words))), None)


def _silenced(words: tuple[str | None, ...]) -> tuple[str | None, ...] | None:
    """The command whose failure the options of this very program hide; None if they hide none."""
    name = base_name(words[0]) if words and words[0] is not None else ""
    if name == "find":
        return _of_find(words)
    if name in MAKES:
        return words if any(map(_lenient, words[1:])) else None
    if name in ("mvn", "mvnw"):
        return words if any(_MAVEN.fullmatch(word or "") for word in words) else None
    if name == "script":
        return _of_script(words)
    if drops_exit(words) or (name == "cmake" and "--build" in words and _HANDS_MAKE & {*words}):
        return words
    if name == "gdb" and "--args" in words and "child-result" not in "".join(map(str, words)):
        return words
    code = code_of(words)
    if code is not None:
        return _of_code(code)
    return words if _ends_with_0(name, words) else None


def git_options(words: Sequence[str | None]) -> int:
    """The number of words before git's subcommand: its own options and their values."""
    at = 0
    while at < len(words) and (words[at] or "").startswith("-"):
        at += 2 if words[at] in ("-C", "-c", "--git-dir", "--work-tree") else 1
    return at


def _ends_with_0(name: str, words: tuple[str | None, ...]) -> bool:
    """Whether a checker's options, or their absence, hide from its status what it finds."""
    joined = {f"{word}={after}" for word, after in itertools.pairwise(words) if word}
    if joined.union(filter(None, words)).intersection(_EXIT_ZERO.get(name, ())):
        return True
    return bool(lacks_option(words))


def lacks_option(words: tuple[str | None, ...]) -> str:
    """The option without which this program ends with 0 after any finding; empty if none."""
    name = base_name(words[0] or "") if words else ""
    given = {(word or "").partition("=")[0] for word in words[1:]}
    if name == "git" and words[1 + git_options(words[1:]) :][:1] == ("diff",):
        return "--exit-code" if None not in words and given.isdisjoint(_DIFF_TELLS) else ""
    if name == "curl":
        return "--fail" if given.isdisjoint(_CURL_FAILS) and _asks_url(words) else ""
    if name in _COMPOSE:
        return "--exit-code-from" if _is_deaf_compose(name, words) else ""
    needed = _EXIT_ONLY_WITH.get(name, ())
    return needed[0] if needed and len(words) > 1 and not given.intersection(needed) else ""


def _asks_url(words: tuple[str | None, ...]) -> bool:
    """Whether curl surely asks a web server, with no ``-f`` and no ``-K`` among its options."""
    urls: list[str] = []
    computed, takes_value = 0, False
    for before, word in itertools.pairwise(words):
        is_value, takes_value = takes_value, False
        of_long = before and before[:2] == "--" and before not in _CURL_FLAGS
        if is_value or (word is None and of_long):
            continue
        option = _CURL_SHORT.fullmatch(word or "")
        if option is not None:
            if "f" in option[1] or option[2] == "K":
                return False
            takes_value = bool(option[2]) and not option[3]
        elif word is None:
            computed += 1
        elif word[:2] != "--":
            urls.append(word)
    if not urls:
        return computed == 1
    return not computed and not any(map(_OTHER_URL.match, urls))


def _is_deaf_compose(name: str, words: tuple[str | None, ...]) -> bool:
    """Whether it is ``docker compose up`` without an option that hands a container's end on."""
    own = itertools.takewhile(lambda word: word not in ("exec", "run"), words)
    given = {(word or "").partition("=")[0] for word in own}
    starts = "up" in given and (name.endswith("-compose") or "compose" in given)
    return starts and not given.intersection(_COMPOSE_HEARS)


def _of_find(words: tuple[str | None, ...]) -> tuple[str | None, ...] | None:
    """The first command that ``find`` runs for each file; with ``+``, failures are visible."""
    starts = [n for n, word in enumerate(words) if word in ("-exec", "-execdir")]
    command = None
    for start in starts:
        rest = words[start + 1 :]
        end = next((n for n, word in enumerate(rest) if word in (";", "+")), None)
        if end is None or rest[end] == "+":
            return None
        acts = rest[0] is not None and base_name(rest[0]) not in LOOKS
        if command is None and (acts or runner_of(rest[:end])):
            command = rest[:end]
    return command


HANDS_ON = re.compile(
    r"exit|check\s*=\s*True|check_call|check_output|raise|\bdie\b|assert|execSync|execFileSync"
    r"|returncode|status|\brun\(`"  # Julia's fails with its command
)


def _of_code(code: str) -> tuple[str | None, ...] | None:
    """The runner that a piece of code starts without passing its status on; None if none."""
    if re.search(r"doctest\.test(?:mod|file)", code) and not HANDS_ON.search(code):
        return ("doctest",)
    if not STARTS_CODE.search(code) or HANDS_ON.search(code):
        return None
    return mentioned_runner(code)


def _of_script(words: tuple[str | None, ...]) -> tuple[str | None, ...] | None:
    """The command of ``script -c COMMAND`` without ``-e``, which would pass its status on."""
    options = [word for word in words[1:] if word is not None and word.startswith("-")]
    short = "".join(word[1:] for word in options if not word.startswith("--"))
    runs = "c" in short or any(word.startswith("--command") for word in options)
    return words if runs and "e" not in short and "--return" not in options else None


_MAVEN = re.compile(r"-fn|--fail-never|-Dmaven\.test\.failure\.ignore(?:=true)?", re.IGNORECASE)


def _lenient(word: str | None) -> bool:
    """Whether a word of ``make`` makes it continue after failures, or run nothing at all."""
    if word is None:
        return False
    setting = _MAKE_SETS.fullmatch(word)
    if setting is not None and word[0] != "-":
        return _lenient_setting(setting[1], setting[2].strip())
    if word.startswith("--"):
        name = word[2:].partition("=")[0]
        return bool(name) and any(option.startswith(name) for option in _MAKE_LONG)
    if not word.startswith("-"):
        return False
    for letter in word[1:]:
        if letter in _MAKE_VALUES:
            return False
        if letter in _MAKE_SHORT:
            return True
    return False


def _lenient_setting(name: str, value: str) -> bool:
    """Whether a variable given to make is such a word (``make SHELL=/bin/true test``)."""
    if name in MAKE_FLAGS:
        return lenient_flags(value)
    if name == ".SHELLFLAGS":  # with -n a shell runs nothing
        return any(word[:1] == "-" and "n" in word for word in value.split())
    return name == "SHELL" and base_name(value) not in SHELLS


def lenient_flags(value: str) -> bool:
    """Whether ``MAKEFLAGS`` has such a word; its first one needs no hyphen."""
    if "\0" in value:  # the shell computes it (-j$(nproc))
        return False
    words = value.split()
    if words and "=" not in words[0] and not words[0].startswith("-"):
        words[0] = f"-{words[0]}"
    return any(map(_lenient, words))


def fails_with(words: tuple[str | None, ...], runner: str) -> tuple[int, ...]:
    """The statuses by which a runner reports a failed test; -1: any status but 0.

    pytest: 1 for failed tests, 2 if they could not be collected (its documentation, 2026).
    """
    name = base_name(words[0] or "")
    direct = name in ("pytest", "py.test") or name.startswith("python")
    return (1, 2) if direct and runner in ("pytest", "py.test") else (-1,)


_DETACHED = {
    "setsid": ("-f", "--fork"), "ssh": ("-f",), "tmux": ("-d",), "screen": ("-dm", "-dmS"),
    "start-stop-daemon": ("-b", "--background"), "docker": ("-d", "--detach"),
    "podman": ("-d", "--detach"), "docker-compose": ("-d", "--detach"), "at": (), "batch": (),
    "daemonize": (), "systemd-run": (), "nq": (),
}  # fmt: skip
"""Programs that do not wait for the command that they start, and the options for that."""
_WAITS = ("--wait", "--pty", "-t", "--scope")


def runs_unheard(words: tuple[str | None, ...]) -> bool:
    """Whether a program continues without the command that it starts, and drops its status."""
    options = _DETACHED.get(base_name(words[0] or "")) if words else None
    if options is None:
        return False
    return not {*words} & {*_WAITS} if not options else bool({*words[1:]} & {*options})


def decides_by_file(words: tuple[str | None, ...], written: frozenset[str]) -> bool:
    """Whether a program reads a file that a runner wrote, and may decide by it."""
    if not written or words[0] is None or base_name(words[0]) in LOOKS:
        return False
    return any(word is not None and word.rpartition("=")[2] in written for word in words[1:])


def constant_test(words: tuple[str | None, ...]) -> Statuses:
    """The ends of ``test``, ``[``, ``[[`` or ``((`` if no file and no variable decides."""
    kind, *operands = words
    given = [word for word in operands if word is not None]
    if len(given) != len(operands) or not given or (kind == "[[" and has_wildcard(given[-1])):
        return EITHER
    if kind in ("((", "let"):
        plain = len(given) == 1 and given[0].isascii() and given[0].isdigit()
        return (ZERO if given[0].strip("0") else OTHER) if plain else EITHER
    if given[0] == "!" and len(given) > 1:
        return frozenset(1 - status for status in constant_test((kind, *given[1:])))
    if len(given) == 1:
        return ZERO if given[0] else OTHER
    if len(given) == 2 and given[0] in ("-n", "-z"):
        return ZERO if bool(given[1]) == (given[0] == "-n") else OTHER
    return _compared(*given) if len(given) == 3 else EITHER


_ORDERS = {
    "-eq": (0,), "-ne": (-1, 1), "-lt": (-1,), "-le": (-1, 0), "-gt": (1,), "-ge": (0, 1),
}  # fmt: skip
_ALWAYS = ((LAST, "-ge", "0"), (LAST, "-lt", "256"), (LAST, "-le", "255"))


def _compared(left: str, sign: str, right: str) -> Statuses:
    if (left, sign, right) in _ALWAYS:
        return ZERO
    if LAST in (left, right):
        return EITHER
    if sign in ("=", "==", "!="):
        return ZERO if (left == right) == (sign != "!=") else OTHER
    numbers = [int(word) for word in (left, right) if word.isascii() and word.isdigit()]
    if sign not in _ORDERS or len(numbers) < 2:
        return EITHER
    order = (numbers[0] > numbers[1]) - (numbers[0] < numbers[1])
    return ZERO if order in _ORDERS[sign] else OTHER


TESTS = ("test", "[", "[[", "((", "let")


def alone(words: tuple[str | None, ...]) -> Statuses:
    """The ends of a program, as far as its words determine them."""
    if not words or words[0] is None:
        return EITHER
    name = base_name(words[0].lstrip("\\"))
    if name in TESTS:
        return constant_test((name, *words[1:]))
    if silenced(words) is not None or name in CANNOT_FAIL:
        return ZERO
    if name == "false":
        return OTHER
    if name == "wait":  # without operands always 0
        return ZERO if len(words) == 1 else EITHER
    if name == "rm" and any(w is not None and w.startswith("-") and "f" in w for w in words[1:]):
        return ZERO
    return EITHER


def eval_text(words: tuple[str | None, ...]) -> str | None:
    """The text that ``eval`` runs; None if the shell computes it."""
    given = [word for word in words[1:] if word is not None and word != LAST]
    return " ".join(given) if given and len(given) == len(words) - 1 else None


SHELLS = ("bash", "sh", "dash", "zsh", "ksh", "ash", "fish")


def shell_text(words: tuple[str | None, ...]) -> str | None:
    """The script in ``bash -c SCRIPT``, and in ``docker run IMAGE sh -c SCRIPT``; else None."""
    return without_shell(words)[0]


_OPTION_RUNS = {
    "su": ("-c", "--command"), "script": ("-c", "--command"), "flock": ("-c", "--command"),
    "nix-shell": ("--run", "--command"), "npx": ("-c", "--call"),
}  # fmt: skip
"""Options whose value is a shell's text."""
_JOINED = {"ssh": 1, "parallel": 0, "concurrently": 0, "watch": 0}
"""Programs that pass their words to a shell, and the number of operands before them."""


def without_shell(words: tuple[str | None, ...]) -> tuple[str | None, bool]:
    """The text that a shell in ``words`` runs, and whether ``words`` are only that shell."""
    own = _unwrapped(words)
    if own and own[0] is not None and base_name(own[0]) in SHELLS:
        _, index = shell_options(own)
        text = own[index] if index is not None and index < len(own) else None
        return text, own is words
    name = base_name(words[0] or "") if words else ""
    if base_name(name.partition(" ")[0]) in SHELLS:  # env -S "bash -c ..."
        return words[0], False
    for index, word in enumerate(words[1:-1], 1):
        short = name == "script" and word is not None and word[:1] == "-" and word.endswith("c")
        if short or word in _OPTION_RUNS.get(name, ()):
            return words[index + 1], False
    if name in _JOINED:
        own = words[: words.index(":::")] if ":::" in words else words
        plain = [word for word in own[1:] if word is None or word[:1] != "-"][_JOINED[name] :]
        if len(plain) == 1 and plain[0] is not None and " " in plain[0]:
            return plain[0], False
    return None, False


def _unwrapped(words: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """The words from a shell with ``-c`` on, if another program's words contain one."""
    for index in range(len(words) - 1):
        word, after = words[index : index + 2]
        if index == 0 and word is not None and base_name(word) in SHELLS:
            return words
        if word is None or after is None or base_name(word) not in SHELLS:
            continue
        if after.startswith("-") and "c" in after:
            return words[index:]
    return words


def shell_options(words: tuple[str | None, ...]) -> tuple[set[str], int | None]:
    """The options of a shell (``e``, ``pipefail``), and its script's index; None without script."""
    words = _unwrapped(words)
    options: set[str] = set()
    script = False
    index = 1
    while index < len(words):
        word = words[index]
        if word is None or not word.startswith(("-", "+")) or word in ("-", "--"):
            break
        if word in ("-o", "+o", "-O", "+O") or (word.endswith("o") and not word.startswith("--")):
            if word.startswith("-") and index + 1 < len(words):
                options.add(words[index + 1] or "")
            index += 1
        if word.startswith("-") and not word.startswith("--"):
            options.update(word[1:])
            script = script or "c" in word
        index += 1
    return options, index if script else None


def is_filter(node: ShellNode) -> bool:
    """Whether a part of a pipe passes its input on, and cannot fail at that."""
    words = plain_words(node.words)
    if node.kind != "command" or node.reads or not words or words[0] is None:
        return False
    name = base_name(words[0])
    if name == "tee":
        return True
    if name == "sed":
        scripts = [w for w in words[1:] if w is None or not w.startswith("-")]
        return len(scripts) == 1 and scripts[0] is not None and not set("qQ") & set(scripts[0])
    if name not in FILTERS:
        return False
    return name == "tr" or all(_no_file(word) for word in words[1:])


def _no_file(word: str | None) -> bool:
    return word is not None and (word.startswith(("-", "+")) or word.isdigit())


def reads_only(words: tuple[str | None, ...], written: set[str]) -> bool:
    """Whether the program only shows files that the command itself wrote, and so finds them."""
    if words[0] is None or base_name(words[0]) not in READERS:
        return False
    files = [word for word in words[1:] if not _no_file(word)]
    return bool(files) and all(word in written for word in files)
