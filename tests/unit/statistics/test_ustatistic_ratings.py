"""Kendall's tau of hotel ratings: which tau is which, and intervals that hold it under both trust models.

20 releases with fixed seeds; of true 95 % intervals at least 16 hold the value but for a chance of 1 in 300 (binomial).
Control: the same intervals about a tau that counts other ties hold it never.
"""

import gzip

import numpy as np
import pytest
from scipy.stats import kendalltau

import ogive
from ogive.noise import KeyedSource

RUNS, FEWEST = 20, 16
NONE = -1
RATINGS = (1, 2, 3, 4, 5)


@pytest.fixture(scope="module")
def ratings(shared_data):
    with gzip.open(shared_data("tripadvisor_ratings.csv.gz"), "rt") as lines:
        names = next(lines).strip().split(",")
        table = np.loadtxt(lines, delimiter=",", usecols=[names.index("rooms"), names.index("cleanliness")], dtype=int)
    return {"rooms": table[:, 0], "cleanliness": table[:, 1]}


def asked(kernel, values):
    return ogive.Ustatistic(("rooms", "cleanliness"), kernel, categories=values)


def tau_of(table, kernel, values):
    return ogive.release(asked(kernel, values), trust=ogive.Clear(table)).value


def test_the_published_tau_is_tau_a_with_a_missing_rating_as_a_sixth(ratings):
    both = {name: each[(ratings["rooms"] != NONE) & (ratings["cleanliness"] != NONE)] for name, each in ratings.items()}
    assert [len(each["rooms"]) for each in (ratings, both)] == [243_713, 185_573]
    assert tau_of(ratings, "kendall", (NONE, *RATINGS)) == pytest.approx(0.5858, abs=5e-5)
    assert tau_of(both, "kendall", RATINGS) == pytest.approx(0.435, abs=5e-4)
    for table, values, rounded in ((ratings, (NONE, *RATINGS), 0.783), (both, RATINGS, 0.657)):
        found = tau_of(table, "kendall_b", values)
        assert found == pytest.approx(rounded, abs=5e-4)
        assert found == pytest.approx(kendalltau(table["rooms"], table["cleanliness"]).statistic, rel=1e-9)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("trust", "error"), [(ogive.Central, 1e-4), (ogive.Local, 0.03)], ids=["central", "local"])
def test_an_interval_at_epsilon_one_holds_the_exact_tau(ratings, trust, error):
    values = (NONE, *RATINGS)
    exact, other = (tau_of(ratings, kernel, values) for kernel in ("kendall", "kendall_b"))
    intervals = []
    for run in range(RUNS):
        source = KeyedSource(run.to_bytes(32, "big"))
        found = ogive.release(asked("kendall", values), trust=trust(ratings), privacy=ogive.PureDP(1), source=source)
        assert found.randomization_error < error
        intervals.append(found.interval(target="sample"))
    assert sum(low <= exact <= high for low, high in intervals) >= FEWEST
    assert not any(low <= other <= high for low, high in intervals)
