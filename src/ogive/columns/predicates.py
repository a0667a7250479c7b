"""Public conditions on the columns of a record, as plain data: which records a statistic is about.

A condition is written as text, `ward == 'A' and age >= 65`, or as values by column, `{"ward": "A", "year": [2024]}`.
Both become the same small tree of frozen parts, which nothing ever evaluates as code.

A comparison with a missing value is false, whatever the comparison; `not`, `and` and `or` are those of truth values.
So `not age >= 65` holds for a record whose age is missing, and `age < 65` does not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ogive.columns import LabelValue, storable
from ogive.errors import ParameterError, plain, quoted
from ogive.privacy import is_one_line

LONGEST = 4000
"""Most characters of a condition that is written as text."""

MOST_PARTS = 1000
"""Most comparisons of a condition."""

_DEEPEST = 50
_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
_WORD = re.compile(r"[^\W\d]\w*")
_COLUMN = re.compile(r"`[^`]+`")
_SIGN = re.compile(r"==|!=|<>|<=|>=|<|>|=|\(|\)|\[|\]|,")
_SIGNS = {"==": "==", "=": "==", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_TRUTHS = {"true": True, "false": False}
_RESERVED = {"and", "or", "not", "in", "is", "missing", *_TRUTHS}
_EXAMPLE = "write it like `where=\"ward == 'A' and age >= 65\"`"


@dataclass(frozen=True)
class Comparison:
    """A column compared with a value: false where the column's value is missing.

    Fields:
        column: Its name.
        sign: One of ==, !=, <, <=, > and >=.
        value: A number, a truth value, or a text, which is a date where the column holds dates.
    """

    column: str
    sign: str
    value: LabelValue

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"column": self.column, "sign": self.sign, "value": self.value}

    def __str__(self) -> str:
        return f"{_name(self.column)} {self.sign} {_literal(self.value)}"


@dataclass(frozen=True)
class Among:
    """A column has one of some values: false where the column's value is missing."""

    column: str
    values: tuple[LabelValue, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"column": self.column, "in": list(self.values)}

    def __str__(self) -> str:
        return f"{_name(self.column)} in ({', '.join(map(_literal, self.values))})"


@dataclass(frozen=True)
class Missing:
    """A column's value is missing."""

    column: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"missing": self.column}

    def __str__(self) -> str:
        return f"{_name(self.column)} is missing"


@dataclass(frozen=True)
class Not:
    """A condition does not hold."""

    part: Predicate

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"not": self.part.to_dict()}

    def __str__(self) -> str:
        return f"not {_within(self.part)}"


@dataclass(frozen=True)
class All:
    """Each of several conditions holds."""

    parts: tuple[Predicate, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"and": [part.to_dict() for part in self.parts]}

    def __str__(self) -> str:
        return " and ".join(map(_within, self.parts))


@dataclass(frozen=True)
class Either:
    """At least one of several conditions holds."""

    parts: tuple[Predicate, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"or": [part.to_dict() for part in self.parts]}

    def __str__(self) -> str:
        return " or ".join(map(_within, self.parts))


Predicate = Comparison | Among | Missing | Not | All | Either
PARTS = (Comparison, Among, Missing, Not, All, Either)


def leaves(where: Predicate) -> Iterator[Comparison | Among | Missing]:
    """The comparisons of a condition."""
    if isinstance(where, Not):
        yield from leaves(where.part)
    elif isinstance(where, All | Either):
        for part in where.parts:
            yield from leaves(part)
    else:
        yield where


def columns_of(where: Predicate) -> tuple[str, ...]:
    """The columns that a condition reads, each once."""
    return tuple(dict.fromkeys(leaf.column for leaf in leaves(where)))


def predicate(where: Any) -> Predicate:
    """A condition from any way in which users write one."""
    if isinstance(where, PARTS):
        return where
    if isinstance(where, str):
        return _read(where)
    if isinstance(where, Mapping) and where:
        return _joined(All, [_equal(column, value) for column, value in where.items()])
    raise ParameterError(
        f"`where` must be a condition such as \"ward == 'A' and age >= 65\" or {{'ward': 'A'}}, got {quoted(where)}"
    )


def within_group(group: Comparison, where: str | None) -> str:
    """The condition of one of several groups of the records that satisfy a condition, as text."""
    if where is None:
        return str(group)
    # what was accepted as a condition may be longer and deeper when it is written out again
    return str(_joined(All, [group, _parsed(where, 2 * _DEEPEST)]))


