"""Time to an event that may be censored: survival, hazard, incidence of competing causes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from ogive.columns import Binning, Domain, LabelValue, Listed, Missing
from ogive.columns.grids import FAR, Bound, Grid, GridName
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import added, among, one_of
from ogive.errors import ParameterError, UnsupportedError, quoted
from ogive.local.tree import TreeOracle
from ogive.queries import Answer, ClassCurvesQuery, CurveQuery, GroupBinning, Query, ReportsQuery, RowValues
from ogive.statistics.base import Terms, as_values
from ogive.statistics.confidence import check_level
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.ecdf.statistic import make_grid
from ogive.statistics.kinds import Command
from ogive.statistics.methods.base import ANY_REPORT, CurveTask, owners_answer
from ogive.statistics.methods.choose import UnbiasedName, choose, grants
from ogive.statistics.methods.curve_methods import check_public_number, report_epsilon
from ogive.statistics.roc.designs import choose_for_classes, part_of
from ogive.statistics.survival.estimate import MOST_CAUSES, SurvivalEstimate, beyond, check_times, entry_grid
from ogive.strategies import Strategy
from ogive.strategies.reported import ReportedTree, design_reports, read_reports
from ogive.strategies.smoothing import DEFAULT_SMOOTHING, smooth

DEFAULT_BINS = 120
MethodName = Literal[UnbiasedName, "reports"]
ENTRY_SHARE = Fraction(1, 3)
"""Share of the guarantee for the entries. Their noise is that of one class, the others' that of several."""


