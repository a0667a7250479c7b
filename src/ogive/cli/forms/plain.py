"""Forms of words, numbers, truth values, classes and groups, and of values by column."""

from __future__ import annotations

import csv
import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from types import GenericAlias
from typing import TYPE_CHECKING, Any

from ogive.cli.data import whole
from ogive.cli.forms.base import Form, Words
from ogive.core.parameters import choices_of
from ogive.errors import ParameterError, quoted

if TYPE_CHECKING:
    from ogive.columns import LabelValue

_WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")
_POSITIVE = "Value or values of the positive class. 1 also matches 1.0 and true, and true also matches 1."
_NEGATIVE = "Value or values of the negative class; by default the only other value there is."


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
    found: list[LabelValue] = []
    for word in words:
        found.append(word)
        if word.lower() in ("true", "false"):
            found.append(word.lower() == "true")
        elif _WHOLE.fullmatch(word):
            found.append(int(word))
        else:
            try:
                number = float(word)
            except ValueError:
                continue
            if math.isfinite(number):
                found.append(number)
    return tuple(found)


def listed(said: Sequence[str]) -> tuple[str, ...]:
    """Words of a list; a single word with commas is several."""
    return tuple(word.strip() for word in said[0].split(",")) if len(said) == 1 else tuple(said)


def _categories(words: Words) -> tuple[LabelValue, ...]:
    """Categories, each a word."""
    return tuple(map(group_of, listed(words.said)))


def _number(words: Words) -> float:
    try:
        return float(words.said)
    except ValueError:
        raise ParameterError(f"--{words.option} must be a number, got {quoted(words.said)}") from None


def _number_or_word(words: Words) -> Any:
    try:
        return float(words.said)
    except ValueError:
        return words.said


def _whole_or_word(words: Words) -> Any:
    try:
        return int(words.said)
    except ValueError:
        return words.said


def _shortly(default: Any) -> str:
    return f"{default:g}"


def _as_many(default: Any) -> Any:
    """As many words as the default has numbers."""
    return GenericAlias(tuple, (str,) * len(default)) | None


WORD = Form(lambda default: str | None)
_INTEGER = Form(lambda default: int | None, converter=whole)
_TRUTH = Form(lambda default: bool | None)
_CLASS = Form(lambda default: tuple[str, ...], lambda words: meanings(listed(words.said)), _POSITIVE, several=True)
_CATEGORIES = Form(lambda default: tuple[str, ...], _categories, several=True)

PLAIN = {
    "str": WORD,
    "str | None": WORD,
    "Any": WORD,
    "UnbiasedChoice": WORD,
    "UnbiasedName": WORD,
    "CurveChoice": WORD,
    "Smooth": WORD,
    "Composition | None": WORD,
    "Missing": Form(lambda default: str | None, open=True),
    "int": _INTEGER,
    "int | None": _INTEGER,
    "int | Literal['auto']": Form(lambda default: str | None, _whole_or_word),
    "int | Fitted | None": Form(lambda default: str | None, _whole_or_word),
    "bool": _TRUTH,
    "bool | None": _TRUTH,
    "float": Form(lambda default: str | None, _number, shown=_shortly),
    "float | None": Form(lambda default: str | None, _number),
    "Literal['auto', 'paper'] | float": Form(lambda default: str | None, _number_or_word),
    "Rational": WORD,  # the library reads the digits as they are written
    "Rational | None": WORD,
    "tuple[Rational, ...]": Form(_as_many),
    "Sequence[float]": Form(lambda default: tuple[float, ...], several=True),
    "LabelValue | tuple[LabelValue, ...]": _CLASS,
    "LabelValue | tuple[LabelValue, ...] | None": Form(_CLASS.annotation, _CLASS.read, _NEGATIVE, several=True),
    "LabelValues | None": _CATEGORIES,
    "tuple[LabelValue, ...] | None": _CATEGORIES,
}


