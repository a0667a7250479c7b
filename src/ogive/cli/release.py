"""`ogive ecdf`, `ogive roc` and the like: one release of each kind of statistic, from its own declaration."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, cast

from cyclopts import Group, Parameter

from ogive.cli.data import data_table
from ogive.cli.forms import form_of
from ogive.cli.forms.base import Form, Part, Words, default_shown, described, option_type
from ogive.cli.help import METHOD, OF_METHODS, OUTPUT, QUESTION
from ogive.cli.options.common import (
    NO_BOOKS,
    NOTHING_GRANTED,
    TABLE,
    BudgetOptions,
    OutputOptions,
    Plot,
    PrivacyOptions,
    SubsetOptions,
    part_options,
)
from ogive.cli.options.readings import NOTHING_COMPARED, NOTHING_READ, ComparedOptions, ReadingOptions, compared_options
from ogive.core.parameters import choices_of, is_python_only
from ogive.errors import ParameterError, quoted
from ogive.statistics.kinds import COMMANDED, Kind

# --- Commands from the fields of a statistic
#
# Each field is an option, which `forms` makes. What is not said on the command line is not passed on, so that the
# defaults are the dataclass's. What cannot be read off the fields is in `COMMAND` beside the question.

CLASSES = "Classes"
_ORDER = {each.name: each for each in (QUESTION, METHOD, OF_METHODS)} | {CLASSES: Group(CLASSES, sort_key=1.1)}
_HEADINGS = {
    **dict.fromkeys(("bounds", "bins", "grid", "missing", "outside", "probabilities"), QUESTION.name),
    **dict.fromkeys(("label", "positive", "negative", "positive_when", "public_labels"), CLASSES),
}
"""Headings of fields that several statistics have. Other columns are measured; other options say how."""

_UNNAMED = {"column": "value", "columns": ("value",)}
"""What a plan calls columns that are not named; others are called as their fields."""


@dataclasses.dataclass(frozen=True)
class Use:
    """What a command does with a statistic.

    Fields:
        names: Whether columns must be named.
        owners: Whether it is asked of the owners of records, who cannot answer everything.
    """

    names: bool = True
    owners: bool = False


@dataclasses.dataclass(frozen=True)
class ParsedStatistic:
    """A statistic as it was parsed from a command line.

    Fields:
        kind: Of the statistic.
        given: The options that were given, by their fields, as the parser read them.
        values: The same as the statistic takes them.
    """

    kind: Kind
    given: Mapping[str, Any]
    values: Mapping[str, Any]

    def statistic(self) -> Any:
        """The statistic.

        Raises:
            ParameterError: options are out of range, or do not fit each other.
        """
        return self.kind.statistic(**self.values)


def command(kind: Kind, use: Use, own: Sequence[inspect.Parameter], run: Callable[..., None]) -> Callable[..., None]:
    """A command of a statistic.

    Args:
        kind: Of the statistic.
        use: What the command does with it.
        own: Parameters of the command itself, beside the options of the statistic.
        run: Is called with the parsed statistic, and with the own parameters by their names.
    """
    options = _options(kind, use)
    parameters = [*(each for option in options for each in option.parameters()), *own]
    parameters.sort(key=lambda each: each.kind)
    signature = inspect.Signature(parameters)

    def parse(*arguments: Any, **given: Any) -> None:
        bound = signature.bind(*arguments, **given)
        bound.apply_defaults()
        said = {option.field: bound.arguments[option.field] for option in options}
        said = {name: value for name, value in said.items() if value is not None and value != ()}
        values: dict[str, Any] = {}
        for option in options:
            parts = [bound.arguments[part.name] for part in option.parts]
            if option.field in said or any(part.given() for part in parts):
                words = Words(option.name, said.get(option.field), said, parts)
                values[option.field] = option.read(words)
            elif option.unsaid is not None:
                values[option.field] = option.unsaid
            elif option.needed:
                values[option.field] = ()  # the statistic says what is wrong with no columns
        run(ParsedStatistic(kind, said, values), **{each.name: bound.arguments[each.name] for each in own})

    made: Any = parse
    made.__signature__ = signature
    made.__annotations__ = {each.name: each.annotation for each in parameters}
    return parse


@dataclasses.dataclass(frozen=True)
class _Option:
    """The option of a field, with the groups of options that its form takes besides.

    Fields:
        field: The field's name.
        name: The option's, without dashes.
        form: How words become a value.
        choices: The words that the field names.
        main: The option as the parser reads it.
        needed: Whether the field is a column.
        unsaid: What is meant where the option is not given, if it is not the field's default.
        left: The words that are left of the field's, where an open form would read the others too.
        parts: The groups of options.
    """

    field: str
    name: str
    form: Form
    choices: tuple[str, ...]
    main: inspect.Parameter
    needed: bool
    unsaid: str | None
    left: tuple[str, ...]
    parts: tuple[Part, ...]

    def read(self, words: Words) -> Any:
        """The value of the words.

        Raises:
            ParameterError: the words say nothing that the field takes here.
        """
        if self.left and words.said in self.choices and words.said not in self.left:
            raise ParameterError(f"--{self.name} must be {', '.join(self.left)} or a value, got {quoted(words.said)}")
        return self.form.read(words)

    def parameters(self) -> list[inspect.Parameter]:
        """All that the parser has to know."""
        keyword = inspect.Parameter.KEYWORD_ONLY
        return [
            self.main,
            *(inspect.Parameter(each.name, keyword, default=each(), annotation=each) for each in self.parts),
        ]


def _options(kind: Kind, use: Use) -> list[_Option]:
    """The options of a kind of statistic, in the order of its fields."""
    told, texts = kind.command_options, described(kind.statistic)
    found = []
    for field in dataclasses.fields(cast(Any, kind.statistic)):
        left = (told.owners or {}).get(field.name) if use.owners else None
        if left == () or is_python_only(field):
            continue
        form = form_of(field)
        column = field.default is dataclasses.MISSING
        name = told.names.get(field.name, field.name.replace("_", "-"))
        words = left or choices_of(field)
        text = told.owner_help.get(field.name, "") if use.owners else ""
        text = text or told.help.get(field.name) or form.help or texts[field.name]
        default: Any = () if form.several else None
        unsaid = left[0] if left and field.default not in left else None
        shown: Any = default_shown(form, unsaid or field.default)
        if column and not use.names:
            default, shown = _UNNAMED.get(field.name, field.name), None if not form.several else False
            text = f"{text} Used only with --like."
        elif column and not form.several:
            default = inspect.Parameter.empty
        annotation = option_type(
            form,
            field.default,
            name=name,
            help=text,
            group=_heading(
                told.groups.get(field.name) or _HEADINGS.get(field.name) or (QUESTION.name if column else METHOD.name)
            ),
            shown=shown,
            words=words,
            negative=f"--{told.negative[field.name]}" if field.name in told.negative else (),
            required=default is inspect.Parameter.empty,
        )
        main = inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        parts = form.owner_parts if use.owners else form.parts
        found.append(_Option(field.name, name, form, choices_of(field), main, column, unsaid, left or (), parts()))
    return found


def _heading(title: str) -> Group:
    return _ORDER.get(title) or Group(title, sort_key=1.2)


# --- Commands that release

DATA = Annotated[
    Path | str,
    Parameter(
        group=QUESTION,
        help="File of records, or dataset:bank; CSV, TSV (gzipped or not), Parquet or Arrow. dataset:bank comes with "
        "ogive. Or the address of a table, such as postgresql://user@host/database?table=visits or "
        "spark:local[2]?parquet=visits.parquet.",
        converter=data_table,
    ),
]
NA = Annotated[
    tuple[str, ...],
    Parameter(
        help="Words and numbers that mean a missing value; in measured columns, beside the usual ones: empty, "
        "NA, N/A, NaN, null, None, ? and a single point.",
        group=QUESTION,
        consume_multiple=True,
        show_default=False,
    ),
]
_NAMED = inspect.Parameter.KEYWORD_ONLY


def __getattr__(name: str) -> Callable[..., None]:
    """The command of a kind, made when it is first used."""
    if name not in COMMANDED:
        raise AttributeError(name)
    return _command(name)


@cache
def _command(name: str) -> Callable[..., None]:
    return release_command(COMMANDED[name])


def release_command(kind: Kind) -> Callable[..., None]:
    """The command that releases a statistic of one kind."""
    part = part_options([field.name for field in dataclasses.fields(cast(Any, kind.statistic))])
    compared = compared_options(kind)
    own = [
        inspect.Parameter("data", inspect.Parameter.POSITIONAL_ONLY, annotation=DATA),
        inspect.Parameter("na", _NAMED, default=(), annotation=NA),
        inspect.Parameter("part", _NAMED, default=part, annotation=type(part)),
        inspect.Parameter("granted", _NAMED, default=NOTHING_GRANTED, annotation=PrivacyOptions),
        inspect.Parameter("account", _NAMED, default=NO_BOOKS, annotation=BudgetOptions),
        inspect.Parameter("output", _NAMED, default=TABLE, annotation=OutputOptions),
    ]
    if compared is not None:
        own.append(inspect.Parameter("compared", _NAMED, default=compared, annotation=type(compared)))
    if kind.command_options.readings:
        own.append(inspect.Parameter("readings", _NAMED, default=NOTHING_READ, annotation=ReadingOptions))
    own.append(inspect.Parameter("plot", _NAMED, default=None, annotation=Plot))
    picture = kind.command_options.picture
    if picture is not None:
        help_of = Parameter(help=picture.help, group=OUTPUT, show_default=False)
        own.append(inspect.Parameter(picture.option, _NAMED, default=False, annotation=Annotated[bool, help_of]))
    return command(kind, Use(), own, _release)


def _release(
    parsed: ParsedStatistic,
    data: Path | str,
    na: tuple[str, ...],
    part: SubsetOptions,
    granted: PrivacyOptions,
    account: BudgetOptions,
    output: OutputOptions,
    plot: Path | None = None,
    compared: ComparedOptions = NOTHING_COMPARED,
    readings: ReadingOptions = NOTHING_READ,
    **drawn: bool,
) -> None:
    from ogive.cli.paying import release_and_publish

    told = parsed.kind.command_options
    picture = told.picture if any(drawn.values()) else None
    if picture is not None:
        if plot is None:
            named = f"--plot {parsed.kind.command}.png"
            raise ParameterError(f"--{picture.option} says how --plot draws, so name a picture, for example {named}")
        picture.check(parsed.given)
    told.check(parsed.given, granted.trust)
    readings.check(output.json)

    def draw(estimate: Any, axes: Any) -> Any:
        return estimate.plot(axes, **({} if picture is None else picture.drawn))

    def table(estimate: Any) -> str:
        # of groups the estimate is another, which has a table of its own
        return told.table(estimate) if isinstance(estimate, parsed.kind.estimate) else str(estimate)

    statistic = part.asked(parsed.statistic())
    compared.check(statistic)
    release_and_publish(
        statistic,
        data,
        na=na,
        granted=granted,
        budget=account,
        output=output,
        plot=plot,
        table=readings.added_to(table),
        picture=draw,
        finish=compared.added_to,
    )
