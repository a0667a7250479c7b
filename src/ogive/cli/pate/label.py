"""`ogive pate label` and `ogive pate plan`, and the options that the commands of `ogive pate` share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cyclopts import Group, Parameter

from ogive.cli.data import Flag, OptionalWhole, Whole
from ogive.cli.options import (
    NO_BOOKS,
    NOTHING_GRANTED,
    TABLE,
    BudgetOptions,
    OutputOptions,
    Plot,
    PrivacyOptions,
    Words,
)
from ogive.cli.output import busy, check_outputs, write_result
from ogive.cli.paying import files_of, pay_from
from ogive.errors import DataError, ParameterError, plain, quoted

if TYPE_CHECKING:
    from ogive.core.arrays import Int64
    from ogive.ledger import Account, Ledger
    from ogive.ledger.account import Hasher
    from ogive.pate.aggregators import Aggregator
    from ogive.privacy import Adjacency, Privacy
    from ogive.queries import Ballots
    from ogive.statistics.labels.estimate import LabelsEstimate
    from ogive.statistics.labels.statistic import Labels
    from ogive.trust.base import TrustModel

# --- Options

_NEEDED = {
    "lnmax": ("LNMax", ("scale",)),
    "gnmax": ("GNMax", ("sigma",)),
    "confident": ("ConfidentGNMax", ("threshold", "sigma1", "sigma2")),
    "interactive": ("InteractiveGNMax", ("threshold", "sigma1", "sigma2", "confidence")),
    "margins": ("LargestMargins", ("keep",)),
}
"""The class of each aggregator, and the options that it needs."""
_OPTIONS = ("threshold", "sigma1", "sigma2", "sigma", "scale", "keep", "confidence", "student")
_ALLOWED = {**{name: needed for name, (_, needed) in _NEEDED.items()}, "margins": ("keep", "sigma")}


@Parameter(name="*", group=Group("Votes", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class VotesOptions:
    """Which votes of a file."""

    name: str | None = None
    """Name of the array, in an .npz file of several."""

    first: OptionalWhole = None
    """Use only this number of queries, the first ones; all by default."""

    def read(self, path: Path) -> tuple[Int64, Int64]:
        """Vote counts: all of the file, and those that are asked for."""
        from ogive.pate import read_votes

        votes = read_votes(path, name=self.name)
        return votes, votes[: self.count(len(votes))]

    def count(self, there: int) -> int:
        """How many queries are labelled, of a number of them."""
        if self.first is None:
            return there
        if not 1 <= self.first <= there:
            raise ParameterError(f"--first must be from 1 to the {there} queries that there are, got {self.first}")
        return self.first


@Parameter(name="*", group=Group("Aggregator", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class AggregatorOptions:
    """How votes become labels; numbers are in votes."""

    aggregator: Literal["confident", "gnmax", "lnmax", "margins", "interactive"] | None = None
    """Which one; by default the one whose options are given."""

    threshold: str | None = None
    """confident, interactive: threshold for the largest noisy count. Above the number of teachers no count reaches it
    without noise: how many queries pass depends on sigma1.
    """

    sigma1: str | None = None
    """confident, interactive: standard deviation of the check's noise."""

    sigma2: str | None = None
    """confident, interactive: standard deviation of the noise of every count of an answer."""

    sigma: str | None = None
    """gnmax, margins: standard deviation of the noise of every count."""

    scale: str | None = None
    """lnmax: scale of the Laplace noise of every count."""

    keep: OptionalWhole = None
    """margins: how many queries are labelled, those with the largest noisy margins."""

    confidence: str | None = None
    """interactive: above which probability the student's own label is kept where the teachers agree with it."""

    student: Path | None = None
    """interactive: an .npy file of the student's probabilities, a row for every query."""

    def built(self) -> Aggregator:
        """The aggregator."""
        from ogive import pate

        kind = self._kind()
        class_, needed = _NEEDED[kind]
        given = {name: getattr(self, name) for name in needed}
        for name, value in given.items():
            if value is None:
                raise ParameterError(f"aggregator {kind} needs --{name}")
        aggregator: Aggregator = (
            pate.LargestMargins(self.sigma, **given) if kind == "margins" else getattr(pate, class_)(*given.values())
        )
        return aggregator

    def probabilities(self, queries: int) -> Any:
        """The student's probabilities of the first queries; None where no file was named."""
        if self.student is None:
            return None
        from ogive.pate.votes import read_array

        result = read_array(self.student, None)
        if result.ndim != 2 or result.dtype.kind not in "iuf":
            raise DataError(f"{plain(self.student)} must hold probabilities of the shape (queries, classes)")
        return result[:queries]

    def _kind(self) -> str:
        given = {name for name in _OPTIONS if getattr(self, name) is not None}
        kind = _inferred(given) if self.aggregator is None else self.aggregator
        fitting = {*_ALLOWED[kind], *(("student",) if kind == "interactive" else ())}
        for name in _OPTIONS:
            if name in given and name not in fitting:
                others = " or ".join(each for each, names in _ALLOWED.items() if name in names) or "interactive"
                raise ParameterError(f"--{name} is for {others}, not for {kind}; leave it out")
        return kind


