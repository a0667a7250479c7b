"""The first tables of docs/benchmarks.md: other packages, where ogive is behind, targets that were missed, machines.

A result is better where it is smaller, but for numbers of something a second and for shares that are right.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ogive.cli.installation import TIMES, is_speed

ELSEWHERE = ", measured elsewhere"
UNKNOWN = "a shared machine with two cores; versions of packages were not kept"
"""Where a row was measured before rows said it."""
SIZES = ("bytes", "kB", "MB")
WORST_RATIO = 1.005
"""Ratios up to here are shown as equal."""

Row = dict[str, Any]


def markdown(heads: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in (heads, ["---"] * len(heads), *lines))


def kind(row: Row) -> str:
    """What a row measures."""
    if is_speed(row["unit"]):
        return "speed"
    return "time" if row["unit"] in TIMES else "size" if row["unit"] in SIZES else "error"


def is_package(row: Row) -> bool:
    """Whether the peer is a package of others; the rest are methods of papers and of ogive's own."""
    return row["ratio"] is not None and (row["peer_version"] is not None or str(row["peer"]).endswith(ELSEWHERE))


def behind(row: Row) -> float:
    """How many times as much time, error or memory ogive takes as the peer."""
    return 1 / row["ratio"] if is_speed(row["unit"]) else row["ratio"]


def number(value: float | None, unit: str) -> str:
    """A value with three digits and its unit."""
    return "" if value is None else f"{value:.3g} {unit}".strip()


def machines(rows: list[Row]) -> str:
    """On which machines, with which versions, how many rows were measured."""
    found = [row.get("machine") or UNKNOWN for row in rows]
    return markdown(("machine", "rows"), ((name, found.count(name)) for name in dict.fromkeys(found)))


def packages(rows: list[Row]) -> str:
    """For each package and what was measured, how ogive compares."""
    groups: dict[tuple[str, str], list[float]] = {}
    for row in filter(is_package, rows):
        groups.setdefault((str(row["peer"]), kind(row)), []).append(behind(row))
    lines = (
        (
            peer,
            measured,
            len(ratios),
            sum(ratio <= WORST_RATIO for ratio in ratios),
            f"{statistics.median(ratios):.2g}",
            f"{min(ratios):.2g} to {max(ratios):.2g}",
        )
        for (peer, measured), ratios in sorted(groups.items())
    )
    return markdown(("package", "measured", "rows", "ogive is no worse in", "median", "from best to worst"), lines)


def losses(rows: list[Row]) -> str:
    """Rows in which a package is better, the worst first."""
    found = sorted((row for row in rows if is_package(row) and behind(row) > WORST_RATIO), key=behind, reverse=True)
    return markdown(
        ("work", "metric", "ogive", "package", "its own", "times as much"),
        (
            (
                row["work"],
                row["metric"],
                number(row["value"], row["unit"]),
                row["peer"],
                number(row["peer_value"], row["unit"]),
                f"{behind(row):.3g}",
            )
            for row in found
        ),
    )


def missed(rows: list[Row]) -> str:
    """Targets, how many were reached, and those that were not; what a control must miss is not a target."""
    aimed = [row for row in rows if row["target"] is not None and not row["metric"].startswith("control:")]
    lines = (
        (row["work"], row["metric"], number(row["value"], row["unit"]), number(row["target"], row["unit"]))
        for row in aimed
        if not row["reached"]
    )
    reached = sum(bool(row["reached"]) for row in aimed)
    table = markdown(("work", "metric", "ogive", "target"), lines)
    return f"{reached} of {len(aimed)} targets are reached. These are not:\n\n{table}"


OVERVIEWS: dict[str, Callable[[list[Row]], str]] = {
    "machines": machines,
    "packages": packages,
    "behind": losses,
    "targets": missed,
}
"""What stands between `<!-- overview: NAME -->` and `<!-- end -->`."""
