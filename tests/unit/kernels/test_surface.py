"""The volume under the ROC surface agrees with trying every tuple, in three forms."""

import itertools
import math

import numpy as np
import pytest
from helpers.pairs import volume
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from ogive import DataError, ParameterError, kernels

samples = st.integers(2, 4).flatmap(
    lambda classes: st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4), min_size=classes, max_size=classes)
)


def shares(groups, size=5):
    return np.array([np.bincount(group, minlength=size) / len(group) for group in groups])


@given(samples)
def test_both_recursions_and_exact_scores_agree_with_every_tuple(groups):
    expected = float(volume(groups))
    scores = np.array(list(itertools.chain(*groups)), dtype=np.float64)
    classes = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    assert kernels.vus(shares(groups)) == pytest.approx(expected, abs=1e-14)
    assert kernels.vus_tree(shares(groups)) == pytest.approx(expected, abs=1e-14)
    assert kernels.exact_vus(scores, classes) == pytest.approx(expected, abs=1e-14)
    kernel = kernels.InOrder(len(groups))
    total = kernel.pair_sum(scores[:, None], None, classes=classes)
    assert total == volume(groups) * math.factorial(len(groups)) * math.prod(len(group) for group in groups)
    assert kernel.exact(scores[:, None], classes) == pytest.approx(expected, abs=1e-14)


def test_the_printed_value():
    """Methods file, section 12, row 24: 25/48."""
    assert volume([[0, 1], [1, 2], [1, 3]]) * 48 == 25
    measure = kernels.measure_of("vus")
    scores, classes = np.array([[0.0], [1], [1], [2], [1], [3]]), np.array([0, 0, 1, 1, 2, 2])
    assert measure.exact(scores, classes) == pytest.approx(25 / 48, abs=1e-15)
    assert measure.kernels[0].samples == 3
    assert kernels.numerator(measure.kernels[0], scores, None, classes=classes) == (25, pytest.approx(1 / 6))


def test_two_classes_are_an_auc():
    generator = np.random.default_rng(4)
    scores, classes = generator.integers(30, size=400).astype(np.float64), generator.integers(2, size=400)
    assert kernels.exact_vus(scores, classes) == pytest.approx(roc_auc_score(classes, scores), abs=1e-13)


def test_the_gradient_is_that_of_small_changes():
    generator = np.random.default_rng(8)
    histograms = generator.dirichlet(np.ones(6), size=4)
    found = kernels.vus_gradient(histograms)
    step = 1e-6
    for place in np.ndindex(*histograms.shape):
        change = np.zeros_like(histograms)
        change[place] = step
        slope = (kernels.vus(histograms + change) - kernels.vus(histograms - change)) / (2 * step)
        assert found[place] == pytest.approx(slope, abs=1e-9)


def test_unbiased_histograms_give_an_unbiased_volume():
    """Linear in every class: the mean over all pairs of two-valued errors is the volume of the means."""
    generator = np.random.default_rng(3)
    histograms, errors = generator.dirichlet(np.ones(5), size=3), generator.normal(size=(3, 5))
    signs = list(itertools.product((-1, 1), repeat=3))
    mean = np.mean([kernels.vus(histograms + np.array(sign)[:, None] * errors) for sign in signs])
    assert mean == pytest.approx(kernels.vus(histograms), abs=1e-12)
    together = np.mean([kernels.vus(histograms + sign * errors) for sign in (-1, 1)])
    assert abs(together - kernels.vus(histograms)) > 1e-3  # errors that the classes share do not cancel


def test_scores_that_say_nothing_have_the_volume_of_chance():
    assert kernels.vus(np.full((4, 1), 1.0)) == pytest.approx(1 / 24)
    assert kernels.vus(np.full((4, 512), 1 / 512)) == pytest.approx(1 / 24)


def test_what_cannot_be_used_is_refused():
    with pytest.raises(ParameterError, match="at least two classes"):
        kernels.vus([[1.0]])
    with pytest.raises(ParameterError, match="at least two classes"):
        kernels.vus_tree([0.5, 0.5])
    with pytest.raises(ParameterError, match="finite"):
        kernels.vus_gradient([[math.nan], [1.0]])
    for function in (kernels.vus, kernels.vus_gradient, kernels.vus_tree):
        with pytest.raises(ParameterError, match="histograms must be numbers, as many for each class"):
            function([[0.5, 0.5], [1.0]])
    for wide in ([True], [[True, False]]):
        with pytest.raises(ParameterError, match="wide must say of each of 2 bins whether it is, got shape"):
            kernels.vus_extremes([[0.5, 0.5], [0.0, 1.0]], wide)
    with pytest.raises(ParameterError, match="two columns of one length"):
        kernels.count_pairs(np.zeros(3), np.zeros(2))
    scores = np.array([1.0, 2.0])
    with pytest.raises(DataError, match="class 1 has no record"):
        kernels.exact_vus(scores, np.array([0, 2]))
    with pytest.raises(DataError, match="class 2 has no record"):
        kernels.exact_vus(scores, np.array([0, 1]), 3)
    with pytest.raises(ParameterError, match="classes must be whole numbers from 0 to 1"):
        kernels.exact_vus(scores, np.array([0, 2]), 2)
    with pytest.raises(ParameterError, match="the class of each of 2 scores"):
        kernels.exact_vus(scores, np.array([0]))
    with pytest.raises(ParameterError, match="needs the class of each record"):
        kernels.InOrder().exact(scores[:, None])
    for call in (kernels.InOrder().matrix, kernels.InOrder().spread):
        with pytest.raises(ParameterError, match="a record of each of 3 classes, not at pairs"):
            call(None)
    with pytest.raises(ParameterError, match="not at pairs"):
        kernels.InOrder()(scores, scores)
