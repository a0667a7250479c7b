"""The gradient of a ranking loss from reports: every owner sends one vector with noise, and nobody sees a record.

Owners are divided at random into as many groups as there are steps, and those of a group report in its step, once. At
the step's public weights a record of features x and label y has a cell: its label and one of K intervals of scores. The
report has a part (R, x) for the cell of its record and zeros for all other cells, R being the norm bound; all is
multiplied by 2^10, and every number gets noise. Two such vectors are at most 2^11 R apart in Euclidean norm, which is
what the noise hides.

A group's reports add up to estimates of N[y, k], how many records are in a cell, and of M[y, k], the sum of their
features. The gradient is a polynomial of these,

    sum over pairs of phi = sum over k, l of t[k - l] (N[1, k] M[0, l] - N[0, l] M[1, k]),

with phi and the table t of `gradient`, but scores rounded to intervals. Each product has two factors whose noise is
independent, so the estimate has no bias.

With one step all weights are 0 and so is every score: one interval is enough, and the gradient is half the difference
of the classes' means.

Source:
    Bell, Bellet, Gascon and Kulkarni 2020, equation 8; products of noisy counts by cell as in its section 4. Proof:
    `docs/proofs/gradients.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ogive.accounting import discrete_loss
from ogive.arrays import Float64, Int64
from ogive.errors import DataError
from ogive.noise import DiscreteGaussian, KeyedSource
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, GaussianDP, Privacy
from ogive.queries import base
from ogive.ranking.gradient import SLOPE_BITS, STEP_BITS, STEPS_OF_SCORES, WEIGHT_BITS, gaussian_noise, slopes
from ogive.ranking.rows import FEATURE_BITS, MOST_RECORDS
from ogive.strategies.base import Level

INTERVALS = 4
"""Intervals of scores where there is more than one step."""

INTERVAL_BITS = 1
"""An interval of scores is 2 wide; the outermost ones go on without end."""

REPORT_BITS = 10
"""Fractional bits that reports have more than records, so that discrete noise is as good as continuous noise."""

_ORDER_SEED = 0x6F67697665
_CHUNK = 1 << 21


@dataclass(frozen=True)
class ReportsQuery:
    """What the owners of one group report at public weights; answers have shape (2 intervals, features + 1).

    Fields:
        features: How many there are.
        radius: Bound of every record's norm, in units of 2^-12.
        weights: Where the gradient is taken, multiples of 2^-16.
        step: Number of this step, and of the group that reports, from 0.
        steps: Number of all steps.
        law: Noise of every number of a report.
    """

    features: int
    radius: int
    weights: tuple[int, ...]
    step: int
    steps: int
    law: DiscreteGaussian

    @property
    def intervals(self) -> int:
        """Intervals of scores."""
        return intervals(self.steps)

    def digest(self, rows: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of the rows, weights, step and noise; as secret as the data."""
        public = {
            "features": self.features,
            "radius": self.radius,
            "weights": list(self.weights),
            "step": self.step,
            "steps": self.steps,
            "law": self.law.to_dict(),
            "adjacency": adjacency.value,
        }
        return base.digest("reported gradient", public, rows)

    def cells(self, rows: Int64) -> Int64:
        """The cell of every record, first those of negative records, shape (n,)."""
        shift = FEATURE_BITS + WEIGHT_BITS + INTERVAL_BITS
        scores = (rows[:, :-1] @ np.array(self.weights, dtype=np.int64)) >> shift
        found = np.clip(scores + self.intervals // 2, 0, self.intervals - 1)
        return np.asarray(rows[:, -1] * self.intervals + found)

    def vectors(self, rows: Int64) -> Int64:
        """What records would report without noise, over 2^10, shape (n, 2 intervals, features + 1)."""
        found = np.zeros((len(rows), 2 * self.intervals, self.features + 1), dtype=np.int64)
        cells = self.cells(rows)
        found[np.arange(len(rows)), cells, 0] = self.radius
        found[np.arange(len(rows)), cells, 1:] = rows[:, :-1]
        return found

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
        numbers = 2 * self.intervals * (self.features + 1)
        most = max(1, _CHUNK // numbers)
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
        table, shift, found = slopes(), STEP_BITS + INTERVAL_BITS, np.zeros(self.features, dtype=object)
        for positive in range(self.intervals):
            for negative in range(self.intervals):
                slope = int(table[STEPS_OF_SCORES - 1 + ((positive - negative) << shift)])
                ones = self.intervals + positive
                found += slope * (counts[ones] * sums[negative] - counts[negative] * sums[ones])
        size = len(range(self.step, records, self.steps))
        unit = self.radius * (size * (size - 1) // 2) << (SLOPE_BITS + FEATURE_BITS + 2 * REPORT_BITS)
        # quotients of whole numbers are rounded once, the same on every machine
        return np.array([int(each) / unit for each in found])


def intervals(steps: int) -> int:
    """How many intervals of scores reports of so many steps have."""
    return 1 if steps == 1 else INTERVALS


@lru_cache(maxsize=1)
def order(records: int) -> Int64:
    """A public random order of so many records, by which they are divided into groups."""
    words = KeyedSource.from_seed(_ORDER_SEED).words(records)
    found = np.argsort(words, kind="stable")
    found.flags.writeable = False
    return found


def report_loss(law: DiscreteGaussian, features: int, radius: int, steps: int) -> GaussianDP:
    """Privacy loss of one report, which is all that its owner sends."""
    return discrete_loss(Fraction(_apart_squared(radius)), law.sigma, _numbers(features, steps))


def report_noise(privacy: Privacy, features: int, radius: int, steps: int) -> DiscreteGaussian:
    """The least noise with which a report meets a guarantee.

    Raises:
        ParameterError: the guarantee is pure, or asks for finer noise than integers can have.
        ScaleError: the noise is larger than can be drawn.
    """
    return gaussian_noise(privacy, _apart_squared(radius), _numbers(features, steps))


def _apart_squared(radius: int) -> int:
    """The largest squared distance of two reports before noise."""
    return (2 * radius << REPORT_BITS) ** 2


def _numbers(features: int, steps: int) -> int:
    """How many numbers a report has."""
    return 2 * intervals(steps) * (features + 1)
