"""The methods of measuring a pairwise statistic by name, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Literal

from ogive.columns import Binning, Domain
from ogive.grids import Grid
from ogive.kernels import measure_of
from ogive.kernels.triples import of_triples
from ogive.queries import PairsQuery, RowValues
from ogive.statistics.base import Terms
from ogive.statistics.methods.base import counts_records, owners_answer
from ogive.statistics.ustatistic.base import DOES_NOT_FIT, MeanMethod, MeanTask, best, of_classes
from ogive.statistics.ustatistic.curator.degrees import Degrees, counts_equal_pairs, degrees
from ogive.statistics.ustatistic.curator.method import Counts, Exact, Kernels, counts, kernels
from ogive.statistics.ustatistic.pairs.method import PeoplesPairs, paired
from ogive.statistics.ustatistic.pairs.options import Paired
from ogive.statistics.ustatistic.reports.method import ORACLES, reports
from ogive.statistics.ustatistic.reports.surface.method import surface
from ogive.statistics.ustatistic.reports.trees.method import Hierarchical, hierarchical
from ogive.statistics.ustatistic.reports.trees.options import HierarchyAuc
from ogive.statistics.ustatistic.reports.triples import triples

BY_CURATORS: dict[str, Callable[[MeanTask], MeanMethod]] = {
    Kernels.name: kernels,
    Counts.name: counts,
    Degrees.name: degrees,
}
"""What makes each method of those who see records, with its best number of bins where that is free."""


def of_owners(task: MeanTask, name: str) -> MeanMethod:
    """Reports of one oracle, for means over pairs or over triples, or for a volume under the ROC surface.

    Raises:
        ParameterError, UnsupportedError: the oracle does not fit what is asked.
    """
    if of_classes(task.measure):
        return surface(task, name)
    return triples(task, name) if of_triples(task.measure) else reports(task, name)


BY_OWNERS: dict[str, Callable[[MeanTask], MeanMethod]] = {
    **{name: partial(of_owners, name=name) for name in ORACLES},
    Hierarchical.name: hierarchical,
}
"""The same of owners, who send reports."""

BY_PAIRS: dict[str, Callable[[MeanTask], MeanMethod]] = {PeoplesPairs.name: paired}
"""The same of people who meet in pairs."""

UstatisticMethod = Literal["auto", "kernel", "cells", "degrees", "krr", "unary", "haar", "hierarchy", "paired"]
METHODS = {**BY_CURATORS, **BY_OWNERS, **BY_PAIRS}

ByHand = HierarchyAuc | Paired
"""Methods with options."""

# never asked; shows whether a trust model serves any query of its kind
_ROWS = RowValues(Domain((Binning("x", Grid.linear(0, 1, bins=2)),)))
_PROBE = PairsQuery(_ROWS, measure_of("collision"), False, Fraction(1), Fraction(0), "round_robin", 1, "response", 1)


def pairs_answer(terms: Terms) -> bool:
    """Whether the trust model asks pairs of people and nobody else."""
    return terms.refusal(_PROBE) is None and not counts_records(terms)


def choose_method(task: MeanTask, method: str | ByHand) -> MeanMethod:
    """The named method, or the one with the smallest predicted error of those that fit; the exact one without privacy.

    Of a curator's methods those that round values compete only where no other fits: how far rounding moves the value
    depends on the records, so an interval that is right for all of them is wide.

    Clipped degrees are taken where they err less than the best of the others on every reference shape.

    Raises:
        ParameterError, UnsupportedError, ScaleError: it does not fit, or none does.
    """
    if not task.terms.private:
        return Exact(task)
    if isinstance(method, HierarchyAuc):
        return hierarchical(task, method)
    if isinstance(method, Paired):
        return paired(task, method)
    if method != "auto":
        return METHODS[method](task)
    if pairs_answer(task.terms):
        return paired(task)
    if owners_answer(task.terms):
        return best(partial(make, task) for make in BY_OWNERS.values())
    if of_classes(task.measure) or of_triples(task.measure):
        return kernels(task)
    if not task.exactly_binned:
        with suppress(*DOES_NOT_FIT):
            return kernels(task)
        return counts(task)
    # counts first: more trust models can have them, so that it is of them one hears why nothing fits
    found = best(partial(make, task) for make in (counts, kernels))
    if counts_equal_pairs(task.measure):
        with suppress(*DOES_NOT_FIT):
            return degrees(task).unless_beaten(found)
    return found
