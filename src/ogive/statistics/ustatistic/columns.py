"""The columns of a pairwise statistic as its user describes them, and the public domain that they make.

Where the number of bins is left to the method, a domain is made for any number of bins.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ogive.columns import Binning, Categories, Column, Domain, Label, LabelValue, Missing
from ogive.columns.grids import Grid
from ogive.errors import ParameterError, quoted
from ogive.kernels.base import Kernel, Measure
from ogive.statistics.base import as_values
from ogive.statistics.ecdf.statistic import make_grid

AUTO = "auto"

Columns: TypeAlias = Any
"""Name of a column or the column itself, several of them, or a `Domain`."""

BoundsOfEach: TypeAlias = Any
"""A smallest and a largest value for all columns; such pairs for each column, in order or by name; or None."""

BinsOfEach: TypeAlias = Any
"""A number of bins or "auto" for all columns, or for each."""

GridOfEach: TypeAlias = Any
"""A kind of grid or a `Grid` for all columns, or for each."""

CategoriesOfEach: TypeAlias = Any
"""The values of a column, lists of them by column name, or None."""

_RANKED = "whose ranks are compared", "x", "y"
_SCORED = "a score and a label", "score", "label"
_TWO_COLUMNS = {
    "kendall": _RANKED,
    "kendall_b": _RANKED,
    "gamma": _RANKED,
    "auc": _SCORED,
    "auc_private": _SCORED,
    "vus": ("a score and a class", "score", "class"),
}
_FEWEST = 3
"""Ordered classes where their number does not matter yet."""


@dataclass(frozen=True)
class Described:
    """One column: its domain for any number of bins, or one whose bins are fixed.

    Fields:
        column: As it is with two bins, where the number is free. On a grid of integers it refuses fractions: each
            bin stands for a single number, as kernels take it.
        free: Whether the number of bins is left to the method.
    """

    column: Column
    free: bool = False

    def __post_init__(self) -> None:
        column = self.column
        if isinstance(column, Binning) and column.grid.kind == "integers" and column.fractions != "refuse":
            object.__setattr__(self, "column", dataclasses.replace(column, fractions="refuse"))

    def with_bins(self, bins: int) -> Column:
        """The column with so many bins, where their number is free."""
        if not self.free:
            return self.column
        assert isinstance(self.column, Binning)
        return dataclasses.replace(self.column, grid=dataclasses.replace(self.column.grid, bins=bins))

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        [column] = Domain((self.column,)).to_dict()["columns"]
        return {**column, "free": self.free}

    @staticmethod
    def from_dict(data: Any) -> Described:
        """Rebuild from `to_dict`."""
        if not isinstance(data, dict) or not isinstance(data.get("free"), bool):
            raise ParameterError("a described column must be an object that says whether its bins are free")
        column = Domain.from_dict({"columns": [data]}).columns[0]
        if data["free"] and not (isinstance(column, Binning) and column.grid.kind in ("linear", "geometric")):
            raise ParameterError("only linear and geometric grids leave their bins to the method")
        return Described(column, data["free"])


def described_columns(
    names: Sequence[str], *, bounds: Any, bins: Any, grid: Any, categories: Any, missing: Missing, outside: str
) -> tuple[Described, ...]:
    """The numeric and categorical columns that a user described."""
    for what, given in (("bounds", bounds), ("bins", bins), ("grid", grid), ("categories", categories)):
        if isinstance(given, Mapping):
            unknown = [str(name) for name in given if name not in names]
            if unknown:
                raise ParameterError(
                    f"{what} are given for column {quoted(unknown[0])}, which is none of {', '.join(map(repr, names))}"
                )
    listed = {name: _of_list(categories, name) for name in names}
    # bounds of all columns are of those of numbers, if there are any
    of_numbers = _for_all(bounds) and None in listed.values()
    return tuple(
        _described(
            name,
            None if of_numbers and listed[name] is not None else _of_pair(bounds, name, number, len(names)),
            _of(bins, name, number, len(names), "bins"),
            _of(grid, name, number, len(names), "grid"),
            listed[name],
            missing,
            outside,
        )
        for number, name in enumerate(names)
    )


def _described(name: str, bounds: Any, bins: Any, grid: Any, listed: Any, missing: Missing, outside: str) -> Described:
    if listed is not None:
        if bounds is not None and not isinstance(bounds, str):
            raise ParameterError(f"column {quoted(name)} has categories, so leave out its bounds")
        return Described(Categories(name, listed))
    kind: Any = "linear" if grid is None else grid
    if bounds is None and not isinstance(kind, Grid):
        raise ParameterError(
            f"say which values of column {quoted(name)} are possible, for example `bounds=(0, 120)` or "
            "`categories=('a', 'b')`; both are public, never read from records"
        )
    left_open = bins is None or bins == AUTO
    free = left_open and kind in ("linear", "geometric")
    if left_open and not free:
        bins = 1  # these grids have bins of their own
    return Described(Binning(name, make_grid(bounds, 2 if free else bins, kind), missing, outside), free)


def _of(given: Any, name: str, number: int, columns: int, what: str) -> Any:
    """The part of an option for one column: by name in a mapping, by place in a tuple, else the value itself."""
    if isinstance(given, Mapping):
        return given.get(name)
    if isinstance(given, tuple | list):
        if len(given) != columns:
            raise ParameterError(f"`{what}` must be one for all columns or {columns}, one for each, got {len(given)}")
        return given[number]
    return given


def _of_pair(given: Any, name: str, number: int, columns: int) -> Any:
    if _for_all(given):
        return tuple(given)
    if given is not None and not isinstance(given, tuple | list | Mapping):
        raise ParameterError(f"`bounds` must be a pair, a pair for each column or None, got {quoted(given)}")
    result = _of(given, name, number, columns, "bounds")
    return None if result is None else tuple(result) if _is_pair(result) else result


def _for_all(bounds: Any) -> bool:
    """Whether an option is one pair of numbers, which then holds for all columns."""
    return isinstance(bounds, tuple | list) and len(bounds) == 2 and not any(_is_pair(each) for each in bounds)


def _is_pair(value: Any) -> bool:
    return value is None or isinstance(value, tuple | list)


def _of_list(given: Any, name: str) -> tuple[LabelValue, ...] | None:
    result = given.get(name) if isinstance(given, Mapping) else given
    if result is None:
        return None
    if isinstance(result, str) or not isinstance(result, tuple | list | np.ndarray | range):
        raise ParameterError(
            f"`categories` must be a list of values, or one for each column by name, got {quoted(result)}"
        )
    return tuple(each.item() if isinstance(each, np.generic) else each for each in result)


def check_number(measure: Measure, names: Sequence[str]) -> None:
    """Refuse no columns, and fewer or more than a measure that is known by name looks at, before any is described."""
    wanted = _TWO_COLUMNS.get(measure.name)
    if wanted is not None and len(names) != 2:
        name = measure.name.removesuffix("_private")
        what, one, other = wanted
        shown = ", ".join(map(repr, names[:6])) + (", ..." if len(names) > 6 else "")
        listed = f"{len(names)}: {shown}" if names else "none"
        raise ParameterError(
            f"{name} needs two columns, {what}, for example `columns=('{one}', '{other}')`, got {listed}"
        )
    if not names:
        raise ParameterError("name at least one column")


def classes_of(given: Sequence[Any], categories: Any) -> int:
    """How many ordered classes the last column has."""
    if not given:
        return _FEWEST
    last = given[-1]
    if isinstance(last, str):
        listed = _of_list(categories, last)
        if listed is None and len(given) == 2:
            raise ParameterError(
                f"list the classes of column {quoted(last)} in order, for example "
                f"`categories={{{quoted(last)}: (0, 1, 2)}}`; they are public"
            )
        return _FEWEST if listed is None else len(listed)
    column = last.column if isinstance(last, Described) else last
    return column.size if isinstance(column, Label | Categories) else _FEWEST


def described_label(name: str, positive: Any, negative: Any) -> Label:
    """The column of two classes."""
    ones, others = as_values(positive), as_values(negative)
    assert ones is not None
    if others is None and ones == (1,):
        others = (0,)
    return Label(name, ones, others)


def check_no_label(name: str | None, measure: Measure, positive: Any, negative: Any, *, public: bool) -> None:
    """Refuse options of two classes where there are none, or a column says which they are."""
    reason = (
        f"{measure.name} has no label" if name is None else f"column {quoted(name)} says itself which classes it has"
    )
    if as_values(positive) != (1,):
        raise ParameterError(f"{reason}, so leave out `positive=`")
    if negative is not None:
        raise ParameterError(f"{reason}, so leave out `negative=`")
    if name is None and not public:
        raise ParameterError(f"{reason}, so leave out `public_labels=False`")


def domain_of(columns: Sequence[Described], bins: int) -> Domain:
    """The domain of some columns, with so many bins wherever their number is free."""
    return Domain(tuple(each.with_bins(bins) for each in columns))


# --- The range of a measure

_NARROWEST, _WIDEST = 1e-100, 1e100  # squares, and products of squares with numbers of pairs, are floating point

_KNOWN = {
    "gini_coefficient": (0.0, 1.0),
    "kendall": (-1.0, 1.0),
    "kendall_b": (-1.0, 1.0),
    "gamma": (-1.0, 1.0),
    "auc": (0.0, 1.0),
    "auc_private": (0.0, 1.0),
    "vus": (0.0, 1.0),
}


def value_range(measure: Measure, domain: Domain) -> tuple[float, float]:
    """Smallest and largest value of a measure on a domain.

    A measure of one kernel whose value is its mean has the kernel's range; ratios have limits of their own.
    """
    if measure.name in _KNOWN:
        return _KNOWN[measure.name]
    if measure.name == "collision":
        return 0.0, math.log(domain.size)
    if len(measure.kernels) == 1:
        low, high = measure.kernels[0].range(domain)
        return float(low), float(high)
    return -math.inf, math.inf


def check_reach(kernel: Kernel, domain: Domain) -> None:
    """Refuse a kernel whose values are so large, or so close together, that errors cannot be computed."""
    try:
        with np.errstate(over="ignore"):
            low, high = (float(end) for end in kernel.range(domain))
    except OverflowError:
        low, high = 0.0, math.inf
    if not (high - low >= _NARROWEST and max(abs(low), abs(high)) <= _WIDEST):
        raise ParameterError(
            f"the kernel reaches from {low:g} to {high:g} here, which cannot be squared in floating point; "
            "take units in which the bounds are nearer to 0 and 1"
        )
