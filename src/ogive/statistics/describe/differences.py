"""Differences of the groups of a description: standardized, and tests of each variable, corrected for their number.

A test of a number compares the means of all groups by their errors, noise and sampling together (Wald). One of counted
values is the chi-square test of the cross table of value and group that knows the noise. P-values are corrected for the
number of variables by Holm's method. The standardized difference of two groups is that of their means over the root of
the mean of their variances, for a share p with p (1 - p) as its variance.

Source:
    Holm 1979, A simple sequentially rejective multiple test procedure; Austin 2009 for standardized differences;
    `docs/proofs/sums.md` for the test of counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.core.digits import number, p_value
from ogive.errors import ParameterError
from ogive.statistics.confidence import normal_quantile
from ogive.statistics.crosstab.estimate import independence
from ogive.statistics.sums.measured import Measured

_FEWEST = 1.0
_WIDEST = 2.0
"""An interval of a standardized difference that is wider says nothing."""


@dataclass(frozen=True)
class Difference:
    """How the groups differ in one variable.

    Fields:
        variable: Its column.
        standardized: The standardized difference of two groups, the first less the second, with both ends of its
            interval; None of more groups, of more than two categories, and where the noise leaves nothing.
        p_value: Of the hypothesis that the variable is distributed alike in all groups; NaN where noise leaves none.
        corrected: The same, corrected for the number of variables.
        is_bound: Whether the p-value is at most that.
    """

    variable: str
    standardized: tuple[float, float, float] | None
    p_value: float
    corrected: float
    is_bound: bool = False

    def __str__(self) -> str:
        """One line."""
        if self.standardized is None:
            apart = ""
        else:
            wide = self.standardized[2] - self.standardized[1]
            apart = "standardized difference {} ({} to {}), ".format(
                *(number(each, wide) for each in self.standardized)
            )
        if math.isnan(self.p_value):
            return f"{self.variable}: {apart}p -"
        shown = p_value(self.p_value, 2, bound=self.is_bound)
        return f"{self.variable}: {apart}p {shown}, corrected {p_value(self.corrected, 2, bound=self.is_bound)}"


def differences(described: Any) -> tuple[Difference, ...]:
    """Compare the groups in every variable; see `DescribeEstimate.differences`."""
    if len(described.groups) < 2:
        raise ParameterError("groups are compared where a description has two or more; describe by a column of groups")
    results = []
    for variable in described.variables:
        parts = [described.of(variable.column, group) for group in described.groups]
        name = next((each for each in ("mean", "proportion", "histogram") if each in parts[0]), "")
        each: list[Any] = [part[name] for part in parts]
        if name == "mean" and described.bounded(variable.column):
            chance, is_bound = _of_means(each), False
        elif name in ("proportion", "histogram"):
            chance, is_bound = _of_counts([one.measured for one in each])
        else:
            chance, is_bound = math.nan, False
        results.append((variable.column, _standardized(name, each), chance, is_bound))
    chances = np.array([chance for _, _, chance, _ in results])
    corrected = holm(chances)
    return tuple(
        Difference(column, apart, chance, float(each), is_bound)
        for (column, apart, chance, is_bound), each in zip(results, corrected, strict=True)
    )


def holm(chances: Any) -> Any:
    """P-values that are corrected for their number; those that are NaN take no part."""
    result = np.full(len(chances), math.nan)
    known = np.flatnonzero(~np.isnan(chances))
    order = known[np.argsort(chances[known], kind="stable")]
    result[order] = np.minimum(1.0, np.maximum.accumulate(chances[order] * np.arange(len(order), 0, -1)))
    return result


def _of_means(means: Sequence[Any]) -> float:
    from scipy.special import chdtrc  # slow to import

    if not all(each.defined for each in means):
        return math.nan
    values = np.array([each.value for each in means])
    weights = np.array([each.standard_error for each in means]) ** -2.0
    if not np.isfinite(weights).all():
        return math.nan
    middle = float(weights @ values / weights.sum())
    return float(chdtrc(len(values) - 1, float(weights @ np.square(values - middle))))


def _of_counts(blocks: Sequence[Measured]) -> tuple[float, bool]:
    """The p-value of the cross table of values and groups, and whether it is a bound."""
    first = blocks[0]
    plain = [each.alone() for each in blocks]
    counts = np.array([each.counts for each in plain])
    records = float(counts.sum())
    alike = all(each.form == "cells" and each.law == first.law and each.bits == first.bits for each in plain)
    if not alike or records < _FEWEST or first.draws != 1:
        return math.nan, False
    values = tuple(value for each in plain for value in each.values)
    table = Measured("cells", values, first.law, first.adjacency, None, bits=first.bits)
    test = independence(table, counts, records)
    return test.p_value, test.p_value_is_bound


def _standardized(name: str, each: Sequence[Any]) -> tuple[float, float, float] | None:
    """The standardized difference of two groups with its interval; the spread counts as known."""
    if len(each) != 2 or name not in ("mean", "proportion") or not all(one.defined for one in each):
        return None
    if name == "mean":
        spreads = [one.standard_deviation or 0.0 for one in each]
    else:
        spreads = [math.sqrt(one.value * (1 - one.value)) for one in each]
    spread = math.sqrt(sum(one * one for one in spreads) / 2)
    if min(spreads) <= 0:
        return None
    value = (each[0].value - each[1].value) / spread
    error = math.hypot(*(one.standard_error for one in each)) / spread
    reach = normal_quantile(each[0].confidence_level) * error
    return (value, value - reach, value + reach) if 2 * reach <= _WIDEST else None
