"""Servers over bytes, in one process: uploads of given cells, sets, questions, and clients that cheat."""

import dataclasses

import numpy as np

from ogive.columns import Binning, Label
from ogive.columns.grids import Grid
from ogive.crypto import comparison, tables
from ogive.crypto.wire import read_message
from ogive.privacy import Adjacency, PureDP
from ogive.queries import CurveQuery, GroupSums
from ogive.records.contributions import Contributions
from ogive.strategies import design_path, design_tree
from ogive.trust.servers.clients import upload, upload_messages
from ogive.trust.servers.model import add_answers, run
from ogive.trust.servers.server import Server, ServerState
from ogive.trust.servers.settings import AggregateUploads, Layout
from ogive.trust.servers.uploads import KEYS, Uploads

SESSION = bytes(16)
LABEL = Label("y", negative=(0,))
BINNING = Binning("x", Grid.integers(0, 12))
SIZE = 13
SUMS_OF_GROUPS = GroupSums(Binning("p", Grid.explicit((0.25, 0.5, 1.0), low=0), outside="refuse"), LABEL, 3)
REPLACE = Adjacency.REPLACE


def collected(kind=KEYS, *, servers=2, verified=True, verifications=4, aggregate=BINNING, colluding=None):
    uploads = Uploads(servers, kind, verified, verifications, colluding=colluding)
    return AggregateUploads(Layout(aggregate), uploads)


def bytes_of(seed):
    rng = np.random.default_rng(seed)
    return rng.bytes


def meet(settings, uploads, *, noise=True):
    """Servers that got these uploads and agree on them."""
    servers = new_servers(settings)
    for messages in uploads:
        for server, message in zip(servers, messages, strict=True):
            server.receive(message)
    agree(servers)
    return servers


def new_servers(settings, session=SESSION, **changed):
    """Servers of a session that begins."""
    return [new_server(settings, number, session, **changed) for number in range(settings.uploads.servers)]


def new_server(settings, number, session=SESSION, **changed):
    keywords = {
        "secret": bytes([number]) * 32, "random": bytes_of(100 + number), "clients": 1 << 14,
        "state": ServerState(settings.study, session, number), **changed,
    }  # fmt: skip
    return Server(settings, number, session=session, **keywords)


def agree(servers):
    frozen = [server.freeze() for server in servers]
    for number, server in enumerate(servers):
        server.agree([messages[number] for messages in frozen if number in messages])


def ask(servers, query):
    run([server.prepare(query) for server in servers])
    answers = [server.answer(query, REPLACE) for server in servers]
    session = servers[0].session
    return add_answers(answers, servers[0].collected, session=session, query=query, adjacency=REPLACE)


def whole(bins=SIZE):
    return CurveQuery(BINNING, design_tree(bins, privacy=PureDP(1), adjacency=REPLACE))


def opened(*points):
    return CurveQuery(BINNING, design_path(SIZE, privacy=PureDP(1), adjacency=REPLACE), points)


def uploads_of(settings, cells, amounts=None, *, size=7, seed=1):
    random = bytes_of(seed)
    cells = np.asarray(cells)
    for batch, start in enumerate(range(0, len(cells), size)):
        some = slice(start, start + size)
        records = Contributions(cells[some], None if amounts is None else np.asarray(amounts)[some])
        yield upload(settings, records, batch=batch, session=SESSION, random=random)


def hostile(settings, alpha, payload, *, batch=0, spoil=()):
    """The message of a client whose key has another payload than 1, or whose material is false in some rows."""
    pair = comparison.generate(
        np.array([alpha]), shape=settings.keys, study=settings.binding("keys", SESSION),
        payloads=np.array([payload], dtype=np.uint64), random=bytes_of(11 + batch),
    )  # fmt: skip
    shares = tables.share(
        np.empty((0, 1), np.int64), shape=settings.material, servers=2, study=settings.binding("material", SESSION),
        random=bytes_of(12 + batch),
    )  # fmt: skip
    for row in spoil:
        shares[1].explicit[row] ^= np.uint64(1)
    return upload_messages(settings, [pair, shares], batch=batch, session=SESSION)


def resent(messages, batch, session=SESSION):
    """The same upload as another message of a session."""
    made = []
    for message in messages:
        header, body = read_message(message, longest=1 << 30)
        made.append(dataclasses.replace(header, sequence=batch, session=session).message(body))
    return made
