"""What counts, proportions, means and sums cost, by enumerating all places and all neighbors of small tables."""

import functools
import itertools
from fractions import Fraction

import numpy as np
import pytest

from ogive.accounting import as_concentrated
from ogive.columns import LISTING_POLICIES, Binning, Domain, Listed, Membership
from ogive.columns.grids import Grid
from ogive.errors import ParameterError
from ogive.noise import DiscreteLaplace
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import Cells, CellsQuery, MomentsQuery, Weights, design_moments
from ogive.queries.sums import changes
from ogive.records import Records
from ogive.statistics import GroupAuc
from ogive.statistics.sums.lattice import TOTAL, Lattice
from ogive.statistics.sums.statistic import mean_weights, sum_weights

LAST = range(1, 14)


def by_hand(weights, last, adjacency):
    """Both changes over all places, or all pairs of places, from the definition of what a record adds."""
    records = []
    for place in range(last + 1):
        record = [weights.count] if weights.count else []
        record += [weights.slope * place + weights.shift] if weights.slope else []
        record += [weights.square * (last**2 - (2 * place - last) ** 2)] if weights.square else []
        records.append(record)
    moved = records if adjacency is Adjacency.ADD_OR_REMOVE else []
    if adjacency is Adjacency.REPLACE:
        moved = [[x - y for x, y in zip(a, b, strict=True)] for a, b in itertools.product(records, repeat=2)]
    return max(sum(map(abs, each)) for each in moved), max(sum(x * x for x in each) for each in moved)


def used(last, adjacency):
    """The weights of every statistic on a lattice of so many steps."""
    lattice = Lattice(Fraction(-3), Fraction(last - 3), last)
    yield from mean_weights(lattice, adjacency).values()
    yield from sum_weights(lattice, adjacency)[0].values()
    yield TOTAL


def others(last):
    """Weights that no statistic uses, of which squares are not for nothing."""
    for count, half, square in itertools.product((0, 3), (0, 1, 2, 7), (0, 1, 5)):
        if count or half:
            yield Weights(count, 2 * half, -half * last, square)


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("last", LAST)
def test_no_record_changes_the_sums_by_more_than_is_charged_and_some_record_does(last, adjacency):
    for weights in (*used(last, adjacency), *others(last)):
        assert changes(weights, last, adjacency) == by_hand(weights, last, adjacency)


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("last", LAST)
def test_squares_are_measured_beside_a_mean_for_nothing(last, adjacency):
    lattice = Lattice(Fraction(0), Fraction(last), last)
    for norm, (_, weights) in enumerate(mean_weights(lattice, adjacency).items()):
        without = Weights(weights.count, weights.slope, weights.shift)
        assert changes(weights, last, adjacency)[norm] == changes(without, last, adjacency)[norm]


def test_heavier_squares_are_not_for_nothing():
    """The control."""
    free, dear = Weights(0, 40, -200, 1), Weights(0, 40, -200, 2)
    assert changes(free, 10, Adjacency.REPLACE)[0] < changes(dear, 10, Adjacency.REPLACE)[0]


def largest_loss(query, tables, neighbors):
    """The largest log-ratio of output chances over neighbors, exactly: Laplace noise attains the distance / scale."""

    @functools.cache
    def measured(table):
        return query.measure(Records.of({"x": list(table)}).aggregate(query.aggregate))

    found = Fraction(0)
    for table in tables:
        for other in neighbors(table):
            moved = measured(tuple(other)) - measured(tuple(table))
            found = max(found, Fraction(int(np.abs(moved).sum())) / query.law.scale)
    return found


def replaced(values):
    return lambda table: [[*table[:i], v, *table[i + 1 :]] for i in range(len(table)) for v in values]


def removed(table):
    return [table[:i] + table[i + 1 :] for i in range(len(table)) if len(table) > 1]


