"""`ogive show` and `ogive report`: what files that ogive wrote hold, for people; the files need not be trusted."""

from __future__ import annotations

import json as writer
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ogive.cli.data import Flag, in_file
from ogive.cli.ledger import accounts_of, opened
from ogive.cli.options import Plot
from ogive.cli.output import (
    NOT_TESTED,
    NOTHING_COMPARED,
    NOTHING_READ,
    NOWHERE,
    PlaceOptions,
    QuantileComparedOptions,
    ReadingOptions,
    TestOptions,
    busy,
    check_outputs,
    draw,
)
from ogive.cli.paying import files_of, is_ledger
from ogive.errors import DataError, LedgerError, ParameterError, plain, quoted

if TYPE_CHECKING:
    from ogive.ledger import Account, Ledger
    from ogive.pate import SanitizedCost
    from ogive.statistics.base import Estimate
    from ogive.statistics.plain_json import Fields

    _Named = tuple[Estimate, str | None]
    """A release and the name of its file."""


def _parsed(path: Path, ledger: str) -> tuple[Any, str | None]:
    """The JSON of a file, and its schema where it names one; `ledger` says what to do with a ledger."""
    from ogive.statistics.plain_json import parse

    if is_ledger(path):
        raise DataError(f"a ledger is {ledger} {plain(path)}")
    data = parse(path)
    schema = data.get("schema") if isinstance(data, dict) else None
    return data, schema if isinstance(schema, str) else None


# --- `ogive show`

_STATEMENT = "ogive.statement/1"
_BOOKS = (_STATEMENT, "ogive.ledger/1")
_NOTHING = "nothing"
_STATES = ("released", "reserved", "lost")


@dataclass(frozen=True)
class _Shown:
    """What a file holds, as text for people and as JSON.

    `plot` is None where it has no picture, and `private` says why it may not be published, if anything forbids that.
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
    places: PlaceOptions = NOWHERE,
    tests: TestOptions = NOT_TESTED,
    json: Flag = False,
    plot: Plot = None,
) -> None:
    """Print what a file of ogive holds: a release, a plan, a cost, a description or a ledger's statement.

    The file may come from anybody: it is checked before anything is built from it, and no record is read.

    Args:
        file: JSON, as the other commands write it with -o or --json.
        compared: Groups of a release that are compared.
        readings: Parts of a ROC curve that are read.
        places: Where more is told.
        tests: Whether groups of a description are compared.
        json: Write it as JSON to standard output instead.
        plot: A picture of it.
    """
    check_outputs(file, plot=plot)
    readings.check(json)
    places.check(json)
    tests.check(json, groups=True)
    with in_file(file):
        result = _read(file, compared, readings, places, tests)
        text = result.json() if json else printable(result.text())
    if plot is not None and result.plot is None:
        raise ParameterError(f"what {plain(file)} holds has no picture; leave out --plot")
    if result.private is not None:
        print(f"ogive: private: {result.private}", file=sys.stderr)
    print(text)
    if plot is not None and result.plot is not None:
        with busy("drawing"):
            draw(result.plot, plot)


def printable(text: str) -> str:
    """A text whose control characters, which could steer a terminal, are shown as a mark in their place."""
    return "".join(letter if letter == "\n" or letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def _read(
    path: Path, compared: QuantileComparedOptions, readings: ReadingOptions, places: PlaceOptions, tests: TestOptions
) -> _Shown:
    from ogive.statistics.kinds import SCHEMAS

    data, schema = _parsed(path, "shown by ogive ledger show")
    if schema in SCHEMAS:
        return _estimate(data, compared, lambda table: tests.added_to(places.added_to(readings.added_to(table))))
    compared.refuse()
    readings.refuse()
    if places.at or tests.tests:
        raise ParameterError(f"{'--at' if places.at else '--tests'} reads a release; leave it out here")
    if schema in _BOOKS:
        return _Shown(lambda: _statement(data), lambda: writer.dumps(data, indent=1))
    readers = _readers()
    if schema is None:
        raise DataError("this is not a file that ogive wrote: it names no schema")
    if schema not in readers:
        raise DataError(f"its schema is {quoted(schema)}, which this version does not know")
    return readers[schema](data)


def _estimate(data: Any, compared: QuantileComparedOptions, longer: Callable[[Any], Any]) -> _Shown:
    from ogive.provenance import publishable
    from ogive.statistics.kinds import SCHEMAS, read_estimate

    estimate = compared.added_to(read_estimate(data))
    private = None if publishable(estimate.provenance) else "these are exact values, without noise"
    table = longer(SCHEMAS[data["schema"]].command_options.table)
    return _Shown(lambda: table(estimate), estimate.to_json, estimate.plot, private)


def _readers() -> dict[str, Callable[[Any], _Shown]]:
    from ogive.cli.pate import cost
    from ogive.cli.wording import in_options
    from ogive.local.description import SCHEMA as DESCRIPTION
    from ogive.local.description import Description
    from ogive.pate import LabelsPlan, PrivacyCost, SanitizedCost
    from ogive.releasing.planning import Plan
    from ogive.releasing.planning.text import table

    def shown(result: Any, text: Callable[[Any], str] = str, private: str | None = None) -> _Shown:
        return _Shown(lambda: text(result), result.to_json, getattr(result, "plot", None), private)

    def private_cost(data: Any) -> _Shown:
        result = PrivacyCost.from_dict(data)
        return shown(result, cost.cost_text, None if result.publishable else PRIVATE)

    return {
        Plan.schema: lambda data: shown(Plan.from_dict(data), lambda made: table(made, in_options)),
        LabelsPlan.schema: lambda data: shown(LabelsPlan.from_dict(data)),
        PrivacyCost.schema: private_cost,
        SanitizedCost.schema: lambda data: shown(SanitizedCost.from_dict(data), cost.sanitized_text),
        DESCRIPTION: lambda data: shown(Description.from_dict(data), lambda made: made.words),
    }


def _statement(data: Mapping[str, Any]) -> str:
    """A ledger's statement or export, as `ogive ledger show` writes it."""
    accounts = data.get("accounts")
    if not isinstance(accounts, list):
        raise DataError("the accounts of a statement must be a list")
    return "\n\n".join(map(_account_text, accounts)) or "the ledger has no data sets yet"


