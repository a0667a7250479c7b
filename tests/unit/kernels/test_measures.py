"""Measures: printed values, derivatives, what is not defined, names and plain data."""

import json
import math
import re

import numpy as np
import pytest

from ogive import DataError, Grid, ParameterError, kernels
from ogive.columns import Binning, Categories, Domain, Label
from ogive.kernels import FunctionKernel, Kernel, Mean, Measure, Value, measure_from_dict, measure_of

ONE = Domain((Binning("x", Grid.linear(0, 10, bins=4)),))
TWO = Domain((*ONE.columns, Binning("z", Grid.linear(0, 10, bins=4))))
LABELED = Domain((*ONE.columns, Label("y")))
LISTED = Domain((Categories("c", ("a", "b", "c", "d")),))
DOMAINS = {
    "auc": ONE,
    "auc_private": LABELED,
    "collision": LISTED,
    "collision_probability": LISTED,
    "gamma": TWO,
    "gini": ONE,
    "gini_coefficient": ONE,
    "kendall": TWO,
    "kendall_b": TWO,
    "variance": ONE,
    "vus": ONE,
}
MEANS = np.array([0.3, 0.7, 0.6])


@pytest.mark.parametrize("name", sorted(kernels.MEASURES))
def test_gradients_are_those_of_small_changes(name):
    measure = measure_of(name)
    means, step = MEANS[: len(measure.kernels)], 1e-6
    for corrected in (None, 7):
        value = measure.of(means, columns=DOMAINS[name], records=corrected)
        for place in range(len(means)):
            change = np.zeros(len(means))
            change[place] = step
            ends = [
                measure.of(means + sign * change, columns=DOMAINS[name], records=corrected).value for sign in (1, -1)
            ]
            assert value.gradient[place] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6, abs=1e-9)
        assert value.gradient.shape == means.shape
        assert not value.clipped


@pytest.mark.parametrize("name", sorted(kernels.MEASURES))
def test_every_name_is_a_measure_that_plain_data_brings_back(name):
    measure = measure_of(name)
    assert isinstance(measure, Measure)
    assert measure.name == name
    assert all(isinstance(kernel, Kernel) for kernel in measure.kernels)
    assert measure_from_dict(json.loads(json.dumps(measure.to_dict()))) == measure
    measure.check(DOMAINS[name])
    assert hash(measure) == hash(measure_of(name))


def test_the_printed_values():
    """Methods file, section 12, rows 21 to 23."""
    pairs = np.array([[1, 1], [2, 3], [2, 2], [3, 3], [4, 2]], dtype=np.float64)
    assert measure_of("kendall").exact(pairs) == 0.3
    assert measure_of("kendall_b").exact(pairs) == pytest.approx(0.3535533906, abs=1e-10)
    incomes = np.array([[1.0], [2], [4], [7]])
    assert measure_of("gini").exact(incomes) == pytest.approx(10 / 3, abs=1e-14)
    assert measure_of("gini_coefficient").exact(incomes) == pytest.approx(0.3571428571, abs=1e-10)
    assert measure_of("gini_coefficient", corrected=True).exact(incomes) == pytest.approx(0.4761904762, abs=1e-10)
    letters = np.array([[0.0], [0], [1], [1], [1], [2]])
    assert measure_of("collision").exact(letters) == pytest.approx(math.log(15 / 4), abs=1e-14)
    assert measure_of("collision_probability").exact(letters) == pytest.approx(4 / 15, abs=1e-15)


def test_the_coefficient_is_that_of_the_lorenz_curve():
    """One less twice the area under the Lorenz curve of the records, by trapezoids."""
    incomes = np.sort(np.random.default_rng(5).exponential(size=200))
    lorenz = np.concatenate([[0], np.cumsum(incomes)]) / incomes.sum()
    area = (lorenz[1:] + lorenz[:-1]).sum() / 2 / len(incomes)
    assert measure_of("gini_coefficient").exact(incomes[:, None]) == pytest.approx(1 - 2 * area, abs=1e-12)
    means = np.array([kernel.exact(incomes[:, None]) for kernel in measure_of("gini_coefficient").kernels])
    unknown = measure_of("gini_coefficient").of(means, columns=ONE, records=None)
    corrected = measure_of("gini_coefficient", corrected=True).of(means, columns=ONE, records=200)
    assert unknown.value == corrected.value == pytest.approx((1 - 2 * area) * 200 / 199, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("gini_coefficient", (1.0, 0.0)),
        ("gini_coefficient", (1.0, -2.0)),
        ("kendall_b", (0.1, 0.0, 1.0)),
        ("kendall_b", (0.1, 0.5, -0.1)),
        ("gamma", (0.0, 0.0)),
        ("auc_private", (0.5, -0.2)),
        ("collision", (math.nan,)),
        ("auc_private", (0.5, math.nan)),
    ],
)
def test_what_is_not_defined_is_nan(name, means):
    value = measure_of(name).of(np.array(means), columns=DOMAINS[name], records=5)
    assert math.isnan(value.value)
    assert np.isnan(value.gradient).all()
    assert len(value.gradient) == len(means)


