"""What every statistic can do.

A statistic is frozen parameters plus `questions`: a generator that yields queries, is sent
the answers and returns an estimate. The same text serves every trust model, in one round
or in twelve. It never sees records and never draws noise.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self, TypeVar

from ogive.privacy import Adjacency, Privacy, PrivacyUnit
from ogive.provenance import Provenance
from ogive.queries import Answer, Query


@dataclass(frozen=True)
class Terms:
    """What is public before any answer: how much may be spent, and what can be asked.

    Fields:
        privacy: The guarantee that all queries together must stay within.
        unit: Whose data the guarantee hides: adjacency, and how many records a person may have.
        refusal: Says why the trust model cannot answer a query, or None if it can.
    """

    privacy: Privacy
    unit: PrivacyUnit
    refusal: Callable[[Query], str | None]

    @property
    def adjacency(self) -> Adjacency:
        """Which data sets are adjacent."""
        return self.unit.adjacency


class Estimate(Protocol):
    """A value with its error; frozen, and plain data by `to_dict`, which `read_estimate` inverts."""

    schema: ClassVar[str]
    """Name and version of its JSON, for example "ogive.curve/1"."""

    @property
    def provenance(self) -> Provenance | None:
        """What was released, at what price and under whose trust; None until released."""
        ...

    def with_provenance(self, provenance: Provenance) -> Self:
        """The same estimate carrying its provenance."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact, with its schema."""
        ...

    def errors(self, truth: Any) -> dict[str, float]:
        """Distances from the estimate that the trust model clear gives, by name, for example "ks"."""
        ...


EstimateT = TypeVar("EstimateT", bound=Estimate, covariant=True)


class Statistic(Protocol[EstimateT]):
    """What is wanted of the records, as frozen plain data."""

    name: ClassVar[str]
    """Short name, as on the command line."""

    def alternatives(self) -> Mapping[str, Statistic[EstimateT]]:
        """The same statistic pinned to each method that it knows, by the method's name.

        Some may fit no terms; their questions then say why. `plan` compares them.
        """
        ...

    def questions(self, terms: Terms) -> Generator[Query, Answer, EstimateT]:
        """Yield queries, receive answers, return the estimate.

        Queries with one measurement are priced once; the prices of all measurements must stay
        within `terms.privacy`, which `release` checks before every answer.

        Raises:
            ParameterError: parameters do not fit each other or the terms.
            UnsupportedError: no method that fits can be asked of this trust model.
        """
        ...


def describe(value: Any) -> Any:
    """Plain data that says all that fixes a statistic; equal statistics have equal descriptions.

    Raises:
        TypeError: a field has no plain form.
    """
    to_dict = getattr(value, "to_dict", None)
    if to_dict is not None:
        return to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: describe(getattr(value, field.name)) for field in dataclasses.fields(value)}
        name = getattr(value, "name", None)
        return {"name": name, **fields} if isinstance(name, str) else fields
    if isinstance(value, tuple | list):
        return [describe(item) for item in value]
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, Fraction):
        return str(value)
    item = getattr(value, "item", None)  # a numpy number is the Python number it holds
    if item is not None:
        return describe(item())
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value).__name__} has no plain form")
