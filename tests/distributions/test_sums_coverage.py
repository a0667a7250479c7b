"""Intervals of counts, histograms, proportions, means and sums hold what they say they hold, as often as they say.

Level: of 100 releases fewer than 87 of the intervals of 95 % hold the number with probability about 0.0005, of 40 fewer
than 32. The control, intervals of a quarter of the width, must hold it fewer than 75 times in 100.
"""

import numpy as np
import pytest
from helpers.coverage import fewest
from helpers.scope import size

import ogive
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.statistics.sums.measured import Deviation

RUNS = size(100, part=40)
FEWEST = fewest(RUNS)
NARROW = min(FEWEST, 0.75 * RUNS)
REPLACE, ADD = ogive.Adjacency.REPLACE, ogive.Adjacency.ADD_OR_REMOVE
NUMBERS = (
    ogive.Mean("x", (0, 100), step=1),
    ogive.Sum("x", (0, 100), step=1),
    ogive.Proportion("y"),
    ogive.Count("y", among=1),
)
pytestmark = pytest.mark.distribution


def releases(statistic, adjacency, trust, privacy, number, true_mean):
    """Estimates of many samples, with the exact number of the records and that of the population."""
    random = np.random.default_rng(5)
    for run in range(RUNS):
        x = np.clip(np.rint(random.normal(true_mean, 12, number)), 0, 100)
        y = (random.random(number) < 0.1).astype(int)
        source = KeyedSource.from_seed(run)
        yield (
            ogive.release(
                statistic, trust=trust({"x": x, "y": y}), privacy=privacy, adjacency=adjacency, source=source
            ),
            {"mean": x.mean(), "sum": x.sum(), "proportion": y.mean(), "count": y.sum()}[statistic.name],
            {"mean": true_mean, "proportion": 0.1}.get(statistic.name),
        )


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", [REPLACE, ADD], ids=lambda each: each.value)
@pytest.mark.parametrize("statistic", NUMBERS, ids=lambda each: each.name)
def test_intervals_cover_the_records_and_the_population(statistic, adjacency):
    population, records, narrow = 0, 0, 0
    for found, exact, wanted in releases(statistic, adjacency, ogive.Central, ogive.PureDP("0.3"), 120, 60):
        low, high = found.noise_interval()
        records += low - 1e-9 <= exact <= high + 1e-9
        narrow += abs(exact - found.value) <= (high - low) / 8
        if wanted is not None:
            low, high = found.interval()
            population += low <= wanted <= high
    assert records >= FEWEST
    assert narrow < NARROW  # the control
    if statistic.name in ("mean", "proportion"):
        assert population >= FEWEST


@pytest.mark.parametrize("statistic", [ogive.Mean("x", (0, 100)), ogive.Proportion("y")], ids=lambda each: each.name)
def test_intervals_of_reports_cover_the_population(statistic):
    found = releases(statistic, REPLACE, ogive.Local, ogive.PureDP(1), 400, 60)
    assert sum(each.interval()[0] <= wanted <= each.interval()[1] for each, _, wanted in found) >= FEWEST