def test_records_that_leave_a_measure_undefined_give_nan():
    constant = np.array([[1.0, 1], [1, 2], [1, 3]])
    assert math.isnan(measure_of("kendall_b").exact(constant))
    assert math.isnan(measure_of("gamma").exact(constant))
    assert math.isnan(measure_of("auc_private").exact(constant[:, ::-1]))
    assert measure_of("kendall").exact(constant) == 0
    assert math.isnan(measure_of("gini_coefficient").exact(np.zeros((3, 1))))
    assert measure_of("collision").exact(np.arange(3.0)[:, None]) == math.inf
    with pytest.raises(DataError, match="at least two records"):
        measure_of("gamma").exact(constant[:1])


@pytest.mark.parametrize(
    ("noisy", "used"), [(-0.2, 0.25), (0.1, 0.25), (0.25, 0.25), (0.5, 0.5), (1.0, 1.0), (1.3, 1.0)]
)
def test_a_collision_probability_is_moved_to_where_probabilities_are(noisy, used):
    value = measure_of("collision").of(np.array([noisy]), columns=LISTED, records=None)
    assert value.value == pytest.approx(-math.log(used))
    assert value.gradient.tolist() == [-1 / used]
    assert value.clipped == (noisy != used)


def test_a_gini_coefficient_needs_values_from_zero_on():
    below = Domain((Binning("x", Grid.linear(-1, 10, bins=4)),))
    with pytest.raises(ParameterError, match="needs values from 0 on, but the lower bound is -1"):
        measure_of("gini_coefficient").check(below)
    measure_of("gini").check(below)


@pytest.mark.parametrize(
    ("name", "domain"), [("kendall_b", ONE), ("gamma", ONE), ("collision", ONE), ("auc_private", TWO)]
)
def test_measures_refuse_domains_that_do_not_fit(name, domain):
    with pytest.raises(ParameterError):
        measure_of(name).check(domain)


def test_ranks_of_labels_and_categories_are_theirs_in_the_list():
    measure_of("gamma").check(LABELED)
    domain = Domain((Categories("a", ("low", "high")), Categories("b", ("bad", "fair", "good"))))
    found = measure_of("kendall").kernels[0].matrix(domain)
    assert found[0].tolist() == [0, 0, 0, 0, 1, 1]
    assert found[2].tolist() == [0, 0, 0, -1, -1, 0]


def test_kernels_measures_and_functions_are_taken_as_they_are():
    kernel = kernels.RankingLoss((1.0,), 2.0)
    assert measure_of(kernel) == Mean(kernel)
    assert measure_of(kernel).name == "ranking"
    assert measure_of(Mean(kernel, "risk")).name == "risk"
    assert measure_of(abs_difference, range=(0, 1)) == Mean(FunctionKernel(abs_difference, "abs_difference", (0, 1)))
    assert measure_of(abs_difference, range=(0, 1), name="gap").name == "gap"
    assert measure_of(Mean(kernel)).of(np.array([0.5]), columns=LABELED, records=3) == Value(0.5, np.ones(1))


def abs_difference(x, y):
    return abs(x - y)


