"""Pictures of ROC curves, of precision against recall and of lift, and their chapter of a report."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from ogive.core.arrays import Float64
from ogive.errors import ParameterError
from ogive.showing import words
from ogive.showing.axis import nice_step, plain_number, show
from ogive.showing.chapter import Chapter, Picture
from ogive.showing.chart import SMALL, Line, Ribbon, SquareChart
from ogive.showing.parts import Html, Row, fine, say, strong, table
from ogive.showing.pictures import BLUE, GRAY, Style, caption, legend, lighten, new_axes, styled
from ogive.statistics.confidence import Target
from ogive.statistics.roc.estimate import AucInterval, RocEstimate
from ogive.statistics.roc.points import Lift, PrecisionRecall
from ogive.statistics.roc.text import told_threshold
from ogive.statistics.roc.uncertainty import LiftBand, PrecisionRecallBand, RocBand
from ogive.statistics.significance import sentence, testable

_BEYOND = 1e6
"""An infinite end lies above every axis."""


def draw(
    roc: RocEstimate,
    ax: Any = None,
    *,
    confidence_level: float | None = 0.95,
    target: Target = "population",
    **style: Unpack[Style],
) -> Any:
    """Draw a ROC curve, with the band that holds the true one.

    Args:
        roc: What to draw.
        ax: Axes to draw into; new ones by default.
        confidence_level: Confidence level of the band; None for no band.
        target: Of the band, "population" or "sample".
        style: Of the curve; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, the style is none, or confidence_level or target is out of range.
    """
    usual = f"{_word(roc)}, AUC {roc.auc:.3f}"
    look = styled(style, color=BLUE, linewidth=1.8, label=usual)
    axes = new_axes(ax, size=(5.4, 5.6))
    if confidence_level is not None:
        band = roc.band(confidence_level, target=target)
        label = f"{100 * confidence_level:.6g} % band, {target}" if "label" not in style else None
        axes.fill_between(
            band.fpr, band.low, band.high, step="post", color=look["color"], alpha=0.22, linewidth=0, label=label
        )
    axes.plot([0, 1], [0, 1], color=GRAY, linewidth=1, linestyle=(0, (1, 2)), label="chance line")
    axes.plot(roc.fpr, roc.tpr, **look)
    axes.set_xlabel("False positive rate (1 - specificity)")
    axes.set_ylabel("True positive rate (sensitivity)")
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    if ax is None:
        axes.set_aspect("equal")
    return _finished(axes, roc, f"ROC curve of {roc.score}")


def draw_precision_recall(
    roc: RocEstimate,
    found: PrecisionRecall,
    band: PrecisionRecallBand | None,
    ax: Any = None,
    **style: Unpack[Style],
) -> Any:
    """Draw precision against recall."""
    negatives, positives = roc.classes
    share = positives / (positives + negatives)
    label = f"{_word(roc)}, average precision {found.average_precision:.3f}"
    axes, look = new_axes(ax), styled(style, color=BLUE, linewidth=1.8, label=label)
    _shade(axes, band, look, "label" in style)
    axes.axhline(share, color=GRAY, linewidth=1, linestyle=(0, (1, 2)), label=f"chance, {share:.3f}")
    # precision where nothing is called positive is a convention, which no threshold has
    seen = found.recall > 0
    axes.plot(found.recall[seen], found.precision[seen], **look)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel("Recall (sensitivity)")
    axes.set_ylabel("Precision (positive predictive value)")
    return _finished(axes, roc, f"Precision and recall of {roc.score}")


def draw_lift(roc: RocEstimate, found: Lift, band: LiftBand | None, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw lift against the share of records that are called positive."""
    axes, look = new_axes(ax), styled(style, color=BLUE, linewidth=1.8, label=_word(roc))
    _shade(axes, band, look, "label" in style)
    axes.axhline(1.0, color=GRAY, linewidth=1, linestyle=(0, (1, 2)), label="chance")
    seen = found.flagged > 0
    axes.plot(found.flagged[seen], found.lift[seen], **look)
    axes.set_xlim(-0.02, 1.02)
    # few records are flagged at the left, where ends are far apart
    axes.set_ylim(0, 1.25 * float(found.lift.max()))
    axes.set_xlabel("Share of the records called positive")
    axes.set_ylabel("Lift")
    return _finished(axes, roc, f"Lift of {roc.score}")


