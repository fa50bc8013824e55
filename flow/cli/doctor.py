"""``flow doctor``: what is wrong with this set-up, why it matters, and what to do."""

from __future__ import annotations

import os

from flow.cli.parsing import Command
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output

FINDINGS = 1


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fix", action="store_true", help="remove left-over temporary files, finish begun writes"
    )


def _run(args: argparse.Namespace, out: Output) -> int:
    from flow.adapters.setup import doctor
    from flow.render import text
    from flow.wiring import Checkout

    found = doctor.examine(Checkout, os.environ, fix=args.fix)
    document = found.to_document()
    out.result(document, text.doctor(document, out.paint))
    return FINDINGS if found.findings else 0


COMMAND = Command(
    "look for what is wrong with this set-up",
    _arguments,
    _run,
    "exit status: 0 nothing found, 1 findings",
)
