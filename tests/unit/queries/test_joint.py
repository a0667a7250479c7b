"""Joint selections of quantiles: costs against linear programs, choices against their exact probabilities.

Level of the fits is that of `helpers.goodness`, and noise of another scale must fail.
"""

import itertools
import math
import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from helpers import goodness, joint
from helpers.scope import size
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.errors import DataError, ParameterError
from ogive.noise import DerivedNodes, Geometric, UniformBits
from ogive.privacy import Adjacency, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import JointQuantilesQuery, design_joint, joint_choice
from ogive.queries.joint_choice import Ranks
from ogive.queries.selection import _factors, common_unit

SHARES = [(Fraction(1, 2),), (Fraction(1, 4), Fraction(3, 4)), (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))]
COUNTS = np.array([2, 0, 5, 1])


def binning(bins=4):
    return Binning("x", Grid.linear(0, bins, bins=bins))


def ranks_of(histogram, shares):
    unit = common_unit(shares)
    return Ranks.of(np.array(histogram), unit, [int(share * unit) for share in shares])


@settings(max_examples=size(25, part=9), deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.sampled_from([*SHARES, (Fraction(0), Fraction(1, 3))]))
def test_shortest_walks_are_those_of_a_linear_program(histogram, shares):
    ranks = ranks_of(histogram, shares)
    bins = joint.candidates(len(histogram), len(shares))[::5]
    fixed = ranks.lengths(bins, np.full(len(bins), ranks.records)) / ranks.unit
    free = ranks.free_lengths(bins) / ranks.unit
    wanted = [float(share) for share in shares]
    for row, chosen in enumerate(bins):
        assert fixed[row] == pytest.approx(joint.least_sum(histogram, chosen, wanted, ranks.records), abs=1e-6)
        assert free[row] == pytest.approx(joint.least_free_sum(histogram, chosen, wanted), abs=1e-6)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.sampled_from(SHARES), st.booleans())
def test_no_cost_is_below_what_the_proposals_assume(histogram, shares, free):
    ranks = ranks_of(histogram, shares)
    bins = joint.candidates(len(histogram), len(shares))
    column = np.arange(len(shares))
    high = np.stack([ranks.too_high(k) for k in column])[column, bins].max(axis=1)
    low = np.stack([ranks.too_low(k) for k in column])[column, bins].max(axis=1)
    factor, slope = _factors(shares, free_total=free)
    lengths = ranks.free_lengths(bins) if free else ranks.lengths(bins, np.full(len(bins), ranks.records))
    assert np.all(factor * lengths >= slope * (high + low))
    # and bins that are exactly right cost nothing
    assert lengths.min() == 0


def drawn(query, counts, runs):
    return np.array([query.answer(counts, DerivedNodes(n.to_bytes(32, "big"), b"")) for n in range(runs)])


def p_value(found, chances):
    keep = chances * len(found) >= 10
    number = np.bincount(found, minlength=len(chances))
    observed = np.append(number[keep], number[~keep].sum())
    expected = np.append(chances[keep], chances[~keep].sum()) * len(found)
    if expected[-1] < 5:
        observed, expected = observed[:-1], expected[:-1] * observed[:-1].sum() / expected[:-1].sum()
    return stats.power_divergence(observed, expected, lambda_="log-likelihood").pvalue


@pytest.mark.each_value(shares=len)
@pytest.mark.parametrize("bits", [joint_choice.BITS, 3])
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("shares", [SHARES[2], *SHARES[:2]], ids=len)  # three bits take longest: they are of one share
def test_bins_are_chosen_as_often_as_their_exact_probabilities_say(shares, free, bits, monkeypatch):
    """With three bits a draw, most draws need more bits than their first ones."""
    monkeypatch.setattr(joint_choice, "BITS", bits)
    monkeypatch.setattr(joint_choice, "UNIFORM", UniformBits(bits))
    factor, _ = _factors(shares, free_total=free)
    scale = Fraction(5 * factor * common_unit(shares))
    query = JointQuantilesQuery(binning(), shares, Geometric(scale), free)
    every = joint.candidates(4, len(shares))
    ranks = ranks_of(COUNTS, shares)
    lengths = ranks.free_lengths(every) if free else ranks.lengths(every, np.full(len(every), ranks.records))
    if bits > 3:
        runs = size(1_200, part=250 if len(shares) == 2 else 150)
    else:
        runs = size(600, part=110 if len(shares) == 1 else 300)
    found = (drawn(query, COUNTS, runs)[:, None] == every[None]).all(axis=2).argmax(axis=1)
    assert p_value(found, joint.chances(factor * lengths, scale)) > goodness.LEVEL
    assert p_value(found, joint.chances(factor * lengths, scale / 3)) < goodness.LEVEL


