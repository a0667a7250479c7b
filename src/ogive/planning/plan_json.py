"""A plan read back from plain data, which need not be trusted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ogive.errors import DataError
from ogive.privacy import (
    Adjacency,
    Charge,
    GaussianDP,
    Privacy,
    PrivacyUnit,
    charge_from_dict,
)
from ogive.statistics.plain_json import Fields, is_number, is_text, is_whole, write
from ogive.statistics.prediction import Span
from ogive.trust.base import Traffic

SCHEMA = "ogive.plan/1"

_NEEDED = ("statistic", "records", "unit", "trust", "rows", "left_out", "basis", "runs")
_ROW = ("method", "privacy", "price", "noise", "errors", "chosen")
_LEFT_OUT = ("method", "privacy", "reason")
_TRAFFIC = ("upload", "bytes_per_party", "bytes_per_server", "seconds", "bytes_to_party")
_EXACT = re.compile(r"[0-9]{1,4000}(/[0-9]{1,4000})?")
_TYPES = ("PureDP", "ZeroConcentratedDP", "ApproxDP", "GaussianDP")


def fields(data: Any) -> dict[str, Any]:
    """Checked arguments of `Plan` from plain data; of its rows and of what was left out, checked arguments too.

    Raises:
        ParameterError, DataError: this is no plan that this version can read.
    """
    known = Fields.of(data, SCHEMA, "a plan", _NEEDED)
    statistic = data["statistic"]
    if not isinstance(statistic, dict) or not is_text(statistic.get("name")):
        raise DataError("the statistic of a plan must be an object with a name")
    try:
        write(statistic)
    except (ValueError, TypeError, RecursionError):
        raise DataError("the statistic of a plan must be plain data with finite numbers") from None
    return {
        "statistic": statistic,
        "records": _whole(data, "records", 1),
        "unit": _unit(data["unit"]),
        "trust": known.text("trust"),
        "rows": [_row(each) for each in _objects(data, "rows", _ROW, fewest=1)],
        "left_out": [_left_out(each) for each in _objects(data, "left_out", _LEFT_OUT, fewest=0)],
        "basis": known.text("basis"),
        "runs": _whole(data, "runs", 0),
    }


def _unit(data: Any) -> PrivacyUnit:
    known = [member.value for member in Adjacency]
    if not isinstance(data, dict) or data.get("adjacency") not in known:
        raise DataError(f"the unit of a plan must be an object whose adjacency is {' or '.join(known)}")
    if not is_whole(data.get("max_rows_per_person")):
        raise DataError("the max_rows_per_person of a plan must be a whole number")
    return PrivacyUnit.from_dict(data)


def _row(row: dict[str, Any]) -> dict[str, Any]:
    errors = row["errors"]
    if not isinstance(errors, dict) or not all(map(_is_error, errors.items())):
        raise DataError("the errors of a plan's row must be numbers from 0, by name")
    if not isinstance(row["chosen"], bool):
        raise DataError("whether a plan's row is chosen must be true or false")
    price = _charge(row["price"], "price")
    return {
        "method": _text(row, "method"),
        "privacy": _guarantee(row["privacy"], "privacy"),
        "price": price,
        "noise": _text(row, "noise"),
        "errors": errors,
        "chosen": row["chosen"],
        "trust": _trust(row),
        "traffic": _traffic(row["traffic"]) if "traffic" in row else None,
        "spans": _spans(row["spans"], errors) if "spans" in row else {},
    }


def _spans(data: Any, errors: Mapping[str, Any]) -> dict[str, Span]:
    """The smallest and the largest of errors over the public shapes."""
    if not isinstance(data, dict) or not set(data) <= set(errors):
        raise DataError("the spans of a plan's row must be an object whose names are among its errors")
    spans: dict[str, Span] = {}
    for name, span in data.items():
        if not isinstance(span, list) or len(span) != 2 or not all(map(is_number, span)) or not 0 <= span[0] <= span[1]:
            raise DataError("a span of a plan's row must be two numbers from 0, the smaller one first")
        spans[name] = (span[0], span[1])
    return spans


def _traffic(data: Any) -> Traffic:
    """What a row takes of parties and servers."""
    if isinstance(data, dict):
        data = {"bytes_to_party": 0} | data  # earlier plans did not say
    if not isinstance(data, dict) or set(data) != set(_TRAFFIC):
        raise DataError(f"the traffic of a plan's row must be an object with {', '.join(_TRAFFIC)}")
    for name in ("bytes_per_party", "bytes_per_server", "bytes_to_party"):
        if not is_whole(data[name]) or data[name] < 0:
            raise DataError(f"the {name} of a plan's row must be a whole number from 0")
    if not is_number(data["seconds"]) or data["seconds"] < 0:
        raise DataError("the seconds of a plan's row must be a number from 0")
    _text(data, "upload")
    return Traffic(**data)


def _is_error(pair: tuple[Any, Any]) -> bool:
    name, value = pair
    return is_text(name) and is_number(value) and value >= 0


def _left_out(each: dict[str, Any]) -> dict[str, Any]:
    privacy = _guarantee(each["privacy"], "privacy")
    return {
        "method": _text(each, "method"),
        "privacy": privacy,
        "reason": _text(each, "reason"),
        "trust": _trust(each),
    }


def _trust(each: dict[str, Any]) -> str | None:
    """Name of the trust model, which only plans that compare several have in their rows."""
    return _text(each, "trust") if "trust" in each else None


def _objects(data: dict[str, Any], name: str, needed: Iterable[str], *, fewest: int) -> list[dict[str, Any]]:
    listed = data[name]
    fit = isinstance(listed, list) and all(isinstance(each, dict) and set(needed) <= set(each) for each in listed)
    if not fit or len(listed) < fewest:
        raise DataError(f"the field {name!r} of a plan must be a list of objects with {', '.join(needed)}")
    return list(listed)


def _text(data: dict[str, Any], name: str) -> str:
    value = data[name]
    if not is_text(value):
        raise DataError(f"the {name} of a plan's row must be a short text")
    return value


def _whole(data: dict[str, Any], name: str, least: int) -> int:
    value = data[name]
    if not is_whole(value) or value < least:
        raise DataError(f"the field {name!r} of a plan must be a whole number from {least}")
    return value


def _guarantee(data: Any, name: str) -> Privacy:
    found = _charge(data, name)
    if isinstance(found, GaussianDP):
        raise DataError(f"the {name} of a plan's row must be a guarantee, and GaussianDP is none")
    return found


def _charge(data: Any, name: str) -> Charge:
    exact = isinstance(data, dict) and data.get("type") in _TYPES
    for key, value in data.items() if exact else ():
        exact = exact and (key == "type" or (isinstance(value, str) and _EXACT.fullmatch(value) is not None))
    if not exact:
        raise DataError(f"the {name} of a plan's row must be a privacy guarantee with exact numbers such as '1/10'")
    return charge_from_dict(data)
