"""Whatever is wrong with a ledger is said in one line, and nothing is spent."""

import gc
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from helpers.forked import python
from helpers.postgres import server
from helpers.waiting import PATIENCE

import ogive
from ogive.errors import LedgerError, OgiveError, ParameterError
from ogive.ledger import database
from ogive.ledger.account import Reservation
from ogive.ledger.database import in_words
from ogive.ledger.entries import Keys, read_part
from ogive.ledger.mark import make_key, read_key, settle_key
from ogive.privacy import Adjacency, PrivacyUnit, PureDP

UNIT = PrivacyUnit(Adjacency.REPLACE)
SECRET = bytes(32)


@pytest.fixture
def place(tmp_path):
    """A file with one account and one spend of a third."""
    path = tmp_path / "budget.db"
    with ogive.Ledger.open(path) as ledger:
        account = ledger.account("patients", unit=UNIT, limit=PureDP(3))
        account.reserve({"what": "a"}, statistic="test", charge=PureDP(1), secret=SECRET)
    return path


def refused(place, kind=OgiveError):
    """The one line with which opening and spending at a place is refused."""
    with pytest.raises(kind) as caught, ogive.Ledger.open(place) as ledger:
        ledger.account("patients").reserve({"what": "b"}, statistic="test", charge=PureDP(1), secret=SECRET)
    message = str(caught.value)
    assert "\n" not in message
    return message


def spent(place):
    with ogive.Ledger.open(place) as ledger:
        return ledger.account("patients").spent


