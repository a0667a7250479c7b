"""A hypothesis test as the statistic beside where it lies under the null hypothesis."""

from __future__ import annotations

import math
from typing import Any, Unpack

from ogive.core import digits
from ogive.errors import ParameterError
from ogive.showing.pictures import Style, caption, intervals, lighten, new_axes
from ogive.statistics.significance.result import HypothesisTest

_DEVIATIONS = 2


def draw(found: HypothesisTest, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw the expected value with two standard errors on each side, and a line at the statistic."""
    if not found.defined or not math.isfinite(found.standard_error):
        raise ParameterError(f"there is no statistic to draw of the test of: {found.hypothesis}")
    axes = new_axes(ax, size=(7.2, 2.6))
    reach = _DEVIATIONS * found.standard_error
    ends = (found.expected - reach, found.expected + reach)
    intervals(axes, ["expected"], [found.expected], [ends], style)
    axes.axvline(found.statistic, color="0.3", linewidth=1, linestyle="--", zorder=0)
    axes.set_xlabel(
        f"{found.name}: dashed; expected with {_DEVIATIONS} standard errors: p {digits.p_value(found.p_value)}"
    )
    caption(axes, f"Test of: {found.hypothesis}", found.caption, private=found.private)
    lighten(axes, grid="x")
    return axes
