"""`ogive pate cost` and `ogive pate sanitize`: what a run costs, and that cost published with noise."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ogive.cli.data import Flag, OptionalWhole, Whole
from ogive.cli.options import NO_BOOKS, TABLE, BudgetOptions, OutputOptions, Plot
from ogive.cli.output import busy, check_outputs, write_result
from ogive.cli.pate.label import ALL_VOTES, ANY_AGGREGATOR, AggregatorOptions, Held, VotesOptions, account_of, note
from ogive.cli.paying import announce, files_of
from ogive.errors import DataError, OgiveError, ParameterError, RefusalError, plain

if TYPE_CHECKING:
    from ogive.core.arrays import Int64
    from ogive.pate import PrivacyCost, SanitizedCost
    from ogive.pate.aggregators import Aggregator
    from ogive.statistics.labels.estimate import LabelsEstimate

PRIVATE = (
    "this number depends on the votes and is as private as they are: do not publish it; "
    "ogive pate sanitize makes one that may be published"
)


def cost(
    votes: Path,
    /,
    *,
    delta: str,
    mode: Literal[
        "auto", "independent", "joint", "joint_two_sided", "exact", "exact_two_sided", "realised", "expected"
    ] = "auto",
    noise: Literal["continuous", "discrete", "scaled"] = "continuous",
    order: float | None = None,
    rule: Literal["tight", "paper"] | None = None,
    max_answers: OptionalWhole = None,
    answered: Path | None = None,
    group: Whole = 1,
    chosen: VotesOptions = ALL_VOTES,
    how: AggregatorOptions = ANY_AGGREGATOR,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Say what a run costs; spends nothing and publishes nothing.

    Args:
        votes: Vote counts, a row for every query and a column for every class: .npy, .npz, CSV, Parquet or Arrow.
        delta: Chance left aside, far below one over the number of people.
        mode: independent is differential privacy, the same for all votes. All others are about the votes held:
            joint and exact are bounds, two_sided in both directions, realised is of the answers given, expected is the
            paper's average, which is not a bound. auto is exact where it is quick, else joint; independent for margins
            and interactive.
        noise: continuous, discrete (integers on votes), or scaled (integers on votes times 2^16, as labels are
            made; for lnmax, which multiplies no votes, the same as discrete).
        order: The one Renyi order to convert at; realised costs need it, fixed before the run.
        rule: tight, or the paper's conversion.
        max_answers: independent: the run ends after so many answers.
        answered: realised: the labels that were released, as ogive pate label writes them, or an .npy file of them.
        group: Teachers of one party, all of which may change.
        chosen: Which votes of the file.
        how: How votes become labels.
        output: Where the result goes.
        plot: A picture of the cost at every order, as private as the cost.
    """
    from ogive.pate import privacy_cost

    aggregator = how.built()
    read = [path for path in (how.student, answered) if path is not None]
    check_outputs(votes, output.output, plot=plot, keep=read)
    _, counts = chosen.read(votes)
    note(aggregator, len(counts), int(counts[0].sum()), max_answers)
    with busy("counting costs"):
        result = privacy_cost(
            counts,
            aggregator,
            target_delta=delta,
            mode=mode,
            noise=noise,
            order=order,
            rule=rule,
            max_answers=max_answers,
            answered=answered_in(answered, aggregator, counts),
            probabilities=how.probabilities(len(counts)),
            group=group,
        )
    if not result.publishable:
        print(f"ogive: private: {PRIVATE}", file=sys.stderr)
    write_result(result, output, text=cost_text, public=result.publishable, plot=plot)


def answered_in(path: Path | None, aggregator: Aggregator, votes: Int64) -> Any:
    """Labels, -1 where teachers gave none, from released labels or an array; None where no file was named."""
    if path is None:
        return None
    from ogive.pate.votes import check_answered, read_array
    from ogive.statistics.labels.estimate import LabelsEstimate

    if not path.exists():
        raise DataError(f"no such file: {plain(path)}")
    try:
        if path.suffix.lower() in (".npy", ".npz"):
            return check_answered(read_array(path, None), votes.shape)
        released = LabelsEstimate.from_json(path)
        _check_run(released, aggregator, votes)
        return released.taught
    except OgiveError as problem:
        # the line names the file once
        named = "" if str(path) in str(problem) else f"{plain(path)}: "
        raise DataError(f"{named}{problem.marked}") from None


def _check_run(released: LabelsEstimate, aggregator: Aggregator, votes: Int64) -> None:
    from ogive.statistics.base import describe

    wanted = json.loads(json.dumps(describe(aggregator)))
    if released.aggregator != wanted:
        raise DataError(f"its labels are of {_words(released.aggregator)}, not of {_words(wanted)}")
    there, here = released.ballots.shape, votes.shape
    if there != here:
        raise DataError(
            f"its labels are of {there[0]} queries and {there[1]} classes, and the votes of {here[0]} and {here[1]}"
        )


def _words(aggregator: dict[str, Any]) -> str:
    options = [f"{name.replace('_', '')} {value}" for name, value in aggregator.items() if name != "name" and value]
    return f"{aggregator['name']} with {', '.join(options)}"


