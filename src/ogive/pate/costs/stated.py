"""A cost with how it was counted and what it means.

To price needs nothing of what files need, which is imported where files are written or read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from ogive.accounting.losses import shown_up
from ogive.errors import DataError, ParameterError, plain
from ogive.pate.costs.answers import SCALE_BITS, Noise, Rule, check_orders, epsilon_of_rdp

# --- What a cost means, in sentences for readers

Mode = Literal["independent", "joint", "joint_two_sided", "exact", "exact_two_sided", "realised", "expected"]
"""How costs are counted, which decides what they mean."""
MODES: tuple[Mode, ...] = get_args(Mode)

_PRIVATE = (
    "It is not differential privacy, it belongs in no budget, and it depends on the votes: do not publish it as it is."
)

_ADAPTIVE = (
    "This holds for queries, and scores of a student, that were fixed, or drawn, without looking at votes or answers."
)

_NOISES: dict[Noise, str] = {
    "continuous": "continuous noise",
    "discrete": "integer noise on the votes",
    "scaled": f"integer noise on the votes multiplied by 2^{SCALE_BITS}",
}


def statement_of(mode: str, *, epsilon: float, delta: float, noise: Noise, group: int, cap: int | None) -> str:
    """What a cost says, its numbers rounded up, what it takes for granted, and whether it may be published."""
    who = "one teacher" if group == 1 else f"one party with {group} teachers"
    most, aside = shown_up(epsilon), shown_up(delta)
    pair = f"epsilon = {most} and delta = {aside}"
    closing = f"Computed for {_NOISES[noise]}."
    if mode == "independent":
        ended = "" if cap is None else f", where the run ends after {cap} answers"
        return (
            f"The run is differentially private with {pair}, replacing {who}{ended}. This holds for every data set and "
            f"for queries that depend on earlier answers, and it may be published. {closing}"
        )
    if mode == "expected":
        return (
            f"Averaged over which queries pass, Renyi costs convert to {pair}, replacing {who}. This is the paper's "
            f"figure, for reproduction: it is not a bound. {_PRIVATE} {closing}"
        )
    if mode == "realised":
        return (
            f"For the data set actually held, D, and for every neighbour D' ({who} replaced): with probability of at "
            f"least 1 - {aside} over the run, ln(Pr_D[outputs] / Pr_D'[outputs]) <= {most}. This holds for "
            "queries that depend on earlier answers, and at an order that was fixed before the run. "
            f"{_PRIVATE} {closing}"
        )
    ways = "Pr[M(D) in Y] <= e^epsilon Pr[M(D') in Y] + delta"
    if mode.endswith("two_sided"):
        ways += " and Pr[M(D') in Y] <= e^epsilon Pr[M(D) in Y] + delta"
    return (
        f"For the data set actually held, D, for every neighbour D' ({who} replaced) and every set Y of complete "
        f"outputs: {ways}, with {pair}. {_ADAPTIVE} {_PRIVATE} {closing}"
    )


# --- A stated cost read back from plain data, which need not be trusted

_RULES = ("tight", "paper", "gaussian", "pure")
_WITH_ORDER = ("tight", "paper")
_ROOM = 1 + 1e-9  # sums of chances may exceed the number of queries by rounding


def fields(data: Any, schema: str, names: Iterable[str]) -> dict[str, Any]:
    """Checked arguments of a `PrivacyCost`, which has this schema and fields of these names, from plain data."""
    from ogive.statistics.plain_json import Fields, is_whole

    known = Fields.of(data, schema, "a privacy cost", names)
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
    return {
        "epsilon": _from_zero(data, "epsilon", math.inf),
        "delta": known.chance("delta"),
        "mode": mode,
        "rule": rule,
        "order": None if order is None else float(order),
        "noise": data["noise"],
        "queries": queries,
        "answers": _from_zero(data, "answers", queries * _ROOM),
        "publishable": data["publishable"],
        "statement": known.text("statement"),
        "orders": orders,
        "rdp": rdp,
    }


def _by_order(data: dict[str, Any]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    from ogive.statistics.plain_json import is_number

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
        raise DataError(f"a privacy cost: {plain(problem)}") from None
    return orders, rdp


def _check_word(value: Any, name: str, known: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in known:
        raise DataError(f"the {name} of a privacy cost must be one of {', '.join(known)}")


def _from_zero(data: dict[str, Any], name: str, most: float) -> float:
    from ogive.statistics.plain_json import is_number

    value = data[name]
    if not is_number(value) or not 0 <= value <= most:
        limit = "" if most == math.inf else f" to {data['queries']}"
        raise DataError(f"the {name} of a privacy cost must be a number from 0{limit}")
    return float(value)


# --- The cost


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
        from ogive.showing.pictures import BLUE, GRAY, ORANGE, caption, legend, lighten, new_axes

        axes = new_axes(ax)
        rule: Rule = "paper" if self.rule == "paper" else "tight"
        implied = [
            epsilon_of_rdp([rdp], [order], target_delta=self.delta, rule=rule).value
            for order, rdp in self.by_order.items()
        ]
        mark = "o" if len(self.orders) == 1 else None
        label = f"epsilon at delta = {self.delta:g}"
        axes.plot(self.orders, implied, color=BLUE, linewidth=1.8, marker=mark, label=label)
        dashed = (0, (5, 2))
        axes.plot(self.orders, self.rdp, color=GRAY, linewidth=1.4, linestyle=dashed, marker=mark, label="Renyi cost")
        label = f"epsilon = {shown_up(self.epsilon, '.4g')}"
        if self.order is None:
            dotted = (0, (1, 1.5))
            axes.axhline(self.epsilon, color=ORANGE, linewidth=1.2, linestyle=dotted, label=f"{label}, without orders")
        else:
            label = f"{label} at order {self.order:g}"
            axes.plot([self.order], [self.epsilon], "o", color=ORANGE, markersize=7, label=label, zorder=4)
        axes.set_xscale("log")
        if len(self.orders) <= 9:
            axes.set_xticks(self.orders, labels=[f"{order:g}" for order in self.orders])
            axes.set_xticks([], minor=True)
        axes.set_ylim(0, min(max(*implied, *self.rdp), max(4 * self.epsilon, min(implied))) * 1.02 or 1.0)
        axes.set_xlabel("Renyi order")
        axes.set_ylabel("Cost")
        clause = "differential privacy for all votes" if self.publishable else "as private as the votes; do not publish"
        title = f"Cost of {self.queries:,} queries, {self.mode.replace('_', ' ')}"
        caption(axes, title, clause, private=self.publishable)
        legend(axes)
        lighten(axes)
        return axes

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
        return PrivacyCost(**fields(data, PrivacyCost.schema, PrivacyCost.__dataclass_fields__))

    @staticmethod
    def from_json(source: str | bytes | Path) -> PrivacyCost:
        """Read a privacy cost from JSON text, or from a file if given a Path. Untrusted text is safe to read.

        Raises:
            DataError: the data are not a privacy cost that this version can read.
        """
        from ogive.statistics import plain_json

        return PrivacyCost.from_dict(plain_json.parse(source))
