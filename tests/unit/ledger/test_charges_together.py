"""Equal charges are read together, and come to what they come to one by one."""

import random
import shutil
import sqlite3
from fractions import Fraction

import pytest
from sqlalchemy import select
from vectors.make_ledger import FILE, KEY

from ogive import ApproxDP, Ledger, PureDP, ZeroConcentratedDP
from ogive.ledger.charges import Charge, Charges
from ogive.ledger.entries import read_charge
from ogive.ledger.schema import SPENDS
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
    for number in range(40):
        price = draw.choice(PRICES[: 2 + seed])
        spend = draw.choice(accounts).reserve({"n": number}, statistic="test", charge=price, secret=bytes(32))
        made.append((spend, price))
    for spend, price in draw.sample(made, 5):
        if isinstance(price, PureDP):
            spend.charge(PureDP(price.epsilon * 2))
    books, at = ledger._books, whole._spot.number
    with books.database.read() as connection:
        oracle = one_by_one(books, connection, at)
        together = books.charges(connection, at)
        apart = books.charges(connection, at, apart=made[7][0]._number)
    assert len(together._charges) < len(oracle._charges) == sum(each.times for each in together._charges) == 40
    dearer = PureDP(Fraction(1, 2))
    for limit in LIMITS:
        for part in ("", "north"):
            assert together.spent(limit, part) == oracle.spent(limit, part)
            assert together.keep(limit, part) == oracle.keep(limit, part)
            if limit is not None:
                assert together.remaining(limit, part) == oracle.remaining(limit, part)
                raised = [charges.raised(made[7][0]._number, dearer) for charges in (apart, oracle)]
                assert raised[0].keep(limit, part) == raised[1].keep(limit, part)
                assert raised[0].spent(limit, part) == raised[1].spent(limit, part)
    # the control: to raise several that are read together is seen
    several = max(together._charges, key=lambda each: each.times)
    assert several.times > 1
    assert together.raised(several.number, dearer).spent(None, "") != oracle.raised(several.number, dearer).spent(
        None, ""
    )


def test_a_ledger_of_an_earlier_version_gets_the_index(tmp_path):
    for path in (FILE, KEY):
        shutil.copyfile(path, tmp_path / path.name)
        (tmp_path / path.name).chmod(0o600)
    place = tmp_path / FILE.name

    def indexes():
        with sqlite3.connect(place) as connection:
            found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'").fetchall()
        connection.close()
        return {name for (name,) in found}

    assert "ogive_charges" not in indexes()
    Ledger.open(place, read_only=True).close()
    assert "ogive_charges" not in indexes()
    for _ in range(2):
        Ledger.open(place).close()
        assert "ogive_charges" in indexes()
