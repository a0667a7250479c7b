"""How curves are planned: the names of their errors, and the errors of one noisy curve before smoothing.

The raw estimate of the cumulative counts is the truth plus noise whose law is known, so its root mean squared error is
exact and the same for every data set, and its largest error is simulated from the noise alone. Strategies that
approximate have a bias too; see below.

Noise is drawn once for each shape of a strategy and scaled to the guarantee. A method asks for the same sums under each
guarantee, with noise that is wider or narrower by one factor. Estimates are linear, so their errors have that factor
too, but for the rounding of noise to integers: from a standard deviation of 8 on that changes little, and narrower
noise is simulated as it is.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np

from ogive.columns.grids import Grid
from ogive.core.arrays import Float64, Int64
from ogive.errors import ParameterError, ScaleError, UnsupportedError
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.noise.base import Law
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import CurveQuery, PeopleQuery, Query, ReportsQuery
from ogive.queries.histograms import ThresholdQuery
from ogive.queries.selection import NoisyMaxQuery
from ogive.statistics import prediction
from ogive.statistics.base import Terms
from ogive.statistics.curve.approximating import common_ends, some_thresholds
from ogive.statistics.curve.bands import (
    NoiseMaxima,
    one_sided_distances,
    private_total_margin,
    simulate_maxima,
    upper_quantile,
)
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.ecdf.statistic import Ecdf
from ogive.statistics.methods.base import EVERY, LARGEST_PREDICTED, REFERENCES, CurveTask, Shapes, public_noise, typical
from ogive.statistics.methods.choose import MethodName, as_method, predicted_errors
from ogive.statistics.prediction import CONFIDENCE, FEWEST_CURVES, Errors, Metric, Rehearsal, Setting
from ogive.strategies import Approximating, ReportedHistogram, ReportedTree, Strategy
from ogive.strategies.base import approximates

_WIDE = 8.0  # standard deviation of integer noise that is as good as continuous
_STEPS = 1 << 14  # scale of the first level's noise in the simulation; ratios of scales are rounded to one over it

CURVE_METRICS = {
    "rmse": Metric(
        "rmse", "root mean squared error over the thresholds, before smoothing, as a share of the records", squared=True
    ),
    "ks": Metric("ks", "largest error at any threshold, on average, before smoothing, as a share of the records"),
    "ks_95": Metric("ks 95 %", "bound on the largest error that holds in 95 of 100 releases, before smoothing"),
    "band": Metric("band", "half width of the 95 % band for the population, which includes sampling error"),
    "energy": Metric(
        "energy",
        "energy distance of the published curve from its population, with the bounds a distance of 1 apart, simulated",
    ),
    "rmse_smoothed": Metric("rmse smoothed", "root mean squared error of the published curve, simulated"),
    "ks_smoothed": Metric("ks smoothed", "largest error of the published curve, on average, simulated"),
}
"""What errors of a curve are, in the order of a table's columns."""

# simulated noise values for one prediction, and how many whole curves that makes at most
_VALUES = 5_000_000
_MOST_CURVES = 499
_DISTANCES = 4999  # of samples from their population


