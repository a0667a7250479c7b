"""Every variable of a table described in one release, of all records or of each of several groups."""

from __future__ import annotations

import dataclasses
import difflib
import functools
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar, cast

from ogive.columns import LabelValue, Missing, Schema
from ogive.columns.grids import Bound, identifies
from ogive.core.checks import added, among, python_only, truth
from ogive.errors import DataError, OgiveError, ParameterError, UnsupportedError, plain, quoted
from ogive.privacy import Adjacency, PrivacyUnit, Rational, exact
from ogive.queries import Answer, Query
from ogive.queries.aggregates import check_groups
from ogive.statistics.base import OF_QUARTILES, Estimate, Terms
from ogive.statistics.bounds.estimate import BoundsEstimate
from ogive.statistics.confidence import check_level
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.describe.variables import (
    COUNTED_ANYWAY,
    SHARE_OF_BOUNDS,
    Categories,
    Number,
    Search,
    Share,
    Variable,
    unmet,
    weighted,
)
from ogive.statistics.groups.statistic import ask_found, check_conditions, check_open, stated
from ogive.statistics.kinds import Command
from ogive.statistics.methods.base import owners_answer
from ogive.statistics.methods.together import (
    Divided,
    Groups,
    Procedure,
    Weighted,
    ask_parts,
    ask_together,
    check_served,
)
from ogive.statistics.sums.lattice import Lattice

_MOST_LISTED = 12
OTHERS = "*"
"""In `missing`, every variable that is not named."""

BoundsByColumn = Mapping[str, tuple[Bound, Bound]]
ValuesByColumn = Mapping[str, LabelValue | tuple[LabelValue, ...]]
WeightsByColumn = Mapping[str, Rational]
Policies = Missing | Mapping[str, Missing]