VALUES = [-9.0, -3.0, -1.2, 0.0, 0.4, 2.0, 5.0, 80.0]
TABLES = [list(table) for size in (2, 3) for table in itertools.combinations_with_replacement(VALUES, size)]


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("kind", ["mean", "sum"])
def test_the_loss_of_real_tables_is_the_price(kind, adjacency):
    lattice = Lattice(Fraction(-3), Fraction(5), 4)
    weights, moved = mean_weights(lattice, adjacency), lattice
    if kind == "sum":
        weights, moved = sum_weights(lattice, adjacency)
    cells = Cells(Domain((Binning("x", moved.grid()),)))
    query = design_moments(cells, weights, PureDP(1), PrivacyUnit(adjacency))
    neighbors = removed if adjacency is Adjacency.ADD_OR_REMOVE else replaced(VALUES)
    loss = largest_loss(query, TABLES, neighbors)
    assert loss == query.price(PrivacyUnit(adjacency)).epsilon
    assert 1 - 1e-6 < loss <= 1


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_loss_of_a_count_of_members_is_the_price(adjacency):
    cells, law = Cells(Domain((Membership("x", (0, 2)),))), DiscreteLaplace(2)
    one = MomentsQuery(cells, TOTAL, law) if adjacency is Adjacency.REPLACE else CellsQuery(cells, law)
    neighbors = removed if adjacency is Adjacency.ADD_OR_REMOVE else replaced(VALUES)
    assert largest_loss(one, TABLES, neighbors) == one.price(PrivacyUnit(adjacency)).epsilon == Fraction(1, 2)


WORDS = ["a", "b", "c", "odd", None]
WORD_TABLES = [list(table) for size in (1, 2, 3) for table in itertools.combinations_with_replacement(WORDS, size)]


def counted(other, missing):
    """Tables of which no record is refused, and what a record of them may be."""
    allowed = [word for word in WORDS if (word != "odd" or other != "refuse") and (word or missing != "refuse")]
    return allowed, [table for table in WORD_TABLES if set(table) <= set(allowed)]


@pytest.mark.parametrize("other", LISTING_POLICIES)
@pytest.mark.parametrize("missing", LISTING_POLICIES)
@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_loss_of_counts_of_categories_is_the_price(adjacency, missing, other):
    cells, unit = Cells(Domain((Listed("x", ("a", "b", "c"), other, missing),))), PrivacyUnit(adjacency)
    query = CellsQuery(cells, DiscreteLaplace(2))
    allowed, tables = counted(other, missing)
    if adjacency is Adjacency.REPLACE and "drop" in (other, missing):
        with pytest.raises(ParameterError, match="would publish how many values"):
            query.price(unit)
        return
    neighbors = removed if adjacency is Adjacency.ADD_OR_REMOVE else replaced(allowed)
    assert largest_loss(query, tables, neighbors) == query.price(unit).epsilon
    assert query.price(unit).epsilon == (1 if adjacency is Adjacency.REPLACE else Fraction(1, 2))


PAIRS = list(itertools.product(("a", "b", None), (0, 1)))


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_loss_of_a_cross_table_is_the_price(adjacency):
    columns = (Listed("x", ("a", "b"), missing="count"), Listed("y", (0, 1)))
    query, unit = CellsQuery(Cells(Domain(columns)), DiscreteLaplace(2)), PrivacyUnit(adjacency)
    tables = [list(table) for size in (1, 2) for table in itertools.combinations_with_replacement(PAIRS, size)]
    neighbors = removed if adjacency is Adjacency.ADD_OR_REMOVE else replaced(PAIRS)
    found = Fraction(0)
    for table in tables:
        exact, *moved = (
            Records.of(dict(zip("xy", map(list, zip(*each, strict=True)), strict=True))).aggregate(query.aggregate)
            for each in (table, *neighbors(table))
        )
        found = max(found, *(Fraction(int(np.abs(each - exact).sum())) / query.law.scale for each in moved), 0)
    assert found == query.price(unit).epsilon == (1 if adjacency is Adjacency.REPLACE else Fraction(1, 2))