@pytest.mark.each_value(shares=len)
@pytest.mark.parametrize("merged", [False, True], ids=["every bin", "blocks"])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(
    "shares", [SHARES[1], SHARES[0], pytest.param(SHARES[2], marks=pytest.mark.everything)], ids=len
)
def test_walks_propose_the_exact_probabilities_too(shares, free, merged, monkeypatch):
    """Without proposals of single bins; in blocks of several bins, most proposals are dropped."""
    monkeypatch.setattr(joint_choice, "MOST_PROPOSALS", 0)
    counts = np.array([2, 0, 0, 5, 1, 1, 0, 3])
    if merged:
        monkeypatch.setattr(joint_choice, "MOST_BLOCKS", 3)
    factor, _ = _factors(shares, free_total=free)
    scale = Fraction(5 * factor * common_unit(shares))
    query = JointQuantilesQuery(binning(8), shares, Geometric(scale), free)
    every = joint.candidates(8, len(shares))
    ranks = ranks_of(counts, shares)
    lengths = ranks.free_lengths(every) if free else ranks.lengths(every, np.full(len(every), ranks.records))
    runs = size(800, part=150 if len(shares) == 1 else 280)  # of many candidates, few are common
    found = (drawn(query, counts, runs)[:, None] == every[None]).all(axis=2).argmax(axis=1)
    assert p_value(found, joint.chances(factor * lengths, scale)) > goodness.LEVEL
    assert p_value(found, joint.chances(factor * lengths, scale / 3)) < goodness.LEVEL


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("most", [512, 2])
def test_every_walk_is_proposed_often_enough_to_be_accepted_as_wanted(free, most, monkeypatch):
    """Exactly, for all candidates: what is accepted of each is exp(-cost / scale) over one number, and at most 1."""
    monkeypatch.setattr(joint_choice, "MOST_BLOCKS", most)
    shares = SHARES[2]
    ranks = ranks_of([1, 1, 0, 0, 1, 5, 1], shares)
    factor, _ = _factors(shares, free_total=free)
    unit = common_unit(shares)
    per_length = Fraction(unit, 2) if free else Fraction(1)
    law = Geometric(Fraction(5 * factor * unit))
    every = joint.candidates(7, len(shares))
    lengths = ranks.free_lengths(every) if free else ranks.lengths(every, np.full(len(every), ranks.records))
    found = joint_choice.Walks(ranks, joint_choice.Costs(law, 1, per_length, None))
    blocks = np.searchsorted(found.blocks.first, every, side="right") - 1
    assert (len(found.blocks.first) == 6) == (most == 512)
    total = Fraction(0)
    for row, length in zip(blocks.tolist(), (factor * lengths).tolist(), strict=True):
        state = run = 0
        chance = Fraction(1)
        for number, block in enumerate(row):
            upto, into, states = found.options(number, state, run)
            run = run + 1 if number and block == row[number - 1] else 1
            # of two steps into the same block, the one that stays is the last
            at = len(into) - 1 - into[::-1].index(block)
            chance *= Fraction(upto[at] - (upto[at - 1] if at else 0), upto[-1])
            state = states[at]
        for block in set(row):
            runs = row.count(block)
            chance /= math.comb(int(found.blocks.size[block]) + runs - 1, runs)
        total += chance
        kept = Fraction(1 << joint_choice.ONE, found.total) / chance * Fraction(math.exp(-length / float(law.scale)))
        assert kept < 1 + Fraction(1, 10**12)
    assert total == 1


