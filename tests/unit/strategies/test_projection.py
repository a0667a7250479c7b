"""Curves by projection: estimates against quadrature, loss, plain data, refusals."""

from fractions import Fraction

import numpy as np
import pytest

from ogive.accounting import covers
from ogive.errors import ParameterError
from ogive.privacy import Adjacency, ApproxDP, ZeroConcentratedDP
from ogive.strategies import Approximating, design_projection, strategy_from_dict

REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE
GRANTS = [ApproxDP("0.1", "1e-6"), ApproxDP(2, "1e-9"), ZeroConcentratedDP("0.2")]


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("noise", ["shaped", "isotropic"])
@pytest.mark.parametrize("privacy", GRANTS, ids=str)
def test_designs_spend_what_is_granted_and_hardly_less(adjacency, noise, privacy):
    strategy = design_projection(64, privacy=privacy, adjacency=adjacency, noise=noise, degree=6)
    assert isinstance(strategy, Approximating)
    assert strategy_from_dict(strategy.to_dict()) == strategy
    assert covers(privacy, strategy.loss(adjacency))
    less = type(privacy)(*(value * Fraction(9999, 10000) for value in vars(privacy).values()))
    assert not covers(less, strategy.loss(adjacency))
    with pytest.raises(ParameterError, match="is designed for"):
        strategy.loss(REPLACE if adjacency is ADD else ADD)
