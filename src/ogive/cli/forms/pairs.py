"""Forms of what statistics of pairs take: columns, one value for all columns or one for each, and their methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ogive.cli.forms.base import Form, Words
from ogive.cli.forms.methods import method_of, options_of
from ogive.cli.forms.plain import PLAIN, group_of
from ogive.cli.help import OF_PAIRS, OF_TREES
from ogive.errors import ParameterError, quoted


def _bounds(words: Words) -> Any:
    said: tuple[str, ...] = words.said
    pairs = tuple(zip(said[::2], said[1::2], strict=False))
    columns = words.others.get("columns", ())
    apart = " ".join(said).replace(",", " ").split()
    if len(said) % 2 or len(pairs) > max(1, len(columns)) or len(apart) > len(said):
        advice = f"; write --bounds {' '.join(apart)}" if len(apart) == 2 * max(1, len(columns)) else ""
        raise ParameterError(f"--bounds must be two values, or two for each column, got {len(said)}{advice}")
    return pairs[0] if len(pairs) == 1 else dict(zip(columns, pairs, strict=False))


def _bins(words: Words) -> Any:
    return _one(tuple(map(_number_of_bins, words.said)))


def _number_of_bins(word: str) -> int | str:
    if word == "auto":
        return word
    try:
        return int(word)
    except ValueError:
        raise ParameterError(f"--bins must be auto or whole numbers, got {quoted(word)}") from None


def _grid(words: Words) -> Any:
    from ogive.grids import GRIDS

    for grid in words.said:
        if grid not in GRIDS:
            raise ParameterError(f"--grid must be {', '.join(GRIDS)}, got {quoted(grid)}")
    return _one(words.said)


def _one(values: Sequence[Any]) -> Any:
    """A single value for all columns, or a value for each."""
    return values[0] if len(values) == 1 else tuple(values)


def _categories(words: Words) -> Any:
    said, columns = words.said, words.others.get("columns", ())
    named = [word for word in said if word.partition("=")[0] in columns and "=" in word]
    if not named:
        return tuple(map(group_of, said))
    if len(named) < len(said):
        raise ParameterError("--categories must be one list for all columns, or COLUMN=A,B,C for each with some")
    return {word.partition("=")[0]: tuple(map(group_of, word.partition("=")[2].split(","))) for word in named}


def _method(words: Words) -> Any:
    given = {name: value for part in words.parts for name, value in part.given().items()}
    owners = {name: owner for part in words.parts for name, owner in part.owners.items()}
    method = words.said or "auto"
    wanted = {owners[name] for name in given}
    if method == "auto" and wanted == {_PAIRED}:
        method = _PAIRED  # no other method has these options
    return method_of(method, given, owners)


def _trees() -> Any:
    """Options of an AUC from trees."""
    from ogive.statistics.ustatistic.reports.trees.options import HierarchyAuc

    return options_of(HierarchyAuc, _OF_METHODS, title="tree_options", heading=OF_TREES)


def _pairing() -> Any:
    """Options of pairs of people."""
    from ogive.statistics.ustatistic.pairs.options import Paired

    return options_of(Paired, _OF_METHODS, title="pairing_options", heading=OF_PAIRS)


def _several(read: Any, help: str = "") -> Form:
    return Form(lambda default: tuple[str, ...], read, help=help, several=True)


_PAIRED = "paired"
_DISCARDED: dict[str, str | bool] = {"auto": "auto", "yes": True, "no": False}

_OF_METHODS = PLAIN | {
    "Literal['auto'] | bool": Form(
        lambda default: Literal[tuple(_DISCARDED)] | None, lambda words: _DISCARDED[words.said]
    ),
}
"""Forms of the fields of methods."""

PAIRS = {
    "Columns": _several(lambda words: words.said),
    "BoundsOfEach": _several(
        _bounds, "Smallest and largest possible value, public: two numbers or dates for all columns, or two for each."
    ),
    "BinsOfEach": _several(_bins),
    "GridOfEach": _several(
        _grid, "linear, geometric, integers, hours, days, weeks or months, for all columns or one for each."
    ),
    "CategoriesOfEach": _several(
        _categories,
        "All values of columns that are no numbers, public: a list for all columns, or COLUMN=A,B,C for some.",
    ),
    "UstatisticMethod | ByHand": Form(
        lambda default: str | None, _method, parts=lambda: (_trees(), _pairing()), owner_parts=lambda: (_trees(),)
    ),
}
