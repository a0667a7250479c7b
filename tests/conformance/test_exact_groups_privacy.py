"""Prices of questions of several groups against all neighbors of small tables, with exact probabilities.

Two groups of two bins. Answers of groups are independent, so the loss of a pair of tables is the sum of the
groups' own. Under REPLACE a record may also change its group, unless groups are public.
"""

import itertools

import numpy as np
import pytest
from helpers import selection

from ogive.accounting import as_concentrated
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.errors import ParameterError
from ogive.noise import DerivedNodes, DiscreteLaplace, Geometric
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import (
    Answer,
    ClassCurvesQuery,
    CurveQuery,
    GroupBinning,
    GroupedQuery,
    NoisyMaxQuery,
    QuantileScore,
    SparseVectorQuery,
)
from ogive.strategies import design_projection, design_tree

BINNING = Binning("x", Grid.linear(0, 3, bins=3))
GROUPS = GroupBinning(BINNING, "g", ("a", "b"))
SCORE = QuantileScore("1/4", first=0, last=2)
TABLES = [np.array(cells).reshape(2, 3) for cells in itertools.product(range(3), repeat=6) if 1 <= sum(cells) <= 4]


def neighbors(table, adjacency, public):
    """All tables of adjacent records."""
    cells = list(itertools.product(range(2), range(3)))
    for i in cells:
        if adjacency is Adjacency.ADD_OR_REMOVE:
            more = table.copy()
            more[i] += 1
            yield more
        elif table[i]:
            for j in cells:
                if j != i and (i[0] == j[0] or not public):
                    moved = table.copy()
                    moved[i] -= 1
                    moved[j] += 1
                    yield moved


def worst(parts, adjacency, public):
    """Largest loss over all neighbors: answers of groups are independent, so their largest ratios add up."""
    known = {}

    def ratios(number, one, other):
        """Largest log-ratios of one group's answers, either way."""
        key = number, tuple(one), tuple(other)
        if key not in known:
            first, second = parts[number](one), parts[number](other)
            change = np.log(first) - np.log(second)
            known[key] = change.max(), -change.min()
        return known[key]

    found = 0.0
    for table in TABLES:
        for other in neighbors(table, adjacency, public):
            each = [ratios(number, table[number], other[number]) for number in range(2)]
            found = max(found, sum(pair[0] for pair in each), sum(pair[1] for pair in each))
    return found


def maximum(scale):
    query = NoisyMaxQuery(BINNING, SCORE, Geometric(scale), bits=0)
    return query, lambda counts: selection.noisy_max(SCORE.scores(counts), scale)


def vector(scale):
    query = SparseVectorQuery(BINNING, "high", DiscreteLaplace(scale), DiscreteLaplace(scale))
    return query, lambda counts: selection.first_beyond(selection.beyond(counts, "high"), scale, scale)


@pytest.mark.parametrize("public", [False, True], ids=["hidden", "public"])
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("made", [(maximum(8), maximum(8)), (vector(2), vector(2)), (maximum(8), vector(4))])
def test_no_pair_of_tables_exceeds_the_price_of_all_groups(made, adjacency, public):
    query = GroupedQuery(GROUPS, tuple(part for part, _ in made), public)
    price = query.price(PrivacyUnit(adjacency))
    loss = worst([probabilities for _, probabilities in made], adjacency, public)
    assert 0.35 * float(price.epsilon) <= loss <= float(price.epsilon) + 1e-9


def test_control_a_changed_group_costs_more_than_one_group_alone():
    # the price of a vector is the same whether records are replaced or added, so two groups cost twice as much
    (query, probabilities), unit = vector(2), PrivacyUnit(Adjacency.REPLACE)
    alone, both = query.price(unit), GroupedQuery(GROUPS, (query, query)).price(unit)
    assert (alone, both) == (PureDP(1), PureDP(2))
    within = worst([probabilities] * 2, Adjacency.REPLACE, public=True)
    assert worst([probabilities] * 2, Adjacency.REPLACE, public=False) > 1.2 * within
    assert GroupedQuery(GROUPS, (query, query), public_groups=True).price(unit) == alone
    assert GroupedQuery(GROUPS, (query, None)).price(unit) == alone


def test_unequal_groups_pay_for_the_two_dearest():
    groups = GroupBinning(BINNING, "g", ("a", "b", "c"))
    parts = tuple(vector(scale)[0] for scale in (1, 2, 4))
    assert GroupedQuery(groups, parts).price(PrivacyUnit(Adjacency.REPLACE)) == PureDP(3)
    assert GroupedQuery(groups, parts).price(PrivacyUnit(Adjacency.ADD_OR_REMOVE)) == PureDP(2)


def test_groups_that_are_asked_in_different_ways_pay_in_zcdp_for_the_two_dearest():
    groups = GroupBinning(BINNING, "g", ("a", "b", "c"))
    gaussian, pure = (
        CurveQuery(BINNING, design_projection(3, privacy=privacy, adjacency=Adjacency.ADD_OR_REMOVE, degree=2))
        for privacy in (ApproxDP(1, "1e-6"), PureDP(1))
    )
    kinds = [Adjacency.ADD_OR_REMOVE, Adjacency.REPLACE]
    (pure_joins, pure_stays), (joins, stays) = (
        [as_concentrated(each.strategy.loss(kind)).rho for kind in kinds] for each in (pure, gaussian)
    )
    for parts in itertools.permutations((pure, gaussian, gaussian)):
        price = GroupedQuery(groups, parts).price(PrivacyUnit(Adjacency.REPLACE))
        assert price == ZeroConcentratedDP(max(pure_stays, stays, pure_joins + joins))
        assert GroupedQuery(groups, parts, public_groups=True).price(PrivacyUnit(Adjacency.REPLACE)).rho < price.rho
        alone = GroupedQuery(groups, parts).price(PrivacyUnit(Adjacency.ADD_OR_REMOVE))
        assert alone == ZeroConcentratedDP(max(pure_joins, joins))


