"""How words of the command line become values: an option for each field of a dataclass, by the type of the field.

The option has the field's name, and the field's text in the documentation of the class is its help. `FORMS` has the
form of each type, as it is written in a dataclass.
"""

from __future__ import annotations

import csv
import dataclasses
import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from ogive.cli.data import CurveMethodOptions, Given, OwnerMethodOptions, whole
from ogive.cli.help import OF_PAIRS, OF_TREES
from ogive.core.checks import choices_of, entries
from ogive.errors import DataError, ParameterError, plain, quoted

if TYPE_CHECKING:
    from ogive.columns import LabelValue


@dataclass(frozen=True)
class Words:
    """The words for one field, by the name of its option."""

    option: str
    given: Any
    """What the parser read; None where the option is not given."""
    others: Mapping[str, Any]
    """The same of all fields, by their names."""
    parts: Sequence[Any] = ()
    """The groups of options that come with the form."""


@dataclass(frozen=True)
class Form:
    """How words become a value of one type.

    Fields:
        read: The value of the words; what the parser read is the value by default.
        help: The option's help, where the words of the command line are not the values that the field's documentation
            names.
        annotation: The type that the parser reads, without None, which stands for an option that is not given.
        several: Whether any number of words may follow.
        as_many: Whether as many words follow as the field's default has values.
        open: Whether other words are read than those that a field names.
        shown: A default as the help shows it.
        converter: Reads the words in place of the parser.
        parts: Makes the groups of options that come with it, where owners are asked or not; loads what declares them.
    """

    read: Callable[[Words], Any] = lambda words: words.given
    help: str = ""
    annotation: Any = str
    several: bool = False
    as_many: bool = False
    open: bool = False
    shown: Callable[[Any], str] = str
    converter: Any = None
    parts: Callable[[bool], tuple[Any, ...]] = lambda owners: ()

    def type_of(self, default: Any) -> Any:
        """The type that the parser reads for a field of some default."""
        if self.several:
            return GenericAlias(tuple, (self.annotation, ...))
        return (GenericAlias(tuple, (str,) * len(default)) if self.as_many else self.annotation) | None

    def default_shown(self, default: Any) -> str | bool:
        """A default as the help shows it; False if the help shows none."""
        none = default is None or default is dataclasses.MISSING or isinstance(default, tuple)
        return False if none else self.shown(default) or False


_ON_THE_COMMAND_LINE = (
    (re.compile(r"`Ecdf`"), "ogive ecdf"),
    (re.compile(r"[`\"]"), ""),
    (re.compile(r"\bADD_OR_REMOVE\b"), "--adjacency add_or_remove"),
    (re.compile(r"\bREPLACE\b"), "--adjacency replace"),
    (re.compile(r"\s+"), " "),
)


def described(declaring: type) -> dict[str, str]:
    """What the documentation of a dataclass says of each field, in words of the command line."""
    result = {}
    for names, text in entries(inspect.cleandoc(declaring.__doc__ or ""), "Fields"):
        entry = text.partition(": ")[2]
        for pattern, words in _ON_THE_COMMAND_LINE:
            entry = pattern.sub(words, entry)
        result.update(dict.fromkeys(names, entry))
    return result


def option_type(
    form: Form,
    default: Any,
    *,
    name: str,
    help: str,
    group: Group,
    shown: Any,
    words: tuple[str, ...] = (),
    negative: str | tuple[str, ...] = (),
    required: bool = False,
) -> Any:
    """The type of an option as the parser reads it, from the default of its field and its name without dashes.

    `shown` is False where the help shows no default, None for the parser's own. `words` are completed, and are the
    only ones that there are unless the form is open; any are read where none are given.
    """
    annotation: Any = form.type_of(default)
    if words:
        annotation = Literal[words] | annotation if form.open else Literal[words]
    return Annotated[
        str if required else annotation,
        Parameter(
            name=f"--{name}",
            help=help,
            group=group,
            negative=negative,
            show_default=shown,
            consume_multiple=form.several or None,
            converter=None if words else form.converter,
        ),
    ]


def form_of(field: dataclasses.Field[Any]) -> Form:
    """The form of a field: that of its type as it is written, else a word where the field says which ones there are."""
    written = str(field.type)
    if written in FORMS:
        return FORMS[written]
    if choices_of(field):
        return _WORD
    raise TypeError(f"no form says how words become {written}; add one to ogive.cli.forms, or write another type")


# --- Words, numbers, classes and groups

_WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")


def group_of(word: str) -> LabelValue:
    """What a word stands for: the number or truth value that it writes, which is also the text, or a text."""
    if word in ("true", "false"):
        return word == "true"
    for kind in (int, float):
        try:
            number = kind(word)
        except ValueError:
            continue
        if str(number) == word and math.isfinite(number):
            return number
    return word


