"""The ways of measuring a pairwise statistic by name, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from ogive.statistics.recipes_hierarchy import HierarchyAuc
from ogive.statistics.recipes_reports import owners_answer
from ogive.statistics.ustatistic_curator import Counts, Exact, Kernels, counts, kernels
from ogive.statistics.ustatistic_hierarchy import Hierarchical, hierarchical
from ogive.statistics.ustatistic_reports import ORACLES, reports
from ogive.statistics.ustatistic_surface import surface
from ogive.statistics.ustatistic_ways import DOES_NOT_FIT, Asked, Way, best, of_classes

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


def chosen(asked: Asked, method: str | HierarchyAuc) -> Way:
    """The named way, or the one with the smallest predicted error of those that fit; the exact one without privacy.

    Of a curator's ways those that round values compete only where none fits that does not: how far rounding moves the
    value depends on the records, so an interval that is right for all of them is wide.

    Raises:
        ParameterError, UnsupportedError, ScaleError: it does not fit, or none does.
    """
    if not asked.terms.private:
        return Exact(asked)
    if isinstance(method, HierarchyAuc):
        return hierarchical(asked, method)
    if method != "auto":
        return METHODS[method](asked)
    if owners_answer(asked.terms):
        return best(partial(make, asked) for make in BY_OWNERS.values())
    if of_classes(asked.measure):
        return kernels(asked)
    if not asked.exactly_binned:
        with suppress(*DOES_NOT_FIT):
            return kernels(asked)
        return counts(asked)
    # counts first: more trust models can have them, so that it is of them one hears why nothing fits
    return best(partial(make, asked) for make in (counts, kernels))
