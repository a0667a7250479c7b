"""A cost with how it was counted and what it means.

To price needs nothing of what files need, which is imported where files are written or read.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from ogive.pate.costs.losing import Noise
from ogive.pate.costs.statements import Mode
from ogive.rooms import room


@dataclass(frozen=True)
class PrivacyCost:
    """The price of a run, for replacing one teacher, or one party with all its teachers.

    Fields:
        epsilon: At `delta`.
        delta: Chance left aside.
        mode: How costs were counted.
        rule: How they were converted: "tight", "paper", "gaussian" (exact, no orders) or "pure".
        order: Renyi order of the conversion; None where there is none.
        noise: Which noise the cost is for.
        queries: How many were asked.
        answers: The cap on answers of a data-independent cost, how many were answered of a realised one, otherwise
            how many are expected to be.
        publishable: Whether the number may leave the trust boundary.
        statement: What the number means, a sentence for readers.
        orders: Orders that costs were computed at.
        rdp: Cost at each.
    """

    schema: ClassVar[str] = "ogive.privacy_cost/1"

    epsilon: float
    delta: float
    mode: Mode
    rule: str
    order: float | None
    noise: Noise
    queries: int
    answers: float
    publishable: bool
    statement: str
    orders: tuple[float, ...]
    rdp: tuple[float, ...]

    @property
    def by_order(self) -> dict[float, float]:
        """Renyi cost at each order."""
        return dict(zip(self.orders, self.rdp, strict=True))

    def plot(self, ax: Any = None) -> Any:
        """Draw the cost at every order and what it comes to; as private as the cost. Returns matplotlib axes.

        Raises:
            ParameterError: matplotlib is not installed.
        """
        return room(PrivacyCost, "plot").plot_cost(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Plain data of the published schema. Unless the cost is publishable, it is as private as the votes."""
        return {"schema": self.schema, **asdict(self), "orders": list(self.orders), "rdp": list(self.rdp)}

    def to_json(self, path: str | Path | None = None) -> str:
        """JSON text of `to_dict`; with a path, also written there, whole or not at all.

        Raises:
            ParameterError: the file cannot be written.
        """
        from ogive.statistics import plain_json

        return plain_json.write(self.to_dict(), path, public=self.publishable, indent=1)

    @staticmethod
    def from_dict(data: Any) -> PrivacyCost:
        """Rebuild from `to_dict`. The data need not be trusted: whether to believe the number is another matter.

        Raises:
            DataError: this is no privacy cost that this version can read.
        """
        from ogive.pate.costs import stated_json

        return PrivacyCost(**stated_json.fields(data, PrivacyCost.schema, PrivacyCost.__dataclass_fields__))

    @staticmethod
    def from_json(source: str | bytes | Path) -> PrivacyCost:
        """Read a privacy cost from JSON text, or from a file if given a Path. The text need not be trusted.

        Raises:
            DataError: this is no privacy cost that this version can read.
        """
        from ogive.statistics import plain_json

        return PrivacyCost.from_dict(plain_json.parse(source))
