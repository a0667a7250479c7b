"""Circuits, comparison keys, shares and reports are exact at the largest parameters that are accepted.

As `test_wide_integers`: real code against slow sums of Python's integers of any size, each with a control.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size
from helpers.wide import LAPLACE, accepted, largest, last, numbers, shared
from scipy.special import log_ndtr

from ogive.columns import Binning, Categories, Domain, Label
from ogive.columns.grids import Grid
from ogive.core.checks import WORD as LARGEST
from ogive.crypto.aggregation.settings import add_masks, mask_vector
from ogive.crypto.circuits import Bit, Builder, evaluate, separate
from ogive.crypto.comparison import KeyShape, evaluate_sums, generate
from ogive.crypto.comparison.evaluation import CHUNK
from ogive.crypto.comparison.keys import GROUPS, MAX_BITS
from ogive.crypto.field import P
from ogive.crypto.tables import project
from ogive.errors import DataError, ParameterError
from ogive.kernels import measure_of
from ogive.kernels.circuits import Entries, kernel_circuit
from ogive.local import TreeOracle
from ogive.local.aggregation import transform
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.noise.laws import largest_share, noise_bound
from ogive.privacy import Adjacency, ZeroConcentratedDP
from ogive.queries import CurveQuery, GroupSums, GroupSumsQuery, PairsQuery, RowValues
from ogive.queries.histograms import ThresholdQuery
from ogive.strategies import design_path, design_projection
from ogive.trust.modulus import added, check_range, measure_modulo, residues, signed
from ogive.trust.secagg.terms import AggregationTerms, Contribution

REPLACE = Adjacency.REPLACE
X, Y = numbers(4), Binning("y", Grid.linear(0, 1, bins=4))

FLOATS = (-1.7e308, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, math.nextafter(1.0, 2.0), 1.7e308)
MANY = Categories("city", tuple(range(1 << 16)))


def sign(left, right):
    """The order of two numbers."""
    return (left > right) - (left < right)


COMPARED = {
    "gini": ((X,), lambda a, b: abs(a[0] - b[0])),
    "variance": ((X,), lambda a, b: (a[0] - b[0]) ** 2),
    "collision": ((MANY,), lambda a, b: int(a == b)),
    "kendall": ((X, Y), lambda a, b: sign(a[0], b[0]) * sign(a[1], b[1])),
    "auc": ((X,), lambda a, b: 2 * (a[0] > b[0]) + (a[0] == b[0])),
}


def rows_of(columns, stepped, bits):
    """Rows at the ends of what may be entered, and the numbers that they stand for."""
    points = (0, 1, (1 << bits) // 2, (1 << bits) - 1, 1 << bits) if stepped else FLOATS
    if MANY in columns:
        points = (0, 1, MANY.size - 2, MANY.size - 1)
    exact = list(itertools.product(points, repeat=len(columns)))
    rows = np.array(exact, dtype=np.float64) / (1 << bits if stepped else 1)
    return rows, exact


@pytest.mark.parametrize("name", list(COMPARED))
def test_kernels_in_circuits_are_exact_at_the_most_bits_and_the_largest_numbers(name):
    columns, slow = COMPARED[name]
    domain, bits = Domain(columns), 30
    circuit_of = kernel_circuit(measure_of(name).kernels[0], domain)
    entries = Entries(domain, circuit_of.steps, bits)
    rows, exact = rows_of(columns, circuit_of.steps, bits)
    builder = Builder()
    people = [entries.read(side("values", entries.width)) for side in (builder.garbler, builder.evaluator)]
    value = circuit_of.build(*people, bits)
    circuit = builder.finish({"value": value})
    left, right = np.repeat(rows, len(rows), axis=0), np.tile(rows, (len(rows), 1))
    bits_of = evaluate(circuit, entries.of(left), entries.of(right))
    found = separate(circuit.outputs, bits_of)["value"].tolist()
    wanted = [slow(a, b) for a, b in itertools.product(exact, repeat=2)]
    assert found == wanted
    if circuit_of.steps:  # the control: a number of one bit less, but for the bit that a step beyond all others takes
        assert not isinstance(value, Bit)
        assert max(wanted) >> (value.width - 2)


@pytest.mark.parametrize("name", ["gini", "variance"])
def test_laplace_noise_in_circuits_is_added_exactly_where_it_is_as_large_as_can_be(name):
    columns, slow = COMPARED[name]
    rows = RowValues(Domain(columns))

    def program(bits):
        epsilon, delta = Fraction(1), Fraction(1, 10**9)
        return PairsQuery(rows, measure_of(name), False, epsilon, delta, "round_robin", 1, "laplace", bits).program(1)

    bits = last(lambda bits: accepted(lambda: program(bits + 1), "precisely enough", "from 1 to 30"), 30) + 1
    made = program(bits)
    law = made.laws[0]
    assert law.largest >= 1 << 30
    values, exact = rows_of(columns, True, bits)
    pairs = [*itertools.product(range(len(exact)), repeat=2)]
    left, right = (made.entries.of(values[[pair[side] for pair in pairs]]) for side in (0, 1))
    random = np.zeros((len(pairs), made.noise_bits), np.bool_)
    random[:, : law.precision] = True  # not zero, and all digits are ones
    for side in (1, -1):
        random[:, -1] = side < 0
        outputs = evaluate(made.circuit, np.hstack([left, random]), np.hstack([right, np.zeros_like(random)]))
        found = separate(made.circuit.outputs, outputs)["kernel 0"].tolist()
        wanted = [slow(exact[a], exact[b]) + side * law.largest for a, b in pairs]
        assert found == wanted
    [port] = made.circuit.outputs
    assert port.width <= 62
    assert law.largest >> (port.width - 3), "the control: two bits less would not hold it"


@pytest.mark.parametrize("group", GROUPS)
def test_sums_of_comparison_keys_are_exact_with_the_largest_payloads(group):
    for bits, count in ((MAX_BITS, 5), (2, CHUNK + size(20_000, part=3))):
        shape = KeyShape(group=group, bits=bits)
        top = shape.domain - 1
        alphas = np.resize([0, top, 1, top, top - 1], count)
        payloads = np.full(count, shape.modulus - 1, np.uint64)
        payloads[1] = shape.modulus // 2
        points = np.array([0, top, top - 1, 1])
        keys = generate(alphas, shape=shape, study=bytes(32), payloads=payloads)
        first, second = (evaluate_sums(key, points, server=server) for server, key in enumerate(keys))
        exact = [
            sum(worth for alpha, worth in zip(alphas.tolist(), payloads.tolist(), strict=True) if point < alpha)
            for point in points.tolist()
        ]
        found = [(int(a) + int(b)) % shape.modulus for a, b in zip(first, second, strict=True)]
        assert found == [each % shape.modulus for each in exact]
        assert found != exact, "the control: modulo something else it is another number"


def test_linear_forms_of_shares_are_exact_where_all_are_as_large_as_can_be():
    for columns in (64, 65, 200):
        elements = np.full((columns, 3), P - 1, np.uint64)
        for held in (elements, np.ascontiguousarray(elements.T).T):
            assert project(held, np.full((2, columns), P - 1, np.uint64)).tolist() == [[columns] * 3] * 2
    # the control: 65 products do not fit 128 bits
    assert 64 * (P - 1) ** 2 < 1 << 128 < 65 * (P - 1) ** 2 + (1 << 128) // 64


SERVED = {
    "path": CurveQuery(numbers(16), design_path(16, privacy=ZeroConcentratedDP(1), adjacency=REPLACE)),
    "projection": CurveQuery(
        numbers(16), design_projection(16, degree=4, privacy=ZeroConcentratedDP(1), adjacency=REPLACE)
    ),
    "counts": GroupSumsQuery(GroupSums(numbers(3), Label("y"), bits=30), LAPLACE, LAPLACE),
    "difference": GroupSumsQuery(GroupSums(numbers(3), Label("y"), bits=30), LAPLACE, LAPLACE, "difference"),
}


def records_at(query, place, records):
    """Sums of so many records in one cell; of sums per group positives of probability 1."""
    sums = np.zeros(query.aggregate.shape, dtype=object)
    if isinstance(query, GroupSumsQuery):
        sums[1, place % sums.shape[1]], sums[3, place % sums.shape[1]] = records << query.groups.bits, records
    else:
        sums.flat[place] = records
    return sums


@pytest.mark.parametrize("modulus", [P, 1 << 64])
@pytest.mark.parametrize("name", list(SERVED))
def test_sums_of_shares_are_exact_at_the_most_records_that_are_accepted(name, modulus):
    query, servers = SERVED[name], 16
    ones = np.zeros(query.aggregate.shape, np.int64)
    matrix = [query.measure(each.reshape(ones.shape)).ravel().tolist() for each in np.eye(ones.size, dtype=np.int64)]
    laws = [level.law for level in query.levels]
    noise = noise_bound(laws, adding=servers, honest=1)

    def check(records):
        check_range(query, records=records, servers=servers, honest=1, modulus=modulus)

    def opened(records):
        """What servers open with noise at its bound, and the same in integers of any size."""
        found, wanted = [], []
        for place, sign in itertools.product((0, ones.size - 1), (-1, 1)):
            sums = records_at(query, place, records)
            exact = [
                sum(int(count) * row[at] for count, row in zip(sums.flat, matrix, strict=True))
                for at in range(len(matrix[0]))
            ]
            shares = [measure_modulo(query, each, modulus).ravel() for each in shared(sums, modulus, servers)]
            total = residues(np.full(len(exact), sign * noise), modulus)
            for each in shares:
                total = added(total, each, modulus)
            found.append(signed(total, modulus).tolist())
            wanted.append([each + sign * noise for each in exact])
        return found, wanted

    most = largest(lambda records: accepted(lambda: check(records), "may leave the range"))
    for records in (most, most // 2 + 1, 1):
        found, wanted = opened(records)
        assert found == wanted
    found, wanted = opened(most << 6)
    assert found != wanted, "the control: with 64 times as many records a sum wraps"


@pytest.mark.parametrize(("parties", "honest"), [(2, 2), (2, 1), (10_000, 10_000), (10_000, 5_000)])
@pytest.mark.parametrize("law", [DiscreteLaplace(1 << 20), LAPLACE, DiscreteGaussian(1 << 40)])
def test_masked_sums_are_exact_at_the_largest_numbers_of_parties_that_are_accepted(law, parties, honest):
    most, noise = (
        largest_share([law], parties=parties, honest=honest),
        noise_bound([law], adding=parties, honest=honest),
    )
    few = min(parties, 4)
    for sign in (-1, 1):
        for beyond in (0, 2 * parties):
            exact = sign * (parties * most + noise + beyond)
            # all parties but few together, and noise with the first
            vectors = [sign * most] * (few - 1) + [exact - sign * most * (few - 1)]
            total = np.zeros(3, np.uint64)
            pair = {(a, b): bytes([a, b]) * 8 for a in range(few) for b in range(a + 1, few)}
            for party, value in enumerate(vectors):
                seeds = {other: pair[min(party, other), max(party, other)] for other in range(few) if other != party}
                whole = np.full(3, value % 2**64, np.uint64)
                total += mask_vector(whole, party=party, own=bytes([party]) * 16, pairs=seeds)
            add_masks(total, plus=[], minus=[bytes([party]) * 16 for party in range(few)])
            opened = total.view(np.int64).tolist()
            assert (opened == [exact] * 3) == (not beyond), "the control: two more of every party wrap"


class Alike:
    """Records of a party, of which only their number matters."""

    def __init__(self, records):
        self.records = records

    def aggregate(self, asked):
        return np.array([self.records, *[0] * (asked.shape[0] - 1)], np.int64)


def test_parties_add_up_the_most_records_that_they_may_have():
    terms, query = AggregationTerms(parties=64, colluding=0), ThresholdQuery(X, 0, LAPLACE)
    most = largest_share([LAPLACE], parties=64, honest=64)
    total, exact = np.zeros(1, np.uint64), 0
    for number in range(1, 65):
        vector = Contribution(Alike(most), number, terms, REPLACE).vector(query, key=bytes([number]) * 32, context=b"")
        total, exact = total + vector, exact + vector.view(np.int64).item()
    assert total.view(np.int64).item() == exact
    assert exact > LARGEST - (1 << 54)
    assert exact != 64 * most, "there is noise"
    with pytest.raises(DataError, match=f"go beyond {most}"):
        Contribution(Alike(most + 1), 1, terms, REPLACE).vector(query, key=bytes(32), context=b"")


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(1000), Fraction(1 << 47)])
def test_the_stated_bound_of_noise_is_passed_with_a_chance_of_at_most_2_to_the_minus_64(scale):
    law = DiscreteLaplace(scale)

    def bits_of(bound):
        """Minus the logarithm of the chance 2 q^(T + 1) / (1 + q) that a value's size is above T."""
        return ((bound + 1) / float(scale) - math.log(2 / (1 + math.exp(-1 / float(scale))))) / math.log(2)

    assert bits_of(noise_bound([law], adding=1, honest=1)) >= 64
    assert bits_of(noise_bound([law], adding=1, honest=1, tail_bits=40)) < 64, "the control"
    assert bits_of(noise_bound([law], adding=3, honest=3)) >= 64
    assert noise_bound([law], adding=4, honest=2) >= 2 * noise_bound([law], adding=1, honest=1)


