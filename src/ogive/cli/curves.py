"""`ogive compare`, `ogive merge` and `ogive combine`: releases beside others or records, and made one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ogive.cli.data import as_written, data_file, in_file
from ogive.cli.options import TABLE, OutputOptions, Plot, Words
from ogive.cli.output import check_outputs, draw, write_out, write_result
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.provenance import publishable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ogive.columns.grids import Grid
    from ogive.statistics.curve.distances import Distances
    from ogive.statistics.curve.estimate import Curve

# --- `ogive compare`

SCHEMA = "ogive.comparison/1"
_THRESHOLDS = 1 << 20


def compare(
    first: Path,
    *others: Annotated[Path, Parameter(converter=data_file)],
    column: str | None = None,
    missing: str = "refuse",
    na: Words = (),
    between: str | None = None,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Compare released distribution functions with each other, or with records: KS, Earth Mover's and energy distance.

    Distances to records are not private: they are for those who may see the records.

    Args:
        first: A release as JSON, as ogive ecdf writes it.
        others: What it is compared with: releases (.json), or files of records (CSV, Parquet, Arrow, or
            dataset:bank, which comes with ogive).
        column: Which column of the records; by default the one that was released.
        missing: What a missing value in records means: refuse, drop, low or high for the end it counts at, or the
            value that it counts as.
        na: Words and numbers that say that a value in records is missing, beside the usual ones such as NA.
        between: What a curve does between its thresholds: lines or steps; by default steps on whole numbers and dates.
        output: Where the result goes.
        plot: A picture of quantiles of the first against those of the other, where there is one other.
    """
    if not others:
        raise ParameterError("name a second curve, for example: ogive compare curve.json other.json")
    if plot is not None and len(others) > 1:
        raise ParameterError("--plot draws one curve against one other; name one")
    check_outputs(None, output.output, plot=plot, keep=[first, *others])

    curve = _curve_in(first)
    compared = [_curve_in(path) if _is_release(path) else _exact(path, curve, column, missing, na) for path in others]
    public = publishable(*(each.provenance for each in (curve, *compared)))
    results = []
    for path, other in zip(others, compared, strict=True):
        try:
            gap = _gap(curve, other, between) if _is_release(path) else _stray(curve, other, between)
            results.append((path, gap))
        except ParameterError as problem:
            raise problem.prefixed(path) from None
    for path in others:
        if not _is_release(path):
            print(f"{as_written(str(path))} holds records: distances to it are not private", file=sys.stderr)
    for path, each in ((first, curve), *zip(others, compared, strict=True)):
        if _is_release(path) and not publishable(each.provenance):
            print(f"{path} was made without privacy: distances to it are not private", file=sys.stderr)
    write_out(lambda: _json(first, results), lambda: _table(first, results), output, public=public)
    if plot is not None:
        draw(lambda axes: curve.plot_qq(compared[0], axes, name=others[0].name), plot)


def _is_release(path: Path) -> bool:
    return path.suffix.lower() == ".json"


def _curve_in(path: Path) -> Curve:
    """A released curve of a JSON file; errors name the file."""
    from ogive.statistics.curve.estimate import Curve

    with in_file(path):
        return Curve.from_json(path)


def _exact(path: Path, curve: Curve, column: str | None, missing: str, na: Sequence[str]) -> Curve:
    """The exact curve of records, within the bounds of a released one and on many more thresholds."""
    from ogive.columns import Binning
    from ogive.records import Records
    from ogive.records.contributions import DROP_TOO, LOW_OR_HIGH
    from ogive.statistics.curve.estimate import Curve

    name, grid = curve.column if column is None else column, _refined(curve.grid)
    try:
        counts = Records.of(path, na_values=na).histogram(Binning(name, grid, missing))
    except DataError as problem:
        # distances have no adjacency, so missing values may always be left out
        raise DataError(problem.marked.replace(DROP_TOO, f"{LOW_OR_HIGH}, or `'drop'`")) from None
    exact = counts.cumsum().astype(float)
    return Curve(grid, exact, exact, None, curve.adjacency, int(exact[-1]), "none", name)


