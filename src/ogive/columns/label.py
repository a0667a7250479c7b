"""A column that tells two classes apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.columns.values import LONGEST_LABEL, LabelValue, storable, text_field, told_apart, values_field
from ogive.errors import ParameterError, plain, quoted


@dataclass(frozen=True)
class Label:
    """The class of a record, one of two.

    Fields:
        column: Name of a column of numbers, truth values or text.
        positive: Values of the positive class, public.
        negative: Values of the negative class; None means the only other value in the records. A value of neither
            class, or a missing value, is an error.

    Raises:
        ParameterError: a class has no value, or a value is in both, is not finite, or is too large to be stored.
    """

    kind: ClassVar[str] = "label"
    """In digests and stored files, whatever the class is called."""

    column: str
    positive: tuple[LabelValue, ...] = (1,)
    negative: tuple[LabelValue, ...] | None = (0,)

    def __post_init__(self) -> None:
        if not isinstance(self.column, str):
            raise ParameterError(f"the label must be a column's name, got {quoted(self.column)}")
        for name in ("positive", "negative"):
            values = getattr(self, name)
            if values is None and name == "negative":
                continue
            if not isinstance(values, tuple) or not values or not all(isinstance(v, LabelValue) for v in values):
                raise ParameterError(
                    f"`{name}` must be the values of a class, for example ('yes',), got {quoted(values)}"
                )
            if not all(map(storable, values)):
                raise ParameterError(
                    f"`{name}` must hold texts of at most {LONGEST_LABEL} characters or numbers below 2^62 in size"
                )
        both = {*told_apart(self.positive)} & {*told_apart(self.negative or ())}
        if both:
            value = sorted(str(value).lower() if isinstance(value, bool) else repr(value) for value in both)[0]
            alike = "" if {*self.positive} & {*(self.negative or ())} else "; blanks around a text do not matter"
            raise ParameterError(f"{plain(value)} cannot be in both classes{alike}")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        negative = None if self.negative is None else list(self.negative)
        return {"column": self.column, "positive": list(self.positive), "negative": negative}

    @property
    def size(self) -> int:
        """Two classes: 0 is the negative one, 1 the positive one."""
        return 2

    def symbols(self, values: Float64) -> Int64:
        """Class of each number, which is 0 or 1."""
        return values.astype(np.int64)

    def cells(self) -> tuple[Float64, Float64]:
        """The number of each class, twice."""
        return np.arange(2.0), np.arange(2.0)

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Label:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is missing or out of range.
        """
        negative = data.get("negative")
        return Label(
            text_field(data, "column"),
            values_field(data, "positive"),
            None if negative is None else values_field(data, "negative"),
        )
