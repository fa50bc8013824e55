"""Whether a named program is this Flow; loads little, for a host's hook."""

from __future__ import annotations

import os
import shutil


def is_own(path: str) -> bool:
    """Whether the program at ``path`` is the ``flow`` on the PATH, or the plugin's."""
    root = os.path.abspath(__file__)
    for _ in range(4):
        root = os.path.dirname(root)
    tops = (root, os.environ.get("CLAUDE_PLUGIN_ROOT"))
    own = (*(os.path.join(top, "bin", "flow") for top in tops if top), shutil.which("flow"))
    return os.path.realpath(path) in {os.path.realpath(each) for each in own if each}
