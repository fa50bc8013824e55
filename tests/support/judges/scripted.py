"""What judges of the backend ``command`` share that say what a test tells them: a shell script.

A judge is started for each question: a shell takes a tenth of what an interpreter takes.
"""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

WAITS = """\
left=6000
: >"$folder/waiting-${{judge-}}"
until [ -e "$folder/"{name} ]; do
    left=$((left - 1)); [ $left -gt 0 ] || exit 9
    sleep 0.05
done
"""
"""At most five minutes: it is left alone where Flow itself was killed."""


def install(folder: Path, home: Path, program: str, settings: Mapping[str, Any]) -> None:
    """Put the script into ``folder``, and it into the user's settings in ``home`` as the judge.

    It finds ``$folder`` set.
    """
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "judge.sh"
    script.write_text(f"set -u\nfolder=${{0%/*}}\n{program}")
    judge = {
        "backend": "command",
        "command": ["/bin/sh", str(script)],
        "timeoutSeconds": 60,
        **settings,
    }
    path = home / ".claude" / "settings.flow.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"flow": {"goals": {"judge": judge}}}))


def text_of(step: Mapping[str, Any]) -> str:
    """What a step prints: ``raw`` as it is, or its ``reply`` as a document."""
    return str(step["raw"]) if "raw" in step else json.dumps(step.get("reply", {}))


def steps_code(step: Mapping[str, Any], text: str) -> str:
    """A step as the shell does it.

    It runs ``run`` (code of the shell), waits for a file named ``wait`` in its folder (that it does
    is a file, too: ``waiting-2`` of judge 2), tells its ``usage``, prints ``stderr`` and ``text``,
    and ends with the status ``exit``.
    """
    code = f"{step['run']}\n" if "run" in step else ""
    if "wait" in step:
        code += WAITS.format(name=quote(step["wait"]))
    if "usage" in step:
        code += f'printf %s {quote(json.dumps(step["usage"]))} >"$FLOW_JUDGE_USAGE"\n'
    if "stderr" in step:
        code += f"printf %s {quote(step['stderr'])} >&2\n"
    return f"{code}printf %s {quote(text)}\nexit {step.get('exit', 0)}\n"
