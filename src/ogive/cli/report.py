"""`ogive report`: releases as one page that explains itself."""

from __future__ import annotations

import json as writer
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ogive.cli.output import busy, check_outputs
from ogive.cli.paying import files_of, is_ledger
from ogive.errors import DataError, LedgerError, OgiveError, ParameterError, plain, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ogive.ledger import Account, Ledger
    from ogive.pate import SanitizedCost
    from ogive.statistics.base import Estimate

    _Named = tuple[Estimate, str | None]
    """A release and the name of its file."""

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
    json: Annotated[bool, Parameter(show_default=False)] = False,
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
        with _opened(ledger) as books:
            account = _account(books, data_set)
            found, published = _answers(account, [*releases, *costs])
            summary = _write([*releases, *found], list(dict.fromkeys([*costs, *published])), account, output, title)
    if json:
        print(writer.dumps(summary, indent=1))
    print(f"wrote {output}", file=sys.stderr)


def _read_all(files: Sequence[Path]) -> tuple[list[_Named], list[SanitizedCost]]:
    """Releases with the names of their files, and published costs.

    Raises:
        DataError: a file is neither.
    """
    from ogive.pate import PrivacyCost, SanitizedCost
    from ogive.statistics.kinds import SCHEMAS, read_estimate
    from ogive.statistics.plain_json import parse

    releases: list[_Named] = []
    costs: list[SanitizedCost] = []
    for path in files:
        try:
            if is_ledger(path):
                raise DataError(f"a ledger is reported by ogive report --ledger {plain(path)}")
            data = parse(path)
            schema = data.get("schema") if isinstance(data, dict) else None
            if schema == PrivacyCost.schema:
                raise DataError(INDEPENDENT if data.get("publishable") is True else PRIVATE)
            if schema == SanitizedCost.schema:
                costs.append(SanitizedCost.from_dict(data))
            elif isinstance(schema, str) and schema not in SCHEMAS:
                raise DataError(_no_release(schema, path))
            else:
                releases.append((read_estimate(data), path.name))
        except OgiveError as problem:
            said = str(problem)
            raise DataError(plain(said if said.startswith("cannot read") else f"{path}: {said}")) from None
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
    return f"its schema is {quoted(schema)}, which is no release; {takes}"


def _opened(place: str) -> Ledger:
    from ogive.ledger import Ledger
    from ogive.releasing.session import ledger_file

    file = ledger_file(place)
    if file is not None and not file.exists():
        raise LedgerError(f"there is no ledger {plain(file)}")
    return Ledger.open(place, read_only=True)


def _account(books: Ledger, name: str | None) -> Account:
    """The account of a name, or the only one.

    Raises:
        LedgerError: there is none of that name, or none at all.
        ParameterError: there are several and none was named.
    """
    accounts = {account.name: account for account in books.accounts()}
    known = ", ".join(accounts) or "none"
    if name is None:
        if len(accounts) > 1:
            raise ParameterError(f"name the data set with --data-set; the ledger has {known}")
        name = next(iter(accounts), None)
        if name is None:
            raise LedgerError("the ledger has no data sets yet")
    if name not in accounts:
        raise LedgerError(f"the ledger has no account {quoted(name)}; it has {known}")
    return accounts[name]


def _answers(account: Account, others: Sequence[object]) -> tuple[list[_Named], list[SanitizedCost]]:
    """What a ledger's account released, and the costs that it published.

    Raises:
        DataError: nothing, and there is nothing else to report.
    """
    from ogive.pate import SanitizedCost
    from ogive.statistics.kinds import is_cost, is_estimate, read_recorded

    answers = account.answers()
    found: list[_Named] = [(read_recorded(answer), None) for answer in answers if is_estimate(answer)]
    if not answers and not others:
        raise DataError(f"nothing has been released from {quoted(account.name)}, so there is nothing to report")
    return found, [SanitizedCost.from_dict(answer) for answer in answers if is_cost(answer)]


def _write(
    releases: Sequence[_Named],
    costs: Sequence[SanitizedCost],
    account: Account | None,
    output: Path,
    title: str | None,
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
        plain = {name: None if amount is None else amount.to_dict() for name, amount in amounts.items()}
        budget = {"data_set": account.name, **plain}
    page = {"schema": SCHEMA, "output": str(output), "title": named}
    return {**page, "releases": summarize(estimates, names=names, account=account, costs=costs), "budget": budget}
