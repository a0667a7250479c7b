"""Predictions of the paper's models for the halves of its data sets that they have not seen.

The paper trains scikit-learn's logistic regression and states no more; `ogive.demo.data` says what is taken here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ogive.core.arrays import Bool, Float64
from ogive.demo.data import check_learning, design_matrix, fit, halves, read_table
from ogive_papers.ecdf.data_sets import DataSet, stand_in
from ogive_papers.items import Places


@dataclass(frozen=True)
class Evaluation:
    """Predictions for records that a model has not seen.

    Fields:
        probabilities: Predicted probability of being positive, shape (n,).
        positive: Whether each record is positive, shape (n,).
        simulated: Whether there was no data, so that both are a stand-in.
    """

    probabilities: Float64
    positive: Bool
    simulated: bool

    @property
    def columns(self) -> dict[str, Any]:
        """A table with `probability`, `label` (0 or 1), and the paper's `score`: lower for the more likely positive."""
        return {
            "probability": self.probabilities,
            "score": 1.0 - self.probabilities,
            "label": self.positive.astype(np.int64),
        }

    def part(self, rows: int) -> Evaluation:
        """The first rows, which are a random part since rows were divided at random."""
        return Evaluation(self.probabilities[:rows], self.positive[:rows], self.simulated)


@lru_cache(maxsize=4)
def evaluate(data_set: DataSet, places: Places) -> Evaluation:
    """Train on one half and predict the other; a stand-in of that half's size where there is no data.

    Raises:
        DataError: the data cannot be read.
        ParameterError: scikit-learn is missing.
    """
    path = data_set.find(places)
    if path is None:
        probabilities, positive = stand_in(data_set)
        half = data_set.rows // 2
        return Evaluation(probabilities[half:], positive[half:], simulated=True)
    check_learning()
    table, positive = read_table(data_set, path)
    training, evaluation = halves(positive.size)
    features = design_matrix(data_set, table, training)
    return Evaluation(fit(features[training], positive[training], features[evaluation]), positive[evaluation], False)
