"""Variables described: an estimate for each part of each variable, of every group, released together."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

from ogive.columns import LabelValue
from ogive.errors import ParameterError, quoted
from ogive.provenance import Provenance
from ogive.statistics.base import OF_QUARTILES, OF_RECORDS, Estimate
from ogive.statistics.bounds.estimate import BoundsEstimate
from ogive.statistics.describe.variables import KNOWN, Number, Variable
from ogive.statistics.groups.estimate import of_group
from ogive.strategies.base import LOUD


@dataclass(frozen=True, repr=False)
class DescribeEstimate(Estimate):
    """The first table of a report: a row for each variable, a column for each group and one for all of them.

    Fields:
        variables: The variables, in the order of the table.
        by: Column that says which group a record belongs to; None where all records are one column.
        groups: Its values, in the order asked; none where all records are one column.
        found: What was released: the bounds that were found, by variable, then every part of every variable, of one
            group after the other.
        public_groups: Whether everybody may know each record's group; numbers of records of the groups are then exact.
        guessed: Variables whose kind was guessed from the cells of a text file.
        left_out: Columns that are not described, and why.
        threshold: Of groups that were found the noisy number of records from which on they are, 1 of exact ones; None
            of named ones.
        provenance: What was released, at what price and under whose trust.

    Example:
        >>> import numpy as np, ogive
        >>> rng = np.random.default_rng(1)
        >>> people = {"age": rng.integers(18, 90, 10_000), "smoker": rng.random(10_000) < 0.3}
        >>> table = ogive.describe(people, bounds={"age": (0, 120)}, privacy=ogive.PureDP(1))
        >>> bool(abs(table["smoker"]["proportion"].value - 0.3) < 0.02)
        True
    """

    schema: ClassVar[str] = "ogive.describe/1"
    indent: ClassVar[int | None] = 1

    variables: tuple[Variable, ...]
    by: str | None
    groups: tuple[LabelValue, ...]
    found: tuple[Estimate, ...]
    public_groups: bool = False
    guessed: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    provenance: Provenance | None = None
    threshold: int | None = None

    @property
    def finding(self) -> tuple[Number, ...]:
        """The variables whose bounds were found."""
        return tuple(each for each in self.variables if isinstance(each, Number) and each.bounds is None)

    @property
    def columns(self) -> tuple[LabelValue | None, ...]:
        """The groups, or None alone for all records."""
        return self.groups or (None,)

    @cached_property
    def _places(self) -> dict[tuple[int, str, str], int]:
        """Where an estimate is, by the place of its group, its variable and its part."""
        start = len(self.finding)
        keys = [
            (group, each.column, part)
            for group in range(len(self.columns))
            for each in self.variables
            for part in each.parts
        ]
        return {key: start + number for number, key in enumerate(keys)}

    def _number(self, group: LabelValue | None) -> int:
        if group not in self.columns:
            listed = ", ".join(map(quoted, self.groups)) or "none"
            raise ParameterError(f"there is no group {quoted(group)}; the groups are: {listed}")
        return self.columns.index(group)

    def bounds_of(self, column: str) -> BoundsEstimate | None:
        """The bounds that were found for a variable of all records; None of one whose bounds were declared."""
        for variable, estimate in zip(self.finding, self.found, strict=False):
            if variable.column == column:
                assert isinstance(estimate, BoundsEstimate)
                return estimate
        return None

    def bounded(self, column: str) -> bool:
        """Whether a variable has bounds: they were declared, or found; without any nothing is known of it."""
        bounds = self.bounds_of(column)
        return bounds is None or bounds.defined

    def of(self, column: str, group: LabelValue | None = None) -> dict[str, Estimate]:
        """The estimates of a variable in one group, by the names of their parts.

        Args:
            column: The variable.
            group: One of the groups; None for all records.

        Raises:
            ParameterError: there is no such variable, or no such group.
        """
        variable = self._variable(column)
        if group is None and self.groups:
            return self._overall(variable)
        number = self._number(group)
        return {part: self.found[self._places[number, column, part]] for part in variable.parts}

    def __getitem__(self, column: str) -> dict[str, Estimate]:
        """The estimates of a variable for all records, by the names of their parts; see `of`.

        Raises:
            ParameterError: there is no such variable.
        """
        return self.of(column)

    def __iter__(self) -> Iterator[Variable]:
        """The variables."""
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    def _variable(self, column: str) -> Variable:
        for variable in self.variables:
            if variable.column == column:
                return variable
        listed = ", ".join(quoted(each.column) for each in self.variables)
        raise ParameterError(f"there is no variable {quoted(column)}; there are {listed}")

    @cached_property
    def _added_up(self) -> dict[str, dict[str, Estimate]]:
        """What was computed of all groups together, by variable."""
        return {}

    def _overall(self, variable: Variable) -> dict[str, Estimate]:
        from ogive.statistics.describe.overall import added_up

        if variable.column not in self._added_up:
            each = [self.of(variable.column, group) for group in self.groups]
            self._added_up[variable.column] = {
                part: added_up([found[part] for found in each], self.provenance) for part in variable.parts
            }
        return self._added_up[variable.column]

    def with_provenance(self, provenance: Provenance) -> Self:
        """The same estimates, each carrying the provenance, with its group's condition and number of records."""
        found = [each.with_provenance(provenance) for each in self.found]
        if self.by is not None:
            for (group, _, _), place in self._places.items():
                mine = of_group(provenance, self.by, self.groups[group], found[place])
                found[place] = found[place].with_provenance(mine)
        return dataclasses.replace(self, found=tuple(found), provenance=provenance)

    @property
    def noise_beside(self) -> str:
        """That of the part with the largest noise; of a curve, what is read from it."""
        _, beside = max(self._noise.values())
        return OF_QUARTILES if beside == OF_RECORDS else beside

    @property
    def noise_hides(self) -> str:
        """The variables that noise hides, where it does not hide all."""
        loud = [column for column, (share, _) in self._noise.items() if share >= LOUD]
        return f" of {', '.join(loud)}" if len(loud) < len(self._noise) else ""

    def noise_share(self) -> float:
        """The largest of all variables."""
        return max(self._noise.values())[0]

    @cached_property
    def _noise(self) -> dict[str, tuple[float, str]]:
        """By variable the largest noise of its parts, each of the group that it hides least, and what it is beside."""
        found = {}
        for each in self.variables:
            groups = [self.of(each.column, group) for group in self.columns]
            shares = {part: min(parts[part].noise_share() for parts in groups) for part in each.parts}
            loudest = max(shares, key=lambda part: shares[part])
            found[each.column] = shares[loudest], groups[0][loudest].noise_beside
        return found

    def errors(self, truth: Any) -> dict[str, float]:
        """The largest of the groups' errors of each variable: of its mean or share, and of its quantiles.

        Raises:
            ParameterError: the truth is of other variables or groups.
        """
        truth = self.exact(truth)
        errors: dict[str, float] = {}
        for (group, column, part), place in self._places.items():
            exact = truth.found[truth._places[group, column, part]]
            for name, error in self.found[place].errors(exact).items():
                key = f"{'missing' if part == KNOWN else name} of {column}"
                errors[key] = max(errors.get(key, 0.0), error)
        return errors

    def exact(self, truth: Any) -> DescribeEstimate:
        """The true values of these variables and groups; of groups that were found the truth may have more.

        Raises:
            ParameterError: the truth is of other variables or groups.
        """
        alike = isinstance(truth, DescribeEstimate) and (
            truth.by == self.by
            and (truth.groups == self.groups or (self.threshold is not None and set(self.groups) <= set(truth.groups)))
            and [(each.column, each.kind) for each in truth.variables]
            == [(each.column, each.kind) for each in self.variables]
        )
        if not alike:
            raise ParameterError("the truth must be of the same variables and groups, in the same order")
        if any(
            mine.count_missing > each.count_missing for mine, each in zip(self.variables, truth.variables, strict=True)
        ):
            raise ParameterError("the truth must count missing values too: `count_missing=True`")
        known: DescribeEstimate = truth
        parts = (list(known.of(each.column, group).values()) for group in self.columns for each in known.variables)
        each = [estimate for estimates in parts for estimate in estimates]
        return dataclasses.replace(known, groups=self.groups, found=(*known.found[: len(known.finding)], *each))
