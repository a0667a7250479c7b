"""Options that several commands share, and how they become the library's arguments.

Options that say who holds the records are the fields of the options of all trust models; a field that several models
have is one option. What is not said is not passed on, so that the defaults are the models'.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

from cyclopts import Parameter

from ogive.cli import forms
from ogive.cli.data import Flag, Whole
from ogive.cli.help import OF_LEDGERS, OF_TRUST, OUTPUT, PRIVACY, RECORDS, TRUST
from ogive.core.checks import is_python_only
from ogive.errors import ParameterError, quoted
from ogive.trust.models import MODELS, options_named

if TYPE_CHECKING:
    from ogive.privacy import Privacy
    from ogive.statistics.base import Statistic
    from ogive.statistics.kinds import Kind
    from ogive.trust import Simulation

# --- Who holds the records

Fields = Mapping[str, dataclasses.Field[Any]]
ClassT = TypeVar("ClassT", bound=type)

_TYPES = {name: options_named(name) for name in MODELS}

if TYPE_CHECKING:
    ModelName = str
else:
    ModelName = Literal[tuple(MODELS)]  # of the list itself, so that a shell completes the names
"""The name of a trust model."""

HOLDERS = ", ".join(f"{name} ({kind.summary})" for name, kind in _TYPES.items())
"""All trust models, each with who holds the records."""

PRIVATE = ", ".join(name for name, kind in _TYPES.items() if kind.private)
"""The names of those whose answers carry noise."""


def declared(types: Mapping[str, type]) -> Mapping[str, Fields]:
    """The fields that are options, by their names, each with the trust models that have it."""
    results: dict[str, dict[str, dataclasses.Field[Any]]] = {}
    for model, kind in types.items():
        fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(kind)
        for field in fields:
            if not is_python_only(field):
                results.setdefault(field.name, {})[model] = field
    return results


def option_of(name: str, fields: Fields, types: Mapping[str, type]) -> Any:
    """The option of a field that one trust model has, or several."""
    form, *others = (forms.form_of(field) for field in fields.values())
    if any(other is not form for other in others):
        raise TypeError(f"the fields {name} of {', '.join(fields)} are read in different ways")
    texts: dict[str, list[str]] = {}
    for model in fields:
        texts.setdefault(forms.described(types[model])[name], []).append(model)
    defaults = {form.default_shown(field.default) for field in fields.values()}
    return forms.option_type(
        form,
        None,
        name=name.replace("_", "-"),
        help=" ".join(
            f"With --trust {' or '.join(models)}: {text[:1].lower()}{text[1:]}" for text, models in texts.items()
        ),
        group=OF_TRUST,
        shown=defaults.pop() if len(defaults) == 1 else False,
    )


_DECLARED = declared(_TYPES)

NAMES = tuple(name.replace("_", "-") for name in _DECLARED)
"""The names of the options of all trust models."""


def not_of(kind: Kind) -> frozenset[str]:
    """The options of trust models none of which can serve a kind of statistic."""
    serving = {name for name, options in _TYPES.items() if options.serves & kind.asks}
    return frozenset(f"--{name.replace('_', '-')}" for name, models in _DECLARED.items() if not serving & {*models})


def _with_options(kind: ClassT) -> ClassT:
    """A class with the options of all trust models as its fields; None stands for one that is not given."""
    kind.__annotations__ = {name: option_of(name, fields, _TYPES) for name, fields in _DECLARED.items()}
    for name in _DECLARED:
        setattr(kind, name, None)
    return kind


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
@_with_options
class HolderOptions:
    """What the trust models leave open, such as how many parties there are."""

    def simulations(self, names: Sequence[str]) -> list[Simulation]:
        """The trust models of these names with their options, to be made of the records."""
        from ogive.trust import Simulation

        for name in names:
            if name not in MODELS:
                raise ParameterError(f"--trust must be one of {', '.join(MODELS)}, got {quoted(name)}")
        given = {name: value for name, value in vars(self).items() if name in _DECLARED and value is not None}
        for option in given:
            if not any(name in _DECLARED[option] for name in names):
                raise ParameterError(f"--{option.replace('_', '-')} requires --trust {' or '.join(_DECLARED[option])}")
        values = {}
        for name, value in given.items():
            field = next(iter(_DECLARED[name].values()))
            values[name] = forms.form_of(field).read(forms.Words(name, value, given))
        return [
            Simulation(name, **{option: value for option, value in values.items() if name in _DECLARED[option]})
            for name in names
        ]


# --- The guarantee, the account that pays, and where results go

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
        """The guarantee in the library's types; None where none was given."""
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
        """The trust model of this name with its options, to be made of the records."""
        return self.simulations([self.trust])[0]


