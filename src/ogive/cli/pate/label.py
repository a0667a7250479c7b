"""`ogive pate label`: labels of public inputs by a noisy vote of teachers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ogive.cli.data import whole
from ogive.cli.options.common import (
    NO_BOOKS,
    NOTHING_GRANTED,
    TABLE,
    BudgetOptions,
    OutputOptions,
    Plot,
    PrivacyOptions,
)
from ogive.cli.output import busy, check_outputs, check_picture, draw, publish
from ogive.cli.pate.options import ALL_VOTES, ANY_AGGREGATOR, AggregatorOptions, VotesOptions, note
from ogive.cli.paying import files_of, pay_from
from ogive.errors import DataError, ParameterError, plain
from ogive.provenance import publishable

if TYPE_CHECKING:
    from ogive.ledger import Account, Ledger
    from ogive.ledger.opening import Hasher
    from ogive.privacy import Adjacency, Privacy
    from ogive.queries import Ballots
    from ogive.statistics.labels.estimate import LabelsEstimate
    from ogive.statistics.labels.statistic import Labels
    from ogive.trust.base import TrustModel


@dataclass(frozen=True)
class Held:
    """Votes and who holds them."""

    trust: TrustModel
    ballots: Ballots
    digest: bytes
    people: Hasher | None = None


def label(
    votes: Path,
    /,
    *,
    max_answers: Annotated[int | None, Parameter(converter=whole)] = None,
    classes: Annotated[int | None, Parameter(converter=whole)] = None,
    chosen: VotesOptions = ALL_VOTES,
    how: AggregatorOptions = ANY_AGGREGATOR,
    granted: PrivacyOptions = NOTHING_GRANTED,
    budget: BudgetOptions = NO_BOOKS,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Release labels of public inputs by a noisy vote of teachers.

    With --delta and no --epsilon exactly what the labels cost is spent.

    Args:
        votes: Vote counts, a row for every query and a column for every class: .npy, .npz, CSV, Parquet or Arrow. With
            --classes a table (CSV, TSV, Parquet or Arrow) of single votes, a row for every teacher and a column for
            every query.
        max_answers: The run ends after so many answers, which are paid for whether they are given or not.
        classes: VOTES has a row for every teacher, who votes for classes 0 to this less 1; as other --trust than
            central needs it.
        chosen: Which votes of the file.
        how: How votes become labels.
        granted: Privacy, adjacency and trust.
        budget: Whose votes, and the account that pays.
        output: Where the result goes.
        plot: A picture of how often each class was given; of margins where votes are opened.
    """
    from ogive.pate import label as release_labels
    from ogive.privacy import Adjacency
    from ogive.statistics.labels.statistic import Labels

    aggregator = how.made()
    limit = budget.limit()
    student = [] if how.student is None else [how.student]
    if plot is not None:
        check_picture(plot)
    if granted.public:
        raise ParameterError("a vote is hidden whatever it is for, so leave out --public")
    check_outputs(votes, output.output, plot, keep=[*files_of(budget.ledger), *student])
    with busy(f"reading {votes}"):
        held = _held(votes, classes, chosen, granted, budget)
    asked = Labels(
        aggregator,
        held.ballots,
        max_answers=max_answers,
        probabilities=how.probabilities(len(held.ballots.queries)),
    )
    rows = budget.max_rows_per_person
    privacy = _granted(asked, held.trust, granted, rows)
    teachers = held.trust.count() if _adjacency(granted, None, rows) is Adjacency.REPLACE else None
    note(aggregator, len(held.ballots.queries), teachers, max_answers)

    def ask(account: Account | None) -> LabelsEstimate:
        return release_labels(
            held.trust,
            aggregator,
            privacy=privacy,
            ballots=held.ballots if classes is not None else None,
            max_answers=max_answers,
            probabilities=asked.probabilities,
            adjacency=_adjacency(granted, account, rows),
            ledger=account,
            batch=budget.batch,
        )

    if budget.ledger is None or not held.trust.private:
        found, kept_in = ask(None), None
    else:
        with account_of(votes, held, limit, granted.adjacency, budget) as (ledger, account, name):
            found, paid = pay_from(lambda: (ledger, account), name, partial(ask, account))
        kept_in = budget.ledger
        print(paid, file=sys.stderr)
    publish(found.to_json, lambda: _told(found), output, public=publishable(found.provenance), kept_in=kept_in)
    if plot is not None:
        draw(found.plot, plot)


