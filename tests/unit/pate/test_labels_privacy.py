"""The loss of labels and of opened votes on tiny instances, worked out exactly, stays within the stated price.

Every data set of a few teachers is enumerated, and every neighbour. The chance of every transcript of labels follows
from the laws of the integer noise by sums over integers, written here another way than in the mechanism; delta at an
epsilon is then a sum over transcripts. A price that is a tenth too small must fail.
"""

import itertools
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from helpers.scope import size
from scipy.signal import fftconvolve

from ogive.accounting import delta_of_gaussian
from ogive.errors import ParameterError
from ogive.noise import DerivedNodes, DiscreteGaussian, DiscreteLaplace
from ogive.privacy import Adjacency, GaussianDP, PrivacyUnit, PureDP
from ogive.queries import Ballots, LabelsQuery, VotesQuery
from ogive.queries.labels import NOT_ASKED, REFUSED, Check

REPLACE, ADD = PrivacyUnit(Adjacency.REPLACE), PrivacyUnit(Adjacency.ADD_OR_REMOVE)
BITS = 10
VOTE = 1 << BITS
EPSILONS = [Fraction(each) for each in ("0", "1/10", "1/4", "1/2", "1", "2")]
ROUNDING = 1e-9


@lru_cache(maxsize=32)
def table(law):
    """Integers that the law's noise does not leave, their chances, and the chances to stay below each and beyond."""
    reach = int(40 * law.scale) + 40 if isinstance(law, DiscreteLaplace) else int(9 * law.sigma)
    values = np.arange(-reach, reach + 1)
    chance = np.exp(law.log_probability(values))
    return reach, chance, np.concatenate([[0.0], np.cumsum(chance)])


@lru_cache(maxsize=4096)
def argmax_law(counts, law, bits):
    """The chance of every class to have the largest noisy count; of equal ones the first wins."""
    reach, chance, below = table(law)
    places = np.arange(-reach, reach + 1)
    found = []
    for i, mine in enumerate(counts):
        total = chance.copy()
        for j, other in enumerate(counts):
            if j != i:
                beaten = places + ((mine - other) << bits) + (j > i)  # the other's noise must be below this
                total = total * below[np.clip(beaten + reach, 0, len(chance))]
        found.append(float(total.sum()))
    return found


def pass_chance(check, height, bits):
    """The chance that a height passes a check."""
    reach, _, below = table(check.law)
    wanted = check.threshold - (height << bits)
    return float(1.0 - below[np.clip(wanted + reach, 0, 2 * reach + 1)])


def transcripts(query, votes):
    """The chance of everything that can be answered for vote counts, query after query."""
    found = {(): 1.0}
    for counts in votes:
        grown = {}
        for so_far, chance in found.items():
            answered = sum(label >= 0 for label in so_far)
            if answered == query.max_answers:
                grown[(*so_far, NOT_ASKED)] = chance
                continue
            passed = 1.0 if query.check is None else pass_chance(query.check, int(max(counts)), query.bits)
            if query.check is not None:
                grown[(*so_far, REFUSED)] = chance * (1 - passed)
            for label, share in enumerate(argmax_law(tuple(counts), query.law, query.bits)):
                grown[(*so_far, label)] = chance * passed * share
        found = grown
    return found


def counts_of(ballots, teachers):
    """Vote counts of teachers, each a tuple of votes."""
    found = np.zeros(ballots.shape, dtype=np.int64)
    for votes in teachers:
        found[np.arange(len(votes)), list(votes)] += 1
    return tuple(map(tuple, found.tolist()))


def neighbours(ballots, teachers, adjacency):
    """Pairs of vote counts of so many teachers, one of whom votes otherwise, or is absent where that is private too."""
    choices = list(itertools.product(range(ballots.classes), repeat=len(ballots.queries)))
    found = set()
    for others in itertools.combinations_with_replacement(choices, teachers - 1):
        for one in choices:
            found |= {(counts_of(ballots, (*others, one)), counts_of(ballots, (*others, two))) for two in choices}
            if adjacency is Adjacency.ADD_OR_REMOVE:
                with_one, without = counts_of(ballots, (*others, one)), counts_of(ballots, others)
                found |= {(with_one, without), (without, with_one)}
    return sorted(pair for pair in found if pair[0] != pair[1])


def excess(query, unit, price, teachers):
    """By how much the exact delta exceeds the price's, at the worst pair and epsilon; negative if it does not."""
    laws = {}
    worst = -1.0
    for first, second in neighbours(query.ballots, teachers, unit.adjacency):
        for votes in (first, second):
            if votes not in laws:
                laws[votes] = transcripts(query, votes)
                assert sum(laws[votes].values()) == pytest.approx(1, abs=1e-9)
        p, q = (np.array([laws[votes].get(each, 0.0) for each in laws[first]]) for votes in (first, second))
        for epsilon in EPSILONS:
            exact = float(np.maximum(p - np.exp(float(epsilon)) * q, 0).sum())
            if isinstance(price, PureDP):
                allowed = 0.0 if epsilon >= price.epsilon else np.inf
            else:
                allowed = delta_of_gaussian(price, epsilon)
            worst = max(worst, exact - allowed)
    return worst


