"""Bands of precision, recall and lift: their ends are extremes, and whole bands hold as often as they say."""

import itertools

import numpy as np
import pytest
from helpers.coverage import fewest
from helpers.scope import size
from matplotlib.figure import Figure
from scipy.stats import binomtest

from ogive.errors import ParameterError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PureDP
from ogive.releasing.release import release
from ogive.statistics.roc.statistic import Roc
from ogive.statistics.roc.uncertainty import (
    Ends,
    LiftBand,
    Prevalence,
    flagged_ends,
    lift_ends,
    precision_ends,
    prevalence_of,
)
from ogive.trust import Central, Clear


def slow(name, x, y, p):
    """One reading at one point, written from its definition; None where it has none."""
    flagged = p * y + (1 - p) * x
    if name == "flagged":
        return flagged
    if flagged == 0:
        return None
    return p * y / flagged if name == "precision" else y / flagged


@pytest.mark.parametrize(
    ("name", "ends"),
    [("precision", precision_ends), ("flagged", flagged_ends), ("lift", lift_ends)],
    ids=["precision", "flagged", "lift"],
)
def test_ends_are_the_extremes_over_all_shares_within_their_ends(name, ends):
    rng = np.random.default_rng(5)
    for _ in range(300):
        x, y, p = (np.sort(rng.choice([0, 0.1, 0.25, 0.5, 0.9, 1, rng.random()], 2)) for _ in range(3))
        found = ends(Ends(x[:1], x[1:]), Ends(y[:1], y[1:]), Prevalence(*p))
        lattice = itertools.product(*(np.linspace(*each, 5) for each in (x, y, p)))
        values = [value for point in lattice if (value := slow(name, *point)) is not None]
        if not values:
            continue
        assert found.low[0] <= min(values) + 1e-12
        assert found.high[0] >= max(values) - 1e-12
        if min(x[0], y[0], p[0]) > 0 and p[1] < 1:  # nothing is undefined on the way: the ends are attained
            assert found.low[0] == pytest.approx(min(values))
            assert found.high[0] == pytest.approx(max(values))


def test_nothing_called_positive_leaves_every_precision_possible():
    nothing = Ends(np.zeros(1), np.zeros(1))
    found = precision_ends(nothing, nothing, Prevalence(0.2, 0.3))
    assert (found.low[0], found.high[0]) == (0, 1)
    lift = lift_ends(nothing, nothing, Prevalence(0.2, 0.3))
    assert lift.low[0] <= 1 / 0.3
    assert lift.high[0] == pytest.approx(1 / 0.2)


@pytest.mark.parametrize(("positives", "negatives"), [(3, 7), (0, 5), (5, 0), (1, 1), (40, 400)])
def test_the_interval_of_known_sizes_is_clopper_and_pearsons(positives, negatives):
    from fractions import Fraction

    found = prevalence_of((positives,) * 2, (negatives,) * 2, Fraction(1, 20))
    exact = binomtest(positives, positives + negatives).proportion_ci(0.95, method="exact")
    assert tuple(found) == pytest.approx((exact.low, exact.high))


def test_unknown_sizes_give_the_widest_of_all_that_are_possible():
    from fractions import Fraction

    tail = Fraction(1, 20)
    every = [prevalence_of((k, k), (f, f), tail) for k in range(3, 9) for f in range(20, 31)]
    found = prevalence_of((3, 8), (20, 30), tail)
    assert found.low == pytest.approx(min(each.low for each in every))
    assert found.high == pytest.approx(max(each.high for each in every))
    sample = prevalence_of((3, 8), (20, 30), None)
    assert tuple(sample) == (3 / 33, 8 / 28)


def drawn(seed, size):
    rng = np.random.default_rng(seed)
    positive = rng.random(size) < 0.25
    return {"s": 1 / (1 + np.exp(-rng.normal(1.2 * positive, 1.0))), "y": positive.astype(int)}


