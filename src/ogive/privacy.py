"""Privacy guarantees as types, and which data sets count as adjacent.

Parameters are exact rationals. A float is read as the decimal it prints as, so
`PureDP(0.1)` means one tenth and three of them are exactly `PureDP("0.3")`.
Losses of different types do not compare; `ogive.accounting` converts them.
"""

from __future__ import annotations

import enum
import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from ogive.core.checks import whole
from ogive.errors import ParameterError, quoted

Rational = int | float | str | Fraction

_SMALLEST, _LARGEST = Fraction(1, 10**300), Fraction(10**300)
# "1e999999999" is a short text and a number that fills the memory, and so is "1e9_999_999"
_LONG_EXPONENT = re.compile(r"[eE][+-]?[0_]*[1-9](_?[0-9]){3}")
# Python reads no whole number of more digits from text
_MANY_DIGITS = re.compile(r"(_?[0-9]){4301}")
_LONGEST_TEXT = 10_000
# bits of a numerator or denominator: some 4000 digits, since Python neither reads nor writes more than 4300
_LONGEST_PART = 13_287
_LONGEST_SHOWN = 24
_MOST_DIGITS = 14  # of a decimal, so that 1 / 3 as a float is not shown with all of its digits
_LONGEST_NAME = 400

_UNSEEN = {"Cc", "Cs", "Zl", "Zp"}  # control characters, halves of characters, breaks of lines and paragraphs
_TURNS = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # write what follows the other way round

MAX_ROWS_PER_PERSON = 1_000_000

BY_CONTENTS, BY_CELLS = "siphash", "md5"
"""What rows of a person are chosen by: a hash of their contents, or of the cells that they count in."""


class Adjacency(enum.Enum):
    """Which pairs of data sets the guarantee makes hard to tell apart.

    `REPLACE`: one record takes another value; the number of records is public.
    `ADD_OR_REMOVE`: one record is present or absent; the number of records is private.
    """

    REPLACE = "replace"
    ADD_OR_REMOVE = "add_or_remove"

    @property
    def words(self) -> str:
        """The guarantee's unit as an English clause."""
        if self is Adjacency.REPLACE:
            return "one record replaced by any other (the number of records is public)"
        return "one record added or removed (the number of records stays private)"


