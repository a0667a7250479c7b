"""An agent at a socket of its own machine, for carriers that run as another user, without access to records.

    request   length 8 (little-endian) | question
    answer    status 1 (0 a reply, 1 no question of this study) | length 8 | reply

Needs no package for HTTPS.
"""

from __future__ import annotations

import logging
import socketserver
import stat
import threading
from pathlib import Path

from ogive.errors import LedgerError, ParameterError, PeerError, plain
from ogive.study.agent import Agent
from ogive.study.local_client import FRONT, LONGEST, SECONDS

LOG = logging.getLogger("ogive.study")

_CONNECTIONS = 8


def listen_at(address: str, agent: Agent, stop: threading.Event) -> None:
    """Answer at a socket until told to stop.

    The socket is open to its owner and group: whoever may connect can ask what the coordinator signed, and learns
    what the coordinator would.
    """
    if not address.startswith("unix:/"):
        raise ParameterError(f"--listen takes unix:/PATH of a socket, got {plain(address)}")
    path = Path(address.removeprefix("unix:"))
    try:
        if path.exists() and stat.S_ISSOCK(path.stat().st_mode):
            path.unlink()
        with _Server(str(path), agent) as server:
            path.chmod(0o660)
            LOG.info("listening at the socket %s; the coordinator's questions are answered as they come", path)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                stop.wait()
            finally:
                server.shutdown()
                path.unlink(missing_ok=True)
    except OSError as problem:
        raise ParameterError(f"the socket {plain(path)} cannot be made: {problem.strerror or problem}") from None


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = _CONNECTIONS

    def __init__(self, path: str, agent: Agent) -> None:
        super().__init__(path, _Handler)
        self.agent = agent

    def handle_error(self, request: object, client_address: object) -> None:
        """One connection that ends badly is no news."""


class _Handler(socketserver.StreamRequestHandler):
    timeout = SECONDS

    def handle(self) -> None:
        assert isinstance(self.server, _Server)
        length = int.from_bytes(self.rfile.read(FRONT), "little")
        if length > LONGEST:
            return
        question = self.rfile.read(length)
        try:
            status, reply = 0, self.server.agent.answer(question)
        except (PeerError, LedgerError) as problem:
            LOG.warning("a question of %d bytes is not answered: %s", len(question), problem)
            status, reply = 1, b""
        self.wfile.write(bytes([status]) + len(reply).to_bytes(FRONT, "little") + reply)
