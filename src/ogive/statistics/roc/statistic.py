"""ROC curve and AUC of a score for two classes."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from ogive.columns import Binning, Label, LabelValue, Missing, OutsidePolicy
from ogive.columns.grids import Bound, Grid, GridName
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import among, one_of, truth
from ogive.errors import ParameterError, UnsupportedError, quoted
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Answer, ClassBinning, ClassCurvesQuery, Query
from ogive.statistics.base import Terms, canonical_class
from ogive.statistics.confidence import check_level
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.ecdf.statistic import DEFAULT_BINS, by_hand, make_grid
from ogive.statistics.kinds import Command
from ogive.statistics.methods.choose import UNBIASED_METHODS, UnbiasedName
from ogive.statistics.roc.designs import BUDGETS, BudgetName, choose_for_classes
from ogive.statistics.roc.estimate import RocEstimate
from ogive.statistics.roc.points import ORIENTATIONS, Orientation
from ogive.strategies import PathNoise, Strategy
from ogive.strategies.base import approximates
from ogive.strategies.smoothing import DEFAULT_SMOOTHING, SMOOTHINGS, Smooth, smooth, unsmoothable

UnbiasedChoice = UnbiasedName | Strategy
"""Name of a method that measures every threshold without bias, or a strategy designed by hand."""


@dataclass(frozen=True)
class Roc:
    """ROC curve of a score and its area (AUC), from the distribution of the score in each of two classes.

    Fields:
        score: Numeric or temporal column.
        label: Column with the class of each record.
        bounds: Smallest and largest possible score, public.
        bins: Number of thresholds.
        grid: "linear", "geometric", "integers", for dates and times "hours", "days", "weeks" or "months", or a `Grid`
            instead of bounds and bins.
        positive: Value or values of the positive class.
        negative: Value or values of the negative class. By default 0 if the positive class is 1, else the only other
            value in the records.
        positive_when: Scores that indicate the positive class, "high" or "low".
        public_labels: Whether each record's class is public. Only the score is then protected, under REPLACE with less
            noise, and the privacy unit must declare the label public. By default, as the privacy unit declares.
        budget: "joint" for one price that covers both curves; "split" for two separate releases at half of the budget
            each, as in the paper.
        method, smooth: As for `Ecdf`, for each class.
        missing: What a missing score means: "refuse" (an error), "low" or "high" (the lower or the upper bound), or a
            public value within the bounds, as which it counts.
        outside: What a score outside the bounds means: "refuse" (an error), or "clip" (the nearer bound).
        confidence_level: Confidence level of the printed interval of the AUC, at most 0.9999.

    Example:
        >>> import numpy as np, ogive
        >>> rng = np.random.default_rng(1)
        >>> sick = rng.random(20_000) < 0.3
        >>> risk = 1 / (1 + np.exp(-rng.normal(1.2 * sick)))
        >>> result = ogive.roc(risk, sick, bounds=(0, 1), privacy=ogive.PureDP(1))
        >>> bool(abs(result.auc - 0.80) < 0.02)
        True
    """

    name: ClassVar[str] = "roc"

    score: str
    label: str
    bounds: tuple[Bound, Bound] | None = None
    _: KW_ONLY
    bins: int = DEFAULT_BINS
    grid: Grid | GridName = "linear"
    positive: LabelValue | tuple[LabelValue, ...] = 1
    negative: LabelValue | tuple[LabelValue, ...] | None = None
    positive_when: Orientation = one_of(*ORIENTATIONS)
    public_labels: bool | None = None
    budget: BudgetName = one_of(*BUDGETS)
    method: UnbiasedChoice = "auto"
    smooth: Smooth = "auto"
    missing: Missing = one_of("refuse", "low", "high")
    outside: OutsidePolicy = one_of("refuse", "clip")
    confidence_level: float = 0.95

    def __post_init__(self) -> None:
        if not isinstance(self.score, str):
            raise ParameterError(f"`score` must be a column's name, got {quoted(self.score)}")
        object.__setattr__(self, "positive", class_values(self.positive, "positive"))
        if self.negative is not None:
            object.__setattr__(self, "negative", class_values(self.negative, "negative"))
        elif self.positive == (1,):
            object.__setattr__(self, "negative", (0,))
        object.__setattr__(self, "missing", self.classes().score.missing)
        among(self.positive_when, "positive_when", ORIENTATIONS)
        among(self.budget, "budget", BUDGETS)
        if self.public_labels is not None:
            truth(self.public_labels, "public_labels")
        if not isinstance(self.method, str | Strategy):
            raise ParameterError(f"`method` must be a name or a strategy, got {quoted(self.method)}")
        if isinstance(self.method, str):
            among(self.method, "method", ("auto", *UNBIASED_METHODS))
        among(self.smooth, "smooth", ("auto", *SMOOTHINGS))
        if not isinstance(self.method, str) and approximates(self.method):
            raise ParameterError("a ROC curve needs a method without bias, such as path or sqrt")
        reason = None if isinstance(self.method, str) else unsmoothable(self.method, self.smooth)
        if reason is not None:
            raise ParameterError(reason)
        object.__setattr__(self, "confidence_level", float(check_level(self.confidence_level)))

    def classes(self) -> ClassBinning:
        """How a record is mapped to a bin in one of the classes."""
        binning = Binning(self.score, make_grid(self.bounds, self.bins, self.grid), self.missing, self.outside)
        assert isinstance(self.positive, tuple)
        assert self.negative is None or isinstance(self.negative, tuple)
        return ClassBinning(binning, Label(self.label, self.positive, self.negative))

    def canonical(self) -> Roc:
        """The canonical form of the statistic: the grid itself, without "auto" smoothing."""
        classes = self.classes()
        return dataclasses.replace(
            self,
            bounds=None,
            bins=classes.score.grid.bins,
            grid=classes.score.grid,
            smooth=DEFAULT_SMOOTHING if self.smooth == "auto" else self.smooth,
            positive=canonical_class(classes.label.positive),
            negative=canonical_class(classes.label.negative),
            public_labels=bool(self.public_labels),
        )

    def settled_by(self, unit: PrivacyUnit) -> Roc:
        """The same statistic with public or private labels."""
        if self.public_labels is not None:
            return self
        return dataclasses.replace(self, public_labels=self.label in unit.public)

    def alternatives(self) -> dict[str, Roc]:
        """One statistic for each method and division of the budget, and one for a strategy that the user designed."""
        joint = {name: dataclasses.replace(self, method=name, budget="joint") for name in UNBIASED_METHODS}
        split = {f"{name}, split": dataclasses.replace(self, method=name, budget="split") for name in UNBIASED_METHODS}
        return joint | split | by_hand(self)

    def questions(self, terms: Terms) -> Generator[Query, Answer, RocEstimate]:
        """Request noisy measurements of both classes once and turn them into a curve.

        Privacy: one measurement of both classes at the whole of `terms.privacy`; the rest is post-processing.
        """
        classes, public = self.classes(), bool(self.public_labels)
        terms.check_cells(2 * classes.score.grid.bins)
        strategy = choose_for_classes(
            classes.score.grid.bins,
            terms.privacy,
            terms.unit,
            public_labels=public,
            budget=self.budget,
            method=self.method,
            refusal=lambda candidate: (
                unsmoothable(candidate, self.smooth) or terms.refusal(ClassCurvesQuery(classes, candidate, public))
            ),
        )
        answer = yield ClassCurvesQuery(classes, strategy, public)
        return self._estimate(answer, strategy, terms.adjacency)

    def _estimate(self, answer: Answer, strategy: Strategy, adjacency: Adjacency) -> RocEstimate:
        classes = self.classes()
        strategy = answer.noise_of(strategy)
        sizes = answer.totals if answer.totals is not None and len(answer.totals) == 2 else (None, None)
        raw = [strategy.estimate(values, size) for values, size in zip(answer.values, sizes, strict=True)]
        kind = DEFAULT_SMOOTHING if self.smooth == "auto" else self.smooth
        if not answer.noisy:
            smoothed = [(curve, "none") for curve in raw]
        elif sizes[0] is None and answer.total is not None and self.budget == "split":
            smoothed = [_within(strategy, values, answer.total, kind) for values in answer.values]
        else:
            known = sizes if sizes[0] is not None or answer.total is None else _shared(raw, answer.total)
            smoothed = [
                _smoothed(strategy, values, size, kind) for values, size in zip(answer.values, known, strict=True)
            ]
        negatives, positives = (
            Curve(
                grid=classes.score.grid,
                cumulative=curve,
                raw=raw[k],
                strategy=strategy if answer.noisy else None,
                adjacency=adjacency,
                total=sizes[k],
                smoothing=used,
                column=self.score,
            )
            for k, (curve, used) in enumerate(smoothed)
        )
        return RocEstimate(
            negatives=negatives,
            positives=positives,
            label=classes.label,
            positive_when=self.positive_when,
            total=answer.total,
            budget=self.budget,
            confidence_level=self.confidence_level,
        )


def class_values(given: Any, name: str) -> tuple[LabelValue, ...]:
    """The values of a class as a tuple of Python's own."""
    values = given if isinstance(given, tuple | list | set | frozenset | np.ndarray) else (given,)
    plain = tuple(value.item() if isinstance(value, np.generic) else value for value in values)
    if not plain or not all(isinstance(value, LabelValue) for value in plain):
        raise ParameterError(f"`{name}` must be the value or values of a class, for example 'yes', got {quoted(given)}")
    return plain


