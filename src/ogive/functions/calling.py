"""What the functions on arrays have in common: the names of their columns, and the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, Privacy
from ogive.records import Records
from ogive.records.missing_words import NaValues
from ogive.releasing import release
from ogive.statistics.base import EstimateT, Statistic
from ogive.trust import Simulation, TrustOf

COLUMN, GROUP = "value", "group"
SCORE, PROBABILITY, LABEL = "score", "probability", "label"


def on_columns(
    statistic: Statistic[EstimateT],
    table: Mapping[str, Any],
    *,
    privacy: Privacy | None,
    adjacency: Adjacency,
    trust: TrustOf,
    source: RandomSource | None,
    na_values: NaValues,
    batch: str | None = None,
    public: Sequence[str] = (),
) -> EstimateT:
    """One release of arrays by name, whoever would hold them."""
    holder = Simulation.of(trust).over(Records.of(table, na_values=na_values))
    return release(
        statistic, trust=holder, privacy=privacy, adjacency=adjacency, batch=batch, public=public, source=source
    )


def declared(column: str, public: bool | None, adjacency: Adjacency) -> tuple[str, ...]:
    """The public columns of a release whose caller may say of one that everybody knows it."""
    return (column,) if public and Adjacency(adjacency) is Adjacency.REPLACE else ()
