"""Options of pairwise statistics, and how they become the library's arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from ogive.cli.converters import whole
from ogive.cli.options.boxplot import group_of
from ogive.cli.options.classes import meanings
from ogive.cli.options.common import GRIDS, Words
from ogive.errors import ParameterError, quoted


@Parameter(name="*", group=Group("What is measured", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class PairOptions:
    """Columns, kernel, and what values may be."""

    columns: Words = ()
    """Names of the kernel's columns, in its order; for an AUC the score and the label."""

    kernel: str = "gini"
    """gini, gini_coefficient, variance, collision (entropy), collision_probability, kendall (tau-a), kendall_b,
    gamma, auc, auc_private (as auc with --private-labels) or vus."""

    bounds: Words = ()
    """Smallest and largest possible value, public: two numbers or dates for all columns, or two for each."""

    bins: Words = ("auto",)
    """How many bins values are rounded to where that is needed: auto, a number, or one for each column."""

    grid: Words = ("linear",)
    """linear, geometric or integers, for all columns or one for each."""

    categories: Words = ()
    """All values of columns that are no numbers, public: a list for all columns, or COLUMN=A,B,C for some."""

    positive: Words = ()
    """Value or values of the positive class of an AUC; 1 by default."""

    negative: Words = ()
    """Value or values of the negative class; by default the only other value there is."""

    public_labels: Annotated[bool | None, Parameter(negative="--private-labels", show_default=False)] = None
    """Everybody may know the label of an AUC; by default it is hidden too, unless --public declares it."""

    missing: Literal["refuse", "low", "high"] = "refuse"
    """What a missing number means: an error, the lower bound or the upper bound."""

    outside: Literal["refuse", "clip"] = "refuse"
    """What a number outside the bounds means: an error, or the nearer bound."""

    matrix: Literal["average", "midpoint"] = "average"
    """How a kernel is read off two bins."""

    rounding: Literal["simple", "randomized"] = "simple"
    """How values are rounded to bins; randomized with local reports alone."""

    def arguments(self) -> dict[str, Any]:
        """All arguments of the statistic.

        Raises:
            ParameterError: an option is not of the form that its help shows.
        """
        for grid in self.grid:
            if grid not in GRIDS:
                raise ParameterError(f"--grid must be {', '.join(GRIDS)}, got {quoted(grid)}")
        classes: dict[str, Any] = {}
        if self.positive or self.negative:
            classes["positive"] = meanings(self.positive) if self.positive else (1,)
            classes["negative"] = meanings(self.negative) if self.negative else None
        return {
            "columns": self.columns,
            "kernel": self.kernel,
            "bounds": self._bounds(),
            "bins": _one(tuple(map(_bins, self.bins))),
            "grid": _one(self.grid),
            "categories": self._categories(),
            "public_labels": self.public_labels,
            "missing": self.missing,
            "outside": self.outside,
            "matrix": self.matrix,
            "rounding": self.rounding,
            **classes,
        }

    def _bounds(self) -> Any:
        if not self.bounds:
            return None
        if len(self.bounds) % 2:
            raise ParameterError(f"--bounds must be two values, or two for each column, got {len(self.bounds)}")
        pairs = tuple(zip(self.bounds[::2], self.bounds[1::2], strict=True))
        if len(pairs) == 1:
            return pairs[0]
        if len(pairs) > len(self.columns):
            raise ParameterError(f"--bounds must be two values, or two for each column, got {len(self.bounds)}")
        return dict(zip(self.columns, pairs, strict=False))

    def _categories(self) -> Any:
        named = [word for word in self.categories if word.partition("=")[0] in self.columns and "=" in word]
        if not named:
            return tuple(map(group_of, self.categories)) or None
        if len(named) < len(self.categories):
            raise ParameterError("--categories must be one list for all columns, or COLUMN=A,B,C for each with some")
        return {word.partition("=")[0]: tuple(map(group_of, word.partition("=")[2].split(","))) for word in named}


@Parameter(name="*", group=Group("What is measured", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class UstatOptions(PairOptions):
    """Columns, kernel, what values may be, and how it is measured."""

    method: str = "auto"
    """auto (smallest predicted error), kernel or cells; from local reports krr, unary, haar or hierarchy;
    from pairs of people paired."""

    expected_records: Annotated[int | None, Parameter(converter=whole)] = None
    """A public guess of the number of records, where that number is private."""

    def arguments(self) -> dict[str, Any]:
        """All arguments of the statistic.

        Raises:
            ParameterError: an option is not of the form that its help shows.
        """
        return {**super().arguments(), "method": self.method, "expected_records": self.expected_records}


GINI = UstatOptions()


def _bins(word: str) -> int | str:
    if word == "auto":
        return word
    try:
        return int(word)
    except ValueError:
        raise ParameterError(f"--bins must be auto or whole numbers, got {quoted(word)}") from None


def _one(values: Sequence[Any]) -> Any:
    """A single value for all columns, or a value for each."""
    return values[0] if len(values) == 1 else tuple(values)
