"""A full disk: one clear line, nothing half-written, what was there before as it was, and nothing paid twice."""

import errno
import importlib
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.full_disk import full_disk

import ogive
from ogive.cli import main
from ogive.cli.local import KeptState, key_file
from ogive.core.files import write_atomically
from ogive.errors import OgiveError, ParameterError, RefusalError
from ogive.ledger import Ledger
from ogive.noise import KeyedSource
from ogive.noise.discrete import DiscreteLaplace
from ogive.noise.source import StoredNodes
from ogive.privacy import Adjacency, PrivacyUnit, PureDP
from ogive.trust.servers.clients import Shelf

VALUES = np.random.default_rng(2).normal(50, 12, 300)
SMALL = ogive.Ecdf("x", bounds=(0, 100), bins=8)
RECORD = PrivacyUnit(Adjacency.REPLACE)
GRANTED = PureDP(1)


def test_what_a_test_imports_while_the_disk_is_full_can_be_imported_ever_after(tmp_path, monkeypatch):
    (tmp_path / "imported_on_a_full_disk.py").write_text("VALUE = 1\n" * 100)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    with full_disk(50):
        importlib.import_module("imported_on_a_full_disk")
    monkeypatch.delitem(sys.modules, "imported_on_a_full_disk")
    assert importlib.import_module("imported_on_a_full_disk").VALUE == 1
    del sys.modules["imported_on_a_full_disk"]


def refuse_whole(handle, content, *, at):
    raise OSError(errno.ENOSPC, "No space left on device")


def one_line(problem):
    text = str(problem)
    return 0 < len(text) < 400 and "\n" not in text


@pytest.fixture
def full_for_files(monkeypatch):
    """The disk is full whenever a whole file is begun; databases have room."""

    def refuse(**options):
        raise OSError(errno.ENOSPC, "No space left on device")

    def fill(full):
        monkeypatch.setattr("ogive.core.files.tempfile", SimpleNamespace(mkstemp=refuse) if full else tempfile)

    return fill


def test_the_full_disk_of_these_tests_is_one(tmp_path):
    with full_disk(10), pytest.raises(OSError, match="File too large"):
        (tmp_path / "file").write_bytes(bytes(100))
    (tmp_path / "file").write_bytes(bytes(100))


