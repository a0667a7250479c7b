"""Functions and losses of somebody's own, released: what is not known of them is in the stated errors."""

import numpy as np
import pytest

import ogive
from ogive.kernels import ClusteringLoss, measure_of
from ogive.noise import KeyedSource
from ogive.trust import Central, Local

ROWS = np.random.default_rng(4).integers(0, 8, 300).astype(float)
PEAK = measure_of(lambda x, y: float({x, y} == {3.0, 5.0}), range=(0, 1), name="3 and 5")
SAME = measure_of(lambda x, y: float(x == y), range=(0, 1), name="same")


@pytest.mark.each_value
@pytest.mark.parametrize("measure", [PEAK, SAME], ids=lambda measure: measure.name)
@pytest.mark.parametrize(
    ("trust", "method"),
    [
        (Central, "auto"),
        pytest.param(Central, "cells", marks=pytest.mark.everything),
        (Local, "auto"),
        pytest.param(Local, "krr", marks=pytest.mark.everything),
        (Local, "haar"),
    ],
)
def test_intervals_hold_the_value_of_functions_whose_peaks_no_point_hits(measure, trust, method):
    exact = measure.exact(ROWS[:, None])
    assert exact > 0.02
    found = ogive.ustatistic(
        ROWS, measure, bounds=(0, 8), privacy=ogive.PureDP(1), trust=trust, method=method, source=KeyedSource(bytes(32))
    )
    low, high = found.interval(0.95)
    assert low <= exact <= high
    assert found.quantization >= 0.5 or found.method == "kernel"


@pytest.mark.each_value
@pytest.mark.parametrize("centers", [((2.0,), (7.0,)), ((1.0, 1.0), (5.0, 6.0), (9.0, 2.0))], ids=["line", "plane"])
@pytest.mark.parametrize(("trust", "method"), [(Central, "auto"), (Central, "cells"), (Local, "auto"), (Local, "krr")])
def test_clusters_of_several_centers_are_released_in_every_way(centers, trust, method):
    rows = np.random.default_rng(1).uniform(0, 10, (500, len(centers[0])))
    loss = ClusteringLoss(centers, 5.0)
    found = ogive.ustatistic(
        rows, loss, bounds=(0, 10), privacy=ogive.PureDP(1), trust=trust, method=method, source=KeyedSource(bytes(32))
    )
    low, high = found.interval(0.999)
    assert low <= loss.exact(rows) <= high
