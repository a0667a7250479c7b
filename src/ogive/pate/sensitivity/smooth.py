"""A data-dependent cost at one order together with its smooth sensitivity: what `sanitize` publishes, before noise.

Two forms, each the sum over queries of one function of the votes:

- joint: check and answer as one mechanism. It does not depend on which queries were answered.
- additive: the checks at the largest exact cost that any votes have, which is public, and the answers that were
  given at theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ogive.arrays import Bool, Float64, Int64
from ogive.checks import among, refuse_masked
from ogive.errors import ParameterError, UnsupportedError
from ogive.pate.aggregators import Aggregator, ConfidentGNMax, GNMax, InteractiveGNMax, check_aggregator
from ogive.pate.costs.confident import joint
from ogive.pate.costs.gnmax import GnmaxBound
from ogive.pate.costs.losing import Noise, logq_gnmax
from ogive.pate.costs.scores import check_probabilities, largest_excess
from ogive.pate.costs.threshold import check_tails, sup_threshold
from ogive.pate.sensitivity.sums import smooth_sensitivity_sum
from ogive.pate.sensitivity.totals import Profile, answer_profile, joint_profile

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
        kept = np.ones(votes.shape[0], np.bool_) if answered is None else answered
        cost = float(answers[kept].sum()) + _checks(votes, aggregator, order, noise)
        profile = answer_profile(votes[kept], bound, noise=noise) if kept.any() else Profile(np.zeros(1), "algorithms")
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
    if isinstance(aggregator, GNMax):
        return float(aggregator.sigma)
    if isinstance(aggregator, ConfidentGNMax | InteractiveGNMax):
        return float(aggregator.sigma_2)
    raise UnsupportedError(
        f"no smooth sensitivity is known for the cost of {type(aggregator).__name__}; "
        "publish its data-independent cost (`privacy_cost` with mode independent)"
    )


def _check_form(
    votes: Int64,
    aggregator: Aggregator,
    form: str,
    answered: Bool | None,
    probabilities: Float64 | None,
) -> None:
    """Refuse what does not go together."""
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
