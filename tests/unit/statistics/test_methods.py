"""Choosing a strategy at grants from far too small to far too large."""

import re

import numpy as np
import pytest

import ogive
from ogive.errors import ParameterError, ScaleError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PureDP, ZeroConcentratedDP
from ogive.statistics.methods.choose import candidates

SIZES = (1, 2, 16, 100, 1024)
LARGE = [PureDP(e) for e in (1000, 2000, 5000, 10**4, 10**5, 10**6, 10**9)]
LARGE += [ZeroConcentratedDP(rho) for rho in (10**6, 10**9, 10**12, 10**18, 10**30)]
USUAL = [PureDP(e) for e in (1e-6, 1e-3, 1, 10, 100)] + [ZeroConcentratedDP(rho) for rho in (1e-9, 1e-3, 1, 1000)]


def _curves(size, privacy, adjacency):
    """Curves of every method, their counts, and the largest standard deviation of the unsmoothed points."""
    values = np.minimum(np.random.default_rng(size).geometric(4 / (size + 4), 3000) - 1, size - 1)
    grid = ogive.Grid.linear(0, max(size - 1, 1), bins=size)
    exact = np.array([np.count_nonzero(values <= threshold) for threshold in grid.thresholds])
    exact[-1] = len(values)
    for method in {strategy.name for strategy in candidates(size, privacy, adjacency)}:
        source = KeyedSource.from_seed(size)
        curve = ogive.ecdf(values, grid=grid, privacy=privacy, adjacency=adjacency, method=method, source=source)
        variance = curve.strategy.variance(total_known=adjacency is Adjacency.REPLACE)
        assert np.all(np.isfinite(variance))
        yield curve, exact, float(np.sqrt(variance.max()))


@pytest.mark.each_value(privacy=str)
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("privacy", LARGE, ids=str)
def test_large_grants_give_nearly_exact_curves_by_every_method(privacy, size, adjacency):
    for curve, exact, _ in _curves(size, privacy, adjacency):
        assert np.abs(curve.raw - exact).max() < 0.2
        assert np.abs(curve.cumulative - exact).max() < 0.5


@pytest.mark.each_value(privacy=str)
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("privacy", USUAL, ids=str)
def test_usual_and_small_grants_give_curves_within_their_noise_by_every_method(privacy, size, adjacency):
    # 12 standard deviations: below 1e-7 for Laplace noise, at some 300 curves; noise that is nearly always 0 has a
    # tiny deviation, yet where it is not 0 it is at least 1
    for curve, exact, deviation in _curves(size, privacy, adjacency):
        assert np.abs(curve.raw - exact).max() <= 12 * deviation + 3
        assert np.all(np.diff(curve.cumulative) >= 0)
        assert np.all(np.isfinite(curve.cumulative))


@pytest.mark.each_value
@pytest.mark.parametrize("kind", ["least_squares", "least_absolute", "isotonic"])
@pytest.mark.parametrize("privacy", [PureDP(5000), PureDP(10**6), ZeroConcentratedDP(10**12)], ids=str)
def test_every_smoothing_keeps_nearly_exact_measurements(privacy, kind):
    values = np.random.default_rng(4).integers(0, 100, size=2000)
    exact = np.cumsum(np.bincount(values, minlength=100))
    for method in ("path", "tree_ls", "hat_ls"):
        curve = ogive.ecdf(values, bounds=(0, 99), bins=100, privacy=privacy, method=method, smooth=kind)
        thresholds = np.searchsorted(np.sort(values), curve.grid.thresholds, side="right")
        assert np.abs(curve.cumulative - thresholds)[:-1].max() < 0.5
    assert exact[-1] == curve.cumulative[-1]


@pytest.mark.parametrize("method", ["auto", "path", "tree_ls", "hat_ls", "sqrt", "symmetric", "ring"])
@pytest.mark.parametrize("size", [1, 16, 1024])
@pytest.mark.parametrize("privacy", [PureDP("1e-16"), PureDP("1e-299"), ZeroConcentratedDP("1e-40")], ids=str)
def test_grants_too_small_are_refused_by_name_and_what_is_said_to_do_does(privacy, size, method):
    if method in ("sqrt", "symmetric", "ring") and isinstance(privacy, PureDP):
        return
    with pytest.raises(ScaleError) as refusal:
        candidates(size, privacy, Adjacency.REPLACE, method)
    message = str(refusal.value)
    assert message.startswith(str(privacy))
    name, number = re.search(r"use at least (epsilon|rho) = (\S+)$", message).groups()
    assert name == ("epsilon" if isinstance(privacy, PureDP) else "rho")
    assert candidates(size, type(privacy)(number), Adjacency.REPLACE, method)


def test_approximate_grants_too_small_are_refused_by_name():
    with pytest.raises(ScaleError, match=r"^epsilon = 1e-18, delta = 1e-09 for 16 thresholds .* use a larger epsilon$"):
        candidates(16, ApproxDP("1e-18", "1e-9"), Adjacency.REPLACE, "sqrt")


def test_auto_leaves_out_only_the_methods_that_would_need_too_much_noise():
    privacy = PureDP("1e-12")
    with pytest.raises(ScaleError, match="use at least"):
        candidates(1024, privacy, Adjacency.REPLACE, "hat_ls")
    assert {strategy.name for strategy in candidates(1024, privacy, Adjacency.REPLACE)} == {"path", "tree_ls"}


def test_other_refusals_of_a_design_are_not_swallowed(monkeypatch):
    def broken(size, *, privacy, adjacency):
        raise ParameterError("another reason")

    monkeypatch.setitem(ogive.statistics.methods.choose._PURE, "tree_ls", broken)
    with pytest.raises(ParameterError, match="another reason"):
        candidates(23, PureDP(1), Adjacency.REPLACE)
