"""The chapter of described variables: the first table of a report."""

from __future__ import annotations

from ogive.errors import ParameterError
from ogive.html.chapter import Chapter
from ogive.html.markup import Html
from ogive.html.parts import Row, say, table
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.describe.lines import lines, notes, titles
from ogive.statistics.describe.text import about


def chapter(found: DescribeEstimate, truth: DescribeEstimate | None) -> Chapter:
    """What described variables say.

    Args:
        found: As released.
        truth: The same without noise, or None.

    Raises:
        ParameterError: the truth is private, or of other variables or groups.
    """
    if truth is not None:
        if not isinstance(truth, DescribeEstimate) or truth.private:
            raise ParameterError("the truth of described variables must be exact values of the same variables")
        truth = found.exact(truth)
    assert found.provenance is not None
    names = [variable.column for variable in found]
    title = about(found)
    of_groups = "" if found.by is None else f" of each of {len(found.groups)} groups of {found.by},"
    counting = [variable.column for variable in found if variable.count_missing]
    known = f"; of {', '.join(counting)} how many records have a value" if counting else ""
    return Chapter(
        title=f"{title[0].upper()}{title[1:]}",
        subject=names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more",
        provenance=found.provenance,
        headline=f"{', '.join(names)}{'' if found.by is None else f', by {found.by}'}.",
        error=tuple(map(say, notes(found))),
        released=(
            say(
                f"The following{of_groups} within one guarantee: of numbers the sums of the values and of their "
                f"squares, and their distribution at public thresholds; of counted values how many records have "
                f"them{known}."
            ),
        ),
        tables=(_table(found, "Characteristics"), None if truth is None else _table(truth, "True values")),
        details=(
            ("Variables", f"{len(names)}"),
            *((("Groups", "public" if found.public_groups else "private"),) if found.groups else ()),
        ),
        exact=truth is not None,
    )


def _table(found: DescribeEstimate, caption: str) -> Html:
    rows: list[Row] = [(line.indented, list(line.cells)) for line in lines(found)]
    return table(caption, ("Variable", *titles(found)), rows)
