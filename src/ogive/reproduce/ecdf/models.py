"""Logistic regression on half of a data set, and its predictions for the other half.

The paper trains scikit-learn's logistic regression and states no more. Here: the rows are
divided once by a fixed public seed; numbers are scaled, missing ones replaced by the
training half's median; words and codes become indicators, values seen fewer than `RARE` times in
the training half share one; everything else is scikit-learn's default. Only the half that the model
has not seen is evaluated, and only that half's privacy is protected by what is released of it.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ogive.arrays import Bool, Float64, Int64
from ogive.errors import ParameterError
from ogive.reproduce.ecdf.data_sets import DataSet, read_table, stand_in
from ogive.reproduce.items import Places

if TYPE_CHECKING:
    import pyarrow as pa

SPLIT_SEED = 2023
RARE = 50
"""Values of a categorical feature seen less often are one value."""

MOST_ITERATIONS = 5000


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


def check_learning() -> None:
    """Ask for scikit-learn.

    Raises:
        ParameterError: it is not installed.
    """
    if importlib.util.find_spec("sklearn") is None:
        raise ParameterError("models are trained with scikit-learn, which is not installed; pip install 'ogive[learn]'")


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


def halves(rows: int) -> tuple[Int64, Int64]:
    """Divide rows at random, always in the same way, into those to train on and those to evaluate."""
    order = np.random.default_rng(SPLIT_SEED).permutation(rows)
    return order[: rows // 2], order[rows // 2 :]


def fit(known: Any, classes: Bool, unknown: Any) -> Float64:
    """Probabilities of the positive class for rows of features, from other rows with their classes."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=MOST_ITERATIONS).fit(known, classes)
    predicted: Float64 = model.predict_proba(unknown)[:, 1]
    return predicted


def design_matrix(data_set: DataSet, table: pa.Table, training: Int64) -> Any:
    """Features as a sparse matrix, shape (rows, columns); scales and categories are those of the training rows."""
    import pyarrow as pa
    from scipy import sparse
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers, words = [], []
    for name in table.column_names:
        if name in data_set.left_out:
            continue
        column = table[name]
        if pa.types.is_null(column.type):
            continue
        if name not in data_set.codes and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            numbers.append(column.cast(pa.float64()).to_numpy())
        else:
            words.append(column.cast(pa.string()).fill_null("missing").to_numpy())
    blocks = []
    if numbers:
        array = np.column_stack(numbers)
        array = SimpleImputer(strategy="median").fit(array[training]).transform(array)
        blocks.append(sparse.csr_array(StandardScaler().fit(array[training]).transform(array)))
    if words:
        array = np.column_stack(words)
        encoder = OneHotEncoder(min_frequency=RARE, handle_unknown="infrequent_if_exist")
        blocks.append(sparse.csr_array(encoder.fit(array[training]).transform(array)))
    return sparse.csr_array(sparse.hstack(blocks))
