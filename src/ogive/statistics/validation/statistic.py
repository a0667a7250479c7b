"""Whether predicted probabilities are right: error, calibration and decisions, of one model or of two."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar

from ogive.columns import Binning, Label, LabelValue, Missing, OutsidePolicy
from ogive.columns.grids import Grid
from ogive.core.checks import among, one_of, whole
from ogive.errors import ParameterError, quoted
from ogive.queries import Answer, ClassBinning, ClassCurvesQuery, Query
from ogive.statistics.base import Terms, canonical_class
from ogive.statistics.confidence import check_level
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.kinds import Command
from ogive.statistics.methods.choose import UNBIASED_METHODS, UnbiasedName
from ogive.statistics.methods.together import Weighted, ask_together
from ogive.statistics.roc.designs import choose_for_classes
from ogive.statistics.roc.statistic import class_values
from ogive.statistics.validation.estimate import LEAST_BINS, MOST_BINS, ValidationEstimate
from ogive.strategies.smoothing import DEFAULT_SMOOTHING, smooth

DEFAULT_BINS = 100


@dataclass(frozen=True)
class Validation:
    """Validation of predicted probabilities against outcomes, with every measure read off one release.

    Fields:
        score: Column of predicted probabilities of the positive class, between 0 and 1.
        label: Column with the class of each record.
        other: Column of the probabilities of a second model on the same records; it is measured beside the first, each
            with half of the budget. None for one model.
        bins: Number of bins of equal width from 0 to 1; thresholds are ends of bins. 2 to 1024.
        positive: Value or values of the positive class.
        negative: Value or values of the negative class. By default 0 if the positive class is 1, else the only other
            value in the records.
        method: Method for the distribution of the scores in each class, as for `Ecdf`: those without bias.
        missing: What a missing score means: "refuse" (an error), "low" or "high" (0 or 1), or a public probability.
        outside: What a score outside 0 to 1 means: "refuse" (an error, since it is not a probability), or "clip" (the
            nearer bound).
        confidence_level: Confidence level of printed intervals, at most 0.9999.
    """

    name: ClassVar[str] = "validation"

    score: str
    label: str
    _: KW_ONLY
    other: str | None = None
    bins: int = DEFAULT_BINS
    positive: LabelValue | tuple[LabelValue, ...] = 1
    negative: LabelValue | tuple[LabelValue, ...] | None = None
    method: UnbiasedName = "auto"
    missing: Missing = one_of("refuse", "low", "high")
    outside: OutsidePolicy = one_of("refuse", "clip")
    confidence_level: float = 0.95

    def __post_init__(self) -> None:
        if not isinstance(self.score, str):
            raise ParameterError(f"`score` must be a column's name, got {quoted(self.score)}")
        if self.other is not None and (not isinstance(self.other, str) or self.other == self.score):
            raise ParameterError(f"`other` must be the name of another column of scores, got {quoted(self.other)}")
        object.__setattr__(self, "positive", class_values(self.positive, "positive"))
        if self.negative is not None:
            object.__setattr__(self, "negative", class_values(self.negative, "negative"))
        elif self.positive == (1,):
            object.__setattr__(self, "negative", (0,))
        whole(self.bins, "bins", LEAST_BINS, MOST_BINS)
        among(self.method, "method", ("auto", *UNBIASED_METHODS))
        object.__setattr__(self, "missing", self.classes(self.score).score.missing)
        object.__setattr__(self, "confidence_level", float(check_level(self.confidence_level)))

    def classes(self, score: str) -> ClassBinning:
        """How a record is mapped to a bin of a score in one of the classes."""
        assert isinstance(self.positive, tuple)
        assert self.negative is None or isinstance(self.negative, tuple)
        binning = Binning(score, Grid.linear(0, 1, bins=self.bins), self.missing, self.outside)
        return ClassBinning(binning, Label(self.label, self.positive, self.negative))

    def canonical(self) -> Validation:
        """The canonical form of the statistic: classes in one order."""
        label = self.classes(self.score).label
        return dataclasses.replace(
            self, positive=canonical_class(label.positive), negative=canonical_class(label.negative)
        )

    def alternatives(self) -> dict[str, Validation]:
        """One statistic for each method."""
        return {name: dataclasses.replace(self, method=name) for name in UNBIASED_METHODS}

    def questions(self, terms: Terms) -> Generator[Query, Answer, ValidationEstimate]:
        """Measure the scores of both classes once, for each model, and read everything off these curves.

        Privacy: one measurement of both classes at the whole of `terms.privacy`; of two models one each, at half of it.
        """
        if self.other is None:
            result = yield from self._measured(self.score, terms)
            return result
        models = [
            Weighted(Fraction(1), lambda mine, score=score: self._measured(score, mine), once=True)  # type: ignore[misc]
            for score in (self.score, self.other)
        ]
        one, other = yield from ask_together(models, terms)
        return one if other is None else dataclasses.replace(one, other=other)

    def _measured(self, score: str, terms: Terms) -> Generator[Query, Answer, ValidationEstimate]:
        classes = self.classes(score)
        terms.check_cells(2 * self.bins)
        strategy = choose_for_classes(
            self.bins,
            terms.privacy,
            terms.unit,
            public_labels=False,
            budget="joint",
            method=self.method,
            refusal=lambda candidate: terms.refusal(ClassCurvesQuery(classes, candidate)),
        )
        answer = yield ClassCurvesQuery(classes, strategy)
        measured = answer.noise_of(strategy)
        kind = DEFAULT_SMOOTHING if answer.noisy else "none"

        def curve(values: Any) -> Curve:
            raw = measured.estimate(values, None)
            return Curve(
                grid=classes.score.grid,
                cumulative=smooth(measured, values, total=None, kind=kind) if answer.noisy else raw,
                raw=raw,
                strategy=measured if answer.noisy else None,
                adjacency=terms.adjacency,
                total=None,
                smoothing=kind,
                column=score,
            )

        negatives, positives = map(curve, answer.values)
        return ValidationEstimate(
            negatives=negatives,
            positives=positives,
            label=classes.label,
            total=answer.total,
            confidence_level=self.confidence_level,
        )


COMMAND = Command(
    compared="number",
    example={"outside": "clip"},
    help={"method": "auto (smallest predicted error), path, tree_ls, hat_ls, sqrt, symmetric or ring."},
)
