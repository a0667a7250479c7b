"""Tables over triples: against every triple of small data sets, with what one replaced record changes."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest

from ogive import kernels
from ogive.columns import Binning, Categories, Domain
from ogive.columns.grids import Grid
from ogive.errors import DataError, ParameterError
from ogive.kernels.tuples import MOST_SYMBOLS, TripleTable, of_triples

PARTY = Categories("party", ("red", "green", "blue"))
DOMAIN = Domain((PARTY,))
RANDOM = TripleTable(np.random.default_rng(5).normal(size=(3, 3, 3)))
DIFFER = TripleTable.of(PARTY, lambda x, y, z: len({x, y, z}) == 3)
ALIKE = TripleTable.of(PARTY, lambda x, y, z: x == y == z)
TABLES = {"random": RANDOM, "differ": DIFFER, "alike": ALIKE}


def rows(symbols):
    return np.array(symbols, dtype=np.float64).reshape(-1, 1)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("symbols", [(0, 1, 2), (0, 0, 1, 2, 2), (2, 2, 2, 2), (1, 0, 1, 2, 0, 1, 2)], ids=str)
def test_means_and_sums_are_those_over_all_triples(name, symbols):
    kernel = TABLES[name]
    values = [kernel.values[a][b][c] for a, b, c in itertools.combinations(symbols, 3)]
    assert kernel.exact(rows(symbols)) == pytest.approx(np.mean(values), rel=1e-12)
    for bits in (1, 8, 30):
        scale = kernel.scale(DOMAIN, bits)
        steps = [round((Fraction(value) - scale.zero) / scale.unit) for value in values]
        assert kernel.pair_sum(rows(symbols), DOMAIN, bits=bits) == sum(steps)
        assert scale.mean(sum(steps), len(values)) == pytest.approx(np.mean(values), abs=float(scale.unit))


def largest_change(kernel, size, bits):
    """Of the sum, when one record of any data set of that size is replaced by any other."""
    sums = {
        symbols: kernel.pair_sum(rows(symbols), DOMAIN, bits=bits)
        for symbols in itertools.combinations_with_replacement(range(3), size)
    }
    return max(
        abs(sums[tuple(sorted((*rest, one)))] - sums[tuple(sorted((*rest, other)))])
        for rest in itertools.combinations_with_replacement(range(3), size - 1)
        for one, other in itertools.combinations(range(3), 2)
    )


@pytest.mark.parametrize("size", [3, 4, 6])
def test_one_replaced_record_changes_the_sum_by_its_triples_at_most(size):
    partners = (size - 1) * (size - 2) // 2
    for kernel, reached in ((ALIKE, True), (DIFFER, size == 3), (RANDOM, None)):
        limit = kernel.scale(DOMAIN, 8).sensitivity(partners)
        change = largest_change(kernel, size, 8)
        assert change <= limit
        # all others are equal where three are alike; three that differ need two others that do
        assert reached is None or (change == limit) is reached
    if size > 4:
        assert largest_change(ALIKE, size, 8) > ALIKE.scale(DOMAIN, 8).sensitivity(size - 1), "pairs are too few"


def test_an_added_record_changes_the_mean_by_what_depends_on_the_private_number():
    """Why the number of records must be public: the change of the sum grows with its square."""
    changes = [
        ALIKE.pair_sum(rows([0] * (size + 1)), DOMAIN, bits=1) - ALIKE.pair_sum(rows([0] * size), DOMAIN, bits=1)
        for size in (3, 4, 5, 20)
    ]
    assert [each // 2 for each in changes] == [3, 6, 10, 190]


def test_the_swing_is_the_largest_change_of_one_symbol():
    numbers = np.rint((RANDOM.table - RANDOM.table.min()) / np.ptp(RANDOM.table) * 256)
    slow = max(abs(numbers[a, b, c] - numbers[other, b, c]) for a, b, c, other in itertools.product(range(3), repeat=4))
    assert RANDOM.scale(DOMAIN, 8).swing == slow < 256
    assert ALIKE.scale(DOMAIN, 8).swing == 256


def test_tables_are_made_symmetric_once():
    given = np.arange(27.0).reshape(3, 3, 3)
    made = TripleTable(given)
    for a, b, c in itertools.product(range(3), repeat=3):
        expected = np.mean([given[each] for each in itertools.permutations((a, b, c))])
        assert made.values[a][b][c] == pytest.approx(expected)
        assert made.values[a][b][c] == made.values[c][a][b] == made.values[b][a][c]
    assert TripleTable(made.values) == made
    assert TripleTable(RANDOM.values) == RANDOM


def test_bins_of_numbers_are_those_of_the_grid():
    column = Binning("x", Grid.linear(0, 1, bins=4))
    kernel = TripleTable.of(column, lambda x, y, z: max(x, y, z))
    assert kernel.edges == (0.25, 0.5, 0.75)
    values = np.array([0.0, 0.25, 0.2500001, 0.75, 1.0])
    assert kernel.symbols(values[:, None]).tolist() == column.symbols(values).tolist() == [0, 0, 1, 2, 3]
    kernel.check(Domain((column,)))
    whole = TripleTable.of(Binning("x", Grid.integers(2, 5)), lambda x, y, z: x * y * z)
    assert whole.values[0][1][3] == 2 * 3 * 5
    assert whole.symbols(np.array([[2.0], [5.0]])).tolist() == [0, 3]


def test_a_table_is_plain_data():
    measure = kernels.measure_of(TripleTable.of(Binning("x", Grid.linear(0, 1, bins=4)), lambda x, y, z: x + y + z))
    data = json.loads(json.dumps(measure.to_dict()))
    assert kernels.measure_from_dict(data).kernels == measure.kernels
    assert of_triples(measure)
    assert not of_triples(kernels.measure_of("gini"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TripleTable(np.zeros((3, 3))), r"of shape \(k, k, k\) with k from 2 to 32, got shape \(3, 3\)"),
        (lambda: TripleTable(np.zeros((1, 1, 1))), "k from 2 to 32"),
        (lambda: TripleTable(np.zeros((40, 40, 40))), "k from 2 to 32"),
        (lambda: TripleTable("table"), "must hold numbers"),
        (lambda: TripleTable(np.full((2, 2, 2), np.nan)), "finite numbers"),
        (lambda: TripleTable([[[1.5e308, 0], [0, 0]], [[0, 0], [0, -1.5e308]]]), "finite differences"),
        (lambda: TripleTable(np.ones((2, 2, 2))), "the same everywhere"),
        (lambda: TripleTable(RANDOM.values, (1.0,)), "edges must be 2 ascending numbers"),
        (lambda: TripleTable(RANDOM.values, (2.0, 1.0)), "edges must be 2 ascending numbers"),
        (lambda: TripleTable.of(Categories("x", tuple(range(MOST_SYMBOLS + 1))), max), "at most 32 categories or bins"),
        (lambda: RANDOM.matrix(DOMAIN), "three records, not at pairs"),
        (lambda: RANDOM.spread(DOMAIN), "three records, not at pairs"),
        (lambda: RANDOM(rows((0,)), rows((1,))), "three records, not at pairs"),
        (lambda: RANDOM.exact(rows((0, 5, 1))), "must be whole, from 0 to 2"),
        (lambda: RANDOM.check(Domain((Categories("x", (0, 1)),))), "of 3 categories or bins, and column 'x' has 2"),
        (lambda: RANDOM.check(Domain((Binning("x", Grid.linear(0, 1, bins=2)),))), "give bins=3"),
        (lambda: RANDOM.check(Domain((Binning("x", Grid.linear(0, 1, bins=3)),))), "are not those of the table"),
        (lambda: RANDOM.check(Domain((PARTY, Categories("x", (0, 1))))), "looks at 1 column"),
    ],
)
def test_refusals_say_what_would_be_right(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_two_records_are_too_few():
    with pytest.raises(DataError, match="at least three records, got 2"):
        RANDOM.exact(rows((0, 1)))