def _inferred(given: set[str]) -> str:
    for name, kind in (
        ("student", "interactive"),
        ("confidence", "interactive"),
        ("threshold", "confident"),
        ("scale", "lnmax"),
        ("keep", "margins"),
        ("sigma", "gnmax"),
    ):
        if name in given:
            return kind
    raise ParameterError(
        "say how votes become labels: --threshold with --sigma1 and --sigma2 (confident), --keep (margins), "
        "--sigma (gnmax) or --scale (lnmax)"
    )


ALL_VOTES = VotesOptions()
ANY_AGGREGATOR = AggregatorOptions()


# --- Warnings of what is allowed and rarely meant


def note(aggregator: Aggregator, queries: int, teachers: int | None, max_answers: int | None = None) -> None:
    """Say what is rarely meant, in one line; the number of teachers is None where it is private."""
    threshold, keep = getattr(aggregator, "threshold", None), getattr(aggregator, "keep", 0)
    remarks = []
    if teachers == 1:
        remarks.append("there is one teacher, so that every label is its own, with noise")
    if threshold is not None and threshold <= 0:
        remarks.append("a threshold of 0 or less refuses hardly any query; --sigma alone checks none, and costs less")
    elif threshold is not None and teachers is not None and threshold > teachers:
        remarks.append(f"the threshold is above the {teachers} teachers, so that only noise passes it")
    for option, number in (("--keep", keep), ("--max-answers", max_answers or 0)):
        if number > queries:
            remarks.append(f"{option} {number} is more than the queries that are asked, and counts as {queries}")
    if remarks:
        print(f"ogive: note: {'; '.join(remarks)}", file=sys.stderr)


# --- `ogive pate label`


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
    max_answers: OptionalWhole = None,
    classes: OptionalWhole = None,
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

    aggregator = how.built()
    limit = budget.limit()
    student = [] if how.student is None else [how.student]
    if granted.public:
        raise ParameterError("a vote is hidden whatever it is for, so leave out --public")
    check_outputs(votes, output.output, plot=plot, keep=[*files_of(budget.ledger), *student])
    with busy(f"reading {votes}"):
        held = _held(votes, classes, chosen, granted, budget)
    query = Labels(
        aggregator, held.ballots, max_answers=max_answers, probabilities=how.probabilities(len(held.ballots.queries))
    )
    rows = budget.max_rows_per_person
    privacy = _granted(query, held.trust, granted, rows)
    teachers = held.trust.count() if _adjacency(granted, None, rows) is Adjacency.REPLACE else None
    note(aggregator, len(held.ballots.queries), teachers, max_answers)

    def ask(account: Account | None) -> LabelsEstimate:
        return release_labels(
            held.trust,
            aggregator,
            privacy=privacy,
            ballots=held.ballots if classes is not None else None,
            max_answers=max_answers,
            probabilities=query.probabilities,
            adjacency=_adjacency(granted, account, rows),
            ledger=account,
            batch=budget.batch,
        )

    if budget.ledger is None or not held.trust.private:
        result, kept_in = ask(None), None
    else:
        with account_of(votes, held, limit, granted.adjacency, budget) as (ledger, account, name):
            result, paid = pay_from(lambda: (ledger, account), name, partial(ask, account))
        kept_in = budget.ledger
        print(paid, file=sys.stderr)
    write_result(result, output, text=_text, kept_in=kept_in, plot=plot)


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


