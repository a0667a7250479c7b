"""Whose row it is: the values of a person column as codes, one per person, and hashes of persons and rows.

A person's name is a whole number or a text. Text that writes a plain decimal number (5, 5.0, -12.50, without
leading zeros) names the same person as the number, so that a person is the same whatever kind of
file the table lies in; every other text is itself, letter by letter, without the blanks around it.
Telling persons apart is exact: two persons taken for one would share their rows, and one taken for
two would have the rows of two, which would void the guarantee. A word such as NA names nobody: the
rows of all who have it would be taken for those of one person.
"""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Sequence, Set
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ogive.columns.categories import BLANKS
from ogive.core.arrays import Bool, Int64, UInt8, UInt64
from ogive.core.compiling import njit
from ogive.errors import DataError, quoted
from ogive.records.cells import is_text, kind_of, type_words, without_named, without_words
from ogive.records.labels import where_known
from ogive.records.missing_words import USUAL, MissingWords
from ogive.records.sources import Source

# --- SipHash-2-4 of words and of texts
#
# Under a fixed public key its hashes are pseudo-random, and the same everywhere.
#
# Source: Aumasson and Bernstein, SipHash: a fast short-input PRF, INDOCRYPT 2012.

Word = np.uint64
Key = tuple[int, int] | tuple[np.uint64, np.uint64]
"""128 bits, as two words."""

# the first 128 bits of the fraction of pi: public, and chosen by nobody
PUBLIC_KEY = (0x243F6A8885A308D3, 0x13198A2E03707344)


@njit(nogil=True)
def _rotated(word: Word, bits: int) -> Word:
    return np.uint64((word << np.uint64(bits)) | (word >> np.uint64(64 - bits)))


@njit(nogil=True)
def _rounds(a: Word, b: Word, c: Word, d: Word, count: int) -> tuple[Word, Word, Word, Word]:
    for _ in range(count):
        a = np.uint64(a + b)
        b = np.uint64(_rotated(b, 13) ^ a)
        a = _rotated(a, 32)
        c = np.uint64(c + d)
        d = np.uint64(_rotated(d, 16) ^ c)
        a = np.uint64(a + d)
        d = np.uint64(_rotated(d, 21) ^ a)
        c = np.uint64(c + b)
        b = np.uint64(_rotated(b, 17) ^ c)
        c = _rotated(c, 32)
    return a, b, c, d


@njit(nogil=True)
def _start(key: Key) -> tuple[Word, Word, Word, Word]:
    first, second = np.uint64(key[0]), np.uint64(key[1])
    return (
        np.uint64(first ^ np.uint64(0x736F6D6570736575)),
        np.uint64(second ^ np.uint64(0x646F72616E646F6D)),
        np.uint64(first ^ np.uint64(0x6C7967656E657261)),
        np.uint64(second ^ np.uint64(0x7465646279746573)),
    )


@njit(nogil=True)
def siphash(words: UInt64, key: Key) -> Word:
    """The 64-bit hash of some words, shape (n,), taken as 8 n little-endian bytes."""
    a, b, c, d = _start(key)
    for i in range(len(words) + 1):
        word = words[i] if i < len(words) else np.uint64(8 * len(words) % 256) << np.uint64(56)
        a, b, c, d = _rounds(a, b, c, np.uint64(d ^ word), 2)
        a = np.uint64(a ^ word)
    a, b, c, d = _rounds(a, b, np.uint64(c ^ np.uint64(0xFF)), d, 4)
    return np.uint64(a ^ b ^ c ^ d)


@njit(nogil=True)
def hashes_of(words: UInt64, key: Key = PUBLIC_KEY) -> UInt64:
    """The hash of each row of words, shape (rows,)."""
    result = np.empty(len(words), dtype=np.uint64)
    for row in range(len(words)):
        result[row] = siphash(words[row], key)
    return result


@njit(nogil=True)
def _siphash_bytes(content: UInt8, key: Key) -> Word:
    a, b, c, d = _start(key)
    size = len(content)
    for first in range(0, size - size % 8 + 8, 8):
        word = np.uint64(0) if first + 8 <= size else np.uint64(size % 256) << np.uint64(56)
        for i in range(min(8, size - first)):
            word = np.uint64(word | (np.uint64(content[first + i]) << np.uint64(8 * i)))
        a, b, c, d = _rounds(a, b, c, np.uint64(d ^ word), 2)
        a = np.uint64(a ^ word)
    a, b, c, d = _rounds(a, b, np.uint64(c ^ np.uint64(0xFF)), d, 4)
    return np.uint64(a ^ b ^ c ^ d)


