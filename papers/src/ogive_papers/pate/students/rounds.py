"""Two rounds of labels at the price of one: Confident-GNMax, then Interactive-GNMax with the student of the first.

The parameters follow from the row of Table 1 and from the paper's two rounds on Glyph (Section 5.3), before any of the
numbers was seen. Both rounds have the threshold of the row. The second has 4/3 of the first's noise in its checks and
twice its noise in answers, as 2000 is to 1500 and 200 to 100. Both cost about the same, which the paper found best: the
first round asks half of the row's queries and gives half of its answers. The second asks as many others as the row, and
its cap on answers is the largest at which both rounds together cost no more than the row does, whatever the votes. The
paper does not say how confident its student must be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.pate.aggregators import ConfidentGNMax, InteractiveGNMax
from ogive.pate.costs.answers import epsilon_of_rdp
from ogive.pate.costs.cost import gaussian_epsilon, gaussian_loss, independent_rdp, privacy_cost
from ogive.privacy import GaussianDP
from ogive_papers.items import Numbers
from ogive_papers.pate.prices import INDEPENDENT, JOINT, PAPER
from ogive_papers.pate.printed import PriceRow

CONFIDENCE = Fraction(95, 100)
"""Above this probability the student's own label is taken where the check of the second round is not passed."""


@dataclass(frozen=True)
class Rounds:
    """Two rounds, and the one round that they are compared with.

    Fields:
        row: One round of Confident-GNMax.
        first: Of the first round.
        second: Of the second round.
        asked: Queries of both rounds, each the next ones in their order.
        caps: Answers of both rounds after which they end.
    """

    row: PriceRow
    first: ConfidentGNMax
    second: InteractiveGNMax
    asked: tuple[int, int]
    caps: tuple[int, int]

    @property
    def epsilon(self) -> float:
        """What both rounds cost together, whatever the votes."""
        return gaussian_epsilon(GaussianDP(self.squared), self.row.delta)

    @property
    def price(self) -> float:
        """What the one round costs, whatever the votes."""
        assert isinstance(self.row.aggregator, ConfidentGNMax)
        return gaussian_epsilon(GaussianDP(_squared(self.row.aggregator, self.row.asked, self.row.cap)), self.row.delta)

    @property
    def squared(self) -> Fraction:
        """Squared shift of the Gaussian that both rounds are, whatever the votes."""
        (asked, more), (cap, last) = self.asked, self.caps
        return _squared(self.first, asked, cap) + _squared(self.second, more, last)


def halves(row: PriceRow) -> Rounds:
    """Two rounds at the price of a row; see the module."""
    first = row.aggregator
    assert isinstance(first, ConfidentGNMax)
    second = InteractiveGNMax(first.threshold, first.sigma_1 * 4 / 3, first.sigma_2 * 2, CONFIDENCE)
    asked, cap = (row.asked // 2, row.asked), row.cap // 2
    left = _squared(first, row.asked, row.cap) - _squared(first, asked[0], cap) - _squared(second, asked[1], 0)
    return Rounds(row, first, second, asked, (cap, min(asked[1], math.floor(left * second.sigma_2**2 / 2))))


def _squared(aggregator: ConfidentGNMax | InteractiveGNMax, checks: int, answers: int) -> Fraction:
    loss = gaussian_loss(
        checks=checks, sigma_1=aggregator.sigma_1, answers=answers, sigma_2=aggregator.sigma_2, classes=2
    )
    return loss.mu_squared


def costs(rounds: Rounds, votes: Int64, probabilities: Float64) -> Numbers:
    """Epsilon of both rounds: by the paper's accounting, at the votes held, and whatever they are.

    At the votes held the first round has its joint cost. The second is asked by a student who follows from the first
    round's answers, so that costs that depend on votes do not add up; it has the cost that no vote enters, which does.
    The paper adds its expected costs all the same.

    Args:
        rounds: Which.
        votes: On the queries of both, shape (queries, classes).
        probabilities: Of the student of the first round on the queries of the second, shape (queries, classes).
    """
    first, delta = rounds.asked[0], rounds.row.delta
    expected = [
        privacy_cost(votes[:first], rounds.first, target_delta=delta, mode="expected"),
        privacy_cost(votes[first:], rounds.second, target_delta=delta, mode="expected", probabilities=probabilities),
    ]
    joint = privacy_cost(votes[:first], rounds.first, target_delta=delta, mode="joint")
    orders = np.array(joint.orders)
    second = independent_rdp(
        orders, checks=rounds.asked[1], sigma_1=float(rounds.second.sigma_1), answers=rounds.caps[1],
        sigma_2=float(rounds.second.sigma_2),
    )  # fmt: skip
    by_paper = np.array(expected[0].rdp) + np.array(expected[1].rdp)
    return {
        PAPER: epsilon_of_rdp(by_paper, orders, target_delta=delta, rule="paper").value,
        JOINT: epsilon_of_rdp(np.array(joint.rdp) + second, orders, target_delta=delta).value,
        INDEPENDENT: rounds.epsilon,
    }
