"""``flow goal status``, ``list``, ``history``, ``inspect``: showing, never changing."""

from __future__ import annotations

from flow.cli.parsing import Command, goal_argument, nothing, plain
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.reading import Reading

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output


def _optional_goal(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser, optional=True)


def _named(checkout: Reading, args: argparse.Namespace) -> str:
    named: str | None = args.ID
    return checkout.choose() if named is None else named


def _status(args: argparse.Namespace, out: Output) -> int:
    from flow.render import text

    checkout = Reading()
    document = checkout.status(_named(checkout, args))
    out.result(document, text.status(document, out.paint))
    out.warn(document["warnings"])
    return 0


def _list(_args: argparse.Namespace, out: Output) -> int:
    from flow.render import text

    document = Reading().listing()
    out.result(document, text.goal_list(document, out.paint))
    out.warn(text.unreadable(document["unreadable"]))
    if not out.json and not document["goals"] and not document["unreadable"]:
        out.say("no goals yet; make one: flow goal create")
    return 0


def _history(args: argparse.Namespace, out: Output) -> int:
    from flow.render import text

    checkout = Reading()
    document = checkout.history(_named(checkout, args))
    out.result(document, text.history(document))
    out.warn(document["warnings"])
    return 0


def _inspect(args: argparse.Namespace, out: Output) -> int:
    from flow.render import text

    checkout = Reading()
    document = plain(checkout.inspect(_named(checkout, args)))
    out.result(document, text.inspect(document, out.paint))
    out.warn(document["warnings"])
    return 0


COMMANDS = {
    "status": Command("where a goal stands and what to do next", _optional_goal, _status),
    "list": Command("all goals of this repository", nothing, _list),
    "history": Command("everything that happened to a goal", _optional_goal, _history),
    "inspect": Command(
        "the contract and the evidence behind each criterion", _optional_goal, _inspect
    ),
}
