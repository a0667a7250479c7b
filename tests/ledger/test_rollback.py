"""An older copy of a ledger that is put back is noticed, and going on with it refills nothing."""

import contextlib
import os
import re
import shutil
import sqlite3

import pytest
from helpers.postgres import server
from helpers.scope import is_everything, size
from helpers.trials import kill_trials

import ogive
from ogive.errors import LedgerError
from ogive.ledger.mark import Mark, make_key, settle_key

UNIT = ogive.PrivacyUnit(ogive.Adjacency.REPLACE)
LIMIT = ogive.PureDP(3)
OLDER = r"^the ledger .* is an older copy: .*\.mark .*Restore the newest"


def asked(account, what, charge, **options):
    question = {"what": what}
    return account.reserve(question, statistic="test", charge=ogive.PureDP(charge), secret=os.urandom(32), **options)


def history(ledger):
    """One change after another; yields the name of each when it is done."""
    account = ledger.account("p", unit=UNIT, limit=LIMIT, fingerprint=ledger.fingerprint(b"first"))
    yield "account"
    first = asked(account, "a", "1/2")
    yield "reserve"
    first.bind(0, b"sums")
    yield "bind"
    first.charge(ogive.PureDP(1))
    yield "raise"
    first.record({"value": 1})
    yield "record"
    asked(account.part("north", fingerprint=ledger.fingerprint(b"north")), "b", "1/2").record({"value": 2})
    yield "part"
    account.set_limit(ogive.PureDP(2))
    yield "limit"
    account = ledger.account("p", fingerprint=ledger.fingerprint(b"second"), updated=True)
    yield "update"
    asked(account, "c", "1/4").bind(0, b"other sums")
    yield "second reserve"
    asked(ledger.account("q", unit=UNIT, limit=LIMIT), "a", 1)
    yield "second account"


STEPS = ["account", "reserve", "bind", "raise", "record", "part", "limit", "update", "second reserve", "second account"]
SPENT, LEFT = ogive.PureDP("7/4"), ogive.PureDP("1/4")


class File:
    """An SQLite ledger whose files are copied and put back."""

    def __init__(self, folder, *, log):
        self.place, self.copies, self.log = folder / "budget.db", folder, log

    def _files(self, folder):
        ends = ("", "-wal", "-shm") if self.log else ("",)
        return [folder / f"budget.db{end}" for end in ends]

    def copy(self, name):
        shutil.rmtree(self.copies / name, ignore_errors=True)
        (self.copies / name).mkdir()
        for file in self._files(self.place.parent):
            if file.exists():
                shutil.copyfile(file, self.copies / name / file.name)

    def put_back(self, name):
        for end in ("", "-wal", "-shm"):
            self.place.with_name(f"budget.db{end}").unlink(missing_ok=True)
        for file in (self.copies / name).iterdir():
            shutil.copyfile(file, self.place.with_name(file.name))

    @contextlib.contextmanager
    def kept_open(self):
        """Somebody has the file open, so that its log is not folded into it after every transaction."""
        with contextlib.closing(sqlite3.connect(self.place)) as other:
            other.execute("SELECT count(*) FROM ogive_meta").fetchone()
            yield


class Database:
    """A PostgreSQL ledger, copied as a server copies databases."""

    def __init__(self):
        self.place = server().database()
        self.name = self.place.rsplit("/", 1)[1]

    def _copied(self, source, target):
        # a process keeps its connection, and a server copies no database that anybody is connected to
        server().execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{source}'")
        server().execute(f'DROP DATABASE IF EXISTS "{target}" WITH (FORCE)')
        server().execute(f'CREATE DATABASE "{target}" TEMPLATE "{source}"')

    def copy(self, name):
        self._copied(self.name, f"{self.name} {name}")

    def put_back(self, name):
        self._copied(f"{self.name} {name}", self.name)

    def kept_open(self):
        return contextlib.nullcontext()


def with_history(kept):
    """A ledger after its history, with a copy of every step."""
    with ogive.Ledger.open(kept.place) as ledger:
        kept.copy("nothing")
        with kept.kept_open() if isinstance(kept, File) and kept.log else contextlib.nullcontext():
            steps = []
            for step in history(ledger):
                kept.copy(step)
                steps.append(step)
    assert steps == STEPS
    return kept


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """Such a ledger in PostgreSQL and its folder of keys; each test begins with the newest copies of both."""
    config = tmp_path_factory.mktemp("keys") / "config"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(config))
        return with_history(Database()), config


