"""Equal charges are read together, and come to what they come to one by one."""

import random
import shutil
import sqlite3
from fractions import Fraction

import pytest
from helpers.scope import is_everything, size
from sqlalchemy import select
from vectors.make_ledger import FILE, KEY

import ogive
from ogive import Adjacency, ApproxDP, BudgetError, Ledger, LedgerError, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.ledger.entries import read_charge
from ogive.ledger.tables import SPENDS
from ogive.ledger.transactions import Charge, Charges
from ogive.privacy import GaussianDP

PRICES = (PureDP("0.01"), PureDP("0.02"), ZeroConcentratedDP("0.001"), ApproxDP("0.01", "1e-9"), GaussianDP("0.0004"))
LIMITS = (None, ApproxDP(4, "1e-6"), ApproxDP("0.05", "1e-7"))


def one_by_one(books, connection, number):
    """The oracle: each spend by itself, in order."""
    rows = connection.execute(select(SPENDS).where(SPENDS.c.data_set == number).order_by(SPENDS.c.id))
    return Charges(Charge(row.id, row.part, read_charge(row.first_charge), read_charge(row.charge)) for row in rows)


@pytest.mark.each_value
@pytest.mark.parametrize("seed", [1, 3])
def test_together_they_come_to_what_they_come_to_one_by_one(ledger, unit, seed):
    draw = random.Random(seed)
    whole = ledger.account("people", unit=unit)
    accounts = [whole, whole.part("north"), whole.part("south")]
    made = []
    spends = size(40, part=14)
    for number in range(spends):
        price = draw.choice(PRICES[: 2 + seed])
        spend = draw.choice(accounts).reserve({"n": number}, statistic="test", charge=price, secret=bytes(32))
        made.append((spend, price))
    for spend, price in draw.sample(made, 5):
        if isinstance(price, PureDP):
            spend.charge(PureDP(price.epsilon * 2))
    books, at = ledger._tables, whole._spot.number
    with books.database.read() as connection:
        oracle = one_by_one(books, connection, at)
        together = books.charges(connection, at)
        apart = books.charges(connection, at, apart=made[7][0]._number)
    assert len(together._charges) < len(oracle._charges) == sum(each.times for each in together._charges) == spends
    dearer = PureDP(Fraction(1, 2))
    for number, limit in enumerate(LIMITS):
        # in `make test` each limit has one of both
        for part in ("", "north") if is_everything() else ("", "north")[number % 2 :: 2]:
            assert together.spent(limit, part) == oracle.spent(limit, part)
            assert together.keep(limit, part) == oracle.keep(limit, part)
            if limit is not None:
                assert together.remaining(limit, part) == oracle.remaining(limit, part)
                raised = [charges.raised(made[7][0]._number, dearer) for charges in (apart, oracle)]
                assert raised[0].keep(limit, part) == raised[1].keep(limit, part)
                assert raised[0].spent(limit, part) == raised[1].spent(limit, part)
    assert len(apart._charges) == len(together._charges) + 1
    several = max(together._charges, key=lambda each: each.times)
    assert several.times > 1
    for number in (several.number, 10**6):
        with pytest.raises(LedgerError, match="lost an entry"):
            together.raised(number, dearer)


def test_the_first_charge_of_each_is_that_of_the_first_spend(ledger, unit):
    """It divides the delta of the limit; by their texts the charges would be in another order."""
    whole = ledger.account("people", unit=unit, limit=ApproxDP(1, "1e-6"))
    north = whole.part("north")
    pure, noisy = PureDP("0.1"), GaussianDP("0.0004")
    for number, (account, price) in enumerate([(north, pure), (whole, noisy), (whole, noisy), (north, pure)]):
        account.reserve({"n": number}, statistic="test", charge=price, first=price, secret=bytes(32))
    books, at = ledger._tables, whole._spot.number
    with books.database.read() as connection:
        oracle, together = one_by_one(books, connection, at), books.charges(connection, at)
    assert [charges.sequences("north")[0][0].first for charges in (together, oracle)] == [pure, pure]
    assert [charges.sequences("")[0][0].first for charges in (together, oracle)] == [noisy, noisy]
    for account, part in ((whole, ""), (north, "north")):
        assert account.remaining == oracle.remaining(ApproxDP(1, "1e-6"), part)
    # the control: in another order something else remains
    turned = Charges(reversed(together._charges))
    assert turned.remaining(ApproxDP(1, "1e-6"), "north") != together.remaining(ApproxDP(1, "1e-6"), "north")


