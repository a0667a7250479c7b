"""Write the lists of every item of the papers into docs/reproduction.md: `python tools/paper_lists.py`, `make papers`.

They come from docs/papers.toml. The page holds them between two marks, and the rest of it is written by hand.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DATA = ROOT / "docs" / "papers.toml"
PAGE = ROOT / "docs" / "reproduction.md"
START, END = "<!-- papers -->", "<!-- end -->"

REDONE = ("reproduced", "reproduced with remark", "not reproduced", "inconclusive", "accounting")
NOT_REDONE = ("illustration", "not redone")
STATED = ("confirmed", "corrected", "false", "not built")

_SHOWN = {"accounting": "only with the paper's accounting"}


def papers() -> list[dict[str, Any]]:
    """The papers, each with its items."""
    found: list[dict[str, Any]] = tomllib.loads(DATA.read_text(encoding="utf-8"))["paper"]
    return found


def command(paper: str, item: dict[str, Any]) -> str | None:
    """The command that redoes a figure or table; None of what is not redone."""
    kind, _, number = item["name"].partition(" ")
    return f"ogive reproduce {paper} --{kind.lower()} {number}" if item["verdict"] in REDONE else None


def lists() -> str:
    """The tables of all papers in Markdown."""
    parts = []
    for paper in papers():
        rows = ["| item | what it says or shows | verdict | where |", "| --- | --- | --- | --- |"]
        rows += [_row(paper["key"], item) for item in paper["items"]]
        parts.append("\n".join([f"### {paper['title']}, item by item", "", *rows]))
    return "\n\n".join(parts)


def written(page: str) -> str:
    """A page with the lists as they are now.

    Raises:
        ValueError: the marks are missing.
    """
    before, first, rest = page.partition(START)
    _, last, after = rest.partition(END)
    if not (first and last):
        raise ValueError(f"the page needs the lines {START} and {END}")
    return f"{before}{START}\n\n{lists()}\n\n{END}{after}"


def _row(paper: str, item: dict[str, Any]) -> str:
    verdict = _SHOWN.get(item["verdict"], item["verdict"])
    said = f"{verdict}: {item['note']}" if "note" in item else verdict
    redo = command(paper, item)
    places = [*([f"`{redo}`"] if redo else []), *map(_place, item.get("where", ()))]
    return f"| {item['name']} | {item['says']} | {said} | {', '.join(places) or '-'} |"


def _place(where: str) -> str:
    if where.startswith("docs/"):
        return f"[proof]({where.removeprefix('docs/')})"
    return f"`{where.replace(':', '.')}`"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
