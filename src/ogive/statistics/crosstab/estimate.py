"""Counts of combinations of two columns, their shares and margins, and whether the columns are independent."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np

from ogive.columns import Domain, LabelValue, Listed
from ogive.core.arrays import Float64
from ogive.errors import DataError, ParameterError, quoted
from ogive.noise import DiscreteLaplace
from ogive.provenance import Provenance
from ogive.queries import CellsQuery, MomentsQuery
from ogive.statistics.base import FEWEST, OF_COUNT, Estimate
from ogive.statistics.confidence import Number, difference, ratio
from ogive.statistics.histogram.estimate import Interval, names_of
from ogive.statistics.plain_json import Codec, Fields, Read, finite, is_text, stored
from ogive.statistics.prediction import Errors, Metric, Prediction
from ogive.statistics.sums import measured as sums
from ogive.statistics.sums.lattice import VALUES, check_cost, read_table
from ogive.statistics.sums.measured import Measured, Reading, chances, count_reading, query_of, share_reading
from ogive.statistics.sums.plan import NOISE
from ogive.statistics.sums.posterior import agreed

Numbers = tuple[tuple[float, ...], ...]
Intervals = tuple[tuple[Interval, ...], ...]


def of_both(missing: str | Mapping[str, str], row: str, column: str) -> tuple[str, str]:
    """What a missing value means in each of two columns; an error where policies by column leave one out."""
    if not isinstance(missing, Mapping):
        return missing, missing
    for name in missing:
        if name not in (row, column):
            raise ParameterError(
                f"`missing` has a policy for column {quoted(name)}, which is not in the table; its columns are "
                f"{quoted(row)} and {quoted(column)}"
            )
    return missing.get(row, "refuse"), missing.get(column, "refuse")


class Association(NamedTuple):
    """How the last column of a table of two rows and two columns goes with the rows.

    Fields:
        value: The number; NaN where noise leaves none.
        low, high: Ends of its interval, perhaps infinite. Where noise leaves no record of a row, they hold every number
            that the other row leaves possible.
    """

    value: float
    low: float
    high: float


def _read_policies(known: Fields, name: str, _: Read) -> str | dict[str, str]:
    given = known.data[name]
    if not isinstance(given, dict):
        return known.text(name)
    if not all(is_text(each) for pair in given.items() for each in pair):
        raise DataError(f"the field 'missing' of {known.what} must be a short text, or one for each column")
    return given


def _read_table(known: Fields, name: str, read: Read) -> Measured:
    policies = of_both(read["missing"], read["row"], read["column"])
    sizes = (
        len(values) + (read["other"] == "count") + (policy == "count")
        for values, policy in zip((read["rows"], read["columns"]), policies, strict=True)
    )
    return read_table(known.data[name], known, math.prod(sizes))


_POLICIES = Codec(lambda given: given if isinstance(given, str) else dict(given), _read_policies)


@dataclass(frozen=True, repr=False)
class CrosstabEstimate(Estimate):
    """How many records have each combination of values of two columns.

    Counts and margins are those of the records, with noise alone; shares and comparisons are meant of the population
    that the records are from, with noise and sampling.

    Fields:
        row: Column whose values are the rows.
        column: Column whose values are the columns.
        measured: The noisy integers that came back, row by row, which may be negative.
        rows: The declared values of the rows.
        columns: The declared values of the columns.
        other: What a value that was not declared meant.
        missing: What a missing value meant, in both columns or by column where these differ.
        confidence_level: Of intervals where no other is asked for.
        provenance: What was released, at what price and under whose trust.
    """

    schema: ClassVar[str] = "ogive.crosstab/1"
    article: ClassVar[str] = "a cross table"
    indent: ClassVar[int | None] = 1
    file_order: ClassVar[tuple[str, ...]] = ("row", "column", "rows", "columns")

    row: str
    column: str
    measured: Measured = stored(Codec(sums.to_dict, _read_table, last=True))
    _: KW_ONLY
    rows: tuple[LabelValue, ...] = stored(VALUES)
    columns: tuple[LabelValue, ...] = stored(VALUES)
    other: str
    missing: str | Mapping[str, str] = stored(_POLICIES)
    confidence_level: float
    provenance: Provenance | None = None

    @property
    def listed(self) -> tuple[Listed, Listed]:
        """Both columns with their values."""
        first, second = of_both(self.missing, self.row, self.column)
        return Listed(self.row, self.rows, self.other, first), Listed(self.column, self.columns, self.other, second)

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows: the declared values, then "other" and "missing" where these are counted."""
        return names_of(self.rows, self.other, of_both(self.missing, self.row, self.column)[0])

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns, in the same way."""
        return names_of(self.columns, self.other, of_both(self.missing, self.row, self.column)[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.row_names), len(self.column_names)

    @cached_property
    def _places(self) -> tuple[tuple[int, ...], ...]:
        rows, columns = self.shape
        return tuple(tuple(range(row * columns, (row + 1) * columns)) for row in range(rows))

    @cached_property
    def _table(self) -> Measured:
        return agreed(self.measured, self.shape)

    def alone(self) -> Self:
        """The same by what was measured of each combination alone, as files have it."""
        result = dataclasses.replace(self, measured=self.measured.alone())
        vars(result)["_table"] = result.measured
        return result

    @cached_property
    def _counts(self) -> tuple[tuple[Reading, ...], ...]:
        return tuple(tuple(count_reading(self._table, (place,)) for place in row) for row in self._places)

    @cached_property
    def _row_shares(self) -> tuple[tuple[Reading, ...], ...]:
        return tuple(tuple(self._share(place, row) for place in row) for row in self._places)

    @cached_property
    def _column_shares(self) -> tuple[tuple[Reading, ...], ...]:
        columns = tuple(zip(*self._places, strict=True))
        return tuple(
            tuple(self._share(place, column) for place, column in zip(row, columns, strict=True))
            for row in self._places
        )

    def _share(self, place: int, among: Sequence[int]) -> Reading:
        return share_reading(self._table, (place,), among, rows_of_one=self.rows_of_one)

    @cached_property
    def _row_totals(self) -> tuple[Reading, ...]:
        return tuple(count_reading(self._table, row) for row in self._places)

    @cached_property
    def _column_totals(self) -> tuple[Reading, ...]:
        return tuple(count_reading(self._table, column) for column in zip(*self._places, strict=True))

    @property
    def records(self) -> float:
        """The number of counted records, noisy where it is private."""
        return self.measured.at(self.measured.records)

    @property
    def defined(self) -> bool:
        """Whether the number of records with its noise is at least 1."""
        return self.records >= FEWEST

    @property
    def raw(self) -> Numbers:
        """The noisy counts as they were measured, row by row, unbiased, perhaps negative and not whole."""
        return tuple(tuple(map(float, row)) for row in self.measured.alone().counts.reshape(self.shape))

    @property
    def counts(self) -> Numbers:
        """Records of each combination, row by row, at least 0; they add up to the totals."""
        return _values(self._counts)

    @property
    def row_shares(self) -> Numbers:
        """Share of each column among the records of its row; NaN where noise leaves no record of the row."""
        return _values(self._row_shares)

    @property
    def column_shares(self) -> Numbers:
        """Share of each row among the records of its column; NaN where noise leaves no record of the column."""
        return _values(self._column_shares)

    @property
    def row_totals(self) -> tuple[float, ...]:
        """Records of each row, at least 0; they add up to all records."""
        return tuple(each.value for each in self._row_totals)

    @property
    def column_totals(self) -> tuple[float, ...]:
        """Records of each column, in the same way."""
        return tuple(each.value for each in self._column_totals)

    @property
    def noise_errors(self) -> Numbers:
        """Standard deviation of each count by noise, or by the randomness of reports, in records."""
        return tuple(tuple(each.error(sampling=False) for each in row) for row in self._counts)

    def count_intervals(self, confidence_level: float | None = None) -> Intervals:
        """An interval of the number of these records of each combination: noise alone.

        Args:
            confidence_level: Above 0 and at most 0.9999; that of the release by default.

        Raises:
            ParameterError: the level is out of range.
        """
        return _intervals(self._counts, self._level(confidence_level), sampling=False)

    def row_total_intervals(self, confidence_level: float | None = None) -> tuple[Interval, ...]:
        """An interval of the number of these records of each row: noise alone.

        Args:
            confidence_level: As of `count_intervals`.

        Raises:
            ParameterError: the level is out of range.
        """
        return _intervals([self._row_totals], self._level(confidence_level), sampling=False)[0]

    def column_total_intervals(self, confidence_level: float | None = None) -> tuple[Interval, ...]:
        """An interval of the number of these records of each column: noise alone.

        Args:
            confidence_level: As of `count_intervals`.

        Raises:
            ParameterError: the level is out of range.
        """
        return _intervals([self._column_totals], self._level(confidence_level), sampling=False)[0]

    def row_share_intervals(self, confidence_level: float | None = None) -> Intervals:
        """An interval of the share of each column within its row, in the population: sampling and noise.

        Args:
            confidence_level: As of `count_intervals`.

        Raises:
            ParameterError: the level is out of range.
        """
        return _intervals(self._row_shares, self._level(confidence_level), sampling=True)

    def column_share_intervals(self, confidence_level: float | None = None) -> Intervals:
        """An interval of the share of each row within its column, in the population: sampling and noise.

        Args:
            confidence_level: As of `count_intervals`.

        Raises:
            ParameterError: the level is out of range.
        """
        return _intervals(self._column_shares, self._level(confidence_level), sampling=True)

    @cached_property
    def independence(self) -> Independence | None:
        """A test of whether rows and columns are independent, which knows the noise; None where noise leaves no record.

        Source:
            Kifer and Rogers 2017; Gaboardi, Lim, Rogers and Vadhan 2016.
        """
        if not self.defined:
            return None
        return independence(self.measured, np.array(self.raw), self.alone().records)

    def risk_difference(self, confidence_level: float | None = None) -> Association:
        """Share of the last column in the first row, less that in the second.

        Args:
            confidence_level: As of `count_intervals`.

        Raises:
            ParameterError: the table has not two rows and two columns, or is from reports, whose rows are not
                independent.
        """
        level, one, other = self._risks(confidence_level)
        value, _, low, high = difference(one, other, level)
        return Association(value, low, high)

    def relative_risk(self, confidence_level: float | None = None) -> Association:
        """Share of the last column in the first row, divided by that in the second.

        Args:
            confidence_level: As of `count_intervals`.

        Raises:
            ParameterError: as `risk_difference`.
        """
        level, one, other = self._risks(confidence_level)
        value, _, low, high = ratio(one, other, level)
        return Association(value, max(0.0, low), high)

    def odds_ratio(self, confidence_level: float | None = None) -> Association:
        """Odds of the last column in the first row, divided by those in the second; by intervals of the log-odds.

        Args:
            confidence_level: As of `count_intervals`.

        Raises:
            ParameterError: as `risk_difference`.
        """
        level, one, other = self._risks(confidence_level)
        if math.isnan(one.value) or math.isnan(other.value):
            return Association(math.nan, 0.0, math.inf)
        first, second = (Number(each.what, *map(_logit, (each.value, each.low, each.high))) for each in (one, other))
        if math.isinf(first.value) or math.isinf(second.value):
            return Association(math.nan, 0.0, math.inf)
        value, _, low, high = difference(first, second, level)
        return Association(
            math.exp(value), *(math.exp(min(end, 700.0)) if end < 700 else math.inf for end in (low, high))
        )

    @property
    def compares_rows(self) -> bool:
        """Whether the table has two rows and two columns with independent noise, so that its rows can be compared."""
        return self.shape == (2, 2) and self.measured.form == "cells"

    def _risks(self, confidence_level: float | None) -> tuple[float, Number, Number]:
        if not self.compares_rows:
            raise ParameterError(
                "rows are compared in tables of two rows and two columns that are not from owners' reports"
            )
        level = self._level(confidence_level)
        results = []
        for row in self.alone()._row_shares:  # the noise of rows that add up to a public number is not independent
            low, high = row[1].interval(level, sampling=True)
            results.append(Number(f"share of {self.column_names[1]}", row[1].value, low, high, row[1].error()))
        return level, results[0], results[1]

    @property
    def noise_beside(self) -> str:
        """The records."""
        return OF_COUNT

    def noise_share(self) -> float:
        """Standard deviation of the noise of a count, as a share of the records; infinite where noise leaves none."""
        return max(map(max, self.noise_errors)) / self.records if self.defined else math.inf

    def errors(self, truth: CrosstabEstimate) -> dict[str, float]:
        """The largest distance of a count from the exact one, as a share of the records.

        Raises:
            ParameterError: the truth is of other columns or values.
        """
        if truth.listed != self.listed:
            raise ParameterError(f"the truth for {self.row} and {self.column} must be of the same values")
        far = np.abs(np.array(self.counts) - np.array(truth.counts)).max()
        return {"share": float(far) / max(1.0, truth.records)}

    def results(self) -> dict[str, Any]:
        """Counts, totals and shares with intervals; None where there is no bound or no number; of each alone."""
        return self.alone().joint_results()

    def joint_results(self) -> dict[str, Any]:
        """The same by all that is known."""
        return {
            "row_names": list(self.row_names),
            "column_names": list(self.column_names),
            "counts": finite(self.counts),
            "count_intervals": finite(self.count_intervals()),
            "row_totals": finite(self.row_totals),
            "column_totals": finite(self.column_totals),
            "row_shares": finite(self.row_shares),
            "column_shares": finite(self.column_shares),
        }

    def check_stored(self, known: Fields) -> None:
        """Refuse columns that are none, and a price below that of the noise."""
        _ = self.listed
        check_cost(self.provenance, self.query, self.measured, known)

    @property
    def query(self) -> CellsQuery | MomentsQuery | None:
        """The query with the noise of its answer; None where there was none, or owners answered."""
        return query_of(self.measured, Domain(self.listed))


def _values(readings: Sequence[Sequence[Reading]]) -> Numbers:
    return tuple(tuple(each.value for each in row) for row in readings)


def _intervals(readings: Sequence[Sequence[Reading]], level: float, *, sampling: bool) -> Intervals:
    return tuple(tuple(each.interval(level, sampling=sampling) for each in row) for row in readings)


def _logit(share: float) -> float:
    if not 0 < share < 1:
        return -math.inf if share <= 0 else math.inf
    return math.log(share / (1 - share))


# --- How a cross table is planned: by the law of its noise


class CrosstabPrediction(Prediction):
    """The noise of each count; with records given, the largest distance from the exact ones too."""

    deciding = (NOISE,)
    metrics: ClassVar[Mapping[str, Metric]] = {
        NOISE: Metric("noise of a count", "largest standard deviation of the noise of a count, in records"),
        "share": Metric("share", "largest distance from an exact count, as a share of the records, simulated"),
    }

    decided = True

    def errors(self) -> Errors:
        """The standard deviation for the count of a combination; from reports it depends a little on the count."""
        estimate = cast(CrosstabEstimate, self.rehearsal.estimate)
        return Errors({NOISE: max(map(max, estimate.noise_errors))})


# --- Whether two columns are independent: a chi-square test that knows the noise of the table
#
# The residuals x_ij - a_i x_.j - b_j x_i. + a_i b_j x_.. of the noisy counts are compared with their covariance under
# independence, where a and b are the shares of rows and columns that the noisy table gives, moved to where shares can
# lie. The covariance of counts is s diag(p) + v I - w 11', less a part along p that the residuals do not see:
#
#     counts with noise        s = n,      v = variance of the noise
#     randomized response      s = n / c,  v = n q / c^2,  w = n q^2 / c^2
#     unary encoding           s = 2 n,    v = n q (1 - q) / (1/2 - q)^2
#
# Here c is the chance that a report keeps a place, and q that it names another. The covariance of residuals is then s
# (A diag(a) A') x (B diag(b) B') + v (A A') x (B B') less a product, and one rotation of rows and one of columns make
# it diagonal. Without noise the statistic is Pearson's chi-square. With noise it has its law in the limit of many
# records (Kifer and Rogers 2017). The p-value is that of tables simulated from the fitted independent shares, with
# sampling and noise (Gaboardi, Lim, Rogers and Vadhan 2016), so that it serves few records and Laplace noise too. The
# random numbers are public and fixed. Where no simulated table has as large a statistic, the tail of the law in the
# limit of many records bounds the chance.
#
# Source:
#     Kifer and Rogers 2017, A new class of private chi-square hypothesis tests; Gaboardi, Lim, Rogers and Vadhan 2016,
#     Differentially private chi-squared hypothesis testing; `docs/proofs/sums.md`.

SIMULATIONS, FEWEST_SIMULATIONS = 1999, 199
_SIMULATED_VALUES = 2_000_000
_SEED = 0x63726F7373  # public and fixed
_NOTHING = 1e-9
_MANY, _FAINT = 5.0, 1e-15
"""Expected counts, with the variance of noise, from which the limit is used, and the smallest bound that is stated."""
_FARTHEST, _POINTS = 60.0, 6001


@dataclass(frozen=True)
class Independence:
    """A test of whether rows and columns are independent.

    Fields:
        chi_square: The statistic; Pearson's where there is no noise.
        p_value: Share of simulated tables of independent columns, with sampling and noise, whose statistic is as large.
            Where there are none, a bound of the chance.
        p_value_is_bound: Whether it is such a bound.
    """

    chi_square: float
    degrees: int
    p_value: float
    p_value_is_bound: bool = False


@dataclass(frozen=True)
class Spread:
    """The covariance s diag(p) + v I - w 11' of the counts of n records."""

    scale: float
    level: float
    common: float = 0.0

    @staticmethod
    def of(measured: Measured, records: float) -> Spread:
        """Of what was measured."""
        if measured.epsilon is None:
            noise = 0.0 if measured.law is None else float(measured.law.variance) / 4.0**measured.bits
            return Spread(records, noise)
        keep, other = chances(measured)
        if measured.form == "unary":
            return Spread(2 * records, records * other * (1 - other) / keep**2)
        return Spread(records / keep, records * other / keep**2, records * other**2 / keep**2)


