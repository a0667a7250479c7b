"""`ogive ecdf`, `ogive roc` and the like: one release of each kind of statistic, from its own declaration."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Any, cast

from cyclopts import Parameter

from ogive.cli.converters import data_table
from ogive.cli.declared import ParsedStatistic, Use, command
from ogive.cli.help import OUTPUT, QUESTION
from ogive.cli.options.common import (
    NO_BOOKS,
    NOTHING_GRANTED,
    TABLE,
    BudgetOptions,
    OutputOptions,
    Plot,
    PrivacyOptions,
    SubsetOptions,
    part_options,
)
from ogive.cli.options.compared import NOTHING_COMPARED, ComparedOptions, compared_options
from ogive.cli.options.readings import NOTHING_READ, ReadingOptions
from ogive.errors import ParameterError
from ogive.statistics.kinds import COMMANDED, Kind

DATA = Annotated[
    Path | str,
    Parameter(
        group=QUESTION,
        help="File of records, or dataset:bank; CSV, TSV (gzipped or not), Parquet or Arrow. dataset:bank comes with "
        "ogive. Or the address of a table, such as postgresql://user@host/database?table=visits or "
        "spark:local[2]?parquet=visits.parquet.",
        converter=data_table,
    ),
]
NA = Annotated[
    tuple[str, ...],
    Parameter(
        help="Words and numbers that mean a missing value; in measured columns, beside the usual ones: empty, "
        "NA, N/A, NaN, null, None, ? and a single point.",
        group=QUESTION,
        consume_multiple=True,
        show_default=False,
    ),
]
_NAMED = inspect.Parameter.KEYWORD_ONLY


def __getattr__(name: str) -> Callable[..., None]:
    """The command of a kind, made when it is first used."""
    if name not in COMMANDED:
        raise AttributeError(name)
    return _command(name)


@cache
def _command(name: str) -> Callable[..., None]:
    return release_command(COMMANDED[name])


def release_command(kind: Kind) -> Callable[..., None]:
    """The command that releases a statistic of one kind."""
    part = part_options([field.name for field in dataclasses.fields(cast(Any, kind.statistic))])
    compared = compared_options(kind)
    own = [
        inspect.Parameter("data", inspect.Parameter.POSITIONAL_ONLY, annotation=DATA),
        inspect.Parameter("na", _NAMED, default=(), annotation=NA),
        inspect.Parameter("part", _NAMED, default=part, annotation=type(part)),
        inspect.Parameter("granted", _NAMED, default=NOTHING_GRANTED, annotation=PrivacyOptions),
        inspect.Parameter("account", _NAMED, default=NO_BOOKS, annotation=BudgetOptions),
        inspect.Parameter("output", _NAMED, default=TABLE, annotation=OutputOptions),
    ]
    if compared is not None:
        own.append(inspect.Parameter("compared", _NAMED, default=compared, annotation=type(compared)))
    if kind.command_options.readings:
        own.append(inspect.Parameter("readings", _NAMED, default=NOTHING_READ, annotation=ReadingOptions))
    if kind.shows("plot"):
        own.append(inspect.Parameter("plot", _NAMED, default=None, annotation=Plot))
    picture = kind.command_options.picture
    if picture is not None:
        help_of = Parameter(help=picture.help, group=OUTPUT, show_default=False)
        own.append(inspect.Parameter(picture.option, _NAMED, default=False, annotation=Annotated[bool, help_of]))
    return command(kind, Use(), own, _release)


def _release(
    parsed: ParsedStatistic,
    data: Path | str,
    na: tuple[str, ...],
    part: SubsetOptions,
    granted: PrivacyOptions,
    account: BudgetOptions,
    output: OutputOptions,
    plot: Path | None = None,
    compared: ComparedOptions = NOTHING_COMPARED,
    readings: ReadingOptions = NOTHING_READ,
    **drawn: bool,
) -> None:
    from ogive.cli.paying import release_and_publish

    told = parsed.kind.command_options
    picture = told.picture if any(drawn.values()) else None
    if picture is not None:
        if plot is None:
            named = f"--plot {parsed.kind.command}.png"
            raise ParameterError(f"--{picture.option} says how --plot draws, so name a picture, for example {named}")
        picture.check(parsed.given)
    told.check(parsed.given, granted.trust)
    readings.check(output.json)

    def draw(estimate: Any, axes: Any) -> Any:
        return estimate.plot(axes, **({} if picture is None else picture.drawn))

    def table(estimate: Any) -> str:
        # of groups the estimate is another, which has a table of its own
        return told.table(estimate) if isinstance(estimate, parsed.kind.estimate) else str(estimate)

    statistic = part.asked(parsed.statistic())
    compared.check(statistic)
    release_and_publish(
        statistic,
        data,
        na=na,
        granted=granted,
        budget=account,
        output=output,
        plot=plot,
        table=readings.added_to(table),
        picture=draw,
        finish=compared.added_to,
    )
