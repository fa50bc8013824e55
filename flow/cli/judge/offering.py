"""Offers the claude CLI as judge to a person at a terminal, if no judge is set up."""

from __future__ import annotations

import shutil

from flow.adapters.judges.choose import check_named
from flow.adapters.setup import settings_edit
from flow.core.setting_keys import KEYS
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.judging.context import JudgingContext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.cli.output import Output

BACKEND = "flow.goals.judge.backend"
_ONCE, _ALWAYS = ("c", "claude"), ("a", "always")


def named_judge(named: str | None, out: Output, questions: str, sends: str) -> str | None:
    """Like :func:`named_judges`, for one judge at most."""
    judges = named_judges([] if named is None else [named], out, questions, sends)
    return judges[0] if judges else None


def named_judges(named: Sequence[str], out: Output, questions: str, sends: str) -> list[str]:
    """``named``; where none is and no judge is set up, what a person says here.

    ``questions`` says how many the judge is asked, ``sends`` what they carry. Off a terminal, and
    where no ``claude`` is on the PATH, nothing is asked: the command then says what is missing.
    Raises :class:`InputError` where one of ``named`` can be no judge.
    """
    if not named:
        offered = offered_judge(out, questions, sends)
        return [] if offered is None else [offered]
    settings = JudgingContext(environ=out.environ).settings
    for judge in named:
        check_named(judge, settings)
    return [*named]


def offered_judge(out: Output, questions: str, sends: str) -> str | None:
    """``claude`` on a person's yes; None if a judge is set up, without a terminal, or on a no."""
    program = shutil.which("claude", path=out.environ.get("PATH"))
    if not out.can_ask or program is None:
        return None
    context = JudgingContext(environ=out.environ)
    if context.settings.backend is not None:
        return None
    out.forget_typed()
    out.tell(
        [
            "No judge is set up. The claude CLI can be asked, on your own Claude account:",
            f"  it costs {questions}, each of up to 50,000 tokens,",
            f"  and sends {sends}.",
            out.asking.paint("person", "  c ask it now   a from now on   Enter nobody"),
        ]
    )
    answer = out.ask(">")
    if answer in _ALWAYS:
        place = settings_edit.settings_place("user", context.home, context.top)
        settings_edit.write_setting(place, KEYS[BACKEND], "claude", context.state_dir)
        out.say(f"  {BACKEND} is claude now: flow config unset {BACKEND}")
    return "claude" if answer in (*_ONCE, *_ALWAYS) else None
