"""Labels as columns of a data frame: a row for each query."""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.statistics.labels.estimate import LabelsEstimate


def columns(estimate: LabelsEstimate) -> dict[str, Any]:
    """Number of the query, its label (-1 for none), whether teachers gave it, and by how much its votes lead."""
    found = {"query": np.arange(len(estimate.labels)), "label": estimate.labels, "taught": estimate.taught}
    return found if estimate.margins is None else {**found, "margin": estimate.margins}
