"""One release as one section of the page."""

from __future__ import annotations

import numpy as np

from ogive.privacy import PureDP
from ogive.provenance import Provenance
from ogive.report import words
from ogive.report.axis import show, ticks
from ogive.report.chart import NARROW, WIDE, Drawing, draw, key
from ogive.report.figures import Figures, QuantileRow
from ogive.report.markup import Html, join, tag

THRESHOLD_ROWS = 10


def chapter(figures: Figures, *, number: int) -> Html:
    """Everything about one release.

    Args:
        figures: What was read off the estimate.
        number: Which section of the page, from 1; element ids start with it.
    """
    provenance = figures.provenance
    return tag(
        "article",
        tag("h2", title(figures), id=f"release-{number}"),
        None if provenance.private else not_private("These values are exact. They must not be published."),
        tag("p", headline(figures), class_="lead"),
        _picture(figures, identity=f"chart-{number}"),
        tag("div", _quantile_table(figures), _share_table(figures), class_="tables"),
        tag(
            "div",
            _card("What it cost", *_price(provenance)),
            _card("How far off it may be", *_error(figures)),
            _card("Whom you have to trust", tag("p", provenance.assumption)),
            _card("What was released", *_released(figures)),
            class_="cards",
        ),
        _details(figures),
        aria_labelledby=f"release-{number}",
    )


def title(figures: Figures) -> str:
    """Name of the section."""
    what = "Distribution of" if figures.share is not None else "Quantiles of"
    return f"{what} {figures.column}"


def not_private(message: str) -> Html:
    """A banner that cannot be missed."""
    return tag("p", tag("strong", "Not private. "), message, class_="banner", role="note")


def headline(figures: Figures) -> str:
    """The release in a sentence or two."""
    if not figures.defined:
        return "The noise is larger than the number of records, so this curve says nothing. Grant more privacy loss."
    records = "records" if figures.total is None else f"{figures.total:,} records"
    by_probability = {round(row.probability, 6): row for row in figures.quantiles}
    low, middle, high = (by_probability.get(probability) for probability in (0.1, 0.5, 0.9))
    if middle is None:
        row = figures.quantiles[len(figures.quantiles) // 2]
        return (
            f"In {words.percent(row.probability)} of the {records}, {figures.column} is at most {_value(figures, row)}."
        )
    said = f"In half of the {records}, {figures.column} is at most {_value(figures, middle)}."
    if low is not None and high is not None:
        said += (
            f" In one record of ten it is at most {show(figures.grid, low.number)}, "
            f"in nine of ten at most {show(figures.grid, high.number)}."
        )
    return said


def _value(figures: Figures, row: QuantileRow) -> str:
    value = show(figures.grid, row.number)
    return value if row.low is None else f"{value} ({_level(figures)} interval: {_interval(figures, row)})"


def _interval(figures: Figures, row: QuantileRow) -> str:
    assert row.low is not None
    assert row.high is not None
    first, last = show(figures.grid, row.low), show(figures.grid, row.high)
    return first if first == last else f"{first} to {last}"


def drawing(figures: Figures) -> Drawing:
    """The chart of a curve."""
    assert figures.share is not None
    population = figures.population_band
    released = "" if population is None else f" The band holds the population's curve: {_level(figures)} confidence."
    return Drawing(
        grid=figures.grid,
        label=figures.column,
        share=figures.share,
        view=figures.view,
        summary=f"Share of records at or below each value of {figures.column}. {headline(figures)}{released}",
        low=None if population is None else population.low,
        high=None if population is None else population.high,
        truth=figures.truth if figures.provenance.private else None,
        marks=tuple(
            (row.probability, row.number, row.low, row.high)
            for row in figures.quantiles
            if row.low is not None and row.high is not None and 0.05 < row.probability < 0.95
        ),
    )


def _level(figures: Figures) -> str:
    return words.percent(figures.confidence_level)


def _picture(figures: Figures, *, identity: str) -> Html | None:
    if figures.share is None:
        return None
    shown = drawing(figures)
    entries = [("curve", "Released curve" if figures.provenance.private else "Exact curve")]
    if shown.low is not None:
        entries.append(("band", f"{_level(figures)} band for the population"))
    if shown.marks:
        entries.append(("dot", "Quantile with its interval"))
    if shown.truth is not None:
        entries.append(("truth", "True curve of these records"))
    note = None
    if figures.view != figures.whole_axis:
        note = tag(
            "p",
            f"The axis shows the part where the released curve rises; thresholds reach from "
            f"{show(figures.grid, figures.grid.low)} to {show(figures.grid, figures.grid.high)}.",
            class_="fine",
        )
    return tag(
        "figure",
        draw(shown, WIDE, identity=f"{identity}-{WIDE.name}"),
        draw(shown, NARROW, identity=f"{identity}-{NARROW.name}"),
        tag("figcaption", key(*entries), note),
    )


def _quantile_table(figures: Figures) -> Html:
    grid = figures.grid
    intervals = any(row.low is not None for row in figures.quantiles)
    truth = any(row.truth is not None for row in figures.quantiles)
    head = ["Share", "Value"] + (["Interval"] if intervals else []) + (["True"] if truth else [])
    rows = []
    for row in figures.quantiles:
        cells: list[Html | str] = [show(grid, row.number)]
        if intervals:
            cells.append("" if row.low is None else _interval(figures, row))
        if truth:
            cells.append("" if row.truth is None else show(grid, row.truth))
        rows.append((words.percent(row.probability), cells))
    about = (
        f"Each share of the records lies at or below the value. The intervals hold the population's quantiles, "
        f"all together, with {_level(figures)} confidence."
        if intervals
        else "Each share of the records lies at or below the value."
    )
    if intervals and grid.kind != "integers":
        about += " From a to b means above a and at most b."
    return _table("Quantiles", head, rows, about)


def _share_table(figures: Figures) -> Html | None:
    if figures.share is None:
        return None
    thresholds, band = figures.grid.thresholds, figures.population_band
    wanted = ticks(figures.grid, *figures.view, THRESHOLD_ROWS)
    places = np.unique(np.clip(np.searchsorted(thresholds, wanted, side="right") - 1, 0, len(thresholds) - 1))
    truth = figures.truth if figures.provenance.private else None
    head = ["At most", "Share"] + (["Band"] if band is not None else []) + (["True"] if truth is not None else [])
    rows = []
    digits = words.digits(band.half_width if band is not None else 0.01)
    for i in places:
        cells: list[Html | str] = [words.percent(float(figures.share[i]), digits)]
        if band is not None:
            low, high = (words.percent(float(end[i]), digits) for end in (band.low, band.high))
            cells.append(f"{low.removesuffix(' %')} to {high}")
        if truth is not None:
            cells.append(words.percent(float(truth[i]), digits))
        rows.append((show(figures.grid, float(thresholds[i])), cells))
    about = f"A sample of the {figures.grid.bins:,} released thresholds." + (
        f" The band holds the whole curve of the population with {_level(figures)} confidence." if band else ""
    )
    return _table("Shares", head, rows, about)


def _table(caption: str, head: list[str], rows: list[tuple[str, list[Html | str]]], about: str) -> Html:
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption),
            tag("thead", tag("tr", *(tag("th", name, scope="col") for name in head))),
            tag(
                "tbody",
                *(
                    tag("tr", tag("th", first, scope="row"), *(tag("td", cell) for cell in cells))
                    for first, cells in rows
                ),
            ),
        ),
        tag("p", about, class_="fine"),
    )


