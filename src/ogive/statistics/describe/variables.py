"""The variables of a description: the questions of each, at which share of its guarantee, and what it still needs."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from ogive.columns import LISTING_POLICIES, MISSING_POLICIES, Binning, LabelValue, Membership, Missing, OpenCategories
from ogive.columns.grids import Bound, Grid
from ogive.core.checks import among
from ogive.errors import DataError, OgiveError, ParameterError, UnsupportedError, plain, quoted
from ogive.privacy import Adjacency, ApproxDP, PureDP
from ogive.queries import Answer, Query
from ogive.statistics.base import Terms
from ogive.statistics.bounds.estimate import BoundsEstimate
from ogive.statistics.bounds.statistic import Bounds
from ogive.statistics.discovery import discovery
from ogive.statistics.histogram.statistic import Histogram
from ogive.statistics.methods.base import CurveTask
from ogive.statistics.methods.choose import unbiased
from ogive.statistics.methods.together import Weighted
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.quantiles.statistic import Quantiles
from ogive.statistics.sums.estimate import ProportionEstimate
from ogive.statistics.sums.lattice import Lattice, usual_step
from ogive.statistics.sums.statistic import Mean, Proportion, ask_two_places

QUARTILES = (0.25, 0.5, 0.75)

Search = Literal["outermost", "outward"]
"""How bounds are found: by magnitudes that pass one threshold, or outwards from those to magnitudes beside them."""

SHARE_OF_BOUNDS: dict[Search, Fraction] = {"outermost": Fraction(1, 10), "outward": Fraction(1, 5)}
"""Of a variable's part of the guarantee, where its bounds are found privately."""

FALSE_ALARM = 1e-4
"""Largest probability that a magnitude without records passes the threshold."""

BESIDE = 0.01
"""Largest probability that noise extends the bounds to the magnitude next to them."""

FOUND_STEPS = 1 << 12
"""Steps of the lattice between bounds that were found, so that the price is the same whatever they are."""

FOUND_BINS = 1 << 9
_MOST_BINS = 4000
_NO_BOUNDS: tuple[float, float] = (0.0, 1.0)  # stands for bounds that are not found yet, or were not found

MISSING_OF_SHARES = ("refuse", "no", "drop")

KNOWN = "known"
"""The part of a variable that tells how many records have a value."""

SHARE_OF_KNOWN = Fraction(1, 5)
"""Of a variable's part of the guarantee, where its missing values are counted."""

COUNTED_ANYWAY = ("refuse", "count")
"""Policies under which nothing is left to count: there are no missing values, or they are a category."""


