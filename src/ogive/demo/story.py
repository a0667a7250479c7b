"""The demonstration: five releases from one ledger, one that does not fit any more, and the truth beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ogive.columns.grids import Grid
from ogive.errors import BudgetError
from ogive.privacy import PureDP, number_text

if TYPE_CHECKING:
    from ogive.demo.data import Evaluation, Table
    from ogive.releasing.session import Session
    from ogive.statistics.base import Statistic

LIMIT = PureDP(3)
DECILES = tuple(k / 10 for k in range(1, 10))
CONFIDENCE_LEVEL = 0.95


def age_grid() -> Grid:
    """Every year from 18, since a bank's customers are adults, to 110, since nobody is older."""
    return Grid.integers(18, 110)


def balance_grid() -> Grid:
    """Fine steps where balances usually are, coarse ones far out; chosen without looking."""
    steps = ((-10_000, -2_000, 500), (-2_000, 5_000, 25), (5_000, 20_000, 250), (20_000, 110_000, 5_000))
    values = [value for low, high, step in steps for value in range(low + step, high + 1, step)]
    return Grid.explicit(values, low=-10_000)


@dataclass(frozen=True)
class Wish:
    """Something to be released.

    Fields:
        name: In files and in JSON.
        words: For people.
        statistic: What is asked.
        truth: The exact counterpart to show beside it.
        privacy: What it may cost.
    """

    name: str
    words: str
    statistic: Statistic[Any]
    truth: Statistic[Any]
    privacy: PureDP


def wishes() -> tuple[Wish, ...]:
    """What is released, in this order; the deciles are read off the curves and cost nothing."""
    from ogive.statistics import Boxplot, Ecdf, HosmerLemeshow, Quantiles, Roc

    ages, balances = age_grid(), balance_grid()
    roc = Roc("probability", "label", bounds=(0, 1), confidence_level=CONFIDENCE_LEVEL)
    calibration = HosmerLemeshow("probability", "label", confidence_level=CONFIDENCE_LEVEL)

    def deciles(column: str, grid: Grid) -> Quantiles:
        return Quantiles(column, DECILES, grid=grid, confidence_level=CONFIDENCE_LEVEL, few="curve")

    boxes = Boxplot("age", grid=ages, by="label", groups=(0, 1))
    quarter, half, more = PureDP("0.25"), PureDP("0.5"), PureDP("0.75")
    return (
        Wish("age", "age: distribution, deciles", deciles("age", ages), Ecdf("age", grid=ages), half),
        Wish(
            "balance",
            "balance: distribution, deciles",
            deciles("balance", balances),
            Ecdf("balance", grid=balances),
            more,
        ),
        Wish("boxes", "age: boxes of no (0) and yes (1)", boxes, boxes, quarter),
        Wish("roc", "model: ROC curve, AUC", roc, roc, half),
        Wish("calibration", "model: calibration", calibration, calibration, more),
    )


def one_too_many() -> Wish:
    """What is asked for last, at more than is then left."""
    from ogive.statistics import Ecdf

    wanted = Ecdf("probability", bounds=(0, 1))
    return Wish("predictions", "model: all its predictions", wanted, wanted, PureDP("0.5"))


@dataclass(frozen=True)
class Part:
    """A wish that was granted.

    Fields:
        wish: What was asked.
        estimate: What was released.
        truth: The same without noise, for comparison only.
        free: Whether the ledger had the answer already.
        remaining: What was left afterwards.
    """

    wish: Wish
    estimate: Any
    truth: Any
    free: bool
    remaining: PureDP | None


@dataclass(frozen=True)
class Refusal:
    """A wish that was not granted, and why."""

    wish: Wish
    reason: str
    remaining: PureDP | None


@dataclass(frozen=True)
class Story:
    """What happened.

    Fields:
        table: All customers.
        evaluation: Those that releases are about.
        parts: What was released.
        refusal: What was not.
    """

    table: Table
    evaluation: Evaluation
    parts: tuple[Part, ...]
    refusal: Refusal


Busy = Callable[[str], AbstractContextManager[object]]


def tell(table: Table, evaluation: Evaluation, session: Session, busy: Busy) -> Iterator[Part | Refusal]:
    """Release one thing after the other, look up the truth, and ask for one thing too many.

    Args:
        table: All customers.
        evaluation: Those that the model has not seen.
        session: Pays, from a limit of `LIMIT`.
        busy: Shows what is being done.

    Privacy:
        epsilon = 3 for everything that is released, one record replaced; the truth beside it has none.
    """
    from ogive.releasing.release import release
    from ogive.trust import Clear

    for wish in wishes():
        before = len(session.history)
        with busy(f"releasing {wish.words} at epsilon = {number_text(wish.privacy.epsilon)}"):
            estimate = session.release(wish.statistic, privacy=wish.privacy)
        with busy(f"looking up the truth on {wish.name}, for comparison only"):
            truth = release(wish.truth, trust=Clear(evaluation.records))
        yield Part(wish, estimate, truth, len(session.history) == before, left(session))
    wish = one_too_many()
    try:
        session.release(wish.statistic, privacy=wish.privacy)
    except BudgetError as refused:
        yield Refusal(wish, str(refused), left(session))


def left(session: Session) -> PureDP | None:
    """What remains; None for nothing."""
    remaining = session.remaining
    assert remaining is None or isinstance(remaining, PureDP)
    return remaining


def epsilon_text(privacy: PureDP | None) -> str:
    """The epsilon of what remains."""
    return number_text(Fraction(0) if privacy is None else privacy.epsilon)