def from_dict(data: Any, *, depth: int = 0) -> Predicate:
    """Rebuild a condition from its `to_dict`; the data need not be trusted."""
    kind = next(iter(data), None) if isinstance(data, Mapping) and depth <= 2 * _DEEPEST else None
    if kind in ("and", "or") and isinstance(data[kind], list) and 2 <= len(data[kind]) <= MOST_PARTS:
        parts = [from_dict(each, depth=depth + 1) for each in data[kind]]
        return _joined(All if kind == "and" else Either, parts)
    if kind == "not":
        return Not(from_dict(data[kind], depth=depth + 1))
    if kind == "missing" and isinstance(data[kind], str):
        return Missing(data[kind])
    if kind == "column" and isinstance(data[kind], str):
        if isinstance(data.get("in"), list):
            return _among(data[kind], [_value(each, data[kind]) for each in data["in"]])
        if data.get("sign") in _SIGNS.values() and "value" in data:
            return Comparison(data[kind], data["sign"], _value(data["value"], data[kind]))
    raise ParameterError(f"this is not a condition on columns: {quoted(data)}")


def _equal(column: Any, value: Any) -> Predicate:
    if not isinstance(column, str):
        raise ParameterError(f"`where` must have a column's name for each value, got {quoted(column)}")
    if "`" in column:  # it could be read as two conditions where it is printed
        raise ParameterError(f"`where` cannot name a column with a backtick, got {quoted(column)}; rename the column")
    if getattr(value, "ndim", 0) == 1:
        value = value.tolist()
    if isinstance(value, list | tuple | set | frozenset):
        chosen = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return _among(column, [_value(each, column) for each in chosen])
    return Comparison(column, "==", _value(value, column))


def _value(value: Any, column: str) -> LabelValue:
    item = getattr(value, "item", None)  # a numpy number is the Python number it holds
    value = item() if item is not None and not getattr(value, "ndim", 0) else value
    isoformat = getattr(value, "isoformat", None)
    value = isoformat() if isoformat is not None else value
    text = f"{column} {value}"
    if isinstance(value, int | float) and not storable(value) and value == value:
        raise ParameterError(f"`where` compares column {quoted(column)} with a number of 2^62 or more in size")
    if not isinstance(value, LabelValue) or not storable(value) or not is_one_line(text):
        raise ParameterError(
            f"`where` compares column {quoted(column)} with numbers, truth values, texts or dates, got {quoted(value)}"
        )
    if isinstance(value, float) and not isinstance(value, bool) and value.is_integer():
        return int(value)  # numbers that are equal make the same question
    return value


def _among(column: str, values: list[LabelValue]) -> Predicate:
    if not values:
        raise ParameterError(f"`where` compares column {quoted(column)} with no values at all; list at least one")
    if len(values) > MOST_PARTS:
        raise ParameterError(f"`where` lists more than {MOST_PARTS} values of column {quoted(column)}")
    return Among(column, tuple(values)) if len(values) > 1 else Comparison(column, "==", values[0])


def _joined(kind: type[All | Either], parts: list[Predicate]) -> Predicate:
    """Some conditions as one of a kind; the parts of those of the same kind become its own."""
    flat = [each for part in parts for each in (part.parts if isinstance(part, kind) else (part,))]
    return flat[0] if len(flat) == 1 else kind(tuple(flat))


def _within(part: Predicate) -> str:
    return f"({part})" if isinstance(part, All | Either | Not) else str(part)


def _name(column: str) -> str:
    bare = _WORD.fullmatch(column) is not None and column.lower() not in _RESERVED
    return column if bare else f"`{column}`"


