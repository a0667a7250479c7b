"""A published privacy cost: what publishing it costs, how its noise is drawn, and what it means in plain words."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from ogive.accounting.losses import shown_up
from ogive.core.checks import among
from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.noise import DiscreteGaussian, RandomSource
from ogive.pate.costs.conversion import Rule, check_delta, epsilon_of_rdp
from ogive.pate.sensitivity.smooth import FORMS, Form
from ogive.statistics import plain_json
from ogive.statistics.plain_json import Fields, is_number, is_text, is_whole

# --- The price of publishing a number with Gaussian noise scaled to its smooth sensitivity, and rules of thumb
#
# F + SS sigma_SS N(0, 1), where SS bounds the local sensitivity of F and changes by at most a factor e^b between
# neighbours, has at order lam exactly the Renyi cost of `gnss_rdp`; `docs/proofs/pate_sensitivity.md` has the proof.
# The formula that Papernot et al. 2018 print as Theorem 6 is smaller than the truth for the parameters they use, and is
# here for reproduction only.

SMOOTHNESS_TIMES_ORDER = 0.35
"""Near the optimum under the right cost on real votes of several data sets."""

SCALE_FACTOR = 2.0
"""Smallest total plus two standard deviations on real votes."""


def gnss_rdp(order: float, smoothness: float, scale: float) -> float:
    """Renyi cost of a release with noise of `scale` times a smooth sensitivity, in both directions.

    Args:
        order: Renyi order lam.
        smoothness: b of the smooth sensitivity, above 0.
        scale: sigma_SS, the noise's standard deviation in units of the smooth sensitivity; above 0.

    Returns:
        The largest Renyi divergence between two such releases; the bound is attained.

    Raises:
        ParameterError: smoothness or scale is not above 0, or not 1 < order < 1 / (1 - e^(-2 smoothness)).
    """
    check_smoothness(order, smoothness)
    check_scale(scale)
    left = _left(order, smoothness)
    # 1 - lam + lam e^{-2b} = e^{-2b} (lam - (lam - 1) e^{2b}), written to keep digits where b is small
    spread = -2 * smoothness + math.log(left)
    return order / (2 * scale**2 * left) - (order * smoothness + spread / 2) / (order - 1)


def gnss_rdp_printed(order: float, smoothness: float, scale: float) -> float:
    """Theorem 6 of Papernot et al. 2018 as printed. FALSE where order * smoothness is above about 1/4.

    For tables that show the paper's numbers beside the right ones; no release may be priced by it.
    """
    if not (smoothness > 0 and 1 < order < 1 / (2 * smoothness)):
        raise ParameterError(
            f"the printed formula needs 1 < order < 1 / (2 smoothness), got order {order:g}, smoothness {smoothness:g}"
        )
    check_scale(scale)
    shift = order * math.exp(2 * smoothness) / scale**2
    return shift + (smoothness * order - math.log(1 - 2 * order * smoothness) / 2) / (order - 1)


def limit_rdp(order: float, tau: float) -> float:
    """Renyi cost of publishing log SS + b tau N(0, 1): log SS changes by at most b between neighbours."""
    return order / (2 * tau**2)


def check_smoothness(order: float, smoothness: float) -> None:
    """Refuse a smoothness for which noise at this order has no finite cost."""
    if not 0 < smoothness < math.inf:
        raise ParameterError(f"`smoothness` must be above 0, got {smoothness:g}")
    largest = -1 / math.expm1(-2 * smoothness)
    if not 1 < order < largest:
        raise ParameterError(
            f"`order` must be above 1 and below 1 / (1 - e^(-2 smoothness)) = {largest:.6g}, got {order:g}"
        )


def check_scale(scale: float) -> None:
    """Refuse noise of no or infinite width."""
    if not 0 < scale < math.inf:
        raise ParameterError(f"`scale` must be above 0, got {scale:g}")


def rule_of_order(planned_epsilon: float, target_delta: float) -> float:
    """The order at which half of a planned epsilon goes to delta, to the nearest half.

    Privacy:
        Plan epsilon from public numbers: an order that was chosen on the votes tells of them.
    """
    return max(1.5, round(2 * (1 + 2 * math.log(1 / target_delta) / planned_epsilon)) / 2)


def rule_of_smoothness(order: float) -> float:
    """Smoothness 0.35 / order."""
    return SMOOTHNESS_TIMES_ORDER / order


def rule_of_scale(order: float, smoothness: float, planned_epsilon: float, *, factor: float = SCALE_FACTOR) -> float:
    """Width of the noise whose cost is in proportion to a planned epsilon.

    factor * sqrt((order + 1) / epsilon) is the paper's rule, with factors 2 to 4; sqrt(kappa) keeps what it aims at
    under the right cost.
    """
    check_smoothness(order, smoothness)
    kappa = order / (2 * (order + 1) * _left(order, smoothness))
    return factor * math.sqrt((order + 1) / planned_epsilon * kappa)


def _left(order: float, smoothness: float) -> float:
    """Lam - (lam - 1) e^{2b}, in (0, 1]."""
    return 1 - (order - 1) * math.expm1(2 * smoothness)


# --- Normal noise times a private scale, in integers and fractions, rounded to a public grid
#
# The scale of the noise is private here, so no public grid fits it, and a float's last digits would tell what they were
# multiplied with. Instead a number Z is drawn of which 104 binary digits follow the point, and value + scale Z is
# worked out exactly and then rounded to the public grid: the result is what rounding value + scale N(0, 1) gives, up to
# the distance of Z from a normal number.
#
# Z = (K + U + V - 1) h, with h = 2^-40, K discrete Gaussian of parameter 2^40 and U, V uniform in [0, 1): its density
# is a standard normal's at the multiples of h, and linear between them. The total variation distance between the two is
# below 2^-84; U and V have 64 digits, and the rounded result can tell with a chance below (2 + scale / grid) 2^-103
# (`docs/proofs/pate_sensitivity.md`). Their sum times 1 + e^epsilon is what it adds to delta: nothing against any delta
# in use.

RESOLUTION_BITS = 40
_DIGITS = 64
_WORDS = _DIGITS // 32

GRID = Fraction(1, 1000)
"""Published numbers are multiples of this."""


def draw_normal(source: RandomSource) -> Fraction:
    """A standard normal number Z, nearly: see above."""
    middle = int(DiscreteGaussian(1 << RESOLUTION_BITS).sample(1, source=source)[0])
    words = [int(word) for word in source.words(2 * _WORDS)]
    between = sum((low + (high << 32)) for low, high in (words[:_WORDS], words[_WORDS:]))
    return (middle - 1 + Fraction(between, 1 << _DIGITS)) / (1 << RESOLUTION_BITS)


def publish(value: float, scale: float, *, source: RandomSource) -> float:
    """Value + scale N(0, 1), rounded half up to the public grid.

    Args:
        value: Private.
        scale: Standard deviation of the noise, above 0; may be private.
        source: Where the randomness comes from.
    """
    noisy = Fraction(value) + Fraction(scale) * draw_normal(source)
    return float(math.floor(noisy / GRID + Fraction(1, 2)) * GRID)


# --- The published cost

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
    """A stored value of the kind that a field is annotated with."""
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
