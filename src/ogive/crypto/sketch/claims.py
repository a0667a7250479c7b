"""What servers verify of a client's columns, each as an identity with random coefficients.

A vector d has at most one entry other than zero, and that entry is 1, if and only if z^2 = z* for all r, where
z = sum_j r_j d_j and z* = sum_j r_j^2 d_j: the polynomial z^2 - z* in r has the coefficients d_j^2 - d_j and 2 d_i d_j.
Over a field with p elements a polynomial of degree 2 other than zero is zero for at most a share 2/p of all r.

Source:
    Boneh, Boyle, Corrigan-Gibbs, Gilboa and Ishai 2021; `docs/proofs/verified_uploads.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ogive.core.arrays import Int64, UInt64
from ogive.crypto.domains import number
from ogive.crypto.field import differences, products, sums, total
from ogive.crypto.tables import Material
from ogive.errors import ParameterError

# --- A quadratic identity in a client's columns, with public coefficients drawn at random
#
# For columns x it says
#
#     sum_s l_s(x)^2 + sum_k f_k(x) g_k(x) + m(x) = 0
#
# with linear forms l_s, f_k, g_k and m, each with a constant. A claim about x is an identity that holds for all
# coefficients if the claim is true, and is a polynomial in the coefficients that is not zero, of degree 2, if it is
# not. Servers apply the forms to their shares; only the products need help, one shared square or product each.


@dataclass(frozen=True)
class Identity:
    """The forms of an identity.

    Fields:
        squares: How many l_s.
        products: How many pairs f_k, g_k.
        weights: Elements, shape (forms, columns): the l_s, the f_k, the g_k, then m.
        constants: Elements, shape (forms,).
    """

    squares: int
    products: int
    weights: UInt64
    constants: UInt64

    def forms(self, projected: UInt64, *, server: int) -> UInt64:
        """A server's shares of all forms, shape (forms, n), from their linear parts; server 0 adds constants."""
        return sums(projected, self.constants[:, np.newaxis]) if server == 0 else projected

    def masks(self, forms: UInt64, material: Material) -> UInt64:
        """A server's shares of what is opened: the factors less their masks, shape (squares + 2 products, n)."""
        masks = np.concatenate([material.a, material.x, material.y])
        return differences(forms[:-1], masks)

    def results(self, linear: UInt64, opened: UInt64, material: Material, *, server: int) -> UInt64:
        """A server's shares of the left side of the identity, shape (n,).

        Args:
            linear: This server's shares of m(x), the last of the forms, shape (n,).
            opened: The masks of all servers added up.
            material: This server's shares.
            server: Its number.
        """
        split = self.squares + self.products
        e, f, g = opened[: self.squares], opened[self.squares : split], opened[split:]
        twice = sums(e, e)
        terms = [products(twice, material.a), material.c, products(f, material.y), products(g, material.x), material.z]
        if server == 0:
            terms += [products(e, e), products(f, g)]
        found = linear
        for term in terms:
            found = sums(found, total(term, axis=0))
        return found


# --- Claims about a client's columns


class Claim(Protocol):
    """A public statement about the columns of every client."""

    @property
    def columns(self) -> int:
        """Shared columns that it speaks of."""

    @property
    def squares(self) -> int:
        """Shared squares that one verification uses."""

    @property
    def products(self) -> int:
        """Shared products that one verification uses."""

    @property
    def coefficients(self) -> int:
        """Random coefficients that it needs."""

    def identity(self, r: UInt64) -> Identity:
        """The identity for random coefficients, shape (coefficients,)."""

    def covers(self, other: Claim) -> bool:
        """Whether whoever satisfies this claim satisfies the other."""

    def to_bytes(self) -> bytes:
        """The claim in full; servers compare it before they begin."""


@dataclass(frozen=True, eq=False)
class StepClaim:
    """Values y_1, ..., y_B at increasing thresholds are those of a step: c up to some threshold, then 0; c is 0 or 1.

    The differences c - y_1, y_1 - y_2, ..., y_B are at most one 1 and add up to c identically. The columns are
    y_1, ..., y_B; if the step's height is private, it is shared too, in one more column before them.

    Soundness error: at most 2/p for a client, however it chose its upload.

    Args:
        points: The thresholds, sorted, shape (B,), B >= 1; they are bound to the coefficients.
        private_height: Whether c is private; otherwise it is 1.

    Raises:
        ParameterError: there is no point, or they are not sorted.
    """

    points: Int64
    private_height: bool = False

    def __post_init__(self) -> None:
        _check_increasing("points", self.points)

    @property
    def columns(self) -> int:
        return self.points.size + self.private_height

    squares, products = 1, 0

    @property
    def coefficients(self) -> int:
        return self.points.size + 1

    def identity(self, r: UInt64) -> Identity:
        powers = np.stack([r, _negated_squares(r)])
        steps = differences(powers[:, 1:], powers[:, :-1])
        height = powers[:, :1]
        if self.private_height:
            return Identity(1, 0, np.concatenate([height, steps], axis=1), np.zeros(2, np.uint64))
        return Identity(1, 0, steps, height[:, 0])

    def covers(self, other: Claim) -> bool:
        if not isinstance(other, StepClaim) or other.private_height != self.private_height:
            return False
        return bool(np.isin(other.points, self.points).all())

    def to_bytes(self) -> bytes:
        return b"steps" + number(self.private_height) + self.points.astype("<i8").tobytes()


