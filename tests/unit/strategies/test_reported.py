"""Hierarchies of reports: least squares against a dense solution, and the stated noise against simulated reports."""

import copy
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size
from scipy.stats import binom

from ogive.errors import DataError, ParameterError
from ogive.local import TreeOracle
from ogive.local.oracles import oracle_from_dict
from ogive.local.simulation import simulate
from ogive.noise import DiscreteGaussian, KeyedSource
from ogive.privacy import Adjacency, PureDP
from ogive.releasing.release import release
from ogive.statistics import Ecdf, Survival
from ogive.statistics.curve.bands import simulate_maxima, upper_quantile
from ogive.statistics.kinds import read_estimate
from ogive.strategies import ReportedTree, design_reports, strategy_from_dict
from ogive.strategies.reported import BITS, expected_tree, read_reports
from ogive.trust import Local

RUNS = size(1000, part=150)
DEVIATION = math.sqrt(2 / RUNS)
"""The relative deviation of a variance of so many draws."""
ONE = Fraction(1)
UNIT = 2**BITS
SHAPES = [(5, 2), (16, 2), (17, 3), (27, 3), (23, 4), (64, 4), (31, 5), (7, 8)]


def histogram(size, records, seed=0):
    share = np.random.default_rng([seed, size]).dirichlet(np.full(size, 0.3))
    return np.random.default_rng([seed, size, 1]).multinomial(records, share)


def blocks_of(oracle):
    """Every block of every level that holds a bin, lowest level first, as rows of ones; the brute-force way."""
    rows, levels = [], []
    for level in range(oracle.levels, 0, -1):
        span = oracle.branching ** (oracle.levels - level)
        for first in range(0, oracle.size, span):
            rows.append([1.0 if first <= each < first + span else 0.0 for each in range(oracle.size)])
            levels.append(level)
    return np.array(rows), np.array(levels)


def node_counts(oracle, counts):
    """Exact counts of all nodes, also of padding, top level first, as `TreeOracle.counts` gives them."""
    padded = np.zeros(oracle.padded)
    padded[: oracle.size] = counts
    return [padded.reshape(oracle.branching**level, -1).sum(axis=1) for level in range(1, oracle.levels + 1)]


def uneven(oracle):
    """Levels of quite different noise."""
    laws = tuple(DiscreteGaussian(UNIT * (3 + 5 * level % 7)) for level in range(oracle.levels))
    return ReportedTree(oracle, (100,) * oracle.levels, laws)


@pytest.mark.parametrize(("size", "branching"), SHAPES)
@pytest.mark.parametrize("known", [True, False])
def test_is_the_weighted_least_squares_solution(size, branching, known):
    oracle = TreeOracle(size, ONE, branching=branching)
    strategy = uneven(oracle)
    blocks, levels = blocks_of(oracle)
    rng = np.random.default_rng(size)
    noisy = [level + rng.normal(0, 40, level.shape) for level in node_counts(oracle, histogram(size, 900))]
    answer = strategy.answer(noisy)
    variances = np.array([float(strategy.laws[level - 1].sigma / UNIT) ** 2 for level in levels])
    weights = np.diag(1 / variances)
    normal = blocks.T @ weights @ blocks
    right = blocks.T @ weights @ (answer / UNIT)
    cumulate = np.tril(np.ones((size, size)))
    if known:
        ones = np.ones((1, size))
        system = np.block([[normal, ones.T], [ones, np.zeros((1, 1))]])
        inverse = np.linalg.inv(system)
        bins = (inverse @ np.append(right, 900))[:size]
        covariance = inverse[:size, :size]
    else:
        covariance = np.linalg.inv(normal)
        bins = covariance @ right
    assert strategy.estimate(answer, 900 if known else None) == pytest.approx(np.cumsum(bins), abs=1e-6)
    expected = np.diag(cumulate @ covariance @ cumulate.T)
    assert strategy.variance(total_known=known) == pytest.approx(expected, rel=1e-6, abs=1e-6)
    # the control: without the weights it is another solution
    if oracle.levels > 1:
        plain = np.linalg.lstsq(blocks, answer / UNIT, rcond=None)[0]
        assert np.abs(np.cumsum(plain) - strategy.estimate(answer, None)).max() > 0.1


@pytest.mark.parametrize(("size", "branching"), SHAPES)
def test_exact_counts_give_the_exact_curve(size, branching):
    oracle = TreeOracle(size, ONE, branching=branching)
    strategy = uneven(oracle)
    counts = histogram(size, 1234)
    answer = strategy.answer(node_counts(oracle, counts))
    assert np.array_equal(answer, strategy.measure(counts))
    for total in (1234, None):
        assert np.array_equal(strategy.estimate(answer, total), np.cumsum(counts))


CASES = [
    pytest.param("hadamard", "users", 4, id="hadamard"),
    pytest.param("hadamard", "budget", 3, id="hadamard-budget"),
    pytest.param("unary", "users", 2, id="unary"),
    pytest.param("unary", "budget", 4, id="unary-budget"),
]


