"""What a strategy that approximates has measured stays with its curve."""

import dataclasses

import numpy as np
import pytest

from ogive.columns.grids import Grid
from ogive.errors import DataError, ParameterError
from ogive.statistics.curve.estimate import Curve
from tests.helpers.curves import exact_curve, noisy_curve

GRID = Grid.linear(0, 1, bins=8)
CURVE = dataclasses.replace(noisy_curve([0.1, 0.5, 0.9], GRID), measured=np.array([3, -2, 1 << 55]))


def test_measurements_survive_json_exactly():
    again = Curve.from_json(CURVE.to_json())
    assert again == CURVE
    assert again.measured is not None
    assert again.measured.tolist() == [3, -2, 1 << 55]
    assert again != dataclasses.replace(CURVE, measured=np.array([3, -2, 1]))


def test_curves_without_measurements_store_none():
    assert "measured" not in noisy_curve([0.1], GRID).to_dict()


@pytest.mark.parametrize("values", [[0.5], [[1]], []], ids=["fractions", "two dimensions", "nothing"])
def test_refuses_what_no_strategy_measures(values):
    with pytest.raises(ParameterError, match="whole numbers"):
        dataclasses.replace(CURVE, measured=np.array(values))


def test_refuses_measurements_of_exact_curves():
    with pytest.raises(ParameterError, match="noisy strategy"):
        dataclasses.replace(exact_curve([0.1], GRID), measured=np.array([1]))


@pytest.mark.parametrize(
    "values", [[], [0.5], "no", [1 << 70], [0] * 1000], ids=["empty", "half", "text", "big", "long"]
)
def test_refuses_stored_measurements_that_cannot_be(values):
    with pytest.raises(DataError, match="measured"):
        Curve.from_dict({**CURVE.to_dict(), "measured": values})
