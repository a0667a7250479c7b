"""Whole numbers, and nothing else, where an owner is asked for them."""

import json
from importlib.resources import files

import jsonschema
import numpy as np
import pytest

from ogive import DataError, Grid, ParameterError, PureDP
from ogive.columns import Binning, Domain
from ogive.local import Description, RandomizedResponse, Randomizer
from ogive.local.values import numbers_of

SCHEMA = json.loads((files("ogive") / "schemas" / "local-1.schema.json").read_text())
GRID = Grid.integers(1, 5)
STARS = Binning("stars", GRID, "low", "clip", "refuse")


def described(column):
    return Description(
        domain=Domain((column,)), oracle=RandomizedResponse(5, 1), privacy=PureDP(1), participants=10, id="0" * 32
    )


@pytest.mark.parametrize("value", [2.424242, "2.424242", np.float64(2.424242), -2.424242])
def test_a_fraction_is_refused_on_the_device_and_not_quoted(value):
    with pytest.raises(DataError) as caught:
        Randomizer(described(STARS)).report({"stars": value}, number=1)
    assert str(caught.value) == "column 'stars' has a value that is not whole; only whole numbers are asked"
    numbers_of(Binning("stars", GRID), [value])  # the control: a distribution function counts it


def test_whole_infinite_and_missing_values_are_no_fractions():
    found = numbers_of(STARS, [3, 3.0, "4", True, float("inf"), -1e300, None])
    assert found.tolist() == [3, 3, 4, 1, 5, 1, 1]


def test_a_description_says_so_and_reads_it_again():
    study = described(STARS)
    assert "counted at the lower bound, fractions are not accepted" in study.words
    assert "fraction" not in described(Binning("stars", GRID)).words
    jsonschema.validate(study.to_dict(), SCHEMA)
    again = Description.from_json(study.to_json())
    assert again == study
    assert again.domain.columns[0].fractions == "refuse"
    assert study.digest != described(Binning("stars", GRID, "low")).digest
    assert "fractions" not in described(Binning("stars", GRID)).to_json()  # left out where nothing is refused


@pytest.mark.parametrize(
    ("grid", "fractions", "message"),
    [
        (GRID, "down", "fractions must be up or refuse, got 'down'"),
        (Grid.linear(0, 1, bins=2), "refuse", "only a grid of integers can refuse fractions"),
    ],
)
def test_other_policies_and_grids_are_refused(grid, fractions, message):
    with pytest.raises(ParameterError, match=message):
        Binning("stars", grid, fractions=fractions)
