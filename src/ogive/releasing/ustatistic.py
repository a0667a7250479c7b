"""A statistic of pairs of records of one or several arrays."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ogive.errors import DataError, ParameterError, quoted
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, Privacy
from ogive.records.missing_words import NaValues
from ogive.releasing.functions import COLUMN, LABEL, declared, on_columns
from ogive.statistics.base import takes_options_of
from ogive.statistics.ustatistic.estimate import UstatisticEstimate
from ogive.statistics.ustatistic.statistic import Ustatistic, UstatisticOptions
from ogive.trust import Central, Simulation, TrustOf


@takes_options_of(Ustatistic, UstatisticOptions)
def ustatistic(
    data: Any,
    kernel: Any = "gini",
    *,
    labels: Any = None,
    privacy: Privacy | None = None,
    adjacency: Adjacency = Adjacency.REPLACE,
    trust: TrustOf = Central,
    source: RandomSource | None = None,
    na_values: NaValues = (),
    **options: Unpack[UstatisticOptions],
) -> UstatisticEstimate:
    """Release a statistic of pairs of records: Gini, Kendall's tau, an AUC, collision entropy, any pairwise loss.

    Args:
        data: Numbers or categories, shape (n,); for a kernel of several columns, in its order: a tuple or list of such
            arrays, a dictionary of them, or rows, of shape (n, columns). One row per person.
        kernel: "gini", "gini_coefficient", "variance", "collision", "kendall", "kendall_b", "gamma", "auc", "vus", or a
            measure or kernel of `ogive.kernels`.
        privacy: The guarantee; None only under `Clear`, which has none.
        labels: For an AUC, the class of each record, shape (n,), beside the scores.
        trust: Trust model: its type or name, such as `Local` or "local", or a `Simulation`.
        adjacency: REPLACE (n is public) or ADD_OR_REMOVE (n is private; not with local reports).
        source: Source of the noise key; by default the operating system.
        na_values: Texts and numbers that mark a missing value of a measured column, besides words such as NA.

    Raises:
        ParameterError, DataError: as `release`.
        UnsupportedError: the trust model cannot serve the method.

    Privacy:
        `privacy` for the stated adjacency, under the trust model's assumption. The label is protected too, unless
        `public_labels`.

    Example:
        >>> import numpy as np, ogive
        >>> incomes = np.random.default_rng(1).gamma(2, 10_000, size=20_000)
        >>> gini = ogive.ustatistic(incomes, "gini_coefficient", bounds=(0, 200_000), privacy=ogive.PureDP(1))
        >>> bool(abs(gini.value - 0.375) < 0.02)
        True
    """
    table = _columns(data, labels)
    statistic = Ustatistic(tuple(table), kernel, **options)
    known = options.get("public_labels")
    if statistic.classes is not None and not known and Simulation.of(trust).private:
        raise ParameterError(
            f"{statistic.measure.name} counts the records of every class exactly; use `public_labels=True` if each "
            "record's class is public"
        )
    public = declared(list(table)[-1], known, adjacency)
    return on_columns(statistic, table, privacy, adjacency, trust, source, na_values, public=public)


def _columns(data: Any, labels: Any) -> dict[str, Any]:
    """Arrays by the names that they are given where they have none."""
    if isinstance(data, dict):
        table = dict(data)
    elif isinstance(data, tuple) or _is_list_of_arrays(data):
        table = {f"{COLUMN}_{number + 1}": column for number, column in enumerate(data)}
    else:
        try:
            array = data if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
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
            raise ParameterError(f"data has a column {quoted(LABEL)} already; leave out `labels=`")
        table[LABEL] = labels
    return table


def _is_list_of_arrays(data: Any) -> bool:
    """Whether these are columns; a list of lists holds rows."""
    return isinstance(data, list) and bool(data) and all(getattr(each, "shape", ()) != () for each in data)
