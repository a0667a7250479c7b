"""Counts and shares of categories, each with its errors and intervals."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any, ClassVar, Self

from ogive.columns import MAX_LISTED, Domain, LabelValue, Listed, OpenCategories
from ogive.errors import DataError, ParameterError, quoted
from ogive.noise import DiscreteLaplace
from ogive.provenance import Provenance
from ogive.queries import CellsQuery, DiscoveryQuery, MomentsQuery, ValueCounts
from ogive.queries.histograms import LARGEST_THRESHOLD
from ogive.statistics.base import OF_COUNT, Estimate
from ogive.statistics.discovery import shown_interval
from ogive.statistics.plain_json import Codec, Fields, Read, finite, stored
from ogive.statistics.sums import measured as sums
from ogive.statistics.sums.lattice import VALUES, check_cost, read_table
from ogive.statistics.sums.measured import Measured, Reading, count_reading, query_of, share_reading
from ogive.statistics.sums.posterior import agreed

Interval = tuple[float, float]

# --- Intervals of values that are shown only if their noisy count reached a threshold
#
# Source:
#     `docs/proofs/discovery.md`.


def share_interval(
    counted: Interval, records: Interval, size: float, *, threshold: int, confidence_level: float
) -> Interval:
    """The share of a value in the population, given that it is shown.

    Wilson's interval of the lowest and of the highest share that the records may have. A value of fewer records than
    the threshold is mostly shown where the sample has more of it than the population, so a lower end below the
    threshold is no end at all, and is 0. A value of the threshold or more is shown in at least half of all samples,
    which at most doubles the chance that its lower end is too high. So the interval fails with at most the chance that
    the number of records is outside of its interval and one and a half times that of Wilson's.
    """
    low = _wilson(min(1.0, counted[0] / max(1.0, records[1])), size, confidence_level)[0]
    high = _wilson(min(1.0, counted[1] / max(1.0, records[0])), size, confidence_level)[1]
    return low if low * size >= threshold else 0.0, high


def _wilson(share: float, size: float, confidence_level: float) -> Interval:
    normal = NormalDist().inv_cdf((1 + confidence_level) / 2) ** 2
    size = max(1.0, size)
    middle = (share + normal / (2 * size)) / (1 + normal / size)
    reach = math.sqrt(normal * share * (1 - share) / size + normal**2 / (4 * size**2)) / (1 + normal / size)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def _read_table(known: Fields, name: str, read: Read) -> Measured:
    size = len(read["values"]) + (read["other"] == "count") + (read["missing"] == "count")
    return read_table(known.data[name], known, size)


_THRESHOLD = Codec(lambda value: value, lambda known, name, _: known.whole(name, 1, LARGEST_THRESHOLD))


@dataclass(frozen=True, repr=False)
class HistogramEstimate(Estimate):
    """How many records there are of each category, and which share that is.

    Shares are meant of the population that the records are from, so their errors have two parts, noise and sampling.
    Counts are those of the records, with noise alone.

    Categories that nobody declared were found: those whose noisy count reached a threshold. A count just above it is
    there because noise was high, and intervals are of what a count tells given that it is there: of values that are
    shown the stated part or more have intervals that hold the truth. Where the number of records is private, shares are
    of the records whose value is shown.

    Fields:
        column: What was measured.
        measured: The noisy integers that came back, which may be negative.
        values: The declared categories, or those that were found.
        other: What a value that was not declared meant.
        missing: What a missing value meant.
        confidence_level: Of intervals where no other is asked for.
        provenance: What was released, at what price and under whose trust.
        threshold: Of categories that were found the least noisy count that is shown, 1 of exact ones; None of declared
            ones.
    """

    schema: ClassVar[str] = "ogive.histogram/1"
    article: ClassVar[str] = "a histogram"
    indent: ClassVar[int | None] = 1
    file_order: ClassVar[tuple[str, ...]] = ("column", "values", "measured", "other", "missing", "threshold")

    column: str
    measured: Measured = stored(Codec(sums.to_dict, _read_table, last=True))
    _: KW_ONLY
    values: tuple[LabelValue, ...] = stored(VALUES)
    other: str
    missing: str
    confidence_level: float
    provenance: Provenance | None = None
    threshold: int | None = stored(_THRESHOLD, added=True, default=None)

    @property
    def listed(self) -> Listed:
        """The column with its declared categories."""
        return Listed(self.column, self.values, self.other, self.missing)

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """Names of the categories: declared or found ones, then "other" and "missing" where these are counted."""
        return names_of(self.values, self.other, self.missing)

    @property
    def unseen(self) -> float | None:
        """About how many records have values that were not found; None where their number is private, or none can be.

        It is what shown counts leave of all records, so it is a little low: the noise of what is shown is rather high.
        """
        if self.threshold is None or self.measured.total is None:
            return None
        return max(0.0, self.measured.total - math.fsum(self.raw))

    @cached_property
    def _table(self) -> Measured:
        return self.measured if self.threshold is not None else agreed(self.measured)

    def alone(self) -> Self:
        """The same by what was measured of each category alone, as files have it."""
        result = dataclasses.replace(self, measured=self.measured.alone())
        vars(result)["_table"] = result.measured
        return result

    @cached_property
    def _counts(self) -> tuple[Reading, ...]:
        return tuple(count_reading(self._table, (place,)) for place in range(len(self.categories)))

    @cached_property
    def _shares(self) -> tuple[Reading, ...]:
        return tuple(
            share_reading(self._table, (place,), rows_of_one=self.rows_of_one) for place in range(len(self.categories))
        )

    @property
    def records(self) -> float:
        """The number of counted records, noisy where it is private."""
        return self.measured.at(self.measured.records)

    @property
    def defined(self) -> bool:
        """Whether there are shares: the number of records with its noise is at least 1."""
        return self._shares[0].defined

    @property
    def raw(self) -> tuple[float, ...]:
        """The noisy counts as they were measured, unbiased, perhaps negative and not whole."""
        return tuple(map(float, self.measured.alone().counts))

    @property
    def counts(self) -> tuple[float, ...]:
        """Records of each category, at least 0; those of declared ones add up to all."""
        return tuple(each.value for each in self._counts)

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of each category, from 0 to 1; NaN where undefined. Those of declared ones add up to 1."""
        return tuple(each.value for each in self._shares)

    @property
    def noise_errors(self) -> tuple[float, ...]:
        """Standard deviation of each count by noise, or by the randomness of reports, in records."""
        return tuple(each.error(sampling=False) for each in self._counts)

    @property
    def standard_errors(self) -> tuple[float, ...]:
        """Standard error of each share, noise and sampling together; NaN where undefined."""
        return tuple(each.error() for each in self._shares)

    def count(self, category: LabelValue) -> float:
        """Records of one category, by its value; "other" and "missing" where these are counted.

        Raises:
            ParameterError: there is no such category.
        """
        return self.counts[self._place(category)]

    def share(self, category: LabelValue) -> float:
        """Share of one category, from 0 to 1.

        Raises:
            ParameterError: there is no such category.
        """
        return self.shares[self._place(category)]

    def intervals(self, confidence_level: float | None = None, *, simultaneous: bool = False) -> tuple[Interval, ...]:
        """An interval of the share of each category in the population: sampling and noise.

        Args:
            confidence_level: Above 0 and at most 0.9999; that of the release by default.
            simultaneous: Whether all intervals together hold with that confidence (Bonferroni), rather than each.

        Raises:
            ParameterError: the level is out of range.
        """
        level = self._shared_level(confidence_level, simultaneous)
        if not self._selected:
            return tuple(each.interval(level, sampling=True) for each in self._shares)
        part = 1 - (1 - level) / 3
        records = (self.records, self.records)
        if self.measured.total is None:
            whole = Reading(self.measured, self.measured.records, self.measured.one, low=0.0, high=math.inf)
            records = whole.interval(1 - (1 - level) / 6, sampling=False)
        result = self._counted(part)
        lowest = [self.threshold or 0] * len(self.values) + [0] * (len(result) - len(self.values))
        return tuple(
            share_interval(each, records, self.records, threshold=least, confidence_level=part)
            for each, least in zip(result, lowest, strict=True)
        )

    def count_intervals(
        self, confidence_level: float | None = None, *, simultaneous: bool = False
    ) -> tuple[Interval, ...]:
        """An interval of the number of records of each category, of these records: noise alone.

        Args:
            confidence_level: As of `intervals`.
            simultaneous: As of `intervals`.

        Raises:
            ParameterError: the level is out of range.
        """
        return self._counted(self._shared_level(confidence_level, simultaneous))

    def _counted(self, level: float) -> tuple[Interval, ...]:
        """Intervals of the numbers of records at a level; of values that were found given that they are shown."""
        law, threshold, result = self.measured.law, self.threshold, list[Interval]()
        if threshold is not None and isinstance(law, DiscreteLaplace):
            for count, reading in zip(self.measured.values, self._counts[: len(self.values)], strict=False):
                low, high = shown_interval(law, threshold, count, level)
                result.append((float(low), min(float(high), reading.high)))
        return (*result, *(each.interval(level, sampling=False) for each in self._counts[len(result) :]))

    @property
    def _selected(self) -> bool:
        """Whether what is shown was chosen by its noisy count."""
        return self.threshold is not None and self.measured.law is not None

    @property
    def noise_beside(self) -> str:
        """The records."""
        return OF_COUNT

    def noise_share(self) -> float:
        """Standard deviation of the noise of a count, as a share of the records; infinite where noise leaves none."""
        return max(self.noise_errors) / self.records if self.defined else math.inf

    def results(self) -> dict[str, Any]:
        """Counts and shares of each category alone, with errors and intervals; None where shares are undefined."""
        return self.alone().joint_results()

    def joint_results(self) -> dict[str, Any]:
        """The same by all that is known."""
        undefined = [None] * len(self.categories)
        return {
            "categories": list(self.categories),
            "counts": list(self.counts),
            "noise_errors": list(self.noise_errors),
            "count_intervals": finite(self.count_intervals()),
            "shares": list(self.shares) if self.defined else undefined,
            "standard_errors": list(self.standard_errors) if self.defined else undefined,
            "intervals": [list(each) for each in self.intervals()] if self.defined else undefined,
        }

    def check_stored(self, known: Fields) -> None:
        """Refuse categories that could not have been declared or found, and a price below that of the noise."""
        if self.threshold is None:
            _ = self.listed
        else:
            _check_found(self, self.threshold, known)
        check_cost(self.provenance, self.query, self.measured, known)

    def errors(self, truth: HistogramEstimate) -> dict[str, float]:
        """The largest distance of a count from the exact one, as a share of the records.

        Raises:
            ParameterError: the truth is of other categories.
        """
        pairs = zip(self.counts, self.exact_counts(truth), strict=True)
        return {"share": max(abs(mine - exact) for mine, exact in pairs) / max(1.0, truth.records)}

    def exact_counts(self, truth: HistogramEstimate) -> tuple[float, ...]:
        """The true counts of these categories; of categories that were found the truth may have more.

        Raises:
            ParameterError: the truth is of other categories.
        """
        question = (self.column, self.other, self.missing, self.threshold is None)
        alike = question == (truth.column, truth.other, truth.missing, truth.threshold is None)
        if alike and truth.values == self.values:
            return truth.counts
        if not alike or self.threshold is None or not set(self.values) <= set(truth.values):
            raise ParameterError(f"the truth for {self.column} must be of the same categories")
        missing = truth.counts[len(truth.values) :]
        return (*(truth.count(value) for value in self.values), *missing)

    def _place(self, category: LabelValue) -> int:
        if category in self.values:
            return self.values.index(category)
        counted = [name for name in ("other", "missing") if getattr(self, name) == "count"]
        if str(category) not in counted:
            known = ", ".join(map(quoted, self.categories[:20]))
            raise ParameterError(f"there is no category {quoted(category)}; the categories are {known}")
        return len(self.values) + counted.index(str(category))

    def _shared_level(self, confidence_level: float | None, simultaneous: bool) -> float:
        level = self._level(confidence_level)
        return 1 - (1 - level) / len(self.categories) if simultaneous else level

    @property
    def query(self) -> CellsQuery | MomentsQuery | DiscoveryQuery | None:
        """The query, with the noise that there was; None where there was none, or owners answered."""
        law = self.measured.law
        if self.threshold is not None:
            if law is None:
                return None
            assert isinstance(law, DiscreteLaplace), "values are found with Laplace noise"
            return DiscoveryQuery(ValueCounts(OpenCategories(self.column, self.missing)), law, self.threshold)
        return query_of(self.measured, Domain((self.listed,)))


def names_of(values: Sequence[LabelValue], other: str, missing: str) -> tuple[str, ...]:
    """Names of the places of a column, of which no two are the same.

    "other" and "missing" are in brackets where a category has that name.
    """
    named = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
    counted = [name for name, policy in (("other", other), ("missing", missing)) if policy == "count"]
    return (*named, *(f"({name})" if name in named else name for name in counted))


def _check_found(estimate: HistogramEstimate, threshold: int, known: Fields) -> None:
    """Refuse categories that could not have been found."""
    measured, values = estimate.measured, estimate.values
    OpenCategories(estimate.column, estimate.missing)
    counted = measured.form == "cells" and measured.bits == 0 and estimate.other == "refuse"
    if not counted or (measured.law is not None and not isinstance(measured.law, DiscreteLaplace)):
        raise DataError(f"the categories of {known.what} were found, so they are whole counts with Laplace noise")
    if min(measured.values[: len(values)]) < threshold:
        raise DataError(f"{known.what} has a category that was found with fewer records than the threshold")
    if len(set(values)) < len(values) or len(values) > MAX_LISTED:
        raise DataError(f"the categories of {known.what} must be at most {MAX_LISTED}, each of them once")
