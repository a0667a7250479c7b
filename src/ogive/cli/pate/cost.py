"""`ogive pate cost`: what a run of an aggregator costs, and what the number means."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ogive.cli.converters import whole
from ogive.cli.options.common import TABLE, OutputOptions, Plot
from ogive.cli.output import busy, check_outputs, check_picture, draw, publish
from ogive.cli.pate.notes import note
from ogive.cli.pate.options import ALL_VOTES, ANY_AGGREGATOR, AggregatorOptions, VotesOptions
from ogive.errors import DataError, OgiveError, plain

if TYPE_CHECKING:
    from ogive.arrays import Int64
    from ogive.pate import PrivacyCost
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
    max_answers: Annotated[int | None, Parameter(converter=whole)] = None,
    answered: Path | None = None,
    group: Annotated[int, Parameter(converter=whole)] = 1,
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
            paper's average, which is no bound. auto is exact where it is quick, else joint; independent for margins
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

    aggregator = how.made()
    read = [path for path in (how.student, answered) if path is not None]
    if plot is not None:
        check_picture(plot)
    check_outputs(votes, output.output, plot, keep=read)
    _, counts = chosen.read(votes)
    note(aggregator, len(counts), int(counts[0].sum()), max_answers)
    with busy("counting costs"):
        found = privacy_cost(
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
    if not found.publishable:
        print(f"ogive: private: {PRIVATE}", file=sys.stderr)
    publish(found.to_json, lambda: told(found), output, public=found.publishable)
    if plot is not None:
        draw(found.plot, plot)


def answered_in(path: Path | None, aggregator: Aggregator, votes: Int64) -> Any:
    """Labels, -1 where teachers gave none, from released labels or an array; None where no file was named.

    Raises:
        DataError: the file holds neither, or labels of another run.
    """
    if path is None:
        return None
    from ogive.pate.arrays import read_array
    from ogive.pate.votes import check_answered
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
        raise DataError(problem_of(path, problem)) from None


def problem_of(path: Path, problem: OgiveError) -> str:
    """What is wrong with a file, which the line names once."""
    said = str(problem)
    return problem.marked if str(path) in said else f"{plain(path)}: {problem.marked}"


def _check_run(released: LabelsEstimate, aggregator: Aggregator, votes: Int64) -> None:
    from ogive.statistics.base import describe

    asked = json.loads(json.dumps(describe(aggregator)))
    if released.aggregator != asked:
        raise DataError(f"its labels are of {_words(released.aggregator)}, not of {_words(asked)}")
    if released.ballots.shape != votes.shape:
        raise DataError(
            "its labels are of {} queries and {} classes, and the votes of {} and {}".format(
                *released.ballots.shape, *votes.shape
            )
        )


def _words(aggregator: dict[str, Any]) -> str:
    options = [f"{name.replace('_', '')} {value}" for name, value in aggregator.items() if name != "name" and value]
    return f"{aggregator['name']} with {', '.join(options)}"


def told(found: PrivacyCost) -> str:
    """A cost in some lines."""
    from ogive.accounting.rounding import shown_up

    answers = "answers at most" if found.mode == "independent" else "answers"
    if found.mode not in ("independent", "realised"):
        answers = "answers expected"
    order = "" if found.order is None else f", Renyi order {found.order:g}"
    return "\n".join(
        [
            f"epsilon = {shown_up(found.epsilon)} at delta = {shown_up(found.delta)}",
            f"  mode:     {found.mode}, conversion {found.rule}{order}",
            f"  queries:  {found.queries}, {found.answers:.1f} {answers}"
            if found.answers % 1
            else f"  queries:  {found.queries}, {found.answers:.0f} {answers}",
            f"  publish:  {'yes' if found.publishable else 'no, it is as private as the votes'}",
            f"  meaning:  {found.statement}",
        ]
    )
