"""Values that nobody has listed: how they are asked for, and what is known of those that were found."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass

from ogive.columns import LabelValue, OpenCategories
from ogive.errors import ParameterError, UnsupportedError
from ogive.noise import DiscreteLaplace
from ogive.privacy import ApproxDP
from ogive.queries import Answer, DiscoveryQuery, Query, ValueCounts, design_discovery
from ogive.queries.aggregates import read
from ogive.statistics.base import Terms

_ANY = ApproxDP(1, "1e-6")


@dataclass(frozen=True)
class Discovered:
    """Values that were found, with noisy counts; exact ones of all values where there is no privacy.

    Fields:
        counts: Of each value that was found, in the order of the values.
        missing: Noisy count of the records with a missing value, where those are counted.
        threshold: Least noisy count with which a value is found; None where all are.
        law: Noise of every count; None where there is none.
        total: How many records there are, where that is public.
    """

    counts: Mapping[LabelValue, int]
    missing: int | None
    threshold: int | None
    law: DiscreteLaplace | None
    total: int | None

    def most(self, number: int) -> tuple[LabelValue, ...]:
        """The values in their order; of more than so many those with the largest counts."""
        most_frequent = set(sorted(self.counts, key=lambda value: -self.counts[value])[:number])
        return tuple(value for value in self.counts if value in most_frequent)


def shown_interval(law: DiscreteLaplace, threshold: int, count: int, confidence_level: float) -> tuple[int, int]:
    """The numbers of records that a value may have whose noisy count is shown.

    The value is shown because its noisy count reached the threshold, so the interval is one of the law of the count
    given that: of all shown values of this many records, at least this share have intervals that hold the number.
    Noise has no memory. So whoever has fewer records than the threshold is shown with counts of one law, and a count
    near the threshold says no more than that some record has the value.
    """
    half = (1 - confidence_level) / 2
    log_q = -1 / float(law.scale)

    def reaches(least: int) -> float:
        """P(Z >= least), in logarithms so that no ratio of small ones is lost."""
        if least >= 0:
            return least * log_q - math.log1p(math.exp(log_q))
        return math.log1p(-math.exp((1 - least) * log_q - math.log1p(math.exp(log_q))))

    def above(records: int) -> bool:
        """Whether so many records are shown with a count as high as this one often enough."""
        return reaches(count - max(records, threshold)) - reaches(threshold - max(records, threshold)) > math.log(half)

    def below(records: int) -> bool:
        """Whether so many records are shown with a count as low as this one often enough."""
        return -math.expm1(reaches(count + 1 - records) - reaches(threshold - records)) > half

    low = 1 if above(1) else _first(above, threshold, count)
    high = count
    while below(high):
        high += 1 + (high - count)
    return low, _first(lambda records: not below(records), count, high) - 1


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The first number from `low` to `high` for which something holds; it holds for `high` and all from some one on."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def discovery(column: OpenCategories, terms: Terms, *, parameter: str) -> DiscoveryQuery:
    """The question which values occur, at the whole of a guarantee."""
    privacy = terms.privacy
    if not terms.private and not isinstance(privacy, ApproxDP):
        privacy = _ANY  # an exact answer has every value, whatever its price would be
    if not isinstance(privacy, ApproxDP):
        raise ParameterError(
            "finding out which values occur needs a delta; name the values, which are public, for example "
            f"`{parameter}=('a', 'b')`, or use `ApproxDP`"
        )
    query = design_discovery(ValueCounts(column), privacy, terms.unit)
    if terms.refusal(query) is not None:
        raise UnsupportedError(
            "which values occur is found out only by a curator who sees all records; name the values, which are "
            f"public, for example `{parameter}=('a', 'b')`, or use trust central"
        )
    return query


def discover(column: OpenCategories, terms: Terms, *, parameter: str) -> Generator[Query, Answer, Discovered]:
    """Ask which values occur, and how many records have each.

    Privacy: one measurement at the whole of `terms.privacy`.
    """
    query = discovery(column, terms, parameter=parameter)
    answer = yield query
    result = read(answer.values)
    return Discovered(
        result.counts,
        result.missing if column.missing == "count" else None,
        query.threshold if answer.noisy else None,
        query.law if answer.noisy else None,
        answer.total,
    )