@dataclass(frozen=True)
class PrivacyUnit:
    """Whose data a guarantee hides: one record, or all records of one person.

    The number of records of each person is bounded first, so one person changes an answer at most as much as
    `max_rows_per_person` records do.

    Fields:
        adjacency: Which data sets are adjacent.
        person: Column with the person's identifier; None if each record is one person.
        max_rows_per_person: Largest number of records kept of one person.
        public: Names of the columns whose values are public, for example a label. Adjacent data sets agree in them
            record by record, so exact counts of them reveal nothing that the guarantee protects.
        row_choice: What rows of a person with too many are chosen by: "siphash", their contents, or "md5", the cells
            that they count in. The guarantee is the same.

    Raises:
        ParameterError: a field is out of range; or the number of records would be public although a person may have
            several records (use ADD_OR_REMOVE); or a column is declared public under ADD_OR_REMOVE, where records are
            added and removed with all their values.
    """

    adjacency: Adjacency
    person: str | None = None
    max_rows_per_person: int = 1
    public: tuple[str, ...] = ()
    row_choice: str = BY_CONTENTS

    def __post_init__(self) -> None:
        object.__setattr__(self, "adjacency", check_adjacency(self.adjacency))
        object.__setattr__(self, "public", check_columns(self.public))
        rows = self.max_rows_per_person
        if self.person is not None and not isinstance(self.person, str):
            raise ParameterError(f"`person` must be a column's name, got {quoted(self.person)}")
        whole(rows, "max_rows_per_person", 1, MAX_ROWS_PER_PERSON)
        if self.person is None and rows != 1:
            raise ParameterError("`max_rows_per_person` needs `person`, the column with the person's identifier")
        check_row_choice(self.row_choice, self.person)
        if rows > 1 and self.adjacency is Adjacency.REPLACE:
            raise ParameterError(
                "with several rows per person the number of rows is private; "
                "use `adjacency ADD_OR_REMOVE`, or `max_rows_per_person=1`"
            )
        if self.public and self.adjacency is Adjacency.ADD_OR_REMOVE:
            raise ParameterError(
                "a record that is added or removed takes all its values with it, so no column is public; "
                "use `adjacency REPLACE`, or leave out public columns"
            )
        if self.person in self.public:
            raise ParameterError(f"column {quoted(self.person)} identifies the person, so it cannot be public")

    @property
    def words(self) -> str:
        """The unit as an English clause."""
        if self.adjacency is Adjacency.REPLACE:
            who, what, rows = "one record", "records", ""
            if self.person is not None:
                who, what, rows = f"one person (column {self.person})", "persons", ", one row each"
            if not self.public:
                return f"{who} replaced by any other{rows} (the number of {what} is public)"
            columns = named_columns(self.public)
            values = "value" if len(self.public) == 1 else "values"
            return (
                f"{who} replaced by any other with the same {values} in {columns}{rows} "
                f"(the number of {what} and {columns} are public)"
            )
        if self.person is None:
            return self.adjacency.words
        who = f"one person (column {self.person})"
        rows = "one row" if self.max_rows_per_person == 1 else f"up to {self.max_rows_per_person} rows"
        return f"{who} with {rows} added or removed (the number of rows stays private)"

    @property
    def all_rows_words(self) -> str:
        """As `words`, where a person's rows share one weight and none is left out."""
        who = f"one person (column {self.person}) with all rows"
        if self.adjacency is Adjacency.REPLACE:
            return f"{who} replaced by any other (the number of persons is public)"
        return f"{who} added or removed (the number of persons stays private)"

    def to_dict(self) -> dict[str, Any]:
        """Plain data; without `public` where no column is, and without `row_choice` where it is "siphash"."""
        data: dict[str, Any] = {
            "adjacency": self.adjacency.value,
            "person": self.person,
            "max_rows_per_person": self.max_rows_per_person,
        }
        if self.public:
            data["public"] = list(self.public)
        return {**data, "row_choice": self.row_choice} if self.row_choice != BY_CONTENTS else data

    @staticmethod
    def from_dict(data: Any) -> PrivacyUnit:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is missing or out of range.
        """
        try:
            public, chosen = data.get("public", ()), data.get("row_choice", BY_CONTENTS)
            return PrivacyUnit(data["adjacency"], data["person"], data["max_rows_per_person"], public, chosen)
        except (AttributeError, KeyError, TypeError):
            raise ParameterError("a privacy unit has adjacency, person and `max_rows_per_person`") from None


_SHORT_PART = 900
"""Bits of a numerator and of a denominator whose fraction is surely from 1e-300 to 1e300, which is 2^996."""


def check_row_choice(choice: object, person: str | None, *, default: str = BY_CONTENTS) -> str:
    """What rows of a person are chosen by, or the default."""
    if choice is None:
        return default
    if choice not in (BY_CONTENTS, BY_CELLS):
        raise ParameterError(f"`row_choice` must be {quoted(BY_CONTENTS)} or {quoted(BY_CELLS)}, got {quoted(choice)}")
    if choice == BY_CELLS and person is None:
        raise ParameterError("`row_choice` needs `person`, the column with the person's identifier")
    return str(choice)


def exact(value: Rational, name: str) -> Fraction:
    """Read a number as the exact rational its user wrote."""
    if not isinstance(value, int | float | str | Fraction) and getattr(value, "size", None) == 1:
        # numpy scalars arrive here; `item` gives the Python number they hold
        value = getattr(value, "item", lambda: value)()
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        raise ParameterError(f"`{name}` must be a number, got {quoted(value)}")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ParameterError(f"`{name}` must be finite, got {quoted(value)}")
        return Fraction(repr(float(value)))  # a numpy float is a float that prints otherwise
    if isinstance(value, str):
        if not value.isascii():
            raise ParameterError(f"`{name}` must be a number written with the digits 0 to 9, got {quoted(value)}")
        if len(value) > _LONGEST_TEXT or _LONG_EXPONENT.search(value):
            raise ParameterError(f"`{name}` must be of a size from 1e-300 to 1e300, got {quoted(value)}")
        if _MANY_DIGITS.search(value):
            raise ParameterError(f"`{name}` must be a number of at most 4300 digits, got {quoted(value)}; round it")
    try:
        number = value if type(value) is Fraction else Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise ParameterError(f"`{name}` must be a number, got {quoted(value)}") from None
    if max(number.numerator.bit_length(), number.denominator.bit_length()) <= _SHORT_PART:
        return number
    if number != 0 and not _SMALLEST <= abs(number) <= _LARGEST:
        raise ParameterError(f"`{name}` must be of a size from 1e-300 to 1e300, got {quoted(value)}")
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > _LONGEST_PART:
        raise ParameterError(f"`{name}` must be a fraction of numbers of at most 4000 digits; round it")
    return number


def number_text(value: Fraction) -> str:
    """Write a rational as a decimal where that is exact, else as a fraction; about, if that is long."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    digits = repr(float(value)).removesuffix(".0")
    if rest == 1 and Fraction(digits) == value:
        return digits if len(digits) <= _MOST_DIGITS else f"about {float(value):.6g}"
    fraction = str(value)
    return fraction if len(fraction) <= _LONGEST_SHOWN else f"about {float(value):.6g}"


