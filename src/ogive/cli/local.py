"""`ogive local`: collect randomized reports from their owners, by files or by a service."""

from __future__ import annotations

import math
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

from cyclopts import App, Group, Parameter

from ogive.cli.data import Flag, OptionalWhole, Whole
from ogive.cli.options import TABLE, OutputOptions, Plot, Words, guarantee
from ogive.cli.output import busy, check_outputs, write_result
from ogive.cli.release import ParsedStatistic, command
from ogive.cli.wording import in_options, to_owners
from ogive.core.checks import Progress
from ogive.core.files import remove_leftovers, write_atomically, write_whole
from ogive.errors import DataError, OgiveError, ParameterError, PeerError, RefusalError, plain, quoted
from ogive.statistics.kinds import COMMANDED

if TYPE_CHECKING:
    from ogive.core.arrays import Float64, Int64
    from ogive.local.collection import Collection, Counts
    from ogive.local.description import Description

try:
    import fcntl
except ModuleNotFoundError:  # not every system has it; `KeptState.save` then tells two runs that meet
    fcntl = None  # type: ignore[assignment]

# --- What participants are promised


@Parameter(name="*", group=Group("Privacy guarantee", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class PromiseOptions:
    """Who is asked, and what they are promised."""

    participants: Whole
    """Number of participants; the questions are designed for this number of answers."""

    epsilon: str
    """Largest privacy loss of a report, against everyone who sees it."""

    delta: str | None = None
    """Delta, the slack in probability, for methods that need one."""

    title: Annotated[str, Parameter(show_default=False)] = ""
    """One line that tells participants the purpose."""

    predict: Flag = False
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
    return command(COMMANDED[name], _describe, owners=True)


def _describe(parsed: ParsedStatistic, *, promised: PromiseOptions, output: OutputOptions = TABLE) -> None:
    from ogive.releasing.collecting import describe_collection

    statistic = parsed.statistic()
    check_outputs(None, output.output)
    privacy = guarantee(promised.epsilon, promised.delta, None)
    assert privacy is not None
    description = describe_collection(
        statistic, privacy=privacy, participants=promised.participants, title=promised.title
    )
    reach = description.oracle.reach
    parts = [
        description.words,
        f"A false report looks like an honest one, and counts for at most {reach:.3g} people\n"
        f"in any one count: {100 * reach / description.participants:.2g} % of all participants.",
    ]
    if promised.shuffled is not None:
        parts.append(_shuffled(description, promised.shuffled))
    if promised.predict:
        from ogive.releasing.planning import plan
        from ogive.releasing.planning.text import table
        from ogive.trust import Local

        with busy("predicting errors") as progress:
            result = plan(statistic, privacy=privacy, records=promised.participants, trust=Local, progress=progress)
        parts.append(table(result, in_options))
    message = "\n\n".join(parts)
    write_result(description, output, text=lambda _: message, public=True)
    if output.json:
        print(message, file=sys.stderr)
    elif output.output is None:
        print("this was a preview: name a file with -o, which participants need", file=sys.stderr)


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
    shown = ApproxDP(Fraction(math.ceil(bound * _SHOWN), _SHOWN), delta)
    return (
        "If somebody whom all trust removes the participants' numbers and shuffles the reports on each question,\n"
        f"or adds them up, and {description.participants} report, all others learn no more than {shown}, one record\n"
        f"replaced by any other (the smallest group of reports on one question has {group})."
    )


# --- Errors that name the file


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Say in which file somebody else's data were no good."""
    try:
        yield
    except PeerError as problem:
        raise problem.prefixed(path) from None


def described(path: Path) -> Description:
    """The description in a file."""
    from ogive.local.description import Description

    with named(path):
        return Description.from_json(path)


# --- The file of a partial state, and the key beside it


def key_file(path: Path) -> Path:
    """Where the key of a state lies by which the files are recognized that it has; links are followed."""
    return Path(f"{path.resolve()}.key")


class KeptState:
    """A state that this run alone may write, from before it is loaded until the run ends, however it ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open = ExitStack()

    def __enter__(self) -> KeptState:
        from ogive.local.states import check_state

        with named(self._path):
            check_state(self._path)  # before a key is put beside somebody else's file
        with ExitStack() as opened:
            place = key_file(self._path)
            file = opened.enter_context(_opened(place))
            if self._lock(file):
                remove_leftovers(self._path)
            self._key = _key(file, place)
            self._seen = _stamp(self._path)
            self._open = opened.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._open.close()

    def load(self, description: Description) -> Collection:
        """The collection that the file has, or a new one."""
        from ogive.local.collection import Collection

        if not self._path.exists():
            return Collection(description)
        with named(self._path):
            collection = Collection.load(self._path, key=self._key)
            if collection.description.digest != description.digest:
                raise PeerError("this partial state is of another description; name another file")
        return collection

    def save(self, collection: Collection) -> None:
        """Write the state."""
        if _stamp(self._path) != self._seen:
            raise RefusalError(
                f"{plain(self._path)}: another run has written this file meanwhile, and what it holds is kept; "
                "run this again to add the same files to that"
            )
        collection.save(self._path, key=self._key)
        self._seen = _stamp(self._path)

    def _lock(self, file: IO[Any]) -> bool:
        """Whether this run alone has the file: not where the system or the file system knows no locks."""
        if fcntl is None:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RefusalError(
                f"{plain(self._path)}: another run is adding to this file; run this again when that one has ended, "
                "or name another file and merge the two"
            ) from None
        except OSError:
            return False
        return True


def _opened(place: Path) -> IO[Any]:
    try:
        handle = os.open(place, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        file = os.fdopen(handle, "r+b", buffering=0)
    except OSError as problem:
        raise ParameterError(f"cannot open {plain(place)}, the key of the partial state: {problem.strerror}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        file.close()
        raise _no_key(place)
    return file


def _key(file: IO[Any], place: Path) -> bytes:
    """The key that the file holds, or a new one, which is on the disk before any state is sealed with it."""
    from ogive.local.collection import Collection
    from ogive.local.states import KEY_BYTES

    try:
        key = bytes(file.read(KEY_BYTES + 1))
        if not key:
            key = Collection.new_key()
            write_whole(file.fileno(), key, at=0)
            os.fsync(file.fileno())
    except OSError as problem:
        raise ParameterError(f"cannot use {plain(place)}, the key of the partial state: {problem.strerror}") from None
    if len(key) != KEY_BYTES:
        raise _no_key(place)
    return key


def _no_key(place: Path) -> ParameterError:
    return ParameterError(
        f"{plain(place)} is not a key of a partial state; move it away, or name another file for the state"
    )


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        result = path.stat()
    except OSError:
        return None
    return result.st_ino, result.st_mtime_ns, result.st_size


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
    first: OptionalWhole = None,
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
    from ogive.local.description import Randomizer

    if first is not None and number_column is not None:
        raise ParameterError("give either --first or --number-column, not both")
    check_outputs(data, output, keep=[study])
    limit = guarantee(limit_epsilon, limit_delta, None, prefix="limit-")
    randomizer = Randomizer(described(study), limit=limit, public=public_columns)
    with busy(f"reading {data}"):
        rows, numbers = _rows(randomizer.description, data, number_column)
    reports = randomizer.report_rows(rows, first=first or 0, numbers=numbers)
    write_atomically(output, reports)
    print(f"wrote {output}: {_costs(randomizer.description, len(rows))}", file=sys.stderr)


@app.command
def aggregate(
    study: Path,
    /,
    *files: Path,
    partial: Path | None = None,
    count_only: Flag = False,
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

    key = None if partial is None else key_file(partial)
    check_outputs(None, output.output, partial, key, plot=plot, keep=[study, *files])
    if count_only and partial is None:
        raise ParameterError("--count-only needs --partial, the file that keeps what was added up")
    description = described(study)
    with nullcontext() if partial is None else KeptState(partial) as state:
        collection = Collection(description) if state is None else state.load(description)
        with busy("adding reports up") as progress:
            _add(collection, files, state, progress)
        print(collection.counts, file=sys.stderr)
        if count_only:
            return
        with busy("estimating"):
            estimate = estimate_collection(collection)
        write_result(estimate, output, plot=plot)


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
        # whatever is not a number of a participant, a missing one too, is clipped to one of the ends, and refused below
        numbers = Grid.linear(-1, description.participants, bins=1)
        columns = (*columns, Binning(number_column, numbers, missing="low"))
    read = RowValues(Domain(columns))
    try:
        rows = read.values(Records.of(data).aggregate(read))
    except DataError as problem:
        raise DataError(to_owners(problem)) from None
    if number_column is None:
        return rows, None
    result = rows[:, -1]
    if ((result != np.floor(result)) | (result < 0) | (result >= description.participants)).any():
        raise DataError(
            f"column {quoted(number_column)} must hold the number of a participant in each row, "
            f"whole and from 0 to {description.participants - 1}"
        )
    return rows[:, :-1], result.astype(np.int64)


def _add(collection: Collection, files: tuple[Path, ...], state: KeptState | None, progress: Progress) -> None:
    """Add all files, and keep what was added every few seconds and at the end."""
    saved = time.monotonic()

    def advance(counts: Counts) -> None:
        nonlocal saved
        progress(collection.accepted, collection.description.participants)
        if state is not None and time.monotonic() - saved > SAVE_SECONDS:
            state.save(collection)
            saved = time.monotonic()

    try:
        for file in files:
            with named(file):
                counts = collection.add(file, progress=advance)
            if not counts.accepted and not counts.refused:
                print(f"{file}: nothing new", file=sys.stderr)
    except KeyboardInterrupt as stopped:
        # a report may be half counted at this moment, so what was saved last is all that is kept
        if state is not None:
            stopped.add_note("the same command goes on from where it last saved")
        raise
    except OgiveError:
        if state is not None:
            state.save(collection)
        raise
    if state is not None:
        state.save(collection)


# --- Commands that collect over a network


def devices(
    study: Annotated[Path, Parameter(help="The description, as ogive local describe writes it.")],
    folder: Annotated[Path, Parameter(help="Folder to make.")],
    /,
    *,
    host: Words,
    count: OptionalWhole = None,
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
    port: Whole = 8443,
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
    message = "1 report was sent" if new == 1 else f"{new:,} reports were sent"
    print(message + (f"; for {before:,} another report is stored, which stays" if before else ""), file=sys.stderr)
