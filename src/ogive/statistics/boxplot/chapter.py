"""The chapter of boxplots: quartiles, whiskers and outliers of each group."""

from __future__ import annotations

from ogive.errors import ParameterError
from ogive.html import words
from ogive.html.axis import plain_number, show
from ogive.html.chapter import Chapter, Picture
from ogive.html.chart_box import MOST_ROWS, BoxChart, Row
from ogive.html.markup import Html
from ogive.html.parts import Row as TableRow
from ogive.html.parts import fine, say, table
from ogive.statistics.boxplot.boxes import NUMBERS, Box, Interval
from ogive.statistics.boxplot.estimate import Boxplots
from ogive.statistics.boxplot.text import PERCENT, alone, between

_HEAD = ("Low end", "First quartile", "Median", "Third quartile", "High end", "Beyond")


def chapter(boxplots: Boxplots, truth: Boxplots | None) -> Chapter:
    """What boxes say.

    Args:
        boxplots: As released.
        truth: The boxes of the exact records, of the same groups, or None.

    Raises:
        ParameterError: the truth is private, or of another grid or other groups.
    """
    if truth is not None:
        if not isinstance(truth, Boxplots) or truth.private:
            raise ParameterError(f"the truth for {boxplots.column} must be exact boxes of the same groups")
        boxplots.errors(truth)
    assert boxplots.provenance is not None
    shown = truth if boxplots.private else None
    about = "" if boxplots.by is None else f" by {boxplots.by}"
    return Chapter(
        title=f"Boxplot of {boxplots.column}{about}",
        subject=boxplots.column,
        provenance=boxplots.provenance,
        headline=headline(boxplots),
        error=_error(boxplots),
        released=_released(boxplots),
        pictures=(_picture(boxplots, shown),),
        tables=(_table("Boxes", boxplots, _read(boxplots)), None if shown is None else _table("True boxes", shown)),
        details=(
            *(() if boxplots.by is None else (("Groups", "public" if boxplots.public_groups else "private"),)),
            ("Boxes", "read off one private curve" if boxplots.curves else "five numbers, found one by one"),
            (
                "Thresholds",
                f"{boxplots.grid.spacing}, {boxplots.grid.bins:,} from {_at(boxplots, boxplots.grid.low)} "
                f"to {_at(boxplots, boxplots.grid.high)}",
            ),
        ),
        warning=_useless(boxplots),
        exact=truth is not None,
    )


def headline(boxplots: Boxplots) -> str:
    """The release in a sentence or two."""
    found = [box for box in boxplots.boxes if box.told]
    if not found:
        return f"Noise hides the distribution of {boxplots.column}: there is no box to draw."
    if boxplots.by is None:
        box = found[0]
        return (
            f"The median {boxplots.column} is {_number(boxplots, box, 'median')} ({_interval(boxplots, box)}"
            f"interquartile range {_number(boxplots, box, 'q1')} to {_number(boxplots, box, 'q3')})."
        )
    low, high = (pick(found, key=lambda box: box.median) for pick in (min, max))
    if len(found) == 1 or low.median == high.median:
        median = _number(boxplots, low, "median")
        return f"The median {boxplots.column} is {median} in every group that has enough records."
    said = (
        f"The median {boxplots.column} is lowest where {boxplots.by} is {low.group}, "
        f"{_number(boxplots, low, 'median')}, and highest where it is {high.group}, "
        f"{_number(boxplots, high, 'median')}"
    )
    below, above = low.intervals, high.intervals
    if boxplots.private and below is not None and above is not None and above.median.low <= below.median.high:
        return f"{said}; their intervals overlap, so that the order may be chance."
    return f"{said}."


def _interval(boxplots: Boxplots, box: Box) -> str:
    """The interval of the median in words that something follows; nothing where there is none."""
    return "" if box.intervals is None else f"{PERCENT} CI {_between(boxplots, box.intervals.median)}; "


def _between(boxplots: Boxplots, interval: Interval) -> str:
    return " to ".join(map(words.minus, between(boxplots, interval).split(" to ")))


def _number(boxplots: Boxplots, box: Box, name: str) -> str:
    return words.minus(alone(boxplots, box, name))


def _at(boxplots: Boxplots, number: float) -> str:
    return show(boxplots.grid, number)


def _name(box: Box) -> str:
    return "All records" if box.group is None else str(box.group)


