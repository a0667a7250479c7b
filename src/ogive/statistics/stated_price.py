"""Whether a stored estimate's price fits the noise that it says it has.

A price that was lowered in a file makes a later total of prices too small. What noise costs follows from the strategy
that it belongs to, so a price below that shows. A price above it is possible: a private selection of the method costs
besides, and where several parties add noise, more of it is there than is counted on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ogive.accounting import at_least, covers, group_loss, total_loss
from ogive.errors import DataError, ParameterError, UnsupportedError, plain
from ogive.privacy import Adjacency, Loss, PrivacyUnit
from ogive.provenance import Provenance
from ogive.queries import CuratorQuery
from ogive.strategies.base import Strategy
from ogive.strategies.people import CountedPeople
from ogive.strategies.summed import SummedApproximations, SummedStrategies

Measured = tuple[Strategy | None, Adjacency]
"""What was measured, with the adjacency that its loss is of; None where the answer is exact."""

_HIDDEN = {Adjacency.REPLACE: "a record that is replaced", Adjacency.ADD_OR_REMOVE: "a record that is added or removed"}


def check_price(
    source: Provenance | None, measured: Iterable[Measured] = (), besides: Callable[[PrivacyUnit], Loss] | None = None
) -> None:
    """Refuse an estimate whose stated price or guarantee is not that of its own noise.

    Args:
        source: Where the estimate comes from; None if it was never released.
        measured: What it was computed from.
        besides: What else was measured costs this for a unit; None where nothing was.

    Raises:
        DataError: the price is too low, the guarantee does not cover the price or hides something else than the noise
            does, or there is a guarantee and no noise.
    """
    if source is None or source.privacy is None or source.price is None:
        return
    if not covers(source.privacy, source.price):
        raise DataError(f"this estimate contradicts itself: it has {source.privacy}, and cost {source.price}")
    for strategy, adjacency in measured:
        if strategy is None:
            raise DataError(f"this estimate contradicts itself: it has {source.privacy}, and its answer is exact")
        if adjacency is not source.adjacency:
            raise DataError(
                f"this estimate contradicts itself: its guarantee hides {_HIDDEN[source.adjacency]}, and its noise "
                f"{_HIDDEN[adjacency]}"
            )
        for part in parts_of(strategy):
            loss = loss_of(part, adjacency, source.max_rows_per_person)
            if besides is not None:
                loss = total_loss([loss, besides(source.unit)])
            if not at_least(source.price, loss):
                raise DataError(
                    f"this estimate contradicts itself: its noise costs {loss}, and its stated price is {source.price}"
                )


def check_query(source: Provenance | None, query: CuratorQuery | None, adjacency: Adjacency) -> None:
    """The same for an estimate whose one measurement is a query.

    Args:
        source: Where the estimate comes from; None if it was never released.
        query: What was asked, with the noise that there was; None where the answer is exact.
        adjacency: Of the estimate.

    Raises:
        DataError: the price is too low, or the guarantee hides something else than the noise does, or there is a
            guarantee and no noise.
    """
    if source is None or source.privacy is None or source.price is None:
        return
    check_price(source, [(None, adjacency)] if query is None else [])
    hidden = {source.adjacency, adjacency}
    # of some of the records: replacing one may take it out of them, so they are asked as if records came and went
    moving = source.where is not None and adjacency is Adjacency.ADD_OR_REMOVE
    if len(hidden) > 1 and not moving:
        raise DataError(
            f"this estimate contradicts itself: its guarantee hides {_HIDDEN[source.adjacency]}, and its noise "
            f"{_HIDDEN[adjacency]}"
        )
    assert query is not None, "exact answers were refused"
    for each in hidden:
        unit = source.unit if each is source.adjacency else PrivacyUnit(each, source.person)
        try:
            loss = query.price(unit)
        except ParameterError as problem:
            words = plain(problem)
            raise DataError(f"this estimate contradicts itself: its noise has no price, since {words}") from None
        if not at_least(source.price, loss):
            raise DataError(
                f"this estimate contradicts itself: its noise costs {loss}, and its stated price is {source.price}"
            )


def loss_of(strategy: Strategy, adjacency: Adjacency, rows: int) -> Loss:
    """What the noise of one release costs.

    Args:
        strategy: What was measured.
        adjacency: Which data sets are adjacent.
        rows: How many records a person may have.

    Raises:
        DataError: no such release exists.
    """
    try:
        # a person has one weight, whatever the number of rows
        return group_loss(strategy.loss(adjacency), 1 if isinstance(strategy, CountedPeople) else rows)
    except (ParameterError, UnsupportedError) as problem:
        raise DataError(f"this estimate contradicts itself: its noise has no price, since {plain(problem)}") from None
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
        raise DataError("this estimate's strategy is damaged: its noise has no price") from None


def parts_of(strategy: Strategy) -> tuple[Strategy, ...]:
    """The strategies of the batches that a curve was merged of, in the order of its batches; else the one itself."""
    if isinstance(strategy, SummedStrategies | SummedApproximations):
        return tuple(single for part in strategy.parts for single in parts_of(part))
    return (strategy,)