def independence(measured: Measured, counts: Float64, records: float, simulations: int | None = None) -> Independence:
    """The test of one table.

    `counts`: Unbiased noisy counts, shape (rows, columns). `records`: How many records there are, at least 1.
    `simulations`: Simulated tables; by default 1999, fewer of more than 1000 cells.

    Privacy:
        Post-processing.
    """
    spread = Spread.of(measured, records)
    [observed], [degrees] = chi_square(counts[None], spread)
    rows, columns = (each[0] for each in shares(counts[None]))
    if simulations is None:
        simulations = min(SIMULATIONS, max(FEWEST_SIMULATIONS, _SIMULATED_VALUES // counts.size))
    rng = np.random.Generator(np.random.PCG64(_SEED))
    again = simulated(measured, np.outer(rows, columns), max(1, round(records)), simulations, rng)
    reached = int((chi_square(again, spread)[0] >= observed * (1 - 1e-9)).sum())
    chance = (reached + 1) / (simulations + 1)
    if reached == 0 and min((records * np.outer(rows, columns) + spread.level).ravel()) >= _MANY:
        chance = min(chance, max(_FAINT, _tail(float(observed), int(degrees), measured, spread, rows, columns)))
    return Independence(float(observed), int(degrees), chance, reached == 0)


def _tail(observed: float, degrees: int, measured: Measured, spread: Spread, rows: Float64, columns: Float64) -> float:
    """At least the chance of a statistic as large in the limit of many records.

    Its terms are then squares of independent normal variables, but for Laplace noise. A Laplace variable is normal
    given a variance that is exponential, so that all terms are normal given the variances, and larger than standard
    ones by at most the largest of these variances, times the largest part of noise in a term.
    """
    from scipy.special import chdtrc  # slow to import

    if not isinstance(measured.law, DiscreteLaplace) or degrees == 0:
        return float(chdtrc(degrees, observed)) if degrees else 1.0
    (_, of_rows, _), (_, of_columns, _) = _rotation(rows[None]), _rotation(columns[None])
    least = spread.scale * float(of_rows.min() * of_columns.min())
    part = spread.level / (least + spread.level)
    largest = np.linspace(0.0, _FARTHEST, _POINTS)
    # the chance that the largest of as many exponential variables is beyond the end of each interval
    beyond = -np.expm1(rows.size * columns.size * np.log1p(-np.exp(-largest[1:])))
    exceeds = chdtrc(degrees, observed / np.maximum(1.0, 1.0 + part * (largest - 1.0)))
    steps = np.diff(exceeds[1:], prepend=exceeds[1])
    return float(exceeds[1] + np.sum(steps * np.concatenate(([1.0], beyond[:-1]))) + beyond[-1])


def shares(counts: Float64) -> tuple[Float64, Float64]:
    """Shares of rows and of columns of some tables, at least 0, of sum 1; even where all counts are below 0."""
    results = []
    for axis in (2, 1):
        sums = np.maximum(counts.sum(axis=axis), 0.0)
        whole = sums.sum(axis=1, keepdims=True)
        results.append(np.where(whole > 0, sums / np.where(whole > 0, whole, 1.0), 1 / sums.shape[1]))
    return results[0], results[1]


def chi_square(counts: Float64, spread: Spread) -> tuple[Float64, Float64]:
    """The statistic of each of some tables, and its degrees of freedom; counts have shape (tables, rows, columns)."""
    rows, columns = shares(counts)
    below = counts - rows[:, :, None] * counts.sum(axis=1)[:, None, :]
    residuals = below - below.sum(axis=2)[:, :, None] * columns[:, None, :]
    (turn, of_rows, whole_rows), (across, of_columns, whole_columns) = _rotation(rows), _rotation(columns)
    turned = turn @ residuals[:, :-1, :-1] @ np.swapaxes(across, 1, 2)
    variance = spread.scale * of_rows[:, :, None] * of_columns[:, None, :] + spread.level
    seen = variance > _NOTHING * max(spread.scale, spread.level)
    weights = np.where(seen, 1 / np.where(seen, variance, 1.0), 0.0)
    result = (turned**2 * weights).sum(axis=(1, 2))
    if spread.common:
        direction = whole_rows[:, :, None] * whole_columns[:, None, :]
        along = (turned * direction * weights).sum(axis=(1, 2))
        length = (direction**2 * weights).sum(axis=(1, 2))
        result = result + spread.common * along**2 / (1 - spread.common * length)
    return result, seen.sum(axis=(1, 2)).astype(np.float64)


def _rotation(shares: Float64) -> tuple[Float64, Float64, Float64]:
    """What makes both parts of the covariance of one side diagonal: the second the identity."""
    size, first = shares.shape[1], shares[:, :-1]
    product = first[:, :, None] * first[:, None, :]
    eye = np.eye(size - 1)
    level = eye - first[:, :, None] - first[:, None, :] + size * product
    white = np.linalg.inv(np.linalg.cholesky(level))
    scale = white @ (eye * first[:, :, None] - product) @ np.swapaxes(white, 1, 2)
    variances, axes = np.linalg.eigh(scale)
    turn = np.swapaxes(axes, 1, 2) @ white
    return turn, np.maximum(variances, 0.0), (turn @ (1 - size * first)[:, :, None])[:, :, 0]


def simulated(measured: Measured, chance: Float64, records: int, tables: int, rng: np.random.Generator) -> Float64:
    """Noisy tables of this many records with these chances of the cells, unbiased; shape (tables, rows, columns)."""
    places = chance.ravel() / chance.sum()
    shape = (tables, *chance.shape)
    if measured.epsilon is None:
        result = rng.multinomial(records, places, size=tables).astype(np.float64)
        return (result + _noise(measured, result.shape, rng)).reshape(shape)
    keep, other = chances(measured)
    if measured.form == "reports":
        named = other + keep * places
        result = rng.multinomial(records, named / named.sum(), size=tables).astype(np.float64)
    else:
        true = rng.multinomial(records, places, size=tables)
        result = (rng.binomial(true, 0.5) + rng.binomial(records - true, other)).astype(np.float64)
    return ((result - records * other) / keep).reshape(shape)


def _noise(measured: Measured, shape: tuple[int, ...], rng: np.random.Generator) -> Float64:
    law = measured.law
    if law is None:
        return np.zeros(shape)
    if isinstance(law, DiscreteLaplace):
        chance = -math.expm1(-1 / float(law.scale))
        return (rng.geometric(chance, shape) - rng.geometric(chance, shape)).astype(np.float64) / 2.0**measured.bits
    return rng.normal(0.0, math.sqrt(law.variance) / 2.0**measured.bits, shape)
