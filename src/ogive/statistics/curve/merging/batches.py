"""Who was counted in a curve: one batch of records for every release that it was made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ogive.errors import DataError
from ogive.privacy import Privacy, privacy_from_dict
from ogive.provenance import RELEASE_ID, check_account, check_batch_name
from ogive.statistics.plain_json import is_number, is_whole

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
        """Rebuild from `to_dict`; the data need not be trusted.

        Raises:
            ParameterError, DataError: a field is missing or of the wrong kind.
        """
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


def list_batches(batches: tuple[Batch, ...]) -> str:
    """Names and sizes of batches, for people."""
    shown = [f"{batch.words} ({_size(batch)})" for batch in batches[:SHOWN]]
    more = [f"and {len(batches) - SHOWN} more"] if len(batches) > SHOWN else []
    return ", ".join(shown + more)


def _size(batch: Batch) -> str:
    return f"about {batch.records:.0f}" if batch.total is None else str(batch.total)


def read_batches(data: Any) -> tuple[Batch, ...]:
    """Batches of a merged curve from plain data.

    Raises:
        ParameterError, DataError: they are none, or one is counted twice.
    """
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
