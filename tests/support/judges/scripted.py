"""What judges of the backend ``command`` share that say what a test tells them: a shell script.

A judge is started for each question, and the two forks for that cost more than all else that a
command does. So where it runs in the test's own process (:mod:`tests.support.here`), an answer is
given there, too, if nothing but words was planned. One that waits or runs something comes from the
script, as in any Flow that was started. ``tests/adapters/judges/test_command.py`` has the process.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from flow.adapters.judges import command
from flow.adapters.process.with_input import InputRunResult, run_with_input

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Twin = Callable[[Path, bytes, Mapping[str, str]], tuple[Sequence[str], Callable[[], object]]]
    """From folder, prompt and environment: which steps a script tries, and how it keeps that."""

WAITS = """\
left=6000
: >"$folder/waiting-${{judge-}}"
until [ -e "$folder/"{name} ]; do
    left=$((left - 1)); [ $left -gt 0 ] || exit 9
    sleep 0.05
done
"""
"""At most five minutes: it is left alone where Flow itself was killed."""

_twins: dict[str, Twin] = {}
_one_by_one = threading.Lock()


def install(
    folder: Path, home: Path, program: str, twin: Twin, settings: Mapping[str, Any]
) -> None:
    """Put the script into ``folder``, and it into the user's settings in ``home`` as the judge.

    It finds ``$folder`` set.
    """
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "judge.sh"
    script.write_text(f"set -u\nfolder=${{0%/*}}\n{program}")
    _twins[str(script)] = twin
    judge = {
        "backend": "command",
        "command": ["/bin/sh", str(script)],
        "timeoutSeconds": 60,
        **settings,
    }
    path = home / ".claude" / "settings.flow.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"flow": {"goals": {"judge": judge}}}))


@contextmanager
def answers_here() -> Iterator[None]:
    """Let judges that only say something do so in this process."""
    command.run_with_input = _answer
    try:
        yield
    finally:
        command.run_with_input = run_with_input


def _answer(argv: Sequence[str], **how: Any) -> InputRunResult:
    """The result of a judge, of which the script is only run where it does more than to speak."""
    twin, plan = _twins.get(argv[-1]), Path(argv[-1]).parent / "plan"
    if twin is not None:
        with _one_by_one:
            steps, keep = twin(plan.parent, how["stdin"], how["env"])
            name = next((name for name in steps if (plan / name).exists()), "")
            if (said := plan / f"{name}.json").exists():
                keep()
                step, text = json.loads(said.read_text())
                if "usage" in step:
                    Path(how["env"]["FLOW_JUDGE_USAGE"]).write_text(json.dumps(step["usage"]))
                error = step.get("stderr", "").encode()
                return InputRunResult("exit", step.get("exit", 0), text.encode(), error)
    return run_with_input(argv, **how)


def text_of(step: Mapping[str, Any]) -> str:
    """What a step prints: ``raw`` as it is, or its ``reply`` as a document."""
    return str(step["raw"]) if "raw" in step else json.dumps(step.get("reply", {}))


def plan_step(file: Path, step: Mapping[str, Any], text: str) -> None:
    """Write a step as the shell takes it, and beside it what it says if it does nothing more.

    It runs ``run`` (code of the shell), waits for a file named ``wait`` in its folder (that it does
    is a file, too: ``waiting-2`` of judge 2), tells its ``usage``, prints ``stderr`` and ``text``,
    and ends with the status ``exit``.
    """
    code = f"{step['run']}\n" if "run" in step else ""
    if "wait" in step:
        code += WAITS.format(name=quote(step["wait"]))
    if not code:
        file.with_name(f"{file.name}.json").write_text(json.dumps([dict(step), text]))
    if "usage" in step:
        code += f'printf %s {quote(json.dumps(step["usage"]))} >"$FLOW_JUDGE_USAGE"\n'
    if "stderr" in step:
        code += f"printf %s {quote(step['stderr'])} >&2\n"
    file.write_text(f"{code}printf %s {quote(text)}\nexit {step.get('exit', 0)}\n")
