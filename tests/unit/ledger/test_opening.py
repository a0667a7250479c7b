"""Which account records have: one, whatever it is called; it begins with its first spend if it is opened lazily."""

import sqlite3
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from helpers.forked import python
from helpers.postgres import server
from helpers.waiting import PATIENCE

import ogive
from ogive.errors import BudgetError, LedgerError, ParameterError
from ogive.ledger.mark import config_folder, draft_of, make_key, read_key
from ogive.privacy import Adjacency, PrivacyUnit, PureDP

SECRET = bytes(32)


def reserve(account, charge, *, what="a"):
    return account.reserve({"what": what}, statistic="test", charge=charge, secret=SECRET)


def marks(ledger, *contents):
    return [ledger.fingerprint(content) for content in contents]


def test_records_have_one_account(ledger, unit):
    mark, other = marks(ledger, b"a", b"b")
    ledger.account("p", unit=unit, limit=PureDP(1), fingerprint=mark)
    for updated in (False, True):
        for lazy in (False, True):
            with pytest.raises(LedgerError, match=r"^these records already have the account 'p'; use it: name='p'$"):
                ledger.account("q", unit=unit, limit=PureDP(1), fingerprint=mark, updated=updated, lazy=lazy)
    assert [account.name for account in ledger.accounts()] == ["p"]
    ledger.account("q", unit=unit, limit=PureDP(1), fingerprint=other)
    with pytest.raises(LedgerError, match="already have the account 'p'"):
        ledger.account("q", fingerprint=mark, updated=True)
    assert ledger.account("q", fingerprint=other).name == "q", "the refused update changed nothing"


def test_records_of_before_an_update_have_no_second_account(ledger, unit):
    old, new = marks(ledger, b"old", b"new")
    reserve(ledger.account("p", unit=unit, limit=PureDP(1), fingerprint=old), PureDP(1))
    ledger.account("p", fingerprint=new, updated=True)
    with pytest.raises(LedgerError, match="already have the account 'p'"):
        ledger.account("q", unit=unit, limit=PureDP(1), fingerprint=old)
    assert ledger.account("p", fingerprint=old, updated=True).remaining is None


def test_a_part_is_no_other_part_and_no_other_account(ledger, unit):
    whole, half, rest = marks(ledger, b"whole", b"half", b"rest")
    account = ledger.account("p", unit=unit, limit=PureDP(1), fingerprint=whole)
    account.part("north", fingerprint=half)
    words = r"^these records already have the account 'p', part 'north'; use it: name='p' and part='north'$"
    for updated in (False, True):
        with pytest.raises(LedgerError, match=words):
            account.part("south", fingerprint=half, updated=updated)
        with pytest.raises(LedgerError, match=words):
            ledger.account("q", unit=unit, fingerprint=half, updated=updated)
    other = ledger.account("q", unit=unit, fingerprint=rest)
    with pytest.raises(LedgerError, match="already have the account 'p'; use it"):
        other.part("west", fingerprint=whole, lazy=True)
    account.part("all", fingerprint=whole)  # pays into the same account as the whole
    assert account.part("north", fingerprint=half).part_name == "north"


def test_a_lazy_account_begins_with_its_first_spend(ledger, unit):
    (mark,) = marks(ledger, b"a")
    account = ledger.account("p", unit=unit, limit=PureDP(2), fingerprint=mark, lazy=True)
    assert (account.limit, account.spent, account.remaining) == (PureDP(2), None, PureDP(2))
    assert (account.history, account.answers(), account.find({"what": "a"})) == ((), (), None)
    with pytest.raises(BudgetError, match="has epsilon = 2 left of epsilon = 2"):
        reserve(account, PureDP(3))
    assert account.is_new
    assert ledger.accounts() == (), "what was refused leaves nothing"
    reservation = reserve(account, PureDP(1))
    assert (account.is_new, account.begun) == (False, True)
    assert account.charged_here(reservation.release_id)
    again = ledger.account("p", fingerprint=mark, lazy=True)
    assert (again.remaining, again.begun) == (PureDP(1), False)
    assert not again.charged_here(reserve(again, PureDP(1)).release_id)
    with pytest.raises(LedgerError, match="for other data before"):
        ledger.account("p", fingerprint=ledger.fingerprint(b"b"))


def test_a_first_fingerprint_is_kept_with_the_first_spend(ledger, unit):
    wrong, right = marks(ledger, b"wrong", b"right")
    steward = ledger.account("p", unit=unit, limit=PureDP(2))
    with pytest.raises(BudgetError):
        reserve(ledger.account("p", fingerprint=wrong, lazy=True), PureDP(3))
    late = ledger.account("p", fingerprint=wrong, lazy=True)
    reserve(ledger.account("p", fingerprint=right, lazy=True), PureDP(1))
    with pytest.raises(LedgerError, match="for other data before"):
        reserve(late, PureDP(1), what="b")
    assert steward.spent == PureDP(1)
    assert steward.part("north", fingerprint=wrong, lazy=True).remaining == PureDP(1)
    assert steward.part("north", fingerprint=ledger.fingerprint(b"n")).part_name == "north", "nothing was kept"


