"""Kernels inside circuits say the whole numbers that they say to a curator, gate by gate."""

import itertools

import numpy as np
import pytest

from ogive.columns import Binning, Categories, Domain, Label
from ogive.columns.grids import Grid
from ogive.crypto.circuits import Bit, Builder, Unsigned, evaluate
from ogive.crypto.circuits.arithmetic import absolute_difference, equal, less, subtract
from ogive.crypto.circuits.circuit import separate
from ogive.errors import ParameterError, UnsupportedError
from ogive.kernels import Equal, Greater, ScoreOrder, SignProduct, Untied, measure_of
from ogive.kernels.base import steps
from ogive.kernels.circuits import WIRINGS, Entries, entries_of, kernel_circuit
from ogive.kernels.numbers import AbsoluteDifference, HalfSquare, PairMeanKernel

BITS = 5
LINEAR = Binning("x", Grid.linear(-2.0, 3.0, bins=4))
WHOLE = Binning("n", Grid.integers(3, 9), fractions="refuse")
NAMED = Categories("c", ("low", "middle", "high"))
LABEL = Label("y", (1,), (0,))


def numbers(column, rng, size):
    if isinstance(column, Categories):
        return rng.integers(0, 3, size).astype(float)
    if isinstance(column, Label):
        return rng.integers(0, 2, size).astype(float)
    if column.grid.kind == "integers":
        return rng.integers(3, 10, size).astype(float)
    # among them equal ones, both zeros and neighbours that differ in the last bit
    special = np.array([0.0, -0.0, 1.0, np.nextafter(1.0, 2.0), -1.0, np.nextafter(-1.0, -2.0), -2.0, 3.0])
    return np.where(rng.random(size) < 0.5, rng.choice(special, size), rng.uniform(-2, 3, size))


def computed(kernel, domain, left, right):
    """The circuit's whole numbers for every pair of rows."""
    entries = entries_of((kernel,), domain, BITS)
    builder = Builder()
    people = [entries.read(side("x", entries.width)) for side in (builder.garbler, builder.evaluator)]
    circuit = builder.finish({"f": kernel_circuit(kernel, domain).build(*people, BITS)})
    return separate(circuit.outputs, evaluate(circuit, entries.of(left), entries.of(right)))["f"]


CASES = [
    *((kernel, Domain((LINEAR,))) for kernel in (AbsoluteDifference(), HalfSquare(), PairMeanKernel())),
    *((Greater(ties), Domain((column,))) for ties in ("half", "strict") for column in (LINEAR, WHOLE, NAMED)),
    *((ScoreOrder(ties), Domain((LINEAR, LABEL))) for ties in ("half", "strict")),
    (ScoreOrder(), Domain((WHOLE, LABEL))),
    *((SignProduct(), Domain(pair)) for pair in itertools.permutations((LINEAR, WHOLE, NAMED), 2)),
    (Equal(), Domain((NAMED,))),
    (Equal(), Domain((WHOLE, NAMED))),
    (Untied((1,)), Domain((LINEAR, LABEL))),
    (Untied((0, 1)), Domain((WHOLE, LINEAR))),
]


def test_every_wiring_is_tried():
    assert {type(kernel) for kernel, _ in CASES} == set(WIRINGS)


@pytest.mark.parametrize(("kernel", "domain"), CASES, ids=lambda each: getattr(each, "name", "domain"))
def test_a_circuit_says_the_kernels_whole_numbers(kernel, domain):
    rng = np.random.default_rng(7)
    rows = [np.column_stack([numbers(column, rng, 4000) for column in domain.columns]) for _ in range(2)]
    found = computed(kernel, domain, *rows)
    scale = kernel.scale(domain, BITS)
    stepped = rows
    if kernel_circuit(kernel, domain).steps:
        unit = 5 / 2**BITS
        stepped = [(-2 + unit * steps(side, domain, BITS))[:, None] for side in rows]
    expected = (kernel(*stepped) - float(scale.zero)) / float(scale.unit)
    assert np.allclose(found, expected, atol=1e-6)
    assert found.std() > 0
    inside = kernel_circuit(kernel, domain)
    if inside.wholes is None:
        assert found.min() >= 0
        assert found.max() <= 1 << inside.digits(BITS)
    else:
        assert set(found.tolist()) <= set(inside.wholes)
    # with one argument kept, the number moves by no more than is said
    moved = np.abs(found - computed(kernel, domain, np.roll(rows[0], 1, axis=0), rows[1]))
    assert moved.max() <= scale.swing


