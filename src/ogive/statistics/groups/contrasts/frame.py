"""A contrast as one row of a data frame."""

from __future__ import annotations

from typing import Any

from ogive.statistics.groups.contrasts.contrast import Contrast


def columns(found: Contrast) -> dict[str, Any]:
    """What is compared, the value, its standard error and interval."""
    return {
        "kind": [found.kind],
        "what": [found.what],
        "by": [found.by],
        "group": [found.group],
        "other": [found.other],
        "value": [found.value],
        "standard_error": [found.standard_error],
        "low": [found.low],
        "high": [found.high],
        "confidence_level": [found.confidence_level],
    }
