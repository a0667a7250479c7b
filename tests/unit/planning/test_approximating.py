"""Predicted errors of strategies with a bias: noise and bias of public shapes."""

from fractions import Fraction

import numpy as np
import pytest

from ogive.planning.approximating import approximate_errors
from ogive.privacy import Adjacency, ApproxDP
from ogive.statistics.predicted import reference_curves
from ogive.strategies import design_histogram, design_projection

TAIL = Fraction(1, 20)
GRANT = ApproxDP(1, 1e-6)


def errors(records, groups=16, adjacency=Adjacency.REPLACE):
    strategy = design_histogram(128, privacy=GRANT, adjacency=adjacency, groups=groups)
    return approximate_errors(strategy, records, known=adjacency is Adjacency.REPLACE, tail=TAIL)


def test_with_many_records_the_bias_remains():
    found = errors(10**8)
    curves = reference_curves(128)
    edges = np.concatenate(([0], np.arange(8, 129, 8)))
    lines = np.array([np.interp(np.arange(1, 129), edges, np.append(0, curve)[edges]) for curve in curves])
    assert found["rmse"] == pytest.approx(np.median(np.sqrt(np.mean((lines - curves) ** 2, axis=1))), rel=1e-2)
    assert found["ks"] == pytest.approx(np.median(np.abs(lines - curves).max(axis=1)), rel=1e-2)
    largest = np.diff(curves[0][edges[1:] - 1], prepend=0).max()  # of the normal's groups
    assert found["band"] == pytest.approx(largest / 2, rel=0.02)


@pytest.mark.parametrize("adjacency", Adjacency, ids=lambda member: member.value)
def test_with_few_records_the_noise_decides(adjacency):
    few, more = errors(300, adjacency=adjacency), errors(3000, adjacency=adjacency)
    for name in ("rmse", "ks", "ks_95"):
        assert few[name] > 3 * more[name]
    assert few["rmse"] < few["ks"] < few["ks_95"]
    assert more["band"] < few["band"] <= 0.5


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
