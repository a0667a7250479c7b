"""Randomized rounding of Gini's kernel: its exact bias, and what the correction leaves of it."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ogive.kernels.numbers import corrected, same_cell

NODES = np.arange(9) / 8


def rounded(points: np.ndarray, weights: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Shares of nodes after randomized rounding."""
    cell = np.clip(np.searchsorted(nodes, points, side="right") - 1, 0, len(nodes) - 2)
    up = (points - nodes[cell]) / (nodes[cell + 1] - nodes[cell])
    return np.bincount(cell, weights * (1 - up), len(nodes)) + np.bincount(cell + 1, weights * up, len(nodes))


def fine(law, count: int = 20_000) -> tuple[np.ndarray, np.ndarray, float]:
    edges = np.linspace(0, 1, count + 1)
    mass = np.diff(law.cdf(edges))
    mass[-1] += law.sf(1)
    mass[0] += law.cdf(0)
    points = (edges[:-1] + edges[1:]) / 2
    points[-1] = 1.0 if law.sf(1) > 1e-9 else points[-1]
    below = np.cumsum(mass)
    return points, mass, 2 * float(np.sum(np.diff(points) * below[:-1] * (1 - below[:-1])))


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_bias_of_a_pair_is_as_stated(x, y):
    kernel = np.abs(NODES[:, None] - NODES)
    first, second = (rounded(np.array([each]), np.ones(1), NODES) for each in (x, y))
    bias = first @ kernel @ second - abs(x - y)
    cells = [min(int(each * 8), 7) for each in (x, y)]
    u, v = (each * 8 - cell for each, cell in zip((x, y), cells, strict=True))
    expected = 2 / 8 * min(u, v) * (1 - max(u, v)) if cells[0] == cells[1] else 0.0
    assert bias == pytest.approx(expected, abs=1e-12)


# errors of randomized rounding with 9 nodes, plain and corrected, as in 4.1 of the methods
@pytest.mark.parametrize(
    ("law", "plain"), [(scipy.stats.beta(2, 5), 0.0048), (scipy.stats.expon(scale=0.1), 0.0113)], ids=["beta", "expon"]
)
def test_the_correction_removes_most_of_the_bias_of_smooth_data(law, plain):
    points, mass, exact = fine(law)
    shares = rounded(points, mass, NODES)
    kernel = np.abs(NODES[:, None] - NODES)
    biased = shares @ kernel @ shares - exact
    assert biased == pytest.approx(plain, abs=2e-4)
    left = shares @ corrected(kernel, NODES) @ shares - exact
    assert abs(left) < 0.3 * biased


def test_even_data_have_no_bias_left():
    shares = rounded(np.linspace(0, 1, 800_001), np.full(800_001, 1 / 800_001), NODES)
    kernel = np.abs(NODES[:, None] - NODES)
    assert shares @ kernel @ shares - 1 / 3 == pytest.approx(1 / 8 / 8 / 6, abs=1e-5)
    assert shares @ corrected(kernel, NODES) @ shares == pytest.approx(1 / 3, abs=1e-5)


def test_data_on_nodes_are_not_to_be_corrected():
    # control: rounding has no bias there, and the correction makes one
    shares = np.eye(9)[0] / 2 + np.eye(9)[8] / 2
    kernel = np.abs(NODES[:, None] - NODES)
    assert shares @ kernel @ shares == 0.5
    assert shares @ corrected(kernel, NODES) @ shares < 0.49


def test_cells_of_any_width_are_weighed_by_it():
    nodes = np.array([0.0, 0.5, 0.6, 2.0])
    found = same_cell(nodes)
    np.testing.assert_allclose(found, found.T)
    shares = np.array([0.1, 0.4, 0.2, 0.3])
    masses = np.array([0.1 + 0.4 / 2, (0.4 + 0.2) / 2, 0.2 / 2 + 0.3])
    assert shares @ found @ shares == pytest.approx(np.sum([0.5, 0.1, 1.4] * masses**2))
