"""What Tables 1 and 2 of the paper print, and what was run for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ogive.pate.aggregators import ConfidentGNMax, LNMax

GLYPH = "Glyph"
DELTAS = {"MNIST": 1e-5, "SVHN": 1e-6, "Adult": 1e-5, GLYPH: 1e-8}


@dataclass(frozen=True)
class PriceRow:
    """A row of Table 1.

    Fields:
        data: Data set.
        aggregator: What was run.
        asked: Queries.
        answered: As printed.
        epsilon: As printed.
        accuracy: Of the student in percent, as printed.
        cap: Answers after which a run of ours ends; fixed without a look at votes.
    """

    data: str
    aggregator: LNMax | ConfidentGNMax
    asked: int
    answered: int
    epsilon: float
    accuracy: float
    cap: int

    @property
    def delta(self) -> float:
        """Of the data set."""
        return DELTAS[self.data]

    @property
    def name(self) -> str:
        """For example "MNIST LNMax, 100 queries"."""
        kind = "LNMax" if isinstance(self.aggregator, LNMax) else "Confident-GNMax"
        return f"{self.data} {kind}, {self.asked} queries"


def _price_rows() -> Iterator[PriceRow]:
    moderate, strict = ConfidentGNMax(200, 150, 40), ConfidentGNMax(300, 200, 40)
    yield PriceRow("MNIST", LNMax(20), 100, 100, 2.04, 98.0, 100)
    yield PriceRow("MNIST", LNMax(20), 1000, 1000, 8.03, 98.1, 1000)
    yield PriceRow("MNIST", moderate, 640, 286, 1.97, 98.5, 300)
    yield PriceRow("SVHN", LNMax(20), 500, 500, 5.04, 82.7, 500)
    yield PriceRow("SVHN", LNMax(20), 1000, 1000, 8.19, 90.7, 1000)
    yield PriceRow("SVHN", strict, 8500, 3098, 4.96, 91.6, 3250)
    yield PriceRow("Adult", LNMax(20), 500, 500, 2.66, 83.0, 500)
    yield PriceRow("Adult", strict, 1500, 524, 1.90, 83.7, 600)
    yield PriceRow(GLYPH, LNMax(50), 4000, 4000, 4.3, 72.4, 4000)
    yield PriceRow(GLYPH, ConfidentGNMax(1000, 500, 100), 12000, 10762, 2.03, 75.5, 11000)


PRICES = {row.name: row for row in _price_rows()}
BASELINES = {"MNIST": 99.2, "SVHN": 92.8, "Adult": 85.0, GLYPH: 82.2}
"""Accuracy of a model without privacy in percent, by data set."""

INTERACTIVE = "Glyph Interactive-GNMax, two rounds: 4341 answers at 0.837"


@dataclass(frozen=True)
class SanitizedRow:
    """A row of Table 2.

    Fields:
        price: The row of Table 1 of the same run.
        expected: Expected epsilon, as printed.
        order: Renyi order.
        smoothness: b of the smooth sensitivity.
        sensitivity: Expected smooth sensitivity, as printed.
        scale: Width of the noise, in units of the smooth sensitivity.
        total: Sanitized epsilon, as printed.
        noise: Its standard deviation, as printed.
        planned: Epsilon that our own rules of thumb are given.
    """

    price: PriceRow
    expected: float
    order: float
    smoothness: float
    sensitivity: float
    scale: float
    total: float
    noise: float
    planned: float


SANITIZED = {
    row.price.data: row
    for row in (
        SanitizedRow(PRICES["MNIST Confident-GNMax, 640 queries"],
                     2.00, 14, 0.0329, 0.0618, 6.23, 2.52, 0.385, 2.0),
        SanitizedRow(PRICES["SVHN Confident-GNMax, 8500 queries"],
                     4.96, 7.5, 0.0533, 0.0717, 4.88, 5.45, 0.350, 5.0),
        SanitizedRow(PRICES["Adult Confident-GNMax, 1500 queries"],
                     1.68, 15.5, 0.0310, 0.0332, 7.92, 2.09, 0.263, 1.7),
        SanitizedRow(PRICES["Glyph Confident-GNMax, 12000 queries"],
                     2.07, 20.5, 0.0205, 0.0128, 11.9, 2.29, 0.152, 2.0),
    )
}  # fmt: skip

ROUNDS = ((50, 0.009, 26.4), (50, 0.008, 38.7))
"""Order, smoothness and scale of the two rounds of the last row of Table 2."""

ROUNDS_EXPECTED, ROUNDS_TOTAL = 0.837, 1.00
