"""The parts of the user's home folder that a sandboxed command sees.

The home folder is a new and empty one. Entries without a leading dot are shown in it, read-only,
and of the others only those with tools: keys, tokens, histories, browsers, Flow's state stay out.
"""

from __future__ import annotations

import os

from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

TOOLS = frozenset(
    """
    .asdf .bun .cabal .cargo .conda .deno .dotnet .fnm .gem .ghcup .gitconfig .gitignore
    .gitignore_global .goenv .gradle .hex .jenv .m2 .mamba .mix .nodenv .npm .nuget .nvm .opam
    .pnpm-store .pub-cache .pyenv .python-version .rbenv .rustup .sdkman .stack .tool-versions .venv
    .virtualenvs .volta .yarn
    """.split()
)
"""Hidden entries of a home folder with programs to run or to build with."""
PARTS = tuple(
    """
    .cache/Cypress .cache/huggingface/hub .cache/ms-playwright .cache/pre-commit .cache/puppeteer
    .config/git .local/bin .local/lib .local/pipx .local/share/fnm .local/share/mise
    .local/share/pipx .local/share/pnpm .local/share/uv .local/share/virtualenvs
    """.split()
)
"""Likewise, below folders that hold other things too."""
SECRETS = tuple(
    """
    .aws .azure .cargo/credentials .cargo/credentials.toml .claude .claude.json .config/gh
    .config/git/credentials .docker .git-credentials .gnupg .gradle/gradle.properties
    .hex/hex.config .kube .m2/settings-security.xml .m2/settings.xml .netrc .npmrc .password-store
    .pgpass .pypirc .ssh .yarn/.yarnrc.yml
    """.split()
)
"""Covered wherever they can be seen."""
MOST = 150
"""Most entries of a home folder that are shown."""


def shown(home: str, environ: Mapping[str, str]) -> dict[str, str]:
    """path → ``read`` or the target of a symlink, for the shown parts of ``home`` (a real path)."""
    paths: dict[str, str] = {}
    wanted = TOOLS | _on_path(home, environ)
    try:
        entries = sorted(os.scandir(home), key=lambda entry: entry.name)
    except OSError:
        return paths
    for entry in entries:
        if len(paths) == MOST:
            break
        if not entry.name.startswith(".") or entry.name in wanted:
            link = entry.is_symlink()
            paths[entry.path] = f"link {os.readlink(entry.path)}" if link else "read"
    for part in PARTS:
        path = os.path.join(home, part)
        if os.path.exists(path) and os.path.realpath(path) == path:
            paths[path] = "read"
    return paths


def _on_path(home: str, environ: Mapping[str, str]) -> frozenset[str]:
    """Hidden folders of ``home`` that PATH leads into, except those with secrets."""
    names = set()
    for folder in environ.get("PATH", "").split(":"):
        real = os.path.realpath(folder) if folder.startswith("/") else ""
        if real.startswith(home + "/"):
            names.add(real[len(home) + 1 :].split("/")[0])
    kept = {part.split("/")[0] for part in (*SECRETS, *PARTS)}
    return frozenset(names - kept)


def secrets(home: str) -> list[str]:
    """The existing places below ``home`` that hold secrets."""
    paths = (os.path.join(home, name) for name in SECRETS)
    return [os.path.realpath(path) for path in paths if os.path.exists(path)]
