"""Bounds found privately, as a step of its own with a price of its own.

Records are counted per order of magnitude, with independent noise. Bins whose noisy count passes a
threshold certainly hold records; the outermost of them are the bounds. The threshold is chosen
from the law of the noise so that bins without records pass with a small total probability.

With `beside` the bounds go on from there: a bin close to one that holds records needs a smaller count, since a bound
that is one bin too wide costs little, and one far off as much as before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np

from ogive.accounting import loss_per_row
from ogive.columns import Binning, Missing
from ogive.columns.grids import Grid
from ogive.core.checks import added, one_of
from ogive.errors import ParameterError, ScaleError, UnsupportedError, quoted
from ogive.noise import too_much_noise
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP, exact
from ogive.queries import Answer, CurveQuery, Query
from ogive.statistics.base import Terms
from ogive.statistics.bounds.estimate import BoundsEstimate, reach
from ogive.statistics.confidence import check_level
from ogive.statistics.kinds import Command
from ogive.statistics.methods.choose import grants
from ogive.statistics.prediction import CONFIDENCE, Errors, Metric, Prediction
from ogive.strategies import LeastSquaresTree
from ogive.strategies.base import measured_laws

SMALLEST, LARGEST = 2.0**-20, 1 << 63  # a float would be read as its decimal digits, which are not 2^63
FALSE_ALARM = 0.01
LEAST_FALSE_ALARM = 1e-9
MOST_BESIDE = 0.1
CONFIDENCE_LEVEL = 0.95
MAX_MAGNITUDES = 4096


@dataclass(frozen=True)
class Bounds:
    """Smallest and largest magnitude of one column, for use as `bounds=` where no bounds are known.

    Fields:
        column: Numeric column.
        base: Ratio of neighboring magnitudes, above 1; with 2, bounds are found within a factor of two.
        smallest, largest: Public range of magnitudes: smaller ones are rounded away from zero, and values beyond
            `largest` in either direction count as `largest`.
        false_alarm: Largest probability that the bounds extend to a bin without records.
        confidence_level: Confidence level of the number of records outside the bounds.
        missing: What a missing value means: "refuse" (an error), "low" or "high" (the lower or the upper bound), a
            public value within the bounds, as which it counts, or "drop" (not counted; ADD_OR_REMOVE only).
        beside: Largest probability that a bin without records, next to the bounds, extends them; a bin one place
            further off has a quarter of that. None: every bin must pass the threshold of `false_alarm`, however close.

    Example:
        >>> import numpy as np, ogive
        >>> incomes = np.random.default_rng(1).lognormal(10, 0.5, size=50_000)
        >>> found = ogive.find_bounds(incomes, privacy=ogive.PureDP(1))
        >>> bool(0 < found.low < np.quantile(incomes, 0.01) and np.quantile(incomes, 0.99) < found.high < 2**20)
        True
    """

    name: ClassVar[str] = "bounds"

    column: str
    _: KW_ONLY
    base: float = 2.0
    smallest: float = SMALLEST
    largest: float = LARGEST
    false_alarm: float = FALSE_ALARM
    confidence_level: float = CONFIDENCE_LEVEL
    missing: Missing = one_of("refuse", "low", "high", "drop")
    beside: float | None = added(None)

    def __post_init__(self) -> None:
        """Refuse what no release could use, before any data is touched."""
        if not isinstance(self.column, str):
            raise ParameterError(f"`column` must be a column's name, got {quoted(self.column)}")
        if exact(self.base, "base") <= 1:
            raise ParameterError(f"`base` must be above 1, got {self.base}")
        if not 0 < exact(self.smallest, "smallest") < exact(self.largest, "largest"):
            raise ParameterError(
                f"magnitudes must be above 0 and increase, got `smallest={self.smallest}`, `largest={self.largest}`"
            )
        if not LEAST_FALSE_ALARM <= exact(self.false_alarm, "false_alarm") < 1:
            raise ParameterError(f"`false_alarm` must be from {LEAST_FALSE_ALARM:g} to below 1, got {self.false_alarm}")
        object.__setattr__(self, "false_alarm", float(self.false_alarm))
        if self.beside is not None:
            if not LEAST_FALSE_ALARM <= exact(self.beside, "beside") <= MOST_BESIDE:
                raise ParameterError(f"`beside` must be from {LEAST_FALSE_ALARM:g} to {MOST_BESIDE}, got {self.beside}")
            object.__setattr__(self, "beside", float(self.beside))
        object.__setattr__(self, "confidence_level", float(check_level(self.confidence_level)))
        object.__setattr__(self, "missing", self.binning().missing)

    def binning(self) -> Binning:
        """Bins of negative values, of zero alone and of positive values, by magnitude."""
        magnitudes = [exact(self.smallest, "smallest")]
        base, largest = exact(self.base, "base"), exact(self.largest, "largest")
        while magnitudes[-1] < largest:
            if len(magnitudes) == MAX_MAGNITUDES:
                raise ParameterError(f"there are more than {MAX_MAGNITUDES} magnitudes; use a larger base")
            magnitudes.append(magnitudes[-1] * base)
        ends = [float(magnitude) for magnitude in magnitudes]
        above_none = float(np.nextafter(0.0, -1.0))  # the largest negative number, so that zero has a bin of its own
        grid = Grid.explicit([*(-end for end in reversed(ends)), above_none, 0.0, *ends])
        return Binning(self.column, grid, self.missing)

    def canonical(self) -> Bounds:
        """The canonical form of the statistic: numbers as exact numbers."""
        numbers: dict[str, Any] = {name: exact(getattr(self, name), name) for name in ("base", "smallest", "largest")}
        return dataclasses.replace(self, **numbers)

    def alternatives(self) -> dict[str, Bounds]:
        """None: every bin is counted once."""
        return {"tree_ls": self}

    def questions(self, terms: Terms) -> Generator[Query, Answer, BoundsEstimate]:
        """Count all bins once and read the bounds from the noisy counts.

        Privacy: one measurement at the whole of `terms.privacy`; a record is in one bin.
        """
        binning = self.binning()
        strategy = flat_strategy(binning, terms, chance=self.false_alarm)
        answer = yield CurveQuery(binning, strategy)
        return BoundsEstimate(
            column=self.column,
            grid=binning.grid,
            counts=tuple(answer.values.tolist()),
            strategy=answer.noise_of(strategy) if answer.noisy else None,
            adjacency=terms.adjacency,
            total=answer.total,
            false_alarm=self.false_alarm,
            confidence_level=self.confidence_level,
            beside=self.beside,
        )


def flat_strategy(binning: Binning, terms: Terms, *, chance: float) -> LeastSquaresTree:
    """Every bin counted once, with the noise whose `reach` is shortest among those that meet the terms."""
    results: list[LeastSquaresTree] = []
    failed: list[tuple[PureDP | ZeroConcentratedDP, ScaleError]] = []
    moved = 2 if terms.adjacency is Adjacency.REPLACE else 1
    size = binning.grid.bins
    for grant in grants(terms.privacy):
        try:
            own = loss_per_row(grant, terms.unit.max_rows_per_person)
            laws = measured_laws(own, [Fraction(1)], l1=[moved], l2_squared=[moved])
            results.append(LeastSquaresTree(size, (1,), laws))
        except ScaleError as error:
            failed.append((grant, error))
    if not results:
        raise too_much_noise(terms.privacy, "a count", failed)
    refusals = [terms.refusal(CurveQuery(binning, strategy)) for strategy in results]
    served = [strategy for strategy, reason in zip(results, refusals, strict=True) if reason is None]
    if not served:
        raise UnsupportedError(str(refusals[-1]))
    return min(served, key=lambda strategy: reach(strategy.laws[0], size, chance))


# --- How it is planned


class BoundsPrediction(Prediction):
    """What bounds may miss, for all records; with records given, what they do miss, by simulation."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        "unseen": Metric(
            "unseen", "an outermost magnitude with a larger share of the records is found with 95 % probability"
        ),
        "outside": Metric("outside", "share of the records outside the bounds, on average, simulated"),
        "too_wide": Metric("too wide", "orders of magnitude without records that the bounds include, simulated"),
    }
    deciding = ("unseen",)

    @property
    def decided(self) -> bool:
        """The predicted numbers always decide."""
        return True

    def errors(self) -> Errors:
        """The share of the records that an outermost order of magnitude must hold to be seen in 95 of 100 releases.

        It is seen where its noisy count reaches the threshold t: with c records unless the noise is below t - c. The
        noise is symmetric, so c = t + r will do, with r reached by one draw in 20.
        """
        bounds = cast(BoundsEstimate, self.rehearsal.estimate)
        assert bounds.strategy is not None, "planned with noise"
        needed = bounds.threshold + reach(bounds.strategy.laws[0], 1, float(1 - CONFIDENCE)) - 1
        return Errors({"unseen": min(1.0, needed / self.setting.records)})


# --- For the command line

COMMAND = Command(
    help={
        "smallest": "Smallest magnitude that is told apart, public; 2^-20 by default. Smaller ones are rounded away "
        "from 0.",
        "beside": "Largest probability that a bin without records, next to the bounds, extends them; a bin one place "
        "further off has a quarter of that. Without it every bin must pass the threshold of --false-alarm.",
        "largest": "Largest magnitude that is told apart, public; 2^63 by default. Larger ones count as this one.",
    },
    groups=dict.fromkeys(("smallest", "largest", "base", "beside"), "Question"),
)