@dataclass(frozen=True)
class Survival:
    """Kaplan-Meier survival, cumulative hazard and cumulative incidence of a time to an event that may be censored.

    Records whose time is above the upper bound are at risk up to that bound, whatever happened later.

    Fields:
        time: Numeric column: time from the start of observation until the event or censoring.
        event: Column that says what ended the observation.
        bounds: 0 (or the smallest possible time) and the end of the follow-up that is of interest, public.
        bins: Number of thresholds, at most 1024.
        grid: "linear", "geometric", "integers" (whole days or months), or a `Grid` instead of bounds and bins.
        causes: Values of `event` that are events: one, or several competing causes.
        censored: Value of `event` of a censored record.
        method: Method for the distribution of times in each class, as for `Ecdf`: those without bias, or "reports".
        missing: What a missing time means: "refuse" (an error), "high" (at risk to the upper bound) or a public time.
        confidence_level: Confidence level of printed intervals, at most 0.9999.
        entry: Column of the time from which a record is observed, where that is not the start; a missing one is an
            error. It must be before the record's time, which is not checked: one that is not takes a record that is
            at risk away from there to its entry.
    """

    name: ClassVar[str] = "survival"
    besides: ClassVar[tuple[str, ...]] = ("entry",)
    """Options that are columns."""

    time: str
    event: str
    bounds: tuple[Bound, Bound] | None = None
    _: KW_ONLY
    bins: int = DEFAULT_BINS
    grid: Grid | GridName = "linear"
    causes: tuple[LabelValue, ...] = (1,)
    censored: LabelValue = 0
    method: MethodName = one_of(*get_args(MethodName))
    missing: Missing = one_of("refuse", "high")
    confidence_level: float = 0.95
    entry: str | None = added(None)

    def __post_init__(self) -> None:
        """Refuse what no release could use, before any data is touched."""
        if not isinstance(self.time, str):
            raise ParameterError(f"`time` must be a column's name, got {quoted(self.time)}")
        object.__setattr__(self, "causes", as_values(self.causes))
        if not self.causes or len(self.causes) > MOST_CAUSES:
            raise ParameterError(f"`causes` must be 1 to {MOST_CAUSES} values of `event`, got {quoted(self.causes)}")
        if self.missing in ("drop", "low"):
            raise ParameterError(
                "`missing` must be 'refuse', 'high' or a public time, since a record without a time is in no bin, got "
                f"{quoted(self.missing)}"
            )
        among(self.method, "method", get_args(MethodName))
        if self.entry is not None and not isinstance(self.entry, str):
            raise ParameterError(f"`entry` must be a column's name, got {quoted(self.entry)}")
        if self.entry is not None and self.method == "reports":
            raise ParameterError("`entry` cannot be asked with method 'reports'; use another method, or leave it out")
        check_times(self.axis)
        object.__setattr__(self, "missing", self.classes.values.missing)
        object.__setattr__(self, "confidence_level", float(check_level(self.confidence_level)))

    def __getstate__(self) -> dict[str, Any]:
        """What copies and other processes get: the fields."""
        return {name: value for name, value in vars(self).items() if name not in ("axis", "classes")}

    @cached_property
    def axis(self) -> Grid:
        """The thresholds at which survival is estimated."""
        return make_grid(self.bounds, self.bins, self.grid)

    @cached_property
    def classes(self) -> GroupBinning:
        """How a record is mapped to a bin and a class; one bin more holds the times beyond the last threshold."""
        binning = Binning(self.time, beyond(self.axis), self.missing, "censor")
        return GroupBinning(binning, self.event, (self.censored, *self.causes))

    def canonical(self) -> Survival:
        """The canonical form of the statistic: the grid itself."""
        return dataclasses.replace(self, bounds=None, bins=self.axis.bins, grid=self.axis)

    def alternatives(self) -> dict[str, Survival]:
        """One statistic for each method."""
        names = (name for name in get_args(MethodName)[1:] if self.entry is None or name != "reports")
        return {name: dataclasses.replace(self, method=name) for name in names}

    def questions(self, terms: Terms) -> Generator[Query, Answer, SurvivalEstimate]:
        """Measure the times of the censored and of each cause once, and read everything off these curves.

        Privacy: one measurement of all classes at the whole of `terms.privacy`, or one report of every owner; with
            `entry` two measurements, of which the classes have `1 - ENTRY_SHARE` and the entries the rest. What
            follows is post-processing.
        """
        classes = self.classes
        if self.entry is not None and owners_answer(terms):
            raise UnsupportedError("owners' reports have no `entry`; use another trust model, or leave it out")
        if self.method == "reports" or (self.method == "auto" and owners_answer(terms)):
            reported, counts, answer = yield from _ask_owners(classes, terms)
            return self._estimate(counts, reported, answer, terms)
        size, granted, late = classes.values.grid.bins, grants(terms.privacy)[0], None
        terms.check_cells(len(classes.groups) * size)
        share = terms.privacy if self.entry is None else part_of(granted, 1 - ENTRY_SHARE)

        def refusal(asked: Callable[[Strategy], Query], candidate: Strategy) -> str | None:
            query = asked(candidate)
            if self.entry is not None and type(query.price(terms.unit)) is not type(granted):
                return "the times and the entries must cost one type of loss"
            return terms.refusal(query)

        method, refused = self.method, partial(refusal, partial(ClassCurvesQuery, classes))
        strategy = choose_for_classes(
            size, share, terms.unit, public_labels=False, budget="joint", method=method, refusal=refused
        )
        if self.entry is not None:
            binning, rows = Binning(self.entry, entry_grid(self.axis)), terms.unit.max_rows_per_person
            share, refused = part_of(granted, ENTRY_SHARE), partial(refusal, partial(CurveQuery, binning))
            chosen = choose(binning.grid.bins, share, terms.adjacency, method, refused, rows=rows)
            late = CurveQuery(binning, chosen)
            terms.preflight(late)
        answer = yield ClassCurvesQuery(classes, strategy)
        estimate = self._estimate(answer.values, answer.noise_of(strategy), answer, terms)
        if late is None:
            return estimate
        entered = yield late
        entries = self._curve(entered.values, entered.noise_of(late.strategy), entered, terms, late.binning)
        return dataclasses.replace(estimate, entries=entries)

    def _estimate(self, counts: Any, measured: Strategy, answer: Answer, terms: Terms) -> SurvivalEstimate:
        curves = tuple(self._curve(values, measured, answer, terms, self.classes.values) for values in counts)
        return SurvivalEstimate(
            time=self.time,
            event=self.event,
            grid=self.axis,
            causes=self.classes.groups[1:],
            censored=self.censored,
            curves=curves,
            total=answer.total,
            confidence_level=self.confidence_level,
        )

    def _curve(self, values: Any, strategy: Strategy, answer: Answer, terms: Terms, binning: Binning) -> Curve:
        raw = strategy.estimate(values, None)
        kind = DEFAULT_SMOOTHING if answer.noisy else "none"
        smoothed: Float64 = smooth(strategy, values, total=None, kind=kind) if answer.noisy else raw
        return Curve(
            grid=binning.grid,
            cumulative=smoothed,
            raw=raw,
            strategy=strategy if answer.noisy else None,
            adjacency=terms.adjacency,
            total=None,
            smoothing=kind,
            column=binning.column,
        )