@dataclass(frozen=True, eq=False)
class CellClaim:
    """Sums over blocks of cells are one 1 and zeros, or all zeros: the client counts once, or nowhere.

    Soundness error: at most 2/p for a client, however it chose its upload. Of what happens within a block nothing is
    proved, so later answers may use no finer sums than these without another verification.

    Args:
        ends: The last cell of every block, increasing, shape (B,); the last one is the last cell.

    Raises:
        ParameterError: there is no block, or they are not sorted.
    """

    ends: Int64

    def __post_init__(self) -> None:
        _check_increasing("ends", self.ends)

    @property
    def columns(self) -> int:
        return int(self.ends[-1]) + 1

    squares, products = 1, 0

    @property
    def coefficients(self) -> int:
        return self.ends.size

    def identity(self, r: UInt64) -> Identity:
        each = np.repeat(r, np.diff(self.ends, prepend=-1))
        return Identity(1, 0, np.stack([each, _negated_squares(each)]), np.zeros(2, np.uint64))

    def covers(self, other: Claim) -> bool:
        if not isinstance(other, CellClaim) or other.columns != self.columns:
            return False
        return bool(np.isin(other.ends, self.ends).all())

    def to_bytes(self) -> bytes:
        return b"cells" + self.ends.astype("<i8").tobytes()


@dataclass(frozen=True)
class AmountClaim:
    """The client counts in one of 2 groups cells (label, group), and adds 0 to 2^bits to the sum of that group alone.

    The columns are those of `amount_columns`: cells d, amounts u and digits b. One identity says three things at once:

        d is one 1 and zeros, or all zeros    z^2 = z*, as for `CellClaim`
        every digit is 0 or 1                 (r b)^2 = r^2 b, for each with an r of its own
        u = A g                               A sum_q r_q g_q = sum_q r_q u_q

    with A the weighted sum of the digits and g the cells summed over labels. A client that counts nowhere adds nothing.

    Soundness error: at most 2/p for a client, however it chose its upload.

    Args:
        groups: At least 1.
        bits: 1 to 32.

    Raises:
        ParameterError: a number is out of its range.
    """

    groups: int
    bits: int

    def __post_init__(self) -> None:
        if self.groups < 1 or not 1 <= self.bits <= 32:
            raise ParameterError(
                f"amounts need a group and 1 to 32 bits, got {self.groups} groups and {self.bits} bits"
            )

    @property
    def columns(self) -> int:
        return 3 * self.groups + self.bits + 1

    @property
    def squares(self) -> int:
        return self.bits + 2

    products = 1

    @property
    def coefficients(self) -> int:
        return self.columns

    def identity(self, r: UInt64) -> Identity:
        cells, amounts, digits = (
            slice(0, 2 * self.groups),
            slice(2 * self.groups, 3 * self.groups),
            slice(3 * self.groups, None),
        )
        weights = np.zeros((self.squares + 3, self.columns), dtype=np.uint64)
        weights[0, cells] = r[cells]
        weights[1 : self.squares, digits] = np.diag(r[digits])
        amount, group, linear = weights[-3:]
        amount[digits] = [*(1 << np.arange(self.bits)), 1]
        group[cells] = np.tile(r[amounts], 2)
        linear[:] = _negated_squares(r)
        linear[amounts] = differences(np.uint64(0), r[amounts])
        return Identity(self.squares, 1, weights, np.zeros(len(weights), np.uint64))

    def covers(self, other: Claim) -> bool:
        return other == self

    def to_bytes(self) -> bytes:
        return b"amounts" + number(self.groups) + number(self.bits)


def _negated_squares(r: UInt64) -> UInt64:
    return differences(np.uint64(0), products(r, r))


def _check_increasing(name: str, places: Int64) -> None:
    if places.ndim != 1 or not places.size or places[0] < 0 or np.any(np.diff(places) <= 0):
        raise ParameterError(f"`{name}` must be one or more increasing whole numbers from 0")
