"""Selections give the answers that their exact probabilities say, and refuse what they cannot serve.

Level and controls of the fits are those of `helpers.goodness`: p above 1e-9, and noise of half the scale must fail.
"""

import numpy as np
import pytest
from helpers import goodness, selection
from helpers.scope import size
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.errors import DataError, ParameterError, ScaleError
from ogive.noise import DerivedNodes, DiscreteLaplace, Geometric
from ogive.privacy import Adjacency, PrivacyUnit, PureDP
from ogive.queries import (
    LinearQuery,
    NoisyMaxQuery,
    QuantileScore,
    SparseVectorQuery,
    design_noisy_max,
    design_sparse_vector,
)

UNIT = PrivacyUnit(Adjacency.REPLACE)
BINNING = Binning("x", Grid.linear(0, 5, bins=5))
COUNTS = np.array([2, 0, 3, 1, 2])
RUNS = size(8_000, part=1_000)


def answers(query, counts, runs=RUNS):
    """Answers with the noise of that many releases."""
    return np.array([int(query.answer(counts, DerivedNodes(n.to_bytes(32, "big"), b""))[0]) for n in range(runs)])


def p_value(found, chances):
    keep = chances * len(found) >= 10
    observed = np.append(np.bincount(found, minlength=len(chances))[keep], 0)
    expected = np.append(chances[keep], 0) * len(found)
    observed[-1], expected[-1] = len(found) - observed.sum(), len(found) - expected.sum() + 1e-9
    if expected[-1] < 10:
        observed, expected = observed[:-1], expected[:-1] * observed[:-1].sum() / expected[:-1].sum()
    return stats.power_divergence(observed, expected, lambda_="log-likelihood").pvalue


@pytest.mark.parametrize("bits", [0, 3])
def test_a_noisy_maximum_leads_as_often_as_its_exact_probabilities_say(bits):
    score = QuantileScore("1/2", first=0, last=4)
    query = design_noisy_max(BINNING, score, privacy=PureDP(1), unit=UNIT, bits=bits)
    scores = score.scores(COUNTS) * 2**bits
    found = answers(query, COUNTS)
    assert p_value(found, selection.noisy_max(scores, query.law.scale)) > goodness.LEVEL
    assert p_value(found, selection.noisy_max(scores, query.law.scale / 2)) < goodness.LEVEL


def test_scores_that_would_wrap_are_refused():
    score = QuantileScore("0.501", first=0, last=1)
    grid = Binning("x", Grid.linear(0, 2, bins=2))
    query = design_noisy_max(grid, score, privacy=PureDP(1), unit=UNIT, bits=20)
    nodes = DerivedNodes(bytes(32), b"")
    # just below the limit the right bin leads
    assert query.answer(np.array([0, 4_000_000_000]), nodes)[0] == 1
    with pytest.raises(DataError, match="fractional bits"):
        query.answer(np.array([0, 17_557_071_901]), nodes)


@pytest.mark.each_value
@pytest.mark.parametrize("side", ["low", "high"])
@pytest.mark.parametrize("beyond", [0, 2])
def test_a_sparse_vector_stops_as_often_as_its_exact_probabilities_say(side, beyond):
    query = design_sparse_vector(BINNING, side, privacy=PureDP(2), unit=UNIT, beyond=beyond)
    chances = selection.first_beyond(selection.beyond(COUNTS, side), 1, 1, beyond)
    control = selection.first_beyond(selection.beyond(COUNTS, side), 0.5, 0.5, beyond)
    found = answers(query, COUNTS)
    steps = found if side == "high" else 4 - found
    assert p_value(steps, chances) > goodness.LEVEL
    assert p_value(steps, control) < goodness.LEVEL


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9), st.sampled_from(["0", "1/4", "1/2", "3/4", "1"]))
def test_without_noise_the_median_and_its_like_are_those_of_the_records(counts, q):
    sums = np.array(counts)
    score = QuantileScore(q, first=0, last=len(counts) - 1)
    best = int(np.argmax(score.scores(sums)))
    ranks = np.cumsum(sums)
    wanted = float(score.probability) * sums.sum()
    # the first end whose records at or below reach the rank, and none before it
    assert best == int(np.searchsorted(ranks, wanted - 1e-9))
    assert score.scores(sums)[best] == 0


def test_scores_are_ranks_off_times_the_denominator_by_hand():
    # 8 records, first quarter: rank 2; ends hold 2, 2, 5, 6, 8 records at or below
    assert QuantileScore("1/4", first=0, last=4).scores(COUNTS).tolist() == [0, 0, 0, -12, -16]
    assert QuantileScore("1/2", first=0, last=4).scores(COUNTS).tolist() == [-4, -4, 0, -2, -4]
    # the same records clipped to the middle three bins
    assert QuantileScore("1/2", first=1, last=3).scores(COUNTS).tolist() == [-4, 0, -2]


