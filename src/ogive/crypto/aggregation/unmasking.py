"""What the server does with the shares it was given: find the masks that did not cancel, and take them away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from ogive.arrays import UInt64
from ogive.crypto.aggregation.masks import add_masks, as_secret, commitment, pair_seed, self_seed
from ogive.crypto.aggregation.messages import Advertised
from ogive.crypto.aggregation.sharing import reconstruct
from ogive.crypto.channels import agree
from ogive.errors import PeerError


def remove_masks(
    masked: UInt64,
    shares: Mapping[int, Mapping[int, int]],
    *,
    threshold: int,
    included: Sequence[int],
    keys: Mapping[int, Advertised],
    neighbours: Mapping[int, Sequence[int]],
    session: bytes,
) -> UInt64:
    """The sum of vectors, from that of masked ones.

    Args:
        masked: The sum of the masked vectors of the included parties, shape (length,).
        shares: For each party that shared its secrets, holder -> share: of the secret of its own mask if it is
            included, else of its private key.
        threshold: Shares that give a secret.
        included: The parties in the sum.
        keys: What each party made known.
        neighbours: Of each party.
        session: The session.

    Raises:
        PeerError: too few shares of some secret, or they do not make up what its owner made known.
    """
    inside = set(included)
    plus: list[bytes] = []
    minus: list[bytes] = []
    for party, held in shares.items():
        if len(held) < threshold:
            raise PeerError(f"{len(held)} shares of party {party}'s secret arrived, and {threshold} are needed")
        secret = as_secret(reconstruct({holder: held[holder] for holder in sorted(held)[:threshold]}))
        if party in inside:
            _check(commitment(party, secret) == keys[party].own, party)
            minus.append(self_seed(session, party, secret))
            continue
        private = X25519PrivateKey.from_private_bytes(secret)
        _check(private.public_key().public_bytes_raw() == keys[party].mask, party)
        for other in neighbours[party]:
            if other in inside:  # who added the mask for those after it, and took it away for those before it
                seed = pair_seed(session, party, other, agree(private, keys[other].mask, other))
                (minus if party > other else plus).append(seed)
    opened = masked.copy()
    add_masks(opened, plus=plus, minus=minus)
    return opened


def _check(agrees: bool, party: int) -> None:
    if not agrees:
        raise PeerError(
            f"the shares of party {party}'s secret do not make up what it made known: it, or somebody who holds one, "
            "sent a wrong share; there is no sum"
        )
