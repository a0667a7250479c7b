"""A count, a proportion, a mean or a sum, each with its errors and intervals."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

from ogive.columns import LONGEST_LABEL, Binning, Domain, LabelValue, Membership, Missing, storable
from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.local.oracles import RandomizedResponse
from ogive.privacy import Adjacency
from ogive.provenance import Provenance
from ogive.queries import CellsQuery, CuratorQuery, MomentsQuery, Weights
from ogive.statistics.base import OF_BOUNDS, OF_COUNT, Estimate
from ogive.statistics.confidence import check_level
from ogive.statistics.plain_json import Fields, check_query, is_number, is_text, is_whole, noise_law, read_exact
from ogive.statistics.sums import measured as sums
from ogive.statistics.sums.ask import TOTAL
from ogive.statistics.sums.lattice import MOST_NAMED, Lattice
from ogive.statistics.sums.measured import FORMS, LinearForm, Measured, Reading, chances, query_of, two_places
from ogive.strategies.counts import MOST_BITS


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

    what: ClassVar[str]
    """Name of the number, for example "mean"."""

    column: str
    measured: Measured
    _: KW_ONLY
    missing: Missing
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

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Rebuild from `to_dict`; equal to the original. The data need not be trusted.

        Raises:
            ParameterError, DataError: this is no estimate of this kind that this version can read.
        """
        found: Any = super().from_dict(data)
        if not isinstance(found, cls):
            raise DataError(f"not a {cls.what}: expected a JSON object of schema {cls.schema}, got {found.schema}")
        return found

    def _level(self, confidence_level: float | None) -> float:
        return self.confidence_level if confidence_level is None else float(check_level(confidence_level))

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
    values: tuple[LabelValue, ...] | None

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
    """

    schema: ClassVar[str] = "ogive.proportion/1"
    what: ClassVar[str] = "proportion"

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
        )

    @property
    def records(self) -> float:
        """The number of records, noisy where it is private."""
        return self.measured.at(self.measured.records)


@dataclass(frozen=True, repr=False)
class _LatticeEstimate(NumberEstimate):
    """A number of values on a public lattice."""

    _: KW_ONLY
    lattice: Lattice
    counts_rounding: bool = False

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

    schema: ClassVar[str] = "ogive.mean/1"
    what: ClassVar[str] = "mean"

    @property
    def rounding(self) -> float:
        """At most half a step."""
        return self.rounding_of_each

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
        found, error = squares
        return self.rows_of_one * records * min(most, max(0.0, most - found) + error)

    @property
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
        found = max(0.0, self.measured.at(self._products())) / records
        return found, self._variance_error(records, self.reading.ratio, found)

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
        noise = 0.0 if measured.law is None else math.sqrt(measured.law.variance * measured.draws)
        return noise * math.hypot(*moved.coefficients) / records

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

    schema: ClassVar[str] = "ogive.sum/1"
    what: ClassVar[str] = "sum"

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


# --- Plain data, which need not be trusted

KINDS: dict[str, type[NumberEstimate]] = {
    each.schema: each for each in (CountEstimate, ProportionEstimate, MeanEstimate, SumEstimate)
}

_NEEDED = ("column", "measured", "missing", "confidence_level", "provenance")
_MEASURED = ("form", "values", "noise", "bits", "weights", "epsilon", "adjacency", "total")
_WEIGHTS = ("count", "slope", "shift", "square")
_LARGEST_WEIGHT = 1 << 34


def to_dict(estimate: NumberEstimate) -> dict[str, Any]:
    """Plain data of a number; the results follow from what was measured, and are there for other programs."""
    provenance, defined = estimate.provenance, estimate.defined
    own: dict[str, Any] = {}
    if isinstance(estimate, CountEstimate | ProportionEstimate):
        own["values"] = None if estimate.values is None else list(estimate.values)
    if isinstance(estimate, MeanEstimate | SumEstimate):
        own["lattice"] = estimate.lattice.to_dict()
        if estimate.counts_rounding:
            own["counts_rounding"] = True
    results = {
        "value": estimate.value if defined else None,
        "standard_error": estimate.standard_error if defined else None,
        "noise_error": estimate.noise_error if defined else None,
        "sampling_error": estimate.sampling_error if defined else None,
        "interval": list(estimate.interval()) if defined else None,
    }
    if isinstance(estimate, MeanEstimate):
        results["standard_deviation"] = estimate.standard_deviation
    return {
        "schema": estimate.schema,
        "column": estimate.column,
        **own,
        "measured": sums.to_dict(estimate.measured),
        "missing": estimate.missing,
        "confidence_level": estimate.confidence_level,
        "results": results,
        "provenance": None if provenance is None else provenance.to_dict(),
    }


def from_dict(data: Any) -> NumberEstimate:
    """Rebuild from plain data, which need not be trusted."""
    schema = data.get("schema") if isinstance(data, dict) else None
    if not isinstance(schema, str) or schema not in KINDS:
        raise DataError(f"not a number: expected a JSON object of one of the schemas {', '.join(KINDS)}")
    kind = KINDS[schema]
    of_values = kind in (CountEstimate, ProportionEstimate)
    known = Fields.of(data, schema, f"a {kind.what}", (*_NEEDED, "values" if of_values else "lattice"))
    own: Any
    if of_values:
        own = {"values": None if data["values"] is None else read_values(data["values"], known)}
    else:
        # files of versions whose intervals did not count the rounding do not say it
        counts_rounding = known.flag("counts_rounding") if "counts_rounding" in data else False
        own = {"lattice": _lattice(data["lattice"], known), "counts_rounding": counts_rounding}
    provenance = known.provenance()
    try:
        estimate = kind(
            known.text("column"),
            _measured(data["measured"], known, own.get("lattice")),
            missing=_missing(data["missing"], known),
            confidence_level=known.chance("confidence_level"),
            provenance=provenance,
            **own,
        )
        query = estimate.query
    except ParameterError as problem:
        raise DataError(f"{known.what} contradicts itself: {plain(problem)}") from None
    check_cost(provenance, query, estimate.measured, known)
    return estimate


def check_cost(provenance: Provenance | None, query: CuratorQuery | None, asked: Measured, known: Fields) -> None:
    """Refuse an estimate whose stated price is below that of its noise."""
    if asked.epsilon is None:
        check_query(provenance, query, asked.adjacency)
    elif provenance is not None and provenance.privacy is None:
        raise DataError(f"{known.what} contradicts itself: it is from reports, and has no guarantee")


def _missing(value: Any, known: Fields) -> Any:
    if not (is_text(value) or is_number(value)):
        raise DataError(f"the field 'missing' of {known.what} must be a short text or a number")
    return value


def read_values(data: Any, known: Fields) -> tuple[LabelValue, ...]:
    """Values of a column."""
    if (
        not isinstance(data, list)
        or not data
        or not all(isinstance(each, LabelValue) and storable(each) for each in data)
    ):
        raise DataError(
            f"the values of {known.what} must be numbers, truth values or texts of at most {LONGEST_LABEL} characters"
        )
    return tuple(data)


def _lattice(data: Any, known: Fields) -> Lattice:
    fits = isinstance(data, dict) and set(data) == {"low", "high", "steps"}
    if not fits or not is_whole(data["steps"]) or not 1 <= data["steps"] <= MOST_NAMED + 1:
        raise DataError(f"the lattice of {known.what} must have low, high, and steps from 1 to {MOST_NAMED + 1}")
    low, high = (read_exact(data[name], f"the bounds of {known.what}") for name in ("low", "high"))
    if not low < high:
        raise DataError(f"the lower bound of {known.what} must be below the upper bound")
    return Lattice(low, high, data["steps"])


def _measured(data: Any, known: Fields, lattice: Lattice | None) -> Measured:
    found = read_measured(data, known, last=1 if lattice is None else lattice.steps)
    _check_length(found, known)
    return found


def read_measured(
    data: Any, known: Fields, *, size: int = 2, last: int = 1, forms: tuple[str, ...] = FORMS
) -> Measured:
    """What was measured, from plain data, which need not be trusted."""
    if not isinstance(data, dict) or set(data) != set(_MEASURED):
        raise DataError(f"what was measured of {known.what} must have {', '.join(_MEASURED)}")
    fields = Fields(data, known.what)
    form, values, weights = fields.text("form"), data["values"], data["weights"]
    if form not in forms:
        raise DataError(f"the form of {known.what} must be one of {', '.join(forms)}, got {quoted(form)}")
    if not isinstance(values, list) or not values or not all(map(is_whole, values)):
        raise DataError(f"the measured values of {known.what} must be a list of whole numbers")
    adjacency, total = fields.adjacency(), fields.total()
    epsilon = None
    if form in ("reports", "unary"):
        epsilon = _epsilon(data["epsilon"], known)
        _check_reports(form, values, size, total, known)
    if (weights is not None) != (form == "moments") or (data["epsilon"] is not None) != (form in ("reports", "unary")):
        raise DataError(f"sums of {known.what} have weights, and reports have an epsilon")
    if (total is None) != (adjacency is Adjacency.ADD_OR_REMOVE):
        raise DataError(f"the total of {known.what} is known under REPLACE alone")
    return Measured(
        form,
        tuple(values),
        noise_law(data["noise"], known.what),
        adjacency,
        total,
        bits=fields.whole("bits", 0, MOST_BITS),
        weights=None if weights is None else _weights(weights, known, last),
        epsilon=epsilon,
    )


def _check_reports(form: str, values: list[int], size: int, total: int | None, known: Fields) -> None:
    """Refuse what no reports of so many places add up to."""
    if form == "reports" and (len(values) != size or min(values) < 0 or total != sum(values) or not total):
        numbers = "two numbers" if size == 2 else f"{size} numbers"
        raise DataError(f"the reports of {known.what} must be {numbers} that add up to the total")
    if form == "unary" and (len(values) != size + 1 or min(values) < 0 or max(values) != total or total != values[-1]):
        raise DataError(f"the reports of {known.what} must be {size} numbers of at most the total, then the total")


def _check_length(found: Measured, known: Fields) -> None:
    """Refuse values that are not as many as were measured, or that the number cannot be read off."""
    check_number_of_values(found, known)
    by_weights = found.weights is not None and not found.weights.count
    if found.form == "cells" and known.data["schema"] in (MeanEstimate.schema, SumEstimate.schema):
        raise DataError(f"{known.what} is not read off counts of two cells")
    if by_weights and found.total is None and known.data["schema"] != SumEstimate.schema:
        raise DataError(f"{known.what} lacks the number of records")


def read_table(data: Any, known: Fields, size: int) -> Measured:
    """What was measured of a table of so many cells."""
    found = read_measured(data, known, size=size, forms=(*FORMS, "unary"))
    if found.weights is not None and (size > 2 or found.total is None or found.weights != TOTAL):
        raise DataError(f"{known.what} of {size} cells, or of a private number of records, is not read off one sum")
    check_number_of_values(found, known, size)
    return found


def check_number_of_values(found: Measured, known: Fields, size: int = 2) -> None:
    """Refuse values that are not as many as were measured of so many places."""
    needed = size + (found.form == "unary") if found.weights is None else len(found.weights.rows(1))
    if len(found.values) != needed:
        raise DataError(f"the measured values of {known.what} must be {needed}")


def _weights(data: Any, known: Fields, last: int) -> Weights:
    fits = isinstance(data, dict) and set(data) == set(_WEIGHTS)
    if not fits or not all(is_whole(each) and abs(each) <= _LARGEST_WEIGHT for each in data.values()):
        raise DataError(f"the weights of {known.what} must be whole numbers by the names {', '.join(_WEIGHTS)}")
    try:
        weights = Weights(**data)
        weights.check(last)
    except ParameterError as problem:
        raise DataError(f"the weights of {known.what}: {plain(problem)}") from None
    if not weights.slope:
        raise DataError(f"the weights of {known.what} lack a slope")
    return weights


def _epsilon(data: Any, known: Fields) -> Fraction:
    epsilon = read_exact(data, f"the epsilon of {known.what}")
    try:
        return RandomizedResponse(2, epsilon).epsilon
    except ParameterError as problem:
        raise DataError(f"the reports of {known.what}: {plain(problem)}") from None
