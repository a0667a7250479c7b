"""What a calibration release costs, by enumerating all neighbors of small tables through the records' own sums."""

import itertools

import numpy as np
import pytest

from ogive.columns import Binning, Label
from ogive.columns.grids import Grid
from ogive.errors import ParameterError
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.privacy import Adjacency, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import GroupSums, GroupSumsQuery
from ogive.records import Records
from ogive.statistics.calibration.statistic import paper_query, sums_query

BITS = 2
ONE = 1 << BITS
# multiples of the fixed-point unit, ends of groups, what lies just above and below one, what is rounded
PROBABILITIES = (0.0, 0.1, 0.25, 0.3, 0.31, 0.5, 0.75, 1.0)
GROUPS = {"one": (1.0,), "two": (0.5, 1.0), "uneven": (0.3, 1.0), "three": (0.25, 0.75, 1.0)}
RECORDS = tuple(itertools.product(PROBABILITIES, (0, 1)))
FORMS = ("counts", "difference")
FAR = 200
EPSILON, RHO = PureDP(3), ZeroConcentratedDP(2)


def groups(name):
    return GroupSums(Binning("p", Grid.explicit(GROUPS[name], low=0), outside="refuse"), Label("y"), BITS)


def design(name, form, granted, adjacency):
    return sums_query(groups(name), form, granted, PrivacyUnit(adjacency))


def tables(most):
    for size in range(1, most + 1):
        yield from itertools.combinations_with_replacement(RECORDS, size)


def neighbors(table, adjacency):
    """All tables in which one record is another, or is not there."""
    for i in range(len(table)):
        rest = table[:i] + table[i + 1 :]
        if adjacency is Adjacency.REPLACE:
            yield from ((*rest, record) for record in RECORDS if record != table[i])
        elif rest:
            yield rest


def changes(query, adjacency, *, most=2, measure=None):
    """Every distinct change of the exact measurements between neighbors."""

    def exact(table):
        table = tuple(sorted(table))
        if table not in known:
            p, y = (np.array(column) for column in zip(*table, strict=True))
            known[table] = query.measure(Records.of({"p": p, "y": y}).aggregate(query.groups)).ravel()
        return known[table]

    known = {}
    measure = measure or exact
    found = set()
    for table in tables(most):
        here = measure(table)
        found.update(tuple((measure(other) - here).tolist()) for other in neighbors(table, adjacency))
    return np.array(sorted(found))


def laws(query):
    """The law of every measurement's noise."""
    size = query.groups.probability.grid.bins
    return [query.expected] * (2 * size) + [query.observed] * (query.levels[1].nodes)


def log_ratios(query, found, rng):
    """Log-ratios of the probabilities of outputs: far out in the direction of a change, where they are largest,
    and at random."""
    far, near = [], []
    for change in found:
        for outputs, into in ((FAR * ONE * np.sign(change), far), (rng.integers(-40, 41, len(change)), near)):
            logs = [
                law.log_probability(np.array([z])) - law.log_probability(np.array([z - d]))
                for law, z, d in zip(laws(query), outputs.tolist(), change.tolist(), strict=True)
            ]
            into.append(abs(float(np.sum(logs))))
    return max(far), max(near)


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", GROUPS)
def test_laplace_sums_cost_exactly_what_is_charged(name, form, adjacency):
    query = design(name, form, EPSILON, adjacency)
    charged = float(query.price(PrivacyUnit(adjacency)).epsilon)
    assert charged == pytest.approx(float(EPSILON.epsilon), rel=1e-8)
    far, near = log_ratios(query, changes(query, adjacency), np.random.default_rng(1))
    assert far == pytest.approx(charged, rel=1e-9)
    assert near <= charged * (1 + 1e-9)


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", GROUPS)
def test_gaussian_sums_cost_exactly_what_is_charged(name, form, adjacency):
    query = design(name, form, RHO, adjacency)
    charged = float(query.price(PrivacyUnit(adjacency)).rho)
    assert float(RHO.rho) * (1 - 1e-7) <= charged <= float(RHO.rho)
    # the Renyi divergence of order a of a discrete Gaussian moved by d is at most a d^2 / (2 sigma^2)
    precision = np.array([1 / (2 * float(law.sigma) ** 2) for law in laws(query)])
    worst = float((changes(query, adjacency).astype(float) ** 2 @ precision).max())
    assert worst <= charged * (1 + 1e-9)
    # tight also within wide groups: a probability just above a group's lower end is rounded down to it
    assert worst >= charged * (1 - 1e-9)