def test_a_limit_that_is_set_begins_a_lazy_account(ledger, unit):
    account = ledger.account("p", unit=unit, limit=PureDP(2), lazy=True)
    account.set_limit(PureDP(3))
    assert ledger.account("p").limit == account.limit == PureDP(3)


def test_one_of_two_names_for_the_same_records_wins_a_race(ledger, unit):
    (mark,) = marks(ledger, b"a")
    accounts = [ledger.account(f"p{n}", unit=unit, limit=PureDP(1), fingerprint=mark, lazy=True) for n in range(6)]

    def spend(account):
        try:
            reserve(account, PureDP(1))
        except LedgerError as problem:
            return str(problem)
        return None

    with ThreadPoolExecutor(6) as pool:
        said = list(pool.map(spend, accounts))
    assert said.count(None) == 1
    assert all("already have the account" in text for text in said if text is not None)
    assert len(ledger.accounts()) == 1


def test_lazy_openers_of_one_name_share_its_account(ledger, unit):
    (mark,) = marks(ledger, b"a")
    accounts = [ledger.account("p", unit=unit, limit=PureDP(3), fingerprint=mark, lazy=True) for _ in range(6)]

    def spend(number):
        try:
            reserve(accounts[number], PureDP(1), what=number)
        except BudgetError:
            return 0
        return 1

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(spend, range(6))) == 3
    assert sum(account.begun for account in accounts) == 1
    assert len(ledger.accounts()) == 1
    assert all(account.remaining is None for account in accounts)


def test_entries_count_within_their_account(ledger, unit):
    first, second = (ledger.account(name, unit=unit) for name in ("p", "q"))
    for what in range(3):
        reserve(first, PureDP(1), what=what)
        reserve(second.part("north" if what == 1 else "south"), PureDP(1), what=what)
    assert [entry.number for entry in first.history] == [1, 2, 3]
    assert [entry.number for entry in second.history] == [1, 2, 3]
    assert [entry.number for entry in second.part("north").history] == [2], "the number of the whole statement"
    exported = {account["name"]: account for account in ledger.export()["accounts"]}
    assert [entry["number"] for entry in exported["q"]["entries"]] == [1, 2, 3]


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "budget.db"
    with ogive.Ledger.open(path) as ledger:
        assert ledger.begun
        reserve(ledger.account("p", unit=PrivacyUnit(Adjacency.REPLACE), limit=PureDP(3)), PureDP(1))
    return path


