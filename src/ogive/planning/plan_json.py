"""A plan read back from plain data, which need not be trusted."""

from __future__ import annotations

import re
from collections.abc import Mapping
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

_ROW = ("method", "privacy", "price", "noise", "errors", "chosen")
_LEFT_OUT = ("method", "privacy", "reason")
_TRAFFIC = ("upload", "bytes_per_party", "bytes_per_server", "seconds", "bytes_to_party")
_EXACT = re.compile(r"[0-9]{1,4000}(/[0-9]{1,4000})?")
_TYPES = ("PureDP", "ZeroConcentratedDP", "ApproxDP", "GaussianDP")


def arguments(known: Fields) -> dict[str, Any]:
    """Checked arguments of `Plan` from plain data; of its rows and of what was left out, checked arguments too.

    Raises:
        ParameterError, DataError: the data are not a plan that this version can read.
    """
    statistic = known.data["statistic"]
    if not isinstance(statistic, dict) or not is_text(statistic.get("name")):
        raise DataError("the statistic of a plan must be an object with a name")
    try:
        write(statistic)
    except (ValueError, TypeError, RecursionError):
        raise DataError("the statistic of a plan must be plain data with finite numbers") from None
    return {
        "statistic": statistic,
        "records": known.whole("records", 1),
        "unit": _unit(known.data["unit"]),
        "trust": known.text("trust"),
        "rows": [_row(each) for each in known.rows("rows", "a plan's row", _ROW, nonempty=True)],
        "left_out": [_left_out(each) for each in known.rows("left_out", "a plan's row", _LEFT_OUT)],
        "basis": known.text("basis"),
        "runs": known.whole("runs"),
    }


def _unit(data: Any) -> PrivacyUnit:
    known = [member.value for member in Adjacency]
    if not isinstance(data, dict) or data.get("adjacency") not in known:
        raise DataError(f"the unit of a plan must be an object whose adjacency is {' or '.join(known)}")
    if not is_whole(data.get("max_rows_per_person")):
        raise DataError("the `max_rows_per_person` of a plan must be a whole number")
    return PrivacyUnit.from_dict(data)


def _row(row: Fields) -> dict[str, Any]:
    errors = row.data["errors"]
    if not isinstance(errors, dict) or not all(map(_is_error, errors.items())):
        raise DataError("the errors of a plan's row must be numbers from 0, by name")
    return {
        "method": row.text("method"),
        "privacy": _guarantee(row),
        "price": charge_of(row, "price"),
        "noise": row.text("noise"),
        "errors": errors,
        "chosen": row.flag("chosen"),
        "trust": _trust(row),
        "traffic": _traffic(row.data["traffic"]) if "traffic" in row.data else None,
        "spans": _spans(row.data["spans"], errors) if "spans" in row.data else {},
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
    known = Fields(data, "the traffic of a plan's row")
    return Traffic(
        upload=known.text("upload"),
        bytes_per_party=known.whole("bytes_per_party"),
        bytes_per_server=known.whole("bytes_per_server"),
        seconds=known.number("seconds"),
        bytes_to_party=known.whole("bytes_to_party"),
    )


def _is_error(pair: tuple[Any, Any]) -> bool:
    name, value = pair
    return is_text(name) and is_number(value) and value >= 0


def _left_out(each: Fields) -> dict[str, Any]:
    return {
        "method": each.text("method"),
        "privacy": _guarantee(each),
        "reason": each.text("reason"),
        "trust": _trust(each),
    }


def _trust(each: Fields) -> str | None:
    """Name of the trust model, which only plans that compare several have in their rows."""
    return each.text("trust") if "trust" in each.data else None


def _guarantee(each: Fields) -> Privacy:
    guarantee = charge_of(each, "privacy")
    if isinstance(guarantee, GaussianDP):
        raise DataError(f"the privacy of {each.what} must be a guarantee, and `GaussianDP` is none")
    return guarantee


def charge_of(each: Fields, name: str) -> Charge:
    """A guarantee or a loss of plain data that need not be trusted.

    Raises:
        ParameterError, DataError: it is none with exact numbers.
    """
    data = each.data[name]
    exact = isinstance(data, dict) and data.get("type") in _TYPES
    for key, value in data.items() if exact else ():
        exact = exact and (key == "type" or (isinstance(value, str) and _EXACT.fullmatch(value) is not None))
    if not exact:
        raise DataError(f"the {name} of {each.what} must be a privacy guarantee with exact numbers such as '1/10'")
    return charge_from_dict(data)