def test_scores_of_one_class_count_nothing_and_swapping_two_people_changes_nothing():
    domain = Domain((LINEAR, LABEL))
    rows = np.array(list(itertools.product([-1.0, 0.0, -0.0, 2.0], [0.0, 1.0])))
    left, right = (np.array(side) for side in zip(*itertools.product(rows, rows), strict=True))
    for kernel in (ScoreOrder("half"), ScoreOrder("strict"), Untied((1,))):
        found = computed(kernel, domain, left, right)
        assert (found == computed(kernel, domain, right, left)).all()
        assert not found[left[:, 1] == right[:, 1]].any()


@pytest.mark.parametrize("values", [np.array([-np.inf, -1e300, -1.5, -5e-324, 0.0, 5e-324, 1.5, 1e300, np.inf])])
def test_numbers_are_entered_in_order(values):
    bits = Entries(Domain((LINEAR,)), steps=False, bits=BITS).of(values[:, None])
    whole = [sum(1 << int(place) for place in np.flatnonzero(row)) for row in bits]
    assert whole == sorted(whole)
    assert len(set(whole)) == len(values)
    zeros = Entries(Domain((LINEAR,)), steps=False, bits=BITS).of(np.array([[0.0], [-0.0]]))
    assert (zeros[0] == zeros[1]).all()


FAR = Domain((Binning("x", Grid.linear(0.0, 8.0, bins=4)),))


def far(x, y):
    return less(x.bits[0].builder.constant(1 << (x.width - 5), x.width), absolute_difference(x, y))


def capped_distance(x, y):
    """The distance in steps of its range, half of the bounds' distance: twice as many, and cut off by the kernel."""
    gap = absolute_difference(x, y)
    return Unsigned((gap.bits[0] ^ gap.bits[0], *gap.bits))


@pytest.mark.parametrize(
    ("function", "circuit", "limits"),
    [
        (lambda x, y: abs(x - y) > 0.5, far, (0, 1)),
        (lambda x, y: 3 - 2.0 * (abs(x - y) > 0.5), lambda x, y: ~far(x, y), (1, 3)),
        (lambda x, y: np.minimum(abs(x - y), 4.0), capped_distance, (0, 4)),
    ],
)
def test_a_function_with_a_circuit_says_the_same_inside(function, circuit, limits):
    kernel = measure_of(function, range=limits, name="mine", circuit=circuit).kernels[0]
    inside = kernel_circuit(kernel, FAR)
    rows = np.random.default_rng(3).uniform(0, 8, size=(2, 3000, 1))
    entries = entries_of((kernel,), FAR, BITS)
    found = computed(kernel, FAR, *rows)
    scale = inside.scale(BITS)
    expected = kernel(*(entries.rounded(side) for side in rows))
    assert np.allclose(float(scale.zero) + float(scale.unit) * found, expected)
    assert found.max() <= (1 if inside.wholes else 1 << BITS)
    assert len(set(found.tolist())) > 1


def test_a_circuit_that_says_something_else_or_nothing_is_refused():
    def asked(circuit, **options):
        return measure_of(lambda x, y: abs(x - y), range=(0, 8), name="mine", circuit=circuit, **options).kernels[0]

    assert kernel_circuit(asked(absolute_difference), FAR).wholes is None
    for circuit, message in (
        (lambda x, y: absolute_difference(x, x), r"the circuit of mine says 0 where the function says .*, of "),
        (lambda x, y: subtract(x, y), "must give a bit, or a number without a sign .* got Signed"),
        (lambda x, y: x.nothing, "the circuit of mine fails with AttributeError"),
    ):
        with pytest.raises(ParameterError, match=message):
            kernel_circuit(asked(circuit), FAR)
    with pytest.raises(ParameterError, match="circuit must be a function"):
        asked(3)


def test_a_function_without_a_circuit_has_none():
    kernel = measure_of(lambda x, y: abs(x - y), range=(0, 5)).kernels[0]
    with pytest.raises(
        UnsupportedError, match=r"there is no circuit of .*; between two people there are those of gini"
    ):
        kernel_circuit(kernel, Domain((LINEAR,)))


def test_a_circuit_gives_the_same_kind_of_value_whatever_the_steps():
    """Noise for a bit would give a number away."""

    def changing(x, y):
        return equal(x, y) if x.width == 17 else absolute_difference(x, y)

    kernel = measure_of(lambda x, y: float(x == y), range=(0, 1), name="mine", circuit=changing).kernels[0]
    found = kernel_circuit(kernel, FAR)
    for bits, kind in ((16, Bit), (8, None)):
        builder = Builder()
        people = tuple((Unsigned(side("x", bits + 1).bits),) for side in (builder.garbler, builder.evaluator))
        if kind is not None:
            assert isinstance(found.build(*people, bits), kind)
            continue
        with pytest.raises(ParameterError, match="the circuit of mine gives Unsigned for columns of 8 bits"):
            found.build(*people, bits)
