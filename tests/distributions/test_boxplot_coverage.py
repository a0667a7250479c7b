"""The intervals of a box hold the population's quartiles and median, all three, in at least 95 % of releases.

200 releases, or 15 in `make test`, for each distribution and adjacency, of groups that make up half of the records. A
true level of 95 % gives fewer than `FEWEST` hits with probability below 1 in 1000 (binomial); seeds are fixed, so a
pass stays a pass. The control are intervals for the sample used as ones for the population: they must fall short. They
do where noise is small beside sampling, so epsilon is large. A second measurement at epsilon 1 has noise as large as
the sampling error.
"""

import numpy as np
import pytest
from helpers.coverage import fewest
from helpers.scope import size
from scipy import stats

import ogive
from ogive.noise import KeyedSource
from ogive.statistics.boxplot.estimate import QUARTERS

RELEASES, RECORDS, BINS = size(200, part=15), 1_000, 512
FEWEST = fewest(RELEASES, chance=0.001)

DISTRIBUTIONS = {
    "uniform": (stats.uniform(0, 100), {"bounds": (0, 100), "bins": BINS}),
    "lognormal": (stats.lognorm(0.6, scale=np.exp(3)), {"bounds": (0, 100), "bins": BINS}),
    "whole numbers": (stats.binom(900, 0.3), {"bounds": (0, 500), "grid": "integers"}),
}


def hits(name, adjacency, epsilon, *, control=True):
    """How often all three intervals hold the truth, and how often those for the sample do, the control."""
    law, grid = DISTRIBUTIONS[name]
    rng = np.random.default_rng(sum(map(ord, name + adjacency.value)))
    asked = ogive.Boxplot("x", curve="tree_ls", by="g", groups=("a", "b"), **grid)
    truth = law.ppf(QUARTERS)
    held = of_sample = 0
    for number in range(RELEASES):
        boxes = ogive.release(
            asked,
            trust=ogive.Central({"x": law.rvs(RECORDS, random_state=rng), "g": np.repeat(["a", "b"], RECORDS // 2)}),
            privacy=ogive.PureDP(epsilon),
            adjacency=adjacency,
            source=KeyedSource(number.to_bytes(32, "big")),
        )
        held += all(low <= value <= high for value, (low, high) in zip(truth, boxes["a"].intervals, strict=True))
        if not control:
            continue
        sample = boxes.curves[0].quantile_interval(QUARTERS, target="sample")
        of_sample += bool(np.all((sample.low <= truth) & (truth <= sample.high)))
    return held, of_sample


@pytest.mark.each_value
@pytest.mark.slow
@pytest.mark.distribution
@pytest.mark.parametrize("adjacency", ogive.Adjacency)
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_intervals_hold_the_quartiles_and_the_median_of_the_population(name, adjacency):
    held, of_sample = hits(name, adjacency, 100)
    noisy, _ = hits(name, adjacency, 1, control=False)
    print(f"{name} {adjacency.value}: {held} and {noisy} of {RELEASES} hold, of the sample {of_sample}")
    assert held >= FEWEST
    assert noisy >= FEWEST
    assert of_sample < FEWEST, "control: without the sampling error intervals are too narrow"


@pytest.mark.distribution
@pytest.mark.parametrize("adjacency", ogive.Adjacency)
def test_intervals_are_as_wide_as_noise_and_sampling_make_them(adjacency):
    """Intervals are at most a third wider than the normal law says of three at once, 2.39 deviations on either side.

    The deviation of noise and sampling together is seen in releases of values whose density is the same everywhere,
    right within some 10 %. An interval reaches over all thresholds that are not refused, so that it is wider where
    noise is much of the error. The control is three tenths less of the width.
    """
    law, grid = DISTRIBUTIONS["uniform"]
    asked = ogive.Boxplot("x", curve="tree_ls", by="g", groups=("a", "b"), **grid)
    groups, random = np.repeat(["a", "b"], RECORDS // 2), np.random.default_rng(1)
    for epsilon in (100, 1):
        widths, strayed = [], []
        for number in range(100):
            values = law.rvs(RECORDS, random_state=random)
            boxes = ogive.release(
                asked,
                trust=ogive.Central({"x": values, "g": groups}),
                privacy=ogive.PureDP(epsilon),
                adjacency=adjacency,
                source=KeyedSource(number.to_bytes(32, "big")),
            )
            if number < 10:
                widths.append(np.diff(boxes["a"].intervals))
            raw, near = boxes.curves[0].raw, np.array([114, 142, 242, 270, 369, 398])  # few nodes end at quarters
            strayed.append(raw[near] / raw[-1] - (near + 1) / BINS)
        reach = stats.norm.isf(0.05 / 6) * np.std(strayed, axis=0).mean()
        width = np.mean(widths)
        expected = 2 * reach * 100 + 100 / BINS  # ends are rounded to bins
        print(f"{adjacency.value} epsilon {epsilon}: width {width:.2f}, expected {expected:.2f}")
        assert 0.95 * expected <= width <= 1.35 * expected
        assert 0.7 * width < 0.95 * expected
