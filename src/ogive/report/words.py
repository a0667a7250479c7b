"""What a release means, in words for people who do not work in privacy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from ogive.accounting import epsilon_of, total_loss
from ogive.privacy import Adjacency, ApproxDP, Privacy, PureDP, ZeroConcentratedDP
from ogive.provenance import Provenance
from ogive.report.axis import plain_number

METHODS = {
    "path": "path noise: fresh noise on every block of thresholds above a point",
    "tree_ls": "noisy counts on a tree of blocks, combined by least squares",
    "hat_ls": "noisy overlapping sums (hats), combined by least squares",
    "sqrt": "square-root factorization with correlated noise",
    "bisection": "path noise, opened only where the search for the quantiles went",
}
SMOOTHINGS = {
    "shrinkage": "shrinkage: noise taken out where nothing but noise is seen",
    "least_squares": "least squares: the closest valid curve to all measurements",
    "least_absolute": "least absolute deviations: the valid curve of smallest total deviation",
    "isotonic": "isotonic: the closest never-falling curve",
    "none": "none",
}


def percent(share: float, places: int | None = None) -> str:
    """A share in percent; without `places`, with as many as it needs."""
    value = 100 * share
    return f"{plain_number(round(value, 6)) if places is None else f'{value:.{places}f}'} %"


def digits(half_width: float) -> int:
    """How many places of a percentage mean something beside this uncertainty."""
    return min(5, max(1, 1 - math.floor(math.log10(max(half_width, 1e-9) * 100))))


def points(width: float) -> str:
    """A difference of shares in percentage points, rounded up to two figures."""
    value = 100 * width
    if value <= 0:
        return "0 percentage points"
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{plain_number(math.ceil(value / unit - 1e-9) * unit, 3)} percentage points"


def in_a_thousand(width: float) -> str:
    """A difference of shares as records in a thousand, or in ten thousand where it is small."""
    of = next(size for size in (1_000, 10_000, 100_000, 1_000_000) if width * size >= 1 or size == 1_000_000)
    count = max(1, math.ceil(width * of - 1e-9))
    return f"{count:,} in {of:,}"


def factor(epsilon: Fraction) -> str:
    """E to the epsilon, rounded up."""
    value = math.exp(min(700.0, float(epsilon)))
    if value < 10:
        return f"{math.ceil(value * 100 - 1e-9) / 100:.2f}"
    return plain_number(float(f"{value * 1.005:.3g}"))


def promise(privacy: Privacy, adjacency: Adjacency) -> str:
    """What the guarantee promises to one person, as one sentence."""
    if adjacency is Adjacency.REPLACE:
        change = "Had any one record held entirely different values"
    else:
        change = "Had any one record been missing, or one more been there"
    match privacy:
        case PureDP(epsilon=epsilon):
            return (
                f"{change}, everything published here would have been almost as likely: "
                f"at most {factor(epsilon)} times more or less."
            )
        case ApproxDP(epsilon=epsilon, delta=delta):
            return (
                f"{change}, everything published here would have been almost as likely: at most {factor(epsilon)} "
                f"times more or less, except for an added chance of at most 1 in {math.floor(1 / delta):,}."
            )
        case ZeroConcentratedDP():
            slack = Fraction(1, 10**6)
            return (
                f"{change}, everything published here would have been almost as likely: at most "
                f"{factor(epsilon_of(privacy, slack))} times more or less, except for an added chance of at most "
                "1 in 1,000,000 (implied by the concentrated guarantee)."
            )


def _amount(value: Fraction) -> str:
    """An exact number as a decimal, rounded up to six figures where it would be longer."""
    if value == 0:
        return "0"
    exact = Fraction(plain_decimal(value))
    if exact == value:
        return plain_decimal(value)
    unit = Fraction(10) ** (math.floor(math.log10(value)) - 5)
    return plain_decimal(math.ceil(value / unit) * unit)


def plain_decimal(value: Fraction) -> str:
    """The nearest short decimal of an exact number."""
    return f"{float(value):.6g}"


def amount(privacy: Privacy) -> str:
    """A guarantee with its numbers as decimals, rounded up where they do not end."""
    match privacy:
        case PureDP(epsilon=epsilon):
            return f"epsilon = {_amount(epsilon)}"
        case ApproxDP(epsilon=epsilon, delta=delta):
            return f"epsilon = {_amount(epsilon)}, delta = {_amount(delta)}"
        case ZeroConcentratedDP(rho=rho):
            return f"rho = {_amount(rho)} (zero-concentrated)"


def kind_words(privacy: Privacy) -> str:
    """The name of the kind of guarantee."""
    match privacy:
        case PureDP():
            return "pure differential privacy"
        case ApproxDP():
            return "approximate differential privacy"
        case ZeroConcentratedDP():
            return "zero-concentrated differential privacy"


def as_replacement(privacy: Privacy) -> Privacy:
    """What a guarantee for one record added or removed says about one replaced: two such steps."""
    match privacy:
        case PureDP(epsilon=epsilon):
            return PureDP(2 * epsilon)
        case ZeroConcentratedDP(rho=rho):
            return ZeroConcentratedDP(4 * rho)
        case ApproxDP(epsilon=epsilon, delta=delta):
            growth = 1 + Fraction(math.exp(min(700.0, float(epsilon)))) * (1 + Fraction(1, 10**9))
            return ApproxDP(2 * epsilon, min(delta * growth, 1 - Fraction(1, 10**9)))


def total_price(provenances: Sequence[Provenance]) -> tuple[tuple[Privacy, ...], Adjacency]:
    """What distinct releases of one data set cost together, and for which adjacency.

    A release that is shown twice, for example as a curve and as its quantiles, counts once. Pure and
    concentrated guarantees add up to one; approximate ones take pure ones in. Concentrated and
    approximate guarantees side by side stay two, which hold together. Where adjacencies are mixed,
    the total is for a record replaced.
    """
    distinct = {entry.release_id: entry for entry in provenances if entry.privacy is not None}
    adjacencies = {entry.adjacency for entry in distinct.values()}
    adjacency = adjacencies.pop() if len(adjacencies) == 1 else Adjacency.REPLACE
    granted = [
        entry.privacy if entry.adjacency is adjacency else as_replacement(entry.privacy)
        for entry in distinct.values()
        if entry.privacy is not None
    ]
    approximate = [loss for loss in granted if isinstance(loss, ApproxDP)]
    others = [loss for loss in granted if not isinstance(loss, ApproxDP)]
    if not approximate:
        return ((total_loss(others),) if others else ()), adjacency
    pure = sum((loss.epsilon for loss in others if isinstance(loss, PureDP)), Fraction(0))
    concentrated = [loss for loss in others if isinstance(loss, ZeroConcentratedDP)]
    slack = min(sum((loss.delta for loss in approximate), Fraction(0)), 1 - Fraction(1, 10**9))
    together = ApproxDP(sum((loss.epsilon for loss in approximate), pure), slack)
    return ((together, total_loss(concentrated)) if concentrated else (together,)), adjacency


def limits(adjacencies: Sequence[Adjacency]) -> list[tuple[str, str]]:
    """What the guarantees on a page do not protect, as pairs of a short name and a sentence."""
    found = [
        (
            "Bounds and thresholds are public.",
            "They were chosen without looking at the records. Whoever chooses them from the records "
            "publishes something about the records that no noise hides.",
        )
    ]
    if Adjacency.REPLACE in adjacencies:
        found.append(
            (
                "The number of records is public.",
                "One record may be replaced by any other without notice, but how many there are is published exactly. "
                "Where the mere presence of a person is a secret, use the adjacency add_or_remove.",
            )
        )
    return [
        *found,
        (
            "One record per person.",
            "The promise is made to one record. A person with k records among them is protected k times less: "
            "multiply epsilon by k (rho by k squared).",
        ),
        (
            "Facts about everyone.",
            "If a whole population shares a property, these figures show it, and it can be guessed of each member, "
            "whether or not that member's record was used.",
        ),
        (
            "What others already know.",
            "Knowledge from elsewhere stays what it was; the promise is that this page adds little to it about any "
            "one record. Families and other groups whose records go together are protected as several records are.",
        ),
        (
            "Releases add up.",
            "Every further release of the same records costs privacy again. Reading more off a curve that is "
            "already released costs nothing.",
        ),
        (
            "The records themselves.",
            "Noise protects what is published. Who may read the records, and whether their copies are safe, is a "
            "matter of other locks.",
        ),
    ]
