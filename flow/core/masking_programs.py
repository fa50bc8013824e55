"""What is known of programs by their words: which cannot fail, and which only look on.

Short lists, on purpose: a program that is not in them may end either way.
"""

from __future__ import annotations

from flow.core.shell import LAST, Node, base_name, plain_words

Statuses = frozenset[int]
"""How something can end: with 0, with something else (1), with either."""
ZERO: Statuses = frozenset((0,))
OTHER: Statuses = frozenset((1,))
EITHER: Statuses = frozenset((0, 1))
NONE: Statuses = frozenset()

CANNOT_FAIL = frozenset(
    (
        ":", "true", "echo", "printf", "sleep", "export", "unset", "shopt", "set", "umask",
        "trap", "times", "disown", "jobs", "hash", "clear",
    )
)  # fmt: skip
"""What ends with 0 whenever it is written without a mistake."""
FILTERS = frozenset(
    (
        "cat", "tee", "head", "tail", "sort", "uniq", "wc", "tr", "nl", "column", "fold", "tac",
        "less", "more", "ts",
    )
)  # fmt: skip
"""What ends with 0 when it reads from a pipe."""
READERS = frozenset(["cat", "head", "tail", "wc", "nl", "tac", "sort", "less", "more"])
"""What ends with 0 when it reads files that the command itself has just written."""
BYSTANDERS = frozenset(
    (
        "cat", "cd", "date", "df", "dirs", "head", "kill", "ls", "pkill", "popd", "ps", "pwd",
        "rm", "tail", "uname", "wc",
    )
)  # fmt: skip
"""Says nothing about a test run that went before."""
_COMPOSE = ("down", "kill", "logs", "ps", "rm", "stop")


_LOOKS = BYSTANDERS | CANNOT_FAIL | {
    "chmod", "chown", "cp", "du", "file", "gzip", "ln", "mkdir", "mv", "sed", "stat", "touch",
}  # fmt: skip
"""What `find -exec` runs to show or move something; nobody asks whether that failed."""
_EXIT_ZERO = frozenset(("bandit", "flake8", "pylint", "ruff"))
_MAKE_LONG = ("--ignore-errors", "--dry-run", "--just-print", "--recon")
_MAKE_VALUES = "CEIWfjlo"


def silenced(words: tuple[str | None, ...]) -> tuple[str | None, ...] | None:
    """The command whose failure a program's own options keep from its exit status; None if none.

    ``find -exec ... ;`` ends with 0 whatever its commands came to, ``ruff --exit-zero`` whatever it
    found, ``make -i`` and ``make -n`` whatever the recipes would come to.
    """
    name = base_name(words[0]) if words and words[0] is not None else ""
    if name == "find":
        return _of_find(words)
    if name == "make":
        return words if any(map(_lenient, words[1:])) else None
    if name == "script":
        return _of_script(words)
    off = name in _EXIT_ZERO and "--exit-zero" in words
    off = off or (name == "hadolint" and "--no-fail" in words)
    if name == "golangci-lint":
        pairs = zip(words, (*words[1:], None), strict=True)
        off = "--issues-exit-code=0" in words or ("--issues-exit-code", "0") in pairs
    return words if off else None


def _of_find(words: tuple[str | None, ...]) -> tuple[str | None, ...] | None:
    """The first command that ``find`` runs file by file; with ``+`` their failures do show."""
    starts = [n for n, word in enumerate(words) if word in ("-exec", "-execdir")]
    found = None
    for start in starts:
        rest = words[start + 1 :]
        end = next((n for n, word in enumerate(rest) if word in (";", "+")), None)
        if end is None or rest[end] == "+":
            return None
        if found is None and rest[0] is not None and base_name(rest[0]) not in _LOOKS:
            found = rest[:end]
    return found


def _of_script(words: tuple[str | None, ...]) -> tuple[str | None, ...] | None:
    """``script -c COMMAND`` without ``-e``, which would hand its status on."""
    options = [word for word in words[1:] if word is not None and word.startswith("-")]
    short = "".join(word[1:] for word in options if not word.startswith("--"))
    runs = "c" in short or any(word.startswith("--command") for word in options)
    return words if runs and "e" not in short and "--return" not in options else None


