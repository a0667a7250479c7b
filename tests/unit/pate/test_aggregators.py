"""Aggregators answer by their laws: against exact probabilities, real votes, and what noise cannot change."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from ogive.errors import DataError, ParameterError
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.pate import (
    ConfidentGNMax,
    GNMax,
    InteractiveGNMax,
    LargestMargins,
    LNMax,
    PrivacyFilter,
    label,
    privacy_cost,
    sanitize,
    smooth_cost,
)
from ogive.pate.aggregators import BITS, expected_votes, margins, threshold_check
from ogive.queries.labels import Check

RUNS = 40_000
# the spread that a right sampler leaves once in two million, and a law a tenth wider never meets here
SIGMAS = 5.0


def shares(aggregator, votes, **arguments):
    """How often each class is answered, the refused ones last."""
    found = aggregator.answer(np.tile(votes, (RUNS, 1)), source=KeyedSource.from_seed(7), **arguments)
    return np.bincount(np.where(found < 0, len(votes), found), minlength=len(votes) + 1) / RUNS


def agrees(found, expected):
    """Whether shares are those of a law, up to chance."""
    spread = np.sqrt(np.maximum(expected * (1 - expected), 1e-9) / RUNS)
    return bool((np.abs(found - expected) <= SIGMAS * spread).all())


# section 13.7 of the specification, three classes
PRINTED = [
    ((4, 1, 1), 1, (0.968795477962, 0.015602261019, 0.015602261019)),
    ((5, 1, 0), 1, (0.997486575835, 0.002327737212, 0.000185686954)),
    ((3, 2, 1), 2, (0.548743716550, 0.300925700890, 0.150330582560)),
]


@pytest.mark.parametrize(("votes", "sigma", "expected"), PRINTED)
def test_gnmax_answers_with_the_printed_probabilities(votes, sigma, expected):
    found = shares(GNMax(sigma), votes)
    assert agrees(found, np.array([*expected, 0.0]))


def test_noise_a_tenth_too_wide_or_too_narrow_is_seen():
    votes, _, expected = PRINTED[2]
    for sigma in (1.8, 2.2):
        assert not agrees(shares(GNMax(sigma), votes), np.array([*expected, 0.0]))


def laplace_shares(votes, scale):
    """The law of LNMax by sums over integers; of equal noisy counts the first class wins."""
    reach = np.arange(-60 * math.ceil(scale), 60 * math.ceil(scale) + 1)
    chance = np.exp(DiscreteLaplace(scale).log_probability(reach))
    below = np.concatenate([[0.0], np.cumsum(chance)])
    found = []
    for i, mine in enumerate(votes):
        total = chance.copy()
        for j, other in enumerate(votes):
            if j != i:  # the other's noise is at most (or, of an earlier class, below) what mine leaves
                most = reach + mine - other + (1 if j > i else 0) - reach[0]
                total *= below[np.clip(most, 0, len(chance))]
        found.append(total.sum())
    return np.array([*found, 0.0])


@pytest.mark.parametrize("scale", [0.7, 3])
def test_lnmax_answers_with_the_exact_probabilities(scale):
    votes = (3, 3, 1)
    exact = laplace_shares(votes, Fraction(str(scale)))
    assert exact.sum() == pytest.approx(1, abs=1e-12)
    assert agrees(shares(LNMax(scale), votes), exact)
    assert not agrees(shares(LNMax(1.2 * scale), votes), exact)


def test_confident_checks_and_answers_with_noise_of_its_own_each():
    votes, threshold, sigma_1, sigma_2 = (3, 2, 1), 4, 3, 2
    passed = norm.sf((threshold - 3) / sigma_1)
    expected = np.array([*(passed * np.array(PRINTED[2][2])), 1 - passed])
    assert agrees(shares(ConfidentGNMax(threshold, sigma_1, sigma_2), votes), expected)
    assert not agrees(shares(ConfidentGNMax(threshold, sigma_1 / 1.2, sigma_2), votes), expected)


def test_a_threshold_far_above_the_teachers_refuses_all_and_one_far_below_answers_all():
    votes = np.tile([5, 1], (50, 1))
    assert (ConfidentGNMax(10**9, 1, 1).answer(votes) == -1).all()
    assert (ConfidentGNMax(10**300, 1, 1).answer(votes) == -1).all()
    assert (ConfidentGNMax(-(10**300), 1, Fraction(1, 10)).answer(votes) == 0).all()


def test_a_threshold_a_little_above_the_teachers_is_passed_as_often_as_its_noise_allows():
    """As the paper's own setting for Adult: at 300 of 250 teachers, noise of 200 lets pass two in five who agree."""
    for sigma_1, passed in ((200, norm.sf(50 / 200)), (20, norm.sf(50 / 20))):
        found = shares(ConfidentGNMax(300, sigma_1, "0.1"), (250, 0))
        assert agrees(found, np.array([passed, 0, 1 - passed]))
    assert norm.sf(50 / 200) > 0.4 > 0.01 > norm.sf(50 / 20)


