"""Forms of thresholds and methods, of curves and of statistics of pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from cyclopts import Group, Parameter

from ogive.cli.data import whole
from ogive.cli.forms.base import Form, Words, default_shown, described, option_type
from ogive.cli.forms.plain import PLAIN, form_among, group_of
from ogive.cli.help import OF_METHODS, OF_PAIRS, OF_TREES
from ogive.core.parameters import choices_of
from ogive.errors import DataError, ParameterError, plain, quoted

if TYPE_CHECKING:
    from ogive.columns.grids import Bound, Grid


class Given:
    """A group of options of methods; None stands for one that is not given."""

    def given(self) -> dict[str, Any]:
        """The options that are given."""
        return {name: value for name, value in vars(self).items() if value is not None}


def options_of(method: Any, forms: Mapping[str, Form], *, title: str, heading: Group) -> Any:
    """The group of options that the fields of a method are.

    Args:
        method: The dataclass of the method.
        forms: How words become values, by the types of fields.
        title: Name of the group.
        heading: Under which it stands.
    """
    fields = {field.name: field for field in dataclasses.fields(method)}
    reading = {each: form_among(forms, field) for each, field in fields.items()}
    texts = described(method)

    class MethodOptions(Given):
        name, owners = title, dict.fromkeys(fields, method.name)

        def given(self) -> dict[str, Any]:
            said = super().given()
            return {each: reading[each].read(Words(each, value, said)) for each, value in said.items()}

    MethodOptions.__annotations__ = {
        each: option_type(
            reading[each],
            field.default,
            name=each,
            help=texts[each],
            group=heading,
            shown=default_shown(reading[each], field.default),
            words=choices_of(field),
        )
        for each, field in fields.items()
    }
    for each in fields:
        setattr(MethodOptions, each, None)
    return Parameter(name="*")(dataclass(frozen=True, kw_only=True)(MethodOptions))


@Parameter(name="*", group=OF_METHODS)
@dataclass(frozen=True, kw_only=True)
class OwnerMethodOptions(Given):
    """What owners' reports of a curve leave open."""

    name: ClassVar[str] = "method_options"
    owners: ClassVar[Mapping[str, str]] = {"groups": "histogram"}

    groups: Annotated[int | None, Parameter(converter=whole)] = None
    """Number of groups of a histogram; 30 by default."""


@Parameter(name="*", group=OF_METHODS)
@dataclass(frozen=True, kw_only=True)
class CurveMethodOptions(Given):
    """What methods of curves leave open."""

    name: ClassVar[str] = "method_options"
    owners: ClassVar[Mapping[str, str]] = {
        "degree": "projection",
        "basis": "projection",
        "groups": "histogram",
        "rounds": "adaptive",
        "share": "selected",
    }

    degree: Annotated[int | None, Parameter(converter=whole)] = None
    """Degree of a projection; chosen for the guarantee and the number of records by default."""

    basis: Literal["legendre", "sine", "cosine", "splines"] | None = None
    """Functions of a projection; legendre by default."""

    groups: Annotated[int | None, Parameter(converter=whole)] = None
    """Number of groups of a histogram; 30 by default."""

    rounds: Annotated[int | None, Parameter(converter=whole)] = None
    """Thresholds that adaptive asks for; chosen for the guarantee and the number of records by default."""

    share: str | None = None
    """Share of the budget that selected spends on choosing; 0.1 by default."""


def method_of(method: str, given: Mapping[str, Any], owners: Mapping[str, str]) -> Any:
    """A method with the options that were given for it; its name where there are none.

    Args:
        method: Its name.
        given: Options by name.
        owners: Which method each option is for.

    Raises:
        ParameterError: an option is for another method, or out of range.
    """
    for name in given:
        if method != owners[name]:
            raise ParameterError(f"--{name} requires --method {owners[name]}, got {method}")
    if not given:
        return method
    from ogive.statistics.methods.choose import CURVE_METHODS
    from ogive.statistics.ustatistic.pairs import Paired
    from ogive.statistics.ustatistic.reports import HierarchyAuc

    of_pairs: dict[str, Any] = {kind.name: kind for kind in (HierarchyAuc, Paired)}
    kind: Any = of_pairs[method] if method in of_pairs else type(CURVE_METHODS[method])
    return kind(**given)


