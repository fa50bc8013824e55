"""The long form: ``python -m tests.faults.undeserved --long --seconds N``."""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from typing import TYPE_CHECKING

from tests.faults.undeserved import mends
from tests.faults.undeserved.directed import DIRECTED, HONEST, play
from tests.faults.undeserved.interfered import interfere
from tests.faults.undeserved.play import Step, Undeserved
from tests.faults.undeserved.rules import THEMES, Search, search
from tests.faults.undeserved.world import yard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.faults.undeserved.world import Yard

AT_ONCE = 25
"""Runs with one seed."""
THEME_OF = dict.fromkeys(("I99", "I103"), "git")
THEME_OF |= dict.fromkeys(("I100", "I101"), "steering")
THEME_OF |= dict.fromkeys(("I102",), "none")
THEME_OF |= dict.fromkeys(("I106", "I108"), "contract")
THEME_OF |= dict.fromkeys(("I107", "I111"), "proofs")
THEME_OF |= dict.fromkeys(("I109", "I110"), "hook")
THEME_OF |= {"I98": "stamps", "I104": "files", "I105": "files"}
"""The mischief that a kind of fault is looked for with, where nothing else is asked for."""
OF_A_KIND = 5
"""So many sequences that end in the same words are cut down."""


def outcome(place: Yard, steps: Sequence[Step]) -> str:
    """What Flow did wrong in a sequence; empty where it did nothing wrong."""
    try:
        play(place, steps)
    except Undeserved as problem:
        return str(problem).splitlines()[0]
    return ""


def cut_down(place: Yard, steps: Sequence[Step]) -> Sequence[Step]:
    """The sequence without the acts that it can do without."""
    index = len(steps) - 1
    while index >= 0:
        fewer = [*steps[:index], *steps[index + 1 :]]
        if outcome(place, fewer):
            steps = fewer
        index -= 1
    return steps


def long(place: Yard, *, seconds: float, number: int) -> int:
    """Search for so long, with one seed after the other; how many different faults there are."""
    end, found = time.monotonic() + seconds, {}
    kinds: dict[str, int] = {}
    while time.monotonic() < end:
        look = interfere if number % 2 else search
        problem = look(place, examples=AT_ONCE, number=number)
        kind = str(problem).splitlines()[0][:60]
        kinds[kind] = kinds.get(kind, 0) + 1
        if problem is not None and kinds[kind] <= OF_A_KIND:
            steps = cut_down(place, list(Search.last))
            text = outcome(place, steps) or str(problem).splitlines()[0]
            sign = " ".join(step.act for step in steps)
            if sign not in found:
                found[sign] = text
                print(f"FAILED {text}\n  seed {number}", flush=True)
                print("  " + json.dumps([list(step) for step in steps]), flush=True)
        number += 1
    return len(found)


def prove(place: Yard, *, examples: int, number: int, only: str) -> int:
    """Take each mend out, and search until its fault is found; how many were not.

    What is found counts only if it is gone again with the mend.
    """
    missed, theme = 0, Search.only
    for name in (name for name in mends.MENDS if name.startswith(only)):
        Search.only = theme or THEME_OF[name.split()[0]]
        begun, runs, steps, seed = time.monotonic(), Search.runs, [], number
        while not steps and Search.runs - runs < examples:
            with mends.without(name):
                problem = interfere(place, examples=AT_ONCE, number=seed)
            if problem is not None and not outcome(place, list(Search.last)):
                steps = list(Search.last)
            seed += 1
        missed += not steps
        after = f"{Search.runs - runs} runs, {time.monotonic() - begun:.0f} s"
        print(
            f"{name}: {'found' if steps else 'NOT FOUND'} after {after}, seed {seed - 1}",
            flush=True,
        )
        if steps:
            with mends.without(name):
                steps = list(cut_down(place, steps))
            print("  " + json.dumps([list(step) for step in steps]), flush=True)
    return missed


def main() -> int:
    """The directed sequences, and the search for a while."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.undeserved", description=__doc__)
    parser.add_argument("--long", action="store_true", help="search for --seconds")
    parser.add_argument("--prove", metavar="MEND", nargs="?", const="", help="take mends out")
    parser.add_argument("--examples", type=int, default=1000, help="runs for each of them")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--theme", choices=sorted(THEMES), default="", help="of all runs")
    parser.add_argument("--replay", help="a sequence as it was printed: JSON")
    parser.add_argument("--dir", help="where the worlds are made (default: /dev/shm)")
    args = parser.parse_args()
    started, Search.only = time.monotonic(), args.theme
    with yard(args.dir) as place:
        if args.replay:
            said = outcome(place, [Step(*step) for step in json.loads(args.replay)])
            print(said or "nothing is wrong")
            return 1 if said else 0
        if args.prove is not None:
            return prove(place, examples=args.examples, number=args.seed, only=args.prove) > 0
        failures = 0
        for name, sequences in {"honest": HONEST, **DIRECTED}.items():
            for index, steps in enumerate(sequences):
                if said := outcome(place, steps):
                    failures += 1
                    print(f"FAILED {name} {index}: {said}")
        if args.long:
            failures += long(place, seconds=args.seconds, number=args.seed)
    came_to = f"{Search.runs} runs, {Search.proposed} proposed, {Search.confirmed} confirmed"
    took = f"seed {args.seed}, {time.monotonic() - started:.0f} s"
    print(f"undeserved: {came_to}; {failures} failures, {took}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
