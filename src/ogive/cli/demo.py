"""`ogive demo`: the whole story on this machine."""

from __future__ import annotations

import json as writer
import sys
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ogive.cli.data import Flag
from ogive.cli.output import busy
from ogive.errors import LedgerError, ParameterError, plain
from ogive.privacy import number_text

if TYPE_CHECKING:
    from ogive.demo.story import Banks, Story
    from ogive.releasing.session import Session

LEDGER = "ledger.db"
BANKS_PAGE = "banks.html"
LEDGER_FILES = (LEDGER, f"{LEDGER}.key", f"{LEDGER}-wal", f"{LEDGER}-shm", f"{LEDGER}-journal")
EXACT = (
    "Dashed lines and columns named True are exact. They let you judge the noise here; in practice they are never "
    "published."
)


def demo(
    *,
    data: Path | None = None,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("demo"),
    fresh: bool = False,
    no_banks: bool = False,
    json: Flag = False,
) -> None:
    """Describe a bank's customers and judge a model of them, all paid from one ledger, until it is refused.

    Trains a logistic regression on half of the customers. Of the others it releases the distributions of age and
    balance, the model's ROC curve and its calibration, and how long calls last until a yes, and compares each with the
    truth. A second run gets the stored answers, for free. Then five banks that share no rows release the same of the
    model and of the calls together, each with a process of its own, one of which is killed and started again.

    Args:
        data: A CSV table with the columns age, balance, duration (seconds of the last call) and y (yes or no), and
            others to learn from. By default the bank's, which comes with the package (UCI Bank Marketing, CC BY 4.0).
        output: Folder for report.html, the releases as JSON, their charts, the ledger, and the banks.
        fresh: Begin a new ledger. Forgetting what was spent is harmless only here, where the data are public.
        no_banks: Leave out the five banks.
        json: Write the comparison as JSON to standard output instead of tables.
    """
    from ogive.demo.banks import FOLDER, can_serve, pool
    from ogive.demo.data import evaluate, find_table
    from ogive.demo.story import LIMIT, Part, Printer, Refusal, Story, summary, tell
    from ogive.releasing.session import Session

    table = find_table(data)
    with busy("training a logistic regression"):
        evaluation = evaluate(table)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ParameterError(f"cannot write into {plain(output)}: it is not a folder") from None
    if fresh:
        for name in LEDGER_FILES:
            (output / name).unlink(missing_ok=True)
        rmtree(output / FOLDER, ignore_errors=True)
    try:
        session = Session(evaluation.records, limit=LIMIT, ledger=output / LEDGER, name=table.name)
    except LedgerError as problem:
        # what follows advises options that other commands have
        reason = str(problem).split(";")[0]
        raise LedgerError(f"{plain(reason)}; --fresh starts the demonstration with a new ledger") from None
    printer = None if json else Printer()
    parts = []
    refusal = None
    with session:
        if printer is not None:
            printer.opening(table, evaluation)
        for step in tell(table, evaluation, session, busy):
            if printer is not None:
                printer.step(step)
            if isinstance(step, Part):
                parts.append(step)
            else:
                refusal = step
        assert isinstance(refusal, Refusal)
        story = Story(table, evaluation, tuple(parts), refusal)
        with busy("writing the report"):
            page = _write(story, session, output)
    if printer is not None:
        printer.findings(story)
    pooled = pool(output, evaluation, story.parts, busy) if not no_banks and can_serve() else None
    if pooled is not None:
        _write_banks(pooled, story, output)
    if printer is None:
        print(writer.dumps(summary(story, pooled), indent=1))
    elif pooled is not None:
        printer.banks(pooled)
    elif not no_banks:
        printer.without_banks()
    pages = str(page) if pooled is None else f"{page} and {output / BANKS_PAGE}"
    print(f"wrote {pages}: open {'it' if pooled is None else 'them'} in a browser", file=sys.stderr)


def _write_banks(banks: Banks, story: Story, folder: Path) -> Path:
    """Write the report of what the banks released together, and the releases as JSON."""
    from ogive.report import write_report

    for each in banks.pooled:
        each.estimate.to_json(folder / f"banks-{each.name}.json")
    notes = [
        f"{len(banks.records)} banks have {' + '.join(f'{rows:,}' for rows in banks.records)} of {story.table.origin}. "
        "No row leaves its bank. Each bank's agent adds its part of the noise and masks its counts; the coordinator "
        "sees sums alone.",
        f"Each bank's ledger paid epsilon = {number_text(banks.spent.epsilon)}, for the records of that bank.",
        EXACT,
    ]
    return write_report(
        [each.estimate for each in banks.pooled],
        folder / BANKS_PAGE,
        title="One model, judged by banks that keep their rows",
        truths=[each.truth for each in banks.pooled],
        notes=notes,
    )


def _write(story: Story, session: Session, folder: Path) -> Path:
    from ogive.core.files import write_atomically
    from ogive.demo.story import LIMIT, released_curve
    from ogive.report import chart_svg, write_report
    from ogive.statistics.quantiles.estimate import QuantileEstimates

    for part in story.parts:
        estimate, name = part.estimate, part.wish.name
        whole = estimate
        if isinstance(estimate, QuantileEstimates):
            estimate.to_json(folder / f"{name}-deciles.json")
            whole = released_curve(part)
        whole.to_json(folder / f"{name}.json")
        write_atomically(folder / f"{name}.svg", chart_svg(estimate).encode())
    prices = " + ".join(number_text(part.wish.privacy.epsilon) for part in story.parts)
    wanted = story.refusal.wish
    table, evaluation = story.table, story.evaluation
    notes = [
        f"{evaluation.records.size:,} {table.origin}. A logistic regression was trained on {evaluation.trained:,} "
        "other customers; probability is its prediction that a customer says yes, label the answer that was given.",
        "minutes is the length of the last call. Survival is the share of calls in which no yes has come by then; a "
        "call that ended without one counts as left at its end.",
        f"One ledger pays for everything, up to epsilon = {number_text(LIMIT.epsilon)}: {prices} was spent. The "
        "deciles are computed from the curves, which is post-processing and free.",
        f"A request for the distribution of all predictions at epsilon = {number_text(wanted.privacy.epsilon)} was "
        f"refused: {story.refusal.reason}.",
        EXACT,
    ]
    return write_report(
        [part.estimate for part in story.parts],
        folder / "report.html",
        title="Private releases about a bank’s customers",
        truths=[part.truth for part in story.parts],
        notes=notes,
        account=session.account,
    )
