"""What is said of a release that nobody adds up, or that says nothing; it is not refused for that.

What is said before the spend follows from public numbers alone. Where the number of records is private, whether noise
drowns them is private too until it is released, so it can be said only of the release.
"""

from __future__ import annotations

import logging
import math
from typing import Any

from ogive.errors import NoiseWarning
from ogive.queries import Query
from ogive.queries.threshold import ThresholdQuery
from ogive.strategies.base import LOUD, noise_share

UNBOOKED = (
    "ogive: this release is in no ledger, so nothing adds up the privacy cost of several releases of the same records "
    "(this note is shown once)"
)

_LOGGER = logging.getLogger(__name__)


class _Process:
    """What this process has said so far."""

    unbooked = False


def tell_unbooked() -> None:
    """Say once in a process, by the logger `ogive.cautions`, that a release is in no ledger."""
    if not _Process.unbooked:
        _Process.unbooked = True
        _LOGGER.warning(UNBOOKED)


def no_books_wanted() -> None:
    """Say nothing of releases that are in no ledger: that is what was asked for."""
    _Process.unbooked = True


def before(query: Query, records: int | None) -> NoiseWarning | None:
    """A warning of a measurement whose noise will hide the curves that it is for; None where it will not.

    Args:
        query: Asks for the measurement.
        records: How many there are where that is public, else None: then nothing is said.
    """
    share = 0.0 if records is None else _share(query, records)
    if share < LOUD:
        return None
    return NoiseWarning(f"{_loud(share, 'will be')}; ogive.plan predicts what other choices give")


def after(estimate: Any, records: int | None) -> NoiseWarning | None:
    """A warning of a release whose noise hides what it tells, which was not known before; None where it does not.

    Args:
        estimate: What was released.
        records: How many there are where that is public.
    """
    share = estimate.noise_share()
    if share < LOUD:
        return None
    why = "the number of records is private" if records is None else "it followed from noisy answers"
    return NoiseWarning(f"{_loud(share, 'is')}; {why}, so this was not known before the spend")


def _share(query: Query, records: int) -> float:
    """Noise at a threshold of a curve that is measured, as a share of the records."""
    if isinstance(query, ThresholdQuery):
        # thresholds of later rounds, and what lies between them, halve the error at most
        return math.ldexp(math.sqrt(query.law.variance), -query.bits) / (2 * max(records, 1))
    strategy = getattr(query, "strategy", None)
    if strategy is None:
        return 0.0
    # of classes or groups, not all have more than an even part of the records
    curves = max(1, len(query.levels) // max(1, len(strategy.levels)))
    return noise_share(strategy, records / curves, total_known=True)


def _loud(share: float, verb: str) -> str:
    if share == float("inf"):
        return f"noise {verb} as large as the records, of which it leaves none, so that this release says nothing"
    return (
        f"noise {verb} {share:.2g} of the records at a threshold (root mean square, before smoothing), "
        "so that this release says little or nothing"
    )