def simulations_for(strategy: Strategy) -> int:
    """How many curves of noise are simulated: 499 up to some ten thousand noise nodes, fewer beyond."""
    return min(_MOST_CURVES, max(FEWEST_CURVES, _VALUES // sum(level.nodes for level in strategy.levels)))


def total_known(query: CurveQuery | PeopleQuery, adjacency: Adjacency) -> bool:
    """Whether the estimate is conditioned on a public number of records; points opened one by one are not."""
    return adjacency is Adjacency.REPLACE and query.points is None


def raw_errors(query: CurveQuery | PeopleQuery, adjacency: Adjacency, records: int) -> Errors:
    """Errors of the raw curve by name; see `CURVE_METRICS` for what each says."""
    known = total_known(query, adjacency)
    return strategy_errors(query.strategy, adjacency, records, known=known, whole=query.points is None)


def strategy_errors(
    strategy: Strategy, adjacency: Adjacency, records: int, *, known: bool, whole: bool = True
) -> Errors:
    """The same of what a strategy measures."""
    if approximates(strategy):
        return approximate_errors(strategy, records, known=known, tail=1 - CONFIDENCE)
    maxima = noise_maxima(strategy, total_known=known, simulations=simulations_for(strategy))
    return Errors(
        {
            "rmse": math.sqrt(float(np.mean(strategy.variance(total_known=known)))) / records,
            "ks": float(np.mean(maxima.either)) / records,
            "ks_95": abs(upper_quantile(maxima.either, 1 - CONFIDENCE)) / records,
            "band": _half_width(maxima, adjacency, records, whole=whole),
        }
    )


def _half_width(maxima: NoiseMaxima, adjacency: Adjacency, records: int, *, whole: bool) -> float:
    """Half width of the band for the population, before it is made monotone; at most 1."""
    tail = 1 - CONFIDENCE
    if adjacency is Adjacency.REPLACE:
        # noise and sampling are independent, so every pair of draws counts
        sums = np.add.outer(maxima.above / records, one_sided_distances(records, _DISTANCES))
        return min(1.0, upper_quantile(sums.ravel(), tail / 2))
    if whole:
        return min(1.0, private_total_margin(maxima, records, tail) / records)
    margin = upper_quantile(maxima.either, tail / 2)
    strays = math.sqrt(math.log(4 / tail) / (2 * max(1.0, records - margin)))
    # single points are not divided by the same noisy total, so the widest interval is that of the largest share
    return min(1.0, ((1 + strays) * (records + margin) + margin) / records - 1)


def decided_by_noise(queries: Sequence[Query]) -> bool:
    """Whether the errors of one noisy curve are what one decides by."""
    selected = isinstance(queries[0], NoisyMaxQuery)
    one_curve = isinstance(queries[-1], CurveQuery | PeopleQuery) and (selected or len(queries) == 1)
    return one_curve or isinstance(queries[-1], ThresholdQuery)


def errors_of_one_curve(queries: Sequence[Query], adjacency: Adjacency, records: int) -> Errors | None:
    """Errors of the raw curve where nothing else is measured."""
    last = queries[-1]
    if len(queries) > 1 or not isinstance(last, CurveQuery | PeopleQuery):
        return None
    return raw_errors(last, adjacency, records)


class CurvePrediction(prediction.Prediction):
    """A prediction for what is read off a curve."""

    metrics: ClassVar[Mapping[str, Metric]] = CURVE_METRICS
    deciding = ("ks", "rmse")

    def deviation(self, errors: Mapping[str, float]) -> float | None:
        """Standard deviation of the noise of cumulative counts alone, even where errors count a bias besides."""
        first, last = self.queries[0], self.queries[-1]
        if isinstance(last, ThresholdQuery):
            return math.sqrt(float(last.law.variance)) / float(2**last.bits)
        selected = isinstance(first, NoisyMaxQuery)
        if isinstance(last, CurveQuery) and (selected or approximates(last.strategy)):
            return math.sqrt(float(np.mean(last.strategy.variance(total_known=self.setting.total_known))))
        return super().deviation(errors)


def noise_maxima(strategy: Strategy, *, total_known: bool, simulations: int) -> NoiseMaxima:
    """Largest errors of simulated releases of a strategy, in records."""
    wide = _widened(strategy)
    if wide is None:
        return simulate_maxima(strategy, total_known=total_known, simulations=simulations)
    maxima = simulate_maxima(wide, total_known=total_known, simulations=simulations)
    factor = _spread(strategy.levels[0].law) / _spread(wide.levels[0].law)
    parts = np.stack([maxima.above, maxima.either, maxima.ratio, maxima.ratio_above])
    return NoiseMaxima(*(factor * parts))


def _spread(law: Law) -> float:
    return float(np.sqrt(law.variance))


def _widened(strategy: Any) -> Any:
    """The strategy with noise of one standard size, the same for every guarantee; None where that is another shape."""
    names = [name for name in ("law", "laws") if hasattr(strategy, name)]
    if not names or min(_spread(level.law) for level in strategy.levels) < _WIDE:
        return None
    first = _spread(strategy.levels[0].law)
    held = getattr(strategy, names[0])
    laws = [_widened_law(law, _spread(law) / first) for law in (held if isinstance(held, tuple) else (held,))]
    return dataclasses.replace(strategy, **{names[0]: tuple(laws) if isinstance(held, tuple) else laws[0]})


def _widened_law(law: Law, ratio: float) -> Law:
    steps = max(1, round(_STEPS * ratio))
    return DiscreteLaplace(Fraction(steps)) if isinstance(law, DiscreteLaplace) else DiscreteGaussian(Fraction(steps))


# --- Errors of a curve whose estimate has a bias
#
# The noise is simulated, and the bias is that of every public shape of `methods.base`: a smooth distribution has
# little bias, one with few distinct values has much. Every error is the largest over the shapes, with the smallest
# beside it. Bands take long, so they are those of a normal distribution in the middle of the bounds and of a narrow one
# aside.

_SEED = 0x62696173
_NOISES = 199  # simulated releases
_PROGRAMS = 12  # thresholds at which the band is looked at
_BAND_NOISES = 999
_BANDS = ("normal", "aside")


def approximate_errors(strategy: Approximating, records: int, *, known: bool, tail: Fraction) -> Errors:
    """Errors of the raw curve by name; see `CURVE_METRICS` for what each says."""
    total = records if known else None
    counts = np.rint(np.diff(EVERY.curves(strategy.size), axis=1, prepend=0.0) * records).astype(np.int64)
    counts[:, strategy.size // 2] += records - counts.sum(axis=1)  # rounding
    counts = np.maximum(counts, 0)
    truth = np.cumsum(counts, axis=1)
    totals = [int(curve[-1]) if known else None for curve in truth]
    answers = [strategy.measure(shape) for shape in counts]
    bare = [strategy.estimate(answer, whole) for answer, whole in zip(answers, totals, strict=True)]
    bias = np.array(bare) - truth
    random = np.random.Generator(np.random.PCG64(_SEED))
    drawn = tuple(public_noise(level.law, _NOISES * level.nodes, random) for level in strategy.levels)
    nodes = tuple(noise.reshape(_NOISES, -1) for noise in drawn)
    noise = strategy.estimate(strategy.spread(nodes), None if total is None else 0)
    largest = [np.abs(noise + shape).max(axis=1) for shape in bias]
    squared = float(np.mean(strategy.variance(total_known=known))) + np.mean(bias**2, axis=1)
    values = {
        "rmse": np.sqrt(squared),
        "ks": np.array([np.mean(each) for each in largest]),
        "ks_95": np.array([upper_quantile(each, tail) for each in largest]),
    }
    places = [EVERY.names.index(name) for name in _BANDS]
    bands = [_approximating_half_width(strategy, bare[each], answers[each], totals[each], tail) for each in places]
    errors = {name: each / records for name, each in values.items()}
    return Errors.over_shapes({**errors, "band": np.array(bands)})


def _approximating_half_width(
    strategy: Approximating, raw: Float64, answer: Int64, total: int | None, tail: Fraction
) -> float:
    low, high = common_ends(
        raw,
        answer,
        strategy=strategy,
        total=total,
        tail=tail,
        target="population",
        simulations=_BAND_NOISES,
        programs=_PROGRAMS,
    )
    looked_at = some_thresholds(raw, _PROGRAMS)
    return float(np.max((high - low)[looked_at])) / 2


# --- The plan of a distribution function
#
# Most methods measure one curve, whose errors before smoothing follow from the noise. A curve may also take several
# rounds, each chosen after the answers before: neither its noise nor its bias is that of one strategy. Then releases
# are imagined on every public shape, and errors are the largest over the shapes, with the smallest beside it, as for
# strategies that approximate.

REFERENCE_WORDS = (
    "projection, histogram, adaptive and selected measure less than every threshold, so their errors depend on the "
    f"data: a..b is the smallest and the largest over {len(EVERY.names)} public reference shapes, from smooth ones "
    f"to all records on one value, with the bias counted; energy is simulated for every method on {len(REFERENCES)} "
    f"of them ({', '.join(REFERENCES)}); auto chooses such a method only if, on every shape, its ks error is at most "
    "1.5 times that of the best of the others"
)

_SHAPES = Shapes(EVERY.names, runs=4)


class Prediction(CurvePrediction):
    """Errors before smoothing, which hold for all records, and the energy distance, on public shapes."""

    @property
    def decided(self) -> bool:
        """Whether the predicted errors decide: one noisy curve is measured, or owners report."""
        return curve_is_decided(self.rehearsal)

    def errors(self) -> Errors:
        """Errors of the curve before smoothing, and its energy distance."""
        return curve_errors(cast(Ecdf, self.statistic), self.rehearsal, self.setting)


def curve_is_decided(rehearsal: Rehearsal) -> bool:
    """Whether predicted errors decide without a simulation."""
    return decided_by_noise(rehearsal.queries) or isinstance(rehearsal.queries[-1], ReportsQuery)


def curve_errors(curve: Ecdf, rehearsal: Rehearsal, setting: Setting) -> Errors:
    """Errors of a curve before smoothing, and its energy distance where the public shapes tell it."""
    strategy = cast(Curve, rehearsal.estimate).strategy
    adjacency, last = setting.unit.adjacency, rehearsal.queries[-1]
    of_one = errors_of_one_curve(rehearsal.queries, adjacency, setting.records)
    automatic = as_method(curve.method) == "auto"
    method = curve.method
    if isinstance(strategy, ReportedHistogram | ReportedTree):
        errors = strategy_errors(strategy, adjacency, setting.records, known=True)
        method = "reports" if automatic else method
    elif of_one is not None:
        errors = of_one
        method = last.strategy if automatic and isinstance(last, CurveQuery) else method
    else:
        errors = _rehearsed_errors(curve, rehearsal.terms, setting)
    terms = rehearsal.terms
    if isinstance(last, PeopleQuery):  # as where each person has one row
        method = cast(MethodName, last.method)
        terms = dataclasses.replace(terms, unit=PrivacyUnit(adjacency, terms.unit.person))
    task = CurveTask(curve.binning(), terms, curve.smooth, curve.expected_records or setting.records)
    try:
        energies = predicted_errors(method, task).energy
    except (ParameterError, ScaleError, UnsupportedError):
        return errors
    spans = errors.spans | {"energy": (min(energies), max(energies))}
    return Errors({**errors, "energy": typical(energies)}, spans, basis=(REFERENCE_WORDS,))


def _rehearsed_errors(curve: Ecdf, terms: Terms, setting: Setting) -> Errors:
    """Root mean squared and largest error of the published curve against the imagined records' own.

    A curve on more than 4096 thresholds is imagined on 4096.
    """
    grid = curve.binning().grid
    if grid.bins > LARGEST_PREDICTED:
        grid = Grid.linear(0, 1, bins=LARGEST_PREDICTED)
        curve = dataclasses.replace(curve, bounds=None, grid=grid, missing=curve.binning().on(grid).missing)
    counts = _SHAPES.counts(grid.bins, setting.records)
    squared, largest = np.empty(counts.shape[:2]), np.empty(counts.shape[:2])
    for shape, run in np.ndindex(counts.shape[:2]):
        imagined = counts[shape, run]
        released = _released(curve, terms, imagined, setting, run=1 + run + _SHAPES.runs * shape)
        gap = released.probabilities - np.cumsum(imagined) / setting.records
        squared[shape, run], largest[shape, run] = np.mean(gap**2), np.abs(gap).max()
    return Errors.over_shapes({"rmse": np.sqrt(squared.mean(axis=1)), "ks": largest.mean(axis=1)})


def _released(curve: Ecdf, terms: Terms, counts: Any, setting: Setting, *, run: int) -> Curve:
    """One imagined release of records with these counts, whose price is already known."""
    procedure = curve.questions(terms)
    query = next(procedure)
    while True:
        try:
            query = procedure.send(setting.answer(query, counts, terms, run))
        except StopIteration as stop:
            return cast(Curve, stop.value)
