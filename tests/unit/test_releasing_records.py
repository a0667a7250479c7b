"""An account whose opener did not say what the data are answers a stored question for its own records alone."""

import numpy as np
import pytest

import ogive
from ogive.errors import ReleaseMismatchError
from ogive.privacy import Adjacency, PrivacyUnit, PureDP

UNIT = PrivacyUnit(Adjacency.REPLACE)
AGE = ogive.Ecdf("age", bounds=(0, 100), bins=8, method="histogram")
ONES, OTHERS = ({"age": np.random.default_rng(seed).integers(0, 100, 400)} for seed in (1, 2))
TRUST = {
    "central": ogive.Central,
    "local": ogive.Local,
    "secagg": lambda data: ogive.SecAgg([{"age": data["age"][:200]}, {"age": data["age"][200:]}]),
    "servers": lambda data: ogive.Servers([{"age": data["age"][:200]}, {"age": data["age"][200:]}]),
}


@pytest.fixture
def ledger():
    with ogive.Ledger.open() as opened:
        yield opened


def account(ledger, **options):
    return ledger.account("p", unit=UNIT, limit=PureDP(4), **options)


def released(pays, data, trust=ogive.Central):
    return ogive.release(AGE, trust=trust(data), privacy=PureDP(1), ledger=pays).to_dict()


@pytest.mark.parametrize("trust", TRUST.values(), ids=TRUST)
def test_a_stored_answer_is_given_for_its_own_records_alone(ledger, trust):
    first = released(account(ledger), ONES, trust)
    assert released(account(ledger), ONES, trust) == first
    with pytest.raises(ReleaseMismatchError, match="asked of other records before"):
        released(account(ledger), OTHERS, trust)
    assert account(ledger).spent == PureDP(1)


def test_updated_records_are_paid_anew(ledger):
    first = released(account(ledger), ONES)
    pays = account(ledger, updated=True)
    second = released(pays, OTHERS)
    assert second != first
    assert released(account(ledger), OTHERS) == second
    assert pays.spent == PureDP(2)


def test_parts_without_fingerprints_answer_for_their_own(ledger):
    whole = account(ledger)
    north = released(whole.part("north"), ONES)
    assert released(whole.part("south"), OTHERS) != north
    assert released(whole.part("north"), ONES) == north
    with pytest.raises(ReleaseMismatchError, match="asked of other records before"):
        released(whole.part("north"), OTHERS)


def test_who_says_nothing_gets_no_answer_of_who_said_what_the_data_are(ledger):
    session = ogive.Session(ONES, limit=PureDP(4), ledger=ledger, name="p")
    first = session.release(AGE, privacy=PureDP(1)).to_dict()
    assert released(account(ledger), ONES) == first
    with pytest.raises(ReleaseMismatchError, match="asked of other records before"):
        released(account(ledger), OTHERS)
    assert session.spent == PureDP(1)


def test_what_an_earlier_version_asked_without_a_digest_is_still_answered(ledger, monkeypatch):
    with monkeypatch.context() as earlier:
        earlier.setattr("ogive.releasing.release._with_records", lambda _, question, __: question)
        first = released(account(ledger), ONES)
        assert released(account(ledger), OTHERS) == first, "the control: any records got this answer"
    assert released(account(ledger), ONES) == first
    assert account(ledger).spent == PureDP(1)


def test_the_digest_of_records_is_keyed(ledger):
    pays = account(ledger)
    released(pays, ONES)
    (entry,) = pays.history
    kept = entry.question["records"]
    assert kept == ledger.fingerprint(ogive.Central(ONES).data_digest())
    assert ogive.Central(ONES).data_digest().hex() not in str(entry.question)
