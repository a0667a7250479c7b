"""Means over triples: unbiased by enumeration, and equal to the triple sum over different reports."""

import itertools

import numpy as np
import pytest

from ogive.errors import DataError, ParameterError
from ogive.local import RandomizedResponse, UnaryOracle
from ogive.statistics.ustatistic.means import mean, triple_hoeffding, variances
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


@pytest.mark.parametrize("records", [3, 4, 5])
def test_variances_are_those_over_all_records_and_all_responses(records):
    """Every data set, by its chance, and every response to it: total variance, and that of the exact means."""
    oracle, shares = RandomizedResponse(2, 1), np.array([0.3, 0.7])
    turned = [np.transpose(TENSOR[:2, :2, :2], order) for order in itertools.permutations(range(3))]
    tensor = sum(turned) / 6
    exact, noisy = [], []
    for symbols in itertools.product(range(2), repeat=records):
        chance = float(np.prod(shares[list(symbols)]))
        exact.append((chance, [np.mean([tensor[each] for each in itertools.permutations(symbols, 3)])]))
        noisy += [(chance * times, [mean(oracle, sums, tensor)]) for times, sums in outcomes(oracle, symbols)]
    whole, sampling = variances(oracle, tensor, shares, records)
    assert whole == pytest.approx(float(moments(noisy)[1][0, 0]), rel=1e-9)
    assert sampling == pytest.approx(float(moments(exact)[1][0, 0]), rel=1e-9)
    assert sampling == pytest.approx(triple_hoeffding(tensor, shares, records), rel=1e-9)
    assert whole > 2 * sampling, "control"


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
