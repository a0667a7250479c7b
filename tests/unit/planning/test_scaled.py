"""Simulated noise that is scaled from one guarantee to another."""

import numpy as np
import pytest
from helpers.scope import is_everything

from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.queries import CurveQuery
from ogive.releasing.planning import plan
from ogive.statistics import Ecdf, Roc
from ogive.statistics.curve.bands import simulate_maxima
from ogive.statistics.ecdf.plan import noise_maxima
from ogive.statistics.methods.choose import UNBIASED_METHODS, candidates
from ogive.trust.imagined import nodes_for

GRID = Grid.linear(0, 1, bins=8)
GRANTS = [PureDP("0.05"), PureDP("0.3"), PureDP(3), ZeroConcentratedDP("0.01")]
GAUSSIAN = ("sqrt", "symmetric", "ring")
PAIRS = [
    (method, grant) for method in UNBIASED_METHODS for grant in GRANTS if method not in GAUSSIAN or grant == GRANTS[-1]
]


@pytest.mark.each_value
@pytest.mark.parametrize(("method", "grant"), PAIRS)
def test_scaled_errors_are_those_of_the_noise_itself(method, grant):
    strategy = candidates(100, grant, Adjacency.REPLACE, method)[0]
    scaled = noise_maxima(strategy, total_known=True, simulations=4000)
    itself = simulate_maxima(strategy, total_known=True, simulations=4000)
    for name in ("above", "either"):
        one, other = getattr(scaled, name), getattr(itself, name)
        assert one.mean() == pytest.approx(other.mean(), rel=0.025)
        assert np.quantile(one, 0.95) == pytest.approx(np.quantile(other, 0.95), rel=0.05)


def test_a_figure_does_not_depend_on_what_was_planned_before():
    one, other = (candidates(64, PureDP(epsilon), Adjacency.REPLACE, "hat_ls")[0] for epsilon in ("0.1", "0.2"))
    first = noise_maxima(one, total_known=True, simulations=49).either
    noise_maxima(other, total_known=True, simulations=49)
    assert noise_maxima(one, total_known=True, simulations=49).either.tolist() == first.tolist()
    # control: the noise of the other guarantee is half as wide
    assert noise_maxima(other, total_known=True, simulations=49).either.mean() == pytest.approx(
        first.mean() / 2, rel=0.01
    )


@pytest.mark.parametrize("law", [DiscreteLaplace(3), DiscreteGaussian(9), DiscreteGaussian(2)], ids=str)
def test_imagined_noise_follows_the_law(law):
    query = CurveQuery(Binning("x", GRID), candidates(8, PureDP(1), Adjacency.REPLACE, "path")[0])
    drawn = nodes_for(query, 1).values(law, 0, np.arange(200_000))
    assert drawn.var() == pytest.approx(law.variance, rel=0.02)
    assert abs(drawn.mean()) < 5 * (law.variance / 200_000) ** 0.5
    assert (nodes_for(query, 1).values(law, 0, np.arange(9)) == nodes_for(query, 1).values(law, 0, np.arange(9))).all()
    assert (
        nodes_for(query, 2).values(law, 0, np.arange(99)) != nodes_for(query, 1).values(law, 0, np.arange(99))
    ).any()
    assert (
        nodes_for(query, 1).values(law, 1, np.arange(99)) != nodes_for(query, 1).values(law, 0, np.arange(99))
    ).any()


def test_nodes_of_single_points_do_not_depend_on_who_asks_with_them():
    strategy = candidates(8, PureDP(1), Adjacency.REPLACE, "path")[0]
    nodes = nodes_for(CurveQuery(Binning("x", GRID), strategy, (0, 1)), 1)
    law = DiscreteLaplace(20)
    some = nodes.values(law, 0, np.array([5, 0, 1]))
    assert nodes.values(law, 0, np.array([0, 1])).tolist() == some[1:].tolist()


@pytest.mark.parametrize(
    ("statistic", "guarantees"),
    [pytest.param(Ecdf("x", (0, 1), bins=8), 6, marks=pytest.mark.everything), (Roc("s", "y", (0, 1), bins=8), 3)],
    ids=["ecdf", "roc"],
)
def test_fewer_guarantees_are_compared_where_each_takes_simulated_releases(statistic, guarantees):
    made = plan(statistic, records=500, runs=2)
    assert len({row.privacy for row in made.rows}) == guarantees
    grants = GRANTS if is_everything() else GRANTS[::3]
    assert len({row.privacy for row in plan(statistic, records=500, runs=2, privacy=grants).rows}) == len(grants)
