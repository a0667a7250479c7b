"""Labels from votes in one call: priced beforehand, paid once, repeated when resumed, ended by their caps."""

from fractions import Fraction

import numpy as np
import pytest

from ogive.accounting import covers, epsilon_of_gaussian
from ogive.errors import BudgetError, DataError, ParameterError, ReleaseMismatchError, UnsupportedError
from ogive.ledger import Ledger
from ogive.ledger.account import Reservation
from ogive.noise import KeyedSource
from ogive.pate import ConfidentGNMax, GNMax, InteractiveGNMax, LargestMargins, LNMax, Tallied, label
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import Ballots
from ogive.releasing.release import release
from ogive.statistics import Ecdf, Labels
from ogive.trust import Central, Clear

RNG = np.random.default_rng(5)
TEACHERS, QUERIES, CLASSES = 250, 60, 10
CAST = np.where(
    RNG.random((TEACHERS, QUERIES)) < np.linspace(0.3, 1, QUERIES),
    np.arange(QUERIES) % CLASSES,
    RNG.integers(0, CLASSES, (TEACHERS, QUERIES)),
)
VOTES = np.array([np.bincount(column, minlength=CLASSES) for column in CAST.T])
NAMES = tuple(f"q{number}" for number in range(QUERIES))
TABLE = dict(zip(NAMES, CAST.T, strict=True))
BALLOTS = Ballots(NAMES, CLASSES)
CONFIDENT = ConfidentGNMax(200, 150, 40)
DELTA = "1e-5"


@pytest.fixture
def account():
    with Ledger.open() as ledger:
        yield ledger.account("teachers", unit=PrivacyUnit(Adjacency.REPLACE), limit=ApproxDP(8, "1e-4"))


def test_the_price_is_that_of_the_specification():
    """Section 12: MNIST, 640 queries, cap 300: 2.6070 for labels alone and 3.8486 for opened histograms."""
    votes = np.tile([[230, 10, 10, 0, 0, 0, 0, 0, 0, 0]], (640, 1))
    found = label(votes, CONFIDENT, target_delta=DELTA, max_answers=300)
    assert float(found.provenance.privacy.epsilon) == pytest.approx(2.606957, abs=1e-5)
    opened = label(votes, LargestMargins(40, keep=283), target_delta=DELTA)
    assert float(opened.provenance.privacy.epsilon) == pytest.approx(3.848610, abs=1e-4)
    equal = label(votes, LargestMargins(None, keep=283), privacy=ApproxDP("2.606957", DELTA))
    assert float(equal.law.sigma) / 2**equal.bits == pytest.approx(56.3, abs=0.05)


def test_a_run_is_paid_once_and_a_second_one_is_free_and_the_same(account):
    first = label(VOTES, CONFIDENT, target_delta=DELTA, max_answers=20, ledger=account)
    spent = account.remaining
    again = label(VOTES, CONFIDENT, target_delta=DELTA, max_answers=20, ledger=account)
    assert again == first
    assert account.remaining == spent
    assert [entry.statistic for entry in account.history] == ["labels"]
    other = label(VOTES, CONFIDENT, target_delta=DELTA, max_answers=21, ledger=account)
    assert account.remaining.epsilon < spent.epsilon
    assert other.provenance.release_id != first.provenance.release_id


def test_the_account_pays_for_caps_and_never_for_what_was_answered():
    """Votes that are all answered, some, or none: one price and one entry."""
    paid = set()
    for votes in (VOTES, np.tile([[250] + [0] * 9], (QUERIES, 1)), np.tile([[25] * 10], (QUERIES, 1))):
        with Ledger.open() as ledger:
            account = ledger.account("t", unit=PrivacyUnit(Adjacency.REPLACE), limit=ApproxDP(8, "1e-4"))
            found = label(votes, CONFIDENT, target_delta=DELTA, max_answers=20, ledger=account)
            assert found.answered <= 20
            paid.add((account.remaining, found.provenance.price, found.provenance.privacy))
    ((_, price, privacy),) = paid
    assert price.mu_squared == Fraction(QUERIES, 150**2) + Fraction(2 * 20, 1600)
    assert covers(privacy, price)
    assert privacy.epsilon == epsilon_of_gaussian(price, Fraction(DELTA))


