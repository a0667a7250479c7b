"""Functions as kernels: called as they can be, refused where they would mislead, estimated with a stated error."""

import math

import numpy as np
import pytest
from helpers.pairs import integrated, mean_over_pairs, tried_extremes
from helpers.scope import size

from ogive import Grid, ParameterError
from ogive.columns import Binning, Categories, Domain, Label
from ogive.kernels import FunctionKernel
from ogive.kernels.base import draws, sampled_means

ONE = Domain((Binning("x", Grid.linear(0, 2, bins=5)),))
TWO = Domain((Binning("x", Grid.geometric(1, 4, bins=2)), Categories("c", ("a", "b", "c"))))


def gap(x, y):
    return abs(x - y)


def branching(x, y):
    return 1.0 if x > y + 1 or y > x + 1 else 0.0


def reducing(x, y):
    """Right for two numbers, and of the right shape but wrong for arrays."""
    return np.abs(np.sum(x) - np.sum(y)) + 0 * (x + y)


@pytest.mark.parametrize(
    ("function", "bounds", "domain"),
    [
        (gap, (0, 2), ONE),
        (branching, (0, 1), ONE),
        (reducing, (0, 2), ONE),
        (lambda x, y: 1, (0, 2), ONE),
        (lambda x, y: max(x, y), (0, 2), ONE),
        (lambda a, b: (a[0] > b[0]) == (a[1] > b[1]), (0, 1), Domain((TWO.columns[0], Categories("c", ("a",))))),
        (lambda a, b: math.hypot(a[0] - b[0], a[1] - b[1]), (0, 5), TWO),
        (lambda a, b: np.hypot(a[0] - b[0], a[1] - b[1]), (0, 5), TWO),
    ],
    ids=["arrays", "branches", "reduces", "constant", "maximum", "comparisons", "numbers", "columns"],
)
def test_functions_of_numbers_and_of_arrays_are_called_rightly(function, bounds, domain):
    kernel = FunctionKernel(function, "f", bounds)
    generator = np.random.default_rng(1)
    rows = np.stack([generator.uniform(1, 2, 9) for _ in domain.columns], axis=-1)
    one_by_one = [[float(function(*(row if len(row) > 1 else row[0] for row in (x, y)))) for y in rows] for x in rows]
    np.testing.assert_array_equal(kernel(rows[:, None], rows[None]), one_by_one)
    assert kernel(rows[0], rows[1]) == one_by_one[0][1]
    assert kernel.exact(rows) == pytest.approx(mean_over_pairs(kernel, rows))


def test_numbers_are_plain_floats_and_several_are_an_array():
    """So that sets, dictionaries and whatever else plain Python does with numbers can be used."""
    kinds = set()

    def pair(x, y):
        kinds.add((type(x), type(y)))
        return float({x, y} == {0.5, 2.0})

    kernel = FunctionKernel(pair, "pair", (0, 1))
    kernel.check(ONE)
    rows = np.array([[0.5], [2.0], [1.0]])
    assert kernel(rows[:, None], rows[None]).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert kernel.pair_sum(rows, ONE, bits=1) == 2
    assert (float, float) in kinds
    assert {kind for kind in kinds if kind[0] is not np.ndarray} == {(float, float)}
    distance = FunctionKernel(lambda a, b: np.linalg.norm(a - b), "distance", (0, 5))
    both = np.array([[1.0, 0.0], [4.0, 2.0]])
    assert distance(both[0], both[1]) == math.hypot(3, 2)
    distance.check(TWO)


def test_what_a_function_says_of_records_is_not_repeated():
    def secretive(x, y):
        if x == 1.2345:
            raise ValueError(f"{x} is not allowed")
        return 1.0 if x < y else float(x > y)

    rows = np.array([[1.2345], [0.0], [1.0]])
    assert FunctionKernel(secretive, "f", (0, 1)).pair_sum(rows, ONE, bits=1) == 2, "0 and 1 alone, in halves"
    with pytest.raises(ParameterError, match="f fails with ValueError on two records") as caught:
        FunctionKernel(secretive, "f", (0, 1))(rows[0], rows[1])
    assert "1.2345" not in str(caught.value)


