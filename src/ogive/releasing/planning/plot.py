"""A plan as a picture: error against privacy loss, both on logarithmic axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ogive.errors import ParameterError, quoted
from ogive.privacy import PureDP, ZeroConcentratedDP
from ogive.releasing.planning.rows import Metrics, Plan, PlanRow, listed, metrics_of, named, title
from ogive.releasing.planning.text import heading
from ogive.showing.pictures import GRAY, caption, legend, new_axes
from ogive.statistics.kinds import prediction_of
from ogive.statistics.questions import what_of

# Okabe and Ito's palette, and marks, so that lines are told apart without color too
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5A5A5A", "#882255")
_MOST_TICKS = 9
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")


def draw_lines(
    axes: Any,
    lines: Mapping[str, Iterable[tuple[float, float]]],
    styles: Mapping[str, Mapping[str, Any]],
    across: Sequence[float],
) -> None:
    """Draw a line for every choice, over a logarithmic axis of what is chosen."""
    for label, points in lines.items():
        axes.plot(*zip(*sorted(points), strict=True), label=label, markersize=5, linewidth=1.6, **styles[label])
    axes.set_xscale("log")
    if len(across) <= _MOST_TICKS:
        axes.set_xticks(across, labels=[f"{value:g}" for value in across])
        axes.set_xticks([], minor=True)


def loss_of(privacy: Any) -> float:
    """Epsilon, or rho of a concentrated guarantee."""
    return float(privacy.rho if isinstance(privacy, ZeroConcentratedDP) else privacy.epsilon)


def _label(metrics: Metrics, error: str) -> str:
    """Name of an error and the first words on it."""
    words = metrics[error].words.split(",")[0] if error in metrics else ""
    return f"{title(metrics, error)}: {words}" if words else title(metrics, error)


def _line(row: PlanRow) -> str:
    """Which line a row is a point of."""
    return row.method if row.trust is None else f"{row.trust}: {row.method}"


def draw(plan: Plan, ax: Any = None, *, error: str | None = None) -> Any:
    """Draw one line for each method."""
    names = {name for row in plan.rows for name in row.errors}
    statistic = str(what_of(plan.statistic).get("name"))
    metrics, deciding = metrics_of(statistic), prediction_of(statistic).deciding
    wanted = next((name for name in deciding if name in names), None) if error is None else named(metrics, error)
    if wanted not in names:
        raise ParameterError(f"`error` must be one of {listed(metrics, sorted(names))}, got {quoted(wanted)}")
    kinds = {type(row.privacy) for row in plan.rows}
    if len(kinds) > 1:
        raise ParameterError("a picture needs guarantees of one type; plan for each type on its own")
    axes = new_axes(ax)
    lines: dict[str, set[tuple[float, float]]] = {}
    for row in (row for row in plan.rows if wanted in row.errors):
        lines.setdefault(_line(row), set()).add((loss_of(row.privacy), row.errors[wanted]))
    styles = {
        line: {"color": _COLORS[number % len(_COLORS)], "marker": _MARKS[number % len(_MARKS)]}
        for number, line in enumerate(lines)
    }
    draw_lines(axes, lines, styles, sorted({loss_of(row.privacy) for row in plan.rows}))
    chosen = sorted(
        (loss_of(row.privacy), row.errors[wanted]) for row in plan.rows if row.chosen and wanted in row.errors
    )
    if chosen:
        axes.scatter(*zip(*chosen, strict=True), s=110, facecolors="none", edgecolors="black", label="taken", zorder=4)
    axes.set_yscale("log")
    axes.set_xlabel(
        "rho" if kinds == {ZeroConcentratedDP} else "epsilon" if kinds == {PureDP} else "epsilon (approximate)"
    )
    axes.set_ylabel(_label(metrics, wanted))
    caption(axes, f"Predicted error of {heading(plan)}", f"{plan.records:,} records", private=True)
    axes.grid(which="both", color=GRAY, alpha=0.18, linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    legend(axes)
    return axes