def meanings(words: Sequence[str]) -> tuple[LabelValue, ...]:
    """All values that some words may stand for.

    A word is always the text itself. It is also a number if it writes a finite one, and a truth value if it is
    true or false in any case; a column holds either text or numbers, so only one of them can meet a label.
    """
    results: list[LabelValue] = []
    for word in words:
        results.append(word)
        if word.lower() in ("true", "false"):
            results.append(word.lower() == "true")
        elif _WHOLE.fullmatch(word):
            results.append(int(word))
        else:
            try:
                number = float(word)
            except ValueError:
                continue
            if math.isfinite(number):
                results.append(number)
    return tuple(results)


def listed(given: Sequence[str]) -> tuple[str, ...]:
    """Words of a list; a single word with commas is several."""
    return tuple(word.strip() for word in given[0].split(",")) if len(given) == 1 else tuple(given)


def _number(words: Words) -> float:
    try:
        return float(words.given)
    except ValueError:
        raise ParameterError(f"--{words.option} must be a number, got {quoted(words.given)}") from None


def _or_word(kind: Callable[[str], Any]) -> Callable[[Words], Any]:
    """Reads a number of a kind, or else leaves the word for the library to judge."""

    def read(words: Words) -> Any:
        try:
            return kind(words.given)
        except ValueError:
            return words.given

    return read


# --- Values by column: words such as age=0:120 or died=yes, with commas or spaces between them

_NEXT = re.compile(r",(?=[^,=]+=)")
"""A comma before the next column."""


def _by_column(words: Words, example: str) -> dict[str, str]:
    results: dict[str, str] = {}
    for word in words.given:
        name, equals, rest = word.partition("=")  # a comma before the first sign of equality is part of the name
        first, *others = _NEXT.split(rest)
        for each in (f"{name}{equals}{first}", *others):
            column, equals, given = map(str.strip, each.partition("="))
            if not equals or not column or not given:
                raise ParameterError(f"--{words.option} must be written as in {example}, got {quoted(each)}")
            if column in results:
                raise ParameterError(f"--{words.option} names column {quoted(column)} twice")
            results[column] = given
    return results


def _bounds_by_column(words: Words) -> Any:
    example = f"--{words.option} age=0:120 weight=30:250"
    result = {}
    for column, given in _by_column(words, example).items():
        low, colon, high = given.partition(":")
        if not colon:
            raise ParameterError(f"--{words.option} must be written as in {example}, got {quoted(given)}")
        if "," in given:
            raise ParameterError(
                f"--{words.option} must be written as in {example}, got {quoted(f'{column}={given}')}; numbers have a "
                "decimal point, and a column whose name has a comma begins a word of its own"
            )
        result[column] = (low, high)
    return result


def _values_by_column(words: Words) -> Any:
    result = _by_column(words, f"--{words.option} died=yes")
    return {column: tuple(map(group_of, listed([given]))) for column, given in result.items()}


def _policies(words: Words) -> Any:
    """One policy for all variables, or policies by column."""
    if len(words.given) == 1 and "=" not in words.given[0]:
        return words.given[0]
    result = _by_column(words, f"--{words.option} age=low weight=drop")
    return {column: group_of(policy) for column, policy in result.items()}


def _names(words: Words) -> tuple[str, ...]:
    """Names of columns; in a single word with commas, one that has a comma itself is in double quotes."""
    given: Sequence[str] = words.given
    if len(given) == 1 and '"' in given[0] and "," in given[0]:
        return tuple(name.strip() for name in next(csv.reader(given, skipinitialspace=True)))
    return listed(given)


# --- Values for all columns of a statistic of pairs, or for each


def _one(values: Sequence[Any]) -> Any:
    """A single value for all columns, or a value for each."""
    return values[0] if len(values) == 1 else tuple(values)


def _bounds_of_each(words: Words) -> Any:
    given: tuple[str, ...] = words.given
    pairs = tuple(zip(given[::2], given[1::2], strict=False))
    columns = words.others.get("columns", ())
    apart = " ".join(given).replace(",", " ").split()
    if len(given) % 2 or len(pairs) > max(1, len(columns)) or len(apart) > len(given):
        advice = f"; write --bounds {' '.join(apart)}" if len(apart) == 2 * max(1, len(columns)) else ""
        raise ParameterError(f"--bounds must be two values, or two for each column, got {len(given)}{advice}")
    return pairs[0] if len(pairs) == 1 else dict(zip(columns, pairs, strict=False))


def _bins_of_each(words: Words) -> Any:
    results: list[int | str] = []
    for word in words.given:
        try:
            results.append(word if word == "auto" else int(word))
        except ValueError:
            raise ParameterError(f"--bins must be auto or whole numbers, got {quoted(word)}") from None
    return _one(results)


