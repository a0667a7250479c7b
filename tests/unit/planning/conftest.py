"""Plans in `make test` imagine fewer releases than those of users."""

import pytest
from helpers.scope import is_everything, size

from ogive.statistics.ecdf import plan
from ogive.statistics.methods.base import EVERY, Shapes


@pytest.fixture(autouse=True)
def fewer_imagined_releases(monkeypatch):
    """One imagined release of each public shape, for the errors of a method that measures less than every threshold."""
    monkeypatch.setattr(plan, "_SHAPES", Shapes(EVERY.names, runs=size(4, part=1)))


@pytest.fixture
def fewer_shapes(fewer_imagined_releases, monkeypatch):
    """For a test in which such errors are only compared with themselves: of each fourth public shape."""
    if not is_everything():
        monkeypatch.setattr(plan, "_SHAPES", Shapes(EVERY.names[::4], runs=1))