def _account_text(data: Any) -> str:
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
    from ogive.releasing.accounts import subject
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


# --- `ogive report`

SCHEMA = "ogive.report/1"

NO_PAGES = {".pdf", ".png", ".svg", ".jpg", ".jpeg", ".docx", ".xlsx", ".csv", ".json", ".txt", ".md", ".tex"}
"""How files are named that a page is not."""

PRIVATE = (
    "this cost was computed from votes without noise and is as private as they are, so a report must not show it; "
    "ogive pate sanitize makes one that may be published"
)
INDEPENDENT = "a cost that does not depend on votes is the price of the labels; report the labels, which state it"


def report(
    *files: Path,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("report.html"),
    title: str | None = None,
    ledger: str | None = None,
    data_set: str | None = None,
    json: Flag = False,
) -> None:
    """Write releases as one page of HTML, in words for people who do not work in privacy.

    The page needs nothing but itself: it can be mailed, printed and read on a phone.

    Args:
        files: Releases as JSON, as the other commands write them, and costs as ogive pate sanitize writes them.
        output: Where the page goes.
        title: Heading of the page.
        ledger: Also everything that was released from a ledger, with its budget: a file, sqlite:///FILE or
            postgresql://USER@HOST/DB.
        data_set: Which data set of the ledger; needed where it has several.
        json: Write a summary of the page as JSON to standard output.
    """
    if ledger is None and data_set is not None:
        raise ParameterError("--data-set requires --ledger")
    if ledger is None and not files:
        raise ParameterError("name releases to report, for example: ogive report curve.json, or a --ledger")
    check_outputs(None, output, keep=[*files, *files_of(ledger)])
    if output.suffix.lower() in NO_PAGES:
        page = plain(output.with_suffix(".html"))
        raise ParameterError(f"a report is a page in HTML, not {output.suffix}; name it {page}")
    releases, costs = _read_all(files)
    if ledger is None:
        summary = _write(releases, costs, None, output, title)
    else:
        with opened(ledger) as books:
            account = _account(books, data_set)
            result, published = _answers(account, [*releases, *costs])
            summary = _write([*releases, *result], list(dict.fromkeys([*costs, *published])), account, output, title)
    if json:
        print(writer.dumps(summary, indent=1))
    print(f"wrote {output}", file=sys.stderr)


