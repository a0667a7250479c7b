"""What a server has to know when it goes on after it was stopped, besides its secret and the uploads.

    state = "OGSS" | version u8 | answered u8 | stopped u8 | 0 | server u32 | study 32 | session 16 | set 32
            | verifications begun u64 | states said u64 | ends: how many u64, then i64 each
            | left out: how many u64, then i64 each

All little-endian. Servers send each other their states before they count anything, since nothing in them is secret
from a server.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from ogive.arrays import Int64
from ogive.crypto.wire import Reader
from ogive.errors import PeerError

_LAYOUT = struct.Struct("<4sBBBBI32s16s32sQQ")
_MAGIC, _VERSION = b"OGSS", 2
_NO_SET = bytes(32)


def _none() -> Int64:
    return np.empty(0, np.int64)


class Stop(IntEnum):
    """Why nothing is answered any more."""

    NO = 0
    MANY = 1
    LATE = 2


@dataclass(frozen=True, eq=False)
class ServerState:
    """Where a server stands.

    Fields:
        study: Digest of the study, 32 bytes.
        session: 16 bytes.
        server: Its number.
        uploads: Digest of the set of uploads, 32 bytes; zeros until it is known.
        used: How many verifications were begun.
        ends: Last cells of the blocks in which records were counted; none at first.
        left_out: Numbers of the clients of the set that failed a verification, increasing.
        answered: Whether anything was answered.
        stopped: Whether, and why, nothing is answered any more.
        said: How often it said where it stands; each state that another server reads has a number of its own.
    """

    study: bytes
    session: bytes
    server: int
    uploads: bytes = _NO_SET
    used: int = 0
    ends: Int64 = field(default_factory=_none)
    left_out: Int64 = field(default_factory=_none)
    answered: bool = False
    stopped: Stop = Stop.NO
    said: int = 0

    @property
    def frozen(self) -> bool:
        """Whether the set is known."""
        return self.uploads != _NO_SET

    def to_bytes(self) -> bytes:
        """The state, to be stored."""
        head = _LAYOUT.pack(
            _MAGIC, _VERSION, self.answered, self.stopped, 0,
            self.server, self.study, self.session, self.uploads, self.used, self.said,
        )  # fmt: skip
        lists = [each.astype("<i8").tobytes() for each in (self.ends, self.left_out)]
        return head + b"".join((len(each) // 8).to_bytes(8, "little") + each for each in lists)

    @classmethod
    def from_bytes(cls, data: bytes) -> ServerState:
        """Read a state, believing nothing.

        Raises:
            PeerError: the bytes are no state of a server.
        """
        reader = Reader(data, "state of a server")
        fields = _LAYOUT.unpack(reader.take(_LAYOUT.size))
        magic, version, answered, stopped, reserved, server, study, session, uploads, used, said = fields
        known = magic == _MAGIC and version == _VERSION and answered < 2 and stopped in tuple(Stop) and not reserved
        ends, left_out = (reader.array(reader.number(8), "<i8").astype(np.int64) for _ in range(2))
        reader.finish()
        ordered = all((each >= 0).all() and (each[1:] > each[:-1]).all() for each in (ends, left_out))
        if not known or not ordered:
            raise PeerError("the state of a server is not in the form of this version")
        return cls(study, session, server, uploads, used, ends, left_out, bool(answered), Stop(stopped), said)
