"""Selections, means over pairs, counts of values and votes are exact at the largest parameters that are accepted.

`test_integers_fit` asks this of linear queries and streams, `test_wide_shares` of circuits, keys, shares and reports.
Real code is compared with slow sums of Python's integers of any size, with the most records and bits, and with the
widest noise at a tail that it passes with a probability of at most 2^-64. Each test has a control: one step further is
refused, or wraps where the refusal is taken away.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size
from helpers.wide import GAUSSIAN, GEOMETRIC, LAPLACE, AtTails, accepted, largest, last, numbers, shared, tail

from ogive.columns import Binning, Categories, Domain, Label, OpenCategories
from ogive.columns.grids import Grid
from ogive.core.checks import ROOM, Range
from ogive.core.checks import WORD as LARGEST
from ogive.crypto.circuits import evaluate, separate
from ogive.crypto.field import P
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.kernels import InOrder, TripleTable, measure_of, ranks
from ogive.kernels.base import MOST_RECORDS, numerator, steps
from ogive.noise.laws import noise_bound
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.queries import (
    Ballots,
    Cells,
    DegreesQuery,
    DiscoveryQuery,
    JointQuantilesQuery,
    KernelQuery,
    LabelsQuery,
    NoisyMaxQuery,
    QuantileScore,
    RowValues,
    SparseVectorQuery,
    ValueCounts,
    VotesQuery,
    selection,
)
from ogive.queries.aggregates import Counted, read, write
from ogive.queries.joint_choice import Ranks
from ogive.queries.labels import REFUSED, Check
from ogive.queries.selection import MAX_BEYOND, MAX_BITS, SIDES, common_unit
from ogive.strategies import design_path, design_projection
from ogive.trust.servers.labeling import SERVERS, Comparison

REPLACE = Adjacency.REPLACE


SHAPES = {"first": (1, 0, 0, 0, 0), "last": (0, 0, 0, 0, 1), "spread": (3, 1, 0, 2, 2), "middle": (1, 0, 6, 0, 1)}


def slow_scores(score, counts):
    """Minus the ranks by which each bin is off, bin after bin."""
    wanted, unit = score.probability.numerator, score.probability.denominator
    rank, below, found = wanted * sum(counts) + unit * score.shift, 0, []
    for number, count in enumerate(counts):
        high = unit * below - rank if number else 0
        low = rank - unit * (below + count) if number < len(counts) - 1 else 0
        found.append(-max(0, high, low))
        below += count
    return found


@pytest.mark.covering
@pytest.mark.parametrize("bits", [0, 10, MAX_BITS])
@pytest.mark.parametrize("shift", [0, selection.MAX_SHIFT, -selection.MAX_SHIFT])
@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 1000), Fraction(1, 2), Fraction(999, 1000), Fraction(1)])
def test_noisy_maxima_are_exact_for_the_most_records_or_refused(share, shift, bits):
    score = QuantileScore(share, first=0, last=4, shift=shift)
    query = NoisyMaxQuery(numbers(5), score, GEOMETRIC, bits)

    def ask(shape, times, seed=0):
        sums, nodes = np.array(SHAPES[shape], np.int64) * times, AtTails(seed)
        answer = query.answer(sums, nodes)
        slow = [(each << bits) + int(noise) for each, noise in
                zip(slow_scores(score, sums.tolist()), nodes.drawn[0], strict=True)]  # fmt: skip
        return max(slow) < LARGEST and answer.tolist() == [slow.index(max(slow))]

    for shape in SHAPES:
        most = largest(lambda times, shape=shape: accepted(lambda: ask(shape, times), "do not fit"), 1 << 60)
        assert most >= 1 << 30
        assert all(ask(shape, times, seed) for times in (most, most // 2 + 1, 1) for seed in range(9))


def test_the_control_wraps_where_nobody_refuses(monkeypatch):
    score = QuantileScore(Fraction(1, 1000), first=0, last=4)
    sums = np.array([0, 1, 0, 0, 1], np.int64) << 59
    with pytest.raises(DataError, match="ranks of this many records do not fit"):
        score.scores(sums)
    monkeypatch.setattr(Range, "check", lambda *_: None)
    assert score.scores(sums).tolist() != slow_scores(score, sums.tolist())


@pytest.mark.parametrize("side", list(SIDES))
def test_bounds_by_a_sparse_vector_are_exact_for_the_most_records_or_refused(side, monkeypatch):
    query = SparseVectorQuery(numbers(5), side, LAPLACE, LAPLACE, MAX_BEYOND)

    def ask(shape, times, seed=0):
        sums, nodes = np.array(SHAPES[shape], dtype=object) * times, AtTails(seed)
        answer = query.answer(sums.astype(np.int64), nodes)
        counts = sums.tolist() if side == "high" else sums.tolist()[::-1]
        limit, noise = MAX_BEYOND - int(nodes.drawn[0][0]), nodes.drawn[1].tolist()
        small = [sum(counts[number + 1 :]) + each <= limit for number, each in enumerate(noise)]
        steps_ = (*small, True).index(True)
        return answer.tolist() == [steps_ if side == "high" else len(counts) - 1 - steps_]

    for shape in SHAPES:
        times = largest(lambda times, shape=shape: accepted(lambda: ask(shape, times), "too many records"), 1 << 60)
        assert times >= 1 << 58
        assert all(ask(shape, times, seed) for seed in range(9))
    most = np.array([0, LARGEST, 0, 0, 0][:: 1 if side == "low" else -1], np.int64)
    with pytest.raises(DataError, match="too many records"):
        query.answer(most, AtTails(0))
    # the control: nobody refuses, and some answer has nearly all records beyond it
    monkeypatch.setattr(Range, "check", lambda *_: None)
    found = [query.answer(most, AtTails(seed)).item() for seed in range(9)]
    assert min(found) < 3 if side == "high" else max(found) > 1


JOINT = {
    "half": (Fraction(1, 2),),
    "nine": tuple(Fraction(number, 10) for number in range(1, 10)),
    "long": tuple(Fraction(number, 8191) for number in (0, 1, 2, 4000, 4095, 4096, 8189, 8190, 8191)),
}


def slow_length(upto, unit, wanted, bins, total):
    """The length of the shortest walk through the ranks of some bins, over all places where it may turn."""
    first = [0, *upto]
    intervals = [(first[bin_] - aim * total, upto[bin_] - aim * total) for bin_, aim in zip(bins, wanted, strict=True)]
    intervals.append((upto[-1] - unit * total,) * 2)
    lengths = {0: 0}
    for low, high in intervals:
        lengths = {
            place: min(length + abs(place - before) for before, length in lengths.items())
            for place in {0, *itertools.chain(*intervals)}
            if low <= place <= high
        }
    return min(lengths.values())


def slow_free_length(upto, unit, wanted, bins):
    """The least over all totals, in which lengths are convex."""
    low, high = 0, 4 * upto[-1] // unit
    while low < high:
        middle = (low + high) // 2
        here, there = (slow_length(upto, unit, wanted, bins, each) for each in (middle, middle + 1))
        low, high = (middle + 1, high) if here > there else (low, middle)
    return slow_length(upto, unit, wanted, bins, low)


@pytest.mark.parametrize("name", list(JOINT))
def test_costs_of_joint_quantiles_are_exact_for_the_most_records_that_are_accepted(name):
    shares, bins = JOINT[name], 12
    unit = common_unit(shares)
    wanted = [int(share * unit) for share in shares]
    query = JointQuantilesQuery(numbers(bins), shares, GEOMETRIC)
    most = (1 << 59) // unit**2 - 1
    draw = np.random.default_rng(4)
    rows = np.sort(draw.integers(0, bins, (8, len(shares))), axis=1)
    rows[0], rows[1] = 0, bins - 1

    def of(records):
        sums = np.zeros(bins, np.int64)
        sums[[0, 5, bins - 1]] = records // 3
        sums[2] += records - int(sums.sum())
        fast, upto = Ranks.of(sums, unit, wanted), [unit * each for each in itertools.accumulate(sums.tolist())]
        free = [slow_free_length(upto, unit, wanted, row) for row in rows.tolist()]
        fixed = [slow_length(upto, unit, wanted, row, records) for row in rows.tolist()]
        totals = np.full(len(rows), records, np.int64)
        same = fast.lengths(rows, totals).tolist() == fixed and fast.free_lengths(rows).tolist() == free
        return sums, same, max(*fixed, *free)

    sums, same, longest = of(most)
    assert query.answer(sums, None).shape == (len(shares),)
    assert same
    assert unit * longest <= LARGEST, "times the factor of a cost"
    with pytest.raises(DataError, match="do not fit"):
        query.answer(of(most + 1)[0], None)
    assert not of(min(64 * unit * most, 1 << 62))[1], "the control wraps"


@pytest.mark.parametrize("total_known", [True, False])
def test_scores_of_approximations_are_rounded_once_for_the_most_records(total_known):
    bins, unit = 64, 1 << selection.FRACTION_BITS
    adjacency = REPLACE if total_known else Adjacency.ADD_OR_REMOVE
    projection = design_projection(bins, degree=6, privacy=ZeroConcentratedDP(1), adjacency=adjacency)
    path = design_path(bins, privacy=PureDP(1), adjacency=adjacency)
    noise = (0, (1 << 40) - 1, (1 << 50) - 1)
    score = selection.ApproximationScore(bins, (projection, projection, path), noise, total_known)
    columns = [[*map(Fraction, row)] for row in selection.residuals(projection, total_known=total_known).tolist()]
    for places in ([0], [bins - 1], [31], [*range(bins)], [0, bins - 1]):
        sums = np.zeros(bins, np.int64)
        sums[places] = selection.MOST_RECORDS // len(places)
        moved = [
            sum(int(count) * row[place] for count, row in zip(sums, columns, strict=True)) for place in range(bins)
        ]
        squared = sum(each**2 for each in moved) * unit**2
        found = score.scores(sums).tolist()
        for number, size_ in enumerate(noise):
            wanted = squared + size_**2 if number < 2 else Fraction(size_**2)
            exact = Fraction(
                math.isqrt(math.floor(wanted << 40 if isinstance(wanted, int) else wanted * 2**40)), 1 << 20
            )
            assert abs(-found[number] - exact) < Fraction(3, 4), (number, places)
        with pytest.raises(UnsupportedError, match="at most 2\\^31 records"):
            score.scores(sums + (np.arange(bins) == 0))


@pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN])
@pytest.mark.parametrize("bits", [0, 20, 45])
def test_numbers_of_equal_pairs_are_exact_for_the_most_records_that_are_accepted(bits, law):
    query = DegreesQuery(Cells(Domain((Categories("city", tuple("abcd")),))), (law, law), bits)
    most = (1 << (61 - bits)) - 1
    for parts in ((1, 0, 0, 0), (1, 1, 1, 1), (5, 2, 1, 0)):
        for seed in range(4):
            counts = [most * part // sum(parts) for part in parts]
            counts[0] += most - sum(counts)
            nodes = AtTails(seed)
            found = query.answer(np.array(counts, np.int64), nodes).tolist()
            noise = [int(nodes.drawn[level][0]) for level in (0, 1)]
            largest = (max(counts) << bits) + noise[0]
            degree = min(max(-(-largest // 2**bits) + query.margin, 1), most - 1)
            pairs = sum(c * (c - 1) // 2 - max(0, c - degree) * max(0, c - degree - 1) // 2 for c in counts)
            assert found == [largest, math.floor(Fraction(pairs << bits, degree) + Fraction(1, 2)) + noise[1]]
        counts[0] += 1
        with pytest.raises(DataError, match="too many records"):
            query.answer(np.array(counts, np.int64), None)
    assert (most << bits) + tail(law) <= LARGEST < 8 * (most << bits), "it is not refused too early"


X, Y, LABEL = numbers(4), Binning("y", Grid.linear(0, 1, bins=4)), Label("label")
THREE = Categories("city", ("a", "b", "c"))
ALIKE = TripleTable.of(THREE, lambda x, y, z: x == y == z)
PAIRED = {
    "gini": ((X,), lambda a, b, c: [(4 * a * c + 2 * b * (a + c)) << 28]),
    "variance": ((X,), lambda a, b, c: [(4 * a * c + b * (a + c)) << 58]),
    "kendall": ((X, Y), lambda a, b, c: [a * b + a * c + b * c]),
    "kendall_b": ((X, Y), lambda a, b, c: [a * b + a * c + b * c] * 3),
    "collision": ((THREE,), lambda a, b, c: [sum(math.comb(each, 2) for each in (a, b, c))]),
    "auc": ((X, LABEL), lambda a, b, c: [2 * (a + b) * c]),
    "alike": ((THREE,), lambda a, b, c: [sum(math.comb(each, 3) for each in (a, b, c)) << 30]),
}
"""Columns, and sums over all pairs in whole steps for so many records at the lower bound, between, at the upper one."""


def means_query(name, bits, law):
    columns, exact = PAIRED[name]
    measure = measure_of(ALIKE) if name == "alike" else measure_of(name)
    query = KernelQuery(RowValues(Domain(columns)), measure, (law,) * len(measure.kernels), bits)
    return query, exact


def three_sizes(name, sizes):
    """Rows of three kinds."""
    third = {"auc": (0, 0, 1)}.get(name, (0, 0.5, 1))
    values = (0, 1, 2) if THREE in PAIRED[name][0] else (0, 0.5, 1)
    return np.repeat([values, third][: len(PAIRED[name][0])], sizes, axis=1).T.astype(np.float64)


@pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN])
@pytest.mark.parametrize("name", list(PAIRED))
def test_means_over_pairs_are_exact_with_the_most_bits_and_records_that_are_accepted(name, law):
    for bits in (0, 45):
        query, exact = means_query(name, bits, law)

        def ask(exponent, query=query, exact=exact, bits=bits):
            sizes = ((1 << exponent) + 2, 3, (1 << exponent) + 1)
            rows, nodes = three_sizes(name, sizes), AtTails(exponent)
            found = query.answer(query.rows.sums(rows), nodes).tolist()
            records = sum(sizes)
            partners = math.comb(records - 1, query.degree - 1)
            if name == "auc":
                partners = max(sizes[0] + sizes[1], sizes[2])
            for number, (kernel, total) in enumerate(zip(query.measure.kernels, exact(*sizes), strict=True)):
                swing = kernel.scale(query.columns, 30).swing
                slow = math.floor(Fraction(total << bits, swing * partners) + Fraction(1, 2))
                assert found[number] == slow + int(nodes.drawn[number][0])

        if bits == 45:
            assert last(lambda exponent: accepted(lambda: ask(exponent), "too many records"), 20) >= 14
        else:
            ask(size(19, part=16))


def test_tuples_of_ten_classes_are_counted_whole():
    kernel, each = InOrder(10), 50
    values, classes = np.repeat(np.arange(10.0), each)[:, None], np.repeat(np.arange(10), each)
    total, _ = numerator(kernel, values, Domain((X,)), bits=30, classes=classes)
    assert total == math.factorial(10) * each**10 > LARGEST


def test_pairs_of_so_many_records_that_counts_would_wrap_are_refused():
    most = np.int64(MOST_RECORDS)
    assert int(most * (most - 1)) == MOST_RECORDS * (MOST_RECORDS - 1)
    with np.errstate(over="ignore"):
        more = most + most // 32
        assert int(more * more) != int(more) ** 2
    many = np.broadcast_to(0.0, (MOST_RECORDS + 1,))  # of one number in memory
    for ask in (
        lambda: ranks.count_pairs(many, many),
        lambda: ranks.tied([many]),
        lambda: ranks.count_greater(many, np.zeros(0)),
        lambda: steps(np.broadcast_to(0.0, (MOST_RECORDS + 1, 1)), Domain((X,)), 30),
    ):
        with pytest.raises(DataError, match="more than 3000000000 records"):
            ask()


def test_counts_of_values_are_exact_for_the_most_records_that_are_accepted():
    query = DiscoveryQuery(ValueCounts(OpenCategories("city", missing="count")), LAPLACE, 1)
    values = ["", "a" * 64, -(1 << 62), (1 << 62) + 1, True]
    for seed in range(6):
        counts = dict.fromkeys(values, 1) | {values[seed % 5]: ROOM - 5}
        nodes = AtTails(seed)
        found = read(query.answer(write(Counted(counts, missing=1)), nodes))
        told = read(write(Counted(counts))).counts  # in the order of their noise
        noisy = {value: count + int(noise) for (value, count), noise in zip(told.items(), nodes.drawn[0], strict=True)}
        assert found.counts == {value: count for value, count in noisy.items() if count >= 1}
        assert found.missing == 1 + int(nodes.drawn[1][0])
    with pytest.raises(DataError, match="too many records"):
        query.answer(write(Counted({"a": ROOM}, missing=1)), AtTails(0))
    assert read(write(Counted({"a": LARGEST}))).counts == {"a": LARGEST}
    with pytest.raises(OverflowError):
        write(Counted({"a": LARGEST + 1}))


VOTES = {
    "gaussian": LabelsQuery(Ballots(("q",), 2), GAUSSIAN, 1, 16, Check(0, GAUSSIAN)),
    "expected": LabelsQuery(Ballots(("q",), 2), GAUSSIAN, 1, 16, Check(0, GAUSSIAN, ((0, 0),))),
    "laplace": LabelsQuery(Ballots(("q",), 2), LAPLACE, 1),
}
"""Of one query and two classes; asked of several queries and classes below."""


def ballots_of(name, queries, classes, teachers, votes):
    """The query of some votes, with a threshold that some of them reach."""
    of = VOTES[name]
    ballots = Ballots(tuple(f"q{number}" for number in range(queries)), classes)
    if of.check is None:
        return LabelsQuery(ballots, of.law, queries, of.bits)
    expected = (
        None if of.check.expected is None else tuple(tuple(each << of.bits for each in row) for row in votes[::-1])
    )
    threshold = (teachers // 2 << of.bits) + 1
    return LabelsQuery(ballots, of.law, queries, of.bits, Check(threshold, of.check.law, expected))


def slow_labels(query, votes, noise):
    """Labels of votes, and whether each passes its check, in integers of any size."""
    bits, found, passed = query.bits, [], []
    for number, row in enumerate(votes):
        counts = [(count << bits) + each for count, each in zip(row, noise[len(query.levels) - 1][number], strict=True)]
        found.append(counts.index(max(counts)))
        check = query.check
        if check is None:
            continue
        height = max(row) << bits
        if check.expected is not None:
            excess = max((count << bits) - each for count, each in zip(row, check.expected[number], strict=True))
            height = (excess + (1 << bits >> 1) >> bits) << bits
        passed.append(height + noise[0][number] >= check.threshold)
    return found, passed


@pytest.mark.parametrize("name", list(VOTES))
def test_labels_of_two_servers_are_exact_with_the_most_teachers_that_are_accepted(name):
    queries, classes = 24, 5
    draw = np.random.default_rng(1)

    def votes_of(teachers):
        shares = draw.integers(0, 4, (queries, classes)).astype(object)
        shares[:3], shares[:3, 1], shares[3, 0] = 0, 1, 4
        shares[:, -1] += shares.sum(axis=1) == 0
        rows = [[int(each) * teachers // int(sum(row)) for each in row] for row in shares]
        return [[first + teachers - sum([first, *rest]), *rest] for first, *rest in rows]

    def of_each(law):
        """Of one server, where that of both together is what it passes with a probability of at most 2^-64."""
        return noise_bound([law], adding=SERVERS, honest=1) // SERVERS

    def compared(teachers):
        votes = votes_of(teachers)
        return votes, Comparison(ballots_of(name, queries, classes, teachers, votes), teachers)

    def labels(votes, comparison):
        """Labels and checks in circuits, and in integers."""
        query, numbers_ = comparison.query, np.arange(queries)
        sums, nodes = shared(votes, P), [AtTails(number, of_each) for number in range(SERVERS)]
        label_bits = [comparison.label_bits(each, sums[each], nodes[each], numbers_) for each in range(SERVERS)]
        found = separate(comparison.label.outputs, evaluate(comparison.label, *label_bits))["place"].tolist()
        passed = []
        if comparison.check is not None:
            check_bits = [comparison.check_bits(each, sums[each], nodes[each], numbers_) for each in range(SERVERS)]
            passed = evaluate(comparison.check, *check_bits)[:, 0].tolist()
        noise = {
            level: (nodes[0].drawn[level].astype(object) + nodes[1].drawn[level]).tolist() for level in nodes[0].drawn
        }
        return (found, passed), slow_labels(query, votes, noise)

    most = 1 << last(
        lambda exponent: accepted(lambda: compared(1 << exponent), "leave the range", "expected votes"), 62
    )
    assert most >= 1 << 42
    votes, comparison = compared(most)
    fast, slow = labels(votes, comparison)
    assert fast == slow
    assert len(set(slow[1])) != 1
    # the control: circuits for so many teachers do not hold the votes of more
    fast, slow = labels(votes_of(16 * most), comparison)
    assert fast != slow
    # nor does a curator count so many
    curator = AtTails(3)
    if name != "laplace":
        with pytest.raises(DataError, match="too many votes"):
            comparison.query.answer(np.array(votes_of(most << 2), np.int64), curator)


@pytest.mark.parametrize("name", list(VOTES))
def test_a_curator_counts_the_most_votes_that_are_accepted(name):
    queries, classes = 6, 4
    bits = VOTES[name].bits
    most = (1 << (61 - bits)) - 1
    votes = [[most // queries // classes * weight // 4 for weight in row]
             for row in np.random.default_rng(2).integers(0, 5, (queries, classes)).tolist()]  # fmt: skip
    votes[0][0] += most - sum(map(sum, votes))
    query = ballots_of(name, queries, classes, most // queries, votes)
    nodes, sums = AtTails(4), np.array(votes, np.int64)
    answer = query.answer(sums, nodes).tolist()
    noise = {level: drawn.astype(object).tolist() for level, drawn in nodes.drawn.items()}
    last_level, chosen = len(query.levels) - 1, [number for number, label in enumerate(answer) if label != REFUSED]
    noise[last_level] = dict(zip(chosen, noise[last_level], strict=True))
    noise[last_level] |= {number: [0] * classes for number in range(queries) if number not in chosen}
    labels, passed = slow_labels(query, votes, noise)
    passed = passed or [True] * queries
    assert answer == [label if each else REFUSED for label, each in zip(labels, passed, strict=True)]
    votes_query = VotesQuery(query.ballots, query.law, bits)
    found = votes_query.measure(sums) + votes_query.noise(nodes)
    assert (found.astype(object) - nodes.drawn[0].reshape(sums.shape)).tolist() == [
        [v << bits for v in row] for row in votes
    ]
    sums[0, 0] += 1
    for asked in (lambda: query.answer(sums, None), lambda: votes_query.measure(sums)):
        with pytest.raises(DataError, match="too many votes"):
            asked()


@pytest.mark.parametrize("wrong", [-1, 1 << 61])
def test_expected_votes_of_which_differences_would_wrap_are_refused(wrong):
    for right in (0, (1 << 61) - 1):
        LabelsQuery(Ballots(("q",), 2), GAUSSIAN, 1, 16, Check(0, GAUSSIAN, ((right, 0),)))
    with pytest.raises(ParameterError, match="expected votes must be from 0 to"):
        LabelsQuery(Ballots(("q",), 2), GAUSSIAN, 1, 16, Check(0, GAUSSIAN, ((0, wrong),)))
