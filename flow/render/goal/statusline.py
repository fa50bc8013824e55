"""One line for an agent's status bar, of at most 60 columns and without colour. Pure."""

from __future__ import annotations

from flow.core.stop.pause import Pause
from flow.core.text.display import visible
from flow.render.screen import MARKS, Screen, measure
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Document = Mapping[str, Any]

WIDTH = 60
_BETWEEN = " · "


def statusline(document: Document, *, unicode: bool) -> str:
    """The line; never empty."""
    screen = Screen(WIDTH + 1, unicode=unicode)
    mark = MARKS["flow"][0 if unicode else 1]
    return _cut(f"{mark} {_words(document, screen)}", screen)


def _words(document: Document, screen: Screen) -> str:
    ids, goal = list(map(visible, document["goals"])), document["goal"]
    if len(ids) > 1:
        return f"{len(ids)} goals: {', '.join(ids)}"
    if not ids:
        broken = document["unreadable"]
        if not broken:
            return "no goal"
        return f"{broken:,} goal{'s' * (broken > 1)} cannot be read: flow goal list"
    if goal["paused"]:
        quoted = _quote(Pause(**goal["paused"]).reason, ids[0], screen)
        return _joined(screen, f"{ids[0]} paused", quoted)
    rows = goal["required"]
    proved = sum(1 for row in rows if row["status"] == "pass")
    return _joined(screen, f"{ids[0]} {proved}/{len(rows)}", *_state(goal, rows))


def _state(goal: Document, rows: Sequence[Document]) -> list[str]:
    """The goal's state, in the words that a person needs most."""
    turn = f"turn {goal['turns_evaluated']}"
    if goal["status"] == "draft":
        return ["draft"]
    if goal["proposal"]:
        return ["waits for you: confirm"]
    if not goal["trusted"]:
        return ["not trusted here"]
    if goal["held_back"]:
        return [f"blocked, {visible(goal['held_back'])}"]
    if goal["status"] == "blocked":
        count = goal["outside"]
        outside = f", {count:,} file{'s' * (count > 1)} outside its paths" if count else ""
        return [f"blocked{outside}"]
    if goal["status"] == "waiting_for_ci":
        return ["waits for a command"]
    failed = [visible(row["id"]) for row in rows if row["status"] == "fail"]
    if failed:
        return [_counted(failed, "failed"), turn]
    if goal["status"] == "waiting_for_user":
        left = [visible(row["id"]) for row in rows if row["status"] != "pass"]
        return [f"{_several(left)} for you" if left else "waits for you"]
    if goal["moved"] is not None:
        count = f"{goal['moved']:,} " if goal["moved"] else ""
        return [f"{count}file{'s' * (goal['moved'] != 1)} moved since {turn}"]
    undecided = [visible(row["id"]) for row in rows if row["status"] == "evidence_collected"]
    if undecided:
        return [_counted(undecided, "undecided"), turn]
    return [turn if goal["turns_evaluated"] else "not evaluated yet"]


def _counted(ids: Sequence[str], word: str) -> str:
    """``AC1 failed``, ``AC1 failed, and AC4``, ``AC1 failed, and 3 more``."""
    if len(ids) == 1:
        return f"{ids[0]} {word}"
    return f"{ids[0]} {word}, and {ids[1] if len(ids) == 2 else f'{len(ids) - 1} more'}"


def _several(ids: Sequence[str]) -> str:
    if len(ids) > 2:
        return f"{ids[0]} and {len(ids) - 1} more wait"
    return f"{' and '.join(ids)} wait{'s' * (len(ids) == 1)}"


def _joined(screen: Screen, *parts: str) -> str:
    return (_BETWEEN if screen.unicode else ", ").join(parts)


def _quote(words: str, goal_id: str, screen: Screen) -> str:
    """A person's words in quotes, cut so that the closing quote is always shown."""
    quoted = screen.quote(" ".join(words.split()))
    room = WIDTH - measure(f"{MARKS['flow'][0 if screen.unicode else 1]} {goal_id} paused")
    room -= measure(_BETWEEN if screen.unicode else ", ")
    if measure(quoted) <= room:
        return quoted
    return screen.cut(quoted[:-1], max(room - 1, 8)) + quoted[-1]


def _cut(line: str, screen: Screen) -> str:
    return screen.cut(screen.plain(line), WIDTH)
