"""The number of rounds with the least error, against a search through all of them and the known conditions."""

import math

import numpy as np
import pytest

from ogive.errors import ParameterError
from ogive.pairs import (
    DiscreteLaplaceNoise,
    LaplaceNoise,
    Overlaps,
    ResponseNoise,
    TwoSampleOverlaps,
    optimal_injections,
    optimal_pairs,
)

NOISES = [LaplaceNoise(), DiscreteLaplaceNoise(15, 1 / 15), ResponseNoise((0.0, 1.0)), ResponseNoise((0.0, 0.5, 1.0))]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("users", [2, 3, 20, 21, 60])
@pytest.mark.parametrize("zetas", [(1 / 180, 1 / 18), (0.0, 0.25), (0.1, 0.2)])
def test_it_is_the_best_of_all(noise, users, zetas):
    most = users - 1 if users % 2 == 0 else users
    for epsilon in (0.5, 3.0, 10.0, 40.0, 300.0):
        errors = [
            Overlaps.round_robin(users, rounds).variance(*zetas)
            + noise.variance(epsilon / rounds) / (rounds * (users // 2))
            for rounds in range(1, most + 1)
        ]
        assert optimal_pairs(users, epsilon, *zetas, noise) == 1 + int(np.argmin(errors))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("sizes", [(5, 12), (12, 5), (9, 9), (1, 3)])
@pytest.mark.parametrize("sigmas", [(0.03, 0.02, 0.2), (0.15, 0.001, 0.2), (0.001, 0.15, 0.2)])
def test_it_is_the_best_of_all_injections(noise, sizes, sigmas):
    for epsilon in (0.5, 5.0, 50.0, 500.0):
        errors = [
            TwoSampleOverlaps.balanced_injections(*sizes, rounds).variance(*sigmas)
            + noise.variance(epsilon / rounds) / (rounds * min(sizes))
            for rounds in range(1, max(sizes) + 1)
        ]
        assert optimal_injections(*sizes, epsilon, *sigmas, noise) == 1 + int(np.argmin(errors))


def test_which_record_tells_more_matters_where_classes_differ():
    sides = [optimal_injections(5, 60, 60.0, *sigmas, 0.2, NOISES[0]) for sigmas in ((0.15, 0.001), (0.001, 0.15))]
    assert sides[0] != sides[1]


def test_one_pair_is_best_up_to_an_epsilon_of_four():
    for epsilon in (0.1, 1.0, 3.99):
        assert optimal_pairs(10_000, epsilon, 0.0, 0.25, LaplaceNoise()) == 1
    assert optimal_pairs(10_000, 4.01, 0.0, 0.25, LaplaceNoise()) == 2


def test_the_real_optimum():  # 28
    real = 10 * math.sqrt(0.2 / 2)
    assert real == pytest.approx(3.16227766, abs=5e-9)
    assert optimal_pairs(1_000_000, 10, 0.01, 0.22, LaplaceNoise()) == 3
    for rounds in range(1, 12):  # one more round is better exactly beyond this epsilon
        edge = math.sqrt(2 * rounds * (rounds + 1) / 0.2)
        assert optimal_pairs(1_000_000, edge * 0.999, 0.01, 0.22, LaplaceNoise()) == rounds
        assert optimal_pairs(1_000_000, edge * 1.001, 0.01, 0.22, LaplaceNoise()) == rounds + 1


def test_nothing_is_gained_where_pairs_say_no_more_than_users():
    assert optimal_pairs(1000, 1000.0, 0.1, 0.2, LaplaceNoise()) == 1


def test_a_wider_kernel_is_a_smaller_epsilon():
    for epsilon in (3.0, 9.0, 31.0):
        wide = optimal_pairs(500, epsilon, 0.04, 1.2, LaplaceNoise(2.0))
        assert wide == optimal_pairs(500, epsilon / 2, 0.04, 1.2, LaplaceNoise())
        assert wide == optimal_pairs(500, epsilon, 0.01, 0.3, LaplaceNoise())


def test_bad_arguments_are_refused():
    for call in (
        lambda: optimal_pairs(1, 1.0, 0.1, 0.2, LaplaceNoise()),
        lambda: optimal_pairs(4, 0.0, 0.1, 0.2, LaplaceNoise()),
        lambda: optimal_injections(0, 3, 1.0, 0.1, 0.1, 0.2, LaplaceNoise()),
    ):
        with pytest.raises(ParameterError):
            call()
