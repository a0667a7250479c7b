"""Numbers and shares of the records at some places of a table, as readings of what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ogive.statistics.sums.measured import (
    LinearForm,
    Measured,
    Reading,
    places_of,
    records_at,
    reported_variance,
)


def records_of(measured: Measured, places: Sequence[int]) -> LinearForm:
    """The number of records at some places."""
    forms = [records_at(measured, place) for place in places]
    coefficients = tuple(math.fsum(each) for each in zip(*(form.coefficients for form in forms), strict=True))
    return LinearForm(coefficients, math.fsum(form.constant for form in forms))


def count_reading(measured: Measured, places: Sequence[int]) -> Reading:
    """How many of these records are at some places: noise alone."""
    total = measured.total

    def reporting(count: float) -> float:
        return reported_variance(measured, [(1.0, len(places), min(1.0, count / max(1, total or 1)))])

    return Reading(
        measured,
        records_of(measured, places),
        LinearForm((0.0,) * len(measured.values), 1.0),
        low=0.0,
        high=math.inf if total is None else float(total),
        reporting=None if measured.epsilon is None else reporting,
    )


def share_reading(
    measured: Measured, places: Sequence[int], among: Sequence[int] | None = None, *, rows_of_one: int
) -> Reading:
    """Which share of the records at some places, or of all records, are at some of these: noise and sampling.

    Args:
        measured: The counts.
        places: Whose share it is.
        among: The share of these; of all records by default.
        rows_of_one: Most records of one person, which may all be alike.
    """
    whole = measured.records if among is None else records_of(measured, among)
    size, rest = measured.at(whole), (places_of(measured) if among is None else len(among)) - len(places)

    def reporting(share: float) -> float:
        if among is None:
            return reported_variance(measured, [(1.0, len(places), share)])
        part = min(1.0, max(0.0, size) / max(1, measured.total or 1))
        return reported_variance(measured, [(1 - share, len(places), share * part), (-share, rest, (1 - share) * part)])

    return Reading(
        measured,
        records_of(measured, places),
        whole,
        low=0.0,
        high=1.0,
        sampling=lambda share: rows_of_one * max(0.0, size) * share * (1 - share),
        reporting=None if measured.epsilon is None else reporting,
    )
