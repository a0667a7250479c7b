"""A plan: one row for each method and guarantee, with its price and its predicted errors."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from ogive.errors import ParameterError
from ogive.planning import plan_json
from ogive.planning.base import BasePlan, LeftOut
from ogive.privacy import Adjacency, Loss, Privacy, PrivacyUnit
from ogive.rooms import room
from ogive.statistics.plain_json import Fields
from ogive.statistics.prediction import Span
from ogive.trust.base import Traffic


@dataclass(frozen=True)
class PlanRow:
    """One method of releasing the statistic.

    Fields:
        method: The method of the statistic.
        privacy: The privacy guarantee.
        price: Exact loss of the mechanism, at most `privacy`.
        noise: The noise, as text.
        errors: Predicted errors by name, for example "ks"; the table of a plan explains each.
        chosen: Whether the statistic uses this method; with method "auto" the best one.
        trust: Name of the trust model, if several are compared; else None.
        traffic: Communication of parties and servers; None for a single curator and for reports of owners.
        spans: Smallest and largest of those errors over the public shapes that depend on the records. `errors` has the
            largest, and of "energy" the geometric mean over the seven reference shapes, by which "auto" ranks.
    """

    method: str
    privacy: Privacy
    price: Loss
    noise: str
    errors: Mapping[str, float]
    chosen: bool = False
    trust: str | None = None
    traffic: Traffic | None = None
    spans: Mapping[str, Span] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "errors", MappingProxyType(dict(self.errors)))
        object.__setattr__(self, "spans", MappingProxyType(dict(self.spans)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and other processes make it anew: a mapping that cannot be changed cannot be pickled."""
        values = [getattr(self, each.name) for each in dataclasses.fields(self)]
        return type(self), tuple(dict(each) if isinstance(each, MappingProxyType) else each for each in values)

    @property
    def rmse(self) -> float | None:
        """Root mean squared error over the thresholds before smoothing, as a share of the records."""
        return self.errors.get("rmse")

    @property
    def ks(self) -> float | None:
        """Expected largest error at any threshold before smoothing, as a share of the records; on the worst shape."""
        return self.errors.get("ks")

    @property
    def ks_95(self) -> float | None:
        """95th percentile of the largest error before smoothing."""
        return self.errors.get("ks_95")

    @property
    def band(self) -> float | None:
        """Half-width of the 95 % band for the population's curve."""
        return self.errors.get("band")

    @property
    def auc(self) -> float | None:
        """Root mean squared error of the area under an ROC curve."""
        return self.errors.get("auc")

    def to_dict(self) -> dict[str, Any]:
        """Plain data; exact numbers are strings."""
        return {
            "method": self.method,
            "privacy": self.privacy.to_dict(),
            "price": self.price.to_dict(),
            "noise": self.noise,
            "errors": dict(self.errors),
            "chosen": self.chosen,
            **({} if self.trust is None else {"trust": self.trust}),
            **({} if self.traffic is None else {"traffic": dataclasses.asdict(self.traffic)}),
            **({"spans": {name: list(span) for name, span in self.spans.items()}} if self.spans else {}),
        }


@dataclass(frozen=True, repr=False)
class Plan(BasePlan[PlanRow]):
    """Predicted price and error of a statistic, for every suitable method.

    Fields:
        statistic: The statistic's name and parameters, as plain data.
        records: Number of records assumed.
        unit: Privacy unit of the guarantee.
        trust: Name of the trust model, or names of the compared models.
        rows: One row for each guarantee and method, in the order of the guarantees.
        left_out: Unsuitable methods, with reasons.
        basis: Basis of the errors, as text.
        runs: Number of releases simulated for each row; 0 if none.
    """

    schema: ClassVar[str] = "ogive.plan/1"
    kind: ClassVar[str] = "a plan"

    statistic: Mapping[str, Any]
    records: int
    unit: PrivacyUnit
    trust: str
    rows: tuple[PlanRow, ...]
    left_out: tuple[LeftOut, ...] = ()
    basis: str = ""
    runs: int = field(default=0)

    @property
    def chosen(self) -> PlanRow:
        """The row of the method that the statistic uses, for the first guarantee.

        Raises:
            ParameterError: the method of the statistic is unsuitable for all guarantees.
        """
        for row in self.rows:
            if row.chosen:
                return row
        raise ParameterError(
            "the method of this statistic fits none of the guarantees; see left_out, or `method='auto'`"
        )

    @property
    def guessed(self) -> bool:
        """Whether the number of records would be private, so that `records` is a guess."""
        return self.unit.adjacency is Adjacency.ADD_OR_REMOVE

    def plot(self, ax: Any = None, *, error: str | None = None) -> Any:
        """Draw an error against the privacy loss, one line for each method; returns matplotlib axes.

        Args:
            ax: Axes to draw into; new ones by default.
            error: Name of the error, or the heading of its column; by default the one that decides between methods,
                for example "ks" for a curve.

        Raises:
            ParameterError: matplotlib is not installed, or no row has such an error.
        """
        return room(type(self), "plot").draw(self, ax, error=error)

    def to_dict(self) -> dict[str, Any]:
        """Plain data of the published schema `ogive.plan/1`."""
        plain = super().to_dict()
        first = {name: plain.pop(name) for name in ("schema", "statistic", "records")}
        return {**first, "records_guessed": self.guessed, **plain}

    @classmethod
    def _arguments(cls, known: Fields) -> dict[str, Any]:
        arguments = plan_json.arguments(known)
        rows, left_out = arguments["rows"], arguments["left_out"]
        return arguments | {
            "rows": tuple(PlanRow(**row) for row in rows),
            "left_out": tuple(LeftOut(**each) for each in left_out),
        }