def _granted(query: Labels, trust: TrustModel, granted: PrivacyOptions, rows: int) -> Privacy | None:
    """What was granted, or exactly what the labels cost."""
    from ogive.pate.labelling import exact_guarantee

    if granted.trust == "clear" or (granted.epsilon, granted.rho) != (None, None):
        return granted.privacy()
    pure = query.aggregator.name == "lnmax"
    if granted.delta is None and not pure:
        raise ParameterError(
            "give a privacy guarantee, for example --epsilon 2 --delta 1e-5, or --delta alone to spend exactly what "
            "the labels cost"
        )
    return exact_guarantee(query, trust, _adjacency(granted, None, rows), granted.delta)


def _adjacency(granted: PrivacyOptions, account: Account | None, rows: int) -> Adjacency:
    from ogive.privacy import Adjacency
    from ogive.releasing.accounts import default_adjacency

    return default_adjacency(account, rows) if granted.adjacency is None else Adjacency(granted.adjacency)


@contextmanager
def account_of(
    path: Path, held: Held, limit: Privacy | None, adjacency: str | None, budget: BudgetOptions
) -> Iterator[tuple[Ledger, Account, str]]:
    """The ledger of these teachers, their account, and its name."""
    from ogive.releasing.accounts import name_of, open_account, open_ledger

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


def _text(estimate: LabelsEstimate) -> str:
    provenance = estimate.provenance
    assert provenance is not None
    public = ["the labels and which queries have none", "the queries", "the number of teachers"]
    if estimate.opened is not None:
        public.insert(1, "the noisy votes")
    if estimate.total is None:
        public.pop()
    lines = [str(estimate)]
    if provenance.price is not None:
        lines += [
            f"price:    {provenance.price}, whatever the votes are",
            f"public:   {', '.join(public)}, and all that is said here",
            "private:  the votes, and what is computed from them without noise",
        ]
    return "\n".join(lines)


# --- `ogive pate plan`

USUAL = ("0.5", "1", "2", "4", "8")