def test_functions_that_take_arrays_are_called_a_few_times_only():
    calls = []

    def counted(x, y):
        calls.append(np.size(x))
        return np.abs(x - y)

    FunctionKernel(counted, "counted", (0, 2))(np.zeros((500, 1, 1)), np.ones((1, 500, 1)))
    assert len(calls) < 20
    assert max(calls) == 250_000


@pytest.mark.parametrize(
    ("function", "bounds", "message"),
    [
        (lambda x, y: x - y, (-2, 2), r"f is not symmetric: .*; symmetrize it"),
        (gap, (0, 1), "f leaves its range 0 to 1 .*; state a wider range"),
        (gap, (0.5, 2), "leaves its range 0.5 to 2"),
        (lambda x, y: math.nan, (0, 1), "f gives values that are not numbers on the domain"),
        (
            lambda x, y: x.mean(),
            (0, 1),
            r"f fails with AttributeError on .*no attribute 'mean'\); it must take",
        ),
        (lambda x: x, (0, 1), "f fails with TypeError on .*takes 1 positional argument but 2"),
        (lambda x, y: "high", (0, 1), "f fails with ValueError on .*string to float: 'high'"),
        (lambda x, y: None, (0, 1), "f fails with TypeError on .*not 'NoneType'"),
        (lambda x, y: 1 / (x - y), (0, 1), r"f fails with ZeroDivisionError on .*domain \("),
    ],
    ids=["asymmetric", "too-high", "too-low", "nan", "failing", "unary", "text", "nothing", "undefined"],
)
def test_functions_that_mislead_are_refused(function, bounds, message):
    kernel = FunctionKernel(function, "f", bounds)
    with pytest.raises(ParameterError, match=message):
        kernel.check(ONE)
    with pytest.raises(ParameterError, match=message):
        kernel.matrix(ONE)


def test_an_asymmetry_between_bounds_alone_is_seen():
    with pytest.raises(ParameterError, match="not symmetric"):
        FunctionKernel(lambda x, y: 1.0 * ((x == 0) & (y == 2)), "edge", (0, 1)).check(ONE)


@pytest.mark.parametrize(
    "domain",
    [
        Domain((Binning("x", Grid.integers(0, 63)),)),
        Domain((Categories("c", tuple(range(16))), Binning("z", Grid.integers(0, 3)))),
    ],
    ids=["one", "two"],
)
def test_all_pairs_of_a_small_domain_of_points_are_tried(domain):
    """A single wrong pair of 64 points is found, wherever it is."""
    rows = np.array([[i, j] for i in range(16) for j in range(4)], dtype=float)
    places = rows if len(domain.columns) > 1 else np.arange(64.0)[:, None]
    for first, second in ((0, 1), (37, 12), (62, 63)):
        x, y = places[first], places[second]

        def directed(a, b, x=x, y=y):
            return float(np.array_equal(np.atleast_1d(a), x) and np.array_equal(np.atleast_1d(b), y))

        with pytest.raises(ParameterError, match="f is not symmetric"):
            FunctionKernel(directed, "f", (0, 1)).check(domain)
        with pytest.raises(ParameterError, match="f leaves its range"):
            FunctionKernel(lambda a, b: directed(a, b) + directed(b, a), "f", (0, 0.5)).check(domain)
        FunctionKernel(lambda a, b: directed(a, b) + directed(b, a), "f", (0, 1)).check(domain)


@pytest.mark.parametrize("domain", [ONE, Domain((Binning("x", Grid.integers(0, 2)),))], ids=["wide", "points"])
def test_a_lipschitz_constant_that_trial_points_refute_is_refused(domain):
    for constant in (0.1, 0.99):
        with pytest.raises(ParameterError, match=r"dd changes by .* which its Lipschitz constant .* does not allow"):
            FunctionKernel(gap, "dd", (0, 2), constant).check(domain)
    FunctionKernel(gap, "dd", (0, 2), 1).check(domain)


