"""Private selection: sensitivities by brute force, prices, and what it gains and loses."""

from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size as runs_of

from ogive.accounting import covers
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.errors import ParameterError, UnsupportedError
from ogive.noise import DiscreteLaplace, KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries.selection import FRACTION_BITS, MOST_RECORDS, ApproximationScore, residuals
from ogive.releasing.release import release
from ogive.statistics import Ecdf
from ogive.statistics.base import Terms
from ogive.statistics.methods.base import CurveTask
from ogive.statistics.methods.choose import PrivateSelection
from ogive.strategies import GroupedHistogram, design_projection, design_tree
from ogive.trust import Central

REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE
GRANTS = (PureDP(1), ZeroConcentratedDP("0.1"), ApproxDP(1, "1e-6"))
UNIT = 1 << FRACTION_BITS


def score(adjacency, size=24, noise=(40 * UNIT, 9 * UNIT, 5 * UNIT)):
    known = adjacency is REPLACE
    ways = (
        design_tree(size, privacy=PureDP(1), adjacency=adjacency),
        design_projection(size, privacy=ApproxDP(1, "1e-6"), adjacency=adjacency, degree=5),
        GroupedHistogram(size, 5, DiscreteLaplace(2)),
    )
    return ApproximationScore(size, ways, noise, known)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_no_record_moves_a_score_by_more_than_the_sensitivity_which_is_nearly_reached(adjacency):
    scored, rng = score(adjacency, noise=(0, 0, 0)), np.random.default_rng(7)
    allowed, largest = scored.sensitivity(adjacency), 0
    for _ in range(runs_of(60, part=20)):
        counts = rng.integers(0, 4, scored.size) * rng.integers(0, 2, scored.size)
        counts[rng.integers(scored.size)] += 2
        before = scored.scores(counts)
        for gone in np.flatnonzero(counts)[:4]:
            for back in range(scored.size) if adjacency is REPLACE else [None]:
                after = counts.copy()
                after[gone] -= 1
                if back is not None:
                    after[back] += 1
                largest = max(largest, int(np.abs(scored.scores(after) - before).max()))
    assert largest <= allowed
    assert largest >= 0.4 * allowed


def test_a_replaced_record_moves_a_distance_by_no_more_than_a_step_does():
    # I - P is a contraction, up to the middles of bins at which records count
    for size in (32, 128):
        strategy = design_projection(size, privacy=ApproxDP(1, "1e-6"), adjacency=REPLACE, degree=8)
        columns = residuals(strategy, total_known=True)
        distances = np.linalg.norm(columns[:, np.newaxis] - columns, axis=2)
        assert distances.max() <= np.sqrt(2) * (1 + 2 / np.sqrt(size))


@pytest.mark.parametrize("groups", [2, 4, 8])
def test_within_straight_lines_a_replaced_record_moves_a_distance_by_two_groups_at_most(groups):
    columns = residuals(GroupedHistogram(64, groups, DiscreteLaplace(2)), total_known=True)
    distances = np.linalg.norm(columns[:, np.newaxis] - columns, axis=2)
    assert 0.3 * np.sqrt(4 / groups) <= distances.max() <= np.sqrt(4 / groups)


def test_the_distance_is_the_bias_in_records_and_zero_without_bias():
    scored = score(REPLACE)
    counts = np.zeros(24, dtype=np.int64)
    counts[7] = 1000
    found = -scored.scores(counts)
    assert found[0] == 40 * UNIT
    image = scored.strategies[2].estimate(scored.strategies[2].measure(counts), 1000)
    expected = np.sqrt(2 * np.mean((image - np.cumsum(counts)) ** 2))
    assert found[2] / UNIT == pytest.approx(np.hypot(expected, 5), abs=0.01)
    with pytest.raises(UnsupportedError, match="at most"):
        scored.scores(np.full(24, MOST_RECORDS))


def test_bins_are_joined_to_those_of_the_candidates():
    fine = ApproximationScore(48, score(REPLACE).strategies, (0, 0, 0), True)
    counts = np.arange(48)
    joined = counts.reshape(24, 2).sum(axis=1)
    coarse = ApproximationScore(24, score(REPLACE).strategies, (0, 0, 0), True)
    assert np.array_equal(fine.scores(counts), coarse.scores(joined))


def test_candidates_that_do_not_fit_each_other_are_refused():
    ways = score(REPLACE).strategies
    with pytest.raises(ParameterError, match="all be for one number of bins"):
        ApproximationScore(24, ways, (1, 2), True)
    with pytest.raises(ParameterError, match="candidates must be for 1 to 20 bins"):
        ApproximationScore(20, ways, (1, 2, 3), True)
    with pytest.raises(ParameterError, match="sizes of noise"):
        ApproximationScore(24, ways, (1, -2, 3), True)
    for share in (0, 1, "1.5"):
        with pytest.raises(ParameterError, match="share must be strictly between"):
            PrivateSelection(share)


