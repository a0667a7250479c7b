"""One call on an array: one release by a trusted curator, or by whom a simulation puts in their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ogive.errors import DataError, ParameterError
from ogive.grids import Bound, Grid
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, Privacy, Rational
from ogive.queries import LabelValue
from ogive.releasing import release
from ogive.statistics.bounds.statistic import FALSE_ALARM, LARGEST, SMALLEST, Bounds
from ogive.statistics.boxplot.statistic import DEFAULT_CURVE, EQUAL_SHARES, Boxplot
from ogive.statistics.calibration.statistic import DEFAULT_GROUPS, HosmerLemeshow
from ogive.statistics.ecdf.statistic import DEFAULT_BINS, Ecdf
from ogive.statistics.quantiles.statistic import DECILES, Quantiles
from ogive.statistics.roc.statistic import Roc
from ogive.statistics.ustatistic.pairs.options import Paired
from ogive.statistics.ustatistic.reports.trees.options import HierarchyAuc
from ogive.statistics.ustatistic.statistic import Ustatistic
from ogive.trust import Central, Simulation, TrustOf

if TYPE_CHECKING:
    from ogive.statistics.bounds.estimate import BoundsEstimate
    from ogive.statistics.boxplot.estimate import Boxplots
    from ogive.statistics.calibration.estimate import Calibration
    from ogive.statistics.curve.estimate import Curve
    from ogive.statistics.methods.choose import Method
    from ogive.statistics.quantiles.estimate import QuantileEstimates
    from ogive.statistics.roc.estimate import RocEstimate
    from ogive.statistics.ustatistic.estimate import UstatisticEstimate
    from ogive.strategies import Strategy

COLUMN = "value"
SCORE, LABEL = "score", "label"
GROUP = "group"


def ecdf(
    values: Any,
    *,
    privacy: Privacy | None = None,
    bounds: tuple[Bound, Bound] | None = None,
    bins: int = DEFAULT_BINS,
    grid: Grid | str = "linear",
    adjacency: Adjacency = Adjacency.REPLACE,
    trust: TrustOf = Central,
    method: Method = "auto",
    smooth: str = "auto",
    missing: str = "refuse",
    expected_records: int | None = None,
    batch: str | None = None,
    source: RandomSource | None = None,
) -> Curve:
    """Release the whole distribution function of an array.

    Args:
        values: Numbers or dates, shape (n,); one row per person.
        privacy: The guarantee for the whole curve and everything read off it.
        bounds: Smallest and largest possible value, public; values outside are clipped.
        bins: Number of thresholds, 1 to 2^24.
        grid: "linear", "geometric", "integers", or a `Grid` instead of bounds and bins.
        adjacency: REPLACE (n is public) or ADD_OR_REMOVE (n is private).
        trust: Who would hold the records: a trust model's type or name, such as `Local` or "local", or a `Simulation`.
        method: "auto", "path", "tree_ls", "hat_ls", "sqrt", "projection", "histogram", "adaptive", "selected", or one
            of the latter four with options, or a designed strategy; see `Ecdf`.
        smooth: "auto", "shrinkage", "least_squares", "least_absolute" or "isotonic".
        missing: "refuse", "low", "high", or "drop" (ADD_OR_REMOVE only).
        batch: Public name of these records, for curves that are merged.
        expected_records: A public guess of n where it is private, which "auto" needs for more than unbiased methods.
        source: Where the noise key comes from; the operating system by default.

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
    statistic = Ecdf(
        COLUMN,
        bounds,
        bins=bins,
        grid=grid,
        method=method,
        smooth=smooth,
        missing=missing,
        expected_records=expected_records,
    )
    holder = Simulation.of(trust).over({COLUMN: values})
    return release(statistic, trust=holder, privacy=privacy, adjacency=adjacency, batch=batch, source=source)


