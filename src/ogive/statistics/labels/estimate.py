"""Released labels: what teachers answered, and the noisy votes behind it where these were opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ogive.core.arrays import Bool, Float64, Int64
from ogive.errors import DataError, ParameterError, plain
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.provenance import Provenance
from ogive.queries import Aggregate, Ballots
from ogive.statistics.base import Estimate
from ogive.statistics.plain_json import Codec, Fields, Read, is_number, is_text, is_whole, noise_law, optional, stored
from ogive.statistics.prediction import Metric, Prediction
from ogive.strategies.counts import MOST_BITS

# --- Plain data of the fields, which need not be trusted


def _listed(value: Any, length: int) -> bool:
    return isinstance(value, list) and len(value) == length


def _read_aggregator(known: Fields, name: str, _: Read) -> dict[str, Any]:
    data = known.data[name]
    named = isinstance(data, dict) and is_text(data.get("name"))
    if not named or not all(is_text(key) and _is_plain(value) for key, value in data.items()):
        raise DataError("the aggregator of labels must be an object of a name, numbers and short texts")
    return dict(data)


def _is_plain(value: Any) -> bool:
    return value is None or is_text(value) or is_number(value)


def _read_ballots(known: Fields, name: str, _: Read) -> Ballots:
    data = known.data[name]
    queries = data.get("queries") if isinstance(data, dict) else None
    if not isinstance(queries, list) or not all(map(is_text, queries)) or not is_whole(data.get("classes")):
        raise DataError("the ballots of labels must have queries, a list of short texts, and classes, a whole number")
    try:
        return Ballots(tuple(queries), data["classes"])
    except ParameterError as problem:
        raise DataError(f"the ballots of labels: {plain(problem)}") from None


def _read_labels(known: Fields, name: str, read: Read) -> Int64:
    labels, (queries, classes) = known.data[name], read["ballots"].shape
    if not _listed(labels, queries) or not all(is_whole(each) and -1 <= each < classes for each in labels):
        raise DataError(f"the field 'labels' of labels must be {queries} numbers from -1 to {classes - 1}")
    return np.array(labels, dtype=np.int64)


def _read_taught(known: Fields, name: str, read: Read) -> Bool:
    taught, queries = known.data[name], read["ballots"].shape[0]
    if not _listed(taught, queries) or not all(isinstance(each, bool) for each in taught):
        raise DataError(f"the field 'taught' of labels must be {queries} truth values")
    return np.array(taught, dtype=np.bool_)


def _read_asked(known: Fields, name: str, read: Read) -> int:
    number, queries = known.data[name], read["ballots"].shape[0]
    if not (is_whole(number) and 0 <= number <= queries):
        raise DataError(f"the field 'asked' of labels must be a number from 0 to {queries}")
    return number


def _read_opened(known: Fields, name: str, read: Read) -> Int64:
    opened, (queries, classes) = known.data[name], read["ballots"].shape
    if not _listed(opened, queries) or not all(_listed(row, classes) and all(map(is_whole, row)) for row in opened):
        raise DataError(f"the opened votes of labels must be {queries} lists of {classes} whole numbers, or null")
    return np.array(opened, dtype=np.int64)


def _read_bits(known: Fields, name: str, _: Read) -> int:
    bits = known.data[name]
    if not (is_whole(bits) and 0 <= bits <= MOST_BITS):
        raise DataError(f"the bits of labels must be a whole number from 0 to {MOST_BITS}")
    return bits


def _array(read: Callable[[Fields, str, Read], Any]) -> Codec:
    return Codec(lambda values: values.tolist(), read)


_LAW = Codec(lambda law: law.to_dict(), lambda known, name, _: noise_law(known.data[name], known.what))


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
    article: ClassVar[str] = "labels"

    aggregator: dict[str, Any] = stored(Codec(dict, _read_aggregator))
    ballots: Ballots = stored(Codec(Ballots.to_dict, _read_ballots))
    labels: Int64 = stored(_array(_read_labels))
    taught: Bool = stored(_array(_read_taught))
    asked: int = stored(Codec(int, _read_asked))
    opened: Int64 | None = stored(optional(_array(_read_opened)))
    bits: int = stored(Codec(int, _read_bits))
    law: DiscreteGaussian | DiscreteLaplace | None = stored(optional(_LAW))
    total: int | None = stored(Codec(lambda total: total, lambda known, name, _: known.total()))
    provenance: Provenance | None = None

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

    def check_stored(self, known: Fields) -> None:
        """Refuse labels that nobody can have given."""
        given = self.labels >= 0
        if np.any(self.taught & ~given):
            raise DataError("labels that teachers gave must be classes")
        if given.sum() > self.asked:
            raise DataError("labels must be of queries that were asked, and there are more of them")


# --- How labels are planned: by simulation on votes of which most agree and the others are spread evenly


@dataclass(frozen=True)
class AgreeingTeachers:
    """Votes of which seven in ten are for one class, another one in the next query."""

    records: int

    words = "an assumed model: seven of ten teachers agree in every query; give `like=` for other votes that are public"

    def sums(self, aggregate: Aggregate) -> Int64:
        """Votes per query and class."""
        if not isinstance(aggregate, Ballots):
            raise ParameterError("teachers have nothing but votes")
        queries, classes = aggregate.shape
        others = self.records - self.records * 7 // 10
        counts = np.full(aggregate.shape, others // classes, dtype=np.int64)
        counts[:, : others % classes] += 1
        counts[np.arange(queries), np.arange(queries) % classes] += self.records - others
        return counts


class LabelsPrediction(Prediction):
    """Simulated on votes, since labels have neither scores nor classes of records."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        "wrong": Metric("wrong", "share of the labels that are not those of the exact votes, simulated"),
        "answered": Metric(
            "answered", "by how much the share of queries that get a label differs from that of exact votes, simulated"
        ),
    }

    @classmethod
    def imagined(cls, statistic: Any, records: int, assumed: Mapping[str, float]) -> AgreeingTeachers:
        """Votes of which most agree."""
        for name, value in assumed.items():
            raise ParameterError(f"votes have no scores; leave out `{name}={value:g}`, or give votes with `like=`")
        return AgreeingTeachers(records)
