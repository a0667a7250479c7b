"""What pairs of people give out: the law of every output, its exact price, and who spends what."""

import dataclasses
import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import is_everything, size
from scipy import stats

from ogive.columns import Binning, Categories, Domain, Label
from ogive.columns.grids import Grid
from ogive.crypto.circuits import LaplaceLaw, ResponseLaw, evaluate
from ogive.errors import DataError, ParameterError
from ogive.kernels import measure_of
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP
from ogive.queries import PairsQuery, RowValues
from ogive.queries.pairs import DESIGNS

LEVEL = 1e-9
UNIT = PrivacyUnit(Adjacency.REPLACE)
X = Binning("x", Grid.linear(0.0, 1.0, bins=2))
ONE = Fraction(1)
DELTA = Fraction(1, 10**6)


def query(measure="gini", columns=(X,), *, noise="response", delta=None, design="round_robin", rounds=1, bits=4, e=ONE):
    delta = (DELTA if noise == "laplace" else Fraction(0)) if delta is None else delta
    classes = isinstance(columns[-1], Label) and measure == "auc"
    rows = RowValues(Domain(tuple(columns)))
    return PairsQuery(rows, measure_of(measure), classes, e, delta, design, rounds, noise, bits)


def outputs(asked, left, right, pairs, seed=1):
    """What comes out for so many pairs of the same two people."""
    program = asked.program(asked.rounds)
    entered = asked.entries.of(np.array([left, right], dtype=float))
    sides = (np.broadcast_to(row, (pairs, len(row))) for row in entered)
    return program, program.run(*sides, source=KeyedSource.from_seed(seed), evaluate=evaluate, done=lambda pairs: None)


def fits(found, law):
    """P-value of the G-test of integers against exact probabilities, rare ones together."""
    counts, size = Counter(found.tolist()), len(found)
    common = [value for value, chance in law.items() if chance * size >= 20]
    expected = [float(law[value]) * size for value in common]
    observed = [counts[value] for value in common]
    rest = size - sum(expected)
    if rest > 1e-6 * size:
        expected, observed = [*expected, rest], [*observed, size - sum(observed)]
    else:
        assert sum(observed) == size, "something came out that cannot"
        expected[0] += rest
    return stats.power_divergence(observed, expected, lambda_="log-likelihood").pvalue


def exact_law(program, whole):
    """Exact probabilities of one kernel's outputs."""
    [law] = program.laws
    if isinstance(law, LaplaceLaw):
        return {whole + noise: law.probability(noise) for noise in range(-law.largest, law.largest + 1)}
    one = Fraction(whole, 1 << program.entries.bits)
    return {1: one * (1 - law.change) + (1 - one) * law.change, 0: (1 - one) * (1 - law.change) + one * law.change}


@pytest.mark.parametrize("noise", ["response", "laplace"])
@pytest.mark.parametrize(("left", "right", "whole"), [(0.0, 0.0, 0), (0.25, 0.75, 8), (0.0, 1.0, 16)])
def test_distances_come_out_with_the_stated_law(noise, left, right, whole):
    program, found = outputs(query(noise=noise), [left], [right], size(60_000, part=20_000))
    law = exact_law(program, whole)
    assert fits(found[:, 0], law) > LEVEL
    # control: that of a distance one step further, or of a twentieth more noise
    step = 1 if whole < 16 else -1
    assert fits(found[:, 0], exact_law(program, whole + 2 * step)) < LEVEL


def test_the_mean_of_what_is_read_is_the_kernels_value():
    for noise in ("response", "laplace"):
        asked = query(noise=noise, bits=6)
        program, found = outputs(asked, [0.125], [0.875], size(200_000, part=80_000))
        values = program.read(found)[:, 0]
        error = values.std() / np.sqrt(len(values))
        assert abs(values.mean() - 0.75) < 6 * error
        assert abs(values.mean() - 0.70) > 6 * error, "a value that is a little off would be seen"


@pytest.mark.parametrize(
    ("measure", "columns", "left", "right", "true"),
    [
        ("collision_probability", (Categories("c", (0, 1, 2)),), [1], [1], 1),
        ("kendall", (Categories("a", (0, 1, 2)), X), [0, 0.2], [2, 0.1], 2),
        ("kendall", (Categories("a", (0, 1, 2)), X), [0, 0.2], [2, 0.3], 1),
        ("kendall", (Categories("a", (0, 1, 2)), X), [0, 0.2], [0, 0.3], 0),
        ("auc", (X, Label("y", (1,), (0,))), [0.5, 1], [0.5, 0], 1),
        ("auc", (X, Label("y", (1,), (0,))), [0.6, 1], [0.5, 0], 2),
    ],
)
def test_few_values_come_out_as_randomized_responses(measure, columns, left, right, true):
    asked = query(measure, columns)
    kernels = len(asked.columns.columns)
    program, found = outputs(asked, left[:kernels], right[:kernels], 60_000)
    [law] = program.laws
    others = law.change / (law.values - 1)
    expected = {index: others if index != true else 1 - law.change for index in range(law.values)}
    assert fits(found[:, 0], expected) > LEVEL
    shifted = {(index + 1) % law.values: chance for index, chance in expected.items()}
    assert fits(found[:, 0], shifted) < LEVEL


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), ONE, Fraction(5)])
@pytest.mark.parametrize("noise", ["response", "laplace"])
def test_the_loss_of_an_output_is_exactly_within_its_price(epsilon, noise):
    """Hockey-stick divergence of the exact laws for all pairs of values that one person can make of a pair's."""
    asked = query(noise=noise, bits=3, e=epsilon)
    program = asked.program(1)
    price = asked.price(UNIT)
    assert price.epsilon == program.epsilon <= epsilon
    ratio = Fraction(np.exp(float(price.epsilon)) * (1 + 1e-12))
    worst = Fraction(0)
    wholes = range(9) if is_everything() else (0, 1, 4, 8)
    laws = [exact_law(program, whole) for whole in wholes]
    # Laplace noise of all distances is one law, moved: differences of distances are all that matters
    if noise == "laplace":
        step = min(laws[1]) - min(laws[0])
        for whole, law in zip(wholes, laws, strict=True):
            assert law == {value + step * whole: chance for value, chance in laws[0].items()}
    moved = [*itertools.product(laws[:1], laws), *itertools.product(laws, laws[:1])]
    for law, other in itertools.product(laws, repeat=2) if noise == "response" else moved:
        worst = max(worst, sum(max(Fraction(0), law[value] - ratio * other.get(value, 0)) for value in law))
    if noise == "response":
        assert isinstance(price, PureDP)
        assert worst == 0
        less = Fraction(np.exp(float(price.epsilon) * 0.99))
        assert any(law[1] > less * other[1] for law in laws for other in laws), "the price is not too high either"
    else:
        assert 0 < worst <= price.delta <= DELTA


