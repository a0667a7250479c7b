"""Run a statistic's questions on known sums: what it asks, what that costs, and what comes out.

Nothing here is a release: the sums are public or imagined, and the noise comes from public seeds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.accounting import covers, total_loss
from ogive.crypto.circuits import plain
from ogive.errors import BudgetError, UnsupportedError
from ogive.local.simulation import simulate
from ogive.noise import KeyedSource
from ogive.planning.public_nodes import nodes_for
from ogive.privacy import Loss
from ogive.queries import Aggregate, Answer, Cells, CuratorQuery, PairsQuery, Query, ReportsQuery
from ogive.statistics.base import Statistic, Terms
from ogive.statistics.prediction import Rehearsal, Sums
from ogive.trust.clear import ClearOptions

Int64 = NDArray[np.int64]

_SEED = 0x7265706F727473  # public and fixed: a plan is the same whenever it is made


def rehearse(statistic: Statistic[Any], terms: Terms, sums: Sums, *, run: int | None) -> Rehearsal:
    """Ask everything of known sums.

    Args:
        statistic: What is asked.
        terms: Privacy, unit and what the trust model can serve.
        sums: Exact integers of the known records for each aggregate.
        run: Number of the imagined release, which fixes its noise; None for exact answers.

    Raises:
        BudgetError: the measurements cost more than was granted.
        UnsupportedError: the trust model cannot answer.
    """
    known: dict[Aggregate, Int64] = {}
    opened: dict[Hashable, Query] = {}
    asked: list[Query] = []
    prices: list[Loss] = []
    procedure = statistic.questions(terms)
    query: Query = next(procedure)
    while True:
        reason = terms.refusal(query)
        if reason is not None:
            raise UnsupportedError(reason)
        asked.append(query)
        if query.measurement not in opened:
            opened[query.measurement] = with_noise(query, terms)
            prices.append(query.price(terms.unit))
            price = total_loss(prices)
            if not covers(terms.privacy, price):
                raise BudgetError(f"it would cost {price}, more than {terms.privacy}")
        # how many owners have each symbol is all that reports depend on
        aggregate = Cells(query.rows.domain) if isinstance(query, ReportsQuery) else query.aggregate
        if aggregate not in known:
            known[aggregate] = sums(aggregate)
        answer = answer_imagined(query, known[aggregate], terms, run)
        try:
            query = procedure.send(answer)
        except StopIteration as stop:
            return Rehearsal(stop.value, tuple(opened.values()), tuple(asked), price, terms)


def with_noise(query: Query, terms: Terms) -> Query:
    """The query with the noise that its answer is going to have under the terms."""
    strategy = getattr(query, "strategy", None)
    if strategy is None:
        return terms.noise_of(query)
    held: Any = query
    wider: Query = dataclasses.replace(held, strategy=terms.noise_of(strategy))
    return wider


def answer_imagined(query: Query, exact: Int64, terms: Terms, run: int | None) -> Answer:
    """The answer of an imagined release, or the exact one.

    Raises:
        UnsupportedError: what records' owners do has no exact answer.
    """
    refused = ClearOptions().refusal(query)
    if run is None and refused is not None:
        raise UnsupportedError(refused)
    if isinstance(query, ReportsQuery):
        assert run is not None
        sums = simulate(query.oracle, exact, generator=np.random.default_rng([_SEED, run]))
        return Answer(sums, (int(exact.sum()),))
    if isinstance(query, PairsQuery):
        assert run is not None
        return _met(query, exact, terms, run)
    assert isinstance(query, CuratorQuery)
    wider = with_noise(query, terms)
    assert isinstance(wider, CuratorQuery)
    values = wider.answer(exact, None if run is None else nodes_for(wider, run))
    totals = query.totals(exact, terms.adjacency)
    return Answer(values, totals, noisy=run is not None, adding=terms.adding, honest=terms.honest)


def _met(query: PairsQuery, exact: Int64, terms: Terms, run: int) -> Answer:
    """What pairs of imagined people compute."""
    source = KeyedSource.from_seed(_SEED + run)
    design = query.drawn(exact, seed=source.key())
    values = query.compute(
        exact,
        design,
        design.degrees,
        source=source,
        evaluate=plain.evaluate,
    )
    return Answer(values, query.totals(exact, terms.adjacency))
