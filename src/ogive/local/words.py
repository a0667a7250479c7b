"""What participants are told: what is asked, what is sent, and what a report reveals.

Everything is read off the fields that decide what a report is. What others wrote, such as titles, names of columns and
categories, is shown in quotes and without characters that a terminal would obey.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ogive.columns import Binning, Categories, Column, Label
from ogive.privacy import ApproxDP, number_text

if TYPE_CHECKING:
    from ogive.local.description import Description

_SHOWN = 12


def told(description: Description) -> str:
    """What a participant should read before answering, some lines of text."""
    oracle = description.oracle
    columns = [f"  - {_asked(column, description.rounding)}" for column in description.domain.columns]
    odds = math.exp(min(float(description.privacy.epsilon), 700.0))
    lines = [
        f"Collection {_quoted(description.title) if description.title else description.id}",
        f"{description.participants} participants are asked for:",
        *columns,
        "",
        "What is sent",
        f"  One report of {description.report_bytes} bytes: which collection it is for, your number, and random bytes",
        f"  that depend a little on your answer (method {oracle.name}, {oracle.size} possible answers). Your answer",
        "  itself never leaves your device.",
        "",
        "What it reveals",
        f"  {description.privacy}: no report is more than {odds:.3g} times as likely for your answer as for any other.",
        f"  Who thought two answers equally likely is sure of one to at most {100 * odds / (1 + odds):.3g} % after it.",
    ]
    if isinstance(description.privacy, ApproxDP):
        lines.append(f"  This may fail with a probability of {number_text(description.privacy.delta)}.")
    if oracle.name == "classes":
        name = description.domain.columns[-1].column
        lines.append(f"  The column {_quoted(name)} is public here: it is sent as it is, and is not protected at all.")
    lines += [
        "",
        "What is not protected",
        "  That you take part, your number, and where and when you send from. Answer once: a second report costs as",
        "  much as the first.",
    ]
    return "\n".join(lines)


def _asked(column: Column, rounding: str) -> str:
    name = _quoted(column.column)
    if isinstance(column, Binning):
        grid = column.grid
        outside = {"clip": "counted at the nearer bound", "refuse": "not accepted"}[column.outside]
        missing = {"refuse": "not accepted", "low": "counted at the lower bound", "high": "counted at the upper bound"}
        step = "rounded at random" if rounding == "randomized" else f"in {grid.bins} bins"
        return (
            f"{name}, from {grid.label(grid.low)} to {grid.label(grid.high)}, {step}; "
            f"values outside are {outside}, a missing one is {missing[column.missing]}"
        )
    if isinstance(column, Label):
        return f"{name}, whether it is {_listed(column.positive)} or not"
    assert isinstance(column, Categories)
    return f"{name}, one of {_listed(column.values)}"


def _listed(values: tuple[object, ...]) -> str:
    shown = ", ".join(_quoted(value) if isinstance(value, str) else str(value) for value in values[:_SHOWN])
    return shown if len(values) <= _SHOWN else f"{shown} and {len(values) - _SHOWN} more"


def _quoted(text: object) -> str:
    return repr(str(text)[:80])
