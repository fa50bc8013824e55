"""The tool calls of an agent that only a person may allow (SPEC 17.3).

The text of the call alone decides. This is no barrier: a text can hide its effect. Against hidden
calls the commands themselves refuse ``--trust-digest``, ``evaluate --confirm`` and a second goal in
an agent's shell; the rest is recorded with its speaker. Every plain way to a person's decision
raises a question, and so does any text with ``flow`` in it whose meaning is not plain. All other
calls get no opinion, so that an agent can work for hours without a question.
"""

from __future__ import annotations

import re
from itertools import pairwise
from posixpath import join, normpath

from flow.core.masked_exit.runner_words import option_values
from flow.core.masked_exit.shell import plain_words
from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FLOW = r"""f["'\\$\n]*l["'\\$\n]*o["'\\$\n]*w"""
"""The shell takes out quotes and an escaped line break: ``fl''ow``, ``"f"low``, ``f\\low``."""
_OTHER_NAME = r"-(?!active|ask|demo|goal|judge|mcp|paths|record|state)\w+(?![\w\"'\\$*?{\[])"
MENTION = re.compile(
    rf"(?<![A-Za-z0-9_]){_FLOW}(?![A-Za-z0-9_]|/|\.[A-Za-z]|{_OTHER_NAME})|\.{_FLOW}(?![A-Za-z0-9_])"
    rf"|\s-\w*m{_FLOW}(?![A-Za-z0-9_])|{_FLOW}/__main__|\.claude(?:/settings|/?(?![\w./-]))"
    rf"|(?:\b(?:from|import)\s+|\b(?:import_module|__import__|run_module)\([\"'\\]+){_FLOW}(?!\w)"
)
"""``flow`` as a separate word, Python's ways to start it, the folder of the settings; not the
``flow`` of ``workflow``, ``src/flow/``, ``flow.py`` or ``flow-app``, but of a helper's name."""
_GLUED = re.compile(r"(?:^|[\s;&|(])\w+=\S*flow[\s\S]*\b(?:goal|trust|lifecycle|verdict)\b")
"""``flow`` inside the value of a variable, in a text that also names a subject of Flow's."""

Kind = Literal[
    "confirm", "approve", "amend", "rebase", "trust", "clear", "activate", "create", "claim",
    "forget", "config", "init", "inbox", "fix", "yes", "trust-digest", "engine", "lifecycle",
    "verdict", "files", "settings", "unclear",
]  # fmt: skip


class Act(NamedTuple):
    """A part of a call that a person decides. ``words`` are those after the program's name."""

    kind: Kind
    words: tuple[str, ...] = ()
    program: str = "flow"
    """``flow``, or one of its helpers."""


ONLY_BESIDE_ACTIVE: frozenset[Kind] = frozenset({"create", "init"})
"""Kinds that raise a question only if a goal is active already."""

_VERBS: dict[tuple[str, str], Kind | None] = {
    **dict.fromkeys(
        [
            *(("goal", verb) for verb in ("status", "list", "history", "inspect", "evaluate")),
            *(("goal", verb) for verb in ("pause", "resume", "wait", "baseline", "watch")),
            *(("evidence", verb) for verb in ("list", "show", "verify", "record", "import")),
            ("evidence", "export"),
            *(("journal", verb) for verb in ("record", "show")),
            *(("trust", verb) for verb in ("check", "list")),
            *(("config", verb) for verb in ("list", "get")),
            ("verdict", "show"),
            ("engine", "list"),
        ]
    ),
    ("goal", "confirm"): "confirm",
    ("goal", "approve"): "approve",
    ("goal", "amend"): "amend",
    ("goal", "rebase"): "rebase",
    ("goal", "clear"): "clear",
    ("goal", "activate"): "activate",
    ("goal", "create"): "create",
    ("goal", "claim"): "claim",
    ("goal", "forget"): "forget",
    ("verdict", "record"): "verdict",
    ("trust", "record"): "trust",
    ("trust", "revoke"): "trust",
    ("trust", "sign"): "trust",
    ("config", "set"): "config",
    ("config", "unset"): "config",
}
"""By group and verb; None if an agent may run it. A missing verb is unclear."""
_HARMLESS_COMMANDS = frozenset({
    "completion", "demo", "doctor", "gc", "help", "hook", "judge", "report", "schema", "statusline",
})  # fmt: skip
_HELPERS: dict[str, Kind | None] = {
    "flow-active-goal.sh": None,
    "flow-record-evidence.sh": None,
    "flow-paths": None,
    "flow-goal-record.sh": "lifecycle",
    "flow-record-verdict.sh": "verdict",
    "flow-goal-trust.sh": "trust",
}
_OPTIONS: dict[str, Kind] = {
    "--trust-digest": "trust-digest",
    "--allowed-signers": "trust-digest",
    "--engine": "engine",
    "--confirm": "confirm",
    "--fix": "fix",
}