@pytest.fixture(scope="module")
def mnist(shared_data):
    return np.load(shared_data("pate_teacher_votes.npz"))["mnist_250"][:640].astype(np.int64)


def test_real_votes_are_answered_as_often_as_expected(mnist):
    """Section 13.9 of the specification: 282.7210292 answers are expected, with a standard deviation of 12.38."""
    source = KeyedSource.from_seed(1)
    found = [int((ConfidentGNMax(200, 150, 40).answer(mnist, source=source) >= 0).sum()) for _ in range(200)]
    assert abs(np.mean(found) - 282.7210292) <= SIGMAS * 12.38 / math.sqrt(200)
    assert 10 <= np.std(found) <= 15
    other = [int((ConfidentGNMax(200, 100, 40).answer(mnist, source=source) >= 0).sum()) for _ in range(200)]
    assert abs(np.mean(other) - 282.7210292) > SIGMAS * 12.38 / math.sqrt(200)


# The interactive test


def test_the_teachers_are_asked_first_then_the_student_then_nobody():
    votes = np.array([[9, 0, 0], [0, 9, 0], [0, 9, 0], [4, 3, 2]])
    scores = np.array([[0.95, 0.03, 0.02], [0.95, 0.03, 0.02], [0.04, 0.92, 0.04], [0.4, 0.3, 0.3]])
    interactive = InteractiveGNMax(5, Fraction(1, 50), Fraction(1, 50), "0.9")
    # agrees and is sure; is sure and wrong, and corrected; sure and right; unsure with teachers who are too
    assert interactive.answer(votes, probabilities=scores).tolist() == [0, 1, 1, -1]
    nobody = InteractiveGNMax(100, Fraction(1, 50), Fraction(1, 50), "0.9")
    assert nobody.answer(votes, probabilities=scores).tolist() == [0, 0, 1, -1]
    unsure = InteractiveGNMax(100, Fraction(1, 50), Fraction(1, 50), "0.96")
    assert unsure.answer(votes, probabilities=scores).tolist() == [-1] * 4


def test_halves_are_rounded_up():
    one = 1 << BITS
    for excess, rounded in ((Fraction(1, 2), 1), (Fraction(3, 2), 2), (Fraction(5, 2), 3), (Fraction(49, 100), 0)):
        expected = ((0, int(4 * one - excess * one)),)
        height = Check(0, DiscreteGaussian(one), expected).heights(np.array([[-9, 4]]), BITS)
        assert height.tolist() == [rounded * one]


def test_a_student_expects_its_share_of_all_teachers_rounded_once():
    one = 1 << BITS
    assert expected_votes(np.array([[0.25, 0.75]]), 8) == ((2 * one, 6 * one),)
    third = expected_votes(np.array([[1 / 3, 2 / 3]]), 250)[0]
    assert [abs(3 * each - 250 * times * one) <= 1 for each, times in zip(third, (1, 2), strict=True)] == [True, True]
    with pytest.raises(ParameterError, match="use adjacency REPLACE"):
        expected_votes(np.array([[0.25, 0.75]]), None)


def test_a_vote_that_moves_changes_the_height_by_one_vote_at_most():
    rng = np.random.default_rng(3)
    half_even = 0
    for _ in range(300):
        teachers, classes = int(rng.integers(2, 9)), int(rng.integers(2, 5))
        eighths = rng.multinomial(8, np.ones(classes) / classes) / 8
        expected = expected_votes(eighths[np.newaxis], teachers)
        votes = rng.multinomial(teachers, np.ones(classes) / classes)
        checked = Check(0, DiscreteGaussian(1 << BITS), expected)
        before = checked.heights(votes[np.newaxis], BITS)[0]
        for a in np.flatnonzero(votes):
            for c in range(classes):
                moved = votes.copy()
                moved[a] -= 1
                moved[c] += 1
                after = checked.heights(moved[np.newaxis], BITS)[0]
                assert abs(after - before) <= 1 << BITS
                exact = [(each - teachers * eighths).max() for each in (votes, moved)]
                half_even = max(half_even, abs(np.rint(exact[1]) - np.rint(exact[0])))
    assert half_even == 2  # what rounding to even would have done


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ([[np.nan, 1.0], [0.5, 0.5]], "query 0 hold NaN"),
        ([[0.5, 0.5], [1.5, -0.5]], "query 1 hold numbers outside 0 to 1"),
        ([[0.5, 0.5], [0.5, 0.4]], "query 1 hold numbers that do not add up to 1"),
        ([[0.5, 0.5]], r"shape \(queries, classes\) = \(2, 2\)"),
        ([["a", "b"], ["c", "d"]], "array of numbers"),
    ],
)
def test_probabilities_of_a_student_that_are_none_are_refused(probabilities, message):
    with pytest.raises(DataError, match=message):
        InteractiveGNMax(5, 1, 1, "0.9").answer([[3, 1], [2, 2]], probabilities=probabilities)


