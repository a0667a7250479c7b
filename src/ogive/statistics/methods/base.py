"""Curve methods: methods that release a curve by more than one strategy measured once, and what they share.

A curve method is a generator of queries that returns the curve, and a prediction of its error. It is frozen plain data,
so a question in the ledger holds it as it is; `Ecdf(method=...)` takes it by its name, with the usual options, or as an
instance with others. Noisy measurements of every method become a curve in one place (`curve_from`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from ogive.accounting import pure_epsilon
from ogive.columns import Binning, Domain
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64, Int64
from ogive.errors import OgiveError, ParameterError, ScaleError, UnsupportedError
from ogive.local.tree import TreeOracle
from ogive.noise import DiscreteLaplace, too_much_noise
from ogive.noise.base import Law
from ogive.noise.laws import draw_public
from ogive.privacy import Adjacency, Privacy, PureDP
from ogive.queries import Answer, CurveQuery, PeopleQuery, Query, ReportsQuery, RowValues
from ogive.statistics.base import Terms
from ogive.statistics.confidence import check_level
from ogive.statistics.curve.bands import simulations_for
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.curve.quantile_intervals import quantile_interval
from ogive.strategies import CountedPeople, GroupedHistogram, Strategy
from ogive.strategies.base import approximates
from ogive.strategies.composed import PERSON_UNITS
from ogive.strategies.smoothing import automatic_smoothing, default_smoothing, smooth, unsmoothable

# --- Public shapes of data
#
# Seven reference shapes stand for columns as they often are: `auto` ranks methods by their errors on these. Nineteen
# harder ones stand for what misleads a method that measures little: records on one value or on a few, heavy tails,
# empty stretches, and all records in a thousandth of the bounds, also close to one end. `auto` takes no method that
# fails on any of them.
#
# Places are fractions of the axis of the bins' numbers. Those of the harder shapes are not simple fractions, so that no
# shape suits the borders of a certain grid or of a certain number of groups; two lie at the ends, where columns often
# do.

SEED = 0x656E65726779
_SPIKES = {0.05: 0.30, 0.20: 0.25, 0.35: 0.05, 0.50: 0.20, 0.77: 0.15, 0.95: 0.05}
_SEVERAL = {0.0713: 0.35, 0.2361: 0.30, 0.5279: 0.20, 0.9017: 0.15}
_ROUNDED = {0.0127 + 0.0771 * number: 1 / 13 for number in range(13)}


def _atoms(u: Float64, masses: Mapping[float, float]) -> Float64:
    result = np.zeros(len(u))
    for place, mass in masses.items():
        result += mass * (u >= place)
    return result


def _normal(z: Float64) -> Float64:
    """The standard normal distribution function; its last digits enter the noise of what was measured before."""
    from scipy.special import ndtr  # slow to import

    result: Float64 = ndtr(z)
    return result


def _beta(u: Float64) -> Float64:
    """The beta distribution function with parameters 2 and 5."""
    from scipy.special import betainc  # slow to import

    result: Float64 = betainc(2, 5, u)
    return result


def _tail(u: Float64, scale: float, power: float) -> Float64:
    """A density that falls like a power of the distance from the lower bound."""
    tail: Float64 = (1 - (1 + u / scale) ** -power) / (1 - (1 + 1 / scale) ** -power)
    return tail


def _within(u: Float64, low: float, high: float) -> Float64:
    """Evenly between two places."""
    return np.clip((u - low) / (high - low), 0.0, 1.0)


_CURVES: dict[str, Callable[[Float64], Float64]] = {
    "normal": lambda u: _normal(8 * u - 4),
    "beta": _beta,
    "uniform": lambda u: u,
    "exponential": lambda u: -np.expm1(-8 * u),
    "mixture": lambda u: (_normal((8 * u - 4 + 2) / 0.5) + _normal((8 * u - 4 - 2) / 0.5)) / 2,
    "spikes": lambda u: _atoms(u, _SPIKES),
    "narrow": lambda u: _normal((u - 0.5) / 0.0125),
    "lowest": lambda u: _atoms(u, {0.0: 1.0}),
    "constant": lambda u: _atoms(u, {0.3819: 1.0}),
    "highest": lambda u: np.zeros(len(u)),
    "zeros": lambda u: 0.92 + 0.08 * _tail(u, 0.06, 1.2),
    "peak": lambda u: _atoms(u, {0.7135: 0.90}) + 0.10 * _normal((u - 0.3) / 0.1),
    "half": lambda u: _atoms(u, {0.2764: 0.50}) + 0.50 * u,
    "ends": lambda u: _atoms(u, {0.0: 0.60}),
    "several": lambda u: _atoms(u, _SEVERAL),
    "rounded": lambda u: 0.6 * _atoms(u, _ROUNDED) + 0.4 * _normal((u - 0.45) / 0.15),
    "power": lambda u: _tail(u, 0.003, 1.1),
    "lognormal": lambda u: _normal(np.log(u / 0.003) / 1.5),
    "gap": lambda u: 0.6 * _within(u, 0.011, 0.083) + 0.4 * _within(u, 0.71, 0.745),
    "slim": lambda u: _normal((u - 0.0313) / 0.003),
    "thin": lambda u: _normal((u - 0.4142) / 0.0003),
    "aside": lambda u: _normal((u - 0.8731) / 0.0015),
    "edge": lambda u: _within(u, 0.0011, 0.0051),
    "steep": lambda u: -np.expm1(-u / 0.004),
    "near": lambda u: _within(u, 0.0097, 0.0103),
    "corner": lambda u: _within(u, 0.9947, 0.9986),
}

REFERENCES = tuple(_CURVES)[:7]
HARD = tuple(_CURVES)[7:]


class Expected(NamedTuple):
    """Expected errors of a published curve, each with one value for every shape.

    Fields:
        energy: Root mean squared energy distance from the population, sampling included.
        ks: Mean of the largest error at any threshold against the records themselves, as a share of them.
        ks_95: What the largest error stays within in 95 of 100 releases.
        rmse: Root mean squared error over the thresholds against the records themselves.
    """

    energy: tuple[float, ...]
    ks: tuple[float, ...]
    ks_95: tuple[float, ...]
    rmse: tuple[float, ...]


def energy_distances(curves: Float64, others: Float64) -> tuple[float, ...]:
    """Root mean squared energy distance for each shape, of curves of shape (shapes, runs, N)."""
    return tuple(np.sqrt(2 * np.mean((curves - others) ** 2, axis=(1, 2))).tolist())


@dataclass(frozen=True)
class Shapes:
    """Some of the public shapes, and samples of each from fixed public random numbers.

    Fields:
        names: Which shapes.
    """

    names: tuple[str, ...]
    runs: int

    def curves(self, size: int) -> Float64:
        """Distribution functions at the upper ends of the bins, shape (shapes, N)."""
        return _curves(self.names, size)

    def counts(self, size: int, records: int) -> Int64:
        """Imagined records per bin, shape (shapes, runs, N)."""
        return _counts(self, size, records)

    def errors(self, curves: Float64, counts: Int64) -> Expected:
        """Errors of published shares of the imagined records, both of shape (shapes, runs, N)."""
        own = np.cumsum(counts, axis=-1) / counts.sum(axis=-1, keepdims=True)
        largest = np.abs(curves - own).max(axis=-1)
        means = largest.mean(axis=-1)
        # a few releases of each shape have no quantile of their own, so how errors stray is that of all shapes
        strays = np.quantile(largest / np.maximum(means, NO_ERROR)[:, np.newaxis], 0.95)
        population = self.curves(curves.shape[-1])[:, np.newaxis]
        rmse = np.sqrt(np.mean((curves - own) ** 2, axis=(1, 2)))
        values = means, np.minimum(means * strays, 1.0), rmse
        return Expected(energy_distances(curves, population), *(tuple(each.tolist()) for each in values))


USUAL = Shapes(REFERENCES, 8)
"""What methods are ranked by."""

FIRST = Shapes(("lowest", "constant", "highest"), 8)
"""What misleads most methods that measure little: a first and quick look."""

EVERY = Shapes((*REFERENCES, *HARD), 32)
"""What no method may fail on that `auto` takes."""


@lru_cache(maxsize=32)
def _curves(names: tuple[str, ...], size: int) -> Float64:
    u = np.arange(1, size + 1) / size
    curves = np.array([_CURVES[name](u) for name in names])
    curves[:, -1] = 1.0
    curves.flags.writeable = False
    return curves


@lru_cache(maxsize=64)
def _counts(shapes: Shapes, size: int, records: int) -> Int64:
    random = np.random.Generator(np.random.PCG64([SEED, records]))
    shares = np.maximum(np.diff(shapes.curves(size), axis=1, prepend=0.0), 0.0)
    drawn = [random.multinomial(records, share / share.sum(), size=shapes.runs) for share in shares]
    counts = np.array(drawn, dtype=np.int64)
    counts.flags.writeable = False
    return counts


# --- Curve methods

T = TypeVar("T")
S = TypeVar("S")

LARGEST_PREDICTED = 4096
NOISES = ("auto", "gaussian", "laplace")

# never sent; shows whether a trust model serves any query of its kind. No table has a column of that name
_BINNING = Binning("\0", Grid.linear(0, 1, bins=2))
ANY_REPORT = ReportsQuery(RowValues(Domain((_BINNING,))), TreeOracle(2, PureDP(1).epsilon))


@dataclass(frozen=True)
class CurveTask:
    """The curve that is wanted of a method, under which terms.

    Fields:
        terms: Privacy, unit and what the trust model can serve.
        smooth: How the curve is made valid; "auto" for what suits the method.
        expected_records: A public guess of the number of records, for where that is private.
    """

    binning: Binning
    terms: Terms
    smooth: str = "auto"
    expected_records: int | None = None
    people: bool = False

    @property
    def size(self) -> int:
        """Number of thresholds."""
        return self.binning.grid.bins

    def at_most(self, bins: int = LARGEST_PREDICTED) -> CurveTask:
        """The same task on at most as many thresholds, on which predictions are nearly the same and quick."""
        if self.size <= bins:
            return self
        return dataclasses.replace(self, binning=self.binning.on(Grid.linear(0, 1, bins=bins)))

    @property
    def rows(self) -> int:
        """How many records of one person are hidden together, or how many units where people are counted."""
        return PERSON_UNITS if self.people else self.terms.unit.max_rows_per_person

    def query(self, strategy: Strategy) -> CurveQuery | PeopleQuery:
        """What asks for the measurements of a strategy that is designed for `rows`."""
        if self.people:
            return PeopleQuery(self.binning, CountedPeople(strategy))
        return CurveQuery(self.binning, strategy)

    @property
    def records(self) -> int | None:
        """The public number of records, or else the public guess of it."""
        known = self.terms.records
        return self.expected_records if known is None else known


class CurveMethod:
    """A method that releases a curve by more than one strategy measured once: frozen plain data."""

    name: ClassVar[str]
    """As in `Ecdf(method=...)` and on the command line."""

    def curve(self, task: CurveTask) -> Generator[Query, Answer, Curve]:
        """Yield queries, receive answers, return the curve."""
        raise NotImplementedError

    def errors(self, task: CurveTask, shapes: Shapes, records: int) -> Expected:
        """Predicted errors of the published curve on public shapes, whatever the records look like."""
        raise NotImplementedError


def owners_answer(terms: Terms, binning: Binning = _BINNING) -> bool:
    """Whether the trust model asks the records' owners and nobody else, so that reports are all that it serves."""
    return terms.refusal(ANY_REPORT) is None and not counts_records(terms, binning)


