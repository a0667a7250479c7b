"""Gradients from reports: exact without noise, of the distance that is priced, without bias, one report an owner."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size

import ogive
from ogive.accounting import covers
from ogive.accounting.losses import gaussian_delta
from ogive.errors import DataError, ParameterError
from ogive.ledger.account import Reservation
from ogive.noise import DerivedNodes, DiscreteGaussian, KeyedSource, round_up_scale
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.ranking.gradient import REPORT_BITS, ReportsQuery, order, report_noise
from ogive.ranking.ranker import ReportedDescent
from ogive.ranking.rows import FEATURE_BITS, Ball

ONE = 1 << FEATURE_BITS
LAW = DiscreteGaussian(20_000)
RANDOM = np.random.default_rng(11)
X = RANDOM.uniform(0, 10, (60_000, 4))
Y = (X - 5) @ [2, -1, 0.5, 0] + RANDOM.logistic(size=len(X)) > 0
OPTIONS = {"bounds": (0, 10), "privacy": ApproxDP(4, "1e-6"), "classes": (False, True), "trust": ogive.Local}


MANY, FEW = size(60_000, part=20_000), size(60_000, part=5_000)
"""Records from which something is learnt, and those where nothing needs to be."""


def ranker(**changes):
    return ogive.PairwiseRanker(**{**OPTIONS, **changes})


def rows_of(count, features, seed):
    random = np.random.default_rng(seed)
    return np.column_stack([random.integers(-ONE, ONE, (count, features)), random.integers(0, 2, count)])


def slow_gradient(query, rows):
    """The mean over all pairs of the query's group, pair by pair, with slopes at the differences of intervals."""
    here = [rows[i] for i in query.group(len(rows))]
    total = np.zeros(query.features)
    weights = np.array(query.weights) / (1 << 16)
    interval = [math.floor(each[:-1] / ONE @ weights / 2) for each in here]
    low, high = (0, 0) if query.steps == 1 else (-2, 1)
    interval = [min(max(each, low), high) for each in interval]
    for i, j in itertools.permutations(range(len(here)), 2):
        if here[i][-1] > here[j][-1]:
            slope = 1 / (1 + math.exp(2 * (interval[i] - interval[j])))
            total += slope * (here[j][:-1] - here[i][:-1]) / ONE
    return total / math.comb(len(here), 2)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("steps", [1, 3])
def test_without_noise_it_is_the_gradient_over_the_pairs_of_the_group(seed, steps):
    rows = rows_of(90, 3, seed)
    weights = tuple(np.random.default_rng(seed).integers(-(1 << 19), 1 << 19, 3).tolist()) if steps > 1 else (0, 0, 0)
    query = ReportsQuery(3, 2 * ONE, weights, steps - 1, steps, LAW)
    found = query.gradient(query.answer(rows, None), len(rows))
    wanted = slow_gradient(query, rows)
    assert np.allclose(found, wanted, atol=1e-4)  # slopes are multiples of 2^-14
    assert np.abs(wanted).max() > 0.005
    if steps > 1:
        assert len(set(query.cells(rows).tolist())) >= 6


def test_one_step_takes_half_the_difference_of_the_means():
    rows = rows_of(1000, 2, 5)
    query = ReportsQuery(2, 2 * ONE, (0, 0), 0, 1, LAW)
    negative, positive = rows[rows[:, -1] == 0, :-1] / ONE, rows[rows[:, -1] == 1, :-1] / ONE
    share = len(negative) * len(positive) / math.comb(1000, 2)
    wanted = share / 2 * (negative.mean(axis=0) - positive.mean(axis=0))
    assert np.allclose(query.gradient(query.answer(rows, None), 1000), wanted)


