"""The texts of ``--help``: the commands by subject, and an example that works for each.

Loaded for help only. A test parses each example as the command itself does.
"""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WIDTH = 80
"""Columns that help takes; the width of the terminal does not matter."""

DAILY = ("create", "evaluate", "status", "confirm")
"""The commands of ``flow goal`` that a person types every day, in their order."""

SUBJECTS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "flow": {
        "every day": tuple(f"goal {name}" for name in DAILY),
        "set up": ("init", "config", "doctor", "demo"),
        "goals and their record": (
            "goal",
            "inbox",
            "evidence",
            "verdict",
            "journal",
            "report",
            "gc",
        ),
        "who may say what": ("trust", "judge"),
        "for programs": ("schema", "hook", "statusline"),
    },
    "flow goal": {
        "every day": DAILY,
        "look": ("list", "history", "inspect", "watch", "baseline"),
        "decide": ("activate", "approve", "amend", "rebase", "clear"),
        "wait": ("pause", "resume", "wait"),
        "agents' sessions": ("claim", "forget"),
    },
}
"""The commands of a group by subject; a command that no subject names stands last."""

EXAMPLES: Mapping[str, str] = {
    "flow init": """
flow init
flow init --host claude --enforcement block --git-hook pre-push
flow init --private
""",
    "flow goal create": r"""
flow goal create
flow goal create --file goal.yaml
flow goal create issue-4 --outcome 'Dates are read strictly' --issue 4 \
    --criterion 'AC1: the tests pass :: pytest -q tests/dates' \
    --fuzzy 'AC2: the error text helps a reader' \
    --evidence 'AC2: src/dates/errors.py' \
    --allow 'src/dates/**' --allow 'tests/**'
flow goal create issue-4-again --from issue-4
flow goal create strict-dates --from-spec specs/003-strict-dates \
    --allow 'src/**'
""",
    "flow goal activate": "flow goal activate issue-4",
    "flow goal evaluate": """
flow goal evaluate
flow goal evaluate issue-4 --only AC1,AC3 --output all
flow goal evaluate --repeat 3
""",
    "flow goal confirm": """
flow goal confirm
flow goal confirm issue-4 --proposal 9f2c41d07be3
""",
    "flow goal status": "flow goal status",
    "flow goal list": """
flow goal list
flow goal list --all-branches --status active,blocked
""",
    "flow goal history": "flow goal history issue-4",
    "flow goal inspect": "flow goal inspect issue-4",
    "flow goal pause": "flow goal pause --reason 'the test server is down'",
    "flow goal resume": "flow goal resume --reason 'the test server is back'",
    "flow goal watch": "flow goal watch issue-4",
    "flow goal baseline": "flow goal baseline --only AC1",
    "flow goal claim": "flow goal claim issue-4",
    "flow goal wait": """
flow goal wait --until 'gh run watch --exit-status'
flow goal wait issue-4 --until 'test -e report.xml' --follow --timeout 600
""",
    "flow goal forget": "flow goal forget issue-4 --checkout ../old-checkout",
    "flow goal approve": """
flow goal approve AC2 --note 'I read the error text as a user would'
flow goal approve issue-4 protected --note 'I read the whole diff'
""",
    "flow goal amend": r"""
flow goal amend --allow pyproject.toml --reason 'a path was missing'
flow goal amend --criterion 'AC2: the types hold :: mypy --strict src' \
    --remove AC3
flow goal amend issue-4 --edit
""",
    "flow goal rebase": "flow goal rebase issue-4",
    "flow goal clear": "flow goal clear issue-4 --reason 'issue 9 replaces it'",
    "flow inbox": """
flow inbox
flow inbox --all --since 2w --exclude '*-scratch'
flow inbox --exit-code --json
""",
    "flow inbox forget": "flow inbox forget ../old-checkout",
    "flow evidence record": r"""
flow evidence record --run-id issue-4 --evidence-file load.evidence.yaml \
    --raw-output load.txt
""",
    "flow evidence list": "flow evidence list issue-4",
    "flow evidence show": """
flow evidence show AC2
flow evidence show evidence-ac1-eval-2 --details
""",
    "flow evidence verify": """
flow evidence verify
flow evidence verify issue-4 --against origin/main
flow evidence verify --bundle issue-4.jsonl --allowed-signers signers
""",
    "flow evidence head": "flow evidence head issue-4 --trailer",
    "flow evidence export": r"""
flow evidence export issue-4 --output issue-4.jsonl \
    --sign ssh:~/.ssh/id_ed25519
""",
    "flow evidence import": "flow evidence import junit.xml --goal issue-4 --proves AC1",
    "flow verdict record": "flow verdict record --run-id issue-4 --verdict-file verdict.json",
    "flow verdict show": "flow verdict show issue-4",
    "flow journal record": r"""
flow journal record --issue 4 --type decision \
    --metadata title='Reject two-digit years' --metadata files=src/dates.py,
""",
    "flow journal show": "flow journal show --goal issue-4",
    "flow trust record": """
flow trust record issue-4
flow trust record --goal-file goal.yaml
""",
    "flow trust check": "flow trust check issue-4",
    "flow trust list": "flow trust list",
    "flow trust revoke": "flow trust revoke issue-4",
    "flow judge run": """
flow judge run issue-4 --show-prompt
flow judge run --rubric documentation --subject README.md
""",
    "flow judge rubrics": "flow judge rubrics documentation",
    "flow judge calibrate": "flow judge calibrate --cases labelled.yaml --rubric security",
    "flow judge scorecard": """
flow judge scorecard commit
flow judge scorecard --file session.jsonl --samples 3
""",
    "flow judge history": "flow judge history commit",
    "flow judge debate": r"""
flow judge debate --solution src/dates.py --task 'Read dates strictly' \
    --criteria correctness:60,design:40
""",
    "flow config list": "flow config list --show-origin",
    "flow config get": "flow config get stopHookEnforcement",
    "flow config set": """
flow config set stopHookEnforcement block --project
flow config set judge.backend claude --user
""",
    "flow config unset": "flow config unset jobs --project",
    "flow schema": "flow schema goal",
    "flow doctor": "flow doctor",
    "flow hook pre-push": "flow hook pre-push origin",
    "flow gc": "flow gc --archive --older-than 90 --dry-run",
    "flow report": """
flow report --open
flow report issue-4 --output issue-4.html
flow report --all --output pages
flow report --bundle ../other-machine.bundle
""",
    "flow demo": "flow demo --all",
}
"""Lines that can be typed as they stand, by command; the first is the most common one."""


