"""The range maximum: valid and smooth whatever the shape of the cost, and little looser than the truth."""

import numpy as np
import pytest
from helpers.small_votes import graph, least_excess, local_sensitivities, widened

from ogive.pate.costs.answers import GnmaxBound, logq_gnmax, unit_of
from ogive.pate.sensitivity.local_sensitivity import Cells, Rivals, cell_sensitivities, landmarks, range_profiles

# teachers, classes, sigma, order, variant; all but the first two fail a condition of Algorithms 3 to 5
CASES = [
    (30, 3, 8.0, 5.0, "exact"),
    (40, 2, 6.0, 3.0, "conservative"),
    (20, 3, 2.0, 4.0, "exact"),
    (30, 3, 4.0, 8.0, "exact"),
    (25, 3, 3.0, 10.0, "exact"),
    (40, 3, 6.0, 10.0, "exact"),
    (16, 4, 2.0, 3.0, "exact"),
    (12, 3, 0.5, 1.5, "exact"),
]


def ranges_of(teachers, classes, sigma, order, variant, noise="continuous", count=4000):
    rows, beside = graph(teachers, classes)
    bound = GnmaxBound(sigma, order, variant)
    rivals = Rivals.of(sigma, teachers=teachers, classes=classes, tie_gap=unit_of(noise))
    cells = Cells.of(rivals, classes=classes, count=count)
    profiles = range_profiles(rows, rivals, cells, cell_sensitivities(bound, cells, classes=classes))
    true = local_sensitivities(bound.beta(logq_gnmax(rows, sigma, noise=noise)), beside)
    return profiles, true, beside, landmarks(bound, classes).unmet(rivals.log_unanimous(classes))


@pytest.mark.parametrize("noise", ["continuous", "discrete"])
@pytest.mark.parametrize(("teachers", "classes", "sigma", "order", "variant"), CASES)
def test_profiles_bound_every_neighbourhood_and_are_smooth(teachers, classes, sigma, order, variant, noise):
    profiles, true, beside, unmet = ranges_of(teachers, classes, sigma, order, variant, noise)
    assert (unmet is None) is ((sigma, order) in ((8.0, 5.0), (6.0, 3.0)))
    reached = widened(true, beside, teachers)
    assert true.max() > 0
    assert np.all(profiles >= reached - 1e-13 * true.max())
    # nested cells: exactly, without room
    assert least_excess(profiles, beside) >= 0
    if noise == "continuous":
        fade = np.exp(-0.2 / order * np.arange(teachers))
        looser = (fade * profiles).max(axis=1) / (fade * reached).max(axis=1)
        assert looser.max() < 1.6


@pytest.mark.parametrize("count", [7, 100])
def test_coarse_cells_are_looser_and_as_valid(count):
    profiles, true, beside, _ = ranges_of(20, 3, 2.0, 4.0, "exact", count=count)
    fine = ranges_of(20, 3, 2.0, 4.0, "exact")[0]
    assert np.all(profiles >= widened(true, beside, 20))
    assert least_excess(profiles, beside) >= 0
    assert profiles.sum() > fine.sum()


def test_a_grid_cut_at_the_data_would_not_be_nested():
    """The control: cells that start at each histogram's own chance are not those of its neighbour."""
    rows, beside = graph(20, 3)
    bound = GnmaxBound(2.0, 4.0)
    rivals = Rivals.of(2.0, teachers=20, classes=3)
    common = Cells.of(rivals, classes=3, count=40)
    profiles = []
    for row, log_q in zip(rows, logq_gnmax(rows, 2.0), strict=True):
        own = Cells(common.start + (np.sqrt(-log_q) - common.start) % common.width, common.width, common.count)
        values = cell_sensitivities(bound, own, classes=3)
        profiles.append(range_profiles(row[None], rivals, own, values)[0])
    assert least_excess(np.array(profiles), beside) < -1e-3


def test_cells_cover_all_chances():
    rivals = Rivals.of(2.0, teachers=20, classes=3)
    cells = Cells.of(rivals, classes=3, count=50)
    small, large = cells.log_ends()
    assert large[0] == pytest.approx(rivals.log_cap)
    assert small[-1] == pytest.approx(rivals.log_unanimous(3), rel=1e-11)
    assert np.all(small[:-1] == large[1:])
    logs = np.random.default_rng(3).uniform(rivals.log_unanimous(3), rivals.log_cap, 1000)
    place = cells.place(logs)
    assert np.all((small[place] <= logs) & (logs <= large[place]))
    assert cells.place(np.array([rivals.log_cap, rivals.log_unanimous(3)])).tolist() == [0, 49]
