"""Which noise a curator takes by itself, against simulated errors on shapes that it was not chosen for."""

import dataclasses

import numpy as np
import pytest

import ogive
from ogive.columns import Label
from ogive.kernels import MetricLoss
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PrivacyUnit, PureDP
from ogive.statistics.base import Terms
from ogive.statistics.ustatistic_methods import BY_CURATORS

N = 3_000
RUNS = 25
CITIES = tuple(range(20))
STATISTICS = {
    "gini": (ogive.Ustatistic("x", bounds=(0, 1)), "kernel"),
    "kendall": (ogive.Ustatistic(("x", "y"), "kendall", bounds=(0, 1)), "kernel"),
    "collision": (ogive.Ustatistic("city", "collision_probability", categories=CITIES), "cells"),
}
SHAPES = {
    "skewed": lambda rng: rng.beta(2, 5, N),
    "even": lambda rng: rng.random(N),
    "ends": lambda rng: np.where(rng.random(N) < 0.5, rng.beta(2, 20, N), rng.beta(20, 2, N)),
    "near the lower end": lambda rng: np.minimum(rng.exponential(0.1, N), 1),
    "one frequent value": lambda rng: np.where(rng.random(N) < 0.4, 0.1, rng.random(N)),
}
CLOSE = {
    ("gini", "even"),
    ("gini", "ends"),
    ("collision", "ends"),
    ("collision", "near the lower end"),
    ("collision", "one frequent value"),
}


def error(statistic, table, truth):
    squares = []
    for run in range(RUNS):
        source = KeyedSource.from_seed(run)
        found = ogive.release(statistic, trust=ogive.Central(table), privacy=PureDP(1), source=source)
        squares.append((found.value - truth) ** 2)
    return np.sqrt(np.mean(squares))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", STATISTICS)
def test_the_noise_that_is_taken_is_the_better_one_or_nearly_so(name, shape):
    """25 releases of each: their root mean squares are right within 14 % or so, 22 % of Laplace noise."""
    rng = np.random.default_rng(len(shape))
    x = SHAPES[shape](rng)
    y = np.clip(0.7 * x + 0.3 * rng.random(N), 0, 1)
    table = {"x": x, "y": y, "city": np.minimum((x * 20).astype(int), 19)}
    statistic, expected = STATISTICS[name]
    truth = ogive.release(statistic, trust=ogive.Clear(table)).value
    errors = {way: error(dataclasses.replace(statistic, method=way), table, truth) for way in ("kernel", "cells")}
    taken = ogive.release(statistic, trust=ogive.Central(table), privacy=PureDP(1)).method
    assert taken == expected
    assert errors[taken] < 1.5 * min(errors.values())
    # a control: the other choice would be seen on most shapes
    if (name, shape) not in CLOSE:
        assert max(errors.values()) > 1.6 * errors[taken]


GUARANTEES = (PureDP(1), ogive.ZeroConcentratedDP("0.5"))


@pytest.mark.parametrize("privacy", GUARANTEES)
@pytest.mark.parametrize("records", [100, 10_000])
@pytest.mark.parametrize(
    "statistic",
    [
        ogive.Ustatistic("x", "gini_coefficient", bounds=(0, 1)),
        ogive.Ustatistic("x", bounds=(0, 1)),
        ogive.Ustatistic("x", bounds=(0, 1), bins=64),
        ogive.Ustatistic(("x", "sick"), "auc", bounds=(0, 1), public_labels=False),
        ogive.Ustatistic(("x", Label("sick", (1,), (0,))), MetricLoss([[1]], 1.5, 2), bounds=(0, 1)),
    ],
    ids=["gini coefficient", "gini", "gini of named bins", "auc", "metric loss"],
)
def test_a_curator_rounds_nothing_where_he_need_not(statistic, records, privacy):
    way = statistic.way(terms(records, privacy))
    assert way.name == "kernel"
    cells = dataclasses.replace(statistic, method="cells").way(terms(records, privacy))
    assert cells.rounded
    private = statistic.way(terms(None, privacy, Adjacency.ADD_OR_REMOVE))
    assert private.name == "cells", "where the number of records is private, only counts can be asked"


def test_ways_on_points_compete_by_predicted_error():
    for statistic in (STATISTICS["collision"][0], ogive.Ustatistic("x", bounds=(0, 3), grid="integers")):
        for records, privacy in ((3_000, PureDP(1)), (100, PureDP("0.1"))):
            ways = [dataclasses.replace(statistic, method=name).way(terms(records, privacy)) for name in BY_CURATORS]
            taken = statistic.way(terms(records, privacy))
            assert taken.predicted == min(way.predicted for way in ways)
    assert STATISTICS["collision"][0].way(terms(3_000, PureDP(1))).name == "cells"


def terms(records, privacy, adjacency=Adjacency.REPLACE):
    return Terms(privacy, PrivacyUnit(adjacency), lambda query: None, count=lambda: records)
