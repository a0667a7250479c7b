"""Plans in `make test` imagine fewer releases than those of users."""

import pytest
from helpers.scope import size

from ogive.statistics.ecdf import plan
from ogive.statistics.methods.reference_shapes import EVERY, Shapes


@pytest.fixture(autouse=True)
def fewer_imagined_releases(monkeypatch):
    """One imagined release of each public shape, for the errors of a method that measures less than every threshold."""
    monkeypatch.setattr(plan, "_SHAPES", Shapes(EVERY.names, runs=size(4, part=1)))
