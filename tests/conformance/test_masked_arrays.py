"""What an array masks is missing, to everything that takes arrays: it is refused or honoured, and never counted."""

import datetime

import numpy as np
import pytest
from helpers.examples import NEW, columns_and_options

import ogive
from ogive import kernels, local, pate
from ogive.columns import Binning, Domain
from ogive.local.values import numbers_of
from ogive.statistics.kinds import COMMANDED

N = 40
PRIVACY = ogive.PureDP(10**4)
NUMBERS, SHARES = np.arange(float(N)), np.arange(N) / N
TRUTH = np.arange(N) % 2
PAIRS = np.stack([SHARES, SHARES[::-1] ** 2], axis=1)
VOTES = np.tile([7, 2, 1], (N, 1))
ORACLE = local.RandomizedResponse(3, 1)
COLUMN = Domain((Binning("x", ogive.Grid.linear(0, 100, bins=8)),))


def released(function, *before, **options):
    """Call it with an array, under a guarantee of little noise."""
    return lambda values: function(*before, values, privacy=PRIVACY, **options)


def ranked(features, labels):
    ranker = ogive.PairwiseRanker(bounds=(0, 1), classes=(0, 1), privacy=ogive.ApproxDP(100, 1e-6))
    return ranker.fit(features, labels)


def randomizer():
    oracle = local.RandomizedResponse(8, 1)
    return local.Randomizer(local.Description(domain=COLUMN, oracle=oracle, privacy=ogive.PureDP(1), participants=N))


def stream():
    return ogive.RunningTotal(N, privacy=ogive.PureDP(1), bound=N)


def curve():
    return ogive.ecdf(NUMBERS, bounds=(0, 100), bins=8, privacy=PRIVACY)


def of_columns(kind):
    """The function of a statistic, each of whose columns is the array."""
    columns, options = columns_and_options(kind)
    function = getattr(ogive, kind.function)
    return lambda values: function(*(values for _ in columns), privacy=PRIVACY, **options)