def quantiles(
    values: Any,
    probabilities: Sequence[float] = DECILES,
    *,
    privacy: Privacy | None = None,
    bounds: tuple[Bound, Bound] | None = None,
    bins: int = DEFAULT_BINS,
    grid: Grid | str = "linear",
    adjacency: Adjacency = Adjacency.REPLACE,
    trust: TrustOf = Central,
    method: Method = "auto",
    missing: str = "refuse",
    expected_records: int | None = None,
    source: RandomSource | None = None,
) -> QuantileEstimates:
    """Release quantiles of an array with simultaneous intervals.

    Args:
        values: Numbers or dates, shape (n,); one row per person.
        probabilities: Which quantiles, each in [0, 1]; nine deciles by default.
        privacy: The guarantee for all quantiles together, however many.
        bounds: Smallest and largest possible value, public; values outside are clipped.
        bins: Number of thresholds, 1 to 2^24.
        grid: "linear", "geometric", "integers", or a `Grid` instead of bounds and bins.
        adjacency: REPLACE (n is public) or ADD_OR_REMOVE (n is private).
        trust: Who would hold the records: a trust model's type or name, such as `Local` or "local", or a `Simulation`.
        missing: "refuse", "low", "high", or "drop" (ADD_OR_REMOVE only).
        expected_records: A public guess of n where it is private, which "auto" needs for more than unbiased methods.
        source: Where the noise key comes from; the operating system by default.
        method: "auto" (from a whole curve), "bisection" (opens only the points it visits), or a
            method as for `ecdf`.

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
    statistic = Quantiles(
        COLUMN,
        probabilities,
        bounds=bounds,
        bins=bins,
        grid=grid,
        method=method,
        missing=missing,
        expected_records=expected_records,
    )
    return release(
        statistic,
        trust=Simulation.of(trust).over({COLUMN: values}),
        privacy=privacy,
        adjacency=adjacency,
        source=source,
    )


def boxplot(
    data: Any,
    *,
    privacy: Privacy | None = None,
    bounds: tuple[Bound, Bound] | None = None,
    bins: int = DEFAULT_BINS,
    grid: Grid | str = "linear",
    adjacency: Adjacency = Adjacency.REPLACE,
    trust: TrustOf = Central,
    method: str = "resample",
    curve: Any = DEFAULT_CURVE,
    public_groups: bool | None = None,
    shares: tuple[Rational, ...] = EQUAL_SHARES,
    beyond: int = 0,
    missing: str = "refuse",
    expected_records: int | None = None,
    source: RandomSource | None = None,
) -> Boxplots:
    """Release the boxplot of an array, or one for each of several disjoint arrays.

    Args:
        data: Numbers or dates, shape (n,); one row per person. Or a dictionary of such arrays by the names of
            their groups, where nobody is in two groups. The names are public.
        privacy: The guarantee for all boxes together.
        bounds: Smallest and largest possible value, public; values outside are clipped.
        bins: Number of thresholds, 1 to 2^24.
        grid: "linear", "geometric", "integers", or a `Grid` instead of bounds and bins.
        adjacency: REPLACE (n is public) or ADD_OR_REMOVE (n is private).
        trust: Who would hold the records: a trust model's type or name, such as `Local` or "local", or a `Simulation`.
        method: "resample" (box, whiskers and outliers of a private curve) or "five_numbers".
        curve: How the curve is released, as for `ecdf`.
        public_groups: Whether everybody may know who is in which group, and so the size of each: under REPLACE each
            group then pays on its own, so that all together cost what one does.
        shares: Of the budget, for the lower end, the quartiles and the upper end of "five_numbers".
        beyond: How many records may lie beyond each end of "five_numbers".
        missing: "refuse", "low", "high", or "drop" (ADD_OR_REMOVE only).
        expected_records: A public guess of the number of all records, where that is private.
        source: Where the noise key comes from; the operating system by default.

    Raises:
        ParameterError, DataError: as `release`.

    Privacy:
        `privacy` for the stated adjacency, under the trust model's assumption; a changed group is hidden too unless
        `public_groups`.

    Example:
        >>> import numpy as np, ogive
        >>> rng = np.random.default_rng(1)
        >>> weights = {"north": rng.normal(70, 12, 5_000), "south": rng.normal(74, 12, 5_000)}
        >>> boxes = ogive.boxplot(weights, bounds=(30, 150), privacy=ogive.ApproxDP(1, 1e-6))
        >>> bool(abs(boxes["south"].median - 74) < 2), bool(abs(boxes["north"].records - 5000) < 200)
        (True, True)
    """
    groups = tuple(data) if isinstance(data, dict) else None
    statistic = Boxplot(
        COLUMN,
        bounds,
        by=None if groups is None else GROUP,
        groups=groups,
        bins=bins,
        grid=grid,
        method=method,
        curve=curve,
        public_groups=public_groups,
        shares=shares,
        beyond=beyond,
        missing=missing,
        expected_records=expected_records,
    )
    table = {COLUMN: data} if groups is None else _stacked(data)
    return release(
        statistic,
        trust=Simulation.of(trust).over(table),
        privacy=privacy,
        adjacency=adjacency,
        public=_declared(GROUP, public_groups, adjacency),
        source=source,
    )


def _declared(column: str, public: bool | None, adjacency: Adjacency) -> tuple[str, ...]:
    """The public columns of a release whose caller may say of one that everybody knows it."""
    return (column,) if public and Adjacency(adjacency) is Adjacency.REPLACE else ()


def _stacked(groups: dict[Any, Any]) -> dict[str, Any]:
    """Arrays by group as two columns."""
    arrays = {name: np.asarray(values) for name, values in groups.items()}
    for name, values in arrays.items():
        if values.ndim != 1:
            raise DataError(f"group {name!r} must be an array of one dimension")
    labels = [name for name, values in arrays.items() for _ in range(len(values))]
    return {COLUMN: np.concatenate(list(arrays.values())) if arrays else np.zeros(0), GROUP: labels}


def find_bounds(
    values: Any,
    *,
    privacy: Privacy | None = None,
    base: float = 2.0,
    smallest: float = SMALLEST,
    largest: float = LARGEST,
    false_alarm: float = FALSE_ALARM,
    adjacency: Adjacency = Adjacency.REPLACE,
    trust: TrustOf = Central,
    missing: str = "refuse",
    source: RandomSource | None = None,
) -> BoundsEstimate:
    """Find bounds of an array whose range nobody knows, as a step that is paid for.

    Args:
        values: Numbers, shape (n,); one row per person.
        privacy: The guarantee for the bounds; what is released within them later costs extra.
        base: Ratio of neighboring magnitudes; 2 finds bounds within a factor of two.
        smallest: Smallest magnitude that matters, public.
        largest: Largest magnitude that matters, public; values beyond it count as it.
        false_alarm: Largest probability that the bounds reach to an order of magnitude without records.
        adjacency: REPLACE (n is public) or ADD_OR_REMOVE (n is private).
        trust: Who would hold the records: a trust model's type or name, such as `Local` or "local", or a `Simulation`.
        missing: "refuse", "low", "high", or "drop" (ADD_OR_REMOVE only).
        source: Where the noise key comes from; the operating system by default.

    Raises:
        ParameterError, DataError: as `release`.

    Privacy:
        `privacy` for the stated adjacency, under the trust model's assumption.

    Example:
        >>> import numpy as np, ogive
        >>> incomes = np.random.default_rng(1).lognormal(10, 0.5, size=50_000)
        >>> found = ogive.find_bounds(incomes, privacy=ogive.PureDP("0.1"))
        >>> bool(0 < found.low < np.quantile(incomes, 0.01) and np.quantile(incomes, 0.99) < found.high < 2**20)
        True
    """
    statistic = Bounds(COLUMN, base=base, smallest=smallest, largest=largest, false_alarm=false_alarm, missing=missing)
    return release(
        statistic,
        trust=Simulation.of(trust).over({COLUMN: values}),
        privacy=privacy,
        adjacency=adjacency,
        source=source,
    )


def hosmer_lemeshow(
    probabilities: Any,
    labels: Any,
    *,
    groups: int = DEFAULT_GROUPS,
    privacy: Privacy | None = None,
    positive: Any = 1,
    negative: Any = None,
    bins: int = DEFAULT_BINS,
    adjacency: Adjacency = Adjacency.REPLACE,
    trust: TrustOf = Central,
    method: str = "auto",
    split: Rational | None = None,
    form: str = "difference",
    constants: str = "exact",
    floor: float = 1.0,
    df: int | str | None = None,
    missing: str = "refuse",
    confidence_level: float = 0.95,
    source: RandomSource | None = None,
) -> Calibration:
    """Release Hosmer and Lemeshow's test of predicted probabilities against labels, with its groups.

    Args:
        probabilities: Predicted probabilities of the positive class, in [0, 1], shape (n,); one row per person. The
            model that made them must be fixed before these records are seen.
        labels: Numbers, truth values or texts of two classes, shape (n,).
        groups: Wanted number of groups of about equally many records, from 2.
        privacy: The guarantee for everything that is published.
        positive: Value or values of the positive class.
        negative: Value or values of the negative class; left out, 0 if the positive class is 1, else the one
            other value.
        bins: Thresholds in [0, 1] among which the groups' ends are chosen.
        adjacency: REPLACE (n is public) or ADD_OR_REMOVE (n is private).
        trust: Who would hold the records: a trust model's type or name, such as `Local` or "local", or a `Simulation`.
        method: How the probabilities' distribution is measured, as for `ecdf`.
        split: Share of the privacy for the groups' ends; None chooses it by predicted error.
        form: "difference" or "counts"; see `HosmerLemeshow`.
        constants: "exact", or "paper" for reproduction.
        floor: Smallest expected count to divide by.
        df: Degrees of freedom of the chi-square reference; None for one a group, "fitted" for two fewer.
        missing: "refuse", "low" or "high": what a missing probability means.
        confidence_level: Of the groups' intervals, all together.
        source: Where the noise key comes from; the operating system by default.

    Raises:
        ParameterError, DataError: as `release`.

    Privacy:
        `privacy` for the stated adjacency, under the trust model's assumption.

    Example:
        >>> import numpy as np, ogive
        >>> rng = np.random.default_rng(1)
        >>> predicted = rng.beta(1, 6, size=20_000)
        >>> fit = ogive.hosmer_lemeshow(predicted, rng.random(20_000) < predicted**2, privacy=ogive.PureDP(1))
        >>> fit.p_value < 0.01, len(fit.groups)
        (True, 10)
    """
    statistic = HosmerLemeshow(
        "probability",
        "label",
        groups=groups,
        positive=positive,
        negative=negative,
        bins=bins,
        method=method,
        split=split,
        form=form,
        constants=constants,
        floor=floor,
        df=df,
        missing=missing,
        confidence_level=confidence_level,
    )
    holder = Simulation.of(trust).over({"probability": probabilities, "label": labels})
    return release(statistic, trust=holder, privacy=privacy, adjacency=adjacency, source=source)


def roc(
    scores: Any,
    labels: Any,
    *,
    privacy: Privacy | None = None,
    bounds: tuple[Bound, Bound] | None = None,
    bins: int = DEFAULT_BINS,
    grid: Grid | str = "linear",
    adjacency: Adjacency = Adjacency.REPLACE,
    trust: TrustOf = Central,
    positive: LabelValue | tuple[LabelValue, ...] = 1,
    negative: LabelValue | tuple[LabelValue, ...] | None = None,
    positive_when: str = "high",
    public_labels: bool | None = None,
    budget: str = "joint",
    method: str | Strategy = "auto",
    smooth: str = "auto",
    missing: str = "refuse",
    outside: str = "refuse",
    confidence_level: float = 0.95,
    source: RandomSource | None = None,
) -> RocEstimate:
    """Release the ROC curve of scores for two classes, with the area under it.

    Args:
        scores: Numbers or dates, shape (n,); one row per person.
        labels: Class of each record, shape (n,): numbers, truth values or text.
        privacy: The guarantee for both class curves and everything read off them.
        bounds: Smallest and largest possible score, public.
        bins: Number of thresholds, 1 to 2^24.
        grid: "linear", "geometric", "integers", or a `Grid` instead of bounds and bins.
        adjacency: REPLACE (n is public) or ADD_OR_REMOVE (n is private).
        trust: Who would hold the records: a trust model's type or name, such as `Local` or "local", or a `Simulation`.
        positive: Value or values of the positive class.
        negative: Value or values of the negative class; left out, 0 if the positive class is 1, else the one
            other value.
        positive_when: Which scores speak for the positive class, "high" or "low".
        public_labels: Whether everybody may know each record's class; the guarantee then says so.
        budget: "joint", or "split" for the paper's two releases at half of the budget each.
        method: As for `ecdf`.
        smooth: As for `ecdf`.
        missing: "refuse", "low" or "high".
        outside: What a score outside the bounds means: "refuse" or "clip".
        confidence_level: Of the area's interval that is printed.
        source: Where the noise key comes from; the operating system by default.

    Raises:
        ParameterError, DataError: as `release`.

    Privacy:
        `privacy` for the stated adjacency, under the trust model's assumption; a changed label is hidden too unless
        `public_labels`.

    Example:
        >>> import numpy as np, ogive
        >>> rng = np.random.default_rng(1)
        >>> sick = rng.random(20_000) < 0.3
        >>> risk = 1 / (1 + np.exp(-rng.normal(1.2 * sick)))
        >>> result = ogive.roc(risk, sick, bounds=(0, 1), privacy=ogive.PureDP(1))
        >>> bool(abs(result.auc - 0.80) < 0.02)
        True
    """
    statistic = Roc(
        SCORE,
        LABEL,
        bounds,
        bins=bins,
        grid=grid,
        positive=positive,
        negative=negative,
        positive_when=positive_when,
        public_labels=public_labels,
        budget=budget,
        method=method,
        smooth=smooth,
        missing=missing,
        outside=outside,
        confidence_level=confidence_level,
    )
    return release(
        statistic,
        trust=Simulation.of(trust).over({SCORE: scores, LABEL: labels}),
        privacy=privacy,
        adjacency=adjacency,
        public=_declared(LABEL, public_labels, adjacency),
        source=source,
    )


def ustatistic(
    data: Any,
    kernel: Any = "gini",
    *,
    privacy: Privacy | None = None,
    labels: Any = None,
    bounds: Any = None,
    trust: TrustOf = Central,
    bins: Any = "auto",
    grid: Any = "linear",
    categories: Any = None,
    adjacency: Adjacency = Adjacency.REPLACE,
    positive: Any = 1,
    negative: Any = None,
    public_labels: bool | None = None,
    method: str | HierarchyAuc | Paired = "auto",
    matrix: str = "average",
    rounding: str = "simple",
    missing: str = "refuse",
    outside: str = "refuse",
    confidence_level: float = 0.95,
    expected_records: int | None = None,
    source: RandomSource | None = None,
) -> UstatisticEstimate:
    """Release a statistic of pairs of records: Gini, Kendall's tau, an AUC, collision entropy, any pairwise loss.

    Args:
        data: Numbers or categories, shape (n,); for a kernel of several columns, in its order: a tuple or list of such
            arrays, a dictionary of them, or rows, of shape (n, columns). One row per person.
        kernel: "gini", "gini_coefficient", "variance", "collision", "kendall", "kendall_b", "gamma", "auc", "vus", or a
            measure or kernel of `ogive.kernels`.
        privacy: The guarantee; None only under `Clear`, which has none.
        labels: For an AUC, the class of each record, shape (n,), beside the scores.
        bounds: Smallest and largest possible value, public: one pair, or one for each column.
        trust: Who would hold the records: a trust model's type or name, such as `Local` or "local", or a `Simulation`.
        bins: "auto" or how many bins values are rounded to, where that is needed.
        grid: "linear", "geometric", "integers", or a `Grid` instead of bounds and bins.
        categories: Values of a column that is no number, public; a list, or lists by column name.
        adjacency: REPLACE (n is public) or ADD_OR_REMOVE (n is private; not with local reports).
        positive: Value or values of the positive class of an AUC.
        negative: Value or values of the negative class.
        public_labels: Whether everybody may know each record's class; the guarantee then says so. "vus" and
            method "hierarchy" need it.
        method: "auto", "kernel", "cells", "krr", "unary", "haar", "hierarchy", "paired", a `HierarchyAuc`
            or a `Paired`; see `Ustatistic`.
        matrix: "average" or "midpoint".
        rounding: "simple" or "randomized".
        missing: "refuse", "low" or "high".
        outside: What a number outside the bounds means: "refuse" or "clip".
        confidence_level: Of the interval that is printed.
        expected_records: A public guess of n where it is private.
        source: Where the noise key comes from; the operating system by default.

    Raises:
        ParameterError, DataError: as `release`.
        UnsupportedError: the trust model cannot serve the method.

    Privacy:
        `privacy` for the stated adjacency, under the trust model's assumption; a changed label is hidden too unless
        `public_labels`.

    Example:
        >>> import numpy as np, ogive
        >>> incomes = np.random.default_rng(1).gamma(2, 10_000, size=20_000)
        >>> gini = ogive.ustatistic(incomes, "gini_coefficient", bounds=(0, 200_000), privacy=ogive.PureDP(1))
        >>> bool(abs(gini.value - 0.375) < 0.02)
        True
    """
    table = _columns(data, labels)
    statistic = Ustatistic(
        tuple(table),
        kernel,
        bounds=bounds,
        bins=bins,
        grid=grid,
        categories=categories,
        positive=positive,
        negative=negative,
        public_labels=public_labels,
        method=method,
        matrix=matrix,
        rounding=rounding,
        missing=missing,
        outside=outside,
        confidence_level=confidence_level,
        expected_records=expected_records,
    )
    holder = Simulation.of(trust)
    if statistic.classes is not None and not public_labels and holder.private:
        raise ParameterError(
            f"{statistic.measure.name} counts the records of every class exactly; "
            "say public_labels=True if everybody may know each record's class"
        )
    return release(
        statistic,
        trust=holder.over(table),
        privacy=privacy,
        adjacency=adjacency,
        public=_declared(list(table)[-1], public_labels, adjacency),
        source=source,
    )


def _columns(data: Any, labels: Any) -> dict[str, Any]:
    """Arrays by the names that they are given where they have none."""
    if isinstance(data, dict):
        table = dict(data)
    elif isinstance(data, tuple) or _is_list_of_arrays(data):
        table = {f"{COLUMN}_{number + 1}": column for number, column in enumerate(data)}
    else:
        try:
            array = np.asarray(data)
        except ValueError:
            raise DataError("every row of data must have the same number of values") from None
        if array.ndim > 2:
            raise DataError(f"data must be an array of one or two dimensions, got {array.ndim}")
        columns = [data] if array.ndim < 2 else list(array.T)
        names = [COLUMN] if len(columns) == 1 else [f"{COLUMN}_{number + 1}" for number in range(len(columns))]
        table = dict(zip(names, columns, strict=True))
    if not table:
        raise DataError("data has no columns; give at least one array")
    if labels is not None:
        if LABEL in table:
            raise ParameterError(f"data has a column {LABEL!r} already; leave out labels=")
        table[LABEL] = labels
    return table


def _is_list_of_arrays(data: Any) -> bool:
    """Whether these are columns; a list of lists holds rows."""
    return isinstance(data, list) and bool(data) and all(getattr(each, "shape", ()) != () for each in data)