def counts_records(terms: Terms, binning: Binning = _BINNING) -> bool:
    """Whether the trust model can count records, seen or in shares, and not only what their owners make of them."""
    counted = CurveQuery(binning, GroupedHistogram(binning.grid.bins, 1, DiscreteLaplace(2)))
    return terms.refusal(counted) is None


def curve_from(
    answer: Answer, binning: Binning, strategy: Strategy, terms: Terms, smoothing: str, *, people: bool = False
) -> Curve:
    """Turn noisy measurements into a curve; post-processing.

    What was paid for is never lost: where a solver cannot certify its result, or a strategy has a shape that
    it refuses, the curve is made valid by isotonic regression, and says so. Without noise (trust model clear) the
    curve of a strategy that approximates is made valid all the same.
    """
    kind = default_smoothing(strategy) if smoothing == "auto" else smoothing
    strategy = answer.noise_of(strategy)
    raw = cumulative = strategy.estimate(answer.values, answer.total)
    rough = answer.noisy or approximates(strategy)
    if rough:
        try:
            cumulative = smooth(strategy, answer.values, total=answer.total, kind=kind)
        except (ArithmeticError, UnsupportedError):
            kind = "isotonic"
            cumulative = smooth(strategy, answer.values, total=answer.total, kind=kind)
    return Curve(
        grid=binning.grid,
        cumulative=cumulative,
        raw=raw,
        strategy=strategy if answer.noisy else None,
        adjacency=terms.adjacency,
        total=answer.total,
        smoothing=kind if rough else "none",
        column=binning.column,
        measured=answer.values if answer.noisy and approximates(strategy) else None,
        people=people,
    )


