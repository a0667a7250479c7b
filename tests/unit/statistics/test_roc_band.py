"""The band that follows from ends of both rates, against its definition and against every curve it must hold."""

from fractions import Fraction

import numpy as np
import pytest
from helpers.declared import public_of
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_curve

from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PureDP
from ogive.releasing.release import release
from ogive.statistics.curve.bands import band_ends
from ogive.statistics.roc import uncertainty as roc_uncertainty
from ogive.statistics.roc.area import NOTHING_KNOWN, simulate_noise
from ogive.statistics.roc.statistic import Roc
from ogive.statistics.roc.uncertainty import band_of_rates, whole_square
from ogive.strategies import design_tree
from ogive.trust import Central


def ends(seed, size, wiggle):
    """Random true rates, and ends around them that need not be monotone."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(2):
        rate = np.concatenate(([0.0], np.sort(rng.integers(0, 9, size) / 8), [1.0]))
        low, high = (np.clip(rate + sign * wiggle * rng.random(size + 2), 0, 1) for sign in (-1, 1))
        low[0] = high[0] = 0
        low[-1] = high[-1] = 1
        found.append((rate, low, high))
    return found


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 8), st.sampled_from([0.0, 0.1, 0.6]))
def test_the_band_is_what_follows_and_holds_the_true_curve(seed, size, wiggle):
    (x, x_low, x_high), (y, y_low, y_high) = ends(seed, size, wiggle)
    band = band_of_rates((x_low, x_high), (y_low, y_high), 0.9, "sample")
    assert band.fpr[0] == 0
    assert band.fpr[-1] == 1
    steps = np.union1d(band.fpr, x)
    for u in np.concatenate((steps, (steps[1:] + steps[:-1]) / 2)):
        low, high = band(u)
        assert low == max((y_low[j] for j in range(size + 2) if x_high[j] <= u), default=0.0)
        assert high == min((y_high[j] for j in range(size + 2) if x_low[j] > u), default=1.0)
        # the largest share of true positives with at most that many false ones
        assert low <= y[x <= u].max() <= high
    if wiggle == 0:
        straight = np.interp(0.5, x, y) if not np.any(x == 0.5) else y[x == 0.5].max()
        assert band(0.5)[0] - 1e-12 <= straight <= band(0.5)[1] + 1e-12


def test_ends_that_contradict_each_other_claim_nothing():
    x = (np.array([0.0, 0.2, 0.8, 1.0]), np.array([0.0, 0.3, 0.9, 1.0]))
    y = (np.array([0.0, 0.9, 0.2, 1.0]), np.array([0.0, 0.95, 0.3, 1.0]))
    band = band_of_rates(x, y, 0.9, "sample")
    assert band(0.5) == (0, 1)
    assert np.all(band.low <= band.high)


def test_the_whole_square_holds_everything():
    band = whole_square(0.9, "population")
    assert band(np.array([0.0, 0.4, 1.0]))[0].tolist() == [0, 0, 0]
    assert band.mean_width == 1
    assert "0.9 band for the population ROC curve" in str(band)


def test_a_population_s_ends_are_wider_and_no_records_give_none():
    strategy = design_tree(16, privacy=PureDP(1), adjacency=Adjacency.ADD_OR_REMOVE)
    raw = np.linspace(100, 1600, 16)
    noise = simulate_noise(strategy, np.stack([raw, raw]), known=NOTHING_KNOWN, positive_when="low", simulations=999)
    tail = Fraction(1, 10)
    sample, population = (band_ends(raw, noise.maxima, tail, target, None) for target in ("sample", "population"))
    assert np.all(population[0][:-1] <= sample[0][:-1])
    assert np.all(population[1] >= sample[1])
    assert (population[1] - population[0])[7] > (sample[1] - sample[0])[7]
    for target in ("sample", "population"):
        low, high = band_ends(raw / 1000, noise.maxima, tail, target, None)
        assert low.tolist() == [0.0] * 15 + [1.0]
        assert high.tolist() == [1.0] * 16


def test_higher_confidence_gives_wider_bands():
    rng = np.random.default_rng(3)
    labels = rng.random(3000) < 0.4
    table = {"s": np.clip(rng.normal(0.4 + 0.2 * labels, 0.15), 0, 1), "y": labels}
    source = KeyedSource.from_seed(2)
    estimate = release(Roc("s", "y", (0, 1), bins=32), trust=Central(table), privacy=PureDP(1), source=source)
    for target in ("sample", "population"):
        widths = [estimate.band(level, target=target).mean_width for level in (0.5, 0.9, 0.99)]
        assert widths == sorted(widths)
        spans = [np.diff(estimate.auc_interval(level, target=target))[0] for level in (0.5, 0.9, 0.99)]
        assert spans == sorted(spans)
        assert spans[0] < spans[2]
    with pytest.raises(ValueError, match="read-only"):
        estimate.band().low[0] = 1


def test_rounding_alone_never_takes_the_curve_out_of_a_band_without_noise(monkeypatch):
    rng = np.random.default_rng(5)
    labels = rng.random(3001) < 0.3
    scores = np.clip(rng.normal(0.4 + 0.2 * labels, 0.15), 0, 1)
    fpr, tpr, _ = roc_curve(labels, scores, drop_intermediate=False)
    reached = tpr[np.searchsorted(fpr, fpr, side="right") - 1]

    def held(public_labels):
        statistic = Roc("s", "y", (0, 1), bins=256, public_labels=public_labels)
        source = KeyedSource.from_seed(1)
        trust, public = Central({"s": scores, "y": labels}), public_of(statistic)
        estimate = release(statistic, trust=trust, privacy=PureDP(1000), public=public, source=source)
        band = estimate.band(target="sample")
        low, high = band(fpr)
        assert band.mean_width < 0.02
        return bool(np.all(low <= reached) and np.all(reached <= high))

    assert held(False)
    assert held(True)
    monkeypatch.setattr(roc_uncertainty, "_ROUNDING", 0.0)
    assert not held(False), "the control: without room for rounding the band loses the curve"
