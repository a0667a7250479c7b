"""The process of the coordinator's service."""

from __future__ import annotations

import logging
import socket
import ssl
import sys
from collections.abc import Callable
from pathlib import Path

import uvicorn
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from starlette.types import ASGIApp

from ogive.errors import ParameterError, plain
from ogive.study.coordinator import Coordinator
from ogive.study.document import Study
from ogive.study.https.certificates import expiry_words
from ogive.study.https.connections import (
    BACKLOG,
    Connection,
    OneLine,
    WebSocket,
    allow_files,
    closing_unread,
    limit,
)
from ogive.study.https.enrolment import SERVICE, TOKENS
from ogive.study.https.service import Service
from ogive.study.https.tokens import Tokens
from ogive.study.store import Store

LOG = logging.getLogger("ogive.study")

_CONNECTIONS = 1 << 14
_FILES = 2 * _CONNECTIONS
_LAST_PORT = 65_535


def serve(
    study: Study,
    *,
    key: Ed25519PrivateKey,
    state: str,
    folder: Path,
    host: str,
    port: int,
    step_seconds: float,
    clients: bool,
) -> None:
    """Run the service until the process is told to stop.

    Args:
        study: The study.
        key: The coordinator's.
        state: Where its state is kept.
        folder: Of `enrolment.equip`.
        host: Address to listen on.
        port: Port to listen on; 0 for any that is free.
        step_seconds: How long a step waits for those who have not answered.
        clients: Whether agents must have a certificate of the study's authority.

    Raises:
        ParameterError: a file of the folder cannot be used, or the address.
        LedgerError: another process runs on the state, or it cannot be opened.
    """
    tokens = Tokens.read(folder / TOKENS, study)
    listening = listen(folder, host, port)
    store = Store(state)
    store.hold()
    log_to_stderr()
    coordinator = Coordinator(study, key=key, store=store, step_seconds=step_seconds)
    LOG.info("serving study %s at https://%s:%d", study.name, host, listening.getsockname()[1])
    expiry = expiry_words(folder / f"{SERVICE}.pem")
    if expiry is not None:
        LOG.warning("%s", expiry)
    service = Service(coordinator, tokens)
    run(service.application(), listening, folder, clients=clients, ending=service.end)
    store.close()


def log_to_stderr() -> None:
    """Write what is logged to the standard error, a line each."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    for name in ("asyncio", "uvicorn.error"):
        logging.getLogger(name).addFilter(OneLine())
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it writes a line for each request


def listen(folder: Path, host: str, port: int) -> socket.socket:
    """A socket at an address, for the certificate in a folder.

    Raises:
        ParameterError: a file of the folder cannot be used, or the address.
    """
    certificate, key, authority = _files(folder)
    for path in (certificate, key, authority):
        if not path.is_file():
            raise ParameterError(f"{plain(path)} is not there; ogive study keys --service makes it")
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
    except OSError as problem:
        raise ParameterError(f"the certificate in {plain(folder)} cannot be used: {problem.strerror}") from None
    return _listen(host, port)


def run(
    application: ASGIApp,
    listening: socket.socket,
    folder: Path,
    *,
    clients: bool = False,
    longest_frame: int | None = None,
    ending: Callable[[], None] = lambda: None,
) -> None:
    """Serve an application until the process is told to stop.

    Args:
        application: To serve.
        listening: Of `listen`.
        folder: With the certificate.
        clients: Whether clients must have a certificate of the authority in the folder.
        longest_frame: Bytes that a message over a WebSocket may have; None where there are no WebSockets.
        ending: Called when the process was told to stop, before connections are waited for.
    """
    allow_files(_FILES)
    limit(_CONNECTIONS)
    config = configuration(application, folder, clients=clients, longest_frame=longest_frame)
    StoppingServer(config, ending).run(sockets=[listening])


def configuration(
    application: ASGIApp, folder: Path, *, clients: bool = False, longest_frame: int | None = None
) -> uvicorn.Config:
    """How every service is served.

    Args:
        application: To serve.
        folder: With the certificate.
        clients: Whether clients must have a certificate of the authority in the folder.
        longest_frame: Bytes that a message over a WebSocket may have; None where there are no WebSockets.
    """
    certificate, key, authority = _files(folder)
    return uvicorn.Config(
        closing_unread(application),
        ssl_certfile=str(certificate),
        ssl_keyfile=str(key),
        ssl_ca_certs=str(authority) if clients else None,
        ssl_cert_reqs=ssl.CERT_REQUIRED if clients else ssl.CERT_NONE,
        backlog=BACKLOG,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=3,
        loop="asyncio",  # the same, whatever else is installed
        http=Connection,
        ws="none" if longest_frame is None else WebSocket,
        ws_max_size=longest_frame or 0,
        access_log=False,
        log_level="warning",
        server_header=False,
        workers=1,
    )


class StoppingServer(uvicorn.Server):
    """A server that tells its application to end what it waits for, before connections are waited for."""

    def __init__(self, config: uvicorn.Config, ending: Callable[[], None]) -> None:
        super().__init__(config)
        self._ending = ending

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all connections."""
        self._ending()
        await super().shutdown(sockets)


def _files(folder: Path) -> tuple[Path, Path, Path]:
    """Certificate, its key, and the authority."""
    return folder / f"{SERVICE}.pem", folder / f"{SERVICE}.key", folder / "ca.pem"


def _listen(host: str, port: int) -> socket.socket:
    """A socket at an address.

    Raises:
        ParameterError: nobody can listen there.
    """
    if not 0 <= port <= _LAST_PORT:
        raise ParameterError(f"`port` must be 0 to {_LAST_PORT}, got {port}")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
        except OSError:
            listening.close()
            raise
    except (OSError, UnicodeError) as problem:
        reason = getattr(problem, "strerror", None) or "no such name"
        raise ParameterError(f"cannot listen at {plain(host)} port {port}: {plain(reason)}") from None
    return listening