@njit(nogil=True)
def _hash_each(content: UInt8, offsets: Int64, wanted: Bool, key: Key, out: UInt64) -> None:
    for i in range(len(out)):
        if wanted[i]:
            out[i] = _siphash_bytes(content[offsets[i] : offsets[i + 1]], key)


def text_words(texts: Any, wanted: Bool, key: Key = PUBLIC_KEY) -> UInt64:
    """The hash of each wanted text of an Arrow array without nulls, else 0; shape (texts,)."""
    texts = pc.cast(texts, pa.large_string())
    words = np.zeros(len(texts), dtype=np.uint64)
    if texts.buffers()[2] is not None:
        content, ends = end_to_end(texts)
        _hash_each(content, ends, wanted, key, words)
    return words


def end_to_end(texts: Any) -> tuple[UInt8, Int64]:
    """The bytes of some texts of Arrow, and where each of them begins and the last one ends."""
    texts = pc.cast(texts, pa.large_string())
    _, offsets, content = texts.buffers()
    if not len(texts):
        return np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return np.zeros(0, dtype=np.uint8) if content is None else np.frombuffer(content, dtype=np.uint8), ends


# --- MD5 of short messages
#
# It is a fixed public function that databases compute too. It need not resist attacks here. It orders the rows of one
# person, who could choose those rows anyway.
#
# Source: Rivest, The MD5 message-digest algorithm, RFC 1321, 1992.

BLOCK_BYTES = 64
_LENGTH_BYTES = 8
_WORD = np.uint64(0xFFFFFFFF)
_SINES = np.array([int(abs(math.sin(step + 1)) * 2**32) for step in range(64)], dtype=np.uint64)
_SHIFTS = np.array([[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]], dtype=np.uint64)


def buffer_bytes(longest: int) -> int:
    """Size of a buffer for messages of at most so many bytes, with their padding."""
    return (longest + _LENGTH_BYTES) // BLOCK_BYTES * BLOCK_BYTES + BLOCK_BYTES


@njit(nogil=True)
def _mixed(block: UInt8, state: UInt64) -> None:
    """Add one block of 64 bytes to the state of four words, in place."""
    a, b, c, d = state[0], state[1], state[2], state[3]
    for step in range(64):
        turn = step // 16
        if turn == 0:
            f, place = (b & c) | (~b & d), step
        elif turn == 1:
            f, place = (d & b) | (~d & c), (5 * step + 1) % 16
        elif turn == 2:
            f, place = b ^ c ^ d, (3 * step + 5) % 16
        else:
            f, place = c ^ (b | (~d & _WORD)), (7 * step) % 16
        word = np.uint64(0)
        for byte in range(4):
            word |= np.uint64(block[4 * place + byte]) << np.uint64(8 * byte)
        f = (f + a + _SINES[step] + word) & _WORD
        shift = _SHIFTS[turn, step % 4]
        a, d, c = d, c, b
        b = (b + ((f << shift) | (f >> (np.uint64(32) - shift)))) & _WORD
    state[0] = (state[0] + a) & _WORD
    state[1] = (state[1] + b) & _WORD
    state[2] = (state[2] + c) & _WORD
    state[3] = (state[3] + d) & _WORD


@njit(nogil=True)
def first_half(buffer: UInt8, size: int, state: UInt64) -> np.uint64:
    """The first 64 bits of a digest, in the order in which its hexadecimal digits are written.

    `buffer`: The message, with room for its padding, which is written behind it: `buffer_bytes`.
    """
    state[0], state[1] = np.uint64(0x67452301), np.uint64(0xEFCDAB89)
    state[2], state[3] = np.uint64(0x98BADCFE), np.uint64(0x10325476)
    end = (size + _LENGTH_BYTES) // BLOCK_BYTES * BLOCK_BYTES + BLOCK_BYTES
    buffer[size] = 0x80
    for place in range(size + 1, end):
        buffer[place] = 0
    for byte in range(_LENGTH_BYTES):
        buffer[end - _LENGTH_BYTES + byte] = ((8 * size) >> (8 * byte)) & 0xFF
    for start in range(0, end, BLOCK_BYTES):
        _mixed(buffer[start : start + BLOCK_BYTES], state)
    result = np.uint64(0)
    for word in range(2):
        for byte in range(4):
            result = (result << np.uint64(8)) | ((state[word] >> np.uint64(8 * byte)) & np.uint64(0xFF))
    return np.uint64(result)


