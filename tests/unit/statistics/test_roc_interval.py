"""The interval of the area where its answer can be said beforehand."""

from fractions import Fraction

import numpy as np
import pytest
from helpers.curves import pairs_in_order
from scipy.optimize import brentq
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from ogive.noise import KeyedSource
from ogive.privacy import PureDP
from ogive.releasing.release import release
from ogive.statistics.curve.bands import NoiseMaxima
from ogive.statistics.roc.area import SimulatedNoise, _one_side, auc_interval, pairs_at_ends
from ogive.statistics.roc.points import area, rates, tie_bound
from ogive.statistics.roc.statistic import Roc
from ogive.trust import Central, Clear

CURVES = np.array([[100.0, 250.0, 380.0, 400.0], [5.0, 20.0, 60.0, 100.0]])
AREA = area(*(rates(curve, "high") for curve in CURVES))
TIES = tie_bound(*(rates(curve, "high") for curve in CURVES))
RANDOM = np.random.default_rng(8)


def interval(pairs, products, *, raw=CURVES, last=1.0, released=AREA):
    size = len(pairs)
    maxima = NoiseMaxima(*np.ones((4, size)))
    pairs_at_ends = np.stack([pairs, pairs])
    noise = SimulatedNoise(maxima, np.full(size, last), pairs_at_ends, products, pairs, np.ones(size))
    return auc_interval(
        released,
        raw,
        CURVES,
        noise,
        positive_when="high",
        tail=Fraction(1, 10),
        target="sample",
        simulations=size,
    )


def test_pairs_over_products_is_the_area():
    assert pairs_in_order(*CURVES, "high") == pytest.approx(AREA * 400 * 100)
    for side in ("high", "low"):
        middle = pairs_in_order(*CURVES, side) / 40_000
        assert pairs_at_ends(*CURVES, side) / 40_000 == pytest.approx([middle - TIES, middle + TIES])


def test_noise_in_the_pairs_alone_gives_its_quantiles_over_the_product():
    pairs = RANDOM.normal(0, 3000, size=1999)
    low, high = interval(pairs, np.zeros(1999))
    part = brentq(
        lambda p: norm.cdf(norm.ppf(p)) + norm.cdf(norm.ppf(p) - 80_000 * TIES / pairs.std()) - 0.1, 0.05, 0.1
    )
    assert part > 0.09, "there are many ties"
    rank = int(np.ceil((1 - part) * 2000))
    ends = np.sort(pairs)[[1999 - rank, rank - 1]] / 40_000
    assert (low, high) == pytest.approx((AREA - TIES - ends[1], AREA + TIES - ends[0]), abs=1e-6)


@pytest.mark.parametrize("apart", [0, 0.4, 0.8, 40])
def test_one_critical_value_holds_either_end_of_what_ties_leave_open_as_often_as_it_says(apart):
    tail = Fraction(1, 20)
    part = _one_side(apart, tail)

    def held(each):
        return norm.cdf(apart - norm.ppf(each)) - norm.cdf(norm.ppf(each))

    assert held(float(part)) == pytest.approx(0.95, abs=1e-6)
    assert held(0.05) < 0.945 or apart == 40, (
        "control: all of the tail at either end is too much where both ends are near"
    )
    assert held(0.025) > 0.955 or apart == 0, "control: half of it is too little where they are not"


def test_noise_that_moves_pairs_and_products_together_does_not_move_the_area():
    products = RANDOM.normal(0, 3000, size=1999)
    low, high = interval((AREA - TIES) * products, products)
    assert low == pytest.approx(AREA - TIES, abs=1e-6)
    low, high = interval((AREA + TIES) * products, products)
    assert high == pytest.approx(AREA + TIES, abs=1e-6)
    wide = interval(np.zeros(1999), products)
    assert wide[1] - wide[0] > 0.2


def test_the_released_area_is_always_inside_and_a_class_that_may_be_empty_leaves_everything_open():
    pairs = RANDOM.normal(0, 40, size=1999)
    low, high = interval(pairs, np.zeros(1999), released=AREA - 0.3)
    assert low == AREA - 0.3
    assert AREA + TIES < high < AREA + TIES + 0.01
    assert interval(pairs, np.zeros(1999), last=100.0) == (0, 1)
    # raw estimates with more pairs in order than there are pairs fit no area
    raw = np.array([[400.0, 400.0, 400.0, 400.0], [-100.0, -100.0, -100.0, 100.0]])
    assert pairs_in_order(*raw, "high") > 40_000
    assert interval(pairs, np.zeros(1999), raw=raw) == (0, 1)


@pytest.mark.each_value
@pytest.mark.parametrize("positive_when", ["high", "low"])
@pytest.mark.parametrize("epsilon", [1, 100])
def test_a_grid_that_merges_scores_is_counted(epsilon, positive_when):
    rng = np.random.default_rng(1)
    labels = rng.random(2000) < 0.5
    scores = 0.5 + np.where(labels, 0.2, 0.1) * rng.random(2000)
    exact = roc_auc_score(labels, scores if positive_when == "high" else -scores)
    for trust in (Central, Clear):
        estimate = release(
            Roc("s", "y", (0, 100), bins=100, positive_when=positive_when),
            trust=trust({"s": scores, "y": labels}),
            privacy=PureDP(epsilon) if trust is Central else None,
            source=KeyedSource.from_seed(3),
        )
        assert abs(exact - estimate.auc) > 0.2
        for target in ("sample", "population"):
            low, high = estimate.auc_interval(target=target)
            assert low <= exact <= high
        # on a grid that separates scores the same records give a narrow interval
        fine = release(
            Roc("s", "y", (0.5, 0.7), bins=1024, positive_when=positive_when),
            trust=trust({"s": scores, "y": labels}),
            privacy=PureDP(epsilon) if trust is Central else None,
            source=KeyedSource.from_seed(3),
        )
        low, high = fine.auc_interval(target="sample")
        assert low <= exact <= high
        assert high - low < (0.2 if trust is Central and epsilon == 1 else 0.003)


def test_the_worst_and_best_order_within_bins_are_reached_by_scores():
    """The interval without noise is tight: some scores that are binned alike have either end as their area."""
    rng = np.random.default_rng(2)
    bins, labels = rng.integers(1, 9, 300), rng.random(300) < 0.4
    for sign, end in ((1, 1), (-1, 0)):
        scores = bins - 0.5 + 0.25 * sign * (labels - 0.5)
        estimate = release(Roc("s", "y", (0, 8), bins=8), trust=Clear({"s": scores, "y": labels}))
        assert estimate.auc_interval(target="sample")[end] == pytest.approx(roc_auc_score(labels, scores), abs=1e-9)
