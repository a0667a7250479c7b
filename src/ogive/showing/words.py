"""What a release means, in words for people who do not work in privacy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

from ogive.accounting import epsilon_of
from ogive.core.digits import places as places_of
from ogive.privacy import (
    Adjacency,
    ApproxDP,
    Charge,
    GaussianDP,
    Privacy,
    PrivacyUnit,
    PureDP,
    ZeroConcentratedDP,
    named_columns,
)
from ogive.showing.axis import plain_number

METHODS = {
    "path": "path noise: fresh noise on every block of thresholds above a point",
    "tree_ls": "noisy counts on a tree of blocks, combined by least squares",
    "hat_ls": "noisy overlapping sums (hats), combined by least squares",
    "sqrt": "square-root factorization with correlated noise",
    "symmetric": "symmetric square root of prefix sums, in which every record has the same effect",
    "ring": "square root of prefix sums on a ring, combined by least squares",
    "projection": "noisy coefficients of a few orthogonal functions",
    "histogram": "noisy counts of groups of neighboring thresholds, joined by straight lines",
    "adaptive": "noisy counts at thresholds chosen one after the other, joined by straight lines",
    "selected": "one of several methods, chosen privately by noisy scores",
    "reports": "randomized reports of the records' owners about blocks of a hierarchy, combined by least squares",
    "reported_histogram": "randomized reports of the records' owners about groups of bins, joined by straight lines",
    "tree": "randomized reports of the records' owners about blocks of a hierarchy",
    "classes": "randomized reports of the records' owners, with a public group",
    "krr": "randomized reports of the records' owners: the true bin, or another one at random",
    "unary": "randomized reports of the records' owners: a noisy bit for every bin",
    "haar": "randomized reports of the records' owners: one noisy bit of a wavelet",
    "paired": "values computed by pairs of people, with noise that neither of them knows",
    "kernel": "noise on the exact mean over all pairs of records",
    "degrees": "noise on equal pairs, of which a record counts in at most as many as a noisy bound of the counts says",
    "cells": "noisy counts of every combination of bins",
    "group_sums": "noisy sums for each group of records",
    "sparse_vector": "a search for the outermost values, by noisy counts of the records beyond",
    "noisy_max": "quartiles chosen by noisy ranks among the thresholds",
    "labels": "noisy votes, of which only the labels are published",
    "votes": "noisy vote counts of every query, which are published",
    "exponential": "exponential noise on how far the rank of each bin is off, for each quantile by itself",
    "joint": "an exponential choice among the bins of all quantiles together",
    "joint_exponential": "an exponential choice among the bins of all quantiles together",
    "bisection": "path noise, opened only at the thresholds that the search for the quantiles visited",
}
ALMOST = Fraction(1, 2)
"""Up to this epsilon, likelihoods are called almost the same."""
IMPLIED_DELTA = Fraction(1, 10**6)
"""The slack at which a concentrated guarantee is put into words."""
BEYOND, BEYOND_POWER = 700, 304
"""Beyond this epsilon no factor is stated; e to it is more than 10 to this power."""
WEAK = 0.99
"""A guarantee that lets guesses about one person be right more often than this is called weak."""
SMOOTHINGS = {
    "shrinkage": "shrinkage: details that cannot be told from noise are removed",
    "density": "density: a smooth density with a few single values, corrected where the measurements say so",
    "least_squares": "least squares: the closest valid curve to all measurements",
    "least_absolute": "least absolute deviations: the valid curve of smallest total deviation",
    "isotonic": "isotonic: the closest non-decreasing curve",
    "rank_matching": "rank matching: sorted counts matched to sorted thresholds",
    "none": "none",
}


def method(name: str) -> str:
    """A method in words; "a+b" are two methods, one for each of two curves."""
    parts = list(dict.fromkeys(name.split("+")))
    return "; then ".join(METHODS.get(part, part) for part in parts)


def rows(count: int) -> str:
    """A number of rows, in words."""
    return "1 row" if count == 1 else f"{count:,} rows"


def percent(share: float, places: int | None = None) -> str:
    """A share in percent; without `places`, with as many as it needs."""
    value = 100 * share
    return f"{plain_number(round(value, 6)) if places is None else f'{value:.{places}f}'} %"


def decimal(value: float, half_width: float) -> str:
    """A number such as an area with the places that mean something beside this uncertainty: two to four."""
    places = min(4, max(2, places_of(max(half_width, 1e-9))))
    return f"{value:.{places}f}"


def digits(half_width: float) -> int:
    """How many places of a percentage mean something beside this uncertainty."""
    return min(5, max(1, places_of(max(half_width, 1e-9) * 100)))


def minus(number: str) -> str:
    """A number as plain text has it, with a real minus, as in the other numbers of a page."""
    return f"−{number[1:]}" if number.startswith("-") else number


def points(width: float) -> str:
    """A difference of shares in percentage points, rounded up to two figures."""
    return f"{rounded_up(100 * width)} percentage points"


def rounded_up(value: float) -> str:
    """An error, rounded up to two figures."""
    if value <= 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return plain_number(math.ceil(value / unit - 1e-9) * unit, 3)


def in_a_thousand(width: float) -> str:
    """A difference of shares as records in a thousand, or in ten thousand where it is small."""
    of = next(size for size in (1_000, 10_000, 100_000, 1_000_000) if width * size >= 1 or size == 1_000_000)
    count = max(1, math.ceil(width * of - 1e-9))
    return f"{count:,} in {of:,}"


def factor(epsilon: Fraction) -> str:
    """E to the epsilon, rounded up: to two places below 10, to three figures above.

    Epsilon must be at most `BEYOND`. No power of e but the first is a decimal, so the next one above is always right.
    """
    if epsilon == 0:
        return "1.00"
    with localcontext(prec=60):
        value = (Decimal(epsilon.numerator) / epsilon.denominator).exp()
        unit = Decimal(10) ** (-2 if value < 10 else value.adjusted() - 2)
        shown = (value // unit + 1) * unit
    return f"{shown:.2f}" if value < 10 else plain_number(float(shown))


def promise(privacy: Privacy, unit: PrivacyUnit, *, what: str = "everything published here") -> str:
    """What the guarantee promises to one person, as one sentence."""
    epsilon, delta = implied(privacy)
    sentence = f"{_change(unit)}, {what} "
    if epsilon > BEYOND:
        sentence += f"could have been more or less likely by a factor beyond 10^{BEYOND_POWER}"
    elif epsilon > ALMOST:
        sentence += f"would have been at most {factor(epsilon)} times more or less likely"
    else:
        sentence += f"would have been almost as likely: at most {factor(epsilon)} times more or less"
    if delta:
        sentence += f", except for an added chance of at most 1 in {math.floor(1 / delta):,}"
    if isinstance(privacy, ZeroConcentratedDP):
        sentence += " (implied by the concentrated guarantee)"
    return f"{sentence}."


def certainty(privacy: Privacy, unit: PrivacyUnit) -> str:
    """How well one can guess something about one person at best under the guarantee, as a sentence or two.

    Of two equally likely data sets that are adjacent, a guess from what is published names the right one with
    probability at most (e^epsilon + delta) / (e^epsilon + 1): add up the guarantee for both ways of being wrong.
    """
    epsilon, delta = implied(privacy)
    who = "record" if unit.person is None else "person"
    if unit.adjacency is Adjacency.ADD_OR_REMOVE:
        guess = f"whether one {who} is in the data, both being equally likely beforehand,"
    elif unit.public:
        guess = f"between two equally likely possibilities for the other values of one {who}"
    else:
        guess = f"between two equally likely values of one {who}"
    odds = math.exp(-min(700.0, float(epsilon)))
    most = (1 + float(delta) * odds) / (1 + odds)
    shown = math.ceil(100 * most - 1e-9) if most <= WEAK else math.ceil(1e4 * most - 1e-9) / 100
    right = f"at most {shown:g} %" if shown < 100 else "up to 100 %"
    weak = " That is weak protection." if most > WEAK else ""
    return f"Someone who sees it and guesses {guess} is right in {right} of cases.{weak}"


def implied(privacy: Privacy) -> tuple[Fraction, Fraction]:
    """Epsilon and delta that a guarantee implies."""
    match privacy:
        case PureDP(epsilon=epsilon):
            return epsilon, Fraction(0)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return epsilon, delta
        case ZeroConcentratedDP():
            return epsilon_of(privacy, IMPLIED_DELTA), IMPLIED_DELTA


def _change(unit: PrivacyUnit) -> str:
    same = f" but the same in {named_columns(unit.public)}" if unit.public else ""
    if unit.person is None:
        if unit.adjacency is Adjacency.REPLACE:
            return f"Had any one record held entirely different values{same}"
        return "Had any one record been missing, or one more been there"
    if unit.adjacency is Adjacency.REPLACE:
        return f"Had any one person been another with entirely different values{same}"
    return "Had any one person been missing with all their rows, or one more been there"


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


def amount(privacy: Charge) -> str:
    """A guarantee or a loss with its numbers as decimals, rounded up where they do not end."""
    match privacy:
        case PureDP(epsilon=epsilon):
            return f"epsilon = {_amount(epsilon)}"
        case ApproxDP(epsilon=epsilon, delta=delta):
            return f"epsilon = {_amount(epsilon)}, delta = {_amount(delta)}"
        case ZeroConcentratedDP(rho=rho):
            return f"rho = {_amount(rho)} (zero-concentrated)"
        case GaussianDP(mu_squared=mu_squared):
            return f"mu = {_amount(Fraction(math.sqrt(mu_squared)))} (Gaussian)"


def kind_words(privacy: Privacy) -> str:
    """The name of the kind of guarantee."""
    match privacy:
        case PureDP():
            return "pure differential privacy"
        case ApproxDP():
            return "approximate differential privacy"
        case ZeroConcentratedDP():
            return "zero-concentrated differential privacy"


def limits(units: Sequence[PrivacyUnit]) -> list[tuple[str, str]]:
    """What the guarantees on a page do not protect, as pairs of a short name and a sentence."""
    results = [
        (
            "Bounds and thresholds are public.",
            "They are assumed to be chosen without looking at the records, or found by a release that is priced here. "
            "Bounds chosen from the records reveal something about the records that no noise hides.",
        )
    ]
    if any(unit.adjacency is Adjacency.REPLACE for unit in units):
        results.append(
            (
                "The number of records is public.",
                "The guarantee hides whether one record is replaced by another, but the exact number of records is "
                "published. If taking part is itself a secret, use the adjacency add_or_remove.",
            )
        )
    public = sorted({column for unit in units for column in unit.public})
    if public:
        columns = named_columns(public)
        results.append(
            (
                f"{columns[0].upper()}{columns[1:]} {'is' if len(public) == 1 else 'are'} public.",
                "Anyone may know these values of every record, so exact counts of them may be published without noise.",
            )
        )
    if any(unit.person is None for unit in units):
        results.append(
            (
                "One record per person.",
                "The guarantee is for one record. A person with k records is protected k times less: "
                "multiply epsilon by k (rho by k squared; delta grows by more than k).",
            )
        )
    results += [
        (
            "Who is a person.",
            f"Rows with the same value in {unit.person} belong to one person, and at most "
            f"{rows(unit.max_rows_per_person)} of each person are used, drawn at random. A person who appears "
            "under two values counts as two persons and is protected less.",
        )
        for unit in dict.fromkeys(units)
        if unit.person is not None
    ]
    return [
        *results,
        (
            "Facts about everyone.",
            "If a whole population shares a property, these figures show it, and it can be inferred for each member, "
            "whether or not that member's record was used.",
        ),
        (
            "What others already know.",
            "The guarantee limits what this page adds to what others already know about any one person. Families "
            "and other groups with related records are protected only as several records are.",
        ),
        (
            "Releases add up.",
            "Every further release from the same records costs privacy again. Reading more values off a curve that "
            "is already released costs nothing.",
        ),
        (
            "The records themselves.",
            "Noise protects what is published. Access to the records, and to copies of them, must be protected by "
            "other means.",
        ),
    ]