@Parameter(name="*", group=RECORDS)
@dataclass(frozen=True, kw_only=True)
class BudgetOptions:
    """Whose records these are, and the account that pays."""

    person: str | None = None
    """Column that identifies the person; if a person has several records, the guarantee is for persons."""

    max_rows_per_person: Whole = 1
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

    @property
    def people(self) -> dict[str, Any]:
        """Who persons are, and which of their records are used."""
        return {name: getattr(self, name) for name in ("person", "max_rows_per_person", "row_choice")}

    def limit(self) -> Privacy | None:
        """The limit in the library's types; None where none was given."""
        limit = guarantee(self.limit_epsilon, self.limit_delta, self.limit_rho, prefix="limit-")
        if self.no_ledger and self.ledger is not None:
            raise ParameterError("give either --ledger or --no-ledger, not both")
        if self.ledger is None:
            stated = {"data-set": self.data_set is not None, "part": self.part is not None}
            stated |= {"limit-epsilon": limit is not None, "updated": self.updated, "other-people": self.other_people}
            for option in (option for option, given in stated.items() if given):
                raise ParameterError(f"--{option} requires --ledger")
        if self.other_people and self.person is None:
            raise ParameterError("--other-people requires --person; people are not compared without it")
        return limit


def guarantee(epsilon: str | None, delta: str | None, rho: str | None, *, prefix: str = "") -> Privacy | None:
    """A guarantee from the options that write it; None where none was given."""
    from ogive.privacy import ApproxDP, PureDP, ZeroConcentratedDP

    def of(kind: type[Privacy], *values: str) -> Privacy:
        try:
            return kind(*values)
        except ParameterError as problem:  # which begins with the name of the number
            raise ParameterError(f"--{prefix}{problem.marked.replace('`', '', 2)}") from None

    if rho is not None:
        if epsilon is not None or delta is not None:
            raise ParameterError(
                f"give either --{prefix}rho or --{prefix}epsilon (with or without --{prefix}delta), not both"
            )
        return of(ZeroConcentratedDP, rho)
    if epsilon is None:
        if delta is not None:
            raise ParameterError(f"--{prefix}delta requires --{prefix}epsilon")
        return None
    return of(PureDP, epsilon) if delta is None else of(ApproxDP, epsilon, delta)


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Where the result goes, besides the summary on standard output."""

    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None
    """Write JSON to this file."""

    json: Flag = False
    """Write JSON to standard output, instead of the summary."""


@Parameter(name="*", group=RECORDS)
@dataclass(frozen=True, kw_only=True)
class SubsetOptions:
    """Which records a statistic is about."""

    where: str | None = None
    """Only records with, for example, "ward == 'A'"; any condition, as "ward == 'A' and age >= 65". How many records
    satisfy it is private, unless all its columns are named with --public."""

    def applied_to(self, statistic: Statistic[Any]) -> Statistic[Any]:
        """A statistic of these records."""
        from ogive.statistics.kinds import about

        return about(statistic, where=self.where)


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

    def applied_to(self, statistic: Statistic[Any]) -> Statistic[Any]:
        """A statistic of these records, or of each of these groups."""
        if self.by is None and self.by_groups:
            raise ParameterError("--by-groups are the values of a column, as in --by ward --by-groups A B; add --by")
        from ogive.statistics.kinds import about

        groups = tuple(map(forms.group_of, forms.listed(self.by_groups)))
        return about(statistic, where=self.where, by=self.by, groups=groups or None)


def part_options(kind: Kind) -> SubsetOptions:
    """The options of a kind of statistic; one that has groups of its own is asked of a subset alone."""
    fields = dataclasses.fields(cast(Any, kind.statistic))
    return SubsetOptions() if any(field.name == "by" for field in fields) else PartOptions()


Plot = Annotated[Path | None, Parameter(group=OUTPUT, help="Draw the result into this file, .png, .svg or .pdf.")]

NOTHING_GRANTED = PrivacyOptions()
NO_BOOKS = BudgetOptions()
TABLE = OutputOptions()