def _shared(raw: list[Float64], total: int) -> tuple[int, int]:
    """Class sizes that add up to the known number of records: each gives up half of the excess."""
    negatives = round(float(raw[0][-1] - raw[1][-1] + total) / 2)
    negatives = min(max(negatives, 0), total)
    return negatives, total - negatives


def _smoothed(strategy: Strategy, values: Int64, size: int | None, kind: str) -> tuple[Float64, str]:
    """A valid curve of one class and how it was smoothed: by isotonic regression where the wanted way fails."""
    try:
        return smooth(strategy, values, total=size, kind=kind), kind
    except (ArithmeticError, UnsupportedError):
        return smooth(strategy, values, total=size, kind="isotonic"), "isotonic"


def _within(strategy: Strategy, values: Int64, total: int, kind: str) -> tuple[Float64, str]:
    """A valid curve of one class in the paper's way: between 0 and the number of all records, not anchored."""
    if not isinstance(strategy, PathNoise):
        curve, kind = _smoothed(strategy, values, None, kind)
        return np.minimum(curve, total), kind
    try:
        return smooth(strategy, values, total=total, kind=kind, anchor=False), kind
    except ArithmeticError:
        return smooth(strategy, values, total=total, kind="isotonic", anchor=False), "isotonic"


# --- For the command line


def _table(estimate: Any) -> str:
    """A ROC curve as text, with what to do on the command line where its area has no interval."""
    view = estimate.view()
    view.no_interval = "no interval with this many thresholds; use fewer --bins for one"
    return str(view.text())


COMMAND = Command(
    table=_table,
    compared="number",
    readings=True,
    names={"budget": "division"},
    help={
        "public_labels": (
            "Each record's class is public knowledge: only the score is hidden, with less noise. The default if "
            "--public declares the column."
        ),
        "budget": "joint: one price covers both classes. split: half of it for each, as in the paper.",
        "method": "auto (smallest predicted error), path, tree_ls, hat_ls, sqrt, symmetric or ring.",
        "smooth": "auto, shrinkage, density, least_squares, least_absolute or isotonic.",
    },
)
