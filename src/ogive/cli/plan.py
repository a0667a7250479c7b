"""`ogive plan`: what a release would cost and how far off it would be, before anything is spent."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from cyclopts import App, Parameter

from ogive.cli.data import data_table, whole
from ogive.cli.help import OF_SIMULATIONS, OUTPUT, PRIVACY, QUESTION, RECORDS, TRUST
from ogive.cli.options import (
    PRIVATE,
    TABLE,
    HolderOptions,
    OutputOptions,
    Plot,
    SubsetOptions,
    Words,
    guarantee,
    part_options,
)
from ogive.cli.output import busy, check_outputs, draw, write_result
from ogive.cli.release import ParsedStatistic, command
from ogive.cli.wording import in_options
from ogive.errors import ParameterError, quoted
from ogive.statistics.kinds import COMMANDED

if TYPE_CHECKING:
    from ogive.privacy import Adjacency, Privacy
    from ogive.releasing.planning import Plan
    from ogive.statistics.base import Statistic

# --- Options


@Parameter(name="*", group=PRIVACY)
@dataclass(frozen=True, kw_only=True)
class PlanOptions(HolderOptions):
    """How many records there are, and which guarantees are compared."""

    records: Annotated[int | None, Parameter(group=RECORDS, converter=whole)] = None
    """Number of records; under add_or_remove, where it is private, your own guess."""

    epsilon: Words = ()
    """One privacy loss or several to compare; 0.1 to 5 by default."""

    rho: Words = ()
    """The same in zero-concentrated privacy."""

    delta: str | None = None
    """Makes the guarantees of --epsilon, or of --error, approximate."""

    error: str | None = None
    """Find the privacy loss for a wanted error: a name of the table and a value, for example ks=0.01."""

    kind: Literal["pure", "zcdp"] = "pure"
    """With --error: which kind of guarantee, unless --delta makes it approximate."""

    adjacency: Literal["replace", "add_or_remove"] | None = None
    """As for a release: replace by default, or add_or_remove where a person may have several records."""

    public: Annotated[Words, Parameter(group=RECORDS)] = ()
    """Public columns, such as a label."""

    person: Annotated[str | None, Parameter(group=RECORDS)] = None
    """Column that identifies the person, if a person may have several records."""

    max_rows_per_person: Annotated[int, Parameter(group=RECORDS, converter=whole)] = 1
    """Most records of a person that would be used."""

    trust: Annotated[
        Words, Parameter(group=TRUST, help=f"Who would hold the records: one of {PRIVATE}, or several to compare them.")
    ] = ("central",)

    like: Annotated[Path | None, Parameter(group=RECORDS)] = None
    """A file of public or synthetic records to simulate on; never the records that are to be protected."""

    positive_share: Annotated[float | None, Parameter(group=OF_SIMULATIONS)] = None
    """Assumed prevalence (share of positive labels) for roc and calibration without --like; 0.3 by default."""

    auc: Annotated[float | None, Parameter(group=OF_SIMULATIONS)] = None
    """Assumed area under the ROC curve, likewise; 0.8 by default."""

    runs: Annotated[int | None, Parameter(group=OF_SIMULATIONS, converter=whole)] = None
    """Releases to simulate for each row, if needed; 200 by default, 40 for calibration."""

    unit_name: Annotated[str | None, Parameter(name="--unit", group=OUTPUT)] = None
    """Unit of the column's values, such as mg/dL, for errors of quantiles, boxes, means and sums."""

    all: Annotated[bool, Parameter(group=OUTPUT)] = False
    """Print every method, and what predictions are based on."""

    def unit(self) -> Adjacency:
        """The given adjacency, or the one that fits."""
        from ogive.privacy import Adjacency

        if self.adjacency is not None:
            return Adjacency(self.adjacency)
        return Adjacency.ADD_OR_REMOVE if self.max_rows_per_person > 1 else Adjacency.REPLACE

    def held(self, data: Path | str | None, statistic: Statistic[Any]) -> tuple[Statistic[Any], int]:
        """The statistic with what it leaves to the table, and how many records there are."""
        from ogive.privacy import Adjacency
        from ogive.records import Records
        from ogive.statistics.base import completed, innermost

        if data is None or not hasattr(innermost(statistic), "completed_by"):
            return statistic, self._records(data)
        records = Records.of(data)
        question = completed(statistic, lambda: dataclasses.replace(records.schema(), person=self.person))
        guessed = self.records is not None and (self.unit() is Adjacency.ADD_OR_REMOVE or self.person is not None)
        return question, self._records(None if guessed else data)

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments that `plan` and `required_privacy` share, besides the number of records."""
        models = self.simulations(self.trust)
        if len(models) > 1 and self.error is not None:
            raise ParameterError("--error finds the privacy loss under one trust model; name one with --trust")
        same = ("person", "max_rows_per_person", "public", "like", "positive_share", "auc", "runs")
        return {
            "adjacency": self.unit(),
            "trust": models[0] if len(models) == 1 else models,
            **{name: getattr(self, name) for name in same},
        }

    def privacy(self) -> tuple[Privacy, ...] | None:
        """The guarantees to compare; None for the usual ones."""
        if self.epsilon and self.rho:
            raise ParameterError("give either --rho or --epsilon (with or without --delta), not both")
        if self.rho:
            results = [guarantee(None, self.delta, rho) for rho in self.rho]
        else:
            usual: Sequence[str] = ("0.1", "0.2", "0.5", "1", "2", "5") if self.delta is not None else ()
            results = [guarantee(epsilon, self.delta, None) for epsilon in self.epsilon or usual]
        return tuple(each for each in results if each is not None) or None

    def wanted(self) -> dict[str, float] | None:
        """The error that --error names; None without that option."""
        if self.error is None:
            return None
        if self.epsilon or self.rho:
            raise ParameterError("--error finds the privacy loss, so leave out --epsilon and --rho")
        name, _, value = self.error.partition("=")
        try:
            return {name.strip(): float(value)}
        except ValueError:
            raise ParameterError(
                f"--error must be a name and a value, for example ks=0.01, got {quoted(self.error)}"
            ) from None

    def _records(self, data: Path | str | None) -> int:
        from ogive.privacy import Adjacency
        from ogive.records import Records

        if data is None:
            if self.records is None:
                raise ParameterError("say how many records there are, for example --records 10000")
            return self.records
        if self.records is not None:
            raise ParameterError("give either a file or --records, not both")
        if self.unit() is Adjacency.ADD_OR_REMOVE:
            raise ParameterError(
                "the number of records is private under add_or_remove, so it is not counted; "
                "give your own guess with --records"
            )
        if self.person is not None:
            raise ParameterError("a person may have several rows, so they are not counted; give --records instead")
        held = Records.of(data)
        held.check_columns(self.public)
        return held.size


NOTHING_PLANNED = PlanOptions()


# --- The commands

app = App(
    name="plan", help="Predict price and error of every method before anything is spent. Reads no private records."
)
for _name, _kind in COMMANDED.items():
    app.command(f"ogive.cli.plan:{_name}", name=_name, alias=_kind.alias, help=f"Plan {_kind.summary}.")

DATA = Annotated[
    Path | str | None,
    Parameter(
        group=QUESTION,
        help="A file, or a table of an engine, whose rows are counted, instead of --records, where their number is "
        "public. Of the records only what columns hold is read besides, for plan describe.",
        converter=data_table,
    ),
]
PICTURE = Annotated[Plot, Parameter(help="Draw error against privacy loss into this file, .png, .svg or .pdf.")]


def __getattr__(name: str) -> Callable[..., None]:
    """The command of a kind, made when it is used."""
    if name not in COMMANDED:
        raise AttributeError(name)
    kind = COMMANDED[name]
    return command(kind, _show, {"part": part_options(kind)}, names=False)


def _show(
    parsed: ParsedStatistic,
    data: DATA = None,
    *,
    part: SubsetOptions,
    planned: PlanOptions = NOTHING_PLANNED,
    output: OutputOptions = TABLE,
    plot: PICTURE = None,
) -> None:
    """Plan and publish, after everything that could be wrong was checked."""
    statistic = part.applied_to(parsed.statistic())
    if part.where is not None and data is not None:
        raise ParameterError(
            "how many records satisfy --where is not counted for a plan; say about how many with --records"
        )
    check_outputs(data, output.output, plot=plot)
    wanted, privacy = planned.wanted(), cast(Any, planned.privacy())
    from ogive.releasing.planning import plan, required_privacy

    with busy("planning") as progress:
        statistic, records = planned.held(data, statistic)
        arguments = {"records": records, "progress": progress, **planned.arguments()}
        if wanted is not None:
            if planned.delta is not None and planned.kind == "zcdp":
                raise ParameterError("give either --kind zcdp or --delta, not both")
            kind = "approx" if planned.delta is not None else planned.kind
            privacy = required_privacy(statistic, error=wanted, kind=kind, delta=planned.delta, **arguments)
        result = plan(statistic, privacy=privacy, **arguments)
    if plot is not None:
        draw(result.plot, plot)
    write_result(result, output, text=lambda result: _text(result, planned), public=True)


def _text(result: Plan, planned: PlanOptions) -> str:
    from ogive.releasing.planning.text import answer, table

    page = table if planned.all else answer
    text = page(result, in_options, unit=planned.unit_name)
    if planned.unit_name is not None and text == page(result, in_options):
        raise ParameterError(
            f"--unit is for errors in units of the column, and this plan of {result.statistic['name']} has none; "
            "leave out --unit"
        )
    return text if planned.error is None else f"{planned.error} needs {result.chosen.privacy}\n{text}"