def _held(
    path: Path, classes: int | None, chosen: VotesOptions, granted: PrivacyOptions, budget: BudgetOptions
) -> Held:
    from ogive.pate import Ballots, Tallied

    simulation = granted.simulation()
    if classes is None:
        if granted.trust != "central":
            raise ParameterError(
                f"vote counts are added up already, so that --trust {granted.trust} hides no vote; give a table with "
                "a row for every teacher, and say with --classes how many classes there are"
            )
        whole_file, counts = chosen.read(path)
        trust = Tallied(counts, person=budget.person, max_rows_per_person=budget.max_rows_per_person)
        return Held(trust, trust.ballots, Tallied(whole_file).data_digest())
    from ogive.pate.votes import check_header
    from ogive.records import Records
    from ogive.records.files import file_source

    if chosen.name is not None:
        raise ParameterError("--name is for an .npz file of vote counts; a table of single votes has columns")
    if path.suffix.lower() in (".npy", ".npz"):
        raise ParameterError(
            f"--classes is for a table of single votes (CSV, TSV, Parquet or Arrow), and {plain(path.name)} holds "
            "an array; leave it out where the array holds counts"
        )
    columns = tuple(column for column in file_source(path).columns if column != budget.person)
    if not columns:
        raise DataError(f"{plain(path)} has no column of votes")
    check_header(columns, path)
    records = Records.of(path)
    model = simulation.over(records, person=budget.person, max_rows_per_person=budget.max_rows_per_person)
    people = None if budget.person is None else partial(records.person_hashes, budget.person)
    return Held(model, Ballots(columns[: chosen.count(len(columns))], classes), records.digest(), people)


def _granted(asked: Labels, trust: TrustModel, granted: PrivacyOptions, rows: int) -> Privacy | None:
    """What was granted, or exactly what the labels cost."""
    from ogive.pate.labelling import exact_guarantee

    if granted.trust == "clear" or (granted.epsilon, granted.rho) != (None, None):
        return granted.privacy()
    pure = asked.aggregator.name == "lnmax"
    if granted.delta is None and not pure:
        raise ParameterError(
            "give a privacy guarantee, for example --epsilon 2 --delta 1e-5, or --delta alone to spend exactly what "
            "the labels cost"
        )
    return exact_guarantee(asked, trust, _adjacency(granted, None, rows), granted.delta)


def _adjacency(granted: PrivacyOptions, account: Account | None, rows: int) -> Adjacency:
    """The given adjacency, or the usual one."""
    from ogive.privacy import Adjacency
    from ogive.releasing.session.opening import default_adjacency

    return default_adjacency(account, rows) if granted.adjacency is None else Adjacency(granted.adjacency)


@contextmanager
def account_of(
    path: Path, held: Held, limit: Privacy | None, adjacency: str | None, budget: BudgetOptions
) -> Iterator[tuple[Ledger, Account, str]]:
    """The ledger of these teachers, their account, and its name."""
    from ogive.releasing.session.opening import name_of, open_account, open_ledger

    assert budget.ledger is not None
    # --name is an array of the file here
    name = name_of(path, budget.data_set, lasting=True, parameter="data_set")
    with open_ledger(budget.ledger, limit=limit) as ledger:
        account = open_account(
            ledger,
            name,
            held.trust,
            fingerprint=ledger.fingerprint(held.digest),
            adjacency=adjacency,
            public=None,
            max_rows_per_person=budget.max_rows_per_person,
            limit=limit,
            part=budget.part,
            updated=budget.updated,
            people=held.people,
            other_people=budget.other_people,
        )
        yield ledger, account, name


def _told(found: LabelsEstimate) -> str:
    provenance = found.provenance
    assert provenance is not None
    public = ["the labels and which queries have none", "the queries", "the number of teachers"]
    if found.opened is not None:
        public.insert(1, "the noisy votes")
    if found.total is None:
        public.pop()
    lines = [str(found)]
    if provenance.price is not None:
        lines += [
            f"price:    {provenance.price}, whatever the votes are",
            f"public:   {', '.join(public)}, and all that is said here",
            "private:  the votes, and what is computed from them without noise",
        ]
    return "\n".join(lines)
