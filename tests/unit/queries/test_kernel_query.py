"""Noisy means over pairs: what one record can change, by trying every replaced record of every tiny data set."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size as size_of
from scipy import stats

from ogive.accounting import covers
from ogive.columns import Binning, Categories, Domain, Label
from ogive.columns.grids import Grid
from ogive.errors import DataError, ParameterError
from ogive.kernels import FunctionKernel, RankingLoss, TripleTable, measure_of
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import Answer, KernelQuery, RowValues
from ogive.queries import kernels as module
from ogive.statistics.ustatistic.curator import design_kernels, kernel_means
from ogive.trust import Central, Clear

UNIT = PrivacyUnit(Adjacency.REPLACE)
X = Binning("x", Grid.linear(0, 1, bins=4))
Y = Binning("y", Grid.linear(0, 1, bins=4))
CITY = Categories("city", ("a", "b", "c"))
LABEL = Label("label")
PARTS = {X: (0.0, 0.3, 1.0), Y: (0.0, 0.5, 1.0), CITY: (0.0, 1.0, 2.0), LABEL: (0.0, 1.0)}

MEASURES = {
    "gini": (measure_of("gini"), (X,)),
    "variance": (measure_of("variance"), (X,)),
    "gini_coefficient": (measure_of("gini_coefficient"), (X,)),
    "collision": (measure_of("collision"), (CITY,)),
    "kendall": (measure_of("kendall"), (X, Y)),
    "kendall_b": (measure_of("kendall_b"), (X, Y)),
    "gamma": (measure_of("gamma"), (X, Y)),
    "auc": (measure_of("auc"), (X, LABEL)),
    "auc_strict": (measure_of("auc", ties="strict"), (X, LABEL)),
    "auc_private": (measure_of("auc_private"), (X, LABEL)),
    "vus": (measure_of("vus"), (X, CITY)),
    "function": (measure_of(lambda x, y: abs(x - y) ** 3, range=(0, 1), name="cube"), (X,)),
    "three_alike": (measure_of(TripleTable.of(CITY, lambda x, y, z: x == y == z)), (CITY,)),
    "of_three_bins": (measure_of(TripleTable.of(X, lambda x, y, z: (x * y + y * z + z * x) ** 2)), (X,)),
    "loss": (measure_of(RankingLoss((1.0,), 0.5)), (X, LABEL)),
}


class NoNoise:
    """Noise of nothing: what is left are the integers that noise is added to."""

    def values(self, law, level, nodes):
        return np.zeros(len(nodes), dtype=np.int64)


def query_of(name, privacy=None, **how):
    measure, columns = MEASURES[name]
    return design_kernels(RowValues(Domain(columns)), measure, privacy or PureDP(1), **how)


def neighbors(query, size):
    """Exact numbers of all data sets of that size and of all that differ in one record, as pairs."""
    places = list(itertools.product(*(PARTS[column] for column in query.rows.domain.columns)))
    exact = {}

    def numbers(rows):
        key = tuple(sorted(rows))
        if key not in exact:
            values = query.rows.sums(np.array(key))
            try:
                exact[key] = query.answer(values, NoNoise()).astype(object)
            except DataError:  # a class is empty
                exact[key] = None
        return exact[key]

    for rest in itertools.combinations_with_replacement(places, size - 1):
        for one, other in itertools.combinations(places, 2):
            if query.samples > 1 and one[-1] != other[-1]:
                continue  # classes are public
            before, after = numbers((*rest, one)), numbers((*rest, other))
            if before is not None and after is not None:
                yield before - after


def costs(query, changes):
    """Loss of every change, exactly."""
    if isinstance(query.laws[0], DiscreteLaplace):
        return max(sum(abs(c) / law.scale for c, law in zip(change, query.laws, strict=True)) for change in changes)
    return max(sum((c / law.sigma) ** 2 for c, law in zip(change, query.laws, strict=True)) for change in changes)


@pytest.mark.each_value
@pytest.mark.parametrize("privacy", [PureDP(1), ZeroConcentratedDP(2)], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("name", MEASURES)
def test_no_replaced_record_costs_more_than_the_price_and_some_cost_it_all(name, privacy):
    query = query_of(name, privacy)
    assert isinstance(query.laws[0], DiscreteLaplace if isinstance(privacy, PureDP) else DiscreteGaussian)
    price = query.price(UNIT)
    paid = price.epsilon if isinstance(price, PureDP) else price.mu_squared
    largest = max(costs(query, list(neighbors(query, size))) for size in (3, 4))
    assert largest <= paid
    assert largest >= paid * Fraction(999_999, 1_000_000)  # nothing is wasted either
    if not isinstance(price, PureDP):
        paid = price.mu_squared * Fraction(999, 1000)
    assert largest > paid * Fraction(99, 100)  # a price that is a hundredth too low would be seen
    assert covers(privacy, price)


@pytest.mark.parametrize(
    "name",
    [  # these two sum the products of signs that tau does
        pytest.param(name, marks=pytest.mark.everything) if name in ("kendall_b", "gamma") else name
        for name in MEASURES
    ],
)
def test_one_record_moves_every_number_by_at_most_one_unit(name):
    query = query_of(name)
    largest = np.max([np.abs(change) for change in neighbors(query, 4)], axis=0)
    assert np.all(largest <= 1 << query.bits)
    # by all of it, but for the rounding of values
    assert np.all(largest >= (1 << query.bits) * (1 - 1e-6))


@pytest.mark.parametrize(("name", "wrong"), [("kendall_b", [(1, 0, 0)]), ("gamma", [(1, 0)])])
def test_moves_that_forget_pairs_that_come_untied_are_seen(name, wrong, monkeypatch):
    """A control: the check above fails for a price that counts turned pairs alone."""
    query = query_of(name)
    monkeypatch.setattr(module, "moves", lambda measure: [tuple(map(Fraction, move)) for move in wrong])
    assert costs(query, list(neighbors(query, 3))) <= PureDP(1).epsilon
    lowered = KernelQuery(query.rows, query.measure, (query.laws[0],) * len(query.laws), query.bits)
    assert costs(lowered, list(neighbors(lowered, 3))) > lowered.price(UNIT).epsilon * Fraction(11, 10)


def test_tau_b_and_gamma_have_the_noise_of_tau_a_on_sign_products():
    for privacy in (PureDP(1), ZeroConcentratedDP(1)):
        alone = query_of("kendall", privacy, records=1000)
        for name in ("kendall_b", "gamma"):
            together = query_of(name, privacy, records=1000)
            spread = [query.laws[0].variance / 4.0**query.bits for query in (alone, together)]
            assert spread[1] == pytest.approx(spread[0], rel=1e-6)


@pytest.mark.parametrize(
    "privacy", [PureDP("0.3"), ZeroConcentratedDP("0.01"), ApproxDP("0.5", "1e-9"), ApproxDP(9, "0.1")]
)
@pytest.mark.parametrize("records", [None, 2, 1000, 10**9])
@pytest.mark.parametrize("name", ["gini", "kendall_b", "auc_private", "gini_coefficient"])
def test_a_design_keeps_the_guarantee_and_uses_it(name, records, privacy):
    query = query_of(name, privacy, records=records)
    assert covers(privacy, query.price(UNIT))
    less = {
        PureDP: lambda: PureDP(privacy.epsilon * Fraction(999, 1000)),
        ZeroConcentratedDP: lambda: ZeroConcentratedDP(privacy.rho * Fraction(999, 1000)),
        ApproxDP: lambda: ApproxDP(privacy.epsilon * Fraction(99, 100), privacy.delta * Fraction(9, 10)),
    }
    assert not covers(less[type(privacy)](), query.price(UNIT))


def test_the_smaller_noise_is_taken():
    assert isinstance(query_of("gini", ApproxDP(1, "1e-6")).laws[0], DiscreteLaplace)
    assert isinstance(query_of("gini", ApproxDP(1, "0.3")).laws[0], DiscreteGaussian)
    assert isinstance(query_of("gini", ZeroConcentratedDP(1)).laws[0], DiscreteGaussian)


def a_table(size=400, seed=1):
    rng = np.random.default_rng(seed)
    x, y = rng.random(size).round(2), rng.random(size).round(1)
    return {
        "x": x,
        "y": (x + y).clip(0, 1).round(1),
        "label": rng.integers(0, 2, size),
        "city": rng.choice(list("abc"), size),
    }


def asked(query, trust):
    opening = trust.open(Adjacency.REPLACE, source=KeyedSource(bytes(32)))
    return opening.answer(query)


@pytest.mark.parametrize("name", MEASURES)
def test_clear_answers_are_the_exact_means(name):
    measure, _ = MEASURES[name]
    table = a_table()
    query = query_of(name, records=400)
    answer = asked(query, Clear(table))
    means = kernel_means(query, answer)
    rows = query.rows.values(Clear(table).records.aggregate(query.rows))
    classes = rows[:, -1].astype(np.int64) if query.samples > 1 else None
    exact = [kernel.exact(rows[:, :-1] if query.samples > 1 else rows, classes) for kernel in measure.kernels]
    assert means.values == pytest.approx(exact, rel=1e-13, abs=1e-14)
    assert not means.covariance.any()


def test_clear_answers_are_those_of_other_libraries():
    from sklearn.metrics import roc_auc_score

    table = a_table()

    def value(name):
        query = query_of(name, records=400)
        answer = asked(query, Clear(table))
        return query.measure.of(kernel_means(query, answer).values, columns=query.columns, records=400).value

    assert value("kendall_b") == pytest.approx(stats.kendalltau(table["x"], table["y"]).statistic, rel=1e-12)
    assert value("variance") == pytest.approx(np.var(table["x"], ddof=1), rel=1e-12)
    area = roc_auc_score(table["label"], table["x"])
    assert value("auc") == pytest.approx(area, rel=1e-12)
    assert value("auc_private") == pytest.approx(area, rel=1e-12)
    signs = np.sign(np.subtract.outer(table["x"], table["x"])) * np.sign(np.subtract.outer(table["y"], table["y"]))
    assert value("gamma") == pytest.approx(signs.sum() / np.abs(signs).sum(), rel=1e-12)


@pytest.mark.parametrize("name", MEASURES)
def test_the_integers_that_get_noise_are_those_of_the_exact_means(name):
    """Values are rounded to 2^-30 of their range before they are added up; nothing else differs."""
    query = query_of(name, records=400)
    table = a_table()
    sums = Clear(table).records.aggregate(query.rows)
    zero = type("Nothing", (), {"values": lambda self, law, level, nodes: np.zeros(len(nodes), np.int64)})()
    totals = query.totals(sums, Adjacency.REPLACE)
    rounded, exact = (
        kernel_means(query, Answer(query.answer(sums, nodes), totals, noisy=False)) for nodes in (zero, None)
    )
    assert rounded.values == pytest.approx(exact.values, abs=2.0**-28)


@pytest.mark.each_value
@pytest.mark.parametrize("name", ["gini", "kendall_b", "auc", "auc_private", "vus", "gini_coefficient"])
@pytest.mark.parametrize("privacy", [PureDP(1), ZeroConcentratedDP("0.5")], ids=["laplace", "gaussian"])
def test_noise_has_the_stated_variance_and_no_bias(name, privacy):
    """Means within 5 standard errors, variances of 4000 releases within 15 %, of 1500 within 24 %.

    The standard deviation of the variance of 4000 Laplace variables is 3.5 %, of 1500 it is 5.8 %.
    """
    query, runs = query_of(name, privacy, records=400), size_of(4000, part=1500)
    sums = Clear(a_table()).records.aggregate(query.rows)
    totals = query.totals(sums, Adjacency.REPLACE)
    exact = query.answer(sums, None)
    truth = kernel_means(query, Answer(exact, totals, noisy=False))
    source = KeyedSource(bytes([7] * 32))
    draws = np.stack([law.sample(runs, source=source) for law in query.laws], axis=1)
    found = [kernel_means(query, Answer(exact + draw, totals)) for draw in draws]
    values = np.array([each.values for each in found])
    stated = np.mean([np.diag(each.covariance) for each in found], axis=0)
    errors = values - truth.values
    assert np.all(np.abs(errors.mean(axis=0)) < 5 * errors.std(axis=0) / np.sqrt(runs))
    ratio = errors.var(axis=0) / stated
    more = (4000 / runs) ** 0.5
    assert np.all(np.abs(ratio - 1) < 0.15 * more)
    assert not np.all(np.abs((1 + 0.3 * more) * ratio - 1) < 0.15 * more)  # a variance that is 30 % off is seen


def test_a_count_of_positives_needs_no_correction_only_without_noise():
    """The product n+ (n - n+) of a noisy count is too small by its variance; uncorrected it would be seen."""
    query = query_of("auc_private", PureDP("0.05"), records=40)
    law = query.laws[1]
    draws = law.sample(20_000, source=KeyedSource(bytes([3] * 32)))
    ones = 20 + draws / 2.0**query.bits
    truth = 2 * 20 * 20 / (40 * 39)
    values = np.array(
        [kernel_means(query, Answer(np.array([0, int(each * 2**query.bits)]), (40,))).values[1] for each in ones[:4000]]
    )
    naive = 2 * ones * (40 - ones) / (40 * 39)
    error = values.std() / np.sqrt(len(values))
    assert abs(values.mean() - truth) < 5 * error
    assert abs(naive.mean() - truth) > 5 * error


def test_central_answers_are_repeatable_and_noisy():
    query = query_of("kendall_b", records=400)
    table = a_table()
    answers = [asked(query, Central(table)).values.tolist() for _ in range(2)]
    assert answers[0] == answers[1]
    assert answers[0] != asked(query, Clear(table)).values.tolist()


def test_the_digest_tells_functions_of_one_name_apart():
    rows = RowValues(Domain((X,)))
    sums = rows.sums(np.array([[0.1], [0.7]]))
    queries = [
        KernelQuery(rows, measure_of(FunctionKernel(function, "f", (0, 1))), (DiscreteLaplace(1024),), 10)
        for function in (lambda x, y: abs(x - y), lambda x, y: (x - y) ** 2)
    ]
    digests = {query.digest(sums, Adjacency.REPLACE) for query in queries}
    assert len(digests) == 2


REFUSED = [
    (lambda: query_of("gini").price(PrivacyUnit(Adjacency.ADD_OR_REMOVE)), "use method 'cells', or adjacency REPLACE"),
    (
        lambda: design_kernels(RowValues(Domain((Binning("x", X.grid, "drop"),))), measure_of("gini"), PureDP(1)).price(
            UNIT
        ),
        "missing='drop' would publish",
    ),
    (lambda: query_of("kendall", PureDP("1e-16")), "needs noise above 2\\^47"),
    (
        lambda: design_kernels(RowValues(Domain((X, Y))), measure_of("auc"), PureDP(1)),
        "needs a last column of 2 classes",
    ),
    (lambda: design_kernels(RowValues(Domain((CITY,))), measure_of("gini"), PureDP(1)), "needs distances"),
    (
        lambda: KernelQuery(RowValues(Domain((X,))), measure_of("gini"), (DiscreteGaussian(10),), 4),
        "sigma of at least 1000",
    ),
    (lambda: KernelQuery(RowValues(Domain((X,))), measure_of("gini"), (), 4), "one law for each of 1 kernels, got 0"),
    (lambda: KernelQuery(RowValues(Domain((X,))), measure_of("gini"), (DiscreteLaplace(1),), 46), "from 0 to 45"),
]


@pytest.mark.parametrize(("act", "message"), REFUSED)
def test_what_cannot_be_asked_is_refused_in_one_line(act, message):
    with pytest.raises(ParameterError, match=message) as refused:
        act()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("gini", [[0.5]], "at least two records, got 1"),
        ("auc", [[0.5, 1.0], [0.2, 1.0]], "the negative class has no record"),
        ("vus", [[0.5, 1.0], [0.2, 0.0]], "a class has no record"),
    ],
)
def test_too_few_records_are_refused(name, rows, message):
    query = query_of(name)
    sums = query.rows.sums(np.array(rows))
    with pytest.raises(DataError, match=message):
        query.answer(sums, None)
    with pytest.raises(DataError, match=message):
        kernel_means(query, Answer(np.zeros(1, np.int64), query.totals(sums, Adjacency.REPLACE)))


def test_more_records_than_the_bits_allow_are_refused():
    query = KernelQuery(RowValues(Domain((LABEL,))), measure_of("collision"), (DiscreteLaplace(1 << 45),), 45)
    sums = query.rows.sums(np.zeros((1 << 17, 1)))
    with pytest.raises(DataError, match="too many records"):
        query.answer(sums, None)
    fitting = design_kernels(query.rows, query.measure, PureDP(1), records=1 << 17)
    totals = fitting.totals(sums, Adjacency.REPLACE)
    assert kernel_means(fitting, Answer(fitting.answer(sums, None), totals, noisy=False)).values.tolist() == [1.0]


def test_a_volume_of_three_classes_is_released_with_an_error_that_holds():
    """200 releases (or 150) of a table at epsilon 0.2: errors against the exact volume, in stated deviations."""
    from ogive.releasing.release import release
    from ogive.statistics.ustatistic.statistic import Ustatistic

    table = a_table(600)
    volume = Ustatistic(("x", "city"), "vus", bounds={"x": (0, 1)}, categories={"city": ("a", "b", "c")})
    exact, runs = release(volume, trust=Clear(table), privacy=PureDP(1)).value, size_of(200, part=150)
    found = [
        release(
            volume, trust=Central(table), privacy=PureDP("0.2"), public="city", source=KeyedSource(bytes([each] * 32))
        )
        for each in range(runs)
    ]
    smallest = min(np.unique(table["city"], return_counts=True)[1])
    stated = np.sqrt(2) / 0.2 / smallest
    errors = np.array([each.value - exact for each in found])
    assert {each.method for each in found} == {"kernel"}
    more = (200 / runs) ** 0.5
    assert abs(errors.std() / stated - 1) < 0.25 * more
    assert not abs((1 + 0.6 * more) * errors.std() / stated - 1) < 0.25 * more
    assert abs(errors.mean()) < 5 * stated / np.sqrt(runs)
