"""The table of the method's section on boxplots: 10,000 standard normal records, epsilon 1, delta 1e-6.

Means over 15 releases lie within the table's standard deviations (of one release) of its means, but for the ends of the
resampled ones, which the table takes of random draws and we of evenly spread ones: those are held to two.
The control is the coarse curve, whose box is wider than the true one by far more than the noise.
"""

import functools

import numpy as np
import pytest

import ogive
from ogive.noise import KeyedSource
from ogive.statistics.curve import approximating
from ogive.statistics.methods.curve_methods import Projection

pytestmark = pytest.mark.distribution

RELEASES = 15
TABLE = {
    "five": ((-3.15, 0.53), (-0.676, 0.013), (0.0, 0.013), (0.674, 0.015), (3.37, 2.1), None),
    "five, theta 180": ((-2.12, 0.06), (-0.676, 0.013), (0.002, 0.013), (0.673, 0.015), (2.12, 0.05), None),
    "moments, K=6": ((-3.12, 0.69), (-0.733, 0.05), (0.019, 0.055), (0.754, 0.053), (3.22, 0.75), (91, 93)),
    "K=6": ((-3.77, 0.1), (-0.748, 0.021), (-0.002, 0.018), (0.743, 0.02), (3.77, 0.1), (88, 12)),
    "K=10": ((-3.52, 0.46), (-0.682, 0.02), (-0.001, 0.017), (0.677, 0.019), (3.55, 0.45), (84, 19)),
    "K=20": ((-3.58, 0.37), (-0.678, 0.021), (-0.001, 0.017), (0.671, 0.019), (3.58, 0.39), (72, 17)),
}
WAYS = {
    "five": ogive.Boxplot("x", (-20, 20), bins=800, method="five_numbers"),
    "five, theta 180": ogive.Boxplot("x", (-20, 20), bins=800, method="five_numbers", beyond=180),
    "moments, K=6": ogive.Boxplot("x", (-4, 4), curve=Projection(degree=6, noise="moments", constants="paper")),
    "K=6": ogive.Boxplot("x", (-4, 4), curve=Projection(degree=6)),
    "K=10": ogive.Boxplot("x", (-4, 4), curve=Projection(degree=10)),
    "K=20": ogive.Boxplot("x", (-4, 4), curve=Projection(degree=20)),
}


@pytest.fixture(autouse=True)
def no_intervals(monkeypatch):
    """Boxes are compared, and not their intervals, which take most of the time of a fitted curve."""
    monkeypatch.setattr(approximating, "PROGRAMS", 2)


@functools.cache
def numbers(name):
    """Ends, quartiles and how many records are beyond, of some releases; ends are the outermost values."""
    way, found = WAYS[name], []
    privacy = ogive.PureDP(1) if way.method == "five_numbers" else ogive.ApproxDP(1, "1e-6")
    for run in range(RELEASES):
        records = np.random.default_rng(run).normal(size=10_000)
        box = ogive.release(
            way, trust=ogive.Central({"x": records}), privacy=privacy, source=KeyedSource.from_seed(run)
        ).boxes[0]
        ends = (*box.outliers, box.low, box.high)
        beyond = np.nan if box.below is None else box.below + box.above
        found.append([min(ends), box.q1, box.median, box.q3, max(ends), beyond])
    return np.array(found)


@pytest.mark.parametrize("name", TABLE)
def test_boxes_are_those_of_the_table(name):
    found = numbers(name)
    mean = found.mean(axis=0)
    print(name, mean.round(3), found.std(axis=0).round(3))
    for place, row in enumerate(TABLE[name]):
        if row is not None:
            expected, spread = row
            ends = place in (0, 4) and name.startswith("K")
            assert abs(mean[place] - expected) <= spread * (2 if ends else 1), (place, mean[place], row)


def test_the_quartiles_of_a_coarse_curve_are_wide_and_those_of_a_fine_one_right():
    wide, right = numbers("K=6").mean(axis=0), numbers("K=20").mean(axis=0)
    assert wide[3] - wide[1] > 1.44
    assert abs(right[3] - right[1] - 1.349) < 0.02