def form_among(forms: Mapping[str, Form], field: dataclasses.Field[Any]) -> Form:
    """The form of a field: that of its type as it is written, else a word where the field says which ones there are.

    Raises:
        TypeError: there is none.
    """
    written = str(field.type)
    if written in forms:
        return forms[written]
    if choices_of(field):
        return WORD
    raise TypeError(f"no form says how words become {written}; add one to ogive.cli.forms, or write another type")


# --- Values by column: words such as age=0:120 or died=yes, with commas or spaces between them

_NEXT = re.compile(r",(?=[^,=]+=)")
"""A comma before the next column."""


def _pairs(words: Words, example: str) -> dict[str, str]:
    """The words of each column.

    Raises:
        ParameterError: a word is no column with its value, or a column is named twice.
    """
    found: dict[str, str] = {}
    for word in words.said:
        name, equals, rest = word.partition("=")  # a comma before the first sign of equality is part of the name
        first, *others = _NEXT.split(rest)
        for each in (f"{name}{equals}{first}", *others):
            column, equals, said = map(str.strip, each.partition("="))
            if not equals or not column or not said:
                raise ParameterError(f"--{words.option} must be written as in {example}, got {quoted(each)}")
            if column in found:
                raise ParameterError(f"--{words.option} names column {quoted(column)} twice")
            found[column] = said
    return found


def _bounds(words: Words) -> Any:
    example = f"--{words.option} age=0:120 weight=30:250"
    found = {}
    for column, said in _pairs(words, example).items():
        low, colon, high = said.partition(":")
        if not colon:
            raise ParameterError(f"--{words.option} must be written as in {example}, got {quoted(said)}")
        if "," in said:
            raise ParameterError(
                f"--{words.option} must be written as in {example}, got {quoted(f'{column}={said}')}; numbers have a "
                "decimal point, and a column whose name has a comma begins a word of its own"
            )
        found[column] = (low, high)
    return found


def _values(words: Words) -> Any:
    found = _pairs(words, f"--{words.option} died=yes")
    return {column: tuple(map(group_of, listed([said]))) for column, said in found.items()}


def _weights(words: Words) -> Any:
    return _pairs(words, f"--{words.option} age=2")


def _policies(words: Words) -> Any:
    """One policy for all variables, or policies by column."""
    said: Sequence[str] = words.said
    if len(said) == 1 and "=" not in said[0]:
        return said[0]
    found = _pairs(words, f"--{words.option} age=low weight=drop")
    return {column: group_of(policy) for column, policy in found.items()}


def _names(words: Words) -> tuple[str, ...]:
    """Names of columns; in a single word with commas, one that has a comma itself is in double quotes."""
    said: Sequence[str] = words.said
    if len(said) == 1 and '"' in said[0] and "," in said[0]:
        return tuple(name.strip() for name in next(csv.reader(said, skipinitialspace=True)))
    return listed(said)


def _form(read: Any, help: str = "") -> Form:
    return Form(lambda default: tuple[str, ...], read, help, several=True)


BY_COLUMN = {
    "BoundsByColumn | None": _form(
        _bounds,
        "Smallest and largest possible value of variables of numbers, public, as in age=0:120,weight=30:250. Bounds of "
        "the others are found privately, at a fifth of the variable's part of the guarantee.",
    ),
    "ValuesByColumn | None": _form(
        _values,
        "The values that are counted, public, as in died=yes sex=F,M. Of one value every other one is the rest; of "
        "several any other one is an error.",
    ),
    "WeightsByColumn | None": _form(
        _weights, "How large the parts of variables are, in proportion to the others, as in age=2; 1 by default."
    ),
    "Policies": _form(
        _policies,
        "What a missing value means, for every variable or by column, as in age=low smoker=no *=drop: refuse (an "
        "error) or drop (not counted; --adjacency add_or_remove only); by column also low, high or a public value for "
        "numbers, no for one counted value, and no or count (a category of its own) for several.",
    ),
    "ListingPolicies": _form(
        _policies,
        "What a missing value means, in both columns or by column, as in ward=count: refuse (an error), count (a row "
        "or column of its own) or drop (the record is not counted; --adjacency add_or_remove only).",
    ),
    "tuple[str, ...]": Form(lambda default: tuple[str, ...], _names, several=True),
}