def test_groups_with_noise_of_different_sizes_and_distances_pay_for_the_most_of_each():
    wide, fine = (
        CurveQuery(
            BINNING,
            design_projection(3, privacy=ApproxDP(1, "1e-6"), adjacency=Adjacency.ADD_OR_REMOVE, degree=2, bits=bits),
        )
        for bits in (12, 26)
    )
    losses = [part.strategy.loss(Adjacency.ADD_OR_REMOVE) for part in (wide, fine)]
    assert len({loss.distance for loss in losses}) == 2
    price = GroupedQuery(GROUPS, (wide, fine)).price(PrivacyUnit(Adjacency.REPLACE))
    assert price.distance >= sum(loss.distance for loss in losses)
    assert price.mu_squared >= sum(loss.mu_squared for loss in losses)


def test_answers_of_groups_have_noise_of_their_own_and_come_in_order():
    query = GroupedQuery(GROUPS, (vector(50)[0], vector(50)[0]))
    sums = np.array([[5, 5, 5], [5, 5, 5]])
    found = np.array([query.answer(sums, DerivedNodes(n.to_bytes(32, "big"), b"")) for n in range(400)])
    assert found.shape == (400, 2)
    assert 100 < np.sum(found[:, 0] == found[:, 1]) < 300
    assert [level.nodes for level in query.levels] == [1, 2, 1, 2]
    assert query.answer(np.array([[3, 0, 0], [0, 0, 3]]), None).tolist() == [0, 2]
    assert query.totals(sums, Adjacency.REPLACE) == (30,)
    assert GroupedQuery(GROUPS, query.parts, public_groups=True).totals(sums, Adjacency.REPLACE) == (15, 15)
    assert query.totals(sums, Adjacency.ADD_OR_REMOVE) is None
    assert query.sizes == (1, 1)
    assert query.digest(sums, Adjacency.REPLACE) != query.digest(sums + 1, Adjacency.REPLACE)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_curves_of_groups_are_those_of_classes_and_of_parts(adjacency):
    unit = PrivacyUnit(adjacency)
    strategy = design_tree(3, privacy=PureDP(1), adjacency=adjacency)
    curves = ClassCurvesQuery(GROUPS, strategy)
    parts = GroupedQuery(GROUPS, (CurveQuery(BINNING, strategy),) * 2)
    assert curves.price(unit) == parts.price(unit)
    sums = np.arange(6).reshape(2, 3)
    assert np.array_equal(curves.answer(sums, None).ravel(), parts.answer(sums, None))
    assert len(curves.levels) == len(parts.levels)
    nodes = DerivedNodes(bytes(32), b"")
    assert np.array_equal(curves.answer(sums, nodes).ravel(), parts.answer(sums, nodes))
    assert Answer(curves.answer(sums, None), curves.totals(sums, adjacency)).total in (15, None)


def test_rows_of_a_person_in_several_groups_are_as_far_from_ideal_noise_as_all_of_them():
    projection = design_projection(3, privacy=ApproxDP(1, "1e-6"), adjacency=Adjacency.ADD_OR_REMOVE, degree=2)
    alone, person = PrivacyUnit(Adjacency.ADD_OR_REMOVE), PrivacyUnit(Adjacency.ADD_OR_REMOVE, "who", 5)
    one = projection.loss(Adjacency.ADD_OR_REMOVE)
    assert one.distance > 0
    for query in (ClassCurvesQuery(GROUPS, projection), GroupedQuery(GROUPS, (CurveQuery(BINNING, projection),) * 2)):
        assert query.price(alone) == one
        assert query.price(person) == GaussianDP(one.mu_squared * 25, one.distance * 2)


def test_a_strategy_for_added_records_pays_for_one_replaced_or_for_one_removed_and_one_added():
    projection = design_projection(3, privacy=ApproxDP(1, "1e-6"), adjacency=Adjacency.ADD_OR_REMOVE, degree=2)
    one, other = (projection.loss(adjacency) for adjacency in (Adjacency.ADD_OR_REMOVE, Adjacency.REPLACE))
    assert one.mu_squared < other.mu_squared < 2 * one.mu_squared
    unit = PrivacyUnit(Adjacency.REPLACE)
    for query in (ClassCurvesQuery(GROUPS, projection), GroupedQuery(GROUPS, (CurveQuery(BINNING, projection),) * 2)):
        assert query.price(unit) == GaussianDP(one.mu_squared * 2, one.distance * 2)
    # within a group no replaced record moves the measurements by more than it is charged for
    moved = projection.features.astype(float)
    added = np.linalg.norm(moved, axis=0).max()
    replaced = max(np.linalg.norm(moved[:, i] - moved[:, j]) for i in range(3) for j in range(3))
    sigma = float(projection.law.sigma)
    assert added**2 / sigma**2 <= float(one.mu_squared) * (1 + 1e-12)
    assert replaced**2 / sigma**2 <= float(other.mu_squared) * (1 + 1e-12)


def test_refuses_parts_that_are_not_the_groups():
    part = vector(1)[0]
    other = SparseVectorQuery(Binning("y", BINNING.grid), "high", DiscreteLaplace(1), DiscreteLaplace(1))
    for parts in ((part,), (part, other), (None, None)):
        with pytest.raises(ParameterError, match="group"):
            GroupedQuery(GROUPS, parts)
