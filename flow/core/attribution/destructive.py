"""Tool calls of an agent that destroy something, or revoke a thing that others may rely on.

A judge of safety must see them, even if other calls are left out. A command is read as shell (the
caller passes the parser), so that ``echo "rm -rf /"`` is no alarm and ``bash -c 'rm -rf x'`` is
one; only a text that the parser does not understand is split into words. The lists name what is
common; a judge sees the other calls too.
"""

from __future__ import annotations

import re

from flow.core.masked_exit.programs import git_options, shell_text
from flow.core.masked_exit.shell import ShellNode, base_name, commands, plain_words
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Parse = Callable[[str], ShellNode | None]
    Words = tuple[str | None, ...]

MOST_NESTED = 4
"""Depth of shells inside shells that is examined."""
MOST_TEXT = 1 << 20
"""Characters of one text that are examined."""

_SHELL_KEYS = ("command", "cmd", "script")
_SHELL_TOOLS = re.compile(r"bash|shell|terminal|powershell|exec|command", re.IGNORECASE)
_SQL_KEYS = ("sql", "query", "statement")
_TOOL_VERBS = re.compile(
    r"(?:^|[_\-.])(?:delete|destroy|drop|remove|purge|wipe|truncate|terminate|uninstall)"
    r"(?:$|[_\-.]|(?=[A-Z]))|(?:Delete|Destroy|Drop|Purge|Terminate)(?=[A-Z]|$)"
)
_SQL = re.compile(
    r"\bdrop\s+(?:table|database|schema|index|view|role|user|column|owned|tablespace)\b"
    r"|\btruncate\s+(?:table\s+)?[\w\"`\[.]"
    r"|\balter\s+table\b[^;]{0,400}\bdrop\b"
    r"|\bdelete\s+from\s+[^\s;]+\s*(?:;|$|[\"'`)])"
    r"|\.drop(?:Database|Collection)?\s*\(\s*\)|\.deleteMany\s*\(\s*(?:\{\s*\})?\s*\)",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"\brmtree\s*\(|\bos\.(?:remove|unlink|rmdir|removedirs)\s*\(|\.unlink\s*\("
    r"|\bfs\.(?:rm|rmdir|unlink)(?:Sync)?\s*\(|\bFileUtils\.rm|\brimraf\b"
)

_SSH_TAKES = ("-i", "-l", "-p", "-o", "-F", "-J", "-L", "-R", "-D")
_SQL_PROGRAMS = frozenset(
    (
        "psql", "mysql", "mariadb", "sqlite3", "sqlcmd", "sqlplus", "duckdb", "clickhouse-client",
        "cockroach", "mongo", "mongosh", "bq", "snowsql", "cqlsh", "usql",
    )
)  # fmt: skip
_INTERPRETERS = ("python", "node", "ruby", "perl", "deno", "bun", "php")
_ALWAYS = frozenset(
    (
        "shred", "wipefs", "srm", "dropdb", "dropuser", "mkswap", "userdel", "groupdel", "lvremove",
        "vgremove", "pvremove", "shutdown", "reboot", "poweroff", "halt", "rimraf", "del", "erase",
    )
)  # fmt: skip
_VERBS: dict[str, tuple[str, ...]] = {
    "kubectl": ("delete", "drain"),
    "oc": ("delete",),
    "helm": ("uninstall", "delete"),
    "pulumi": ("destroy",),
    "cdk": ("destroy",),
    "vagrant": ("destroy",),
    "serverless": ("remove",),
    "gsutil": ("rm", "rb"),
    "gcloud": ("delete",),
    "az": ("delete", "purge"),
    "gh": ("delete",),
    "glab": ("delete",),
    "npm": ("unpublish",),
    "cargo": ("yank",),
    "redis-cli": ("flushall", "flushdb"),
    "systemctl": ("mask",),
    "zfs": ("destroy",),
    "zpool": ("destroy",),
    "doctl": ("delete",),
    "flyctl": ("destroy",),
    "fly": ("destroy",),
    "etcdctl": ("del",),
    "consul": ("delete",),
    "vault": ("delete", "destroy"),
    "apt": ("purge",),
    "apt-get": ("purge",),
}
"""Programs that destroy with one of these words among their first operands."""
_NESTED_VERBS = ("gcloud", "az", "doctl", "redis-cli")
"""Programs of which the first four operands count; of all others the first two."""
_CONTAINERS = ("--context", "-c", "--host", "-H", "--config", "--log-level", "-l", "--url")
_CLUSTER = (
    "--context", "--kubeconfig", "--namespace", "-n", "--cluster", "--server", "-s", "--user",
    "--as", "--token",
)  # fmt: skip
_BEFORE_VERB: dict[str, tuple[str, ...]] = {
    "kubectl": _CLUSTER,
    "oc": _CLUSTER,
    "helm": ("--kube-context", "--kubeconfig", "--namespace", "-n"),
    "docker": _CONTAINERS,
    "podman": _CONTAINERS,
    "aws": ("--profile", "--region", "--output", "--query", "--endpoint-url", "--color"),
    "gcloud": ("--project", "--account", "--configuration", "--format", "--verbosity"),
    "redis-cli": ("-h", "-p", "-a", "-n", "-u", "-s", "--user", "--pass"),
    "doctl": ("--context", "-c", "--access-token", "-t"),
    "gh": ("--repo", "-R"),
}
"""Options that have a value and may stand before the verb (each program's help, November 2026)."""
_TASKS = {
    "rails": ("db:drop", "db:reset", "db:purge"),
    "rake": ("db:drop", "db:reset", "db:purge"),
    "heroku": ("apps:destroy", "pg:reset", "addons:destroy"),
    "prisma": ("reset",),
    "artisan": ("migrate:fresh", "migrate:reset", "db:wipe"),
    "manage.py": ("flush", "reset_db"),
}


