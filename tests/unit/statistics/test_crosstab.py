"""Cross tables: counts, margins, shares, comparisons of two rows, what is refused, and what is read of a stored one."""

import copy
import dataclasses
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size
from scipy.stats import chi2, chi2_contingency

import ogive
from ogive.errors import DataError, ParameterError
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.privacy import Adjacency
from ogive.statistics.base import describe
from ogive.statistics.crosstab.estimate import Spread, _tail, chi_square, independence, shares, simulated
from ogive.statistics.sums.measured import Measured, Reading

PURE = ogive.PureDP(1)
REPLACE, ADD = ogive.Adjacency.REPLACE, ogive.Adjacency.ADD_OR_REMOVE
COUNTS = np.array([[40, 20, 12], [15, 30, 3]])
ROWS, COLUMNS = zip(*((r, c) for r in range(2) for c in range(3) for _ in range(COUNTS[r, c])), strict=True)
DATA = {
    "ward": ["AB"[r] for r in ROWS],
    "stage": list(COLUMNS),
    "died": [int(c > 0) for c in COLUMNS],
    "gap": [None if r else "x" for r in ROWS],
}
TABLE = {"rows": ("A", "B"), "columns": (0, 1, 2)}
TWO = {"rows": ("A", "B"), "columns": (0, 1)}


def released(statistic, *, trust=ogive.Central, privacy=PURE, adjacency=REPLACE, seed=4):
    source = KeyedSource.from_seed(seed)
    return ogive.release(statistic, trust=trust(DATA), privacy=privacy, adjacency=adjacency, source=source)


def exact(statistic, adjacency=REPLACE):
    return released(statistic, trust=ogive.Clear, privacy=None, adjacency=adjacency)


def test_counts_margins_and_shares_are_those_of_numpy():
    found = exact(ogive.Crosstab("ward", "stage", **TABLE))
    assert found.counts == found.raw == tuple(map(tuple, COUNTS))
    assert found.row_totals == tuple(COUNTS.sum(axis=1))
    assert found.column_totals == tuple(COUNTS.sum(axis=0))
    np.testing.assert_allclose(found.row_shares, COUNTS / COUNTS.sum(axis=1)[:, None])
    np.testing.assert_allclose(found.column_shares, COUNTS / COUNTS.sum(axis=0))
    turned = exact(ogive.Crosstab("stage", "ward", rows=(0, 1, 2), columns=("A", "B")))
    assert turned.counts == tuple(map(tuple, COUNTS.T))


def test_without_noise_the_test_is_pearsons():
    found = exact(ogive.Crosstab("ward", "stage", **TABLE)).independence
    wanted = chi2_contingency(COUNTS, correction=False)
    assert found.chi_square == pytest.approx(wanted.statistic)
    assert found.degrees == wanted.dof == 2
    assert found.p_value < 0.002
    other = np.array([[40, 20, 12], [15, 9, 3]])
    measured = Measured("cells", tuple(map(int, other.ravel())), None, REPLACE, int(other.sum()))
    weak = independence(measured, other.astype(float), float(other.sum()))
    assert weak.p_value == pytest.approx(chi2_contingency(other, correction=False).pvalue, abs=0.04)


def test_a_p_value_of_no_simulated_table_is_a_bound():
    sides = np.repeat([0, 1], 200)
    asked = {"rows": (0, 1), "columns": (0, 1), "trust": ogive.Clear}
    for other, bound in ((sides, True), (np.tile([0, 1], 200), False)):
        found = ogive.crosstab(sides, other, **asked)
        assert found.independence.p_value_is_bound == bound
        assert found.independence.p_value > 0.1 or found.independence.p_value == pytest.approx(1e-15)
        assert ("p < 0.001" in str(found)) == bound


LAWS = {
    "laplace": (DiscreteLaplace(Fraction(8)), (2, 2), 300),
    "laplace, larger": (DiscreteLaplace(Fraction(4)), (2, 3), 800),
    "gaussian": (DiscreteGaussian(Fraction(30)), (3, 3), 2000),
    "none": (None, (2, 3), 1000),
}


