"""Means over pairs from noisy counts: expectations and variances by adding up every possible outcome of the noise."""

import itertools

import numpy as np
import pytest
from helpers.scope import is_everything
from helpers.scope import size as runs_of
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.accounting import covers
from ogive.columns import Binning, Categories, Domain, Label
from ogive.columns.grids import Grid
from ogive.errors import DataError, ParameterError
from ogive.kernels import measure_of
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import Answer, Cells, CellsQuery, RowValues, design_cells
from ogive.queries.kernels import reach
from ogive.releasing.session import Session
from ogive.statistics.ustatistic import curator
from ogive.statistics.ustatistic.curator import design_kernels, noise_variances, sampling_bound
from ogive.statistics.ustatistic.means import hoeffding, two_sample_hoeffding
from ogive.trust import Central, Clear, SecAgg

UNIT = PrivacyUnit(Adjacency.REPLACE)
LAW = DiscreteLaplace("0.7")
REACH = 14  # the chance of more is below 2^-28
GINI = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0))) + np.diag([0.2, 0.5, 0.1])
SAME = np.eye(3)
AREA = np.array([[0.5, 0.0, 0.0], [1.0, 0.5, 0.1], [0.8, 1.0, 0.5]])


def query_of(size, *, classes=0, law=LAW, bits=0):
    column = Categories("c", tuple(range(size)))
    domain = Domain((column, Label("y"))) if classes else Domain((column,))
    return CellsQuery(Cells(domain), law, bits, public_classes=bool(classes))


def outcomes(size):
    """Every outcome of the noise of some counts, and its probability."""
    values = np.arange(-REACH, REACH + 1)
    chance = np.exp(LAW.log_probability(values))
    noise = np.array(list(itertools.product(values, repeat=size)))
    weights = np.prod(np.array(list(itertools.product(chance, repeat=size))), axis=1)
    if not is_everything():  # how likely an outcome is depends on the sum of its absolute values alone
        likely = np.abs(noise).sum(axis=1) <= REACH + 2
        noise, weights = noise[likely], weights[likely]
    return noise, weights / weights.sum()


def slow_mean(counts, matrix):
    """Over all pairs of different records, one by one."""
    records = np.repeat(np.arange(len(counts)), counts)
    pairs = list(itertools.combinations(records, 2))
    return sum(matrix[i, j] for i, j in pairs) / len(pairs)


def test_cumulants_are_those_of_the_law():
    values = np.arange(-4000, 4001)
    for scale in ("0.3", "0.7", 5, 60):
        law = DiscreteLaplace(scale)
        chance = np.exp(law.log_probability(values))
        found = curator.cumulants(law, 0)
        second, fourth = (float(chance @ values.astype(float) ** power) for power in (2, 4))
        assert found.variance == pytest.approx(second)
        assert found.fourth == pytest.approx(fourth - 3 * second**2)
    gaussian = curator.cumulants(DiscreteGaussian(4096), 10, spread=2)
    assert gaussian == curator.Cumulants(32.0, 0.0)


@pytest.mark.parametrize("known", [True, False], ids=["known", "private"])
def test_sums_over_pairs_are_unbiased_with_the_stated_covariance(known):
    counts = np.array([4, 1, 3])
    total = 8 if known else None
    noise, weights = outcomes(3)
    law = curator.cumulants(LAW, 0)
    matrices = [GINI, SAME]
    sums = np.array([[curator._sum(curator._even(counts + z, total), m, law, total) for m in matrices] for z in noise])
    mean = weights @ sums
    assert mean == pytest.approx([8 * 7 * slow_mean(counts, matrix) for matrix in matrices], rel=1e-6)
    exact = (sums - mean).T @ (weights[:, None] * (sums - mean))
    linear, squared = curator._parts(counts.astype(float), matrices, law, known)
    assert linear + squared == pytest.approx(exact, rel=1e-4)
    # without the fourth cumulant it would not be
    flat = curator.Cumulants(law.variance, 0.0)
    assert sum(curator._parts(counts.astype(float), matrices, flat, known)) != pytest.approx(exact, rel=1e-2)


