"""Reports of owners whose class is public."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ogive.core.arrays import Bool, Int64, UInt8
from ogive.core.checks import any_whole
from ogive.errors import ParameterError
from ogive.local.base import Oracle, RandomWords, check_reports, check_symbols
from ogive.privacy import ApproxDP, PureDP

MAX_CLASSES = 256
MAX_LENGTH = 1 << 26


@dataclass(frozen=True)
class PublicClasses:
    """Send the class unprotected and a randomized report on the other columns; the class is the last column.

    Fields:
        inner: Oracle of the other columns.
        classes: Number of classes, 1 to 256. Symbols are `inner symbol * classes + class`.

    Raises:
        ParameterError: a field is out of range, or sums would need more than 2^26 integers.

    Privacy: `loss` for the inner symbol; the class is not protected.
    """

    inner: Oracle
    classes: int

    name: ClassVar[str] = "classes"

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", any_whole(self.classes, "classes", 1, MAX_CLASSES))
        if isinstance(self.inner, PublicClasses) or not isinstance(self.inner, Oracle):
            raise ParameterError("the reports inside of classes must be of an oracle without classes")
        if self.classes * int(np.prod(self.inner.shape)) > MAX_LENGTH:
            raise ParameterError(f"{self.classes} classes of so large an oracle need more than {MAX_LENGTH} integers")

    @property
    def size(self) -> int:
        """Inner symbols times classes."""
        return self.inner.size * self.classes

    @property
    def epsilon(self) -> Fraction:
        """Of the inner reports."""
        return self.inner.epsilon

    @property
    def loss(self) -> PureDP | ApproxDP:
        """Of the inner reports."""
        return self.inner.loss

    @property
    def payload_bytes(self) -> int:
        """One byte more than the inner reports."""
        return 1 + self.inner.payload_bytes

    @property
    def reach(self) -> float:
        """As of the inner reports, in the class that the report names."""
        return self.inner.reach

    @property
    def shape(self) -> tuple[int, ...]:
        """Sums of each class."""
        return (self.classes, *self.inner.shape)

    def randomize(self, symbols: Int64, numbers: Int64, *, source: RandomWords) -> UInt8:
        """The reports of participants: a byte for the class, then the inner payload."""
        symbols, numbers = check_symbols(symbols, numbers, self.size)
        values, classes = np.divmod(symbols, self.classes)
        payloads = np.empty((symbols.size, self.payload_bytes), dtype=np.uint8)
        payloads[:, 0] = classes
        payloads[:, 1:] = self.inner.randomize(values, numbers, source=source)
        return payloads

    def add(self, sums: Int64, numbers: Int64, payloads: UInt8) -> Bool:
        """Add reports to their class's sums in place; an unknown class makes a report malformed."""
        numbers, payloads = check_reports(sums, self.shape, numbers, payloads, self.payload_bytes)
        good = np.zeros(len(payloads), dtype=np.bool_)
        for place in range(self.classes):
            rows = np.flatnonzero(payloads[:, 0] == place)
            if rows.size:
                good[rows] = self.inner.add(sums[place], numbers[rows], payloads[rows, 1:])
        return good

    def reports(self, sums: Int64) -> int:
        """Number of reports added, over all classes."""
        return sum(self.inner.reports(each) for each in sums)

    def possible(self, sums: Int64, reports: int) -> bool:
        """Whether this number of reports, of any classes, can have these sums."""
        each = [self.inner.reports(of_class) for of_class in sums]
        fits = all(self.inner.possible(of_class, count) for of_class, count in zip(sums, each, strict=True))
        return fits and sum(each) == reports

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, "inner": self.inner.to_dict(), "classes": self.classes}
