"""Released labels: what teachers answered, and the noisy votes behind it where these were opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ogive.core.arrays import Bool, Float64, Int64
from ogive.errors import DataError, ParameterError, plain
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.provenance import Provenance
from ogive.queries import Ballots
from ogive.statistics.base import Estimate
from ogive.statistics.plain_json import Fields, is_number, is_text, is_whole, noise_law
from ogive.strategies.counts import MOST_BITS


@dataclass(frozen=True, eq=False, repr=False)
class LabelsEstimate(Estimate):
    """Labels of public inputs.

    Fields:
        aggregator: Name and parameters of what turned votes into labels, as plain data.
        ballots: The queries, and how many classes there are.
        labels: The class of every query, -1 where there is none, shape (queries,).
        taught: Whether teachers were the ones to answer, shape (queries,); other labels are the student's own.
        asked: How many queries were looked at before the run ended.
        opened: Noisy votes times 2^bits, shape (queries, classes); None where nothing but labels was opened.
        bits: Fractional bits of those.
        law: Noise of each of them; None where there is none, or they were not opened.
        total: The number of teachers where it is public, else None.
        provenance: Origin of the release: statistic, price and trust model.
    """

    schema: ClassVar[str] = "ogive.labels/1"

    aggregator: dict[str, Any]
    ballots: Ballots
    labels: Int64
    taught: Bool
    asked: int
    opened: Int64 | None
    bits: int
    law: DiscreteGaussian | DiscreteLaplace | None
    total: int | None
    provenance: Provenance | None = None

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, LabelsEstimate) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.ballots, self.labels.tobytes()))

    @property
    def answered(self) -> int:
        """How many queries teachers answered."""
        return int(self.taught.sum())

    @property
    def votes(self) -> Float64 | None:
        """Noisy votes, shape (queries, classes), which cost nothing more: soft labels; None where not opened."""
        return None if self.opened is None else np.ldexp(self.opened.astype(np.float64), -self.bits)

    @property
    def margins(self) -> Float64 | None:
        """The largest noisy count of every query less its second largest, shape (queries,); None where not opened."""
        votes = self.votes
        if votes is None:
            return None
        top = np.partition(votes, -2, axis=1)
        return np.asarray(top[:, -1] - top[:, -2])

    @property
    def classes(self) -> int:
        """Number of classes."""
        return self.ballots.classes

    @property
    def caption(self) -> str:
        """The guarantee in a clause, or "not private"."""
        return "private" if self.provenance is None else str(self.provenance)

    def errors(self, truth: LabelsEstimate) -> dict[str, float]:
        """Distances from the labels of the exact votes."""
        both = (self.labels >= 0) & (truth.labels >= 0)
        differ = (self.labels != truth.labels)[both]
        answered = abs(self.answered - truth.answered) / len(self.labels)
        return {"wrong": float(differ.mean()) if differ.size else 0.0, "answered": answered}


# --- Plain data, which need not be trusted

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
    """Rebuild from plain data, which need not be trusted."""
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
