"""A count, a proportion, a mean or a sum, each with its errors and intervals."""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from ogive.columns import Binning, Domain, LabelValue, Membership, Missing
from ogive.provenance import Provenance
from ogive.queries import CellsQuery, MomentsQuery
from ogive.statistics.base import OF_BOUNDS, OF_COUNT, Estimate
from ogive.statistics.plain_json import Fields, optional, stored
from ogive.statistics.sums.lattice import LATTICE, MEAN, MEASURED, MISSING, SUM, VALUES, Lattice, check_cost
from ogive.statistics.sums.measured import LinearForm, Measured, Reading, chances, query_of, shown_share, two_places


@dataclass(frozen=True, repr=False)
class NumberEstimate(Estimate):
    """A single number with a known error.

    The error has two parts: noise, whose law is public, and, where the number is meant of a population, sampling.

    Fields:
        column: What was measured.
        measured: The noisy integers that came back.
        missing: What a missing value meant.
        confidence_level: Of intervals where no other is asked for.
        provenance: What was released, at what price and under whose trust.
    """

    indent: ClassVar[int | None] = 1
    file_order: ClassVar[tuple[str, ...]] = ("column", "values", "negative", "lattice", "counts_rounding")

    what: ClassVar[str]
    """Name of the number, for example "mean"."""

    column: str
    measured: Measured = stored(MEASURED)
    _: KW_ONLY
    missing: Missing = stored(MISSING)
    confidence_level: float
    provenance: Provenance | None = None

    @property
    @abstractmethod
    def reading(self) -> Reading:
        """How the number is read off the integers."""

    @property
    @abstractmethod
    def subject(self) -> str:
        """What it is the number of, in words."""

    @property
    def defined(self) -> bool:
        """Whether there is a number: the number of records with its noise is at least 1."""
        return self.reading.defined

    @property
    def value(self) -> float:
        """The number, moved to where it can lie; NaN where undefined."""
        return self.reading.value

    @property
    def standard_error(self) -> float:
        """Root mean squared error, noise and, where a population is meant, sampling; NaN where undefined."""
        return self.reading.error()

    @property
    def noise_error(self) -> float:
        """Standard deviation of what noise, or the randomness of reports, adds."""
        return self.reading.error(sampling=False)

    @property
    def sampling_error(self) -> float | None:
        """Standard error of sampling the records from a population; None of a number that is about them alone."""
        return None if self.reading.sampling is None else self.reading.error(noise=False)

    def interval(self, confidence_level: float | None = None) -> tuple[float, float]:
        """An interval that holds the number with that confidence: of the population where one is meant.

        Args:
            confidence_level: Above 0 and at most 0.9999; that of the release by default.

        Raises:
            ParameterError: the level is out of range.
        """
        return self._rounded(self.reading.interval(self._level(confidence_level), sampling=True))

    def noise_interval(self, confidence_level: float | None = None) -> tuple[float, float]:
        """An interval that holds the number of these records alone, whatever population they are from.

        Args:
            confidence_level: As of `interval`.

        Raises:
            ParameterError: the level is out of range.
        """
        return self._rounded(self.reading.interval(self._level(confidence_level), sampling=False))

    @property
    def rounding(self) -> float | None:
        """How far rounding of values may have moved the number, at most; intervals count it. None where unknown."""
        return 0.0

    def _rounded(self, ends: tuple[float, float]) -> tuple[float, float]:
        """An interval of the number of rounded values as one of the number of values."""
        reading, by = self.reading, self.rounding or 0.0
        least, most = sorted(reading.offset + reading.unit * end for end in (reading.low, reading.high))
        return max(least, ends[0] - by), min(most, ends[1] + by)

    @property
    def noise_beside(self) -> str:
        """The distance of the bounds, or the records."""
        return OF_COUNT

    def noise_share(self) -> float:
        """Standard deviation of the noise, as a share of the largest number that there can be.

        Infinite where noise leaves no records; 0 where nothing is known of the largest number, as of a sum over a
        private number of records.
        """
        reading = self.reading
        if math.isinf(reading.high) and not self._counted:
            return 0.0
        high = self.measured.at(self.measured.records) if math.isinf(reading.high) else reading.high
        return self.noise_error / (abs(reading.unit) * high) if self.defined and high > 0 else math.inf

    @property
    def _counted(self) -> bool:
        """Whether the number of records is public or was measured."""
        weights = self.measured.weights
        return self.measured.total is not None or weights is None or weights.count > 0

    def errors(self, truth: Any) -> dict[str, float]:
        """Distance from the exact number, under the name of the number."""
        return {self.what: abs(self.value - truth.value)}

    def alone(self) -> Self:
        """The same by what was measured of it alone, as files have it, where more is known by other measurements.

        Privacy:
            Post-processing.
        """
        return dataclasses.replace(self, measured=self.measured.alone())

    def results(self) -> dict[str, Any]:
        """The number, its errors and its interval, by what was measured of it alone; None where it is undefined."""
        return (self.alone() if self.measured.beside else self).joint_results()

    def joint_results(self) -> dict[str, Any]:
        """The same by all that is known."""
        if not self.defined:
            return dict.fromkeys(("value", "standard_error", "noise_error", "sampling_error", "interval"))
        return {
            "value": self.value,
            "standard_error": self.standard_error,
            "noise_error": self.noise_error,
            "sampling_error": self.sampling_error,
            "interval": list(self.interval()),
        }

    def check_stored(self, known: Fields) -> None:
        """Refuse a price below that of the noise."""
        check_cost(self.provenance, self.query, self.measured, known)

    @property
    @abstractmethod
    def query(self) -> CellsQuery | MomentsQuery | None:
        """What was asked, with the noise that there was; None where there was none, or owners were asked."""


