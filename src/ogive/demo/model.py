"""The demonstration's model: trained on half of the customers, evaluated on the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ogive.demo.learning import BANK, check_learning, design_matrix, fit, halves
from ogive.errors import DataError
from ogive.records import Records

if TYPE_CHECKING:
    from ogive.demo.data import Table

DIGITS = 4
"""Decimals of a prediction that are kept: the same on every machine, and the ledger knows the records again."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The customers that a model has not seen.

    Fields:
        columns: Their age, balance, the probability that the model gives them, and their label (1 for yes).
        trained: How many others the model learned from.
    """

    columns: dict[str, NDArray[Any]]
    trained: int

    @cached_property
    def records(self) -> Records:
        """The same as a table."""
        return Records.of(self.columns)


def evaluate(table: Table) -> Evaluation:
    """Train a logistic regression on half of the customers, divided at random, and predict the other half's answers.

    Raises:
        ParameterError: scikit-learn is missing.
        DataError: ages or balances are missing or no numbers, or one half has one answer only.
    """
    check_learning()
    training, evaluation = halves(table.positive.size)
    columns: dict[str, NDArray[Any]] = {}
    for name in ("age", "balance"):
        values = table.features[name].to_numpy()
        if not np.issubdtype(values.dtype, np.number) or np.isnan(values).any():
            raise DataError(f"the demonstration needs a number for every customer in the column {name}")
        columns[name] = values[evaluation]
    if any(len(set(table.positive[half].tolist())) < 2 for half in (training, evaluation)):
        raise DataError("the demonstration needs customers of both answers, yes and no, in the column y")
    matrix = design_matrix(BANK, table.features, training)
    predicted = fit(matrix[training], table.positive[training], matrix[evaluation])
    label = table.positive[evaluation].astype(np.int64)
    return Evaluation({**columns, "probability": np.round(predicted, DIGITS), "label": label}, training.size)