@pytest.mark.parametrize("known", [True, False], ids=["known", "private"])
def test_estimated_covariances_are_unbiased_before_they_are_made_covariances(known, monkeypatch):
    monkeypatch.setattr(curator, "nearest_covariance", lambda covariance: covariance)
    counts = np.array([4, 1, 3])
    noise, weights = outcomes(3)
    law = curator.cumulants(LAW, 0)
    matrices = [GINI, SAME]
    chosen = np.argsort(weights)[::-1][: runs_of(4000, part=1500)]
    found = sum(
        weights[at]
        * curator._covariance(
            curator._even(counts + noise[at].astype(float), 8 if known else None), matrices, law, known
        )
        for at in chosen
    )
    exact = sum(curator._parts(counts.astype(float), matrices, law, known))
    assert found == pytest.approx(exact, rel=2e-2)
    assert found != pytest.approx(1.1 * exact, rel=2e-2)


def test_means_are_unbiased_where_the_number_of_records_is_public():
    counts = np.array([4, 1, 3])
    query = query_of(3)
    noise, weights = outcomes(3)
    chosen = np.argsort(weights)[::-1][: runs_of(4000, part=2000)]
    values = np.array(
        [curator.counted_means(query, Answer(counts + noise[at], (8,)), [GINI, SAME]).values for at in chosen]
    )
    mean = weights[chosen] @ values / weights[chosen].sum()
    assert mean == pytest.approx([slow_mean(counts, GINI), slow_mean(counts, SAME)], abs=1e-3)
    naive = weights[chosen] @ [(counts + noise[at]) @ SAME @ (counts + noise[at] - 1) / 56 for at in chosen]
    assert naive / weights[chosen].sum() != pytest.approx(slow_mean(counts, SAME), abs=1e-2)


def test_two_sample_means_are_unbiased_with_the_stated_variance():
    counts = np.array([[3, 1], [0, 4], [2, 2]])  # negatives, positives
    query = query_of(3, classes=2)
    law = curator.cumulants(LAW, 0)
    truth = sum(AREA[i, j] * counts[i, 1] * counts[j, 0] for i in range(3) for j in range(3)) / (5 * 7)
    exact = curator.two_sample_counted_means(query, Answer(counts.ravel(), (5, 7), noisy=False), [AREA])
    assert exact.values == pytest.approx([truth])
    assert not exact.covariance.any()
    runs = runs_of(4000, part=1500)
    draws = LAW.sample(6 * runs, source=KeyedSource(bytes([1] * 32))).reshape(runs, 3, 2)
    found = [curator.two_sample_counted_means(query, Answer((counts + draw).ravel(), (5, 7)), [AREA]) for draw in draws]
    values = np.array([each.values[0] for each in found])
    linear, squared = curator._two_sample_parts(
        counts[:, 1] / 7, counts[:, 0] / 5, [AREA], law, np.array([5.0, 7.0]), True
    )
    stated = float((linear + squared)[0, 0])
    assert abs(values.mean() - truth) < 5 * values.std() / np.sqrt(len(values))
    assert values.var() == pytest.approx(stated, rel=0.15)
    assert values.var() != pytest.approx(1.3 * stated, rel=0.15)
    assert np.mean([each.covariance[0, 0] for each in found]) == pytest.approx(stated, rel=0.35)
    predicted = curator.two_sample_counted_variance(
        query, AREA, (counts[:, 1] / 7, counts[:, 0] / 5), (5.0, 7.0), total_known=True
    )
    assert predicted == pytest.approx(stated)


