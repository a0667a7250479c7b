"""What was measured for a number, and how the number is read off it.

A number is a ratio of two linear forms of the integers that came back, such as records that count over all records. How
far it is off at a true ratio t follows from the error of numerator - t denominator, which is linear in the noise
(Fieller's method): it holds however much noise there is in the denominator.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np

from ogive.columns import Domain
from ogive.core.arrays import Float64
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.privacy import Adjacency
from ogive.queries import Cells, CellsQuery, MomentsQuery, Weights
from ogive.statistics.base import FEWEST

# --- The law of a normal error with weighted noise
#
# Noise is discrete Laplace or discrete Gaussian. A sum X of a normal variable of variance v and of independent Laplace
# variables of scales b_1, b_2, ... has the characteristic function
#
#     e^(-v t^2 / 2)  prod_j 1 / (1 + b_j^2 t^2),
#
# and partial fractions make of the product a combination of single Laplace variables, with coefficients prod_k b_j^2 /
# (b_j^2 - b_k^2), so that P(|X| > q) is one of the tails of a normal and a Laplace variable. Of more than three
# variables these coefficients are too large for floating point, and the characteristic function is inverted as Davies
# does. The absolute value of discrete Laplace noise is stochastically at most that of continuous noise of the same
# scale, rounded to a whole number; so a quantile of the continuous law is widened by half of each weight.
#
# Source:
#     `docs/proofs/sums.md`; Davies 1973, Numerical inversion of a characteristic function.

NoiseLaw = DiscreteLaplace | DiscreteGaussian

_SAME = 1e-4
_NORMAL = 8.0  # beside a normal error so many scales wide Laplace noise counts by its variance alone
_FARTHEST = 200  # scales or deviations beyond which no level that is served has its quantile
_MOST_FRACTIONS = 3  # equal scales that are moved apart by _SAME keep 9 digits; of more variables they would not
_WIDTHS = (1e-11, 1e-8, 1e-5)  # standard errors from a distance that is nearly a quantile
_PERIOD = 80.0  # standard deviations after which an inverted law repeats itself
_ROOT_2 = math.sqrt(2)
_FREQUENCIES = 4096  # at the last one the characteristic function of Laplace parts is below 10^-5, and terms alternate


@dataclass(frozen=True)
class Deviation:
    """The law of an error, which is symmetric around 0.

    Fields:
        variance: Of its normal part: sampling, randomized reports and Gaussian noise.
        step: How far discrete Laplace noise may exceed continuous noise.
    """

    variance: float = 0.0
    scales: tuple[float, ...] = ()
    step: float = 0.0

    @staticmethod
    def of(law: NoiseLaw | None, weights: Sequence[float], *, variance: float = 0.0) -> Deviation:
        """The error of a weighted sum of independent draws of a law, with a normal error besides."""
        sizes = [abs(weight) for weight in weights if weight]
        if law is None or not sizes:
            return Deviation(variance)
        if isinstance(law, DiscreteGaussian):
            return Deviation(variance + law.variance * sum(size * size for size in sizes))
        scale = float(law.scale)
        return Deviation(variance, tuple(size * scale for size in sizes), sum(sizes) / 2)

    @cached_property
    def standard_error(self) -> float:
        """Root of the whole variance."""
        return math.sqrt(self.variance + 2 * sum(scale * scale for scale in self.scales))

    def scaled(self, factor: float) -> Deviation:
        """The error times a number."""
        size = abs(factor)
        return Deviation(self.variance * size * size, tuple(scale * size for scale in self.scales), self.step * size)

    def exceeds(self, distance: float) -> float:
        """The probability that the error is farther from 0 than a distance of at least 0, in the continuous law."""
        deviation, apart = self._separated
        if not apart:
            return math.erfc(distance / (math.sqrt(2) * deviation)) if deviation else 0.0
        if len(apart) > _MOST_FRACTIONS:
            return self._inverted(distance)
        total = 0.0
        for scale, share in zip(apart, self._shares, strict=True):
            total += share * _normal_and_laplace(distance, deviation, scale)
        return total

    def reach(self, confidence_level: float) -> float:
        """A distance from 0 that the error exceeds with probability at most 1 - `confidence_level`."""
        return self._reached(confidence_level, 0.0, math.inf)

    def contradicts(self, distance: float, confidence_level: float) -> bool:
        """Whether the error is so far from 0 with probability at most 1 - `confidence_level`."""
        place, chance = distance - self.step, 1 - confidence_level
        parts = len(self._separated[1])
        if parts > _MOST_FRACTIONS:
            return place > 0 and self.exceeds(place) < chance
        if not parts or place <= 0 or chance > 0.5:
            return distance > self._reached(confidence_level, distance, distance)
        if place > _FARTHEST * self.standard_error:
            return True
        excess = self.exceeds(place) - chance
        # the sum of `step` and a distance is rounded, too
        if abs(excess) > self._rounding + 4 * math.ulp(distance) / min(self._separated[1]):
            return excess < 0
        return distance > self._reached(confidence_level, distance, distance, *self._around(place, chance))

    def _reached(
        self, confidence_level: float, least: float, most: float, below: float = 0.0, above: float = math.inf
    ) -> float:
        """The reach by bisection; where it is below `least` or at least `most`, any number of which that is true.

        It is known to lie from `below` to `above`, before `step` is added; the same number is returned without this.
        """
        chance = 1 - confidence_level
        deviation, apart = self._separated
        if not apart:
            return NormalDist().inv_cdf(1 - chance / 2) * deviation + self.step
        low, high = 0.0, _FARTHEST * self.standard_error
        while least <= high + self.step and low + self.step < most:
            middle = (low + high) / 2
            if middle in (low, high):
                break
            is_within = middle < below or (middle <= above and self.exceeds(middle) > chance)
            low, high = (middle, high) if is_within else (low, middle)
        return high + self.step

    def _around(self, place: float, chance: float) -> tuple[float, float]:
        """Distances close to one, between which the chance to exceed them passes `chance` whatever is rounded."""
        for width in _WIDTHS:
            below, above = place - width * self.standard_error, place + width * self.standard_error
            if below > 0 and self.exceeds(below) - chance > self._rounding < chance - self.exceeds(above):
                return below, above
        return 0.0, math.inf

    @cached_property
    def _rounding(self) -> float:
        """More than floating point adds to or takes from the chance to exceed a distance."""
        return 1e-13 * sum(map(abs, self._shares))

    def _inverted(self, distance: float) -> float:
        """The probability that an error of many parts is farther from 0, off by less than 10^-7."""
        if distance > _PERIOD / 2 * self.standard_error:
            return 0.0  # below e^-40 for any law of these
        angles, weights = self._characteristic
        return min(max(1 - 2 * float(weights @ np.sin(angles * distance)), 0.0), 1.0)

    @cached_property
    def _characteristic(self) -> tuple[Float64, Float64]:
        """Frequencies, and the characteristic function at them over pi (k + 1/2)."""
        variance, (scales, times) = self._separated[0] ** 2, np.unique(self._separated[1], return_counts=True)
        places = np.arange(_FREQUENCIES) + 0.5
        angles: Float64 = np.asarray(places * (2 * math.pi / (_PERIOD * self.standard_error)), dtype=np.float64)
        powers = np.log1p(np.multiply.outer(scales**2, angles**2))
        weights: Float64 = np.exp(-variance * angles**2 / 2 - times @ powers) / (math.pi * places)
        return angles, weights

    @cached_property
    def _shares(self) -> tuple[float, ...]:
        """The coefficients of the partial fractions, in the order of the scales that are kept apart."""
        apart = self._separated[1]
        return tuple(
            math.prod(scale**2 / (scale**2 - other**2) for other in apart if other != scale) for scale in apart
        )

    @cached_property
    def _separated(self) -> tuple[float, tuple[float, ...]]:
        """The deviation of the normal part, with Laplace parts that count by their variance alone, and other scales."""
        variance = self.variance
        apart: list[float] = []
        for scale in sorted(self.scales):
            if math.sqrt(variance) > _NORMAL * scale:
                variance += 2 * scale * scale
            else:
                apart.append(scale)
        if len(apart) <= _MOST_FRACTIONS:  # partial fractions need different scales, so each is a little above the last
            for place in range(1, len(apart)):
                apart[place] = max(apart[place], apart[place - 1] * (1 + _SAME))
        return math.sqrt(variance), tuple(apart)


def _normal_and_laplace(distance: float, deviation: float, scale: float) -> float:
    """P(|N + L| > q) of a normal variable of that deviation and a Laplace variable of that scale.

    With s the deviation and b the scale it is 2 Phi(-q/s) + e^(s^2/2b^2 - q/b) Phi(q/s - s/b)
    - e^(s^2/2b^2 + q/b) Phi(-q/s - s/b), of which the last part is e^(-q^2/2s^2) times a factor that stays small.
    """
    if deviation == 0:
        return math.exp(-distance / scale)
    ratio, place = deviation / scale, distance / deviation
    far = place + ratio
    normal = math.erfc(place / _ROOT_2)
    near = math.exp(ratio * ratio / 2 - distance / scale) * (math.erfc(-(place - ratio) / _ROOT_2) / 2)
    if far < 25:
        tail = math.exp(ratio * ratio / 2 + ratio * place) * (math.erfc(far / _ROOT_2) / 2)
    else:  # Phi(-y) = e^(-y^2/2) / (y sqrt(2 pi)) (1 - 1 / y^2 + ...), to one part in 10^5 from 25 on
        tail = math.exp(-place * place / 2) / (far * math.sqrt(2 * math.pi)) * (1 - 1 / far**2)
    return normal + near - tail


# --- Measured integers, and numbers read off them

FORMS = ("cells", "moments", "reports")
"""Of numbers; those of tables may be "unary" too."""

_HALVINGS, _SECANTS = 60, 30
_NEARLY, _ROUNDING = 1e-13, 1e-14  # of a logarithm of a chance, and of a distance, where a root is found
_HARDLY = 1e-300
_NO_WEIGHT = 1e-12  # of the largest weight: rounding alone
_MOST_LARGE = 2  # weights of noise that keep their law beside what is known


@dataclass(frozen=True)
class Measured:
    """The integers that came back, and the noise in them.

    Fields:
        form: "cells": records of each place. "moments": sums as `MomentsQuery` measures them. "reports": how many
            owners reported each place, by randomized response. "unary": how many bits of each place owners set, and how
            many owners reported.
        law: Noise of each integer; None of exact sums, and of reports, which have noise of their own.
        total: The number of records where it is public.
        draws: How many draws of the law are in each integer: one, but in sums over groups, which are not stored.
        beside: What else is known of linear forms of the integers, by other measurements or in public; not stored.
        shown: Counts of the places that are at least 0 and agree with others; None where counts are shown as they are.
    """

    form: str
    values: tuple[int, ...]
    law: NoiseLaw | None
    adjacency: Adjacency
    total: int | None
    bits: int = 0
    weights: Weights | None = None
    epsilon: Fraction | None = None
    draws: int = 1
    beside: tuple[Beside, ...] = ()
    shown: tuple[float, ...] | None = None

    def sum_of(self, *coefficients: float, constant: float = 0.0) -> LinearForm:
        """A linear form of the integers."""
        fine = 2.0**-self.bits
        return LinearForm(tuple(each * fine for each in coefficients), constant)

    def at(self, form: LinearForm) -> float:
        """The value of a linear form."""
        pairs = zip(form.coefficients, self._estimated, strict=True)
        return form.constant + math.fsum(coefficient * value for coefficient, value in pairs)

    @cached_property
    def _gains(self) -> list[list[float]]:
        """By how much each integer moves with each form that is known besides: for each form a list of all integers."""
        if self.law is None:
            return [[0.0] * len(self.values) for _ in self.beside]
        forms = np.array([each.form.coefficients for each in self.beside])
        variance = self.draws * float(self.law.variance)
        whole = variance * forms @ forms.T + np.diag([each.known[1] for each in self.beside])
        gains: list[list[float]] = (variance * np.linalg.solve(whole, forms)).tolist()
        return gains

    @cached_property
    def _estimated(self) -> tuple[float, ...]:
        """The integers; where more is known, their least-squares estimates."""
        if not self.beside:
            return self.values
        plain = dataclasses.replace(self, beside=())
        result = np.array(self.values, dtype=np.float64)
        for gain, each in zip(self._gains, self.beside, strict=True):
            result += np.array(gain) * (each.known[0] - plain.at(each.form))
        return tuple(result.tolist())

    @property
    def counts(self) -> Float64:
        """Records of each place of a table, as they are estimated."""
        values = np.array(self._estimated, dtype=np.float64)
        if self.form == "moments":
            assert self.total is not None, "of two places"
            return np.append(self.total - values, values)
        if self.form == "cells":
            return values / 2.0**self.bits
        keep, other = chances(self)
        result: Float64 = (values[: places_of(self)] - reports_of(self) * other) / keep
        return result

    @property
    def exact(self) -> bool:
        """Whether there is no noise, neither added nor drawn by owners."""
        return self.law is None and self.epsilon is None

    def alone(self) -> Measured:
        """The same without anything that is known besides."""
        return dataclasses.replace(self, beside=(), shown=None) if self.beside or self.shown else self

    def given(self, form: LinearForm, known: Sequence[float]) -> Measured:
        """The same, where a form of the integers is known besides, as `Known` with independent errors."""
        return dataclasses.replace(self, beside=(*self.beside, Beside(form, tuple(map(float, known)))))

    def _errors(self, form: LinearForm) -> tuple[list[float], list[float]]:
        """The weights of the noise of each integer in the error of a form, and the error of what is known besides."""
        own, known = list(form.coefficients), [0.0] * 4
        if not self.beside:
            return own, known
        most = _NO_WEIGHT * max(map(abs, own), default=0.0)
        for gain, each in zip(self._gains, self.beside, strict=True):
            pull = sum(weight * move for weight, move in zip(form.coefficients, gain, strict=True))
            own = [weight - pull * other for weight, other in zip(own, each.form.coefficients, strict=True)]
            powers = pull, pull**2, pull**4, abs(pull)
            known = [whole + power * part for whole, power, part in zip(known, powers, each.known, strict=True)]
        return [weight if abs(weight) > most else 0.0 for weight in own], known

    def error(self, form: LinearForm, variance: float = 0.0) -> Deviation:
        """The law of the error of a form, with a normal error besides.

        Many small Laplace parts are a normal variable and one Laplace variable of the same variance and kurtosis.
        """
        own, known = self._errors(form)
        own = sorted(own * self.draws, key=abs, reverse=True)
        law = Deviation.of(self.law, own[:_MOST_LARGE], variance=variance)
        rest = _known(self.law, own[_MOST_LARGE:], 1)
        scale = (known[2] + rest[2]) ** 0.25
        normal = law.variance + max(0.0, known[1] + rest[1] - 2 * scale * scale)
        return Deviation(normal, law.scales + ((scale,) if scale else ()), law.step + known[3] + rest[3])

    def known(self, form: LinearForm) -> tuple[float, ...]:
        """A form as `scaled` has it: its value, variance, sum of fourth powers of the scales, and step."""
        own, known = self._errors(form)
        _, *error = map(sum, zip(known, _known(self.law, own, self.draws), strict=True))
        return self.at(form), *error

    @property
    def size(self) -> LinearForm:
        """The number of records as it was measured, also where it is public; 0 where it was not."""
        if self.form == "cells":
            return self.sum_of(*(1.0 for _ in self.values))
        count = 0 if self.weights is None else self.weights.count
        return self.sum_of(1 / count if count else 0.0, *(0.0,) * (len(self.values) - 1))

    @property
    def one(self) -> LinearForm:
        """The number 1, of which a count is a multiple."""
        return LinearForm((0.0,) * len(self.values), 1.0)

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


@dataclass(frozen=True)
class Beside:
    """What is known of a linear form of the integers besides them; `known` as `scaled` says."""

    form: LinearForm
    known: tuple[float, ...]


def scaled(known: Float64, weight: Any) -> Float64:
    """An unbiased estimate times a number: value, variance, sum of fourth powers of Laplace scales, and step.

    All four add up over independent estimates. The scales tell the kurtosis of the error, and the step is that of
    `Deviation`.
    """
    result: Float64 = known * np.array([weight, np.square(weight), np.power(weight, 4), np.abs(weight)])
    return result


def _known(law: NoiseLaw | None, weights: Sequence[float], draws: int) -> tuple[float, ...]:
    """The error of a weighted sum of draws of a law, as `scaled` has it."""
    if law is None:
        return (0.0,) * 4
    squares = [weight * weight for weight in weights]
    variance = draws * float(law.variance) * math.fsum(squares)
    if isinstance(law, DiscreteGaussian):
        return 0.0, variance, 0.0, 0.0
    fourth = draws * float(law.scale) ** 4 * math.fsum(each * each for each in squares)
    return 0.0, variance, fourth, draws * math.fsum(map(abs, weights)) / 2


@dataclass(frozen=True)
class LinearForm:
    """A linear form of measured integers."""

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
        low, high: Between which the exact ratio lies; perhaps infinite.
        sampling: Variance of the numerator less a multiple t of the denominator by which records were sampled, at t.
        shown: The ratio that agrees with others that are shown, where there is one.
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
    shown: float | None = None

    @cached_property
    def size(self) -> float:
        """The denominator, noise included."""
        return self.measured.at(self.denominator)

    @cached_property
    def _top(self) -> float:
        """The numerator, noise included."""
        return self.measured.at(self.numerator)

    @property
    def defined(self) -> bool:
        """Whether there is a ratio: the denominator with its noise is at least 1."""
        return self.size >= FEWEST

    @cached_property
    def ratio(self) -> float:
        """The ratio, moved to where it can lie; NaN where undefined."""
        if not self.defined:
            return math.nan
        return min(max(self._top / self.size, self.low), self.high)

    @property
    def value(self) -> float:
        """The number; NaN where undefined."""
        ratio = self.ratio if self.shown is None or not self.defined else self.shown
        return self.offset + self.unit * ratio

    def deviation(self, ratio: float, *, sampling: bool) -> Deviation:
        """The law of the error of numerator - t denominator, if t is the true ratio."""
        variance = self.sampling(ratio) if sampling and self.sampling is not None else 0.0
        variance += self.reporting(ratio) if self.reporting is not None else 0.0
        form, measured = self.numerator.minus(self.denominator, ratio), self.measured
        if measured.beside:
            return measured.error(form, variance)
        return Deviation.of(measured.law, form.coefficients * measured.draws, variance=variance)

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
                if self.shown is not None:
                    ends = (min(ends[0], self.shown), max(ends[1], self.shown))
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
            distance = abs(self._top - ratio * self.size)
            return self.deviation(ratio, sampling=sampling).contradicts(distance, confidence_level)

        if math.isinf(farthest):
            # the error does not depend on a ratio without bounds, whose denominator is 1
            reach = self.deviation(near, sampling=sampling).reach(confidence_level)
            return near + math.copysign(reach, farthest)
        if contradicted(near) or self.deviation(near, sampling=sampling).standard_error == 0:
            return near
        if not contradicted(farthest):
            return farthest
        root, rounding = self._root(near, farthest, confidence_level, sampling)
        if self.measured.beside and not math.isnan(root):
            return near + math.copysign(root * (1 + rounding), farthest - near)
        start, (within, beyond) = near, self._around_end(near, farthest, root, rounding, contradicted)
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
        root: float,
        rounding: float,
        contradicted: Callable[[float], bool],
    ) -> tuple[float, float]:
        """Two distances from the measured ratio, of one that is not contradicted and one that is, and nearly equal.

        So few of the halvings need to ask, and their result is the same; where none are found, all ask.
        """
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
            place = abs(self._top - ratio * self.size) - law.step
            return math.log(max(law.exceeds(max(place, 0.0)), _HARDLY)) - least

        error = self.deviation(near, sampling=sampling).standard_error
        nearly = _NEARLY + _ROUNDING * abs(self._top) / error
        low, at_low, at_high = 0.0, -least, 0.0
        high = min(error / self.size, most)
        while (at_high := excess(high)) > 0:
            if high == most:
                return math.nan, nearly
            low, at_low, high = high, at_high, min(2 * high, most)
        root, result, stayed = high, at_high, 0
        for _ in range(_SECANTS):
            if abs(result) < nearly:
                break
            root = (low * at_high - high * at_low) / (at_high - at_low)
            result = excess(root)
            # an end that stays twice counts for half (Illinois)
            if result > 0:
                low, at_low, at_high, stayed = root, result, at_high / (2 if stayed > 0 else 1), 1
            else:
                high, at_high, at_low, stayed = root, result, at_low / (2 if stayed < 0 else 1), -1
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
    from ogive.local.oracles import RandomizedResponse, UnaryOracle  # only reports need these

    assert measured.epsilon is not None
    if measured.form == "unary":
        rare = float(UnaryOracle(places_of(measured), measured.epsilon).chance)
        return 0.5 - rare, rare
    size = len(measured.values)
    keep = float(RandomizedResponse(size, measured.epsilon).keep)
    return keep, (1 - keep) / size


def reported_variance(measured: Measured, parts: Sequence[tuple[float, int, float]]) -> float:
    """Variance of a weighted number of records by what owners drew at random, whatever their places are."""
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


# --- The query of stored sums, for a check of their price


def query_of(measured: Measured, domain: Domain) -> CellsQuery | MomentsQuery | None:
    """The query, with its noise; None where there was no noise, or owners answered."""
    cells = Cells(domain)
    if measured.law is None:
        return None
    if measured.form == "cells":
        return CellsQuery(cells, measured.law, measured.bits)
    assert measured.weights is not None
    return MomentsQuery(cells, measured.weights, measured.law, measured.bits)


# --- Readings of tables: numbers and shares of records at some places


def records_of(measured: Measured, places: Sequence[int]) -> LinearForm:
    """The number of records at some places."""
    forms = [records_at(measured, place) for place in places]
    coefficients = tuple(math.fsum(each) for each in zip(*(form.coefficients for form in forms), strict=True))
    return LinearForm(coefficients, math.fsum(form.constant for form in forms))


def _alone(measured: Measured, places: Sequence[int]) -> Measured:
    """Only the counts of some places, which cost readings of them time for each place of a table.

    Where more is known of the sum of all counts, what that leaves for these is known besides.
    """
    result = dataclasses.replace(measured, values=tuple(measured.values[place] for place in places), beside=())
    if not measured.beside:
        return result
    fine, number = 2.0**-measured.bits, len(measured.values) - len(places)
    (whole,) = measured.beside
    _, *errors = np.add(whole.known, np.multiply(number, _known(measured.law, [fine], measured.draws)))
    left = whole.known[0] - fine * (sum(measured.values) - sum(result.values))
    return result.given(result.size, (left, *errors))


def count_reading(measured: Measured, places: Sequence[int]) -> Reading:
    """How many of these records are at some places: noise alone."""
    total = measured.total
    shown = None if measured.shown is None else math.fsum(measured.shown[place] for place in places)
    if measured.form == "cells" and len(measured.beside) < 2:
        measured, places = _alone(measured, places), range(len(places))

    def reporting(count: float) -> float:
        return reported_variance(measured, [(1.0, len(places), min(1.0, count / max(1, total or 1)))])

    return Reading(
        measured,
        records_of(measured, places),
        measured.one,
        low=0.0,
        high=math.inf if total is None else float(total),
        reporting=None if measured.epsilon is None else reporting,
        shown=shown,
    )


def share_reading(
    measured: Measured, places: Sequence[int], among: Sequence[int] | None = None, *, rows_of_one: int
) -> Reading:
    """Which share of the records at some places, or of all records, are at some of these: noise and sampling."""
    shown = shown_share(measured, places, among)
    if len(measured.beside) > 1:
        pass  # of two places
    elif among is not None and measured.form == "cells":
        places = [among.index(place) for place in places]
        measured, among = _alone(measured, among), range(len(among))
    elif among is None and measured.form == "cells" and measured.total is not None:
        measured, places = _alone(measured, places), range(len(places))
    whole = measured.records if among is None else records_of(measured, among)
    size, rest = measured.at(whole), (places_of(measured) if among is None else len(among)) - len(places)

    def reporting(share: float) -> float:
        if among is None:
            return reported_variance(measured, [(1.0, len(places), share)])
        part = min(1.0, max(0.0, size) / max(1, measured.total or 1))
        return reported_variance(measured, [(1 - share, len(places), share * part), (-share, rest, (1 - share) * part)])

    return Reading(
        measured,
        records_of(measured, places),
        whole,
        low=0.0,
        high=1.0,
        sampling=lambda share: rows_of_one * max(0.0, size) * share * (1 - share),
        reporting=None if measured.epsilon is None else reporting,
        shown=shown,
    )


def shown_share(measured: Measured, places: Sequence[int], among: Sequence[int] | None = None) -> float | None:
    """The share that some places have of the counts that are shown; None where these are none."""
    counts = measured.shown
    if counts is None:
        return None
    whole = math.fsum(counts if among is None else (counts[place] for place in among))
    return math.fsum(counts[place] for place in places) / whole if whole > 0 else None