@pytest.mark.parametrize("name", GROUPS)
def test_one_record_moves_counts_by_four_or_two(name):
    for adjacency, moved in ((Adjacency.REPLACE, 4), (Adjacency.ADD_OR_REMOVE, 2)):
        query = design(name, "counts", EPSILON, adjacency)
        found = changes(query, adjacency) / np.repeat([ONE, 1], 2 * query.groups.probability.grid.bins)
        assert np.abs(found).sum(axis=1).max() == moved
        assert (found**2).sum(axis=1).max() == moved


def test_a_third_record_changes_nothing():
    query = design("two", "difference", EPSILON, Adjacency.REPLACE)
    two = changes(query, Adjacency.REPLACE, most=1)
    some = [table for table in tables(3) if len(table) == 3][::23]
    for table in some:
        p, y = (np.array(column) for column in zip(*table, strict=True))
        here = query.measure(Records.of({"p": p, "y": y}).aggregate(query.groups)).ravel()
        for other in itertools.islice(neighbors(table, Adjacency.REPLACE), 0, None, 7):
            p, y = (np.array(column) for column in zip(*other, strict=True))
            change = query.measure(Records.of({"p": p, "y": y}).aggregate(query.groups)).ravel() - here
            assert np.any(np.all(two == change, axis=1)) or not change.any()


def test_several_rows_of_a_person_cost_as_much_more():
    query = design("two", "counts", EPSILON, Adjacency.ADD_OR_REMOVE)
    three = PrivacyUnit(Adjacency.ADD_OR_REMOVE, "who", 3)
    assert query.price(three).epsilon == 3 * query.price(PrivacyUnit(Adjacency.ADD_OR_REMOVE)).epsilon
    granted = PureDP(1)
    shared = sums_query(groups("two"), "counts", granted, three)
    assert shared.price(three).epsilon == pytest.approx(3)  # the caller grants one row's part


def test_the_price_of_wide_groups_is_that_of_a_changed_label_within_one():
    """Control: charging the difference as two separate records would be too little where a group is wide."""
    query = design("uneven", "difference", RHO, Adjacency.REPLACE)
    naive = float(1 / query.expected.sigma**2 + 1 / query.observed.sigma**2) * ONE**2
    precision = np.array([1 / (2 * float(law.sigma) ** 2) for law in laws(query)])
    worst = float((changes(query, Adjacency.REPLACE).astype(float) ** 2 @ precision).max())
    assert worst > 1.2 * naive


@pytest.mark.parametrize(("adjacency", "factor"), [(Adjacency.REPLACE, 1.25), (Adjacency.ADD_OR_REMOVE, 2)])
def test_closed_groups_would_break_the_price(adjacency, factor):
    """Control: a record on the boundary of two closed groups counts twice."""
    query = design("two", "counts", EPSILON, adjacency)

    def closed(table):
        sums = np.zeros((4, 2))
        for p, y in table:
            for q, (low, high) in enumerate(((0, 0.5), (0.5, 1))):
                if low <= p <= high:
                    sums[:, q] += (round((1 - p) * ONE), round(p * ONE), 1 - y, y)
        return sums.ravel()

    found = changes(query, adjacency, measure=closed)
    scales = np.array([float(law.scale) for law in laws(query)])
    assert (np.abs(found) / scales).sum(axis=1).max() >= factor * float(EPSILON.epsilon) * (1 - 1e-9)


@pytest.mark.parametrize("shared", [False, True])
def test_one_noise_for_expected_and_observed_would_publish_their_difference(shared):
    """Control: with the noise index that the paper prints, some neighbors have no output in common."""
    query = design("two", "counts", EPSILON, Adjacency.REPLACE)
    distinct = np.eye(8)
    # columns: what one unit of each noise variable adds to the eight measurements
    noise = np.vstack([ONE * np.eye(4), np.eye(4)]) if shared else distinct
    hidden = [
        np.allclose(noise @ np.linalg.lstsq(noise, change, rcond=None)[0], change)
        for change in changes(query, Adjacency.REPLACE)
    ]
    assert all(hidden) is not shared


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_paper_charges_more_than_its_noise_costs(adjacency):
    scale = EPSILON.epsilon * 4
    query = paper_query(groups("three"), scale)
    assert isinstance(query.expected, DiscreteLaplace)
    moved = 4 if adjacency is Adjacency.REPLACE else 2
    assert query.price(PrivacyUnit(adjacency)).epsilon == moved / scale
    far, _ = log_ratios(query, changes(query, adjacency), np.random.default_rng(2))
    assert far == pytest.approx(float(moved / scale), rel=1e-9)


def test_noise_of_two_kinds_is_refused():
    with pytest.raises(ParameterError, match="noise of one kind"):
        GroupSumsQuery(groups("two"), DiscreteLaplace(8), DiscreteGaussian(8))
