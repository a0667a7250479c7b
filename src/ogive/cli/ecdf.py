"""`ogive ecdf`: a whole distribution function."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ogive.cli.options import NOTHING_GRANTED, TABLE, MeasureOptions, OutputOptions, PrivacyOptions
from ogive.cli.output import busy, check_outputs, publish
from ogive.errors import ParameterError
from ogive.files import write_atomically

if TYPE_CHECKING:
    from ogive.statistics.curve import Curve

PICTURES = (".png", ".svg")


def ecdf(
    data: Path,
    /,
    *,
    method: str = "auto",
    smooth: str = "auto",
    measure: MeasureOptions,
    granted: PrivacyOptions = NOTHING_GRANTED,
    output: OutputOptions = TABLE,
    plot: Annotated[Path | None, Parameter(group="Output")] = None,
) -> None:
    """Release the whole distribution function of one column.

    Args:
        data: A CSV, TSV (gzipped or not), Parquet or Arrow file.
        method: auto (smallest predicted error), path, tree_ls, hat_ls or sqrt.
        smooth: auto, shrinkage, least_squares, least_absolute or isotonic.
        measure: Column, thresholds and missing values.
        granted: Privacy, adjacency and trust.
        output: Where the result goes.
        plot: Draw the curve and its band into this file, .png or .svg.
    """
    from ogive.privacy import Adjacency
    from ogive.releasing import release
    from ogive.statistics import Ecdf

    if plot is not None:
        _check_picture(plot)
    statistic = Ecdf(measure.column, method=method, smooth=smooth, **measure.arguments())
    privacy = granted.privacy()
    model = granted.model()
    check_outputs(data, output.output, plot)
    with busy(f"reading {data}"):
        curve = release(statistic, trust=model(data), privacy=privacy, adjacency=Adjacency(granted.adjacency))
    if plot is not None:
        write_atomically(plot, _picture(curve, plot.suffix))
        print(f"wrote {plot}", file=sys.stderr)
    publish(curve.to_json, lambda: str(curve), output)


def _check_picture(path: Path) -> None:
    if path.suffix.lower() not in PICTURES:
        raise ParameterError(f"--plot must name a {' or '.join(PICTURES)} file, got {str(path)!r}")
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError:
        raise ParameterError("--plot needs matplotlib; install it with: pip install 'ogive[plots]'") from None


def _picture(curve: Curve, suffix: str) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    curve.plot(figure.add_subplot())
    content = io.BytesIO()
    figure.savefig(content, format=suffix[1:].lower(), dpi=150)
    return content.getvalue()
