"""Pipes that cannot pass: one part of them fails when everything is in order (SPEC 5).

Commands run with ``pipefail``. So ``prog bad 2>&1 | grep -q msg`` fails if ``prog`` rightly fails,
although the message is there, and so does ``diff a b | grep x``, whose output is a difference. The
text alone decides, and the result is only a hint: programs known to exit with 0 there are not
reported.
"""

from __future__ import annotations

import re

from flow.core.evidence.proof_tables import EXAMINERS
from flow.core.masked_exit.runner_names import runner_of
from flow.core.masked_exit.shell import base_name, plain_words
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class PipePart(NamedTuple):
    """One command of a pipe."""

    words: tuple[str | None, ...]
    text: str
    after: str
    """The rest of the pipe after it, from its ``|`` on."""
    merges: bool
    """Whether its standard error goes into the pipe."""


MATCHERS = frozenset(("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack"))
_NO_PATTERN = re.compile(r"-\w*[vLcf]|--(?:invert|count|files-without|file=)")
"""Options with which a matcher looks for absence, counts, or reads its patterns from a file."""
_DIFFERS = frozenset(("diff", "colordiff", "cmp", "sdiff"))
"""Programs that print if they fail, and nothing if they do not (diffutils, POSIX)."""
_ENDLESS = frozenset(("yes",))
_SOURCES = frozenset(("/dev/urandom", "/dev/random", "/dev/zero"))
_TAKES_SOME = frozenset(("head",))
"""Readers that end before their writers do."""
_THIRD_PARTY = EXAMINERS | {
    "curl", "wget", "docker", "docker-compose", "podman", "kubectl", "helm", "terraform", "make",
    "gmake", "cmake", "ninja", "npm", "pnpm", "yarn", "pip", "pip3", "ssh", "openssl", "ffmpeg",
    "nginx", "apachectl", "httpd", "psql", "mysql", "redis-cli", "systemctl", "gcc", "g++", "clang",
    "clang++", "cc", "c++", "rustc", "javac", "mvn", "mvnw", "gradle", "gradlew", "strace",
    "valgrind", "ldd", "sqlite3", "ansible", "vault", "aws", "gcloud", "az", "gh", "bash", "sh",
    "time", "dd", "tar", "zip", "unzip", "hyperfine", "ab", "wrk",
}  # fmt: skip
"""Third-party programs whose messages on standard error mostly come with exit 0."""
_WRITES_FAULTS = EXAMINERS - {"echo", "printf", "cat", "head", "tail", "ls", "find", "git"}
"""Those of them that write their findings to standard output."""
_ASKS = frozenset(("--version", "-version", "-V", "version", "--help", "-h", "-help", "help"))
_GOOD = re.compile(
    r"\b(?:ok|pass(?:ed|ing)?|success\w*|succeed\w*|done|complet\w*|finish\w*|ready|start(?:ed|ing)"
    r"|listening|built|compiled|connected|created|saved|wrote|written|updated|installed|up to date"
    r"|valid|clean|healthy|running|(?:0|no|zero)\W+\w*\W*(?:errors?|fail\w*|warnings?|problems?))\b",
    re.IGNORECASE,
)
"""Words that programs print when all is well."""
_BAD = re.compile(
    r"\b(?:errors?|fail(?:ed|s|ure|ures|ing)?|exception|traceback|fatal|panic\w*|abort\w*"
    r"|invalid|unknown|unrecogni[sz]ed|cannot|can't|could not|unable|no such|not found|missing"
    r"|required|refused|denied|illegal|unsupported|unexpected|usage)\b|^[A-Z]+\d+$",
    re.IGNORECASE,
)
"""Words that programs print when something is wrong; the last form is a linter's code."""


def cannot_pass(pipe: Sequence[PipePart]) -> str:
    """Reason that a pipe of two or more parts cannot pass, with a form that can; else empty."""
    first, last = pipe[0], pipe[-1]
    words, reader = plain_words(first.words), plain_words(last.words)
    if not words or words[0] is None or not reader or reader[0] is None:
        return ""
    name = base_name(words[0])
    second = plain_words(pipe[1].words)
    if _never_ends(name, words) and second and base_name(second[0] or "") in _TAKES_SOME:
        rest = pipe[1].text + pipe[1].after
        return (
            f"`{first.text}` is ended by the pipe where its reader has enough, which pipefail "
            f"shows as a failure; write: {rest.rstrip()} < <({first.text})"
        )
    pattern = _pattern(reader)
    if pattern is None or not _looks_for_failure(name, first, words, pattern):
        return ""
    why = f"it passes only where `{first.text}` ends with 0, which pipefail asks for"
    if runner_of(words):
        return f"{why}, and looks for a failure; a test that has to fail is `! COMMAND`, alone"
    merged = first.text if first.merges == ("2>&1" in first.text) else f"{first.text} 2>&1"
    after = first.after.replace("|&", "|", 1)
    return f"{why}; where that is to fail, write: {{ {merged}; test $? -ne 0; }} {after}"


def _looks_for_failure(
    name: str, first: PipePart, words: tuple[str | None, ...], pattern: str
) -> bool:
    """Whether the searched text is one that the program prints when it fails."""
    if name in _DIFFERS:
        return True
    if _GOOD.search(pattern) or _ASKS & {*words}:
        return False
    bad = _BAD.search(pattern) is not None
    if runner_of(words) or name in _WRITES_FAULTS:
        return bad
    return first.merges and (bad or not _is_third_party(name, words))


def _is_third_party(name: str, words: tuple[str | None, ...]) -> bool:
    """Whether it is a known program of others, not the project's own (``cargo run``)."""
    if name in ("cargo", "go"):
        return "run" not in words
    if name == "java":
        return not {"-jar", "-cp", "-classpath"} & {*words}
    return name in _THIRD_PARTY or name.startswith("git-")


def _pattern(words: tuple[str | None, ...]) -> str | None:
    """The pattern that a matcher looks for; None for another program or a search for absence."""
    if base_name(words[0] or "") not in MATCHERS:
        return None
    rest = words[1:]
    for word in rest:
        if word is not None and _NO_PATTERN.match(word):
            return None
    for place, word in enumerate(rest[:-1]):
        if word in ("-e", "--regexp"):
            return rest[place + 1] or ""
    given = [word for word in rest if word is None or word[:1] != "-"]
    return (given[0] or "") if given else None


def _never_ends(name: str, words: tuple[str | None, ...]) -> bool:
    follows = name == "tail" and bool({"-f", "-F", "--follow"} & {*words})
    reads = name in ("cat", "base64", "od", "xxd", "hexdump") and bool(_SOURCES & {*words})
    return name in _ENDLESS or follows or reads
