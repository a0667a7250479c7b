"""What every plan has: rows to choose from, kept in files, read as a table and drawn as lines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from ogive.core.rooms import room
from ogive.privacy import Privacy
from ogive.statistics import plain_json
from ogive.statistics.plain_json import Fields


class Row(Protocol):
    """One choice: a method with its parameters, its price, and figures that are predicted for it."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data; exact numbers are strings."""
        ...


RowT = TypeVar("RowT", bound=Row)


@dataclass(frozen=True)
class LeftOut:
    """A method that does not fit, and why; with the trust model's name where several are compared."""

    method: str
    privacy: Privacy
    reason: str
    trust: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        named = {} if self.trust is None else {"trust": self.trust}
        return {"method": self.method, "privacy": self.privacy.to_dict(), "reason": self.reason, **named}


@dataclass(frozen=True)
class BasePlan(ABC, Generic[RowT]):
    """Rows to choose from. A subclass is a frozen dataclass with a field `rows`.

    There are two subclasses, `Plan` and `LabelsPlan`, each with its own row. Their schemas and constructors are
    published and have no field in common but `rows`. A row of `Plan` has an exact guarantee, a price and errors of one
    method. A row of `LabelsPlan` has a float epsilon at the delta of its plan, and integers that an aggregator is
    called with. One dataclass for both would have every field of the other optional.

    A subclass is declared with `repr=False`. Beside its module lie `text.py`, with `table(plan)`, `short(plan)`, a few
    words, and `card(plan)`, what notebooks show; and `plot.py`, with `draw(plan, ax)`.
    """

    schema: ClassVar[str]
    """Name and version of its JSON, for example "ogive.plan/1"."""

    kind: ClassVar[str]
    """Names it in errors, for example "a plan"."""

    @property
    @abstractmethod
    def chosen(self) -> RowT:
        """The row to act on."""

    def __str__(self) -> str:
        return str(room(type(self), "text").table(self))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {room(type(self), 'text').short(self)}>"

    def _repr_html_(self) -> str:
        from ogive.showing.view import as_html

        return as_html(room(type(self), "text").card(self))

    def plot(self, ax: Any = None) -> Any:
        """Draw a line for each method; returns matplotlib axes.

        Args:
            ax: Axes to draw into; new ones by default.

        Raises:
            ParameterError: matplotlib is not installed.
        """
        return room(type(self), "plot").draw(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Plain data of the published schema."""
        return {"schema": self.schema} | {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    def to_json(self, path: str | Path | None = None) -> str:
        """JSON text of `to_dict`; with a path, also written there, whole or not at all.

        Raises:
            ParameterError: the file cannot be written.
        """
        return plain_json.write(self.to_dict(), path, public=True, indent=1)

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Rebuild from `to_dict`; equal to the original. The data need not be trusted.

        Raises:
            ParameterError, DataError: the data are not a plan that this version can read.
        """
        return cls(**cls._arguments(Fields.of(data, cls.schema, cls.kind, (field.name for field in fields(cls)))))

    @classmethod
    def from_json(cls, source: str | bytes | Path) -> Self:
        """Read a plan from JSON text, or from a file if given a Path. The text need not be trusted.

        Raises:
            ParameterError, DataError: the data are not a plan that this version can read.
        """
        return cls.from_dict(plain_json.parse(source))

    @classmethod
    @abstractmethod
    def _arguments(cls, known: Fields) -> dict[str, Any]:
        """Checked arguments of the constructor, from plain data that has a value for each."""


def _plain(value: Any) -> Any:
    """A field as plain data."""
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return dict(value)
    return value.to_dict() if hasattr(value, "to_dict") else value
