"""The files that come with Flow: schemas, rubrics, the example."""

from __future__ import annotations

import os

from flow.errors import in_file

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def folders(packaged: str, in_checkout: str) -> tuple[str, str]:
    """Both places of a folder that comes with Flow: in a wheel's package, and in a checkout.

    The package comes first: beside an installed one, a folder of that name may be another
    project's.
    """
    beside = os.path.join(os.path.dirname(_PACKAGE), in_checkout)
    return os.path.join(_PACKAGE, "_data", packaged), beside


def find(places: tuple[str, ...], name: str, what: str) -> str:
    """The path of ``name`` in the first folder that has it; ``what`` names it in the error.

    Raises :class:`StorageError` if this installation lacks it.
    """
    paths = [os.path.join(folder, name) for folder in places]
    for path in paths:
        if os.path.exists(path):
            return path
    raise in_file(paths[-1]).storage(
        f"{what} is missing from this installation", "install Flow again"
    )
