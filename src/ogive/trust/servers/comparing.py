"""What two servers compare for labels that they cannot see: sizes of circuits and what each of them enters, all public.

Server 0 garbles and enters the constants, server 1 evaluates. For each query there are two circuits at most:

    check     whether the largest count (or excess over what is expected) with the noise of both reaches the threshold
    label     for what passed: the number of the largest of all counts, each with the noise of both

Counts are held modulo 2^61 - 1. Those of the check are enlarged by public whole votes, so that none is negative; those
of a label get their noise first, and then a public number which the noise does not exceed but with probability 2^-64.
Where it does, a label or a check may be wrong, and tells no more than a right one.

Source:
    `docs/proofs/secret_votes.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ogive.core.arrays import Bool, Int64, UInt64
from ogive.crypto.circuits import Circuit
from ogive.crypto.circuits.arithmetic import MOST_BITS, first_largest, reaches, share_bits
from ogive.crypto.field import P
from ogive.errors import UnsupportedError
from ogive.noise.base import Law, NodeNoise
from ogive.queries import LabelsQuery
from ogive.trust.modulus import noise_bound
from ogive.trust.servers.clients import added, residues

SERVERS = 2
_GATE_SECONDS, _BIT_SECONDS = 4e-7, 1e-6
"""Measured at the garbler, who does most."""
GARBLER, EVALUATOR = 0, 1
"""The servers, by number."""


@dataclass(frozen=True)
class Compared:
    """What labels take of two servers, without headers.

    Fields:
        garbler_bytes: What server 0 sends to server 1.
        evaluator_bytes: What server 1 sends back.
        gates: AND gates, of all queries.
        bits: What server 1 enters.
    """

    garbler_bytes: int
    evaluator_bytes: int
    gates: int
    bits: int

    @property
    def seconds(self) -> float:
        """That the busier server computes on one core; a prediction."""
        return self.gates * _GATE_SECONDS + self.bits * _BIT_SECONDS


@dataclass(frozen=True)
class Comparison:
    """Circuits and inputs of one query.

    Fields:
        query: What is asked.
        teachers: The most votes that a class can have.
    """

    query: LabelsQuery
    teachers: int

    def __post_init__(self) -> None:
        widths = [self._label_width]
        if self.query.check is not None:
            widths += [self._check_width, self._offset_width - 2]
        if max(widths) > MOST_BITS:
            raise UnsupportedError(
                "this many votes with this much noise leave the range of the servers' numbers; ask for less noise, "
                "or use trust central"
            )

    @cached_property
    def check(self) -> Circuit | None:
        """Whether a query passes; None where every one does."""
        if self.query.check is None:
            return None
        return reaches(self._classes, self._check_width, offset_width=self._offset_width, shift=self.query.bits)

    @cached_property
    def label(self) -> Circuit:
        """Which class a query gets."""
        return first_largest(self._classes, self._label_width)

    def check_bits(self, server: int, sums: UInt64, nodes: NodeNoise, queries: Int64) -> Bool:
        """What a server enters for the checks of some queries, shape (queries, wires).

        Args:
            server: Its number.
            sums: Its shares of all votes, shape (all queries, classes).
            nodes: Its noise.
            queries: Numbers of the queries.
        """
        check = self.query.check
        assert check is not None
        low, _ = self._raised
        bottom, top = self._reach
        shares, offsets = sums[queries], nodes.values(check.law, 0, queries)
        if server == GARBLER:
            shares = added(shares, residues(self._whole_votes[queries] - low, P), P)
            # a threshold that no noise reaches, or every noise, is as good as the nearest such
            offsets = offsets + (low << self.query.bits) - min(max(check.threshold, bottom), top + 1)
        width = self._offset_width
        kept = offsets.astype(np.uint64) & np.uint64((1 << width) - 1)
        return share_bits(shares, self._check_width, offsets=kept, offset_width=width)

    def label_bits(self, server: int, sums: UInt64, nodes: NodeNoise, queries: Int64) -> Bool:
        """What a server enters for the labels of some queries, shape (queries, wires); see `check_bits`."""
        query, classes = self.query, self._classes
        scaled = added(np.zeros((len(queries), classes), np.uint64), sums[queries], P)
        for _ in range(query.bits):
            scaled = added(scaled, scaled, P)
        places = queries[:, np.newaxis] * classes + np.arange(classes)
        noise = nodes.values(query.law, len(query.levels) - 1, places)
        if server == GARBLER:
            noise = noise + _bound(query.law)
        return share_bits(added(scaled, residues(noise, P), P), self._label_width)

    def traffic(self) -> Compared:
        """What the two servers send and compute, if every query is checked and as many are answered as may be."""
        from ogive.crypto.semi_honest import instances_at_once, message_bytes  # a device that uploads has no group

        sent, gates, bits = np.zeros(2, np.int64), 0, 0
        for circuit, queries in ((self.check, len(self.query.ballots.queries)), (self.label, self.query.max_answers)):
            if circuit is not None:
                size = instances_at_once(circuit)
                for start in range(0, queries, size):
                    transfer, extension, garbled = message_bytes(circuit, min(size, queries - start))
                    sent += (transfer + garbled, extension)
                gates += queries * circuit.ands
                bits += queries * circuit.evaluator_bits
        return Compared(int(sent[GARBLER]), int(sent[EVALUATOR]), gates, bits)

    @property
    def _classes(self) -> int:
        return self.query.ballots.classes

    @cached_property
    def _whole_votes(self) -> Int64:
        """Votes that the check adds to every count, so that an excess over what is expected is rounded half up."""
        check, bits = self.query.check, self.query.bits
        if check is None or check.expected is None:
            return np.zeros(self.query.ballots.shape, np.int64)
        # floor((count 2^bits - expected + half) / 2^bits) = count + floor((half - expected) / 2^bits)
        return np.asarray(((1 << bits) >> 1) - np.array(check.expected, np.int64) >> bits)

    @cached_property
    def _raised(self) -> tuple[int, int]:
        """The least and the most votes that the check adds."""
        votes = self._whole_votes
        return min(0, int(votes.min())), max(0, int(votes.max()))

    @cached_property
    def _reach(self) -> tuple[int, int]:
        """Between what the largest count with its noise is."""
        assert self.query.check is not None
        (low, high), bound = self._raised, _bound(self.query.check.law)
        return (low << self.query.bits) - bound, (self.teachers + high << self.query.bits) + bound

    @property
    def _check_width(self) -> int:
        low, high = self._raised
        return max(1, (self.teachers + high - low).bit_length())

    @property
    def _offset_width(self) -> int:
        bottom, top = self._reach
        return (top - bottom + 1).bit_length() + 1

    @property
    def _label_width(self) -> int:
        return ((self.teachers << self.query.bits) + 2 * _bound(self.query.law)).bit_length()


def _bound(law: Law) -> int:
    """What the noise of both servers together does not exceed."""
    return noise_bound([law], adding=SERVERS, honest=1)
