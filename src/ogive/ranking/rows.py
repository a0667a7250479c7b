"""Records as whole numbers, features on a public lattice inside a public ball and a label, and who holds them.

A feature goes from its public bounds to [-1, 1] and is rounded to a multiple of 2^-12. A record whose norm exceeds a
public bound is shortened to it. Both are functions of one record and public numbers, and all that follows is exact in
whole numbers, so that every machine computes the same.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ogive import noise, privacy, queries
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import array_of, refuse_masked
from ogive.errors import DataError, ParameterError, quoted
from ogive.kernels.numbers import positive
from ogive.trust.base import Opening, TrustModel, TrustOptions
from ogive.trust.models import CentralOptions, LocalOptions

FEATURE_BITS = 12
"""Fractional bits of a feature that lies in [-1, 1]."""

MOST_FEATURES = 1 << 10
MOST_RECORDS = 1 << 23


@dataclass(frozen=True)
class Ball:
    """How a record's features become whole numbers, from public numbers alone.

    Fields:
        bounds: Smallest and largest value of every feature; values outside are clipped.
        norm: Largest Euclidean norm of a record whose features lie in [-1, 1].
    """

    bounds: tuple[tuple[float, float], ...]
    norm: float

    @classmethod
    def of(cls, bounds: Any, norm: Any, features: int) -> Ball:
        """The ball of a number of features, of one pair of bounds for all of them or one for each."""
        if not 1 <= features <= MOST_FEATURES:
            raise ParameterError(f"there must be 1 to {MOST_FEATURES} features, got {features}")
        try:
            pairs = array_of(bounds, np.float64)
        except (TypeError, ValueError):
            pairs = np.empty(0)
        if pairs.shape == (2,):
            pairs = np.tile(pairs, (features, 1))
        with np.errstate(over="ignore"):
            fits = pairs.shape == (features, 2) and bool(_are_apart(*pairs.T).all())
        if not fits:
            raise ParameterError(
                "`bounds` must be (low, high) for all features, or a list of one such pair for each of the "
                f"{features} features, with low below high and finite distances; got "
                f"{quoted(bounds)}",
                parameter="bounds",
            )
        return cls(tuple((low, high) for low, high in pairs.tolist()), positive(norm, "norm"))

    @property
    def radius(self) -> int:
        """The norm bound in units of 2^-12: no larger than the norm of a record whose features are all at a bound."""
        whole = min(self.norm, math.sqrt(len(self.bounds))) * (1 << FEATURE_BITS)
        return max(1, math.floor(whole))

    def scaled(self, features: Float64) -> Float64:
        """Features from their bounds to [-1, 1], clipped, shape (n, features)."""
        low, high = np.array(self.bounds).T
        middle, half = low + (high - low) / 2, (high - low) / 2
        return np.asarray(np.clip((features - middle) / half, -1.0, 1.0))

    def lattice(self, features: Float64) -> Int64:
        """Whole numbers of every record, whose norm is at most `radius`, shape (n, features).

        A record that is too long is multiplied by radius / norm and cut off towards 0. Its squared norm is then below
        radius^2 (1 + 2^-50), and as a whole number of at most 2^34 it is at most radius^2.
        """
        whole = np.rint(self.scaled(features) * (1 << FEATURE_BITS)).astype(np.int64)
        squared = (whole * whole).sum(axis=1)
        longer = squared > self.radius**2
        shorten = self.radius / np.sqrt(squared[longer].astype(np.float64))
        whole[longer] = np.trunc(whole[longer] * shorten[:, np.newaxis]).astype(np.int64)
        return whole


def _are_apart(low: Float64, high: Float64) -> Any:
    """Whether bounds are finite and apart, and half their distance is a number that one can divide by."""
    half = (high - low) / 2
    return np.isfinite(low) & np.isfinite(high) & np.isfinite(half) & (half > 0)


class HeldRows(TrustModel):
    """A trusted curator who holds labeled rows and adds the noise.

    Args:
        rows: Features and label of every record, shape (n, features + 1).
    """

    options_type: ClassVar[type[TrustOptions]] = CentralOptions
    digest_in_question = True

    def __init__(self, rows: Int64) -> None:
        self.rows = rows
        self.options = self.options_type()

    def data_digest(self) -> bytes:
        """SHA-256 of the rows; as secret as they are."""
        shape = f"ogive labeled rows 1\n{self.rows.shape}\n".encode()
        return hashlib.sha256(shape + self.rows.astype("<i8").tobytes()).digest()

    def unit(self, adjacency: privacy.Adjacency) -> privacy.PrivacyUnit:
        """One record, which is one person."""
        return privacy.PrivacyUnit(adjacency)

    def count(self) -> int:
        """Records."""
        return len(self.rows)

    def resume(self, adjacency: privacy.Adjacency, *, secret: bytes) -> RowsOpening:
        """Continue a release from its noise key."""
        return RowsOpening(self.rows, adjacency, secret)


class OwnedRows(HeldRows):
    """Labeled rows of owners who each send a report with noise; the owners are simulated in one process."""

    options_type = LocalOptions


class RowsOpening(Opening[Any]):
    """One release of labeled rows, fixed to the rows, the adjacency and the noise key."""

    def __init__(self, rows: Int64, adjacency: privacy.Adjacency, key: bytes) -> None:
        self._rows = rows
        self._adjacency = adjacency
        self.secret = key

    def answer(self, query: Any) -> queries.Answer:
        """A gradient, or a sum of reports, with the release's own noise.

        Privacy: the loss of one step, however often it is opened.
        """
        nodes = noise.DerivedNodes(self.secret, self.context(query))
        return queries.Answer(query.answer(self._rows, nodes), (len(self._rows),))

    def context(self, query: Any) -> bytes:
        """Digest of the rows and of the whole question."""
        return bytes(query.digest(self._rows, self._adjacency))


def read_features(features: Any) -> Float64:
    """Features as numbers, shape (n, features)."""
    refuse_masked(features)
    try:
        result = np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("features must be numbers; encode categories as columns of 0 and 1 first") from None
    if result.ndim != 2:
        raise DataError(f"features must be a table, a row for each record; got an array of {result.ndim} dimensions")
    if np.isnan(result).any():
        raise DataError("features must not be missing; replace missing values by a public value first")
    return result


def read_labels(labels: Any, records: int, classes: Sequence[Any]) -> Int64:
    """Labels as 0 and 1, the positive class 1, shape (n,)."""
    result = array_of(labels)
    if result.shape != (records,):
        raise DataError(f"there must be one label for each of {records} records, got labels of shape {result.shape}")
    negative, positive_ = (np.asarray(result == each, dtype=np.bool_) for each in classes)
    if negative.shape != result.shape or not (negative | positive_).all():
        raise DataError(
            f"every label must be {quoted(classes[0])} or {quoted(classes[1])}, the two `classes`; one is not"
        )
    return positive_.astype(np.int64)
