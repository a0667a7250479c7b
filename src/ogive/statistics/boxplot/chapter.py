"""The chapter of boxplots: where the middle half of each group lies, how far the rest reaches, and what is beyond."""

from __future__ import annotations

from ogive.errors import ParameterError
from ogive.html.axis import plain_number, show
from ogive.html.chapter import Chapter, Picture
from ogive.html.chart_box import MOST_ROWS, BoxChart, Row
from ogive.html.markup import Html
from ogive.html.parts import Row as TableRow
from ogive.html.parts import fine, say, table
from ogive.statistics.boxplot.boxes import Box
from ogive.statistics.boxplot.estimate import Boxplots

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
                f"{boxplots.grid.kind}, {boxplots.grid.bins:,} from {_at(boxplots, boxplots.grid.low)} "
                f"to {_at(boxplots, boxplots.grid.high)}",
            ),
        ),
        warning=_useless(boxplots),
        exact=truth is not None,
    )


def headline(boxplots: Boxplots) -> str:
    """The release in a sentence or two."""
    told = [box for box in boxplots.boxes if box.defined]
    if not told:
        return f"Noise hides how {boxplots.column} is distributed: there is no box to draw."
    if boxplots.by is None:
        box = told[0]
        return (
            f"Half of the records have {boxplots.column} from {_at(boxplots, box.q1)} to {_at(boxplots, box.q3)}; "
            f"the middle one has {_at(boxplots, box.median)}."
        )
    low, high = (pick(told, key=lambda box: box.median) for pick in (min, max))
    if len(told) == 1 or low.median == high.median:
        return f"The median {boxplots.column} is {_at(boxplots, low.median)} in every group that has enough records."
    return (
        f"The median {boxplots.column} is lowest where {boxplots.by} is {low.group}, {_at(boxplots, low.median)}, "
        f"and highest where it is {high.group}, {_at(boxplots, high.median)}."
    )


def _at(boxplots: Boxplots, number: float) -> str:
    return show(boxplots.grid, number)


def _name(box: Box) -> str:
    return "All records" if box.group is None else str(box.group)


def _picture(boxplots: Boxplots, truth: Boxplots | None) -> Picture:
    boxes, exact = boxplots.boxes[:MOST_ROWS], () if truth is None else truth.boxes[:MOST_ROWS]
    legend = [("box", "Released box" if boxplots.private else "Exact box")]
    if exact:
        legend.append(("true-box", "True box of these records"))
    summary = f"A box for each group of {boxplots.column}. {headline(boxplots)} " + " ".join(
        f"{_name(box)}: quartiles {_at(boxplots, box.q1)}, {_at(boxplots, box.median)} and {_at(boxplots, box.q3)}, "
        f"whiskers from {_at(boxplots, box.low)} to {_at(boxplots, box.high)}."
        for box in boxes
        if box.defined
    )
    chart = BoxChart(
        grid=boxplots.grid,
        label=boxplots.column,
        names=tuple(_name(box) for box in boxes),
        boxes=tuple(map(_row, boxes)),
        truths=tuple(map(_row, exact)),
        summary=summary,
        legend=tuple(legend),
    )
    left = len(boxplots.boxes) - len(boxes)
    return Picture(chart, note=f"{left:,} more groups are in the table." if left else None)


def _row(box: Box) -> Row | None:
    return Row(box.numbers, box.outliers) if box.defined else None


def _read(boxplots: Boxplots) -> str:
    flat = [_name(box) for box in boxplots.boxes if box.flat and box.defined]
    said = "Half of a group's records lie between its quartiles, one half on either side of its median."
    if boxplots.curves:
        said += " Beyond counts the records past each whisker, by estimate."
    if flat:
        said += f" Flat, since half of the records have about one value: {', '.join(flat)}."
    return said


def _table(caption: str, boxplots: Boxplots, about: str | None = None) -> Html:
    rows: list[TableRow] = []
    for box in boxplots.boxes:
        if not box.defined:
            known = not boxplots.private or boxplots.public_groups
            rows.append((_name(box), ["no records" if known else "too noisy", *[""] * (len(_HEAD) - 1)]))
            continue
        known = box.below is not None and box.above is not None
        beyond = f"{plain_number(box.below or 0)} and {plain_number(box.above or 0)}" if known else "not shown"
        rows.append((_name(box), [*(_at(boxplots, number) for number in box.numbers), beyond]))
    return table(caption, ("Group" if boxplots.by is None else boxplots.by, *_HEAD), rows, about)


def _error(boxplots: Boxplots) -> tuple[Html, ...]:
    if not boxplots.private:
        return (say("Not at all for these records: the values are exact, up to the distance of thresholds."),)
    if boxplots.curves:
        return (
            say(
                "Quartiles and medians are what the noise moves least; the ends of whiskers and the number of records "
                "beyond them rest on few records and are off by more."
            ),
            fine("What ogive plan predicts for this price says how far, before anything is spent."),
        )
    return (
        say(
            "Each number was chosen by noisy counts. A quartile may be some ranks off, and either end may lie well "
            "inside or outside the outermost records."
        ),
        fine("What ogive plan predicts for this price says how far, before anything is spent."),
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
            f"The whole distribution function {who}. Boxes, whiskers and dots are read off it and cost nothing more; "
            "a dot is where the curve puts a record, and is nobody's."
        )
    else:
        what = f"Five numbers {who}: both ends and the three quartiles. Records beyond the ends are not shown."
    told = (say(what), fine(f"Public bounds: {ends}. Values outside count as the nearest bound."))
    if not (boxplots.private and boxplots.public_groups):
        return told
    known = "Everybody may know which group each record is in, and so how many each has: no noise hides that."
    return (*told, say(known))


def _useless(boxplots: Boxplots) -> str | None:
    if not boxplots.private or any(box.defined for box in boxplots.boxes):
        return None
    return "The noise is larger than the number of records. Grant more privacy loss, or take more records."
