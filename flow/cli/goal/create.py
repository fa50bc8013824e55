"""``flow goal create``: from a file, from words, from an older goal, or from a specification."""

from __future__ import annotations

import os

from flow.adapters.baseline import pinned
from flow.adapters.contracts import formats
from flow.adapters.fs import inputs
from flow.adapters.setup import spec_files
from flow.adapters.transitions.creating import Creating, draft_document
from flow.app.transitions.beside import others_open
from flow.app.transitions.create import NewGoal, create_goal
from flow.cli.defaults import accept_defaults
from flow.cli.parsing import usage_error, whole
from flow.core.drafting.criteria import new_criterion
from flow.core.drafting.draft import CreateRequest
from flow.core.drafting.specifications import read_specification
from flow.core.drafting.suggestions import suggested_name
from flow.core.goal import ids
from flow.core.text.display import visible
from flow.core.text.shell_quote import shell_argument, shell_option
from flow.errors import FlowError, at_key
from flow.render import creating
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple
from flow.wiring.context import Context

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from flow.app.transitions.create import Created
    from flow.cli.output import Output

_REPEATABLE = (
    ("--criterion", "C", "'AC1: what must hold :: command that proves it'"),
    ("--fuzzy", "C", "'AC2: what no command can prove'"),
    ("--evidence", "E", "'AC2: docs/**': files that a fuzzy criterion rests on"),
    ("--evidence-command", "E", "'AC2: command': its output is what a fuzzy criterion rests on"),
    ("--allow", "P", "a path pattern that may be changed"),
    ("--deny", "P", "a path pattern that must not be changed"),
    ("--protect", "P", "a path pattern whose change needs a person's approval"),
    ("--after", "OTHER", "a goal that has to be achieved before this one is proposed"),
)
_LISTS = tuple(option[2:].replace("-", "_") for option, _, _ in _REPEATABLE)
WRONG_INPUT = 2
"""The exit status of what a person can put right."""
_WORDS = ("outcome", *_LISTS, "issue", "old", "from_spec")


def _arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("ID", nargs="?", help="the new goal's id: lower-case letters, digits, hyphens")
    add("--file", metavar="F", help="a goal file to start from (-: standard input)")
    add("--outcome", metavar="T", help="what will be true when it is done")
    for option, metavar, meaning in _REPEATABLE:
        add(option, metavar=metavar, action="append", help=f"{meaning} (repeatable)")
    add("--issue", metavar="N", type=whole(1, 2**53, "an issue's number"), help="its issue")
    add("--from", metavar="OLD", dest="old", help="copy the contract of another goal")
    add(
        "--from-spec",
        metavar="PATH",
        help="draft it from a spec-kit, Kiro or OpenSpec folder: each criterion of the "
        "specification is fuzzy until it is given a command",
    )
    add("--draft", action="store_true", help="write it as a draft; nothing is pinned or trusted")
    add("--base", metavar="REF", help="count changes from here (default: where the branch began)")


class _Given(NamedTuple):
    """A goal's text, and where it comes from."""

    text: str
    name: str
    """Name of the text in messages."""
    source: str
    as_draft: bool
    tried: bool = False
    """Whether its commands were tried while a person watched."""
    answered: bool = False
    """Whether it is from a person's answers at the terminal."""
    unclear: tuple[str, ...] = ()
    """Warnings of the specification that it comes from."""


def _create_goal(args: argparse.Namespace, out: Output) -> int:
    missing = _refuse_misfits(args, out)
    context = Context()
    if not (args.draft or args.from_spec):
        accept_defaults(context, out)
    if missing:
        given = _from_conversation(context, args, out)
    elif args.file is not None:
        text = inputs.read_text(args.file, "--file")
        given = _Given(text, args.file, "a file", args.draft)
    else:
        given = _from_words(context, args)
    created, given, base = _written(context, args, given, out)
    begun = {"branch": context.branch(), "base": _base_name(context, created.goal_id, base)}
    document = {**created.to_document(), **begun, "next": _next_step(context, created)}
    out.result(document, creating.created(document, out.screen))
    warnings = [w for w in created.warnings if not (given.tried and _about_criterion(w))]
    out.warn((*warnings, *given.unclear))
    return 0


def _written(
    context: Context, args: argparse.Namespace, given: _Given, out: Output
) -> tuple[Created, _Given, str | None]:
    """The goal, what was written, and how its base was named.

    What a person has said in a conversation is not lost where it cannot be written.
    """
    base = args.base
    while True:
        try:
            source, line = f"flow goal create: {given.source}", _typed_line(args)
            new = NewGoal(given.text, given.name, source, given.as_draft, base, line, args.old)
            created = create_goal(Creating(context), new)
        except FlowError as error:
            if not given.answered or error.exit_code != WRONG_INPUT:
                raise
            from flow.cli.goal.conversation import mended

            text, base = mended(context, out, error, given.text, base)
            given = given._replace(text=text, tried=given.tried and text == given.text)
        else:
            return created, given, base


def _refuse_misfits(args: argparse.Namespace, out: Output) -> list[str]:
    """Raise for words that do not go together; what has to be asked for at this terminal."""
    if args.file is not None and (args.ID or any(getattr(args, name) for name in _WORDS)):
        raise usage_error(
            "--file holds the whole goal; leave out the id and the other words", "flow goal create"
        )
    if args.old is not None and args.from_spec is not None:
        raise usage_error("--from and --from-spec exclude each other", "flow goal create")
    missing = _missing_options(args)
    if missing and not (out.can_ask and not (args.old or args.from_spec)):
        raise usage_error(
            f"a new goal needs {', '.join(missing)}, or a --file; at a terminal it is asked for",
            "flow goal create",
        )
    return missing


