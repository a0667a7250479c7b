"""What all pictures share: colors, axes, captions, and whole files."""

from __future__ import annotations

import io
import textwrap
from pathlib import Path
from typing import Any

from ogive.errors import ParameterError, quoted
from ogive.files import permissions, write_atomically

# Okabe and Ito's palette, told apart by all common kinds of color vision
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#5A5A5A"
_EXACT = "_ogive_exact"
"""Attribute of axes that show what may not be published."""

_LONGEST = 100
"""Letters of a line of small print that a picture has room for."""
_SUFFIXES = {".png": "png", ".svg": "svg"}


def save(figure: Any, path: str | Path) -> None:
    """Write a figure, or the figure of some axes, as PNG or SVG by suffix, whole or not at all.

    A picture that shows exact values, or anything else that is not private, is for its owner alone.

    Raises:
        ParameterError: the suffix is another, or the file cannot be written.
    """
    path = Path(path)
    kind = _SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise ParameterError(f"a picture's name must end in {' or '.join(_SUFFIXES)}, got {quoted(path.name)}")
    figure = getattr(figure, "figure", figure)
    content = io.BytesIO()
    # without a date and with fixed ids the same curve gives the same file
    with _matplotlib().rc_context({"svg.hashsalt": "ogive"}):
        figure.savefig(content, format=kind, dpi=160, metadata={"Date": None} if kind == "svg" else None)
    write_atomically(path, content.getvalue(), mode=permissions(public=is_public(figure)))


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise ParameterError('pictures need matplotlib; install it with: pip install "ogive[plots]"') from None
    return matplotlib


def new_axes(ax: Any = None) -> Any:
    """Axes to draw into: the given ones, or those of a new figure.

    Raises:
        ParameterError: matplotlib is not installed, or something else than axes was given.
    """
    if ax is not None:
        if not callable(getattr(ax, "plot", None)) or not hasattr(ax, "transAxes"):
            raise ParameterError(f"`ax` must be matplotlib axes to draw into, got {type(ax).__name__}")
        return ax
    _matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(7.2, 4.4), layout="constrained").add_subplot()


def keep_private(axes: Any) -> None:
    """Note that axes show what may not be published, so that `save` writes it for its owner alone."""
    setattr(axes, _EXACT, True)


def is_public(figure: Any) -> bool:
    """Whether no axes of a figure show what may not be published."""
    return not any(getattr(axes, _EXACT, False) for axes in figure.get_axes())


def caption(axes: Any, title: str, clause: str, *, private: bool) -> None:
    """Write a title and the guarantee below it, in a color that warns where there is none."""
    if not private:
        keep_private(axes)
    lines = textwrap.wrap(clause, _LONGEST)
    axes.set_title(title, loc="left", fontsize=12, pad=10 + 12 * max(1, len(lines)))
    color, weight = (GRAY, "normal") if private else (ORANGE, "bold")
    axes.text(
        0, 1.02, "\n".join(lines), transform=axes.transAxes, fontsize=8.5, color=color, fontweight=weight, va="bottom"
    )


def lighten(axes: Any, *, grid: str = "both") -> None:
    """Take away what does not carry information; `grid` is the axis that keeps its lines."""
    axes.grid(axis=grid, color=GRAY, alpha=0.18, linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
