"""Several slow calls at once, each in a thread of its own."""

from __future__ import annotations

import threading

from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LOOK = 0.2
"""Seconds between two looks of the waiting thread, so that it soon notices Ctrl-C."""


def run_in_threads(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Results of the calls, in their order, once all have ended.

    An exception of a call is raised here after the others have ended, the first one first. An
    interrupt does not wait for them: the threads end with the process.
    """
    results: list[Any] = [None] * len(calls)
    raised: list[BaseException | None] = [None] * len(calls)

    def run(place: int) -> None:
        try:
            results[place] = calls[place]()
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            raised[place] = error

    threads = [
        threading.Thread(target=run, args=(place,), name=f"call-{place}", daemon=True)
        for place in range(len(calls))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(_LOOK)
    for error in raised:
        if error is not None:
            raise error
    return results
