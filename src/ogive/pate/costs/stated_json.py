"""A stated cost read back from plain data, which need not be trusted."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, get_args

from ogive.errors import DataError, ParameterError, plain
from ogive.pate.costs.losing import Noise
from ogive.pate.costs.orders import check_orders
from ogive.pate.costs.statements import MODES
from ogive.statistics.plain_json import Fields, is_number, is_whole

_RULES = ("tight", "paper", "gaussian", "pure")
_WITH_ORDER = ("tight", "paper")
_ROOM = 1 + 1e-9  # sums of chances may exceed the number of queries by rounding


def fields(data: Any, schema: str, names: Iterable[str]) -> dict[str, Any]:
    """Checked arguments of a `PrivacyCost`, which has this schema and fields of these names, from plain data.

    Raises:
        DataError: the data are not a privacy cost that this version can read.
    """
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
        raise DataError(f"a privacy cost: {plain(problem)}") from None
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
