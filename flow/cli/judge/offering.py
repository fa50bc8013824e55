"""Where no judge is set up, a person at a terminal may choose the claude CLI."""

from __future__ import annotations

import os
import shutil

from flow.adapters.fs.state_folder import state_dir
from flow.adapters.git.find import find_repo
from flow.adapters.setup import settings_edit
from flow.adapters.user_state import settings as settings_files
from flow.core.setting_keys import KEYS
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.cli.output import Output

BACKEND = "flow.goals.judge.backend"
_ONCE, _ALWAYS = ("c", "claude"), ("a", "always")


def named_judge(named: str | None, out: Output, questions: str, sends: str) -> str | None:
    """``named``; where it is None and no judge is set up, what a person says here.

    ``questions`` says how many the judge is asked, ``sends`` what they carry. Off a terminal, and
    where no ``claude`` is on the PATH, nothing is asked: the command then says what is missing.
    """
    return named if named is not None else offered_judge(out, questions, sends)


def offered_judge(out: Output, questions: str, sends: str) -> str | None:
    """``claude``, or None: a judge is set up, nobody can be asked, or a person says no."""
    program = shutil.which("claude", path=out.environ.get("PATH"))
    if not out.can_ask or program is None:
        return None
    repo = find_repo(os.getcwd())
    top, home = (None if repo is None else repo.top), out.environ.get("HOME") or None
    if settings_files.load(top, home).settings.judge.backend is not None:
        return None
    paint = out.screen.paint
    out.tell(
        [
            "No judge is set up. The claude CLI can be asked, on your own Claude account:",
            f"  it costs {questions}, each of up to 50,000 tokens,",
            f"  and sends {sends}.",
            paint("person", "  c ask it now   a from now on   Enter nobody"),
        ]
    )
    answer = out.ask(">")
    if answer in _ALWAYS:
        common = None if repo is None else repo.common_dir
        _set_up(home, top, state_dir(out.environ, home, top, common))
        out.say(f"  {BACKEND} is claude now: flow config unset {BACKEND}")
    return "claude" if answer in (*_ONCE, *_ALWAYS) else None


def _set_up(home: str | None, top: str | None, state: str) -> None:
    place = settings_edit.settings_place("user", home, top)
    settings_edit.write_setting(place, KEYS[BACKEND], "claude", state)


def times(count: int, noun: str = "question") -> str:
    """``1 question``, ``3 questions``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
