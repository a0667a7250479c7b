"""The difference or ratio of a number of two groups, with an interval (see `ogive.statistics.confidence`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Unpack

from ogive.columns import LabelValue
from ogive.core.digits import number
from ogive.errors import ParameterError, quoted
from ogive.provenance import Provenance
from ogive.showing.pictures import Style, caption, intervals, lighten, new_axes
from ogive.showing.view import Card, View
from ogive.statistics.base import Shown
from ogive.statistics.confidence import Kind


@dataclass(frozen=True, repr=False)
class Contrast(Shown):
    """Difference or ratio of a number between two groups.

    Fields:
        kind: "difference" or "ratio".
        what: The number compared, for example "mean of age".
        by: Column of the groups.
        group, other: The two groups; `other` is subtracted, or is the divisor.
        value: The difference or ratio; NaN if the number of a group is not defined.
        standard_error: Standard error of the value, including noise and sampling; derived from the width of the
            intervals if nothing better is known.
        low, high: Ends of the interval; infinite if the divisor of a ratio may be 0. Where a group has no number they
            hold every value that the other group leaves possible.
        confidence_level: Of the interval.
        probability: Of the quantile that is compared; None for other numbers.
        provenance: Of the release of the groups; None where they were not released.
    """

    kind: Kind
    what: str
    by: str
    group: LabelValue
    other: LabelValue
    value: float
    standard_error: float
    low: float
    high: float
    confidence_level: float
    probability: float | None = None
    provenance: Provenance | None = field(default=None, compare=False)

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the interval."""
        return self.low, self.high

    @property
    def defined(self) -> bool:
        """Whether the numbers of both groups are defined."""
        return not math.isnan(self.value)

    @property
    def head(self) -> str:
        """What is compared, in words."""
        return f"{self.kind} of the {self.subject}"

    @property
    def shown(self) -> tuple[str, str, str]:
        """The value and the ends of the interval, with the digits that the interval leaves."""
        value, low, high = (number(each, self.high - self.low) for each in (self.value, self.low, self.high))
        return value, low, high

    @property
    def subject(self) -> str:
        """What is compared of which groups, without the kind of number that came of it."""
        sign = "minus" if self.kind == "difference" else "divided by"
        return f"{self.what}, {self.by} {self.group} {sign} {self.other}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"


# --- Which groups can be compared


def place_of(group: LabelValue, by: str, groups: Sequence[LabelValue]) -> int:
    """The place of a group among all groups."""
    if group not in groups:
        listed = ", ".join(map(quoted, groups[:20])) + (", ..." if len(groups) > 20 else "")
        raise ParameterError(f"there is no group {quoted(group)}; the groups of {quoted(by)} are {listed}")
    return groups.index(group)


def check_compared(group: LabelValue, other: LabelValue, by: str, groups: Sequence[LabelValue]) -> None:
    """Refuse to compare what are not two groups."""
    if place_of(group, by, groups) == place_of(other, by, groups):
        raise ParameterError(f"give two different groups to compare, got {quoted(group)} twice")


class ContrastView(View):
    """A contrast as a line, and as a point with its interval beside the value at which the groups are alike."""

    estimate: Contrast

    @property
    def title(self) -> str:
        """What is compared."""
        return f"{self.estimate.head[0].upper()}{self.estimate.head[1:]}"

    def text(self) -> str:
        """What is compared, the value and its interval."""
        estimate = self.estimate
        if not estimate.defined:
            return f"{estimate.head}: noise leaves no number"
        value, low, high = estimate.shown
        return f"{estimate.head}: {value} ({100 * estimate.confidence_level:.6g} % CI {low} to {high})"

    def card(self) -> Card:
        """What is compared, the value and its interval."""
        estimate = self.estimate
        if not estimate.defined:
            return Card(self.title, [("privacy", estimate.caption)], notes=("Noise leaves no number.",))
        value, low, high = estimate.shown
        interval = f"{100 * estimate.confidence_level:.6g} % CI"
        facts, rows = [("privacy", estimate.caption)], ((estimate.what, value, f"{low} to {high}"),)
        return Card(self.title, facts, headings=("", estimate.kind, interval), rows=rows)

    @property
    def columns(self) -> dict[str, Any]:
        """All fields but the origin."""
        names = [each.name for each in fields(self.estimate) if each.name not in ("probability", "provenance")]
        return {name: [getattr(self.estimate, name)] for name in names}

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        """Draw the value, its interval, and a line where there is no difference."""
        estimate = self.estimate
        if not all(map(math.isfinite, (estimate.value, estimate.low, estimate.high))):
            raise ParameterError(f"noise leaves no number to draw of the {estimate.head}")
        axes = new_axes(ax, size=(7.2, 2.6))
        sign = "\u2212" if estimate.kind == "difference" else "/"
        intervals(axes, [f"{estimate.group} {sign} {estimate.other}"], [estimate.value], [estimate.interval], style)
        axes.axvline(0 if estimate.kind == "difference" else 1, color="0.6", linewidth=1, linestyle="--", zorder=0)
        axes.set_xlabel(
            f"{estimate.kind} of the {estimate.what}, with {100 * estimate.confidence_level:.6g} % interval"
        )
        axes.set_ylabel(estimate.by)
        caption(axes, self.title, estimate.caption, private=estimate.private)
        lighten(axes, grid="x")
        return axes
