"""git's settings that can change its answers or start programs, as digests by section.

A settings file is not interpreted but divided: a section counts with every line that is not known
to be harmless, so an unforeseen key counts. Harmless are the settings that git and its tools write
in everyday work and that steer no answer (git-config(1) of git 2.39, 2022-12).
"""

from __future__ import annotations

import os

from flow.adapters.git.find import read_regular
from flow.adapters.git.run import user_config
from flow.startup import re
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.git.find import Repo

_ALL = None
_NONE: frozenset[bytes] = frozenset()
HARMLESS: Mapping[bytes, frozenset[bytes] | None] = {
    b"advice": _ALL,
    b"branch": _ALL,  # upstreams and notes of tools
    b"color": _ALL,
    b"column": _ALL,
    b"commit": frozenset((b"gpgsign", b"verbose")),
    b"core": frozenset((b"hookspath",)),  # a guard with a name of its own
    b"gitflow": _ALL,
    b"github": _ALL,
    b"gui": _ALL,
    b"http": _ALL,  # access to remotes
    b"init": frozenset((b"defaultbranch",)),
    b"lfs": frozenset((b"access", b"repositoryformatversion")),
    b"maintenance": _ALL,
    b"pull": _ALL,
    b"push": frozenset((b"autosetupremote", b"default", b"followtags")),
    b"remote": frozenset((b"url", b"pushurl", b"fetch", b"tagopt", b"prune", b"gh-resolved")),
    b"safe": _ALL,
    b"submodule": frozenset((b"active", b"url")),
    b"url": frozenset((b"insteadof", b"pushinsteadof")),  # addresses of remotes
    b"user": _ALL,
}
"""section → its keys that steer nothing; None means all of them."""

_HEADER = rb'\[\s*([A-Za-z0-9-]+)(?:\.[^\s"\]]*|\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(?:[#;].*)?'
_NAME = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-"
_LONGEST = 80
"""Bytes of a subsection's name that are shown; sections that differ after them count together."""
_INCLUDES = ("include", "includeif")


def places(repo: Repo) -> dict[str, str]:
    """name → path of the settings files that are in force in this checkout."""
    home = os.environ.get("HOME", "")
    xdg = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    return {
        "config": os.path.join(repo.common_dir or "", "config"),
        "config.worktree": os.path.join(repo.git_dir or "", "config.worktree"),
        "~/.gitconfig": os.path.join(home, ".gitconfig"),
        "~/.config/git/config": os.path.join(xdg, "git", "config"),
        "/etc/gitconfig": os.path.join(os.sep, "etc", "gitconfig"),
    }


def sections(text: bytes) -> dict[str, list[bytes]]:
    """Section → the lines of it that count. A file with continued lines counts as one section."""
    if b"\\\n" in text.replace(b"\r", b""):
        return {"": [text]}
    by_name: dict[str, list[bytes]] = {}
    name, harmless = "", _NONE
    everything = False
    for raw in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        line = raw.strip()
        if not line or line[:1] in b"#;":
            continue
        header = header_of(line)
        if header is not None:
            name = _shown(*header)
            keys = HARMLESS.get(header[0].lower(), _NONE)
            everything, harmless = keys is None, keys or _NONE
        elif line[:1] == b"[":  # with a key after it, or another section
            name, everything, harmless = _text(line), False, _NONE
            by_name.setdefault(name, []).append(line)
        elif not everything and line.partition(b"=")[0].strip().lower() not in harmless:
            by_name.setdefault(name, []).append(line)
    return by_name


def digests(repo: Repo) -> dict[str, str]:
    """name → digest of each section of each settings file that can steer git."""
    sums: dict[str, str] = {}
    included = False
    for place, path in places(repo).items():
        for section, lines in sections(read_regular(path) or b"").items():
            name = f"{place} [{section}]" if section else place
            sums[name] = sha256(b"\n".join(lines)).hexdigest()
            included = included or section.lower().startswith(_INCLUDES) or not section
    if included:
        sums["config (with what it includes)"] = _in_force(repo)
    return sums


def _in_force(repo: Repo) -> str:
    """The digest of every setting that is in force and counts, as git reads them."""
    counted = []
    for entry in user_config(repo, "-z", "--list").split(b"\0"):
        section, _, rest = entry.partition(b"\n")[0].partition(b".")
        keys = HARMLESS.get(section.lower(), _NONE)
        if keys is not None and rest.rpartition(b".")[2].lower() not in keys:
            counted.append(entry)
    return sha256(b"\0".join(counted)).hexdigest()


def header_of(line: bytes) -> tuple[bytes, bytes | None] | None:
    """Section and subsection that a line begins; None if it begins none.

    Forms that git itself writes are read without a pattern.
    """
    if line[:1] != b"[":
        return None
    section, blank, quoted = line[1:-1].partition(b" ")
    if line.endswith(b"]") and section and not section.strip(_NAME):
        if not blank:
            return section, None
        subsection = quoted[1:-1]
        if quoted == b'"%b"' % subsection and b'"' not in subsection and b"\\" not in subsection:
            return section, subsection
    match = re.fullmatch(_HEADER, line)
    return None if match is None else (match[1], match[2])


def _shown(section: bytes, subsection: bytes | None) -> str:
    section = section.lower()
    return _text(section if subsection is None else b'%b "%b"' % (section, subsection))


def _text(data: bytes) -> str:
    return data[:_LONGEST].decode("utf-8", "backslashreplace")
