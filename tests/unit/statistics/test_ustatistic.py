"""Pairwise statistics as they are asked for: columns, methods, descriptions, and what is refused."""

import dataclasses
import json

import numpy as np
import pytest
from helpers.declared import public_of
from scipy.stats import kendalltau
from sklearn.metrics import roc_auc_score

import ogive
from ogive.columns import Categories, Domain, Label
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.kernels import measure_of
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import CellsQuery, KernelQuery, ReportsQuery
from ogive.releasing.collecting import statistic_from_dict
from ogive.releasing.release import release
from ogive.statistics.base import Terms, describe
from ogive.statistics.ustatistic.statistic import METHODS, Ustatistic
from ogive.trust import Central, Clear, Local

N = 4_000
RNG = np.random.default_rng(9)
SICK = RNG.random(N) < 0.3
TABLE = {
    "x": RNG.beta(2, 5, N),
    "a": RNG.integers(1, 6, N),
    "sick": np.where(SICK, "yes", "no"),
    "score": np.round(1 / (1 + np.exp(-RNG.normal(SICK))), 3),
    "mood": RNG.choice(["low", "fair", "high"], N, p=[0.5, 0.3, 0.2]),
}
TABLE["b"] = np.clip(TABLE["a"] + RNG.integers(-1, 2, N), 1, 5)
SCALE = (1, 2, 3, 4, 5)
GINI = Ustatistic("x", bounds=(0, 1))
TAU = Ustatistic(("a", "b"), "kendall", bounds=(1, 5), grid="integers")
AUC = Ustatistic(("score", "sick"), "auc", bounds=(0, 1), positive="yes", negative="no", public_labels=True)
ONE = PureDP(1)


def terms(privacy=ONE, records=N, *, owners=False, adjacency=Adjacency.REPLACE):
    def refusal(query):
        return None if isinstance(query, ReportsQuery) == owners else "not here"

    return Terms(privacy, PrivacyUnit(adjacency), refusal, count=lambda: records)


def asked(statistic, *arguments, **options):
    return next(statistic.questions(terms(*arguments, **options)))


def exact(statistic):
    return release(statistic, trust=Clear(TABLE)).value


def test_exact_values_are_those_of_scipy_and_scikit_learn():
    sorted_x = np.sort(TABLE["x"])
    gini = 2 * (np.arange(1, N + 1) @ sorted_x) / (N * sorted_x.sum()) - (N + 1) / N
    coefficient = dataclasses.replace(GINI, kernel="gini_coefficient")
    assert exact(coefficient) == pytest.approx(gini, rel=1e-12)
    assert exact(dataclasses.replace(TAU, kernel="kendall_b")) == pytest.approx(
        kendalltau(TABLE["a"], TABLE["b"]).statistic, rel=1e-12
    )
    assert exact(AUC) == pytest.approx(roc_auc_score(SICK, TABLE["score"]), rel=1e-12)
    assert exact(dataclasses.replace(AUC, public_labels=False)) == pytest.approx(exact(AUC), rel=1e-12)
    assert exact(dataclasses.replace(GINI, kernel="variance")) == pytest.approx(np.var(TABLE["x"], ddof=1), rel=1e-12)
    shares = np.unique(TABLE["mood"], return_counts=True)[1]
    entropy = -np.log((shares * (shares - 1)).sum() / (N * (N - 1)))
    mood = Ustatistic("mood", "collision", categories=("low", "fair", "high"))
    assert exact(mood) == pytest.approx(entropy, rel=1e-12)


def test_exact_values_do_not_depend_on_bins_and_have_no_randomization():
    few, many = (release(dataclasses.replace(GINI, bins=bins), trust=Clear(TABLE)) for bins in (2, 4096))
    assert few.value == many.value
    assert (few.method, few.bins, few.quantization, few.randomization_error) == ("exact", (), 0.0, 0.0)
    assert 0 < few.standard_error < 0.02