def test_a_run_that_was_cut_off_repeats_its_labels_and_pays_no_more(account, monkeypatch):
    seen = []
    record = Reservation.record

    def killed(self, written):
        seen.append(written["labels"])
        raise KeyboardInterrupt

    monkeypatch.setattr(Reservation, "record", killed)
    with pytest.raises(KeyboardInterrupt):
        label(VOTES, CONFIDENT, target_delta=DELTA, max_answers=20, ledger=account)
    left = account.remaining
    assert left.epsilon < 8
    with pytest.raises(KeyboardInterrupt):
        label(VOTES, CONFIDENT, target_delta=DELTA, max_answers=20, ledger=account)
    monkeypatch.setattr(Reservation, "record", record)
    done = label(VOTES, CONFIDENT, target_delta=DELTA, max_answers=20, ledger=account)
    assert seen[0] == seen[1] == done.labels.tolist()
    assert account.remaining == left
    with pytest.raises(ReleaseMismatchError, match="asked of other votes before"):
        label(VOTES[::-1], CONFIDENT, target_delta=DELTA, max_answers=20, ledger=account)
    assert account.remaining == left
    label(VOTES[::-1], CONFIDENT, target_delta=DELTA, max_answers=20, ledger=account, batch="second round")
    assert account.remaining.epsilon < left.epsilon  # other votes never get the noise of these


def test_the_run_ends_when_either_cap_is_reached():
    sure = np.tile([[250] + [0] * 9], (QUERIES, 1))
    ended = label(sure, ConfidentGNMax(-1000, 10, 10), target_delta=DELTA, max_answers=7)
    assert (ended.answered, ended.asked) == (7, 7)
    assert ended.labels.tolist() == [0] * 7 + [-1] * (QUERIES - 7)
    whole = label(sure, ConfidentGNMax(10_000, 10, 10), target_delta=DELTA, max_answers=7)
    assert (whole.answered, whole.asked) == (0, QUERIES)
    more = label(sure, GNMax(20), target_delta=DELTA, max_answers=10 * QUERIES)
    assert (more.answered, more.asked) == (QUERIES, QUERIES)


def test_what_does_not_fit_the_account_or_the_grant_leaves_no_trace():
    with Ledger.open() as ledger:
        account = ledger.account("t", unit=PrivacyUnit(Adjacency.REPLACE), limit=ApproxDP("0.5", "1e-5"))
        with pytest.raises(BudgetError):
            label(VOTES, CONFIDENT, target_delta=DELTA, ledger=account)
        with pytest.raises(BudgetError, match="would cost mu"):
            label(VOTES, CONFIDENT, privacy=ApproxDP("0.1", "1e-5"), ledger=account)
        assert account.history == ()


@pytest.mark.parametrize("aggregator", [LNMax(15), GNMax(40), CONFIDENT, LargestMargins(40, 30)], ids=lambda a: a.name)
def test_counts_and_rows_of_votes_give_the_labels_of_one_law(aggregator):
    privacy = PureDP(8) if aggregator.name == "lnmax" else ApproxDP(4, DELTA)
    exact = release(Labels(aggregator, BALLOTS), trust=Clear(TABLE))
    numbered = Labels(aggregator, Tallied(VOTES).ballots)
    counted = release(numbered, trust=Tallied(VOTES), privacy=privacy, source=KeyedSource.from_seed(1))
    rows = release(Labels(aggregator, BALLOTS), trust=Central(TABLE), privacy=privacy, source=KeyedSource.from_seed(2))
    assert exact.provenance.price is None
    assert counted.provenance.price == rows.provenance.price
    assert counted.provenance.trust == rows.provenance.trust == "central"
    assert counted.total == rows.total == exact.total == TEACHERS
    for found in (counted, rows):
        errors = found.errors(exact)
        assert errors["wrong"] <= 0.25
        assert errors["answered"] <= 0.2
    plurality = VOTES.argmax(axis=1)
    labelled = exact.labels >= 0
    assert np.array_equal(exact.labels[labelled], plurality[labelled])


