"""A data-dependent cost at one order together with its smooth sensitivity: what `sanitize` publishes, before noise.

Two forms, each the sum over queries of one function of the votes:

- joint: check and answer as one mechanism. It does not depend on which queries were answered.
- additive: the checks at the largest exact cost that any votes have, which is public, and the answers that were
  given at theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ogive.core.arrays import Bool, Float64, Int64
from ogive.core.checks import among, refuse_masked
from ogive.errors import ParameterError, UnsupportedError
from ogive.pate.aggregators import Aggregator, ConfidentGNMax, GNMax, InteractiveGNMax, answer_sigma, check_aggregator
from ogive.pate.costs.answers import GnmaxBound, Noise, check_probabilities, largest_excess, logq_gnmax, unit_of
from ogive.pate.costs.threshold import check_tails, joint, sup_threshold
from ogive.pate.sensitivity import local_sensitivity
from ogive.pate.sensitivity.local_sensitivity import Cells, Rivals

# --- Smooth sensitivity of a sum over queries
#
# One teacher may change its vote on every query, so the local sensitivities add; each is the largest within a distance
# of AT MOST d, for a list of values at distance exactly d is not smooth once lists are added.
#
# Source: Papernot et al. 2018, Theorem 7.


class Smoothed(NamedTuple):
    """A smooth bound on local sensitivity, and the distance at which its maximum is taken. Both are private."""

    value: float
    distance: int


def smooth_sensitivity_sum(profile: Float64, smoothness: float) -> Smoothed:
    """The largest of e^(-b d) profile[d].

    Privacy:
        The number itself is private.
    """
    weighted = np.exp(-smoothness * np.arange(profile.size)) * profile
    distance = int(np.argmax(weighted))
    return Smoothed(float(weighted[distance]), distance)


# --- Sums over queries of local sensitivities within d changed teachers, in bounded memory
#
# Queries with the same sorted votes are worked out once, and profiles are added as they come: never are there queries x
# teachers x classes, nor all queries x teachers, at a time.

Method = Literal["auto", "algorithms", "ranges"]

_ENTRIES = 1 << 20


@dataclass(frozen=True)
class Profile:
    """How much a cost may differ at a neighbour, within d changed teachers.

    Fields:
        values: Largest local sensitivity for d = 0, 1, ... as far as it grows, M-1, or M for "boxes"; summed over
            queries; private.
        method: "algorithms" (3 to 5), "ranges" or "boxes"; chosen by public numbers.
        reason: Why the range maximum was used; None where it was requested or Algorithms 3 to 5 hold.
    """

    values: Float64
    method: str
    reason: str | None = None


def answer_profile(
    votes: Int64,
    bound: GnmaxBound,
    *,
    noise: Noise = "continuous",
    method: Method = "auto",
    weights: Float64 | None = None,
) -> Profile:
    """Profile of the sum of the costs of GNMax answers to queries with these votes.

    "auto" uses Algorithms 3 to 5 where they hold, else the range maximum; "algorithms" uses them wherever they end, for
    comparison. Weights that are pass chances are for planning only, as they depend on votes too.
    """
    among(method, "method", ("auto", "algorithms", "ranges"))
    teachers, classes = int(votes[0].sum()), votes.shape[1]
    rivals = Rivals.of(bound.sigma, teachers=teachers, classes=classes, tie_gap=unit_of(noise))
    marks = local_sensitivity.landmarks(bound, classes)
    total = np.zeros(teachers)
    lowest = rivals.log_unanimous(classes)
    if not marks.reached(lowest):
        return Profile(total, "algorithms", marks.unmet(lowest))
    reason = marks.unmet(lowest) if method == "auto" else None
    if method == "algorithms" or (method == "auto" and reason is None):
        for part, times in _distinct(local_sensitivity.sorted_votes(votes), teachers, weights):
            total += times @ local_sensitivity.algorithm_profiles(part, rivals, marks)
        return Profile(total, "algorithms")
    cells = Cells.of(rivals, classes=classes)
    sensitivities = local_sensitivity.cell_sensitivities(bound, cells, classes=classes)
    for part, times in _distinct(local_sensitivity.sorted_votes(votes), teachers, weights):
        total += times @ local_sensitivity.range_profiles(part, rivals, cells, sensitivities)
    return Profile(total, "ranges", reason)


def joint_profile(
    votes: Int64,
    values: Int64,
    bound: GnmaxBound,
    *,
    log_pass: Float64,
    log_refuse: Float64,
    noise: Noise = "continuous",
) -> Profile:
    """Profile of the sum of the joint costs of a check and an answer.

    `values` are the check's for every query, in [0, teachers]; `log_pass` and `log_refuse` are as for
    `box_sensitivities`.
    """
    teachers, classes = int(votes[0].sum()), votes.shape[1]
    rivals = Rivals.of(bound.sigma, teachers=teachers, classes=classes, tie_gap=unit_of(noise))
    cells = Cells.of(rivals, classes=classes, count=local_sensitivity.BOX_CELLS)
    table = local_sensitivity.box_sensitivities(bound, cells, log_pass, log_refuse, classes=classes)
    total = np.zeros(teachers + 1)
    with_values = np.column_stack([local_sensitivity.sorted_votes(votes), values])
    for part, times in _distinct(with_values, teachers, None):
        local_sensitivity.add_box_profiles(
            total, np.ascontiguousarray(part[:, :-1]), part[:, -1], times, rivals=rivals, cells=cells, table=table
        )
    return Profile(total, "boxes")


def _distinct(rows: Int64, teachers: int, weights: Float64 | None) -> Iterator[tuple[Int64, Float64]]:
    """Different rows with the sum of their weights, as many at a time as profiles fit into memory."""
    kinds, place = np.unique(rows, axis=0, return_inverse=True)
    times = np.bincount(place.ravel(), weights=weights, minlength=kinds.shape[0]).astype(np.float64)
    step = max(1, _ENTRIES // teachers)
    for start in range(0, kinds.shape[0], step):
        yield kinds[start : start + step], times[start : start + step]


# --- The cost of a run and its smooth sensitivity

Form = Literal["joint", "additive"]
FORMS: tuple[Form, ...] = ("joint", "additive")


@dataclass(frozen=True)
class SmoothCost:
    """A cost and its smooth sensitivity. It is as PRIVATE as the votes: publish the result of `sanitize` instead.

    Fields:
        cost: Renyi cost at the order.
        sensitivity: Smooth sensitivity of the cost.
        distance: Number of changed teachers at which the maximum is attained.
        method: "algorithms", "ranges" or "boxes".
        reason: Reason for not using Algorithms 3 to 5, if they were considered.
    """

    cost: float
    sensitivity: float
    distance: int
    method: str
    reason: str | None


def smooth_cost(
    votes: Int64,
    aggregator: Aggregator,
    *,
    order: float,
    smoothness: float,
    form: Form = "joint",
    answered: Bool | None = None,
    probabilities: Float64 | None = None,
    noise: Noise = "continuous",
) -> SmoothCost:
    """The cost of a run at one order, and its smooth sensitivity.

    Args:
        votes: Checked counts, shape (queries, classes).
        aggregator: The aggregator, one of the GNMax family.
        order: Renyi order.
        smoothness: b.
        form: "joint" or "additive".
        answered: Additive form with a check only: whether the teachers answered each query, shape (queries,).
        probabilities: Joint form of `InteractiveGNMax` only: predictions of the student, fixed in advance.
        noise: "continuous", "discrete" or "scaled".

    Raises:
        ParameterError: an argument is out of range or incompatible with the others.
        DataError: the probabilities cannot be used.
        UnsupportedError: the aggregator's cost has no smooth sensitivity.

    Privacy:
        Private.
    """
    check_aggregator(aggregator)
    sigma = _answer_sigma(aggregator)
    _check_form(votes, aggregator, form, answered, probabilities)
    bound = GnmaxBound(sigma, order)
    answers = bound.beta(logq_gnmax(votes, sigma, noise=noise))
    if isinstance(aggregator, ConfidentGNMax | InteractiveGNMax) and form == "joint":
        values = votes.max(axis=1)
        if isinstance(aggregator, InteractiveGNMax):
            assert probabilities is not None
            scores = check_probabilities(probabilities, votes.shape)
            values = largest_excess(votes, scores).astype(np.int64)
        cost, profile = _joint(votes, values, aggregator, bound, answers, noise)
    else:
        some = np.ones(votes.shape[0], np.bool_) if answered is None else answered
        cost = float(answers[some].sum()) + _checks(votes, aggregator, order, noise)
        profile = answer_profile(votes[some], bound, noise=noise) if some.any() else Profile(np.zeros(1), "algorithms")
    smooth = smooth_sensitivity_sum(profile.values, smoothness)
    return SmoothCost(cost, smooth.value, smooth.distance, profile.method, profile.reason)


def _joint(
    votes: Int64,
    values: Int64,
    aggregator: ConfidentGNMax | InteractiveGNMax,
    bound: GnmaxBound,
    answers: Float64,
    noise: Noise,
) -> tuple[float, Profile]:
    threshold, sigma_1 = float(aggregator.threshold), float(aggregator.sigma_1)
    teachers = int(votes[0].sum())
    # scores that sum to 1 only nearly may lead out of the range
    values = np.clip(values, 0, teachers)
    costs = joint(values, threshold, sigma_1, answers[:, None], [bound.order], noise=noise)
    log_pass, log_refuse = check_tails(np.arange(-1, teachers + 2), threshold, sigma_1, noise=noise)
    profile = joint_profile(votes, values, bound, log_pass=log_pass, log_refuse=log_refuse, noise=noise)
    return float(costs.sum()), profile


def _checks(votes: Int64, aggregator: Aggregator, order: float, noise: Noise) -> float:
    """What the checks cost at most, whatever the votes."""
    if not isinstance(aggregator, ConfidentGNMax | InteractiveGNMax):
        return 0.0
    threshold, sigma_1 = float(aggregator.threshold), float(aggregator.sigma_1)
    teachers = int(votes[0].sum())
    largest = float(sup_threshold(threshold, sigma_1, [order], teachers=teachers, noise=noise)[0])
    return float(votes.shape[0] * largest)


def _answer_sigma(aggregator: Aggregator) -> float:
    if isinstance(aggregator, GNMax | ConfidentGNMax | InteractiveGNMax):
        return float(answer_sigma(aggregator))
    raise UnsupportedError(
        f"no smooth sensitivity is known for the cost of {type(aggregator).__name__}; "
        "publish its data-independent cost (`privacy_cost` with mode independent)"
    )


def _check_form(
    votes: Int64, aggregator: Aggregator, form: str, answered: Bool | None, probabilities: Float64 | None
) -> None:
    among(form, "form", FORMS)
    for array in (votes, answered, probabilities):
        refuse_masked(array)
    checked = not isinstance(aggregator, GNMax)
    if form == "additive" and checked:
        if answered is None:
            raise ParameterError("the additive form needs answered: which queries the teachers answered")
        if answered.shape != votes.shape[:1]:
            raise ParameterError(f"`answered` must have one truth value for each of the {votes.shape[0]} queries")
    elif answered is not None:
        raise ParameterError("answered goes with the additive form of an aggregator that may refuse")
    scored = isinstance(aggregator, InteractiveGNMax) and form == "joint"
    if scored and probabilities is None:
        raise ParameterError("the joint form of InteractiveGNMax needs the student's probabilities")
    if not scored and probabilities is not None:
        raise ParameterError("probabilities go with the joint form of InteractiveGNMax")