def gaussian(sigma):
    return DiscreteGaussian(Fraction(sigma) * VOTE)


def ballots(queries, classes=2):
    return Ballots(tuple(f"q{number}" for number in range(queries)), classes)


ONE_ANSWER = LabelsQuery(ballots(1), gaussian("1.5"), 1, BITS)
# of one check alone: an answer with so much noise costs nothing
ONE_CHECK = LabelsQuery(ballots(1), gaussian(100), 1, BITS, Check(int(2.5 * VOTE), gaussian("1.5")))
CASES = {
    "one answer": (ONE_ANSWER, 3),
    "one answer of three classes": (LabelsQuery(ballots(1, 3), gaussian(1), 1, BITS), 3),
    "one check": (ONE_CHECK, 3),
    "two answers": (LabelsQuery(ballots(2), gaussian(2), 2, BITS), 2),
    "one answer of two queries": (LabelsQuery(ballots(2), gaussian(1), 1, BITS, Check(2 * VOTE, gaussian(2))), 3),
    "checks and answers": (LabelsQuery(ballots(2), gaussian(2), 2, BITS, Check(2 * VOTE, gaussian(2))), 3),
    "three queries": (LabelsQuery(ballots(3), gaussian(2), 2, BITS, Check(2 * VOTE, gaussian(3))), 2),
}


@pytest.mark.parametrize("unit", [REPLACE, ADD], ids=lambda unit: unit.adjacency.value)
@pytest.mark.parametrize("name", CASES)
def test_labels_lose_no_more_than_their_price(name, unit):
    query, teachers = CASES[name]
    price = query.price(unit)
    assert isinstance(price, GaussianDP)
    assert excess(query, unit, price, teachers) <= ROUNDING


@pytest.mark.parametrize("name", ["one answer", "one check"])
def test_a_price_a_tenth_too_small_is_found_out(name):
    query, teachers = CASES[name]
    price = query.price(REPLACE)
    cheaper = GaussianDP(price.mu_squared * Fraction(9, 10), price.distance)
    assert excess(query, REPLACE, cheaper, teachers) > 1e-3


def test_a_private_number_of_teachers_makes_no_vote_cheaper():
    """Whoever leaves a teacher's data changes the teacher's vote, so that the price of one count is too small."""
    for query, teachers in (CASES["one answer"], CASES["two answers"]):
        price = query.price(ADD)
        half = GaussianDP(price.mu_squared / 2, price.distance)
        assert excess(query, ADD, half, teachers) > 1e-2


def test_answers_priced_as_one_are_found_out():
    """Two answers against the price of one; a cap that was not kept would look like this."""
    two, one = LabelsQuery(ballots(2), gaussian(2), 2, BITS), LabelsQuery(ballots(1), gaussian(2), 1, BITS)
    assert excess(two, REPLACE, one.price(REPLACE), 2) > 1e-3


@pytest.mark.parametrize("unit", [REPLACE, ADD], ids=lambda unit: unit.adjacency.value)
def test_laplace_answers_lose_no_more_than_their_price(unit):
    query = LabelsQuery(ballots(2), DiscreteLaplace(2), 2)
    price = query.price(unit)
    assert price == PureDP(2)
    worst = max(
        max(np.log(chance / transcripts(query, second)[label]) for label, chance in transcripts(query, first).items())
        for first, second in neighbours(query.ballots, 4, unit.adjacency)
    )
    assert worst <= float(price.epsilon) + ROUNDING
    assert worst > 0.5 * float(price.epsilon)


def test_the_answers_follow_the_transcripts_law():
    """What the mechanism answers under many keys, against the chances above; and not against those of other votes."""
    query, _ = CASES["three queries"]
    votes, other = ((2, 0), (1, 1), (2, 0)), ((1, 1), (1, 1), (2, 0))
    runs = size(3000, part=1000)
    found = {}
    for run in range(runs):
        answer = tuple(query.answer(np.array(votes), DerivedNodes(run.to_bytes(32, "big"), b"")).tolist())
        found[answer] = found.get(answer, 0) + 1

    def distance(law):
        expected = {each: chance * runs for each, chance in law.items()}
        assert set(found) <= set(expected)
        large = [each for each, count in expected.items() if count >= 5]
        return sum((found.get(each, 0) - expected[each]) ** 2 / expected[each] for each in large), len(large)

    statistic, cells = distance(transcripts(query, votes))
    limit = cells + 6 * (2 * cells) ** 0.5
    assert statistic < limit
    assert distance(transcripts(query, other))[0] > 2 * limit


