"""Functions of class histograms: their noise and sampling errors against simulated releases."""

import math
from fractions import Fraction

import numpy as np
import pytest

from ogive.noise.laws import draw_public
from ogive.privacy import Adjacency, PrivacyUnit, PureDP
from ogive.statistics.functionals import ClassCounts, Function, Value, difference_of_same
from ogive.statistics.roc.designs import choose_for_classes

BINS = 12
SHARES = np.stack([np.linspace(1.5, 0.5, BINS), np.linspace(0.1, 0.9, BINS)]) / (1.5 * BINS)


def strategy_of(adjacency=Adjacency.ADD_OR_REMOVE, public=False):
    unit = PrivacyUnit(adjacency=adjacency, public=("label",) if public else ())
    return choose_for_classes(
        BINS, PureDP(Fraction(1)), unit, public_labels=public, budget="joint", method="auto", refusal=lambda _: None
    )


def drawn(strategy, sizes, random):
    noise = [
        strategy.estimate(
            strategy.spread(tuple(draw_public(each.law, (1, each.nodes), random) for each in strategy.levels)),
            None if sizes is None else 0,
        )[0]
        for _ in range(2)
    ]
    return np.stack(noise)


def share(weights):
    """Share of the records, by weights: a linear function of the histograms over their sum."""

    def function(histograms):
        total, part = histograms.sum(), (weights * histograms).sum()
        return Function(part / total, (weights - part / total) / total)

    return function


@pytest.mark.parametrize("known", ["nothing", "total", "sizes"])
def test_the_variance_of_noise_is_that_of_releases(known):
    strategy = strategy_of(Adjacency.ADD_OR_REMOVE if known == "nothing" else Adjacency.REPLACE, known == "sizes")
    true = np.cumsum(np.round(1000 * SHARES), axis=1)
    sizes = tuple(int(each) for each in true[:, -1]) if known == "sizes" else None
    total = int(true[:, -1].sum()) if known == "total" else None
    random = np.random.default_rng(3)
    weights = random.normal(size=(2, BINS))
    values = []
    for _ in range(1500):
        counts = ClassCounts(true + drawn(strategy, sizes, random), true, strategy, sizes, total)
        values.append((weights * counts.histograms).sum())
    exact = float(counts.change(weights[None]).noise[0])
    ratio = np.var(values) / exact
    assert 0.85 < ratio < 1.18
    if known == "total":  # what is public of the sizes is used, and leaves less noise
        assert counts.records == pytest.approx(total)
        assert exact < 0.999 * float(ClassCounts(true, true, strategy).change(weights[None]).noise[0])


def test_sampling_is_multinomial():
    counts = np.round(400 * SHARES)
    held = ClassCounts(np.cumsum(counts, axis=1), np.cumsum(counts, axis=1), None)
    weights = np.zeros((2, BINS))
    weights[1] = 1.0
    p, n = counts[1].sum() / counts.sum(), counts.sum()
    more = counts + 2 * counts.sum(axis=0) / n
    q = more[1].sum() / more.sum()
    # the variance of the sum of weights, by multinomial counts with two more records of each class
    wanted = math.sqrt(q * (1 - q) * more.sum()) / n
    value = held.estimate(share(weights), 0.95, within=(0.0, 1.0))
    assert value.standard_error == pytest.approx(wanted, abs=1e-12)
    assert value.standard_error == pytest.approx(math.sqrt(p * (1 - p) / n), rel=0.02)
    wilson = held.estimate(share(weights), 0.95, share_of=lambda h: float(h.sum()))
    assert wilson.low < p < wilson.high
    assert wilson.low > value.low


def test_a_class_that_did_not_occur_has_a_sampling_error():
    counts = np.stack([np.full(BINS, 4.0), np.zeros(BINS)])
    held = ClassCounts(np.cumsum(counts, axis=1), np.cumsum(counts, axis=1), None)
    weights = np.stack([np.zeros(BINS), np.ones(BINS)])
    value = held.estimate(share(weights), 0.95, within=(0.0, 1.0))
    assert (value.value, value.low) == (0.0, 0.0)
    assert 0.02 < value.high < 0.2


def test_errors_of_noise_alone_are_apart_from_those_with_sampling():
    strategy = strategy_of()
    true = np.cumsum(np.round(1000 * SHARES), axis=1)
    counts = ClassCounts(true, true, strategy)
    both, noise = counts.errors(2000), counts.errors(2000, sampling=False)
    change = counts.change(np.ones((1, 2, BINS)))
    assert noise.sum(axis=1).var() == pytest.approx(float(change.noise[0]), rel=0.15)
    assert both[:, 0].var() > noise[:, 0].var()


def coverage(alone, repeats=120):
    """How often the simultaneous interval of several shares holds all; `alone` is the control, one at a time."""
    strategy = strategy_of()
    random = np.random.default_rng(11)
    weights = np.zeros((BINS, 2, BINS))
    for place in range(BINS):
        weights[place, 1, place] = 1.0
    true = SHARES[1] / SHARES.sum()
    held = 0
    for _ in range(repeats):
        sample = random.multinomial(4000, (SHARES / SHARES.sum()).ravel()).reshape(2, BINS)
        raw = np.cumsum(sample, axis=1) + drawn(strategy, None, random)
        counts = ClassCounts(raw, np.maximum.accumulate(np.maximum(raw, 0), axis=1), strategy)
        functions = [share(each)(counts.histograms) for each in weights]
        change = counts.change(np.stack([each.gradient for each in functions]))
        low, high = change.ends(np.array([each.value for each in functions]), 0.9, together=not alone)
        held += bool(np.all((low <= true) & (true <= high)))
    return held / repeats


def test_simultaneous_intervals_hold_all_values_and_single_ones_do_not():
    assert coverage(alone=False) >= 0.83
    assert coverage(alone=True) < 0.7


def test_where_noise_hides_the_denominator_there_is_no_number():
    strategy = strategy_of()
    few = np.cumsum(np.full((2, BINS), 0.2), axis=1)
    counts = ClassCounts(few, few, strategy)
    value = counts.estimate(share(np.ones((2, BINS))), 0.95, needs=[np.ones((2, BINS))], within=(0.0, 1.0))
    assert math.isnan(value.value)
    assert (value.low, value.high) == (0.0, 1.0)


def test_a_difference_of_the_same_records_holds_the_worst_correlation():
    one, other = Value(0.6, 0.5, 0.7, 0.05), Value(0.5, 0.4, 0.6, 0.05)
    apart, worst = difference_of_same(one, other, 0.0), difference_of_same(one, other, 1.0)
    assert worst.low == pytest.approx(-0.1)
    assert worst.high == pytest.approx(0.3)
    assert apart.low == pytest.approx(0.1 - math.hypot(0.1, 0.1))
    assert math.isnan(difference_of_same(one, Value(math.nan, 0, 1, math.inf), 1.0).value)