@pytest.mark.parametrize("room", [0, 10])
def test_a_file_stays_as_it_was(tmp_path, room):
    place = tmp_path / "curve.json"
    place.write_text("old")
    with full_disk(room), pytest.raises(ParameterError) as refused:
        write_atomically(place, bytes(100))
    assert one_line(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ["curve.json"]
    assert place.read_text() == "old"


def opened(account, state, trust=None):
    trust = ogive.Central({"x": VALUES}) if trust is None else trust
    return ogive.PointwiseCurve.open(SMALL, trust=trust, privacy=GRANTED, ledger=account, state=state)


def test_a_curve_whose_state_found_no_room_is_opened_again_for_nothing(tmp_path, full_for_files):
    state = tmp_path / "curve.state"
    with Ledger.open(tmp_path / "budget.db") as books:
        account = books.account("people", unit=RECORD, limit=PureDP(3))
        full_for_files(True)
        with pytest.raises(ParameterError, match="No space left") as refused:
            opened(account, state)
        assert one_line(refused.value)
        assert not state.exists()
        full_for_files(False)
        found = opened(account, state).counts([1, 4])
        assert account.spent == GRANTED
        assert len(account.history) == 1
    assert np.array_equal(ogive.PointwiseCurve.resume(state, trust=ogive.Central({"x": VALUES})).counts([1, 4]), found)


def test_points_that_found_no_room_are_not_answered_and_the_state_stays(tmp_path, full_for_files):
    state = tmp_path / "curve.state"
    trust = ogive.Servers({"x": VALUES[:60]}, upload="keys")
    curve = opened(None, state, trust)
    first = curve.counts([2])
    before = state.read_bytes()
    full_for_files(True)
    with pytest.raises(ParameterError, match="No space left"):
        curve.counts([5])
    assert state.read_bytes() == before
    full_for_files(False)
    resumed = ogive.PointwiseCurve.resume(state, trust=trust)
    assert np.array_equal(resumed.counts([2]), first)
    resumed.counts([5])


def release_half(place):
    with ogive.Session({"x": VALUES}, ledger=place, name="people") as session:
        return session.release(SMALL, privacy=PureDP("1/2"))


@pytest.mark.parametrize("room", [0, 50, 4096, 20_000])
def test_a_ledger_that_found_no_room_charges_once(tmp_path, room):
    place = tmp_path / "budget.db"
    with full_disk(room):
        try:
            session = ogive.Session({"x": VALUES}, limit=PureDP(3), ledger=place, name="people")
            try:
                session.release(SMALL, privacy=GRANTED)
            finally:
                session.close()
        except OgiveError as problem:
            refused = problem
        else:
            refused = None
    assert refused is None or one_line(refused)
    with ogive.Session({"x": VALUES}, limit=PureDP(3), ledger=place, name="people") as session:
        curve = session.release(SMALL, privacy=GRANTED)
        assert session.spent == GRANTED
    with full_disk(room), pytest.raises(OgiveError) as again:
        release_half(place)
    assert one_line(again.value)
    with ogive.Session({"x": VALUES}, ledger=place, name="people") as session:
        assert session.release(SMALL, privacy=GRANTED) == curve
        spent = session.spent
        session.release(SMALL, privacy=PureDP("1/2"))
        assert session.spent == PureDP("3/2")
        assert spent in (GRANTED, PureDP("3/2"))


def test_a_shelf_goes_on_when_there_is_room_again():
    shelf = Shelf()
    shelf.append(b"first")
    with full_disk(), pytest.raises(OgiveError):
        shelf.append(bytes(100_000))
    shelf.append(b"second")
    assert list(shelf) == [b"first", b"second"]
    assert shelf.bytes == len(b"firstsecond")


def test_servers_whose_uploads_found_no_room_say_so_and_are_paid_once(tmp_path, monkeypatch):
    data = {"x": VALUES[:60]}
    with Ledger.open(tmp_path / "budget.db") as books:
        account = books.account("people", unit=RECORD, limit=PureDP(3))

        def ask():
            return ogive.release(SMALL, trust=ogive.Servers(data), privacy=GRANTED, ledger=account)

        monkeypatch.setattr("ogive.trust.servers.clients.write_whole", refuse_whole)
        with pytest.raises(RefusalError, match="cannot keep an upload") as refused:
            ask()
        assert one_line(refused.value)
        monkeypatch.undo()
        assert ask() == ask()
        assert account.spent == GRANTED
        assert len(account.history) == 1


@pytest.mark.parametrize("room", [0, 16, 31])
def test_half_a_key_of_a_partial_state_is_not_kept(tmp_path, room):
    place = tmp_path / "study.state"
    with full_disk(room), pytest.raises(ParameterError, match="cannot use") as refused, KeptState(place):
        pass
    assert one_line(refused.value)
    key = key_file(place)
    assert not key.exists() or key.read_bytes() == b""
    with KeptState(place):
        pass
    assert len(key.read_bytes()) == 32


@pytest.mark.parametrize("room", [0, 4096, 16_384])
def test_stored_noise_that_found_no_room_stays_what_it_was(tmp_path, room):
    place, law = tmp_path / "noise.db", DiscreteLaplace(5)
    nodes = StoredNodes(KeyedSource.from_seed(1), b"release", place)
    first = nodes.values(law, 0, np.arange(10))
    with full_disk(room), pytest.raises(OgiveError) as refused:
        nodes.values(law, 1, np.arange(20_000))
    assert one_line(refused.value)
    assert np.array_equal(nodes.values(law, 0, np.arange(10)), first)
    drawn = nodes.values(law, 1, np.arange(20_000))
    assert np.array_equal(nodes.values(law, 1, np.arange(20_000)), drawn)
    nodes.close()


@pytest.mark.parametrize("ledger", [False, True])
def test_an_output_that_found_no_room_is_not_half_there_and_nothing_is_paid_twice(
    tmp_path, monkeypatch, capsys, full_for_files, ledger
):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("x\n" + "".join(f"{value:.2f}\n" for value in VALUES), encoding="utf-8")
    Path("curve.json").write_text("old", encoding="utf-8")
    ask = ["ecdf", "people.csv", "--column", "x", "--bounds", "0", "100", "--bins", "8", "--epsilon", "1"]
    books = ["--ledger", "budget.db", "--limit-epsilon", "2"] if ledger else []
    if ledger:
        Ledger.open("budget.db").close()
    full_for_files(True)
    assert main([*ask, *books, "-o", "curve.json"]) == 1
    said = capsys.readouterr()
    assert "No space left" in said.err
    assert Path("curve.json").read_text(encoding="utf-8") == "old"
    assert not list(tmp_path.glob(".*.half"))
    full_for_files(False)
    if ledger:
        assert main([*ask, *books, "-o", "curve.json"]) == 0
        assert "at no cost" in capsys.readouterr().err
    else:
        assert ogive.Curve.from_json(said.out).total == len(VALUES)