@pytest.mark.parametrize(
    ("statistic", "owners", "kind"),
    [
        (GINI, False, KernelQuery),
        (AUC, False, KernelQuery),
        (Ustatistic("mood", "collision", categories=("low", "fair", "high")), False, CellsQuery),
        (GINI, True, ReportsQuery),
        (AUC, True, ReportsQuery),
    ],
    ids=["gini", "auc", "collision", "gini-reports", "auc-reports"],
)
def test_auto_asks_what_the_trust_model_can_answer(statistic, owners, kind):
    assert isinstance(asked(statistic, owners=owners), kind)


def test_auto_takes_the_smallest_predicted_error_and_refines_bins_with_more_records():
    sizes = [asked(GINI, records=records, owners=True).oracle.size for records in (100, 10_000, 10_000_000)]
    assert sizes[0] < sizes[1] < sizes[2]
    few = Ustatistic("mood", "collision", categories=("low", "fair", "high"))
    assert asked(few, owners=True).oracle.name == "krr"
    many = Ustatistic("x", bounds=(0, 1), bins=256)
    assert asked(many, owners=True).oracle.name == "haar"
    assert asked(dataclasses.replace(few, categories=tuple("abcdefghijklmnopqrst")), owners=True).oracle.name != "krr"


@pytest.mark.parametrize(
    ("bins", "name"), [(16, "haar"), (1024, "haar"), (8192, "hierarchy"), (1 << 16, "hierarchy"), ("auto", "haar")]
)
def test_an_auc_from_reports_takes_wavelets_where_matrices_fit_and_trees_beyond(bins, name):
    way = dataclasses.replace(AUC, bins=bins).chosen_method(terms(records=100_000, owners=True))
    assert way.name == name
    assert bins in ("auto", way.domain.size)


@pytest.mark.parametrize(("bins", "times"), [(16, 1), (256, 4), (1024, 4)])
def test_wavelets_are_predicted_to_err_less_than_trees(bins, times):
    wavelets, tree = (
        dataclasses.replace(AUC, bins=bins, method=name).chosen_method(terms(records=100_000, owners=True)).predicted
        for name in ("haar", "hierarchy")
    )
    assert wavelets < tree / times  # with many bins less than half the error; few bins round for both alike


def test_trees_with_few_leaves_are_predicted_to_round_as_symbols_do():
    ways = [
        dataclasses.replace(AUC, bins=8, method=name).chosen_method(terms(PureDP(20), records=10**9, owners=True))
        for name in ("krr", "hierarchy")
    ]
    assert ways[1].predicted == pytest.approx(ways[0].predicted, rel=0.05)


def test_levels_of_wavelets_are_asked_for_as_the_kernel_needs():
    """Coarse ones more often for a kernel without a jump, whose differences fall with the bins' width."""
    weights = {
        name: dataclasses.replace(statistic, bins=64, method="haar").chosen_method(terms(owners=True)).inner.weights
        for name, statistic in (
            ("gini", GINI),
            ("coefficient", dataclasses.replace(GINI, kernel="gini_coefficient")),
            ("auc", AUC),
            ("private", dataclasses.replace(AUC, public_labels=False)),
        )
    }
    assert weights == {"gini": "geometric", "coefficient": "geometric", "auc": "uniform", "private": "uniform"}


@pytest.mark.parametrize("method", ["krr", "unary", "haar"])
def test_matrices_that_do_not_fit_are_refused_before_anybody_reports(method):
    large = dataclasses.replace(AUC, bins=8192, method=method)
    with pytest.raises(ParameterError, match="at most 4096 bins in all, or method='hierarchy'"):
        large.chosen_method(terms(owners=True))


def test_one_pair_of_bounds_is_for_the_columns_of_numbers():
    mixed = Ustatistic(("a", "mood"), "kendall", bounds=(0, 9), categories={"mood": ("low", "fair", "high")}, bins=4)
    apart = dataclasses.replace(mixed, bounds={"a": (0, 9)})
    assert describe(mixed) == describe(apart)
    with pytest.raises(ParameterError, match="column 'mood' has categories, so leave out its bounds"):
        dataclasses.replace(mixed, bounds=((0, 9), (0, 2)))
    with pytest.raises(ParameterError, match="column 'mood' has categories, so leave out its bounds"):
        Ustatistic("mood", "collision", bounds=(0, 2), categories=("low", "fair", "high"))


