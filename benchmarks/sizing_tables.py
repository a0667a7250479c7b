"""The tables of docs/sizing.md, from the rows of `sizing.py`."""

from __future__ import annotations

import re
from typing import Any

from overview import markdown, number

BLOCK = re.compile(r"(<!-- sizing: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
CHECKS = "checks"
RECORDS = re.compile(r"([\d,]+) records$")
ERROR, SENT, TIME, MEMORY = "error that is planned", "sent in all", "processor time of everybody", "largest memory"
MINUTE, HOUR, DAY = 60, 3_600, 86_400

Row = dict[str, Any]


def size(row: Row) -> int:
    """How many records a row is of."""
    found = RECORDS.search(row["work"])
    assert found is not None, row["work"]
    return int(found[1].replace(",", ""))


def span(seconds: float) -> str:
    """A time in the unit in which people say it."""
    for unit, length in (("days", DAY), ("h", HOUR), ("min", MINUTE)):
        if seconds >= 2 * length:
            return f"{digits(seconds / length)} {unit}"
    return f"{digits(seconds)} s"


def digits(value: float) -> str:
    """Two digits, or all of a whole number."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def amount(megabytes: float) -> str:
    """Bytes in the unit in which people say them."""
    for unit, factor in (("TB", 1e6), ("GB", 1e3)):
        if megabytes >= factor:
            return f"{megabytes / factor:.3g} {unit}"
    return f"{megabytes:.3g} MB" if megabytes >= 1 else f"{megabytes * 1e3:.3g} kB"


def line(rows: list[Row], title: str) -> tuple[float, float]:
    """The fixed seconds of a model, and those of one record."""
    found = {row["metric"]: row["value"] for row in rows if row["work"] == f"sizing, {title}"}
    return found["fixed part"], found["of a million records"] / 1e6


def of_model(rows: list[Row], title: str) -> str:
    """Error, bytes and seconds from 10^3 to 10^10 records."""
    fixed, unit = line(rows, title)
    found: dict[int, dict[str, float]] = {}
    for row in rows:
        if row["work"].startswith(f"sizing, {title}, ") and row["metric"] in (ERROR, SENT):
            found.setdefault(size(row), {})[row["metric"]] = row["value"]
    lines = [
        (
            f"{records:,}",
            f"{each[ERROR]:.2g}",
            amount(each[SENT]) if each[SENT] else "nothing",
            span(fixed + unit * records),
        )
        for records, each in sorted(found.items())
    ]
    return markdown(("records", "error", "sent in all", "processor time"), lines)


def checks(rows: list[Row]) -> str:
    """What was measured, and what the line of the two sizes before says."""
    lines = []
    for row in rows:
        if row["work"].startswith("sizing, ") and row["metric"] == TIME:
            memory = next(each for each in rows if (each["work"], each["metric"]) == (row["work"], MEMORY))
            title, records = row["work"].removeprefix("sizing, ").rsplit(", ", 1)
            said = "gives the line" if row["peer"] is None else span(row["peer_value"])
            ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
            memory_said = number(memory["value"], memory["unit"])
            lines.append((title, records.removesuffix(" records"), span(row["value"]), said, ratio, memory_said))
    heads = ("trust", "records", "measured", "the line says", "measured / said", "largest memory of the process")
    return markdown(heads, lines)


def filled(page: str, rows: list[Row]) -> str:
    """The page with its tables made anew."""

    def fill(found: re.Match[str]) -> str:
        table = checks(rows) if found[2] == CHECKS else of_model(rows, found[2])
        return f"{found[1]}\n{table}\n{found[3]}"

    return BLOCK.sub(fill, page)
