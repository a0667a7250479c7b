"""The connection of server 0 to another server."""

from __future__ import annotations

import ssl
import time
from pathlib import Path

import httpx

from ogive.errors import ParameterError, PeerError, plain, quoted
from ogive.study.https.addresses import read_address
from ogive.study.servers.asking import LEADER
from ogive.study.servers.document import ServersStudy
from ogive.study.servers.sealing import Arriving, envelope_bytes

SECONDS = 60.0
"""After how long without an answer the same envelope is sent again: a connection may be lost without a word."""
TRIES = 60
"""How often; a server may verify millions of uploads before it answers."""
CONNECT_SECONDS = 10.0
BROKEN, PAUSE = 4, 0.1
"""How often an envelope is sent whose connection breaks, and how many seconds more are waited each time."""
ANSWER_SECONDS = 600.0
"""How long an answer may take to come once it began."""
_LONGEST_REFUSAL = 1000


class HttpsCarrier:
    """Carries envelopes to one server.

    Args:
        study: The study.
        number: Of the server.
        url: Of the server, such as "https://south.example.org:8443".
        authority: File with the certificate that its certificate was issued with; None for those the system trusts.

    Raises:
        ParameterError: the URL is none, or the file cannot be read.
    """

    def __init__(self, study: ServersStudy, number: int, url: str, *, authority: Path | None) -> None:
        read_address(url, "a server")
        try:
            context = ssl.create_default_context(cafile=None if authority is None else str(authority))
        except OSError as problem:
            raise ParameterError(f"the certificate {plain(authority)} cannot be used: {problem.strerror}") from None
        self._url = f"{url.rstrip('/')}/v1/tasks/{study.digest.hex()}/preparation_jobs"
        self._name = url
        self._study, self._number = study, number
        self._client = httpx.Client(
            verify=context,
            timeout=httpx.Timeout(SECONDS, connect=CONNECT_SECONDS),
            headers={"Accept-Encoding": "identity"},
            trust_env=False,
        )

    def carry(self, envelope: bytes) -> bytes:
        """The response.

        Raises:
            PeerError: none came, or one that is none of this server's or longer than it states.
        """
        waited = broken = 0
        while True:
            try:
                with self._client.stream("POST", self._url, content=envelope) as response:
                    return self._read(response)
            except httpx.ReadTimeout:  # the other server may still be at work, and answers what came first
                waited += 1
                reason = f"nothing came within {TRIES * SECONDS:.0f} s"
            except httpx.HTTPError as problem:
                broken += 1
                reason = str(problem) or type(problem).__name__
            if waited >= TRIES or broken >= BROKEN:
                raise PeerError(f"no answer from {plain(self._name)}: {plain(reason)[:200]}")
            time.sleep(PAUSE * broken)

    def _read(self, response: httpx.Response) -> bytes:
        """The body of a response, of which nothing more is kept than the server signed, and nothing is unpacked."""
        if response.status_code != httpx.codes.OK:
            said = next(response.iter_raw(), b"")[:_LONGEST_REFUSAL].decode(errors="replace")
            raise PeerError(f"{plain(self._name)} answered {response.status_code}: {quoted(said)}")
        arriving = Arriving(self._bytes_of)
        end = time.monotonic() + ANSWER_SECONDS
        for some in response.iter_raw():
            if not arriving.add(some):
                raise PeerError(f"{plain(self._name)} answers with more bytes than it states, or than any answer has")
            if time.monotonic() > end:
                raise PeerError(f"the answer of {plain(self._name)} did not come within {ANSWER_SECONDS:.0f} s")
        return bytes(arriving)

    def _bytes_of(self, front: bytes) -> int:
        study = self._study
        key = study.servers[self._number].key
        return envelope_bytes(front, study=study.digest, sender=self._number, key=key, receiver=LEADER)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()
