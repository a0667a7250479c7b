"""A place for a ledger on each database, and a program that forks the processes that use it."""

import pytest
from helpers.postgres import server
from helpers.trials import forks


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return str(tmp_path / "budget.db") if request.param == "sqlite" else server().database()


@pytest.fixture
def program(place, tmp_path):
    # after `place`, so that the children see the same folder of keys
    with forks(tmp_path) as running:
        yield running
