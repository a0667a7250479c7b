"""Descent on a ranking loss by noisy gradients, all paid for at once before the first is taken.

Each step goes against the noisy gradient g_t, in units of the length of all gradients so far:

    w_(t+1) = w_t - rate / R  g_t / sqrt(|g_1|^2 + ... + |g_t|^2),

and the weights are the mean of the second half of the steps. All of this is made of released numbers and public ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.accounting import covers, filled, in_terms_of, total_loss
from ogive.arrays import Float64, Int64
from ogive.errors import BudgetError, LedgerError
from ogive.ledger import Account
from ogive.noise import DiscreteGaussian
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, Privacy
from ogive.ranking.gradient import (
    LARGEST_WEIGHT,
    WEIGHT_BITS,
    GradientQuery,
    gradient_loss,
    gradient_noise,
)
from ogive.ranking.reports import REPORT_BITS, ReportsQuery, intervals, report_loss, report_noise
from ogive.ranking.rows import FEATURE_BITS, Ball, HeldRows
from ogive.releasing import Payment, unit_of

NAME = "pairwise_ranker"
"""Of this release in a ledger."""

SCHEMA = "ogive.ranker/1"


@dataclass(frozen=True)
class Descent:
    """How a descent goes, from public numbers alone.

    Fields:
        ball: How records become whole numbers.
        steps: Number of gradients.
        rate: Length of the first step times the norm bound.
    """

    ball: Ball
    steps: int
    rate: float

    @property
    def features(self) -> int:
        """Number of features."""
        return len(self.ball.bounds)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "bounds": [list(pair) for pair in self.ball.bounds],
            "norm": self.ball.norm,
            "steps": self.steps,
            "rate": self.rate,
        }

    def query(self, weights: Float64, step: int, law: DiscreteGaussian) -> GradientQuery | ReportsQuery:
        """What is asked in a step."""
        return GradientQuery(self.features, self.ball.radius, tuple(on_lattice(weights).tolist()), step, law)

    def run(self, answered: Callable[[Float64, int], Float64]) -> Float64:
        """The weights, shape (features,).

        Args:
            answered: The gradient at weights in a step.
        """
        weights = np.zeros(self.features)
        reached, squares = [], 0.0
        first = self.rate / (self.ball.radius / (1 << FEATURE_BITS))
        for step in range(self.steps):
            gradient = answered(weights, step)
            # summed in order, so that every machine gets the same
            squares += sum((gradient * gradient).tolist())
            if squares > 0:
                weights = weights - first / squares**0.5 * gradient
            reached.append(weights)
        later = reached[self.steps // 2 :]
        return np.asarray(sum(later[1:], later[0]) / len(later))

    def noise(self, privacy: Privacy) -> DiscreteGaussian:
        """The least noise with which all steps meet a guarantee.

        Raises:
            ParameterError: the guarantee is pure, or asks for finer noise than integers can have.
            ScaleError: the noise is larger than can be drawn.
        """
        return gradient_noise(privacy, self.features, self.steps)

    def price(self, law: DiscreteGaussian) -> GaussianDP:
        """Privacy loss of all steps."""
        return total_loss([gradient_loss(law, self.features)] * self.steps)

    def deviation(self, law: DiscreteGaussian, records: int) -> float:
        """Standard deviation of the noise of every coordinate of a gradient, features in [-1, 1]."""
        one = self.query(np.zeros(self.features), 0, law).gradient(np.ones(1, dtype=np.int64), records)
        return float(law.sigma) * float(one[0])


class ReportedDescent(Descent):
    """A descent of which every owner takes part in one step, by one report."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return super().to_dict() | {"intervals": intervals(self.steps)}

    def query(self, weights: Float64, step: int, law: DiscreteGaussian) -> ReportsQuery:
        """What is reported in a step."""
        lattice = tuple(on_lattice(weights).tolist())
        return ReportsQuery(self.features, self.ball.radius, lattice, step, self.steps, law)

    def noise(self, privacy: Privacy) -> DiscreteGaussian:
        """The least noise with which a report meets a guarantee.

        Raises:
            ParameterError: the guarantee is pure, or asks for finer noise than integers can have.
            ScaleError: the noise is larger than can be drawn.
        """
        return report_noise(privacy, self.features, self.ball.radius, self.steps)

    def price(self, law: DiscreteGaussian) -> GaussianDP:
        """Privacy loss of one report, which is all that its owner sends."""
        return report_loss(law, self.features, self.ball.radius, self.steps)

    def deviation(self, law: DiscreteGaussian, records: int) -> float:
        """Standard deviation of the noise of every number of a report, features in [-1, 1]."""
        return float(law.sigma) / (1 << FEATURE_BITS + REPORT_BITS)