@pytest.mark.each_value
@pytest.mark.parametrize("known", [True, False], ids=["known", "private"])
@pytest.mark.parametrize("privacy", [PureDP(1), ZeroConcentratedDP("0.5")], ids=["laplace", "gaussian"])
def test_noise_has_the_stated_variance_and_no_bias(known, privacy):
    """Means are within 5 standard errors, variances within 4, which are 15 % of 2 000 releases and 30 % of 500."""
    runs = runs_of(2000, part=500)
    rng = np.random.default_rng(2)
    counts = rng.multinomial(2000, rng.dirichlet(np.ones(12)))
    column = Binning("x", Grid.linear(0, 1, bins=12))
    adjacency = Adjacency.REPLACE if known else Adjacency.ADD_OR_REMOVE
    query = design_cells(Cells(Domain((column,))), privacy, PrivacyUnit(adjacency))
    matrices = [kernel.matrix(Domain((column,))) for kernel in measure_of("gini_coefficient").kernels]
    draws = query.law.sample(12 * runs, source=KeyedSource(bytes([9] * 32))).reshape(runs, 12)
    total = (2000,) if known else None
    found = [curator.counted_means(query, Answer((counts << query.bits) + draw, total), matrices) for draw in draws]
    errors = np.array([each.values for each in found]) - [slow_mean_of(counts, matrix) for matrix in matrices]
    assert np.all(np.abs(errors.mean(axis=0)) < 5 * errors.std(axis=0) / np.sqrt(runs))
    stated = np.mean([np.diag(each.covariance) for each in found], axis=0)
    room = 0.15 * np.sqrt(2000 / runs)
    assert errors.var(axis=0) == pytest.approx(stated, rel=room)
    assert errors.var(axis=0) != pytest.approx((1 + 2 * room) * stated, rel=room)
    assert np.cov(errors.T)[0, 1] == pytest.approx(
        np.mean([each.covariance[0, 1] for each in found]), abs=0.12 * float(np.sqrt(stated.prod()))
    )
    predicted = [curator.counted_variance(query, matrix, counts / 2000, 2000, total_known=known) for matrix in matrices]
    assert predicted == pytest.approx(stated, rel=0.1)


def slow_mean_of(counts, matrix):
    return (counts @ matrix @ counts - counts @ np.diag(matrix)) / (counts.sum() * (counts.sum() - 1))


@given(st.lists(st.integers(0, 30), min_size=2, max_size=6), st.integers(-50, 50), st.integers(0, 1))
@settings(max_examples=60, deadline=None)
def test_a_constant_kernel_comes_out_exactly(counts, shift, known):
    total = sum(counts) + 2
    noisy = np.array(counts) + 1 + shift % 7
    query = query_of(len(counts))
    constant = np.full((len(counts), len(counts)), 3.25)
    means = curator.counted_means(query, Answer(noisy << query.bits, (total,) if known else None), [constant])
    assert means.values[0] == pytest.approx(3.25)
    if known:
        assert abs(means.covariance[0, 0]) < 1e-18


def a_table(size=3000, seed=4):
    rng = np.random.default_rng(seed)
    x = rng.random(size)
    return {"x": x, "y": (rng.random(size) < 0.2 + 0.5 * x).astype(int)}


DOMAIN = Domain((Binning("x", Grid.linear(0, 1, bins=16)), Label("y")))


def answered(query, trust, adjacency=Adjacency.REPLACE):
    return trust.open(adjacency, source=KeyedSource(bytes([5] * 32))).answer(query)


def test_clear_answers_are_the_exact_means_of_the_bins():
    query = design_cells(Cells(DOMAIN), PureDP(1), UNIT, public_classes=True)
    table = a_table()
    measure = measure_of("auc_private")
    matrices = [kernel.matrix(DOMAIN) for kernel in measure.kernels]
    answer = answered(query, Clear(table))
    means = curator.counted_means(query, answer, matrices)
    rows = np.column_stack([np.ceil(table["x"] * 16), table["y"]])
    assert means.values == pytest.approx([kernel.exact(rows) for kernel in measure.kernels])
    scores = Domain(DOMAIN.columns[:1])
    area = curator.two_sample_counted_means(query, answer, [measure_of("auc").kernels[0].matrix(scores)])
    assert area.values[0] == pytest.approx(means.values[0] / means.values[1])
    assert not area.covariance.any()


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("privacy", [PureDP(1), ZeroConcentratedDP("0.5")], ids=["laplace", "gaussian"])
def test_parties_add_up_to_what_a_curator_has(adjacency, privacy):
    table = a_table()
    parts = [{name: column[start::3] for name, column in table.items()} for start in range(3)]
    query = design_cells(Cells(DOMAIN), privacy, PrivacyUnit(adjacency))
    exact = answered(query, Clear(table), adjacency)
    for trust in (Central(table), SecAgg(parts), SecAgg(parts, colluding=len(parts) - 1)):
        answer = answered(query, trust, adjacency)
        assert answer.totals == exact.totals
        noise = (answer.values - exact.values) / 2.0**query.bits
        stated = curator.cumulants(query.law, query.bits, spread=answer.adding / answer.honest).variance
        assert 0.25 < noise.var() / stated < 4  # 32 counts
        assert abs(noise.mean()) < 5 * np.sqrt(stated / 32)


