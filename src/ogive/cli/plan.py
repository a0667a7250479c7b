"""`ogive plan`: what a release would cost and how far off it would be, before anything is spent."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from cyclopts import App, Parameter

from ogive.cli.converters import data_table
from ogive.cli.declared import ParsedStatistic, Use, command
from ogive.cli.help import QUESTION
from ogive.cli.options.common import TABLE, OutputOptions, Plot, SubsetOptions, part_options
from ogive.cli.options.plan import NOTHING_PLANNED, PlanOptions
from ogive.cli.output import busy, check_outputs, check_picture, draw, publish
from ogive.cli.wording import in_options
from ogive.errors import ParameterError
from ogive.progress import Progress
from ogive.statistics.kinds import COMMANDED, Kind

if TYPE_CHECKING:
    from ogive.planning import Plan

app = App(
    name="plan",
    help="Predict price and error of every method before anything is spent. Reads no private records.",
)
for _name, _kind in COMMANDED.items():
    app.command(f"ogive.cli.plan:{_name}", name=_name, alias=_kind.alias, help=f"Plan {_kind.summary}.")

DATA = Annotated[
    Path | str | None,
    Parameter(
        group=QUESTION,
        help="A file, or a table of an engine, whose rows are counted, instead of --records, where their number is "
        "public. Of the records only what columns hold is read besides, for plan describe.",
        converter=data_table,
    ),
]
PICTURE = Annotated[Plot, Parameter(help="Draw error against privacy loss into this file, .png, .svg or .pdf.")]


def __getattr__(name: str) -> Callable[..., None]:
    """The command of a kind, made when it is used."""
    if name not in COMMANDED:
        raise AttributeError(name)
    return plan_command(COMMANDED[name])


def plan_command(kind: Kind) -> Callable[..., None]:
    """The command that plans a statistic of one kind."""
    named = inspect.Parameter.KEYWORD_ONLY
    part = part_options([field.name for field in dataclasses.fields(cast(Any, kind.statistic))])
    own = [
        inspect.Parameter("data", inspect.Parameter.POSITIONAL_ONLY, default=None, annotation=DATA),
        inspect.Parameter("part", named, default=part, annotation=type(part)),
        inspect.Parameter("planned", named, default=NOTHING_PLANNED, annotation=PlanOptions),
        inspect.Parameter("output", named, default=TABLE, annotation=OutputOptions),
        inspect.Parameter("plot", named, default=None, annotation=PICTURE),
    ]
    return command(kind, Use(names=False), own, _show)


def _show(
    parsed: ParsedStatistic,
    data: Path | str | None,
    part: SubsetOptions,
    planned: PlanOptions,
    output: OutputOptions,
    plot: Path | None,
) -> None:
    """Plan and publish, after everything that could be wrong was checked."""
    statistic = part.asked(parsed.statistic())
    if part.where is not None and data is not None:
        raise ParameterError(
            "how many records satisfy --where is not counted for a plan; say about how many with --records"
        )
    if plot is not None:
        check_picture(plot)
    check_outputs(data, output.output, plot)
    wanted, privacy = planned.wanted(), planned.privacy()
    with busy("planning") as progress:
        made = _made(statistic, planned, data, wanted, privacy, progress)
    if plot is not None:
        draw(lambda axes: made.plot(axes), plot)
    publish(made.to_json, lambda: _told(made, planned), output, public=True)


def _made(
    statistic: Any,
    planned: PlanOptions,
    data: Path | str | None,
    wanted: Any,
    privacy: Any,
    progress: Progress,
) -> Plan:
    from ogive.planning import plan, required_privacy

    statistic, records = planned.held(data, statistic)
    arguments = {"records": records, **planned.arguments()}
    if wanted is None:
        return plan(statistic, privacy=privacy, progress=progress, **arguments)
    if planned.delta is not None and planned.kind == "zcdp":
        raise ParameterError("give either --kind zcdp or --delta, not both")
    kind = "approx" if planned.delta is not None else planned.kind
    needed = required_privacy(statistic, error=wanted, kind=kind, delta=planned.delta, progress=progress, **arguments)
    return plan(statistic, privacy=needed, progress=progress, **arguments)


def _told(made: Plan, planned: PlanOptions) -> str:
    from ogive.planning.text import table

    told = table(made, in_options, unit=planned.unit_name)
    if planned.unit_name is not None and told == table(made, in_options):
        raise ParameterError(
            f"--unit is for errors in units of the column, and this plan of {made.statistic['name']} has none; "
            "leave out --unit"
        )
    return told if planned.error is None else f"{planned.error} needs {made.chosen.privacy}\n\n{told}"
