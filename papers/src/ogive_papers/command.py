"""`ogive reproduce`: redo the figures and tables of the papers."""

from __future__ import annotations

import contextlib
import json as json_format
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from ogive.cli.data import whole
from ogive.datasets import data_directory
from ogive.errors import DataError

if TYPE_CHECKING:
    from ogive_papers.papers import Finding
    from ogive_papers.pool import Progress

QUICK_RUNS = 8

Numbers = Annotated[tuple[str, ...], Parameter(consume_multiple=True)]

app = App(name="reproduce", help="Reproduce the figures and tables of the papers, with a verdict for each.")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """How thoroughly, and where to."""

    runs: Annotated[int | None, Parameter(converter=whole)] = None
    """Repetitions at every setting; by default those of the full reproduction, or 8 with --quick."""

    quick: bool = False
    """A first look: few runs and settings."""

    seed: Annotated[int, Parameter(converter=whole)] = 1
    """Seed of all random numbers; the same seed gives the same figures, except for run times."""

    data: Path | None = None
    """Folder with the data sets, or one of their files, for figures of real data. Missing files are looked up in the
    folder that OGIVE_DATA names, or ../shared/data; data that are not found are simulated, and no conclusion is drawn
    from them.
    """

    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None
    """Folder for pictures, numbers and verdicts; reproduce/PAPER by default. Finished runs are stored there."""

    workers: Annotated[int | None, Parameter(converter=whole)] = None
    """Processes; one per core by default."""

    json: bool = False
    """Print verdicts as JSON instead of a table."""


DEFAULTS = ReproduceOptions()


@app.command
def ecdf(
    *,
    figure: Numbers = (),
    table: Numbers = (),
    options: ReproduceOptions = DEFAULTS,
) -> None:
    """Redo figures of "Differentially Private Empirical Cumulative Distribution Functions".

    Args:
        figure: Numbers of figures: 1, 5, 8, 9 (ROC curves), 2, 3 (smoothing), 4 (inverse), 6, 10 (calibration),
            7 (run time). All, and the table, by default. The data of Figure 1, heart disease, is a copy of the public
            Framingham table: name the file with --data.
        table: Numbers of tables: 1 (the data sets).
        options: How thoroughly, and where to; 100 runs by default.
    """
    _reproduce("ecdf", figures=figure, tables=table, options=options)


@app.command
def pate(*, figure: Numbers = (), table: Numbers = (), options: ReproduceOptions = DEFAULTS) -> None:
    """Redo tables and figures of "Scalable Private Learning with PATE".

    Prices are worked out as in the paper and as the library does, from the real votes on MNIST, SVHN and Adult. Those
    on Glyph are private to the paper's authors and simulated here; students of SVHN and Glyph are quoted.

    Args:
        figure: Numbers of figures: 1 (answers, price, consensus), 4 (noises, sizes of ensembles), 5 (checks). All, and
            the tables, by default. All are of simulated votes, and beside them of the real ones on MNIST and Adult.
        table: Numbers of tables: 1 (answers, their price, students), 2 (sanitized epsilon). They read
            pate_teacher_votes.npz, svhn_votes.npz, mnist.npz, adult.test and adult.data. Votes of your own on SVHN
            are counts of 250 teachers of the shape (8500 or more, 10), in svhn_250.npy or an .npz.
        options: How thoroughly, and where to; 100 runs of Table 1 by default, 5 of the figures, 1 of Table 2.
    """
    _reproduce("pate", figures=figure, tables=table, options=options)


@app.command
def projection(*, figure: Numbers = (), options: ReproduceOptions = DEFAULTS) -> None:
    """Redo figures of "Differentially Private Distribution Estimation Using Functional Approximation".

    Every figure is redone twice: as in the paper, whose baselines are charged for every count on its own, and as the
    library releases, with what everything costs together. The verdict says which claims need the first.

    Args:
        figure: Numbers of figures: 1, D1 (single curves), 2, D2 (distances against epsilon), 3, D3, D4 (ten sites, ten
            updates), 4 (boxplots). All by default. Figure 3 reads the weights of socr_height_weight.csv.
        options: How thoroughly, and where to; 50 runs by default.
    """
    _reproduce("projection", figures=figure, tables=(), options=options)


