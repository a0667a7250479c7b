"""The ways of measuring a pairwise statistic by name, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ogive.statistics.ustatistic_curator import Counts, Exact, Kernels, counts, kernels
from ogive.statistics.ustatistic_hierarchy import Hierarchical, hierarchical
from ogive.statistics.ustatistic_reports import ORACLES, reports
from ogive.statistics.ustatistic_ways import Asked, Way, best

METHODS: dict[str, Callable[[Asked], Way]] = {
    Kernels.name: kernels,
    Counts.name: counts,
    **{name: partial(reports, name=name) for name in ORACLES},
    Hierarchical.name: hierarchical,
}
"""What makes each way, with its best number of bins where that is free."""


def chosen(asked: Asked, method: str) -> Way:
    """The named way, or the one with the smallest predicted error of those that fit; the exact one without privacy.

    Raises:
        ParameterError, UnsupportedError, ScaleError: it does not fit, or none does.
    """
    if not asked.terms.private:
        return Exact(asked)
    if method != "auto":
        return METHODS[method](asked)
    return best(partial(make, asked) for make in METHODS.values())
