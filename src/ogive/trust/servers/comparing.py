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

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ogive.core.arrays import Bool, Int64, UInt64
from ogive.crypto.circuits import Circuit
from ogive.crypto.circuits.arithmetic import MOST_BITS, first_largest, reaches, share_bits
from ogive.crypto.field import P
from ogive.crypto.tables import UploadCost, exchanged_bytes, upload_cost
from ogive.errors import UnsupportedError
from ogive.noise.base import Law, NodeNoise
from ogive.noise.laws import noise_bound
from ogive.queries import Aggregate, Ballots, LabelsQuery
from ogive.queries.labels import ServedQuery
from ogive.trust.base import Traffic
from ogive.trust.servers.clients import added, residues
from ogive.trust.servers.modular import block_ends
from ogive.trust.servers.settings import AggregateUploads, Layout
from ogive.trust.servers.uploads import AUTO, KEYS, SUMS, TABLES, Uploads

SERVERS = 2
_GATE_SECONDS, _BIT_SECONDS = 4e-7, 1e-6
"""Measured at the garbler, who does most."""
GARBLER, EVALUATOR = 0, 1
"""The servers, by number."""


@dataclass(frozen=True)
class Compared:
    """What labels take of two servers, without headers: bytes that each sends, AND gates, and bits of server 1."""

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
    """Circuits and inputs of one query, where a class has the votes of all teachers at most."""

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
        if self.query.check is None:
            return None
        return reaches(self._classes, self._check_width, offset_width=self._offset_width, shift=self.query.bits)

    @cached_property
    def label(self) -> Circuit:
        return first_largest(self._classes, self._label_width)

    def check_bits(self, server: int, sums: UInt64, nodes: NodeNoise, queries: Int64) -> Bool:
        """What a server enters for the checks of some queries, shape (queries, wires), from its shares of all votes."""
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


# --- What uploads of a release cost, and which kind is taken where that was left open: from public numbers alone


def fitting(uploads: Uploads, aggregate: Aggregate) -> tuple[Uploads, ...]:
    """The kinds of upload that an aggregate allows, with their parameters; keys before tables."""
    several = Layout(aggregate).amount_bits is not None or isinstance(aggregate, Ballots)
    if uploads.organizations and uploads.kind == AUTO and not isinstance(aggregate, Ballots):
        return (dataclasses.replace(uploads, kind=SUMS, verified=False),)
    if several and uploads.kind in (AUTO, KEYS):
        kinds: tuple[str, ...] = (TABLES,)
    elif uploads.kind == AUTO:
        kinds = (KEYS, TABLES) if uploads.servers == 2 else (TABLES,)
    else:
        kinds = (uploads.kind,)
    return tuple(dataclasses.replace(uploads, kind=kind) for kind in kinds)


def cost_of(collected: AggregateUploads, ends: Int64, clients: int) -> UploadCost:
    return upload_cost(
        keys=collected.keys,
        points=max(1, collected.points(ends).size),
        tables=collected.tables,
        material=collected.material,
        vectors=collected.layout.vectors,
        clients=clients,
        servers=collected.uploads.servers,
    )


def decided(uploads: Uploads, aggregate: Aggregate, clients: int) -> Uploads:
    """Choose what is uploaded of an aggregate where that was left open: what is received and evaluated first.

    Never from the question: each kind has noise of its own, so a block must get the same kind whatever else is asked.
    """

    def elapsed(each: Uploads) -> float:
        collected = AggregateUploads(Layout(aggregate), each)
        return cost_of(collected, np.arange(collected.layout.cells), clients).elapsed

    return min(fitting(uploads, aggregate), key=elapsed)


def traffic(uploads: Uploads, queries: Sequence[ServedQuery], clients: int) -> tuple[Traffic, ...]:
    """The traffic of a release with keys where they fit, and with tables; the one that would be used comes first.

    An aggregate is uploaded once. A question is computed and verified where it tells more cells apart than those before
    it, and the last verification that clients have brought material for covers all cells.
    """
    ways = {each.aggregate: fitting(uploads, each.aggregate) for each in queries}
    kinds = list(dict.fromkeys(each.kind for fit in ways.values() for each in fit))
    most = max(queries, key=lambda query: len(ways[query.aggregate]))
    taken = decided(uploads, most.aggregate, clients).kind
    return tuple(_with(kind, ways, queries, clients) for kind in sorted(kinds, key=lambda kind: kind != taken))


def _with(
    kind: str, ways: dict[Aggregate, tuple[Uploads, ...]], queries: Sequence[ServedQuery], clients: int
) -> Traffic:
    sent, received, seconds = 0, 0, 0.0
    counted: dict[Aggregate, Int64] = {}
    verified: Counter[Aggregate] = Counter()
    for query in queries:
        aggregate = query.aggregate
        uploads = next((each for each in ways[aggregate] if each.kind == kind), ways[aggregate][0])
        collected = AggregateUploads(Layout(aggregate), uploads)
        if isinstance(query, LabelsQuery):
            compared = Comparison(query, clients).traffic()
            received += compared.garbler_bytes
            seconds += compared.seconds
        ends = collected.layout.ends(block_ends(query))
        known = counted.get(aggregate)
        if known is not None:
            if np.isin(ends, known).all():
                continue
            ends = np.union1d(ends, known)
        ends = collected.verified(ends, verified[aggregate])
        verified[aggregate] += 1
        counted[aggregate] = ends
        cost = cost_of(collected, ends, clients)
        seconds += cost.seconds - cost.once
        if known is None:
            sent += cost.bytes_per_client
            received += cost.bytes_per_server
            seconds += cost.once
        else:
            received += clients * exchanged_bytes(collected.material, uploads.servers)
    return Traffic(kind, sent, received, seconds)
