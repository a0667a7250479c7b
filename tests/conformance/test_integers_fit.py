"""No answer of a linear query leaves 64 bits, with the least guarantee and the most records that are accepted.

An answer is a sum of exact integers and noise, each times a whole number. Here these numbers are found one by one, by
asking with a single one at a time, and the largest answer is added up in integers of any size: all exact integers of a
row of the aggregate at the place in use that weighs most, and each value of noise at a tail that it passes with a
probability of at most 2^-64. Sums that wrap on the way do no harm where the answer fits, since they are linear. Each
row of the table counts up to 2^32 times, which makes 2^40 records; guarantees and numbers of records are found to a
factor of 2 each, so answers must have room for 4 times as much.

Totals of streams are compared with what elements and noise add up to, each by itself.

Queries that are not linear (selections, degrees, kernels) are asked at the same limits, and only seen not to fail.
"""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.examples import EXAMPLES
from helpers.few_simulations import simulate_little
from helpers.scope import is_everything

import ogive
from ogive import Adjacency, PureDP, ZeroConcentratedDP
from ogive.errors import OgiveError
from ogive.noise import DerivedNodes, DiscreteGaussian, DiscreteLaplace
from ogive.queries import LinearQuery
from ogive.queries.aggregates import RowValues
from ogive.statistics.methods.base import EVERY
from ogive.streams import RunningTotal
from ogive.trust.table import CentralOpening

ROWS, MOST_TIMES = 1 << 8, 33
"""Rows of the table, and the least number of times that they are not doubled."""
LARGEST = (1 << 63) - 1
UNLIKE = 4
"""How much larger answers may be where guarantee and records are between those that were tried."""
CASES = {
    f"{name}-{number}": statistic
    for name, several in EXAMPLES.items()
    for number, statistic in enumerate(several)
    if name != "describe"  # it asks what mean, proportion and quantiles ask, many times
}
CASES["calibration-fine"] = ogive.HosmerLemeshow("p", "y", bins=16, bits=30)
AS_OTHERS = {"boxplot-0", "quantiles-0", "calibration-0"}
"""Names of those that ask as others do: the curve of `ecdf-0`, and the sums of `calibration-fine` in larger units."""
GUARANTEES = {"pure": PureDP, "zcdp": ZeroConcentratedDP}


def tail(law):
    """What the size of a value passes with a probability of at most 2^-64.

    A Laplace value passes t with probability at most 2 exp(-t / scale), a Gaussian one at most 2 exp(-t^2 / 2 sigma^2).
    """
    if isinstance(law, DiscreteLaplace):
        return math.ceil(law.scale * 46)  # 65 log 2 is 45.1
    assert isinstance(law, DiscreteGaussian)
    return math.ceil(law.sigma * 10)  # the root of 2 * 65 log 2 is 9.5


class OneNode:
    """Noise that is 1 at one node and 0 at all others, and remembers who was asked."""

    def __init__(self):
        self.asked, self.one = {}, None

    def values(self, law, level, nodes):
        nodes = np.asarray(nodes)
        self.asked.update({(law, level, node): law for node in np.unique(nodes).tolist()})
        if self.one is None or self.one[:2] != (law, level):
            return np.zeros(nodes.shape, dtype=np.int64)
        return (nodes == self.one[2]).astype(np.int64)


def largest(query, sums):
    """The size of the largest number of an answer, in exact integers."""
    nodes = OneNode()
    assert not query.noise(nodes).any()
    sizes = np.abs(query.measure(np.zeros_like(sums))).astype(object)
    assert not sizes.any()
    for one, law in list(nodes.asked.items()):
        nodes.one = one
        sizes = sizes + np.abs(query.noise(nodes)).astype(object) * tail(law)
    # each row of the aggregate by itself, since rows may be in different units
    for row, places in enumerate(sums.reshape(len(sums) if sums.ndim > 1 else 1, -1)):
        weights = np.zeros(sizes.shape, dtype=object)
        for place in np.flatnonzero(places):
            one = np.zeros(sums.size, dtype=np.int64)
            one[row * places.size + place] = 1
            weights = np.maximum(weights, np.abs(query.measure(one.reshape(sums.shape))).astype(object))
        sizes = sizes + weights * sum(map(abs, places.tolist()))
    return int(sizes.max())


@pytest.fixture(scope="module")
def table():
    draw = np.random.default_rng(0)
    return {
        "x": draw.uniform(0, 100, ROWS),
        "p": draw.uniform(0, 1, ROWS),
        "y": draw.integers(0, 2, ROWS),
        "z": draw.integers(0, 3, ROWS),
    }


class Asking:
    """Asks a statistic of a table as if it had many more rows, and keeps what was asked.

    Args:
        table: The table.
        monkeypatch: Counts each row more than once.
    """

    def __init__(self, table, monkeypatch):
        self.table, self.times, self.found = table, 0, []
        aggregated, answer = CentralOpening._aggregate, CentralOpening.answer

        def answered(opening, query):
            self.found.append((query, opening._aggregate(query.aggregate)))
            return answer(opening, query)

        def many(opening, aggregate):
            found = aggregated(opening, aggregate)
            if isinstance(aggregate, RowValues):  # of each record, not of all together
                return found
            assert int(np.abs(found.astype(object)).sum()) << self.times <= LARGEST, "the aggregate itself fits"
            return found << self.times

        monkeypatch.setattr(CentralOpening, "_aggregate", many)
        monkeypatch.setattr(CentralOpening, "answer", answered)

    def accepted(self, statistic, privacy, times=0):
        """Whether so small a guarantee is accepted for so many rows."""
        self.found.clear()
        self.times = times
        trust, words = ogive.Central(self.table), ("noise", "records", "epsilon", "exact", "too many votes")
        try:
            ogive.release(statistic, trust=trust, privacy=privacy, adjacency=Adjacency.REPLACE)
        except OgiveError as problem:
            if not any(word in str(problem) for word in words):
                raise
            return False
        return True


