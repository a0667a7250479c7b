"""What uploads of a release cost, and which kind is taken where that was left open: from public numbers alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ogive.crypto.upload_costs import UploadCost, exchanged_bytes, upload_cost
from ogive.queries import Aggregate, LinearQuery
from ogive.queries.blocks import block_ends
from ogive.trust.base import Traffic
from ogive.trust.servers.layout import Layout
from ogive.trust.servers.settings import AUTO, KEYS, TABLES, Collected, Uploads


def fitting(uploads: Uploads, aggregate: Aggregate) -> tuple[Uploads, ...]:
    """The kinds of upload that can be taken of an aggregate, each decided; keys before tables."""
    amounts = Layout(aggregate).amount_bits is not None
    if amounts and uploads.kind in (AUTO, KEYS):
        kinds: tuple[str, ...] = (TABLES,)
    elif uploads.kind == AUTO:
        kinds = (KEYS, TABLES) if uploads.servers == 2 else (TABLES,)
    else:
        kinds = (uploads.kind,)
    return tuple(dataclasses.replace(uploads, kind=kind) for kind in kinds)


def cost_of(uploads: Uploads, query: LinearQuery, clients: int) -> UploadCost:
    """What uploads of a decided kind cost, and one answer from them."""
    collected = Collected(Layout(query.aggregate), uploads)
    return upload_cost(
        keys=collected.keys,
        points=max(1, collected.points(collected.layout.ends(block_ends(query))).size),
        tables=collected.tables,
        material=collected.material,
        clients=clients,
        servers=uploads.servers,
    )


def decided(uploads: Uploads, query: LinearQuery, clients: int) -> Uploads:
    """What is uploaded of a query's aggregate, where that was left open: what is received and computed soonest."""
    return min(fitting(uploads, query.aggregate), key=lambda each: cost_of(each, query, clients).elapsed)


def traffic(uploads: Uploads, queries: Sequence[LinearQuery], clients: int) -> tuple[Traffic, ...]:
    """What a release takes with keys wherever they fit, and what with tables; what would be taken comes first.

    An aggregate is uploaded once, however many questions are asked of it; every question is verified and computed.
    """
    ways = {each.aggregate: fitting(uploads, each.aggregate) for each in queries}
    kinds = list(dict.fromkeys(each.kind for fit in ways.values() for each in fit))
    most = max(queries, key=lambda query: len(ways[query.aggregate]))
    taken = decided(uploads, most, clients).kind
    return tuple(_with(kind, ways, queries, clients) for kind in sorted(kinds, key=lambda kind: kind != taken))


def _with(
    kind: str, ways: dict[Aggregate, tuple[Uploads, ...]], queries: Sequence[LinearQuery], clients: int
) -> Traffic:
    """What a release takes where that kind is uploaded of every aggregate that it fits."""
    sent, received, seconds = 0, 0, 0.0
    seen = set()
    for query in queries:
        fit = ways[query.aggregate]
        uploads = next((each for each in fit if each.kind == kind), fit[0])
        cost = cost_of(uploads, query, clients)
        seconds += cost.seconds
        if query.aggregate in seen:
            received += clients * exchanged_bytes(Collected(Layout(query.aggregate), uploads).material, uploads.servers)
            continue
        seen.add(query.aggregate)
        sent += cost.bytes_per_client
        received += cost.bytes_per_server
    return Traffic(kind, sent, received, seconds)
