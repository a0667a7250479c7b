"""A hypothesis test as one row of a data frame."""

from __future__ import annotations

from typing import Any

from ogive.statistics.significance.result import HypothesisTest


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