def test_parties_must_agree_on_the_negative_class():
    domain = Domain((DOMAIN.columns[0], Label("y", (1,), None)))
    query = design_cells(Cells(domain), PureDP(1), UNIT)
    parts = [a_table(seed=1), a_table(seed=2)]
    with pytest.raises(ParameterError, match="say the negative class"):
        SecAgg(parts).refusal(query)
    assert SecAgg(parts).refusal(design_cells(Cells(DOMAIN), PureDP(1), UNIT)) is None


def neighbors(size, records, adjacency):
    """Changes of the counts between all tiny data sets that are adjacent."""
    for chosen in itertools.combinations_with_replacement(range(size), records):
        counts = np.bincount(chosen, minlength=size)
        for other in range(size):
            changed = counts.copy()
            changed[other] += 1
            if adjacency is Adjacency.REPLACE:
                changed[chosen[0]] -= 1
            yield changed - counts


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize(
    "privacy", [PureDP("0.7"), ZeroConcentratedDP("0.1"), ApproxDP(1, "1e-6"), ApproxDP("0.5", "0.2")]
)
def test_the_price_of_counts_is_what_one_record_changes(adjacency, privacy):
    query = design_cells(Cells(Domain((Categories("c", (0, 1, 2)),))), privacy, PrivacyUnit(adjacency))
    price = query.price(PrivacyUnit(adjacency))
    assert covers(privacy, price)
    one = 1 << query.bits
    changes = [change * one for change in neighbors(3, 3, adjacency)]
    if isinstance(price, PureDP):
        assert max(int(np.abs(change).sum()) / query.law.scale for change in changes) == price.epsilon
    else:
        largest = max(int((change.astype(object) ** 2).sum()) for change in changes)
        assert largest / query.law.sigma**2 == price.mu_squared


def test_many_rows_of_a_person_cost_more():
    unit = PrivacyUnit(Adjacency.ADD_OR_REMOVE, "p", 3)
    query = design_cells(Cells(DOMAIN), PureDP(1), unit)
    assert query.price(unit) == PureDP(1)
    assert query.law.scale == 3


def test_counts_help_where_no_value_is_frequent_and_means_of_kernels_elsewhere():
    """Predicted from public quantities: collision probability 1/64 against 0.82, at 10 000 records and epsilon 1."""
    for size, better in ((64, "cells"), (2, "kernel")):
        domain = Domain((Categories("c", tuple(range(size))),))
        measure = measure_of("collision_probability")
        counts = design_cells(Cells(domain), PureDP(1), UNIT)
        shares = np.full(size, 1 / size) if better == "cells" else np.array([0.9, 0.1])
        by_cells = curator.counted_variance(counts, np.eye(size), shares, 10_000, total_known=True)
        kernel = design_kernels(RowValues(domain), measure, PureDP(1), records=10_000)
        by_kernel = float(noise_variances(kernel, (10_000,), np.array([1 / size]))[0])
        gain = np.sqrt(by_kernel / by_cells)
        assert gain > 3.5 if better == "cells" else gain < 1
    assert by_kernel == pytest.approx(8e-8, rel=1e-6)  # 2 / n, squared, times 2


