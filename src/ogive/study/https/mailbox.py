"""One party's place at a study's service, where its questions are fetched and its replies left.

Needs Python and httpx alone, so that carriers take a copy of this file.
"""

from __future__ import annotations

import ssl
import time

import httpx

from ogive.study.local_client import LONGEST, Unavailable, UnknownToken

STEP = "ogive-step-seconds"
"""The header in which a service says how long a step waits for those who have not answered."""
WAITS, SLOW = 1 / 4, 1 / 6
"""The shares of a step for which a service is asked to wait, and by how much longer it may take, so that a connection
that is lost without a word costs no step."""
LEAST_RATE = 4096.0
"""Bytes of an answer that come in a second, at the least."""
_LEAST_SLOW = 2.0
_FIRST_SECONDS, _CONNECT_SECONDS = 15.0, 10.0
_DAY, _USUAL_STEP = 86_400.0, 60.0


def quiet_client(context: ssl.SSLContext, headers: dict[str, str] | None = None) -> httpx.Client:
    """A client that asks for nothing packed, which would be longer than what is sent."""
    return httpx.Client(
        verify=context,
        timeout=httpx.Timeout(_FIRST_SECONDS, connect=_CONNECT_SECONDS),
        headers={"Accept-Encoding": "identity", **(headers or {})},
        trust_env=False,
    )


def read(response: httpx.Response, most: int) -> bytes:
    """The body of a streamed response as it was sent, in a time that its length allows."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise Unavailable("it sent something packed, which nobody asked for")
    result = bytearray()
    begun = time.monotonic()
    for chunk in response.iter_raw():
        result += chunk
        if len(result) > most:
            raise Unavailable(f"it sent more than the {most} bytes that an answer may have")
        if time.monotonic() - begun > _FIRST_SECONDS + len(result) / LEAST_RATE:
            raise Unavailable("its answer came too slowly")
    return bytes(result)


class Mailbox:
    """A party's place at the service, which is asked to wait some seconds for a question, at most 1/4 of a step.

    The context says whose certificate is believed, and holds the party's own, if it has one.
    """

    def __init__(self, url: str, name: str, token: str, context: ssl.SSLContext, *, wait: float) -> None:
        self._base = f"{url.rstrip('/')}/v1/parties/{name}"
        self._longest_wait = wait
        self._wait = 0.0  # before it is known how long a step takes
        self._client = quiet_client(context, {"Authorization": f"Bearer {token}"})

    def question(self) -> bytes | None:
        """What the party is to answer now; None if there is nothing to do."""
        status, result = self._post("question", b"", {"wait": str(self._wait)})
        return result if status == 200 else None

    def leave(self, reply: bytes) -> bool:
        """Leave the party's reply; False if it is not a reply to what the party is asked now."""
        status, _ = self._post("reply", reply, {})
        return status not in (409, 413)

    def _post(self, what: str, body: bytes, parameters: dict[str, str]) -> tuple[int, bytes]:
        try:
            with self._client.stream("POST", f"{self._base}/{what}", params=parameters, content=body) as response:
                result = read(response, LONGEST)
        except httpx.HTTPError as problem:
            raise Unavailable(str(problem) or type(problem).__name__) from None
        self._keep_to(response.headers.get(STEP, ""))
        if response.status_code == 401:
            raise UnknownToken("the coordinator does not accept this party's token; ask for a new one")
        if response.status_code not in (200, 204, 409, 413):
            raise Unavailable(f"it answered {response.status_code}")
        return response.status_code, result

    def _keep_to(self, step: str) -> None:
        """Wait as long as steps of this length in seconds allow; of the usual length where the service does not say."""
        try:
            seconds = float(step)
        except ValueError:
            seconds = _USUAL_STEP
        seconds = min(seconds, _DAY) if seconds > 0 else _USUAL_STEP
        self._wait = min(self._longest_wait, WAITS * seconds)
        slow = max(SLOW * seconds, _LEAST_SLOW)
        self._client.timeout = httpx.Timeout(self._wait + slow, connect=min(slow, _CONNECT_SECONDS))

    def close(self) -> None:
        self._client.close()
