"""Estimates read back from plain data, by the schema that they name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.errors import DataError, LedgerError, ParameterError
from ogive.statistics.base import Estimate
from ogive.statistics.bounds.estimate import BoundsEstimate
from ogive.statistics.boxplot.estimate import Boxplots
from ogive.statistics.calibration.estimate import Calibration
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.labels.estimate import LabelsEstimate
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.roc.estimate import RocEstimate
from ogive.statistics.ustatistic.estimate import UstatisticEstimate

READERS: dict[str, Callable[[Any], Estimate]] = {
    Curve.schema: Curve.from_dict,
    QuantileEstimates.schema: QuantileEstimates.from_dict,
    RocEstimate.schema: RocEstimate.from_dict,
    Calibration.schema: Calibration.from_dict,
    BoundsEstimate.schema: BoundsEstimate.from_dict,
    Boxplots.schema: Boxplots.from_dict,
    UstatisticEstimate.schema: UstatisticEstimate.from_dict,
    LabelsEstimate.schema: LabelsEstimate.from_dict,
}
"""For each schema, what rebuilds its estimate."""


def read_estimate(data: Any) -> Estimate:
    """Rebuild any estimate from its `to_dict`; the data need not be trusted.

    Raises:
        DataError: the schema is missing or none that this version reads, or the estimate is damaged.
        ParameterError: its provenance, guarantee or strategy is damaged.
    """
    schema = data.get("schema") if isinstance(data, dict) else None
    if not isinstance(schema, str) or schema not in READERS:
        known = ", ".join(sorted(READERS))
        raise DataError(f"this is no release that this version can read: its schema must be one of {known}")
    return READERS[schema](data)


COSTS = ("ogive.sanitized_cost/1",)
"""Schemas of what a ledger records besides estimates: published costs of labels."""


def is_cost(data: Any) -> bool:
    """Whether what a ledger recorded is a published cost, and no estimate."""
    return isinstance(data, dict) and data.get("schema") in COSTS


def read_recorded(data: Any) -> Estimate:
    """Rebuild an estimate that a ledger recorded.

    Raises:
        LedgerError: it is damaged, or of a version that this one does not read.
    """
    try:
        return read_estimate(data)
    except (DataError, ParameterError) as problem:
        raise LedgerError(
            f"the ledger is damaged: a recorded answer cannot be read: {problem}; restore the ledger from a backup"
        ) from None