@pytest.mark.parametrize("steps", [1, 5])
def test_no_two_records_report_vectors_further_apart_than_is_priced(steps):
    """All pairs of records of a lattice in the ball, both labels, at weights that put them into several intervals."""
    radius = 5
    points = [(a, b) for a, b in itertools.product(range(-radius, radius + 1), repeat=2) if a * a + b * b <= radius**2]
    records = np.array([(*point, label) for point in points for label in (0, 1)], dtype=np.int64)
    query = ReportsQuery(2, radius, (1 << 28, 1 << 27) if steps > 1 else (0, 0), 0, steps, LAW)
    vectors = query.vectors(records).reshape(len(records), -1)
    apart = ((vectors[:, None, :] - vectors[None, :, :]) ** 2).sum(axis=2)
    assert apart.max() == (2 * radius) ** 2
    assert len(set(query.cells(records).tolist())) == 2 * query.intervals
    # distances between records of one cell and of two both come up to the bound, so a smaller one would be false
    cells = query.cells(records)
    other = cells[:, None] != cells[None, :]
    assert apart[other].max() == (2 * radius) ** 2
    if steps == 1:
        assert apart[~other].max() == (2 * radius) ** 2


@pytest.mark.parametrize("steps", [1, 7])
def test_every_owner_reports_once(steps):
    groups = [ReportsQuery(1, 4, (0,), step, steps, LAW).group(100) for step in range(steps)]
    assert sorted(np.concatenate(groups).tolist()) == list(range(100))
    assert order(100).tolist() != list(range(100))


def test_the_price_is_that_of_one_report():
    for steps in (1, 10):
        descent = ReportedDescent(Ball.of((0, 1), 2.0, 10), steps, 10.0)
        for privacy in (ApproxDP(1, "1e-6"), ZeroConcentratedDP("0.01")):
            law = report_noise(privacy, 10, descent.ball.radius, steps)
            assert covers(privacy, descent.price(law))
            assert not covers(privacy, descent.price(DiscreteGaussian(round_up_scale(law.sigma * Fraction(999, 1000)))))
    wanted = (2 * descent.ball.radius << REPORT_BITS) / math.sqrt(2 * 0.01)
    assert float(report_noise(ZeroConcentratedDP("0.01"), 10, descent.ball.radius, 10).sigma) == pytest.approx(wanted)


def test_noise_falls_with_epsilon_as_that_of_continuous_noise():
    """At epsilon 16 as much as an analysis of real-valued noise asks, which whole features alone would not allow."""
    law = report_noise(ApproxDP(16, "1e-6"), 10, 2 * ONE, 1)
    deviations = float(law.sigma) / (4 * ONE << REPORT_BITS)
    assert gaussian_delta(1 / deviations, 16) <= 1e-6 < 1.1 * gaussian_delta(1.02 / deviations, 16)


def test_every_number_of_every_report_has_noise_of_its_own():
    """Sums of b reports have the variance b sigma^2; noise that is drawn once for all reports has b^2 sigma^2."""
    rows, law, b = rows_of(400, 60, 1), DiscreteGaussian(5000), 200
    residuals = []
    for step in (0, 1):
        query = ReportsQuery(60, 4 * ONE, (0,) * 60, step, 2, law)
        noisy = query.answer(rows, DerivedNodes(bytes(32), query.digest(rows, Adjacency.REPLACE)))
        residuals.append((noisy - query.answer(rows, None)).ravel() / (5000 * math.sqrt(b)))
    ratio = (np.concatenate(residuals) ** 2).mean()
    allowed = 6 * math.sqrt(2 / (2 * 8 * 61))
    assert abs(ratio - 1) < allowed < abs(ratio * b - 1)
    assert not np.array_equal(residuals[0], residuals[1])


def test_the_noise_makes_no_bias():
    """The mean of 4000 noisy gradients is within 5 standard errors; that of a product of equal noise is not."""
    rows = rows_of(60, 2, 3)
    query = ReportsQuery(2, 2 * ONE, (0, 0), 0, 1, LAW)
    exact = query.answer(rows, None)
    random = np.random.default_rng(2)
    noise = np.rint(random.normal(size=(4000, *exact.shape)) * (3 * ONE << REPORT_BITS) * math.sqrt(60)).astype(
        np.int64
    )
    found = np.array([query.gradient(exact + each, 60) for each in noise])
    error = found.std(axis=0) / math.sqrt(4000)
    assert (np.abs(found.mean(axis=0) - query.gradient(exact, 60)) < 5 * error).all()
    noise[:, 1, 0] = noise[:, 0, 1]  # the count of positive records and a sum of negative ones
    biased = np.array([query.gradient(exact + each, 60) for each in noise])
    assert abs(biased.mean(axis=0) - query.gradient(exact, 60))[0] > 10 * error[0]