@pytest.fixture
def asking(table, monkeypatch):
    simulate_little(monkeypatch)
    if not is_everything():  # a choice of a curve from fewer samples of imagined records
        monkeypatch.setattr("ogive.statistics.methods.choose.EVERY", dataclasses.replace(EVERY, runs=8))
        monkeypatch.setattr("ogive.statistics.methods.choose._CHOSEN", {})
    return Asking(table, monkeypatch)


def last(is_accepted, end):
    """The last whole number before the end that is accepted; 0 is."""
    first = 0
    while first + 1 < end:
        middle = (first + end) // 2
        first, end = (middle, end) if is_accepted(middle) else (first, middle)
    return first


@pytest.mark.each_value
@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.everything if name in AS_OTHERS else ()) for name in CASES]
)
def test_answers_fit_at_the_least_guarantee_and_the_most_records_that_are_accepted(name, guarantee, asking):
    statistic = CASES[name]

    def privacy(exponent):
        return GUARANTEES[guarantee](Fraction(8, 1 << exponent))

    assert asking.accepted(statistic, privacy(0))
    assert not asking.accepted(statistic, privacy(110))
    least = last(lambda exponent: asking.accepted(statistic, privacy(exponent)), 110)
    for exponent in (0, least):
        times = last(lambda times, exponent=exponent: asking.accepted(statistic, privacy(exponent), times), MOST_TIMES)
        assert asking.accepted(statistic, privacy(exponent), times)
        assert asking.found
        for query, sums in asking.found:
            if isinstance(query, LinearQuery):
                assert UNLIKE * largest(query, sums) <= LARGEST, query.method


class TooWide:
    """The control: a query of the total in units so small that it fits for few records alone."""

    bits = 30

    def measure(self, sums):
        return sums.sum(keepdims=True) << self.bits

    def noise(self, nodes):
        return nodes.values(DiscreteLaplace(1 << 20), 0, np.arange(1)) << self.bits


def test_the_control_leaves_64_bits():
    query = TooWide()
    assert largest(query, np.array([1 << 20, 1 << 20])) <= LARGEST
    assert largest(query, np.array([1 << 32, 1 << 32])) > LARGEST
    query.bits = 40
    assert largest(query, np.array([0, 1])) > LARGEST


STREAMS = [
    ("path", "pure"), ("path", "zcdp"), ("tree", "pure"), ("tree", "zcdp"), ("sqrt", "zcdp"), ("hats", "pure"),
    ("sqrt_ahead", "zcdp"), ("open_hats", "pure"),
    pytest.param("open_powers", "zcdp", marks=pytest.mark.everything),  # minutes are spent on its factors
]  # fmt: skip
STEPS, SMALL = 100, 1 << 16


class SignedTails:
    """Noise at its tail, or a small part of it, at every node, with signs by a pattern.

    Args:
        monkeypatch: Puts it in place of derived noise.
    """

    def __init__(self, monkeypatch):
        self.seed, self.times = 0, 0

        def values(_, law, level, nodes):
            places = np.asarray(nodes).astype(np.uint64) + np.uint64(1_000_003 * level + 7_919 * self.seed)
            signs = (places * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)).astype(np.int64) % 2 * 2 - 1
            size = -(-tail(law) // SMALL) * self.times
            assert size <= LARGEST, "a draw fits"
            return signs * size

        monkeypatch.setattr(DerivedNodes, "values", values)

    def totals(self, stream, value, times):
        """The totals of equal elements, with noise of so many 2^-16-ths of the tail."""
        self.times = times
        return np.asarray(stream().add_many(np.full(STEPS, value)))


@pytest.mark.covering
@pytest.mark.parametrize(("method", "guarantee"), STREAMS)
@pytest.mark.parametrize("exponent", [0, 20])
def test_totals_of_streams_are_sums_at_the_largest_bound_that_is_accepted(method, guarantee, exponent, monkeypatch):
    """Published totals are those of elements and of noise, each by itself, and of small noise many times."""
    noise = SignedTails(monkeypatch)

    def stream(bits):
        steps = None if method.startswith("open") else STEPS
        privacy = GUARANTEES[guarantee](Fraction(1, 1 << exponent))
        return RunningTotal(
            steps, privacy=privacy, bound=1 << bits, low=-(1 << bits), method=method, adaptive=method != "path"
        )

    def accepted(bits):
        try:
            stream(bits)
        except OgiveError as problem:
            if not any(word in str(problem) for word in ("64 bits", "noise", "2^53", "bound")):
                raise
            return False
        return True

    assert accepted(0)
    largest = last(accepted, 80)
    assert largest < 62
    make, bound = lambda: stream(largest), 1 << largest
    steps = np.arange(1, STEPS + 1)
    np.testing.assert_allclose(noise.totals(make, bound, 0), steps * float(bound), rtol=1e-9)
    for noise.seed in range(1 if method.startswith("open") else 4):  # open streams draw millions of values ahead
        small, large = noise.totals(make, 0, 1), noise.totals(make, 0, SMALL)
        assert np.abs(small).max() > 0
        # corrections are rounded to a part of usual noise
        np.testing.assert_allclose(large, small * SMALL, rtol=0, atol=1e-4 * np.abs(large).max())
        for sign in (-1, 1):
            elements = noise.totals(make, sign * bound, SMALL) - large
            close = {"rtol": 1e-9, "atol": 8 * np.spacing(np.abs(large).max() + steps[-1] * float(bound))}
            np.testing.assert_allclose(elements, sign * steps * float(bound), **close)