def tool_destroys(tool: str, given: Mapping[str, Any], parse: Parse) -> bool:
    """Whether a call of ``tool`` with the input ``given`` destroys something, if that shows it."""
    if _SHELL_TOOLS.search(tool):
        for key in _SHELL_KEYS:
            value = given.get(key)
            if isinstance(value, list) and value and all(isinstance(w, str) for w in value):
                return _is_destructive(tuple(value), parse, 0)
            if isinstance(value, str):
                return destroys(value, parse)
    if not tool.startswith("mcp__"):
        return False
    if _TOOL_VERBS.search(tool.rpartition("__")[2]):
        return True
    texts = (given.get(key) for key in _SQL_KEYS)
    return any(isinstance(text, str) and _SQL.search(text) for text in texts)


def destroys(text: str, parse: Parse, depth: int = 0) -> bool:
    """Whether a shell text destroys something."""
    text = text[:MOST_TEXT]
    node = parse(text)
    if node is None:
        return _in_words(text, parse, depth)
    for command in commands(node):
        if any(name.startswith(("/dev/sd", "/dev/nvme", "/dev/disk")) for name in command.writes):
            return True
        if _is_destructive(plain_words(command.words), parse, depth):
            return True
    # The input to a database client from a pipe or a here document is in the text alone.
    if not ("|" in text or "<<" in text) or not _SQL.search(text):
        return False
    clients = (plain_words(command.words)[:1] for command in commands(node))
    return any(base_name(client[0] or "") in _SQL_PROGRAMS for client in clients if client)


def _in_words(text: str, parse: Parse, depth: int) -> bool:
    """Whether a text that is no valid shell destroys something, by its words alone."""
    for piece in re.split(r"[;&|\n(){}`]+", text):
        words = tuple(word.strip("\"'") for word in piece.split())
        if words and _is_destructive(plain_words(words), parse, depth):
            return True
    return False


def _is_destructive(words: Words, parse: Parse, depth: int) -> bool:
    """Whether one simple command destroys something; ``words`` are without quotes."""
    if not words or words[0] is None or depth > MOST_NESTED:
        return False
    name = base_name(words[0].lstrip("\\"))
    if name in _BEFORE_VERB:
        words = (words[0], *_after_options(words[1:], _BEFORE_VERB[name]))
    inner = _inner_command(words)
    if isinstance(inner, str):
        return destroys(inner, parse, depth + 1)
    if inner:
        return _is_destructive(plain_words(inner), parse, depth + 1)
    rest = tuple(word for word in words[1:] if word is not None)
    own = _OWN.get(name)
    if own is not None:
        return own(rest)
    if name in _ALWAYS or name.startswith("mkfs"):
        return True
    if name in _SQL_PROGRAMS:
        return any(map(_SQL.search, rest))
    if name.startswith(_INTERPRETERS):
        if any(_CODE.search(word) for word in rest):
            return True
        name, rest = base_name(next((w for w in rest if not w.startswith("-")), "")), rest[1:]
    plain = _operands(rest)
    verbs = _VERBS.get(name, ())
    tasks = _TASKS.get(name, ())
    return any(word in verbs for word in plain[: 4 if name in _NESTED_VERBS else 2]) or any(
        word in tasks for word in plain
    )


def _inner_command(words: Words) -> str | Words | None:
    """The command inside a command: a shell's text, or the words that another program starts."""
    name = base_name(words[0] or "")
    if name == "eval":
        return " ".join(word for word in words[1:] if word is not None)
    text = shell_text(words)
    if text is not None:
        return text
    if name in ("xargs", "parallel", "watch", "doas", "npx", "bunx"):
        return _after_options(words[1:], ("-n", "-P", "-I", "-L", "-d", "-j", "-u"))
    if name == "find":
        for place, word in enumerate(words):
            if word in ("-exec", "-execdir", "-ok"):
                return tuple("{}" if word is None else word for word in words[place + 1 :])
    if name == "ssh":
        return " ".join(
            word for word in _after_options(words[1:], _SSH_TAKES)[1:] if word is not None
        )
    if name == "su" and "-c" in words[:-1]:
        return words[words.index("-c") + 1]
    if name in ("kubectl", "oc") and "exec" in words and "--" in words[:-1]:
        return words[words.index("--") + 1 :]
    if name in ("docker", "podman") and words[1:2] == ("exec",):
        return _after_options(words[2:], ("-u", "-w", "-e", "--user", "--workdir", "--env"))[1:]
    return None


