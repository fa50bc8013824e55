"""Workers that have loaded their SDK already, for tests whose subject is what a service says."""

from __future__ import annotations

import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flow.adapters.judges import service
from tests.adapters.judges.warm_worker import client
from tests.support.effort import sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

REAL = service._WORKER


@pytest.fixture(scope="session")
def _warm() -> Iterator[Callable[[str], str]]:
    """The script to start for an SDK; the process behind it starts with the first call."""
    with ExitStack() as stack:
        scripts: dict[str, str] = {}
        turn = threading.Lock()  # the judges of a debate are asked at once

        def script(sdk: str) -> str:
            with turn:
                if sdk not in scripts:
                    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="warm"))
                    scripts[sdk] = stack.enter_context(client(Path(folder), sdk, REAL))
            return scripts[sdk]

        yield script


@pytest.fixture(autouse=True)
def warm(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    _warm: Callable[[str], str],
) -> None:
    """Real starts for tests marked ``cold``, and for all of them with ``--long``."""
    if sizes(short=request.node.get_closest_marker("cold"), long=True):
        return
    send = service.ServiceBackend.send

    def warmly(backend: service.ServiceBackend, *rest: Any, **more: Mapping[str, Any]) -> Any:
        monkeypatch.setattr(service, "_WORKER", _warm(backend.name))
        return send(backend, *rest, **more)

    monkeypatch.setattr(service.ServiceBackend, "send", warmly)