def _from_conversation(context: Context, args: argparse.Namespace, out: Output) -> _Given:
    from flow.cli.goal.conversation import drafted

    answer = drafted(context, out, _goal_words(args), args.ID)
    out.tell([""])
    as_draft = args.draft or answer.as_draft
    tried = not answer.edited
    return _Given(answer.text, "the new goal", "a conversation", as_draft, tried, answered=True)


def _from_words(context: Context, args: argparse.Namespace) -> _Given:
    name = "the command line"
    words, source = _goal_words(args), f"goal {args.old}" if args.old else name
    goal_id, open_texts = args.ID, tuple[str, ...]()
    if args.from_spec is not None:
        words, open_texts = _with_specification(words, args.from_spec)
        source = name = "a specification"
        goal_id = goal_id or _name_of_specification(context, words, args.from_spec)
    document = draft_document(context, ids.goal_id(goal_id), words, args.old)
    unclear = _unclear_criteria(document, open_texts)
    as_draft = args.draft or args.from_spec is not None
    return _Given(formats.dump_yaml(document), name, source, as_draft, unclear=unclear)


def _missing_options(args: argparse.Namespace) -> list[str]:
    """The options that a new goal still needs, as they are typed."""
    if args.file is not None:
        return []
    missing = [] if args.ID or args.from_spec else ["an ID"]
    if args.old or args.from_spec:
        return missing
    missing += [] if args.outcome else ["--outcome"]
    return missing + ([] if args.criterion or args.fuzzy else ["--criterion (or --fuzzy)"])


def _about_criterion(warning: str) -> bool:
    name, colon, _ = warning.partition(":")
    return bool(colon) and ids.CRITERION_ID.fits(name)


def _base_name(context: Context, goal_id: str, base: str | None) -> str:
    """The base by the name that a person uses."""
    named = base or context.load(goal_id).goal.base or pinned.default_base(context.repo)[0]
    for folder in ("refs/heads/", "refs/remotes/", "refs/tags/"):
        named = named.removeprefix(folder)
    return named


def _with_specification(words: CreateRequest, path: str) -> tuple[CreateRequest, tuple[str, ...]]:
    """``words`` with what a specification adds, and the texts of the criteria left open there.

    Raises :class:`InputError` if ``path`` holds none.
    """
    draft = read_specification(spec_files.read_folder(path))
    if draft is None or not draft.criteria:
        raise at_key(spec_files.OPTION, path).invalid(
            f"{path} holds no acceptance criteria that Flow can read",
            "name a folder of spec-kit (spec.md), Kiro (requirements.md) or OpenSpec (specs/)",
        )
    outcome = words.outcome or visible(draft.outcome)
    if not outcome:
        raise at_key("--outcome").invalid(
            f"{path} does not say what will be true", "say it in one sentence: --outcome T"
        )
    texts = dict.fromkeys(visible(text) for text in draft.criteria)
    unclear = tuple(visible(text) for text in draft.unclear)
    return words._replace(outcome=outcome, more=tuple(map(new_criterion, texts))), unclear


def _name_of_specification(context: Context, words: CreateRequest, path: str) -> str:
    """An id for the goal: the folder's name without its number, else by the outcome."""
    folder = os.path.basename(os.path.abspath(path)) if os.path.isdir(path) else ""
    name = folder.lower().lstrip("0123456789-_ ").replace("_", "-")
    taken = context.records.goal_ids()
    if ids.GOAL_ID.fits(name) and name not in taken:
        return name
    return suggested_name(words.outcome or name, taken)


def _unclear_criteria(drafted: Mapping[str, Any], texts: Sequence[str]) -> tuple[str, ...]:
    """A warning for each criterion whose text is among ``texts``."""
    return tuple(
        f"{row['id']}: the specification marks it as not decided (NEEDS CLARIFICATION)"
        for row in drafted["objective"]["acceptance_criteria"]
        if row["text"] in texts
    )


def _typed_line(args: argparse.Namespace) -> str:
    """The call, as a person types it at a terminal."""
    words = ["flow goal create", *([shell_argument(args.ID)] if args.ID else [])]
    for name in ("file", *_WORDS, "base"):
        value = getattr(args, name)
        option = "--from" if name == "old" else f"--{name.replace('_', '-')}"
        for given in value if isinstance(value, list) else [value]:
            shown = "F" if (name, given) == ("file", "-") else str(given)
            words += [shell_option(option, shown)] if given else []
    return " ".join(words)


def _goal_words(args: argparse.Namespace) -> CreateRequest:
    return CreateRequest(
        outcome=args.outcome,
        criteria=tuple(args.criterion or ()),
        fuzzy=tuple(args.fuzzy or ()),
        evidence=tuple(args.evidence or ()),
        evidence_commands=tuple(args.evidence_command or ()),
        allow=tuple(args.allow or ()),
        deny=tuple(args.deny or ()),
        protect=tuple(args.protect or ()),
        after=tuple(args.after or ()),
        issue=args.issue,
    )


def _next_step(context: Context, created: Created) -> str:
    """The next command; it names the goal if the branch has others."""
    if created.status == "draft":
        return f"complete the draft, then: flow goal activate {created.goal_id}"
    named = f" {created.goal_id}" if others_open(context, created.goal_id) else ""
    return f"do the work, then: flow goal evaluate{named}"


COMMANDS = {
    "create": (_arguments, _create_goal),
}
