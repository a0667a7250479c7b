"""Put the tables of results.json into docs/benchmarks.md.

    python benchmarks/publish.py

The page is written by hand but for what stands between `<!-- table: WORD -->` and `<!-- end -->`: there goes
every row whose work begins with WORD.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from harness import RESULTS

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BLOCK = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
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


def main() -> None:
    """Rewrite the page."""
    PAGE.write_text(filled(PAGE.read_text(), json.loads(RESULTS.read_text())))


if __name__ == "__main__":
    main()