def test_under_a_private_number_of_records_counts_are_asked_and_a_guess_refines_them():
    few, many = (
        asked(dataclasses.replace(GINI, expected_records=guess), adjacency=Adjacency.ADD_OR_REMOVE)
        for guess in (50, 10_000_000)
    )
    assert isinstance(few, CellsQuery)
    assert few.cells.domain.size < many.cells.domain.size


@pytest.mark.parametrize(
    ("privacy", "epsilon"),
    [(PureDP(2), 2.0), (ApproxDP("0.5", "1e-6"), 0.5), (ZeroConcentratedDP("0.5"), 1.0)],
    ids=["pure", "approx", "zcdp"],
)
def test_a_report_takes_a_pure_epsilon_from_any_guarantee(privacy, epsilon):
    query = asked(dataclasses.replace(GINI, method="krr"), privacy, owners=True)
    assert float(query.oracle.epsilon) == pytest.approx(epsilon, rel=1e-9)
    assert query.oracle.epsilon <= epsilon


def test_every_method_is_an_alternative():
    assert set(GINI.alternatives()) == set(METHODS) - {"degrees"}
    assert set(Ustatistic("x", "collision", categories=(0, 1)).alternatives()) == set(METHODS)
    assert all(way.method == name for name, way in GINI.alternatives().items())


def test_both_roundings_and_both_matrices_are_near_the_truth():
    for changes in ({"rounding": "randomized"}, {"matrix": "midpoint"}, {}):
        statistic = dataclasses.replace(GINI, bins=12, **changes)
        found = release(statistic, trust=Local(TABLE), privacy=PureDP(6), source=KeyedSource(bytes(32)))
        assert abs(found.value - exact(GINI)) < 5 * found.randomization_error + 1 / 24


def test_rounding_moves_a_value_by_no_more_than_is_stated():
    # all values at the upper ends of wide bins: the worst for a matrix of middles
    values = {"x": np.repeat([0.25, 0.999], 500)}
    statistic = Ustatistic("x", bounds=(0, 1), bins=4, method="cells")
    found = release(statistic, trust=Central(values), privacy=PureDP(50), source=KeyedSource(bytes(32)))
    truth = release(statistic, trust=Clear(values)).value
    assert abs(found.value - truth) <= found.quantization + 5 * found.randomization_error
    assert found.quantization < 0.5


def test_where_rounding_could_matter_most_a_reader_is_told_of_whole_numbers():
    advice = "a grid of integers does not round whole numbers, and keeps their ties"
    for grid, told in (("linear", True), ("integers", False)):
        statistic = dataclasses.replace(TAU, kernel="kendall_b", grid=grid)
        found = release(statistic, trust=Local(TABLE), privacy=PureDP(6), source=KeyedSource(bytes(32)))
        assert (advice in str(found)) is told


def test_spellings_of_one_question_are_one_question_and_others_are_not():
    same = [
        Ustatistic(("score", "sick"), "auc", bounds=(0, 1), positive=("yes",), negative=("no",), public_labels=True),
        Ustatistic(["score", "sick"], measure_of("auc"), bounds={"score": (0, 1)}, positive="yes", negative="no"),
        AUC.canonical(),
    ]
    assert all(describe(each) == describe(AUC) for each in same)
    others = [
        dataclasses.replace(AUC, public_labels=False),
        dataclasses.replace(AUC, bins=8),
        dataclasses.replace(AUC, method="krr"),
        dataclasses.replace(AUC, kernel=measure_of("auc", ties="strict")),
    ]
    assert len({json.dumps(describe(each)) for each in (AUC, *others)}) == 5