def errors(oracle, counts, runs, seed=1):
    """Errors of raw cumulative counts over runs of simulated reports, and the last run's strategy."""
    generator = np.random.default_rng(seed)
    found, total = [], int(counts.sum())
    for _ in range(runs):
        strategy, answer = read_reports(oracle, simulate(oracle, counts, generator=generator))
        found.append(strategy.estimate(answer, total) - np.cumsum(counts))
    return np.array(found), strategy


@pytest.mark.each_value
@pytest.mark.parametrize(("nodes", "split", "branching"), CASES)
@pytest.mark.parametrize("epsilon", [1, 4])
def test_is_unbiased_and_has_at_most_the_stated_variance_and_not_much_less(nodes, split, branching, epsilon):
    oracle = TreeOracle(40, Fraction(epsilon), nodes=nodes, split=split, branching=branching)
    # even shares, so that bounds by the fullest node are nearly attained
    counts = np.full(40, 100)
    found, strategy = errors(oracle, counts, RUNS)
    stated = strategy.variance(total_known=True)[:-1]
    # 40 thresholds, each off by five deviations once in two million
    assert np.all(np.abs(found[:, :-1].mean(axis=0)) < 5 * np.sqrt(stated / RUNS))
    ratio = found[:, :-1].var(axis=0) / stated
    assert ratio.max() < 1 + 5.15 * DEVIATION
    assert ratio.mean() > (0.2 if nodes == "unary" and epsilon == 4 else 0.75)
    assert found[:, -1].any() == 0


def test_the_variance_that_the_paper_states_would_not_do():
    """Control: 4 e^epsilon / (e^epsilon - 1)^2 leaves out what random indices add."""
    oracle = TreeOracle(16, Fraction(2), branching=4)
    found, strategy = errors(oracle, np.full(16, 200), RUNS)
    share = 1 - 1 / oracle.scale**2
    too_small = share * strategy.variance(total_known=True)[:-1]
    assert (found[:, :-1].var(axis=0) / too_small).mean() > max(1.4, 1 + 5.5 * DEVIATION)


@pytest.mark.parametrize("nodes", ["hadamard", "unary"])
def test_a_point_mass_does_not_break_the_stated_variance(nodes):
    oracle = TreeOracle(32, Fraction(4), nodes=nodes, branching=2)
    counts = np.zeros(32, dtype=np.int64)
    counts[13], counts[20] = 3000, 2000
    found, strategy = errors(oracle, counts, RUNS)
    assert (found[:, :-1].var(axis=0) / strategy.variance(total_known=True)[:-1]).max() < 1 + 5.6 * DEVIATION


@pytest.mark.parametrize(("nodes", "split", "branching"), CASES)
def test_simulated_maxima_cover_the_curve_of_the_records(nodes, split, branching):
    oracle = TreeOracle(64, Fraction(2), nodes=nodes, split=split, branching=branching)
    counts = histogram(64, 2000)
    runs = size(800, part=120)
    found, strategy = errors(oracle, counts, runs)
    maxima = simulate_maxima(strategy, total_known=True, simulations=1999)
    margin = upper_quantile(maxima.either, Fraction(1, 10))
    missed = int((np.abs(found).max(axis=1) > margin).sum())
    # at most a tenth; more than this once in a million
    assert missed <= binom.isf(1e-6, runs, 0.1)
    # the control: a margin two thirds as wide holds far fewer
    assert (np.abs(found).max(axis=1) > margin * 0.45).sum() > binom.isf(1e-6, runs, 0.1)


def test_levels_without_reports_say_nothing_and_say_so():
    oracle = TreeOracle(30, ONE, branching=2)
    sums = simulate(oracle, np.eye(30, dtype=np.int64)[3] * 2, generator=np.random.default_rng(1))
    strategy, answer = read_reports(oracle, sums)
    assert strategy.reports.count(0) == 3
    assert strategy.estimate(answer, 2) == pytest.approx(2 * np.arange(1, 31) / 30, abs=0.1)
    assert np.sqrt(strategy.variance(total_known=True)[14]) > 1
    empty, none = read_reports(oracle, np.zeros(oracle.shape, dtype=np.int64))
    assert np.array_equal(empty.estimate(none, 0), np.zeros(30))


def test_is_plain_data_with_the_price_of_a_report():
    oracle = TreeOracle(50, Fraction(1, 3), branching=4, nodes="unary")
    strategy = expected_tree(oracle, 5000)
    again = strategy_from_dict(strategy.to_dict())
    assert again == strategy
    assert hash(again) == hash(strategy)
    assert strategy.loss(Adjacency.REPLACE) == PureDP("1/3")
    assert sum(strategy.reports) == 5000
    with pytest.raises(ParameterError, match="can be counted"):
        strategy.loss(Adjacency.ADD_OR_REMOVE)
    for change in ({"size": 51}, {"reports": [1]}, {"reports": [-1, 1, 1]}, {"laws": strategy.to_dict()["laws"][:1]}):
        with pytest.raises(ParameterError):
            strategy_from_dict({**strategy.to_dict(), **change})
    with pytest.raises(ParameterError, match="tree oracle of 50 bins"):
        strategy_from_dict({**strategy.to_dict(), "oracle": {"name": "krr", "size": 50, "epsilon": "1"}})


