"""How labels are planned: by simulation on votes of which most agree and the others are spread evenly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ogive.core.arrays import Int64
from ogive.errors import ParameterError
from ogive.queries import Aggregate, Ballots
from ogive.records.imagined import Shape
from ogive.statistics import prediction

AGREEING = 7
"""Of ten teachers so many vote for one class."""


@dataclass(frozen=True)
class AgreeingTeachers:
    """Votes of which seven in ten are for one class, another one in the next query.

    Fields:
        records: How many teachers are imagined.
    """

    records: int

    words = "an assumed model: seven of ten teachers agree in every query; give `like=` for other votes that are public"

    def sums(self, aggregate: Aggregate) -> Int64:
        """Votes per query and class."""
        if not isinstance(aggregate, Ballots):
            raise ParameterError("teachers have nothing but votes")
        queries, classes = aggregate.shape
        others = self.records - self.records * AGREEING // 10
        counts = np.full(aggregate.shape, others // classes, dtype=np.int64)
        counts[:, : others % classes] += 1
        counts[np.arange(queries), np.arange(queries) % classes] += self.records - others
        return counts


class Prediction(prediction.Prediction):
    """Simulated on votes, since labels have neither scores nor classes of records."""

    metrics: ClassVar[Mapping[str, prediction.Metric]] = {
        "wrong": prediction.Metric("wrong", "share of the labels that are not those of the exact votes, simulated"),
        "answered": prediction.Metric(
            "answered", "by how much the share of queries that get a label differs from that of exact votes, simulated"
        ),
    }

    @classmethod
    def imagined(cls, records: int, assumed: Mapping[str, float]) -> Shape:
        """Votes of which most agree."""
        for name, value in assumed.items():
            raise ParameterError(f"votes have no scores; leave out `{name}={value:g}`, or give votes with `like=`")
        return AgreeingTeachers(records)