def _card(name: str, *children: Html | None) -> Html:
    return tag("section", tag("h3", name), *children)


def _price(provenance: Provenance) -> list[Html]:
    if provenance.privacy is None:
        return [tag("p", "There is no privacy here, so there is no price.")]
    return [
        tag("p", words.amount(provenance.privacy), class_="figure"),
        tag("p", words.promise(provenance.privacy, provenance.adjacency)),
        tag(
            "p",
            f"Hidden: {provenance.unit.words}. Kind: {words.kind_words(provenance.privacy)}.",
            class_="fine",
        ),
    ]


def _error(figures: Figures) -> list[Html]:
    if not figures.provenance.private:
        return [tag("p", "Not at all for these records: the values are exact, up to the distance of thresholds.")]
    found = []
    sample, population = figures.sample_band, figures.population_band
    if sample is not None:
        found.append(
            tag(
                "p",
                tag("strong", f"± {words.points(figures.reach(sample))}"),
                f" from the true curve of these records, at every threshold at once, with {_level(figures)} "
                f"confidence. That is at most {words.in_a_thousand(figures.reach(sample))} records.",
            )
        )
    if population is not None:
        found.append(
            tag(
                "p",
                tag("strong", f"± {words.points(figures.reach(population))}"),
                " from the population, if the records are a random sample of it: chance in who was sampled, and noise.",
            )
        )
    if figures.typical_error is not None:
        found.append(
            tag(
                "p",
                f"A single threshold is typically off by {words.points(figures.typical_error)}: the noise's standard "
                "deviation, before smoothing.",
                class_="fine",
            )
        )
    if not found:
        found.append(tag("p", "The intervals in the table say so, with noise and sampling counted."))
    return found


def _released(figures: Figures) -> list[Html]:
    grid = figures.grid
    span = f"{show(grid, grid.low)} to {show(grid, grid.high)}"
    if figures.share is None:
        what = f"{len(figures.quantiles)} quantiles of {figures.column}."
    else:
        what = (
            f"The whole distribution function of {figures.column}: the share of records at or below each of "
            f"{grid.bins:,} public thresholds. Quantiles, shares and this chart are read off it and cost nothing more."
        )
    return [
        tag("p", what),
        tag("p", f"Public bounds: {span}. Values outside count as the nearest bound.", class_="fine"),
    ]


def _details(figures: Figures) -> Html:
    provenance, grid = figures.provenance, figures.grid
    entries = [
        ("Statistic", provenance.statistic),
        ("Method", words.METHODS.get(provenance.method, provenance.method)),
        ("Smoothing", words.SMOOTHINGS.get(figures.smoothing, figures.smoothing)),
        ("Thresholds", f"{grid.kind}, {grid.bins:,} from {show(grid, grid.low)} to {show(grid, grid.high)}"),
        ("Records", "private" if figures.total is None else f"{figures.total:,} (public)"),
        ("Adjacency", provenance.adjacency.value),
        ("Trust model", provenance.trust),
        ("Release", provenance.release_id),
        ("Made with", f"ogive {provenance.version}"),
    ]
    if provenance.price is not None and provenance.privacy is not None:
        exact = words.amount(provenance.price)
        if exact != words.amount(provenance.privacy) or not isinstance(provenance.privacy, PureDP):
            entries.insert(5, ("Loss of the mechanism", exact))
    rows = join(*(tag("div", tag("dt", name), tag("dd", value)) for name, value in entries))
    return tag("section", tag("h3", "Details"), tag("dl", rows), class_="details")
