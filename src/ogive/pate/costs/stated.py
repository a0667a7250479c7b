"""A cost with how it was counted and what it means, and how it is kept in files."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from ogive.errors import DataError, ParameterError
from ogive.pate import drawing
from ogive.pate.costs.losing import Noise
from ogive.pate.costs.orders import check_orders
from ogive.statistics import plain_json
from ogive.statistics.plain_json import Fields, is_number, is_whole

Mode = Literal["independent", "joint", "joint_two_sided", "exact", "exact_two_sided", "realised", "expected"]
MODES: tuple[Mode, ...] = get_args(Mode)

_RULES = ("tight", "paper", "gaussian", "pure")
_WITH_ORDER = ("tight", "paper")
_ROOM = 1 + 1e-9  # sums of chances may exceed the number of queries by rounding


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
        return drawing.plot_cost(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Plain data of the published schema. Unless the cost is publishable, it is as private as the votes."""
        return {"schema": self.schema, **asdict(self), "orders": list(self.orders), "rdp": list(self.rdp)}

    def to_json(self, path: str | Path | None = None) -> str:
        """JSON text of `to_dict`; with a path, also written there, whole or not at all.

        Raises:
            ParameterError: the file cannot be written.
        """
        return plain_json.write(self.to_dict(), path, indent=1)

    @staticmethod
    def from_dict(data: Any) -> PrivacyCost:
        """Rebuild from `to_dict`. The data need not be trusted: whether to believe the number is another matter.

        Raises:
            DataError: this is no privacy cost that this version can read.
        """
        known = Fields.of(data, PrivacyCost.schema, "a privacy cost", (field.name for field in fields(PrivacyCost)))
        orders, rdp = _by_order(data)
        mode, rule, order, queries = data["mode"], data["rule"], data["order"], data["queries"]
        _check_word(mode, "mode", MODES)
        _check_word(rule, "rule", _RULES)
        _check_word(data["noise"], "noise", get_args(Noise))
        if not is_whole(queries) or queries < 1:
            raise DataError("the field 'queries' of a privacy cost must be a whole number from 1")
        if (order is not None and order not in orders) or (order is None) is (rule in _WITH_ORDER):
            raise DataError("the order of a privacy cost must be one of its orders, or null where its rule needs none")
        if data["publishable"] is not (mode == "independent"):
            raise DataError("a privacy cost is publishable where its mode is independent, and nowhere else")
        return PrivacyCost(
            epsilon=_from_zero(data, "epsilon", math.inf),
            delta=known.chance("delta"),
            mode=mode,
            rule=rule,
            order=None if order is None else float(order),
            noise=data["noise"],
            queries=queries,
            answers=_from_zero(data, "answers", queries * _ROOM),
            publishable=data["publishable"],
            statement=known.text("statement"),
            orders=orders,
            rdp=rdp,
        )

    @staticmethod
    def from_json(source: str | bytes | Path) -> PrivacyCost:
        """Read a privacy cost from JSON text, or from a file if given a Path. The text need not be trusted.

        Raises:
            DataError: this is no privacy cost that this version can read.
        """
        return PrivacyCost.from_dict(plain_json.parse(source))


def _by_order(data: dict[str, Any]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Orders and costs.

    Raises:
        DataError: these are no increasing orders with a cost from 0 at each.
    """
    lists = [data[name] for name in ("orders", "rdp")]
    if not all(isinstance(each, list) and all(map(is_number, each)) for each in lists) or min(map(len, lists)) == 0:
        raise DataError("orders and rdp of a privacy cost must be lists of finite numbers")
    orders, rdp = (tuple(map(float, each)) for each in lists)
    if len(orders) != len(rdp):
        raise DataError(f"a privacy cost must have one rdp for each of its {len(orders)} orders, got {len(rdp)}")
    if min(rdp) < 0:
        raise DataError(f"rdp of a privacy cost must be numbers from 0, got {min(rdp):g}")
    try:
        check_orders(orders)
    except ParameterError as problem:
        raise DataError(f"a privacy cost: {problem}") from None
    return orders, rdp


def _check_word(value: Any, name: str, known: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in known:
        raise DataError(f"the {name} of a privacy cost must be one of {', '.join(known)}")


def _from_zero(data: dict[str, Any], name: str, most: float) -> float:
    value = data[name]
    if not is_number(value) or not 0 <= value <= most:
        limit = "" if most == math.inf else f" to {data['queries']}"
        raise DataError(f"the {name} of a privacy cost must be a number from 0{limit}")
    return float(value)
