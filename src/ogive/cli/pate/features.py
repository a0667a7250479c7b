"""Columns of a file as numbers that teachers learn from; what they may hold is read off public rows alone.

Categories that were read off private rows would be in every model and in the shape of its inputs, and nobody counts
what they tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogive.arrays import Float64
from ogive.errors import DataError, plain, quoted

if TYPE_CHECKING:
    from ogive.records.sources import Source

MOST_CATEGORIES = 1000
"""Of one column: each is a feature of its own."""


@dataclass(frozen=True)
class Coding:
    """How columns become features.

    Fields:
        public: The file that it was read off.
        columns: Names and, of columns of text, all values of the public rows in order; None of columns of numbers.
    """

    public: Path
    columns: tuple[tuple[str, tuple[str, ...] | None], ...]

    @staticmethod
    def of(rows: Source, names: Sequence[str], path: Path) -> Coding:
        """What public rows say about columns.

        Args:
            rows: The public rows.
            names: Columns to learn from, in their order.
            path: The rows' file, to name in errors.

        Raises:
            DataError: a column is missing, or holds neither numbers nor text, or too many texts.
        """
        if not names:
            raise DataError("there are no columns of features beside the label")
        for name in names:
            if name not in rows.columns:
                raise DataError(f"{plain(path)} has no column {quoted(name)}, from which teachers learn")
        return Coding(path, tuple((name, _categories(rows, name, path)) for name in names))

    def features(self, rows: Source, path: Path) -> Float64:
        """Features of all rows, shape (rows, features): a number, or for each public text whether the value is it.

        Any other text, and none, is no public text: all zeros.

        Args:
            rows: Public or private rows.
            path: The rows' file, to name in errors.

        Raises:
            DataError: a column of numbers holds text, or a number is missing or infinite. Of a private file the line
                names the column alone.
        """
        import numpy as np

        names = [name for name, _ in self.columns]
        texts = {name for name, categories in self.columns if categories is not None}
        for name in names:
            if name not in texts and not _is_number(rows.type(name)):
                raise DataError(
                    f"column {quoted(name)} of {plain(path)} must hold numbers, as that of {plain(self.public)} does"
                )
        found: list[Float64] = []
        before = 0
        for arrays in rows.batches(names, identifiers=texts):
            parts = []
            for (name, categories), array in zip(self.columns, arrays, strict=True):
                part = _numbers(array) if categories is None else _one_of(array, categories)
                unusable = ~np.isfinite(part).all(axis=1)
                if unusable.any():
                    raise DataError(self._missing(name, path, before + int(np.argmax(unusable)) + 1))
                parts.append(part)
            found.append(np.concatenate(parts, axis=1))
            before += len(found[-1])
        return np.concatenate(found)

    def _missing(self, name: str, path: Path, row: int) -> str:
        where = f"no finite number in row {row}" if path == self.public else "rows without a finite number"
        return f"column {quoted(name)} of {plain(path)} has {where}; fill in what is missing first"


def _categories(rows: Source, name: str, path: Path) -> tuple[str, ...] | None:
    """All texts of a public column; None where it holds numbers."""
    from ogive.records.arrow import type_words

    kind = rows.type(name)
    if _is_number(kind):
        return None
    if not _is_text(kind):
        raise DataError(
            f"column {quoted(name)} of {plain(path)} holds {type_words(kind)}; teachers learn from numbers and text"
        )
    seen: set[str] = set()
    for (array,) in rows.batches((name,)):
        seen.update(value for value in _decoded(array).unique().to_pylist() if value)
        if len(seen) > MOST_CATEGORIES:
            raise DataError(
                f"column {quoted(name)} of {plain(path)} has more than {MOST_CATEGORIES} different texts, each of "
                "which would be a feature; leave it out of both files, or make groups of them"
            )
    if 2 * sum(map(_writes_a_number, seen)) > len(seen):
        raise DataError(
            f"column {quoted(name)} of {plain(path)} mixes numbers with text; leave out what is no number, or write "
            "codes as words"
        )
    if not seen:
        raise DataError(f"column {quoted(name)} of {plain(path)} holds nothing")
    return tuple(sorted(seen))


def _is_number(kind: Any) -> bool:
    from ogive.records.arrow import kind_of

    return kind_of(kind) == "number"


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return any(fits(kind) for fits in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _writes_a_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _decoded(array: Any) -> Any:
    import pyarrow as pa

    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _numbers(array: Any) -> Float64:
    from ogive.records.arrow import float_values

    return float_values(array, "number")[:, None]


def _one_of(array: Any, categories: tuple[str, ...]) -> Float64:
    """For every value and category whether it is that; shape (rows, categories)."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.cast(_decoded(array), pa.string())
    places = pc.fill_null(pc.index_in(texts, value_set=pa.array(categories, pa.string())), -1)
    return np.asarray(places.to_numpy(zero_copy_only=False)[:, None] == np.arange(len(categories)), dtype=np.float64)
