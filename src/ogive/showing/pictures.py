"""What all pictures share: colors, axes, styles, captions, and whole files."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

from ogive.core.files import permissions, write_atomically
from ogive.errors import ParameterError, plain, quoted

# Okabe and Ito's palette, told apart by all common kinds of color vision
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#5A5A5A"
COLORS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""The palette without its yellow, which is pale on white."""

_EXACT = "_ogive_exact"
"""Attribute of axes that show what may not be published."""

_HEADING = "_ogive_heading"
"""Attribute of axes that have a title and small print of ours."""
_NARROW, _WIDE = 6.0, 9.5
"""Points of the letters of a legend, in small and in large axes."""
SUFFIXES = (".png", ".svg", ".pdf")
"""Of the files that pictures are written to."""
_UNDATED: dict[str, dict[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


class Style(TypedDict, total=False):
    """How the main mark of a picture is drawn, in matplotlib's words: a line, points, bars or boxes.

    Fields:
        color: Any color that matplotlib knows; bands take it too.
        linewidth: In points.
        linestyle: For example "--".
        alpha: Opacity of the main mark, from 0 to 1.
        label: What the legend calls it.
    """

    color: str
    linewidth: float
    linestyle: str
    alpha: float
    label: str


def styled(style: Style, **usual: Any) -> dict[str, Any]:
    """What a picture usually has, with what the style has in its place."""
    for name, value in style.items():
        if name not in Style.__annotations__:
            known = ", ".join(Style.__annotations__)
            raise ParameterError(f"a picture's style may have {known}, got {quoted(name)}")
        try:
            _line(**{name: value})
        except (TypeError, ValueError) as problem:
            raise ParameterError(f"the style `{name}` is none that matplotlib knows: {plain(problem)}") from None
    return {**usual, **style}


def _line(**style: Any) -> Any:
    """A line of a style, which matplotlib checks."""
    _matplotlib()
    from matplotlib.lines import Line2D

    return Line2D([], [], **style)


def save(figure: Any, path: str | Path) -> None:
    """Write a figure, or the figure of some axes, as PNG, SVG or PDF by suffix, whole or not at all.

    A picture that shows exact values, or anything else that is not private, is for its owner alone.

    Raises:
        ParameterError: the suffix is another, or the file cannot be written.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ParameterError(
            f"a picture's name must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, got {quoted(path.name)}"
        )
    kind = suffix[1:]
    figure = getattr(figure, "figure", figure)
    content = io.BytesIO()
    # without a date and with fixed ids the same curve gives the same file
    with _matplotlib().rc_context({"svg.hashsalt": "ogive", "pdf.fonttype": 42}):
        figure.savefig(content, format=kind, dpi=160, metadata=_UNDATED[kind])
    write_atomically(path, content.getvalue(), mode=permissions(public=is_public(figure)))


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise ParameterError('pictures need matplotlib; install it with: pip install "ogive[plots]"') from None
    return matplotlib


def new_axes(ax: Any = None, *, size: tuple[float, float] = (7.2, 4.4)) -> Any:
    """Axes to draw into: the given ones, or those of a new figure of a size in inches.

    Titles and small print need room: a figure of several axes that has no layout yet gets a constrained one. What is
    neither axes nor None is refused, as is drawing without matplotlib.
    """
    if ax is not None:
        if not callable(getattr(ax, "plot", None)) or not hasattr(ax, "transAxes"):
            raise ParameterError(f"`ax` must be matplotlib axes to draw into, got {type(ax).__name__}")
        figure = ax.get_figure(root=True)
        if len(figure.get_axes()) > 1 and figure.get_layout_engine() is None:
            from ogive.showing.heading import SettledLayout

            figure.set_layout_engine(SettledLayout())
        return ax
    return new_figure(size).add_subplot()


def new_figure(size: tuple[float, float]) -> Any:
    """A figure for several axes, of a size in inches, whose titles and small print find room."""
    _matplotlib()
    from matplotlib.figure import Figure

    from ogive.showing.heading import SettledLayout

    return Figure(figsize=size, layout=SettledLayout())


def heading_of(axes: Any) -> Any:
    """The title and small print that `caption` gave to axes."""
    return getattr(axes, _HEADING)


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
    heading = getattr(axes, _HEADING, None)
    # axes that were cleared have lost it
    if heading is None or heading.axes is not axes:
        from ogive.showing.heading import Heading

        heading = Heading(axes, color=GRAY, weight="normal")
        setattr(axes, _HEADING, heading)
    heading.say(title, clause)
    if not private:
        heading.set(color=ORANGE, fontweight="bold")


def retitle(axes: Any, clause: str) -> None:
    """Add a clause, such as "by sex", to the title that was last given to axes by `caption`."""
    heading_of(axes).add(clause)


def name_groups(axes: Any, places: Any, names: Sequence[str]) -> None:
    """Name places on the horizontal axis, in lines that stand side by side, or slanted where words are too long."""
    inches = axes.get_window_extent().width / axes.get_figure(root=True).dpi
    # a letter is about a twelfth of an inch wide
    letters = max(1, int(11 * inches / max(1, len(names))))
    lines = [textwrap.fill(name, letters, break_long_words=False) for name in names]
    if max((len(line) for name in lines for line in name.split("\n")), default=0) <= letters:
        axes.set_xticks(places, lines, parse_math=False)
    else:
        axes.set_xticks(places, names, parse_math=False, rotation=30, ha="right", rotation_mode="anchor")


def legend(axes: Any) -> None:
    """Name what is drawn, above the axes, where it covers nothing; the heading of `caption` makes room for it."""
    handles, labels = axes.get_legend_handles_labels()
    if not labels:
        return
    inches = axes.get_window_extent().width / axes.get_figure(root=True).dpi
    size = min(max(2.2 * inches, _NARROW), _WIDE)
    # in units of a letter's height: letters are about 0.6 wide, marks with their gaps 3.6
    room = 72 * inches / size
    lines = [textwrap.fill(label, max(12, int((room - 3.6) / 0.6)), break_long_words=False) for label in labels]
    longest = max(len(line) for label in lines for line in label.split("\n"))
    columns = min(len(labels), max(1, int((room + 1.5) / (0.6 * longest + 3.6))))
    result = axes.legend(
        handles,
        lines,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        frameon=False,
        fontsize=size,
        borderaxespad=0.3,
        borderpad=0.0,
        columnspacing=1.5,
    )
    for text in result.get_texts():
        text.set_parse_math(False)


def lighten(axes: Any, *, grid: str = "both") -> None:
    """Take away what does not carry information; `grid` is the axis that keeps its lines.

    Names of columns are shown letter by letter: a dollar sign begins no formula.
    """
    axes.grid(axis=grid, color=GRAY, alpha=0.18, linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_parse_math(False)


def intervals(
    axes: Any,
    names: Sequence[str],
    points: Sequence[float],
    ends: Sequence[tuple[float, float]],
    style: Style,
    *,
    hollow: bool = False,
) -> None:
    """Draw values with their intervals, one below the other, the first on top.

    `points`: The values; none is drawn where one is not finite. `hollow`: Whether points are empty, since the values
    are not where they are drawn.
    """
    look = styled(style, color=BLUE, alpha=1.0)
    heights, fill = range(len(names) - 1, -1, -1), "none" if hollow else "full"
    wide: dict[str, Any] = {name: look[name] for name in ("color", "linestyle") if name in look}
    wide |= {"linewidth": look.get("linewidth", 6), "alpha": 0.35 * look["alpha"], "solid_capstyle": "butt"}
    for height, point, (low, high) in zip(heights, points, ends, strict=True):
        axes.plot([low, high], [height, height], **wide)
        axes.plot([low, high], [height, height], "|", color=look["color"], alpha=look["alpha"], markersize=12)
        axes.plot([point], [height], "o", fillstyle=fill, color=look["color"], alpha=look["alpha"], markersize=7)
    if "label" in look:
        axes.plot([], [], "o", color=look["color"], label=look["label"])
        legend(axes)
    axes.set_yticks(heights, labels=names, parse_math=False)
    axes.set_ylim(-0.7, len(names) - 0.3)


_BAR, _BAR_MARGIN, _TALLEST, _BAR_WIDTH = 0.32, 1.5, 40.0, 0.8


def bars(
    ax: Any,
    names: Sequence[str],
    series: Sequence[tuple[str, Sequence[float], Sequence[tuple[float, float]]]],
    look: dict[str, Any],
    interval: str,
    colors: Sequence[str] = COLORS,
) -> Any:
    """Draw shares as bars with intervals: for each name, the first on top, one bar of each series.

    `ax`: Axes to draw into; new ones by default. `series`: Label, shares and intervals; one for each name. A share may
    be NaN: no bar.
    """
    axes = new_axes(ax, size=(7.2, min(_TALLEST, _BAR_MARGIN + _BAR * len(names) * len(series))))
    width = _BAR_WIDTH / len(series)
    for number, (label, shares, ends) in enumerate(series):
        first = len(names) - 1 + _BAR_WIDTH / 2 - (number + 0.5) * width
        places = [first - place for place in range(len(names))]
        mine = {"color": colors[number % len(colors)], "alpha": 0.55, **look}
        lengths = [0.0 if share != share else 100 * share for share in shares]
        axes.barh(places, lengths, height=0.9 * width, label=label, **mine)
        lows, highs = zip(*((100 * low, 100 * high) for low, high in ends), strict=True)
        axes.hlines(places, lows, highs, color=GRAY, linewidth=1.6, label=None if number else interval)
        axes.plot([*lows, *highs], [*places, *places], "|", color=GRAY, markersize=7)
    axes.set_yticks(range(len(names) - 1, -1, -1), labels=names, parse_math=False)
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.set_xlim(left=0.0)
    return axes
