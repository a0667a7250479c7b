"""Addresses of services, as people write them."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from ogive.errors import ParameterError, quoted

_PATH = re.compile(r"[!-~]*", re.ASCII)


def read_address(url: str, whose: str) -> SplitResult:
    """The parts of an address.

    Args:
        url: Such as "https://study.example.org:8443"; a path may follow.
        whose: Of whom it is, in words.

    Raises:
        ParameterError: it is no such address.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:  # UnicodeError is one
        parts, host, port = urlsplit(""), "", None
    more = parts.query or parts.fragment or parts.username is not None
    written = _PATH.fullmatch(url if url.isascii() else parts.path) and not re.search(r"\s", url)
    if parts.scheme != "https" or not host or port == 0 or more or not written:
        raise ParameterError(
            f"the address of {whose} must be such as https://study.example.org:8443, got {quoted(url)}"
        )
    return parts
