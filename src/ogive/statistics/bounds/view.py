"""What people see of bounds: the ends and what lies outside, and the noisy counts that they were read from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from ogive.showing import words
from ogive.showing.axis import plain_number, show
from ogive.showing.parts import Html, fine, say, strong, table
from ogive.showing.pictures import BLUE, GRAY, ORANGE, Style, new_axes, styled
from ogive.showing.view import View
from ogive.statistics.bounds.estimate import BoundsEstimate

_MOST_TICKS = 8


class BoundsEstimateView(View):
    """Two ends in words, on a bar for each order of magnitude."""

    estimate: BoundsEstimate

    @property
    def name(self) -> str:
        return f"bounds of {self.estimate.column}"

    @property
    def title(self) -> str:
        return f"Bounds of {self.estimate.column}"

    @property
    def short(self) -> str:
        ends = f"{self.estimate.low:g} to {self.estimate.high:g}" if self.estimate.defined else "undefined"
        return f"of {self.estimate.column}: {ends}"

    @property
    def guarantee(self) -> str:
        return str(self.estimate.provenance or self.estimate.caption)

    @property
    def notes(self) -> Sequence[str]:
        estimate = self.estimate
        if not estimate.defined:
            budget = "use a larger privacy budget or a larger base"
            return (f"undefined: no order of magnitude clearly holds records; {budget}",)
        ends, outside = f"{estimate.low:g} to {estimate.high:g}", f"{estimate.records_outside:,} records outside"
        if estimate.strategy is None:
            return ends, outside
        return (
            ends,
            f"both ends hold records: {100 * (1 - estimate.wrong_end):.4g} % confidence",
            f"at most {outside}: {100 * estimate.confidence_level:g} % confidence",
        )

    @property
    def columns(self) -> dict[str, Any]:
        return {name: [getattr(self.estimate, name)] for name in ("column", "low", "high", "records_outside")}

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        estimate = self.estimate
        look = styled(style, color=BLUE, label="records, with noise" if estimate.private else "records")
        axes = new_axes(ax)
        counts, ends = np.array(estimate.counts), estimate.grid.thresholds
        held = np.flatnonzero(counts >= estimate.threshold)
        # beyond the magnitudes that stand out there is nothing but noise
        first, last = (int(held[0]), int(held[-1])) if len(held) else (0, len(counts) - 1)
        margin = max(2, (last - first) // 2)
        places = np.arange(max(0, first - margin), min(len(counts), last + margin + 1))
        axes.bar(places, counts[places], width=0.85, **look)
        if estimate.private:
            line = {"color": GRAY, "linewidth": 1, "linestyle": (0, (5, 2))}
            axes.axhline(estimate.threshold, **line, label="more than noise alone")
        if estimate.defined:
            axes.axvline(first - 0.5, color=ORANGE, linewidth=1.6, label="bounds")
            axes.axvline(last + 0.5, color=ORANGE, linewidth=1.6)
        step = max(1, -(-len(places) // _MOST_TICKS))
        axes.set_xticks(places[::step] + 0.5, [f"{ends[place]:.3g}" for place in places[::step]])
        axes.set_xlabel(f"{estimate.column}, upper ends of the magnitudes")
        axes.set_ylabel("Records")
        axes.set_ylim(top=1.45 * max(1, estimate.threshold, int(counts[places].max())))
        return self.finish(axes, grid="y")

    def alike(self, truth: BoundsEstimate) -> bool:
        return truth.grid == self.estimate.grid

    @property
    def truth_words(self) -> str:
        return "exact bounds on the same magnitudes"

    @property
    def headline(self) -> str:
        estimate = self.estimate
        if not estimate.defined:
            return f"Noise hides the range of {estimate.column}: no order of magnitude clearly holds records."
        records = "records" if estimate.total is None else f"of the {estimate.total:,} records"
        ends = f"{show(estimate.grid, estimate.low)} to {show(estimate.grid, estimate.high)}"
        if estimate.strategy is None:
            return f"All {records} have {estimate.column} from {ends}, rounded outward to orders of magnitude."
        most = f"At most {estimate.records_outside:,}" if estimate.records_outside else "None"
        sure = words.percent(estimate.confidence_level)
        return f"{estimate.column} lies from {ends}. {most} {records} lie outside, with {sure} confidence."

    @property
    def error(self) -> Sequence[Html | str]:
        estimate = self.estimate
        if estimate.strategy is None:
            return ("The bounds are exact for these records, up to the width of an order of magnitude.",)
        if not estimate.defined:
            return ("There is no error to state: there are no bounds.",)
        return (
            say(
                strong(f"At most {estimate.records_outside:,} records"),
                f" lie outside, with {words.percent(estimate.confidence_level)} confidence.",
            ),
            f"Both ends lie in magnitudes that hold records, with {words.percent(1 - estimate.wrong_end)} confidence.",
            fine(
                "The bounds lie on a fixed public list of magnitudes; they are not the smallest and the largest value "
                "themselves."
            ),
        )

    @property
    def released(self) -> Sequence[Html | str]:
        least = plain_number(self.estimate.threshold)
        return (
            f"Noisy counts of {self.estimate.column} in each of {self.estimate.grid.bins:,} orders of magnitude, and "
            "the outermost ones that count as holding records. Other releases may use these bounds at no further cost.",
            fine(f"A magnitude counts as holding records if its noisy count is at least {least}."),
        )

    def tables(self, exact: Any) -> Sequence[Html | None]:
        if not self.estimate.defined:
            return ()
        shown = [self.estimate] if exact is None else [self.estimate, exact.estimate]
        return (
            table(
                "Bounds",
                ("Bound", "Released", "True")[: 1 + len(shown)],
                [
                    ("Smallest", [show(each.grid, each.low) for each in shown]),
                    ("Largest", [show(each.grid, each.high) for each in shown]),
                ],
            ),
        )

    @property
    def details(self) -> Sequence[tuple[str, str]]:
        return (("Magnitudes", f"{self.estimate.grid.bins:,} bins, each a fixed factor above the last"),)

    @property
    def useless(self) -> str | None:
        if self.estimate.defined or self.estimate.strategy is None:
            return None
        return "There are too few records for this budget. Use a larger privacy budget or a larger base."
