"""Asking an agent at its socket, as `agent.listen_at` says, and why a service cannot be asked.

Needs Python alone, so that carriers take a copy of this file.
"""

from __future__ import annotations

import os
import socket

LONGEST = 1 << 28
"""Bytes of a frame; a question carries the opened sums of the queries before it, of which one of 2^20 bins has 8 MB."""
FRONT = 8
"""Bytes of a length."""
SECONDS = 60.0
"""How long either side of a connection waits for the other."""


def ask_at(path: str | os.PathLike[str], question: bytes, *, seconds: float = SECONDS) -> bytes | None:
    """Ask the agent at a socket; None if it says that this is no question of its study."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(seconds)
        connection.connect(os.fspath(path))
        connection.sendall(len(question).to_bytes(FRONT, "little") + question)
        with connection.makefile("rb") as answers:
            front = answers.read(1 + FRONT)
            length = int.from_bytes(front[1:], "little")
            if len(front) != 1 + FRONT or length > LONGEST:
                raise ConnectionError("the agent cut the answer off")
            reply = answers.read(length)
    if len(reply) != length:
        raise ConnectionError("the agent cut the answer off")
    return reply if front[0] == 0 else None


class Unavailable(Exception):  # noqa: N818 - it passes
    """The service cannot be used now."""


class UnknownToken(Exception):  # noqa: N818 - it says what is wrong
    """The service does not know this token as that of this party."""


# --- Whether Flower, in this process, tells its makers anything

QUIET = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}
"""The environment in which Flower sends no telemetry and looks for no updates."""


def lacking() -> str:
    """What the environment of this process lacks, as a line; empty if Flower is quiet."""
    return " ".join(f"{name}={value}" for name, value in QUIET.items() if os.environ.get(name) != value)
