"""Areas between groups as columns of a data frame: a row for each pair of groups."""

from __future__ import annotations

import itertools
from typing import Any

from ogive.statistics.group_auc.estimate import GroupAucEstimate


def columns(found: GroupAucEstimate) -> dict[str, Any]:
    """Groups of positives and negatives, with the area and the ends of its interval."""
    areas = list(itertools.chain(*found.table()))
    pairs = list(itertools.product(found.names, found.names))
    return {
        "positives": [group for group, _ in pairs],
        "negatives": [group for _, group in pairs],
        "auc": [area.value for area in areas],
        "auc_low": [area.low for area in areas],
        "auc_high": [area.high for area in areas],
    }