def _categories_of_each(words: Words) -> Any:
    given, columns = words.given, words.others.get("columns", ())
    named = [word for word in given if word.partition("=")[0] in columns and "=" in word]
    if not named:
        return tuple(map(group_of, given))
    if len(named) < len(given):
        raise ParameterError("--categories must be one list for all columns, or COLUMN=A,B,C for each with some")
    return {word.partition("=")[0]: tuple(map(group_of, word.partition("=")[2].split(","))) for word in named}


# --- Kinds of grids, and thresholds


def _grids_of_each(words: Words) -> Any:
    from ogive.columns.grids import GRIDS

    for grid in words.given:
        if grid not in GRIDS:
            raise ParameterError(f"--grid must be {', '.join(GRIDS)}, got {quoted(grid)}")
    return _one(words.given)


def _grid(words: Words) -> Any:
    """A kind of grid, or the thresholds that were written or are in a file."""
    from ogive.columns.grids import GRIDS, Grid

    given: tuple[str, ...] = words.given
    grid: Any = given[0]
    if len(given) > 1 or grid not in GRIDS:
        try:
            grid = Grid.explicit(list(given))
        except ParameterError:
            if len(given) > 1:
                raise
            grid = Grid.explicit(list(_thresholds_in(Path(given[0]), GRIDS)))
    if "bins" in words.others and grid not in ("linear", "geometric"):
        raise ParameterError("--bins is for linear and geometric grids; other grids have their own bins")
    return grid


def _thresholds_in(path: Path, grids: Sequence[str]) -> list[str]:
    """Thresholds from a text file, separated by white space or commas."""
    if not path.is_file():
        raise ParameterError(
            f"--grid must be {', '.join(grids)}, thresholds or a file of thresholds, got {quoted(str(path))}"
        )
    try:
        return path.read_text(encoding="utf-8").replace(",", " ").split()
    except (OSError, UnicodeDecodeError):
        raise DataError(
            f"the thresholds in {plain(path)} cannot be read; write numbers or ISO dates, one per line"
        ) from None


# --- Methods with their own options

_PAIRED = "paired"


def _options_of(method: Any, *, title: str, heading: Group) -> Any:
    """The group of options that the fields of a method are, under a heading."""
    fields = {field.name: field for field in dataclasses.fields(method)}
    reading = {each: form_of(field) for each, field in fields.items()}
    texts = described(method)

    class MethodOptions(Given):
        name, owners = title, dict.fromkeys(fields, method.name)

        def given(self) -> dict[str, Any]:
            given = super().given()
            return {each: reading[each].read(Words(each, value, given)) for each, value in given.items()}

    MethodOptions.__annotations__ = {
        each: option_type(
            reading[each],
            field.default,
            name=each,
            help=texts[each],
            group=heading,
            shown=reading[each].default_shown(field.default),
            words=choices_of(field),
        )
        for each, field in fields.items()
    }
    for each in fields:
        setattr(MethodOptions, each, None)
    return Parameter(name="*")(dataclass(frozen=True, kw_only=True)(MethodOptions))


def _of_pairs(owners: bool) -> tuple[Any, ...]:
    """Options of an AUC from trees, and of pairs of people."""
    from ogive.statistics.ustatistic.pairs import Paired
    from ogive.statistics.ustatistic.reports import HierarchyAuc

    trees = _options_of(HierarchyAuc, title="tree_options", heading=OF_TREES)
    return (trees,) if owners else (trees, _options_of(Paired, title="pairing_options", heading=OF_PAIRS))


def _method(words: Words) -> Any:
    """A method with the options that were given for it; its name where there are none."""
    given = {name: value for part in words.parts for name, value in part.given().items()}
    owners = {name: owner for part in words.parts for name, owner in part.owners.items()}
    method = words.given or "auto"
    if method == "auto" and {owners[name] for name in given} == {_PAIRED}:
        method = _PAIRED  # no other method has these options
    for name in given:
        if method != owners[name]:
            raise ParameterError(f"--{name} requires --method {owners[name]}, got {method}")
    if not given:
        return method
    from ogive.statistics.methods.choose import CURVE_METHODS
    from ogive.statistics.ustatistic.pairs import Paired
    from ogive.statistics.ustatistic.reports import HierarchyAuc

    of_pairs: dict[str, Any] = {kind.name: kind for kind in (HierarchyAuc, Paired)}
    kind: Any = of_pairs[method] if method in of_pairs else type(CURVE_METHODS[method])
    return kind(**given)


# --- The form of each type


def _several(read: Callable[[Words], Any], help: str = "") -> Form:
    return Form(read, help, several=True)


def _class(help: str) -> Form:
    return _several(lambda words: meanings(listed(words.given)), help)


