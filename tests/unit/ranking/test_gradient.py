"""The gradient over pairs: exact, of the sensitivity that is priced, and with the noise that the guarantee needs."""

import itertools
import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from helpers.scope import is_everything

from ogive.accounting import covers
from ogive.errors import DataError, ParameterError
from ogive.kernels import RankingLoss
from ogive.noise import DerivedNodes, DiscreteGaussian, round_up_scale
from ogive.privacy import Adjacency, ApproxDP, PureDP, ZeroConcentratedDP
from ogive.ranking import gradient as parts
from ogive.ranking.gradient import GradientQuery, change_squared, largest_pair, pair_sum, slopes, steps_of_scores
from ogive.ranking.ranker import Descent
from ogive.ranking.rows import FEATURE_BITS, Ball

RADIUS = 2
ONE = 1 << FEATURE_BITS
# records of two features in a ball of radius 2, both labels
LATTICE = [(a, b) for a, b in itertools.product(range(-RADIUS, RADIUS + 1), repeat=2) if a * a + b * b <= RADIUS**2]
RECORDS = [(*point, label) for point in LATTICE for label in (0, 1)]
LONGEST = [(a, b, label) for a, b, label in RECORDS if a * a + b * b == RADIUS**2]


def slow_sum(rows, weights):
    """The sum over pairs from the definition, pair by pair."""
    steps, table = steps_of_scores(rows[:, :-1], weights), slopes()
    total = np.zeros(rows.shape[1] - 1, dtype=object)
    for i, j in itertools.permutations(range(len(rows)), 2):
        if rows[i, -1] > rows[j, -1]:
            slope = int(table[int(steps[i]) - int(steps[j]) + parts.STEPS_OF_SCORES - 1])
            total = total + slope * (rows[j, :-1] - rows[i, :-1]).astype(object)
    return total.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_the_sum_is_that_over_all_pairs(seed):
    random = np.random.default_rng(seed)
    rows = np.column_stack([random.integers(-ONE, ONE, (40, 3)), random.integers(0, 2, 40)])
    weights = random.integers(-(1 << 18), 1 << 18, 3)
    assert pair_sum(rows, weights) == slow_sum(rows, weights)
    assert any(pair_sum(rows, weights))


def test_sums_that_leave_64_bits_are_exact():
    # 2^20 records of each class at the two ends of the longest vector, all of them in the wrong order
    count = 1 << 20
    rows = np.repeat([[-(1 << 17), 1], [1 << 17, 0]], count, axis=0)
    assert pair_sum(rows, np.array([1 << 16])) == [int(slopes()[0]) * count * count << 18]
    assert count * count << 32 > 1 << 63


def test_the_gradient_is_that_of_the_ranking_loss():
    """To the rounding of scores, 2^-6, whose slope is at most 1/4, and of slopes."""
    random = np.random.default_rng(5)
    ball = Ball.of((-1, 1), 1.0, 3)
    features, labels = random.uniform(-0.5, 0.5, (60, 3)), random.integers(0, 2, 60)
    rows = np.column_stack([ball.lattice(features), labels])
    weights = np.array([1.5, -2.0, 0.25])
    query = GradientQuery(
        3, ball.radius, tuple((weights * 2**parts.WEIGHT_BITS).astype(int).tolist()), 0, DiscreteGaussian(1000)
    )
    found = query.gradient(query.answer(rows, None), 60)
    wanted = RankingLoss(tuple(weights), 1.0).mean_gradient(
        np.column_stack([rows[:, :-1] / ONE, labels]).astype(float), norm=2.0
    )
    assert np.abs(found - wanted).max() < 2 * 2**-6 / 4 / 2
    assert np.abs(wanted).max() > 0.02


def sensitivities(monkeypatch, n):
    """The largest squared change of S and of v by one replaced record of n, over all data sets of the tiny lattice.

    Scores have 32 steps of one half, and features are whole, so that slopes differ between these few records.
    """
    for name, value in (("FEATURE_BITS", 0), ("WEIGHT_BITS", 3), ("STEP_BITS", 1), ("STEPS_OF_SCORES", 32)):
        monkeypatch.setattr(parts, name, value)
    monkeypatch.setattr(parts, "slopes", lru_cache(slopes.__wrapped__))
    weights = np.array([1 << 3, 0])
    law = DiscreteGaussian(1000)
    query = GradientQuery(2, RADIUS, tuple(weights.tolist()), 0, law)
    largest_sum = largest_answer = 0
    stay = RECORDS if is_everything() or n == 2 else LONGEST
    for others in itertools.combinations_with_replacement(stay, n - 1):
        sums, answers = [], []
        for record in RECORDS:
            rows = np.array([record, *others], dtype=np.int64)
            sums.append(pair_sum(rows, weights))
            answers.append(query.answer(rows, None).tolist())
        for values, largest in ((sums, "sum"), (answers, "answer")):
            array = np.array(values, dtype=object)
            change = array[:, None, :] - array[None, :, :]
            most = int((change * change).sum(axis=2).max())
            if largest == "sum":
                largest_sum = max(largest_sum, most)
            else:
                largest_answer = max(largest_answer, most)
    return largest_sum, largest_answer