def holds(roc, truth, target, *, shrink=1.0):
    """Whether both bands hold the readings of the exact curve at every threshold."""
    held = True
    for band, names, exact in (
        (roc.precision_recall_band(0.9, target=target), ("recall", "precision"), truth.precision_recall()),
        (roc.lift_band(0.9, target=target), ("flagged", "captured", "lift"), truth.lift()),
    ):
        assert isinstance(band, LiftBand) or band.confidence_level == 0.9
        for name in names:
            low, high = getattr(band, name)
            high = np.minimum(high, 1e9)
            middle, half = (low + high) / 2, shrink * (high - low) / 2
            value = getattr(exact, name)
            held &= bool(np.all((middle - half <= value + 1e-9) & (value <= middle + half + 1e-9)))
    return held


@pytest.mark.each_value
@pytest.mark.distribution
@pytest.mark.parametrize("public_labels", [False, True], ids=["private", "public"])
@pytest.mark.parametrize("adjacency", Adjacency, ids=lambda each: each.value)
def test_bands_hold_as_often_as_they_say(adjacency, public_labels):
    """Level 90 %, 40 releases: fewer than 31 have probability 0.005 at exactly 90 %, of 15 fewer than 10.

    A third of the width must fail.
    """
    if public_labels and adjacency is Adjacency.ADD_OR_REMOVE:
        public_labels, epsilon = False, PureDP(4)
    else:
        epsilon = PureDP(1)
    public = ("y",) if public_labels else ()
    ask = Roc("s", "y", (0, 1), bins=32, public_labels=public_labels)
    population = release(ask, trust=Clear(drawn(0, 400_000)))
    counts = {"population": 0, "sample": 0, "control": 0}
    runs = size(40, part=15)
    wanted = fewest(runs, 0.9, chance=0.006)
    for run in range(runs):
        records = drawn(1000 + run, 1500)
        source = KeyedSource(run.to_bytes(32, "big"))
        roc = release(ask, trust=Central(records), privacy=epsilon, adjacency=adjacency, public=public, source=source)
        exact = release(ask, trust=Clear(records))
        counts["population"] += holds(roc, population, "population")
        counts["sample"] += holds(roc, exact, "sample")
        counts["control"] += holds(roc, population, "population", shrink=1 / 3)
    assert min(counts["population"], counts["sample"]) >= wanted, counts
    assert counts["control"] < wanted, counts


def test_pictures_shade_the_band_and_hold_every_threshold():
    roc = release(
        Roc("s", "y", (0, 1), bins=32), trust=Central(drawn(1, 2000)), privacy=PureDP(1), source=KeyedSource(bytes(32))
    )
    for draw, made, across, up in (
        (roc.plot_precision_recall, roc.precision_recall_band(), "recall", "precision"),
        (roc.plot_lift, roc.lift_band(), "flagged", "lift"),
    ):
        axes = Figure().add_subplot()
        assert draw(axes, color="#aa00bb") is axes
        assert len(axes.collections) == 1
        places, low, high = made.outline()
        for j in range(len(made.thresholds)):  # each box of a threshold lies within what is shaded
            inside = (places >= getattr(made, across).low[j]) & (places <= getattr(made, across).high[j])
            assert np.all(low[inside] <= getattr(made, up).low[j] + 1e-12)
            assert np.all(high[inside] >= getattr(made, up).high[j] - 1e-12)
        assert not draw(Figure().add_subplot(), confidence_level=None).collections


def test_without_a_class_there_is_no_band():
    lonely = {"s": np.linspace(0, 1, 50), "y": np.zeros(50, dtype=int)}
    roc = release(Roc("s", "y", (0, 1), bins=8, positive=(1,)), trust=Clear(lonely))
    with pytest.raises(ParameterError, match="not defined: a class has no records"):
        roc.precision_recall_band()
    with pytest.raises(ParameterError, match="lift is not defined"):
        roc.plot_lift()
