"""What every statistic and every estimate can do, and how estimates are shown in notebooks.

A statistic is frozen parameters plus `questions`: a generator that yields queries, is sent
the answers and returns an estimate. The same text serves every trust model, in one round
or in twelve. It never sees records and never draws noise.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import importlib.util
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar, Unpack, cast

import numpy as np

from ogive.core.checks import as_written, written_fields
from ogive.errors import ParameterError, UnsupportedError
from ogive.noise.laws import widened
from ogive.privacy import Adjacency, Loss, Privacy, PrivacyUnit
from ogive.provenance import Provenance, publishable
from ogive.queries import Answer, Query
from ogive.showing.view import Backend, View, as_html, native_frame
from ogive.statistics import plain_json
from ogive.statistics.confidence import check_level
from ogive.statistics.plain_json import Fields

if TYPE_CHECKING:
    from ogive.columns import Schema
    from ogive.showing.pictures import Style

# --- Estimates and statistics

MeasuredT = TypeVar("MeasuredT")

OF_RECORDS = "of the records at a threshold (root mean square, before smoothing)"
OF_QUARTILES = "of the records, in counts from which a median or quartile is read (before smoothing)"
OF_COUNT = "of the records (standard deviation)"
OF_BOUNDS = "of the distance of the bounds, per record (standard deviation)"
OF_RANGE = "of the range that the value can have (standard deviation)"
"""Beside what noise is large or small, in words that follow a number."""

FEWEST = 1
"""Fewest records, noise included, of which anything is shown: of fewer, noise leaves none."""


def _unknown() -> int | None:
    return None


def _any_number(cells: int) -> str | None:
    return None


def _nothing(query: Query) -> None:
    """Default check: nothing to verify before paying."""


def _unannounced(loss: Loss) -> None:
    """Default: what all measurements will cost is charged as they are asked."""


@dataclass(frozen=True)
class Terms:
    """What is public before any answer: how much may be spent, and what can be asked.

    Fields:
        privacy: The guarantee that all queries together must stay within.
        unit: Whose data the guarantee hides: adjacency, and how many records a person may have.
        refusal: Says why the trust model cannot answer a query, or None if it can.
        simulations: How many releases are simulated for intervals at ordinary levels; None for as many as they
            deserve. Plans, which do not show intervals, take few, and 0 for quantiles without any.
        count: Counts the records; called only where their number is public.
        preflight: Reads what a later query will need besides, before the first one is paid for, and raises where that
            cannot be read: a spend is never taken back.
        announce: Told what all measurements together will cost, before the first of them, by a statistic of several
            whose losses may be of several types: an account is then charged for all of them at first.
        one_loss_type: Whether all that is measured must cost one type of loss, whatever is selected. This holds where
            an account is charged beforehand, and where several groups that may select differently are priced together.
        private: Whether answers carry noise; where they do not, nothing is gained by measuring less.
        adding: How many parties or servers add a share of the noise.
        honest: How many shares make up the noise that is asked for.
        cell_limit: Says why the trust model cannot count records in so many cells, or None if it can. Asked before
            anything is designed for them, which may take long.
        groups: Of how many groups these terms are for one, where the number of records is that of an average group;
            any one of them may hold all records.
        imagined: Whether answers are those of imagined records, which are the same in every group: one group is then
            run for all.
        serving: What fixes all that `refusal` and `cell_limit` say, so that a choice that rests on them may be kept;
            None where nothing fixes it.
    """

    privacy: Privacy
    unit: PrivacyUnit
    refusal: Callable[[Query], str | None]
    simulations: int | None = None
    count: Callable[[], int | None] = _unknown
    preflight: Callable[[Query], None] = _nothing
    announce: Callable[[Loss], None] = _unannounced
    one_loss_type: bool = False
    private: bool = True
    adding: int = 1
    honest: int = 1
    cell_limit: Callable[[int], str | None] = _any_number
    groups: int = 1
    imagined: bool = False
    serving: Hashable = None

    def check_cells(self, cells: int) -> None:
        """Refuse cells in which the trust model cannot count records.

        Raises:
            UnsupportedError: there are too many.
        """
        reason = self.cell_limit(cells)
        if reason is not None:
            raise UnsupportedError(reason)

    def noise_of(self, measured: MeasuredT) -> MeasuredT:
        """A strategy or query with the noise that its answer is going to have."""
        return measured if self.adding == self.honest == 1 else widened(measured, self.adding, self.honest)

    @property
    def records(self) -> int | None:
        """How many records there are, where the adjacency makes that public; else None."""
        return self.count() if self.adjacency is Adjacency.REPLACE else None

    @property
    def adjacency(self) -> Adjacency:
        """Which data sets are adjacent."""
        return self.unit.adjacency


class Shown:
    """An object that people see by its view: as text, card, data frame and picture."""

    provenance: Provenance | None
    """Origin of the release: statistic, price and trust model; None until released."""

    @property
    def private(self) -> bool:
        """Whether noise was added."""
        return self.provenance is None or self.provenance.private

    @property
    def rows_of_one(self) -> int:
        """Most records of one person: an error of sampling counts that these may be alike."""
        return 1 if self.provenance is None else self.provenance.max_rows_per_person

    @property
    def caption(self) -> str:
        """The guarantee in a clause, or "not private"."""
        if not self.private:
            return "not private: exact values"
        return "private" if self.provenance is None else str(self.provenance)

    def __getstate__(self) -> dict[str, Any]:
        """What copies and other processes get: all but what was computed from it and kept, which may hold functions."""
        computed = {
            name for each in type(self).__mro__ for name, of in vars(each).items() if isinstance(of, cached_property)
        }
        return {name: value for name, value in vars(self).items() if name not in computed}

    def view(self) -> View:
        """What people see of it; text, cards, data frames, pictures and chapters of reports follow from that."""
        kind: Any = type(self)
        return view_class(kind)(self)

    def __str__(self) -> str:
        return self.view().text()

    def _repr_html_(self) -> str:
        return as_html(self.view().card())

    def to_frame(self, backend: Backend | None = None) -> Any:
        """What was estimated as a data frame, with the ends of its intervals where it has some.

        Args:
            backend: "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Raises:
            ParameterError: none is installed, or another name was given.
        """
        return native_frame(self.view().columns, backend)

    def plot(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        """Draw it; returns matplotlib axes.

        Args:
            ax: Axes to draw into; new ones by default.
            style: Color, line width, line style, opacity and label of the main mark; see `ogive.plots.Style`.

        Raises:
            ParameterError: matplotlib is not installed, or the style is none.
        """
        return self.view().draw(ax, **style)


@functools.cache
def view_class(kind: Any) -> type[View]:
    """The class `NameView` of a class `Name`: in its module, or in the module `view` beside that."""
    for each in kind.__mro__[: kind.__mro__.index(Shown)]:
        module = each.__module__
        for place in (module, f"{module.rpartition('.')[0]}.view"):
            if importlib.util.find_spec(place) is not None:
                result = getattr(importlib.import_module(place), f"{each.__name__}View", None)
                if result is not None:
                    return cast(type[View], result)
    raise TypeError(f"what people see of {kind.__name__} is not stated: it has no class {kind.__name__}View")


class Estimate(Shown, ABC):
    """A value with its error: frozen, written and read as JSON, shown as text, as a table and as a picture.

    A subclass is a frozen dataclass, declared with `repr=False`. How its fields are stored follows from their types, or
    from the codecs that they name; see `ogive.statistics.plain_json`. What people see of it says its `View`.
    """

    schema: ClassVar[str]
    """Name and version of its JSON, for example "ogive.curve/1"."""

    article: ClassVar[str] = "an estimate"
    """What it is called in errors, for example "a curve"."""

    indent: ClassVar[int | None] = None
    """Of its JSON."""

    file_order: ClassVar[tuple[str, ...]] = ()
    """Fields that its JSON has first, where that is not their order here."""

    @property
    def noise_beside(self) -> str:
        """What `noise_share` is a share of, in words."""
        return OF_RECORDS

    @property
    def noise_hides(self) -> str:
        """Of what a release says nothing where noise is large, as " of age"; empty where that is all of it."""
        return ""

    def noise_share(self) -> float:
        """Noise as a share of what would hide all that is told, where it may do so; else, or where unknown, 0."""
        return 0.0

    def _level(self, confidence_level: float | None) -> float:
        """A confidence level that was asked for, by default that of the estimate."""
        return cast(Any, self).confidence_level if confidence_level is None else float(check_level(confidence_level))

    @abstractmethod
    def errors(self, truth: Any) -> dict[str, float]:
        """Distances from the estimate that the trust model clear gives, by name, for example "ks"."""

    def with_provenance(self, provenance: Provenance) -> Self:
        """Return the same estimate with its provenance."""
        replaced: Any = dataclasses.replace(cast(Any, self), provenance=provenance)
        return cast(Self, replaced)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_dict() == cast(Self, other).to_dict()

    def __hash__(self) -> int:
        return hash((self.schema, None if self.provenance is None else self.provenance.release_id))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.view().short}, {'private' if self.private else 'not private'}>"

    error_words: ClassVar[Mapping[str, str]] = {}
    """What each of its errors is, where `plan.py` of the statistic does not say it."""

    def results(self) -> dict[str, Any]:
        """What follows from the fields, as plain data for other programs; it is not read back."""
        return {}

    def check_stored(self, known: Fields) -> None:
        """Refuse what was read from a file if its fields contradict each other, by a ParameterError or a DataError."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact; see the schema in `ogive/schemas`."""
        return plain_json.to_plain(self)

    def to_json(self, path: str | Path | None = None) -> str:
        """JSON text; with a path, also written there, whole or not at all; for its owner alone if not private.

        Raises:
            ParameterError: the file cannot be written.
        """
        return plain_json.write(self.to_dict(), path, public=publishable(self.provenance), indent=self.indent)

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Rebuild from `to_dict`; equal to the original. The data need not be trusted.

        Raises:
            ParameterError, DataError: this is not an estimate of this kind that this version can read.
        """
        with as_written():
            return cls._read(data)

    @classmethod
    def _read(cls, data: Any) -> Self:
        return plain_json.from_plain(cls, data)

    @classmethod
    def from_json(cls, source: str | bytes | Path) -> Self:
        """Read from JSON text, or from a file if given a Path. The text need not be trusted.

        Raises:
            ParameterError, DataError: this is not an estimate of this kind that this version can read.
        """
        return cls.from_dict(plain_json.parse(source))


EstimateT = TypeVar("EstimateT", bound=Estimate, covariant=True)


class Statistic(Protocol[EstimateT]):
    """What is wanted of the records, as frozen plain data."""

    name: ClassVar[str]
    """Short name, as on the command line."""

    def alternatives(self) -> Mapping[str, Statistic[EstimateT]]:
        """The same statistic pinned to each method that it knows, by the method's name.

        Some may fit no terms; their questions then say why. `plan` compares them.
        """
        ...

    def questions(self, terms: Terms) -> Generator[Query, Answer, EstimateT]:
        """Yield queries, receive answers, return the estimate.

        Queries with one measurement are priced once; the prices of all measurements must stay
        within `terms.privacy`, which `release` checks before every answer.

        What Gaussian queries of an (epsilon, delta) guarantee cost is fixed before the first answer: no total of
        prices that were chosen after looking at answers keeps delta. Answers may decide which pure queries follow.

        Raises:
            ParameterError: parameters do not fit each other or the terms.
            UnsupportedError: no method that fits can be asked of this trust model.
        """
        ...


def check_statistic(statistic: object) -> None:
    """Refuse what is not a statistic."""
    if isinstance(statistic, type) or not hasattr(statistic, "questions"):
        raise ParameterError(
            f"`statistic` must be one such as Ecdf('age', bounds=(0, 120)), got {type(statistic).__name__}"
        )


def innermost(statistic: Any) -> Any:
    """What is wanted in the end, of a statistic of some records: that statistic without the words of which ones."""
    while hasattr(statistic, "statistic"):
        statistic = statistic.statistic
    return statistic


def parted(statistic: Any, inmost: Any) -> tuple[Any, ...]:
    """The wrappers that say which records a statistic is about, outermost first, about what is asked in its place."""
    if not hasattr(statistic, "statistic"):
        return ()
    inner = parted(statistic.statistic, inmost)
    return dataclasses.replace(statistic, statistic=inner[0] if inner else inmost), *inner


def settled(statistic: Statistic[EstimateT], unit: PrivacyUnit) -> Statistic[EstimateT]:
    """The same statistic with what it leaves to the privacy unit: whether classes or groups are public.

    A statistic that leaves anything says by a method `settled_by` what the unit makes of it. This comes before
    `describe`, so that a recorded question says what was asked. Where a person may have several rows nothing is
    public, since which row is kept depends on all of a person's values.
    """
    settle = getattr(statistic, "settled_by", None)
    known = unit if unit.person is None else dataclasses.replace(unit, public=())
    return statistic if settle is None else settle(known)


def completed(statistic: Statistic[EstimateT], schema: Callable[[], Schema | None]) -> Statistic[EstimateT]:
    """The same statistic with what it leaves to the table: what its columns hold.

    A statistic that leaves anything says by a method `completed_by` what a schema makes of it. This comes before
    `describe`, so that a recorded question says what was asked.
    """
    inner: Any = innermost(statistic)
    known = schema() if hasattr(inner, "completed_by") else None
    if known is None:
        return statistic
    return _about(statistic, inner.completed_by(known))


def before(statistic: Statistic[EstimateT]) -> Statistic[EstimateT] | None:
    """What the same call asked in an earlier version, by a method `before`; None where that was the same question.

    Whoever paid for that gets its answer again for nothing.
    """
    earlier = getattr(innermost(statistic), "before", lambda: None)()
    return None if earlier is None else _about(statistic, earlier)


def _about(statistic: Statistic[EstimateT], inmost: Any) -> Statistic[EstimateT]:
    """The same records, of which something else is wanted."""
    wrapped = parted(statistic, inmost)
    estimate: Statistic[EstimateT] = wrapped[0] if wrapped else inmost
    return estimate


def describe(value: Any) -> Any:
    """Plain data that says all that fixes a statistic; equal questions have equal descriptions.

    Numbers that are equal are written alike, whatever their type. A statistic that can be written in several
    ways says by a method `canonical` which of them stands for all. A field that was declared by `added` is left out
    while it holds what was meant before there was the field.
    """
    canonical = getattr(value, "canonical", None)
    if canonical is not None:
        value = canonical()
    to_dict = getattr(value, "to_dict", None)
    if to_dict is not None:
        return describe(to_dict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = written_fields(value, describe)
        name = getattr(value, "name", None)
        return {"name": name, **fields} if isinstance(name, str) else fields
    if isinstance(value, Mapping):
        return {str(key): describe(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [describe(item) for item in value]
    if isinstance(value, datetime.date):
        return value.isoformat()
    item = getattr(value, "item", None)  # a numpy number is the Python number it holds
    if item is not None:
        return describe(item())
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float | Fraction):
        return _number(value)
    raise TypeError(f"{type(value).__name__} has no plain form")


def _number(value: int | float | Fraction) -> int | float | str:
    """An integer where the number is whole, else a float where that is exact, else a fraction as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return value
    number = Fraction(value)
    if number.denominator == 1:
        return number.numerator
    return float(number) if Fraction(float(number)) == number else str(number)


def as_values(given: Any) -> tuple[Any, ...] | None:
    """The values of a class as a tuple of Python's own; None stays."""
    if given is None:
        return None
    values = given if isinstance(given, tuple | list | set | frozenset | np.ndarray) else (given,)
    return tuple(each.item() if isinstance(each, np.generic) else each for each in values)


def canonical_class(values: Any) -> Any:
    """The label values of a class in one order, each once; truth values are the numbers that they equal."""
    if values is None:
        return None
    return tuple(sorted({v if isinstance(v, str) else _number(v) for v in values}, key=_label_order))


def _label_order(value: Any) -> tuple[bool, Any]:
    return (True, value) if isinstance(value, str) else (False, value)


Where = str | Mapping[str, Any]
"""A condition as users write it; see `ogive.columns.predicates`."""
