"""What the questions of a release take of parties who add up masked vectors: one aggregation for every question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ogive.crypto.aggregation.costs import aggregation_cost
from ogive.privacy import Adjacency
from ogive.queries import LinearQuery
from ogive.trust.base import Traffic
from ogive.trust.secagg.terms import AggregationTerms


def traffic(terms: AggregationTerms, queries: Sequence[LinearQuery], adjacency: Adjacency) -> Traffic:
    """Bytes and seconds of all questions together, where nobody leaves before the end.

    Args:
        terms: How many parties there are, and how many may leave or collude.
        queries: What is asked.
        adjacency: Where it makes numbers of records public, parties open theirs.
    """
    sent, to_party, received, seconds = 0, 0, 0, 0.0
    for query in queries:
        nothing = np.zeros(query.aggregate.shape, np.int64)
        cost = aggregation_cost(
            terms.parties,
            int(np.prod(query.measure(nothing).shape)),
            totals=len(query.totals(nothing, adjacency) or ()),
            dropouts=terms.dropouts,
            neighbours=None if terms.graph is None else terms.graph[0],
            confirmed=terms.confirmed,
        )
        sent += cost.bytes_per_party
        to_party += cost.bytes_to_party
        received += cost.bytes_per_server
        seconds += cost.seconds
    return Traffic("vectors", sent, received, seconds, bytes_to_party=to_party)
