"""`ogive plan`: what a release would cost and how far off it would be, before anything is spent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Group, Parameter

from ogive.cli.converters import whole
from ogive.cli.options.boxplot import ONE_BOX, BoxOptions
from ogive.cli.options.common import DECILES, TABLE, OutputOptions, Plot, Probabilities
from ogive.cli.options.methods import ANY_METHOD, MethodOptions
from ogive.cli.options.pairing import ANY_PAIRS, PairingOptions
from ogive.cli.options.plan import (
    NOTHING_PLANNED,
    PlannedClasses,
    PlannedColumn,
    PlannedPairs,
    PlannedScore,
    PlanOptions,
)
from ogive.cli.options.trees import ANY_TREE, TreeOptions
from ogive.cli.output import busy, check_outputs, check_picture, draw, publish
from ogive.cli.wording import in_options
from ogive.errors import ParameterError

if TYPE_CHECKING:
    from ogive.planning import Plan

app = App(
    name="plan",
    help="Predict price and error of every method before anything is spent. Reads no private records.",
)

MEASURED = Group("What is measured", sort_key=1)
COLUMN, SCORE, CLASSES, GINI = PlannedColumn(), PlannedScore(), PlannedClasses(), PlannedPairs()


@app.command
def ecdf(
    data: Path | None = None,
    /,
    *,
    smooth: str = "auto",
    measure: PlannedColumn = COLUMN,
    method: MethodOptions = ANY_METHOD,
    planned: PlanOptions = NOTHING_PLANNED,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Plan a distribution function.

    Args:
        data: A file whose rows are counted, instead of --records, where their number is public.
        smooth: As for ogive ecdf; matters for --like alone.
        measure: Thresholds.
        method: What would be used; other methods are compared with it.
        planned: Records and guarantees.
        output: Where the result goes.
        plot: A picture of error against privacy loss.
    """
    from ogive.statistics import Ecdf

    _show(Ecdf(measure.column, smooth=smooth, **measure.arguments(), **method.arguments()), data, planned, output, plot)


