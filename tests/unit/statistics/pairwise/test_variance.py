"""Estimated covariances: how much unbiased counts are corrected, against covariances of reports by enumeration."""

import numpy as np
import pytest
from helpers.conditional import conditional, two_sample_conditional

from ogive.local import HaarOracle, RandomizedResponse, UnaryOracle
from ogive.statistics.ustatistic.laws import law_of
from ogive.statistics.ustatistic.means import estimated, two_sample_estimated
from tests.helpers.reports import moments, responses

ORACLES = {"krr": RandomizedResponse(4, 1), "unary": UnaryOracle(4, 1), "haar": HaarOracle(4, 1)}


def noise(oracle, counts: np.ndarray) -> np.ndarray:
    """Covariance of the unbiased counts of so many owners of each symbol."""
    law = law_of(oracle)
    return sum(
        count * moments([(chance, law.counts(sums)) for chance, sums in responses(oracle, symbol)])[1]
        for symbol, count in enumerate(counts)
    )


def at_truth(found) -> np.ndarray:
    """A quadratic function of counts, known far from the truth, where nothing is clipped, at the truth."""
    first, second, third = (found(scale) for scale in (50.0, 51.0, 52.0))
    curved = (third - 2 * second + first) / 2
    sloped = second - first - 101 * curved
    return first - 50 * sloped - 2500 * curved + sloped + curved


@pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES)
def test_four_times_the_noise_over_pairs_is_taken_off(oracle):
    law, counts = law_of(oracle), np.array([3.0, 0, 2, 5])
    kernel = np.random.default_rng(0).normal(size=(4, 4))
    kernel += kernel.T
    prepared, covariance = [law.prepare(kernel)], noise(oracle, counts)
    known = at_truth(lambda scale: estimated(law, prepared, scale * counts, counts)[0, 0])
    excess = 4 * np.trace(kernel @ covariance @ kernel @ covariance) / 90**2
    assert conditional(law, prepared, counts)[0, 0] - known == pytest.approx(excess, rel=1e-6)


@pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES)
def test_twice_the_noise_over_pairs_is_taken_off_two_samples(oracle):
    law, classes = law_of(oracle), (np.array([3.0, 0, 2, 5]), np.array([1.0, 4, 1, 0]))
    kernel = np.random.default_rng(1).normal(size=(4, 4))
    prepared, (up, down) = [law.prepare(kernel)], (noise(oracle, each) for each in classes)
    known = at_truth(
        lambda scale: two_sample_estimated(law, prepared, tuple(scale * each for each in classes), classes)[0, 0]
    )
    excess = 2 * np.trace(kernel @ down @ kernel.T @ up) / 60**2
    assert two_sample_conditional(law, prepared, *classes)[0, 0] - known == pytest.approx(excess, rel=1e-6)


@pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES)
def test_at_the_truth_the_estimate_is_at_least_the_exact_covariance(oracle):
    law, counts = law_of(oracle), np.array([3.0, 0, 2, 5])
    prepared = [law.prepare(np.eye(4))]
    exact = conditional(law, prepared, counts)[0, 0]
    assert estimated(law, prepared, counts, counts)[0, 0] == pytest.approx(exact)
    assert estimated(law, prepared, 50 * counts, counts)[0, 0] > exact


def vanishing(found, low: float, high: float) -> float:
    """Where a function that is 0 up to some point begins to be above 0, up to rounding."""
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) > 0 else (middle, high)
    return high


@pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES)
def test_a_mean_whose_excess_vanishes_leaves_the_errors_of_others_as_they_are(oracle):
    law, counts = law_of(oracle), np.array([3.0, 0, 2, 5])
    one, other = (law.prepare(kernel) for kernel in (np.eye(4), np.ones((4, 4)) - np.diag([0, 1, 2, 3])))

    def of(means, scale: float) -> np.ndarray:
        return np.diagonal(estimated(law, means, scale * counts, counts))

    least = of([one], 1)[0]
    scale = vanishing(lambda scale: of([one], scale)[0] - least, 1, 50)
    for times in (1, 1 + 1e-12, 1 + 1e-9, 1 + 1e-6):
        assert of([one, other], times * scale)[1] <= 2 * of([other], times * scale)[0]
        assert of([one, other], times * scale)[0] <= 2 * least
