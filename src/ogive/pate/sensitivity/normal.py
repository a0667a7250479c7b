"""Normal noise times a private scale, in integers and fractions, rounded to a public grid.

The scale of the noise is private here, so no public grid fits it, and a float's last digits would tell what they were
multiplied with. Instead a number Z is drawn of which 104 binary digits follow the point, and value + scale Z is worked
out exactly and then rounded to the public grid: the result is what rounding value + scale N(0, 1) gives, up to the
distance of Z from a normal number.

Z = (K + U + V - 1) h, with h = 2^-40, K discrete Gaussian of parameter 2^40 and U, V uniform in [0, 1): its density
is a standard normal's at the multiples of h, and linear between them. The total variation distance between the two is
below 2^-84; U and V have 64 digits, and the rounded result can tell with a chance below (2 + scale / grid) 2^-103
(`docs/proofs/pate_sensitivity.md`). Their sum times 1 + e^epsilon is what it adds to delta: nothing against any delta
in use.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ogive.noise import DiscreteGaussian, RandomSource

RESOLUTION_BITS = 40
_DIGITS = 64
_WORDS = _DIGITS // 32

GRID = Fraction(1, 1000)
"""Published numbers are multiples of this."""


def draw_normal(source: RandomSource) -> Fraction:
    """A standard normal number; see the module for how nearly.

    Args:
        source: Where the randomness comes from.
    """
    middle = int(DiscreteGaussian(1 << RESOLUTION_BITS).sample(1, source=source)[0])
    words = [int(word) for word in source.words(2 * _WORDS)]
    between = sum((low + (high << 32)) for low, high in (words[:_WORDS], words[_WORDS:]))
    return (middle - 1 + Fraction(between, 1 << _DIGITS)) / (1 << RESOLUTION_BITS)


def publish(value: float, scale: float, *, source: RandomSource) -> float:
    """Value + scale N(0, 1), rounded half up to the public grid.

    Args:
        value: Private.
        scale: Standard deviation of the noise, above 0; may be private.
        source: Where the randomness comes from.
    """
    noisy = Fraction(value) + Fraction(scale) * draw_normal(source)
    return float(math.floor(noisy / GRID + Fraction(1, 2)) * GRID)
