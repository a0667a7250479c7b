"""Plans of commands imagine few releases, of few shapes, where a test asks for it."""

import pytest
from helpers.scope import is_everything, size


@pytest.fixture
def fewer_imagined_releases(monkeypatch):
    """In `make test` one imagined release of each fourth public shape."""
    from ogive.statistics.ecdf import plan
    from ogive.statistics.methods.base import EVERY, Shapes

    names = EVERY.names if is_everything() else EVERY.names[::4]
    monkeypatch.setattr(plan, "_SHAPES", Shapes(names, runs=size(4, part=1)))
