"""What commands came to on a base commit earlier, under the same conditions."""

from __future__ import annotations

import json
import os

from flow.adapters.contracts import cache as contracts_cache
from flow.core.evidence import red_first
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.evidence.red_first import BaseRun
    from flow.core.goal.model import Criterion
    from flow.core.sandbox import Sandbox

KIND = "base"
"""The kind of the entries that are remembered; they lie in ``cache/baselines``."""
REVISION = 2
"""To be raised when what a base run comes to changes without a change of Flow's version."""
CONDITIONS = (
    *("PATH", "LANG", "LC_ALL", "TZ", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME"),
    *("NODE_PATH", "NODE_ENV", "GOFLAGS", "GOPATH", "JAVA_HOME", "RUSTFLAGS", "CARGO_HOME"),
)
"""Variables that decide which programs and libraries a command finds."""


class Place(NamedTuple):
    """Where it is remembered: ``folder`` None where the state folder cannot be used."""

    folder: str | None
    repository: str
    environ: Mapping[str, str]


def _conditions(place: Place, commit: str, criterion: Criterion, sandbox: Sandbox | None) -> bytes:
    """All that a base run's result may depend on and that Flow knows of."""
    machine = os.uname()
    told = [
        REVISION,
        place.repository,
        commit,
        criterion.verification_command,
        criterion.cwd or "",
        [machine.sysname, machine.machine, machine.nodename],
        {name: place.environ.get(name) for name in CONDITIONS},
        sandbox,
    ]
    return json.dumps(told, sort_keys=True).encode("ascii")


def recall(
    place: Place, commit: str, criterion: Criterion, sandbox: Sandbox | None
) -> BaseRun | None:
    """What the same command came to under the same conditions; None: nothing is remembered."""
    if place.folder is None:
        return None
    entry = contracts_cache.load_checked(
        place.folder, _conditions(place, commit, criterion, sandbox), KIND
    )
    return red_first.from_document(entry[0]) if entry is not None else None


def remember(
    place: Place,
    commit: str,
    criterion: Criterion,
    sandbox: Sandbox | None,
    run: BaseRun,
) -> None:
    """Remember what a command came to under these conditions."""
    if place.folder is not None:
        document = run._replace(evidence_id=None).to_document()
        key = _conditions(place, commit, criterion, sandbox)
        contracts_cache.store_checked(place.folder, key, document, [], KIND)
