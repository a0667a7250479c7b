"""The loss of several measurements of the same records together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import overload

from ogive.errors import ParameterError, UnsupportedError
from ogive.privacy import ApproxDP, GaussianDP, Loss, PureDP, ZeroConcentratedDP

# relative room for the rounding of floating point, far above its error
_ROOM = Fraction(1, 10**9)
_LARGEST_EXPONENT = 700.0


@overload
def total_loss(losses: Sequence[PureDP | ZeroConcentratedDP]) -> PureDP | ZeroConcentratedDP: ...
@overload
def total_loss(losses: Sequence[Loss]) -> Loss: ...
def total_loss(losses: Sequence[Loss]) -> Loss:
    """Add up losses: of one type in that type, of several in zCDP, with deltas of their own by basic composition.

    Args:
        losses: At least one loss; the measurements may be chosen adaptively.

    Raises:
        UnsupportedError: one has a delta of its own and another is concentrated or Gaussian.
        ParameterError: the deltas add up to 1 or more.

    Source:
        Sequential composition; Bun and Steinke 2016, Lemma 2.3 and Proposition 3.3; Dong, Roth and Su 2022,
        Corollary 3.3.
    """
    pure = [loss for loss in losses if isinstance(loss, PureDP)]
    if len(pure) == len(losses):
        return sum(pure[1:], pure[0])
    gaussian = [loss for loss in losses if isinstance(loss, GaussianDP)]
    if len(gaussian) == len(losses):
        return sum(gaussian[1:], gaussian[0])
    if any(isinstance(loss, ApproxDP) for loss in losses):
        return _with_deltas(losses)
    concentrated = [as_concentrated(loss) for loss in losses]
    return sum(concentrated[1:], concentrated[0])


def _with_deltas(losses: Sequence[Loss]) -> ApproxDP:
    pairs = [_with_delta(loss) for loss in losses]
    return _approximate(
        sum((epsilon for epsilon, _ in pairs), Fraction(0)), sum((own for _, own in pairs), Fraction(0))
    )


def _with_delta(loss: Loss) -> tuple[Fraction, Fraction]:
    match loss:
        case PureDP():
            return loss.epsilon, Fraction(0)
        case ApproxDP():
            return loss.epsilon, loss.delta
        case ZeroConcentratedDP() | GaussianDP():
            kind = "Gaussian" if isinstance(loss, GaussianDP) else "zCDP"
            raise UnsupportedError(
                f"a loss with a delta of its own does not add up with a {kind} one; use pure losses beside it"
            )


def _approximate(epsilon: Fraction, delta: Fraction) -> ApproxDP:
    if delta >= 1:
        raise ParameterError("these losses' deltas add up to 1 or more, which guarantees nothing; use smaller deltas")
    return ApproxDP(epsilon, delta)


def as_concentrated(loss: Loss) -> ZeroConcentratedDP:
    """The zCDP guarantee that a loss implies.

    Raises:
        UnsupportedError: the loss has a delta of its own, which implies none.

    Source:
        Bun and Steinke 2016, Proposition 3.3, for a pure loss.
    """
    match loss:
        case PureDP():
            return ZeroConcentratedDP(loss.epsilon**2 / 2)
        case GaussianDP():
            return loss.concentrated
        case ZeroConcentratedDP():
            return loss
        case ApproxDP():
            raise UnsupportedError("a loss with a delta of its own implies no zCDP guarantee; grant an `ApproxDP` one")


@overload
def larger_loss(
    one: PureDP | ZeroConcentratedDP, other: PureDP | ZeroConcentratedDP
) -> PureDP | ZeroConcentratedDP: ...
@overload
def larger_loss(one: Loss, other: Loss) -> Loss: ...
def larger_loss(one: Loss, other: Loss) -> Loss:
    """The larger of two losses: either may happen, never both.

    Both are of one type, or pure and with a delta of its own; of two numbers that a loss has, the larger of each.

    Raises:
        UnsupportedError: one has a delta of its own and the other is concentrated or Gaussian.
    """
    if isinstance(one, PureDP) and isinstance(other, PureDP):
        return max(one, other, key=lambda loss: loss.epsilon)
    if isinstance(one, GaussianDP) and isinstance(other, GaussianDP):
        return GaussianDP(max(one.mu_squared, other.mu_squared), max(one.distance, other.distance))
    if isinstance(one, ZeroConcentratedDP) and isinstance(other, ZeroConcentratedDP):
        return max(one, other, key=lambda loss: loss.rho)
    (epsilon, delta), (other_epsilon, other_delta) = _with_delta(one), _with_delta(other)
    return ApproxDP(max(epsilon, other_epsilon), max(delta, other_delta))


@overload
def group_loss(loss: PureDP | ZeroConcentratedDP, size: int) -> PureDP | ZeroConcentratedDP: ...
@overload
def group_loss(loss: GaussianDP, size: int) -> GaussianDP: ...
@overload
def group_loss(loss: Loss, size: int) -> Loss: ...
def group_loss(loss: Loss, size: int) -> Loss:
    """The loss for `size` records of one person from the loss for one record.

    The distance of a mechanism from an ideal one is the same whoever asks, so it does not grow. A delta grows by
    1 + e^epsilon + ... + e^((size - 1) epsilon), here rounded up.

    Raises:
        ParameterError: a delta grows to 1 or more.

    Source:
        Group privacy; Bun and Steinke 2016, Proposition 1.9 for zCDP; Dong, Roth and Su 2022, Theorem 2.14.
    """
    match loss:
        case PureDP():
            return PureDP(loss.epsilon * size)
        case GaussianDP():
            return GaussianDP(loss.mu_squared * size * size, loss.distance)
        case ZeroConcentratedDP():
            return ZeroConcentratedDP(loss.rho * size * size)
        case ApproxDP():
            return _approximate(loss.epsilon * size, loss.delta * _deltas(float(loss.epsilon), size))


def _deltas(epsilon: float, size: int) -> Fraction:
    """(e^(size epsilon) - 1) / (e^epsilon - 1), rounded up; anything where that is too large to matter."""
    if size == 1:
        return Fraction(1)
    exponent = (size - 1) * epsilon + _log_complement(size * epsilon) - _log_complement(epsilon)
    return Fraction(math.exp(min(exponent, _LARGEST_EXPONENT))) * (1 + _ROOM)


def _log_complement(exponent: float) -> float:
    """ln(1 - e^-exponent)."""
    return math.log(-math.expm1(-exponent))


def loss_per_row(loss: PureDP | ZeroConcentratedDP, size: int) -> PureDP | ZeroConcentratedDP:
    """The loss for one record that `group_loss` takes to `loss`."""
    if isinstance(loss, PureDP):
        return PureDP(loss.epsilon / size)
    return ZeroConcentratedDP(loss.rho / (size * size))
