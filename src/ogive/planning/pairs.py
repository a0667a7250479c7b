"""Price and error of a pairwise statistic, from its one question alone: no record is imagined."""

from __future__ import annotations

import math

from ogive.accounting import covers
from ogive.crypto.twoparty.messages import pair_bytes
from ogive.errors import BudgetError, ParameterError
from ogive.noise import DiscreteLaplace
from ogive.privacy import Loss
from ogive.queries import CellsQuery, PairsQuery, Query, ReportsQuery
from ogive.statistics.base import Terms
from ogive.statistics.ustatistic.reference_shapes import NARROW, SHAPES
from ogive.statistics.ustatistic.statistic import Ustatistic

SHAPE_WORDS = (
    f"errors are those on {len(SHAPES)} public reference shapes, spread out and skewed, and where bins round values on "
    f"{len(NARROW)} that fill a part of the bounds, whose columns go together; "
    "with equal classes where these are public; give like= for a shape of your own"
)

ROUNDED_WORDS = (
    "an interval counts besides how far rounding to bins may move the value at most, whatever the records: where "
    "values are whole numbers, grid='integers' rounds nothing and may state far less than a smaller error here"
)


def pairs_row(way: Ustatistic, terms: Terms, records: int) -> tuple[Query, Loss, str, dict[str, float]]:
    """What is asked, its price, its noise in words, and its errors by name.

    Raises:
        ParameterError, UnsupportedError, BudgetError: it does not fit.
    """
    if records < 2:
        raise ParameterError(f"a mean over pairs needs at least two records, got {records}")
    found = way.chosen_method(terms)
    query = found.query
    price = query.price(terms.unit)
    if not covers(terms.privacy, price):
        raise BudgetError(f"it would cost {price}, more than {terms.privacy}")
    return query, price, _noise(query, records, found.domain.sizes), {"value": math.sqrt(found.predicted)}


def _noise(query: Query, records: int, sizes: tuple[int, ...]) -> str:
    bins = " x ".join(str(size) for size in sizes)
    if isinstance(query, ReportsQuery):
        return f"{records} randomized reports on {bins} bins"
    if isinstance(query, PairsQuery):
        each = f"{query.rounds} pair{'s' * (query.rounds > 1)}"
        circuit = query.program(query.rounds).circuit
        sent = sum(pair_bytes(circuit).values()) / 1000
        return f"circuits of {circuit.ands} AND gates, {each} each of {sent:.3g} kB"
    laws = [level.law for level in query.levels]
    kind = "Laplace" if all(isinstance(law, DiscreteLaplace) for law in laws) else "Gaussian"
    if isinstance(query, CellsQuery):
        return f"{kind} on {bins} counts"
    return f"{kind} on {len(laws)} mean{'s' * (len(laws) > 1)} over pairs"
