"""Cautions about a release that is in no ledger, that noise hides, or that protects little; none is refused for that.

Cautions before the spend follow from public numbers alone. Where the number of records is private, whether noise
drowns them is private too until it is released, so the caution can follow only the release.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ogive.columns import Binning, Schema
from ogive.errors import NoiseWarning
from ogive.local.oracles import RandomizedResponse
from ogive.privacy import Privacy, ZeroConcentratedDP
from ogive.queries import (
    CellsQuery,
    ClassCurvesQuery,
    CurveQuery,
    GroupBinning,
    GroupedQuery,
    KernelQuery,
    LinearGroupsQuery,
    MomentsQuery,
    Query,
    ReportsQuery,
)
from ogive.queries.histograms import ThresholdQuery
from ogive.queries.wrapped import LinearSelectedQuery, SelectedQuery
from ogive.statistics.base import OF_BOUNDS, OF_COUNT, OF_RANGE, OF_RECORDS
from ogive.strategies.base import LOUD, noise_share

UNBOOKED = (
    "ogive: this release is in no ledger, so nothing adds up the privacy cost of several releases of the same records"
)

LARGEST_EPSILON, LARGEST_RHO = 10, 50
"""Above these a guarantee says little of one person. Pure epsilon = 10 implies rho = 50."""

_LOGGER = logging.getLogger("ogive.cautions")


class _Process:
    """The cautions that this process has given."""

    unbooked = False
    weak = False


def tell_unbooked() -> None:
    """Say once in a process, by the logger `ogive.cautions`, that a release is in no ledger."""
    if not _Process.unbooked:
        _Process.unbooked = True
        _LOGGER.warning(UNBOOKED)


def tell_weak(privacy: Privacy) -> None:
    """Say once in a process, by the same logger, that so large a guarantee protects little, before it is spent."""
    largest = f"epsilon = {LARGEST_EPSILON}"
    if isinstance(privacy, ZeroConcentratedDP):
        large, largest = privacy.rho > LARGEST_RHO, f"rho = {LARGEST_RHO}, which {largest} implies"
    else:
        large = privacy.epsilon > LARGEST_EPSILON
    if large and not _Process.weak:
        _Process.weak = True
        _LOGGER.warning(
            "ogive: %s protects little: already at %s, whoever thinks two answers equally likely may be 99.995 %% sure "
            "of one after the release",
            privacy,
            largest,
        )


def tell_left_out(left_out: Mapping[str, str], schema: Callable[[], Schema | None]) -> None:
    """Say by the same logger which columns of a table a statistic leaves out, and why, before anything is spent."""
    known = schema()
    for name, reason in left_out.items():
        if known is not None and known.kind(name) == "text":
            reason = known.number_remedy(name) or reason
        _LOGGER.warning("ogive: %s: not described, since %s", name, reason)


def no_books_wanted() -> None:
    """Give no caution about releases that are in no ledger, since none is wanted."""
    _Process.unbooked = True


@dataclass(frozen=True)
class _Noise:
    """How large noise is, and beside what."""

    share: float
    beside: str = OF_RECORDS


_NONE = _Noise(0.0)


def before(query: Query, records: int | None, beside: str = OF_RECORDS) -> NoiseWarning | None:
    """A warning of a measurement whose noise will hide what it is for; None where it will not."""
    noise = _NONE if records is None else _noise(query, float(max(records, 1)))
    if noise.share < LOUD:
        return None
    words = beside if noise.beside == OF_RECORDS else noise.beside
    return NoiseWarning(f"{_loud(noise.share, words, 'will be')}; a plan predicts what other choices give")


def chosen(query: Query) -> frozenset[Binning]:
    """The grids on which a query selects quantiles. What is asked of them afterwards is how sure these are.

    Noise of that makes intervals wider, and hides no quantile.
    """
    return frozenset(each.binning for each in _inner(query) if getattr(each, "selects", False))


def concerns(query: Query, grids: Set[Binning]) -> bool:
    """Whether a query is one of such grids."""
    return any(getattr(each, "binning", None) in grids for each in _inner(query))


def _inner(query: Any) -> Iterator[Any]:
    """The queries within conditions and of groups, to one who sees all records or of parties who add up."""
    if isinstance(query, LinearSelectedQuery):
        query = query.selected
    elif isinstance(query, LinearGroupsQuery):
        query = query.joined
    if isinstance(query, SelectedQuery):
        yield from _inner(query.query)
    elif isinstance(query, ClassCurvesQuery) and isinstance(query.classes, GroupBinning):
        yield CurveQuery(query.classes.values, query.strategy)
    elif isinstance(query, GroupedQuery):
        for part in query.asked:
            yield from _inner(part)
    else:
        yield query


def after(estimate: Any, records: int | None) -> NoiseWarning | None:
    """A warning of a release whose noise hides what it tells, which was not known before; None where it does not."""
    share = estimate.noise_share()
    if share < LOUD:
        return None
    why = "the number of records is private" if records is None else "it followed from noisy answers"
    said = f"{_loud(share, estimate.noise_beside, 'is')}{estimate.noise_hides}"
    return NoiseWarning(f"{said}; {why}, so this was not known before the spend")


def _noise(query: Query, records: float) -> _Noise:
    """The noise of what is measured; nothing where it is not known before the answer."""
    if isinstance(query, LinearSelectedQuery):
        query = query.selected
    if isinstance(query, SelectedQuery):
        return _noise(query.query, records)  # at most all records satisfy the condition
    if isinstance(query, LinearGroupsQuery):
        query = query.joined
    if isinstance(query, GroupedQuery):
        # not all groups have more than an even part of the records
        return min((_noise(part, records / len(query.parts)) for part in query.asked), key=lambda noise: noise.share)
    if isinstance(query, MomentsQuery):
        return _noise_of_sum(query, records)
    if isinstance(query, CellsQuery):
        # of the records in half of all cells, as of a curve at a threshold in the middle
        share = math.sqrt(query.cells.domain.size / 2) * _deviation(query.law.variance, query.bits) / records
        return _Noise(share, OF_COUNT)
    if isinstance(query, KernelQuery):
        return _noise_of_means(query, records)
    if isinstance(query, ReportsQuery):
        return _noise_of_reports(query, records)
    if isinstance(query, ThresholdQuery):
        # thresholds of later rounds, and what lies between them, halve the error at most
        return _Noise(_deviation(query.law.variance, query.bits) / (2 * records))
    strategy = getattr(query, "strategy", None)
    if strategy is None:
        return _NONE
    # of classes or groups, not all have more than an even part of the records
    curves = max(1, len(query.levels) // max(1, len(strategy.levels)))
    return _Noise(noise_share(strategy, records / curves, total_known=True))


def _noise_of_sum(query: MomentsQuery, records: float) -> _Noise:
    """Of a sum of places, as a share of the most that they can add up to: of two places the number of records."""
    weights = query.weights
    if not weights.slope:
        return _NONE
    share = _deviation(query.law.variance, query.bits) / (weights.slope * query.last * records)
    return _Noise(share, OF_COUNT if query.last == 1 else OF_BOUNDS)


def _noise_of_means(query: KernelQuery, records: float) -> _Noise:
    """Of the noisiest mean of a kernel, as a share of its range; there are most pairs where classes are even."""
    reach = records / max(2, query.samples)
    scales = [records if query.counted and number == 1 else reach for number in range(len(query.laws))]
    return _Noise(
        max(_deviation(law.variance, query.bits) / scale for law, scale in zip(query.laws, scales, strict=True)),
        OF_RANGE,
    )


def _noise_of_reports(query: ReportsQuery, records: float) -> _Noise:
    """Of reports of one of two places; how other reports are read, and with what error, depends on the statistic."""
    oracle = query.oracle
    if not isinstance(oracle, RandomizedResponse) or oracle.size != 2:
        return _NONE
    keep = float(oracle.keep)
    other = (1 - keep) / 2
    return _Noise(
        math.sqrt(other * (1 - other) / records) / keep, OF_BOUNDS if query.rounding == "randomized" else OF_COUNT
    )


def _deviation(variance: Fraction | float, bits: int) -> float:
    return math.ldexp(math.sqrt(variance), -bits)


def _loud(share: float, beside: str, verb: str) -> str:
    if share == float("inf"):
        return f"noise {verb} as large as the records, of which it leaves none, so that this release says nothing"
    return f"noise {verb} {share:.2g} {beside}, so that this release says little or nothing"
