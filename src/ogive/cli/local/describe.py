"""`ogive local describe`: what owners are asked, as a file that is handed out to them."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cyclopts import App

from ogive.cli.local.options import (
    ANY_REPORTS,
    GINI,
    ONE_BOX,
    AskedBoxes,
    AskedColumn,
    AskedMethod,
    AskedPairs,
    PromiseOptions,
)
from ogive.cli.options.common import DECILES, TABLE, OutputOptions, Probabilities, guarantee
from ogive.cli.options.trees import ANY_TREE, TreeOptions
from ogive.cli.output import busy, check_outputs, publish
from ogive.cli.wording import in_options
from ogive.errors import ParameterError, RefusalError

if TYPE_CHECKING:
    from ogive.local.description import Description
    from ogive.privacy import Privacy
    from ogive.statistics.base import Statistic

app = App(name="describe", help="Write what owners are asked, as a file for all of them, and say what they are told.")

_SHOWN = 10**6  # millionths, rounded up


@app.command
def ecdf(
    *,
    smooth: str = "auto",
    measure: AskedColumn,
    method: AskedMethod = ANY_REPORTS,
    promised: PromiseOptions,
    output: OutputOptions = TABLE,
) -> None:
    """Ask for a distribution function.

    Args:
        smooth: auto, shrinkage, least_squares, least_absolute or isotonic; for the estimate, not for owners.
        measure: Column, thresholds and missing values.
        method: What owners report.
        promised: Participants and privacy.
        output: Where the description goes; participants need the file.
    """
    from ogive.statistics import Ecdf

    _describe(Ecdf(measure.column, smooth=smooth, **measure.arguments(), **method.arguments()), promised, output)


@app.command
def quantiles(
    *,
    probabilities: Probabilities = DECILES,
    measure: AskedColumn,
    method: AskedMethod = ANY_REPORTS,
    promised: PromiseOptions,
    output: OutputOptions = TABLE,
) -> None:
    """Ask for quantiles.

    Args:
        probabilities: Which quantiles, each between 0 and 1; the nine deciles by default.
        measure: Column, thresholds and missing values.
        method: What owners report.
        promised: Participants and privacy.
        output: Where the description goes; participants need the file.
    """
    from ogive.statistics import Quantiles

    _describe(Quantiles(measure.column, probabilities, **measure.arguments(), **method.arguments()), promised, output)


@app.command
def boxplot(
    *, boxes: AskedBoxes = ONE_BOX, measure: AskedColumn, promised: PromiseOptions, output: OutputOptions = TABLE
) -> None:
    """Ask for a boxplot, all records in one or a box for each public group.

    Args:
        boxes: Groups and method.
        measure: Column, thresholds and missing values.
        promised: Participants and privacy.
        output: Where the description goes; participants need the file.
    """
    from ogive.statistics import Boxplot

    _describe(Boxplot(measure.column, **boxes.arguments(), **measure.arguments()), promised, output)


@app.command
def ustat(
    *,
    measure: AskedPairs = GINI,
    tree: TreeOptions = ANY_TREE,
    promised: PromiseOptions,
    output: OutputOptions = TABLE,
) -> None:
    """Ask for a statistic of pairs: Gini, Kendall's tau, an AUC, collision entropy.

    Args:
        measure: Columns, kernel and what values may be.
        tree: What a tree of an AUC leaves open.
        promised: Participants and privacy.
        output: Where the description goes; participants need the file.
    """
    from ogive.statistics import Ustatistic

    _describe(Ustatistic(**measure.arguments() | tree.arguments(measure.method)), promised, output)


def _describe(statistic: Statistic[Any], promised: PromiseOptions, output: OutputOptions) -> None:
    from ogive.collecting import describe_collection

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
    told = "\n\n".join(parts)
    publish(description.to_json, lambda: told, output, public=True)
    if output.json or output.output is not None:
        print(told, file=sys.stderr)
    else:
        print("this was a preview: name a file with -o, which participants need", file=sys.stderr)


def _weight(description: Description) -> str:
    """How much participants who lie can do, for who asks."""
    reach = description.oracle.reach
    share = 100 * reach / description.participants
    return "\n".join(
        [
            f"Whoever lies sends what honest people may send too, and counts for at most {reach:.3g} people",
            f"in any one count: {share:.2g} % of all participants.",
        ]
    )


def _predicted(statistic: Statistic[Any], privacy: Privacy, participants: int) -> str:
    """What errors to expect."""
    from ogive.planning import plan
    from ogive.trust import Local

    with busy("predicting errors") as progress:
        made = plan(statistic, privacy=privacy, records=participants, trust=Local, progress=progress)
    return in_options(str(made))


def _shuffled(description: Description, delta: str) -> str:
    """What shuffling leaves to be known, for the smallest group of reports on one question."""
    from ogive.accounting.shuffling import shuffled_epsilon
    from ogive.local.groups import smallest_group
    from ogive.privacy import ApproxDP, PureDP

    loss = description.oracle.loss
    if not isinstance(loss, PureDP):
        raise RefusalError("shuffling is accounted for where a report costs a pure epsilon; leave --delta out")
    try:
        group = smallest_group(description.oracle, description.participants)
        bound = shuffled_epsilon(group, loss.epsilon, delta)
    except ParameterError as problem:
        raise ParameterError(f"--shuffled: {problem}") from None
    kept = ApproxDP(Fraction(math.ceil(bound * _SHOWN), _SHOWN), delta)
    return "\n".join(
        [
            "If somebody whom all trust takes the participants' numbers off and shuffles the reports on each question,",
            f"or adds them up, and {description.participants} report, all others learn no more than {kept}, one record",
            f"replaced by any other (the smallest group of reports on one question has {group}).",
        ]
    )
