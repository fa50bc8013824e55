"""``flow report``: a goal's record as one page to read."""

from __future__ import annotations

import os

from flow.cheap_typing import TYPE_CHECKING
from flow.cli.parsing import Command, goal_argument
from flow.core import explain
from flow.errors import StorageError
from flow.wiring import Checkout

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output


def _arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser, optional=True)
    parser.add_argument("--output", metavar="F", help="write the page to F, not to stdout")


def _run(args: argparse.Namespace, out: Output) -> int:
    from flow.render.page import page

    checkout = Checkout()
    document = checkout.report(checkout.choose() if args.ID is None else args.ID)
    if args.output is None:
        if out.json:
            out.result(document, ())
        else:
            out.text(page(document))
        return 0
    _write(args.output, page(document))
    out.result({**document, "output": args.output}, [f"wrote {explain.visible(args.output)}"])
    return 0


def _write(path: str, text: str) -> None:
    """Write the page; a symlink at ``path`` is not followed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        with open(os.open(path, flags, 0o644), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise StorageError(
            f"cannot write the page: {error.strerror}",
            file=path,
            key="--output",
            remedy="name a file that can be written",
        ) from error


COMMAND = Command("write a goal's record as a page to read", _arguments, _run)