def intervals_of(
    curve: Curve, shares: Sequence[float], confidence_level: float, terms: Terms
) -> list[tuple[float, float]]:
    """Intervals of quantiles that hold at once, as numbers of the grid, by the simulations of the terms."""
    ends = quantile_interval(
        curve, np.array(shares), confidence_level, **simulations_of(curve, confidence_level, terms)
    )
    number = curve.grid.number
    return [(number(low), number(high)) for low, high in zip(*ends, strict=True)]


def simulations_of(curve: Curve, confidence_level: float, terms: Terms) -> dict[str, Any]:
    """What bands and intervals of a curve take from the terms."""
    simulations = terms.simulations
    if simulations is not None and curve.strategy is not None:
        simulations = simulations_for(curve.strategy, check_level(confidence_level), usual=simulations)
    else:
        simulations = None
    return {"simulations": simulations, "rows_per_person": terms.unit.max_rows_per_person}


def measured_once(strategy: Strategy, task: CurveTask) -> Generator[Query, Answer, Curve]:
    """Ask one query for a whole strategy and turn the answer into a curve."""
    query = CurveQuery(task.binning, strategy)
    reason = unsmoothable(strategy, task.smooth) or task.terms.refusal(query)
    if reason is not None:
        raise UnsupportedError(reason)
    answer = yield query
    return curve_from(answer, task.binning, strategy, task.terms, task.smooth)