@pytest.mark.parametrize("statistic", [GINI, TAU, AUC], ids=["gini", "kendall", "auc"])
def test_a_description_is_read_back_as_the_same_question(statistic):
    data = json.loads(json.dumps(describe(statistic)))
    again = statistic_from_dict(data)
    assert describe(again) == data
    one, other = (next(each.questions(terms(owners=True))) for each in (statistic, again))
    assert one == other


@pytest.mark.parametrize(
    "damage",
    [
        {"columns": 3},
        {"columns": [{}]},
        {"kernel": {"measure": "none"}},
        {"kernel": "gini"},
        {"method": "best"},
        {"free": 1},
    ],
    ids=lambda damage: "-".join(damage),
)
def test_a_damaged_description_is_refused(damage):
    data = {**describe(GINI), **damage}
    with pytest.raises(ParameterError) as why:
        statistic_from_dict(data)
    assert "\n" not in str(why.value)


def test_statistics_that_no_reports_can_answer_are_not_read():
    with pytest.raises(ParameterError, match="must be one of ecdf, quantiles, boxplot, survival, ustatistic"):
        statistic_from_dict({"name": "roc"})


def test_columns_may_be_given_as_domains_and_kernels_as_objects_or_functions():
    columns = Domain((Categories("a", (1, 2, 3, 4, 5)), Categories("b", (1, 2, 3, 4, 5))))
    assert exact(Ustatistic(columns, "kendall")) == exact(TAU)

    def agree(first, second):
        return (first[0] == second[0]) * (first[1] == second[1]) * 1.0

    measure = measure_of(agree, range=(0, 1))
    one = release(Ustatistic(columns, measure), trust=Central(TABLE), privacy=PureDP(5), source=KeyedSource(bytes(32)))
    assert one.kernel == "agree"
    assert abs(one.value - exact(Ustatistic(columns, measure))) < 0.01


