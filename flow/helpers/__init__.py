"""The helpers in ``bin/``: each a thin start of the command line's code (SPEC 5).

Exit statuses: 0 done; 1 bad input (for ``check``: not trusted; for ``flow-active-goal.sh``: none
active); 2 the system refused; ``flow-active-goal.sh`` also 3, more than one active goal. The path
that was written goes to standard error, and standard output gets only an answer that was asked for.
They are called often, so the arguments are read by hand: argparse would take longer than the rest.
"""

from __future__ import annotations

import os
import sys

from flow.adapters.fs.crash import report
from flow.errors import FlowError
from flow.helpers.table import HELPERS
from flow.helpers.words import answer, read_options, report_error, say
from flow.startup import ctrl_c
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(name: str, argv: Sequence[str]) -> int:
    """Run the helper ``name`` (with or without ``.sh``); its exit status. Raises nothing."""
    name = name.removesuffix(".sh")
    helper = HELPERS[name]
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed by the caller: the next file must not take its number
            os.open(os.devnull, os.O_RDWR)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        with ctrl_c.HEARD:
            if "-h" in argv or "--help" in argv:
                answer(helper.usage)
                return 0
            return helper.run(read_options(helper, argv), name)
    except FlowError as error:
        report_error(name, error)
        return error.helper_code
    except KeyboardInterrupt:
        ctrl_c.ignore()  # it may have come instead of the one above
        say(f"{name}.sh: interrupted")
        return 130
    except Exception as error:  # noqa: BLE001 - no traceback reaches a user; the log has it
        report_error(name, report(error, os.environ))
        return 2
