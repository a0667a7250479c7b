"""Adaptive quantiles: the search by hand, prices of every round, and agreement with a slow oracle."""

from fractions import Fraction

import numpy as np
import pytest

from ogive.accounting import covers
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.errors import ParameterError, UnsupportedError
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries.histograms import ThresholdQuery
from ogive.releasing.release import release
from ogive.statistics import Ecdf, Quantiles
from ogive.statistics.methods.curve_methods import AdaptiveQuantiles, Search, usual_rounds
from ogive.trust import Central, Clear

REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE
VALUES = {"x": np.random.default_rng(4).gamma(3, 1, 5000)}


def paper(counts, rounds):
    """Section 9.2 of the specification, without noise, written from its text; thresholds as numbers of bins below."""
    knots = [(0.0, 0), (1.0, len(counts))]
    asked = []
    for _ in range(rounds):
        shares, places = sorted(q for q, _ in knots), sorted(x for _, x in knots)
        gaps = [(shares[i + 1] - shares[i], -i) for i in range(len(places) - 1) if places[i + 1] - places[i] > 1]
        if not gaps:
            break
        i = -max(gaps)[1]
        middle = (places[i] + places[i + 1]) // 2
        asked.append(middle - 1)
        knots.append((counts[:middle].sum() / counts.sum(), middle))
    return asked


def test_without_noise_the_thresholds_are_those_of_the_specification():
    grid = Grid.linear(0, 12, bins=200)
    counts = np.bincount(grid.bin_of(VALUES["x"]), minlength=200)
    curve = release(
        Ecdf("x", (0, 12), bins=200, method=AdaptiveQuantiles(rounds=20)),
        trust=Central(VALUES),
        privacy=ZeroConcentratedDP(10**6),
        source=KeyedSource(bytes(32)),
    )
    assert list(curve.strategy.points) == paper(counts, 20)
    assert curve.strategy.points[0] == 99
    points = np.array(curve.strategy.points)
    assert curve.cumulative[points] == pytest.approx(np.cumsum(counts)[points], abs=0.5)


def test_a_search_ends_where_no_gap_can_be_halved():
    search = Search(4)
    asked, point = [], 1
    while point is not None:
        asked.append(point)
        point = search.after(point, point + 1.0, 4)
    assert sorted(asked) == [0, 1, 2]


def test_shares_beyond_the_possible_are_clipped_and_matched_by_rank():
    search = Search(64)
    assert search.after(31, -50.0, 100) == 47  # all records seem to lie above
    assert search.after(47, 500.0, 100) == 39


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("privacy", [PureDP(1), ZeroConcentratedDP("0.1"), ApproxDP(1, "1e-6")], ids=str)
def test_all_rounds_together_cost_what_is_granted(privacy, adjacency):
    statistic = Ecdf("x", (0, 12), bins=256, method=AdaptiveQuantiles(rounds=12))
    curve = release(
        statistic, trust=Central(VALUES), privacy=privacy, adjacency=adjacency, source=KeyedSource(bytes(32))
    )
    assert covers(privacy, curve.provenance.price)
    assert curve.provenance.method == "adaptive"
    assert len(curve.strategy.points) == (12 if adjacency is REPLACE else 13)
    assert (255 in curve.strategy.points) == (adjacency is ADD)
    assert curve.strategy.loss(adjacency) == curve.provenance.price
    # one round more of the same noise would cost too much
    more = AdaptiveQuantiles(rounds=13)
    price = [query.price(PrivacyUnit(adjacency)) for query in asked(more, privacy, adjacency)]
    assert price[0] != asked(statistic.method, privacy, adjacency)[0].price(PrivacyUnit(adjacency))
    assert abs(curve(3.0) - np.mean(VALUES["x"] <= 3.0)) < 0.1


def asked(method, privacy, adjacency):
    """All queries of a release."""
    queries = []

    class Watched(Central):
        def refusal(self, query):
            if query not in queries:
                queries.append(query)
            return

    release(Ecdf("x", (0, 12), bins=256, method=method), trust=Watched(VALUES), privacy=privacy, adjacency=adjacency)
    return queries


