"""Two servers that label votes over bytes, and the curator who has the noise of both."""

import itertools

import numpy as np
from helpers.serving import REPLACE, SESSION, bytes_of, collected, meet

from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.queries import Ballots, LabelsQuery
from ogive.queries.labels import Check
from ogive.records.contributions import Contributions
from ogive.trust.servers.clients import upload
from ogive.trust.servers.labeling import converse
from ogive.trust.servers.model import opened_labels, run
from ogive.trust.servers.uploads import TABLES

BITS = 16
VOTE = 1 << BITS


def gaussian(votes):
    return DiscreteGaussian(int(votes * VOTE))


def asked(cast, classes, *, sigma=1, check=None, most=None, scale=None):
    """A query about votes of the shape (teachers, queries)."""
    queries = cast.shape[1]
    ballots = Ballots(tuple(f"q{number}" for number in range(queries)), classes)
    most = queries if most is None else most
    if scale is not None:
        return LabelsQuery(ballots, DiscreteLaplace(scale), most)
    return LabelsQuery(ballots, gaussian(sigma), most, BITS, check)


def checked(threshold, sigma, expected=None):
    return Check(round(threshold * VOTE), gaussian(sigma), expected)


def every_cast(teachers, classes):
    """All votes that so many teachers can cast, each a query; shape (teachers, classes^teachers)."""
    return np.array([*itertools.product(range(classes), repeat=teachers)]).T


def servers_of(cast, query, *, seed=1):
    """Two servers that hold shares of these votes and are ready for the query."""
    settings = collected(TABLES, aggregate=query.ballots)
    random = bytes_of(seed)
    records = Contributions(cast)
    servers = meet(settings, [upload(settings, records, batch=0, session=SESSION, random=random)])
    run([server.prepare(query) for server in servers])
    return servers


def labelings_of(servers, query):
    return [server.label(query, REPLACE) for server in servers]


def answers_of(servers, query):
    """What the analyst is sent."""
    labelings = labelings_of(servers, query)
    converse(*labelings)
    return [
        server.answer_labels(query, REPLACE, found) for server, found in zip(servers, labelings, strict=True)
    ], labelings


def labels_of(servers, query):
    answers, _ = answers_of(servers, query)
    return opened_labels(answers, servers[0].collected, session=SESSION, query=query, adjacency=REPLACE)


class NoiseOfBoth:
    """The noise that some servers add, added up."""

    def __init__(self, servers, query):
        self._nodes = [server._nodes(query, REPLACE) for server in servers]

    def values(self, law, level, nodes):
        return sum(each.values(law, level, nodes) for each in self._nodes)
