"""What people see of a ROC curve: operating points, pictures of it, of precision and of lift, and a chapter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Unpack

import numpy as np

from ogive.core.arrays import Float64
from ogive.core.digits import number
from ogive.provenance import trust_rows
from ogive.showing import words
from ogive.showing.axis import nice_step, plain_number, show, span
from ogive.showing.chapter import Picture
from ogive.showing.chart import SMALL, Line, Ribbon, SquareChart
from ogive.showing.parts import Html, Row, fine, say, strong, table
from ogive.showing.pictures import BLUE, GRAY, Style, caption, legend, lighten, new_axes, styled
from ogive.showing.view import Rows, View
from ogive.statistics.confidence import Number, Target
from ogive.statistics.roc.estimate import AucInterval, RocEstimate
from ogive.statistics.roc.points import Lift, PartialAuc, PrecisionRecall, Rate
from ogive.statistics.roc.uncertainty import LiftBand, PrecisionRecallBand, RocBand
from ogive.statistics.significance import brief, sentence, testable

USELESS = 0.25
"""A wider interval for the AUC of these records carries little information: half of the way from chance to perfect."""

READING = (
    "How to read it: each point is a threshold. The true positive rate (sensitivity) is the share of positives that "
    "are called positive, the false positive rate (1 - specificity) the share of negatives that are. The dotted "
    "diagonal is the chance line; a perfect score reaches the upper left corner. AUC is the area under the curve: 0.5 "
    "for chance, 1 for a perfect score."
)
BEGINNINGS = (0.05, 0.1, 0.2)
"""Ends of the ranges of false positive rates whose areas are shown."""

_SHOWN = (0.05, 0.1, 0.2, 0.5)
_RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
"""False positive rates whose thresholds text and a chapter show."""

_FIRST_FLAGGED = 0.01
_QUICK = 1 << 16
_DIGITS = 15
"""Enough to show any threshold as it is."""

_BEYOND = 1e6
"""An infinite end lies above every axis."""


class RocEstimateView(View):
    """The area with its interval, and some operating points."""

    estimate: RocEstimate
    guarantee_first = True
    compares = True
    truth_words = "an exact ROC curve of the same thresholds and labels"

    no_interval = "auc_interval() simulates an interval, which is slow with this many thresholds"
    """What stands in place of an interval that would take long."""

    @property
    def name(self) -> str:
        return f"ROC curve of {self.estimate.score}"

    @property
    def short(self) -> str:
        return f"of {self.estimate.score}: AUC {self.estimate.auc:.4g}"

    @property
    def subject(self) -> str:
        return f"{self.estimate.score} and {self.estimate.label.column}"

    @cached_property
    def interval(self) -> AucInterval:
        return self.estimate.auc_interval()

    @cached_property
    def noise(self) -> AucInterval:
        """Of the area, for these records."""
        return self.estimate.auc_interval(target="sample")

    @cached_property
    def band(self) -> RocBand:
        return self.estimate.band(self.estimate.confidence_level)

    @property
    def slow(self) -> bool:
        """Whether simulations of the noise take long."""
        return self.estimate.private and self.estimate.grid.bins > _QUICK

    # text and cards

    @property
    def facts(self) -> list[tuple[str, str]]:
        result, about = self.estimate, self._about
        negatives, positives = result.classes
        sizes = f"{about}{positives:,.0f} positive, {about}{negatives:,.0f} negative (column {result.label.column})"
        rows = [("classes", sizes)]
        if result.provenance is not None:
            rows += trust_rows(result.provenance.assumption)
        if not result.defined:
            warning = "a class has no records, or cannot be told from noise: this curve is not defined"
            return [*rows, ("warning", warning)]
        if result.strategy is not None:
            method = f"{result.strategy.name}, {result.budget} budget, smoothing {result.negatives.smoothing}"
            rows.append(("method", method))
        if self.slow:
            rows.append(("AUC", f"{result.auc:.4f} ({self.no_interval})"))
        else:
            area, low, high = self._area
            rows.append(("AUC", f"{area} ({self._level} CI {low} to {high}, for the population)"))
            if testable(result.provenance):
                rows.append(("test", brief(result.test())))
        ties = f"ties change the AUC by at most {result.tie_bound:.2g}, which its interval includes"
        return [*rows, ("grid", f"{result.grid.bins} thresholds; {ties}")]

    @property
    def _about(self) -> str:
        return "" if self.estimate.public_labels or not self.estimate.private else "about "

    @property
    def _level(self) -> str:
        return f"{100 * self.estimate.confidence_level:.6g} %"

    @property
    def _area(self) -> Sequence[str]:
        width = self.interval.high - self.interval.low
        return [number(each, width) for each in (self.estimate.auc, *self.interval)]

    @property
    def headings(self) -> tuple[str, ...]:
        return ("called positive", "sensitivity (TPR)", "specificity (TNR)") if self.estimate.defined else ()

    @property
    def rows(self) -> Rows:
        result, lines = self.estimate, []
        if not result.defined:
            return []
        sign = ">" if result.positive_when == "high" else "<="
        for share in _SHOWN:
            at = last_within(result, share)
            place = short_threshold(result, at)
            counted = result.grid.unit == "number" or np.isinf(place)
            threshold = f"{place:,.{_DIGITS}g}" if counted else str(result.grid.label(float(np.floor(place))))
            lines.append((f"{sign} {threshold}", f"{result.tpr[at]:.1%}", f"{1 - result.fpr[at]:.1%}"))
        return lines

    # a line among groups, and a data frame

    @property
    def about(self) -> str:
        return f"{self.name} for {self.estimate.label.column}"

    @property
    def line(self) -> list[tuple[str, str]]:
        result, shown = self.estimate, ["-", "-"]
        if result.defined:
            area, low, high = self._area
            shown = [area, f"{low} to {high}"]
        sizes = [f"{self._about}{size:.0f}" for size in result.classes]
        return list(zip(("negatives", "positives", "AUC", f"{self._level} interval"), [*sizes, *shown], strict=True))

    def number(self, confidence_level: float, probability: float) -> Number:
        result = self.estimate
        name = f"AUC of {result.score} for {result.label.column}"
        return Number(name, result.auc, *result.auc_interval(confidence_level))

    @property
    def columns(self) -> dict[str, Any]:
        result = self.estimate
        columns = {"threshold": result.thresholds, "fpr": result.fpr, "tpr": result.tpr}
        if not result.defined:
            return columns
        precision, lift = result.precision_recall().precision, result.lift()
        return {**columns, "precision": precision, "flagged": lift.flagged, "lift": lift.lift}

    # pictures

    @property
    def key(self) -> str:
        return f"AUC {self.estimate.auc:.2f}" if np.isfinite(self.estimate.auc) else "AUC undefined"

    def draw(self, ax: Any = None, **options: Any) -> Any:
        return plot_roc(self.estimate, ax, **options)

    # the chapter of a report

    @property
    def chapter_title(self) -> str:
        return self.about

    @property
    def truth_for(self) -> str:
        return self.estimate.score

    def alike(self, truth: RocEstimate) -> bool:
        result = self.estimate
        return (truth.grid, truth.label, truth.positive_when) == (result.grid, result.label, result.positive_when)

    @property
    def true(self) -> RocEstimate | None:
        truth: RocEstimate | None = self.truth
        return truth if truth is not None and truth.defined and self.estimate.private else None

    def auc(self, value: float) -> str:
        """An area with as many digits as its interval supports."""
        return words.decimal(value, (self.interval.high - self.interval.low) / 2)

    @property
    def headline(self) -> str:
        result = self.estimate
        if not result.defined:
            return (
                "One of the two classes has no records, or noise may account for it, so there is no curve and no AUC."
            )
        low, high = self.interval
        interval = f"{words.percent(result.confidence_level)} CI {self.auc(low)} to {self.auc(high)}"
        if self.useless is not None:
            classes = f"the classes of {result.label.column}"
            return f"Noise hides how well {result.score} separates {classes}: the AUC has a {interval}."
        area, more = self.auc(result.auc), "higher" if result.positive_when == "high" else "lower"
        text = (
            f"The AUC is {area} ({interval}): of a positive and a negative record, drawn at random, the positive one "
            f"has the {more} {result.score} in {words.percent(float(area))} of cases."
        )
        if self.true is not None:
            text += f" The true AUC of these records is {self.auc(self.true.auc)}."
        if low <= 0.5 <= high:
            text += " The interval contains 0.5 (chance), so there is no evidence that the score separates the classes."
        return text

    @property
    def error(self) -> list[Html | str]:
        result = self.estimate
        if not result.defined:
            return ["There is no error to state: the curve is not defined."]
        bins, most = f"{result.grid.bins:,}", plain_number(result.tie_bound, 2)
        ties = f"Ties within the {bins} bins can change the AUC by at most {most}."
        tested = [sentence(result.test())] if testable(result.provenance) else []
        if not result.private:
            return ["The values are exact for these records, except for ties within a bin. ", *tested, fine(ties)]
        level = words.percent(result.confidence_level)
        ends = [strong(f"AUC {self.auc(low)} to {self.auc(high)}") for low, high in (self.noise, self.interval)]
        return [
            say(ends[0], f" for these records, with {level} confidence: noise and binning."),
            say(
                ends[1],
                " for the population, if the records are a random sample of it: noise, binning and sampling error.",
            ),
            *tested,
            fine(f"The band in the chart contains the whole curve with {level} confidence. {ties}"),
        ]

    @property
    def released(self) -> list[Html | str]:
        result = self.estimate
        negatives, positives = (plain_number(max(0, round(count)), 9) for count in result.classes)
        sizes = f"{self._about}{positives} positive and {self._about}{negatives} negative records"
        share = f": prevalence {words.percent(result.prevalence, 1)}" if result.defined else ""
        return [
            f"The distribution of {result.score} among positives and among negatives, at {result.grid.bins:,} public "
            "thresholds. The curves, the AUC and the table are computed from it at no further cost.",
            f"There are {sizes}{' (public)' if result.public_labels else ''}{share}.",
            fine(f"Public bounds: {span(result.grid)}."),
        ]

    @property
    def details(self) -> list[tuple[str, str]]:
        result, grid = self.estimate, self.estimate.grid
        return [
            ("Smoothing", words.SMOOTHINGS.get(result.negatives.smoothing, result.negatives.smoothing)),
            ("Thresholds", f"{grid.spacing}, {grid.bins:,} from {span(grid)}"),
            ("Labels", "public" if result.public_labels else "private"),
            ("Budget", f"{result.budget} for both classes"),
        ]

    @property
    def useless(self) -> str | None:
        if not self.estimate.private:
            return None
        if not self.estimate.defined:
            return "The noise is larger than one of the classes. Use a larger privacy budget or more records."
        low, high = self.noise
        if high - low < USELESS:
            return None
        return (
            f"The AUC of these records may be anything from {self.auc(low)} to {self.auc(high)}. "
            "Use a larger privacy budget, more records or fewer thresholds."
        )

    def pictures(self, exact: Any) -> Sequence[Picture]:
        """The curve; smaller, precision against recall and lift."""
        result, true = self.estimate, self.true
        if not result.defined:
            return ()
        level, ends = result.confidence_level, np.array([0.0, 1.0])
        band = ("band", f"{words.percent(level)} band for the population")
        curve = SquareChart(
            title=self.chapter_title,
            summary=f"True positive rate for each false positive rate. {self.headline}",
            x_label="False positive rate (1 - specificity)",
            y_label="True positive rate (sensitivity)",
            lines=(
                Line("chance", ends, ends),
                Line("curve", result.fpr, result.tpr),
                *(() if true is None else (Line("truth", true.fpr, true.tpr),)),
            ),
            ribbon=_stepped(self.band.fpr, self.band.low, self.band.high),
            legend=(
                ("curve", "Released curve" if result.private else "Exact curve"),
                band,
                ("chance", "Chance line"),
                *(() if true is None else (("truth", "True curve of these records"),)),
            ),
        )
        ratios = [each.precision_recall() for each in (result, true) if each is not None]
        precision = SquareChart(
            title="Precision and recall",
            summary="Precision (positive predictive value) for each recall (sensitivity). "
            f"Average precision {words.percent(round(ratios[0].average_precision, 3))}.",
            x_label="Recall (sensitivity)",
            y_label="Precision (PPV)",
            lines=(
                Line("chance", ends, np.full(2, result.prevalence)),
                *(
                    Line(kind, each.recall[1:], each.precision[1:])
                    for kind, each in zip(("curve", "truth"), ratios, strict=False)
                ),
            ),
            ribbon=_stepped(*result.precision_recall_band(level).outline()),
            legend=(band,),
            sizes=SMALL,
        )
        lifts = [each.lift() for each in (result, true) if each is not None]
        shown = [each.flagged >= _FIRST_FLAGGED for each in lifts]
        highest = max(2.0, min(1 / result.prevalence, float(np.max(lifts[0].lift[shown[0]], initial=1.0))))
        step = nice_step(highest, 5)
        lift = SquareChart(
            title="Lift",
            summary="Precision (positive predictive value) divided by prevalence, for each share of all records that "
            "is called positive.",
            x_label="Share called positive",
            y_label="PPV / prevalence",
            lines=(
                Line("chance", ends, np.ones(2)),
                *(
                    Line(kind, each.flagged[seen], each.lift[seen])
                    for kind, each, seen in zip(("curve", "truth"), lifts, shown, strict=False)
                ),
            ),
            ribbon=_stepped(*result.lift_band(level).outline()),
            legend=(band,),
            sizes=SMALL,
            y_top=math.ceil(highest / step - 1e-9) * step,
            y_factor=True,
        )
        return Picture(curve, note=READING), *(Picture(chart, name=chart.title) for chart in (precision, lift))

    def tables(self, exact: Any) -> Sequence[Html]:
        return (self._operating_points(), self._beginning()) if self.estimate.defined else ()

    def _operating_points(self) -> Html:
        result, true = self.estimate, self.true
        places = np.unique([last_within(result, share) for share in _RATES])
        low, high = self.band(result.fpr[places])
        precision = result.precision_recall().precision
        sign = "above" if result.positive_when == "high" else "at most"
        rows: list[Row] = []
        for at, *ends in zip(places, low, high, strict=True):
            threshold = short_threshold(result, at)
            shares = [result.tpr[at], *ends, 1 - float(result.fpr[at]), precision[at]]
            shares += [] if true is None else [true.tpr[at]]
            sensitivity, start, end, *others = (words.percent(float(share), 1) for share in shares)
            named = f"{sign} {show(result.grid, threshold, 15)}" if math.isfinite(threshold) else "always"
            rows.append((named, [sensitivity, f"{start.removesuffix(' %')} to {end}", *others]))
        about = (
            f"A record is called positive if its {result.score} is beyond the threshold. Sensitivity is the true "
            f"positive rate, with the {words.percent(result.confidence_level)} band for the population; specificity is "
            "one minus the false positive rate; PPV is the positive predictive value (precision)."
        )
        head = ["Positive if", "Sensitivity", "Band", "Specificity", "PPV"]
        return table("Operating points", [*head, *([] if true is None else ["True sensitivity"])], rows, about)

    def _beginning(self) -> Html:
        result, true = self.estimate, self.true
        rows: list[Row] = []
        for most in BEGINNINGS:
            part = result.partial_auc(most, confidence_level=result.confidence_level)
            cells: list[str] = []
            for value, low, high in ((part.value, part.low, part.high), part.standardized):
                shown = [words.decimal(each, (high - low) / 2) for each in (value, low, high)]
                cells += [shown[0], f"{shown[1]} to {shown[2]}"]
            if true is not None:
                ends = part.standardized
                cells.append(words.decimal(true.partial_auc(most).standardized.value, (ends.high - ends.low) / 2))
            rows.append((f"at most {words.percent(most)}", cells))
        about = (
            "The area under the beginning of the curve, where few negatives are called positive. Standardized "
            f"(McClish), chance is 0.5 and a perfect score 1. The {words.percent(result.confidence_level)} intervals "
            "are for the population and hold all at once."
        )
        head = ["False positive rate", "Area", "Interval", "Standardized", "Interval"]
        return table(
            "The beginning of the curve", [*head, *([] if true is None else ["True standardized area"])], rows, about
        )


def last_within(roc: RocEstimate, fpr: float) -> int:
    """Where the loosest threshold lies that has at most this false positive rate."""
    return int(np.searchsorted(roc.fpr, fpr, side="right")) - 1


def short_threshold(estimate: RocEstimate, at: int) -> float:
    """A threshold rounded to three digits, or to as many as it takes to be nearer to it than to any other."""
    place = float(estimate.thresholds[at])
    if estimate.grid.unit != "number" or np.isinf(place):
        return place
    for digits in range(3, _DIGITS):
        rounded = float(f"{place:.{digits}g}")
        if estimate.thresholds[int(np.argmin(np.abs(estimate.thresholds - rounded)))] == place:
            return rounded
    return place


def _stepped(places: Float64, low: Float64, high: Float64) -> Ribbon:
    """The steps of a band as the corners of a polygon: each pair of ends holds from its place to the next."""
    x = np.append(np.repeat(places, 2)[1:], 1.0)
    return Ribbon(x, np.repeat(low, 2), np.minimum(np.repeat(high, 2), _BEYOND))


# --- Lines below a curve on the command line


def partial_lines(result: PartialAuc) -> list[str]:
    """The area over a range of false positive rates, and its standardized value, with their intervals."""
    if not math.isfinite(result.value):
        return [f"area, FPR {result.min_fpr:g} to {result.max_fpr:g}: not defined"]
    chance = "standardized, so that chance is 0.5 and a perfect score 1"
    return [
        f"area, FPR {result.min_fpr:g} to {result.max_fpr:g}: "
        f"{_with_ends(Rate(result.value, result.low, result.high))}",
        f"{chance}: {_with_ends(result.standardized)}",
    ]


def rate_line(what: str, given: str, at: float, result: Rate) -> str:
    """One rate at a fixed value of the other, with its interval."""
    if not math.isfinite(result.value):
        return f"{what} at a {given} of {at:.6g}: not defined"
    return f"{what} at a {given} of {at:.6g}: {_with_ends(result)}"


def _with_ends(result: Rate) -> str:
    value, low, high = (number(each, result.high - result.low) for each in result)
    return f"{value} ({low} to {high})"


# --- Pictures


def plot_roc(
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
    result: PrecisionRecall,
    band: PrecisionRecallBand | None,
    ax: Any = None,
    **style: Unpack[Style],
) -> Any:
    """Draw precision against recall."""
    negatives, positives = roc.classes
    share = positives / (positives + negatives)
    label = f"{_word(roc)}, average precision {result.average_precision:.3f}"
    axes, look = new_axes(ax), styled(style, color=BLUE, linewidth=1.8, label=label)
    _shade(axes, band, look, "label" in style)
    axes.axhline(share, color=GRAY, linewidth=1, linestyle=(0, (1, 2)), label=f"chance, {share:.3f}")
    # precision where nothing is called positive is a convention, which no threshold has
    seen = result.recall > 0
    axes.plot(result.recall[seen], result.precision[seen], **look)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel("Recall (sensitivity)")
    axes.set_ylabel("Precision (positive predictive value)")
    return _finished(axes, roc, f"Precision and recall of {roc.score}")


def draw_lift(roc: RocEstimate, result: Lift, band: LiftBand | None, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw lift against the share of records that are called positive."""
    axes, look = new_axes(ax), styled(style, color=BLUE, linewidth=1.8, label=_word(roc))
    _shade(axes, band, look, "label" in style)
    axes.axhline(1.0, color=GRAY, linewidth=1, linestyle=(0, (1, 2)), label="chance")
    seen = result.flagged > 0
    axes.plot(result.flagged[seen], result.lift[seen], **look)
    axes.set_xlim(-0.02, 1.02)
    # few records are flagged at the left, where ends are far apart
    axes.set_ylim(0, 1.25 * float(result.lift.max()))
    axes.set_xlabel("Share of the records called positive")
    axes.set_ylabel("Lift")
    return _finished(axes, roc, f"Lift of {roc.score}")


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
