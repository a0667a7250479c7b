"""The title of a picture and the small print below it, wrapped to the width of their axes whenever they are drawn.

Axes change their size after something was drawn into them: a layout makes room, or a window is resized. So lines are
broken when the text is drawn or measured, not before. Needs matplotlib; `ogive.showing.pictures`
loads this module when used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation

_LINE = 1.25
"""Height of a line in units of its font's size."""
_GAP = 5.0
"""Points between axes, small print and title."""
_TITLE_SIZES, _SMALL_SIZES = (9.0, 12.0), (6.5, 8.5)
_TITLE_PER_INCH, _SMALL_PER_INCH = 3.6, 2.6
"""Font sizes grow with the width of the axes, within these ends."""
_STEADY = 0.1
"""Lines are broken anew where the room for them has changed by more than this share of it."""
_ROUNDS, _STILL = 5, 0.004
"""How often a layout is repeated at most, and by which share of a figure axes may move that stay where they are."""


class SettledLayout(ConstrainedLayoutEngine):
    """A constrained layout that is repeated until the axes stay: narrower axes have more lines above them."""

    def execute(self, fig: Any) -> None:
        """Lay out a figure."""
        before = np.full((len(fig.axes), 4), np.inf)
        for _ in range(_ROUNDS):
            super().execute(fig)
            now = np.array([axes.get_position().bounds for axes in fig.axes])
            if now.size == 0 or float(np.abs(now - before).max()) < _STILL:
                return
            before = now


class _Locator:
    """What matplotlib calls before axes are measured or drawn, and asks for their place in a grid of axes."""

    def __init__(self, heading: Heading) -> None:
        self._heading = heading

    def __call__(self, axes: Any, renderer: Any) -> None:
        """Give axes of a fixed shape that shape, and fit all texts to it; None leaves axes where they are."""
        axes.apply_aspect()
        if renderer is not None:
            self._heading.fit(renderer)

    def get_subplotspec(self) -> Any:
        """The place of the axes in a grid of axes, for layouts."""
        return self._heading.place.get_subplotspec()


class Heading(Text):
    """Small print above some axes, which also places their title above itself."""

    def __init__(self, axes: Any, *, color: str, weight: str) -> None:
        super().__init__(
            0.0, 1.0, "", va="bottom", ha="left", color=color, fontweight=weight, linespacing=_LINE, parse_math=False
        )
        self.place = axes
        self._titles: list[str] = []
        self._clauses: list[str] = []
        self._own = ""
        self._wrapped: dict[Text, tuple[str, str, float]] = {}
        self.set_clip_on(False)
        axes.add_artist(self)
        if axes.get_axes_locator() is None:
            axes.set_axes_locator(_Locator(self))

    def say(self, title: str, clause: str) -> None:
        """Add a title and a clause; of what is drawn into the same axes twice, each is written once."""
        for text, shown in ((title, self._titles), (clause, self._clauses)):
            if text not in shown:
                shown.append(text)
        self._show()

    def add(self, clause: str) -> None:
        """Add a clause to the last title, which is then written once like any other."""
        longer = f"{self._titles.pop()} {clause}"
        if longer not in self._titles:
            self._titles.append(longer)
        self._show()

    def only(self, title: str) -> None:
        """Say a title and nothing else, where a heading above several axes says the rest."""
        self._titles, self._clauses = [title], []
        self._show()

    def _show(self) -> None:
        self.place.set_title("; ".join(self._titles), x=0.0, ha="left", parse_math=False)
        self._own = self.place.get_title()
        self.set_text(" | ".join(self._clauses))

    def fit(self, renderer: Any) -> None:
        """Break the lines of small print, title and names of the axes, and place them above the legend."""
        axes, figure = self.place, self.place.figure
        width, height = axes.bbox.width, axes.bbox.height
        size = _sized(width / figure.dpi, _SMALL_PER_INCH, _SMALL_SIZES)
        self.set_fontsize(size)
        if self._unbroken(axes.title) == self._own:  # else somebody gave the axes another title
            axes.title.set_fontsize(_sized(width / figure.dpi, _TITLE_PER_INCH, _TITLE_SIZES))
        rooms = ((self, width), (axes.title, width), (axes.xaxis.label, axes.bbox.width), (axes.yaxis.label, height))
        for text, room in rooms:
            whole, lines, before = self._unbroken(text), text.get_text(), self._wrapped.get(text, ("", "", 0.0))[2]
            # a layout that moves axes by a little must not find other lines than it measured
            if lines == whole or abs(room - before) > _STEADY * room:
                lines = wrapped(whole, text, (1 - _STEADY) * room, renderer)
                text.set_text(lines)
                before = room
            self._wrapped[text] = whole, lines, before
        rise = _GAP + self._legend_points(renderer)
        self._raise(self, rise)
        if self.get_text():
            rise += _GAP + (self.get_text().count("\n") + 1) * _LINE * size
        self._raise(axes.title, rise)

    def _raise(self, text: Text, points: float) -> None:
        shift = ScaledTranslation(0, points / 72, self.place.figure.dpi_scale_trans)
        text.set_transform(self.place.transAxes + shift)

    def _legend_points(self, renderer: Any) -> float:
        """Height of a legend that stands above the axes, in points."""
        legend: Legend | None = self.place.get_legend()
        if legend is None or not legend.get_visible():
            return 0.0
        box = legend.get_window_extent(renderer)
        if box.y0 < self.place.bbox.y1:  # somebody put it into the axes
            return 0.0
        return float(72 * (box.y1 - self.place.bbox.y1) / self.place.figure.dpi)

    def _unbroken(self, text: Text) -> str:
        """What a text says without our breaks of lines, if it is still ours."""
        whole, shown, _ = self._wrapped.get(text, ("", "", 0.0))
        return whole if text.get_text() == shown else text.get_text()


def _sized(inches: float, per_inch: float, ends: tuple[float, float]) -> float:
    return min(max(inches * per_inch, ends[0]), ends[1])


def wrapped(text: str, like: Text, width: float, renderer: Any) -> str:
    """A text in lines of at most a width, in pixels, where its words allow that."""
    font = like.get_fontproperties()

    def long(words: str) -> float:
        return float(renderer.get_text_width_height_descent(words, font, False)[0])

    lines: list[str] = []
    for part in text.split("\n"):
        line = ""
        for word in part.split():
            longer = f"{line} {word}" if line else word
            if line and long(longer) > width:
                lines.append(line)
                line = word
            else:
                line = longer
        lines.append(line)
    return "\n".join(lines)
