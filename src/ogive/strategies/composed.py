"""Strategies made of others: of people whose rows share one weight, and sums of curves of disjoint batches.

A person of `CountedPeople` changes an answer as much as one row would: `PERSON_UNITS` units are divided among the bins
of the person's rows. The histogram holds units, and any strategy measures it, with noise for as many records as a
person has units. Estimates are divided by the units, so they count people (`docs/proofs/people.md`).

Each batch was measured by itself, with noise of its own, and its curve estimated from that; cumulative counts of
disjoint batches add up, and so do variances. Nobody measures with these sums: they describe them for bands,
errors and smoothing. A person is in one batch, so all answers together cost no more than the dearest of them.

`SummedStrategies` is for estimates without bias, of any kinds. Its answers are the parts' answers in a row, or, for a
mixture of shares, count with factors. `SummedApproximations` is for one kind of approximation: its answers are the
sums of the parts' answers, as features of all records together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ogive.accounting import as_concentrated, group_loss, larger_loss
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import WORD, Range, whole
from ogive.errors import ParameterError, quoted
from ogive.privacy import Adjacency, ApproxDP, Loss, exact
from ogive.strategies.base import Level, Strategy, approximates, batch

MOST_PARTS = 1000

ReadStrategy = Callable[[dict[str, Any]], Strategy]


class _Summed:
    """What sums of batches have in common: a person is in one of the parts."""

    name: ClassVar[str]
    parts: tuple[Strategy, ...]

    @property
    def size(self) -> int:
        return self.parts[0].size

    @property
    def levels(self) -> tuple[Level, ...]:
        """The parts' levels, one part after the other."""
        return tuple(level for part in self.parts for level in part.levels)

    def loss(self, adjacency: Adjacency) -> Loss:
        """Loss of the most expensive part, since each person is in one part."""
        return largest_loss([part.loss(adjacency) for part in self.parts])

    def _take_apart(self) -> None:
        """Put the parts of plain sums among the parts in their place, and check what is left."""
        parts: list[Strategy] = []
        for part in self.parts:
            plain_sum = isinstance(part, type(self)) and getattr(part, "weights", None) is None
            parts += part.parts if plain_sum else (part,)  # type: ignore[attr-defined]
        self._check(parts)

    def _check(self, parts: Sequence[Strategy]) -> None:
        if not 2 <= len(parts) <= MOST_PARTS:
            raise ParameterError(f"a sum must have 2 to {MOST_PARTS} parts, got {len(parts)}")
        sizes = {part.size for part in parts}
        if len(sizes) > 1:
            raise ParameterError(f"the parts of a sum must cover the same thresholds, got {sorted(sizes)} of them")
        object.__setattr__(self, "parts", tuple(parts))

    def _spreads(self, noise: tuple[Int64, ...]) -> list[Int64]:
        ends = np.cumsum([len(part.levels) for part in self.parts])
        return [part.spread(noise[end - len(part.levels) : end]) for part, end in zip(self.parts, ends, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "size": self.size, "parts": [part.to_dict() for part in self.parts]}


@dataclass(frozen=True)
class SummedStrategies(_Summed):
    """Sum of unbiased estimates of disjoint batches.

    Fields:
        parts: How each batch was measured; sums among them are taken apart.
        weights: Of a mixture, the share of each batch in it; None where all records count alike.
        totals: Of a mixture, each batch's public number of records.
    """

    parts: tuple[Strategy, ...]
    weights: tuple[Fraction, ...] | None = None
    totals: tuple[int, ...] | None = None

    name: ClassVar[str] = "sum"

    def __post_init__(self) -> None:
        if self.weights is None:
            self._take_apart()
        else:
            self._check(self.parts)
        if any(map(approximates, self.parts)):
            raise ParameterError("approximations are added up by SummedApproximations")
        if (self.weights is None) is not (self.totals is None):
            raise ParameterError("weights and totals belong together")
        if self.weights is not None and self.totals is not None:
            if any(isinstance(part, SummedStrategies) and part.weights is not None for part in self.parts):
                raise ParameterError("a mixture cannot be mixed again; mix its parts")
            if not len(self.weights) == len(self.totals) == len(self.parts) or min(self.totals) < 1:
                raise ParameterError("a mixture needs a weight and a positive number of records for every part")
            if min(self.weights) < 0 or sum(self.weights) != 1:
                raise ParameterError(f"`weights` must be at least 0 and add up to 1, got {sum(self.weights)}")

    @property
    def samples(self) -> tuple[tuple[float, int], ...]:
        """Of a mixture, the weight and the number of records of every part that counts; else empty."""
        if self.weights is None or self.totals is None:
            return ()
        return tuple((float(w), n) for w, n in zip(self.weights, self.totals, strict=True) if w)

    @property
    def factors(self) -> Float64:
        """How much a record of each part counts; one where all count alike."""
        if self.weights is None or self.totals is None:
            return np.ones(len(self.parts))
        whole = sum(self.totals)
        return np.array([float(w * whole / n) for w, n in zip(self.weights, self.totals, strict=True)])

    def measure(self, counts: Int64) -> Int64:
        """Refused: it is not known which record is of which batch."""
        raise ParameterError("a sum of batches is not measured; measure each batch by itself")

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        """The parts' noise, one part after the other."""
        return np.concatenate(self._spreads(noise), axis=-1)

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Sum of the parts' estimates, shape (..., N); `total` is divided between them as `totals` say."""
        widths = [_width(part) for part in self.parts]
        rows, shape = batch(answer, sum(widths))
        if total is None or total == 0:
            known: Sequence[int | None] = [total] * len(widths)
        elif self.totals is not None and sum(self.totals) == total:
            known = self.totals
        else:
            raise ParameterError(
                "a sum does not know how its number of records is divided; add up the parts' estimates"
            )
        pieces = np.split(rows, np.cumsum(widths)[:-1], axis=1)
        values = np.zeros((len(rows), self.size))
        for factor, part, piece, records in zip(self.factors, self.parts, pieces, known, strict=True):
            values += factor * part.estimate(piece, records)
        return values.reshape(*shape, self.size)

    def variance(self, *, total_known: bool) -> Float64:
        """Sum of the parts' variances, shape (N,)."""
        weighted = zip(self.factors, self.parts, strict=True)
        return np.asarray(sum(factor**2 * part.variance(total_known=total_known) for factor, part in weighted))

    def to_dict(self) -> dict[str, Any]:
        data = super().to_dict()
        if self.weights is not None and self.totals is not None:
            data |= {"weights": [str(weight) for weight in self.weights], "totals": list(self.totals)}
        return data

    @staticmethod
    def from_dict(data: dict[str, Any], read: ReadStrategy) -> SummedStrategies:
        """Rebuild a sum from `to_dict`; `read` rebuilds each of its parts, as `strategy_from_dict` does."""
        weights, totals = data.get("weights"), data.get("totals")
        return SummedStrategies(
            _read_parts(data, read),
            None if weights is None else tuple(exact(weight, "a weight") for weight in weights),
            None if totals is None else tuple(whole(total, "a total of a sum") for total in totals),
        )


@dataclass(frozen=True)
class SummedApproximations(_Summed):
    """Sum of one approximation's measurements of disjoint batches; nearly the same as one of all their records.

    Where the parts' integers have different numbers of fractional bits, those with fewer are moved up.

    Fields:
        parts: How each batch was measured: alike, but for the noise and the fractional bits.
    """

    parts: tuple[Strategy, ...]

    name: ClassVar[str] = "sum_of_approximations"

    def __post_init__(self) -> None:
        self._take_apart()
        if not all(map(approximates, self.parts)) or any(unlike(part, self.parts[0]) for part in self.parts):
            raise ParameterError("approximations add up only where they measure the same features")

    @property
    def finest(self) -> Any:
        """The part with the most fractional bits, whose features those of the sum are."""
        return max(self.parts, key=_bits)

    @property
    def shifts(self) -> tuple[int, ...]:
        """By how many bits each part's measurements are moved up."""
        most = _bits(self.finest)
        return tuple(most - _bits(part) for part in self.parts)

    @property
    def features(self) -> Int64:
        return np.asarray(self.finest.features)

    def measure(self, counts: Int64) -> Int64:
        """Exact measurements of all records together, shape (M,)."""
        return np.asarray(self.finest.measure(counts))

    def added(self, answers: Sequence[Int64]) -> Int64:
        """The sum of the parts' answers, each shape (..., M)."""
        return added_up(answers, self.shifts)

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        return self.added(self._spreads(noise))

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Cumulative counts, shape (..., N), as of one part."""
        return np.asarray(self.finest.estimate(answer, total))

    def variance(self, *, total_known: bool) -> Float64:
        """Sum of the parts' variances, shape (N,)."""
        return np.asarray(sum(part.variance(total_known=total_known) for part in self.parts))

    @staticmethod
    def from_dict(data: dict[str, Any], read: ReadStrategy) -> SummedApproximations:
        """Rebuild a sum from `to_dict`; `read` rebuilds each of its parts, as `strategy_from_dict` does."""
        return SummedApproximations(_read_parts(data, read))


def largest_loss(losses: Sequence[Loss]) -> Loss:
    """The loss of whoever loses most; of different types, in zCDP."""
    if len({type(loss) for loss in losses} - {ApproxDP}) > 1:
        losses = [as_concentrated(loss) for loss in losses]
    largest = losses[0]
    for loss in losses[1:]:
        largest = larger_loss(largest, loss)
    return largest


def unlike(one: Strategy, other: Strategy) -> bool:
    """Whether two approximations measure different features, fractional bits aside."""
    fields = [{**strategy.to_dict(), "law": None, "laws": None, "bits": None} for strategy in (one, other)]
    return fields[0] != fields[1]


def added_up(answers: Sequence[Int64], shifts: Sequence[int]) -> Int64:
    """The sum of answers, each moved up by its number of bits, or a refusal where it may not fit 64 bits."""
    total = Range(0, 0)
    for answer, shift in zip(answers, shifts, strict=True):
        total += Range.of(answer) * (1 << shift)
    total.check(WORD, "the measurements of these batches do not add up in 64 bits; release them with fewer bits")
    return np.asarray(sum(answer << shift for answer, shift in zip(answers, shifts, strict=True)))


def _bits(strategy: Any) -> int:
    return int(getattr(strategy, "bits", 0))


def _width(part: Strategy) -> int:
    none = tuple(np.zeros(level.nodes, dtype=np.int64) for level in part.levels)
    return int(part.spread(none).shape[-1])


def _read_parts(data: dict[str, Any], read: ReadStrategy) -> tuple[Strategy, ...]:
    parts = data["parts"]
    if not isinstance(parts, list) or len(parts) > MOST_PARTS:
        raise ParameterError("the parts of a sum must be a list of strategies")
    if any(not isinstance(part, dict) or part.get("size") != data["size"] for part in parts):
        raise ParameterError("the parts of a sum must cover its thresholds")
    return tuple(read(part) for part in parts)


PERSON_UNITS = 840
"""Units of a person, the least common multiple of 1 to 8. More would leave less room for people in 64 bits."""
SHARE_ROUNDING = 1 / (2 * PERSON_UNITS)
"""Most that the share of a person's rows at or below a threshold changes when it is rounded to whole units."""


@dataclass(frozen=True)
class CountedPeople:
    """A strategy that measures units of people.

    Fields:
        strategy: What is measured of the histogram of units; unbiased, and of one release.
    """

    strategy: Strategy

    name: ClassVar[str] = "people"

    def __post_init__(self) -> None:
        if approximates(self.strategy) or isinstance(self.strategy, CountedPeople) or hasattr(self.strategy, "parts"):
            raise ParameterError(f"people are counted by one unbiased strategy, got {quoted(self.strategy.name)}")

    @property
    def size(self) -> int:
        return self.strategy.size

    @property
    def levels(self) -> tuple[Level, ...]:
        """Those of the strategy, whose noise is in its own units of units."""
        return self.strategy.levels

    def measure(self, counts: Int64) -> Int64:
        return self.strategy.measure(counts)

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        return self.strategy.spread(noise)

    def loss(self, adjacency: Adjacency) -> Loss:
        """The loss of one person, that is of `PERSON_UNITS` records of the strategy."""
        return group_loss(self.strategy.loss(adjacency), PERSON_UNITS)

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """People at or below each threshold, shape (..., N), not whole; `total` is the public number of people."""
        return self.strategy.estimate(answer, units_of(total)) / PERSON_UNITS

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of each estimated number of people, shape (N,)."""
        return self.strategy.variance(total_known=total_known) / PERSON_UNITS**2

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "size": self.size, "units": PERSON_UNITS, "strategy": self.strategy.to_dict()}

    @staticmethod
    def from_dict(data: dict[str, Any], read: Callable[[dict[str, Any]], Strategy]) -> CountedPeople:
        """Rebuild from `to_dict`; `read` rebuilds the strategy of units, as `strategy_from_dict` does."""
        if data["units"] != PERSON_UNITS:
            raise ParameterError(f"a person has {PERSON_UNITS} units, got {quoted(data['units'])}")
        inner = data["strategy"]
        if not isinstance(inner, dict) or inner.get("size") != data["size"]:
            raise ParameterError("the strategy that counts people must cover the thresholds of the curve")
        return CountedPeople(read(inner))


def units_of(people: int | None) -> int | None:
    """The units of a public number of people; None where that is private."""
    return None if people is None else people * PERSON_UNITS
