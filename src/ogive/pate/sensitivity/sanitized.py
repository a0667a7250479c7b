"""A published privacy cost: an estimate with noise, what was paid for it, and what it means in plain words."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from ogive.accounting.rounding import shown_up
from ogive.checks import among
from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.pate.costs.conversion import Rule, check_delta, epsilon_of_rdp
from ogive.pate.sensitivity.gnss import check_scale, check_smoothness, gnss_rdp, limit_rdp
from ogive.pate.sensitivity.normal import GRID
from ogive.pate.sensitivity.smooth import FORMS, Form
from ogive.statistics import plain_json
from ogive.statistics.plain_json import Fields, is_number, is_text, is_whole

TAU = 10.0
"""Width, in units of the smoothness, of the noise on the published log sensitivity."""

CONFIDENCE = 0.95
"""Of the upper limit."""

METHODS = ("algorithms", "ranges", "boxes")
"""How sensitivity may have been bounded."""

_LEAST = {"answered": 0, "classes": 2, "teachers": 3}
_RANGES = {"rdp": (-1e9, 1e9), "log_sensitivity": (-1e9, 1e9), "scale": (0.0, 1e9), "independent_epsilon": (0.0, 1e300)}
"""Of what is read from files; real costs lie far within, and what follows from these has an end."""

_NORMAL = 1.959963984540054  # each of two one-sided errors has a chance of 2.5 %
_HALF_GRID = float(GRID) / 2


@dataclass(frozen=True)
class SanitizedCost:
    """The noisy cost of a run of an aggregator; every field may be published.

    Fields:
        rdp: Noisy Renyi cost at `order`, a multiple of 0.001; the noise may make it negative.
        log_sensitivity: Noisy logarithm of the smooth sensitivity, a multiple of 0.001; None if no upper limit was
            requested.
        delta: Delta of the guarantee.
        order: The Renyi order, chosen in advance.
        smoothness: b of the smooth sensitivity.
        scale: Standard deviation of the noise in units of the smooth sensitivity.
        form: "joint" (for the run, whatever is answered) or "additive" (for the given answers).
        method: Method of bounding the sensitivity: "algorithms" (3 to 5 of the paper), "ranges" or "boxes".
        reason: Reason for not using Algorithms 3 to 5; None if they were used or the form is joint.
        aggregator: Name of the aggregator.
        queries: Number of queries asked.
        teachers: Number of teachers that voted.
        classes: Number of classes.
        answered: Number of answered queries; None in the joint form.
        max_answers: Limit on answers of the data-independent cost.
        independent_epsilon: Data-independent cost at the same delta, for comparison; this is a differential privacy
            guarantee.

    Raises:
        ParameterError: a field is out of range.

    Privacy:
        `epsilon` includes the cost of publishing this estimate.
    """

    schema: ClassVar[str] = "ogive.sanitized_cost/1"

    rdp: float
    log_sensitivity: float | None
    delta: float
    order: float
    smoothness: float
    scale: float
    form: Form
    method: str
    reason: str | None
    aggregator: str
    queries: int
    teachers: int
    classes: int
    answered: int | None
    max_answers: int
    independent_epsilon: float

    def __post_init__(self) -> None:
        check_delta(self.delta)
        check_smoothness(self.order, self.smoothness)
        check_scale(self.scale)
        among(self.form, "form", FORMS)
        among(self.method, "method", METHODS)
        if max(self.answered or 0, self.max_answers) > self.queries:
            raise ParameterError(f"answered and `max_answers` must be at most the {self.queries} queries")

    @property
    def rule(self) -> Rule:
        """Conversion of the cost: "tight" for the joint form, "paper" for the additive form, which is realised."""
        return "tight" if self.form == "joint" else "paper"

    @property
    def release_rdp(self) -> float:
        """Renyi cost at `order` of publishing the estimate and, if present, the upper limit."""
        paid = gnss_rdp(self.order, self.smoothness, self.scale)
        return paid if self.log_sensitivity is None else paid + limit_rdp(self.order, TAU)

    @property
    def epsilon(self) -> float:
        """Estimate of the total cost: of the answers and of publishing this estimate. It is not a bound."""
        return self._epsilon(self.rdp)

    @property
    def upper_limit(self) -> float | None:
        """Upper limit of the total cost with 95 % confidence over the noise; None if not requested."""
        if self.log_sensitivity is None:
            return None
        # the exponent stays far below what doubles hold unless the data are not ours
        exponent = min(self.log_sensitivity + _HALF_GRID + _NORMAL * TAU * self.smoothness, 600.0)
        return self._epsilon(self.rdp + _HALF_GRID + _NORMAL * self.scale * math.exp(exponent))

    @property
    def statement(self) -> str:
        """Meaning of the cost, in a few sentences."""
        run = f"{self.queries} queries to {self.teachers} teachers"
        if self.answered is not None:
            run += f", of which {self.answered} were answered,"
        limit = self.upper_limit
        bound = "" if limit is None else f" With 95 % confidence the cost is at most {shown_up(limit, '.3f')}."
        independent = shown_up(self.independent_epsilon, ".3f")
        what = (
            "For the data actually held, D, every D' with one teacher replaced and every set Y of outputs: "
            "Pr[M(D) in Y] <= e^epsilon Pr[M(D') in Y] + delta, for queries that did not depend on votes or answers."
            if self.form == "joint"
            else "For the data actually held, D, and every D' with one teacher replaced: with probability at least "
            "1 - delta over the run, ln(Pr_D[outputs] / Pr_D'[outputs]) is at most epsilon."
        )
        return (
            f"{run} cost about epsilon = {self.epsilon:.3f} at delta = {shown_up(self.delta)} (Renyi order "
            f"{self.order:g}). This is an estimate with noise, not a bound: half of the time it is below the "
            f"true cost.{bound} {what} "
            "This holds in one direction and for one data set: it is not differential privacy, and no budget may be "
            f"charged with it. The data-independent cost, which is, is epsilon = {independent} with at most "
            f"{self.max_answers} answers. Publishing took {self.release_rdp:.3f} of the Renyi cost and is counted "
            "above. The exact data-dependent epsilon and the width of the noise are private themselves: they "
            "must not be published."
        )

    def __str__(self) -> str:
        return self.statement

    def to_dict(self) -> dict[str, Any]:
        """Plain data, including derived numbers for readers without this package."""
        derived = {
            "schema": self.schema,
            "rule": self.rule,
            "release_rdp": self.release_rdp,
            "epsilon": self.epsilon,
            "upper_limit": self.upper_limit,
            "statement": self.statement,
        }
        return {**derived, **asdict(self)}

    def to_json(self, path: str | Path | None = None) -> str:
        """JSON text of `to_dict`; with a path, also written there, whole or not at all.

        Raises:
            ParameterError: the file cannot be written.
        """
        return plain_json.write(self.to_dict(), path, public=True, indent=1)

    @staticmethod
    def from_dict(data: Any) -> SanitizedCost:
        """Rebuild from `to_dict`; derived numbers are computed again.

        Raises:
            DataError: the data are not a sanitized cost that this version can read.
        """
        Fields.of(data, SanitizedCost.schema, "a sanitized cost", (field.name for field in fields(SanitizedCost)))
        values = {
            field.name: _checked(field.name, str(field.type), data[field.name]) for field in fields(SanitizedCost)
        }
        try:
            return SanitizedCost(**values)
        except ParameterError as problem:
            raise DataError(f"not a sanitized cost: {plain(problem)}") from None

    @staticmethod
    def from_json(source: str | bytes | Path) -> SanitizedCost:
        """Read a sanitized cost from JSON text, or from a file if given a Path. Untrusted text is safe to read.

        Raises:
            DataError: the data are not a sanitized cost that this version can read.
        """
        return SanitizedCost.from_dict(plain_json.parse(source))

    def _epsilon(self, rdp: float) -> float:
        # a cost is never below 0
        whole = max(rdp, 0.0) + self.release_rdp
        return epsilon_of_rdp([whole], [self.order], target_delta=self.delta, rule=self.rule).value


def _checked(name: str, kind: str, value: Any) -> Any:
    """A stored value of the kind that a field is annotated with.

    Raises:
        DataError: it is of another kind.
    """
    if value is None and kind.endswith("None"):
        return None
    if kind.startswith("float"):
        least, most = _RANGES.get(name, (0.0, math.inf))
        fits = is_number(value) and least <= value <= most
        wanted = "a finite number" + ("" if least < 0 else " from 0") + ("" if most == math.inf else f" to {most:g}")
    elif kind.startswith("int"):
        least = _LEAST.get(name, 1)
        fits, wanted = is_whole(value) and value >= least, f"a whole number from {least}"
    else:
        fits, wanted = is_text(value), "a short text"
    if not fits:
        raise DataError(f"the field {quoted(name)} of a sanitized cost must be {wanted}")
    return float(value) if kind.startswith("float") else value