SCORED = list(itertools.product((0.2, 0.8), ("a", "b", "c", None), (0, 1)))


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_loss_of_areas_between_groups_is_the_price(adjacency):
    """One count for each bin, group and class, the rest counted: every record replaced by every other."""
    statistic = GroupAuc("s", "y", "g", (0, 1), bins=2, group_values=("a", "b"), other="count", missing_group="count")
    query, unit = CellsQuery(Cells(statistic.domain), DiscreteLaplace(2)), PrivacyUnit(adjacency)
    tables = [list(table) for size in (1, 2) for table in itertools.combinations_with_replacement(SCORED, size)]
    neighbors = removed if adjacency is Adjacency.ADD_OR_REMOVE else replaced(SCORED)

    @functools.cache
    def counted(table):
        columns = dict(zip("sgy", map(list, zip(*table, strict=True)), strict=True))
        return Records.of(columns).aggregate(query.aggregate)

    found = Fraction(0)
    for table in tables:
        exact, *moved = (counted(tuple(each)) for each in (table, *neighbors(table)) if each)
        found = max(found, *(Fraction(int(np.abs(each - exact).sum())) / query.law.scale for each in moved), 0)
    assert found == query.price(unit).epsilon == (1 if adjacency is Adjacency.REPLACE else Fraction(1, 2))


def test_of_two_categories_of_a_public_number_one_sum_costs_half():
    cells, unit = Cells(Domain((Listed("x", ("a", "b")),))), PrivacyUnit(Adjacency.REPLACE)
    tables = [table for table in WORD_TABLES if set(table) <= {"a", "b"}]
    for query, loss in (
        (CellsQuery(cells, DiscreteLaplace(2)), 1),
        (MomentsQuery(cells, TOTAL, DiscreteLaplace(2)), 0.5),
    ):
        assert largest_loss(query, tables, replaced(["a", "b"])) == query.price(unit).epsilon == loss


def test_a_record_without_a_place_would_change_a_public_number():
    """Why records are dropped under ADD_OR_REMOVE alone: exact sums of two tables of one size differ."""
    query = CellsQuery(Cells(Domain((Listed("x", ("a", "b", "c"), "drop", "drop"),))), DiscreteLaplace(2))
    one, other = (Records.of({"x": table}).aggregate(query.aggregate) for table in (["a", "b"], ["a", None]))
    assert query.totals(one, Adjacency.REPLACE) != query.totals(other, Adjacency.REPLACE)


@pytest.mark.parametrize("grant", [PureDP("0.5"), ZeroConcentratedDP("0.1"), ApproxDP("0.5", "1e-6")], ids=str)
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("last", [1, 7, 10_000])
def test_designs_stay_within_what_is_granted(grant, rows, last):
    unit = PrivacyUnit(Adjacency.ADD_OR_REMOVE, "who", rows)
    lattice = Lattice(Fraction(0), Fraction(last), last)
    cells = Cells(Domain((Binning("x", lattice.grid()),)))
    query = design_moments(cells, mean_weights(lattice, unit.adjacency), grant, unit)
    price = query.price(unit)
    if isinstance(grant, ZeroConcentratedDP):
        assert Fraction(99, 100) * grant.rho < as_concentrated(price).rho <= grant.rho
    if isinstance(grant, PureDP):
        assert Fraction(99, 100) * grant.epsilon < price.epsilon <= grant.epsilon


def test_a_public_number_is_neither_asked_nor_charged():
    cells = Cells(Domain((Binning("x", Grid.integers(0, 3)),)))
    with pytest.raises(ParameterError, match="public"):
        design_moments(cells, dict.fromkeys(("laplace", "gaussian"), Weights(count=1)), PureDP(1),
                       PrivacyUnit(Adjacency.REPLACE))  # fmt: skip


def test_squares_beside_places_that_are_not_centered_are_refused():
    with pytest.raises(ParameterError, match="centered"):
        changes(Weights(1, 2, 0, 1), 4, Adjacency.REPLACE)
