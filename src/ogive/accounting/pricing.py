"""The loss of several measurements of the same records together."""

from __future__ import annotations

from collections.abc import Sequence

from ogive.privacy import PureDP, ZeroConcentratedDP


def total_loss(losses: Sequence[PureDP | ZeroConcentratedDP]) -> PureDP | ZeroConcentratedDP:
    """Add up losses; in zCDP as soon as one of them is.

    Args:
        losses: At least one loss; the measurements may be chosen adaptively.

    Source:
        Sequential composition; Bun and Steinke 2016, Lemma 2.3 and Proposition 3.3.
    """
    pure = [loss for loss in losses if isinstance(loss, PureDP)]
    concentrated = [loss for loss in losses if isinstance(loss, ZeroConcentratedDP)]
    if not concentrated:
        return sum(pure[1:], pure[0])
    as_rho = [ZeroConcentratedDP(loss.epsilon**2 / 2) for loss in pure]
    rest = concentrated[1:] + as_rho
    return sum(rest, concentrated[0])


def larger_loss(one: PureDP | ZeroConcentratedDP, other: PureDP | ZeroConcentratedDP) -> PureDP | ZeroConcentratedDP:
    """The larger of two losses of one type: either may happen, never both."""
    if isinstance(one, PureDP) and isinstance(other, PureDP):
        return max(one, other, key=lambda loss: loss.epsilon)
    assert isinstance(one, ZeroConcentratedDP)
    assert isinstance(other, ZeroConcentratedDP)
    return max(one, other, key=lambda loss: loss.rho)


def group_loss(loss: PureDP | ZeroConcentratedDP, size: int) -> PureDP | ZeroConcentratedDP:
    """The loss for `size` records of one person from the loss for one record.

    Source:
        Group privacy; Bun and Steinke 2016, Proposition 1.9 for zCDP.
    """
    if isinstance(loss, PureDP):
        return PureDP(loss.epsilon * size)
    return ZeroConcentratedDP(loss.rho * size * size)


def loss_per_row(loss: PureDP | ZeroConcentratedDP, size: int) -> PureDP | ZeroConcentratedDP:
    """The loss for one record that `group_loss` takes to `loss`."""
    if isinstance(loss, PureDP):
        return PureDP(loss.epsilon / size)
    return ZeroConcentratedDP(loss.rho / (size * size))
