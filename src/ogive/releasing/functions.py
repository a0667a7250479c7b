"""Functions on arrays of one column, and those of statistics that have none of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Unpack

import numpy as np

from ogive.core.checks import array_of
from ogive.errors import DataError, quoted
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, Privacy
from ogive.records import Records
from ogive.records.missing_words import NaValues
from ogive.releasing.release import release
from ogive.statistics.base import Estimate, EstimateT, Statistic, takes_options_of
from ogive.statistics.bounds.estimate import BoundsEstimate
from ogive.statistics.bounds.statistic import Bounds, BoundsOptions
from ogive.statistics.boxplot.estimate import Boxplots
from ogive.statistics.boxplot.statistic import Boxplot, BoxplotOptions
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.ecdf.statistic import Ecdf, EcdfOptions
from ogive.statistics.kinds import CALLED, Arguments, Kind, call_of
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.quantiles.statistic import DECILES, Quantiles, QuantilesOptions
from ogive.trust import Central, Simulation, TrustOf

COLUMN, GROUP = "value", "group"
SCORE, PROBABILITY, LABEL = "score", "probability", "label"


def declared(column: str, public: bool | None, adjacency: Adjacency) -> tuple[str, ...]:
    """The public columns of a release whose caller may say of one that everybody knows it."""
    return (column,) if public and Adjacency(adjacency) is Adjacency.REPLACE else ()


def on_columns(
    statistic: Statistic[EstimateT],
    table: Mapping[str, Any],
    privacy: Privacy | None,
    adjacency: Adjacency,
    trust: TrustOf,
    source: RandomSource | None,
    na_values: NaValues,
    *,
    batch: str | None = None,
    public: Sequence[str] = (),
) -> EstimateT:
    """One release of arrays by name, whoever would hold them."""
    holder = Simulation.of(trust).over(Records.of(table, na_values=na_values))
    return release(
        statistic, trust=holder, privacy=privacy, adjacency=adjacency, batch=batch, public=public or None, source=source
    )


# --- Functions of statistics that have none of their own, by `__getattr__`

_OWN = {
    "privacy": (None, "The guarantee for the statistic and everything derived from it."),
    "adjacency": (Adjacency.REPLACE, "REPLACE (the number of records is public) or ADD_OR_REMOVE (it is private)."),
    "trust": (Central, "Trust model: its type or name, or a `Simulation`."),
    "source": (None, "Source of the noise key; by default the operating system."),
    "na_values": ((), "Texts and numbers that mark a missing value of a measured column, besides words such as NA."),
}


class Function(Protocol):
    """A function with the columns and options of a statistic."""

    def __call__(self, *columns: object, **options: object) -> Estimate:
        """Release the statistic of some arrays."""


def __getattr__(name: str) -> Function:
    """The function of a kind, made when it is used."""
    if name not in CALLED:
        raise AttributeError(name)
    return function_of(CALLED[name])


def function_of(kind: Kind) -> Function:
    """The function that releases a statistic of arrays."""

    def release(columns: Arguments, options: Arguments, own: Arguments) -> Estimate:
        called = {name: COLUMN if columns.keys() == {"column"} else name for name in columns}
        besides = {name: options[name] for name in getattr(kind.statistic, "besides", ()) if name in options}
        besides = {name: values for name, values in besides.items() if values is not None}
        columns, options = {**columns, **besides}, {**options, **{name: name for name in besides}}
        statistic: Statistic[Estimate] = kind.statistic(**called, **options)
        return on_columns(statistic, {called.get(name, name): values for name, values in columns.items()}, **own)

    array = "data" if "values" in kind.options.__annotations__ else "values"  # which is the name of an option there
    return call_of(kind, release, _OWN, called={"column": array})


# --- The distribution function of an array


@takes_options_of(Ecdf, EcdfOptions)
def ecdf(
    values: Any,
    *,
    privacy: Privacy | None = None,
    adjacency: Adjacency = Adjacency.REPLACE,
    trust: TrustOf = Central,
    batch: str | None = None,
    source: RandomSource | None = None,
    na_values: NaValues = (),
    **options: Unpack[EcdfOptions],
) -> Curve:
    """Release the whole distribution function of an array.

    Args:
        values: Numbers or dates, shape (n,); one row per person.
        privacy: The guarantee for the whole curve and everything derived from it.
        adjacency: REPLACE (n is public) or ADD_OR_REMOVE (n is private).
        trust: Trust model: its type or name, such as `Local` or "local", or a `Simulation`.
        batch: Public name of these records, for merging curves.
        source: Source of the noise key; by default the operating system.
        na_values: Texts and numbers that mark a missing value of a measured column, besides words such as NA.

    Raises:
        ParameterError, DataError: as `release`.

    Privacy:
        `privacy` for the stated adjacency, under the trust model's assumption.

    Example:
        >>> import numpy as np, ogive
        >>> ages = np.random.default_rng(1).integers(18, 90, size=20_000)
        >>> curve = ogive.ecdf(ages, bounds=(0, 120), bins=120, privacy=ogive.PureDP(1))
        >>> bool(abs(curve(65) - np.mean(ages <= 65)) < 0.02)
        True
    """
    return on_columns(
        Ecdf(COLUMN, **options), {COLUMN: values}, privacy, adjacency, trust, source, na_values, batch=batch
    )


# --- Quantiles, boxplots and bounds of arrays


@takes_options_of(Quantiles, QuantilesOptions)
def quantiles(
    values: Any,
    probabilities: Sequence[float] = DECILES,
    *,
    privacy: Privacy | None = None,
    adjacency: Adjacency = Adjacency.REPLACE,
    trust: TrustOf = Central,
    source: RandomSource | None = None,
    na_values: NaValues = (),
    **options: Unpack[QuantilesOptions],
) -> QuantileEstimates:
    """Release quantiles of an array with simultaneous intervals.

    Args:
        values: Numbers or dates, shape (n,); one row per person.
        probabilities: Probabilities of the quantiles, each in [0, 1]; by default the nine deciles.
        privacy: The guarantee for all quantiles together.
        adjacency: REPLACE (n is public) or ADD_OR_REMOVE (n is private).
        trust: Trust model: its type or name, such as `Local` or "local", or a `Simulation`.
        source: Source of the noise key; by default the operating system.
        na_values: Texts and numbers that mark a missing value of a measured column, besides words such as NA.

    Raises:
        ParameterError, DataError: as `release`.

    Privacy:
        `privacy` for the stated adjacency, under the trust model's assumption.

    Example:
        >>> import numpy as np, ogive
        >>> incomes = np.random.default_rng(1).lognormal(10, 0.5, size=50_000)
        >>> result = ogive.quantiles(incomes, [0.5], bounds=(0, 200_000), privacy=ogive.PureDP(1))
        >>> bool(abs(result.values[0] / np.median(incomes) - 1) < 0.05)
        True
    """
    return on_columns(
        Quantiles(COLUMN, probabilities, **options), {COLUMN: values}, privacy, adjacency, trust, source, na_values
    )


# --- Boxplots


@takes_options_of(Boxplot, BoxplotOptions, leave_out=("by", "groups"))
def boxplot(
    data: Any,
    *,
    privacy: Privacy | None = None,
    adjacency: Adjacency = Adjacency.REPLACE,
    trust: TrustOf = Central,
    source: RandomSource | None = None,
    na_values: NaValues = (),
    **options: Unpack[BoxplotOptions],
) -> Boxplots:
    """Release the boxplot of an array, or one for each of several disjoint arrays.

    Args:
        data: Numbers or dates, shape (n,); one row per person. Or a dictionary of such arrays by the names of
            their groups, where nobody is in two groups. The names are public.
        privacy: The guarantee for all boxes together.
        adjacency: REPLACE (n is public) or ADD_OR_REMOVE (n is private).
        trust: Trust model: its type or name, such as `Local` or "local", or a `Simulation`.
        source: Source of the noise key; by default the operating system.
        na_values: Texts and numbers that mark a missing value of a measured column, besides words such as NA.

    Raises:
        ParameterError, DataError: as `release`.

    Privacy:
        `privacy` for the stated adjacency, under the trust model's assumption. The group is protected too, unless
        `public_groups`.

    Example:
        >>> import numpy as np, ogive
        >>> rng = np.random.default_rng(1)
        >>> weights = {"north": rng.normal(70, 12, 5_000), "south": rng.normal(74, 12, 5_000)}
        >>> boxes = ogive.boxplot(weights, bounds=(30, 150), privacy=ogive.ApproxDP(1, 1e-6))
        >>> bool(abs(boxes["south"].median - 74) < 2), bool(abs(boxes["north"].records - 5000) < 200)
        (True, True)
    """
    table = {COLUMN: data}
    if isinstance(data, dict):
        options["by"], options["groups"] = GROUP, tuple(data)
        table = _stacked(data)
    public = declared(GROUP, options.get("public_groups"), adjacency)
    return on_columns(Boxplot(COLUMN, **options), table, privacy, adjacency, trust, source, na_values, public=public)


def _stacked(groups: dict[Any, Any]) -> dict[str, Any]:
    arrays = {name: _array(values) for name, values in groups.items()}
    for name, values in arrays.items():
        if values.ndim != 1:
            raise DataError(f"group {quoted(name)} must be an array of one dimension")
    labels = [name for name, values in arrays.items() for _ in range(len(values))]
    joined = np.ma.concatenate if any(map(np.ma.is_masked, arrays.values())) else np.concatenate
    return {COLUMN: joined(list(arrays.values())) if arrays else np.zeros(0), GROUP: labels}


def _array(values: Any) -> Any:
    """A group as an array, masked where it is, or where a list has what shows in place of a masked value."""
    if isinstance(values, np.ma.MaskedArray):
        return values
    if isinstance(values, list | tuple) and any(each is np.ma.masked for each in values):
        mask = [each is np.ma.masked for each in values]
        plain = next((each for each in values if each is not np.ma.masked), 0.0)
        return np.ma.array([plain if hidden else each for each, hidden in zip(values, mask, strict=True)], mask=mask)
    return array_of(values)


# --- Bounds of an array with unknown range


@takes_options_of(Bounds, BoundsOptions)
def find_bounds(
    values: Any,
    *,
    privacy: Privacy | None = None,
    adjacency: Adjacency = Adjacency.REPLACE,
    trust: TrustOf = Central,
    source: RandomSource | None = None,
    na_values: NaValues = (),
    **options: Unpack[BoundsOptions],
) -> BoundsEstimate:
    """Find bounds of an array with unknown range, at a privacy cost.

    Args:
        values: Numbers, shape (n,); one row per person.
        privacy: The guarantee for the bounds; later releases within the bounds cost extra.
        adjacency: REPLACE (n is public) or ADD_OR_REMOVE (n is private).
        trust: Trust model: its type or name, such as `Local` or "local", or a `Simulation`.
        source: Source of the noise key; by default the operating system.
        na_values: Texts and numbers that mark a missing value of a measured column, besides words such as NA.

    Raises:
        ParameterError, DataError: as `release`.

    Privacy:
        `privacy` for the stated adjacency, under the trust model's assumption.

    Example:
        >>> import numpy as np, ogive
        >>> incomes = np.random.default_rng(1).lognormal(10, 0.5, size=50_000)
        >>> found = ogive.find_bounds(incomes, privacy=ogive.PureDP(1))
        >>> bool(0 < found.low < np.quantile(incomes, 0.01) and np.quantile(incomes, 0.99) < found.high < 2**20)
        True
    """
    return on_columns(Bounds(COLUMN, **options), {COLUMN: values}, privacy, adjacency, trust, source, na_values)
