"""What plans have in common, whatever is chosen: rows that are kept in files, read as a table and seen as lines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Self

from ogive.rooms import room
from ogive.statistics import plain_json


class Choices(ABC):
    """Rows to choose from, each with its price and with what it would bring. A subclass is a frozen dataclass.

    Beside its module lie `text.py`, with `table(plan)`, and `plot.py`.
    """

    schema: ClassVar[str]
    """Name and version of its JSON, for example "ogive.plan/1"."""

    def __str__(self) -> str:
        return str(room(type(self), "text").table(self))

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain data of the published schema."""

    def to_json(self, path: str | Path | None = None) -> str:
        """JSON text of `to_dict`; with a path, also written there, whole or not at all.

        Raises:
            ParameterError: the file cannot be written.
        """
        return plain_json.write(self.to_dict(), path, public=True, indent=1)

    @classmethod
    @abstractmethod
    def from_dict(cls, data: Any) -> Self:
        """Rebuild from `to_dict`; equal to the original. The data need not be trusted.

        Raises:
            ParameterError, DataError: this is no plan that this version can read.
        """

    @classmethod
    def from_json(cls, source: str | bytes | Path) -> Self:
        """Read a plan from JSON text, or from a file if given a Path. The text need not be trusted.

        Raises:
            ParameterError, DataError: this is no plan that this version can read.
        """
        return cls.from_dict(plain_json.parse(source))
