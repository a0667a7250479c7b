"""Options that several commands share, and how they become the library's arguments."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ogive.cli.data import whole
from ogive.cli.help import OF_LEDGERS, OUTPUT, PRIVACY, RECORDS, TRUST
from ogive.cli.options.trust import HOLDERS, HolderOptions, ModelName
from ogive.errors import ParameterError

if TYPE_CHECKING:
    from ogive.privacy import Privacy
    from ogive.statistics.base import Statistic
    from ogive.trust import Simulation

Words = Annotated[tuple[str, ...], Parameter(consume_multiple=True, show_default=False)]
"""Some words, one after the other."""

OfLedger = Annotated[str | None, Parameter(group=OF_LEDGERS)]
"""An option of the account that pays, which few need."""

Budgeted = Annotated[str | None, Parameter(group=PRIVACY)]
"""An option of that account which stands with the privacy that is spent."""


@Parameter(name="*", group=PRIVACY)
@dataclass(frozen=True, kw_only=True)
class PrivacyOptions(HolderOptions):
    """How much privacy may be spent, and under whose trust."""

    epsilon: str | None = None
    """Privacy loss; with --delta the guarantee is approximate."""

    delta: str | None = None
    """Slack in probability, far below 1 / number of people."""

    rho: str | None = None
    """Loss under zero-concentrated differential privacy; instead of epsilon and delta."""

    adjacency: Literal["replace", "add_or_remove"] | None = None
    """The change that is hidden: replace or add_or_remove. replace: one record takes other values; the number
    of records is public. add_or_remove: one record is present or absent; the number of records is private. By default
    replace, or add_or_remove if a person may have several records.
    """

    public: Annotated[Words, Parameter(group=RECORDS)] = ()
    """Public columns, such as a label; anyone may know them, and exact counts of them may be published. An account
    declares them when it is created.
    """

    trust: Annotated[
        ModelName,
        Parameter(
            group=TRUST,
            show_choices=False,
            help=f"Who holds the records: {HOLDERS}. All but central are simulated here.",
        ),
    ] = "central"

    def privacy(self) -> Privacy | None:
        """The guarantee in the library's types; None where none was given.

        Raises:
            ParameterError: a value is out of range, or the options contradict each other.
        """
        if self.trust == "clear" and self.stated:
            raise ParameterError(
                "--trust clear shows exact values without noise, so leave out --epsilon, --delta and --rho"
            )
        privacy = guarantee(self.epsilon, self.delta, self.rho)
        if privacy is None and self.trust != "clear":
            raise ParameterError("give a privacy guarantee, for example --epsilon 1")
        return privacy

    @property
    def stated(self) -> bool:
        """Whether a guarantee was given, right or wrong."""
        return (self.epsilon, self.delta, self.rho) != (None, None, None)

    def simulation(self) -> Simulation:
        """The trust model of this name with its options, to be made of the records.

        Raises:
            ParameterError: there is none, an option does not fit it, or one is missing.
        """
        return self.simulations([self.trust])[0]


@Parameter(name="*", group=RECORDS)
@dataclass(frozen=True, kw_only=True)
class BudgetOptions:
    """Whose records these are, and the account that pays."""

    person: str | None = None
    """Column that identifies the person; if a person has several records, the guarantee is for persons."""

    max_rows_per_person: Annotated[int, Parameter(converter=whole)] = 1
    """Most records used of a person; they are chosen at random."""

    row_choice: Annotated[Literal["siphash", "md5"] | None, Parameter(group=OF_LEDGERS)] = None
    """What they are chosen by: a hash of their contents, or of the cells that they count in, which databases compute
    too; by default siphash, and md5 for a table of an engine.
    """

    ledger: Budgeted = None
    """Ledger that records every spend; a file, sqlite:///FILE or postgresql://USER@HOST/DB. A repeated question is
    free.
    """

    no_ledger: Annotated[bool, Parameter(group=OF_LEDGERS, show_default=False)] = False
    """Record the spend in no ledger, without the message that says so."""

    data_set: OfLedger = None
    """Name of the data set in the ledger; by default the file's name without its suffix."""

    limit_epsilon: Budgeted = None
    """Limit of the total privacy loss; required when the data set is new in the ledger."""

    limit_delta: OfLedger = None
    """Delta of the limit, with --limit-epsilon."""

    limit_rho: OfLedger = None
    """The limit under zero-concentrated differential privacy, instead of the other two."""

    part: OfLedger = None
    """Name of the part of the data set that these records form; no person may be in two parts."""

    batch: OfLedger = None
    """Public name of these records, which distinguishes them when curves are merged; by default the part's name."""

    updated: Annotated[bool, Parameter(group=OF_LEDGERS, show_default=False)] = False
    """The records may have changed since they were last used; earlier spends still count."""

    other_people: Annotated[bool, Parameter(group=OF_LEDGERS, show_default=False)] = False
    """Ids in --person that another data set or part also has denote other people here, or a second budget is intended.
    """

    def limit(self) -> Privacy | None:
        """The limit in the library's types; None where none was given.

        Raises:
            ParameterError: the options contradict each other, or need a ledger.
        """
        limit = guarantee(self.limit_epsilon, self.limit_delta, self.limit_rho, prefix="limit-")
        if self.no_ledger and self.ledger is not None:
            raise ParameterError("give either --ledger or --no-ledger, not both")
        if self.ledger is None:
            for name in ("data_set", "part"):
                if getattr(self, name) is not None:
                    raise ParameterError(f"--{name.replace('_', '-')} requires --ledger")
            said = {"limit-epsilon": limit is not None, "updated": self.updated, "other-people": self.other_people}
            for option in (option for option, given in said.items() if given):
                raise ParameterError(f"--{option} requires --ledger")
        if self.other_people and self.person is None:
            raise ParameterError("--other-people requires --person; people are not compared without it")
        return limit


