"""An AUC from a tree of reports: what one leaf hides, and what it does not."""

import dataclasses

import numpy as np
import pytest

from ogive.columns import Binning, Domain
from ogive.columns.grids import Grid
from ogive.kernels import Greater, Mean, measure_of
from ogive.noise import KeyedSource
from ogive.privacy import PureDP
from ogive.releasing.release import release
from ogive.statistics.ustatistic.statistic import Ustatistic
from ogive.trust import Clear, Local

N = 60_000
RNG = np.random.default_rng(2)
LABELS = RNG.integers(0, 2, N)
TABLE = {"score": np.clip(np.round(RNG.normal(3 + LABELS, 1.5, N)), 0, 7), "y": LABELS}
WHOLE = Ustatistic(("score", "y"), "auc", bounds=(0, 7), grid="integers", method="hierarchy", public_labels=True)
WIDE = dataclasses.replace(WHOLE, grid="linear", bins=2)


def released(statistic, number=0):
    source = KeyedSource.from_seed(number)
    return release(statistic, trust=Local(TABLE), privacy=PureDP(8), public="y", source=source)


def strict(statistic):
    return dataclasses.replace(statistic, kernel=Mean(Greater("strict"), "auc"))


@pytest.mark.parametrize("statistic", [WHOLE, strict(WHOLE)], ids=["half", "strict"])
def test_ties_of_whole_numbers_are_known_so_rounding_moves_nothing(statistic):
    found, truth = released(statistic), release(statistic, trust=Clear(TABLE)).value
    assert found.quantization < 0.01, "at most a bias of nodes that were not looked into"
    assert abs(found.value - truth) < 5 * found.randomization_error + found.quantization
    other = release(strict(WHOLE) if statistic is WHOLE else WHOLE, trust=Clear(TABLE)).value
    assert abs(found.value - other) > 5 * found.randomization_error, "ties are many"


def test_in_wide_leaves_the_order_is_not_known_and_a_strict_auc_is_not_taken_for_one_without_pairs():
    half, less = released(WIDE), released(strict(WIDE))
    assert half.value == less.value, "as the matrix of the kernel has it: a pair in one leaf counts half"
    leaves = Domain((Binning("score", Grid.linear(0, 7, bins=2)),))
    assert Greater("strict").matrix(leaves).diagonal().tolist() == [0.5, 0.5]
    up, down = ((TABLE["score"] > 3.5)[each == LABELS].mean() for each in (1, 0))
    assert half.quantization > 0.4 * (up * down + (1 - up) * (1 - down))
    exact = measure_of(Mean(Greater("strict"), "auc")).exact(TABLE["score"][:, None], LABELS)
    assert abs(less.value - exact) < 5 * less.randomization_error + less.quantization
