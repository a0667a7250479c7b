"""Draw estimates of groups over each other, each in a color of its own; single numbers side by side."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ogive.errors import ParameterError
from ogive.pictures import Style, caption, legend, lighten, new_axes, styled
from ogive.rooms import room
from ogive.statistics.groups.estimate import GroupEstimates
from ogive.statistics.groups.text import about

# Okabe and Ito's palette without its yellow, which is pale on white
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_DASHES = ("-", "--", ":", "-.")


def draw(found: GroupEstimates[Any], ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw all groups into one picture with a legend.

    Args:
        found: What to draw.
        ax: Axes to draw into; new ones by default.
        style: Of every group's main mark; the label stands before the name of the group; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, or the style is none.
    """
    styled(style)
    look: dict[str, Any] = {name: value for name, value in style.items() if name != "label"}
    before = f"{style['label']}, " if "label" in style else ""
    axes = new_axes(ax)
    first = found.estimates[0]
    if hasattr(first, "reading"):
        _numbers(found, axes, look)
    else:
        for number, (group, estimate) in enumerate(found):
            turn = number if "color" in look else number // len(_COLORS)
            dashes = {"linestyle": _DASHES[turn % len(_DASHES)]} if turn else {}
            color = _COLORS[number % len(_COLORS)]
            mine = {"color": color, **dashes, **look, "label": f"{before}{found.by} = {group}"}
            # one guarantee for all, which stands above them once
            alike = estimate if found.provenance is None else estimate.with_provenance(found.provenance)
            room(type(estimate), "plot").draw(alike, axes, **mine)
        seen = set()
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            if label in seen:  # what all groups have in common is said once
                handle.set_label("_")
            seen.add(label)
        legend(axes, loc="best")
    return axes


def _numbers(found: GroupEstimates[Any], axes: Any, look: dict[str, Any]) -> None:
    """A point with its interval for each group."""
    places = np.arange(len(found), dtype=np.float64)
    told = [(place, estimate) for place, estimate in zip(places, found.estimates, strict=True) if estimate.defined]
    if not told:
        raise ParameterError("noise leaves no number of any group to draw")
    for number, (place, estimate) in enumerate(told):
        low, high = estimate.interval()
        color = look.get("color", _COLORS[0])
        label = f"{100 * estimate.confidence_level:.6g} % intervals" if number == 0 else None
        axes.vlines([place], [low], [high], color=color, linewidth=6, alpha=0.35, label=label)
        axes.plot([place], [estimate.value], marker="o", markersize=6, **{**look, "color": color, "linestyle": "none"})
    axes.set_xticks(places, [str(group) for group in found.groups])
    axes.set_xlim(-0.5, len(found) - 0.5)
    axes.set_xlabel(found.by)
    axes.set_ylabel(found.estimates[0].subject)
    title = about(found)
    caption(axes, f"{title[0].upper()}{title[1:]} by {found.by}", found.caption, private=found.private)
    lighten(axes, grid="y")
    legend(axes, loc="best")
