"""The chapter of bounds: between which values a column certainly lies, found without looking at single records."""

from __future__ import annotations

from ogive.errors import ParameterError
from ogive.html import words
from ogive.html.axis import plain_number, show
from ogive.html.chapter import Chapter
from ogive.html.markup import Html
from ogive.html.parts import Row, fine, say, strong, table
from ogive.statistics.bounds.estimate import BoundsEstimate


def chapter(found: BoundsEstimate, truth: BoundsEstimate | None) -> Chapter:
    """What bounds say.

    Args:
        found: As released.
        truth: The bounds of the exact counts, on the same magnitudes, or None.

    Raises:
        ParameterError: the truth is private or on other magnitudes.
    """
    if truth is not None and not (
        isinstance(truth, BoundsEstimate) and truth.strategy is None and truth.grid == found.grid
    ):
        raise ParameterError(f"the truth for {found.column} must be exact bounds on the same magnitudes")
    assert found.provenance is not None
    private = found.strategy is not None
    return Chapter(
        title=f"Bounds of {found.column}",
        subject=found.column,
        provenance=found.provenance,
        headline=_headline(found),
        error=_error(found),
        released=_released(found),
        tables=(_table(found, truth if private else None),),
        details=(("Magnitudes", f"{found.grid.bins:,} bins, each a fixed factor above the last"),),
        warning=_useless(found),
        exact=truth is not None,
    )


def _headline(found: BoundsEstimate) -> str:
    if not found.defined:
        return f"Noise hides how large {found.column} is: no order of magnitude certainly holds records."
    records = "records" if found.total is None else f"of the {found.total:,} records"
    ends = f"{show(found.grid, found.low)} to {show(found.grid, found.high)}"
    if found.strategy is None:
        return f"All {records} have {found.column} from {ends}, to the next order of magnitude."
    outside = found.records_outside or 0
    most = "None" if outside == 0 else f"At most {outside:,}"
    sure = words.percent(found.confidence_level)
    return f"{found.column} lies from {ends}. {most} {records} lie outside, with {sure} confidence."


def _error(found: BoundsEstimate) -> tuple[Html, ...]:
    if found.strategy is None:
        return (say("Not at all for these records, up to the width of an order of magnitude."),)
    if not found.defined:
        return (say("Nothing can be said: there are no bounds."),)
    sure = words.percent(1 - found.false_alarm)
    return (
        say(
            strong(f"At most {found.records_outside or 0:,} records"),
            f" lie outside, with {words.percent(found.confidence_level)} confidence.",
        ),
        say(f"Both ends lie in magnitudes that hold records, with {sure} confidence."),
        fine("The bounds lie on magnitudes fixed beforehand; they are not the smallest and largest value themselves."),
    )


def _released(found: BoundsEstimate) -> tuple[Html, ...]:
    return (
        say(
            f"About how many records {found.column} puts into each of {found.grid.bins:,} orders of magnitude, and "
            "the outermost ones that surely hold some. Other releases may use these bounds at no further cost."
        ),
        fine(f"A magnitude counts as filled from {plain_number(found.threshold)} records on, noise included."),
    )


def _table(found: BoundsEstimate, truth: BoundsEstimate | None) -> Html | None:
    if not found.defined:
        return None
    head = ["Bound", "Released", *(["True"] if truth is not None else [])]
    rows: list[Row] = []
    for name, end in (("Smallest", "low"), ("Largest", "high")):
        exact = [] if truth is None else [show(found.grid, getattr(truth, end))]
        rows.append((name, [show(found.grid, getattr(found, end)), *exact]))
    return table("Bounds", head, rows)


def _useless(found: BoundsEstimate) -> str | None:
    if found.defined or found.strategy is None:
        return None
    return "There are too few records for this price. Grant more privacy loss, or use a larger base."