def plan(
    votes: Path | None = None,
    /,
    *,
    delta: str,
    epsilon: Words = (),
    answers: Words = (),
    public: Flag = False,
    truth: Path | None = None,
    teachers: OptionalWhole = None,
    classes: OptionalWhole = None,
    queries: OptionalWhole = None,
    agreement: float | None = None,
    student: Path | None = None,
    confidence: str | None = None,
    seed: Whole = 0,
    chosen: VotesOptions = ALL_VOTES,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Choose aggregator, threshold and noise on public or simulated votes; spends nothing.

    Each row is the best of its kind at one guarantee and number of answers. Parameters depend on the votes they were
    chosen by, so these must not be the ones that are to be protected.

    Args:
        votes: Public vote counts, with --public; without a file votes are simulated.
        delta: Of the guarantees, far below one over the number of people.
        epsilon: One or several that may be spent; 0.5 to 8 where --answers is given, else 1.
        answers: How many labels are wanted, one number or several; by default some shares of the queries.
        public: Says that the votes in the file are public: of teachers of public data, or imagined ones.
        truth: An .npy file of the right classes of a public file's queries; else the plurality counts as right.
        teachers: To simulate: how many there are.
        classes: To simulate: how many there are.
        queries: To simulate: how many are asked.
        agreement: To simulate: share of the queries on which most teachers agree, 0.85 by default.
        student: For a second round: an .npy file of the first student's probabilities, a row for every query. What
            counts then are answers that correct it. Simulated votes take its probabilities for right.
        confidence: With --student: above which probability its own label is kept; 0.9 by default.
        seed: Of everything that is simulated.
        chosen: Which votes of the file.
        output: Where the result goes.
        plot: A picture of the share of right labels, against epsilon or the number of answers.
    """
    from ogive.pate import plan_labels
    from ogive.pate.votes import read_array

    if confidence is not None and student is None:
        raise ParameterError("--confidence is of a student; give its probabilities with --student, or leave it out")
    scores = None if student is None else read_array(student, None)
    imagined = {"teachers": teachers, "classes": classes, "queries": queries, "agreement": agreement}
    given = [name for name, value in imagined.items() if value is not None]
    if votes is None:
        right: Any
        counts, right = _simulated(imagined, scores, public=public, truth=truth, chosen=chosen, seed=seed)
    else:
        if given:
            raise ParameterError(f"--{given[0]} is for simulated votes; leave it out, or the file")
        if not public:
            raise ParameterError(
                "parameters that are chosen by private votes reveal something about them that no price covers; "
                "say --public if these votes are public, or simulate some with --teachers, --classes and --queries"
            )
        counts = chosen.read(votes)[1]
        right = None if truth is None else _truth(truth, len(counts))
        scores = None if scores is None else scores[: len(counts)]
    check_outputs(votes, output.output, plot=plot, keep=[path for path in (truth, student) if path is not None])
    wanted = [_number(word, "answers", int) for word in answers]
    spend = [_number(word, "epsilon", float) for word in epsilon or (USUAL if answers else ("1",))]
    with busy("planning") as progress:
        result = plan_labels(
            counts,
            epsilons=spend,
            target_delta=delta,
            answers=wanted or None,
            truth=right,
            probabilities=scores,
            confidence=confidence or "0.9",
            seed=seed,
            progress=progress,
        )
    write_result(result, output, public=True, plot=plot)


def _simulated(
    imagined: dict[str, Any], scores: Any, *, public: bool, truth: Path | None, chosen: VotesOptions, seed: int
) -> tuple[Int64, Int64]:
    from ogive.pate import simulated_votes

    if scores is not None and scores.ndim == 2:
        for name, size in zip(("queries", "classes"), scores.shape, strict=True):
            imagined[name] = size if imagined[name] is None else imagined[name]
    for name in ("teachers", "classes", "queries"):
        if imagined[name] is None:
            raise ParameterError(
                f"say --{name}: to simulate votes takes --teachers, --classes and --queries; or give public votes"
            )
    if public or truth is not None or chosen != ALL_VOTES:
        raise ParameterError("--public, --truth, --name and --first need a file of public votes, and no file is named")
    options = {} if imagined["agreement"] is None else {"agreement": imagined["agreement"]}
    sizes = (imagined["queries"], imagined["teachers"], imagined["classes"])
    return simulated_votes(*sizes, probabilities=scores, seed=seed, **options)


def _truth(path: Path, queries: int) -> Any:
    from ogive.pate.votes import read_array

    result = read_array(path, None)
    if result.ndim != 1 or len(result) < queries:
        raise DataError(f"{plain(path)} must hold a class for each of {queries} queries, got the shape {result.shape}")
    return result[:queries]


def _number(word: str, name: str, kind: type[Any]) -> Any:
    try:
        return kind(word)
    except ValueError:
        raise ParameterError(
            f"--{name} must be {'whole numbers' if kind is int else 'numbers'}, got {quoted(word)}"
        ) from None
