"""What Arrow arrays hold, and their values as numbers of a grid or as codes of labels.

Numbers of more than 53 bits are read as their nearest float64, times as microseconds (exact for the years 1685 to
2255).
"""

from __future__ import annotations

import contextlib
import datetime
import math
from collections.abc import Set
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ogive.arrays import Float64, Int64
from ogive.columns import LabelValue
from ogive.columns.values import BLANKS, TRUTH, trimmed
from ogive.grids import MICROSECONDS_PER_DAY
from ogive.records.labels import MISSING, LabelCodes
from ogive.records.missing_words import MissingWords

_EPOCH = datetime.date(1970, 1, 1)

TICKS_PER_DAY = {
    unit: 86_400 * per_second for unit, per_second in {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}.items()
}


def kind_of(arrow_type: Any) -> str | None:
    """The grid unit that fits an Arrow type: "number", "date" or "datetime"; None where nothing fits."""
    if pa.types.is_dictionary(arrow_type):
        return kind_of(arrow_type.value_type)
    if (
        pa.types.is_integer(arrow_type)
        or pa.types.is_floating(arrow_type)
        or pa.types.is_boolean(arrow_type)
        or pa.types.is_decimal(arrow_type)
    ):
        return "number"
    if pa.types.is_date(arrow_type):
        return "date"
    if pa.types.is_timestamp(arrow_type):
        return "datetime"
    return None


def type_words(arrow_type: Any) -> str:
    """What a column of this Arrow type holds, in words for an error message."""
    types = pa.types
    if types.is_dictionary(arrow_type):
        return type_words(arrow_type.value_type)
    match kind_of(arrow_type):
        case "number":
            return "numbers"
        case "date":
            return "dates"
        case "datetime":
            return "times"
    if types.is_null(arrow_type):
        return "no values at all"
    if types.is_string(arrow_type) or types.is_large_string(arrow_type) or types.is_string_view(arrow_type):
        return "text"
    return f"values of type {arrow_type}"


def content_kind(arrow_type: Any) -> str:
    """The same with truth values told from numbers."""
    if pa.types.is_dictionary(arrow_type):
        return content_kind(arrow_type.value_type)
    return "truth values" if pa.types.is_boolean(arrow_type) else type_words(arrow_type)


