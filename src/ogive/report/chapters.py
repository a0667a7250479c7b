"""Which chapters a page has: one for each release, with a title of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from ogive.errors import ParameterError
from ogive.html import words
from ogive.html.chapter import Chapter
from ogive.html.markup import Html
from ogive.report.budget import moment
from ogive.rooms import room
from ogive.statistics.base import Estimate
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.groups.estimate import GroupEstimates
from ogive.statistics.kinds import KINDS
from ogive.statistics.quantiles.estimate import QuantileEstimates

if TYPE_CHECKING:
    from ogive.ledger import Account


@dataclasses.dataclass
class _Release:
    estimates: list[Estimate]
    truth: Estimate | None
    name: str | None


def chapters_of(
    estimates: Sequence[Estimate],
    truths: Sequence[Estimate | None],
    names: Sequence[str | None],
    account: Account | None,
) -> list[Chapter]:
    """The chapters of a page, in the order in which their releases first appear.

    A release that is given twice, or as its curve and as quantiles read off it, or with and without contrasts of its
    groups, is one chapter. Estimates that claim
    one release id and contradict each other stay apart. Titles that would be the same get what tells them apart: the
    guarantee, then the part, the name, the ledger's number and moment, and where all of that is the same, a count.

    Args:
        estimates: As released.
        truths: Exact counterparts, one for each estimate or None.
        names: Where each came from, for example a file's name, or None.
        account: The ledger's account that paid, or None.

    Raises:
        ParameterError: an estimate is of no kind that a report shows or was never released, or a truth does not fit.
    """
    releases: list[_Release] = []
    for estimate, truth, name in zip(estimates, truths, names, strict=True):
        known = next((found for found in releases if all(_same(estimate, one) for one in found.estimates)), None)
        if known is None:
            releases.append(_Release([estimate], truth, name))
            continue
        chapter_of(estimate, truth)  # a truth that does not fit is refused, also where another is shown
        known.truth = known.truth or truth
        known.name = known.name or name
        if estimate not in known.estimates:
            known.estimates.append(estimate)
    found = [_chapter(release) for release in releases]
    titles = _titles(found, [release.name for release in releases], account)
    return [dataclasses.replace(chapter, title=title) for chapter, title in zip(found, titles, strict=True)]


def _same(first: Estimate, second: Estimate) -> bool:
    """Whether two estimates are readings of one release."""
    one, other = (getattr(estimate, "provenance", None) for estimate in (first, second))
    if one is None or other is None or one.release_id != other.release_id:
        return False
    if not isinstance(first, Curve | QuantileEstimates) or not isinstance(second, Curve | QuantileEstimates):
        return _released(first) == _released(second)
    if (first.column, first.grid) != (second.column, second.grid):
        return False
    curve, again = _curve(first), _curve(second)
    return curve is None or again is None or curve == again


def _released(estimate: Estimate) -> Estimate:
    """An estimate as it was released, without the contrasts that were added to it later."""
    return dataclasses.replace(estimate, contrasts=()) if isinstance(estimate, GroupEstimates) else estimate


def _curve(estimate: Curve | QuantileEstimates) -> Curve | None:
    return estimate if isinstance(estimate, Curve) else estimate.curve


def _chapter(release: _Release) -> Chapter:
    """One chapter of all readings: the first that has a chart, and the tables that the others add."""
    found = [chapter_of(estimate, release.truth) for estimate in release.estimates]
    main = next((chapter for chapter in found if chapter.pictures), found[0])
    others = (chapter for chapter in found if chapter is not main)
    tables: dict[Html | None, None] = dict.fromkeys(chain(main.tables, *(chapter.tables for chapter in others)))
    return dataclasses.replace(main, tables=tuple(tables))


def _titles(chapters: Sequence[Chapter], names: Sequence[str | None], account: Account | None) -> list[str]:
    entries = {} if account is None else {entry.release_id: entry for entry in account.history}
    paid = [entries.get(chapter.provenance.release_id) for chapter in chapters]
    differences: tuple[Sequence[str | None], ...] = (
        [_guarantee(chapter) for chapter in chapters],
        [None if entry is None else "all records" if entry.part is None else f"part {entry.part}" for entry in paid],
        names,
        [None if entry is None else f"no. {entry.number} of {moment(entry.started)}" for entry in paid],
    )
    titles = [chapter.title for chapter in chapters]
    for said in differences:
        for places in _shared(titles):
            if len({said[i] for i in places}) > 1:
                for i in places:
                    titles[i] += "" if said[i] is None else f", {said[i]}"
    for places in _shared(titles):
        for number, i in enumerate(places, start=1):
            titles[i] += f", {number} of {len(places)}"
    return titles


def _guarantee(chapter: Chapter) -> str:
    privacy = chapter.provenance.privacy
    return "exact values" if privacy is None else words.amount(privacy)


def _shared(titles: Sequence[str]) -> list[list[int]]:
    """The places of titles that occur several times."""
    places: dict[str, list[int]] = {}
    for i, title in enumerate(titles):
        places.setdefault(title, []).append(i)
    return [found for found in places.values() if len(found) > 1]


def chapter_of(estimate: Any, truth: Any = None) -> Chapter:
    """What a report says of one estimate.

    Args:
        estimate: As released, with its provenance.
        truth: The same without noise, released under the trust model clear; or None.

    Raises:
        ParameterError: the estimate is of no kind that a report shows or was never released, or the truth does not fit.
    """
    if not isinstance(estimate, Estimate):
        names = ", ".join(kind.estimate.__name__ for kind in KINDS)
        raise ParameterError(f"a report shows {names}; got {type(estimate).__name__}")
    if estimate.provenance is None:
        what = getattr(estimate, "column", type(estimate).__name__)
        raise ParameterError(f"{what} was never released, so its price is unknown; report what release returns")
    made: Chapter = room(type(estimate), "chapter").chapter(estimate, truth)
    some = "" if (where := estimate.provenance.where) is None else f" where {where}"
    return dataclasses.replace(made, schema=estimate.schema, title=made.title + some)
