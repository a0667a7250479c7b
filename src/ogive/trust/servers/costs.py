"""What uploads of a release cost, and which kind is taken where that was left open: from public numbers alone."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

import numpy as np

from ogive.core.arrays import Int64
from ogive.crypto.tables import UploadCost, exchanged_bytes, upload_cost
from ogive.queries import Aggregate, Ballots, LabelsQuery
from ogive.queries.labels import ServedQuery
from ogive.queries.modular import block_ends
from ogive.trust.base import Traffic
from ogive.trust.servers.comparing import Comparison
from ogive.trust.servers.settings import AggregateUploads, Layout
from ogive.trust.servers.uploads import AUTO, KEYS, SUMS, TABLES, Uploads


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
    """What uploads cost, and counting records once in blocks that end there."""
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
    """The traffic of a release that uploads one kind wherever it fits."""
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
