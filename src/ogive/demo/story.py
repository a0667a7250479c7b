"""The demonstration: six releases from one ledger, one that does not fit any more, and the truth beside them.

Then the same for the terminal: results as plain data, and tables of the account and of the results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Rows

from ogive.columns.grids import Grid
from ogive.core.digits import p_value
from ogive.errors import BudgetError
from ogive.privacy import PureDP, number_text
from ogive.showing.axis import plain_number, show
from ogive.showing.words import rounded_up
from ogive.statistics import Boxplot, Ecdf, HosmerLemeshow, Quantiles, Roc, Survival
from ogive.statistics.boxplot.estimate import Boxplots
from ogive.statistics.calibration.estimate import Calibration
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.roc.estimate import RocEstimate
from ogive.statistics.survival.estimate import SurvivalEstimate

if TYPE_CHECKING:
    from ogive.demo.data import Evaluation, Table
    from ogive.releasing.session import Session
    from ogive.statistics.base import Statistic

LIMIT = PureDP("3.5")
DECILES = tuple(k / 10 for k in range(1, 10))
CONFIDENCE_LEVEL = 0.95
MINUTES = (5, 10, 15, 20)
"""Of a call, at which the terminal shows how many have not said yes."""


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
    ages, balances = age_grid(), balance_grid()
    roc = Roc("probability", "label", bounds=(0, 1), confidence_level=CONFIDENCE_LEVEL)
    calibration = HosmerLemeshow("probability", "label", confidence_level=CONFIDENCE_LEVEL)

    calls = Survival("minutes", "label", bounds=(0, 30), bins=120, confidence_level=CONFIDENCE_LEVEL)

    def deciles(column: str, grid: Grid) -> Quantiles:
        return Quantiles(column, DECILES, grid=grid, confidence_level=CONFIDENCE_LEVEL, few="curve")

    boxes = Boxplot("age", grid=ages, by="label", groups=(0, 1))
    exact_balances = Ecdf("balance", grid=balances)
    quarter, half, more = PureDP("0.25"), PureDP("0.5"), PureDP("0.75")
    return (
        Wish("age", "age: distribution, deciles", deciles("age", ages), Ecdf("age", grid=ages), half),
        Wish("balance", "balance: distribution, deciles", deciles("balance", balances), exact_balances, more),
        Wish("boxes", "age: boxes of no (0) and yes (1)", boxes, boxes, quarter),
        Wish("roc", "model: ROC curve, AUC", roc, roc, half),
        Wish("calibration", "model: calibration", calibration, calibration, more),
        Wish("calls", "calls: minutes until a yes", calls, calls, half),
    )


def one_too_many() -> Wish:
    """What is asked for last, at more than is then left."""
    wanted = Ecdf("probability", bounds=(0, 1))
    return Wish("predictions", "model: all its predictions", wanted, wanted, PureDP("0.5"))


@dataclass(frozen=True)
class Part:
    """A wish that was granted: `free` where the ledger had the answer already; the truth is for comparison only."""

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
    """What happened: all customers, those that releases are about, what was released, and what was not."""

    table: Table
    evaluation: Evaluation
    parts: tuple[Part, ...]
    refusal: Refusal


@dataclass(frozen=True)
class Pooled:
    """One release of the study, beside the same by a curator who holds all rows, and the truth."""

    name: str
    estimate: Any
    curator: Any
    truth: Any


@dataclass(frozen=True)
class Banks:
    """What came of the study: its releases, the records of each bank, and what each bank's account spent.

    One bank's process was killed and started again; none where nothing was left to be done.
    """

    pooled: tuple[Pooled, ...]
    records: tuple[int, ...]
    spent: PureDP
    killed: str | None


Busy = Callable[[str], AbstractContextManager[object]]


def tell(table: Table, evaluation: Evaluation, session: Session, busy: Busy) -> Iterator[Part | Refusal]:
    """Release one thing after the other, look up the truth, and ask for one thing too many.

    Privacy:
        epsilon = 3.25 for everything that is released, one record replaced; the truth beside it has none.
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


