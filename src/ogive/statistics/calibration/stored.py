"""Calibration tests as JSON: exact, versioned, and safe to read from strangers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ogive.columns import Binning
from ogive.errors import DataError
from ogive.queries.aggregates import MAX_FRACTIONAL_BITS, GroupSums
from ogive.queries.group_sums import FORMS, GroupSumsQuery
from ogive.statistics.calibration.estimate import Calibration
from ogive.statistics.calibration.sums import CONSTANTS, Measured
from ogive.statistics.curve import stored as curve_json
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.plain_json import Fields, is_number, is_whole, noise_law
from ogive.statistics.stated_price import check_price

SCHEMA = Calibration.schema

_NEEDED = (
    "curve",
    "label",
    "bounds",
    "form",
    "bits",
    "constants",
    "expected_noise",
    "observed_noise",
    "values",
    "total",
    "p_value",
    "degrees_of_freedom",
    "floor",
    "confidence_level",
    "provenance",
)


def to_dict(calibration: Calibration) -> dict[str, Any]:
    """Plain data; `results` follow from the other fields and are not read back."""
    measured = calibration.measured
    return {
        "schema": SCHEMA,
        "curve": calibration.curve.to_dict(),
        "label": calibration.label.to_dict(),
        "bounds": calibration.bounds.to_dict(),
        "form": measured.form,
        "bits": measured.bits,
        "constants": measured.constants,
        "expected_noise": None if measured.expected is None else measured.expected.to_dict(),
        "observed_noise": None if measured.observed is None else measured.observed.to_dict(),
        "values": calibration.values.tolist(),
        "total": calibration.total,
        "p_value": _number_or_null(calibration.p_value),
        "degrees_of_freedom": calibration.degrees_of_freedom,
        "floor": calibration.floor,
        "confidence_level": calibration.confidence_level,
        "results": _results(calibration),
        "provenance": None if calibration.provenance is None else calibration.provenance.to_dict(),
    }


def from_dict(data: Any) -> Calibration:
    """Rebuild from plain data, which need not be trusted.

    Raises:
        ParameterError, DataError: this is no calibration that this version can read.
    """
    known = Fields.of(data, SCHEMA, "a calibration", _NEEDED)
    bounds = curve_json.read_grid(data["bounds"])
    if bounds.low != 0 or bounds.high != 1 or bounds.unit != "number":
        raise DataError("the groups of a calibration must reach from 0 to 1")
    measured = _measured(data)
    freedom, floor, p_value = data["degrees_of_freedom"], data["floor"], data["p_value"]
    if not (is_whole(freedom) and freedom >= 1):
        raise DataError("the field 'degrees_of_freedom' of a calibration must be a whole number of at least 1")
    if not (is_number(floor) and floor > 0):
        raise DataError("the field 'floor' of a calibration must be a number above 0")
    if p_value is not None and not (is_number(p_value) and 0 <= p_value <= 1):
        raise DataError("the field 'p_value' of a calibration must be between 0 and 1, or null")
    curve, provenance = Curve.from_dict(data["curve"]), known.provenance()
    label, sums = known.label(), None
    if measured.expected is not None and measured.observed is not None:
        groups = GroupSums(Binning(curve.column, bounds, "refuse"), label, measured.bits)
        sums = GroupSumsQuery(groups, measured.expected, measured.observed, measured.form)
    if curve.provenance != provenance:
        raise DataError("the curve of this calibration is of another release")
    check_price(provenance, [(curve.strategy, curve.adjacency)], None if sums is None else sums.price)
    return Calibration(
        curve=curve,
        label=label,
        bounds=bounds,
        values=_values(data["values"], measured.rows, bounds.bins),
        measured=measured,
        total=known.total(),
        p_value=math.nan if p_value is None else float(p_value),
        degrees_of_freedom=freedom,
        floor=float(floor),
        confidence_level=known.chance("confidence_level"),
        provenance=provenance,
    )


def _results(calibration: Calibration) -> dict[str, Any]:
    rows = (
        {
            "low": group.low,
            "high": group.high,
            "expected": list(group.expected),
            "observed": list(group.observed),
            "mean_predicted": _number_or_null(group.mean_predicted),
            "observed_share": _number_or_null(group.observed_share),
            "interval": list(group.interval),
        }
        for group in calibration.groups
    )
    return {
        "defined": calibration.defined,
        "statistic": _number_or_null(calibration.statistic),
        "debiased_statistic": _number_or_null(calibration.debiased_statistic),
        "chi_square_p_value": _number_or_null(calibration.chi_square_p_value),
        "groups": list(rows),
    }


def _number_or_null(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _measured(data: dict[str, Any]) -> Measured:
    if data["form"] not in FORMS:
        raise DataError(f"the form of a calibration must be one of {', '.join(FORMS)}")
    if data["constants"] not in CONSTANTS:
        raise DataError(f"the constants of a calibration must be one of {', '.join(CONSTANTS)}")
    if not (is_whole(data["bits"]) and 0 <= data["bits"] <= MAX_FRACTIONAL_BITS):
        raise DataError(f"the bits of a calibration must be a whole number from 0 to {MAX_FRACTIONAL_BITS}")
    expected, observed = (noise_law(data[name], "a calibration") for name in ("expected_noise", "observed_noise"))
    if type(expected) is not type(observed):
        raise DataError("expected and observed sums must have noise of one kind, or none")
    return Measured(data["form"], data["bits"], expected, observed, data["constants"])


def _values(data: Any, rows: int, groups: int) -> Any:
    shaped = isinstance(data, list) and len(data) == rows
    if not shaped or not all(isinstance(row, list) and len(row) == groups and all(map(is_whole, row)) for row in data):
        raise DataError(f"the values of a calibration must be {rows} lists of {groups} whole numbers")
    return np.array(data, dtype=np.int64)
