"""The connection of server 0 to another server."""

from __future__ import annotations

import ssl
import time
from pathlib import Path

import httpx

from ogive.errors import ParameterError, PeerError, plain, quoted
from ogive.study.https.addresses import read_address
from ogive.study.servers.document import ServersStudy

SECONDS = 60.0
"""After how long without an answer the same envelope is sent again: a connection may be lost without a word."""
TRIES = 60
"""How often; a server may verify millions of uploads before it answers."""
CONNECT_SECONDS = 10.0
BROKEN, PAUSE = 4, 0.1
"""How often an envelope is sent whose connection breaks, and how many seconds more are waited each time."""


class HttpsCarrier:
    """Carries envelopes to one server.

    Args:
        study: The study.
        url: Of the server, such as "https://south.example.org:8443".
        authority: File with the certificate that its certificate was issued with; None for those the system trusts.

    Raises:
        ParameterError: the URL is none, or the file cannot be read.
    """

    def __init__(self, study: ServersStudy, url: str, *, authority: Path | None) -> None:
        read_address(url, "a server")
        try:
            context = ssl.create_default_context(cafile=None if authority is None else str(authority))
        except OSError as problem:
            raise ParameterError(f"the certificate {plain(authority)} cannot be used: {problem.strerror}") from None
        self._url = f"{url.rstrip('/')}/v1/tasks/{study.digest.hex()}/preparation_jobs"
        self._name = url
        self._client = httpx.Client(
            verify=context, timeout=httpx.Timeout(SECONDS, connect=CONNECT_SECONDS), trust_env=False
        )

    def carry(self, envelope: bytes) -> bytes:
        """The response.

        Raises:
            PeerError: none came.
        """
        response = self._post(envelope)
        if response.status_code != httpx.codes.OK:
            raise PeerError(f"{plain(self._name)} answered {response.status_code}: {quoted(response.text)}")
        return response.content

    def _post(self, envelope: bytes) -> httpx.Response:
        waited = broken = 0
        while True:
            try:
                return self._client.post(self._url, content=envelope)
            except httpx.ReadTimeout:  # the other server may still be at work, and answers what came first
                waited += 1
                reason = f"nothing came within {TRIES * SECONDS:.0f} s"
            except httpx.HTTPError as problem:
                broken += 1
                reason = str(problem) or type(problem).__name__
            if waited >= TRIES or broken >= BROKEN:
                raise PeerError(f"no answer from {plain(self._name)}: {plain(reason)[:200]}")
            time.sleep(PAUSE * broken)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()