# --- The demonstration in numbers


def summary(story: Story, banks: Banks | None) -> dict[str, Any]:
    """The story as plain data, and that of the banks where there is one."""
    refusal = story.refusal
    return {
        "schema": "ogive.demo/6",
        "data": story.table.origin,
        "records": {"training": story.evaluation.trained, "evaluation": story.evaluation.records.size},
        "limit": number_text(LIMIT.epsilon),
        "remaining": epsilon_text(refusal.remaining),
        "releases": [
            {
                "name": part.wish.name,
                "epsilon": number_text(part.wish.privacy.epsilon),
                "free": part.free,
                "remaining": epsilon_text(part.remaining),
                **numbers(part),
            }
            for part in story.parts
        ],
        "refused": {
            "name": refusal.wish.name,
            "epsilon": number_text(refusal.wish.privacy.epsilon),
            "reason": refusal.reason,
        },
        "banks": None if banks is None else banks_numbers(banks),
    }


def numbers(part: Part) -> dict[str, Any]:
    """The results, private and true."""
    if isinstance(part.estimate, QuantileEstimates):
        return {"errors": curve_errors(part), "deciles": deciles(part)}
    if isinstance(part.estimate, Boxplots):
        return box_numbers(part.estimate, part.truth)
    return judged(part.estimate, part.truth)


def judged(result: RocEstimate | Calibration | SurvivalEstimate, truth: Any) -> dict[str, Any]:
    """What was released of the model or of the calls, private and true."""
    if isinstance(result, SurvivalEstimate):
        return survival_numbers(result, truth)
    return roc_numbers(result, truth) if isinstance(result, RocEstimate) else calibration_numbers(result, truth)


def released_curve(part: Part) -> Curve:
    """The curve from which deciles were read."""
    curve: Curve | None = part.estimate.curve
    assert curve is not None
    return curve


def curve_errors(part: Part) -> dict[str, float]:
    """Predicted and actual distance of a curve from the truth, as shares."""
    curve = released_curve(part)
    private, true = curve.probabilities, part.truth.probabilities
    band = curve.band(CONFIDENCE_LEVEL, target="sample")
    assert curve.strategy is not None
    assert curve.total is not None
    variance = curve.strategy.variance(total_known=True)
    return {
        "predicted_rms": math.sqrt(float(variance.mean())) / curve.total,
        "actual_rms": float(np.sqrt(np.mean(np.square(private - true)))),
        "predicted_ks": float(max(np.max(band.high - private), np.max(private - band.low))),
        "actual_ks": float(np.abs(private - true).max()),
    }


def deciles(part: Part) -> list[dict[str, Any]]:
    """Each decile with its interval and the true one, as thresholds."""
    result = part.estimate
    places = np.searchsorted(part.truth.probabilities, np.array(DECILES) - 1e-12)
    true = part.truth.grid.thresholds[places].tolist()
    return [
        {"probability": p, "private": value, "low": low, "high": high, "true": exact, "inside": low <= exact <= high}
        for p, value, low, high, exact in zip(DECILES, result.numbers, result.low, result.high, true, strict=True)
    ]


def roc_numbers(result: RocEstimate, truth: RocEstimate) -> dict[str, Any]:
    """The area under the curve with the intervals for these records and for the population, and its errors."""
    low, high = result.auc_interval(CONFIDENCE_LEVEL, target="sample")
    of_all = result.auc_interval(CONFIDENCE_LEVEL, target="population")
    defined = result.defined and truth.defined
    return {
        "auc": {
            "private": number(result.auc),
            "low": low,
            "high": high,
            "population": {"low": of_all[0], "high": of_all[1]},
            "true": number(truth.auc),
            "inside": low <= truth.auc <= high,
        },
        "errors": {name: number(value) for name, value in result.errors(truth).items()} if defined else None,
    }


