"""What notebooks and programs get of an estimate: an HTML table and a data frame, alike for all statistics.

What is in them, the estimate's own `text.py` and `frame.py` say.
"""

from __future__ import annotations

import html
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ogive.checks import among
from ogive.errors import ParameterError

Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)

# colors are those of whatever page this stands in, so that it is read on light and on dark ones
_LINE = "border:none;border-bottom:1px solid rgba(128,128,128,0.35)"
_CELL = f"padding:0.25em 0.9em 0.25em 0;background:none;color:inherit;vertical-align:top;{_LINE}"
_TABLE = "border-collapse:collapse;border:none;margin:0.3em 0;color:inherit;background:none;font-size:0.95em"


@dataclass(frozen=True)
class Card:
    """An estimate in a notebook, as plain text; what is shown is escaped.

    Fields:
        title: What was measured.
        facts: What a reader should know, as pairs of a name and a value.
        headings: Of the columns of a small table; none where there is no table.
        rows: Of that table; the first cell of each names it.
        notes: Sentences below.
    """

    title: str
    facts: Sequence[tuple[str, str]] = ()
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    notes: Sequence[str] = ()


def as_html(card: Card) -> str:
    """A small self-contained piece of HTML."""
    parts = [f'<div style="font-weight:600;margin-top:0.3em">{html.escape(card.title)}</div>']
    if card.facts:
        body = "".join(
            f"<tr>{_cell(name, heading=True, align='left')}{_cell(value, align='left')}</tr>"
            for name, value in card.facts
        )
        parts.append(f'<table style="{_TABLE};max-width:46em">{body}</table>')
    if card.headings:
        first, *others = card.headings
        top = _cell(first, heading=True, align="left") + "".join(_cell(name, heading=True) for name in others)
        body = "".join(
            f"<tr>{_cell(row[0], heading=True, align='left')}{''.join(map(_cell, row[1:]))}</tr>" for row in card.rows
        )
        parts.append(f'<table style="{_TABLE}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>')
    parts += [
        f'<div style="opacity:0.8;max-width:46em;font-size:0.95em">{html.escape(note)}</div>' for note in card.notes
    ]
    return f'<div style="overflow-x:auto">{"".join(parts)}</div>'


def aligned(table: Sequence[tuple[str, ...]]) -> list[str]:
    """Lines of cells below each other, the first of them to the left."""
    widths = [max(len(row[place]) for row in table) for place in range(len(table[0]))]
    lines = []
    for name, *rest in table:
        shown = [name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))]
        lines.append("  ".join(shown).rstrip())
    return lines


def _cell(text: str, *, heading: bool = False, align: str = "right") -> str:
    name, weight = ("th", "font-weight:600;") if heading else ("td", "")
    return f'<{name} style="text-align:{align};{weight}{_CELL}">{html.escape(text)}</{name}>'


def native_frame(columns: Mapping[str, Any], backend: str | None) -> Any:
    """Columns as a data frame.

    Args:
        columns: Values by name, all of one length.
        backend: "pandas", "polars" or "pyarrow"; by default the first that is installed.

    Raises:
        ParameterError: none is installed, or another name was given.
    """
    if backend is None:
        installed = [name for name in BACKENDS if importlib.util.find_spec(name) is not None]
        if not installed:
            raise ParameterError("a data frame needs pandas, polars or pyarrow installed")
        backend = installed[0]
    known = among(backend, "backend", BACKENDS)
    if importlib.util.find_spec(known) is None:
        raise ParameterError(f"{known} is not installed; install it with: pip install {known}")
    import narwhals  # slow to import

    return narwhals.from_dict(dict(columns), backend=known).to_native()
