"""What runs on an owner's device: a description in, one report of a few bytes out. Needs numpy alone."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from ogive.core.arrays import Float64, Int64, UInt8, UInt32
from ogive.core.checks import any_whole, array_of, refuse_masked
from ogive.errors import BudgetError, ParameterError, quoted
from ogive.local.base import RandomWords, encode
from ogive.local.description import Description, within
from ogive.local.values import rounded, row_of, rows_of
from ogive.privacy import ApproxDP, Privacy, PureDP


class OwnerSource:
    """Random words from the operating system, without state between calls."""

    def words(self, count: int) -> UInt32:
        """The next `count` uniform 32-bit words, shape (count,)."""
        return np.frombuffer(os.urandom(4 * count), np.uint32)


SECRET_BYTES = 32
_BLOCK_WORDS = 8
_NUMBER = "a participant's number"


class Randomizer:
    """Turns an owner's record into the single report that may leave the device.

    A randomizer has no memory between calls. Send one report only: each is drawn anew, so two reports cost twice. A
    device that may be asked again needs a `secret`. Its report is then always the same, and repeated questions reveal
    nothing new. However, if the rounded record changes, a different report for the same number reveals the change with
    certainty.

    Args:
        description: A `Description`, or its plain data, JSON text, or the Path of its file.
        secret: 32 random bytes that stay on the device, `Randomizer.new_secret()`. The report is then a function of
            the secret, the description, the number and the rounded record.
        source: Source of random bits; by default the operating system. Tests use a replayable source. Not together
            with a secret.
        limit: Largest cost of a report, `PureDP` or `ApproxDP`, chosen by the device and not by the collector.
        public: Columns that a report may contain unprotected. None accepts those of the description if there is no
            limit, and no columns if there is one.

    Raises:
        PeerError: the description is malformed or inconsistent.
        BudgetError: a report would cost more than the limit, or contain a column unprotected that `public` does not
            name.
        ParameterError: the secret does not have 32 bytes, or a source was given beside it.

    Privacy: `description.privacy` for every report, against everybody who sees it, whatever all others do; no
        protection for `description.public_columns`.
    """

    def __init__(
        self, description: Any, *,
        secret: bytes | None = None, source: RandomWords | None = None,
        limit: Privacy | None = None, public: Iterable[str] | None = None,
    ) -> None:  # fmt: skip
        self.description = Description.of(description)
        if limit is not None or public is not None:
            _check_allowed(self.description, limit, public)
        if secret is not None:
            if not isinstance(secret, bytes) or len(secret) != SECRET_BYTES:
                raise ParameterError(f"`secret` must be {SECRET_BYTES} random bytes, such as Randomizer.new_secret()")
            if source is not None:
                raise ParameterError("give either a secret or a source of random bits, not both")
        self._secret = secret
        self._source = source

    @staticmethod
    def new_secret() -> bytes:
        """32 random bytes for the device to store."""
        return os.urandom(SECRET_BYTES)

    def report(self, record: Any, *, number: int) -> bytes:
        """The report of one participant.

        Args:
            record: A mapping from columns to values, or the value if there is one column. Numbers, ISO dates, dates
                and times, categories.
            number: Public number of the participant, in 0..participants-1.

        Raises:
            ParameterError: the number is out of range.
            DataError: a value is missing or does not fit its column; the message never quotes it.
        """
        numbers = self._numbers([number])
        return self._reports(row_of(self.description.domain, record), numbers).tobytes()

    def reports(self, table: Any, *, first: int = 0, numbers: Any = None) -> bytes:
        """The reports of many participants, one for each row.

        Args:
            table: A mapping from columns to arrays, a data frame, or an array if there is one column.
            first: Number of the first row's participant; the others follow.
            numbers: Numbers of all participants, instead of `first`.

        Raises:
            ParameterError: a number is out of range, or there is not one for every row.
            DataError: a value is missing or does not fit its column; the message never quotes it.
        """
        return self.report_rows(rows_of(self.description.domain, table), first=first, numbers=numbers)

    def report_rows(self, rows: Float64, *, first: int = 0, numbers: Any = None) -> bytes:
        """As `reports`, for rows of grid numbers and category indices, shape (n, columns)."""
        refuse_masked(rows)
        if numbers is None:
            start = any_whole(first, _NUMBER)
            end = start + len(rows)
            if start < 0 or end > self.description.participants:
                raise ParameterError(self._range(f"{len(rows)} rows from number {start} on"))
            return self._reports(rows, np.arange(start, end, dtype=np.int64)).tobytes()
        result = self._numbers(numbers)
        if len(result) != len(rows):
            raise ParameterError(f"every row needs a number, got {len(rows)} rows and {len(result)} numbers")
        if len(np.unique(result)) < len(result):
            raise ParameterError("two rows have the same number; every participant sends one report")
        return self._reports(rows, result).tobytes()

    def _reports(self, rows: Float64, numbers: Int64) -> UInt8:
        domain, oracle, rounding = self.description.domain, self.description.oracle, self.description.rounding
        if self._secret is None:
            source = self._source if self._source is not None else OwnerSource()
            symbols = rounded(domain, rows, rounding, source=source)
            return encode(self.description.tag, numbers, oracle.randomize(symbols, numbers, source=source))
        payloads = np.empty((len(rows), oracle.payload_bytes), dtype=np.uint8)
        for place, number in enumerate(numbers.tolist()):
            part = slice(place, place + 1)
            # a value that is rounded to another symbol gets bits of its own: with the old ones, two reports
            # would tell more than twice what one does
            row = rows[part].astype("<f8").tobytes() if rounding == "randomized" else b""
            symbol = rounded(domain, rows[part], rounding, source=self._stream(b"round", number, row))
            bits = self._stream(b"report", number, symbol.astype("<i8").tobytes())
            payloads[part] = oracle.randomize(symbol, numbers[part], source=bits)
        return encode(self.description.tag, numbers, payloads)

    def _stream(self, purpose: bytes, number: int, value: bytes) -> RandomWords:
        assert self._secret is not None
        context = self.description.digest + number.to_bytes(8, "little") + value
        return _HashStream(hmac.digest(self._secret, b"ogive local " + purpose + b"\n" + context, "sha256"))

    def _numbers(self, numbers: Any) -> Int64:
        if isinstance(numbers, list | tuple):
            result = np.empty(len(numbers), dtype=object)
            result[:] = [any_whole(number, _NUMBER) for number in numbers]
        else:
            result = array_of(numbers)
            if result.ndim != 1 or result.dtype.kind not in "iu":
                raise ParameterError("numbers of participants must be a list or an array of whole numbers")
        if len(result) and not (result.min() >= 0 and result.max() < self.description.participants):
            raise ParameterError(self._range("a number outside"))
        return result.astype(np.int64)

    def _range(self, got: str) -> str:
        return f"participants have the numbers 0 to {self.description.participants - 1}, got {got}"


class _HashStream:
    """HMAC-SHA256 of a counter: a stream of words that only who has the key can tell from random ones."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._counter = 0

    def words(self, count: int) -> UInt32:
        """The next words; a new block for every call."""
        blocks = -(-count // _BLOCK_WORDS)
        places = range(self._counter, self._counter + blocks)
        self._counter += blocks
        text = b"".join(hmac.digest(self._key, place.to_bytes(8, "little"), hashlib.sha256) for place in places)
        return np.frombuffer(text, "<u4")[:count]


def _check_allowed(description: Description, limit: Privacy | None, public: Iterable[str] | None) -> None:
    """Refuse a description that asks for more than a device allows."""
    if limit is not None and not isinstance(limit, PureDP | ApproxDP):
        raise ParameterError("`limit` must be `PureDP` or `ApproxDP`: a single report has no other kind of guarantee")
    if limit is not None and not within(description.privacy, limit):
        raise BudgetError(f"a report would cost {description.privacy}, and this device allows {limit}")
    allowed = [] if public is None or isinstance(public, str) else list(public)
    if isinstance(public, str) or not all(isinstance(name, str) for name in allowed):
        raise ParameterError(f"`public` must be a list of columns, for example ['label'], got {quoted(public)}")
    for name in description.public_columns:
        if name not in allowed:
            named = ", ".join(map(repr, allowed)) or "no column"
            raise BudgetError(
                f"a report would carry the column {quoted(name)} as it is, unprotected, and this device allows "
                f"that of {named}"
            )
