"""Kernels inside circuits say the whole numbers that they say to a curator, gate by gate."""

import itertools

import numpy as np
import pytest

from ogive.columns import Binning, Categories, Domain, Label
from ogive.crypto.circuits import Builder, Unsigned, evaluate
from ogive.crypto.circuits.plain import separate
from ogive.errors import UnsupportedError
from ogive.grids import Grid
from ogive.kernels import Equal, Greater, ScoreOrder, SignProduct, Untied, measure_of
from ogive.kernels.circuits import WIRINGS, Entries, entries_of, wiring_of
from ogive.kernels.exact import steps
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
    width = sum(entries.widths)
    people = []
    for values in (builder.garbler("x", width), builder.evaluator("x", width)):
        ends = np.cumsum(entries.widths)
        people.append(tuple(Unsigned(values.bits[e - w : e]) for w, e in zip(entries.widths, ends, strict=True)))
    circuit = builder.finish({"f": wiring_of(kernel).build(kernel, *people)})
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
    if wiring_of(kernel).steps:
        unit = 5 / 2**BITS
        stepped = [(-2 + unit * steps(side, domain, BITS))[:, None] for side in rows]
    expected = (kernel(*stepped) - float(scale.zero)) / float(scale.unit)
    assert np.allclose(found, expected, atol=1e-6)
    assert found.std() > 0
    wiring = wiring_of(kernel)
    wholes = wiring.wholes(kernel)
    if wholes is None:
        assert found.min() >= 0
        assert found.max() <= 1 << wiring.digits(BITS)
    else:
        assert set(found.tolist()) <= set(wholes)
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


def test_a_function_has_no_circuit():
    kernel = measure_of(lambda x, y: abs(x - y), range=(0, 5)).kernels[0]
    with pytest.raises(
        UnsupportedError, match=r"there is no circuit of .*; between two people there are those of gini"
    ):
        wiring_of(kernel)
