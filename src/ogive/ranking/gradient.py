"""Noisy gradients of a ranking loss over all pairs of records, exact in whole numbers before noise is added.

A curator adds noise to the gradient itself. In the local model owners send reports with noise, from which it follows.

The loss of a pair of a positive record i and a negative record j is ln(1 + e^-m) of the margin m = w.x_i - w.x_j; pairs
of one class have none. Its gradient is -h(m) (x_i - x_j) with h(m) = 1 / (1 + e^m) in [0, 1]. A score is rounded down
to one of 2048 public steps, and h is a public table of whole numbers t in [0, 2^14] over differences of steps, so

    phi(z_i, z_j) = t[b_i - b_j] (x_j - x_i)   for i positive and j negative, and 0 within a class,

is a vector of whole numbers. One record replaced moves the sum S of phi over all pairs by at most (n - 1) A in
Euclidean norm, with A = 2^14 2 R for records in a ball of radius R. Measured is, coordinate by coordinate,

    v = floor(2^20 S / ((n - 1) A) + 1/2),

which one replaced record moves by at most 2^20 + sqrt(d).

The sum needs no loop over pairs: a record's vector is multiplied by the sum of t over all records of the other class,
which follows from the histogram of their steps.

Source:
    Bell, Bellet, Gascon and Kulkarni 2020, equation 8. Proof: `docs/proofs/gradients.md`.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ogive.accounting import discrete_loss
from ogive.core.arrays import Float64, Int64
from ogive.errors import DataError, ParameterError
from ogive.noise import DiscreteGaussian, KeyedSource
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, GaussianDP, Privacy, PureDP
from ogive.queries import base
from ogive.ranking.rows import FEATURE_BITS, MOST_RECORDS
from ogive.strategies.base import Level
from ogive.strategies.counts import BITS, counted_noise

SLOPE_BITS = 14
"""The slope h of the loss is a multiple of 2^-14."""
WEIGHT_BITS = 16
"""Weights are multiples of 2^-16."""
LARGEST_WEIGHT = 1 << (WEIGHT_BITS + 14)
STEP_BITS = 6
"""A step of scores is 2^-6."""
STEPS_OF_SCORES = 1 << 11
"""Steps of scores, which reach from -16 to 16; scores beyond count as the outermost step."""

_SPLIT_BITS = 16


@lru_cache(maxsize=1)
def slopes() -> Int64:
    """2^14 / (1 + e^m), rounded, over the differences -2047 to 2047 of steps."""
    margins = np.arange(1 - STEPS_OF_SCORES, STEPS_OF_SCORES) / (1 << STEP_BITS)
    whole = np.rint((1 << SLOPE_BITS) * np.exp(-np.logaddexp(0.0, margins)))
    return np.asarray(whole).astype(np.int64)


def steps_of_scores(rows: Int64, weights: Int64) -> Int64:
    """The step of every record's score, 0 to 2047, shape (n,); `rows` are features alone."""
    shift = FEATURE_BITS + WEIGHT_BITS - STEP_BITS
    result = ((rows @ weights) >> shift) + STEPS_OF_SCORES // 2
    return np.asarray(np.clip(result, 0, STEPS_OF_SCORES - 1))


def pair_sum(rows: Int64, weights: Int64) -> list[int]:
    """The exact sum of phi over all pairs, one whole number for each feature.

    Args:
        rows: Features and label of every record, shape (n, features + 1).
        weights: Of the score, multiples of 2^-16, shape (features,).
    """
    features, positive = rows[:, :-1], rows[:, -1] == 1
    steps, table = steps_of_scores(features, weights), slopes()
    counts = [np.bincount(steps[each], minlength=STEPS_OF_SCORES) for each in (~positive, positive)]
    # of a positive record at step b: the sum over negative ones at c of t[b - c]; the other way round for negative ones
    inner = slice(STEPS_OF_SCORES - 1, 2 * STEPS_OF_SCORES - 1)
    for_positive = np.convolve(counts[0], table)[inner]
    for_negative = np.convolve(counts[1], table[::-1])[inner]
    times = np.where(positive, -for_positive[steps], for_negative[steps])
    # times < 2^37 and features < 2^17, so that 2^23 records leave 64 bits only in one piece
    high, low = times >> _SPLIT_BITS, times & ((1 << _SPLIT_BITS) - 1)
    return [
        (int(above) << _SPLIT_BITS) + int(below) for above, below in zip(high @ features, low @ features, strict=True)
    ]


@dataclass(frozen=True)
class Step:
    """One step of a descent, at public weights.

    Fields:
        radius: Bound of every record's norm, in units of 2^-12.
        weights: Of the gradient, multiples of 2^-16.
        step: Number of the step, from 0.
    """

    features: int
    radius: int
    weights: tuple[int, ...]
    step: int

    def described(self, law: DiscreteGaussian, adjacency: Adjacency) -> dict[str, Any]:
        """Plain data of the step with its noise, for digests."""
        return {
            "features": self.features,
            "radius": self.radius,
            "weights": list(self.weights),
            "step": self.step,
            "law": law.to_dict(),
            "adjacency": adjacency.value,
        }


