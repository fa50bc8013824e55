"""A coverage-guided fuzzer over everything that reads a file: ``python tests/hostile/fuzz.py``.

    --target NAME    one of TARGETS (default: all, one after the other)
    --seconds N      how long for each (default 60)
    --seed N         where to start (default 1)

With ``atheris`` (``pip install atheris``; it is no dependency of the tests) libFuzzer steers by
coverage; without it the ways of ``mutate.py`` are tried at random. What ends in anything but an
answer or the one error type, or takes more than 2 s of CPU time, is written to
``corpus/TARGET/crash-...``; ``test_corpus.py`` replays that folder. Coverage that the run found
goes to a folder of its own, whose path is printed.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "corpus")
CPU_LIMIT = 2.0
FILE = "the file"


def _goal(data: bytes) -> None:
    from flow.adapters.contracts import formats

    goal, _ = formats.read_goal(data, file=FILE)
    goal.digest()


def _goal_edit(data: bytes) -> None:
    """Whatever is read can be edited, and then says what was meant."""
    from flow.adapters.contracts import formats

    formats.read_goal(data, file=FILE)
    changes = [(("lifecycle", "status"), "blocked"), (("lifecycle", "turns_evaluated"), 7)]
    text = formats.edit(data.decode("utf-8"), changes, file=FILE)
    again, _ = formats.read_goal(text.encode("utf-8"), file=FILE)
    assert (again.status, again.turns_evaluated) == ("blocked", 7)


def _evidence(data: bytes) -> None:
    from flow.adapters.contracts import formats

    formats.read_evidence(data, file=FILE)


def _yaml(data: bytes) -> None:
    """Whatever is read can be written, and is the same again."""
    from flow.adapters.contracts import formats

    document = formats.parse_yaml(data, file=FILE)
    text = formats.dump_yaml(document)
    assert formats.parse_yaml(text.encode("utf-8"), file=FILE) == document


def _verdict(data: bytes) -> None:
    from flow.adapters.contracts import formats
    from flow.adapters.ledger import verdicts
    from flow.render.screen import Screen
    from flow.render.verdict.drawing import verdict

    document = formats.parse_json(data, file=FILE)
    stored, _ = verdicts.checked(document, run_id="r1")
    verdict(stored, Screen(columns=80))


def _json(data: bytes) -> None:
    from flow.adapters.contracts import formats

    formats.parse_json(data, file=FILE)


def _own_json(data: bytes) -> None:
    """What is read back of Flow's own: events, baseline, proposal, intent."""
    from flow.adapters.fs import lenient_json
    from flow.adapters.ledger import reader
    from flow.app.evaluation import proposals
    from flow.render import text

    try:
        value = lenient_json.loads(data)
    except ValueError:
        return
    if isinstance(value, dict):
        reader.baseline_from_document(value)
        assert not proposals.is_intact(value) or value["to"] in ("achieved", "failed", "cancelled")
        text.history({"goal_id": "x", "events": [value]})


def _intent(data: bytes) -> None:
    from flow.adapters.ledger import transaction

    transaction._read(data, "greet", FILE)


def _journal(data: bytes) -> None:
    """An entry that goes in is there afterwards, and the body is as it was."""
    from flow.adapters.journal import store as journal_store

    before = journal_store._split(data, FILE)
    entry = {"type": "note", "captured_at": "2026-01-01T00:00:00Z", "x": "y"}
    new = journal_store._with_entry(data, FILE, entry, issue=7, now="2026-01-01", branch=None)
    assert new is not None
    after = journal_store._split(new, FILE)
    assert after.body == (before.body if before.has_front else data)
    assert journal_store._front_document(after, FILE)["artifacts"][-1]["type"] == "note"


def _settings(data: bytes) -> None:
    from flow.adapters.contracts import formats
    from flow.core import settings

    loaded = settings.merge_layers(
        [settings.Layer(FILE, formats.parse_json(data, file=FILE), False)]
    )
    assert not loaded.settings.execute_verification_commands
    settings.config_rows(loaded)


