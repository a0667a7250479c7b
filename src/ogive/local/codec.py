"""Reports as bytes: a header that says what they belong to, and what the owner's oracle drew.

    version        1 byte, 1
    tag            4 bytes, of the description that was answered
    number         4 bytes, little-endian: the participant's, public
    payload        as many bytes as the oracle needs, the same for every report of a description

A file of reports is their plain concatenation, in any order.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Int64, UInt8

VERSION = 1
TAG_BYTES = 4
HEADER_BYTES = 1 + TAG_BYTES + 4
MAX_PARTICIPANTS = 1 << 32


def encode(tag: bytes, numbers: Int64, payloads: UInt8) -> UInt8:
    """Reports, shape (n, HEADER_BYTES + payload bytes).

    Args:
        tag: Of the description.
        numbers: Of the participants, shape (n,), each below 2^32.
        payloads: What the oracle drew, shape (n, payload bytes).
    """
    assert len(tag) == TAG_BYTES
    found = np.empty((len(numbers), HEADER_BYTES + payloads.shape[1]), dtype=np.uint8)
    found[:, 0] = VERSION
    found[:, 1 : 1 + TAG_BYTES] = np.frombuffer(tag, np.uint8)
    found[:, 1 + TAG_BYTES : HEADER_BYTES] = numbers.astype("<u4")[:, np.newaxis].view(np.uint8)
    found[:, HEADER_BYTES:] = payloads
    return found


def read_numbers(reports: UInt8) -> Int64:
    """The participants of reports, shape (n,) from (n, report bytes)."""
    field = np.ascontiguousarray(reports[:, 1 + TAG_BYTES : HEADER_BYTES])
    return field.view("<u4")[:, 0].astype(np.int64)
