"""What every plan has, and a plan of methods: one row for each method and guarantee, with its predicted errors."""

from __future__ import annotations

import dataclasses
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from ogive.core.rooms import room
from ogive.errors import DataError, ParameterError
from ogive.privacy import Adjacency, Charge, GaussianDP, Loss, Privacy, PrivacyUnit, charge_from_dict
from ogive.statistics import plain_json
from ogive.statistics.kinds import prediction_of
from ogive.statistics.plain_json import Fields, is_number, is_text, is_whole, write
from ogive.statistics.prediction import UNDEFINED, Metric, Span
from ogive.trust.base import Traffic

# --- Rows to choose from, kept in files, read as a table and drawn as lines


class Row(Protocol):
    """One choice: a method with its parameters, its price, and figures that are predicted for it."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data; exact numbers are strings."""


RowT = TypeVar("RowT", bound=Row)


@dataclass(frozen=True)
class LeftOut:
    """A method that does not fit, and why; with the trust model's name where several are compared."""

    method: str
    privacy: Privacy
    reason: str
    trust: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        named = {} if self.trust is None else {"trust": self.trust}
        return {"method": self.method, "privacy": self.privacy.to_dict(), "reason": self.reason, **named}


@dataclass(frozen=True)
class BasePlan(ABC, Generic[RowT]):
    """Rows to choose from. A subclass is a frozen dataclass with a field `rows`.

    There are two subclasses, `Plan` and `LabelsPlan`, each with its own row. Their schemas and constructors are
    published and have no field in common but `rows`. A row of `Plan` has an exact guarantee, a price and errors of one
    method. A row of `LabelsPlan` has a float epsilon at the delta of its plan, and integers that an aggregator is
    called with. One dataclass for both would have every field of the other optional.

    A subclass is declared with `repr=False`. Its `_page` is a module with `table(plan)`, `short(plan)`, a few words,
    `card(plan)`, what notebooks show, and `draw(plan, ax)`, where it has no `plot` of its own.
    """

    schema: ClassVar[str]
    """Name and version of its JSON, for example "ogive.plan/1"."""

    kind: ClassVar[str]
    """Names it in errors, for example "a plan"."""

    @property
    @abstractmethod
    def chosen(self) -> RowT:
        """The row to act on."""

    @property
    @abstractmethod
    def _page(self) -> ModuleType:
        """What people see of it."""

    def __str__(self) -> str:
        return str(self._page.table(self))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._page.short(self)}>"

    def _repr_html_(self) -> str:
        from ogive.showing.view import as_html

        return as_html(self._page.card(self))

    def plot(self, ax: Any = None) -> Any:
        """Draw a line for each method; returns matplotlib axes.

        Args:
            ax: Axes to draw into; new ones by default.

        Raises:
            ParameterError: matplotlib is not installed.
        """
        return self._page.draw(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Plain data of the published schema."""
        return {"schema": self.schema} | {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    def to_json(self, path: str | Path | None = None) -> str:
        """JSON text of `to_dict`; with a path, also written there, whole or not at all.

        Raises:
            ParameterError: the file cannot be written.
        """
        return plain_json.write(self.to_dict(), path, public=True, indent=1)

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Rebuild from `to_dict`; equal to the original. The data need not be trusted.

        Raises:
            ParameterError, DataError: the data are not a plan that this version can read.
        """
        return cls(**cls._arguments(Fields.of(data, cls.schema, cls.kind, (field.name for field in fields(cls)))))

    @classmethod
    def from_json(cls, source: str | bytes | Path) -> Self:
        """Read a plan from JSON text, or from a file if given a Path. The text need not be trusted.

        Raises:
            ParameterError, DataError: the data are not a plan that this version can read.
        """
        return cls.from_dict(plain_json.parse(source))

    @classmethod
    @abstractmethod
    def _arguments(cls, known: Fields) -> dict[str, Any]:
        """Checked arguments of the constructor, from plain data that has a value for each."""


def _plain(value: Any) -> Any:
    """A field as plain data."""
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return dict(value)
    return value.to_dict() if hasattr(value, "to_dict") else value


# --- Plain data, which need not be trusted

_ROW = ("method", "privacy", "price", "noise", "errors", "chosen")
_LEFT_OUT = ("method", "privacy", "reason")
_TRAFFIC = ("upload", "bytes_per_party", "bytes_per_server", "seconds", "bytes_to_party")
_EXACT = re.compile(r"[0-9]{1,4000}(/[0-9]{1,4000})?")
_TYPES = ("PureDP", "ZeroConcentratedDP", "ApproxDP", "GaussianDP")


def checked_arguments(known: Fields) -> dict[str, Any]:
    """Checked arguments of `Plan` from plain data; of its rows and of what was left out, checked arguments too."""
    statistic = known.data["statistic"]
    if not isinstance(statistic, dict) or not is_text(statistic.get("name")):
        raise DataError("the statistic of a plan must be an object with a name")
    try:
        write(statistic)
    except (ValueError, TypeError, RecursionError):
        raise DataError("the statistic of a plan must be plain data with finite numbers") from None
    return {
        "statistic": statistic,
        "records": known.whole("records", 1),
        "unit": _unit(known.data["unit"]),
        "trust": known.text("trust"),
        "rows": [_row(each) for each in known.rows("rows", "a plan's row", _ROW, nonempty=True)],
        "left_out": [_left_out(each) for each in known.rows("left_out", "a plan's row", _LEFT_OUT)],
        "basis": known.text("basis"),
        "runs": known.whole("runs"),
    }


def _unit(data: Any) -> PrivacyUnit:
    known = [member.value for member in Adjacency]
    if not isinstance(data, dict) or data.get("adjacency") not in known:
        raise DataError(f"the unit of a plan must be an object whose adjacency is {' or '.join(known)}")
    if not is_whole(data.get("max_rows_per_person")):
        raise DataError("the `max_rows_per_person` of a plan must be a whole number")
    return PrivacyUnit.from_dict(data)


def _row(row: Fields) -> dict[str, Any]:
    errors = row.data["errors"]
    if not isinstance(errors, dict) or not all(map(_is_error, errors.items())):
        raise DataError("the errors of a plan's row must be numbers from 0, by name")
    return {
        "method": row.text("method"),
        "privacy": _guarantee(row),
        "price": charge_of(row, "price"),
        "noise": row.text("noise"),
        "errors": errors,
        "chosen": row.flag("chosen"),
        "trust": _trust(row),
        "traffic": _traffic(row.data["traffic"]) if "traffic" in row.data else None,
        "spans": _spans(row.data["spans"], errors) if "spans" in row.data else {},
    }


def _spans(data: Any, errors: Mapping[str, Any]) -> dict[str, Span]:
    """The smallest and the largest of errors over the public shapes."""
    if not isinstance(data, dict) or not set(data) <= set(errors):
        raise DataError("the spans of a plan's row must be an object whose names are among its errors")
    spans: dict[str, Span] = {}
    for name, span in data.items():
        if not isinstance(span, list) or len(span) != 2 or not all(map(is_number, span)) or not 0 <= span[0] <= span[1]:
            raise DataError("a span of a plan's row must be two numbers from 0, the smaller one first")
        spans[name] = (span[0], span[1])
    return spans


def _traffic(data: Any) -> Traffic:
    """What a row takes of parties and servers."""
    if isinstance(data, dict):
        data = {"bytes_to_party": 0} | data  # earlier plans did not say
    if not isinstance(data, dict) or set(data) != set(_TRAFFIC):
        raise DataError(f"the traffic of a plan's row must be an object with {', '.join(_TRAFFIC)}")
    known = Fields(data, "the traffic of a plan's row")
    return Traffic(
        upload=known.text("upload"),
        bytes_per_party=known.whole("bytes_per_party"),
        bytes_per_server=known.whole("bytes_per_server"),
        seconds=known.number("seconds"),
        bytes_to_party=known.whole("bytes_to_party"),
    )


def _is_error(pair: tuple[Any, Any]) -> bool:
    name, value = pair
    return is_text(name) and is_number(value) and value >= 0


def _left_out(each: Fields) -> dict[str, Any]:
    return {
        "method": each.text("method"),
        "privacy": _guarantee(each),
        "reason": each.text("reason"),
        "trust": _trust(each),
    }


def _trust(each: Fields) -> str | None:
    """Name of the trust model, which only plans that compare several have in their rows."""
    return each.text("trust") if "trust" in each.data else None


def _guarantee(each: Fields) -> Privacy:
    guarantee = charge_of(each, "privacy")
    if isinstance(guarantee, GaussianDP):
        raise DataError(f"the privacy of {each.what} must be a guarantee, and `GaussianDP` is none")
    return guarantee


def charge_of(each: Fields, name: str) -> Charge:
    """A guarantee or a loss of plain data that need not be trusted."""
    data = each.data[name]
    exact = isinstance(data, dict) and data.get("type") in _TYPES
    for key, value in data.items() if exact else ():
        exact = exact and (key == "type" or (isinstance(value, str) and _EXACT.fullmatch(value) is not None))
    if not exact:
        raise DataError(f"the {name} of {each.what} must be a privacy guarantee with exact numbers such as '1/10'")
    return charge_from_dict(data)


# --- Plans and their rows


@dataclass(frozen=True)
class PlanRow:
    """One method of releasing the statistic.

    Fields:
        method: The method of the statistic.
        privacy: The privacy guarantee.
        price: Exact loss of the mechanism, at most `privacy`.
        noise: The noise, as text.
        errors: Predicted errors by name, for example "ks"; the table of a plan explains each.
        chosen: Whether the statistic uses this method; with method "auto" the best one.
        trust: Name of the trust model, if several are compared; else None.
        traffic: Communication of parties and servers; None for a single curator and for reports of owners.
        spans: Smallest and largest of those errors over the public shapes that depend on the records. `errors` has the
            largest, and of "energy" the geometric mean over the seven reference shapes, by which "auto" ranks.
    """

    method: str
    privacy: Privacy
    price: Loss
    noise: str
    errors: Mapping[str, float]
    chosen: bool = False
    trust: str | None = None
    traffic: Traffic | None = None
    spans: Mapping[str, Span] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "errors", MappingProxyType(dict(self.errors)))
        object.__setattr__(self, "spans", MappingProxyType(dict(self.spans)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and other processes make it anew: a mapping that cannot be changed cannot be pickled."""
        values = [getattr(self, each.name) for each in dataclasses.fields(self)]
        return type(self), tuple(dict(each) if isinstance(each, MappingProxyType) else each for each in values)

    @property
    def rmse(self) -> float | None:
        """Root mean squared error of the published curve over the thresholds, as a share of the records."""
        return self.errors.get("rmse")

    @property
    def ks(self) -> float | None:
        """Expected largest error of the published curve at any threshold, as a share of the records."""
        return self.errors.get("ks")

    @property
    def ks_95(self) -> float | None:
        """95th percentile of the largest error of the published curve."""
        return self.errors.get("ks_95")

    @property
    def band(self) -> float | None:
        """Half-width of the 95 % band for the population's curve."""
        return self.errors.get("band")

    @property
    def auc(self) -> float | None:
        """Root mean squared error of the area under an ROC curve."""
        return self.errors.get("auc")

    def to_dict(self) -> dict[str, Any]:
        """Plain data; exact numbers are strings."""
        return {
            "method": self.method,
            "privacy": self.privacy.to_dict(),
            "price": self.price.to_dict(),
            "noise": self.noise,
            "errors": dict(self.errors),
            "chosen": self.chosen,
            **({} if self.trust is None else {"trust": self.trust}),
            **({} if self.traffic is None else {"traffic": dataclasses.asdict(self.traffic)}),
            **({"spans": {name: list(span) for name, span in self.spans.items()}} if self.spans else {}),
        }


@dataclass(frozen=True, repr=False)
class Plan(BasePlan[PlanRow]):
    """Predicted price and error of a statistic, for every suitable method.

    Fields:
        statistic: The statistic's name and parameters, as plain data.
        records: Number of records assumed.
        unit: Privacy unit of the guarantee.
        trust: Name of the trust model, or names of the compared models.
        rows: One row for each guarantee and method, in the order of the guarantees.
        left_out: Unsuitable methods, with reasons.
        basis: Basis of the errors, as text.
        runs: Number of releases simulated for each row; 0 if none.
    """

    schema: ClassVar[str] = "ogive.plan/1"
    kind: ClassVar[str] = "a plan"

    statistic: Mapping[str, Any]
    records: int
    unit: PrivacyUnit
    trust: str
    rows: tuple[PlanRow, ...]
    left_out: tuple[LeftOut, ...] = ()
    basis: str = ""
    runs: int = field(default=0)

    @property
    def chosen(self) -> PlanRow:
        """The row of the method that the statistic uses, for the first guarantee.

        Raises:
            ParameterError: the method of the statistic is unsuitable for all guarantees.
        """
        for row in self.rows:
            if row.chosen:
                return row
        raise ParameterError(
            "the method of this statistic fits none of the guarantees; see left_out, or `method='auto'`"
        )

    @property
    def guessed(self) -> bool:
        """Whether the number of records would be private, so that `records` is a guess."""
        return self.unit.adjacency is Adjacency.ADD_OR_REMOVE

    @property
    def _page(self) -> ModuleType:
        return room(type(self), "text")

    def plot(self, ax: Any = None, *, error: str | None = None) -> Any:
        """Draw an error against the privacy loss, one line for each method; returns matplotlib axes.

        Args:
            ax: Axes to draw into; new ones by default.
            error: Name of the error, or the heading of its column; by default the one that decides between methods,
                for example "ks" for a curve.

        Raises:
            ParameterError: matplotlib is not installed, or no row has such an error.
        """
        return room(type(self), "text").draw(self, ax, error=error)

    def to_dict(self) -> dict[str, Any]:
        """Plain data of the published schema `ogive.plan/1`."""
        plain = super().to_dict()
        first = {name: plain.pop(name) for name in ("schema", "statistic", "records")}
        return {**first, "records_guessed": self.guessed, **plain}

    @classmethod
    def _arguments(cls, known: Fields) -> dict[str, Any]:
        arguments = checked_arguments(known)
        rows, left_out = arguments["rows"], arguments["left_out"]
        return arguments | {
            "rows": tuple(PlanRow(**row) for row in rows),
            "left_out": tuple(LeftOut(**each) for each in left_out),
        }


# --- Names of errors

Metrics = Mapping[str, Metric]


def metrics_of(statistic: str) -> Metrics:
    """What the errors of a statistic with that name are, in the order of a table's columns."""
    return {**prediction_of(statistic).metrics, "undefined": UNDEFINED}


def title(metrics: Metrics, name: str) -> str:
    """Heading of an error, also of one that no text is kept for."""
    return metrics[name].title if name in metrics else name.replace("_", " ")


def named(metrics: Metrics, name: str) -> str:
    """The name of an error that was called by it, or as its column is headed."""
    return name if name in metrics else next((each for each in metrics if metrics[each].title == name), name)


def among_errors(metrics: Metrics, errors: Iterable[str], name: str) -> str:
    """The one of some errors that has that name, or that alone has this word in the heading of its column."""
    words = {each: title(metrics, each).lower().replace(":", " ").split() for each in errors}
    close = [each for each in words if name.lower() in words[each]]
    return close[0] if name not in words and len(close) == 1 else name


def listed(metrics: Metrics, names: Iterable[str]) -> str:
    """Names for a message, each with the heading of its column where that is another."""
    titles = {name: title(metrics, name) for name in names}
    return ", ".join(name if name == heading else f"{name} ({heading})" for name, heading in titles.items())


def in_order(metrics: Metrics, names: Collection[str]) -> list[str]:
    """Names as a table shows them: in the order of their metrics, and those that have none as they come."""
    return [*(name for name in metrics if name in names), *(name for name in names if name not in metrics)]
