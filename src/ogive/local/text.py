"""What participants are told: what is asked, what is sent, and what a report reveals.

Everything is read off the fields that decide what a report is. What others wrote, such as titles, names of columns and
categories, is shown in quotes and without characters that a terminal would obey.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ogive.columns import Binning, Column, Label, Listed, Membership, Missing
from ogive.local.classes import PublicClasses
from ogive.local.description import Description
from ogive.privacy import ApproxDP, number_text

_SHOWN = 12
_LARGEST_SHOWN = 20.0
_AS_GOOD_AS_SURE = 0.99


def explanation(description: Description) -> str:
    """What a participant should read before answering, some lines of text."""
    columns = description.domain.columns
    lines = [
        f"Collection {_quoted(description.title)}, {description.id}"
        if description.title
        else f"Collection {description.id}",
        f"{description.participants} participants are asked for:",
        *(f"  - {_asked(column, description.rounding)}" for column in columns),
        *_purpose(description.statistic),
        "",
        "What is sent",
        *_sent(description),
        "",
        "What it reveals",
        *_revealed(description),
        "",
        "What is not protected",
        "  That you take part, your number, and where and when you send from. Answer once: a second report costs as",
        "  much as the first.",
    ]
    if any(map(_refuses, columns)):
        lines += [
            "  Where a value is not accepted nothing is sent, and who collects the reports can see that yours did not",
            "  come.",
        ]
    return "\n".join(lines)


def _purpose(statistic: Mapping[str, Any] | None) -> list[str]:
    if statistic is None:
        return ["Who asks does not say what for."]
    kernel = statistic.get("kernel")
    named = (statistic.get("name"), kernel.get("name") if isinstance(kernel, Mapping) else kernel)
    said = ", ".join(_quoted(name) for name in named if isinstance(name, str)) or "something without a name"
    return [f"Who asks says that it is for {said}; nothing keeps reports from being used otherwise."]


def _sent(description: Description) -> list[str]:
    oracle = description.oracle
    inner = oracle.inner if isinstance(oracle, PublicClasses) else oracle
    first = f"  One report of {description.report_bytes} bytes: which collection it is for, your number,"
    if public := description.public_columns:
        first += f" {_quoted(public[0])} as it is,"
        drawn = "  and bytes that are drawn at random, some more often for your other answers than for others"
    else:
        drawn = "  and bytes that are drawn at random, some more often for your answer than for others"
    return [first, drawn, f"  (method {inner.name}, {inner.size} possible answers)."]


def _revealed(description: Description) -> list[str]:
    privacy, public = description.privacy, description.public_columns
    epsilon = float(privacy.epsilon)
    often = f"{math.exp(epsilon):.3g}" if epsilon <= _LARGEST_SHOWN else f"e^{number_text(privacy.epsilon)}"
    rest = "your other answers" if public else "your answer"
    lines = [f"  {privacy}: no report is more than {often} times as likely for {rest} as for any other."]
    sure = 1 / (1 + math.exp(-epsilon))
    if sure < _AS_GOOD_AS_SURE:
        lines.append(
            f"  Someone who thought two answers equally likely is sure of one to at most {100 * sure:.3g} % after it."
        )
    else:
        lines.append(
            "  That is next to no protection: who sees the report may be as good as sure of what you answered."
        )
    if isinstance(privacy, ApproxDP):
        lines.append(f"  This may fail with a probability of {number_text(privacy.delta)}.")
    lines += [
        f"  The column {_quoted(name)} is public here: it is sent as it is, and is not protected at all."
        for name in public
    ]
    return lines


def _refuses(column: Column) -> bool:
    """Whether there are values that a device does not take."""
    if isinstance(column, Membership):
        return column.missing == "refuse"
    if isinstance(column, Listed):
        return "refuse" in (column.other, column.missing)
    return not isinstance(column, Binning) or "refuse" in (column.outside, column.missing, column.fractions)


def _asked(column: Column, rounding: str) -> str:
    name = _quoted(column.column)
    if isinstance(column, Binning):
        grid = column.grid
        outside = {"clip": "counted at the nearer bound", "refuse": "not accepted"}[column.outside]
        policies = {"refuse": "not accepted", "low": "counted at the lower bound", "high": "counted at the upper bound"}
        missing = policies.get(str(column.missing)) or f"counted as {_shown(column.missing)}"
        whole = ", a fraction is not accepted" if column.fractions == "refuse" and grid.unit == "number" else ""
        step = "rounded at random" if rounding == "randomized" else f"in {grid.bins} bins"
        return (
            f"{name}, from {grid.label(grid.low)} to {grid.label(grid.high)}, {step}; "
            f"values outside are {outside}, a missing one is {missing}{whole}"
        )
    if isinstance(column, Label):
        return f"{name}, whether it is {_listed(column.positive)} or not"
    if isinstance(column, Membership):
        treated = "not accepted" if column.missing == "refuse" else "counted as not"
        what = "there is a value" if column.values is None else f"it is {_listed(column.values)}"
        return f"{name}, whether {what} or not; a missing one is {treated}"
    if isinstance(column, Listed):
        policies = {"count": "counted as such", "refuse": "not accepted"}
        return (
            f"{name}, which of {_listed(column.values)} it is; any other value is {policies[column.other]}, "
            f"a missing one is {policies[column.missing]}"
        )
    return f"{name}, one of {_listed(column.values)}"


def _shown(value: Missing) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _listed(values: tuple[object, ...]) -> str:
    shown = ", ".join(_quoted(value) if isinstance(value, str) else str(value) for value in values[:_SHOWN])
    return shown if len(values) <= _SHOWN else f"{shown} and {len(values) - _SHOWN} more"


def _quoted(text: object) -> str:
    return repr(str(text)[:80])
