"""What was asked for some sums, so that what they say of their price can be checked."""

from __future__ import annotations

from ogive.columns import Domain
from ogive.queries import Cells, CellsQuery, MomentsQuery
from ogive.statistics.sums.measured import Measured


def query_of(measured: Measured, domain: Domain) -> CellsQuery | MomentsQuery | None:
    """What was asked, with the noise that there was; None where there was none, or owners were asked."""
    cells = Cells(domain)
    if measured.law is None:
        return None
    if measured.form == "cells":
        return CellsQuery(cells, measured.law, measured.bits)
    assert measured.weights is not None
    return MomentsQuery(cells, measured.weights, measured.law, measured.bits)
