"""The questions to a person before an agent's tool call continues: one for each kind of act."""

from __future__ import annotations

from flow.core.goal.ids import CRITERION_ID
from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.core.tool_calls.rules import Act, Kind

QUESTIONS: dict[Kind, str] = {
    "confirm": "Close this goal for good?",
    "approve": "Prove this criterion by your word?",
    "amend": "Change what the goal asks for?",
    "rebase": "Accept what only the merged base branch changed, and move the goal's base?",
    "trust": "Change whose commands may run here?",
    "clear": "Cancel this goal for good?",
    "activate": "Start this goal, and let its commands run here?",
    "create": "Begin another goal beside the active one, which could be lost sight of?",
    "claim": "Give this goal to this session?",
    "forget": "Let Flow forget this goal? Its Stop hook will not speak of it again.",
    "config": "Change Flow's settings?",
    "init": "Set Flow up again, while a goal is active?",
    "inbox": "Evaluate goals in other repositories, or hide some from you?",
    "fix": "Mend Flow's set-up here?",
    "yes": "Say yes in place of you to what Flow would ask?",
    "trust-digest": "Let the caller say which contract is trusted, in place of you?",
    "engine": "Run the commands on another machine?",
    "lifecycle": "Write a goal's state directly?",
    "verdict": "Write a verdict that Flow did not measure?",
    "files": "Write into Flow's own files? They are the record that the result rests on.",
    "settings": "Change Claude Code's settings, which also say what it asks you about?",
    "unclear": "Run this? It has to do with Flow, and what it does cannot be read from its text.",
}
_ACCEPTED = {
    "guards": "Accept git's hooks and settings as they were changed since the goal began?",
    "protected": "Accept the protected files as they were changed since the goal began?",
}
"""Words of an approval that name no criterion."""
AGENT_ASKS = "This is an agent asking. Yes runs it as shown; no leaves everything as it is."
_MOST_WORDS = 300


def question(acts: tuple[Act, ...]) -> str:
    """The question for these acts, the most important kind first."""
    ordered = sorted(acts, key=lambda act: list(QUESTIONS).index(act.kind))
    lines = [*dict.fromkeys(line for act in ordered for line in _questions(act))]
    shown = [f"{act.program} {' '.join(act.words)}" for act in acts if act.words]
    lines += [f"  {visible(line)[:_MOST_WORDS]}" for line in dict.fromkeys(shown)]
    return "\n".join([*lines, "", AGENT_ASKS])


def _questions(act: Act) -> list[str]:
    """The act's questions: one, unless a word of an approval may be of two kinds."""
    accepted = [_ACCEPTED[word] for word in act.words if word in _ACCEPTED]
    if act.kind != "approve" or not accepted:
        return [QUESTIONS[act.kind]]
    criterion = any(CRITERION_ID.fits(word) for word in act.words)
    return [*accepted, *([QUESTIONS["approve"]] * criterion)]


def more_than_confirm(line: str) -> str:
    """The first line about a shell text that is more than one plain ``flow goal confirm``."""
    shown = visible(line[: _MOST_WORDS + 1])
    if len(shown) > _MOST_WORDS:
        shown = f"{shown[:_MOST_WORDS]} ... ({len(line)} characters)"
    return f"This line does more than confirm: {shown}"


def unknown_goal(folder: str | None) -> str:
    """The line for a text that may run Flow elsewhere; ``folder`` is that of the goal shown."""
    shown = f": what follows is the one of {visible(folder)}" if folder is not None else "."
    return f"Flow cannot tell which goal this closes{shown}"


def cannot_look(reason: str) -> str:
    """The question if Flow itself could not analyse the call."""
    return (
        f"Run this? It names flow, and Flow could not look at it: {visible(reason)[:_MOST_WORDS]}"
    )
