"""The ledger's part of the page: the limit, what is spent and left, and what releases cost together."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ogive.accounting import epsilon_of_gaussian, group_loss, total_loss
from ogive.accounting.losses import rounded_up
from ogive.errors import ParameterError
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, Privacy, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.provenance import Provenance
from ogive.releasing.accounts import hidden
from ogive.showing import words
from ogive.showing.chart import BarChart, draw, key
from ogive.showing.parts import Html, Row, card, figure, say, strong, table, tag
from ogive.showing.words import implied
from ogive.statistics.questions import GOES_ON, asked_name, shown_subjects, trust_words, which_records
from ogive.statistics.ustatistic.estimate import TITLES

if TYPE_CHECKING:
    from ogive.ledger import Account, Entry

_GOES_ON = "in progress, fully paid"
STATES = {"released": "released", "reserved": "reserved, not finished", "lost": "answer lost, counts as spent"}
WHAT = {
    "ecdf": "distribution",
    "quantiles": "quantiles",
    "roc": "ROC curve",
    "calibration": "calibration",
    "bounds": "bounds",
    "pointwise": "distribution at single points",
    "running_total": "running total",
    "sanitized_cost": "cost of labels",
}


def budget(account: Account, shown: Collection[str]) -> Html:
    """The section about a ledger's account."""
    limit, spent, remaining, history = account.limit, account.spent, account.remaining, account.history
    name = account.name if account.part_name is None else f"{account.name}, part {account.part_name}"
    return tag(
        "section",
        tag("h2", f"Budget of {name}", id="budget"),
        tag(
            "div",
            card("Limit", figure("none" if limit is None else words.amount(limit))),
            card("Spent", figure("nothing" if spent is None else words.amount(spent))),
            card("Left", figure(_left(limit, remaining))),
            class_="cards three",
        ),
        _bar(limit, spent),
        say(_meaning(account)),
        _elsewhere(set(shown) - {entry.release_id for entry in history}),
        _history(history),
        class_="budget",
        aria_labelledby="budget",
    )


def _left(limit: Privacy | None, remaining: Privacy | None) -> str:
    if limit is None:
        return "no limit is set"
    return "nothing" if remaining is None else words.amount(remaining)


def size(privacy: Privacy) -> float:
    """The main parameter of a guarantee, epsilon or rho, for drawing."""
    match privacy:
        case ZeroConcentratedDP(rho=rho):
            return float(rho)
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon):
            return float(epsilon)


def _bar(limit: Privacy | None, spent: Privacy | None) -> Html | None:
    """How much of the limit is spent, where both are of one type and so can be compared."""
    if limit is None or (spent is not None and type(spent) is not type(limit)):
        return None
    share = 0.0 if spent is None else min(1.0, size(spent) / size(limit))
    chart = BarChart(
        title="How much of the budget is spent",
        summary=f"{words.percent(round(share, 2))} of the budget is spent.",
        parts=(("spent", share), ("left", 1 - share)),
        legend=(("spent", f"Spent: {words.percent(round(share, 2))}"), ("left", "Left")),
    )
    drawing = draw(chart, chart.sizes[0], identity="budget-bar")
    return tag("figure", drawing, tag("figcaption", key(*chart.legend)), class_="bar")


def _meaning(account: Account) -> str:
    promised = account.limit if account.limit is not None else account.spent
    if promised is None:
        return "Nothing has been released from these records under this ledger, and no limit is set."
    how = (
        "The ledger refuses any release that would exceed the limit. Even when all of it is spent: "
        if account.limit is not None
        else "No limit is set, so the total may grow. For what is spent so far: "
    )
    unit = hidden(account)
    promise = words.promise(promised, unit, what="everything published from this budget together")
    return f"{how}{promise[0].lower()}{promise[1:]} {words.certainty(promised, unit)} Protects {unit.words}."


def _elsewhere(others: Collection[str]) -> Html | None:
    if not others:
        return None
    count = "One release" if len(others) == 1 else f"{len(others)} releases"
    verb = "was" if len(others) == 1 else "were"
    return say(strong(f"{count} on this page {verb} not paid from this budget."), " Their cost is additional.")


def _history(history: tuple[Entry, ...]) -> Html | None:
    if not history:
        return None
    parts = any(entry.part for entry in history)
    trusts = any(trust_words(entry.question) for entry in history)
    head = [
        "No.",
        "Release",
        *(["Trust"] if trusts else []),
        *(["Part"] if parts else []),
        "Price",
        "State",
        "Started (UTC)",
    ]
    rows: list[Row] = []
    for entry in history:
        cells: list[Html | str] = [_what(entry)]
        if trusts:
            cells.append(trust_words(entry.question) or "central")
        if parts:
            cells.append(entry.part or "all records")
        cells += [words.amount(entry.charge), _state(entry), moment(entry.started)]
        rows.append((str(entry.number), cells))
    about = (
        "Privacy losses compose: the total may be less than the sum of the prices, never more. Repeating an answered "
        "question is free. A reserved release counts as spent, because its noise may have been drawn."
    )
    return table("History", head, rows, about, texts=range(1, len(head)))


def _what(entry: Entry) -> str:
    name = WHAT.get(entry.statistic) or TITLES.get(asked_name(entry.question), entry.statistic)
    columns, more = shown_subjects(entry.question)
    statistic = entry.question.get("statistic")
    named = f"{name} of {' and '.join([*columns, *([f'{more} more'] if more else [])])}" if columns else name
    return " ".join([named, *(which_records(statistic) if isinstance(statistic, Mapping) else [])])


