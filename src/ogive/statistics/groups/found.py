"""Groups that nobody has named: found first, then asked as if they had been named.

Source:
    `docs/proofs/discovery.md`, `docs/proofs/together.md`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator
from fractions import Fraction
from typing import Any, TypeVar

from ogive.columns import LabelValue, OpenCategories
from ogive.columns.categories import trimmed
from ogive.columns.predicates import Among
from ogive.errors import DataError, ParameterError, quoted
from ogive.local.oracles import MAX_CLASSES
from ogive.privacy import ApproxDP, PureDP, is_one_line
from ogive.queries import Answer, Query
from ogive.statistics.base import Estimate, Statistic, Terms
from ogive.statistics.discovery import discover
from ogive.statistics.groups.subset import Subset

FoundT = TypeVar("FoundT", bound=Estimate)

EXAMPLE = "groups=('a', 'b')"
FINDING = Fraction(1, 4)
"""Part of epsilon that is spent on finding groups or categories."""


def ask_found(
    by: str,
    alone: Statistic[Any],
    named: Callable[[tuple[LabelValue, ...]], Statistic[FoundT]],
    terms: Terms,
) -> Generator[Query, Answer, tuple[FoundT, int | None]]:
    """Find the groups of a column, then ask of the records of those that were found.

    Privacy:
        A quarter of epsilon with all of delta, and a pure guarantee of the rest.
    """
    first, rest = divided(terms)
    terms.preflight(next(alone.questions(rest)))  # what is wrong with its columns is found before the spend
    discovered = yield from discover(OpenCategories(by, "count"), first, parameter="groups")
    # a text of several lines names no group in a table, and is left out as those that were not found are
    named_once = {trimmed(name): name for name in reversed(discovered.most(MAX_CLASSES))}
    groups = tuple(name for name in reversed(named_once.values()) if not isinstance(name, str) or is_one_line(name))
    if not groups:
        raise DataError(
            f"no value of column {quoted(by)} reaches the threshold of about "
            f"{discovered.threshold} records; use a larger guarantee, or name the groups, for example `{EXAMPLE}`"
        )
    result = yield from Subset(named(groups), Among(by, groups), public=False).questions(rest)
    return result, discovered.threshold


def check_open(by: str, public: bool | None) -> None:
    """Refuse groups that nobody has named where they would have to be known."""
    OpenCategories(by)
    if public:
        raise ParameterError(f"groups that everybody may know are named, for example `{EXAMPLE}`")


def divided(terms: Terms) -> tuple[Terms, Terms]:
    """The terms under which values are found, and those under which everything else is asked."""
    privacy = terms.privacy
    if not isinstance(privacy, ApproxDP):  # refused where there is privacy, and else of no account
        return terms, terms
    return (
        dataclasses.replace(terms, privacy=ApproxDP(privacy.epsilon * FINDING, privacy.delta)),
        dataclasses.replace(terms, privacy=PureDP(privacy.epsilon * (1 - FINDING))),
    )


def unplanned() -> ParameterError:
    """Why nothing can be planned: how many groups there will be is not known."""
    return ParameterError(
        "a plan needs groups: name them, or stand-ins for as many as there may be, for example "
        f"`{EXAMPLE}`; finding them takes a quarter of epsilon and all of delta"
    )
