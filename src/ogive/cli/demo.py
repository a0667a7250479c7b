"""`ogive demo`: the whole story on this machine."""

from __future__ import annotations

import json as writer
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ogive.cli.output import busy
from ogive.errors import ParameterError
from ogive.privacy import number_text

if TYPE_CHECKING:
    from ogive.cli.demo_data import Table
    from ogive.cli.demo_story import Part


def demo(
    *,
    data: Path | None = None,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("demo"),
    json: Annotated[bool, Parameter(show_default=False)] = False,
) -> None:
    """Release the ages and balances of a bank's customers under one epsilon, and compare with the truth.

    Args:
        data: A table with the columns age and balance. By default the bank's, from the folder that OGIVE_DATA
            names or ../shared/data; without it a simulated table of the same size.
        output: Folder for report.html, the releases as JSON, and their charts.
        json: Write the comparison as JSON to standard output instead of tables.
    """
    from ogive.cli.demo_data import find_table
    from ogive.cli.demo_story import summary, tell
    from ogive.cli.demo_tables import print_story

    table = find_table(data)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ParameterError(f"cannot write into {output}: it is not a folder") from None
    parts = tell(table, busy)
    with busy("writing the report"):
        page = _write(parts, table, output)
    if json:
        print(writer.dumps(summary(parts, table), indent=1))
    else:
        print_story(parts, table)
    print(f"wrote {page}: open it in a browser", file=sys.stderr)


def _write(parts: tuple[Part, ...], table: Table, folder: Path) -> Path:
    """Write the report, one JSON per release and its deciles, and the charts."""
    from ogive.files import write_atomically
    from ogive.report import chart_svg, write_report

    for part in parts:
        write_atomically(folder / f"{part.column}.json", f"{part.curve.to_json()}\n".encode())
        write_atomically(folder / f"{part.column}-deciles.json", f"{part.estimates.to_json()}\n".encode())
        write_atomically(folder / f"{part.column}.svg", chart_svg(part.estimates).encode())
    prices = " + ".join(number_text(part.privacy.epsilon) for part in parts)
    notes = [
        f"Age and balance of {table.records.size:,} {table.origin}.",
        f"One epsilon of 1 pays for everything: {prices}, one part for each curve. The deciles are read off the "
        "curves, which is post-processing and costs nothing.",
        "Dashed lines and the columns named True are exact. They are here so that you can judge the noise, and "
        "would not be published.",
    ]
    return write_report(
        [part.estimates for part in parts],
        folder / "report.html",
        title="Simulated customers, privately" if table.simulated else "A bank’s customers, privately",
        truths=[part.truth for part in parts],
        notes=notes,
    )