def test_one_of_several_equal_charges_is_raised_and_the_others_stay(ledger, unit):
    account = ledger.account("people", unit=unit, limit=PureDP(3))
    spends = [
        account.reserve({"n": number}, statistic="test", charge=PureDP(1), secret=bytes(32)) for number in range(2)
    ]
    with pytest.raises(BudgetError):
        spends[1].charge(PureDP(3))
    assert account.spent == PureDP(2)
    spends[1].charge(PureDP(2))
    assert account.spent == PureDP(3)
    with pytest.raises(BudgetError):
        spends[0].charge(PureDP(2))


def test_charges_of_many_digits_are_kept(ledger, unit):
    """An index may limit how long a row is."""
    draw = random.Random(1)
    digits = "".join(draw.choice("123456789") for _ in range(3000))
    account = ledger.account("people", unit=unit, limit=PureDP(3))
    account.reserve({"n": 1}, statistic="test", charge=PureDP(f"0.{digits}"), secret=bytes(32))
    assert account.spent == PureDP(f"0.{digits}")


@pytest.fixture
def earlier(tmp_path):
    """A ledger of an earlier version, and the names of its indexes."""
    for path in (FILE, KEY):
        shutil.copyfile(path, tmp_path / path.name)
        (tmp_path / path.name).chmod(0o600)
    place = tmp_path / FILE.name

    def indexes():
        connection = sqlite3.connect(place)
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'").fetchall()
        connection.close()
        return {name for (name,) in found}

    return place, indexes


def test_a_ledger_of_an_earlier_version_gets_the_index(earlier):
    place, indexes = earlier
    Ledger.open(place, read_only=True).close()
    assert "ogive_charges" not in indexes()
    for _ in range(2):
        Ledger.open(place).close()
        assert "ogive_charges" in indexes()


def test_a_ledger_that_is_refused_is_left_as_it_is(earlier):
    place, indexes = earlier
    connection = sqlite3.connect(place)
    with connection:
        connection.execute("UPDATE ogive_meta SET value = '3' WHERE name = 'version'")
    connection.close()
    with pytest.raises(LedgerError, match="upgrade ogive"):
        Ledger.open(place)
    assert "ogive_charges" not in indexes()


def test_a_ledger_works_without_the_index_where_it_cannot_be_made(earlier, monkeypatch):
    """Another process holds the lock just then."""
    place, indexes = earlier
    other = sqlite3.connect(place, isolation_level=None)
    has_index = ogive.ledger.ledger._has_index

    def locked(connection):
        found = has_index(connection)
        other.execute("BEGIN IMMEDIATE")
        return found

    monkeypatch.setattr(ogive.ledger.ledger, "_has_index", locked)
    monkeypatch.setattr(ogive.ledger.database, "BUSY_SECONDS", 0.1)
    with Ledger.open(place) as ledger:
        other.execute("ROLLBACK")
        other.close()
        assert "ogive_charges" not in indexes()
        account = ledger.account("others", unit=PrivacyUnit(Adjacency.REPLACE))
        account.reserve({"n": 1}, statistic="test", charge=PureDP(1), secret=bytes(32))
        assert account.spent == PureDP(1)
    monkeypatch.undo()
    Ledger.open(place).close()
    assert "ogive_charges" in indexes()
