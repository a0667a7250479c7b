"""The data of a released distribution function, who was counted in it, and its band; `estimate` says what it tells."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from ogive.accounting import as_concentrated, covers, epsilon_of, epsilon_of_gaussian, larger_loss
from ogive.columns.axis import to_labels
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import Progress
from ogive.errors import DataError, ParameterError
from ogive.privacy import Adjacency, ApproxDP, Charge, GaussianDP, Privacy, PureDP, privacy_from_dict
from ogive.provenance import RELEASE_ID, Provenance, check_account, check_batch_name
from ogive.statistics.base import FEWEST, Estimate
from ogive.statistics.curve.approximating import simultaneous_band
from ogive.statistics.curve.bands import Band
from ogive.statistics.plain_json import is_number, is_whole, loss_of, parts_of
from ogive.strategies.base import Strategy, approximates, noise_share
from ogive.strategies.reported import ReportedHistogram, ReportedTree

# --- Batches: who was counted in a curve

MOST_BATCHES = 1000
SHOWN = 8
_FIELDS = {"release_id", "name", "total", "records", "privacy"}


@dataclass(frozen=True)
class Batch:
    """Records that were released together.

    Fields:
        release_id: Names the release.
        name: Public name of the batch, for example of a month or a hospital; None where it has none.
        total: Number of its records where that is public, else None.
        records: Number of its records, or its estimate.
        privacy: The guarantee of its release; None without one.
        account: Of the ledger's account that paid for it; see `Provenance`.
    """

    release_id: str
    name: str | None
    total: int | None
    records: float
    privacy: Privacy | None
    account: str | None = None

    @property
    def words(self) -> str:
        """Name of the batch, or the first characters of its release's identifier."""
        return self.release_id[:SHOWN] if self.name is None else self.name

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        privacy = None if self.privacy is None else self.privacy.to_dict()
        data = {
            "release_id": self.release_id,
            "name": self.name,
            "total": self.total,
            "records": self.records,
            "privacy": privacy,
        }
        return data if self.account is None else {**data, "account": self.account}

    @staticmethod
    def from_dict(data: Any) -> Batch:
        """Rebuild from `to_dict`; the data need not be trusted."""
        if not isinstance(data, dict) or data.keys() - {"account"} != _FIELDS:
            raise DataError(f"a batch must have {', '.join(sorted(_FIELDS))}, and nothing else")
        total, records, privacy = data["total"], data["records"], data["privacy"]
        if not isinstance(data["release_id"], str) or not RELEASE_ID.fullmatch(data["release_id"]):
            raise DataError("the release of a batch must be named in hexadecimal digits")
        if not (total is None or (is_whole(total) and total >= 0)):
            raise DataError("the total of a batch must be a number of records or null")
        if not is_number(records) or records < 0:
            raise DataError("the records of a batch must be a number of at least 0")
        return Batch(
            data["release_id"],
            check_batch_name(data["name"]),
            total,
            float(records),
            None if privacy is None else _read_privacy(privacy),
            check_account(data.get("account")),
        )


def find_overlap(batches: Sequence[Batch]) -> tuple[Batch, Batch] | None:
    """Two batches that one account paid for, and not as two of its parts: the same people may be in both."""
    exactly: dict[str, Batch] = {}
    any_part: dict[str, Batch] = {}
    for batch in batches:
        if batch.account is None:
            continue
        whole, _, part = batch.account.partition("/")
        earlier = exactly.get(batch.account) or (exactly if part else any_part).get(whole)
        if earlier is not None:
            return earlier, batch
        exactly[batch.account] = batch
        any_part.setdefault(whole, batch)
    return None


def read_batches(data: Any) -> tuple[Batch, ...]:
    """Batches of a merged curve from plain data."""
    if not isinstance(data, list) or not 2 <= len(data) <= MOST_BATCHES:
        raise DataError(f"the batches of a merged curve must be a list of 2 to {MOST_BATCHES}")
    batches = tuple(map(Batch.from_dict, data))
    if len({batch.release_id for batch in batches}) < len(batches):
        raise DataError("a batch of this curve is counted twice")
    return batches


