"""Where the two axes meet: a statistic asks, a trust model answers, the price is checked in between."""

from __future__ import annotations

import secrets
from typing import Any

from ogive.accounting import covers, total_loss
from ogive.errors import BudgetError, ParameterError, UnsupportedError
from ogive.noise import SystemSource
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, Privacy, PureDP, ZeroConcentratedDP, check_adjacency, check_privacy
from ogive.provenance import Provenance
from ogive.queries import Query
from ogive.statistics.base import EstimateT, Statistic, Terms
from ogive.trust.base import TrustModel


def release(
    statistic: Statistic[EstimateT],
    *,
    trust: TrustModel,
    privacy: Privacy | None = None,
    adjacency: Adjacency = Adjacency.REPLACE,
    source: RandomSource | None = None,
) -> EstimateT:
    """Publish one statistic of the records that a trust model holds.

    Every query is priced from its own fields before it is answered; a statistic that would
    spend more than was granted is stopped before the noise is drawn.

    Args:
        statistic: What is wanted, for example `Ecdf("age", bounds=(0, 120))`.
        trust: Who holds the records, for example `Central("patients.parquet")`.
        privacy: The guarantee for everything this release publishes. May be left out only where the
            trust model has no privacy.
        adjacency: Which data sets are adjacent. REPLACE makes the number of records public.
        source: Where the noise key comes from; the operating system unless a test replays one.

    Returns:
        The statistic's estimate, with its provenance.

    Raises:
        ParameterError: privacy is missing, or of no known type, or parameters do not fit.
        DataError: the records cannot be read.
        UnsupportedError: the trust model cannot answer.
        BudgetError: the queries cost more than `privacy`.

    Privacy:
        `privacy`, for the stated adjacency, under the trust model's assumption.
    """
    adjacency = check_adjacency(adjacency)
    if not isinstance(trust, TrustModel):
        raise ParameterError(f"trust must be a trust model such as Central(data), got {type(trust).__name__}")
    if source is not None and not isinstance(source, RandomSource):
        raise ParameterError(f"source must be a random source such as SystemSource(), got {type(source).__name__}")
    if privacy is None:
        if trust.private:
            raise ParameterError("say how much privacy may be spent, for example privacy=PureDP(1)")
        privacy = PureDP(1)
    check_privacy(privacy)
    opening = trust.open(adjacency, source=source if source is not None else SystemSource())
    procedure = statistic.questions(Terms(privacy, adjacency, trust.refusal))
    opened: dict[Any, PureDP | ZeroConcentratedDP] = {}
    estimate: EstimateT
    query: Query = next(procedure)
    while True:
        reason = trust.refusal(query)
        if reason is not None:
            raise UnsupportedError(reason)
        if query.measurement not in opened:
            spent = {**opened, query.measurement: query.price(adjacency)}
            loss = total_loss(list(spent.values()))
            if not covers(privacy, loss):
                raise BudgetError(f"{statistic.name} would cost {loss}, more than the granted {privacy}")
            opened = spent
        method = query.strategy.name
        answer = opening.answer(query)
        try:
            query = procedure.send(answer)
        except StopIteration as stop:
            estimate = stop.value
            break
    return estimate.with_provenance(
        Provenance(
            release_id=secrets.token_hex(16),
            statistic=statistic.name,
            method=method,
            privacy=privacy if trust.private else None,
            price=total_loss(list(opened.values())) if trust.private else None,
            adjacency=adjacency,
            trust=trust.name,
            assumption=trust.assumption,
            total=answer.total,
        )
    )
