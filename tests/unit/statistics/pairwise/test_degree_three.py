"""Means over triples: unbiased by enumeration, and equal to the triple sum over different reports."""

import itertools

import numpy as np
import pytest

from ogive.errors import DataError, ParameterError
from ogive.local import RandomizedResponse, UnaryOracle
from ogive.statistics.ustatistic.means.degree_three import mean
from tests.helpers.reports import moments, outcomes

ORACLE = RandomizedResponse(3, 1)
TENSOR = np.random.default_rng(0).normal(size=(3, 3, 3))


@pytest.mark.parametrize("symbols", [(0, 1, 2), (0, 2, 2, 1), (1, 1, 1, 1)], ids=str)
def test_the_mean_over_triples_is_unbiased(symbols):
    found, _ = moments([(chance, [mean(ORACLE, sums, TENSOR)]) for chance, sums in outcomes(ORACLE, symbols)])
    exact = np.mean([TENSOR[triple] for triple in itertools.permutations(symbols, 3)])
    assert found[0] == pytest.approx(exact, rel=1e-9)
    if len(set(symbols)) > 1:
        assert exact != pytest.approx(np.mean([TENSOR[each] for each in itertools.product(symbols, repeat=3)])), (
            "control"
        )


def test_it_is_the_sum_over_different_reports():
    responses = [0, 1, 1, 2, 0]
    keep = float(ORACLE.keep)
    vectors = (np.eye(3)[responses] - (1 - keep) / 3) / keep
    total = [
        np.einsum("abc,a,b,c", TENSOR, *(vectors[each] for each in triple))
        for triple in itertools.permutations(range(5), 3)
    ]
    assert mean(ORACLE, np.bincount(responses), TENSOR) == pytest.approx(np.mean(total), rel=1e-9)


def test_constants_come_out_exactly():
    assert mean(ORACLE, np.array([4, 1, 0]), np.full((3, 3, 3), 0.1)) == 0.1


def test_refusals_say_what_would_be_right():
    with pytest.raises(DataError, match="at least 3 reports, got 2"):
        mean(ORACLE, np.array([1, 1, 0]), TENSOR)
    with pytest.raises(ParameterError, match="reports of krr, got 'unary'"):
        mean(UnaryOracle(3, 1), np.array([1, 1, 0, 3]), TENSOR)
    with pytest.raises(ParameterError, match="use at most 128 bins"):
        mean(RandomizedResponse(200, 1), np.zeros(200, dtype=np.int64), TENSOR)
    with pytest.raises(ParameterError, match=r"of shape \(3, 3, 3\), got \(3, 3\)"):
        mean(ORACLE, np.array([1, 1, 1]), np.eye(3))
