"""``python -m flow`` and the ``flow`` console script.

Started this way, Python may import modules of the working directory; ``bin/flow`` starts isolated.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; returns the exit status."""
    _own_process()
    return run(sys.argv[1:])


def helper() -> int:
    """Run the helper that the started script is named after; returns the exit status.

    The scripts that a package's installation makes beside ``flow`` call it.
    """
    _own_process()
    from flow.helpers import main as run_helper

    return run_helper(sys.argv[0].rpartition("/")[2], sys.argv[1:])


def _own_process() -> None:
    try:
        from flow.startup import ctrl_c, finder

        finder.install()
        ctrl_c.own()
    except KeyboardInterrupt:  # in the first milliseconds: the runner handles it
        from flow.startup import ctrl_c

        ctrl_c.own(missed=True)


def run(words: list[str]) -> int:
    """Run these words of the command line in the present process; returns the exit status."""
    if words[:1] == ["help"] and words[1:2] in (["hook"], ["statusline"]):
        words = [words[1], "--help", *words[2:]]
    hook = words[:1] == ["hook"] or words[:2] == ["--json", "hook"]
    if hook and "pre-push" not in words[1:3]:
        from flow.hook import run as run_hook

        at = words.index("hook")
        return run_hook([*words[:at], *words[at + 1 :]])
    if words[:1] == ["statusline"] or words[:2] == ["--json", "statusline"]:
        from flow.statusline import run as run_statusline

        return run_statusline(words)
    from flow.cli.main import run as run_command

    return run_command(words)


if __name__ == "__main__":
    sys.exit(main())
