"""Labels from the halves of two servers: what the analyst computes, which learns them and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ogive.arrays import Int64
from ogive.crypto.twoparty.messages import read_bits
from ogive.crypto.wire import Inbox, Reader, Suite
from ogive.errors import PeerError
from ogive.privacy import Adjacency
from ogive.queries import LabelsQuery
from ogive.queries.labels import NOT_ASKED, REFUSED
from ogive.trust.servers.comparing import SERVERS
from ogive.trust.servers.labeling import ANSWERED
from ogive.trust.servers.server import ANALYST, ANSWER
from ogive.trust.servers.settings import AggregateUploads, question_digest, question_number

_DIGEST_BYTES = 32


def opened_labels(
    messages: Sequence[bytes], collected: AggregateUploads, *, session: bytes, query: LabelsQuery, adjacency: Adjacency
) -> Int64:
    """The labels, or why there are none, shape (queries,).

    Args:
        messages: One of each server.
        collected: What was uploaded.
        session: 16 bytes.
        query: What was asked.
        adjacency: Under which it was.

    Raises:
        PeerError: a message is missing, malformed, or belongs elsewhere, or the servers disagree.
    """
    question = question_digest(query, adjacency)
    queries, classes = query.ballots.shape
    digits = (classes - 1).bit_length()
    longest = 2 * _DIGEST_BYTES + queries + -(-query.max_answers * digits // 8)
    inbox = Inbox(suite=Suite.SERVERS, study=collected.study, receiver=ANALYST, senders=range(SERVERS))
    said: dict[int, tuple[bytes, Int64, bytes]] = {}
    for message in messages:
        header, body = inbox.read(message, kind=ANSWER, session=session, round=0, sequence=None, longest=longest)
        if header.sender in said:
            raise PeerError(f"server {header.sender} answered twice")
        reader = Reader(body, f"answer of server {header.sender}")
        clients, asked = reader.take(_DIGEST_BYTES), reader.take(_DIGEST_BYTES)
        if asked != question or header.sequence != question_number(question):
            raise PeerError(f"the answer of server {header.sender} is to another question")
        said[header.sender] = clients, reader.array(queries, "<i1").astype(np.int64), reader.take(reader.left)
    missing = set(range(SERVERS)) - set(said)
    if missing:
        raise PeerError(f"server {min(missing)} has not answered")
    (counted, statuses, _), (also_counted, also_statuses, _) = (said[server] for server in range(SERVERS))
    if counted != also_counted:
        raise PeerError("the servers did not count the same clients; their answers have no labels in common")
    if not (np.array_equal(statuses, also_statuses) and np.isin(statuses, [ANSWERED, REFUSED, NOT_ASKED]).all()):
        raise PeerError("the servers do not agree on which queries have labels")
    answered = np.flatnonzero(statuses == ANSWERED)
    if len(answered) > query.max_answers:
        raise PeerError(f"the servers answered {len(answered)} queries, and at most {query.max_answers} were asked for")
    halves = [read_bits(said[server][2], len(answered) * digits) for server in range(SERVERS)]
    places = (halves[0] ^ halves[1]).reshape(len(answered), digits) @ (np.int64(1) << np.arange(digits))
    if (places >= classes).any():
        raise PeerError("the servers' halves make a label of no class; one of them did not follow the protocol")
    labels = statuses.copy()
    labels[answered] = places
    return labels