def test_files_are_for_their_user_only(place):
    for path in (place, place.with_name("budget.db.key")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(place.with_name("budget.db.key").read_bytes()) == 32


def test_a_locked_file(place, monkeypatch):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    with closing(sqlite3.connect(place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "is locked by another process" in refused(place, LedgerError)
    assert spent(place) == PureDP(1)


def test_a_file_of_another_kind(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("age\n" + "42\n" * 2000)
    assert "is not a ledger" in refused(path, LedgerError)
    assert path.read_text().startswith("age\n42")


def test_a_database_of_something_else(tmp_path):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE patients (name TEXT)")
    before = path.read_bytes()
    assert "is a database of something else" in refused(path, LedgerError)
    assert path.read_bytes() == before


def test_a_damaged_file(place):
    content = bytearray(place.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    place.write_bytes(content)
    assert str(place) in refused(place, LedgerError)


def test_a_newer_version(place):
    with closing(sqlite3.connect(place)) as other:
        other.execute("UPDATE ogive_meta SET value = '3' WHERE name = 'version'")
        other.commit()
    assert "is of version 3, and this library reads up to 2; upgrade ogive" in refused(place, LedgerError)


def test_a_folder_and_a_missing_folder(tmp_path):
    assert "it is a folder" in refused(tmp_path, LedgerError)
    assert "No such file or directory" in refused(tmp_path / "none" / "budget.db", LedgerError)


def test_a_missing_key_is_never_made_anew(place):
    key = place.with_name("budget.db.key")
    content = key.read_bytes()
    key.unlink()
    assert "budget.db.key is missing" in refused(place, LedgerError)
    assert not key.exists()
    key.write_bytes(bytes(32))
    assert "is the key file of another ledger" in refused(place, LedgerError)
    key.write_bytes(content[:31])
    assert "is not a ledger's key file: it must hold 32 bytes" in refused(place, LedgerError)
    key.write_bytes(content)
    assert spent(place) == PureDP(1)


def test_a_key_in_a_folder_that_is_not_there_is_refused_and_no_folder_is_made(tmp_path, monkeypatch):
    monkeypatch.setenv("OGIVE_LEDGER_KEY", str(tmp_path / "kpet" / "my.key"))
    with pytest.raises(ParameterError, match=r"OGIVE_LEDGER_KEY names .*kpet/my.key, whose folder does not exist"):
        ogive.Ledger.open(tmp_path / "budget.db")
    assert not (tmp_path / "kpet").exists()


def test_a_key_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "kept").mkdir()
    monkeypatch.setenv("OGIVE_LEDGER_KEY", str(tmp_path / "kept" / "my.key"))
    with ogive.Ledger.open(tmp_path / "budget.db") as ledger:
        mark = ledger.fingerprint(b"data")
    assert not (tmp_path / "budget.db.key").exists()
    with ogive.Ledger.open(tmp_path / "budget.db") as ledger:
        assert ledger.fingerprint(b"data") == mark


@pytest.mark.parametrize("place", ["mysql://user:hidden@host/name", "", 7, "http://", "://"])
def test_places_of_no_known_form(place):
    message = refused(place, ParameterError)
    assert "hidden" not in message


def refused_to_others(place):
    """The one line with which a user without rights is refused."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            os.write(writer, refused(place, LedgerError).encode())
        except BaseException as problem:
            os.write(writer, f"not refused in a line: {problem!r}".encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        message = pipe.read()
    os.waitpid(child, 0)
    return message


@pytest.fixture
def shared_place(place):
    """The same in a folder that other users can enter."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        for path in place.parent.iterdir():
            shutil.copy(path, folder)
        yield Path(folder) / place.name


def test_a_file_of_another_user(shared_place):
    if os.getuid():
        shared_place.chmod(0)
    assert "cannot be opened: Permission denied" in refused_to_others(shared_place)
    shared_place.chmod(0o600)
    assert spent(shared_place) == PureDP(1)


def test_a_read_only_file(shared_place):
    shared_place.chmod(0o444)
    shared_place.with_name("budget.db.key").chmod(0o444)
    message = refused_to_others(shared_place)
    assert "Permission denied" in message or "read-only" in message
    shared_place.chmod(0o600)
    assert spent(shared_place) == PureDP(1)


FULL = """
import resource, sys, ogive
sys.dont_write_bytecode = True  # Python would keep half of a module
with ogive.Ledger.open(sys.argv[1]) as ledger:
    account = ledger.account("patients")
    # no file may grow beyond its present size: what a full disk does
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    refused = 0
    for number in range(200):
        try:
            account.reserve({"n": number}, statistic="t", charge=ogive.PureDP("1/1000"), secret=bytes(32))
        except ogive.LedgerError as problem:
            print(problem)
            break
    print(number)
"""


def test_a_full_disk(place):
    done = subprocess.run(
        [python(), "-c", FULL, str(place), str(place.stat().st_size)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    message, granted = done.stdout.strip().split("\n")
    assert message == f"the ledger {place} cannot be written: the disk is full or broken"
    # every spend that was granted is there, and the refused one is not
    total = spent(place)
    assert total is not None
    assert total.epsilon == 1 + PureDP("1/1000").epsilon * int(granted)


def spend_all(account):
    """How many small spends were granted until one was refused, and why it was."""
    for number in range(2000):
        try:
            account.reserve({"n": number}, statistic="t", charge=PureDP("1/1000"), secret=SECRET)
        except OgiveError as problem:
            return number, str(problem)
    raise AssertionError("nothing was refused")


def test_a_full_device(place, tmp_path):
    mounted = tmp_path / "small"
    mounted.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(mounted)], capture_output=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("this machine lets no file system be mounted")
    try:
        with ogive.Ledger.open(mounted / "budget.db") as ledger:
            account = ledger.account("patients", unit=UNIT, limit=PureDP(3))
            granted, message = spend_all(account)
            assert message.endswith("cannot be written: the disk is full or broken")
            assert granted > 10
            assert account.spent == PureDP(granted * PureDP("1/1000").epsilon)
    finally:
        subprocess.run(["umount", str(mounted)], check=True)


def test_a_server_that_is_not_there():
    message = refused("postgresql://someone:hidden@127.0.0.1:1/budget", LedgerError)
    assert "cannot be reached; check that its server runs" in message
    assert "hidden" not in message


def test_a_wrong_password_and_a_missing_database(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    running = server()
    url = running.database()
    assert 'database "none" does not exist' in refused(url.rsplit("/", 1)[0] + "/none", LedgerError)
    message = refused(f"postgresql://ogive_tests:hidden@127.0.0.1:{running.port}/{url.rsplit('/', 1)[1]}", LedgerError)
    assert "refuses this user and password" in message
    assert "hidden" not in message


def test_a_locked_row(tmp_path, monkeypatch):
    import psycopg

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(database, "BUSY_SECONDS", 1)
    url = server().database()
    with ogive.Ledger.open(url) as ledger:
        account = ledger.account("patients", unit=UNIT, limit=PureDP(3))
        with psycopg.connect(url) as other:
            other.execute("SELECT * FROM ogive_data_sets FOR UPDATE")
            with pytest.raises(LedgerError, match="is locked by another process"):
                account.reserve({"what": "a"}, statistic="test", charge=PureDP(1), secret=SECRET)
        assert account.spent is None


def test_a_database_that_may_only_be_read(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    url = server().database()
    with ogive.Ledger.open(url) as ledger:
        ledger.account("patients", unit=UNIT, limit=PureDP(3))
    with ogive.Ledger.open(f"{url}?options=-cdefault_transaction_read_only%3Don") as ledger:
        with pytest.raises(LedgerError, match="is read-only for this user"):
            ledger.account("patients").reserve({"what": "a"}, statistic="test", charge=PureDP(1), secret=SECRET)
        assert ledger.accounts()[0].spent is None


def test_a_server_that_dies_and_comes_back_has_every_spend(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    running = server()
    with ogive.Ledger.open(running.database()) as ledger:
        account = ledger.account("patients", unit=UNIT, limit=PureDP(3))
        account.reserve({"what": "a"}, statistic="test", charge=PureDP(1), secret=SECRET)
        running.kill()
        with pytest.raises(LedgerError, match="cannot be reached"):
            account.reserve({"what": "b"}, statistic="test", charge=PureDP(1), secret=SECRET)
        running.start()
        assert account.remaining == PureDP(2)


def test_a_missing_driver_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    message = refused("postgresql://user@host/name", LedgerError)
    assert "pip install 'ogive[postgres]'" in message


def test_a_server_that_dies_while_it_is_called_cannot_be_reached():
    with pytest.raises(LedgerError, match=r"^the ledger x cannot be reached"), in_words("x"):
        raise sqlite3.OperationalError("connection failed: server closed the connection unexpectedly\nThis")


def test_other_messages_are_cut_to_one_line():
    with pytest.raises(LedgerError, match=r"^the ledger x cannot be used: something odd$"), in_words("x"):
        raise sqlite3.OperationalError("something odd\nHINT: and more")


# --- secrets


def test_secrets_are_sealed_and_then_gone(tmp_path):
    path = tmp_path / "budget.db"
    secrets = [os.urandom(32) for _ in range(30)]
    # another process that has the ledger open, so that its log is not thrown away after every transaction
    with ogive.Ledger.open(path) as ledger, closing(sqlite3.connect(path)) as other:
        account = ledger.account("patients", unit=UNIT, limit=PureDP(30))
        reservations = [
            account.reserve({"what": number}, statistic="test", charge=PureDP(1), secret=secret)
            for number, secret in enumerate(secrets)
        ]
        for reservation in reservations:
            reservation.bind(0, b"context of the records")
        kept = other.execute("SELECT secret, bound FROM ogive_spends").fetchall()
        assert all(len(sealed) > 32 for sealed, _ in kept)
        for number, reservation in enumerate(reservations):
            reservation.record({"value": number, "rest": [0.5] * 40 * number})
        content = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.suffix != ".key")
    assert b'"value":7' in content
    assert b"context of the records" not in content
    for secret, (sealed, bound) in zip(secrets, kept, strict=True):
        assert secret not in content
        assert sealed[12:44] not in content
        assert bound.encode()[8:40] not in content


def test_a_sealed_secret_opens_only_with_its_key_and_for_its_release():
    one, other = Keys(bytes(32)), Keys(bytes([1] * 32))
    sealed = one.seal(SECRET, "a")
    assert one.unseal(sealed, "a") == SECRET
    assert sealed != one.seal(SECRET, "a")
    for keys, text, release in ((other, sealed, "a"), (one, sealed, "b"), (one, sealed[:-1], "a"), (one, b"", "a")):
        with pytest.raises(LedgerError, match="is damaged"):
            keys.unseal(text, release)


def test_fingerprints_depend_on_the_key():
    one, other = Keys(bytes(32)), Keys(bytes([1] * 32))
    assert one.fingerprint(b"data") == one.fingerprint(b"data")
    assert one.fingerprint(b"data") != other.fingerprint(b"data")
    assert one.fingerprint(b"data") != one.fingerprint(b"date")
    assert len(one.fingerprint(b"data")) == 64


def test_a_key_is_made_once(tmp_path):
    path = tmp_path / "folder" / "key"
    keys = make_key(path)
    assert make_key(path).check == keys.check
    assert not path.exists(), "it is a draft until the ledger is complete"
    settle_key(path, "another")
    assert not path.exists()
    settle_key(path, keys.check)
    assert read_key(path).check == keys.check
    assert [file.name for file in path.parent.iterdir()] == ["key"]
    with pytest.raises(LedgerError, match="cannot make the ledger's key file"):
        make_key(path / "below")


def test_the_address_shown_has_no_password():
    shown = database.Database("postgresql://user:hidden@host:5433/name").words
    assert shown == "postgresql://user:***@host:5433/name"
    assert database.Database("postgres://user@host/name").words == "postgresql://user@host/name"
    pytest.importorskip("psycopg", reason="the PostgreSQL driver is not installed (pip install 'ogive[postgres]')")
    place = "postgresql://user@host/name?password=hidden&sslpassword=hidden&sslmode=require"
    assert database.Database(place).words == "postgresql://user@host/name?sslmode=require"


@pytest.mark.parametrize("option", ["autocommit=1", "row_factory=x", "prepare_threshold=0", "other=1"])
def test_options_of_the_driver_are_refused(option):
    pytest.importorskip("psycopg", reason="the PostgreSQL driver is not installed (pip install 'ogive[postgres]')")
    message = refused(f"postgresql://user@host/name?{option}", ogive.ParameterError)
    assert message == f"a ledger's place on PostgreSQL takes no option {option.split('=')[0]!r}"


def test_texts_are_the_same_in_a_database_of_another_encoding():
    running = server()
    running.execute("CREATE DATABASE plain_bytes ENCODING 'SQL_ASCII' TEMPLATE template0")
    with ogive.Ledger.open(running.url("plain_bytes")) as ledger:
        ledger.account("Zoë 患者", unit=UNIT)
        assert [account.name for account in ledger.accounts()] == ["Zoë 患者"]


def test_an_empty_file_becomes_a_ledger_for_its_owner_alone(tmp_path):
    place = tmp_path / "b.db"
    place.touch(mode=0o644)
    with ogive.Ledger.open(place) as ledger:
        assert ledger.begun
    assert place.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("length", [100, 512, 3000, 4096, 9000])
def test_looking_at_a_damaged_ledger_leaves_nothing_beside_it(tmp_path, length):
    place = tmp_path / "b.db"
    ogive.Ledger.open(place).close()
    place.write_bytes(place.read_bytes()[:length])
    before = sorted(each.name for each in tmp_path.iterdir())
    with pytest.raises(LedgerError):
        ogive.Ledger.open(place, read_only=True)
    assert sorted(each.name for each in tmp_path.iterdir()) == before


def test_a_database_in_memory_that_nobody_closed_is_closed_when_it_is_collected():
    kept = database.Database(None)
    with kept.write() as connection:
        driver = connection.connection.driver_connection
    assert driver.execute("select 1").fetchone() == (1,)
    del kept, connection
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        driver.execute("select 1")


@pytest.fixture
def in_memory():
    """A database with a table of one column."""
    made = database.Database(None)
    with made.write() as connection:
        connection.exec_driver_sql("create table t (x)")
    yield made
    made.close()


def numbers_in(kept):
    with kept.read() as connection:
        return connection.exec_driver_sql("select count(*) from t").scalar_one()


def test_in_memory_a_transaction_within_another_is_refused_and_ends_both(in_memory):
    def nested():
        with in_memory.write() as connection:
            connection.exec_driver_sql("insert into t values (1)")
            numbers_in(in_memory)

    with pytest.raises(LedgerError, match="within a transaction"):
        nested()
    assert numbers_in(in_memory) == 0


def test_in_memory_a_result_that_nobody_read_to_its_end_keeps_no_transaction_out(in_memory):
    with in_memory.write() as connection:
        connection.exec_driver_sql("insert into t values (1), (2)")
    with in_memory.read() as connection:
        unread = connection.connection.driver_connection.execute("select x from t")
        unread.fetchone()
    assert numbers_in(in_memory) == 2
    unread.close()


@pytest.mark.parametrize("part", [None, 1, b"part"])
def test_an_entry_without_its_part_is_damaged(part):
    with pytest.raises(LedgerError, match="damaged: an entry lacks its part"):
        read_part(part)
    assert read_part("") == ""


def test_measurements_of_a_release_are_numbered_one_after_the_other(monkeypatch):
    """A release that an earlier version began goes on only if it counts as that did."""
    numbers, bind = [], Reservation.bind

    def recorded(reservation, number, context):
        numbers.append(number)
        return bind(reservation, number, context)

    monkeypatch.setattr(Reservation, "bind", recorded)
    statistic = ogive.Ecdf("x", bounds=(0, 4), bins=64, method="adaptive")
    with ogive.Session({"x": [1.0, 2.0, 3.0] * 40}, limit=PureDP(2)) as session:
        session.release(statistic, privacy=PureDP(1))
    assert len(numbers) > 1
    assert numbers == list(range(len(numbers)))
