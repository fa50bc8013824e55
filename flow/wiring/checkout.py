""":class:`Checkout`: everything that Flow can do in one repository."""

from __future__ import annotations

from flow.wiring.recording import Recording
from flow.wiring.stopping import Stopping
from flow.wiring.trusting import Trusting


class Checkout(Stopping, Trusting, Recording):
    """A repository checkout, found from any folder inside it.

    ``cwd`` defaults to the working directory, ``environ`` to the process's environment. Raises
    :class:`~flow.errors.InputError` where neither a repository nor a ``.flow`` folder is above
    ``cwd``.
    """
