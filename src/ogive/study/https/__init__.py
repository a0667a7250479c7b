"""Addresses of services, whom a client believes, and sending a report until it is acknowledged.

Needs Python alone beside what makes the report.
"""

from __future__ import annotations

import http.client
import re
import ssl
import time
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import SplitResult, urlsplit

from ogive.errors import ParameterError, PeerError, RefusalError, plain, quoted

# --- Addresses of services, as people write them, and their certificates

_PATH = re.compile(r"[!-~]*", re.ASCII)


def read_address(url: str, whose: str) -> SplitResult:
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


def believing(authority: Path | None) -> ssl.SSLContext:
    """Believe certificates that an authority issued; None for those that the system trusts."""
    try:
        return ssl.create_default_context(cafile=None if authority is None else str(authority))
    except OSError as problem:  # ssl.SSLError is one
        raise ParameterError(f"the certificate {plain(authority)} cannot be used: {problem.strerror}") from None


# --- Sending a report until it is acknowledged

TRIES = 6
_PAUSE = 0.5
SECONDS = 60.0
"""How long one try may take."""
_LONGEST = 1000
_CREATED, _OTHER, _UNKNOWN = 201, 409, 404
_LATER = (408, 429, 500, 502, 503, 504)


class Sender:
    """A connection to the service that takes reports."""

    def __init__(self, task: bytes, url: str, *, authority: Path | None = None) -> None:
        parts = read_address(url, "a server")
        self._url = url
        self._path = f"{parts.path.rstrip('/')}/v1/tasks/{task.hex()}/reports"
        self._connection = http.client.HTTPSConnection(
            parts.hostname or "", parts.port or 443, timeout=SECONDS, context=believing(authority)
        )

    def send(self, report: bytes, shown: str) -> bool:
        headers = {"Authorization": f"Bearer {shown}", "Content-Type": "application/vnd.ogive.report"}
        problem = ""
        for tried in range(TRIES):
            if tried:
                time.sleep(_PAUSE * 2 ** (tried - 1))
            try:
                self._connection.request("POST", self._path, report, headers)
                response = self._connection.getresponse()
                text = response.read(_LONGEST).decode(errors="replace").strip()
                if response.read(1):
                    self._connection.close()  # what else a service says is not read
            except ssl.SSLCertVerificationError as wrong:
                self._connection.close()
                raise RefusalError(f"its certificate is not valid: {plain(wrong.verify_message)}") from None
            except OSError as wrong:
                self._connection.close()
                problem = plain(wrong.strerror or type(wrong).__name__).lower()
                continue
            except http.client.HTTPException as wrong:  # it quotes what the server said
                self._connection.close()
                problem = quoted(str(wrong) or type(wrong).__name__)
                continue
            if response.status in (_CREATED, _OTHER):
                return response.status == _CREATED
            if response.status == _UNKNOWN:
                raise PeerError(
                    "the service at this address takes no uploads of this study; connect to the one that does, which "
                    "is the first of several servers"
                )
            if response.status not in _LATER:
                raise PeerError(f"the server refuses the upload ({response.status}): {quoted(text)}")
            problem = f"{response.status} {quoted(text)}"
        raise RefusalError(f"the server at {plain(self._url)} does not take the upload now: {problem}")

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()