@pytest.mark.parametrize("case", LAWS)
def test_where_simulations_end_the_tail_of_the_limit_bounds_the_chance(case):
    """Simulated in earnest: at the quantiles of 20,000 tables. The control, chi-square alone, is below for Laplace."""
    law, shape, records = LAWS[case]
    rng = np.random.default_rng(1)
    rows, columns = (np.linspace(1, 2, each) / np.linspace(1, 2, each).sum() for each in shape)
    measured = Measured("cells", (1,) * (shape[0] * shape[1]), law, REPLACE, records)
    spread = Spread.of(measured, records)
    many = size(100_000, part=20_000)
    found, degrees = chi_square(simulated(measured, np.outer(rows, columns), records, many, rng), spread)
    for chance in (1e-2, 2e-3, 5e-4):
        largest = float(np.quantile(found, 1 - chance))
        bound = _tail(largest, int(degrees[0]), measured, spread, rows, columns)
        assert bound >= chance * (1 - 4 / math.sqrt(chance * many))
        assert bound <= chance * (1.5 if law is None or "gaussian" in case else 60)
        if case == "laplace" and chance == 5e-4:
            assert chi2.sf(largest, degrees[0]) < chance / 5


@pytest.mark.parametrize("case", LAWS)
def test_strong_effects_have_small_p_values_and_few_expected_records_do_not(case):
    law, _, _ = LAWS[case]
    records = 20_000
    for share, most in ((0.6, 1e-10), (0.8, 1e-13)):
        counts = records / 2 * np.array([[share, 1 - share], [1 - share, share]])
        measured = Measured("cells", tuple(map(int, counts.ravel())), law, REPLACE, records)
        strong = independence(measured, counts, records)
        assert strong.p_value_is_bound
        assert 1e-15 <= strong.p_value <= most
    few = np.array([[30.0, 0], [0, 3]])
    sparse = independence(Measured("cells", (30, 0, 0, 3), None, REPLACE, 33), few, 33.0)
    assert sparse.p_value >= 1 / 2000


def test_an_empty_row_without_noise_takes_no_part():
    counts = np.array([[40.0, 20], [0, 0], [15, 30]])
    found, degrees = chi_square(counts[None], Spread(105.0, 0.0))
    assert found[0] == pytest.approx(chi2_contingency(counts[[0, 2]], correction=False).statistic)
    assert degrees[0] == 1


@pytest.mark.parametrize("spread", [Spread(200.0, 30.0), Spread(300.0, 90.0, 20.0), Spread(0.0, 5.0)], ids=str)
def test_the_statistic_is_the_quadratic_form_with_the_inverse_covariance(spread):
    """Built from whole matrices, without rotations."""
    counts = np.random.default_rng(4).normal(30, 20, (5, 3, 4))
    rows, columns = shares(counts)
    for table, a, b, found in zip(counts, rows, columns, chi_square(counts, spread)[0], strict=True):
        left, right = np.eye(3) - np.outer(a, np.ones(3)), np.eye(4) - np.outer(b, np.ones(4))
        residual = np.kron(left[:2], right[:3])
        ones = np.ones(12)
        whole = spread.scale * np.diag(np.outer(a, b).ravel()) + spread.level * np.eye(12)
        covariance = residual @ (whole - spread.common * np.outer(ones, ones)) @ residual.T
        r = residual @ table.ravel()
        assert found == pytest.approx(r @ np.linalg.solve(covariance, r))


@pytest.mark.parametrize("form", ["cells", "reports", "unary"])
def test_the_covariance_of_residuals_is_that_of_simulated_tables(form):
    """200,000 tables, or 60,000, of which a tenth with a wrong covariance would be seen."""
    rows, columns = [0.95, 0.05], [0.9, 0.06, 0.04]
    chance = np.outer(rows, columns)
    law = DiscreteLaplace(6) if form == "cells" else None
    measured = Measured(form, (1,) * (6 + (form == "unary")), law, REPLACE, 400, epsilon=None if law else 1)
    tables = simulated(measured, chance, 400, size(200_000, part=60_000), np.random.default_rng(2)).reshape(-1, 6)
    np.testing.assert_allclose(tables.mean(axis=0), 400 * chance.ravel(), atol=1.0)
    residual = np.kron((np.eye(2) - np.outer(rows, [1, 1])), np.eye(3) - np.outer(columns, [1, 1, 1]))
    spread = Spread.of(measured, 400.0)
    whole = spread.scale * np.diag(chance.ravel()) + spread.level * np.eye(6) - spread.common * np.ones((6, 6))
    wanted, seen = residual @ whole @ residual.T, residual @ np.cov(tables.T) @ residual.T
    np.testing.assert_allclose(seen, wanted, atol=0.02 * wanted.max())