@pytest.mark.parametrize("bits", [46, 92, 460, 1380])
def test_a_draw_is_decided_unless_it_is_the_one_that_the_probability_divides(bits):
    for exponent, above, below in (
        (Fraction(7, 3), 5, 9),
        (Fraction(1, 10**9), 1, 1),
        (Fraction(812), 1 << 400, 1 << 399),
    ):
        with mpmath.workprec(bits + 2_000):
            chance = mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator) * above / below
            divided = int(mpmath.floor(chance * 2**bits))
        for drawn in (divided - 1, divided, divided + 1):
            expected = {-1: (1, 1), 0: (0, 1), 1: (0, 0)}[drawn - divided]
            if 0 <= drawn < 1 << bits:
                assert joint_choice._kept(exponent, above, below, drawn, bits) == expected


def test_places_in_order_are_each_choice_once():
    for places, run in ((1, 3), (4, 1), (4, 3), (3, 5)):
        found = [
            tuple(joint_choice.in_order(number, run, places)) for number in range(math.comb(places + run - 1, run))
        ]
        assert sorted(found) == list(itertools.combinations_with_replacement(range(places), run))
    assert joint_choice.in_order(math.comb((1 << 16) + 8, 9) - 1, 9, 1 << 16) == [(1 << 16) - 1] * 9


@pytest.mark.parametrize("adjacency", Adjacency)
def test_few_values_that_most_records_share_are_answered_in_seconds(adjacency, monkeypatch):
    """Proposals of single bins alone would take years here: the control shows that none of many is accepted."""
    monkeypatch.setattr(joint_choice, "MOST_PROPOSALS", size(1 << 18, part=1 << 13))
    counts = np.zeros(1024, np.int64)
    counts[[102, 921]] = 500
    deciles = [Fraction(k, 10) for k in range(1, 10)]
    bins = Binning("x", Grid.linear(0, 1024, bins=1024))
    query = design_joint(bins, deciles, privacy=PureDP("0.1"), unit=PrivacyUnit(adjacency))
    begun = time.process_time()
    answer = query.answer(counts, DerivedNodes(bytes(32), b""))
    assert time.process_time() - begun < 60
    assert (np.diff(answer) >= 0).all()
    assert np.isin(answer, [102, 921]).sum() >= 3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joint_choice, "choose_by_walks", lambda *rest: np.array([rest[-1]]))
        assert query.answer(counts, DerivedNodes(bytes(32), b"")).tolist()[0] >= joint_choice.MOST_PROPOSALS