def guarantee(epsilon: str | None, delta: str | None, rho: str | None, *, prefix: str = "") -> Privacy | None:
    """A guarantee from the options that write it; None where none was given.

    Raises:
        ParameterError: a value is out of range, or the options contradict each other.
    """
    from ogive.privacy import ApproxDP, PureDP, ZeroConcentratedDP

    def made(kind: type[Privacy], *values: str) -> Privacy:
        try:
            return kind(*values)
        except ParameterError as problem:  # which begins with the name of the number
            raise ParameterError(f"--{prefix}{problem.marked.replace('`', '', 2)}") from None

    if rho is not None:
        if epsilon is not None or delta is not None:
            raise ParameterError(
                f"give either --{prefix}rho or --{prefix}epsilon (with or without --{prefix}delta), not both"
            )
        return made(ZeroConcentratedDP, rho)
    if epsilon is None:
        if delta is not None:
            raise ParameterError(f"--{prefix}delta requires --{prefix}epsilon")
        return None
    return made(PureDP, epsilon) if delta is None else made(ApproxDP, epsilon, delta)


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Where the result goes, besides the summary on standard output."""

    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None
    """Write JSON to this file."""

    json: Annotated[bool, Parameter(show_default=False)] = False
    """Write JSON to standard output, instead of the summary."""


@Parameter(name="*", group=RECORDS)
@dataclass(frozen=True, kw_only=True)
class SubsetOptions:
    """Which records a statistic is about."""

    where: str | None = None
    """Only records with, for example, "ward == 'A'"; any condition, as "ward == 'A' and age >= 65". How many records
    satisfy it is private, unless all its columns are named with --public."""

    def asked(self, statistic: Statistic[Any]) -> Statistic[Any]:
        """A statistic of these records.

        Raises:
            ParameterError: this is no condition.
        """
        from ogive.statistics.derived import asked

        return asked(statistic, where=self.where)


@Parameter(name="*", group=RECORDS)
@dataclass(frozen=True, kw_only=True)
class PartOptions(SubsetOptions):
    """Which records a statistic is about, and whether it is asked of groups of them."""

    by: str | None = None
    """Column of groups. The statistic of each group is released, all within the one guarantee."""

    by_groups: Words = ()
    """All values of that column, public; also those that no record has. A word stands for the number or
    truth value that it writes, which is also the text. Without any, those that enough records have are found first,
    which needs --delta."""

    def asked(self, statistic: Statistic[Any]) -> Statistic[Any]:
        """A statistic of these records, or of each of these groups.

        Raises:
            ParameterError: this is no condition, or there are groups of no column.
        """
        if self.by is None and self.by_groups:
            raise ParameterError("--by-groups are the values of a column, as in --by ward --by-groups A B; add --by")
        if self.by is not None:
            from ogive.cli.forms.plain import group_of, listed
            from ogive.statistics.groups.statistic import Grouped

            statistic = Grouped(statistic, self.by, tuple(map(group_of, listed(self.by_groups))) or None)
        return super().asked(statistic)


def part_options(fields: Collection[str]) -> SubsetOptions:
    """The options of a statistic with these fields; one that has groups of its own is asked of a subset alone."""
    return SubsetOptions() if "by" in fields else PartOptions()


Plot = Annotated[Path | None, Parameter(group=OUTPUT, help="Draw the result into this file, .png, .svg or .pdf.")]

NOTHING_GRANTED = PrivacyOptions()
NO_BOOKS = BudgetOptions()
TABLE = OutputOptions()