def test_comparisons_of_two_rows_without_noise_are_the_usual_ones():
    found = exact(ogive.Crosstab("ward", "died", **TWO))
    risks = [each / total for each, total in zip((32, 33), (72, 48), strict=True)]
    assert found.risk_difference().value == pytest.approx(risks[0] - risks[1])
    assert found.relative_risk().value == pytest.approx(risks[0] / risks[1])
    odds = found.odds_ratio()
    assert odds.value == pytest.approx((32 / 40) / (33 / 15))
    error = math.sqrt(sum(1 / count for count in (32, 40, 33, 15)))
    assert math.log(odds.high / odds.value) == pytest.approx(1.96 * error, rel=0.05)
    low, high = found.risk_difference()[1:]
    assert low < risks[0] - risks[1] < high
    assert found.odds_ratio(0.5).high < odds.high


def test_comparisons_are_for_two_rows_and_two_columns_that_are_counted():
    for found in (
        released(ogive.Crosstab("ward", "stage", **TABLE)),
        released(ogive.Crosstab("ward", "died", **TWO), trust=ogive.Local, privacy=ogive.PureDP(4)),
    ):
        for compared in (found.risk_difference, found.relative_risk, found.odds_ratio):
            with pytest.raises(ParameterError, match="two rows and two columns"):
                compared()
        assert "odds ratio" not in str(found)


def test_policies_hold_for_both_columns():
    whole = exact(ogive.Crosstab("ward", "gap", rows=("A", "C"), columns=("x",), other="count", missing="count"))
    assert whole.row_names == ("A", "C", "other", "missing")
    assert whole.column_names == ("x", "other", "missing")
    assert whole.counts == ((72, 0, 0), (0, 0, 0), (0, 0, 48), (0, 0, 0))
    some = exact(ogive.Crosstab("ward", "stage", rows=("A", "B"), columns=(0, 1), other="drop"), ADD)
    assert some.counts == ((40, 20), (15, 30))


GAPS = {"rows": ("A", "B"), "columns": ("x", "y")}


def test_each_column_may_have_a_policy_of_its_own_for_missing_values():
    found = exact(ogive.Crosstab("ward", "gap", **GAPS, missing={"gap": "count"}))
    assert found.row_names == ("A", "B")
    assert found.column_names == ("x", "y", "missing")
    assert found.counts == ((72, 0, 0), (0, 0, 48))
    turned = ogive.Crosstab("gap", "ward", rows=("x", "y"), columns=("A", "B"), missing={"gap": "drop"})
    assert exact(turned, ADD).counts == ((72, 0), (0, 0))
    with pytest.raises(DataError, match="column 'gap' has missing values"):
        exact(ogive.Crosstab("ward", "gap", **GAPS, missing={"ward": "count"}))
    assert released(turned, adjacency=ADD, privacy=ogive.PureDP(1000)).shape == (2, 2)


def test_policies_by_column_are_the_same_question_only_where_they_mean_the_same():
    def described(missing):
        return describe(ogive.Crosstab("ward", "gap", **GAPS, missing=missing))

    assert described({"ward": "count", "gap": "count"}) == described("count")
    assert described({}) == described({"gap": "refuse"}) == described("refuse")
    assert described({"gap": "count"}) == described({"gap": "count", "ward": "refuse"})
    texts = [json.dumps(described(each)) for each in ("refuse", "count", {"gap": "count"}, {"ward": "count"})]
    assert len(set(texts)) == 4
    assert described("count")["missing"] == "count", "as it was written before there were policies by column"


