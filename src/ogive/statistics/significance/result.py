"""The result of a hypothesis test that knows the noise of the release."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, get_args

from ogive.checks import among
from ogive.errors import ParameterError
from ogive.provenance import Provenance
from ogive.statistics.base import Shown

Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)


@dataclass(frozen=True, repr=False)
class HypothesisTest(Shown):
    """A test of one hypothesis, computed from a released estimate at no further cost.

    Fields:
        hypothesis: The null hypothesis, as a clause.
        name: What the statistic is, for example "AUC".
        statistic: The number that is compared with `expected`; NaN where noise leaves none.
        expected: Its value under the null hypothesis.
        standard_error: Standard deviation of the statistic under the null hypothesis, with sampling and noise.
        p_value: Probability, under the null hypothesis, of a statistic at least as far from `expected`; NaN where there
            is no statistic.
        alternative: "two-sided", or "greater" or "less" than expected.
        method: What the p-value counts, as a sentence.
        provenance: Of the estimate; None where it was not released.
    """

    hypothesis: str
    name: str
    statistic: float
    expected: float
    standard_error: float
    p_value: float
    alternative: Alternative
    method: str
    provenance: Provenance | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        among(self.alternative, "alternative", ALTERNATIVES)
        if not (math.isnan(self.p_value) or 0 <= self.p_value <= 1):
            raise ParameterError(f"a p-value is between 0 and 1, got {self.p_value}")

    @property
    def defined(self) -> bool:
        """Whether there is a statistic."""
        return not math.isnan(self.p_value)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"


def check_independent_records(provenance: Provenance | None) -> None:
    """Refuse to test records of which several may be of one person.

    Raises:
        ParameterError: the release kept several records of a person, which do not vary independently.
    """
    if provenance is not None and provenance.max_rows_per_person > 1:
        raise ParameterError(
            f"a test needs independent records, and this release kept up to {provenance.max_rows_per_person} of each "
            "person; release with `max_rows_per_person=1`"
        )


def testable(provenance: Provenance | None) -> bool:
    """Whether records are independent as far as the release says."""
    return provenance is None or provenance.max_rows_per_person == 1
