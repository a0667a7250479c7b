"""Variances under the null hypothesis, against all permutations of small samples and against SciPy."""

from itertools import permutations

import numpy as np
import pytest

from ogive.kernels.ranks import Greater, ScoreOrder, SignProduct, kendall_variance, null_variance, tie_share

SCORES = [
    pytest.param([1, 2, 3, 4, 5, 6], id="no ties"),
    pytest.param([1, 1, 2, 3, 3, 3], id="ties"),
    pytest.param([1, 1, 1, 1, 1, 2], id="nearly all tied"),
]


def over_permutations(kernel, fixed, permuted, *, labels):
    """Variance of a kernel's mean over all orders of one column."""
    values = []
    for order in permutations(permuted):
        rows = np.array([fixed, order], dtype=float).T
        values.append(kernel.exact(rows[:, :1], rows[:, 1].astype(int)) if labels else kernel.exact(rows))
    return np.var(values)


@pytest.mark.each_value
@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("positives", [1, 2, 3])
def test_variance_of_an_auc_is_that_over_all_assignments_of_classes(scores, positives):
    classes = [1] * positives + [0] * (6 - positives)
    rows = np.array([scores, classes], dtype=float).T
    found = null_variance(Greater(), rows[:, :1], rows[:, 1].astype(int))
    assert found == pytest.approx(over_permutations(Greater(), scores, classes, labels=True))
    private = null_variance(ScoreOrder(), rows, None)
    assert private == pytest.approx(over_permutations(ScoreOrder(), scores, classes, labels=False))


@pytest.mark.each_value
@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("other", SCORES)
def test_variance_of_tau_is_that_over_all_permutations_and_ties_only_make_it_smaller(scores, other):
    rows = np.array([scores, other], dtype=float).T
    found = null_variance(SignProduct(), rows, None)
    assert found == pytest.approx(over_permutations(SignProduct(), scores, other, labels=False))
    without_ties = kendall_variance(6) / 15**2
    assert without_ties == pytest.approx(2 * (2 * 6 + 5) / (9 * 6 * 5))
    tied = len(set(scores)) < 6 or len(set(other)) < 6
    assert found < without_ties if tied else found == pytest.approx(without_ties)


def test_two_records_have_a_tau_of_one_or_minus_one():
    assert null_variance(SignProduct(), np.array([[0.0, 0.0], [1.0, 1.0]]), None) == pytest.approx(1)


def test_there_is_none_where_ties_count_nothing():
    rows = np.array([[1.0, 0.0], [2.0, 1.0]])
    assert null_variance(Greater("strict"), rows[:, :1], np.array([0, 1])) is None
    assert null_variance(ScoreOrder("strict"), rows, None) is None


def test_ties_count_as_many_records_as_are_sure():
    assert tie_share(np.array([0.5, -3.0, 1.0]), 10.0) == 0
    assert tie_share(np.array([10.0]), 10.0) == 1
    assert tie_share(np.array([2.0, 1.0, 1.0]), 4.0) == pytest.approx(6 / 60)
