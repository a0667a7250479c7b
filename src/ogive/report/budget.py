"""The ledger's part of the page: the limit, what is spent, what is left, and on what."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from ogive.html import words
from ogive.html.chart import draw, key
from ogive.html.chart_bar import BarChart
from ogive.html.markup import Html, tag
from ogive.html.parts import Row, card, figure, say, strong, table
from ogive.privacy import ApproxDP, Privacy, PureDP, ZeroConcentratedDP
from ogive.session.statement import hidden
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
    """The section about a ledger's account.

    Args:
        account: As opened from a ledger; read, never changed.
        shown: Release ids on this page; the section says how many of them another budget paid.
    """
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
    """What the budget guarantees, in words that need no knowledge of epsilon."""
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