def survival_numbers(result: SurvivalEstimate, truth: SurvivalEstimate) -> dict[str, Any]:
    """The share of calls without a yes at some minutes, private and true, and the median until one."""
    times = []
    for minute in MINUTES:
        share = result.number(minute)
        times.append(
            {
                "minutes": minute,
                "private": number(share.value),
                "low": share.low,
                "high": share.high,
                "true": number(truth(minute)),
                "at_risk": result.at_risk(minute),
            }
        )
    median = dict(zip(("low", "high"), map(number, result.quantile_interval(0.5)), strict=True))
    return {
        "times": times,
        "median": {"private": number(result.median), **median, "true": number(truth.median)},
        "errors": {name: number(value) for name, value in result.errors(truth).items()} if result.defined else None,
    }


def box_numbers(result: Boxplots, truth: Boxplots) -> dict[str, Any]:
    """The five numbers of each box, private and true."""
    pairs = zip(result.boxes, truth.boxes, strict=True)
    boxes = [{"group": box.group, "private": list(box.numbers), "true": list(exact.numbers)} for box, exact in pairs]
    return {"boxes": boxes, "errors": result.errors(truth)}


def banks_numbers(banks: Banks) -> dict[str, Any]:
    """What five banks released together, beside the same from one table and the truth."""
    return {
        "records": list(banks.records),
        "spent": number_text(banks.spent.epsilon),
        "killed": banks.killed,
        "releases": [{"name": each.name, **judged(each.estimate, each.truth)} for each in banks.pooled],
    }


def calibration_numbers(result: Calibration, truth: Calibration) -> dict[str, Any]:
    """The statistic and its p-value, and the groups."""
    return {
        "statistic": {
            "private": number(result.statistic),
            "without_noise": number(result.debiased_statistic),
            "true": number(truth.statistic),
        },
        "p_value": {"private": number(result.p_value), "true": number(truth.p_value)},
        "groups": [
            {
                "low": group.low,
                "high": group.high,
                "mean_predicted": number(group.mean_predicted),
                "observed_share": number(group.observed_share),
                "interval": list(group.interval),
            }
            for group in result.groups
        ],
        "errors": {name: number(value) for name, value in result.errors(truth).items()},
    }


def number(value: float) -> float | None:
    """A number as JSON knows it: None where there is none."""
    return float(value) if math.isfinite(value) else None


# --- Tables for the terminal

_WIDTH, _LINE = 34, 79