@dataclass(frozen=True)
class Describe:
    """The first table of a report: each variable summed up, for all records or for each of several groups.

    A variable of numbers has its number of records, mean, standard deviation, median and quartiles; one of which
    values are declared has the number and the share of the records of each. All of it is one release, within one
    guarantee, of which every variable has an equal part unless `weights` says otherwise.

    Fields:
        columns: The variables, in the order of the table; by default all columns but those of persons and of groups.
        guessed: Variables whose kind was guessed from the cells of a text file; filled in by the release.
        left_out: Columns that are not described, and why; filled in by the release.
        bounds: Smallest and largest possible value of variables of numbers, public, by column. Bounds of the others are
            found privately, at a fifth of the variable's part of the guarantee.
        values: The values that are counted, public, by column. Of one value, {"died": "yes"}, every other one is the
            rest; of several, {"sex": ("F", "M")}, any other one is an error.
        numbers: Variables that are numbers, though they have no bounds here; what is declared is not read from the
            table.
        by: Column of groups, each of which has a column in the table; without one all records are one column.
        groups: The values of that column, public: all of them, also those that no record has. None: those that enough
            records have are found first, which needs an `ApproxDP` guarantee and a trusted curator; other records are
            left out.
        missing: What a missing value means: "refuse" (an error) or "drop" (not counted; ADD_OR_REMOVE only) for every
            variable; or policies by column, for numbers also "low", "high" or a public value, for one counted
            value also "no", for several also "count" (a category of its own). The others of such a list refuse, or
            have the policy of "*".
        count_missing: Whether the missing values of each variable are counted, with a fifth of its part of the
            guarantee. Of variables whose missing values are refused, or are a category, nothing more is counted.
        weights: How large the parts of variables are, in proportion to the others, by column; 1 where nothing is said.
        public_groups: Whether everybody may know each record's group; only the other values are then hidden, with less
            noise, and the privacy unit must declare the column public. None: whether it does.
        confidence_level: Of the intervals, above 0 and at most 0.9999.
        search: How bounds are found. "outward": magnitudes of which noise leaves no doubt that they hold records, and
            those beside them that probably do. "outermost": the first alone, one magnitude wider, at a tenth of the
            variable's part, as earlier versions did.

    Example:
        >>> import numpy as np, ogive
        >>> rng = np.random.default_rng(1)
        >>> people = {"age": rng.integers(18, 90, 10_000), "ward": rng.choice(["A", "B"], 10_000)}
        >>> table = ogive.describe(
        ...     people, bounds={"age": (0, 120)}, by="ward", groups=("A", "B"), privacy=ogive.PureDP(1)
        ... )
        >>> bool(abs(table.of("age", "A")["mean"].value - 53.5) < 2)
        True
    """

    name: ClassVar[str] = "describe"
    noise_beside: ClassVar[str] = OF_QUARTILES

    columns: tuple[str, ...] = ()
    guessed: tuple[str, ...] = python_only(())
    left_out: Mapping[str, str] | None = python_only(None)
    _: KW_ONLY
    bounds: BoundsByColumn | None = None
    values: ValuesByColumn | None = None
    numbers: tuple[str, ...] = ()
    by: str | None = None
    groups: tuple[LabelValue, ...] | None = None
    missing: Policies = "refuse"
    weights: WeightsByColumn | None = None
    public_groups: bool | None = None
    confidence_level: float = 0.95
    count_missing: bool = added(False)
    search: Search = added("outermost", default="outward", words=("outward", "outermost"))

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", _names(self.columns, "columns"))
        object.__setattr__(self, "numbers", _names(self.numbers, "numbers"))
        object.__setattr__(self, "confidence_level", float(check_level(self.confidence_level)))
        for name in ("bounds", "values", "weights", "left_out"):
            given = getattr(self, name)
            given = {} if given is None else given
            if not isinstance(given, Mapping) or not all(isinstance(column, str) for column in given):
                raise ParameterError(
                    f"`{name}` must be given by column, for example {_EXAMPLES[name]}, got {quoted(given)}"
                )
            read = _READ[name]
            object.__setattr__(self, name, {column: read(column, each) for column, each in given.items()})
        self._check_groups()
        self._check_columns()
        self._check_counted()
        among(self.search, "search", tuple(SHARE_OF_BOUNDS))
        _ = self.variables

    def _check_groups(self) -> None:
        if self.public_groups is not None:
            truth(self.public_groups, "public_groups")
        if self.groups is None:
            if self.by is not None:
                check_open(self.by, self.public_groups)
                self.check_where(None)
            return
        if self.by is None or isinstance(self.groups, str):
            raise ParameterError(
                "`groups` are the values of a column, which are public and never read from records, for example "
                "`by='ward'` and `groups=('A', 'B')`"
            )
        object.__setattr__(self, "groups", tuple(self.groups))
        check_groups(self.by, self.groups)
        self.check_where(None)

    def check_where(self, where: str | None) -> None:
        """Refuse a condition beside which that of a group could not be stated."""
        if self.by is not None:
            check_conditions(self.by, self.groups or (), where)

    def _check_columns(self) -> None:
        """Refuse columns that are declared in two ways, or not described."""
        for one in ("bounds", "numbers"):
            both = [name for name in getattr(self, one) if name in self._given("values")]
            if both:
                raise ParameterError(
                    f"column {quoted(both[0])} has `{one}` and `values`; it is either numbers or values"
                )
        if self.by in self.declared:
            raise ParameterError(f"column {quoted(self.by)} is that of the groups, so it is not described too")
        for name in self._named:
            if self.columns and name not in self.columns:
                near = _near(name, self.columns)
                raise ParameterError(
                    f"column {quoted(name)} is declared and not described; {f'{near} else ' if near else ''}"
                    "add it to `columns`, or leave it out"
                )

    def _check_counted(self) -> None:
        """Refuse to count missing values that no variable may have."""
        policies = self.missing.values() if isinstance(self.missing, Mapping) else (self.missing,)
        if truth(self.count_missing, "count_missing") and all(policy in COUNTED_ANYWAY for policy in policies):
            raise ParameterError(
                "`count_missing` counts missing values, and every variable refuses them or counts them as a category; "
                "say what they mean, for example `missing='drop'`",
                parameter="count_missing",
            )

    def _given(self, name: str) -> dict[str, Any]:
        given: dict[str, Any] = getattr(self, name)
        return given

    @property
    def _named(self) -> tuple[str, ...]:
        policies = tuple(self.missing) if isinstance(self.missing, Mapping) else ()
        named = (*self._given("bounds"), *self._given("values"), *self.numbers, *self._given("weights"), *policies)
        return tuple(name for name in named if name != OTHERS)

    @property
    def declared(self) -> tuple[str, ...]:
        """The columns that are named, or else those of which something is declared."""
        return self.columns or tuple(dict.fromkeys((*self._given("bounds"), *self._given("values"), *self.numbers)))

    @functools.cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of which it is known what they are."""
        return tuple(self._variable(name) for name in self.declared if self._known(name))

    def _known(self, name: str) -> bool:
        return name in self._given("bounds") or name in self._given("values") or name in self.numbers

    def _variable(self, name: str) -> Variable:
        missing, level = self._policy(name), self.confidence_level
        counts = self.count_missing and missing not in COUNTED_ANYWAY
        if name in self._given("values"):
            values = self._given("values")[name]
            if len(values) > 1:
                return Categories(name, values, missing, level, counts)
            return Share(name, values[0], missing, level, counts)
        try:
            return Number(name, self._given("bounds").get(name), missing, level, counts)
        except ParameterError as problem:
            raise problem.prefixed(f"column {quoted(name)}") from None

    def _policy(self, name: str) -> Missing:
        if not isinstance(self.missing, Mapping):
            return self.missing
        return self.missing.get(name, self.missing.get(OTHERS, "refuse"))

    def completed_by(self, schema: Schema) -> Describe:
        """The same with the kinds of columns that were not declared.

        Where no columns are named, numbers without bounds are left out if anything is declared, and those whose name
        says that they identify people are left out too, so that they take no part of the guarantee.

        Args:
            schema: The columns of the table. Their kinds are public.

        Raises:
            ParameterError: a column that was named cannot be described as it is, or none is left.
            DataError: a column is not there.
        """
        whole = self._completed_by(schema)
        declared = bool(self._given("bounds") or self._given("values") or self.numbers)
        left = {
            name: _UNDECLARED if declared else _IDENTIFYING
            for name in whole.columns
            if name in whole.numbers and not (self.columns or self._known(name)) and (declared or identifies(name))
        }
        described = tuple(name for name in whole.columns if name not in left)
        if not left or not described:
            return whole
        result = dataclasses.replace(
            whole,
            columns=described,
            numbers=tuple(name for name in whole.numbers if name not in left),
            values={name: values for name, values in whole._given("values").items() if name not in left},
            guessed=tuple(name for name in whole.guessed if name not in left),
            left_out=whole._given("left_out") | left,
        )
        object.__setattr__(result, "_earlier", whole)
        return result

    def before(self) -> Describe | None:
        """What the same call asked before undeclared columns were left out, if that was another question."""
        earlier: Describe | None = getattr(self, "_earlier", None)
        return earlier

    def _completed_by(self, schema: Schema) -> Describe:
        named = self.columns
        columns = named or tuple(name for name in schema.columns if name not in (schema.person, self.by))
        numbers, values, guessed = list(self.numbers), dict(self._given("values")), []
        left_out: dict[str, str] = {}
        for name in (*columns, *(() if self.by is None else (self.by,)), *self._named):
            if name not in schema.columns:
                raise DataError(_no_column(name, schema))
        for name in columns:
            if self._known(name):
                continue
            kind = schema.kind(name)
            if schema.guessed:
                guessed.append(name)
            match kind:
                case "truth values":
                    values[name] = (True,)
                case "numbers":
                    numbers.append(name)
                case "text":
                    left_out[name] = "text has no mean; declare the values that are to be counted"
                case _:
                    left_out[name] = _UNDESCRIBED.get(kind, f"{kind} are not described")
        if named and left_out:
            name, reason = next(iter(left_out.items()))
            if schema.kind(name) == "text" and (remedy := schema.number_remedy(name)):
                raise ParameterError(f"column {quoted(name)} cannot be described as text: {plain(remedy)}")
            raise ParameterError(
                f"column {quoted(name)} cannot be described, since {plain(reason)}; use `values=`, "
                "`bounds=` or `numbers=`, or leave it out"
            )
        described = tuple(name for name in columns if name not in left_out)
        if not described:
            raise ParameterError("no variable is left to describe; declare some by `bounds`, `values` or `numbers`")
        return dataclasses.replace(
            self,
            columns=described,
            numbers=tuple(numbers),
            values=values,
            guessed=tuple(guessed),
            left_out=left_out,
        )

    def unmet(self, terms: Terms, schema: Schema) -> OgiveError | None:
        """All that is still needed, in one error; None where this is a query as it is, or the fault is another."""
        return unmet(self, terms, schema.with_missing)

    def settled_by(self, unit: PrivacyUnit) -> Describe:
        """The same with groups public or not."""
        if self.public_groups is not None:
            return self
        public = self.groups is not None and unit.adjacency is Adjacency.REPLACE and self.by in unit.public
        result, earlier = dataclasses.replace(self, public_groups=public), self.before()
        object.__setattr__(result, "_earlier", None if earlier is None else earlier.settled_by(unit))
        return result

    def canonical(self) -> Describe:
        """The one spelling that stands for all of the same question."""
        search = self.search if any(self._finds(each) for each in self.variables) else "outermost"
        return dataclasses.replace(self, public_groups=bool(self.public_groups), search=search)

    def alternatives(self) -> dict[str, Describe]:
        """There is one way."""
        return {"describe": self}

    def questions(self, terms: Terms) -> Generator[Query, Answer, DescribeEstimate]:
        """Find bounds where there are none, then ask everything of every variable, of all groups in step.

        Privacy: all answers together at most `terms.privacy`, as `docs/proofs/together.md` shows.

        Raises:
            ParameterError: no variable is declared.
            UnsupportedError: owners answer, who have one report each.
        """
        if not self.variables:
            raise ParameterError("say which variables there are, by `bounds`, `values` or `numbers`")
        if owners_answer(terms):
            raise UnsupportedError(
                "describe asks several questions of each record, and an owner sends one report; use trust central or "
                "secagg, or release single statistics"
            )
        if self.by is not None and self.groups is None:
            return (yield from self._ask_found(self.by, terms))
        tried = dataclasses.replace(terms, simulations=0, imagined=True)
        # where bounds are found first, questions of groups follow from them
        divided: Divided | None = None if any(map(self._finds, self.variables)) else {}
        check_served(self._ask(tried, divided), tried)
        # whoever asks gets an estimate, also of imagined records, of which `_ask` makes none
        asked = dataclasses.replace(terms, imagined=False)
        return cast(DescribeEstimate, (yield from self._ask(asked, divided)))

    def _ask_found(self, by: str, terms: Terms) -> Procedure[DescribeEstimate]:
        """Find the groups, then ask everything of every variable of the records of those that were found."""
        result, threshold = yield from ask_found(
            by,
            dataclasses.replace(self, by=None),
            lambda groups: dataclasses.replace(self, groups=groups, public_groups=False),
            terms,
        )
        return dataclasses.replace(result, threshold=threshold or 1)

    def _ask(self, terms: Terms, divided: Divided | None) -> Procedure[DescribeEstimate | None]:
        """Everything in its order; no result where records are imagined."""
        finding = [each for each in self.variables if isinstance(each, Number) and each.bounds is None]
        result: dict[str, BoundsEstimate] = {}

        def ask_all(shared: Terms) -> Procedure[list[Estimate]]:
            return self._ask_all(result, shared, divided)

        def find(variable: Number) -> Weighted[Any]:
            def ask(shared: Terms) -> Procedure[BoundsEstimate]:
                result[variable.column] = yield from variable.finding(self.search).questions(shared)
                return result[variable.column]

            return Weighted(self._weight(variable) * SHARE_OF_BOUNDS[self.search], ask)

        rest = sum((self._rest(each) for each in self.variables), Fraction(0))
        *bounds, estimates = yield from ask_together([*map(find, finding), Weighted(rest, ask_all)], terms)
        if terms.imagined:
            return None
        return DescribeEstimate(
            variables=self.variables,
            by=self.by,
            groups=self.groups or (),
            found=tuple(stated(each, terms.adjacency) for each in (*bounds, *estimates)),
            public_groups=bool(self.public_groups) and terms.adjacency is Adjacency.REPLACE,
            guessed=self.guessed,
            left_out=self._given("left_out"),
        )

    def _ask_all(
        self, result: Mapping[str, BoundsEstimate], terms: Terms, divided: Divided | None
    ) -> Procedure[list[Estimate]]:
        queries = []
        for each in self.variables:
            parts = (
                each.questions(each.between(result.get(each.column))) if isinstance(each, Number) else each.questions()
            )
            queries += [weighted(part, self._rest(each)) for part in parts.values()]
        if self.by is None:
            return (yield from ask_together(queries, terms))
        groups = Groups(self.by, self.groups or (), bool(self.public_groups))
        each_group = yield from ask_parts(groups, lambda shared: ask_together(queries, shared), terms, divided=divided)
        return [estimate for estimates in each_group for estimate in estimates]

    def _weight(self, variable: Variable) -> Fraction:
        return exact(self._given("weights").get(variable.column, 1), "a weight")

    def _rest(self, variable: Variable) -> Fraction:
        """A variable's weight, without what finding its bounds takes."""
        return self._weight(variable) * (1 - SHARE_OF_BOUNDS[self.search] if self._finds(variable) else 1)

    @staticmethod
    def _finds(variable: Variable) -> bool:
        """Whether bounds of a variable are found by the release."""
        return isinstance(variable, Number) and variable.bounds is None


