"""Prices of questions about a subset against all neighbors of small tables, with exact probabilities.

A record is in the subset or not, and has one of three bins. Under REPLACE it may move in or out, unless the columns of
the condition are public.
"""

import itertools

import numpy as np
import pytest
from helpers import selection

from ogive import Adjacency, ApproxDP, Central, Ecdf, PureDP, Subset, release
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.columns.predicates import predicate
from ogive.noise import DerivedNodes, DiscreteLaplace, Geometric
from ogive.privacy import PrivacyUnit
from ogive.queries import CurveQuery, GroupBinning, GroupedQuery, NoisyMaxQuery, QuantileScore, SparseVectorQuery
from ogive.queries.wrapped import LinearSelectedQuery, SelectedQuery, selecting
from ogive.strategies import design_tree

BINNING = Binning("x", Grid.linear(0, 3, bins=3))
WHERE = predicate("ward == 'A'")
SCORE = QuantileScore("1/4", first=0, last=2)
CELLS = list(itertools.product((True, False), range(3)))  # in the subset, bin
TABLES = [np.array(counts) for counts in itertools.product(range(3), repeat=6) if 1 <= sum(counts) <= 4]


def neighbors(table, adjacency, public):
    """All tables of adjacent records: counts of the cells."""
    for i in range(6):
        if adjacency is Adjacency.ADD_OR_REMOVE:
            more = table.copy()
            more[i] += 1
            yield more
        elif table[i]:
            for j in range(6):
                if j != i and (CELLS[i][0] == CELLS[j][0] or not public):
                    moved = table.copy()
                    moved[i] -= 1
                    moved[j] += 1
                    yield moved


def worst(probabilities, adjacency, public, *, moved_only=False):
    """Largest log-ratio of any answer over all neighbors; the answer sees the subset alone."""
    known, found = {}, 0.0
    for table in TABLES:
        for other in neighbors(table, adjacency, public):
            if moved_only and table[:3].sum() == other[:3].sum():
                continue
            key = tuple(table[:3]), tuple(other[:3])
            if key not in known:
                change = np.log(probabilities(table[:3])) - np.log(probabilities(other[:3]))
                known[key] = float(np.abs(change).max())
            found = max(found, known[key])
    return found


def maximum(scale):
    query = NoisyMaxQuery(BINNING, SCORE, Geometric(scale), bits=0)
    return query, lambda counts: selection.noisy_max(SCORE.scores(counts), scale)


def vector(scale):
    query = SparseVectorQuery(BINNING, "high", DiscreteLaplace(scale), DiscreteLaplace(scale))
    return query, lambda counts: selection.first_beyond(selection.beyond(counts, "high"), scale, scale)


@pytest.mark.parametrize("public", [False, True], ids=["hidden", "public"])
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("made", [maximum(8), vector(2)], ids=["maximum", "vector"])
def test_no_pair_of_tables_exceeds_the_price(made, adjacency, public):
    query, probabilities = made
    price = SelectedQuery(query, WHERE, public).price(PrivacyUnit(adjacency))
    loss = worst(probabilities, adjacency, public)
    assert 0.35 * float(price.epsilon) <= loss <= float(price.epsilon) + 1e-9


def test_a_record_that_moves_in_or_out_is_priced_by_what_an_added_one_costs():
    """The case in which the price of a replaced record alone would be too low."""
    query, probabilities = maximum(8)
    replaced, added = (
        query.price(PrivacyUnit(adjacency)) for adjacency in (Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE)
    )
    price = SelectedQuery(query, WHERE).price(PrivacyUnit(Adjacency.REPLACE))
    assert price == max(replaced, added, key=lambda loss: loss.epsilon)
    moved = worst(probabilities, Adjacency.REPLACE, public=False, moved_only=True)
    assert 0 < moved <= float(added.epsilon) + 1e-9
    assert worst(probabilities, Adjacency.REPLACE, public=True, moved_only=True) == 0, "nobody moves where it is public"


def law_of_counts(scale, size=400):
    """Noise of one count: the number of records of the subset, whose loss under REPLACE alone would be nothing."""
    return np.exp(-np.abs(np.arange(-size, size + 1)) / scale)


def test_control_the_number_of_records_of_a_subset_is_not_free_under_replace():
    """Nothing is hidden of a number that is public, so R is 0; but the size of a subset moves, and A is what counts."""
    for scale in (1, 2):
        law = law_of_counts(scale)
        law /= law.sum()
        loss = worst(lambda counts, law=law: np.roll(law, counts.sum())[20:-20], Adjacency.REPLACE, public=False)
        assert abs(loss - 1 / scale) < 1e-9


@pytest.mark.parametrize("public", [False, True], ids=["hidden", "public"])
def test_numbers_of_records_are_told_only_where_nobody_can_move(public):
    query = selecting(
        CurveQuery(BINNING, design_tree(3, privacy=PureDP(1), adjacency=Adjacency.REPLACE)), WHERE, public=public
    )
    assert isinstance(query, LinearSelectedQuery)
    assert query.totals(np.array([1, 2, 0]), Adjacency.REPLACE) == ((3,) if public else None)
    assert query.totals(np.array([1, 2, 0]), Adjacency.ADD_OR_REMOVE) is None
    assert query.public_columns == (("ward",) if public else ())


def test_groups_of_a_subset_pay_for_two_that_change_or_one_that_leaves():
    groups = GroupBinning(BINNING, "g", ("a", "b", "c"))
    part = vector(2)[0]
    unit = PrivacyUnit(Adjacency.REPLACE)
    grouped = GroupedQuery(groups, (part,) * 3)
    assert SelectedQuery(grouped, WHERE).price(unit) == grouped.price(unit) == PureDP(2)
    known = GroupedQuery(groups, (part,) * 3, public_groups=True)
    assert SelectedQuery(known, WHERE).price(unit) == PureDP(1), "a record may leave its own group alone"


def test_a_query_and_its_subset_have_different_noise():
    strategy = design_tree(3, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
    query, counts = CurveQuery(BINNING, strategy), np.array([3, 4, 5])
    chosen = [selecting(query, predicate(where), public=False) for where in ("ward == 'A'", "ward == 'B'")]
    digests = {each.digest(counts, Adjacency.REPLACE) for each in (query, *chosen)}
    assert len(digests) == 3
    noise = {tuple(query.noise(DerivedNodes(bytes(32), digest))) for digest in digests}
    assert len(noise) == 3


@pytest.mark.parametrize("privacy", [PureDP(1), ApproxDP(1, "1e-6")], ids=str)
@pytest.mark.parametrize("public", [(), ("ward",)], ids=["hidden", "public"])
def test_a_release_stays_within_its_grant_and_uses_nearly_all_of_it(privacy, public):
    rng = np.random.default_rng(4)
    table = {"x": rng.random(400), "ward": rng.choice(["A", "B"], 400)}
    curve = release(
        Subset(Ecdf("x", bounds=(0, 1), bins=16, method="tree_ls"), WHERE),
        trust=Central(table),
        privacy=privacy,
        public=public,
    )
    count = int((table["ward"] == "A").sum())
    assert curve.total == (count if public else None)
    assert curve.provenance.where == "ward == 'A'"
    if privacy == PureDP(1):
        assert 0.99 < float(curve.provenance.price.epsilon) <= 1