def opened_delta(query, changed, epsilon):
    """Exact delta of so many counts that change by one vote each, up or down.

    With s a vote on the scale of the noise, the log ratio of z_1, z_2, ... is (2 s W + changed s^2) / (2 sigma^2), W
    being the noise of all changed counts added up, each with a sign; so its law is that of a sum of independent
    integers.
    """
    reach, chance, _ = table(query.law)
    total = chance
    for _ in range(changed - 1):
        total = fftconvolve(total, chance)
    places = np.arange(len(total)) - changed * reach
    vote = 1 << query.bits
    losses = (2.0 * vote * places + changed * vote**2) / (2 * float(query.law.sigma) ** 2)
    return float((total * np.maximum(0, -np.expm1(float(epsilon) - losses))).sum())


def test_opened_votes_cost_two_counts_for_a_teacher_who_votes_otherwise():
    query = VotesQuery(ballots(1), gaussian("1.5"), BITS)
    for unit in (REPLACE, ADD):
        price = query.price(unit)
        assert price.mu_squared == 2 / Fraction("1.5") ** 2
        for epsilon in EPSILONS:
            allowed = delta_of_gaussian(price, epsilon)
            assert allowed - 1e-6 <= opened_delta(query, 2, epsilon) <= allowed + ROUNDING
            assert opened_delta(query, 3, epsilon) > allowed + 0.01


def test_opened_votes_are_dearer_than_labels_of_a_cap_and_prices_do_not_know_the_votes():
    votes = VotesQuery(ballots(640, 10), DiscreteGaussian(40 << 16), 16)
    assert votes.price(REPLACE).mu_squared == Fraction(2 * 640, 1600)
    labels = LabelsQuery(
        ballots(640, 10), DiscreteGaussian(40 << 16), 300, 16, Check(200 << 16, DiscreteGaussian(150 << 16))
    )
    assert labels.price(REPLACE).mu_squared == Fraction(640, 150**2) + Fraction(2 * 300, 1600)
    assert labels.price(ADD) == labels.price(REPLACE)
    assert labels.price(PrivacyUnit(Adjacency.ADD_OR_REMOVE, "p", 3)).mu_squared == 9 * labels.price(ADD).mu_squared


def test_votes_expected_of_a_private_number_of_teachers_have_no_price():
    check = Check(VOTE, gaussian(1), ((VOTE, VOTE),))
    with pytest.raises(ParameterError, match="use adjacency REPLACE"):
        LabelsQuery(ballots(1), gaussian(1), 1, BITS, check).price(ADD)


def test_the_run_ends_at_the_last_answer_that_is_allowed():
    quiet = LabelsQuery(ballots(5), gaussian(1), 2, BITS, Check(3 * VOTE, gaussian(1)))
    votes = np.array([[4, 0], [2, 2], [0, 4], [4, 0], [0, 4]])
    assert quiet.answer(votes, None).tolist() == [0, REFUSED, 1, NOT_ASKED, NOT_ASKED]
    just = LabelsQuery(ballots(5), gaussian(1), 5, BITS, Check(4 * VOTE, gaussian(1)))
    assert just.answer(votes, None).tolist() == [0, REFUSED, 1, 0, 1]
    for run in range(50):
        found = quiet.answer(votes, DerivedNodes(run.to_bytes(32, "big"), b""))
        assert (found >= 0).sum() <= 2
        if (found == NOT_ASKED).any():
            first = int(np.argmax(found == NOT_ASKED))
            assert (found[:first] >= 0).sum() == 2
            assert (found[first:] == NOT_ASKED).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LabelsQuery(ballots(2), gaussian(1), 0, BITS), "max_answers must be a whole number from 1 to 2"),
        (lambda: LabelsQuery(ballots(2), gaussian(1), 3, BITS), "max_answers must be"),
        (lambda: LabelsQuery(ballots(2), DiscreteGaussian(3), 1), "laws must all be"),
        (lambda: LabelsQuery(ballots(1), DiscreteLaplace(3), 1, 0, Check(1, gaussian(1))), "laws must all be"),
        (lambda: LabelsQuery(ballots(1), gaussian(1), 1, BITS, Check(1, gaussian(1), ((1, 2), (3, 4)))), "expected"),
        (lambda: Ballots((), 2), "names of one or more columns"),
        (lambda: Ballots(("a", "a"), 2), "named twice"),
        (lambda: Ballots(("a",), 1), "at least 2"),
        (lambda: Ballots(("a", "b"), 1 << 24), "ask for fewer queries"),
    ],
)
def test_questions_that_do_not_fit_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()