def cost_text(result: PrivacyCost) -> str:
    """A cost in some lines."""
    from ogive.accounting.losses import shown_up

    answers = {"independent": "answers at most", "realised": "answers"}.get(result.mode, "answers expected")
    order = "" if result.order is None else f", Renyi order {result.order:g}"
    return (
        f"epsilon = {shown_up(result.epsilon)} at delta = {shown_up(result.delta)}\n"
        f"  mode:     {result.mode}, conversion {result.rule}{order}\n"
        f"  queries:  {result.queries}, {result.answers:.{1 if result.answers % 1 else 0}f} {answers}\n"
        f"  publish:  {'yes' if result.publishable else 'no, it is as private as the votes'}\n"
        f"  meaning:  {result.statement}"
    )


# --- `ogive pate sanitize`


def sanitize(
    votes: Path,
    /,
    *,
    delta: str,
    order: float | None = None,
    smoothness: float | None = None,
    noise_scale: float | None = None,
    planned_epsilon: float | None = None,
    form: Literal["joint", "additive"] = "joint",
    answered: Path | None = None,
    max_answers: OptionalWhole = None,
    noise: Literal["continuous", "discrete", "scaled"] = "scaled",
    no_upper_limit: Flag = False,
    charge_delta: str | None = None,
    chosen: VotesOptions = ALL_VOTES,
    how: AggregatorOptions = ANY_AGGREGATOR,
    budget: BudgetOptions = NO_BOOKS,
    output: OutputOptions = TABLE,
) -> None:
    """Publish an estimate of what a run of an aggregator cost, with noise.

    Publish once: every call draws other noise and costs as much again. With --ledger what publishing costs is charged
    to the account that paid for the labels, and the same command gives the recorded cost for free. What the labels
    themselves cost is not charged again.

    Args:
        votes: Vote counts, a row for every query and a column for every class: .npy, .npz, CSV, Parquet or Arrow.
        delta: Chance left aside, below one over the number of records.
        order: The one Renyi order; by default from the planned epsilon. Choose this and what follows without looking
            at the votes.
        smoothness: Of the smooth sensitivity; 0.35 / order by default.
        noise_scale: Standard deviation of the noise in units of the smooth sensitivity.
        planned_epsilon: About what the run is expected to cost; half of its data-independent cost by default.
        form: joint, for the run whatever is answered; additive, for the answers that were given.
        answered: additive: the labels that were released, as ogive pate label writes them, or an .npy file of them.
        max_answers: Cap on answers that was fixed before the run, for the data-independent cost.
        noise: Of the aggregator: scaled, as ogive pate label draws it, continuous, or discrete.
        no_upper_limit: Do not pay for an upper limit.
        charge_delta: With --ledger: the delta of what is charged; by default a thousandth of --delta, or a millionth
            where the account began with Gaussian noise.
        chosen: Which votes of the file.
        how: How votes become labels.
        budget: Whose votes, and the account that pays.
        output: Where the result goes; without --ledger a file that exists is not written over.
    """
    from ogive.pate import sanitize as publish_cost
    from ogive.pate.labelling import Tallied

    aggregator = how.built()
    read = [path for path in (how.student, answered) if path is not None]
    limit = budget.limit()
    check_outputs(votes, output.output, keep=[*read, *files_of(budget.ledger)])
    if budget.ledger is None and output.output is not None and output.output.exists():
        raise RefusalError(
            f"{output.output} exists: publishing a cost again costs as much again; name another file to do so"
        )
    whole_file, counts = chosen.read(votes)
    note(aggregator, len(counts), int(counts[0].sum()), max_answers)

    def ask(**paying: Any) -> SanitizedCost:
        with busy("publishing the cost"):
            return publish_cost(
                counts,
                aggregator,
                target_delta=delta,
                order=order,
                smoothness=smoothness,
                scale=noise_scale,
                planned_epsilon=planned_epsilon,
                form=form,
                answered=answered_in(answered, aggregator, counts),
                probabilities=how.probabilities(len(counts)),
                max_answers=max_answers,
                noise=noise,
                upper_limit=not no_upper_limit,
                **paying,
            )

    if budget.ledger is None:
        if charge_delta is not None:
            raise ParameterError("--charge-delta requires --ledger")
        result = ask()
        print(
            f"ogive: publishing took {result.release_rdp:.3f} of Renyi cost at order {result.order:g}, which the "
            "number includes and no ledger records; do not publish another cost of these votes",
            file=sys.stderr,
        )
    else:
        from ogive.releasing.accounts import left

        tallied = Tallied(counts)
        held = Held(tallied, tallied.ballots, Tallied(whole_file).data_digest())
        with account_of(votes, held, limit, None, budget) as (ledger, account, name):
            announce(ledger)
            before = len(account.history)
            result = ask(ledger=account, charge_delta=charge_delta, batch=budget.batch)
            new = account.history[before:]
            what = f"paid {new[-1].charge}" if new else "asked before: this is the stored answer, at no cost"
            print(f"{name}: {what}; {left(account)} remaining", file=sys.stderr)
    write_result(result, output, text=sanitized_text, public=True, kept_in=budget.ledger)


def sanitized_text(result: SanitizedCost) -> str:
    """A published cost in some lines."""
    from ogive.accounting.losses import shown_up

    independent = shown_up(result.independent_epsilon, ".3f")
    limit = (
        "" if result.upper_limit is None else f", at most {shown_up(result.upper_limit, '.3f')} with 95 % confidence"
    )
    return (
        f"epsilon about {result.epsilon:.3f} at delta = {shown_up(result.delta)}{limit}\n"
        f"  data-independent:  {independent} with at most {result.max_answers} answers\n"
        f"  meaning:           {result.statement}"
    )
