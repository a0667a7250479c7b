"""Forms of the thresholds of a curve, and of the method by which it is released."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogive.cli.forms.base import Form, Words
from ogive.cli.forms.methods import CurveMethodOptions, OwnerMethodOptions, method_of
from ogive.errors import DataError, ParameterError, plain, quoted

if TYPE_CHECKING:
    from ogive.grids import Bound, Grid


def _grid(words: Words) -> Grid | str:
    """A kind of grid, or the thresholds that were written or are in a file.

    Raises:
        ParameterError, DataError: the thresholds cannot be read.
    """
    from ogive.grids import GRIDS, Grid

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
    from ogive.grids import Grid

    try:
        Grid.explicit([text])
    except ParameterError:
        return False
    return True


def _thresholds_in(path: Path) -> list[str]:
    """Thresholds from a text file, separated by white space or commas."""
    from ogive.grids import GRIDS

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


def _method(words: Words) -> Any:
    (options,) = words.parts
    return method_of(words.said or "auto", options.given(), options.owners)


_METHOD = Form(
    lambda default: str | None,
    _method,
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
        _grid,
        "linear, geometric, integers, hours, days, weeks, months, or thresholds (themselves, or a file of them).",
        several=True,
    ),
    "Method": _METHOD,
    "QuantileMethod": _METHOD,
}
