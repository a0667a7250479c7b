"""`ogive ecdf`, `ogive roc` and the like: one release of each kind of statistic, from its own declaration."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

from cyclopts import Group, Parameter

from ogive.cli import forms
from ogive.cli.data import data_table
from ogive.cli.help import METHOD, OF_FILES, OF_METHODS, OUTPUT, QUESTION
from ogive.cli.options import (
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
from ogive.cli.output import (
    NOT_TESTED,
    NOTHING_COMPARED,
    NOTHING_READ,
    NOWHERE,
    ComparedOptions,
    PlaceOptions,
    ReadingOptions,
    TestOptions,
    compared_options,
)
from ogive.core.checks import choices_of, is_python_only
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
class ParsedStatistic:
    """A statistic by the options that were given, by their fields: as the parser read them, and as values."""

    kind: Kind
    given: Mapping[str, Any]
    values: Mapping[str, Any]

    def statistic(self) -> Any:
        """The statistic; refuses options that are out of range, or do not fit each other."""
        return self.kind.statistic(**self.values)


def command(
    kind: Kind,
    run: Callable[..., None],
    own: Mapping[str, Any] | None = None,
    more: Sequence[inspect.Parameter] = (),
    *,
    names: bool = True,
    owners: bool = False,
) -> Callable[..., None]:
    """A command of a statistic.

    Args:
        kind: Of the statistic.
        run: Is called with the parsed statistic. Its other parameters, those before its star by place, are options of
            the command beside those of the statistic.
        own: Those of them that are others for this kind, by their names: defaults, each of its own type, or None where
            the kind has no such option.
        more: Options that only this kind has.
        names: Whether columns must be named.
        owners: Whether it is asked of the owners of records, who cannot answer everything.
    """
    options = _options(kind, names, owners)
    others = [*_parameters(run, own or {}), *more]
    parameters = [*(each for option in options for each in (option.main, *option.parts)), *others]
    parameters.sort(key=lambda each: each.kind)
    signature = inspect.Signature(parameters)

    def parse(*arguments: Any, **given: Any) -> None:
        bound = signature.bind(*arguments, **given)
        bound.apply_defaults()
        words = {option.main.name: bound.arguments[option.main.name] for option in options}
        words = {name: value for name, value in words.items() if value is not None and value != ()}
        values: dict[str, Any] = {}
        for option in options:
            name, of_parts = option.main.name, [bound.arguments[part.name] for part in option.parts]
            if name in words or any(part.given() for part in of_parts):
                values[name] = option.read(forms.Words(option.name, words.get(name), words, of_parts))
            elif option.unsaid is not None:
                values[name] = option.unsaid
        run(ParsedStatistic(kind, words, values), **{each.name: bound.arguments[each.name] for each in others})

    result: Any = parse
    result.__signature__ = signature
    result.__annotations__ = {each.name: each.annotation for each in parameters}
    return parse


def _parameters(run: Callable[..., None], own: Mapping[str, Any]) -> Iterator[inspect.Parameter]:
    for name, each in [*inspect.signature(run, eval_str=True).parameters.items()][1:]:
        if each.kind is inspect.Parameter.VAR_KEYWORD or (name in own and own[name] is None):
            continue
        kind = inspect.Parameter.KEYWORD_ONLY if each.kind is each.KEYWORD_ONLY else inspect.Parameter.POSITIONAL_ONLY
        default, annotation = (own[name], type(own[name])) if name in own else (each.default, each.annotation)
        yield inspect.Parameter(name, kind, default=default, annotation=annotation)


class _Option(NamedTuple):
    """The option of a field: how the parser reads it, and the groups of options that its form takes besides.

    `unsaid` is what is meant where the option is not given, if it is not the field's default.
    """

    name: str
    main: inspect.Parameter
    parts: list[inspect.Parameter]
    read: Callable[[forms.Words], Any]
    unsaid: Any


def _options(kind: Kind, names: bool, owners: bool) -> list[_Option]:
    """The options of a kind of statistic, in the order of its fields."""
    extra, texts = kind.command_options, forms.described(kind.statistic)
    results = []
    for field in dataclasses.fields(cast(Any, kind.statistic)):
        left = (extra.owners or {}).get(field.name) if owners else None
        if left == () or is_python_only(field):
            continue
        form = forms.form_of(field)
        column = field.default is dataclasses.MISSING
        name = extra.names.get(field.name, field.name.replace("_", "-"))
        text = extra.owner_help.get(field.name, "") if owners else ""
        text = text or extra.help.get(field.name) or form.help or texts[field.name]
        default: Any = () if form.several else None
        unsaid = left[0] if left and field.default not in left else None
        shown: Any = form.default_shown(unsaid or field.default)
        if column and not names:
            default, shown = _UNNAMED.get(field.name, field.name), None if not form.several else False
            text = f"{text} Used only with --like."
        elif column and not form.several:
            default = inspect.Parameter.empty
        heading = extra.groups.get(field.name) or _HEADINGS.get(field.name) or (QUESTION if column else METHOD).name
        annotation = forms.option_type(
            form,
            field.default,
            name=name,
            help=text,
            group=_ORDER.get(heading) or Group(heading, sort_key=1.2),
            shown=shown,
            words=left or choices_of(field),
            negative=f"--{extra.negative[field.name]}" if field.name in extra.negative else (),
            required=default is inspect.Parameter.empty,
        )
        main = inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        parts = [
            inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each(), annotation=each)
            for each in form.parts(owners)
        ]
        read = partial(_read_left, form, choices_of(field), left) if left else form.read
        # the statistic says what is wrong with no columns
        results.append(_Option(name, main, parts, read, () if column and unsaid is None else unsaid))
    return results


def _read_left(form: forms.Form, choices: Sequence[str], left: Sequence[str], words: forms.Words) -> Any:
    """The value of words, where only some of a field's are left, and an open form would read the others too."""
    if words.given in choices and words.given not in left:
        raise ParameterError(f"--{words.option} must be {', '.join(left)} or a value, got {quoted(words.given)}")
    return form.read(words)


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

