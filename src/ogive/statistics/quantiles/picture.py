"""Quantiles with their intervals: picture and chapter of a report."""

from __future__ import annotations

import dataclasses
from typing import Any, Unpack

import numpy as np

from ogive.showing.chapter import Chapter
from ogive.showing.pictures import BLUE, Style, caption, legend, lighten, new_axes, styled
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.curve.figures import Figures, QuantileRow, exact_quantile, exact_shares, read_curve
from ogive.statistics.curve.picture import as_dates, batch_of, chapter_of, scale_axis
from ogive.statistics.quantiles.estimate import QuantileEstimates


def draw(estimate: QuantileEstimates, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw each quantile at its probability, with its interval; none where noise leaves no records."""
    look = styled(style, color=BLUE, linestyle="none", label="released" if estimate.private else "exact")
    axes = new_axes(ax)
    told = slice(None) if estimate.told else slice(0)
    shares, grid = np.array(estimate.probabilities)[told], estimate.grid
    numbers, low, high = (
        as_dates(grid, np.array(ends, dtype=np.float64)[told])
        for ends in (estimate.numbers, estimate.low, estimate.high)
    )
    label = f"{100 * estimate.confidence_level:.6g} % intervals"
    axes.hlines(shares, low, high, color=look["color"], linewidth=6, alpha=0.35, label=label)
    axes.plot(numbers, shares, marker="o", markersize=6, **look)
    axes.set_ylim(-0.05, 1.05)
    axes.set_xlabel(estimate.column)
    axes.set_ylabel("Probability")
    caption(axes, f"Quantiles of {estimate.column}", estimate.caption, private=estimate.private)
    scale_axis(axes.xaxis, grid)
    lighten(axes)
    legend(axes)
    return axes


# --- The chapter of the report


def chapter(estimate: QuantileEstimates, truth: Curve | None) -> Chapter:
    """What quantiles say, with the whole curve where there is one."""
    exact = exact_shares(estimate, truth)
    ends = zip(estimate.probabilities, estimate.numbers, estimate.low, estimate.high, strict=True)
    rows = tuple(
        QuantileRow(share, number, low, high, exact_quantile(estimate.grid, exact, share))
        for share, number, low, high in ends
    )
    source, level = estimate.provenance, estimate.confidence_level
    assert source is not None
    figures = Figures(estimate.column, estimate.grid, source, rows, truth=exact)
    if estimate.curve is not None:
        return chapter_of(read_curve(figures, estimate.curve, level), batch_of(source))
    return chapter_of(dataclasses.replace(figures, total=source.total, confidence_level=level), batch_of(source))