def test_transforms_of_tallies_are_exact_where_sizes_add_up_to_63_bits():
    draw = np.random.default_rng(7)
    for length in (1, 2, 64, 128):
        weights = draw.integers(1, 1 << 20, length).tolist()
        tally = [int(draw.choice((-1, 1))) * (LARGEST * weight // sum(weights)) for weight in weights]
        tally[0] += (LARGEST - sum(map(abs, tally))) * (1 if tally[0] > 0 else -1)
        signs = [[1 - 2 * ((row & column).bit_count() & 1) for column in range(length)] for row in range(length)]
        wanted = [sum(sign * value for sign, value in zip(row, tally, strict=True)) for row in signs]
        assert transform(np.array(tally, np.int64)).tolist() == wanted
    tally = np.full(4, (LARGEST >> 2) + 1, np.int64)
    assert transform(tally)[0] != 4 * ((LARGEST >> 2) + 1), "the control wraps"


@pytest.mark.parametrize("branching", [2, 7, 8])
def test_reports_of_the_largest_trees_name_the_node_of_the_largest_symbols(branching):
    oracle = TreeOracle(1 << 40, Fraction(64), branching=branching)
    numbers_ = (np.arange(4 * oracle.levels) + (1 << 32) - 4 * oracle.levels).astype(np.int64)
    symbols = np.resize([(1 << 40) - 1, 0, (1 << 40) - 2, 1 << 39], len(numbers_)).astype(np.int64)

    class Words:
        """Random bits that are all ones, so that indices are as large as can be and no sign is flipped."""

        def words(self, count):
            return np.full(count, 0xFFFFFFFF, np.uint32)

    payloads = oracle.randomize(symbols, numbers_, source=Words())
    levels, indices, found = oracle.read(numbers_, payloads)
    for level, index, sign, symbol in zip(*(each.tolist() for each in (levels, indices, found, symbols)), strict=True):
        node = symbol // branching ** (oracle.levels - level)
        assert index == (1 << (branching**level - 1).bit_length()) - 1
        assert sign == 1 - 2 * ((node & index).bit_count() & 1)
    assert branching**oracle.levels >= 1 << 40
    with pytest.raises(ParameterError, match="whole number from 2 to"):
        TreeOracle((1 << 40) + 1, Fraction(1), branching=branching)


def test_reports_add_up_to_the_most_participants_and_other_sums_are_impossible():
    oracle = TreeOracle(4, Fraction(1), seed=1)
    most = 1 << 32
    sums = np.zeros(oracle.shape, np.int64)
    sums[-oracle.levels :] = most // oracle.levels
    sums[0] = most // oracle.levels
    assert oracle.possible(sums, most)
    for wrong in (-(1 << 63), (1 << 63) - 1, -most, most + 1):
        for place in (0, 1, -1):
            other = sums.copy()
            other[place] = wrong
            assert not oracle.possible(other, most)


@pytest.mark.parametrize("sigma", [1000, 1 << 30])
def test_the_stated_bound_of_gaussian_noise_is_passed_with_a_chance_of_at_most_2_to_the_minus_64(sigma):
    def bits_of(bound):
        """Minus the logarithm of the chance erfc(T / (sigma root 2)), of which a value above T has nearly all."""
        return -(log_ndtr(-bound / sigma) + math.log(2)) / math.log(2)

    law = DiscreteGaussian(sigma)
    assert bits_of(noise_bound([law], adding=1, honest=1)) >= 64
    assert bits_of(noise_bound([law], adding=1, honest=1, tail_bits=40)) < 64, "the control"
