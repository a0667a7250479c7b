"""The ratio of the normal density to the probability below, where both are too small for floats."""

import mpmath
import numpy as np
import pytest
from scipy.special import log_ndtr

from ogive.strategies.density import _FAR_BELOW, _mills


@pytest.mark.parametrize("z", [3.0, 0.0, -5.0, -29.9, -30.0, -30.1, -200.0, -1e4])
def test_the_ratio_is_that_of_arbitrary_precision(z):
    with mpmath.workdps(60):
        expected = float(mpmath.npdf(z) / (mpmath.erfc(-mpmath.mpf(z) / mpmath.sqrt(2)) / 2))
    found = _mills(np.array([z]), np.array([z * z / 2]), log_ndtr(np.array([z])))
    assert found[0] == pytest.approx(expected, rel=1e-11)


def test_very_far_below_it_is_the_distance_and_nothing_overflows():
    z = -np.logspace(6, 150, 20)
    assert (z < _FAR_BELOW).all()
    np.testing.assert_allclose(_mills(z, z * z / 2, log_ndtr(z)), -z, rtol=1e-9)
