"""`ogive local describe`: what owners are asked, as a file that is handed out to them."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Group, Parameter

from ogive.cli.box_options import BoxOptions
from ogive.cli.options import TABLE, MeasureOptions, OutputOptions, guarantee, whole
from ogive.cli.output import busy, check_outputs, publish
from ogive.cli.ustat_options import UstatOptions
from ogive.cli.wording import in_options
from ogive.errors import ParameterError, RefusalError

if TYPE_CHECKING:
    from ogive.local.description import Description
    from ogive.privacy import Privacy
    from ogive.statistics.base import Statistic

app = App(name="describe", help="Write what owners are asked, and say what they are told.")

GINI, ONE_BOX = UstatOptions(), BoxOptions()
_SHOWN = 10**6  # millionths, rounded up
DECILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@Parameter(name="*", group=Group("What is promised", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class PromiseOptions:
    """Who is asked, and what they are promised."""

    participants: Annotated[int, Parameter(converter=whole)]
    """How many may report; what is asked is designed for so many answers."""

    epsilon: str
    """Privacy loss of a report, at most, for whoever sees it."""

    delta: str | None = None
    """Slack in probability, for methods that need one."""

    title: str = ""
    """One line that tells participants what this is for."""

    predict: Annotated[bool, Parameter(show_default=False)] = False
    """Say also what error to expect if all report, by every method that fits; takes some seconds."""

    shuffled: str | None = None
    """Say also what is known to who sees the reports shuffled, or their sums alone, with this slack in probability."""


@app.command
def ecdf(*, measure: MeasureOptions, promised: PromiseOptions, output: OutputOptions = TABLE) -> None:
    """Ask for a distribution function.

    Args:
        measure: Column, thresholds and missing values.
        promised: Participants and privacy.
        output: Where the description goes; participants need the file.
    """
    from ogive.statistics import Ecdf

    _describe(Ecdf(measure.column, **measure.arguments()), promised, output)


@app.command
def quantiles(
    *,
    probabilities: Annotated[tuple[float, ...], Parameter(consume_multiple=True, show_default=False)] = DECILES,
    measure: MeasureOptions,
    promised: PromiseOptions,
    output: OutputOptions = TABLE,
) -> None:
    """Ask for quantiles.

    Args:
        probabilities: Which quantiles; the nine deciles by default.
        measure: Column, thresholds and missing values.
        promised: Participants and privacy.
        output: Where the description goes; participants need the file.
    """
    from ogive.statistics import Quantiles

    _describe(Quantiles(measure.column, probabilities, **measure.arguments()), promised, output)


@app.command
def boxplot(
    *, boxes: BoxOptions = ONE_BOX, measure: MeasureOptions, promised: PromiseOptions, output: OutputOptions = TABLE
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
def ustat(*, measure: UstatOptions = GINI, promised: PromiseOptions, output: OutputOptions = TABLE) -> None:
    """Ask for a statistic of pairs: Gini, Kendall's tau, an AUC, collision entropy.

    Args:
        measure: Columns, kernel and what values may be.
        promised: Participants and privacy.
        output: Where the description goes; participants need the file.
    """
    from ogive.statistics import Ustatistic

    _describe(Ustatistic(**measure.arguments()), promised, output)


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
    publish(description.to_json, lambda: told, output)
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
