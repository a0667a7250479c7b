"""Put the tables of results.json and projection.json into docs/benchmarks.md and docs/sizing.md.

    python benchmarks/publish.py

The pages are written by hand but for their tables. `sizing_tables.py` fills the second one. In the first, every row
whose work begins with WORD goes between `<!-- table: WORD -->` and `<!-- end -->`. A table of `overview.py` goes
between `<!-- overview: NAME -->` and `<!-- end -->`, and the table of the curves' distances that
`projection_tables.py` has under WORD between `<!-- methods: WORD -->` and `<!-- end -->`. Tables of many lines are
folded.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import sizing_tables
from harness import RESULTS
from overview import OVERVIEWS, is_package, markdown, number
from projection import RESULTS as DISTANCES
from projection_tables import TABLES, Results

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
SIZING = PAGE.with_name("sizing.md")
BLOCK = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
OVERVIEW = re.compile(r"(<!-- overview: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
METHODS = re.compile(r"(<!-- methods: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
OPEN_ROWS = 8
"""Tables of more lines are folded."""
HEADS = ("work", "metric", "ours", "peer", "peer's", "ours / peer's", "target", "reached")


def cells(row: dict[str, Any]) -> list[str]:
    """One row as texts."""
    peer = " ".join(str(part) for part in (row["peer"], row["peer_version"]) if part)
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.3g}"
    reached = {None: "", True: "yes", False: "**no**"}[row["reached"]]
    return [
        row["work"],
        row["metric"],
        number(row["value"], row["unit"]),
        peer,
        number(row["peer_value"], row["unit"]),
        ratio,
        number(row["target"], row["unit"]),
        reached,
    ]


def folded(rows: list[dict[str, Any]]) -> str:
    """Rows as a Markdown table, folded under one line that sums them up where they are many."""
    table = markdown(HEADS, map(cells, rows))
    if len(rows) <= OPEN_ROWS:
        return table
    aimed = [row for row in rows if row["target"] is not None]
    words = [f"{len(rows)} rows"]
    if packages := sorted({str(row["peer"]) for row in rows if is_package(row)}):
        words.append(f"against {', '.join(packages)}")
    if aimed:
        words.append(f"{sum(bool(row['reached']) for row in aimed)} of {len(aimed)} targets reached")
    return hidden("; ".join(words), table)


def hidden(summary: str, table: str) -> str:
    """A table that a click shows."""
    return f"<details>\n<summary>{summary}</summary>\n\n{table}\n</details>\n"


def filled(page: str, rows: list[dict[str, Any]]) -> str:
    """The page with its tables made anew.

    Raises:
        ValueError: no row, or more than one table, answers to a word, or a row to none, or an overview is missing.
    """
    used: list[int] = []

    def fill(found: re.Match[str]) -> str:
        word = found[2]
        chosen = [place for place, row in enumerate(rows) if row["work"].startswith(word)]
        if not chosen:
            raise ValueError(f"no result begins with {word!r}")
        used.extend(chosen)
        return found[1] + "\n" + folded([rows[place] for place in chosen]) + "\n" + found[3]

    names = [name for _, name, _ in OVERVIEW.findall(page)]
    if sorted(names) != sorted(OVERVIEWS):
        raise ValueError(
            f"the page should have the overviews {', '.join(OVERVIEWS)}, each once; it has {', '.join(names)}"
        )
    text = OVERVIEW.sub(lambda found: f"{found[1]}\n{OVERVIEWS[found[2]](rows)}\n{found[3]}", page)
    text = BLOCK.sub(fill, text)
    if sorted(used) != list(range(len(rows))):
        lost = [row["work"] for place, row in enumerate(rows) if used.count(place) != 1]
        raise ValueError(f"results in no table, or in two: {', '.join(sorted(set(lost)))}")
    return text


def with_distances(page: str, entries: list[dict[str, Any]]) -> str:
    """The page with the tables of distances made anew.

    Raises:
        ValueError: there is no table of some name, or one of them is not on the page.
    """
    results = Results(entries)
    names = [name for _, name, _ in METHODS.findall(page)]
    if sorted(names) != sorted(TABLES):
        raise ValueError(f"the page should have the tables {', '.join(TABLES)}, each once; it has {', '.join(names)}")

    def fill(found: re.Match[str]) -> str:
        table = TABLES[found[2]](results)
        lines = table.count("\n| ") - 1
        return f"{found[1]}\n{hidden(f'{lines} rows', table) if lines > OPEN_ROWS else table}\n{found[3]}"

    return METHODS.sub(fill, page)


def main() -> None:
    """Rewrite the pages."""
    rows = json.loads(RESULTS.read_text())
    page = filled(PAGE.read_text(), rows)
    PAGE.write_text(with_distances(page, json.loads(DISTANCES.read_text())))
    SIZING.write_text(sizing_tables.filled(SIZING.read_text(), rows))


if __name__ == "__main__":
    main()
