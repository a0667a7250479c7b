"""Measuring what is known only in shares or in blocks, against measuring the records whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.columns import Binning, Categories, Domain, Label
from ogive.columns.grids import Grid
from ogive.crypto.field import P
from ogive.errors import ParameterError, UnsupportedError
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.queries import (
    Cells,
    CellsQuery,
    ClassBinning,
    ClassCurvesQuery,
    CurveQuery,
    GroupBinning,
    GroupSums,
    GroupSumsQuery,
)
from ogive.strategies import (
    GroupedHistogram,
    OpenedThresholds,
    design_hats,
    design_path,
    design_projection,
    design_square_root,
    design_tree,
)
from ogive.trust import modulus as modular
from ogive.trust.modulus import block_ends, measure_modulo

BINS = 24
MODULI = (1 << 64, 1 << 32, P)
REPLACE = Adjacency.REPLACE
PURE, RHO = PureDP(1), ZeroConcentratedDP(0.5)
LAPLACE, GAUSSIAN = DiscreteLaplace(3), DiscreteGaussian(2000)
COLUMN = Binning("x", Grid.linear(0, 1, bins=BINS))
TWO, THREE = ClassBinning(COLUMN, Label("y")), GroupBinning(COLUMN, "g", ("a", "b", "c"))
SUMS = GroupSums(Binning("x", Grid.explicit([0.2, 0.5, 0.8, 1], low=0)), Label("y"), bits=20)

STRATEGIES = {
    "tree": design_tree(BINS, privacy=PURE, adjacency=REPLACE),
    "tree_gaussian": design_tree(BINS, privacy=RHO, adjacency=REPLACE),
    "hats": design_hats(BINS, privacy=PURE, adjacency=REPLACE),
    "square_root": design_square_root(BINS, privacy=RHO, adjacency=REPLACE),
    "path": design_path(BINS, privacy=PURE, adjacency=REPLACE),
    "path_fine": design_path(BINS, privacy=RHO, adjacency=REPLACE),
    "projection": design_projection(BINS, privacy=PURE, adjacency=REPLACE, degree=3),
    "projection_fine": design_projection(BINS, privacy=RHO, adjacency=Adjacency.ADD_OR_REMOVE, degree=4),
    "histogram": GroupedHistogram(BINS, 5, LAPLACE),
    "histogram_fine": GroupedHistogram(BINS, 7, GAUSSIAN, 12),
    "adaptive": OpenedThresholds(BINS, (20, 3, 11), GAUSSIAN, 9),
}
QUERIES = {
    **{name: CurveQuery(COLUMN, strategy) for name, strategy in STRATEGIES.items()},
    "path_points": CurveQuery(COLUMN, STRATEGIES["path_fine"], (17, 2, 9)),
    "two_classes": ClassCurvesQuery(TWO, STRATEGIES["histogram"]),
    "groups": ClassCurvesQuery(THREE, STRATEGIES["hats"]),
    "cells": CellsQuery(Cells(Domain((COLUMN, Categories("g", ("a", "b"))))), GAUSSIAN, 6),
    "counts": GroupSumsQuery(SUMS, LAPLACE, LAPLACE),
    "difference": GroupSumsQuery(SUMS, LAPLACE, LAPLACE, "difference"),
}
BLOCKS = {
    "histogram": [4, 9, 13, 18, 23],
    "histogram_fine": [2, 6, 9, 13, 16, 20, 23],
    "adaptive": [3, 11, 20, 23],
    "path_points": [2, 9, 17, 23],
    "two_classes": [4, 9, 13, 18, 23, 28, 33, 37, 42, 47],
    "counts": list(range(8)),
    "difference": list(range(8)),
}


def some_sums(query, rng, most=50):
    return rng.integers(0, most, query.aggregate.shape)


def slow_matrix(query):
    """What one record in each cell adds to the measurements, in Python's whole numbers, a list per cell."""
    cells = int(np.prod(query.aggregate.shape))
    units = np.eye(cells, dtype=np.int64).reshape(cells, *query.aggregate.shape)
    return [[int(value) for value in query.measure(unit).ravel()] for unit in units]


