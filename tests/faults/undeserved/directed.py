"""One short sequence, or a few, for each kind of fault that was found once (HAZARD I).

They are what the random search finds, cut down. On a Flow that has the fault each of them ends in
:class:`Undeserved`; on one that has not they end in silence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.faults.undeserved.play import Play, Step, fresh
from tests.faults.undeserved.world import GREP, JOURNAL, SCRIPT, SHIMMED, TESTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.faults.undeserved.world import Yard


def _(act: str, **given: Any) -> Step:
    return Step(act, given)


GOOD = _("edit", path="src/app.py", text="state = 'good'\n")
EVALUATE, CONFIRM, STOP = _("evaluate"), _("confirm"), _("stop")
BLOCKED = _("create", mode="block")

HONEST: Sequence[Sequence[Step]] = (
    (_("create"), EVALUATE, GOOD, STOP, EVALUATE, CONFIRM),
    (_("create", commands=[TESTS, GREP], protected=["tests/**"]), GOOD, EVALUATE, CONFIRM),
    (_("create", commands=[SCRIPT]), GOOD, _("commit"), EVALUATE, CONFIRM),
    (_("create", allowed=[]), GOOD, _("edit", path="docs/local.md"), EVALUATE, CONFIRM),
)
"""An agent that does what it should: these must end as achieved."""

DIRECTED: Mapping[str, Sequence[Sequence[Step]]] = {
    "I98": (
        (
            _("create"),
            _("map", path="docs/guide.md"),
            GOOD,
            EVALUATE,
            _("write_map", path="docs/guide.md"),
            EVALUATE,
        ),
        (
            _("create", commands=[TESTS], protected=["tests/**"]),
            _("map", path="tests/test_app.py"),
            GOOD,
            EVALUATE,
            _("write_map", path="tests/test_app.py"),
            CONFIRM,
        ),
    ),
    "I99": (
        (
            _("create", commands=[SCRIPT]),
            GOOD,
            _("script", means="grep", guard="pre-commit"),
            EVALUATE,
        ),
        (_("create"), GOOD, EVALUATE, _("guard", name="hooks/pre-push"), CONFIRM),
        (_("create"), GOOD, EVALUATE, _("git", argv=["config", "core.hooksPath", "docs"]), CONFIRM),
        (_("create"), GOOD, EVALUATE, _("replace"), CONFIRM),
    ),
    "I100": (
        (
            _("settings", goals={"outputLimitBytes": 1}),
            _("create", commands=[SCRIPT]),
            _("script", means="dropped"),
            EVALUATE,
        ),
        (
            _("create", commands=[TESTS], allowed=["tests/**"]),
            _("tests", kinds=["skip"]),
            _("settings", goals={"outputLimitBytes": 1}),
            EVALUATE,
        ),
        (
            _("create", commands=[SCRIPT]),
            GOOD,
            _("script", means="grep", spill=".claude/settings.flow.json"),
            EVALUATE,
        ),
    ),
    "I106": (
        (_("create"), GOOD, EVALUATE, _("revoke"), CONFIRM),
        (_("create"), GOOD, EVALUATE, _("settings", goals={"denied_paths": ["src/**"]}), CONFIRM),
    ),
    "I101": (
        (
            _("create", allowed=[], local_denied=["secrets/**"]),
            GOOD,
            _("settings", goals={}),
            _("edit", path="secrets/key.txt"),
            EVALUATE,
        ),
    ),
    "I102": (
        (_("create", commands=[f"{TESTS}; rc=$?; [ $rc -le 1 ]"]), EVALUATE),
        (_("create", commands=[SCRIPT]), _("script", means="dropped"), EVALUATE),
    ),
    "I103": (
        (
            _("edit", path="docs/guide.md"),
            _("commit"),
            _("git", argv=["tag", "main"]),
            _("create", base="main"),
            GOOD,
            EVALUATE,
        ),
        (
            _("edit", path="docs/guide.md"),
            _("commit"),
            _("git", argv=["symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/work"]),
            _("create"),
            GOOD,
            EVALUATE,
        ),
    ),
    "I104": (
        (_("create", allowed=["src/**/"]), GOOD, EVALUATE),
        (
            _("create", allowed=[], denied=["secrets/** "]),
            GOOD,
            _("edit", path="secrets/key.txt"),
            EVALUATE,
        ),
    ),
    "I105": (
        (
            _("create"),
            GOOD,
            _("edit", path=JOURNAL, text="#!/bin/sh\n"),
            _("chmod", path=JOURNAL),
            EVALUATE,
        ),
        (_("create"), GOOD, _("link", path=JOURNAL, to="../docs/guide.md"), EVALUATE),
        *(
            (_("create"), GOOD, _("edit", path=path, text="changed\n"), EVALUATE)
            for path in (
                ".decisions/issue-9.md",
                ".decisions/session-2026-01-01.md",
                ".specs/reports/x-2026-01-01.1.md",
                ".flow/scores/x-20260101-000000.json",
            )
        ),
        (_("create"), GOOD, EVALUATE, _("edit", path=JOURNAL, text="---\nx: 1\n---\n"), EVALUATE),
    ),
    "I107": (
        (_("create", commands=[SCRIPT]), _("script", means="cheat"), EVALUATE),
        (_("create", commands=[SHIMMED]), GOOD, _("shim"), EVALUATE),
        (
            _("create", commands=[TESTS], allowed=["src/**", "tests/**"]),
            _("tests", kinds=["pass"]),
            EVALUATE,
        ),
        (_("create"), _("amend", old=GREP, new="test -e README.md"), EVALUATE),
        (
            _("create", commands=[SCRIPT]),
            GOOD,
            _("script", means="grep", spill=".coverage"),
            EVALUATE,
        ),
    ),
    "I108": (
        (_("create"), _("goal_file", change="weaken"), _("trust_digest"), CONFIRM),
        (_("create"), _("goal_file", change="weaken"), _("trust_digest", agent=False), CONFIRM),
    ),
    "I109": (
        (_("create"), STOP, _("goal_file", change="delete"), STOP),
        (_("create"), STOP, _("goal_file", change="cancelled"), STOP),
        (_("create"), STOP, _("goal_file", change="draft"), STOP),
        (_("create"), STOP, _("goal_file", change="branch"), STOP),
        (BLOCKED, STOP, _("goal_file", change="cancelled"), STOP),
        (BLOCKED, STOP, _("goal_file", change="weaken"), STOP),
        (BLOCKED, STOP, _("claim", session="nobody"), STOP),
        (_("create"), _("claim", session="nobody"), STOP),
        (_("create"), STOP, _("settings", goals={"enabled": False}), STOP),
    ),
    "I110": (
        (BLOCKED, STOP, _("second", agent=False), _("claim", session="s1", goal="easy"), STOP),
    ),
    "I111": (
        (
            _("create", commands=[SCRIPT, TESTS]),
            _("script", means="cheat", spill="conftest.py"),
            EVALUATE,
        ),
        (
            _("create", commands=[SCRIPT]),
            GOOD,
            _("script", means="grep", spill="helper.pth"),
            EVALUATE,
        ),
    ),
    "I112": ((_("create", commands=[SCRIPT]), _("script", means="forged"), EVALUATE),),
}


def play(yard: Yard, steps: Sequence[Step]) -> Play:
    """Do all of a sequence in a new world; raises :class:`Undeserved`."""
    done = fresh(yard, steps)
    for step in steps:
        done.do(step.act, **step.given)
    return done
