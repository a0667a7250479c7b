"""A server of a study that holds other shares of some people than these sent, in this process or as one of its own."""

import numpy as np
from helpers.forked import Forked

from ogive.cli import main
from ogive.trust.servers.server import Server, added, subtracted


class Corrupted:
    """Makes a server hold other shares of some clients than these sent: in what it verifies, and in its sums."""

    def __init__(self, monkeypatch, *, clients=(), server=1, more=1):
        self.clients, self.server, self.more = clients, server, more
        evaluated, sums = Server._evaluated, Server._sums

        def false_evaluated(server, ends, weights):
            forms, total = evaluated(server, ends, weights)
            for client in self.clients if server._number == self.server else ():
                forms[:, client] ^= np.uint64(1)
                total = added(total, np.full_like(total, self.more), server.collected.modulus)
            return forms, total

        def false_sums(server, state):
            total = sums(server, state)
            for client in state.left_out.tolist():  # what is taken out again is what it holds
                if server._number == self.server and client in self.clients:
                    total = subtracted(total, np.full_like(total, self.more), server.collected.modulus)
            return total

        monkeypatch.setattr(Server, "_evaluated", false_evaluated)
        monkeypatch.setattr(Server, "_sums", false_sums)


class _Patch:
    """Sets for good what a test would set back."""

    setattr = staticmethod(setattr)


def lie(words):
    """`ogive` with false shares, of the people named by the first word, to which the second is added in sums."""
    clients, more, *words = words
    Corrupted(_Patch, clients=tuple(map(int, clients.split(","))), more=int(more))
    return main(words)


LYING = "import sys; from helpers.lying_server import lie; sys.exit(lie(sys.argv[1:]))"


def lying(words, folder, log, *, clients, more=1):
    """The process of a server that lies; `words` follow `ogive`."""
    return Forked(["-c", LYING, ",".join(map(str, clients)), more, *words], folder, log, program="python")