def test_a_table_with_policies_by_column_is_stored_planned_and_shown():
    asked = ogive.Crosstab("ward", "gap", **GAPS, missing={"gap": "count"})
    for adjacency in Adjacency:
        found = released(asked, adjacency=adjacency)
        data = json.loads(found.to_json())
        assert data["missing"] == {"ward": "refuse", "gap": "count"}
        assert ogive.CrosstabEstimate.from_json(found.to_json()) == found
        for damage in ({"ward": "count", "gap": "count"}, {"other": "count"}, {"gap": 1}, {"gap": "maybe"}, [], None):
            with pytest.raises(DataError):
                ogive.CrosstabEstimate.from_dict({**copy.deepcopy(data), "missing": damage})
    plan = " ".join(str(ogive.plan(asked, privacy=PURE, records=120)).split())
    assert "missing values of ward: refused before anything is charged" in plan
    assert "missing values of gap: a category of their own" in plan
    assert "of the others" not in plan


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({**TWO, "missing": {"age": "count"}}, "has a policy for column 'age', which is not in the table"),
        ({**TWO, "missing": {"ward": "low"}}, "must be one of"),
        ({"columns": (0, 1)}, r"declare the categories, for example `?rows="),
        ({"rows": ("A", "B")}, r"declare the categories, for example `?columns="),
        ({"rows": ("A",), "columns": (0, 1)}, "cannot be compared"),
        ({"rows": ("A", "B"), "columns": "01"}, "must be a list"),
        ({"rows": range(100), "columns": range(100)}, "more than 2500"),
        ({**TWO, "other": "maybe"}, "must be one of"),
        ({**TWO, "confidence_level": 0}, "must be above 0"),
    ],
    ids=str,
)
def test_bad_questions_are_refused_in_one_line(options, words):
    with pytest.raises(ParameterError, match=words) as problem:
        ogive.Crosstab("ward", "stage", **options)
    assert "\n" not in str(problem.value)


def test_one_column_is_no_table_of_two():
    with pytest.raises(ParameterError, match="named twice"):
        ogive.Crosstab("ward", "ward", rows=("A", "B"), columns=("A", "B"))
    with pytest.raises(DataError, match="not declared"):
        exact(ogive.Crosstab("ward", "stage", **TWO))


def test_margins_have_the_noise_of_their_cells():
    found = released(ogive.Crosstab("ward", "stage", **TABLE))
    np.testing.assert_allclose(np.array(found.raw).sum(axis=1), found.alone().row_totals)
    np.testing.assert_allclose(np.array(found.counts).sum(axis=1), found.row_totals)
    assert sum(found.row_totals) == pytest.approx(sum(found.column_totals)) == pytest.approx(120)
    (low, high), (low_count, high_count) = found.alone().row_total_intervals()[0], found.alone().count_intervals()[0][0]
    assert 1.4 < (high - low) / (high_count - low_count) < 3
    assert low <= found.row_totals[0] <= high
    assert found.column_total_intervals(0.5)[0][1] < found.column_total_intervals()[0][1]


def test_noise_that_hides_all_records_leaves_the_table_undefined():
    asked = ogive.Crosstab("ward", "stage", **TABLE)
    found = [released(asked, privacy=ogive.PureDP("1/10000"), adjacency=ADD, seed=seed) for seed in range(8)]
    hidden = [each for each in found if not each.defined]
    assert 0 < len(hidden) < len(found)
    for each in hidden:
        assert each.independence is None
        assert "undefined" in str(each)
        assert ogive.CrosstabEstimate.from_json(each.to_json()) == each


def test_the_same_table_gives_the_same_p_value():
    one, other = (released(ogive.Crosstab("ward", "died", **TWO)) for _ in range(2))
    assert one.independence == other.independence
    assert "chi-square" in str(one)
    assert "(noise included)" in str(one)