@dataclass(frozen=True)
class GradientQuery(Step):
    """A noisy mean gradient over pairs at public weights; answers have shape (features,).

    Fields:
        law: Noise of every coordinate, on the scale where 2^20 is the most that a record changes.
    """

    law: DiscreteGaussian

    @property
    def levels(self) -> tuple[Level, ...]:
        """One noise variable for each feature."""
        return (Level(self.features, self.law),)

    def digest(self, rows: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of the rows, weights, step, noise and the table of slopes; as secret as the data."""
        table = hashlib.sha256(slopes().astype("<i8").tobytes()).hexdigest()
        return base.digest("pairwise gradient", {**self.described(self.law, adjacency), "slopes": table}, rows)

    def answer(self, rows: Int64, nodes: NodeNoise | None) -> Int64:
        """Gradients in units of 2^-20 of the most that one record changes, with noise where there are nodes."""
        if not 2 <= len(rows) <= MOST_RECORDS:
            raise DataError(f"a gradient over pairs needs 2 to {MOST_RECORDS} records, got {len(rows)}")
        most = (len(rows) - 1) * largest_pair(self.radius)
        exact = pair_sum(rows, np.array(self.weights, dtype=np.int64))
        result = np.array([((each << (BITS + 1)) + most) // (2 * most) for each in exact], dtype=np.int64)
        return result if nodes is None else result + base.draw(nodes, self.levels)[0]

    def gradient(self, answer: Int64, records: int) -> Float64:
        """The mean over all pairs of gradients of features in [-1, 1], from an answer, shape (features,)."""
        reach = 2 * 2 * self.radius / (1 << FEATURE_BITS) / records
        return np.asarray(np.ldexp(answer.astype(np.float64), -BITS) * reach)


def largest_pair(radius: int) -> int:
    """The largest norm of phi: A."""
    return (2 * radius) << SLOPE_BITS


def change_squared(features: int) -> int:
    """The largest squared norm by which one replaced record moves v, rounded up."""
    return ((1 << BITS) + math.isqrt(features - 1) + 1) ** 2


def gradient_loss(law: DiscreteGaussian, features: int) -> GaussianDP:
    """Privacy loss of one gradient."""
    return discrete_loss(Fraction(change_squared(features)), law.sigma, features)


def gradient_noise(privacy: Privacy, features: int, steps: int) -> DiscreteGaussian:
    """The least noise with which `steps` gradients together meet a guarantee."""
    return _noise(privacy, steps * change_squared(features), steps * features)


def _noise(privacy: Privacy, change: int, integers: int) -> DiscreteGaussian:
    """The least noise of `integers` integers whose squared changes add up to at most `change`."""
    if isinstance(privacy, PureDP):
        raise ParameterError(
            "gradients get Gaussian noise, which gives no pure guarantee; use `ApproxDP(epsilon, delta)` or "
            "`ZeroConcentratedDP(rho)`",
            parameter="privacy",
        )
    law, _ = counted_noise(privacy, l1=0, l2_squared=change, integers=integers, bits=0)
    assert isinstance(law, DiscreteGaussian), "only a pure guarantee gets Laplace noise"
    return law


def check_adjacency(adjacency: Adjacency) -> None:
    """Refuse a private number of records."""
    if adjacency is Adjacency.ADD_OR_REMOVE:
        raise ParameterError(
            "what one record changes in a mean over pairs depends on the number of records, which `ADD_OR_REMOVE` "
            "keeps private; use `adjacency REPLACE`"
        )


# --- The gradient from reports: every owner sends one vector with noise, and nobody sees a record
#
# Owners are divided at random into as many groups as there are steps, and those of a group report in its step, once. At
# the step's public weights a record of features x and label y has a cell: its label and one of K intervals of scores.
# The report has a part (R, x) for the cell of its record and zeros for all other cells, R being the norm bound; all is
# multiplied by 2^10, and every number gets noise. Two such vectors are at most 2^11 R apart in Euclidean norm, which is
# what the noise hides.
#
# A group's reports add up to estimates of N[y, k], how many records are in a cell, and of M[y, k], the sum of their
# features. The gradient is a polynomial of these,
#
#     sum over pairs of phi = sum over k, l of t[k - l] (N[1, k] M[0, l] - N[0, l] M[1, k]),
#
# with phi and the table t from above, but scores rounded to intervals. Each product has two factors whose noise is
# independent, so the estimate has no bias.
#
# With one step all weights are 0 and so is every score: one interval is enough, and the gradient is half the difference
# of the classes' means.
#
# Source:
#     Bell, Bellet, Gascon and Kulkarni 2020, equation 8; products of noisy counts by cell as in its section 4. Proof:
#     `docs/proofs/gradients.md`.

INTERVALS = 4
"""Intervals of scores where there is more than one step."""
INTERVAL_BITS = 1
"""An interval of scores is 2 wide; the outermost ones go on without end."""
REPORT_BITS = 10
"""Fractional bits that reports have more than records, so that discrete noise is as good as continuous noise."""

_ORDER_SEED = 0x6F67697665
_CHUNK = 1 << 21


@dataclass(frozen=True)
class ReportsQuery(Step):
    """What the owners of the group of a step report at public weights; answers have shape (2 intervals, features + 1).

    Fields:
        steps: Number of all steps.
        law: Noise of every number of a report.
    """

    steps: int
    law: DiscreteGaussian

    @property
    def intervals(self) -> int:
        """Intervals of scores."""
        return intervals(self.steps)

    def digest(self, rows: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of the rows, weights, step and noise; as secret as the data."""
        return base.digest("reported gradient", {**self.described(self.law, adjacency), "steps": self.steps}, rows)

    def cells(self, rows: Int64) -> Int64:
        """The cell of every record, first those of negative records, shape (n,)."""
        shift = FEATURE_BITS + WEIGHT_BITS + INTERVAL_BITS
        scores = (rows[:, :-1] @ np.array(self.weights, dtype=np.int64)) >> shift
        result = np.clip(scores + self.intervals // 2, 0, self.intervals - 1)
        return np.asarray(rows[:, -1] * self.intervals + result)

    def vectors(self, rows: Int64) -> Int64:
        """What records would report without noise, over 2^10, shape (n, 2 intervals, features + 1)."""
        result = np.zeros((len(rows), 2 * self.intervals, self.features + 1), dtype=np.int64)
        cells = self.cells(rows)
        result[np.arange(len(rows)), cells, 0] = self.radius
        result[np.arange(len(rows)), cells, 1:] = rows[:, :-1]
        return result

    def group(self, records: int) -> Int64:
        """Positions of the records whose owners report in this step."""
        return order(records)[self.step :: self.steps]

    def answer(self, rows: Int64, nodes: NodeNoise | None) -> Int64:
        """The sum of the group's reports, with each report's noise where there are nodes.

        Raises:
            DataError: there are fewer than two records for every step, or more than 2^23.
        """
        if not 2 * self.steps <= len(rows) <= MOST_RECORDS:
            raise DataError(
                f"reports of {self.steps} steps need {2 * self.steps} to {MOST_RECORDS} records, got {len(rows)}"
            )
        here = rows[self.group(len(rows))]
        most = max(1, _CHUNK // _numbers(self.features, self.steps))
        total = np.zeros((2 * self.intervals, self.features + 1), dtype=np.int64)
        for start in range(0, len(here), most):
            reports = self.vectors(here[start : start + most]) << REPORT_BITS
            if nodes is not None:
                # a level for each chunk, a node for each number of each report
                (noise,) = base.draw(nodes, (Level(reports.size, self.law),), first=start // most)
                reports += noise.reshape(reports.shape)
            total += reports.sum(axis=0)
        return total

    def gradient(self, answer: Int64, records: int) -> Float64:
        """The mean over all pairs of the group, of features in [-1, 1], from an answer, shape (features,)."""
        exact = answer.astype(object)
        counts, sums = exact[:, 0], exact[:, 1:]
        table, shift, result = slopes(), STEP_BITS + INTERVAL_BITS, np.zeros(self.features, dtype=object)
        for positive in range(self.intervals):
            for negative in range(self.intervals):
                slope = int(table[STEPS_OF_SCORES - 1 + ((positive - negative) << shift)])
                ones = self.intervals + positive
                result += slope * (counts[ones] * sums[negative] - counts[negative] * sums[ones])
        size = len(range(self.step, records, self.steps))
        unit = self.radius * (size * (size - 1) // 2) << (SLOPE_BITS + FEATURE_BITS + 2 * REPORT_BITS)
        # quotients of whole numbers are rounded once, the same on every machine
        return np.array([int(each) / unit for each in result])


def intervals(steps: int) -> int:
    """How many intervals of scores reports of a number of steps have."""
    return 1 if steps == 1 else INTERVALS


@lru_cache(maxsize=1)
def order(records: int) -> Int64:
    """A public random order of this many records, by which they are divided into groups."""
    words = KeyedSource.from_seed(_ORDER_SEED).words(records)
    result = np.argsort(words, kind="stable")
    result.flags.writeable = False
    return result


def report_loss(law: DiscreteGaussian, features: int, radius: int, steps: int) -> GaussianDP:
    """Privacy loss of one report, which is all that its owner sends."""
    return discrete_loss(Fraction(_apart_squared(radius)), law.sigma, _numbers(features, steps))


def report_noise(privacy: Privacy, features: int, radius: int, steps: int) -> DiscreteGaussian:
    """The least noise with which a report meets a guarantee."""
    return _noise(privacy, _apart_squared(radius), _numbers(features, steps))


def _apart_squared(radius: int) -> int:
    """The largest squared distance of two reports before noise."""
    return (2 * radius << REPORT_BITS) ** 2


def _numbers(features: int, steps: int) -> int:
    """How many numbers a report has."""
    return 2 * intervals(steps) * (features + 1)
