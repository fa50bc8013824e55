"""The cost of judges, from the sidecars with their answers."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flow.core.evidence.model import Evidence


def judge_cost(evidence: Iterable[Evidence]) -> float:
    """US dollars of all judgements among ``evidence``, each ballot once.

    An opinion's total includes its ballots; a judgement without a recorded cost counts as 0.
    """
    total, ballots, counted = 0.0, dict[str, float](), set[str]()
    for sidecar in evidence:
        judgement = sidecar.judgement
        if sidecar.type != "llm_judge_report" or not judgement:
            continue
        cost = _dollars(judgement.get("cost_usd"))
        cast = judgement.get("ballots")
        if isinstance(cast, dict):
            total += cost
            counted.update(str(path) for path in cast.get("sidecars") or ())
        else:
            ballots[sidecar.id] = cost
    named = {path.rpartition("/")[2].removesuffix(".evidence.yaml") for path in counted}
    return round(total + sum(cost for name, cost in ballots.items() if name not in named), 6)


def _dollars(value: Any) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return float(value) if known else 0.0
