"""The demonstration's tables for the terminal: first the account as it is spent, then what was found."""

from __future__ import annotations

import math
from textwrap import fill
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from ogive.demo.story import LIMIT, Part, Refusal, epsilon_text
from ogive.demo.summary import box_numbers, curve_errors, deciles, released_curve, roc_numbers
from ogive.html.axis import plain_number, show
from ogive.html.words import rounded_up
from ogive.privacy import number_text
from ogive.statistics.boxplot.estimate import Boxplots
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.roc.estimate import RocEstimate

if TYPE_CHECKING:
    from ogive.demo.data import Table
    from ogive.demo.model import Evaluation
    from ogive.demo.story import Story

_WIDTH, _LINE = 34, 79


class Printer:
    """Prints to standard output."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, soft_wrap=True)

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
        """What was found, beside the truth."""
        if any(part.free for part in story.parts):
            self._print("Answers from the ledger were paid for earlier; --fresh starts a new ledger.")
        self._print("The deciles are computed from the curves. That is post-processing and free.")
        self._print()
        curves = [part for part in story.parts if isinstance(part.estimate, QuantileEstimates)]
        self._console.print(_errors(curves))
        self._print("[dim]*  root mean square over the thresholds, before smoothing[/]")
        self._print("[dim]   actual is one draw of the noise, so it may exceed the typical error[/]")
        self._print("[dim]** at any threshold, with 95 % confidence[/]")
        self._print()
        for part in curves:
            self._console.print(_deciles(part))
        for part in story.parts:
            if isinstance(part.estimate, Boxplots):
                self._console.print(_boxes(part))
            elif part not in curves:
                self._print(_roc(part) if isinstance(part.estimate, RocEstimate) else _calibration(part))

    def _line(self, words: str, price: str, left: str, remark: str = "") -> None:
        self._print(f"{words:<{_WIDTH}}{price:>8}{left:>8}  {remark}".rstrip())

    def _print(self, text: str = "") -> None:
        self._console.print(text)


def _errors(parts: list[Part]) -> Grid:
    grid = Grid(title="Errors, in percentage points", title_justify="left", box=SIMPLE_HEAD)
    grid.add_column("curve")
    for name in ("epsilon", "thresholds", "typical*", "actual", "largest**", "actual"):
        grid.add_column(name, justify="right", no_wrap=True)
    for part in parts:
        found = curve_errors(part)
        names = ("predicted_rms", "actual_rms", "predicted_ks", "actual_ks")
        numbers = (rounded_up(100 * found[name]) for name in names)  # as in the report
        thresholds = f"{released_curve(part).grid.bins:,}"
        grid.add_row(part.wish.name, number_text(part.wish.privacy.epsilon), thresholds, *numbers)
    return grid


def _deciles(part: Part) -> Grid:
    grid = Grid(title=f"Nine deciles of {part.wish.name}", title_justify="left", box=SIMPLE_HEAD)
    for name in ("share", "private", "95 % interval", "true", "inside"):
        grid.add_column(name, justify="right", no_wrap=True)
    for row in deciles(part):
        names = ("private", "low", "high", "true")
        shown, first, last, exact = (show(part.estimate.grid, row[name]) for name in names)
        grid.add_row(f"{row['probability']:.0%}", shown, f"{first} to {last}", exact, "yes" if row["inside"] else "no")
    return grid


def _boxes(part: Part) -> Grid:
    grid = Grid(title=f"Boxes of {part.estimate.column} by answer", title_justify="left", box=SIMPLE_HEAD)
    for name in ("answer", "", "low end", "Q1", "median", "Q3", "high end"):
        grid.add_column(name, justify="right", no_wrap=True)
    for box in box_numbers(part.estimate, part.truth)["boxes"]:
        for name in ("private", "true"):
            answer = ("no", "yes")[int(box["group"])] if name == "private" else ""
            grid.add_row(answer, name, *(show(part.estimate.grid, number, 4) for number in box[name]))
    return grid


def _roc(part: Part) -> str:
    auc = roc_numbers(part.estimate, part.truth)["auc"]
    if auc["private"] is None:
        return "The noise leaves no records of one class, so there is no ROC curve."
    return (
        f"Area under the ROC curve: {auc['private']:.4f} (95 % CI {auc['low']:.4f} to {auc['high']:.4f}); true "
        f"{auc['true']:.4f}"
    )


def _calibration(part: Part) -> str:
    found, true = part.estimate, part.truth
    if math.isnan(found.p_value):
        return "The noise leaves no group of records, so calibration cannot be judged."
    verdict = "are miscalibrated" if found.p_value < 0.05 else "show no evidence of miscalibration"
    released, debiased, p_value, exact = (
        plain_number(value, 3) for value in (found.statistic, found.debiased_statistic, found.p_value, true.statistic)
    )
    return fill(
        f"Calibration: Hosmer-Lemeshow statistic {released} ({debiased} corrected for noise), p = {p_value}: the "
        f"probabilities {verdict}; true statistic {exact}",
        _LINE,
    )