def _lenient(word: str | None) -> bool:
    """Whether a word of ``make`` makes it go on after failures, or run nothing at all."""
    if word is None or not word.startswith("-") or word.startswith("--"):
        return word in _MAKE_LONG
    for letter in word[1:]:
        if letter in _MAKE_VALUES:
            return False
        if letter in "in":
            return True
    return False


def constant_test(words: tuple[str | None, ...]) -> Statuses:
    """How ``test``, ``[``, ``[[`` or ``((`` ends, where no file and no variable decides."""
    kind, *operands = words
    given = [word for word in operands if word is not None]
    if len(given) != len(operands) or not given or (kind == "[[" and _pattern(given[-1])):
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


def _pattern(word: str) -> bool:
    return any(sign in word for sign in "*?[")


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


WRITERS = frozenset(
    (
        "((", "declare", "export", "getopts", "let", "local", "mapfile", "printf", "read",
        "readarray", "readonly", "shopt", "typeset", "unset", "wait",
    )
)  # fmt: skip
"""What may set a variable, or say that others do."""
TESTS = ("test", "[", "[[", "((", "let")


def alone(words: tuple[str | None, ...]) -> Statuses:
    """How a program ends, as far as its words tell."""
    if not words or words[0] is None:
        return EITHER
    name = base_name(words[0].lstrip("\\"))
    if name in TESTS:
        return constant_test((name, *words[1:]))
    if silenced(words) is not None:
        return ZERO
    if name in CANNOT_FAIL:
        return ZERO
    if name == "false":
        return OTHER
    if name == "wait":  # without operands it is 0, whatever its children came to
        return ZERO if len(words) == 1 else EITHER
    if name == "rm" and any(w is not None and w.startswith("-") and "f" in w for w in words[1:]):
        return ZERO
    return EITHER


def eval_text(words: tuple[str | None, ...]) -> str | None:
    """What ``eval`` reads; None where the shell computes it."""
    given = [word for word in words[1:] if word is not None and word != LAST]
    return " ".join(given) if given and len(given) == len(words) - 1 else None


SHELLS = ("bash", "sh", "dash", "zsh")


def shell_text(words: tuple[str | None, ...]) -> str | None:
    """The script in ``bash -c SCRIPT``, and in ``docker run IMAGE sh -c SCRIPT``; else None."""
    words = _unwrapped(words)
    if not words or words[0] is None or base_name(words[0]) not in SHELLS:
        return None
    _, index = shell_options(words)
    return words[index] if index is not None and index < len(words) else None


_WRAPPERS = ("docker", "flock", "hatch", "kubectl", "pdm", "pipenv", "podman", "poetry", "uv")
"""Programs that end as the shell does which stands in their words."""


def _unwrapped(words: tuple[str | None, ...]) -> tuple[str | None, ...]:
    if not words or words[0] is None or base_name(words[0]) not in _WRAPPERS:
        return words
    for index in range(1, len(words) - 1):
        word, after = words[index : index + 2]
        if word is None or after is None or base_name(word) not in SHELLS:
            continue
        if after.startswith("-") and "c" in after:
            return words[index:]
    return words


def shell_options(words: tuple[str | None, ...]) -> tuple[set[str], int | None]:
    """The options of a shell (``e``, ``pipefail``), and where its script stands."""
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


def is_filter(node: Node) -> bool:
    """Whether a part of a pipe passes on what it reads, and cannot fail at that."""
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
    """Whether it shows files that the command itself wrote, and so finds them."""
    if words[0] is None or base_name(words[0]) not in READERS:
        return False
    files = [word for word in words[1:] if not _no_file(word)]
    return bool(files) and all(word in written for word in files)


def bystander(words: tuple[str | None, ...]) -> bool:
    """Whether a program shows, ends or removes something, whatever the tests came to."""
    name = base_name(words[0]) if words[0] is not None else ""
    if name in BYSTANDERS:
        return True
    plain = [word for word in words[1:] if word is not None and not word.startswith("-")]
    if name == "docker" and plain[:1] == ["compose"]:
        return any(word in _COMPOSE for word in plain[1:])
    if name in ("docker", "podman"):
        return plain[:1] in (["stop"], ["rm"], ["kill"], ["logs"])
    return name == "docker-compose" and any(word in _COMPOSE for word in plain)
