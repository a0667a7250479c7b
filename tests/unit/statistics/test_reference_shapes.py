"""Public shapes: distribution functions on every grid, the same samples always, and errors as they are defined."""

import numpy as np
import pytest

from ogive.statistics.methods.base import EVERY, FIRST, HARD, REFERENCES, USUAL, Shapes


@pytest.mark.parametrize("size", [1, 2, 16, 100, 1024, 4096])
def test_every_shape_is_a_distribution_function_on_every_grid(size):
    curves = EVERY.curves(size)
    assert curves.shape == (len(REFERENCES) + len(HARD), size)
    assert np.all(np.diff(curves, axis=1) >= -1e-12)
    assert np.all((curves >= -1e-12) & (curves <= 1 + 1e-12))
    assert np.all(curves[:, -1] == 1)


def test_the_kinds_of_shapes_that_mislead_are_all_there():
    curves = dict(zip(EVERY.names, np.diff(EVERY.curves(1024), axis=1, prepend=0), strict=True))
    largest = {name: shares.max() for name, shares in curves.items()}
    assert all(largest[name] == 1 for name in FIRST.names)
    assert curves["zeros"][0] == largest["zeros"] > 0.9
    assert sum(0.3 < largest[name] < 1 for name in HARD) >= 5
    narrow = [
        name for name, shares in curves.items() if 1 <= np.count_nonzero(np.sort(shares)[::-1].cumsum() < 0.99) <= 25
    ]
    assert {"slim", "thin", "aside"} <= set(narrow)
    assert np.count_nonzero(curves["gap"] == 0) > 850
    assert curves["power"][0] < 0.5
    assert curves["power"][500:].sum() > 1e-3


def test_no_shape_favors_a_grid_or_a_number_of_groups():
    """Places of single values lie inside a group of bins and not at its border, for most numbers of groups."""
    ends = 0
    for groups in range(10, 101):
        edges = np.arange(1, groups) / groups
        ends += np.min(np.abs(edges - 0.3819)) < 1 / 4096
    assert ends <= 5


def test_samples_are_the_same_always_and_add_up():
    counts = USUAL.counts(64, 1000)
    assert counts.shape == (7, 8, 64)
    assert np.all(counts.sum(axis=-1) == 1000)
    assert np.array_equal(counts, Shapes(REFERENCES, 8).counts(64, 1000))
    assert not np.array_equal(counts[:, :, :32], USUAL.counts(64, 1001)[:, :, :32])
    with pytest.raises(ValueError, match="read-only"):
        counts[0, 0, 0] = 1


def test_errors_are_those_of_their_names():
    one = Shapes(("uniform",), 2)
    counts = one.counts(100, 50)
    own = np.cumsum(counts, axis=-1) / 50
    off = own.copy()
    off[0, 0, 30] += 0.25
    off[0, 1, 60] -= 0.05
    assert one.errors(own, counts).ks == (0.0,)
    assert one.errors(off, counts).ks[0] == pytest.approx(0.15)
    population = np.broadcast_to(one.curves(100)[:, np.newaxis], own.shape)
    assert one.errors(population, counts).energy == (0.0,)
    assert one.errors(population + 0.1, counts).energy[0] == pytest.approx(np.sqrt(2) * 0.1)