REFUSALS = {
    "unknown kernel": (lambda: Ustatistic("x", "ginni", bounds=(0, 1)), r"unknown kernel 'ginni'; there are 'auc', "),
    "too few columns": (lambda: Ustatistic("x", "kendall", bounds=(0, 1)), "two columns"),
    "too many columns": (lambda: Ustatistic(("x", "a"), "gini", bounds=(0, 1)), "1"),
    "no label": (
        lambda: Ustatistic("score", "auc", bounds=(0, 1)),
        r"auc needs two columns, .*columns=\('score', 'label'\), got 1: 'score'",
    ),
    "one to be ranked": (
        lambda: Ustatistic("x", "kendall"),
        r"kendall needs two columns, .*columns=\('x', 'y'\), got 1: 'x'",
    ),
    "a class without a label": (
        lambda: Ustatistic("x", bounds=(0, 1), positive="yes"),
        "gini has no label, so leave out positive=$",
    ),
    "another class without a label": (
        lambda: Ustatistic(("a", "b"), "kendall", bounds=(0, 1), negative=2),
        "kendall has no label, so leave out negative=$",
    ),
    "no label to hide": (
        lambda: Ustatistic("x", bounds=(0, 1), public_labels=False),
        "gini has no label, so leave out public_labels=False$",
    ),
    "classes said twice": (
        lambda: Ustatistic(("score", Label("sick", ("yes",))), "auc", bounds=(0, 1), positive="no"),
        "column 'sick' says itself .*so leave out positive=$",
    ),
    "classes said as a label": (
        lambda: Ustatistic(("score", "stage"), "vus", bounds=(0, 1), categories={"stage": (0, 1, 2)}, positive=2),
        "column 'stage' says itself .*so leave out positive=$",
    ),
    **{
        f"{name} from 0 to {high}": (
            lambda name=name, high=high: Ustatistic("x", name, bounds=(0, high)),
            "cannot be squared .*; take units .*nearer to 0 and 1$",
        )
        for name, high in (
            *(("gini", high) for high in ("1e300", "1e101", "1e-101", "1e-310")),
            *(("variance", high) for high in ("1e300", "1e200", "1e51", "1e-51", "1e-310")),
            *(("gini_coefficient", high) for high in ("1e300", "1e-310")),
        )
    },
    "no class": (lambda: Ustatistic("score", "vus"), "vus needs two columns, .*got 1: 'score'"),
    "classes that nobody listed": (
        lambda: Ustatistic(("score", "stage"), "vus", bounds=(0, 1)),
        r"classes of column 'stage' in order, .*categories=\{'stage': \(0, 1, 2\)\}",
    ),
    "classes for another kernel": (
        lambda: Ustatistic(("s", "t"), measure_of("vus", classes=4), bounds={"s": (0, 1)}, categories={"t": (0, 1, 2)}),
        "vus needs a column of 4 classes last; list those of 't'",
    ),
    "classes that are hidden": (
        lambda: Ustatistic(("s", "t"), "vus", bounds={"s": (0, 1)}, categories={"t": (0, 1, 2)}, public_labels=False),
        "vus takes .*public, so leave out public_labels=False",
    ),
    "labels that are hidden by a kernel for public ones": (
        lambda: Ustatistic(("s", "t"), measure_of("auc"), bounds=(0, 1), public_labels=False),
        "auc takes .*public, so leave out public_labels=False",
    ),
    "one class": (
        lambda: Ustatistic(("s", "t"), "vus", bounds={"s": (0, 1)}, categories={"t": (0,)}),
        "classes must be a whole number from 2 to 10, got 1",
    ),
    "no bounds": (lambda: Ustatistic("x"), "say which values of column 'x' are possible"),
    "collision of numbers": (lambda: Ustatistic("x", "collision", bounds=(0, 1), bins=8), "categories"),
    "one column twice": (lambda: Ustatistic(("x", "x"), "kendall", bounds=(0, 1)), "'x' is named twice"),
    "a function": (lambda: Ustatistic("x", lambda a, b: a * b, bounds=(0, 1)), "needs the range of its values"),
    "not symmetric": (
        lambda: Ustatistic("x", measure_of(lambda a, b: a, range=(0, 1), name="first"), bounds=(0, 1)),
        "first is not symmetric",
    ),
    "not bounded": (
        lambda: Ustatistic("x", measure_of(lambda a, b: 9 * (a + b), range=(0, 1), name="sum"), bounds=(0, 1)),
        "leaves its range",
    ),
    "bounds of another column": (lambda: Ustatistic("x", bounds={"y": (0, 1)}), "bounds are given for column 'y'"),
    "too many bins": (lambda: Ustatistic("x", bounds=(0, 1), bins=(4, 4)), "bins must be one for all columns or 1"),
    "a method": (lambda: Ustatistic("x", bounds=(0, 1), method="laplace"), "method must be one of auto, kernel, cells"),
    "a matrix": (lambda: Ustatistic("x", bounds=(0, 1), matrix="nodes"), "matrix must be average or midpoint"),
    "a rounding": (lambda: Ustatistic("x", bounds=(0, 1), rounding="up"), "rounding must be simple or randomized"),
    "dropping": (lambda: Ustatistic("x", bounds=(0, 1), missing="drop"), "missing must be one of refuse, low, high"),
    "categories with bounds": (
        lambda: Ustatistic("x", "collision", bounds=(0, 1), categories=(1, 2)),
        "column 'x' has categories, so leave out its bounds",
    ),
    "categories of text": (lambda: Ustatistic("x", "collision", categories="abc"), "categories must be a list"),
    "no column": (lambda: Ustatistic((), bounds=(0, 1)), "name at least one column"),
    "a number for a column": (lambda: Ustatistic(3, bounds=(0, 1)), "columns must be names of columns, got 3"),
    "negative lower bound": (lambda: Ustatistic("x", "gini_coefficient", bounds=(-1, 1)), "values from 0 on"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_no_release_could_use_is_refused_before_any_data_is_touched(case):
    make, message = REFUSALS[case]
    with pytest.raises(ParameterError, match=message) as why:
        make()
    assert "\n" not in str(why.value)


TRUSTS = [Central, Local, Clear]


@pytest.mark.parametrize("trust", TRUSTS, ids=lambda trust: trust.name)
@pytest.mark.parametrize(
    ("table", "statistic", "message"),
    [
        ({"x": [0.1, 1.5, 0.2]}, GINI, "outside"),
        ({"x": [0.1, np.nan, 0.2]}, GINI, "missing"),
        (
            {"a": [1, 2, 7], "b": [1, 2, 3]},
            dataclasses.replace(TAU, categories=(1, 2, 3), bounds=None, grid="linear"),
            "a",
        ),
        ({"x": [0.1]}, GINI, "at least (2|two)"),
        ({"score": [0.1, 0.2], "sick": ["yes", "yes"]}, AUC, "negative class|class 0"),
        ({"score": [0.1, 0.2], "sick": ["yes", "may be"]}, AUC, "label column 'sick'"),
        ({"y": [0.1, 0.2]}, GINI, "'x'"),
    ],
    ids=["outside", "missing", "undeclared", "few", "one-class", "third-class", "no-column"],
)
def test_records_that_cannot_be_used_are_refused_without_quoting_them(trust, table, statistic, message):
    privacy = None if trust is Clear else ONE
    with pytest.raises((DataError, ParameterError), match=message) as why:
        release(statistic, trust=trust(table), privacy=privacy, public=public_of(statistic))
    assert "\n" not in str(why.value)
    assert "1.5" not in str(why.value)
    assert "may be" not in str(why.value)


def test_values_outside_may_be_moved_to_the_bounds():
    statistic = dataclasses.replace(GINI, outside="clip")
    assert release(statistic, trust=Clear({"x": [-1.0, 2.0]})).value == 1.0


@pytest.mark.parametrize("kernel", ["gini", "gini_coefficient", "variance"])
@pytest.mark.parametrize("trust", [Central, Local])
def test_values_and_errors_follow_the_unit_of_the_bounds_as_far_as_it_is_taken(kernel, trust):
    found = {}
    for power in (-160, 0, 160):  # 2**160 is about 1e48
        unit = 2.0**power
        statistic = Ustatistic("x", kernel, bounds=(0, unit), bins=16)
        table = {"x": TABLE["x"] * unit}
        exact = release(statistic, trust=Clear(table)).value
        answer = release(statistic, trust=trust(table), privacy=PureDP(4), source=KeyedSource(bytes(32)))
        error = answer.randomization_error
        assert abs(answer.value - exact) < 5 * error + answer.quantization
        found[power] = error / {"gini": unit, "gini_coefficient": 1.0, "variance": unit**2}[kernel]
    assert found[-160] == pytest.approx(found[0], rel=0.2)
    assert found[160] == pytest.approx(found[0], rel=0.2)


def test_methods_that_do_not_fit_say_what_would():
    for statistic, message in (
        (dataclasses.replace(GINI, method="hierarchy"), "hierarchy is for an AUC with public labels"),
        (dataclasses.replace(GINI, method="kernel", rounding="randomized"), "leave out rounding='randomized'"),
        (dataclasses.replace(GINI, method="cells", rounding="randomized"), "leave out rounding='randomized'"),
    ):
        with pytest.raises(ParameterError, match=message):
            asked(statistic)
    with pytest.raises(ParameterError, match="use method='cells'"):
        asked(dataclasses.replace(GINI, method="kernel"), adjacency=Adjacency.ADD_OR_REMOVE)


def test_one_call_takes_arrays_pairs_tables_and_labels():
    source = KeyedSource(bytes(32))
    pair = np.column_stack([TABLE["a"], TABLE["b"]])
    ways = [
        ogive.ustatistic(pair, "kendall", categories=(1, 2, 3, 4, 5), trust=Clear),
        ogive.ustatistic((TABLE["a"], TABLE["b"]), "kendall", bounds=(1, 5), grid="integers", trust=Clear),
        ogive.ustatistic({"a": TABLE["a"], "b": TABLE["b"]}, "kendall", bounds=((1, 5), (1, 5)), trust=Clear),
    ]
    assert len({way.value for way in ways}) == 1
    assert ways[0].columns == ("value_1", "value_2")
    asked = {"labels": SICK, "bounds": (0, 1), "trust": Local, "privacy": PureDP(4), "source": source}
    auc = ogive.ustatistic(TABLE["score"], "auc", public_labels=True, **asked)
    assert auc.columns == ("value", "label")
    assert auc.classes == (int((~SICK).sum()), int(SICK.sum()))
    assert auc.provenance.public == ("label",)
    hidden = ogive.ustatistic(TABLE["score"], "auc", **asked)
    assert hidden.classes is None
    assert hidden.provenance.public == ()
    area = roc_auc_score(SICK, TABLE["score"])
    for found in (auc, hidden):
        assert abs(found.value - area) < 5 * found.randomization_error + found.quantization


def test_one_call_refuses_what_it_cannot_take():
    for arguments, options, message in (
        ((np.zeros((2, 2, 2)),), {}, "one or two dimensions"),
        (({},), {}, "data has no columns"),
        (({"label": [1]}, "auc"), {"labels": [1]}, "has a column 'label' already"),
        (([0.5, 0.6],), {"trust": "nobody", "bounds": (0, 1)}, "trust must be one of central, clear"),
        (([0.5, 0.6],), {"trust": dict, "bounds": (0, 1)}, "trust must be the type of a trust model"),
        (([0.5, 0.6],), {"bounds": (0, 1)}, "give a privacy guarantee"),
    ):
        with pytest.raises((ParameterError, DataError), match=message):
            ogive.ustatistic(*arguments, **options)


def test_a_session_pays_for_it_once():
    session = ogive.Session(TABLE, limit=PureDP(3))
    first = session.ustatistic(("a", "b"), "kendall", bounds=(1, 5), grid="integers", privacy=ONE)
    again = session.ustatistic(["a", "b"], "kendall", bounds=[1, 5], grid="integers", privacy=ONE)
    assert first.value == again.value
    assert session.remaining == PureDP(2)
    with pytest.raises(UnsupportedError):
        session.ustatistic("x", bounds=(0, 1), method="krr", privacy=ONE)
    assert session.remaining == PureDP(2)


def test_a_person_with_several_rows_is_counted_by_local_reports_only_with_a_public_number():
    table = {**TABLE, "who": np.arange(N) // 2}
    session = ogive.Session(table, limit=PureDP(3), person="who", max_rows_per_person=2)
    found = session.ustatistic("x", bounds=(0, 1), privacy=ONE)
    assert found.method == "cells"
    assert found.records is None
    with pytest.raises(ParameterError, match="cannot be private"):
        release(GINI, trust=Local(table, person="who", max_rows_per_person=2), privacy=ONE, adjacency="add_or_remove")


def test_a_value_that_was_moved_to_what_is_possible_is_called_possible():
    table = {"x": np.arange(7).repeat(300)}
    entropy = Ustatistic("x", "collision", categories=tuple(range(7)))
    found = [release(entropy, trust=Central(table), privacy=PureDP("0.02")) for _ in range(40)]
    moved = [each for each in found if each.clipped]
    assert moved, "noise moves the least possible probability below 1/7 about half of the time"
    for each in moved:
        assert each.possible
        assert "outside the possible values" not in str(each)
        assert "was set to the nearest possible value" in str(each)


def test_of_fewer_than_two_records_there_is_a_release_without_a_value_that_a_ledger_keeps():
    session = ogive.Session({"x": [3.0]}, limit=PureDP(9), adjacency=Adjacency.ADD_OR_REMOVE)
    found = [
        session.ustatistic("x", bounds=(0, 10), privacy=PureDP(epsilon), source=KeyedSource.from_seed(number))
        for number, epsilon in enumerate(("0.5", "0.6", "0.7", "0.8", "0.9"))
    ]
    undefined = [each for each in found if not each.defined]
    assert 0 < len(undefined) < len(found)
    assert all(each.means == () and each.quantization == 0 for each in undefined)
    assert all(each.means for each in found if each.defined)
    # one without a value is equal to nothing, so texts are compared
    assert [each.to_json() for each in session.answers] == [each.to_json() for each in found]
