"""Labels as JSON: exact, versioned, and safe to read from strangers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.errors import DataError, ParameterError, plain
from ogive.queries import Ballots
from ogive.statistics.labels.estimate import LabelsEstimate
from ogive.statistics.plain_json import Fields, is_number, is_text, is_whole, noise_law
from ogive.strategies.counted_noise import MOST_BITS

SCHEMA = LabelsEstimate.schema

_NEEDED = ("aggregator", "ballots", "labels", "taught", "asked", "opened", "bits", "law", "total", "provenance")


def to_dict(estimate: LabelsEstimate) -> dict[str, Any]:
    """Plain data of labels."""
    provenance = estimate.provenance
    return {
        "schema": SCHEMA,
        "aggregator": estimate.aggregator,
        "ballots": estimate.ballots.to_dict(),
        "labels": estimate.labels.tolist(),
        "taught": estimate.taught.tolist(),
        "asked": estimate.asked,
        "opened": None if estimate.opened is None else estimate.opened.tolist(),
        "bits": estimate.bits,
        "law": None if estimate.law is None else estimate.law.to_dict(),
        "total": estimate.total,
        "provenance": None if provenance is None else provenance.to_dict(),
    }


def from_dict(data: Any) -> LabelsEstimate:
    """Rebuild from plain data, which need not be trusted.

    Raises:
        ParameterError, DataError: these are no labels that this version can read.
    """
    known = Fields.of(data, SCHEMA, "labels", _NEEDED)
    ballots = _ballots(data["ballots"])
    queries, classes = ballots.shape
    labels, taught = data["labels"], data["taught"]
    if not _listed(labels, queries) or not all(is_whole(each) and -1 <= each < classes for each in labels):
        raise DataError(f"the field 'labels' of labels must be {queries} numbers from -1 to {classes - 1}")
    if not _listed(taught, queries) or not all(isinstance(each, bool) for each in taught):
        raise DataError(f"the field 'taught' of labels must be {queries} truth values")
    if any(by_teachers and label < 0 for by_teachers, label in zip(taught, labels, strict=True)):
        raise DataError("labels that teachers gave must be classes")
    asked, bits, opened = data["asked"], data["bits"], data["opened"]
    if not (is_whole(asked) and 0 <= asked <= queries):
        raise DataError(f"the field 'asked' of labels must be a number from 0 to {queries}")
    if sum(label >= 0 for label in labels) > asked:
        raise DataError("labels must be of queries that were asked, and there are more of them")
    if not (is_whole(bits) and 0 <= bits <= MOST_BITS):
        raise DataError(f"the bits of labels must be a whole number from 0 to {MOST_BITS}")
    if opened is not None and not (
        _listed(opened, queries) and all(_listed(row, classes) and all(map(is_whole, row)) for row in opened)
    ):
        raise DataError(f"the opened votes of labels must be {queries} lists of {classes} whole numbers, or null")
    return LabelsEstimate(
        aggregator=_aggregator(data["aggregator"]),
        ballots=ballots,
        labels=np.array(labels, dtype=np.int64),
        taught=np.array(taught, dtype=np.bool_),
        asked=asked,
        opened=None if opened is None else np.array(opened, dtype=np.int64),
        bits=bits,
        law=noise_law(data["law"], "labels"),
        total=known.total(),
        provenance=known.provenance(),
    )


def _listed(value: Any, length: int) -> bool:
    return isinstance(value, list) and len(value) == length


def _ballots(data: Any) -> Ballots:
    queries = data.get("queries") if isinstance(data, dict) else None
    if not isinstance(queries, list) or not all(map(is_text, queries)) or not is_whole(data.get("classes")):
        raise DataError("the ballots of labels must have queries, a list of short texts, and classes, a whole number")
    try:
        return Ballots(tuple(queries), data["classes"])
    except ParameterError as problem:
        raise DataError(f"the ballots of labels: {plain(problem)}") from None


def _aggregator(data: Any) -> dict[str, Any]:
    plain = isinstance(data, dict) and is_text(data.get("name"))
    if not plain or not all(is_text(name) and _is_plain(value) for name, value in data.items()):
        raise DataError("the aggregator of labels must be an object of a name, numbers and short texts")
    return dict(data)


def _is_plain(value: Any) -> bool:
    return value is None or is_text(value) or is_number(value)