_READERS = frozenset({
    "[", "basename", "cat", "cd", "cmp", "cut", "diff", "dirname", "du", "echo", "egrep", "false",
    "fgrep", "file", "find", "grep", "head", "jq", "less", "ls", "md5sum", "more", "nl", "popd",
    "printf", "pushd", "pwd", "readlink", "realpath", "rg", "sha256sum", "stat", "tail", "test",
    "tree", "true", "type", "wc", "which",
})  # fmt: skip
"""Programs that only read, as long as no output is redirected to a file."""
_WRITES_WITH = {
    "file": re.compile(r"-\w*C|--co"),
    "find": re.compile(r"-(?:exec|ok|delete|fprint|fls)"),
    "less": re.compile(r"\+|-\w*[oO]|--(?:log|LOG)"),
    "printf": re.compile(r"-v"),
    "rg": re.compile(r"--(?:pre|hostname-bin)"),
    "tree": re.compile(r"-\w*o|--output"),
}
"""The options with which these write a file or a variable, or run a program."""
_PRINTED_LINES = re.compile(r"(?:\d+|\$)(?:,\+?(?:\d+|\$))?p")
"""A text of ``sed -n`` that only prints lines."""
_TOOLS = frozenset(["black", "flake8", "isort", "mkdir", "mypy", "pylint", "pytest", "ruff"])
"""Programs that take ``flow`` as the name of a file or folder and do not run it."""
_OUTPUT_OPTIONS = re.compile(r"-o|--(?:base|cache|cov|html|junit|log-f|out|rep|res|[a-z]+-report)")
"""Their options that name a file or folder to write."""
_LAUNCHERS = frozenset(["uv", "uvx", "pipx", "poetry", "pdm", "hatch", "rye", "npx"])
"""Programs that run the program that one of their words names."""
_INTERPRETERS = (
    "ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "mksh", "pwsh", "sh", "tcsh", "zsh",
    "bun", "deno", "expect", "lua", "node", "perl", "php", "python", "ruby", "tclsh",
    ".", "at", "batch", "crontab", "eval", "gmake", "make", "parallel", "read", "source", "xargs",
    "chroot", "doas", "docker", "env", "flow", "kubectl", "nsenter", "podman", "pkexec", "runuser",
    "screen", "script", "ssh", "su", "tmux", "unshare", "emacs", "gdb", "nvim", "vi",
)  # fmt: skip
"""Beginnings of the names of programs that may run their input."""
_HERE_DOCUMENT = re.compile(
    r"""<<(?!<)-?[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([^\s;|&()<>'"\\]+))"""
)
_BEFORE_A_COMMENT = frozenset(" \t\n;|&()<>")
_TO_A_FILE = re.compile(r"\d?>{1,2}\s*[\w./-]+(?=\s|$)")
HARMLESS_REDIRECTION = re.compile(
    r"(?:(?:(?<!\S)\d)?(?:>{1,2}\s*/dev/null|>&\d)|&>\s*/dev/null)(?!\S)"
)
_CHANGES_FOLDER = re.compile(
    r"\s*(?:(?:then|do|else|if|while|until|elif|time|!|\{|builtin|command|\w+=\S*)\s+)*"
    r"(?P<verb>cd|pushd|popd)(?![^\s])(?:\s+-[LPe@]+|\s+--(?=\s))*(?P<folder>.*)"
)
_COMMIT_MESSAGE = re.compile(
    r"(\b(?:git commit|gh (?:pr|issue) \w+)\b[^;&|\n]* (?:-m|-b|--body) )"
    r"\"\$\(cat <<'(\w+)'\n[\s\S]*?\n\2\n\)\""
)
"""A message of several lines for a commit or for GitHub, in Claude Code's form."""
_KEYWORDS = frozenset(["then", "do", "else", "!", "time", "if", "elif", "while", "until", "{", "}"])
_ENDS_OF_GROUPS = frozenset(["", "}", "done", "fi", "esac"])
"""The rest of a command in parentheses is empty."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


def acts_in_shell(text: str) -> tuple[Act, ...]:
    """The acts in a shell text; empty if Flow has no opinion about it."""
    text = _COMMIT_MESSAGE.sub(r"\1message", text)
    if MENTION.search(text) is None:
        return (Act("unclear"),) if _GLUED.search(text) else ()
    acts: list[Act] = []
    mentioned = piped = substituted = False
    for segment, after in segments(text):
        bare = segment.strip()
        mentions = MENTION.search(segment) is not None
        mentioned = mentioned or mentions
        if mentions:
            acts += _acts_of(segment) or [Act("unclear")] * substituted
        elif piped and bare and _runs_input(segment):
            acts.append(Act("unclear"))
        into_pipe = mentions or piped or (mentioned and bare in _ENDS_OF_GROUPS)
        piped = (piped and not bare) or (after == "|" and into_pipe)
        if after == "(" and segment.endswith(("$", "<", ">")):
            # what the inner commands print becomes words of this one
            substituted = substituted or not _is_reader(segment[:-1])
    return tuple(dict.fromkeys(acts)) or ((Act("unclear"),) if _GLUED.search(text) else ())


def _is_flows(parts: Sequence[str]) -> bool:
    """Whether a path, by its parts, is Flow's: below ``.flow``, or in the user's state folder."""
    return ".flow" in parts or (".claude", "flow-state") in pairwise(parts)


def acts_on_path(path: str) -> tuple[Act, ...]:
    """The acts of a tool that writes to ``path`` (absolute, links resolved)."""
    parts = path.lower().split("/")  # to the file systems of macOS it is the same file
    if _is_flows(parts):
        return (Act("files"),)
    folder, name = parts[-2:] if len(parts) > 1 else ("", path)
    settings = folder == ".claude" and name.startswith("settings")
    return (Act("settings"),) if settings else ()


def acts_in_folder(folder: str, text: str) -> tuple[Act, ...]:
    """The acts of a shell text that begins in ``folder`` (absolute, links resolved).

    A ``cd`` in the text counts for the commands after it, up to the end of its subshell.
    """
    acts: list[Act] = []
    place, outer = _Place(folder, folder, ()), []
    for segment, after in segments(text):
        bare = HARMLESS_REDIRECTION.sub(" ", segment)
        moved = _CHANGES_FOLDER.match(bare)
        if ">" in bare if moved else bare.strip() and not _is_reader(segment):
            acts += _acts_of_writing(place.folder, segment)
        if moved:
            place = _moved(place, moved["verb"], re.sub("[\"'\\\\]", "", moved["folder"].strip()))
        if after.startswith("("):
            outer.append(place)
        elif after.startswith(")") and outer:
            place = outer.pop()
    return tuple(dict.fromkeys(acts))


class _Place(NamedTuple):
    """The folder of a shell, the one before it, and those that ``pushd`` put aside."""

    folder: str
    before: str
    aside: tuple[str, ...]


def _moved(place: _Place, verb: str, named: str) -> _Place:
    """The place after ``cd``, ``pushd`` or ``popd``, of which the last may have no way back."""
    *rest, last = place.aside or (place.folder,)
    if verb == "popd":
        return place if named else _Place(last, place.folder, tuple(rest))
    if verb == "pushd" and named[:1] in ("", "+", "-"):  # the two change places
        return _Place(last, place.folder, (*rest, place.folder))
    folder = place.before if named == "-" else normpath(join(place.folder, named or "~"))
    return _Place(
        folder, place.folder, (*place.aside, place.folder) if verb == "pushd" else place.aside
    )


def _acts_of_writing(folder: str, segment: str) -> list[Act]:
    """The acts of a command that may write into the folder that it runs in."""
    parts = folder.split("/")
    if _is_flows(parts):
        return [Act("files")]
    settings = parts[-1] == ".claude" and re.search(r"settings|[*?]", segment)
    return [Act("settings")] if settings else []


def _unescaped(text: str) -> Iterator[tuple[int, str, str]]:
    """(index, character, open quote) of every character that no backslash escapes.

    The quote is ``#`` in a comment. Nothing opens a quote there, or in a here-document.
    """
    quote, escaped, before, end_of_documents = "", False, "\n", 0
    documents: list[str] = []
    for place, char in enumerate(text):
        if place < end_of_documents:
            yield place, char, ""
        elif escaped:
            escaped = False
        elif char == "\\" and quote not in ("'", "#"):
            escaped = True
            before = char
        else:
            if (char == quote != "#") or (char == "\n" and quote == "#"):
                quote = ""
            elif not quote and (char in "'\"" or (char == "#" and before in _BEFORE_A_COMMENT)):
                quote = char
            if not quote and before != "<" and (begun := _HERE_DOCUMENT.match(text, place)):
                documents += filter(None, begun.groups())
            elif not quote and char == "\n" and documents:
                end_of_documents, documents = _end_of_documents(text, place, documents), []
            yield place, char, quote
            before = char


def _end_of_documents(text: str, begin: int, delimiters: list[str]) -> int:
    """The end of the here-documents after the line that ends at ``begin``."""
    for delimiter in delimiters:
        last = re.compile(rf"^\t*{re.escape(delimiter)}$", re.MULTILINE).search(text, begin + 1)
        begin = last.end() if last else begin
    return begin


def segments(text: str) -> Iterator[tuple[str, str]]:
    """The simple commands of a text as written, each with the operator after it."""
    begin = 0
    for place, sign, quote in _unescaped(text):
        before, after = text[place - 1 : place], text[place + 1 : place + 2]
        redirects = sign == "&" and (before in ("<", ">") or after == ">")
        if quote in ("", "#") and sign in ";|&\n()" and not redirects:
            yield text[begin:place], sign if sign not in (after, before) else sign * 2
            begin = place + 1
    yield text[begin:], ""


def _acts_of(segment: str) -> list[Act]:
    """The acts in one simple command that mentions Flow."""
    words = _simple_words(segment)
    if words is None:
        target = _TO_A_FILE.search(segment)
        words = _simple_words(segment.replace(target.group(), " ")) if target else None
        if target is None or words is None or MENTION.search(target.group()):
            return [Act("unclear")]
        if not _is_flow((*plain_words(tuple(words)), "")[0]):
            return [Act("unclear")]
    while words and (words[0] in _KEYWORDS or _ASSIGNMENT.match(words[0])):
        if MENTION.search(words.pop(0)):
            return [Act("unclear")]
    return _acts_of_words([word or "" for word in plain_words(tuple(words))])


def _acts_of_words(words: list[str]) -> list[Act]:
    if not words:
        return []
    name = words[0].rpartition("/")[2]
    if name in _LAUNCHERS:
        started = next((n for n, word in enumerate(words) if n and _is_flow(word)), None)
        return [Act("unclear")] if started is None else _acts_of_flow(words[started + 1 :])
    if _is_flow(name):
        return _acts_of_flow(words[1:])
    if name in _HELPERS:
        return _acts_of_helper(name, words[1:])
    if name.startswith("python") and words[1:3] == ["-m", "flow"]:
        return _acts_of_flow(words[3:])
    if name.startswith("python") and words[1:2] == ["-m"]:
        del words[:2]
        name = words[0] if words else ""
    if name == "gh":
        harmless = words[1:2] in (["issue"], ["pr"])
    elif name == "git":
        harmless = _reads_git(words[1:])
    else:
        writes = any(map(_OUTPUT_OPTIONS.match, words)) and _has_own_path(words)
        harmless = name in _TOOLS and _names_only(words[1:]) and not writes
    return [] if harmless or (words and _reads(words)) else [Act("unclear")]


def _simple_words(segment: str) -> list[str] | None:
    """The words of a simple command; None if the shell computes one, or a file is written."""
    import shlex

    bare = HARMLESS_REDIRECTION.sub(" ", segment)
    end = len(bare)
    for place, sign, quote in _unescaped(bare):
        if (sign in "$`" and quote != "'") or (sign in "<>\n" and not quote):
            return None
        end = min(end, place) if quote == "#" else end
    try:
        return shlex.split(bare[:end].replace("\\\n", ""))
    except ValueError:
        return None


def _is_flow(word: str | None) -> bool:
    return word is not None and word.rpartition("/")[2] == "flow"


def _acts_of_flow(words: Sequence[str]) -> list[Act]:
    given = tuple(words)
    acts = [
        Act(kind, given)
        for word in given
        for option, kind in _OPTIONS.items()
        if word.partition("=")[0] == option
    ]
    for command in option_values(given, "", "--until"):  # `flow goal wait` runs it
        acts += acts_in_shell(command)
    for path in option_values(given, "", "--output"):
        acts += acts_on_path(path)
    names = [word for word in given if not word.startswith("-")]
    options = given[: given.index("--")] if "--" in given else given
    if not names or "--help" in options or "-h" in options:
        return acts
    kind: Kind | None
    if names[0] in _HARMLESS_COMMANDS:
        kind = None
    elif names[0] == "init":
        kind = "init"
    elif names[0] == "inbox":
        kind = "inbox" if "forget" in names or "--evaluate" in given else None
    else:
        kind = _VERBS.get((names[0], names[1] if len(names) > 1 else ""), "unclear")
        if len(names) == 1:  # the group's help
            kind = None if any(names[0] == group for group, _ in _VERBS) else "unclear"
    if kind is None and "--yes" in given:  # gc, evidence verify --forget: Flow asks a person
        kind = "yes"
    return [*acts, Act(kind, given)] if kind is not None else acts


def _acts_of_helper(name: str, words: Sequence[str]) -> list[Act]:
    kind = _HELPERS[name]
    reads = "--help" in words or (kind == "trust" and words[:1] in (["check"], ["list"]))
    if kind is None or reads:
        return []
    return [Act(kind, tuple(words), name)]


def _runs_input(segment: str) -> bool:
    """Whether a command may run its standard input."""
    given = _simple_words(segment) or ["sh"]
    while given and given[0] in _KEYWORDS:
        del given[0]
    words = plain_words(tuple(given))
    name = (words[0] or "sh").rpartition("/")[2] if words else ""
    return name.startswith(_INTERPRETERS)


def _is_reader(segment: str) -> bool:
    words = _simple_words(segment)
    if not words:
        return False
    return _reads(words) or (_is_flow(words[0]) and not _acts_of(segment))


def _reads(words: Sequence[str]) -> bool:
    """Whether a command only reads."""
    name = words[0].rpartition("/")[2]
    if name == "sed":
        prints = len(words) > 2 and words[1] == "-n" and _PRINTED_LINES.fullmatch(words[2])
        return bool(prints) and not any(word.startswith("-") for word in words[3:])
    writes_with = _WRITES_WITH.get(name)
    return name in _READERS and not (writes_with and any(map(writes_with.match, words[1:])))


def _names_only(words: Sequence[str]) -> bool:
    """Whether no word could itself be a shell text."""
    return not any(" " in word and MENTION.search(word) for word in words)


def _has_own_path(words: Sequence[str]) -> bool:
    """Whether a word may name a file of Flow's own, or the settings."""
    return any(".flow" in word or ".claude" in word for word in words)


_GIT_READS = frozenset({
    "add", "blame", "commit", "diff", "fetch", "grep", "log", "ls-files", "push", "rev-parse",
    "shortlog", "show", "status",
})  # fmt: skip
_GIT_NAMES = frozenset(["branch", "checkout", "merge", "switch", "tag", "worktree"])
"""Subcommands that may take a name with ``flow`` in it, but change files if given a path."""
_GIT_WRITES_OR_RUNS = re.compile(r"-O|--(?:out|open|up|rec|exec)")
"""The options with which git writes a file or runs a program; git takes their beginnings, too."""


def _reads_git(words: Sequence[str]) -> bool:
    paths = _has_own_path(words)
    if any(map(_GIT_WRITES_OR_RUNS.match, words)):
        return False
    while words[:1] == ["-C"]:
        words = words[2:]
    if not words or words[0] not in _GIT_READS | _GIT_NAMES:
        return False
    return words[0] in _GIT_READS or (not paths and _names_only(words))