class _Exact:
    """A guarantee or a loss, whose fields are exact numbers; those of one type add up."""

    _type: ClassVar[str]
    __match_args__: ClassVar[tuple[str, ...]]

    def __add__(self, other: Self) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        return type(self)(*(getattr(self, name) + getattr(other, name) for name in self.__match_args__))

    def to_dict(self) -> dict[str, str]:
        """Plain data, exact."""
        return {"type": self._type, **{name: str(getattr(self, name)) for name in self.__match_args__}}


@dataclass(frozen=True, init=False)
class PureDP(_Exact):
    """Pure differential privacy.

    Args:
        epsilon: Bound on the log-ratio of output probabilities, above 0.
    """

    _type = "PureDP"

    epsilon: Fraction

    def __init__(self, epsilon: Rational) -> None:
        value = exact(epsilon, "epsilon")
        if value <= 0:
            raise ParameterError(f"`epsilon` must be above 0, got {number_text(value)}")
        object.__setattr__(self, "epsilon", value)

    def __str__(self) -> str:
        return f"epsilon = {number_text(self.epsilon)}"


@dataclass(frozen=True, init=False)
class ZeroConcentratedDP(_Exact):
    """Zero-concentrated differential privacy (Bun and Steinke 2016).

    Args:
        rho: Bound on the Renyi divergence of every order alpha, divided by alpha; above 0.
    """

    _type = "ZeroConcentratedDP"

    rho: Fraction

    def __init__(self, rho: Rational) -> None:
        value = exact(rho, "rho")
        if value <= 0:
            raise ParameterError(f"`rho` must be above 0, got {number_text(value)}")
        object.__setattr__(self, "rho", value)

    def __str__(self) -> str:
        return f"rho = {number_text(self.rho)} (zCDP)"


@dataclass(frozen=True, init=False)
class ApproxDP(_Exact):
    """Approximate differential privacy.

    Args:
        epsilon: As for pure differential privacy, above 0.
        delta: Probability with which the bound may fail, strictly between 0 and 1; choose it far below one over the
            number of people.
    """

    _type = "ApproxDP"

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Rational, delta: Rational) -> None:
        loss = exact(epsilon, "epsilon")
        slack = exact(delta, "delta")
        if loss <= 0:
            raise ParameterError(f"`epsilon` must be above 0, got {number_text(loss)}")
        if not _SMALLEST < slack < 1:
            raise ParameterError(
                f"`delta` must be strictly between 0 and 1, got {quoted(delta)}; for delta = 0 use `PureDP`"
            )
        object.__setattr__(self, "epsilon", loss)
        object.__setattr__(self, "delta", slack)

    def __str__(self) -> str:
        return f"epsilon = {number_text(self.epsilon)}, delta = {number_text(self.delta)}"


