"""Nothing wraps around 2^64: every mechanism at the largest parameters and the most records that it accepts.

The lists of mechanisms come from the code: strategies, queries, engines of running totals, laws of noise, groups of
comparison keys, functions of circuits. One that is new must be entered here, with a case or with the test that compares
it with integers of any size. Running totals and circuits are asked here, and what is linear: of a few records, one by
one, the matrix is found; then the most records that are accepted, to the last one, in several shapes; and what the code
computes in int64 of these, with noise at its stated tail, is compared with the same matrix in Python's integers.

All refusals go through `Range.check`, so the control takes that away: then every mechanism must give a wrong number.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import itertools
import math
import operator
import pkgutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from helpers.wide import GAUSSIAN, GEOMETRIC, LAPLACE, AtTails, accepted, largest, numbers, tail

import ogive.crypto.circuits.arithmetic as arithmetic
import ogive.queries
import ogive.ranking.gradient
import ogive.streams.ahead
from ogive.columns import Categories, Domain, Label
from ogive.core.checks import ROOM, WIDE, WORD, Range, refuse_sums
from ogive.crypto.circuits import Builder, Signed, evaluate, separate
from ogive.crypto.comparison.keys import GROUPS
from ogive.errors import OgiveError, ParameterError
from ogive.local.oracles import UnaryOracle
from ogive.noise import DerivedNodes, DiscreteGaussian, DiscreteLaplace, Geometric, Polya, Skellam, UniformBits
from ogive.noise.base import MAX_SCALE, Law
from ogive.noise.laws import noise_bound
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.queries import (
    Ballots,
    Cells,
    CellsQuery,
    ClassBinning,
    ClassCurvesQuery,
    CurveQuery,
    GroupSums,
    GroupSumsQuery,
    MomentsQuery,
    NoisyMaxQuery,
    QuantileScore,
    VotesQuery,
)
from ogive.queries.histograms import ThresholdQuery
from ogive.queries.sums import MOST_PLACES, Weights, changes
from ogive.strategies import (
    STRATEGIES,
    CountedPeople,
    GroupedHistogram,
    LeastSquaresHats,
    LeastSquaresTree,
    OpenedThresholds,
    OrthogonalProjection,
    PathNoise,
    ReportedHistogram,
    ReportedTree,
    RingRoot,
    SquareRoot,
    SummedApproximations,
    SummedStrategies,
    SymmetricRoot,
    design_path,
    design_projection,
    design_reports,
)
from ogive.strategies.path import MAX_BITS as PATH_BITS
from ogive.strategies.reported import expected_tree
from ogive.streams.ahead import HatTotals, PowerTotals
from ogive.streams.engines import Engine, PathTotals, SqrtTotals, TreeTotals
from ogive.streams.running_total import MAX_STEPS, METHODS, RunningTotal

TESTS = Path(__file__).parents[1]
REPLACE, BINS = Adjacency.REPLACE, 16
X, TWO = numbers(BINS), Categories("z", (0, 1))
PATH = design_path(BINS, privacy=PureDP(1), adjacency=REPLACE).tree
HATS = LeastSquaresHats(BINS, (2, 8), (LAPLACE,) * 3)
PROJECTION = design_projection(BINS, degree=4, privacy=ZeroConcentratedDP(1), adjacency=REPLACE)


def projection(bits):
    return dataclasses.replace(PROJECTION, bits=bits, law=GAUSSIAN)


STRATEGY_CASES = {
    PathNoise: (PathNoise(PATH, LAPLACE), PathNoise(PATH, GAUSSIAN, PATH_BITS)),
    LeastSquaresTree: (LeastSquaresTree(BINS, (1, 4), (LAPLACE, LAPLACE)),),
    LeastSquaresHats: (HATS,),
    GroupedHistogram: (GroupedHistogram(BINS, 5, LAPLACE), GroupedHistogram(BINS, 5, GAUSSIAN, 30)),
    OpenedThresholds: (OpenedThresholds(BINS, (3, 15), LAPLACE), OpenedThresholds(BINS, (3, 15), GAUSSIAN, 30)),
    OrthogonalProjection: (projection(8), projection(30)),
    SquareRoot: (SquareRoot(BINS, GAUSSIAN, 1), SquareRoot(BINS, GAUSSIAN, 24)),
    SymmetricRoot: (SymmetricRoot(BINS, GAUSSIAN, 12, 6), SymmetricRoot(BINS, GAUSSIAN, 16, 12)),
    RingRoot: (RingRoot(BINS, GAUSSIAN, 12), RingRoot(BINS, GAUSSIAN, 22)),
    CountedPeople: (CountedPeople(HATS),),
    SummedApproximations: (SummedApproximations((projection(22), projection(30))),),
    ReportedTree: (expected_tree(design_reports(BINS, Fraction(1)), 1000),),
    ReportedHistogram: (ReportedHistogram(BINS, UnaryOracle(5, Fraction(1)), GAUSSIAN),),
    SummedStrategies: (),  # it says what sums of curves are worth, and adds up nothing itself
}
QUERY_CASES = {
    "CurveQuery": (
        CurveQuery(X, PathNoise(PATH, GAUSSIAN, PATH_BITS), (2, 9)),
        *(CurveQuery(X, each) for each in itertools.chain(*STRATEGY_CASES.values())),
    ),
    "ClassCurvesQuery": (ClassCurvesQuery(ClassBinning(X, Label("y")), HATS),),
    "CellsQuery": (CellsQuery(Cells(Domain((X, TWO))), LAPLACE), CellsQuery(Cells(Domain((X,))), GAUSSIAN, 30)),
    "VotesQuery": (VotesQuery(Ballots(("q", "r"), 3), GAUSSIAN, 16),),
    "ThresholdQuery": (ThresholdQuery(X, 9, LAPLACE), ThresholdQuery(X, 15, GAUSSIAN, 30)),
    "GroupSumsQuery": tuple(
        GroupSumsQuery(GroupSums(numbers(3), Label("y"), bits=bits), LAPLACE, LAPLACE, form)
        for bits in (1, 30)
        for form in ("counts", "difference")
    ),
    "MomentsQuery": (
        MomentsQuery(Cells(Domain((X,))), Weights(1 << 34, 1 << 34, -(1 << 34)), LAPLACE),
        MomentsQuery(Cells(Domain((X,))), Weights(3, 4, -30, 1 << 34), GAUSSIAN, 10),
    ),
}
"""Linear queries, which are asked here; curves with every strategy."""
WIDE_TESTS, SHARES = "conformance/test_wide_integers.py", "conformance/test_wide_shares.py"
STREAMS = "conformance/test_integers_fit.py"
QUERIES_ELSEWHERE = {
    "NoisyMaxQuery": WIDE_TESTS,
    "SparseVectorQuery": WIDE_TESTS,
    "JointQuantilesQuery": WIDE_TESTS,
    "DiscoveryQuery": WIDE_TESTS,
    "KernelQuery": WIDE_TESTS,
    "DegreesQuery": WIDE_TESTS,
    "LabelsQuery": WIDE_TESTS,
    "PairsQuery": SHARES,
    "GradientQuery": "unit/ranking/test_gradient.py",
}
"""Queries that are no linear map of sums; each is compared with slow sums of any size there."""
QUERIES_OF_OTHERS = {
    *("SelectedQuery", "LinearSelectedQuery", "GroupedQuery", "LinearGroupsQuery", "RefinedQuery", "PeopleQuery"),
    *("ExactMeansQuery", "ReportsQuery", "CountsQuery", "Query", "CuratorQuery", "LinearQuery"),
}
"""What measures with those above, and what adds no integer noise: exact means, reports, bases and interfaces."""
ENGINES = {
    PathTotals: ("path",),
    TreeTotals: ("tree",),
    SqrtTotals: ("sqrt",),
    PowerTotals: ("sqrt_ahead", "open_powers"),
    HatTotals: ("hats", "open_hats"),
}
"""Methods of each engine; `test_integers_fit` asks them too."""
INNER = {"sum_of_bits", "extended", "as_signed", "all_of", "majority"}
"""Functions of bits that those of numbers consist of."""


def kinds_below(base):
    """All public classes of the package that derive from one."""
    found = {each for child in base.__subclasses__() for each in (child, *kinds_below(child))}
    return {each for each in found if each.__module__.startswith("ogive.") and not each.__name__.startswith("_")}


def public(module, is_one):
    """Names of what a module defines itself."""
    own = {name: each for name, each in vars(module).items() if is_one(each) and not name.startswith("_")}
    return {name for name, each in own.items() if each.__module__ == module.__name__}


def test_every_mechanism_is_entered():
    assert set(STRATEGY_CASES) == set(STRATEGIES)
    names = [each.name for each in pkgutil.iter_modules(ogive.queries.__path__)]
    modules = [importlib.import_module(f"ogive.queries.{name}") for name in names] + [ogive.ranking.gradient]
    queries = {name for module in modules for name in public(module, inspect.isclass) if name.endswith("Query")}
    assert {*QUERY_CASES, *QUERIES_ELSEWHERE, *QUERIES_OF_OTHERS} == queries
    assert kinds_below(Law) == set(LAWS)
    assert {each for several in ENGINES.values() for each in several} | {"auto"} == set(METHODS)
    assert kinds_below(Engine) == set(ENGINES)


def test_what_is_asked_elsewhere_is_there():
    texts = {path: (TESTS / path).read_text(encoding="utf-8") for path in {*QUERIES_ELSEWHERE.values(), STREAMS}}
    assert all(name in texts[path] for name, path in QUERIES_ELSEWHERE.items())
    assert GROUPS
    assert '("group", GROUPS)' in texts[SHARES]
    assert all(f'"{method}"' in texts[STREAMS] for method in METHODS if method != "auto")
    assert public(arithmetic, inspect.isfunction) == {*FUNCTIONS, *ON_SHARES, *INNER}


class Given:
    """Noise of given values by level and node, 0 elsewhere, which remembers what it was asked."""

    def __init__(self, values=()):
        self.given, self.asked = dict(values), {}

    def values(self, law, level, nodes):
        flat = np.asarray(nodes).ravel().tolist()
        self.asked.update({(level, node): law for node in flat})
        return np.array([self.given.get((level, node), 0) for node in flat], np.int64).reshape(np.shape(nodes))


class Linear:
    """A linear query, with its matrices in integers of any size."""

    def __init__(self, query):
        self.query, self.shape = query, query.aggregate.shape
        # of sums per group a record is a positive of probability 1
        self.places = [np.unravel_index(place, self.shape) for place in range(math.prod(self.shape))]
        if isinstance(query, GroupSumsQuery):
            self.places = [place for place in self.places if place[0] == 3]
        self.matrix = [self.exactly(self.query.measure(self.records([place], 1))) for place in self.places]
        nodes = Given()
        self.offset = self.exactly(query.noise(nodes))
        self.laws = dict(nodes.asked)
        self.spread = {node: self.exactly(query.noise(Given({node: 1}))) for node in self.laws}

    @staticmethod
    def exactly(numbers_):
        return np.asarray(numbers_).astype(object)

    def records(self, places, total):
        """Sums of so many records that are shared out to some places, in int64."""
        sums = np.zeros(self.shape, np.int64)
        for number, place in enumerate(places):
            count = total // len(places) + (number < total % len(places))
            sums[place] += count
            if isinstance(self.query, GroupSumsQuery):
                sums[1, place[1]] += min(count << self.query.groups.bits, WORD)
        return sums

    def most(self, places):
        """The most records in some places that are accepted."""
        return largest(lambda total: self.accepted(self.records(places, total)), WORD + 1)

    def accepted(self, sums):
        words = ("fit", "too many", "must add up", "must be below", "adds up")
        return accepted(lambda: self.query.measure(sums), *words)

    def slow(self, places, total, noise=()):
        """The answer, in integers of any size."""
        result = self.offset
        for number, place in enumerate(places):
            count = total // len(places) + (number < total % len(places))
            result = result + self.matrix[self.places.index(place)] * count
        return result + sum(self.spread[node] * value for node, value in dict(noise).items())


ALL_LINEAR = [
    pytest.param(each, id=f"{name}-{number}")
    for name, several in QUERY_CASES.items()
    for number, each in enumerate(several)
]


@pytest.mark.parametrize("query", ALL_LINEAR)
def test_answers_are_exact_at_the_most_records_that_are_accepted(query):
    linear = Linear(query)
    assert not linear.offset.any()
    noises = [
        {node: sign(number) * tail(law) for number, (node, law) in enumerate(linear.laws.items())}
        for sign in (lambda number: 1, lambda number: -1, lambda number: (-1) ** number)
    ]
    places = linear.places
    for shape in (places[:1], places[-1:], [places[0], places[-1]], places[::3], places):
        most = linear.most(shape)
        assert most < WORD or np.abs(linear.slow(shape, WORD)).max() <= WIDE, "of each block, or of what is not asked"
        for total in (most, most // 2 + 1):
            sums = linear.records(shape, total)
            assert query.measure(sums).tolist() == linear.slow(shape, total).tolist()
            for noise in noises:
                exact = linear.slow(shape, total, noise)
                assert np.abs(exact).max() <= WORD, "what data and noise at its tail may be"
                assert query.answer(sums, Given(noise)).tolist() == exact.tolist()


@pytest.mark.parametrize("query", ALL_LINEAR)
def test_more_are_refused_also_where_their_number_wraps(query, monkeypatch):
    linear = Linear(query)

    def exact(sums):
        return sum(
            matrix * int(sums[place]) for matrix, place in zip(linear.matrix, linear.places, strict=True)
        ).tolist()

    each = [linear.records([place], 1 << 60) for place in linear.places]
    nothing = sum(each[: len(each) // 16 * 16] or each)  # sixteen times 2^60 add up to 2^64, which wraps to 0
    assert not linear.accepted(nothing) or query.measure(nothing).tolist() == exact(nothing)
    full = np.maximum.reduce([linear.records([place], WORD) for place in linear.places])
    assert not linear.accepted(full)
    monkeypatch.setattr(Range, "check", lambda *_: None)
    noise = {node: tail(law) for node, law in linear.laws.items()}
    found, slow = query.answer(full, Given(noise)).astype(object), linear.slow([], 0, noise)
    assert (found - slow).tolist() != exact(full), "the control: where nobody refuses, sums wrap"


def test_sums_of_measurements_with_different_bits_are_exact_or_refused(monkeypatch):
    strategy = SummedApproximations((projection(8), projection(30)))
    rows = PROJECTION.levels[0].nodes
    for exponent in (39, 40):
        fine, coarse = np.full(rows, (1 << 62) - 1), np.full(rows, 1 << exponent)
        assert strategy.added([coarse, fine]).tolist() == [(1 << exponent + 22) + (1 << 62) - 1] * rows
        with pytest.raises(OgiveError, match="do not add up in 64 bits"):
            strategy.added([coarse * 2, fine + 1])
        monkeypatch.setattr(Range, "check", lambda *_: None)
        assert strategy.added([coarse * 4, fine + 1])[0] != (1 << exponent + 24) + (1 << 62), "the control wraps"
        monkeypatch.undo()


def test_weights_whose_squares_leave_64_bits_are_refused():
    domain = Domain((Categories("x", tuple(range(MOST_PLACES + 1))),))
    last = MOST_PLACES
    largest = ROOM // last**2
    fits = Weights(0, 2, -last, largest)
    assert fits.rows(last).max() == largest * last**2
    l1, squared = changes(fits, last, Adjacency.ADD_OR_REMOVE)
    centered = [2 * place - last for place in (0, last // 2, last // 3, last)]
    slow = [(each, largest * (last**2 - each**2)) for each in centered]
    assert l1 >= max(abs(one) + abs(other) for one, other in slow)
    assert squared >= max(one**2 + other**2 for one, other in slow)
    for square in (largest + 1, 1 << 34):
        refused = Weights(0, 2, -last, square)
        with pytest.raises(ParameterError, match=f"^square must be at most {largest} for 65537 places, got {square}"):
            MomentsQuery(Cells(domain), refused, LAPLACE)
        with pytest.raises(ParameterError, match="square must be at most"):
            changes(refused, last, REPLACE)
    wrapped = Weights(0, 2, -last, 1 << 34).rows(last)
    assert wrapped[-1].max() < (1 << 34) * last**2, "the control: what a record adds would wrap"


def test_ranges_are_exact_for_numbers_of_any_size():
    draw = np.random.default_rng(3)
    for values in (np.zeros(0, np.int64), np.array([WORD] * 5), np.array([-WORD - 1] * 3 + [WORD, 7]),
                   draw.integers(-WORD, WORD, 100), draw.integers(0, 9, 50), np.array([1 << 60] * 16)):  # fmt: skip
        slow = values.tolist()
        assert Range.sums(values, 3) == Range(*(3 * sum(each for each in slow if each * sign > 0) for sign in (-1, 1)))
        size = max(Range.sums(values).high, -Range.sums(values).low)
        refuse_sums(values, 5, 5 * size, "too large")
        if size:
            with pytest.raises(OgiveError, match=r"^too large$"):
                refuse_sums(values, 5, 5 * size - 1, "too large")
    assert Range(-2, 5) + Range(-3, 3) == Range(-5, 8)
    assert Range(-2, 5) * 4 == Range(-8, 20)
    assert Range.of(np.array([3, 9])) == Range(0, 9)


# --- Running totals: of every engine in integers and fractions of any size, with noise at its tail

STEPS = 70
METHODS_PRICED = [
    (method, kind)
    for method in METHODS
    for kind in (PureDP, ZeroConcentratedDP)
    if method != "auto"
    and method not in (("sqrt", "sqrt_ahead", "open_powers") if kind is PureDP else ("hats", "open_hats"))
]


def tails_of(sign):
    """Noise that is at its tail at every node, or as far on the other side, which every stream is given."""

    def values(_, law, level, nodes):
        return np.array([sign(level, node) * tail(law) for node in np.ravel(nodes).tolist()], np.int64)

    return values


def slow_totals(engine, elements, noise):
    """What is published after each element, as fractions; infinite where an integer on the way was another one."""
    sums, parts = [*itertools.accumulate(elements)], getattr(engine, "bits", 0)

    def drawn(law, level, count):
        return noise(None, law, level, range(count)).tolist()

    match engine:
        case PathTotals():
            nodes = [drawn(engine.law, level, STEPS) for level in range(len(engine.tree.nodes))]
            added = [
                sum(row[step // size] for row, size in zip(nodes, engine.tree.sizes, strict=False))
                for step in range(len(sums))
            ]
        case TreeTotals():
            return slow_tree(engine, sums, [drawn(engine.law, level, STEPS) for level in range(engine.levels)])
        case SqrtTotals():
            weights, rows = engine.weights.tolist(), drawn(engine.law, 0, len(sums))
            published = [
                rows[at] + sum(weights[k] * elements[at - k] for k in range(at + 1)) for at in range(len(sums))
            ]
            if engine.published[: len(sums)].tolist() != published:
                return [math.inf] * len(sums)
            inverse = [Fraction(each) for each in engine.inverse.tolist()]
            return [sum(inverse[k] * published[at - k] for k in range(at + 1)) for at in range(len(sums))]
        case PowerTotals():
            left, right = (drawn(law, level, len(sums)) for level, law in enumerate(engine.laws))
            weights, parts = engine.weights.tolist(), 2 * engine.bits
            added = [right[at] + sum(weights[k] * left[at - k] for k in range(at + 1)) for at in range(len(sums))]
        case HatTotals():
            levels = [np.array(drawn(each.law, level, each.nodes)) for level, each in enumerate(engine.strategy.levels)]
            moved = engine.strategy.solver.correction(levels[0], np.concatenate([np.empty(0, np.int64), *levels[1:]]))
            rounded = [round(Fraction(each) * 2**parts) for each in moved.tolist()]
            both = zip(levels[0].tolist(), rounded, strict=True)
            added = [*itertools.accumulate((one << parts) + other for one, other in both)][: len(sums)]
    return [Fraction((total << parts) + each, 1 << parts) for total, each in zip(sums, added, strict=True)]


def slow_tree(engine, sums, nodes):
    """Honaker's estimates of completed blocks, added up."""
    share = [Fraction(each) for each in engine.relative.tolist()]

    def estimate(level, number):
        size = engine.base**level
        before = sums[number * size - 1] if number else 0
        value = Fraction(sums[(number + 1) * size - 1] - before + nodes[level][number])
        if not level:
            return value
        children = sum(estimate(level - 1, engine.base * number + child) for child in range(engine.base))
        return share[level] * (value + children / (engine.base * share[level - 1]))

    found = []
    for count in range(1, len(sums) + 1):
        blocks, done = [], 0
        for level in reversed(range(engine.levels)):
            size = engine.base**level
            while done + size <= count:
                blocks.append((level, done // size))
                done += size
        found.append(sum(itertools.starmap(estimate, blocks)))
    return found


class Streams:
    """Streams of one method, with steps that are few enough for fractions."""

    def __init__(self, method, kind, monkeypatch):
        monkeypatch.setattr("ogive.streams.running_total.MAX_STEPS_AHEAD", STEPS)
        monkeypatch.setattr(ogive.streams.ahead, "SPACINGS", ogive.streams.ahead.SPACINGS[:1])
        monkeypatch.setattr(ogive.streams.ahead, "SHARES", (Fraction(3, 5), Fraction(2, 5)))
        self.method, self.kind, self.monkeypatch = method, kind, monkeypatch

    def stream(self, privacy, bound, resolution=None):
        steps = None if self.method.startswith("open") else STEPS
        more = {"method": self.method, "adaptive": self.method != "path", "resolution": resolution}
        return RunningTotal(steps, privacy=self.kind(privacy), bound=bound, low=-bound, **more)

    def accepted(self, privacy, bound):
        words = ("64 bits", "noise", "2^53", "exact sums", "`low` must be below", "must be at")
        return accepted(lambda: self.stream(privacy, bound), *words)

    def exact(self, privacy, bound, sign, element):
        """Whether published totals are those of fractions."""
        noise = tails_of(sign)
        self.monkeypatch.setattr(DerivedNodes, "values", noise)
        stream, elements = self.stream(privacy, bound), [element(step) * bound for step in range(STEPS)]
        found = stream.add_many(np.array(elements, np.float64)).tolist()
        slow = slow_totals(stream._engine, elements, noise)
        if math.inf in slow:
            return False
        reach = max(1, *map(abs, slow), bound, tail(DiscreteLaplace(1)))
        # each float is rounded once, or few times where coefficients are floats
        return all(abs(Fraction(one) - other) <= reach / 2**47 for one, other in zip(found, slow, strict=True))


SIGNS = (lambda level, node: 1, lambda level, node: -1, lambda level, node: (-1) ** (node * 7919 >> 3 ^ level))
ELEMENTS = (lambda step: 1, lambda step: -1, lambda step: (-1) ** step)


@pytest.mark.parametrize(("method", "kind"), METHODS_PRICED)
def test_totals_are_exact_at_the_largest_bounds_and_the_least_privacy_loss(method, kind, monkeypatch):
    streams = Streams(method, kind, monkeypatch)
    least = largest(lambda halvings: streams.accepted(Fraction(1 << 40, 1 << halvings), 1), 200)
    for privacy in (Fraction(1 << 40), Fraction(1 << 40, 1 << least)):
        bound = largest(lambda bound, privacy=privacy: streams.accepted(privacy, bound))
        assert bound >= 1
        assert not streams.accepted(privacy, bound + 1)
        for sign, element in itertools.product(SIGNS, ELEMENTS):
            assert streams.exact(privacy, bound, sign, element), (privacy, bound)
    monkeypatch.setattr(Range, "check", lambda *_: None)
    wrong = not streams.exact(Fraction(1 << 80), 1 << 62, SIGNS[0], ELEMENTS[0])
    assert wrong, "the control: where nobody refuses, totals wrap"


def test_path_noise_is_exact_at_the_end_of_the_longest_stream(monkeypatch):
    def stream(bound):
        return RunningTotal(MAX_STEPS, privacy=PureDP(1), bound=bound, low=-bound, method="path")

    bound = largest(lambda bound: accepted(lambda: stream(bound), "2^53", "noise", "64 bits", "must be below"))
    first, totals = MAX_STEPS - STEPS, stream(bound)
    totals._taken, totals._total = first, first * bound
    monkeypatch.setattr(DerivedNodes, "values", tails_of(SIGNS[2]))
    tree, law = totals._engine.tree, totals._engine.law
    blocks = [*zip(tree.sizes, tree.nodes, strict=False)]
    assert all(size * nodes >= MAX_STEPS for size, nodes in blocks)
    noise = [
        sum(SIGNS[2](level, step // size) * tail(law) for level, (size, _) in enumerate(blocks))
        for step in range(first, MAX_STEPS)
    ]
    scaled = [(bound * (first + number) << totals._engine.bits) + each for number, each in enumerate(noise, 1)]
    wanted = [float(Fraction(each, 1 << totals._engine.bits)) for each in scaled]
    assert totals.add_many(np.full(STEPS, float(bound))).tolist() == wanted


# --- Circuits: every function of numbers, at the widest results that are read as numbers


def widest(function, signed, most):
    """The widest inputs of a circuit whose result is read as a number, the circuit, and its ports."""

    def made(width):
        builder = Builder()
        sides = builder.garbler("x", width), builder.evaluator("y", width)
        inputs = [Signed(each.bits) if signed else each for each in sides]
        circuit = builder.finish({"out": function(*inputs)})
        separate(circuit.outputs, np.zeros((1, circuit.outputs[0].width), np.bool_))
        return circuit

    width = largest(lambda bits: not bits or accepted(lambda: made(bits), "to be a number"), most + 1)
    return made(width), width


FUNCTIONS = {
    "add": (arithmetic.add, operator.add, False, True),
    "subtract": (arithmetic.subtract, operator.sub, False, True),
    "negate": (lambda x, y: arithmetic.negate(x), lambda x, y: -x, False, True),
    "less": (arithmetic.less, operator.lt, False, True),
    "equal": (arithmetic.equal, operator.eq, False, True),
    "absolute": (lambda x, y: arithmetic.absolute(x), lambda x, y: abs(x), True),
    "absolute_difference": (arithmetic.absolute_difference, lambda x, y: abs(x - y), False),
    "select": (lambda x, y: arithmetic.select(y.bits[0], x, y), lambda x, y: x if y & 1 else y, False, True),
    "multiply": (arithmetic.multiply, operator.mul, False),
    "square": (lambda x, y: arithmetic.square(x), lambda x, y: x * x, False),
    "auc_half": (arithmetic.auc_half, lambda x, y: 2 * (x < y) + (x == y), False),
}
"""A circuit, the same in Python, and whether its numbers may have a sign."""
ON_SHARES = {"kendall", "share_bits"}
"""Of two numbers a side, and of counts: asked by `test_wide_shares`, and of labels by `test_wide_integers`."""


@pytest.mark.parametrize(
    ("name", "signed"), [(name, signed) for name, (_, _, *kinds) in FUNCTIONS.items() for signed in kinds]
)
def test_circuits_are_exact_at_the_widest_numbers_that_are_read(name, signed):
    function, slow, *_ = FUNCTIONS[name]
    circuit, width = widest(function, signed, 62)
    assert width >= 31
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    points = [low, low + 1, low + 2, (low + high) // 2, -1 if signed else 1, 0, high - 1, high]
    pairs = [*itertools.product(points, repeat=2)]
    bits = [
        np.array([[number >> place & 1 for place in range(width)] for number in side], np.bool_)
        for side in zip(*pairs, strict=True)
    ]
    found = separate(circuit.outputs, evaluate(circuit, *bits))["out"].tolist()
    assert found == [int(slow(*pair)) for pair in pairs]


# --- Noise: its stated bounds, and what becomes of values beyond them

LAWS = {
    DiscreteLaplace: (DiscreteLaplace("1/1000"), DiscreteLaplace(1), DiscreteLaplace(1000), LAPLACE),
    Geometric: (Geometric("1/1000"), Geometric(1), Geometric(1000), GEOMETRIC),
    DiscreteGaussian: (DiscreteGaussian("1/1000"), DiscreteGaussian(1), DiscreteGaussian(1000), GAUSSIAN),
    Skellam: (Skellam("1/1000"), Skellam(1), Skellam(1 << 20)),
    Polya: (Polya(1, "1/3"), Polya(1000, "1/10000")),
    UniformBits: (UniformBits(1), UniformBits(62)),
}


def log_chance_beyond(law, bound):
    """The logarithm of the chance of a size above a bound, or a little more: blocks of falling probabilities."""
    width = max(1, int(math.sqrt(law.variance)))
    starts = bound + 1 + width * np.arange(400, dtype=np.int64)
    chances = law.log_probability(starts)
    most = float(chances.max())
    return most + math.log(2 * width * np.exp(chances - most).sum())


@pytest.mark.parametrize("law", [each for several in LAWS.values() for each in several], ids=str)
def test_noise_passes_its_stated_bound_with_a_chance_of_at_most_2_to_the_minus_64(law):
    bound = noise_bound([law])
    if isinstance(law, UniformBits):
        assert bound >= 1 << law.bits, "it is never passed"
        return
    if isinstance(law, Polya):  # a share, of which the bound of the whole is stated
        bound = noise_bound([DiscreteLaplace(law.scale)], adding=1, honest=1)
    assert bound <= 1 << 53, "beside data of 2^62 there is room for that of 2^9 levels"
    with np.errstate(under="ignore"):
        assert log_chance_beyond(law, bound) <= -64 * math.log(2)
        if law.variance >= 1000:
            assert log_chance_beyond(law, bound // 2) > -64 * math.log(2), "the control: half the bound is too little"


def test_data_and_noise_of_every_strategy_fit_together():
    assert WIDE + 512 * noise_bound([LAPLACE]) <= WORD
    assert LAPLACE.scale == GAUSSIAN.sigma == MAX_SCALE
    for strategy in itertools.chain(*STRATEGY_CASES.values()):
        assert len(strategy.levels) <= 64


def test_hats_of_the_longest_streams_have_noise_that_fits():
    """Of n Laplace variables of scale t that add up to more than T, by Chernoff's bound at s = T / (2 n t^2)."""
    count, scale = ogive.streams.ahead.MAX_STEPS, float(MAX_SCALE)
    reach = 13.5 * scale * math.sqrt(count)
    assert reach < WIDE
    rate = reach / (2 * count * scale**2)
    log_chance = math.log(2) - count * math.log1p(-((rate * scale) ** 2)) - rate * reach
    assert log_chance < -64 * math.log(2)


def forced(law, whole):
    """A draw whose exponential part has so many whole scales, from words that are made for it."""
    # the remainder is 0, and kept; then each trial succeeds by the least number that is no rejection, until one fails
    words = np.array([0, 0, 1, *[200] * whole, *[0xFFFFFFFF] * 8], np.uint32)
    out = np.zeros((1, 1), np.int64)
    done, _ = law.fill(words[np.newaxis], out)
    return int(done[0]), int(out[0, 0])


@pytest.mark.parametrize("law", [LAPLACE, GEOMETRIC], ids=str)
def test_draws_beyond_the_bound_are_exact_up_to_2_to_the_15_scales(law):
    for whole in (1, 46, 1000, 1 << 15, (1 << 16) - 1):
        done, value = forced(law, whole)
        assert done == 1
        assert abs(value) == whole << 47
    _, value = forced(law, (1 << 16) + 1)
    assert abs(value) != (1 << 16) + 1 << 47, "the control: a draw of more than 2^16 scales wraps"


def test_a_sum_that_wraps_is_a_function_of_the_exact_one():
    query = CellsQuery(Cells(Domain((X,))), LAPLACE)
    sums = np.zeros(BINS, np.int64)
    sums[0] = ROOM
    for noise in (WORD, -WORD, 1 << 62):
        found = int(query.answer(sums, Given({(0, 0): noise}))[0])
        assert (found - (ROOM + noise)) % (1 << 64) == 0


def test_noisy_maxima_are_right_with_noise_of_2_to_the_15_scales():
    query = NoisyMaxQuery(X, QuantileScore(Fraction(1, 2), first=0, last=BINS - 1), GEOMETRIC, 10)
    sums = np.zeros(BINS, np.int64)
    sums[[0, -1]] = 1 << 49
    for place in (0, 7, BINS - 1):
        noise = {(0, place): (1 << 15) << 47}
        assert query.answer(sums, Given(noise)).tolist() == [place]
    nodes = AtTails(1)
    assert 0 <= int(query.answer(sums, nodes)[0]) < BINS
