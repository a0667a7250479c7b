"""The same people twice: under a new name, or in two parts, they are noticed before the first spend."""

import functools
import json

import numpy as np
import pandas as pd
import pytest
from helpers.schemas import fits
from helpers.scope import size
from sqlalchemy import select

import ogive
from ogive import Adjacency, LedgerError, Local, Pairs, PrivacyUnit, PureDP, SecAgg, Servers, Session, Simulation
from ogive.ledger.account import LEAST_SEEN, MOST_HASHES, overlap
from ogive.ledger.tables import META

TENTH, TWO = PureDP("0.1"), PureDP(2)
RNG = np.random.default_rng(17)
N = 1_000
PEOPLE = RNG.permutation(N)
AGES = RNG.integers(18, 90, N)


def table(who, seed=0):
    ages = np.random.default_rng(seed).integers(18, 90, len(who))
    return {"age": ages, "who": who}


def opened(ledger, data, name, **options):
    return Session(data, **{"ledger": ledger, "limit": TWO, "person": "who", "name": name} | options)


def spend(session, bins=10, **options):
    return session.ecdf("age", bounds=(0, 100), bins=bins, privacy=TENTH, **{"method": "tree_ls"} | options)


@pytest.fixture
def patients(ledger):
    """An account that was spent from."""
    session = opened(ledger, table(PEOPLE), "patients")
    spend(session)
    return session


def rows(ledger):
    with ledger._tables.database.read() as connection:
        found = connection.execute(select(META).where(META.c.name.startswith("people ")))
        return {row.name: json.loads(row.value) for row in found}


