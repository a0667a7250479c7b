"""The 95 % band holds the whole population curve in at least 95 % of releases, and is not needlessly wide.

200 releases for each of three distributions and both adjacencies; `make test` looks at the bands of a part of them. A
true level of 95 % gives fewer than `FEWEST` hits with probability below 1 in 1000 (binomial); seeds are fixed, so a
pass stays a pass. The control is a band for the sample used as one for the population: it must fall short.
"""

import numpy as np
import pytest
from helpers.coverage import fewest
from helpers.scope import size
from scipy import stats

import ogive
from ogive.noise import KeyedSource

RELEASES, RECORDS, BINS = 200, 2_000, 256
BANDS = size(RELEASES, part=30)
FEWEST = fewest(BANDS, chance=0.001)
SPIKES = np.array([12.0, 25.0, 50.0, 51.0, 90.0])


def spikes_cdf(t):
    return np.searchsorted(SPIKES, t, side="right") / len(SPIKES)


DISTRIBUTIONS = {
    "uniform": (lambda rng: rng.uniform(0, 100, RECORDS), lambda t: np.clip(t / 100, 0, 1)),
    "lognormal": (lambda rng: rng.lognormal(3, 0.6, RECORDS), lambda t: stats.lognorm.cdf(t, 0.6, scale=np.exp(3))),
    "spikes": (lambda rng: rng.choice(SPIKES, RECORDS), spikes_cdf),
}


def simulate(name, adjacency, privacy):
    """Hits of the population band, of the sample band, and the widths of the first against the ideal."""
    draw, cdf = DISTRIBUTIONS[name]
    rng = np.random.default_rng(sum(map(ord, name + adjacency.value)))
    # bands are made of what was measured, whatever smoothing does with the curve
    statistic = ogive.Ecdf("x", (0, 100), bins=BINS, smooth="isotonic")
    truth = cdf(statistic.binning().grid.thresholds)
    truth[-1] = 1.0  # values above the last threshold are clipped to it
    hits = shorter = 0
    widths, distances = [], []
    for number in range(RELEASES):
        curve = ogive.release(
            statistic,
            trust=ogive.Central({"x": draw(rng)}),
            privacy=privacy,
            adjacency=adjacency,
            source=KeyedSource(number.to_bytes(32, "big")),
        )
        distances.append(np.abs(np.clip(curve.raw / curve.raw[-1], 0, 1) - truth).max())
        if number >= BANDS:
            continue
        band, sample = curve.band(0.95), curve.band(0.95, target="sample")
        hits += bool(np.all((band.low <= truth + 1e-12) & (truth <= band.high + 1e-12)))
        shorter += bool(np.all((sample.low <= truth + 1e-12) & (truth <= sample.high + 1e-12)))
        widths.append(np.max(band.high - band.low) / 2)
    # the ideal: the half-width that this very estimator would need, known only in a simulation
    return hits, shorter, float(np.mean(widths)), float(np.quantile(distances, 0.95))


@pytest.mark.each_value
@pytest.mark.slow
@pytest.mark.distribution
@pytest.mark.parametrize("adjacency", ogive.Adjacency)
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_band_holds_the_population_curve_and_is_not_needlessly_wide(name, adjacency):
    hits, shorter, width, ideal = simulate(name, adjacency, ogive.PureDP(1))
    print(f"{name} {adjacency.value}: {hits}/{BANDS} hits, half-width {width:.4f}, ideal {ideal:.4f}")
    assert hits >= FEWEST
    assert shorter < FEWEST, "control: without the sampling error the band is too narrow"
    # noise and sampling seldom stray most at the same point, and the noise of a private total is bounded
    most = ideal * (1.35 if adjacency is ogive.Adjacency.REPLACE else 1.45)
    assert 0.85 * most <= width <= most
    assert 0.8 * width < 0.85 * most, "control: a fifth less of the width is seen, which the hits of few bands are not"


def test_the_level_of_this_file_is_what_it_says():
    assert stats.binom.cdf(FEWEST - 1, BANDS, 0.95) <= 0.001
    assert FEWEST >= 0.8 * BANDS