def test_expected_noise_is_near_that_of_real_reports():
    # the last one fills 100 bins up to 512, of which no shape can use more than its own
    padded = TreeOracle(100, Fraction(4), branching=8, nodes="unary")
    for oracle in (design_reports(100, ONE), design_reports(100, Fraction(4)), padded):
        _, strategy = errors(oracle, np.full(100, 100), 1)
        ratio = expected_tree(oracle, 10_000).variance(total_known=True)[:-1] / strategy.variance(total_known=True)[:-1]
        assert 0.9 < ratio.mean() < 2.0


def test_the_design_takes_what_predicts_least():
    few = design_reports(1024, ONE)
    much = design_reports(1024, Fraction(8))
    assert (few.nodes, few.split) == ("hadamard", "users")
    assert few.payload_bytes <= 3
    assert much.nodes == "unary"
    for oracle, epsilon in ((few, ONE), (much, Fraction(8))):
        best = expected_tree(oracle, 10**6).variance(total_known=True).mean()
        for branching in (2, 3, 4, 8):
            other = expected_tree(TreeOracle(1024, epsilon, branching=branching), 10**6)
            assert best <= other.variance(total_known=True).mean() * 1.0001
    asked = design_reports(1024, ONE, branching=8, nodes="unary", split="budget", seed=5)
    assert (asked.branching, asked.nodes, asked.split, asked.seed) == (8, "unary", "budget", 5)
    with pytest.raises(ParameterError, match="reports serve 2 to 1048576 thresholds, got 1"):
        design_reports(1, ONE)
    with pytest.raises(ParameterError, match="does not serve"):
        design_reports((1 << 20) - 1, ONE, branching=3)


# --- Stored estimates that state less noise than their reports have


def of_reports(kind, method=None):
    rng = np.random.default_rng(2)
    table = {"t": rng.uniform(0, 10, 400), "e": rng.integers(0, 2, 400)}
    options = {"bounds": (0, 10), "bins": 12, **({} if method is None else {"method": method})}
    question = Ecdf("t", **options) if kind is Ecdf else kind("t", "e", **options)
    return release(question, trust=Local(table), privacy=PureDP(2), source=KeyedSource(bytes(32)))


def with_strategies(data, change):
    """Plain data in which every strategy of reports is changed."""
    if isinstance(data, list):
        return [with_strategies(each, change) for each in data]
    if not isinstance(data, dict):
        return data
    if "oracle" in data:
        return change(copy.deepcopy(data))
    return {name: with_strategies(each, change) for name, each in data.items()}


def quieter(data):
    """Laws of a tenth of the noise."""
    for law in data.get("laws", [data.get("law")]):
        law["sigma"] = str(Fraction(law["sigma"]) / 10)
    return data


def more_reports(data):
    return {**data, "reports": [100 * each for each in data["reports"]]}


def of_fewer(data):
    """Laws and reports of a hundredth of the people."""
    oracle = oracle_from_dict(data["oracle"])
    return expected_tree(oracle, 4).to_dict() if "laws" in data else data


CHANGES = [quieter, more_reports, of_fewer]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", [Ecdf, Survival])
def test_less_noise_than_that_of_the_reports_is_not_read(kind, change):
    found = of_reports(kind)
    data = found.to_dict()
    assert "laws" in json.dumps(data)
    assert read_estimate(with_strategies(data, lambda each: each)) == found, "the control: unchanged it is read"
    with pytest.raises((DataError, ParameterError), match=r"less noise is stated|reports are stated"):
        read_estimate(with_strategies(data, change))


def test_less_noise_than_that_of_a_histogram_of_reports_is_not_read():
    found = of_reports(Ecdf, "histogram")
    data = found.to_dict()
    assert data["strategy"]["name"] == "reported_histogram"
    assert read_estimate(data) == found
    with pytest.raises((DataError, ParameterError), match="less noise is stated"):
        read_estimate(with_strategies(data, quieter))


def test_reports_that_few_people_sent_are_read_back():
    rng = np.random.default_rng(3)
    for people in (4, 5, 6, 9):
        for seed in range(5):
            table = {"t": rng.uniform(0, 10, people), "e": rng.integers(0, 2, people)}
            question = Survival("t", "e", bounds=(0, 10), bins=3)
            found = release(question, trust=Local(table), privacy=PureDP("0.1"), source=KeyedSource(bytes([seed] * 32)))
            assert read_estimate(found.to_dict()) == found
