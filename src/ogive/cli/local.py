"""`ogive local`: collect randomized reports from their owners, by files or by a service."""

from __future__ import annotations

import inspect
import math
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Group, Parameter

from ogive.cli.data import whole
from ogive.cli.kept_state import KeptState, described, key_file, named
from ogive.cli.options.common import TABLE, OutputOptions, Plot, Words, guarantee
from ogive.cli.output import busy, check_outputs, check_picture, draw, publish
from ogive.cli.release import ParsedStatistic, Use, command
from ogive.cli.wording import in_options, to_owners
from ogive.core.types import Progress
from ogive.errors import DataError, OgiveError, ParameterError, RefusalError, plain, quoted
from ogive.provenance import publishable
from ogive.statistics.kinds import COMMANDED, Kind

if TYPE_CHECKING:
    from ogive.core.arrays import Float64, Int64
    from ogive.local.collection import Collection, Counts
    from ogive.local.description import Description
    from ogive.privacy import Privacy
    from ogive.statistics.base import Statistic

# --- What participants are promised


@Parameter(name="*", group=Group("Privacy guarantee", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class PromiseOptions:
    """Who is asked, and what they are promised."""

    participants: Annotated[int, Parameter(converter=whole)]
    """Number of participants; the questions are designed for this number of answers."""

    epsilon: str
    """Largest privacy loss of a report, against everyone who sees it."""

    delta: str | None = None
    """Delta, the slack in probability, for methods that need one."""

    title: Annotated[str, Parameter(show_default=False)] = ""
    """One line that tells participants the purpose."""

    predict: Annotated[bool, Parameter(show_default=False)] = False
    """Also predict the error of every method that fits if all report; takes seconds to minutes."""

    shuffled: str | None = None
    """Also compute the epsilon against those who see only shuffled reports or their sums, with this delta."""


# --- `ogive local describe`

describing = App(name="describe", help="Write the questions for all owners to a file, and print what owners are told.")

for _name, _kind in COMMANDED.items():
    if _kind.owners:
        describing.command(f"ogive.cli.local:{_name}", name=_name, alias=_kind.alias, help=f"Ask for {_kind.summary}.")

_SHOWN = 10**6  # millionths, rounded up


def __getattr__(name: str) -> Callable[..., None]:
    """The command of a kind, made when it is used."""
    if name not in COMMANDED:
        raise AttributeError(name)
    return describe_command(COMMANDED[name])


def describe_command(kind: Kind) -> Callable[..., None]:
    """The command that describes what owners are asked for a statistic of one kind."""
    named = inspect.Parameter.KEYWORD_ONLY
    own = [
        inspect.Parameter("promised", named, annotation=PromiseOptions),
        inspect.Parameter("output", named, default=TABLE, annotation=OutputOptions),
    ]
    return command(kind, Use(owners=True), own, _describe)


def _describe(parsed: ParsedStatistic, promised: PromiseOptions, output: OutputOptions) -> None:
    from ogive.releasing.collecting import describe_collection

    statistic = parsed.statistic()
    check_outputs(None, output.output)
    privacy = guarantee(promised.epsilon, promised.delta, None)
    assert privacy is not None
    description = describe_collection(
        statistic, privacy=privacy, participants=promised.participants, title=promised.title
    )
    parts = [description.words, _weight(description)]
    if promised.shuffled is not None:
        parts.append(_shuffled(description, promised.shuffled))
    if promised.predict:
        parts.append(_predicted(statistic, privacy, promised.participants))
    message = "\n\n".join(parts)
    publish(description.to_json, lambda: message, output, public=True)
    if output.json:
        print(message, file=sys.stderr)
    elif output.output is None:
        print("this was a preview: name a file with -o, which participants need", file=sys.stderr)


def _weight(description: Description) -> str:
    """How much participants who lie can do, for who asks."""
    reach = description.oracle.reach
    share = 100 * reach / description.participants
    return "\n".join(
        [
            f"A false report looks like an honest one, and counts for at most {reach:.3g} people",
            f"in any one count: {share:.2g} % of all participants.",
        ]
    )


def _predicted(statistic: Statistic[Any], privacy: Privacy, participants: int) -> str:
    """What errors to expect."""
    from ogive.releasing.planning import plan
    from ogive.releasing.planning.text import table
    from ogive.trust import Local

    with busy("predicting errors") as progress:
        made = plan(statistic, privacy=privacy, records=participants, trust=Local, progress=progress)
    return table(made, in_options)


def _shuffled(description: Description, delta: str) -> str:
    """What shuffling leaves to be known, for the smallest group of reports on one question."""
    from ogive.accounting.shuffling import shuffled_epsilon
    from ogive.local.collection import smallest_group
    from ogive.privacy import ApproxDP, PureDP

    loss = description.oracle.loss
    if not isinstance(loss, PureDP):
        raise RefusalError("shuffling is accounted for where a report costs a pure epsilon; leave --delta out")
    try:
        group = smallest_group(description.oracle, description.participants)
        bound = shuffled_epsilon(group, loss.epsilon, delta)
    except ParameterError as problem:
        raise ParameterError(f"--shuffled: {plain(problem)}") from None
    kept = ApproxDP(Fraction(math.ceil(bound * _SHOWN), _SHOWN), delta)
    return "\n".join(
        [
            "If somebody whom all trust removes the participants' numbers and shuffles the reports on each question,",
            f"or adds them up, and {description.participants} report, all others learn no more than {kept}, one record",
            f"replaced by any other (the smallest group of reports on one question has {group}).",
        ]
    )


# --- Commands that read and write files

SAVE_SECONDS = 10.0
"""How often a partial state is saved while files are read."""

app = App(
    name="local",
    help="Collect randomized reports from their owners, by files: describe, show, randomize, aggregate; or by a "
    "service: devices, serve, send.",
)
app.command(describing)
app.command(
    "ogive.cli.local:devices",
    name="devices",
    help="Make the certificate of a service and a token for each participant.",
)
app.command("ogive.cli.local:serve", name="serve", help="Take reports over HTTPS, one from each participant.")
app.command("ogive.cli.local:send", name="send", help="Send reports to the service that collects them.")


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
    from ogive.core.files import write_atomically

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
    from ogive.local.collection import Collection
    from ogive.releasing.collecting import estimate_collection

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
    from ogive.columns.grids import Grid
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


# --- Commands that collect over a network


def devices(
    study: Annotated[Path, Parameter(help="The description, as ogive local describe writes it.")],
    folder: Annotated[Path, Parameter(help="Folder to make.")],
    /,
    *,
    host: Words,
    count: Annotated[int | None, Parameter(converter=whole)] = None,
) -> None:
    """Make what a service and its participants need: a certificate, and a token for each participant.

    Args:
        study: The description, as ogive local describe writes it.
        folder: Folder to make.
        host: Names and addresses under which the service is reached.
        count: How many participants get a token; by default all that the description asks.
    """
    from ogive.study.local import equip

    description = described(study)
    equip(folder, description, count=description.participants if count is None else count, hosts=host)
    print(
        f"{folder}: give ca.pem to everybody, and a line of tokens to each participant; keep the rest", file=sys.stderr
    )


def serve(
    study: Annotated[Path, Parameter(help="The description, as ogive local describe writes it.")],
    /,
    *,
    service: Path,
    store: Path,
    host: str = "127.0.0.1",
    port: Annotated[int, Parameter(converter=whole)] = 8443,
    released: Path | None = None,
) -> None:
    """Take reports over HTTPS, one of each participant, and show owners what they are asked.

    Args:
        study: The description, as ogive local describe writes it.
        service: Folder from ogive local devices.
        store: Folder of the reports, which ogive local aggregate reads at any time. Keep one copy of it.
        host: Address to listen on.
        port: Port to listen on.
        released: File of the estimate that the status page shows to everybody, as ogive local aggregate --output writes
            it; it may be written later, and again.
    """
    from ogive.study.local.service import serve as run

    run(described(study), service=service, store=store, host=host, port=port, released=released)


def send(
    study: Annotated[Path, Parameter(help="The description, as ogive local describe writes it.")],
    reports: Annotated[Path, Parameter(help="File of reports, as ogive local randomize writes it.")],
    /,
    *,
    connect: str,
    token: Path,
    authority: Path | None = None,
) -> None:
    """Send reports to the service that collects them, each with its participant's token.

    The same file may be sent again; a report of a participant who sent another one changes nothing.

    Args:
        study: The description, as ogive local describe writes it.
        reports: File of reports, as ogive local randomize writes it.
        connect: Address of the service, https://HOST:PORT.
        token: File with your token, or with a token a line for each of the reports.
        authority: File with the certificate that issued the service's; by default those that the system trusts.
    """
    from ogive.study.local import send as post

    new, before = post(described(study), reports, tokens=token, connect=connect, authority=authority)
    said = "1 report was sent" if new == 1 else f"{new:,} reports were sent"
    print(said + (f"; for {before:,} another report is stored, which stays" if before else ""), file=sys.stderr)