def test_exact_labels_are_refused_exactly_below_the_threshold():
    exact = release(Labels(CONFIDENT, BALLOTS), trust=Clear(TABLE))
    assert np.array_equal(exact.labels, np.where(VOTES.max(axis=1) >= 200, VOTES.argmax(axis=1), -1))


def test_an_interactive_run_says_who_answered(account):
    scores = np.full((QUERIES, CLASSES), 0.005)
    guess = (np.arange(QUERIES) + np.arange(QUERIES) % 2) % CLASSES  # wrong in every second query
    scores[np.arange(QUERIES), guess] = 0.955
    found = label(VOTES, InteractiveGNMax(100, 20, 20, "0.9"), probabilities=scores, target_delta=DELTA, ledger=account)
    assert found.taught.any()
    assert not found.taught.all()
    assert (found.labels >= 0).all()  # the student is sure of all that the teachers do not answer
    own = ~found.taught
    assert np.array_equal(found.labels[own], scores.argmax(axis=1)[own])
    assert "labelled by the student itself" in str(found)
    with pytest.raises(ParameterError, match="use adjacency REPLACE"):
        label(
            VOTES,
            InteractiveGNMax(100, 20, 20, "0.9"),
            probabilities=scores,
            target_delta=DELTA,
            adjacency=Adjacency.ADD_OR_REMOVE,
        )


def test_a_private_number_of_teachers_costs_the_same():
    kept = label(VOTES, GNMax(40), privacy=ZeroConcentratedDP(1))
    private = label(VOTES, GNMax(40), privacy=ZeroConcentratedDP(1), adjacency=Adjacency.ADD_OR_REMOVE)
    assert isinstance(kept.provenance.price, GaussianDP)
    assert private.provenance.price == kept.provenance.price
    assert (kept.total, private.total) == (TEACHERS, None)


def test_whoever_has_several_teachers_is_paid_for_as_a_group():
    one = label(VOTES, GNMax(40), privacy=ZeroConcentratedDP(9))
    hospital = Tallied(VOTES, person="hospital", max_rows_per_person=4)
    four = label(hospital, GNMax(40), privacy=ZeroConcentratedDP(9), adjacency=Adjacency.ADD_OR_REMOVE)
    assert four.provenance.price.mu_squared == 16 * one.provenance.price.mu_squared
    assert (four.provenance.person, four.provenance.max_rows_per_person) == ("hospital", 4)
    for said in ({"person": "hospital", "max_rows_per_person": 0}, {"max_rows_per_person": 2}, {"person": 3}):
        with pytest.raises(ParameterError):
            Tallied(VOTES, **said)


def test_the_same_question_about_other_votes_is_another_question():
    """Two rounds over other queries look alike, and have public names: the first answers are not the second's."""
    other = VOTES[:, ::-1].copy()
    with Ledger.open() as ledger:
        account = ledger.account("patients", unit=PrivacyUnit(Adjacency.REPLACE), limit=ZeroConcentratedDP(5))
        asked = {"privacy": ZeroConcentratedDP("0.1"), "ledger": account}
        first = label(VOTES, LargestMargins(40, QUERIES), **asked)
        with pytest.raises(ReleaseMismatchError, match="batch="):
            label(other, LargestMargins(40, QUERIES), **asked)
        second = label(other, LargestMargins(40, QUERIES), batch="second", **asked)
        again = label(VOTES.copy(), LargestMargins(40, QUERIES), **asked)
        assert len(account.history) == 2
        # whether votes are the same decides no price: a round with a name of its own is paid for
        label(VOTES, LargestMargins(40, QUERIES), batch="third", **asked)
        assert len(account.history) == 3
    assert again == first
    assert first.provenance.release_id != second.provenance.release_id
    assert not np.array_equal(first.labels, second.labels)


