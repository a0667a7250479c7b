"""The context of a release's noise fixes what is measured, to the last bit of every feature."""

import numpy as np
import pytest

from ogive.columns import Binning, Label
from ogive.columns.grids import Grid
from ogive.privacy import Adjacency, ApproxDP
from ogive.queries import ClassBinning, ClassCurvesQuery, CurveQuery
from ogive.strategies import OrthogonalProjection, design_projection

BINNING = Binning("x", Grid.linear(0, 1, bins=16))
PROJECTION = design_projection(16, privacy=ApproxDP(1, "1e-6"), adjacency=Adjacency.REPLACE, degree=3)
COUNTS = np.arange(16)


@pytest.mark.parametrize(
    ("query", "sums"),
    [
        (CurveQuery(BINNING, PROJECTION), COUNTS),
        (ClassCurvesQuery(ClassBinning(BINNING, Label("y")), PROJECTION), np.stack([COUNTS, COUNTS])),
    ],
    ids=["curve", "classes"],
)
def test_other_features_of_the_same_projection_get_other_noise(monkeypatch, query, sums):
    """With the same noise on other features the difference of two answers would be exact."""
    before = query.digest(sums, Adjacency.REPLACE)
    assert before == query.digest(sums, Adjacency.REPLACE)
    features = PROJECTION.features.copy()
    features[0, 0] += 1
    monkeypatch.setattr(OrthogonalProjection, "features", features)
    assert query.digest(sums, Adjacency.REPLACE) != before