def float_values(array: Any, unit: str) -> Float64:
    """A column's values as numbers of a grid.

    Args:
        array: Arrow array of a type whose `kind_of` is `unit`, or of the other where they are "date" and "datetime".
        unit: The grid's unit.

    Returns:
        Float64, NaN where the value is missing; a view of the column where no conversion is needed.
    """
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_date(kind):
        days = _whole(array) if pa.types.is_date32(kind) else _whole(array) // 86_400_000
        return _with_missing(array, days.astype(np.float64) * (MICROSECONDS_PER_DAY if unit == "datetime" else 1))
    if pa.types.is_timestamp(kind):
        ticks = _whole(array)
        if unit == "date":
            return _with_missing(array, (ticks // TICKS_PER_DAY[kind.unit]).astype(np.float64))
        if kind.unit == "ns":
            return _with_missing(array, (ticks // 1000).astype(np.float64))
        return _with_missing(array, ticks.astype(np.float64) * {"s": 1e6, "ms": 1e3, "us": 1.0}[kind.unit])
    if pa.types.is_decimal(kind):
        # by way of text, the only conversion that rounds to the nearest float
        array = pc.cast(array, pa.string())
    elif pa.types.is_boolean(kind):
        array = pc.cast(array, pa.uint8())
    return _floats(pc.cast(array, pa.float64(), safe=False))


def _floats(array: Any) -> Float64:
    """Arrow's floats as numpy's, NaN where one is missing; its own conversion would import pandas."""
    if array.null_count:
        array = array.fill_null(math.nan)
    if not isinstance(array, pa.Array) or not len(array):
        return np.asarray(array.to_numpy(), dtype=np.float64)
    return np.frombuffer(array.buffers()[1], dtype=np.float64, count=len(array), offset=8 * array.offset)


def _whole(array: Any) -> Int64:
    """Dates and times as the integers that Arrow stores; what is missing is 0."""
    width = pa.int32() if pa.types.is_date32(array.type) else pa.int64()
    whole: Int64 = array.view(width).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return whole


def _with_missing(array: Any, floats: Float64) -> Float64:
    if array.null_count:
        floats[array.is_null().to_numpy(zero_copy_only=False)] = np.nan
    return floats


def label_codes(array: Any, labels: LabelCodes) -> Int64:
    """The code of each label of an array, which indexes `labels.values`; null and NaN are `MISSING`."""
    encoded = array if pa.types.is_dictionary(array.type) else pc.dictionary_encode(array)
    indices = encoded.indices
    numbers = [labels.code(value) for value in encoded.dictionary.to_pylist()]
    if indices.null_count:
        indices = pc.fill_null(indices, len(numbers))
    places = indices.to_numpy(zero_copy_only=False)
    codes: Int64 = np.array([*numbers, MISSING], dtype=np.int64)[places]
    return codes


def as_truth(value: LabelValue, kind: Any) -> LabelValue:
    """A value that a column is compared with: of a column of truth values the texts TRUE and FALSE are these."""
    return TRUTH.get(trimmed(value), value) if content_kind(kind) == "truth values" else value


def compared_number(value: LabelValue, unit: str) -> float:
    """The number of a grid that a value is compared as: days or microseconds of dates and times."""
    if unit == "number":
        return float(value)
    text = trimmed(str(value))
    if unit == "date":
        return float((datetime.date.fromisoformat(text) - _EPOCH).days)
    moment = datetime.datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    since = moment - datetime.datetime(1970, 1, 1)
    return float(since.days * MICROSECONDS_PER_DAY + since.seconds * 1_000_000 + since.microseconds)


def without_named(array: Any, words: MissingWords) -> Any:
    """Cells that are null where a named word, number or date says that they are missing."""
    if not words.named or pa.types.is_null(array.type) or content_kind(array.type) == "truth values":
        return array
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    unit = kind_of(kind)
    if pa.types.is_integer(kind):  # exact, where floats would take numbers beyond 2^53 for their neighbors
        least, most = (int(np.iinfo(kind.to_pandas_dtype()).min), int(np.iinfo(kind.to_pandas_dtype()).max))
        marked = pc.is_in(array, value_set=pa.array([n for n in words.whole_numbers if least <= n <= most], kind))
    elif unit is not None:
        marked = pa.array(np.isin(float_values(array, unit), named_numbers(words, unit)))
    elif type_words(kind) == "text":
        return without_words(array, words.texts)
    else:
        return array
    return pc.if_else(marked, pa.scalar(None, kind), array) if pc.any(marked).as_py() else array


def without_words(array: Any, words: Set[str]) -> Any:
    """Texts that are null where they are one of some words, which are in small letters and without blanks around."""
    array = (array.dictionary_decode() if pa.types.is_dictionary(array.type) else array).cast(pa.large_string())
    folded = pc.utf8_lower(pc.utf8_trim(array, BLANKS))
    folded = pc.replace_substring_regex(folded, pattern=r"^(-?[0-9]+)\.0+$", replacement=r"\1")  # 9.0 is 9
    marked = pc.is_in(folded, value_set=pa.array(sorted(words), folded.type))
    return pc.if_else(marked, pa.scalar(None, array.type), array) if pc.any(marked).as_py() else array


def is_named(value: LabelValue, words: MissingWords) -> bool:
    """Whether a declared value is one of the named words and numbers."""
    if isinstance(value, bool | str):
        return words.names(value)
    return value in words.whole_numbers if value == value // 1 else value in named_numbers(words, "number")


def named_numbers(words: MissingWords, unit: str) -> list[float]:
    """The named words that write a number of a grid's unit."""
    found = []
    for word in words.named:
        with contextlib.suppress(ValueError, OverflowError):
            found.append(compared_number(word, unit))
    return found