# by name: what is called with an array, and a plain array for which it answers
TAKERS = {
    "boxplot": (released(ogive.boxplot, bounds=(0, 100)), NUMBERS),
    "boxplot of groups": (
        lambda values: ogive.boxplot({"u": values, "v": np.arange(30)}, bounds=(0, 100), privacy=PRIVACY),
        NUMBERS,
    ),
    "boxplot of a group in a list": (
        lambda values: ogive.boxplot({"u": list(values), "v": np.arange(30)}, bounds=(0, 100), privacy=PRIVACY),
        NUMBERS,
    ),
    "crosstab": (lambda values: ogive.crosstab(values, TRUTH, rows=(0, 1), columns=(0, 1), privacy=PRIVACY), TRUTH),
    "curve_from_counts": (
        lambda counts: ogive.curve_from_counts(counts, bounds=(0, 100), scale=1),
        np.full(N, 50),
    ),
    "describe": (
        lambda values: ogive.describe({"x": values}, bounds={"x": (0, 100)}, privacy=PRIVACY),
        NUMBERS,
    ),
    "distances": (lambda values: ogive.distances(curve(), values), NUMBERS),
    "distances of samples": (lambda values: ogive.distances(values, NUMBERS), NUMBERS),
    "ecdf": (released(ogive.ecdf, bounds=(0, 100), bins=8), NUMBERS),
    "ecdf of a list": (lambda values: ogive.ecdf(list(values), bounds=(0, 100), bins=8, privacy=PRIVACY), NUMBERS),
    "a curve": (lambda values: curve()(values), NUMBERS),
    "quantiles of a curve": (lambda values: curve().quantile(values), SHARES),
    "find_bounds": (released(ogive.find_bounds), NUMBERS),
    "group_auc": (
        lambda values: ogive.group_auc(values, TRUTH, TRUTH, bounds=(0, 1), group_values=(0, 1), privacy=PRIVACY),
        SHARES,
    ),
    "histogram": (released(ogive.histogram, values=(0, 1), other="refuse"), TRUTH),
    "hosmer_lemeshow": (lambda values: ogive.hosmer_lemeshow(values, TRUTH, privacy=PRIVACY), SHARES),
    "mean": (released(ogive.mean, bounds=(0, 100)), NUMBERS),
    "proportion": (released(ogive.proportion, negative=0), TRUTH),
    "quantiles": (released(ogive.quantiles, probabilities=(0.5,), bounds=(0, 100), bins=8), NUMBERS),
    "probabilities": (
        lambda shares: ogive.quantiles(NUMBERS, probabilities=shares, bounds=(0, 100), bins=8, privacy=PRIVACY),
        SHARES,
    ),
    "roc": (lambda values: ogive.roc(values, TRUTH, bounds=(0, 1), privacy=PRIVACY), SHARES),
    "labels of roc": (lambda labels: ogive.roc(SHARES, labels, bounds=(0, 1), privacy=PRIVACY), TRUTH),
    "sum": (released(ogive.sum, bounds=(0, 100)), NUMBERS),
    "ustatistic": (released(ogive.ustatistic, bounds=(0, 100), bins=8), NUMBERS),
    "ustatistic of rows": (
        lambda rows: ogive.ustatistic(rows, "kendall", bounds=((0, 1), (0, 1)), bins=8, privacy=PRIVACY),
        PAIRS,
    ),
    "ustatistic of a list": (
        lambda rows: ogive.ustatistic(list(rows.T), "kendall", bounds=((0, 1), (0, 1)), bins=8, privacy=PRIVACY),
        PAIRS,
    ),
    "features of a ranker": (lambda rows: ranked(rows, TRUTH), PAIRS),
    "labels of a ranker": (lambda labels: ranked(PAIRS, labels), TRUTH),
    "scores of a ranker": (lambda rows: ranked(PAIRS, TRUTH).decision_function(rows), PAIRS),
    "RunningTotal": (lambda values: stream().add_many(values), np.arange(N)),
    "variance of a running total": (lambda taken: stream().variance(taken), np.arange(N) + 1),
    "check_votes": (pate.check_votes, VOTES),
    "privacy_cost": (lambda votes: pate.privacy_cost(votes, pate.GNMax(40), target_delta=1e-6), VOTES),
    "label": (lambda votes: pate.label(votes, pate.GNMax(40), target_delta=1e-6), VOTES),
    "answered of a cost": (
        lambda answered: pate.smooth_cost(
            VOTES, pate.ConfidentGNMax(8, 40, 40), order=2, smoothness=0.1, form="additive", answered=answered
        ),
        TRUTH == 0,
    ),
    "tally": (lambda labels: pate.tally(labels, 2), np.tile(TRUTH, (3, 1))),
    "features of teachers": (
        lambda rows: pate.train_teachers(
            learner(), rows, TRUTH, partition=pate.partition(PAIRS, 2, seed=1), classes=2, jobs=1
        ),
        PAIRS,
    ),
    "labels of teachers": (
        lambda labels: teachers(labels=labels),
        TRUTH,
    ),
    "queries of teachers": (lambda rows: pate.votes_of(teachers(), rows, jobs=1), PAIRS),
    "queries of a student": (
        lambda rows: pate.train_student(learner(), PAIRS, TRUTH, classes=2).labels(rows),
        PAIRS,
    ),
    "inputs of a student": (lambda rows: pate.train_student(learner(), rows, TRUTH, classes=2, seed=1), PAIRS),
    "answers of a student": (lambda labels: pate.train_student(learner(), PAIRS, labels, classes=2, seed=1), TRUTH),
    "reports": (lambda values: randomizer().reports({"x": values}), NUMBERS),
    "rows of reports": (lambda rows: randomizer().report_rows(rows), NUMBERS[:, None]),
    "one report": (lambda values: randomizer().report(values[-1], number=1), NUMBERS),
    "numbers of participants": (lambda numbers: randomizer().reports({"x": NUMBERS}, numbers=numbers), np.arange(N)),
    "symbols of an oracle": (
        lambda symbols: ORACLE.randomize(symbols, np.arange(N), source=local.OwnerSource()),
        TRUTH,
    ),
    "simulate": (lambda people: local.simulate(ORACLE, people, generator=np.random.default_rng(1)), np.full(3, 9)),
    "a kernel": (lambda rows: kernels.SignProduct().exact(rows), PAIRS),
    "classes of a kernel": (lambda classes: kernels.Greater().exact(PAIRS[:, :1], classes), TRUTH),
    "pairs": (lambda column: kernels.count_pairs(column, SHARES), NUMBERS),
    "exact_vus": (lambda scores: kernels.exact_vus(scores, TRUTH), SHARES),
    "classes of exact_vus": (lambda classes: kernels.exact_vus(SHARES, classes), TRUTH),
    "vus": (kernels.vus, np.full((3, N), 1 / N)),
    "persons of a partition": (lambda persons: pate.partition(PAIRS, 2, person=persons, seed=1), np.arange(N)),
    "tables of three": (kernels.TripleTable, np.arange(27.0).reshape(3, 3, 3)),
    "interval of quantiles": (lambda values: curve().quantile_interval(values), SHARES),
    "classes of records": (
        lambda labels: ogive.release(
            ogive.Roc("x", "y", bounds=(0, 1)), trust=ogive.Central({"x": SHARES, "y": labels}), privacy=PRIVACY
        ),
        TRUTH,
    ),
    "groups of records": (
        lambda groups: ogive.release(
            ogive.Grouped(ogive.Mean("x", (0, 1)), "g", (0, 1)),
            trust=ogive.Central({"x": SHARES, "g": groups}),
            privacy=PRIVACY,
        ),
        TRUTH,
    ),
    "persons of records": (
        lambda persons: ogive.release(
            ogive.Mean("x", (0, 1)), trust=ogive.Central({"x": SHARES, "p": persons}, person="p"), privacy=PRIVACY
        ),
        np.arange(N),
    ),
    "records of a party": (
        lambda values: ogive.release(
            ogive.Mean("x", (0, 1)),
            trust=ogive.SecAgg([{"x": values}, {"x": SHARES}, {"x": SHARES}]),
            privacy=PRIVACY,
        ),
        SHARES,
    ),
    "counts of a strategy": (
        lambda counts: ogive.design_tree(N, privacy=PRIVACY, adjacency=ogive.Adjacency.REPLACE).measure(counts),
        np.full(N, 9),
    ),
} | {kind.function: (of_columns(kind), TRUTH) for kind in NEW}