def test_a_score_is_learnt_from_reports():
    x, y = X[:MANY], Y[:MANY]
    best = ranker(privacy=None, trust=ogive.Clear).fit(x, y).score(x, y)
    found = ranker().fit(x, y, source=KeyedSource.from_seed(1))
    assert found.score(x, y) > 0.95 * best > 0.9
    assert found.coef_[1] < 0 < found.coef_[0]
    sigma = float(report_noise(OPTIONS["privacy"], 4, 2 * ONE, 1).sigma)
    assert found.noise_ == pytest.approx(sigma / (ONE << REPORT_BITS))
    # a control: of labels that say nothing a direction is learnt that is good by chance alone
    shuffled = np.random.default_rng(2).permutation(y)
    by_chance = (ranker().fit(x, shuffled, source=KeyedSource.from_seed(seed)).score(x, y) for seed in range(6))
    assert any(each < 0.8 for each in by_chance)
    assert all(
        ranker().fit(x, y, source=KeyedSource.from_seed(seed)).score(x, y) > 0.9 for seed in range(size(6, part=2))
    )
    several = ranker(steps=3, privacy=ApproxDP(20, "1e-6")).fit(x, y, source=KeyedSource.from_seed(1))
    assert several.score(x, y) > 0.95 * best


def test_an_account_pays_for_one_report(tmp_path, monkeypatch):
    with ogive.Ledger.open(tmp_path / "budget.db") as books:
        account = books.account("customers", unit=PrivacyUnit(Adjacency.REPLACE), limit=ApproxDP(20, "1e-5"))
        record = Reservation.record
        monkeypatch.setattr(Reservation, "record", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            ranker(steps=3).fit(X[:FEW], Y[:FEW], ledger=account, source=KeyedSource.from_seed(3))
        monkeypatch.setattr(Reservation, "record", record)
        found = ranker(steps=3).fit(X[:FEW], Y[:FEW], ledger=account)
        wanted = ranker(steps=3).fit(X[:FEW], Y[:FEW], source=KeyedSource.from_seed(3))
        assert np.array_equal(found.coef_, wanted.coef_)
        again = ranker(steps=3).fit(X[:FEW], Y[:FEW], ledger=account)
        assert np.array_equal(again.coef_, found.coef_)
        (entry,) = account.history
        assert (entry.statistic, found.price_) == ("pairwise_ranker", again.price_)
        # by a curator it is another question
        ranker(steps=3, trust=ogive.Central).fit(X[:FEW], Y[:FEW], ledger=account)
        assert len(account.history) == 2


def test_refusals():
    with pytest.raises(DataError, match="reports of 10 steps need 20 to 8388608 records, got 15"):
        ranker(steps=10).fit(X[:15], Y[:15])
    with pytest.raises(ParameterError, match="gives no pure guarantee"):
        ranker(privacy=PureDP(1)).fit(X, Y)
    with pytest.raises(ParameterError, match="keeps private"):
        ranker(adjacency=Adjacency.ADD_OR_REMOVE).fit(X, Y)


def test_every_field_and_record_enters_the_digest():
    rows = np.array([[1, 0], [2, 1], [3, 1]])
    first = ReportsQuery(1, 4000, (0,), 0, 1, LAW)
    others = [
        ReportsQuery(1, 4001, (0,), 0, 1, LAW),
        ReportsQuery(1, 4000, (1,), 0, 1, LAW),
        ReportsQuery(1, 4000, (0,), 1, 2, LAW),
        ReportsQuery(1, 4000, (0,), 0, 2, LAW),
        ReportsQuery(1, 4000, (0,), 0, 1, DiscreteGaussian(5001)),
    ]
    digests = {query.digest(rows, Adjacency.REPLACE) for query in (first, *others)}
    digests |= {first.digest(rows + 1, Adjacency.REPLACE)}
    assert len(digests) == 7