Encoding = Annotated[
    str | None, Parameter(help="Of the text of DATA, such as latin-1, where it is not UTF-8.", group=OF_FILES)
]
Sheet = Annotated[str | None, Parameter(help="Sheet of a workbook; by default the first.", group=OF_FILES)]
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


def __getattr__(name: str) -> Callable[..., None]:
    """The command of a kind, made when it is first used."""
    if name not in COMMANDED:
        raise AttributeError(name)
    return release_command(COMMANDED[name])


@cache
def release_command(kind: Kind) -> Callable[..., None]:
    """The command that releases a statistic of one kind."""
    extra = kind.command_options
    own: dict[str, Any] = {"part": part_options(kind), "compared": compared_options(kind)}
    own |= {name: None for name in ("readings", "places", "tests") if not getattr(extra, name)}
    more = []
    if extra.picture is not None:
        help_of = Parameter(help=extra.picture.help, group=OUTPUT, show_default=False)
        keyword = inspect.Parameter.KEYWORD_ONLY
        more = [inspect.Parameter(extra.picture.option, keyword, default=False, annotation=Annotated[bool, help_of])]
    return command(kind, _release, own, more)


def _release(
    parsed: ParsedStatistic,
    data: DATA,
    *,
    na: NA = (),
    encoding: Encoding = None,
    sheet: Sheet = None,
    part: SubsetOptions,
    granted: PrivacyOptions = NOTHING_GRANTED,
    account: BudgetOptions = NO_BOOKS,
    output: OutputOptions = TABLE,
    compared: ComparedOptions = NOTHING_COMPARED,
    readings: ReadingOptions = NOTHING_READ,
    places: PlaceOptions = NOWHERE,
    tests: TestOptions = NOT_TESTED,
    plot: Plot = None,
    **drawn: bool,
) -> None:
    from ogive.cli.paying import Request
    from ogive.records.foreign import Table

    extra = parsed.kind.command_options
    picture = extra.picture if any(drawn.values()) else None
    if picture is not None:
        if plot is None:
            named = f"--plot {parsed.kind.command}.png"
            raise ParameterError(f"--{picture.option} says how --plot draws, so name a picture, for example {named}")
        picture.check(parsed.given)
    extra.check(parsed.given, granted.trust)
    readings.check(output.json)
    places.check(output.json)
    tests.check(output.json, groups="by" in parsed.given)

    def draw(estimate: Any, axes: Any) -> Any:
        return estimate.plot(axes, **({} if picture is None else picture.drawn))

    def table(estimate: Any) -> str:
        # of groups the estimate is another, which has a table of its own
        return extra.table(estimate) if isinstance(estimate, parsed.kind.estimate) else str(estimate)

    statistic = part.applied_to(parsed.statistic())
    compared.check(statistic)
    held = data if encoding is None and sheet is None else Table(data, encoding, sheet)
    Request(statistic, held, na, granted, account).carry_out(
        output,
        plot,
        table=tests.added_to(places.added_to(readings.added_to(table))),
        picture=draw,
        finish=compared.added_to,
    )
