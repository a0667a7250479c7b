"""Fields of a study's file: each is read with a check, and refused in one line."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Mapping
from typing import Any

from ogive.checks import whole
from ogive.errors import ParameterError, quoted
from ogive.privacy import ApproxDP, Privacy, PrivacyUnit, PureDP, ZeroConcentratedDP, check_adjacency, check_columns

KEY_BYTES = 32
SIGNING, SEALING = "ed25519:", "x25519:"
"""How public keys begin: those that check signatures, and those that uploads are encrypted to."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_UNIT = {"adjacency", "person", "max_rows_per_person", "public"}


def check_fields(given: Mapping[str, Any], where: str, known: Collection[str]) -> None:
    """Refuse a table with a field that is not known.

    Raises:
        ParameterError: it has one.
    """
    for field in given:
        if field not in known:
            raise ParameterError(f"{where} has no field {quoted(field)}; its fields are {', '.join(sorted(known))}")


def read_table(data: Mapping[str, Any], field: str, default: dict[str, Any] | None = None) -> dict[str, Any]:
    """A table of a study.

    Raises:
        ParameterError: it is none, or there is none and no default.
    """
    found = data.get(field, default)
    if not isinstance(found, dict):
        raise ParameterError(f"the study needs a table [{field}]")
    return found


def read_tables(data: Mapping[str, Any], field: str, least: int) -> list[dict[str, Any]]:
    """The tables of a study that have one name.

    Raises:
        ParameterError: they are none, or too few.
    """
    found = data.get(field)
    if not isinstance(found, list) or len(found) < least or not all(isinstance(each, dict) for each in found):
        number = "one table" if least == 1 else f"{least} tables"
        raise ParameterError(f"the study needs at least {number} [[{field}]]")
    return found


def read_text(data: Mapping[str, Any], field: str, default: str) -> str:
    """A text.

    Raises:
        ParameterError: it is none.
    """
    value = data.get(field, default)
    if not isinstance(value, str):
        raise ParameterError(f"the field {field} must be a text, got {quoted(value)}")
    return value


def read_name(value: Any, whose: str) -> str:
    """A name, which is safe in a path and a URL.

    Raises:
        ParameterError: it is none.
    """
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ParameterError(
            f"the name of {whose} must be 1 to 64 letters, digits, points, hyphens and underscores, got {quoted(value)}"
        )
    return value


def check_different(names: list[str], what: str) -> None:
    """Refuse two of one name.

    Raises:
        ParameterError: there are two.
    """
    seen = set()
    for each in names:
        if each in seen:
            raise ParameterError(f"two {what} have the name {quoted(each)}")
        seen.add(each)


def read_unit(data: Mapping[str, Any]) -> PrivacyUnit:
    """Whose data the guarantee hides.

    Raises:
        ParameterError: a field is out of range.
    """
    given = read_table(data, "unit", {})
    check_fields(given, "[unit]", _UNIT)
    return PrivacyUnit(
        check_adjacency(read_text(given, "adjacency", "replace")),
        given.get("person"),
        whole(given.get("max_rows_per_person", 1), "max_rows_per_person", 1),
        check_columns(given.get("public", [])),
    )


def read_privacy(value: Any, field: str) -> Privacy:
    """A guarantee: `{ epsilon = 1 }`, `{ epsilon = 1, delta = 1e-6 }` or `{ rho = 0.5 }`.

    Raises:
        ParameterError: it is none.
    """
    match value:
        case {"epsilon": epsilon, **rest} if not rest:
            return PureDP(epsilon)
        case {"epsilon": epsilon, "delta": delta, **rest} if not rest:
            return ApproxDP(epsilon, delta)
        case {"rho": rho, **rest} if not rest:
            return ZeroConcentratedDP(rho)
    raise ParameterError(
        f"the study's {field} must be a table of epsilon, of epsilon and delta, or of rho, got {quoted(value)}"
    )


def key_text(key: bytes, front: str = SIGNING) -> str:
    """A public key as studies write it."""
    return front + base64.b64encode(key).decode()


def read_key(value: Any, whose: str, front: str = SIGNING) -> bytes:
    """A public key from what a study says.

    Raises:
        ParameterError: it is none.
    """
    try:
        if not isinstance(value, str) or not value.startswith(front):
            raise ValueError
        key = base64.b64decode(value.removeprefix(front), validate=True)
        if len(key) != KEY_BYTES:
            raise ValueError
    except (binascii.Error, ValueError):
        raise ParameterError(
            f"the key of {whose} must be what ogive study keys prints, such as {front}AAAA..., got {quoted(value)}"
        ) from None
    return key