@njit(nogil=True)
def write_whole(buffer: UInt8, size: int, number: int) -> int:
    """Write the decimal digits of a whole number above -2^63 behind so many bytes; the size with them."""
    if number < 0:
        buffer[size] = 45
        size += 1
        number = -number
    digits, rest = 1, number // 10
    while rest:
        digits += 1
        rest //= 10
    for place in range(size + digits - 1, size - 1, -1):
        buffer[place] = 48 + number % 10
        number //= 10
    return size + digits


@njit(nogil=True)
def write_text(buffer: UInt8, size: int, content: UInt8, ends: Int64, number: int) -> int:
    """Write one of several texts, which lie end to end, behind so many bytes; the size with it."""
    for place in range(ends[number], ends[number + 1]):
        buffer[size] = content[place]
        size += 1
    return size


# --- The names of persons

MAX_DIGITS = 18
_LIMIT = 10**MAX_DIGITS
_IS_WHOLE, _IS_TEXT, _UNCLEAR = 0, 1, 2
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-][0-9]{2,3})?")


class Persons(NamedTuple):
    """Whose rows they are.

    Fields:
        codes: For each row the number of its person, shape (rows,).
        numbers: Names of the first persons, whole numbers, shape (m,).
    """

    codes: Int64
    numbers: Int64
    texts: Any

    @property
    def number(self) -> int:
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
    """Refuse a column that cannot name persons."""
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
    """

    numbers: Int64
    is_text: Bool
    texts: Any

    @staticmethod
    def joined(parts: Sequence[Names]) -> Names:
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
        result = hashes_of(self.numbers.view(np.uint64)[:, None])
        if len(self.texts):
            result[self.is_text] = text_words(self.texts, np.ones(len(self.texts), dtype=np.bool_))
        return result

    def persons(self) -> Persons:
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
    """Reads a person column batch by batch."""

    def __init__(self, column: str, arrow_type: Any, nobody: Set[str] = USUAL.folded) -> None:
        check_person_type(column, arrow_type)
        self._column = column
        self._nobody = pa.array(sorted(nobody), pa.large_string())
        self._added: list[Names] = []

    def add(self, array: Any) -> None:
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
        self._added.append(Names(np.where(small, numbers, 0).astype(np.int64), ~small, texts))

    def _add_text(self, array: Any) -> None:
        array = pc.utf8_trim(array, BLANKS)
        if pc.any(pc.is_in(pc.utf8_lower(array), value_set=self._nobody)).as_py():
            raise DataError(missing_person(self._column))
        content, ends = end_to_end(array)
        numbers = np.zeros(len(array), dtype=np.int64)
        kinds = np.empty(len(array), dtype=np.uint8)
        _read_whole(content, ends, numbers, kinds)
        is_text = kinds != _IS_WHOLE
        unclear = np.flatnonzero(kinds == _UNCLEAR)
        if not len(unclear):
            self._added.append(Names(numbers, is_text, array.filter(pa.array(is_text))))
            return
        names = {int(row): _canonical_name(array[int(row)].as_py()) for row in unclear}
        for row, name in names.items():
            if isinstance(name, int):
                numbers[row], is_text[row] = name, False
        texts = [names.get(int(row), array[int(row)].as_py()) for row in np.flatnonzero(is_text)]
        self._added.append(Names(numbers, is_text, pa.array(texts, pa.large_string())))

    def names(self) -> Names:
        """Who is named in each row that was added since the last call."""
        result = Names.joined(self._added)
        self._added = []
        return result

    def finish(self) -> Persons:
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
    """The place of each value among the different ones, and these."""
    encoded = pc.dictionary_encode(array)
    return encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary


def _name(number: float) -> str:
    """The canonical text of a number that is not whole, or large."""
    text = str(_canonical_name(repr(number)))
    return str(int(number)) if isinstance(number, float) and number.is_integer() else text


def _canonical_name(text: str) -> int | str:
    """The small whole number that a text writes, or the text, a decimal number without needless digits."""
    if not _DECIMAL.fullmatch(text):
        return text
    with decimal.localcontext(prec=max(decimal.getcontext().prec, len(text))):
        value = decimal.Decimal(text).normalize()
    if value == value.to_integral_value() and abs(value) < _LIMIT:
        return int(value)
    return format(value, "f")


def missing_person(column: str) -> str:
    """The refusal of rows without an identifier."""
    return (
        f"person column {quoted(column)} has missing values, or words for them such as NA; every row needs an "
        f"identifier, so leave the others out with {where_known(column)}; in a table whose columns have declared "
        "types, say as well which words mean a missing value"
    )


def are_named(names: Any, words: MissingWords) -> Bool:
    """Which rows have a person, shape (rows,)."""
    result = without_named(names, words)
    if is_text(result.type):
        result = without_words(result, words.folded)
    has: Bool = np.asarray(pc.invert(result.is_null(nan_is_null=True)).to_numpy(zero_copy_only=False), dtype=np.bool_)
    return has


def named_rows(names: Any, words: MissingWords) -> Any:
    """The names of some rows that are not missing."""
    return names.filter(pa.array(are_named(names, words)))


# --- Persons as keyed hashes: enough of them to see whether two tables are about the same people
#
# A person is hashed under its name as above, less what gets lost on the way from one table
# to the next: letter case, spaces around a name, leading zeros, and the ways in which Unicode writes one letter. So
# 5, 5.0, "5", "005" and " 5" are one person here, though two rows of a table that differ in that are of two persons.
# Two persons who are taken for one here make two tables look a little more alike, and nothing else.

KEY_BYTES = 32


def smallest_hashes(source: Source, person: str, *, key: bytes, count: int, missing: MissingWords = USUAL) -> UInt64:
    """The smallest keyed hashes of all persons of a table: a random sample of them, and the same of the same persons.

    `source`: The table; read in one pass, with bounded memory. `key`: 32 bytes: one key of SipHash-2-4 for numbers and
    one for texts. Who lacks it learns nothing from a hash. `missing`: What says that a person is missing; rows without
    one are left out.

    Returns:
        Sorted, all different, shape (min(count, persons),).
    """
    words = np.frombuffer(key, "<u8")
    for_numbers, for_texts = (words[0], words[1]), (words[2], words[3])
    result = np.empty(0, dtype=np.uint64)
    for (names,) in source.batches((person,), identifiers={person}):
        persons = _without_writing(_persons(person, source.type(person), named_rows(names, missing)))
        numbers = hashes_of(persons.numbers.view(np.uint64)[:, None], for_numbers)
        texts = text_words(persons.texts, np.ones(len(persons.texts), dtype=np.bool_), for_texts)
        hashes = np.concatenate([result, numbers, texts])
        if len(result) == count:
            hashes = hashes[hashes <= result[-1]]
        hashes.sort()
        result = hashes[np.diff(hashes, prepend=~hashes[:1]) != 0][:count]
    return result


def _persons(column: str, arrow_type: Any, names: Any, nobody: Set[str] = USUAL.folded) -> Persons:
    codes = PersonCodes(column, arrow_type, nobody)
    codes.add(names)
    return codes.finish()


def _without_writing(persons: Persons) -> Persons:
    """Persons of whom those are one who differ only in how a text is written."""
    if not len(persons.texts):
        return persons
    texts = pc.utf8_trim_whitespace(pc.utf8_lower(pc.utf8_normalize(persons.texts, form="NFKC")))
    texts = pc.replace_substring_regex(texts, pattern="^0+([0-9])", replacement=r"\1")
    changed = pc.not_equal(texts, persons.texts)
    rewritten = texts.filter(pc.and_(changed, pc.not_equal(texts, "")))
    if not len(rewritten):
        return persons
    # what is left of a text may write a number
    written = _persons("", pa.large_string(), rewritten, frozenset())
    same = persons.texts.filter(pc.invert(changed))
    return Persons(
        persons.codes, np.concatenate([persons.numbers, written.numbers]), pa.concat_arrays([same, written.texts])
    )
