"""Predicted errors of strategies with a bias: noise and bias of public shapes."""

from fractions import Fraction

import numpy as np
import pytest

from ogive.privacy import Adjacency, ApproxDP
from ogive.statistics.ecdf.plan import approximate_errors
from ogive.statistics.methods.base import EVERY
from ogive.strategies import design_histogram, design_projection

TAIL = Fraction(1, 20)
GRANT = ApproxDP(1, 1e-6)


def errors(records, groups=16, adjacency=Adjacency.REPLACE):
    strategy = design_histogram(128, privacy=GRANT, adjacency=adjacency, groups=groups)
    return approximate_errors(strategy, records, known=adjacency is Adjacency.REPLACE, tail=TAIL)


def test_with_many_records_the_bias_remains():
    found = errors(10**8)
    curves = EVERY.curves(128)
    edges = np.concatenate(([0], np.arange(8, 129, 8)))
    lines = np.array([np.interp(np.arange(1, 129), edges, np.append(0, curve)[edges]) for curve in curves])
    squared, largest = np.sqrt(np.mean((lines - curves) ** 2, axis=1)), np.abs(lines - curves).max(axis=1)
    for name, bias in (("rmse", squared), ("ks", largest), ("ks_95", largest)):
        assert found[name] == found.spans[name][1] == pytest.approx(bias.max(), rel=1e-2)
        assert found.spans[name][0] == pytest.approx(bias.min(), abs=1e-6)
    places = [EVERY.names.index(name) for name in ("normal", "aside")]
    groups = [np.diff(curves[place][edges[1:] - 1], prepend=0).max() for place in places]
    assert found.spans["band"] == pytest.approx((groups[0] / 2, groups[1] / 2), rel=0.02)


def test_what_it_promises_holds_for_most_records_on_one_value():
    records = np.zeros(128, dtype=np.int64)
    records[0], records[20:100] = 9168, 10
    strategy = design_histogram(128, privacy=GRANT, adjacency=Adjacency.REPLACE, groups=16)
    bias = np.abs(strategy.estimate(strategy.measure(records), 9968) - np.cumsum(records)).max() / 9968
    assert errors(9968).spans["ks"][0] < 0.1 < 0.8 < bias < errors(9968)["ks"]


@pytest.mark.parametrize("adjacency", Adjacency, ids=lambda member: member.value)
def test_with_few_records_the_noise_decides(adjacency):
    few, more = errors(300, adjacency=adjacency), errors(3000, adjacency=adjacency)
    for name in ("rmse", "ks", "ks_95"):
        assert few.spans[name][0] > 3 * more.spans[name][0]
    assert few["rmse"] < few["ks"] < few["ks_95"]
    assert more.spans["band"][0] < few.spans["band"][0] <= 0.5


def test_more_coefficients_say_more():
    rough, fine = (
        approximate_errors(
            design_projection(
                128, privacy=GRANT, adjacency=Adjacency.REPLACE, degree=degree, records=10**6, noise="isotropic"
            ),
            10**6,
            known=True,
            tail=TAIL,
        )
        for degree in (3, 12)
    )
    for name in ("rmse", "ks", "ks_95", "band"):
        assert fine[name] < rough[name]
