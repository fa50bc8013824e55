"""Money that one evaluation may still spend on judges (``flow.goals.judge.maxCostUsd``)."""

from __future__ import annotations

import threading


class Budget:
    """Dollars spent so far, over all calls and all judges that share it; for several threads.

    ``most`` None is no limit. A call without a known cost makes a limit worthless, so under a limit
    such a call's answer is refused, and no further call is made.
    """

    def __init__(self, most: float | None) -> None:
        self.most = most
        self.spent = 0.0
        self.earlier = 0.0
        self._why_unknown = ""
        """Why what was spent is not known; empty if it is."""
        self._lock = threading.Lock()

    @property
    def left(self) -> float | None:
        """Remaining US dollars; None if there is no limit."""
        return None if self.most is None else max(self.most - self.spent, 0.0)

    def refusal(self) -> str | None:
        """Reason not to make a further call; None if one may be made."""
        if self.most is None:
            return None
        if self._why_unknown:
            return self._why_unknown
        if self.spent >= self.most:
            return f"maxCostUsd of {self.most:g} is reached: {self._told()}"
        return None

    def charge(self, cost: float, *, untold: bool = False) -> None:
        """Add the cost of the interrupted run that is being resumed; ``untold``: not all of it."""
        with self._lock:
            self.earlier = round(self.earlier + cost, 12)
            self.spent = round(self.spent + cost, 12)
            if untold:
                self._why_unknown = UNTOLD_EARLIER

    def add(self, cost: float | None) -> str | None:
        """Count the cost of a finished call; returns a reason not to use its answer, or None."""
        with self._lock:
            if cost is not None:
                self.spent = round(self.spent + cost, 12)  # cents add up to the written sum
            else:
                self._why_unknown = UNTOLD
        if self.most is None:
            return None
        if cost is None:
            return UNTOLD
        if self.spent > self.most:
            return f"maxCostUsd of {self.most:g} was exceeded: {self._told()}"
        return None

    def _told(self) -> str:
        told = f"{self.spent:.4g} US dollars were spent in this evaluation"
        if not self.earlier:
            return told
        return f"{told}, {self.earlier:.4g} of them in earlier runs of this debate"


UNTOLD_EARLIER = (
    "maxCostUsd is set, but an earlier answer did not tell what it cost, so the limit cannot be "
    "kept; take the limit out to go on with it"
)
UNTOLD = (
    "maxCostUsd is set, but this backend did not tell what its call cost, so the limit cannot be "
    "kept; use a backend that does (claude), or take the limit out"
)
