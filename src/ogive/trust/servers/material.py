"""Shares of the material of all clients of a set, read from the shelf when it is needed."""

from __future__ import annotations

import numpy as np

from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.tables import ShareShape
from ogive.crypto.tables.batch import Material
from ogive.trust.servers.gathered import Gathered
from ogive.trust.servers.settings import Collected


class GatheredMaterial:
    """The material that a server was sent, as a verification needs it.

    Args:
        collected: What is uploaded, verified.
        server: Whose shares they are.
        gathered: Of the server; the set is known.
    """

    def __init__(self, collected: Collected, server: int, gathered: Gathered) -> None:
        shape = collected.material
        assert shape is not None, "only what is verified has material"
        self.shape: ShareShape = shape
        self.study = collected.study
        self.server = server
        self.servers = collected.uploads.servers
        self._layout = collected.layout
        self._gathered = gathered

    def __len__(self) -> int:
        return self._gathered.clients * self._layout.vectors

    def shared_digest(self) -> bytes:
        """Digest of what all servers know of the uploads besides their names: the number of vectors."""
        return digest(HashDomain.SHARE_BATCH, number(len(self)))

    def material(self, verification: int) -> Material:
        """Shares of the material of all vectors of all clients, in the order of the clients' numbers."""
        squares, products = (self.shape.squares, len(self)), (self.shape.products, len(self))
        shapes = (squares, squares, products, products, products)
        whole = Material(*(np.empty(each, np.uint64) for each in shapes))
        for parts, numbers in self._gathered:
            assert parts.material is not None
            for into, some in zip(whole, parts.material.material(verification), strict=True):
                into[:, self._layout.rows(numbers)] = some
        return whole
