"""How teachers' votes become a label: five aggregators, as frozen parameters.

Every teacher casts one vote per query; an aggregator returns a noisy label, or -1 where it refuses. Parameters are in
votes and exact: a float is read as the decimal it prints as.

A threshold above the number of teachers is allowed: no count reaches it, so that a query passes by noise alone and
nearly all are refused. Where everything shall be answered, use an aggregator without a threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ogive.errors import ParameterError
from ogive.privacy import Rational, exact, number_text


@dataclass(frozen=True, init=False)
class LNMax:
    """The label with the most votes after Laplace noise; never refuses.

    Args:
        scale: Scale b of the noise in votes, above 0; the papers' gamma is its inverse.

    Privacy: 2 / scale pure differential privacy per answer, replacing one teacher.

    Source: Papernot, Abadi, Erlingsson, Goodfellow and Talwar 2017.
    """

    name: ClassVar[str] = "lnmax"
    scale: Fraction

    def __init__(self, scale: Rational) -> None:
        object.__setattr__(self, "scale", _positive(scale, "scale"))


@dataclass(frozen=True, init=False)
class GNMax:
    """The label with the most votes after Gaussian noise; never refuses.

    Args:
        sigma: Standard deviation of the noise of every count, in votes, above 0.

    Privacy: order / sigma^2 Renyi differential privacy of every order per answer, replacing one teacher.

    Source: Papernot, Song, Mironov, Raghunathan, Talwar and Erlingsson 2018, section 3.
    """

    name: ClassVar[str] = "gnmax"
    sigma: Fraction

    def __init__(self, sigma: Rational) -> None:
        object.__setattr__(self, "sigma", _positive(sigma, "sigma"))


@dataclass(frozen=True, init=False)
class ConfidentGNMax:
    """GNMax where the largest count plus noise reaches a threshold; else refuses.

    Args:
        threshold: Votes that the largest count must reach with noise; 0.6 to 0.8 of the teachers as a rule.
        sigma_1: Standard deviation of the check's noise, in votes, above 0.
        sigma_2: Standard deviation of the noise of every count of an answer, in votes, above 0.

    Privacy: order / (2 sigma_1^2) per query and order / sigma_2^2 per answer, Renyi, replacing one teacher.

    Source: Papernot and others 2018, algorithm 1.
    """

    name: ClassVar[str] = "confident"
    threshold: Fraction
    sigma_1: Fraction
    sigma_2: Fraction

    def __init__(self, threshold: Rational, sigma_1: Rational, sigma_2: Rational) -> None:
        object.__setattr__(self, "threshold", exact(threshold, "threshold"))
        object.__setattr__(self, "sigma_1", _positive(sigma_1, "sigma_1"))
        object.__setattr__(self, "sigma_2", _positive(sigma_2, "sigma_2"))


@dataclass(frozen=True, init=False)
class InteractiveGNMax:
    """GNMax where the teachers disagree with the student; the student's own label where it is sure; else refuses.

    The check takes the largest excess of votes over what the student expects, n_j - M p_j, rounded half up.

    Args:
        threshold: Votes that the largest excess must reach with noise.
        sigma_1: Standard deviation of the check's noise, in votes, above 0.
        sigma_2: Standard deviation of the noise of every count of an answer, in votes, above 0.
        confidence: The student is reinforced where its largest probability is above this; strictly between 0 and 1.

    Privacy: As of `ConfidentGNMax`; the student is public, so that to reinforce it costs nothing more.

    Source: Papernot and others 2018, algorithm 2.
    """

    name: ClassVar[str] = "interactive"
    threshold: Fraction
    sigma_1: Fraction
    sigma_2: Fraction
    confidence: Fraction

    def __init__(self, threshold: Rational, sigma_1: Rational, sigma_2: Rational, confidence: Rational) -> None:
        object.__setattr__(self, "threshold", exact(threshold, "threshold"))
        object.__setattr__(self, "sigma_1", _positive(sigma_1, "sigma_1"))
        object.__setattr__(self, "sigma_2", _positive(sigma_2, "sigma_2"))
        sure = exact(confidence, "confidence")
        if not 0 < sure < 1:
            raise ParameterError(f"confidence must be strictly between 0 and 1, got {number_text(sure)}")
        object.__setattr__(self, "confidence", sure)


@dataclass(frozen=True, init=False)
class LargestMargins:
    """Opens one noisy histogram per query, and labels the queries whose noisy margin is largest.

    What is opened is a sum, so that votes may stay with their teachers. The margin, the largest noisy count less the
    second largest, keeps the easy queries: the labels are of a part of the queries that is not like the rest.

    Args:
        sigma: Standard deviation of the noise of every count, in votes, above 0.
        keep: How many queries are labelled, at least 1; all, where there are fewer.

    Privacy: order / sigma^2 per query, Renyi, replacing one teacher, whatever is kept.
    """

    name: ClassVar[str] = "margins"
    sigma: Fraction
    keep: int

    def __init__(self, sigma: Rational, keep: int) -> None:
        object.__setattr__(self, "sigma", _positive(sigma, "sigma"))
        if isinstance(keep, bool) or not isinstance(keep, int) or keep < 1:
            raise ParameterError(f"keep must be a whole number of queries, at least 1, got {keep!r}")
        object.__setattr__(self, "keep", keep)


Aggregator = LNMax | GNMax | ConfidentGNMax | InteractiveGNMax | LargestMargins


def _positive(value: Rational, name: str) -> Fraction:
    number = exact(value, name)
    if number <= 0:
        raise ParameterError(f"{name} must be above 0, got {number_text(number)}")
    return number
