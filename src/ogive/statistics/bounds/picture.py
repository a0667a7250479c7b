"""Bounds on the noisy counts that they were found in, as a picture and as a chapter of a report."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ogive.errors import ParameterError
from ogive.showing import words
from ogive.showing.axis import plain_number, show
from ogive.showing.chapter import Chapter
from ogive.showing.parts import Html, Row, fine, say, strong, table
from ogive.showing.pictures import BLUE, GRAY, ORANGE, Style, caption, legend, lighten, new_axes, styled
from ogive.statistics.bounds.estimate import BoundsEstimate

_MOST_TICKS = 8


def draw(estimate: BoundsEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw how many records each order of magnitude seems to hold, and the bounds."""
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
    caption(axes, f"Bounds of {estimate.column}", estimate.caption, private=estimate.private)
    lighten(axes, grid="y")
    axes.set_ylim(top=1.45 * max(1, estimate.threshold, int(counts[places].max())))
    legend(axes)
    return axes


# --- The chapter of the report


def chapter(estimate: BoundsEstimate, truth: BoundsEstimate | None) -> Chapter:
    """What bounds say."""
    if truth is not None and not (
        isinstance(truth, BoundsEstimate) and truth.strategy is None and truth.grid == estimate.grid
    ):
        raise ParameterError(f"the truth for {estimate.column} must be exact bounds on the same magnitudes")
    assert estimate.provenance is not None
    private = estimate.strategy is not None
    return Chapter(
        title=f"Bounds of {estimate.column}",
        subject=estimate.column,
        provenance=estimate.provenance,
        headline=_headline(estimate),
        error=_error(estimate),
        released=_released(estimate),
        tables=(_table(estimate, truth if private else None),),
        details=(("Magnitudes", f"{estimate.grid.bins:,} bins, each a fixed factor above the last"),),
        warning=_useless(estimate),
        exact=truth is not None,
    )


def _headline(estimate: BoundsEstimate) -> str:
    if not estimate.defined:
        return f"Noise hides the range of {estimate.column}: no order of magnitude clearly holds records."
    records = "records" if estimate.total is None else f"of the {estimate.total:,} records"
    ends = f"{show(estimate.grid, estimate.low)} to {show(estimate.grid, estimate.high)}"
    if estimate.strategy is None:
        return f"All {records} have {estimate.column} from {ends}, rounded outward to orders of magnitude."
    outside = estimate.records_outside or 0
    most = "None" if outside == 0 else f"At most {outside:,}"
    sure = words.percent(estimate.confidence_level)
    return f"{estimate.column} lies from {ends}. {most} {records} lie outside, with {sure} confidence."


def _error(estimate: BoundsEstimate) -> tuple[Html, ...]:
    if estimate.strategy is None:
        return (say("The bounds are exact for these records, up to the width of an order of magnitude."),)
    if not estimate.defined:
        return (say("There is no error to state: there are no bounds."),)
    sure = words.percent(1 - estimate.wrong_end)
    return (
        say(
            strong(f"At most {estimate.records_outside or 0:,} records"),
            f" lie outside, with {words.percent(estimate.confidence_level)} confidence.",
        ),
        say(f"Both ends lie in magnitudes that hold records, with {sure} confidence."),
        fine(
            "The bounds lie on a fixed public list of magnitudes; they are not the smallest and the largest value "
            "themselves."
        ),
    )


def _released(estimate: BoundsEstimate) -> tuple[Html, ...]:
    return (
        say(
            f"Noisy counts of {estimate.column} in each of {estimate.grid.bins:,} orders of magnitude, and the "
            "outermost ones that count as holding records. Other releases may use these bounds at no further cost."
        ),
        fine(
            f"A magnitude counts as holding records if its noisy count is at least {plain_number(estimate.threshold)}."
        ),
    )


def _table(estimate: BoundsEstimate, truth: BoundsEstimate | None) -> Html | None:
    if not estimate.defined:
        return None
    head = ["Bound", "Released", *(["True"] if truth is not None else [])]
    rows: list[Row] = []
    for name, end in (("Smallest", "low"), ("Largest", "high")):
        exact = [] if truth is None else [show(estimate.grid, getattr(truth, end))]
        rows.append((name, [show(estimate.grid, getattr(estimate, end)), *exact]))
    return table("Bounds", head, rows)


def _useless(estimate: BoundsEstimate) -> str | None:
    if estimate.defined or estimate.strategy is None:
        return None
    return "There are too few records for this budget. Use a larger privacy budget or a larger base."