@given(st.integers(0, 10_000), st.sampled_from(["gini", "kendall_b", "gamma", "auc_private", "collision_probability"]))
@settings(max_examples=80, deadline=None)
def test_the_bound_of_sampling_holds(seed, name):
    rng = np.random.default_rng(seed)
    integers = Binning("x", Grid.integers(0, 3))
    domains = {
        "gini": Domain((integers,)),
        "collision_probability": Domain((integers,)),
        "auc_private": Domain((integers, Label("y"))),
    }
    domain = domains.get(name, Domain((integers, Binning("y", Grid.integers(0, 2)))))
    measure = measure_of(name)
    matrices = [kernel.matrix(domain) for kernel in measure.kernels]
    distribution = rng.dirichlet(np.full(domain.size, 0.5))
    means = np.array([distribution @ matrix @ distribution for matrix in matrices])
    gradient = measure.of(means, columns=domain, records=50).gradient
    exact = float(gradient @ hoeffding(matrices, distribution, 50) @ gradient)
    assert sampling_bound(measure, domain, means, (50,), gradient) >= exact * (1 - 1e-9)


def test_the_bound_of_sampling_holds_for_two_samples_and_is_reached():
    measure = measure_of("auc")
    domain = Domain((Binning("x", Grid.integers(0, 1)),))
    matrix = measure.kernels[0].matrix(domain)
    positive, negative = np.array([0.5, 0.5]), np.array([0.3, 0.7])
    mean = float(positive @ matrix @ negative)
    exact = float(two_sample_hoeffding([matrix], positive, negative, 40, 30)[0, 0])
    bound = sampling_bound(measure, domain, np.array([mean]), (30, 40), np.ones(1))
    assert exact <= bound
    assert bound == pytest.approx(mean * (1 - mean) / 30)
    assert reach((30, 40)) == 30
    # a bound with the size of the larger class would be wrong: records of the smaller class that decide alone
    certain, coin = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    alone = float(two_sample_hoeffding([np.array([[0.0, 0.0], [1.0, 0.0]])], certain, coin, 1000, 30)[0, 0])
    assert alone > 0.25 / 1000
    assert alone <= 0.25 / 30 * (1 + 1e-12)


def test_matrices_that_do_not_fit_are_refused():
    query = query_of(3)
    answer = Answer(np.array([3, 4, 5]), (12,))
    for matrix, message in (
        (np.eye(2), "shape"),
        (np.triu(np.ones((3, 3))), "symmetric"),
        (np.full((3, 3), np.nan), "finite"),
    ):
        with pytest.raises(ParameterError, match=message):
            curator.counted_means(query, answer, [matrix])
    with pytest.raises(DataError, match="at least two records, got 1"):
        curator.counted_means(query, Answer(np.array([1, 0, 0]), (1,)), [SAME])
    with pytest.raises(DataError, match="negative class has no record"):
        curator.two_sample_counted_means(query_of(3, classes=2), Answer(np.arange(6), (0, 9)), [AREA])
    with pytest.raises(ParameterError, match="needs two classes"):
        curator.two_sample_counted_means(query, answer, [AREA])
    with pytest.raises(ParameterError, match="too large"):
        curator.counted_means(query_of(5000), Answer(np.zeros(5000, np.int64), (12,)), [])


def test_noise_that_leaves_no_pairs_leaves_no_mean():
    means = curator.counted_means(query_of(3), Answer(np.array([-3, 1, 0]), None), [SAME])
    assert np.isnan(means.values).all()
    assert np.isnan(
        curator.two_sample_counted_means(query_of(3, classes=2), Answer(-np.ones(6, np.int64), None), [AREA]).values
    ).all()


@pytest.mark.parametrize("kernel", ["collision", "gini"])
def test_more_cells_than_can_be_read_are_refused_before_a_charge(kernel):
    session = Session({"x": np.arange(50) % 7}, limit=PureDP(1))
    values = {"categories": tuple(range(4097))} if kernel == "collision" else {"bounds": (0, 4097), "bins": 4097}
    with pytest.raises(ParameterError, match="more than 4096"):
        session.ustatistic("x", kernel=kernel, method="cells", privacy=PureDP(1), **values)
    assert session.spent is None