def test_a_second_round_needs_a_student():
    with pytest.raises(ParameterError, match="needs the student's probabilities"):
        InteractiveGNMax(5, 1, 1, "0.9").answer([[3, 1], [2, 2]])


def test_others_do_not_look_at_a_student():
    for aggregator in (LNMax(1), GNMax(1), ConfidentGNMax(2, 1, 1), LargestMargins(1, 1)):
        with pytest.raises(ParameterError, match="does not use a student's probabilities"):
            aggregator.answer([[3, 1]], probabilities=[[0.5, 0.5]])


# Margins


def test_the_largest_margins_are_kept_and_of_equal_ones_the_first():
    opened = np.array([[5, 1, 0], [9, 8, 9], [2, 7, 3], [4, 0, 0], [1, 1, 6]])
    assert margins(opened).tolist() == [4, 0, 4, 4, 5]
    assert LargestMargins(1, keep=3).labels(opened).tolist() == [0, -1, 1, -1, 2]
    assert LargestMargins(1, keep=99).labels(opened).tolist() == [0, 0, 1, 0, 2]


def test_margins_keep_the_queries_that_teachers_agree_on(mnist):
    found = LargestMargins("56.3", keep=283).answer(mnist, source=KeyedSource.from_seed(2))
    kept = found >= 0
    assert kept.sum() == 283
    plurality = mnist.argmax(axis=1)
    assert (found[kept] == plurality[kept]).mean() > 0.97
    assert mnist.max(axis=1)[kept].mean() > mnist.max(axis=1)[~kept].mean() + 20


# Parameters


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LNMax(0), "scale must be above 0"),
        (lambda: GNMax(-1), "sigma must be above 0"),
        (lambda: GNMax(math.nan), "sigma must be finite"),
        (lambda: GNMax("x"), "sigma must be a number"),
        (lambda: ConfidentGNMax(math.inf, 1, 1), "threshold must be finite"),
        (lambda: ConfidentGNMax(1, 0, 1), "sigma_1 must be above 0"),
        (lambda: ConfidentGNMax(1, 1, 0), "sigma_2 must be above 0"),
        (lambda: InteractiveGNMax(1, 1, 1, 1), "confidence must be strictly between 0 and 1"),
        (lambda: LargestMargins(1, 0), "keep must be a whole number"),
        (lambda: LargestMargins(1, 2.0), "keep must be a whole number"),
        (lambda: LargestMargins(None, 2).answer([[1, 2]]), "standard deviation of the noise"),
        (lambda: GNMax("0.001").answer([[1, 2]]), "sigma must be at least 0.0153 votes"),
        (lambda: threshold_check(Fraction(1), Fraction(1, 1000)), "sigma_1 must be at least 0.0153 votes"),
    ],
)
def test_parameters_out_of_range_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_parameters_are_exact():
    assert GNMax(0.1).sigma == Fraction(1, 10)
    assert ConfidentGNMax("1/3", 1, 2) == ConfidentGNMax(Fraction(1, 3), 1.0, "2")


def test_votes_that_are_none_are_refused_before_any_noise():
    with pytest.raises(DataError, match="query 1 add up to 3"):
        GNMax(1).answer([[2, 2], [2, 1]])


@pytest.mark.parametrize("wrong", [ConfidentGNMax, "gnmax", None, 40], ids=str)
@pytest.mark.parametrize("use", ["cost", "sanitize", "smooth", "filter", "label"])
def test_what_is_no_aggregator_is_refused_in_one_line_by_everything_that_takes_one(use, wrong):
    votes = np.full((2, 3), 4)
    called = {
        "cost": lambda: privacy_cost(votes, wrong, target_delta="1e-5"),
        "sanitize": lambda: sanitize(votes, wrong, target_delta="1e-5"),
        "smooth": lambda: smooth_cost(votes, wrong, order=5.0, smoothness=0.05),
        "filter": lambda: PrivacyFilter(wrong, epsilon=1, target_delta="1e-5", classes=3),
        "label": lambda: label(votes, wrong, target_delta="1e-5"),
    }
    with pytest.raises(ParameterError, match=r"aggregator must be one such as GNMax\(40\), got") as why:
        called[use]()
    assert "\n" not in str(why.value)


def test_a_delta_may_be_text_wherever_costs_are_counted():
    votes, aggregator = np.array([[30, 5, 5]] * 4), GNMax(10)
    assert privacy_cost(votes, aggregator, target_delta="1e-5") == privacy_cost(votes, aggregator, target_delta=1e-5)
    assert sanitize(votes, aggregator, target_delta="1e-5").delta == 1e-5


def test_sizes_beyond_floating_point_are_refused_without_offering_0():
    for size in ("1e-400", "1e400"):
        with pytest.raises(ParameterError, match="sigma must be of a size from 1e-300 to 1e300"):
            GNMax(size)