class Printer:
    """Prints to standard output."""

    def __init__(self) -> None:
        self._print = Console(highlight=False, soft_wrap=True).print

    def opening(self, table: Table, evaluation: Evaluation) -> None:
        """Who the records are, and what the account starts with."""
        self._print(f"[bold]{evaluation.records.size:,} {escape(table.origin)}[/]")
        self._print(f"A logistic regression was trained on {evaluation.trained:,} other customers and predicts these.")
        self._print(f"One ledger pays for everything, up to epsilon = {number_text(LIMIT.epsilon)}.")
        self._print()
        self._print(f"[dim]{'release':<{_WIDTH}}{'epsilon':>8}{'left':>8}[/]")
        self._line("limit", "", number_text(LIMIT.epsilon))

    def step(self, step: Part | Refusal) -> None:
        """One line of the account."""
        price = number_text(step.wish.privacy.epsilon)
        if isinstance(step, Refusal):
            self._line(step.wish.words, price, epsilon_text(step.remaining), "refused")
            self._print()
            self._print(escape(fill(f"Refused, and nothing was spent: {step.reason}.", _LINE)))
        elif step.free:
            self._line(step.wish.words, "0", epsilon_text(step.remaining), "free: answered from the ledger")
        else:
            self._line(step.wish.words, price, epsilon_text(step.remaining))

    def findings(self, story: Story) -> None:
        """The results, beside the truth."""
        if any(part.free for part in story.parts):
            self._print("Answers from the ledger were paid for earlier; --fresh starts a new ledger.")
        self._print("The deciles are computed from the curves. That is post-processing and free.")
        self._print()
        curves = [part for part in story.parts if isinstance(part.estimate, QuantileEstimates)]
        self._print(_errors(curves))
        self._print("[dim]*  root mean square over the thresholds, before smoothing[/]")
        self._print("[dim]   actual is one draw of the noise, so it may exceed the typical error[/]")
        self._print("[dim]** at any threshold, with 95 % confidence[/]")
        self._print()
        for part in curves:
            self._print(_deciles(part))
        self._print("[dim]95 % intervals hold the nine deciles of the population, all at once.[/]")
        self._print("[dim]True deciles are those of these records.[/]")
        self._print()
        for part in story.parts:
            if isinstance(part.estimate, Boxplots):
                self._print(_boxes(part))
            elif isinstance(part.estimate, SurvivalEstimate):
                self._print()
                self._print(_survival(part))
                self._print("[dim]A call without a yes was observed until it ended. The estimate is right if[/]")
                self._print("[dim]its end does not depend on when a yes would have come. 95 % intervals hold[/]")
                self._print("[dim]the share in the population, one time at a time.[/]")
            elif part not in curves:
                self._print(_roc(part) if isinstance(part.estimate, RocEstimate) else _calibration(part))

    def banks(self, banks: Banks) -> None:
        """What five banks released together, beside one table and the truth."""
        self._print()
        self._print(f"[bold]The same model judged by {len(banks.records)} banks that keep their rows[/]")
        crash = "" if banks.killed is None else f"{banks.killed} was killed in the middle and went on. "
        how = (
            "Each bank runs an agent of its own; a coordinator adds up masked counts over TLS and sees sums alone. "
            f"{crash}Each bank's ledger paid epsilon = {number_text(banks.spent.epsilon)}."
        )
        self._print(fill(how, _LINE))
        self._print()
        self._print(_pooled(banks))
        self._print("[dim]* corrected for noise[/]")

    def without_banks(self) -> None:
        """How to see the part that is not shown."""
        self._print()
        self._print(escape("Five banks that keep their rows judge the same model with pip install 'ogive[serve]'."))

    def _line(self, words: str, price: str, left: str, remark: str = "") -> None:
        self._print(f"{words:<{_WIDTH}}{price:>8}{left:>8}  {remark}".rstrip())


def _grid(title: str, *names: str, first: str | None = None) -> Rows:
    grid = Rows(title=title, title_justify="left", box=SIMPLE_HEAD)
    if first is not None:
        grid.add_column(first)
    for name in names:
        grid.add_column(name, justify="right", no_wrap=True)
    return grid


def _errors(parts: list[Part]) -> Rows:
    grid = _grid(
        "Errors, in percentage points",
        "epsilon",
        "thresholds",
        "typical*",
        "actual",
        "largest**",
        "actual",
        first="curve",
    )
    for part in parts:
        result = curve_errors(part)
        names = ("predicted_rms", "actual_rms", "predicted_ks", "actual_ks")
        numbers = (rounded_up(100 * result[name]) for name in names)  # as in the report
        thresholds = f"{released_curve(part).grid.bins:,}"
        grid.add_row(part.wish.name, number_text(part.wish.privacy.epsilon), thresholds, *numbers)
    return grid


def _deciles(part: Part) -> Rows:
    grid = _grid(f"Nine deciles of {part.wish.name}", "share", "private", "95 % interval", "true", "inside")
    for row in deciles(part):
        names = ("private", "low", "high", "true")
        shown, first, last, exact = (show(part.estimate.grid, row[name]) for name in names)
        grid.add_row(f"{row['probability']:.0%}", shown, f"{first} to {last}", exact, "yes" if row["inside"] else "no")
    return grid


