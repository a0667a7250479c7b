"""Unbiased counts and their variances, from exact laws; values of the specification."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from helpers.choices import randomizer

from ogive.errors import DataError
from ogive.local import HaarOracle, PublicClasses, RandomizedResponse, TreeOracle, UnaryOracle
from ogive.local.tree import Layout

ONE = Fraction(1)


def sums_of(oracle, report: bytes, number: int) -> np.ndarray:
    sums = np.zeros(oracle.shape, dtype=np.int64)
    payloads = np.frombuffer(report, np.uint8)[None, :]
    assert oracle.add(sums, np.array([number]), payloads).all()
    return sums


def moments(law, values) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of a function of a report."""
    chances = np.array([float(chance) for chance in law.values()])
    table = np.array([values(report) for report in law])
    mean = chances @ table
    return mean, (table * chances[:, None]).T @ table - np.outer(mean, mean)


def test_chances_of_the_specification():
    four, three = RandomizedResponse(4, 1), RandomizedResponse(3, 1)
    assert float(1 - four.keep) == pytest.approx(0.6995108181, abs=1e-10)
    assert float(four.keep + (1 - four.keep) / 4) == pytest.approx(0.4753668864, abs=1e-10)
    assert float((1 - four.keep) / 4) == pytest.approx(0.1748777045, abs=1e-10)
    assert float(1 - three.keep) == pytest.approx(0.6358246729, abs=1e-10)


@pytest.mark.parametrize(
    ("epsilon", "square"), [("0.5", 16.67079236), (1, 4.682694377), (2, 1.724061661), (4, 1.07602183)]
)
def test_scales_of_the_specification(epsilon, square):
    assert TreeOracle(4, epsilon).scale ** 2 == pytest.approx(square, rel=1e-9)
    assert HaarOracle(4, epsilon).scale ** 2 == pytest.approx(square, rel=1e-9)
    assert UnaryOracle(4, epsilon).noise_variance == pytest.approx(square - 1, rel=1e-8)


def test_hadamard_example_of_the_specification():
    oracle = TreeOracle(4, Fraction("1.0986122886681098"), seed=1)  # ln 3, so that c = 2
    numbers = [n for n in range(40) if oracle.levels_of.of(np.array([n]))[0] == 1]
    sums = np.zeros(oracle.shape, dtype=np.int64)
    for number, (index, sign) in zip(numbers, [(0, 1), (1, -1), (2, 1), (3, 1), (3, -1), (1, 1), (2, 1)], strict=False):
        assert oracle.add(sums, np.array([number]), np.array([[index << 1 | (sign < 0)]], dtype=np.uint8)).all()
    assert oracle.layout.tally(sums, 1).tolist() == [1, 0, 2, 0]
    sums[-2] = 7  # as many reports at the other level, so that everybody is counted twice
    np.testing.assert_allclose(oracle.counts(sums)[1] / 2, [6, 6, -2, -2], rtol=1e-12)


def test_unary_example_of_the_specification():
    oracle = UnaryOracle(3, 1)
    phi = oracle.counts(np.array([4, 2, 3, 6]))
    np.testing.assert_allclose(phi + (6 - phi.sum()) / 3, [6.32790683, -2.32790683, 2], atol=1e-8)


def test_haar_example_of_the_specification():
    oracle = HaarOracle(4, 1, weights="uniform")
    assert oracle.level_chances.tolist() == [0.5, 0.5]
    level = oracle.assignment.of(np.arange(40))
    first, second = np.flatnonzero(level == 0), np.flatnonzero(level == 1)
    numbers = np.array([first[0], second[0], second[1], first[1]])
    payloads = np.array([[0], [1 << 1 | 1], [0], [0]], dtype=np.uint8)
    sums = np.zeros(oracle.shape, dtype=np.int64)
    assert oracle.add(sums, numbers, payloads).all()
    np.testing.assert_allclose(oracle.theta(sums), [8.65581365, 0, 8.65581365], atol=1e-8)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_randomized_response_is_unbiased(size, monkeypatch):
    oracle = RandomizedResponse(size, 1)
    payloads = randomizer(oracle, monkeypatch)
    for symbol in range(size):
        mean, _ = moments(payloads(symbol, 0), lambda report: oracle.counts(sums_of(oracle, report, 0)))
        np.testing.assert_allclose(mean, np.eye(size)[symbol], atol=1e-12)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_unary_bits_are_unbiased_and_independent(size, monkeypatch):
    oracle = UnaryOracle(size, 1)
    payloads = randomizer(oracle, monkeypatch)
    for symbol in range(size):
        mean, covariance = moments(payloads(symbol, 0), lambda report: oracle.counts(sums_of(oracle, report, 0)))
        np.testing.assert_allclose(mean, np.eye(size)[symbol], atol=1e-12)
        np.testing.assert_allclose(covariance, np.diag(oracle.noise_variance + np.eye(size)[symbol]), atol=1e-11)


