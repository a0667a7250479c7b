"""What was measured for a number, and how the number is read off it.

A number is a ratio of two linear forms of the integers that came back, such as records that count over all records. How
far it is off at a true ratio t follows from the error of numerator - t denominator, which is linear in the noise
(Fieller's method): it holds however much noise there is in the denominator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.privacy import Adjacency
from ogive.queries import Weights
from ogive.statistics.base import FEWEST
from ogive.statistics.sums.deviation import Deviation

FORMS = ("cells", "moments", "reports")
"""Of numbers; those of tables may be "unary" too."""

_HALVINGS, _SECANTS = 60, 30
_NEARLY, _ROUNDING = 1e-13, 1e-14  # of a logarithm of a chance, and of a distance, where a root is found
_HARDLY = 1e-300


@dataclass(frozen=True)
class Measured:
    """The integers that came back, and the noise in them.

    Fields:
        form: "cells": records of each place. "moments": sums as `MomentsQuery` measures them. "reports": how many
            owners reported each place, by randomized response. "unary": how many bits of each place owners set, and how
            many owners reported.
        values: The integers.
        law: Noise of each integer; None of exact sums, and of reports, which have noise of their own.
        bits: Fractional bits of the integers.
        weights: Of moments.
        epsilon: Of each report.
        adjacency: Which data sets are adjacent.
        total: The number of records where it is public.
        draws: How many draws of the law are in each integer: one, but in sums over groups, which are not stored.
    """

    form: str
    values: tuple[int, ...]
    law: DiscreteLaplace | DiscreteGaussian | None
    adjacency: Adjacency
    total: int | None
    bits: int = 0
    weights: Weights | None = None
    epsilon: Fraction | None = None
    draws: int = 1

    def sum_of(self, *coefficients: float, constant: float = 0.0) -> LinearForm:
        """A linear form of the integers."""
        fine = 2.0**-self.bits
        return LinearForm(tuple(each * fine for each in coefficients), constant)

    def at(self, form: LinearForm) -> float:
        """The value of a linear form."""
        pairs = zip(form.coefficients, self.values, strict=True)
        return form.constant + math.fsum(coefficient * value for coefficient, value in pairs)

    @property
    def records(self) -> LinearForm:
        """The number of records: a constant where it is public."""
        zeros = (0.0,) * len(self.values)
        if self.total is not None:
            return LinearForm(zeros, float(self.total))
        if self.form == "cells":
            return self.sum_of(*(1.0 for _ in self.values))
        assert self.weights is not None, "sums have weights"
        return self.sum_of(1 / self.weights.count, *zeros[1:])

    @property
    def records_variance(self) -> float:
        """Variance of the noise in the number of records."""
        if self.law is None:
            return 0.0
        return self.draws * float(self.law.variance) * sum(each**2 for each in self.records.coefficients)


@dataclass(frozen=True)
class LinearForm:
    """A linear form of measured integers.

    Fields:
        coefficients: One for each integer.
        constant: What is added.
    """

    coefficients: tuple[float, ...]
    constant: float = 0.0

    def minus(self, other: LinearForm, times: float) -> LinearForm:
        """The form less a multiple of another."""
        pairs = zip(self.coefficients, other.coefficients, strict=True)
        return LinearForm(tuple(a - times * b for a, b in pairs), self.constant - times * other.constant)


@dataclass(frozen=True)
class Reading:
    """A number as it is read off what was measured: `offset` + `unit` numerator / denominator.

    Fields:
        measured: The integers.
        numerator, denominator: Linear forms of them.
        low, high: Between which the exact ratio lies; perhaps infinite.
        offset, unit: From the ratio to the number.
        sampling: Variance of the numerator less a multiple t of the denominator by which records were sampled, at t.
        reporting: The same of what owners drew at random.
    """

    measured: Measured
    numerator: LinearForm
    denominator: LinearForm
    low: float
    high: float
    offset: float = 0.0
    unit: float = 1.0
    sampling: Callable[[float], float] | None = None
    reporting: Callable[[float], float] | None = None

    @cached_property
    def size(self) -> float:
        """The denominator, noise included."""
        return self.measured.at(self.denominator)

    @property
    def defined(self) -> bool:
        """Whether there is a ratio: the denominator with its noise is at least 1."""
        return self.size >= FEWEST

    @cached_property
    def ratio(self) -> float:
        """The ratio, moved to where it can lie; NaN where undefined."""
        if not self.defined:
            return math.nan
        return min(max(self.measured.at(self.numerator) / self.size, self.low), self.high)

    @property
    def value(self) -> float:
        """The number; NaN where undefined."""
        return self.offset + self.unit * self.ratio

    def deviation(self, ratio: float, *, sampling: bool) -> Deviation:
        """The law of the error of numerator - t denominator, if t is the true ratio."""
        variance = self.sampling(ratio) if sampling and self.sampling is not None else 0.0
        variance += self.reporting(ratio) if self.reporting is not None else 0.0
        weights = self.numerator.minus(self.denominator, ratio).coefficients
        return Deviation.of(self.measured.law, weights * self.measured.draws, variance=variance)

    def error(self, *, noise: bool = True, sampling: bool = True) -> float:
        """The standard error of the number; NaN where undefined."""
        if not self.defined:
            return math.nan
        whole = self.deviation(self.ratio, sampling=sampling).standard_error
        if not noise:
            whole = math.sqrt(max(0.0, whole**2 - self.deviation(self.ratio, sampling=False).standard_error ** 2))
        return abs(self.unit) * whole / self.size

    def interval(self, confidence_level: float, *, sampling: bool) -> tuple[float, float]:
        """All numbers that the measured integers do not contradict; every number there can be where undefined."""
        key = (confidence_level, sampling)
        if key not in self._intervals:
            ends = (self.low, self.high)
            if self.defined:
                ends = (self._end(ends[0], *key), self._end(ends[1], *key))
            self._intervals[key] = (self.offset + self.unit * ends[0], self.offset + self.unit * ends[1])
        return self._intervals[key]

    @cached_property
    def _intervals(self) -> dict[tuple[float, bool], tuple[float, float]]:
        """Intervals by level and whether records were sampled: text, tables and pictures ask for the same ones."""
        return {}

    def _end(self, farthest: float, confidence_level: float, sampling: bool) -> float:
        """The ratio farthest from the measured one, on the way to a bound, that is not contradicted."""
        near = self.ratio

        def contradicted(ratio: float) -> bool:
            distance = abs(self.measured.at(self.numerator) - ratio * self.size)
            return self.deviation(ratio, sampling=sampling).contradicts(distance, confidence_level)

        if math.isinf(farthest):
            # the error does not depend on a ratio without bounds, whose denominator is 1
            reach = self.deviation(near, sampling=sampling).reach(confidence_level)
            return near + math.copysign(reach, farthest)
        if contradicted(near) or self.deviation(near, sampling=sampling).standard_error == 0:
            return near
        if not contradicted(farthest):
            return farthest
        start, (within, beyond) = near, self._around_end(near, farthest, confidence_level, sampling, contradicted)
        for _ in range(_HALVINGS):
            middle = (near + farthest) / 2
            if middle in (near, farthest):
                break
            way = abs(middle - start)
            is_beyond = way >= beyond or (way > within and contradicted(middle))
            near, farthest = (near, middle) if is_beyond else (middle, farthest)
        return farthest

    def _around_end(
        self,
        near: float,
        farthest: float,
        confidence_level: float,
        sampling: bool,
        contradicted: Callable[[float], bool],
    ) -> tuple[float, float]:
        """Two distances from the measured ratio, of one that is not contradicted and one that is, and nearly equal.

        So few of the halvings need to ask, and their result is the same; where none are found, all ask.
        """
        root, rounding = self._root(near, farthest, confidence_level, sampling)
        for width in (rounding, 100 * rounding):
            within, beyond = (near + math.copysign(root * way, farthest - near) for way in (1 - width, 1 + width))
            if contradicted(beyond) and not contradicted(within):
                return abs(within - near), abs(beyond - near)
        return 0.0, math.inf

    def _root(self, near: float, farthest: float, confidence_level: float, sampling: bool) -> tuple[float, float]:
        """How far from the measured ratio, on the way to a contradicted one, ratios begin to be contradicted.

        By secants of the logarithm of the chance of the error, which is nearly a parabola or a line; with by how much
        of it rounding may move that. NaN where the chance jumps.
        """
        least, most = math.log(1 - confidence_level), abs(farthest - near)

        def excess(distance: float) -> float:
            ratio = near + math.copysign(distance, farthest - near)
            law = self.deviation(ratio, sampling=sampling)
            place = abs(self.measured.at(self.numerator) - ratio * self.size) - law.step
            return math.log(max(law.exceeds(max(place, 0.0)), _HARDLY)) - least

        error = self.deviation(near, sampling=sampling).standard_error
        nearly = _NEARLY + _ROUNDING * abs(self.measured.at(self.numerator)) / error
        low, at_low, at_high = 0.0, -least, 0.0
        high = min(error / self.size, most)
        while (at_high := excess(high)) > 0:
            if high == most:
                return math.nan, nearly
            low, at_low, high = high, at_high, min(2 * high, most)
        root, found, stayed = high, at_high, 0
        for _ in range(_SECANTS):
            if abs(found) < nearly:
                break
            root = (low * at_high - high * at_low) / (at_high - at_low)
            found = excess(root)
            # an end that stays twice counts for half (Illinois)
            if found > 0:
                low, at_low, at_high, stayed = root, found, at_high / (2 if stayed > 0 else 1), 1
            else:
                high, at_high, at_low, stayed = root, found, at_low / (2 if stayed < 0 else 1), -1
        else:
            return math.nan, nearly  # where a part begins to count by its variance alone
        return root, nearly


def two_places(measured: Measured) -> LinearForm:
    """The number of records of the second of two places."""
    return measured.sum_of(1.0) if measured.form == "moments" else records_at(measured, 1)


def records_at(measured: Measured, place: int) -> LinearForm:
    """The number of records of one place; that of reports is unbiased."""
    unit = [float(place == number) for number in range(len(measured.values))]
    if measured.form == "cells":
        return measured.sum_of(*unit)
    if measured.form == "moments":  # the records of place 1, where the number of all is public
        assert measured.total is not None
        return measured.sum_of(1.0) if place else measured.sum_of(-1.0, constant=float(measured.total))
    keep, other = chances(measured)
    return measured.sum_of(*(each / keep for each in unit), constant=-reports_of(measured) * other / keep)


def places_of(measured: Measured) -> int:
    """How many places there are, of a table."""
    return {"moments": 2, "unary": len(measured.values) - 1}.get(measured.form, len(measured.values))


def reports_of(measured: Measured) -> int:
    """How many owners reported."""
    return measured.values[-1] if measured.form == "unary" else sum(measured.values)


def chances(measured: Measured) -> tuple[float, float]:
    """How much more often a report names the place that is the truth, and how often one that is not."""
    from ogive.local.randomized_response import RandomizedResponse  # only reports need these
    from ogive.local.unary import UnaryOracle

    assert measured.epsilon is not None
    if measured.form == "unary":
        rare = float(UnaryOracle(places_of(measured), measured.epsilon).chance)
        return 0.5 - rare, rare
    size = len(measured.values)
    keep = float(RandomizedResponse(size, measured.epsilon).keep)
    return keep, (1 - keep) / size


def reported_variance(measured: Measured, parts: Sequence[tuple[float, int, float]]) -> float:
    """Variance of a weighted number of records by what owners drew at random, whatever their places are.

    Args:
        measured: Reports.
        parts: Of places with the same weight the weight, the number of places, and the share of the owners there; other
            places have the weight 0.
    """
    keep, other = chances(measured)
    whole = sum(weight * places for weight, places, _ in parts)
    squares = sum(weight**2 * places for weight, places, _ in parts)
    true = sum(weight**2 * share for weight, _, share in parts)
    if measured.form == "unary":  # independent bits, of which the own one is a fair coin
        return reports_of(measured) * (squares * other * (1 - other) / keep**2 + true)
    rest = 1 - sum(share for _, _, share in parts)
    means = sum(share * (keep * weight + other * whole) ** 2 for weight, _, share in parts)
    mean_square = keep * true + other * squares
    return reports_of(measured) * (mean_square - means - rest * (other * whole) ** 2) / keep**2


def to_dict(measured: Measured) -> dict[str, Any]:
    """Plain data of what was measured."""
    return {
        "form": measured.form,
        "values": list(measured.values),
        "noise": None if measured.law is None else measured.law.to_dict(),
        "bits": measured.bits,
        "weights": None if measured.weights is None else measured.weights.to_dict(),
        "epsilon": None if measured.epsilon is None else str(measured.epsilon),
        "adjacency": measured.adjacency.value,
        "total": measured.total,
    }
