"""A quadratic identity in a client's columns, with public coefficients drawn at random.

For columns x it says

    sum_s l_s(x)^2 + sum_k f_k(x) g_k(x) + m(x) = 0

with linear forms l_s, f_k, g_k and m, each with a constant. A claim about x is an identity that holds for all
coefficients if the claim is true, and is a polynomial in the coefficients that is not zero, of degree 2, if it is not.
Servers apply the forms to their shares; only the products need help, one shared square or product each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogive.arrays import UInt64
from ogive.crypto.field import differences, products, sums, total
from ogive.crypto.tables.batch import Material


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
