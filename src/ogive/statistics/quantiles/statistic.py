"""Quantiles with simultaneous intervals, from a whole curve, the few points a bisection visits, or by selections."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, cast, get_args

import numpy as np

from ogive.columns import Binning, Missing
from ogive.columns.grids import Bound, Grid, GridName
from ogive.core.arrays import Float64
from ogive.core.checks import added, among, one_of, refuse_masked
from ogive.errors import ParameterError, quoted
from ogive.noise import Geometric
from ogive.privacy import Rational, exact
from ogive.queries import Answer, CurveQuery, JointQuantilesQuery, NoisyMaxQuery, QuantileScore, Query
from ogive.queries.selection import MOST_BINS
from ogive.statistics.base import Statistic, Terms
from ogive.statistics.confidence import check_level, simulations_needed
from ogive.statistics.curve.bands import (
    FEWEST_SIMULATIONS,
    one_sided_distances,
    simulate_maxima,
    simulations_for,
    upper_quantile,
)
from ogive.statistics.curve.readings import bisect_points, lower_ends
from ogive.statistics.ecdf.plan import (
    CURVE_METRICS,
    CurvePrediction,
    curve_errors,
    curve_is_decided,
    decided_by_noise,
    raw_errors,
)
from ogive.statistics.ecdf.statistic import DEFAULT_BINS, HELP, OWNER_HELP, OWNERS, Ecdf, by_hand
from ogive.statistics.kinds import Command
from ogive.statistics.methods.base import intervals_of
from ogive.statistics.methods.choose import METHODS, Method, MethodName, as_method, choose
from ogive.statistics.prediction import Errors, Metric, Setting
from ogive.statistics.quantiles.estimate import CONFIDENCE_LEVEL, QuantileEstimates
from ogive.statistics.quantiles.selection import (
    INTERVAL_SHARE,
    LARGEST_INTERVAL_SHARE,
    Few,
    Selected,
    Selection,
    check_counted,
    counted_is_better,
    joint_ranks_off,
    predicted,
    scores_of,
    select_and_count,
    select_jointly,
    select_quantiles,
    selection,
    short_shares,
)
from ogive.strategies import Pointwise, Strategy

# --- Quantiles by bisection


def _bisected(
    binning: Binning, strategy: Pointwise, probabilities: Sequence[float], *, confidence_level: Fraction
) -> Generator[Query, Answer, Selected]:
    """Search for quantiles and for both ends of their intervals, together.

    With a margin that holds for all points of the release at once, the first point whose noisy
    share reaches p - margin is not above the quantile, and the first that reaches p + margin is not below
    it; so the ends are found by the same search, and points visited adaptively are covered.
    """
    design = strategy
    answer = yield CurveQuery(binning, design, (strategy.size - 1,))
    total, noisy = answer.total, answer.noisy
    strategy = answer.noise_of(strategy)
    last = np.array([strategy.size - 1])
    records = max(1.0, float(strategy.estimate_at(answer.values, last, None)[0])) if total is None else max(1, total)
    wanted = np.array(probabilities)
    lower, upper = _targets(strategy, wanted, records, total is not None, noisy, confidence_level)
    targets = np.concatenate([wanted, lower, upper])
    search = bisect_points(targets, size=strategy.size)
    try:
        points = next(search)
        while True:
            answer = yield CurveQuery(binning, design, tuple(points.tolist()))
            points = search.send(strategy.estimate_at(answer.values, points, None) / records)
    except StopIteration as stop:
        result, low, high = stop.value.reshape(3, -1)
    # the noise may cross targets in another order than they have; quantiles increase with p
    order = np.argsort(wanted, kind="stable")
    for row, accumulate in ((result, np.maximum.accumulate), (low, np.maximum.accumulate)):
        row[order] = accumulate(row[order])
    high[order] = np.minimum.accumulate(high[order][::-1])[::-1]
    high = np.maximum(low, high)
    return Selected(np.clip(result, low, high).tolist(), low.tolist(), high.tolist())


def _targets(
    strategy: Pointwise, wanted: Float64, records: float, total_known: bool, noisy: bool, level: Fraction
) -> tuple[Float64, Float64]:
    """Noisy shares below which a point is surely below the quantile, and from which on it surely is not."""
    tail = 1 - level
    simulations = simulations_for(strategy, level)
    maxima = simulate_maxima(strategy, total_known=False, simulations=simulations)
    noise = 1.0 if noisy else 0.0
    if total_known or not noisy:
        sums = noise * maxima.above / records + one_sided_distances(math.floor(records), simulations)
        margin = upper_quantile(sums, tail / 2)
        return wanted - margin, wanted + margin
    margin = upper_quantile(maxima.either, tail / 2)
    fewest, most = max(1.0, records - margin), records + margin
    strays = math.sqrt(math.log(4 / tail) / (2 * fewest))
    return ((wanted - strays) * fewest - margin) / records, ((wanted + strays) * most + margin) / records


DECILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


QuantileMethod = Method | Literal["bisection", "exponential", "joint", "counted"]
"""A method of a whole curve, the bisection that opens only the points it visits, or selections."""

_BY_THEMSELVES = ("bisection", "exponential", "joint", "counted")
"""Methods that release no curve."""

_FEW = 3
"""Up to this number of quantiles a plan compares single selections with curves."""

_FEW_TOGETHER = 5
"""The same for joint selections."""


@dataclass(frozen=True)
class Quantiles:
    """Quantiles of one column on a public grid.

    Fields:
        column: Numeric or temporal column.
        probabilities: Probabilities of the quantiles, each in [0, 1].
        bounds: Smallest and largest possible value, public; values outside are clipped.
        bins: Number of thresholds, 1 to 2^24.
        grid: "linear", "geometric", "integers", for dates and times "hours", "days", "weeks" or "months", or a `Grid`
            instead of bounds and bins.
        missing: What a missing value means: "refuse" (an error), "low" or "high" (the lower or the upper bound), a
            public value within the bounds, as which it counts, or "drop" (not counted; ADD_OR_REMOVE only).
        method: "bisection" opens only the points it visits (path noise). "exponential" selects each of at most nine
            quantiles by itself, and "joint" all of them together; "counted" selects up to three together, and counts
            records at thresholds near them for narrow intervals. These three suit few quantiles and need a curator who
            sees all records. Any other method is one of `Ecdf`, and the quantiles are read from the whole curve at the
            same cost. "auto" takes what is predicted to be best; see `few`.
        confidence_level: Confidence level of the simultaneous intervals.
        expected_records: A public guess of the number of records, if that number is private. "auto" needs it to
            consider methods that are not unbiased.
        interval_share: Of the guarantee, for the intervals of "joint", 0 to 0.9. With 0 all of it goes to the
            quantiles, and each interval is the bounds.
        few: What "auto" does with few quantiles: "auto" (takes "counted" where errors and widths of intervals together
            are predicted to be smaller than those of a curve, and no interval wider), "selected" (selects up to nine
            where they are predicted to be nearer, whatever the width of intervals) or "curve" (reads them off a curve,
            which has all other quantiles).

    Example:
        >>> import numpy as np, ogive
        >>> incomes = np.random.default_rng(1).lognormal(10, 0.5, size=50_000)
        >>> result = ogive.quantiles(incomes, [0.5], bounds=(0, 200_000), privacy=ogive.PureDP(1))
        >>> bool(abs(result.values[0] / np.median(incomes) - 1) < 0.05)
        True
    """

    name: ClassVar[str] = "quantiles"

    column: str
    probabilities: Sequence[float] = DECILES
    _: KW_ONLY
    bounds: tuple[Bound, Bound] | None = None
    bins: int = DEFAULT_BINS
    grid: Grid | GridName = "linear"
    method: QuantileMethod = "auto"
    missing: Missing = one_of("refuse", "low", "high", "drop")
    confidence_level: float = CONFIDENCE_LEVEL
    expected_records: int | None = None
    interval_share: Rational = added(INTERVAL_SHARE)
    few: Few = added("curve", default="auto", words=("auto", "selected", "curve"))

    def __post_init__(self) -> None:
        """Refuse what no release could use, before any data is touched."""
        refuse_masked(self.probabilities)
        try:
            wanted = np.atleast_1d(np.asarray(self.probabilities, dtype=np.float64))
        except (TypeError, ValueError):
            raise ParameterError(
                f"`probabilities` must be numbers in [0, 1], got {quoted(self.probabilities)}"
            ) from None
        if wanted.ndim != 1 or wanted.size == 0:
            raise ParameterError("ask for at least one probability")
        if not np.all((wanted >= 0) & (wanted <= 1)):
            outside = float(wanted[~((wanted >= 0) & (wanted <= 1))][0])
            raise ParameterError(f"`probabilities` must be in [0, 1], got {quoted(outside)}")
        level = check_level(self.confidence_level)
        object.__setattr__(self, "probabilities", tuple(float(p) for p in wanted))
        object.__setattr__(self, "confidence_level", float(level))
        share = exact(self.interval_share, "interval_share")
        if not 0 <= share <= LARGEST_INTERVAL_SHARE:
            raise ParameterError(f"`interval_share` must be from 0 to 0.9, got {self.interval_share}")
        object.__setattr__(self, "interval_share", share)
        among(self.few, "few", get_args(Few))
        binning = self.ecdf().binning()
        object.__setattr__(self, "missing", binning.missing)
        size = binning.grid.bins
        # refused before anything is charged for; no method of this package draws more values than four a threshold
        if self.method == "exponential":
            scores_of(self.probabilities, size)
            return
        if self.method == "joint":
            JointQuantilesQuery(binning, tuple(sorted(short_shares(self.probabilities))), Geometric(1))
        if self.method == "counted":
            check_counted(binning, self.probabilities)
        nodes = sum(part.nodes for part in self.method.levels) if isinstance(self.method, Strategy) else 4 * size
        simulations_needed(level, share=Fraction(1, 2), nodes=nodes, usual=FEWEST_SIMULATIONS)

    def ecdf(self) -> Ecdf:
        """The curve from which quantiles are read; bisection opens single points of it."""
        by_itself = self.method in _BY_THEMSELVES
        method = "path" if by_itself else cast(Method, self.method)
        return Ecdf(
            self.column,
            self.bounds,
            bins=self.bins,
            grid=self.grid,
            method=method,
            missing=self.missing,
            expected_records=self.expected_records,
        )

    def canonical(self) -> Quantiles:
        """The canonical form of the statistic: the grid itself, and methods with their options."""
        grid = self.ecdf().binning().grid
        method = self.method if self.method in _BY_THEMSELVES else as_method(self.method)
        few: Few = self.few if self.may_select else "curve"
        share = self.interval_share if self.method == "joint" or few == "selected" else INTERVAL_SHARE
        return dataclasses.replace(
            self, bounds=None, bins=grid.bins, grid=grid, method=method, interval_share=share, few=few
        )

    @property
    def may_select(self) -> bool:
        """Whether the method is "auto", and these quantiles can be selected jointly."""
        binning = self.ecdf().binning()
        if self.method != "auto" or self.few == "curve" or binning.grid.bins > MOST_BINS:
            return False
        with suppress(ParameterError):
            check = (
                short_shares(self.probabilities)
                if self.few == "selected"
                else check_counted(binning, self.probabilities)
            )
            return bool(check)
        return False

    def before(self) -> Quantiles | None:
        """What the same call asked before there was "counted", if that was another question."""
        return dataclasses.replace(self, few="selected") if (self.method, self.few) == ("auto", "auto") else None

    def resolved(self, terms: Terms) -> Quantiles:
        """The same by the method that "auto" takes under some terms, if that is a selection; else itself."""
        if not self.may_select:
            return self

        def ask(method: Selection, trial: Terms) -> Generator[Query, Answer, QuantileEstimates]:
            return dataclasses.replace(self, method=method).questions(trial)

        binning, guess = self.ecdf().binning(), self.expected_records
        method: Selection | None = None
        if self.few == "selected":
            method = selection(binning, len(self.probabilities), ask, guess=guess, terms=terms)
        elif counted_is_better(
            binning, self.probabilities, ask, level=check_level(self.confidence_level), guess=guess, terms=terms
        ):
            method = "counted"
        return self if method is None else dataclasses.replace(self, method=method)

    def alternatives(self) -> dict[str, Quantiles]:
        """One statistic for each method of a whole curve, for bisection, and for a method that the user designed."""
        names: tuple[MethodName | Literal["bisection"], ...] = (*METHODS, "bisection")
        named: dict[str, Quantiles] = {name: dataclasses.replace(self, method=name) for name in names}
        if len(self.probabilities) <= _FEW or self.method == "exponential":
            with suppress(ParameterError):  # of a probability that is not a short fraction
                named["exponential"] = dataclasses.replace(self, method="exponential")
        if len(self.probabilities) <= _FEW_TOGETHER or self.method == "joint" or self.may_select:
            with suppress(ParameterError):
                named["joint"] = dataclasses.replace(self, method="joint")
        if self.method == "counted" or self.few != "curve":
            with suppress(ParameterError):
                named["counted"] = dataclasses.replace(self, method="counted")
        return named if self.method in _BY_THEMSELVES else named | by_hand(self)

    def questions(self, terms: Terms) -> Generator[Query, Answer, QuantileEstimates]:
        """Release a curve and read it, bisect, or select.

        Privacy: all answers together at most the whole of `terms.privacy`, however many quantiles.
        """
        resolved = self.resolved(terms)
        if resolved is not self:
            return (yield from resolved.questions(terms))
        if self.method in _BY_THEMSELVES:
            return (yield from self._single(terms))
        curve = yield from self.ecdf().questions(terms)
        probabilities = np.array(self.probabilities)
        numbers = tuple(map(curve.grid.number, curve.quantile(probabilities)))
        ends = [(number, number) for number in numbers]
        if terms.simulations != 0:
            ends = intervals_of(curve, self.probabilities, self.confidence_level, terms)
        low, high = zip(*ends, strict=True)
        return QuantileEstimates(
            column=self.column,
            grid=curve.grid,
            probabilities=tuple(self.probabilities),
            numbers=numbers,
            low=low,
            high=high,
            confidence_level=self.confidence_level,
            curve=curve,
        )

    def _single(self, terms: Terms) -> Generator[Query, Answer, QuantileEstimates]:
        """Quantiles at the upper ends of bins, with intervals from the lower end of a bin to the upper end of one."""
        binning, level = self.ecdf().binning(), check_level(self.confidence_level)
        grid, shares = binning.grid, self.probabilities
        if self.method in ("exponential", "counted"):
            select = select_quantiles if self.method == "exponential" else select_and_count
            bins = yield from select(binning, shares, confidence_level=level, guess=self.expected_records, terms=terms)
        elif self.method == "joint":
            part = exact(self.interval_share, "interval_share")
            bins = yield from select_jointly(binning, shares, confidence_level=level, interval_share=part, terms=terms)
        else:
            terms.check_cells(grid.bins)
            strategy = choose(
                grid.bins,
                terms.privacy,
                terms.adjacency,
                "path",
                lambda candidate: terms.refusal(CurveQuery(binning, candidate, (0,))),
                rows=terms.unit.max_rows_per_person,
            )
            assert isinstance(strategy, Pointwise)
            bins = yield from _bisected(binning, strategy, shares, confidence_level=level)
        return QuantileEstimates(
            column=self.column,
            grid=grid,
            probabilities=tuple(shares),
            numbers=tuple(grid.thresholds[bins.places].tolist()),
            low=tuple(lower_ends(grid)[bins.low].tolist()),
            high=tuple(grid.thresholds[bins.high].tolist()),
            confidence_level=self.confidence_level,
        )


# --- How it is planned

_EVENLY = "rank of {}: on average, if values are spread evenly over the bounds"


class QuantilesPrediction(CurvePrediction):
    """Errors of the curve, and by simulation of the quantiles."""

    metrics: ClassVar[Mapping[str, Metric]] = CURVE_METRICS | {
        "rank": Metric("rank", "largest distance of a quantile from its wanted share, on average, simulated"),
        "mean_rank": Metric("mean rank", "distance of a quantile from its wanted share, on average, predicted"),
        "width": Metric("width", "width of the widest interval as a share of the records within it, predicted"),
    }

    shown = ("ks", "ks_95", "band", "rank", "mean_rank", "width")

    def __init__(self, statistic: Quantiles, terms: Terms, setting: Setting) -> None:
        super().__init__(statistic.resolved(terms), terms, setting)

    @staticmethod
    def measured(statistic: Quantiles) -> Statistic[Any]:
        """The curve, whose intervals need not be simulated to know the queries."""
        return statistic if statistic.method in _BY_THEMSELVES else statistic.ecdf()

    @property
    def decided(self) -> bool:
        """Whether the predicted errors decide: one noisy curve is measured, or owners report, or it is a selection."""
        if self._method == "bisection":
            return decided_by_noise(self.queries)
        return self._selects or curve_is_decided(self.rehearsal)

    def errors(self) -> Errors:
        """Errors of the whole curve, or of the points that are opened or selected, and the width of intervals."""
        errors, setting = self._errors(), self.setting
        asked = cast(Quantiles, self.statistic)
        level = check_level(asked.confidence_level)
        expected = predicted(self.queries, asked.probabilities, setting.records, level, setting.unit.adjacency)
        if expected is not None and setting.records:
            errors["mean_rank"], errors["width"] = expected.error / setting.records, 2 * expected.half / setting.records
        return errors

    def _errors(self) -> Errors:
        if self._selects:
            return self._rank_errors()
        if self._method == "bisection":
            return raw_errors(cast(CurveQuery, self.queries[-1]), self.setting.unit.adjacency, self.setting.records)
        return curve_errors(cast(Quantiles, self.statistic).ecdf(), self.rehearsal, self.setting)

    def simulated(self) -> tuple[Statistic[Any], Terms]:
        """The quantiles without their intervals, which no error depends on."""
        return self.statistic, dataclasses.replace(self.terms, simulations=0)

    @property
    def _method(self) -> object:
        return cast(Quantiles, self.statistic).method

    @property
    def _selects(self) -> bool:
        return self._method in get_args(Selection)

    def _rank_errors(self) -> Errors:
        """The largest expected error of selections, if values are spread evenly over the bins.

        For single ones of the exponential mechanism with the same loss, which is never below that of the selection.
        """
        first, records = self.queries[0], self.setting.records
        if isinstance(first, JointQuantilesQuery):
            rank = min(1.0, joint_ranks_off(first, records).largest / max(1, records))
            return Errors({"rank": rank}, basis=(_EVENLY.format(self._method),))
        errors = [
            _expected_rank(query, records)
            for query in self.queries[: len(cast(Quantiles, self.statistic).probabilities)]
            if isinstance(query, NoisyMaxQuery)
        ]
        return Errors({"rank": max(errors, default=float("nan"))}, basis=(_EVENLY.format(self._method),))


def _expected_rank(query: NoisyMaxQuery, records: int) -> float:
    """Expected distance of the rank of the bin that is selected from the wanted one, as a share of the records."""
    score = query.score
    assert isinstance(score, QuantileScore)
    at = np.linspace(0, 1, score.candidates + 1)
    wanted, unit = float(score.probability), score.probability.denominator
    off = np.maximum(0.0, np.maximum(at[:-1] - wanted, wanted - at[1:]))
    weights = np.exp(-off * records * unit * 2**query.bits / float(query.law.scale))
    return float(np.sum(off * weights) / np.sum(weights))


# --- For the command line


def _with_clipping(estimates: QuantileEstimates) -> str:
    return f"{estimates}\n{_clipping(estimates.grid)}"


def _clipping(grid: Grid) -> str:
    low, high = (f"{end:.6g}" if isinstance(end, float) else str(end) for end in map(grid.label, (grid.low, grid.high)))
    return f"values outside {low} to {high} are clipped to these bounds, so no interval extends beyond them"


COMMAND = Command(
    help=HELP
    | {
        "probabilities": "Which quantiles, each between 0 and 1; the nine deciles by default. The price does not "
        "depend on how many.",
        "method": (
            "A method of ogive ecdf, which releases a curve with all its quantiles, bisection, which opens only the "
            "points it visits, or a selection of up to nine quantiles: exponential each by itself, joint all together; "
            "counted selects up to three and counts records near them."
        ),
    },
    table=_with_clipping,
    owners=OWNERS,
    owner_help=OWNER_HELP,
    compared="quantile",
)