# --- Thresholds and methods of curves


def _grid_of_curve(words: Words) -> Grid | str:
    """A kind of grid, or the thresholds that were written or are in a file.

    Raises:
        ParameterError, DataError: the thresholds cannot be read.
    """
    from ogive.columns.grids import GRIDS, Grid

    said: tuple[str, ...] = words.said
    if len(said) == 1 and said[0] in GRIDS:
        grid: Grid | str = said[0]
    else:
        written: list[Bound] = list(said)
        if len(said) == 1 and not _is_threshold(said[0]):
            written = list(_thresholds_in(Path(said[0])))
        grid = Grid.explicit(written)
    if "bins" in words.others and grid not in ("linear", "geometric"):
        raise ParameterError("--bins is for linear and geometric grids; other grids have their own bins")
    return grid


def _is_threshold(text: str) -> bool:
    from ogive.columns.grids import Grid

    try:
        Grid.explicit([text])
    except ParameterError:
        return False
    return True


def _thresholds_in(path: Path) -> list[str]:
    """Thresholds from a text file, separated by white space or commas."""
    from ogive.columns.grids import GRIDS

    if not path.is_file():
        raise ParameterError(
            f"--grid must be {', '.join(GRIDS)}, thresholds or a file of thresholds, got {quoted(str(path))}"
        )
    try:
        return path.read_text(encoding="utf-8").replace(",", " ").split()
    except (OSError, UnicodeDecodeError):
        raise DataError(
            f"the thresholds in {plain(path)} cannot be read; write numbers or ISO dates, one per line"
        ) from None


def _method_of_curve(words: Words) -> Any:
    (options,) = words.parts
    return method_of(words.said or "auto", options.given(), options.owners)


_METHOD = Form(
    lambda default: str | None,
    _method_of_curve,
    "auto, path, tree_ls, hat_ls, sqrt, symmetric, ring, projection, histogram, adaptive or selected; under trust "
    "local: reports or histogram. auto has the smallest predicted error, chosen from public information only; the next "
    "six are unbiased, the others approximate the curve from few measurements.",
    parts=lambda: (CurveMethodOptions,),
    owner_parts=lambda: (OwnerMethodOptions,),
)

CURVES = {
    "tuple[Bound, Bound] | None": Form(
        lambda default: tuple[str, str] | None,
        help="Smallest and largest possible value, public; numbers or ISO dates. Values outside are clipped.",
    ),
    "Grid | GridName": Form(
        lambda default: tuple[str, ...],
        _grid_of_curve,
        "linear, geometric, integers, hours, days, weeks, months, or thresholds (themselves, or a file of them).",
        several=True,
    ),
    "Method": _METHOD,
    "QuantileMethod": _METHOD,
}


# --- Statistics of pairs


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


def _grids_of_pairs(words: Words) -> Any:
    from ogive.columns.grids import GRIDS

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


def _method_of_pairs(words: Words) -> Any:
    given = {name: value for part in words.parts for name, value in part.given().items()}
    owners = {name: owner for part in words.parts for name, owner in part.owners.items()}
    method = words.said or "auto"
    wanted = {owners[name] for name in given}
    if method == "auto" and wanted == {_PAIRED}:
        method = _PAIRED  # no other method has these options
    return method_of(method, given, owners)


def _trees() -> Any:
    """Options of an AUC from trees."""
    from ogive.statistics.ustatistic.reports import HierarchyAuc

    return options_of(HierarchyAuc, _OF_METHODS, title="tree_options", heading=OF_TREES)


def _pairing() -> Any:
    """Options of pairs of people."""
    from ogive.statistics.ustatistic.pairs import Paired

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
        _grids_of_pairs, "linear, geometric, integers, hours, days, weeks or months, for all columns or one for each."
    ),
    "CategoriesOfEach": _several(
        _categories,
        "All values of columns that are no numbers, public: a list for all columns, or COLUMN=A,B,C for some.",
    ),
    "UstatisticMethod | ByHand": Form(
        lambda default: str | None,
        _method_of_pairs,
        parts=lambda: (_trees(), _pairing()),
        owner_parts=lambda: (_trees(),),
    ),
}