def on_lattice(weights: Float64) -> Int64:
    """Weights as multiples of 2^-16, at most 2^14 in size."""
    whole = np.rint(np.ldexp(weights, WEIGHT_BITS))
    return np.asarray(np.clip(whole, -LARGEST_WEIGHT, LARGEST_WEIGHT)).astype(np.int64)


def exact_descent(descent: Descent, rows: Int64) -> Float64:
    """The weights without any noise; not private."""
    law = DiscreteGaussian(1)  # of which nothing is drawn

    def answered(weights: Float64, step: int) -> Float64:
        query = descent.query(weights, step, law)
        return query.gradient(query.answer(rows, None), len(rows))

    return descent.run(answered)


@dataclass(frozen=True)
class Learnt:
    """Weights that were paid for.

    Fields:
        weights: Of features in [-1, 1].
        price: Privacy loss of all steps.
        noise: Standard deviation of the noise, features in [-1, 1]: of every coordinate of a gradient, or of every
            number of a report.
    """

    weights: Float64
    price: GaussianDP
    noise: float


def private_descent(
    descent: Descent,
    trust: HeldRows,
    privacy: Privacy,
    *,
    ledger: Account | None,
    batch: str | None,
    source: RandomSource,
) -> Learnt:
    """The weights, with noise that is paid for before the first step; from the ledger where they are there.

    Raises:
        BudgetError: the account has too little left.
        LedgerError: the ledger cannot be used, or has another privacy unit.
        ReleaseMismatchError: this was asked of other rows before.
    """
    law, records = descent.noise(privacy), trust.count()
    price, noise = descent.price(law), descent.deviation(law, records)
    if not covers(privacy, price):
        raise BudgetError(f"{NAME} would cost {in_terms_of(privacy, price)}, more than the guarantee {privacy}")
    unit = unit_of(trust, Adjacency.REPLACE, ledger)
    opening = trust.open(Adjacency.REPLACE, source=source)
    asked = {"name": NAME, **descent.to_dict()}
    reservation = None
    if ledger is not None:
        named = ledger.part_name if batch is None else batch
        payment = Payment(ledger, asked, NAME, privacy, unit, trust, batch=named)
        stored = payment.stored()
        if stored is not None:
            return Learnt(read_weights(stored, descent.features), price, noise)
        # what is left of a guarantee with a delta is filled up, as for any release with Gaussian noise
        charge = filled(privacy, price) if isinstance(privacy, ApproxDP) else privacy
        reservation = ledger.reserve(payment.question, statistic=NAME, charge=charge, secret=opening.secret)
        opening = trust.resume(Adjacency.REPLACE, secret=reservation.secret)

    def answered(weights: Float64, step: int) -> Float64:
        query = descent.query(weights, step, law)
        if reservation is not None:
            reservation.bind(step, opening.context(query))
        return query.gradient(opening.answer(query).values, records)

    weights = descent.run(answered)
    if reservation is not None:
        recorded = reservation.record({"schema": SCHEMA, "weights": weights.tolist()})
        weights = read_weights(recorded, descent.features)
    return Learnt(weights, price, noise)


def read_weights(data: Any, features: int) -> Float64:
    """Weights that a ledger recorded.

    Raises:
        LedgerError: they are damaged.
    """
    listed = data.get("weights") if isinstance(data, dict) and data.get("schema") == SCHEMA else None
    if isinstance(listed, list) and len(listed) == features and all(isinstance(each, float) for each in listed):
        weights = np.array(listed)
        if np.isfinite(weights).all():
            return weights
    raise LedgerError("the ledger is damaged: the weights of a ranker cannot be read; restore the ledger from a backup")
