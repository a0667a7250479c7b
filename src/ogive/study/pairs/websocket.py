"""WebSockets as channels: a person's end, and the relay's end at a Starlette service.

Needs the extra `serve`.
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Awaitable, Callable

from starlette.types import Scope
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from ogive.errors import ParameterError, PeerError, plain
from ogive.study.pairs.relay import Relay
from ogive.study.pairs.study import FRONT_BYTES, Channel, PairsStudy

_SERVER_ERROR = 500


def endpoint(relay: Relay, known: Callable[[Scope], None] = lambda _: None) -> Callable[[WebSocket], Awaitable[None]]:
    """Serves the people of a relay, each at a WebSocket."""

    async def serve(websocket: WebSocket) -> None:
        await websocket.accept()
        await relay.serve(_Served(websocket), lambda: known(websocket.scope))

    return serve


def largest_frame(study: PairsStudy) -> int:
    """Bytes of the longest frame, which a service has to take and no more."""
    return FRONT_BYTES + study.longest


async def connect(url: str, study: PairsStudy, context: ssl.SSLContext | None = None) -> Channel:
    try:
        return _Connected(
            await open_websocket(url, ssl=context, max_size=largest_frame(study), compression=None, proxy=None)
        )
    except InvalidURI:
        raise ParameterError(f"{plain(url)} is no address of a service") from None
    except ssl.SSLCertVerificationError as problem:
        raise PeerError(f"the service's certificate is not valid ({plain(problem.verify_message)})") from None
    except InvalidHandshake as problem:
        status = getattr(getattr(problem, "response", None), "status_code", _SERVER_ERROR)
        if status < _SERVER_ERROR:
            raise PeerError(f"what answers at this address is no service of pairs: it says {status}") from None
        raise ConnectionError(str(problem)) from None
    except (OSError, TimeoutError) as problem:
        raise ConnectionError(str(problem)) from None


class _Connected:
    """A person's end."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def receive(self) -> bytes | None:
        try:
            frame = await self._connection.recv(decode=False)
        except (ConnectionClosed, OSError):
            return None
        return bytes(frame)

    async def send(self, frame: bytes) -> None:
        try:
            await self._connection.send(frame)
        except ConnectionClosed as problem:
            raise ConnectionError(str(problem)) from None

    async def close(self) -> None:
        await self._connection.close()


class _Served:
    """The relay's end."""

    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket

    async def receive(self) -> bytes | None:
        result = await self._websocket.receive()
        if result["type"] != "websocket.receive":
            return None
        frame: bytes | None = result.get("bytes")
        return b"" if frame is None else frame  # a text is no frame

    async def send(self, frame: bytes) -> None:
        try:
            await self._websocket.send_bytes(frame)
        except (WebSocketDisconnect, RuntimeError) as problem:
            raise ConnectionError(str(problem)) from None

    async def close(self) -> None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # it is closed
            await self._websocket.close()