def _names(given: Any, parameter: str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, tuple | list) or not all(isinstance(name, str) for name in names):
        raise ParameterError(f"`{parameter}` must be names of columns, got {quoted(given)}")
    twice = next((name for number, name in enumerate(names) if name in names[:number]), None)
    if twice is not None:
        raise ParameterError(f"each column must be named once, but {quoted(twice)} is named twice")
    return tuple(names)


def _near(name: str, columns: Sequence[str]) -> str:
    """A question whether other columns were meant; nothing where no name is near."""
    near = difflib.get_close_matches(name, columns, n=3)
    return f"did you mean {' or '.join(map(quoted, near))}?" if near else ""


def _no_column(name: str, schema: Schema) -> str:
    there = schema.columns[:_MOST_LISTED]
    words = _near(name, schema.columns) or f"it has {', '.join(map(quoted, there))}"
    parted = [each for each in schema.columns if name in map(str.strip, each.split(","))]
    if parted:  # a list of names was read at the comma
        inner = f'"{parted[0]}"'
        words = f"did you mean {quoted(parted[0])}? On the command line a name with a comma is written {quoted(inner)}"
    return f"the table has no column {quoted(name)}; {words}"


def _between(name: str, given: Any) -> tuple[float, float]:
    try:
        lattice = Lattice.of(given, None)
    except ParameterError as problem:
        raise problem.prefixed(f"column {quoted(name)}") from None
    low, high = (int(each) if each.denominator == 1 else float(each) for each in (lattice.low, lattice.high))
    return low, high


