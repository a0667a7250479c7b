"""Which of several public candidates is best for the records: the place of a noisy maximum.

Every candidate's integer score gets integer noise of its own, geometric and one-sided, and only the number of the
candidate that then leads is told. With scores that move by at most d between adjacent data sets and noise
P(k) proportional to exp(-k / scale) that costs exactly

    epsilon = 2 d / scale,   or d / scale where all scores move in one direction.

Scores and noise are multiplied by 2^bits, so that ties, which the lowest number wins, hardly happen. In the
limit this is permute-and-flip (McKenna and Sheldon 2020; Ding et al. 2021), which is never worse than the
exponential mechanism of the same epsilon. The proof is in the manual, under selection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ogive.accounting import as_concentrated, group_loss
from ogive.arrays import Int64
from ogive.checks import whole
from ogive.columns import Binning
from ogive.errors import DataError
from ogive.noise import Geometric, round_up_scale
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, Loss, PrivacyUnit, PureDP
from ogive.queries import base
from ogive.queries.scores import Score
from ogive.strategies.base import Level

RESOLUTION_BITS = 10
MAX_BITS = 20


@dataclass(frozen=True)
class NoisyMaxQuery(base.CuratorQuery):
    """The candidate with the largest noisy score; the answer has shape (1,) and holds its number.

    It is not linear: only who sees all records can answer it.

    Fields:
        binning: How a record is mapped to a bin.
        score: Candidates, and how good each is for a histogram.
        law: Noise of each score times 2^bits.
        bits: Fractional bits of the comparison.
        concentrated: Whether the price is stated in zCDP, where several of them add up to less, and not as a pure
            epsilon.
    """

    selects: ClassVar[bool] = True
    binning: Binning
    score: Score
    law: Geometric
    bits: int = RESOLUTION_BITS
    concentrated: bool = False

    def __post_init__(self) -> None:
        whole(self.bits, "bits", 0, MAX_BITS)

    @property
    def method(self) -> str:
        """Name of the mechanism, or of what the score selects."""
        return str(getattr(self.score, "method", "noisy_max"))

    @property
    def aggregate(self) -> Binning:
        """Records per bin."""
        return self.binning

    @property
    def levels(self) -> tuple[Level, ...]:
        """One noise variable a candidate."""
        return (Level(self.score.candidates, self.law),)

    def price(self, unit: PrivacyUnit) -> Loss:
        """Exact privacy loss of telling which candidate leads.

        Raises:
            ParameterError: missing values are dropped although the adjacency makes the number of records public.
        """
        base.check_missing(self.binning, unit.adjacency)
        sides = 1 if self.score.monotone(unit.adjacency) else 2
        epsilon = sides * self.score.sensitivity(unit.adjacency) * 2**self.bits / self.law.scale
        return stated(PureDP(epsilon), unit, concentrated=self.concentrated)

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of binned data, binning, candidates, noise and adjacency; as secret as the data."""
        public = {
            "binning": self.binning.to_dict(),
            "score": self.score.to_dict(),
            "law": self.law.to_dict(),
            "bits": self.bits,
            "adjacency": adjacency.value,
        }
        return base.digest("noisy maximum", public, sums)

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """Number of the leading candidate, the lowest where several lead; shape (1,).

        Raises:
            DataError: there are so many records that the scores would not fit.
        """
        scores = self.score.scores(sums)
        if int(np.abs(scores).max()) >= 1 << (61 - self.bits):
            raise DataError(f"scores of so many records do not fit with {self.bits} fractional bits")
        if nodes is not None:
            scores = (scores << self.bits) + base.draw(nodes, self.levels)[0]
        return np.array([np.argmax(scores)], dtype=np.int64)


def stated(loss: PureDP, unit: PrivacyUnit, *, concentrated: bool) -> Loss:
    """The loss of one row as that of a person's rows, as a pure epsilon or in zCDP."""
    whole = group_loss(loss, unit.max_rows_per_person)
    return as_concentrated(whole) if concentrated else whole


def design_noisy_max(
    binning: Binning,
    score: Score,
    *,
    privacy: PureDP,
    unit: PrivacyUnit,
    bits: int = RESOLUTION_BITS,
    concentrated: bool = False,
) -> NoisyMaxQuery:
    """The query that costs at most a pure epsilon, exactly that where its noise needs no rounding.

    Args:
        binning: How a record is mapped to a bin.
        score: Candidates, and how good each is for a histogram.
        privacy: What the answer may cost.
        unit: Privacy unit of the guarantee.
        bits: Fractional bits of the comparison, 0 to 20.
        concentrated: Whether the price is stated in zCDP.

    Raises:
        ScaleError: more noise would be needed than can be drawn.
        ParameterError: bits is out of range.
    """
    sides = 1 if score.monotone(unit.adjacency) else 2
    moved = sides * score.sensitivity(unit.adjacency) * unit.max_rows_per_person
    law = Geometric(round_up_scale(moved * 2**bits / privacy.epsilon))
    return NoisyMaxQuery(binning, score, law, bits, concentrated)
