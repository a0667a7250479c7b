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
    """The privacy cost of a run, for replacing one teacher, or one party with all its teachers.

    Fields:
        epsilon: Epsilon at `delta`.
        delta: Delta of the guarantee.
        mode: How the cost was computed.
        rule: Conversion from Renyi differential privacy: "tight", "paper", "gaussian" (exact, no orders) or "pure".
        order: Renyi order of the conversion; None without one.
        noise: The noise that the cost assumes.
        queries: Number of queries asked.
        answers: Number of answers: the limit for a data-independent cost, the actual number for a realised cost, else
            the expected number.
        publishable: Whether the cost may be published.
        statement: Meaning of the cost, in a sentence.
        orders: Renyi orders of the computation.
        rdp: Renyi cost at each order.
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
        """Draw the cost at every order and the resulting epsilon; as private as the cost. Returns matplotlib axes.

        Raises:
            ParameterError: matplotlib is not installed.
        """
        return room(PrivacyCost, "plot").plot_cost(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Plain data of the published schema; as private as the votes unless the cost is publishable."""
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
        """Rebuild from `to_dict`. Untrusted data are safe to read, but the cost is not verified.

        Raises:
            DataError: the data are not a privacy cost that this version can read.
        """
        from ogive.pate.costs import stated_json

        return PrivacyCost(**stated_json.fields(data, PrivacyCost.schema, PrivacyCost.__dataclass_fields__))

    @staticmethod
    def from_json(source: str | bytes | Path) -> PrivacyCost:
        """Read a privacy cost from JSON text, or from a file if given a Path. Untrusted text is safe to read.

        Raises:
            DataError: the data are not a privacy cost that this version can read.
        """
        from ogive.statistics import plain_json

        return PrivacyCost.from_dict(plain_json.parse(source))
