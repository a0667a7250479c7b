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
