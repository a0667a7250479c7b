"""Classes of labels where no party sees all records; devices load it, so it needs neither tables nor pyarrow."""

from __future__ import annotations

from ogive.columns import Label
from ogive.errors import ParameterError
from ogive.queries import Query
from ogive.records.contributions import columns_of


def check_classes_named(query: Query, who: str) -> None:
    """Refuse a label whose other class nobody named: owners of single records, or of some, do not see what it is."""
    for column in columns_of(query.aggregate):
        if isinstance(column, Label) and column.negative is None:
            other = "`negative='no'`" if isinstance(column.positive[0], str) else "`negative=0`"
            raise ParameterError(
                f"{who} cannot compare which other class they mean; say the negative class, for example {other}"
            )