def test_noise_of_a_round_is_that_of_the_methods_file():
    query = asked(AdaptiveQuantiles(rounds=50, noise="gaussian"), ApproxDP("0.1", "1e-6"), REPLACE)[0]
    assert float(query.law.sigma) / 2**20 == pytest.approx(256.712892743, rel=1e-6)
    query = asked(AdaptiveQuantiles(rounds=50, accounting="naive"), ApproxDP("0.1", "1e-6"), REPLACE)[0]
    assert float(query.law.sigma) / 2**20 == pytest.approx(1809.63335298, rel=1e-6)
    query = asked(AdaptiveQuantiles(rounds=8), PureDP(2), REPLACE)[0]
    assert query.law == DiscreteLaplace(4)


def test_rounds_follow_the_records_for_each_unit_of_noise():
    strict, loose = ApproxDP("0.1", "1e-6"), ApproxDP(1, "1e-6")
    assert usual_rounds(strict, 1, 1000) < usual_rounds(strict, 1, 10_000) < usual_rounds(loose, 1, 10_000)
    assert usual_rounds(strict, 3, 10_000) < usual_rounds(strict, 1, 10_000)
    assert 12 <= usual_rounds(strict, 1, 10_000) <= 25  # section 9.2: about 15 is clearly better than 50
    assert usual_rounds(strict, 1, None) == usual_rounds(strict, 1, 10_000)


def test_quantiles_and_clear_take_it():
    quantiles = release(
        Quantiles("x", (0.5,), bounds=(0, 12), bins=256, method="adaptive"), trust=Central(VALUES), privacy=PureDP(1)
    )
    assert quantiles.values[0] == pytest.approx(np.median(VALUES["x"]), abs=1.0)
    clear = release(Ecdf("x", (0, 12), bins=256, method="adaptive"), trust=Clear(VALUES))
    assert clear.strategy is None
    assert abs(clear(3.0) - np.mean(VALUES["x"] <= 3.0)) < 0.02


def test_refusals_name_what_would_be_right():
    with pytest.raises(ParameterError, match="rounds must be a whole number"):
        AdaptiveQuantiles(rounds=0)
    with pytest.raises(ParameterError, match="accounting must be"):
        AdaptiveQuantiles(accounting="no")
    with pytest.raises(ParameterError, match="noise must be"):
        AdaptiveQuantiles(noise="loud")
    with pytest.raises(ParameterError, match="at least 2 bins"):
        release(Ecdf("x", (0, 12), bins=1, method="adaptive"), trust=Central(VALUES), privacy=PureDP(1))
    with pytest.raises(ParameterError, match="Gaussian noise cannot give"):
        release(
            Ecdf("x", (0, 12), method=AdaptiveQuantiles(noise="gaussian")), trust=Central(VALUES), privacy=PureDP(1)
        )
    with pytest.raises(UnsupportedError, match="use smooth='isotonic'"):
        release(Ecdf("x", (0, 12), method="adaptive", smooth="shrinkage"), trust=Central(VALUES), privacy=PureDP(1))


def test_a_query_at_a_threshold_is_a_count_with_a_price_of_its_own():
    binning = Binning("x", Grid.linear(0, 1, bins=8), "refuse")
    query = ThresholdQuery(binning, 3, DiscreteGaussian(2000), 3)
    assert query.measure(np.arange(8)).tolist() == [6 << 3]
    assert query.price(PrivacyUnit(REPLACE)).mu_squared == Fraction(64, 2000**2)
    assert query.totals(np.arange(8), REPLACE) == (28,)
    assert query.totals(np.arange(8), ADD) is None
    same, other = (ThresholdQuery(binning, point, DiscreteGaussian(2000), 3) for point in (3, 4))
    assert same.digest(np.arange(8), REPLACE) == query.digest(np.arange(8), REPLACE)
    assert other.digest(np.arange(8), REPLACE) != query.digest(np.arange(8), REPLACE)
    for point in (-1, 8, True, 0.5):
        with pytest.raises(ParameterError, match="point must be"):
            ThresholdQuery(binning, point, DiscreteLaplace(2))
    dropping = ThresholdQuery(Binning("x", Grid.linear(0, 1, bins=8), "drop"), 3, DiscreteLaplace(2))
    with pytest.raises(ParameterError, match="missing='drop'"):
        dropping.price(PrivacyUnit(REPLACE))