def allowed_grants(privacy: Privacy, noise: str) -> list[Privacy]:
    """What noise is designed for: the guarantee itself, for Gaussian noise, and the pure one that implies it."""
    if isinstance(privacy, PureDP):
        if noise == "gaussian":
            raise ParameterError(f"Gaussian noise cannot give {privacy}; use `ZeroConcentratedDP` or `ApproxDP`")
        return [privacy]
    wanted: list[Privacy] = [] if noise == "laplace" else [privacy]
    return wanted if noise == "gaussian" else [*wanted, pure_epsilon(privacy)]


def designs(privacy: Privacy, noise: str, design: Callable[[Privacy], Strategy], *, what: str) -> list[Strategy]:
    """One design for each kind of noise that is wanted and that the guarantee allows."""
    results: list[Strategy] = []
    failed: list[tuple[PureDP, ScaleError]] = []
    problem: ParameterError | None = None
    for grant in allowed_grants(privacy, noise):
        try:
            results.append(design(grant))
        except ScaleError as error:
            failed.append((grant if isinstance(grant, PureDP) else pure_epsilon(grant), error))
        except ParameterError as error:
            problem = error
    if not results:
        raise too_much_noise(privacy, what, failed) if problem is None or failed else problem
    return results


def mean_variance(strategy: Strategy, adjacency: Adjacency) -> float:
    """Predicted mean squared error of the unsmoothed cumulative counts."""
    return float(strategy.variance(total_known=adjacency is Adjacency.REPLACE).mean())


def possible(make: Callable[[T], S], options: Iterable[T], problems: type[OgiveError] = OgiveError) -> list[S]:
    """What can be made of some options; where that is nothing, the last problem is raised."""
    results: list[S] = []
    last: OgiveError | None = None
    for option in options:
        try:
            results.append(make(option))
        except problems as problem:
            last = problem
    if last is not None and not results:
        raise last
    return results