@pytest.mark.parametrize(
    ("scale", "step", "bits"),
    [(Fraction(40), 2, 174), (Fraction(7, 3), 1, 40), (Fraction(10**9 + 1, 7), 5, 120), (Fraction(1, 8), 1, 183)],
    ids=str,
)
def test_tables_lie_above_exponentials_and_near_them(scale, step, bits):
    table = joint_choice.Exponentials(scale, step, bits)
    with mpmath.workprec(700):
        for k in {0, 1, 2, 1023, 1024, 1025, table.reach // 2, table.reach}:
            if k <= table.reach:
                true = mpmath.exp(-mpmath.mpf(step * k * scale.denominator) / scale.numerator)
                excess = mpmath.mpf(table.of(k)) / (mpmath.mpf(2) ** 400 * true) - 1
                assert 0 < excess < mpmath.mpf(2) ** -126


def test_what_a_table_was_rounded_up_by_is_taken_back():
    table = joint_choice.Exponentials(Fraction(40), 2, 100)
    # the true chance is 1 - 2^-128, nearly: draws below 1 - 2^-120 are kept at once, those above need a comparison
    assert table.holds(3, 0, 46) == (1, 1)
    assert table.holds(3, (1 << 46) - 1, 46) == (0, 1)
    assert table.holds(3, (1 << 138) - (1 << 16), 138) == (1, 1)
    assert table.holds(3, (1 << 138) - (1 << 9), 138) == (0, 0)
    assert table.holds(3, (1 << 138) - (1 << 12), 138) == (1, 1)


def test_what_records_share_is_found_and_bins_without_noise_are_exactly_right():
    counts = np.array([0, 10, 0, 80, 0, 0, 10, 0])
    shares = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
    for adjacency in Adjacency:
        query = design_joint(binning(8), shares, privacy=PureDP(2), unit=PrivacyUnit(adjacency))
        assert query.answer(counts, None).tolist() == [3, 3, 3]
        assert np.mean(drawn(query, counts, 40) == 3) > 0.95


def test_no_records_and_one_bin_have_an_answer():
    for shares in SHARES:
        for adjacency in Adjacency:
            query = design_joint(binning(6), shares, privacy=PureDP(1), unit=PrivacyUnit(adjacency))
            assert (
                sorted(query.answer(np.zeros(6, np.int64), DerivedNodes(bytes(32), b"")))
                == query.answer(np.zeros(6, np.int64), DerivedNodes(bytes(32), b"")).tolist()
            )
            query = design_joint(binning(1), shares, privacy=PureDP(1), unit=PrivacyUnit(adjacency))
            assert query.answer(np.array([7]), DerivedNodes(bytes(32), b"")).tolist() == [0] * len(shares)


@pytest.mark.parametrize(
    ("adjacency", "rows"), [(Adjacency.REPLACE, 1), (Adjacency.ADD_OR_REMOVE, 1), (Adjacency.ADD_OR_REMOVE, 3)]
)
def test_designs_spend_what_is_granted(adjacency, rows):
    unit = PrivacyUnit(adjacency) if rows == 1 else PrivacyUnit(adjacency, "who", rows)
    for shares in SHARES:
        assert design_joint(binning(), shares, privacy=PureDP("0.5"), unit=unit).price(unit) == PureDP("0.5")
        rho = design_joint(binning(), shares, privacy=ZeroConcentratedDP("0.125"), unit=unit).price(unit).rho
        assert Fraction(125, 1000) * (1 - Fraction(1, 2**28)) < rho <= Fraction(125, 1000)
    # rho = 1/8 is a range of 1, twice the pure epsilon that implies it
    ranged = design_joint(binning(), SHARES[1], privacy=ZeroConcentratedDP("0.125"), unit=unit)
    pure = design_joint(binning(), SHARES[1], privacy=PureDP(1), unit=unit)
    assert float(ranged.law.scale) == pytest.approx(float(pure.law.scale), rel=1e-8)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: JointQuantilesQuery(binning(), (), Geometric(1)), "1 to 9 quantiles, got 0"),
        (lambda: JointQuantilesQuery(binning(), ["0.1"] * 10, Geometric(1)), "1 to 9 quantiles, got 10"),
        (lambda: JointQuantilesQuery(binning(), ["1.0000001"], Geometric(1)), r"must be in \[0, 1\], got 1.0000001"),
        (lambda: JointQuantilesQuery(binning(), ["4/3"], Geometric(1)), "got 4/3"),
        (lambda: JointQuantilesQuery(binning(), ["0.5", "0.25"], Geometric(1)), "must not decrease"),
        (
            lambda: JointQuantilesQuery(binning(), ["0.12345"], Geometric(1)),
            "at most 8192, got 0.12345$",
        ),
        (lambda: JointQuantilesQuery(binning(), ["1/8191", "0.5"], Geometric(1)), "8192, got 1/8191, 0.5$"),
        (lambda: JointQuantilesQuery(binning(1 << 17), ["0.5"], Geometric(1)), "bins must be at most 65536"),
    ],
)
def test_refuses_what_cannot_be_selected_in_one_line(make, message):
    with pytest.raises(ParameterError, match=message) as refusal:
        make()
    assert "\n" not in str(refusal.value)


def test_costs_that_would_wrap_are_refused():
    query = JointQuantilesQuery(binning(2), ["0.001"], Geometric(1))
    with pytest.raises(DataError, match="costs of this many records do not fit"):
        query.answer(np.array([1 << 50, 0]), None)
