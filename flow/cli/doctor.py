"""``flow doctor``: the faults of this set-up, why they matter, and what to do."""

from __future__ import annotations

import os

from flow.adapters.setup import doctor
from flow.app.stop import sight
from flow.cli.parsing import CommandSpec
from flow.render import setup as render
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.context import Context
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output
    from flow.core.goal.model import Goal
    from flow.errors import FlowError

FINDINGS = 1


class _Examined(Context):
    """A checkout as :class:`~flow.adapters.setup.doctor_report.ExaminedCheckout` sees it."""

    def goals(self) -> tuple[list[Goal], list[FlowError]]:
        return Goals(self).goals()

    def lost_goals(self) -> list[tuple[str, str]]:
        return sight.lost_here(Goals(self))


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fix",
        action="store_true",
        help="mend what is safe to mend: left-over temporary files, begun writes, the .gitignore "
        "line, the path in Flow's pre-push hook, modes of the state folder",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="show what is fine, too")


def _run_doctor(args: argparse.Namespace, out: Output) -> int:
    examined = doctor.examine(_Examined, os.environ, fix=args.fix)
    document = examined.to_document()
    out.result(document, render.doctor(document, out.screen, verbose=args.verbose))
    return FINDINGS if examined.findings else 0


COMMAND = CommandSpec(
    "look for what is wrong with this set-up",
    _arguments,
    _run_doctor,
    "exit status: 0 nothing found, 1 findings",
)