def key(roc: RocEstimate) -> str:
    """What a legend of several curves says of each."""
    return f"AUC {roc.auc:.2f}" if np.isfinite(roc.auc) else "AUC undefined"


def _word(roc: RocEstimate) -> str:
    return "released" if roc.private else "exact (not private)"


def _shade(axes: Any, band: PrecisionRecallBand | LiftBand | None, look: dict[str, Any], named: bool) -> None:
    if band is None:
        return
    places, low, high = band.outline()
    label = None if named else f"{100 * band.confidence_level:.6g} % band, {band.target}"
    shown = np.minimum(high, _BEYOND)
    axes.fill_between(places, low, shown, step="post", color=look["color"], alpha=0.22, linewidth=0, label=label)


def _finished(axes: Any, roc: RocEstimate, title: str) -> Any:
    caption(axes, title, roc.caption, private=roc.private)
    legend(axes)
    lighten(axes)
    return axes


# --- The chapter of the report

FALSE_POSITIVE_RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
BEGINNINGS = (0.05, 0.1, 0.2)
"""Ends of the ranges of false positive rates whose areas are shown."""
USELESS = 0.25
"""A wider interval for the AUC of these records carries little information: half of the way from chance to perfect."""
READING = (
    "How to read it: each point is a threshold. The true positive rate (sensitivity) is the share of positives that "
    "are called positive, the false positive rate (1 - specificity) the share of negatives that are. The dotted "
    "diagonal is the chance line; a perfect score reaches the upper left corner. AUC is the area under the curve: 0.5 "
    "for chance, 1 for a perfect score."
)
_FIRST_FLAGGED = 0.01


@dataclass(frozen=True)
class _Read:
    """What is read off the estimate once."""

    roc: RocEstimate
    truth: RocEstimate | None
    interval: AucInterval
    noise: AucInterval
    band: RocBand

    @property
    def level(self) -> str:
        return words.percent(self.roc.confidence_level)

    def auc(self, value: float) -> str:
        """An area with as many digits as its interval supports."""
        return words.decimal(value, (self.interval.high - self.interval.low) / 2)


def chapter(roc: RocEstimate, truth: RocEstimate | None) -> Chapter:
    """What a ROC curve says."""
    if truth is not None and not (
        isinstance(truth, RocEstimate)
        and not truth.private
        and (truth.grid, truth.label, truth.positive_when) == (roc.grid, roc.label, roc.positive_when)
    ):
        raise ParameterError(f"the truth for {roc.score} must be an exact ROC curve of the same thresholds and labels")
    assert roc.provenance is not None
    level = roc.confidence_level
    read = _Read(
        roc,
        truth if roc.private and truth is not None and truth.defined else None,
        roc.auc_interval(level),
        roc.auc_interval(level, target="sample"),
        roc.band(level),
    )
    grid = roc.grid
    return Chapter(
        title=f"ROC curve of {roc.score} for {roc.label.column}",
        subject=f"{roc.score} and {roc.label.column}",
        provenance=roc.provenance,
        headline=_headline(read),
        error=_error(read),
        released=_released(read),
        pictures=_pictures(read),
        tables=(_operating_points(read), _beginning(read)) if roc.defined else (),
        details=(
            ("Smoothing", words.SMOOTHINGS.get(roc.negatives.smoothing, roc.negatives.smoothing)),
            ("Thresholds", f"{grid.spacing}, {grid.bins:,} from {show(grid, grid.low)} to {show(grid, grid.high)}"),
            ("Labels", "public" if roc.public_labels else "private"),
            ("Budget", f"{roc.budget} for both classes"),
        ),
        warning=_useless(read),
        exact=truth is not None,
    )


def _headline(read: _Read) -> str:
    roc = read.roc
    if not roc.defined:
        return "One of the two classes has no records, or noise may account for it, so there is no curve and no AUC."
    interval = f"{read.level} CI {read.auc(read.interval.low)} to {read.auc(read.interval.high)}"
    if _useless(read) is not None:
        return (
            f"Noise hides how well {roc.score} separates the classes of {roc.label.column}: the AUC has a {interval}."
        )
    more = "higher" if roc.positive_when == "high" else "lower"
    said = (
        f"The AUC is {read.auc(roc.auc)} ({interval}): of a positive and a negative record, drawn at random, the "
        f"positive one has the {more} {roc.score} in {words.percent(float(read.auc(roc.auc)))} of cases."
    )
    if read.truth is not None:
        said += f" The true AUC of these records is {read.auc(read.truth.auc)}."
    if read.interval.low <= 0.5 <= read.interval.high:
        said += " The interval contains 0.5 (chance), so there is no evidence that the score separates the classes."
    return said


