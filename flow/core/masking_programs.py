"""What is known of programs by their words: which cannot fail, and which only look on.

Short lists, on purpose: a program that is not in them may end either way.
"""

from __future__ import annotations

from flow.core.shell import Node, base_name, plain_words

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


def alone(words: tuple[str | None, ...]) -> Statuses:
    """How a program ends, as far as its words tell."""
    if not words or words[0] is None:
        return EITHER
    name = base_name(words[0].lstrip("\\"))
    if name in CANNOT_FAIL:
        return ZERO
    if name == "false":
        return OTHER
    if name == "wait":  # without operands it is 0, whatever its children came to
        return ZERO if len(words) == 1 else EITHER
    if name == "rm" and any(w is not None and w.startswith("-") and "f" in w for w in words[1:]):
        return ZERO
    return EITHER


SHELLS = ("bash", "sh", "dash", "zsh")


def shell_text(words: tuple[str | None, ...]) -> str | None:
    """The script in ``bash -c SCRIPT``; None for anything else."""
    if not words or words[0] is None or base_name(words[0]) not in SHELLS:
        return None
    _, index = shell_options(words)
    return words[index] if index is not None and index < len(words) else None


def shell_options(words: tuple[str | None, ...]) -> tuple[set[str], int | None]:
    """The options of a shell (``e``, ``pipefail``), and where its script stands."""
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