@dataclass(frozen=True)
class Number:
    """A variable of numbers: n, mean and standard deviation, median and quartiles.

    Fields:
        column: Its column.
        bounds: Smallest and largest possible value, public; None where they are found privately.
        missing: What a missing value means.
        confidence_level: Of intervals.
        count_missing: Whether missing values are counted.
    """

    kind: ClassVar[str] = "number"

    column: str
    bounds: tuple[Bound, Bound] | None
    missing: Missing
    confidence_level: float
    count_missing: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of its questions."""
        return _parts(self, "mean", "quantiles")

    def __post_init__(self) -> None:
        if self.bounds is None and self.missing in ("low", "high"):
            raise ParameterError(
                f"missing values of {quoted(self.column)} cannot count as a bound that is not declared; name its bounds"
            )
        self.questions(self.between(None))
        if self.bounds is None:
            self.finding("outward")

    def finding(self, search: Search) -> Bounds:
        """How its bounds are found: magnitudes below 1 are one, so that few ones among zeros still have their place."""
        beside = BESIDE if search == "outward" else None
        return Bounds(self.column, smallest=1.0, false_alarm=FALSE_ALARM, missing=self.missing, beside=beside)

    def between(self, estimate: BoundsEstimate | None) -> tuple[Bound, Bound]:
        """Its bounds: those that were declared, or found.

        Outermost magnitudes that were found are moved out by one, since noise hides few records. A placeholder stands
        where noise hides all of them.
        """
        if self.bounds is not None:
            return self.bounds
        if estimate is None or not estimate.defined:
            return _NO_BOUNDS
        return _widened(estimate) if estimate.beside is None else estimate.bounds

    def questions(self, bounds: tuple[Bound, Bound]) -> dict[str, Weighted[Any]]:
        """Its questions between these bounds, by the names of its parts."""
        return self._declared if bounds is self.bounds else self._questions(bounds)

    @functools.cached_property
    def _declared(self) -> dict[str, Weighted[Any]]:
        """The questions between bounds that were declared, which are checked once."""
        assert self.bounds is not None, "bounds are found"
        return self._questions(self.bounds)

    def _questions(self, bounds: tuple[Bound, Bound]) -> dict[str, Weighted[Any]]:
        width = Lattice.of(bounds, None)
        step = None if self.bounds is not None else (width.high - width.low) / FOUND_STEPS
        missing = self._missing(bounds)
        mean = Mean(self.column, bounds, step=step, missing=missing, confidence_level=self.confidence_level)
        span = width.high - width.low
        bins = FOUND_BINS if self.bounds is None else int(-(-span // usual_step(span, _MOST_BINS)))
        # one bin more, so that the lower bound itself is a threshold: many records may have it
        grid = Grid.linear(float(width.low - span / bins), float(width.high), bins=bins + 1)
        quartiles = Quartiles(self.column, grid, float(width.low), missing, self.confidence_level)
        return _with_known(
            self,
            {
                "mean": Weighted(Fraction(1, 3), mean.questions, once=True),
                "quantiles": Weighted(Fraction(2, 3), quartiles.questions, once=True),
            },
        )

    def _missing(self, bounds: tuple[Bound, Bound]) -> Missing:
        """The policy between bounds that were found: a public value beyond them counts as the nearer one."""
        if self.bounds is not None or self.missing in MISSING_POLICIES:
            return self.missing
        low, high = (float(each) for each in bounds)  # type: ignore[arg-type]
        return min(max(float(self.missing), low), high)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Quartiles:
    """Median and quartiles, read off the unbiased curve with the least noise, so that those of groups add up."""

    column: str
    grid: Grid
    lowest: float
    missing: Missing
    confidence_level: float

    def questions(self, terms: Terms) -> Generator[Query, Answer, QuantileEstimates]:
        """One curve, at the whole of `terms.privacy`. The grid begins below the lower bound, and no interval does."""
        strategy = unbiased("auto", CurveTask(Binning(self.column, self.grid, self.missing), terms))
        quartiles = Quantiles(
            self.column,
            QUARTILES,
            grid=self.grid,
            method=strategy,
            missing=self.missing,
            confidence_level=self.confidence_level,
        )
        result = yield from quartiles.questions(terms)
        return dataclasses.replace(result, low=tuple(max(low, self.lowest) for low in result.low))


@dataclass(frozen=True)
class Share:
    """A variable of two kinds of value, of which one is named: n and share of the records that have it.

    Fields:
        column: Its column.
        positive: The value that is counted, public; every other one is not.
        missing: What a missing value means: "refuse", "no" or "drop".
        confidence_level: Of intervals.
        count_missing: Whether missing values are counted.
    """

    kind: ClassVar[str] = "share"

    column: str
    positive: LabelValue
    missing: Missing
    confidence_level: float
    count_missing: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of its questions."""
        return _parts(self, "proportion")

    def __post_init__(self) -> None:
        if self.missing not in MISSING_OF_SHARES:
            raise ParameterError(
                f"what missing values of {quoted(self.column)} mean must be {', '.join(MISSING_OF_SHARES)}, got "
                f"{quoted(self.missing)}"
            )
        self.questions()

    def questions(self) -> dict[str, Weighted[Any]]:
        """Its questions, by the names of its parts."""
        share = Proportion(
            self.column,
            positive=self.positive,
            missing=self.missing,  # type: ignore[arg-type]
            confidence_level=self.confidence_level,
        )
        return _with_known(self, {"proportion": Weighted(Fraction(1), share.questions, once=True)})


