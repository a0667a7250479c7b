"""Released labels: what teachers answered, and the noisy votes behind it where these were opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ogive.arrays import Bool, Float64, Int64
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.provenance import Provenance
from ogive.queries import Ballots
from ogive.statistics.base import Estimate


@dataclass(frozen=True, eq=False, repr=False)
class LabelsEstimate(Estimate):
    """Labels of public inputs.

    Fields:
        aggregator: Name and parameters of what turned votes into labels, as plain data.
        ballots: The queries, and how many classes there are.
        labels: The class of every query, -1 where there is none, shape (queries,).
        taught: Whether teachers were the ones to answer, shape (queries,); other labels are the student's own.
        asked: How many queries were looked at before the run ended.
        opened: Noisy votes times 2^bits, shape (queries, classes); None where nothing but labels was opened.
        bits: Fractional bits of those.
        law: Noise of each of them; None where there is none, or they were not opened.
        total: The number of teachers where it is public, else None.
        provenance: Origin of the release: statistic, price and trust model.
    """

    schema: ClassVar[str] = "ogive.labels/1"

    aggregator: dict[str, Any]
    ballots: Ballots
    labels: Int64
    taught: Bool
    asked: int
    opened: Int64 | None
    bits: int
    law: DiscreteGaussian | DiscreteLaplace | None
    total: int | None
    provenance: Provenance | None = None

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, LabelsEstimate) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.ballots, self.labels.tobytes()))

    @property
    def answered(self) -> int:
        """How many queries teachers answered."""
        return int(self.taught.sum())

    @property
    def votes(self) -> Float64 | None:
        """Noisy votes, shape (queries, classes), which cost nothing more: soft labels; None where not opened."""
        return None if self.opened is None else np.ldexp(self.opened.astype(np.float64), -self.bits)

    @property
    def margins(self) -> Float64 | None:
        """The largest noisy count of every query less its second largest, shape (queries,); None where not opened."""
        votes = self.votes
        if votes is None:
            return None
        top = np.partition(votes, -2, axis=1)
        return np.asarray(top[:, -1] - top[:, -2])

    @property
    def classes(self) -> int:
        """Number of classes."""
        return self.ballots.classes

    @property
    def private(self) -> bool:
        """Whether noise was added."""
        return self.provenance is None or self.provenance.private

    @property
    def caption(self) -> str:
        """The guarantee in a clause, or "not private"."""
        return "private" if self.provenance is None else str(self.provenance)

    def errors(self, truth: LabelsEstimate) -> dict[str, float]:
        """Distances from the labels of the exact votes.

        Returns:
            wrong: Share of the queries that both label in which they differ; 0 where there are none.
            answered: By how much the shares of queries that teachers answered differ.
        """
        both = (self.labels >= 0) & (truth.labels >= 0)
        differ = (self.labels != truth.labels)[both]
        answered = abs(self.answered - truth.answered) / len(self.labels)
        return {"wrong": float(differ.mean()) if differ.size else 0.0, "answered": answered}
