"""Options of `ogive local describe`: those of the releases, as far as owners can answer, and what is promised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from ogive.cli.converters import whole
from ogive.cli.options.boxplot import GroupOptions
from ogive.cli.options.common import MeasureOptions, Words
from ogive.cli.options.methods import method_of
from ogive.cli.options.ustatistic import PairOptions


@Parameter(name="*", group=Group("What is measured", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class AskedColumn(MeasureOptions):
    """Column, thresholds and what a missing value means to its owner, who always sends a report."""

    missing: Literal["refuse", "low", "high"] = "refuse"
    """What a missing value means: an error, the lower bound or the upper bound."""


@Parameter(name="*", group=Group("How it is measured", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class AskedMethod:
    """What owners report of a curve."""

    method: Literal["auto", "reports", "histogram"] = "auto"
    """reports (what auto takes): where in a hierarchy over all thresholds a value lies. histogram: in which of a few
    groups."""

    groups: Annotated[int | None, Parameter(converter=whole)] = None
    """Number of groups of a histogram; 30 by default."""

    def arguments(self) -> dict[str, Any]:
        """The argument method of a statistic.

        Raises:
            ParameterError: groups without a histogram, or too few.
        """
        given = {} if self.groups is None else {"groups": self.groups}
        return {"method": method_of(self.method, given, {"groups": "histogram"})}


@Parameter(name="*", group=Group("Boxes", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class AskedBoxes(GroupOptions):
    """Which boxes are drawn, and what owners report for them."""

    # the parser resolves inherited annotations in this module, which therefore has to know Words
    groups: Words = ()
    """All values of that column, public; also those that nobody has."""

    public_groups: Annotated[bool | None, Parameter(show_default=False)] = None
    """Needed with --by: owners send their group as it is, and only the value is hidden."""

    method: Literal["resample"] = "resample"
    """Boxes are read off curves, whose reports are all that owners can send."""

    curve: Literal["auto", "reports", "histogram"] = "auto"
    """What owners report of the curve, as for ecdf."""

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments for the statistic."""
        return {**super().arguments(), "method": self.method, "curve": self.curve}


@Parameter(name="*", group=Group("What is measured", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class AskedPairs(PairOptions):
    """Columns, kernel, and what values may be."""

    method: Literal["auto", "krr", "unary", "haar", "hierarchy"] = "auto"
    """What owners report: auto has the smallest predicted error, hierarchy is for an AUC with public labels."""

    def arguments(self) -> dict[str, Any]:
        """All arguments of the statistic.

        Raises:
            ParameterError: an option is not of the form that its help shows.
        """
        return {**super().arguments(), "method": self.method}


@Parameter(name="*", group=Group("What is promised", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class PromiseOptions:
    """Who is asked, and what they are promised."""

    participants: Annotated[int, Parameter(converter=whole)]
    """How many may report; what is asked is designed for so many answers."""

    epsilon: str
    """Privacy loss of a report, at most, against everybody who sees it."""

    delta: str | None = None
    """Slack in probability, for methods that need one."""

    title: Annotated[str, Parameter(show_default=False)] = ""
    """One line that tells participants what this is for."""

    predict: Annotated[bool, Parameter(show_default=False)] = False
    """Say also what error to expect if all report, by every method that fits; takes seconds to minutes."""

    shuffled: str | None = None
    """Say also which epsilon holds against who sees the reports shuffled, or their sums alone, with this delta."""


ANY_REPORTS, ONE_BOX, GINI = AskedMethod(), AskedBoxes(), AskedPairs()
