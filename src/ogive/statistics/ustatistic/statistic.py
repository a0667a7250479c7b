"""Any statistic of pairs of records: Gini, Kendall's tau, an AUC, collision entropy, a pairwise loss."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from ogive.columns import Binning, Categories, Domain, Label, LabelValue, Missing, OutsidePolicy, is_value
from ogive.columns.grids import Grid
from ogive.core.checks import among, completed, one_of, truth, written_fields
from ogive.errors import ParameterError, quoted
from ogive.kernels import Kernel, measure_from_dict, measure_of
from ogive.kernels.base import Measure
from ogive.local.values import ROUNDINGS, Rounding
from ogive.privacy import PrivacyUnit
from ogive.queries import Answer, PairsQuery, Query, RowValues
from ogive.statistics.base import Terms, as_values
from ogive.statistics.confidence import check_level
from ogive.statistics.ecdf.statistic import make_grid
from ogive.statistics.kinds import Command
from ogive.statistics.methods.base import counts_records, owners_answer
from ogive.statistics.methods.choose import check_expected
from ogive.statistics.ustatistic.base import DOES_NOT_FIT, Described, MeanMethod, MeanTask, best, domain_of, of_classes
from ogive.statistics.ustatistic.curator import Degrees, counts, counts_equal_pairs, degrees, exact, kernels
from ogive.statistics.ustatistic.estimate import KernelMean, UstatisticEstimate
from ogive.statistics.ustatistic.means import Means
from ogive.statistics.ustatistic.pairs import Paired, paired
from ogive.statistics.ustatistic.reports import ORACLES, HierarchyAuc, by_oracle, hierarchical

Columns: TypeAlias = Any  # a name or the column itself, several of them, or a `Domain`
BoundsOfEach: TypeAlias = Any  # a smallest and a largest value for all columns, or such pairs in order or by name
BinsOfEach: TypeAlias = Any  # a number of bins or "auto", for all or for each
GridOfEach: TypeAlias = Any  # a kind of grid or a `Grid`, for all or for each
CategoriesOfEach: TypeAlias = Any  # the values of a column, or lists of them by column name

# --- Methods by name, and the choice among them

_Maker: TypeAlias = Callable[[MeanTask], MeanMethod]
BY_CURATORS: dict[str, _Maker] = {"kernel": kernels, "cells": counts, Degrees.name: degrees}
BY_OWNERS: dict[str, _Maker] = {name: partial(by_oracle, name=name) for name in ORACLES} | {"hierarchy": hierarchical}

UstatisticMethod = Literal["auto", "kernel", "cells", "degrees", "krr", "unary", "haar", "hierarchy", "paired"]
METHODS = {**BY_CURATORS, **BY_OWNERS, Paired.name: paired}

ByHand = HierarchyAuc | Paired

# never sent; shows whether a trust model serves any query of its kind
_ROWS = RowValues(Domain((Binning("x", Grid.linear(0, 1, bins=2)),)))
_PROBE = PairsQuery(_ROWS, measure_of("collision"), False, Fraction(1), Fraction(0), "round_robin", 1, "response", 1)


def choose_method(task: MeanTask, method: str | ByHand) -> MeanMethod:
    """The named method, or the one with the smallest predicted error of those that fit; the exact one without privacy.

    Of a curator's methods those that round values compete only where no other fits: an interval that is right for all
    records is wide. Clipped degrees must err less than the best of the others on every reference shape.
    """
    if not task.terms.private:
        return exact(task)
    if isinstance(method, HierarchyAuc):
        return hierarchical(task, method)
    if isinstance(method, Paired):
        return paired(task, method)
    if method != "auto":
        return METHODS[method](task)
    if task.terms.refusal(_PROBE) is None and not counts_records(task.terms):  # pairs of people answer and nobody else
        return paired(task)
    if owners_answer(task.terms):
        return best(partial(make, task) for make in BY_OWNERS.values())
    if task.tuples != "pairs":
        return kernels(task)
    if not task.exactly_binned:
        with suppress(*DOES_NOT_FIT):
            return kernels(task)
        return counts(task)
    # counts first: more trust models can have them, so that it is of them one hears why nothing fits
    result = best(partial(make, task) for make in (counts, kernels))
    if counts_equal_pairs(task.measure):
        with suppress(*DOES_NOT_FIT):
            return degrees(task).unless_beaten(result)
    return result


Reading = Literal["average", "midpoint"]
READINGS: tuple[Reading, ...] = get_args(Reading)


@dataclass(frozen=True)
class Ustatistic:
    """A statistic of pairs of records: a function of the means of a kernel over all pairs.

    Fields:
        columns: Name of a column, or names in the order of the kernel. A column may also be given as `Binning`,
            `Categories` or `Label`, and all columns as one `Domain`. An AUC takes a score and a label; a volume under
            the ROC surface takes a score and a column of ordered classes.
        kernel: The measure: "gini" (mean difference), "gini_coefficient", "variance", "collision" (Renyi's entropy of
            order 2), "collision_probability", "kendall" (tau-a), "kendall_b", "gamma", "auc", "vus", or a measure or
            kernel of `ogive.kernels`.
        bounds: Smallest and largest possible value, public: one pair for all columns of numbers, or one for each
            column, or by name.
        bins: Number of bins to which values are rounded, if the method needs bins: "auto" for the smallest predicted
            error, a number, or one for each column.
        grid: "linear", "geometric", "integers" or a `Grid`, one for all columns or one for each.
        categories: The public values of a categorical column, in order: a list, or lists by column name.
        positive: Value or values of the positive class of an AUC's label.
        negative: Value or values of the negative class. By default 0 if the positive class is 1, else the only other
            value.
        public_labels: Whether each record's class is public. Only the score is then protected, and the privacy unit
            must declare the label public. By default, as the privacy unit declares. Measures that require public
            classes, such as "vus", take them as public.
        method: "auto" (smallest predicted error), "kernel" (noise on the exact mean), "cells" (noise on counts per
            combination of bins), "degrees" (of collisions, noise that follows the largest count), from local reports
            "krr", "unary", "haar" or "hierarchy" (AUC with public labels; with options, `HierarchyAuc(branching=4)`);
            from people who meet in pairs "paired" (with options, `Paired(rounds=2)`).
        matrix: Value of the kernel for two bins: its "average" over both, or the "midpoint" of its extremes.
        rounding: "simple", or "randomized" to one of the two neighboring nodes (local reports only). With matrix
            "average" a Gini is then corrected for pairs within one cell, assuming values spread over the cell;
            "midpoint" assumes values on the nodes.
        missing: What a missing number means: "refuse" (an error), "low" or "high" (the lower or the upper bound), or a
            public value within the bounds, as which it counts.
        outside: What a number outside the bounds means: "refuse" (an error), or "clip" (the nearer bound).
        confidence_level: Confidence level of the printed interval.
        expected_records: A public guess of the number of records, for "auto", if that number is private.

    Example:
        >>> import numpy as np, ogive
        >>> incomes = np.random.default_rng(1).gamma(2, 10_000, size=20_000)
        >>> gini = ogive.ustatistic(incomes, "gini_coefficient", bounds=(0, 200_000), privacy=ogive.PureDP(1))
        >>> bool(abs(gini.value - 0.375) < 0.02)
        True
    """

    name: ClassVar[str] = "ustatistic"

    columns: Columns
    kernel: Any = "gini"
    _: KW_ONLY
    bounds: BoundsOfEach = None
    bins: BinsOfEach = "auto"
    grid: GridOfEach = "linear"
    categories: CategoriesOfEach = None
    positive: LabelValue | tuple[LabelValue, ...] = 1
    negative: LabelValue | tuple[LabelValue, ...] | None = None
    public_labels: bool | None = None
    method: UstatisticMethod | ByHand = "auto"
    matrix: Reading = one_of(*READINGS)
    rounding: Rounding = one_of(*ROUNDINGS)
    missing: Missing = one_of("refuse", "low", "high")
    outside: OutsidePolicy = one_of("refuse", "clip")
    confidence_level: float = 0.95
    expected_records: int | None = None

    def __post_init__(self) -> None:
        """Refuse what no release could use, before any data is touched."""
        if isinstance(self.method, ByHand):
            # one spelling of one question
            usual = self.method == type(self.method)()
            object.__setattr__(self, "method", self.method.name if usual else self.method)
        else:
            among(self.method, "method", ("auto", *METHODS))
        among(self.matrix, "matrix", READINGS)
        among(self.rounding, "rounding", ROUNDINGS)
        if isinstance(self.missing, str) and not is_value(self.missing):
            among(self.missing, "missing", ("refuse", "low", "high"))
        if self.public_labels is not None:
            truth(self.public_labels, "public_labels")
        object.__setattr__(self, "confidence_level", float(check_level(self.confidence_level)))
        check_expected(self.expected_records)
        columns, classes = self._described
        if self.public_labels and classes is None:
            raise ParameterError(f"{self.measure.name} has no label, so leave out `public_labels=True`")
        domain = domain_of(columns, 2)
        for kernel in self.measure.kernels:
            kernel.check(domain)
            _check_reach(kernel, domain)
        check = getattr(self.measure, "check", None)
        if check is not None:
            check(domain)

    @cached_property
    def measure(self) -> Measure:
        """What is asked for, as an object."""
        if callable(self.kernel) and not isinstance(self.kernel, Kernel | Measure):
            raise ParameterError(
                "a function needs the range of its values; give `kernel=ogive.kernels.measure_of(f, range=(0, 1))`"
            )
        if isinstance(self.kernel, str) and self.kernel == "auc" and not self._takes_labels_as_public:
            return measure_of("auc_private")
        if isinstance(self.kernel, str) and self.kernel == "vus":
            return measure_of("vus", classes=_classes_of(_listed(self.columns), self.categories))
        return measure_of(self.kernel)

    @cached_property
    def _described(self) -> tuple[tuple[Described, ...], Label | Categories | None]:
        """What the kernels look at, and the column of public classes where there is one."""
        given = _listed(self.columns)
        names = tuple(map(_name, given))
        twice = next((name for number, name in enumerate(names) if name in names[:number]), None)
        if twice is not None:
            raise ParameterError(f"each column must be named once, but {quoted(twice)} is named twice")
        samples = max(kernel.samples for kernel in self.measure.kernels)
        labeled = samples > 1 or self.measure.name in ("auc", "auc_private")
        _check_number(self.measure, names)
        last = given[-1]
        if labeled and isinstance(last, str) and not of_classes(self.measure):
            ones, others = as_values(self.positive), as_values(self.negative)
            assert ones is not None
            last = Label(last, ones, (0,) if others is None and ones == (1,) else others)
        else:
            labels = names[-1] if labeled else None
            public = self.public_labels is not False
            _check_no_label(labels, self.measure, self.positive, self.negative, public=public)
        given = (*given[:-1], last)
        described = iter(_described_columns(self, [each for each in given if isinstance(each, str)]))
        whole = tuple(
            next(described) if isinstance(each, str) else each if isinstance(each, Described) else Described(each)
            for each in given
        )
        if samples < 2:
            return whole, None
        if self.public_labels is False:
            raise ParameterError(
                f"{self.measure.name} takes classes that are public, so leave out `public_labels=False`; "
                "kernel 'auc', asked for by name, can hide two of them"
            )
        classes = whole[-1].column
        if not isinstance(classes, Label | Categories) or classes.size != samples:
            raise ParameterError(
                f"{self.measure.name} needs a column of {samples} classes last; list those of {quoted(names[-1])} "
                f"in order, for example `categories={{{quoted(names[-1])}: (0, 1, 2)}}`"
            )
        return whole[:-1], classes

    @property
    def classes(self) -> Label | Categories | None:
        """The column of public classes; None if there is none, or if the classes are private."""
        return self._described[1]

    def canonical(self) -> Ustatistic:
        """The canonical form of the statistic: columns and measure in full."""
        columns, classes = self._described
        whole = columns if classes is None else (*columns, classes)
        return dataclasses.replace(self, columns=whole, kernel=self.measure, **_SPELLED_OUT)

    def settled_by(self, unit: PrivacyUnit) -> Ustatistic:
        """The same statistic with public or private labels, if that was left open."""
        if self.public_labels is not None or not isinstance(self.kernel, str) or self.kernel != "auc":
            return self
        known = self._takes_labels_as_public or _name(_listed(self.columns)[-1]) in unit.public
        return dataclasses.replace(self, public_labels=known)

    @property
    def _takes_labels_as_public(self) -> bool:
        """Whether labels are public as it stands: by `public_labels`, or by a method that knows no others."""
        if self.public_labels is not None:
            return self.public_labels
        return isinstance(self.method, HierarchyAuc) or self.method == HierarchyAuc.name

    def to_dict(self) -> dict[str, Any]:
        """Plain data. `from_dict` inverts it, except for kernels that are functions, which are stored as a digest."""
        columns, classes = self._described
        domain = domain_of(columns, 2)
        digests = [kernel.digest(domain) for kernel in self.measure.kernels if hasattr(kernel, "digest")]
        return {
            "name": self.name,
            "columns": [each.to_dict() for each in columns],
            "classes": None if classes is None else Described(classes).to_dict(),
            "kernel": self.measure.to_dict(),
            **({"functions": digests} if digests else {}),
            **{name: held for name, held in written_fields(self).items() if name in _WRITTEN},
            "method": self.method if isinstance(self.method, str) else self.method.to_dict(),
        }

    @staticmethod
    def from_dict(data: Any) -> Ustatistic:
        """Rebuild from `to_dict`; the data need not be trusted.

        Raises:
            ParameterError: a field is missing, unknown or out of range, or the kernel is a function.
        """
        names = {"name", "columns", "classes", "kernel", *_WRITTEN}
        if not isinstance(data, dict) or not set(data) <= names <= set(completed(Ustatistic, data)):
            raise ParameterError("a described ustatistic lacks a field, or has one that there is not")
        data = completed(Ustatistic, data)
        listed = data["columns"]
        if not isinstance(listed, list):
            raise ParameterError("the columns of a described ustatistic must be a list")
        classes = [] if data["classes"] is None else [data["classes"]]
        columns = tuple(Described.from_dict(each) for each in (*listed, *classes))
        written = {name: data[name] for name in _WRITTEN}
        if isinstance(written["method"], dict):
            method = Paired if written["method"].get("name") == Paired.name else HierarchyAuc
            written["method"] = method.from_dict(written["method"])
        return Ustatistic(columns, measure_from_dict(data["kernel"]), **written)

    def alternatives(self) -> dict[str, Ustatistic]:
        """One statistic for each method, and one for a method with options."""
        names = get_args(UstatisticMethod)[1:]
        named = {
            name: dataclasses.replace(self, method=name)
            for name in names
            if name != Degrees.name or counts_equal_pairs(self.measure)
        }
        return named if isinstance(self.method, str) else {**named, f"{self.method.name} by hand": self}

    def questions(self, terms: Terms) -> Generator[Query, Answer, UstatisticEstimate]:
        """Measure once, by the method with the smallest predicted error that the trust model serves.

        Privacy: one measurement at the whole of `terms.privacy`, or reports that cost each person as much.
        """
        chosen = self.chosen_method(terms)
        answer = yield chosen.query
        return self._estimate(chosen, chosen.means(answer), terms.unit.max_rows_per_person)

    def chosen_method(self, terms: Terms) -> MeanMethod:
        """The method that is chosen under these terms, and its error, predicted from public quantities only.

        Raises:
            ParameterError, UnsupportedError, ScaleError: the method, or every method, is unsuitable.
        """
        columns, classes = self._described
        task = MeanTask(self.measure, columns, classes, self.matrix, self.rounding, terms, self.expected_records)
        return choose_method(task, self.method)

    def settled(self, terms: Terms) -> Ustatistic:
        """The same statistic with the method and the bins that are chosen under these terms.

        Raises:
            ParameterError, UnsupportedError, ScaleError: as `chosen_method`.
        """
        chosen, classes = self.chosen_method(terms), self._described[1]
        columns = chosen.domain.columns if chosen.rounded else tuple(self._described[0])
        labels = () if classes is None else (classes,)
        method = chosen.name if isinstance(self.method, str) else self.method
        settled: dict[str, Any] = {"columns": (*columns, *labels), "kernel": self.measure, "method": method}
        return dataclasses.replace(self, **_SPELLED_OUT, **settled)

    def _estimate(self, chosen: MeanMethod, result: Means, rows_of_one: int) -> UstatisticEstimate:
        measure, domain = self.measure, chosen.domain
        value = measure.of(result.values, columns=domain, records=result.records)
        slope = np.where(np.isfinite(value.gradient), value.gradient, 0.0)
        sampling = result.sampling_variance(slope)
        errors = np.sqrt(np.maximum(np.diag(result.covariance), 0.0))
        kernels = measure.kernels
        # of fewer than two records, as far as noise lets one see, there is no mean over pairs
        finite = bool(np.isfinite([*result.values, *errors, *result.quantization]).all())
        means = zip(kernels, result.values, errors, strict=True) if finite else ()
        names = tuple(column.column for column in domain.columns)
        classes = self._described[1]
        return UstatisticEstimate(
            kernel=measure.name,
            columns=names if classes is None else (*names, classes.column),
            method=chosen.name,
            value=float(value.value),
            means=tuple(KernelMean(kernel.name, float(mean), float(error)) for kernel, mean, error in means),
            randomization_error=math.sqrt(max(0.0, float(slope @ result.covariance @ slope))),
            # one that is not above 0 says that noise, or too few records, left nothing to estimate it from
            # records of one person may all be alike, which multiplies the variance by their number at most
            sampling_error=math.sqrt(rows_of_one * sampling) if sampling is not None and sampling > 0 else None,
            quantization=float(np.abs(slope) @ result.quantization) if finite else 0.0,
            limits=_value_range(measure, domain),
            bins=domain.sizes if chosen.rounded else (),
            records=result.records,
            classes=result.classes,
            clipped=value.clipped,
            confidence_level=self.confidence_level,
            null_variance=result.null_variance,
        )


_WRITTEN = ("method", "matrix", "rounding", "confidence_level", "expected_records")
# what columns hold, once they are described
_SPELLED_OUT: dict[str, Any] = {
    field.name: field.default
    for field in dataclasses.fields(Ustatistic)
    if field.name not in ("columns", "kernel", *_WRITTEN)
}


def _listed(columns: Any) -> tuple[Any, ...]:
    if isinstance(columns, Domain):
        return columns.columns
    given = tuple(columns) if isinstance(columns, tuple | list) else (columns,)
    for each in given:
        if not isinstance(each, str | Binning | Categories | Label | Described):
            raise ParameterError(f"`columns` must be names of columns, got {quoted(each)}")
    return given


def _name(column: Any) -> str:
    if isinstance(column, str):
        return column
    return str(column.column.column if isinstance(column, Described) else column.column)


# --- The columns as a user describes them

_RANKED = dict.fromkeys(("kendall", "kendall_b", "gamma"), ("whose ranks are compared", "x", "y"))
_SCORED = dict.fromkeys(("auc", "auc_private"), ("a score and a label", "score", "label"))
_TWO_COLUMNS = {**_RANKED, **_SCORED, "vus": ("a score and a class", "score", "class")}
_FEWEST = 3  # ordered classes where their number does not matter yet


def _described_columns(statistic: Ustatistic, names: Sequence[str]) -> list[Described]:
    for what in ("bounds", "bins", "grid", "categories"):
        given = getattr(statistic, what)
        unknown = [str(name) for name in given if name not in names] if isinstance(given, Mapping) else []
        if unknown:
            raise ParameterError(
                f"{what} are given for column {quoted(unknown[0])}, which is none of {', '.join(map(repr, names))}"
            )
    listed = {name: _of_list(statistic.categories, name) for name in names}
    # bounds of all columns are of those of numbers, if there are any
    of_numbers = _for_all(statistic.bounds) and None in listed.values()
    results = []
    for number, (name, values) in enumerate(listed.items()):
        part = partial(_of, name=name, number=number, columns=len(names))
        bounds = None if of_numbers and values is not None else _of_pair(statistic.bounds, part)
        bins, grid = part(statistic.bins, what="bins"), part(statistic.grid, what="grid")
        if values is not None:
            if bounds is not None and not isinstance(bounds, str):
                raise ParameterError(f"column {quoted(name)} has categories, so leave out its bounds")
            results.append(Described(Categories(name, values)))
            continue
        kind: Any = "linear" if grid is None else grid
        if bounds is None and not isinstance(kind, Grid):
            raise ParameterError(
                f"say which values of column {quoted(name)} are possible, for example `bounds=(0, 120)` or "
                "`categories=('a', 'b')`; both are public, never read from records"
            )
        left_open = bins is None or bins == "auto"
        free = left_open and kind in ("linear", "geometric")
        if left_open:
            bins = 2 if free else 1  # other grids have bins of their own
        results.append(
            Described(Binning(name, make_grid(bounds, bins, kind), statistic.missing, statistic.outside), free)
        )
    return results


def _of(given: Any, name: str, number: int, columns: int, what: str) -> Any:
    """The part of an option for one column: by name in a mapping, by place in a tuple, else the value itself."""
    if isinstance(given, Mapping):
        return given.get(name)
    if isinstance(given, tuple | list):
        if len(given) != columns:
            raise ParameterError(f"`{what}` must be one for all columns or {columns}, one for each, got {len(given)}")
        return given[number]
    return given


def _of_pair(given: Any, part: Callable[..., Any]) -> Any:
    if _for_all(given):
        return tuple(given)
    if given is not None and not isinstance(given, tuple | list | Mapping):
        raise ParameterError(f"`bounds` must be a pair, a pair for each column or None, got {quoted(given)}")
    result = part(given, what="bounds")
    return None if result is None else tuple(result) if _is_pair(result) else result


def _for_all(bounds: Any) -> bool:
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


def _check_number(measure: Measure, names: Sequence[str]) -> None:
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


def _classes_of(given: Sequence[Any], categories: Any) -> int:
    last = given[-1] if given else None
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


def _check_no_label(name: str | None, measure: Measure, positive: Any, negative: Any, *, public: bool) -> None:
    reason = (
        f"{measure.name} has no label" if name is None else f"column {quoted(name)} says itself which classes it has"
    )
    if as_values(positive) != (1,):
        raise ParameterError(f"{reason}, so leave out `positive=`")
    if negative is not None:
        raise ParameterError(f"{reason}, so leave out `negative=`")
    if name is None and not public:
        raise ParameterError(f"{reason}, so leave out `public_labels=False`")


# --- The range of a measure

_NARROWEST, _WIDEST = 1e-100, 1e100  # squares, and products of squares with numbers of pairs, are floating point

_LIMITS = {
    **dict.fromkeys(("gini_coefficient", "auc", "auc_private", "vus"), (0.0, 1.0)),
    **dict.fromkeys(("kendall", "kendall_b", "gamma"), (-1.0, 1.0)),
}


def _value_range(measure: Measure, domain: Domain) -> tuple[float, float]:
    if measure.name in _LIMITS:
        return _LIMITS[measure.name]
    if measure.name == "collision":
        return 0.0, math.log(domain.size)
    if len(measure.kernels) == 1:
        low, high = measure.kernels[0].range(domain)
        return float(low), float(high)
    return -math.inf, math.inf


def _check_reach(kernel: Kernel, domain: Domain) -> None:
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


# --- For the command line


def _check(given: Mapping[str, Any], trust: str) -> None:
    method = given.get("method", "auto")
    if trust == "clear" and method not in ("auto", "kernel"):
        raise ParameterError(f"--trust clear shows the exact value, so leave out --method {method}")


COMMAND = Command(
    negative={"public_labels": "private-labels"},
    help={
        "columns": "Names of the kernel's columns, in its order; for an AUC the score and the label.",
        "kernel": "gini, gini_coefficient, variance, collision (entropy), collision_probability, kendall (tau-a), "
        "kendall_b, gamma, auc, auc_private (as auc with --private-labels) or vus.",
        "public_labels": "The label of an AUC is public; by default it is hidden too, unless --public declares it.",
        "method": "auto (smallest predicted error), kernel, cells, degrees (of collisions), krr, unary, haar, "
        "hierarchy or paired. The four from krr on are read off reports of owners, paired is what pairs of people "
        "compute.",
    },
    groups=dict.fromkeys(("kernel", "categories", "matrix", "rounding"), "Question"),
    check=_check,
    owner_help={
        "method": "What owners report: auto has the smallest predicted error, hierarchy is for an AUC with public "
        "labels."
    },
    owners={"method": ("auto", "krr", "unary", "haar", "hierarchy"), "expected_records": ()},
)
