"""Which queries a trust model serves, and the reason where it does not serve one.

A query says of what kind it is, a trust model which kinds it serves. This module alone knows the words for every
combination of the two, so that no trust model names queries of another.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ogive.queries import Kind, Query

REPORTABLE = (
    "what owners can report: ecdf and quantiles with `method='reports'` or `'histogram'`, "
    "boxplot with `method='resample'`, or ustatistic, whose kernel auc is the area under a ROC curve"
)
"""What would work where nobody sees records."""

_ELSEWHERE: dict[Kind, str] = {
    "reports": "these are reports that every record's owner randomizes; use trust local, or a method without reports",
    "pairs": "these are values that pairs of people compute between themselves; use trust pairs, or another method",
}
_MET = "pairs of people answer ustatistic alone, whose kernel auc is the area under a ROC curve"
_INSTEAD = {"sparse_vector": ("five_numbers", "resample"), "kernel": ("kernel", "cells")}
"""For what is measured, the name by which it was asked for, and the method that adds up."""


def unserved(query: Query, serves: Collection[Kind], *, limits: str = "", instead: str | None = None) -> str | None:
    """Why a query is of no kind that is served, and what would work, or None if it is of one.

    Args:
        query: What is asked.
        serves: The kinds that are served.
        limits: A clause that says why no other kind is, for example "secure aggregation only adds up".
        instead: What would work, where that does not follow from the kinds.
    """
    if query.kind in serves:
        return None
    if instead is None and (elsewhere := _ELSEWHERE.get(query.kind)) is not None and "pairs" not in serves:
        return elsewhere
    if "linear" in serves:
        return _not_linear(query, limits)
    if "pairs" in serves:
        return f"{query.method} is nothing that two people compute between themselves; {_MET}; or use trust central"
    needs = f"{query.method} needs somebody who sees records" + (f", and {limits}" if limits else "")
    return f"{needs}; {instead or f'use trust central, or {REPORTABLE}'}"


def _not_linear(query: Query, limits: str) -> str:
    """Why those who only add up cannot answer a query that is not linear, and what would work."""
    from ogive.kernels.in_order import InOrder  # most queries are not about pairs of records
    from ogive.queries import KernelQuery

    asked, adding_up = _INSTEAD.get(query.method, (query.method, "path"))
    reason = f"{asked} needs all records in one place, and {limits}; use trust central"
    if isinstance(query, KernelQuery) and any(isinstance(kernel, InOrder) for kernel in query.measure.kernels):
        return reason  # of a record of each class nothing adds up
    return f"{reason}, or a method whose answers add up, such as `method='{adding_up}'`"
