"""A hypothesis test in some lines, and as a small table in a notebook."""

from __future__ import annotations

from typing import Any

from ogive.core import digits
from ogive.statistics.base import Card
from ogive.statistics.significance.result import HypothesisTest


def summary(found: HypothesisTest) -> str:
    """The hypothesis, the statistic and the p-value, and what the p-value counts."""
    rows = facts(found)
    width = 2 + max(len(name) for name, _ in rows)
    return "\n".join([f"Test of: {found.hypothesis}", *(f"  {name + ':':<{width}}{value}" for name, value in rows)])


def card(found: HypothesisTest) -> Card:
    """What notebooks show."""
    return Card(f"Test of: {found.hypothesis}", facts(found))


def facts(found: HypothesisTest) -> list[tuple[str, str]]:
    """What a reader should know, as pairs of a name and a value."""
    rows = [("privacy", found.caption)]
    if not found.defined:
        return [*rows, ("p-value", "none, since noise or the records leave no statistic")]
    statistic, expected = (digits.number(each, found.standard_error) for each in (found.statistic, found.expected))
    sides = "" if found.alternative == "two-sided" else f", alternative: {found.alternative}"
    return [
        *rows,
        (found.name, f"{statistic}, expected {expected}{sides}"),
        ("p-value", digits.p_value(found.p_value, 3).removeprefix("= ")),
        ("method", found.method),
    ]


def brief(found: HypothesisTest) -> str:
    """The hypothesis and the p-value in a clause, for the text of an estimate."""
    if not found.defined:
        return f"{found.hypothesis}: not tested, since there is no statistic"
    counted = " (noise included)" if found.private else ""
    return f"{found.hypothesis}: p {digits.p_value(found.p_value)}{counted}"


def sentence(found: HypothesisTest) -> str:
    """The result as a sentence of a report."""
    if not found.defined:
        return f"Whether {found.hypothesis} was not tested, since there is no statistic."
    counted = ", with the noise counted" if found.private else ""
    return f"Test that {found.hypothesis}: p {digits.p_value(found.p_value)}{counted}."


# --- Columns of a data frame


def columns(found: HypothesisTest) -> dict[str, Any]:
    """The hypothesis, the statistic and the p-value."""
    return {
        "hypothesis": [found.hypothesis],
        "name": [found.name],
        "statistic": [found.statistic],
        "expected": [found.expected],
        "standard_error": [found.standard_error],
        "p_value": [found.p_value],
        "alternative": [found.alternative],
    }