def _listed(name: str, given: Any) -> tuple[LabelValue, ...]:
    listed = given.tolist() if hasattr(given, "tolist") else given
    listed = tuple(listed) if isinstance(listed, tuple | list) else (listed,)
    if not listed:
        raise ParameterError(f"name the values of column {quoted(name)} that are counted, or leave the column out")
    return listed


def _weight(name: str, given: Any) -> Fraction:
    weight = exact(given, f"the weight of {name}")
    if not weight > 0:
        raise ParameterError(f"the weight of {quoted(name)} must be above 0, got {quoted(given)}")
    return weight


_UNDECLARED = "no bounds are declared; declare them, or name it among `numbers` to have them found"
_IDENTIFYING = "its name says that it identifies people; name it among the columns, if it does not"
_UNDESCRIBED = {
    "dates": "dates and times have no mean here; release their median with quantiles",
    "times": "dates and times have no mean here; release their median with quantiles",
    "no values at all": "a column without values has nothing to describe",
}
"""Why columns that hold something are left out, where their kind does not say it."""

_READ: dict[str, Callable[[str, Any], Any]] = {
    "bounds": _between,
    "values": _listed,
    "weights": _weight,
    "left_out": lambda _, reason: str(reason),
}
_EXAMPLES = {
    "left_out": "`left_out={}`",
    "bounds": "`bounds={'age': (0, 120)}`",
    "values": "`values={'died': 'yes'}`",
    "weights": "`weights={'age': 2}`",
}


# --- For the command line

COMMAND = Command(
    tests=True,
    names={"groups": "by-groups"},
    help={
        "groups": "The values of that column, public: all of them, also those that no record has. A word stands for "
        "the number or truth value that it writes, which is also the text. By default those that enough records have "
        "are found, which needs --delta.",
        "columns": "The variables, in the order of the table. By default all columns but those of persons and groups.",
        "public_groups": (
            "Each record's group is public knowledge: only the other values are hidden, with less noise. The default "
            "if --public declares the column."
        ),
    },
    groups={
        **dict.fromkeys(
            ("columns", "bounds", "values", "numbers", "missing", "count_missing", "weights", "search"), "Variables"
        ),
        **dict.fromkeys(("by", "groups", "public_groups"), "Groups"),
    },
)
