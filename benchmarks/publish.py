"""Put the tables of results.json and projection.json into docs/benchmarks.md.

    python benchmarks/publish.py

The page is written by hand but for what stands between `<!-- table: WORD -->` and `<!-- end -->`, where every row goes
whose work begins with WORD, and between `<!-- methods: WORD -->` and `<!-- end -->`, where the table of the curves'
distances goes that `projection_tables.py` has under that word.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from harness import RESULTS
from projection import RESULTS as DISTANCES
from projection_tables import TABLES, Results

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BLOCK = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
METHODS = re.compile(r"(<!-- methods: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
HEADS = ("work", "metric", "ours", "peer", "peer's", "ours / peer's", "target", "reached")


def cells(row: dict[str, Any]) -> list[str]:
    """One row as texts."""

    def number(value: float | None) -> str:
        return "" if value is None else f"{value:.3g} {row['unit']}".strip()

    peer = " ".join(str(part) for part in (row["peer"], row["peer_version"]) if part)
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.3g}"
    reached = {None: "", True: "yes", False: "**no**"}[row["reached"]]
    return [
        row["work"],
        row["metric"],
        number(row["value"]),
        peer,
        number(row["peer_value"]),
        ratio,
        number(row["target"]),
        reached,
    ]


def markdown(rows: list[dict[str, Any]]) -> str:
    """Rows as a Markdown table."""
    lines = [HEADS, ["---"] * len(HEADS), *map(cells, rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def filled(page: str, rows: list[dict[str, Any]]) -> str:
    """The page with its tables made anew.

    Raises:
        ValueError: no row, or more than one table, answers to a word, or a row to none.
    """
    used: list[int] = []

    def fill(found: re.Match[str]) -> str:
        word = found[2]
        chosen = [number for number, row in enumerate(rows) if row["work"].startswith(word)]
        if not chosen:
            raise ValueError(f"no result begins with {word!r}")
        used.extend(chosen)
        return found[1] + "\n" + markdown([rows[number] for number in chosen]) + "\n" + found[3]

    text = BLOCK.sub(fill, page)
    if sorted(used) != list(range(len(rows))):
        lost = [row["work"] for number, row in enumerate(rows) if used.count(number) != 1]
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
    return METHODS.sub(lambda found: f"{found[1]}\n{TABLES[found[2]](results)}\n{found[3]}", page)


def main() -> None:
    """Rewrite the page."""
    page = filled(PAGE.read_text(), json.loads(RESULTS.read_text()))
    PAGE.write_text(with_distances(page, json.loads(DISTANCES.read_text())))


if __name__ == "__main__":
    main()
