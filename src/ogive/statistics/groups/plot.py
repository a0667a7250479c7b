"""Draw estimates of groups over each other, each in a color of its own; single numbers side by side."""

from __future__ import annotations

from typing import Any, Unpack

from ogive.columns import LabelValue
from ogive.errors import ParameterError
from ogive.pictures import Style, caption, intervals, legend, lighten, new_axes, retitle, styled
from ogive.rooms import room
from ogive.statistics.base import Estimate
from ogive.statistics.groups.estimate import GroupEstimates
from ogive.statistics.groups.panels import MOST_PANELS, MOST_TOGETHER, draw_panels
from ogive.statistics.groups.text import about

# Okabe and Ito's palette without its yellow, which is pale on white
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_DASHES = ("-", "--", ":", "-.")


def draw(found: GroupEstimates[Any], ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw all groups into one picture with a legend; 5 to 60 groups side by side, in axes of their own.

    Args:
        found: What to draw.
        ax: Axes to draw all groups into; new ones by default.
        style: Of every group's main mark; the label stands before the name of the group; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes; of groups side by side those of the first, whose figure has the others.

    Raises:
        ParameterError: matplotlib is not installed, or the style is none.
    """
    styled(style)
    look: dict[str, Any] = {name: value for name, value in style.items() if name != "label"}
    before = f"{style['label']}, " if "label" in style else ""
    first = found.estimates[0]
    own = room(type(first), "plot")
    if hasattr(first, "reading"):
        axes = _numbers(found, ax, {"color": _COLORS[0], **style})
    elif hasattr(own, "draw_groups"):
        labels = [f"{before}{_label(found.by, group, estimate)}" for group, estimate in found]
        axes = own.draw_groups(found.estimates, labels, ax, _COLORS, look, found.caption)
        retitle(axes, f"by {found.by}")
        legend(axes)
    elif ax is None and MOST_TOGETHER < len(found.groups) <= MOST_PANELS:
        names = [f"{before}{_label(found.by, group, estimate)}" for group, estimate in found]
        axes = draw_panels(found, own.draw, names, {"color": _COLORS[0], **look})
    else:
        axes = ax
        for number, (group, estimate) in enumerate(found):
            turn = number if "color" in look else number // len(_COLORS)
            dashes = {"linestyle": _DASHES[turn % len(_DASHES)]} if turn else {}
            color = _COLORS[number % len(_COLORS)]
            mine = {"color": color, **dashes, **look, "label": f"{before}{_label(found.by, group, estimate)}"}
            # one guarantee for all, which stands above them once
            alike = estimate if found.provenance is None else estimate.with_provenance(found.provenance)
            axes = own.draw(alike, axes, **mine)
        seen = set()
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            if label in seen:  # what all groups have in common is said once
                handle.set_label("_")
            seen.add(label)
        retitle(axes, f"by {found.by}")
        legend(axes)
    return axes


def _label(by: str, group: LabelValue, estimate: Estimate) -> str:
    """What the legend says of a group: its name, and a number where the picture has one for each curve."""
    name = group if isinstance(group, str) else f"{by} = {group}"
    plot = room(type(estimate), "plot")
    return f"{name}: {plot.key(estimate)}" if hasattr(plot, "key") else name


def _numbers(found: GroupEstimates[Any], ax: Any, style: Style) -> Any:
    """A point with its interval for each group, one below the other."""
    told = [(str(group), estimate) for group, estimate in found if estimate.defined]
    if not told:
        raise ParameterError("noise leaves no number of any group to draw")
    axes = new_axes(ax, size=(7.2, max(2.6, 1.6 + 0.32 * len(told))))
    names, each = zip(*told, strict=True)
    intervals(axes, names, [one.value for one in each], [one.interval() for one in each], style)
    axes.set_xlabel(f"{each[0].subject}, with {100 * each[0].confidence_level:.6g} % intervals")
    axes.set_ylabel(found.by)
    title = about(found)
    caption(axes, f"{title[0].upper()}{title[1:]} by {found.by}", found.caption, private=found.private)
    lighten(axes, grid="x")
    return axes