@pytest.fixture(params=["file", "file and log", "postgresql"])
def kept(request, tmp_path, monkeypatch):
    """A ledger after its history, with a copy of every step."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    if request.param == "postgresql":
        kept, config = request.getfixturevalue("database")
        shutil.copytree(config, tmp_path / "config")
        kept.put_back(STEPS[-1])
        return kept
    (tmp_path / "ledger").mkdir()
    return with_history(File(tmp_path / "ledger", log=request.param == "file and log"))


SAID = re.compile(r"'[pq]': (no spend was lost|(1 lost spend counts|[2-9] lost spends count) as spent)")


def refused(place):
    for read_only in (False, True):
        with pytest.raises(LedgerError, match=OLDER) as caught:
            ogive.Ledger.open(place, read_only=read_only)
        assert "\n" not in str(caught.value)


def test_every_older_copy_is_noticed_and_written_off(kept):
    kept.put_back(STEPS[-1])
    with ogive.Ledger.open(kept.place) as ledger:
        assert ledger.account("p").spent == SPENT
    older = ["nothing", *STEPS[:-1]]
    # a server takes long to copy: in `make test` it is asked for every third step
    for step in older[::3] if isinstance(kept, Database) and not is_everything() else older:
        kept.put_back(step)
        refused(kept.place)
        said = ogive.Ledger.restore(kept.place)
        assert said, step
        assert all(SAID.fullmatch(one) for one in said), step
        with ogive.Ledger.open(kept.place) as ledger:
            account, other = ledger.account("p"), ledger.account("q")
            assert (account.spent, account.remaining, account.limit) == (SPENT, LEFT, ogive.PureDP(2)), step
            assert other.remaining == ogive.PureDP(2), step
            assert account.part("north").remaining == LEFT, step
            assert {entry.state for entry in account.history} <= {"released", "lost"}, step
            with pytest.raises(LedgerError, match="was opened for other data before"):
                ledger.account("p", fingerprint=ledger.fingerprint(b"third"))
        assert ogive.Ledger.restore(kept.place) == ()
        kept.copy("restored")
        kept.put_back(step)
        refused(kept.place)
        kept.put_back("restored")  # the newest, from which the next one is older


def test_what_was_lost_is_paid_again_and_never_answered_with_other_noise(kept):
    kept.put_back("raise")
    ogive.Ledger.restore(kept.place)
    with ogive.Ledger.open(kept.place) as ledger:
        account = ledger.account("p")
        for what in "ac":
            assert account.find({"what": what}) is None
        with pytest.raises(ogive.BudgetError, match=r"has epsilon = 0\.25 left"):
            asked(account, "a", "1/2")
        assert not asked(account, "c", "1/4").resumed
        assert account.remaining is None


def test_a_copy_that_is_put_back_under_a_running_process_is_noticed(kept):
    kept.put_back(STEPS[-1])
    with ogive.Ledger.open(kept.place) as ledger:
        account = ledger.account("p")
        reservation = asked(account, "d", "1/8")
        kept.put_back("second reserve")
        for change in (
            lambda: reservation.bind(0, b"sums"),
            lambda: asked(account, "e", "1/8"),
            lambda: account.set_limit(LIMIT),
            lambda: ledger.account("p", unit=UNIT),
        ):
            with pytest.raises(LedgerError, match=OLDER):
                change()
    refused(kept.place)


def test_an_account_that_the_copy_lacks_is_not_begun_anew(kept):
    kept.put_back(STEPS[-1])
    with ogive.Ledger.open(kept.place) as ledger:
        kept.put_back("second reserve")
        with pytest.raises(LedgerError, match=OLDER):
            ledger.account("q", unit=UNIT, limit=LIMIT)


def test_under_a_running_process_no_account_goes_on_with_an_older_copy(kept):
    """Also one that lost nothing itself, and a new one, which would get the number of an account that was lost."""
    with ogive.Ledger.open(kept.place) as ledger:
        other = ledger.account("p")
        kept.put_back("second reserve")
        for change in (
            lambda: asked(other, "d", "1/8"),
            lambda: ledger.account("r", unit=UNIT, limit=ogive.PureDP(9)),
        ):
            with pytest.raises(LedgerError, match=OLDER):
                change()


def mark_of(kept, tmp_path):
    (found,) = tmp_path.glob("*/*.mark") if isinstance(kept, File) else tmp_path.glob("config/ogive/*.mark")
    return found


def test_without_a_mark_a_copy_is_accepted_and_a_mark_begins(kept, tmp_path):
    """What cannot be noticed; and the control: it is the mark that notices."""
    mark_of(kept, tmp_path).unlink()
    kept.put_back("part")
    with ogive.Ledger.open(kept.place) as ledger:
        assert ledger.account("p").spent == ogive.PureDP("3/2")
    kept.put_back("raise")
    refused(kept.place)
    ogive.Ledger.restore(kept.place)
    with ogive.Ledger.open(kept.place) as ledger:
        assert ledger.account("p").spent == ogive.PureDP("3/2")


def test_a_reader_compares_and_writes_nothing(kept, tmp_path):
    path = mark_of(kept, tmp_path)
    kept.put_back(STEPS[-1])
    before = path.read_bytes()
    ogive.Ledger.open(kept.place, read_only=True).close()
    assert path.read_bytes() == before
    path.unlink()
    ogive.Ledger.open(kept.place, read_only=True).close()
    assert not path.exists()


@pytest.mark.parametrize("damage", ["a byte", "a line less", "another key"])
def test_a_mark_that_was_changed_is_refused(kept, tmp_path, damage):
    path = mark_of(kept, tmp_path)
    content = path.read_bytes()
    kept.put_back(STEPS[-1])
    if damage == "a byte":
        path.write_bytes(content.replace(b'"revision":3', b'"revision":1', 1))
    if damage == "a line less":
        path.write_bytes(content.split(b"\n", 1)[1])
    if damage == "another key":
        other = Mark(path.with_name("other"), bytes(32))
        other.begin("x", "y", unnamed=False)
        path.write_bytes(other.path.read_bytes())
    for read_only in (False, True):
        with pytest.raises(LedgerError, match="is damaged, or of another key file"):
            ogive.Ledger.open(kept.place, read_only=read_only)


def test_a_line_that_was_cut_off_is_overwritten(kept, tmp_path):
    path = mark_of(kept, tmp_path)
    kept.put_back(STEPS[-1])
    for rest in (b'{"account":"p","rev', b"\x00" * 4000):
        with path.open("ab") as file:
            file.write(rest)
        with ogive.Ledger.open(kept.place) as ledger:
            asked(ledger.account("p"), len(rest), "1/100")
        assert rest not in path.read_bytes()
    kept.put_back(STEPS[-1])
    refused(kept.place)


def test_a_mark_lies_where_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv("OGIVE_LEDGER_MARK", str(tmp_path / "safe" / "mark"))
    with ogive.Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.account("p", unit=UNIT)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["budget.db", "budget.db.key", "safe"]
    assert (tmp_path / "safe" / "mark").stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_no_mark_is_refused_and_kept(tmp_path, monkeypatch):
    """Even the key file itself."""
    ogive.Ledger.open(tmp_path / "budget.db").close()
    notes = tmp_path / "notes"
    notes.write_bytes(b"one line without an end")
    for file in (tmp_path / "budget.db.key", notes):
        kept = file.read_bytes()
        monkeypatch.setenv("OGIVE_LEDGER_MARK", str(file))
        with pytest.raises(LedgerError, match=r"(is not a ledger's mark|is damaged, or of another)"):
            ogive.Ledger.open(tmp_path / "budget.db")
        assert file.read_bytes() == kept


def test_a_link_to_a_key_file_has_the_mark_of_that_key_file(tmp_path, monkeypatch):
    place = tmp_path / "budget.db"
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("p", unit=UNIT, limit=LIMIT)
        shutil.copyfile(place, tmp_path / "older")
        asked(account, "a", 3)
    shutil.copyfile(tmp_path / "older", place)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "key").symlink_to(tmp_path / "budget.db.key")
    monkeypatch.setenv("OGIVE_LEDGER_KEY", str(tmp_path / "elsewhere" / "key"))
    refused(place)


def test_a_mark_that_cannot_be_written_is_one_line_and_what_was_paid_stays_paid(tmp_path, monkeypatch):
    place = tmp_path / "budget.db"
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("p", unit=UNIT, limit=LIMIT)
        with monkeypatch.context() as full:
            full.setattr(os, "ftruncate", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
            with pytest.raises(LedgerError, match=r"mark .* cannot be written: No space left .* stays paid: ask again"):
                asked(account, "a", 1)
        assert account.spent == ogive.PureDP(1)
        assert asked(account, "a", 1).resumed
        assert account.spent == ogive.PureDP(1)


# --- several machines and several processes


def machine(tmp_path, monkeypatch, name):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / name))


def test_machines_that_share_a_database_do_not_refuse_each_other(tmp_path, monkeypatch):
    machine(tmp_path, monkeypatch, "one")
    kept = Database()
    with ogive.Ledger.open(kept.place) as ledger:
        asked(ledger.account("p", unit=UNIT, limit=LIMIT), "a", 1)
    shutil.copytree(tmp_path / "one", tmp_path / "two", ignore=shutil.ignore_patterns("*.mark*"))
    for number in range(3):
        for name in ("two", "one"):
            machine(tmp_path, monkeypatch, name)
            with ogive.Ledger.open(kept.place) as ledger:
                asked(ledger.account("p"), f"{name} {number}", "1/8")
    kept.copy("older")
    for name in ("two", "one"):
        machine(tmp_path, monkeypatch, name)
        with ogive.Ledger.open(kept.place) as ledger:
            asked(ledger.account("p"), name, "1/8")
    kept.put_back("older")
    said = []
    for name in ("two", "one"):
        machine(tmp_path, monkeypatch, name)
        refused(kept.place)
        said += ogive.Ledger.restore(kept.place)
    assert said == ["'p': 1 lost spend counts as spent"] * 2
    with ogive.Ledger.open(kept.place) as ledger:
        assert ledger.account("p").spent == ogive.PureDP(2)
    machine(tmp_path, monkeypatch, "two")
    with ogive.Ledger.open(kept.place) as ledger:
        assert ledger.account("p").remaining == ogive.PureDP(1)


@pytest.mark.parametrize("spends", [1, 2])
def test_others_who_spend_from_an_older_copy_do_not_hide_it_from_a_running_process(tmp_path, monkeypatch, spends):
    """The copy has as many changes as the mark knows, or more, but not the same spends."""
    machine(tmp_path, monkeypatch, "one")
    kept = Database()
    with ogive.Ledger.open(kept.place) as ledger:
        account = ledger.account("p", unit=UNIT, limit=LIMIT)
        shutil.copytree(tmp_path / "one", tmp_path / "two", ignore=shutil.ignore_patterns("*.mark*"))
        kept.copy("older")
        asked(account, "a", 2)
        kept.put_back("older")
        machine(tmp_path, monkeypatch, "two")
        with ogive.Ledger.open(kept.place) as other:
            for number in range(spends):
                asked(other.account("p"), number, "1/8")
        with pytest.raises(LedgerError, match=OLDER):
            asked(account, "b", 2)


def test_processes_at_once_advance_one_mark(place, program):
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account("trials", unit=UNIT, limit=ogive.PureDP(2))
        results = program.race([{"task": "spend", "place": place, "number": number} for number in range(8)])
        assert not [note for _, notes in results for note in notes if note[0] == "problem"]
        mark = ledger._tables.mark
        mark.refresh()
        noted = mark.accounts(ledger._tables.identity)["trials"]
        assert noted.spends.keys() == {entry.release_id for entry in account.history}
        assert len(noted.spends) == 20
    ogive.Ledger.open(place).close()


# --- kills


def test_kills_between_ledger_and_mark_refuse_no_honest_ledger(place, program):
    found = kill_trials(
        program, place, trials=size(60, part=20), seed=5, steps=("before mark", "inside mark", "after mark")
    )
    assert not found.faults, found.faults[:3]
    assert min(found.steps[step] for step in ("before mark", "inside mark", "after mark")) >= 5


def test_a_mark_that_is_written_first_refuses_an_honest_ledger(place, program):
    """The control: with the two in the other order a kill between them looks like an older copy."""
    found = kill_trials(program, place, trials=20, seed=6, steps=("after mark",), spoiled="marks first")
    assert any("is an older copy" in fault for fault in found.faults)


# --- ledgers that had no identity


def without_identity(place):
    """Make a ledger as versions before the mark did: the key's own fingerprints, no identity, no revisions."""
    key = place.with_name(f"{place.name}.key")
    check = make_key(key).check
    with ogive.Ledger.open(place):
        pass
    with contextlib.closing(sqlite3.connect(place)) as other:
        other.execute("DELETE FROM ogive_meta WHERE name NOT IN ('version', 'key_check')")
        other.execute("UPDATE ogive_meta SET value = '1' WHERE name = 'version'")
        other.execute("UPDATE ogive_meta SET value = ? WHERE name = 'key_check'", (check,))
        other.commit()
    settle_key(key, check)
    place.with_name(f"{place.name}.key.mark").unlink()


@pytest.mark.parametrize("spends", [0, 1])
def test_a_ledger_of_an_older_version_gets_a_mark(tmp_path, spends):
    place, old = tmp_path / "budget.db", tmp_path / "old"
    without_identity(place)
    if spends:
        with ogive.Ledger.open(place) as ledger:
            asked(ledger.account("p", unit=UNIT, limit=LIMIT), "a", 1)
        place.with_name("budget.db.key.mark").unlink()
        with contextlib.closing(sqlite3.connect(place)) as other:
            other.execute("DELETE FROM ogive_meta WHERE name NOT IN ('version', 'key_check')")
            other.commit()
    shutil.copyfile(place, old)
    with ogive.Ledger.open(place) as ledger:
        asked(ledger.account("p", unit=UNIT, limit=LIMIT), "b", 1)
    shutil.copyfile(old, place)
    refused(place)
    ogive.Ledger.restore(place)
    with ogive.Ledger.open(place) as ledger:
        assert ledger.account("p").remaining == ogive.PureDP(2 - spends)