@pytest.mark.parametrize("name", QUERIES)
def test_records_moved_to_the_ends_of_their_blocks_measure_the_same(name):
    query, rng = QUERIES[name], np.random.default_rng(3)
    ends = block_ends(query)
    assert ends[-1] == (8 if isinstance(query, GroupSumsQuery) else np.prod(query.aggregate.shape)) - 1
    assert (np.diff(ends) > 0).all()
    assert ends.tolist() == BLOCKS.get(name, list(range(ends[-1] + 1)))
    if isinstance(query, GroupSumsQuery):
        return
    for _ in range(20):
        sums = some_sums(query, rng)
        moved = np.zeros(sums.size, dtype=np.int64)
        moved[ends] = np.diff(np.cumsum(sums.ravel())[ends], prepend=0)
        assert np.array_equal(query.measure(moved.reshape(sums.shape)), query.measure(sums))


@pytest.mark.parametrize("name", [name for name in BLOCKS if not isinstance(QUERIES[name], GroupSumsQuery)])
def test_blocks_are_not_larger_than_need_be_nor_smaller(name):
    """Two cells have the same measurements if and only if they are in one block, but for where a curve ends anyway."""
    rows = slow_matrix(QUERIES[name])
    ends = block_ends(QUERIES[name])
    told_apart = [cell for cell in range(len(rows) - 1) if rows[cell] != rows[cell + 1]]
    assert set(told_apart) <= set(ends.tolist()) <= {*told_apart, len(rows) - 1}


@pytest.mark.each_value
@pytest.mark.parametrize("modulus", MODULI)
@pytest.mark.parametrize("name", QUERIES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=8, deadline=None)
def test_shares_are_measured_as_whole_numbers_would_be(name, modulus, seed):
    query, rng = QUERIES[name], np.random.default_rng(seed)
    sums = some_sums(query, rng)
    first = rng.integers(0, modulus - 1, sums.shape, dtype=np.uint64, endpoint=True)
    rest = [(int(a) - int(b)) % modulus for a, b in zip(sums.ravel(), first.ravel(), strict=True)]
    second = np.array(rest, dtype=np.uint64).reshape(sums.shape)
    rows = slow_matrix(query)
    for share in (first, second):
        found = measure_modulo(query, share, modulus)
        held = [int(value) for value in share.ravel()]
        slow = [sum(a * row[k] for a, row in zip(held, rows, strict=True)) % modulus for k in range(len(rows[0]))]
        assert [int(value) for value in found.ravel()] == slow
        assert found.dtype == np.uint64
    added = [
        (int(a) + int(b)) % modulus
        for a, b in zip(*[measure_modulo(query, s, modulus).ravel() for s in (first, second)], strict=True)
    ]
    assert added == [int(value) % modulus for value in query.measure(sums).ravel()]


@pytest.mark.parametrize("modulus", MODULI)
def test_largest_shares_of_a_long_curve_do_not_overflow(modulus):
    """Every share as large as the modulus lets it be: minus one record in every cell."""
    bins = 1 << 12
    column = Binning("x", Grid.linear(0, 1, bins=bins))
    for design, privacy in ((design_path, RHO), (design_tree, PURE), (design_hats, PURE), (design_square_root, RHO)):
        query = CurveQuery(column, design(bins, privacy=privacy, adjacency=REPLACE))
        minus = measure_modulo(query, np.full(bins, modulus - 1, dtype=np.uint64), modulus)
        plain = query.measure(np.ones(bins, dtype=np.int64))
        assert [(int(a) + int(b)) % modulus for a, b in zip(minus, plain, strict=True)] == [0] * len(plain)


def test_sums_of_less_room_are_cut_into_more_limbs_or_refused(monkeypatch):
    fine = CurveQuery(COLUMN, OpenedThresholds(BINS, (3,), GAUSSIAN, 30))
    share = np.full(BINS, 2**64 - 1, dtype=np.uint64)
    for room in (60, 40, 35):
        monkeypatch.setattr(modular, "_ROOM_BITS", room)
        assert measure_modulo(fine, share, 1 << 64).tolist() == [-4 * 2**30 % 2**64]
    monkeypatch.setattr(modular, "_ROOM_BITS", 32)
    with pytest.raises(UnsupportedError, match="too many fractional bits"):
        measure_modulo(fine, share, 1 << 64)


def test_refuses_another_modulus():
    with pytest.raises(ParameterError, match=r"modulo 2\^64, 2\^32 or 2\^61 - 1, got 101"):
        measure_modulo(QUERIES["tree"], np.zeros(BINS, dtype=np.uint64), 101)
