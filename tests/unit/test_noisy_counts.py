"""Curves of noisy counts that others released: exact sums, the stated noise of all parties, and honest bands."""

import datetime
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size

import ogive
from ogive.errors import ParameterError
from ogive.noise import DiscreteLaplace, KeyedSource
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.statistics.kinds import read_recorded

COUNTS = [103, 251, 402, 198, 51]
BOUNDS = (0, 50)


def test_raw_counts_are_added_up():
    curve = ogive.curve_from_counts(COUNTS, bounds=BOUNDS, scale=2)
    assert curve.raw.tolist() == np.cumsum(COUNTS).tolist()
    assert curve.provenance.total is None


def test_a_public_total_ends_the_curve():
    curve = ogive.curve_from_counts(COUNTS, bounds=BOUNDS, scale=2, total=1000, adjacency=Adjacency.REPLACE)
    assert curve.raw[-1] == 1000
    assert curve.records == 1000
    # the last count is one more look at what the first ones say, so the surplus of 5 is shared out
    assert np.allclose(curve.raw, np.cumsum(COUNTS) - np.arange(1, 6))


@pytest.mark.parametrize(("parties", "factor"), [(1, 1), (2, 2), (5, 5)])
def test_the_noise_of_all_parties_is_counted(parties, factor):
    curve = ogive.curve_from_counts(COUNTS, bounds=BOUNDS, scale=7, parties=parties)
    one = DiscreteLaplace(7).variance
    mean = np.mean(np.arange(1, 6))
    assert curve.rmse() * curve.records == pytest.approx(np.sqrt(factor * one * mean))


@pytest.mark.parametrize(
    ("noise", "adjacency", "price"),
    [
        ({"scale": 2}, "add_or_remove", PureDP("1/2")),
        ({"scale": "20/3"}, "replace", PureDP("3/10")),
        ({"sigma": 4}, "add_or_remove", ZeroConcentratedDP(Fraction(1, 32))),
        ({"sigma": "2.5"}, "replace", ZeroConcentratedDP(Fraction(4, 25))),
    ],
)
def test_the_price_is_that_of_one_honest_party(noise, adjacency, price):
    total = 1000 if adjacency == "replace" else None
    curve = ogive.curve_from_counts(COUNTS, bounds=BOUNDS, total=total, adjacency=adjacency, **noise)
    assert curve.provenance.price == price
    assert "cannot be verified" in curve.provenance.assumption
    again = read_recorded(curve.to_dict())
    assert again.to_dict() == curve.to_dict()


def test_other_grids():
    days = ogive.curve_from_counts(
        [3, 4, 5], bounds=(datetime.date(2026, 1, 1), datetime.date(2026, 1, 3)), grid="days", scale=1
    )
    assert days.quantile(0.3) >= datetime.date(2026, 1, 1)
    ages = ogive.curve_from_counts(np.ones(11), bounds=(0, 10), grid="integers", scale=1)
    assert len(ages.thresholds) == 11
    made = ogive.curve_from_counts([5, 9], grid=ogive.Grid.explicit((1.0, 4.0), low=0), sigma=1)
    assert made.thresholds.tolist() == [1.0, 4.0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"counts": []}, "must be a list of noisy counts"),
        ({"counts": [[1, 2]]}, "must be a list of noisy counts"),
        ({"counts": [1.5, 2, 3, 4, 5]}, "must be whole numbers"),
        ({"counts": ["a"] * 5}, "must be whole numbers"),
        ({"counts": [1 << 60] * 5}, "must be whole numbers"),
        ({"counts": [1, np.nan, 3]}, "must be whole numbers"),
        ({"scale": None}, "state the noise of each party"),
        ({"sigma": 3}, "state the noise of each party"),
        ({"scale": 0}, "must be above 0"),
        ({"scale": -1}, "must be above 0"),
        ({"scale": None, "sigma": 0}, "must be above 0"),
        ({"parties": 0}, "parties"),
        ({"total": 10}, "under REPLACE alone"),
        ({"adjacency": "replace"}, "under REPLACE alone"),
        ({"bounds": None}, "bounds"),
        ({"grid": "integers"}, "the grid has 51 bins, and there are 5 counts"),
    ],
)
def test_bad_input_is_one_line(change, words):
    arguments = {"counts": COUNTS, "bounds": BOUNDS, "scale": 2} | change
    with pytest.raises(ParameterError) as refusal:
        ogive.curve_from_counts(arguments.pop("counts"), **arguments)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


RUNS = size(300, part=100)


def covered(parties, runs=RUNS, scale=6):
    """How often the band of noise alone holds the exact counts, where two parties add noise and so many are stated."""
    truth = np.random.default_rng(3).integers(0, 60, 24)
    exact = np.cumsum(truth) / truth.sum()
    law, hits = DiscreteLaplace(scale), 0
    for run in range(runs):
        source = KeyedSource(run.to_bytes(32, "big"))
        noise = law.sample(24, source=source) + law.sample(24, source=source)
        curve = ogive.curve_from_counts(
            truth + noise, bounds=(0, 24), scale=scale, parties=parties, total=int(truth.sum()), adjacency="replace"
        )
        band = curve.band(0.9, target="sample")
        hits += bool(((band.low <= exact + 1e-12) & (exact - 1e-12 <= band.high)).all())
    return hits / runs


def test_the_band_holds_the_exact_counts_as_often_as_it_says_and_not_with_less_noise_than_there_is():
    assert covered(2) >= 0.9 - 3 * np.sqrt(0.09 / RUNS)
    assert covered(1) < 0.85
