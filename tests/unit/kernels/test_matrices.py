"""Closed forms of kernels between cells agree with numerical integration and with trying points, on any grid."""

import numpy as np
import pytest
from helpers.pairs import debiased, integrated, tried_extremes
from helpers.scope import size

from ogive import Grid, ParameterError, kernels
from ogive.columns import Binning, Categories, Domain, Label
from ogive.kernels import base

COLUMNS = {
    "linear": Binning("x", Grid.linear(-2, 7, bins=3)),
    "geometric": Binning("x", Grid.geometric(1, 8, bins=3)),
    "explicit": Binning("x", Grid.explicit([1.0, 1.5, 4.0], low=1.0)),
    "integers": Binning("x", Grid.integers(3, 6)),
    "categories": Categories("x", ("low", "middle", "high")),
    "label": Label("x", ("yes",), ("no",)),
}
NUMBERS = [name for name in COLUMNS if name not in ("categories", "label")]
POINTS = ["integers", "categories", "label"]
ONE_COLUMN = (
    [
        (kernel(), name)
        for kernel in (kernels.AbsoluteDifference, kernels.HalfSquare, kernels.PairMeanKernel)
        for name in NUMBERS
    ]
    + [(kernels.Greater(ties), name) for ties in ("half", "strict") for name in COLUMNS]
    + [(kernels.Untied(), name) for name in COLUMNS]
    + [(kernels.Equal(), name) for name in POINTS]
)
SECOND = {name: type(column)(*("z", *list(vars(column).values())[1:])) for name, column in COLUMNS.items()}
TWO_COLUMNS = [
    (kernel, first, second)
    for first, second in (("linear", "explicit"), ("explicit", "categories"), ("integers", "geometric"))
    for kernel in (kernels.SignProduct(), kernels.Untied((0, 1)), kernels.Untied((1,)), kernels.Untied((0,)))
] + [(kernels.ScoreOrder(ties), first, "label") for first in COLUMNS for ties in ("half", "strict")]
CASES = [(kernel, Domain((COLUMNS[name],))) for kernel, name in ONE_COLUMN]
CASES += [(kernel, Domain((COLUMNS[first], SECOND[second]))) for kernel, first, second in TWO_COLUMNS]


def words(value):
    if isinstance(value, Domain):
        return "-".join(
            getattr(getattr(column, "grid", None), "kind", type(column).__name__) for column in value.columns
        )
    return "-".join(str(part) for part in value.to_dict().values())


@pytest.mark.parametrize(("kernel", "domain"), CASES, ids=words)
def test_averages_are_integrals(kernel, domain):
    low, high = kernel.range(domain)
    count = size(40, part=20) if len(domain.columns) == 1 else size(6, part=5)
    found = kernel.matrix(domain)
    # a midpoint rule is off by O(1/count) of the range where the kernel has a kink or jumps, and far less elsewhere
    np.testing.assert_allclose(found, integrated(kernel, domain, count=count), atol=(high - low) / count**2)


@pytest.mark.parametrize(("kernel", "domain"), CASES, ids=words)
def test_midpoints_and_spreads_are_of_the_extremes(kernel, domain):
    least, most = tried_extremes(
        kernel, domain, count=size(24, part=12) if len(domain.columns) == 1 else size(4, part=3)
    )
    low, high = kernel.range(domain)
    np.testing.assert_allclose(kernel.matrix(domain, "midpoint"), (least + most) / 2, atol=1e-7 * (high - low))
    np.testing.assert_allclose(kernel.spread(domain), ((most - least) / 2) ** 2, atol=1e-7 * (high - low) ** 2)
    assert least.min() >= low - 1e-9
    assert most.max() <= high + 1e-9


@pytest.mark.parametrize("name", ["linear", "geometric", "integers"])
def test_nodes_are_values_at_nodes(name):
    domain = Domain((COLUMNS[name],))
    nodes = COLUMNS[name].grid.nodes
    found = kernels.AbsoluteDifference().matrix(domain, "nodes")
    assert found.tolist() == [[abs(x - y) for y in nodes] for x in nodes]
    assert base.domain_nodes(Domain((COLUMNS[name], SECOND["label"]))).tolist() == [
        [x, y] for x in nodes for y in (0, 1)
    ]


def test_the_oracles_reject_a_wrong_closed_form():
    domain = Domain((COLUMNS["linear"],))
    wrong = kernels.AbsoluteDifference().matrix(domain)
    np.fill_diagonal(wrong, 9 / 3 / 2)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(wrong, integrated(kernels.AbsoluteDifference(), domain), atol=9 / 40**2)


@pytest.mark.parametrize("size", [2, 5])
def test_the_uniform_grid_has_the_printed_forms(size):
    """Methods file, section 4.3."""
    domain = Domain((Binning("x", Grid.linear(0, 1, bins=size)),))
    i, j = np.indices((size, size))
    same, far = i == j, abs(i - j)
    gini, variance, greater = kernels.AbsoluteDifference(), kernels.HalfSquare(), kernels.Greater()
    expected = {
        (gini, "average"): np.where(same, 1 / (3 * size), far / size),
        (gini, "midpoint"): np.where(same, 1 / (2 * size), far / size),
        (variance, "average"): np.where(same, 1 / (12 * size**2), (far**2 + 1 / 6) / (2 * size**2)),
        (variance, "midpoint"): np.where(same, 1 / (4 * size**2), (far**2 + 1) / (2 * size**2)),
        (greater, "average"): np.where(same, 0.5, i > j),
        (greater, "midpoint"): np.where(same, 0.5, i > j),
    }
    for (kernel, kind), matrix in expected.items():
        np.testing.assert_allclose(kernel.matrix(domain, kind), matrix, rtol=1e-12)
    np.testing.assert_allclose(gini.spread(domain), np.where(same, 0.25, 1) / size**2, rtol=1e-12)
    np.testing.assert_allclose(variance.spread(domain), np.where(same, 1 / 16, far**2) / size**4, rtol=1e-12)
    np.testing.assert_allclose(greater.spread(domain), same / 4, rtol=1e-12)
    square = Domain((*domain.columns, Binning("z", Grid.linear(0, 1, bins=3))))
    kendall = kernels.SignProduct()
    apart = (np.kron(~same, ~np.eye(3, dtype=bool))) > 0
    np.testing.assert_array_equal(kendall.matrix(square), kendall.matrix(square, "midpoint"))
    np.testing.assert_array_equal(kendall.matrix(square) != 0, apart)
    np.testing.assert_array_equal(kendall.spread(square), ~apart)