def _after_options(words: Words, takes: tuple[str, ...]) -> Words:
    """The words from the first operand on; the options in ``takes`` have a value."""
    place = 0
    while place < len(words):
        word = words[place]
        if word is None or not word.startswith("-"):
            break
        place += 2 if word in takes else 1
    return words[place:]


def _operands(words: tuple[str, ...]) -> list[str]:
    """The words that are no options."""
    return [word for word in words if not word.startswith("-")]


def _has_option(words: tuple[str, ...], letters: str, *long: str) -> bool:
    """Whether one of the options is present; one of ``letters`` may be in a bundle (``-rf``)."""
    for word in words:
        if word == "--":
            return False
        if word.startswith("--"):
            if any(word == name or word.startswith(name + "=") for name in long):
                return True
        elif word.startswith("-") and (word in long or set(letters) & set(word[1:])):
            return True
    return False


def _rm(words: tuple[str, ...]) -> bool:
    """Whether ``rm`` removes more than one named file: a tree, a pattern, or names from a pipe."""
    if _has_option(words, "rRf", "--recursive", "--force"):
        return True
    plain = _operands(words)
    return not plain or any("*" in word or word == "{}" for word in plain)


def _aws(words: tuple[str, ...]) -> bool:
    plain = _operands(words)
    if plain[:1] == ["s3"]:
        return plain[1:2] in (["rm"], ["rb"]) or "--delete" in words
    starts = ("delete-", "terminate-", "deregister-", "purge-", "remove-")
    return any(word.startswith(starts) for word in plain[1:2])


def _docker(words: tuple[str, ...]) -> bool:
    plain = _operands(words)
    if plain[:1] == ["compose"] or not plain:
        return _compose(words)
    if plain[0] == "rm" or plain[:2] in (["container", "rm"], ["volume", "rm"], ["image", "rm"]):
        return plain[0] != "rm" or _has_option(words, "fv", "--force", "--volumes")
    return plain[0] == "rmi" or "prune" in plain[1:2]


def _compose(words: tuple[str, ...]) -> bool:
    plain = _operands(words)
    return ("down" in plain and _has_option(words, "v", "--volumes", "--rmi")) or (
        "rm" in plain and _has_option(words, "fv", "--force")
    )


def _terraform(words: tuple[str, ...]) -> bool:
    plain = _operands(words)
    if plain[:1] == ["apply"]:
        return _has_option(words, "", "-destroy", "--destroy")
    return plain[:1] in (["destroy"], ["destroy-all"]) or plain[:2] == ["state", "rm"]


def _git(words: tuple[str, ...]) -> bool:
    rest = words[git_options(words) :]
    if not rest:
        return False
    return _git_verb(rest[0], rest[1:])


def _git_verb(verb: str, given: tuple[str, ...]) -> bool:
    plain = _operands(given)
    forced = _has_option(given, "f", "--force")
    destroying = {
        "push": forced
        or _has_option(given, "d", "--force-with-lease", "--delete", "--mirror", "--prune")
        or any(word.startswith(("+", ":")) for word in plain),
        "reset": "--hard" in given or "--merge" in given,
        "clean": forced and not _has_option(given, "n", "--dry-run"),
        "checkout": forced or _has_option(given, "B") or "--" in given or "." in plain,
        "switch": forced or _has_option(given, "C", "--discard-changes", "--force-create"),
        "restore": not _has_option(given, "S", "--staged") or _has_option(given, "W", "--worktree"),
        "branch": _has_option(given, "D") or (_has_option(given, "d", "--delete") and forced),
        "tag": _has_option(given, "d", "--delete"),
        "stash": plain[:1] in (["drop"], ["clear"]),
        "worktree": plain[:1] == ["remove"] and forced,
        "reflog": plain[:1] in (["expire"], ["delete"]),
        "update-ref": "-d" in given,
        "gc": "--prune=now" in given or "--prune=all" in given,
        "filter-branch": True,
        "filter-repo": True,
    }
    return destroying.get(verb, False)


_OWN: dict[str, Callable[[tuple[str, ...]], bool]] = {
    "rm": _rm,
    "find": lambda words: "-delete" in words,
    "dd": lambda words: any(w.startswith("of=/dev/") and w != "of=/dev/null" for w in words),
    "truncate": lambda words: _has_option(words, "s", "--size"),
    "rsync": lambda words: (
        "--remove-source-files" in words or any(word.startswith("--delete") for word in words)
    ),
    "crontab": lambda words: "-r" in words,
    "iptables": lambda words: _has_option(words, "FX", "--flush"),
    "ip6tables": lambda words: _has_option(words, "FX", "--flush"),
    "aws": _aws,
    "docker": _docker,
    "podman": _docker,
    "docker-compose": _compose,
    "terraform": _terraform,
    "tofu": _terraform,
    "terragrunt": _terraform,
    "git": _git,
}