def _trust(data: bytes) -> None:
    from flow.adapters.user_state import trust

    ledger = trust.TrustLedger("/", "/repo/.git", "/repo")
    for line in data.split(b"\n"):
        ledger._parse(line)


def _globs(data: bytes) -> None:
    """The first line is a pattern, the others are paths."""
    from flow.core.boundary import globs

    pattern, *paths = data[:4096].split(b"\n")
    text = pattern.decode("utf-8", "surrogateescape")
    if globs.why_not(text) is None:
        for anchored in (True, False):
            glob = globs.compile_glob(text, anchored=anchored)
            for path in paths[:5]:
                glob.matches(path)
                glob.enters(path)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "goal": _goal,
    "goal-edit": _goal_edit,
    "evidence": _evidence,
    "yaml": _yaml,
    "verdict": _verdict,
    "json": _json,
    "own-json": _own_json,
    "intent": _intent,
    "journal": _journal,
    "settings": _settings,
    "trust": _trust,
    "globs": _globs,
}


def once(target: str, data: bytes) -> None:
    """Give ``data`` to a target: returns, or raises what must not be raised."""
    from flow.errors import FlowError
    from tests.support.pace import exceeds

    start = time.process_time()
    try:
        TARGETS[target](data)
    except FlowError as error:
        assert all(str(fault) for fault in error.faults)
    spent = time.process_time() - start
    if exceeds(spent, CPU_LIMIT):
        raise TimeoutError(f"{target} took {spent:.1f} s for {len(data)} bytes")


def inputs(target: str) -> list[str]:
    """The corpus files of a target."""
    folder = os.path.join(CORPUS, target)
    try:
        return sorted(os.path.join(folder, name) for name in os.listdir(folder))
    except FileNotFoundError:
        return []


def _with_atheris(target: str, seconds: int, seed: int) -> int:
    import atheris

    found = tempfile.mkdtemp(prefix=f"flow-fuzz-{target}-")
    crashes = os.path.join(CORPUS, target)
    os.makedirs(crashes, exist_ok=True)
    print(f"{target}: coverage goes to {found}", flush=True)
    pid = os.fork()  # libFuzzer ends its process
    if pid == 0:
        with atheris.instrument_imports(include=["flow"]):
            TARGETS[target](b"") if target == "globs" else None
            _import_all()
        options = [
            f"-max_total_time={seconds}",
            f"-seed={seed}",
            f"-artifact_prefix={crashes}/",
            "-max_len=8192",
            "-rss_limit_mb=1024",
            "-print_final_stats=1",
            "-verbosity=0",
        ]
        atheris.Setup([sys.argv[0], *options, found, crashes], lambda data: once(target, data))
        atheris.Fuzz()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _import_all() -> None:
    import importlib
    import pkgutil

    import flow

    for module in pkgutil.walk_packages(flow.__path__, "flow."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def _at_random(target: str, seconds: int, seed: int) -> int:
    import hashlib
    from random import Random

    from tests.hostile import mutate

    seeds = []
    for path in inputs(target):
        with open(path, "rb") as file:
            seeds.append(file.read())
    random, until, runs = Random(seed), time.monotonic() + seconds, 0
    while time.monotonic() < until:
        data = mutate.bytes_of(random, random.choice(seeds or [b""]))[:8192]
        runs += 1
        try:
            once(target, data)
        except Exception as error:
            name = f"crash-{hashlib.sha1(data, usedforsecurity=False).hexdigest()}"
            with open(os.path.join(CORPUS, target, name), "wb") as file:
                file.write(data)
            print(f"{target}: {type(error).__name__}: {error}: {name}", flush=True)
            return 1
    print(f"{target}: {runs} inputs, no coverage guidance (atheris is not installed)", flush=True)
    return 0


def main() -> int:
    """Run the targets that were asked for; 1 where one found something."""
    import argparse

    sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--target", choices=[*TARGETS, "all"], default="all")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    try:
        import atheris  # noqa: F401
    except ImportError:
        run = _at_random
    else:
        run = _with_atheris
    wanted = TARGETS if args.target == "all" else [args.target]
    found = [target for target in wanted if run(target, args.seconds, args.seed) != 0]
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