def learner():
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression()


def teachers(rows=PAIRS, labels=TRUTH):
    return pate.train_teachers(learner(), rows, labels, partition=pate.partition(PAIRS, 2, seed=1), classes=2, jobs=1)


def masking(values, hidden):
    """The array with its second half masked, or nothing of it."""
    return np.ma.array(
        values, mask=np.arange(values.size).reshape(values.shape) >= values.size / 2 if hidden else False
    )


def refused(call, values):
    with pytest.raises(ogive.OgiveError, match=r"masked|missing") as caught:
        call(masking(values, hidden=True))
    assert "\n" not in str(caught.value)


def test_every_function_of_arrays_is_in_the_table():
    tried = {name.split(" ")[0] for name in TAKERS} | {"count"}  # which has a test of its own
    assert {kind.function for kind in COMMANDED.values()} | {"curve_from_counts"} <= tried


@pytest.mark.parametrize("name", TAKERS)
@pytest.mark.filterwarnings("ignore")
def test_masked_values_are_refused_in_one_line_and_a_mask_of_nothing_is_no_mask(name):
    call, values = TAKERS[name]
    call(values)
    call(masking(values, hidden=False))
    refused(call, values)


def listed(values):
    """The rows of an array as lists, with `numpy.ma.masked` where something is masked."""
    return [each if np.ndim(each) == 0 else listed(each) for each in values]


