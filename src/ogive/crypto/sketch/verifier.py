"""One server's part in all verifications of a frozen set of uploads."""

from __future__ import annotations

import os
from collections.abc import Callable

from ogive.crypto.sketch.claims import Claim
from ogive.crypto.sketch.rounds import Check
from ogive.crypto.sketch.uploads import Uploads
from ogive.errors import ParameterError, UnsupportedError


class Verifier:
    """Begins verifications, each with material and coins that no other had.

    There can be none before the set of uploads is frozen, since its digest is needed. A verification that was begun is
    used up, whatever becomes of it: masks made twice from the same material, with other coins or for another claim,
    give shares away. A server that may be restarted stores `used` before it sends anything of a new check, and begins
    with it. Later claims cover earlier ones, so that one verification has seen all that answers use together.

    Args:
        shares: This server's shares of the material of all clients.
        session: 16 bytes, agreed by the servers.
        uploads: Digest of the frozen set of uploads: who is in it, and all of it that servers have in common.
        used: How many verifications were begun before, by any server.
        verified: What the last one claimed whose verdicts answers rely on; None where there was none.
        random: Where coins come from.
    """

    def __init__(
        self,
        shares: Uploads,
        *,
        session: bytes,
        uploads: bytes,
        used: int = 0,
        verified: Claim | None = None,
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self._shares = shares
        self._session = session
        self._uploads = uploads
        self._random = random
        self._verified = verified
        self.used = used

    @property
    def left(self) -> int:
        """How many verifications can still be begun."""
        return self._shares.shape.verifications - self.used

    def check(self, claim: Claim) -> Check:
        """Begin the verification of a claim.

        Raises:
            UnsupportedError: the uploads hold no more material.
            ParameterError: the material is of another kind than the claim needs, or the claim does not cover an
                earlier one, such as all points that were asked for before.
        """
        shape = self._shares.shape
        if (claim.squares, claim.products) != (shape.squares, shape.products):
            raise ParameterError(
                f"the claim needs {claim.squares} squares and {claim.products} products a verification; "
                f"the uploads hold {shape.squares} and {shape.products}"
            )
        if self.left <= 0:
            raise UnsupportedError(
                f"the uploads hold material for {shape.verifications} verifications, and all were used; ask for all "
                "points at once, or have clients upload material for more"
            )
        if self._verified is not None and not claim.covers(self._verified):
            raise ParameterError("a later claim must cover all points or cells that were verified before")
        self._verified = claim
        number, self.used = self.used, self.used + 1
        return Check(
            claim, self._shares, number=number, session=self._session, uploads=self._uploads, coins=self._random(32)
        )
