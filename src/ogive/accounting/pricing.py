"""The loss of several measurements of the same records together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from ogive.privacy import GaussianDP, Loss, PureDP, ZeroConcentratedDP


@overload
def total_loss(losses: Sequence[PureDP | ZeroConcentratedDP]) -> PureDP | ZeroConcentratedDP: ...
@overload
def total_loss(losses: Sequence[Loss]) -> Loss: ...
def total_loss(losses: Sequence[Loss]) -> Loss:
    """Add up losses: of one type in that type, of several in zCDP.

    Args:
        losses: At least one loss; the measurements may be chosen adaptively.

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
    concentrated = [as_concentrated(loss) for loss in losses]
    return sum(concentrated[1:], concentrated[0])


def as_concentrated(loss: Loss) -> ZeroConcentratedDP:
    """The zCDP guarantee that a loss implies.

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


@overload
def larger_loss(
    one: PureDP | ZeroConcentratedDP, other: PureDP | ZeroConcentratedDP
) -> PureDP | ZeroConcentratedDP: ...
@overload
def larger_loss(one: Loss, other: Loss) -> Loss: ...
def larger_loss(one: Loss, other: Loss) -> Loss:
    """The larger of two losses of one type: either may happen, never both."""
    if isinstance(one, PureDP) and isinstance(other, PureDP):
        return max(one, other, key=lambda loss: loss.epsilon)
    if isinstance(one, GaussianDP) and isinstance(other, GaussianDP):
        return GaussianDP(max(one.mu_squared, other.mu_squared), max(one.distance, other.distance))
    assert isinstance(one, ZeroConcentratedDP)
    assert isinstance(other, ZeroConcentratedDP)
    return max(one, other, key=lambda loss: loss.rho)


@overload
def group_loss(loss: PureDP | ZeroConcentratedDP, size: int) -> PureDP | ZeroConcentratedDP: ...
@overload
def group_loss(loss: Loss, size: int) -> Loss: ...
def group_loss(loss: Loss, size: int) -> Loss:
    """The loss for `size` records of one person from the loss for one record.

    The distance of a mechanism from an ideal one is the same whoever asks, so it does not grow.

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


def loss_per_row(loss: PureDP | ZeroConcentratedDP, size: int) -> PureDP | ZeroConcentratedDP:
    """The loss for one record that `group_loss` takes to `loss`."""
    if isinstance(loss, PureDP):
        return PureDP(loss.epsilon / size)
    return ZeroConcentratedDP(loss.rho / (size * size))