_WORD = Form()
_INTEGER = Form(annotation=int, converter=whole)
_TRUTH = Form(annotation=bool)
_WHOLE_OR_WORD = Form(_or_word(int))
_CATEGORIES = _several(lambda words: tuple(map(group_of, listed(words.given))))
_DISCARDED: dict[str, str | bool] = {"auto": "auto", "yes": True, "no": False}
_CURVE_METHOD = Form(
    _method,
    "auto, path, tree_ls, hat_ls, sqrt, symmetric, ring, projection, histogram, adaptive or selected; under trust "
    "local: reports or histogram. auto has the smallest predicted error, chosen from public information only; the next "
    "six are unbiased, the others approximate the curve from few measurements.",
    parts=lambda owners: (OwnerMethodOptions if owners else CurveMethodOptions,),
)

FORMS = {
    "str": _WORD,
    "str | None": _WORD,
    "Any": _WORD,
    "UnbiasedChoice": _WORD,
    "UnbiasedName": _WORD,
    "CurveChoice": _WORD,
    "Smooth": _WORD,
    "Composition | None": _WORD,
    "Missing": Form(open=True),
    "int": _INTEGER,
    "int | None": _INTEGER,
    "int | Literal['auto']": _WHOLE_OR_WORD,
    "int | Fitted | None": _WHOLE_OR_WORD,
    "bool": _TRUTH,
    "bool | None": _TRUTH,
    "Literal['auto'] | bool": Form(lambda words: _DISCARDED[words.given], annotation=Literal[tuple(_DISCARDED)]),
    "float": Form(_number, shown="{:g}".format),
    "float | None": Form(_number),
    "Literal['auto', 'paper'] | float": Form(_or_word(float)),
    "Rational": _WORD,  # the library reads the digits as they are written
    "Rational | None": _WORD,
    "tuple[Rational, ...]": Form(as_many=True),
    "Sequence[float]": Form(annotation=float, several=True),
    "LabelValue | tuple[LabelValue, ...]": _class(
        "Value or values of the positive class. 1 also matches 1.0 and true, and true also matches 1."
    ),
    "LabelValue | tuple[LabelValue, ...] | None": _class(
        "Value or values of the negative class; by default the only other value there is."
    ),
    "LabelValue": Form(lambda words: group_of(words.given)),
    "LabelValues | None": _CATEGORIES,
    "tuple[LabelValue, ...]": _CATEGORIES,
    "tuple[LabelValue, ...] | None": _CATEGORIES,
    "tuple[str, ...]": _several(_names),
    "BoundsByColumn | None": _several(
        _bounds_by_column,
        "Smallest and largest possible value of variables of numbers, public, as in age=0:120,weight=30:250. Bounds of "
        "the others are found privately, at a fifth of the variable's part of the guarantee.",
    ),
    "ValuesByColumn | None": _several(
        _values_by_column,
        "The values that are counted, public, as in died=yes sex=F,M. Of one value every other one is the rest; of "
        "several any other one is an error.",
    ),
    "WeightsByColumn | None": _several(
        lambda words: _by_column(words, f"--{words.option} age=2"),
        "How large the parts of variables are, in proportion to the others, as in age=2; 1 by default.",
    ),
    "Policies": _several(
        _policies,
        "What a missing value means, for every variable or by column, as in age=low smoker=no *=drop: refuse (an "
        "error) or drop (not counted; --adjacency add_or_remove only); by column also low, high or a public value for "
        "numbers, no for one counted value, and no or count (a category of its own) for several.",
    ),
    "ListingPolicies": _several(
        _policies,
        "What a missing value means, in both columns or by column, as in ward=count: refuse (an error), count (a row "
        "or column of its own) or drop (the record is not counted; --adjacency add_or_remove only).",
    ),
    "tuple[Bound, Bound] | None": Form(
        help="Smallest and largest possible value, public; numbers or ISO dates. Values outside are clipped.",
        annotation=tuple[str, str],
    ),
    "Grid | GridName": _several(
        _grid, "linear, geometric, integers, hours, days, weeks, months, or thresholds (themselves, or a file of them)."
    ),
    "Method": _CURVE_METHOD,
    "QuantileMethod": _CURVE_METHOD,
    "Columns": _several(lambda words: words.given),
    "BoundsOfEach": _several(
        _bounds_of_each,
        "Smallest and largest possible value, public: two numbers or dates for all columns, or two for each.",
    ),
    "BinsOfEach": _several(_bins_of_each),
    "GridOfEach": _several(
        _grids_of_each, "linear, geometric, integers, hours, days, weeks or months, for all columns or one for each."
    ),
    "CategoriesOfEach": _several(
        _categories_of_each,
        "All values of columns that are not numbers, public: a list for all columns, or COLUMN=A,B,C for some.",
    ),
    "UstatisticMethod | ByHand": Form(_method, parts=_of_pairs),
}
"""The form of each type, as it is written in a dataclass."""