def _read_all(files: Sequence[Path]) -> tuple[list[_Named], list[SanitizedCost]]:
    """Releases with the names of their files, and published costs."""
    from ogive.pate import PrivacyCost, SanitizedCost
    from ogive.statistics.kinds import SCHEMAS, read_estimate

    releases: list[_Named] = []
    costs: list[SanitizedCost] = []
    for path in files:
        with in_file(path):
            data, schema = _parsed(path, "reported by ogive report --ledger")
            if schema == PrivacyCost.schema:
                raise DataError(INDEPENDENT if data.get("publishable") is True else PRIVATE)
            if schema == SanitizedCost.schema:
                costs.append(SanitizedCost.from_dict(data))
            elif schema is not None and schema not in SCHEMAS:
                raise DataError(_no_release(schema, path))
            else:
                releases.append((read_estimate(data), path.name))
    return releases, list(dict.fromkeys(costs))


def _no_release(schema: str, path: Path) -> str:
    """What a report takes, where a file holds something else."""
    from ogive.local.description import SCHEMA as DESCRIPTION
    from ogive.pate import LabelsPlan
    from ogive.releasing.planning import Plan

    held = {Plan.schema: Plan.kind, LabelsPlan.schema: LabelsPlan.kind, DESCRIPTION: "a description of a collection"}
    takes = "a report takes releases, as the other commands write them with -o, and costs from ogive pate sanitize"
    if schema in held:
        return f"this is {held[schema]}, which releases nothing; {takes}; ogive show {plain(path)} prints it"
    return f"its schema is {quoted(schema)}, which is not a release; {takes}"


def _account(books: Ledger, name: str | None) -> Account:
    """The account of a name, or the only one."""
    accounts = accounts_of(books, name)
    if not accounts:
        raise LedgerError("the ledger has no data sets yet")
    if len(accounts) > 1:
        known = ", ".join(account.name for account in accounts)
        raise ParameterError(f"name the data set with --data-set; the ledger has {known}")
    return accounts[0]


def _answers(account: Account, others: Sequence[object]) -> tuple[list[_Named], list[SanitizedCost]]:
    """What a ledger's account released, and the costs that it published."""
    from ogive.pate import SanitizedCost
    from ogive.statistics.kinds import is_cost, is_estimate, read_recorded

    answers = account.answers()
    results: list[_Named] = [(read_recorded(answer), None) for answer in answers if is_estimate(answer)]
    if not answers and not others:
        raise DataError(f"nothing has been released from {quoted(account.name)}, so there is nothing to report")
    return results, [SanitizedCost.from_dict(answer) for answer in answers if is_cost(answer)]


def _write(
    releases: Sequence[_Named], costs: Sequence[SanitizedCost], account: Account | None, output: Path, title: str | None
) -> dict[str, Any]:
    """Write the page and say what is on it."""
    from ogive.report import summarize, write_report

    named = title or ("Private releases" if account is None else f"Private releases of {account.name}")
    estimates, names = [estimate for estimate, _ in releases], [name for _, name in releases]
    with busy("writing the report"):
        write_report(estimates, output, title=named, names=names, account=account, costs=costs)
    budget = None
    if account is not None:
        amounts = {"limit": account.limit, "spent": account.spent, "remaining": account.remaining}
        written = {name: None if amount is None else amount.to_dict() for name, amount in amounts.items()}
        budget = {"data_set": account.name, **written}
    page = {"schema": SCHEMA, "output": str(output), "title": named}
    return {**page, "releases": summarize(estimates, names=names, account=account, costs=costs), "budget": budget}
