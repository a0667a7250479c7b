"""Who was counted in a curve, what may be said of one made of several releases, and whether it agrees with that."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ogive.accounting import as_concentrated, covers, epsilon_of, epsilon_of_gaussian, larger_loss
from ogive.errors import DataError
from ogive.privacy import ApproxDP, Charge, GaussianDP, Privacy, PureDP, privacy_from_dict
from ogive.provenance import RELEASE_ID, Provenance, check_account, check_batch_name
from ogive.statistics.plain_json import is_number, is_whole, loss_of, parts_of
from ogive.strategies.base import Strategy

# --- Batches: who was counted in a curve

MOST_BATCHES = 1000
SHOWN = 8
_FIELDS = {"release_id", "name", "total", "records", "privacy"}


@dataclass(frozen=True)
class Batch:
    """Records that were released together.

    Fields:
        release_id: Names the release.
        name: Public name of the batch, for example of a month or a hospital; None where it has none.
        total: Number of its records where that is public, else None.
        records: Number of its records, or its estimate.
        privacy: The guarantee of its release; None without one.
        account: Of the ledger's account that paid for it; see `Provenance`.
    """

    release_id: str
    name: str | None
    total: int | None
    records: float
    privacy: Privacy | None
    account: str | None = None

    @property
    def words(self) -> str:
        """Name of the batch, or the first characters of its release's identifier."""
        return self.release_id[:SHOWN] if self.name is None else self.name

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        privacy = None if self.privacy is None else self.privacy.to_dict()
        data = {
            "release_id": self.release_id,
            "name": self.name,
            "total": self.total,
            "records": self.records,
            "privacy": privacy,
        }
        return data if self.account is None else {**data, "account": self.account}

    @staticmethod
    def from_dict(data: Any) -> Batch:
        """Rebuild from `to_dict`; the data need not be trusted."""
        if not isinstance(data, dict) or data.keys() - {"account"} != _FIELDS:
            raise DataError(f"a batch must have {', '.join(sorted(_FIELDS))}, and nothing else")
        total, records, privacy = data["total"], data["records"], data["privacy"]
        if not isinstance(data["release_id"], str) or not RELEASE_ID.fullmatch(data["release_id"]):
            raise DataError("the release of a batch must be named in hexadecimal digits")
        if not (total is None or (is_whole(total) and total >= 0)):
            raise DataError("the total of a batch must be a number of records or null")
        if not is_number(records) or records < 0:
            raise DataError("the records of a batch must be a number of at least 0")
        return Batch(
            data["release_id"],
            check_batch_name(data["name"]),
            total,
            float(records),
            None if privacy is None else _read_privacy(privacy),
            check_account(data.get("account")),
        )


def find_overlap(batches: Sequence[Batch]) -> tuple[Batch, Batch] | None:
    """Two batches that one account paid for, and not as two of its parts: the same people may be in both."""
    exactly: dict[str, Batch] = {}
    any_part: dict[str, Batch] = {}
    for batch in batches:
        if batch.account is None:
            continue
        whole, _, part = batch.account.partition("/")
        earlier = exactly.get(batch.account) or (exactly if part else any_part).get(whole)
        if earlier is not None:
            return earlier, batch
        exactly[batch.account] = batch
        any_part.setdefault(whole, batch)
    return None


def read_batches(data: Any) -> tuple[Batch, ...]:
    """Batches of a merged curve from plain data."""
    if not isinstance(data, list) or not 2 <= len(data) <= MOST_BATCHES:
        raise DataError(f"the batches of a merged curve must be a list of 2 to {MOST_BATCHES}")
    batches = tuple(map(Batch.from_dict, data))
    if len({batch.release_id for batch in batches}) < len(batches):
        raise DataError("a batch of this curve is counted twice")
    return batches


def _read_privacy(data: Any) -> Privacy:
    texts = isinstance(data, dict) and all(isinstance(text, str) for pair in data.items() for text in pair)
    if not texts or any(len(text) > 8000 or "e" in text.lower() for key, text in data.items() if key != "type"):
        raise DataError("the privacy of a batch must be a guarantee or null")
    return privacy_from_dict(data)


# --- The provenance of a merged curve

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
    result = dearest(charges)
    assert not isinstance(result, GaussianDP)
    return result


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


# --- Checks of a merged curve against its batches


def check_merged(
    strategy: Strategy | None, total: int | None, source: Provenance | None, batches: Sequence[Batch]
) -> None:
    """Refuse a curve whose batches are not those that its strategy, totals and provenance speak of.

    The name of a merged release is computed from its batches' names, so a batch that was struck from the list, or
    put on it, shows. This finds damage and careless edits; no file can prove that its numbers are true.
    """
    reason = _contradiction(strategy, total, source, batches)
    if reason is not None:
        raise DataError(f"this curve contradicts itself: {reason}")


def _contradiction(
    strategy: Strategy | None, total: int | None, source: Provenance | None, batches: Sequence[Batch]
) -> str | None:
    if not batches:
        merged = (strategy is not None and len(parts_of(strategy)) > 1) or (
            source is not None and source.assumption.endswith(DISJOINT)
        )
        return "it was merged, but lacks the list of its batches" if merged else None
    if source is None:
        return "it lists batches, but no release"
    if strategy is not None and len(parts_of(strategy)) != len(batches):
        return f"it lists {len(batches)} batches, and its strategy is that of {len(parts_of(strategy))}"
    if source.release_id != merged_name(batches, getattr(strategy, "weights", None)):
        return "the name of its release does not belong to its batches"
    names = [batch.name for batch in batches if batch.name is not None]
    if len(set(names)) < len(names):
        return "two of its batches have one name"
    if find_overlap(batches) is not None:
        return "one account paid for two of its batches, and not as two parts"
    return (
        _wrong_totals(total, source, batches)
        or _wrong_guarantee(source, batches)
        or _wrong_price(strategy, source, batches)
    )


def _wrong_totals(total: int | None, source: Provenance, batches: Sequence[Batch]) -> str | None:
    totals = [batch.total for batch in batches if batch.total is not None]
    if len(totals) != (0 if total is None else len(batches)):
        return "the number of records is public in some places only"
    if total is not None and sum(totals) != total:
        return f"the records of its batches add up to {sum(totals)}, not to {total}"
    if source.total != total:
        return "its provenance has another number of records"
    if any(batch.total is not None and batch.records != batch.total for batch in batches):
        return "a batch has two numbers of records"
    return None


def _wrong_guarantee(source: Provenance, batches: Sequence[Batch]) -> str | None:
    for batch in batches:
        if (batch.privacy is None) is source.private:
            return "it is partly private and partly exact"
        if source.privacy is not None and batch.privacy is not None and not _within(source.privacy, batch.privacy):
            return f"a batch has {batch.privacy}, which is more than the {source.privacy} of all"
    return None


def _wrong_price(strategy: Strategy | None, source: Provenance, batches: Sequence[Batch]) -> str | None:
    if strategy is None:
        return None
    for part, batch in zip(parts_of(strategy), batches, strict=True):
        loss = loss_of(part, source.adjacency, source.max_rows_per_person)
        if batch.privacy is not None and not covers(batch.privacy, loss):
            return f"the noise of the batch {batch.words} costs {loss}, more than its {batch.privacy}"
    return None


def _within(granted: Privacy, part: Privacy) -> bool:
    if isinstance(part, ApproxDP):
        return isinstance(granted, ApproxDP) and part.epsilon <= granted.epsilon and part.delta <= granted.delta
    return covers(granted, part)