@pytest.mark.each_value
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99, 0.9999])
@pytest.mark.parametrize(
    ("law", "weights", "variance"),
    [
        (DiscreteLaplace(3), (1.0,), 0.0),
        (DiscreteLaplace("0.4"), (1.0, -0.5), 0.0),
        (DiscreteLaplace(7), (1.0, 1.0), 25.0),
        (DiscreteLaplace(2), (0.9, -0.1), 400.0),
        (DiscreteLaplace(2), (1.0,) * 9, 0.0),
        (DiscreteLaplace(2), (0.7, *(-0.3,) * 6), 9.0),
        (DiscreteGaussian(1000), (0.003, 0.004), 4.0),
    ],
    ids=str,
)
def test_the_reach_of_an_error_is_exceeded_as_rarely_as_it_says(law, weights, variance, level):
    """400,000 draws, or 100,000 in `make test`; the reach may be too long by the step of discrete noise alone."""
    draws = size(400_000, part=100_000)
    random = np.random.default_rng(11)
    noise = sum(weight * law.sample(draws, source=KeyedSource.from_seed(i)) for i, weight in enumerate(weights))
    error = np.abs(noise + random.normal(0, variance**0.5, draws))
    deviation = Deviation.of(law, weights, variance=variance)
    reach, room = deviation.reach(level), 5 * ((1 - level) / draws) ** 0.5
    assert (error > reach).mean() <= 1 - level + room
    tight = 0.98 * (reach - 2 * deviation.step - 1e-9)
    assert tight <= 0 or (error > tight).mean() > (1 - level) - room


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("trust", "epsilon", "adjacency"),
    [
        pytest.param(trust, epsilon, adjacency, id=f"{trust}-{epsilon}-{adjacency.value}")
        for trust, epsilon in ((ogive.Central, "0.3"), (ogive.Local, 1), (ogive.SecAgg, "0.5"))
        for adjacency in (REPLACE, ADD)
        if (trust, adjacency) != (ogive.Local, ADD)  # owners can be counted
    ],
)
def test_intervals_of_a_histogram_cover_each_category_and_all_of_them(adjacency, trust, epsilon):
    shares = np.array([0.55, 0.3, 0.1, 0.03, 0.02])
    asked = ogive.Histogram("x", values=tuple(range(5)))
    random, runs = np.random.default_rng(31), size(100, part=12)
    each, together, records, narrow = [], 0, 0, 0
    for run in range(runs):
        x = random.choice(5, 300, p=shares)
        holder = ogive.Simulation(trust, parties=3) if trust is ogive.SecAgg else ogive.Simulation.of(trust)
        found = ogive.release(
            asked, trust=holder.over({"x": x}), privacy=ogive.PureDP(epsilon), adjacency=adjacency,
            source=KeyedSource.from_seed(run),
        )  # fmt: skip
        each.append([low <= share <= high for share, (low, high) in zip(shares, found.intervals(), strict=True)])
        joint = found.intervals(simultaneous=True)
        together += all(low <= share <= high for share, (low, high) in zip(shares, joint, strict=True))
        ends = found.count_intervals(simultaneous=True)
        exact = np.bincount(x, minlength=5)
        records += all(low - 1e-9 <= count <= high + 1e-9 for count, (low, high) in zip(exact, ends, strict=True))
        narrow += all(
            abs(share - value) <= (high - low) / 8
            for share, value, (low, high) in zip(shares, found.shares, joint, strict=True)
        )
    assert np.sum(each, axis=0).min() >= fewest(runs)
    assert together >= fewest(runs)
    assert records >= fewest(runs)
    assert narrow < min(fewest(runs), 0.75 * runs)  # the control


SKEWED = {
    "gamma": (lambda rng: rng.gamma(2, 3, 200), 6.0, (0, 60)),
    "far from the middle": (lambda rng: rng.normal(15, 3, 100), 15.0, (0, 100)),
    "mirrored": (lambda rng: 90 - rng.exponential(8, 300), 82.0, (0, 100)),
}


@pytest.mark.parametrize("name", SKEWED)
def test_the_interval_of_a_mean_far_from_the_middle_of_its_bounds_is_even_and_holds(name):
    """Fewer than 270 of 300 intervals of 95 %, or 24 of 30, hold with a chance of 0.3 % if skewness costs a point."""
    draw, mean, bounds = SKEWED[name]
    rng = np.random.default_rng(29)
    held, uneven, runs = 0, [], size(300, part=30)
    for number in range(runs):
        trust, source = ogive.Central({"x": draw(rng)}), KeyedSource.from_seed(number)
        estimate = ogive.release(ogive.Mean("x", bounds), trust=trust, privacy=ogive.PureDP(50), source=source)
        low, high = estimate.interval()
        held += low <= mean <= high
        uneven.append((high - estimate.value) / (estimate.value - low))
    assert held >= fewest(runs, 0.94, chance=0.003)
    assert 0.9 < np.mean(uneven) < 1.1  # 2.8 to 6 where the spread was taken around the middle of the bounds
