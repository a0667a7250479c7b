"""Running totals of a stream whose number of elements is not known: errors near those of a known length at every step.

A stream that is made for many elements has more noise at its beginning than a short one. Both methods here give up some
accuracy at the end for the beginning, by other numbers in mechanisms that are proved for any:

    open_powers  the matrix of totals is the product of those of (1 - z)^-4/7, which multiplies the noise, and of
                 (1 - z)^-3/7, which measures elements and has a norm that many elements hardly enlarge; zCDP
    open_hats    hats whose wide levels get a smaller part of the loss than narrow ones; PureDP

Source:
    Jacobsen and Fawaz 2025 for uneven factors (theirs have logarithms); the powers and the shares were searched for.
"""

from __future__ import annotations

from fractions import Fraction

from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.hats.strategy import shared_hats
from ogive.streams.hats import HatTotals
from ogive.streams.sqrt_ahead import SqrtAheadTotals

MOST = 1 << 22
"""Elements that a stream of unknown length takes at most."""
SPACINGS = (24, 640, 16384, 400_000)
SHARES = tuple(Fraction(share, 1000) for share in (282, 280, 216, 107, 115))
"""Of the loss, for elements and each level: they keep the largest ratio to a known length small, from 2^12 on."""


class OpenPowers(SqrtAheadTotals):
    """The factorization of `sqrt_ahead` with uneven powers.

    Args:
        privacy: What the whole stream may cost; zero-concentrated.
        change: Largest change of one element, in whole units.
        steps: Largest number of elements.

    Raises:
        ParameterError: the privacy is pure.
        ScaleError: the noise is larger than can be drawn.
    """

    name = "open_powers"
    digits = (17, 14, 12)
    power = Fraction(4, 7)
    weighed = 64

    def __init__(self, privacy: PureDP | ZeroConcentratedDP, change: int, *, steps: int = MOST) -> None:
        super().__init__(steps, privacy, change)


class OpenHats(HatTotals):
    """Hats of 2^22 elements that favor the first ones.

    Args:
        privacy: What the whole stream may cost; pure.
        change: Largest change of one element, in whole units.

    Raises:
        ParameterError: the privacy is not pure.
    """

    name = "open_hats"

    def __init__(self, privacy: PureDP | ZeroConcentratedDP, change: int) -> None:
        price = PureDP(self.pure(privacy).epsilon / change)
        strategy = shared_hats(MOST, SPACINGS, SHARES, privacy=price, adjacency=Adjacency.ADD_OR_REMOVE)
        super().__init__(MOST, privacy, change, strategy=strategy)
