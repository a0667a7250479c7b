"""`ogive local describe`: what owners are asked, as a file that is handed out to them."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cyclopts import App

from ogive.cli.declared import ParsedStatistic, Use, command
from ogive.cli.local.options import PromiseOptions
from ogive.cli.options.common import TABLE, OutputOptions, guarantee
from ogive.cli.output import busy, check_outputs, publish
from ogive.cli.wording import in_options
from ogive.errors import ParameterError, RefusalError, plain
from ogive.statistics.kinds import COMMANDED, Kind

if TYPE_CHECKING:
    from ogive.local.description import Description
    from ogive.privacy import Privacy
    from ogive.statistics.base import Statistic

app = App(name="describe", help="Write the questions for all owners to a file, and print what owners are told.")

for _name, _kind in COMMANDED.items():
    if _kind.command_options.owners is not None:
        app.command(
            f"ogive.cli.local.describe:{_name}", name=_name, alias=_kind.alias, help=f"Ask for {_kind.summary}."
        )

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
    from ogive.collecting import describe_collection

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
    from ogive.planning import plan
    from ogive.planning.text import table
    from ogive.trust import Local

    with busy("predicting errors") as progress:
        made = plan(statistic, privacy=privacy, records=participants, trust=Local, progress=progress)
    return table(made, in_options)


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
        raise ParameterError(f"--shuffled: {plain(problem)}") from None
    kept = ApproxDP(Fraction(math.ceil(bound * _SHOWN), _SHOWN), delta)
    return "\n".join(
        [
            "If somebody whom all trust removes the participants' numbers and shuffles the reports on each question,",
            f"or adds them up, and {description.participants} report, all others learn no more than {kept}, one record",
            f"replaced by any other (the smallest group of reports on one question has {group}).",
        ]
    )