def _picture(boxplots: Boxplots, truth: Boxplots | None) -> Picture:
    boxes, exact = boxplots.boxes[:MOST_ROWS], () if truth is None else truth.boxes[:MOST_ROWS]
    rows = tuple(_row(boxplots, place) for place in range(len(boxes)))
    legend = [("box", "Released box" if boxplots.private else "Exact box")]
    if exact:
        legend.append(("true-box", "True box of these records"))
    if any(row is not None and row.intervals for row in rows):
        legend.append(("interval", f"{PERCENT} intervals for Q1 (top), median and Q3 (bottom) of the population"))
    summary = f"A box for each group of {boxplots.column}. {headline(boxplots)} " + " ".join(
        "{}: whiskers from {} to {}, quartiles {}, {} and {}.".format(
            _name(box), *(_number(boxplots, box, name) for name in ("low", "high", "q1", "median", "q3"))
        )
        for box in boxes
        if box.told
    )
    chart = BoxChart(
        grid=boxplots.grid,
        label=boxplots.column,
        names=tuple(_name(box) for box in boxes),
        boxes=rows,
        truths=() if truth is None else tuple(_row(truth, place) for place in range(len(exact))),
        summary=summary,
        legend=tuple(legend),
    )
    left = len(boxplots.boxes) - len(boxes)
    return Picture(chart, note=f"{left:,} more groups are in the table." if left else None)


def _row(boxplots: Boxplots, place: int) -> Row | None:
    box = boxplots.boxes[place]
    return Row(box.numbers, boxplots.dots(place), box.intervals or ()) if box.told else None


def _read(boxplots: Boxplots) -> str:
    flat = [_name(box) for box in boxplots.boxes if box.flat and box.told]
    said = "Half of a group's records lie between its quartiles: the interquartile range."
    if any(box.intervals for box in boxplots.boxes):
        said += (
            f" In brackets are {PERCENT} confidence intervals, which count noise and sampling: with that confidence "
            "they hold the quartiles and the median of a group's population, all three."
        )
    if boxplots.curves:
        said += " Beyond is the estimated number of records below and above the whiskers."
    if flat:
        said += f" Flat, because half of the records have about the same value: {', '.join(flat)}."
    return said


def _table(caption: str, boxplots: Boxplots, about: str | None = None) -> Html:
    rows: list[TableRow] = []
    for box in boxplots.boxes:
        if not box.told:
            known = not boxplots.private or boxplots.public_groups
            rows.append((_name(box), ["no records" if known else "too noisy", *[""] * (len(_HEAD) - 1)]))
            continue
        known = box.below is not None and box.above is not None
        beyond = f"{plain_number(box.below or 0)} and {plain_number(box.above or 0)}" if known else "not shown"
        rows.append((_name(box), [*(_cell(boxplots, box, name) for name in NUMBERS), beyond]))
    return table(caption, ("Group" if boxplots.by is None else boxplots.by, *_HEAD), rows, about)


def _cell(boxplots: Boxplots, box: Box, name: str) -> str:
    number = _number(boxplots, box, name)
    interval = getattr(box.intervals, name, None)
    return number if interval is None else f"{number} ({_between(boxplots, interval)})"


def _error(boxplots: Boxplots) -> tuple[Html, ...]:
    if not boxplots.private:
        return (say("The values are exact for these records, up to the spacing of the thresholds."),)
    if boxplots.curves:
        counted = ", and their intervals count it" if any(box.intervals for box in boxplots.boxes) else ""
        return (
            say(
                f"Noise affects quartiles and medians least{counted}. The ends of whiskers and the numbers of records "
                "beyond them depend on few records and have larger errors."
            ),
            fine("ogive plan predicts these errors before anything is spent."),
        )
    return (
        say(
            "Each number was chosen by noisy counts. A quartile may be off by some ranks, and either end may lie well "
            "inside or outside the outermost records."
        ),
        fine("ogive plan predicts these errors before anything is spent."),
    )


def _released(boxplots: Boxplots) -> tuple[Html, ...]:
    ends = f"{_at(boxplots, boxplots.grid.low)} to {_at(boxplots, boxplots.grid.high)}"
    who = (
        f"of {boxplots.column}"
        if boxplots.by is None
        else f"of {boxplots.column} in each of {len(boxplots.boxes):,} groups"
    )
    if boxplots.curves:
        what = (
            f"The whole distribution function {who}. Boxes, whiskers and dots are computed from it at no further cost. "
            "The dots are synthetic outliers: they follow from the private curve, and none of them is a record."
        )
    else:
        what = f"Five numbers {who}: both ends and the three quartiles. Records beyond the ends are not shown."
    found = (say(what), fine(f"Public bounds: {ends}. Values outside are clipped to the nearest bound."))
    if not (boxplots.private and boxplots.public_groups):
        return found
    known = "The group of each record is public, and so is the number of records in each group: they have no noise."
    return (*found, say(known))


def _useless(boxplots: Boxplots) -> str | None:
    if not boxplots.private or any(box.told for box in boxplots.boxes):
        return None
    return "The noise is larger than the number of records. Use a larger privacy budget or more records."
