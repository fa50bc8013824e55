"""``python -m flow`` and the ``flow`` console script.

Started this way, Python may import modules of the working directory; ``bin/flow`` starts isolated.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; returns the exit status."""
    from flow.cli.main import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