def test_a_constant_that_is_false_for_near_points_alone_is_refused():
    def waves(a, b):
        return (np.sin(1500 * a[0]) + np.sin(1500 * b[0])) / 1500

    square = Domain(tuple(Binning(name, Grid.linear(0, 2, bins=5)) for name in "xz"))
    with pytest.raises(ParameterError, match=r"waves changes by .* which its Lipschitz constant 0.2 does not allow"):
        FunctionKernel(waves, "waves", (-1, 1), 0.2).check(square)
    FunctionKernel(waves, "waves", (-1, 1), 1).check(square)
    # of several columns, distances are Euclidean, and numbers of categories are a step apart
    FunctionKernel(lambda a, b: np.linalg.norm(a - b), "far", (0, 5), 1).check(TWO)
    with pytest.raises(ParameterError, match="does not allow"):
        FunctionKernel(lambda a, b: abs(a[1] - b[1]), "categories", (0, 5), 0.9).check(TWO)


@pytest.mark.parametrize("bounds", [(1, 0), (0, 0), (0, math.inf), (math.nan, 1), (0,), "ab", None])
def test_ranges_must_be_two_finite_numbers_in_order(bounds):
    with pytest.raises(ParameterError, match="the range of a function must be two"):
        FunctionKernel(gap, "gap", bounds)


def test_other_parameters_are_checked():
    with pytest.raises(ParameterError, match="function must be a function of two records, got str"):
        FunctionKernel("gap", "gap", (0, 1))
    with pytest.raises(ParameterError, match="name a function"):
        FunctionKernel(gap, "", (0, 1))
    with pytest.raises(ParameterError, match="a Lipschitz constant must be above 0"):
        FunctionKernel(gap, "gap", (0, 1), 0)


def test_values_of_records_never_leave_the_range():
    """A function may do on records what it did not do on the points that were tried."""

    def extreme(x, y):
        return np.where(x + y > 3.9999, np.inf, np.where(x + y < 1e-4, np.nan, 0.5))

    kernel = FunctionKernel(extreme, "f", (0, 1))
    rows = np.array([[0.0], [1], [2]])
    assert kernel(rows, rows).tolist() == [0, 0.5, 1]
    assert kernel.pair_sum(np.full((3, 1), 2.0), ONE, bits=4) == 3 * 16


def test_public_points_alone_decide_how_sums_are_computed(monkeypatch):
    """A record must not choose how the pairs of others are computed."""
    seen = []
    check = FunctionKernel._same_in_arrays

    def watched(self, left, right):
        seen.append((left.tobytes(), right.tobytes()))
        return check(self, left, right)

    monkeypatch.setattr(FunctionKernel, "_same_in_arrays", watched)
    for value in (0.0, 2.0):
        FunctionKernel(gap, "gap", (0, 2)).pair_sum(np.full((5, 1), value), ONE)
    assert len(seen) == 2
    assert seen[0] == seen[1]


def test_records_that_are_alike_do_not_hide_that_arrays_are_misread():
    kernel = FunctionKernel(reducing, "reducing", (0, 2))
    rows = np.zeros((60, 1))
    rows[7] = 2.0
    assert kernel.pair_sum(rows, ONE, bits=4) == 59 * 16
    assert kernel(rows[:, None], rows[None]).sum() == 2 * 59 * 2


def test_arrays_of_a_wrong_shape_are_refused():
    kernel = FunctionKernel(lambda x, y: abs(x - y) if np.size(x) < 5000 else np.zeros(3), "f", (0, 2))
    with pytest.raises(ParameterError, match="f gives an array of a wrong shape; it must give a number for every pair"):
        kernel(np.zeros((80, 1, 1)), np.zeros((1, 80, 1)))
    assert kernel.pair_sum(np.zeros((80, 1)), ONE) == 0, "on records it counts as the lower bound"


