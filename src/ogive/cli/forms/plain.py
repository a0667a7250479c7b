"""Forms of words, numbers, truth values, classes and groups."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from types import GenericAlias
from typing import TYPE_CHECKING, Any

from ogive.cli.converters import whole
from ogive.cli.forms.base import Form, Words
from ogive.errors import ParameterError, quoted
from ogive.parameters import choices_of

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
_EXACT = Form(lambda default: str | None)  # the library reads the digits as they are written
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
    "Rational": _EXACT,
    "Rational | None": _EXACT,
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
