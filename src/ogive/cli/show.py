"""`ogive show`: what a file that ogive wrote holds, for people; the file need not be trusted."""

from __future__ import annotations

import json as writer
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ogive.cli.options.common import Plot
from ogive.cli.options.readings import NOTHING_COMPARED, NOTHING_READ, QuantileComparedOptions, ReadingOptions
from ogive.cli.output import busy, check_outputs, check_picture, draw
from ogive.cli.paying import is_ledger
from ogive.errors import DataError, OgiveError, ParameterError, plain, quoted

if TYPE_CHECKING:
    from ogive.statistics.plain_json import Fields

_STATEMENT = "ogive.statement/1"
_BOOKS = (_STATEMENT, "ogive.ledger/1")
_NOTHING = "nothing"
_STATES = ("released", "reserved", "lost")


@dataclass(frozen=True)
class _Shown:
    """What a file holds.

    Fields:
        text: For people.
        json: The same as JSON.
        plot: Draws it into axes; None where it has no picture.
        private: Why it may not be published; None where nothing forbids that.
    """

    text: Callable[[], str]
    json: Callable[[], str]
    plot: Callable[[Any], Any] | None = None
    private: str | None = None


def show(
    file: Path,
    /,
    *,
    compared: QuantileComparedOptions = NOTHING_COMPARED,
    readings: ReadingOptions = NOTHING_READ,
    json: Annotated[bool, Parameter(show_default=False)] = False,
    plot: Plot = None,
) -> None:
    """Print what a file of ogive holds: a release, a plan, a cost, a description or a ledger's statement.

    The file may come from anybody: it is checked before anything is built from it, and no record is read.

    Args:
        file: JSON, as the other commands write it with -o or --json.
        compared: Groups of a release that are compared.
        readings: Parts of a ROC curve that are read.
        json: Write it as JSON to standard output instead.
        plot: A picture of it.
    """
    if plot is not None:
        check_picture(plot)
    check_outputs(file, plot)
    readings.check(json)
    try:
        found = _read(file, compared, readings)
        text = found.json() if json else printable(found.text())
    except OgiveError as problem:
        said = str(problem)
        raise DataError(plain(said if said.startswith("cannot read") else f"{file}: {said}")) from None
    if plot is not None and found.plot is None:
        raise ParameterError(f"what {plain(file)} holds has no picture; leave out --plot")
    if found.private is not None:
        print(f"ogive: private: {found.private}", file=sys.stderr)
    print(text)
    if plot is not None and found.plot is not None:
        with busy("drawing"):
            draw(found.plot, plot)