def moment(written: object) -> str:
    """A moment to the minute, from a datetime or its ISO text."""
    return str(written).replace("T", " ")[:16]


def _state(entry: Entry) -> str:
    goes_on = entry.state == "reserved" and entry.statistic in GOES_ON
    return _GOES_ON if goes_on else STATES.get(entry.state, entry.state)


# --- What several releases of the same people cost together

_ALMOST_ONE = 1 - Fraction(1, 10**9)
_ROUNDED_UP = 1 + Fraction(1, 10**9)


@dataclass(frozen=True)
class Total:
    """Guarantees that hold together for all releases of one unit.

    Fields:
        losses: One guarantee, or two of different types that both hold.
        mixed: Whether some of them hide a record added or removed, and others one replaced.
    """

    losses: tuple[Privacy, ...]
    unit: PrivacyUnit
    releases: int
    mixed: bool = False

    @property
    def together(self) -> Privacy:
        """One guarantee for everything; of two types side by side, an approximate one that both imply."""
        if len(self.losses) == 1:
            return self.losses[0]
        pairs = [implied(loss) for loss in self.losses]
        delta = min(sum((delta for _, delta in pairs), Fraction(0)), _ALMOST_ONE)
        return ApproxDP(sum((epsilon for epsilon, _ in pairs), Fraction(0)), delta)


def totals(provenances: Sequence[Provenance]) -> tuple[Total, ...]:
    """What distinct releases of one data set cost together, for each kind of unit.

    A release that is shown twice, for example as a curve and as its quantiles, counts once. Pure and
    concentrated guarantees add up to one; approximate ones take pure ones in. Approximate ones that
    Gaussian noise keeps add up as the noise does, which is less than their sum; it holds for releases that
    were planned beforehand. Concentrated and approximate guarantees side by side stay two, which hold
    together. Where adjacencies are mixed, the total is for a replacement. A guarantee for a record says
    nothing about a person with many, so totals for records and for persons stay apart.
    """
    distinct = {entry.release_id: entry for entry in provenances if entry.privacy is not None}
    groups: dict[tuple[str | None, Adjacency | None], list[Provenance]] = {}
    several = {entry.person for entry in distinct.values() if entry.max_rows_per_person > 1}
    for entry in distinct.values():
        # nobody with several rows can be replaced by another, so there is no adjacency that both would hold for
        apart = entry.adjacency if entry.person in several else None
        groups.setdefault((entry.person, apart), []).append(entry)
    return tuple(_total(entries) for entries in groups.values())


def _total(entries: Sequence[Provenance]) -> Total:
    adjacencies = {entry.adjacency for entry in entries}
    mixed = len(adjacencies) > 1
    adjacency = Adjacency.REPLACE if mixed else adjacencies.pop()
    paid = [_paid(entry, adjacency) for entry in entries]
    rows = max(entry.max_rows_per_person for entry in entries)
    # what one of them takes as public the others do not hide from who sees all of them
    public = tuple(name for entry in entries for name in entry.public)
    unit = PrivacyUnit(adjacency, entries[0].person, rows, public)
    return Total(_composed(paid), unit, len(entries), mixed)


def _paid(entry: Provenance, adjacency: Adjacency) -> tuple[Privacy, GaussianDP | None]:
    """The guarantee of a release and its loss, where that is of Gaussian noise, for an adjacency."""
    granted = entry.privacy
    assert granted is not None, "releases without privacy were left out"
    loss = entry.price if isinstance(entry.price, GaussianDP) else None
    if entry.adjacency is adjacency:
        return granted, loss
    return as_replacement(granted), None if loss is None else group_loss(loss, 2)


def _composed(paid: Sequence[tuple[Privacy, GaussianDP | None]]) -> tuple[Privacy, ...]:
    approximate = [(granted, loss) for granted, loss in paid if isinstance(granted, ApproxDP)]
    others = [granted for granted, _ in paid if not isinstance(granted, ApproxDP)]
    if not approximate:
        return (total_loss(others),)
    pure = sum((loss.epsilon for loss in others if isinstance(loss, PureDP)), Fraction(0))
    concentrated = [loss for loss in others if isinstance(loss, ZeroConcentratedDP)]
    slack = min(sum((granted.delta for granted, _ in approximate), Fraction(0)), _ALMOST_ONE)
    plain = [granted.epsilon for granted, loss in approximate if loss is None]
    gaussian = _gaussian([(granted, loss) for granted, loss in approximate if loss is not None])
    together = ApproxDP(sum(plain, pure) + gaussian, slack)
    return (together, total_loss(concentrated)) if concentrated else (together,)


def _gaussian(paid: Sequence[tuple[ApproxDP, GaussianDP]]) -> Fraction:
    """The epsilon of guarantees that Gaussian noise keeps, at the sum of their deltas."""
    added = sum((granted.epsilon for granted, _ in paid), Fraction(0))
    delta = sum((granted.delta for granted, _ in paid), Fraction(0))
    if len(paid) < 2 or delta >= 1:
        return added
    total = total_loss([loss for _, loss in paid])
    try:
        return min(added, rounded_up(epsilon_of_gaussian(total, delta)))
    except ParameterError:  # no epsilon goes with so small a delta
        return added


def as_replacement(privacy: Privacy) -> Privacy:
    """What a guarantee for one record added or removed says about one replaced: two such steps."""
    if not isinstance(privacy, ApproxDP):
        return group_loss(privacy, 2)
    growth = 1 + Fraction(math.exp(min(700.0, float(privacy.epsilon)))) * _ROUNDED_UP
    return ApproxDP(2 * privacy.epsilon, min(privacy.delta * growth, _ALMOST_ONE))