@dataclass(frozen=True)
class Categories:
    """A variable of declared categories: number and share of the records of each.

    Fields:
        column: Its column.
        values: The categories, public; any other value is an error.
        missing: What a missing value means: "refuse", "count" (a category of its own) or "drop".
        confidence_level: Of intervals.
        count_missing: Whether missing values that are dropped are counted.
    """

    kind: ClassVar[str] = "categories"

    column: str
    values: tuple[LabelValue, ...]
    missing: Missing
    confidence_level: float
    count_missing: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of its questions."""
        return _parts(self, "histogram")

    def __post_init__(self) -> None:
        among(self.missing, f"missing values of {self.column}", LISTING_POLICIES)
        self.questions()

    def questions(self) -> dict[str, Weighted[Any]]:
        """Its questions, by the names of its parts."""
        histogram = Histogram(
            self.column,
            values=self.values,
            missing=self.missing,  # type: ignore[arg-type]
            confidence_level=self.confidence_level,
        )
        return _with_known(self, {"histogram": Weighted(Fraction(1), histogram.questions, once=True)})


@dataclass(frozen=True)
class Known:
    """How many of all records have a value of a variable."""

    column: str
    confidence_level: float

    def questions(self, terms: Terms) -> Generator[Query, Answer, ProportionEstimate]:
        """One count, at the whole of `terms.privacy`."""
        column = Membership(self.column, None, "no")
        measured = yield from ask_two_places(column, terms)
        return ProportionEstimate(
            self.column, measured, missing="no", confidence_level=self.confidence_level, values=None
        )


def _widened(estimate: BoundsEstimate) -> tuple[float, float]:
    """Bounds that were found, one magnitude wider on either side; those from 0 to 1 stay, as of zeros and ones."""
    low, high = estimate.bounds
    if (low, high) == (0.0, 1.0):
        return low, high
    return -_outwards(-low), _outwards(high)


def _outwards(end: float) -> float:
    """An upper bound, one magnitude up; below 0 one magnitude nearer to it."""
    if end >= 0:
        return 2 * end
    return end / 2 if end < -1 else 0.0


Variable = Number | Share | Categories


def _parts(variable: Variable, *own: str) -> tuple[str, ...]:
    return (*own, KNOWN) if variable.count_missing else own


def _with_known(variable: Variable, questions: dict[str, Weighted[Any]]) -> dict[str, Weighted[Any]]:
    """The questions of a variable, with how many records have a value where missing ones are counted."""
    if not variable.count_missing:
        return questions
    if variable.missing in COUNTED_ANYWAY:
        raise ParameterError(
            f"missing values of {quoted(variable.column)} cannot be counted: `missing` is {quoted(variable.missing)}"
        )
    known = Known(variable.column, variable.confidence_level)
    own = {part: weighted(each, 1 - SHARE_OF_KNOWN) for part, each in questions.items()}
    return {**own, KNOWN: Weighted(SHARE_OF_KNOWN, known.questions, once=True)}


def weighted(question: Weighted[Any], weight: Fraction) -> Weighted[Any]:
    """The same at a weight times as large."""
    return dataclasses.replace(question, weight=question.weight * weight)


# --- All that a description still needs, in one message

DROP, EVERY_DROP, MAY_DROP = "`missing='drop'`", "`missing={'*': 'drop'}`", "`adjacency ADD_OR_REMOVE`"
_GROUPS, _DELTA = "`groups=('a', 'b')`", "`target_delta='1e-6'`"
_WITH_DELTA = ApproxDP(1, "1e-6")
_MOST_SHOWN = 6
_UNREAD = ", for each column that has missing values; which ones have is not read from the records here"

_STANDING = {
    "number": "a public value that stands for them",
    "share": "'no', which counts them with the other values",
    "categories": "'count', which makes them a category of their own",
}
"""What missing values of each kind of variable may count as under either adjacency."""


def unmet(query: Any, terms: Terms, with_missing: Callable[[Sequence[str]], Sequence[str]]) -> OgiveError | None:
    """What a description needs before it can be released; None where it needs no policy for missing values."""
    replace = terms.private and terms.unit.adjacency is Adjacency.REPLACE
    refusing = tuple(with_missing([each.column for each in query.variables if each.missing == "refuse"]))
    dropping = tuple(each.column for each in query.variables if each.missing == "drop") if replace else ()
    if not refusing and not dropping:
        return None
    needs, remedy = [], []
    if query.by is not None and query.groups is None and terms.private and not isinstance(terms.privacy, ApproxDP):
        needs.append(
            f"the values of {quoted(query.by)}, which are public, for example {_GROUPS}, or a delta to find them"
        )
        remedy.append(_DELTA if isinstance(terms.privacy, PureDP) and _finds(query.by, terms) else _GROUPS)
    if refusing:
        needs.append(
            f"what missing values of {_columns(refusing)} mean: {_standing(query, refusing)}, or {DROP} under "
            f"{MAY_DROP} alone; the first release of an account fixes its adjacency"
        )
        remedy.append(EVERY_DROP if isinstance(query.missing, Mapping) else DROP)
    if dropping:
        some = "all columns" if len(dropping) == len(query.variables) else _columns(dropping)
        needs.append(
            f"{MAY_DROP}, since to drop missing values of {some} would publish how many values are missing where "
            f"replacing a record may change it; or {_standing(query, dropping)}{_UNREAD * (len(dropping) > 1)}"
        )
    if replace:
        remedy.append(MAY_DROP)
    text = " and ".join(needs) if len(needs) == 1 else "; ".join(f"({n}) {each}" for n, each in enumerate(needs, 1))
    kind = DataError if refusing else ParameterError
    return kind(f"describe needs {text}", parameter="missing", remedy=tuple(remedy))


def _finds(by: str, terms: Terms) -> bool:
    """Whether a guarantee with a delta would do instead of the values of groups."""
    try:
        discovery(OpenCategories(by, "count"), dataclasses.replace(terms, privacy=_WITH_DELTA), parameter="groups")
    except UnsupportedError:
        return False
    return True


def _standing(query: Any, names: Sequence[str]) -> str:
    """What missing values of some variables may count as, with an example for all, or of every kind where many are."""
    some = [each for each in query.variables if each.column in names]
    first = {each.kind: each for each in reversed(some)}
    words = " or ".join(_STANDING[kind] for kind in _STANDING if kind in first)
    policies = {each.column: _example(each) for each in (some if len(some) <= _MOST_SHOWN else first.values())}
    return f"{words}, for example `missing={plain(policies)}`, under either adjacency"


def _example(variable: Any) -> Any:
    """A policy that a variable accepts whatever the adjacency is."""
    if variable.kind == "number":
        return 0 if variable.bounds is None else variable.bounds[0]
    return "no" if variable.kind == "share" else "count"


def _columns(names: Sequence[str]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {', '.join(map(quoted, names))}"