@pytest.mark.parametrize("branching", [2, 3])
def test_hadamard_counts_are_unbiased_with_the_exact_variance(branching, monkeypatch):
    oracle = TreeOracle(8 if branching == 2 else 9, 1, branching=branching)
    payloads = randomizer(oracle, monkeypatch)
    square = oracle.scale**2
    for number in range(oracle.levels):
        level = int(oracle.levels_of.of(np.array([number]))[0])
        nodes, span = branching ** (level + 1), branching ** (oracle.levels - level - 1)
        for symbol in range(0, oracle.size, span):

            def counts(report, number=number, level=level):
                sums = sums_of(oracle, report, number)
                sums[-oracle.levels :] = 1  # one report at each level: everybody is then counted once for each level
                return oracle.counts(sums)[level] / oracle.levels

            mean, covariance = moments(payloads(symbol, number), counts)
            own = np.eye(nodes)[symbol // span]
            np.testing.assert_allclose(mean, own, atol=1e-12)
            np.testing.assert_allclose(covariance, np.diag(square - own), atol=1e-11)
    assert square - 1 == pytest.approx(3.682694377, rel=1e-9)


def test_hadamard_estimates_of_two_nodes_are_independent_and_of_three_are_not(monkeypatch):
    oracle = TreeOracle(4, 1)
    number = int(np.flatnonzero(oracle.levels_of.of(np.arange(4)) == 1)[0])
    law = randomizer(oracle, monkeypatch)(2, number)
    signs = {
        report: tuple((1 - 2 * (report[0] & 1)) * (-1) ** (report[0] >> 1 & node).bit_count() for node in range(4))
        for report in law
    }

    def chance(event) -> Fraction:
        return sum((p for report, p in law.items() if event(signs[report])), Fraction(0))

    for (q, r), a, b in itertools.product(itertools.combinations(range(4), 2), (-1, 1), (-1, 1)):
        both = chance(lambda s, q=q, r=r, a=a, b=b: s[q] == a and s[r] == b)
        assert both == chance(lambda s, q=q, a=a: s[q] == a) * chance(lambda s, r=r, b=b: s[r] == b)
    assert chance(lambda s: s[0] * s[1] * s[3] > 0) != Fraction(1, 2), "they would be, were all four independent"


@pytest.mark.parametrize("weights", ["geometric", "uniform"])
def test_haar_coefficients_are_unbiased_and_levels_weighted(weights, monkeypatch):
    oracle = HaarOracle(7, 1, weights=weights)
    payloads = randomizer(oracle, monkeypatch)
    numbers = [int(np.flatnonzero(oracle.assignment.of(np.arange(99)) == level)[0]) for level in range(3)]
    for symbol in range(7):
        mean = np.zeros(7)
        for number, weight in zip(numbers, oracle.level_chances, strict=True):
            law = payloads(symbol, number)
            mean += (
                weight * moments(law, lambda report, number=number: oracle.theta(sums_of(oracle, report, number)))[0]
            )
        expected = [
            [1, -1][(symbol >> (2 - level)) & 1] if symbol >> (3 - level) == block else 0
            for level in range(3)
            for block in range(1 << level)
        ]
        np.testing.assert_allclose(mean, expected, atol=1e-12)


def test_geometric_weights_fall_by_the_root_of_two():
    chances = HaarOracle(1 << 10, 1).level_chances
    assert chances.sum() == 1
    np.testing.assert_allclose(chances[:-1] / chances[1:], np.sqrt(2), rtol=1e-6)


def test_levels_without_reports_are_refused():
    oracle = TreeOracle(1 << 10, 1)
    sums = np.zeros(oracle.shape, dtype=np.int64)
    sums[-1] = 3
    with pytest.raises(DataError, match="too few"):
        oracle.counts(sums)
    assert oracle.reports(sums) == 3


def test_variances_of_every_split():
    users = TreeOracle(4, 1)
    sums = np.zeros(users.shape, dtype=np.int64)
    sums[-2:] = [30, 20]
    square = users.scale**2
    assert users.variances(sums) == pytest.approx([50**2 / 30 * square, 50**2 / 20 * square])
    assert users.slopes(sums) == [0, 0]
    assert users.level_reports(sums).tolist() == [30, 20]
    independent = TreeOracle(4, 1, assignment="independent")
    assert independent.variances(sums) == pytest.approx([100 * square] * 2)
    unary = TreeOracle(4, 1, nodes="unary")
    unary_sums = np.zeros(unary.shape, dtype=np.int64)
    unary_sums[-2:] = 25
    assert unary.variances(unary_sums) == pytest.approx([100 * (square - 1)] * 2)
    assert unary.slopes(unary_sums) == [3, 3]
    budget = TreeOracle(4, 1, split="budget")
    sums[-2:] = 50
    assert budget.variances(sums) == pytest.approx([50 * TreeOracle(4, Fraction(1, 2)).scale ** 2] * 2)
    assert budget.reports(sums) == 50
    classes = PublicClasses(budget, 2)
    assert classes.reports(np.stack([sums, sums])) == 100


def test_levels_that_are_too_large_have_no_tally():
    layout = Layout((4, 1 << 20, 1 << 21), (False, False, False))
    assert layout.tallies == (4, 1 << 20, 0)
    oracle = TreeOracle(1 << 40, 1)
    assert (oracle.levels, oracle.tallied, oracle.payload_bytes) == (40, 20, 6)
    assert oracle.shape == (2 * (1 << 20) - 2 + 40,)