NO_LISTS = {"ustatistic of a list", "answered of a cost", "features of teachers", "inputs of a student",
            "rows of reports"}  # fmt: skip
"""Those that ask something of an array that a list has not."""


@pytest.mark.parametrize("name", sorted(set(TAKERS) - NO_LISTS))
@pytest.mark.filterwarnings("ignore")
def test_what_stands_for_a_masked_value_in_a_list_is_refused_in_one_line(name):
    call, values = TAKERS[name]
    with pytest.raises(ogive.OgiveError) as caught:
        call(listed(masking(values, hidden=True)))
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore")
def test_what_stands_for_a_masked_value_of_a_group_in_a_list_is_missing():
    options = {"bounds": (0, 100), "missing": "drop", "adjacency": "add_or_remove", "trust": ogive.Clear}
    for values in ([1, 2, np.ma.masked], np.ma.array([1, 2, 3], mask=[False, False, True])):
        found = ogive.boxplot({"u": values, "v": [3.0, 4.0]}, **options)
        assert [found[name].records for name in "uv"] == [2, 2]


def test_a_function_that_takes_what_is_masked_for_values_is_seen():
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        refused(lambda values: np.asarray(values).sum(), NUMBERS)


@pytest.mark.filterwarnings("ignore")
def test_groups_and_rows_of_masked_arrays_are_as_those_of_arrays_with_missing_values():
    options = {"missing": "low", "adjacency": "add_or_remove", "trust": ogive.Clear}
    for call, values in (
        (lambda values: ogive.boxplot({"u": values, "v": NUMBERS}, bounds=(0, 100), **options), NUMBERS),
        (
            lambda rows: ogive.ustatistic(rows, "kendall", bounds=((0, 1), (0, 1)), bins=8, **options),
            PAIRS,
        ),
    ):
        masked = masking(values, hidden=True)
        assert str(call(masked)) == str(call(masked.filled(np.nan))) != str(call(values))


@pytest.mark.filterwarnings("ignore")
def test_what_is_masked_is_not_counted():
    assert ogive.count(masking(NUMBERS, hidden=True), trust=ogive.Clear).value == N / 2


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        (NUMBERS, np.nan),
        (np.arange(N).astype("datetime64[D]").astype("datetime64[ns]"), np.datetime64("NaT")),
        (np.arange(N), None),
    ],
)
def test_an_owner_who_masks_a_value_reports_it_as_missing(values, missing):
    numbers = values.dtype.kind != "M"
    bounds = (0, N) if numbers else (datetime.date(1970, 1, 1), datetime.date(1970, 2, 1))
    column = Binning("x", ogive.Grid.linear(*bounds, bins=8), missing="low")
    hidden = np.arange(N) >= N / 2
    plain = values.astype(object) if missing is None else values.copy()
    plain[hidden] = missing
    masked = np.ma.array(values, mask=hidden)
    assert np.array_equal(numbers_of(column, masked), numbers_of(column, plain))
    assert not np.array_equal(numbers_of(column, masked), numbers_of(column, values))


def test_a_masked_value_in_a_list_is_missing():
    words = np.ma.array(["a", "b", "b"], mask=[False, False, True])
    found = ogive.histogram(list(words), values=("a", "b"), missing="count", trust=ogive.Clear)
    assert list(found.counts) == [1, 1, 1]


def test_a_group_without_masked_values_may_stand_beside_one_with_them():
    groups = {"u": np.ma.array([1, 2], mask=[False, True]), "v": [3.0, 4.0]}
    found = ogive.boxplot(groups, bounds=(0, 100), missing="drop", adjacency="add_or_remove", trust=ogive.Clear)
    assert [found[name].records for name in groups] == [1, 2]
