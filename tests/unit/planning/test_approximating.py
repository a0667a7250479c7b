"""Predicted errors of strategies with a bias: noise and bias of public shapes."""

import numpy as np
import pytest

import ogive
from ogive.privacy import Adjacency, ApproxDP
from ogive.statistics.ecdf.plan import approximate_band
from ogive.statistics.methods.base import EVERY, Shapes, simulated_errors
from ogive.strategies import design_histogram, design_projection

GRANT = ApproxDP(1, 1e-6)
SHAPES = Shapes(EVERY.names, 2)


def histogram(adjacency=Adjacency.REPLACE):
    return design_histogram(128, privacy=GRANT, adjacency=adjacency, groups=16)


def errors(strategy, records, adjacency=Adjacency.REPLACE):
    return simulated_errors(strategy, records, total_known=adjacency is Adjacency.REPLACE, shapes=SHAPES)


def test_with_many_records_the_bias_remains():
    found, curves = errors(histogram(), 10**8), EVERY.curves(128)
    edges = np.concatenate(([0], np.arange(8, 129, 8)))
    lines = np.array([np.interp(np.arange(1, 129), edges, np.append(0, curve)[edges]) for curve in curves])
    squared, largest = np.sqrt(np.mean((lines - curves) ** 2, axis=1)), np.abs(lines - curves).max(axis=1)
    for name, bias in (("rmse", squared), ("ks", largest), ("ks_95", largest)):
        assert getattr(found, name) == pytest.approx(bias, rel=0.02, abs=1e-4)
    places = [EVERY.names.index(name) for name in ("normal", "aside")]
    groups = [np.diff(curves[place][edges[1:] - 1], prepend=0).max() for place in places]
    band = approximate_band(histogram(), 10**8, known=True)
    assert band.spans["band"] == pytest.approx((groups[0] / 2, groups[1] / 2), rel=0.02)


def test_the_largest_error_of_a_plan_is_that_of_records_on_one_value():
    asked = ogive.Ecdf("x", (0, 1), bins=128, method=ogive.HistogramQueries(groups=16))
    row = ogive.plan(asked, privacy=GRANT, records=9968).chosen
    assert row.spans["ks"][0] < 0.05 < row.ks < 0.5 < 0.8 < row.spans["ks"][1]


@pytest.mark.parametrize("adjacency", Adjacency, ids=lambda member: member.value)
def test_with_few_records_the_noise_decides(adjacency):
    strategy, known = histogram(adjacency), adjacency is Adjacency.REPLACE
    few, more = (errors(strategy, records, adjacency) for records in (300, 3000))
    for name in ("rmse", "ks", "ks_95"):
        assert min(getattr(few, name)) > 3 * min(getattr(more, name))
    few, more = (approximate_band(strategy, records, known=known) for records in (300, 3000))
    assert more.spans["band"][0] < few.spans["band"][0] <= 0.5


def test_more_coefficients_say_more():
    rough, fine = (
        design_projection(
            128, privacy=GRANT, adjacency=Adjacency.REPLACE, degree=degree, records=10**6, noise="isotropic"
        )
        for degree in (3, 12)
    )
    less, more = errors(rough, 10**6), errors(fine, 10**6)
    for name in ("rmse", "ks", "ks_95"):
        assert max(getattr(more, name)) < max(getattr(less, name))
    assert approximate_band(fine, 10**6, known=True)["band"] < approximate_band(rough, 10**6, known=True)["band"]