def _pictures(read: _Read) -> tuple[Picture, ...]:
    roc = read.roc
    if not roc.defined:
        return ()
    ratio, lift = roc.precision_recall(), roc.lift()
    prevalence = roc.prevalence
    ends = np.array([0.0, 1.0])
    kept = lift.flagged >= _FIRST_FLAGGED
    highest = max(2.0, min(1 / prevalence, float(np.max(lift.lift[kept], initial=1.0))))
    step = nice_step(highest, 5)
    truth = read.truth
    private = roc.private
    curve = ("curve", "Released curve" if private else "Exact curve")
    exact = (("truth", "True curve of these records"),) if truth is not None else ()
    main = SquareChart(
        title=f"ROC curve of {roc.score} for {roc.label.column}",
        summary=f"True positive rate for each false positive rate. {_headline(read)}",
        x_label="False positive rate (1 - specificity)",
        y_label="True positive rate (sensitivity)",
        lines=(
            Line("chance", ends, ends),
            Line("curve", roc.fpr, roc.tpr),
            *((Line("truth", truth.fpr, truth.tpr),) if truth is not None else ()),
        ),
        ribbon=_stepped(read.band.fpr, read.band.low, read.band.high),
        legend=(curve, ("band", f"{read.level} band for the population"), ("chance", "Chance line"), *exact),
    )
    ratio_band, lift_band = (band(roc.confidence_level) for band in (roc.precision_recall_band, roc.lift_band))
    bands = (("band", f"{read.level} band for the population"),)
    true_ratio = None if truth is None else truth.precision_recall()
    true_lift = None if truth is None else truth.lift()
    small = (
        SquareChart(
            title="Precision and recall",
            summary=f"Precision (positive predictive value) for each recall (sensitivity). "
            f"Average precision {words.percent(round(ratio.average_precision, 3))}.",
            x_label="Recall (sensitivity)",
            y_label="Precision (PPV)",
            lines=(
                Line("chance", ends, np.full(2, prevalence)),
                Line("curve", ratio.recall[1:], ratio.precision[1:]),
                *((Line("truth", true_ratio.recall[1:], true_ratio.precision[1:]),) if true_ratio is not None else ()),
            ),
            ribbon=_stepped(*ratio_band.outline()),
            legend=bands,
            sizes=SMALL,
        ),
        SquareChart(
            title="Lift",
            summary="Precision (positive predictive value) divided by prevalence, for each share of all records that "
            "is called positive.",
            x_label="Share called positive",
            y_label="PPV / prevalence",
            lines=(
                Line("chance", ends, np.ones(2)),
                Line("curve", lift.flagged[kept], lift.lift[kept]),
                *((_lift_line(true_lift.flagged, true_lift.lift),) if true_lift is not None else ()),
            ),
            ribbon=_stepped(*lift_band.outline()),
            legend=bands,
            sizes=SMALL,
            y_top=math.ceil(highest / step - 1e-9) * step,
            y_factor=True,
        ),
    )
    return (Picture(main, note=READING), *(Picture(chart, name=chart.title) for chart in small))


def _lift_line(flagged: Float64, lift: Float64) -> Line:
    kept = flagged >= _FIRST_FLAGGED
    return Line("truth", flagged[kept], lift[kept])


def _stepped(places: Float64, low: Float64, high: Float64) -> Ribbon:
    """The steps of a band as the corners of a polygon: each pair of ends holds from its place to the next."""
    x = np.append(np.repeat(places, 2)[1:], 1.0)
    return Ribbon(x, np.repeat(low, 2), np.minimum(np.repeat(high, 2), _BEYOND))


