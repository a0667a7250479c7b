"""Plans whose errors are simulated on fewer records than those of a release, where a test does not compare the two."""

import pytest
from helpers.scope import size

from ogive.statistics.ecdf import plan
from ogive.statistics.methods.reference_shapes import EVERY, Shapes

RUNS = size(4, part=1)
"""Imagined releases of each public shape, for the errors of a method that measures less than every threshold."""


@pytest.fixture(autouse=True)
def fewer_imagined_releases(monkeypatch):
    monkeypatch.setattr(plan, "_SHAPES", Shapes(EVERY.names, runs=RUNS))