SMOOTH = FunctionKernel(lambda x, y: np.exp(-((x - y) ** 2)), "bell", (0, 1))


def test_averages_are_within_their_stated_errors():
    means, errors = sampled_means(SMOOTH, ONE)
    exact = integrated(SMOOTH, ONE, count=size(60, part=20))
    assert np.all(np.abs(means - exact) < 5 * errors)
    assert errors.max() < 0.01
    # a kernel a tenth away from this one is told apart
    assert np.all(np.abs(means * 1.1 - exact)[errors > 0] > 5 * errors[errors > 0])
    matrix = SMOOTH.matrix(ONE)
    np.testing.assert_array_equal(matrix, matrix.T)


def test_points_are_not_sampled():
    domain = Domain((Binning("x", Grid.integers(0, 3)), Label("y")))
    kernel = FunctionKernel(lambda a, b: abs(a[0] - b[0]) + (a[1] == b[1]), "f", (0, 4))
    means, errors = sampled_means(kernel, domain)
    rows = np.array([[x, y] for x in range(4) for y in (0, 1)], dtype=np.float64)
    np.testing.assert_array_equal(means, [[abs(x[0] - y[0]) + (x[1] == y[1]) for y in rows] for x in rows])
    assert not errors.any()
    assert not kernel.spread(domain).any()


def spike(x, y):
    """A peak that no trial point hits."""
    return float({x, y} == {0.3, 0.5})


def test_extremes_between_wide_cells_are_the_range_unless_a_constant_bounds_them():
    kernel = FunctionKernel(spike, "spike", (0, 1))
    assert not kernel.matrix(ONE).any()
    least, most = kernel.cell_extremes(ONE)
    assert np.all(least == 0)
    assert np.all(most == 1)
    assert np.all(kernel.spread(ONE) == 0.25)
    bell = FunctionKernel(SMOOTH.function, "bell", (0, 1), constant=math.sqrt(2 / math.e))
    lowest, highest = bell.cell_extremes(ONE)
    low, high = tried_extremes(SMOOTH, ONE, count=5)
    assert np.all(lowest <= low)
    assert np.all(highest >= high)
    assert np.all(highest - lowest <= 2 * bell.constant * 0.4 + 1e-12)
    assert np.all(lowest >= 0)
    assert np.all(highest <= 1)
    assert bell.spread(ONE).max() < SMOOTH.spread(ONE).min() == 0.25
    assert bell.lipschitz(ONE) == math.sqrt(2 / math.e)


def test_between_points_extremes_are_values():
    points = Domain((Binning("x", Grid.integers(0, 4)),))
    for constant in (None, 1.0):
        least, most = FunctionKernel(gap, "gap", (0, 4), constant).cell_extremes(points)
        np.testing.assert_array_equal(least, np.abs(np.subtract.outer(range(5), range(5))))
        np.testing.assert_array_equal(least, most)


def test_the_digest_tells_two_functions_of_one_name_apart():
    one, other = FunctionKernel(gap, "f", (0, 2)), FunctionKernel(lambda x, y: gap(x, y) / 2, "f", (0, 2))
    assert (
        one.to_dict() == other.to_dict() == {"kernel": "function", "name": "f", "bounds": [0.0, 2.0], "constant": None}
    )
    digest = one.digest(ONE)
    assert digest != other.digest(ONE)
    assert digest == FunctionKernel(lambda x, y: abs(y - x), "f", (0, 2)).digest(ONE)


def test_small_domains_are_sampled_more():
    large = Domain((Binning("x", Grid.linear(0, 1, bins=2000)),))
    assert draws(ONE) == 1024
    assert draws(large) == 16
    assert draws(ONE, slow=True) == 1024
    assert draws(Domain((Binning("x", Grid.linear(0, 1, bins=40)),)), slow=True) == 81
