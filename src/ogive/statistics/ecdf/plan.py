"""How curves are planned: the names of their errors, and how they are predicted.

What is predicted is the error of the published, smoothed curve. It depends on the data, so it is simulated on public
shapes: a plan says the typical error of seven usual ones, and the smallest and the largest beside it. Strategies that
approximate err by their bias besides, so their largest error is that of all shapes.

A band is centered on the raw estimate, the truth plus noise whose law is known, so its width is simulated from the
noise alone. So are errors of points that are opened one by one. Noise is drawn once for each shape of a strategy and
scaled to the guarantee. A method asks for the same sums under each guarantee, with noise that is wider or narrower by
one factor. Estimates are linear, so their errors have that factor too, but for the rounding of noise to integers: from
a standard deviation of 8 on that changes little, and narrower noise is simulated as it is.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np

from ogive.core.arrays import Int64
from ogive.errors import ParameterError, ScaleError, UnsupportedError
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.noise.base import Law
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import CurveQuery, PeopleQuery, Query, ReportsQuery
from ogive.queries.histograms import ThresholdQuery
from ogive.queries.selection import NoisyMaxQuery
from ogive.statistics import prediction
from ogive.statistics.curve.approximating import common_ends, some_thresholds
from ogive.statistics.curve.bands import (
    NoiseMaxima,
    one_sided_distances,
    private_total_margin,
    simulate_maxima,
    upper_quantile,
)
from ogive.statistics.ecdf.statistic import Ecdf
from ogive.statistics.methods.base import (
    EVERY,
    NO_ERROR,
    REFERENCES,
    CurveMethod,
    CurveTask,
    Shapes,
    simulated_errors,
    typical,
)
from ogive.statistics.methods.choose import Method, MethodName, as_method, chosen, predicted_errors, unbiased
from ogive.statistics.methods.curve_methods import Reports
from ogive.statistics.prediction import CONFIDENCE, FEWEST_CURVES, Errors, Metric, Rehearsal, Setting
from ogive.strategies import Approximating, ReportedHistogram, ReportedTree, Strategy
from ogive.strategies.base import approximates
from ogive.strategies.reported import expected_tree

_WIDE = 8.0  # standard deviation of integer noise that is as good as continuous
_STEPS = 1 << 14  # scale of the first level's noise in the simulation; ratios of scales are rounded to one over it

CURVE_METRICS = {
    "rmse": Metric(
        "rmse", "root mean squared error over the thresholds, as a share of the records", squared=True, of_curve=True
    ),
    "ks": Metric("ks", "largest error at any threshold, on average, as a share of the records", of_curve=True),
    "ks_95": Metric("ks 95 %", "bound on the largest error that holds in 95 of 100 releases", of_curve=True),
    "band": Metric("band", "half width of the 95 % band for the population, which includes sampling error"),
    "energy": Metric(
        "energy",
        "energy distance of the published curve from its population, with the bounds a distance of 1 apart, simulated",
    ),
    "rmse_smoothed": Metric("rmse smoothed", "root mean squared error on the records that were given, simulated"),
    "ks_smoothed": Metric("ks smoothed", "largest error on the records that were given, on average, simulated"),
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
    """Errors of the raw curve by name, and the band; of a strategy that approximates the band alone."""
    known = total_known(query, adjacency)
    return _raw_errors(query.strategy, adjacency, records, known=known, whole=query.points is None)


def _raw_errors(strategy: Strategy, adjacency: Adjacency, records: int, *, known: bool, whole: bool = True) -> Errors:
    if approximates(strategy):
        return approximate_band(strategy, records, known=known)
    maxima = noise_maxima(strategy, total_known=known, simulations=simulations_for(strategy))
    errors = {
        "rmse": _deviation(strategy, known) / records,
        "ks": float(np.mean(maxima.either)) / records,
        "ks_95": abs(upper_quantile(maxima.either, 1 - CONFIDENCE)) / records,
        "band": _half_width(maxima, adjacency, records, whole=whole),
    }
    return Errors({name: min(1.0, value) for name, value in errors.items()})


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


class CurvePrediction(prediction.Prediction):
    """A prediction for what is read off a curve."""

    metrics: ClassVar[Mapping[str, Metric]] = CURVE_METRICS
    deciding = ("ks", "rmse")

    def deviation(self, errors: Mapping[str, float]) -> float | None:
        """Standard deviation of the noise of cumulative counts alone, before smoothing."""
        last, adjacency = self.queries[-1], self.setting.unit.adjacency
        if isinstance(last, ThresholdQuery):
            return math.sqrt(float(last.law.variance)) / float(2**last.bits)
        if isinstance(last, CurveQuery | PeopleQuery) and decided_by_noise(self.queries):
            strategy: Any = last.strategy
            known = total_known(last, adjacency)
        else:
            strategy, known = getattr(self.rehearsal.estimate, "strategy", None), True
        return None if strategy is None else _deviation(strategy, known)


def noise_maxima(strategy: Strategy, *, total_known: bool, simulations: int) -> NoiseMaxima:
    """Largest errors of simulated releases of a strategy, in records."""
    wide = None if min(_spread(level.law) for level in strategy.levels) < _WIDE else _widened(strategy)
    if wide is None:
        return simulate_maxima(strategy, total_known=total_known, simulations=simulations)
    maxima = simulate_maxima(wide, total_known=total_known, simulations=simulations)
    factor = _spread(strategy.levels[0].law) / _spread(wide.levels[0].law)
    parts = np.stack([maxima.above, maxima.either, maxima.ratio, maxima.ratio_above])
    return NoiseMaxima(*(factor * parts))


def _spread(law: Law) -> float:
    return float(np.sqrt(law.variance))


def _width(law: Law) -> float:
    return float(getattr(law, "scale", None) or _spread(law))


def _deviation(strategy: Strategy, known: bool) -> float:
    return math.sqrt(float(np.mean(strategy.variance(total_known=known))))


def _widened(strategy: Any, steps: int = _STEPS) -> Any:
    """The strategy with noise of one standard size, the same for every guarantee; None where it says no law."""
    names = [name for name in ("law", "laws") if hasattr(strategy, name)]
    if not names:
        return None
    first = _width(strategy.levels[0].law)
    held = getattr(strategy, names[0])
    laws = [_widened_law(law, steps * _width(law) / first) for law in (held if isinstance(held, tuple) else (held,))]
    return dataclasses.replace(strategy, **{names[0]: tuple(laws) if isinstance(held, tuple) else laws[0]})


def _widened_law(law: Law, size: float) -> Law:
    steps = Fraction(max(1, round(size)))
    return DiscreteLaplace(steps) if isinstance(law, DiscreteLaplace) else DiscreteGaussian(steps)


# --- The band of a curve whose estimate has a bias
#
# Bands take long, so they are those of a normal distribution in the middle of the bounds and of a narrow one aside.

_PROGRAMS = 12  # thresholds at which the band is looked at
_BAND_NOISES = 999
_BANDS = Shapes(("normal", "aside"), 1)


def approximate_band(strategy: Approximating, records: int, *, known: bool) -> Errors:
    """Half width of the band for the population, the larger one of both shapes."""
    counts = np.rint(np.diff(_BANDS.curves(strategy.size), axis=1, prepend=0.0) * records).astype(np.int64)
    counts[:, strategy.size // 2] += records - counts.sum(axis=1)  # rounding
    widths = [_approximating_half_width(strategy, each, known=known) for each in np.maximum(counts, 0)]
    return Errors.over_shapes({"band": np.array(widths)})


def _approximating_half_width(strategy: Approximating, counts: Int64, *, known: bool) -> float:
    total, answer = int(counts.sum()) if known else None, strategy.measure(counts)
    raw = strategy.estimate(answer, total)
    low, high = common_ends(
        raw,
        answer,
        strategy=strategy,
        total=total,
        tail=1 - CONFIDENCE,
        target="population",
        simulations=_BAND_NOISES,
        programs=_PROGRAMS,
    )
    return float(np.max((high - low)[some_thresholds(raw, _PROGRAMS)])) / 2


# --- The plan of a distribution function
#
# How much of the noise smoothing takes out depends on the noise as a share of the records, and little on their number.
# So curves of every threshold are simulated at powers of two of that share and of that number, and a plan reads the
# errors between two of them: guarantees share simulations, and errors fall as the loss grows.

_TYPICAL = ("beta", "mixture", "spikes", "narrow", "rounded", "power", "lognormal")
REFERENCE_WORDS = (
    "rmse, ks and ks 95 % are those of the published curve, simulated on public reference shapes: the geometric mean "
    f"over {len(_TYPICAL)} ({', '.join(_TYPICAL)}), or a..b, the smallest and the largest, where these are far apart; "
    f"projection, histogram, adaptive and selected measure less than every threshold, so for them a..b is over "
    f"{len(EVERY.names)} shapes, from smooth ones to all records on one value; energy is simulated on "
    f"{len(REFERENCES)} ({', '.join(REFERENCES)}); auto chooses a method that measures less only if, on every shape, "
    "its ks error is at most 1.5 times that of the best of the others"
)
_SHAPES = Shapes((*_TYPICAL, *(name for name in EVERY.names if name not in _TYPICAL)), 4)
_LEAST, _MOST = -18, 3  # powers of two between which noise is simulated, as a share of the records
_RECORDS = 1 << 8  # standard deviation of that noise, about
_ERRORS = ("rmse", "ks", "ks_95")


def published_errors(
    strategy: Strategy, records: int, *, known: bool, kind: str | None
) -> dict[str, tuple[float, ...]]:
    """Errors of the smoothed curve of a strategy by name, one for each of the typical shapes."""
    shapes = Shapes(_SHAPES.names[: len(_TYPICAL)], _SHAPES.runs)
    deviation = _deviation(strategy, known)
    if not deviation:  # as on a single bin
        return dict.fromkeys(_ERRORS, (0.0,) * len(_TYPICAL))
    steps = 2 ** round(math.log2(_RECORDS * _width(strategy.levels[0].law) / deviation))
    wide: Any = _widened(strategy, steps) or strategy
    place = math.log2(deviation / records)
    low = min(max(math.floor(place), _LEAST), _MOST - 1)
    ends = []
    for power in (low, low + 1):
        most = max(1.0, _deviation(wide, known) / 2.0**power)
        copies = max(1, round(most / 2 ** round(math.log2(records))))
        people = round(most / copies)
        errors = simulated_errors(wide, people, total_known=known, shapes=shapes, kind=kind, copies=copies)
        ends.append(np.log(np.maximum([getattr(errors, name) for name in _ERRORS], NO_ERROR)))
    share = min(place - low, 1.0)
    values = np.minimum(np.exp((1 - share) * ends[0] + share * ends[1]), 1.0)
    return {name: tuple(each.tolist()) for name, each in zip(_ERRORS, values, strict=True)}


class Prediction(CurvePrediction):
    """Errors of the published curve on public shapes."""

    @property
    def decided(self) -> bool:
        """Whether the predicted errors decide: one noisy curve is measured, or owners report."""
        return curve_is_decided(self.rehearsal)

    def errors(self) -> Errors:
        """Errors of the published curve, and the half width of its band."""
        return curve_errors(cast(Ecdf, self.statistic), self.rehearsal, self.setting)


def curve_is_decided(rehearsal: Rehearsal) -> bool:
    """Whether predicted errors decide without a simulation."""
    return decided_by_noise(rehearsal.queries) or isinstance(rehearsal.queries[-1], ReportsQuery)


def curve_errors(curve: Ecdf, rehearsal: Rehearsal, setting: Setting) -> Errors:
    """Errors of the published curve on public shapes, and the half width of its band; else those of the raw curve."""
    adjacency, last, terms = setting.unit.adjacency, rehearsal.queries[-1], rehearsal.terms
    strategy, raw = getattr(rehearsal.estimate, "strategy", None), Errors({})
    if isinstance(strategy, ReportedHistogram | ReportedTree):
        raw = _raw_errors(strategy, adjacency, setting.records, known=True)
    elif len(rehearsal.queries) == 1 and isinstance(last, CurveQuery | PeopleQuery):
        raw = raw_errors(last, adjacency, setting.records)
    method: Method = curve.method
    if isinstance(last, PeopleQuery):  # as where each person has one row
        method = cast(MethodName, last.method)
        terms = dataclasses.replace(terms, unit=PrivacyUnit(adjacency, terms.unit.person))
    task = CurveTask(curve.binning(), terms, curve.smooth, curve.expected_records or setting.records)
    try:
        errors, energies = _simulated(method, task, setting.records, automatic=as_method(curve.method) == "auto")
    except (ParameterError, ScaleError, UnsupportedError):
        return raw
    spans = {name: (min(values), max(values)) for name, values in {**errors, "energy": energies}.items()}
    middle = {name: typical(values[: len(_TYPICAL)]) for name, values in errors.items()}
    return Errors({**raw, **middle, "energy": typical(energies)}, {**raw.spans, **spans}, basis=(REFERENCE_WORDS,))


def _simulated(
    method: Method, task: CurveTask, records: int, *, automatic: bool
) -> tuple[dict[str, tuple[float, ...]], tuple[float, ...]]:
    """Errors of the published curve by name and shape, and its energy distances."""
    taken, coarse = chosen(method, task), task.at_most()
    by_name = isinstance(as_method(method), str)
    kind = task.smooth if automatic or task.smooth != "auto" else None
    if isinstance(taken, Reports):
        strategy: Any = expected_tree(taken.oracle(coarse), records)
        kind = task.smooth
    elif isinstance(taken, CurveMethod):
        expected = predicted_errors(taken, task, _SHAPES)
        return {name: getattr(expected, name) for name in _ERRORS}, predicted_errors(taken, task).energy
    else:
        strategy = unbiased(taken.name, coarse) if by_name else taken
    energies = predicted_errors(cast(MethodName, taken.name) if by_name else taken, task).energy
    strategy = task.terms.noise_of(strategy)
    known = task.terms.adjacency is Adjacency.REPLACE
    return published_errors(strategy, records, known=known, kind=kind), energies
