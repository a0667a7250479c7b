"""How well a risk score ranks and predicts times to an event that may be censored."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from ogive.columns import Binning, Domain, LabelValue, Membership
from ogive.columns.grids import Bound, Grid, GridName
from ogive.core.checks import among, one_of
from ogive.errors import ParameterError, quoted
from ogive.queries import Answer, Cells, ClassCurvesQuery, Query
from ogive.statistics.base import Terms, as_values
from ogive.statistics.concordance.estimate import TIES, ConcordanceEstimate, check_grids
from ogive.statistics.confidence import check_level
from ogive.statistics.ecdf.statistic import make_grid
from ogive.statistics.functionals import check_other
from ogive.statistics.kinds import Command
from ogive.statistics.methods.choose import UNBIASED_METHODS, UnbiasedName
from ogive.statistics.methods.together import ask_scores
from ogive.statistics.roc.designs import choose_for_classes
from ogive.statistics.survival.estimate import beyond

DEFAULT_BINS, DEFAULT_SCORE_BINS = 10, 20


@dataclass(frozen=True)
class Concordance:
    """How well a risk score ranks times to an event that may be censored, and predicts the chance of one.

    Concordance by Harrell and by Uno, areas below ROC curves over time, and for predicted chances the Brier score and
    calibration. High scores mean early events. Times above the upper bound count as later than all intervals;
    those below the lower one are refused.

    Fields:
        score: Numeric column: the risk score, or the predicted chance of an event up to `predicts`.
        time: Numeric column: time from the start of observation until the event or censoring.
        event: Column that says what ended the observation.
        bounds: 0 (or the smallest possible time) and the end of the follow-up that is of interest, public.
        bins: Number of intervals of time, at most 100.
        grid: "linear", "geometric", "integers" (whole days or months), or a `Grid` instead of bounds and bins.
        score_bounds: Smallest and largest possible score, public.
        score_bins: Number of bins of the score, at most 250; scores of one bin count as equal.
        score_grid: "linear", "geometric", "integers", or a `Grid` instead of `score_bounds` and `score_bins`.
        predicts: The time up to which `score` is the predicted chance of an event, the upper end of an interval; by
            default the score is no chance.
        ties: What two events of one interval count for indices: "half" (one half), as times within intervals call for;
            "omit" (nothing), as Harrell and Uno count equal times; or "auto": "omit" on a grid of whole numbers, else
            "half".
        observed: Values of `event` of a record whose event was observed.
        censored: Values of `event` of a censored record, other causes among them; any other value is an error.
        method: Method for the distribution of scores in each interval and status, as for `Ecdf`: those without bias.
        missing: What a missing score or time means: "refuse" (an error) or "drop" (not counted; ADD_OR_REMOVE only).
        confidence_level: Confidence level of printed intervals, at most 0.9999.
        other: Column of a second score of the same records, in the same bins; it is measured beside the first, each
            with half of the budget. By default there is one score.
    """

    name: ClassVar[str] = "concordance"

    score: str
    time: str
    event: str
    bounds: tuple[Bound, Bound] | None = None
    _: KW_ONLY
    bins: int = DEFAULT_BINS
    grid: Grid | GridName = "linear"
    score_bounds: tuple[Bound, Bound] | None = (0, 1)
    score_bins: int = DEFAULT_SCORE_BINS
    score_grid: Grid | GridName = "linear"
    predicts: float | None = None
    ties: Literal["auto", "half", "omit"] = one_of("auto", "half", "omit")
    observed: tuple[LabelValue, ...] = (1,)
    censored: tuple[LabelValue, ...] = (0,)
    method: UnbiasedName = "auto"
    missing: Literal["refuse", "drop"] = one_of("refuse", "drop")
    confidence_level: float = 0.95
    other: str | None = None

    def __post_init__(self) -> None:
        """Refuse what no release could use, before any data is touched."""
        for name in ("score", "time", "event"):
            if not isinstance(getattr(self, name), str):
                raise ParameterError(f"`{name}` must be a column's name, got {quoted(getattr(self, name))}")
        check_other(self.other, self.score, self.time, self.event)
        among(self.method, "method", ("auto", *UNBIASED_METHODS))
        among(self.missing, "missing", ("refuse", "drop"))
        among(self.ties, "ties", ("auto", *TIES))
        for name in ("observed", "censored"):
            object.__setattr__(self, name, as_values(getattr(self, name)))
        object.__setattr__(self, "confidence_level", float(check_level(self.confidence_level)))
        check_grids(*self.axes, self.predicts)
        self.cells.domain.check_size()

    def __getstate__(self) -> dict[str, Any]:
        """What copies and other processes get: the fields."""
        return {name: value for name, value in vars(self).items() if name not in ("axes", "cells")}

    @cached_property
    def axes(self) -> tuple[Grid, Grid]:
        """The intervals of time, and the bins of the score."""
        score_bounds = self.score_bounds if isinstance(self.score_grid, str) else None
        scores = make_grid(score_bounds, self.score_bins, self.score_grid)
        return make_grid(self.bounds, self.bins, self.grid), scores

    @cached_property
    def cells(self) -> Cells:
        """How a record is mapped to an interval, with one more for all later times, a status and a bin of the score."""
        times, scores = self.axes
        axes = (
            Binning(self.time, beyond(times), self.missing, "censor"),
            Membership(self.event, self.observed, "refuse", self.censored),
            Binning(self.score, scores, self.missing),
        )
        return Cells(Domain(axes))

    def canonical(self) -> Concordance:
        """The canonical form of the statistic: the grids themselves."""
        times, scores = self.axes
        return dataclasses.replace(
            self, bounds=None, bins=times.bins, grid=times, score_bounds=None, score_bins=scores.bins, score_grid=scores
        )

    def alternatives(self) -> dict[str, Concordance]:
        """One statistic for each method."""
        return {name: dataclasses.replace(self, method=name) for name in UNBIASED_METHODS}

    def questions(self, terms: Terms) -> Generator[Query, Answer, ConcordanceEstimate]:
        """Measure the scores of each interval and status once, and read everything off these curves.

        Privacy: one measurement of all classes at the whole of `terms.privacy`, of two scores one each at half of it;
        the rest is post-processing.
        """
        terms.check_cells(self.cells.domain.size)
        estimate: ConcordanceEstimate = yield from ask_scores(self, self._measured, terms)
        return estimate

    def _measured(self, score: str, terms: Terms) -> Generator[Query, Answer, ConcordanceEstimate]:
        (times, scores), cells = self.axes, dataclasses.replace(self, score=score, other=None).cells
        strategy = choose_for_classes(
            scores.bins,
            terms.privacy,
            terms.unit,
            public_labels=False,
            budget="joint",
            method=self.method,
            refusal=lambda candidate: terms.refusal(ClassCurvesQuery(cells, candidate)),
        )
        answer = yield ClassCurvesQuery(cells, strategy)
        measured = answer.noise_of(strategy)
        return ConcordanceEstimate(
            score=score,
            time=self.time,
            event=self.event,
            grid=times,
            score_grid=scores,
            predicts=self.predicts,
            ties=self.ties if self.ties != "auto" else "omit" if times.kind == "integers" else "half",
            cumulative=np.stack([measured.estimate(values, None) for values in answer.values]).ravel(),
            strategy=measured if answer.noisy else None,
            adjacency=terms.adjacency,
            total=answer.total,
            confidence_level=self.confidence_level,
        )


_LIKE = {"bounds": (0, 1), "bins": 2, "score_bounds": (0, 100), "score_bins": 4, "observed": (0,), "censored": (1, 2)}
COMMAND = Command(
    compared="number",
    help={"method": "auto (smallest predicted error), path, tree_ls, hat_ls, sqrt, symmetric or ring."},
    example=_LIKE,
)
