"""`ogive pate sanitize`: a data-dependent cost that may be published."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ogive.cli.converters import whole
from ogive.cli.options.common import NO_BOOKS, TABLE, BudgetOptions, OutputOptions
from ogive.cli.output import busy, check_outputs, publish
from ogive.cli.pate.cost import answered_in
from ogive.cli.pate.label import Held, account_of
from ogive.cli.pate.notes import note
from ogive.cli.pate.options import ALL_VOTES, ANY_AGGREGATOR, AggregatorOptions, VotesOptions
from ogive.cli.paying import announce, files_of
from ogive.errors import ParameterError, RefusalError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ogive.pate import SanitizedCost
    from ogive.pate.tallies import Tallied
    from ogive.privacy import Privacy


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
    max_answers: Annotated[int | None, Parameter(converter=whole)] = None,
    noise: Literal["continuous", "discrete", "scaled"] = "scaled",
    no_upper_limit: Annotated[bool, Parameter(show_default=False)] = False,
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
    from ogive.pate.tallies import Tallied

    aggregator = how.made()
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
        found = ask()
        print(
            f"ogive: publishing took {found.release_rdp:.3f} of Renyi cost at order {found.order:g}, which the "
            "number includes and no ledger records; do not publish another cost of these votes",
            file=sys.stderr,
        )
    else:
        found = _paid(votes, Tallied(whole_file), Tallied(counts), limit, charge_delta, budget, ask)
    publish(found.to_json, lambda: told(found), output, public=True, kept_in=budget.ledger)


def _paid(
    path: Path,
    whole_file: Tallied,
    asked: Tallied,
    limit: Privacy | None,
    charge_delta: str | None,
    budget: BudgetOptions,
    ask: Callable[..., SanitizedCost],
) -> SanitizedCost:
    """The cost from the account of these teachers; says on standard error what it did to the budget."""
    from ogive.session import left

    held = Held(asked, asked.ballots, whole_file.data_digest())
    with account_of(path, held, limit, None, budget) as (ledger, account, name):
        announce(ledger)
        before = len(account.history)
        found = ask(ledger=account, charge_delta=charge_delta, batch=budget.batch)
        new = account.history[before:]
        what = f"paid {new[-1].charge}" if new else "asked before: this is the stored answer, at no cost"
        print(f"{name}: {what}; {left(account)} remaining", file=sys.stderr)
    return found


def told(found: SanitizedCost) -> str:
    """A published cost in some lines."""
    from ogive.accounting.rounding import shown_up

    independent = shown_up(found.independent_epsilon, ".3f")
    limit = "" if found.upper_limit is None else f", at most {shown_up(found.upper_limit, '.3f')} with 95 % confidence"
    return "\n".join(
        [
            f"epsilon about {found.epsilon:.3f} at delta = {shown_up(found.delta)}{limit}",
            f"  data-independent:  {independent} with at most {found.max_answers} answers",
            f"  meaning:           {found.statement}",
        ]
    )
