"""Forms of what is said by column: words such as age=0:120 or died=yes, with commas or spaces between them."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import Any

from ogive.cli.forms.base import Form, Words
from ogive.cli.forms.plain import group_of, listed
from ogive.errors import ParameterError, quoted

_NEXT = re.compile(r",(?=[^,=]+=)")
"""A comma before the next column."""


def _pairs(words: Words, example: str) -> dict[str, str]:
    """What was said of each column.

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
