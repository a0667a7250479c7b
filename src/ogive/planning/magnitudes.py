"""What found bounds may miss, for any data: how many records an order of magnitude needs to be seen."""

from __future__ import annotations

from ogive.planning.curves import CONFIDENCE
from ogive.statistics.bounds.estimate import BoundsEstimate
from ogive.statistics.bounds.noise import reach


def bounds_errors(estimate: BoundsEstimate, records: int) -> dict[str, float]:
    """The share of the records that an outermost order of magnitude must hold to be seen in 95 of 100 releases.

    It is seen where its noisy count reaches the threshold t: with c records unless the noise is below t - c. The
    noise is symmetric, so c = t + r will do, with r reached by one draw in 20.
    """
    assert estimate.strategy is not None, "planned with noise"
    needed = estimate.threshold + reach(estimate.strategy.laws[0], 1, float(1 - CONFIDENCE)) - 1
    return {"unseen": min(1.0, needed / records)}