def _read_privacy(data: Any) -> Privacy:
    texts = isinstance(data, dict) and all(isinstance(text, str) for pair in data.items() for text in pair)
    if not texts or any(len(text) > 8000 or "e" in text.lower() for key, text in data.items() if key != "type"):
        raise DataError("the privacy of a batch must be a guarantee or null")
    return privacy_from_dict(data)


# --- The provenance of a merged curve

DISJOINT = " Each person is in one batch only; somebody in several loses what these cost together."
_ID_DIGITS = 32


def merged_provenance(
    sources: Sequence[Provenance],
    batches: Sequence[Batch],
    total: int | None,
    weights: tuple[Fraction, ...] | None,
) -> Provenance:
    """The provenance of a sum, or of a mixture with weights: the guarantee of its most expensive batch."""
    first = sources[0]
    privacy: Privacy | None = None
    price: Charge | None = None
    if first.private:
        granted = dearest([source.privacy for source in sources if source.privacy is not None])
        assert not isinstance(granted, GaussianDP)
        privacy = granted
        prices = [source.price for source in sources if source.price is not None]
        price = dearest(prices) if len({type(each) for each in prices}) == 1 else privacy
    assumptions = dict.fromkeys(source.assumption.removesuffix(DISJOINT) for source in sources)
    return Provenance(
        release_id=merged_name(batches, weights),
        statistic=_joined(source.statistic for source in sources),
        method=_joined(source.method for source in sources),
        privacy=privacy,
        price=price,
        adjacency=first.adjacency,
        trust=_joined(source.trust for source in sources),
        assumption=" ".join(assumptions) + DISJOINT,
        total=total,
        person=first.person,
        max_rows_per_person=first.max_rows_per_person,
        row_choice=first.row_choice,
        public=first.public,
        where=first.where,
    )


def dearest(charges: Sequence[Charge]) -> Charge:
    """The least guarantee that holds for whoever lost most; of different types, of the weakest of them."""
    if len({type(charge) for charge in charges}) > 1 or isinstance(charges[0], ApproxDP):
        approximate = [charge for charge in charges if isinstance(charge, ApproxDP)]
        if approximate:
            delta = max(charge.delta for charge in approximate)
            return ApproxDP(max(_epsilon(charge, delta) for charge in charges), delta)
        charges = [as_concentrated(charge) for charge in charges if not isinstance(charge, ApproxDP)]
    largest = charges[0]
    for charge in charges[1:]:
        assert not isinstance(largest, ApproxDP)
        assert not isinstance(charge, ApproxDP)
        largest = larger_loss(largest, charge)
    return largest


def _epsilon(charge: Charge, delta: Fraction) -> Fraction:
    match charge:
        case PureDP() | ApproxDP():
            return charge.epsilon
        case GaussianDP():
            return epsilon_of_gaussian(charge, delta)
        case _:
            return epsilon_of(charge, delta)


def merged_name(batches: Sequence[Batch], weights: tuple[Fraction, ...] | None) -> str:
    """Name of a merged release: the same for the same batches in any order and grouping; of a mixture, in theirs."""
    if weights is None:
        public: list[list[str]] = sorted([batch.release_id] for batch in batches)
    else:
        shares = [str(weight) for weight in weights]
        public = [[batch.release_id for batch in batches], shares]
    text = json.dumps(public)
    return hashlib.sha256(f"ogive merge 1\n{text}".encode()).hexdigest()[:_ID_DIGITS]


def _joined(names: Iterable[str]) -> str:
    return "+".join(dict.fromkeys(part for name in names for part in name.split("+")))


# --- Checks of a merged curve against its batches


def check_merged(
    strategy: Strategy | None, total: int | None, source: Provenance | None, batches: Sequence[Batch]
) -> None:
    """Refuse a curve whose batches are not those that its strategy, totals and provenance speak of.

    The name of a merged release is computed from its batches' names, so a batch that was struck from the list, or
    put on it, shows. This finds damage and careless edits; no file can prove that its numbers are true.
    """
    reason = next(_contradictions(strategy, total, source, batches), None)
    if reason is not None:
        raise DataError(f"this curve contradicts itself: {reason}")