# --- Reports of owners
#
# Classes are the first branches of one hierarchy and thresholds lie below, so that each node belongs to one class
# and the noise of different classes is independent. Whoever is asked for the class alone, on the levels above, adds
# nothing.


def _ask_owners(
    classes: GroupBinning, terms: Terms
) -> Generator[Query, Answer, tuple[ReportedTree, list[Int64], Answer]]:
    """Collect one report of every owner; returns the strategy of each class and the values of all.

    Privacy: one report of every owner at the whole of `terms.privacy`.
    """
    if (refusal := terms.refusal(ANY_REPORT)) is not None:
        raise UnsupportedError(refusal)
    task = CurveTask(classes.values, terms)
    check_public_number(task)
    oracle, own = _oracles(len(classes.groups), task.size, report_epsilon(task))
    if terms.records is not None and terms.records < oracle.levels:
        raise ParameterError(
            f"reports on {oracle.levels} levels need at least {oracle.levels} records, got {terms.records}; "
            "take fewer bins"
        )
    domain = Domain((Listed(classes.by, classes.groups), _padded(classes.values, own.padded)))
    answer = yield ReportsQuery(RowValues(domain), oracle)
    whole, values = read_reports(oracle, answer.values)
    first = oracle.levels - own.levels
    strategy = ReportedTree(own, whole.reports[first:], whole.laws[first:])
    # nodes that hold a bin of their class, lowest level first
    levels = np.split(values, np.cumsum([level.nodes for level in whole.levels])[:-1])[: own.levels]
    held = [
        each.reshape(len(classes.groups), -1)[:, : level.nodes]
        for each, level in zip(levels, strategy.levels, strict=True)
    ]
    return strategy, list(np.concatenate(held, axis=1)), answer


def _oracles(classes: int, size: int, epsilon: Fraction) -> tuple[TreeOracle, TreeOracle]:
    """How owners report class and time together, and the hierarchy of the times of one class."""
    best = design_reports(size, epsilon, split="users")
    own = TreeOracle(size, epsilon, branching=best.branching, nodes=best.nodes)
    return TreeOracle(classes * own.padded, epsilon, branching=own.branching, nodes=own.nodes), own


def _padded(times: Binning, size: int) -> Binning:
    """As many bins as the hierarchy has places for; those past the last one are beyond all times."""
    grid = times.grid
    last = grid.thresholds[-1]
    far = last + FAR * (last - grid.low) * np.arange(1.0, size - grid.bins + 2)
    missing = float(far[0]) if times.missing == "high" else times.missing
    places = Grid.explicit((*grid.thresholds[:-1].tolist(), *far.tolist()), low=grid.low)
    return Binning(times.column, places, missing, times.outside)


COMMAND = Command(
    compared="quantile",
    places="times",
    help={
        "method": "auto (smallest predicted error), path, tree_ls, hat_ls, sqrt, symmetric or ring; reports under "
        "--trust local."
    },
    owners={"missing": ("refuse", "high"), "method": ("auto", "reports"), "entry": ()},
    owner_help={"method": "reports: which class, and where in a hierarchy over all thresholds."},
    example={"bounds": (0, 100)},
)
