"""Whose row it is: the values of a person column as codes, one per person.

A person's name is a whole number or a text. Text that writes a plain decimal number (5, 5.0, -12.50, without
leading zeros) names the same person as the number, so that a person is the same whatever kind of
file the table lies in; every other text is itself, letter by letter, without the blanks around it.
Telling persons apart is exact: two persons taken for one would share their rows, and one taken for
two would have the rows of two, which would void the guarantee. A word such as NA names nobody: the
rows of all who have it would be taken for those of one person.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Sequence, Set
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ogive.arrays import Bool, Int64, UInt8, UInt64
from ogive.columns.values import BLANKS
from ogive.compiling import njit
from ogive.errors import DataError, quoted
from ogive.records.arrow import kind_of, type_words, without_named, without_words
from ogive.records.hashing import hashes_of, text_words
from ogive.records.labels import where_known
from ogive.records.missing_words import USUAL, MissingWords

MAX_DIGITS = 18
_LIMIT = 10**MAX_DIGITS
_IS_WHOLE, _IS_TEXT, _UNCLEAR = 0, 1, 2
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-][0-9]{2,3})?")


class Persons(NamedTuple):
    """Whose rows they are.

    Fields:
        codes: For each row the number of its person, shape (rows,).
        numbers: Names of the first persons, whole numbers, shape (m,).
        texts: Names of all other persons, an Arrow array of text.
    """

    codes: Int64
    numbers: Int64
    texts: Any

    @property
    def number(self) -> int:
        """How many persons there are."""
        return len(self.numbers) + len(self.texts)

    def words(self, wanted: Bool) -> UInt64:
        """Two words that name each wanted person, shape (persons, 2): what kind of name, and the name."""
        words = np.zeros((self.number, 2), dtype=np.uint64)
        numbered = len(self.numbers)
        words[:numbered, 1] = self.numbers.view(np.uint64)
        words[numbered:, 0] = 1
        words[numbered:, 1] = text_words(self.texts, wanted[numbered:])
        return words


def check_person_type(column: str, arrow_type: Any) -> None:
    """Refuse a column that cannot name persons.

    Raises:
        DataError: it holds neither numbers nor text.
    """
    holds = type_words(arrow_type)
    if holds == "no values at all":
        raise DataError(missing_person(column))
    if (kind_of(arrow_type) != "number" and holds != "text") or pa.types.is_boolean(arrow_type):
        holds = "truth values" if pa.types.is_boolean(arrow_type) else holds
        raise DataError(f"person column {quoted(column)} holds {holds}, but person identifiers must be numbers or text")


class Names(NamedTuple):
    """Who is named in each of some rows.

    Fields:
        numbers: The whole number that names a person, 0 where a text does; shape (rows,).
        is_text: Whether a text does, shape (rows,).
        texts: The texts of those rows, an Arrow array.
    """

    numbers: Int64
    is_text: Bool
    texts: Any

    @staticmethod
    def joined(parts: Sequence[Names]) -> Names:
        """The names of several parts, one after the other."""
        return Names(
            np.concatenate([part.numbers for part in parts]),
            np.concatenate([part.is_text for part in parts]),
            pa.chunked_array([part.texts for part in parts], pa.large_string()).combine_chunks(),
        )

    @staticmethod
    def of(numbers: Int64, texts: Any) -> Names:
        """Names of rows, from a number and a text of each, of which the text is null where the number counts."""
        is_text: Bool = texts.is_valid().to_numpy()
        return Names(numbers, is_text, pc.drop_null(texts).combine_chunks())

    def all_texts(self) -> Any:
        """The text of each row, null where a number names the person; an Arrow array."""
        if not len(self.texts):
            return pa.nulls(len(self.numbers), pa.large_string())
        places = np.cumsum(self.is_text) - 1
        return self.texts.take(pa.array(np.maximum(places, 0), mask=~self.is_text))

    def hashes(self) -> UInt64:
        """A hash of the person of each row, shape (rows,)."""
        found = hashes_of(self.numbers.view(np.uint64)[:, None])
        if len(self.texts):
            found[self.is_text] = text_words(self.texts, np.ones(len(self.texts), dtype=np.bool_))
        return found

    def persons(self) -> Persons:
        """The persons of all rows."""
        if not len(self.texts):
            codes, distinct = _encoded(pa.array(self.numbers))
            return Persons(codes, distinct.to_numpy(zero_copy_only=False), self.texts)
        codes = np.empty(len(self.numbers), dtype=np.int64)
        codes[~self.is_text], distinct = _encoded(pa.array(self.numbers[~self.is_text]))
        own, names = _encoded(self.texts)
        codes[self.is_text] = own + len(distinct)
        return Persons(codes, distinct.to_numpy(zero_copy_only=False).astype(np.int64, copy=False), names)


def number_of_hash(hashes: UInt64, parts: int) -> UInt8:
    """Which of at most 256 equal parts of all hashes each one is in."""
    return ((hashes >> np.uint64(32)) * np.uint64(parts) >> np.uint64(32)).astype(np.uint8)


class PersonCodes:
    """Reads a person column batch by batch.

    Args:
        column: Its name.
        arrow_type: What it holds.
        nobody: Texts that name no person, in small letters.
    """

    def __init__(self, column: str, arrow_type: Any, nobody: Set[str] = USUAL.folded) -> None:
        check_person_type(column, arrow_type)
        self._column = column
        self._nobody = pa.array(sorted(nobody), pa.large_string())
        self._numbers: list[Int64] = []
        self._is_text: list[Bool] = []
        self._texts: list[Any] = []

    def add(self, array: Any) -> None:
        """Take the next rows.

        Raises:
            DataError: a person is missing.
        """
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if array.null_count:
            raise DataError(missing_person(self._column))
        kind = array.type
        if pa.types.is_integer(kind):
            numbers = array.to_numpy(zero_copy_only=False)
            small = (numbers < _LIMIT) & (numbers > -_LIMIT if numbers.dtype.kind == "i" else True)
        elif pa.types.is_floating(kind):
            numbers = pc.cast(array, pa.float64()).to_numpy(zero_copy_only=False)
            if np.isnan(numbers).any():
                raise DataError(missing_person(self._column))
            small = (np.abs(numbers) < _LIMIT) & (numbers == np.rint(numbers))
        else:
            self._add_text(pc.cast(array, pa.large_string()))
            return
        texts = pa.array(map(_name, numbers[~small].tolist()), pa.large_string())
        self._add(np.where(small, numbers, 0).astype(np.int64), ~small, texts)

    def _add_text(self, array: Any) -> None:
        array = pc.utf8_trim(array, BLANKS)
        if pc.any(pc.is_in(pc.utf8_lower(array), value_set=self._nobody)).as_py():
            raise DataError(missing_person(self._column))
        _, offsets, content = array.buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
        numbers = np.zeros(len(array), dtype=np.int64)
        kinds = np.empty(len(array), dtype=np.uint8)
        _read_whole(np.frombuffer(content, dtype=np.uint8), ends, numbers, kinds)
        is_text = kinds != _IS_WHOLE
        unclear = np.flatnonzero(kinds == _UNCLEAR)
        if not len(unclear):
            self._add(numbers, is_text, array.filter(pa.array(is_text)))
            return
        names = {int(row): _canonical(array[int(row)].as_py()) for row in unclear}
        for row, name in names.items():
            if isinstance(name, int):
                numbers[row], is_text[row] = name, False
        texts = [names.get(int(row), array[int(row)].as_py()) for row in np.flatnonzero(is_text)]
        self._add(numbers, is_text, pa.array(texts, pa.large_string()))

    def _add(self, numbers: Int64, is_text: Bool, texts: Any) -> None:
        self._numbers.append(numbers)
        self._is_text.append(is_text)
        self._texts.append(texts)

    def names(self) -> Names:
        """Who is named in each row since this was asked last."""
        found = Names.joined([Names(*part) for part in zip(self._numbers, self._is_text, self._texts, strict=True)])
        self._numbers, self._is_text, self._texts = [], [], []
        return found

    def finish(self) -> Persons:
        """The persons of all rows."""
        return self.names().persons()


@njit(nogil=True)
def _read_whole(content: UInt8, ends: Int64, numbers: Int64, kinds: UInt8) -> None:
    """Read texts that write whole numbers of up to 18 digits as those; texts with other signs are text.

    What holds digits and signs of numbers only, but is none of these, is left unclear.
    """
    for row in range(len(numbers)):
        first, end = ends[row], ends[row + 1]
        negative = content[first] == 45
        start = first + 1 if negative else first
        digits = end - start
        kind = _IS_WHOLE if 1 <= digits <= MAX_DIGITS else _UNCLEAR
        if digits > 0 and content[start] == 48 and (digits > 1 or negative):
            kind = _UNCLEAR
        value = np.int64(0)
        for i in range(start, end):
            letter = content[i]
            if 48 <= letter <= 57:
                value = 10 * value + (letter - 48) if kind == _IS_WHOLE else value
            elif letter == 43 or letter == 45 or letter == 46 or letter == 101:  # + - . e
                kind = _UNCLEAR
            else:
                kind = _IS_TEXT
                break
        kinds[row] = kind
        numbers[row] = (-value if negative else value) if kind == _IS_WHOLE else 0


def _encoded(array: Any) -> tuple[Int64, Any]:
    encoded = pc.dictionary_encode(array)
    return encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary


def _name(number: float) -> str:
    """The canonical text of a number that is not whole, or large."""
    text = str(_canonical(repr(number)))
    return str(int(number)) if isinstance(number, float) and number.is_integer() else text


def _canonical(text: str) -> int | str:
    """The small whole number that a text writes, or the text, a decimal number without needless digits."""
    if not _DECIMAL.fullmatch(text):
        return text
    with decimal.localcontext(prec=max(decimal.getcontext().prec, len(text))):
        value = decimal.Decimal(text).normalize()
    if value == value.to_integral_value() and abs(value) < _LIMIT:
        return int(value)
    return format(value, "f")


def missing_person(column: str) -> str:
    """What is said of rows without an identifier."""
    return (
        f"person column {quoted(column)} has missing values, or words for them such as NA; every row needs an "
        f"identifier, so leave the others out with {where_known(column)}; in a table whose columns have declared "
        "types, say as well which words mean a missing value"
    )


def are_named(names: Any, words: MissingWords) -> Bool:
    """Which rows have a person, shape (rows,)."""
    found = without_named(names, words)
    if type_words(found.type) == "text":
        found = without_words(found, words.folded)
    has: Bool = np.asarray(pc.invert(found.is_null(nan_is_null=True)).to_numpy(zero_copy_only=False), dtype=np.bool_)
    return has


def named_rows(names: Any, words: MissingWords) -> Any:
    """The names of some rows that are not missing."""
    return names.filter(pa.array(are_named(names, words)))