def mostly(count, seed=1):
    """Nine tenths of the people, and some others."""
    old = np.random.default_rng(seed).permutation(PEOPLE)[: count * 9 // 10]
    return np.concatenate([old, np.arange(10 * N, 10 * N + count - len(old))])


ATTACKS = {
    "shuffled": lambda: table(np.random.default_rng(2).permutation(PEOPLE)),
    "other values": lambda: table(PEOPLE, seed=3),
    "new rows": lambda: table(np.concatenate([PEOPLE, np.arange(N, N + N // 2)])),
    "nine tenths and some others": lambda: table(mostly(N)),
    "a tenth of them": lambda: table(PEOPLE[: N // 10]),
    "within a larger table": lambda: table(np.arange(8 * N)),
    "several rows each": lambda: table(np.repeat(PEOPLE, 2)),
    "ids as floats": lambda: table(PEOPLE.astype(float)),
    "ids as texts": lambda: table(PEOPLE.astype(str)),
    "ids with leading zeros": lambda: table(np.array([f"{each:08}" for each in PEOPLE])),
    "ids with spaces": lambda: table(np.array([f" {each} " for each in PEOPLE])),
    "a frame": lambda: pd.DataFrame(table(PEOPLE)).sample(frac=1, random_state=4),
    "another column": lambda: pd.DataFrame(table(PEOPLE)).assign(extra=1),
}


@pytest.mark.each_value
@pytest.mark.parametrize("attack", ATTACKS)
def test_the_same_people_get_no_second_account(ledger, patients, attack):
    with pytest.raises(LedgerError, match=r"(these records|the account 'patients') (have|are)") as refusal:
        opened(ledger, ATTACKS[attack](), "second")
    for words in ("name='patients'", "updated=True", "other_people=True"):
        assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert [account.name for account in ledger.accounts()] == ["patients"]


def test_the_same_people_in_a_file_get_no_second_account(ledger, patients, tmp_path):
    frame = pd.DataFrame(table(mostly(N)))
    frame.to_csv(tmp_path / "second.csv", index=False)
    frame.astype({"who": str}).to_parquet(tmp_path / "third.parquet")
    for name in ("second.csv", "third.parquet"):
        with pytest.raises(LedgerError, match="90 % of the people in these records have the account 'patients'"):
            opened(ledger, tmp_path / name, None)


@pytest.mark.each_value
@pytest.mark.parametrize(
    "trust",
    [
        Simulation(SecAgg, parties=3, colluding=1),
        Simulation(Servers, servers=2, parties=2, upload="sums"),
        Local,
        Simulation(Pairs, circuits="clear"),
    ],
    ids=lambda trust: trust.name,
)
def test_whoever_holds_the_records_the_same_people_get_no_second_account(patients, ledger, trust):
    with pytest.raises(LedgerError, match="have the account 'patients' already"):
        opened(ledger, table(mostly(N)), "second", trust=trust)
    first = opened(ledger, table(np.arange(N) + 20 * N), "third", trust=trust)
    if trust is Local:
        spend(first, method="reports")
    elif trust.name == "pairs":
        first.ustatistic("age", "gini", bounds=(0, 100), bins=16, method="paired", privacy=TENTH)
    else:
        spend(first)
    with pytest.raises(LedgerError, match="have the account 'third' already"):
        opened(ledger, table(np.arange(N)[::-1] + 20 * N), "fourth")


@pytest.mark.each_value
@pytest.mark.parametrize("common", [0, N // 10, N // 2], ids=["nobody", "a tenth", "half"])
def test_other_people_get_an_account(ledger, patients, common):
    """The control: nobody in common, few, or exactly half."""
    who = np.concatenate([PEOPLE[:common], np.arange(N - common) + 5 * N])
    second = opened(ledger, table(who), "second")
    spend(second)
    assert second._account.shared_people == ()
    assert len(ledger.accounts()) == 2


def test_one_more_than_half_is_refused(ledger, patients):
    who = np.concatenate([PEOPLE[: N // 2 + 1], np.arange(N // 2 - 1) + 5 * N])
    with pytest.raises(LedgerError, match="50 % of the people in these records"):
        opened(ledger, table(who), "second")


def test_without_a_person_column_nothing_is_kept_or_noticed(ledger):
    for name, data in (("one", table(PEOPLE)), ("two", table(PEOPLE[::-1]))):
        spend(opened(ledger, data, name, person=None))
    assert rows(ledger) == {}


def test_a_second_budget_can_be_had_by_saying_so_and_the_statement_shows_it(ledger, patients):
    second = opened(ledger, table(mostly(N)), "second", other_people=True)
    spend(second)
    (shared,) = second._account.shared_people
    assert (shared.account, shared.part, shared.declared) == ("patients", None, True)
    assert "people     declared to be other people than those with the same ids in the account 'patients'" in str(
        second
    )
    assert "people  " not in str(patients)
    exported = ledger.export()
    fits(exported)
    assert [account.get("shared_people") for account in exported["accounts"]] == [None, [shared.to_dict()]]
    # it is said once, and whoever holds a third table says it of both
    spend(opened(ledger, table(mostly(N)), "second"), bins=11)
    third = opened(ledger, table(mostly(N, seed=9)), "third", other_people=True)
    spend(third)
    assert {each.account for each in third._account.shared_people} == {"patients", "second"}


def test_saying_so_where_nobody_is_shared_is_not_recorded(ledger, patients):
    second = opened(ledger, table(np.arange(N) + 5 * N), "second", other_people=True)
    spend(second)
    assert second._account.shared_people == ()


def test_two_that_were_opened_before_either_spent_are_not_both_paid(ledger):
    first, second = (opened(ledger, table(PEOPLE, seed), name) for seed, name in ((1, "one"), (2, "two")))
    spend(first)
    with pytest.raises(LedgerError, match="have the account 'one' already"):
        spend(second)
    assert [account.name for account in ledger.accounts()] == ["one"]


def test_an_account_that_was_begun_without_records_compares_them_with_the_first(ledger, patients):
    unit = PrivacyUnit(Adjacency.REPLACE, "who")
    ledger.account("second", unit=unit, limit=TWO)
    with pytest.raises(LedgerError, match="have the account 'patients' already"):
        opened(ledger, table(mostly(N)), "second")
    spend(opened(ledger, table(np.arange(N) + 5 * N), "second"))


# --- newer records of an account


def test_newer_records_of_the_same_people_belong_to_their_account(ledger, patients):
    newer = opened(ledger, table(mostly(N)), "patients", updated=True)
    spend(newer)
    assert newer._account.shared_people == ()
    assert len(rows(ledger)) == 1


def test_people_who_left_are_still_known(ledger, patients):
    others = np.arange(N) + 5 * N
    spend(opened(ledger, table(others), "patients", updated=True))
    for who in (PEOPLE, others):
        with pytest.raises(LedgerError, match="have the account 'patients' already"):
            opened(ledger, table(who, seed=9), "second")


def test_newer_records_of_another_accounts_people_are_refused(ledger, patients):
    spend(opened(ledger, table(np.arange(N) + 5 * N), "second"))
    with pytest.raises(LedgerError, match="have the account 'patients' already"):
        opened(ledger, table(mostly(N)), "second", updated=True)
    assert len(ledger.account("second").history) == 1
    # what was refused is not kept: the first records are still the account's
    opened(ledger, table(np.arange(N) + 5 * N), "second")


def test_people_are_hashed_once_for_the_same_records(ledger):
    asked = []

    def hasher(data):
        found = ogive.records.Records.of(data)

        def hashes(*, key, count):
            asked.append(name)
            return found.person_hashes("who", key=key, count=count)

        return hashes

    unit = PrivacyUnit(Adjacency.REPLACE, "who")
    for name, updated in (("first", False), ("again", False), ("other", True), ("once more", False)):
        data = table(PEOPLE, seed=int(name in ("other", "once more")))
        fingerprint = ledger.fingerprint(ogive.records.Records.of(data).digest())
        options = {"fingerprint": fingerprint, "updated": updated, "people": hasher(data)}
        ledger.account("patients", unit=unit, limit=TWO, **options)
    assert asked == ["first", "other"]


# --- parts


@pytest.fixture
def region(ledger):
    whole = opened(ledger, table(np.arange(N)), "region")
    north = whole.part("north", table(np.arange(N // 2)))
    spend(whole)
    spend(north)
    return whole


@pytest.mark.each_value
@pytest.mark.parametrize("shared", [1, 50, N // 2])
def test_nobody_is_in_two_parts(region, shared):
    who = np.arange(N // 2 - shared, N - shared)
    with pytest.raises(LedgerError, match=r"of the people in these records are in the part 'north' too") as refusal:
        region.part("south", table(who, seed=8))
    assert "remove them from one part" in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert len(region.history) == 2


def test_parts_of_different_people_are_paid_beside_each_other(region):
    """The control."""
    spend(region.part("south", table(np.arange(N // 2, N))))
    assert region.spent == PureDP("0.2")
    assert region._account.shared_people == ()


def test_two_parts_that_were_opened_before_either_spent_are_not_both_paid(region):
    east, west = (region.part(name, table(np.arange(700, 800), seed)) for seed, name in ((1, "east"), (2, "west")))
    spend(east)
    with pytest.raises(LedgerError, match="in the part 'east' too"):
        spend(west)


def test_a_person_who_moved_is_noticed_when_a_part_is_updated(region):
    spend(region.part("south", table(np.arange(N // 2, N))))
    with pytest.raises(LedgerError, match="in the part 'north' too"):
        region.part("south", table(np.arange(N // 2 - 1, N)), updated=True)
    # also if the other part has them no more
    spend(region.part("north", table(np.arange(N // 2 - 1)), updated=True), bins=11)
    with pytest.raises(LedgerError, match="in the part 'north' too"):
        region.part("south", table(np.arange(N // 2 - 1, N)), updated=True)


def test_ids_that_mean_other_people_in_each_part_can_be_declared(ledger, region):
    south = region.part("south", table(np.arange(N // 2), seed=5), other_people=True)
    spend(south)
    assert "the account 'region', part 'north'" in str(south)
    assert "the account 'region', part 'north'" in str(region)
    fits(ledger.export())


def test_a_part_of_another_data_set_is_an_account_of_its_people(ledger, region):
    with pytest.raises(LedgerError, match=r"have the account 'region', part 'north', already .* and part='north'"):
        opened(ledger, table(np.arange(N // 4)), "second")


def test_parts_in_a_ledger_that_ends_with_the_session_are_compared_too():
    whole = Session(table(np.arange(N)), limit=TWO, person="who")
    spend(whole.part("north", table(np.arange(600))))
    with pytest.raises(LedgerError, match="in the part 'north' too"):
        whole.part("south", table(np.arange(500, N)))


# --- large tables, of which a sample is kept


def known(numbers, key=bytes(32)):
    records = ogive.records.Records.of({"who": numbers})
    return records.person_hashes("who", key=key, count=MOST_HASHES)


LARGE = size(200_000, part=50_000)


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("count", "common", "noticed"),
    [
        (LARGE, LARGE, True),
        (LARGE, LARGE * 6 // 10, True),
        (LARGE, LARGE * 4 // 10, False),
        (LARGE, LARGE // 10, False),
        (LARGE, 0, False),
        (LARGE // 50, LARGE // 50, True),
        (LARGE // 50, LARGE // 500, False),
        (3 * LARGE, LARGE, True),
    ],
)
def test_samples_of_large_tables_tell_how_many_are_shared(ledger, count, common, noticed):
    who = np.concatenate([np.arange(common), np.arange(count - common) + 10 * LARGE])
    spend(opened(ledger, table(np.arange(LARGE)), "patients"))
    open_second = functools.partial(opened, ledger, table(who, seed=1), "second")
    if not noticed:
        spend(open_second())
        return
    with pytest.raises(LedgerError, match=r"about .* % of"):
        open_second()


def test_shares_are_estimated_within_their_error():
    """At 4,096 hashes within five standard deviations, for any sizes."""
    base = known(np.arange(LARGE))
    for count, common in ((LARGE, LARGE // 3), (LARGE // 4, LARGE // 8), (2 * LARGE, LARGE // 2)):
        who = np.concatenate([np.arange(common), np.arange(count - common) + 10 * LARGE])
        shared, ours, theirs, exact = overlap(known(who), base)
        assert not exact
        assert max(ours, theirs) == MOST_HASHES
        assert abs(shared / ours - common / count) < 5 * (0.25 / ours) ** 0.5
        assert abs(shared / theirs - common / LARGE) < 5 * (0.25 / theirs) ** 0.5


def test_small_tables_are_compared_exactly():
    shared, ours, theirs, exact = overlap(known(np.arange(3_000)), known(np.arange(2_999, 6_000)))
    assert (shared, ours, theirs, exact) == (1, 3_000, 3_001, True)


def test_a_few_common_hashes_of_a_small_and_a_large_table_are_no_proof():
    """What the documentation states: a table of a few people within a large one is not noticed."""
    shared, ours, _, exact = overlap(known(np.arange(100)), known(np.arange(200_000)))
    assert not exact
    assert shared == ours < LEAST_SEEN


# --- what is kept


def test_what_is_kept_tells_nobody_without_the_key_who_or_how_many_they_are(ledger):
    for name, count in (("few", 3), ("many", 3_000), ("more", 20_000)):
        spend(opened(ledger, table(np.arange(count) + 1_000_000 * count), name))
    spend(opened(ledger, table(np.arange(3_000) + 3_000_000_000, seed=4), "again", other_people=True))
    kept = list(rows(ledger).values())
    assert len(kept) == 4
    assert {len(row["sealed"]) for row in kept} == {4 * -(-(12 + 4 + 8 * MOST_HASHES + 16) // 3)}
    # sealed anew each time: two of the same people have nothing in common
    starts = {row["sealed"][place : place + 8] for row in kept for place in range(0, 4_000, 8)}
    assert len(starts) == 4 * 500


def test_a_damaged_row_is_one_line(ledger, patients):
    (name, good) = next(iter(rows(ledger).items()))
    spoiled = [
        good | {"sealed": good["sealed"][:-8]},
        good | {"sealed": "A" * len(good["sealed"])},
        good | {"sealed": None},
        good | {"part": "south"},
        good | {"part": 7},
        good | {"shared": [{"account": 3, "part": None, "declared": True}]},
        good | {"shared": 5},
        {},
        [],
    ]
    for row in [json.dumps(each) for each in spoiled] + ["", "{"]:
        with ledger._tables.database.write() as connection:
            connection.execute(META.update().where(META.c.name == name).values(value=row))
        with pytest.raises(LedgerError, match="damaged"):
            opened(ledger, table(np.arange(N) + 5 * N), "second")
    with ledger._tables.database.write() as connection:
        connection.execute(META.delete().where(META.c.name == name))
        connection.execute(META.insert().values(name="people 77 x", value=json.dumps(good)))
    with pytest.raises(LedgerError, match="damaged"):
        opened(ledger, table(np.arange(N) + 5 * N), "second")