@app.command
def quantiles(
    data: Path | None = None,
    /,
    *,
    probabilities: Probabilities = DECILES,
    measure: PlannedColumn = COLUMN,
    method: MethodOptions = ANY_METHOD,
    planned: PlanOptions = NOTHING_PLANNED,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Plan quantiles.

    Args:
        data: A file whose rows are counted, instead of --records, where their number is public.
        probabilities: Which quantiles; the nine deciles by default.
        measure: Thresholds.
        method: What would be used; other methods are compared with it.
        planned: Records and guarantees.
        output: Where the result goes.
        plot: A picture of error against privacy loss.
    """
    from ogive.statistics import Quantiles

    _show(
        Quantiles(measure.column, probabilities, **measure.arguments(), **method.arguments()),
        data,
        planned,
        output,
        plot,
    )


@app.command
def boxplot(
    data: Path | None = None,
    /,
    *,
    boxes: BoxOptions = ONE_BOX,
    measure: PlannedColumn = COLUMN,
    planned: PlanOptions = NOTHING_PLANNED,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Plan a boxplot.

    Args:
        data: A file whose rows are counted, instead of --records, where their number is public.
        boxes: Groups and method.
        measure: Thresholds.
        planned: Records and guarantees.
        output: Where the result goes.
        plot: A picture of error against privacy loss.
    """
    from ogive.statistics import Boxplot

    _show(Boxplot(measure.column, **boxes.arguments(), **measure.arguments()), data, planned, output, plot)


@app.command
def roc(
    data: Path | None = None,
    /,
    *,
    positive_when: Literal["high", "low"] = "high",
    public_labels: bool | None = None,
    smooth: str = "auto",
    measure: PlannedScore = SCORE,
    classes: PlannedClasses = CLASSES,
    planned: PlanOptions = NOTHING_PLANNED,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Plan an ROC curve with its AUC.

    Args:
        data: A file whose rows are counted, instead of --records, where their number is public.
        positive_when: Which scores speak for the positive class.
        public_labels: Everybody may know each record's class, which --public declares and then is the default.
        smooth: As for ogive roc.
        measure: Thresholds.
        classes: Label and classes.
        planned: Records and guarantees.
        output: Where the result goes.
        plot: A picture of error against privacy loss.
    """
    from ogive.statistics import Roc

    statistic = Roc(
        measure.score,
        classes.label,
        positive_when=positive_when,
        public_labels=public_labels,
        smooth=smooth,
        **measure.arguments(),
        **classes.arguments(),
    )
    _show(statistic, data, planned, output, plot)


@app.command
def calibration(
    data: Path | None = None,
    /,
    *,
    probability: Annotated[str, Parameter(group=MEASURED)] = "probability",
    groups: Annotated[int, Parameter(group=MEASURED, converter=whole)] = 10,
    bins: Annotated[int, Parameter(group=MEASURED, converter=whole)] = 1024,
    classes: PlannedClasses = CLASSES,
    planned: PlanOptions = NOTHING_PLANNED,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Plan a test of predicted probabilities (Hosmer and Lemeshow).

    Args:
        data: A file whose rows are counted, instead of --records, where their number is public.
        probability: Name of the column with the predicted probabilities; matters for --like alone.
        groups: Number of groups.
        bins: Number of thresholds among which the groups' ends are chosen.
        classes: Label and classes.
        planned: Records and guarantees.
        output: Where the result goes.
        plot: A picture of error against privacy loss.
    """
    from ogive.statistics import HosmerLemeshow

    statistic = HosmerLemeshow(probability, classes.label, groups=groups, bins=bins, **classes.arguments())
    _show(statistic, data, planned, output, plot)


@app.command
def ustat(
    data: Path | None = None,
    /,
    *,
    measure: PlannedPairs = GINI,
    tree: TreeOptions = ANY_TREE,
    pairing: PairingOptions = ANY_PAIRS,
    planned: PlanOptions = NOTHING_PLANNED,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Plan a statistic of pairs of records; --trust central local compares both.

    Args:
        data: A file whose rows are counted, instead of --records, where their number is public.
        measure: Columns, kernel and what values may be.
        tree: What a tree of an AUC leaves open.
        pairing: What pairs of people leave open.
        planned: Records and guarantees.
        output: Where the result goes.
        plot: A picture of error against privacy loss.
    """
    from ogive.statistics import Ustatistic

    _show(Ustatistic(**measure.arguments() | tree.arguments(measure.method, pairing)), data, planned, output, plot)


@app.command
def bounds(
    data: Path | None = None,
    /,
    *,
    column: Annotated[str, Parameter(group=MEASURED)] = "value",
    base: Annotated[float, Parameter(group=MEASURED)] = 2.0,
    planned: PlanOptions = NOTHING_PLANNED,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Plan bounds that are found privately.

    Args:
        data: A file whose rows are counted, instead of --records, where their number is public.
        column: Name of the column; matters for --like alone.
        base: Bounds are found within this factor.
        planned: Records and guarantees.
        output: Where the result goes.
        plot: A picture of error against privacy loss.
    """
    from ogive.statistics import Bounds

    _show(Bounds(column, base=base), data, planned, output, plot)


def _show(statistic: Any, data: Path | None, planned: PlanOptions, output: OutputOptions, plot: Path | None) -> None:
    """Plan and publish, after everything that could be wrong was checked."""
    if plot is not None:
        check_picture(plot)
    check_outputs(data if data is not None else Path(), output.output, plot)
    wanted, privacy = planned.wanted(), planned.privacy()
    with busy("planning") as progress:
        made = _made(statistic, planned, data, wanted, privacy, progress)
    if plot is not None:
        draw(lambda axes: made.plot(axes), plot)
    publish(made.to_json, lambda: _told(made, planned), output, public=True)


def _made(
    statistic: Any,
    planned: PlanOptions,
    data: Path | None,
    wanted: Any,
    privacy: Any,
    progress: Callable[[int, int], None],
) -> Plan:
    from ogive.planning import plan, required_privacy

    arguments = planned.arguments(data)
    if wanted is None:
        return plan(statistic, privacy=privacy, progress=progress, **arguments)
    if planned.delta is not None and planned.kind == "zcdp":
        raise ParameterError("give either --kind zcdp or --delta, not both")
    kind = "approx" if planned.delta is not None else planned.kind
    needed = required_privacy(statistic, error=wanted, kind=kind, delta=planned.delta, progress=progress, **arguments)
    return plan(statistic, privacy=needed, progress=progress, **arguments)


def _told(made: Plan, planned: PlanOptions) -> str:
    if planned.error is None:
        return in_options(str(made))
    return f"{planned.error} needs {made.chosen.privacy}\n\n{in_options(str(made))}"
