"""What several releases of the same people cost together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ogive.accounting import epsilon_of_gaussian, group_loss, total_loss
from ogive.accounting.rounding import rounded_up
from ogive.errors import ParameterError
from ogive.html.words import implied
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, Privacy, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.provenance import Provenance

_ALMOST_ONE = 1 - Fraction(1, 10**9)
_ROUNDED_UP = 1 + Fraction(1, 10**9)


@dataclass(frozen=True)
class Total:
    """Guarantees that hold together for all releases of one unit.

    Fields:
        losses: One guarantee, or two of different types that both hold.
        unit: Whose data they hide.
        releases: How many distinct releases they are for.
        mixed: Whether some of them hide a record added or removed, and others one replaced.
    """

    losses: tuple[Privacy, ...]
    unit: PrivacyUnit
    releases: int
    mixed: bool = False

    @property
    def together(self) -> Privacy:
        """One guarantee for everything; of two types side by side, an approximate one that both imply."""
        if len(self.losses) == 1:
            return self.losses[0]
        pairs = [implied(loss) for loss in self.losses]
        delta = min(sum((delta for _, delta in pairs), Fraction(0)), _ALMOST_ONE)
        return ApproxDP(sum((epsilon for epsilon, _ in pairs), Fraction(0)), delta)


def totals(provenances: Sequence[Provenance]) -> tuple[Total, ...]:
    """What distinct releases of one data set cost together, for each kind of unit.

    A release that is shown twice, for example as a curve and as its quantiles, counts once. Pure and
    concentrated guarantees add up to one; approximate ones take pure ones in. Approximate ones that
    Gaussian noise keeps add up as the noise does, which is less than their sum; it holds for releases that
    were planned beforehand. Concentrated and approximate guarantees side by side stay two, which hold
    together. Where adjacencies are mixed, the total is for a replacement. A guarantee for a record says
    nothing about a person with many, so totals for records and for persons stay apart.
    """
    distinct = {entry.release_id: entry for entry in provenances if entry.privacy is not None}
    groups: dict[tuple[str | None, Adjacency | None], list[Provenance]] = {}
    several = {entry.person for entry in distinct.values() if entry.max_rows_per_person > 1}
    for entry in distinct.values():
        # nobody with several rows can be replaced by another, so there is no adjacency that both would hold for
        apart = entry.adjacency if entry.person in several else None
        groups.setdefault((entry.person, apart), []).append(entry)
    return tuple(_total(entries) for entries in groups.values())


def _total(entries: Sequence[Provenance]) -> Total:
    adjacencies = {entry.adjacency for entry in entries}
    mixed = len(adjacencies) > 1
    adjacency = Adjacency.REPLACE if mixed else adjacencies.pop()
    paid = [_paid(entry, adjacency) for entry in entries]
    rows = max(entry.max_rows_per_person for entry in entries)
    # what one of them takes as public the others do not hide from who sees all of them
    public = tuple(name for entry in entries for name in entry.public)
    unit = PrivacyUnit(adjacency, entries[0].person, rows, public)
    return Total(_composed(paid), unit, len(entries), mixed)


def _paid(entry: Provenance, adjacency: Adjacency) -> tuple[Privacy, GaussianDP | None]:
    """The guarantee of a release and its loss, where that is of Gaussian noise, for an adjacency."""
    granted = entry.privacy
    assert granted is not None, "releases without privacy were left out"
    loss = entry.price if isinstance(entry.price, GaussianDP) else None
    if entry.adjacency is adjacency:
        return granted, loss
    return as_replacement(granted), None if loss is None else group_loss(loss, 2)


def _composed(paid: Sequence[tuple[Privacy, GaussianDP | None]]) -> tuple[Privacy, ...]:
    approximate = [(granted, loss) for granted, loss in paid if isinstance(granted, ApproxDP)]
    others = [granted for granted, _ in paid if not isinstance(granted, ApproxDP)]
    if not approximate:
        return (total_loss(others),)
    pure = sum((loss.epsilon for loss in others if isinstance(loss, PureDP)), Fraction(0))
    concentrated = [loss for loss in others if isinstance(loss, ZeroConcentratedDP)]
    slack = min(sum((granted.delta for granted, _ in approximate), Fraction(0)), _ALMOST_ONE)
    plain = [granted.epsilon for granted, loss in approximate if loss is None]
    gaussian = _gaussian([(granted, loss) for granted, loss in approximate if loss is not None])
    together = ApproxDP(sum(plain, pure) + gaussian, slack)
    return (together, total_loss(concentrated)) if concentrated else (together,)


def _gaussian(paid: Sequence[tuple[ApproxDP, GaussianDP]]) -> Fraction:
    """The epsilon of guarantees that Gaussian noise keeps, at the sum of their deltas."""
    added = sum((granted.epsilon for granted, _ in paid), Fraction(0))
    delta = sum((granted.delta for granted, _ in paid), Fraction(0))
    if len(paid) < 2 or delta >= 1:
        return added
    total = total_loss([loss for _, loss in paid])
    try:
        return min(added, rounded_up(epsilon_of_gaussian(total, delta)))
    except ParameterError:  # no epsilon goes with so small a delta
        return added


def as_replacement(privacy: Privacy) -> Privacy:
    """What a guarantee for one record added or removed says about one replaced: two such steps."""
    if not isinstance(privacy, ApproxDP):
        return group_loss(privacy, 2)
    growth = 1 + Fraction(math.exp(min(700.0, float(privacy.epsilon)))) * _ROUNDED_UP
    return ApproxDP(2 * privacy.epsilon, min(privacy.delta * growth, _ALMOST_ONE))