def _boxes(part: Part) -> Rows:
    grid = _grid(
        f"Boxes of {part.estimate.column} by answer", "answer", "", "low end", "Q1", "median", "Q3", "high end"
    )
    for box in box_numbers(part.estimate, part.truth)["boxes"]:
        for name in ("private", "true"):
            answer = ("no", "yes")[int(box["group"])] if name == "private" else ""
            grid.add_row(answer, name, *(show(part.estimate.grid, number, 4) for number in box[name]))
    return grid


def _survival(part: Part) -> Rows:
    grid = _grid("Calls without a yes by then", "minutes", "calls at risk", "private", "95 % interval", "true")
    for row in survival_numbers(part.estimate, part.truth)["times"]:
        shown = (_share(row[name]) for name in ("private", "low", "high", "true"))
        private, low, high, true = shown
        grid.add_row(str(row["minutes"]), f"{row['at_risk']:,.0f}", private, f"{low} to {high}", true)
    return grid


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _pooled(banks: Banks) -> Rows:
    grid = _grid("Pooled without pooling rows", f"{len(banks.records)} banks", "one table", "true", first="")
    for each in banks.pooled:
        pair = (each.estimate, each.curator)
        if isinstance(each.truth, RocEstimate):
            areas = [roc_numbers(one, each.truth)["auc"] for one in pair]
            grid.add_row("AUC", *(_written(area["private"], 4) for area in areas), _written(areas[0]["true"], 4))
            grid.add_row("  95 % CI, these records", *map(_interval, areas), "")
            grid.add_row("  95 % CI, population", *(_interval(area["population"]) for area in areas), "")
            errors = [roc_numbers(one, each.truth)["errors"] or {} for one in pair]
            grid.add_row("ROC curve, mean error", *(_written(error.get("l1"), 4) for error in errors), "")
        elif isinstance(each.truth, SurvivalEstimate):
            calls = [survival_numbers(one, each.truth)["times"][1] for one in pair]
            shares = (_share(one["private"]) for one in calls)
            grid.add_row(f"No yes after {MINUTES[1]} minutes", *shares, _share(calls[0]["true"]))
            grid.add_row(
                "  95 % CI, population", *(f"{_share(one['low'])} to {_share(one['high'])}" for one in calls), ""
            )
        else:
            statistics = [each.debiased_statistic for each in pair]
            grid.add_row("Hosmer-Lemeshow H*", *(plain_number(one, 3) for one in (*statistics, each.truth.statistic)))
            grid.add_row(
                "  p-value",
                *(
                    p_value(one.p_value, 3, bound=one.p_value_is_bound).removeprefix("= ")
                    for one in (*pair, each.truth)
                ),
            )
    return grid


def _interval(ends: Mapping[str, float]) -> str:
    return f"{ends['low']:.4f} to {ends['high']:.4f}"


def _written(number: float | None, digits: int) -> str:
    return "none" if number is None else f"{number:.{digits}f}"


def _roc(part: Part) -> str:
    auc = roc_numbers(part.estimate, part.truth)["auc"]
    if auc["private"] is None:
        return "The noise leaves no records of one class, so there is no ROC curve."
    return (
        f"Area under the ROC curve: {auc['private']:.4f}; true of these records {auc['true']:.4f}\n"
        f"  95 % CI for these records: {_interval(auc)}\n"
        f"  95 % CI for the population, as on the page: {_interval(auc['population'])}"
    )


def _calibration(part: Part) -> str:
    result, true = part.estimate, part.truth
    if math.isnan(result.p_value):
        return "The noise leaves no group of records, so calibration cannot be judged."
    verdict = "are miscalibrated" if result.p_value < 0.05 else "show no evidence of miscalibration"
    released, debiased, exact = (
        plain_number(value, 3) for value in (result.statistic, result.debiased_statistic, true.statistic)
    )
    return fill(
        f"Calibration: Hosmer-Lemeshow statistic {released} ({debiased} corrected for noise), p "
        f"{p_value(result.p_value, bound=result.p_value_is_bound)}: the probabilities {verdict}; true statistic "
        f"{exact}",
        _LINE,
    )
