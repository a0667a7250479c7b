"""Counts, proportions, means and sums as JSON: exact, versioned, and safe to read from strangers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ogive.columns import LONGEST_LABEL, LabelValue, storable
from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.local.randomized_response import RandomizedResponse
from ogive.privacy import Adjacency
from ogive.queries import Weights
from ogive.statistics.plain_json import Fields, is_number, is_text, is_whole, noise_law, read_exact
from ogive.statistics.stated_price import check_query
from ogive.statistics.sums import measured as sums
from ogive.statistics.sums.estimate import (
    CountEstimate,
    MeanEstimate,
    NumberEstimate,
    ProportionEstimate,
    SumEstimate,
)
from ogive.statistics.sums.lattice import MOST_NAMED, Lattice
from ogive.statistics.sums.measured import FORMS, Measured
from ogive.strategies.counted_noise import MOST_BITS

KINDS: dict[str, type[NumberEstimate]] = {
    each.schema: each for each in (CountEstimate, ProportionEstimate, MeanEstimate, SumEstimate)
}

_NEEDED = ("column", "measured", "missing", "confidence_level", "provenance")
_MEASURED = ("form", "values", "noise", "bits", "weights", "epsilon", "adjacency", "total")
_WEIGHTS = ("count", "slope", "shift", "square")
_LARGEST_WEIGHT = 1 << 34


def to_dict(estimate: NumberEstimate) -> dict[str, Any]:
    """Plain data of a number; the results follow from what was measured, and are there for other programs."""
    provenance, defined = estimate.provenance, estimate.defined
    own: dict[str, Any] = {}
    if isinstance(estimate, CountEstimate | ProportionEstimate):
        own["values"] = None if estimate.values is None else list(estimate.values)
    if isinstance(estimate, MeanEstimate | SumEstimate):
        own["lattice"] = estimate.lattice.to_dict()
    results = {
        "value": estimate.value if defined else None,
        "standard_error": estimate.standard_error if defined else None,
        "noise_error": estimate.noise_error if defined else None,
        "sampling_error": estimate.sampling_error if defined else None,
        "interval": list(estimate.interval()) if defined else None,
    }
    if isinstance(estimate, MeanEstimate):
        results["standard_deviation"] = estimate.standard_deviation
    return {
        "schema": estimate.schema,
        "column": estimate.column,
        **own,
        "measured": sums.to_dict(estimate.measured),
        "missing": estimate.missing,
        "confidence_level": estimate.confidence_level,
        "results": results,
        "provenance": None if provenance is None else provenance.to_dict(),
    }


def from_dict(data: Any) -> NumberEstimate:
    """Rebuild from plain data, which need not be trusted.

    Raises:
        ParameterError, DataError: this is no number that this version can read.
    """
    schema = data.get("schema") if isinstance(data, dict) else None
    if not isinstance(schema, str) or schema not in KINDS:
        raise DataError(f"not a number: expected a JSON object of one of the schemas {', '.join(KINDS)}")
    kind = KINDS[schema]
    of_values = kind in (CountEstimate, ProportionEstimate)
    known = Fields.of(data, schema, f"a {kind.what}", (*_NEEDED, "values" if of_values else "lattice"))
    own: Any = (
        {"values": _values(data["values"], known)} if of_values else {"lattice": _lattice(data["lattice"], known)}
    )
    provenance = known.provenance()
    try:
        estimate = kind(
            known.text("column"),
            _measured(data["measured"], known, own.get("lattice")),
            missing=_missing(data["missing"], known),
            confidence_level=known.chance("confidence_level"),
            provenance=provenance,
            **own,
        )
        query = estimate.query
    except ParameterError as problem:
        raise DataError(f"{known.what} contradicts itself: {plain(problem)}") from None
    asked = estimate.measured
    if asked.form != "reports":
        check_query(provenance, query, asked.adjacency)
    elif provenance is not None and provenance.privacy is None:
        raise DataError(f"{known.what} contradicts itself: it is from reports, and has no guarantee")
    return estimate


def _missing(value: Any, known: Fields) -> Any:
    if not (is_text(value) or is_number(value)):
        raise DataError(f"the field 'missing' of {known.what} must be a short text or a number")
    return value


def _values(data: Any, known: Fields) -> tuple[LabelValue, ...] | None:
    if data is None:
        return None
    if (
        not isinstance(data, list)
        or not data
        or not all(isinstance(each, LabelValue) and storable(each) for each in data)
    ):
        raise DataError(
            f"the values of {known.what} must be numbers, truth values or texts of at most {LONGEST_LABEL} characters"
        )
    return tuple(data)


def _lattice(data: Any, known: Fields) -> Lattice:
    fits = isinstance(data, dict) and set(data) == {"low", "high", "steps"}
    if not fits or not is_whole(data["steps"]) or not 1 <= data["steps"] <= MOST_NAMED + 1:
        raise DataError(f"the lattice of {known.what} must have low, high, and steps from 1 to {MOST_NAMED + 1}")
    low, high = (read_exact(data[name], f"the bounds of {known.what}") for name in ("low", "high"))
    if not low < high:
        raise DataError(f"the lower bound of {known.what} must be below the upper bound")
    return Lattice(low, high, data["steps"])


def _measured(data: Any, known: Fields, lattice: Lattice | None) -> Measured:
    if not isinstance(data, dict) or set(data) != set(_MEASURED):
        raise DataError(f"what was measured of {known.what} must have {', '.join(_MEASURED)}")
    fields = Fields(data, known.what)
    form, values, weights = fields.text("form"), data["values"], data["weights"]
    if form not in FORMS:
        raise DataError(f"the form of {known.what} must be one of {', '.join(FORMS)}, got {quoted(form)}")
    if not isinstance(values, list) or not values or not all(map(is_whole, values)):
        raise DataError(f"the measured values of {known.what} must be a list of whole numbers")
    adjacency, total = fields.adjacency(), fields.total()
    epsilon = None
    if form == "reports":
        epsilon = _epsilon(data["epsilon"], known)
        if len(values) != 2 or min(values) < 0 or total != sum(values) or not total:
            raise DataError(f"the reports of {known.what} must be two numbers that add up to the total")
    if (weights is not None) != (form == "moments") or (data["epsilon"] is not None) != (form == "reports"):
        raise DataError(f"sums of {known.what} have weights, and reports have an epsilon")
    if (total is None) != (adjacency is Adjacency.ADD_OR_REMOVE):
        raise DataError(f"the total of {known.what} is known under REPLACE alone")
    found = Measured(
        form,
        tuple(values),
        noise_law(data["noise"], known.what),
        adjacency,
        total,
        bits=fields.whole("bits", 0, MOST_BITS),
        weights=None if weights is None else _weights(weights, known, 1 if lattice is None else lattice.steps),
        epsilon=epsilon,
    )
    _check_length(found, known)
    return found


def _check_length(found: Measured, known: Fields) -> None:
    """Refuse values that are not as many as were measured, or that the number cannot be read off."""
    needed = 2 if found.weights is None else len(found.weights.rows(1))
    if len(found.values) != needed:
        raise DataError(f"the measured values of {known.what} must be {needed}")
    by_weights = found.weights is not None and not found.weights.count
    if found.form == "cells" and known.data["schema"] in (MeanEstimate.schema, SumEstimate.schema):
        raise DataError(f"{known.what} is not read off counts of two cells")
    if by_weights and found.total is None and known.data["schema"] != SumEstimate.schema:
        raise DataError(f"{known.what} lacks the number of records")


def _weights(data: Any, known: Fields, last: int) -> Weights:
    fits = isinstance(data, dict) and set(data) == set(_WEIGHTS)
    if not fits or not all(is_whole(each) and abs(each) <= _LARGEST_WEIGHT for each in data.values()):
        raise DataError(f"the weights of {known.what} must be whole numbers by the names {', '.join(_WEIGHTS)}")
    try:
        weights = Weights(**data)
        weights.check(last)
    except ParameterError as problem:
        raise DataError(f"the weights of {known.what}: {plain(problem)}") from None
    if not weights.slope:
        raise DataError(f"the weights of {known.what} lack a slope")
    return weights


def _epsilon(data: Any, known: Fields) -> Fraction:
    epsilon = read_exact(data, f"the epsilon of {known.what}")
    try:
        return RandomizedResponse(2, epsilon).epsilon
    except ParameterError as problem:
        raise DataError(f"the reports of {known.what}: {plain(problem)}") from None