def test_functions_take_two_arrays_and_groups_have_tables():
    table = ogive.crosstab(DATA["ward"], DATA["died"], **TWO, privacy=ogive.PureDP(1000))
    assert np.rint(table.counts).tolist() == [[40, 32], [15, 33]]
    session = ogive.Session(DATA, limit=ogive.PureDP(1000))
    groups = session.crosstab("ward", "died", **TWO, by="stage", groups=(0, 1, 2), privacy=ogive.PureDP(900))
    assert np.rint(groups[0].counts).tolist() == [[40, 0], [15, 0]]
    assert "ward = A, died = 0" in str(groups)


def test_what_is_stored_is_read_again_and_damage_is_refused():
    for options in ({}, {"adjacency": ADD}, {"trust": ogive.Local}, {"privacy": ogive.ApproxDP(1, "1e-6")}):
        found = released(ogive.Crosstab("ward", "stage", **TABLE), **options)
        assert ogive.CrosstabEstimate.from_json(found.to_json()) == found
        data = json.loads(found.to_json())
        for damage in (
            {"rows": ["A"]},
            {"columns": [0, 0, 1]},
            {"row": "stage"},
            {"other": "maybe"},
            {"missing": "count"},
            {"measured": {**data["measured"], "values": data["measured"]["values"][:3]}},
            {"measured": {**data["measured"], "form": "moments"}},
        ):
            with pytest.raises(DataError):
                ogive.CrosstabEstimate.from_dict({**copy.deepcopy(data), **damage})


def test_the_truth_is_of_the_same_values():
    found, truth = released(ogive.Crosstab("ward", "died", **TWO)), exact(ogive.Crosstab("ward", "died", **TWO))
    far = np.abs(np.array(found.counts) - np.array(truth.counts)).max()
    assert found.errors(truth) == {"share": far / 120}
    with pytest.raises(ParameterError, match="same values"):
        found.errors(exact(ogive.Crosstab("ward", "died", rows=("B", "A"), columns=(0, 1))))


def test_the_noise_is_the_same_for_both_adjacencies_but_for_its_scale():
    one, other = (released(ogive.Crosstab("ward", "died", **TWO), adjacency=each) for each in Adjacency)
    ratios = np.divide(one.alone().noise_errors, other.alone().noise_errors)
    assert {round(float(each), 1) for each in ratios.ravel()} in ({2.0}, {0.5})


@pytest.mark.parametrize("known", [False, True], ids=["alone", "agreed"])
@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("privacy", [ogive.PureDP(1), ogive.ZeroConcentratedDP("0.1")], ids=["pure", "zcdp"])
def test_readings_hold_the_counts_that_they_need_alone_and_are_those_of_the_whole_table(privacy, adjacency, known):
    """A table of 2,500 cells, of which each reading looked at all, was not printed after minutes."""
    draw = np.random.default_rng(2)
    table = {"a": draw.integers(0, 7, 500), "b": draw.integers(0, 4, 500)}
    asked = ogive.Crosstab("a", "b", rows=tuple(range(7)), columns=tuple(range(4)))
    found = ogive.release(asked, trust=ogive.Central(table), privacy=privacy, adjacency=adjacency)
    if known:
        whole = dataclasses.replace(found._table, shown=None)
    else:
        found = found.alone()
        whole = found.measured

    def dense(numerator, denominator=None):
        forms = [[float(place in places) for place in range(28)] for places in (numerator, denominator or ())]
        top, size = (whole.sum_of(*each) for each in forms)
        return Reading(whole, top, size if denominator else whole.one, low=0, high=1 if denominator else math.inf)

    for row, places in enumerate(found._places):
        for column, place in enumerate(places):
            others = tuple(each[column] for each in found._places)
            for reading, held, among in (
                (found._counts[row][column], 1, None),
                (found._row_shares[row][column], 4, places),
                (found._column_shares[row][column], 7, others),
            ):
                slow = dense((place,), among)
                assert len(reading.measured.values) == held
                assert reading.defined == slow.defined
                if slow.defined:
                    one, other = (each.deviation(0.3, sampling=False) for each in (reading, slow))
                    if not whole.beside:
                        assert one == other
                    assert one.standard_error == pytest.approx(other.standard_error, rel=1e-3)
                    assert reading.ratio == pytest.approx(min(slow.ratio, whole.total or math.inf))
