"""The ways of measuring a pairwise statistic by name, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ogive.statistics.recipes_reports import owners_answer
from ogive.statistics.ustatistic_curator import Counts, Exact, Kernels, counts, kernels
from ogive.statistics.ustatistic_hierarchy import Hierarchical, hierarchical
from ogive.statistics.ustatistic_reports import ORACLES, reports
from ogive.statistics.ustatistic_surface import surface
from ogive.statistics.ustatistic_ways import Asked, Way, best, of_classes

BY_CURATORS: dict[str, Callable[[Asked], Way]] = {Kernels.name: kernels, Counts.name: counts}
"""What makes each way of those who see records, with its best number of bins where that is free."""


def of_owners(asked: Asked, name: str) -> Way:
    """Reports of one oracle, for means over pairs or for a volume under the ROC surface.

    Raises:
        ParameterError, UnsupportedError: the oracle does not fit what is asked.
    """
    return surface(asked, name) if of_classes(asked.measure) else reports(asked, name)


BY_OWNERS: dict[str, Callable[[Asked], Way]] = {
    **{name: partial(of_owners, name=name) for name in ORACLES},
    Hierarchical.name: hierarchical,
}
"""The same of owners, who send reports."""

METHODS = {**BY_CURATORS, **BY_OWNERS}


def chosen(asked: Asked, method: str) -> Way:
    """The named way, or the one with the smallest predicted error of those that fit; the exact one without privacy.

    Raises:
        ParameterError, UnsupportedError, ScaleError: it does not fit, or none does.
    """
    if not asked.terms.private:
        return Exact(asked)
    if method != "auto":
        return METHODS[method](asked)
    ways = BY_OWNERS if owners_answer(asked.terms) else BY_CURATORS
    return best(partial(make, asked) for make in ways.values())
