"""`ogive merge`: released curves of different people made one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ogive.cli.compare import read_curve
from ogive.cli.options.common import TABLE, OutputOptions, Plot
from ogive.cli.output import check_outputs, check_picture, draw, publish
from ogive.provenance import publishable


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
    from ogive.statistics.curve.merging.merge import merge as merge_curves

    if plot is not None:
        check_picture(plot)
    check_outputs(None, output.output, plot, keep=files)
    curve = merge_curves(*map(read_curve, files), weights=weights)
    publish(curve.to_json, lambda: str(curve), output, public=publishable(curve.provenance))
    if plot is not None:
        draw(curve.plot, plot)