def test_the_printed_values_of_three_bins():
    """Methods file, section 12, rows 3 and 4."""
    domain = Domain((Binning("x", Grid.linear(0, 1, bins=3)),))
    gini = kernels.AbsoluteDifference()
    counts = np.array([3, 1, 2])
    midpoint, average = gini.matrix(domain, "midpoint"), gini.matrix(domain)
    assert debiased(counts, midpoint, 1) == pytest.approx(0.7048907083, abs=1e-10)
    assert debiased(counts, average, 1) == pytest.approx(0.7142986055, abs=1e-10)
    collision = kernels.Equal().matrix(Domain((Categories("x", ("a", "b", "c")),)))
    assert debiased(counts, collision, 1) == pytest.approx(-0.1693421485, abs=1e-10)
    exact = (counts @ midpoint @ counts - counts @ np.diag(midpoint)) / 30
    assert exact == pytest.approx(0.4222222222, abs=1e-10)


def test_the_mean_of_averages_is_that_of_uniform_values():
    """Methods file, section 12, row 25: U = 1/3, zeta_1 = 1/180, zeta_2 = 1/18."""
    size = 1000
    domain = Domain((Binning("x", Grid.linear(0, 1, bins=size)),))
    matrix = kernels.AbsoluteDifference().matrix(domain)
    squares = 2 * kernels.HalfSquare().matrix(domain)
    assert matrix.mean() == pytest.approx(1 / 3, abs=1e-12)
    assert np.var(matrix.mean(axis=1)) == pytest.approx(1 / 180, abs=1e-5)
    assert squares.mean() - matrix.mean() ** 2 == pytest.approx(1 / 18, abs=1e-12)


def test_dates_have_distances_in_days():
    domain = Domain((Binning("when", Grid.integers("2024-01-01", "2024-01-05")),))
    assert kernels.AbsoluteDifference().matrix(domain)[0].tolist() == [0, 1, 2, 3, 4]
    assert kernels.AbsoluteDifference().range(domain) == (0, 4)


@pytest.mark.parametrize(
    ("kernel", "names", "message"),
    [
        (kernels.AbsoluteDifference(), ["categories"], "needs distances between values, but column 'x' has categories"),
        (kernels.HalfSquare(), ["label"], "needs distances"),
        (kernels.PairMeanKernel(), ["linear", "linear"], "the mean looks at 1 column, got 2: 'x', 'z'"),
        (kernels.SignProduct(), ["linear"], "Kendall's tau looks at 2 columns, got 1"),
        (
            kernels.Equal(),
            ["linear"],
            r"a bin of column 'x' holds many; .*categories=\('a', 'b'\), or take a grid",
        ),
        (kernels.Untied((0, 2)), ["linear", "label"], "looks at column 2, counted from 0, but there are 2"),
        (kernels.Greater(), ["linear", "label"], "the AUC of two samples looks at 1 column"),
        (kernels.ScoreOrder(), ["linear", "categories"], "column 'z' must have two classes, the positive one last"),
        (kernels.InOrder(), ["linear", "label"], "looks at 1 column"),
    ],
)
def test_domains_that_do_not_fit_are_refused(kernel, names, message):
    domain = Domain((COLUMNS[names[0]], *(SECOND[name] for name in names[1:])))
    with pytest.raises(ParameterError, match=message):
        kernel.check(domain)
    with pytest.raises(ParameterError):
        kernel.matrix(domain)


def test_unknown_kinds_and_large_domains_are_refused():
    with pytest.raises(ParameterError, match="matrix must be one of average, midpoint, nodes, got 'mid'"):
        kernels.Greater().matrix(Domain((COLUMNS["linear"],)), "mid")
    large = Domain((Binning("x", Grid.linear(0, 1, bins=base.MOST_SYMBOLS + 1)),))
    with pytest.raises(ParameterError, match="use fewer bins"):
        kernels.Greater().matrix(large)
    with pytest.raises(ParameterError, match="use fewer bins"):
        kernels.Greater().spread(large)


@pytest.mark.parametrize(
    "kernel", [kernels.AbsoluteDifference(), kernels.HalfSquare(), kernels.PairMeanKernel()], ids=words
)
@pytest.mark.parametrize("name", NUMBERS)
def test_ranges_are_reached_and_lipschitz_constants_are_tight(kernel, name):
    domain = Domain((COLUMNS[name],))
    low, high = base.ends(COLUMNS[name])
    values = np.linspace(low, high, 201)[:, None]
    found = kernel(values[:, None], values[None])
    assert (found.min(), found.max()) == pytest.approx(kernel.range(domain))
    slope = np.abs(np.diff(found, axis=0)).max() / (values[1, 0] - values[0, 0])
    assert slope <= kernel.lipschitz(domain) * (1 + 1e-9)
    assert slope >= kernel.lipschitz(domain) * 0.99