@dataclass(frozen=True, init=False)
class GaussianDP(_Exact):
    """As private as one Gaussian: a loss of Gaussian noise, never something that is granted.

    Within `distance` in total variation, whatever the data, of a mechanism that is sqrt(mu_squared)-GDP (Dong, Roth
    and Su 2022), and rho-zCDP itself with rho = mu_squared / 2. For an epsilon and a delta the former says more.

    Args:
        mu_squared: Squared ratio of the sensitivity to the standard deviation, above 0.
        distance: Largest distance from the ideal mechanism, at least 0 and below 1.
    """

    _type = "GaussianDP"

    mu_squared: Fraction
    distance: Fraction

    def __init__(self, mu_squared: Rational, distance: Rational = 0) -> None:
        ratio = exact(mu_squared, "mu_squared")
        slack = exact(distance, "distance")
        if ratio <= 0:
            raise ParameterError(f"`mu_squared` must be above 0, got {number_text(ratio)}")
        if not 0 <= slack < 1:
            raise ParameterError(f"`distance` must be at least 0 and below 1, got {quoted(distance)}")
        object.__setattr__(self, "mu_squared", ratio)
        object.__setattr__(self, "distance", slack)

    @property
    def concentrated(self) -> ZeroConcentratedDP:
        """The same loss in zCDP."""
        return ZeroConcentratedDP(self.mu_squared / 2)

    def __str__(self) -> str:
        return f"mu = {math.sqrt(self.mu_squared):.6g} (Gaussian DP)"


Privacy = PureDP | ZeroConcentratedDP | ApproxDP
"""What may be granted."""

Loss = PureDP | ZeroConcentratedDP | ApproxDP | GaussianDP
"""What a mechanism may cost."""

Charge = Privacy | GaussianDP
"""What may be charged to an account."""


def check_privacy(value: object) -> Privacy:
    """Return a guarantee as it is."""
    if not isinstance(value, PureDP | ZeroConcentratedDP | ApproxDP):
        raise ParameterError(
            "`privacy` must be `PureDP`, `ApproxDP` or `ZeroConcentratedDP`, for example `PureDP(1)` for epsilon 1, "
            f"got {quoted(value)}"
        )
    return value


def check_charge(value: object) -> Charge:
    """Return a guarantee or a loss of Gaussian noise as it is."""
    return value if isinstance(value, GaussianDP) else check_privacy(value)


def is_one_line(text: str) -> bool:
    """Whether a text can stand in a line of others without breaking it or turning it round."""
    return not any(unicodedata.category(letter) in _UNSEEN or letter in _TURNS for letter in text)


def check_columns(names: object) -> tuple[str, ...]:
    """Names of columns in order, each once; a single name may stand for itself."""
    given = (names,) if isinstance(names, str) else names
    if not isinstance(given, list | tuple | set | frozenset) or not all(
        isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME and is_one_line(name) for name in given
    ):
        raise ParameterError(f"`public` must name columns, for example `public=['ill']`, got {quoted(names)}")
    return tuple(sorted(set(given)))


def named_columns(names: Sequence[str]) -> str:
    """Columns in a sentence: "column a", or "columns a, b and c"."""
    if len(names) == 1:
        return f"column {names[0]}"
    return f"columns {', '.join(names[:-1])} and {names[-1]}"


def check_adjacency(value: Adjacency | str) -> Adjacency:
    """Return an adjacency given as itself or by its name."""
    try:
        return Adjacency(value)
    except ValueError:
        names = " or ".join(repr(member.value) for member in Adjacency)
        raise ParameterError(f"`adjacency` must be {names}, got {quoted(value)}") from None


def charge_from_dict(data: Any) -> Charge:
    """Rebuild a guarantee or a loss from `to_dict`; the data need not be trusted."""
    if isinstance(data, dict) and data.get("type") == "GaussianDP":
        return GaussianDP(_field(data, "mu_squared"), _field(data, "distance"))
    return privacy_from_dict(data)


def privacy_from_dict(data: Any) -> Privacy:
    """Rebuild a guarantee from `to_dict`; the data need not be trusted."""
    if not isinstance(data, dict):
        raise ParameterError(f"a privacy guarantee must be an object with a type, got {quoted(data)}")
    match _field(data, "type"):
        case "PureDP":
            return PureDP(_field(data, "epsilon"))
        case "ZeroConcentratedDP":
            return ZeroConcentratedDP(_field(data, "rho"))
        case "ApproxDP":
            return ApproxDP(_field(data, "epsilon"), _field(data, "delta"))
        case other:
            raise ParameterError(f"unknown privacy type {quoted(other)}")


def _field(data: dict[str, Any], name: str) -> Any:
    if name not in data:
        raise ParameterError(f"a privacy guarantee or loss lacks the field {quoted(name)}")
    return data[name]
