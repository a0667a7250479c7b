"""What a verification needs of a server's shares of all uploads, wherever they are kept."""

from __future__ import annotations

from typing import Protocol

from ogive.crypto.tables.batch import Material
from ogive.crypto.tables.shape import ShareShape


class Uploads(Protocol):
    """One server's shares of the material of all clients; a `ShareBatch` is one, and so may be many on a disk."""

    @property
    def shape(self) -> ShareShape:
        """How much material every client uploaded."""

    @property
    def study(self) -> bytes:
        """Digest of the study, 32 bytes."""

    @property
    def server(self) -> int:
        """Number of the server, from 0."""

    @property
    def servers(self) -> int:
        """How many there are."""

    def __len__(self) -> int:
        """How many clients."""

    def shared_digest(self) -> bytes:
        """Digest of what all servers know of the uploads."""

    def material(self, verification: int) -> Material:
        """Shares of the material of one verification, numbered from 0."""