def _operating_points(read: _Read) -> Html:
    roc, truth = read.roc, read.truth
    places = np.unique(np.searchsorted(roc.fpr, FALSE_POSITIVE_RATES, side="right") - 1)
    low, high = read.band(roc.fpr[places])
    ratio = roc.precision_recall()
    sign = "above" if roc.positive_when == "high" else "at most"
    head = [
        *("Positive if", "Sensitivity", "Band", "Specificity", "PPV"),
        *(["True sensitivity"] if truth is not None else []),
    ]
    rows: list[Row] = []
    for at, start, end in zip(places, low, high, strict=True):
        threshold = told_threshold(roc, at)
        ends = [words.percent(float(edge), 1) for edge in (start, end)]
        cells = [
            words.percent(float(roc.tpr[at]), 1),
            f"{ends[0].removesuffix(' %')} to {ends[1]}",
            words.percent(1 - float(roc.fpr[at]), 1),
            words.percent(float(ratio.precision[at]), 1),
        ]
        if truth is not None:
            cells.append(words.percent(float(truth.tpr[at]), 1))
        named = f"{sign} {show(roc.grid, threshold, 15)}" if math.isfinite(threshold) else "always"
        rows.append((named, cells))
    about = (
        f"A record is called positive if its {roc.score} is beyond the threshold. Sensitivity is the true positive "
        f"rate, with the {read.level} band for the population; specificity is one minus the false positive rate; PPV "
        "is the positive predictive value (precision)."
    )
    return table("Operating points", head, rows, about)


def _beginning(read: _Read) -> Html:
    roc, truth = read.roc, read.truth
    head = ["False positive rate", "Area", "Interval", "Standardized", "Interval"]
    head += ["True standardized area"] if truth is not None else []
    rows: list[Row] = []
    for most in BEGINNINGS:
        found = roc.partial_auc(most, confidence_level=roc.confidence_level)
        cells: list[str] = []
        for value, low, high in ((found.value, found.low, found.high), found.standardized):
            shown = [words.decimal(each, (high - low) / 2) for each in (value, low, high)]
            cells += [shown[0], f"{shown[1]} to {shown[2]}"]
        if truth is not None:
            ends = found.standardized
            cells.append(words.decimal(truth.partial_auc(most).standardized.value, (ends.high - ends.low) / 2))
        rows.append((f"at most {words.percent(most)}", cells))
    about = (
        "The area under the beginning of the curve, where few negatives are called positive. Standardized (McClish), "
        f"chance is 0.5 and a perfect score 1. The {read.level} intervals are for the population and hold all at once."
    )
    return table("The beginning of the curve", head, rows, about)


def _error(read: _Read) -> tuple[Html, ...]:
    roc = read.roc
    if not roc.defined:
        return (say("There is no error to state: the curve is not defined."),)
    ties = f"Ties within the {roc.grid.bins:,} bins can change the AUC by at most {plain_number(roc.tie_bound, 2)}."
    tested = (say(sentence(roc.test())),) if testable(roc.provenance) else ()
    if not roc.private:
        return (say("The values are exact for these records, except for ties within a bin. "), *tested, fine(ties))
    noise, whole = read.noise, read.interval
    return (
        say(
            strong(f"AUC {read.auc(noise.low)} to {read.auc(noise.high)}"),
            f" for these records, with {read.level} confidence: noise and binning.",
        ),
        say(
            strong(f"AUC {read.auc(whole.low)} to {read.auc(whole.high)}"),
            " for the population, if the records are a random sample of it: noise, binning and sampling error.",
        ),
        *tested,
        fine(f"The band in the chart contains the whole curve with {read.level} confidence. {ties}"),
    )


def _useless(read: _Read) -> str | None:
    if not read.roc.private:
        return None
    if not read.roc.defined:
        return "The noise is larger than one of the classes. Use a larger privacy budget or more records."
    low, high = read.noise
    if high - low >= USELESS:
        return (
            f"The AUC of these records may be anything from {read.auc(low)} to {read.auc(high)}. "
            "Use a larger privacy budget, more records or fewer thresholds."
        )
    return None


def _released(read: _Read) -> tuple[Html, ...]:
    roc = read.roc
    about = "" if roc.public_labels or not roc.private else "about "
    negatives, positives = (plain_number(max(0, round(count)), 9) for count in roc.classes)
    sizes = f"{about}{positives} positive and {about}{negatives} negative records"
    share = f": prevalence {words.percent(roc.prevalence, 1)}" if roc.defined else ""
    grid = roc.grid
    return (
        say(
            f"The distribution of {roc.score} among positives and among negatives, at {grid.bins:,} public "
            "thresholds. The curves, the AUC and the table are computed from it at no further cost."
        ),
        say(f"There are {sizes}{' (public)' if roc.public_labels else ''}{share}."),
        fine(f"Public bounds: {show(grid, grid.low)} to {show(grid, grid.high)}."),
    )
