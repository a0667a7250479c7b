"""A cross table as columns of a data frame: a row for each combination."""

from __future__ import annotations

import itertools
from typing import Any

from ogive.statistics.crosstab.estimate import CrosstabEstimate


def columns(found: CrosstabEstimate) -> dict[str, Any]:
    """Combinations with counts, shares, errors and the ends of intervals."""
    names = list(itertools.product(found.row_names, found.column_names))

    def flat(table: Any) -> list[Any]:
        return [each for row in table for each in row]

    counted, shares = flat(found.count_intervals()), flat(found.row_share_intervals())
    return {
        "row": [row for row, _ in names],
        "column": [column for _, column in names],
        "count": flat(found.counts),
        "count_error": flat(found.noise_errors),
        "count_low": [low for low, _ in counted],
        "count_high": [high for _, high in counted],
        "row_share": flat(found.row_shares),
        "row_share_low": [low for low, _ in shares],
        "row_share_high": [high for _, high in shares],
        "column_share": flat(found.column_shares),
    }
