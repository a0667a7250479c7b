"""One party's place at a study's service, where its questions are fetched and its replies left.

Needs Python and httpx alone, so that carriers take a copy of this file.
"""

from __future__ import annotations

import ssl

import httpx

from ogive.study.limits import LONGEST

SLOW_SECONDS = 35.0
"""How much longer than it was told to wait the service may take."""


class Unavailable(Exception):  # noqa: N818 - it passes
    """The service cannot be used now."""


class UnknownToken(Exception):  # noqa: N818 - it says what is wrong
    """The service does not know this token as that of this party."""


class Mailbox:
    """A party's place at the service.

    Args:
        url: Of the service, such as "https://study.example.org:8443".
        name: Of the party.
        token: The party's.
        context: Says whose certificate is believed, and holds the party's own, if it has one.
        wait: How many seconds the service is asked to wait for a question.
    """

    def __init__(self, url: str, name: str, token: str, context: ssl.SSLContext, *, wait: float) -> None:
        self._base = f"{url.rstrip('/')}/v1/parties/{name}"
        self._wait = wait
        self._client = httpx.Client(
            verify=context,
            timeout=httpx.Timeout(wait + SLOW_SECONDS, connect=10.0),
            headers={"Authorization": f"Bearer {token}"},
            trust_env=False,
        )

    def question(self) -> bytes | None:
        """What the party is to answer now; None if there is nothing to do.

        Raises:
            httpx.HTTPError, Unavailable: ask again later.
            UnknownToken: asking again is of no use.
        """
        status, found = self._post("question", b"", {"wait": str(self._wait)})
        return found if status == 200 else None

    def leave(self, reply: bytes) -> bool:
        """Leave the party's reply; False if it is no reply to what the party is asked now.

        Raises:
            httpx.HTTPError, Unavailable: ask for the question again later.
            UnknownToken: asking again is of no use.
        """
        status, _ = self._post("reply", reply, {})
        return status not in (409, 413)

    def _post(self, what: str, body: bytes, parameters: dict[str, str]) -> tuple[int, bytes]:
        with self._client.stream("POST", f"{self._base}/{what}", params=parameters, content=body) as response:
            found = bytearray()
            for chunk in response.iter_bytes():
                found += chunk
                if len(found) > LONGEST:
                    raise Unavailable("it sent more than a question can have")
        if response.status_code == 401:
            raise UnknownToken("the coordinator does not accept this party's token; ask for a new one")
        if response.status_code not in (200, 204, 409, 413):
            raise Unavailable(f"it answered {response.status_code}")
        return response.status_code, bytes(found)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()