def listed(values: tuple[LabelValue, ...] | None) -> str:
    """Values that count, in words."""
    if values is None:
        return "any value"
    return " or ".join(dict.fromkeys(str(value) for value in values))


@dataclass(frozen=True, repr=False)
class _MembersEstimate(NumberEstimate):
    """A number of or a share of the records whose value is in a list."""

    _: KW_ONLY
    values: tuple[LabelValue, ...] | None = stored(optional(VALUES))

    @property
    def query(self) -> CellsQuery | MomentsQuery | None:
        """What was asked, with the noise that there was."""
        return query_of(self.measured, Domain((Membership(self.column, self.values, str(self.missing)),)))

    @property
    def subject(self) -> str:
        """The column and the values."""
        return f"{self.column}: {listed(self.values)}"

    def _reporting(self) -> float | None:
        """Variance of what owners drew at random, in the number of records whose value counts."""
        if self.measured.form != "reports":
            return None
        keep, other = chances(self.measured)
        return sum(self.measured.values) * other * (1 - other) / keep**2


@dataclass(frozen=True, repr=False)
class CountEstimate(_MembersEstimate):
    """How many records have one of the values named.

    Fields:
        column, measured, missing, confidence_level, provenance: As of every number.
        values: The values that count; None for any.
    """

    schema: ClassVar[str] = "ogive.count/1"
    what: ClassVar[str] = "count"
    article: ClassVar[str] = "a count"

    @cached_property
    def reading(self) -> Reading:
        """The noisy count."""
        measured, reporting = self.measured, self._reporting()
        return Reading(
            measured,
            two_places(measured),
            measured.one,
            low=0.0,
            high=math.inf if measured.total is None else float(measured.total),
            reporting=None if reporting is None else lambda _: reporting,
        )


@dataclass(frozen=True, repr=False)
class ProportionEstimate(_MembersEstimate):
    """The share of the records that have one of the values named.

    Fields:
        column, measured, missing, confidence_level, provenance: As of every number.
        values: The values that count as positive.
        negative: The only other values, where these were named; None in files of versions that did not say.
    """

    schema: ClassVar[str] = "ogive.proportion/1"
    what: ClassVar[str] = "proportion"
    article: ClassVar[str] = "a proportion"

    _: KW_ONLY
    negative: tuple[LabelValue, ...] | None = stored(optional(VALUES), added=True, default=None)

    @property
    def subject(self) -> str:
        """The column, the values, and those that alone may be beside them."""
        others = "" if self.negative is None else f" (others: {listed(self.negative)})"
        return super().subject + others

    @cached_property
    def reading(self) -> Reading:
        """The noisy count over the number of records."""
        measured, reporting = self.measured, self._reporting()
        return Reading(
            measured,
            two_places(measured),
            measured.records,
            low=0.0,
            high=1.0,
            sampling=lambda share: self.rows_of_one * measured.at(measured.records) * share * (1 - share),
            reporting=None if reporting is None else lambda _: reporting,
            shown=shown_share(measured, (1,)),
        )

    @cached_property
    def records(self) -> float:
        """The number of records, noisy where it is private."""
        return self.measured.at(self.measured.records)