def examples(prog: str) -> str:
    """The examples of a command under their heading; empty if it has none."""
    lines = EXAMPLES.get(prog, "").strip("\n").split("\n")
    if lines == [""]:
        return ""
    starts = sum(line.startswith("flow ") for line in lines)
    heading = "example:" if starts == 1 else "examples:"
    return "\n".join([heading, *(f"  {line}" for line in lines)])


def fill(text: str) -> str:
    """``text`` with its paragraphs broken to fit; indented lines stay as they are."""
    from textwrap import wrap

    lines: list[str] = []
    for block in text.split("\n\n"):
        paragraph: list[str] = []
        if lines:
            lines.append("")
        for line in [*block.split("\n"), " "]:
            if line.startswith(" "):
                lines += wrap(" ".join(paragraph), WIDTH) if paragraph else []
                lines += [line] if line.strip() else []
                paragraph = []
            else:
                paragraph.append(line)
    return "\n".join(lines)


def overview(prog: str, description: str, commands: Mapping[str, str]) -> list[str]:
    """The help of ``flow``, or of a group of its commands."""
    from textwrap import wrap

    lines = [f"usage: {prog} COMMAND [--json] ...", "", fill(description)]
    for subject, rows in _blocks(prog, commands):
        width = max(len(name) for name in rows)
        lines += ["", f"{subject}:"]
        for name, meaning in rows.items():
            head, indent = f"  {name:<{width}}  ", " " * (width + 4)
            lines += wrap(meaning, WIDTH, initial_indent=head, subsequent_indent=indent)
    return [*lines, "", f"{prog} COMMAND --help tells more; --json prints one JSON document."]


def _blocks(prog: str, commands: Mapping[str, str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    subjects = SUBJECTS.get(prog, {})
    for subject, names in subjects.items():
        yield subject, {name: commands[name] for name in names if name in commands}
    placed = {name for names in subjects.values() for name in names}
    rest = {name: meaning for name, meaning in commands.items() if name not in placed}
    if rest:
        yield "more" if subjects else "commands", rest
