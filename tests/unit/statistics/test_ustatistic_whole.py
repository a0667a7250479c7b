"""A grid of integers in a statistic of pairs: whole numbers as they are, and everything else refused."""

import numpy as np
import pytest

import ogive
from ogive import Adjacency, Central, Clear, DataError, Local, PureDP, Ustatistic
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.kernels import measure_of

RNG = np.random.default_rng(3)
SIZE = 400
SCORES = RNG.random(SIZE)
WHOLE = RNG.integers(0, 5, SIZE)
SICK = RNG.integers(0, 2, SIZE)
GRID = Grid.integers(0, 4)
MEASURES = {
    "gini": {},
    "variance": {},
    "collision": {},
    "kendall": {"other": True},
    "kendall_b": {"other": True},
    "auc": {"labels": SICK},
    "of_my_own": {"kernel": measure_of(lambda x, y: abs(x - y) > 1, range=(0, 1), name="far")},
}


def asked(name, values, **options):
    given = dict(MEASURES[name])
    data = (values, WHOLE) if given.pop("other", False) else values
    kernel = given.pop("kernel", name)
    return ogive.ustatistic(data, kernel, bounds=(0, 4), grid="integers", **given, **options)


@pytest.mark.parametrize("trust", [Central, Local, Clear])
@pytest.mark.parametrize("name", MEASURES)
def test_fractions_are_refused_and_whole_numbers_rounded_by_nothing(name, trust):
    privacy = None if trust is Clear else PureDP(4)
    with pytest.raises(DataError, match="has values that are not whole, which a grid of integers does not hold"):
        asked(name, SCORES, trust=trust, privacy=privacy)
    found = asked(name, WHOLE, trust=trust, privacy=privacy)
    exact = asked(name, WHOLE, trust=Clear)
    assert found.quantization == 0
    assert abs(found.value - exact.value) <= 6 * found.randomization_error


def test_noisy_counts_refuse_them_too():
    with pytest.raises(DataError, match="not whole"):
        asked("gini", SCORES, privacy=PureDP(4), adjacency=Adjacency.ADD_OR_REMOVE)


@pytest.mark.parametrize("column", [Binning("x", GRID), Binning("x", GRID, fractions="refuse")])
def test_a_column_that_is_given_whole_is_the_same_column(column):
    named = Ustatistic("x", bounds=(0, 4), grid="integers", outside="clip")
    statistic = Ustatistic(column)
    assert statistic.to_dict() == named.to_dict()
    assert Ustatistic.from_dict(statistic.to_dict()).to_dict() == statistic.to_dict()
    with pytest.raises(DataError, match="not whole"):
        ogive.release(statistic, trust=Central({"x": SCORES}), privacy=PureDP(1))


@pytest.mark.parametrize("trust", [Central, Local, Clear])
def test_a_distribution_function_counts_fractions_at_the_next_whole_number(trust):
    """The control: there a grid of integers holds thresholds, and nothing is refused."""
    privacy = None if trust is Clear else PureDP(50)
    asked = ogive.Ecdf("x", bounds=(0, 4), grid="integers")
    found = ogive.release(asked, trust=trust({"x": 4 * SCORES}), privacy=privacy)
    truth = [np.mean(number >= 4 * SCORES) for number in range(5)]
    assert np.abs(found.evaluate(np.arange(5)) - truth).max() < 0.15
