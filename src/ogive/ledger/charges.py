"""What was charged to a data set and its parts, and what somebody in it may still lose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ogive.accounting import compose, fits, remaining
from ogive.accounting.composition import sum_rho
from ogive.errors import LedgerError, ParameterError, plain
from ogive.ledger.entries import WHOLE
from ogive.privacy import ApproxDP, Privacy, PureDP, ZeroConcentratedDP
from ogive.privacy import Charge as Price


@dataclass(frozen=True)
class Charge:
    """One spend, or several alike, as far as composition cares.

    Fields:
        number: Of the spend, or of the first of them; 0 for one that is not booked.
        part: Where it counts.
        first: What it was charged, or was said to come to perhaps, before any answer.
        now: What it is charged now.
        times: How many there are.
    """

    number: int
    part: str
    first: Price
    now: Price
    times: int = 1


class Charges:
    """What was charged to a data set: to all of it and to each declared part.

    Equal charges are counted together, in the order in which the first of each was made; only the very first one's
    place matters. A person belongs to one part for good, so what they lose is what the whole and their part were
    charged.
    """

    def __init__(self, charges: Iterable[Charge]) -> None:
        self._charges = tuple(charges)

    def plus(self, part: str, charge: Price, *, first: Price) -> Charges:
        """These and one more, which may come to `first`."""
        return Charges([*self._charges, Charge(0, part, first, charge)])

    def raised(self, number: int, charge: Price) -> Charges:
        """The same charges with one of them raised, which is by itself."""
        if [old.times for old in self._charges if old.number == number] != [1]:
            raise LedgerError("the ledger lost an entry; was it replaced by another file?")
        return Charges(replace(old, now=charge) if old.number == number else old for old in self._charges)

    def sequences(self, part: str) -> list[list[Charge]]:
        """Every sequence of charges that a person has whom a spend on `part` concerns; `WHOLE` concerns everybody.

        `WHOLE` among the parts stands for somebody who is in none.
        """
        parts = {charge.part for charge in self._charges} | {WHOLE} if part == WHOLE else {part}
        return [[charge for charge in self._charges if charge.part in (WHOLE, one)] for one in sorted(parts)]

    def keep(self, limit: Privacy | None, part: str) -> bool:
        """Whether everybody whom a spend on the part concerns stays within the limit."""
        if limit is None:
            return True
        with _sums():
            return all(
                fits(limit, _now(sequence), first=sequence[0].first) for sequence in self.sequences(part) if sequence
            )

    def remaining(self, limit: Privacy, part: str) -> Privacy | None:
        """The largest guarantee that a release on the part may still be granted, or None."""
        with _sums():
            found = [
                remaining(limit, _now(sequence), first=sequence[0].first if sequence else None)
                for sequence in self.sequences(part)
            ]
        least = found[0]
        for other in found[1:]:
            least = _smaller(least, other)
        return least

    def spent(self, limit: Privacy | None, part: str) -> Privacy | None:
        """What somebody has lost at most, as a guarantee of the limit's type; None before any spend."""
        with _sums():
            return self._spent(limit, part)

    def _spent(self, limit: Privacy | None, part: str) -> Privacy | None:
        sequences = [_now(sequence) for sequence in self.sequences(part) if sequence]
        if not sequences:
            return None
        if isinstance(limit, ZeroConcentratedDP):
            return max((ZeroConcentratedDP(sum_rho(sequence)) for sequence in sequences), key=_size)
        delta = limit.delta if isinstance(limit, ApproxDP) else None
        totals = [compose(sequence, delta=delta) for sequence in sequences]
        deltas = [total.delta for total in totals if isinstance(total, ApproxDP)]
        if deltas:
            most: Privacy = max((compose(sequence, delta=max(deltas)) for sequence in sequences), key=_size)
            # where rounding says more than the limit, which all of it keeps, the limit says it better
            over = isinstance(limit, ApproxDP) and _size(most) > limit.epsilon and max(deltas) == limit.delta
            return limit if over and self.keep(limit, part) else most
        if any(isinstance(total, ZeroConcentratedDP) for total in totals):
            return max((ZeroConcentratedDP(sum_rho(sequence)) for sequence in sequences), key=_size)
        return max(totals, key=_size)


@contextmanager
def _sums() -> Iterator[None]:
    """Turn the error of charges that add up to no guarantee into one of the ledger."""
    try:
        yield
    except ParameterError as problem:
        raise LedgerError(
            f"the ledger's charges add up to no guarantee: {plain(problem)}; one of them is extremely large or "
            "small, or the ledger is damaged: restore it from a backup"
        ) from None


def _now(charges: list[Charge]) -> list[Price]:
    found: list[Price] = []
    for charge in charges:
        found += [charge.now] * charge.times
    return found


def _size(privacy: Privacy) -> Any:
    return privacy.rho if isinstance(privacy, ZeroConcentratedDP) else privacy.epsilon


def _smaller(one: Privacy | None, other: Privacy | None) -> Privacy | None:
    if one is None or other is None:
        return None
    if type(one) is type(other):
        return min(one, other, key=_size)
    # where one of them leaves room for pure releases only, so do both
    return PureDP(min(_size(one), _size(other)))