@pytest.mark.parametrize(
    ("asked", "options", "message"),
    [
        ("ginni", {}, "unknown kernel 'ginni'; there are .auc., .auc_private., .collision."),
        ("gini", {"ties": "half"}, "gini has no option ties"),
        ("gini", {"range": (0, 1)}, "only a function has its range, name and circuit stated"),
        ("auc", {"ties": "some"}, "ties must be half or strict"),
        ("gini_coefficient", {"corrected": 1}, "corrected must be True or False, got 1"),
        ("vus", {"classes": 11}, "classes must be a whole number from 2 to 10"),
        (abs_difference, {}, "state the range of a function"),
        (kernels.Equal(), {"ties": "half"}, "only measures asked for by name have options"),
        (kernels.Equal, {}, r"pass a kernel, not its class: Equal\(...\)"),
        (kernels.Gamma, {}, r"pass a kernel, not its class: Gamma\(...\)"),
        (7, {}, "a measure must be a name, a kernel, a measure or a function, got int"),
    ],
)
def test_what_is_no_measure_is_refused(asked, options, message):
    with pytest.raises(ParameterError, match=message):
        measure_of(asked, **options)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "a measure must be an object"),
        ({"measure": 3}, "a measure must be an object"),
        ({"measure": "tau"}, "unknown measure 'tau'"),
        ({"measure": "gamma", "ties": "half"}, "measure 'gamma' has wrong fields"),
        ({"measure": "mean"}, "a mean must have a name and a kernel"),
        ({"measure": "mean", "name": "x", "kernel": "equal"}, "a kernel must be an object"),
        ({"measure": "mean", "name": "x", "kernel": {"kernel": "abs"}}, "unknown kernel 'abs'"),
        ({"measure": "mean", "name": "x", "kernel": {"kernel": "equal", "ties": 1}}, "kernel 'equal' has wrong fields"),
        ({"measure": "mean", "name": "x", "kernel": {"kernel": "function"}}, "cannot be rebuilt from a description"),
    ],
)
def test_damaged_data_are_refused(data, message):
    with pytest.raises(ParameterError, match=message):
        measure_from_dict(data)


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.Untied((0, 1)),
        kernels.InOrder(4),
        kernels.Greater("strict"),
        kernels.RankingLoss((1.0, 2.0), 3.0, "hinge"),
        kernels.MetricLoss(((2.0, 0.5), (0.5, 1.0)), 1.5, 4.0),
        kernels.ClusteringLoss(((0.0, 1.0), (2.0, 3.0)), 5.0),
    ],
    ids=lambda kernel: kernel.name,
)
def test_kernels_come_back_from_plain_data(kernel):
    assert isinstance(kernel, Kernel)
    assert kernels.kernel_from_dict(json.loads(json.dumps(kernel.to_dict()))) == kernel


MADE = {
    "clustering": kernels.ClusteringLoss(((0.0, 0.0), (1.0, 1.0)), 1.0),
    "metric": kernels.MetricLoss(((1.0,),), 1.5, 2.0),
    "ranking": kernels.RankingLoss((1.0,), 2.0),
    "function": FunctionKernel(lambda x, y: abs(x - y), "f", (0, 9)),
}
WIDTH = {"kendall": 2, "kendall_b": 2, "gamma": 2, "auc_private": 2, "clustering": 2, "metric": 2, "ranking": 2}


@pytest.mark.parametrize("name", [*kernels.MEASURES, *MADE])
def test_exact_values_of_what_is_no_rows_are_refused_in_one_line(name):
    measure = measure_of(MADE.get(name, name))
    width = WIDTH.get(name, 1)
    rows = [[0.0, 1.0, 2.0][:width], [3.0, 0.0, 2.0][:width], [1.0, 1.0, 0.0][:width]]
    classes = np.array([0, 1, 2] if name == "vus" else [0, 1, 1])
    found = measure.exact(np.array(rows), classes)
    assert measure.exact(rows, classes) == found
    assert measure.exact(rows, classes.tolist()) == found
    hint = re.escape(
        "rows must be of shape (records, columns), got shape (3,); numpy.reshape(rows, (-1, 1)) makes rows"
    )
    for wrong, message in (
        (np.arange(3.0), hint),
        ([1, 2, 3], hint),
        (np.zeros((3, 1, 1)), r"got shape \(3, 1, 1\)$"),
        ([[1.0], [1.0, 2.0], [3.0]], "rows must be numbers, as many in each row"),
        (["a", "b", "c"], "rows must be numbers"),
    ):
        with pytest.raises(ParameterError, match=message):
            measure.exact(wrong, classes)
    for value in (math.nan, math.inf):
        wrong = np.array(rows)
        wrong[1, -1] = value
        with pytest.raises(DataError, match="row 1, counted from 0, has a number that is not finite"):
            measure.exact(wrong, classes)
    if name not in ("collision", "collision_probability", "function"):
        for other in {0, 3} - {width}:
            with pytest.raises(ParameterError, match="rows must have"):
                measure.exact(np.ones((3, other)), classes)


def test_classes_of_two_samples_are_checked():
    rows = np.array([[1.0], [2.0], [3.0]])
    for classes in (None, [0, 1], [0, 1, 2], [[0, 1, 1]], ["a", "b", "b"]):
        with pytest.raises(ParameterError, match="needs the class of each record, 0 or 1"):
            measure_of("auc").exact(rows, classes)
    for classes in (["a", "b", "c"], [0.0, 1.0, 2.0]):
        with pytest.raises(ParameterError, match="classes must be whole numbers, got an array of"):
            measure_of("vus").exact(rows, classes)
