"""Pictures of calibration tests, and their chapter of a report."""

from __future__ import annotations

import math
from typing import Any, Unpack

import numpy as np

from ogive.core.digits import p_value
from ogive.errors import ParameterError
from ogive.showing import words
from ogive.showing.axis import nice_step, plain_number
from ogive.showing.chapter import Chapter, Picture
from ogive.showing.chart import Line, Mark, SquareChart
from ogive.showing.parts import Html, Row, fine, say, strong, table
from ogive.showing.pictures import BLUE, GRAY, Style, caption, legend, lighten, new_axes, styled
from ogive.statistics.calibration.estimate import SURPRISING, Calibration, CalibrationGroup


def draw(calibration: Calibration, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw observed against predicted shares, group by group, beside the line of perfect calibration.

    Args:
        calibration: What to draw.
        ax: Axes to draw into; new ones by default.
        style: Of the points; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, or the style is none.
    """
    usual = "released" if calibration.private else "exact"
    look = styled(style, color=BLUE, linestyle="none", label=usual)
    axes = new_axes(ax)
    points = calibration.reliability()
    seen = ~np.isnan(points.observed_share)
    across, up = points.mean_predicted[seen], points.observed_share[seen]
    low, high = points.low[seen], points.high[seen]
    top = min(1.0, 1.05 * float(max([0.01, *across, *high])))
    axes.plot([0, top], [0, top], color=GRAY, linewidth=1, linestyle=(0, (5, 2)), label="perfect calibration")
    label = f"{100 * points.confidence_level:.6g} % intervals"
    axes.vlines(across, low, high, color=look["color"], linewidth=1.4, alpha=0.6, label=label)
    axes.plot(across, up, marker="o", markersize=5, **look)
    axes.set_xlim(-0.02 * top, 1.02 * top)
    axes.set_ylim(-0.02 * top, 1.02 * top)
    axes.set_xlabel(f"Predicted ({calibration.probability})")
    axes.set_ylabel("Observed share")
    noisy = " (too noisy to use)" if calibration.too_wide else ""
    caption(axes, f"Predicted and observed shares{noisy}", calibration.caption, private=calibration.private)
    lighten(axes)
    legend(axes)
    return axes


# --- The chapter of the report

READING = (
    "How to read it: each point is a group of records with similar predicted probabilities. On the dotted diagonal "
    "(perfect calibration) the observed share equals the predicted one; above it the event is more frequent than "
    "predicted, below it less frequent. A group agrees with perfect calibration if its interval touches the diagonal."
)


def chapter(calibration: Calibration, truth: Calibration | None) -> Chapter:
    """What a calibration test says."""
    if truth is not None and not (
        isinstance(truth, Calibration)
        and not truth.private
        and (truth.probability, truth.label) == (calibration.probability, calibration.label)
    ):
        raise ParameterError(
            f"the truth for {calibration.probability} must be an exact calibration of the same columns"
        )
    assert calibration.provenance is not None
    shown = truth if calibration.private else None
    return Chapter(
        title=f"Calibration of {calibration.probability} against {calibration.label.column}",
        subject=f"{calibration.probability} and {calibration.label.column}",
        provenance=calibration.provenance,
        headline=_headline(calibration),
        error=_error(calibration),
        released=_released(calibration),
        pictures=(Picture(_chart(calibration, shown), note=READING),),
        tables=(_groups(calibration),),
        beside=(_test(calibration, shown),),
        details=(
            ("Groups", f"{calibration.bounds.bins}, limits from the released distribution"),
            ("Degrees of freedom", f"{calibration.degrees_of_freedom}"),
            ("Smallest expected count", plain_number(calibration.floor)),
            ("Form", calibration.measured.form),
        ),
        warning=_useless(calibration),
        exact=truth is not None,
    )


def _headline(calibration: Calibration) -> str:
    if not calibration.defined:
        return "The noise leaves too few records to compare predicted probabilities with outcomes."
    if _useless(calibration) is not None:
        return f"The noise is too large to judge the calibration of {calibration.probability}."
    expected, observed = (float(counts[1].sum()) for counts in (calibration.sums.expected, calibration.sums.observed))
    records = float(calibration.sums.expected.sum())
    shares = [words.percent(min(1.0, max(0.0, count / records)), 1) for count in (expected, observed)]
    return (
        f"The mean predicted probability is {shares[0]}, the observed share {shares[1]}. "
        f"{p_value_words(calibration.p_value)}"
    )


def p_value_words(value: float) -> str:
    """What a p-value says, in a sentence."""
    if value < 0.001:
        often, shown = "fewer than 1 of 1,000", f"p {p_value(value)}"
    elif value > 0.99:
        often, shown = "almost all", "p > 0.99"
    else:
        of = 1_000 if value < 0.01 else 100
        often, shown = f"about {round(of * value)} of {of:,}", f"p = {plain_number(value, 2)}"
    verdict = (
        "so the probabilities are probably miscalibrated"
        if value < SURPRISING
        else "so the test gives no evidence of miscalibration"
    )
    return (
        f"If the probabilities were perfectly calibrated, chance and noise alone would produce a disagreement at least "
        f"this large in {often} such tests ({shown}), {verdict}."
    )


def _chart(calibration: Calibration, truth: Calibration | None) -> SquareChart:
    groups = [group for group in calibration.groups if not math.isnan(group.observed_share)]
    seen = [] if truth is None else [group for group in truth.groups if not math.isnan(group.observed_share)]
    top = max(
        [0.01]
        + [max(group.mean_predicted, group.observed_share, group.interval[1]) for group in groups]
        + [max(group.mean_predicted, group.observed_share) for group in seen]
    )
    step = nice_step(top, 5)
    top = min(1.0, math.ceil(top / step - 1e-9) * step)
    level = words.percent(calibration.confidence_level)
    marks = [_mark(group) for group in groups]
    exact = [
        Mark(group.mean_predicted, group.observed_share, f"true: {_pair(group)}", kind="true-dot") for group in seen
    ]
    return SquareChart(
        title=f"Calibration plot of {calibration.probability}",
        summary=f"Observed share against predicted probability, in {len(groups)} groups. {_headline(calibration)}",
        x_label="Predicted",
        y_label="Observed",
        lines=(Line("chance", np.array([0.0, top]), np.array([0.0, top])),),
        marks=(*exact, *marks),
        legend=(
            ("dot", f"Group with its interval ({level}, simultaneous)"),
            ("chance", "Perfect calibration"),
            *((("true-dot", "True groups of these records"),) if seen else ()),
        ),
        x_top=top,
        y_top=top,
    )


def _mark(group: CalibrationGroup) -> Mark:
    low, high = group.interval
    name = f"{_pair(group)}, interval {words.percent(low, 1)} to {words.percent(high, 1)}"
    return Mark(group.mean_predicted, group.observed_share, name, low, high)


def _pair(group: CalibrationGroup) -> str:
    return f"predicted {words.percent(group.mean_predicted, 1)}, observed {words.percent(group.observed_share, 1)}"


def _groups(calibration: Calibration) -> Html:
    rows: list[Row] = []
    for group in calibration.groups:
        start, end = (words.percent(edge, 1) for edge in group.interval)
        rows.append(
            (
                f"{plain_number(100 * group.low, 3)} to {plain_number(100 * group.high, 3)} %",
                [
                    plain_number(max(0, round(sum(group.expected))), 9),
                    _share(group.mean_predicted),
                    _share(group.observed_share),
                    f"{start.removesuffix(' %')} to {end}",
                ],
            )
        )
    about = (
        "Records are grouped by predicted probability, above the first number and at most the second. "
        f"The intervals contain the probability of the event in all groups simultaneously, with "
        f"{words.percent(calibration.confidence_level)} confidence; they include noise and sampling error."
    )
    head = ["Predicted between", "Records", "Predicted", "Observed", "Interval"]
    return table(
        "Groups", head, rows, about if not calibration.private else f"{about} The numbers of records are noisy."
    )


def _share(value: float) -> str:
    return "–" if math.isnan(value) else words.percent(value, 1)


def _number(value: float) -> str:
    return "–" if math.isnan(value) else plain_number(value, 3)


def _p_value(value: float) -> str:
    return "–" if math.isnan(value) else p_value(value).removeprefix("= ")


def _test(calibration: Calibration, truth: Calibration | None) -> Html:
    head = ["Hosmer-Lemeshow test", "Released", *(["True"] if truth is not None else [])]
    values = [
        ("Statistic H", _number, calibration.statistic, None if truth is None else truth.statistic),
        ("H corrected for noise", _number, calibration.debiased_statistic, None),
        ("p-value", _p_value, calibration.p_value, None if truth is None else truth.p_value),
    ]
    if not calibration.private:
        del values[1]
    rows: list[Row] = [
        (name, [text(value), *([text(math.nan if exact is None else exact)] if truth is not None else [])])
        for name, text, value, exact in values
    ]
    about = (
        "H adds up the squared differences between predicted and observed counts, each divided by its variance; "
        "larger is worse. The p-value is simulated under perfect calibration with the same noise, so noise alone does "
        "not make it small."
    )
    return table("Test", head, rows, about)


def _half_widths(calibration: Calibration) -> list[float]:
    return [(group.interval[1] - group.interval[0]) / 2 for group in calibration.groups]


def _error(calibration: Calibration) -> tuple[Html, ...]:
    halves = _half_widths(calibration)
    typical, worst = words.points(float(np.median(halves))), words.points(max(halves))
    said = [
        say(
            strong(f"± {typical}"),
            f" for the observed share of a typical group, {worst} for the worst: sampling error and noise.",
        )
    ]
    if calibration.private and calibration.defined:
        extra = calibration.statistic - calibration.debiased_statistic
        said.append(
            say(
                f"Noise adds about {plain_number(max(extra, 0.0), 2)} to the statistic, which is "
                f"{_number(calibration.statistic)}. The p-value accounts for this; the usual chi-square table does not."
            )
        )
    said.append(fine("The test is valid for a model that was fitted on other records."))
    return tuple(said)


def _useless(calibration: Calibration) -> str | None:
    if not calibration.private:
        return None
    if not calibration.defined:
        return "The noise is larger than the groups. Use a larger privacy budget, more records or fewer groups."
    if calibration.too_wide:
        return (
            "The intervals of the groups are so wide that almost any model would agree with them. "
            "Use a larger privacy budget, more records or fewer groups."
        )
    return None


def _released(calibration: Calibration) -> tuple[Html, ...]:
    return (
        say(
            f"The distribution of {calibration.probability}, and in each of {calibration.bounds.bins} groups the sum "
            f"of the predicted probabilities and the number of records where {calibration.label.column} is positive. "
            "The plot, the table and the test are computed from these at no further cost."
        ),
        fine("The limits of the groups come from the released distribution, so they reveal nothing more."),
    )