@dataclass(frozen=True, repr=False)
class _LatticeEstimate(NumberEstimate):
    """A number of values on a public lattice."""

    _: KW_ONLY
    lattice: Lattice = stored(LATTICE)
    # files of versions whose intervals did not count the rounding do not say it
    counts_rounding: bool = stored(added=True, default=False)

    @property
    def query(self) -> CellsQuery | MomentsQuery | None:
        """What was asked, with the noise that there was."""
        return query_of(self.measured, Domain((Binning(self.column, self.lattice.grid(), self.missing),)))

    @property
    def subject(self) -> str:
        """The column."""
        return self.column

    @property
    def noise_beside(self) -> str:
        """The distance of the bounds."""
        return OF_BOUNDS

    @property
    def rounding_of_each(self) -> float:
        """How far a value may have been moved, at most: half a step; 0 where owners rounded at random.

        Also 0 in an estimate of a version whose intervals did not count it.
        """
        return float(self.lattice.step) / 2 if self.counts_rounding and not self._owners else 0.0

    def _places(self) -> LinearForm:
        """The sum over the records of their places, from 0 to M each; shifted where their number is not known."""
        measured, weights = self.measured, self.measured.weights
        if weights is None:
            ends = two_places(measured)
            last = self.lattice.steps
            return LinearForm(tuple(last * each for each in ends.coefficients), last * ends.constant)
        before = (0.0,) if weights.count else ()
        after = (0.0,) if weights.square else ()
        return measured.sum_of(*before, 1 / weights.slope, *after)

    def _reporting(self) -> float:
        """Variance of the sum of places by what owners drew, their roundings and the sampling of the owners included.

        A report is the upper bound with some chance q on average over the owners. Their reports are independent, so
        their number varies by n q (1 - q) at most.
        """
        low, high = self.measured.values
        keep, _ = chances(self.measured)
        return low * high / (low + high) * (self.lattice.steps / keep) ** 2

    @property
    def _owners(self) -> bool:
        return self.measured.form == "reports"


