"""The hash of half gates: AES-128 under keys of one gate's half, of labels that differ by a secret.

    H_K(x) = AES_K(sigma(x)) xor sigma(x),    sigma(low, high) = (high, high xor low)

The two labels of a wire differ by the garbler's secret, and the results are masked with it too: the hash must be
circular correlation robust. AES_K(x) xor x is not: sigma, a linear map for which both sigma and sigma xor the identity
can be inverted, makes it so.

Every gate and half has a key of its own, for at most 2^12 pairs: work spent on one key helps against no other, and the
security level is 128 - log2(blocks under one key), 115 bits.

Source:
    Guo, Katz, Wang, Weng and Yu 2020; `crypto.md`, sections 2 and 8.
"""

from __future__ import annotations

from dataclasses import dataclass

from ogive.crypto.aes import KEY_BYTES, Permutation
from ogive.crypto.domains import HashDomain, digest, number

CHUNK_PAIRS = 1 << 12
"""The most pairs that may share the keys of their gates."""


@dataclass(frozen=True)
class GateKeys:
    """The public keys of all gates of one chunk of pairs.

    Fields:
        session: Digest that is new in every session, for the nonces of both parties are in it.
        chunk: Number of the chunk of pairs within the session.
    """

    session: bytes
    chunk: int = 0

    def key(self, gate: int, half: int) -> bytes:
        """The key of one half, 0 or 1, of an AND gate, by its number among those; 16 bytes."""
        fields = (number(value) for value in (self.chunk, gate, half))
        return digest(HashDomain.GARBLING_GATE, self.session, *fields, length=KEY_BYTES)

    def permutation(self, gate: int, half: int) -> Permutation:
        """AES under that key."""
        return Permutation(self.key(gate, half))
