"""Run a statistic's questions on known sums: what it asks, what that costs, and what comes out.

Nothing here is a release: the sums are public or imagined, and the noise comes from public seeds.
"""

from __future__ import annotations

from typing import Any

from ogive.arrays import Int64
from ogive.asking import drive
from ogive.queries import Answer, Query
from ogive.statistics.base import Statistic, Terms
from ogive.statistics.prediction import Rehearsal, Sums
from ogive.trust.imagined import Imagined


def rehearse(statistic: Statistic[Any], terms: Terms, sums: Sums, *, run: int | None) -> Rehearsal:
    """Ask everything of known sums.

    Args:
        statistic: What is asked.
        terms: Privacy, unit and what the trust model can serve.
        sums: Exact integers of the known records for each aggregate.
        run: Number of the imagined release, which fixes its noise; None for exact answers.

    Raises:
        BudgetError: the measurements cost more than was granted.
        UnsupportedError: the trust model cannot answer, or a query says more than the unit hides.
    """
    holder = Imagined(sums, terms.adjacency, adding=terms.adding, honest=terms.honest, run=run)
    outcome = drive(statistic, terms, holder)
    measured = tuple(holder.with_noise(query) for query in outcome.measured)
    return Rehearsal(outcome.estimate, measured, outcome.queries, outcome.price, terms)


def answer_imagined(query: Query, sums: Int64, terms: Terms, run: int | None) -> Answer:
    """The answer to one query about known sums, without a price."""
    holder = Imagined(lambda _: sums, terms.adjacency, adding=terms.adding, honest=terms.honest, run=run)
    return holder.answer(query)