def _contradictions(
    strategy: Strategy | None, total: int | None, source: Provenance | None, batches: Sequence[Batch]
) -> Iterator[str]:
    """What is wrong; each check rests on those before it."""
    parts = () if strategy is None else parts_of(strategy)
    for part, batch in zip(parts, batches or (None,), strict=False):
        if isinstance(part, ReportedHistogram | ReportedTree):
            part.check_noise(total if batch is None else batch.total)
    if not batches:
        if len(parts) > 1 or (source is not None and source.assumption.endswith(DISJOINT)):
            yield "it was merged, but lacks the list of its batches"
        return
    if source is None:
        yield "it lists batches, but no release"
        return
    if strategy is not None and len(parts) != len(batches):
        yield f"it lists {len(batches)} batches, and its strategy is that of {len(parts)}"
    if source.release_id != merged_name(batches, getattr(strategy, "weights", None)):
        yield "the name of its release does not belong to its batches"
    names = [batch.name for batch in batches if batch.name is not None]
    if len(set(names)) < len(names):
        yield "two of its batches have one name"
    if find_overlap(batches) is not None:
        yield "one account paid for two of its batches, and not as two parts"
    totals = [batch.total for batch in batches if batch.total is not None]
    if len(totals) != (0 if total is None else len(batches)):
        yield "the number of records is public in some places only"
    if total is not None and sum(totals) != total:
        yield f"the records of its batches add up to {sum(totals)}, not to {total}"
    if source.total != total:
        yield "its provenance has another number of records"
    if any(batch.total is not None and batch.records != batch.total for batch in batches):
        yield "a batch has two numbers of records"
    for batch in batches:
        if (batch.privacy is None) is source.private:
            yield "it is partly private and partly exact"
        if source.privacy is not None and batch.privacy is not None and not _within(source.privacy, batch.privacy):
            yield f"a batch has {batch.privacy}, which is more than the {source.privacy} of all"
    for part, batch in zip(parts, batches, strict=strategy is not None):
        loss = loss_of(part, source.adjacency, source.max_rows_per_person)
        if batch.privacy is not None and not covers(batch.privacy, loss):
            yield f"the noise of the batch {batch.words} costs {loss}, more than its {batch.privacy}"


def _within(granted: Privacy, part: Privacy) -> bool:
    if isinstance(part, ApproxDP):
        return isinstance(granted, ApproxDP) and part.epsilon <= granted.epsilon and part.delta <= granted.delta
    return covers(granted, part)


# --- The data of a curve