def _literal(value: LabelValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    return str(value)


@dataclass(frozen=True)
class _Token:
    """A word of a condition: its kind, as it is written, and where it begins."""

    kind: str
    text: str
    place: int


_KINDS = (("text", _TEXT), ("number", _NUMBER), ("column", _COLUMN), ("word", _WORD), ("sign", _SIGN))


def _tokens(text: str) -> list[_Token]:
    results: list[_Token] = []
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        match = next(((kind, each) for kind, pattern in _KINDS if (each := pattern.match(text, place))), None)
        if match is None:
            raise ParameterError(
                f"`where` cannot be read at {_rest(text, place)}; put a column's name that has spaces or signs in "
                f"backticks; {_EXAMPLE}"
            )
        results.append(_Token(match[0], match[1][0], place))
        place = match[1].end()
    return results


def _rest(text: str, place: int) -> str:
    return plain(repr(text[place : place + 30]))


def _read(text: str) -> Predicate:
    if len(text) > LONGEST:
        raise ParameterError(f"`where` may have {LONGEST} characters, got {len(text)}")
    result = _parsed(text, _DEEPEST)
    if sum(1 for _ in leaves(result)) > MOST_PARTS:
        raise ParameterError(f"`where` may have {MOST_PARTS} comparisons; write fewer")
    return result


def _parsed(text: str, deepest: int) -> Predicate:
    reader = _Reader(text, _tokens(text), deepest)
    result = reader.either(0)
    reader.finish()
    return result


class _Reader:
    """Reads a condition word by word: `or` of `and` of `not` of comparisons and conditions in parentheses."""

    def __init__(self, text: str, tokens: list[_Token], deepest: int) -> None:
        self._text = text
        self._deepest = deepest
        self._tokens = tokens
        self._next = 0

    def either(self, depth: int) -> Predicate:
        if depth > self._deepest:
            raise ParameterError(
                f"`where` is nested more than {self._deepest} levels deep; write it with fewer parentheses"
            )
        parts = [self._all(depth)]
        while self._takes("or"):
            parts.append(self._all(depth))
        return _joined(Either, parts)

    def _all(self, depth: int) -> Predicate:
        parts = [self._one(depth)]
        while self._takes("and"):
            parts.append(self._one(depth))
        return _joined(All, parts)

    def _one(self, depth: int) -> Predicate:
        if self._takes("not"):
            if depth > self._deepest:
                raise ParameterError("`where` says not too many times in a row; write fewer")
            return Not(self._one(depth + 1))
        if self._takes("("):
            result = self.either(depth + 1)
            self._expect(")")
            return result
        return self._comparison()

    def _comparison(self) -> Predicate:
        column = self._column()
        if self._takes("is"):
            negated = self._takes("not")
            self._expect("missing")
            return Not(Missing(column)) if negated else Missing(column)
        negated = self._takes("not")
        if negated or self._seen("in"):
            self._expect("in")
            result = _among(column, self._values(column))
            return _joined(All, [Not(result), Not(Missing(column))]) if negated else result
        sign = self._peek()
        if sign is None or sign.text not in _SIGNS:
            raise self._unquoted() or self._problem("a comparison such as == or >= after the column's name")
        self._next += 1
        return Comparison(column, _SIGNS[sign.text], self._literal(column))

    def _values(self, column: str) -> list[LabelValue]:
        closing = {"(": ")", "[": "]"}
        opened = self._peek()
        if opened is None or opened.text not in closing:
            raise self._problem("a list of values such as ('A', 'B') after in")
        self._next += 1
        values = [self._literal(column)]
        while self._takes(","):
            if self._seen(closing[opened.text]):
                break
            values.append(self._literal(column))
        self._expect(closing[opened.text])
        return values

    def _literal(self, column: str) -> LabelValue:
        token = self._peek()
        if token is not None and token.kind == "text":
            self._next += 1
            return _value(re.sub(r"\\(.)", r"\1", token.text[1:-1]), column)
        if token is not None and token.kind == "number":
            self._next += 1
            number = float(token.text)
            if not math.isfinite(number):
                raise ParameterError(f"`where` compares column {quoted(column)} with a number of 2^62 or more in size")
            whole = re.fullmatch(r"[-+]?\d+", token.text)
            return _value(int(token.text) if whole else number, column)
        if token is not None and token.kind == "word" and token.text.lower() in _TRUTHS:
            self._next += 1
            return _TRUTHS[token.text.lower()]
        raise self._problem("a number, true, false, or a text in quotes")

    def _column(self) -> str:
        token = self._peek()
        if token is not None and token.kind == "column":
            self._next += 1
            return token.text[1:-1]
        if token is not None and token.kind == "word" and token.text.lower() not in _RESERVED:
            self._next += 1
            return token.text
        raise self._problem("a column's name, in backticks if it has spaces,")

    def _unquoted(self) -> ParameterError | None:
        """The refusal where the words from the last one to a sign of comparison may be one name of a column."""
        last, following = self._tokens[self._next - 1], self._tokens[self._next :]
        until = next((place for place, each in enumerate(following) if each.text in _SIGNS), 0)
        compared = following[until : until + 2]
        name = self._text[last.place : compared[0].place].strip() if until else ""
        apart = (*_RESERVED, ")", "]")
        if not name or "`" in name or following[0].text.lower() in apart or len(compared) < 2:
            return None
        condition = quoted(f"`{name}` {compared[0].text} {compared[1].text}")
        return ParameterError(
            f"`where` needs backticks around a column's name that has spaces or signs, for example `where={condition}`"
        )

    def finish(self) -> None:
        if self._peek() is not None:
            raise self._problem("and, or, or the end")

    def _peek(self) -> _Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _seen(self, text: str) -> bool:
        token = self._peek()
        return token is not None and token.kind in ("word", "sign") and token.text.lower() == text

    def _takes(self, text: str) -> bool:
        token = self._seen(text)
        self._next += token
        return token

    def _expect(self, text: str) -> None:
        if not self._takes(text):
            raise self._problem(text)

    def _problem(self, wanted: str) -> ParameterError:
        token = self._peek()
        there = "its end" if token is None else _rest(self._text, token.place)
        return ParameterError(f"`where` needs {wanted} at {there}; {_EXAMPLE}")
