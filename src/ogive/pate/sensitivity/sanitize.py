"""Publish what answers cost: the data-dependent cost with noise scaled to its smooth sensitivity.

The order, smoothness and scale are chosen from public numbers. What is published is a noisy estimate; the noise's
width depends on the votes and is private, so an upper limit takes a second noisy number, the log of the sensitivity.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ogive.accounting.losses import rounded_up, shown_up
from ogive.core.arrays import Int64
from ogive.core.checks import among
from ogive.errors import DataError, LedgerError, ParameterError, plain, quoted
from ogive.ledger import Account
from ogive.noise import DiscreteGaussian, KeyedSource, RandomSource, SystemSource
from ogive.pate.aggregators import Aggregator, check_aggregator
from ogive.pate.costs.answers import Noise, Rule, check_delta, check_orders, epsilon_of_rdp
from ogive.pate.costs.answers import unit_of as grid_of
from ogive.pate.costs.cost import privacy_cost
from ogive.pate.labelling import Tallied
from ogive.pate.sensitivity.smooth import FORMS, Form, smooth_cost
from ogive.pate.votes import check_answered, check_votes
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, Rational, exact
from ogive.releasing.release import Payment, unit_of
from ogive.statistics import plain_json
from ogive.statistics.base import describe
from ogive.statistics.plain_json import Fields, is_number, is_text, is_whole

# --- What publishing a cost is charged to an account, and the noise that a repeated question gets again

NAME = "sanitized_cost"
"""Of this release in a ledger."""

CHARGE_DELTA, CHARGE_DELTA_BESIDE_GAUSSIAN = Fraction(1, 1000), Fraction(1, 10**6)
"""Of the target delta, what the charge takes by default; an account that began with Gaussian noise has little left."""

_ORDERS = 400
# what the drawn noise is away from normal noise; times 1 + e^epsilon it is part of delta
_NOT_NORMAL = Fraction(1, 1 << 79)


def default_charge_delta(account: Account, delta: float) -> Fraction:
    """The delta of a charge, from what the account charged first, which no later answer changes."""
    history = account.history
    gaussian = bool(history) and isinstance(history[0].charge, GaussianDP)
    return (CHARGE_DELTA_BESIDE_GAUSSIAN if gaussian else CHARGE_DELTA) * Fraction(delta)


def charge_of(smoothness: float, scale: float, delta: Fraction, *, upper_limit: bool) -> ApproxDP:
    """What publishing costs whoever is protected, whatever the votes are.

    The Renyi cost is finite below an order that the smoothness sets, so it implies no zCDP guarantee. Of the orders
    below it the one that implies the least epsilon at this delta counts. With `upper_limit` the log of the sensitivity
    is published too.
    """
    most = -1 / math.expm1(-2 * smoothness)
    orders = [1 + (most - 1) * step / _ORDERS for step in range(1, _ORDERS)]
    paid = [gnss_rdp(order, smoothness, scale) + (limit_rdp(order, TAU) if upper_limit else 0.0) for order in orders]
    implied = epsilon_of_rdp(paid, orders, target_delta=delta, rule="tight").value
    epsilon = rounded_up(Fraction(implied) * (1 + Fraction(1, 10**9)))
    return ApproxDP(epsilon, delta + _NOT_NORMAL * (1 + math.ceil(math.exp(epsilon))))


def paid_cost(
    account: Account,
    votes: Int64,
    parameters: dict[str, Any],
    charge: ApproxDP,
    key: bytes,
    draw: Callable[[RandomSource], SanitizedCost],
    *,
    batch: str | None,
    about: tuple[np.ndarray | None, ...] = (),
) -> SanitizedCost:
    """The cost that an account pays for: the recorded one of a repeated question, else one with durable noise."""
    if account.unit.max_rows_per_person > 1:
        raise LedgerError(
            "the cost of publishing is known for one teacher, and this account protects people with up to "
            f"{account.unit.max_rows_per_person} of them"
        )
    trust = Tallied(votes, person=account.unit.person)
    digests = [None if array is None else account.fingerprint(_digest(array)) for array in about]
    payment = Payment(
        account,
        {"name": NAME, **parameters, "about": digests},
        NAME,
        charge,
        unit_of(trust, Adjacency.REPLACE, account),
        trust,
        batch=account.part_name if batch is None else batch,
    )
    stored = payment.stored()
    if stored is not None:
        return SanitizedCost.from_dict(stored)
    reservation = account.reserve(payment.question, statistic=NAME, charge=charge, secret=key)
    reservation.bind(0, trust.data_digest())
    return SanitizedCost.from_dict(reservation.record(draw(KeyedSource(reservation.secret)).to_dict()))


def _digest(array: np.ndarray) -> bytes:
    shape = f"ogive array 1\n{array.dtype.str} {array.shape}\n".encode()
    return hashlib.sha256(shape + np.ascontiguousarray(array).tobytes()).digest()


# --- Publishing

LEAST_SENSITIVITY = 1e-6
"""Smaller smooth sensitivities are taken for this, which is smooth too."""

LEAST_TEACHERS = 3
"""From here on the proofs hold."""

# what floating point may add to a difference of costs, far above its error of about 1e-13
_ROOM = 1 + 2**-20


def sanitize(
    votes: ArrayLike,
    aggregator: Aggregator,
    *,
    target_delta: Rational,
    order: float | None = None,
    smoothness: float | None = None,
    scale: float | None = None,
    planned_epsilon: float | None = None,
    form: Form = "joint",
    answered: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    max_answers: int | None = None,
    noise: Noise = "scaled",
    upper_limit: bool = True,
    ledger: Account | None = None,
    charge_delta: Rational | None = None,
    batch: str | None = None,
    source: RandomSource | None = None,
) -> SanitizedCost:
    """Publish a noisy estimate of the privacy cost of a run.

    Choose all arguments except `votes` and `answered` independently of the votes. Publish once: another call draws new
    noise and costs as much again. With a ledger a repeated question gets the recorded answer at no cost.

    Args:
        votes: Counts, shape (queries, classes), each row with the same number of teachers.
        aggregator: The aggregator: GNMax, ConfidentGNMax or InteractiveGNMax.
        target_delta: Strictly between 0 and 1; below one over the number of records.
        order: Renyi order; by default the order whose conversion to delta takes half of the planned epsilon.
        smoothness: b of the smooth sensitivity; 0.35 / order by default.
        scale: Standard deviation of the noise in units of the smooth sensitivity; by default 2 sqrt((order + 1) /
            planned_epsilon) times a factor for the exact cost of publishing.
        planned_epsilon: Expected cost of the run; by default half of its data-independent cost, or, with an order, the
            value that the rule for the order implies.
        form: "joint" for the run, whatever is answered, with queries that did not depend on votes or answers;
            "additive" for the given answers, also to queries that depend on earlier answers.
        answered: Additive form with a check only: whether the teachers answered each query, as truth values or as
            labels with -1 for refusals, shape (queries,).
        probabilities: Joint form of InteractiveGNMax only: predictions of the student, fixed before the run.
        max_answers: Limit on answers that was fixed before the run, for the data-independent cost; none by default.
        noise: Noise of the aggregator: "scaled", as `label` draws it, "continuous" or "discrete".
        upper_limit: Whether to publish an upper limit too, at a Renyi cost of order / 200.
        ledger: The account to charge for publishing, from `Ledger.account`; None records no charge. The cost of the
            answers is not charged again, since `label` charged it.
        charge_delta: With a ledger: delta of the charge; by default a thousandth of the target delta, or a millionth
            if the first charge of the account was for Gaussian noise, which leaves little of its delta.
        batch: With a ledger: public name of these votes, to distinguish rounds.
        source: Source of the noise; by default the operating system.

    Returns:
        The estimate, with its cost and its meaning.

    Raises:
        ParameterError: an argument is out of range or incompatible with the others.
        DataError: votes or probabilities are invalid, or there are fewer than three teachers.
        UnsupportedError: the aggregator's cost has no smooth sensitivity.
        BudgetError: the account has too little left, or its limit does not admit a loss with a delta.
        LedgerError: the ledger cannot be used, or its privacy unit has several votes.
        ReleaseMismatchError: the same question was asked of other votes before.

    Privacy:
        The cost is for replacing one teacher. The noise is within 2^-80 of a normal distribution in total variation,
        for widths up to 10^3; this distance times 1 + e^epsilon is added to delta.

    Source: Papernot et al. 2018, section 4.4 and appendix B, with the release cost corrected.
    """
    counts = check_votes(votes)
    check_aggregator(aggregator)
    delta = check_delta(target_delta)
    grid_of(noise)
    if counts[0].sum() < LEAST_TEACHERS:
        raise DataError(f"a cost is published for {LEAST_TEACHERS} or more teachers, got {counts[0].sum()}")
    given = None if answered is None else check_answered(answered, counts.shape)
    independent = privacy_cost(
        counts, aggregator, target_delta=delta, mode="independent", noise=noise, max_answers=max_answers
    )
    planned = _planned(planned_epsilon, order, delta, independent.epsilon)
    at = rule_of_order(planned, delta) if order is None else float(check_orders([order])[0])
    smooth = rule_of_smoothness(at) if smoothness is None else float(smoothness)
    check_smoothness(at, smooth)
    width = rule_of_scale(at, smooth, planned) if scale is None else float(scale)
    check_scale(width)
    result = smooth_cost(
        counts,
        aggregator,
        order=at,
        smoothness=smooth,
        form=form,
        answered=given,
        probabilities=None if probabilities is None else np.asarray(probabilities),
        noise=noise,
    )
    generator = SystemSource() if source is None else source
    sensitivity = max(result.sensitivity, LEAST_SENSITIVITY) * _ROOM

    def draw(noise_source: RandomSource) -> SanitizedCost:
        return SanitizedCost(
            rdp=publish(result.cost, sensitivity * width, source=noise_source),
            log_sensitivity=publish(math.log(sensitivity), smooth * TAU, source=noise_source) if upper_limit else None,
            delta=delta,
            order=at,
            smoothness=smooth,
            scale=width,
            form=form,
            method=result.method,
            reason=result.reason,
            aggregator=aggregator.name,
            queries=counts.shape[0],
            teachers=int(counts[0].sum()),
            classes=counts.shape[1],
            answered=None if given is None else int(given.sum()),
            max_answers=int(independent.answers),
            independent_epsilon=independent.epsilon,
        )

    if ledger is None:
        if charge_delta is not None or batch is not None:
            raise ParameterError("`charge_delta` and batch require an account; give `ledger=` too, or leave them out")
        return draw(generator)
    beside = default_charge_delta(ledger, delta) if charge_delta is None else exact(charge_delta, "charge_delta")
    if not 0 < beside < 1:
        raise ParameterError(f"`charge_delta` must be strictly between 0 and 1, got {float(beside):g}")
    parameters = {
        "aggregator": describe(aggregator),
        "delta": delta,
        "order": at,
        "smoothness": smooth,
        "scale": width,
        "form": form,
        "noise": noise,
        "max_answers": max_answers,
        "upper_limit": upper_limit,
    }
    charge = charge_of(smooth, width, beside, upper_limit=upper_limit)
    about = (given, None if probabilities is None else np.asarray(probabilities))
    return paid_cost(ledger, counts, parameters, charge, generator.key(), draw, batch=batch, about=about)


def _planned(planned: float | None, order: float | None, delta: float, independent: float) -> float:
    """An epsilon to plan with, from public numbers."""
    if planned is not None:
        if not 0 < planned < math.inf:
            raise ParameterError(f"`planned_epsilon` must be above 0, got {planned:g}")
        return planned
    if order is not None and order > 1:
        return -2 * math.log(delta) / (order - 1)
    return independent / 2


# --- A published privacy cost: what publishing it costs, how its noise is drawn, and what it means in plain words

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

    `scale`: Standard deviation of the noise, above 0; may be private.
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
