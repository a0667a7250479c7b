"""`ogive local`: collect randomized reports from their owners, by files or by a service."""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from ogive.cli.converters import whole
from ogive.cli.local.describe import app as describe
from ogive.cli.local.kept_state import KeptState, key_file
from ogive.cli.local.naming import described, named
from ogive.cli.options.common import TABLE, OutputOptions, Plot, Words, guarantee
from ogive.cli.output import busy, check_outputs, check_picture, draw, publish
from ogive.cli.wording import to_owners
from ogive.errors import DataError, OgiveError, ParameterError, quoted
from ogive.progress import Progress
from ogive.provenance import publishable

if TYPE_CHECKING:
    from ogive.arrays import Float64, Int64
    from ogive.local.collection import Collection, Counts
    from ogive.local.description import Description

SAVE_SECONDS = 10.0
"""How often a partial state is saved while files are read."""

app = App(
    name="local",
    help="Collect randomized reports from their owners, by files: describe, show, randomize, aggregate; or by a "
    "service: devices, serve, send.",
)
app.command(describe)
app.command(
    "ogive.cli.local.serve:devices",
    name="devices",
    help="Make the certificate of a service and a token for each participant.",
)
app.command("ogive.cli.local.serve:serve", name="serve", help="Take reports over HTTPS, one from each participant.")
app.command("ogive.cli.local.serve:send", name="send", help="Send reports to the service that collects them.")


@app.command
def show(study: Path, /) -> None:
    """Show what participants are asked and what a report reveals, before anybody answers.

    Args:
        study: The description, as ogive local describe writes it.
    """
    print(described(study).words)


@app.command
def randomize(
    study: Path,
    data: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    first: Annotated[int | None, Parameter(converter=whole)] = None,
    number_column: str | None = None,
    limit_epsilon: str | None = None,
    limit_delta: str | None = None,
    public_columns: Words | None = None,
) -> None:
    """Randomize records where they are: one report for each row, which may then leave.

    Every run draws anew, so send what one run wrote: two reports of one person cost twice.

    Args:
        study: The description, as ogive local describe writes it.
        data: A CSV, TSV (gzipped or not), Parquet or Arrow file; one row per participant.
        output: Where the reports go.
        first: Number of the first row's participant, 0 by default; the others follow in the order of the file.
        number_column: Column with the participants' numbers, instead of --first.
        limit_epsilon: Refuse a description that asks for more, whoever wrote it.
        limit_delta: Slack in probability that is allowed beside --limit-epsilon.
        public_columns: Columns that may be sent as they are; with --limit-epsilon and without this option there are
            none.
    """
    from ogive.local.randomizer import Randomizer

    if first is not None and number_column is not None:
        raise ParameterError("give either --first or --number-column, not both")
    check_outputs(data, output, keep=[study])
    limit = guarantee(limit_epsilon, limit_delta, None, prefix="limit-")
    randomizer = Randomizer(described(study), limit=limit, public=public_columns)
    with busy(f"reading {data}"):
        rows, numbers = _rows(randomizer.description, data, number_column)
    reports = randomizer.report_rows(rows, first=first or 0, numbers=numbers)
    from ogive.files import write_atomically

    write_atomically(output, reports)
    print(f"wrote {output}: {_costs(randomizer.description, len(rows))}", file=sys.stderr)


@app.command
def aggregate(
    study: Path,
    /,
    *files: Path,
    partial: Path | None = None,
    count_only: Annotated[bool, Parameter(show_default=False)] = False,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Add reports up and estimate what the description is for.

    Args:
        study: The description, as ogive local describe writes it.
        files: Files of reports (gzipped or not) and partial states, in any order.
        partial: Keep the state in this file: a run that was stopped goes on from there, and others can merge it. Files
            that it has are not read again: PARTIAL.key, which is never handed on, tells which these are.
        count_only: Stop before the estimate; needs --partial, which keeps what was added up.
        output: Where the estimate goes.
        plot: A picture of the estimate.
    """
    from ogive.collecting import estimate_collection
    from ogive.local.collection import Collection

    if plot is not None:
        check_picture(plot)
    check_outputs(
        None, output.output, plot, partial, None if partial is None else key_file(partial), keep=[study, *files]
    )
    if count_only and partial is None:
        raise ParameterError("--count-only needs --partial, the file that keeps what was added up")
    description = described(study)
    with nullcontext() if partial is None else KeptState(partial) as kept:
        collection = Collection(description) if kept is None else kept.load(description)
        with busy("adding reports up") as progress:
            _add(collection, files, kept, progress)
        print(collection.counts, file=sys.stderr)
        if count_only:
            return
        with busy("estimating"):
            estimate = estimate_collection(collection)
        publish(estimate.to_json, lambda: str(estimate), output, public=publishable(estimate.provenance))
        if plot is not None:
            draw(estimate.plot, plot)


def _costs(description: Description, reports: int) -> str:
    """What some reports cost, and what of their owners no epsilon covers."""
    count = "1 report, which costs" if reports == 1 else f"{reports} reports, each of which costs"
    openly = [f", and carries the column {name!r} as it is, unprotected" for name in description.public_columns]
    return f"{count} its owner {description.privacy}{''.join(openly)}"


def _rows(description: Description, data: Path, number_column: str | None) -> tuple[Float64, Int64 | None]:
    """What the records are to their owners, and the owners' numbers where a column has them."""
    import numpy as np

    from ogive.columns import Binning, Domain
    from ogive.grids import Grid
    from ogive.queries import RowValues
    from ogive.records import Records

    columns = description.domain.columns
    if number_column is not None:
        # whatever is no number of a participant, a missing one too, is clipped to one of the ends, and refused below
        numbers = Grid.linear(-1, description.participants, bins=1)
        columns = (*columns, Binning(number_column, numbers, missing="low"))
    asked = RowValues(Domain(columns))
    try:
        rows = asked.values(Records.of(data).aggregate(asked))
    except DataError as problem:
        raise DataError(to_owners(problem)) from None
    if number_column is None:
        return rows, None
    found = rows[:, -1]
    if ((found != np.floor(found)) | (found < 0) | (found >= description.participants)).any():
        raise DataError(
            f"column {quoted(number_column)} must hold the number of a participant in each row, "
            f"whole and from 0 to {description.participants - 1}"
        )
    return rows[:, :-1], found.astype(np.int64)


def _add(collection: Collection, files: tuple[Path, ...], kept: KeptState | None, progress: Progress) -> None:
    """Add all files, and keep what was added every few seconds and at the end."""
    saved = time.monotonic()

    def advance(counts: Counts) -> None:
        nonlocal saved
        progress(collection.accepted, collection.description.participants)
        if kept is not None and time.monotonic() - saved > SAVE_SECONDS:
            kept.save(collection)
            saved = time.monotonic()

    try:
        for file in files:
            with named(file):
                counts = collection.add(file, progress=advance)
            if not counts.accepted and not counts.refused:
                print(f"{file}: nothing new", file=sys.stderr)
    except KeyboardInterrupt as stopped:
        # a report may be half counted at this moment, so what was saved last is all that is kept
        if kept is not None:
            stopped.add_note("the same command goes on from where it last saved")
        raise
    except OgiveError:
        if kept is not None:
            kept.save(collection)
        raise
    if kept is not None:
        kept.save(collection)
