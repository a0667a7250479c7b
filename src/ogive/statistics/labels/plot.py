"""Draw labels: how often each class was given, or how far noisy votes lead where these were opened."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ogive.arrays import Bool, Float64
from ogive.pictures import BLUE, GRAY, ORANGE, Style, caption, legend, lighten, new_axes, styled
from ogive.statistics.labels.estimate import LabelsEstimate

_MOST_NAMED = 20
"""Classes whose numbers all fit below an axis."""

_HIGHEST = 8
"""Of the bar of queries without a label, in units of the class that was given most often."""

_BARS = 40


def draw(found: LabelsEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw how many queries got each class and how many got none; where votes were opened, how far they lead.

    Args:
        found: What to draw.
        ax: Axes to draw into; new ones by default.
        style: Of the bars; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, or the style is none.
    """
    look = styled(style, color=BLUE)
    axes = new_axes(ax)
    labelled = int((found.labels >= 0).sum())
    if found.margins is None:
        _counts(axes, found, look)
    else:
        _margins(axes, found.margins, found.labels >= 0, look, noisy=found.private)
    title = f"Labels of {labelled:,} of {len(found.labels):,} queries"
    caption(axes, title, found.caption, private=found.private)
    lighten(axes, grid="y")
    return axes


def _counts(axes: Any, found: LabelsEstimate, look: dict[str, Any]) -> None:
    """A bar for every class, and one for queries without a label."""
    classes, labels = found.classes, found.labels
    given = np.bincount(labels[labels >= 0], minlength=classes)
    refused, unasked = found.asked - int(given.sum()), len(labels) - found.asked
    axes.bar(np.arange(classes), given, width=0.8, **look)
    wide = max(0.8, classes / 12)
    rest = [(name, count) for name, count in (("refused", refused), ("not asked", unasked)) if count]
    places = [classes + wide * (0.75 + 2 * number) for number in range(len(rest))]
    axes.bar(places, [count for _, count in rest], color=GRAY, width=wide)
    top = max(given.max(), 1) * _HIGHEST
    step = 1 if classes <= _MOST_NAMED else -(-classes // 10)
    named = range(0, classes, step)
    axes.set_xticks([*named, *places], [*map(str, named), *(f"{name}\n{count:,}" for name, count in rest)])
    if max(refused, unasked) > top:  # else classes would not be seen; how many there are is written below
        axes.set_ylim(top=top)
        for place, (_, count) in zip(places, rest, strict=True):
            if count > top:
                arrow = {"ha": "center", "va": "top", "color": "white", "fontsize": 16}
                axes.annotate("\u2191", (place, top), (0, -4), textcoords="offset points", **arrow)
    if "label" in look:
        legend(axes)
    axes.set_xlabel("Class")
    axes.set_ylabel("Queries")


def _margins(axes: Any, margins: Float64, labelled: Bool, look: dict[str, Any], *, noisy: bool) -> None:
    """A histogram of margins: of the queries with a label, and of those without."""
    ends = np.histogram_bin_edges(margins, bins=min(_BARS, max(5, len(margins) // 5)))
    parts = [(labelled, look["color"], look.get("label", "labelled")), (~labelled, GRAY, "not labelled")]
    shown = [(margins[which], color, f"{name}: {which.sum():,}") for which, color, name in parts if which.any()]
    values, colors, names = zip(*shown, strict=True)
    line = {name: look[name] for name in ("linewidth", "linestyle") if name in look}
    axes.hist(values, bins=ends, stacked=True, color=colors, alpha=look.get("alpha", 0.8), label=names, **line)
    if labelled.any() and not labelled.all():
        least = float(margins[labelled].min())
        axes.axvline(least, color=ORANGE, linewidth=1.2, linestyle=(0, (5, 2)), label=f"smallest kept: {least:.1f}")
    axes.set_xlabel(f"Votes by which the first class leads the second{', with noise' if noisy else ''}")
    axes.set_ylabel("Queries")
    legend(axes)