def _refined(grid: Grid) -> Grid:
    """Thresholds so close that what lies between two of them does not matter; all of the grid's are among them."""
    import numpy as np

    from ogive.columns.grids import Grid

    low, high = grid.label(grid.low), grid.label(grid.high)
    parts = max(1, _THRESHOLDS // grid.bins)
    try:
        match grid.kind:
            case "linear" if grid.unit == "date":
                return Grid.integers(low, high)
            case "linear":
                return Grid.linear(low, high, bins=grid.bins * parts)
            case "geometric":
                return Grid.geometric(low, high, bins=grid.bins * parts)
            case "explicit" if grid.unit == "number" and grid.bins > 1:
                places = np.arange((grid.bins - 1) * parts + 1) / parts
                between = np.interp(places, np.arange(grid.bins), grid.thresholds)
                return Grid.explicit(np.unique(between).tolist(), low=grid.low)
    except ParameterError:
        pass  # floating point or the calendar tells no more apart
    return grid


def _gap(curve: Curve, other: Curve, between: str | None) -> Distances:
    """How far two releases lie apart, and their populations, where bands are known of both."""
    from ogive.statistics.curve.distances import distances

    try:
        return distances(curve, other, between=between, confidence_level=0.95)
    except UnsupportedError:
        return distances(curve, other, between=between)


def _stray(curve: Curve, exact: Curve, between: str | None) -> Distances:
    """How far a release is from records, whose curve is a staircase."""
    from ogive.statistics.curve.distances import axis_of, compare, form

    axis = axis_of(curve, exact, None)
    return compare(form(curve, axis, between), form(exact, axis, "steps"), unit=axis.unit)


def _json(first: Path, result: list[tuple[Path, Distances]]) -> str:
    compared = [{"with": as_written(str(path)), **distances.to_dict()} for path, distances in result]
    return json.dumps({"schema": SCHEMA, "curve": str(first), "compared": compared}, indent=1)


def _table(first: Path, result: list[tuple[Path, Distances]]) -> str:
    names = [as_written(str(path)) for path, _ in result]
    width = max(map(len, names))
    lines = [f"{first} compared with"]
    for name, (_, distances) in zip(names, result, strict=True):
        lines.append(f"  {name:<{width}}  " + str(distances).replace("\n", f"\n  {'':<{width}}  "))
    return "\n".join(lines)


# --- `ogive merge`


def merge(
    *files: Path,
    weights: Annotated[tuple[str, ...] | None, Parameter(consume_multiple=True)] = None,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Add up released curves of different people, such as those of sites or months; no records are read.

    Args:
        files: Two or more releases as JSON, as ogive ecdf writes them; each person is in one of them only.
        weights: Shares of the curves in a mixture, where they shall not count by their numbers of records.
        output: Where the result goes.
        plot: A picture of the curve and its band.
    """
    from ogive.statistics.curve.merging import merge as merge_curves

    check_outputs(None, output.output, plot=plot, keep=files)
    write_result(merge_curves(*map(_curve_in, files), weights=weights), output, plot=plot)


# --- `ogive combine`


def combine(*files: Path, output: OutputOptions = TABLE) -> None:
    """Combine releases of the same records: every number by all that was measured of it, at no cost; none is read.

    Counts, proportions, means, sums, histograms and cross tables are combined, also of groups and of descriptions.

    Args:
        files: Two or more releases as JSON, of the same records; what they state of these is compared.
        output: Where the result goes.
    """
    from ogive.statistics.combining import combine as combine_releases
    from ogive.statistics.kinds import read_estimate
    from ogive.statistics.plain_json import parse

    check_outputs(None, output.output, keep=files)
    releases = []
    for file in files:
        with in_file(file):
            releases.append(read_estimate(parse(file)))
    result = combine_releases(*releases)
    names = "\n".join(f"release {place}: {as_written(str(file))}" for place, file in enumerate(files, 1))
    write_out(result.to_json, lambda: f"{result}\n{names}", output, public=True)
