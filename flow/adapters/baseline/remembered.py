"""Results of earlier runs of commands on a base commit, under the same conditions."""

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
"""Kind of the cache entries; their folder is ``cache/baselines``."""
REVISION = 2
"""To be raised when results of base runs change without a change of Flow's version."""
CONDITIONS = (
    *("PATH", "LANG", "LC_ALL", "TZ", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME"),
    *("NODE_PATH", "NODE_ENV", "GOFLAGS", "GOPATH", "JAVA_HOME", "RUSTFLAGS", "CARGO_HOME"),
)
"""Variables that decide which programs and libraries a command finds."""


class ResultStore(NamedTuple):
    """Storage of results; ``folder`` is None if the state folder cannot be used."""

    folder: str | None
    repository: str
    environ: Mapping[str, str]


def _conditions(
    store: ResultStore, commit: str, criterion: Criterion, sandbox: Sandbox | None
) -> bytes:
    """All conditions of a base run's result that Flow knows of."""
    machine = os.uname()
    conditions = [
        REVISION,
        store.repository,
        commit,
        criterion.verification_command,
        criterion.cwd or "",
        [machine.sysname, machine.machine, machine.nodename],
        {name: store.environ.get(name) for name in CONDITIONS},
        sandbox,
    ]
    return json.dumps(conditions, sort_keys=True).encode("ascii")


def recall(
    store: ResultStore, commit: str, criterion: Criterion, sandbox: Sandbox | None
) -> BaseRun | None:
    """The result of the same command under the same conditions; None if none is stored."""
    if store.folder is None:
        return None
    key = _conditions(store, commit, criterion, sandbox)
    entry = contracts_cache.load_checked(store.folder, key, KIND)
    return red_first.from_document(entry[0]) if entry is not None else None


def remember(
    store: ResultStore, commit: str, criterion: Criterion, sandbox: Sandbox | None, run: BaseRun
) -> None:
    """Store the result of a command under these conditions."""
    if store.folder is not None:
        document = run._replace(evidence_id=None).to_document()
        key = _conditions(store, commit, criterion, sandbox)
        contracts_cache.store_checked(store.folder, key, document, [], KIND)