def test_where_all_records_are_in_one_bin_only_that_bin_is_right():
    scores = QuantileScore("1/2", first=0, last=4).scores(np.array([0, 0, 10, 0, 0]))
    assert scores.tolist() == [-10, -10, 0, -10, -10]


def test_bounds_without_noise_are_the_ends_of_the_records():
    law = DiscreteLaplace(1)
    counts = np.array([0, 0, 3, 1, 0, 2, 0])
    binning = Binning("x", Grid.linear(0, 7, bins=7))
    ends = {side: int(SparseVectorQuery(binning, side, law, law).answer(counts, None)[0]) for side in ("low", "high")}
    assert ends == {"low": 2, "high": 5}
    inner = {
        side: int(SparseVectorQuery(binning, side, law, law, beyond=2).answer(counts, None)[0])
        for side in ("low", "high")
    }
    assert inner == {"low": 2, "high": 3}
    assert SparseVectorQuery(binning, "high", law, law).answer(np.array([0] * 6 + [1]), None).tolist() == [6]


def test_selections_are_not_linear_and_have_their_noise_levels():
    maximum = design_noisy_max(BINNING, QuantileScore("1/2", first=1, last=3), privacy=PureDP(1), unit=UNIT)
    vector = design_sparse_vector(BINNING, "low", privacy=PureDP(1), unit=UNIT)
    assert not isinstance(maximum, LinearQuery)
    assert not isinstance(vector, LinearQuery)
    assert [level.nodes for level in maximum.levels] == [3]
    assert [level.nodes for level in vector.levels] == [1, 4]
    assert maximum.totals(COUNTS, Adjacency.REPLACE) == vector.totals(COUNTS, Adjacency.REPLACE) == (8,)
    assert maximum.totals(COUNTS, Adjacency.ADD_OR_REMOVE) is vector.totals(COUNTS, Adjacency.ADD_OR_REMOVE) is None


def test_digests_differ_with_all_that_fixes_the_noise():
    score = QuantileScore("1/2", first=0, last=4)
    law = DiscreteLaplace(4)
    queries = [
        NoisyMaxQuery(BINNING, score, Geometric(4)),
        NoisyMaxQuery(BINNING, score, Geometric(5)),
        NoisyMaxQuery(BINNING, score, Geometric(4), bits=3),
        NoisyMaxQuery(BINNING, QuantileScore("1/4", first=0, last=4), Geometric(4)),
        NoisyMaxQuery(BINNING, QuantileScore("1/2", first=1, last=4), Geometric(4)),
        SparseVectorQuery(BINNING, "low", law, law),
        SparseVectorQuery(BINNING, "high", law, law),
        SparseVectorQuery(BINNING, "low", law, law, beyond=1),
        SparseVectorQuery(BINNING, "low", law, DiscreteLaplace(5)),
        SparseVectorQuery(BINNING, "low", DiscreteLaplace(5), law),
    ]
    digests = {query.digest(COUNTS, adjacency) for query in queries for adjacency in Adjacency}
    assert len(digests) == 2 * len(queries)
    assert queries[0].digest(COUNTS + 1, Adjacency.REPLACE) not in digests


def test_missing_values_are_not_dropped_where_the_number_of_records_is_public():
    dropping = Binning("x", Grid.linear(0, 5, bins=5), missing="drop")
    for query in (
        NoisyMaxQuery(dropping, QuantileScore("1/2", first=0, last=4), Geometric(4)),
        SparseVectorQuery(dropping, "low", DiscreteLaplace(4), DiscreteLaplace(4)),
    ):
        with pytest.raises(ParameterError, match="missing='drop' would publish"):
            query.price(UNIT)
        assert query.price(PrivacyUnit(Adjacency.ADD_OR_REMOVE)).epsilon > 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: QuantileScore(1.5, first=0, last=1), r"probability must be in \[0, 1\], got 1.5"),
        (lambda: QuantileScore("1/1001", first=0, last=1), "denominator of at most 1000, got 1/1001"),
        (lambda: QuantileScore(0.5, first=3, last=2), "bins from first to last, got 3 to 2"),
        (lambda: SparseVectorQuery(BINNING, "up", DiscreteLaplace(1), DiscreteLaplace(1)), "side must be low or high"),
        (
            lambda: SparseVectorQuery(BINNING, "low", DiscreteLaplace(1), DiscreteLaplace(1), beyond=-1),
            r"beyond must be a whole number from 0 to 2\^47, got -1",
        ),
        (
            lambda: NoisyMaxQuery(BINNING, QuantileScore(0.5, first=0, last=1), Geometric(1), bits=21),
            "bits must be a whole number from 0 to 20, got 21",
        ),
    ],
)
def test_refuses_what_no_release_could_use(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_refuses_noise_that_cannot_be_drawn():
    with pytest.raises(ScaleError):
        design_noisy_max(BINNING, QuantileScore(0.5, first=0, last=1), privacy=PureDP("1e-15"), unit=UNIT)