def test_files_of_votes_are_read(tmp_path):
    np.savez(tmp_path / "votes.npz", mnist=VOTES, other=VOTES[:2])
    found = label(tmp_path / "votes.npz", LNMax(1000), name="mnist")
    assert len(found.labels) == QUERIES
    assert found.provenance.price == PureDP(Fraction(2 * QUERIES, 1000))


def test_what_cannot_be_meant_is_refused_in_one_line():
    for arguments, message in (
        ({}, "privacy=, or target_delta="),
        ({"privacy": PureDP(1), "target_delta": DELTA}, "exclude each other"),
        ({"target_delta": DELTA, "max_answers": 0}, "max_answers must be"),
        ({"target_delta": DELTA, "max_answers": True}, "max_answers must be"),
        ({"target_delta": DELTA, "name": "x"}, "name is for a file"),
        ({"target_delta": DELTA, "ballots": BALLOTS}, "leave out ballots"),
        ({"target_delta": DELTA, "probabilities": [[0.5]]}, "does not use"),
        ({"target_delta": 0}, "delta must be"),
    ):
        with pytest.raises(ParameterError, match=message) as why:
            label(VOTES, CONFIDENT, **arguments)
        assert "\n" not in str(why.value)
    with pytest.raises(ParameterError, match="leave out target_delta"):
        label(VOTES, LNMax(3), target_delta=DELTA)
    with pytest.raises(ParameterError, match="derived from the guarantee"):
        label(VOTES, LargestMargins(None, 3), target_delta=DELTA)
    with pytest.raises(ParameterError, match="set the number of labelled queries"):
        label(VOTES, LargestMargins(40, 3), target_delta=DELTA, max_answers=3)
    with pytest.raises(ParameterError, match="with ballots="):
        label(Central(TABLE), CONFIDENT, target_delta=DELTA)
    with pytest.raises(ParameterError, match="aggregator must be one such as"):
        label(VOTES, "gnmax", privacy=PureDP(1))
    with pytest.raises(DataError, match="add up to"):
        label([[1, 2], [1, 1]], CONFIDENT, target_delta=DELTA)


def test_votes_that_rows_cannot_hold_are_refused_by_their_column():
    for wrong, message in (
        ([0, 1, 10], "column 'q1' has votes that are not classes; the classes are 0 to 9"),
        ([0, 1, -1], "column 'q1' has votes that are not classes"),
        ([0, 1, 2.5], "column 'q1' has votes that are not classes"),
        ([0, 1, None], "column 'q1' has missing votes"),
        (["a", "b", "c"], "column 'q1' holds text"),
    ):
        trust = Central({"q0": [0, 1, 2], "q1": wrong})
        with pytest.raises(DataError, match=message):
            label(trust, GNMax(40), ballots=Ballots(("q0", "q1"), CLASSES), target_delta=DELTA)


def test_counts_answer_nothing_but_their_own_queries():
    tallied = Tallied(VOTES)
    with pytest.raises(UnsupportedError, match="these 60 queries alone"):
        release(Ecdf("x", (0, 1), bins=4), trust=tallied, privacy=PureDP(1))
    with pytest.raises(UnsupportedError, match="these 60 queries alone"):
        release(Labels(GNMax(40), BALLOTS), trust=tallied, privacy=ApproxDP(4, DELTA))
    with pytest.raises(DataError, match="their own queries"):
        tallied.aggregate(BALLOTS)