@dataclass(frozen=True, repr=False)
class MeanEstimate(_LatticeEstimate):
    """The mean of a column.

    Fields:
        column, measured, missing, confidence_level, provenance: As of every number.
        lattice: The public numbers to which values were rounded.
        counts_rounding: Whether intervals count that; false in files of versions whose intervals did not.
    """

    schema: ClassVar[str] = MEAN
    what: ClassVar[str] = "mean"
    article: ClassVar[str] = "a mean"

    rounding = _LatticeEstimate.rounding_of_each

    @cached_property
    def reading(self) -> Reading:
        """The noisy sum over the number of records."""
        measured, lattice, weights = self.measured, self.lattice, self.measured.weights
        shift = 0.0 if weights is None else weights.shift / weights.slope
        return Reading(
            measured,
            self._places().minus(measured.records, shift),
            measured.records,
            low=0.0,
            high=float(lattice.steps),
            offset=float(lattice.low),
            unit=float(lattice.step),
            # what owners drew is bounded together with who they are
            sampling=None if self._owners else self._sampling,
            reporting=(lambda _: self._reporting()) if self._owners else None,
        )

    def _sampling(self, ratio: float) -> float:
        """Variance of the sum of i - t over the records by sampling them from a population of mean place t.

        The variance of one place is that of the records around their own mean, whatever t is, raised by what noise may
        have taken from it; where squares were not measured, the largest that places from 0 to M can have with mean t.
        Records of one person may all be alike, which multiplies it by their number at most.
        """
        records, squares = max(1.0, self.records), self._squares
        place = ratio if squares is None else self.reading.ratio
        most = max(0.0, place * (self.lattice.steps - place))
        if squares is None:
            return self.rows_of_one * records * most
        result, error = squares
        return self.rows_of_one * records * min(most, max(0.0, most - result) + error)

    @cached_property
    def records(self) -> float:
        """The number of records, noisy where it is private."""
        return self.measured.at(self.measured.records)

    @cached_property
    def _squares(self) -> tuple[float, float] | None:
        """The mean of i (M - i), and the standard error by noise of the variance of i; None without squares.

        With r the mean place the variance is r (M - r) less the first number, so its error by noise is to first order
        that of a linear form of what was measured.
        """
        if not self.has_spread:
            return None
        records = max(1.0, self.records)
        result = max(0.0, self.measured.at(self._products())) / records
        return result, self._variance_error(records, self.reading.ratio, result)

    def _products(self) -> LinearForm:
        """The sum of i (M - i) over the records; squares were measured."""
        weights = self.measured.weights
        assert weights is not None
        return self.measured.sum_of(*(0.0,) * (len(self.measured.values) - 1), 0.25 / weights.square)

    def _variance_error(self, records: float, place: float, products: float) -> float:
        """Standard error by noise of the variance of i, of records with that mean of i and that mean of i (M - i)."""
        measured = self.measured
        off = self.reading.numerator.minus(self.reading.denominator, place)
        moved = self._products().minus(measured.records, products).minus(off, self.lattice.steps - 2 * place)
        if measured.beside:
            return math.sqrt(measured.known(moved)[1]) / records
        noise = 0.0 if measured.law is None else math.sqrt(measured.law.variance * measured.draws)
        return noise * math.hypot(*moved.coefficients) / records

    def joint_results(self) -> dict[str, Any]:
        """The number, its errors and its interval, and the standard deviation of the values."""
        return {**super().joint_results(), "standard_deviation": self.standard_deviation}

    @property
    def has_spread(self) -> bool:
        """Whether squares were measured, also where noise hides all records."""
        weights = self.measured.weights
        return weights is not None and weights.square > 0

    def expected_spread_error(self, records: float, share: float) -> float:
        """Standard error by noise of the standard deviation that other records measured alike would have.

        It depends on their mean; this is the largest over the means that there can be with that deviation.

        Args:
            records: How many they are.
            share: Their standard deviation as a share of the distance of the bounds, at most a half.
        """
        steps = self.lattice.steps
        variance = (share * steps) ** 2
        reach = math.sqrt(steps**2 / 4 - variance)
        places = (steps / 2 - reach, steps / 2, steps / 2 + reach)
        error = max(self._variance_error(records, place, place * (steps - place) - variance) for place in places)
        return float(self.lattice.step) * _error_of_root(variance, error)

    @property
    def standard_deviation(self) -> float | None:
        """Standard deviation of the values; None where squares were not measured.

        Its noise is that of the mean times about half of the distance of the bounds over the standard deviation, and
        a little more where the number of records is private: see `standard_deviation_error`.
        """
        variance = self._variance
        return None if variance is None else float(self.lattice.step) * math.sqrt(max(0.0, variance[0]))

    @property
    def standard_deviation_error(self) -> float | None:
        """Standard error of `standard_deviation` by noise, sampling not included; None where that is None.

        To first order, half of the distance between the roots of the variance less and plus its own standard error.
        """
        variance = self._variance
        if variance is None:
            return None
        return float(self.lattice.step) * _error_of_root(*variance)

    @property
    def _variance(self) -> tuple[float, float] | None:
        """The variance of the places, which noise may make negative, and its standard error by noise."""
        squares = self._squares
        if squares is None or not self.defined:
            return None
        place = self.reading.ratio
        return place * (self.lattice.steps - place) - squares[0], squares[1]


def _error_of_root(square: float, error: float) -> float:
    """How far an error of the square moves its root, which is 0 where the square is negative."""
    low, high = (math.sqrt(max(0.0, end)) for end in (square - error, square + error))
    return (high - low) / 2


@dataclass(frozen=True, repr=False)
class SumEstimate(_LatticeEstimate):
    """The sum of a column.

    Fields:
        column, measured, missing, confidence_level, provenance: As of every number.
        lattice: The public numbers to which values were rounded.
        counts_rounding: Whether intervals count that; false in files of versions whose intervals did not.
    """

    schema: ClassVar[str] = SUM
    what: ClassVar[str] = "sum"
    article: ClassVar[str] = "a sum"

    @property
    def rounding(self) -> float | None:
        """At most half a step for each record; None where the number of records is private and was not measured."""
        total = self.measured.total
        return None if total is None else self.rounding_of_each * total

    @cached_property
    def reading(self) -> Reading:
        """The noisy sum of places, which start at the lower bound where the number of records is public."""
        measured, lattice = self.measured, self.lattice
        total = measured.total
        return Reading(
            measured,
            self._places(),
            measured.one,
            low=-math.inf if total is None else 0.0,
            high=math.inf if total is None else float(total * lattice.steps),
            offset=0.0 if total is None else float(lattice.low) * total,
            unit=float(lattice.step),
            reporting=(lambda _: self._reporting()) if self._owners else None,
        )