@app.command
def ustatistics(*, figure: Numbers = (), table: Numbers = (), options: ReproduceOptions = DEFAULTS) -> None:
    """Redo figures of "Private Protocols for U-Statistics in the Local Model and Beyond".

    What is printed is redone beside what the library takes instead; of Figure 4 pairs of parties are simulated, by the
    laws of what their circuits give.

    Args:
        figure: Numbers of figures: 3, 5 (the AUC protocol), 4 (Kendall's tau of hotel ratings), 6, 7 (the generic
            protocol). All, and the table, by default. Figures 3 and 7 read diabetic_data.csv, Figure 4
            tripadvisor_ratings.csv.
        table: Numbers of tables: 1 (orders of the error).
        options: How thoroughly, and where to; 20 runs of Figures 5, 6 and 7 by default, 100 of the others.
    """
    _reproduce("ustatistics", figures=figure, tables=table, options=options)


def _reproduce(paper: str, *, figures: tuple[str, ...], tables: tuple[str, ...], options: ReproduceOptions) -> None:
    from ogive_papers.items import Plan
    from ogive_papers.papers import reproduce, select

    items = select(paper, figures=figures, tables=tables)
    runs = options.runs if options.runs is not None else QUICK_RUNS if options.quick else None
    plan = Plan(runs=runs, quick=options.quick, seed=options.seed, data=_places(options.data))
    folder = options.output or Path("reproduce") / paper
    if options.quick:
        _say(f"quick: {runs} runs at few settings; leave --quick out for the full figures")
    with _progress(folder) as progress:
        findings = reproduce(items, plan=plan, folder=folder, progress=progress, workers=options.workers)
    if options.json:
        print(json_format.dumps([finding.to_dict() for finding in findings], indent=1, ensure_ascii=False))
    else:
        print("\n\n".join(_text(finding) for finding in findings))
    _say(f"pictures, numbers and verdicts are in {folder}")


def _places(named: Path | None) -> tuple[Path, ...]:
    """Where to look for data sets, the place that was named first."""
    named_places = () if named is None else (named,)
    try:
        return (*named_places, data_directory())
    except DataError:
        if os.environ.get("OGIVE_DATA"):
            raise
        return named_places


def _text(finding: Finding) -> str:
    from ogive_papers.outputs import runs_text

    marks = {"holds": "+", "fails": "-", "undecided": "?"}
    item = finding.item
    quick = ", quick" if finding.plan.quick else ""
    lines = [f"{item.kind.capitalize()} {item.number}: {finding.verdict.upper()}"]
    lines.append(f"  {item.title} ({runs_text(item.runs(finding.plan))}{quick})")
    if finding.remark is not None:
        lines.append(f"  {finding.remark}")
    for check in finding.checks:
        detail = "" if check.essential else "detail: "
        lines.append(f"  {marks[check.outcome.value]} {detail}{check.claim}")
        lines.append(f"      {check.outcome.value}: {check.evidence}")
    return "\n".join(lines)


@contextlib.contextmanager
def _progress(folder: Path) -> Iterator[Progress]:
    """Bars with the time that is left, on standard error; after an interruption, how to go on."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    bars = Bars(*columns, console=Console(stderr=True))
    try:
        yield _Bars(bars)
    except KeyboardInterrupt:
        bars.stop()
        _say(f"stopped; finished runs are kept in {folder}, and the same command goes on from there")
        raise
    finally:
        # stopping bars that never started would print an empty line
        if bars.live.is_started:
            bars.stop()


def _say(message: str) -> None:
    print(message, file=sys.stderr)


class _Bars:
    """Progress of every item as a bar."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._tasks: dict[str, Any] = {}

    def begin(self, name: str, total: int, known: int) -> None:
        self._bars.start()
        description = f"{name} ({known} known)" if known else name
        self._tasks[name] = self._bars.add_task(description, total=total, completed=known)

    def advance(self, name: str) -> None:
        self._bars.advance(self._tasks[name])