# --- Predicted errors, from public quantities alone
#
# The error of a method that approximates depends on the shape of the data, so it is computed on the public shapes
# above. Two errors are predicted: the energy distance from the population, sqrt(2 * integral of the
# squared difference), in units of the distance between the bounds along the axis of the bins' numbers, so that sampling
# counts as well as noise and bias; and the largest error at any threshold (KS) against the records themselves.
#
# Records are imagined from fixed public random numbers, noised, and smoothed as a release would be: what smoothing
# does to the noise is measured and not guessed.

NO_ERROR = 1e-300  # in the place of an error of nothing, as on a single bin
_WIDE = 64.0  # variance from which a rounded normal number stands for discrete Gaussian noise


def typical(energies: Sequence[float]) -> float:
    """Geometric mean over the shapes; 0 where no shape has an error."""
    if not any(energies):
        return 0.0
    return math.exp(sum(math.log(max(energy, 1e-150)) for energy in energies) / len(energies))


@lru_cache(maxsize=512)
def simulated_errors(
    strategy: Any, records: int, *, total_known: bool, shapes: Shapes, kind: str | None = None, copies: int = 1
) -> Expected:
    """Predicted errors of the smoothed curve of a strategy, of records each of which is there several times.

    `kind` is as in `simulated_curve`.
    """
    counts = shapes.counts(strategy.size, records) * copies
    random = np.random.Generator(np.random.PCG64([SEED, 1]))
    total = records * copies if total_known else None
    curves = np.array([[simulated_curve(strategy, run, total, random, kind) for run in runs] for runs in counts])
    return shapes.errors(curves, counts)


@lru_cache(maxsize=512)
def noise_energy(strategy: Any, records: int, *, total_known: bool) -> float:
    """What the noise alone adds to the error of a strategy's smoothed curve, in the same units.

    The energy distance of a smoothed noisy curve from the smoothed one without noise, of the same records.
    """
    counts = USUAL.counts(strategy.size, records)
    random = np.random.Generator(np.random.PCG64([SEED, 2]))
    total = records if total_known else None
    noisy, exact = (
        np.array([[simulated_curve(strategy, run, total, each) for run in runs] for runs in counts])
        for each in (random, None)
    )
    return typical(energy_distances(noisy, exact))


def simulated_curve(
    strategy: Strategy, counts: Int64, total: int | None, random: np.random.Generator | None, kind: str | None = None
) -> Float64:
    """The smoothed shares of one imagined release, shape (N,); without noise where there is no generator.

    `kind`: A smoothing, "auto" for what a curve of method "auto" has, or None for the default of the strategy.
    """
    answer = strategy.measure(counts)
    if random is not None:
        answer = answer + strategy.spread(
            tuple(public_noise(level.law, level.nodes, random) for level in strategy.levels)
        )
    elif not approximates(strategy):
        return shares(np.cumsum(counts).astype(np.float64))
    kind = automatic_smoothing(strategy, answer, total) if kind == "auto" else kind or default_smoothing(strategy)
    return shares(smooth(strategy, answer, total=total, kind=kind))


def shares(cumulative: Float64) -> Float64:
    """A curve of shares from cumulative counts; all at the last threshold where there are none."""
    last = cumulative[-1]
    curve = np.minimum(cumulative / last, 1.0) if last > 0 else np.zeros(len(cumulative))
    curve[-1] = 1.0
    return curve


def public_noise(law: Law, size: int, random: np.random.Generator) -> Int64:
    """Noise of that law for a prediction, quickly: rounded normal numbers for wide Gaussian noise."""
    if getattr(law, "sigma", None) is not None and law.variance >= _WIDE:
        return np.rint(random.normal(0.0, math.sqrt(law.variance), size)).astype(np.int64)
    drawn: Int64 = draw_public(law, (1, size), random)[0]
    return drawn


def strategy_errors(strategy: Strategy, task: CurveTask, shapes: Shapes, records: int) -> Expected:
    """Predicted errors of a strategy's smoothed curve of this many records, under the terms of a task."""
    hashable: Any = task.terms.noise_of(strategy)
    known = task.terms.adjacency is Adjacency.REPLACE
    return simulated_errors(hashable, records, total_known=known, shapes=shapes)


def guessed(task: CurveTask) -> int:
    """The number of records that a prediction is for."""
    if task.records is None:
        raise ParameterError(
            "the number of records is private, so the error of this method is not predicted; "
            "give a public guess as `expected_records`"
        )
    return max(1, task.records)
