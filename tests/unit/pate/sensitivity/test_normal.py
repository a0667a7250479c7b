"""Normal noise in integers, rounded to a public grid."""

import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size
from scipy import stats

from ogive.noise import KeyedSource
from ogive.pate.sensitivity import sanitize
from ogive.pate.sensitivity.sanitize import draw_normal, publish


def draws(count, seed):
    source = KeyedSource.from_seed(seed)
    return np.array([float(draw_normal(source)) for _ in range(count)])


def test_draws_are_normal_and_other_widths_are_found_out():
    """Level 1e-6, 4000 draws; the control is noise 25 % too wide."""
    found = draws(4000, 1)
    assert stats.kstest(found, "norm").pvalue > 1e-6
    assert stats.kstest(found * 1.25, "norm").pvalue < 1e-6


def test_draws_have_digits_below_the_lattice():
    source = KeyedSource.from_seed(2)
    found = [draw_normal(source) for _ in range(50)]
    assert all(value.denominator <= 1 << 104 for value in found)
    assert sum(value.denominator > 1 << 100 for value in found) > 30


def test_the_law_between_lattice_points_is_linear(monkeypatch):
    """At a lattice of width 1/2 the density is seen to be the interpolated one; the smooth one is the control."""
    monkeypatch.setattr(sanitize, "RESOLUTION_BITS", 1)
    number = size(20_000, part=8_000)
    found = draws(number, 3)
    points = np.arange(-16, 17) / 2
    weights = np.exp(-(points**2) / 2)
    weights /= weights.sum()

    def cdf(x):
        moved = np.clip((np.asarray(x)[..., None] - points) * 2, -1, 1)
        ramp = np.where(moved < 0, (1 + moved) ** 2 / 2, 1 - (1 - moved) ** 2 / 2)
        return (ramp * weights).sum(axis=-1)

    assert stats.kstest(found, cdf).pvalue > 1e-6
    assert np.var(found) == pytest.approx(1 + 1 / 24, abs=4 * math.sqrt(2 / number))
    # a distance of 0.04 h^2 in total variation, as stated, and not less
    z = np.linspace(-8, 8, 160_001)
    density = np.array([np.interp(z, points, weights * 2)])
    distance = np.abs(density - stats.norm.pdf(z)).sum() * (z[1] - z[0]) / 2
    assert distance == pytest.approx(0.0404 / 4, rel=0.05)


def test_published_numbers_are_on_the_grid():
    source = KeyedSource.from_seed(4)
    found = [publish(1.2345678, 0.5, source=source) for _ in range(100)]
    assert all(Fraction(value).limit_denominator(1000) == Fraction(str(value)) for value in found)
    assert len({round(value * 1000) for value in found}) > 80
    assert abs(np.mean(found) - 1.2345678) < 0.3


def test_noise_that_vanishes_leaves_the_nearest_grid_point():
    source = KeyedSource.from_seed(5)
    assert publish(1.2346, 1e-12, source=source) == 1.235
    assert publish(-0.0004, 1e-12, source=source) == 0
    assert publish(-1.2346, 1e-12, source=source) == -1.235


def test_noise_is_as_wide_as_asked():
    source = KeyedSource.from_seed(6)
    found = np.array([publish(3.0, 0.7, source=source) for _ in range(3000)])
    assert stats.kstest((found - 3) / 0.7, "norm").pvalue > 1e-6
    assert math.isclose(found.std(), 0.7, rel_tol=0.08)