def lost(place, **options):
    with pytest.raises(LedgerError, match=r"is missing or empty, but its key file .* exists") as caught:
        ogive.Ledger.open(place, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("how", ["missing", "empty", "without tables"])
def test_a_lost_ledger_is_not_made_anew(place, how):
    key = place.with_name("budget.db.key")
    place.unlink()
    if how == "empty":
        place.touch()
    if how == "without tables":
        with closing(sqlite3.connect(place)) as other:
            other.execute("PRAGMA user_version = 7")
            other.commit()
        assert place.stat().st_size
    lost(place)
    if how != "without tables":
        lost(place, read_only=True)
    assert len(key.read_bytes()) == 32
    key.rename(key.with_name("old"))
    with ogive.Ledger.open(place) as ledger:
        assert ledger.begun
        assert ledger.accounts() == ()


def test_a_lost_database_on_a_server_is_not_made_anew(tmp_path, monkeypatch):
    import psycopg

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    url = server().database()
    with ogive.Ledger.open(url) as ledger:
        assert ledger.begun
    with ogive.Ledger.open(url, read_only=True) as ledger:
        assert not ledger.begun
    with psycopg.connect(url) as connection:
        connection.execute("DROP TABLE ogive_spends, ogive_data_sets, ogive_meta")
    lost(url)


@pytest.mark.parametrize("cut", ["before the ledger", "before the key", "empty file"])
def test_a_making_that_was_cut_off_is_finished(tmp_path, place, cut):
    """The states that a kill can leave: a draft of the key alone, or a complete ledger with a draft of the key."""
    key = place.with_name("budget.db.key")
    key.rename(draft_of(key))
    if cut != "before the key":
        place.unlink()
    if cut == "empty file":
        place.touch()
    with ogive.Ledger.open(place) as ledger:
        assert ledger.begun is (cut != "before the key")
        mark = ledger.fingerprint(b"same")
    assert key.exists()
    assert not draft_of(key).exists()
    with ogive.Ledger.open(place, read_only=True) as ledger:
        assert ledger.fingerprint(b"same") == mark
        assert [account.name for account in ledger.accounts()] == (["p"] if cut == "before the key" else [])


def test_a_reader_needs_no_finished_key_and_changes_nothing(place):
    key = place.with_name("budget.db.key")
    key.rename(draft_of(key))
    with ogive.Ledger.open(place, read_only=True) as ledger:
        assert ledger.accounts()[0].spent == PureDP(1)
        with pytest.raises(LedgerError, match="is read-only"):
            reserve(ledger.accounts()[0], PureDP(1), what="b")
    assert not key.exists()


def test_a_draft_of_another_ledger_s_key_is_not_taken(place):
    key = place.with_name("budget.db.key")
    key.unlink()
    draft_of(key).write_bytes(bytes(32))
    with pytest.raises(LedgerError, match=r"is the key file of another ledger|key file .* is missing"):
        ogive.Ledger.open(place)
    assert not key.exists()


FULL = """
import resource, sys, ogive
sys.dont_write_bytecode = True  # Python would keep half of a module
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
try:
    ogive.Ledger.open(sys.argv[1])
except ogive.LedgerError as problem:
    print(problem)
"""


@pytest.mark.parametrize("size", [0, 100, 5000])
def test_a_ledger_that_cannot_be_made_leaves_no_file(tmp_path, size):
    """No file may grow beyond a few bytes: what a full disk does."""
    place = tmp_path / "budget.db"
    done = subprocess.run(
        [python(), "-c", FULL, str(place), str(size)], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout.count("\n") == 1, done.stderr
    assert {path.name for path in tmp_path.iterdir()} <= {"budget.db.key.new"}
    with ogive.Ledger.open(place) as ledger:
        assert ledger.begun


def test_a_full_disk_can_be_looked_at(place):
    reading = FULL.replace(
        "ogive.Ledger.open(sys.argv[1])", "print(ogive.Ledger.open(sys.argv[1], read_only=True).accounts()[0].spent)"
    )
    done = subprocess.run(
        [python(), "-c", reading, str(place), "0"], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    # standard output is a pipe, which the limit leaves alone
    assert done.stdout == "epsilon = 1\n", done.stderr


def test_a_limit_set_before_the_first_spend_holds_from_then_on(ledger, unit):
    account = ledger.account("p", unit=unit, limit=PureDP(3), lazy=True)
    account.set_limit(PureDP(5))
    assert account.limit == PureDP(5)
    reserve(account, PureDP(4))
    assert account.remaining == PureDP(1)
    lifted = ledger.account("q", unit=unit, limit=PureDP(3), lazy=True)
    lifted.set_limit(None)
    reserve(lifted, PureDP(9))
    assert lifted.limit is None


def test_a_limit_that_another_changed_shows_before_it_is_refused(ledger, unit):
    first, second = (ledger.account("p", unit=unit, limit=PureDP(3), lazy=True) for _ in range(2))
    reserve(first, PureDP(1))
    first.set_limit(PureDP(7))
    assert second.limit == PureDP(7)
    assert len(second.history) == 1
    with pytest.raises(LedgerError, match="has the limit epsilon = 7, not epsilon = 3"):
        reserve(second, PureDP(1), what="b")


def test_threads_share_the_first_spend(ledger, unit):
    for round_ in range(5):
        account = ledger.account(f"p{round_}", unit=unit, limit=PureDP(3), lazy=True)
        with ThreadPoolExecutor(6) as pool:
            done = list(pool.map(lambda k, a=account: reserve(a, PureDP("1/2"), what=k), range(6)))
        assert len({reservation.release_id for reservation in done}) == 6
        assert account.remaining is None


def test_a_draft_that_is_settled_while_it_is_looked_at_is_read_where_it_went(tmp_path, monkeypatch):
    path = tmp_path / "l.db.key"
    draft = draft_of(path)
    made = make_key(path)
    exists = type(path).exists

    def settled_meanwhile(self):
        found = exists(self)
        if self == draft and found:
            draft.replace(path)
        return found

    monkeypatch.setattr(type(path), "exists", settled_meanwhile)
    assert make_key(path).check == made.check


def test_a_draft_that_is_made_and_settled_while_another_is_written_is_read_where_it_went(tmp_path, monkeypatch):
    path = tmp_path / "ledger.key"

    def beaten(draft, content, **options):
        path.write_bytes(bytes(range(32)))
        raise ParameterError(f"{draft} exists and is not replaced; name another file")

    monkeypatch.setattr("ogive.ledger.mark.write_atomically", beaten)
    assert make_key(path).check == read_key(path).check


def test_a_key_that_can_be_neither_made_nor_found_is_refused(tmp_path, monkeypatch):
    def full(draft, content, **options):
        raise ParameterError(f"cannot write {draft}: no space left on device")

    monkeypatch.setattr("ogive.ledger.mark.write_atomically", full)
    with pytest.raises(LedgerError, match=r"cannot make the ledger's key file: .*no space left"):
        make_key(tmp_path / "ledger.key")


def test_a_user_without_a_home_is_told_to_name_a_key(monkeypatch):
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)

    def unknown(number):
        raise KeyError(number)

    monkeypatch.setattr("pwd.getpwuid", unknown)
    with pytest.raises(LedgerError, match=r"no home folder .* name a key file in OGIVE_LEDGER_KEY"):
        config_folder()
