"""The first table of a report, of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, Privacy
from ogive.records import Records
from ogive.records.missing_words import NaValues
from ogive.releasing.functions import declared
from ogive.releasing.release import release
from ogive.statistics.base import takes_options_of
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.describe.statistic import Describe, DescribeOptions
from ogive.trust import Central, Simulation, TrustOf


@takes_options_of(Describe, DescribeOptions)
def describe(
    table: Any,
    columns: Sequence[str] | str = (),
    *,
    privacy: Privacy | None = None,
    adjacency: Adjacency = Adjacency.REPLACE,
    trust: TrustOf = Central,
    source: RandomSource | None = None,
    na_values: NaValues = (),
    **options: Unpack[DescribeOptions],
) -> DescribeEstimate:
    """Release the first table of a report: every variable described, of all records or of each of several groups.

    Args:
        table: Anything `Records.of` reads: a file, a data frame, a dictionary of arrays; one row per person.
        columns: The variables, in the order of the table; by default all columns but that of groups.
        privacy: The guarantee for the whole table.
        adjacency: REPLACE (the number of records is public) or ADD_OR_REMOVE (it is private).
        trust: Who would hold the records: a trust model's type or name, or a `Simulation`.
        source: Where the noise key comes from; the operating system by default.
        na_values: Texts and numbers that mark a missing value of a measured column, besides words such as NA.

    Raises:
        ParameterError, DataError: as `release`.

    Privacy:
        `privacy` for the stated adjacency, under the trust model's assumption. What kinds of values the columns hold
        counts as public; of a text file it is guessed from the cells, unless it is declared.

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
    statistic = Describe((columns,) if isinstance(columns, str) else tuple(columns), **options)
    public = () if statistic.by is None else declared(statistic.by, statistic.public_groups, adjacency)
    holder = Simulation.of(trust).over(Records.of(table, na_values=na_values))
    return release(statistic, trust=holder, privacy=privacy, adjacency=adjacency, public=public, source=source)
