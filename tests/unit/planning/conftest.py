"""Plans in `make test` imagine fewer releases than those of users."""

import pytest
from helpers.scope import is_everything, size

from ogive.statistics.ecdf import plan
from ogive.statistics.methods.base import Shapes


@pytest.fixture(autouse=True)
def fewer_imagined_releases(monkeypatch):
    """One imagined release of each public shape."""
    monkeypatch.setattr(plan, "_SHAPES", Shapes(plan._SHAPES.names, runs=size(4, part=1)))


@pytest.fixture
def fewer_shapes(fewer_imagined_releases, monkeypatch):
    """For a test in which such errors are only compared with themselves: of the first three public shapes."""
    if not is_everything():
        monkeypatch.setattr(plan, "_SHAPES", Shapes(plan._SHAPES.names[:3], runs=1))
