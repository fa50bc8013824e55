"""Picks the real parts and puts them together.

:class:`Checkout` is one repository as a user sees it from a folder inside. Everything is built at
the point of use: a helper that only writes a verdict never loads YAML, git or the settings.
"""

from __future__ import annotations

from flow.wiring.parts import version
from flow.wiring.recording import Recording
from flow.wiring.stopping import Stopping
from flow.wiring.trusting import Trusting

__all__ = ["Checkout", "version"]


class Checkout(Stopping, Trusting, Recording):
    """A repository checkout, found from any folder inside it.

    ``cwd`` defaults to the working directory, ``environ`` to the process's environment. Raises
    :class:`~flow.errors.InputError` where neither a repository nor a ``.flow`` folder is above
    ``cwd``.
    """
