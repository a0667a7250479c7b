"""What may be said of a curve that was made of several releases of different people."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from fractions import Fraction

from ogive.accounting import as_concentrated, epsilon_of, epsilon_of_gaussian, larger_loss
from ogive.privacy import ApproxDP, Charge, GaussianDP, Privacy, PureDP
from ogive.provenance import Provenance
from ogive.statistics.curve.merging.batches import Batch

DISJOINT = " Each person is in one batch only; somebody in several loses what these cost together."
_ID_DIGITS = 32


def merged_provenance(
    sources: Sequence[Provenance],
    batches: Sequence[Batch],
    total: int | None,
    weights: tuple[Fraction, ...] | None,
) -> Provenance:
    """The provenance of a sum: the guarantee of the most expensive batch, and the assumption that this takes.

    Args:
        sources: Of the curves that are merged, of one privacy unit.
        batches: Of all of them.
        total: Number of all records where that is public.
        weights: Of a mixture.
    """
    first = sources[0]
    privacy, price = None, None
    if first.private:
        privacy = _granted([source.privacy for source in sources if source.privacy is not None])
        prices = [source.price for source in sources if source.price is not None]
        price = dearest(prices) if len({type(each) for each in prices}) == 1 else privacy
    said = dict.fromkeys(source.assumption.removesuffix(DISJOINT) for source in sources)
    return Provenance(
        release_id=merged_name(batches, weights),
        statistic=_joined(source.statistic for source in sources),
        method=_joined(source.method for source in sources),
        privacy=privacy,
        price=price,
        adjacency=first.adjacency,
        trust=_joined(source.trust for source in sources),
        assumption=" ".join(said) + DISJOINT,
        total=total,
        person=first.person,
        max_rows_per_person=first.max_rows_per_person,
        row_choice=first.row_choice,
        public=first.public,
        where=first.where,
    )


def dearest(charges: Sequence[Charge]) -> Charge:
    """The least guarantee that holds for whoever lost most; of different types, of the weakest of them."""
    if len({type(charge) for charge in charges}) > 1 or isinstance(charges[0], ApproxDP):
        approximate = [charge for charge in charges if isinstance(charge, ApproxDP)]
        if approximate:
            delta = max(charge.delta for charge in approximate)
            return ApproxDP(max(_epsilon(charge, delta) for charge in charges), delta)
        charges = [as_concentrated(charge) for charge in charges if not isinstance(charge, ApproxDP)]
    largest = charges[0]
    for charge in charges[1:]:
        assert not isinstance(largest, ApproxDP)
        assert not isinstance(charge, ApproxDP)
        largest = larger_loss(largest, charge)
    return largest


def _granted(charges: Sequence[Privacy]) -> Privacy:
    found = dearest(charges)
    assert not isinstance(found, GaussianDP)
    return found


def _epsilon(charge: Charge, delta: Fraction) -> Fraction:
    match charge:
        case PureDP() | ApproxDP():
            return charge.epsilon
        case GaussianDP():
            return epsilon_of_gaussian(charge, delta)
        case _:
            return epsilon_of(charge, delta)


def merged_name(batches: Sequence[Batch], weights: tuple[Fraction, ...] | None) -> str:
    """Name of a merged release: the same for the same batches in any order and grouping; of a mixture, in theirs."""
    if weights is None:
        public: list[list[str]] = sorted([batch.release_id] for batch in batches)
    else:
        shares = [str(weight) for weight in weights]
        public = [[batch.release_id for batch in batches], shares]
    text = json.dumps(public)
    return hashlib.sha256(f"ogive merge 1\n{text}".encode()).hexdigest()[:_ID_DIGITS]


def _joined(names: object) -> str:
    assert not isinstance(names, str)
    parts = dict.fromkeys(part for name in names for part in name.split("+"))  # type: ignore[attr-defined]
    return "+".join(parts)