def printable(text: str) -> str:
    """A text whose control characters, which could steer a terminal, are shown as a mark in their place."""
    return "".join(letter if letter == "\n" or letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def _read(path: Path, compared: QuantileComparedOptions, readings: ReadingOptions) -> _Shown:
    """What a file holds.

    Raises:
        DataError, ParameterError, PeerError: nothing that this version can read.
    """
    from ogive.statistics.kinds import SCHEMAS
    from ogive.statistics.plain_json import parse

    if is_ledger(path):
        raise DataError(f"a ledger is shown by ogive ledger show {plain(path)}")
    data = parse(path)
    schema = data.get("schema") if isinstance(data, dict) else None
    if isinstance(schema, str) and schema in SCHEMAS:
        return _estimate(data, compared, readings)
    compared.refuse()
    readings.refuse()
    if isinstance(schema, str) and schema in _BOOKS:
        return _Shown(lambda: _statement(data), lambda: writer.dumps(data, indent=1))
    readers = _readers()
    if not isinstance(schema, str):
        raise DataError("this is no file that ogive wrote: it names no schema")
    if schema not in readers:
        raise DataError(f"its schema is {quoted(schema)}, which this version does not know")
    return readers[schema](data)


def _estimate(data: Any, compared: QuantileComparedOptions, readings: ReadingOptions) -> _Shown:
    from ogive.provenance import publishable
    from ogive.statistics.kinds import SCHEMAS, read_estimate

    estimate = compared.added_to(read_estimate(data))
    private = None if publishable(estimate.provenance) else "these are exact values, without noise"
    table = readings.added_to(SCHEMAS[data["schema"]].command_options.table)
    return _Shown(lambda: table(estimate), estimate.to_json, estimate.plot, private)


def _readers() -> dict[str, Callable[[Any], _Shown]]:
    """How other documents are read, by their schemas."""
    from ogive.cli.pate import cost
    from ogive.cli.report import PRIVATE
    from ogive.cli.wording import in_options
    from ogive.local.description import SCHEMA, Description
    from ogive.pate import LabelsPlan, PrivacyCost, SanitizedCost
    from ogive.releasing.planning import Plan
    from ogive.releasing.planning.text import table

    def plan(data: Any) -> _Shown:
        made = Plan.from_dict(data)
        return _Shown(lambda: table(made, in_options), made.to_json, made.plot)

    def labels_plan(data: Any) -> _Shown:
        made = LabelsPlan.from_dict(data)
        return _Shown(lambda: str(made), made.to_json, made.plot)

    def private_cost(data: Any) -> _Shown:
        found = PrivacyCost.from_dict(data)
        return _Shown(
            lambda: cost.told_of_cost(found), found.to_json, found.plot, None if found.publishable else PRIVATE
        )

    def sanitized_cost(data: Any) -> _Shown:
        found = SanitizedCost.from_dict(data)
        return _Shown(lambda: cost.told_of_sanitized(found), found.to_json)

    def description(data: Any) -> _Shown:
        found = Description.from_dict(data)
        return _Shown(lambda: found.words, found.to_json)

    return {
        Plan.schema: plan,
        LabelsPlan.schema: labels_plan,
        PrivacyCost.schema: private_cost,
        SanitizedCost.schema: sanitized_cost,
        SCHEMA: description,
    }


def _statement(data: Mapping[str, Any]) -> str:
    """A ledger's statement or export, as `ogive ledger show` writes it.

    Raises:
        DataError, ParameterError: it is damaged.
    """
    accounts = data.get("accounts")
    if not isinstance(accounts, list):
        raise DataError("the accounts of a statement must be a list")
    return "\n\n".join(map(_account, accounts)) or "the ledger has no data sets yet"


def _account(data: Any) -> str:
    from ogive.privacy import PrivacyUnit

    account = _fields(data, "an account", ("name", "unit", "limit", "spent", "remaining", "entries"))
    unit, entries = PrivacyUnit.from_dict(data["unit"]), data["entries"]
    if not isinstance(entries, list):
        raise DataError("the entries of an account must be a list")
    rows = [_row(entry) for entry in entries]
    widths = [max((len(row[place]) for row in rows), default=0) for place in range(3)]
    lines = [f"{account.text('name')}: {unit.words}"]
    for number, what, price, note in rows:
        lines.append(f"  {number:>{widths[0]}}  {what:<{widths[1]}}  {price:<{widths[2]}}  {note}".rstrip())
    if not rows:
        lines.append("  nothing was released yet")
    lines.append(f"  limit      {_amount(account, 'limit', 'none')}")
    lines.append(f"  spent      {_amount(account, 'spent', _NOTHING)}")
    if data["limit"] is not None:
        lines.append(f"  remaining  {_amount(account, 'remaining', _NOTHING)}")
    return "\n".join(lines)


def _row(data: Any) -> tuple[str, str, str, str]:
    from ogive.releasing.session.statement import subject
    from ogive.statistics.questions import state_words, trust_words

    entry = _fields(data, "an entry", ("number", "question", "charge", "state", "started"))
    state, question = data["state"], data["question"]
    if not isinstance(state, str) or state not in _STATES:
        raise DataError(f"the state of an entry must be one of {', '.join(_STATES)}, got {quoted(state)}")
    if not isinstance(question, dict):
        raise DataError("the question of an entry must be an object")
    what = f"{entry.text('started')[:16].replace('T', ' ')} UTC  {subject(question)}"
    trust, part = trust_words(question), data.get("part")
    notes = [] if trust is None else [f"trust {trust}"]
    notes += [f"part {entry.text('part')}"] if part is not None else []
    notes.append(state_words(state, data.get("statistic"), question))
    return str(entry.whole("number")), what, _amount(entry, "charge", _NOTHING), "; ".join(filter(None, notes))


def _amount(fields: Fields, name: str, nothing: str) -> str:
    from ogive.releasing.planning.rows import charge_of

    return nothing if fields.data[name] is None else str(charge_of(fields, name))


def _fields(data: Any, what: str, needed: tuple[str, ...]) -> Fields:
    """Fields of a part of a statement, which has no schema of its own."""
    from ogive.statistics.plain_json import Fields

    if not isinstance(data, dict) or not set(needed) <= set(data):
        raise DataError(f"{what} of a statement must be an object with {', '.join(needed)}")
    return Fields(data, f"{what} of a statement")
