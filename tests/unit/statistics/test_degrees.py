"""Clipped degrees: sensitivity and price by enumeration, the estimate, its interval, and when `auto` takes them."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size as size_of

import ogive
from ogive.accounting import covers
from ogive.columns import Binning, Categories, Domain
from ogive.columns.grids import Grid
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import Cells, DegreesQuery
from ogive.queries.kernels import MISSED, clipped_pairs
from ogive.statistics.ustatistic.curator import degree_sampling_bound, design_degrees

REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE
CELLS = Cells(Domain((Categories("x", ("a", "b", "c")),)))
LEVELS = 1000


def cells(size):
    return Cells(Domain((Categories("x", tuple(range(size))),)))


def query(first=2, second=3, bits=0, of=CELLS):
    return DegreesQuery(of, (DiscreteLaplace(first), DiscreteLaplace(second)), bits)


def histograms(records, size=3):
    for rows in itertools.combinations_with_replacement(range(size), records):
        yield np.bincount(rows, minlength=size)


def neighbors(counts):
    for left, joined in itertools.product(range(len(counts)), repeat=2):
        if left != joined and counts[left]:
            found = counts.copy()
            found[left] -= 1
            found[joined] += 1
            yield found


def by_degrees(counts, degree):
    """Clipped pairs from the definition: each record of a value counts those before it, at most so many."""
    return sum(min(before, degree) for count in counts for before in range(count))


@pytest.mark.parametrize("bits", [20, 45])
def test_records_whose_numbers_would_leave_61_bits_are_refused(bits):
    most = (1 << 61 - bits) - 1
    asked = query(bits=bits)
    assert asked.answer(np.array([most, 0, 0]), None)[0] == most << bits
    with pytest.raises(DataError, match=f"too many records for numbers with {bits} fractional bits"):
        asked.answer(np.array([most, 1, 0]), None)


@pytest.mark.parametrize("records", [2, 3, 5, 7])
def test_a_replaced_record_moves_clipped_pairs_by_the_degree_at_most(records):
    for degree in range(1, records + 2):
        moved = set()
        for counts in histograms(records):
            pairs = clipped_pairs(counts, degree)
            assert pairs == by_degrees(counts, degree)
            if degree >= counts.max() - 1:
                assert pairs == sum(count * (count - 1) // 2 for count in counts.tolist())
            moved |= {abs(clipped_pairs(other, degree) - pairs) for other in neighbors(counts)}
        assert max(moved) <= degree
        # of pairs that are not clipped a record may change more
        if degree < records - 1:
            assert max(moved) == degree or records == 2


def chances(asked, counts, reach=160):
    """Probabilities of all answers, by the laws of both numbers: {(v, w): chance}."""
    one, two = (
        {
            z: math.exp(-abs(z) / float(law.scale)) * math.tanh(1 / (2 * float(law.scale)))
            for z in range(-reach, reach + 1)
        }
        for law in asked.laws
    )
    records = int(counts.sum())
    found = {}
    for z, chance in one.items():
        largest = (int(counts.max()) << asked.bits) + z
        degree = asked.degree(largest, records)
        exact = math.floor(Fraction(clipped_pairs(counts, degree) << asked.bits, degree) + Fraction(1, 2))
        for y, other in two.items():
            found[largest, exact + y] = chance * other
    return found


@pytest.mark.parametrize(("records", "bits"), [(3, 0), (4, 0), (4, 1)])
def test_no_two_neighbors_are_told_apart_by_more_than_the_price(records, bits):
    asked = query(2 << bits, 3 << bits, bits)
    price = float(asked.price(PrivacyUnit(REPLACE)).epsilon)
    assert price == pytest.approx(1 / 2 + 1 / 3)
    worst = 0.0
    known = {tuple(counts): chances(asked, counts, size_of(60, part=30)) for counts in histograms(records)}
    for counts in histograms(records):
        mine = known[tuple(counts)]
        for other in neighbors(counts):
            theirs = known[tuple(other)]
            worst = max(worst, max(abs(math.log(mine[a] / theirs[a])) for a in mine.keys() & theirs.keys()))
    assert worst <= price + 1e-9
    assert worst >= price * 0.99


def test_pairs_that_are_not_clipped_would_tell_more():
    """The control: all equal pairs, divided by a degree below that of the records, move by more than is charged."""
    moved = max(
        abs(clipped_pairs(one, 9) - clipped_pairs(other, 9)) for one in histograms(5) for other in neighbors(one)
    )
    assert Fraction(moved, 3) > 1


def test_answers_are_those_numbers_with_noise():
    asked = query(bits=4)
    counts = np.array([5, 3, 0])
    largest, pairs = asked.answer(counts, None).tolist()
    assert largest == 5 << 4
    degree = asked.degree(largest, 8)
    assert degree == min(5 + asked.margin, 7)
    assert pairs == math.floor(Fraction((10 + 3) << 4, degree) + Fraction(1, 2))
    with pytest.raises(DataError, match="at least two records"):
        asked.answer(np.array([1, 0, 0]), None)
    with pytest.raises(ParameterError, match="two DiscreteLaplace"):
        DegreesQuery(CELLS, (DiscreteLaplace(2),), 0)
    with pytest.raises(ParameterError, match="sigma of at least 1000"):
        DegreesQuery(CELLS, (DiscreteGaussian(2), DiscreteGaussian(2)), 0)


@pytest.mark.parametrize("privacy", [PureDP(1), PureDP("0.1"), ZeroConcentratedDP("0.5"), ApproxDP(1, "1e-6")])
def test_designs_stay_within_the_guarantee_and_bounds_hold_nearly_always(privacy):
    asked = design_degrees(cells(500), privacy, records=20_000)
    assert covers(privacy, asked.price(PrivacyUnit(REPLACE)))
    law, unit = asked.laws[0], 1 << asked.bits
    if isinstance(law, DiscreteLaplace):
        scale = float(law.scale)
        assert math.exp(-asked.margin * unit / scale) / (1 + math.exp(-1 / scale)) <= MISSED
        assert math.exp(-(asked.margin - 1) * unit / scale) / (1 + math.exp(-1 / scale)) > MISSED
    else:
        assert math.exp(-((asked.margin * unit / float(law.sigma)) ** 2) / 2) <= MISSED * (1 + 1e-9)


def sparse(seed, records=20_000, skew=0.0):
    rng = np.random.default_rng(seed)
    weights = np.arange(1, LEVELS + 1) ** -skew
    return {"x": rng.choice(LEVELS, records, p=weights / weights.sum())}


def asked_of(method="degrees", kernel="collision_probability", **more):
    return ogive.Ustatistic("x", kernel, categories=tuple(range(LEVELS)), method=method, **more)


def released(table, statistic, seed, adjacency=REPLACE):
    source = KeyedSource.from_seed(seed)
    return ogive.release(statistic, trust=ogive.Central(table), privacy=PureDP(1), adjacency=adjacency, source=source)


@pytest.mark.parametrize("skew", [0.0, pytest.param(1.0, marks=pytest.mark.everything)])
def test_it_errs_less_than_counts_of_many_sparse_values_and_says_how_much(skew):
    table = sparse(1, skew=skew)
    truth = ogive.release(asked_of("auto"), trust=ogive.Clear(table)).value
    runs = {"degrees": 20, "cells": size_of(20, part=8), "kernel": size_of(20, part=8)}
    found = {name: [released(table, asked_of(name), seed) for seed in range(each)] for name, each in runs.items()}
    rmse = {name: math.sqrt(np.mean([(each.value - truth) ** 2 for each in some])) for name, some in found.items()}
    assert rmse["degrees"] * 1.5 < min(rmse["cells"], rmse["kernel"])
    stated = math.sqrt(np.mean([each.randomization_error**2 for each in found["degrees"]]))
    assert 0.5 < rmse["degrees"] / stated < 1.7
    held = [low <= truth <= high for low, high in (each.interval(target="sample") for each in found["degrees"])]
    assert np.mean(held) >= 0.8


@pytest.mark.slow
def test_intervals_for_the_population_hold():
    weights = np.arange(1, LEVELS + 1) ** -0.5
    truth = float(((weights / weights.sum()) ** 2).sum())
    held = [
        low <= truth <= high
        for low, high in (
            released(sparse(seed, skew=0.5), asked_of(), seed).interval() for seed in range(size_of(100, part=40))
        )
    ]
    assert np.mean(held) >= 0.93


def test_the_sampling_bound_is_above_the_variance_of_hoeffding():
    rng = np.random.default_rng(2)
    for size, records in ((3, 50), (200, 4000), (1000, 20_000)):
        shares = rng.dirichlet(np.ones(size))
        probability, third = float((shares**2).sum()), float((shares**3).sum())
        exact = (4 * (records - 2) * (third - probability**2) + 2 * (probability - probability**2)) / (
            records * (records - 1)
        )
        assert degree_sampling_bound(probability, math.ceil(records * shares.max()), records) >= exact


def test_very_sure_intervals_have_no_end_on_the_side_of_clipping():
    found = released(sparse(1), asked_of(), 1)
    assert found.interval(0.999)[1] == found.limits[1]
    assert found.interval(0.99)[1] < 0.01
    entropy = released(sparse(1), asked_of(kernel="collision"), 1)
    assert entropy.interval(0.999)[0] == 0
    assert entropy.interval(0.99)[0] > 6


def test_auto_takes_it_where_public_numbers_say_so():
    assert released(sparse(1), asked_of("auto"), 1).method == "degrees"
    few = {"x": np.random.default_rng(1).integers(0, 4, 20_000)}
    four = ogive.Ustatistic("x", "collision", categories=(0, 1, 2, 3))
    assert released(few, four, 1).method == "cells"
    assert released(sparse(1), asked_of("auto"), 1, adjacency=ADD).method == "cells"


def test_what_it_cannot_do_is_refused_by_name():
    with pytest.raises(ParameterError, match="private here"):
        released(sparse(1), asked_of(), 1, adjacency=ADD)
    with pytest.raises(ParameterError, match="for the collision entropy and its probability"):
        released(sparse(1), ogive.Ustatistic("x", "gini", bounds=(0, LEVELS), method="degrees"), 1)
    with pytest.raises(ParameterError, match="private here"):
        query().price(PrivacyUnit(ADD))
    dropping = Cells(Domain((Binning("x", Grid.integers(0, 9), "drop"),)))
    with pytest.raises(ParameterError, match="would publish how many values are missing"):
        query(of=dropping).price(PrivacyUnit(REPLACE))
    parties = ogive.SecAgg([{"x": sparse(part)["x"][:500]} for part in range(3)])
    with pytest.raises(UnsupportedError):
        ogive.release(asked_of(), trust=parties, privacy=PureDP(1))


def test_an_estimate_is_stored_and_told():
    found = released(sparse(1), asked_of(), 1)
    assert type(found).from_json(found.to_json()) == found
    assert found.sampling_is_a_bound
    assert "a frequent value was clipped" in str(found)