@dataclass(frozen=True, eq=False, repr=False)
class CurveBase(Estimate):
    """Noisy cumulative counts, made a valid distribution function: the data of a curve, and its accuracy.

    Fields:
        grid: Public thresholds tau_1 < ... < tau_N.
        cumulative: Smoothed counts of records at or below each threshold: not decreasing, at least
            0, shape (N,).
        raw: Unbiased counts before smoothing, shape (N,), not monotone. Bands are centered on them.
        strategy: The strategy that was measured; None without noise (trust model clear).
        adjacency: Which data sets are adjacent.
        total: Number of records if public, else None.
        smoothing: How `cumulative` came from the measurements.
        column: Name of the column, for axes and captions.
        provenance: Origin of the release: statistic, price and trust model; None until released.
        measured: Noisy measurements of an approximating strategy, as released; bands and merged curves are computed
            from them. None for other strategies, for which `raw` holds the measurements.
        merged: The batches that were counted, if this is a sum of several releases; see `batches`.
        people: Whether people were counted, whose rows share one weight each; else rows. Numbers of records are then
            numbers of people.

    If the noisy number of records is not positive, `defined` is False and the curve has all its mass at the last
    threshold. It is then a valid distribution function without information; its bands remain valid.

    Raises:
        ParameterError: lengths do not fit, or numbers are not finite, negative or decreasing.
    """

    schema: ClassVar[str] = "ogive.curve/1"

    grid: Grid
    cumulative: Float64
    raw: Float64
    strategy: Strategy | None
    adjacency: Adjacency
    total: int | None
    smoothing: str
    column: str
    provenance: Provenance | None = None
    measured: Int64 | None = None
    merged: tuple[Batch, ...] = ()
    people: bool = False

    def __post_init__(self) -> None:
        for name in ("raw", "cumulative"):
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != (self.grid.bins,):
                raise ParameterError(
                    f"`{name}` must hold {self.grid.bins} numbers, one a threshold, got {values.shape}"
                )
            if not np.isfinite(values).all():
                raise ParameterError(f"`{name}` must hold finite numbers")
            object.__setattr__(self, name, values)
        cumulative = self.cumulative
        rounding = 1e-6 * max(1.0, float(np.max(np.abs(cumulative))))
        if float(cumulative.min()) < -rounding or np.any(np.diff(cumulative) < -rounding):
            raise ParameterError("cumulative counts must be at least 0 and must not decrease")
        np.maximum.accumulate(np.maximum(cumulative, 0), out=cumulative)
        if self.total is not None and self.total < 0:
            raise ParameterError(f"the number of records must be at least 0, got {self.total}")
        if self.strategy is not None and self.strategy.size != self.grid.bins:
            raise ParameterError(f"the strategy is for {self.strategy.size} bins, the grid has {self.grid.bins}")
        if self.provenance is not None and self.provenance.all_rows is not self.people:
            object.__setattr__(self, "provenance", dataclasses.replace(self.provenance, all_rows=self.people))
        self.raw.flags.writeable = cumulative.flags.writeable = False
        if self.measured is not None:
            measured = np.array(self.measured)
            if self.strategy is None or measured.ndim != 1 or measured.dtype.kind not in "iu" or not len(measured):
                raise ParameterError(
                    "`measured` must hold the whole numbers that a noisy strategy measured, shape (M,)"
                )
            measured = measured.astype(np.int64)
            measured.flags.writeable = False
            object.__setattr__(self, "measured", measured)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CurveBase):
            return NotImplemented
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in dataclasses.fields(self))
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)

    def __hash__(self) -> int:
        return hash((self.grid, self.column, self.total, self.cumulative.tobytes()))

    def with_provenance(self, provenance: Provenance) -> Self:
        """Return the same curve with its provenance."""
        if provenance.total is None and self.total is not None:
            provenance = dataclasses.replace(provenance, total=self.total)
        return dataclasses.replace(self, provenance=provenance)

    @property
    def batches(self) -> tuple[Batch, ...]:
        """The batches of records that were counted: several after a merge, else the release's own; none without one."""
        source = self.provenance
        if self.merged or source is None:
            return self.merged
        return (Batch(source.release_id, source.batch, self.total, self.records, source.privacy, source.account),)

    @property
    def rows_of_one(self) -> int:
        """Most records of one person that count alone: 1 where people are counted."""
        return 1 if self.people else super().rows_of_one

    @property
    def private(self) -> bool:
        """Whether noise was added."""
        return self.strategy is not None

    @property
    def approximates(self) -> bool:
        """Whether the method measured less than a whole curve, so that its error has a bias besides the noise."""
        return self.strategy is not None and approximates(self.strategy)

    @property
    def records(self) -> float:
        """Number of records: exact where that is public, else its estimate; at least 0."""
        return float(self.cumulative[-1]) if self.total is None else float(self.total)

    @property
    def defined(self) -> bool:
        """Whether the noisy number of records is positive."""
        return self.records > 0

    @property
    def told(self) -> bool:
        """Whether people are told anything of the curve: the number of records with its noise is at least 1."""
        return self.records >= FEWEST

    @property
    def thresholds(self) -> Float64:
        """The grid's numbers, shape (N,)."""
        return self.grid.thresholds

    @property
    def labels(self) -> Any:
        """Thresholds in the user's units, shape (N,): numbers, dates or datetimes."""
        return to_labels(self.grid, self.grid.thresholds)

    @cached_property
    def probabilities(self) -> Float64:
        """F at each threshold, shape (N,), not decreasing, in [0, 1]; the last is exactly 1."""
        values = np.minimum(self.cumulative / self.records, 1.0) if self.defined else np.zeros(self.grid.bins)
        values[-1] = 1.0
        values.flags.writeable = False
        return values

    def band(
        self,
        confidence_level: float = 0.95,
        *,
        target: str = "population",
        simulations: int | None = None,
        progress: Progress | None = None,
        rows_per_person: int | None = None,
        width: str = "even",
    ) -> Band:
        """Compute two curves between which the whole true curve lies with the stated confidence.

        Centered on `raw`, since no such statement is known for the smoothed curve, which may leave the
        band in places. A strategy that approximates (projection, histogram, adaptive quantiles) has a bias, so nothing
        around its estimate holds the truth: its band holds all curves that agree with what was measured, however
        uneven they are between, and is wide.

        Where people are counted, both ends are further out by 1/1680 of the people, the most by which rounding their
        shares to whole units moves the curve, whatever the target.

        Args:
            confidence_level: Wanted probability for all thresholds at once, above 0 and at most 0.9999.
            target: "population": what the records were drawn from; counts sampling error and noise.
                "sample": the records themselves; counts noise only, so it is narrower. "approximation", for
                strategies that approximate: what they would say without noise, bias included.
            simulations: Number of simulated releases; by default 9999, fewer for more than 6000 noise
                nodes. The level 1 - a holds on average over the simulation, which is fixed and public;
                the achieved a strays by about sqrt(a (1 - a) / simulations), 0.0022 by default.
            progress: Called with simulations done and to do.
            rows_per_person: Most records of one person, which may all be alike; by default what the release says.
            width: "even": as wide everywhere, but for what monotony gives. "narrowing", for the population alone:
                narrower in the tails, where noise is not most of the error, and up to an eighth wider in the middle.
                It takes seconds, and longer at high levels: half a minute at 0.999 for 10,000 records and 1024
                thresholds, and two minutes at 0.9997. Higher levels are refused unless `simulations` is given.

        Raises:
            ParameterError: an argument is out of range.
            UnsupportedError: no narrowing band is known: for a sample, for a strategy that approximates, where the
                number of records is private, where a person may have several rows, where people are counted, or for
                mixtures.

        Privacy:
            Post-processing.
        """
        rows = self.rows_of_one if rows_per_person is None else rows_per_person
        key = (str(confidence_level), target, simulations, rows, width)
        if key not in self._bands:
            self._bands[key] = simultaneous_band(
                self.grid,
                self.raw,
                strategy=self.strategy,
                total=self.total,
                confidence_level=confidence_level,
                target=target,
                simulations=simulations,
                progress=progress,
                measured=self.measured,
                rows_per_person=rows,
                people=self.people,
                width=width,
            )
        return self._bands[key]

    @cached_property
    def _bands(self) -> dict[tuple[Any, ...], Band]:
        """Bands computed so far; some take a second."""
        return {}

    def noise_share(self) -> float:
        """As `rmse` where the noise may dominate the records; 0, without computation, where it clearly does not."""
        if self.strategy is None:
            return 0.0
        records = self.records
        return noise_share(self.strategy, records if records >= FEWEST else 0.0, total_known=self.total is not None)

    @cached_property
    def _variance(self) -> Float64:
        if self.strategy is None:
            return np.zeros(self.grid.bins)
        return self.strategy.variance(total_known=self.total is not None)

    @property
    def caption(self) -> str:
        """The guarantee in a clause, or "not private"."""
        if self.provenance is None and self.strategy is not None:
            return f"{self.strategy.loss(self.adjacency)}, {self.adjacency.words}"
        return super().caption

    def check_defined(self) -> None:
        """Refuse to read a shape from a curve that is not defined.

        Raises:
            ParameterError: noise left no records.
        """
        if not self.defined:
            raise ParameterError("this curve is not defined, since noise leaves no records, and says nothing of them")
