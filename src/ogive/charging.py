"""What an account is charged for a measurement: what was granted, or the loss where that composes better."""

from __future__ import annotations

from ogive.accounting import as_concentrated, at_least, filled, gaussian_rho
from ogive.privacy import ApproxDP, Charge, GaussianDP, Loss, Privacy, PureDP
from ogive.queries import LinearQuery, Query


def charge_for(
    privacy: Privacy, loss: Loss, query: Query, *, announced: Loss | None = None, before: Charge | None = None
) -> Charge:
    """The charge of a release so far.

    Args:
        privacy: What was granted.
        loss: Of all measurements so far, that of the query included.
        query: Asks for the measurement.
        announced: What all measurements together will cost, where the statistic said so.
        before: What was charged for the measurements before; None for the first.
    """
    # what was granted is charged, so that budgets stay round numbers; where the mechanism's loss is of
    # another type it is the stronger statement and composes better
    if isinstance(loss, ApproxDP) or type(loss) is type(privacy):
        return privacy
    if not isinstance(privacy, ApproxDP):
        return privacy if isinstance(loss, GaussianDP) else loss
    if announced is not None:  # all of them are pure, or they add up in zCDP
        if isinstance(announced, PureDP):
            return PureDP(privacy.epsilon)
        whole = gaussian_rho(privacy)
        if not isinstance(announced, GaussianDP) or as_concentrated(announced).rho <= whole.rho:
            return whole
        return filled(privacy, announced)  # of a subset more rho, within the exact delta of Gaussian noise
    # a first measurement is charged as all that may follow it, so that whoever asks in rounds has enough
    # for the last one, whatever others spend meanwhile
    if before is not None and at_least(before, loss):
        return before
    match loss:
        case PureDP():
            return PureDP(privacy.epsilon)
        case GaussianDP():
            return filled(privacy, loss)
    if before is None:
        return loss if isinstance(query, LinearQuery) else gaussian_rho(privacy)
    earlier = as_concentrated(before) if isinstance(before, PureDP) else loss
    return max(earlier, loss, key=lambda each: each.rho)