def test_kernels_share_what_a_pair_spends_and_rounds_share_what_a_person_spends():
    coefficient = query("gini_coefficient", noise="laplace", rounds=4)
    single = coefficient.program(4)
    assert len(single.laws) == 2
    assert all(float(law.epsilon) == pytest.approx(1 / 8) for law in single.laws)
    assert coefficient.price(UNIT) == ApproxDP(4 * single.epsilon, 4 * single.delta)
    assert coefficient.price(UNIT).epsilon <= 1


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("people", [20, 21])
def test_nobody_spends_more_than_was_granted(design, people):
    asked = query(design=design, rounds=3)
    rows = asked.rows.sums(np.linspace(0, 1, people)[:, None])
    drawn = asked.drawn(rows, seed=bytes(32))
    found = asked.compute(rows, drawn, drawn.degrees, source=KeyedSource.from_seed(3), evaluate=evaluate)
    assert (found[:, :2] == drawn.pairs).all()
    spent = np.zeros(people)
    for first, second, part, _ in found:
        cost = float(asked.program(int(part)).epsilon)
        spent[first] += cost
        spent[second] += cost
    assert spent.max() <= 1 + 1e-9
    assert spent.max() > 0.9
    assert asked.read(found).shape == (len(drawn), 1)


def test_pairs_between_classes_are_of_one_of_each_with_the_positive_first():
    asked = query("auc", (X, Label("y", (1,), (0,))), rounds=2)
    labels = np.array([1, 0, 0, 1, 0, 0, 0.0])
    rows = asked.rows.sums(np.column_stack([np.linspace(0, 1, 7), labels]))
    drawn = asked.drawn(rows, seed=bytes(32))
    assert (labels[drawn.pairs] == [1, 0]).all()
    assert asked.totals(rows, Adjacency.REPLACE) == (5, 2)
    empty = asked.rows.sums(np.column_stack([np.linspace(0, 1, 7), np.zeros(7)]))
    with pytest.raises(DataError, match="one class is empty"):
        asked.drawn(empty, seed=bytes(32))


def test_a_private_number_of_records_and_too_many_rounds_are_refused():
    with pytest.raises(ParameterError, match="known to the party that pairs them"):
        query().price(PrivacyUnit(Adjacency.ADD_OR_REMOVE))
    asked = query(rounds=9)
    with pytest.raises(DataError, match="5 people can meet in at most 5 rounds, got 9"):
        asked.drawn(asked.rows.sums(np.zeros((5, 1))), seed=bytes(32))


def test_a_digest_tells_apart_all_that_fixes_an_answer():
    asked = query()
    rows = asked.rows.sums(np.linspace(0, 1, 6)[:, None])
    others = [
        dataclasses.replace(asked, epsilon=Fraction(2)),
        dataclasses.replace(asked, rounds=2),
        dataclasses.replace(asked, design="permutations"),
        dataclasses.replace(asked, noise="laplace", delta=DELTA),
        dataclasses.replace(asked, bits=5),
    ]
    digests = {each.digest(rows, Adjacency.REPLACE) for each in (asked, *others)}
    assert len(digests) == 6
    changed = asked.rows.sums(np.linspace(0, 1, 6)[::-1, None])
    assert asked.digest(changed, Adjacency.REPLACE) not in digests


@pytest.mark.parametrize("delta", [Fraction(1, 10**12), Fraction(1, 10**6), Fraction(1, 100)])
def test_laplace_noise_is_drawn_for_every_usual_budget(delta):
    for epsilon in (
        Fraction(1, 100),
        Fraction(1, 3),
        Fraction(3),
        Fraction(59, 10),
        Fraction(12),
        Fraction(30),
        Fraction(90),
    ):
        asked = query(noise="laplace", e=epsilon, delta=delta, bits=8)
        price = asked.price(UNIT)
        assert price.epsilon <= epsilon
        assert price.delta <= delta
        # little is given away of what was granted, but for budgets whose noise is nearly nothing
        assert float(price.epsilon) > 0.99 * min(float(epsilon), 8)


def test_responses_are_of_two_or_three_values():
    assert [law.values for law in query().program(1).laws] == [2]
    assert isinstance(query(noise="laplace").program(1).laws[0], LaplaceLaw)
    assert isinstance(query("kendall", (X, Categories("c", (0, 1)))).program(1).laws[0], ResponseLaw)