@pytest.mark.covering(privacy=str)
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("privacy", GRANTS, ids=str)
@pytest.mark.parametrize("share", ["0.05", "0.5"])
def test_both_stages_together_cost_at_most_what_is_granted(share, privacy, adjacency):
    values = {"x": np.random.default_rng(1).beta(2, 5, 4000)}
    statistic = Ecdf("x", (0, 1), bins=128, method=PrivateSelection(share), expected_records=4000)
    curve = release(
        statistic, trust=Central(values), privacy=privacy, adjacency=adjacency, source=KeyedSource(bytes(32))
    )
    assert curve.provenance.method.startswith("selected+")
    assert covers(privacy, curve.provenance.price)
    assert abs(curve(0.3) - np.mean(values["x"] <= 0.3)) < 0.05


def test_a_bound_on_a_persons_records_is_kept():
    rng = np.random.default_rng(1)
    data = {"x": rng.beta(2, 5, 3000), "who": np.repeat(np.arange(1000), 3)}
    statistic = Ecdf("x", (0, 1), bins=64, method="selected", expected_records=3000)
    trust = Central(data, person="who", max_rows_per_person=3)
    curve = release(statistic, trust=trust, privacy=PureDP(3), adjacency=ADD)
    assert curve.provenance.price == PureDP(3)


def chosen(counts, privacy, runs=25):
    """Names of what was selected in several runs, on the histogram itself."""
    binning = Binning("x", Grid.linear(0, 1, bins=len(counts)), "refuse")
    terms = Terms(privacy, PrivacyUnit(REPLACE), lambda _: None, count=lambda: int(counts.sum()))
    names = []
    for run in range(runs):
        query = next(PrivateSelection().curve(CurveTask(binning, terms)))
        source = KeyedSource.from_seed(run)
        noise = query.law.sample(query.score.candidates, source=source)
        best = int(np.argmax((query.score.scores(counts) << query.bits) + noise))
        names.append(query.score.strategies[best].name)
    return names


def test_spikes_select_what_has_no_bias_and_smooth_shapes_what_has_little_noise():
    spikes = np.zeros(256, dtype=np.int64)
    spikes[[20, 21, 100, 200]] = [400_000, 100_000, 300_000, 200_000]
    # whichever way to an unbiased curve is best there, it is none that approximates
    assert set(chosen(spikes, ApproxDP(1, "1e-9"))) <= {"tree_ls", "hat_ls", "sqrt", "ring", "path"}
    smooth = np.rint(10_000 * 6 * np.linspace(0, 1, 256) * (1 - np.linspace(0, 1, 256)) / 256).astype(np.int64)
    names = chosen(smooth, ApproxDP(1, "1e-6"))
    assert np.mean([name in ("projection", "histogram") for name in names]) > 0.9


def test_what_cannot_see_all_records_refuses_it_and_a_private_number_of_records_needs_a_guess():
    values = {"x": np.random.default_rng(1).random(1000)}

    class Linear(Central):
        def refusal(self, query):
            return None if hasattr(query, "measure") else "only sums are seen here"

    with pytest.raises(UnsupportedError, match="only sums"):
        release(Ecdf("x", (0, 1), bins=64, method="selected"), trust=Linear(values), privacy=PureDP(1))
    with pytest.raises(ParameterError, match="expected_records"):
        release(Ecdf("x", (0, 1), bins=64, method="selected"), trust=Central(values), privacy=PureDP(1), adjacency=ADD)


def test_shares_are_exact():
    assert PrivateSelection(0.1) == PrivateSelection("0.1") == PrivateSelection(Fraction(1, 10))


def test_a_share_too_small_to_select_with_is_named():
    statistic = Ecdf("x", (0, 1), bins=128, method=PrivateSelection("1e-9"))
    with pytest.raises(ParameterError, match="give it a larger share"):
        release(statistic, trust=Central({"x": np.linspace(0, 1, 500)}), privacy=PureDP(1))


def test_the_errors_that_enter_a_question_are_what_they_were():
    # simulated on reference shapes, whose last digits they depend on; other numbers would be another question
    asked = []

    def seen(query):
        asked.append(query)

    terms = Terms(PureDP("1/3"), PrivacyUnit(Adjacency.REPLACE), seen, count=lambda: 500)
    statistic = Ecdf("value", bounds=(0, 100), grid="integers", method="selected")
    query = next(statistic.questions(terms))
    assert query in asked
    assert query.score.noise == (7652, 6091, 9446, 6149, 10627)
