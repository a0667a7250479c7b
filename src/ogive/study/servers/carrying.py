"""The connection of server 0 to another server."""

from __future__ import annotations

import ssl
from pathlib import Path

import httpx

from ogive.errors import ParameterError, PeerError, plain
from ogive.study.servers.document import ServersStudy

_SECONDS = 3600.0
"""How long a server may take to answer: it may verify millions of uploads meanwhile."""


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
        if not url.startswith("https://"):
            raise ParameterError(f"the address of a server must begin with https://, got {plain(url)}")
        try:
            context = ssl.create_default_context(cafile=None if authority is None else str(authority))
        except OSError as problem:
            raise ParameterError(f"the certificate {plain(authority)} cannot be used: {problem.strerror}") from None
        self._url = f"{url.rstrip('/')}/v1/tasks/{study.digest.hex()}/preparation_jobs"
        self._name = url
        self._client = httpx.Client(verify=context, timeout=httpx.Timeout(_SECONDS, connect=10.0), trust_env=False)

    def carry(self, envelope: bytes) -> bytes:
        """The response.

        Raises:
            PeerError: none came.
        """
        try:
            response = self._client.post(self._url, content=envelope)
        except httpx.HTTPError as problem:
            reason = str(problem) or type(problem).__name__
            raise PeerError(f"no answer from {plain(self._name)}: {plain(reason)[:200]}") from None
        if response.status_code != httpx.codes.OK:
            raise PeerError(f"{plain(self._name)} answered {response.status_code}: {plain(response.text)[:200]}")
        return response.content

    def close(self) -> None:
        """Close the connection."""
        self._client.close()
