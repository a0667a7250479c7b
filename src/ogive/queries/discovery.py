"""Which values of a column many records have, and how many, where nobody has listed the values.

Every value that occurs is counted, every count gets discrete Laplace noise, and the values whose noisy count is at
least a public threshold are told with it. A value that no record has is never told, so a value that is told says that
some record has it. That is where the delta is: a value that only one person has must hardly ever reach the threshold.

With noise Z of scale t, of which P(Z >= m) = q^m / (1 + q) for m >= 0 and q = exp(-1/t), and at most k records of a
person, a threshold T > k costs exactly

    epsilon = k / t, or 2 / t under REPLACE,    delta = max(x_k, 1 - (1 - x_1)^k)    with x_d = q^(T - d) / (1 + q):

a person adds most by k records of one value that nobody else has, or by a record of each of k such values. The proof
is in the manual, under discovery.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ogive.core.arrays import Int64
from ogive.core.checks import whole
from ogive.errors import DataError, ParameterError
from ogive.noise import DiscreteLaplace, round_up_scale
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit
from ogive.queries import base
from ogive.queries.aggregates import Counted, ValueCounts, read, write
from ogive.strategies.base import Level

MOST_RECORDS = 1 << 61
LARGEST_THRESHOLD = 1 << 61
_DIGITS = 40
_UP = Context(prec=_DIGITS, rounding=ROUND_CEILING)
_DOWN = Context(prec=_DIGITS, rounding=ROUND_FLOOR)
_KEPT = Context(prec=15, rounding=ROUND_CEILING)
_LEAST_DELTA = Fraction(11, 10**301)  # below that there is no delta
_FURTHEST = 2000
"""Noise of so many scales has a chance below 1e-800, where a delta is at least 1e-300."""


@dataclass(frozen=True)
class DiscoveryQuery(base.Described, base.CuratorQuery):
    """The values that at least about so many records have, each with its noisy count; `read` reads the answer.

    It is not linear: only who sees all records can answer it. The exact answer has every value.

    Fields:
        values: The column, and what a missing value means. Where those are counted, their noisy count is told whatever
            it is, since everybody may know of that place.
        law: Noise of every count.
        threshold: Least noisy count that is told, at least 1.

    Raises:
        ParameterError: the threshold is out of range.
    """

    digested: ClassVar[str] = "discovery"
    method: ClassVar[str] = "discovery"

    values: ValueCounts
    law: DiscreteLaplace
    threshold: int

    def __post_init__(self) -> None:
        whole(self.threshold, "threshold", 1, LARGEST_THRESHOLD)

    @property
    def aggregate(self) -> ValueCounts:
        """Records per value."""
        return self.values

    @property
    def levels(self) -> tuple[Level, ...]:
        """Noise of a value, and of missing ones that are counted; how many values there are is secret."""
        return (Level(1, self.law),) * (2 if self.values.column.missing == "count" else 1)

    def price(self, unit: PrivacyUnit) -> ApproxDP:
        """Exact privacy loss of the values that are told with their counts; its delta is rounded up.

        Raises:
            ParameterError: missing values are dropped although the adjacency makes the number of records public, or
                the records of one person may reach the threshold without noise.
        """
        base.check_missing(self.values.column, unit.adjacency)
        rows = unit.max_rows_per_person
        return ApproxDP(_changed(unit) / self.law.scale, shown_chance(self.law, self.threshold, rows))

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """The values that are told and their counts, as `write` writes them, in the order of the values.

        Every value has a noise of its own, that of its place among the values that occur. The places follow from the
        values alone, and the noise of a release is independent of that of other data, so nothing of those values
        that are not told is in the answer.

        Raises:
            DataError: there are too many records.
        """
        exact = read(sums)
        counted = self.values.column.missing == "count"
        if nodes is None:
            return write(Counted(exact.counts, exact.missing if counted else 0))
        if self.values.records(sums) >= MOST_RECORDS:
            raise DataError("there are too many records to be counted with noise")
        noise = nodes.values(self.law, 0, np.arange(len(exact.counts)))
        noisy = {value: count + int(added) for (value, count), added in zip(exact.counts.items(), noise, strict=True)}
        missing = exact.missing + int(nodes.values(self.law, 1, np.arange(1))[0]) if counted else 0
        return write(Counted({value: count for value, count in noisy.items() if count >= self.threshold}, missing))


def design_discovery(values: ValueCounts, privacy: ApproxDP, unit: PrivacyUnit) -> DiscoveryQuery:
    """The least noise and the least threshold that meet a guarantee.

    Args:
        values: The column.
        privacy: What the answer may cost; all of its epsilon goes to the noise, all of its delta to the threshold.
        unit: Whose data the guarantee hides.

    Raises:
        ScaleError: more noise would be needed than can be drawn.
    """
    law = DiscreteLaplace(round_up_scale(_changed(unit) / privacy.epsilon))
    return DiscoveryQuery(values, law, least_threshold(law, privacy.delta, unit.max_rows_per_person))


def least_threshold(law: DiscreteLaplace, delta: Fraction, rows: int) -> int:
    """The least whole number above the rows of a person that keeps a delta.

    Args:
        law: Noise of every count.
        delta: Chance with which a value of one person alone may be told.
        rows: Most records of one person.
    """
    low = rows + 1
    high = rows + 2 + int(_FURTHEST * law.scale)
    while low < high:
        middle = (low + high) // 2
        if shown_chance(law, middle, rows) <= delta:
            high = middle
        else:
            low = middle + 1
    return low


def shown_chance(law: DiscreteLaplace, threshold: int, rows: int) -> Fraction:
    """The largest chance with which any value that only one person has is told, rounded up to 15 digits."""
    if threshold <= rows:
        raise ParameterError(f"`threshold` must be above the {rows} records that a person may have, got {threshold}")
    together, each = (_reaches(law, threshold - records) for records in (rows, 1))
    return max(Fraction(_KEPT.plus(max(together, _any_of(each, rows)))), _LEAST_DELTA)


def _changed(unit: PrivacyUnit) -> Fraction:
    """By how much one person changes all counts at most, in absolute values."""
    return Fraction(unit.max_rows_per_person * (2 if unit.adjacency is Adjacency.REPLACE else 1))


def _reaches(law: DiscreteLaplace, least: int) -> Decimal:
    """P(Z >= least) for least >= 0, rounded up."""
    return _UP.divide(_exp(-least / law.scale, up=True), _DOWN.add(1, _exp(-1 / law.scale, up=False)))


def _exp(exponent: Fraction, *, up: bool) -> Decimal:
    """The exponential of a number, rounded up or down."""
    towards = _UP if up else _DOWN
    near = towards.exp(towards.divide(Decimal(exponent.numerator), Decimal(exponent.denominator)))
    return towards.next_plus(near) if up else towards.next_minus(near)  # `exp` rounds to the nearest in any context


def _any_of(chance: Decimal, times: int) -> Decimal:
    """1 - (1 - chance)^times, rounded up."""
    found, power = Decimal(0), chance
    while times:
        if times & 1:
            found = _either(found, power)
        power, times = _either(power, power), times >> 1
    return found


def _either(one: Decimal, other: Decimal) -> Decimal:
    """The chance of one or the other of two independent events, a + b (1 - a), rounded up."""
    return min(_UP.add(one, _UP.multiply(other, _UP.subtract(Decimal(1), one))), Decimal(1))
