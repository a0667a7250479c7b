"""A ledger on every database, with its keys in the test's own folder."""

import pytest
from helpers.postgres import server

import ogive


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def ledger(request, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("OGIVE_LEDGER_KEY", raising=False)
    match request.param:
        case "memory":
            place = None
        case "sqlite":
            place = tmp_path / "budget.db"
        case "postgresql":
            place = server().database()
    with ogive.Ledger.open(place) as opened:
        yield opened
    if request.param == "postgresql":
        server().drop(place)


@pytest.fixture
def unit():
    return ogive.PrivacyUnit(ogive.Adjacency.REPLACE)
