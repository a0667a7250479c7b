"""Whether predicted probabilities are right: error, calibration and decisions, of one model or of two."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from ogive.columns import LabelValue, Missing, OutsidePolicy
from ogive.core.checks import among, one_of, whole
from ogive.errors import ParameterError, quoted
from ogive.queries import Answer, Query
from ogive.statistics.base import Terms
from ogive.statistics.functionals import check_other
from ogive.statistics.kinds import Command
from ogive.statistics.methods.choose import UNBIASED_METHODS, UnbiasedName
from ogive.statistics.methods.together import ask_scores
from ogive.statistics.roc.statistic import Roc
from ogive.statistics.validation.estimate import LEAST_BINS, MOST_BINS, ValidationEstimate

DEFAULT_BINS = 100


@dataclass(frozen=True)
class Validation:
    """Validation of predicted probabilities against outcomes, with every measure read off one release.

    Fields:
        score: Column of predicted probabilities of the positive class, between 0 and 1.
        label: Column with the class of each record.
        other: Column of the probabilities of a second model on the same records; it is measured beside the first, each
            with half of the budget. By default there is one model.
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
        check_other(self.other, self.score, self.label)
        whole(self.bins, "bins", LEAST_BINS, MOST_BINS)
        among(self.method, "method", ("auto", *UNBIASED_METHODS))
        checked = self.roc(self.score)
        for name in ("positive", "negative", "missing", "confidence_level"):
            object.__setattr__(self, name, getattr(checked, name))

    def roc(self, score: str) -> Roc:
        """The question for the curves of both classes over a score."""
        same = ("bins", "positive", "negative", "method", "missing", "outside", "confidence_level")
        options: dict[str, Any] = {name: getattr(self, name) for name in same}
        return Roc(score, self.label, (0, 1), public_labels=False, **options)

    def canonical(self) -> Validation:
        """The canonical form of the statistic: classes in one order."""
        roc = self.roc(self.score).canonical()
        return dataclasses.replace(self, positive=roc.positive, negative=roc.negative)

    def alternatives(self) -> dict[str, Validation]:
        """One statistic for each method."""
        return {name: dataclasses.replace(self, method=name) for name in UNBIASED_METHODS}

    def questions(self, terms: Terms) -> Generator[Query, Answer, ValidationEstimate]:
        """Measure the scores of both classes once, for each model, and read everything off these curves.

        Privacy: one measurement of both classes at the whole of `terms.privacy`; of two models one each, at half of it.
        """
        estimate: ValidationEstimate = yield from ask_scores(self, self._measured, terms)
        return estimate

    def _measured(self, score: str, terms: Terms) -> Generator[Query, Answer, ValidationEstimate]:
        """The curves of both classes over a score, measured and smoothed as for a ROC curve."""
        curves = yield from self.roc(score).questions(terms)
        return ValidationEstimate(
            negatives=curves.negatives,
            positives=curves.positives,
            label=curves.label,
            total=curves.total,
            confidence_level=self.confidence_level,
        )


COMMAND = Command(
    compared="number",
    places="thresholds",
    example={"outside": "clip"},
    help={"method": "auto (smallest predicted error), path, tree_ls, hat_ls, sqrt, symmetric or ring."},
)
