"""Curves made by hand, without a release."""

from functools import lru_cache

import numpy as np
from hypothesis import strategies as st

from ogive.columns.grids import Grid
from ogive.privacy import Adjacency, PureDP
from ogive.provenance import Provenance
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.roc.area import pairs_at_ends
from ogive.strategies import design_path

PROVENANCE = Provenance(
    release_id="0badcafe",
    statistic="ecdf",
    method="path",
    privacy=PureDP("4/3"),
    price=PureDP(1),
    adjacency=Adjacency.REPLACE,
    trust="central",
    assumption="The curator saw everything.",
)


def exact_curve(values, grid, *, total=True, column="value"):
    """The curve of known values, without noise."""
    counts = np.cumsum(np.bincount(grid.bin_of(np.asarray(values, dtype=float)), minlength=grid.bins)).astype(float)
    public = int(counts[-1]) if total else None
    adjacency = Adjacency.REPLACE if total else Adjacency.ADD_OR_REMOVE
    return Curve(grid, counts, counts, None, adjacency, public, "none", column)


def noisy_curve(values, grid, *, epsilon=1, total=True, seed=0, column="value"):
    """A curve with path noise from a seeded generator, smoothed by a running maximum."""
    exact = exact_curve(values, grid, total=total)
    strategy = path(grid.bins, epsilon, exact.adjacency)
    rng = np.random.default_rng(seed)
    scale = float(np.sqrt(strategy.law.variance / 2))
    noise = tuple(np.rint(rng.laplace(scale=scale, size=level.nodes)).astype(np.int64) for level in strategy.levels)
    raw = strategy.estimate(exact.raw.astype(np.int64) + strategy.spread(noise), exact.total)
    smooth = np.maximum.accumulate(np.clip(raw, 0, exact.total))
    return Curve(grid, smooth, raw, strategy, exact.adjacency, exact.total, "running maximum", column)


@lru_cache
def path(bins, epsilon, adjacency):
    """Path noise, designed once."""
    return design_path(bins, privacy=PureDP(epsilon), adjacency=adjacency)


@st.composite
def any_curve(draw):
    """Valid curves on all kinds of grids, with a public or private number of records, down to none."""
    bins = draw(st.integers(1, 12))
    kind = draw(st.sampled_from(["linear", "geometric", "integers", "explicit", "date", "datetime"]))
    match kind:
        case "linear":
            grid = Grid.linear(-3.5, 9, bins=bins)
        case "geometric":
            grid = Grid.geometric(0.01, 1000, bins=bins)
        case "integers":
            grid = Grid.integers(0, bins)
        case "explicit":
            steps = draw(st.lists(st.floats(0.01, 100), min_size=bins, max_size=bins))
            grid = Grid.explicit(np.cumsum(steps).tolist())
        case "date":
            grid = Grid.linear("2024-01-01", "2024-12-31", bins=bins)
        case _:
            grid = Grid.linear("2024-01-01T00:00:00", "2024-01-02T00:00:00", bins=bins)
    counts = draw(st.lists(st.floats(0, 1e6), min_size=grid.bins, max_size=grid.bins))
    cumulative = np.cumsum(np.where(np.array(counts) < 1, 0, counts))
    wiggle = draw(st.lists(st.floats(-50, 50), min_size=grid.bins, max_size=grid.bins))
    total = draw(st.sampled_from([None, int(np.ceil(cumulative[-1]))]))
    adjacency = Adjacency.ADD_OR_REMOVE if total is None else Adjacency.REPLACE
    noisy = draw(st.booleans())
    strategy = path(grid.bins, 1, adjacency) if noisy else None
    raw = cumulative + wiggle if noisy else cumulative
    return Curve(grid, cumulative, raw, strategy, adjacency, total, "none", draw(st.text(max_size=20)))


def pairs_in_order(negatives, positives, positive_when):
    """Pairs of a negative and a positive record that the score ranks rightly, ties one half, from cumulative counts."""
    return pairs_at_ends(negatives, positives, positive_when).sum(axis=0) / 2
