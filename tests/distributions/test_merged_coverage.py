"""The 95 % band for the records holds in at least 95 % of merged curves, and where more parties than needed add noise.

120 releases, or 60 in `make test`, each of 500 records in 64 bins. A true level of 95 % gives fewer than `FEWEST` hits
with probability below 1 in 1000 (binomial); seeds are fixed. Controls: the band of one batch's noise alone, and that of
the noise which the honest parties alone would add.
"""

import dataclasses

import numpy as np
import pytest
from helpers.coverage import fewest
from helpers.scope import size

import ogive
from ogive.noise import KeyedSource

RELEASES, BINS = size(120, part=60), 64
FEWEST = fewest(RELEASES, chance=0.001)
WISH = ogive.Ecdf("x", (0, 100), bins=BINS, method="hat_ls")
SITES = [{"x": np.random.default_rng(seed).normal(50, 15, size)} for seed, size in enumerate((100, 150, 250))]
TRUTHS = [ogive.release(WISH, trust=ogive.Clear(site)) for site in SITES]
WEIGHTS = (0.5, 0.25, 0.25)


def holds(curve, truth, strategy=None):
    """Whether the band holds the truth; of a curve that claims the noise of another strategy, if one is given."""
    claimed = curve if strategy is None else dataclasses.replace(curve, strategy=strategy)
    band = claimed.band(0.95, target="sample")
    return bool(np.all((band.low <= truth + 1e-12) & (truth <= band.high + 1e-12)))


def released(number, adjacency):
    return [
        ogive.release(
            WISH,
            trust=ogive.Central(site),
            privacy=ogive.PureDP(1),
            adjacency=adjacency,
            source=KeyedSource.from_seed(10 * number + place),
        )
        for place, site in enumerate(SITES)
    ]


@pytest.mark.one_in(2)
@pytest.mark.slow
@pytest.mark.distribution
@pytest.mark.parametrize("kind", ["replace", "add_or_remove", "mixture"])
def test_bands_of_merged_curves_hold_their_level(kind):
    adjacency = ogive.Adjacency.ADD_OR_REMOVE if kind == "add_or_remove" else ogive.Adjacency.REPLACE
    truth = ogive.merge(*TRUTHS).probabilities
    weights = WEIGHTS if kind == "mixture" else None
    if weights is not None:
        truth = sum(weight * curve.probabilities for weight, curve in zip(weights, TRUTHS, strict=True))
    hits = fewer = 0
    for number in range(RELEASES):
        parts = released(number, adjacency)
        curve = ogive.merge(*parts, weights=weights)
        hits += holds(curve, truth)
        fewer += holds(curve, truth, parts[0].strategy)
    assert hits >= FEWEST
    if kind != "add_or_remove":  # there the band is wider than it need be
        assert hits < RELEASES
    assert fewer < FEWEST


@pytest.mark.one_in(2)
@pytest.mark.slow
@pytest.mark.distribution
@pytest.mark.parametrize(
    "privacy", [ogive.PureDP("0.5"), ogive.ZeroConcentratedDP("0.05")], ids=["laplace", "gaussian"]
)
def test_bands_know_the_noise_of_parties_that_are_not_counted_on(privacy):
    truth = ogive.merge(*TRUTHS).probabilities
    hits = fewer = 0

    def summed(number, colluding):
        trust, source = ogive.SecAgg(SITES, colluding=colluding), KeyedSource.from_seed(number)
        return ogive.release(WISH, trust=trust, privacy=privacy, source=source)

    counted = summed(0, 0)  # its strategy is that of all such releases
    for number in range(RELEASES):
        curve = summed(number, 2)
        hits += holds(curve, truth)
        fewer += holds(curve, truth, counted.strategy)
    assert hits >= FEWEST
    assert fewer < FEWEST