@pytest.mark.parametrize("n", [2, 3])
def test_no_replaced_record_changes_more_than_is_priced(monkeypatch, n):
    """Every data set of n records on a lattice, every replacement; the bound is nearly reached.

    In `make test` two records that stay are the longest ones.
    """
    by_sum, by_answer = sensitivities(monkeypatch, n)
    bound = ((n - 1) * largest_pair(RADIUS)) ** 2
    assert by_sum <= bound
    assert by_answer <= change_squared(2)
    # slopes of these margins reach 1 / (1 + e^-4) = 0.98 of the largest
    assert by_sum >= 0.96 * bound
    assert by_answer >= 0.96 * change_squared(2)
    # half the bound, as if the difference of two records were no longer than one of them, is exceeded
    assert by_sum > bound / 4
    assert by_answer > change_squared(2) / 4


def test_records_are_shortened_to_the_ball():
    random = np.random.default_rng(1)
    ball = Ball.of([(0, 10), (-5, 5), (1, 2)], 0.8, 3)
    rows = ball.lattice(random.uniform([-5, -10, 0], [15, 10, 3], (20_000, 3)))
    squared = (rows * rows).sum(axis=1)
    assert squared.max() <= ball.radius**2
    assert squared.max() > 0.99 * ball.radius**2
    assert Ball.of((0, 1), 9.0, 4).radius == 2 * ONE


def test_price_of_all_steps_meets_the_guarantee_and_less_noise_does_not():
    descent = Descent(Ball.of((0, 1), 2.0, 10), 20, 10.0)
    for privacy in (ApproxDP(1, "1e-6"), ApproxDP("0.1", "1e-9"), ZeroConcentratedDP("0.01")):
        law = parts.gradient_noise(privacy, 10, 20)
        assert covers(privacy, descent.price(law))
        less = DiscreteGaussian(round_up_scale(law.sigma * Fraction(999, 1000)))
        assert not covers(privacy, descent.price(less))
        # 21 steps with the noise of 20 are too many
        assert not covers(privacy, Descent(descent.ball, 21, 10.0).price(law))
    exact = descent.price(parts.gradient_noise(ZeroConcentratedDP("0.01"), 10, 20)).mu_squared
    assert math.isclose(float(exact), 0.02, rel_tol=1e-6)


def test_noise_is_what_is_priced():
    """Residuals of 4000 coordinates: variance within 6 standard errors of sigma^2; noise of half the scale fails."""
    law = DiscreteGaussian(5000)
    rows = np.array([[3, 1], [-5, 0], [2, 0]])
    rows = np.column_stack([np.tile(rows[:, :1], 1000), rows[:, 1]])
    residuals = []
    for step in range(4):
        query = GradientQuery(1000, 4000, (0,) * 1000, step, law)
        digest = query.digest(rows, Adjacency.REPLACE)
        noisy = query.answer(rows, DerivedNodes(bytes(32), digest))
        residuals.append((noisy - query.answer(rows, None)) / 5000)
    ratio = (np.concatenate(residuals) ** 2).mean()
    allowed = 6 * math.sqrt(2 / 4000)
    assert abs(ratio - 1) < allowed < abs(ratio / 4 - 1)
    assert not np.array_equal(residuals[0], residuals[1])


def test_every_field_and_record_enters_the_digest():
    rows = np.array([[1, 0], [2, 1], [3, 1]])
    law = DiscreteGaussian(5000)
    first = GradientQuery(1, 4000, (0,), 0, law)
    others = [
        GradientQuery(1, 4001, (0,), 0, law),
        GradientQuery(1, 4000, (1,), 0, law),
        GradientQuery(1, 4000, (0,), 1, law),
        GradientQuery(1, 4000, (0,), 0, DiscreteGaussian(5001)),
    ]
    digests = {query.digest(rows, Adjacency.REPLACE) for query in (first, *others)}
    moved = rows.copy()
    moved[0, 0] = 2
    digests |= {first.digest(moved, Adjacency.REPLACE)}
    assert len(digests) == 6


def test_refusals():
    with pytest.raises(ParameterError, match="Gaussian noise, which gives no pure guarantee"):
        parts.gradient_noise(PureDP(1), 3, 5)
    with pytest.raises(ParameterError, match="depends on the number of records"):
        parts.check_adjacency(Adjacency.ADD_OR_REMOVE)
    with pytest.raises(DataError, match="needs 2 to"):
        GradientQuery(1, 4, (0,), 0, DiscreteGaussian(5000)).answer(np.array([[1, 0]]), None)
