"""What one record changes in means over pairs of given records: how far it may be below the global sensitivity."""

import itertools

import numpy as np
import pytest

from ogive.columns import Binning, Categories, Domain
from ogive.columns.grids import Grid
from ogive.kernels import measure_of

INNER = (0.1, 0.2, 0.3, 0.45, 0.5, 0.6, 0.8, 0.95)
ENDS = (0.0, 1.0)
SEEDS = range(12)
SIZE = 7


def column(name):
    return Binning(name, Grid.linear(0, 1, bins=4))


def share(measure, domain, rows, places, classes=None):
    """The largest change by replacing one record, over the global sensitivity."""
    [kernel] = measure_of(measure).kernels
    exact = kernel.exact(rows, classes)
    scale = kernel.scale(domain, 1)
    swing = float(scale.unit * scale.swing)
    largest = 0.0
    for row, place in itertools.product(range(len(rows)), places):
        changed = rows.copy()
        changed[row] = place
        largest = max(largest, abs(kernel.exact(changed, classes) - exact))
    return largest / (2 * swing / len(rows) if classes is None else swing / np.bincount(classes).min())


@pytest.mark.parametrize("seed", SEEDS)
def test_orders_change_by_half_of_the_most_unless_values_are_at_the_bounds(seed):
    rng = np.random.default_rng(seed)
    both = rng.choice(INNER, (SIZE, 2))
    corners = list(itertools.product(ENDS, ENDS))
    assert share("kendall", Domain((column("x"), column("y"))), both, corners) >= 0.5 - 1e-12
    classes = rng.permutation([0, 1, 1, 0, 1, 0, 1])
    assert share("auc", Domain((column("x"),)), both[:, :1], [(end,) for end in ENDS], classes) >= 0.5 - 1e-12


def test_orders_of_values_at_the_bounds_may_change_less():
    """A control: where all are tied at both bounds no record is above all others."""
    everywhere = [(x, y) for x in (0.0, 0.5, 1.0) for y in (0.0, 0.5, 1.0)]
    tied = np.array(list(itertools.product(ENDS, ENDS)) * 2)
    assert share("kendall", Domain((column("x"), column("y"))), tied, everywhere) < 0.5


@pytest.mark.parametrize("seed", SEEDS)
def test_distances_and_squares_change_by_what_is_stated_or_more(seed):
    rng = np.random.default_rng(seed)
    values = rng.choice((*INNER, *ENDS), (SIZE, 1))
    domain, ends = Domain((column("x"),)), [(end,) for end in ENDS]
    gini, variance = (measure_of(name).exact(values) for name in ("gini", "variance"))
    assert share("gini", domain, values, ends) >= 0.5 - gini - 1e-12
    assert share("variance", domain, values, ends) >= 0.25 - SIZE / (SIZE - 1) * variance - 1e-12


def test_no_more_could_be_stated_of_distances_and_squares():
    """Both bounds are nearly reached: a tenth more would be wrong."""
    domain, everywhere = Domain((column("x"),)), [(place,) for place in np.linspace(0, 1, 21)]
    middle = np.full((SIZE, 1), 0.5)
    assert share("gini", domain, middle, everywhere) == pytest.approx(0.5)
    assert share("variance", domain, middle, everywhere) == pytest.approx(0.25)


@pytest.mark.parametrize("seed", SEEDS)
def test_equality_changes_by_how_much_counts_differ(seed):
    rng = np.random.default_rng(seed)
    values = rng.choice(4, 9, p=rng.dirichlet(np.ones(4)))
    counts = np.bincount(values, minlength=4)
    moves = [
        abs(counts[after] - counts[before] + 1)
        for before, after in itertools.permutations(range(4), 2)
        if counts[before]
    ]
    domain = Domain((Categories("city", ("a", "b", "c", "d")),))
    found = share("collision_probability", domain, values[:, None].astype(float), [(float(each),) for each in range(4)])
    assert found == pytest.approx(max(moves) * 2 / (9 * 8) / (2 / 9))
