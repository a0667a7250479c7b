"""An agent at a socket of its own machine, for carriers that run as another user, without access to records.

request   length 8 (little-endian) | question
answer    status 1 (0 a reply, 1 no question of this study) | length 8 | reply
"""

from __future__ import annotations

import logging
import os
import socket
import socketserver
import stat
import threading
from pathlib import Path

from ogive.errors import LedgerError, ParameterError, PeerError, plain
from ogive.study.agent import Agent
from ogive.study.frames import LONGEST

LOG = logging.getLogger("ogive.study")

_FRONT = 8
_SECONDS = 60.0
_CONNECTIONS = 8


def listen_at(address: str, agent: Agent, stop: threading.Event) -> None:
    """Answer at a socket until told to stop.

    The socket is open to its owner and group: whoever may connect can ask what the coordinator signed, and learns
    what the coordinator would.

    Raises:
        ParameterError: this is no address of a socket, or it cannot be made.
    """
    if not address.startswith("unix:/"):
        raise ParameterError(f"--listen takes unix:/PATH of a socket, got {plain(address)}")
    path = Path(address.removeprefix("unix:"))
    try:
        if path.exists() and stat.S_ISSOCK(path.stat().st_mode):
            path.unlink()
        with _Server(str(path), agent) as server:
            path.chmod(0o660)
            LOG.info("listening at %s", path)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                stop.wait()
            finally:
                server.shutdown()
                path.unlink(missing_ok=True)
    except OSError as problem:
        raise ParameterError(f"the socket {plain(path)} cannot be made: {problem.strerror or problem}") from None


def ask_at(path: str | Path, question: bytes, *, seconds: float = _SECONDS) -> bytes | None:
    """Ask the agent at a socket; None if it says that this is no question of its study.

    Raises:
        OSError: nobody answers there.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(seconds)
        connection.connect(os.fspath(path))
        connection.sendall(len(question).to_bytes(_FRONT, "little") + question)
        with connection.makefile("rb") as answers:
            front = answers.read(1 + _FRONT)
            length = int.from_bytes(front[1:], "little")
            if len(front) != 1 + _FRONT or length > LONGEST:
                raise ConnectionError("the agent cut the answer off")
            reply = answers.read(length)
    if len(reply) != length:
        raise ConnectionError("the agent cut the answer off")
    return reply if front[0] == 0 else None


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = _CONNECTIONS

    def __init__(self, path: str, agent: Agent) -> None:
        super().__init__(path, _Handler)
        self.agent = agent

    def handle_error(self, request: object, client_address: object) -> None:
        """One connection that ends badly is no news."""


class _Handler(socketserver.StreamRequestHandler):
    timeout = _SECONDS

    def handle(self) -> None:
        assert isinstance(self.server, _Server)
        length = int.from_bytes(self.rfile.read(_FRONT), "little")
        if length > LONGEST:
            return
        question = self.rfile.read(length)
        try:
            status, reply = 0, self.server.agent.answer(question)
        except (PeerError, LedgerError) as problem:
            LOG.warning("a question of %d bytes is not answered: %s", len(question), problem)
            status, reply = 1, b""
        self.wfile.write(bytes([status]) + len(reply).to_bytes(_FRONT, "little") + reply)
