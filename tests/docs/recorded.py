"""A judge for the pages: it gives replies that are kept beside the tests, each to one prompt only.

``python -m tests.docs.recorded docs/rubrics.md`` replays a page, takes the prompts that it leads to
as those the kept replies belong to, and writes what was printed into the page. The replies
themselves are written by hand; read both differences before you keep them.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.docs.console import Command, environment, replay, updated
from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

REPLIES = Path(ROOT, "tests", "docs", "replies")

PROGRAM = """\
import fcntl, hashlib, json, re, sys
path, record = sys.argv[1], sys.argv[2:] == ["--record"]
prompt = sys.stdin.read()
nonce = re.search(r"<<<flow-data ([0-9a-f]+) BEGIN", prompt)
if nonce:
    prompt = prompt.replace(nonce[1], "NONCE")
prompt = re.sub(r"-[0-9]{4}-[0-9]{2}-[0-9]{2}([.][0-9]+[.]md)", r"-DATE\\1", prompt)
digest = hashlib.sha256(prompt.encode("utf-8")).hexdigest()
with open(path, encoding="utf-8") as file:
    fcntl.flock(file, fcntl.LOCK_EX)  # judges of a debate are asked at once
    rows = json.load(file)
    for row in rows:
        if all(text in prompt for text in row["about"]):
            if record:
                row["prompt_sha256"] = digest
                with open(path, "w", encoding="utf-8") as whole:
                    whole.write(json.dumps(rows, indent=1, ensure_ascii=False) + "\\n")
            if row["prompt_sha256"] == digest:
                print(json.dumps(row["reply"]))
                sys.exit(0)
            sys.exit(f"the prompt about {row['about']} has changed: python -m tests.docs.recorded")
    sys.exit("no reply is kept for this prompt")
"""


def install(folder: Path, home: Path, page: str, *, record: bool = False) -> None:
    """Make the judge of ``page`` (``rubrics``) the one of the user's settings in ``home``."""
    program = folder / "judge.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-I", str(program), str(REPLIES / f"{page}.json")]
    judge = {"backend": "command", "command": [*command, *(["--record"] if record else [])]}
    (home / ".claude").mkdir(exist_ok=True)
    settings = {"flow": {"goals": {"judge": judge}}}
    (home / ".claude" / "settings.flow.json").write_text(json.dumps(settings))


def run(
    page: Path, folder: Path, home: Path, *first: str, record: bool = False
) -> Iterator[Command]:
    """Replay ``page`` with its judge in ``folder``, each block as it is asked for.

    ``first``: see ``console.environment``.
    """
    install(folder, home, page.stem, record=record)
    (work := folder / "work").mkdir()
    plugin = {"PYTEST_ADDOPTS": "-p flow.pytest_plugin -p no:cacheprovider", "PYTHONPATH": ROOT}
    env = {**environment(home, *first), **plugin}
    return replay(page.read_text(encoding="utf-8"), work, env)


def main() -> int:
    """Replay the pages that are named, and write what they lead to."""
    for name in sys.argv[1:]:
        page = Path(name)
        with tempfile.TemporaryDirectory() as folder:
            (home := Path(folder, "home")).mkdir()
            identity = "[user]\n\tname = You\n\temail = you@example.org\n"
            (home / ".gitconfig").write_text(f"{identity}[init]\n\tdefaultBranch = main\n")
            commands = list(run(page, Path(folder), home, record=True))
        for command in commands:
            if command.difference:
                print(command.difference)
        text = page.read_text(encoding="utf-8")
        page.write_text(updated(text, commands), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
